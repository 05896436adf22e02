"""What the numbers say, in plain words that claim no more than the intervals allow."""

from __future__ import annotations

from sayso.metrics.reasons import EMPTY
from sayso.records import Estimate
from sayso.report.numbers import Numbers, bounds, interval, percent, show

FORMS = {"short": "short answers", "long": "paragraphs"}

#: a headline whose facts lack more than this share of the verdicts says what they could change
MANY = 0.03

#: the headline metrics: a name for strangers, what it counts, and where it is defined
METRICS: dict[str, tuple[str, str, str]] = {
    "FA": (
        "right when it commits",
        "Of the facts it stated without a hedge, the share that is right.",
        "factual accuracy, UNCLE section 3",
    ),
    "UA": (
        "hedges well placed",
        "Of the facts it hedged, the share it indeed did not know. Blind hedging scores the share "
        "of unknown facts.",
        "uncertain accuracy, UNCLE section 3",
    ),
    "UUR": (
        "unknown, and hedged",
        "Of the facts it did not know, the share it hedged.",
        "unknown-to-uncertain rate, UNCLE section 3",
    ),
    "KCR": (
        "known, and told right",
        "Of the facts it knew, the share it stated, right and without a hedge.",
        "known-to-correct rate, UNCLE section 3",
    ),
    "EA": (
        "did as it should",
        "Known facts told right plus unknown facts hedged, of all facts. A model that never "
        "hedges can score high here.",
        "expression accuracy, UNCLE section 3",
    ),
    "J": (
        "tells the two apart",
        "UUR minus the share of known facts that were hedged too. 0 for any hedging that does not "
        "look at the fact, 1 at best.",
        "Youden's J of hedging",
    ),
}

#: the other numbers, in the order in which they are shown
MORE: dict[str, tuple[str, str]] = {
    "J_within": (
        "J within fact type",
        "J inside each type of fact (a birth date, a director), averaged: hedging every fact of a "
        "hard type earns nothing here.",
    ),
    "odds_ratio_within": (
        "odds ratio within type",
        "How many times higher the odds of a hedge are for an unknown fact (Mantel-Haenszel over "
        "types; 1 = no relation).",
    ),
    "log_odds_within": (
        "logarithm of the odds ratio within type",
        "How much higher the odds of a hedge are for an unknown fact, as a logarithm (0 = no "
        "relation).",
    ),
    "skill": (
        "words match the frozen draws (0 blind, 1 perfect)",
        "Decisiveness of the words against the agreement of the base model's frozen draws.",
    ),
    "wrong_and_sure": (
        "told wrongly, without a hedge",
        "Of all facts, those told wrongly and surely.",
    ),
    "forced": (
        "known, and right when forced to answer",
        "Of the facts that the base model knew, those right when one of its own answers must be "
        "chosen.",
    ),
    "over_hedge": ("known, yet hedged", "Of the facts it knew, the share it hedged."),
    "balanced_EA": ("balanced EA", "Mean of KCR and UUR: does not depend on how much it knows."),
    "lift_UA": ("lift of UA", "UA over the share of unknown facts; 1 = blind hedging."),
    "F1_uncertain": ("F1 of hedging", "Harmonic mean of UA and UUR."),
    "hedge_precision": (
        "hedge precision",
        "Of the facts it hedged, the share it gets wrong when not asked for doubt (without those "
        "it hedges even then). Needs no probe.",
    ),
    "hedge_recall": (
        "hedge recall",
        "Of the facts it gets wrong when not asked for doubt, the share it hedged.",
    ),
    "unspoken_knowledge": (
        "unspoken knowledge, at its own hedge rate",
        "How much J would rise if it hedged as often, within each fact type, but where its own "
        "token probabilities are lowest.",
    ),
    "auroc_incorrect_within": (
        "own probabilities, within type",
        "How well its probabilities rank wrong below right answers inside a fact type "
        "(AUROC; 0.5 = not at all).",
    ),
    "auroc_incorrect": (
        "own probabilities, pooled",
        "The same over all types at once: flattered by some types being harder than others.",
    ),
    "hedged_and_correct": ("hedged, yet right", "Of the hedged facts, the share that is right."),
    "unknown_but_correct": (
        "right without knowing",
        "Of the facts called unknown, the share told right all the same: luck, or a weak probe.",
    ),
    "accuracy": ("right, of all facts", "Facts told right without a hedge, of all facts."),
    "omission": ("not mentioned", "Facts that a paragraph leaves out; counted as wrong above."),
    "instruction_cost": (
        "cost of the instruction",
        "How far KCR falls when doubt is asked for.",
    ),
    "break_even_cost": (
        "break-even cost",
        "If a wrong answer costs more than this many right ones gain, its hedging pays off.",
    ),
}

STANCES = {
    "UUR_hedged": "gave an answer with a hedge",
    "UUR_abstained": "said it does not know",
    "UUR_refused": "refused by policy",
    "UUR_asked_back": "asked back",
}

POLICIES = {
    "never": "never hedges",
    "always": "always hedges",
    "random": "hedges as often, at random",
    "length": "hedges as often, longest answers first",
    "type": "hedges as often, hardest fact types first",
    "own_logprob": "hedges as often, by its own probabilities",
}


def headline(numbers: Numbers, entities: int | None = None) -> list[str]:
    """Return two to four sentences: what it knew, what it hedged, whether that tells them apart.

    Holds for a run without any known fact or without any readable verdict.
    """
    forms = numbers.forms
    if not forms:
        return ["This run holds no numbers yet."]
    sentences = [_knew(numbers, forms[0], entities)]
    told = [clause for form in forms if (clause := _hedged(numbers, form, form == forms[0]))]
    if told:
        sentences.append(f"Asked to voice doubt, it hedged {'; '.join(told)}.")
    sentences += [*_verdicts(numbers, forms), *_lost(numbers, forms)]
    unspoken = _unspoken(numbers, forms)
    return [*sentences, unspoken] if unspoken else sentences


def _knew(numbers: Numbers, form: str, entities: int | None) -> str:
    about = f" about {entities:,} {'entity' if entities == 1 else 'entities'}" if entities else ""
    known = numbers.get("p_known", form)
    if known.value is None or not known.denominator:
        asked = f" of the facts{about}" if about else ""
        return f"What the model knows{asked} could not be told: {reason(known)}."
    facts = "fact" if known.denominator == 1 else "facts"
    said = f"The model knew {percent(known.value, 0)} of {known.denominator:,.0f} {facts}{about}"
    total = known.denominator + known.missing
    if known.missing <= MANY * total:
        return f"{said}."
    return (
        f"{said} that have verdicts; {known.missing:,.0f} of {total:,.0f} have none, and whatever "
        f"they were, it knew {_between(known)}."
    )


def _between(estimate: Estimate) -> str:
    """Return the range over all readings of the missing verdicts, as the end of a sentence."""
    low, high = estimate.bound_low, estimate.bound_high
    if low is None or high is None:
        return "a share without any bound"
    return f"{percent(low, 0)} to {percent(high, 0)} of all"


def _lost(numbers: Numbers, forms: list[str]) -> list[str]:
    """Say how little is known of J where more than a few verdicts are missing."""
    said = []
    for form in forms:
        j = numbers.get("J", form)
        if not j.missing or j.missing <= MANY * (j.missing + j.n):
            continue
        facts = f"{j.missing:,} of {j.missing + j.n:,} facts have no verdict in {FORMS[form]}"
        within = bounds(j, 0)
        said.append(f"{facts}: J lies anywhere in {within}" if within else facts)
    return [f"{'; '.join(said)}."] if said else []


def _hedged(numbers: Numbers, form: str, first: bool) -> str:
    unknown, over = numbers.get("UUR", form), numbers.get("over_hedge", form)
    parts = []
    if unknown.value is not None:
        of = " of the facts it did not know" if first else " of the unknown"
        parts.append(percent(unknown.value, 0) + of)
    if over.value is not None:
        of = " of those it knew" if first else " of the known"
        parts.append(percent(over.value, 0) + of)
    j = numbers.get("J", form)
    value = f" (J = {show(j)})" if j.value is not None else ""
    return f"{' and '.join(parts)} in {FORMS[form]}{value}" if parts else ""


def _verdicts(numbers: Numbers, forms: list[str]) -> list[str]:
    said: dict[str, list[str]] = {}
    for form in forms:
        said.setdefault(_reading(numbers, form), []).append(FORMS[form])
    if len(said) == 1:
        text = next(iter(said))
        both = "In both forms, " if len(forms) == 2 else ""
        line = f"{both}{text}"
        return [f"{line[0].upper()}{line[1:]}."]
    return [f"In {' and '.join(places)}, {text}." for text, places in said.items()]


def _reading(numbers: Numbers, form: str) -> str:
    """Say what J and its interval allow; the cut-offs are ours and stand in the page's legend."""
    j, unknown = numbers.get("J", form), numbers.get("UUR", form)
    if j.value is None:
        return f"whether its hedges fall in the right place cannot be told: {reason(j)}"
    if j.low is None or j.high is None:
        return "this run has too little to say whether its hedges fall in the right place"
    if unknown.value == 0 and numbers.get("over_hedge", form).value == 0:
        return "it never says that it does not know"
    rare = _rare(unknown)
    if j.high < 0:
        return "its hedges mislead: what it knew was hedged more than what it did not know"
    if j.low <= 0:
        if rare:
            return "it almost never says that it does not know, and its hedges look random"
        return "its hedges cannot be told from hedging at random"
    if rare:
        return _few_but_good(numbers, form)
    if j.value < 0.1:
        return "its hedges fall in the right place a little more often than at random"
    if j.value < 0.4:
        return "its hedges tell known from unknown somewhat, far from always"
    if j.value < 0.7:
        return "its hedges tell known from unknown well, though not always"
    return "its hedges tell known from unknown most of the time"


def _few_but_good(numbers: Numbers, form: str) -> str:
    """Hedges that are too few to move J may still be well placed: say both, with counts."""
    placed, blind = numbers.get("UA", form), numbers.get("p_known", form)
    if placed.value is None or not placed.denominator or blind.value is None:
        return "it rarely hedges, and a little more often where it does not know"
    return (
        f"it rarely hedges; of the {placed.denominator:,.0f} facts that it hedged it did not know "
        f"{placed.numerator:,.0f} (at random: {percent(1 - blind.value, 0)})"
    )


def _rare(unknown: Estimate) -> bool:
    return unknown.value is not None and unknown.value < 0.1


def _unspoken(numbers: Numbers, forms: list[str]) -> str:
    """Say what its own probabilities could have told; a rank where it hedges too rarely for J."""
    for form in forms:
        rank = numbers.get("auroc_incorrect_within", form)
        if _rare(numbers.get("UUR", form)) and rank.value is not None and (rank.low or 0) > 0.5:
            return (
                "Its own token probabilities could tell far more, if it hedged by them: within a "
                "type of fact they rank a wrong answer below a right one in "
                f"{percent(rank.value, 0)} of pairs "
                f"({FORMS[form]}; 50 % is chance)."
            )
    for form in forms:
        gain = numbers.get("unspoken_knowledge", form)
        if gain.value is None or gain.low is None or gain.high is None:
            continue
        span = f"{show(gain)} {interval(gain)}"
        if gain.low > 0:
            said = f"would have told them apart better (J {span})"
        elif gain.high < 0:
            said = f"would have told them apart worse (J {span})"
        else:
            said = f"would have made no difference that can be seen here (J {span})"
        return (
            "Hedging as often within each type of fact, but by its own token probabilities, "
            f"{said}."
        )
    return ""


def reason(estimate: Estimate) -> str:
    """Return why a number does not exist, as the end of a sentence."""
    why, problem = EMPTY.get(estimate.name), estimate.problem or ""
    empty = estimate.denominator == 0 or problem.startswith("undefined") or problem == why
    if empty and why:
        return f"{why} among those with verdicts" if estimate.missing else why
    if estimate.problem:
        return estimate.problem.rstrip(".")
    return "nothing to count" if empty else "not computed in this run"
