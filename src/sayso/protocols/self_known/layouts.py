"""Tables and figures of the paper on self-knowledge along a text (arXiv 2411.15993)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sayso.harmless import line
from sayso.judges.english.tokens import STOP, tokens
from sayso.metrics.factuality import Closed
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout, Run
from sayso.protocols.self_known.measure import (
    AGAINST_PLAIN,
    AskedTexts,
    across_models,
    own_answers,
)
from sayso.protocols.self_known.report import part_label
from sayso.protocols.self_known.rows import (
    STAGE,
    SUPPORTED,
    LongAnswers,
    checkers,
    load_long_answers,
)
from sayso.protocols.self_known.settings import ASKED, MAIN, MODES, Settings, modes_of
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Claim, Estimate, Generation, Passage, Question, Results, part_of
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable
from sayso.storage.run_folder import RunFolder

PAPER = "Tu et al. 2024 (arXiv 2411.15993)"
Row = tuple[tuple[str, ...], tuple[Entry, ...]]
#: (name, slice) of numbers by what they are called
Series = Mapping[str, tuple[str, Mapping[str, str]]]
PLACE = "part of the text"
#: the method of texts that were written with passages
RETRIEVED = "retrieval"
#: who checked claims that people labeled
PEOPLE = "people"


def _methods(results: Results) -> list[str]:
    """Return the methods of a run."""
    named = (part_of(e.where, "method") for e in results.each("claims_per_answer"))
    return list(dict.fromkeys(name for name in named if name))


def _written(results: Results) -> list[str]:
    """Return the methods of a run but the texts that were written once more with passages."""
    return [method for method in _methods(results) if method != RETRIEVED]


def _each(
    shown: LayoutRuns, methods: Callable[[Results], list[str]] = _written
) -> Iterator[tuple[tuple[str, ...], str, Results]]:
    """Yield labels, method and numbers of every run and method."""
    for labels, results, _ in shown.each():
        for method in methods(results):
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
    bold: str = "",
    dashed: Sequence[str] = (),
) -> NumberTable:
    """Return a table of curves and their chart; ``bold`` and ``dashed`` are names of series."""
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
        return charts.series_chart(
            points, width, (PLACE, y), share=share, bold=(bold,), dashed=dashed
        )

    heads = (*_heads(shown), "what")
    return NumberTable("", caption, heads, tuple(parts), rows, chart=drawn)


#: kinds of claims, and the beginning of the names of their numbers
KINDS = ("supported", "unsupported", "irrelevant")
FACTUALITY = "factuality"


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return shares of supported, unsupported, irrelevant claims along the text; their numbers."""
    shares: Series = {kind: (f"{kind}_share", {}) for kind in KINDS}
    numbers: Series = {kind: (f"{kind}_per_sentence", {}) for kind in KINDS}
    of_shares = "(a) Claims along the text: share of a sentence's claims, mean over sentences."
    return [
        *_by_part(shown, shares, of_shares, "share of a sentence's claims"),
        *_by_part(
            shown, numbers, "(b) Number of claims in a sentence along the text.",
            "claims of a sentence", share=False,
        ),
    ]  # fmt: skip


def figure5(shown: LayoutRuns) -> list[NumberTable]:
    """Return the number of unsupported claims of a sentence along the text, by model."""
    series: Series = {"unsupported": ("unsupported_per_sentence", {})}
    caption = "Number of unsupported claims in a sentence along the text."
    return _by_part(shown, series, caption, "unsupported claims of a sentence", share=False)


#: what a model says of its own claims
OPINIONS = ("Self-Known", "Self-Unknown")
#: characters of a claim or a prompt in a table
MOST = 600
#: the lines of a panel
PANEL: Series = {
    FACTUALITY: ("factuality", {}),
    "unsupported share": ("unsupported_share", {}),
    "Self-Known": ("SK", {"mode": MAIN}),
    "Self-Unknown": ("SU", {"mode": MAIN}),
}


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


def figure3(shown: LayoutRuns) -> list[NumberTable]:
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


def figure4(shown: LayoutRuns) -> list[NumberTable]:
    """Return a panel for each model: factuality, share unsupported, SK and SU along the text."""
    caption = "factuality, share of unsupported claims, SK and SU along the text."
    return [
        table
        for labels, method, results in _each(shown)
        for table in _panel(shown, labels, method, results, PANEL, caption)
    ]


def _panel(
    shown: LayoutRuns,
    labels: tuple[str, ...],
    method: str,
    results: Results,
    series: Series,
    caption: str,
) -> list[NumberTable]:
    """Return the curves of one model; nothing where it was not asked about its claims."""
    found = {
        what: curve
        for what, (name, where) in series.items()
        for curve in [_curve(results, name, method=method, **where)]
        if any(e.value is not None for e in curve.values())
    }
    if FACTUALITY not in found or not found.keys() & set(OPINIONS):
        return []
    curves = [((*labels, what), curve) for what, curve in found.items()]
    named = f"{' · '.join(labels)}: {caption}"
    return [_curves(curves, named, "share", shown, True, FACTUALITY, OPINIONS)]


def figure6(shown: LayoutRuns) -> list[NumberTable]:
    """Return factuality, SK and SU of texts written with passages; numbers of their errors."""
    tables: list[NumberTable] = []
    curves = []
    series = {what: PANEL[what] for what in (FACTUALITY, *OPINIONS)}
    for labels, method, results in _each(shown, _methods):
        if RETRIEVED not in _methods(results):
            continue
        if method == RETRIEVED:
            caption = "(a) Factuality, SK and SU along the text."
            tables += _panel(shown, labels, method, results, series, caption)
        curve = _curve(results, "unsupported_per_sentence", method=method)
        if any(e.value is not None for e in curve.values()):
            curves.append(((*labels, "unsupported"), curve))
    caption = "(b) Number of unsupported claims in a sentence, without and with passages."
    for at in range(0, len(curves), len(charts.COLORS)):
        some = curves[at : at + len(charts.COLORS)]
        tables.append(_curves(some, caption, "unsupported claims of a sentence", shown, False))
    return tables


class _Checked(NamedTuple):
    """Texts of a run, and who found and checked their claims."""

    labels: tuple[str, ...]
    texts: LongAnswers
    results: Results
    by: str
    bins: int
    closed: Closed

    @property
    def words(self) -> set[str]:
        """The texts themselves."""
        return {g.text.strip() for g in self.texts.kept}

    def claims(self) -> dict[str, Estimate]:
        """Return the mean number of claims of a sentence that has some, by part of the text."""
        number = self.texts.counts().sum(axis=1)
        place = self.texts.places(self.bins, self.closed)
        curve = {}
        for part in range(self.bins):
            here = number[(place == part) & (number > 0)]
            curve[f"{part + 1}/{self.bins}"] = Estimate(
                "claims",
                value=float(here.mean()) if len(here) else None,
                n=len(here),
                problem=None if len(here) else "no sentence with claims",
            )
        return curve


def figure7(shown: LayoutRuns) -> list[NumberTable]:
    """Return claims and factuality along the text as people and as sayso find and check them.

    Shown are runs whose claims people labeled, and runs of the same texts without these labels.
    """
    every = list(_checked(shown))
    labeled = [one for one in every if one.by == PEOPLE]
    rows: list[tuple[_Checked, int]] = []
    for people in labeled:
        tools = [one for one in every if one.by != PEOPLE and one.words & people.words]
        if tools:
            rows.append((people, 0))
        rows += [(tool, len(tool.words & people.words)) for tool in tools]
    if not rows:
        return []
    notes = tuple(
        f"{one.labels[0]}: {same:,} of {len(one.words):,} texts are among those that people labeled"
        for one, same in rows
        if one.by != PEOPLE
    )
    numbers = [((*one.labels, one.by), one.claims()) for one, _ in rows]
    shares = [
        ((*one.labels, one.by), _curve(one.results, FACTUALITY, method=one.texts.method))
        for one, _ in rows
    ]
    by_whom = "by who found and checked the claims."
    return [
        _curves(curves, f"{caption}, {by_whom}", y, shown, share)._replace(notes=notes)
        for curves, caption, y, share in (
            (numbers, "(a) Number of claims of a sentence along the text", "claims", False),
            (shares, "(b) Factuality along the text", FACTUALITY, True),
        )
    ]


def _checked(shown: LayoutRuns) -> Iterator[_Checked]:
    """Yield the texts of every run that were not written once more with passages."""
    for labels, results, manifest, folder in shown.each_with_folder():
        run = stored_run(RunFolder.open(folder))
        by, chosen = checkers(run).partition("+")[0], settings_of_run(manifest, Settings())
        for texts in load_long_answers(run):
            if texts.method != RETRIEVED:
                name = (*labels, part_label("method", texts.method))
                yield _Checked(name, texts, results, by, chosen.bins, chosen.closed)


def _others(shown: LayoutRuns) -> LayoutRuns:
    """Return the runs without their first model or, of one model, without their first data set."""
    if len(shown.models) > 1:
        first = shown.models[0]
        results = {place: r for place, r in shown.results.items() if place[0] != first}
        return shown._replace(models=shown.models[1:], results=results)
    results = {place: r for place, r in shown.results.items() if place[1] != shown.data[0]}
    return shown._replace(data=shown.data[1:], results=results)


def figure8(shown: LayoutRuns) -> list[NumberTable]:
    """Return Figure 1 of the models behind the first."""
    return figure1(_others(shown))


def figure9(shown: LayoutRuns) -> list[NumberTable]:
    """Return Figure 2 of the models behind the first."""
    return figure2(_others(shown))


def table2(shown: LayoutRuns) -> list[NumberTable]:
    """Return an example of each run: a claim without and with passages before the prompt.

    It is an unsupported claim, and the supported claim of the text with passages that shares most
    of its words. Where no text has both, it is the two claims that share most words.
    """
    tables = []
    for labels, _, _, folder in shown.each_with_folder():
        run = stored_run(RunFolder.open(folder))
        texts = {one.method: one for one in load_long_answers(run)}
        if not {"plain", RETRIEVED} <= set(texts):
            continue
        pairs = list(_claim_pairs(texts["plain"], texts[RETRIEVED]))
        if not pairs:
            continue
        _, _, plain, retrieved = max(pairs, key=lambda pair: pair[:2])
        own = {v.target: v.label for v in run.verdicts(f"self-{MAIN}")}
        shown_passages = _passages_in(run, retrieved.answer.request.messages[-1].content)
        rows: list[Row] = []
        for name, one, before in (
            ("claim without passages", plain, 0),
            ("claim with passages", retrieved, len(shown_passages)),
        ):
            verdict, said = "yes" if one.supported else "no", own.get(one.claim.id) or "not asked"
            rows.append(((name, line(one.claim.text, MOST)), (verdict, said, str(before))))
        rows += [
            ((f"passage {n}", line(text, MOST)), (None, None, None))
            for n, text in enumerate(shown_passages, 1)
        ]
        caption = (
            f"{' · '.join(labels)}: a claim, the claim closest to it in words in the text written "
            "with passages, and passages of that text's prompt."
        )
        columns = ("supported", "is it right? The model says", "passages before the prompt")
        tables.append(NumberTable("", caption, ("answer", "text"), columns, rows))
    return tables


def _passages_in(run: Run, prompt: str) -> list[str]:
    """Return the passages that were looked up for claims and stand in a prompt."""
    texts = (p.text.strip() for p in run.table(f"passages/{STAGE}", Passage))
    return [text for text in dict.fromkeys(texts) if text and text[:MOST] in prompt]


class _RatedClaim(NamedTuple):
    answer: Generation
    claim: Claim
    supported: bool
    words: frozenset[str]


def _claim_pairs(
    plain: LongAnswers, retrieved: LongAnswers
) -> Iterator[tuple[bool, float, _RatedClaim, _RatedClaim]]:
    """Yield claims of two texts about one topic: whether the second corrects the first, and the
    share of their words that both have."""
    others: dict[str, list[_RatedClaim]] = {}
    for one in _rated(retrieved):
        others.setdefault(one.answer.question, []).append(one)
    for one in _rated(plain):
        for other in others.get(one.answer.question, ()):
            shared = len(one.words & other.words) / max(len(one.words | other.words), 1)
            yield not one.supported and other.supported, shared, one, other


def _rated(texts: LongAnswers) -> Iterator[_RatedClaim]:
    """Yield the claims that are supported or not."""
    for n in np.flatnonzero(texts.rated).tolist():
        claim, answer = texts.claims[n], texts.kept[int(texts.text[n])]
        words = frozenset(t.stem for t in tokens(claim.text) if t.text not in STOP)
        yield _RatedClaim(answer, claim, bool(texts.label[n] == SUPPORTED), words)


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return how many prompts were answered, and how many claims an answer makes."""
    rows: list[Row] = []
    for labels, method, results in _each(shown):
        answered = results.get("response_rate", method=method)
        claims = results.get("claims_per_answer", method=method)
        rows.append((labels, (claims, _other_share("filtered", answered))))
    caption = "Claims per text, and share of texts filtered out as not answering."
    columns = "claims per text", "filtered share"
    return [NumberTable("", caption, _heads(shown), columns, rows)]


def _other_share(name: str, e: Estimate) -> Estimate:
    """Return 1 minus a share, with its interval."""
    value, low, high = (None if x is None else 1 - x for x in (e.value, e.high, e.low))
    return Estimate(name, (), value, low, high, n=e.n, problem=e.problem)


def correlation_rows(shown: LayoutRuns) -> list[NumberTable]:
    """Return how SK, SU and Equation 3 go with factuality, along the text and across models."""
    columns = {"SK": "SK", "SU": "SU", "equation3_in_sample": "Equation 3"}
    rows: list[Row] = []
    for labels, method, results in _each(shown):
        for kind in ("pearson", "spearman"):
            entries = tuple(
                results.get(f"factuality_{kind}", method=method, mode=MAIN, **{"with": column})
                for column in columns
            )
            rows.append(((*labels, kind.title()), entries))
    for data, found in _across_models(shown):
        labels = ("across models", data)[: len(shown.heads)]
        for kind in ("pearson", "spearman"):
            entries = tuple(
                found.get(f"factuality_{kind}", **{"with": column}) for column in columns
            )
            rows.append(((*labels, "", kind.title()), entries))
    rows = [
        row for row in rows if any(isinstance(e, Estimate) and e.value is not None for e in row[1])
    ]
    caption = (
        "Correlation with labeled factuality over the parts of the text and, with three models or "
        "more, over the models."
    )
    heads = (*_heads(shown), "correlation")
    return [NumberTable("", caption, heads, tuple(columns.values()), rows)]


def _across_models(shown: LayoutRuns) -> Iterator[tuple[str, Results]]:
    """Yield each data set and the correlations with a model for each point."""
    asked: dict[str, list[AskedTexts]] = {}
    for place, folder in shown.folders.items():
        run = stored_run(RunFolder.open(folder))
        settings = settings_of_run(shown.manifests[place], Settings())
        for texts in load_long_answers(run):
            own = {one.mode: one for one in own_answers(run, texts)}
            if texts.method not in AGAINST_PLAIN and MAIN in own:
                asked.setdefault(place[1], []).append(AskedTexts(texts, own[MAIN], settings))
    for data, models in asked.items():
        if len(models) > 1:
            yield data, Results(across_models(models))


def _asks_again(settings: Settings, questions: Sequence[Question]) -> bool:
    return bool(modes_of(settings))


def _retrieves(settings: Settings, questions: Sequence[Question]) -> bool:
    return settings.retrieval


LABELED = "texts whose claims are labeled or checked"
ASKED_AGAIN = "claims that the model was asked about"
LAYOUTS = (
    PaperLayout(
        "self-known-figure1", "Supported, unsupported and irrelevant claims along the text",
        f"{PAPER}, Figure 1", LABELED, figure1,
    ),
    PaperLayout(
        "self-known-figure2", "Self-Known, Self-Unknown and flips along the text",
        f"{PAPER}, Figure 2", ASKED_AGAIN, figure2, possible=_asks_again,
    ),
    PaperLayout(
        "self-known-figure3", "Equation 3 along the text, in both readings, and the labels",
        f"{PAPER}, Figure 3", ASKED_AGAIN, figure3, possible=_asks_again,
    ),
    PaperLayout(
        "self-known-table1", "Claims per text and prompts answered", f"{PAPER}, Table 1",
        "runs of self_known", table1,
    ),
    PaperLayout(
        "self-known-figure4", "Factuality, unsupported share, SK and SU along the text, by model",
        f"{PAPER}, Figure 4", ASKED_AGAIN, figure4, possible=_asks_again,
    ),
    PaperLayout(
        "self-known-figure5", "Number of unsupported claims along the text, by model",
        f"{PAPER}, Figure 5", LABELED, figure5,
    ),
    PaperLayout(
        "self-known-figure6", "What passages do along the text", f"{PAPER}, Figure 6",
        "runs of self_known with --retrieval", figure6, possible=_retrieves,
    ),
    PaperLayout(
        "self-known-table2", "An example of retrieval", f"{PAPER}, Table 2",
        "runs of self_known with --retrieval", table2, possible=_retrieves,
    ),
    PaperLayout(
        "self-known-figure7", "Number of claims and factuality along the text, by who checked",
        f"{PAPER}, Figure 7", "two runs of the same texts, one of them labeled by people", figure7,
    ),
    PaperLayout(
        "self-known-figure8", "Figure 1 of further systems", f"{PAPER}, Figure 8",
        "texts of two models or more, whose claims are labeled or checked", figure8,
    ),
    PaperLayout(
        "self-known-figure9", "Figure 2 of further systems", f"{PAPER}, Figure 9",
        "texts of two models or more whose claims a model was asked about", figure9,
        possible=_asks_again,
    ),
    PaperLayout(
        "self-known-correlations", "Correlation of SK, SU and Equation 3 with factuality",
        f"{OURS}, after the text of {PAPER}",
        "claims that the model was asked about again, in ten texts or more",
        correlation_rows, possible=_asks_again,
    ),
)  # fmt: skip


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return LAYOUTS
