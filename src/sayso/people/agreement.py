"""How far the judge of a run agrees with people, and people with each other.

People's labels and the judge's verdicts are on the same items (``people/labels.py``). What several
annotators say of one item is joined (``people/joined.py``): the label given most often, of equally
many one by chance. The shares of UNCLE's appendix B count items apart to which no majority, more
than half, gave the same label.

Items were drawn by design, rarer readings of the judge more often, so each counts as one over the
probability of its draw. Where labels come from several draws, or from none that is stored, every
item counts alike and the result says so. Intervals resample entities, not annotators: they hold for
these annotators.

Two tables of papers have their layout here: UNCLE's appendix B (share of items on which people
confirm the judge, and on which they say it errs; the rest they do not agree on), and table 1 of
Santilli et al. (arXiv 2504.13677: every two of people, judge and answer metrics on right and
wrong). For sureness, Pearson's and Spearman's correlation of people's slider and the judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from shlex import quote
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.answers.lexical import ANSWER_METRICS, reference_texts
from sayso.harmless import line
from sayso.metrics.agreement import (
    COEFFICIENT,
    Coefficients,
    Pairing,
    against_others,
    agreement_matrix,
    coefficients,
    krippendorff_alpha,
)
from sayso.metrics.arrays import Floats
from sayso.metrics.intervals import Statistic, bootstrap, bootstrap_share
from sayso.metrics.length_audit import THRESHOLDS
from sayso.metrics.ranking import pearson, spearman
from sayso.people.corrected import more_labels
from sayso.people.items import (
    ALL,
    ENDS,
    KIND_NAMES,
    LabelSource,
    ShownItem,
    kind_stages,
    label_source,
    shown_items,
)
from sayso.people.joined import joined_verdict
from sayso.people.labels import (
    CODES,
    KINDS,
    READ_KINDS,
    STANCES,
    STATED,
    Kind,
    LabeledItem,
    PersonLabel,
    pair_of,
    stored_labels,
)
from sayso.protocols.pool import clusters_of
from sayso.records import Estimate, InputError, Question, Verdict
from sayso.report import charts, figures
from sayso.report.notebook import Plotted, data_frame, html_table, short_repr
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.sheet import ToldTables
from sayso.runs.measure import run_path
from sayso.storage.run_folder import RunFolder

#: what UNCLE makes of a verdict, in the order of tables
VALUES = ("correct", "incorrect", "uncertain", "omitted")
#: the letters by which a judge's verdict on an assertion says what each sample does to it
PAIR_LABELS = {"c": "c", "n": "n", "e": "n", "p": "p"}
#: answer metrics beside people in a matrix: those of the papers that need nothing but words
WORD_METRICS = ("rouge_l", "squad_f1", "exact_match", "contains")
#: people in a matrix at most, parts that lengths are cut into, examples that are kept
MOST_PEOPLE, LENGTHS, EXAMPLES = 12, 3, 10
JUDGE = "judge"
#: the answers that a kind is of where its name does not say it
MAIN: dict[Kind, str] = {"answer": "short", "aspect": "long", "claim": "long"}
#: characters of a text in an example
LONGEST_TEXT = 400
UNWEIGHTED = (
    "labels come from several draws, or from none that is stored: every item counts alike, which "
    "favors what was drawn more often"
)


# ---- what is told


class LabelReading(msgspec.Struct, frozen=True):
    """How far the judge agrees with people's joined labels, and people with each other.

    ``name`` is what was read: the verdict (right, wrong or uncertain), the stance, the label.
    ``confusion`` counts items by people's label (rows) and the judge's, in the order of ``labels``.
    """

    name: str
    labels: tuple[str, ...]
    judge: Coefficients
    people: Coefficients
    confusion: tuple[tuple[int, ...], ...]


class SurenessReading(msgspec.Struct, frozen=True):
    """How people's slider and the judge's decisiveness go together, 0 to 1 both.

    ``difference`` is the mean of judge minus people, ``distance`` that of its size; ``people`` is
    Krippendorff's alpha (interval) of people among themselves.
    """

    pearson: Estimate
    spearman: Estimate
    difference: Estimate
    distance: Estimate
    people: Estimate


class AgreedPart(msgspec.Struct, frozen=True):
    """How often the judge agrees with people on a part of the items."""

    by: str
    name: str
    agreed: Estimate


class DisputedItem(msgspec.Struct, frozen=True):
    """An item on which judge and people differ; texts are harmless and cut."""

    question: str
    golds: tuple[str, ...]
    text: str
    judge: str
    people: tuple[tuple[str, str], ...]
    certainty: float | None


class KindAgreement(msgspec.Struct, frozen=True):
    """Judge and people on the items of one kind and table.

    Of ``items`` that somebody labeled, the judge's verdict on ``unread`` could not be read,
    ``undecided`` have no majority; annotators ``skipped`` items so many times. ``agreed``,
    ``error`` and ``split`` are the shares of the read items on which people confirm the judge,
    contradict it, or have no majority; all else is of joined labels. ``doubt_found`` is the share
    of the answers with doubt that the judge read so, ``doubt_invented`` that of the others.
    ``matrix`` and ``others`` are of right and wrong (supported or not, contradicting or not), where
    every item counts alike.
    """

    kind: Kind
    stage: str
    items: int
    annotators: tuple[tuple[str, int], ...]
    skipped: int
    unread: int
    undecided: int
    weighted: bool
    agreed: Estimate
    error: Estimate
    split: Estimate
    doubt_found: Estimate | None = None
    doubt_invented: Estimate | None = None
    readings: tuple[LabelReading, ...] = ()
    sureness: SurenessReading | None = None
    parts: tuple[AgreedPart, ...] = ()
    matrix: tuple[Pairing, ...] = ()
    others: dict[str, Estimate] = {}
    worst: tuple[DisputedItem, ...] = ()

    @property
    def title(self) -> str:
        """The kind in words, with its answers where these are not the main ones."""
        answers = self.stage
        for end in (*ENDS.values(), "-aspects"):
            answers = answers.removesuffix(end)
        name = KIND_NAMES[self.kind]
        return name if MAIN.get(self.kind) == answers else f"{name} ({line(answers, 60)})"


class RunAgreement(Plotted, msgspec.Struct, frozen=True):
    """How far the judge of a run agrees with the people who labeled it.

    ``kinds`` are the kinds of items with labels. A notebook shows the shares as a table.
    """

    run: str
    model: str
    judge: str
    kinds: tuple[KindAgreement, ...]

    def table(self) -> list[dict[str, object]]:
        """Return every number, a dict for each: kind, stage, what, value, low, high, n, problem."""
        return [
            {
                "kind": kind.kind,
                "stage": kind.stage,
                "what": what,
                "value": e.value,
                "low": e.low,
                "high": e.high,
                "n": e.n,
                "problem": e.problem,
            }
            for kind in self.kinds
            for what, e in agreement_numbers(kind)
        ]

    def to_pandas(self) -> Any:
        """Return the numbers as a ``pandas.DataFrame``; InputError where that is not installed."""
        return data_frame(self.table())

    def _figures(self) -> list[figures.Figure]:
        """Return the chart of the shares on which the judge agrees with people."""
        rows = [
            charts.chart_row(line(f"{part.by}: {part.name}" if part.by else "all", 60),
                             kind.title, part.agreed)
            for kind in self.kinds
            for part in (AgreedPart("", "", kind.agreed), *kind.parts)
        ][: charts.MOST_ROWS]  # fmt: skip
        found = figures.figure_of(
            "agreement", partial(charts.share_plot, rows), "Agreement of the judge with people."
        )
        return [found] if found is not None else []

    def __repr__(self) -> str:
        parts = [f"{k.title}: agreed on {share_text(k.agreed)}" for k in self.kinds]
        return short_repr("Agreement", (f"judge {line(self.judge, 60)}", *parts))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: every number with its interval."""
        rows = [
            (kind.title, what, share_text(e))
            for kind in self.kinds
            for what, e in agreement_numbers(kind)
        ]
        notes = [UNWEIGHTED] if any(not kind.weighted for kind in self.kinds) else []
        return html_table(
            f"judge {self.judge} and the people who labeled {self.run}",
            ("items", "what", "value [95 %]"),
            rows,
            notes=notes,
        )


def agreement_numbers(kind: KindAgreement) -> Iterator[tuple[str, Estimate]]:
    """Yield every number of a kind with what it is, in words."""
    yield "people confirm the judge", kind.agreed
    yield "people contradict the judge", kind.error
    if len(kind.annotators) > 1:
        yield "people have no majority", kind.split
    if kind.doubt_found is not None and kind.doubt_invented is not None:
        yield "doubt that the judge found", kind.doubt_found
        yield "other answers that it took for doubt", kind.doubt_invented
    for reading in kind.readings:
        for who, held in (("judge and people", reading.judge), ("people", reading.people)):
            for name in ("same", "kappa", "alpha", "ac1"):
                yield f"{reading.name}, {who}: {COEFFICIENT_NAMES[name]}", getattr(held, name)
    if kind.sureness is not None:
        yield "Pearson's correlation, judge and people", kind.sureness.pearson
        yield "Spearman's correlation, judge and people", kind.sureness.spearman
        yield "mean difference, judge less people", kind.sureness.difference
        yield "mean distance of judge and people", kind.sureness.distance
        yield "Krippendorff's alpha (interval), people", kind.sureness.people
    for part in kind.parts:
        yield f"agreement by {part.by}: {part.name}", part.agreed


COEFFICIENT_NAMES = {
    "same": "agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
}


def share_text(e: Estimate) -> str:
    """Return a number with its interval, or why there is none."""
    if e.value is None:
        return f"none ({e.problem})" if e.problem else "none"
    if e.low is None or e.high is None:
        return f"{e.value:.2f}"
    return f"{e.value:.2f} [{e.low:.2f}, {e.high:.2f}]"


# ---- labels and verdicts, side by side


class LabeledTable(NamedTuple):
    """Items that people labeled, with what each annotator and the judge said of them.

    ``said`` by annotator has a verdict for each item, or ``None``; ``joined`` is what they say
    together, ``read`` what the judge says.
    """

    kind: Kind
    stage: str
    items: list[LabeledItem]
    said: dict[str, list[Verdict | None]]
    joined: list[Verdict]
    read: list[Verdict | None]
    probability: list[float | None]
    stratum: list[str]
    skipped: int

    @property
    def weights(self) -> Floats | None:
        """1 / the probability of each item's draw; ``None`` where not every one is known."""
        chance = [p for p in self.probability if p is not None and 0 < p <= 1]
        return None if len(chance) < len(self.items) else 1 / np.array(chance)

    def told(self, row: int) -> dict[str, Verdict]:
        """Return what annotators say of one item, by name."""
        return {name: v for name, column in self.said.items() if (v := column[row]) is not None}


def labeled_tables(source: LabelSource, labels: Sequence[PersonLabel]) -> list[LabeledTable]:
    """Return the labels of a run by kind and table of the judge, the main ones first.

    Raises InputError for a label on a table that the run does not have.
    """
    tables = []
    for kind in KINDS:
        stages = kind_stages(source.folder, kind)
        some = [one for one in labels if one.kind == kind]
        for stage in dict.fromkeys(one.stage for one in some):
            if stage not in stages:
                raise InputError(
                    f"{source.folder.path} has labels of {KIND_NAMES[kind]} in "
                    f"{line(stage, 60)!r}, and no such table of verdicts; were they imported from "
                    "another run?"
                )
        for stage in stages:
            own = [one for one in some if one.stage == stage]
            if any(not one.skipped for one in own):
                tables.append(_table(source.folder, kind, stage, own))
    return tables


def _table(
    folder: RunFolder, kind: Kind, stage: str, labels: Sequence[PersonLabel]
) -> LabeledTable:
    given = [one for one in labels if not one.skipped]
    items = sorted({one.item for one in given})
    place = {item: row for row, item in enumerate(items)}
    people = [name for name, _ in Counter(one.annotator for one in given).most_common()]
    said: dict[str, list[Verdict | None]] = {name: [None] * len(items) for name in people}
    drawn: dict[LabeledItem, PersonLabel] = {}
    told: dict[LabeledItem, dict[str, Verdict]] = {item: {} for item in items}
    for one in given:
        said[one.annotator][place[one.item]] = one.verdict
        told[one.item][one.annotator] = one.verdict
        drawn[one.item] = one
    designs = {one.design for one in given}
    design = designs.pop() if len(designs) == 1 else ""
    chances = [drawn[item].probability if design else None for item in items]
    read = judge_verdicts(folder, kind, stage, items)
    return LabeledTable(
        kind,
        stage,
        items,
        said,
        [joined_verdict(item, told[item]).verdict for item in items],
        [read.get(item) for item in items],
        chances,
        [drawn[item].stratum for item in items],
        sum(bool(one.skipped) for one in labels),
    )


def judge_verdicts(
    folder: RunFolder, kind: Kind, stage: str, items: Sequence[LabeledItem]
) -> dict[LabeledItem, Verdict]:
    """Return the judge's verdict on each item; of a pair, what it says of that one sample."""
    wanted: dict[tuple[str, str], list[LabeledItem]] = {}
    for item in items:
        target = pair_of(item.target)[0] if kind == "pair" else item.target
        wanted.setdefault((target, item.asked), []).append(item)
    found = {}
    for v in folder.iter(f"verdicts/{stage}", Verdict):
        for item in wanted.get((v.target, v.asked), ()):
            found[item] = _of_pair(v, item) if kind == "pair" else v
    return found


def _of_pair(verdict: Verdict, item: LabeledItem) -> Verdict:
    sample, letters = pair_of(item.target)[1], verdict.raw or ""
    letter = PAIR_LABELS.get(letters[sample : sample + 1])
    problem = None if letter else "unread"
    return Verdict(item.target, item.asked, verdict.by, label=letter, problem=problem)


class _What(NamedTuple):
    """One thing that is read of an item: its name, all its labels, and how it is read."""

    name: str
    labels: tuple[str, ...]
    of: Callable[[Verdict], str | None]


def _whats(table: LabeledTable) -> list[_What]:
    """Return what judge and people are compared on, the main thing first."""
    kind = table.kind
    if kind == "sureness":
        return []
    if kind not in READ_KINDS:
        words = CODES[kind]
        name = "support" if kind == "claim" else "contradiction"
        return [_What(name, tuple(words.values()), lambda v: words.get(v.label or ""))]
    stance = _What("stance", STANCES[kind], lambda v: v.stance)
    graded = any(v is not None and v.value in ("correct", "incorrect") for v in table.read)
    values = VALUES if kind == "aspect" else VALUES[:3]
    # without golds the judge says nothing of right and wrong
    return [_What("verdict", values, lambda v: v.value), stance] if graded else [stance]


def _coded(verdicts: Sequence[Verdict | None], what: _What) -> Floats:
    """Return the number of each verdict's label, NaN where it has none."""
    number = {label: code for code, label in enumerate(what.labels)}
    texts = (None if v is None else what.of(v) for v in verdicts)
    return np.array([number.get(text or "", np.nan) for text in texts], dtype=np.float64)


# ---- the numbers


class _Draws(NamedTuple):
    """How intervals are made: clusters of the items, their weights, resamples and seed."""

    unit: Sequence[str]
    weights: Floats | None
    n: int
    seed: int

    def share(self, name: str, top: object, bottom: object) -> Estimate:
        return bootstrap_share(
            name, np.asarray(top), np.asarray(bottom), self.unit, self.n, self.seed,
            weights=self.weights,
        )  # fmt: skip

    def number(
        self,
        name: str,
        metric: Statistic,
        columns: Floats,
        limits: tuple[float, float] | None,
    ) -> Estimate:
        """Return a metric of the columns (items, ...) with its interval, of weighted items."""
        w = np.ones(len(columns)) if self.weights is None else self.weights / self.weights.mean()

        def weighted(rows: Floats, design: Floats, weights: Any = None) -> Any:
            return metric(rows, design if weights is None else np.asarray(weights) * design)

        return bootstrap(
            weighted, columns, w, clusters=self.unit, n=self.n, seed=self.seed, limits=limits,
            name=name,
        )  # fmt: skip


def agreement(
    run: str | PathLike[str], *, resamples: int = 2000, seed: int = 0, examples: int = EXAMPLES
) -> RunAgreement:
    """Return how far the judge of a finished run agrees with the people who labeled it.

    ``run`` is a run folder, or the result of one. Raises InputError where nobody labeled it.
    """
    folder = run_path(run)
    source = label_source(folder, ALL)
    manifest = source.folder.read_manifest()
    tables = labeled_tables(source, stored_labels(folder))
    if not tables:
        raise InputError(
            f"{folder}: its labels are all skipped items; label some: sayso label "
            f"{quote(str(folder))}"
        )
    clusters = clusters_of(source.folder.iter("questions", Question))
    kinds = []
    for table in tables:
        unit = [clusters.get(item.asked, item.asked) for item in table.items]
        draws = _Draws([str(one) for one in unit], table.weights, resamples, seed)
        shown = shown_items(source, table.items)
        kinds.append(_kind_agreement(source, table, draws, shown, examples))
    return RunAgreement(
        str(folder), manifest.shown_model, manifest.judge_signature or manifest.judge, tuple(kinds)
    )


def _kind_agreement(
    source: LabelSource,
    table: LabeledTable,
    draws: _Draws,
    shown: Sequence[ShownItem],
    examples: int,
) -> KindAgreement:
    counts = {name: sum(v is not None for v in column) for name, column in table.said.items()}
    held = {
        "kind": table.kind,
        "stage": table.stage,
        "items": len(table.items),
        "annotators": tuple(counts.items()),
        "skipped": table.skipped,
        "weighted": draws.weights is not None,
    }
    if table.kind == "sureness":
        return _sureness_agreement(table, draws, shown, examples, held)
    whats = _whats(table)
    judge, people = _coded(table.read, whats[0]), _people(table, whats[0])
    joined = _coded(table.joined, whats[0])
    read = ~np.isnan(judge)
    labeled = read & ~np.all(np.isnan(np.stack(people, axis=1)), axis=1)
    decided = labeled & ~np.isnan(joined) & _majorities(table, whats[0])
    same = judge == joined
    found, invented = _doubt(table, draws)
    differ = np.flatnonzero(labeled & ~np.isnan(joined) & ~same)
    return KindAgreement(
        **held,  # type: ignore[arg-type]
        unread=int((~read).sum()),
        undecided=int((labeled & ~decided).sum()),
        agreed=draws.share("agreed", decided & same, labeled),
        error=draws.share("error", decided & ~same, labeled),
        split=draws.share("split", ~decided, labeled),
        doubt_found=found,
        doubt_invented=invented,
        readings=tuple(_reading(table, what, draws) for what in whats),
        parts=tuple(_parts(table, draws, shown, (judge, joined), people)),
        **_matrix(source, table, draws),
        worst=_worst(table, shown, differ, whats[0], examples),
    )


def _people(table: LabeledTable, what: _What) -> list[Floats]:
    return [_coded(column, what) for column in table.said.values()]


def _majorities(table: LabeledTable, what: _What) -> NDArray[np.bool_]:
    """Tell to which items more than half of their annotators gave the joined label."""
    return np.array(
        [
            joined_verdict(item, table.told(row), what.of).majority
            for row, item in enumerate(table.items)
        ],
        dtype=np.bool_,
    )


def _reading(table: LabeledTable, what: _What, draws: _Draws) -> LabelReading:
    judge, people = _coded(table.read, what), _people(table, what)
    joined = _coded(table.joined, what)

    def held(columns: Sequence[Floats]) -> Coefficients:
        return coefficients(
            np.stack(columns, axis=1), draws.unit, draws.weights, len(what.labels), draws.n,
            draws.seed,
        )  # fmt: skip

    size = len(what.labels)
    both = ~(np.isnan(judge) | np.isnan(joined))
    slot = (joined[both] * size + judge[both]).astype(np.int64)
    counts = np.bincount(slot, minlength=size * size).reshape(size, size)
    return LabelReading(
        what.name,
        what.labels,
        held([judge, joined]),
        held(people),
        tuple(tuple(int(x) for x in row) for row in counts),
    )


def _doubt(table: LabeledTable, draws: _Draws) -> tuple[Estimate | None, Estimate | None]:
    """Return the shares of answers with doubt, and of others, that the judge read as doubt."""
    if table.kind not in READ_KINDS:
        return None, None
    what = _What("doubt", ("no", "yes"), _voices_doubt)
    judge, people = _coded(table.read, what), _coded(table.joined, what)
    read = ~np.isnan(judge)
    return (
        draws.share("doubt_found", judge == 1, read & (people == 1)),
        draws.share("doubt_invented", judge == 1, read & (people == 0)),
    )


def _voices_doubt(verdict: Verdict) -> str | None:
    if verdict.stance is None:
        return None
    return "no" if verdict.stance in ("committed", "omitted") else "yes"


def _parts(
    table: LabeledTable,
    draws: _Draws,
    shown: Sequence[ShownItem],
    columns: tuple[Floats, Floats],
    people: Sequence[Floats],
) -> Iterator[AgreedPart]:
    """Yield agreement by stratum, by length, and with each annotator."""
    judge, joined = columns
    both = ~(np.isnan(judge) | np.isnan(joined))
    for by, names in (("stratum", table.stratum), ("words", lengths_of(shown))):
        order = sorted(set(names), key=_first_number if by == "words" else None)
        for name in order if len(order) > 1 else ():
            inside = both & (np.array(names) == name)
            if inside.any():
                yield AgreedPart(by, name, draws.share("agreed", judge == joined, inside))
    if len(people) > 1:
        for name, own in zip(table.said, people, strict=True):
            inside = ~(np.isnan(judge) | np.isnan(own))
            yield AgreedPart("annotator", name, draws.share("agreed", judge == own, inside))


def _first_number(length: str) -> int:
    return int(length.split()[0])


def lengths_of(shown: Sequence[ShownItem]) -> list[str]:
    """Return the part of the lengths that each item's text lies in, as "3 to 7", in words.

    The text is the claim or the marked part where there is one. Parts hold about as many items.
    """
    words = [len((one.claim or one.text[1] or "".join(one.text)).split()) for one in shown]
    ends = sorted({int(x) for x in np.quantile(words, np.arange(1, LENGTHS + 1) / LENGTHS)})
    parts = [next(end for end in ends if count <= end) for count in words]
    least = {end: min(c for c, p in zip(words, parts, strict=True) if p == end) for end in {*parts}}
    order = sorted(zip(parts, range(len(parts)), strict=True))
    names = {
        end: f"{least[end]}" if least[end] == end else f"{least[end]} to {end}" for end, _ in order
    }
    return [names[part] for part in parts]


def _worst(
    table: LabeledTable,
    shown: Sequence[ShownItem],
    differ: Sequence[int] | np.ndarray[Any, np.dtype[np.int64]],
    what: _What,
    examples: int,
) -> tuple[DisputedItem, ...]:
    """Return the items on which the judge was surest and people say otherwise."""

    def certainty(row: int) -> float:
        verdict = table.read[row]
        return -1.0 if verdict is None or verdict.certainty is None else verdict.certainty

    order = sorted((int(row) for row in differ), key=lambda row: (-certainty(row), row))
    return tuple(_disputed(table, shown[row], row, what.of) for row in order[:examples])


def _disputed(
    table: LabeledTable, shown: ShownItem, row: int, of: Callable[[Verdict], object]
) -> DisputedItem:
    judge = table.read[row]
    return DisputedItem(
        question=line(shown.question, LONGEST_TEXT),
        golds=shown.golds,
        text=line(_excerpt(shown, judge), LONGEST_TEXT),
        judge=str(of(judge)) if judge is not None else "unread",
        people=tuple((line(name, 40), str(of(v))) for name, v in table.told(row).items()),
        certainty=None if judge is None else judge.certainty,
    )


def _excerpt(shown: ShownItem, judge: Verdict | None) -> str:
    """Return what a label is of: the claim, the marked part, or what the judge read as the place.

    Where invisible characters were taken out of the text, the judge's place is off by as many.
    """
    whole = "".join(shown.text)
    if shown.claim or shown.text[1] or judge is None or judge.start is None or judge.end is None:
        return shown.claim or shown.text[1] or whole
    return whole[judge.start : judge.end] if 0 <= judge.start < judge.end else whole


# ---- the matrix of people, judge and answer metrics


def grade(kind: Kind, verdict: Verdict | None) -> float:
    """Return 1 for right (supported, contradicting), 0 for wrong (not so), NaN for neither."""
    if verdict is None:
        return float("nan")
    if kind in READ_KINDS:
        content = verdict.content if verdict.stance in STATED else None
        return {"correct": 1.0, "incorrect": 0.0}.get(content or "", float("nan"))
    letters = {"S": 1.0, "NS": 0.0, "IR": 0.0} if kind == "claim" else {"c": 1.0, "n": 0.0}
    return letters.get(verdict.label or "", float("nan"))


def _matrix(source: LabelSource, table: LabeledTable, draws: _Draws) -> dict[str, Any]:
    """Return the agreement of every two graders, and of each with the majority of other people."""
    people = list(table.said)[:MOST_PEOPLE]
    graders: dict[str, Floats] = {
        name: np.array([grade(table.kind, v) for v in table.said[name]]) for name in people
    }
    graders[JUDGE] = np.array([grade(table.kind, v) for v in table.read])
    if table.kind == "answer":
        graders |= _word_grades(source, table)
    graders = {name: column for name, column in graders.items() if not np.isnan(column).all()}
    panel = [name for name in people if name in graders]
    return {
        "matrix": agreement_matrix(graders, draws.unit, draws.n, draws.seed),
        "others": against_others(graders, panel, draws.unit, draws.n, draws.seed)
        if len(panel) > 2
        else {},
    }


class _Text(msgspec.Struct, frozen=True):
    """What is read of a stored answer."""

    id: str
    text: str


def _word_grades(source: LabelSource, table: LabeledTable) -> dict[str, Floats]:
    """Return what answer metrics of words say of short answers, at the papers' thresholds."""
    wanted = {item.target for item in table.items}
    answers = source.folder.iter(f"generations/{table.stage}", _Text)
    texts = {g.id: g.text for g in answers if g.id in wanted}
    golds = {
        q.id: reference_texts(q.golds) for q in source.folder.iter("questions", Question) if q.golds
    }
    grades = {}
    for name in WORD_METRICS:
        values = [
            ANSWER_METRICS[name](golds[item.asked], texts[item.target])
            if item.asked in golds and item.target in texts
            else float("nan")
            for item in table.items
        ]
        grades[name] = THRESHOLDS[name].correct(values)
    return grades


# ---- how sure a sentence sounds


def _number(verdict: Verdict | None) -> float:
    number = None if verdict is None else verdict.number
    return float("nan") if number is None or not 0 <= number <= 1 else float(number)


def _sureness_agreement(
    table: LabeledTable,
    draws: _Draws,
    shown: Sequence[ShownItem],
    examples: int,
    held: Mapping[str, object],
) -> KindAgreement:
    """Return how people's slider and the judge's decisiveness go together."""
    judge = np.array([_number(v) for v in table.read])
    people = np.array([[_number(v) for v in column] for column in table.said.values()]).T
    mean = np.array([_number(v) for v in table.joined])
    pairs = np.stack([judge, mean], axis=1)
    gap = judge - mean
    both = ~np.isnan(gap)

    def mean_of(rows: Floats, weights: Floats) -> Any:
        W = np.atleast_2d(weights)[:, both]
        with np.errstate(invalid="ignore"):
            value = W @ rows[both] / W.sum(axis=1)
        return value if np.ndim(weights) == 2 else (float(value[0]) if both.any() else None)

    def near(part: float) -> Estimate:
        return draws.share("agreed", np.nan_to_num(np.abs(gap), nan=1.0) <= part, both)

    reading = SurenessReading(
        pearson=draws.number(
            "pearson", lambda x, w: pearson(x[:, 0], x[:, 1], w), pairs, COEFFICIENT
        ),
        spearman=draws.number(
            "spearman", lambda x, w: spearman(x[:, 0], x[:, 1], w), pairs, COEFFICIENT
        ),
        difference=draws.number("difference", mean_of, gap, None),
        distance=draws.number("distance", mean_of, np.abs(gap), (0.0, 1.0)),
        people=draws.number(
            "alpha", lambda x, w: krippendorff_alpha(x, "interval", w), people, COEFFICIENT
        ),
    )
    size = np.abs(np.nan_to_num(gap))
    order = [int(row) for row in np.argsort(-size, kind="stable") if both[row]]
    order = [row for row in order if size[row] > NEAR]
    return KindAgreement(
        **held,  # type: ignore[arg-type]
        unread=int(np.isnan(judge).sum()),
        undecided=0,
        agreed=near(NEAR),
        error=draws.share("error", size > NEAR, both),
        split=draws.share("split", np.zeros(len(gap)), both),
        sureness=reading,
        worst=tuple(
            _disputed(table, shown[row], row, lambda v: f"{_number(v):.2f}")
            for row in order[:examples]
        ),
    )


#: how near the judge is to people on how sure a sentence sounds, to count as agreeing
NEAR = 0.25


# ---- terminal


def agreement_text(result: RunAgreement) -> ToldTables:
    """Return the result as text; it ends with how many labels would halve the main interval."""
    head = [f"how far the judge {result.judge} agrees with the people who labeled {result.run}"]
    head += [_counts_text(kind) for kind in result.kinds]
    columns: dict[str, Callable[[KindAgreement], Entry]] = {
        "items": lambda kind: f"{kind.agreed.n}",
        "people confirm it": lambda kind: percent_text(kind.agreed),
        "people contradict it": lambda kind: percent_text(kind.error),
        "no majority": lambda kind: percent_text(kind.split),
    }
    if all(len(kind.annotators) == 1 for kind in result.kinds):  # and so always of one mind
        del columns["no majority"]
    kinds = {kind.title: kind for kind in result.kinds}
    tables = [grid("", kinds, columns, lambda kind, of: of(kind))]
    for kind in result.kinds:
        tables += _kind_tables(kind)
        if kind.worst:
            tables.append(_examples(kind))
    tail = [text for kind in result.kinds for text in _left_out(kind)]
    tail += ["Ranges are 95 %, by resampling entities: they hold for these annotators."]
    tail += filter(None, [more_labels(result.run)])
    bad = [f"{kind.title}: {UNWEIGHTED}" for kind in result.kinds if not kind.weighted]
    bad += [
        f"{kind.title}: {kind.agreed.problem}"
        for kind in result.kinds
        if kind.agreed.low is None and kind.agreed.problem
    ]
    return ToldTables(head, tables, bad, tail)


def models_text(results: Sequence[RunAgreement]) -> ToldTables:
    """Return how far the judges of several runs agree with people, a row for each run and kind."""
    rows = {
        f"{line(result.model, 60)}: {kind.title}": (result, kind)
        for result in results
        for kind in result.kinds
    }
    columns: dict[str, Callable[[RunAgreement, KindAgreement], Entry]] = {
        "judge": lambda result, kind: line(result.judge, 40),
        "items": lambda result, kind: f"{kind.agreed.n}",
        "people confirm it": lambda result, kind: percent_text(kind.agreed),
    }
    return ToldTables([], [grid("by model", rows, columns, lambda row, of: of(*row))])


def _counts_text(kind: KindAgreement) -> str:
    who = ", ".join(f"{line(name, 40)} {count}" for name, count in kind.annotators)
    text = f"{kind.title}: {kind.items:,} labeled ({who})"
    for count, what in (
        (kind.skipped, "skipped"),
        (kind.unread, "that the judge could not read"),
        (kind.undecided, "without a majority: the label given most often counts, or one by chance"),
    ):
        text += f"; {count:,} {what}" if count else ""
    return text


def _left_out(kind: KindAgreement) -> Iterator[str]:
    """Yield of how many items one thing is not read, where another is."""
    for who in ("judge", "people"):
        counts = {reading.name: getattr(reading, who).n for reading in kind.readings}
        for name, count in counts.items():
            fewer = max(counts.values()) - count
            if fewer:
                items = "item is" if fewer == 1 else "items are"
                sides = "judge and people" if who == "judge" else "people among themselves"
                yield (
                    f"{kind.title}, {name}, {sides}: {fewer:,} {items} left out, because somebody "
                    "could not tell whether the answer is right"
                )


def _kind_tables(kind: KindAgreement) -> Iterator[NumberTable]:
    for reading in kind.readings:
        sides = {"judge and people": reading.judge, "people among themselves": reading.people}
        rows = {"items": "n", **{words: name for name, words in COEFFICIENT_NAMES.items()}}
        yield grid(f"{kind.title}, {reading.name}", rows, sides, _coefficient)
    if kind.doubt_found is not None and kind.doubt_invented is not None:
        columns = {"of the doubt": kind.doubt_found, "of other answers": kind.doubt_invented}
        yield grid(
            f"{kind.title}: the judge reads doubt in", {"all": 0}, columns,
            lambda _, e: percent_text(e),
        )  # fmt: skip
    if kind.sureness is not None:
        told = {what: e for what, e in agreement_numbers(kind) if e.name in SURENESS}
        yield grid(
            f"{kind.title}: how sure, 0 to 1", told, {"value [95 %]": 0}, lambda e, _: bare_text(e)
        )
    for reading in kind.readings:
        used = {
            label: place
            for place, label in enumerate(reading.labels)
            if any(reading.confusion[place]) or any(row[place] for row in reading.confusion)
        }
        yield grid(
            f"{kind.title}, {reading.name}: people said", used,
            {f"judge: {label}": place for label, place in used.items()},
            partial(_confused, reading.confusion),
        )  # fmt: skip
    yield grid(
        f"{kind.title}, by part",
        {f"{part.by}: {line(part.name, 60)}": part for part in kind.parts},
        {"items": lambda e: f"{e.n}", "judge agrees": percent_text},
        lambda part, of: of(part.agreed),
    )
    yield _matrix_table(kind)


def _confused(counts: Sequence[Sequence[int]], row: int, column: int) -> str:
    return f"{counts[row][column]}"


def _coefficient(name: str, side: Coefficients) -> str:
    return f"{side.n}" if name == "n" else bare_text(getattr(side, name))


SURENESS = ("pearson", "spearman", "difference", "distance", "alpha")


def _matrix_table(kind: KindAgreement) -> NumberTable:
    """Return the matrix of Santilli et al.'s table 1: the share of items graded alike."""
    pairs = {(p.first, p.second): p.same for p in kind.matrix}
    pairs |= {(second, first): e for (first, second), e in pairs.items()}
    pairs |= {(name, "other people"): e for name, e in kind.others.items()}
    names = {line(name, 40): name for pair in pairs for name in pair if name != "other people"}
    columns = {**names, **({"other people": "other people"} if kind.others else {})}

    def alike(one: str, two: str) -> str:
        e = pairs.get((one, two))
        return "" if e is None or e.value is None else f"{e.value:.2f}"

    return grid(f"{kind.title}: right or wrong alike", names, columns, alike)


def _examples(kind: KindAgreement) -> NumberTable:
    def people(one: DisputedItem) -> str:
        said = Counter(label for _, label in one.people)
        return ", ".join(f"{label} ({count})" for label, count in said.most_common())

    columns: dict[str, Callable[[DisputedItem], Entry]] = {
        "answer": lambda one: line(one.text, 120),
        "judge": lambda one: (
            one.judge if one.certainty is None else f"{one.judge} {one.certainty:.2f}"
        ),
        "people": people,
    }
    what = "furthest apart" if kind.sureness is not None else "the judge was surest, and wrong"
    rows = {(f"{at}. {line(one.question, 76)}",): one for at, one in enumerate(kind.worst, 1)}
    return grid(f"{kind.title}: {what}", rows, columns, lambda one, of: of(one))


def percent_text(e: Estimate) -> str:
    """Return a share in percent with its interval."""
    if e.value is None:
        return "–"
    text = f"{100 * e.value:.0f} %"
    if e.low is None or e.high is None:
        return text
    return f"{text} [{100 * e.low:.0f}–{100 * e.high:.0f}]"


def bare_text(e: Estimate) -> str:
    """Return a number with its interval; a dash where it is undefined."""
    return "–" if e.value is None else share_text(e)
