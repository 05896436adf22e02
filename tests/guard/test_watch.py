"""``sayso watch``: rates, alarms, guard, state and page, over logs that others wrote."""

from __future__ import annotations

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso import cli
from sayso.guard import growing, late_labels
from sayso.guard.choices import Selection, WatchOptions
from sayso.guard.growing import GrowingLog
from sayso.guard.guard import Guard, written_guard
from sayso.guard.history import RateHistory
from sayso.guard.labeled import labeled_answers
from sayso.guard.log_answers import hour_of, log_columns
from sayso.guard.watch import watch as watch_log
from sayso.judges.judge import NO_VALUE
from sayso.judges.rules.judge import judge_rules
from sayso.metrics.intervals import exact_interval
from sayso.records import InputError
from sayso.report.page import GENERATOR
from support.guards import guard_file
from support.tables import tabled

QUESTION = "When was Ada Lovelace born?"


def rows(n: int, declines: float, seed: int = 0, **more: Any) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    for number in range(n):
        stance = "abstained" if draw.random() < declines else "committed"
        yield {"id": f"{seed}.{number}", "question": QUESTION, "stance": stance, **more}


def write(place: Path, *parts: Any) -> Path:
    lines = [
        row if isinstance(row, str) else json.dumps(row)
        for part in parts
        for row in ([part] if isinstance(part, str) else part)
    ]
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return place


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """300 earlier answers, each to a question of its own, of which 9 decline."""
    stances = ["abstained"] * 9 + ["committed"] * 291
    answers = (
        {"question": f"{QUESTION} ({n})", "answer": "x", "stance": stance}
        for n, stance in enumerate(stances)
    )
    return write(tmp_path / "earlier.jsonl", answers)


def watched(
    log: Path, earlier: Path, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    events: list[dict[str, Any]] = []
    summary = watch_log(
        log, earlier, WatchOptions(**options), emit=events.append, tell=lambda text: None
    )
    return [event for event in events if event["event"] == "alarm"], summary


def test_a_change_raises_one_alarm_with_its_place(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(2000, 0.03), rows(200, 0.7, seed=1, time="Tuesday"))
    alarms, summary = watched(log, earlier)
    (alarm,) = alarms
    assert (alarm["rate"], alarm["change"]) == ("declining", "rise")
    assert 2000 < alarm["answer"] == alarm["line"] < 2040
    assert alarm["id"] == f"1.{alarm['answer'] - 2001}"
    assert alarm["time"] == "Tuesday"
    assert alarm["evidence"] >= alarm["needed"] == pytest.approx(1 / (0.05 / 3 / 2), rel=1e-5)
    assert abs(alarm["since_n"] - (alarm["answer"] - 2000)) <= 3
    assert summary["answers"] == 2200
    assert summary["alarms"] == 1
    declined = sum(json.loads(line)["stance"] == "abstained" for line in log.open())
    assert summary["rates"]["declining"]["count"] == declined
    assert summary["rates"]["hedging"]["rate"] == 0


def test_without_a_change_there_is_no_alarm(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(5000, 0.03, seed=4))
    alarms, summary = watched(log, earlier, every=1000)
    assert alarms == []
    assert summary["alarms"] == 0


def test_texts_are_read_as_those_of_the_baseline(tmp_path: Path) -> None:
    """Without a stance the offline rules read the answer, without golds, in both."""
    texts = ["In 1815.", "I don't know when she was born.", "It was probably 1815."]
    read = [judge_rules(QUESTION, NO_VALUE, text).stance for text in texts]
    assert read == ["committed", "abstained", "hedged"]
    answers = [{"question": QUESTION, "answer": text, "gold": "1815"} for text in texts * 4]
    log = write(tmp_path / "log.jsonl", answers)
    _, summary = watched(log, write(tmp_path / "earlier.jsonl", answers))
    for rate, count, n in (("declining", 4, 12), ("hedging", 4, 12), ("error", 0, 8)):
        told = summary["rates"][rate]
        assert (
            (told["count"], told["n"]) == (count, n) == (told["baseline_count"], told["baseline_n"])
        )


def test_labels_scores_and_twins(tmp_path: Path) -> None:
    guard = tmp_path / "guard.json"
    guard.write_bytes(written_guard(guard_file()))
    one = {"question": QUESTION, "answer": "In 1815.", "stance": "committed"}
    baseline = write(
        tmp_path / "earlier.jsonl",
        [{**one, "score": 1.0, "correct": True, "answerable": True}] * 20,
        [{**one, "score": 2.0, "correct": False, "answerable": True}] * 5,
        [{**one, "stance": "abstained", "score": 2.0, "correct": False, "answerable": False}] * 15,
    )
    log = write(
        tmp_path / "log.jsonl",
        [
            {**one, "score": 1.5, "correct": "yes", "id": "a1"},  # the limit itself is not above it
            {**one, "score": 1.6, "label": "NS"},
            {**one, "token_logprobs": [-0.1, -3.2], "label": "S"},  # perplexity e^1.65
            {**one, "logprobs": [-0.1, -0.1], "label": "UNC"},
            {**one, "stance": "refused_by_policy", "correct": False, "answerable": True},
            {"id": "a1", "correct": False},  # a label that comes later
            {**one, "stance": "asked_back", "answerable": False, "score": math.inf},
        ],
    )
    _, summary = watched(log, baseline, guard=guard)
    found = {name: (told["count"], told["n"]) for name, told in summary["rates"].items()}
    assert found == {
        "declining": (2, 6),
        "hedging": (0, 6),
        "above_limit": (2, 4),
        "error": (2, 3),  # one id, one answer: the later label counts
        "declining_answerable": (1, 1),
        "declining_unanswerable": (1, 1),
    }
    assert summary["rates"]["above_limit"]["baseline_count"] == 20
    assert summary["rates"]["error"]["baseline_n"] == 25
    assert summary["J"] == {"log": 0.0, "baseline": 1.0}
    assert (summary["answers"], summary["labels"]) == (6, 1)
    assert summary["bad_values"] == {"score": 1}  # no guard answers at Infinity
    told = summary["rates"]
    assert list(told["error"]["changes"]) == ["rise"]
    assert list(told["declining_answerable"]["changes"]) == ["rise"]
    assert list(told["declining_unanswerable"]["changes"]) == ["fall"]


def told_of(log: Path, baseline: Path, **options: Any) -> tuple[list[str], dict[str, Any]]:
    told: list[str] = []
    summary = watch_log(log, baseline, WatchOptions(**options), tell=told.append)
    return told, summary


def labeled(n: int, wrong: int, **more: Any) -> list[dict[str, Any]]:
    """Answers to ``n`` questions of which the first ``wrong`` are wrong."""
    return [
        {"question": f"{QUESTION} ({k})", "answer": "In 1815.", "correct": k >= wrong, **more}
        for k in range(n)
    ]


def test_a_later_label_of_an_answer_that_declines_is_no_error(tmp_path: Path) -> None:
    baseline = write(tmp_path / "earlier.jsonl", labeled(50, 5, stance="committed"))
    stances = {"a": "abstained", "b": "committed", "c": "asked_back", "d": "hedged"}
    log = write(
        tmp_path / "log.jsonl",
        [{"id": id, "stance": stance} for id, stance in stances.items()],
        [{"id": id, "correct": False} for id in (*stances, "none of them")],
        [{"correct": False}, {"id": "b", "label": "S"}, {"id": "b", "label": "UNC"}],
    )
    told, summary = told_of(log, baseline)
    assert (summary["rates"]["error"]["count"], summary["rates"]["error"]["n"]) == (1, 2)
    assert (summary["answers"], summary["labels"], summary["bad_lines"]) == (4, 8, 0)
    assert (summary["labels_of_declined"], summary["labels_of_unknown"]) == (2, 2)
    assert [text for text in told if text.startswith("2 later labels left out, because")]


def test_labels_find_their_answers_after_a_stop_and_in_flat_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_labels, "REMEMBERED", 3)
    baseline = write(tmp_path / "earlier.jsonl", labeled(50, 5, stance="committed"))
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    lines = [{"id": n, "stance": "abstained" if n % 2 else "committed"} for n in range(5)]
    write(log, lines)
    watched(log, baseline, state=state)
    held = json.loads(state.read_bytes())["remembered"]
    assert len(held) == 3 * late_labels.PACKED.itemsize / 3 * 4  # three answers, in base 64
    write(log, lines, [{"id": n, "correct": False} for n in range(5)])
    _, summary = watched(log, baseline, state=state)
    assert (summary["labels_of_unknown"], summary["labels_of_declined"]) == (2, 1)
    assert (summary["rates"]["error"]["count"], summary["rates"]["error"]["n"]) == (2, 2)


def test_lines_and_labels_that_come_again_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One id, one answer, and its last label, whenever and however often they come."""
    baseline = write(tmp_path / "earlier.jsonl", labeled(300, 30, stance="committed"))
    answers = list(rows(400, 0.0))
    labels = [{"id": row["id"], "correct": k % 10 > 0} for k, row in enumerate(answers)]
    wrong = [{**label, "correct": False} for label in labels]
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    _, once = told_of(write(log, answers, labels), baseline)
    assert (once["alarms"], once["repeated"], once["repeated_labels"]) == (0, 0, 0)
    for parts, repeated, of_labels in (
        ([answers, labels * 4], 0, 1200),
        ([[row for row in answers for _ in range(10)], labels], 3600, 0),
        ([(answers + labels) * 3], 800, 800),
        ([[{**row, **wrong[k]} for k, row in enumerate(answers)], labels], 0, 400),
        (
            [
                [{**row, "id": k} for k, row in enumerate(answers)],
                [{**label, "id": float(k)} for k, label in enumerate(labels)],
            ],
            0,
            0,
        ),
    ):
        told, summary = told_of(write(log, *parts), baseline)
        assert (summary["rates"], summary["alarms"]) == (once["rates"], 0)
        assert (summary["repeated"], summary["repeated_labels"]) == (repeated, of_labels)
        assert any(f"{repeated:,} answers that repeat an id" in text for text in told) == (
            repeated > 0
        )
    # a label that an earlier call counted is corrected, and an alarm is raised by corrections
    write(log, answers, labels[:40])
    told_of(log, baseline, state=state)
    write(log, answers, labels[:40], wrong[35:38])
    told_of(log, baseline, state=state)
    write(log, answers, labels[:40], wrong[35:38], labels)
    _, summary = told_of(log, baseline, state=state)
    assert (summary["rates"], summary["alarms"]) == (once["rates"], 0)
    write(log, answers, labels[:40], wrong[35:38], labels, wrong[300:])
    alarms, summary = watched(log, baseline, state=state)
    assert [alarm["rate"] for alarm in alarms] == ["error"]
    assert summary["rates"]["error"]["count"] == 40 + 90
    # labels that are forgotten, also between two calls, are the same evidence
    pairs = [row for both in zip(answers, labels, strict=True) for row in both]
    monkeypatch.setattr(late_labels, "REMEMBERED", 50)
    for end in (301, 302, 800):
        write(log, pairs[:end])
        _, summary = told_of(log, baseline, state=tmp_path / "other.json")
    assert summary["rates"] == once["rates"]


@pytest.mark.parametrize(("answers_between", "every"), [(30, 3), (200, 3), (200, 20)])
def test_a_log_is_the_same_evidence_however_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers_between: int, every: int
) -> None:
    """In one call, in three, in many, as a stream, and with blocks of any size."""
    monkeypatch.setattr(late_labels, "REMEMBERED", 50)
    baseline = write(tmp_path / "earlier.jsonl", labeled(300, 30, stance="committed"))
    parts = [
        [{**row, "correct": k % every > 0} for k, row in enumerate(rows(14, 0.0))],
        list(rows(answers_between, 0.0, seed=1)),
        [{**row, "correct": k % every > 0} for k, row in enumerate(rows(80, 0.0, seed=2))],
    ]
    lines = [f"{json.dumps(row)}\n" for part in parts for row in part]
    middle = 14 + answers_between
    log, found = tmp_path / "log.jsonl", []
    for name, ends in (
        ("one", [len(lines)]), ("three", [14, middle, len(lines)]),
        ("many", [*range(6, len(lines), 12), len(lines)]),
    ):  # fmt: skip
        alarms = []
        for end in ends:
            log.write_text("".join(lines[:end]), encoding="utf-8")
            state = tmp_path / f"{name}.json"
            raised, summary = watched(log, baseline, rates=("error",), state=state)
            alarms += raised
        found.append((alarms, summary["rates"]))
    for piece in (150, 1000):
        monkeypatch.setattr(growing, "PIECE", piece)
        with log.open(encoding="utf-8") as source:
            monkeypatch.setattr(sys, "stdin", source)
            raised, summary = watched(Path("-"), baseline, rates=("error",))
        found.append((raised, summary["rates"]))
    assert found == [found[0]] * 5
    assert [alarm["rate"] for alarm in found[0][0]] == (["error"] if every == 3 else [])


def test_labels_without_an_id_add_up_over_rotated_files(tmp_path: Path) -> None:
    """An answer on line 1 of the next file is another one than that on line 1 of the last."""
    baseline = write(tmp_path / "earlier.jsonl", labeled(600, 30, stance="committed"))
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    raised = 0
    for number in range(15):
        if number:
            log.rename(f"{log}.{number}")
        rows_of_file = labeled(20, 0, number=number)
        write(log, [{**row, "correct": k % 7 > 0} for k, row in enumerate(rows_of_file)])
        alarms, summary = watched(log, baseline, state=state, rates=("error",))
        raised += len(alarms)
    assert summary["rates"]["error"]["n"] == 15 * 20
    assert raised == 1


def test_lines_without_an_id_are_told(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(5, 0.0, id=" "), [{"stance": "committed"}] * 2)
    told, summary = told_of(log, earlier)
    assert (summary["answers"], summary["without_id"]) == (7, 7)
    assert [text for text in told if "7 answers without an id" in text]


def test_an_error_is_what_a_guard_takes_for_one(tmp_path: Path) -> None:
    """The same file, read as labels of a guard and as a log."""
    answers = [
        {"question": "Who wrote Emma?", "answer": "It was Jane Austen.", "gold": "Jane Austen"},
        {"question": "Who wrote Ivanhoe?", "answer": "Jane Austen.", "gold": "Walter Scott"},
        {"question": "Who wrote Dracula?", "answer": "I don't know.", "gold": "Bram Stoker"},
        {"question": "Who is king of Zzyq?", "answer": "Arthur.", "answerable": False},
        {"question": "Who is queen of Zzyq?", "answer": "I don't know.", "answerable": False},
        {"question": "Who is duke of Zzyq?", "answer": "Arthur.", "answerable": False},
    ]
    place = write(tmp_path / "log.jsonl", ({**row, "mine": 1} for row in answers))
    for metric in ("rules", "exact_match"):
        found = labeled_answers(place, Selection(score="mine", gold_metric=metric))
        assert len(found.wrong) == 4
    assert found.wrong.tolist() == [1 - float(metric == "rules"), 1, 1, 1]
    baseline = write(tmp_path / "earlier.jsonl", labeled(50, 5, stance="committed"))
    _, summary = watched(place, baseline)
    assert (summary["rates"]["error"]["count"], summary["rates"]["error"]["n"]) == (3, 4)
    only = write(tmp_path / "only.jsonl", answers[3:])  # nobody labels the other questions
    told, summary = told_of(only, baseline)
    assert summary["rates"]["error"]["n"] == 0
    assert [text for text in told if text.startswith("error: the log has no labeled answers")]


def test_values_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    guard = tmp_path / "guard.json"
    guard.write_bytes(written_guard(guard_file()))
    fine = {"stance": "committed", "score": 1.0, "correct": True}
    values = [
        {"score": "high"}, {"score": "nan"}, {"score": [1]}, {"correct": "maybe"},
        {"label": "RIGHT?"}, {"stance": "sure", "question": QUESTION, "answer": "In 1815."},
        {"answerable": "perhaps", "question": QUESTION, "answer": "In 1815."},
        {"score": ""}, {"score": None}, {"label": "UNC"},
    ]  # fmt: skip
    log = write(
        tmp_path / "log.jsonl", [{**fine, **value} for value in values], ['{"stance": "?"}']
    )
    baseline = write(
        tmp_path / "earlier.jsonl", labeled(40, 4, stance="committed", score="low\x1b[2J")
    )
    told, summary = told_of(log, baseline, guard=guard, page=tmp_path / "watch.html")
    expected = {"score": 3, "correct": 1, "label": 1, "stance": 1, "answerable": 1}
    assert summary["bad_values"] == expected
    assert summary["first_bad_value"] == "line 1: score is 'high', expected a finite number"
    assert (summary["answers"], summary["bad_lines"]) == (10, 1)
    assert "stance is '?', expected one of committed" in summary["first_bad"]
    page = (tmp_path / "watch.html").read_text("utf-8")
    for texts in (told, [page.replace("&#39;", "'")]):
        assert [text for text in texts if "3 of score, 1 of correct" in text]
        assert [text for text in texts if "line 1: score is 'high'" in text]
    (of_baseline,) = [text for text in told if "40 values of score could not be read" in text]
    assert of_baseline.isprintable()


def test_names_of_fields_hold_where_they_are_found(tmp_path: Path) -> None:
    answers = [
        {"question": f"{QUESTION} ({k})", "answer": "In 1815.", "correct": k > 3} for k in range(40)
    ]
    own = [
        {"q": row["question"], "response": row["answer"], "ok": row["correct"]} for row in answers
    ]
    columns = log_columns("question=q,answer=response,human=ok,time=when")
    for log, baseline in ((own, answers), (answers, own), (own, own)):
        told, summary = told_of(
            write(tmp_path / "log.jsonl", log),
            write(tmp_path / "earlier.jsonl", baseline),
            columns=columns,
        )
        error = summary["rates"]["error"]
        assert [error[name] for name in ("count", "n")] == [4, 40]
        assert [error[f"baseline_{name}"] for name in ("count", "n")] == [4, 40]
        (unfound,) = [text for text in told if text.startswith("--columns")]
        assert "time=when: neither" in unfound


def test_answers_about_few_entities_are_a_small_baseline(tmp_path: Path) -> None:
    """240 answers about 20 entities say less than 240 answers about as many.

    Also where each is a pair's, and where pairs tie the halves of an entity.
    """
    log = write(tmp_path / "log.jsonl", rows(10, 0.0))
    bounds = {}
    for entities, ties in ((20, 0), (20, 1), (20, 40), (240, 0)):
        answers = [
            {"question": f"What is {n}?", "answer": "x", "entity": f"e{n % max(entities, ties)}",
             "pair": {0: None, 1: f"{n // 2}/{n}"}.get(ties, f"p{n % entities}"),
             "stance": "abstained" if n % entities < entities / 10 else "committed"}
            for n in range(240)
        ]  # fmt: skip
        page, earlier = tmp_path / "page.html", write(tmp_path / "earlier.jsonl", answers)
        told, summary = told_of(log, earlier, page=page)
        told_rise = summary["rates"]["declining"]["changes"]["rise"]
        worth = told_rise["independent_answers"]
        low, high = exact_interval(worth / 10, worth)
        text = " ".join(re.sub("<[^>]*>", " ", page.read_text("utf-8")).split())
        assert f"10.0 % [{100 * (low or 0):.1f}, {100 * (high or 0):.1f}] 24/240" in text
        bounds[entities] = told_rise["bound"]
        assert told_rise["independent_answers"] == pytest.approx(entities, rel=0.2)
        assert ("about 20 entities or questions" in told[0]) == (entities == 20)
    assert bounds[20] > bounds[240] + 0.1


def by_day(n: int, night: float, seed: int = 0, **more: Any) -> Iterator[dict[str, Any]]:
    """Answers of days of 100, of which those of the night decline more often than the others."""
    draw = random.Random(seed)
    for number in range(n):
        hour = number % 100 * 24 // 100
        declines = draw.random() < (night if hour >= 12 else 0.02)
        yield {
            "id": f"{seed}.{number}", "question": f"q{number}", "answer": "x",
            "stance": "abstained" if declines else "committed",
            "ts": f"2026-11-27T{hour:02}:30:00Z", "shift": hour >= 12, **more,
        }  # fmt: skip


@pytest.mark.parametrize("by", ["hour", "shift"])
def test_answers_are_compared_with_those_of_the_same_hour(tmp_path: Path, by: str) -> None:
    few = {"hour": 1, "shift": 3}[by]  # a part of a day of two needs fewer answers than one of 24
    baseline = write(tmp_path / "earlier.jsonl", by_day(9600 // few, 0.6, 1))
    # only the traffic moves: half of it comes at night, then nearly all
    quiet = [row for row in by_day(6000 // few, 0.6) if row["shift"] or row["id"].endswith("7")]
    options = {"columns": "time=ts", "rates": ("declining",)}
    log = write(tmp_path / "log.jsonl", quiet)
    alarms, _ = watched(log, baseline, **options)
    assert [alarm["change"] for alarm in alarms] == ["rise"]
    alarms, summary = watched(log, baseline, by=by, **options)
    assert not alarms
    change = summary["rates"]["declining"]["changes"]["rise"]
    assert len(change["bounds"]) == {"hour": 24, "shift": 2}[by]
    assert change["bound"] == pytest.approx(
        sum(change["bounds"].values()) / len(change["bounds"]), abs=0.01
    )
    # a real change, in pieces, with answers that belong nowhere
    lost = [*rows(20, 1.0, 3, ts="yesterday", shift=["?"])]
    changed = [*quiet, *lost, *by_day(1500, 0.95, 2)]
    whole = watched(write(log, changed), baseline, by=by, **options)
    (alarm,) = whole[0]
    assert len(quiet) + 20 < alarm["answer"] < len(quiet) + 1000
    assert alarm["since_count"] / alarm["since_n"] > 0.4
    state = tmp_path / "watch.json"
    for end in (len(quiet) // 2, len(quiet) + 200, len(changed)):
        told, summary = told_of(write(log, changed[:end]), baseline, by=by, state=state, **options)
    assert (summary["rates"], summary["unplaced"]) == (whole[1]["rates"], 20)
    assert [text for text in told if f"20 answers without {by}" in text]
    with pytest.raises(InputError, match="belongs to a watch"):
        watched(log, baseline, state=state, columns="time=ts")
    late = [{**row, "id": f"late {row['id']}"} for row in lost]  # a field that was renamed
    for rest, more in ((lost, {}), ([*changed, *late], {"state": state})):
        with pytest.raises(InputError, match=f"--by {by}: no answer .* has this field"):
            watched(write(log, rest), baseline, by=by, **more, **options)


@pytest.mark.parametrize(
    ("time", "hour"),
    [
        ("2026-11-27T09:59:59Z", "09"),
        ("2026-11-27T01:00:00+02:00", "23"),
        ("2026-11-27 09:00:00", "09"),
        (1_764_234_000, "09"),
        ("1764234000.5", "09"),
        (1_764_234_000_000, "09"),
        *(
            (bad, None)
            for bad in (None, "", "noon", True, [9], 1e300, "nan", "9999-12-31T23:00:00-05:00")
        ),
    ],
)
def test_the_hour_of_a_time_is_that_of_utc(time: object, hour: str | None) -> None:
    assert hour_of(time) == hour


def test_a_run_is_a_baseline(tmp_path: Path, small_run: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(10, 0.0))
    _, summary = watched(log, small_run)
    answers = [row for row in exported(small_run, tmp_path) if row["form"] == "short"]
    plain = [row for row in answers if row["method"] == "plain"]
    read = [judge_rules(row["question"], NO_VALUE, row["answer"]).stance for row in plain]
    told = summary["rates"]["declining"]
    assert told["baseline_n"] == len(read) > 0
    assert told["baseline_count"] == sum(s in ("abstained", "asked_back") for s in read)
    # two entities with several questions each
    assert told["changes"]["rise"]["independent_answers"] < 3 < len(read)
    with pytest.raises(InputError, match="the run has plain"):
        watched(log, small_run, method="unc_few")
    with pytest.raises(InputError, match="file of earlier answers"):
        watched(log, small_run, by="hour")


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "first"
    assert cli.execute(["run", "uncle", "--limit", "2", "--out", str(out)]) == 0
    return out


def exported(run: Path, folder: Path) -> list[dict[str, Any]]:
    out = folder / "answers.jsonl"
    assert cli.execute(["export", str(run), str(out)]) == 0
    return [json.loads(line) for line in out.open(encoding="utf-8")]


# ---- lines of others

HOSTILE = [
    "not json",
    "[1, 2]",
    '{"other": 1}',
    "\x1b[2J\x07",
    '{"question": "q", "answer": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"gold": "a", "golds": "b", "answer": "c", "question": "q"}',
    '{"stance": "committed", "id": NaN, "time": "\\ud800"}',
    '{"stance": 7, "question": "q", "answer": 1815}',
    '{"stance": "sure", "question": "' + QUESTION + '", "answer": "I do not know."}',
    '{"stance": "committed", "id": "\\u202e\\u001b[31mred", "score": 1e999}',
    '{"question": null, "answer": null}',
    '{"question": "q", "answer": "Ist das nicht schön? Ja, das ist es wohl, aber ich weiß nicht."}',
]


def test_hostile_lines_are_counted_and_stop_nothing(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "log.jsonl", HOSTILE, rows(100, 0.03))
    with log.open("ab") as file:
        file.write(b'{"stance": "committed", "id": "\xff"}\n\n  \n')
    _, summary = watched(log, earlier)
    assert summary["bad_lines"] == 8
    assert "wrong JSON" in summary["first_bad"]
    assert summary["unread"] == {"language": 1}
    assert summary["answers"] == 105
    assert summary["lines"] == 113


def test_what_stands_in_an_alarm_moves_no_cursor(
    tmp_path: Path, earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = {"id": "\u202e\x1b[31m", "time": {"a": "\x07" * 500}}
    log = write(
        tmp_path / "log.jsonl",
        ({**row, **hostile, "id": hostile["id"] + row["id"]} for row in rows(100, 0.9)),
    )
    code = cli.execute(["watch", str(log), "--against", str(earlier), "--once"])
    shown = capsys.readouterr()
    assert code == 1
    assert all(c.isprintable() or c == "\n" for c in shown.out + shown.err)
    alarm, summary = map(json.loads, shown.out.splitlines())
    assert len(alarm["time"]) <= 100
    assert summary["event"] == "summary"


@pytest.mark.parametrize(("answer", "told"), [
    ("Ist das nicht schön? Ja, das ist es wohl, aber ich weiß nicht.", "language"),
    (["Rome"], "answer"),
    (" ", "40 empty"),  # an outage: it looked like fewer answers that decline
])  # fmt: skip
def test_a_log_of_which_no_answer_can_be_read_is_no_quiet_one(
    answer: object, told: str, tmp_path: Path, earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [{"id": f"{n}", "question": QUESTION, "answer": answer} for n in range(40)]
    log = write(tmp_path / "log.jsonl", answers)
    assert cli.execute(["watch", str(log), "--against", str(earlier)]) == 2
    assert re.search(f"none of 40 new answers can be read.*{told}", capsys.readouterr().err)
    write(log, answers, rows(1, 0.0))
    said, summary = told_of(log, earlier)
    assert summary["rates"]["declining"]["n"] == 1
    assert answer == ["Rome"] or any("could not be read, and are in no rate" in s for s in said)


def test_an_empty_cell_of_a_data_frame_is_missing_not_wrong(tmp_path: Path, earlier: Path) -> None:
    """As json.dumps writes NaN: it is no gold, no label, no answer and no id."""
    given = {"gold": math.nan, "label": math.nan, "id": math.nan}
    log = write(tmp_path / "log.jsonl", ({**row, **given} for row in rows(40, 0.03)))
    alarms, summary = watched(log, earlier)
    assert (alarms, summary["bad_values"], summary["answers"]) == ([], {}, 40)


def test_a_log_of_something_else_is_refused(
    tmp_path: Path, earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "log.jsonl", ["a,b,c"] * 500)
    assert cli.execute(["watch", str(log), "--against", str(earlier)]) == 2
    told = capsys.readouterr().err
    assert "none of the first 100 lines" in told
    assert "--columns answer=YOURS" in told
    few = write(tmp_path / "few.jsonl", ["a,b,c"] * 3)
    assert cli.execute(["watch", str(few), "--against", str(earlier)]) == 2
    array = tmp_path / "array.json"
    for indent in (None, 1):
        for end in ("", "\n"):
            array.write_text(json.dumps([*rows(3, 0)], indent=indent) + end, encoding="utf-8")
            capsys.readouterr()
            assert cli.execute(["watch", str(array), "--against", str(earlier)]) == 2
            assert "JSON array" in capsys.readouterr().err


@tabled
def test_mistakes_are_one_line(
    words: list[str],
    message: str,
    tmp_path: Path,
    earlier: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "log.jsonl", rows(3, 0))
    write(tmp_path / "empty.jsonl")
    (tmp_path / "folder.html").mkdir()
    os.mkfifo(tmp_path / "fifo")
    write(tmp_path / "users.jsonl", ({**row, "user": row["id"]} for row in by_day(200, 0.0)))
    assert (
        cli.execute(
            ["watch", *words, *([] if "--against" in words else ["--against", earlier.name])]
        )
        == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1 + ("baseline:" in told) * 3
    assert "Traceback" not in told


# ---- guard


def test_an_alarm_withdraws_the_guard(tmp_path: Path, earlier: Path) -> None:
    place = tmp_path / "guard.json"
    place.write_bytes(written_guard(guard_file(score="mine")))
    fields = json.loads(place.read_text("utf-8"))
    log = write(tmp_path / "log.jsonl", rows(100, 0.9))
    alarms, _ = watched(log, earlier, guard=place, keep_guard=True)
    assert alarms[0]["guard"] == "kept"
    assert json.loads(place.read_text("utf-8")) == fields
    alarms, _ = watched(log, earlier, guard=place)
    assert alarms[0]["guard"] == "withdrawn"
    now = json.loads(place.read_text("utf-8"))
    assert {**now, "withdrawn": None} == fields
    assert set(now["withdrawn"]) == {"when", "why"}
    assert "decline" in now["withdrawn"]["why"]
    assert not Guard.load(place).withdraw("another reason")
    assert json.loads(place.read_text("utf-8")) == now


@pytest.mark.parametrize(
    ("fates", "keep_guard"),
    [(["; the guard was kept"], True),
     (["; the guard was withdrawn", "; the guard was withdrawn before"], False),
     ([" (3.0 %)"], None)],
)  # fmt: skip
def test_the_line_of_an_alarm_says_what_became_of_the_guard(
    tmp_path: Path, earlier: Path, fates: list[str], keep_guard: bool | None
) -> None:
    more: dict[str, Any] = {}
    if keep_guard is not None:
        place = tmp_path / "guard.json"
        place.write_bytes(written_guard(guard_file(score="mine")))
        more = {"guard": place, "keep_guard": keep_guard}
    log = write(tmp_path / "log.jsonl", rows(100, 0.9))
    for fate in fates:
        told: list[str] = []
        watch_log(log, earlier, WatchOptions(**more), tell=told.append)
        (line,) = [text for text in told if text.startswith("alarm at answer")]
        assert line.endswith(fate)


def test_a_guard_that_could_not_be_withdrawn_is_tried_at_the_next_call(
    tmp_path: Path, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "guard.json"
    place.write_bytes(written_guard(guard_file(score="mine")))
    log = write(tmp_path / "log.jsonl", rows(100, 0.9))

    def full(self: Guard) -> None:
        raise InputError("disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Guard, "_write", full)
        alarms, summary = watched(log, earlier, guard=place, state=tmp_path / "state.json")
    assert alarms[0]["guard"] == "could not be withdrawn"
    assert summary["guard"]["withdrawn"] is None
    alarms, summary = watched(log, earlier, guard=place, state=tmp_path / "state.json")
    assert alarms == []
    written = json.loads(place.read_text("utf-8"))["withdrawn"]
    assert summary["guard"]["withdrawn"] == written["when"]


def test_what_a_rate_lacks_is_told(tmp_path: Path, earlier: Path) -> None:
    guard = tmp_path / "guard.json"
    guard.write_bytes(written_guard(guard_file(score="risk", needs=("score",))))
    log = write(tmp_path / "log.jsonl", rows(3, 0))
    told: list[str] = []
    options = WatchOptions(guard=guard)
    watch_log(log, earlier, options, tell=told.append)
    assert [text for text in told if "above_limit is not watched" in text]
    baseline = write(tmp_path / "scored.jsonl", rows(40, 0.5, risk=0.2, answer="x"))
    told.clear()
    summary = watch_log(log, baseline, options, tell=told.append)
    assert summary["rates"]["above_limit"]["baseline_n"] == 40  # the guard knows its own column
    assert [text for text in told if text.startswith("above_limit: the log has no scored answers")]


# ---- state


def test_a_watch_in_pieces_is_the_watch_in_one(tmp_path: Path, earlier: Path) -> None:
    whole = write(tmp_path / "whole.jsonl", rows(700, 0.03), rows(60, 0.6, seed=2))
    text = whole.read_text("utf-8")
    alarms, summary = watched(whole, earlier)
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    found: list[dict[str, Any]] = []
    sizes = []
    for end in (200, 40_000, 40_050, 60_000, len(text), len(text)):  # also in the middle of lines
        log.write_text(text[:end], encoding="utf-8")
        more, last = watched(log, earlier, state=state)
        found += more
        sizes.append(state.stat().st_size)
    assert found == alarms
    assert (last.pop("new_alarms"), summary.pop("new_alarms")) == (0, 1)
    assert {**last, "log": ""} == {**summary, "log": ""}
    assert max(sizes) < 40_000


def test_new_lines_that_are_all_unusable_are_an_error(tmp_path: Path, earlier: Path) -> None:
    log, state = write(tmp_path / "log.jsonl", rows(20, 0.0)), tmp_path / "watch.json"
    watched(log, earlier, state=state)
    with log.open("a", encoding="utf-8") as file:
        file.write("{}\n" * 5)
    for _ in range(2):
        with pytest.raises(InputError, match="none of the new 5 lines is an answer"):
            watched(log, earlier, state=state)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(next(rows(1, 0.0, seed=1))) + "\n")
    _, summary = watched(log, earlier, state=state)
    assert (summary["answers"], summary["bad_lines"]) == (21, 5)
    assert watched(log, earlier, state=state)[1]["bad_lines"] == 5  # nothing new is no error


def test_a_state_belongs_to_its_watch(tmp_path: Path, earlier: Path) -> None:
    log, state = write(tmp_path / "log.jsonl", rows(10, 0)), tmp_path / "watch.json"
    watched(log, earlier, state=state)
    with pytest.raises(InputError, match="belongs to a watch against other answers, with other"):
        watched(log, earlier, state=state, alpha=0.01)
    kept = json.loads(state.read_bytes())
    for name, number in (("answers", -1), ("lines", 10**400), ("counts", {"declining": [-1, 5]})):
        state.write_text(json.dumps({**kept, name: number}), encoding="utf-8")
        with pytest.raises(InputError, match="was not written by sayso watch"):
            watched(log, earlier, state=state)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("watch.watch", ["watch", "log.jsonl", "--against", "x"]),
        ("fit.fit_guard", ["guard", "fit", "x"]),
    ],
)
def test_a_failure_is_neither_an_alarm_nor_a_useless_score(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
    words: list[str],
) -> None:
    """Exit code 1, that of an exception, says something else here."""

    def failing(*_: object, **__: object) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(f"sayso.guard.{where}", failing)
    assert cli.execute(words) == 2
    assert "sayso failed, and nothing is decided: ZeroDivisionError" in capsys.readouterr().err
    with open("/dev/null", encoding="utf-8") as unwritable:  # as where standard error is full
        monkeypatch.setattr(sys, "stderr", unwritable)
        assert cli.execute(words) == 2


def test_an_old_alarm_does_not_fail_the_next_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [
        {"question": f"{QUESTION} ({k})", "answer": "x", "stance": "committed", "correct": k > 9}
        for k in range(300)
    ]
    earlier = write(tmp_path / "earlier.jsonl", answers)
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    words = ["watch", str(log), "--against", str(earlier), "--state", str(state), "--once"]
    parts: list[Any] = [rows(50, 1.0)]
    codes, found = [], []
    later = (rows(50, 1.0, 1), rows(50, 0.0, 2, correct=False), rows(5, 0.0, 3))
    for more in ([], *later):
        parts.append(list(more))
        parts[0] = list(parts[0])
        write(log, *parts)
        codes.append(cli.execute(words))
        shown = capsys.readouterr()
        found.append(json.loads(shown.out.splitlines()[-1]))
        assert ("an earlier call raised the alarm on declining" in shown.err) == (len(codes) > 1)
    assert codes == [1, 0, 1, 0]
    assert [one["alarms"] for one in found] == [1, 1, 2, 2]
    assert [one["new_alarms"] for one in found] == [1, 0, 1, 0]
    assert [one["answers"] for one in found] == [50, 100, 150, 155]  # each call read to the end


def test_a_last_line_without_its_end_counts_if_it_is_whole(tmp_path: Path, earlier: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    log.write_text('{"stance": "committed"}\n{"stance": "abst', encoding="utf-8")
    _, summary = watched(log, earlier, state=state)
    assert (summary["answers"], summary["bad_lines"]) == (1, 0)
    log.write_text('{"stance": "committed"}\n{"stance": "abstained"}', encoding="utf-8")
    _, summary = watched(log, earlier, state=state)
    assert (summary["answers"], summary["rates"]["declining"]["count"]) == (2, 1)
    log.write_text('{"stance": "committed"}\n{"stance": "abstained"}\n', encoding="utf-8")
    _, summary = watched(log, earlier, state=state)
    assert (summary["answers"], summary["bad_lines"]) == (2, 0)


def test_the_page_shows_rates_and_alarms(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "<log>.jsonl", rows(500, 0.03), rows(50, 0.8, 1, time="<b>&"))
    place = tmp_path / "watch.html"
    watched(log, earlier, page=place)
    page = place.read_text("utf-8")
    assert "Alarm at answer 5" in page
    assert "<svg" in page
    assert "A thick line marks an alarm" in page
    assert "Answers that decline are not counted" in page
    assert "&lt;b&gt;&amp;" in page
    assert "<b>&" not in page
    assert "guard.json" not in page
    guard = tmp_path / "guard.json"
    guard.write_bytes(written_guard(guard_file()))
    watched(log, earlier, page=place, guard=guard, keep_guard=True)
    assert "The promise of guard.json stands" in place.read_text("utf-8")
    _, summary = watched(log, earlier, page=place, guard=guard)  # our own page is replaced
    page = place.read_text("utf-8")
    assert "The promise of guard.json is withdrawn" in page
    assert f"withdrawn on {summary['guard']['withdrawn']}. Reason: sayso watch, answer 5" in page
    for mine in ("<p>mine</p>", f"{GENERATOR}\n<title>Does m know what it knows?"):
        place.write_text(mine, encoding="utf-8")  # of others, and of a run, a training, a study
        with pytest.raises(InputError, match=r"--page \S+ exists and was not written by sayso"):
            watched(log, earlier, page=place)
        assert place.read_text(encoding="utf-8") == mine


def test_a_file_is_read_to_its_end_and_how_to_follow_it_is_told(
    tmp_path: Path, earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "log.jsonl", rows(5, 0))
    words = ["watch", str(log), "--against", str(earlier)]
    told = []
    for more in ([], ["--once"], ["--state", str(tmp_path / "watch.json")]):
        assert cli.execute([*words, *more]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["answers"] == 5
        told.append(f"tail -F {log} | sayso watch -" in shown.err)
    assert told == [True, False, False]


@pytest.mark.parametrize(("asked", "terminal"), [([], True), (["--json"], True), ([], False)])
def test_people_read_a_sentence_and_programs_json(
    tmp_path: Path,
    earlier: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: list[str],
    terminal: bool,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    log, state = tmp_path / "log.jsonl", tmp_path / "watch.json"
    words = ["watch", str(log), "--against", str(earlier), "--state", str(state), *asked]
    shown = []
    for many, code in ((0, 0), (60, 1), (60, 0)):
        write(log, rows(50, 0.0), rows(many, 1.0, 1))
        assert cli.execute(words) == code
        printed = capsys.readouterr()
        assert ("alarm at answer" in printed.err) == (code == 1)
        shown.append(printed.out)
    if asked or not terminal:
        assert [len(out.splitlines()) for out in shown] == [1, 2, 1]
        assert all(json.loads(line) for out in shown for line in out.splitlines())
        return
    quiet, alarm, old = shown
    assert (
        quiet
        == "no alarm; declining 0.0 %, baseline 3.0 %; hedging 0.0 %, baseline 0.0 %; 50 answers\n"
    )
    assert alarm.startswith("alarm: declining rose; declining 54.5 %")
    assert old.startswith("no new alarm; earlier: declining rose; declining 54.5 %")


@pytest.mark.parametrize(("broken", "name"), [
    ("sayso.cli.guard._print_json", "log.jsonl"), ("sayso.cli.printing.tell", "log.jsonl"),
    ("sayso.cli.guard._print_json", "-"),
])  # fmt: skip
def test_a_pipe_that_nobody_reads_changes_no_exit_code(
    broken: str, name: str, tmp_path: Path, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in: sayso watch LOG --against RUN 2>&1 | head -1; a stream ends there."""

    def head(what: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(broken, head)
    log = write(tmp_path / "log.jsonl", rows(40, 1.0))
    monkeypatch.setattr("sys.stdin", log.open(encoding="utf-8"))
    state = tmp_path / "state.json"
    words = ["--against", str(earlier), "--json", "--state", str(state)]
    words = words[:3] if name == "-" else words
    assert cli.execute(["watch", str(tmp_path / name) if name != "-" else "-", *words]) == 1
    assert state.exists() == (name != "-")
    if name != "-":
        quiet = write(tmp_path / "log.jsonl", rows(400, 0.03))
        assert cli.execute(["watch", str(quiet), "--against", str(earlier), "--json"]) == 0


# ---- processes that follow


def started(*words: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sayso", "watch", "-", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        **more,
    )


def put(process: subprocess.Popen[str], answers: Iterable[dict[str, Any]]) -> None:
    """Write answers to the standard input of a watch, which goes on waiting for more."""
    assert process.stdin is not None
    process.stdin.write("".join(f"{json.dumps(row)}\n" for row in answers))
    process.stdin.flush()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_stream_raises_alarms_and_ends_on_demand(tmp_path: Path, earlier: Path) -> None:
    state = tmp_path / "watch.json"
    words = ("--against", str(earlier), "--state", str(state))
    process = started(*words, stdin=subprocess.PIPE)
    put(process, rows(30, 0))
    put(process, rows(40, 1.0, 1))
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["event"] == "alarm"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    answers = json.loads(out.splitlines()[-1])["answers"]
    assert 30 < answers <= 70
    assert json.loads(state.read_bytes())["answers"] == answers


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_kill_loses_nothing(tmp_path: Path, earlier: Path) -> None:
    """An alarm is kept before anything that follows is read."""
    state = tmp_path / "watch.json"
    words = ("--against", str(earlier), "--state", str(state))
    process = started(*words, stdin=subprocess.PIPE)
    put(process, rows(40, 1.0))
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["event"] == "alarm"
    end = time.monotonic() + 120
    while not state.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=120)
    more = started(*words, stdin=subprocess.PIPE)
    out, err = more.communicate(json.dumps({"stance": "committed"}) + "\n", timeout=120)
    summary = json.loads(out.splitlines()[-1])
    assert (more.returncode, summary["alarms"], summary["new_alarms"]) == (0, 1, 0), err


def test_a_stream_without_end_is_left_at_an_alarm(tmp_path: Path, earlier: Path) -> None:
    process = started("--against", str(earlier), "--stop-at-alarm", stdin=subprocess.PIPE)
    put(process, rows(40, 1.0))  # and its standard input stays open
    assert process.wait(timeout=120) == 1
    assert process.stdout is not None
    events = [json.loads(line)["event"] for line in process.stdout.read().splitlines()]
    assert events == ["alarm", "summary"]
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_standard_input_ends_by_itself(tmp_path: Path, earlier: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(40, 1.0))
    with log.open(encoding="utf-8") as source:
        process = started("--against", str(earlier), stdin=source)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["alarm", "summary"]


def test_blocks_of_lines_do_not_matter(
    tmp_path: Path, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write(tmp_path / "log.jsonl", rows(500, 0.03), rows(50, 0.7, 1))
    alarms, summary = watched(log, earlier)
    monkeypatch.setattr(growing, "PIECE", 777)
    assert len(GrowingLog(log).lines()) < 20
    assert watched(log, earlier) == (alarms, summary)


def test_a_stretch_that_has_just_begun_is_no_point_of_its_own() -> None:
    history = RateHistory()
    history.add("declining", range(1, 52), [0] * 50 + [1])
    assert history.stretches("declining", 60) == [(1, 25, 0, 25), (26, 75, 1, 26)]
    history.add("declining", range(52, 65), [0] * 13)
    assert [n for _, _, _, n in history.stretches("declining", 60)] == [25, 25, 14]
