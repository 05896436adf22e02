"""How a self_known run is shown: tables in the terminal, and the page.

The page has factuality along the text, whether the model knows its own errors, and texts to read,
each claim marked by its verdict and by how sure the model is of it. Charts return ``None`` where
there is nothing to draw.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import msgspec
from markupsafe import Markup
from rich.console import Console
from rich.table import Table as TerminalTable

from sayso.harmless import block, line
from sayso.judges.rules.accuracy import reader_accuracy
from sayso.judges.support import RulesSupport
from sayso.protocols.judged import HowRead, PartRead, how_read, support_part, unknown_part
from sayso.protocols.self_known.measure import LEAST_TOPICS, PEOPLE_SAID, cautions, counted_empty
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE, SUPPORT
from sayso.protocols.self_known.settings import ASKED, CLAIM_SCORES, MAIN
from sayso.records import (
    Claim,
    Estimate,
    Generation,
    Passage,
    Question,
    Results,
    Score,
    Sentence,
    Verdict,
    part_of,
)
from sayso.report import terminal
from sayso.report.answers import INLINE_BYTES, SHOWN_CHARACTERS
from sayso.report.charts import (
    COLORS,
    MUTED,
    NARROW,
    SHAPES,
    ChartRows,
    Drawing,
    Row,
    chart_row,
    data_of,
    finish,
    legend_below,
    lines_and_points,
    point,
    styled,
    values,
)
from sayso.report.corrected import NOT_CORRECTED, CorrectedPart, corrected_part
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.numbers import DASH, covers, number, percent, plain_number, range_of, tight
from sayso.report.opening import (
    NO_EXAMPLES,
    ChosenExamples,
    Example,
    HeadlineShare,
    PageOpening,
    example,
    open_page,
    with_bounds,
)
from sayso.report.page import environment, page, page_seed, shared_context
from sayso.report.tables import Table, TableCell, signatures
from sayso.storage.run_folder import Manifest, RunFolder


class Way(NamedTuple):
    """A way of asking a model about its own claims: in a sentence, a table, and next to a claim."""

    sentence: str
    head: str
    short: str


WAYS = {
    "direct": Way("whether the statement is true", ASKED["direct"], "true?"),
    "qa": Way("whether this answers the question", ASKED["qa"], "the answer?"),
    "qa_none": Way(
        "whether this answers the question, with the option none of the above",
        ASKED["qa_none"],
        "or none?",
    ),
}


#: numbers that there are for each way of asking
OF_MODES = (
    *("SK", "SU", "accept_rate", "labeled_factuality", "equation3", "equation3_in_sample"),
    *("rogan_gladen", "overconfidence"),
)
#: what factuality is correlated with
MOVING = {
    "SK": "Self-Known",
    "SU": "Self-Unknown",
    "equation3_in_sample": "Equation 3 of the same claims",
}


class SelfKnownResults(Results):
    """The estimates of a run by name, method, way of asking and part of the text."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        super().__init__(estimates)
        self.methods = self._values("method")
        self.part_names = self._values("part")

    def _values(self, key: str) -> list[str]:
        pairs = (pair for e in self.all for pair in e.where)
        return list(dict.fromkeys(value for name, value in pairs if name == key))

    def parts(self, name: str, method: str, mode: str = MAIN) -> list[Estimate]:
        """Return a number for each part of the text; ``mode``: asked in this way."""
        place = {"mode": mode} if name in OF_MODES else {}
        return [self.get(name, method=method, part=part, **place) for part in self.part_names]

    def flips(self, kind: str, method: str) -> list[Estimate]:
        """Return the flips of a class of claims for each part of the text."""
        place = {"method": method, "class": kind}
        return [self.get("none_flips", part=part, **place) for part in self.part_names]

    def modes(self, method: str) -> list[str]:
        """Return the ways in which claims were asked about, the main one last."""
        return [m for m in WAYS if self.get("accept_rate", method=method, mode=m).value is not None]

    def main_mode(self, method: str) -> str:
        """Return the last way of asking, which is the paper's main one where it was asked."""
        return (self.modes(method) or [MAIN])[-1]

    def scores(self, method: str) -> list[tuple[str, Estimate]]:
        """Return (score of a claim, its AUROC), the best first."""
        own = [(s, e) for s, e in self.by("score", "auroc", method=method) if e.value is not None]
        return sorted(own, key=lambda pair: -(pair[1].value or 0))


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    if key == "with":
        return f"with {MOVING.get(value, line(value, 60))}"
    if key == "over":
        return f"over the {line(value, 60)}"
    return WAYS[value].head if value in WAYS else line(method_name(value), 60)


def method_name(method: str) -> str:
    """Return what a method or system is called on the page."""
    return line(method, 40) or "–"


def labels(methods: Sequence[str]) -> dict[str, str]:
    """Return a name for each method, no two the same."""
    names: dict[str, str] = {}
    for method in methods:
        name = method_name(method)
        names[method] = name if name not in names.values() else f"{name} {len(names) + 1}"
    return names


def share_in_words(e: Estimate) -> str:
    """Return an estimated share; in words where the formula's value is none."""
    if e.value is not None and not 0 <= e.value <= 1:
        return "none (outside 0 to 1)"
    return number(e)


# ---- how page and terminal begin: one sentence for a reader without statistics, three texts

HEADING = "Are the model's long answers right, and does it know where they are not?"
#: ends "What this does not show:"
NOT_SHOWN = (
    "whether an unsupported claim is false: a source that is silent counts against it, and the "
    "checker errs too"
)


def heading(estimates: Sequence[Estimate]) -> str:
    """Return the question that the page answers."""
    return HEADING


def opening(estimates: Sequence[Estimate], manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin; see :class:`sayso.protocols.protocol.Report`."""
    results = SelfKnownResults(estimates)
    sentence, later = plain_sentence(results), cautions(estimates)
    counted = _counted(results, "".join(results.methods[:1]))
    return open_page(manifest, sentence, NOT_SHOWN, later=later, counted=counted)


def _counted(results: SelfKnownResults, method: str) -> list[HeadlineShare]:
    """Return the share that what is said of a method rests on; an empty text has no verdict."""
    rate, empty, score = (
        results.get(name, method=method) for name in ("response_rate", "empty_texts", "factscore")
    )
    lost = int(empty.numerator or 0)
    score = msgspec.structs.replace(score, n=rate.n - lost, missing=rate.missing + lost)
    return [("{} of the claims are supported", "texts", score)]


def plain_sentence(results: SelfKnownResults) -> str:
    """Say in one sentence how much of the long answers is supported, and what the model notices.

    Of the first method or system. A movement along the text is told where its interval is clear
    of 0.
    """
    if not results.methods:
        return "This run has no numbers yet."
    method = results.methods[0]
    whose = "its long answers" if method == "plain" else f"the texts of {method_name(method)}"
    score = results.get("factscore", method=method)
    if score.value is None:
        why = line(score.problem or "no claim has a label", 200)
        return f"This run cannot say how much of {whose} is supported: {why}."
    of = "Of" if score.low is not None else "There are few texts to judge by: of"
    share = "all" if score.value == 1 else percent(score.value, 0)
    text = f"{of} the claims in {whose}, {share} are supported{_falls(results, method)}"
    rejected = results.get("SU", method=method, mode=results.main_mode(method))
    if rejected.value is None:
        return f"{text}."
    accepted = percent(1 - rejected.value, 0)
    return f"{text}; asked about the unsupported ones, the model accepts {accepted} of them."


def _falls(results: SelfKnownResults, method: str) -> str:
    trend = results.get("trend", method=method)
    if trend.low is None or covers(trend, 0):
        return ""
    return f", and {'fewer' if trend.low < 0 else 'more'} of them towards the end of a text"


def examples(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> ChosenExamples:
    """Return the texts with the largest, the smallest and the median share of supported claims."""
    method = next(iter(SelfKnownResults(estimates).methods), "")
    counted = _supported(folder, method)
    if not counted:
        return NO_EXAMPLES
    order = sorted(counted, key=lambda text: (-text.share, -text.rated))
    worst = min(counted, key=lambda text: (text.share, -text.rated))
    chosen = {order[0].id: "The best text"}
    chosen.setdefault(worst.id, "The worst text")
    chosen.setdefault(order[len(order) // 2].id, "A typical text")
    stored = _StoredClaims(folder, set(chosen))
    questions = {q.id: q for q in folder.read("questions", Question)}
    texts = {g.id: g for g in folder.iter(f"generations/{STAGE}", Generation) if g.id in chosen}
    by_id = {text.id: text for text in counted}
    shown = [
        _example(what, by_id[name], texts[name], questions[texts[name].question], stored)
        for name, what in chosen.items()
    ]
    rule = (
        "Chosen by the share of supported claims: the largest, the smallest, and the median; if "
        "tied, the text with the most claims."
    )
    return ChosenExamples(shown, rule)


def _example(
    what: str, counted: Counted, text: Generation, question: Question, stored: _StoredClaims
) -> Example:
    note = f"{counted.supported:,} of {counted.rated:,} claims are supported."
    notes = (
        stored.note(at, claim, text) for at, claim in enumerate(stored.claims[counted.id], start=1)
    )
    wrong = next((one.claim for one in notes if one.label == "NS"), "")
    if wrong:
        note = f"{note} Not supported: “{wrong}”"
    return example(what, question.entity or question.text, "", text.text, note=note)


class Counted(NamedTuple):
    """A text by its id: how many of its claims are supported, of those that are rated."""

    id: str
    supported: int
    rated: int

    @property
    def share(self) -> float:
        """The share of supported claims."""
        return self.supported / self.rated


def _supported(folder: RunFolder, method: str) -> list[Counted]:
    """Return the texts of a method that answer and have a rated claim, in their order."""
    if not folder.has(f"generations/{STAGE}") or not folder.has(f"claims/{STAGE}"):
        return []
    answered = {v.target for v in _verdicts(folder, STAGE) if v.label == RESPONSIVE}
    own = [
        g.id
        for g in folder.iter(f"generations/{STAGE}", Generation)
        if g.method == method and g.id in answered
    ]
    text_of = {c.id: c.generation for c in folder.iter(f"claims/{STAGE}", Claim)}
    labels = {v.target: v.label for v in _verdicts(folder, SUPPORT)}
    labels |= {v.target: v.label for v in _verdicts(folder, PEOPLE) if v.label is not None}
    tally: dict[str, list[int]] = {}
    for claim, label in labels.items():
        if claim in text_of and label in ("S", "NS"):
            counts = tally.setdefault(text_of[claim], [0, 0])
            counts[0] += label == "S"
            counts[1] += 1
    return [Counted(text, *tally[text]) for text in own if text in tally]


# ---- how well claims were checked


def support_read(
    results: SelfKnownResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well the support of claims is read, for the first method or system."""
    title, parts = "How well support was read", list[PartRead]()
    if manifest is None:
        return HowRead(title)
    for method in results.methods:
        score = results.get("factscore", method=method)
        checked = part_of(score.signature, "support")
        # people's labels come first, and the page compares the checker with them
        for by in checked.split("+") if PEOPLE_SAID not in checked else ():
            if by in ("", "nobody"):
                continue
            counts = reader_accuracy() if by == RulesSupport.signature else None
            if counts is not None:
                parts.append(support_part(by, counts))
            else:
                parts.append(unknown_part(manifest, by, "checks claims", ""))
    return how_read(title, manifest, parts, run)


# ---- the terminal: factuality along the text, and what the model knows of it

#: rows of the table by part of the text: (name of the estimate, what it is)
ROWS = (
    ("factuality", "S/(S+NS)"),
    ("unsupported_per_sentence", "NS per sentence"),
    ("decisiveness", "decisiveness"),
    ("SK", "Self-Known *"),
    ("SU", "Self-Unknown *"),
)
NOTE = (
    "S, NS: supported and unsupported claims. All parts of a text have the same number of "
    "sentences. Values are means over the sentences of a part, with 95 % intervals (sampling error "
    f"only) from resampling texts. A value without an interval rests on fewer than {LEAST_TOPICS} "
    "topics or on too few texts, or is at the end of its scale."
)
#: of the rows with a star, by the way of asking
STARRED = {
    "direct": "* Asked whether the statement is true.",
    "qa": "* Asked whether this answers the question.",
    "qa_none": "* Asked with none of the above offered.",
}


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
    """Print a table for each method: by part of the text. Holds for any estimates."""
    results = SelfKnownResults(estimates)
    first = opening(estimates, manifest)
    terminal.print_beginning(console, manifest, first)
    if manifest is not None and (name := questioned_model(manifest)):
        terminal.say(console, f"The model asked about the claims: {name}.", "")
    for method in results.methods if not first.void else ():
        terminal.say(console, headline(results, method), "")
    for method in results.methods:
        console.print()
        console.print(parts_table(results, method, console))
        for text in filter(
            None, (*self_known_sentences(results, method), method_sentence(results, method))
        ):
            terminal.say(console, text, "")
    starred = {
        results.main_mode(method)
        for method in results.methods
        for name in ("SK", "SU")
        for e in results.parts(name, method, results.main_mode(method))
        if e.value is not None
    }
    terminal.say(console, " ".join([NOTE, *(STARRED[mode] for mode in sorted(starred))]), "dim")
    for text in support_read(results, manifest, run).sentences:
        terminal.say(console, text, "dim")
    if manifest is not None and manifest.tokens:
        terminal.say(console, terminal.request_counts(manifest), "dim")
    scores = [e for e in results.all if e.name == "factscore"]
    terminal.end(console, manifest, first, scores, page)


def questioned_model(manifest: Manifest) -> str:
    """Return the model that was asked about the claims of given texts; "" where nobody was."""
    return line(str(manifest.chosen.get("model") or ""), 120) if manifest.data == "texts" else ""


def summary(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return what the first method's texts hold, and what the model recognizes of it.

    See :class:`sayso.protocols.protocol.Report`.
    """
    results = SelfKnownResults(estimates)
    method = next(iter(results.methods), "")
    own = [results.find(name, method=method, mode=MAIN) for name in ("SK", "SU")]
    numbers = [results.find("factscore", method=method), *own]
    return [estimate for estimate in numbers if estimate is not None]


def main_numbers(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return how factual the texts of each method are, and what it recognises of its own errors.

    See :class:`sayso.protocols.protocol.Report`.
    """
    results = SelfKnownResults(estimates)
    names = ("factscore", "factuality_micro", "recall", "response_rate", "claims_per_answer")
    main: list[Estimate | None] = []
    for method in results.methods:
        main += [results.find(name, method=method) for name in (*names, "trend")]
        main += [results.find(name, method=method, mode=MAIN) for name in ("SK", "SU")]
    return [estimate for estimate in main if estimate is not None]


def headline(results: SelfKnownResults, method: str) -> str:
    """Return the first sentence of a method: how factual, and how that moves."""
    score = results.get("factscore", method=method)
    if score.value is None:
        return f"{method}: no claim has a label ({score.problem or 'nothing to count'})."
    said = (
        f"{method}: on average, {percent(score.value, 0)} of the claims in a text are supported"
        f"{movement(results, method)}."
    )
    return with_bounds(said, _counted(results, method) if method != results.methods[0] else ())


def movement(results: SelfKnownResults, method: str) -> str:
    """Return how factuality moves along the text, as the end of a sentence."""
    trend = results.get("trend", method=method)
    if trend.low is None or trend.high is None:
        why = f" ({line(trend.problem, 100)})" if trend.problem else ""
        return f"; whether this changes along the text is unknown{why}"
    moves = "there is no clear trend along the text"
    if not covers(trend, 0):
        falls = "falls" if trend.low < 0 else "rises"
        slope = f"{plain_number(trend.value)} {range_of(trend)}"
        moves = f"the share {falls} along the text (slope {slope})"
    named = zip(results.part_names, results.parts("factuality", method), strict=True)
    filled = [(part, e) for part, e in named if e.value is not None]
    if len(filled) < 2:
        return f"; {moves}"
    ends = []
    for at, word in ((0, "the first"), (-1, "the last")):
        part, e = filled[at]
        place = f"part {part} ({word} with a claim)"
        if part == results.part_names[at]:
            place = f"{word} part"
        ends.append(f"{percent(e.value, 0)} in {place}")
    return f", {' to '.join(ends)}; {moves}"


def parts_table(results: SelfKnownResults, method: str, console: Console) -> TerminalTable:
    """Return what is known of each part of the text, a column each."""
    table, data = terminal.plain_table(), terminal.safe_text
    table.add_column(data(method, console, "bold"), no_wrap=True)
    for part in results.part_names:
        table.add_column(data(part, console, "dim"), justify="right", no_wrap=True)
    for name, label in ROWS:
        own = results.parts(name, method, results.main_mode(method))
        if not any(e.value is not None for e in own):
            continue
        table.add_row(data(label, console), *(data(number(e), console) for e in own))
        if name == "factuality" and any(range_of(e) for e in own):
            table.add_row("", *(data(range_of(e), console, "dim") for e in own))
    return table


def self_known_sentences(results: SelfKnownResults, method: str) -> Iterator[str]:
    """Yield what the table does not show: lengths, self-knowledge, scores, the checker."""
    get = partial(results.get, method=method)
    per, rate = get("claims_per_answer"), get("response_rate")
    if per.value is not None:
        penalized = get("factscore_penalized")
        wanted, f1 = next(results.by("k", "f1_at_k", method=method), ("K", Estimate("f1_at_k")))
        empty = get("empty_texts")
        without = f" ({counted_empty(empty)})" if empty.numerator else ""
        aside = get("kept_answers")
        kept, answering = int(aside.numerator or 0), int(aside.denominator or 0)
        drawn = f", and {kept:,} of these {answering:,} were drawn" if answering else ""
        yield (
            f"{plain_number(per.value, 1)} claims per text; {percent(rate.value, 0)} of the texts "
            f"answer{without}{drawn}. FActScore with length penalty: {number(penalized)}; "
            f"F1@{wanted}: {number(f1)}."
        )
    recall = get("recall")
    if recall.value is not None:
        yield (
            f"Of the requested facts, it states {percent(recall.value, 0)} correctly, hedges "
            f"{percent(get('aspects_hedged').value, 0)} and leaves out "
            f"{percent(get('aspects_omitted').value, 0)}."
        )
    for mode, way in WAYS.items():
        sk, su = get("SK", mode=mode), get("SU", mode=mode)
        if sk.value is None and su.value is None:
            continue
        third, gladen = get("equation3", mode=mode), get("rogan_gladen", mode=mode)
        labels, own = get("labeled_factuality", mode=mode), get("equation3_in_sample", mode=mode)
        plainly = f" ({number(own)} with shares of the same texts)" if own.value is not None else ""
        yield (
            f"Asked {way.sentence}, it accepts {number(sk)} of its supported claims (Self-Known) "
            f"and rejects {number(su)} of its unsupported ones (Self-Unknown). Factuality "
            f"estimated from these: {number(third)} by Equation 3{plainly}, "
            f"{share_in_words(gladen)} by Rogan and Gladen; by the labels it is {number(labels)}."
        )
    if text := third_along(results, method):
        yield text
    ranked = results.scores(method)[:4]
    best = [f"{name} {number(e)} {range_of(e)}".strip() for name, e in ranked]
    if best:
        yield f"AUROC of claim scores for unsupported claims: {', '.join(best)}."
    agreement = get("verifier_agreement")
    if agreement.value is not None:
        bias = get("verifier_bias")
        yield (
            f"The checker agrees with people on {percent(agreement.value, 0)} of the claims; the "
            f"factuality it measures minus that by people's labels is {plain_number(bias.value)} "
            f"{range_of(bias)}."
        )


#: why one reading of Equation 3 does not move along the text
FLAT = "flat by construction, because every part uses the same two shares"


def third_along(results: SelfKnownResults, method: str) -> str:
    """Return both readings of Equation 3 along the text, and its correlation with the labels."""
    if not (modes := results.modes(method)):
        return ""
    mode = modes[-1]

    def along(name: str) -> str:
        return " ".join(number(e) for e in results.parts(name, method, mode))

    own = results.parts("equation3_in_sample", method, mode)
    if not any(e.value is not None for e in own):
        return ""
    where = {"method": method, "mode": mode, "with": "equation3_in_sample"}
    found = [
        (symbol, results.get(name, **where))
        for symbol, name in (("r", "factuality_pearson"), ("ρ", "factuality_spearman"))
    ]
    linked = ", ".join(
        f"{symbol} {plain_number(e.value)} {range_of(e)}".strip()
        for symbol, e in found
        if e.value is not None
    )
    text = (
        f"Equation 3 along the text ({WAYS[mode].head}): {along('equation3_in_sample')} with each "
        f"part's own Self-Known and Self-Unknown, as in the paper; {along('equation3')} with those "
        f"of other texts ({FLAT}). Labels: {along('labeled_factuality')}"
    )
    places = found[0][1].n
    if not linked:
        return f"{text}."
    return f"{text}; they correlate with the first reading: {linked}, over {places} parts."


# ---- what passages, or a revision, change: method minus plain on the same topics

#: (name, its mode, what it is, digits), in order
GAINS = (
    ("factscore", "", "FActScore", 2),
    ("factuality_micro", "", "all claims pooled", 2),
    ("claims_per_answer", "", "claims per answer", 1),
    ("trend", "", "slope along the text", 2),
    ("SK", MAIN, "Self-Known, none of the above offered", 2),
    ("SU", MAIN, "Self-Unknown, none of the above offered", 2),
    ("SK", "direct", "Self-Known, is it true?", 2),
    ("SU", "direct", "Self-Unknown, is it true?", 2),
)
#: how many of these the terminal shows
SHOWN_GAINS = 6


def _gain(results: SelfKnownResults, method: str, name: str, mode: str) -> Estimate:
    place = {"mode": mode} if mode else {}
    return results.get(f"{name}_minus_plain", method=method, **place)


def _change(e: Estimate, digits: int) -> str:
    text = plain_number(e.value, digits)
    return f"+{text}" if e.value is not None and float(f"{e.value:.{digits}f}") > 0 else text


def method_sentence(results: SelfKnownResults, method: str) -> str:
    """Return how a method differs from plain, or nothing."""
    parts = []
    for name, mode, label, digits in GAINS[:SHOWN_GAINS]:
        e = _gain(results, method, name, mode)
        if e.value is not None and not (name in MOVES and e.low is None):
            parts.append(f"{label} {_change(e, digits)} {range_of(e, digits)}".strip())
    return f"{method} minus plain, on the same topics: {'; '.join(parts)}." if parts else ""


def gains_table(results: SelfKnownResults) -> Table:
    """Return the differences, a column for each method that has them."""
    methods = [m for m in results.methods if _gain(results, m, "factscore", "").n]
    rows = []
    for name, mode, label, digits in GAINS:
        every = [_gain(results, m, name, mode) for m in methods]
        cells = [
            TableCell(DASH)
            if name in MOVES and e.low is None
            else TableCell(_change(e, digits), tight(range_of(e, digits)))
            for e in every
        ]
        rows.append(row(label, cells))
    title = "Minus plain, on the same topics: difference and 95 % interval (sampling error only)"
    return filled_table(title, [labels(results.methods)[m] for m in methods], rows)


# ---- charts along the text, one panel a model, with and without passages
# Methods or systems stand side by side within a part of the text, told by shape as well as by
# color; a hollow point rests on fewer than FEW sentences or claims.

#: sentences or claims below which a point is hollow
FEW = 10
#: how far the axis of means of counts goes at most, in multiples of the highest of them
MOST_ROOM = 2.5
_HOLLOW = (
    "Bars are 95 % intervals from resampling texts; a point without one rests on too few texts, or "
    f"is at the end of its scale. A hollow point rests on fewer than {FEW} sentences or claims. "
    f"Points are joined if the trend has an interval, which needs {LEAST_TOPICS} topics."
)
#: panel of a model: (estimate, what it is); factuality and its opposite first
PANEL = {
    "factuality": "factuality",
    "unsupported_share": "unsupported share",
    "SK": "Self-Known",
    "SU": "Self-Unknown",
}
#: what is compared with and without passages: (estimate, what it is, setting of its place)
PAIRED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("factscore", "claims supported", {}),
    ("recall", "facts given correctly", {}),
    ("SK", "Self-Known", {"mode": MAIN}),
    ("SU", "Self-Unknown", {"mode": MAIN}),
    ("accept_rate", "own claims accepted", {"mode": MAIN}),
)


class PlottedQuantity(NamedTuple):
    """One quantity by part: its estimates, the axis, title, caption; ``share``: an axis of 0 to 1.

    ``variant`` are estimates drawn dotted.
    """

    name: str
    axis: str
    title: str = ""
    caption: str = ""
    share: bool = True
    variant: str = ""
    height: int = 320


CURVES = (
    PlottedQuantity(
        "factuality",
        "supported, of S and NS",
        "Factuality along the text",
        "Share of supported claims among supported and unsupported ones. Dotted: only texts with a "
        "sentence in every part, so that short texts do not shape the curve; it is not drawn if "
        f"all texts have one. {_HOLLOW}",
        variant="factuality_long",
    ),
    PlottedQuantity(
        "unsupported_per_sentence",
        "unsupported claims per sentence",
        "Unsupported claims per sentence",
        f"The number of errors instead of their share. {_HOLLOW} A bar that reaches the top of the "
        "chart continues above it.",
        share=False,
        height=240,
    ),
    PlottedQuantity(
        "decisiveness",
        "decisiveness of the words",
        "Hedging along the text",
        "How sure the wording is; 1 means no hedging. A model that knows where it errs hedges more "
        f"there. {_HOLLOW}",
        height=200,
    ),
)


def _rows(series: Sequence[tuple[str, Sequence[Estimate]]]) -> list[Row]:
    """Return a row for each value: part (from 1), shifted so that series do not overlap."""
    rows: list[Row] = []
    for at, (label, own) in enumerate(series):
        shift = 0.5 * ((at + 0.5) / len(series) - 0.5)
        rows += [
            point(label, part + shift, e)
            for part, e in enumerate(own, start=1)
            if e.value is not None
        ]
    return rows


def curves_figure(
    results: SelfKnownResults, quantity: PlottedQuantity, width: int
) -> Drawing | None:
    """Draw one quantity along the text for every method; dotted its variant, where it differs."""
    methods = results.methods[: len(COLORS)]
    names = labels(methods)
    points, variant = (
        _rows([(names[m], results.parts(name, m)) for m in methods]) if name else []
        for name in (quantity.name, quantity.variant)
    )
    joined = [names[m] for m in methods if _moves(results, m)]
    variant = [r for r in variant if r["series"] in joined]
    drawn = Series(points, variant, list(names.values()), joined)
    return _drawn(drawn, quantity, len(results.part_names), width)


def _moves(results: SelfKnownResults, method: str) -> bool:
    """Whether enough topics were measured for a movement along the text to be told."""
    return results.get("trend", method=method).low is not None


def panel(results: SelfKnownResults, method: str, width: int) -> Drawing | None:
    """Draw factuality, unsupported share, SK and SU of one method along the text."""
    series = [(label, results.parts(name, method)) for name, label in PANEL.items()]
    if not any(e.value is not None for _, own in series[2:] for e in own):
        return None  # nobody asked the model: the curves above say the rest
    quantity = PlottedQuantity("", "share")
    names = list(PANEL.values())
    drawn = Series(_rows(series), [], names, names if _moves(results, method) else [])
    return _drawn(drawn, quantity, len(results.part_names), width)


#: the two readings of Equation 3, and what they are held against
READINGS = {
    "labeled_factuality": "labels",
    "equation3_in_sample": "Equation 3, each part's own",
    "equation3": "Equation 3, other texts",
}


def recognition(results: SelfKnownResults, method: str) -> list[tuple[str, Figure, str]]:
    """Return the charts of what a model recognizes along the text, with titles and captions.

    Self-Known and Self-Unknown in every way of asking, what "none of the above" takes back, and
    both readings of Equation 3 beside the labels.
    """
    modes, name = results.modes(method), labels(results.methods)[method]
    if not modes:
        return []
    drawn = []
    for number_of, title, what in (
        ("SK", "Self-Known in each way of asking", "Supported claims that the model accepts."),
        ("SU", "Self-Unknown in each way of asking", "Unsupported claims that it rejects."),
    ):
        series = [(WAYS[m].head, results.parts(number_of, method, m)) for m in modes]
        drawn.append((title, series, what))
    drawn.append(
        (
            "Taken back once none of the above is offered",
            [(kind, results.flips(kind, method)) for kind in ("supported", "unsupported")],
            "Claims that the model accepts as an answer, but no longer once none of the above is "
            "an option: it was unsure of them. Values are shares of all claims of the class.",
        )
    )
    mode = modes[-1]
    drawn.append(
        (
            "Two readings of Equation 3",
            [(label, results.parts(key, method, mode)) for key, label in READINGS.items()],
            f"Asked: {WAYS[mode].head} With each part's own Self-Known and Self-Unknown, as in the "
            "paper, the estimate uses the labels that it is meant to predict. With those of other "
            f"texts it is {FLAT}. Labels: share of supported claims.",
        )
    )
    return [
        (title, figure, caption)
        for title, series, caption in drawn
        if (
            figure := figure_of(
                f"{title} {method}", partial(_along, results, method, series), f"{title}, {name}."
            )
        )
    ]


def _along(
    results: SelfKnownResults,
    method: str,
    series: Sequence[tuple[str, Sequence[Estimate]]],
    width: int,
) -> Drawing | None:
    """Draw series of shares along the text, joined where a movement can be told."""
    names = [name for name, _ in series]
    drawn = Series(_rows(series), [], names, names if _moves(results, method) else [])
    return _drawn(drawn, PlottedQuantity("", "share", height=240), len(results.part_names), width)


class Series(NamedTuple):
    """Points of series by part, a dotted variant, the names of all and of those with a line."""

    points: list[Row]
    variant: list[Row]
    names: list[str]
    joined: list[str]


def _drawn(series: Series, quantity: PlottedQuantity, parts: int, width: int) -> Drawing | None:
    points, variant, names, joined = series
    if not points:
        return None
    top = 1.0
    if not quantity.share:  # a mean of counts has no upper end: a wide interval is cut
        highest = max([0.1, *values(points, "y")])
        top = min(MOST_ROOM * highest, 1.05 * max([highest, *values(points, "high")]))
    step = max(1, -(-parts // (12 if width > NARROW else 6)))
    x = alt.X(
        "x:Q",
        title=f"part of the text, of {parts} equal in sentences",
        scale=alt.Scale(domain=[0.6, parts + 0.4], nice=False),
        axis=alt.Axis(values=list(range(1, parts + 1, step)), format="d"),
    )
    y = alt.Y(
        "y:Q",
        title=quantity.axis,
        scale=alt.Scale(
            domain=[0, top], nice=False, clamp=True, padding=4 if quantity.share else 0
        ),
        axis=alt.Axis(tickCount=6, titleLimit=300, format=".1f"),
    )
    present = [name for name in names if any(r["series"] == name for r in points)]
    legend = legend_below(
        6 if width > NARROW else 2,
        symbolOpacity=1,
        labelLimit=240 if width > NARROW else 120,
    )
    color, shape = (
        styled(channel, present, styles, legend)
        for channel, styles in ((alt.Color, COLORS), (alt.Shape, SHAPES))
    )
    styles = {"color": color, "shape": shape}
    lines, *rest = lines_and_points(points, (x, y), styles, few=FEW, size=58, opacity=0.6)
    of_joined = alt.FieldOneOfPredicate(field="series", oneOf=joined)
    layers = [lines.transform_filter(of_joined), *rest] if joined else rest
    if variant:
        dotted = alt.Chart(data_of(variant))
        dotted = dotted.mark_line(strokeWidth=1.8, strokeDash=[2, 3])
        layers.insert(0, dotted.encode(x=x, y=y, color=color))
    return finish(alt.layer(*layers), width, min(quantity.height, width))


def paired(results: SelfKnownResults, width: int) -> Drawing | None:
    """Draw what passages before the prompt change: a row each, two points joined by a line."""
    methods, names = ("plain", "retrieval"), ["without passages", "with passages"]
    if not set(methods) <= set(results.methods):
        return None
    points: list[Row] = []
    joined: list[Row] = []
    for name, label, place in PAIRED:
        pair = [results.get(name, method=method, **place) for method in methods]
        if any(e.value is None for e in pair):
            continue
        points += [chart_row(label, series, e) for series, e in zip(names, pair, strict=True)]
        joined.append({"row": label, "value": pair[0].value, "to": pair[1].value})
    if not points:
        return None
    order = [str(r["row"]) for r in joined]
    x = alt.X(
        "value:Q",
        title="share",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(tickCount=6, format=".1f"),
    )
    layout = ChartRows(order, names, names, width * 2 // 5, 0.6, legend_below())
    layers = alt.layer(
        alt.Chart(data_of(joined))
        .mark_rule(color=MUTED, strokeDash=[3, 3])
        .encode(x=x, x2="to:Q", y=layout.y),
        *layout.points(points, x),
    )
    return finish(layers, width, layout.height(44))


# ---- tables of whole answers and of parts of the text

NBSP = "\N{NO-BREAK SPACE}"
#: rows of the table of averages: (estimate, what it is, digits, whether it is a percentage)
AVERAGES = (
    ("factscore", "FActScore: mean over answers", 2, False),
    ("factscore_penalized", "with length penalty", 2, False),
    ("f1_at_k", "F1@K", 2, False),
    ("factuality_micro", "all claims pooled", 2, False),
    ("precision_at_length", "precision at equal length", 2, False),
    ("trend", "slope along the text", 2, False),
    ("last_minus_first", "last part minus first", 2, False),
    ("claims_per_answer", "claims per answer", 1, False),
    ("claims_per_sentence", "claims per sentence", 1, False),
    ("sentences_per_answer", "sentences per answer", 1, False),
    ("irrelevant_share", "irrelevant claims", 1, True),
    ("response_rate", "texts that answer the prompt", 1, True),
    ("kept_answers", "texts drawn, of those that answer", 1, True),
    ("recall", "requested facts stated correctly", 1, True),
    ("aspects_hedged", "requested facts hedged", 1, True),
    ("aspects_omitted", "requested facts left out", 1, True),
)
#: what is told of a movement along the text only with an interval
MOVES = ("trend", "last_minus_first")
#: names whose slice says what they rest on: its key, and what the table calls it
PLACED = {"f1_at_k": ("k", "K"), "precision_at_length": ("first", "first")}
TABLES_BY_PART = (
    ("factuality", "S/(S+NS), mean over sentences", 2),
    ("factuality_by_sentence", "mean over sentences", 2),
    ("factuality_by_generation", "mean over answers", 2),
    ("factuality_by_micro", "claims pooled", 2),
    ("factuality_long", "only answers that reach every part", 2),
    ("supported_per_sentence", "supported per sentence", 2),
    ("unsupported_per_sentence", "unsupported per sentence", 2),
    ("irrelevant_per_sentence", "irrelevant per sentence", 2),
    ("unsupported_share", "unsupported, of S, NS and IR", 2),
    ("irrelevant_share", "irrelevant, of S, NS and IR", 2),
    ("decisiveness", "decisiveness of the words", 2),
    ("SK", "Self-Known", 2),
    ("SU", "Self-Unknown", 2),
    ("accept_rate", "own claims accepted", 2),
    ("sentences", "sentences", 0),
)


def number_cell(
    e: Estimate, digits: int = 2, share: bool = False, count: bool = False
) -> TableCell:
    """Return a number with its interval, and where labels are missing what they could change."""
    text = percent(e.value, digits) if share else plain_number(e.value, digits)
    span = ""
    if e.value is not None and e.low is not None and e.high is not None:
        ends = [percent(v, digits) if share else plain_number(v, digits) for v in (e.low, e.high)]
        span = f"[{ends[0].removesuffix(' %')}, {ends[1].removesuffix(' %')}]"
    known = e.bound_low is not None and e.bound_high is not None
    if e.missing and known:
        span += (
            f" bounds {plain_number(e.bound_low, digits)} to {plain_number(e.bound_high, digits)}"
        )
    if count and e.n:
        span += f" n{NBSP}{e.n:,}"
    return TableCell(text, span.strip().replace(", ", f",{NBSP}"))


def row(label: str, cells: Iterable[TableCell]) -> list[TableCell]:
    """Return a row of a table."""
    return [TableCell(label, head=True), *cells]


def heads(results: SelfKnownResults) -> list[str]:
    """Return what the columns of methods are called."""
    return list(labels(results.methods).values())


def filled_table(
    title: str, heads: list[str], rows: list[list[TableCell]], notes: list[str] | None = None
) -> Table:
    """Return a table without the rows in which every cell is a dash."""
    some = [row for row in rows if any(c.text not in (DASH, "") for c in row[1:])]
    return Table(title, ["", *heads], some, (notes or []) if some else [])


def averages(results: SelfKnownResults) -> Table:
    """Return the numbers of whole answers, a column for each method."""
    rows = []
    for name, label, digits, share in AVERAGES:
        cells = []
        for method in results.methods:
            if name not in PLACED:
                e = results.get(name, method=method)
                bare = name in MOVES and (e.low is None or e.high is None)
                cells.append(TableCell(DASH) if bare else number_cell(e, digits, share))
                continue
            key, word = PLACED[name]
            place, e = next(results.by(key, name, method=method), ("", Estimate("")))
            own = number_cell(e, digits, share)
            if e.value is not None:
                own = own._replace(detail=f"{own.detail} {word}{NBSP}{line(place, 12)}".strip())
            cells.append(own)
        rows.append(row(label, cells))
    return filled_table(
        "Whole answers: value and 95 % interval (sampling error only)",
        heads(results),
        rows,
        _notes(results),
    )


def _notes(results: SelfKnownResults) -> list[str]:
    """Return what must be known of the averages."""
    notes = []
    if any(results.get("factscore", method=m).missing for m in results.methods):
        notes.append(
            "Bounds: FActScore if all claims without a label were unsupported, or all supported."
        )
    for method, name in labels(results.methods).items():
        trend = results.get("trend", method=method)
        if trend.value is not None and trend.low is None and trend.problem:
            notes.append(f"{name}: {line(trend.problem, 100)}.")
    wanted = {k for m in results.methods for k, _ in results.by("k", "f1_at_k", method=m)}
    if len(wanted) > 1:
        notes.append(
            "F1@K cannot be compared here, because each K is the median of that method's own "
            "supported claims. Set --k to compare."
        )
    return notes


def by_part(results: SelfKnownResults, method: str, average: str) -> Table:
    """Return everything that is known of each part of the text."""
    rows = []
    for name, label, digits in TABLES_BY_PART:
        if name == "factuality":
            means = {"generation": "mean over answers", "micro": "claims pooled"}
            label = f"S/(S+NS), {means.get(average, 'mean over sentences')}"
        cells = [
            number_cell(e, digits, count=name in ("factuality", "SK", "SU"))
            for e in results.parts(name, method)
        ]
        rows.append(row(label, cells))
    return filled_table(
        f"By part of the text: {labels(results.methods)[method]}",
        [line(part, 12) for part in results.part_names],
        rows,
    )


def correlations(results: SelfKnownResults) -> Table:
    """Return how labeled factuality moves with what the model recognizes, along the text.

    In the last way of asking of each method.
    """
    names, rows = labels(results.methods), []
    mode_of = {m: modes[-1] for m in results.methods if (modes := results.modes(m))}
    columns = [(names[m], {"method": m, "mode": mode}) for m, mode in mode_of.items()]
    for curve, label in MOVING.items():
        for symbol, name in (("r", "factuality_pearson"), ("ρ", "factuality_spearman")):
            every = [results.get(name, **place, **{"with": curve}) for _, place in columns]
            rows.append(row(f"{label}, {symbol}", (_correlation(e) for e in every)))
    note = (
        "r: Pearson, ρ: Spearman, with one point per part. With so few points, even a "
        "large correlation may be luck. Factuality is by the labels of the claims asked about. A "
        "dash: fewer than three points, or one of the two values is constant."
    )
    title = "Labeled factuality and what the model recognizes, across the parts of the text"
    return filled_table(title, [head for head, _ in columns], rows, [note])


def _correlation(e: Estimate) -> TableCell:
    if e.value is None:
        return TableCell(DASH)
    return TableCell(plain_number(e.value), f"{tight(range_of(e))} {e.n}{NBSP}points".strip())


def unlabeled(results: SelfKnownResults) -> Table:
    """Return which claims have no label, and why."""
    names = labels(results.methods)
    rows = []
    for method in results.methods:
        lost = list(results.by("problem", "claims_without_label", method=method))
        astray = results.get("claims_without_sentence", method=method)
        lost += [("in no sentence", astray)] if astray.value is not None else []
        rows += [
            [
                TableCell(names[method], line(why, 60), head=True),
                TableCell(f"{e.numerator or 0:,.0f} of {e.n:,}"),
            ]
            for why, e in lost
        ]
    return filled_table("Claims without a label", ["claims"], rows)


def domains_table(results: SelfKnownResults) -> Table:
    """Return FActScore by domain, or by how rare the subject is."""
    held = {m: dict(results.by("domain", "factscore", method=m)) for m in results.methods}
    every = list(dict.fromkeys(d for own in held.values() for d in own))
    rows = [
        row(
            line(d, 60),
            (number_cell(held[m].get(d, Estimate("")), count=True) for m in results.methods),
        )
        for d in every[:100]
    ]
    return filled_table("FActScore by kind of subject (n: answers)", heads(results), rows)


# ---- tables of what a model says about its own claims, of scores of claims, of the checker

MODE_ROWS = {
    "SK": "Self-Known: supported claims accepted",
    "SU": "Self-Unknown: unsupported claims rejected",
    "accept_rate": "claims accepted",
    "labeled_factuality": "factuality by the labels",
    "equation3": "factuality by Equation 3, shares of other texts",
    "equation3_in_sample": "factuality by Equation 3, shares of the same texts",
    "rogan_gladen": "factuality by Rogan and Gladen",
    "overconfidence": "gap: accepted minus supported",
    "order_flips": "answers that change with the order of options",
    "not_understood": "question not treated as a choice",
}
DROPPED = (
    ("dropped_factscore", "factscore", "claims supported"),
    ("dropped_claims_kept", "", "claims kept"),
    ("dropped_recall", "recall", "facts given correctly"),
)
VERIFIED = (
    ("verifier_agreement", "agreement"),
    ("verifier_kappa", "kappa"),
    ("verifier_precision", "precision: right when it says supported"),
    ("verifier_recall", "recall: finds what people call supported"),
    ("verifier_false_support", "calls supported what people call unsupported"),
)


def _rejected(own: Mapping[str, Estimate]) -> str:
    """Return what share of its claims of each class it rejects: 1 - SK, and SU."""
    shares = []
    if "SK" in own and own["SK"].value is not None:
        shares.append(f"{percent(1 - own['SK'].value, 0)} of the supported claims (1 − SK)")
    if "SU" in own and own["SU"].value is not None:
        shares.append(f"{percent(own['SU'].value, 0)} of the unsupported ones (SU)")
    return " and ".join(shares)


def self_knowledge_table(results: SelfKnownResults, method: str) -> Table:
    """Return what the model says about its claims, a column for each way of asking."""
    numbers = {
        mode: {name: results.get(name, method=method, mode=mode) for name in MODE_ROWS}
        for mode in WAYS
    }
    numbers = {
        mode: own for mode, own in numbers.items() if any(e.n or e.missing for e in own.values())
    }
    rows = []
    for name, label in MODE_ROWS.items():
        share = name in ("order_flips", "not_understood")
        cells = [number_cell(own[name], 0 if share else 2, share) for own in numbers.values()]
        if name == "rogan_gladen":
            cells = [TableCell(share_in_words(own[name])) for own in numbers.values()]
        rows.append(row(label, cells))
    rates = [own["accept_rate"] for own in numbers.values()]
    if any(e.missing for e in rates):
        counts = (TableCell(f"{e.missing:,} of {e.n + e.missing:,}") for e in rates)
        rows.append(row("claims without a readable answer", counts))
    flips = ", ".join(
        f"{percent(e.value, 0)} of the {line(label, 20)} claims"
        for label, e in results.by("class", "none_flips", method=method)
        if e.value is not None
    )
    notes = []
    rejected = _rejected(numbers.get(MAIN, {}))
    if rejected:
        notes.append(f"Offered none of the above, it rejects {rejected}.")
    if flips:
        notes.append(
            f"Accepted without that option and rejected with it: {flips}. Other claims change the "
            "other way, so the share accepted may still rise."
        )
    if all(own["rogan_gladen"].value is None for own in numbers.values()):
        notes.append(
            "Rogan and Gladen's estimate has no value: the model accepts supported and unsupported "
            "claims alike, or there are too few texts."
        )
    notes.append(
        "Equation 3 with shares of other texts, and Rogan and Gladen, are cross-fitted: they use "
        "Self-Known and Self-Unknown of other texts. With shares of the same texts, as in the "
        "paper, Equation 3 only restates those two."
    )
    return filled_table(
        f"Three ways of asking: {labels(results.methods)[method]}",
        [WAYS[mode].head for mode in numbers],
        rows,
        notes,
    )


def recognition_by_part(results: SelfKnownResults, method: str) -> Table:
    """Return what the model recognizes in each part of the text, in every way of asking."""
    rows = []
    for mode in results.modes(method):
        for name, label in (("SK", "Self-Known"), ("SU", "Self-Unknown")):
            cells = [number_cell(e, count=True) for e in results.parts(name, method, mode)]
            rows.append(row(f"{label}, {WAYS[mode].head}", cells))
    for kind in ("supported", "unsupported"):
        cells = [number_cell(e, count=True) for e in results.flips(kind, method)]
        rows.append(row(f"taken back with none of the above, {kind}", cells))
    for mode in results.modes(method)[-1:]:
        for name, label in READINGS.items():
            cells = [number_cell(e) for e in results.parts(name, method, mode)]
            rows.append(row(label, cells))
    return filled_table(
        f"What it recognizes, by part of the text: {labels(results.methods)[method]}",
        [line(part, 12) for part in results.part_names],
        rows,
        [f"Equation 3 with the shares of other texts is {FLAT}."] if rows else [],
    )


def gap(results: SelfKnownResults, method: str) -> str:
    """Return one sentence on why Equation 3 misses the labels, or nothing."""
    for mode in reversed(WAYS):
        get = partial(results.get, method=method, mode=mode)
        third, truth, rate = get("equation3"), get("labeled_factuality"), get("accept_rate")
        if third.value is None or truth.value is None or rate.value is None:
            continue
        off = rate.value - truth.value
        side = "too many" if off > 0 else "too few"
        why = (
            f"here it accepts {percent(rate.value, 0)}, but {percent(truth.value, 0)} are true, "
            f"{abs(100 * off):.0f} points {side}"
        )
        return (
            f"{labels(results.methods)[method]}: Equation 3 gives {plain_number(third.value)}, the "
            f"labels {plain_number(truth.value)}. It assumes that a model accepts as many of its "
            f"claims as are true; {why}."
        )
    return ""


def remedy(results: SelfKnownResults, method: str) -> Table:
    """Return what dropping every claim that the model rejects would do."""
    modes = [m for m in WAYS if results.get("dropped_claims_kept", method=method, mode=m).n]
    rows = []
    for name, before, label in DROPPED:
        own = number_cell(results.get(before, method=method)) if before else TableCell("1.00")
        cells = [number_cell(results.get(name, method=method, mode=m)) for m in modes]
        if any(c.text != DASH for c in cells):
            rows.append(row(label, [own, *cells]))
    columns = ["as written", *(WAYS[m].head for m in modes)]
    return filled_table(
        f"Rejected claims dropped: {labels(results.methods)[method]}", columns, rows
    )


def scores_table(results: SelfKnownResults, method: str) -> Table:
    """Return each score's AUROC for unsupported claims, of whole texts and of their parts."""
    rows = []
    for name, e in results.scores(method):
        own = (results.get("auroc", method=method, score=name, part=p) for p in results.part_names)
        cells = [number_cell(e, count=True), *map(number_cell, own)]
        rows.append([TableCell(line(name, 40), CLAIM_SCORES.get(name, ""), head=True), *cells])
    missing = {
        line(score, 40): line(e.problem or "", 100)
        for score, e in results.by("score", "auroc", method=method)
        if e.value is None
    }
    notes = [f"No value: {name} ({why})." for name, why in missing.items()]
    columns = ["AUROC", *(f"part {line(part, 12)}" for part in results.part_names)]
    return filled_table(f"Claim scores: {labels(results.methods)[method]}", columns, rows, notes)


def checker_table(results: SelfKnownResults) -> list[Table]:
    """Return the checker against people: agreement, and its bias where it matters."""

    def of_methods(label: str, name: str, **place: str) -> list[TableCell]:
        own = (results.get(name, method=method, **place) for method in results.methods)
        return row(label, (number_cell(e, count=True) for e in own))

    thirds = [
        of_methods(f"{word}: {third}", "verifier_bias", **{key: third})
        for key, word in (("claims", "number of claims"), ("factuality", "people's factuality"))
        for third in ("low", "middle", "high")
    ]
    parts = [of_methods(f"part {line(p, 12)}", "verifier_bias", part=p) for p in results.part_names]
    note = (
        "A bias that changes along the text distorts the curve. Below 0, the checker is too strict."
    )
    return [
        filled_table(
            "The checker against people",
            heads(results),
            [of_methods(label, name) for name, label in VERIFIED],
        ),
        filled_table(
            "Its bias: the share it calls supported minus people's",
            heads(results),
            [of_methods("all claims", "verifier_bias"), *parts, *thirds],
            [note],
        ),
    ]


# ---- a long text cut into groups of overlapping claims, ready to be marked on the page
# What marks a claim is told by line style and sign, never by color alone.

#: characters of a passage that the page shows
PASSAGE = 400
#: label -> (sign, words, class of the style sheet)
CLAIM_MARKS = {
    "S": ("✓", "supported", "c-s"),
    "NS": ("✗", "not supported", "c-ns"),
    "IR": ("○", "irrelevant", "c-ir"),
    "": ("?", "no label", "c-no"),
}
#: how lines are stacked below the words: a wave last, since it reaches into a line below it
STACKED = ("S", "IR", "", "NS")
#: steps of shading
LEVELS = 10


class Note(NamedTuple):
    """One claim of a text: its number from 1, verdict, place, and what is known of it."""

    number: int
    label: str
    claim: str
    place: str
    self_said: str
    sure: float | None
    level: int
    passages: tuple[str, ...]
    titles: tuple[str, ...]
    remark: str

    @property
    def mark(self) -> tuple[str, str, str]:
        """Sign, words and class of the verdict."""
        return CLAIM_MARKS[self.label]

    @property
    def shown_sure(self) -> str:
        """How sure the model is, as a number or a dash."""
        return plain_number(self.sure) if self.sure is not None else DASH


class ClaimPiece(NamedTuple):
    """A stretch of text under the same claims: classes of their verdicts, and a level of shade."""

    text: str
    styles: tuple[str, ...] = ()
    level: int = -1


class ClaimGroup(NamedTuple):
    """Claims whose words overlap, with all they rest on; no notes: text without a claim."""

    pieces: list[ClaimPiece]
    notes: list[Note]
    passages: list[tuple[str, str]]


def claim_groups(
    text: str,
    notes: Sequence[Note],
    spans: Sequence[tuple[int, int] | None],
    passages: dict[str, Passage],
) -> list[ClaimGroup]:
    """Cut a text into runs of overlapping claims and what lies between; the pieces join to it."""
    shown = min(len(text), SHOWN_CHARACTERS)
    placed = sorted(
        (span[0], min(span[1], shown), at)
        for at, span in enumerate(spans)
        if span is not None and span[0] < shown
    )
    runs: list[list[tuple[int, int, int]]] = []
    end = -1
    for span in placed:
        if not runs or span[0] >= end:
            runs.append([])
            end = -1
        runs[-1].append(span)
        end = max(end, span[1])
    every: list[ClaimGroup] = []
    at = 0
    for run in runs:
        start, end = run[0][0], max(s[1] for s in run)
        if at < start:
            every.append(ClaimGroup([ClaimPiece(block(text[at:start]))], [], []))
        own = [notes[n] for _, _, n in sorted(run, key=lambda s: s[2])]
        cited = dict.fromkeys(p for note in own for p in note.passages)
        every.append(
            ClaimGroup(
                list(_pieces(text, run, notes)),
                own,
                [
                    (line(passages[p].title, 120), line(passages[p].text, PASSAGE))
                    for p in cited
                    if p in passages
                ],
            )
        )
        at = end
    if at < shown:
        every.append(ClaimGroup([ClaimPiece(block(text[at:shown]))], [], []))
    return every


def _pieces(
    text: str, run: Sequence[tuple[int, int, int]], notes: Sequence[Note]
) -> Iterator[ClaimPiece]:
    borders = sorted({border for start, end, _ in run for border in (start, end)})
    for start, end in pairwise(borders):
        over = [notes[n] for first, last, n in run if first <= start and end <= last]
        labels = {note.label for note in over}
        level = min((note.level for note in over if note.level >= 0), default=-1)
        yield ClaimPiece(
            block(text[start:end]),
            tuple(CLAIM_MARKS[label][2] for label in STACKED if label in labels),
            level,
        )


# ---- long texts to read
# Topics are drawn with a seed, each with the texts of every method, so that they can be compared;
# only what is drawn is read into memory.

#: at most so many texts on the page, claims of a text, passages of a claim, characters of a claim
MOST_TEXTS, MOST_CLAIMS, MOST_PASSAGES, CLAIM = 60, 80, 2, 300
#: scores that say how sure the model is, the one to use first; and what they are
SURE = {"span_nll": "probability of its words", "p_true": "P(true), asked of the claim"}


class ShownText(NamedTuple):
    """One text ready to be read; ``counts`` has (sign, words, class, how many) of each verdict."""

    method: str
    topic: str
    prompt: str
    excerpt: str
    errors: str
    groups: list[ClaimGroup]
    notes: list[Note]
    counts: list[tuple[str, str, str, int]]
    cut: int
    more: int


class DrawnTexts(NamedTuple):
    """The drawn texts, how many there are in all, and what shades them."""

    drawn: list[ShownText]
    total: int
    shade: str


NO_TEXTS = DrawnTexts([], 0, "")


def read_drawn(folder: RunFolder, seed: int = 0, most: int = MOST_TEXTS) -> DrawnTexts:
    """Draw texts of a run that answer, and return them with all that is known of their claims."""
    table = f"generations/{STAGE}"
    if not folder.has(table):
        return NO_TEXTS
    questions = {q.id: q for q in folder.read("questions", Question)}
    answered = {v.target for v in _verdicts(folder, STAGE) if v.label == RESPONSIVE}
    by_topic: dict[str, list[str]] = defaultdict(list)
    for g in folder.iter(table, Generation):
        if g.id in answered and g.question in questions:
            q = questions[g.question]
            by_topic[q.entity or q.text].append(g.id)
    wanted = drawn_texts(by_topic, seed, most)
    order = {target: at for at, target in enumerate(wanted)}
    generations = [g for g in folder.iter(table, Generation) if g.id in order]
    generations.sort(key=lambda g: order[g.id])
    stored = _StoredClaims(folder, set(order))
    return DrawnTexts(
        [stored.text(g, questions[g.question]) for g in generations],
        sum(map(len, by_topic.values())),
        SURE.get(stored.shade, ""),
    )


def drawn_texts(by_topic: dict[str, list[str]], seed: int, most: int) -> list[str]:
    """Return the ids of texts of topics in a seeded order, whole topics first, up to ``most``."""
    topics = list(by_topic)
    random.Random(seed).shuffle(topics)
    return [target for topic in topics for target in by_topic[topic]][:most]


def _verdicts(folder: RunFolder, stage: str) -> Iterable[Verdict]:
    table = f"verdicts/{stage}"
    return folder.iter(table, Verdict) if folder.has(table) else ()


class _StoredClaims:
    """What is stored about the claims of some texts."""

    def __init__(self, folder: RunFolder, wanted: set[str]) -> None:
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        self.sentences: dict[str, dict[int, Sentence]] = defaultdict(dict)
        if folder.has(f"sentences/{STAGE}"):
            for s in folder.iter(f"sentences/{STAGE}", Sentence):
                if s.generation in wanted:
                    self.sentences[s.generation][s.number] = s
        if folder.has(f"claims/{STAGE}"):
            for c in folder.iter(f"claims/{STAGE}", Claim):
                if c.generation in wanted:
                    self.claims[c.generation].append(c)
        mine = {c.id for own in self.claims.values() for c in own}
        self.people = {v.target: v for v in _verdicts(folder, PEOPLE) if v.target in mine}
        self.checked = {v.target: v for v in _verdicts(folder, SUPPORT) if v.target in mine}
        self.selves = {
            mode: {v.target: v for v in _verdicts(folder, f"self-{mode}") if v.target in mine}
            for mode in WAYS
        }
        cited = {p for v in self.checked.values() for p in v.evidence[:MOST_PASSAGES]}
        self.passages: dict[str, Passage] = {}
        if folder.has(f"passages/{STAGE}"):
            for p in folder.iter(f"passages/{STAGE}", Passage):
                if p.id in cited:
                    self.passages[p.id] = p
        values: dict[str, dict[str, float]] = defaultdict(dict)
        if folder.has("scores/claims"):
            for score in folder.iter("scores/claims", Score):
                if score.method in SURE and score.target in mine and score.value is not None:
                    values[score.method][score.target] = score.value
        self.shade = next((name for name in SURE if values[name]), "")
        self.unsure = values[self.shade] if self.shade else {}
        self.ranked = sorted(sure for c in self.unsure if (sure := self.sure(c)) is not None)

    def sure(self, claim: str) -> float | None:
        """Return how sure the model is of a claim, 0..1."""
        value = self.unsure.get(claim)
        if value is None or math.isnan(value):
            return None
        sure = math.exp(-value) if self.shade == "span_nll" else 1 - value
        return min(1.0, max(0.0, sure))

    def level(self, sure: float | None) -> int:
        """Return the step of shading, by rank among the claims shown: equal ones are equal."""
        if sure is None:
            return -1
        low, high = bisect_left(self.ranked, sure), bisect_right(self.ranked, sure)
        return min(LEVELS - 1, (low + high) * LEVELS // (2 * len(self.ranked)))

    def text(self, g: Generation, q: Question) -> ShownText:
        """Return one text with its claims marked."""
        own = self.claims[g.id]
        notes = [self.note(at, c, g) for at, c in enumerate(own[:MOST_CLAIMS], start=1)]
        spans = [self.span(c, g) for c in own[:MOST_CLAIMS]]
        counts = [
            (*CLAIM_MARKS[label], number)
            for label in CLAIM_MARKS
            if (number := sum(n.label == label for n in notes))
        ]
        return ShownText(
            line(g.method, 60),
            line(q.entity or q.text, 200),
            line(f"{q.context}\n\n{q.text}" if q.context else q.text, 400),
            line(g.text, 90),
            "some" if any(n.label == "NS" for n in notes) else "none",
            claim_groups(g.text, notes, spans, self.passages),
            notes,
            counts,
            max(0, len(g.text) - SHOWN_CHARACTERS),
            len(own) - len(notes),
        )

    def span(self, c: Claim, g: Generation) -> tuple[int, int] | None:
        """Return where a claim stands in its text: its words, else its sentence, else nowhere."""
        s = self.sentences[g.id].get(c.sentence)
        for start, end in ((c.start, c.end), (s.start, s.end) if s else (0, 0)):
            if 0 <= start < end <= len(g.text):
                return start, end
        return None

    def note(self, number: int, c: Claim, g: Generation) -> Note:
        """Return what is known of a claim."""
        person, checker = self.people.get(c.id), self.checked.get(c.id)
        cited = tuple((checker.evidence if checker else ())[:MOST_PASSAGES])
        verdict = person if person is not None and person.label is not None else checker
        verdict = verdict or person
        label = verdict.label if verdict is not None and verdict.label in CLAIM_MARKS else ""
        remarks = []
        if not label:
            remarks.append((verdict.problem if verdict else None) or "unchecked")
        if person and checker and verdict is person:
            read = CLAIM_MARKS[checker.label if checker.label in CLAIM_MARKS else ""][1]
            remarks.append(f"people; the checker: {read}")
        if self.span(c, g) is None:
            remarks.append("its words are not in the text")
        every, sure = self.sentences[g.id], self.sure(c.id)
        place = f"sentence {c.sentence} of {len(every)}" if c.sentence in every else "no sentence"
        return Note(
            number,
            label or "",
            line(c.text, CLAIM),
            place,
            self.answers(c.id),
            sure,
            self.level(sure),
            cited,
            tuple(line(self.passages[p].title, 120) for p in cited if p in self.passages),
            line("; ".join(remarks), 200),
        )

    def answers(self, claim: str) -> str:
        """Return what the model said about a claim in each way of asking."""
        parts = []
        for mode, way in WAYS.items():
            v = self.selves[mode].get(claim)
            if v is None:
                continue
            words = {"yes": "yes", "no": "no", "none": "none of these"}
            answer = words.get(v.label or "", line(v.problem or "unread", 40))
            weight = f" ({plain_number(v.number)})" if v.number is not None else ""
            parts.append(f"{way.short} {answer}{weight}")
        return " · ".join(parts)


# ---- the page

#: what is only there if the model was asked of its claims
NEEDS_ASKING = ("SK", "SU", "accept_rate")
GLOSSARY = {
    "supported, S": "a claim that a passage of the knowledge source, or a person, confirms.",
    "unsupported, NS": "a claim that nothing confirms. It need not be false: a source that is "
    "silent counts against it.",
    "irrelevant, IR": "a claim that has nothing to do with the subject; it is left out of "
    "factuality.",
    "factuality": "S/(S+NS).",
    "part of the text": "sentence i of n is at position i/n; each part includes its right edge. A "
    "text with fewer sentences than parts has no sentence in the first part.",
    "trend": "slope of factuality from the beginning (0) to the end (1) of a text. Its p-value "
    "comes from shuffling the sentences of each text.",
    "Self-Known": "share of the supported claims that the model, asked again, accepts.",
    "Self-Unknown": "share of the unsupported claims that it rejects.",
    "Equation 3": "(1 - SU) / (2 - SU - SK): the factuality if the model accepted as many claims "
    "as are true. It falls when Self-Unknown rises, so it does not measure quality. SK and SU come "
    "from other texts, or, as in the paper, from the same claims (then each part has its own).",
    "taken back": "share of a class of claims that the model accepts as the answer to a question, "
    "but no longer when none of the above is also offered.",
    "Rogan and Gladen": "(r + SU - 1) / (SK + SU - 1), from the observed accept rate r. It may lie "
    "outside 0 to 1, and has no value for a model that accepts true and false claims alike.",
    "length penalty": "exp(1 - 10/n) for an answer of fewer than 10 rated claims, after FActScore.",
    "F1@K": (
        "F1 of precision and recall, as in SAFE. Recall is the number of supported claims divided "
        "by K, at most 1."
    ),
}


def pages(
    folder: RunFolder,
    manifest: Manifest,
    estimates: list[Estimate],
    beside: Sequence[str | Path | RunFolder] = (),
) -> dict[str, str]:
    """Return the page of a run: one file, with as many texts as fit."""
    texts = read_drawn(folder, page_seed(manifest))
    shown = examples(folder, manifest, estimates)
    corrected = corrected_part(folder, NUMBERS, part_label)
    return {"report.html": long_texts(manifest, estimates, texts, shown, corrected)}


def figures(folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]) -> list[Figure]:
    """Return every chart of the page; see :class:`sayso.protocols.protocol.Report`."""
    return figures_in(context(manifest, estimates, NO_TEXTS))


def long_texts(
    manifest: Manifest,
    estimates: Sequence[Estimate],
    texts: DrawnTexts = NO_TEXTS,
    examples: ChosenExamples = NO_EXAMPLES,
    corrected: CorrectedPart = NOT_CORRECTED,
) -> str:
    """Return the page with some texts to read; it begins with ``examples``."""
    template = environment(__package__).get_template("text.html.j2")
    rendered: list[Markup] = []
    room = INLINE_BYTES
    for text in texts.drawn:
        markup = Markup(template.render(text=text))
        room -= len(markup.encode("utf-8", "replace"))
        if room < 0 and rendered:
            break
        rendered.append(markup)
    shared = {**shared_context(manifest), **context(manifest, estimates, texts)}
    first = opening(estimates, manifest)._replace(examples=examples)
    shared |= {"rendered": rendered, "opening": first, "corrected": corrected}
    return page("page.html.j2", shared, __package__)


def context(manifest: Manifest, estimates: Sequence[Estimate], texts: DrawnTexts) -> dict[str, Any]:
    """Return what the template needs besides the rendered texts."""
    results = SelfKnownResults(estimates)
    names = labels(results.methods)
    average = str(manifest.settings.get("average", "sentence"))
    shown = {note.label for text in texts.drawn for note in text.notes}
    return {
        "subject": line(manifest.model, 120) if manifest.data == "texts" else "",
        "headline": [line(headline(results, m), 400) for m in results.methods],
        "how_read": support_read(results, manifest),
        "warnings": terminal.warned(manifest),
        "methods": list(names.values()),
        "undrawn": max(0, len(results.methods) - len(COLORS)),
        "by_part": _curves(results),
        "parts": [by_part(results, m, average) for m in results.methods],
        "averages": averages(results),
        "gains": gains_table(results),
        "domains": domains_table(results),
        "unlabeled": unlabeled(results),
        "panels": _panels(results, names),
        "recognition": [
            (names[m], charts, recognition_by_part(results, m))
            for m in results.methods
            if (charts := recognition(results, m))
        ],
        "bars": _HOLLOW,
        "questioned_model": questioned_model(manifest),
        "correlations": correlations(results),
        "paired": figure_of(
            "with and without passages",
            partial(paired, results),
            "With and without passages, with 95 % intervals.",
        ),
        "asking": [
            (self_knowledge_table(results, m), gap(results, m), remedy(results, m))
            for m in results.methods
        ],
        "scores": [scores_table(results, m) for m in results.methods],
        "verifier": checker_table(results),
        "requests": terminal.request_counts(manifest) if manifest.tokens else "",
        "judged": terminal.judge_sentences(manifest),
        "definitions": GLOSSARY,
        "knows": any(e.name in NEEDS_ASKING and (e.n or e.missing) for e in results.all),
        "scored": any(e.name == "auroc" for e in results.all),
        "checked": any(e.name == "verifier_agreement" for e in results.all),
        "total_texts": texts.total,
        "text_methods": list(dict.fromkeys(t.method for t in texts.drawn)),
        "marks": [mark for label, mark in CLAIM_MARKS.items() if label in shown],
        "shade": texts.shade,
        "signatures": signatures(
            (f"FActScore, {names[m]}", results.get("factscore", method=m)) for m in results.methods
        ),
    }


def _panels(results: SelfKnownResults, names: Mapping[str, str]) -> list[tuple[str, Figure]]:
    """Return the chart of each method; ``names`` are what methods are called."""
    drawn = []
    for method in results.methods:
        label = f"Self-knowledge, {names[method]}."
        figure = figure_of(f"self-knowledge {method}", partial(panel, results, method), label)
        if figure is not None:
            drawn.append((names[method], figure))
    return drawn


def _curves(results: SelfKnownResults) -> list[tuple[str, Figure, str]]:
    drawn = []
    for quantity in CURVES:
        label = f"{quantity.title}, with intervals; numbers below."
        figure = figure_of(
            f"{quantity.title} by part", partial(curves_figure, results, quantity), label
        )
        if figure is not None:
            drawn.append((quantity.title, figure, quantity.caption))
    return drawn
