"""A study shown: its tables in the terminal, in files, and on one page."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec
import numpy as np
from rich.console import Console

from sayso.harmless import line
from sayso.metric import Headline
from sayso.metrics.arrays import or_none
from sayso.metrics.joint import ALPHA, JointNumber, spread_between
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import LayoutRuns, PaperLayout, Protocol, Unsuited
from sayso.records import Estimate, InputError, Slice
from sayso.report import charts
from sayso.report.corrected import judge_effect
from sayso.report.differences import ranked_sentence
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.number_tables import (
    CORRECTED_INTERVAL,
    INTERVALS,
    WITH_INTERVAL,
    WRITERS,
    Entry,
    NumberTable,
    latex_text,
    page_table,
    rank_text,
    render_table,
)
from sayso.report.numbers import FORMS, compact_number, tight
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, Example, PageOpening
from sayso.report.page import page, write_index
from sayso.report.terminal import say
from sayso.runs.job import load_data
from sayso.storage.atomic import place_inside, replacing
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import Grid, GridCell
from sayso.studies.joined import FinishedRun, StudyNumbers

INDEX = "index.html"
#: the table of the headline numbers
HEADLINE = "headline"
#: folder of the tables, beside the page
TABLES = "tables"
#: parts of a slice beyond which a number is one of a table of its own (a score against a metric)
PLAIN_PARTS = 2
#: begins the head of a column of ranks
RANKED = "rank by "
#: cautions of a run on the page of a study; all stand on its own page
CAUTIONS = 3


class Section(NamedTuple):
    """One protocol of a study: how it begins, tables to read first, and those behind them."""

    protocol: str
    title: str
    opening: PageOpening
    notes: list[str]
    headline: NumberTable
    first: list[NumberTable]
    more: list[NumberTable]
    everything: NumberTable
    differences: NumberTable
    charts: list[tuple[str, list[charts.Row]]]


def study_sections(study: StudyNumbers) -> list[Section]:
    """Return what is shown of each protocol. Raises InputError for runs that cannot be compared."""
    return [_section(study, name) for name in study.protocols]


def _section(study: StudyNumbers, protocol: str) -> Section:
    plan = PROTOCOLS[protocol]
    models, data = study.of(protocol)
    numbers, judged = study.numbers(protocol), study.judged(protocol)
    plain = [n for n in numbers if len(n.where) <= PLAIN_PARTS]
    scored = [n for n in numbers if len(n.where) > PLAIN_PARTS]
    overviews = [
        _overview(protocol, plan, where, [n for n in plain if n.where == where], study)
        for where in dict.fromkeys(n.where for n in plain)
    ]
    apart = [_by_data(protocol, plan, number, models, data) for number in plain]
    grids = list(_grids(protocol, plan, _alike(scored, judged), models, _over(study, data)))
    ranked = headlines(study, protocol)
    return Section(
        protocol,
        _title(study, protocol),
        _opening(study, protocol, ranked),
        [*study.notes(protocol), *_within_spread(study, protocol, ranked)],
        _headline(study, protocol),
        [*_spreads(study, protocol), *_corrected(plan, study), *overviews, *grids],
        apart,
        _everything(protocol, plan, _beside_judged(numbers, judged), models, data),
        _differences(protocol, plan, numbers, models),
        _charts(ranked, models, plan),
    )


#: ends "What this does not show:"
NOT_SHOWN = (
    "why two models differ. Models with different bases also know different things: compare how "
    "much each knows, and how well it says so"
)


def headlines(study: StudyNumbers, protocol: str) -> list[tuple[Headline, list[JointNumber]]]:
    """Return the headline numbers of a protocol that a study has, each in one or several forms."""
    numbers = study.numbers(protocol)
    found = []
    for name, headline in PROTOCOLS[protocol].metrics.headlines.items():
        own = [n for n in numbers if n.name == name and set(headline.only) <= set(n.where)]
        own = [n for n in own if _without_form(n.where) == _without_form(own[0].where)]
        if own:
            found.append((headline, own))
    return found


def _without_form(where: Slice) -> Slice:
    return tuple(pair for pair in where if pair[0] != "form")


def _title(study: StudyNumbers, protocol: str) -> str:
    """Return the question that the runs of a protocol answer."""
    first = next(run for run in study.runs if run.protocol == protocol)
    return PROTOCOLS[protocol].report.heading(first.results.all)


def _opening(
    study: StudyNumbers, protocol: str, ranked: Sequence[tuple[Headline, list[JointNumber]]]
) -> PageOpening:
    """Return how a protocol of a study begins: who is best in what, or what the one model does."""
    models, _ = study.of(protocol)
    runs = [run for run in study.runs if run.protocol == protocol]
    own = PROTOCOLS[protocol].report.opening(runs[0].results.all, runs[0].manifest)
    if len(models) == 1:
        return own._replace(sentence=_of_each_data_set(runs), first=(), later=())
    ranks = [(headline, numbers[0].ranking.ranks) for headline, numbers in ranked]
    names = [line(model, 60) for model in models]
    sentence = ranked_sentence(ranks, names) or (
        f"These {len(models):,} models cannot be ranked: no headline number of two of them can be "
        "compared."
    )
    plan = PROTOCOLS[protocol]
    by_people = [_symbol(plan, own[0].name) for _, own in ranked if own[0].corrected]
    if by_people:
        sentence += f" Labels of people correct {' and '.join(by_people)} for the judge's errors."
    sentence = " ".join([sentence, *([] if by_people else rules_alone(runs))])
    invented = all(run.manifest.model.startswith("builtin") for run in runs)
    return PageOpening(sentence, own.not_shown if invented else f"{NOT_SHOWN}.")


#: what is said of models that rules alone compare
BENT = (
    "The offline judge errs more with some models than with others, which can change ranks: label "
    "answers of each model (sayso label RUN), or use --judge rules+MODEL."
)


def rules_alone(runs: Iterable[FinishedRun]) -> tuple[str, ...]:
    """Return :data:`BENT` for runs of several models, of which rules alone judge some."""
    judged = {run.model: run.manifest.judge for run in runs}
    return (BENT,) if len(judged) > 1 and "rules" in judged.values() else ()


#: data sets that a first sentence tells of
MOST_TOLD = 3


def _of_each_data_set(runs: Sequence[FinishedRun]) -> str:
    """Return what one model does: its sentence, on each of several data sets."""
    told = [
        PROTOCOLS[run.protocol].report.opening(run.results.all, run.manifest).sentence
        for run in runs
    ]
    if len(runs) == 1:
        return told[0]
    parts = [f"{line(r.data, 60)}: {text}" for r, text in zip(runs, told, strict=True)]
    more = len(parts) - MOST_TOLD
    return " ".join([*parts[:MOST_TOLD], *[f"{more:,} more below."] * (more > 0)])


def examples(study: StudyNumbers, protocol: str, by: str = "") -> ChosenExamples:
    """Return a good answer of the model that ranks first, a bad one of the last, a typical one.

    By the last of the headline numbers that tells models apart, or the one that is named ``by``,
    else in their order; the typical answer is of the model between them.
    """
    models, data = study.of(protocol)
    every = [
        numbers[0].ranking.ranks
        for _, numbers in headlines(study, protocol)
        if by in ("", numbers[0].name)
    ]
    apart = [ranks for ranks in every if len(set(ranks) - {None}) > 1]
    order = list(models)
    if apart:
        ranks = dict(zip(models, apart[-1], strict=True))
        order = sorted(models, key=lambda model: ranks[model] or (len(models), len(models)))
    chosen = (order[0], order[-1], order[len(order) // 2])
    shown: list[Example] = []
    for place, model in zip((0, 1, -1), chosen, strict=True):
        run = next(r for r in study.runs if r.protocol == protocol and r.model == model)
        folder = RunFolder.open(run.path)
        own = PROTOCOLS[protocol].report.examples(folder, run.manifest, run.results.all).shown
        if len(own) > abs(place):
            name = f", from {line(model, 60)}" if len(models) > 1 else ""
            name += f", on {line(run.data, 60)}" if len(data) > 1 else ""
            shown.append(own[place]._replace(what=f"{own[place].what}{name}"))
    rule = "Each example is chosen the same way as on its run's page."
    if len(models) > 1:
        which = f"that {'rank' if apart else 'stand'} first, last and in between"
        rule = f"Answers from the models {which}. {rule}"
    return ChosenExamples(shown, rule) if shown else NO_EXAMPLES


def _of(plan: Protocol, where: Slice) -> str:
    return ", ".join(plan.report.part_label(key, value) for key, value in where) or "all answers"


def _symbol(plan: Protocol, name: str) -> str:
    """Return what the head of a column calls a number: its symbol, else what it means."""
    return plan.metrics.named(name).shown_symbol


#: ends the head of a number that labels of people correct
BY_LABELS = ", corrected"
#: what tables say of such numbers
ABOUT_CORRECTED = (
    "Corrected: for the errors of the judge, by labels of people. Means and differences have their "
    "intervals from those of the runs, as of independent runs. Runs on the same questions are not "
    "independent, so intervals of differences are usually too wide."
)


def _head(plan: Protocol, number: JointNumber) -> str:
    """Return what the head of a column calls a number, and whether it is corrected."""
    return f"{_symbol(plan, number.name)}{BY_LABELS * number.corrected}"


def _part(plan: Protocol, number: JointNumber) -> str:
    """Return what a number is of, and whether it is corrected."""
    return f"{_of(plan, number.where)}{BY_LABELS * number.corrected}"


def _intervals(numbers: Sequence[JointNumber]) -> str:
    """Return what ends the caption of a table of numbers."""
    return CORRECTED_INTERVAL if any(n.corrected for n in numbers) else WITH_INTERVAL


def _about(numbers: Sequence[JointNumber]) -> list[str]:
    """Return what a table says of corrected numbers, if it has any."""
    return [ABOUT_CORRECTED] if any(n.corrected for n in numbers) else []


def _alike(numbers: Sequence[JointNumber], judged: Sequence[JointNumber]) -> list[JointNumber]:
    """Return numbers, the judge's where labels correct only some of those in one table.

    A table of scores ranks them: a corrected one beside another would rank judges.
    """
    own = {(n.name, n.where): n for n in judged}
    mixed = {(n.name, n.where[:-1]) for n in numbers if not n.corrected}
    return [own[n.name, n.where] if (n.name, n.where[:-1]) in mixed else n for n in numbers]


def _beside_judged(
    numbers: Sequence[JointNumber], judged: Sequence[JointNumber]
) -> list[JointNumber]:
    """Return all numbers, each corrected one after the judge's."""
    pairs = zip(judged, numbers, strict=True)
    return [one for own, n in pairs for one in ((own, n) if n.corrected else (own,))]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _over(study: StudyNumbers, data: Sequence[str]) -> str:
    return f"mean over {_columns(study, data)}" if len(data) > 1 else f"on {data[0]}"


def _columns(study: StudyNumbers, data: Sequence[str]) -> str:
    """Return how many data sets there are, and in how many words and samples they are asked."""
    sets = set(study.sets(data))
    if len(sets) == len(data):
        return _many(len(data), "data set")
    of = f" of {_many(len(sets), 'data set')}" if len(sets) > 1 else ""
    return f"{_many(len(data), 'repetition')}{of} (wordings, samples)"


def _spreads(study: StudyNumbers, protocol: str) -> Iterator[NumberTable]:
    """Yield how far headline numbers lie apart over wordings and samples, beside sampling error."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    plan = PROTOCOLS[protocol]
    every = {"of the first run": study, "each run's own": study.with_own_probes}
    for probes, of in every.items():
        if of is None or protocol not in of.protocols:
            continue
        models, data = of.of(protocol)
        sets = of.sets(data)
        if len(set(sets)) == len(sets):
            return
        for number in (n for _, numbers in headlines(of, protocol) for n in numbers):
            between, within = spread_between(number.joint, number.cells, sets)
            for m, model in enumerate(models):
                cells = sorted(
                    (e for e in number.cells[m] if e.value is not None), key=lambda e: e.value or 0
                )
                labels = (_symbol(plan, number.name), _part(plan, number), model, probes)
                ends = (cells[0], cells[-1]) if cells else (None, None)
                apart = (or_none(between[m]), or_none(within[m]))
                sizes = (Estimate("spread", value=x, problem=NO_SPREAD[x is None]) for x in apart)
                rows.append((labels, (number.means[m], *sizes, *ends)))
    rows.sort(key=lambda row: (row[0][1], row[0][0], study.models.index(row[0][2])))
    yield NumberTable(
        _name(protocol, "spread"),
        f"How far runs of other wordings and samples lie apart{_intervals([])}",
        ("number", "of", "model", "probes"),
        ("mean", "spread", "sampling error", "lowest", "highest"),
        rows,
        (ABOUT_SPREAD,),
        meanings=_meanings(plan, [labels[0] for labels, _ in rows]),
    )


#: why a spread has no value, if it has none
NO_SPREAD = (None, "undefined in one of the runs")
#: what a table of spreads says
ABOUT_SPREAD = (
    "Spread: standard deviation between runs of one data set. Sampling error: standard error of "
    "one run, because it asks about a sample of entities."
)


def _within_spread(
    study: StudyNumbers, protocol: str, ranked: Sequence[tuple[Headline, list[JointNumber]]]
) -> Iterator[str]:
    """Yield which differences of two models are smaller than the spread of one of them."""
    plan, (models, data) = PROTOCOLS[protocol], study.of(protocol)
    for number in (n for _, numbers in ranked for n in numbers):
        between, _ = spread_between(number.joint, number.cells, study.sets(data))
        small = [
            f"{line(models[pair.first], 60)} and {line(models[pair.second], 60)}"
            for pair in number.ranking.pairs
            if pair.difference is not None
            and abs(pair.difference) < np.fmax(between[pair.first], between[pair.second])
        ]
        if small:
            more = f" and {len(small) - MOST_TOLD:,} more pairs" if len(small) > MOST_TOLD else ""
            yield (
                f"{_symbol(plan, number.name)}, {_part(plan, number)}: the difference between "
                f"{'; '.join(small[:MOST_TOLD])}{more} is smaller than the spread of one model "
                "over wordings and samples"
            )


def _name(protocol: str, *parts: str) -> str:
    """Return the name of a table's files, in a folder of the protocol."""
    text = "-".join(part for part in parts if part)
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in text)[:100].strip("-")
    return f"{protocol}/{plain or 'table'}"


def _overview(
    protocol: str, plan: Protocol, where: Slice, numbers: Sequence[JointNumber], study: StudyNumbers
) -> NumberTable:
    """Return models by numbers of one form or method, headline numbers and their ranks first."""
    models, data = study.of(protocol)
    names = list(plan.metrics.headlines)
    first = sorted(
        (n for n in numbers if n.name in names), key=lambda number: names.index(number.name)
    )
    ranked = [n for n in first if any(n.ranking.ranks)]
    ordered = [*first, *(n for n in numbers if n.name not in names)]
    at = len(first)
    columns = [_head(plan, number) for number in ordered]
    columns[at:at] = [f"{RANKED}{_head(plan, number)}" for number in ranked]
    best: list[bool | None] = [number.joint.higher for number in ordered]
    best[at:at] = [None] * len(ranked)
    rows = []
    for m, model in enumerate(models):
        entries: list[Entry] = [number.means[m] for number in ordered]
        entries[at:at] = [rank_text(number.ranking.ranks[m]) for number in ranked]
        rows.append(((model,), tuple(entries)))
    notes = [seen for number in ranked if (seen := _detectable(plan, number))]
    notes += _about(numbers)
    return NumberTable(
        _name(protocol, *(value for _, value in where)),
        f"{_capital(_of(plan, where))}, {_over(study, data)}{_intervals(numbers)}",
        ("model",),
        tuple(columns),
        rows,
        tuple(notes),
        best=tuple(best),
        meanings=_meanings(plan, columns),
    )


def _meanings(plan: Protocol, heads: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the symbols that stand in column heads or sentences, and what each means."""
    words = {word for head in heads for word in re.split(r"[ ,]+", head)} - {""}
    return tuple((m.symbol, m.defined) for m in plan.metrics.values() if m.symbol in words)


def _detectable(plan: Protocol, number: JointNumber, of: str = "") -> str:
    """Return which differences a study of this size can see; empty where none is tested.

    ``of`` is what the number is called, else its symbol and its form or method.
    """
    pairs = [pair for pair in number.ranking.pairs if pair.corrected is not None]
    clear = sum(pair.clear for pair in pairs)
    if not pairs or number.joint.higher is None:
        return ""
    text = f"{of or f'{_symbol(plan, number.name)}, {_part(plan, number)}'}: "
    if len(pairs) == 1:
        text += f"{'a clear' if clear else 'no visible'} difference between the two models."
    else:
        text += (
            f"{f'{clear:,}' if clear else 'none'} of the {len(pairs):,} pairs of models "
            f"{'differs' if clear < 2 else 'differ'} after Holm's correction."
        )
    if (size := number.ranking.detectable) is not None:
        some = (
            f"A difference of {compact_number(size)}" if size <= 1 else "Not even a difference of 1"
        )
        text += f" {some} would be detected with 80 % power."
    return text


def _headline(study: StudyNumbers, protocol: str, most: int | None = None) -> NumberTable:
    """Return models by headline numbers, each with its rank; ``most`` are the columns wanted.

    A number that is the same in all forms stands once.
    """
    plan = PROTOCOLS[protocol]
    models, data = study.of(protocol)
    shown = [
        (
            number,
            f"{_called(plan, number, len(numbers) > len(distinct) == 1)}"
            f"{BY_LABELS * number.corrected}",
        )
        for _, numbers in headlines(study, protocol)
        for distinct in [_distinct(numbers)]
        for number in distinct
    ][:most]
    columns: list[str] = []
    best: list[bool | None] = []
    groups: list[tuple[str, int]] = []
    short: list[str] = []
    for number, called in shown:
        ranked = any(number.ranking.ranks)
        columns += [called, f"{RANKED}{called}"] if ranked else [called]
        best += [number.joint.higher, None] if ranked else [number.joint.higher]
        groups.append((called, 1 + ranked))
        short += ["value", "rank"] if ranked else ["value"]
    rows = []
    for m, model in enumerate(models):
        entries: list[Entry] = []
        for number, _ in shown:
            ranked = any(number.ranking.ranks)
            entries += [number.means[m], *([rank_text(number.ranking.ranks[m])] * ranked)]
        rows.append(((model,), tuple(entries)))
    notes = [seen for number, called in shown if (seen := _detectable(plan, number, called))]
    every = [number for number, _ in shown]
    notes += _about(every)
    what = "Values and ranks" if "rank" in short else "Values"
    return NumberTable(
        _name(protocol, HEADLINE), f"{what}, {_over(study, data)}{_intervals(every)}", ("model",),
        tuple(columns), rows, tuple(notes), groups=tuple(groups), short=tuple(short),
        best=tuple(best), meanings=_meanings(plan, columns),
    )  # fmt: skip


def _called(plan: Protocol, number: JointNumber, whole: bool) -> str:
    """Return what a headline number is called: its symbol, and its form unless it has none.

    Where its forms are equal (``whole``), a symbol says so; words such as "facts that it knows"
    are about no form.
    """
    symbol, form = _symbol(plan, number.name), dict(number.where).get("form", "")
    if form not in FORMS:
        return symbol
    if not whole:
        return f"{symbol}, {FORMS[form]}"
    return f"{symbol}, both forms" if plan.metrics.named(number.name).symbol else symbol


def _by_data(
    protocol: str, plan: Protocol, number: JointNumber, models: Sequence[str], data: Sequence[str]
) -> NumberTable:
    """Return one number: models by data sets, their mean, and ranks."""
    several = len(data) > 1
    rows = []
    for m, model in enumerate(models):
        mean: tuple[Entry, ...] = (number.means[m],) if several else ()
        rank: tuple[Entry, ...] = (rank_text(number.ranking.ranks[m]),)
        rank = rank if any(number.ranking.ranks) else ()
        rows.append(((model,), (*rank, *mean, *number.cells[m])))
    head = ("rank",) if any(number.ranking.ranks) else ()
    what = plan.metrics.named(number.name).titled
    columns = (*head, *(("mean",) if several else ()), *data)
    notes = [_detectable(plan, number)] if len(models) > 1 else []
    return NumberTable(
        _name(protocol, *(value for _, value in number.where), number.name),
        f"{what}, {_part(plan, number)}{CORRECTED_INTERVAL * number.corrected}",
        ("model",),
        tuple(f"{column}{BY_LABELS * number.corrected}" for column in columns),
        rows,
        (*notes, *_about([number])),
        best=(None,) * len(head) + (number.joint.higher,) * (several + len(data)),
    )


def _grids(
    protocol: str,
    plan: Protocol,
    numbers: Sequence[JointNumber],
    models: Sequence[str],
    over: str,
) -> Iterator[NumberTable]:
    """Yield tables of numbers that differ in their last part, such as scores: those by models."""
    groups: dict[tuple[str, Slice], list[JointNumber]] = {}
    for number in numbers:
        groups.setdefault((number.name, number.where[:-1]), []).append(number)
    for (name, where), members in groups.items():
        key = members[0].where[-1][0]
        best = sorted(members, key=_worth, reverse=True)
        by_labels = BY_LABELS * members[0].corrected
        rows = [((plan.report.part_label(*n.where[-1]),), tuple(n.means)) for n in best]
        yield NumberTable(
            _name(protocol, *(value for _, value in where), name),
            f"{_symbol(plan, name)}{by_labels}, {_of(plan, where)}: {over}{_intervals(members)}",
            (key,),
            tuple(f"{model}{by_labels}" for model in models),
            rows,
            tuple(_about(members)),
            meanings=_meanings(plan, [_symbol(plan, name)]),
            best=tuple(members[0].joint.higher for _ in models),
        )


def _worth(number: JointNumber) -> float:
    """Return the mean over all models that have the number."""
    values = [e.value for e in number.means if e.value is not None]
    return sum(values) / len(values) if values else -1.0


def _everything(
    protocol: str,
    plan: Protocol,
    numbers: Sequence[JointNumber],
    models: Sequence[str],
    data: Sequence[str],
) -> NumberTable:
    """Return every number of every model: its rank, its mean, and its value on each data set."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = [
        (
            (n.name, _part(plan, n), model),
            (rank_text(n.ranking.ranks[m]), n.means[m], *n.cells[m]),
        )
        for n in numbers
        for m, model in enumerate(models)
    ]
    head = ("rank", "mean", *data)
    return NumberTable(
        _name(protocol, "numbers"),
        f"{protocol}: every number",
        ("number", "of", "model"),
        head,
        rows,
    )


def _corrected(plan: Protocol, study: StudyNumbers) -> Iterator[NumberTable]:
    """Yield the headline numbers that labels of people correct for the judge, beside the raw ones.

    Nothing where no run of the protocol has labels.
    """
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = [
        (
            (_symbol(plan, one.raw.name), _of(plan, one.raw.where), run.model, run.data),
            (one.raw, one.corrected, one.alone, f"{one.labels:,}", judge_effect(one)),
        )
        for run in (() if study.raw else study.runs)
        if run.protocol == plan.name
        for one in study.corrected(run)
        if one.raw.name in plan.metrics.headlines
    ]
    if rows:
        yield NumberTable(
            _name(plan.name, "corrected"),
            f"Headline numbers corrected by labels of people{CORRECTED_INTERVAL}",
            ("number", "of", "model", "data"),
            ("judge", "corrected", "labels alone", "labels", "judge made it"),
            rows,
            notes=("Only corrected intervals contain the errors of the judge.",),
        )


def _differences(
    protocol: str, plan: Protocol, numbers: Sequence[JointNumber], models: Sequence[str]
) -> NumberTable:
    """Return every pair of models and number: the difference, p, and p after Holm."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    for n in numbers:
        for pair in n.ranking.pairs:
            problem = None if pair.difference is not None else "not computed for both"
            difference = Estimate(
                n.name, n.where, pair.difference, pair.low, pair.high, problem=problem
            )
            tests = tuple(Estimate(n.name, value=p) for p in (pair.p, pair.corrected))
            labels = (n.name, _part(plan, n), models[pair.first], models[pair.second])
            rows.append((labels, (difference, *tests)))
    return NumberTable(
        _name(protocol, "differences"),
        f"{protocol}: second model minus first, paired; p after Holm's correction over all pairs "
        "of each number",
        ("number", "of", "first", "second"),
        ("difference", "p", "p after Holm"),
        rows,
    )


def _charts(
    ranked: Sequence[tuple[Headline, list[JointNumber]]], models: Sequence[str], plan: Protocol
) -> list[tuple[str, list[charts.Row]]]:
    """Return what each headline number is called, and its rows of a chart: models by form.

    Forms that share all values, such as what a model knows, are drawn once.
    """
    found = []
    for _, numbers in ranked:
        rows: list[charts.Row] = []
        for number in _distinct(numbers):
            form = FORMS.get(dict(number.where).get("form", "long"), "")
            form += BY_LABELS * number.corrected
            rows += [
                charts.chart_row(model, form, mean)
                for model, mean in zip(models, number.means, strict=True)
            ]
        drawn = [row["series"] for row in rows if row["value"] is not None]
        by_labels = BY_LABELS * all(series.endswith(BY_LABELS) for series in drawn)
        found.append((f"{_symbol(plan, numbers[0].name)}{by_labels}", rows))
    return found


def _distinct(numbers: Sequence[JointNumber]) -> list[JointNumber]:
    """Return numbers of which no two have the same values."""
    found: list[JointNumber] = []
    for number in numbers:
        own = [(e.value, e.low, e.high) for e in number.means]
        if all(own != [(e.value, e.low, e.high) for e in other.means] for other in found):
            found.append(number)
    return found


# ---- the layouts of the papers


def layouts() -> dict[str, tuple[str, PaperLayout]]:
    """Return the layouts of all protocols by name, with the protocol's."""
    return {one.name: (name, one) for name, plan in PROTOCOLS.items() for one in plan.layouts()}


def check_layouts(names: Sequence[str]) -> None:
    """Refuse names that are no layouts. Raises InputError."""
    every = layouts()
    for name in names:
        if name not in every:
            raise InputError(f"layout {name!r} is unknown; expected {', '.join(every)}")


def check_possible(grid: Grid, names: Sequence[str]) -> None:
    """Refuse layouts that no cell of a study can fill, before anything is asked.

    Reads the questions where a layout depends on them. Raises InputError.
    """
    check_layouts(names)
    place_inside(grid.out, TABLES)
    for name in names:
        protocol, layout = layouts()[name]
        cells = [cell for cell in grid.cells if cell.protocol == protocol]
        if not cells:
            raise InputError(
                f"layout {name} shows runs of {protocol}, and this study has none: add {protocol} "
                "to its protocols"
            )
        if not any(_can_fill(layout, cell) for cell in cells):
            raise InputError(f"layout {name} needs {layout.needs}, which no run of this study has")


def _can_fill(layout: PaperLayout, cell: GridCell) -> bool:
    """Tell whether a cell can fill a layout, as far as is known before it runs."""
    if cell.lacking:
        return False
    try:
        questions = () if cell.texts is not None else load_data(cell.job).questions
    except Unsuited:
        return False
    except InputError:  # the run itself says what is wrong
        return True
    return layout.possible(cell.job.settings, questions)


#: what layouts of papers say where labels of people correct numbers of these runs
OF_THE_JUDGE = (
    "All numbers are the judge's, as in papers. The study's tables have those that labels of "
    "people correct."
)


def layout_tables(study: StudyNumbers, name: str) -> list[NumberTable]:
    """Return the tables of a layout. Raises InputError for one that is unknown or has no runs."""
    check_layouts([name])
    protocol, layout = layouts()[name]
    if protocol not in study.protocols:
        raise InputError(
            f"layout {name} shows runs of {protocol}, and none of them is finished here"
        )
    models, data = study.of(protocol)
    runs = {(run.model, run.data): run for run in study.runs if run.protocol == protocol}
    shown = LayoutRuns(
        models,
        data,
        {place: run.results for place, run in runs.items()},
        {place: run.manifest for place, run in runs.items()},
        lambda: study.judged(protocol),
        {place: run.path for place, run in runs.items()},
        {name: about.label for name, about in study.systems.items() if about.label},
    )
    plan = PROTOCOLS[protocol]
    tables = layout.make(shown)
    if not any(table.rows for table in tables):
        raise InputError(f"layout {name} needs {layout.needs}, which these runs do not have")
    corrected = any(n.corrected for n in study.numbers(protocol))
    notes = (OF_THE_JUDGE,) if corrected else rules_alone(runs.values())
    return [
        table._replace(
            name=name if len(tables) == 1 else f"{name}-{number}",
            source=f"Layout: {layout.reference}.",
            notes=(*table.notes, *notes),
            meanings=_meanings(plan, table.short or table.columns),
        )
        for number, table in enumerate(tables, 1)
    ]


# ---- files and the page


#: rows from which a table is written as CSV alone: pairs of 80 models are tens of megabytes else
LARGE = 5_000


def write_tables(
    tables: Sequence[NumberTable], folder: Path, intervals: str = INTERVALS[0]
) -> None:
    """Write tables in every format; large ones as CSV alone, with six digits of each number.

    ``intervals`` are those of LaTeX tables (:func:`sayso.report.number_tables.latex_text`).
    """
    for given in tables:
        large = len(given.rows) >= LARGE
        table = (
            given._replace(rows=[(k, tuple(map(_short, e))) for k, e in given.rows])
            if large
            else given
        )
        for suffix, text in WRITERS.items():
            place = folder / f"{table.name}.{suffix}"
            if large and suffix != "csv":
                place.unlink(missing_ok=True)  # of the same study when it was smaller
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place) as file:
                written = latex_text(table, intervals) if suffix == "tex" else text(table)
                file.write(written.encode("utf-8", "replace"))


def _short(entry: Entry) -> Entry:
    """Return an entry with six digits of its numbers."""
    if not isinstance(entry, Estimate):
        return entry
    numbers = {name: getattr(entry, name) for name in ("value", "low", "high")}
    return msgspec.structs.replace(
        entry, **{n: v if v is None else float(f"{v:.6g}") for n, v in numbers.items()}
    )


def write_study(
    study: StudyNumbers, out: Path, named: Sequence[str] = (), intervals: str = INTERVALS[0]
) -> Path:
    """Write the page of a study and its tables into ``out``; return the page.

    ``named`` are layouts that stand on the page too, ``intervals`` those of LaTeX tables. Raises
    InputError where somebody else's page or tables stand there.
    """
    if place_inside(out, TABLES).exists() and not (out / INDEX).exists():
        raise InputError(f"{out / TABLES} exists without a page: choose another --out")
    shown = study_sections(study)
    laid_out = [table for name in named for table in layout_tables(study, name)]
    out.mkdir(parents=True, exist_ok=True)
    place = write_index(out / INDEX, _page(study, shown, laid_out, out))
    if place is None:
        raise InputError(f"{out / INDEX} is not a page of sayso: choose another --out")
    every = [t for s in shown for t in (s.headline, *s.first, s.everything, s.differences)]
    write_tables([*every, *laid_out], out / TABLES, intervals)
    return place


def study_figures(study: StudyNumbers, named: Sequence[str] = ()) -> list[Figure]:
    """Return every chart of a study's page; ``named`` are layouts."""
    tables = [table for name in named for table in layout_tables(study, name)]
    drawn = [_figures(section) for section in study_sections(study)]
    return figures_in([drawn, [_laid_out(table)[3] for table in tables]])


def allowed_layouts(study: StudyNumbers) -> list[str]:
    """Return the layouts that the runs of a study allow."""
    found = []
    for name in layouts():
        with contextlib.suppress(InputError):
            layout_tables(study, name)
            found.append(name)
    return found


def every_table(study: StudyNumbers) -> list[NumberTable]:
    """Return the tables of a study by their names, those of all layouts that it allows too."""
    tables = [
        table
        for s in study_sections(study)
        for table in (s.headline, *s.first, *s.more, s.everything, s.differences)
    ]
    return tables + [t for name in allowed_layouts(study) for t in layout_tables(study, name)]


def _page(
    study: StudyNumbers, shown: Sequence[Section], laid_out: Sequence[NumberTable], out: Path
) -> str:
    first = shown[0].opening._replace(examples=examples(study, shown[0].protocol))
    context = {
        "opening": first,
        "title": f"{_many(len(study.models), 'model')}, {_columns(study, study.data)}",
        "models": [line(model, 100) for model in study.models],
        "sections": [
            {
                "name": s.protocol,
                "title": s.title,
                "sentence": s.opening.sentence,
                "notes": [line(note, 500) for note in s.notes],
                "first": [page_table(t) for t in (s.headline, *s.first)],
                "more": [page_table(t) for t in s.more],
                "differing": _clear(s.differences, PROTOCOLS[s.protocol]),
                "glossary": _glossary(study, s.protocol),
                "files": [
                    f"{TABLES}/{t.name}.csv"
                    for t in (s.headline, *s.first, s.everything, s.differences)
                ],
                "figures": _figures(s),
                "cautions": _cautions([r for r in study.runs if r.protocol == s.protocol]),
                "runs": _links([r for r in study.runs if r.protocol == s.protocol], out),
            }
            for s in shown
        ],
        "layouts": [_laid_out(table) for table in laid_out],
        "cells": [
            (o.protocol, line(o.model, 60), line(o.data, 60), o.status, line(o.reason, 300))
            for o in study.outcomes
            if o.status not in ("done", "kept")
        ],
        "finished": len(study.runs),
        "resamples": f"{study.resamples:,}",
        "allow": ", ".join(study.allow),
    }
    return page("study.html.j2", context, "sayso.studies")


def _glossary(study: StudyNumbers, protocol: str) -> list[tuple[str, str]]:
    """Return what the heads of columns mean."""
    metrics = PROTOCOLS[protocol].metrics
    names = dict.fromkeys(n.name for n in study.numbers(protocol))
    return [(metrics[name].shown_symbol, metrics[name].label) for name in names if name in metrics]


def _many(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def _figures(section: Section) -> list[Figure]:
    """Return the charts of a section, one for each headline number."""
    drawn: list[Figure] = []
    for what, every in section.charts:
        rows = [row for row in every if row["value"] is not None]
        order = list(dict.fromkeys(row["row"] for row in rows))
        if rows and len(order) <= charts.MOST_ROWS:
            label = f"{_capital(what)} of each model, with 95 % intervals."
            found = figure_of(
                f"{section.protocol} {what}", partial(_forest, rows, order, what), label
            )
            drawn += [found] if found is not None else []
    return drawn


def _forest(
    rows: list[charts.Row], order: list[str], title: str, width: int
) -> charts.Drawing | None:
    series = {row["series"] for row in rows}
    labeled = {form: f"{form}{BY_LABELS}" for form in FORMS.values()}
    kinds = [own if own in series else form for form, own in labeled.items()]
    return charts.forest_plot(rows, order, width, title, [], kinds)


def _laid_out(table: NumberTable) -> tuple[str, str, object, Figure | None, str]:
    """Return name, title, table, figure and caption of a layout's table.

    Too many curves are left out, and that is said.
    """
    caption, shown = line(table.title, 300), page_table(table)
    figure = figure_of(table.name, table.chart, caption) if table.chart is not None else None
    if table.chart is not None and figure is None and table.rows:
        shown.notes.append(TOO_MANY)
    return table.name, _layout_title(table.name), shown, figure, caption


def _layout_title(name: str) -> str:
    """Return the title of a layout's table, with its number where the layout has several."""
    every = layouts()
    if name in every:
        return every[name][1].title
    layout, _, number = name.rpartition("-")
    return f"{every[layout][1].title}, part {number}"


TOO_MANY = "There are too many curves for a chart; one is drawn for up to six."


def _clear(differences: NumberTable, plan: Protocol) -> list[str]:
    """Return the differences that are clear after the correction, as sentences."""
    told = []
    for (name, of, first, second), (difference, _, corrected) in differences.rows:
        if not isinstance(difference, Estimate) or not isinstance(corrected, Estimate):
            continue
        if difference.value is None or corrected.value is None or corrected.value >= ALPHA:
            continue
        ends = [compact_number(e) for e in (difference.low, difference.high) if e is not None]
        value = tight(f"{compact_number(difference.value)} [{', '.join(ends)}]")
        told.append(
            f"{_symbol(plan, name)}, {of}: {line(second, 60)} minus {line(first, 60)} = {value}, "
            f"p {_p_text(corrected.value)}"
        )
    return told


def _p_text(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("= 0.", "= .")


def _cautions(runs: Sequence[FinishedRun]) -> list[tuple[str, list[str]]]:
    return [
        (f"{line(run.model, 60)}, {line(run.data, 60)}",
         [line(text, 300) for text in run.manifest.cautions[:CAUTIONS]])
        for run in runs
        if run.manifest.cautions
    ]  # fmt: skip


def _links(runs: Sequence[FinishedRun], out: Path) -> list[tuple[str, str]]:
    return [
        (
            f"{line(run.model, 60)}, {line(run.data, 60)}",
            quote(os.path.relpath(run.path / "report.html", out).replace(os.sep, "/")),
        )
        for run in runs
        if (run.path / "report.html").is_file()
    ]


# ---- the terminal


def render_study(study: StudyNumbers, console: Console, *, verbose: bool = False) -> None:
    """Print who is best in what, the headline numbers by model, and the clear differences.

    With ``verbose`` all tables.
    """
    for section in study_sections(study):
        console.print()
        say(console, f"{section.title} ({section.protocol})", "bold cyan")
        for note in section.notes:
            say(console, f"! {line(note, 300)}", "yellow")
        runs = [run for run in study.runs if run.protocol == section.protocol]
        warned = sum(bool(run.manifest.cautions) for run in runs)
        if warned:
            have = "1 run has cautions" if warned == 1 else f"{warned} runs have cautions"
            say(console, f"! {have}: read them on the page first", "yellow")
        say(console, section.opening.sentence, "bold")
        tables = [*section.first, *section.more] if verbose else _brief(study, section)
        for table in tables:
            console.print()
            render_table(table, console)
        _print_clear(section, console)
        say(console, f"What this does not show: {section.opening.not_shown}", "dim")


#: clear differences that are printed; the tables have them all
MOST_CLEAR = 20


def _print_clear(section: Section, console: Console) -> None:
    clear = _clear(section.differences, PROTOCOLS[section.protocol])
    if not clear:
        return
    console.print()
    many = "1 clear difference" if len(clear) == 1 else f"{len(clear)} clear differences"
    say(console, f"{many} between two models, after Holm's correction", "bold")
    for text in clear[:MOST_CLEAR]:
        say(console, text, "")
    if clear[MOST_CLEAR:]:
        say(console, f"{len(clear) - MOST_CLEAR:,} more are on the page and in its tables", "dim")
    for symbol, meaning in _meanings(PROTOCOLS[section.protocol], clear[:MOST_CLEAR]):
        say(console, f"{symbol}: {meaning}", "dim")


def warn(study: StudyNumbers, names: Sequence[str], console: Console) -> None:
    """Print how many runs behind layouts have cautions, and the first one."""
    for protocol in dict.fromkeys(layouts()[name][0] for name in names):
        runs = [run for run in study.runs if run.protocol == protocol and run.manifest.cautions]
        if runs:
            first = line(runs[0].manifest.cautions[0], 300)
            say(
                console,
                f"! {len(runs)} runs of {protocol} have cautions, the first: {first}",
                "yellow",
            )


def _brief(study: StudyNumbers, section: Section) -> list[NumberTable]:
    """Return the first headline numbers in one table, and the first table of scores."""
    table = _headline(study, section.protocol, MOST_COLUMNS)
    short = ["rank" if head.startswith(RANKED) else head for head in table.columns]
    grids = [t for t in section.first if t.labels != ("model",)][:1]
    return [
        table._replace(columns=tuple(short)),
        *(g._replace(rows=g.rows[:MOST_SCORES]) for g in grids),
    ]


#: columns of the table in the terminal, and scores in that of scores
MOST_COLUMNS, MOST_SCORES = 4, 10
