"""Pictures of single answers: the three-way table, positions, thoughts, points, the worst ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import divide
from sayso.metrics.calibration import brier
from sayso.metrics.cmfg import (
    ConfidenceBin,
    cmfg,
    cmfg_bins,
    cmfg_corrected,
    cmfg_parts,
    cmfg_references,
    cmfg_star,
    cmfg_star_error,
    confidence_bin,
    kendall,
    linguistic_calibration,
    mfg,
    noise_floor,
    shared_bins,
    skill,
    skill_corrected,
    with_punts,
)
from sayso.metrics.compare_scores import difference_p, holm
from sayso.metrics.intervals import bootstrap, bootstrap_difference
from sayso.metrics.ranking import spearman
from sayso.prompts import methods as ways
from sayso.protocols.faithfulness.rows import PARTS, Floats, Rows, load_rows
from sayso.protocols.faithfulness.settings import Settings, ambiguous, held_out
from sayso.protocols.probes import count_draws
from sayso.protocols.protocol import Run
from sayso.records import Estimate, Slice, part_of, signature_of, slice_of, slice_text

#: answers of a method whose words and confidence are furthest apart, to be read
WORST = 8
#: decisiveness is drawn in steps
STEPS = 100
#: an answer this much surer than the thought before it leaves its doubt unsaid
UNSAID = 0.1


def decomposition(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the shares of confidence x decisiveness x right, and the two failures by name.

    Confident, decisive and wrong: it does not know that it does not know. Not confident and yet
    decisive: it knows (that it wavers) but does not say. Both as shares of the claims with all
    three, the failures with intervals over entities; ``high`` and more is confident, and decisive.
    """
    high = settings.high
    held = used.take(~np.isnan(used.right))
    n = len(held.d)
    why = None if n else "no claim has decisiveness, confidence and a verdict"
    sure, firm, right = held.c >= high - 1e-12, held.d >= high - 1e-12, held.right == 1
    for c, confident in (("high", sure), ("low", ~sure)):
        for d, decisive in (("high", firm), ("low", ~firm)):
            for r, correct in (("yes", right), ("no", ~right)):
                number = float((confident & decisive & correct).sum())
                yield Estimate(
                    "three_way",
                    slice_of(confidence=c, decisiveness=d, right=r),
                    number / n if n else None,
                    numerator=number,
                    denominator=n,
                    n=n,
                    problem=why,
                )
    failures = (("unknown_unknown", sure & firm & ~right), ("known_unsaid", ~sure & firm))
    for name, which in failures:
        if not n:
            yield Estimate(name, problem=why)
            continue
        found = bootstrap(
            mfg, which.astype(np.float64), clusters=held.entity, n=settings.resamples,
            seed=settings.ci_seed, name=name,
        )  # fmt: skip
        yield msgspec.structs.replace(found, numerator=float(which.sum()), denominator=float(n))


def by_part(used: Rows) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return (part, rows) of each fifth of the paragraphs that holds a claim."""
    found = [(part, used.part == part) for part in range(PARTS)]
    return [(part, rows) for part, rows in found if rows.any()]


def thoughts(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield *thought but unsaid*: how much surer a thought's last assertion was than the answer.

    ``thought_unsaid`` is the share of answers whose thought ended less sure by more than
    :data:`UNSAID`: a doubt that the answer does not voice. Nothing where nothing was thought; an
    answer whose thought could not be read is ``missing``.
    """
    held = rows.take(~np.isnan(rows.d) & rows.thinks)
    if not len(held.d):
        return
    names, at, group = np.unique(
        np.array(held.answers, dtype=np.str_), return_index=True, return_inverse=True
    )
    said = np.bincount(group, held.d * held.weight) / np.bincount(group, held.weight)
    gap, entity = held.thought[at] - said, held.entity[at]
    use = ~np.isnan(gap)
    lost = int(len(names) - use.sum())
    for name, values, limits in (
        ("thought_minus_said", gap[use], None),
        ("thought_unsaid", (gap[use] < -UNSAID).astype(np.float64), (0.0, 1.0)),
    ):
        if not len(values):
            yield Estimate(name, missing=lost, problem="no thought asserts anything")
            continue
        found = bootstrap(
            mfg if limits else _average, values, clusters=entity[use], n=settings.resamples,
            seed=settings.ci_seed, limits=limits, name=name,
        )  # fmt: skip
        yield msgspec.structs.replace(
            found,
            numerator=float(values.sum()) if limits else None,
            denominator=float(len(values)) if limits else None,
            missing=lost,
        )


def _average(values: Floats, weights: Floats | None = None) -> Any:
    """Return the mean, or one for each row of weights (B, n)."""
    return values.mean() if weights is None else divide(weights @ values, weights.sum(axis=1))


def points(used: Rows) -> Iterator[Estimate]:
    """Yield how many claims have each confidence and (in steps of .01) decisiveness."""
    held = Counter(
        (round(float(c), 3), round(float(d) * STEPS) / STEPS)
        for c, d in zip(used.c, used.d, strict=True)
    )
    for (c, d), number in sorted(held.items()):
        where = slice_of(confidence=f"{c:g}", decisiveness=f"{d:g}")
        yield Estimate("point", where, float(number), n=number)


def unfaithful(used: Rows) -> Iterator[Estimate]:
    """Yield the claims whose words and confidence are furthest apart: decisiveness - confidence."""
    gap = used.d - used.c
    order = sorted(range(len(gap)), key=lambda i: (-abs(gap[i]), used.answers[i], used.question[i]))
    for i in order[:WORST]:
        yield Estimate(
            "gap",
            slice_of(answer=used.answers[i], question=used.question[i]),
            float(gap[i]),
            numerator=float(used.j[i]),
            denominator=float(used.k[i]),
            n=int(used.k[i]),
        )


# The scores of a faithfulness run with their intervals: overall and in slices.
#
# Where a method was asked with several choices of demonstrations, a score is that of each
# choice,
# averaged (PROTOCOLS 2.A), within every resample too: answers of different choices share no
# bin.

NOTHING = "no answer has both decisiveness and confidence"
#: what is given for each domain, place in a paragraph, and choice of demonstrations
SLICED = ("skill", "cmfg", "mfg", "mean_decisiveness")


def averaged(metric: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """Return a metric of (..., weight, choice): its mean over choices of demonstrations.

    The assertions of an answer share its weight. A choice where it is undefined is left out.
    """

    def made(*arrays: Floats, weights: Floats | None = None) -> Any:
        *rest, own, choice = arrays
        W = own if weights is None else weights * own
        if not len(choice) or (choice == choice[0]).all():
            return metric(*rest, weights=W, **keywords)
        found = []
        for one in np.unique(choice):
            use = choice == one
            found.append(metric(*(a[use] for a in rest), weights=W[..., use], **keywords))
        if W.ndim == 1:
            held = [v for v in found if v is not None]
            return sum(held) / len(held) if held else None
        values = np.array(found, dtype=np.float64)
        held_at = ~np.isnan(values)
        total = np.where(held_at, values, 0.0).sum(axis=0)
        count = held_at.sum(axis=0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    return made


def options(settings: Settings) -> dict[str, Any]:
    """Return the keywords of cMFG that settings choose."""
    return {
        "bins": settings.bins,
        "closed": settings.closed,
        "levels": settings.levels,
    }


def plain(value: Any) -> float | None:
    """Return a float, ``None`` for what is none."""
    return None if value is None or not np.isfinite(value) else float(value)


def scores(
    used: Rows, settings: Settings, names: Sequence[str] | None = None
) -> Iterator[Estimate]:
    """Yield skill, cMFG, MFG and the rest, with intervals over entities."""
    kept = options(settings) | {"empty": settings.empty}
    again = partial(bootstrap, clusters=used.entity, n=settings.resamples, seed=settings.ci_seed)
    faithful = 1 - np.abs(used.d - used.c)
    made: dict[str, tuple[Callable[..., Any], tuple[Floats, ...], tuple[float, float] | None]] = {
        "skill": (averaged(skill, **kept), (used.d, used.j, used.k), None),
        "cmfg": (averaged(cmfg, **kept), (used.d, used.j, used.k), (0.0, 1.0)),
        "mfg": (averaged(mfg), (faithful,), (0.0, 1.0)),
        "mean_decisiveness": (averaged(mfg), (used.d,), (0.0, 1.0)),
        "mean_confidence": (averaged(mfg), (used.c,), (0.0, 1.0)),
        "spearman": (averaged(spearman), (used.d, used.c), None),
    }
    for name, (metric, arrays, limits) in made.items():
        if names is not None and name not in names:
            continue
        if not len(used.d):
            yield Estimate(name, problem=NOTHING, missing=_missing(used))
            continue
        found = again(metric, *arrays, used.weight, used.choice, name=name, limits=limits)
        yield msgspec.structs.replace(found, missing=_missing(used))


def _missing(rows: Rows) -> int:
    """Return how many assertions or answers have no reading, punts and omissions apart."""
    return sum(n for reason, n in rows.lost.items() if reason not in ("asked", "omitted"))


def shares(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield accuracy and punting over answers, and what was left out by reason."""
    _, first = np.unique(np.array(rows.answers, dtype=np.str_), return_index=True)
    if rows.form == "long":
        pairs = [f"{a} {q}" for a, q in zip(rows.answers, rows.question, strict=True)]
        _, first = np.unique(np.array(pairs, dtype=np.str_), return_index=True)
    one = rows.take(np.isin(np.arange(len(rows.d)), first))
    punted = np.where(np.isnan(one.d) & ~one.punted, np.nan, one.punted)  # NaN: wording not read
    for name, values in (("accuracy", one.right), ("punting", punted)):
        held = ~np.isnan(values)
        if not held.any():
            yield Estimate(name, problem="no answer has a verdict")
            continue
        found = bootstrap(
            mfg, values[held], clusters=one.entity[held], n=settings.resamples,
            seed=settings.ci_seed, name=name,
        )  # fmt: skip
        total = float(values[held].sum())
        yield msgspec.structs.replace(
            found,
            numerator=total,
            denominator=float(held.sum()),
            missing=int((~held).sum()),
        )
    yield Estimate("asked", value=float(rows.lost["asked"]), n=rows.lost["asked"])
    for reason, number in sorted(rows.lost.items()):
        if reason != "asked":
            where = slice_of(reason=reason)
            yield Estimate("left_out", where, float(number), n=rows.lost["asked"])


def slices(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield skill and MFG of each domain, fifth of the paragraphs, and choice of examples."""
    domains = np.unique(used.domain)
    places = []
    if len(domains) > 1:
        places += [(slice_of(domain=str(d)), used.domain == d) for d in domains]
    places += [(slice_of(position=str(p + 1)), m) for p, m in by_part(used)]
    choices = np.unique(used.choice)
    places += [(slice_of(choice=str(c)), used.choice == c) for c in choices if c]
    for place, use in places:
        for found in scores(used.take(use), settings, SLICED):
            yield msgspec.structs.replace(found, where=place, missing=0)


# What stands beside the scores of a faithfulness run: policies, bins, calibration.


def over_choices(
    rows: Rows, settings: Settings, made: Callable[[Rows, Settings], Iterator[Estimate]]
) -> Iterator[Estimate]:
    """Yield estimates of each choice of demonstrations, averaged (PROTOCOLS 2.A); counts added."""
    some = rows.choices()
    if len(some) < 2:
        yield from made(rows, settings)
        return
    found: dict[str, list[Estimate]] = defaultdict(list)
    for one in some:
        for e in made(one, settings):
            found[e.name].append(e)
    for of_name in found.values():
        yield msgspec.structs.replace(
            of_name[0],
            value=_mean([e.value for e in of_name]),
            low=_mean([e.low for e in of_name]),
            high=_mean([e.high for e in of_name]),
            n=sum(e.n for e in of_name),
        )


def _mean(values: list[float | None]) -> float | None:
    held = [v for v in values if v is not None]
    return sum(held) / len(held) if held else None


def references(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield what stands beside cMFG: blind policies and the oracle on the same bins, and more."""
    yield from over_choices(used, settings, _references)


def _references(used: Rows, settings: Settings) -> Iterator[Estimate]:
    kept = options(settings)
    n = len(used.d)
    given = used.d, used.j, used.k
    own = used.weight
    for name, value in cmfg_references(*given, empty=settings.empty, **kept, weights=own).items():
        yield Estimate(f"cmfg_{name}", value=value, n=n, problem=None if n else NOTHING)
    for name, value in cmfg_parts(*given, **kept, weights=own).items():
        yield Estimate(name, value=value, n=n)
    yield Estimate("cmfg_corrected", value=cmfg_corrected(*given, **kept, weights=own), n=n)
    less = skill_corrected(*given, **kept, weights=own)
    yield Estimate("skill_corrected", value=less, n=n)
    yield Estimate("cmfg_levels", value=plain(cmfg(*given, levels=True, weights=own)), n=n)
    left = cmfg(*given, bins=settings.bins, closed="left", weights=own)
    yield Estimate("cmfg_left", value=plain(left), n=n)
    faithful = 1 - np.abs(used.d - used.c)
    star = plain(cmfg_star(faithful, used.c, settings.bins, used.weight))
    error = cmfg_star_error(faithful, used.c, settings.bins)
    spread = 1.96 * error if star is not None and error is not None else None
    yield Estimate(
        "cmfg_star",
        value=star,
        low=None if spread is None or star is None else star - spread,
        high=None if spread is None or star is None else star + spread,
        n=n,
    )
    tau = plain(kendall(used.d, used.c, used.weight)) if n <= 3000 else None
    yield Estimate(
        "kendall", value=tau, n=n, problem="not computed above 3,000 rows" if n > 3000 else None
    )
    floor = noise_floor(used.j, used.k, own) if n else None
    yield Estimate("noise_floor", value=floor, n=n)


def punts_as_zero(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield skill and cMFG with a punt counted as decisiveness 0 against what was withheld."""
    d = with_punts(rows.d, rows.punted, "dec0")
    use = ~np.isnan(d) & ~np.isnan(rows.c)
    kept = options(settings) | {"empty": settings.empty}
    held = rows._replace(d=d).take(use)
    for name, metric in (("skill_dec0", skill), ("cmfg_dec0", cmfg)):
        score = averaged(metric, **kept)
        value = score(held.d, held.j, held.k, held.weight, held.choice) if use.any() else None
        yield Estimate(name, value=plain(value), n=int(use.sum()))


def calibration(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield decisiveness read as the probability of being right, claim by claim."""
    held = rows.take(~np.isnan(rows.d) & ~np.isnan(rows.right))
    yield from over_choices(held, settings, _calibration)
    if not len(held.d):
        yield Estimate("words_brier", problem="no claim has both a score and a verdict")
        return
    yield bootstrap(
        averaged(brier), held.d, held.right, np.ones(len(held.d)), held.choice,
        clusters=held.entity, n=settings.resamples, seed=settings.ci_seed, name="words_brier",
    )  # fmt: skip


def _calibration(held: Rows, settings: Settings) -> Iterator[Estimate]:
    found = linguistic_calibration(held.d, held.right)
    for name in ("reliability", "resolution", "uncertainty", "ece", "auroc"):
        yield Estimate(f"words_{name}", value=getattr(found, name), n=found.n)


# What each bin of confidence holds: words, faithfulness, skill, with intervals over entities.


def bins(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield each bin's faithfulness, decisiveness, confidence and skill, and how many it holds.

    The skill of a bin is (faithfulness - blind) / (1 - blind) there, blind being all the words of
    the method dealt out at random over the bin. By levels there are no intervals and no skill: a
    level may hold one claim.
    """
    held = cmfg_bins(used.d, used.j, used.k, **options(settings))
    for at, found in enumerate(held):
        place = slice_of(bin=f"{found.low:.3g}-{found.high:.3g}")
        for e in _bin(used, settings, found, at, len(held)):
            yield msgspec.structs.replace(e, where=place, n=found.n)


def _bin(
    used: Rows, settings: Settings, found: ConfidenceBin, at: int, count: int
) -> Iterator[Estimate]:
    plain = {
        "bin_faithfulness": found.faithfulness,
        "bin_decisiveness": found.decisiveness,
        "bin_confidence": found.confidence,
    }
    if not found.n or settings.levels:
        for name, value in plain.items():
            yield Estimate(name, value=value, problem=None if found.n else "empty")
        return
    use = np.arange(count) == at
    again = partial(bootstrap, clusters=used.entity, n=settings.resamples, seed=settings.ci_seed)
    rows = (used.d, used.j, used.k, used.weight, used.choice)
    kept = options(settings) | {"use": use}
    yield again(averaged(cmfg, **kept), *rows, name="bin_faithfulness")
    yield again(averaged(skill, **kept), *rows, name="bin_skill", limits=None)
    inside = confidence_bin(used.j, used.k, settings.bins, settings.closed) == at
    here = used.take(inside)
    again = partial(bootstrap, clusters=here.entity, n=settings.resamples, seed=settings.ci_seed)
    for name, values in (("bin_decisiveness", here.d), ("bin_confidence", here.c)):
        yield again(averaged(mfg), values, here.weight, here.choice, name=name)


# What must be read before any number of the faithfulness protocol.


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what falls away: draws that never differ, readings that are missing, no spread."""
    found = list(estimates)
    lines = []
    alike = next((e.value for e in found if e.name == "draws_alike"), None)
    if draws_vary is False or alike == 1:
        lines.append(
            "The draws never vary: every confidence is 1 whatever the model knows, and nothing "
            "here says how faithful it is. Check that the endpoint samples at T > 0."
        )
    return lines + [
        f"{slice_text(e.where)}: {e.missing:,} readings are missing beside {e.n:,} that entered; "
        "missing ones are in no mean."
        for e in found
        if e.name == "cmfg" and e.missing > 0.05 * (e.missing + e.n)
    ]


# What a method of asking gains on the plain question, on the bins that all methods fill.
#
# With several methods one looks better by chance alone: their gains are corrected together
# (Holm).

#: gains of methods on vanilla, each a table of its own that is corrected together
GAINS = ("skill_gain", "cmfg_gain")


def compared(rows: Rows, all_methods: Sequence[Rows], settings: Settings) -> Iterator[Estimate]:
    """Yield skill and cMFG on the bins that every method fills, and what a method gains on vanilla.

    Entities are resampled jointly (PROTOCOLS 2.B).
    """
    if len(all_methods) < 2 or settings.levels:
        return
    sides = [r.scored(settings.pooled) for r in all_methods]
    use = shared_bins(
        [(r.d, r.j, r.k) for side in sides for r in side.choices()],
        settings.bins,
        settings.closed,
        settings.shared_least,
    )
    mine = next(s for s in sides if s.method == rows.method)
    kept: dict[str, Any] = {"bins": settings.bins, "closed": settings.closed, "use": use}
    count = int(use.sum())
    yield Estimate("shared_bins", value=float(count), numerator=count, denominator=settings.bins)
    if not count:
        return
    for name, metric in (("skill_shared", skill), ("cmfg_shared", cmfg)):
        value = averaged(metric, **kept)(mine.d, mine.j, mine.k, mine.weight, mine.choice)
        yield Estimate(name, value=plain(value), n=len(mine.d))
    base = next((s for s in sides if s.method == "vanilla"), None)
    if base is None or rows.method == "vanilla":
        return
    for name, metric in zip(GAINS, (skill, cmfg), strict=True):
        yield bootstrap_difference(
            averaged(metric, **kept),
            (mine.d, mine.j, mine.k, mine.weight, mine.choice),
            (base.d, base.j, base.k, base.weight, base.choice),
            clusters=mine.entity,
            second_clusters=base.entity,
            n=settings.resamples,
            seed=settings.ci_seed,
            name=name,
        )


def corrected(
    found: Mapping[str, Sequence[Estimate]], all_methods: Sequence[Rows]
) -> dict[str, list[Estimate]]:
    """Return the estimates by method, after each gain its p corrected over the methods (Holm).

    With several methods one looks better by chance alone; ``skill_gain_p`` tells. Its numerator is
    the p of the one comparison, and n how many are corrected together.
    """
    entities = {r.method: set(r.scored().entity.tolist()) for r in all_methods}
    base = entities.get("vanilla", set())
    result = {method: list(made) for method, made in found.items()}
    for name in GAINS:
        gains = {m: e for m, made in found.items() for e in made if e.name == name}
        single = [difference_p(e, len(entities[m] | base)) for m, e in gains.items()]
        tested = sum(p is not None for p in single)
        for method, own, p in zip(gains, single, holm(single), strict=True):
            why = None if p is not None else gains[method].problem or "no interval"
            result[method].append(
                Estimate(f"{name}_p", value=p, numerator=own, n=tested, problem=why)
            )
    return result


# Every number of a faithfulness run: pure, from what is stored (PROTOCOLS 2.B, VALIDITY 5).

FEW_EXAMPLES = (
    "not asked: too few certain or uncertain answers among the questions set apart for examples; "
    "raise --demos.entities or --limit"
)


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every estimate of a run, signed."""
    found: list[Estimate] = []
    methods = load_rows(run, settings)
    by = readers(run, methods)
    for form in ("short", "long"):
        here = [rows for rows in methods if rows.form == form]
        gains = corrected({r.method: [*compared(r, here, settings)] for r in here}, here)
        for rows in here:
            where = slice_of(form=form, method=rows.method)
            made = [*of_method(rows, settings), *gains[rows.method]]
            found += [signed(run, settings, e, where, form, by) for e in made]
    wanted = ways.chosen(settings.methods)
    for name in wanted if methods else ():
        if not any(rows.method == name for rows in methods):
            lost = Estimate("skill", problem=FEW_EXAMPLES)
            where = slice_of(form="short", method=name)
            found.append(signed(run, settings, lost, where, "short", by))
    found += [signed(run, settings, e, (), "all", by) for e in _of_run(run, settings)]
    return found


def _of_run(run: Run, settings: Settings) -> Iterator[Estimate]:
    """Yield what the whole run is about: questions left out, draws that never differ."""
    held = held_out(run.questions, settings)
    yield Estimate("demonstration_questions", value=float(len(held)), n=len(held))
    found = ambiguous(run.questions)
    shorts = sum(not q.parts for q in run.questions)
    told = "dropped" if settings.ambiguous == "drop" else "kept"
    yield Estimate(
        "ambiguous_questions",
        value=float(len(found)),
        numerator=float(len(found)),
        denominator=float(shorts),
        n=shorts,
        problem=f"{told}: golds contradict each other" if found else None,
    )
    for question in found:
        yield Estimate("ambiguous", slice_of(question=question), value=1.0, n=1)
    drawn = count_draws(run.generations("draws"))
    share = drawn.alike / drawn.drawn if drawn.drawn else None
    yield Estimate(
        "draws_alike", value=share, numerator=drawn.alike, denominator=drawn.drawn, n=drawn.drawn
    )


def readers(run: Run, methods: Sequence[Rows]) -> dict[str, str]:
    """Return who read wording and who compared, as the verdicts say."""
    found: dict[str, str] = {}
    for form in dict.fromkeys(rows.form for rows in methods):
        for name in ("decisive", "contradict"):
            for stage in (form, f"methods-{form}", f"refined-{form}", f"demos-{form}"):
                if run.has(f"verdicts/{stage}-{name}"):
                    verdicts = run.verdicts(f"{stage}-{name}")
                    found.setdefault(name, verdicts[0].by if verdicts else "nobody")
    return found


def signed(
    run: Run, settings: Settings, estimate: Estimate, where: Slice, form: str, by: dict[str, str]
) -> Estimate:
    """Return an estimate with its place and every setting that made it."""
    s = settings
    demos, levels = s.demos, f"{'pooled-' * s.pooled}{'levels-' * s.levels}"
    signature = run.signature(
        form=form,
        method=part_of(where, "method", "all"),
        conf=f"k{s.draws.k}@T{s.draws.temperature:g}-least{s.least}",
        sampled=s.sample_prompt,
        punted_draws=s.sample_punt,
        relation=s.relation,
        dec=by.get("decisive", s.decisive),
        con=by.get("contradict", s.contradict),
        asked_by=f"{s.decisive}/{s.contradict}/{s.nli if s.contradict == 'nli' else '-'}",
        answer=f"T{s.answer.temperature:g}/{s.answer.short_tokens}/{s.answer.long_tokens}",
        methods=s.methods,
        demos=f"{demos.m}x{demos.choices}/{demos.entities}/{demos.certain:g}/{demos.uncertain:g}",
        ambiguous=s.ambiguous,
        bins=f"{levels}{s.bins}-{s.closed}-{s.empty}",
        high=f"{s.high:g}",
        shared=str(s.shared_least),
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
        texts=(s.prompt_folder and "own") or "shipped",
    )
    return msgspec.structs.replace(
        estimate,
        where=where + estimate.where,
        signature=signature_of(estimate.name, signature),
    )


def of_method(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the numbers of one method in one form, the headline first."""
    used = rows.scored(settings.pooled)
    yield from scores(used, settings)
    yield from shares(rows, settings)
    yield from references(used, settings)
    yield from punts_as_zero(rows, settings)
    yield from calibration(rows, settings)
    yield from bins(used, settings)
    yield from slices(used, settings)
    yield from decomposition(used, settings)
    yield from thoughts(rows, settings)
    yield from points(used)
    yield from unfaithful(used)
