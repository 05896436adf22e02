"""Two runs compared, in words and in a terminal: better, worse, or no visible difference.

A difference is called one where its 95 % interval leaves out 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from sayso.harmless import line
from sayso.metric import Headline, MetricTable
from sayso.records import Estimate, Slice
from sayso.report.numbers import (
    is_bare,
    notation_of,
    percentage_points,
    signed_number,
    why_undefined,
)
from sayso.report.terminal import safe_text, say

BETTER, WORSE, NONE, UNDEFINED = "better", "worse", "no visible difference", "cannot be compared"


class Words(NamedTuple):
    """How a protocol's numbers are called, and parts of slices."""

    metrics: MetricTable = MetricTable()
    part_label: Callable[[str, str], str] = lambda key, value: f"{key} {value}"


NO_WORDS = Words()


def is_clear(difference: Estimate) -> bool:
    """Tell whether a difference is more than chance shows: its interval leaves out 0."""
    low, high = difference.low, difference.high
    if difference.value is None or low is None or high is None:
        return False
    return not low <= 0 <= high


def verdict_of(difference: Estimate, words: Words) -> str:
    """Return better, worse, or that no difference is visible; higher or lower of the rest."""
    if difference.value is None:
        return UNDEFINED
    if not is_clear(difference):
        return NONE
    higher = words.metrics.named(difference.name).higher
    if higher is None:
        return "higher" if difference.value > 0 else "lower"
    return BETTER if (difference.value > 0) is higher else WORSE


def compared_sentence(found: Sequence[Estimate], words: Words, names: tuple[str, str]) -> str:
    """Say in one sentence in which headline numbers the second run differs from the first.

    Of each the first form or method counts. Holds without any difference.
    """
    first, second = names
    clear, alike, undefined = [], [], []
    for name, headline in words.metrics.headlines.items():
        one = next(iter(_of(name, headline, found)), None)
        if one is None:
            continue
        verdict = verdict_of(one, words)
        if verdict == NONE:
            alike.append(headline.what)
        elif verdict == UNDEFINED:
            undefined.append(headline.what)
        else:
            clear.append(headline.better if verdict == BETTER else headline.worse)
    parts = []
    if clear:
        parts.append(f"{second} {' and '.join(clear)} than {first}")
    if alike:
        parts.append(f"no difference is visible in {' and '.join(alike)}")
    if undefined:
        parts.append(f"this cannot be compared: {' and '.join(undefined)}")
    text = "; ".join(parts) or "The two runs share no headline number"
    return f"{text[0].upper()}{text[1:]}." if not clear else f"{text}."


#: parts of the slices that a headline number is shown of
WHOLE = {"form", "method", "against", "mode"}


def ranked_sentence(
    found: Sequence[tuple[Headline, Sequence[tuple[int, int] | None]]], models: Sequence[str]
) -> str:
    """Say in one sentence who is best in each headline number, or that no difference is visible.

    The ranks of each model are the best and the worst that it can have. Holds without any rank.
    """
    best, alike = [], []
    for headline, ranks in found:
        held = [(model, rank) for model, rank in zip(models, ranks, strict=True) if rank]
        leaders = [model for model, rank in held if rank[0] == 1]
        if len(held) < 2:
            continue
        if len(leaders) == 1:
            best.append(f"{leaders[0]} {headline.best}")
        elif len(leaders) == len(held):
            alike.append(headline.what)
        else:
            first = " and ".join(leaders) if len(leaders) < 3 else f"{len(leaders)} models"
            best.append(f"{first} share the lead in {headline.what}")
    parts = best + ([f"no difference is visible in {' and '.join(alike)}"] if alike else [])
    if not parts:
        return ""
    return f"Of {len(models):,} models, {'; '.join(parts)}."


def headline_differences(found: Sequence[Estimate], words: Words) -> list[Estimate]:
    """Return the differences of each headline number in each form, of the first method."""
    return [one for pair in words.metrics.headlines.items() for one in _of(*pair, found)]


def _of(name: str, headline: Headline, found: Sequence[Estimate]) -> list[Estimate]:
    """Return the differences of a headline number in each form, of the first method."""
    kept: list[Estimate] = []
    for one in found:
        where = one.where
        if one.name != name or not {key for key, _ in where} <= WHOLE:
            continue
        if set(headline.only) <= set(where) and (
            not kept or _without_form(one) == _without_form(kept[0])
        ):
            kept.append(one)
    return kept


def _without_form(one: Estimate) -> Slice:
    return tuple(pair for pair in one.where if pair[0] != "form")


# ---- the terminal

#: by which rule a headline number is better or worse
RULE = (
    "Better or worse means that the paired interval excludes 0. sayso study is stricter if every "
    "resample gives the same value, such as 0 of 8, and may then report no difference."
)
#: columns of the label of a number at least and at most
LEAST, MOST = 16, 60


def render_compare(
    found: Sequence[Estimate],
    console: Console,
    sides: tuple[tuple[str, str], tuple[str, str]] = (("A", "A"), ("B", "B")),
    words: Words = NO_WORDS,
    notes: Sequence[str] = (),
    compared: Sequence[str] = (),
) -> None:
    """Print what differs between two runs: the sentence, the headline numbers, then all of them.

    ``sides`` are the name of each run and where it lies. ``compared`` (what was compared) and
    ``notes`` (warnings) stand between. Undefined differences are dashes with the reason below.
    """
    (first, one), (second, other) = (tuple(line(text, 200) for text in side) for side in sides)
    console.print()
    if found:
        say(console, compared_sentence(found, words, (first, second)), "bold")
    else:
        say(console, "Nothing to compare: the two runs have no numbers in common.", "bold")
    for letter, name, place in (("A", first, one), ("B", second, other)):
        if place != name:
            shown = place if name == letter else f"{name} ({place})"
            say(console, f"{letter} = {shown}", "dim", copied=True)
    for text in compared:
        say(console, text, "dim")
    for note in notes:
        say(console, f"! {note}", "yellow")
    head = headline_differences(found, words)
    width = max((len(_written(one)) for one in found), default=0)
    minus = f"{second} minus {first} [95 % interval, sampling error only]"
    if head:
        console.print()
        say(console, minus, "dim")
        console.print(_headlines(head, words, console, width))
        if any(map(is_clear, head)):
            say(console, RULE, "dim")
    for title, rows in _groups(found, words).items():
        console.print()
        say(console, title or "all answers", "bold")
        console.print(_rows(rows, words, console, width))
    _footnotes(found, words, console)


def _headlines(found: Sequence[Estimate], words: Words, console: Console, width: int) -> Table:
    table = _grid(console, width, len(NONE))
    for one in found:
        where = _where(one.where, words)
        label = f"{_label(one, words)}{f', {where}' if where else ''}"
        style = {BETTER: "bold green", WORSE: "bold red"}.get(verdict_of(one, words), "")
        table.add_row(
            safe_text(label, console),
            safe_text(_written(one), console, "bold"),
            safe_text(verdict_of(one, words), console, style),
        )
    return table


def _rows(
    rows: Sequence[tuple[str, Estimate]], words: Words, console: Console, width: int
) -> Table:
    table = _grid(console, width, len(NONE))
    for label, one in rows:
        verdict = verdict_of(one, words)
        shown = "" if verdict in (NONE, UNDEFINED) else verdict
        cells = safe_text(_written(one), console), safe_text(shown, console, "bold")
        table.add_row(safe_text(label, console), *cells)
    return table


def _grid(console: Console, width: int, last: int) -> Table:
    """Return a table of a label, a difference and a verdict, as wide in every part."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    label = min(MOST, max(LEAST, console.width - width - last - 4))
    table.add_column(width=label, overflow="fold")
    table.add_column(width=width, no_wrap=True)
    table.add_column(width=last, no_wrap=True)
    return table


def _groups(found: Sequence[Estimate], words: Words) -> dict[str, list[tuple[str, Estimate]]]:
    """Return rows of a label and a difference by what they have in common.

    That is the slice; of numbers that stand alone in theirs, such as one of each score, it is the
    number, and the last part of the slice is the label.
    """
    sizes = Counter(one.where for one in found)
    alone = [one for one in found if sizes[one.where] == 1]
    series = Counter((e.name, e.where[:-1]) for e in alone if e.where)
    groups: dict[str, list[tuple[str, Estimate]]] = {}
    for e in found:
        where, label = _where(e.where, words), _label(e, words)
        if e.where and sizes[e.where] == 1 and series[e.name, e.where[:-1]] > 1:
            rest = _where(e.where[:-1], words)
            where, label = f"{label}{f', {rest}' if rest else ''}", words.part_label(*e.where[-1])
        groups.setdefault(where, []).append((label, e))
    return groups


def _label(e: Estimate, words: Words) -> str:
    return words.metrics.named(e.name).titled


def _where(where: Slice, words: Words) -> str:
    return ", ".join(words.part_label(key, value) for key, value in where)


def _written(one: Estimate) -> str:
    """Return a difference with its interval, "+0.12 [+0.05, +0.20]"."""
    return f"{difference_value(one)} {difference_range(one)}".strip()


def _footnotes(found: Sequence[Estimate], words: Words, console: Console) -> None:
    """Print what chance alone would give, and why differences are missing."""
    if text := by_chance(found):
        say(console, f"\n{text}", "dim", block=True)
    reasons: dict[str, list[str]] = {}
    for e in found:
        if e.value is None:
            where = _where(e.where, words)
            reasons.setdefault(why_undefined(e), []).append(f"{e.name} ({where or 'all answers'})")
    for why, names in reasons.items():
        say(console, f"no value for {', '.join(names)}: {why}", "dim")


def by_chance(differences: Sequence[Estimate]) -> str:
    """Return how many clear differences to expect where nothing differs, once it is one or more."""
    ranges = sum(estimate.low is not None for estimate in differences)
    expected = round(ranges / 20)
    if not expected:
        return ""
    return f"Of {ranges:,} differences, about {expected:,} would look clear by chance alone."


def shown_difference(name: str, value: float | None) -> str:
    """Return a difference with its sign, shares in percentage points (pp)."""
    if value is None or notation_of(name) != "percent":
        return signed_number(value)
    return percentage_points(value)


def difference_value(e: Estimate) -> str:
    """Return a difference with its sign; a dash for one of J that has no interval."""
    return shown_difference(e.name, None if is_bare(e) else e.value)


def difference_range(e: Estimate) -> str:
    """Return the interval of a difference in brackets; empty where there is none."""
    if e.value is None or e.low is None or e.high is None:
        return ""
    ends = [shown_difference(e.name, end).removesuffix(" pp") for end in (e.low, e.high)]
    return f"[{ends[0]}, {ends[1]}]"
