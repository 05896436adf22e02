"""How a faithfulness run is shown: the table in the terminal, and the page.

The page has skill by method, words against confidence (one dot for claims with the same two),
quantities by bin of confidence, tables, and the most unfaithful answers with their draws. Charts
return ``None`` where there is nothing to draw.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import msgspec
from rich.console import Console
from rich.table import Table as TerminalTable

from sayso.harmless import block, line
from sayso.judges.rules.accuracy import Form, nearest_contents, nearest_pairs, reader_accuracy
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics.cmfg import LEAST_IN_BIN, THIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.faithfulness.measure import CONSTANT, unread_methods
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.rows import load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.faithfulness.verdicts import RulesContradiction, RulesWording
from sayso.protocols.judged import (
    HowRead,
    PartRead,
    contradictions_part,
    how_read,
    right_part,
    run_writer,
    unknown_part,
    wording_part,
)
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Results,
    Verdict,
    part_of,
)
from sayso.report import terminal
from sayso.report.answers import cards, golds_text
from sayso.report.charts import (
    COLORS,
    DASHES,
    LONG,
    MUTED,
    NARROW,
    SHAPES,
    SHORT,
    ChartRows,
    Drawing,
    Row,
    chart_row,
    data_of,
    finish,
    legend_below,
    legend_of,
    lines_and_points,
    point,
    styled,
    values,
    vertical_line,
)
from sayso.report.corrected import corrected_part
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.numbers import (
    FORMS,
    covers,
    number,
    percent,
    plain_number,
    range_of,
    tight,
    with_interval,
)
from sayso.report.opening import (
    MOST,
    NO_EXAMPLES,
    ChosenExamples,
    HeadlineShare,
    PageOpening,
    example,
    open_page,
    unread_share,
    with_bounds,
)
from sayso.report.page import stored_answers, title, with_answers
from sayso.report.tables import Table, TableCell, signatures
from sayso.storage.run_folder import Manifest, RunFolder


class FaithfulnessResults(Results):
    """The estimates of a run by name, form and method."""

    def methods(self, form: str) -> list[str]:
        """Return the methods of a form that have numbers."""
        return [method for method, _ in self.by("method", "skill", form=form)]


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    return FORMS.get(value) or line(METHOD_LABELS.get(value, value), 60)


def method_label(method: str) -> str:
    """Return what a method is called."""
    return METHOD_LABELS.get(method, method)


#: the two failures by name: words firmer than the model is, and a model surer than it should be
UNSURE = "unsure, but sound sure"
UNAWARE = "unaware of the error"


# ---- how page and terminal begin: one sentence for a reader without statistics, three answers

HEADING = "Do the model's words show how sure it is?"
#: ends "What this does not show:"
NOT_SHOWN = (
    "whether the model is right when it is sure. An answer counts as sure if further draws do not "
    "contradict it, and a model can repeat an error"
)


def heading(estimates: Sequence[Estimate]) -> str:
    """Return the question that the page answers."""
    return HEADING


def opening(estimates: Sequence[Estimate], manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin; see :class:`sayso.protocols.protocol.Report`."""
    results = FaithfulnessResults(estimates)
    counted = _counted(results, _plain_form(results)) if results.forms else []
    later = unread_methods(estimates)
    return open_page(manifest, plain_sentence(results), NOT_SHOWN, later=later, counted=counted)


def _counted(results: FaithfulnessResults, form: str) -> list[HeadlineShare]:
    """Return the share that the plain sentence rests on; claims with too few draws were read."""
    words, read = (_of_first(results, name, form) for name in ("mean_decisiveness", "punting"))
    share = msgspec.structs.replace(words, n=read.n, missing=read.missing)
    return [("its words sound {} sure", f"claims in {FORMS[form]}", share)]


def _plain_form(results: FaithfulnessResults) -> str:
    """Return the form of the plain sentence: the first whose words could be read."""
    every = ((form, _counted(results, form)) for form in results.forms)
    held = (f for f, own in every if own[0][2].value is not None and unread_share(own) <= MOST)
    return next(held, results.forms[0])


def plain_sentence(results: FaithfulnessResults) -> str:
    """Say in one sentence whether the model sounds as sure as it is.

    Of the plain question, and of short answers where there are any. The model sounds surer (or
    less sure) than it is where the intervals of both means lie apart.
    """
    if not results.forms:
        return "This run has no numbers yet."
    form = _plain_form(results)
    words, agreed, skill = (
        _of_first(results, name, form) for name in ("mean_decisiveness", "mean_confidence", "skill")
    )
    if words.value is None or agreed.value is None:
        why = f": {line(skill.problem, 200)}" if skill.problem else ""
        return f"This run cannot say whether the model sounds as sure as it is{why}."
    text = _sounds(words, agreed, skill)
    if len(results.forms) == 1:
        return text
    return f"In {FORMS[form]}, {text[0].lower()}{text[1:]}"


def _of_first(results: FaithfulnessResults, name: str, form: str) -> Estimate:
    return results.get(name, form=form, method=_first(results, form))


#: claims from which it is not their number that is too small, but how they lie
MANY = 50
#: a mean gap that is worth a word; answers from which a mean that never varies needs no interval
VISIBLE, ENOUGH = 0.05, 10


def _sounds(words: Estimate, agreed: Estimate, skill: Estimate) -> str:
    sounds, repeats = percent(words.value, 0), percent(agreed.value, 0)
    again = f"asked again, it agrees with itself {repeats} of the time"
    both = f"its words sound {sounds} sure, and {again}"
    said, held = _ends(words), _ends(agreed)
    if said is None or held is None:
        count = "1 answer is" if words.n == 1 else f"{words.n:,} answers are"
        return f"{count} too few to say whether it sounds as sure as it is: {both}."
    gap = (words.value or 0.0) - (agreed.value or 0.0)
    if said[0] > held[1] and gap > VISIBLE:
        return (
            f"It sounds surer than it is: its words sound {sounds} sure, but asked again, it "
            f"agrees with itself only {repeats} of the time."
        )
    if said[1] < held[0] and gap < -VISIBLE:
        return f"It sounds less sure than it is: its words sound {sounds} sure, but {again}."
    text = f"On average, it sounds about as sure as it is: {both}"
    if skill.problem and skill.problem.startswith(THIN):
        return (
            f"{text}. Too few claims have some levels of confidence to tell whether its words show "
            "which answers are shaky."
        )
    if skill.low is None or skill.value is None or covers(skill, 0) or skill.value <= 0:
        return f"{text}; there is no sign that its words show which answers are shaky."
    return f"{text}; its words partly show which answers are shaky."


def _ends(mean: Estimate) -> tuple[float, float] | None:
    """Return the interval of a mean; the mean twice where no answer differs from it."""
    if mean.low is not None and mean.high is not None:
        return mean.low, mean.high
    if mean.value is None or mean.n < ENOUGH:
        return None
    return mean.value, mean.value


def examples(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> ChosenExamples:
    """Return the answers whose words fit the draws best, worst, and as the median answer's do."""
    results = FaithfulnessResults(estimates)
    form = next(iter(results.forms), "")
    method = _first(results, form) if form else ""
    every = load_rows(stored_run(folder), settings_of_run(manifest, Settings()))
    rows = next((r for r in every if r.form == form and r.method == method), None)
    if rows is None or not rows.used.any():
        return NO_EXAMPLES
    used = rows.take(rows.used)
    gap = abs(used.d - used.c)
    order = sorted(range(len(gap)), key=lambda i: (gap[i], used.c[i], i))
    places = dict.fromkeys([order[0], order[-1], order[(len(order) - 1) // 2]])
    names = ("Words that fit", "Words that do not fit", "A typical answer")
    texts = _texts(folder, {used.answers[at] for at in places})
    questions = {q.id: q for q in folder.read("questions", Question)}
    shown = []
    for what, at in zip(names, places, strict=False):
        question = questions[used.question[at]]
        right = used.right[at]
        shown.append(
            example(
                what,
                question.text,
                golds_text(question),
                texts.get(used.answers[at], ""),
                kind="" if math.isnan(right) else "correct" if right else "incorrect",
                note=f"Its words sound {percent(float(used.d[at]), 0)} sure; {used.j[at]:.0f} of "
                f"{used.k[at]:.0f} draws agree.",
            )
        )
    rule = (
        "Chosen by the distance between how sure the words sound and the share of draws that "
        "agree: the smallest (if tied, the least sure), the largest, and the median."
    )
    return ChosenExamples(shown, rule)


def _texts(folder: RunFolder, wanted: Set[str]) -> dict[str, str]:
    """Return the texts of some answers by id."""
    return {
        g.id: g.text
        for table in folder.tables("generations")
        for g in folder.iter(table, Generation)
        if g.id in wanted
    }


# ---- how well words, contradictions and right answers were read

TITLE = "How well wording and contradictions were read"


def words_read(
    results: FaithfulnessResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well wording, contradictions, right and wrong are read, of the first method."""
    parts: list[PartRead] = []
    if manifest is not None and manifest.judge not in ("", "people"):
        for form in results.forms:
            parts += _form_read(results, manifest, form)
    return how_read(TITLE, manifest, parts, run)


def _form_read(results: FaithfulnessResults, manifest: Manifest, form: str) -> Iterator[PartRead]:
    signature = _of_first(results, "skill", form).signature
    words, pairs = part_of(signature, "dec"), part_of(signature, "con")
    counts = reader_accuracy()
    if counts is not None and words == RulesWording.signature:
        yield wording_part(words, counts)
    elif words:
        yield unknown_part(manifest, words, "reads wording", _checks(manifest, words, "words"))
    if counts is not None and pairs == RulesContradiction.signature:
        near = nearest_pairs(counts, run_writer(manifest))
        yield contradictions_part(pairs, FORMS[form], near)
    elif pairs:
        yield unknown_part(
            manifest, pairs, "sees contradictions", _checks(manifest, pairs, "pairs")
        )
    name = line(manifest.judge_signature or manifest.judge, 60)
    if _of_first(results, "accuracy", form).value is None:
        return
    if manifest.judge != "rules":
        yield unknown_part(manifest, name, "tells right from wrong answers", "right")
        return
    contents = None
    if counts is not None and manifest.judge_signature == SIGNATURE:
        kind: Form = "long" if form == "long" else "short"
        contents = nearest_contents(counts, kind, None, run_writer(manifest))
    yield right_part(name, FORMS[form], contents)


def _checks(manifest: Manifest, reader: str, part: str) -> str:
    """Return the part of the judge's check that is of this reader; "" if another was checked."""
    checked = str(manifest.judge_check.get("words_by", reader))
    same = re.split("[@#]", checked)[0] == re.split("[@#]", reader)[0]
    return part if same else ""


# ---- the terminal

#: a p, corrected over the methods, below which a gain is told as one
LEAST_P = 0.05
#: an interval that holds both 0 and this skill leaves open whether words follow confidence
OPEN = 0.1
#: what a thin bin means for cMFG and skill, and which numbers of two runs can be compared
EQUAL_BINS = (
    "cMFG and skill weigh all bins of confidence equally, and have no interval if a bin holds "
    f"fewer than {LEAST_IN_BIN} claims. To compare runs, use sayso compare: it takes skill from "
    "the bins that both runs fill."
)
HEADS = ("skill", "cMFG", "blind", "right", "words", "conf.", "punts", "n")


def render(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    entities: int | None = None,
    verbose: bool = False,
    run: RunFolder | None = None,
) -> None:
    """Print the table of methods of each form. Holds for any estimates."""
    results = FaithfulnessResults(estimates)
    first = opening(estimates, manifest)
    terminal.print_beginning(console, manifest, first)
    for form in results.forms if not first.void else ():
        terminal.say(console, headline(results, form), "")
    for text in set_apart_sentences(results):
        terminal.say(console, text, "")
    for form in results.forms:
        console.print()
        console.print(method_board(results, form, console))
        for text in faithfulness_sentences(results, form):
            terminal.say(console, text, "")
    terminal.say(
        console,
        "skill: 1 = wording matches confidence, 0 = wording ignores it. blind: cMFG of the same "
        "wordings shuffled. words, conf.: mean decisiveness and confidence. right: accuracy.",
        "dim",
    )
    terminal.say(console, EQUAL_BINS, "dim")
    for text in words_read(results, manifest, run).sentences:
        terminal.say(console, text, "dim")
    if manifest is not None:
        terminal.say(console, terminal.request_counts(manifest), "dim")
    skills = [e for e in results.all if e.name == "skill"]
    terminal.end(console, manifest, first, skills, page)


def summary(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the skill of each form; see :class:`sayso.protocols.protocol.Report`."""
    results = FaithfulnessResults(estimates)
    skill = (
        results.find("skill", form=form, method=_first(results, form)) for form in results.forms
    )
    return [estimate for estimate in skill if estimate is not None]


def main_numbers(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return what the first method's words do, and the skill of the others, by form.

    See :class:`sayso.protocols.protocol.Report`.
    """
    results = FaithfulnessResults(estimates)
    main: list[Estimate | None] = []
    for form in results.forms:
        first = _first(results, form)
        means = ("mean_decisiveness", "mean_confidence", "cmfg", "accuracy", "punting")
        main += [results.find(name, form=form, method=first) for name in ("skill", *means)]
        others = [method for method in results.methods(form) if method != first]
        main += [results.find("skill", form=form, method=method) for method in others]
    return [estimate for estimate in main if estimate is not None]


def method_board(results: FaithfulnessResults, form: str, console: Console) -> TerminalTable:
    """Return the methods of a form, one to a row."""
    table = terminal.plain_table()
    table.add_column(terminal.safe_text(FORMS[form], console, "dim"), no_wrap=True)
    for head in HEADS:
        table.add_column(terminal.safe_text(head, console, "dim"), justify="right", no_wrap=True)
    for method in results.methods(form):
        get = partial(results.get, form=form, method=method)
        skill = get("skill")
        means = ("cmfg", "cmfg_permuted", "accuracy", "mean_decisiveness", "mean_confidence")
        cells = [
            f"{_unsigned_zero(skill)} {range_of(skill)}".strip(),
            *(number(get(name)) for name in means),
            percent(get("punting").value, 0),
            f"{skill.n:,}",
        ]
        name = terminal.safe_text(method_label(method), console, "bold")
        table.add_row(name, *(terminal.safe_text(cell, console) for cell in cells))
    return table


def _unsigned_zero(estimate: Estimate) -> str:
    """Return a number without the sign of a zero that rounding left."""
    return plain_number(None if estimate.value is None else round(estimate.value, 3) + 0.0)


def headline(results: FaithfulnessResults, form: str) -> str:
    """Return the first sentence of a form: how sure it is, how sure it sounds, skill."""
    method = _first(results, form)
    get = partial(results.get, form=form, method=method)
    skill = get("skill")
    if skill.value is None:
        return f"{FORMS[form].capitalize()}: faithfulness could not be measured ({skill.problem})."
    verdict = "its wording partly reflects its confidence"
    if skill.problem == CONSTANT:
        verdict = "its wording does not reflect its confidence: it is always equally decisive"
    elif skill.n >= MANY and skill.problem and skill.problem.startswith(THIN):
        verdict = (
            "too few claims have some levels of confidence to tell whether its wording reflects "
            "its confidence"
        )
    elif covers(skill, 0) or skill.value <= 0 or skill.low is None:
        verdict = "its wording does not reflect its confidence"
        if skill.low is None or (covers(skill, 0) and covers(skill, OPEN)):
            verdict = (
                f"{skill.n:,} claims are too few to tell whether its wording reflects its "
                "confidence"
            )
    sounds, is_sure = (percent(get(f"mean_{x}").value, 0) for x in ("decisiveness", "confidence"))
    said = (
        f"{FORMS[form].capitalize()} ({method_label(method)}): its words are {sounds} decisive on "
        f"average, and its draws agree {is_sure} of the time; {verdict} "
        f"(skill {_unsigned_zero(skill)})."
    )
    return with_bounds(said, () if form == _plain_form(results) else _counted(results, form))


def set_apart_sentences(results: FaithfulnessResults) -> Iterator[str]:
    """Yield how many entities are measured, where some only give examples to methods."""
    e = results.get("entities_set_apart")
    apart, every = int(e.numerator or 0), e.n
    if apart:
        yield (
            f"{every - apart:,} of {every:,} entities are measured; the other {apart:,} "
            f"{'supplies' if apart == 1 else 'supply'} the examples for the prompts."
        )
    elif searched := int(results.get("demonstration_questions").value or 0):
        yield (
            f"The examples for the prompts come from {searched:,} other questions, which are not "
            "measured."
        )


def _first(results: FaithfulnessResults, form: str) -> str:
    """Return the method that the sentences are about: the plain question, else the first."""
    methods = results.methods(form)
    return "vanilla" if "vanilla" in methods else next(iter(methods), "")


def faithfulness_sentences(results: FaithfulnessResults, form: str) -> Iterator[str]:
    """Yield what the table does not show: blind policies, the two failures, gains, thoughts."""
    get = partial(results.get, form=form, method=_first(results, form))
    half, decisive = get("cmfg_half"), get("cmfg_decisive")
    if half.value is not None:
        yield (
            f"In the same bins, always saying 50/50 would score a cMFG of {number(half)}, and "
            f"never hedging {number(decisive)}, so a high cMFG proves nothing by itself."
        )
    yield from _filled(results, form)
    unknown, unsaid = get("unknown_unknown"), get("known_unsaid")
    if unknown.value is not None and unsaid.value is not None:
        place = {"confidence": "low", "decisiveness": "high", "right": "no"}
        method = _first(results, form)
        wrong = results.get("three_way", form=form, method=method, **place).numerator or 0
        of_these = f"; {wrong:,.0f} of these {unsaid.numerator:,.0f} are wrong" if wrong else ""
        yield (
            f"Of {unknown.n:,} claims, {percent(unsaid.value, 0)} are {UNSURE}{of_these}. "
            f"{percent(unknown.value, 0)} are sure, sound sure and are wrong ({UNAWARE})."
        )
    yield from _gains(results, form)
    for method in results.methods(form):
        skill = results.get("skill", form=form, method=method)
        if skill.value is None and skill.problem:
            yield f"{method_label(method)}: {line(skill.problem, 300)}."
        thought = results.get("thought_minus_said", form=form, method=method)
        if thought.value is not None:
            yield (
                f"{method_label(method)}: decisiveness of the last assertion in a thought minus "
                f"that of the answer: {plain_number(thought.value)} ({thought.n:,} answers)."
            )


def _filled(results: FaithfulnessResults, form: str) -> Iterator[str]:
    """Yield how few claims of each method decide a bin, which counts as much as any other."""
    held = []
    for method in results.methods(form):
        thinnest = next(results.each("thinnest_bin", form=form, method=method), None)
        if thinnest is not None and thinnest.value is not None:
            empty = _empty_bins(results, form, method)
            held.append(
                f"{method_label(method)} {thinnest.value:,.0f}{f' ({empty})' if empty else ''}"
            )
    if held:
        yield f"Claims in the thinnest bin of confidence: {', '.join(held)}."


def _empty_bins(results: FaithfulnessResults, form: str, method: str) -> str:
    """Return how many bins of confidence no claim falls into; nothing where each holds some."""
    bins = results.get("filled_bins", form=form, method=method)
    empty = (bins.denominator or 0) - (bins.numerator or 0)
    verb = "is" if empty == 1 else "are"
    return f"{empty:.0f} of {bins.denominator:.0f} bins {verb} empty" if empty else ""


def _gains(results: FaithfulnessResults, form: str) -> Iterator[str]:
    """Yield which methods differ from the plain question in skill, or that none does clearly."""
    first = _first(results, form)
    gains = [(m, results.get("skill_gain", form=form, method=m)) for m in results.methods(form)]
    clear = [(m, e) for m, e in gains if e.value is not None and _is_clear(results, form, m, e)]
    for method, e in clear:
        more = "higher" if (e.value or 0) > 0 else "lower"
        own, vanilla = (
            plain_number(results.get("skill_shared", form=form, method=m).value)
            for m in (method, first)
        )
        yield (
            f"{method_label(method)}: skill {more} than Vanilla's by "
            f"{with_interval(e)}{_p(results, form, method)}; in {_shared(results, form, method)}, "
            f"they score {own} and {vanilla}."
        )
    compared = next((m for m, e in gains if e.value is not None), None)
    if compared is not None and not clear:
        bins = _shared(results, form, compared)
        yield f"In {bins}, no method's skill clearly differs from Vanilla's."


def _shared(results: FaithfulnessResults, form: str, method: str) -> str:
    """Return how many bins of confidence methods are compared in."""
    bins = results.get("shared_bins", form=form, method=method)
    if bins.value is None:
        return "the bins that all methods fill"
    if bins.value == 1:
        return f"the only one of {bins.denominator:.0f} bins that all methods fill"
    return f"the {bins.value:.0f} of {bins.denominator:.0f} bins that all methods fill"


def _is_clear(results: FaithfulnessResults, form: str, method: str, gain: Estimate) -> bool:
    """Tell whether a gain is more than chance: by its corrected p, else by its interval."""
    p = results.get("skill_gain_p", form=form, method=method).value
    if p is not None:
        return p < LEAST_P
    return gain.low is not None and not covers(gain, 0)


def _p(results: FaithfulnessResults, form: str, method: str) -> str:
    """Return the p of a gain in words; empty without one, or for a single comparison."""
    e = results.get("skill_gain_p", form=form, method=method)
    if e.value is None or e.n < 2:
        return ""
    p = "p < .001" if e.value < 0.001 else f"p = {plain_number(e.value)}"
    return f" ({p}, corrected for {e.n} methods)"


# ---- charts by bin of confidence
# A method stands at its mean confidence in a bin, told by shape and shade as well as by color; a
# hollow point rests on fewer than FEW claims.

#: claims below which a bin's point is hollow
FEW = 10


class ReferenceLine(NamedTuple):
    """What a quantity is read against: corners (confidence, value), and where its name stands."""

    name: str
    corners: tuple[tuple[float, float], ...]
    spot: tuple[float, float]


class BinQuantity(NamedTuple):
    """One quantity of a bin: estimates, title, axis, lines, caption; ``low`` ends a fixed axis."""

    name: str
    title: str
    axis: str
    lines: tuple[ReferenceLine, ...]
    low: float | None
    caption: str


_DIAGONAL = ((0.0, 0.0), (1.0, 1.0))
_HOLLOW = (
    "Each point is placed at the mean confidence of its claims. Bars are 95 % intervals, where "
    f"there are enough claims; a hollow point rests on fewer than {FEW} claims."
)
BY_BIN = (
    BinQuantity(
        "bin_decisiveness",
        "Mean decisiveness by confidence",
        "mean decisiveness",
        (ReferenceLine("ideal", _DIAGONAL, (0.07, 0.0)),),
        0.0,
        "The points of a faithful model lie on the dashed line; a flat row of points means that "
        f"wording ignores confidence. {_HOLLOW}",
    ),
    BinQuantity(
        "bin_faithfulness",
        "Faithfulness by confidence",
        "mean faithfulness",
        (
            ReferenceLine("never hedging", _DIAGONAL, (0.09, 0.0)),
            ReferenceLine("always 50/50", ((0.0, 0.5), (0.5, 1.0), (1.0, 0.5)), (0.56, 0.94)),
        ),
        0.0,
        "cMFG is the mean of a method's points. Dashed: what never hedging would score; dotted: "
        f"always saying 50/50. {_HOLLOW}",
    ),
    BinQuantity(
        "bin_skill",
        "Skill by confidence",
        "skill of the bin",
        (ReferenceLine("blind", ((0.0, 0.0), (1.0, 0.0)), (0.0, 0.08)),),
        None,
        "Faithfulness in each bin, relative to the same wordings shuffled: 0 is blind, 1 is "
        f"perfect, and below 0 is worse than blind. {_HOLLOW}",
    ),
)


def bin_rows(results: FaithfulnessResults, form: str, name: str) -> list[Row]:
    """Return each method's bins that hold something: mean confidence, value, interval, count."""
    rows: list[Row] = []
    for method in results.methods(form)[: len(COLORS)]:
        for e in results.each(name, form=form, method=method):
            place = {"form": form, "method": method, "bin": part_of(e.where, "bin")}
            mean = results.get("bin_confidence", **place).value
            if e.value is not None and mean is not None:
                rows.append(point(method_label(method), mean, e))
    return rows


def by_bin(
    results: FaithfulnessResults, form: str, quantity: BinQuantity, width: int
) -> Drawing | None:
    """Draw one quantity of each method over the bins of confidence."""
    points = bin_rows(results, form, quantity.name)
    if not points:
        return None
    ends = values(points, "y", "low", "high")
    low = min(-0.1, *ends) if quantity.low is None else quantity.low
    x = alt.X(
        "x:Q",
        title="confidence: share of draws that agree",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(values=[i / 10 for i in range(0, 11, 1 if width > NARROW else 2)]),
    )
    y = alt.Y(
        "y:Q",
        title=quantity.axis,
        scale=alt.Scale(domain=[max(-1.0, low), 1], nice=False, clamp=True, padding=6),
        axis=alt.Axis(tickCount=6, titleLimit=300, format=".1f"),
    )
    names = list(dict.fromkeys(str(r["series"]) for r in points))
    legend = legend_below(3 if width > NARROW else 2, symbolOpacity=1)
    styles = {
        "color": styled(alt.Color, names, COLORS, legend),
        "shape": styled(alt.Shape, names, SHAPES, legend),
        "strokeDash": styled(alt.StrokeDash, names, DASHES, legend),
    }
    layers = [
        *_reference_lines(quantity, x, y),
        *lines_and_points(points, (x, y), styles, few=FEW, size=52, opacity=0.55),
    ]
    return finish(alt.layer(*layers), width, 340 if width > NARROW else 300)


def _reference_lines(quantity: BinQuantity, x: Any, y: Any) -> Iterator[alt.Chart]:
    for at, (name, corners, spot) in enumerate(quantity.lines):
        line = data_of([{"x": a, "y": b} for a, b in corners])
        text = data_of([{"x": spot[0], "y": spot[1], "name": name}])
        yield (
            alt.Chart(line)
            .mark_line(color=MUTED, strokeDash=[4, 4] if at == 0 else [1, 3])
            .encode(x=x, y=y)
        )
        yield (
            alt.Chart(text)
            .mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=MUTED)
            .encode(x=x, y=y, text="name:N")
        )


# ---- charts of decisiveness against confidence, and of skill

#: bars of a marginal, where they start at the edge of the plot, and how long the longest is
STEPS, START, ROOM = 10, 1.05, 0.2


def claims_scatter(
    results: FaithfulnessResults, form: str, method: str, width: int
) -> Drawing | None:
    """Claims by confidence and decisiveness, with the ideal line and both marginals as bars."""
    points: list[Row] = [
        {
            "x": float(part_of(e.where, "confidence")),
            "y": float(part_of(e.where, "decisiveness")),
            "n": e.value or 0.0,
        }
        for e in results.each("point", form=form, method=method)
    ]
    if not points:
        return None
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1.0], format=".2f")
    scale = alt.Scale(domain=[-0.04, START + ROOM + 0.1], nice=False)
    x = alt.X("x:Q", title="confidence: share of draws that agree", scale=scale, axis=ticks)
    y = alt.Y("y:Q", title="decisiveness of the words", scale=scale, axis=ticks)
    ideal = (
        alt.Chart(data_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color=MUTED, strokeDash=[4, 4])
        .encode(x=x, y=y)
    )
    dots = (
        alt.Chart(data_of(points))
        .mark_point(filled=True, opacity=0.75, color=SHORT if form == "short" else LONG)
        .encode(x=x, y=y, size=alt.Size("n:Q", scale=alt.Scale(range=[14, 420]), legend=None))
    )
    bars, counts = marginals(points)
    rectangles = (
        alt.Chart(data_of(bars))
        .mark_rect(color=MUTED, opacity=0.8)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    texts = alt.Chart(data_of(counts))
    above = texts.transform_filter("datum.side == 'c'").mark_text(
        baseline="bottom", dy=-2, color=MUTED
    )
    right = texts.transform_filter("datum.side == 'd'").mark_text(align="left", dx=3, color=MUTED)
    labels = [text.encode(x=x, y=y, text="n:N") for text in (above, right)]
    layers = alt.layer(ideal, rectangles, *labels, dots)
    return finish(layers, width, 420 if width > NARROW else 340)


def marginals(points: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the bars of both marginals in steps of .1, and the count of the longest of each."""
    bars: list[Row] = []
    counts: list[Row] = []
    for side, key in (("c", "x"), ("d", "y")):
        held = [0.0] * STEPS
        for row in points:
            # as the bins of cMFG: closed on the right, 0 in the first
            at = max(math.ceil(round(float(row[key]) * STEPS, 6)) - 1, 0)
            held[at] += float(row["n"])
        most = max(held)
        for at, count in enumerate(held):
            if not count:
                continue
            low, high = at / STEPS + 0.008, (at + 1) / STEPS - 0.008
            ends = {"x": START, "x2": START + ROOM * count / most, "y": low, "y2": high}
            spot = {"x": ends["x2"], "y": (low + high) / 2}
            if side == "c":
                ends = {"x": low, "x2": high, "y": START, "y2": ends["x2"]}
                spot = {"x": (low + high) / 2, "y": ends["y2"]}
            bars.append(ends)
            if count == most:
                counts.append({**spot, "n": f"{count:,.0f}", "side": side})
    return bars, counts


def skills(results: FaithfulnessResults, width: int) -> Drawing | None:
    """Skill of each method by form, with intervals and a line at 0."""
    rows = [
        chart_row(method_label(method), FORMS[form], e)
        for form in results.forms
        for method in results.methods(form)
        if (e := results.get("skill", form=form, method=method)).value is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(str(r["row"]) for r in rows))
    # skill has no least value: an interval that goes far below 0 is cut at the axis
    least = max(min([-0.1, *values(rows, "low")]), min([-1.0, *values(rows, "value")]))
    scale = alt.Scale(domain=[least, 1], nice=False, zero=False, clamp=True, padding=8)
    x = alt.X(
        "value:Q",
        title="skill (0 = blind, 1 = faithful)",
        scale=scale,
        axis=alt.Axis(tickCount=8, format=".1f"),
    )
    forms = list(dict.fromkeys(str(r["series"]) for r in rows))
    legend = legend_of(forms, width)
    layout = ChartRows(order, forms, list(FORMS.values()), width * 2 // 5, legend=legend)
    layers = alt.layer(vertical_line(0), *layout.points(rows, x))
    return finish(layers, width, layout.height(34))


# ---- tables

#: columns of the table of methods; the first five are the paper's Table 1 and its text
COLUMNS = {
    "cmfg": "cMFG",
    "accuracy": "accuracy",
    "mean_decisiveness": "decisiveness",
    "mean_confidence": "confidence",
    "punting": "punting",
    "skill": "skill",
    "mfg": "MFG",
    "spearman": "rank correlation",
}
#: what cMFG is read against
BASELINES = {
    "cmfg": "this model",
    "cmfg_aspects": "this model, by fact",
    "mfg_aspects": "this model, MFG by fact",
    "cmfg_plain": "this model, plain statements read as 1",
    "cmfg_corrected": "corrected for the noise of k draws",
    "cmfg_permuted": "its wordings, shuffled",
    "cmfg_half": "always 50/50",
    "cmfg_decisive": "never hedging",
    "cmfg_oracle": "words equal to confidence",
    "cmfg_dec0": "this model, punts as 0",
    "over_claim": "words surer than the model",
    "over_hedge": "words less sure",
}
BINS = {
    "bin_faithfulness": "Faithfulness",
    "bin_decisiveness": "Decisiveness",
    "bin_skill": "Skill",
}
#: confidence, decisiveness, right -> what it means
THREE_WAY = {
    ("high", "high", "yes"): "sure, sounds sure, right",
    ("high", "high", "no"): "sure, sounds sure, wrong: unaware of the error",
    ("high", "low", "yes"): "sure, hedges, right",
    ("high", "low", "no"): "sure, hedges, wrong",
    ("low", "high", "yes"): "unsure, but sounds sure, right",
    ("low", "high", "no"): "unsure, but sounds sure, wrong",
    ("low", "low", "yes"): "unsure, hedges, right",
    ("low", "low", "no"): "unsure, hedges, wrong",
}


def _cell(e: Estimate) -> TableCell:
    value = percent(e.value, 0) if e.name == "punting" else number(e)
    return TableCell(value, tight(range_of(e)))


def _head(method: str) -> TableCell:
    return TableCell(METHOD_LABELS.get(method, line(method, 40)), head=True)


def _heads(results: FaithfulnessResults, form: str) -> list[str]:
    return ["", *(method_label(m) for m in results.methods(form))]


def by_method(
    results: FaithfulnessResults, form: str, caption: str, columns: Mapping[str, str]
) -> Table:
    """Return a row of numbers for each method."""
    rows = [
        [_head(m), *(_cell(results.get(name, form=form, method=m)) for name in columns)]
        for m in results.methods(form)
    ]
    return Table(caption, ["", *columns.values()], rows, [])


def table1_of_run(results: FaithfulnessResults, form: str) -> Table:
    """Return methods by scores: the paper's Table 1 for one model, and skill."""
    caption = f"Methods, {FORMS[form]}: value and 95 % interval (sampling error only)"
    withheld = [
        f"{method_label(m)}: skill and cMFG have {line(why, 300)}."
        for m in results.methods(form)
        if (why := results.get("skill", form=form, method=m).problem or "").startswith(THIN)
    ]
    notes = [EQUAL_BINS, *_filled(results, form), *withheld]
    return by_method(results, form, caption, COLUMNS)._replace(notes=notes)


def baselines(results: FaithfulnessResults, form: str) -> Table:
    """Return cMFG with that of blind policies and of the oracle on the same bins."""
    rows = [
        [
            TableCell(meaning, head=True),
            *(_cell(results.get(name, form=form, method=m)) for m in results.methods(form)),
        ]
        for name, meaning in BASELINES.items()
    ]
    caption = "cMFG, and what other policies would score in the same bins"
    return Table(caption, _heads(results, form), rows, [])


def bin_figure(results: FaithfulnessResults, form: str, name: str) -> Table:
    """Return one quantity in each bin of confidence, with its interval and counts."""
    rows = []
    heads: list[str] = []
    for m in results.methods(form):
        every = list(results.each(name, form=form, method=m))
        if not heads:
            heads = [part_of(e.where, "bin").replace("-", "\N{EN DASH}") for e in every]
        rows.append([_head(m), *(_binned(e) for e in every)])
    if any(len(row) != len(heads) + 1 for row in rows):
        rows = []  # levels differ between methods: no one table
    note = (
        "Brackets are 95 % intervals (sampling error only) from resampling entities, where there "
        "are enough claims. n is the number of claims. A dash means that the bin has no claim."
    )
    return Table(f"{BINS[name]} by confidence", ["", *heads], rows, [note])


def _binned(e: Estimate) -> TableCell:
    cell = _cell(e)
    if not e.n:
        return cell._replace(detail="")
    return cell._replace(detail=f"{cell.detail} n\N{NO-BREAK SPACE}{e.n:,}".strip())


def three_way(results: FaithfulnessResults, form: str) -> Table:
    """Return confidence x decisiveness x right, with the two failures by name."""
    share = {
        tuple(part_of(e.where, k) for k in ("method", "confidence", "decisiveness", "right")): e
        for e in results.each("three_way", form=form)
    }
    rows = []
    for key, meaning in THREE_WAY.items() if share else ():
        cells = []
        for m in results.methods(form):
            e = share.get((m, *key), Estimate(""))
            cells.append(TableCell(percent(e.value, 0), f"{e.numerator or 0:.0f}" if e.n else ""))
        rows.append([TableCell(meaning, head=True), *cells])
    caption = "Confidence, words and truth: share of the claims"
    return Table(caption, _heads(results, form), rows, [])


def slice_table(results: FaithfulnessResults, form: str, key: str) -> Table:
    """Return skill and decisiveness by domain, or by fifths of the paragraphs (``position``)."""
    places = (dict(e.where) for e in results.each("skill", form=form))
    rows = []
    for value in dict.fromkeys(place[key] for place in places if key in place):
        cells = []
        for m in results.methods(form):
            where = {"form": form, "method": m, key: value}
            skill, words = results.find("skill", **where), results.get("mean_decisiveness", **where)
            cells.append(
                TableCell(number(skill), f"said {number(words)}, n {skill.n:,}")
                if skill
                else TableCell("–")
            )
        name = line(value, 60) if key == "domain" else f"fifth {value}"
        rows.append([TableCell(name, head=True), *cells])
    caption = "Skill by domain" if key == "domain" else "Skill by place in the paragraph"
    return Table(caption, _heads(results, form), rows, [])


def left_out_reasons(results: FaithfulnessResults) -> Table:
    """Return what is in no mean, by reason."""
    rows = []
    for e in results.each("left_out"):
        place = dict(e.where)
        rows.append(
            [
                TableCell(f"{FORMS[place['form']]}, {method_label(place['method'])}", head=True),
                TableCell(line(place["reason"], 60)),
                TableCell(f"{e.value or 0:,.0f} of {e.n:,}"),
            ]
        )
    return Table("Left out of every mean", ["", "why", "answers or facts"], rows, [])


# ---- several runs in the layout of the paper's Table 1: methods by models

#: what the tables show, in this order
BY_MODEL = {
    "cmfg": "cMFG by method and model",
    "skill": "Skill by method and model",
    "accuracy": "Right, by method and model",
}
#: parts of a signature in which these runs are meant to differ
MEANT = ("model", "methods", "method", "form", "v")


class RunColumn(NamedTuple):
    """One run: the name of its column, its model and data, and its numbers."""

    name: str
    manifest: Manifest
    results: FaithfulnessResults


def read_columns(runs: Sequence[str | Path | RunFolder]) -> list[RunColumn]:
    """Return the numbers of runs of this protocol, each a column.

    Raises :class:`~sayso.records.InputError` for a folder that is no run, is not finished, or is
    of another protocol.
    """
    sides = []
    for run in runs:
        folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
        manifest = folder.read_manifest()
        if "faithfulness" not in manifest.protocols:
            raise InputError(
                f"{folder.path} is a run of {', '.join(manifest.protocols) or 'no protocol'}; "
                "only runs of faithfulness can be shown on its page"
            )
        estimates = [e for table in folder.tables("metrics") for e in folder.read(table, Estimate)]
        if not estimates:
            raise InputError(f"{folder.path} has no numbers yet: repeat its command first")
        sides.append(RunColumn(title(manifest), manifest, FaithfulnessResults(estimates)))
    return sides


def tables(sides: Sequence[RunColumn], form: str) -> list[Table]:
    """Return cMFG, skill and accuracy of a form, methods by models; none for a single run."""
    if len(sides) < 2:
        return []
    heads = ["", *_names(sides)]
    methods = list(dict.fromkeys(m for side in sides for m in side.results.methods(form)))
    every = []
    for name, caption in BY_MODEL.items():
        rows = [
            [_head(m), *(_cell(side.results.get(name, form=form, method=m)) for side in sides)]
            for m in methods
        ]
        every.append(Table(f"{caption}, {FORMS[form]}", heads, rows, []))
    notes = [
        f"These runs differ in more than the model: {d}." for d in setting_differences(sides, form)
    ]
    return [*every[:-1], every[-1]._replace(notes=notes)]


def _names(sides: Sequence[RunColumn]) -> list[str]:
    """Names of columns: the model, its data where they differ, and a number where that is not
    enough to tell two columns apart."""
    several = len({side.manifest.data for side in sides}) > 1
    names: list[str] = []
    for side in sides:
        name = f"{side.name}, {line(side.manifest.data, 60)}" if several else side.name
        again = sum(n == name or n.startswith(f"{name} (") for n in names)
        names.append(f"{name} ({again + 1})" if again else name)
    return names


def setting_differences(sides: Sequence[RunColumn], form: str) -> list[str]:
    """Return the settings besides the model in which runs differ, as their signatures say."""
    values_of: dict[str, list[str]] = {}
    for side in sides:
        skills = side.results.each("skill", form=form)
        parts = dict(next((e.signature for e in skills if e.signature), ())[1:])
        # "shared-1f2e": the hash follows from the methods asked
        parts["prompts"] = parts.get("prompts", "").partition("-")[0]
        for key, value in parts.items():
            values_of.setdefault(key, []).append(value)
    return [
        f"{key} ({', '.join(line(v, 60) for v in dict.fromkeys(values))})"
        for key, values in values_of.items()
        if key not in MEANT and len(set(values)) > 1
    ]


# ---- the most unfaithful answers, each with its draws; only what is shown is read into memory

#: characters of one answer or draw that the page shows, and of the answer in its closed line
SHOWN_CHARACTERS, EXCERPT = 1200, 90
#: letter of a ``-contradict`` verdict -> (sign, words, class of the style sheet)
VERDICT_MARKS = {
    "c": ("✗", "contradicts", "v-incorrect"),
    "n": ("✓", "does not contradict", "v-correct"),
    "e": ("✓", "says the same", "v-correct"),
    "p": ("∅", "asserts nothing", "v-omitted"),
    "?": ("?", "not read", "v-missing"),
    "x": ("?", "no draw", "v-missing"),
}


class ComparedDraw(NamedTuple):
    """One draw: how the comparison came out, and its text."""

    sign: str
    verdict: str
    style: str
    text: str


class Worst(NamedTuple):
    """An answer whose words and confidence are far apart, with its draws to read."""

    method: str
    form: str
    form_name: str
    question: str
    answer: str
    excerpt: str
    gap: str
    sounds: str
    summary: str
    draws: list[ComparedDraw]


def worst(folder: RunFolder, estimates: Iterable[Estimate]) -> list[Worst]:
    """Return the most unfaithful answers of a run with the texts that they stand for."""
    gaps = [(e, dict(e.where)) for e in estimates if e.name == "gap" and e.value is not None]
    if not gaps:
        return []
    questions = {q.id: q for q in folder.read("questions", Question)}
    wanted = {place["answer"] for _, place in gaps}
    about = {place["question"] for _, place in gaps}
    answers: dict[str, Generation] = {}
    drawn: dict[tuple[str, str], dict[int, str]] = {}
    letters: dict[tuple[str, str], list[str]] = {}
    for table in folder.tables("generations"):
        for g in folder.iter(table, Generation):
            if g.id in wanted:
                answers[g.id] = g
            if table == "generations/draws" and g.question in about:
                text = block(g.text[:SHOWN_CHARACTERS])
                text = text if g.problem is None else "(the request failed)"
                drawn.setdefault((g.question, g.method), {})[g.request.sample] = text
    for table in folder.tables("verdicts"):
        if table.endswith("-contradict"):
            for v in folder.iter(table, Verdict):
                answer = v.target.partition("#")[0]
                if answer in wanted and v.raw:
                    letters.setdefault((answer, v.asked), []).append(v.raw)
    every = []
    for e, place in gaps:
        generation, question = answers.get(place["answer"]), questions.get(place["question"])
        if generation is None or question is None:
            continue
        plain_draws = drawn.get((question.id, "plain"), {})
        own = drawn.get((question.id, generation.method), plain_draws)
        raw = _fitting(letters.get((generation.id, question.id), []), e)
        every.append(_worst(e, place, generation, question, own, raw))
    return every


def _fitting(letters: list[str], e: Estimate) -> str:
    """The comparison that has this many contradictions: an answer may assert several things."""
    wrong = round((e.denominator or 0) - (e.numerator or 0))
    return next((raw for raw in letters if raw.count("c") == wrong), letters[0] if letters else "")


def _worst(
    e: Estimate,
    place: Mapping[str, str],
    answer: Generation,
    question: Question,
    draws: dict[int, str],
    raw: str,
) -> Worst:
    gap = e.value or 0.0
    agree, k = e.numerator or 0.0, e.denominator or 0.0
    sure = agree / k if k else 0.0
    marks = [VERDICT_MARKS.get(letter, VERDICT_MARKS["?"]) for letter in raw.ljust(len(draws), "?")]
    return Worst(
        METHOD_LABELS.get(place["method"], line(place["method"], 40)),
        place["form"],
        FORMS[place["form"]],
        line(question.text, 400),
        block(answer.text[:SHOWN_CHARACTERS]),
        line(answer.text, EXCERPT),
        f"+{plain_number(gap)}" if gap > 0 else plain_number(gap),
        "surer than it is" if gap > 0 else "less sure than it is",
        f"Its words are {plain_number(min(1.0, max(0.0, sure + gap)))} decisive; {agree:.0f} of "
        f"{k:.0f} answered draws do not contradict it ({plain_number(sure)})",
        [ComparedDraw(*mark, draws[at]) for mark, at in zip(marks, sorted(draws), strict=False)],
    )


# ---- the page

GLOSSARY = {
    "decisiveness": (
        "the probability (0 to 1) that a reader would give a claim, judging only by its wording."
    ),
    "confidence": "the share of draws of the plain question that do not contradict the claim.",
    "faithfulness": "1 minus the distance between the two.",
    "MFG": "mean faithfulness of the answers that assert something.",
    "cMFG": "faithfulness averaged over bins of confidence of equal width, so that a model that is "
    "usually sure does not win by never hedging.",
    "skill": "(cMFG - blind) / (1 - blind), where blind is the cMFG of the same wordings shuffled: "
    "0 for wording that ignores confidence, 1 for perfect wording.",
    "cMFG*": "cMFG over bins of equal mass, weighted by their width (arXiv 2606.32032). With k "
    "draws there are only k + 1 values of confidence, and ties change the result.",
    "punting": "answers that assert nothing; they count as not right in accuracy and are left out "
    "of every mean.",
    "unsure, but sounds sure": "low confidence but decisive words, whether right or wrong.",
    "unaware of the error": "confident and decisive, but wrong.",
}


def pages(
    folder: RunFolder,
    manifest: Manifest,
    estimates: list[Estimate],
    beside: Sequence[str | Path | RunFolder] = (),
) -> dict[str, str]:
    """Return every file of the page by name: the pages of answers, then ``report.html``."""
    answers = stored_answers(folder, "probe", manifest.settings.get("probe.k"))
    own = context(manifest, estimates, worst(folder, estimates), read_columns(beside), folder)
    first = own["opening"]._replace(examples=examples(folder, manifest, estimates))
    corrected = corrected_part(folder, NUMBERS, part_label)
    own |= {"opening": first, "corrected": corrected}
    return with_answers(__package__, manifest, cards(answers), own)


def figures(folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]) -> list[Figure]:
    """Return every chart of the page; see :class:`sayso.protocols.protocol.Report`."""
    return figures_in(context(manifest, estimates, []))


def context(
    manifest: Manifest,
    estimates: Sequence[Estimate],
    worst: Sequence[Worst],
    others: Sequence[RunColumn] = (),
    run: RunFolder | None = None,
) -> dict[str, Any]:
    """Return what the template of the page needs besides the answers. ``others``: more runs."""
    results = FaithfulnessResults(estimates)
    sides = [RunColumn(title(manifest), manifest, results), *others]
    forms = results.forms
    return {
        "opening": opening(estimates, manifest),
        "headline": [*(headline(results, form) for form in forms), *set_apart_sentences(results)],
        "how_read": words_read(results, manifest, run),
        "warnings": terminal.warned(manifest),
        "skills": figure_of(
            "skill", partial(skills, results), "Skill of each method with intervals."
        ),
        "table1": [table1_of_run(results, form) for form in forms],
        "models": [t for form in forms for t in tables(sides, form)],
        "forms": [_form(results, form) for form in forms],
        "worst_methods": list(dict.fromkeys(w.method for w in worst)),
        "worst": [w for form in forms for w in worst if w.form == form],
        "requests": terminal.request_counts(manifest),
        "judged": terminal.judge_sentences(manifest),
        "definitions": GLOSSARY,
        "left_out": left_out_reasons(results),
        "signatures": signatures(
            (f"skill, {FORMS[form]}, {method_label(m)}", results.get("skill", form=form, method=m))
            for form in forms
            for m in results.methods(form)
        ),
    }


def _form(results: FaithfulnessResults, form: str) -> dict[str, Any]:
    scatters = [
        (
            method_label(m),
            figure_of(
                f"decisiveness against confidence {form} {m}",
                partial(claims_scatter, results, form, m),
                f"Decisiveness against confidence, {method_label(m)}.",
            ),
        )
        for m in results.methods(form)
    ]
    quantities = [
        (
            q.title,
            figure_of(
                f"{q.title} {form}",
                partial(by_bin, results, form, q),
                f"{q.title}, by method, with intervals.",
            ),
            q.caption,
        )
        for q in BY_BIN
    ]
    return {
        "name": form,
        "title": FORMS[form].capitalize(),
        "sentences": list(faithfulness_sentences(results, form)),
        "scatters": [(name, figure) for name, figure in scatters if figure],
        "by_bin": [row for row in quantities if row[1]],
        "bins": [bin_figure(results, form, name) for name in BINS],
        "baselines": baselines(results, form),
        "three_way": three_way(results, form),
        "slices": [slice_table(results, form, key) for key in ("domain", "position")],
    }
