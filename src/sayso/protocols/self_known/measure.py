"""Every number of a self_known run, declared once: pure, from what is stored.

Tu et al., arXiv 2411.15993. Claims labeled irrelevant or not at all enter no share of supported
claims. Resamples are of entities: all claims of a text move together. Two sets of texts, of two
runs or of two methods of one, are joined by what was asked. Claims are each side's own, so that
differences of shares of claims are of two ratios, not of matched claims.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, divide
from sayso.metrics.factuality import (
    LABELS,
    Curve,
    cross_fit,
    curve_correlation,
    equal_length,
    f1_at_k,
    in_sample_factuality,
    judged,
    judged_counts,
    length_penalty,
    slope_sums,
    unsupported_before,
)
from sayso.metrics.intervals import Range, bootstrap, bootstrap_ratio, within
from sayso.metrics.ranking import auroc, bootstrap_auroc
from sayso.protocols.declared import (
    RUN,
    Counted,
    Declared,
    Rows,
    Sums,
    Use,
    Weighted,
    differences,
    estimates_of,
    ones,
    share_of_rows,
)
from sayso.protocols.protocol import Beside, Run, rows_if_any, stored_verdicts
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.rows import (
    PEOPLE,
    STAGE,
    SUPPORT,
    SUPPORTED,
    UNSUPPORTED,
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
    Score,
    Signature,
    Slice,
    Verdict,
    part_of,
    signature_of,
    signature_text,
    slice_of,
)

Mask = NDArray[np.bool_]
#: who says of an answer whether it answers, where people took it apart
PEOPLE_SAID = "people"


def numbers(
    run: Run, settings: Settings, people: Run | None = None, beside: Beside | None = None
) -> list[Declared]:
    """Return the numbers of a run, declared: of it alone, as people read it, or beside others.

    People's labels of claims correct shares of claims. FActScore is a mean over texts, of which
    whole ones would have to be labeled. Nothing is corrected where people labeled the claims before
    the run was measured: then nothing is left of the checker in it.
    """
    found: list[Declared] = []
    if people is not None:
        checked = run.folder.has(f"verdicts/{SUPPORT}") and not run.folder.has(f"verdicts/{PEOPLE}")
        for texts in load_long_answers(people) if checked else ():
            found += _read_by_people(_MethodRows(run, settings, texts))
        return found
    every = _stored_rows(run, settings)
    texts_of_all = [of.texts for of in every]
    k, first = settings.k or wanted_facts(texts_of_all), common_length(texts_of_all)
    for of in every:
        found += [*_whole_texts(of), *_along(of), *_opinions(of)]
        if beside is None:
            found += [
                *_lengths(of, k, first), *_requested(of), *_counts_along(of), *_wording(of),
                *_equation3(of), *_flips_along(of), *_scores(of), *_checker(of),
            ]  # fmt: skip
    return found


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return the estimate of every number of a run, then what is no statistic of rows, signed."""
    found = [*estimates_of(numbers(run, settings), settings.resamples, settings.ci_seed)]
    every = {of.texts.method: of for of in _stored_rows(run, settings)}
    for method, of in every.items():
        others = [*answer_counts(of.texts), *unread(run, of.texts), *predictions(of)]
        if method in AGAINST_PLAIN and "plain" in every:
            others += gains_over_plain(every["plain"], of)
        for e in others:
            where = slice_of(method=method) + e.where
            signature = signature_of(e.name, of.signature)
            found.append(msgspec.structs.replace(e, where=where, signature=signature))
    # a handful of texts hardly bounds a part of the text
    few = {method for method, of in every.items() if len(set(of.texts.names)) < LEAST_TOPICS}
    why = f"no interval by part: it needs {LEAST_TOPICS} topics"
    return [
        _only_value(e, why)
        if e.low is not None and part_of(e.where, "part") and part_of(e.where, "method") in few
        else _bounded(e)
        for e in found
    ]


def _stored_rows(run: Run, settings: Settings) -> list[_MethodRows]:
    """Return the texts of every method of a finished run as rows."""
    return run.once(
        ("rows", settings), lambda: [_MethodRows(run, settings, t) for t in load_long_answers(run)]
    )


def claim_signers(run: Run) -> dict[str, str]:
    """Return who labeled the claims, took texts apart and made questions, as signatures have it."""
    texts = {v.by for v in stored_verdicts(run, f"{STAGE}-claims")}
    texts |= {v.by for v in stored_verdicts(run, STAGE) if v.by == PEOPLE_SAID}
    table = f"asked/{STAGE}"
    questions = {row.by for row in rows_if_any(run, table, ClaimQuestion)}
    return {
        "support": checkers(run),
        "claims": "+".join(sorted(texts)) or "nobody",
        "questions": "+".join(sorted(questions)) or "nobody",
    }


def signature_of_method(
    run: Run, settings: Settings, method: str, by: Mapping[str, str]
) -> Signature:
    """Return every setting behind the numbers of a method; ``by`` is :func:`claim_signers`."""
    s = settings
    answer = f"{s.ask}-T{s.answer.temperature:g}/{tokens_for(s.answer, 'long')}"
    if s.keep_answered:
        answer += f"/kept-{s.keep_answered}"
    if method == "cautious":
        answer += f"/cautious-{s.answer.candidates}@{s.answer.sure:g}"
    return run.signature(
        method=method,
        **by,
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


#: numbers of what is left out
LACKING = ("claims_without_label", "answers_without_claims")
#: reasons why a text has no claims to be counted
EMPTY, NO_CLAIM = "empty", "no claim"
SILENT = (
    "These texts are refusals that the filter's phrases miss, hold only code, verse, instructions "
    "and the like, or could not be read. They count as 0 claims and are left out of factuality."
)
#: in the signature of claims that rules checked
BY_RULES = "support-rules@"
RULES_CHECK = (
    "Claims are checked by rules: many true claims count as unsupported, and an invented claim "
    "that uses the passage's own names passes. Before you publish numbers, check claims with a "
    "model (--judge MODEL) or with people's labels."
)


def cautions(estimates: Sequence[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return sentences about claims without a label, and a model that answers by position.

    The same of several ways of asking is one sentence.
    """
    lines, by_mode = list[str](), defaultdict[tuple[str, str], dict[str, float]](dict)
    empty, declined = dict[str, float](), dict[str, float]()
    if any(BY_RULES in signature_text(e.signature) for e in estimates if e.name == "factscore"):
        lines.append(RULES_CHECK)
    for e in estimates:
        place, value = dict(e.where), e.value or 0.0
        method, why = place.get("method", ""), place.get("problem", "")
        if e.name == "answers_without_claims" and why == EMPTY:
            empty[method] = value
        if e.name == "response_rate" and e.value is not None:
            declined[method] = 1 - value
        if e.name in LACKING and value >= UNCHECKED:
            lines.append(f"{method}: {_lack(e, why)}")
        if e.name in BY_MODE and "part" not in place and e.value is not None:
            blind = not 1 - ACCEPTS < value < ACCEPTS
            if blind if e.name == "accept_rate" else value > FLIPS:
                by_mode[method, e.name][place.get("mode", "")] = value
    for method, share in declined.items():
        refused = share - empty.get(method, 0)
        if refused > UNCHECKED:
            lines.append(
                f"{method}: {_percent(refused)} of the texts do not answer, judged by refusal "
                "phrases or by their labels. They are left out."
            )
    for (method, name), values in by_mode.items():
        modes = ", ".join(f'"{ASKED.get(mode, mode)}"' for mode in values)
        each = [_percent(value) for value in values.values()]
        shares = each[:1] if len(set(each)) == 1 else each
        lines.append(f"{method}, asked {modes}: {BY_MODE[name].format(', '.join(shares))}")
    return lines


def _lack(e: Estimate, why: str) -> str:
    """Return how many claims have no label, or how many texts no claims, and why."""
    share = _percent(e.value)
    if e.name == "claims_without_label":
        reason = f"{why}: {ADVICE[why]}" if why in ADVICE else why
        return (
            f"{share} of the claims have no label ({reason}). The bounds of factuality show how "
            "much these claims could change it."
        )
    if why == EMPTY:
        few, every = int(e.numerator or 0), int(e.denominator or 0)
        return f"{few:,} of {every:,} texts {'is' if few == 1 else 'are'} empty and left out."
    if why == NO_CLAIM:
        return f"{share} of the texts claim nothing. {SILENT}"
    return f"{share} of the answers lack some claims ({why}) and are left out of every number."


def _percent(value: float | None) -> str:
    return f"{value or 0:.0%}".replace("%", " %")


# ---- rows of texts, sentences and claims, and what is declared of them

#: topics below which nothing along the text has an interval, and no movement is told
LEAST_TOPICS = 10
PAIR: frozenset[Use] = RUN | {"pair"}
STUDIED: frozenset[Use] = PAIR | {"study"}
LABELED: frozenset[Use] = frozenset({"people"})


class _MethodRows:
    """The texts of one method of a run as rows, and the settings behind numbers of them.

    Two runs are joined by the prompt, and by the text's number among those to one prompt.
    """

    def __init__(self, run: Run, settings: Settings, texts: LongAnswers) -> None:
        self.run, self.settings, self.texts = run, settings, texts
        signers = run.once("claim signers", lambda: claim_signers(run))
        self.signature = signature_of_method(run, settings, texts.method, signers)
        answered = Counter[str]()
        keys = []
        for g in texts.kept:
            keys.append((g.question, answered[g.question]))
            answered[g.question] += 1
        names = np.array(texts.names, dtype=np.str_)
        self.by_text = Rows(keys, texts.entity, names, called="text")
        #: texts of a prompt, of which each run may count others
        self.unpaired = dataclasses.replace(self.by_text, paired=False)
        self.place = texts.places(settings.bins, settings.closed)
        self.claim_place = texts.claim_places(settings.bins, settings.closed)
        #: claims S, NS, IR and unlabeled of each sentence
        self.counts = texts.counts()

    def _inside(self, text: Ints) -> Rows:
        keys, entity, names = self.by_text.keys, self.by_text.entity, self.by_text.names
        return Rows([keys[n] for n in text], entity[text], names[text], paired=False, called="text")

    @cached_property
    def by_sentence(self) -> Rows:
        """The sentences of all texts."""
        return self._inside(self.texts.s_text)

    @cached_property
    def by_claim(self) -> Rows:
        """The claims of all texts, with their verdicts."""
        texts = self.texts
        asked = {v.target: v.asked for v in stored_verdicts(self.run, SUPPORT)}
        places = [(c.id, asked[c.id]) if c.id in asked else None for c in texts.claims]
        return dataclasses.replace(
            self._inside(texts.text), stage=SUPPORT, places=places, read=texts.label >= 0
        )

    @cached_property
    def own(self) -> list[OwnAnswers]:
        """What the model said of each claim, by way of asking."""
        return own_answers(self.run, self.texts)

    def number(
        self, name: str, of: Counted, where: Slice = (), uses: frozenset[Use] = RUN, **own: Any
    ) -> Declared:
        """Return a number of these texts; ``own`` are further fields of :class:`Declared`."""
        metric = NUMBERS[name]
        if not of.counts.any():
            uses -= {"study"}
        return Declared(
            name, slice_of(method=self.texts.method) + where, of, self.signature, uses,
            metric.limits, metric.higher, **own,
        )  # fmt: skip

    def parts(self) -> Iterator[tuple[int, Slice]]:
        """Yield each part of the text, the first being 0, with its slice: ``part:1/5``."""
        bins = self.settings.bins
        yield from ((part, slice_of(part=f"{part + 1}/{bins}")) for part in range(bins))

    def whole_and_parts(self) -> Iterator[tuple[Slice, Mask]]:
        """Yield which claims are in the whole text and in each part of it, by slice."""
        yield (), np.ones(len(self.texts.claims), dtype=bool)
        yield from ((where, self.claim_place == part) for part, where in self.parts())


# ---- ratios of sums, means and shares with their intervals

#: how far an interval may be from the whole scale, and above a mean of counts, and still tell
ALMOST, TIMES = 0.005, 10


def _bounded(e: Estimate) -> Estimate:
    """Return a number without an interval that leaves open what it is: as wide as its scale."""
    if e.value is None or e.low is None or e.high is None:
        return e
    limits = NUMBERS[e.name].limits
    if limits is not None and np.isinf(limits[1]):
        unbounded = e.high > TIMES * e.value
    else:
        least = -1 if e.low < 0 else 0  # of a difference, and of a share
        unbounded = e.low < least + ALMOST and e.high > 1 - ALMOST
    return _only_value(e, "no interval: too few topics to bound it") if unbounded else e


def _only_value(e: Estimate, why: str) -> Estimate:
    """Return a number without its interval."""
    return msgspec.structs.replace(e, low=None, high=None, problem=why)


def _of_enough(e: Estimate, texts: int, topics: int) -> Estimate:
    """Return a number about how texts move; without its interval where they are too few."""
    if e.value is None or topics >= LEAST_TOPICS:
        return e
    some = f"{texts} text{'s' * (texts != 1)}"
    about = "" if texts == topics else f" about {topics} topic{'s' * (topics != 1)}"
    return _only_value(e, f"{some}{about} cannot show a trend, which needs {LEAST_TOPICS} topics")


def ratio_of_sums(top: Floats, bottom: Floats, weights: Floats | None = None) -> Any:
    """Return sum(top) / sum(bottom), weights (n,) or (B, n)."""
    w = np.ones(len(top)) if weights is None else np.asarray(weights)
    ratio = divide(w @ top, w @ bottom)
    return ratio if np.ndim(ratio) else float(ratio)


def _ratio(
    top: Floats,
    bottom: Floats,
    clusters: Ints,
    n: int,
    seed: int,
    *,
    limits: Range | None = (0.0, 1.0),
) -> Estimate:
    """Return a ratio of sums of the rows whose numerator is none of NaN."""
    use = ~np.isnan(top)
    name = ratio_of_sums.__name__
    return bootstrap_ratio(name, top[use], bottom[use], clusters[use], n, seed, limits)


#: a ratio of sums and a mean in 0..1, of counts, and of differences
RATIO = Weighted(ratio_of_sums, _ratio, combined=False)
COUNT = RATIO._replace(own=partial(_ratio, limits=(0.0, np.inf)))
BIAS = RATIO._replace(own=lambda *sides, **about: within(_ratio(*sides, **about, limits=None)))


def _mean(
    rows: Rows,
    values: Floats,
    use: ArrayLike = True,
    metric: Weighted = RATIO,
    lost: Mask | None = None,
) -> Counted:
    """Return the mean of values (n,) of the rows in ``use``."""
    columns = [np.where(use, values, np.nan), np.ones(len(values))]
    return Counted(rows, metric, columns, lost)


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


# ---- how many answers and claims count, and why the others do not


def answer_counts(texts: LongAnswers) -> Iterator[Estimate]:
    """Yield how many answers there are and why some do not count."""
    kept, claims = len(texts.kept), len(texts.claims)
    came = texts.answers - texts.failed
    rate = _count_share("response_rate", kept + texts.aside, came)
    problem = rate.problem and "no answer came"
    yield msgspec.structs.replace(rate, missing=texts.failed, problem=problem)
    if texts.empty:
        yield _count_share("answers_without_claims", texts.empty, came, slice_of(problem=EMPTY))
    if kept:
        bare = kept - len(set(texts.text.tolist()))
        yield _count_share("answers_without_claims", bare, kept, slice_of(problem=NO_CLAIM))
    yield from _by_reason("claims_without_label", texts.problem, claims)
    astray = int((texts.sentence < 0).sum())
    if astray:
        share = _count_share("claims_without_sentence", astray, claims)
        yield msgspec.structs.replace(share, problem="left out of all numbers by position")


def unread(run: Run, texts: LongAnswers) -> Iterator[Estimate]:
    """Yield how many answers lack claims, by reason: whoever took them apart could not be read."""
    mine = {g.id for g in texts.kept}
    splits = stored_verdicts(run, f"{STAGE}-claims")
    problems = (v.problem for v in splits if v.target in mine)
    yield from _by_reason("answers_without_claims", problems, len(texts.kept))


def _by_reason(name: str, problems: Iterable[str | None], of: int) -> Iterator[Estimate]:
    """Yield the share of each problem that there is."""
    counts = Counter(problem for problem in problems if problem is not None)
    for problem, number in sorted(counts.items()):
        yield _count_share(name, number, of, slice_of(problem=problem))


# ---- whole texts: FActScore, its relatives, length

#: a domain with fewer answers than this gets no number of its own
LEAST_ANSWERS = 5


def wanted_facts(every: Sequence[LongAnswers]) -> int:
    """Return K of F1@K: the median of the supported claims over the answers of *all* methods.

    One K for all: with a K of its own, a method with fewer claims would have to give fewer facts.
    """
    sizes = [s for texts in every for s, ns in texts.per_answer()[:, :2] if s + ns > 0]
    return max(1, int(np.median(sizes))) if sizes else 1


def _factscore(of: _MethodRows) -> Declared:
    s, ns, _, lost = of.texts.per_answer().T
    rated = s + ns
    bounds = _bound(s, rated + lost), _bound(s + lost, rated + lost)
    return of.number(
        "factscore", _mean(of.by_text, divide(s, rated), lost=lost > 0), uses=STUDIED,
        missing=int(lost.sum()), bounds=bounds,
    )  # fmt: skip


def _whole_texts(of: _MethodRows) -> Iterator[Declared]:
    """Yield FActScore, the share of all claims, and claims per text."""
    table = of.texts.per_answer()
    s, ns, _, lost = table.T
    yield _factscore(of)
    pooled = Counted(of.by_text, RATIO, [s, s + ns], lost > 0)
    yield of.number("factuality_micro", pooled, uses=PAIR, missing=int(lost.sum()))
    size = _mean(of.by_text, table.sum(axis=1), metric=COUNT)
    yield of.number("claims_per_answer", size, uses=STUDIED)


def _lengths(of: _MethodRows, k: int, first: int) -> Iterator[Declared]:
    """Yield what to read with FActScore; ``k`` of F1@K, ``first`` of precision at equal length."""
    texts, rows = of.texts, of.by_text
    s, ns, ir, _ = texts.per_answer().T
    rated = s + ns
    some = rated > 0
    share = divide(s, rated)
    penalty = np.array([length_penalty(int(n), of.settings.gamma) or 0.0 for n in rated])
    yield of.number("factscore_penalized", _mean(rows, share * penalty))
    f1 = np.array([f1_at_k(a, b, k) or 0.0 for a, b in zip(s, ns, strict=True)])
    yield of.number("f1_at_k", _mean(rows, f1, some), slice_of(k=str(k)))
    yield of.number("irrelevant_share", Counted(rows, RATIO, [ir, rated + ir]))
    for domain in dict.fromkeys(texts.domain.tolist()):
        own = some & (texts.domain == domain)
        if domain and own.sum() >= LEAST_ANSWERS and not own[some].all():
            yield of.number("factscore", _mean(rows, share, own), slice_of(domain=domain))
    if first:
        right, _ = equal_length(_labels(texts), first)
        hit = np.array(right) / first
        of_long = share_of_rows("precision_at_length")
        long = Counted(rows.take(rated >= first), of_long, [np.stack([1 - hit, hit], axis=1)])
        yield of.number("precision_at_length", long, slice_of(first=str(first)))


def _bound(top: Floats, bottom: Floats) -> float | None:
    """Return the mean over answers of a share with every unlabeled claim put on one side."""
    some = bottom > 0
    return float((top[some] / bottom[some]).mean()) if some.any() else None


def common_length(every: Sequence[LongAnswers]) -> int:
    """Return how many claims of a text count for precision at equal length; 0 without any.

    The number is the median of the shortest method, so that a method gains nothing by brevity.
    """
    tables = [t.per_answer() for t in every]
    sizes = [table[table.sum(axis=1) > 0, :2].sum(axis=1) for table in tables]
    return int(min((float(np.median(own)) for own in sizes if len(own)), default=0.0))


def _labels(texts: LongAnswers) -> list[list[str]]:
    """Return the labels of each answer's claims in order of the text."""
    labels: list[list[str]] = [[] for _ in texts.kept]
    number = np.where(texts.sentence >= 0, texts.sentence, len(texts.s_text))
    for row in np.lexsort((np.arange(len(number)), number)).tolist():
        code = int(texts.label[row])
        labels[int(texts.text[row])].append(LABELS[code] if code >= 0 else "")
    return labels


def _requested(of: _MethodRows) -> Iterator[Declared]:
    """Yield recall of the facts that the data ask for."""
    run, texts = of.run, of.texts
    row = {g.id: n for n, g in enumerate(texts.kept)}
    found = [v for v in stored_verdicts(run, f"{STAGE}-aspects") if v.target in row]
    if not found:
        return
    at = np.array([row[v.target] for v in found])
    values = np.array([v.value or "" for v in found], dtype=np.str_)
    rows = Rows([v.asked for v in found], texts.entity[at], of.by_text.names[at])
    told = Counted(rows, share_of_rows("recall"), [ones(values == "correct", values != "")])
    yield of.number("recall", told, missing=int((values == "").sum()))


# ---- factuality along the text (section 3)
# Sentence i of n lies at i/n in right-closed parts. Texts shorter than the number of parts never
# reach the first, so that the slope is measured inside texts.

#: column of Texts.counts -> what a mean of it is called
COUNTED = {0: "supported", 1: "unsupported", 2: "irrelevant"}


def _along(of: _MethodRows) -> Iterator[Declared]:
    """Yield S/(S+NS) of each part of the text, and its slope inside texts."""
    s, ns, _, lost = of.counts.T
    rated, text = s + ns, of.texts.s_text
    share = divide(s, rated)
    for part, where in of.parts():
        here = of.place == part
        some = here & (rated > 0)
        if of.settings.average == "micro":
            counted = Counted(of.by_sentence, RATIO, [np.where(some, s, np.nan), rated])
        elif of.settings.average == "generation":
            count = len(of.texts.kept)
            total = np.bincount(text[some], share[some], minlength=count)
            means = divide(total, np.bincount(text[some], minlength=count))
            counted = _mean(of.unpaired, means)
        else:
            counted = _mean(of.by_sentence, share, some)
        missing = int(lost[here].sum())
        yield of.number("factuality", counted, where, PAIR, missing=missing, least=LEAST_TOPICS)
    across, spread, size = slope_sums(share, of.texts.position, text, len(of.texts.kept))
    slope = RATIO._replace(own=partial(_slope, int(size[size > 1].sum())))
    sums = Counted(of.unpaired, slope, [across, spread])
    yield of.number("trend", sums, uses=PAIR, missing=int(lost.sum()), least=LEAST_TOPICS)


def _slope(
    sentences: int, across: Floats, spread: Floats, clusters: Ints, n: int, seed: int
) -> Estimate:
    """Return the slope inside texts of the sums of each."""
    use = ~np.isnan(across)
    if not use.any():
        return Estimate("trend", problem="no text has two sentences with claims")
    topics = clusters[use]
    slope = bootstrap(
        ratio_of_sums, across[use], spread[use], clusters=topics, n=n, seed=seed, limits=None
    )
    slope = msgspec.structs.replace(slope, n=sentences)
    return _of_enough(slope, int(use.sum()), len(np.unique(topics)))


def _counts_along(of: _MethodRows) -> Iterator[Declared]:
    """Yield counts and shares of each kind of claim by part of the text."""
    rows, labeled = of.by_sentence, of.counts[:, :3].sum(axis=1)
    # a sentence of which no claim has a label says nothing of how many are unsupported
    for column, label in COUNTED.items():
        count = of.counts[:, column]
        for part, where in of.parts():
            here = (labeled > 0) & (of.place == part)
            per = _mean(rows, count, here, COUNT)
            yield of.number(f"{label}_per_sentence", per, where)
            mean = _mean(rows, divide(count, labeled), here)
            yield of.number(f"{label}_share", mean, where)


def _wording(of: _MethodRows) -> Iterator[Declared]:
    """Yield the mean decisiveness of the claims in each part of the text."""
    if not of.run.folder.has(f"verdicts/{STAGE}-decisive"):
        return
    sure = {v.target: v.number for v in of.run.folder.read(f"verdicts/{STAGE}-decisive", Verdict)}
    score = np.array([sure.get(c.id) for c in of.texts.claims], dtype=np.float64)  # None: NaN
    for part, where in of.parts():
        mean = _mean(of.by_claim, score, of.claim_place == part)
        yield of.number("decisiveness", mean, where)


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


#: of each claim: accepted and rejected as :func:`judged` says it, supported, its topic
JudgedClaims = tuple[Floats, Floats, Mask, NDArray[np.str_]]


class OwnAnswers(NamedTuple):
    """What the model said about each claim of a method in one setting, (c,)."""

    mode: str
    labels: list[str | None]
    verdicts: list[Verdict | None]


def own_answers(run: Run, texts: LongAnswers) -> list[OwnAnswers]:
    """Return the model's judgement of its claims in each setting that was asked."""
    every = []
    for mode in MODES:
        if not run.folder.has(f"verdicts/self-{mode}"):
            continue
        by_claim: Mapping[str, Verdict] = {
            v.target: v for v in run.folder.read(f"verdicts/self-{mode}", Verdict)
        }
        verdicts = [by_claim.get(c.id) for c in texts.claims]
        every.append(OwnAnswers(mode, [v.label if v else None for v in verdicts], verdicts))
    return every


def _opinions(of: _MethodRows) -> Iterator[Declared]:
    """Yield SK, SU and the accept rate by setting, of all claims and of each part of the text."""
    for own in of.own:
        for where, here in of.whole_and_parts():
            yield from _known_shares(of, own, here, where, RUN if where else STUDIED)


def _known_shares(
    of: _MethodRows, own: OwnAnswers, here: Mask, where: Slice, uses: frozenset[Use]
) -> Iterator[Declared]:
    """Yield SK, SU and the accept rate over the claims ``here``."""
    accepted, rejected = judged(own.labels, of.settings.noa)
    read, label = ~np.isnan(accepted), of.texts.label
    for name, hit, claims in (
        ("SK", accepted == 1, label == SUPPORTED),
        ("SU", rejected == 1, label == UNSUPPORTED),
        ("accept_rate", accepted == 1, of.texts.rated),
    ):
        every = here & claims
        missing, top, whole = (
            int(of_them.sum()) for of_them in (every & ~read, every & hit, every)
        )
        share = share_of_rows(name)._replace(combined=False)
        yield of.number(
            name, Counted(of.by_claim, share, [ones(hit, every & read)]),
            slice_of(mode=own.mode) + where, uses, missing=missing,
            bounds=(top / whole, (top + missing) / whole) if whole else None,
        )  # fmt: skip


def _of_known(sums: Floats) -> dict[str, Floats]:
    """Return Equation 3 of sums (..., 4); see :func:`sayso.metrics.factuality.judged_counts`."""
    known, unknown = divide(sums[..., 1], sums[..., 0]), divide(sums[..., 3], sums[..., 2])
    whole = divide(1 - unknown, 2 - unknown - known)
    return {"equation3_in_sample": whole, "SK": known, "SU": unknown}


def _in_sample(sums: Floats, n: int, seed: int) -> dict[str, Estimate]:
    value = Estimate("equation3_in_sample", problem=IN_SAMPLE)
    if sums.any():
        value = bootstrap(in_sample_factuality, sums, n=n, seed=seed)
        problem = value.problem if value.value is not None else IN_SAMPLE
        claims = int(sums[:, [0, 2]].sum())
        value = msgspec.structs.replace(value, n=claims, problem=problem)
    return {"equation3_in_sample": value}


CLAIMS = {"SK": "supported claims", "SU": "unsupported claims"}
EQUATION3 = Sums(
    _of_known, 4, _in_sample, shares=tuple(CLAIMS), composed={"equation3_in_sample": CLAIMS}
)


def _known_sums(of: _MethodRows, own: OwnAnswers, here: Mask) -> Floats:
    """Return what :func:`judged_counts` says of each claim ``here`` by itself, (c, 4)."""
    every = np.arange(len(here))
    place = np.where(of.texts.rated & here, 0, -1)
    supported = of.texts.label == SUPPORTED
    return judged_counts(*judged(own.labels, of.settings.noa), supported, every, place, 1)[:, 0]


def _equation3(of: _MethodRows) -> Iterator[Declared]:
    """Yield Equation 3 with SK and SU of the same claims, of all and of each part of the text."""
    rated = of.texts.rated
    rows = of.by_claim.take(rated)
    for own in of.own:
        for where, here in of.whole_and_parts():
            counted = Counted(rows, EQUATION3, [_known_sums(of, own, here)[rated]])
            yield of.number("equation3_in_sample", counted, slice_of(mode=own.mode) + where)


def _read_by_people(of: _MethodRows) -> Iterator[Declared]:
    """Yield what people's labels of claims correct: shares of claims, SK, SU and Equation 3."""
    rows, label = of.by_claim, of.texts.label
    for name, hit, claims in (
        ("factuality_micro", label == SUPPORTED, of.texts.rated),
        ("irrelevant_share", label == LABELS.index("IR"), label >= 0),
    ):
        yield of.number(name, Counted(rows, share_of_rows(name), [ones(hit, claims)]), uses=LABELED)
    whole = np.ones(len(label), dtype=bool)
    for own in of.own:
        *known, _ = _known_shares(of, own, whole, (), LABELED)
        yield from known
        counted = Counted(rows, EQUATION3, [_known_sums(of, own, whole)])
        yield of.number("equation3_in_sample", counted, slice_of(mode=own.mode), LABELED)


def predictions(of: _MethodRows) -> Iterator[Estimate]:
    """Yield, for each way of asking, predictions from other texts, correlations and flips."""
    texts, settings = of.texts, of.settings
    rated = texts.rated
    for own in of.own:
        said = _judged_claims(texts, own, settings)
        found = [
            msgspec.structs.replace(e, where=where)
            for where, here in of.whole_and_parts()
            for e in _predicted(said, here[rated], settings)
        ]
        found += _by_order(own)
        along = judged_counts(*said, of.claim_place[rated], settings.bins)
        found += _correlations(along, settings, len(texts.kept), len(set(texts.names)))
        mode = slice_of(mode=own.mode)
        yield from (msgspec.structs.replace(e, where=mode + e.where) for e in found)
    for where, claims, gone, both in _none_flips(of.own, texts):
        answered = claims & both
        share = _count_share("none_flips", int(gone[answered].sum()), int(answered.sum()), where)
        yield msgspec.structs.replace(share, missing=int((claims & ~both).sum()))


def _judged_claims(texts: LongAnswers, own: OwnAnswers, settings: Settings) -> JudgedClaims:
    """Return of each claim that is supported or not: accepted, rejected, supported, its topic."""
    rated, topic = texts.rated, np.array(texts.names, dtype=np.str_)[texts.text]
    accepted, rejected = judged(own.labels, settings.noa)
    return accepted[rated], rejected[rated], texts.label[rated] == SUPPORTED, topic[rated]


def _predicted(claims: JudgedClaims, here: Mask, settings: Settings) -> Iterator[Estimate]:
    """Yield factuality as labels say it, and as the two formulas predict it from other texts."""
    fitted = cross_fit(*claims, here, settings.folds, settings.ci_seed)
    for name, value in (
        ("labeled_factuality", fitted.factuality),
        ("equation3", fitted.equation3),
        ("rogan_gladen", fitted.rogan_gladen),
        ("overconfidence", fitted.gap),
    ):
        blind = BLIND if name == "rogan_gladen" and fitted.equation3 is not None else UNFITTED
        problem = None if value is not None else blind
        yield Estimate(name, value=value, n=fitted.claims, problem=problem)


def _correlations(
    counts: Floats, settings: Settings, texts: int, topics: int
) -> Iterator[Estimate]:
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
                    n=settings.resamples, seed=settings.ci_seed,
                )  # fmt: skip
            problem = e.problem if e.value is not None else TOO_FLAT
            where = slice_of(**{"with": curve})
            e = msgspec.structs.replace(e, where=where, n=places[curve], problem=problem)
            yield _of_enough(e, texts, topics)


def across_models(
    models: Sequence[tuple[LongAnswers, OwnAnswers, Settings]],
) -> Iterator[Estimate]:
    """Yield the same correlations with a model for each place: its texts, what was said of them.

    Texts of all models about one topic are resampled together.
    """
    claims = [_judged_claims(*one) for one in models]
    place = np.repeat(np.arange(len(models)), [len(topic) for *_, topic in claims])
    accepted, rejected, supported, topic = map(np.concatenate, zip(*claims, strict=True))
    counts = judged_counts(accepted, rejected, supported, topic, place, len(models))
    texts = sum(len(one.kept) for one, _, _ in models)
    yield from _correlations(counts, models[0][2], texts, len(counts))


def _by_order(own: OwnAnswers) -> Iterator[Estimate]:
    """Yield how often the order of the options changed the answer, and what was not understood."""
    raw = [v.raw.partition("|") for v in own.verdicts if v is not None and v.raw]
    replies = [[name for name in names.split(",") if name != "?"] for names, _, _ in raw]
    several = [options for options in replies if len(options) > 1]
    masses = [float(mass) for _, _, mass in raw if mass]
    yield _count_share("order_flips", sum(len({*one}) > 1 for one in several), len(several))
    if masses:
        low = sum(mass < LEAST_MASS for mass in masses)
        yield _count_share("not_understood", low, len(masses))


def _none_flips(
    every: Sequence[OwnAnswers], texts: LongAnswers
) -> Iterator[tuple[Slice, Mask, Mask, Mask]]:
    """Yield, for each class of claims, its slice, its claims, those that flip, and all answered.

    A claim flips that is accepted until "none of the above" is offered. It is answered if it was
    both times.
    """
    by_mode = {own.mode: own.labels for own in every}
    if "qa" not in by_mode or MAIN not in by_mode:
        return
    pairs = list(zip(by_mode["qa"], by_mode[MAIN], strict=True))
    both = np.array([None not in pair for pair in pairs], dtype=bool)
    gone = np.array([a == "yes" and b in ("no", "none") for a, b in pairs], dtype=bool)
    for label, name in ((SUPPORTED, "supported"), (UNSUPPORTED, "unsupported")):
        yield slice_of(**{"class": name}), texts.label == label, gone, both


def _flips_along(of: _MethodRows) -> Iterator[Declared]:
    """Yield how many claims of a class flip, by part of the text."""
    for where, claims, gone, both in _none_flips(of.own, of.texts):
        for part, at in of.parts():
            here = claims & (of.claim_place == part)
            share = Counted(of.by_claim, share_of_rows("none_flips"), [ones(gone, here & both)])
            missing = int((here & ~both).sum())
            yield of.number("none_flips", share, where + at, missing=missing)


# ---- which score of a claim finds the unsupported ones


def _scores(of: _MethodRows) -> Iterator[Declared]:
    """Yield each score's AUROC for unsupported claims, of all and of each part of the text."""
    run, texts = of.run, of.texts
    if not run.folder.has("scores/claims"):
        return
    row = {c.id: n for n, c in enumerate(texts.claims)}
    values = {name: np.full(len(row), np.nan) for name in CLAIM_SCORES}
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for s in rows_if_any(run, "scores/claims", Score):
        if s.target in row and s.value is None:
            reasons[s.method][s.problem or "no value"] += 1
        elif s.target in row and s.method in values:
            values[s.method][row[s.target]] = s.value
    wrong = np.where(texts.rated, texts.label == UNSUPPORTED, np.nan)
    for name, score in values.items():
        has = ~np.isnan(score)
        for part, here in of.whole_and_parts():
            metric = Weighted(auroc, _auroc)
            if not (texts.rated & has & here).any():
                if part:
                    continue
                why = next((why for why, _ in reasons[name].most_common(1)), "no claim has a label")
                metric = metric.without_value("auroc", why)
            ranked = Counted(of.by_claim, metric, [np.where(here, score, np.nan), wrong])
            lost = int((texts.rated & ~has & here).sum())
            yield of.number("auroc", ranked, slice_of(score=name) + part, missing=lost)


def _auroc(score: Floats, wrong: Floats, clusters: Ints, n: int, seed: int) -> Estimate:
    """Return the AUROC of the rows with score and label."""
    use = ~(np.isnan(score) | np.isnan(wrong))
    return bootstrap_auroc(score[use], wrong[use], clusters=clusters[use], n=n, seed=seed)


# ---- a checker of claims against people, where both labeled the same claims
# Agreement alone hides a checker that is too strict at the end of a text, or with long texts, and
# so makes the curve it is used for. Hence also its factuality minus people's, also by part of the
# text.


def _checker(of: _MethodRows) -> Iterator[Declared]:
    """Yield agreement and the checker's bias, over claims that both labeled S or NS."""
    run, rows = of.run, of.by_claim
    if not (run.folder.has(f"verdicts/{PEOPLE}") and run.folder.has(f"verdicts/{SUPPORT}")):
        return

    def supported(table: str) -> Floats:
        label = {v.target: v.label for v in run.folder.read(f"verdicts/{table}", Verdict)}
        code = {"S": 1.0, "NS": 0.0}
        return np.array([code.get(label.get(c.id) or "", np.nan) for c in of.texts.claims])

    checked, true = supported(SUPPORT), supported(PEOPLE)
    both = ~np.isnan(checked) & ~np.isnan(true)
    lost = int((~np.isnan(true) & np.isnan(checked)).sum())
    alike = Counted(rows, share_of_rows("verifier_agreement"), [ones(checked == true, both)])
    yield of.number("verifier_agreement", alike, missing=lost)
    for where, here in of.whole_and_parts():
        yield of.number("verifier_bias", _mean(rows, checked - true, both & here, BIAS), where)


# ---- two methods of one run on the same topics, subtracted

#: methods that are texts of the same model on the same topics, written in another way
AGAINST_PLAIN = ("retrieval", "revised", "cautious")
SAME_IN_ALL = "no interval: no topic differs between the two methods"


def gains_over_plain(plain: _MethodRows, of: _MethodRows) -> Iterator[Estimate]:
    """Yield what such a method changes: FActScore and precision at equal recall, minus plain's.

    Of texts to prompts that both answered, topics resampled together: ``factscore_minus_plain``.
    """
    sides, settings = (plain, of), of.settings
    precise = _at_recall(sides)
    again = settings.resamples, settings.ci_seed
    for e, where in zip(estimates_of(precise, *again), (slice_of(of="plain"), ()), strict=True):
        yield msgspec.structs.replace(e, where=where)
    first, second = (
        [d._replace(where=()) for d in (_factscore(side), own)]
        for side, own in zip(sides, precise, strict=True)
    )
    for _, _, gap in differences(first, second, *again):
        # two methods that count the same in every topic of a sample need not on others: a text that
        # only stops early has the plain text's claims up to any cut
        same = gap.low is not None and gap.low == gap.high
        gain = _only_value(gap, SAME_IN_ALL) if same else gap
        yield msgspec.structs.replace(gain, name=f"{gap.name}_minus_plain")


def _at_recall(sides: Sequence[_MethodRows]) -> list[Declared]:
    """Return the precision of both sides at equal recall.

    Of each text m is the smaller number of supported claims, and each side's text is cut behind its
    m-th: sum of m / sum of (m + unsupported claims before the cut), over texts to the same prompt.
    """
    labels = [dict(zip(side.by_text.keys, _labels(side.texts), strict=True)) for side in sides]
    right = [{key: own.count("S") for key, own in side.items()} for side in labels]
    wanted = {key: min(n, right[1][key]) for key, n in right[0].items() if key in right[1]}
    found = []
    for side, own in zip(sides, labels, strict=True):
        m = np.array([wanted.get(key, np.nan) for key in own], dtype=np.float64)
        wrong = unsupported_before([*own.values()], [wanted.get(key, 0) for key in own])
        counted = Counted(side.by_text, RATIO, [m, m + np.array(wrong)])
        found.append(side.number("precision_at_recall", counted, uses=PAIR))
    return found
