"""UNCLE's numbers: the 2x3 matrix and its rates, overall and by slice, with intervals.

What qualifies them (within type, own log-probabilities, short against long) is in
``uncle_beyond.py``; the formulas are in ``sayso.metrics``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.bounds import Bound, rate_bounds
from sayso.metrics.cells import bootstrap_cells, cluster_cells
from sayso.metrics.chance import chance_corrected, guess_rates, strict_known
from sayso.metrics.rates import CELLS, CORRECT, INCORRECT, MISSING, UNCERTAIN, count_cells
from sayso.metrics.rates import expression_rates_3row as rates_3row
from sayso.metrics.reference import reference_policies
from sayso.protocols import Run
from sayso.protocols.aspects import (
    HEDGED_PROBE,
    KNOWN,
    UNKNOWN,
    UNREADABLE,
    Aspects,
    View,
    load_aspects,
)
from sayso.protocols.guessing import other_draws
from sayso.protocols.uncle import Settings
from sayso.records import Estimate

HEADLINE = ("FA", "UA", "UUR", "KCR", "EA", "J")
LEFT_OUT = -2
RENAMED = {"F1": "F1_uncertain"}

Ints = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Context:
    """What every number of one run shares. ``known`` maps a rule to codes 1, 0, -1 per aspect."""

    run: Run
    settings: Settings
    aspects: Aspects
    known: dict[str, Ints]
    guesses: tuple[Ints, Ints]

    def labels(self, form: str, instructed: bool = True) -> Ints:
        """Return label codes: 0 S, 1 NS, 2 UNC, -1 missing, -2 left out by a setting."""
        return label_codes(self.aspects.views[form, instructed], self.settings)

    def signed(
        self,
        estimate: Estimate,
        where: str,
        form: str = "",
        prompt: str = "instructed",
        known: str = "any",
    ) -> Estimate:
        """Return the estimate with its place and every setting that made it."""
        s = self.settings
        parts = {"form": form, "prompt": prompt} if form else {}
        signature = self.run.signature(
            **parts,
            known=f"{known}-of-{s.probe.k}@T{s.probe.temperature:g}",
            known_from=s.known_from,
            probe_unc=s.probe.unc,
            answer=f"T{s.answer.temperature:g}/{s.answer.short_tokens}/{s.answer.long_tokens}",
            omit=s.omit_long,
            refusals=s.refusals,
            ci=f"{s.ci}-{s.resamples}-s{s.ci_seed}",
        )
        name = RENAMED.get(estimate.name, estimate.name)
        return msgspec.structs.replace(
            estimate, name=name, where=where, signature=f"{name}|{signature}"
        )


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol, in the order of the report."""
    from sayso.protocols.uncle_beyond import beyond

    context = load(run, settings)
    return [*headline(context), *slices(context), *beyond(context)]


def load(run: Run, settings: Settings, *, guesses: bool = True) -> Context:
    """Join the run's tables and decide, by each rule, which aspects are known.

    Without ``guesses`` the guess rates are not computed (they take longer than all the rest):
    then no aspect is known beyond chance.
    """
    k = settings.probe.k
    aspects = load_aspects(run, k)
    texts: dict[str, list[str]] = {}
    for generation in run.generations("probe") if guesses else ():
        if generation.request.sample < k and generation.problem is None:
            texts.setdefault(generation.question, []).append(generation.text)
    matches = other_draws(aspects.questions, texts)
    rate = guess_rates(*matches)
    greedy = label_codes(aspects.views["short", False], settings)
    hedged_probe = UNKNOWN if settings.probe.unc == "unknown" else LEFT_OUT
    any_of_k = np.where(aspects.known == HEDGED_PROBE, hedged_probe, aspects.known)
    readable = any_of_k >= 0
    corrected = chance_corrected(aspects.hits, aspects.drawn, k, rate).astype(np.int64)
    known = {
        "any": any_of_k,
        "corrected": np.where(readable, corrected, any_of_k),
        "strict": np.where(any_of_k == LEFT_OUT, LEFT_OUT, _strict(aspects, greedy, k)),
    }
    return Context(run, settings, aspects, known, matches)


def _strict(aspects: Aspects, greedy: Ints, k: int) -> Ints:
    """Return the strict rule's 1 known, 0 unknown, -1 missing, -2 left out (VALIDITY 1).

    Missing is only what some reading of the unread verdicts could make known or unknown; an
    aspect that was right at times and wrong at others is left out whatever they say.
    """
    decided = strict_known(aspects.hits, k, np.where(greedy < 0, -1, greedy == CORRECT))
    unread = greedy == MISSING
    may_be_known = (aspects.hits + k - aspects.drawn >= k) & (unread | (greedy == CORRECT))
    may_be_unknown = (aspects.hits == 0) & (unread | (greedy > CORRECT))
    # no draw of which a verdict is missing may count as wrong
    open_ = (decided < 0) | (aspects.drawn < k)
    still = np.where(may_be_known | may_be_unknown, MISSING, LEFT_OUT)
    return np.where(open_, still, decided).astype(np.int64)


def label_codes(view: View, settings: Settings) -> Ints:
    """Return one label code per aspect (see :meth:`Context.labels`)."""
    table = {"correct": CORRECT, "incorrect": INCORRECT, "uncertain": UNCERTAIN}
    table["omitted"] = INCORRECT if settings.omit_long == "NS" else LEFT_OUT
    out = np.full(len(view.verdicts), MISSING, dtype=np.int64)
    for row, verdict in enumerate(view.verdicts):
        if verdict is None or verdict.value is None:
            continue
        out[row] = table[verdict.value]
        if verdict.stance == "refused_by_policy" and settings.refusals == "excluded":
            out[row] = LEFT_OUT
    return out


def headline(context: Context) -> list[Estimate]:
    """Return the matrix and the rates of both forms: instructed, plain, by each known set."""
    found: list[Estimate] = []
    for form in ("short", "long"):
        for prompt in ("instructed", "plain"):
            for known in ("any", "corrected", "strict"):
                if prompt == "plain" and known != "any":
                    continue
                where = ";".join(
                    [f"form:{form}"]
                    + ["prompt:plain"] * (prompt == "plain")
                    + [f"known:{known}"] * (known != "any")
                )
                label = context.labels(form, prompt == "instructed")
                rates = _rates(context, context.known[known], label)
                only = (*HEADLINE, "over_hedge", "p_known") if known != "any" else tuple(rates)
                found += [context.signed(rates[n], where, form, prompt, known) for n in only]
                if known == "any":
                    found += _matrix(context, label, where, form, prompt)
        found += _policies(context, form)
    return found


def slices(context: Context) -> list[Estimate]:
    """Return the headline rates by domain and by aspect type."""
    found: list[Estimate] = []
    groups: Iterable[tuple[str, NDArray[np.str_]]] = (
        ("domain", context.aspects.domain),
        ("type", context.aspects.type),
    )
    for key, names in groups:
        for name in sorted(set(names.tolist())):
            rows = names == name
            for form in ("short", "long"):
                rates = _rates(context, context.known["any"], context.labels(form), rows)
                where = f"form:{form};{key}:{name}"
                wanted = (*HEADLINE, "over_hedge", "p_known")
                found += [context.signed(rates[n], where, form) for n in wanted]
    return found


def _rates(
    context: Context, known: Ints, label: Ints, rows: NDArray[np.bool_] | None = None
) -> dict[str, Estimate]:
    """Return all rates of some rows, with intervals over entities, counts and bounds."""
    s = context.settings
    if rows is None:
        rows = np.ones(len(known), dtype=bool)
    k, lab, entity = known[rows], label[rows], context.aspects.entity[rows]
    lost = {state: int(((k == state) & (lab == MISSING)).sum()) for state in (KNOWN, UNKNOWN)}
    rates = bootstrap_cells(
        cluster_cells(k, lab, entity),
        n=s.resamples,
        seed=s.ci_seed,
        missing_known=lost[KNOWN],
        missing_unknown=lost[UNKNOWN],
    )
    unread = int(((k == MISSING) & (lab != LEFT_OUT)).sum())
    if unread:
        bounds = _bounds(k, lab, lost)
        rates = {
            name: msgspec.structs.replace(
                estimate,
                missing=estimate.missing + unread,
                bound_low=bounds.get(name, (None, None))[0],
                bound_high=bounds.get(name, (None, None))[1],
            )
            for name, estimate in rates.items()
        }
    if s.probe.unc == "dropped_official":
        rates = _official(context, lab, rows, rates)
    return rates


def _bounds(known: Ints, label: Ints, lost: dict[int, int]) -> dict[str, Bound]:
    """Return the bounds over missing probes and verdicts, and over aspects that lack both.

    Those go to one label as a whole: by the argument of :mod:`sayso.metrics.bounds` the extremes
    lie there.
    """
    cells = count_cells(known, label)
    free = [int(((known == MISSING) & (label == code)).sum()) for code in range(3)]
    neither = int(((known == MISSING) & (label == MISSING)).sum())
    found: dict[str, list[float]] = {}
    for code in range(3 if neither else 1):
        moved = [count + neither * (code == place) for place, count in enumerate(free)]
        for name, ends in rate_bounds(cells, lost[KNOWN], lost[UNKNOWN], moved).items():
            found.setdefault(name, []).extend(end for end in ends if end is not None)
    return {name: (min(ends), max(ends)) if ends else (None, None) for name, ends in found.items()}


def _official(
    context: Context, label: Ints, rows: NDArray[np.bool_], rates: dict[str, Estimate]
) -> dict[str, Estimate]:
    """Replace the rates that the released script counts over hedged probes as well."""
    state = context.aspects.known[rows]
    table = [
        [float(((state == row) & (label == column)).sum()) for column in range(3)]
        for row in (KNOWN, UNKNOWN, HEDGED_PROBE)
    ]
    official = rates_3row(table, "dropped_official")
    counted = int(np.sum(table))
    missing = int(((state == UNREADABLE) & (label != LEFT_OUT)).sum())
    missing += int(((state != UNREADABLE) & (label == MISSING)).sum())
    note = "no interval or bounds under probe.unc=dropped_official"
    changed = {
        name: Estimate(
            name=name,
            value=official[name],
            n=counted,
            missing=missing,
            problem=note if official[name] is not None else "undefined on these rows",
        )
        for name in ("FA", "UA", "F1", "lift_UA", "p_uncertain")
    }
    return {**rates, **changed}


def _matrix(context: Context, label: Ints, where: str, form: str, prompt: str) -> list[Estimate]:
    """Return the six counts of the 2x3 matrix."""
    counts = count_cells(context.known["any"], label)
    return [
        context.signed(
            Estimate(name=f"cell_{cell}", value=float(count), n=int(counts.sum())),
            where,
            form,
            prompt,
        )
        for cell, count in zip(CELLS, counts, strict=True)
    ]


def _policies(context: Context, form: str) -> list[Estimate]:
    """Return what never, always and randomly hedging would have scored (exact expectations)."""
    known = context.known["any"]
    cells = count_cells(known, context.labels(form))
    plain = count_cells(known, context.labels(form, False))
    found = []
    for policy, rates in reference_policies(cells, plain).items():
        for name in HEADLINE:
            made = Estimate(
                name=name,
                value=rates[name],
                n=int(cells.sum()),
                problem=None if rates[name] is not None else "undefined for this policy",
            )
            found.append(context.signed(made, f"form:{form};policy:{policy}", form))
    return found
