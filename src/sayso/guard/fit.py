"""``sayso guard fit``: the limit on a score up to which answers may be given, and what is promised.

Three answers: a limit; no limit can be promised with so many labels; or the score is no better than
answering nothing.
"""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from sayso.guard.choices import GuardChoices, Selection
from sayso.guard.guard import GUARD_FORMAT, GuardFile, guard_in, written_guard
from sayso.guard.labeled import LabeledAnswers, candidates, labeled_answers
from sayso.harmless import line
from sayso.metrics.arrays import Floats, codes
from sayso.metrics.calibration import split_rows
from sayso.metrics.guarantee import (
    MOST_LABELS,
    CertifiedLimit,
    RiskCurve,
    RiskLevels,
    certify_limit,
    labels_needed,
    least_provable,
    risk_curve,
    risk_levels,
    zero_error_answers,
)
from sayso.records import Estimate, InputError
from sayso.report.number_tables import grid, render_table
from sayso.report.numbers import percent
from sayso.report.terminal import say
from sayso.score_files.grade import plural
from sayso.score_files.leaderboard import board_warnings, ranked_table, shown_entries
from sayso.storage.atomic import disk_errors, replacing
from sayso.storage.outputs import check_output
from sayso.version import __version__

#: exit codes of the three answers
CODES = {"limit": 0, "useless": 1, "few": 3}
#: rows of the printed curve
CURVE_ROWS = 10
#: the least probability of an error that a score of its own kind is called the wrong way around
TURNED = 0.4


class FittedGuard(NamedTuple):
    """One of three answers (:data:`CODES`), and what it rests on.

    ``file`` is the guard where there is a limit. ``levels`` are those of ``score`` on all labels;
    ``half`` is true where the score was chosen on one half of the labels and certified on the
    other. ``needed`` labels would let the best limit seen pass with a chance of 80 %.
    """

    answer: Literal["limit", "few", "useless"]
    file: GuardFile | None
    place: Path | None
    score: str
    half: bool
    levels: RiskLevels
    certified: CertifiedLimit
    needed: int | None
    labeled: LabeledAnswers
    choices: GuardChoices
    notices: list[str]

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.answer]


def fit_guard(
    source: Path,
    chosen: Selection = Selection(),  # noqa: B008 - frozen
    choices: GuardChoices = GuardChoices(),  # noqa: B008 - frozen
) -> FittedGuard:
    """Fit a guard on a run of ``selective`` or a file of labeled answers; write it if it holds.

    Raises InputError.
    """
    _check(choices)
    place = _place_of(source, choices, chosen.golds)
    labeled = labeled_answers(source, chosen)
    units = LabeledUnits(labeled.scores, labeled.wrong, labeled.text, labeled.group)
    names = _names(labeled, chosen.score)
    alpha, delta = choices.max_error, 1 - choices.confidence
    half = len(names) > 1
    if half:
        name, certified = cross_fitted_limit(units, names, alpha, delta, chosen.seed)
    else:
        name = names[0]
        certified = certify_limit(units.levels(name), alpha, delta)
    levels = units.levels(name)
    result = FittedGuard(
        answer=_answer(units, names, certified, alpha, delta),
        file=None,
        place=None,
        score=name,
        half=half,
        levels=levels,
        certified=certified,
        needed=_needed(levels, alpha, delta),
        labeled=labeled,
        choices=choices,
        notices=[*labeled.notices, *_shared_notices(labeled), *_withdrawn(place)],
    )
    if result.answer != "limit":
        if not place.exists():
            return result
        stays = f"{place} is left as it was: the guard in it was fitted before"
        return result._replace(notices=[*result.notices, stays])
    file = _file_of(result)
    with replacing(place) as out, disk_errors(place):
        out.write(written_guard(file))
    return result._replace(file=file, place=place)


def _names(labeled: LabeledAnswers, score: str) -> list[str]:
    """Return the scores to choose from: the named one, or those at hand. Raises InputError."""
    there = candidates(labeled)
    if not score and there:
        return there
    if not score:
        raise InputError(
            f"{labeled.data}: no score to set a limit on; a file needs token_logprobs, samples or "
            "stated_confidence, or name your own column (--score NAME; higher = less certain)"
        )
    if score not in labeled.scores:
        raise InputError(f"--score {score!r}: these answers have {', '.join(there) or 'none'}")
    return [score]


def _check(choices: GuardChoices) -> None:
    for flag, value in (("--max-error", choices.max_error), ("--confidence", choices.confidence)):
        if not 0 < value < 1:
            raise InputError(f"{flag} {value:g}: expected a share between 0 and 1, such as .05")
    if choices.confidence < 0.5:
        raise InputError(
            f"--confidence {choices.confidence:g}: expected at least .5; .95 means that 95 of 100 "
            "sets of labels give a limit that holds"
        )


def _place_of(source: Path, choices: GuardChoices, golds: Path | None) -> Path:
    """Return where the guard goes; refuse another program's file there. Raises InputError.

    A file that is read is never replaced, not even by force.
    """
    place = choices.out or (source if source.is_dir() else source.parent) / "guard.json"
    name = f"--out {place}"
    for given in (source, golds):
        if given is not None and place.exists() and given.exists() and place.samefile(given):
            raise InputError(f"{name} holds the labels: give the guard another name")
    check_output(place, mark="", command="sayso guard", force=True, name=name)
    if place.is_file() and not choices.force:
        try:
            guard_in(place)
        except InputError:
            raise InputError(
                f"{name} exists and was not written by sayso guard: give another name, or pass "
                "--force to replace it"
            ) from None
    return place


def _withdrawn(place: Path) -> list[str]:
    """Return a notice where the guard there was withdrawn: older answers do not show the change."""
    with contextlib.suppress(InputError):
        if (gone := guard_in(place).withdrawn) is not None:
            return [
                f"{place} was withdrawn on {line(gone.when, 40)} ({line(gone.why, 200)}): fit it "
                "on answers that the model gave since (run again with --fresh and another --out)"
            ]
    return []


class LabeledUnits(NamedTuple):
    """Labeled rows, the unit (n,) that each belongs to, and what is right or wrong together."""

    scores: dict[str, Floats]
    wrong: Floats
    unit: NDArray[np.int64]
    group: NDArray[np.int64]

    def levels(self, name: str) -> RiskLevels:
        return risk_levels(self.scores[name], self.wrong, self.unit, self.group)

    def part(self, rows: NDArray[np.bool_]) -> LabeledUnits:
        scores = {name: column[rows] for name, column in self.scores.items()}
        unit, group = codes(self.unit[rows]), codes(self.group[rows])
        return LabeledUnits(scores, self.wrong[rows], unit, group)


def _shared_notices(labeled: LabeledAnswers) -> list[str]:
    """Return how answers about one thing count, where there are several about any."""
    texts = len(np.unique(labeled.text))
    sizes = np.bincount(labeled.group[np.unique(labeled.text, return_index=True)[1]])
    if sizes.max() <= 1:
        return []
    what = "texts" if labeled.of_texts else "answers"
    return [
        f"{texts:,} {what} about {len(sizes):,} entities or questions, at most {sizes.max():,} "
        f"about one: {what} about one are right or wrong together, and one more with as many, all "
        "wrong, is reckoned with"
    ]


# ---- which score


def cross_fitted_limit(
    rows: LabeledUnits, names: Sequence[str], alpha: float, delta: float, seed: int
) -> tuple[str, CertifiedLimit]:
    """Return the best score and its limit: chosen on one half of the units, certified on the other.

    Each half chooses for the other, at delta / 2 each, so both limits hold together with
    probability 1 - delta; the one that answers more is taken. A half prefers the score that answers
    most at a limit that it certifies itself, then the one whose lowest p-value is lowest.
    """
    first = split_rows(len(rows.wrong), 0.5, np.random.default_rng(seed), rows.group)
    found = []
    for side in (first, ~first):
        choosing, testing = rows.part(side), rows.part(~side)
        name = max(names, key=lambda one: _merit(choosing.levels(one), alpha, delta / 2))
        certified = certify_limit(testing.levels(name), alpha, delta / 2)
        found.append((certified.answered / max(1, testing.levels(name).units), name, certified))
    _, name, certified = max(found, key=lambda one: one[0])
    return name, certified


def _merit(levels: RiskLevels, alpha: float, delta: float) -> tuple[int, float]:
    certified = certify_limit(levels, alpha, delta)
    start = min(certified.starts[0].answers, levels.full)
    places = _loosest(levels, np.flatnonzero(levels.answered >= start))
    return certified.answered, -min((levels.p(place, alpha) for place in places), default=1.0)


def _loosest(levels: RiskLevels, places: NDArray[np.int64]) -> list[int]:
    """Return the loosest of some limits for each number of errors: no other has a lower p."""
    by_errors = dict(zip(levels.wrong[places].tolist(), places.tolist(), strict=True))
    return list(by_errors.values())


# ---- which of three answers


def _answer(
    rows: LabeledUnits, names: Sequence[str], certified: CertifiedLimit, alpha: float, delta: float
) -> Literal["limit", "few", "useless"]:
    """Return which answer it is; a score is useless only where labels are enough to see it.

    A limit is seen to be good where at least 1 / alpha answers stand at it, of which a share of at
    most alpha is wrong; fewer answers without an error are luck.
    """
    if certified.limit is not None:
        return "limit"
    for name in names:
        levels = rows.levels(name)
        if levels.full < zero_error_answers(alpha, delta) or _best(levels, alpha) is not None:
            return "few"
    return "useless"


def _best(levels: RiskLevels, alpha: float) -> int | None:
    """Return the place of the limit that comes nearest to a promise, ``None`` where none is good.

    Nearest: the lowest p-value of those with an observed risk of at most alpha.
    """
    good = (levels.answered >= math.ceil(1 / alpha - 1e-9)) & (
        levels.wrong <= alpha * levels.answered
    )
    places = _loosest(levels, np.flatnonzero(good))
    return min(places, key=lambda place: levels.p(place, alpha), default=None)


def _needed(levels: RiskLevels, alpha: float, delta: float) -> int | None:
    place = _best(levels, alpha)
    if place is None:
        return None
    k, e = int(levels.answered[place]), int(levels.wrong[place])
    part = 1 / levels.most  # of labels about one thing each is worth less
    missed = int(levels.most > 1)  # the cluster that is reckoned with
    needed = labels_needed(levels.units * part, k * part, e * part, alpha, delta, missed=missed)
    return None if needed is None else math.ceil(needed / part)


# ---- the file


def _share(value: float) -> str:
    return f"{100 * value:.4g} %"


def promise_of(result: FittedGuard) -> str:
    """Return what is promised, in one sentence."""
    labeled, choices = result.labeled, result.choices
    most, sure = _share(choices.max_error), _share(choices.confidence)
    by, n = line(labeled.labeled_by, 80), f"{result.levels.units:,}"
    if labeled.of_texts:
        return (
            f"Of the texts of which this guard keeps a claim, at most {most} keep a wrong one as "
            f"judged by {by}, for texts like the {n} labeled ones (confidence {sure})."
        )
    return (
        f"Of the answers that this guard gives, at most {most} are wrong as judged by {by}, for "
        f"questions like the {n} labeled ones (confidence {sure})."
    )


def _file_of(result: FittedGuard) -> GuardFile:
    labeled, choices, certified = result.labeled, result.choices, result.certified
    assert certified.limit is not None
    at = _place_at(result.levels, certified.limit)  # counts of all labels, as ``labels`` is
    needs = labeled.needs.get(result.score, ("answer",))
    return GuardFile(
        format=GUARD_FORMAT,
        sayso=__version__,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        score=result.score,
        limit=certified.limit,
        promise=promise_of(result),
        max_error=choices.max_error,
        confidence=choices.confidence,
        labels=result.levels.units,
        labeled_by=labeled.labeled_by,
        unit="text" if labeled.of_texts else "answer",
        answered=int(result.levels.answered[at]),
        wrong=int(result.levels.wrong[at]),
        otherwise=choices.otherwise,
        needs=needs,
        meaning=labeled.meaning,
        samples=labeled.samples if "draws" in needs else None,
        blanks=labeled.blanks,
        data=labeled.data,
        model=labeled.model,
        signature=labeled.signature,
    )


# ---- terminal


def render_guard(result: FittedGuard, console: Console) -> None:
    """Print what can be promised at all, the scores beside their baselines, the curve, the answer.

    Nothing of it is wider than the terminal.
    """
    alpha, delta = result.choices.max_error, 1 - result.choices.confidence
    n, unit = result.levels.units, "text" if result.labeled.of_texts else "answer"
    least = least_provable(result.levels.full, delta)
    say(
        console,
        f"{plural(n, f'labeled {unit}')}, judged by {result.labeled.labeled_by}: no limit can "
        f"promise an error rate below {_share(least)} (confidence "
        f"{_share(1 - delta)}).",
        "bold",
    )
    if result.certified.limit is None:
        say(console, needed_sentence(result), "")
    _render_scores(result, console)
    _render_curve(result, console)
    say(console, verdict_sentence(result), "bold")
    if result.file is not None and result.place is not None:
        say(console, f"written to {result.place}", "")
    say(
        console,
        f"What this does not show: whether it holds for other questions, for another model or "
        f"prompt, or later (sayso watch); and {result.labeled.labeled_by} may be wrong. Choose the "
        f"error rate ({_share(alpha)}) and the score before you look at the labels.",
        "dim",
    )


def needed_sentence(result: FittedGuard) -> str:
    """Say how many labels would be enough for the best limit seen."""
    alpha, delta = result.choices.max_error, 1 - result.choices.confidence
    place = _best(result.levels, alpha)
    least = zero_error_answers(alpha, delta)
    head = f"An error rate of {_share(alpha)} takes at least {least:,} answers without an error."
    if place is None:
        few = math.ceil(1 / alpha - 1e-9)
        return (
            f"{head} No limit on {result.score} that gives at least {few:,} answers has an error "
            "rate that low."
        )
    k, e = int(result.levels.answered[place]), int(result.levels.wrong[place])
    seen = f"at the best limit seen, {e:,} of {k:,} are wrong"
    if result.needed is None:
        return f"{head} More than {MOST_LABELS:,} labels would be needed: {seen}."
    labels = f"{result.needed:,} labels"
    if of := result.labeled.entities:
        labels += f" (about --limit {math.ceil(result.needed * of / result.levels.units):,})"
    return (
        f"{head} At least {labels} are needed for the best limit seen, more where "
        f"the score is chosen too: {seen} (of {result.levels.units:,} labels)."
    )


def _render_scores(result: FittedGuard, console: Console) -> None:
    board = result.labeled.board
    if board.problem is None:
        best = {entry.method for entry in shown_entries(board, CURVE_ROWS)} | {result.score}
        shown = [entry for entry in board.entries if entry.method in best]
        render_table(ranked_table(board, shown), console)
        say(
            console,
            "A score that does not beat plain length and the words alone is no sign of "
            "uncertainty.",
            "dim",
        )
    for text in board_warnings(board):
        say(console, f"! {text}", "yellow")
    entry = next((e for e in board.entries if e.method == result.score), None)
    if entry is not None and entry.auroc.value is not None and entry.auroc.value < TURNED:
        say(
            console,
            f"! right answers have higher values of {result.score}: is it a confidence? Higher "
            "must mean less certain",
            "yellow",
        )
    if result.half:
        say(
            console,
            f"{result.score} was chosen on one half of the labels and its limit certified on the "
            "other. To use all labels, name the score before you look at them (--score NAME). If "
            "you name the best one of this table afterwards, the promise does not hold.",
            "",
        )


def _render_curve(result: FittedGuard, console: Console) -> None:
    rows, curve = _curve(result)
    levels = result.levels
    if not rows:
        return
    limits = levels.limit[[*rows]].tolist()
    names = [f"{limit + 0.0:.6g}" for limit in limits]
    if len({*names}) < len(names):
        names = [repr(limit) for limit in limits]
    answered, wrong = (one[[*rows]].tolist() for one in (levels.answered, levels.wrong))

    def cell(n: int, column: str) -> str | Estimate:
        before = (answered[n - 1], wrong[n - 1]) if n else (0, 0)
        if column == "answered":
            return percent(answered[n] / levels.units, 0)
        if column == "wrong":
            ends = float(curve.low[n]), float(curve.high[n])
            return Estimate("", (), float(curve.risk[n]), *ends, wrong[n], answered[n])
        if column == "added":
            return percent((wrong[n] - before[1]) / (answered[n] - before[0]))
        return percent(float(curve.bound[n]))

    labels: dict[str | tuple[str, ...], int] = {
        f"{name}{' <' * certified}": n
        for n, (name, certified) in enumerate(zip(names, rows.values(), strict=True))
    }
    delta = 1 - result.choices.confidence
    heads = {
        "answered": "answered", "wrong": "wrong", "of those added": "added",
        f"bound, {_share(1 - delta)}": "bound",
    }  # fmt: skip
    notes = [
        "Exact intervals on all labels, each for a limit named beforehand.",
        "Wrong answers state something false. Answers that decline are left out.",
    ]
    if any(rows.values()):
        notes.append(
            "<: certified limits, which hold together; guard.json has the loosest. If the answers "
            'that a looser one adds are wrong too often, write a stricter one as "limit" into it.'
        )
    table = grid(
        "Answers at each limit, and how many of them are wrong", labels, heads, cell,
        labels=(f"{result.score} at most",), notes=notes,
    )  # fmt: skip
    console.print()
    render_table(table, console)


def _place_at(levels: RiskLevels, limit: float) -> int:
    """Return the place of the loosest level that a limit lets pass."""
    return int(np.searchsorted(levels.limit, limit, side="right")) - 1


def _curve(result: FittedGuard) -> tuple[dict[int, bool], RiskCurve]:
    """Return the places that are shown, and whether certified, with their risks.

    Shown are the certified limits from which on answers cost more errors, and others about equally
    far apart in answers.
    """
    levels = result.levels
    certified = [_place_at(levels, limit) for limit in result.certified.passed.tolist()]
    ends = np.linspace(0, levels.answered[-1:].sum(), CURVE_ROWS + 1)[1:]
    rows = dict.fromkeys(np.searchsorted(levels.answered, ends).tolist(), False)
    rows = {place: False for place in rows if place not in certified and place < len(levels.limit)}
    frontier = _frontier(levels, certified)[::-1]
    step = -(-len(frontier) // CURVE_ROWS) or 1
    rows |= dict.fromkeys(frontier[::step], True)
    rows = dict(sorted(rows.items()))
    return rows, risk_curve(levels, 1 - result.choices.confidence, [*rows])


def _frontier(levels: RiskLevels, places: Sequence[int]) -> list[int]:
    """Return those of some limits, rising, after which answers are wrong more often than before."""
    found: list[int] = []
    for place in _loosest(levels, np.asarray(places, dtype=np.int64)):
        while found and _rate(levels, found[-1], place) <= _rate(levels, *[None, *found][-2:]):
            found.pop()
        found.append(place)
    return found


def _rate(levels: RiskLevels, first: int | None, last: int | None) -> float:
    """Return the share of wrong answers among those that a looser limit adds."""
    assert last is not None
    k, e = (0, 0) if first is None else (levels.answered[first], levels.wrong[first])
    return float((levels.wrong[last] - e) / (levels.answered[last] - k))


def verdict_sentence(result: FittedGuard) -> str:
    """Return which of the three answers it is, in one sentence."""
    n = plural(result.levels.units, "label")
    most = _share(result.choices.max_error)
    if result.file is not None:
        share = result.file.answered / result.levels.units
        return (
            f"A limit: {result.score} at most {result.file.limit:.6g}, which answers {share:.0%} "
            f"of the labeled {'texts' if result.labeled.of_texts else 'questions'}. "
            f"{result.file.promise}"
        )
    if result.answer == "few":
        return f"No limit can be promised with {n}: {result.score} at an error rate of {most}."
    return (
        f"This score is no better than answering nothing: no limit of {result.score} has an "
        f"observed error rate of at most {most} on these {n}."
    )


def guard_json(result: FittedGuard) -> dict[str, object]:
    """Return everything as plain values, for ``--json``."""
    levels, delta = result.levels, 1 - result.choices.confidence
    rows, curve = _curve(result)
    at = [*rows]
    columns: Mapping[str, NDArray[Any]] = {
        "limit": levels.limit[at], "answered": levels.answered[at], "wrong": levels.wrong[at],
        **curve._asdict(),
        "certified": np.array([*rows.values()]),
    }  # fmt: skip
    return {
        "answer": result.answer,
        "guard": msgspec.to_builtins(result.file),
        "path": None if result.place is None else str(result.place),
        "score": result.score,
        "labels": levels.units,
        "labeled_by": result.labeled.labeled_by,
        "least_error_rate": least_provable(levels.full, delta),
        "labels_needed": result.needed,
        "curve": [
            dict(zip(columns, row, strict=True))
            for row in zip(*(column.tolist() for column in columns.values()), strict=True)
        ],
        "scores": result.labeled.board.table(),
        "notices": result.notices,
    }
