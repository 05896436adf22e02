"""``probe.at_least``: how many samples must be right before a fact counts as known."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import settings, uncle
from sayso.protocols.probes import (
    HEDGED_PROBE,
    KNOWN,
    STOPPED,
    UNKNOWN,
    UNREADABLE,
    probe_state,
)
from sayso.protocols.uncle.report import sheet
from sayso.records import Generation, InputError, Verdict, signature_text
from sayso.report.sheet import render_sheet
from sayso.storage.run_folder import RunFolder
from support.told_world import estimate, run, value

#: right samples of five: 5, 3, 2, 1, 0; with one unread: 2, 1, 0
PROBES = ["ccccc", "cicic", "uccuu", "iiiic", "iiiii", "cc?ii", "c?iii", "?iiii"]
ANSWERS = "cuicucuu"


@pytest.mark.parametrize(
    ("samples", "at_least", "state"),
    [
        ("ccc", 3, KNOWN),
        ("cci", 3, UNKNOWN),
        ("cc?", 2, KNOWN),  # known as soon as two are right, whatever the third was
        ("cc?", 3, UNREADABLE),
        ("ci?", 3, UNREADABLE),  # too few are right whatever it was, but it was not read
        ("cc", 2, KNOWN),
        ("cc", 3, UNREADABLE),  # the third was never drawn
        ("cuu", 2, HEDGED_PROBE),
        ("ciu", 2, UNKNOWN),
    ],
)
def test_a_fact_is_known_from_so_many_right_samples_on(
    samples: str, at_least: int, state: int
) -> None:
    values = {"c": "correct", "i": "incorrect", "u": "uncertain", "?": None}
    assert probe_state([values[letter] for letter in samples], 3, at_least) == state


def test_one_run_shows_known_at_one_and_at_several(tmp_path: Path) -> None:
    paper = run(tmp_path, PROBES, ANSWERS, ANSWERS)
    assert not [e for e in paper.estimates if ("known", "paper") in e.where]
    assert "known:any-of-5@T1|" in signature_text(estimate(paper, "J", "form:short").signature)
    strict = sayso.measure(paper.path, **{"probe.at_least": 2}).estimates
    known = estimate(strict, "p_known", "form:short")
    # known: 5, 3, 2 right, and two of four read; unknown: 1 and 0 right; two are undetermined
    assert (known.numerator, known.denominator, known.missing) == (4, 6, 2)
    assert "known:2-of-5@T1|" in signature_text(known.signature)
    beside = estimate(strict, "p_known", "form:short;known:paper")
    before = estimate(paper, "p_known", "form:short")
    assert (beside.value, beside.low, beside.missing) == (before.value, before.low, before.missing)
    assert (before.numerator, before.denominator) == (6, 7)
    assert signature_text(beside.signature) == signature_text(before.signature)
    assert value(strict, "J", "form:short") != value(strict, "J", "form:short;known:paper")
    # rules that count luck in their own way stay what they were
    for rule in ("corrected", "strict"):
        where = f"form:short;known:{rule}"
        assert estimate(strict, "J", where) == estimate(paper, "J", where)


def test_answers_and_labels_follow_the_rule(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, ANSWERS, ANSWERS, **{"probe.at_least": 2})
    rows = {a.question: a.known for a in result.answers.where(form="short", method="instructed")}
    expected = [True, True, True, False, False, True, None, None]
    assert [rows[f"q0.{number}?"] for number in range(8)] == expected


def test_hedged_samples_with_too_few_right_ones_count_by_their_rule(tmp_path: Path) -> None:
    fields = {"probe.at_least": 3, "probe.unc": "excluded"}
    result = run(tmp_path, PROBES, ANSWERS, ANSWERS, **fields)
    known = estimate(result, "p_known", "form:short")
    # "uccuu" hedged three of five with two right: left out, neither known nor unknown nor missing
    assert (known.numerator, known.denominator, known.missing) == (2, 4, 3)


def test_the_page_says_how_many_samples_were_right(tmp_path: Path) -> None:
    one = run(tmp_path, PROBES, ANSWERS, ANSWERS)
    two = run(tmp_path, PROBES, ANSWERS, ANSWERS, name="two", **{"probe.at_least": 2})
    for result, there in ((one, False), (two, True)):
        page = report.write(result.path).read_text(encoding="utf-8")
        console = Console(width=200, record=True, file=io.StringIO())
        render_sheet(sheet(result.estimates), console)
        said = console.export_text()
        for text in (page, said):
            assert ("2 of several draws were right" in text) is there
        assert ("at least 2 draws right (headline)" in page) is there


def test_runs_by_different_rules_are_not_compared(tmp_path: Path) -> None:
    one = run(tmp_path, PROBES, ANSWERS, ANSWERS)
    two = run(tmp_path, PROBES, ANSWERS, ANSWERS, name="two", **{"probe.at_least": 2})
    with pytest.raises(InputError, match=r"differ in known \(any-of-5@T1 and 2-of-5@T1\)"):
        sayso.compare(one.path, two.path)


def test_more_right_samples_than_there_are_is_refused(tmp_path: Path) -> None:
    chosen = settings.replace(uncle.Settings(), {"probe.at_least": 6})
    with pytest.raises(InputError, match=r"at_least is 6, but probe.k draws only 5 samples"):
        chosen.check()
    result = run(tmp_path, PROBES, ANSWERS, ANSWERS, **{"probe.at_least": 3})
    with pytest.raises(InputError, match=r"at_least is 3, but probe.k draws only 2 samples"):
        sayso.measure(result.path, **{"probe.k": 2})
    assert RunFolder.open(result.path).read_manifest().settings["probe.at_least"] == 3


@pytest.mark.parametrize(("at_least", "drawn"), [(1, 21), (2, 30), (3, 38)])
def test_draws_that_end_once_a_fact_is_known_give_the_same_rates(
    tmp_path: Path, at_least: int, drawn: int
) -> None:
    rule = {"probe.at_least": at_least}
    every = run(tmp_path, PROBES, ANSWERS, ANSWERS, **rule)
    stops = {**rule, "probe.stop": "first_right"}
    (tmp_path / "few").mkdir()
    few = run(tmp_path / "few", PROBES, ANSWERS, ANSWERS, **stops)
    draws, verdicts = (
        RunFolder.open(few.path).read(f"{kind}/probe", of)
        for kind, of in (("generations", Generation), ("verdicts", Verdict))
    )
    assert len(draws) == len({g.id for g in draws}) == drawn
    assert {v.target for v in verdicts} == {g.id for g in draws}
    counted = {"guess_rate", "draws_alike"}
    for one, other in zip(every.estimates, few.estimates, strict=True):
        if one.name in counted or {("known", "corrected"), ("known", "strict")} & {*one.where}:
            assert other.value is None
            assert other.problem == STOPPED
        else:
            assert msgspec.structs.replace(other, signature=()) == msgspec.structs.replace(
                one, signature=()
            )
            assert "probe_stop:first_right" in signature_text(other.signature)
    fewer = sayso.measure(few.path, settings={"probe.k": 3, "probe.at_least": 1}).estimates
    assert value(fewer, "J", "form:short") == value(
        sayso.measure(every.path, settings={"probe.k": 3, "probe.at_least": 1}),
        "J",
        "form:short",
    )
    if at_least < 3:
        with pytest.raises(InputError, match="at_least is 3, but samples of this run ended"):
            sayso.measure(few.path, **{"probe.at_least": 3})
    with pytest.raises(InputError, match=r"drawn with probe.stop=first_right"):
        run(tmp_path, PROBES, ANSWERS, ANSWERS, name="b", known_from=str(few.path), **rule)
