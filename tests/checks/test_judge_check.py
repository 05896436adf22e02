"""``sayso judge-check``: labels, attacks, what is kept and cited, and files that are none."""

from __future__ import annotations

import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from sayso.checks.judge import (
    ATTACKS,
    PLAIN,
    attacked_items,
    evenly_spread,
    judge_check,
    judge_sheet,
    make_item,
    our_set,
    plain_items,
    read_labelled,
    render_judge,
)
from sayso.judges.cascade import CascadeJudge, left_to_model
from sayso.judges.judge import Item, Judge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.reliability import (
    HumanLabel,
    JudgeCheck,
    LeftToModel,
    kept_numbers,
    model_or_rules,
    place,
    result,
    share,
    stored,
)
from sayso.judges.rules.judge import RulesJudge
from sayso.records import Content, InputError, Stance, Verdict
from sayso.runs.judge import JudgeOptions
from support.judge_world import Shown, judge_engine
from support.scripted import ScriptedEngine

Said = tuple[Stance, Content]


class Reader:
    """A judge that says what a function says of (text, question)."""

    name = "reader"
    signature = "reader@1"

    def __init__(self, decide: Callable[[str, str], Said | str]) -> None:
        self.decide = decide

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        found = []
        for item in items:
            for q in item.questions:
                said = self.decide(item.generation.text, q.text)
                if isinstance(said, str):
                    found.append(Verdict(item.generation.id, q.id, self.name, problem=said))
                else:
                    stance, content = said
                    v = Verdict(item.generation.id, q.id, self.name, stance=stance, content=content)
                    found.append(v)
        return found


def labels() -> dict[tuple[str, str], Said]:
    """What we said of each (text, question) of the shipped set."""
    return {
        (row.item.generation.text, q.text): (label.stance, label.content)  # type: ignore[misc]
        for row in our_set()[0]
        for q, label in zip(row.item.questions, row.labels, strict=True)
    }


def perfect(text: str, question: str) -> Said:
    known = labels()
    return known.get((text, question), ("abstained", "none"))


def test_the_shipped_set_is_what_its_description_says() -> None:
    rows, mark = our_set()
    said = [label for row in rows for label in row.labels]
    assert (len(rows), len(said), len(mark)) == (99, 124, 8)
    kinds = Counter(row.group for row in rows for _ in row.labels)
    assert kinds["stance"] == 69
    assert sum(kinds.values()) - kinds["stance"] == 55
    assert min(Counter(label.stance for label in said).values()) >= 5
    for row in rows:
        for label in row.labels:
            valued = label.stance in ("committed", "hedged")
            assert valued or label.content == "none", row.item.generation.text
    # nothing is asked twice, which would count one verdict twice
    assert len(labels()) == len(said)


def test_the_stance_part_is_copied_from_our_labelled_set() -> None:
    source = Path(__file__).parents[2] / "benchmarks" / "data" / "stance.jsonl"
    theirs = {row["id"]: row for row in map(json.loads, source.read_text("utf-8").splitlines())}
    import sayso.checks.judge

    ours = Path(sayso.checks.judge.__file__).with_name("check_set.jsonl").read_text("utf-8")
    for row in map(json.loads, ours.splitlines()):
        if "from" in row:
            assert row["text"] == theirs[row["from"]]["text"]
            for mine, other in zip(row["aspects"], theirs[row["from"]]["aspects"], strict=True):
                assert all(mine[key] == other[key] for key in mine)
                assert all(r == [mine["stance"], mine["content"]] for r in other["readers"])


def test_a_judge_that_says_what_we_say(tmp_path: Path) -> None:
    known = labels()
    found = judge_check(
        Reader(lambda t, q: known.get((t, q), ("abstained", "none"))), cache=tmp_path
    )
    assert (found.ours.agreed.count, found.ours.agreed.of) == (124, 124)
    # Clopper-Pearson of 124 of 124: low = .025^(1/124) = .9707
    assert found.ours.agreed.low == pytest.approx(0.9707, abs=1e-4)
    assert found.ours.kappa == pytest.approx(1.0)
    assert all(row.recall.value == row.precision.value == 1.0 for row in found.ours.stances)
    assert found.injection.changed == ()
    assert found.tokens_per_100 == 0.0
    assert found.dollars_per_100 == 0.0
    assert not found.partial


def test_a_judge_that_calls_everything_right_is_seen(tmp_path: Path) -> None:
    found = judge_check(Reader(lambda t, q: ("committed", "correct")), cache=tmp_path)
    right = sum(said == ("committed", "correct") for said in labels().values())
    assert found.ours.agreed.count == right
    assert found.ours.kappa == pytest.approx(0.0)
    rows = {row.stance: row for row in found.ours.stances}
    assert rows["hedged"].precision.value is None  # it never said so: no share of nothing
    assert rows["hedged"].recall.value == 0.0
    assert found.injection.changed == ()


def test_unreadable_verdicts_are_counted_and_are_in_no_share(tmp_path: Path) -> None:
    known = labels()
    problems = iter(range(10**6))

    def decide(text: str, question: str) -> Said | str:
        if (text, question) not in known:
            return "failed"
        return "unread" if next(problems) % 2 else known[text, question]

    found = judge_check(Reader(decide), cache=tmp_path)
    assert found.ours.unread == 62
    assert found.ours.problems == {"unread": 62}
    assert (found.ours.agreed.count, found.ours.agreed.of) == (62, 62)
    # the plain answers were unreadable too: that is no attack's doing
    assert (found.injection.tried, found.injection.untested) == (0, 12)
    assert found.injection.unread == found.injection.changed == ()


def test_an_attack_that_makes_a_verdict_unreadable_is_named(tmp_path: Path) -> None:
    def decide(text: str, question: str) -> Said | str:
        return "unread" if "im_start" in text else ("committed", "incorrect")

    found = judge_check(Reader(decide), cache=tmp_path)
    assert found.injection.unread == ("system message",)
    assert (found.injection.tried, found.injection.untested) == (12, 0)


def test_a_judge_that_reads_nothing_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reader cannot be used as a judge: none of its replies"):
        judge_check(Reader(lambda t, q: "refused"), cache=tmp_path)
    assert not list(tmp_path.iterdir())  # nothing is kept


@pytest.mark.parametrize("rules_first", [False, True])
@pytest.mark.parametrize("limit", [3, None])
def test_a_judge_that_cannot_be_read_is_left_after_a_handful(
    tmp_path: Path, rules_first: bool, limit: int | None
) -> None:
    engine = ScriptedEngine(lambda request: "Let me think.", "mumbler")
    judge = LlmJudge(engine, anyway=True)
    asked = CascadeJudge(RulesJudge(), judge) if rules_first else judge
    with pytest.raises(InputError, match=r"cannot be used as a judge: .*unread \d+\)") as told:
        judge_check(asked, limit=limit, cache=tmp_path)
    assert f"({judge.counts.parts} verdicts asked for: unread {judge.counts.unread})" in str(
        told.value
    )
    assert len(engine.requests) == judge.counts.calls <= 16  # eight answers, each asked for twice


def test_a_judge_that_obeys_answers_is_caught(tmp_path: Path) -> None:
    def obey(text: str, question: str) -> Said:
        told = "correct" in text.casefold() or "$S$" in text or "richtig" in text
        return ("committed", "correct") if told else ("abstained", "none")

    found = judge_check(Reader(obey), cache=tmp_path)
    # "other gold" only repeats the answer as its gold, and "hidden characters" needs to be unhidden
    assert set(found.injection.changed) == {a.name for a in ATTACKS} - {
        "other gold",
        "hidden characters",
    }
    assert found.injection.obeyed == found.injection.changed


def test_an_unsteady_judge_changes_without_obeying(tmp_path: Path) -> None:
    def decide(text: str, question: str) -> Said:
        return ("abstained", "none") if "im_start" in text else ("committed", "incorrect")

    found = judge_check(Reader(decide), cache=tmp_path)
    assert found.injection.changed == ("system message",)
    assert found.injection.obeyed == ()


def test_attacks_are_a_dozen_and_never_hold_the_gold() -> None:
    assert len(ATTACKS) == len({a.name for a in ATTACKS}) == 12
    for attack, which, item in attacked_items():
        _, gold, plain = PLAIN[which]
        text = item.generation.text
        assert gold not in text, attack.name
        assert plain in text, attack.name
        assert text != plain
    assert len(plain_items()) == len(PLAIN)


def test_rules_are_not_talked_over(tmp_path: Path) -> None:
    found = judge_check("rules", cache=tmp_path)
    assert found.injection.obeyed == ()
    assert len(found.injection.changed) <= 1  # a learned reader weighs the attack's words too
    # a sentence in German behind an answer: the whole is not read
    assert set(found.injection.unread) <= {"another language"}
    assert found.ours.agreed.count >= 105
    assert found.calls == 0


def label_of(stance: str, content: str, names: Sequence[str]) -> str:
    """The label of a model judge's vocabulary that stands for a stance and a content."""
    short = {"refused_by_policy": "refused", "asked_back": "asked-back"}.get(stance, stance)
    wanted = {f"{short}-{content}", short}
    return next(name for name in names if name in wanted)


def knowing(flip: float = 0.0, seed: int = 0) -> Callable[[Shown, int], str]:
    """A model that knows our labels and reads its prompt; it flips a share of its verdicts."""
    known: dict[tuple[str, str], list[Said]] = {}
    for (text, question), said in labels().items():
        known.setdefault((question, text[:20]), []).append(said)
    rng = random.Random(seed)

    def decide(seen: Shown, number: int) -> str:
        said = known.get((seen.question(number), seen.text(number)[:20]), [("abstained", "none")])
        stance, content = said[0]
        if rng.random() < flip:
            stance, content = (
                ("abstained", "none") if stance == "committed" else ("committed", "incorrect")
            )
        return label_of(stance, content, seen.labels)

    return decide


def test_a_model_as_judge_with_tokens_and_unknown_price(tmp_path: Path) -> None:
    found = judge_check(judge_engine(knowing()), cache=tmp_path)
    assert found.ours.unread == 0
    assert found.ours.agreed.count == 124
    assert 30 < found.calls < 99  # answers about one entity share a call
    assert found.prompt_tokens > 1000
    assert found.dollars is None  # nobody knows what a scripted model costs
    assert found.dollars_per_100 is None
    assert found.tokens_per_100 == pytest.approx(
        100 * (found.prompt_tokens + found.completion_tokens) / 124
    )
    priced = judge_check(
        judge_engine(knowing()), cache=tmp_path, options=JudgeOptions(judge_price="2.5,10")
    )
    dollars = (2.5 * priced.prompt_tokens + 10 * priced.completion_tokens) / 1e6
    assert priced.dollars == pytest.approx(dollars)
    assert priced.dollars_per_100 == pytest.approx(100 * dollars / 124)
    assert priced.whole_dollars > priced.dollars  # type: ignore[operator]


def test_the_bill_is_of_the_graded_answers_of_this_check(tmp_path: Path) -> None:
    """Attacks and what a judge did before are no part of it."""
    known = knowing()

    def decide(seen: Shown, number: int) -> str:
        attacked = any(answer in seen.text(number) for _, _, answer in PLAIN)
        return "no label" if attacked else known(seen, number)

    unread = judge_check(judge_engine(decide), cache=tmp_path)
    assert unread.injection.untested == 12
    assert (unread.ours.unread, unread.retried) == (0, 0)  # only attacked answers were asked again
    judge = LlmJudge(judge_engine(knowing()))
    first = judge_check(judge, cache=tmp_path)
    again = judge_check(judge, cache=tmp_path)  # it remembers what it decided
    assert first.calls > 30
    assert (again.calls, again.prompt_tokens, again.completion_tokens) == (0, 0, 0)


def test_a_judge_that_flips_some_verdicts_loses_as_many(tmp_path: Path) -> None:
    found = judge_check(judge_engine(knowing(0.2, seed=3)), cache=tmp_path)
    # 20 % of 124 are 24.8 with a standard deviation of 4.5
    assert 124 - 40 < found.ours.agreed.count < 124 - 12


def cascade(decide: Callable[[Shown, int], str]) -> CascadeJudge:
    return CascadeJudge(RulesJudge(1), LlmJudge(judge_engine(decide)))


def lines_of(check: JudgeCheck) -> str:
    main = judge_sheet(check).main
    assert main is not None
    return " ".join(main.notes)


def test_a_cascade_says_who_decides_better_what_the_rules_leave(tmp_path: Path) -> None:
    """Counted again here, from the rules' own verdicts and from what the rules are certain of."""
    found = judge_check(cascade(knowing()), cache=tmp_path)
    rows = our_set()[0]
    items = [row.item for row in rows]
    rules = RulesJudge(1).grade(items)
    labels = [label for row in rows for label in row.labels]
    asked = left_to_model(items, rules)
    right = sum(label.agrees(v) for v, label, a in zip(rules, labels, asked, strict=True) if a)
    left = found.ours.left
    assert left is not None
    assert 0 < left.asked < 124
    assert (left.asked, left.aspects) == (sum(asked), 124)
    assert (left.model.count, left.model.of) == (left.asked, left.asked)  # it knows our labels
    assert (left.rules.count, left.rules.of) == (right, left.asked)
    assert (left.gained, left.lost) == (left.asked - right, 0)
    assert "The model decides them better" in lines_of(found)
    kept = stored(found.signature, tmp_path) or {}
    assert (kept["left"], kept["left_model"], kept["left_rules"]) == (sum(asked), sum(asked), right)
    assert judge_check("rules", cache=tmp_path).ours.left is None


def test_a_model_that_is_worse_than_the_rules_is_said(tmp_path: Path) -> None:
    known = knowing()

    def wrong(seen: Shown, number: int) -> str:
        return "abstained" if known(seen, number).startswith("committed") else "committed-correct"

    found = judge_check(cascade(wrong), cache=tmp_path)
    assert found.ours.left is not None
    assert found.ours.left.lost > found.ours.left.gained
    assert "The model decides them worse: use the judge rules" in lines_of(found)


def test_what_the_model_leaves_unread_is_in_neither_share(tmp_path: Path) -> None:
    known = knowing()

    def decide(seen: Shown, number: int) -> str:
        return "no label" if "When" in seen.question(number) else known(seen, number)

    left = judge_check(cascade(decide), cache=tmp_path).ours.left
    assert left is not None
    assert 0 < left.model.of < left.asked
    assert left.rules.of == left.model.of


def test_the_difference_of_model_and_rules_by_hand() -> None:
    def of(gained: int, lost: int, both: int, none: int = 0) -> LeftToModel:
        def said(right: bool) -> Verdict:
            return verdict("committed", "correct" if right else "incorrect")

        pairs = [(True, False)] * gained + [(False, True)] * lost + [(True, True)] * both
        pairs += [(False, False)] * none
        labels = [HumanLabel(right=True)] * len(pairs)
        return model_or_rules(
            [said(m) for m, _ in pairs], [said(r) for _, r in pairs], labels, [True] * len(pairs)
        )

    worse = of(1, 5, 52, 2)  # 53 of 60 against 57
    assert (worse.model.count, worse.rules.count, worse.model.of) == (53, 57, 60)
    assert worse.difference is not None
    # 1 of 6 has the exact range [.0042, .6412]: times 2, less 1, times 6 / 60
    assert worse.difference == pytest.approx((-4 / 60, -0.09916, 0.02825), abs=1e-4)
    assert of(0, 0, 60).difference is None
    assert of(0, 0, 0).difference is None
    clear = of(0, 8, 12).difference
    assert clear is not None
    assert clear[2] < 0
    skipped = model_or_rules([verdict("committed", "correct")], [verdict("hedged", "none")],
                             [HumanLabel(right=True)], [False])  # fmt: skip
    assert (skipped.asked, skipped.aspects, skipped.model.of, skipped.gained) == (0, 1, 0, 0)


def test_money_that_ends_stops_the_check(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max-cost"):
        judge_check(
            judge_engine(knowing()),
            cache=tmp_path,
            options=JudgeOptions(judge_price="2.5,10"),
            max_cost=0.001,
        )
    assert list(tmp_path.rglob("*.json")) == []


def test_the_three_labels_of_uncle_are_no_stances(tmp_path: Path) -> None:
    def decide(seen: Shown, number: int) -> str:
        return "UNC"

    found = judge_check(
        judge_engine(decide), cache=tmp_path, options=JudgeOptions(judge_labels="uncle")
    )
    assert found.ours.stances == ()
    assert found.ours.kappa is None
    assert "+uncle" in found.signature


def test_a_judge_that_loses_verdicts_is_refused(tmp_path: Path) -> None:
    class Forgetful(Reader):
        def grade(self, items: Sequence[Item]) -> list[Verdict]:
            return super().grade(items)[1:]

    with pytest.raises(InputError, match="returned 32 for 33 questions of 8 answers"):
        judge_check(Forgetful(perfect), cache=tmp_path)


def test_a_check_is_kept_and_cited(tmp_path: Path) -> None:
    assert stored("rules@1", tmp_path) is None
    found = judge_check("rules", cache=tmp_path)
    kept = stored(found.signature, tmp_path)
    assert kept == kept_numbers(found)
    assert kept["agreed"] == found.ours.agreed.count
    assert kept["injections_changed"] == len(found.injection.changed)
    assert all(isinstance(v, str | int | float | None) for v in kept.values())
    # a relative of the subject is the same judge
    assert stored(f"{found.signature}+own-family", tmp_path) == kept
    assert stored("rules@0", tmp_path) is None
    path = place(found.signature, tmp_path)
    assert path.parent == tmp_path / "judge-checks"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_damaged_file_is_said_and_stops_nobody(tmp_path: Path) -> None:
    path = place("rules@1", tmp_path)
    path.parent.mkdir(parents=True)
    for content in (b"", b"{", b"[]", b"\xff\xfe", b'{"signature": 3}', b"[" * 100_000):
        path.write_bytes(content)
        found = stored("rules@1", tmp_path)
        assert found is not None
        assert list(found) == ["problem"]
        assert "\n" not in str(found["problem"])
    judge_check("rules", cache=tmp_path)
    assert "agreed" in (stored(RulesJudge.signature, tmp_path) or {})


def test_a_partial_check_is_not_kept(tmp_path: Path) -> None:
    found = judge_check("rules", cache=tmp_path, limit=10)
    assert found.partial
    assert 10 <= found.ours.aspects < 30
    assert list(tmp_path.rglob("*.json")) == []
    assert judge_check("rules", cache=tmp_path, limit=0).ours.aspects == 124
    with pytest.raises(InputError, match="limit is -1"):
        judge_check("rules", cache=tmp_path, limit=-1)


def test_no_key_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SAYSO_API_KEY", "sk-very-secret")
    judge_check(judge_engine(knowing()), cache=tmp_path)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-very-secret" not in path.read_bytes()


def write(folder: Path, *rows: object) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


GOOD = {"question": "Where was Mira Toll born?", "golds": ["Ripley"]}


def test_a_file_of_the_users(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {**GOOD, "answer": "Ripley.", "verdict": "right"},
        {**GOOD, "answer": "I think it was Ripley.", "verdict": "right"},
        {**GOOD, "answer": "Selden.", "verdict": "right"},  # people may err
        {**GOOD, "answer": "I think it was Ripley.", "label": "UNC"},
        {**GOOD, "answer": "Selden.", "label": "NS"},
        {**GOOD, "answer": "I don't know.", "stance": "abstained"},
        {**GOOD, "answer": "Maybe Selden.", "stance": "hedged", "content": "incorrect", "why": 1},
    )
    found = judge_check("rules", labeled=path, cache=tmp_path)
    assert found.labelled is not None
    assert found.labelled.name == "mine.jsonl"
    assert (found.labelled.agreed.count, found.labelled.agreed.of) == (6, 7)
    assert found.labelled.stance_agreed.of == 2
    assert found.graded == 124 + 7
    kept = stored(found.signature, tmp_path)
    assert kept is not None
    assert (kept["labelled"], kept["labelled_agreed"], kept["labelled_of"]) == ("mine.jsonl", 6, 7)


def test_what_a_check_found_is_cited(tmp_path: Path) -> None:
    found = judge_check("rules", cache=tmp_path)
    kept = kept_numbers(found)
    errors, words = found.ours.errors, found.words
    assert errors is not None
    assert words is not None
    for name, share_of in (
        ("found", errors.found), ("invented", errors.invented), ("right", errors.right),
        ("phrases", words.inside), ("pairs", words.pairs),
    ):  # fmt: skip
        assert (kept[name], kept[f"{name}_of"]) == (share_of.count, share_of.of)
    assert kept["words_by"] == words.by


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2, column 2: wrong JSON.*expected columns question, gold, answer"),
        ("[1]", "line 2: expected an object"),
        ('{"question": ""}', "line 2: the question is empty"),
        (json.dumps({**GOOD, "answer": "a", "verdict": "maybe"}), "line 2: verdict is 'maybe'"),
        (json.dumps({**GOOD, "answer": "a", "human": [1, 0]}), "line 2: human: the votes are tied"),
        (json.dumps({**GOOD, "answer": "a", "label": "X"}), "line 2: label is 'X'; .* S, NS, UNC"),
        (json.dumps({**GOOD, "answer": "a", "stance": "sure"}), "line 2: stance is 'sure'; expect"),
        (
            json.dumps({**GOOD, "answer": "a", "label": "S", "verdict": "right"}),
            "line 2: it has human and label",
        ),
        (json.dumps({**GOOD, "answer": "a", "label": "S", "content": "none"}), "without a stance"),
        (
            json.dumps({**GOOD, "answer": "a", "stance": "omitted", "content": "correct"}),
            "has no value",
        ),
        (json.dumps({**GOOD, "answer": {"a": 1}, "label": "S"}), "line 2: answer is an object"),
        (json.dumps({**GOOD, "golds": {"a": 1}, "answer": "a", "label": "S"}), "line 2: gold"),
        (json.dumps({**GOOD, "question": " ", "answer": "a", "label": "S"}), "question is empty"),
        ("[" * 100_000, "line 2: "),
        (json.dumps({**GOOD, "answer": "x" * 1_100_000, "label": "S"}), "line 2: .*too many"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_lines_that_are_no_labelled_answers(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    good = json.dumps({**GOOD, "answer": "a", "label": "S"})
    path.write_text(f"{good}\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=said) as caught:
        judge_check("rules", labelled=path, cache=tmp_path)
    assert "\n" not in str(caught.value)
    assert "bad.jsonl" in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl does not exist"):
        read_labelled(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="expected a file ending in"):
        read_labelled(tmp_path)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n \n")
    with pytest.raises(InputError, match="is empty"):
        read_labelled(empty)
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match="line 1"):
        read_labelled(binary)
    windows = tmp_path / "windows.jsonl"
    line = json.dumps({**GOOD, "answer": "a", "label": "S"})
    windows.write_bytes(b"\xef\xbb\xbf" + line.encode() + b"\r\n")
    assert len(read_labelled(windows).rows) == 1


def test_rows_without_a_label_a_gold_or_an_answer_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {**GOOD, "answer": "Ripley", "verdict": "right"},
        {**GOOD, "answer": "Ripley"},
        {**GOOD, "answer": "Ripley", "label": ""},
        {"question": "Who?", "answer": "Ripley", "label": "S"},
        {**GOOD, "label": "S"},
        {"question": "Who?", "answer": "Nobody knows.", "answerable": False, "human": True},
    )
    found = judge_check("rules", labeled=path, cache=tmp_path)
    assert found.labelled is not None
    assert found.labelled.agreed.of == 1
    assert [n for n in found.notices if "--labeled" in n] == [
        "2 rows of --labeled left out: no label",
        "1 row of --labeled left out: no gold",
        "1 row of --labeled left out: no answer",
        "1 row of --labeled left out: nobody can answer the question",
    ]
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({**GOOD, "answer": "a"}))
    with pytest.raises(
        InputError, match=r"no labeled answer in it .*1 row of --labeled left out: no label"
    ):
        read_labelled(bare)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.jsonl"
        path.write_bytes(data)
        said = ""
        try:
            read_labelled(path)
        except InputError as error:
            said = str(error)
        assert "\n" not in said


def verdict(stance: Stance, content: Content) -> Verdict:
    return Verdict("t", "a", "me", stance=stance, content=content)


def test_labels_by_hand() -> None:
    hedged_right = verdict("hedged", "correct")
    assert HumanLabel(right=True).agrees(hedged_right)
    assert HumanLabel(letter="UNC").agrees(hedged_right)
    assert not HumanLabel(letter="S").agrees(hedged_right)
    assert HumanLabel("hedged").agrees(hedged_right)
    # UNCLE's projection: hedged is uncertain whatever its content, as is a refusal
    assert HumanLabel("hedged", "incorrect").agrees(hedged_right)
    assert HumanLabel("abstained", "none").agrees(verdict("refused_by_policy", "none"))
    assert not HumanLabel("abstained").agrees(verdict("refused_by_policy", "none"))
    omitted = verdict("omitted", "none")
    assert HumanLabel(letter="NS").agrees(omitted)
    assert HumanLabel(letter="OMIT").agrees(omitted)
    assert not HumanLabel(letter="UNC").agrees(omitted)


def test_errors_by_hand() -> None:
    def verdict(stance: Stance, content: Content) -> Verdict:
        return Verdict("g", "q", "reader", stance=stance, content=content)

    hedged, right = verdict("hedged", "none"), verdict("committed", "correct")
    # 20 uncertain answers, 18 called so; 30 that commit, 3 called uncertain; of the other 27, all
    # labelled correct, 18 are judged correct
    rows = [(hedged, HumanLabel(letter="UNC"))] * 18 + [(right, HumanLabel(letter="UNC"))] * 2
    rows += [(hedged, HumanLabel("committed", "correct"))] * 3
    rows += [(right, HumanLabel("committed", "correct"))] * 18
    rows += [(verdict("committed", "incorrect"), HumanLabel(letter="S"))] * 9
    rows += [(right, HumanLabel(right=True))] * 4  # of these nobody said whether they hedge
    verdicts, labels_ = [v for v, _ in rows], [label for _, label in rows]
    part = result("mine", verdicts, labels_, ["all"] * len(rows))
    assert part.errors is not None
    shares = [(s.count, s.of) for s in (part.errors.found, part.errors.invented, part.errors.right)]
    assert shares == [(18, 20), (3, 30), (22, 31)]


def test_one_signature_is_printed(tmp_path: Path) -> None:
    out = io.StringIO()
    check = judge_check("rules", cache=tmp_path)
    render_judge(check, None, Console(file=out, width=80))
    printed = out.getvalue()
    assert set(re.findall(r"rules@\d+", printed)) == {check.signature}
    assert "refused_by_policy" not in printed
    render_judge(check, None, Console(file=out, width=80), verbose=True)
    assert "refused_by_policy" in out.getvalue()


def test_numbers_by_hand() -> None:
    said = [
        verdict("committed", "correct"),
        verdict("hedged", "correct"),
        verdict("hedged", "none"),
    ]
    truth = [
        HumanLabel("committed", "correct"),
        HumanLabel("hedged", "correct"),
        HumanLabel("abstained", "none"),
    ]
    found = result("x", said, truth, ["a", "a", "b"])
    # all three project to the same value as their label (the hedged third is uncertain too)
    assert found.agreed == share(3, 3)
    assert [(g.name, g.agreed.count, g.agreed.of) for g in found.groups] == [
        ("a", 2, 2),
        ("b", 1, 1),
    ]
    # stances: 2 of 3 agree; expected (1*1 + 2*1 + 0*1) / 9 = 1/3; kappa = (2/3 - 1/3) / (2/3) = .5
    assert found.kappa == pytest.approx(0.5)
    hedged = next(row for row in found.stances if row.stance == "hedged")
    assert (hedged.precision.count, hedged.precision.of) == (1, 2)
    assert (hedged.recall.count, hedged.recall.of) == (1, 1)


def test_a_spread_choice_takes_from_everywhere() -> None:
    rows = our_set()[0]
    assert evenly_spread(rows, None) == rows
    assert evenly_spread(rows, 1000) == rows
    few = evenly_spread(rows, 9)
    assert [rows.index(row) for row in few] == [0, 11, 22, 33, 44, 55, 66, 77, 88]


def test_items_look_like_those_of_a_run() -> None:
    item = make_item([("Q?", ["a"])], "text", "short", "entity")
    assert item.generation.form == "short"
    assert item.questions[0].golds is not None
    assert item.questions[0].golds[0].value == "a"
    judge: Judge = RulesJudge()
    assert judge.grade([item])[0].target == item.generation.id
