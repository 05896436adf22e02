"""What must be read before any number of UNCLE: results that fall away, by name, and why."""

from __future__ import annotations

from collections.abc import Iterable

from sayso.protocols.draws import ALIKE
from sayso.records import Estimate

NO_LOGPROBS = "no log-probabilities were recorded for these answers"
NO_SPANS = (
    "this run does not store where answers state their values; run the same command again, which "
    "takes the answers from the cache"
)
#: which numbers rest on log-probabilities, as the report calls them
BY_LOGPROBS = {
    "unspoken_knowledge": "unspoken knowledge",
    "auroc_incorrect": "AUROC of the answers' own log-probabilities",
    "own_logprob": "the policies that hedge by them or by length in tokens",
}
BY_DRAWS = (
    "known by any of several draws (it is one draw asked several times)",
    "the chance-corrected known set (no value)",
    "the strict known set (it rests on two answers)",
)


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what falls away in a run whose draws never differ, or that has no log-probabilities.

    ``draws_vary`` is what the engine saw for itself; ``None`` where it does not know.
    """
    found = list(estimates)
    drawn = next((e for e in found if e.name == "draws_alike"), None)
    lines = []
    if drawn is not None and drawn.problem == ALIKE:
        alike = "draws of every question are equal"
    elif draws_vary is False:
        alike = "the model was seen to repeat the same text at a temperature above 0"
    else:
        alike = ""
    if alike:
        retest = any(e.name == "propensity_retest" for e in found)
        fallen = [*BY_DRAWS, *["test-retest of hedge propensity (no value)"] * retest]
        lines.append(
            f"The draws never vary: {alike}. Either the server repeats one answer whatever the "
            "temperature, or the model is certain of every answer; its text cannot tell which. "
            f"What rests on several draws falls away: {'; '.join(fallen)}."
        )
    scored = [e for e in found if e.name == "auroc_incorrect"]
    if scored and all(e.problem == NO_LOGPROBS for e in scored):
        lines.append(
            "There are no log-probabilities, so these have no value: "
            f"{', '.join(BY_LOGPROBS.values())}."
        )
    return lines
