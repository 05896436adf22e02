"""What can be chosen of a guard and of a watch: the flags of ``sayso guard fit`` and ``watch``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from sayso.options import CacheOptions, like, option


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which answers and scores are taken, and by whom they are labeled."""

    score: str = option(
        "",
        "score to set the limit on, or a numeric column of the file (higher = less certain); "
        "default: the best at hand, chosen on one half of the labels",
        main=True,
    )
    form: Literal["short", "long"] | None = option(
        None, "of a run: short answers, or facts in paragraphs (default: short)", main=True
    )
    where: str | Mapping[str, str] = option(
        "", "of a file: only rows with these values, model=palm,stage=short", main=True
    )
    texts: str = option(
        "",
        "of a file whose rows are claims: the column that names the text of each; a text is wrong "
        "if one of its kept claims is",
        main=True,
    )
    columns: str | Mapping[str, str] = option(
        "", "your column names: answer=response,gold=reference", main=True
    )
    golds: Path | None = option(
        None, "a file with the columns id and gold, joined on the id", main=True
    )
    gold_metric: str = option(
        "rules",
        "what labels answers without a human verdict: rules, exact_match, llm:MODEL, or file:NAME "
        "for a column of verdicts (as in sayso score)",
        main=True,
    )
    labeled_by: Literal["people", "judge"] | None = option(
        None,
        "of a run: whose verdicts count; default: people where they labeled a random sample (sayso"
        " label), else the judge",
        main=True,
    )
    nli: str | None = option(
        None, "what compares meanings: rules, an NLI model, or llm:MODEL", main=True
    )
    seed: int = option(0, "seed of the halves and draws of labels", main=True)
    cache: Path | None = like(CacheOptions, "cache")


@dataclasses.dataclass(frozen=True)
class GuardChoices:
    """What is promised, with what confidence, and where the guard is written."""

    max_error: float = option(
        0.05, "largest error rate among the answers that are given: .05 or 5%", main=True
    )
    confidence: float = option(
        0.95, "confidence of the promise: .95 holds for 95 of 100 sets of labels", main=True
    )
    otherwise: Literal["decline", "ask"] = option(
        "decline",
        "what becomes of answers above the limit: declined, or asked of a person",
        main=True,
    )
    out: Path | None = option(
        None, "file to write; default: guard.json in the run folder or beside the file", main=True
    )
    force: bool = option(False, "replace a file that sayso guard did not write", main=True)


@dataclasses.dataclass(frozen=True)
class WatchOptions:
    """How a log is watched."""

    stop_at_alarm: bool = option(False, "stop after a new alarm, also in a stream", main=True)
    rates: tuple[str, ...] = option(
        (),
        "what to watch: declining, hedging, above_limit, error, declining_answerable, "
        "declining_unanswerable, or several; default: all that the baseline has. Fewer rates"
        " raise their alarms sooner",
        main=True,
        many=True,
    )
    alpha: float = option(
        0.05, "chance of any false alarm over the whole log, however long", main=True
    )
    by: str = option(
        "",
        "compare only answers of the same hour of the day (hour: of time, in UTC), or of the same "
        "value of a field of log and earlier answers",
        main=True,
    )
    guard: Path | None = option(
        None,
        "the guard whose limit scores are compared with, and whose promise an alarm withdraws; "
        "default: guard.json in the run folder",
        main=True,
    )
    keep_guard: bool = option(
        False, "do not withdraw the guard's promise after an alarm", main=True
    )
    state: Path | None = option(
        None,
        "file that stores the watch's state and its position in the log: the next call reads on "
        "from there",
        main=True,
    )
    page: Path | None = option(
        None, "also write a page (.html): rates over time, with alarms", main=True
    )
    every: int = option(
        10000, "print a summary about every N answers; 0: only at the end", main=True
    )
    columns: str | Mapping[str, str] = option(
        "",
        "your names of fields: answer=response,score=perplexity,time=ts; a name holds for the log,"
        " for a file of earlier answers, or for both, wherever it is found",
        main=True,
    )
    method: str = option(
        "",
        "of a run that asked in several ways, the one to compare with: plain or instructed; "
        "default: the first",
        main=True,
    )
