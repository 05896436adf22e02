"""``sayso.check_assertions``: assertions about a run, or about the difference of two.

A run is measured again from its stored answers at the level that its assertions need; nothing is
asked and nothing in its folder changes.
"""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.assertions.decide import (
    CANNOT_SAY,
    DOES_NOT,
    ERROR,
    HOLDS,
    AssertedNumber,
    Decided,
    Outcome,
    decide,
    meets,
)
from sayso.assertions.grammar import (
    Assertion,
    Numbers,
    assertion_name,
    better_direction,
    find_number,
    parse_assertion,
)
from sayso.assertions.needed import sampling_error
from sayso.harmless import line
from sayso.metric import NOTATIONS, Count, Metric, MetricTable, Positive
from sayso.metrics.cmfg import THIN
from sayso.metrics.intervals import at_level
from sayso.people.corrected import corrected_numbers, has_labels
from sayso.protocols import protocol_of
from sayso.protocols.comparing import StoredRow
from sayso.protocols.declared import Declared
from sayso.protocols.pool import cluster_name, clusters_of
from sayso.protocols.protocol import Beside, ComparedRun, Protocol
from sayso.records import CorrectedNumber, Estimate, InputError, part_of, slice_of
from sayso.report.corrected import NumberName, difference_of_corrected, draw_notes
from sayso.report.numbers import notation_of
from sayso.runs.compare import check_resampling, compare
from sayso.runs.measure import entities_of, run_path, whole_run
from sayso.runs.stages import FolderRun
from sayso.storage.run_folder import Manifest, RunFolder

#: what an exit code says: 2 is a user's mistake, as everywhere, or a failure of sayso
CODES: dict[Outcome, int] = {HOLDS: 0, DOES_NOT: 1, ERROR: 2, CANNOT_SAY: 3}
#: how a stage is called whose verdicts are another reading of the same answers
SPANS = "-spans"
OF_THE_RUN = "a fact of this run, without sampling error"
COUNT = "a count of this run, without sampling error"
EXACT = "exact, without sampling error"
#: what the numbers of a run are declared of, by name and slice; second that of the run before it
DeclaredNumbers = Mapping[NumberName, tuple[Declared, Declared | None]]
#: what describes a run itself, not the model (:func:`facts_of_the_run`)
FACTS = MetricTable(
    Metric("missing", "answers without a verdict"),
    Metric("failed", "requests without an answer"),
    Count("requests", "requests"),
    Count("entities", "entities"),
    Positive("dollars", "cost of the answers"),
)
NOTATIONS.update({one.name: one.notation for one in FACTS.values()})
#: how a protocol asked for a number that does not say so
ASKED = {"uncle": (("prompt", "instructed"),), "selective": (("method", "plain"),)}
#: policies whose J is 0 by definition
BLIND = ("never", "always", "random")


class DecidedAssertion(msgspec.Struct, frozen=True):
    """One assertion, what was decided of it, and on what.

    ``low`` and ``high`` are the interval that decided, of the two-sided ``level``: on either side
    it errs with a chance of ``error``. ``reason`` says why nothing is decided, or why a value alone
    decides. ``needed`` is how many entities would settle it with a chance of 80 %, if the true
    value is the observed one; the run has ``entities``.
    """

    assertion: str
    verdict: Outcome
    protocol: str = ""
    run: str = ""
    name: str = ""
    where: dict[str, str] = {}
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    error: float = 0.0
    n: int = 0
    missing: int = 0
    entities: int = 0
    reason: str = ""
    needed: int | None = None
    difference: bool = False
    #: how many labels of people corrected the number for its judge; 0 for a raw one
    labels: int = 0
    #: why the judge alone decides, where a run has labels of people
    judge_alone: str = ""


class CheckedAssertions(msgspec.Struct, frozen=True):
    """What was decided of several assertions, which share one chance of error.

    ``run`` and ``base`` are the folders, ``model`` what pages call the run's model. ``notes`` say
    what of two runs is not compared, and how they differ.
    """

    decided: tuple[DecidedAssertion, ...]
    run: str
    base: str = ""
    model: str = ""
    finished: str = ""
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[DecidedAssertion]:
        return iter(self.decided)

    @property
    def verdict(self) -> Outcome:
        """What is decided of all of them: one that does not hold decides."""
        verdicts = {one.verdict for one in self.decided}
        return next((v for v in (ERROR, DOES_NOT, CANNOT_SAY) if v in verdicts), HOLDS)

    def code(self, *, strict: bool = False) -> int:
        """Return the exit code of ``sayso assert``; ``strict``: "cannot say yet" is a failure."""
        return 1 if strict and self.verdict == CANNOT_SAY else CODES[self.verdict]


class _Target(NamedTuple):
    """What assertions may be about: a run, or two runs of one protocol."""

    plan: Protocol
    path: str
    manifest: Manifest
    entities: int
    stored: Sequence[Estimate]
    of_the_run: Sequence[Estimate]
    measured: Callable[[], Sequence[Estimate]]
    declared: Callable[[], DeclaredNumbers]
    difference: bool = False
    #: what labels of people correct, by name and slice of the number: of each run its own
    labeled: Mapping[NumberName, Sequence[CorrectedNumber]] = {}
    #: why the other numbers are the judge's alone
    judge_alone: str = ""
    notes: Sequence[str] = ()

    @property
    def numbers(self) -> Numbers:
        """The numbers that there are, with what goes without saying of them."""
        own = {e.name for e in self.stored}
        more = [e for e in self.of_the_run if e.name not in own]
        judges = (part_of(e.where, "against") for e in self.stored if e.name == "error_rate")
        judge = next(filter(None, judges), "")
        return Numbers(
            self.plan.name,
            MetricTable(*{**FACTS, **self.plan.metrics}.values()),
            [*self.stored, *more],
            lambda key, value: self.plan.report.part_label(key, value),  # loads much
            (*ASKED.get(self.plan.name, ()), ("against", judge)),
        )


def check_assertions(
    run: str | PathLike[str],
    assertions: str | Sequence[str],
    *,
    base: str | PathLike[str] | None = None,
    allow_cache: bool = False,
    raw: bool = False,
    allow: str | Sequence[str] = (),
    resamples: int = 2000,
    seed: int = 0,
) -> CheckedAssertions:
    """Return what can be said of assertions about a run: each holds, does not, or cannot be said.

    ``run`` is a run folder, a result, or a folder with a run for each protocol. With ``base`` the
    assertions are about the difference, ``run`` minus ``base``; ``allow``, ``resamples`` and
    ``seed`` are then those of :func:`sayso.compare`. Answers from the cache say nothing about a
    model at an endpoint as it is now: such a run is refused without ``allow_cache``. Numbers that
    labels of people correct are decided on as corrected, unless ``raw``. Raises InputError.
    """
    texts = [assertions] if isinstance(assertions, str) else list(assertions)
    parsed = [parse_assertion(text) for text in texts]
    if not parsed:
        raise InputError("there is no assertion: write at least one, such as 'J[short] >= .2'")
    if len({one.text for one in parsed}) < len(parsed):
        raise InputError("an assertion is there twice; write each once")
    runs = _runs_in(run_path(run))
    if not allow_cache:
        _refuse_cached(runs)
    if base is None:
        targets = [_run_target(path, raw=raw) for path in runs]
    else:
        check_resampling(resamples, seed)
        more: dict[str, Any] = {"allow": allow, "resamples": resamples, "seed": seed}
        targets = _differences(run_path(base), runs, more, raw=raw)
    decided = tuple(_decided(parsed, targets))
    manifest = targets[0].manifest
    notes = [note for target in targets for note in target.notes]
    labeled = {(t.path, *place): own for t in targets for place, own in t.labeled.items()}
    places = [(one.run, one.name.partition("[")[0], tuple(one.where.items())) for one in decided]
    notes += draw_notes([number for one in places for number in labeled.get(one, ())])
    return CheckedAssertions(
        decided,
        notes=tuple(dict.fromkeys(notes)),
        run=str(run_path(run)),
        base="" if base is None else str(run_path(base)),
        model=manifest.shown_model,
        finished=manifest.finished or "",
    )


def _decided(parsed: Sequence[Assertion], targets: Sequence[_Target]) -> Iterator[DecidedAssertion]:
    """Yield what is decided of each assertion."""
    numbers = [target.numbers for target in targets]
    meant = [find_number(one, numbers) for one in parsed]
    claims = [
        _claim(assertion, targets[i], number)
        for assertion, (i, number) in zip(parsed, meant, strict=True)
    ]
    facts = [claim.by_nature == OF_THE_RUN for claim in claims]
    wanted = sorted({i for (i, _), fact in zip(meant, facts, strict=True) if not fact})

    declared = [cache(target.declared) for target in targets]

    def measured(error: float) -> list[Estimate]:
        with at_level(1 - 2 * error):
            found = {i: {(e.name, e.where): e for e in targets[i].measured()} for i in wanted}
        why = "this sayso computes no such number; run `sayso measure` first"
        none = [Estimate(one.name, one.where, problem=why) for _, one in meant]
        return [
            number if fact else found[i].get((number.name, number.where), absent)
            for (i, number), fact, absent in zip(meant, facts, none, strict=True)
        ]

    def spread(place: int) -> float | None:
        i, number = meant[place]
        target, key = targets[i], (number.name, number.where)
        if key in target.labeled:  # labels, not entities, would settle it
            return None
        return sampling_error(*declared[i]()[key]) if key in declared[i]() else None

    for assertion, (i, _), claim, one in zip(
        parsed, meant, claims, decide(claims, measured, spreads=spread), strict=True
    ):
        yield _shown(assertion, targets[i], claim, one)


def _claim(assertion: Assertion, target: _Target, number: Estimate) -> AssertedNumber:
    """Return what an assertion wants of its number. Raises InputError."""
    metrics = target.numbers.metrics
    metric = metrics.named(number.name)
    if assertion.comparing != "value" and not target.difference:
        raise InputError(
            f"assertion {line(assertion.text, 100)!r}: {assertion.comparing!r} needs two runs: "
            "sayso compare BASE NEW --assert"
        )
    op, limit = better_direction(assertion, metric)
    by_nature = ""
    if any(number is one for one in target.of_the_run):
        by_nature = OF_THE_RUN
    elif number.value is not None and number.low is None and metric.notation == "count":
        by_nature = COUNT
    elif number.low == number.high == number.value == 0 and not number.missing:
        exact = target.difference or part_of(number.where, "policy") in BLIND
        by_nature = EXACT if exact and (number.name, number.where) not in target.labeled else ""
    scale = None if target.difference else metric.limits
    claim = AssertedNumber(op, limit, by_nature, scale, target.entities)
    if metric.limits is not None and number.name in metrics:
        low, high = metric.limits
        ends = (low - high, high - low) if target.difference else (low, high)
        _check_limit(assertion, claim, number.name, ends)
    return claim


def _check_limit(
    assertion: Assertion, claim: AssertedNumber, name: str, ends: tuple[float, float]
) -> None:
    """Refuse a limit that every value of the scale meets, or none. Raises InputError.

    Hardly any value fails a 1 that stands for 1 %: ``missing < 1``.
    """
    always, other = (meets(claim, end) for end in ends)
    bare = 1 <= abs(assertion.limit) <= 100 and not assertion.text.endswith("%")
    loose = bare and abs(assertion.limit) == 1 and meets(claim, sum(ends) / 2)
    if always != other and not (loose and math.isfinite(sum(ends))):
        return
    says = "hardly ever fails" if always != other else "never fails" if always else "can never hold"
    meant = f"; did you mean {assertion.limit:g}%?" if bare else ""
    raise InputError(
        f"assertion {line(assertion.text, 100)!r}: {name} lies between {ends[0]:g} and "
        f"{ends[1]:g}, so this {says}{meant}"
    )


def _shown(
    assertion: Assertion, target: _Target, claim: AssertedNumber, one: Decided
) -> DecidedAssertion:
    e = one.estimate
    place = e.name, e.where
    bare = claim.by_nature or e.low is None or e.high is None
    return DecidedAssertion(
        assertion=assertion.text,
        verdict=one.outcome,
        protocol=target.plan.name,
        run=target.path,
        name=assertion_name(e),
        where=dict(e.where),
        value=e.value,
        low=None if bare else e.low,
        high=None if bare else e.high,
        level=None if bare else 1 - 2 * one.error,
        error=one.error,
        n=e.n,
        missing=e.missing,
        entities=target.entities,
        reason=one.reason,
        needed=None if place in target.labeled else one.needed,
        difference=target.difference,
        labels=min((number.labels for number in target.labeled.get(place, ())), default=0),
        judge_alone="" if claim.by_nature or place in target.labeled else target.judge_alone,
    )


# ---- runs


def _runs_in(path: Path) -> list[Path]:
    """Return the run folder, or those of a folder with one for each protocol. Raises InputError."""
    if RunFolder.exists(path):
        return [path]
    found = sorted(file.parent for file in path.glob("*/manifest.json") if file.is_file())
    if not found:
        RunFolder.open(path)  # says what is wrong
    by_protocol: dict[tuple[str, ...], Path] = {}
    for run in found:
        kind = RunFolder.open(run).read_manifest().protocols
        if kind in by_protocol:
            raise InputError(
                f"{path} has several runs of {'+'.join(kind)}, such as {by_protocol[kind]} and "
                f"{run}: name one of them"
            )
        by_protocol[kind] = run
    return found


def _run_target(path: Path, *, raw: bool) -> _Target:
    job, manifest, settings = whole_run(path)
    plan = protocol_of(manifest)
    stored = job.folder.read(f"metrics/{plan.name}", Estimate)
    numbers = [] if raw else corrected_numbers(path)

    labeled = list(_by_labels(stored, numbers))
    facts = list(facts_of_the_run(job, manifest))
    unread = next(e.numerator for e in facts if (e.name, e.where) == ("missing", ())) or 0.0

    def measured() -> list[Estimate]:
        found = [_counted(e, plan, unread) for e in plan.measure(job, settings)]
        return [e for e, _ in _by_labels(found, corrected_numbers(path, found) if numbers else [])]

    return _Target(
        plan,
        str(path),
        manifest,
        entities_of(job.questions),
        [e for e, _ in labeled],
        facts,
        measured,
        lambda: {(d.name, d.where): (d, None) for d in plan.numbers(job, settings, None, None)},
        labeled={(e.name, e.where): own for e, own in labeled if own},
        judge_alone="" if raw or not has_labels(path) else "labels do not correct it",
    )


def _counted(e: Estimate, plan: Protocol, unread: float) -> Estimate:
    """Return a number; a count with how far the unread verdicts of its run could move it."""
    if e.value is None or e.low is not None or plan.metrics.named(e.name).notation != "count":
        return e
    ends = max(0.0, e.value - unread), e.value + unread
    return msgspec.structs.replace(e, missing=int(unread), bound_low=ends[0], bound_high=ends[1])


def _by_labels(
    estimates: Sequence[Estimate], *runs: Sequence[CorrectedNumber]
) -> Iterator[tuple[Estimate, Sequence[CorrectedNumber]]]:
    """Yield numbers of a run, or differences of two, and what labels correct of each.

    Those that labels bear on are in the place of the judge's, who is no part of what a difference
    is called. One without an interval has the reason: labels fill no bins that are too thin.
    """
    judged = () if len(runs) == 1 else ("against",)

    def called(e: Estimate) -> tuple[str, frozenset[tuple[str, str]]]:
        return e.name, frozenset(pair for pair in e.where if pair[0] not in judged)

    found = [{called(one.raw): one for one in own} for own in runs]
    for e in estimates:
        own = [one[called(e)] for one in found if called(e) in one]
        if not own or len(own) < len(runs):
            yield e, ()
            continue
        number = own[0].corrected if len(own) == 1 else difference_of_corrected(*own)
        thin = [one.raw.problem for one in own if (one.raw.problem or "").startswith(THIN)]
        if thin or number.low is None:
            why = (number.problem or "too few labels").removeprefix("no interval: ")
            why = f"labels give it no interval ({why}); --raw decides on the judge's number"
            none = dict.fromkeys(("value", "low", "high"))
            number = msgspec.structs.replace(number, **none, problem=thin[0] if thin else why)
        else:
            number = _with_left_out(number, own)
        yield msgspec.structs.replace(number, where=e.where), own


def _with_left_out(number: Estimate, own: Sequence[CorrectedNumber]) -> Estimate:
    """Return a number with the items of which people did not say; how far they could move a share.

    How far they could move another number (J, AUROC), or a difference of two runs, is not known.
    """
    left = sum(one.skipped + one.passed_over + one.cannot_tell for one in own)
    number = msgspec.structs.replace(
        number, missing=left, bound_low=None, bound_high=None, signature=own[0].corrected.signature
    )
    value, of, untold = number.value or 0.0, own[0].raw.denominator or 0.0, own[0].untold
    if len(own) > 1 or not of or notation_of(own[0].raw.name) != "percent":
        return number
    # at worst all of them are the other value, or leave the denominator
    part, gone = untold / of, untold / max(of - untold, 1e-9)
    down, up = max(part, (1 - value) * gone), max(part, value * gone)
    ends = max(0.0, value - down), min(1.0, value + up)
    return msgspec.structs.replace(number, bound_low=ends[0], bound_high=ends[1])


def _differences(
    base: Path, runs: Sequence[Path], more: dict[str, Any], *, raw: bool
) -> list[_Target]:
    """Return the comparison of each run with the one of its protocol in ``base``."""
    before = {RunFolder.open(p).read_manifest().protocols: p for p in _runs_in(base)}
    targets = []
    for path in runs:
        job, manifest, settings = whole_run(path)
        first = before.get(manifest.protocols)
        if first is None:
            if len(runs) > 1:
                continue
            there = ", ".join("+".join(kind) for kind in before)
            raise InputError(
                f"{base} is a run of {there}, {path} of {'+'.join(manifest.protocols)}: compare "
                "runs of one protocol"
            )
        sides = (
            ComparedRun(str(first), *whole_run(first)),
            ComparedRun(str(path), job, manifest, settings),
        )
        both = [[] if raw else corrected_numbers(one) for one in (first, path)]
        names = [
            {cluster_name(one) for one in clusters_of(side.run.questions).values()}
            for side in sides
        ]

        compared = compare(first, path, **more)
        labeled = list(_by_labels(compared.estimates, *both))

        def differences(first: Path = first, path: Path = path) -> Sequence[Estimate]:
            found = compare(first, path, **more).estimates
            now = [[] if raw else corrected_numbers(one) for one in (first, path)]
            return [e for e, _ in _by_labels(found, *now)]

        shared = len(names[0] & names[1]) or len(names[0])
        plan = protocol_of(manifest)
        labels = {(e.name, e.where): own for e, own in labeled if own}
        alone = "labels do not correct it" if all(both) else "only one of the runs has labels"
        found = [e for e, _ in labeled]
        shown = plan, str(path), manifest, shared, found, (), differences
        declared = partial(declared_pairs, plan, sides)
        by_people = labels, alone * any(both)
        targets.append(_Target(*shown, declared, True, *by_people, compared.notes))
    if not targets:
        raise InputError(f"{base} has no run of a protocol that {runs[0].parent} has")
    return targets


def declared_pairs(plan: Protocol, sides: tuple[ComparedRun, ComparedRun]) -> DeclaredNumbers:
    """Return what the numbers that two runs share are declared of, the second run's first."""
    before, after = (
        plan.numbers(one.run, one.settings, None, Beside(sides, (one,))) for one in sides
    )
    theirs = {(d.name, d.where): d for d in before}
    return {key: (d, theirs[key]) for d in after if (key := (d.name, d.where)) in theirs}


# ---- what a run knows without any sampling error


def facts_of_the_run(job: FolderRun, manifest: Manifest) -> Iterator[Estimate]:
    """Yield counts and shares of a run that describe the run itself, not the model.

    ``missing`` is the share of the judged answers without a verdict, also by stage; ``failed`` the
    share of the requests without an answer; ``requests`` and ``entities`` are counts, ``dollars``
    what the answers cost.
    """
    total = lost = 0
    for table in job.folder.tables("verdicts"):
        stage = table.partition("/")[2]
        if stage.endswith(SPANS):
            continue
        verdicts = job.folder.read(table, StoredRow)
        left = _without_row(job.folder, stage, {one.target for one in verdicts})
        unread = left + sum(one.problem is not None for one in verdicts)
        judged = left + len(verdicts)
        total, lost = total + judged, lost + unread
        yield _share("missing", unread, judged, stage=stage)
    yield _share("missing", lost, total)
    requests = manifest.tokens.get("requests", 0)
    yield _share("failed", manifest.tokens.get("failed", 0), requests)
    yield Estimate("requests", value=float(requests), n=requests)
    entities = entities_of(job.questions)
    yield Estimate("entities", value=float(entities), n=entities)
    unknown = None if manifest.dollars is not None else "sayso does not know what the answers cost"
    yield Estimate("dollars", value=manifest.dollars, problem=unknown)


def _without_row(folder: RunFolder, stage: str, judged: Collection[str]) -> int:
    """Return how many answers of a judged stage the table of verdicts does not have.

    Of draws, only the first may be judged.
    """
    table = f"generations/{stage}"
    if stage.endswith("draws") or not folder.has(table):
        return 0
    return sum(one.id not in judged for one in folder.iter(table, StoredRow))


def _share(name: str, count: int, of: int, **where: str) -> Estimate:
    if not of:
        return Estimate(name, slice_of(**where), problem="undefined: nothing to count")
    return Estimate(
        name, slice_of(**where), value=count / of, numerator=count, denominator=of, n=of
    )


# ---- answers that are older than the question


def _refuse_cached(runs: Sequence[Path]) -> None:
    """Refuse runs of a live model whose answers were given before they were asked for."""
    manifests = [(path, RunFolder.open(path).read_manifest()) for path in runs]
    for path, manifest in manifests:
        number = old_answers(manifest)
        if not number:
            continue
        total = manifest.tokens.get("requests", 0)
        when = str(manifest.cached.get("oldest", "")).partition("T")[0]
        since = f", the first given on {when}" if when else ""
        raise InputError(
            f"{path}: {number:,} of {total:,} answers are from the cache{since}; they say nothing "
            "about the model that answers today. Ask it again, with --fresh and into another "
            f"--out: {line(manifest.command, 300)}; or pass --allow-cache"
        )


def old_answers(manifest: Manifest) -> int:
    """Return how many answers of a model at an endpoint are older than the command that asked.

    Runs of one command share their answers through the cache, and a ``--fresh`` command that was
    stopped goes on: what was given since it began is fresh.
    """
    number = int(manifest.cached.get("answers", 0))
    if not number or not manifest.model_identity.startswith("api:"):
        return 0
    since, oldest = (str(manifest.cached.get(key)) for key in ("asked since", "oldest"))
    parse = datetime.datetime.fromisoformat
    with contextlib.suppress(ValueError):  # when, is not known
        if not manifest.cached.get("of unknown age") and parse(oldest) >= parse(since):
            return 0
    return number
