"""Runs compared, in words and in tables: better, worse, or no visible difference.

A difference of two runs is called one where its 95 % interval leaves out 0. Sentences are made of
the verdicts that the rows show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console

from sayso.harmless import line
from sayso.metric import Headline, MetricTable
from sayso.records import Estimate, Slice
from sayso.report.number_tables import NumberTable
from sayso.report.numbers import capital
from sayso.report.opening import PageOpening
from sayso.report.sheet import Sheet, render_sheet

BETTER, WORSE, NONE, UNDEFINED = "better", "worse", "not visible", "cannot be compared"
#: the ranks that each of several models can have, the best and the worst; ``None``: no value
Ranks = Sequence[tuple[int, int] | None]


class Words(NamedTuple):
    """How a protocol's numbers are called, and parts of slices."""

    metrics: MetricTable = MetricTable()
    part_label: Callable[[str, str], str] = lambda key, value: f"{key} {value}"

    def of(self, where: Iterable[tuple[str, str]]) -> str:
        """Return what a number is of: "short answers, P(True)"."""
        return ", ".join(self.part_label(key, value) for key, value in where)

    def form(self, where: Slice) -> str:
        """Return of which form of answers a number is."""
        return self.of([pair for pair in where if pair[0] == "form"])


NO_WORDS = Words()
#: what is said of models that rules alone compare
BENT = (
    "The offline judge errs more with some models than with others, which can make or hide a "
    "difference: label answers of each model (sayso label RUN), or use --judge rules+MODEL."
)


def rules_alone(judges: Mapping[str, str]) -> tuple[str, ...]:
    """Return :data:`BENT` for several models, by name with their judges, if rules judge some."""
    return (BENT,) if len(judges) > 1 and "rules" in judges.values() else ()


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


#: parts of the slices that a headline number is shown of
WHOLE = {"form", "method", "against", "mode"}


def told_differences(found: Sequence[Estimate], words: Words) -> list[Estimate]:
    """Return those of headline numbers, then of their parts, in each form, of the first method."""
    kept: list[Estimate] = []
    for name, headline in words.metrics.told.items():
        of = (e for e in found if e.name == name and {key for key, _ in e.where} <= WHOLE)
        held = [e for e in of if set(headline.only) <= set(e.where)]
        kept += [e for e in held if without_form(e.where) == without_form(held[0].where)]
    return kept


def without_form(where: Slice) -> Slice:
    """Return a slice without the form of the answers."""
    return tuple(pair for pair in where if pair[0] != "form")


# ---- sentences


def compared_sentence(found: Sequence[Estimate], words: Words, names: tuple[str, str]) -> str:
    """Say in which headline numbers, and parts of them, the second run differs from the first.

    A form is named where forms differ. Holds without any difference.
    """
    first, second = names
    clear: list[str] = []
    left: dict[str, list[str]] = {NONE: [], UNDEFINED: []}
    held = told_differences(found, words)
    for name, headline in words.metrics.told.items():
        verdicts = [(verdict_of(e, words), words.form(e.where)) for e in held if e.name == name]
        for verdict, where in _by_form(verdicts):
            if verdict in (BETTER, WORSE):
                does = headline.better if verdict == BETTER else headline.worse
                clear.append(f"{does}{where}")
            elif not headline.part:
                left[verdict].append(f"{headline.what}{where}")
    parts = [f"{second} {_listed(clear)} than {first}"] if clear else []
    begins = {NONE: "no difference is visible in ", UNDEFINED: "this cannot be compared: "}
    parts += [f"{begins[verdict]}{_listed(what)}" for verdict, what in left.items() if what]
    text = "; ".join(parts) or "The two runs share no headline number"
    rest = [is_clear(e) for e in found if e not in held]
    return f"{text if clear else capital(text)}.{others_sentence(rest)}"


def ranked_sentence(
    found: Sequence[tuple[Headline, Sequence[tuple[str, Ranks]]]], models: Sequence[str]
) -> str:
    """Say who is best in each headline number, and in its parts where some models differ in them.

    Each number has its ranks by the form that they are of. Holds without any rank.
    """
    alike: list[str] = []
    best: dict[bool, list[str]] = {False: [], True: []}
    for headline, forms in found:
        leaders = [(_leaders(headline, ranks, models), form) for form, ranks in forms]
        for told, where in _by_form(leaders):
            if told == NONE:
                alike += [] if headline.part else [f"{headline.what}{where}"]
            elif told:
                best[headline.part].append(f"{told}{where}")
    none = [f"no difference is visible in {_listed(alike)}"] if alike else []
    text = "; ".join([*best[False], *none, *best[True]])
    return f"Of {len(models):,} models, {text}." if text else ""


def _leaders(headline: Headline, ranks: Ranks, models: Sequence[str]) -> str:
    """Say who leads; :data:`NONE` where all may, nothing where fewer than two have the number."""
    held = [(model, rank) for model, rank in zip(models, ranks, strict=True) if rank]
    leaders = [model for model, rank in held if rank[0] == 1]
    if len(held) < 2:
        return ""
    if len(leaders) == len(held):
        return NONE
    if len(leaders) == 1:
        return f"{leaders[0]} {headline.best}"
    some = _listed(leaders) if len(leaders) < 3 else f"{len(leaders)} models"
    return f"{some} share the lead in {headline.what}"


def others_sentence(clear: Sequence[bool]) -> str:
    """Say how many of the numbers that no sentence names differ; nothing where none does."""
    many = f"{sum(clear):,} {'differs' if sum(clear) == 1 else 'differ'}"
    others = f"{len(clear):,} other number{'s' * (len(clear) > 1)}"
    return f" Of {others}, {many}." if any(clear) else ""


def by_chance(differences: Sequence[Estimate]) -> str:
    """Return how many clear differences to expect where nothing differs, once it is one or more."""
    ranges = sum(e.low is not None for e in differences)
    expected = round(ranges / 20)
    return (
        f"Of {ranges:,} differences, about {expected:,} would look clear by chance alone."
        if expected
        else ""
    )


def _by_form(told: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what is told of forms, each once, with the forms unless it is told of all."""
    forms: dict[str, list[str]] = {}
    for text, form in told:
        forms.setdefault(text, []).append(form)
    return [(text, f" ({_listed(own)})" * (len(forms) > 1)) for text, own in forms.items()]


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if texts[1:] else "".join(texts)


# ---- the terminal

#: by which rule a number is better or worse
RULE = "Better or worse: the paired interval excludes 0. sayso study can be stricter."
#: differences besides those of headline numbers that are printed, fewer where more else is said
MOST_OTHERS = 12


def render_compare(
    found: Sequence[Estimate],
    console: Console,
    sides: tuple[tuple[str, str], tuple[str, str]] = (("A", "A"), ("B", "B")),
    words: Words = NO_WORDS,
    notes: Sequence[str] = (),
    compared: Sequence[str] = (),
) -> None:
    """Print what differs between two runs: the sentence, the headline numbers, some of the others.

    ``sides`` are the name of each run and where it lies, ``notes`` warnings, and ``compared`` says
    what was compared.
    """
    (first, one), (second, other) = (tuple(line(text, 200) for text in side) for side in sides)
    head = told_differences(found, words)
    rest = sorted((e for e in found if e not in head), key=is_clear, reverse=True)
    others = [e for e in rest if e.value is None or e.low is not None]
    room = max(3, MOST_OTHERS - len(head) // 2 - len(notes) - len(compared))
    shown = [*head, *others[:room]]
    left = [is_clear(e) for e in found if e not in shown]
    named = [m for m in words.metrics.values() if m.symbol and any(m.name == e.name for e in shown)]
    about = [
        f"A = {first} ({one}); B = {second} ({other})" * ((first, second) != (one, other)),
        *(line(text, 240) for text in compared),
        line("; ".join(m.titled for m in named), 240),
        RULE * any(map(is_clear, shown)),
        by_chance(found),
        f"--json has {len(left):,} more; {sum(left):,} of them differ." * any(left),
        f"--json has {len(left):,} more, none of which differs." * (bool(left) and not any(left)),
    ]
    rows = [
        ((f"{words.metrics.named(e.name).column}, {words.of(e.where)}".removesuffix(", "),),
         (e, verdict_of(e, words)))
        for e in shown
    ]  # fmt: skip
    table = NumberTable(
        "", f"{second} minus {first} [95 % interval, sampling error only]", ("",),
        ("difference", "verdict"), rows, tuple(filter(None, about)), "difference",
    )  # fmt: skip
    nothing = "Nothing to compare: the two runs have no numbers in common."
    sentence = compared_sentence(found, words, (first, second)) if found else nothing
    sheet = Sheet(table.caption, PageOpening(sentence, ""), main=table, cautions=notes)
    render_sheet(sheet, console, verbose=True)
