"""How a self_known run is shown: sentences, tables, and a chart along the text.

Sentences claim no more than the intervals allow. Texts to be read are in :mod:`.marked`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Literal

from msgspec.structs import replace

from sayso.harmless import line
from sayso.judges.rules.accuracy import reader_accuracy
from sayso.judges.support import RulesSupport
from sayso.protocols.judged import PartRead, how_read, support_part, unknown_part
from sayso.protocols.self_known.marked import MarkedTexts
from sayso.protocols.self_known.measure import EMPTY, LEAST_TOPICS, PEOPLE_SAID
from sayso.protocols.self_known.measure import cautions as measured_cautions
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.settings import ASKED, CLAIM_SCORES, MAIN, MODES
from sayso.records import Estimate, Results, part_of
from sayso.report import charts
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import DASH, covers, percent, with_interval_only
from sayso.report.opening import HALF, SOME, HeadlineShare, open_page, unread_share
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

#: parts of a slice
Place = Mapping[str, str]
#: numbers by part of the text ("2/5"), from its beginning
Curve = Mapping[str, Estimate]
FACTUALITY = "factuality"
#: what a model says of its own claims, and what it is called
OPINIONS = {"SK": "Self-Known", "SU": "Self-Unknown"}
#: how a part of a slice is written before its value
WORDS = {"part": "part ", "k": "K = ", "first": "first "}


class SelfKnownResults(Results):
    """The estimates of a run by name, method, way of asking and part of the text."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        super().__init__(estimates)
        self.methods = self.values("method")
        modes = {part_of(e.where, "mode") for e in self.each("accept_rate")}
        #: the way of asking whose numbers stand first: the paper's main one, if it was asked
        self.mode = ([mode for mode in MODES if mode in modes] or [MAIN])[-1]

    def values(self, key: str) -> list[str]:
        """Return the values of a part of slices."""
        pairs = (pair for e in self.all for pair in e.where)
        return list(dict.fromkeys(value for name, value in pairs if name == key))

    @property
    def columns(self) -> dict[str, Place]:
        """Every method by what it is called."""
        return {part_label("method", method): {"method": method} for method in self.methods}

    def headline(self, name: str, method: Place) -> Estimate | None:
        """Return a number of whole texts, of the first way of asking if it has several."""
        return self.find(name, **method, **({"mode": self.mode} if name in OPINIONS else {}))


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    return f"{WORDS.get(key, '')}{ASKED.get(value) or line(value, 60) or DASH}"


# ---- how page and terminal begin: one sentence for a reader without statistics

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


def _counted(results: SelfKnownResults, method: str) -> list[HeadlineShare]:
    """Return the share that what is said of a method rests on; an empty text has no verdict."""
    rate, score = (results.get(name, method=method) for name in ("response_rate", "factscore"))
    empty = results.get("answers_without_claims", method=method, problem=EMPTY)
    lost = int(empty.numerator or 0)
    score = replace(score, n=rate.n - lost, missing=rate.missing + lost)
    return [("{} of the claims are supported", "texts", score)]


def plain_sentence(results: SelfKnownResults, manifest: Manifest | None = None) -> str:
    """Say in one sentence how much of the long answers is supported, and what the model notices.

    Of the first method. A movement along the text is told where its interval is clear of 0, and
    that the model accepts more of its supported claims where both intervals allow it.
    """
    if not results.methods:
        return "This run has no numbers yet."
    method = results.methods[0]
    whose = "its long answers" if method == "plain" else f"the texts of {line(method, 40)}"
    if method == "plain" and manifest is not None and manifest.data == "texts":
        whose = "these texts"
    score, trend = (results.get(name, method=method) for name in ("factscore", "trend"))
    if score.value is None:
        why = line(score.problem or "no claim has a label", 200)
        return f"This run cannot say how much of {whose} is supported: {why}."
    of = "Of" if score.low is not None else "There are few texts to judge by: of"
    share = "all" if score.value == 1 else percent(score.value, 0)
    text = f"{of} the claims in {whose}, {share} are supported"
    if trend.low is not None and not covers(trend, 0):
        text += f", and {'fewer' if trend.low < 0 else 'more'} of them towards the end of a text"
    return f"{text}{_notices(results, method, questioned_model(manifest))}."


def _turned(results: SelfKnownResults, method: str) -> float:
    """Return which share of its verdicts a model changes with the order of the options."""
    return results.get("order_flips", method=method, mode=results.mode).value or 0.0


def _notices(results: SelfKnownResults, method: str, who: str) -> str:
    """Say how many claims of each class the model accepts, and whether these shares differ."""
    known, unknown = (results.get(name, method=method, mode=results.mode) for name in OPINIONS)
    if unknown.value is None:
        return ""
    asked = f'; asked to check each claim ("{ASKED[results.mode]}"), {who or "the model"}'
    if (flips := _turned(results, method)) > HALF:
        turned = f"changes {percent(flips, 0)} of its verdicts with the order of the options"
        return f"{asked} {turned}, so they do not show what it recognizes"
    wrong = f"rejects {percent(unknown.value, 0)} of the unsupported ones"
    if known.value is None:
        return f"{asked} {wrong}"
    both = f"{asked} accepts {percent(known.value, 0)} of the supported ones and {wrong}"
    if known.low is None or known.high is None or unknown.low is None or unknown.high is None:
        return both
    if known.low > 1 - unknown.low:
        return f"{both}, so it notices some of the errors"
    wrongly = known.high < 1 - unknown.high
    return f"{both}: {'it accepts more of these' if wrongly else 'no clear difference'}"


# ---- how well claims were checked, and what must be known of the numbers


def support_read(
    results: SelfKnownResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well the support of claims is read."""
    if manifest is None:
        return HowRead()
    parts: list[PartRead] = []
    for method in results.methods:
        checked = part_of(results.get("factscore", method=method).signature, "support")
        # people's labels come first, and the page compares the checker with them
        for by in checked.split("+") if PEOPLE_SAID not in checked else ():
            counts = reader_accuracy() if by == RulesSupport.signature else None
            if counts is not None:
                parts.append(support_part(by, counts))
            elif by not in ("", "nobody"):
                parts.append(unknown_part(manifest, by, "checks claims", ""))
    return how_read(manifest, parts, run)


def cautions(results: SelfKnownResults) -> list[str]:
    """Return which methods after the first, which the opening is of, lack many verdicts."""
    counted = {method: _counted(results, method) for method in results.methods[1:]}
    return [
        f"{line(method, 40)}: {score.missing:,} of {score.missing + score.n:,} texts have no "
        "verdict. Its numbers rest on the others."
        for method, ((_, _, score),) in counted.items()
        if unread_share(counted[method]) > SOME
    ]


# ---- tables

#: parts of the text that the first table has room for
FEW_PARTS = 10
#: rows of the first table, as they are called there
FIRST = {
    "factscore": "supported claims",
    "trend": "slope along the text",
    **OPINIONS,
    "claims_per_answer": "claims per text",
    "irrelevant_share": "irrelevant claims",
    "recall": "requested facts right",
}
WHOLE = (
    *("factuality_micro", "factscore_penalized", "response_rate", "f1_at_k"),
    "precision_at_length",
)
BY_PART = (
    *(FACTUALITY, "supported_per_sentence", "unsupported_per_sentence"),
    *("irrelevant_per_sentence", "unsupported_share", "irrelevant_share", "decisiveness"),
)
LEFT_OUT = ("answers_without_claims", "claims_without_label", "claims_without_sentence")
#: numbers of each way of asking
ASKING = (
    *(*OPINIONS, "accept_rate", "labeled_factuality", "overconfidence", "equation3"),
    *("equation3_in_sample", "rogan_gladen", "order_flips", "not_understood"),
)
GAINED = [name for name in NUMBERS if name.endswith("_minus_plain")]
VERIFIED = [name for name in NUMBERS if name.startswith("verifier_")]
#: what is shown only with an interval
MOVES = ("trend", *GAINED)
FITTED = (
    "Equation 3 with shares of other texts, and the corrected accept rate, are cross-fitted. With "
    "shares of the same texts, as in the paper, Equation 3 only restates Self-Known and "
    "Self-Unknown, and it falls when Self-Unknown rises: it does not measure quality."
)
MEANINGS = {metric.titled: metric.meaning for metric in NUMBERS.values()} | CLAIM_SCORES


def _shown(e: Estimate | None) -> Entry:
    """Return what a table shows of a number; a share that is none is said to be none."""
    if e is None or e.name in MOVES:
        return e and with_interval_only(e)
    outside = e.name == "rogan_gladen" and e.value is not None and not 0 <= e.value <= 1
    return "none (outside 0 to 1)" if outside else e


def sliced_table(
    results: SelfKnownResults,
    caption: str,
    names: Sequence[str],
    across: str,
    rows: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> NumberTable:
    """Return numbers with a column for each value of ``across``, a part of their slices.

    A row is a number and the rest of its slice, which may have the parts ``rows``. In a table of
    one number, that rest is the name of the row.
    """
    found: dict[str, dict[str, Estimate]] = {}
    own = {"method"} if len(results.methods) > 1 else set()
    for e in (e for name in names for e in results.each(name)):
        where = dict(e.where)
        column = where.pop(across, None)
        words = [part_label(*pair) for pair in where.items() if pair[0] in {*rows, *own}]
        label = ", ".join([NUMBERS[e.name].titled, *words] if len(names) > 1 else words)
        if column is not None and label and where.keys() <= {*rows, "method"}:
            found.setdefault(label, {}).setdefault(column, e)
    values = dict.fromkeys(column for row in found.values() for column in row)
    columns = {part_label(across, value): value for value in values}
    return grid(
        caption, found, columns, lambda row, column: _shown(row.get(column)), meanings=MEANINGS,
        notes=notes,
    )  # fmt: skip


def first_table(results: SelfKnownResults) -> NumberTable:
    """Return how much is supported, in all and along the text, and what the model notices."""
    parts = results.values("part")
    rows: dict[str, tuple[str, Place]] = {label: (name, {}) for name, label in FIRST.items()}
    rows |= {
        f"supported in {part_label('part', part)}": (FACTUALITY, {"part": part})
        for part in (parts if len(parts) <= FEW_PARTS else ())
    }
    asked = [f'Self-Known and Self-Unknown: asked "{ASKED[results.mode]}"']
    return grid(
        "Value [95 % interval, sampling error only] count",
        rows,
        results.columns,
        lambda row, method: _shown(results.headline(row[0], {**method, **row[1]})),
        meanings={label: NUMBERS[name].meaning for name, label in FIRST.items()},
        notes=asked if results.values("mode") else (),
    )


def _sections(results: SelfKnownResults, who: str) -> list[Section]:
    """Return the tables behind the first one, each under the question that it answers.

    ``who`` is the model that was asked about given texts.
    """
    table = partial(sliced_table, results)
    flips, score, bias, auroc = (
        NUMBERS[name].titled for name in ("none_flips", "factscore", "verifier_bias", "auroc")
    )
    # the first table has factuality in a few parts
    by_part = BY_PART[len(results.values("part")) <= FEW_PARTS :]
    return [
        Section(
            "itself",
            f"Does {who} notice these errors?" if who else "Does it notice its own errors?",
            [
                table("Ways of asking", ASKING, "mode", notes=[FITTED]),
                table(flips, ["none_flips"], "method", ["class"]),
            ],
        ),
        Section(
            "along",
            "What else changes along the text?",
            [
                table("What it notices", [*OPINIONS, "none_flips"], "part", ["mode", "class"]),
                table("What the texts say", by_part, "part"),
                table(f"{auroc}, by part of the text", ["auroc"], "part", ["score"]),
            ],
        ),
        Section(
            "gains",
            "What does each method change?",
            [table("Method minus plain, on the same topics", GAINED, "method")],
        ),
        Section(
            "whole",
            "How long are the texts, and what else is in them?",
            [
                table("Whole texts", WHOLE, "method", ["k", "first"]),
                table(score, ["factscore"], "method", ["domain"]),
                table("Texts and claims left out", LEFT_OUT, "method", ["problem"]),
            ],
        ),
        Section(
            "scores",
            "Which score detects unsupported claims?",
            [table(auroc, ["auroc"], "method", ["score"])],
        ),
        Section(
            "checker",
            "How good is the checker?",
            [
                table("The checker against people", VERIFIED, "method"),
                table(bias, ["verifier_bias"], "method", ["part"]),
            ],
        ),
    ]


# ---- the chart along the text

#: lines of factuality beside what the model says of its claims, as in the paper
LOOKS: Mapping[str, Literal["bold", "dashed"]] = {
    FACTUALITY: "bold",
    **dict.fromkeys(OPINIONS.values(), "dashed"),
}


def curves_chart(
    curves: Mapping[str, Curve],
    width: int,
    *,
    share: bool = True,
    panel: bool = False,
    lines: bool = True,
) -> charts.Drawing | None:
    """Draw up to six curves along the text, each point where its part ends.

    The curves of a part stand side by side. ``share``: they are shares, else counts; ``panel``:
    factuality is bold, and what the model says of its claims is dashed; without ``lines`` points
    are not joined.
    """
    points = [
        charts.point(name, float(Fraction(part)) + 0.01 * (at - (len(curves) - 1) / 2), e)
        for at, (name, curve) in enumerate(curves.items())
        for part, e in curve.items()
        if re.fullmatch("[0-9]+/[1-9][0-9]*", part)
    ]
    titles = "position in the text, 1 = its end", "share" if share else "claims in a sentence"
    looks = LOOKS if panel else None
    return charts.series_chart(points, width, titles, share=share, looks=looks, lines=lines)


def along_chart(results: SelfKnownResults, width: int) -> charts.Drawing | None:
    """Draw factuality along the text: of one method with SK and SU, or of every method."""
    methods = results.columns
    series = {name: (FACTUALITY, place) for name, place in methods.items()}
    if panel := len(methods) == 1:
        (method,) = methods.values()
        asked = {**method, "mode": results.mode}
        series = {FACTUALITY: (FACTUALITY, method)}
        series |= {label: (name, asked) for name, label in OPINIONS.items()}
    curves = {
        label: dict(results.by("part", name, **place)) for label, (name, place) in series.items()
    }
    lines = all(results.get("trend", **place).low is not None for place in methods.values())
    return curves_chart(curves, width, panel=panel, lines=lines)


# ---- the sheet

TERMS = (
    ("supported", "A passage of the knowledge source, or a person, confirms the claim."),
    (
        "part of the text",
        "Sentence i of n is at position i/n; each part includes its right edge. A text with fewer "
        "sentences than parts has no sentence in the first part.",
    ),
)
METHOD = (
    "Tu et al., arXiv 2411.15993; FActScore: arXiv 2305.14251; F1@K: arXiv 2403.18802. "
    "Cross-fitting, hedging along the text and claim scores are sayso's additions."
)


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
) -> Sheet:
    """Return all that is shown of the numbers; see :class:`sayso.protocols.protocol.Report`."""
    results = SelfKnownResults(estimates)
    may_lack = [
        (", ".join([NUMBERS[name].titled, *(part_label(*pair) for pair in e.where)]), e)
        for name in ("factscore", "accept_rate")
        for e in results.each(name)
        if dict(e.where).keys() <= {"method", "mode"}
    ]
    opening = open_page(
        manifest,
        plain_sentence(results, manifest),
        NOT_SHOWN,
        later=measured_cautions(results.all),
        counted=_counted(results, "".join(results.methods[:1])),
    )
    return Sheet(
        OF_TEXTS if manifest is not None and manifest.data == "texts" else HEADING,
        opening,
        _tiles(results),
        Chart(
            "support-along-the-text",
            partial(along_chart, results),
            "Share of supported claims by part of the text, with intervals; the table below has "
            "the values.",
            "Supported claims among supported and unsupported ones, by part of the text. Of one "
            "method, also Self-Known and Self-Unknown: both are near 1 for a model that notices "
            "its errors. Bars are 95 % intervals from resampling texts. Points are joined if the "
            f"slope along the text has an interval, which needs {LEAST_TOPICS} topics.",
        ),
        first_table(results),
        [
            corrected_section(run, NUMBERS, part_label),
            *_sections(results, questioned_model(manifest)),
            missing_section(may_lack),
        ],
        cautions(results),
        support_read(results, manifest, run),
        [(label, e) for label, e in may_lack if e.name == "factscore"],
        TERMS,
        METHOD,
    )


def _tiles(results: SelfKnownResults) -> list[Tile]:
    """Return the numbers of the headline; those of several methods stand in the first table.

    What follows the order of the options is none.
    """
    if len(results.methods) != 1:
        return []
    (method,) = results.methods
    names = ("factscore",) if _turned(results, method) > HALF else ("factscore", *OPINIONS)
    found = {NUMBERS[name].titled: results.headline(name, {"method": method}) for name in names}
    return [Tile(label, [("", e)]) for label, e in found.items() if e is not None]


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return some texts with their claims, and of the first method the best, worst and a typical.

    Typical is the text with the median share of supported claims.
    """
    method = "".join(SelfKnownResults(estimates).methods[:1])
    texts = MarkedTexts(folder)
    return StoredAnswers(texts.examples(method), (), [texts.section(page_seed(manifest))])
