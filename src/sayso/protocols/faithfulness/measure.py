"""Every number of a faithfulness run: pure, from what is stored.

Where a method was asked with several choices of demonstrations, a score is that of each choice,
averaged, within every resample too: answers of different choices share no bin.

With several methods one looks better than the plain question by chance alone: their gains on it are
counted on the bins that all methods fill, and corrected together (Holm). Runs are compared on the
bins that all of them fill: they would otherwise compare different ranges of confidence.

Labels of sureness correct what the reader of wording says: decisiveness, cMFG and MFG. In these,
confidence is what the run's comparisons with its draws say. Labels of an assertion and a draw
correct mean confidence.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.datasets.dataset import questions_hash
from sayso.judges.decisiveness import plain_decisiveness
from sayso.metric import FORMS
from sayso.metrics.arrays import divide, float_or_rows, or_none
from sayso.metrics.cmfg import (
    LEAST_IN_BIN,
    Binning,
    cmfg,
    cmfg_answers,
    cmfg_corrected,
    cmfg_parts,
    cmfg_references,
    confidence_bin,
    filling,
    mfg,
    shared_bins,
    skill,
    thin_bins,
    with_punts,
)
from sayso.metrics.compare_scores import difference_p, holm
from sayso.metrics.intervals import (
    UNMOVED,
    Statistic,
    bootstrap,
    bootstrap_difference,
    bootstrap_ratio,
    mean_freedom,
    telling,
)
from sayso.metrics.ranking import spearman
from sayso.prompts import methods
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.declared import (
    RUN,
    Counted,
    Declared,
    Place,
    Rows,
    Sums,
    Use,
    Weighted,
    estimates_of,
)
from sayso.protocols.faithfulness.demonstrations import TABLE, to_raise
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.rows import (
    PARTS,
    AnswerRows,
    Floats,
    MethodRows,
    draw_agreement,
    load_rows,
)
from sayso.protocols.faithfulness.settings import (
    STAGES,
    Settings,
    ambiguous_questions,
    said_ambiguous,
)
from sayso.protocols.faithfulness.verdicts import stored_ambiguity
from sayso.protocols.labeled import ReadByPeople, pair_target
from sayso.protocols.probes import count_draws
from sayso.protocols.protocol import Beside, ComparedRun, Run, rows_if_any, verdicts_at
from sayso.protocols.settings import tokens_for
from sayso.records import (
    Estimate,
    Generation,
    Question,
    Signature,
    Slice,
    Verdict,
    part_of,
    signature_of,
    slice_of,
)

NOTHING = "no answer has both decisiveness and confidence"
NOT_OFFLINE = "only for wording that the offline reader read"
FEW_EXAMPLES = "not asked: too few certain or uncertain answers to serve as examples; raise "


def numbers(
    run: Run, settings: Settings, people: Run | None = None, beside: Beside | None = None
) -> list[Declared]:
    """Return the numbers of a run, declared: of it alone, as people read it, or beside others."""
    if beside is not None:
        return list(_beside(run, settings, beside))
    every = load_methods(run, settings)
    if people is None:
        return [d for one in every for d in declared_of(one)]
    pairs = zip(every, load_rows(people, settings), strict=True)
    return [d for one, said in pairs for d in _labeled(one, said, run, people)]


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return the estimate of every number of a run, then what is no statistic of claims."""
    every = load_methods(run, settings)
    declared = [d for one in every for d in declared_of(one)]
    found = [*estimates_of(declared, settings.resamples, settings.ci_seed)]
    for one in every:
        found += map(one.signed, (*left_out(one.rows), *references(one), punts_as_zero(one)))
    for form in FORMS:
        of_form = [one for one in every if one.rows.form == form]
        found += [one.signed(e) for one, e in gains(of_form)]
    by = reader_signers(run, [one.rows for one in every])
    for name in methods.methods_in_list(settings.methods) if every else ():
        if not any(one.rows.method == name for one in every):
            where, why = slice_of(form="short", method=name), FEW_EXAMPLES + to_raise(settings)
            unasked = Estimate("skill", where, problem=why)
            found.append(_signed(unasked, numbers_signature(run, settings, "short", name, by)))
    whole = numbers_signature(run, settings, "all", "all", by)
    return [*found, *(_signed(e, whole) for e in _of_run(run))]


class AskedMethod:
    """One method in one form: all its rows, those that enter means, and what signs its numbers."""

    def __init__(self, rows: MethodRows, settings: Settings, signature: Signature = ()) -> None:
        self.rows, self.settings, self.signature = rows, settings, signature
        self.used = rows.scored(settings.pooled)
        self.where = slice_of(form=rows.form, method=rows.method)

    def number(
        self, name: str, of: Counted, where: Slice = (), uses: frozenset[Use] = RUN, lost: int = 0
    ) -> Declared:
        """Return a number of the method; ``where`` is the rest of its slice."""
        scale = NUMBERS[name]
        return Declared(
            name, self.where + where, of, self.signature, uses, scale.limits, scale.higher, lost
        )

    def signed(self, estimate: Estimate) -> Estimate:
        """Return an estimate with the method's slice before its own, and every setting."""
        return _signed(
            msgspec.structs.replace(estimate, where=self.where + estimate.where), self.signature
        )


def load_methods(run: Run, settings: Settings) -> list[AskedMethod]:
    """Return every method and form of a run, as :func:`load_rows` does."""
    every = load_rows(run, settings)
    by = reader_signers(run, every)
    return [
        AskedMethod(rows, settings, numbers_signature(run, settings, rows.form, rows.method, by))
        for rows in every
    ]


def _signed(estimate: Estimate, signature: Signature) -> Estimate:
    return msgspec.structs.replace(estimate, signature=signature_of(estimate.name, signature))


def _of_run(run: Run) -> Iterator[Estimate]:
    """Yield what the whole run is about: ambiguous questions, draws that never differ."""
    read = stored_ambiguity(run)
    for question in said_ambiguous(read) if read else ambiguous_questions(run.questions):
        yield Estimate("ambiguous", slice_of(question=question), value=1.0, n=1)
    draws = count_draws(run.folder.read("generations/draws", Generation))
    share = draws.alike / draws.drawn if draws.drawn else None
    yield Estimate(
        "draws_alike", value=share, numerator=draws.alike, denominator=draws.drawn, n=draws.drawn
    )


def reader_signers(run: Run, every: Sequence[MethodRows]) -> dict[str, str]:
    """Return who read wording and who compared, as the verdicts say, and the examples' set."""
    by: dict[str, str] = {}
    if read := stored_ambiguity(run):
        by["ambiguous"] = read[0].by
    if searched := rows_if_any(run, TABLE, Question):
        names = "+".join(sorted({q.dataset for q in searched}))
        by["demos"] = f"{names}-{questions_hash(tuple(searched))[:4]}"
    for form in dict.fromkeys(rows.form for rows in every):
        for name in ("decisive", "contradict"):
            for stage in STAGES[form]:
                if run.folder.has(f"verdicts/{stage}-{name}"):
                    verdicts = run.folder.read(f"verdicts/{stage}-{name}", Verdict)
                    by.setdefault(name, verdicts[0].by if verdicts else "nobody")
    return by


def numbers_signature(
    run: Run, settings: Settings, form: str, method: str, by: Mapping[str, str]
) -> Signature:
    """Return every setting that made the numbers of a method in a form."""
    s = settings
    demos, examples = s.demos, by.get("demos", PurePath(s.demos.data).name)
    votes = "pooled-" * s.pooled
    short, long = (tokens_for(s.answer, kind) for kind in ("short", "long"))
    return run.signature(
        form=form,
        method=method,
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
        if e.name == "left_out":
            reasons[LOST.get(part_of(e.where, "reason"), LOST["wording"])] += int(e.value or 0)
        if whole and e.missing > 0.05 * (e.missing + e.n):
            lacking.append(f"{_in_words(e.where)} {e.missing:,} of {e.missing + e.n:,}")
    del reasons[""]
    why = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
    return [
        f"Some claims are left out of every mean{f' ({why})' if why else ''}. More than 5 % are "
        f"left out in: {'; '.join(lacking)}. If these are the hedged ones, the words seem surer "
        "than they are."
    ] * bool(lacking)


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


# ---- scores, averaged over choices of demonstrations


def mean_over_choices(metric: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """Return a metric of (..., weight, choice): its mean over choices of demonstrations.

    The assertions of an answer share its weight. A choice where it is undefined is left out.
    """

    def over_choices(*arrays: Floats, weights: Floats | None = None) -> Any:
        *rest, own, choice = arrays
        W = own if weights is None else weights * own
        if not len(choice) or (choice == choice[0]).all():
            return metric(*rest, weights=W, **keywords)
        each = [choice == one for one in np.unique(choice)]
        values = [metric(*(a[u] for a in rest), weights=W[..., u], **keywords) for u in each]
        return float_or_rows(_mean(values))

    return over_choices


def _mean(values: Sequence[Any]) -> Floats:
    """Return the mean of values, or of rows of them, of those that are defined."""
    table = np.array(values, dtype=np.float64)
    return divide(np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0))


def binning_of(settings: Settings) -> Binning:
    """Return the bins of confidence that settings choose."""
    return Binning(settings.bins, empty=settings.empty)


#: why a skill of 0 has no interval: it is 0 whatever is resampled
CONSTANT = "no interval: all its words are equally decisive, so skill is 0 by definition"


class ClaimScore(NamedTuple):
    """A metric of some values of claims, or of answers: columns of their rows, by name."""

    metric: Statistic
    values: tuple[str, ...]

    @property
    def of_answers(self) -> bool:
        """An answer's claims have one vote together, as in the paper (Definitions 1 and 2)."""
        return self.values[0] == "f"

    @property
    def in_bins(self) -> bool:
        """It is a mean over bins of confidence."""
        return "j" in self.values

    def over_choices(self, binning: Binning, use: NDArray[np.bool_] | None = None) -> Statistic:
        """Return the metric, averaged over choices of demonstrations, of the bins in ``use``."""
        keywords = {"binning": binning, "use": use} if self.in_bins else {}
        return mean_over_choices(self.metric, **keywords)

    def weighted(
        self, name: str, binning: Binning, use: NDArray[np.bool_] | None = None
    ) -> Weighted:
        """Return the metric as a number declares it; ``use`` are bins that several runs fill."""
        own = partial(_score, name, binning)
        return Weighted(self.over_choices(binning, use), own, combined=use is None)

    def columns(self, claims: MethodRows, answers: AnswerRows) -> list[NDArray[Any]]:
        """Return what the metric takes: its values, weights, and choices of demonstrations."""
        rows = answers if self.of_answers else claims
        return [getattr(rows, name) for name in (*self.values, "weight", "choice")]


SCORES = {
    "skill": ClaimScore(skill, ("d", "j", "k")),
    "cmfg": ClaimScore(cmfg_answers, ("f", "j", "k")),
    "mfg": ClaimScore(mfg, ("f",)),
    "cmfg_aspects": ClaimScore(cmfg, ("d", "j", "k")),
    "mean_decisiveness": ClaimScore(mfg, ("d",)),
    "mean_confidence": ClaimScore(mfg, ("c",)),
    "spearman": ClaimScore(spearman, ("d", "c")),
    "accuracy": ClaimScore(mfg, ("right",)),
}
#: scores of the claims of a run; how often it is right is counted over answers there
OF_CLAIMS = tuple(name for name in SCORES if name != "accuracy")
#: scores of each domain, place in a paragraph, and choice of demonstrations
SLICED = ("skill", "cmfg", "mfg", "cmfg_aspects", "mean_decisiveness")
#: scores of a part of the claims that people labeled
LABELED = ("cmfg_aspects", "mean_decisiveness", "cmfg", "mfg")


def _score(
    name: str, binning: Binning, *columns: NDArray[Any], clusters: NDArray[Any], n: int, seed: int
) -> Estimate:
    """Return a score with its interval over entities."""
    if not len(clusters):
        return Estimate(name, problem=NOTHING)
    score, (*values, weight, choice) = SCORES[name], columns
    freedom = None
    if score.metric is mfg:  # the few entities decide that are not at the end of the range
        freedom = mean_freedom(values[0] * weight, weight, clusters)
    e = bootstrap(
        score.over_choices(binning), *columns, clusters=clusters, n=n, seed=seed,
        limits=NUMBERS[name].limits, name=name, freedom=freedom,
    )  # fmt: skip
    if name == "skill":
        if e.problem == UNMOVED and np.ptp(values[0]) == 0:
            return msgspec.structs.replace(e, problem=CONSTANT)
        e = msgspec.structs.replace(e, high=e.high if e.high is None else min(e.high, 1.0))
    if score.in_bins:
        notes = (thin_bins(d, j, k, binning) for d, j, k in by_choice(values, choice))
        if thin := next(filter(None, notes), None):
            return msgspec.structs.replace(e, low=None, high=None, problem=thin)
    return e


def by_choice(
    columns: Sequence[NDArray[Any]], choice: NDArray[Any]
) -> list[Sequence[NDArray[Any]]]:
    """Return the rows of each choice of demonstrations."""
    return [[column[choice == one] for column in columns] for one in np.unique(choice)]


# ---- the numbers of a run


def declared_of(one: AskedMethod) -> Iterator[Declared]:
    """Yield the numbers of one method in one form, the headline first."""
    # assertions or answers that have no reading; punts and omissions are none of those
    lost = one.rows.lost.items()
    missing = sum(n for reason, n in lost if reason not in ("asked", "omitted"))
    yield from scores(one, one.used, missing=missing)
    yield from answer_shares(one)
    yield from bin_means(one)
    for where, use in _slices(one.used):
        yield from scores(one, one.used.take(use), SLICED, where)
    yield from thoughts(one)


def _rows(held: MethodRows | AnswerRows) -> Rows:
    """Return rows of a run alone."""
    return Rows(range(len(held.entity)), held.entity, held.name, paired=False)


def scores(
    one: AskedMethod,
    used: MethodRows,
    names: Iterable[str] = OF_CLAIMS,
    where: Slice = (),
    missing: int = 0,
) -> Iterator[Declared]:
    """Yield skill, cMFG, MFG and the rest of some of a method's claims."""
    answers, binning = used.by_answer(), binning_of(one.settings)
    of_claims, of_answers = _rows(used), _rows(answers)
    for name in names:
        score = SCORES[name]
        rows = of_answers if score.of_answers else of_claims
        of = Counted(rows, score.weighted(name, binning), score.columns(used, answers))
        yield one.number(name, of, where, lost=missing)


def _slices(used: MethodRows) -> Iterator[tuple[Slice, NDArray[np.bool_]]]:
    """Yield each domain, fifth of the paragraphs, and choice of demonstrations."""
    domains = np.unique(used.domain)
    if len(domains) > 1:
        yield from ((slice_of(domain=str(d)), used.domain == d) for d in domains)
    fifths = [(slice_of(position=str(p + 1)), used.part == p) for p in range(PARTS)]
    yield from ((where, use) for where, use in fifths if use.any())
    choices = np.unique(used.choice)
    yield from ((slice_of(choice=str(c)), used.choice == c) for c in choices if c)


def answer_shares(one: AskedMethod) -> Iterator[Declared]:
    """Yield accuracy and punting over answers, and two failures over claims, by name.

    Confident, decisive and wrong: it does not know that it does not know. Not confident and yet
    decisive: its words hide that it is unsure. Both as shares of the claims with confidence,
    decisiveness and a verdict; ``high`` and more is confident, and decisive.
    """
    every = one.rows
    pairs = [f"{a} {q}" for a, q in zip(every.answers, every.question, strict=True)]
    _, first = np.unique(np.array(pairs, dtype=np.str_), return_index=True)
    each = every.take(np.isin(np.arange(len(every.d)), first))
    punted = np.where(np.isnan(each.d) & ~each.punted, np.nan, each.punted)  # NaN: not read
    why, rows = "no answer has a verdict", _rows(each)
    yield _mean_of(one, "accuracy", why, rows, each.right)
    yield _mean_of(one, "punting", why, rows, punted, every.lost["omitted"])
    judged, least = one.used.take(~np.isnan(one.used.right)), one.settings.high - 1e-12
    sure, firm, right = judged.c >= least, judged.d >= least, judged.right == 1
    why, rows = "no claim has decisiveness, confidence and a verdict", _rows(judged)
    yield _mean_of(one, "unknown_unknown", why, rows, 1.0 * (sure & firm & ~right))
    yield _mean_of(one, "known_unsaid", why, rows, 1.0 * (~sure & firm))


def _mean_of(
    one: AskedMethod, name: str, why: str, rows: Rows, values: NDArray[Any], aside: int = 0
) -> Declared:
    """Return a mean of values (n,), NaN where a row has none: ``aside`` rows, and those unread."""
    of = Counted(rows, Weighted(_average, partial(_own_mean, name, why)), [values])
    return one.number(name, of, lost=int(np.isnan(values).sum()) - aside)


def _own_mean(
    name: str, why: str, values: Floats, clusters: NDArray[Any], n: int, seed: int
) -> Estimate:
    read = ~np.isnan(values)
    if not read.any():
        return Estimate(name, problem=why)
    held, limits = values[read], NUMBERS[name].limits
    e = bootstrap(_average, held, clusters=clusters[read], n=n, seed=seed, limits=limits, name=name)
    if limits != (0, 1):
        return e  # no share
    return msgspec.structs.replace(e, numerator=float(held.sum()), denominator=float(len(held)))


FEW_IN_BIN = f"no interval: claims about fewer than {LEAST_IN_BIN} entities"


def bin_means(one: AskedMethod) -> Iterator[Declared]:
    """Yield decisiveness and confidence in each bin of confidence.

    Bins with claims about fewer than five entities have no intervals.
    """
    used, bins = one.used, one.settings.bins
    at = confidence_bin(used.j, used.k, bins)
    for place in range(bins):
        here = used.take(at == place)
        where = slice_of(bin=f"{place / bins:.3g}-{(place + 1) / bins:.3g}")
        rows = _rows(here)
        for name, values in (("bin_decisiveness", here.d), ("bin_confidence", here.c)):
            metric = Weighted(mean_over_choices(mfg), partial(_bin_mean, name))
            yield one.number(name, Counted(rows, metric, [values, here.weight, here.choice]), where)


def _bin_mean(
    name: str, *columns: NDArray[Any], clusters: NDArray[Any], n: int, seed: int
) -> Estimate:
    if not len(clusters):
        return Estimate(name, problem="empty")
    e = bootstrap(mean_over_choices(mfg), *columns, clusters=clusters, n=n, seed=seed, name=name)
    if len(np.unique(clusters)) < LEAST_IN_BIN:
        return msgspec.structs.replace(e, low=None, high=None, problem=FEW_IN_BIN)
    return telling(e)


def thoughts(one: AskedMethod) -> Iterator[Declared]:
    """Yield *thought but unsaid*: how much surer a thought's last assertion was than the answer.

    Nothing where nothing was thought; an answer whose thought could not be read is ``missing``.
    """
    held = one.rows.take(~np.isnan(one.rows.d) & one.rows.thinks)
    if not len(held.d):
        return
    _, at, group = np.unique(
        np.array(held.answers, dtype=np.str_), return_index=True, return_inverse=True
    )
    voiced = np.bincount(group, held.d * held.weight) / np.bincount(group, held.weight)
    gap = held.thought[at] - voiced
    rows = Rows(range(len(gap)), held.entity[at], held.name[at], paired=False)
    yield _mean_of(one, "thought_minus_said", "no thought asserts anything", rows, gap)


def _average(values: Floats, weights: Floats | None = None) -> Any:
    """Return the mean, or one for each row of weights (B, n)."""
    return values.mean() if weights is None else divide(weights @ values, weights.sum(axis=1))


# ---- what is no statistic of claims: counts, and what cMFG is read against


def left_out(rows: MethodRows) -> Iterator[Estimate]:
    """Yield how many answers were asked for, and what was left out by reason."""
    asked = rows.lost["asked"]
    yield Estimate("asked", value=float(asked), n=asked)
    for reason, number in sorted(rows.lost.items()):
        if reason != "asked":
            yield Estimate("left_out", slice_of(reason=reason), float(number), n=asked)


#: policies of :func:`sayso.metrics.cmfg.cmfg_references` that a run states
REFERENCES = ("decisive", "half", "permuted", "oracle")


def references(one: AskedMethod) -> Iterator[Estimate]:
    """Yield blind policies and the oracle on the same bins, cMFG read otherwise, and bins filled.

    Of several choices of demonstrations the mean over them; of the bins, those of the choice with
    the thinnest bin.
    """
    used, binning = one.used, binning_of(one.settings)
    n = len(used.d)
    columns = used.counts[:-1]
    parts = by_choice(columns, used.choice)
    every = [_references(part, binning) for part in parts or [columns]]
    for name in every[0]:
        value = or_none(_mean([own[name] for own in every]))
        yield Estimate(name, value=value, n=n, problem=None if n else NOTHING)
    yield _plain(one, binning)
    each = [filling(d, j, k, binning) for d, j, k, _ in parts]
    held = min(filter(None, each), key=lambda own: (own.thinnest, own.filled), default=None)
    if held is not None:
        full, bins = float(held.filled), float(held.bins)
        yield Estimate("filled_bins", value=full, numerator=full, denominator=bins, n=n)


def _references(columns: Sequence[NDArray[Any]], binning: Binning) -> dict[str, Any]:
    """Return what does not depend on who read the wording, of one choice of demonstrations."""
    d, j, k, weights = columns
    own: dict[str, Any] = {"agreeing": j, "k": k, "binning": binning, "weights": weights}
    policies = cmfg_references(d, **own)
    found = {f"cmfg_{name}": policies[name] for name in REFERENCES} | cmfg_parts(d, **own)
    return found | {"cmfg_corrected": cmfg_corrected(d, **own)}


def _plain(one: AskedMethod, binning: Binning) -> Estimate:
    """Return cMFG by fact with plain statements read as certain.

    Only the offline reader gives plain statements a value that it gives nothing else.
    """
    if not part_of(one.signature, "dec").startswith("rules"):
        return Estimate("cmfg_plain", problem=NOT_OFFLINE)
    d, *rest = one.used.counts
    certain = np.where(np.isclose(d, plain_decisiveness()), 1.0, d)
    value = mean_over_choices(cmfg, binning=binning)(certain, *rest)
    return Estimate("cmfg_plain", value=value, n=len(d))


def punts_as_zero(one: AskedMethod) -> Estimate:
    """Return cMFG with a punt counted as decisiveness 0 against what was withheld."""
    rows = one.rows
    d = with_punts(rows.d, rows.punted, "dec0")
    use = ~np.isnan(d) & ~np.isnan(rows.c)
    metric = mean_over_choices(cmfg, binning=binning_of(one.settings))
    value = metric(*rows._replace(d=d).take(use).counts) if use.any() else None
    return Estimate("cmfg_dec0", value=value, n=int(use.sum()))


# ---- what a method gains on the plain question, on the bins that all methods fill


def bins_in_common(
    sides: Iterable[MethodRows | AnswerRows], settings: Settings
) -> NDArray[np.bool_]:
    """Return which bins of confidence every side fills, in each choice of demonstrations."""
    every = [
        (values, j, k)
        for rows in sides
        for values, j, k in by_choice(
            (rows.d if isinstance(rows, MethodRows) else rows.f, rows.j, rows.k), rows.choice
        )
    ]
    return shared_bins(every, Binning(settings.bins), settings.shared_least)


def gains(of_form: Sequence[AskedMethod]) -> Iterator[tuple[AskedMethod, Estimate]]:
    """Yield skill on the bins that every method fills, and what a method gains on vanilla.

    Entities are resampled jointly. The p of each gain is corrected over the methods (Holm): its
    numerator is the p of the one comparison, and n how many are corrected together.
    """
    if len(of_form) < 2:
        return
    settings = of_form[0].settings
    use = bins_in_common([one.used for one in of_form], settings)
    metric = mean_over_choices(skill, binning=Binning(settings.bins), use=use)
    count = int(use.sum())
    filled = Estimate("shared_bins", (), count, numerator=count, denominator=settings.bins)
    for one in of_form:
        yield one, filled
        if count:
            value = metric(*one.used.counts)
            yield one, Estimate("skill_shared", value=value, n=len(one.used.d))
    base = next((one.used for one in of_form if one.rows.method == "vanilla"), None)
    if base is None or not count:
        return
    others = [one for one in of_form if one.rows.method != "vanilla"]
    gained = [
        bootstrap_difference(
            metric, one.used.counts, base.counts, clusters=one.used.entity,
            second_clusters=base.entity, n=settings.resamples, seed=settings.ci_seed,
            name="skill_gain",
        )
        for one in others
    ]  # fmt: skip
    drawn = [len(np.union1d(one.used.entity, base.entity)) for one in others]
    single = [difference_p(gain, size) for gain, size in zip(gained, drawn, strict=True)]
    tested = sum(p is not None for p in single)
    for one, gain, own, p in zip(others, gained, single, holm(single), strict=True):
        why = None if p is not None else gain.problem or "no interval"
        yield one, gain
        yield one, Estimate("skill_gain_p", value=p, numerator=own, n=tested, problem=why)


# ---- runs beside each other, on the bins that all of them fill

#: the form and the method of an answer
Key = tuple[str, str]


class SharedBins(NamedTuple):
    """The bins of confidence that every run fills: with claims, and with whole answers (cMFG)."""

    claims: NDArray[np.bool_]
    answers: NDArray[np.bool_]


def _shared(used: Sequence[MethodRows], settings: Settings) -> SharedBins:
    return SharedBins(
        bins_in_common(used, settings),
        bins_in_common([rows.by_answer() for rows in used], settings),
    )


def _opened(one: ComparedRun) -> dict[Key, AskedMethod]:
    """Return the methods of a run that is compared, joined once."""
    every = one.run.once(
        ("faithfulness", one.settings), partial(load_methods, one.run, one.settings)
    )
    return {(own.rows.form, own.rows.method): own for own in every}


def _common(pair: Sequence[AskedMethod]) -> tuple[list[MethodRows], SharedBins] | None:
    """Return what counts of each of two runs on the questions that both asked, and their bins."""
    both = set(pair[0].rows.question) & set(pair[1].rows.question)
    if not both:
        return None
    used = []
    for one in pair:
        asked = np.array([q in both for q in one.rows.question], dtype=bool)
        used.append(one.rows.take(asked).scored(one.settings.pooled))
    return used, _shared(used, pair[0].settings)


def _beside(run: Run, settings: Settings, beside: Beside) -> Iterator[Declared]:
    """Yield the numbers that a run shares with those of other models on its data.

    Of two runs, their difference is on the questions that both asked.
    """
    every = [_opened(one) for one in beside.models]
    for key, mine in every[[one.run for one in beside.models].index(run)].items():
        sides = [own[key] for own in every if key in own]
        if len(every) == len(sides) == 2 and (common := _common(sides)):
            yield from _joined(mine, common[0][sides.index(mine)], common[1], "pair")
        yield from _joined(mine, mine.used, _bins_of_all(beside.models, key), "study")


def _bins_of_all(models: Sequence[ComparedRun], key: Key) -> SharedBins:
    """Return the bins that all models fill which were asked with a method, found once."""
    sides = [own[key] for own in map(_opened, models) if key in own]
    return models[0].run.once(
        ("faithfulness bins", key, *(one.name for one in models)),
        partial(_shared, [own.used for own in sides], sides[0].settings),
    )


def _joined(mine: AskedMethod, used: MethodRows, bins: SharedBins, use: Use) -> Iterator[Declared]:
    """Yield the scores of one of several runs, and how often it is right.

    Claims are joined by their questions; ``used`` are those whose answers count, which are joined
    already.
    """
    answers, settings, whole = used.by_answer(), mine.settings, mine.rows
    weight = np.full(len(whole.d), np.nan)
    weight[whole.used] = mine.used.weight
    asserted = whole._replace(weight=weight)
    of_claims = Rows(whole.question, whole.entity, whole.name, paired=False, called="question")
    of_answers = Rows([""] * len(answers.f), answers.entity, answers.name, paired=False)
    binning = Binning(settings.bins)
    for name in NUMBERS.studied:
        score = SCORES[name]
        chosen, rows = bins.claims, of_claims
        if score.of_answers:
            chosen, rows = bins.answers, of_answers
        # a punt has no confidence, and is not right
        columns = score.columns(whole if name == "accuracy" else asserted, answers)
        metric = score.weighted(name, binning, chosen)
        if score.in_bins and use == "pair" and not chosen.any():
            what = "answers" if score.of_answers else "claims"
            why = f"no bin of confidence has {settings.shared_least} {what} in both runs"
            metric = metric.without_value(name, why, len(used.d))._replace(combined=True)
        of = Counted(rows, metric, columns)
        if use == "pair" or of.counts.any():
            yield mine.number(name, of, uses=frozenset({use}))


def check_methods(a: ComparedRun, b: ComparedRun) -> tuple[list[str], list[str]]:
    """Return why two runs cannot be compared, and on how many bins of confidence they are."""
    first, second = _opened(a), _opened(b)
    if not first.keys() & second.keys():
        names = (", ".join(sorted({m for _, m in side})) or "none" for side in (first, second))
        return [
            f"{a.name} and {b.name} have no method in common ({'; '.join(names)}). To compare "
            "methods, use one run with --methods all"
        ], []
    pairs = {key: _common((one, second[key])) for key, one in first.items() if key in second}
    shared = [(key, common[1]) for key, common in pairs.items() if common]
    return [], [_bins_told(shared, a.settings, "both runs have")] if shared else []


def study_notes(columns: Sequence[Sequence[ComparedRun]]) -> list[str]:
    """Return on how many bins of confidence the models of a study are compared."""
    shared = [
        (key, _bins_of_all(runs, key))
        for runs in columns
        for key in dict.fromkeys(key for one in runs for key in _opened(one))
    ]
    return [_bins_told(shared, columns[0][0].settings, "all models have")] if shared else []


def _bins_told(shared: Sequence[tuple[Key, SharedBins]], settings: Settings, runs: str) -> str:
    """Say on how many bins of confidence skill and cMFG of ``runs`` are compared.

    ``shared`` are forms and methods with their bins, once for each data set. Skill and cMFG by fact
    have the bins with enough claims, cMFG those with enough answers.
    """
    by_key: dict[Key, list[SharedBins]] = {}
    for key, bins in shared:
        by_key.setdefault(key, []).append(bins)
    texts = []
    for (form, method), every in by_key.items():
        claims = _span([int(bins.claims.sum()) for bins in every])
        answers = _span([int(bins.answers.sum()) for bins in every])
        number = claims if claims == answers else f"{claims} by claims and {answers} by answers"
        texts.append(f"{number} ({FORMS[form]}, {METHOD_LABELS.get(method, method)})")
    return (
        f"Scores are compared in the bins of confidence in which {runs} at least "
        f"{settings.shared_least} claims (skill, cMFG by fact) or answers (cMFG). Of "
        f"{settings.bins} bins these are {', '.join(texts)}."
    )


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


# ---- numbers that people's labels correct

#: letters of comparisons that people can label (``x``: there is no draw), and people's own
LETTERS = "cenp?"
CONFIDENCE = "mean_confidence"


def _labeled(one: AskedMethod, said: MethodRows, run: Run, people: Run) -> Iterator[Declared]:
    """Yield the scores by people's reading of the wording, and mean confidence by pairs.

    ``said`` are the rows as ``people`` read them. An answer is labeled if every assertion is.
    """
    used, settings = one.used, one.settings
    heard = said.take(one.rows.used)
    heard = used._replace(d=heard.d)
    read = ~np.isnan(heard.d)
    stage = f"{one.rows.stage}-decisive"
    places = list(zip(used.targets, used.question, strict=True))
    of_claims = Rows(used.question, used.entity, used.name, stage, places, read, paired=False)
    answers = heard.by_answer()
    of_answers = Rows(
        range(len(answers.f)), answers.entity, answers.name, stage,
        [[places[row] for row in claims] for claims in answers.claims],
        np.array([read[claims].all() for claims in answers.claims], dtype=bool), paired=False,
    )  # fmt: skip
    binning = binning_of(settings)
    to_people: frozenset[Use] = frozenset({"people"})
    for name in LABELED:
        score = SCORES[name]
        rows = of_answers if score.of_answers else of_claims
        of = Counted(rows, score.weighted(name, binning), score.columns(heard, answers))
        yield one.number(name, of, uses=to_people)
    stage = f"{one.rows.stage}-contradict"
    if settings.relation == "contradiction" and len(used.d):
        folder: object = people.folder
        letters = {at: v.raw or "" for at, v in verdicts_at(run, stage).items()}
        labels = folder.labels(stage) if isinstance(folder, ReadByPeople) else {}
        of = confidence_of_pairs(used, stage, letters, labels, settings)
        yield one.number(CONFIDENCE, of, uses=to_people)


def confidence_of_pairs(
    used: MethodRows,
    stage: str,
    letters: Mapping[Place, str],
    labels: Mapping[Place, Verdict],
    settings: Settings,
) -> Counted:
    """Return mean confidence as a ratio of sums over pairs: an assertion and a draw.

    ``letters`` are the judge's comparisons by assertion and question, ``labels`` people's by pair
    and question; a pair without a label has the judge's.

    An assertion's confidence c is the share of its k draws that agree, of those that count
    (:func:`draw_agreement`). So the mean over assertions is a sum over pairs, in which each adds
    1/k of its assertion's weight if it agrees. Where people do not count a draw that the judge
    counts, k changes with their labels; to first order that draw adds c, and one that only people
    count adds what it says minus c. Not where all but entailment lowers confidence: people label
    contradictions.
    """
    assertions = zip(used.targets, used.question, strict=True)
    pairs = [
        (row, letter, (pair_target(target, sample), asked))
        for row, (target, asked) in enumerate(assertions)
        for sample, letter in enumerate(letters.get((target, asked), "")[: settings.draws.k])
        if letter in LETTERS
    ]
    row = np.array([at for at, _, _ in pairs], dtype=np.int64)
    places = [place for _, _, place in pairs]
    counts = _letter_counts(settings)
    judge = np.array([counts[letter] for _, letter, _ in pairs]).reshape(-1, 2)
    said = [labels[place].label or "?" if place in labels else own for _, own, place in pairs]
    read = np.array([counts.get(letter, counts["?"]) for letter in said]).reshape(-1, 2)
    _, choice = np.unique(used.choice, return_inverse=True)
    share = used.weight / np.bincount(choice, used.weight)[choice]
    weight = (share / used.k)[row]
    adds = read[:, 0] + used.c[row] * (judge[:, 1] - read[:, 1])
    column = np.stack([weight * adds, weight * judge[:, 1]], axis=1)
    rows = Rows(places, used.entity[row], used.name[row], stage, places, paired=False)
    sums = Sums(lambda sums: {CONFIDENCE: divide(sums[..., 0], sums[..., 1])}, 2, _own_ratio)
    return Counted(rows, sums, [column])


def _own_ratio(sums: Floats, n: int, seed: int) -> dict[str, Estimate]:
    entities = np.arange(len(sums))
    return {CONFIDENCE: bootstrap_ratio(CONFIDENCE, sums[:, 0], sums[:, 1], entities, n, seed)}


def _letter_counts(settings: Settings) -> dict[str, tuple[float, float]]:
    """Return by the letter of a comparison whether the draw agrees, and whether it counts."""
    alone = dataclasses.replace(settings, least=1)
    read = {letter: draw_agreement(letter, alone)[:2] for letter in LETTERS}
    return {
        letter: (0.0, 0.0) if np.isnan(k) else (agree, k) for letter, (agree, k) in read.items()
    }
