"""The leaderboard: AUROC of every score against each answer metric, PRR, risk against coverage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import against_others, agreement_matrix
from sayso.metrics.compare_scores import ScoreDifference, paired_differences, rank_flips
from sayso.metrics.intervals import bootstrap, bootstrap_ratio, bootstrap_share
from sayso.metrics.length_audit import false_negatives, length_audit, length_bins, length_inflation
from sayso.metrics.ranking import (
    aurac,
    auroc,
    mid_ranks,
    prr,
    risk_coverage,
    spearman,
    within_auroc,
)
from sayso.protocols.probes import ALIKE, LEAST, count_draws
from sayso.protocols.protocol import Run
from sayso.protocols.selective.rows import (
    WORDS,
    Floats,
    Rows,
    abstentions,
    diagnostics,
    load_rows,
    strata_of,
    told,
    types_of,
)
from sayso.protocols.selective.settings import UNKNOWN_TARGET, Settings, decoding, probing
from sayso.records import Estimate, Slice, part_of, signature_of, slice_of
from sayso.scores.p_ik import P_IK, fold_ranks

# The length trap in a run: audits of scores, false negatives by length, rankings that flip.

#: scores whose audit is printed, if the run has them
AUDITED = ("sequence_probability", "semantic_entropy", "perplexity")
#: the most rankings listed of each form
MOST_FLIPS = 40
#: parts of the answers by length, and answers that a mean needs
BINS, FEW = 5, 5


def truth_of(rows: Rows) -> str:
    """Return the best truth there is: the run's judge."""
    return rows.judge


def metrics_of(rows: Rows) -> list[str]:
    """Return the answer metrics, the best truth first."""
    return [by for by in rows.wrong if by != UNKNOWN_TARGET]


def audits(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the length audit of the main scores against ROUGE-L, with the judge as better truth."""
    for name in AUDITED:
        if name not in rows.scores:
            continue
        for by in ("rouge_l",):
            found = length_audit(
                rows.scores[name],
                rows.wrong[by],
                rows.words,
                rows.wrong[truth_of(rows)],
                clusters=rows.entity,
                n=settings.resamples,
                seed=settings.ci_seed,
            )
            where = slice_of(against=by, score=name)
            for field in found.__struct_fields__:
                estimate = getattr(found, field)
                if estimate is not None:
                    yield msgspec.structs.replace(estimate, name=f"audit_{field}", where=where)


def refusals_by_length(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the share of right answers that each metric refuses, by fifths of length.

    Right is what the run's judge calls right; of the judge itself nothing better is known here.
    """
    wrong = rows.wrong[truth_of(rows)]
    right = wrong == 0
    held = right & ~np.isnan(rows.words)
    share = float(right.sum() / (~np.isnan(wrong)).sum()) if (~np.isnan(wrong)).any() else None
    for by in metrics_of(rows):
        if by == truth_of(rows) or not held.any():
            continue
        refused = rows.wrong[by][held]
        found = false_negatives(
            refused,
            rows.words[held],
            clusters=rows.entity[held],
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        where = slice_of(against=by)
        yield msgspec.structs.replace(found.overall, where=where)
        yield msgspec.structs.replace(found.slope, where=where)
        for place, part in enumerate(found.bins, start=1):
            fifth = where + slice_of(fifth=str(place)) + part.where
            yield msgspec.structs.replace(part, name="false_negatives_fifth", where=fifth)
        if share is not None and len(refused) and not np.isnan(refused).all():
            accepted = float(1 - np.nanmean(refused))
            closed = length_inflation(share, accepted)["auroc_rouge_of_length"]
            yield Estimate(
                "auroc_length_closed_form",
                where,
                closed,
                numerator=accepted,
                denominator=share,
                n=int(held.sum()),
                problem=None if closed is not None else "all or no answers are accepted",
            )


def by_length(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield what scores, references and continuous answer metrics are at each fifth of length.

    A score is given as its mean rank among all answers (0 = most certain), apart for right and
    wrong answers, so that scores of different scales stand in one picture. References are those of
    all answers, in words.
    """
    wrong = rows.wrong[truth_of(rows)]
    fifth = length_bins(rows.words, BINS)
    right, whole = wrong == 0, np.ones(rows.size, dtype=bool)
    series: list[tuple[str, Slice, Floats, NDArray[np.bool_], float]] = []
    for name in AUDITED[:2]:
        if name in rows.scores:
            rank = mid_ranks(rows.scores[name])
            for kind, group in (("right", right), ("wrong", wrong == 1)):
                where = slice_of(score=name, answers=kind)
                series.append(("score_rank", where, rank, group, 1))
    series += [
        ("metric_of_right", slice_of(against=by), rows.values[by], right, 1)
        for by in ("rouge_l", "squad_f1")
    ]
    if rows.reference_words is not None:
        every = slice_of(answers="all")
        series.append(("reference_words", every, rows.reference_words, whole, np.inf))
    for name, where, values, group, most in series:
        for place in range(BINS):
            here = group & (fifth == place) & ~np.isnan(values)
            if here.sum() >= FEW:
                found = bootstrap_ratio(
                    name,
                    values[here],
                    np.ones(here.sum()),
                    rows.entity[here],
                    settings.resamples,
                    settings.ci_seed,
                    limits=(0, most),
                )
                words = f"{rows.words[here].mean():.3g}"
                narrowed = where + slice_of(fifth=str(place + 1), length=words)
                yield msgspec.structs.replace(found, where=narrowed)


def flips(rows: Rows, settings: Settings, core: Sequence[str]) -> Iterator[Estimate]:
    """Yield, for each two scores that two metrics rank differently, both differences of AUROC.

    ``where`` names the pair, the metric, and whether both differences are clear of chance
    (Holm-corrected over each metric's table, p < .05).
    """
    names = [name for name in core if name in rows.scores]
    differences: dict[str, list[ScoreDifference]] = {}
    for by in metrics_of(rows):
        wrong = rows.wrong[by]
        held = wrong[~np.isnan(wrong)]
        if len(names) > 1 and len(held) and 0 < held.mean() < 1:
            differences[by] = paired_differences(
                {name: rows.scores[name] for name in names},
                wrong,
                clusters=rows.entity,
                n=settings.resamples,
                seed=settings.ci_seed,
            )
    gap = {(by, d.first, d.second): d.difference for by, some in differences.items() for d in some}
    if len(differences) < 2:
        told = "needs two scores, and two answer metrics with right and wrong answers"
        yield Estimate("rank_flips", n=0, problem=told)
        return
    found = rank_flips(differences)
    clear = sum(flip.clear for flip in found)
    yield Estimate(
        "rank_flips",
        value=float(len(found)),
        numerator=float(clear),
        denominator=float(len(found)),
        n=len(names) * (len(names) - 1) // 2,
    )
    for flip in found[:MOST_FLIPS]:
        said = "yes" if flip.clear else "no"
        both = (("under", flip.under, flip.against), ("against", flip.against, flip.under))
        for role, by, other in both:
            pair = {role: by, "first": flip.first, "second": flip.second}
            yield msgspec.structs.replace(
                gap[by, flip.first, flip.second],
                name="auroc_difference",
                where=slice_of(**pair, other=other, clear=said),
            )


# Do the answer metrics of a run agree? Every two of them, and each against the others'
# majority.
#
# No person sees the answers of a run, so its judge stands first among the metrics; metrics that
# compare words share their mistakes, and a majority of them is no truth. With verdicts of
# people
# ``sayso score`` has the same numbers with the people in them.


def agreements(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the agreement and kappa of every two metrics, then each against the others."""
    said = {by: 1 - rows.wrong[by] for by in metrics_of(rows)}
    clusters, n, seed = rows.entity, settings.resamples, settings.ci_seed
    for pair in agreement_matrix(said, clusters, n, seed):
        where = slice_of(against=pair.first, metric=pair.second)
        yield msgspec.structs.replace(pair.same, name="metric_agreement", where=where)
        yield Estimate("metric_kappa", where, pair.kappa, n=pair.same.n)
    for by, found in against_others(said, (), clusters, n, seed).items():
        yield msgspec.structs.replace(
            found, name="metric_against_others", where=slice_of(against=by)
        )


LENGTH = "length_words"
#: scores that are shown against every answer metric, compared in pairs, and drawn as curves
CORE = (
    LENGTH, "sequence_probability", "perplexity", "mean_token_entropy", "naive_entropy",
    "semantic_entropy", "discrete_semantic_entropy", "num_sets", "mc_mean_token_entropy",
    "lexical_similarity", "exact_match_rate", "p_true", WORDS,
)  # fmt: skip
CURVES = ("semantic_entropy", "sequence_probability", "discrete_semantic_entropy", LENGTH)
#: shares answered at which a curve is stored
COVERAGES = tuple(round(0.05 * i, 2) for i in range(2, 21))
CIRCULAR = "this score decided what is unknown (--known-by probe)"
ONE_CLASS = "only right or only wrong answers: no pair to rank"


def length_shares(rows: Rows) -> Iterator[Estimate]:
    """Yield, by type of fact, the AUROC of plain length, those that move it most first.

    A type counts by its pairs of a right and a wrong answer, as in the AUROC within type.
    """
    types, wrong = types_of(rows), rows.wrong[rows.judge]
    if types is None or LENGTH not in rows.scores:
        return
    found = []
    for kind in np.unique(types):
        here = (types == kind) & ~np.isnan(wrong) & ~np.isnan(rows.scores[LENGTH])
        value = auroc(rows.scores[LENGTH][here], wrong[here])
        if value is not None:
            pairs = float(wrong[here].sum() * (1 - wrong[here]).sum())
            found.append(((value - 0.5) * pairs, kind, value, int(here.sum())))
    whole = sum(share for share, *_ in found)
    for _, kind, value, n in sorted(found, reverse=whole > 0)[:10]:
        where = slice_of(against=rows.judge, type=str(kind))
        yield Estimate("length_share", where, value, n=n)


def board(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield the leaderboard: all scores against the judge and *unknown*, the core against all."""
    types = types_of(rows)
    for by, wrong in rows.wrong.items():
        whole = by in (rows.judge, UNKNOWN_TARGET)
        for name in rows.scores:
            if not whole and name not in (*CORE, P_IK):
                continue
            where = slice_of(against=by, score=name)
            if by == UNKNOWN_TARGET and settings.known_by == "probe" and name == P_IK:
                yield Estimate("auroc", where, problem=CIRCULAR)
                continue
            yield from _ranked(rows, settings, name, wrong, types, where, full=by == rows.judge)


def _ranked(
    rows: Rows,
    settings: Settings,
    method: str,
    wrong: Floats,
    types: Any,
    where: Slice,
    *,
    full: bool,
) -> Iterator[Estimate]:
    score, fold = rows.scores[method], rows.folds.get(method)
    if fold is not None:
        score = fold_ranks(score, fold)
    use = ~(np.isnan(score) | np.isnan(wrong))
    u, y = score[use], wrong[use]
    missing = int((~use).sum())
    again = partial(
        bootstrap, clusters=rows.entity[use], n=settings.resamples, seed=settings.ci_seed
    )

    def made(name: str, metric: Callable[..., Any], *more: Any, **rest: Any) -> Estimate:
        found = again(metric, u, y, *more, name=name, **rest)
        problem = ONE_CLASS if found.value is None else found.problem
        return msgspec.structs.replace(found, where=where, missing=missing, problem=problem)

    if fold is None:
        yield made("auroc", auroc)
    else:
        yield made("auroc", within_auroc, fold[use])
    strata = strata_of(rows, method, types)
    if types is not None and strata is not None:
        yield made("auroc_within", within_auroc, strata[use])
    if full:
        yield made("prr", prr, limits=None)
        yield Estimate("aurac", where, _plain(aurac(u, y)), n=len(u), missing=missing)
        length = _plain(spearman(u, rows.words[use])) if len(u) else None
        yield Estimate("length_correlation", where, length, n=len(u), missing=missing)


def curves(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield points of the risk-coverage curves, and the model's words as one point."""
    wrong = rows.wrong[rows.judge]
    for name in CURVES:
        if name not in rows.scores:
            continue
        score = rows.scores[name]
        use = ~(np.isnan(score) | np.isnan(wrong))
        curve = risk_coverage(score[use], wrong[use])
        for coverage in COVERAGES if len(curve.coverage) else ():
            # between two thresholds the answers of a tie block are given at random
            risk = np.interp(
                coverage, [0.0, *curve.coverage], [0.0, *(curve.risk * curve.coverage)]
            )
            where = slice_of(against=rows.judge, score=name, coverage=f"{coverage:g}")
            yield Estimate("risk", where, float(risk / coverage), n=int(use.sum()))
    if WORDS in rows.scores:
        hedged = rows.scores[WORDS]
        use = ~(np.isnan(hedged) | np.isnan(wrong))
        given = use & (hedged == 0)
        where = slice_of(against=rows.judge, score=WORDS)
        again = (rows.entity, settings.resamples, settings.ci_seed)
        for name, hits, held in (
            ("coverage_of_words", given, use),
            ("risk_of_words", wrong > 0, given),
        ):
            found = bootstrap_share(name, hits, held, *again)
            problem = found.problem if held.any() else "it hedged every answer"
            yield msgspec.structs.replace(found, where=where, problem=problem)


def _plain(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


# What must be read before any number of the selective protocol: results that fall away.

#: what a reason says where log-probabilities are missing
NO_LOGPROBS = ("token prob", "token by token")


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what falls away in a run without log-probabilities, or whose draws never differ.

    ``draws_vary`` is what the engine saw for itself; ``None`` where it does not know.
    """
    found = list(estimates)
    lines = told(found)
    drawn = next((e for e in found if e.name == "draws_alike"), None)
    alike = drawn is not None and drawn.problem == ALIKE
    if alike or draws_vary is False:
        seen = (
            "draws of every question are equal"
            if alike
            else "the model was seen to repeat the same text at a temperature above 0"
        )
        lines.append(
            f"The draws never vary: {seen}. Every score that compares draws falls away, and so "
            "does what is known by any of several draws."
        )
    missing = {
        part_of(e.where, "score")
        for e in found
        if e.name == "auroc" and any(part in (e.problem or "") for part in NO_LOGPROBS)
    }
    if missing:
        lines.append(
            f"There are no log-probabilities, so {len(missing)} scores have no value, the "
            "sequence probability and semantic entropy among them."
        )
    return lines


# The selective protocol's numbers: every score against every answer metric, with intervals.
#
# A slice reads ``form:short;against:rules;score:perplexity``. The leaderboard is in
# ``selective_board.py``, the length audit, false negatives by length and rank flips are in
# ``selective_length.py``; the formulas are in ``sayso.metrics``.


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol, in the order of the report."""
    judge = judge_of(run)
    found: list[Estimate] = []
    for rows in load_rows(run, settings, judge).values():
        parts = (
            counts(rows, settings), abstentions(rows, settings), board(rows, settings),
            length_shares(rows), curves(rows, settings),
            audits(rows, settings), by_length(rows, settings), refusals_by_length(rows, settings),
            flips(rows, settings, CORE), agreements(rows, settings), diagnostics(rows, settings),
        )  # fmt: skip
        found += [signed(run, settings, rows.form, e) for part in parts for e in part]
    if settings.draws.k:
        found.append(signed(run, settings, "short", draws_alike(run)))
    return found


def draws_alike(run: Run) -> Estimate:
    """Return the share of questions whose draws are all equal; all of them is a problem."""
    drawn, alike = count_draws(run.generations("draws"))
    repeat = drawn >= LEAST and alike == drawn
    return Estimate(
        "draws_alike",
        value=alike / drawn if drawn else None,
        numerator=alike,
        denominator=drawn,
        n=drawn,
        problem=ALIKE if repeat else None if drawn else "no question was drawn twice",
    )


def judge_of(run: Run) -> str:
    """Return the name of the answer metric that the run's judge is."""
    name = part_of(run.signature(), "judge", "rules")
    return "rules" if re.fullmatch(r"rules(@\w+)?", name) else name


def signed(run: Run, settings: Settings, form: str, estimate: Estimate) -> Estimate:
    """Return the estimate with its form and every setting that made it."""
    s = settings
    signature = run.signature(
        form=form,
        draws=f"{s.draws.k}@T{s.draws.temperature:g}",
        answer=decoding(s, form).signed,
        nli=s.nli,
        scores=s.scores,
        words=str(s.words and s.prompts == "shared"),
        known="p_ik>0.5"
        if s.known_by == "probe"
        else f"any-of-{min(s.known_k, s.draws.k)}@T{s.draws.temperature:g}",
        p_ik=probing(s),
        **({"p_true": f"{s.p_true.examples}-examples"} if s.p_true.examples else {}),
        abstained=s.abstained,
        cuts=f"rouge>{s.rouge_threshold:g},f1>={s.f1_threshold:g}",
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
    )
    return msgspec.structs.replace(
        estimate,
        where=slice_of(form=form) + estimate.where,
        signature=signature_of(estimate.name, signature),
    )


def counts(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield accuracy by each answer metric, what could not be scored, and what has no score."""
    for by, wrong in rows.wrong.items():
        held = ~np.isnan(wrong)
        name = "share_unknown" if by == UNKNOWN_TARGET else "error_rate"
        found = bootstrap_share(
            name, wrong > 0, held, rows.entity, settings.resamples, settings.ci_seed
        )
        unread = rows.unread if by == rows.judge else 0
        total, bad = held.sum() + unread, float((wrong > 0).sum())
        yield msgspec.structs.replace(
            found,
            where=slice_of(against=by),
            missing=int((~held).sum()),
            bound_low=bad / total if unread else None,
            bound_high=(bad + unread) / total if unread else None,
            problem=found.problem if held.any() else nothing_held(rows, by, settings),
        )
    yield Estimate("facts", value=float(rows.size), n=rows.size, missing=rows.unread)
    if rows.form == "long":
        told = "left out of the paragraph, or its value could not be placed"
        yield Estimate("unplaced", value=float(rows.unplaced), n=rows.size, problem=told)
    for method, reason in rows.reasons.items():
        yield Estimate("auroc", slice_of(against=rows.judge, score=method), problem=reason)


def nothing_held(rows: Rows, by: str, settings: Settings) -> str:
    """Return why no answer is right or wrong by an answer metric."""
    if by == UNKNOWN_TARGET and settings.known_by == "probe":
        return rows.reasons.get(P_IK, "no short answer of these facts has a P(IK)")
    return "no answer has a verdict"
