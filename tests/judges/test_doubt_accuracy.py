"""How well the offline reader sees doubt: the shipped counts, and which are nearest to a run."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sayso.judges.rules import accuracy
from sayso.judges.rules.accuracy import (
    ContentReadings,
    PairReadings,
    ReaderAccuracy,
    Readings,
    TextSource,
    kind_of_writer,
    length_of,
    nearest_contents,
    nearest_pairs,
    nearest_texts,
    reader_accuracy,
    weights_hash,
)
from sayso.judges.rules.judge import judge_rules
from support.tables import tabled

ROOT = Path(__file__).resolve().parents[2]
WRITE = "run SAYSO_TEST_DATA=… python tools/readers/accuracy.py"


def test_the_counts_are_of_the_shipped_weights() -> None:
    counts = reader_accuracy()
    assert counts is not None, f"the reader changed since it was measured: {WRITE}"
    assert counts.weights == weights_hash()
    for row in counts.readings:
        for name in ("doubts", "assertions", "withheld", "stated"):
            assert 0 <= getattr(row, f"{name}_seen") <= getattr(row, name)
        assert row.doubts + row.assertions == row.withheld + row.stated
        assert row.source in counts.sources
    # every reading that a report cites was measured, and no more was seen than there is
    assert all((counts.contents, counts.pairs, counts.claims, counts.ratings))
    for answers in counts.contents:
        assert 0 <= answers.right_accepted <= answers.right
        assert 0 <= answers.wrong_accepted <= answers.wrong
    for pairs in counts.pairs:
        assert 0 < pairs.contradicting_seen <= pairs.contradicting
        assert pairs.agreeing_contradicted <= pairs.agreeing
        assert pairs.dropped <= pairs.comparable
    for claims in counts.claims:
        assert claims.true_supported / claims.true > claims.false_supported / claims.false
    for rated in counts.ratings:
        assert rated.low < rated.spearman < rated.high
        assert abs(rated.above) <= rated.error
    named = (*counts.contents, *counts.pairs, *counts.claims, *counts.ratings)
    assert {row.source for row in named} <= counts.sources.keys()


def test_weights_without_a_fold_are_of_the_shipped_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "readers"))
    folds = importlib.import_module("folds")
    asked = "Is Ada Holm alive?", ["alive"], "I believe she is alive."
    before = judge_rules(*asked)
    assert folds.judge(*asked).stance == "hedged"  # exits if the file is of other weights
    assert judge_rules(*asked) == before


@pytest.mark.slow  # 44 CPU seconds over all labeled texts
def test_the_file_is_what_the_tool_writes(test_data: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "readers" / "accuracy.py"), "--check"],
        env=os.environ | {"SAYSO_TEST_DATA": str(test_data)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-300:]}{done.stderr[-300:]}: {WRITE}"


def test_counts_of_other_weights_are_not_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    reader_accuracy.cache_clear()
    monkeypatch.setattr(accuracy, "weights_hash", lambda: "trained again")
    try:
        assert reader_accuracy() is None
    finally:
        reader_accuracy.cache_clear()


@tabled
def test_a_name_says_what_kind_of_model_wrote(name: str, writer: str | None) -> None:
    assert kind_of_writer(name) == writer


@pytest.mark.parametrize(("words", "length"), [(1, 0), (8, 0), (8.5, 1), (20, 1), (50, 2), (51, 3)])
def test_lengths(words: float, length: int) -> None:
    assert length_of(words) == length


def counted(source: str, length: int, seen: int, of: int, form: str = "short") -> Readings:
    return msgspec.convert(
        {
            "source": source, "form": form, "length": length,
            "doubts": of, "doubts_seen": seen, "assertions": 80, "assertions_seen": 76,
            "withheld": 0, "withheld_seen": 0, "stated": of + 80, "stated_seen": of + 80,
        },
        Readings,
    )  # fmt: skip


COUNTS = ReaderAccuracy(
    "w",
    {
        "tiny": TextSource("Tiny", "small", False, "A"),
        "talk": TextSource("Talk", "chat", True, "B"),
    },
    (
        counted("tiny", 0, 3, 4),
        counted("tiny", 1, 40, 80),
        counted("talk", 0, 55, 56),
        counted("talk", 3, 2, 60),
    ),
)


@tabled
def test_the_nearest_texts(
    words: float | None, writer: accuracy.Writer | None, seen: int, of: int, told: str
) -> None:
    near = nearest_texts(COUNTS, "short", words, writer)
    assert near is not None
    assert (near.found.count, near.found.of) == (seen, of)
    assert near.why.endswith(told)
    assert near.invented.count * 20 == near.invented.of  # 4 of 80 in every row


@tabled
def test_a_kind_with_few_labelled_texts_is_not_known(
    form: accuracy.Form, words: float, writer: accuracy.Writer
) -> None:
    assert nearest_texts(COUNTS, form, words, writer) is None


def test_texts_on_questions_without_an_answer_are_for_runs_with_such_questions() -> None:
    open_ = TextSource("Open", "chat", False, "B", answerable=False)
    counts = msgspec.structs.replace(
        COUNTS,
        sources=COUNTS.sources | {"open": open_},
        readings=(*COUNTS.readings, counted("open", 1, 90, 90)),
    )
    both = nearest_texts(counts, "short", 12, "chat", unanswerable=True)
    assert nearest_texts(counts, "short", 12, "chat") is None
    assert both is not None
    assert (both.found.count, both.texts) == (90, "Open")
    # few texts on answerable questions say nothing, however many there are on others
    counts = msgspec.structs.replace(counts, readings=(counted("open", 2, 90, 90),))
    assert nearest_texts(counts, "short", 30, "chat") is None
    shipped = reader_accuracy()
    assert shipped is not None
    near = nearest_texts(shipped, "short", 12, None)
    assert near is not None
    assert "UnknownBench" not in near.texts
    # few answers of these are by small models, however many are by others
    assert nearest_texts(shipped, "short", 30, "small") is None


def test_texts_written_at_a_level_that_was_asked_for_promise_nothing() -> None:
    counts = reader_accuracy()
    assert counts is not None
    assert "assistants" not in {row.source for row in counts.readings}
    # long answers of today's models are read as such answers were, not as short ones were
    near = nearest_texts(counts, "short", 80, "assistant")
    assert near is not None
    assert near.why == "short answers by assistants of 2026, more than 50 words"


def answered(source: str, length: int, *cells: int) -> ContentReadings:
    return ContentReadings(source, "short", length, *cells)


def test_the_nearest_answers_are_of_the_same_writers_and_length() -> None:
    rows = (
        answered("tiny", 0, 70, 69, 80, 0),
        answered("tiny", 2, 65, 9, 90, 2),
        answered("talk", 0, 100, 90, 100, 10),
    )
    counts = msgspec.structs.replace(COUNTS, contents=rows)
    near = nearest_contents(counts, "short", 5, "small")
    assert near is not None
    assert (near.right.count, near.right.of, near.wrong.count) == (69, 70, 0)
    assert near.texts == "Tiny"
    assert nearest_contents(counts, "long", 80, "small") is None


def test_few_pairs_of_a_writer_are_read_with_those_of_all() -> None:
    rows = (PairReadings("tiny", 50, 40, 44, 6, 70, 7), PairReadings("talk", 90, 60, 80, 8, 100, 5))
    counts = msgspec.structs.replace(COUNTS, pairs=rows)
    small, chat = nearest_pairs(counts, "small"), nearest_pairs(counts, "chat")
    assert small is not None
    assert chat is not None
    assert (small.found.of, small.why.endswith("too few are by small models")) == (140, True)
    assert (chat.found.count, chat.dropped.count) == (60, 5)
    assert nearest_pairs(COUNTS, "small") is None
