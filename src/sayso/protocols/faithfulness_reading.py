"""Who reads decisiveness and who compares two answers: rules, an NLI model, a language model.

A reader of wording turns (question, answer) into assertions with a score; a reader of pairs turns
(question, assertion, sample) into a letter: c contradicts, n does not, e says the same or follows,
p the sample asserts nothing, ? nobody could say. Neither has a default for what it could not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sayso.annotate.collect_meaning import Meaning
from sayso.annotate.contradict import contradicts
from sayso.annotate.decisive import decisiveness
from sayso.annotate.language import is_english
from sayso.annotate.llm_contradict import LlmContradict
from sayso.annotate.llm_decisive import Asserted, LlmDecisive
from sayso.models import Engine
from sayso.records import InputError

Pair = tuple[str, str]  # question, answer
Triple = tuple[str, str, str]  # question, assertion, sample


class Wording(Protocol):
    """Whoever reads how surely answers speak."""

    signature: str

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return the assertions of each answer with their scores, or why there are none."""


class Compared(Protocol):
    """Whoever says whether a sample contradicts an assertion."""

    signature: str

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return a letter for each triple."""


class RulesWording:
    """:func:`sayso.decisiveness`: the whole answer is one assertion."""

    signature = "rules@4"

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return one assertion, none for a punt, a problem for another language."""
        return {pair: _by_rules(pair[1]) for pair in dict.fromkeys(pairs)}


def _by_rules(text: str) -> Asserted:
    if not text.strip():
        return Asserted(())
    if not is_english(text):
        return Asserted((), "language")
    score = decisiveness(text)
    return Asserted(() if score is None else ((text.strip(), score),))


class RulesCompared:
    """:func:`sayso.contradicts`."""

    signature = "rules@4"

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n, or ? where the two have nothing in common that could be compared."""
        letters = {True: "c", False: "n", None: "?"}
        return {t: letters[contradicts(*t)] for t in dict.fromkeys(triples)}


class NliCompared:
    """A model for natural-language inference: the likeliest of its three relations.

    The sample is the premise and the assertion the hypothesis: does what was drawn bear it out?
    """

    def __init__(self, meaning: Meaning) -> None:
        if not meaning.three:
            raise InputError(
                f"--nli {meaning.name} tells no contradiction from neutral; name a model with "
                "three labels, or say --contradict rules"
            )
        self._meaning = meaning
        self.signature = meaning.signature

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n or e by the largest probability, n of equal ones; ? where none was given."""
        unique = list(dict.fromkeys(triples))
        asked = [(question, sample, claim) for question, claim, sample in unique]
        table = self._meaning.table(asked) if asked else np.empty((0, 2))
        found = {}
        for triple, (follows, denies) in zip(unique, table.tolist(), strict=True):
            if np.isnan(follows) or np.isnan(denies):
                found[triple] = "?"
                continue
            rest = 1 - follows - denies
            likelier = "c" if denies > follows else "e"
            sure = denies != follows and max(denies, follows) > rest
            found[triple] = likelier if sure else "n"
        return found


def engine_of(judge: Any) -> Engine | None:
    """Return the model that a judge asks, ``None`` for one without."""
    for holder in (judge, getattr(judge, "llm", None)):
        engine = getattr(holder, "engine", None)
        if engine is not None:
            return engine  # type: ignore[no-any-return]
    return None


def wording_reader(how: str, judge: Any, folder: Path | None) -> Wording:
    """Open the reader of wording that settings name. Raises InputError where it has no model."""
    engine = engine_of(judge)
    if how == "rules" or (how == "auto" and engine is None):
        return RulesWording()
    if engine is None:
        raise InputError(f"decisive judge: the judge {judge.name} is no model; say --judge MODEL")
    return LlmDecisive(engine, folder)


def pair_reader(how: str, judge: Any, meaning: Meaning | None, folder: Path | None) -> Compared:
    """Open the reader of pairs that settings name. Raises InputError where it has no model."""
    engine = engine_of(judge)
    if how == "nli":
        if meaning is None:
            raise InputError("contradict nli: no NLI model can be opened here; name one with --nli")
        return NliCompared(meaning)
    if how == "rules" or (how == "auto" and engine is None):
        return RulesCompared()
    if engine is None:
        raise InputError(f"contradict judge: the judge {judge.name} is no model; say --judge MODEL")
    return LlmContradict(engine, folder)
