"""The page and the terminal table of a training: any numbers, hostile texts, nothing oversold."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from sayso import cli
from sayso.records import Estimate, InputError
from sayso.report.numbers import reach
from sayso.train import report as charts
from sayso.train.report import render_training, training_page, write_training_page
from sayso.train.result import (
    Change,
    MeasuredMethod,
    MethodNumber,
    Point,
    Training,
    read_training,
    write_training,
)
from sayso.train.verdict import verdict_sentences
from support.browsers import opened
from support.tables import tabled
from support.trainings import METHODS, training

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)> \x1b[31m\u202e'


def printed(found: Training, width: int = 120) -> str:
    out = io.StringIO()
    render_training(found, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def body(text: str) -> str:
    return re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)


def test_a_training_is_read_as_it_was_written_and_has_a_page(tmp_path: Path) -> None:
    found = training()
    write_training(tmp_path, found)
    assert read_training(tmp_path) == found
    made = write_training_page(tmp_path)
    text = made.read_text("utf-8")
    assert "default-src 'none'" in html.unescape(text)
    assert "SFT + DPO" in text
    # rates along xi in both forms, and alignment
    assert text.count("<svg") == 2 * 3
    for form in ("short answers", "paragraphs"):
        assert f"FA, UA and EA along xi, {form}" in text
    before = made.read_bytes()
    made.unlink()
    assert cli.execute(["report", str(tmp_path)]) == 0
    assert made.read_bytes() == before
    with pytest.raises(InputError, match=r"contains no training\.json"):
        write_training_page(tmp_path / "nowhere")


def test_an_unfinished_training_says_how_to_go_on(tmp_path: Path, capsys) -> None:
    command = "sayso train <base> --out a"
    some = msgspec.structs.replace(training(), finished=None, command=command, cells=(), verdict=())
    write_training(tmp_path, some)
    assert cli.execute(["report", str(tmp_path)]) == 0
    told = f"This training is not finished: `{command}` continues it."
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out.strip() == str(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert html.escape(told) in text.split("</header>")[0]
    assert told in " ".join(printed(some).split())
    write_training(tmp_path, msgspec.structs.replace(some, command=""))
    assert cli.execute(["report", str(tmp_path)]) == 0
    assert "the same call continues it" in capsys.readouterr().err
    assert "not finished" not in training_page(training())


def test_what_seeds_and_trainings_had_to_say_is_on_the_page() -> None:
    found = training()
    curves = tuple(
        msgspec.structs.replace(c, notices=("memory ran out: continuing",) if c.seed else ())
        for c in found.curves
    )
    text = " ".join(
        html.unescape(body(training_page(msgspec.structs.replace(found, curves=curves)))).split()
    )
    assert "J of each seed" in text
    assert text.count("Preference optimization, seed 1: memory ran out: continuing") == 1
    assert "training cpu 12.0" in re.sub(r"<[^>]*>+", " ", text).replace("  ", " ")
    # rows of a stage that was not trained were made for nobody
    assert "dpo long" in training_page(found)
    assert "dpo long" not in training_page(msgspec.structs.replace(found, curves=found.curves[:2]))
    one = tuple(msgspec.structs.replace(m, seeds=(0,)) for m in found.methods)
    assert not charts.by_seed(msgspec.structs.replace(found, methods=one)).rows


def test_a_curve_is_told_by_its_begin_and_its_end() -> None:
    """130 points 0, 1, 2, ...: the mean of the last 13 is 123."""
    points = tuple(Point(n + 1, {"loss": float(n), "rate": 0.1}) for n in range(130))
    curve = msgspec.structs.replace(training().curves[0], points=points)
    empty = msgspec.structs.replace(curve, points=(), seed=1, first_loss=None)
    table = charts.course(msgspec.structs.replace(training(), curves=(curve, empty)))
    assert table.columns == ("steps", "loss before", "loss at the end")
    assert table.rows[0][1] == ("130", "0.693", "123")


def counted(name: str, top: float, bottom: float, problem: str | None = None) -> Estimate:
    value = top / bottom if bottom else None
    return Estimate(name, value=value, numerator=top, denominator=bottom, problem=problem)


def test_numbers_that_rest_on_little_are_marked_and_counted() -> None:
    """The base model hedges 5 of 418 unknown facts and none of 782 known ones."""
    few = (
        counted("over_hedge", 0.0, 782.0, "sparse: 0 of 782, exact interval"),
        counted("UUR", 5.0, 418.0),
        counted("UA", 5.0, 5.0, "sparse: 5 of 5, exact interval"),
        Estimate("odds_ratio_within", value=9.5, problem="undefined in 36 % of the resamples"),
    )
    many = (counted("over_hedge", 172.0 + 1 / 3, 782.0), counted("UUR", 254.0, 417.0))
    cells = tuple(
        MethodNumber(name, "short", one)
        for name, ones in (("base", few), ("dpo", many))
        for one in ones
    )
    methods = (METHODS[0], METHODS[-1])
    found = Training(methods=methods, cells=cells, finished="2026", seeds=(0, 1))
    shown = " ".join(html.unescape(body(training_page(found))).split()).replace("\xa0", " ")
    assert "5/418" in shown
    assert "5/5" in shown  # UA of the base model
    assert "1.2 %" in shown  # UUR of the base model: 5 of 418


def test_clear_changes_are_told_apart_from_the_others() -> None:
    table = charts.changes(training())
    held = {labels[0].partition(" minus")[0]: entries[2] for labels, entries in table.rows}
    assert held["SFT + DPO"] == ".001"
    # SFT's change of J is not clear after Holm, and stands there all the same
    assert "SFT" in held
    assert "Holm" in table.notes[0]


@pytest.mark.parametrize("width", [80, 120])
def test_a_training_fits_a_terminal(width: int) -> None:
    lines = printed(training(), width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 40


@pytest.mark.parametrize("kind", ["page", "terminal"])
def test_hostile_texts_stay_texts(kind: str) -> None:
    found = training(EVIL)
    if kind == "terminal":
        assert "\x1b" not in printed(found)
        assert "\u202e" not in printed(found)
        return
    text = training_page(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    inside = body(text)
    assert "<script" not in inside
    assert "<img" not in inside
    assert html.escape("<img src=x onerror=alert(2)>") in inside


@tabled
def test_intervals_are_short(low: float | None, high: float, percent: bool, told: str) -> None:
    assert reach(Estimate("x", value=0.5, low=low, high=high), percent) == told


NOTHING = Estimate("J", problem="nothing to count")


@pytest.mark.parametrize(
    "found",
    [
        Training(),
        Training(methods=METHODS, seeds=(0,)),
        Training(methods=METHODS, cells=(MethodNumber("dpo", "short", NOTHING),)),
        Training(methods=METHODS, changes=(Change("dpo", "gone", "short", NOTHING),)),
        msgspec.structs.replace(training(), curves=(), sweep=(), samples=(), changes=()),
    ],
)
def test_any_findings_make_a_page_and_a_table(found: Training) -> None:
    text = body(training_page(found))
    assert "nan" not in text.lower().replace("finan", "")
    assert "None" not in text
    printed(found)
    list(verdict_sentences(found, "instruction"))


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=30), st.one_of(st.none(), st.floats(-1, 1)), st.text(max_size=8))
def test_any_text_and_any_number(text: str, value: float | None, name: str) -> None:
    cell = MethodNumber("sft", "short", Estimate(name or "J", value=value))
    some = msgspec.structs.replace(training(text), cells=(cell,), seeds=(), curves=(), sweep=())
    assert body(training_page(some)).count("<main") == 1
    printed(some, 60)


def said(**numbers: float | None) -> list[str]:
    """Return the verdict on a trained method of which these numbers are known."""
    method = MeasuredMethod("dpo", "SFT + DPO", "trained", (0, 1))
    low, high = numbers.pop("low", None), numbers.pop("high", None)
    p, before = numbers.pop("p", None), numbers.pop("before", 0.02) or 0.0
    hedged, measured = numbers.pop("hedged", None), numbers.pop("measured", None)
    cells = [
        MethodNumber("dpo", "short", Estimate(k, value=v, low=low, high=high))
        for k, v in numbers.items()
    ]
    if hedged is not None:
        share = Estimate("p_uncertain", value=hedged / 480, numerator=hedged, denominator=480.0)
        cells.append(MethodNumber("dpo", "short", share))
    told = {"J": before, "forced": 0.9, "forced_several": 0.8, "KCR": numbers.get("KCR")}
    cells += [MethodNumber("instruction", "short", Estimate(k, value=v)) for k, v in told.items()]
    gap = Estimate("J", value=(numbers.get("J") or 0) - before)
    lost = Estimate("forced", value=(numbers.get("forced") or 0) - 0.9, low=-0.03, high=0.005)
    changes = [Change("dpo", "instruction", "short", one, p, p) for one in (gap, lost)]
    found = Training(methods=(method,), cells=tuple(cells), changes=tuple(changes))
    if measured is not None:
        found = msgspec.structs.replace(found, entities={"measured": int(measured)})
    return list(verdict_sentences(found, "instruction"))


def test_the_verdict_is_the_sentence_that_was_asked_for() -> None:
    first, *_ = said(
        UUR=0.44, over_hedge=0.27, policy_UUR=0.61, J=0.17, low=0.12, high=0.22, p=0.01
    )
    assert first == (
        "SFT + DPO, short form: it hedges 44 % of unknown and 27 % of known facts; hedging its "
        "least probable answers instead, equally often within each type, it would hedge 61 % of "
        "the unknown facts. J 0.17 [0.12, 0.22]: a gain."
    )


def test_a_form_without_known_or_unknown_facts_is_told_so() -> None:
    none, *_ = said(J=None)
    assert none.endswith("for no fact could it be determined whether the model knew it.")
    known, *_ = said(over_hedge=0.27)
    assert "it hedges 27 % of known facts; no fact was unknown." in known
    unknown, *_ = said(UUR=0.44)
    assert "it hedges 44 % of unknown facts; no fact was known." in unknown


def test_the_verdict_does_not_oversell() -> None:
    chance, *_ = said(UUR=0.44, over_hedge=0.4, J=0.04, low=-0.03, high=0.11, p=0.4)
    assert ": no difference beyond chance" in chance
    assert "the interval of J includes 0, as for a model that hedges blindly" in chance
    worse, *_ = said(UUR=0.1, over_hedge=0.3, J=-0.2, low=-0.3, high=-0.1, p=0.001)
    assert ": a loss; J is below 0: it hedges known facts more often than unknown ones." in worse
    assert "includes 0" not in worse
    # better than the instruction, and still no better than blind
    better, *_ = said(UUR=0.1, over_hedge=0.1, J=0.0, low=-0.02, high=0.02, p=0.001, before=-0.3)
    assert ": a gain; the interval of J includes 0" in better
    alone, *_ = said(UUR=0.5, over_hedge=0.1, J=0.4)
    # one entity: nothing is tested, and no J stands without an interval
    assert alone.endswith("known facts. J not given, because it has no interval.")
    lost = said(J=0.3, low=0.2, high=0.4, forced=0.6, p=0.001)
    assert any(text.endswith(": knowledge was lost.") for text in lost)
    # what no answer of its own could change is not counted as kept
    several = said(J=0.3, low=0.2, high=0.4, forced=0.88, forced_several=0.75, p=0.5)
    assert (
        "Forced to answer, it is right on 88 % of the facts that the base model knew (the base "
        "model itself: 90 %; difference \N{MINUS SIGN}2.0 [\N{MINUS SIGN}3.0, +0.5] points); where "
        "the base model gave several answers, on 75 % (80 %)."
    ) in several
    assert any("no fact was known before" in text for text in said(J=0.3))
    assert any("cannot be forced" in text for text in said(J=0.3, KCR=0.8))


def test_few_hedges_and_few_entities_are_told() -> None:
    """4.5 hedged facts of 480 (a mean over seeds): blind or not cannot be said of them."""
    some = {"UUR": 0.02, "over_hedge": 0.003, "policy_UUR": 0.01, "J": 0.01, "low": -0.01}
    few, *rest = said(**some, high=0.03, p=0.5, hedged=4.5, measured=12)
    assert (
        "hedges 2 % of unknown and <1 % of known facts; it hedges almost nothing: 4.5 of 480 facts"
        ". J 0.01"
    ) in few
    assert "blindly" not in few
    assert "probabilities" not in few
    assert "Only 12 entities were measured" in " ".join(rest)
    enough, *rest = said(**some, high=0.03, p=0.5, hedged=5.0, measured=30)
    assert "almost nothing" not in enough
    assert "would hedge 1 % of the unknown facts" in enough
    assert "hedges blindly" in enough
    assert "Only" not in " ".join(rest)


def test_what_is_hedged_unasked_is_told() -> None:
    """19 % unasked against 21 % asked: in paragraphs the question makes no difference."""
    method = MeasuredMethod("dpo", "SFT + DPO", "trained", (0, 1))
    told = (("short", 0.03, 0.4, 0.004), ("long", 0.19, 0.21, 0.0))
    cells = [
        MethodNumber(name, form, Estimate(number, value=value))
        for form, unasked, asked, base in told
        for name, number, value in (
            ("dpo", "unasked", unasked), ("dpo", "p_uncertain", asked),
            ("instruction", "unasked", base),
        )
    ]  # fmt: skip
    found = list(verdict_sentences(Training(methods=(method,), cells=tuple(cells)), "instruction"))
    assert (
        "Under the plain prompt it hedges 3 % of facts in short answers (told to: 40 %) and 19 % "
        "in paragraphs (told to: 21 %); the base model, <1 % and 0 %. In paragraphs, it hedges "
        "about as often without being told to."
    ) in found


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_runs_nothing_and_fits_a_phone(width: int, tmp_path: Path, browser: Any) -> None:
    write_training(tmp_path, training(EVIL))
    write_training_page(tmp_path)
    page = opened(browser, tmp_path, viewport={"width": width, "height": 900})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.said == []
