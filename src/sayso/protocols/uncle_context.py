"""What every number of a run shares: its aspects, what counts as known, and the labels.

The rules for *known* and for labels are PROTOCOLS 1.B and VALIDITY 1; numbers made from them are
in ``uncle_numbers.py`` and ``uncle_beyond.py``.
"""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.chance import chance_corrected, guess_rates, strict_known
from sayso.metrics.rates import CORRECT, INCORRECT, MISSING, UNCERTAIN
from sayso.protocols import Run
from sayso.protocols.aspects import HEDGED_PROBE, UNKNOWN, Aspects, View, load_aspects
from sayso.protocols.draws import Draws, count_draws
from sayso.protocols.guessing import other_draws
from sayso.protocols.uncle import Settings
from sayso.records import Estimate, content_id

HEADLINE = ("FA", "UA", "UUR", "KCR", "EA", "J")
LEFT_OUT = -2
RENAMED = {"F1": "F1_uncertain"}

Ints = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Context:
    """What every number of one run shares.

    ``known`` maps a rule to codes per aspect: 1 known, 0 unknown, -1 missing, -2 left out.
    ``guesses`` are matches and draws for other entities; ``probes`` is "self", or a hash of what
    the borrowed probes said; ``draws`` counts the questions whose probes are all alike.
    """

    run: Run
    settings: Settings
    aspects: Aspects
    known: dict[str, Ints]
    guesses: tuple[Ints, Ints]
    probes: str
    draws: Draws

    def labels(self, form: str, instructed: bool = True) -> Ints:
        """Return label codes: 0 S, 1 NS, 2 UNC, -1 missing, -2 left out by a setting."""
        return label_codes(self.aspects.views[form, instructed], self.settings)

    def redrawn(self) -> Draws:
        """Count the prompts whose further instructed draws (``propensity``) are all alike."""
        stages = ("propensity-short", "propensity-long")
        return count_draws(g for stage in stages for g in self.run.generations(stage))

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
        if s.propensity:
            parts["propensity"] = str(s.propensity)
        # any of k draws in each of so many wordings
        times = f"x{s.wordings}" if s.probe_wordings else ""
        signature = self.run.signature(
            **parts,
            known=f"{known}-of-{s.probe.k}{times}@T{s.probe.temperature:g}",
            known_from=self.probes,
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


def load(run: Run, settings: Settings, *, guesses: bool = True) -> Context:
    """Join the run's tables and decide, by each rule, which aspects are known.

    Without ``guesses`` the guess rates are not computed (they take longer than all the rest):
    then no aspect is known beyond chance.
    """
    k, wordings = settings.probe.k, settings.wordings if settings.probe_wordings else 1
    aspects = load_aspects(run, k, wordings)
    texts: dict[str, list[str]] = {}
    for generation in run.generations("probe") if guesses else ():
        if generation.request.sample < k and generation.problem is None:
            texts.setdefault(generation.question, []).append(generation.text)
    matches = other_draws(aspects.questions, texts)
    rate = guess_rates(*matches)
    total = k * wordings
    greedy = label_codes(aspects.views["short", False], settings)
    hedged_probe = UNKNOWN if settings.probe.unc == "unknown" else LEFT_OUT
    any_of_k = np.where(aspects.known == HEDGED_PROBE, hedged_probe, aspects.known)
    readable = any_of_k >= 0
    corrected = chance_corrected(aspects.hits, aspects.drawn, total, rate).astype(np.int64)
    known = {
        "any": any_of_k,
        "corrected": np.where(readable, corrected, any_of_k),
        "strict": np.where(any_of_k == LEFT_OUT, LEFT_OUT, _strict(aspects, greedy, total)),
    }
    probes = "self" if settings.known_from == "self" else f"run-{probes_hash(aspects)}"
    drawn = count_draws(g for g in run.generations("probe") if g.request.sample < k)
    return Context(run, settings, aspects, known, matches, probes, drawn)


def probes_hash(aspects: Aspects, rows: Ints | None = None) -> str:
    """Return a short hash of what the probes (of some rows) said about what is known."""
    chosen = range(aspects.size) if rows is None else rows.tolist()
    said = {(aspects.questions[r].id, int(aspects.hits[r]), int(aspects.drawn[r])) for r in chosen}
    return content_id(sorted(said))[:8]


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
