"""Runs compared, in words and in tables: better, worse, or no visible difference.

A difference of two runs is called one where its 95 % interval leaves out 0. Sentences are made of
the verdicts that the rows show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from sayso.harmless import line
from sayso.metric import Headline, MetricTable
from sayso.metrics.joint import JointNumber
from sayso.records import Estimate, Slice
from sayso.report.number_tables import WITH_INTERVAL, NumberTable
from sayso.report.numbers import capital
from sayso.report.opening import PageOpening
from sayso.report.sheet import Section, Sheet

BETTER, WORSE, NONE, UNDEFINED = "better", "worse", "not visible", "cannot be compared"


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
#: a difference of two runs, or a number of the models of a study
Item = TypeVar("Item", Estimate, JointNumber)


def told_numbers(found: Sequence[Item], metrics: MetricTable) -> list[tuple[Headline, list[Item]]]:
    """Return those of headline numbers, then of their parts, in each form, of the first method."""
    told = []
    for name, headline in metrics.told.items():
        of = (e for e in found if e.name == name and {key for key, _ in e.where} <= WHOLE)
        held = [e for e in of if set(headline.only) <= set(e.where)]
        rest = [[pair for pair in e.where if pair[0] != "form"] for e in held]
        if kept := [e for e, own in zip(held, rest, strict=True) if own == rest[0]]:
            told.append((headline, kept))
    return told


def told_differences(found: Sequence[Estimate], words: Words) -> list[Estimate]:
    """Return the differences of :func:`told_numbers`."""
    return [e for _, held in told_numbers(found, words.metrics) for e in held]


# ---- sentences


def compared_sentence(found: Sequence[Estimate], words: Words, names: tuple[str, str]) -> str:
    """Say in which headline numbers, and parts of them, the second run differs from the first.

    A form is named where forms differ. Holds without any difference.
    """
    first, second = names
    clear: list[str] = []
    left: dict[str, list[str]] = {NONE: [], UNDEFINED: []}
    for headline, held in told_numbers(found, words.metrics):
        verdicts = [(verdict_of(e, words), words.form(e.where)) for e in held]
        for verdict, where in by_form(verdicts):
            if verdict in (BETTER, WORSE):
                does = headline.better if verdict == BETTER else headline.worse
                clear.append(f"{does}{where}")
            elif not headline.part:
                left[verdict].append(f"{headline.what}{where}")
    parts = [f"{second} {in_one_phrase(clear)} than {first}"] if clear else []
    begins = {NONE: "no difference is visible in ", UNDEFINED: "this cannot be compared: "}
    parts += [f"{begins[verdict]}{in_one_phrase(what)}" for verdict, what in left.items() if what]
    text = "; ".join(parts) or "The two runs share no headline number"
    told = told_differences(found, words)
    rest = [is_clear(e) for e in found if e not in told]
    return f"{text if clear else capital(text)}.{others_sentence(rest)}"


def others_sentence(clear: Sequence[bool]) -> str:
    """Say how many of the numbers that no sentence names differ; nothing where none does."""
    many = f"{sum(clear):,} {'differs' if sum(clear) == 1 else 'differ'}"
    others = f"{len(clear):,} other number{'s' * (len(clear) > 1)}"
    return f" Of {others}, {many}." if any(clear) else ""


def by_chance(differences: Sequence[Estimate]) -> str:
    """Return how many clear differences to expect where nothing differs, once it is one or more."""
    ranges = sum(e.low is not None for e in differences)
    expected = round(ranges / 20)
    text = f"Of {ranges:,} differences, about {expected:,} would look clear by chance alone."
    return text if expected else ""


def by_form(told: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what is told of forms, each once, with the forms unless it is told of all."""
    forms: dict[str, list[str]] = {}
    for text, form in told:
        forms.setdefault(text, []).append(form)
    return [(text, f" ({in_one_phrase(own)})" * (len(forms) > 1)) for text, own in forms.items()]


def in_one_phrase(texts: Sequence[str]) -> str:
    """Return texts as "a, b and c"."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if texts[1:] else "".join(texts)


# ---- the sheet

#: by which rule a number is better or worse
RULE = "Better or worse: the paired interval excludes 0. sayso study may find otherwise."
#: differences besides those of headline numbers that are printed: fewer where more else is said
MOST_OTHERS, FEWEST_OTHERS = 8, 2


def differences_table(found: Sequence[Estimate], words: Words, caption: str) -> NumberTable:
    """Return differences, a row for each, with what they show."""
    rows = [
        (
            (f"{words.metrics.named(e.name).column}, {words.of(e.where)}".removesuffix(", "),),
            (e, verdict_of(e, words)),
        )
        for e in found
    ]
    shown = {e.name for e in found}
    named = [m.titled for m in words.metrics.values() if m.symbol and m.name in shown]
    notes = [line("; ".join(named), 160), RULE * any(map(is_clear, found))]
    columns = ("difference", "verdict")
    return NumberTable(
        "", caption, ("",), columns, rows, tuple(filter(None, notes)), written="difference"
    )


def compared_sheet(
    found: Sequence[Estimate],
    sides: tuple[tuple[str, str], tuple[str, str]],
    words: Words,
    notes: Sequence[str] = (),
    sections: Sequence[Section] = (),
) -> Sheet:
    """Return what differs between two runs: the headline numbers, and some of the others.

    ``sides`` are the name of each run and where it lies, ``notes`` warnings.
    """
    (first, one), (second, other) = (tuple(line(text, 200) for text in side) for side in sides)
    head = told_differences(found, words)
    rest = sorted((e for e in found if e not in head), key=is_clear, reverse=True)
    others = [e for e in rest if e.value is None or e.low is not None]
    shown = [*head, *others[: max(FEWEST_OTHERS, MOST_OTHERS - len(notes))]]
    left = [is_clear(e) for e in found if e not in shown]
    table = differences_table(shown, words, f"{second} minus {first}{WITH_INTERVAL}")
    about = [
        f"A = {first} ({one}); B = {second} ({other})" * ((first, second) != (one, other)),
        *table.notes,
        by_chance(found),
        f"--json has {len(left):,} more, {sum(left) or 'none'} of which differ." * bool(left),
    ]
    nothing = "Nothing to compare: the two runs have no numbers in common."
    sentence = compared_sentence(found, words, (first, second)) if found else nothing
    return Sheet(
        table.caption,
        PageOpening(sentence, ""),
        main=table._replace(notes=tuple(filter(None, about))),
        cautions=notes,
        sections=sections,
    )
