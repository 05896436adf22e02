"""Tables and figures of the paper on self-knowledge along a text (arXiv 2411.15993)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from sayso.harmless import line
from sayso.judges.english.tokens import STOP, tokens
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout, Run, rows_if_any
from sayso.protocols.self_known import measure, rows
from sayso.protocols.self_known.report import (
    FACTUALITY,
    OPINIONS,
    Curve,
    Place,
    curves_chart,
    part_label,
)
from sayso.protocols.self_known.settings import ASKED, MAIN, MODES, Settings, modes_of
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Claim, Estimate, Passage, Question, Results, Verdict, part_of
from sayso.report import charts
from sayso.report.number_tables import NumberTable, grid
from sayso.storage.run_folder import RunFolder

PAPER = "Tu et al. 2024 (arXiv 2411.15993)"
#: the method of texts that were written with passages
RETRIEVED = "retrieval"
#: characters of a claim or a prompt in a table
MOST = 600
#: (name, slice) of numbers by what they are called
Series = Mapping[str, tuple[str, Place]]
Labels = tuple[str, ...]


def _each(shown: LayoutRuns, methods: Sequence[str] = ()) -> Iterator[tuple[Labels, str, Results]]:
    """Yield labels, method and numbers of every run and method.

    Of the runs that have all of some ``methods`` these, or else all but the texts that were
    written once more with passages.
    """
    for labels, results, _ in shown.each():
        named = (part_of(e.where, "method") for e in results.each("claims_per_answer"))
        there = list(dict.fromkeys(name for name in named if name))
        wanted = methods or [method for method in there if method != RETRIEVED]
        for method in wanted if {*wanted} <= {*there} else ():
            yield (*labels, part_label("method", method)), method, results


def _heads(shown: LayoutRuns) -> Labels:
    return (*shown.heads, "texts")


# ---- figures along the text


class Along(NamedTuple):
    """A figure of numbers along the text: its caption and what it shows.

    ``share``: numbers are shares, and no counts; ``panel``: each text has a table of its own, with
    factuality in bold, if the model was asked about its claims. ``methods`` as in :func:`_each`.
    """

    caption: str
    series: Series
    share: bool = True
    panel: bool = False
    methods: Sequence[str] = ()


#: kinds of claims, and the beginning of the names of their numbers
KINDS = ("supported", "unsupported", "irrelevant")
MAINLY = {"mode": MAIN}


def _opinions(mode: str) -> Series:
    return {what: (name, {"mode": mode}) for name, what in OPINIONS.items()}


FIGURE1 = (
    Along(
        "(a) Claims along the text: share of a sentence's claims, mean over sentences.",
        {kind: (f"{kind}_share", {}) for kind in KINDS},
    ),
    Along(
        "(b) Number of claims in a sentence along the text.",
        {kind: (f"{kind}_per_sentence", {}) for kind in KINDS},
        share=False,
    ),
)
FIGURE2 = (
    *(
        Along(
            f'({letter}) Self-Known and Self-Unknown along the text, asked "{ASKED[mode]}"',
            _opinions(mode),
        )
        for letter, mode in zip("abc", MODES, strict=True)
    ),
    Along(
        "(d) Claims of a class that are no longer accepted once none of the above is offered.",
        {f"{name} claims": ("none_flips", {"class": name}) for name in KINDS[:2]},
    ),
)
FIGURE3 = Along(
    f'Factuality along the text, asked "{ASKED[MAIN]}"',
    {
        "labeled": ("labeled_factuality", MAINLY),
        "Equation 3, each part's own SK and SU (the paper)": ("equation3_in_sample", MAINLY),
        "Equation 3, SK and SU of other texts (flat by construction)": ("equation3", MAINLY),
    },
)
FIGURE4 = Along(
    "factuality, share of unsupported claims, SK and SU along the text.",
    {
        FACTUALITY: (FACTUALITY, {}),
        "unsupported share": ("unsupported_share", {}),
        **_opinions(MAIN),
    },
    panel=True,
)
FIGURE5 = Along(
    "Number of unsupported claims in a sentence along the text.",
    {"unsupported": ("unsupported_per_sentence", {})},
    share=False,
)
FIGURE6 = (
    Along(
        "(a) Factuality, SK and SU along the text.",
        {FACTUALITY: (FACTUALITY, {}), **_opinions(MAIN)},
        panel=True,
        methods=(RETRIEVED,),
    ),
    FIGURE5._replace(
        caption="(b) Number of unsupported claims in a sentence, without and with passages.",
        methods=("plain", RETRIEVED),
    ),
)


def _found(shown: LayoutRuns, figure: Along) -> dict[Labels, Curve]:
    """Return the curves of a figure that have a value, by their labels."""
    curves = {
        (*labels, what): dict(results.by("part", name, method=method, **where))
        for labels, method, results in _each(shown, figure.methods)
        for what, (name, where) in figure.series.items()
    }
    return {k: c for k, c in curves.items() if any(e.value is not None for e in c.values())}


def tables_along(shown: LayoutRuns, *figures: Along) -> list[NumberTable]:
    """Return numbers by part of the text: one table, or one for each run where curves are many."""
    tables = []
    for figure in figures:
        found = _found(shown, figure)
        one = 0 if len(found) <= len(charts.COLORS) else len(shown.heads)
        of_a_table = len(_heads(shown)) if figure.panel else one
        groups: dict[Labels, dict[Labels, Curve]] = {}
        for labels, curve in found.items():
            groups.setdefault(labels[:of_a_table], {})[labels] = curve
        for of, curves in groups.items():
            whats = {labels[-1] for labels in curves}
            if not figure.panel or (FACTUALITY in whats and whats & {*OPINIONS.values()}):
                named = f"{' · '.join(of)}: {figure.caption}" if of else figure.caption
                tables.append(_curves(shown, figure._replace(caption=named), curves))
    return tables


def _curves(
    shown: LayoutRuns, figure: Along, found: Mapping[Labels, Curve], notes: Sequence[str] = ()
) -> NumberTable:
    """Return a table of curves and their chart, which names them by the labels that differ."""
    parts = {part: part for curve in found.values() for part in curve}
    heads = (*_heads(shown), "what")
    differ = [len({*column}) > 1 for column in zip(*found, strict=True)]
    differ[-1] = True
    told = {
        " · ".join(label for label, apart in zip(labels, differ, strict=True) if apart): curve
        for labels, curve in found.items()
    }
    table = grid(
        figure.caption, found, parts, lambda curve, part: curve.get(part), labels=heads,
        written="plain", notes=notes,
    )  # fmt: skip
    chart = partial(curves_chart, told, share=figure.share, panel=figure.panel)
    return table._replace(chart=chart)


# ---- what is made of stored texts


class _Stored(NamedTuple):
    """Texts of a run by one method."""

    labels: Labels
    results: Results
    run: Run
    settings: Settings
    texts: rows.LongAnswers

    def claims(self) -> Curve:
        """Return the mean number of claims of a sentence that has some, by part of the text."""
        number, bins = self.texts.counts().sum(axis=1), self.settings.bins
        place = self.texts.places(bins, self.settings.closed)
        curve = {}
        for part in range(bins):
            here = number[(place == part) & (number > 0)]
            value = float(here.mean()) if len(here) else None
            problem = None if len(here) else "no sentence with claims"
            e = Estimate("claims", value=value, n=len(here), problem=problem)
            curve[f"{part + 1}/{bins}"] = e
        return curve


def _stored(shown: LayoutRuns) -> Iterator[_Stored]:
    for labels, results, manifest, folder in shown.each_with_folder():
        run, settings = stored_run(RunFolder.open(folder)), settings_of_run(manifest, Settings())
        for texts in rows.load_long_answers(run):
            yield _Stored(labels, results, run, settings, texts)


def figure7(shown: LayoutRuns) -> list[NumberTable]:
    """Return claims and factuality along the text as people and as sayso find and check them.

    Shown are runs whose claims people labeled, and runs of the same texts without these labels.
    """
    every = [
        (one, rows.checkers(one.run).partition("+")[0], {g.text.strip() for g in one.texts.kept})
        for one in _stored(shown)
        if one.texts.method != RETRIEVED
    ]
    found: dict[Labels, _Stored] = {}
    notes = []
    for people, by, labeled in every:
        for tool, reader, texts in every if by == measure.PEOPLE_SAID else ():
            if reader != by and texts & labeled:
                for one, who in ((people, by), (tool, reader)):
                    found[(*one.labels, part_label("method", one.texts.method), who)] = one
                notes.append(
                    f"{tool.labels[0]}: {len(texts & labeled):,} of {len(texts):,} texts are among "
                    "those that people labeled"
                )
    if not found:
        return []
    numbers = {labels: one.claims() for labels, one in found.items()}
    shares = {
        labels: dict(one.results.by("part", FACTUALITY, method=one.texts.method))
        for labels, one in found.items()
    }
    by_whom = "along the text, by who found and checked the claims."
    of_claims = Along(f"(a) Number of claims of a sentence {by_whom}", {}, share=False)
    of_shares = Along(f"(b) Factuality {by_whom}", {})
    return [_curves(shown, of_claims, numbers, notes), _curves(shown, of_shares, shares, notes)]


class _RatedClaim(NamedTuple):
    """A claim that is supported or not, its words, its topic, and the prompt of its text."""

    claim: Claim
    words: frozenset[str]
    topic: str
    prompt: str
    supported: bool


def table2(shown: LayoutRuns) -> list[NumberTable]:
    """Return an example of each run: a claim without and with passages before the prompt.

    It is an unsupported claim, and the supported claim of the text with passages that shares most
    of its words. Where no text has both, it is the two claims that share most words.
    """
    tables = []
    for labels, stored in groupby(_stored(shown), key=lambda one: one.labels):
        texts = {one.texts.method: one for one in stored}
        if not {"plain", RETRIEVED} <= texts.keys():
            continue
        run = texts["plain"].run
        first, second = (_rated(texts[method].texts) for method in ("plain", RETRIEVED))
        pairs = [(one, other) for one in first for other in second if one.topic == other.topic]
        if not pairs:
            continue
        one, other = max(pairs, key=_corrects)
        said = {v.target: v.label for v in run.folder.read(f"verdicts/self-{MAIN}", Verdict)}
        looked_up = (p.text.strip() for p in rows_if_any(run, f"passages/{rows.STAGE}", Passage))
        passages = [t for t in dict.fromkeys(looked_up) if t and t[:MOST] in other.prompt]
        found: list[tuple[Labels, tuple[str | None, ...]]] = []
        named = {"claim without passages": (one, 0), "claim with passages": (other, len(passages))}
        for name, (c, before) in named.items():
            right, answer = "yes" if c.supported else "no", said.get(c.claim.id) or "not asked"
            found.append(((name, line(c.claim.text, MOST)), (right, answer, str(before))))
        for n, text in enumerate(passages, 1):
            found.append(((f"passage {n}", line(text, MOST)), (None, None, None)))
        caption = (
            f"{' · '.join(labels)}: a claim, the claim closest to it in words in the text written "
            "with passages, and passages of that text's prompt."
        )
        columns = ("supported", "is it right? The model says", "passages before the prompt")
        tables.append(NumberTable("", caption, ("answer", "text"), columns, found))
    return tables


def _corrects(pair: tuple[_RatedClaim, _RatedClaim]) -> tuple[bool, float]:
    """Return whether the second claim corrects the first, and the share of words in both."""
    one, other = pair
    shared = len(one.words & other.words) / max(len(one.words | other.words), 1)
    return not one.supported and other.supported, shared


def _rated(texts: rows.LongAnswers) -> list[_RatedClaim]:
    found = []
    for n in np.flatnonzero(texts.rated).tolist():
        claim, g = texts.claims[n], texts.kept[int(texts.text[n])]
        words = frozenset(t.stem for t in tokens(claim.text) if t.text not in STOP)
        prompt, right = g.request.messages[-1].content, bool(texts.label[n] == rows.SUPPORTED)
        found.append(_RatedClaim(claim, words, g.question, prompt, right))
    return found


# ---- tables of whole texts


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return how many prompts were answered, and how many claims an answer makes."""
    texts = {labels: (results, method) for labels, method, results in _each(shown)}

    def found(text: tuple[Results, str], name: str) -> Estimate:
        e = text[0].get(name, method=text[1])
        if name != "response_rate":
            return e
        value, low, high = (None if x is None else 1 - x for x in (e.value, e.high, e.low))
        return Estimate("filtered", (), value, low, high, n=e.n, problem=e.problem)

    columns = {"claims per text": "claims_per_answer", "filtered share": "response_rate"}
    caption = "Claims per text, and share of texts filtered out as not answering."
    return [grid(caption, texts, columns, found, labels=_heads(shown), written="plain")]


def correlation_rows(shown: LayoutRuns) -> list[NumberTable]:
    """Return how SK, SU and Equation 3 go with factuality, along the text and across models."""
    columns = {"SK": "SK", "SU": "SU", "Equation 3": "equation3_in_sample"}
    of_texts = {
        labels: (results, {"method": method, "mode": MAIN})
        for labels, method, results in _each(shown)
    }
    for data, found in _across_models(shown):
        of_texts[(*("across models", data)[: len(shown.heads)], "")] = found, {}
    every = {
        (*labels, kind.title()): (f"factuality_{kind}", results, place)
        for labels, (results, place) in of_texts.items()
        for kind in ("pearson", "spearman")
    }

    def cell(row: tuple[str, Results, Place], curve: str) -> Estimate | None:
        name, results, place = row
        return results.find(name, **place, **{"with": curve})

    caption = (
        "Correlation with labeled factuality over the parts of the text and, with three models or "
        "more, over the models."
    )
    heads = (*_heads(shown), "correlation")
    return [grid(caption, every, columns, cell, labels=heads, written="plain")]


def _across_models(shown: LayoutRuns) -> Iterator[tuple[str, Results]]:
    """Yield each data set and the correlations with a model for each point."""
    asked = defaultdict[str, list[tuple[rows.LongAnswers, measure.OwnAnswers, Settings]]](list)
    for one in _stored(shown):
        own = {answers.mode: answers for answers in measure.own_answers(one.run, one.texts)}
        if one.texts.method not in measure.AGAINST_PLAIN and MAIN in own:
            data = one.labels[1] if len(shown.heads) > 1 else "".join(shown.data)
            asked[data].append((one.texts, own[MAIN], one.settings))
    for data, models in asked.items():
        if len(models) > 2:
            yield data, Results(measure.across_models(models))


# ---- the layouts


def _asks_again(settings: Settings, questions: Sequence[Question]) -> bool:
    return bool(modes_of(settings))


def _retrieves(settings: Settings, questions: Sequence[Question]) -> bool:
    return settings.retrieval


LABELED = "texts whose claims are labeled or checked"
ASKED_AGAIN = "claims that the model was asked about"
OTHERS_ASKED = "texts of two models or more whose claims a model was asked about"
RETRIEVING = "runs of self_known with --set retrieval=true"
#: what a layout needs -> whether a run can have it
POSSIBLE = {ASKED_AGAIN: _asks_again, OTHERS_ASKED: _asks_again, RETRIEVING: _retrieves}


def _layout(
    place: str,
    title: str,
    needs: str,
    *figures: Along,
    make: Callable[[LayoutRuns], list[NumberTable]] | None = None,
    others: bool = False,
) -> PaperLayout:
    """Return the layout at a place of the paper, such as "Figure 1".

    ``others``: of all models but the first.
    """

    def made(shown: LayoutRuns) -> list[NumberTable]:
        return tables_along(shown._replace(models=shown.models[others:]), *figures)

    name = f"self-known-{place.lower().replace(' ', '')}"
    own = PaperLayout(name, title, f"{PAPER}, {place}", needs, make or made)
    return own._replace(possible=POSSIBLE[needs]) if needs in POSSIBLE else own


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return (
        _layout("Figure 1", "Supported, unsupported and irrelevant claims along the text", LABELED,
                *FIGURE1),
        _layout("Figure 2", "Self-Known, Self-Unknown and flips along the text", ASKED_AGAIN,
                *FIGURE2),
        _layout("Figure 3", "Equation 3 along the text, in both readings, and the labels",
                ASKED_AGAIN, FIGURE3),
        _layout("Table 1", "Claims per text and prompts answered", "runs of self_known",
                make=table1),
        _layout("Figure 4", "Factuality, unsupported share, SK and SU along the text, by model",
                ASKED_AGAIN, FIGURE4),
        _layout("Figure 5", "Number of unsupported claims along the text, by model", LABELED,
                FIGURE5),
        _layout("Figure 6", "What passages do along the text", RETRIEVING, *FIGURE6),
        _layout("Table 2", "An example of retrieval", RETRIEVING, make=table2),
        _layout("Figure 7", "Number of claims and factuality along the text, by who checked",
                "two runs of the same texts, one of them labeled by people", make=figure7),
        _layout("Figure 8", "Figure 1 of further systems",
                "texts of two models or more, whose claims are labeled or checked",
                *FIGURE1, others=True),
        _layout("Figure 9", "Figure 2 of further systems", OTHERS_ASKED, *FIGURE2, others=True),
        PaperLayout(
            "self-known-correlations", "Correlation of SK, SU and Equation 3 with factuality",
            f"{OURS}, after the text of {PAPER}",
            "claims that the model was asked about again, in ten texts or more",
            correlation_rows, possible=_asks_again,
        ),
    )  # fmt: skip
