"""What a user of Python meets: a page, plain values, results for folders, mistakes in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.engines.engine import MEMBERS, Capabilities, Engine
from sayso.judges.judge import Item
from sayso.judges.reliability import JudgeCheck, place
from sayso.people.agreement import RunAgreement
from sayso.protocols.answer_table import AnswerRecord
from sayso.records import Question, Verdict
from sayso.report.notebook import html_table, shortened_line
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

NOTHING = "there is no figure: these numbers have nothing to draw"
FIELDS = len(AnswerRecord.__struct_fields__)
WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))
HOSTILE = "<script>alert(1)</script>&\x1b[2J\u202e" + "x" * 5_000


def scripted(folder: Path, **arguments: Any) -> Result:
    """Run the small world."""
    data = folder / "q.jsonl"
    if not data.exists():
        write(data, records(WORLD, lambda f: f.value))
    fixed = {"model": MIND.engine("base"), "data": data, "cache": folder / "cache"}
    return sayso.run(
        **{"out": folder / "run", "settings": {"resamples": 100}, **fixed, **arguments}
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return scripted(tmp_path_factory.mktemp("python"))


# ---- the page


def test_a_run_from_python_has_its_page(result: Result) -> None:
    assert result.page == result.path / "report.html"
    assert result.page is not None
    assert "<html" in result.page.read_text(encoding="utf-8")
    assert str(result.page) in result._repr_html_()


def test_the_page_can_be_left_out_and_written_later(tmp_path: Path) -> None:
    bare = scripted(tmp_path, report=False)
    assert bare.page is None
    assert sayso.report.write(bare) == bare.page


# ---- a result stands for its folder


def test_a_result_stands_for_its_folder(result: Result, tmp_path: Path) -> None:
    again = sayso.measure(result)
    assert again.estimates == result.estimates
    assert again.path == result.path
    assert sayso.export(result, tmp_path / "answers.csv").rows
    assert sayso.compare(result, result) == sayso.compare(result.path, str(result.path))


@pytest.mark.parametrize("call", [sayso.measure, lambda run: sayso.compare(run, run)])
def test_what_is_no_run_is_refused(call: Any) -> None:
    with pytest.raises(sayso.InputError, match=r"a run is 5; expected its folder, or the result"):
        call(5)


# ---- a number that is not there


@pytest.mark.parametrize(
    ("name", "parts", "message"),
    [
        ("J", {}, r"^which J\? This run has it with form='short'; form='long'; "),
        (
            "J",
            {"form": "lng"},
            r"^J of form='lng' is not in this run; the run has it with form='long'",
        ),
        ("j", {"form": "long"}, r"^no number is called 'j' in this run; did you mean J\?"),
        ("zzz", {}, r"^no number is called 'zzz' in this run; it has .*UUR.* and \d+ more"),
        ("J", {"form": HOSTILE}, r"^J of form='<script>"),
    ],
)
def test_a_number_that_is_not_there_names_those_that_are(
    result: Result, name: str, parts: dict[str, str], message: str
) -> None:
    with pytest.raises(sayso.InputError, match=message) as refused:
        result.get(name, **parts)
    assert len(str(refused.value)) < 700
    assert str(refused.value).isprintable()


# ---- comparisons and checks show themselves


def test_a_comparison_shows_itself(result: Result) -> None:
    done = sayso.compare(result, result)
    assert len(repr(done)) <= 300
    assert str(result.path)[-40:] in repr(done)
    rows = done.table()
    assert len(rows) == len(done.estimates)
    assert rows[0].keys() >= {"name", "meaning", "form", "value", "low", "high", "n", "problem"}
    page = done._repr_html_()
    assert page.count("<tr>") == 1 + len(rows)
    assert "B minus A" in page
    assert "short answers" in page
    cautious = done._replace(notes=[HOSTILE])._repr_html_()
    assert "<script" not in cautious
    assert cautious.index("&lt;script&gt;") < cautious.index("<table")
    assert "nothing to compare" in done._replace(estimates=[])._repr_html_()


def test_a_comparison_has_the_answers_of_both_sides(result: Result, tmp_path: Path) -> None:
    other = scripted(tmp_path, model=MIND.engine("other"), name="other", report=False)
    done = sayso.compare(result, other)
    both = list(done.answers)
    plain = [AnswerRecord(*msgspec.structs.astuple(answer)[:FIELDS]) for answer in both]
    assert plain == [*result.answers, *other.answers]
    assert [answer.run for answer in both].index("B") == len(result.answers)
    assert {(answer.run, answer.model) for answer in both} == {("A", "base"), ("B", "other")}
    of_b = done.answers.where(run="B", form="short")
    assert 0 < len(of_b) < len(other.answers)
    assert "<td>other</td>" in of_b._repr_html_()
    assert str(other.path)[-40:] in repr(done.answers)


def test_a_comparison_draws_its_headline_numbers(result: Result) -> None:
    done = sayso.compare(result, result)
    assert done.plots == ["differences"]
    tables = done.plot().chart().to_dict()["datasets"].values()
    drawn = [row for table in tables for row in table if "kind" in row]
    forms = ("short answers", "paragraphs")
    assert all(any(form in row["row"] for row in drawn) for form in forms)
    gap = next(e for e in done.estimates if e.name == "J" and e.where == (("form", "long"),))
    assert any((row["value"], row["low"]) == (gap.value, gap.low) for row in drawn)
    with pytest.raises(sayso.InputError, match="no figure is called 'difference'; expected "):
        done.plot("difference")
    bare = done._replace(estimates=[])
    assert bare.plots == []
    with pytest.raises(sayso.InputError, match=NOTHING):
        bare.plot()


def test_a_study_has_the_answers_of_its_runs(result: Result, tmp_path: Path) -> None:
    other = scripted(tmp_path, model=MIND.engine("other"), name="other", report=False)
    study = sayso.study([result, other], resamples=100)
    assert len(study.answers) == len(result.answers) + len(other.answers)
    of_other = list(study.answers.where(model="other"))
    assert {(a.run, a.protocol) for a in of_other} == {(str(other.path), "uncle")}
    assert [a.id for a in of_other] == [a.id for a in other.answers]
    (other.path / "answers.parquet").unlink()
    with pytest.raises(sayso.InputError, match="has no table of its answers"):
        study.answers  # noqa: B018


def test_a_check_of_a_judge_has_its_answers(tmp_path: Path) -> None:
    labelled = tmp_path / "mine.jsonl"
    rows = [
        {"question": HOSTILE, "gold": "Ada", "answer": "Ada.", "human": 1},
        {"question": "Who?", "gold": "Ada", "answer": "It was Bob.", "human": 1},
        {"question": "Who?", "gold": "Ada", "answer": "I do not know.", "label": "UNC"},
    ]
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judged = sayso.judge_check("rules", labelled=labelled, limit=5, cache=tmp_path)
    assert len(judged.answers) == judged.ours.aspects + 3
    mine = list(judged.answers.where(set="mine.jsonl"))
    assert [(a.labelled, a.content, a.agrees) for a in mine] == [
        ("right", "correct", True),
        ("right", "incorrect", False),
        ("UNC", "none", True),
    ]
    ours = [a for a in judged.answers if a.set == "our labels"]
    assert sum(a.agrees is True for a in ours) == judged.ours.agreed.count
    page = judged.answers.where(set="mine.jsonl")._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert judged.plots == []


def test_a_stored_check_does_not_hold_the_answers(tmp_path: Path) -> None:
    judged = sayso.judge_check("rules", cache=tmp_path)
    assert judged.rows
    kept = place(judged.signature, tmp_path).read_text(encoding="utf-8")
    assert json.loads(kept).keys() == set(JudgeCheck.__struct_fields__)


def test_results_without_charts_or_answers_say_so_in_one_line() -> None:
    checked = sayso.check(ScriptedEngine(lambda request: "Paris."))
    assert checked.plots == []
    with pytest.raises(sayso.InputError, match=NOTHING):
        checked.plot()
    rows = [{"answer": "x " * n, "gold": "x", "mine": float(n)} for n in range(1, 5)]
    board = sayso.leaderboard(rows, ["mine"])
    for done in (checked, board, RunAgreement("runs/a", "m", "rules", ())):
        with pytest.raises(sayso.InputError, match="keeps no answers") as refused:
            done.answers  # noqa: B018
        assert "\n" not in str(refused.value)


def test_checks_show_themselves(tmp_path: Path) -> None:
    judged = sayso.judge_check("rules", limit=5, cache=tmp_path)
    checked = sayso.check(ScriptedEngine(lambda request: "Paris."))
    for done in (judged, checked):
        assert len(repr(done)) <= 300
        assert done._repr_html_().count("<tr>") == 1 + len(done.table())
    assert {"set": "our labels", "what": "verdict"}.items() <= judged.table()[0].items()
    assert checked.table()[0]["what"] == "answers"
    with pytest.raises(sayso.InputError, match="no finding is called 'seeds'; there are answers"):
        checked.get("seeds")


def test_data_frames_have_the_rows_of_the_tables(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    difference = sayso.compare(result, result)
    assert list(difference.to_pandas()["name"]) == [e.name for e in difference.estimates]
    judged = sayso.judge_check("rules", limit=5, cache=tmp_path)
    assert judged.to_pandas().to_dict("records")[0]["what"] == "verdict"


def test_a_long_reason_ends_with_a_whole_word() -> None:
    text = "too few certain answers among those set apart " * 20
    short = shortened_line(text, 60)
    assert len(short) <= 61
    assert short.removesuffix(" …").split()[-1] in text.split()
    assert shortened_line(text[:40], 60) == text[:40]
    assert len(shortened_line("x" * 5_000, 60)) == 60
    assert "<b>x" not in html_table("<b>x", ("",), [("<b>x",)], cautions=["<b>x"], last="<b>x")


# ---- values as people write them


def test_one_domain_needs_no_list(result: Result, tmp_path: Path) -> None:
    domain = dict(next(e for e in result.estimates if "domain" in dict(e.where)).where)["domain"]
    done = scripted(tmp_path, domains=domain, report=False)
    assert 0 < done.entities < result.entities
    assert done.manifest.chosen["domain"] == domain


class Incomplete:
    name = identity = "mine"

    def complete(self, requests: object) -> Iterator[object]:
        yield from ()


class Whole(Incomplete):
    base = signature = "mine"
    capabilities: object = {}
    counts = force = close = None


class HalfJudge:
    name = "half"

    def grade(self, items: object) -> list[object]:
        return []


def _said(item: Item, question: Question, **changes: Any) -> Verdict:
    ids = {"target": item.generation.id, "asked": question.id, "by": "own@1"}
    return Verdict(**{**ids, "stance": "committed", "content": "correct", **changes})


@tabled
def test_a_malformed_verdict_of_a_judge_of_ones_own_is_one_line(
    tmp_path: Path, changes: Any, message: str
) -> None:
    class Own:
        name, signature = "own", "own@1"

        def grade(self, items: Sequence[Item]) -> Any:
            pairs = [(item, question) for item in items for question in item.questions]
            if changes is None:
                return None
            if changes == "few":
                return [_said(*pairs[0])]
            if changes == "words":
                return ["committed" for _ in pairs]
            return [_said(*pair, **changes) for pair in pairs]

    with pytest.raises(sayso.InputError, match=message) as refused:
        scripted(tmp_path, model=MIND.engine("base"), judge=Own())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limit": "5"}, "limit is '5'; expected a whole number"),
        ({"limit": True}, "limit is True; expected a whole number"),
        ({"limit": 2.5}, r"limit is 2\.5; expected a whole number"),
        ({"seed": "1"}, "seed is '1'; expected a whole number"),
        ({"max_cost": "5"}, "max_cost is '5'; expected a number"),
        ({"price": (1, 2)}, r"price is \(1, 2\); expected a text"),
        ({"data": None}, "data is of type NoneType: expected a list of dicts"),
        ({"thinking": False}, "thinking is False; expected a text"),
        ({"domains": 5}, "domains is 5; expected a list of names"),
        ({"domains": ["a", 5]}, "domains is 5; expected a text"),
        ({"settings": "x"}, "settings are 'x'; expected a dict"),
        ({"settings": None, "options": {"probe.k": 3}}, "options are .*; expected the Settings of"),
        ({"out": 5}, "out is 5; expected a path"),
        ({"model_options": "x"}, "model_options is 'x'; expected a dict"),
        ({"model_options": []}, "model_options is \\[\\]; expected a dict"),
        ({"name": HOSTILE.encode()}, "name is b'<script>"),
        (
            {"model": 5},
            r"model is of type int; expected a name, .* complete, force, close; docs/pyt",
        ),
        ({"model": None}, "model is of type NoneType"),
        ({"model": lambda question: "London"}, "model is of type function; expected .*docs/python"),
        ({"model": Incomplete()}, "model Incomplete lacks base, signature, .*; docs/python.md"),
        ({"model": Incomplete}, r"model is the class Incomplete itself: pass .* Incomplete\(\)"),
        ({"model": Whole()}, r"model Whole: its capabilities are not a sayso\.engines"),
        (
            {"judge": 5},
            "judge is of type int; expected a name, such as 'rules', a judge, with name",
        ),
        ({"judge": print}, "judge is of type builtin_function_or_method; .*docs/python"),
        ({"judge": HalfJudge()}, "judge HalfJudge lacks signature; docs/python"),
        ({"judge": HalfJudge}, "judge is the class HalfJudge itself"),
    ],
)
def test_a_value_of_another_type_is_one_line_before_anything_is_asked(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    engine = MIND.engine("base")
    with pytest.raises(sayso.InputError, match=message) as refused:
        scripted(tmp_path, **{"model": engine, **given})
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert not engine.requests
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("call", [sayso.check, sayso.judge_check])
@pytest.mark.parametrize("given", [5, print, Incomplete()])
def test_checks_refuse_what_is_no_engine(call: Any, given: object) -> None:
    with pytest.raises(sayso.InputError, match=r"docs/python\.md"):
        call(given)


def test_a_model_is_opened_by_a_name() -> None:
    with pytest.raises(sayso.InputError, match="model is 5; expected 'builtin', "):
        sayso.open_model(5)  # type: ignore[arg-type]


def test_the_members_of_an_engine_are_those_of_its_protocol() -> None:
    assert set(MEMBERS) == {name for name in vars(Engine) if not name.startswith("_")}
    assert isinstance(MIND.engine("base").capabilities, Capabilities)


def test_one_setting_may_be_allowed_without_a_list(result: Result) -> None:
    assert sayso.compare(result, result, allow="judge").estimates
    with pytest.raises(sayso.InputError, match="allow 'jugde': no such setting"):
        sayso.compare(result, result, allow="jugde")
    with pytest.raises(sayso.InputError, match="resamples is '100'; expected a whole number"):
        sayso.compare(result, result, resamples="100")  # type: ignore[arg-type]
