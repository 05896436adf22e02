"""Every number of a faithfulness run: pure, from what is stored.

Where a method was asked with several choices of demonstrations, a score is that of each choice,
averaged, within every resample too: answers of different choices share no bin.

With several methods one looks better than the plain question by chance alone: their gains on it are
counted on the bins that all methods fill, and corrected together (Holm).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.datasets.dataset import questions_hash
from sayso.judges.decisiveness import plain_decisiveness
from sayso.metrics.arrays import divide
from sayso.metrics.cmfg import (
    LEAST_IN_BIN,
    Binning,
    ConfidenceBin,
    cmfg,
    cmfg_answers,
    cmfg_bins,
    cmfg_corrected,
    cmfg_parts,
    cmfg_references,
    confidence_bin,
    filling,
    kendall,
    mfg,
    shared_bins,
    skill,
    skill_corrected,
    thin_bins,
    with_punts,
)
from sayso.metrics.compare_scores import difference_p, holm
from sayso.metrics.intervals import (
    UNMOVED,
    bootstrap,
    bootstrap_difference,
    effective_number,
    mean_freedom,
    telling,
)
from sayso.metrics.ranking import spearman
from sayso.prompts import methods
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.faithfulness.demonstrations import TABLE, held_out
from sayso.protocols.faithfulness.rows import (
    PARTS,
    AnswerRows,
    Floats,
    MethodRows,
    load_rows,
)
from sayso.protocols.faithfulness.settings import (
    AUTO,
    HELD_OUT,
    Settings,
    ambiguous_questions,
    said_ambiguous,
)
from sayso.protocols.faithfulness.verdicts import stored_ambiguity
from sayso.protocols.pool import clusters_of
from sayso.protocols.probes import count_draws
from sayso.protocols.protocol import Run
from sayso.protocols.settings import tokens_for
from sayso.records import Estimate, Question, Slice, part_of, signature_of, slice_of
from sayso.report.numbers import FORMS

NOTHING = "no answer has both decisiveness and confidence"
NOT_OFFLINE = "only for wording that the offline reader read"
FEW_EXAMPLES = "not asked: too few certain or uncertain answers to serve as examples; raise "


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every estimate of a run, signed."""
    every = load_rows(run, settings)
    by = reader_signers(run, every)
    numbers: list[Estimate] = []
    for form in ("short", "long"):
        of_form = [rows for rows in every if rows.form == form]
        gains = corrected({r.method: [*compared(r, of_form, settings)] for r in of_form}, of_form)
        for rows in of_form:
            where = slice_of(form=form, method=rows.method)
            of_rows = (*of_method(rows, settings), *gains[rows.method])
            offline = by.get("decisive", "").startswith("rules")
            numbers += [
                signed_slice(run, settings, e if offline else without_plain(e), where, form, by)
                for e in of_rows
            ]
    for name in methods.methods_in_list(settings.methods) if every else ():
        if not any(rows.method == name for rows in every):
            where = slice_of(form="short", method=name)
            own = settings.demos.data in (AUTO, HELD_OUT)
            more = "--demos.entities or --limit" if own else "--demos.questions"
            unasked = Estimate("skill", problem=f"{FEW_EXAMPLES}{more}")
            numbers.append(signed_slice(run, settings, unasked, where, "short", by))
    numbers += [signed_slice(run, settings, e, (), "all", by) for e in _of_run(run, settings)]
    return numbers


def without_plain(estimate: Estimate) -> Estimate:
    """Return an estimate of a run whose wording a model read: ``cmfg_plain`` has no value there.

    Only the offline reader gives plain statements a value that it gives nothing else.
    """
    if estimate.name != "cmfg_plain":
        return estimate
    return Estimate(estimate.name, estimate.where, problem=NOT_OFFLINE)


def of_method(rows: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the numbers of one method in one form, the headline first."""
    used = rows.scored(settings.pooled)
    yield from score_estimates(used, settings)
    yield from bin_fill(used, settings)
    yield from share_estimates(rows, settings)
    yield from reference_estimates(used, settings)
    yield from punts_as_zero(rows, settings)
    yield from estimates_by_bin(used, settings)
    yield from slice_estimates(used, settings)
    yield from decomposition(used, settings)
    yield from thoughts(rows, settings)
    yield from point_counts(used)
    yield from unfaithful(used)


def _of_run(run: Run, settings: Settings) -> Iterator[Estimate]:
    """Yield what the whole run is about: questions left out, draws that never differ."""
    held = held_out(run.questions, settings)
    searched = len(run.table(TABLE, Question)) or len(held)
    yield Estimate("demonstration_questions", value=float(searched), n=searched)
    entities = clusters_of(run.questions)
    apart, every = len({entities[id] for id in held}), len(set(entities.values()))
    yield Estimate("entities_set_apart", value=apart, numerator=apart, denominator=every, n=every)
    read = stored_ambiguity(run)
    ids = said_ambiguous(read) if read else ambiguous_questions(run.questions)
    shorts = len(read) or sum(not q.parts for q in run.questions)
    fate = "dropped" if read or settings.ambiguous == "drop" else "kept"
    why = f"ambiguous according to {read[0].by}" if read else "golds contradict each other"
    yield Estimate(
        "ambiguous_questions",
        value=float(len(ids)),
        numerator=float(len(ids)),
        denominator=float(shorts),
        n=shorts,
        missing=sum(v.problem is not None for v in read),
        problem=f"{fate}: {why}" if ids else None,
    )
    for question in ids:
        yield Estimate("ambiguous", slice_of(question=question), value=1.0, n=1)
    draws = count_draws(run.generations("draws"))
    share = draws.alike / draws.drawn if draws.drawn else None
    yield Estimate(
        "draws_alike", value=share, numerator=draws.alike, denominator=draws.drawn, n=draws.drawn
    )


def reader_signers(run: Run, every: Sequence[MethodRows]) -> dict[str, str]:
    """Return who read wording and who compared, as the verdicts say, and the examples' set."""
    by: dict[str, str] = {}
    if read := stored_ambiguity(run):
        by["ambiguous"] = read[0].by
    if searched := run.table(TABLE, Question):
        names = "+".join(sorted({q.dataset for q in searched}))
        by["demos"] = f"{names}-{questions_hash(tuple(searched))[:4]}"
    for form in dict.fromkeys(rows.form for rows in every):
        for name in ("decisive", "contradict"):
            for stage in (form, f"methods-{form}", f"refined-{form}", f"demos-{form}"):
                if run.has(f"verdicts/{stage}-{name}"):
                    verdicts = run.verdicts(f"{stage}-{name}")
                    by.setdefault(name, verdicts[0].by if verdicts else "nobody")
    return by


def signed_slice(
    run: Run, settings: Settings, estimate: Estimate, where: Slice, form: str, by: dict[str, str]
) -> Estimate:
    """Return an estimate with its slice and every setting that made it."""
    s = settings
    demos, examples = s.demos, by.get("demos", PurePath(s.demos.data).name)
    votes = "pooled-" * s.pooled
    short, long = (tokens_for(s.answer, kind) for kind in ("short", "long"))
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
        answer=f"T{s.answer.temperature:g}/{short}/{long}",
        methods=s.methods,
        demos=f"{demos.m}x{demos.choices}/{demos.questions}/{demos.entities}/{demos.certain:g}"
        f"/{demos.uncertain:g}/{examples}",
        ambiguous=by.get("ambiguous", "keep" if s.ambiguous == "auto" else s.ambiguous),
        bins=f"{votes}{s.bins}-right-{s.empty}",
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


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what must be read before any number: draws that never differ, missing readings."""
    every = list(estimates)
    lines = []
    alike = next((e.value for e in every if e.name == "draws_alike"), None)
    sure = any(e.name == "mean_confidence" and e.value is not None for e in every)
    if sure and (draws_vary is False or alike == 1):
        lines.append(
            "The draws never vary, so every confidence is 1 whatever the model knows, and these "
            "numbers say nothing about faithfulness. Check that the endpoint samples at T > 0."
        )
    return lines + unread_methods(every)


def unread_methods(estimates: Iterable[Estimate]) -> list[str]:
    """Return in one line which methods lack more than a few of their claims, and why."""
    every, lacking, reasons = list(estimates), list[str](), Counter[str]()
    for e in every:
        whole = e.name == "mean_decisiveness" and {key for key, _ in e.where} <= {"form", "method"}
        if not whole or e.missing <= 0.05 * (e.missing + e.n):
            continue
        for lost in every:
            if lost.name == "left_out" and set(e.where) <= set(lost.where):
                reason = part_of(lost.where, "reason")
                reasons[LOST.get(reason, LOST["wording"])] += int(lost.value or 0)
        lacking.append(f"{_in_words(e.where)} {e.missing:,} of {e.missing + e.n:,}")
    if not lacking:
        return []
    del reasons[""]
    why = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
    return [
        f"Some claims are left out of every mean{f' ({why})' if why else ''}: "
        f"{'; '.join(lacking)}. If these are the hedged ones, the words seem surer than they are."
    ]


#: why a claim is in no mean, in words; a fact that a paragraph omits is none
LOST = {
    "omitted": "",
    "pairs unread": "could not be compared with the draws",
    "few draws": "have too few draws",
    "wording": "have a wording that could not be read",
}


def _in_words(where: Slice) -> str:
    """Return a form and a method as people read them."""
    form, method = part_of(where, "form"), part_of(where, "method")
    return f"{FORMS.get(form, form).capitalize()}, {METHOD_LABELS.get(method, method)}"


# ---- scores with their intervals, overall and in slices

#: means over claims, and scores of each domain, place in a paragraph, and choice of demonstrations
MEANS = ("mfg", "mfg_aspects", "mean_decisiveness", "mean_confidence")
SLICED = ("skill", "cmfg", "mfg", "cmfg_aspects", "mfg_aspects", "mean_decisiveness")
#: means over bins of confidence
IN_BINS = ("skill", "cmfg", "cmfg_aspects")
#: the paper's numbers, in which an answer's claims have one vote together (Definitions 1 and 2)
OF_ANSWERS = ("cmfg", "mfg")


def mean_over_choices(metric: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """Return a metric of (..., weight, choice): its mean over choices of demonstrations.

    The assertions of an answer share its weight. A choice where it is undefined is left out.
    """

    def over_choices(*arrays: Floats, weights: Floats | None = None) -> Any:
        *rest, own, choice = arrays
        W = own if weights is None else weights * own
        if not len(choice) or (choice == choice[0]).all():
            return metric(*rest, weights=W, **keywords)
        values = []
        for one in np.unique(choice):
            use = choice == one
            values.append(metric(*(a[use] for a in rest), weights=W[..., use], **keywords))
        if W.ndim == 1:
            return _mean(values)
        table = np.array(values, dtype=np.float64)
        defined = ~np.isnan(table)
        total, count = np.where(defined, table, 0.0).sum(axis=0), defined.sum(axis=0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    return over_choices


def _mean(values: list[float | None]) -> float | None:
    defined = [v for v in values if v is not None]
    return sum(defined) / len(defined) if defined else None


def binning_of(settings: Settings) -> Binning:
    """Return the bins of confidence that settings choose."""
    return Binning(settings.bins, empty=settings.empty)


def bins_of_equal_width(settings: Settings) -> Binning:
    """Return these bins, empty ones skipped: for single bins and shared ones."""
    return Binning(settings.bins)


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


#: why a skill of 0 has no interval: it is 0 whatever is resampled
CONSTANT = "no interval: all its words are equally decisive, so skill is 0 by definition"


def _at_most_one(skill: Estimate, words: Floats) -> Estimate:
    """Return a skill with its interval cut at 1, or why there is none where words never differ."""
    if skill.problem == UNMOVED and words.min() == words.max():
        return msgspec.structs.replace(skill, problem=CONSTANT)
    high = skill.high if skill.high is None else min(skill.high, 1.0)
    return msgspec.structs.replace(skill, high=high)


def _interval(
    name: str, metric: Callable[..., Any], rows: MethodRows | AnswerRows, *arrays: NDArray[Any],
    settings: Settings, limits: tuple[float, float] | None = (0.0, 1.0),
    freedom: float | None = None,
) -> Estimate:  # fmt: skip
    """Return a metric of arrays (n,) of these rows with its interval over entities."""
    return bootstrap(
        metric, *arrays, clusters=rows.entity, n=settings.resamples, seed=settings.ci_seed,
        limits=limits, name=name, freedom=freedom,
    )  # fmt: skip


def score_estimates(
    used: MethodRows, settings: Settings, names: Sequence[str] | None = None
) -> Iterator[Estimate]:
    """Yield skill, cMFG, MFG and the rest, with intervals over entities."""
    binning = binning_of(settings)
    # assertions or answers that have no reading; punts and omissions are none of those
    missing = sum(n for reason, n in used.lost.items() if reason not in ("asked", "omitted"))
    counts = (used.d, used.j, used.k)
    answers = used.by_answer()
    metrics: dict[
        str, tuple[Callable[..., Any], tuple[Floats, ...], tuple[float, float] | None]
    ] = {
        "skill": (mean_over_choices(skill, binning=binning), counts, None),
        "cmfg": (
            mean_over_choices(cmfg_answers, binning=binning),
            (answers.f, answers.j, answers.k),
            (0.0, 1.0),
        ),
        "mfg": (mean_over_choices(mfg), (answers.f,), (0.0, 1.0)),
        "cmfg_aspects": (mean_over_choices(cmfg, binning=binning), counts, (0.0, 1.0)),
        "mfg_aspects": (mean_over_choices(mfg), (1 - np.abs(used.d - used.c),), (0.0, 1.0)),
        "mean_decisiveness": (mean_over_choices(mfg), (used.d,), (0.0, 1.0)),
        "mean_confidence": (mean_over_choices(mfg), (used.c,), (0.0, 1.0)),
        "spearman": (mean_over_choices(spearman), (used.d, used.c), (-1.0, 1.0)),
    }
    for name, (metric, arrays, limits) in metrics.items():
        if names is not None and name not in names:
            continue
        if not len(used.d):
            yield Estimate(name, problem=NOTHING, missing=missing)
            continue
        rows = answers if name in OF_ANSWERS else used
        freedom = None
        if name in MEANS:  # the few entities decide that are not at the end of the range
            freedom = mean_freedom(arrays[0] * rows.weight, rows.weight, rows.entity)
        e = _interval(
            name, metric, rows, *arrays, rows.weight, rows.choice,
            settings=settings, limits=limits, freedom=freedom,
        )  # fmt: skip
        e = _at_most_one(e, used.d) if name == "skill" else e
        thin = _thin(rows, binning) if name in IN_BINS and e.problem != CONSTANT else None
        if thin:
            e = msgspec.structs.replace(e, low=None, high=None, problem=thin)
        yield msgspec.structs.replace(e, missing=missing)


def binned(rows: MethodRows | AnswerRows) -> tuple[Floats, Floats, Floats]:
    """Return what says which rows stand in which bins: decisiveness or faithfulness, j, k."""
    return (rows.d if isinstance(rows, MethodRows) else rows.f), rows.j, rows.k


def _thin(rows: MethodRows | AnswerRows, binning: Binning) -> str | None:
    """Return why means over bins have no interval: in a choice of demonstrations one is thin."""
    notes = (thin_bins(*binned(one), binning) for one in rows.choices())
    return next(filter(None, notes), None)


def bin_fill(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield how many bins of confidence hold a claim, and how many the thinnest of them holds.

    Of several choices of demonstrations, each with bins of its own, that of the thinnest bin.
    """
    every = [filling(r.d, r.j, r.k, binning_of(settings)) for r in used.choices()]
    held = min(filter(None, every), key=lambda one: (one.thinnest, one.filled), default=None)
    if held is None:
        return
    n, bins = len(used.d), float(held.bins)
    where = slice_of(bin=f"{held.low:.3g}-{held.high:.3g}")
    yield Estimate("thinnest_bin", where, float(held.thinnest), n=n)
    full = float(held.filled)
    yield Estimate("filled_bins", value=full, numerator=full, denominator=bins, n=n)


def slice_estimates(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the scores of each domain, fifth of the paragraphs, and choice of demonstrations."""
    domains = np.unique(used.domain)
    places = []
    if len(domains) > 1:
        places += [(slice_of(domain=str(d)), used.domain == d) for d in domains]
    fifths = [(slice_of(position=str(p + 1)), used.part == p) for p in range(PARTS)]
    places += [(where, use) for where, use in fifths if use.any()]
    choices = np.unique(used.choice)
    places += [(slice_of(choice=str(c)), used.choice == c) for c in choices if c]
    for where, use in places:
        for e in score_estimates(used.take(use), settings, SLICED):
            yield msgspec.structs.replace(e, where=where, missing=0)


def share_estimates(rows: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield accuracy and punting over answers, and what was left out by reason."""
    answers = rows.answers
    if rows.form == "long":
        answers = [f"{a} {q}" for a, q in zip(rows.answers, rows.question, strict=True)]
    _, first = np.unique(np.array(answers, dtype=np.str_), return_index=True)
    one = rows.take(np.isin(np.arange(len(rows.d)), first))
    punted = np.where(np.isnan(one.d) & ~one.punted, np.nan, one.punted)  # NaN: wording not read
    for name, values in (("accuracy", one.right), ("punting", punted)):
        read = ~np.isnan(values)
        if not read.any():
            yield Estimate(name, missing=len(read), problem="no answer has a verdict")
            continue
        yield msgspec.structs.replace(
            _interval(name, mfg, one.take(read), values[read], settings=settings),
            numerator=float(values[read].sum()),
            denominator=float(read.sum()),
            missing=int((~read).sum()),
        )
    yield Estimate("asked", value=float(rows.lost["asked"]), n=rows.lost["asked"])
    for reason, number in sorted(rows.lost.items()):
        if reason != "asked":
            where = slice_of(reason=reason)
            yield Estimate("left_out", where, float(number), n=rows.lost["asked"])


# ---- what cMFG is read against: policies and other readings

#: policies of :func:`sayso.metrics.cmfg.cmfg_references` that a run states
REFERENCES = ("decisive", "half", "permuted", "oracle")


def over_choices(
    rows: MethodRows,
    settings: Settings,
    numbers: Callable[[MethodRows, Settings], Iterator[Estimate]],
) -> Iterator[Estimate]:
    """Yield estimates of each choice of demonstrations, averaged; counts added."""
    choices = rows.choices()
    if len(choices) < 2:
        yield from numbers(rows, settings)
        return
    by_name: dict[str, list[Estimate]] = defaultdict(list)
    for choice in choices:
        for e in numbers(choice, settings):
            by_name[e.name].append(e)
    for of_name in by_name.values():
        yield msgspec.structs.replace(
            of_name[0],
            value=_mean([e.value for e in of_name]),
            low=_mean([e.low for e in of_name]),
            high=_mean([e.high for e in of_name]),
            n=sum(e.n for e in of_name),
        )


def reference_estimates(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield blind policies and the oracle on the same bins, and cMFG read otherwise."""
    yield from over_choices(used, settings, _references)


def _references(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    keywords: dict[str, Any] = {"binning": binning_of(settings), "weights": used.weight}
    n = len(used.d)
    counts = used.d, used.j, used.k
    references = cmfg_references(*counts, **keywords)
    for name in REFERENCES:
        problem = None if n else NOTHING
        yield Estimate(f"cmfg_{name}", value=references[name], n=n, problem=problem)
    for name, value in cmfg_parts(*counts, **keywords).items():
        yield Estimate(name, value=value, n=n)
    plain = np.isclose(used.d, plain_decisiveness())
    certain = cmfg(np.where(plain, 1.0, used.d), used.j, used.k, **keywords)
    yield Estimate("cmfg_plain", value=_finite(certain), n=n)
    yield Estimate("cmfg_corrected", value=cmfg_corrected(*counts, **keywords), n=n)
    yield Estimate("skill_corrected", value=skill_corrected(*counts, **keywords), n=n)
    tau = _finite(kendall(used.d, used.c, used.weight)) if n <= 3000 else None
    yield Estimate(
        "kendall", value=tau, n=n, problem="not computed above 3,000 rows" if n > 3000 else None
    )


def punts_as_zero(rows: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield skill and cMFG with a punt counted as decisiveness 0 against what was withheld."""
    d = with_punts(rows.d, rows.punted, "dec0")
    use = ~np.isnan(d) & ~np.isnan(rows.c)
    counts = rows._replace(d=d).take(use).counts
    for name, metric in (("skill_dec0", skill), ("cmfg_dec0", cmfg)):
        value = (
            mean_over_choices(metric, binning=binning_of(settings))(*counts) if use.any() else None
        )
        yield Estimate(name, value=_finite(value), n=int(use.sum()))


# ---- bins of confidence


FEW_IN_BIN = f"no interval: claims about fewer than {LEAST_IN_BIN} entities"


def estimates_by_bin(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield each bin's faithfulness, decisiveness, confidence and skill, and how many it holds.

    The skill of a bin is (faithfulness - blind) / (1 - blind) there, blind being all the words of
    the method dealt out at random over the bin. Bins of fewer than five claims or entities have no
    intervals.
    """
    every = cmfg_bins(used.d, used.j, used.k, binning_of(settings))
    for at, one in enumerate(every):
        where = slice_of(bin=f"{one.low:.3g}-{one.high:.3g}")
        for e in _bin(used, settings, one, at, len(every)):
            yield msgspec.structs.replace(e, where=where, n=one.n)


def _bin(
    used: MethodRows, settings: Settings, one: ConfidenceBin, at: int, count: int
) -> Iterator[Estimate]:
    if not one.n:
        for name in ("faithfulness", "decisiveness", "confidence"):
            yield Estimate(f"bin_{name}", problem="empty")
        return
    keywords = {"binning": bins_of_equal_width(settings), "use": np.arange(count) == at}
    interval = partial(_interval, settings=settings)
    here = used.take(confidence_bin(used.j, used.k, settings.bins) == at)
    few = len(np.unique(here.entity)) < LEAST_IN_BIN
    # of all entities those in the bin decide
    own: dict[str, Any] = {"freedom": max(1.0, effective_number(np.bincount(here.entity)) - 1)}
    quantities = [
        interval(
            "bin_faithfulness", mean_over_choices(cmfg, **keywords), used, *used.counts, **own
        ),
        _at_most_one(
            interval(
                "bin_skill",
                mean_over_choices(skill, **keywords),
                used,
                *used.counts,
                limits=None,
                **own,
            ),
            used.d,
        ),
        interval(
            "bin_decisiveness", mean_over_choices(mfg), here, here.d, here.weight, here.choice
        ),
        interval("bin_confidence", mean_over_choices(mfg), here, here.c, here.weight, here.choice),
    ]
    for e in quantities:
        if few and e.value is not None:
            yield msgspec.structs.replace(e, low=None, high=None, problem=FEW_IN_BIN)
        else:
            yield e if e.name == "bin_skill" else telling(e)


# ---- what a method gains on the plain question, on the bins that all methods fill

#: gains of methods on vanilla, each a table of its own that is corrected together
GAINS = ("skill_gain", "cmfg_gain")


def bins_in_common(
    sides: Iterable[MethodRows | AnswerRows], settings: Settings
) -> NDArray[np.bool_]:
    """Return which bins of confidence every side fills, in each choice of demonstrations."""
    return shared_bins(
        [binned(one) for side in sides for one in side.choices()],
        bins_of_equal_width(settings),
        settings.shared_least,
    )


def compared(
    rows: MethodRows, every: Sequence[MethodRows], settings: Settings
) -> Iterator[Estimate]:
    """Yield skill and cMFG on the bins that every method fills, and what a method gains on vanilla.

    Entities are resampled jointly.
    """
    if len(every) < 2:
        return
    sides = [r.scored(settings.pooled) for r in every]
    use = bins_in_common(sides, settings)
    mine = next(s for s in sides if s.method == rows.method)
    keywords = {"binning": bins_of_equal_width(settings), "use": use}
    count = int(use.sum())
    yield Estimate("shared_bins", value=float(count), numerator=count, denominator=settings.bins)
    if not count:
        return
    for name, metric in (("skill_shared", skill), ("cmfg_shared", cmfg)):
        value = mean_over_choices(metric, **keywords)(*mine.counts)
        yield Estimate(name, value=_finite(value), n=len(mine.d))
    base = next((s for s in sides if s.method == "vanilla"), None)
    if base is None or rows.method == "vanilla":
        return
    for name, metric in zip(GAINS, (skill, cmfg), strict=True):
        yield bootstrap_difference(
            mean_over_choices(metric, **keywords),
            mine.counts,
            base.counts,
            clusters=mine.entity,
            second_clusters=base.entity,
            n=settings.resamples,
            seed=settings.ci_seed,
            name=name,
        )


def corrected(
    by_method: Mapping[str, Sequence[Estimate]], every: Sequence[MethodRows]
) -> dict[str, list[Estimate]]:
    """Return the estimates by method, after each gain its p corrected over the methods (Holm).

    The numerator of ``skill_gain_p`` is the p of the one comparison, and n how many are corrected
    together.
    """
    entities = {r.method: set(r.scored().entity.tolist()) for r in every}
    base = entities.get("vanilla", set())
    result = {method: list(estimates) for method, estimates in by_method.items()}
    for name in GAINS:
        gains = {m: e for m, estimates in by_method.items() for e in estimates if e.name == name}
        single = [difference_p(e, len(entities[m] | base)) for m, e in gains.items()]
        tested = sum(p is not None for p in single)
        for method, own, p in zip(gains, single, holm(single), strict=True):
            why = None if p is not None else gains[method].problem or "no interval"
            result[method].append(
                Estimate(f"{name}_p", value=p, numerator=own, n=tested, problem=why)
            )
    return result


# ---- single answers: the three-way table, thoughts, points, the worst ones

#: an answer this much surer than the thought before it leaves its doubt unsaid
UNSAID = 0.1
#: decisiveness is drawn in steps
STEPS = 100
#: answers of a method whose words and confidence are furthest apart, to be read
WORST = 8


def decomposition(used: MethodRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the shares of confidence x decisiveness x right, and the two failures by name.

    Confident, decisive and wrong: it does not know that it does not know. Not confident and yet
    decisive: its words hide that it is unsure. Both as shares of the claims with all
    three, the failures with intervals over entities; ``high`` and more is confident, and decisive.
    """
    high = settings.high
    judged = used.take(~np.isnan(used.right))
    n = len(judged.d)
    why = None if n else "no claim has decisiveness, confidence and a verdict"
    sure, firm, right = judged.c >= high - 1e-12, judged.d >= high - 1e-12, judged.right == 1
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
        share = _interval(name, mfg, judged, which.astype(np.float64), settings=settings)
        yield msgspec.structs.replace(share, numerator=float(which.sum()), denominator=float(n))


def thoughts(rows: MethodRows, settings: Settings) -> Iterator[Estimate]:
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
    voiced = np.bincount(group, held.d * held.weight) / np.bincount(group, held.weight)
    gap = held.thought[at] - voiced
    use = ~np.isnan(gap)
    entity, gap = held.entity[at][use], gap[use]
    lost = int(len(names) - use.sum())
    if not len(gap):
        for name in ("thought_minus_said", "thought_unsaid"):
            yield Estimate(name, missing=lost, problem="no thought asserts anything")
        return
    again = partial(bootstrap, clusters=entity, n=settings.resamples, seed=settings.ci_seed)
    difference = again(_average, gap, limits=(-1.0, 1.0), name="thought_minus_said")
    yield msgspec.structs.replace(difference, numerator=None, denominator=None, missing=lost)
    unsaid = (gap < -UNSAID).astype(np.float64)
    yield msgspec.structs.replace(
        again(mfg, unsaid, name="thought_unsaid"),
        numerator=float(unsaid.sum()),
        denominator=float(len(unsaid)),
        missing=lost,
    )


def _average(values: Floats, weights: Floats | None = None) -> Any:
    """Return the mean, or one for each row of weights (B, n)."""
    return values.mean() if weights is None else divide(weights @ values, weights.sum(axis=1))


def point_counts(used: MethodRows) -> Iterator[Estimate]:
    """Yield how many claims have each confidence and (in steps of .01) decisiveness."""
    number = Counter(
        (round(float(c), 3), round(float(d) * STEPS) / STEPS)
        for c, d in zip(used.c, used.d, strict=True)
    )
    for (c, d), n in sorted(number.items()):
        where = slice_of(confidence=f"{c:g}", decisiveness=f"{d:g}")
        yield Estimate("point", where, float(n), n=n)


def unfaithful(used: MethodRows) -> Iterator[Estimate]:
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
