"""``sayso judge-check``: is this judge to be trusted? Three minutes, before money is spent.

Grading and stance against labels of people, a dozen answers that try to talk the judge into
another verdict, replies that cannot be read, tokens and price. The result is kept beside the cache
and cited by every later run that uses this judge.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from sayso.pipeline.judge_check_words import check_words
from sayso.pipeline.judging import JudgeOptions, Seat, open_judge
from sayso.pipeline.metering import Meter
from sayso.pipeline.unread import asked_and_missing
from sayso.records import InputError, Verdict

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["JudgeCheck", "judge_check", "keep", "stored"]

#: what UNCLE's judge cost for 100 graded answers, in dollars, with the model of its time
REFERENCE_DOLLARS = 0.46
#: a judge none of whose first verdicts can be read is asked for no more
HANDFUL = 8


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
    began, before = time.monotonic(), _bill(seat)
    # What opening it took is part of the whole check; a judge of the caller's own has a past.
    start = before if seat.asker is None else _Bill(0, 0, 0, 0, 0.0)
    try:
        mine = _grade(seat, OURS, few)
        others = None
        if labelled is not None:
            others = _grade(seat, whole(Path(labelled).name), their_few)
        bill = _bill(seat).since(before)
        if seat.asker is not None:
            seat.asker.stage = "judging: attacks"
        attacks = _attack(seat.judge)
        words = None if partial else check_words(seat.judge)
        found = JudgeCheck(
            signature=seat.judge.signature,
            checked=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            sayso=sayso.__version__,
            check_set=check_set,
            ours=mine,
            labelled=others,
            injection=attacks,
            graded=mine.aspects + (others.aspects if others else 0),
            calls=bill.calls,
            retried=bill.retried,
            prompt_tokens=bill.prompt_tokens,
            completion_tokens=bill.completion_tokens,
            dollars=bill.dollars,
            whole_dollars=_bill(seat).since(start).dollars,
            seconds=round(time.monotonic() - began, 1),
            partial=partial,
            words=words,
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


class _Bill(NamedTuple):
    """What a judge did so far; ``dollars`` is ``None`` where nobody knows."""

    calls: int
    retried: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None

    def since(self, before: _Bill) -> _Bill:
        """Return what came after an earlier bill: a judge of the caller's own may have worked."""
        now, then = self.dollars, before.dollars
        return _Bill(
            self.calls - before.calls,
            self.retried - before.retried,
            self.prompt_tokens - before.prompt_tokens,
            self.completion_tokens - before.completion_tokens,
            None if now is None or then is None else now - then,
        )


def _bill(seat: Seat) -> _Bill:
    """Return what a judge did so far; one of the caller's own that counts nothing asks nobody."""
    counts = getattr(seat.judge, "counts", None)
    retried = int(getattr(counts, "retried", 0))
    if seat.asker is not None:
        tally = seat.asker.tally
        tokens = tally.prompt_tokens, tally.completion_tokens
        return _Bill(tally.asked, retried, *tokens, seat.asker.dollars)
    calls, prompt, completion = (
        int(getattr(counts, name, 0)) for name in ("calls", "prompt_tokens", "completion_tokens")
    )
    dollars = getattr(counts, "dollars", 0.0)
    return _Bill(calls, retried, prompt, completion, None if dollars is None else float(dollars))


def _grade(seat: Seat, name: str, rows: Sequence[Labelled]) -> SetResult:
    if seat.asker is not None:
        seat.asker.stage = f"judging: {name}"
    verdicts = _first(seat.judge, [row.item for row in rows])
    labels = [label for row in rows for label in row.labels]
    groups = [row.group for row in rows for _ in row.labels]
    told_apart = getattr(seat.judge, "labels", "stance") != "uncle"
    return result(name, verdicts, labels, groups, stances=told_apart)


def _first(judge: Judge, items: Sequence[Item]) -> list[Verdict]:
    """Grade items, a handful first: a judge that cannot be read is not asked for the rest."""
    asked, missing = asked_and_missing(judge)
    verdicts: list[Verdict] = []
    done = 0
    while done < len(items):
        part = items[done : done + HANDFUL]
        verdicts += _read(judge, part)
        done += len(part)
        now, lost = asked_and_missing(judge)
        number, unread = now - asked, sum(lost.values()) - sum(missing.values())
        why = {p: n - missing.get(p, 0) for p, n in lost.items() if n > missing.get(p, 0)}
        if now == 0:  # it asks no model, or does not count
            number, unread = len(verdicts), sum(v.problem is not None for v in verdicts)
            why = dict(Counter(v.problem or "" for v in verdicts))
        if number > unread:
            break
        if number and (number >= HANDFUL or done == len(items)):
            said = ", ".join(f"{problem} {count}" for problem, count in why.items())
            raise InputError(
                f"{judge.name} cannot be used as a judge: none of its replies could be read "
                f"({number} verdicts asked for: {said}); nothing is kept. Take another model, or "
                "another --judge-mode, --judge-labels or --prompt-folder"
            )
    return verdicts + _read(judge, items[done:])


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
