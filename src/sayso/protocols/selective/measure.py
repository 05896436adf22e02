"""The selective protocol's numbers: every score against every answer metric, with intervals.

A slice reads ``form:short;against:rules;score:perplexity``. The formulas are in
:mod:`sayso.metrics`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.abstention import abstention_cells, confidence_target_utility
from sayso.metrics.arrays import Floats, or_none
from sayso.metrics.compare_scores import cross_fitted_best
from sayso.metrics.intervals import bootstrap
from sayso.metrics.length_audit import length_audit, length_bins
from sayso.metrics.ranking import (
    FEWEST,
    TOO_FEW,
    aurac,
    auroc,
    bootstrap_auroc,
    bootstrap_prr,
    pairs_of,
    prr,
    risk_coverage,
    too_few,
    within_auroc,
)
from sayso.metrics.uncle_known import bootstrap_cells, bootstrap_within
from sayso.metrics.uncle_rates import cell_rates
from sayso.metrics.within_type import within_rates
from sayso.protocols.declared import (
    RUN,
    Counted,
    Declared,
    Rows,
    Sums,
    Use,
    Weighted,
    estimates_of,
    ones,
    share_of_rows,
)
from sayso.protocols.endpoint_values import endpoint_values
from sayso.protocols.passages import OTHER_PASSAGE, WITHOUT_PASSAGE
from sayso.protocols.pool import cluster_names
from sayso.protocols.probes import count_draws, draws_by_question, why_alike
from sayso.protocols.protocol import Beside, ComparedRun, Run, rows_if_any, stored_answers
from sayso.protocols.selective.numbers import NUMBERS
from sayso.protocols.selective.rows import (
    FATES,
    OTHER_DATA,
    PARTLY,
    WORDS,
    FormRows,
    fates_of,
    load_rows,
    rows_as_read,
    strata_of,
    types_of,
)
from sayso.protocols.selective.settings import (
    BERT,
    Settings,
    decoding,
    further_metrics,
    names_between_commas,
    probe_signature,
)
from sayso.protocols.thoughts import doubt_shares
from sayso.records import (
    ENDPOINT,
    Estimate,
    Generation,
    Signature,
    Slice,
    part_of,
    signature_of,
    slice_of,
    tier_order,
)
from sayso.scores.p_ik import P_IK, cross_fit_splits, fold_ranks
from sayso.scores.text_only import TEXT_ONLY

Bools = NDArray[np.bool_]

LENGTH = "length_words"
#: what scores are read against: never the best score
REFERENCES = (LENGTH, TEXT_ONLY, WORDS)
#: scores that are drawn as curves
CURVES = ("semantic_entropy", "sequence_probability", "discrete_semantic_entropy", LENGTH)
#: scores with every number, and against every answer metric; labels of people correct their AUROC
MAIN = (
    LENGTH, "sequence_probability", "perplexity", "mean_token_entropy", "naive_entropy",
    "semantic_entropy", "discrete_semantic_entropy", "num_sets", "mc_mean_token_entropy",
    "lexical_similarity", "exact_match_rate", "p_true", WORDS, P_IK, TEXT_ONLY,
)  # fmt: skip
#: metrics of words that are no figure of the paper: no score is ranked by them
COARSE = ("exact_match", "contains")
#: shares answered at which a curve is stored
COVERAGES = tuple(i / 10 for i in range(1, 11))
FEW_PAIRS = f"too few right or wrong answers can be paired within a type: {TOO_FEW}"
PAIR: frozenset[Use] = frozenset({"pair"})
STUDY: frozenset[Use] = frozenset({"study"})
PEOPLE: frozenset[Use] = frozenset({"people"})


def numbers(
    run: Run, settings: Settings, people: Run | None = None, beside: Beside | None = None
) -> list[Declared]:
    """Return the numbers of a run, declared: of it alone, as people read it, or beside others.

    Scores that are learned stay as they were learned from the judge's verdicts. Beside runs on
    other data sets there is a P(IK) that was learned on those.
    """
    forms = _rows_of(run, settings)
    if people is not None:
        answers = (_as_read(run, settings, rows, people) for rows in forms.values())
        found = (d for own in answers for part in (errors, declined, ranked) for d in part(own))
        return [d for d in found if "people" in d.uses]
    answers = (ScoredAnswers(run, settings, rows) for rows in forms.values())
    if beside is None:
        return [d for own in answers for d in _of_form(own)]
    return [d for own in answers for d in _beside_others(own, beside)]


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return the estimate of every number of a run, then what is no statistic of answers."""
    found: list[Estimate] = []
    for rows in load_rows(run, settings, judge_of(run)).values():
        own = ScoredAnswers(run, settings, rows)
        found += estimates_of(_of_form(own), settings.resamples, settings.ci_seed)
        others = counts, unranked, best_of, risk_curves, audits
        found += [signed_form(run, settings, own.rows.form, e) for p in others for e in p(own)]
    if settings.draws.k:
        share = count_draws(run.folder.read("generations/draws", Generation)).share
        found.append(signed_form(run, settings, "short", share))
    return found


def _rows_of(run: Run, settings: Settings) -> dict[str, FormRows]:
    """Return the rows of each form of a finished run, joined once."""
    key = "selective", settings
    return run.once(key, lambda: load_rows(run, settings, judge_of(run)))


def _of_form(own: ScoredAnswers) -> list[Declared]:
    """Return all numbers that a form of a run has by itself."""
    parts = (
        errors,
        by_tier,
        declined,
        passages,
        ranked,
        hedged,
        doubts_of_thoughts,
        rejected,
        agreements,
    )
    return [d for part in parts for d in part(own)]


def _beside_others(own: ScoredAnswers, beside: Beside) -> list[Declared]:
    """Return the numbers of a form that runs share."""
    form = own.rows.form
    others = [_rows_of(one.run, one.settings).get(form) for one in beside.models]
    typed = all(types_of(rows) is not None for rows in others if rows is not None)
    shared = (d for part in (errors, declined, passages, ranked) for d in part(own))
    return [*shared, *_compared(own, typed=typed), *_learned_elsewhere(own, beside.data)]


def judge_of(run: Run) -> str:
    """Return the name of the answer metric that the run's judge is."""
    name = part_of(run.signature(), "judge", "rules")
    return "rules" if re.fullmatch(r"rules(@\w+)?", name) else name


def signed_form(run: Run, settings: Settings, form: str, estimate: Estimate) -> Estimate:
    """Return the estimate with its form and every setting that made it."""
    return msgspec.structs.replace(
        estimate,
        where=slice_of(form=form) + estimate.where,
        signature=signature_of(estimate.name, _signature(run, settings, form)),
    )


def _signature(run: Run, settings: Settings, form: str) -> Signature:
    """Return every setting that made the numbers of a form."""
    s = settings
    given = run.once(("endpoint", form), partial(_of_endpoint, run, form))
    kind = run.once("endpoint values", partial(_kind_of_values, run)) if given else ""
    return run.signature(
        form=form,
        draws=f"{s.draws.k}@T{s.draws.temperature:g}",
        answer=decoding(s, form).signed,
        nli=s.nli,
        scores=s.scores,
        words=str(s.words and s.prompts == "shared"),
        known=f"any-of-{min(s.known_k, s.draws.k)}@T{s.draws.temperature:g}",
        p_ik=probe_signature(s),
        **({"p_true": f"{s.p_true.examples}-examples"} if s.p_true.examples else {}),
        **({"asked": asked_more(s)} if asked_more(s) else {}),
        **({"context": s.context} if s.context != "given" else {}),
        **({"logprobs": ENDPOINT} if given else {}),
        **({"tempered": "answers"} if kind == "processed" else {}),
        abstained=s.abstained,
        cuts=cuts_of(s),
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
    )


class _LogprobKind(msgspec.Struct, frozen=True):
    """An answer, by the kind of its log-probabilities alone."""

    id: str
    logprob_kind: str | None = None


def _of_endpoint(run: Run, form: str) -> bool:
    """Tell whether an endpoint gave the log-probabilities of a form's answers."""
    answers = rows_if_any(run, f"generations/{form}", _LogprobKind)
    return any(one.logprob_kind == ENDPOINT for one in answers)


def _kind_of_values(run: Run) -> str:
    draws = draws_by_question(stored_answers(run, "draws"))
    return endpoint_values(stored_answers(run, "short"), draws).kind


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
    if "sequence_probability" in missing:
        given = any(("logprobs", ENDPOINT) in e.signature for e in rows)
        why = (
            "The log-probabilities may not be the model's own"
            if given
            else ("There are no log-probabilities")
        )
        lines.append(
            f"{why}, so {len(missing)} scores have no value, including sequence probability and "
            "semantic entropy."
        )
    elif missing:
        lines.append(
            f"{len(missing)} scores have no value, because no server reads given text or tells the "
            f"chances of all tokens ({', '.join(sorted(missing))}): hf:NAME or gguf:FILE does."
        )
    return lines


# ---- the answers of a form, and what is declared of them


class ScoredAnswers:
    """The scored facts of a form as rows, and the settings behind numbers of them."""

    def __init__(
        self, run: Run, settings: Settings, rows: FormRows, signature: Signature | None = None
    ) -> None:
        self.run, self.settings, self.rows = run, settings, rows
        names = cluster_names(run.questions)
        entities = np.array([names[short] for _, short in rows.facts], dtype=np.str_)
        self.facts = Rows(rows.facts, rows.entity, entities, rows.form)
        self.signature = _signature(run, settings, rows.form) if signature is None else signature
        #: whether answers are right, by the run's judge: 1 wrong, 0 right
        self.wrong = rows.wrong[rows.judge]
        #: answers whose verdict nobody could read
        self.unread = np.isnan(self.wrong) if rows.stance is None else rows.stance == ""
        self.types = types_of(rows)
        self.by_judge = slice_of(against=rows.judge)

    def number(
        self,
        name: str,
        where: Slice,
        of: Counted,
        uses: frozenset[Use] = RUN,
        missing: int = 0,
        bounds: tuple[float | None, float | None] | None = None,
    ) -> Declared:
        """Return a number of this form."""
        where, metric = slice_of(form=self.rows.form) + where, NUMBERS[name]
        return Declared(
            name, where, of, self.signature, uses, metric.limits, metric.higher, missing, bounds
        )

    def share(
        self,
        name: str,
        where: Slice,
        hit: Bools,
        of: Bools,
        lost: Bools,
        uses: frozenset[Use] = RUN,
        why: str = "",
    ) -> Declared:
        """Return the share of a ``hit`` among the answers ``of`` it; ``why`` there may be none.

        ``lost`` (n,) are answers that lack a verdict, not those that the share is not of.
        """
        metric = share_of_rows(name)
        if why and not of.any():
            none = Estimate(name, numerator=0.0, denominator=0.0, problem=why)
            metric = metric._replace(own=lambda sums, n, seed: {name: none})
        counted = Counted(self.facts, metric, [ones(hit, of)], lost)
        return self.number(name, where, counted, uses, int(lost.sum()))


def _as_read(run: Run, settings: Settings, rows: FormRows, people: Run) -> ScoredAnswers:
    """Return the answers of a form with other verdicts, and the places of these."""
    rows, places, read = rows_as_read(rows, people, settings)
    own = ScoredAnswers(run, settings, rows)
    own.facts = dataclasses.replace(own.facts, places=places, read=read)
    return own


# ---- errors, and what was answered


def errors(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the share that is not right, by each answer metric, and that of unknown facts."""
    rows = own.rows
    why = "no answer has a verdict" if has_graded(rows) else NO_GOLDS
    for by, wrong in rows.wrong.items():
        where = slice_of(against=by)
        held, judged = ~np.isnan(wrong), by == rows.judge
        lost = own.unread if judged else ~held
        used = RUN | PEOPLE | (STUDY if held.any() else frozenset()) if judged else RUN
        rate = own.share("error_rate", where, wrong > 0, held, lost, used, why)
        unread = rows.unread if judged and held.any() else 0
        total, bad = int(held.sum()) + unread, int((wrong > 0).sum())
        yield rate._replace(bounds=(bad / total, (bad + unread) / total) if unread else None)
        if judged and held.any():  # judges may differ where runs are compared
            yield rate._replace(where=slice_of(form=rows.form), uses=PAIR)
    if rows.unknown is not None:
        held, where = ~np.isnan(rows.unknown), slice_of(against="unknown")
        yield own.share("share_unknown", where, rows.unknown > 0, held, ~held, RUN, why)


def by_tier(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield of each tier's answerable questions the errors, and how often the model abstains."""
    rows = own.rows
    if rows.tier is None or rows.unanswerable is None:
        return
    for tier in sorted(filter(None, set(rows.tier.tolist())), key=tier_order):
        among = (rows.tier == tier) & ~rows.unanswerable
        for name, column in (("error_rate", own.wrong), ("abstains_answerable", rows.withheld)):
            if column is None or not among.any():
                continue
            read, where = ~np.isnan(column), own.by_judge + slice_of(tier=tier)
            yield own.share(name, where, column > 0, read & among, among & ~read)


#: the questions that answers are counted of
ASKED = ("answerable", "unanswerable")


def counts(own: ScoredAnswers) -> Iterator[Estimate]:
    """Yield how many facts there are, and how many answers did what, by kind of question."""
    rows = own.rows
    yield Estimate("facts", value=float(rows.size), n=rows.size, missing=rows.unread)
    if rows.stance is None or rows.outcome is None or rows.unanswerable is None:
        return
    fates = fates_of(rows)
    told = [did for did in FATES if did != PARTLY or rows.four_grades]
    for asked, among in zip(ASKED, (~rows.unanswerable, rows.unanswerable), strict=True):
        for did in told if among.any() else ():
            where = own.by_judge + slice_of(asked=asked, did=did)
            count = float((fates[among] == did).sum())
            yield Estimate("answer_count", where, count, n=int(among.sum()))


# ---- rankings: every score against the judge, the main ones against every metric


def ranked(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the AUROC of scores, within type where there are types; PRR and AURAC of the main ones.

    All scores against the judge, the main ones against other answer metrics too.
    """
    rows = own.rows
    for by, name in product(rows.wrong, rows.scores):
        judged, main = by == rows.judge, name in MAIN
        if not judged and (by in COARSE or not main):
            continue
        score, wrong = ranked_values(rows, name), rows.wrong[by]
        where, both = slice_of(against=by, score=name), ~np.isnan(score + wrong)
        missing, note = int((~both).sum()), rows.notes.get(name)
        ways: list[tuple[str, Any]] = [("auroc", rows.folds.get(name))]
        if judged and own.types is not None:
            ways.append(("auroc_within", strata_of(rows, name, own.types)))
        for kind, strata in ways:
            estimate = partial(_ranking, partial(bootstrap_auroc, name=kind), note)
            area = Weighted(auroc if strata is None else within_auroc, estimate)
            of = Counted(own.facts, area, [score, wrong, *([] if strata is None else [strata])])
            uses = RUN | (PEOPLE if judged and main else frozenset())
            if in_pairs(np.where(both, wrong, np.nan), strata):
                uses |= STUDY
            yield own.number(kind, where, of, uses, missing)
        if judged and main:
            for kind, metric, own_of in (("prr", prr, bootstrap_prr), ("aurac", aurac, _kept_area)):
                rejection = Weighted(metric, partial(_ranking, own_of, None))
                of = Counted(own.facts, rejection, [score, wrong])
                yield own.number(kind, where, of, missing=missing)


def _ranking(
    estimate: Callable[..., Estimate],
    note: str | None,
    score: Floats,
    wrong: Floats,
    *strata: NDArray[Any],
    clusters: NDArray[Any],
    **resampling: int,
) -> Estimate:
    """Return the estimate of the answers that count, and why it may be no ranking."""
    use = ~(np.isnan(score) | np.isnan(wrong))
    columns = [column[use] for column in (score, wrong, *strata)]
    found = estimate(*columns, clusters=clusters[use], **resampling)
    y = columns[1]
    few = too_few(int(y.sum()), int((1 - y).sum()))
    if few is None and not in_pairs(*columns[1:]):
        few = FEW_PAIRS
    return msgspec.structs.replace(found, problem=few or found.problem or note)


def _kept_area(score: Floats, wrong: Floats, **resampling: Any) -> Estimate:
    """Return the AURAC, without an interval."""
    area = aurac(score, wrong)
    return Estimate("aurac", value=None if area is None else or_none(area), n=len(score))


def ranked_values(rows: FormRows, method: str) -> Floats:
    """Return a score as it is ranked: that of a learned one by its rank within its fold."""
    fold = rows.folds.get(method)
    return rows.scores[method] if fold is None else fold_ranks(rows.scores[method], fold)


def in_pairs(wrong: Floats, strata: Any = None) -> bool:
    """Tell whether enough answers of each kind stand in a pair within strata."""
    pairs = pairs_of(wrong, strata)
    return min(pairs.wrong, pairs.right) >= FEWEST


def unranked(own: ScoredAnswers) -> Iterator[Estimate]:
    """Yield the scores that have no AUROC, and why."""
    for method, reason in own.rows.reasons.items():
        yield Estimate("auroc", own.by_judge + slice_of(score=method), problem=reason)


def best_of(own: ScoredAnswers) -> Iterator[Estimate]:
    """Yield the AUROC of the best score, chosen on other entities than it is measured on.

    Within type where the leaderboard is; what scores are read against stands outside.
    """
    rows, wrong = own.rows, own.wrong
    for types in (own.types, None):
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
                n=own.settings.resamples,
                seed=own.settings.ci_seed,
            )
            missing = int(np.isnan(wrong).sum())
            yield msgspec.structs.replace(best, where=own.by_judge, missing=missing)
            return


def risk_curves(own: ScoredAnswers) -> Iterator[Estimate]:
    """Yield points of the risk-coverage curves."""
    rows, wrong = own.rows, own.wrong
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


def hedged(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the model's words as one point: the answers given without a hedge, and their risk."""
    rows = own.rows
    if WORDS not in rows.scores:
        return
    words, where = rows.scores[WORDS], own.by_judge + slice_of(score=WORDS)
    use = ~(np.isnan(words) | np.isnan(own.wrong))
    given = use & (words == 0)
    unread = np.zeros(rows.size, dtype=bool)
    for column in (rows.told, rows.outcome):
        unread |= False if column is None else np.isnan(column)
    lost = unread if rows.ungraded is None else unread & ~rows.ungraded
    yield own.share("coverage_of_words", where, given, use, lost)
    why = "it hedged every answer"
    yield own.share("risk_of_words", where, own.wrong > 0, given, lost, why=why)


def doubts_of_thoughts(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield doubts of thoughts, and how many of them an answer withholds: of all answers, and of
    those to known and unknown questions. Nothing where nothing was thought."""
    rows = own.rows
    if rows.thought is None or rows.stance is None:
        return
    groups: dict[Slice, Bools] = {(): np.ones(rows.size, dtype=bool)}
    if rows.unknown is not None:
        groups |= {slice_of(given=g): rows.unknown == n for n, g in enumerate(("known", "unknown"))}
    lost = (rows.stance == "") & ~np.isnan(rows.thought)
    for name, (hit, of) in doubt_shares(rows.thought, rows.stance).items():
        for where, some in groups.items():
            yield own.share(name, where, hit, of & some, lost & some)


# ---- beside other runs


def _compared(own: ScoredAnswers, *, typed: bool) -> Iterator[Declared]:
    """Yield the AUROC of every score against the judge of each run, within type if both have types.

    One's own folds for a learned score: only answers of one fit can be ranked.
    """
    for name, score in own.rows.scores.items():
        strata = strata_of(own.rows, name, own.types if typed else None)
        metric = auroc if strata is None else within_auroc
        columns = [score, own.wrong, *([] if strata is None else [strata])]
        lost = own.unread | np.isnan(score)
        of = Counted(own.facts, Weighted(metric, bootstrap_auroc), columns, lost)
        if len(np.unique(own.wrong[of.counts])) > 1:
            kind = "auroc_within" if typed else "auroc"
            yield own.number(kind, slice_of(score=name), of, PAIR)


def _learned_elsewhere(own: ScoredAnswers, data: Sequence[ComparedRun]) -> Iterator[Declared]:
    """Yield the AUROC of a P(IK) that was learned on the other data sets of the same model.

    Nothing about an entity that the data set asks about is learned from. Only what was stored is
    used; a data set without hidden states, or with answers of one kind only, takes no part.
    """
    sides = [(one, _rows_of(one.run, one.settings).get(own.rows.form)) for one in data]
    there = [
        (one, ScoredAnswers(one.run, one.settings, rows), rows.states)
        for one, rows in sides
        if rows is not None and rows.states is not None
    ]
    if own.rows.states is None or len(there) < 2 or len({X.shape[1] for *_, X in there}) > 1:
        return
    X = np.concatenate([states for *_, states in there])
    wrong = np.concatenate([other.wrong for _, other, _ in there])
    entity = np.concatenate([other.facts.names for _, other, _ in there])
    here = np.repeat([one.run is own.run for one, *_ in there], [len(X) for *_, X in there])
    first, judged, _ = there[0]
    value, _ = cross_fit_splits(
        X,
        wrong,
        [(~here & ~np.isin(entity, entity[here]), here)],
        standardize=first.settings.p_ik.standardize,
    )
    of = Counted(own.facts, Weighted(auroc, bootstrap_auroc), [value[here], own.wrong])
    if in_pairs(own.wrong[of.counts]):
        where = judged.by_judge + slice_of(score=OTHER_DATA)
        yield own.number("auroc", where, of, STUDY)


# ---- the length trap: audits of scores, and false negatives by length

#: scores whose audit is printed, if the run has them
AUDITED = ("sequence_probability", "semantic_entropy", "perplexity")
#: what is printed of an audit, and the metrics whose false negatives are, by length
AUDIT = ("against_metric", "against_truth", "difference", "from_length", "unexplained")
BY_LENGTH = ("rouge_l", "squad_f1", BERT)


def audits(own: ScoredAnswers) -> Iterator[Estimate]:
    """Yield the length audit of the main scores against ROUGE-L, with the judge as better truth."""
    rows, metric = own.rows, own.rows.wrong["rouge_l"]
    for name in filter(rows.scores.__contains__, AUDITED):
        use = ~np.isnan(rows.scores[name] + metric + own.wrong + rows.words)
        if not all(in_pairs(wrong[use]) for wrong in (metric, own.wrong)):
            continue
        audit = length_audit(
            rows.scores[name],
            metric,
            rows.words,
            own.wrong,
            clusters=rows.entity,
            n=own.settings.resamples,
            seed=own.settings.ci_seed,
        )
        where = slice_of(against="rouge_l", score=name)
        for part in AUDIT:
            yield msgspec.structs.replace(getattr(audit, part), name=f"audit_{part}", where=where)


def rejected(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the share of right answers that each metric refuses, and by fifths of length.

    Right is what the run's judge calls right; of the judge itself nothing better is known here.
    """
    rows = own.rows
    right = (own.wrong == 0) & ~np.isnan(rows.words)
    for by in rows.wrong if right.any() else ():
        if by == rows.judge:
            continue
        use, where = right & ~np.isnan(rows.wrong[by]), slice_of(against=by)
        facts, words, refused = own.facts.take(use), rows.words[use], rows.wrong[by][use] > 0
        share = share_of_rows("false_negatives")
        of = Counted(facts, share, [refused.astype(np.int64)])
        yield own.number("false_negatives", where, of)
        fifths = length_bins(words, 5)
        for fifth in range(5) if by.startswith(BY_LENGTH) else ():
            here = fifths == fifth
            reach = f"{words[here].min():g}-{words[here].max():g}" if here.any() else "none"
            place = where + slice_of(fifth=str(fifth + 1), length=reach)
            of = Counted(facts, share_of_rows("false_negatives_fifth"), [ones(refused, here)])
            yield own.number("false_negatives_fifth", place, of)


# ---- agreement of the answer metrics
# No person sees the answers of a run, so its judge stands first among the metrics; metrics that
# compare words share their mistakes, and a majority of them is no truth. With verdicts of people
# ``sayso score`` has the same numbers with the people in them.


def agreements(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the agreement of every two metrics."""
    for first, second in combinations(own.rows.wrong, 2):
        one, other = own.rows.wrong[first], own.rows.wrong[second]
        where = slice_of(against=first, metric=second)
        both = ~(np.isnan(one) | np.isnan(other))
        yield own.share("metric_agreement", where, one == other, both, np.zeros_like(both))


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


def declined(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield shares, their gap, right minus wrong; of four grades the last alone where all can be
    answered, else nothing there."""
    rows, none = own.rows, own.rows.unanswerable
    if rows.withheld is None or none is None or not none.any():
        yield from _worth(own) if rows.four_grades else ()
        return
    yield from _abstained(own, rows.withheld, none, own.by_judge, PEOPLE)
    if own.types is not None:
        cells, name = abstention_cells(rows.withheld, none), "abstention_gap_within"
        of = Counted(own.facts, gap_of_cells(name, within=True), [cells], kinds=own.types)
        yield own.number(name, own.by_judge, of, _beside(cells >= 0))
    if rows.told is not None:
        yield from _abstained(own, rows.told, none, own.by_judge + TOLD)
    yield from _worth(own)


def _abstained(
    own: ScoredAnswers,
    withheld: Floats,
    unanswerable: Bools,
    where: Slice,
    people: frozenset[Use] = frozenset(),
) -> Iterator[Declared]:
    """Yield how often a value is withheld where there is none and where there is one, and G."""
    read = ~np.isnan(withheld)
    for name, among in zip(ABSTENTIONS, (unanswerable, ~unanswerable), strict=True):
        held, total = read & among, int(among.sum())
        lost = among & ~read
        count = int((withheld[held] > 0).sum())
        share = own.share(name, where, withheld > 0, held, lost, _beside(held) | people)
        known = lost.any() and held.any()
        ends = (count / total, (count + int(lost.sum())) / total) if known else None
        yield share._replace(bounds=ends)
    gap = declared_gap(own.facts, withheld, unanswerable)
    yield own.number(gap.name, where, gap.of, _beside(gap.of.counts) | people)


def declared_gap(facts: Rows, withheld: Floats, unanswerable: Bools) -> Declared:
    """Return the abstention gap of answers (n,), of a run or not; NaN: no verdict."""
    lost = [int((np.isnan(withheld) & among).sum()) for among in (unanswerable, ~unanswerable)]
    metric = gap_of_cells("abstention_gap", lost)
    of = Counted(facts, metric, [abstention_cells(withheld, unanswerable)])
    return Declared("abstention_gap", (), of, limits=NUMBERS["abstention_gap"].limits)


def _beside(counts: Bools) -> frozenset[Use]:
    """Return where a number is used that is compared if any answer counts."""
    return RUN | PAIR | STUDY if counts.any() else RUN


#: why gaps have no value
LACKING = {
    "abstention_gap": "it needs verdicts on answerable and on unanswerable questions",
    "abstention_gap_within": (
        "it needs a type of question with answerable and unanswerable questions"
    ),
}


def gap_of_cells(name: str, lost: Sequence[int] = (0, 0), *, within: bool = False) -> Sums:
    """Return the family of one gap, of the cells of :func:`abstention_cells`, or ``within`` types.

    ``lost`` are answers without a verdict, to questions without an answer and with one.
    """

    def of(cells: Floats) -> dict[str, Floats]:
        return {name: within_rates(cells)["J_within"] if within else cell_rates(cells)["J"]}

    def own(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
        if within:
            gap = bootstrap_within(cells, n=n, seed=seed)["J_within"]
        else:
            gap = bootstrap_cells(cells, n, seed, lost[1], lost[0])["J"]
        why = LACKING.get(name) if gap.value is None else None
        return {name: msgspec.structs.replace(gap, problem=why or gap.problem)}

    return Sums(of, 6, own)


#: the confidence target at which a wrong answer costs as much as a right one is worth
EVEN = 0.5


def _worth(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield the share of right answers minus that of wrong ones."""
    outcome, graded = own.rows.outcome, has_graded(own.rows)
    if outcome is None:
        return
    worth, read = declared_worth(own.facts, outcome, graded=graded), ~np.isnan(outcome)
    uses, missing = (_beside(read), int((~read).sum())) if graded else (RUN, 0)
    yield own.number(worth.name, own.by_judge, worth.of, uses, missing)


def declared_worth(facts: Rows, outcome: Floats, *, graded: bool = True) -> Declared:
    """Return right minus wrong of answers (n,), of a run or not; NaN: no verdict.

    ``graded`` is false where right and wrong cannot be told.
    """
    metric = NUMBERS["right_minus_wrong"]
    worth = partial(confidence_target_utility, target=EVEN)

    def estimate(column: Floats, *, clusters: NDArray[Any], **resampling: Any) -> Estimate:
        if not graded:
            return Estimate(metric.name, problem=NO_GOLDS)
        use = ~np.isnan(column)
        resampling |= {"clusters": clusters[use], "limits": metric.limits, "name": metric.name}
        return bootstrap(worth, column[use], **resampling)

    of = Counted(facts, Weighted(worth, estimate, combined=False), [outcome])
    return Declared(metric.name, (), of, limits=metric.limits)


def has_graded(rows: FormRows) -> bool:
    """Tell whether right and wrong can be told of some question that can be answered."""
    if rows.ungraded is None or rows.unanswerable is None:
        return True
    return bool((~rows.ungraded & ~rows.unanswerable).any()) or not rows.ungraded.any()


#: what the gap is called of a passage that is taken away or exchanged
PASSAGE_GAPS = {WITHOUT_PASSAGE: "passage_gap", OTHER_PASSAGE: "other_passage_gap"}


def passages(own: ScoredAnswers) -> Iterator[Declared]:
    """Yield how often the model abstains with the passage, without it and with another one."""
    withheld = own.rows.withheld
    if withheld is None:
        return
    for stage, again in own.rows.again.items():
        both = ~np.isnan(again.withheld + withheld)
        read, right = ~np.isnan(again.outcome), again.outcome > 0
        shares = [
            ("abstains_without_passage", again.withheld > 0, both),
            ("abstains_with_passage", withheld > 0, both),
            ("by_heart", right, read),
        ]
        if stage == OTHER_PASSAGE:
            shares = [
                ("answers_other_passage", again.withheld == 0, both),
                ("right_other_passage", right, read),
                ("misled_by_passage", (again.outcome < 0) & (again.found > 0), read),
            ]
        for name, hit, of in shares:
            yield own.share(name, own.by_judge, hit, of, again.asked & ~of, _beside(of))
        changed = abstention_cells(again.withheld[both], np.ones(both.sum()))
        plain = abstention_cells(withheld[both], np.zeros(both.sum()))
        gap = Counted(own.facts.take(both), gap_of_cells(PASSAGE_GAPS[stage]), [changed, plain])
        yield own.number(PASSAGE_GAPS[stage], own.by_judge, gap, _beside(both) - PAIR)
