"""Tables and figures of the paper on self-knowledge along a text (arXiv 2411.15993)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sayso.protocols.protocol import LayoutRuns, PaperLayout
from sayso.protocols.self_known.report import part_label
from sayso.protocols.self_known.settings import ASKED, MAIN, MODES, Settings, modes_of
from sayso.records import Estimate, Question, Results, part_of
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable

PAPER = "Tu et al. 2024 (arXiv 2411.15993)"
Row = tuple[tuple[str, ...], tuple[Entry, ...]]
#: (name, slice) of numbers by what they are called
Series = Mapping[str, tuple[str, Mapping[str, str]]]
PLACE = "part of the text"


def _methods(results: Results) -> list[str]:
    """Return the methods of a run, or the systems of its files."""
    named = (part_of(e.where, "method") for e in results.each("claims_per_answer"))
    return list(dict.fromkeys(name for name in named if name))


def _each(shown: LayoutRuns) -> Iterator[tuple[tuple[str, ...], str, Results]]:
    """Yield labels, method and numbers of every run and method."""
    for labels, results, _ in shown.each():
        for method in _methods(results):
            yield (*labels, part_label("method", method)), method, results


def _heads(shown: LayoutRuns) -> tuple[str, ...]:
    return (*shown.heads, "texts")


def _curve(results: Results, name: str, **where: str) -> dict[str, Estimate]:
    """Return a number by part of the text, from its beginning."""
    found = {
        part_of(e.where, "part"): e
        for e in results.each(name, **where)
        if len(e.where) == len(where) + 1 and part_of(e.where, "part")
    }
    return dict(sorted(found.items(), key=lambda pair: int(pair[0].partition("/")[0])))


def _by_part(
    shown: LayoutRuns, series: Series, caption: str, y: str, *, share: bool = True
) -> list[NumberTable]:
    """Return numbers by part of the text: one table, or one for each text where curves are many."""
    found: list[tuple[tuple[str, ...], dict[str, Estimate]]] = []
    for labels, method, results in _each(shown):
        for what, (name, where) in series.items():
            curve = _curve(results, name, method=method, **where)
            if any(e.value is not None for e in curve.values()):
                found.append(((*labels, what), curve))
    groups: dict[tuple[str, ...], list[tuple[tuple[str, ...], dict[str, Estimate]]]] = {(): found}
    if len(found) > len(charts.COLORS):
        groups = {}
        for labels, curve in found:
            groups.setdefault(labels[:-1], []).append((labels, curve))
    return [
        _curves(curves, f"{' · '.join(of)}: {caption}" if of else caption, y, shown, share)
        for of, curves in groups.items()
    ]


def _curves(
    found: Sequence[tuple[tuple[str, ...], dict[str, Estimate]]],
    caption: str,
    y: str,
    shown: LayoutRuns,
    share: bool,
) -> NumberTable:
    """Return a table of curves and their chart."""
    parts = list(dict.fromkeys(part for _, curve in found for part in curve))
    rows: list[Row] = [
        (labels, tuple(curve.get(part) for part in parts)) for labels, curve in found
    ]
    same = [len({labels[at] for labels, _ in found}) == 1 for at in range(len(_heads(shown)))]
    points: list[charts.Row] = []
    for labels, curve in found:
        told = [label for label, alike in zip(labels, (*same, False), strict=True) if not alike]
        points += [charts.point(" · ".join(told), part, e) for part, e in curve.items()]

    def drawn(width: int) -> charts.Drawing | None:
        return charts.series_chart(points, width, (PLACE, y), share=share)

    heads = (*_heads(shown), "what")
    return NumberTable("", caption, heads, tuple(parts), rows, chart=drawn)


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return the share of supported and unsupported claims along the text."""
    series: Series = {
        "supported": ("supported_share", {}),
        "unsupported": ("unsupported_share", {}),
        "irrelevant": ("irrelevant_share", {}),
    }
    caption = (
        "Supported and unsupported claims along the text: share of a sentence's claims, mean over "
        "sentences."
    )
    return _by_part(shown, series, caption, "share of a sentence's claims")


def figure8(shown: LayoutRuns) -> list[NumberTable]:
    """Return the number of supported and unsupported claims of a sentence along the text."""
    series: Series = {
        what: (f"{what}_per_sentence", {}) for what in ("supported", "unsupported", "irrelevant")
    }
    caption = "Number of claims in a sentence along the text."
    return _by_part(shown, series, caption, "claims of a sentence", share=False)


def figure2(shown: LayoutRuns) -> list[NumberTable]:
    """Return Self-Known and Self-Unknown along the text in each setting, and the flips."""
    tables = []
    for letter, mode in zip("abc", MODES, strict=True):
        series = {
            "Self-Known": ("SK", {"mode": mode}),
            "Self-Unknown": ("SU", {"mode": mode}),
        }
        caption = f"({letter}) Asked {ASKED[mode]} Self-Known and Self-Unknown along the text."
        tables += _by_part(shown, series, caption, "share of its claims")
    flips = {
        f"{name} claims": ("none_flips", {"class": name}) for name in ("supported", "unsupported")
    }
    caption = "(d) Claims that are no longer accepted once none of the above is offered."
    tables += _by_part(shown, flips, caption, "share of the class")
    return [table for table in tables if table.rows]


def figure6(shown: LayoutRuns) -> list[NumberTable]:
    """Return Equation 3 along the text in both readings, beside what labels say."""
    series = {
        "labeled": ("labeled_factuality", {"mode": MAIN}),
        "Equation 3, each part's own SK and SU (the paper)": (
            "equation3_in_sample", {"mode": MAIN},
        ),
        "Equation 3, SK and SU of other texts (flat by construction)": (
            "equation3", {"mode": MAIN},
        ),
    }  # fmt: skip
    caption = f"Factuality along the text, asked {ASKED[MAIN]}"
    return _by_part(shown, series, caption, "factuality")


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return how many prompts were answered, and how many claims an answer makes."""
    names = {
        "response_rate": "answered", "claims_per_answer": "claims per text",
        "factscore": "supported, mean over texts",
    }  # fmt: skip
    rows: list[Row] = [
        (labels, tuple(results.get(name, method=method) for name in names))
        for labels, method, results in _each(shown)
    ]
    caption = "Share of prompts answered, claims per text, and share of supported claims."
    return [NumberTable("", caption, _heads(shown), tuple(names.values()), rows)]


def table2(shown: LayoutRuns) -> list[NumberTable]:
    """Return how SK, SU and Equation 3 go with labeled factuality along the text."""
    columns = {"SK": "SK", "SU": "SU", "equation3_in_sample": "Equation 3"}
    rows: list[Row] = []
    for labels, method, results in _each(shown):
        for kind in ("pearson", "spearman"):
            entries = tuple(
                results.get(f"factuality_{kind}", method=method, mode=MAIN, **{"with": column})
                for column in columns
            )
            rows.append(((*labels, kind.title()), entries))
    rows = [
        row for row in rows if any(isinstance(e, Estimate) and e.value is not None for e in row[1])
    ]
    caption = "Correlation with labeled factuality over the parts of the text."
    heads = (*_heads(shown), "correlation")
    return [NumberTable("", caption, heads, tuple(columns.values()), rows)]


def _asks_again(settings: Settings, questions: Sequence[Question]) -> bool:
    return bool(modes_of(settings))


LAYOUTS = (
    PaperLayout(
        "self-known-figure1", "Supported and unsupported claims along the text",
        f"{PAPER}, Figure 1", "texts whose claims are labeled or checked", figure1,
    ),
    PaperLayout(
        "self-known-figure2", "Self-Known, Self-Unknown and flips along the text",
        f"{PAPER}, Figure 2", "claims that the model was asked about", figure2,
        possible=_asks_again,
    ),
    PaperLayout(
        "self-known-figure6", "Equation 3 along the text, in both readings, and the labels",
        f"{PAPER}, Figure 6", "claims that the model was asked about", figure6,
        possible=_asks_again,
    ),
    PaperLayout(
        "self-known-figure8", "Claims per sentence along the text", f"{PAPER}, Figure 8",
        "texts whose claims are labeled or checked", figure8,
    ),
    PaperLayout(
        "self-known-table1", "Prompts answered and claims per text", f"{PAPER}, Table 1",
        "runs of self_known", table1,
    ),
    PaperLayout(
        "self-known-table2", "Correlation of SK, SU and Equation 3 with factuality",
        f"{PAPER}, Table 2", "claims that the model was asked about again, in ten texts or more",
        table2, possible=_asks_again,
    ),
)  # fmt: skip
