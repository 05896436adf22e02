"""Questions that nobody can answer beside others, and passages taken away: by hand, and blind."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso import cli
from sayso.guard.choices import Selection
from sayso.guard.labeled import labeled_answers
from sayso.judges.judge import Item
from sayso.protocols import selective
from sayso.protocols.passages import other_passages
from sayso.protocols.selective import report
from sayso.records import Estimate, Gold, InputError, Question, Request, Verdict, slice_text
from sayso.report.page import GENERATOR
from sayso.report.sheet import render_sheet
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import layout_tables
from support.judge_world import judge_engine
from support.scripted import ScriptedEngine
from support.scripted_world import chance

RULES = "form:short;against:rules"
#: plain answers only: nothing is drawn, nothing is asked again
BARE = selective.Settings(
    draws=selective.SelectiveDraws(k=0), known_k=0, words=False, resamples=200
)
NONE = "N/A"


def run(
    folder: Path,
    rows: list[dict],
    says: Callable[[str], str],
    options: selective.Settings = BARE,
    name: str = "r",
) -> Result:
    place = folder / f"{name}.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def reply(request: Request) -> str:
        return says(request.messages[-1].content)

    return sayso.run(
        "selective", model=ScriptedEngine(reply, name=name), data=f"file:{place}",
        options=options, out=folder / name, cache=folder / f"cache-{name}",
    )  # fmt: skip


#: question -> document, gold (None: no answer, "?": an answer that nobody gives us), said
SEVEN = {
    "Where was Ada born?": ("a", "London", "London"),
    "Where was Bob born?": ("a", "Rome", NONE),
    "Where was Cid born?": ("b", "Oslo", "Paris"),
    "Where was Dee born?": ("b", "Lima", "Lima"),
    "Where will Eve be born?": ("a", None, NONE),
    "Where will Fay be born?": ("b", None, "Unknown"),
    "Where will Gus be born?": ("b", None, "Madrid"),
}


def rows_of(world: dict[str, tuple[str, str | None, str]]) -> list[dict]:
    rows = []
    for question, (document, gold, _) in world.items():
        row: dict[str, object] = {"question": question, "entity": document}
        row["answerable"] = gold is not None
        if gold not in (None, "?"):
            row["gold"] = gold
        rows.append(row)
    return rows


def said_in(world: dict[str, tuple[str, str | None, str]]) -> Callable[[str], str]:
    return lambda text: next(said for q, (_, _, said) in world.items() if q in text)


def test_seven_questions_by_hand(tmp_path: Path) -> None:
    result = run(tmp_path, rows_of(SEVEN), said_in(SEVEN))
    # without an answer it abstains on two of three, with one on one of four
    j = result.get("abstention_gap", RULES)
    assert j.value == pytest.approx(2 / 3 - 1 / 4)
    assert (j.n, j.missing) == (7, 0)
    assert "sparse" in (j.problem or "")
    assert j.low is not None
    assert dict(j.signature)["abstained"] == "incorrect"
    for name, share in (("abstains_unanswerable", (2, 3)), ("abstains_answerable", (1, 4))):
        found = result.get(name, RULES)
        assert (found.numerator, found.denominator) == share
    counts = ("right", 2, 0), ("wrong", 1, 1), ("declined", 1, 2), ("hedged_right", 0, 0)
    assert _counts(result) == {did: both for did, *both in counts} | {"asked": [4, 3]}
    # the baseline of a guard, length, is of every answer that states a value
    labeled = labeled_answers(result.path, Selection())
    assert len(labeled.scores["length_words"]) == 4
    assert {entry.missing for entry in labeled.board.entries} == {0}
    # right: London, Lima; wrong: Paris, and Madrid where there is no answer; three are silent
    assert result.get("right_minus_wrong", RULES).value == pytest.approx((2 - 2) / 7)


def _counts(result: Result) -> dict[str, list[float]]:
    """Return how many answers to answerable and to unanswerable questions did what, if any did."""
    found: dict[str, list[float]] = {"hedged_right": [0, 0], "asked": [0, 0]}
    for e in result.estimates:
        parts = dict(e.where)
        if e.name == "answer_count" and e.value is not None:
            place = parts["asked"] == "unanswerable"
            found["asked"][place] += e.value
            assert e.n == (3 if place else e.n)
            if e.value:
                found.setdefault(parts["did"], [0, 0])[place] = e.value
    return found


def test_a_part_of_an_answer_counts_nothing_in_the_index(tmp_path: Path) -> None:
    """The four grades of AA-Omniscience: right minus wrong over all questions, also of answerable
    ones alone; a part is not right, and no error of the index."""
    grades = {
        "Where was Ada born?": "CORRECT", "Where was Bob born?": "PARTIAL",
        "Where was Cid born?": "INCORRECT", "Where was Dee born?": "CORRECT",
        "Where was Eve born?": "NOT_ATTEMPTED",
    }  # fmt: skip
    place = tmp_path / "q.jsonl"
    rows = [{"question": q, "entity": q, "gold": "London"} for q in grades]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = sayso.run(
        "selective", model=ScriptedEngine(lambda request: "Somewhere."), data=f"file:{place}",
        judge=judge_engine(lambda seen, number: grades[seen.question(number)]),
        judge_labels="grades", options=BARE, out=tmp_path / "r", cache=tmp_path / "c",
    )  # fmt: skip
    (index,) = [e for e in result.estimates if e.name == "right_minus_wrong"]
    assert index.value == pytest.approx((2 - 1) / 5)
    assert dict(index.where)["against"].endswith("+grades")
    did = {dict(e.where)["did"]: e.value for e in result.estimates if e.name == "answer_count"}
    assert (did["right"], did["wrong"], did["partly"], did["declined"]) == (2, 1, 1, 1)
    errors = [e for e in result.estimates if e.name == "error_rate" and "tier" not in dict(e.where)]
    assert [e.value for e in errors if "grades" in dict(e.where).get("against", "")] == [3 / 5]
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "partly right" in page
    assert "Omniscience Index" in page.partition("What the plain answers did")[0]  # a headline


def test_who_declines_only_when_told_to_express_uncertainty_is_said_to(tmp_path: Path) -> None:
    """A model that never declines when asked plainly, and declines one of each kind when told."""
    shy = ("Where was Bob born?", "Where will Eve be born?")

    def says(prompt: str) -> str:
        plain = prompt in SEVEN
        about = next(question for question in SEVEN if question in prompt)
        return NONE if about in shy and not plain else "Madrid"

    told = dataclasses.replace(BARE, words=True)
    result = run(tmp_path, rows_of(SEVEN), says, told)
    of_both = f"{RULES};method:instructed"
    assert result.get("abstains_unanswerable", RULES).value == 0
    silent = result.get("abstains_unanswerable", of_both)
    assert (silent.numerator, silent.denominator) == (1, 3)
    spoken = result.get("abstains_answerable", of_both)
    assert (spoken.numerator, spoken.denominator) == (1, 4)
    gap = result.get("abstention_gap", of_both)
    assert gap.value == pytest.approx(1 / 3 - 1 / 4)
    sheet = report.sheet(result.estimates)
    assert (
        "asked the questions as they are, it never declined: 0 of 3"
        in sheet.opening.sentence.lower()
    )
    tiles = [dict(tile.values) for tile in sheet.tiles]
    assert [tile["told to hedge"].numerator for tile in tiles[:2]] == [1, 1]
    assert "short answers, told to express uncertainty" in (
        result.page.read_text(encoding="utf-8") if result.page else ""
    )
    plain = run(tmp_path, rows_of(SEVEN), says, name="plain")
    assert all([*dict(tile.values)] == [""] for tile in report.sheet(plain.estimates).tiles)


def test_a_refusal_by_policy_is_not_called_rightly_declined(tmp_path: Path) -> None:
    """The page praises who says that nobody can know, not who will not say."""

    def shown(eve: str, fay: str) -> dict[str, str]:
        said = {"Eve": eve, "Fay": fay, "Gus": "I can't help with that request."}

        def says(prompt: str) -> str:
            return next((text for name, text in said.items() if name in prompt), "Madrid")

        result = run(tmp_path, rows_of(SEVEN), says, name=f"r{len(eve)}-{len(fay)}")
        folder = RunFolder.open(result.path)
        stored = report.read_answers(folder, folder.read_manifest(), result.estimates)
        chosen = stored.examples.shown
        return {one.what: f"{one.question} {one.answer}" for one in chosen}

    refusal = "I can't help with that request."
    assert "Rightly declined" not in shown(refusal, refusal)
    found = shown(refusal, NONE)
    assert found["Rightly declined"] == f"Where will Fay be born? {NONE}"


def test_a_run_without_j_says_which_number_is_meant(tmp_path: Path) -> None:
    result = run(tmp_path, rows_of(SEVEN), said_in(SEVEN))
    told = (
        r"^a run of selective has no J \(tells known from unknown: sayso run uncle\); its "
        r"abstention gap is 'abstention_gap'$"
    )
    with pytest.raises(InputError, match=told):
        result.get("J", form="short")
    # the data have no question without an answer, so there is no gap to point to
    answered = [row for row in rows_of(SEVEN) if "gold" in row]
    plain = run(tmp_path, answered, said_in(SEVEN), name="plain")
    with pytest.raises(InputError, match=r"has no J \(.*: sayso run uncle\)$"):
        plain.get("J", form="short")
    with pytest.raises(InputError, match=r"^no number is called 'jay' in this run"):
        result.get("jay")


def test_numbers_under_earlier_names_are_read_under_those_of_today(tmp_path: Path) -> None:
    result = run(tmp_path, rows_of(SEVEN), said_in(SEVEN))
    old = {"abstention_gap": "abstention_J", "abstention_gap_within": "abstention_J_within"}
    stored = [
        msgspec.structs.replace(
            e,
            name=old.get(e.name, e.name),
            signature=tuple((key, old.get(value, value)) for key, value in e.signature),
        )
        for e in result.estimates
    ]
    assert stored != result.estimates
    folder = RunFolder.open(result.path)
    folder.write("metrics/selective", stored, Estimate)
    assert folder.read("metrics/selective", Estimate) == result.estimates
    assert sayso.measure(result.path).get("abstention_gap", RULES).value == pytest.approx(5 / 12)


def test_who_hedges_has_not_abstained(tmp_path: Path) -> None:
    said = dict(SEVEN)
    said["Where will Gus be born?"] = ("b", None, "I am not sure, but perhaps in Madrid.")
    said["Where was Dee born?"] = ("b", "Lima", "I am not sure, but perhaps in Lima.")
    result = run(tmp_path, rows_of(said), said_in(said))
    assert result.get("abstention_gap", RULES).value == pytest.approx(2 / 3 - 1 / 4)
    assert _counts(result) == {
        "right": [1, 0], "wrong": [1, 0], "hedged_right": [1, 0], "hedged_wrong": [0, 1],
        "declined": [1, 2], "asked": [4, 3],
    }  # fmt: skip


def test_without_golds_only_abstaining_is_measured(tmp_path: Path) -> None:
    world = {q: (document, gold and "?", said) for q, (document, gold, said) in SEVEN.items()}
    world["Where was Hal born?"] = ("a", "?", "I am not sure, but perhaps in Madrid.")
    result = run(tmp_path, rows_of(world), said_in(world))
    assert result.get("abstention_gap", RULES).value == pytest.approx(2 / 3 - 1 / 5)
    assert result.get("abstention_gap", RULES).missing == 0
    for name in ("error_rate", "right_minus_wrong"):
        found = result.get(name, RULES)
        assert found.value is None
        assert "no gold answers" in (found.problem or "")
    # what is stored says no more than it can: a stance, and no content
    verdicts = RunFolder.open(result.path).read("verdicts/short", Verdict)
    kinds = sorted({(v.stance, v.content, v.value) for v in verdicts}, key=str)
    assert kinds == [
        ("abstained", "correct", "uncertain"),
        ("abstained", "none", "uncertain"),
        ("committed", "incorrect", "incorrect"),
        ("committed", None, None),
        ("hedged", None, "uncertain"),
    ]
    page = (Path(sayso.report.write(result))).read_text(encoding="utf-8")
    assert GENERATOR in page
    assert "no gold answer to judge it by" in page
    assert "0.47 " in page or "+0.47" in page
    assert "cannot say" not in _printed(result.estimates)


def _printed(estimates: list[Estimate]) -> str:
    text = io.StringIO()
    render_sheet(report.sheet(estimates), Console(file=text, width=400), verbose=True)
    return text.getvalue()


class Person:
    """Somebody who says of every answer whether it is right, and needs no gold for it."""

    name, signature, needs_golds = "people", "people", False

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        found = []
        for item in items:
            text = item.generation.text
            silent = text in (NONE, "Unknown")
            content = (
                "none" if silent else "incorrect" if text in ("Paris", "Madrid") else "correct"
            )
            if silent and item.questions[0].answerable is False:
                content = "correct"
            stance = "abstained" if silent else "committed"
            target, asked = item.generation.id, item.questions[0].id
            found.append(Verdict(target, asked, self.name, stance=stance, content=content))
        return found


def test_people_say_what_is_right_where_there_is_no_gold(tmp_path: Path) -> None:
    world = {q: (document, gold and "?", said) for q, (document, gold, said) in SEVEN.items()}
    place = tmp_path / "w.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows_of(world)), encoding="utf-8")
    result = sayso.run(
        "selective", model=ScriptedEngine(lambda r: said_in(world)(r.messages[-1].content)),
        data=f"file:{place}", options=BARE, out=tmp_path / "r", judge=Person(),
    )  # fmt: skip
    where = "form:short;against:people"
    assert result.get("right_minus_wrong", where).value == pytest.approx((2 - 2) / 7)
    assert result.get("abstention_gap", where).value == pytest.approx(2 / 3 - 1 / 4)
    # as with golds: an abstention where there is an answer is not right
    wrong = result.get("error_rate", where)
    assert (wrong.numerator, wrong.denominator) == (3, 7)


def test_some_golds_missing_are_counted(tmp_path: Path) -> None:
    world = dict(SEVEN)
    world["Where was Cid born?"] = ("b", "?", "Paris")
    world["Where was Bob born?"] = ("a", "?", NONE)
    result = run(tmp_path, rows_of(world), said_in(world))
    # right: London, Lima; wrong: Madrid; two are silent where there is no answer. What Cid and Bob
    # would have been worth nobody can say, whether a value was named or not
    found = result.get("right_minus_wrong", RULES)
    assert (found.value, found.missing) == (pytest.approx((2 - 1) / 5), 2)
    # errors are those of questions with golds, or without an answer
    wrong = result.get("error_rate", RULES)
    assert (wrong.numerator, wrong.denominator) == (1, 5)


def test_questions_of_one_kind_have_no_j(tmp_path: Path) -> None:
    answered = {q: v for q, v in SEVEN.items() if v[1]}
    names = {e.name for e in run(tmp_path, rows_of(answered), said_in(answered)).estimates}
    assert not names & {"abstention_gap", "right_minus_wrong", "abstains_answerable"}
    hopeless = {q: v for q, v in SEVEN.items() if not v[1]}
    result = run(tmp_path, rows_of(hopeless), said_in(hopeless), name="none")
    j = result.get("abstention_gap", RULES)
    assert j.value is None
    assert "it needs verdicts on answerable and on unanswerable questions" in (j.problem or "")
    assert result.get("right_minus_wrong", RULES).value == pytest.approx(-1 / 3)


def test_blind_abstaining_is_null_and_a_type_hedger_is_null_within_type(tmp_path: Path) -> None:
    def has(kind: str, n: int) -> bool:
        return chance("has", kind, n) < (0.8 if kind == "rivers" else 0.2)

    rows = [
        {
            "question": f"What is fact {n} of {kind}?",
            "domain": kind,
            "entity": f"{kind} {n % 20}",
            "answerable": has(kind, n),
            **({"gold": f"Value{n}"} if has(kind, n) else {}),
        }
        for kind in ("rivers", "dreams")
        for n in range(120)
    ]
    blind = run(
        tmp_path, rows, lambda text: NONE if chance("blind", text) < 0.3 else "Some", name="b"
    )
    gap = blind.get("abstention_gap", RULES)
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < 0 < gap.high
    by_type = run(tmp_path, rows, lambda text: NONE if "dreams" in text else "Some", name="t")
    with pytest.raises(InputError, match=r"its abstention gap within is 'abstention_gap_within'$"):
        by_type.get("J_within", form="short")
    pooled, within = (by_type.get(n, RULES) for n in ("abstention_gap", "abstention_gap_within"))
    assert (pooled.value or 0) > 0.4
    assert within.value == pytest.approx(0)


#: question -> its passage's answer, said with the passage, said without it
TWINS = {
    "Who sang first?": ("Ann", "Ann", NONE),
    "Who sang second?": ("Ben", "Ben", "Ben"),  # known by heart
    "Who sang third?": ("Cy", NONE, NONE),
    "Who sang last?": ("Dot", "Dot", "Zed"),
}


def test_passages_taken_away_by_hand(tmp_path: Path) -> None:
    rows: list[dict] = [
        {"question": q, "gold": gold, "answerable": True, "context": f"PASSAGE {gold}", "entity": q}
        for q, (gold, *_) in TWINS.items()
    ]
    rows.append(
        {"question": "Who hummed?", "answerable": False, "context": "PASSAGE", "entity": "h"}
    )
    asked: list[str] = []

    def says(text: str) -> str:
        asked.append(text)
        if "hummed" in text:
            return NONE
        _, given, removed = next(v for q, v in TWINS.items() if q in text)
        return given if "PASSAGE" in text else removed

    chosen = selective.Settings(
        draws=selective.SelectiveDraws(k=0),
        known_k=0,
        words=False,
        resamples=200,
        context="without",
    )
    result = run(tmp_path, rows, says, chosen)
    # asked once more: the answerable ones, and no passage is left
    assert len(asked) == 9
    assert sum("PASSAGE" not in text for text in asked) == 4
    # without the passage it abstains on two of four, with it on one: what it knows stays in
    shares = [result.get(n, RULES) for n in ("abstains_without_passage", "abstains_with_passage")]
    assert [(s.numerator, s.denominator) for s in shares] == [(2, 4), (1, 4)]
    assert result.get("passage_gap", RULES).value == pytest.approx(2 / 4 - 1 / 4)
    heart = result.get("by_heart", RULES)
    assert (heart.numerator, heart.denominator) == (1, 4)
    assert dict(heart.signature)["context"] == "without"
    printed = _printed(result.estimates)
    assert "declined without the passage" in printed
    page = result.page.read_text(encoding="utf-8") if result.page else ""
    assert "said the passage does not say it" in page
    assert "said it does not know<" not in page.partition("<form")[0]
    plain = run(tmp_path, rows, says, BARE, name="plain")
    assert "passage_gap" not in {e.name for e in plain.estimates}


#: question -> its gold, said with its passage, without one, and with another question's passage
TRIPLETS = {
    "Who sang first at the harbor?": ("Ann", "Ann", NONE, NONE),
    "Who sang second at the harbor?": ("Ben", "Ben", "Ben", "Ben"),  # known by heart
    "Who danced in the valley?": ("Cy", NONE, NONE, "Dot"),  # the other passage's value
    "Who danced last in the valley?": ("Dot", "Dot", "Zed", "Zed"),  # a value from nowhere
}
PASSAGES = {
    "Ann": "At the harbor first sang Ann.", "Ben": "At the harbor second sang Ben.",
    "Cy": "In the valley danced Cy.", "Dot": "In the valley danced last Dot.",
}  # fmt: skip


def test_passages_exchanged_by_hand(tmp_path: Path) -> None:
    rows = [
        {"question": q, "gold": gold, "answerable": True, "context": PASSAGES[gold], "entity": q}
        for q, (gold, *_) in TRIPLETS.items()
    ]
    asked: list[str] = []

    def says(text: str) -> str:
        asked.append(text)
        gold, given, removed, other = next(v for q, v in TRIPLETS.items() if q in text)
        if PASSAGES[gold] in text:
            return given
        return other if any(passage in text for passage in PASSAGES.values()) else removed

    chosen = dataclasses.replace(BARE, context="twins")
    result = run(tmp_path, rows, says, chosen)
    assert len(asked) == 12
    # the passage that is nearest by its words: the other one of the same place
    (dance,) = (t for t in asked if "Who danced in" in t and PASSAGES["Dot"] in t)
    assert PASSAGES["Cy"] not in dance
    shares = {
        name: (found.numerator, found.denominator)
        for name in ("answers_other_passage", "right_other_passage", "misled_by_passage")
        for found in [result.get(name, RULES)]
    }
    assert shares == {
        "answers_other_passage": (3, 4), "right_other_passage": (1, 4), "misled_by_passage": (1, 4)
    }  # fmt: skip
    gap = result.get("other_passage_gap", RULES)
    assert gap.value == pytest.approx(1 / 4 - 1 / 4)
    assert result.get("abstains_with_passage", RULES).value == pytest.approx(1 / 4)
    printed = _printed(result.estimates)
    assert "answered although the passage does not say it" in printed
    assert dict(gap.signature)["context"] == "twins"
    same = sayso.compare(result.path, result.path, resamples=100)
    (difference,) = (e for e in same.estimates if e.name == "answers_other_passage")
    assert difference.value == 0


def test_another_passage_never_says_the_answer() -> None:
    questions = [
        Question(
            id=str(n), dataset="d", text=f"Where is tower {n}?", golds=(Gold(value=f"Town{n}"),),
            answerable=True, entity=f"e{n // 2}",
            context=f"Tower {n} is in Town{n}, near Town{n + 2}.",
        )
        for n in range(12)
    ]  # fmt: skip
    chosen = other_passages(questions)
    assert set(chosen) == {q.id for q in questions}
    for n, question in enumerate(questions):
        assert f"Town{n}," not in chosen[question.id]
        assert f"near Town{n}." not in chosen[question.id]
        own = {q.context for q in questions if q.entity == question.entity}
        assert chosen[question.id] not in own
    assert other_passages(list(reversed(questions))) == chosen
    assert other_passages(questions[:2]) == {}  # one entity: there is no other passage


def test_blind_abstaining_is_null_without_passages_too(tmp_path: Path) -> None:
    rows = [
        {"question": f"Who is number {n}?", "gold": f"Name{n}", "answerable": True,
         "context": "PASSAGE", "entity": f"{n // 4}"}
        for n in range(240)
    ]  # fmt: skip
    chosen = selective.Settings(
        draws=selective.SelectiveDraws(k=0),
        known_k=0,
        words=False,
        resamples=200,
        context="without",
    )

    def says(text: str) -> str:  # it knows half by heart, and abstains blindly
        number = text.split("number ")[1].rstrip("?")
        if chance("blind", text) < 0.4:
            return NONE
        return f"Name{number}" if "PASSAGE" in text or chance(number) < 0.5 else "Nobody"

    j = run(tmp_path, rows, says, chosen).get("passage_gap", RULES)
    assert j.low is not None
    assert j.high is not None
    assert j.low < 0 < j.high


def test_two_models_are_compared_and_stand_in_a_study(tmp_path: Path) -> None:
    first = run(tmp_path, rows_of(SEVEN), said_in(SEVEN), name="one")
    (tmp_path / "two").mkdir()
    second = sayso.run(
        "selective", model=ScriptedEngine(lambda request: NONE, name="two"),
        data=f"file:{tmp_path / 'one.jsonl'}", options=BARE, out=tmp_path / "two" / "r",
    )  # fmt: skip
    found = {
        (e.name, slice_text(e.where)): e.value
        for e in sayso.compare(first.path, second.path, resamples=100).estimates
    }
    assert found["abstention_gap", RULES] == pytest.approx(0 - (2 / 3 - 1 / 4))
    assert found["abstains_answerable", RULES] == pytest.approx(1 - 1 / 4)
    study = sayso.study([first.path, second.path], resamples=100, out=tmp_path / "s")
    (table,) = layout_tables(study, "selective-abstention")
    assert [labels for labels, _ in table.rows] == [("one",), ("two",)]
    assert table.columns[:2] == ("rank", "abstention gap (G)")
    csv = (tmp_path / "s" / "tables" / "selective" / "numbers.csv").read_text()
    assert "abstention_gap" in csv


def test_the_layout_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answered = {q: v for q, v in SEVEN.items() if v[1]}
    result = run(tmp_path, rows_of(answered), said_in(answered))
    code = cli.execute(
        [
            "study",
            str(result.path),
            "--layout",
            "selective-abstention",
            "--out",
            str(tmp_path / "o"),
        ]
    )
    assert code == 2
    assert "needs answerable and unanswerable questions" in capsys.readouterr().err
