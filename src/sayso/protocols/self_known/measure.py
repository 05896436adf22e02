"""Every number of a self_known run: pure, from what is stored.

Tu et al., arXiv 2411.15993. Claims labeled irrelevant or not at all enter no share of supported
claims. Resamples are of entities: all claims of a text move together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import kappa
from sayso.metrics.arrays import divide
from sayso.metrics.factuality import (
    Average,
    Curve,
    cross_fit,
    curve_correlation,
    curve_rows,
    equal_length,
    f1_at_k,
    in_sample_factuality,
    judged,
    judged_counts,
    length_penalty,
    position_trend,
    unsupported_before,
)
from sayso.metrics.factuality import precision as supported_share
from sayso.metrics.intervals import (
    bootstrap,
    bootstrap_difference,
    bootstrap_ratio,
    bootstrap_share,
    within,
)
from sayso.metrics.ranking import bootstrap_auroc
from sayso.protocols.protocol import Run
from sayso.protocols.self_known.rows import (
    LABELS,
    PEOPLE,
    STAGE,
    SUPPORT,
    SUPPORTED,
    UNSUPPORTED,
    Floats,
    Ints,
    LongAnswers,
    checkers,
    load_long_answers,
)
from sayso.protocols.self_known.settings import ASKED, CLAIM_SCORES, MAIN, MODES, Settings
from sayso.protocols.settings import tokens_for
from sayso.records import (
    ClaimQuestion,
    Estimate,
    Slice,
    Verdict,
    signature_of,
    signature_text,
    slice_of,
)

Mask = NDArray[np.bool_]
#: who says of an answer whether it answers, where people took it apart
PEOPLE_SAID = "people"


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every estimate of a run, signed."""
    numbers: list[Estimate] = []
    every = load_long_answers(run)
    k, by = settings.k or wanted_facts(every), claim_signers(run)
    for texts in every:
        of_method = [
            *answer_counts(texts),
            *unread(run, texts),
            *precision_estimates(texts, settings, k),
            *aspects(run, texts, settings),
            *position_curves(texts, settings),
            *wording(run, texts, settings),
            *self_knowledge_estimates(run, texts, settings),
            *remedied(run, texts, settings),
            *uncertainty(run, texts, settings),
            *checker_estimates(run, texts, settings),
        ]
        topics = len(set(texts.names))
        of_method = [e if topics >= LEAST_TOPICS else _without_parts(e) for e in of_method]
        numbers += [signed_method(run, settings, _bounded(e), texts.method, by) for e in of_method]
    for texts, e in (*same_length(every, settings), *gains_over_plain(run, every, settings)):
        numbers.append(signed_method(run, settings, _bounded(e), texts.method, by))
    return numbers


def claim_signers(run: Run) -> dict[str, str]:
    """Return who labeled the claims, took texts apart and made questions, as signatures have it."""
    splits = run.verdicts(f"{STAGE}-claims") if run.has(f"verdicts/{STAGE}-claims") else []
    filters = run.verdicts(STAGE) if run.has(f"verdicts/{STAGE}") else []
    texts = {v.by for v in splits} | {v.by for v in filters if v.by == PEOPLE_SAID}
    table = f"asked/{STAGE}"
    questions = {row.by for row in run.table(table, ClaimQuestion)} if run.has(table) else set()
    return {
        "support": checkers(run),
        "claims": "+".join(sorted(texts)) or "nobody",
        "questions": "+".join(sorted(questions)) or "nobody",
    }


def signed_method(
    run: Run,
    settings: Settings,
    estimate: Estimate,
    method: str,
    by: Mapping[str, str] | None = None,
) -> Estimate:
    """Return an estimate of a method, or with "" of all, with every setting that made it."""
    s = settings
    answer = f"{s.ask}-T{s.answer.temperature:g}/{tokens_for(s.answer, 'long')}"
    if s.keep_answered:
        answer += f"/kept-{s.keep_answered}"
    if method == "cautious":
        answer += f"/cautious-{s.answer.candidates}@{s.answer.sure:g}"
    signature = run.signature(
        method=method or "all",
        **(claim_signers(run) if by is None else by),
        asked_by=f"{s.claims}/{s.support}/{s.nli if s.support == 'nli' else '-'}",
        knowledge=f"{s.knowledge}-top{s.passages}",
        answer=answer,
        position=f"{s.bins}-{s.closed}-{s.average}",
        self_asked=f"{s.modes}/{s.orders}/{s.questions}/{'open' if s.open_book else 'closed'}",
        noa=s.noa,
        gamma=f"{s.gamma:g}",
        k=str(s.k),
        folds=str(s.folds),
        alpha="0.1",
        remedy=s.remedy,
        draws=f"{s.draws.k}@T{s.draws.temperature:g}",
        retrieval=str(s.retrieval),
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
        texts=(s.prompt_folder and "own") or "shipped",
    )
    return msgspec.structs.replace(
        estimate,
        where=(slice_of(method=method) if method else ()) + estimate.where,
        signature=signature_of(estimate.name, signature),
    )


# ---- what must be read before any number

#: shares from which a caution is given
UNCHECKED = 0.1
ACCEPTS = 0.95
FLIPS = 0.2
#: why claims have no label -> what can be done about it
ADVICE = {
    "unretrieved": "the knowledge source has no passage with the titles of their topics",
    "unchecked": "there is no knowledge source to check them against: see --knowledge",
}
#: a number of a way of asking -> the caution where it is out of bounds; "{}" are the numbers
BY_MODE = {
    "accept_rate": "the model accepts {} of its claims, so Self-Known and Self-Unknown only "
    "reflect that rate.",
    "order_flips": "{} of the answers change with the order of the options.",
    "not_understood": "for {} of the claims, less than half of the probability is on the options, "
    "so the question was not taken as a choice.",
}


#: in the signature of claims that rules checked
BY_RULES = "support-rules@"
RULES_CHECK = (
    "Claims are checked by rules: many true claims count as unsupported, and an invented claim "
    "that uses the passage's own names passes. Before you publish numbers, check claims with a "
    "model (--judge MODEL) or with people's labels."
)


def counted_empty(e: Estimate) -> str:
    """Return how many texts are empty, as part of a sentence: 1 of 5 texts is empty."""
    few, all_texts = int(e.numerator or 0), int(e.denominator or 0)
    return f"{few:,} of {all_texts:,} texts {'is' if few == 1 else 'are'} empty"


def cautions(estimates: Sequence[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return sentences about claims without a label, and a model that answers by position.

    The same of several ways of asking is one sentence.
    """
    lines = []
    by_mode: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    empty: dict[str, float] = {}
    declined: dict[str, float] = {}
    if any(BY_RULES in signature_text(e.signature) for e in estimates if e.name == "factscore"):
        lines.append(RULES_CHECK)
    for e in estimates:
        place = dict(e.where)
        method, why = place.get("method", ""), place.get("problem", "")
        if e.name == "claims_without_label" and (e.value or 0) >= UNCHECKED:
            reason = f"{why}: {ADVICE[why]}" if why in ADVICE else why
            lines.append(
                f"{method}: {_percent(e.value)} of the claims have no label ({reason}). The bounds "
                "of factuality show how much these claims could change it."
            )
        if e.name == "answers_without_claims" and (e.value or 0) >= UNCHECKED:
            lines.append(
                f"{method}: {_percent(e.value)} of the answers lack some claims ({why}) and are "
                "left out of every number."
            )
        if e.name == "answers_without_a_claim" and (e.value or 0) >= UNCHECKED:
            lines.append(
                f"{method}: {_percent(e.value)} of the texts claim nothing. These texts are "
                "refusals that the filter's phrases miss, hold only code, verse, instructions and "
                "the like, or could not be read. They count as 0 claims and are left out of "
                "factuality."
            )
        if e.name == "empty_texts":
            empty[method] = e.value or 0
            if empty[method] >= UNCHECKED:
                lines.append(f"{method}: {counted_empty(e)} and left out.")
        if e.name == "response_rate" and e.value is not None:
            declined[method] = 1 - e.value
        if e.name in BY_MODE and "part" not in place and e.value is not None:
            blind = not 1 - ACCEPTS < e.value < ACCEPTS
            if blind if e.name == "accept_rate" else e.value > FLIPS:
                by_mode[method, e.name].append((place.get("mode", ""), e.value))
    for method, share in declined.items():
        refused = share - empty.get(method, 0)
        if refused > UNCHECKED:
            lines.append(
                f"{method}: {_percent(refused)} of the texts do not answer, judged by refusal "
                "phrases or by their labels. They are left out."
            )
    for (method, name), values in by_mode.items():
        modes = ", ".join(f'"{ASKED.get(mode, mode)}"' for mode, _ in values)
        each = [_percent(value) for _, value in values]
        shares = each[:1] if len(set(each)) == 1 else each
        lines.append(f"{method}, asked {modes}: {BY_MODE[name].format(', '.join(shares))}")
    return lines


def _percent(value: float | None) -> str:
    return f"{value or 0:.0%}".replace("%", " %")


# ---- shares and means with their intervals

#: what a mean of counts is called at its end: its scale has no upper limit
OF_COUNTS = ("_per_sentence", "_per_answer")
#: how far an interval may be from the whole scale, and above a mean of counts, and still tell
ALMOST, TIMES = 0.005, 10


def _bounded(estimate: Estimate) -> Estimate:
    """Return a number without an interval that leaves open what it is: as wide as its scale."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        return estimate
    if estimate.name.endswith(OF_COUNTS):
        unbounded = high > TIMES * value
    else:
        least = -1 if low < 0 else 0  # of a difference, and of a share
        unbounded = low < least + ALMOST and high > 1 - ALMOST
    if not unbounded:
        return estimate
    problem = "no interval: too few topics to bound it"
    return msgspec.structs.replace(estimate, low=None, high=None, problem=problem)


def _again(settings: Settings) -> dict[str, Any]:
    """Return the keywords of the bootstrap that settings choose."""
    return {"n": settings.resamples, "seed": settings.ci_seed}


def _count_share(name: str, top: int, bottom: int, where: Slice = ()) -> Estimate:
    """Return a share of two counts, without an interval."""
    return Estimate(
        name,
        where,
        value=top / bottom if bottom else None,
        numerator=float(top),
        denominator=float(bottom),
        n=bottom,
        problem=None if bottom else "undefined: nothing to count",
    )


def _share(name: str, hit: Mask, of: Mask, clusters: Ints, settings: Settings) -> Estimate:
    """Return the share of ``hit`` among ``of``; what is not in ``of`` is missing."""
    share = bootstrap_share(name, hit, of, clusters, **_again(settings))
    return msgspec.structs.replace(share, missing=int((~of).sum()))


def _mean(
    name: str,
    values: Floats,
    clusters: Ints,
    settings: Settings,
    limits: tuple[float, float] | None = (0.0, 1.0),
) -> Estimate:
    """Return the mean of values (n,)."""
    ones = np.ones(len(values))
    return bootstrap_ratio(name, values, ones, clusters, limits=limits, **_again(settings))


def _at(estimate: Estimate, part: int, settings: Settings) -> Estimate:
    return msgspec.structs.replace(estimate, where=part_slice(part, settings))


def part_slice(part: int, settings: Settings) -> Slice:
    """Return the slice of one part of the text, the first being 0: ``part:1/5``."""
    return slice_of(part=f"{part + 1}/{settings.bins}")


# ---- how many answers and claims count, and why the others do not


def answer_counts(texts: LongAnswers) -> Iterator[Estimate]:
    """Yield how many answers there are and why some do not count."""
    kept, claims = len(texts.kept), len(texts.claims)
    answering = kept + texts.aside
    rate = _count_share("response_rate", answering, texts.answers - texts.failed)
    problem = rate.problem and "no answer came"
    yield msgspec.structs.replace(rate, missing=texts.failed, problem=problem)
    if texts.aside:
        yield _count_share("kept_answers", kept, answering)
    if texts.empty:
        yield _count_share("empty_texts", texts.empty, texts.answers - texts.failed)
    if kept:
        yield _count_share("answers_without_a_claim", kept - len(set(texts.text.tolist())), kept)
    lost = Counter(problem for problem in texts.problem if problem is not None)
    for why, number in sorted(lost.items()):
        yield _count_share("claims_without_label", number, claims, slice_of(problem=why))
    astray = int((texts.sentence < 0).sum())
    if astray:
        share = _count_share("claims_without_sentence", astray, claims)
        yield msgspec.structs.replace(share, problem="left out of all numbers by position")


def unread(run: Run, texts: LongAnswers) -> Iterator[Estimate]:
    """Yield how many answers lack claims, by reason: whoever took them apart could not be read."""
    if not run.has(f"verdicts/{STAGE}-claims"):
        return
    mine = {g.id for g in texts.kept}
    problems = (v.problem for v in run.verdicts(f"{STAGE}-claims") if v.target in mine)
    for problem, lost in sorted(Counter(p for p in problems if p is not None).items()):
        where = slice_of(problem=problem)
        yield _count_share("answers_without_claims", lost, len(texts.kept), where)


# ---- whole answers: FActScore, its relatives, length

#: a domain with fewer answers than this gets no number of its own
LEAST_ANSWERS = 5


def wanted_facts(every: Sequence[LongAnswers]) -> int:
    """Return K of F1@K: the median of the supported claims over the answers of *all* methods.

    One K for all: with a K of its own, a method with fewer claims would have to give fewer facts.
    """
    sizes = [s for texts in every for s, ns in texts.per_answer()[:, :2] if s + ns > 0]
    return max(1, int(np.median(sizes))) if sizes else 1


def precision_estimates(texts: LongAnswers, settings: Settings, k: int) -> Iterator[Estimate]:
    """Yield FActScore, its parts, and what to read with it, over answers; ``k`` of F1@K."""
    table = texts.per_answer()
    s, ns, ir, lost = table.T
    rated = s + ns
    some = rated > 0
    share = np.divide(s, rated, out=np.zeros_like(s), where=some)

    def ratio(name: str, top: Floats, bottom: Any, use: Any = slice(None)) -> Estimate:
        return bootstrap_ratio(name, top[use], bottom[use], texts.entity[use], **_again(settings))

    def per(name: str, top: Floats, bottom: Floats) -> Estimate:
        limits = (0.0, np.inf)
        return bootstrap_ratio(name, top, bottom, texts.entity, limits=limits, **_again(settings))

    yield msgspec.structs.replace(
        ratio("factscore", share, some, some),
        missing=int(lost.sum()),
        bound_low=_bound(s, rated + lost),
        bound_high=_bound(s + lost, rated + lost),
    )
    penalty = np.array([length_penalty(int(n), settings.gamma) or 0.0 for n in rated])
    yield ratio("factscore_penalized", share * penalty, some, some)
    yield ratio("factuality_micro", s, rated)
    f1 = np.array([f1_at_k(a, b, k) or 0.0 for a, b in zip(s, ns, strict=True)])
    yield msgspec.structs.replace(ratio("f1_at_k", f1, some, some), where=slice_of(k=str(k)))
    yield ratio("irrelevant_share", ir, rated + ir)
    claims, ones = table.sum(axis=1), np.ones(len(table))
    sentences = np.bincount(texts.s_text, minlength=len(ones)).astype(np.float64)
    yield per("claims_per_answer", claims, ones)
    yield per("sentences_per_answer", sentences, ones)
    yield per("claims_per_sentence", claims, sentences)
    for domain in dict.fromkeys(texts.domain.tolist()):
        own = some & (texts.domain == domain)
        if domain and own.sum() >= LEAST_ANSWERS and not own[some].all():
            where = slice_of(domain=domain)
            yield msgspec.structs.replace(ratio("factscore", share, some, own), where=where)
            yield msgspec.structs.replace(ratio("factuality_micro", s, rated, own), where=where)


def _bound(top: Floats, bottom: Floats) -> float | None:
    """Return the mean over answers of a share with every unlabeled claim put on one side."""
    some = bottom > 0
    return float((top[some] / bottom[some]).mean()) if some.any() else None


def same_length(
    every: list[LongAnswers], settings: Settings
) -> Iterator[tuple[LongAnswers, Estimate]]:
    """Yield each method's precision over the first rated claims of its answers, as many for all.

    The number is the median of the shortest method, so that a method gains nothing by brevity.
    """
    ordered = {texts.method: _labels(texts) for texts in every}
    sizes = {
        method: np.array([sum(x in ("S", "NS") for x in one) for one in labels])
        for method, labels in ordered.items()
    }
    lengths = [
        float(np.median([n for n, one in zip(sizes[m], labels, strict=True) if one]))
        for m, labels in ordered.items()
        if any(labels)
    ]
    first = int(min(lengths)) if lengths else 0
    for texts in every if first else ():
        s, _ = equal_length(ordered[texts.method], first)
        long = sizes[texts.method] >= first
        of = np.ones(len(s), dtype=bool)
        share = bootstrap_share(
            "precision_at_length", np.array(s) / first, of, texts.entity[long], **_again(settings)
        )
        yield texts, msgspec.structs.replace(share, where=slice_of(first=str(first)))


def _labels(texts: LongAnswers) -> list[list[str]]:
    """Return the labels of each answer's claims in order of the text."""
    labels: list[list[str]] = [[] for _ in texts.kept]
    number = np.where(texts.sentence >= 0, texts.sentence, len(texts.s_text))
    for row in np.lexsort((np.arange(len(number)), number)).tolist():
        code = int(texts.label[row])
        labels[int(texts.text[row])].append(LABELS[code] if code >= 0 else "")
    return labels


# ---- factuality along the text (section 3)
# Sentence i of n lies at i/n in right-closed parts. Texts shorter than the number of parts never
# reach the first: ``factuality_long`` is the same curve over texts of that many sentences or more,
# so that the composition effect is seen.

#: column of Texts.counts -> what a mean of it is called
COUNTED = {0: "supported", 1: "unsupported", 2: "irrelevant"}


def position_curves(texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield shares and counts by part of the text, the trend inside texts, last minus first."""
    table = texts.counts()
    place = texts.places(settings.bins, settings.closed)
    cluster = texts.entity[texts.s_text]
    averages: tuple[Average, ...] = ("sentence", "generation", "micro")
    for average in averages:
        name = "factuality" if average == settings.average else f"factuality_by_{average}"
        yield from _curve(name, texts, table, place, settings, average)
    enough = texts.s_count >= settings.bins
    if not enough.all():
        at = np.where(enough, place, -1)
        yield from _curve("factuality_long", texts, table, at, settings, settings.average)
    # a sentence of which no claim has a label says nothing of how many are unsupported
    labeled = table[:, :3].sum(axis=1) > 0
    for column, label in COUNTED.items():
        count = table[:, column]
        share = divide(count, table[:, :3].sum(axis=1))
        for name, values, limits in (
            (f"{label}_per_sentence", count, (0.0, float("inf"))),
            (f"{label}_share", share, (0.0, 1.0)),
        ):
            for part in range(settings.bins):
                here = labeled & (place == part)
                mean = _mean(name, values[here], cluster[here], settings, limits)
                yield _at(mean, part, settings)
    some = table.sum(axis=1) > 0
    for part in range(settings.bins):
        here = place == part
        number = Estimate("sentences", value=float(here.sum()), n=int((here & some).sum()))
        yield _at(number, part, settings)
    yield from _trend(texts, table, place, settings)


def _curve(
    name: str, texts: LongAnswers, table: Floats, place: Ints, settings: Settings, average: Average
) -> Iterator[Estimate]:
    """Yield S/(S+NS) of each part of the text."""
    for part in range(settings.bins):
        here = place == part
        supported, unsupported = table[here, 0], table[here, 1]
        top, bottom, row = curve_rows(
            supported, supported + unsupported, texts.s_text[here], average
        )
        # rows are numbered by the texts that have a sentence here
        present = np.unique(texts.s_text[here])
        cluster = texts.entity[present[row]] if len(row) else np.zeros(0)
        ratio = bootstrap_ratio(name, top, bottom, cluster, **_again(settings))
        missing = int(table[here, 3].sum())
        yield _at(msgspec.structs.replace(ratio, missing=missing), part, settings)


#: topics below which nothing along the text has an interval, and no movement is told
LEAST_TOPICS = 10


def _of_enough(estimate: Estimate, texts: int, topics: int) -> Estimate:
    """Return a number about how texts move; without its interval where they are too few."""
    if estimate.value is None or topics >= LEAST_TOPICS:
        return estimate
    some = f"{texts} text{'s' * (texts != 1)}"
    about = "" if texts == topics else f" about {topics} topic{'s' * (topics != 1)}"
    problem = f"{some}{about} cannot show a trend, which needs {LEAST_TOPICS} topics"
    return msgspec.structs.replace(estimate, low=None, high=None, problem=problem)


def _without_parts(estimate: Estimate) -> Estimate:
    """Return a number of one part of the text without its interval, of too few topics to have one.

    A handful of texts bound it hardly at all, and the intervals of one or two that have a part are
    as wide as the scale.
    """
    if estimate.low is None or "part" not in dict(estimate.where):
        return estimate
    problem = f"no interval by part: it needs {LEAST_TOPICS} topics"
    return msgspec.structs.replace(estimate, low=None, high=None, problem=problem)


def _trend(
    texts: LongAnswers, table: Floats, place: Ints, settings: Settings
) -> Iterator[Estimate]:
    """Yield the slope inside texts with its p, and the last part minus the first."""
    share = divide(table[:, 0], table[:, 0] + table[:, 1])
    cluster = texts.entity[texts.s_text]
    trend = position_trend(share, texts.position, texts.s_text, cluster, **_again(settings))
    size: dict[str, Any] = {"n": trend.sentences, "problem": trend.problem}
    slope = Estimate("trend", value=trend.slope, low=trend.low, high=trend.high, **size)
    yield _of_enough(slope, trend.texts, trend.clusters)
    yield Estimate("trend_p", value=trend.p, **size)
    first, last = ((place == part) & ~np.isnan(share) for part in (0, settings.bins - 1))
    if not (first.any() and last.any()):
        yield Estimate("last_minus_first", problem="no sentence with claims at one of the ends")
        return
    difference = bootstrap_difference(
        _weighted_mean,
        (share[last],),
        (share[first],),
        clusters=cluster[last],
        second_clusters=cluster[first],
        name="last_minus_first",
        **_again(settings),
    )
    fewer = min((texts.s_text[end] for end in (first, last)), key=lambda rows: len(set(rows)))
    yield _of_enough(within(difference), len(set(fewer)), len(set(texts.entity[fewer])))


def _weighted_mean(values: Floats, weights: Floats | None = None) -> Any:
    """Return the weighted mean of ``values`` (n,), weights (n,) or (B, n)."""
    return ratio_of_sums(values, np.ones(len(values)), weights)


def ratio_of_sums(top: Floats, bottom: Floats, weights: Floats | None = None) -> Any:
    """Return sum(top) / sum(bottom), weights (n,) or (B, n)."""
    w = np.ones(len(top)) if weights is None else np.asarray(weights)
    ratio = divide(w @ top, w @ bottom)
    return ratio if np.ndim(ratio) else float(ratio)


def wording(run: Run, texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield the mean decisiveness of the claims in each part of the text."""
    if not run.has(f"verdicts/{STAGE}-decisive"):
        return
    sure = {v.target: v.number for v in run.verdicts(f"{STAGE}-decisive")}
    score = np.array([sure.get(c.id) for c in texts.claims], dtype=np.float64)  # None: NaN
    place = texts.claim_places(settings.bins, settings.closed)
    for part in range(settings.bins):
        here = ~np.isnan(score) & (place == part)
        mean = _mean("decisiveness", score[here], texts.cluster[here], settings)
        yield _at(mean, part, settings)


# ---- does the model recognize its own claims? (section 4)
# Equation 3 and the Rogan-Gladen inversion use SK and SU of *other* texts, pooled over their parts,
# so that along the text Equation 3 is flat by construction. ``equation3_in_sample`` is the paper's
# reading: SK and SU of the same claims, by part those of the part.

UNFITTED = "undefined: it needs several texts with supported and unsupported claims"
BLIND = (
    "undefined: true and false claims are accepted equally often, so the accept rate says nothing"
)
IN_SAMPLE = "undefined: it needs supported and unsupported claims, and not SK = SU = 1"
TOO_FLAT = "undefined: it needs three places that differ in both"
#: option probability below which a model did not take the question as one
LEAST_MASS = 0.5


class OwnAnswers(NamedTuple):
    """What the model said about each claim of a method in one setting, (c,)."""

    mode: str
    labels: list[str | None]
    verdicts: list[Verdict | None]


def own_answers(run: Run, texts: LongAnswers) -> list[OwnAnswers]:
    """Return the model's judgement of its claims in each setting that was asked."""
    every = []
    for mode in MODES:
        if not run.has(f"verdicts/self-{mode}"):
            continue
        by_claim: Mapping[str, Verdict] = {v.target: v for v in run.verdicts(f"self-{mode}")}
        verdicts = [by_claim.get(c.id) for c in texts.claims]
        every.append(OwnAnswers(mode, [v.label if v else None for v in verdicts], verdicts))
    return every


def self_knowledge_estimates(
    run: Run, texts: LongAnswers, settings: Settings
) -> Iterator[Estimate]:
    """Yield SK, SU and what follows from them, by setting, each also by part of the text."""
    every = own_answers(run, texts)
    place = texts.claim_places(settings.bins, settings.closed)
    for own in every:
        where = slice_of(mode=own.mode)
        whole = np.ones(len(texts.claims), dtype=bool)
        for e in (
            *_known_shares(own, texts, whole, settings),
            *_predicted(own, texts, None, settings),
            _in_sample(own, texts, whole, settings),
            *_by_order(own),
        ):
            yield msgspec.structs.replace(e, where=where)
        for part in range(settings.bins):
            here = place == part
            for e in (
                *_known_shares(own, texts, here, settings),
                *_predicted(own, texts, here, settings),
                _in_sample(own, texts, here, settings),
            ):
                yield msgspec.structs.replace(e, where=where + part_slice(part, settings))
        for e in _correlations(_judged_at(own, texts, place, settings), settings):
            yield msgspec.structs.replace(
                _of_enough(e, len(texts.kept), len(set(texts.names))), where=where + e.where
            )
    yield from _none_flips(every, texts, settings)


def _known_shares(
    own: OwnAnswers, texts: LongAnswers, here: Mask, settings: Settings
) -> Iterator[Estimate]:
    """Yield SK, SU and the accept rate over the claims ``here``."""
    accepted, rejected = judged(own.labels, settings.noa)
    read = ~np.isnan(accepted)
    rated = here & texts.rated
    for name, hit, of in (
        ("SK", accepted, rated & (texts.label == SUPPORTED)),
        ("SU", rejected, rated & (texts.label == UNSUPPORTED)),
        ("accept_rate", accepted, rated),
    ):
        share = bootstrap_share(
            name, np.nan_to_num(hit), of & read, texts.cluster, **_again(settings)
        )
        missing = int((of & ~read).sum())
        top, bottom = (share.numerator or 0.0), (share.denominator or 0.0)
        whole = bottom + missing
        yield msgspec.structs.replace(
            share,
            missing=missing,
            bound_low=top / whole if whole else None,
            bound_high=(top + missing) / whole if whole else None,
        )


def _predicted(
    own: OwnAnswers, texts: LongAnswers, here: Mask | None, settings: Settings
) -> Iterator[Estimate]:
    """Yield factuality as labels say it, and as the two formulas predict it from other texts."""
    accepted, rejected = judged(own.labels, settings.noa)
    rated = texts.rated
    fitted = cross_fit(
        accepted[rated],
        rejected[rated],
        texts.label[rated] == SUPPORTED,
        texts.cluster[rated],
        None if here is None else here[rated],
        settings.folds,
        settings.ci_seed,
    )
    for name, value in (
        ("labeled_factuality", fitted.factuality),
        ("equation3", fitted.equation3),
        ("rogan_gladen", fitted.rogan_gladen),
        ("overconfidence", fitted.gap),
    ):
        blind = BLIND if name == "rogan_gladen" and fitted.equation3 is not None else UNFITTED
        problem = None if value is not None else blind
        yield Estimate(name, value=value, n=fitted.claims, problem=problem)


def _judged_at(own: OwnAnswers, texts: LongAnswers, place: Ints, settings: Settings) -> Floats:
    """Return what :func:`judged_counts` says of a method's rated claims, by part of the text."""
    accepted, rejected = judged(own.labels, settings.noa)
    use = texts.rated
    supported, cluster = texts.label[use] == SUPPORTED, texts.cluster[use]
    return judged_counts(
        accepted[use], rejected[use], supported, cluster, place[use], settings.bins
    )


def _in_sample(own: OwnAnswers, texts: LongAnswers, here: Mask, settings: Settings) -> Estimate:
    """Return Equation 3 with SK and SU of the claims ``here`` themselves."""
    counts = _judged_at(own, texts, np.where(here, 0, -1), settings)[:, 0]
    if not counts.any():
        return Estimate("equation3_in_sample", problem=IN_SAMPLE)
    value = bootstrap(in_sample_factuality, counts, name="equation3_in_sample", **_again(settings))
    problem = value.problem if value.value is not None else IN_SAMPLE
    claims = int(counts[:, [0, 2]].sum())
    return msgspec.structs.replace(value, n=claims, problem=problem)


def _correlations(counts: Floats, settings: Settings) -> Iterator[Estimate]:
    """Yield the correlations of labeled factuality with SK, SU and Equation 3 across places.

    ``counts`` (clusters, places, 4) are those of :func:`judged_counts`.
    """
    pooled = counts.sum(axis=0)
    places = {
        "SK": int((pooled[:, 0] > 0).sum()),
        "SU": int((pooled[:, 2] > 0).sum()),
        "equation3_in_sample": sum(in_sample_factuality([row]) is not None for row in pooled),
    }
    for curve in get_args(Curve):
        for name, ranks in (("factuality_pearson", False), ("factuality_spearman", True)):
            e = Estimate(name, problem=TOO_FLAT)
            if len(counts):
                e = bootstrap(
                    curve_correlation, counts, curve, name=name, limits=(-1.0, 1.0), ranks=ranks,
                    **_again(settings),
                )  # fmt: skip
            problem = e.problem if e.value is not None else TOO_FLAT
            where = slice_of(**{"with": curve})
            yield msgspec.structs.replace(e, where=where, n=places[curve], problem=problem)


class AskedTexts(NamedTuple):
    """Texts of one model with what a model said of their claims, and how both are counted."""

    texts: LongAnswers
    own: OwnAnswers
    settings: Settings


def across_models(models: Sequence[AskedTexts]) -> Iterator[Estimate]:
    """Yield the same correlations with a model for each place.

    Texts of all models about one topic are resampled together.
    """
    settings = models[0].settings
    accepted, rejected, supported, names, place = (
        np.concatenate(column)
        for column in zip(*(_claims_of(one, at) for at, one in enumerate(models)), strict=True)
    )
    counts = judged_counts(accepted, rejected, supported, names, place, len(models))
    for e in _correlations(counts, settings):
        yield _of_enough(e, len(accepted), len(counts))


def _claims_of(one: AskedTexts, place: int) -> tuple[Floats, Floats, Mask, NDArray[np.str_], Ints]:
    """Return of one model's rated claims: accepted, rejected, supported, topic, its number."""
    texts, own, settings = one
    accepted, rejected = judged(own.labels, settings.noa)
    use = texts.rated
    names = np.array(texts.names, dtype=np.str_)[texts.text[use]]
    number = np.full(int(use.sum()), place)
    return accepted[use], rejected[use], texts.label[use] == SUPPORTED, names, number


def _by_order(own: OwnAnswers) -> Iterator[Estimate]:
    """Yield how often the order of the options changed the answer, and what was not understood."""
    several, changed, low, weighed = 0, 0, 0, 0
    for verdict in own.verdicts:
        if verdict is None or not verdict.raw:
            continue
        names, _, mass = verdict.raw.partition("|")
        options = [name for name in names.split(",") if name != "?"]
        if len(options) > 1:
            several += 1
            changed += len(set(options)) > 1
        if mass:
            weighed += 1
            low += float(mass) < LEAST_MASS
    yield _count_share("order_flips", changed, several)
    if weighed:
        yield _count_share("not_understood", low, weighed)


def _none_flips(
    every: list[OwnAnswers], texts: LongAnswers, settings: Settings
) -> Iterator[Estimate]:
    """Yield how many claims, by class, are accepted until "none of the above" is offered.

    Of all claims of the class that were answered both times; by part of the text too.
    """
    by_mode = {own.mode: own.labels for own in every}
    if "qa" not in by_mode or MAIN not in by_mode:
        return
    pairs = list(zip(by_mode["qa"], by_mode[MAIN], strict=True))
    both = np.array([None not in pair for pair in pairs], dtype=bool)
    gone = np.array([a == "yes" and b in ("no", "none") for a, b in pairs], dtype=bool)
    place = texts.claim_places(settings.bins, settings.closed)
    for label, name in ((SUPPORTED, "supported"), (UNSUPPORTED, "unsupported")):
        where, of = slice_of(**{"class": name}), texts.label == label
        answered = of & both
        share = _count_share("none_flips", int(gone[answered].sum()), int(answered.sum()), where)
        yield msgspec.structs.replace(share, missing=int((of & ~both).sum()))
        for part in range(settings.bins):
            here = of & (place == part)
            share = _share("none_flips", gone, here & both, texts.cluster, settings)
            missing = int((here & ~both).sum())
            at = where + part_slice(part, settings)
            yield msgspec.structs.replace(share, where=at, missing=missing)


# ---- facts that the data ask for, and what dropping rejected claims would do to a text
# The paper proposes to use the model's own judgement and stops there (section 6). Dropping claims
# raises precision at a price in facts, so both are given.


def aspects_of(run: Run, texts: LongAnswers) -> list[tuple[int, Verdict]]:
    """Return the verdict on every wanted fact with the row of its answer."""
    if not run.has(f"verdicts/{STAGE}-aspects"):
        return []
    row = {g.id: n for n, g in enumerate(texts.kept)}
    return [(row[v.target], v) for v in run.verdicts(f"{STAGE}-aspects") if v.target in row]


def aspects(run: Run, texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield recall of the wanted facts, and how many are hedged or left out."""
    pairs = aspects_of(run, texts)
    if not pairs:
        return
    entity = texts.entity[np.array([row for row, _ in pairs])]
    values = [v.value for _, v in pairs]
    read = np.array([value is not None for value in values])
    hits = {
        "recall": np.array([v == "correct" for v in values]),
        "aspects_hedged": np.array([v == "uncertain" for v in values]),
        "aspects_omitted": np.array([v == "omitted" for v in values]),
    }
    if settings.ask == "open":  # nobody named them, so what the text has comes by itself
        hits["aspects_unasked"] = np.array([v not in (None, "omitted") for v in values])
    for name, hit in hits.items():
        yield _share(name, hit, read, entity, settings)
    type_of = {q.id: q.type for q in run.questions}
    types = np.array([type_of[v.asked] for _, v in pairs])
    for one in dict.fromkeys(types.tolist()) if settings.ask == "open" else ():
        here = types == one
        for name in ("aspects_unasked", "aspects_hedged"):
            share = _share(name, hits[name][here], read[here], entity[here], settings)
            yield msgspec.structs.replace(share, where=slice_of(type=one))


def remedied(run: Run, texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield factuality, claims left and recall if every claim that the model rejects is dropped."""
    pairs = aspects_of(run, texts)
    for own in own_answers(run, texts):
        _, rejected = judged(own.labels, settings.noa)
        kept = rejected != 1  # what could not be read is not rejected
        where = slice_of(mode=own.mode)
        unread = int((texts.rated & np.isnan(rejected)).sum())
        share = _share("dropped_claims_kept", kept, texts.rated, texts.cluster, settings)
        yield msgspec.structs.replace(share, where=where, missing=unread)
        score = _factscore(texts, kept, settings)
        score = msgspec.structs.replace(score, name="dropped_factscore", missing=unread)
        yield msgspec.structs.replace(score, where=where)
        if pairs:
            entity = texts.entity[np.array([row for row, _ in pairs])]
            read = np.array([v.value is not None for _, v in pairs])
            left = np.array([_survives(texts, kept, row, v) for row, v in pairs])
            recall = _share("dropped_recall", left, read, entity, settings)
            yield msgspec.structs.replace(recall, where=where)


def _factscore(texts: LongAnswers, use: Mask, settings: Settings) -> Estimate:
    """Return FActScore of the claims in ``use``."""
    count = len(texts.kept)
    s, ns = (
        np.bincount(texts.text[use & (texts.label == code)], minlength=count).astype(np.float64)
        for code in (SUPPORTED, UNSUPPORTED)
    )
    shares = [supported_share(a, b) for a, b in zip(s, ns, strict=True)]
    some = np.array([share is not None for share in shares], dtype=bool)
    values: Floats = np.array([share for share in shares if share is not None], dtype=np.float64)
    return _mean("factscore", values, texts.entity[some], settings)


def _survives(texts: LongAnswers, kept: Mask, row: int, verdict: Verdict) -> bool:
    """Tell whether a fact that a text gives rightly stands in a claim that is kept."""
    if verdict.value != "correct" or verdict.start is None or verdict.end is None:
        return False
    here = np.flatnonzero((texts.text == row) & kept)
    return any(
        texts.claims[n].start < verdict.end and texts.claims[n].end > verdict.start
        for n in here.tolist()
    )


# ---- which score of a claim finds the unsupported ones


def uncertainty(run: Run, texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield each score's AUROC for unsupported claims, of all and of each part of the text."""
    if not run.has("scores/claims"):
        return
    values: dict[str, dict[str, float]] = defaultdict(dict)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    mine = {c.id for c in texts.claims}
    for s in run.scores("claims"):
        if s.target in mine and s.value is not None:
            values[s.method][s.target] = s.value
        elif s.target in mine:
            reasons[s.method][s.problem or "no value"] += 1
    for name in CLAIM_SCORES:
        every = np.array([values[name].get(c.id, np.nan) for c in texts.claims])
        has = ~np.isnan(every)
        for part, here in _whole_and_parts(texts, settings):
            use = texts.rated & has & here
            lost = int((texts.rated & ~has & here).sum())
            where = slice_of(score=name) + part
            if not use.any():
                why = (
                    reasons[name].most_common(1)[0][0] if reasons[name] else "no claim has a label"
                )
                if not part:
                    yield Estimate("auroc", where, missing=lost, problem=why)
                continue
            wrong = (texts.label[use] == UNSUPPORTED).astype(np.float64)
            clusters = texts.cluster[use]
            area = bootstrap_auroc(every[use], wrong, clusters=clusters, **_again(settings))
            yield msgspec.structs.replace(area, where=where, missing=lost)


def _whole_and_parts(texts: LongAnswers, settings: Settings) -> Iterator[tuple[Slice, Mask]]:
    """Yield which claims are in the whole text and in each part of it, by slice."""
    yield (), np.ones(len(texts.claims), dtype=bool)
    place = texts.claim_places(settings.bins, settings.closed)
    for part in range(settings.bins):
        yield part_slice(part, settings), place == part


# ---- a checker of claims against people, where both labeled the same claims
# Agreement alone hides a checker that is too strict at the end of a text, or with long texts, and
# so makes the curve it is used for. Hence also its factuality minus people's, by part of the text,
# by how many claims an answer has, and by how factual people found it.

THIRDS = ("low", "middle", "high")


def checker_estimates(run: Run, texts: LongAnswers, settings: Settings) -> Iterator[Estimate]:
    """Yield agreement, kappa, and the checker's bias, over claims that both labeled S or NS."""
    if not (run.has(f"verdicts/{PEOPLE}") and run.has(f"verdicts/{SUPPORT}")):
        return

    def supported(table: str) -> Floats:
        label = {v.target: v.label for v in run.verdicts(table)}
        code = {"S": 1.0, "NS": 0.0}
        return np.array([code.get(label.get(c.id) or "", np.nan) for c in texts.claims])

    checked, true = supported(SUPPORT), supported(PEOPLE)
    both = ~np.isnan(checked) & ~np.isnan(true)
    again = _again(settings)
    lost = int((~np.isnan(true) & np.isnan(checked)).sum())
    share = bootstrap_share("verifier_agreement", checked == true, both, texts.cluster, **again)
    yield msgspec.structs.replace(share, missing=lost)
    if both.any():
        yield bootstrap(
            kappa,
            checked[both].astype(int),
            true[both].astype(int),
            clusters=texts.cluster[both],
            limits=(-1.0, 1.0),
            name="verifier_kappa",
            **again,
        )
    for name, hit, of in (
        ("verifier_precision", true == 1, both & (checked == 1)),
        ("verifier_recall", checked == 1, both & (true == 1)),
        ("verifier_false_support", checked == 1, both & (true == 0)),
    ):
        yield bootstrap_share(name, hit, of, texts.cluster, **again)
    for where, here in _verifier_slices(texts, true, both, settings):
        use = both & here
        bias = _mean("verifier_bias", (checked - true)[use], texts.cluster[use], settings, None)
        yield msgspec.structs.replace(within(bias), where=where)


def _verifier_slices(
    texts: LongAnswers, true: Floats, both: Mask, settings: Settings
) -> Iterator[tuple[Slice, Mask]]:
    """Yield all claims, each part of the text, thirds of claim count and of people's factuality."""
    yield from _whole_and_parts(texts, settings)
    size = np.bincount(texts.text[both], minlength=len(texts.kept)).astype(np.float64)
    right = np.bincount(texts.text[both], weights=true[both], minlength=len(texts.kept))
    present = np.unique(texts.text[both])
    if len(present) < len(THIRDS):
        return
    for name, value in (("claims", size), ("factuality", divide(right, size))):
        rank = np.full(len(texts.kept), -1)
        order = present[np.argsort(value[present], kind="stable")]
        rank[order] = np.arange(len(order)) * len(THIRDS) // len(order)
        for third, label in enumerate(THIRDS):
            yield slice_of(**{name: label}), rank[texts.text] == third


# ---- two sets of texts on the same topics, subtracted: of two runs, or of two methods of one
# Texts are joined by what was asked; entities are resampled jointly on both sides. Claims are each
# side's own, so shares of claims are differences of two ratios, not of matched claims.

#: methods that are texts of the same model on the same topics, written in another way
AGAINST_PLAIN = ("retrieval", "revised", "cautious")
SAME_IN_ALL = "no interval: no topic differs between the two methods"
#: differences without a smallest and largest value
OPEN_ENDED = ("claims_per_answer", "trend")


class SharedTexts(NamedTuple):
    """One side's texts on what both were asked: ``kept`` (t,), ``name`` (t,) their entity."""

    texts: LongAnswers
    kept: Mask
    name: NDArray[np.str_]
    own: list[OwnAnswers]


class RatioColumns(NamedTuple):
    """Numerators and denominators (n,) of a ratio of sums, and the entity of each row."""

    values: tuple[Floats, Floats]
    name: NDArray[np.str_]


def common(
    one: LongAnswers, two: LongAnswers, own: tuple[list[OwnAnswers], list[OwnAnswers]]
) -> tuple[SharedTexts, SharedTexts]:
    """Return the texts of two sides on the prompts that both answered."""
    both = {g.question for g in one.kept} & {g.question for g in two.kept}
    first, second = (
        SharedTexts(
            texts,
            np.array([g.question in both for g in texts.kept], dtype=bool),
            np.array(texts.names, dtype=np.str_),
            answers,
        )
        for texts, answers in zip((one, two), own, strict=True)
    )
    return first, second


def gains_over_plain(
    run: Run, every: Sequence[LongAnswers], settings: Settings
) -> Iterator[tuple[LongAnswers, Estimate]]:
    """Yield (texts, difference) of each number of such a method minus plain's.

    Topics that both answered, resampled together: ``factscore_minus_plain``, and so on.
    """
    by_method = {texts.method: texts for texts in every}
    plain = by_method.get("plain")
    for method in AGAINST_PLAIN:
        texts = by_method.get(method)
        if plain is None or texts is None:
            continue
        pair = common(plain, texts, (own_answers(run, plain), own_answers(run, texts)))
        for e in differences_of_methods(pair, settings, settings.resamples, settings.ci_seed):
            yield texts, _of_differing(msgspec.structs.replace(e, name=f"{e.name}_minus_plain"))
        for e in at_equal_recall(pair, settings):
            yield texts, _of_differing(e)


def _of_differing(difference: Estimate) -> Estimate:
    """Return a difference without its interval where that has no width, as no topic differs.

    Two methods that count the same in every topic of a sample need not on others: a text that only
    stops early has the plain text's claims up to any cut, and [0, 0] would be certainty from that.
    """
    if difference.low is None or difference.low != difference.high:
        return difference
    return msgspec.structs.replace(difference, low=None, high=None, problem=SAME_IN_ALL)


def at_equal_recall(
    pair: tuple[SharedTexts, SharedTexts], settings: Settings
) -> Iterator[Estimate]:
    """Yield the precision of both sides at equal recall, and second minus first.

    Of each topic m is the smaller number of supported claims, and each side's text is cut behind
    its m-th: sum of m / sum of (m + unsupported claims before the cut), over topics.
    """
    every = []
    for side in pair:
        labels = zip(side.texts.kept, _labels(side.texts), side.kept.tolist(), strict=True)
        every.append({g.question: own for g, own, kept in labels if kept})
    first, second = every
    wanted = {q: min(first[q].count("S"), own.count("S")) for q, own in second.items()}
    columns = []
    for side, labels_of in zip(pair, every, strict=True):
        name_of = dict(zip((g.question for g in side.texts.kept), side.name, strict=True))
        m = np.array([wanted[q] for q in labels_of], dtype=np.float64)
        wrong = unsupported_before(list(labels_of.values()), [wanted[q] for q in labels_of])
        names = np.array([name_of[q] for q in labels_of], dtype=np.str_)
        columns.append(RatioColumns((m, m + np.array(wrong, dtype=np.float64)), names))
    if not sum(wanted.values()):
        for name in ("precision_at_recall", "precision_at_recall_minus_plain"):
            yield Estimate(name, problem="no topic has a supported claim on both sides")
        return
    for method, side_columns in zip(("plain", ""), columns, strict=True):
        share = bootstrap_ratio(
            "precision_at_recall", *side_columns.values, side_columns.name, **_again(settings)
        )
        yield msgspec.structs.replace(share, where=slice_of(of=method) if method else ())
    plain, other = columns
    difference = bootstrap_difference(
        ratio_of_sums,
        other.values,
        plain.values,
        clusters=other.name,
        second_clusters=plain.name,
        n=settings.resamples,
        seed=settings.ci_seed,
        name="precision_at_recall_minus_plain",
    )
    yield within(difference)


def differences_of_methods(
    pair: tuple[SharedTexts, SharedTexts], settings: Settings, resamples: int, seed: int
) -> Iterator[Estimate]:
    """Yield second minus first: factuality, length, the curve, its trend, SK, SU, accept rate."""

    def gap(
        name: str, columns: Callable[[SharedTexts], RatioColumns], where: Slice = ()
    ) -> Estimate:
        first, second = (columns(side) for side in pair)
        if not (len(first.name) and len(second.name)):
            return Estimate(name, where, problem="nothing to count on one side")
        difference = bootstrap_difference(
            ratio_of_sums,
            second.values,
            first.values,
            clusters=second.name,
            second_clusters=first.name,
            n=resamples,
            seed=seed,
            name=name,
        )
        if name == "trend":
            topics = min(len(set(first.name)), len(set(second.name)))
            difference = _of_enough(difference, min(len(first.name), len(second.name)), topics)
        difference = difference if name in OPEN_ENDED else within(difference)
        difference = msgspec.structs.replace(difference, where=where)
        return difference if shared >= LEAST_TOPICS else _without_parts(difference)

    shared = min(len(set(side.name[side.kept].tolist())) for side in pair)
    both = set.intersection(*(_rated_questions(side) for side in pair))
    yield gap("factscore", lambda side: _precisions(side, both))
    yield gap("factuality_micro", _rated_claims)
    yield gap("claims_per_answer", _sizes)
    for part in range(settings.bins):
        where = part_slice(part, settings)
        yield gap("factuality", lambda side, p=part: _part(side, settings, p), where)  # type: ignore[misc]
    yield gap("trend", _slopes)
    second = {own.mode for own in pair[1].own}
    for mode in dict.fromkeys(own.mode for own in pair[0].own if own.mode in second):
        for name in ("SK", "SU", "accept_rate"):
            yield gap(
                name,
                lambda side, m=mode, n=name: _known(side, settings, m, n),  # type: ignore[misc]
                slice_of(mode=mode),
            )


def studied(
    texts: LongAnswers, own: list[OwnAnswers], settings: Settings
) -> Iterator[tuple[str, Slice, RatioColumns]]:
    """Yield the numbers of one side that a study of many models compares, with what they are of."""
    everything = np.ones(len(texts.kept), dtype=bool)
    side = SharedTexts(texts, everything, np.array(texts.names, dtype=np.str_), own)
    parts: list[tuple[str, Slice, RatioColumns]] = [
        ("factscore", (), _precisions(side, _rated_questions(side)))
    ]
    parts.append(("claims_per_answer", (), _sizes(side)))
    parts += [
        (name, slice_of(mode=answers.mode), _known(side, settings, answers.mode, name))
        for answers in own
        for name in ("SK", "SU", "accept_rate")
    ]
    yield from (part for part in parts if len(part[2].name))


def _rated_questions(side: SharedTexts) -> set[str]:
    rated = side.kept & (side.texts.per_answer()[:, :2].sum(axis=1) > 0)
    return {g.question for g, some in zip(side.texts.kept, rated, strict=True) if some}


def _precisions(side: SharedTexts, both: set[str]) -> RatioColumns:
    """Return the precision of the texts on prompts whose claims are rated on both sides."""
    s, ns = side.texts.per_answer().T[:2]
    some = np.array([g.question in both for g in side.texts.kept], dtype=bool)
    return RatioColumns(
        (divide(s[some], (s + ns)[some]), np.ones(int(some.sum()))), side.name[some]
    )


def _rated_claims(side: SharedTexts) -> RatioColumns:
    s, ns = side.texts.per_answer()[side.kept].T[:2]
    return RatioColumns((s, s + ns), side.name[side.kept])


def _sizes(side: SharedTexts) -> RatioColumns:
    size = side.texts.per_answer()[side.kept].sum(axis=1)
    return RatioColumns((size, np.ones(len(size))), side.name[side.kept])


def _sentences(side: SharedTexts) -> tuple[Floats, Mask]:
    """Return S/(S+NS) of every sentence (m,), and which of them count."""
    s, ns = side.texts.counts().T[:2]
    return divide(s, s + ns), side.kept[side.texts.s_text] & (s + ns > 0)


def _part(side: SharedTexts, settings: Settings, part: int) -> RatioColumns:
    """Return the sentences of one part of the text, by the run's own average."""
    share, some = _sentences(side)
    here = some & (side.texts.places(settings.bins, settings.closed) == part)
    names = side.name[side.texts.s_text]
    if settings.average == "sentence":
        return RatioColumns((share[here], np.ones(int(here.sum()))), names[here])
    if settings.average == "micro":
        s, ns = side.texts.counts().T[:2]
        return RatioColumns((s[here], (s + ns)[here]), names[here])
    present, unit = np.unique(side.texts.s_text[here], return_inverse=True)
    means = divide(np.bincount(unit, weights=share[here]), np.bincount(unit))
    return RatioColumns((means, np.ones(len(means))), side.name[present])


def _slopes(side: SharedTexts) -> RatioColumns:
    """Return each text's sums, whose ratio is the slope inside texts (``position_trend``)."""
    share, some = _sentences(side)
    text = side.texts.s_text[some]
    count = len(side.texts.kept)
    size = np.bincount(text, minlength=count)

    def centered(values: Floats) -> Floats:
        sums = np.bincount(text, weights=values, minlength=count)
        return np.asarray(values - (sums / np.maximum(size, 1))[text])

    x, y = centered(side.texts.position[some]), centered(share[some])
    across = np.bincount(text, weights=x * y, minlength=count)[size > 1]
    spread = np.bincount(text, weights=x * x, minlength=count)[size > 1]
    return RatioColumns((across.astype(np.float64), spread.astype(np.float64)), side.name[size > 1])


def _known(side: SharedTexts, settings: Settings, mode: str, name: str) -> RatioColumns:
    """Return which claims were accepted (SU: rejected), of those that the share is of."""
    texts = side.texts
    (own,) = [own for own in side.own if own.mode == mode]
    accepted, rejected = judged(own.labels, settings.noa)
    hit = rejected if name == "SU" else accepted
    codes = {"SK": SUPPORTED, "SU": UNSUPPORTED}
    of = texts.label == codes[name] if name in codes else texts.rated
    of = of & ~np.isnan(hit) & side.kept[texts.text]
    return RatioColumns((hit[of], np.ones(int(of.sum()))), side.name[texts.text][of])
