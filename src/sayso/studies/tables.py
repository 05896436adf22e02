"""The tables and charts of one protocol of a study: models by numbers, differences, spreads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from sayso.harmless import line
from sayso.metric import FORMS, Headline, MetricTable
from sayso.metrics.arrays import or_none
from sayso.metrics.joint import JointNumber, spread_between
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate, Slice
from sayso.report import charts
from sayso.report.differences import Words, told_numbers
from sayso.report.number_tables import (
    CORRECTED_INTERVAL,
    WITH_INTERVAL,
    Entry,
    NumberTable,
    grid,
    rank_text,
)
from sayso.report.numbers import capital, compact_number, is_gap, many, p_text
from sayso.report.sheet import Chart
from sayso.studies.joined import StudyNumbers

#: parts of a slice beyond which a number is one of a table of its own (a score against a metric)
PLAIN_PARTS = 2
#: begins the head of a column of ranks
RANKED = "rank by "
#: ends the head of a number that labels of people correct
BY_LABELS = ", corrected"
#: what tables say of such numbers
ABOUT_CORRECTED = (
    "Corrected: for the errors of the judge, by labels of people. Means and differences have their "
    "intervals from those of the runs, as of independent runs. Runs on the same questions are not "
    "independent, so intervals of differences are usually too wide."
)
#: begins what is said of how much a study of this size can see
DETECTED = "Smallest differences of two models that would be detected with 80 % power"
#: why a spread has no value, if it has none
NO_SPREAD = (None, "undefined in one of the runs")
#: what a table of spreads says
ABOUT_SPREAD = (
    "Spread: standard deviation between runs of one data set. Sampling error: standard error of "
    "one run, because it asks about a sample of entities."
)
#: pairs of models that a sentence names
MOST_PAIRS = 3
#: rows of a table on the page; the file has them all
MOST_ROWS = 200
#: rows of a table: labels, entries
Rows = list[tuple[tuple[str, ...], tuple[Entry, ...]]]


class ProtocolTables:
    """The numbers of one protocol of a study as tables, and what these say."""

    def __init__(self, study: StudyNumbers, protocol: str) -> None:
        """Take the runs of a protocol. Raises InputError for runs that cannot be compared."""
        self.study, self.protocol, self.plan = study, protocol, PROTOCOLS[protocol]
        self.metrics = self.plan.metrics
        self.words = Words(self.metrics, self.plan.report.part_label)
        self.runs = [run for run in study.runs if run.protocol == protocol]
        self.models, self.data = study.of(protocol)
        self.numbers, self.judged = study.numbers(protocol), study.judged(protocol)
        over = f"mean over {asked_of(study, self.data)}"
        self.over = over if len(self.data) > 1 else f"on {self.data[0]}"
        self.told = told_numbers(self.numbers, self.metrics)
        self.ranked = _headlines(self.told)
        self.headline = self._headline()
        self.spread = self._spread()
        plain = [n for n in self.numbers if len(n.where) <= PLAIN_PARTS]
        self.by_form = [
            self._by_form(where, [n for n in plain if n.where == where])
            for where in dict.fromkeys(n.where for n in plain)
        ]
        self.scores = [*self._scores()]
        self.everything = self._everything()
        self.differences, self.clear = self._differences()

    @property
    def written(self) -> list[NumberTable]:
        """The tables that have files."""
        first = [self.headline, *([self.spread] if self.spread.rows else [])]
        return [*first, *self.by_form, *self.scores, self.everything, self.differences]

    @property
    def main(self) -> list[JointNumber]:
        """The headline number that carries the result, in its forms; none where no model has one.

        That is a difference of two shares, such as J, else the first.
        """
        by_gap = sorted(self.ranked, key=lambda own: not is_gap(own[0].name))
        held = (
            [n for n in _distinct(own) if any(e.value is not None for e in n.means)]
            for own in by_gap
        )
        return next(filter(None, held), [])

    def called(self, name: str) -> str:
        """Return what the head of a column calls a number: its symbol, else what it means."""
        return self.metrics.named(name).shown_symbol

    def part(self, number: JointNumber) -> str:
        """Return what a number is of, and whether it is corrected."""
        return f"{self.words.of(number.where) or 'all answers'}{BY_LABELS * number.corrected}"

    def head(self, number: JointNumber, form: bool = False) -> str:
        """Return the head of a number's column, with the form of the answers if it is asked for."""
        named = FORMS.get(dict(number.where).get("form", ""), "") if form else ""
        text = f"{self.called(number.name)}, {named}" if named else self.called(number.name)
        return text + BY_LABELS * number.corrected

    def _name(self, *parts: str) -> str:
        """Return the name of a table's files, in a folder of the protocol."""
        text = "-".join(part for part in parts if part)
        plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in text)[:100].strip("-")
        return f"{self.protocol}/{plain or 'table'}"

    def _by_model(
        self,
        name: str,
        caption: str,
        columns: Mapping[str, tuple[JointNumber, bool]],
        notes: Sequence[str] = (),
    ) -> NumberTable:
        """Return models by numbers, or by ranks of them."""
        numbers = [number for number, _ in columns.values()]
        table = grid(
            f"{caption}, {self.over}{_intervals(numbers)}",
            {model: m for m, model in enumerate(self.models)},
            columns,
            lambda m, column: (
                rank_text(column[0].ranking.ranks[m]) if column[1] else column[0].means[m]
            ),
            labels=("model",),
            name=name,
            written="plain",
            notes=[*notes, *_about(numbers)],
        )
        best = tuple(None if rank else n.joint.higher for n, rank in columns.values())
        return table._replace(best=best, meanings=meanings_of(self.metrics, columns))

    def _headline(self) -> NumberTable:
        """Return models by headline numbers, each with its rank.

        A number that is the same in all forms stands once.
        """
        columns: dict[str, tuple[JointNumber, bool]] = {}
        groups, seen = [], []
        for numbers in self.ranked:
            distinct = _distinct(numbers)
            for number in distinct:
                called = self.head(number, form=not len(numbers) > len(distinct) == 1)
                ranked = any(number.ranking.ranks)
                columns[called] = number, False
                columns |= {f"{RANKED}{called}": (number, True)} if ranked else {}
                groups.append((called, 1 + ranked))
                size = number.ranking.detectable
                if size is not None and number.joint.higher is not None:
                    seen.append(f"{called} {compact_number(size) if size <= 1 else 'above 1'}")
        short = tuple("rank" if rank else "value" for _, rank in columns.values())
        what = "Values and ranks" if "rank" in short else "Values"
        notes = [f"{DETECTED}: {'; '.join(seen)}."] if seen else []
        table = self._by_model(self._name("headline"), what, columns, notes)
        return table._replace(groups=tuple(groups), short=short)

    def _by_form(self, where: Slice, numbers: Sequence[JointNumber]) -> NumberTable:
        """Return models by numbers of one form or method, headline numbers with ranks first."""
        names = list(self.metrics.headlines)
        first = [n for name in names for n in numbers if n.name == name]
        columns = {self.head(n): (n, False) for n in first}
        columns |= {f"{RANKED}{self.head(n)}": (n, True) for n in first if any(n.ranking.ranks)}
        columns |= {self.head(n): (n, False) for n in numbers if n.name not in names}
        return self._by_model(
            self._name(*(value for _, value in where)),
            capital(self.words.of(where) or "all answers"),
            columns,
        )

    def _scores(self) -> Iterator[NumberTable]:
        """Yield tables of numbers that differ in their last part, such as scores, by models.

        Where labels of people correct only some numbers of one, all are the judge's: a corrected
        one beside another would rank judges.
        """
        scored = [n for n in self.numbers if len(n.where) > PLAIN_PARTS]
        mixed = {(n.name, n.where[:-1]) for n in scored if not n.corrected}
        own = {(n.name, n.where): n for n in self.judged}
        groups: dict[tuple[str, Slice], list[JointNumber]] = {}
        for number in scored:
            key = number.name, number.where[:-1]
            groups.setdefault(key, []).append(own[number[:2]] if key in mixed else number)
        for (name, where), members in groups.items():
            by_labels = BY_LABELS * members[0].corrected
            of = f"{self.called(name)}{by_labels}, {self.words.of(where) or 'all answers'}"
            yield NumberTable(
                self._name(*(value for _, value in where), name),
                f"{of}: {self.over}{_intervals(members)}",
                (members[0].where[-1][0],),
                tuple(f"{model}{by_labels}" for model in self.models),
                [
                    ((self.words.of(n.where[-1:]),), tuple(n.means))
                    for n in sorted(members, key=_worth, reverse=True)
                ],
                tuple(_about(members)),
                meanings=meanings_of(self.metrics, [self.called(name)]),
                best=tuple(members[0].joint.higher for _ in self.models),
            )

    def _spread(self) -> NumberTable:
        """Return how far headline numbers lie apart over wordings and samples, if any are."""
        rows: Rows = []
        every = {"of the first run": self.study, "each run's own": self.study.with_own_probes}
        for probes, of in every.items():
            models, data = of.of(self.protocol) if of is not None else ([], [])
            if of is None or len(set(sets := of.sets(data))) == len(sets):
                continue
            told = told_numbers(of.numbers(self.protocol), self.metrics)
            for number in (n for numbers in _headlines(told) for n in numbers):
                apart = zip(*spread_between(number.joint, number.cells, sets), strict=True)
                for model, mean, cells, both in zip(
                    models, number.means, number.cells, apart, strict=True
                ):
                    held = [e for e in cells if e.value is not None]
                    ends = [
                        end(held, key=lambda e: e.value or 0.0, default=None) for end in (min, max)
                    ]
                    sizes = [
                        Estimate("spread", value=x, problem=NO_SPREAD[x is None])
                        for x in map(or_none, both)
                    ]
                    labels = (self.called(number.name), self.part(number), model, probes)
                    rows.append((labels, (mean, *sizes, *ends)))
        rows.sort(key=lambda row: (row[0][1], row[0][0], self.study.models.index(row[0][2])))
        return NumberTable(
            self._name("spread"),
            f"How far runs of other wordings and samples lie apart{WITH_INTERVAL}",
            ("number", "of", "model", "probes"),
            ("mean", "spread", "sampling error", "lowest", "highest"),
            rows,
            (ABOUT_SPREAD,),
            meanings=meanings_of(self.metrics, (labels[0] for labels, _ in rows)),
        )

    def _everything(self) -> NumberTable:
        """Return every number of every model, each corrected one after the judge's."""
        pairs = zip(self.judged, self.numbers, strict=True)
        every = [one for own, n in pairs for one in ((own, n) if n.corrected else (own,))]
        rows: Rows = [
            (
                (n.name, self.part(n), model),
                (rank_text(n.ranking.ranks[m]), n.means[m], *n.cells[m]),
            )
            for n in every
            for m, model in enumerate(self.models)
        ]
        labels, head = ("number", "of", "model"), ("rank", "mean", *self.data)
        name, caption = self._name("numbers"), f"{self.protocol}: every number"
        return NumberTable(name, caption, labels, head, rows)

    def _differences(self) -> tuple[NumberTable, NumberTable]:
        """Return every pair of models and number, with p before and after Holm; the clear ones."""
        rows: Rows = []
        clear: Rows = []
        for n in self.numbers:
            for pair in n.ranking.pairs:
                problem = None if pair.difference is not None else "not computed for both"
                difference = Estimate(
                    n.name, n.where, pair.difference, pair.low, pair.high, problem=problem
                )
                tests = pair.p, pair.corrected
                labels = (self.part(n), self.models[pair.first], self.models[pair.second])
                values = tuple(Estimate(n.name, value=p) for p in tests)
                rows.append(((n.name, *labels), (difference, *values)))
                if pair.clear:
                    called = (self.called(n.name), *labels)
                    clear.append((called, (difference, *map(p_text, tests))))
        every = NumberTable(
            self._name("differences"),
            f"{self.protocol}: second model minus first, paired; p after Holm's correction over "
            "all pairs of each number",
            ("number", "of", "first", "second"),
            ("difference", "p", "p after Holm"),
            rows,
        )
        caption = f"{self.protocol}: {many(len(clear), 'clear difference')}, second minus first"
        return every, self._shown(every._replace(written="difference"), caption, clear)

    @property
    def by_data(self) -> NumberTable:
        """The headline numbers by data set, as a page shows them."""
        rows = [
            ((self.called(of[0]), *of[1:]), entries)
            for of, entries in self.everything.rows
            if of[0] in self.metrics.headlines
        ]
        caption = f"{self.protocol}: headline numbers by model and data set"
        return self._shown(self.everything, caption, rows)

    def _shown(self, table: NumberTable, caption: str, rows: Rows) -> NumberTable:
        """Return a table of the page with the first of some rows, and what their numbers mean."""
        left = len(rows) - MOST_ROWS
        return table._replace(
            caption=caption,
            rows=rows[:MOST_ROWS],
            notes=(f"{left:,} more rows in the file.",) * (left > 0),
            meanings=meanings_of(self.metrics, (of[0] for of, _ in rows)),
        )

    @property
    def chart(self) -> Chart | None:
        """The number of :attr:`main` by model and form; ``None`` for too many models, or no one."""
        rows: list[charts.Row] = []
        for number in self.main:
            form = FORMS.get(dict(number.where).get("form", ""), "")
            series = f"{form}{BY_LABELS * number.corrected}"
            every = zip(self.models, number.means, strict=True)
            rows += [charts.chart_row(model, series, mean) for model, mean in every]
        rows = [row for row in rows if row["value"] is not None]
        order, kinds = (list(dict.fromkeys(row[key] for row in rows)) for key in ("row", "series"))
        if not rows or len(order) > charts.MOST_ROWS:
            return None
        by_labels = all(kind.endswith(BY_LABELS) for kind in kinds)
        what = f"{self.called(self.main[0].name)}{BY_LABELS * by_labels}"
        label = f"{capital(what)} of each model, with 95 % intervals."
        make = partial(charts.forest_plot, rows, order, title=what, references=[], kinds=kinds)
        return Chart(f"{self.protocol} {what}", make, label, label)

    def within_spread(self) -> Iterator[str]:
        """Yield which differences of two models are smaller than the spread of one of them."""
        sets = self.study.sets(self.data)
        for number in (n for numbers in self.ranked for n in numbers):
            between, _ = spread_between(number.joint, number.cells, sets)
            small = [
                f"{line(self.models[pair.first], 60)} and {line(self.models[pair.second], 60)}"
                for pair in number.ranking.pairs
                if pair.difference is not None
                and abs(pair.difference) < np.fmax(between[pair.first], between[pair.second])
            ]
            if small:
                left = len(small) - MOST_PAIRS
                more = f" and {left:,} more pairs" * (left > 0)
                yield (
                    f"{self.called(number.name)}, {self.part(number)}: the difference between "
                    f"{'; '.join(small[:MOST_PAIRS])}{more} is smaller than the spread of one "
                    "model over wordings and samples"
                )


def overview(study: StudyNumbers, every: Sequence[ProtocolTables]) -> NumberTable:
    """Return models by the number that carries the result of each protocol, in its first form."""
    columns = {f"{t.head(t.main[0], form=True)} ({t.protocol})": t for t in every if t.main}
    numbers = [tables.main[0] for tables in columns.values()]

    def find(model: str, tables: ProtocolTables) -> Entry:
        held = model in tables.models
        return tables.main[0].means[tables.models.index(model)] if held else None

    caption = f"A headline number of each protocol{_intervals(numbers)}"
    rows = {model: model for model in study.models}
    return grid(caption, rows, columns, find, labels=("model",), written="plain")


def _headlines(told: Sequence[tuple[Headline, list[JointNumber]]]) -> list[list[JointNumber]]:
    """Return the headline numbers without their parts, each in its forms."""
    return [numbers for headline, numbers in told if not headline.part]


def meanings_of(metrics: MetricTable, heads: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the symbols that stand in column heads, and what each means."""
    words = {word for head in heads for word in re.split(r"[ ,]+", head)} - {""}
    return tuple((m.symbol, m.defined) for m in metrics.values() if m.symbol in words)


def _worth(number: JointNumber) -> float:
    """Return the mean over all models that have the number."""
    values = [e.value for e in number.means if e.value is not None]
    return sum(values) / len(values) if values else -1.0


def _intervals(numbers: Sequence[JointNumber]) -> str:
    """Return what ends the caption of a table of numbers."""
    return CORRECTED_INTERVAL if any(n.corrected for n in numbers) else WITH_INTERVAL


def _about(numbers: Sequence[JointNumber]) -> list[str]:
    """Return what a table says of corrected numbers, if it has any."""
    return [ABOUT_CORRECTED] if any(n.corrected for n in numbers) else []


def _distinct(numbers: Sequence[JointNumber]) -> list[JointNumber]:
    """Return numbers of which no two have the same values."""
    found: dict[tuple[object, ...], JointNumber] = {}
    for number in numbers:
        found.setdefault(tuple((e.value, e.low, e.high) for e in number.means), number)
    return [*found.values()]


def asked_of(study: StudyNumbers, data: Sequence[str]) -> str:
    """Return how many data sets there are, and in how many words and samples they are asked."""
    sets = set(study.sets(data))
    if len(sets) == len(data):
        return many(len(data), "data set")
    of = f" of {many(len(sets), 'data set')}" if len(sets) > 1 else ""
    return f"{many(len(data), 'repetition')}{of} (wordings, samples)"
