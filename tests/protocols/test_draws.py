"""Draws that never vary, and answers without log-probabilities: said by name, never in silence."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.engines.engine import Capabilities
from sayso.engines.openai.calls import DrawWatch
from sayso.judges.judge import Item
from sayso.progress import Progress
from sayso.protocols import PROTOCOLS, uncle
from sayso.protocols.probes import ALIKE, DrawVariety, count_draws
from sayso.records import Estimate, Generation, Message, Request, Verdict, ask, slice_of, slice_text
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(8)  # 24 facts
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6), hedges=lambda f, i: i)


def draw(question: int, sample: int, text: str, **more: Any) -> Generation:
    settings = {"temperature": 1.0, "sample": sample, **more.pop("request", {})}
    request = ask(f"question {question}", **settings)
    return Generation(request, question=f"q{question}", text=text, **more)


def test_equal_draws_are_counted_by_question() -> None:
    alike = [draw(q, s, f"text {q}") for q in range(8) for s in range(2)]
    assert count_draws(alike) == DrawVariety(8, 8)
    assert count_draws(alike).repeat
    assert not count_draws(alike[:-2]).repeat  # seven questions are too few to say so
    assert count_draws([*alike, draw(0, 2, "other")]) == DrawVariety(8, 7)
    # the same draw twice, greedy answers and failed requests are no second draw
    once = [draw(0, 0, "a"), draw(0, 0, "a"), draw(0, 1, "", problem="failed: no reply")]
    greedy = [draw(1, s, "a", request={"temperature": 0.0}) for s in range(3)]
    assert count_draws([*once, *greedy]) == DrawVariety(0, 0)
    # an equal answer after another thought is another draw
    thought = [draw(2, s, "a", thinking=f"thought {s}") for s in range(2)]
    assert count_draws(thought) == DrawVariety(1, 0)


def run(folder: Path, engine: ScriptedEngine, name: str = "run", **settings: Any) -> Result:
    return sayso.run(
        report=False,
        model=engine,
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / name,
        cache=folder / "cache",
        options=uncle.Settings(resamples=100, **settings),
    )


def stuck(request: Request) -> Generation:
    """Answer each question with one and the same text at any temperature."""
    plain = ask(request.messages[0].content, temperature=0)
    return MIND(plain)


def shown(result: Result) -> str:
    console = Console(file=io.StringIO(), width=100)
    report.render_run(result.estimates, console, result.manifest)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_five_equal_probes_are_not_silent(tmp_path: Path) -> None:
    result = run(tmp_path, ScriptedEngine(stuck, "stuck", logprob=-0.5))
    (alike,) = [e for e in result.estimates if e.name == "draws_alike"]
    assert (alike.value, alike.denominator, alike.problem) == (1.0, 24, ALIKE)
    assert f"probe: {ALIKE}" in result.manifest.notices
    (caution,) = result.manifest.cautions
    for words in (
        "draws of every question are equal",
        "the model is certain of every answer",
        "known by any of several draws",
        "chance-corrected known set (no value)",
    ):
        assert words in caution
    fallen = [e for e in result.estimates if "known:corrected" in slice_text(e.where)]
    assert fallen
    assert all((e.value, e.problem) == (None, ALIKE) for e in fallen)
    # on top of the table and of the page, before any number
    text = " ".join(shown(result).split())
    assert text.index("The draws never vary") < text.index("facts it knew")
    page = report.write(result.path).read_text()
    assert page.index("The draws never vary") < page.index('id="numbers"')
    # and a second time from the cache alone
    again = run(tmp_path, ScriptedEngine(stuck, "stuck", logprob=-0.5))
    assert again.manifest.cautions == result.manifest.cautions


def test_a_run_tells_it_before_the_judge_is_asked(tmp_path: Path) -> None:
    notes: list[str] = []

    class Heard(Progress):
        def note(self, text: str) -> None:
            notes.append(text)

    class Late:
        name = signature = "late"

        def grade(self, items: Sequence[Item]) -> list[Verdict]:
            assert len(notes) == 1
            assert "stuck at a temperature above 0 repeat" in notes[0]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sayso.run(
            model=ScriptedEngine(stuck, "stuck"),
            data=str(write(tmp_path / "q.jsonl", records(WORLD))),
            judge=Late(),
            out=tmp_path / "run",
            cache=tmp_path / "cache",
            progress=Heard(),
        )


def test_draws_that_vary_have_no_such_line(tmp_path: Path) -> None:
    result = run(tmp_path, MIND.engine("varied"))
    assert result.manifest.cautions == ()
    (alike,) = [e for e in result.estimates if e.name == "draws_alike"]
    assert alike.value is not None
    assert alike.value < 1
    assert alike.problem is None


def test_what_the_engine_saw_is_said_where_the_probes_are_too_few(tmp_path: Path) -> None:
    engine = ScriptedEngine(stuck, "stuck", logprob=-0.5)
    engine.capabilities = Capabilities(logprobs=True, entropies=True, draws_vary=False)
    result = sayso.run(
        model=engine,
        data=str(write(tmp_path / "q.jsonl", records(facts(8)[:6]))),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=uncle.Settings(resamples=100),
    )
    assert "was seen to repeat the same text" in result.manifest.cautions[0]


def test_a_run_without_logprobs_works_everywhere(tmp_path: Path) -> None:
    """No number is invented, none of the others is lost, and what falls away is named."""
    bare = ScriptedEngine(lambda r: MIND(r).text, "bare")
    result = run(tmp_path, bare)
    full = run(tmp_path, MIND.engine("full"), "full")
    fallen = {"unspoken_knowledge", "auroc_incorrect_within"}
    for estimate in result.estimates:
        if estimate.name in fallen or ";policy:own_logprob" in slice_text(estimate.where):
            assert estimate.value is None, estimate
            assert estimate.problem, estimate
    for form in ("short", "long"):
        for name in ("FA", "UUR", "KCR", "J", "J_within", "hedge_precision"):
            values = [r.get(name, f"form:{form}").value for r in (result, full)]
            assert (values[0] is None) == (values[1] is None), name
    (caution,) = result.manifest.cautions
    for words in ("no log-probabilities", "unspoken knowledge", "hedge by them"):
        assert words in caution
    assert "There are no log-probabilities" in " ".join(shown(result).split())
    assert "There are no log-probabilities" in report.write(result.path).read_text()
    again = sayso.measure(result.path)
    assert [e.value for e in again.estimates] == [e.value for e in result.estimates]
    other = run(tmp_path, ScriptedEngine(lambda r: MIND(r).text, "other"), "other")
    plain = run(tmp_path, bare, "plain")
    assert sayso.compare(plain.path, other.path, resamples=100).estimates


def test_nothing_said_is_not_called_a_lack_of_logprobs(tmp_path: Path) -> None:
    result = run(tmp_path, ScriptedEngine(lambda r: "I do not know.", "silent", logprob=-0.5))
    assert not any("log-prob" in caution for caution in result.manifest.cautions)
    problem = result.get("unspoken_knowledge", "form:short").problem
    assert problem is not None
    assert "states a value" in problem


@pytest.mark.parametrize("k", [1, 2])
def test_few_draws_are_measured_as_such(tmp_path: Path, k: int) -> None:
    result = run(tmp_path, ScriptedEngine(stuck, "stuck", logprob=-0.5))
    again = sayso.measure(result.path, **{"probe.k": k})
    (alike,) = [e for e in again.estimates if e.name == "draws_alike"]
    assert alike.problem == ("no question was drawn twice" if k == 1 else ALIKE)


def test_where_nothing_was_said_no_draw_is_like_another() -> None:
    nothing, watch = DrawVariety(0, 0).share, DrawWatch()
    for protocol in ("uncle", "selective", "faithfulness"):
        assert PROTOCOLS[protocol].cautions([nothing], False) == []
    for sample in range(2):
        for question in range(20):
            request = Request((Message("user", f"Q{question}"),), temperature=1.0, sample=sample)
            watch.see(request, " ")
    assert (watch.vary, watch.notice) == (None, None)


def test_confidence_of_one_needs_a_claim() -> None:
    alike = DrawVariety(30, 30).share
    assert PROTOCOLS["faithfulness"].cautions([alike, Estimate("mean_confidence")]) == []
    (said,) = PROTOCOLS["faithfulness"].cautions([alike, Estimate("mean_confidence", value=1.0)])
    assert "every confidence is 1" in said


def test_methods_that_lack_claims_are_told_in_one_line() -> None:
    rows = []
    for method in ("vanilla", "uncertainty"):
        place = slice_of(form="short", method=method)
        rows.append(Estimate("mean_decisiveness", place, n=3, missing=5))
        rows.append(Estimate("left_out", place + slice_of(reason="few draws"), value=5.0))
    (said,) = PROTOCOLS["faithfulness"].cautions(rows)
    assert "(10 have too few draws). More than 5 % are left out in: Short answers, Vanilla" in said
    assert said.count("If these are the hedged ones") == 1
