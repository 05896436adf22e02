"""The page and the table of a faithfulness run: hostile texts, empty runs, what must be said."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.gaps import MeasuredClaim, worst
from sayso.protocols.faithfulness.report import sheet
from sayso.protocols.settings import replace
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Request,
    Verdict,
    ask,
    slice_of,
)
from sayso.report.sheet import render_sheet
from sayso.runs.job import Job
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import chance, facts, records, write

WORLD = facts(12)
EVIL = '<script>alert(1)</script>"><img src=x> \x1b[31m\u202e'


def run(folder: Path, answer: object, **fields: object) -> Result:
    data = write(folder / "q.jsonl", records(WORLD))
    engine = ScriptedEngine(answer, name="m")  # type: ignore[arg-type]
    chosen = replace(
        faithfulness.Settings(),
        {"resamples": 100, "methods": "vanilla,uncertainty", "draws.k": 6, **fields},  # type: ignore[dict-item]
    )
    return sayso.run(
        "faithfulness", model=engine, data=str(data), out=folder / "run",
        cache=folder / "c", options=chosen, report=False,
    )  # fmt: skip


def evil(request: Request) -> str:
    text = request.messages[-1].content
    return f"It is {'Sarn' if chance(text, request.sample) < 0.5 else 'Tolm'} {EVIL}."


def table(result: Result, verbose: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=80)
    report.render_run(result.estimates, console, result.manifest, None, verbose=verbose)
    return out.getvalue()


def test_verbose_names_what_blind_words_would_score(tmp_path: Path) -> None:
    printed = " ".join(table(run(tmp_path, evil), verbose=True).split())
    for head in ("always 50/50", "never hedging", "unsure, but sounds sure", "rank correlation"):
        assert head in printed


def test_what_a_model_wrote_is_data_on_the_page(tmp_path: Path) -> None:
    result = run(tmp_path, evil)
    page = report.write(result.path).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert 'id="worst"' in page
    assert "&lt;script&gt;alert(1)" in page  # the worst answers are there to read, with draws
    for text in ("unsure, but sounds sure", "always 50/50", "bins filled"):
        assert text in page


def test_the_terminal_has_every_method_and_fits(tmp_path: Path) -> None:
    printed = table(run(tmp_path, evil))
    assert len(printed.splitlines()) <= 40
    assert "Vanilla" in printed
    assert "Uncertainty" in printed
    lines = [x for x in printed.splitlines() if not x.startswith(("signature", "report"))]
    assert all(len(x) <= 80 for x in lines)


@pytest.mark.parametrize("said", ["", "I don't know."])
def test_runs_without_any_number_are_shown(tmp_path: Path, said: str) -> None:
    result = run(tmp_path, lambda request: said)
    where = "form:short;method:vanilla"
    skill = result.get("skill", where)
    assert skill.value is None
    assert skill.problem
    told = "nothing about the model" if not said else "whether the model sounds as sure as it is"
    assert told in " ".join(table(result).split())
    assert report.write(result.path).stat().st_size > 10_000


def test_failed_requests_are_counted_and_shown(tmp_path: Path) -> None:
    from sayso.records import Generation

    def broken(request: Request) -> object:
        if request.greedy and request.messages[0].content.startswith("What"):
            return Generation(request, problem="failed: no reply")
        return evil(request)

    result = run(tmp_path, broken)
    lost = result.get("left_out", "form:short;method:vanilla;reason:wording failed")
    assert lost.value == 36
    assert result.get("skill", "form:short;method:vanilla").value is None
    report.write(result.path)


def test_numbers_of_nothing_render() -> None:
    out = io.StringIO()
    some = Estimate("skill", slice_of(form="short", method="x"), problem="none")
    for estimates in ([], [some]):
        render_sheet(sheet(estimates), Console(file=out, width=80), verbose=True)
    assert "This run cannot say whether the model sounds as sure as it is" in " ".join(
        out.getvalue().split()
    )


def test_a_dry_run_counts_who_reads_and_compares(tmp_path: Path) -> None:
    from sayso.runs.dry_run import estimate_job

    data = write(tmp_path / "q.jsonl", records(WORLD))
    engine = ScriptedEngine(evil, name="m", logprob=-0.5)
    judge = ScriptedEngine(evil, name="j", logprob=-0.5)
    job = Job(protocol="faithfulness", model=engine, data=str(data), cache=tmp_path / "c")
    plan = estimate_job(job)
    draws = {s.name: s.requests for s in plan.stages if s.who == "model"}
    assert draws["draws"].low == draws["draws"].high == 30 * 20
    assert draws["demos-draws"].low == draws["demos-draws"].high == 6 * 20  # of two held out
    priced = estimate_job(
        Job(
            protocol="faithfulness", model=engine, judge=judge, data=str(data),
            cache=tmp_path / "c",
        )
    )  # fmt: skip
    read = {s.name for s in priced.stages if s.who == "judge"}
    assert read >= {"short", "short-decisive", "short-contradict", "demonstrations", "verdicts"}
    assert not engine.requests
    assert not judge.requests


def test_runs_without_a_common_method_are_told_so(tmp_path: Path) -> None:
    from sayso.runs.compare import compare

    runs = []
    for method in ("vanilla", "uncertainty"):
        (tmp_path / method).mkdir()
        runs.append(run(tmp_path / method, evil, methods=method).path)
    with pytest.raises(InputError, match=r"no method in common \(vanilla; uncertainty\)"):
        compare(*runs, allow=("prompts",), resamples=100)


def test_each_claim_of_an_answer_stands_beside_its_own_comparisons() -> None:
    """As many samples contradict one claim as the other, but not the same ones."""
    question = Question("q", "s", "?")
    answer = Generation(ask("?"), "a", "q", method="plain", text="A or B.")
    draws = [Generation(ask("?", sample=n), f"d{n}", "q", method="plain", text="A") for n in (0, 1)]
    verdicts = [
        Verdict(f"a#{n}", "q", "rules", label="read", raw=raw) for n, raw in enumerate(("cn", "nc"))
    ]
    stored: Any = SimpleNamespace(
        has=lambda table: True,
        tables=lambda kind: ["verdicts/short-contradict"],
        iter=lambda table, kind: draws if kind is Generation else verdicts,
    )
    claims = [MeasuredClaim(question, answer, f"a#{n}", 0.9, 0.5, 1, 2, 1.0) for n in (0, 1)]
    shown: list[Any] = [one["draws"] for one in worst(stored, claims)]
    said = [[words for (_, words, _), _ in of_claim] for of_claim in shown]
    assert said == [["contradicts", "does not contradict"], ["does not contradict", "contradicts"]]
