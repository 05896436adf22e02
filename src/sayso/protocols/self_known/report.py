"""How a self_known run is shown: sentences, tables, and charts along the text.

Sentences claim no more than the intervals allow. Texts to be read are in :mod:`.marked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import altair as alt
from msgspec.structs import replace

from sayso.harmless import line
from sayso.judges.rules.accuracy import reader_accuracy
from sayso.judges.support import RulesSupport
from sayso.protocols.judged import PartRead, how_read, support_part, unknown_part
from sayso.protocols.self_known.marked import text_examples, texts_section
from sayso.protocols.self_known.measure import LEAST_TOPICS, PEOPLE_SAID
from sayso.protocols.self_known.measure import cautions as measured_cautions
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.settings import ASKED, CLAIM_SCORES, MAIN, MODES
from sayso.records import (
    Estimate,
    Results,
    part_of,
)
from sayso.report.charts import (
    COLORS,
    NARROW,
    SHAPES,
    Drawing,
    data_of,
    finish,
    legend_below,
    lines_and_points,
    point,
    styled,
)
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import DASH, covers, percent, with_interval_only
from sayso.report.opening import (
    SOME,
    HeadlineShare,
    PageOpening,
    open_page,
    unread_share,
)
from sayso.report.page import page_seed
from sayso.report.sheet import (
    Chart,
    HowRead,
    Section,
    Sheet,
    StoredAnswers,
    Tile,
    missing_section,
)
from sayso.storage.run_folder import Manifest, RunFolder

#: parts of a slice, and a row: the name of a number with its part of the slice
Place = Mapping[str, str]
Row = tuple[str, Place]
#: what a model says of its own claims
OPINIONS = ("SK", "SU")
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
        self.methods = self.values("method")
        self.part_names = self.values("part")
        rates = {part_of(e.where, "mode") for e in self.each("accept_rate")}
        #: ways in which claims were asked about; the last is the paper's main one, where it was
        self.modes = [mode for mode in MODES if mode in rates]
        self.mode = (self.modes or [MAIN])[-1]

    def values(self, key: str) -> list[str]:
        """Return the values of a part of slices."""
        pairs = (pair for e in self.all for pair in e.where)
        return list(dict.fromkeys(value for name, value in pairs if name == key))

    def parts(self, name: str, method: str, **place: str) -> list[Estimate]:
        """Return a number for each part of the text."""
        return [self.get(name, method=method, part=part, **place) for part in self.part_names]

    @property
    def columns(self) -> dict[str, Place]:
        """Every method by what it is called, no two the same."""
        return {name: {"method": method} for method, name in labels(self.methods).items()}

    @property
    def asked(self) -> dict[str, Place]:
        """The methods whose claims a model was asked about."""
        modes = [{"mode": mode} for mode in self.modes]
        return {
            name: place
            for name, place in self.columns.items()
            if any(self.find("accept_rate", **place, **mode) for mode in modes)
        }

    @property
    def parts_named(self) -> dict[str, Place]:
        """The parts of the text by what they are called."""
        return {f"part {line(part, 12)}": {"part": part} for part in self.part_names}


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    if key == "with":
        return f"with {MOVING.get(value, line(value, 60))}"
    if key == "over":
        return f"over the {line(value, 60)}"
    return ASKED[value] if value in ASKED else line(method_name(value), 60)


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


# ---- how page and terminal begin: one sentence for a reader without statistics, three texts

HEADING = "Are the model's long answers right, and does it know where they are not?"
#: of texts from files
OF_TEXTS = "Where are these long texts wrong?"
#: ends "What this does not show:"
NOT_SHOWN = (
    "whether an unsupported claim is false: a source that is silent counts against it, and the "
    "checker errs too"
)


def questioned_model(manifest: Manifest | None) -> str:
    """Return the model that was asked about the claims of given texts; "" where nobody was."""
    if manifest is None or manifest.data != "texts":
        return ""
    return line(str(manifest.chosen.get("model") or ""), 120)


def opening(results: SelfKnownResults, manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin."""
    sentence = plain_sentence(results, manifest)
    counted = _counted(results, "".join(results.methods[:1]))
    later = measured_cautions(results.all)
    return open_page(manifest, sentence, NOT_SHOWN, later=later, counted=counted)


def _counted(results: SelfKnownResults, method: str) -> list[HeadlineShare]:
    """Return the share that what is said of a method rests on; an empty text has no verdict."""
    rate, empty, score = (
        results.get(name, method=method) for name in ("response_rate", "empty_texts", "factscore")
    )
    lost = int(empty.numerator or 0)
    score = replace(score, n=rate.n - lost, missing=rate.missing + lost)
    return [("{} of the claims are supported", "texts", score)]


def plain_sentence(results: SelfKnownResults, manifest: Manifest | None = None) -> str:
    """Say in one sentence how much of the long answers is supported, and what the model notices.

    Of the first method or system. A movement along the text is told where its interval is clear
    of 0, and that the model accepts more of its supported claims where both intervals allow it.
    """
    if not results.methods:
        return "This run has no numbers yet."
    method = results.methods[0]
    whose = "its long answers" if method == "plain" else f"the texts of {method_name(method)}"
    if method == "plain" and manifest is not None and manifest.data == "texts":
        whose = "these texts"
    score = results.get("factscore", method=method)
    if score.value is None:
        why = line(score.problem or "no claim has a label", 200)
        return f"This run cannot say how much of {whose} is supported: {why}."
    of = "Of" if score.low is not None else "There are few texts to judge by: of"
    share = "all" if score.value == 1 else percent(score.value, 0)
    text = f"{of} the claims in {whose}, {share} are supported{_falls(results, method)}"
    noticed = _notices(results, method, questioned_model(manifest))
    return f"{text}{noticed}."


def _falls(results: SelfKnownResults, method: str) -> str:
    trend = results.get("trend", method=method)
    if trend.low is None or covers(trend, 0):
        return ""
    return f", and {'fewer' if trend.low < 0 else 'more'} of them towards the end of a text"


def _notices(results: SelfKnownResults, method: str, who: str) -> str:
    """Say how many claims of each class the model accepts, and whether these shares differ."""
    place = {"method": method, "mode": results.mode}
    known, unknown = results.get("SK", **place), results.get("SU", **place)
    if unknown.value is None:
        return ""
    accepts = f"; asked about them, {who} accepts" if who else "; asked again, the model accepts"
    wrong = f"{percent(1 - unknown.value, 0)} of the unsupported ones"
    if known.value is None:
        return f"{accepts} {wrong}"
    both = f"{accepts} {percent(known.value, 0)} of those and {wrong}"
    if None in (known.low, known.high, unknown.low, unknown.high):
        return both
    if (known.low or 0) > 1 - (unknown.low or 0):
        return f"{both}, so it notices some of the errors"
    wrongly = (known.high or 0) < 1 - (unknown.high or 0)
    return f"{both}: {'more of the wrong ones' if wrongly else 'no clear difference'}"


# ---- how well claims were checked, and what must be known of the numbers


def support_read(
    results: SelfKnownResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well the support of claims is read."""
    parts: list[PartRead] = []
    for method in results.methods if manifest is not None else ():
        checked = part_of(results.get("factscore", method=method).signature, "support")
        # people's labels come first, and the page compares the checker with them
        for by in checked.split("+") if PEOPLE_SAID not in checked else ():
            counts = reader_accuracy() if by == RulesSupport.signature else None
            if counts is not None:
                parts.append(support_part(by, counts))
            elif manifest is not None and by not in ("", "nobody"):
                parts.append(unknown_part(manifest, by, "checks claims", ""))
    return how_read(manifest, parts, run)


def cautions(results: SelfKnownResults) -> list[str]:
    """Return what a reader must know before quoting a number of this run."""
    lines = []
    for method in results.methods[1:]:
        ((_, _, score),) = counted = _counted(results, method)
        if unread_share(counted) > SOME:
            lines.append(
                f"{method_name(method)}: {score.missing:,} of {score.missing + score.n:,} texts "
                "have no verdict. Its numbers rest on the others."
            )
    left = len(results.methods) - MOST_METHODS
    if left > 0:
        lines.append(
            f"The charts, the tiles and the first table leave out {left:,} of "
            f"{len(results.methods):,} methods. The other tables have all."
        )
    return lines


# ---- tables

#: methods that charts can tell apart, and that the first table has room for
MOST_METHODS = len(COLORS)
#: parts of the text that the first table has room for, and rows of a table of subjects
FEW_PARTS, MOST_ROWS = 10, 100
#: what is told of a movement along the text only with an interval
MOVES = ("trend", "last_minus_first", "trend_minus_plain")
WHOLE = (
    *("factuality_micro", "factscore_penalized", "last_minus_first", "claims_per_sentence"),
    *("sentences_per_answer", "response_rate", "empty_texts", "kept_answers"),
    *("aspects_hedged", "aspects_omitted"),
)
#: numbers whose slice says what they rest on: its key, and how a row says it
PLACED = {"f1_at_k": ("k", "K ="), "precision_at_length": ("first", "first")}
BY_PART = (
    *("factuality", "factuality_by_sentence", "factuality_by_generation", "factuality_by_micro"),
    *("factuality_long", "supported_per_sentence", "unsupported_per_sentence"),
    *("irrelevant_per_sentence", "unsupported_share", "irrelevant_share", "decisiveness"),
    "sentences",
)
AVERAGES = {"generation": "mean over answers", "micro": "claims pooled"}
#: numbers of each way of asking
ASKING = (
    *("SK", "SU", "accept_rate", "labeled_factuality", "overconfidence", "equation3"),
    *("equation3_in_sample", "rogan_gladen", "order_flips", "not_understood"),
)
#: along the text: what it accepts, and the two readings of Equation 3 beside the labels
READINGS = ("accept_rate", "labeled_factuality", "equation3_in_sample", "equation3")
DROPPED = ("dropped_factscore", "dropped_claims_kept", "dropped_recall")
GAINED = ("factscore", "factuality_micro", "claims_per_answer", "trend")
VERIFIED = (
    *("verifier_agreement", "verifier_kappa", "verifier_precision", "verifier_recall"),
    "verifier_false_support",
)
FLAT = (
    "Equation 3 with the shares of other texts is flat by construction, because every part uses "
    "the same two shares."
)
LUCK = (
    "One point per part of the text: with so few points, even a large correlation may be luck. "
    "Factuality is by the labels of the claims asked about."
)
FITTED = (
    "Equation 3 with shares of other texts, and the corrected accept rate, are cross-fitted. With "
    "shares of the same texts, as in the paper, Equation 3 only restates Self-Known and "
    "Self-Unknown, and it falls when Self-Unknown rises: it does not measure quality."
)
FLIPPED = (
    "Other claims change the other way when none of the above is offered, so the share accepted "
    "may still rise."
)
BIAS = "A bias that changes along the text distorts the curve. Below 0, the checker is too strict."
MEANINGS = {metric.titled: metric.meaning for metric in NUMBERS.values()} | CLAIM_SCORES


def _rows(*names: str, of: str = "", **place: str) -> dict[str, Row]:
    """Return a row for each number; ``of`` says which slice it is of."""
    return {f"{NUMBERS[name].titled}{of}": (name, place) for name in names}


def _asked(*names: str, mode: str) -> dict[str, Row]:
    return _rows(*names, of=f', asked "{ASKED[mode]}"', mode=mode)


def _mode(results: SelfKnownResults, name: str) -> Place:
    return {"mode": results.mode} if name in OPINIONS else {}


def _flips(results: SelfKnownResults) -> dict[str, Row]:
    kinds = results.values("class")
    every = (_rows("none_flips", of=f", {line(k, 20)}", **{"class": k}) for k in kinds)
    return {label: row for rows in every for label, row in rows.items()}


def table(
    results: SelfKnownResults,
    caption: str,
    rows: Mapping[str, Row],
    columns: Mapping[str, Place],
    *notes: str,
) -> NumberTable:
    """Return a table of numbers, each at the place of its row and its column."""

    def found(row: Row, column: Place) -> Entry:
        e = results.find(row[0], **{**column, **row[1]})
        if e is None or e.name in MOVES:
            return e and with_interval_only(e)
        outside = e.name == "rogan_gladen" and e.value is not None and not 0 <= e.value <= 1
        return "none (outside 0 to 1)" if outside else e

    return grid(caption, rows, columns, found, meanings=MEANINGS, notes=notes)


#: rows of the first table that are of whole texts, as they are called there; the rest of what
#: stands beside a share of supported claims: how much is said, and how much of it is irrelevant
FIRST = {
    "trend": "slope along the text",
    "SK": "Self-Known",
    "SU": "Self-Unknown",
    "claims_per_answer": "claims per text",
    "irrelevant_share": "irrelevant claims",
    "recall": "requested facts right",
}


def first_table(results: SelfKnownResults, average: str = "") -> NumberTable:
    """Return how much is supported, in all and along the text, and what the model notices."""
    parts = results.parts_named if len(results.part_names) <= FEW_PARTS else {}
    rows: dict[str, Row] = {"supported claims": ("factscore", {})}
    rows |= {f"… in {label}": ("factuality", place) for label, place in parts.items()}
    rows |= {label: (name, _mode(results, name)) for name, label in FIRST.items()}
    means = {label: NUMBERS[name].meaning for name, label in FIRST.items()}
    means |= {"supported claims": NUMBERS["factscore"].meaning}
    caption = "Value [95 % interval, sampling error only] count"
    if parts:
        caption += f"; parts: {AVERAGES.get(average, 'mean over sentences')}"
    columns = dict([*results.columns.items()][:MOST_METHODS])
    shown = table(results, caption, rows, columns)
    asked = any(label[0] == FIRST["SK"] for label, _ in shown.rows)
    notes = (f'Self-Known and Self-Unknown: asked "{ASKED[results.mode]}"',) if asked else ()
    return shown._replace(notes=notes, meanings=tuple(means.items()))


def whole_table(results: SelfKnownResults) -> NumberTable:
    """Return the other numbers of whole texts."""
    rows = _rows(*WHOLE)
    for name, (key, word) in PLACED.items():
        for value in results.values(key):
            rows |= _rows(name, of=f", {word} {line(value, 12)}", **{key: value})
    return table(results, "Whole texts", rows, results.columns)


def by_part_table(results: SelfKnownResults, name: str, method: Place) -> NumberTable:
    """Return what else is known of each part of the text."""
    rows = _rows(*BY_PART[len(results.part_names) <= FEW_PARTS :], **method)
    return table(results, f"By part of the text: {name}", rows, results.parts_named)


def gains_table(results: SelfKnownResults) -> NumberTable:
    """Return what methods change; a column for each."""
    rows = _rows(*(f"{name}_minus_plain" for name in GAINED))
    for mode in results.modes:
        rows |= _asked("SK_minus_plain", "SU_minus_plain", mode=mode)
    columns = {
        name: place
        for name, place in results.columns.items()
        if results.find("factscore_minus_plain", **place)
    }
    return table(results, "Method minus plain, on the same topics", rows, columns)


def domains_table(results: SelfKnownResults) -> NumberTable:
    """Return FActScore by domain, or by how rare the subject is."""
    rows = {line(d, 60) or DASH: ("factscore", {"domain": d}) for d in results.values("domain")}
    shown = dict([*rows.items()][:MOST_ROWS])
    return table(results, "Supported claims, mean over the texts", shown, results.columns)


def asked_table(results: SelfKnownResults, name: str, method: Place) -> NumberTable:
    """Return what the model says about its claims, a column for each way of asking."""
    columns = {ASKED[mode]: {"mode": mode} for mode in results.modes}
    return table(results, f"Ways of asking: {name}", _rows(*ASKING, **method), columns, FITTED)


def noticed_table(results: SelfKnownResults, name: str, method: Place) -> NumberTable:
    """Return what the model recognizes in each part of the text, in every way of asking."""
    rows: dict[str, Row] = {}
    for mode in results.modes:
        rows |= _asked("SK", "SU", *(READINGS if mode == results.mode else ()), mode=mode)
    rows |= _flips(results)
    columns = {label: {**part, **method} for label, part in results.parts_named.items()}
    return table(results, f"What it notices along the text: {name}", rows, columns, FLAT)


def correlations_table(results: SelfKnownResults) -> NumberTable:
    """Return how labeled factuality moves with what the model recognizes, along the text."""
    rows = {
        f"{label}, {NUMBERS[name].symbol}": (name, {"with": curve, "mode": results.mode})
        for curve, label in MOVING.items()
        for name in ("factuality_pearson", "factuality_spearman")
    }
    caption = "Labeled factuality and what it notices, across the parts of the text"
    return table(results, caption, rows, results.columns, LUCK)


def claim_scores_table(results: SelfKnownResults, name: str, method: Place) -> NumberTable:
    """Return each score's AUROC for unsupported claims, of whole texts and of their parts."""
    own = sorted(results.by("score", "auroc", **method), key=lambda p: -(p[1].value or 0))
    rows = {line(score, 40): ("auroc", {"score": score, **method}) for score, _ in own}
    columns = {"whole texts": {}, **results.parts_named} if own else {}
    return table(results, f"{NUMBERS['auroc'].titled}: {name}", rows, columns)


def checker_tables(results: SelfKnownResults) -> list[NumberTable]:
    """Return the checker against people: agreement, and its bias where it matters."""
    places = {"all claims": {}, **results.parts_named}
    places |= {
        f"{word}: {third}": {key: third}
        for key, word in (("claims", "number of claims"), ("factuality", "people's factuality"))
        for third in ("low", "middle", "high")
    }
    bias = {label: ("verifier_bias", place) for label, place in places.items()}
    caption = "Factuality by the checker minus factuality by people"
    return [
        table(results, "The checker against people", _rows(*VERIFIED), results.columns),
        table(results, caption, bias, results.columns, BIAS),
    ]


def unlabeled_table(results: SelfKnownResults) -> NumberTable:
    """Return which claims have no label, and why."""
    rows: dict[str, Row] = {
        line(why, 60): ("claims_without_label", {"problem": why})
        for why in results.values("problem")
    }
    rows["in no sentence"] = "claims_without_sentence", {}
    return table(results, "Claims without a label or a sentence", rows, results.columns)


# ---- charts along the text
# Series stand side by side within a part of the text, told by shape as well as by color.

#: sentences or claims below which a point is hollow
FEW = 10
HOLLOW = (
    "Bars are 95 % intervals from resampling texts; a point without one rests on too few texts, or "
    f"is at the end of its scale. A hollow point rests on fewer than {FEW} sentences or claims. "
    f"Points are joined if the trend has an interval, which needs {LEAST_TOPICS} topics."
)
#: what the chart of a model has: (estimate, what it is)
PANEL = {
    "factuality": "factuality",
    "SK": "Self-Known",
    "SU": "Self-Unknown",
}


def support_chart(results: SelfKnownResults, width: int) -> Drawing | None:
    """Draw the share supported along the text for every method; dotted of texts of every part."""
    methods = dict([*results.columns.items()][:MOST_METHODS])
    series, long = (
        {name: results.parts(number, **place) for name, place in methods.items()}
        for number in ("factuality", "factuality_long")
    )
    joined = [name for name, place in methods.items() if _moves(results, place)]
    return _along(results, series, joined, width, long)


def noticed_chart(results: SelfKnownResults, method: Place, width: int) -> Drawing | None:
    """Draw factuality, SK and SU of one method along the text."""
    series = {
        label: results.parts(name, **method, **_mode(results, name))
        for name, label in PANEL.items()
    }
    return _along(results, series, [*series] if _moves(results, method) else [], width)


def _moves(results: SelfKnownResults, method: Place) -> bool:
    """Whether enough topics were measured for a movement along the text to be told."""
    return results.get("trend", **method).low is not None


def _along(
    results: SelfKnownResults,
    series: Mapping[str, Sequence[Estimate]],
    joined: Sequence[str],
    width: int,
    dotted: Mapping[str, Sequence[Estimate]] | None = None,
) -> Drawing | None:
    """Draw shares by part of the text; those of the series ``joined`` have lines."""
    points, variant = (
        [
            point(name, part + 0.5 * ((at + 0.5) / len(own) - 0.5), e)
            for at, (name, values) in enumerate(own.items())
            for part, e in enumerate(values, start=1)
            if e.value is not None
        ]
        for own in (series, dotted or {})
    )
    if not points:
        return None
    parts = len(results.part_names)
    step = max(1, -(-parts // (12 if width > NARROW else 6)))
    x = alt.X(
        "x:Q",
        title=f"part of the text, of {parts} equal in sentences",
        scale=alt.Scale(domain=[0.6, parts + 0.4], nice=False),
        axis=alt.Axis(values=list(range(1, parts + 1, step)), format="d"),
    )
    y = alt.Y(
        "y:Q",
        title="share of claims",
        scale=alt.Scale(domain=[0, 1], nice=False, clamp=True, padding=4),
        axis=alt.Axis(tickCount=6, format=".1f"),
    )
    present = [name for name in series if any(r["series"] == name for r in points)]
    legend = legend_below(
        6 if width > NARROW else 2, symbolOpacity=1, labelLimit=240 if width > NARROW else 120
    )
    styles = {
        "color": styled(alt.Color, present, COLORS, legend),
        "shape": styled(alt.Shape, present, SHAPES, legend),
    }
    lines, *rest = lines_and_points(points, (x, y), styles, few=FEW, size=58, opacity=0.6)
    of_joined = alt.FieldOneOfPredicate(field="series", oneOf=[*joined])
    layers = [lines.transform_filter(of_joined), *rest] if joined else rest
    if variant := [row for row in variant if row["series"] in joined]:
        thin = alt.Chart(data_of(variant)).mark_line(strokeWidth=1.8, strokeDash=[2, 3])
        layers.insert(0, thin.encode(x=x, y=y, color=styles["color"]))
    return finish(alt.layer(*layers), width, min(320, width))


# ---- the sheet

TERMS = (
    ("supported, S", "A passage of the knowledge source, or a person, confirms the claim."),
    (
        "unsupported, NS",
        "Nothing confirms the claim. It need not be false: a source that is silent counts against "
        "it.",
    ),
    (
        "irrelevant, IR",
        "The claim has nothing to do with the subject. It is left out of factuality, which is "
        "S/(S+NS).",
    ),
    (
        "part of the text",
        "Sentence i of n is at position i/n; each part includes its right edge. A text with fewer "
        "sentences than parts has no sentence in the first part.",
    ),
    (
        "slope along the text",
        "From the beginning (0) to the end (1) of a text. Its p-value comes from shuffling the "
        "sentences of each text.",
    ),
    ("length penalty", "exp(1 - 10/n) for an answer of fewer than 10 rated claims (FActScore)."),
)
METHOD = (
    "Tu et al., arXiv 2411.15993; FActScore: arXiv 2305.14251; F1@K: arXiv 2403.18802. "
    "Cross-fitting, hedging along the text and claim scores are sayso's additions."
)
#: the numbers of the headline
TILES = {
    "factscore": "claims supported",
    "SK": "Self-Known: supported claims accepted",
    "SU": "Self-Unknown: unsupported claims rejected",
}


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
) -> Sheet:
    """Return all that is shown of the numbers; see :class:`sayso.protocols.protocol.Report`."""
    results = SelfKnownResults(estimates)
    may_lack = _missing(results)
    named = [(name, e) for name, e in may_lack if e.name == "factscore"]
    average = str(manifest.settings.get("average", "")) if manifest is not None else ""
    return Sheet(
        OF_TEXTS if manifest is not None and manifest.data == "texts" else HEADING,
        opening(results, manifest),
        _tiles(results),
        Chart(
            "support-along-the-text",
            partial(support_chart, results),
            "Share of supported claims by part of the text, with intervals; the table below has "
            "the values.",
            "Share of supported claims among supported and unsupported ones. Dotted: only texts "
            f"with a sentence in every part, if some have fewer. {HOLLOW}",
        ),
        first_table(results, average),
        [*_sections(results, manifest, run), missing_section(may_lack)],
        cautions(results),
        support_read(results, manifest, run),
        named,
        TERMS,
        METHOD,
    )


def _tiles(results: SelfKnownResults) -> list[Tile]:
    """Return the numbers of the headline; those of several methods stand in the first table."""
    (method,) = results.methods if len(results.methods) == 1 else ("",)
    found = (
        (label, results.find(name, method=method, **_mode(results, name)))
        for name, label in TILES.items()
    )
    return [Tile(label, [("", e)]) for label, e in found if e is not None]


def _missing(results: SelfKnownResults) -> list[tuple[str, Estimate]]:
    """Return what may lack verdicts: FActScore, and what the model accepts, of each method."""
    numbers: list[tuple[str, str, Place]] = [("FActScore", "factscore", {})]
    numbers += [(f'accepted, "{ASKED[m]}"', "accept_rate", {"mode": m}) for m in results.modes]
    return [
        (f"{label}, {of}", results.get(name, **place, **mode))
        for of, place in results.columns.items()
        for label, name, mode in numbers
    ]


def _sections(
    results: SelfKnownResults, manifest: Manifest | None, run: RunFolder | None
) -> list[Section]:
    """Return the tables behind the first one, each under the question that it answers."""
    every, asked = results.columns.items(), [*results.asked.items()]
    who = questioned_model(manifest)
    drawn = [
        Chart(
            f"self-knowledge {name}",
            partial(noticed_chart, results, place),
            f"What the model notices along the text, {name}; the table below has the values.",
            f'{name}, asked "{ASKED[results.mode]}" For a model that notices its errors, both '
            f"Self-Known and Self-Unknown are near 1. {HOLLOW}",
        )
        for name, place in asked[:MOST_METHODS]
    ]
    modes = {ASKED[mode]: {"mode": mode} for mode in results.modes}
    return [
        corrected_section(run, NUMBERS, part_label),
        Section(
            "itself",
            f"Does {who} notice these errors?" if who else "Does it notice its own errors?",
            [
                *(asked_table(results, *pair) for pair in asked),
                table(results, "Taken back", _flips(results), results.columns, FLIPPED),
            ],
        ),
        Section(
            "noticed",
            "Does that change along the text?",
            [*(noticed_table(results, *pair) for pair in asked), correlations_table(results)],
            drawn if results.part_names else (),
        ),
        Section(
            "dropped",
            "What if the claims that it rejects were dropped?",
            [
                table(results, f"What would be left: {name}", _rows(*DROPPED, **place), modes)
                for name, place in asked
            ],
        ),
        Section("gains", "What do passages, or a revision, change?", [gains_table(results)]),
        Section(
            "whole", "How long are the texts, and what else is in them?", [whole_table(results)]
        ),
        Section(
            "along",
            "What else changes along the text?",
            [by_part_table(results, *pair) for pair in every],
        ),
        Section("domains", "Does it depend on the subject?", [domains_table(results)]),
        Section(
            "scores",
            "Which score detects unsupported claims?",
            [claim_scores_table(results, *pair) for pair in every],
        ),
        Section("checker", "How good is the checker?", checker_tables(results)),
        Section("unlabeled", "Which claims have no label?", [unlabeled_table(results)]),
    ]


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return some texts with their claims, and of the first method the best, worst and a typical.

    Typical is the text with the median share of supported claims.
    """
    method = "".join(SelfKnownResults(estimates).methods[:1])
    texts = texts_section(folder, page_seed(manifest))
    return StoredAnswers(text_examples(folder, method), (), [texts])
