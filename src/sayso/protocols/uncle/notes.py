"""What a reader of UNCLE's numbers must know: of a run, of two runs, of the models of a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sayso.protocols.probes import why_alike
from sayso.protocols.protocol import MISFIT, REFUSED, ComparedRun
from sayso.protocols.uncle.rows import (
    NO_LOGPROBS,
    Ints,
    compared_rows,
    probes_hash,
    question_pairs,
    share_paragraphs,
)
from sayso.records import Estimate, Results

#: which numbers rest on log-probabilities, as the report calls them
BY_LOGPROBS = {
    "unspoken_knowledge": "unspoken knowledge",
    "auroc_incorrect_within": "AUROC of the answers' own log-probabilities",
    "own_logprob": "the policies that hedge by them or by length in tokens",
}
BY_DRAWS = (
    "known by any of several draws (which is one draw, repeated)",
    "the chance-corrected known set (no value)",
    "the strict known set (it rests on two answers)",
)


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return whether the questions suit the model, and what has no value where draws never differ.

    Nor has it where there are no log-probabilities. ``draws_vary`` is what the engine saw for
    itself; ``None`` where it does not know.
    """
    rows = list(estimates)
    lines = misfit(rows)
    alike = why_alike(rows, draws_vary)
    if alike:
        lines.append(
            f"The draws never vary: {alike}. Either the server repeats one answer at any "
            "temperature, or the model is certain of every answer; the text does not show which. "
            f"Numbers computed from several draws mean nothing here: {'; '.join(BY_DRAWS)}."
        )
    scored = [e for e in rows if e.name == "auroc_incorrect_within"]
    if scored and all(e.problem == NO_LOGPROBS for e in scored):
        lines.append(
            "There are no log-probabilities, so these have no value: "
            f"{', '.join(BY_LOGPROBS.values())}."
        )
    return lines + _refusals(rows)


#: the share of refusals among the hedges of unknown facts from which on they are told
MANY_REFUSALS = 0.1


def _refusals(estimates: Sequence[Estimate]) -> list[str]:
    """Return a caution for each form in which refusals by policy make up much of UUR."""
    results, lines = Results(estimates), []
    for form in results.forms:
        uur, refused = results.get("UUR", form=form), results.get("UUR_refused", form=form)
        hedged, refusals = int(uur.numerator or 0), int(refused.numerator or 0)
        if not refusals or refusals < MANY_REFUSALS * hedged:
            continue
        rest = int(uur.denominator or 0) - refusals
        without = f"{100 * (hedged - refusals) / rest:.0f} %" if rest else "undefined"
        kind = "short answers" if form == "short" else "paragraphs"
        lines.append(
            f"{REFUSED}In {kind}, {refusals:,} of {hedged:,} hedges of unknown facts are refusals "
            '("I can\'t help with that request"). '
            f"UUR is {100 * (uur.value or 0):.0f} % with them, as in the paper, and {without} "
            "without them. "
            "--set refusals=excluded leaves them out of all numbers."
        )
    return lines


#: shares of known facts below and above which a run has next to no known or unknown facts
KNOWS_NOTHING, KNOWS_ALL = 0.02, 0.98
EASIER = "popqa, triviaqa, or household names (--data world --set tiers=1)"
HARDER = "simpleqa, simpleqa_verified, or obscure things (--data world --set tiers=3,4)"
#: of fewer facts nobody can say that nearly all are known or unknown
FEWEST_FACTS = 10


def misfit(estimates: Iterable[Estimate]) -> list[str]:
    """Return a caution where nearly all facts are unknown, or nearly all known, in either form."""
    results = Results(estimates)
    for form in results.forms:
        known = results.get("p_known", form=form)
        if known.value is None or KNOWS_NOTHING <= known.value <= KNOWS_ALL:
            continue
        if known.n < FEWEST_FACTS or known.missing > 0.1 * (known.n + known.missing):
            continue
        hard = known.value < KNOWS_NOTHING
        level, few, sets = ("hard", "known", EASIER) if hard else ("easy", "unknown", HARDER)
        return [
            f"{MISFIT}{level} for this model: it knew {known.numerator or 0:,.0f} of "
            f"{known.denominator or 0:,.0f} facts. J, KCR and UUR compare known with unknown "
            f"facts, and there are almost no {few} ones. Use other data (--data): {sets}."
        ]
    return []


# ---- what runs that are compared must share


def check_probes(a: ComparedRun, b: ComparedRun) -> tuple[list[str], list[str]]:
    """Return why two runs cannot be compared, and what a reader must know: whose probes decide.

    Runs of one base model must share its probes, on the facts that both asked about.
    """
    sides = compared_rows(a.run, a.settings), compared_rows(b.run, b.settings)
    apart = not share_paragraphs(a.run, b.run)
    places: list[dict[tuple[str, str], int]] = [{}, {}]
    for place, side in zip(places, sides, strict=True):
        for row, (long, short) in enumerate(question_pairs(side.run)):
            place.setdefault(("" if apart or long is None else long.id, short.id), row)
    shared = [pair for pair in places[0] if pair in places[1]]
    rows = [np.array([place[pair] for pair in shared], dtype=np.int64) for place in places]
    probes = [probes_hash(side.aspects, own) for side, own in zip(sides, rows, strict=True)]
    if a.manifest.model_base == b.manifest.model_base:
        if probes[0] == probes[1]:
            return [], []
        return [
            f"{a.name} and {b.name} share a base model but were probed separately: a model that "
            f"hedges its probes looks ignorant. Run the second with --known-from {a.name}"
        ], []
    if any(side.probes != "self" for side in sides):
        return [], [
            "These are two base models, and one was measured with another run's probes (see "
            "known_from in the signature). The difference is not due to the models alone."
        ]
    shares = [_share_known(side.known["any"][own]) for side, own in zip(sides, rows, strict=True)]
    return [], [
        f"These are two base models, each with its own probes: the first knows {shares[0]}, the "
        f"second {shares[1]}. Read J first, and the rows on facts that both models know or neither "
        "knows."
    ]


def _share_known(known: Ints) -> str:
    """Return the known share of the facts whose probe was read, in percent."""
    read = known[known >= 0]
    if not len(read):
        return "nothing that could be read"
    return f"{read.mean():.0%} of the facts".replace("%", " %")


def study_notes(columns: Sequence[Sequence[ComparedRun]]) -> list[str]:
    """Return, for each data set, who is judged by the facts that another model knows."""
    return list(dict.fromkeys(note for runs in columns if (note := borrowed(runs)[1])))


def borrowed(runs: Sequence[ComparedRun]) -> tuple[bool, str]:
    """Return whether all runs know the same facts by construction, and whose knowledge it is."""
    probes = {r.name: probes_hash(compared_rows(r.run, r.settings).aspects) for r in runs}
    lenders = [one for one in runs if not _borrows(one)]
    borrowers: dict[str, list[str]] = {}
    for one in filter(_borrows, runs):
        alike = [own for own in lenders if probes[own.name] == probes[one.name]]
        itself = [o for o in alike if o.manifest.model_identity == one.manifest.model_identity]
        if base := next(map(_short, itself or alike), _base(one)):
            borrowers.setdefault(base, []).append(_short(one))
    parts = [
        f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} judged by the facts that "
        f"{base} knows, so they know the same share by construction"
        for base, names in borrowers.items()
    ]
    return bool(borrowers) and len(set(probes.values())) == 1, "; ".join(parts)


def _borrows(one: ComparedRun) -> bool:
    return bool(one.settings.known_from != "self")


def _base(one: ComparedRun) -> str:
    """Return whose probes decide, if no run has them: "" for the same model, asked otherwise."""
    base = one.manifest.model_base
    same = one.manifest.model_identity.startswith(base or "\0")
    return "" if same else base or "their base model"


def _short(one: ComparedRun) -> str:
    """Return the name of a run's model without its version, and how it was told to think."""
    level = one.manifest.settings.get("thinking")
    name = one.manifest.shown_model.partition("@")[0]
    return f"{name} · thinking {level}" if level else name
