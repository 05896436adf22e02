"""How far the judge of a run agrees with people, and people with each other.

People's labels and the judge's verdicts are on the same items (``people/labels.py``). What several
annotators say of one item is joined (``people/joined.py``): the label given most often, of equally
many one by chance. The shares of UNCLE's appendix B count items apart to which no majority, more
than half, gave the same label.

Items were drawn by design, rarer readings of the judge more often, so each counts as one over the
probability of its draw, of several draws by the groups of all, as corrected numbers do. Where these
are not stored, every item counts alike and the result says so. Intervals resample entities, not
annotators: they hold for these annotators.

UNCLE's appendix B is the first table: the share of items on which people confirm the judge, and on
which they contradict it; on the rest they do not agree. For sureness there are Pearson's and
Spearman's correlation of people's slider and the judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from shlex import quote
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.harmless import line
from sayso.metrics.agreement import COEFFICIENT, coefficients, krippendorff_alpha
from sayso.metrics.arrays import Floats, divide
from sayso.metrics.intervals import Statistic, bootstrap, bootstrap_share
from sayso.metrics.ranking import pearson, spearman
from sayso.people.corrected import draw_strata, label_chances, more_labels, unlike_run
from sayso.people.items import (
    ALL,
    ENDS,
    KIND_NAMES,
    LabelSource,
    ShownItem,
    kind_stages,
    label_source,
    of_other_texts,
    shown_items,
)
from sayso.people.joined import cannot_tell, joined_verdict, said_doubt
from sayso.people.labels import (
    CODES,
    KINDS,
    PASSED,
    READ_KINDS,
    STANCES,
    Kind,
    LabeledItem,
    LabelStore,
    PersonLabel,
    pair_of,
    stored_labels,
)
from sayso.protocols.pool import clusters_of
from sayso.records import Estimate, InputError, Question, Results, Verdict, part_of, slice_of
from sayso.report.differences import in_one_phrase
from sayso.report.notebook import Plotted, estimates_frame, short_repr
from sayso.report.number_tables import WITH_INTERVAL, Entry, NumberTable, grid
from sayso.report.numbers import percent, shown_whole
from sayso.report.opening import PageOpening
from sayso.report.sheet import Section, Sheet
from sayso.runs.measure import run_path
from sayso.storage.run_folder import RunFolder

#: what UNCLE makes of a verdict, in the order of tables
VALUES = ("correct", "incorrect", "uncertain", "omitted")
#: the letters by which a judge's verdict on an assertion says what each sample does to it
PAIR_LABELS = {"c": "c", "n": "n", "e": "n", "p": "p"}
#: examples that are kept; parts that lengths are cut into
EXAMPLES, LENGTHS = 10, 3
#: the answers that a kind is of where its name does not say it
MAIN: dict[Kind, str] = {"answer": "short", "aspect": "long", "claim": "long"}
#: characters of a text in an example
LONGEST_TEXT = 400
UNWEIGHTED = (
    "nobody knows how all labels were drawn: every item counts alike, which favors what was drawn "
    "more often"
)
#: how near the judge is to people on how sure a sentence sounds, to count as agreeing
NEAR = 0.25
#: coefficients by name, in the order of tables
COEFFICIENTS = {
    "agreement": "agreement",
    "cohen_kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "difference": "judge minus people",
}
#: who is compared by a coefficient
JUDGE, PEOPLE = "judge and people", "people"


# ---- the result


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
    ``undecided`` have no majority; annotators ``skipped`` items so many times, and ``passed_over``
    are items that nobody labeled or skipped, but somebody went past; of ``cannot_tell`` people do
    not know whether they are right. Of the ``numbers``, ``agreed``, ``error`` and ``split`` are the
    shares of the read items on which people confirm the judge, contradict it, or have no majority;
    all else is of joined labels. ``doubt_found`` is the share of the answers with doubt that the
    judge read so, ``doubt_invented`` that of the others.
    The coefficients name what is compared (``of``: verdict, stance or label) and ``between`` whom;
    ``items`` counts those that people gave one label and the judge another, or the same. ``agreed``
    of a ``stratum``, of a length in ``words`` or of an ``annotator`` is of a part. Of how sure a
    sentence sounds, ``difference`` is the mean of judge minus people.
    """

    kind: Kind
    stage: str
    items: int
    annotators: tuple[tuple[str, int], ...]
    skipped: int
    unread: int
    undecided: int
    weighted: bool
    numbers: tuple[Estimate, ...]
    worst: tuple[DisputedItem, ...] = ()
    passed_over: int = 0
    cannot_tell: int = 0

    @property
    def title(self) -> str:
        """The kind in words, with its answers where these are not the main ones."""
        answers = self.stage
        for end in (*ENDS.values(), "-aspects"):
            answers = answers.removesuffix(end)
        name = KIND_NAMES[self.kind]
        return name if MAIN.get(self.kind) == answers else f"{name} ({line(answers, 60)})"

    def get(self, name: str, **parts: str) -> Estimate:
        """Return one number: ``kind.get("alpha", of="stance", between="people")``."""
        return Results(self.numbers).get(name, **parts)


class RunAgreement(Plotted, msgspec.Struct, frozen=True):
    """How far the judge of a run agrees with the people who labeled it.

    ``kinds`` are the kinds of items with labels. A notebook shows the shares as a table.
    """

    run: str
    model: str
    judge: str
    kinds: tuple[KindAgreement, ...]

    def to_pandas(self) -> Any:
        """Return the numbers as a ``pandas.DataFrame``; see ``Result.to_pandas``.

        The slice of each begins with the kind of items and the table of the judge's verdicts.
        """
        return estimates_frame(
            [
                msgspec.structs.replace(e, where=(("kind", k.kind), ("stage", k.stage), *e.where))
                for k in self.kinds
                for e in k.numbers
            ]
        )

    def __repr__(self) -> str:
        parts = [f"{k.title}: agreed on {shown_whole(k.get('agreed'))}" for k in self.kinds]
        return short_repr("Agreement", (f"judge {line(self.judge, 60)}", *parts))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the shares of each kind of items."""
        return _shares([self]).to_html(_unweighted([self]))


# ---- labels and verdicts, side by side


class LabeledRow(NamedTuple):
    """An item: what each annotator says of it, what they say together, and the judge.

    ``chance`` is the probability with which it was drawn, where that is known.
    """

    item: LabeledItem
    said: dict[str, Verdict]
    joined: Verdict
    read: Verdict | None
    chance: float | None
    stratum: str


class LabeledTable(NamedTuple):
    """Items of one kind and table of the judge, and who labeled them."""

    kind: Kind
    stage: str
    rows: list[LabeledRow]
    people: list[str]
    skipped: int

    @property
    def read(self) -> list[Verdict | None]:
        """What the judge says of each item."""
        return [row.read for row in self.rows]

    @property
    def joined(self) -> list[Verdict]:
        """What people say of each item together."""
        return [row.joined for row in self.rows]

    @property
    def said(self) -> list[list[Verdict | None]]:
        """What each annotator says of each item."""
        return [[row.said.get(name) for row in self.rows] for name in self.people]

    @property
    def weights(self) -> Floats | None:
        """1 / the probability of each item's draw; ``None`` where not every one is known."""
        chances = [c for row in self.rows if (c := row.chance) is not None and 0 < c <= 1]
        return None if len(chances) < len(self.rows) else 1 / np.array(chances)


def labeled_tables(
    source: LabelSource, store: LabelStore, labels: Sequence[PersonLabel]
) -> list[LabeledTable]:
    """Return the labels of a run by kind and table of the judge, the main ones first.

    Raises InputError for a label on a table that the run does not have.
    """
    stages = [(kind, stage) for kind in KINDS for stage in kind_stages(source.folder, kind)]
    given: dict[tuple[Kind, str], list[PersonLabel]] = {}
    for one in labels:
        given.setdefault((one.kind, one.stage), []).append(one)
    for kind, stage in given:
        if (kind, stage) not in stages:
            raise InputError(
                f"{source.folder.path} has labels of {KIND_NAMES[kind]} in {line(stage, 60)!r}, "
                "and no such table of verdicts; were they imported from another run?"
            )
    there = [place for place in stages if place in given]
    tables = [_table(source, store, place, given[place]) for place in there]
    return [table for table in tables if table.rows]


def _table(
    source: LabelSource, store: LabelStore, place: tuple[Kind, str], labels: Sequence[PersonLabel]
) -> LabeledTable:
    kind, stage = place
    given = [one for one in labels if not one.skipped]
    people = [name for name, _ in Counter(one.annotator for one in given).most_common()]
    drawn = all(one.design for one in given) and given and not unlike_run(source, store, given)
    strata = draw_strata(store, given) if drawn else None
    chances = {} if strata is None else label_chances(given, strata)
    of: dict[LabeledItem, dict[str, PersonLabel]] = {}
    for one in given:
        of.setdefault(one.item, {})[one.annotator] = one
    read = judge_verdicts(source.folder, kind, stage, [*of])
    rows = []
    for item in sorted(of):
        said = {name: of[item][name].verdict for name in people if name in of[item]}
        stratum = of[item][next(iter(said))].stratum
        chance = chances.get((item.target, item.asked))
        joined = joined_verdict(item, said).verdict
        rows.append(LabeledRow(item, said, joined, read.get(item), chance, stratum))
    skipped = sum(one.skipped not in ("", PASSED) for one in labels)
    return LabeledTable(kind, stage, rows, people, skipped)


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

    def number(self, name: str, metric: Statistic, columns: Floats) -> Estimate:
        """Return a metric of the columns (items, ...) with its interval, of weighted items."""
        w = np.ones(len(columns)) if self.weights is None else self.weights / self.weights.mean()

        def weighted(rows: Floats, design: Floats, weights: Any = None) -> Any:
            return metric(rows, design if weights is None else np.asarray(weights) * design)

        return bootstrap(
            weighted, columns, w, clusters=self.unit, n=self.n, seed=self.seed, limits=COEFFICIENT,
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
    labels = stored_labels(folder)
    if other := of_other_texts(source, labels):
        raise InputError(
            f"{folder}: {len(other):,} of its labels are of answers that have another text now, "
            f"such as {line(other[0].verdict.target, 40)}: sayso label {quote(str(folder))} shows "
            "these again"
        )
    with LabelStore.read(folder) as store:
        tables = labeled_tables(source, store, labels)
        passed = [len(store.left_out(table.stage)[1]) for table in tables]
    if not tables:
        raise InputError(
            f"{folder}: its labels are all skipped items; label some: sayso label "
            f"{quote(str(folder))}"
        )
    clusters = clusters_of(source.folder.iter("questions", Question))
    kinds = []
    for table, passed_over in zip(tables, passed, strict=True):
        items = [row.item for row in table.rows]
        unit = [str(clusters.get(item.asked, item.asked)) for item in items]
        draws = _Draws(unit, table.weights, resamples, seed)
        shown = shown_items(source, items)
        made = _kind_agreement(table, draws, shown, examples)
        untold = sum(map(cannot_tell, table.joined))
        kinds.append(msgspec.structs.replace(made, passed_over=passed_over, cannot_tell=untold))
    return RunAgreement(
        str(folder), manifest.shown_model, manifest.judge_signature or manifest.judge, tuple(kinds)
    )


def _kind_agreement(
    table: LabeledTable, draws: _Draws, shown: Sequence[ShownItem], examples: int
) -> KindAgreement:
    if table.kind == "sureness":
        compared = _sureness(table, draws)
    else:
        compared = _labels_compared(table, draws, shown)
    counts = [(name, sum(name in row.said for row in table.rows)) for name in table.people]
    return KindAgreement(
        table.kind,
        table.stage,
        len(table.rows),
        tuple(counts),
        table.skipped,
        compared.unread,
        compared.undecided,
        draws.weights is not None,
        tuple(compared.numbers),
        tuple(_disputed(table, shown[row], row) for row in compared.worst[:examples]),
    )


class _Compared(NamedTuple):
    """What comes of a comparison, ``worst`` the rows to show, in their order."""

    numbers: list[Estimate]
    unread: int
    undecided: int
    worst: list[int]


def _labels_compared(table: LabeledTable, draws: _Draws, shown: Sequence[ShownItem]) -> _Compared:
    """Compare labels: shares, coefficients, counts, parts, and where the judge was surest."""
    whats = _whats(table)
    judge, people = _coded(table.read, whats[0]), _people(table, whats[0])
    joined = _coded(table.joined, whats[0])
    read = ~np.isnan(judge)
    labeled = read & ~np.all(np.isnan(np.stack(people, axis=1)), axis=1)
    majority = [joined_verdict(row.item, row.said, whats[0].of).majority for row in table.rows]
    decided = labeled & ~np.isnan(joined) & np.array(majority)
    same = judge == joined
    numbers = [
        draws.share("agreed", decided & same, labeled),
        draws.share("error", decided & ~same, labeled),
        *([draws.share("split", ~decided, labeled)] if people[1:] else []),
        *_doubt(table, draws),
        *(e for what in whats for e in _coefficients(table, what, draws)),
        *_parts(table, draws, shown, (judge, joined), people),
    ]

    def certainty(row: int) -> float:
        verdict = table.rows[row].read
        return -1.0 if verdict is None or verdict.certainty is None else verdict.certainty

    differ = [int(row) for row in np.flatnonzero(labeled & ~np.isnan(joined) & ~same)]
    worst = sorted(differ, key=lambda row: -certainty(row))
    return _Compared(numbers, int((~read).sum()), int((labeled & ~decided).sum()), worst)


def _people(table: LabeledTable, what: _What) -> list[Floats]:
    return [_coded(column, what) for column in table.said]


def _coefficients(table: LabeledTable, what: _What, draws: _Draws) -> Iterator[Estimate]:
    """Yield how far judge and people, and people among themselves, give the same labels."""
    judge, people = _coded(table.read, what), _people(table, what)
    joined = _coded(table.joined, what)
    for between, columns in ((JUDGE, [judge, joined]), (PEOPLE, people)):
        values, classes = np.stack(columns, axis=1), len(what.labels)
        found = coefficients(values, draws.unit, draws.weights, classes, draws.n, draws.seed)
        where = slice_of(of=what.name, between=between)
        yield msgspec.structs.replace(found.same, where=where)
        yield msgspec.structs.replace(found.kappa, name="cohen_kappa", where=where)
        yield msgspec.structs.replace(found.alpha, where=where)
        yield msgspec.structs.replace(found.ac1, where=where)
    both = ~(np.isnan(judge) | np.isnan(joined))
    counts = Counter(zip(joined[both], judge[both], strict=True))
    for (said, read), count in sorted(counts.items()):
        where = slice_of(of=what.name, people=what.labels[int(said)], judge=what.labels[int(read)])
        yield Estimate("items", where, count, n=int(both.sum()))


def _doubt(table: LabeledTable, draws: _Draws) -> Iterator[Estimate]:
    """Yield the shares of answers with doubt, and of others, that the judge read as doubt."""
    if table.kind not in READ_KINDS:
        return
    what = _What("doubt", ("committed", "omitted", "doubt"), said_doubt)
    judge, people = _coded(table.read, what), _coded(table.joined, what)
    read = ~np.isnan(judge)
    yield draws.share("doubt_found", judge == 2, read & (people == 2))
    yield draws.share("doubt_invented", judge == 2, read & (people < 2))


def _parts(
    table: LabeledTable,
    draws: _Draws,
    shown: Sequence[ShownItem],
    columns: tuple[Floats, Floats],
    people: Sequence[Floats],
) -> Iterator[Estimate]:
    """Yield agreement by stratum, by length in words, and with each of several annotators."""
    judge, joined = columns
    strata = np.array([row.stratum for row in table.rows])
    names = sorted(set(strata.tolist()))
    parts = [("stratum", name, joined, strata == name) for name in names if names[1:]]
    lengths = [*_lengths(shown)]
    parts += [("words", name, joined, inside) for name, inside in lengths if lengths[1:]]
    everything = np.ones(len(judge), dtype=bool)
    own = zip(table.people, people, strict=True)
    parts += [("annotator", name, column, everything) for name, column in own if people[1:]]
    for by, name, said, inside in parts:
        both = inside & ~(np.isnan(judge) | np.isnan(said))
        if both.any():
            share = draws.share("agreed", judge == said, both)
            yield msgspec.structs.replace(share, where=((by, name),))


def _lengths(shown: Sequence[ShownItem]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield parts of the lengths in words, as "3 to 7", and which items lie in each.

    Lengths are of the claim or the marked part where there is one. Parts hold about as many items.
    """
    texts = (one.claim or one.text[1] or "".join(one.text) for one in shown)
    words = np.array([len(text.split()) for text in texts])
    cuts = np.quantile(words, np.arange(1, LENGTHS + 1) / LENGTHS)
    ends = np.unique(cuts.astype(np.int64))
    part = np.searchsorted(ends, words)
    for n in np.unique(part):
        least, end = words[part == n].min(), ends[n]
        yield (f"{end}" if least == end else f"{least} to {end}"), part == n


# ---- examples


def _said(table: LabeledTable, verdict: Verdict | None) -> str:
    """Return in words what a verdict says; "unread" where it says nothing."""
    if verdict is None:
        return "unread"
    if table.kind == "sureness":
        return f"{_number(verdict):.2f}"
    return str(_whats(table)[0].of(verdict))


def _disputed(table: LabeledTable, shown: ShownItem, row: int) -> DisputedItem:
    judge = table.rows[row].read
    return DisputedItem(
        question=line(shown.question, LONGEST_TEXT),
        golds=shown.golds,
        text=line(_excerpt(shown, judge), LONGEST_TEXT),
        judge=_said(table, judge),
        people=tuple((line(name, 40), _said(table, v)) for name, v in table.rows[row].said.items()),
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


# ---- how sure a sentence sounds


def _number(verdict: Verdict | None) -> float:
    number = None if verdict is None else verdict.number
    return float("nan") if number is None or not 0 <= number <= 1 else float(number)


def _sureness(table: LabeledTable, draws: _Draws) -> _Compared:
    """Compare people's slider and the judge's decisiveness, 0 to 1 both."""
    judge = np.array([_number(v) for v in table.read])
    people = np.array([[_number(v) for v in column] for column in table.said]).T
    mean = np.array([_number(v) for v in table.joined])
    pairs = np.stack([judge, mean], axis=1)
    gap = judge - mean
    both = ~np.isnan(gap)
    size = np.abs(np.nan_to_num(gap))

    def mean_of(rows: Floats, weights: Floats) -> Any:
        W = np.atleast_2d(weights)[:, both]
        value = divide(W @ rows[both], W.sum(axis=1))
        return value if np.ndim(weights) == 2 else (float(value[0]) if both.any() else None)

    compared: list[tuple[str, Statistic, Floats, str]] = [
        ("pearson", lambda x, w: pearson(x[:, 0], x[:, 1], w), pairs, JUDGE),
        ("spearman", lambda x, w: spearman(x[:, 0], x[:, 1], w), pairs, JUDGE),
        ("difference", mean_of, gap, JUDGE),
        ("alpha", lambda x, w: krippendorff_alpha(x, "interval", w), people, PEOPLE),
    ]
    numbers = [
        draws.share("agreed", size <= NEAR, both),
        draws.share("error", size > NEAR, both),
    ]
    for name, metric, columns, between in compared:
        found = draws.number(name, metric, columns)
        where = slice_of(of="sureness", between=between)
        numbers.append(msgspec.structs.replace(found, where=where))
    order = [int(row) for row in np.argsort(-size, kind="stable")]
    far = [row for row in order if size[row] > NEAR]
    return _Compared(numbers, int(np.isnan(judge).sum()), 0, far)


# ---- the sheet


def agreement_sheet(results: Sequence[RunAgreement]) -> Sheet:
    """Return how far the judges of runs agree with people: a row for each run and kind of items."""
    named = _named(results)
    shares = [(kind.get("agreed"), kind.title) for kind in named.values()]
    parts = [f"{percent(e.value, 0)} of {e.n:,} {title}" for e, title in shares]
    judges = in_one_phrase(list(dict.fromkeys(line(result.judge, 60) for result in results)))
    sentence = f"People confirm the judge {judges} on {in_one_phrase(parts)}."
    sections = [Section(kind.kind, name, _kind_tables(kind)) for name, kind in named.items()]
    return Sheet(
        "How far does the judge agree with people?",
        PageOpening(sentence, ""),
        main=_shares(results),
        sections=sections,
        cautions=_unweighted(results),
    )


def _named(results: Sequence[RunAgreement]) -> dict[str, KindAgreement]:
    """Return the kinds of runs by name, which begins with the model, or folder, of several runs."""
    names = [result.model for result in results]
    if len(set(names)) < len(names):
        names = [result.run for result in results]
    return {
        f"{line(name[-60:])}: {kind.title}" if names[1:] else kind.title: kind
        for name, result in zip(names, results, strict=True)
        for kind in result.kinds
    }


def _unweighted(results: Sequence[RunAgreement]) -> list[str]:
    named = _named(results).items()
    return [f"{name}: {UNWEIGHTED}" for name, kind in named if not kind.weighted]


def _shares(results: Sequence[RunAgreement]) -> NumberTable:
    """Return UNCLE's appendix B: how often people confirm and contradict the judge."""
    rows = _named(results)
    shown = {"people confirm it": "agreed", "people contradict it": "error", "no majority": "split"}
    held = {e.name for kind in rows.values() for e in kind.numbers}
    return grid(
        f"The judge's verdicts{WITH_INTERVAL}",
        rows,
        {words: name for words, name in shown.items() if name in held},
        lambda kind, name: Results(kind.numbers).find(name),
        labels=("judge",),
        notes=[
            *(_counts_text(name, kind) for name, kind in rows.items()),
            "Intervals resample entities: they hold for these annotators.",
            *filter(None, (more_labels(result.run) for result in results)),
        ],
    )


def _counts_text(name: str, kind: KindAgreement) -> str:
    who = ", ".join(f"{line(person, 40)} {count}" for person, count in kind.annotators)
    text = f"{name}: {kind.items:,} labeled ({who})"
    for count, what in (
        (kind.skipped, "skipped"),
        (kind.passed_over, "passed over without a label"),
        (kind.cannot_tell, "of which people cannot tell whether they are right"),
        (kind.unread, "that the judge could not read"),
        (kind.undecided, "without a majority: the label given most often counts, or one by chance"),
    ):
        text += f"; {count:,} {what}" if count else ""
    return text


def _kind_tables(kind: KindAgreement) -> list[NumberTable]:
    """Return coefficients, doubt, counts, parts and examples of one kind of items."""
    numbers = Results(kind.numbers)
    readings = dict.fromkeys(part_of(e.where, "of") for e in numbers.each("items"))
    doubt = {"answers with doubt": "doubt_found", "other answers": "doubt_invented"}
    return [
        _coefficient_table(kind, numbers),
        grid(
            "What the judge reads as doubt",
            doubt,
            {"read as doubt": ""},
            lambda name, _: numbers.find(name),
            labels=("of",),
        ),
        *(_confusion(numbers, reading) for reading in readings),
        grid(
            "By part",
            {
                ", ".join(f"{key}: {value}" for key, value in e.where): e
                for e in numbers.each("agreed")
                if e.where
            },
            {"items": "n", "judge agrees": ""},
            lambda e, part: f"{e.n}" if part else e,
        ),
        _examples(kind),
    ]


def _coefficient_table(kind: KindAgreement, numbers: Results) -> NumberTable:
    """Return the coefficients of each reading, of judge and people and of people alone."""
    found = {(part_of(e.where, "of"), part_of(e.where, "between"), e.name): e for e in numbers.all}
    rows = {
        (of, words): (of, name)
        for of in dict.fromkeys(of for of, between, _ in found if between)
        for name, words in COEFFICIENTS.items()
        if any((of, between, name) in found for between in (JUDGE, PEOPLE))
    }
    shown = (JUDGE, PEOPLE) if len(kind.annotators) > 1 else (JUDGE,)
    return grid(
        "Agreement beyond chance",
        rows,
        {between: between for between in shown},
        lambda row, between: found.get((row[0], between, row[1])),
        labels=("of", ""),
        written="plain",
        notes=[
            f"{of}, {between}: {e.n:,} items"
            for (of, between, name), e in found.items()
            if name == "agreement" and e.n
        ],
    )


def _confusion(numbers: Results, reading: str) -> NumberTable:
    """Return how many items people gave each label, and the judge each."""
    counts = {
        (part_of(e.where, "people"), part_of(e.where, "judge")): e.value
        for e in numbers.each("items", of=reading)
    }
    labels = dict.fromkeys([*(said for said, _ in counts), *(read for _, read in counts)])
    return grid(
        f"Items by their {reading}",
        {label: label for label in labels},
        {f"judge: {label}": label for label in labels},
        lambda said, read: f"{counts.get((said, read)) or 0:.0f}",
        labels=("people said",),
    )


def _examples(kind: KindAgreement) -> NumberTable:
    def people(one: DisputedItem) -> str:
        said = Counter(label for _, label in one.people)
        return ", ".join(f"{label} ({count})" for label, count in said.most_common())

    def judge(one: DisputedItem) -> str:
        return one.judge if one.certainty is None else f"{one.judge} {one.certainty:.2f}"

    columns: dict[str, Callable[[DisputedItem], Entry]] = {
        "answer": lambda one: line(one.text, 120),
        "judge": judge,
        "people": people,
    }
    what = "furthest apart" if kind.kind == "sureness" else "the judge was surest, and wrong"
    rows = {f"{at}. {line(one.question, 76)}": one for at, one in enumerate(kind.worst, 1)}
    return grid(f"Where people say otherwise: {what}", rows, columns, lambda one, of: of(one))
