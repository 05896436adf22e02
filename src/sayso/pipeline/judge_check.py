"""``sayso judge-check``: is this judge to be trusted? Three minutes, before money is spent.

Grading and stance against labels of people, a dozen answers that try to talk the judge into
another verdict, replies that cannot be read, tokens and price. The result is kept beside the cache
and cited by every later run that uses this judge.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import sayso
from sayso.annotate import Item, Judge
from sayso.models import Engine
from sayso.pipeline.asking import Progress
from sayso.pipeline.judge_check_attacks import attacked_items, plain_items
from sayso.pipeline.judge_check_records import Injection, JudgeCheck, SetResult, result
from sayso.pipeline.judge_check_set import (
    OURS,
    Labelled,
    our_set,
    read_labelled,
    spread,
)
from sayso.pipeline.judge_check_store import keep, stored, whole
from sayso.pipeline.judging import JudgeOptions, Seat, open_judge
from sayso.pipeline.metering import Meter
from sayso.records import InputError, Verdict

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["JudgeCheck", "judge_check", "keep", "stored"]

#: what UNCLE's judge cost for 100 graded answers, in dollars, with the model of its time
REFERENCE_DOLLARS = 0.46


def judge_check(
    judge: str | Judge | Engine,
    *,
    labelled: str | Path | None = None,
    limit: int | None = None,
    options: JudgeOptions | None = None,
    max_cost: float | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> JudgeCheck:
    """Check a judge and keep the result for the reports of later runs.

    ``judge`` is a name as on the command line, a judge, or an engine that is to judge.
    ``labelled`` is a file of labelled answers (:func:`.judge_check_set.read_labelled`). ``limit``
    takes so many answers of each set; such a partial check is returned but not kept. ``cache`` is
    the cache folder. Nothing is answered from the cache: the judge is really asked. Raises
    :class:`~sayso.records.InputError`.
    """
    if limit is not None and limit < 0:
        raise InputError(f"limit is {limit}; expected 0 (all) or more")
    theirs = read_labelled(Path(labelled)) if labelled is not None else []
    ours, check_set = our_set()
    few, their_few = spread(ours, limit), spread(theirs, limit)
    partial = len(few) < len(ours) or len(their_few) < len(theirs)
    seat = _seat(judge, options, max_cost, progress)
    began = time.monotonic()
    try:
        mine = _grade(seat, OURS, few)
        others = None
        if labelled is not None:
            others = _grade(seat, whole(Path(labelled).name), their_few)
        calls, prompt, completion, dollars = _bill(seat)
        attacks = _attack(seat.judge)
        found = JudgeCheck(
            signature=seat.judge.signature,
            checked=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            sayso=sayso.__version__,
            check_set=check_set,
            ours=mine,
            labelled=others,
            injection=attacks,
            graded=mine.aspects + (others.aspects if others else 0),
            calls=calls,
            retried=int(getattr(getattr(seat.judge, "counts", None), "retried", 0)),
            prompt_tokens=prompt,
            completion_tokens=completion,
            dollars=dollars,
            whole_dollars=_bill(seat)[3],
            seconds=round(time.monotonic() - began, 1),
            partial=partial,
            notices=tuple(whole(str(n)) for n in getattr(seat.judge, "notices", ())),
        )
    finally:
        seat.close()
    if not partial:
        keep(found, cache)
    return found


def _seat(
    judge: str | Judge | Engine,
    options: JudgeOptions | None,
    max_cost: float | None,
    progress: Progress | None,
) -> Seat:
    """Open the judge without a cache: what is checked is what it says now."""
    if _is_judge(judge):
        return Seat(judge, None, borrowed=True)
    return open_judge(judge, options, meter=Meter(max_cost), progress=progress)


def _is_judge(given: str | Judge | Engine) -> TypeIs[Judge]:
    return hasattr(given, "grade")


def _bill(seat: Seat) -> tuple[int, int, int, float | None]:
    """Return calls, prompt tokens, completion tokens and dollars so far."""
    if seat.asker is None:
        counts = getattr(seat.judge, "counts", None)
        numbers = [int(getattr(counts, n, 0)) for n in ("calls", "prompt_tokens")]
        return (*numbers, int(getattr(counts, "completion_tokens", 0)), _own_dollars(seat))  # type: ignore[return-value]
    tally = seat.asker.tally
    return tally.asked, tally.prompt_tokens, tally.completion_tokens, seat.asker.dollars


def _own_dollars(seat: Seat) -> float | None:
    """What a judge of the caller's own says it cost; one that asks nobody costs nothing."""
    counts = getattr(seat.judge, "counts", None)
    found = getattr(counts, "dollars", 0.0)
    return None if found is None else float(found)


def _grade(seat: Seat, name: str, rows: Sequence[Labelled]) -> SetResult:
    verdicts = _read(seat.judge, [row.item for row in rows])
    labels = [label for row in rows for label in row.labels]
    groups = [row.group for row in rows for _ in row.labels]
    told_apart = getattr(seat.judge, "labels", "stance") != "uncle"
    return result(name, verdicts, labels, groups, stances=told_apart)


def _read(judge: Judge, items: Sequence[Item]) -> list[Verdict]:
    """Grade items; a judge that loses or mixes up verdicts is refused, not compared."""
    verdicts = judge.grade(items)
    wanted = [(item.generation.id, q.id) for item in items for q in item.questions]
    if [(v.target, v.asked) for v in verdicts] != wanted:
        raise InputError(
            f"the judge {judge.name} returned {len(verdicts)} verdicts for {len(wanted)} questions "
            "or in another order: expected one for each question of each item, in order"
        )
    return verdicts


def _attack(judge: Judge) -> Injection:
    """Compare what the judge says of each plain answer with what it says of the attacked one."""
    plain = _read(judge, plain_items())
    attacked = attacked_items()
    verdicts = _read(judge, [item for _, _, item in attacked])
    changed, obeyed, unread, untested = [], [], [], 0
    for (attack, which, _), verdict in zip(attacked, verdicts, strict=True):
        if plain[which].problem is not None:
            untested += 1
        elif verdict.problem is not None:
            unread.append(attack.name)
        elif verdict.value != plain[which].value:
            changed.append(attack.name)
            if verdict.value == "correct":
                obeyed.append(attack.name)
    return Injection(
        len(attacked) - untested, untested, tuple(changed), tuple(obeyed), tuple(unread)
    )
