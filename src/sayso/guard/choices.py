"""What can be chosen of a guard and of a watch: the flags of ``sayso guard fit`` and ``watch``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from sayso.options import CacheOptions, GradingOptions, flag, like


@dataclasses.dataclass(frozen=True)
class Selection(GradingOptions):
    """Which answers and scores are taken, and by whom they are labeled."""

    score: str = flag(
        "",
        "score to set the limit on, or a numeric column of the file (higher = less certain); "
        "default: the best at hand, chosen on one half of the labels",
    )
    form: Literal["short", "long"] | None = flag(
        None, "of a run: short answers, or facts in paragraphs (default: short)"
    )
    where: str | Mapping[str, str] = flag(
        "", "of a file: only rows with these values, model=palm,stage=short"
    )
    texts: str = flag(
        "",
        "of a file whose rows are claims: the column that names the text of each; a text is wrong "
        "if one of its kept claims is",
    )
    labeled_by: Literal["people", "judge"] | None = flag(
        None,
        "of a run: whose verdicts count; default: people where they labeled a random sample (sayso"
        " label), else the judge",
    )
    seed: Annotated[int, Meta(ge=0, le=2**63)] = flag(0, "seed of the halves of labels")
    cache: Path | None = like(CacheOptions, "cache")


@dataclasses.dataclass(frozen=True)
class GuardChoices:
    """What is promised, with what confidence, and where the guard is written."""

    max_error: float = flag(0.05, "largest error rate among the answers that are given: .05 or 5%")
    confidence: float = flag(
        0.95, "confidence of the promise: .95 holds for 95 of 100 sets of labels"
    )
    otherwise: Literal["decline", "ask"] = flag(
        "decline",
        "what becomes of answers above the limit: declined, or asked of a person",
    )
    out: Path | None = flag(
        None, "file to write; default: guard.json in the run folder or beside the file"
    )
    force: bool = flag(False, "replace a file that sayso guard did not write")


@dataclasses.dataclass(frozen=True)
class WatchOptions:
    """How a log is watched."""

    stop_at_alarm: bool = flag(False, "stop after a new alarm, also in a stream")
    rates: tuple[str, ...] = flag(
        (),
        "what to watch: declining, hedging, above_limit, error, declining_answerable, "
        "declining_unanswerable, or several; default: all that the baseline has. Fewer rates"
        " raise their alarms sooner",
        many=True,
    )
    alpha: float = flag(0.05, "chance of any false alarm over the whole log, however long")
    by: str = flag(
        "",
        "compare only answers of the same hour of the day (hour: of time, in UTC), or of the same "
        "value of a field of log and earlier answers",
    )
    guard: Path | None = flag(
        None,
        "the guard whose limit scores are compared with, and whose promise an alarm withdraws; "
        "default: guard.json in the run folder",
    )
    keep_guard: bool = flag(False, "do not withdraw the guard's promise after an alarm")
    state: Path | None = flag(
        None,
        "file that stores the watch's state and its position in the log: the next call reads on "
        "from there",
    )
    page: Path | None = flag(None, "also write a page (.html): rates over time, with alarms")
    every: int = flag(10000, "print a summary about every N answers; 0: only at the end")
    columns: str | Mapping[str, str] = flag(
        "",
        "your names of fields: answer=response,score=perplexity,time=ts; a name holds for the log,"
        " for a file of earlier answers, or for both, wherever it is found",
    )
    method: str = flag(
        "",
        "of a run that asked in several ways, the one to compare with: plain or instructed; "
        "default: the first",
    )
