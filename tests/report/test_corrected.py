"""Corrected numbers as people read them: words, table, and the difference of two."""

from __future__ import annotations

import hashlib
import io
import math
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from sayso.protocols.uncle.numbers import NUMBERS
from sayso.protocols.uncle.report import part_label
from sayso.records import CorrectedNumber, Estimate, Verdict
from sayso.report.corrected import (
    NOT_YET,
    corrected_section,
    corrected_sentences,
    difference_of_corrected,
    halving_sentence,
    judge_effect,
    render_corrected,
    stored_corrected,
)
from sayso.report.differences import Words
from sayso.report.number_tables import page_rows
from sayso.storage.run_folder import CORRECTED, LABELS, Manifest, RunFolder

SHORT = (("form", "short"),)
WORDS = Words(NUMBERS, part_label)


def one(
    raw: float | None = 0.25,
    value: float | None = 0.32,
    half: float | None = 0.05,
    *,
    name: str = "J",
    gain: float | None = 1.8,
) -> CorrectedNumber:
    low, high = (None, None) if value is None or half is None else (value - half, value + half)
    effect = None
    if raw is not None and value is not None and half is not None:
        gap = raw - value
        effect = Estimate(name, SHORT, gap, gap - half, gap + half)
    return CorrectedNumber(
        Estimate(name, SHORT, raw, 0.2, 0.3, n=300),
        Estimate(name, SHORT, value, low, high, n=100),
        Estimate(name, SHORT, 0.34, 0.2, 0.48, n=100),
        gain, 0.7, 100, 300, 7, ("anna", "ben"), effect=effect,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (one(0.25, 0.32), "lower by 0.07"),
        (one(0.40, 0.32), "higher by 0.08"),
        (one(0.30, 0.32), "(lower by 0.02)"),
        (one(0.3201, 0.32), "no different"),
        (one(0.80, 0.79, name="KCR"), "(higher by 1.0 pp)"),
        (msgspec.structs.replace(one(0.25, 0.32), effect=Estimate("J", SHORT, -0.07)), "unknown"),
        (one(None, 0.32), "–"),
        (one(0.25, None), "–"),
    ],
)
def test_what_the_judge_did_stands_in_words(number: CorrectedNumber, words: str) -> None:
    assert judge_effect(number) == words


def test_sentences_say_who_labeled_and_which_numbers_moved() -> None:
    people, moved = corrected_sentences([one(), one(0.31)])
    assert "anna and ben labeled up to 100 of the 300 judged answers" in people
    assert moved.startswith("The judge's errors moved 1 of the 2 corrected numbers in this table")
    assert "moved 0 of the 1 corrected numbers" in corrected_sentences([one(0.31)])[1]
    # every row that says what the judge did counts, also "no different" without an interval
    same = msgspec.structs.replace(one(0.32, 0.32), effect=Estimate("J", SHORT, 0.0))
    assert "moved 1 of the 2 corrected" in corrected_sentences([one(), same, one(None)])[1]
    assert len(corrected_sentences([one(0.31, half=None)])) == 1  # no interval, no claim


def test_how_many_labels_halve_an_interval_is_said_if_it_is_known() -> None:
    more = msgspec.structs.replace(one(), halved_by=1240)
    told = halving_sentence(more, WORDS)
    assert "the interval of J (short answers), the run needs about 1,240 labels in all" in told
    assert "Ask about more entities" in halving_sentence(one(), WORDS)
    assert halving_sentence(one(gain=None), WORDS) == ""


def test_labels_that_nobody_drew_are_told() -> None:
    left = msgspec.structs.replace(one(), undrawn=12)
    assert "up to 12" in corrected_sentences([left])[-1]
    chosen = msgspec.structs.replace(one(), drawn=False)
    assert "count as a random sample" in corrected_sentences([chosen])[-1]


def test_the_table_shows_all_three_beside_each_other(tmp_path: Path) -> None:
    folder = labeled_folder(tmp_path / "run")
    folder.write(CORRECTED, [stored()], CorrectedNumber)
    (table,) = corrected_section(folder, NUMBERS, part_label).tables
    ((_, cells),) = page_rows(table)
    assert [value for value, _ in cells] == [
        "+0.25", "+0.32", "+0.34", "lower by 0.07",
    ]  # fmt: skip
    out = io.StringIO()
    render_corrected([one()], WORDS, Console(file=out, width=160))
    assert "+0.32 [+0.27, +0.37]" in " ".join(out.getvalue().split())
    assert "lower by 0.07" in out.getvalue()
    render_corrected([one(), one(name="EA")], WORDS, Console(file=out), {("J", SHORT)})
    assert "The page shows 1 more" in out.getvalue()
    assert "EA" not in out.getvalue()
    render_corrected([], WORDS, Console(file=out, width=120))


def test_numbers_survive_the_folder(tmp_path: Path) -> None:
    folder = labeled_folder(tmp_path / "run")
    numbers = [stored(), stored(None, None, gain=None)]
    folder.write(CORRECTED, numbers, CorrectedNumber)
    assert stored_corrected(folder) == numbers


def test_new_numbers_of_a_run_delete_its_corrected_ones(tmp_path: Path) -> None:
    folder = labeled_folder(tmp_path / "run")
    assert stored_corrected(folder) is None
    assert corrected_section(folder, NUMBERS, part_label).text == [NOT_YET]
    folder.write(CORRECTED, [stored()], CorrectedNumber)
    folder.write("verdicts/short", [], Verdict)
    assert stored_corrected(folder) == [stored()]
    folder.write("metrics/uncle", [one().raw], Estimate)
    assert stored_corrected(folder) is None
    # labels that correct nothing, and no labels
    folder.write(CORRECTED, [], CorrectedNumber)
    assert not corrected_section(folder, NUMBERS, part_label).held
    folder.write(CORRECTED, [stored()], CorrectedNumber)
    (folder.path / LABELS).write_bytes(b"others")  # somebody else's labels, copied here,
    os.utime(folder.path / LABELS, ns=(0, 0))  # which are older
    assert stored_corrected(folder) is None
    (folder.path / LABELS).unlink()
    assert stored_corrected(folder) == []
    assert not corrected_section(folder, NUMBERS, part_label).held


def stored(*args: Any, **keywords: Any) -> CorrectedNumber:
    """Return a number as it stands beside the labels of ``labeled_folder``."""
    return msgspec.structs.replace(
        one(*args, **keywords), labels_hash=hashlib.sha256(b"labels").hexdigest()
    )


def labeled_folder(place: Path) -> RunFolder:
    """Return a run with a file of labels, as far as a page asks for it."""
    folder = RunFolder.create(place)
    folder.write_manifest(Manifest())
    (place / LABELS).write_bytes(b"labels")
    return folder


def test_the_difference_of_two_by_hand() -> None:
    # .6 [.5, .7] less .5 [.4, .6]: .1 -+ sqrt(.1^2 + .1^2)
    gap = difference_of_corrected(one(value=0.5, half=0.1), one(value=0.6, half=0.1))
    assert gap.name == "J"
    assert gap.where == SHORT
    assert (gap.value, gap.low, gap.high) == pytest.approx(
        (0.1, 0.1 - math.sqrt(0.02), 0.1 + math.sqrt(0.02))
    )
    bare = difference_of_corrected(one(value=0.5, half=None), one(value=0.6))
    assert (bare.value, bare.low) == (pytest.approx(0.1), None)
    assert bare.problem
    assert difference_of_corrected(one(value=None), one()).value is None
