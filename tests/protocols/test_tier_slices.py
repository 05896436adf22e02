"""Numbers by tier: equal to counts over the answers, shown where there are tiers, else nowhere."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path

import pytest
from rich.console import Console

import sayso
from sayso.protocols.answer_table import AnswerRecord
from sayso.protocols.selective import report as selective
from sayso.protocols.uncle import report as uncle
from sayso.records import Estimate, Request, Results
from sayso.report.number_tables import page_rows
from sayso.report.numbers import shown_value, tier_label, with_interval_only
from sayso.report.sheet import Sheet, render_sheet
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, Mind, chance, facts, records, write

WORLD = facts(24)
TIERS = ("1", "2", "10")
#: every entity's tier; one entity alone has the last
TIER = {f.entity: TIERS[n // 3 % 2] for n, f in enumerate(WORLD)}
TIER[WORLD[0].entity] = "10"


def knows(fact: Fact) -> float:
    return {"1": 0.9, "2": 0.05, "10": 0.6}[TIER[fact.entity]]


def hedges(fact: Fact, instructed: bool) -> bool:
    return instructed and chance("hedge", fact.question) < 0.4


MIND = Mind(WORLD, knows, hedges, guess=lambda fact, draw: "Nowhere")


def uncle_run(folder: Path, *, tiers: bool = True) -> Result:
    rows = records(WORLD)
    if tiers:
        rows = [{**row, "tier": TIER[row["entity"]]} for row in rows]
    data = write(folder / "q.jsonl", rows)
    return sayso.run(
        "uncle", model=MIND.engine("base"), data=str(data), cache=folder / "cache",
        out=folder / "run", settings={"resamples": 200},
    )  # fmt: skip


@pytest.fixture(scope="module")
def uncles(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return uncle_run(tmp_path_factory.mktemp("uncle"))


def verbose(sheet: Sheet) -> str:
    console = Console(file=io.StringIO(), width=160)
    render_sheet(sheet, console, verbose=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_known_share_of_a_tier_is_that_of_its_facts(uncles: Result) -> None:
    known: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in RunFolder.open(uncles.path).read("answers", AnswerRecord):
        assert row.known is not None
        known[row.tier][row.question_id] = row.known
    numbers = Results(uncles.estimates)
    table = uncle.slices_table(numbers, "tier", {})
    assert list(dict.fromkeys(labels[0] for labels, _ in table.rows)) == [
        f"tier {t}" for t in TIERS
    ]
    shares = {tier: numbers.get("p_known", form="short", tier=tier) for tier in TIERS}
    for tier, share in shares.items():
        facts_of = known[tier].values()
        assert (share.numerator, share.denominator) == (sum(facts_of), len(facts_of))
    first, second, _ = (share.value or 0 for share in shares.values())
    assert first > 0.8 > 0.5 > second  # 0.9 and 0.05 a draw, five draws


def test_tiers_stand_on_the_page_and_in_the_terminal(uncles: Result) -> None:
    page = (Path(uncles.path) / "report.html").read_text("utf-8")
    assert "Every tier" in page
    assert page.index("tier 1<") < page.index("tier 2<") < page.index("tier 10<")
    _, _, table = verbose(uncle.sheet(uncles.estimates)).partition("Every tier")
    for tier in TIERS:
        share = uncles.get("p_known", form="short", tier=tier)
        row, *_ = [line for line in table.splitlines() if line.startswith(f"tier {tier} ")]
        assert shown_value(share, 0) in row


def test_j_of_a_tier_without_an_interval_is_a_dash(uncles: Result) -> None:
    """Nothing can be resampled in the tier with one entity."""
    numbers = Results(uncles.estimates)
    for form in ("short", "long"):
        j = numbers.get("J", form=form, tier="10")
        assert j.low is None
    rows = page_rows(uncle.slices_table(numbers, "tier", {}))[-2:]
    assert [names[0][0] for names, _ in rows] == ["tier 10", "tier 10"]
    assert [cells[0][0] for _, cells in rows] == ["–", "–"]  # J of both forms
    bare = Estimate("J", value=0.4)
    assert with_interval_only(bare).value is None
    whole = Estimate("J", value=0.4, low=0.1, high=0.7)
    assert with_interval_only(whole) is whole


def test_without_tiers_there_is_no_such_number_table_or_section(tmp_path: Path) -> None:
    result = uncle_run(tmp_path, tiers=False)
    assert not [e for e in result.estimates if any(key == "tier" for key, _ in e.where)]
    assert "Every tier" not in (Path(result.path) / "report.html").read_text("utf-8")
    assert "Every tier" not in verbose(uncle.sheet(result.estimates))


def test_a_name_of_a_tier_is_harmless() -> None:
    assert tier_label("3") == "tier 3"
    assert tier_label("20-39 statements") == "20-39 statements"
    assert "\x1b" not in tier_label("a\x1b[2Jb")
    assert "\n" not in tier_label("a\nb")


# ---- selective


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Questions with tiers, one in three silent, and some that nobody can answer."""
    folder = tmp_path_factory.mktemp("selective")
    rows = [
        {
            "question": f.question, "gold": f.value, "entity": f.entity, "tier": TIER[f.entity],
        }
        for f in WORLD
    ]  # fmt: skip
    rows += [{"question": f"What is zorb {n}?", "answerable": False} for n in range(12)]
    table = folder / "mine.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    asked = {f.question: f for f in WORLD}

    def answer(request: Request) -> str:
        text = request.messages[-1].content
        fact = next((f for question, f in asked.items() if text.startswith(question)), None)
        if fact is None or chance("silent", fact.question) < 0.3:
            return "I don't know."
        return MIND.value(fact, request.sample)

    return sayso.run(
        "selective", model=ScriptedEngine(answer, name="base"), data=f"file:{table}",
        cache=folder / "cache", out=folder / "run",
        settings={"resamples": 200, "draws.k": 2, "nli": "rules"},
    )  # fmt: skip


def test_errors_and_abstentions_of_a_tier_are_those_of_its_answers(chosen: Result) -> None:
    rows = [
        r
        for r in RunFolder.open(chosen.path).read("answers", AnswerRecord)
        if (r.form, r.stage, r.method) == ("short", "short", "plain")
    ]
    results = selective.SelectiveResults(chosen.estimates)
    table = selective.tiers_table(results, "short")
    assert [labels for labels, _ in table.rows] == [(f"tier {tier}",) for tier in TIERS]
    judge = results.judge("short")
    for tier, (_, (errors, _)) in zip(TIERS, table.rows, strict=True):
        assert isinstance(errors, Estimate)
        labels = [r.label for r in rows if r.tier == tier]
        silent = results.get("abstains_answerable", form="short", against=judge, tier=tier)
        assert silent.numerator == sum(r.answer == "I don't know." for r in rows if r.tier == tier)
        assert silent.denominator == len(labels)
        assert errors.denominator == len(labels)
        assert errors.numerator == sum(label != "correct" for label in labels)
    whole = results.get("abstains_answerable", form="short", against=judge)
    assert whole.denominator == len(WORLD)


def test_the_selective_page_has_the_tiers_once(chosen: Result) -> None:
    page = (Path(chosen.path) / "report.html").read_text("utf-8")
    assert page.count("<caption><span>Answerable questions by tier") == 1
    printed = verbose(selective.sheet(chosen.estimates))
    assert printed.count("Answerable questions by tier") == 1
