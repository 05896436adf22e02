"""Every number of a faithfulness run: pure, from what is stored (PROTOCOLS 2.B, VALIDITY 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from sayso import methods as ways
from sayso.metrics.faithful import mfg
from sayso.metrics.faithful_bins import cmfg, shared_bins, skill
from sayso.metrics.intervals import bootstrap, bootstrap_difference
from sayso.metrics.ranks import spearman
from sayso.protocols import Run
from sayso.protocols.draws import count_draws
from sayso.protocols.faithfulness_beside import (
    NOTHING,
    bins,
    calibration,
    options,
    plain,
    punts_as_zero,
    references,
    weighted,
)
from sayso.protocols.faithfulness_demos import ambiguous, held_out
from sayso.protocols.faithfulness_rows import Floats, Rows, load_rows
from sayso.protocols.faithfulness_settings import Settings
from sayso.protocols.faithfulness_words import by_part, decomposition, points, thoughts, unfaithful
from sayso.records import Estimate

#: what is given for each domain and each place in a paragraph
SLICED = ("skill", "cmfg", "mfg", "mean_decisiveness")
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
        for rows in here:
            where = f"form:{form};method:{rows.method}"
            made = [*of_method(rows, settings), *compared(rows, here, settings)]
            found += [signed(run, settings, e, where, form, by) for e in made]
    wanted = ways.chosen(settings.methods)
    for name in wanted if methods else ():
        if not any(rows.method == name for rows in methods):
            lost = Estimate("skill", problem=FEW_EXAMPLES)
            found.append(signed(run, settings, lost, f"form:short;method:{name}", "short", by))
    found += [signed(run, settings, e, "all", "all", by) for e in _of_run(run, settings)]
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
        yield Estimate("ambiguous", f"question:{question}", value=1.0, n=1)
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
            for stage in (form, f"methods-{form}", f"demos-{form}"):
                if run.has(f"verdicts/{stage}-{name}"):
                    verdicts = run.verdicts(f"{stage}-{name}")
                    found.setdefault(name, verdicts[0].by if verdicts else "nobody")
    return found


def signed(
    run: Run, settings: Settings, estimate: Estimate, where: str, form: str, by: dict[str, str]
) -> Estimate:
    """Return an estimate with its place and every setting that made it."""
    s = settings
    method = dict(p.partition(":")[::2] for p in where.split(";")).get("method", "all")
    place = where if estimate.where == "all" else estimate.where
    if estimate.where != "all" and where != "all":
        place = f"{where};{estimate.where}"
    demos, levels = s.demos, "levels-" if s.levels else ""
    signature = run.signature(
        form=form,
        method=method,
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
    return msgspec.structs.replace(estimate, where=place, signature=f"{estimate.name}|{signature}")


def of_method(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the numbers of one method in one form, the headline first."""
    used = rows.take(rows.used)
    yield from scores(used, settings)
    yield from shares(rows, settings)
    yield from references(used, settings)
    yield from punts_as_zero(rows, settings)
    yield from calibration(rows, settings)
    yield from bins(used, settings)
    yield from _slices(used, settings)
    yield from decomposition(used, settings.high)
    yield from thoughts(rows)
    yield from points(used)
    yield from unfaithful(used)


def scores(
    used: Rows, settings: Settings, names: Sequence[str] | None = None
) -> Iterator[Estimate]:
    """Yield skill, cMFG, MFG and the rest, with intervals over entities."""
    kept = options(settings) | {"empty": settings.empty}
    again = partial(bootstrap, clusters=used.entity, n=settings.resamples, seed=settings.ci_seed)
    faithful = 1 - np.abs(used.d - used.c)
    made: dict[str, tuple[Callable[..., Any], tuple[Floats, ...], tuple[float, float] | None]] = {
        "skill": (weighted(skill, **kept), (used.d, used.j, used.k), None),
        "cmfg": (weighted(cmfg, **kept), (used.d, used.j, used.k), (0.0, 1.0)),
        "mfg": (weighted(mfg), (faithful,), (0.0, 1.0)),
        "mean_decisiveness": (weighted(mfg), (used.d,), (0.0, 1.0)),
        "mean_confidence": (weighted(mfg), (used.c,), (0.0, 1.0)),
        "spearman": (weighted(spearman), (used.d, used.c), None),
    }
    for name, (metric, arrays, limits) in made.items():
        if names is not None and name not in names:
            continue
        if not len(used.d):
            yield Estimate(name, problem=NOTHING)
            continue
        found = again(metric, *arrays, used.weight, name=name, limits=limits)
        yield msgspec.structs.replace(found, where="all", missing=_missing(used))


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
    for name, values in (("accuracy", one.right), ("punting", one.punted.astype(float))):
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
            where="all",
            numerator=total,
            denominator=float(held.sum()),
            missing=int((~held).sum()),
        )
    yield Estimate("asked", value=float(rows.lost["asked"]), n=rows.lost["asked"])
    for reason, number in sorted(rows.lost.items()):
        if reason != "asked":
            yield Estimate("left_out", f"reason:{reason}", float(number), n=rows.lost["asked"])


def _slices(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield skill and MFG of each domain, and of each fifth of the paragraphs."""
    domains = np.unique(used.domain)
    places = [(f"domain:{d}", used.domain == d) for d in domains] if len(domains) > 1 else []
    places += [(f"position:{p + 1}", m) for p, m in by_part(used)]
    for place, use in places:
        for found in scores(
            used.take(use), settings, ("skill", "cmfg", "mfg", "mean_decisiveness")
        ):
            yield msgspec.structs.replace(found, where=place, missing=0)


def compared(rows: Rows, all_methods: Sequence[Rows], settings: Settings) -> Iterator[Estimate]:
    """Yield skill and cMFG on the bins that every method fills, and what a method gains on vanilla.

    Entities are resampled jointly (PROTOCOLS 2.B).
    """
    if len(all_methods) < 2 or settings.levels:
        return
    sides = [r.take(r.used) for r in all_methods]
    use = shared_bins(
        [(s.d, s.j, s.k) for s in sides], settings.bins, settings.closed, settings.shared_least
    )
    mine = next(s for s in sides if s.method == rows.method)
    kept: dict[str, Any] = {"bins": settings.bins, "closed": settings.closed, "use": use}
    count = int(use.sum())
    yield Estimate("shared_bins", value=float(count), numerator=count, denominator=settings.bins)
    if not count:
        return
    for name, metric in (("skill_shared", skill), ("cmfg_shared", cmfg)):
        value = metric(mine.d, mine.j, mine.k, weights=mine.weight, **kept)
        yield Estimate(name, value=plain(value), n=len(mine.d))
    base = next((s for s in sides if s.method == "vanilla"), None)
    if base is None or rows.method == "vanilla":
        return
    for name, metric in (("skill_gain", skill), ("cmfg_gain", cmfg)):
        found = bootstrap_difference(
            weighted(metric, **kept),
            (mine.d, mine.j, mine.k, mine.weight),
            (base.d, base.j, base.k, base.weight),
            clusters=mine.entity,
            second_clusters=base.entity,
            n=settings.resamples,
            seed=settings.ci_seed,
            name=name,
        )
        yield msgspec.structs.replace(found, where="all")
