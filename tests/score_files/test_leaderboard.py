"""The leaderboard in the terminal: 80 columns, plain length always there, nothing hostile."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from sayso.metrics import intervals
from sayso.report.numbers import json_text
from sayso.score_files.leaderboard import (
    LENGTH,
    Board,
    leaderboard,
    leaderboard_of,
    resamples_for,
)
from sayso.score_files.page import render_board, render_scores
from sayso.score_files.write import FloatColumns, number_rows


@pytest.fixture(autouse=True)
def few_resamples() -> None:
    """Keep every resample: intervals are looked at."""


def _board(scores: int = 3, rows: int = 60, grader: str = "rules", spread: float = 1.0) -> Board:
    rng = np.random.default_rng(0)
    methods = [f"score_{n}" for n in range(scores)]
    names = ["words", "correct:people", f"correct:{grader}", *methods]
    with FloatColumns(names) as columns:
        for _ in range(rows):
            wrong = float(rng.random() < 0.4)
            row = {name: wrong * spread + rng.normal() for name in methods}
            row |= {"words": float(rng.integers(1, 30)), f"correct:{grader}": 1 - wrong}
            columns.add(number_rows(columns.names, [row]))
        return leaderboard_of(columns, methods, [grader], grader)


def _shown(found: Board, *, verbose: bool = False) -> str:
    out = io.StringIO()
    render_board(found, Console(file=out, width=80, force_terminal=False), verbose=verbose)
    return out.getvalue()


def _row(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"{name} "))


def test_plain_length_is_there_however_short_the_table() -> None:
    text = _shown(_board(scores=12))
    assert "plain length (words)" in text
    assert "4 other scores" in text
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_a_board_of_one_class_says_why() -> None:
    rows = _board()
    assert "60 of 60 answers judged by rules" in repr(rows)
    with FloatColumns(["words", "correct:people", "a"]) as columns:
        for n in range(5):
            columns.add(
                number_rows(columns.names, [{"words": 1.0, "correct:people": 1.0, "a": float(n)}])
            )
        found = leaderboard_of(columns, ["a"], [], "people")
    told = "ll 5 answers are correct: a ranking needs at least 5 of each kind"
    assert told in _shown(found)
    assert "judged by people" in repr(found)


def test_no_rows_with_a_verdict() -> None:
    with FloatColumns(["words", "correct:people", "correct:rules", "a"]) as columns:
        columns.add(number_rows(columns.names, [{"a": 1.0}]))
        found = leaderboard_of(columns, ["a"], ["rules"], "rules")
    assert "No answer has a verdict" in _shown(found)


def test_names_from_outside_do_not_repaint_the_terminal() -> None:
    text = _shown(_board(grader="file:\x1b[31mred\u202e"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    out = io.StringIO()
    console = Console(file=out, width=80)
    for verbose in (False, True):
        render_scores(console, 2, {"a\x1b[0m": 1, "b": 2}, {"c": "[bold]why\x07"}, verbose=verbose)
    assert "\x1b[0m" not in out.getvalue()
    assert out.getvalue().count("[bold]why") == 2


def test_missing_rows_are_told() -> None:
    with FloatColumns(["words", "correct:people", "a", "b"]) as columns:
        for n in range(40):
            row = {"words": 2.0, "correct:people": float(n % 2), "a": float(n % 3)}
            columns.add(number_rows(columns.names, [row | ({"b": float(n)} if n > 9 else {})]))
        found = leaderboard_of(columns, ["a", "b"], [], "people")
    text = _shown(found)
    assert "1 score is missing on some rows (most: b on 10)" in text
    assert [e.n for e in found.entries if e.method == "b"] == [30]


@pytest.mark.parametrize(("rows", "n"), [(10, 2000), (2000, 2000), (20_000, 200), (10**6, 200)])
def test_long_files_take_fewer_resamples(rows: int, n: int) -> None:
    assert resamples_for(rows) == n


def test_columns_lie_on_disk_and_come_back() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5000, 2))
    with FloatColumns(["a", "b", "a"]) as columns:
        for a, b in values:
            columns.add(number_rows(columns.names, [{"a": a} if b < 0 else {"a": a, "b": b}]))
        assert columns.column("a").tolist() == values[:, 0].tolist()
        assert np.isnan(columns.column("b")).sum() == (values[:, 1] < 0).sum()
    assert LENGTH == "length_words"


def test_scores_that_everybody_knows_are_in_every_table() -> None:
    rng = np.random.default_rng(1)
    methods = [f"score_{n}" for n in range(20)]
    with FloatColumns(["words", "correct:people", "perplexity", *methods]) as columns:
        for _ in range(60):
            wrong = float(rng.random() < 0.4)
            row = {name: wrong + rng.normal() for name in methods}
            row |= {"words": 1.0, "correct:people": 1 - wrong, "perplexity": -wrong}
            columns.add(number_rows(columns.names, [row]))
        text = _shown(leaderboard_of(columns, ["perplexity", *methods], [], "people"))
    assert "\nperplexity" in text  # the worst of 22, and there
    assert "12 other scores" in text


NAMES = ("words", "correct:people", "correct:rules")


def _perfect(right: int, wrong: int, scores: int = 2) -> Board:
    methods = [f"score_{n}" for n in range(scores)]
    with FloatColumns([*NAMES, *methods]) as columns:
        for n in range(right + wrong):
            correct = float(n < right)
            row = {name: -correct * (place + 1) for place, name in enumerate(methods)}
            row |= {"words": float(n % 3), "correct:people": correct, "correct:rules": correct}
            columns.add(number_rows(columns.names, [row]))
        return leaderboard_of(columns, methods, ["rules"], "people")


def test_a_perfect_score_on_few_answers_has_its_interval_and_pairs() -> None:
    found = _perfect(6, 6)
    assert _row(_shown(found), "score_0").split()[1:4] == ["1.00", "[.54,", "1.00]"]
    entry = found.entries[0]
    # Clopper-Pearson for 6 of 6
    assert entry.auroc.low == pytest.approx(0.025 ** (1 / 6))
    assert (entry.auroc.numerator, entry.auroc.denominator) == (36, 36)
    assert "AUROC of the best" not in _shown(found)  # 36 pairs are no headline
    assert (entry.prr.value, entry.prr.low) == (1.0, None)


def test_the_best_is_measured_where_it_was_not_chosen() -> None:
    found = _board(scores=12, spread=0.0)  # blind: the best of twelve is luck
    best = max(e.auroc.value or 0 for e in found.entries if e.method != LENGTH)
    assert found.best is not None
    assert found.best.value is not None
    assert found.best.value < best
    text = " ".join(_shown(found).split())
    assert f"AUROC of the best of 12 scores {found.best.value:.2f}" in text
    assert _perfect(6, 6, scores=1).best is None  # there is nothing to choose from


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [(1, 38, "1 right of 39 answers"), (4, 20, "4 right of 24 answers"), (2, 1, "1 wrong of 3")],
)
def test_fewer_than_five_of_a_kind_are_not_ranked(right: int, wrong: int, told: str) -> None:
    found = _perfect(right, wrong)
    text = _shown(found)
    assert f"! {told}" in text
    assert "a ranking needs at least 5 of each kind" in " ".join(text.split())
    assert "AUROC" not in text
    assert "score_0" not in text
    assert found.best is None
    assert found.audits == {}


def test_the_words_alone_are_in_every_table_and_never_the_best_score() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "question": f"A {'hard' if n % 3 == 0 else 'plain'} question, number {n}?",
            "answer": "Basel" if n % 3 == 0 else "Bern",
            "gold": "Bern",
            "one": rng.normal(),
            "two": rng.normal(),
        }
        for n in range(60)
    ]
    found = leaderboard(rows, ["one", "two"])
    by = {entry.method: entry for entry in found.entries}
    assert by["text_only"].auroc.value == pytest.approx(1.0)
    assert found.no_text_only == ""
    assert found.best is not None
    assert found.best.value is not None
    assert found.best.value < 0.8
    assert "text_only" not in repr(found)
    assert "text_only" not in found.audits
    text = _shown(found)
    assert "the words alone" in text
    assert "the best of 2 scores" in text
    few = leaderboard(rows[:15], ["one", "two"])
    assert "text_only" not in {entry.method for entry in few.entries}
    assert "needs 20 judged ones" in few.no_text_only
    assert "baseline of the words alone is missing" in _shown(few)


def test_resamples_are_drawn_once_for_all_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set for AUROC and one for the metrics that take fewer, however many scores there are."""
    drawn: list[tuple[int, int]] = []
    draw = intervals.resample_weights

    def counted(clusters: int, n: int, *others: Any, **more: Any) -> Any:
        drawn.append((clusters, n))
        return draw(clusters, n, *others, **more)

    monkeypatch.setattr(intervals, "resample_weights", counted)
    for scores in (2, 8):
        intervals._drawn.cache_clear()
        drawn.clear()
        _board(scores=scores, rows=60)
        assert sorted({*drawn}) == sorted(drawn)
        assert {(60, 2000), (60, 500)} <= {*drawn}


def test_audits_are_computed_when_they_are_read_and_json_has_them_all() -> None:
    """A table takes none of their resamples; truth is ``rules`` where no person judged."""
    rng = np.random.default_rng(0)
    methods, graders = ["a", "b", "c", "d", "sequence_probability"], ["rouge_l", "rules"]
    names = ["words", "correct:people", *methods, *(f"correct:{by}" for by in graders)]
    with FloatColumns(names) as columns:
        for _ in range(80):
            right = float(rng.random() < 0.6)
            row = {name: rng.normal() - right for name in methods[:4]}
            row |= {"words": float(rng.integers(1, 9)), "correct:rules": right}
            row["sequence_probability"] = rng.normal()
            row |= {"correct:rouge_l": right * float(rng.random() < 0.7)}
            columns.add(number_rows(columns.names, [row]))
        found = leaderboard_of(columns, methods, graders, "rouge_l")
    assert (found.against, found.truth) == ("rouge_l", "rules")
    assert len(found.audits) == 4
    assert "sequence_probability" in found.audits
    audits = [audit for by in found.audits.values() for audit in by.values()]
    assert len(audits) == 4
    _shown(found, verbose=True)
    assert not any({*audit.FIELDS} & {*vars(audit)} for audit in audits)
    written = json.loads(json_text(found))
    for method, by in found.audits.items():
        for name, number in by["rouge_l"].numbers().items():
            assert number is not None
            assert written["audits"][method]["rouge_l"][name]["value"] == number.value
    assert [judge["name"] for judge in written["judges"]] == ["rouge_l"]
    assert written["judges"][0]["q"] == pytest.approx(0.7, abs=0.15)
