"""The selective protocol's numbers: every score against every answer metric, with intervals.

A slice reads ``form:short;against:rules;score:perplexity``. The formulas are in
:mod:`sayso.metrics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.abstention import (
    abstention_gap,
    abstention_gap_within,
    bootstrap_abstention,
    confidence_target_utility,
)
from sayso.metrics.agreement import against_others, agreement_matrix
from sayso.metrics.arrays import Floats, as_result, divide, weight_rows
from sayso.metrics.compare_scores import (
    ScoreDifference,
    cross_fitted_best,
    paired_differences,
    rank_flips,
)
from sayso.metrics.intervals import Statistic, bootstrap, bootstrap_share
from sayso.metrics.length_audit import false_negatives, length_audit, length_inflation
from sayso.metrics.ranking import (
    FEWEST,
    TOO_FEW,
    aurac,
    bootstrap_auroc,
    bootstrap_prr,
    pairs_of,
    risk_coverage,
    spearman,
    too_few,
)
from sayso.protocols.probes import count_draws, why_alike
from sayso.protocols.protocol import Run
from sayso.protocols.selective.passages import OTHER_PASSAGE, WITHOUT_PASSAGE
from sayso.protocols.selective.rows import (
    FATES,
    HALF,
    WORDS,
    FormRows,
    fates_of,
    load_rows,
    strata_of,
    types_of,
)
from sayso.protocols.selective.settings import (
    BERT,
    UNKNOWN_TARGET,
    Settings,
    decoding,
    further_metrics,
    names_between_commas,
    probe_signature,
)
from sayso.records import Estimate, Slice, part_of, signature_of, slice_of, tier_order
from sayso.scores.p_ik import P_IK, fold_ranks
from sayso.scores.text_only import TEXT_ONLY

LENGTH = "length_words"
#: what scores are read against: never the best score
REFERENCES = (LENGTH, TEXT_ONLY, WORDS)
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
FEW_PAIRS = f"too few right or wrong answers can be paired within a type: {TOO_FEW}"


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol, in the order of the report."""
    judge = judge_of(run)
    numbers: list[Estimate] = []
    for rows in load_rows(run, settings, judge).values():
        parts = (
            accuracy_counts(rows, settings), fate_counts(rows), abstentions(rows, settings),
            by_tier(rows, settings), leaderboard_estimates(rows, settings),
            best_of(rows, settings), risk_curves(rows, settings), audits(rows, settings),
            refusal_estimates(rows, settings), flips(rows, settings, CORE),
            agreements(rows, settings), diagnostics(rows, settings),
        )  # fmt: skip
        numbers += [signed_form(run, settings, rows.form, e) for part in parts for e in part]
    if settings.draws.k:
        share = count_draws(run.generations("draws")).share
        numbers.append(signed_form(run, settings, "short", share))
    return numbers


def judge_of(run: Run) -> str:
    """Return the name of the answer metric that the run's judge is."""
    name = part_of(run.signature(), "judge", "rules")
    return "rules" if re.fullmatch(r"rules(@\w+)?", name) else name


def signed_form(run: Run, settings: Settings, form: str, estimate: Estimate) -> Estimate:
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
        p_ik=probe_signature(s),
        **({"p_true": f"{s.p_true.examples}-examples"} if s.p_true.examples else {}),
        **({"asked": asked_more(s)} if asked_more(s) else {}),
        **({"context": s.context} if s.context != "given" else {}),
        abstained=s.abstained,
        cuts=cuts_of(s),
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
    )
    return msgspec.structs.replace(
        estimate,
        where=slice_of(form=form) + estimate.where,
        signature=signature_of(estimate.name, signature),
    )


def asked_more(settings: Settings) -> str:
    """Return what is asked about answers besides grading them, as signatures have it."""
    metrics = [f"metric:{name}" for name in further_metrics(settings)]
    panel = [f"panel:{name}" for name in names_between_commas(settings.panel)]
    return ",".join([*metrics, *(["confidence"] if settings.elicit else []), *panel])


def cuts_of(settings: Settings) -> str:
    """Return the limits from which on an answer is right, as signatures have them."""
    cuts = f"rouge>{settings.rouge_threshold:g},f1>={settings.f1_threshold:g}"
    bert = any(name.startswith(BERT) for name in further_metrics(settings))
    return f"{cuts},bert>{settings.bert_threshold:g}" if bert else cuts


#: parts of the problem of a score that lacks log-probabilities
NO_LOGPROBS = ("token prob", "token by token")


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what has no value in a run without log-probabilities or whose draws never differ.

    ``draws_vary`` is what the engine saw for itself; ``None`` where it does not know.
    """
    rows = list(estimates)
    lines = []
    alike = why_alike(rows, draws_vary)
    if alike:
        lines.append(
            f"The draws never vary: {alike}. Scores that compare draws mean nothing here, and "
            "neither does the share of facts known by any of several draws."
        )
    missing = {
        part_of(e.where, "score")
        for e in rows
        if e.name == "auroc" and any(part in (e.problem or "") for part in NO_LOGPROBS)
    }
    if missing:
        lines.append(
            f"There are no log-probabilities, so {len(missing)} scores have no value, including "
            "sequence probability and semantic entropy."
        )
    return lines


# ---- errors, the leaderboard, risk against coverage


def accuracy_counts(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield accuracy by each answer metric, what could not be scored, and what has no score."""
    for by, wrong in rows.wrong.items():
        held = ~np.isnan(wrong)
        name = "share_unknown" if by == UNKNOWN_TARGET else "error_rate"
        rate = _share(rows, settings, name, wrong > 0, held)
        unread = rows.unread if by == rows.judge and held.any() else 0
        total, bad = int(held.sum()) + unread, int((wrong > 0).sum())
        yield msgspec.structs.replace(
            rate,
            where=slice_of(against=by),
            missing=int((~held).sum()),
            bound_low=bad / total if unread else None,
            bound_high=(bad + unread) / total if unread else None,
            problem=rate.problem if held.any() else _why_no_verdict(rows, by, settings),
        )
    yield Estimate("facts", value=float(rows.size), n=rows.size, missing=rows.unread)
    if rows.form == "long":
        problem = "left out of the paragraph, or its value could not be placed"
        yield Estimate("unplaced", value=float(rows.unplaced), n=rows.size, problem=problem)
    for method, reason in rows.reasons.items():
        yield Estimate("auroc", slice_of(against=rows.judge, score=method), problem=reason)


#: the questions that answers are counted of
ASKED = ("answerable", "unanswerable")


def fate_counts(rows: FormRows) -> Iterator[Estimate]:
    """Yield how many answers did what, of answerable and of unanswerable questions."""
    if rows.stance is None or rows.outcome is None or rows.unanswerable is None:
        return
    fates = fates_of(rows)
    for asked, among in zip(ASKED, (~rows.unanswerable, rows.unanswerable), strict=True):
        for did in FATES if among.any() else ():
            where = slice_of(against=rows.judge, asked=asked, did=did)
            count = float((fates[among] == did).sum())
            yield Estimate("answer_count", where, count, n=int(among.sum()))


def _share(
    rows: FormRows, settings: Settings, name: str, hits: NDArray[np.bool_], held: NDArray[np.bool_]
) -> Estimate:
    s = settings
    return bootstrap_share(name, hits, held, rows.entity, s.resamples, s.ci_seed)


def by_tier(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield of each tier's answerable questions the errors, and how often the model abstains."""
    if rows.tier is None or rows.unanswerable is None:
        return
    wrong = rows.wrong.get(rows.judge)
    for tier in sorted(filter(None, set(rows.tier.tolist())), key=tier_order):
        among = (rows.tier == tier) & ~rows.unanswerable
        for name, column in (("error_rate", wrong), ("abstains_answerable", rows.withheld)):
            if column is None or not among.any():
                continue
            read = ~np.isnan(column)
            share = _share(rows, settings, name, column > 0, read & among)
            where = slice_of(against=rows.judge, tier=tier)
            yield msgspec.structs.replace(share, where=where, missing=int((among & ~read).sum()))


def _why_no_verdict(rows: FormRows, by: str, settings: Settings) -> str:
    """Return why no answer is right or wrong by an answer metric."""
    if by == UNKNOWN_TARGET and settings.known_by == "probe":
        return rows.reasons.get(P_IK, "no short answer of these facts has a P(IK)")
    if not has_graded(rows):
        return NO_GOLDS
    return "no answer has a verdict"


def metrics_of(rows: FormRows) -> list[str]:
    """Return the answer metrics, the run's judge first: the best truth there is."""
    return [by for by in rows.wrong if by != UNKNOWN_TARGET]


def leaderboard_estimates(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the leaderboard: all scores against the judge and *unknown*, the core against all."""
    types = types_of(rows)
    for by, wrong in rows.wrong.items():
        whole = by in (rows.judge, UNKNOWN_TARGET)
        for name in rows.scores:
            if not whole and name not in (*CORE, P_IK, TEXT_ONLY):
                continue
            where = slice_of(against=by, score=name)
            if by == UNKNOWN_TARGET and settings.known_by == "probe" and name == P_IK:
                yield Estimate("auroc", where, problem=CIRCULAR)
                continue
            yield from _ranked(rows, settings, name, wrong, types, where, full=by == rows.judge)


def _ranked(
    rows: FormRows,
    settings: Settings,
    method: str,
    wrong: Floats,
    types: Any,
    where: Slice,
    *,
    full: bool,
) -> Iterator[Estimate]:
    score, fold = ranked_values(rows, method), rows.folds.get(method)
    use = ~(np.isnan(score) | np.isnan(wrong))
    u, y, missing = score[use], wrong[use], int((~use).sum())
    resampling: dict[str, Any] = {
        "clusters": rows.entity[use],
        "n": settings.resamples,
        "seed": settings.ci_seed,
    }
    few = too_few(int(y.sum()), int((1 - y).sum()))
    strata = strata_of(rows, method, types)
    kinds: list[tuple[str, Any]] = [("auroc", fold)]
    if types is not None and strata is not None:
        kinds.append(("auroc_within", strata))
    for name, groups in kinds:
        held = None if groups is None else groups[use]
        area = bootstrap_auroc(u, y, held, name=name, **resampling)
        why = few or (None if in_pairs(y, held) else FEW_PAIRS) or area.problem
        yield msgspec.structs.replace(area, where=where, missing=missing, problem=why)
    if full:
        rejection = bootstrap_prr(u, y, **resampling)
        why = few or rejection.problem
        yield msgspec.structs.replace(rejection, where=where, missing=missing, problem=why)
        accuracy = _plain(aurac(u, y))
        yield Estimate("aurac", where, accuracy, n=len(u), missing=missing, problem=few)
        length = _plain(spearman(u, rows.words[use])) if len(u) else None
        yield Estimate("length_correlation", where, length, n=len(u), missing=missing)


def ranked_values(rows: FormRows, method: str) -> Floats:
    """Return a score as it is ranked: that of a learned one by its rank within its fold."""
    fold = rows.folds.get(method)
    return rows.scores[method] if fold is None else fold_ranks(rows.scores[method], fold)


def in_pairs(wrong: Floats, strata: Any) -> bool:
    """Tell whether enough answers of each kind stand in a pair within strata."""
    pairs = pairs_of(wrong, strata)
    return min(pairs.wrong, pairs.right) >= FEWEST


def best_of(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the AUROC of the best score, chosen on other entities than it is measured on.

    Within type where the leaderboard is; what scores are read against stands outside.
    """
    wrong = rows.wrong[rows.judge]
    for types in (types_of(rows), None):
        strata = {n: strata_of(rows, n, types) for n in rows.scores if n not in REFERENCES}
        scores = {name: ranked_values(rows, name) for name in strata}
        held = {
            name: score
            for name, score in scores.items()
            if in_pairs(np.where(np.isnan(score), np.nan, wrong), strata[name])
        }
        if len(held) > 1:
            best = cross_fitted_best(
                held,
                wrong,
                {name: groups for name, groups in strata.items() if groups is not None},
                clusters=rows.entity,
                n=settings.resamples,
                seed=settings.ci_seed,
            )
            missing = int(np.isnan(wrong).sum())
            yield msgspec.structs.replace(best, where=slice_of(against=rows.judge), missing=missing)
            return


def _plain(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def risk_curves(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
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
            n, wrong_given = int(use.sum()), float(risk) * int(use.sum())
            yield Estimate(
                "risk", where, float(risk / coverage), numerator=wrong_given,
                denominator=coverage * n, n=n,
            )  # fmt: skip
    if WORDS in rows.scores:
        hedged = rows.scores[WORDS]
        use = ~(np.isnan(hedged) | np.isnan(wrong))
        given = use & (hedged == 0)
        where = slice_of(against=rows.judge, score=WORDS)
        unread = np.zeros(rows.size, dtype=bool)
        for column in (rows.told, rows.outcome):
            unread |= False if column is None else np.isnan(column)
        missing = int((unread if rows.ungraded is None else unread & ~rows.ungraded).sum())
        for name, hits, held in (
            ("coverage_of_words", given, use),
            ("risk_of_words", wrong > 0, given),
        ):
            share = _share(rows, settings, name, hits, held)
            problem = share.problem if held.any() else "it hedged every answer"
            yield msgspec.structs.replace(share, where=where, problem=problem, missing=missing)


# ---- the length trap: audits of scores, false negatives by length, rankings that flip

#: scores whose audit is printed, if the run has them
AUDITED = ("sequence_probability", "semantic_entropy", "perplexity")


def audits(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the length audit of the main scores against ROUGE-L, with the judge as better truth."""
    for name in AUDITED:
        if name not in rows.scores:
            continue
        both = rows.scores[name] + rows.wrong["rouge_l"] + rows.wrong[rows.judge] + rows.words
        truths = (rows.wrong[by][~np.isnan(both)] for by in ("rouge_l", rows.judge))
        if not all(in_pairs(wrong, None) for wrong in truths):
            continue
        audit = length_audit(
            rows.scores[name],
            rows.wrong["rouge_l"],
            rows.words,
            rows.wrong[rows.judge],
            clusters=rows.entity,
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        where = slice_of(against="rouge_l", score=name)
        for field, estimate in audit.numbers().items():
            if estimate is not None:
                yield msgspec.structs.replace(estimate, name=f"audit_{field}", where=where)


def refusal_estimates(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the share of right answers that each metric refuses, by fifths of length.

    Right is what the run's judge calls right; of the judge itself nothing better is known here.
    """
    wrong = rows.wrong[rows.judge]
    right = wrong == 0
    held = right & ~np.isnan(rows.words)
    share = float(right.sum() / (~np.isnan(wrong)).sum()) if (~np.isnan(wrong)).any() else None
    for by in metrics_of(rows):
        if by == rows.judge or not held.any():
            continue
        refused = rows.wrong[by][held]
        refusals = false_negatives(
            refused,
            rows.words[held],
            clusters=rows.entity[held],
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        where = slice_of(against=by)
        yield msgspec.structs.replace(refusals.overall, where=where)
        yield msgspec.structs.replace(refusals.slope, where=where)
        for place, part in enumerate(refusals.bins, start=1):
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


def flips(rows: FormRows, settings: Settings, core: Sequence[str]) -> Iterator[Estimate]:
    """Yield how many pairs of scores two metrics rank differently.

    The numerator counts those with both differences clear of chance (Holm-corrected over each
    metric's table, p < .05).
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
    if len(differences) < 2:
        problem = "needs two scores, and two answer metrics with right and wrong answers"
        yield Estimate("rank_flips", n=0, problem=problem)
        return
    flipped = rank_flips(differences)
    clear = sum(flip.clear for flip in flipped)
    yield Estimate(
        "rank_flips",
        value=float(len(flipped)),
        numerator=float(clear),
        denominator=float(len(flipped)),
        n=len(names) * (len(names) - 1) // 2,
    )


# ---- agreement of the answer metrics: every two of them, and each against the others' majority
# No person sees the answers of a run, so its judge stands first among the metrics; metrics that
# compare words share their mistakes, and a majority of them is no truth. With verdicts of people
# ``sayso score`` has the same numbers with the people in them.


def agreements(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the agreement and kappa of every two metrics, then each against the others."""
    right = {by: 1 - rows.wrong[by] for by in metrics_of(rows)}
    clusters, n, seed = rows.entity, settings.resamples, settings.ci_seed
    for pair in agreement_matrix(right, clusters, n, seed):
        where = slice_of(against=pair.first, metric=pair.second)
        yield msgspec.structs.replace(pair.same, name="metric_agreement", where=where)
        yield Estimate("metric_kappa", where, pair.kappa, n=pair.same.n)
    for by, share in against_others(right, (), clusters, n, seed).items():
        yield msgspec.structs.replace(
            share, name="metric_against_others", where=slice_of(against=by)
        )


# ---- diagnostics of P(IK)


def diagnostics(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield how many folds converged, and how far P(IK) and the draws agree on what is known."""
    where = slice_of(layer=str(settings.p_ik.layer), position=settings.p_ik.position)
    for name, (converged, folds) in rows.converged.items():
        failed = folds - converged
        yield Estimate(
            "probe_converged",
            where + slice_of(score=name),
            converged / folds,
            numerator=converged,
            denominator=folds,
            n=folds,
            problem=f"{failed} of {folds} fits did not converge" if failed else None,
        )
    if P_IK in rows.scores and rows.drawn_unknown is not None:
        p = rows.scores[P_IK]
        held = ~(np.isnan(p) | np.isnan(rows.drawn_unknown))
        same = (p > HALF) == (rows.drawn_unknown > 0)
        share = _share(rows, settings, "known_agreement", same, held)
        yield msgspec.structs.replace(share, where=where + slice_of(score=P_IK))


# ---- abstention: on questions that nobody can answer, and on those that can be answered
#
#     abstains_unanswerable = answers that withhold a value / questions without an answer
#     abstains_answerable   = the same over the others: silence where there was an answer
#     abstention_gap        = the first minus the second; ... within type of question
#     right_minus_wrong     = (right - wrong) / all
#
# Only for data that says which questions are which (``Question.answerable``), and only by the run's
# judge: abstaining, refusing and asking back withhold, a hedged value does not. An answer that
# states a value where there is none is wrong. An empty answer and one that speaks of something else
# are no abstention; a missing verdict is left out and counted.
#
# Where passages are given and the answerable questions were asked once more without theirs, the two
# are twins: ``passage_gap`` = abstains_without_passage - abstains_with_passage, over the questions
# that were asked both ways. What the model knows by heart it answers without the passage too, which
# lowers this gap and is no fault (``by_heart``). Such questions stay in: to drop those that came
# out right would leave a blind model with more abstentions than it has, and with a gap above 0.
#
# ``other_passage_gap`` is the same with another question's passage, which does not say the answer:
# the share withheld with it - abstains_with_passage. What is answered all the same
# (``answers_other_passage``) is right from memory (``right_other_passage``), or a wrong value that
# the passage contains (``misled_by_passage``), or a wrong value from nowhere (the rest).

ABSTENTIONS = ("abstains_unanswerable", "abstains_answerable")
#: what is counted of the answers of a model that was told to express uncertainty
TOLD = slice_of(method="instructed")
NO_GOLDS = (
    "answerable questions have no gold answers, so right and wrong answers cannot be told apart"
)


def abstentions(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield shares, their gap, right minus wrong; nothing where all can be answered."""
    if rows.withheld is not None and rows.unanswerable is not None and rows.unanswerable.any():
        yield from _abstained_shares(rows, settings, rows.withheld, rows.unanswerable)
        yield from _abstention_gaps(rows, settings, rows.withheld, rows.unanswerable)
        if rows.told is not None:
            yield from _abstained_shares(rows, settings, rows.told, rows.unanswerable, TOLD)
            where, none = slice_of(against=rows.judge) + TOLD, rows.unanswerable
            yield _abstention_gap(rows, settings, none, "abstention_gap", rows.told, where)
        yield from worth_of_answers(rows, settings)
    yield from passage_twins(rows, settings)


def _abstained_shares(
    rows: FormRows,
    settings: Settings,
    withheld: Floats,
    unanswerable: NDArray[np.bool_],
    asked: Slice = (),
) -> Iterator[Estimate]:
    read = ~np.isnan(withheld)
    for name, among in zip(ABSTENTIONS, (unanswerable, ~unanswerable), strict=True):
        share = _share(rows, settings, name, withheld > 0, read & among)
        missing = int((among & ~read).sum())
        if missing and share.numerator is not None:
            total = float(among.sum())
            low, high = share.numerator / total, (share.numerator + missing) / total
            share = msgspec.structs.replace(share, bound_low=low, bound_high=high)
        where = slice_of(against=rows.judge) + asked
        yield msgspec.structs.replace(share, where=where, missing=missing)


def _abstention_gaps(
    rows: FormRows, settings: Settings, withheld: Floats, unanswerable: NDArray[np.bool_]
) -> Iterator[Estimate]:
    where, types = slice_of(against=rows.judge), types_of(rows)
    gap = partial(_abstention_gap, rows, settings, unanswerable)
    yield gap("abstention_gap", withheld, where)
    if types is not None:
        yield gap("abstention_gap_within", withheld, where, types)


def _abstention_gap(
    rows: FormRows,
    settings: Settings,
    unanswerable: NDArray[np.bool_],
    name: str,
    abstained: Floats,
    where: Slice,
    kinds: Any = None,
) -> Estimate:
    resampling: dict[str, Any] = {"n": settings.resamples, "seed": settings.ci_seed}
    found = bootstrap_abstention(abstained, unanswerable, rows.entity, kinds, **resampling)
    problem = found.problem if found.value is not None else _one_kind(name)
    return msgspec.structs.replace(found, name=name, where=where, problem=problem)


def _one_kind(name: str) -> str:
    if name.endswith("within"):
        return "it needs a type of question with answerable and unanswerable questions"
    return "it needs verdicts on answerable and on unanswerable questions"


#: the confidence target at which a wrong answer costs as much as a right one is worth
EVEN = 0.5


def worth_of_answers(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield the share of right answers minus that of wrong ones."""
    outcome, name, where = rows.outcome, "right_minus_wrong", slice_of(against=rows.judge)
    if outcome is None:
        return
    if not has_graded(rows):
        yield Estimate(name, where, problem=NO_GOLDS)
        return
    read = ~np.isnan(outcome)
    worth = bootstrap(
        confidence_target_utility, outcome[read], target=EVEN, clusters=rows.entity[read],
        n=settings.resamples, seed=settings.ci_seed, limits=(-1.0, 1.0), name=name,
    )  # fmt: skip
    yield msgspec.structs.replace(worth, where=where, missing=int((~read).sum()))


def has_graded(rows: FormRows) -> bool:
    """Tell whether right and wrong can be told of some question that can be answered."""
    if rows.ungraded is None or rows.unanswerable is None:
        return True
    return bool((~rows.ungraded & ~rows.unanswerable).any()) or not rows.ungraded.any()


def share_of_ones(values: Floats, weights: Any = None) -> Any:
    """Return the share of 1 among values (n,), by rows of weights where they are given."""
    W, single = weight_rows(weights, len(values))
    return as_result(divide(W @ values, W.sum(axis=1)), single)


def abstention_columns(rows: FormRows) -> Iterator[tuple[str, Slice, Statistic, tuple[Any, ...]]]:
    """Yield name, slice, metric and columns of the numbers that runs are compared by.

    The first column is NaN where an answer does not count.
    """
    held, none, where = rows.withheld, rows.unanswerable, slice_of(against=rows.judge)
    if held is not None and none is not None and none.any():
        yield "abstention_gap", where, abstention_gap, (held, none)
        for name, among in zip(ABSTENTIONS, (none, ~none), strict=True):
            yield name, where, share_of_ones, (np.where(among, held, np.nan),)
        if (types := types_of(rows)) is not None:
            yield "abstention_gap_within", where, abstention_gap_within, (held, none, types)
        if rows.told is not None:
            yield "abstention_gap", where + TOLD, abstention_gap, (rows.told, none)
            for name, among in zip(ABSTENTIONS, (none, ~none), strict=True):
                yield name, where + TOLD, share_of_ones, (np.where(among, rows.told, np.nan),)
        if rows.outcome is not None and has_graded(rows):
            worth = partial(confidence_target_utility, target=EVEN)
            yield "right_minus_wrong", where, worth, (rows.outcome,)
    for name, column, _ in passage_shares(rows):
        yield name, where, share_of_ones, (column,)


def passage_twins(rows: FormRows, settings: Settings) -> Iterator[Estimate]:
    """Yield how often the model abstains with the passage, without it and with another one."""
    where = slice_of(against=rows.judge)
    for name, column, stage in passage_shares(rows):
        share = _share(rows, settings, name, column > 0, ~np.isnan(column))
        missing = rows.again[stage].asked & np.isnan(column)
        yield msgspec.structs.replace(share, where=where, missing=int(missing.sum()))
    for name, (abstained, changed, entity) in passage_gaps(rows):
        gap = bootstrap_abstention(
            abstained, changed, entity, n=settings.resamples, seed=settings.ci_seed
        )
        yield msgspec.structs.replace(gap, name=name, where=where)


def passage_shares(rows: FormRows) -> Iterator[tuple[str, Floats, str]]:
    """Yield name, column and stage of each share; the column is NaN where a row does not count."""
    for stage, again in rows.again.items():
        if rows.withheld is None:
            continue
        twins = np.where(both_read(rows, stage), 1.0, np.nan)
        read = np.where(np.isnan(again.outcome), np.nan, 1.0)
        if stage == WITHOUT_PASSAGE:
            yield "abstains_without_passage", again.withheld * twins, stage
            yield "abstains_with_passage", rows.withheld * twins, stage
            yield "by_heart", np.where(again.outcome > 0, read, 0.0 * read), stage
        else:
            misled = (again.outcome < 0) & (again.found > 0)
            yield "answers_other_passage", (1 - again.withheld) * twins, stage
            yield "right_other_passage", np.where(again.outcome > 0, read, 0.0 * read), stage
            yield "misled_by_passage", np.where(misled, read, 0.0 * read), stage


def both_read(rows: FormRows, stage: str) -> NDArray[np.bool_]:
    """Tell of which rows both the answer with the passage and the one of a stage were read."""
    assert rows.withheld is not None
    return ~np.isnan(rows.again[stage].withheld) & ~np.isnan(rows.withheld)


PassageColumns = tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]


def passage_gaps(rows: FormRows) -> Iterator[tuple[str, PassageColumns]]:
    """Yield name and columns (abstained, passage changed?, row) of each gap."""
    names = {WITHOUT_PASSAGE: "passage_gap", OTHER_PASSAGE: "other_passage_gap"}
    for stage, again in rows.again.items():
        if rows.withheld is None:
            continue
        held = np.flatnonzero(both_read(rows, stage))
        changed = np.arange(2 * len(held)) < len(held)
        entity = np.tile(rows.entity[held], 2)
        plain = np.concatenate([again.withheld[held], rows.withheld[held]])
        yield names[stage], (plain, changed, entity)
