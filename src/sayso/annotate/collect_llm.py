"""A language model as NLI classifier: it is asked for the relation, one pair a request.

Both texts stand fenced (``fence``), and a reply counts only if it repeats the fence's code before
one of the three relations: what a text quotes or commands is never a verdict. A reply that is not
read is NaN, never "neutral".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sayso.annotate.fence import Field, fence
from sayso.annotate.llm_parse import strip_thinking
from sayso.models import Engine
from sayso.prompts import load_prompt, prompt_hash
from sayso.records import Message, Request

LABELS = ("entailment", "neutral", "contradiction")


class LlmClassifier:
    """An engine as :class:`~sayso.models.Classifier`: probabilities are 0 and 1.

    ``unread`` counts replies without a relation, ``failed`` requests without a reply.
    """

    labels = LABELS

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prompt = load_prompt("relation")
        version = prompt_hash(self._prompt)
        self.identity = f"llm-relation:{engine.identity}|{version}"
        self.signature = f"llm:{engine.signature}#p{version[:4]}"
        self.pairs = 0
        self.unread = 0
        self.failed = 0

    @property
    def notices(self) -> list[str]:
        """What the user should be told."""
        lost = self.unread + self.failed
        if not lost:
            return []
        return [
            f"{lost:,} of {self.pairs:,} relations could not be read from {self._engine.signature} "
            f"({self.failed:,} requests failed): scores that need them have no value"
        ]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, 3) of 0 and 1 in the order of ``labels``; NaN where nothing was read."""
        found = np.full((len(pairs), len(LABELS)), np.nan)
        self.pairs += len(pairs)
        requests, codes = [], []
        for pair in pairs:
            request, code = self.request(*pair)
            requests.append(request)
            codes.append(code)
        for index, reply in self._engine.complete(requests):
            if reply.problem is not None:
                self.failed += 1
                continue
            label = relation_in(reply.text, codes[index])
            if label is None:
                self.unread += 1
            else:
                found[index] = [float(name == label) for name in LABELS]
        return found

    def request(self, premise: str, hypothesis: str) -> tuple[Request, str]:
        """Return the request about one pair, and the code that its reply must repeat."""
        data = fence([Field("first", premise), Field("second", hypothesis)])
        text = self._prompt.replace("{marker}", data.marker).replace("{code}", data.code)
        message = Message("user", text.replace("{texts}", data.text))
        return Request(messages=(message,), temperature=0.0, max_tokens=256), data.code


def relation_in(text: str, code: str) -> str | None:
    """Return the one relation that a reply names behind its code; ``None`` for none or several."""
    said, _ = strip_thinking(text)
    found = re.findall(rf"\b{re.escape(code)}\b\W{{0,5}}(\w+)", said.lower())
    named = {name for name in found if name in LABELS}
    return named.pop() if len(named) == 1 else None
