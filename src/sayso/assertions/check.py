"""``sayso.check_assertions``: assertions about a run, or about the difference of two.

A run is measured again from its stored answers at the level that its assertions need; nothing is
asked and nothing in its folder changes.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.assertions.decide import (
    CANNOT_SAY,
    DOES_NOT,
    HOLDS,
    AssertedNumber,
    Decided,
    Outcome,
    decide,
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
from sayso.metrics.intervals import at_level
from sayso.people.corrected import corrected_numbers
from sayso.protocols import protocol_of
from sayso.protocols.declared import Declared
from sayso.protocols.pool import cluster_name, clusters_of
from sayso.protocols.protocol import Beside, ComparedRun, Protocol
from sayso.records import CorrectedNumber, Estimate, InputError, Slice, Verdict, part_of, slice_of
from sayso.report.corrected import by_place, corrected_pairs, difference_of_corrected
from sayso.runs.compare import check_resampling, compare
from sayso.runs.measure import load_run, run_path
from sayso.runs.stages import FolderRun
from sayso.storage.run_folder import Manifest, RunFolder

#: what an exit code says: 2 is a user's mistake, as everywhere
CODES: dict[Outcome, int] = {HOLDS: 0, DOES_NOT: 1, CANNOT_SAY: 3}
#: how a stage is called whose verdicts are another reading of the same answers
SPANS = "-spans"
OF_THE_RUN = "a fact of this run, without sampling error"
COUNT = "a count of this run, without sampling error"
EXACT = "exact, without sampling error"
#: what the numbers of a run are declared of, by name and slice; second that of the run before it
DeclaredNumbers = Mapping[tuple[str, Slice], tuple[Declared, Declared | None]]
#: corrected numbers by name and slice
Corrections = Mapping[tuple[str, Slice], CorrectedNumber]
#: policies whose numbers follow from their definition
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
    protocol: str
    run: str
    name: str
    where: dict[str, str]
    value: float | None
    low: float | None
    high: float | None
    level: float | None
    error: float
    n: int
    missing: int
    entities: int
    reason: str = ""
    needed: int | None = None
    difference: bool = False
    #: how many labels of people corrected the number for its judge; 0 for a raw one
    labels: int = 0
    #: why the judge alone decides, where a run has labels of people
    judge_alone: str = ""


class CheckedAssertions(msgspec.Struct, frozen=True):
    """What was decided of several assertions, which share one chance of error.

    ``run`` and ``base`` are the folders, ``model`` what pages call the run's model.
    """

    decided: tuple[DecidedAssertion, ...]
    run: str
    base: str = ""
    model: str = ""
    finished: str = ""

    def __iter__(self) -> Iterator[DecidedAssertion]:
        return iter(self.decided)

    @property
    def verdict(self) -> Outcome:
        """What is decided of all of them: one that does not hold decides."""
        verdicts = {one.verdict for one in self.decided}
        return next((v for v in (DOES_NOT, CANNOT_SAY) if v in verdicts), HOLDS)

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
    #: both runs are of one model, whose answers to these questions are the same
    same_model: bool = False
    #: how many labels of people correct a number, by its name and slice
    labels: Mapping[tuple[str, Slice], int] = {}
    #: why labels of people do not correct a number, by its name and slice
    judge_alone: Mapping[tuple[str, Slice], str] = {}

    @property
    def numbers(self) -> Numbers:
        own = {e.name for e in self.stored}
        more = [e for e in self.of_the_run if e.name not in own]
        return Numbers(
            self.plan.name,
            self.plan.metrics,
            [*self.stored, *more],
            lambda key, value: self.plan.report.part_label(key, value),  # loads much
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
    decided = _decided(parsed, targets)
    manifest = targets[0].manifest
    return CheckedAssertions(
        tuple(decided),
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
    wanted = sorted({i for (i, _), c in zip(meant, claims, strict=True) if not c.by_nature})

    def measured(error: float) -> list[Estimate]:
        with at_level(1 - 2 * error):
            found = {i: {(e.name, e.where): e for e in targets[i].measured()} for i in wanted}
        return [
            number
            if claim.by_nature
            else found[i].get((number.name, number.where), _unmeasured(number))
            for (i, number), claim in zip(meant, claims, strict=True)
        ]

    declared: dict[int, DeclaredNumbers] = {}

    def spread(place: int) -> float | None:
        i, number = meant[place]
        target, key = targets[i], (number.name, number.where)
        if key in target.labels:  # labels, not entities, would settle it
            return None
        if i not in declared:
            declared[i] = target.declared()
        return sampling_error(*declared[i][key]) if key in declared[i] else None

    for assertion, (i, _), claim, one in zip(
        parsed, meant, claims, decide(claims, measured, spreads=spread), strict=True
    ):
        yield _shown(assertion, targets[i], claim, one)


def _unmeasured(number: Estimate) -> Estimate:
    problem = "this sayso computes no such number; run `sayso measure` first"
    return Estimate(number.name, number.where, problem=problem)


def _claim(assertion: Assertion, target: _Target, number: Estimate) -> AssertedNumber:
    """Return what an assertion wants of its number. Raises InputError."""
    metric = target.plan.metrics.named(number.name)
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
    elif number.value is not None and part_of(number.where, "policy") in BLIND:
        by_nature = EXACT
    if target.same_model and number.low == number.high == number.value == 0:
        by_nature = EXACT
    scale = None if target.difference else metric.limits
    if scale is not None and metric.notation != "count":
        _check_limit(assertion, number, scale)
    return AssertedNumber(op, limit, by_nature, scale, target.entities)


def _check_limit(assertion: Assertion, number: Estimate, scale: tuple[float, float]) -> None:
    """Refuse a limit that no value can reach: the gate would always, or never, hold."""
    low, high = scale
    inside = number.value is None or low <= number.value <= high
    if inside and not low <= assertion.limit <= high:
        meant = f"; did you mean {assertion.limit:g}%?" if 1 < assertion.limit <= 100 else ""
        raise InputError(
            f"assertion {line(assertion.text, 100)!r}: {number.name} lies between {low:g} and "
            f"{high:g}{meant}"
        )


def _shown(
    assertion: Assertion, target: _Target, claim: AssertedNumber, one: Decided
) -> DecidedAssertion:
    e = one.estimate
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
        needed=None if (e.name, e.where) in target.labels else one.needed,
        difference=target.difference,
        labels=target.labels.get((e.name, e.where), 0),
        judge_alone="" if claim.by_nature else target.judge_alone.get((e.name, e.where), ""),
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
    job, manifest, settings = load_run(path)
    plan = protocol_of(manifest)
    stored = job.folder.read(f"metrics/{plan.name}", Estimate)
    numbers = [] if raw else corrected_numbers(path)
    labeled = by_place(numbers)
    return _Target(
        plan,
        str(path),
        manifest,
        len(set(clusters_of(job.questions).values())),
        _with_corrected(stored, labeled),
        list(facts_of_the_run(job, manifest)),
        lambda: _again(path, plan.measure(job, settings), labeled=bool(labeled)),
        lambda: {(d.name, d.where): (d, None) for d in plan.numbers(job, settings, None, None)},
        labels={place: one.labels for place, one in labeled.items()},
        judge_alone=_uncorrected(stored, labeled, numbers),
    )


def _uncorrected(
    estimates: Sequence[Estimate],
    labeled: Collection[tuple[str, Slice]],
    *runs: Sequence[CorrectedNumber],
) -> dict[tuple[str, Slice], str]:
    """Return why labels of people do not correct numbers of runs that all have such labels."""
    if not all(runs):
        return {}
    why = {
        (one.raw.name, one.raw.where): one.corrected.problem or "no interval"
        for numbers in runs
        for one in numbers
        if one.corrected.low is None
    }
    return {
        place: why.get(place, "labels do not correct it").replace(
            "no interval", "no corrected interval"
        )
        for e in estimates
        if (place := (e.name, e.where)) not in labeled
    }


def _again(path: Path, measured: Sequence[Estimate], *, labeled: bool) -> list[Estimate]:
    """Return numbers of a run at the level that is current."""
    corrected = by_place(corrected_numbers(path, measured)) if labeled else {}
    return _with_corrected(measured, corrected)


def _with_corrected(estimates: Sequence[Estimate], labeled: Corrections) -> list[Estimate]:
    """Return numbers, those that labels of people correct in the place of the raw ones."""
    return [
        labeled[e.name, e.where].corrected if (e.name, e.where) in labeled else e for e in estimates
    ]


def _differences(
    base: Path, runs: Sequence[Path], more: dict[str, Any], *, raw: bool
) -> list[_Target]:
    """Return the comparison of each run with the one of its protocol in ``base``."""
    before = {RunFolder.open(p).read_manifest().protocols: p for p in _runs_in(base)}
    targets = []
    for path in runs:
        job, manifest, settings = load_run(path)
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
            ComparedRun(str(first), *load_run(first)),
            ComparedRun(str(path), job, manifest, settings),
        )
        names = [
            {cluster_name(one) for one in clusters_of(side.run.questions).values()}
            for side in sides
        ]

        def differences(first: Path = first, path: Path = path) -> Sequence[Estimate]:
            labeled = {} if raw else corrected_pairs(*map(corrected_numbers, (first, path)))
            return [
                difference_of_corrected(*labeled[e.name, e.where])
                if (e.name, e.where) in labeled
                else e
                for e in compare(first, path, **more).estimates
            ]

        shared = len(names[0] & names[1]) or len(names[0])
        plan = protocol_of(manifest)
        found = differences()
        theirs = sides[0].manifest.model_identity
        same = bool(theirs) and theirs == manifest.model_identity
        both = [[] if raw else corrected_numbers(one) for one in (first, path)]
        labeled = corrected_pairs(*both)
        labels = {place: min(a.labels, b.labels) for place, (a, b) in labeled.items()}
        alone = _uncorrected(found, labeled, *both)
        shown = plan, str(path), manifest, shared, found, (), differences
        declared = partial(declared_pairs, plan, sides)
        targets.append(_Target(*shown, declared, True, same, labels, alone))
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
        verdicts = job.folder.read(table, Verdict)
        unread = sum(one.problem is not None for one in verdicts)
        total, lost = total + len(verdicts), lost + unread
        yield _share("missing", unread, len(verdicts), stage=stage)
    yield _share("missing", lost, total)
    requests = manifest.tokens.get("requests", 0)
    yield _share("failed", manifest.tokens.get("failed", 0), requests)
    yield Estimate("requests", value=float(requests), n=requests)
    entities = len(set(clusters_of(job.questions).values()))
    yield Estimate("entities", value=float(entities), n=entities)
    unknown = None if manifest.dollars is not None else "sayso does not know what the answers cost"
    yield Estimate("dollars", value=manifest.dollars, problem=unknown)


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
            "about the model that answers today. Ask it again: "
            f"{line(manifest.command, 300)} --fresh (and another --out), or pass --allow-cache"
        )


def old_answers(manifest: Manifest) -> int:
    """Return how many answers of a model at an endpoint are older than the command that asked.

    Runs of one command share their answers through the cache, and a ``--fresh`` command that was
    stopped goes on: what was given since it began is fresh.
    """
    number = int(manifest.cached.get("answers", 0))
    if not number or not manifest.model_identity.startswith("api:"):
        return 0
    since = _time(manifest.cached.get("asked since"))
    oldest = _time(manifest.cached.get("oldest"))
    unknown = int(manifest.cached.get("of unknown age", 0))
    fresh = since is not None and oldest is not None and oldest >= since and not unknown
    return 0 if fresh else number


def _time(text: object) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(str(text))
    except ValueError:
        return None
