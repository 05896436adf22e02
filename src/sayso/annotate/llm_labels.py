"""What a judge model may answer, and which stance and content each of its labels stands for.

A label says stance and content in one go (VALIDITY 3). ``uncle`` are the paper's three labels
(arXiv 2505.16922, PROTOCOLS 1.A step 3), with one of ours for an aspect that a paragraph does not
mention, which the paper counts as NS without saying so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from sayso.records import Content, Stance

Labels = Literal["stance", "uncle"]
Form = Literal["short", "long"]

#: ``None`` as content: a second call decides it.
Meaning = tuple[Stance | None, Content | None]


class Vocabulary(NamedTuple):
    """The labels of one kind of call; ``omitted`` is the one for what a text does not mention."""

    names: tuple[str, ...]
    meaning: Mapping[str, Meaning]
    omitted: str

    def read(self, label: str) -> str | None:
        """Return the label that was meant, or ``None``: case and separators do not matter."""
        plain = _SEPARATOR.sub("-", label.strip().casefold()).strip("-")
        plain = _SAME.get(plain, plain)
        return next((n for n in self.names if n.casefold() == plain), None)

    def without_omitted(self) -> Vocabulary:
        """Return the labels of short answers in the paper's scheme, which has no omission there."""
        return self._replace(names=tuple(n for n in self.names if n != self.omitted))


_SEPARATOR = re.compile(r"[\s_/,:+-]+")
#: Spellings of a label that mean the same.
_SAME = {
    "abstained-none": "abstained",
    "refused-by-policy": "refused",
    "refused-none": "refused",
    "refused-by-policy-none": "refused",
    "asked-back-none": "asked-back",
    "omitted-none": "omitted",
}


def _vocabulary(meaning: dict[str, Meaning], omitted: str) -> Vocabulary:
    return Vocabulary(tuple(meaning), meaning, omitted)


_SILENT: dict[str, Meaning] = {
    "abstained": ("abstained", "none"),
    "refused": ("refused_by_policy", "none"),
    "asked-back": ("asked_back", "none"),
    "omitted": ("omitted", "none"),
}

#: One call for stance and content.
ONE_PASS: dict[Labels, Vocabulary] = {
    "stance": _vocabulary(
        {
            "committed-correct": ("committed", "correct"),
            "committed-incorrect": ("committed", "incorrect"),
            "hedged-correct": ("hedged", "correct"),
            "hedged-incorrect": ("hedged", "incorrect"),
            "hedged-none": ("hedged", "none"),
            **_SILENT,
        },
        "omitted",
    ),
    "uncle": _vocabulary(
        {
            "S": ("committed", "correct"),
            "NS": ("committed", "incorrect"),
            "UNC": ("hedged", "none"),
            "OMIT": ("omitted", "none"),
        },
        "OMIT",
    ),
}

#: First of two calls: which aspects are uncertain?
FIRST: dict[Labels, Vocabulary] = {
    "stance": _vocabulary(
        {"committed": ("committed", None), "hedged": ("hedged", None), **_SILENT}, "omitted"
    ),
    "uncle": _vocabulary(
        {
            "certain": ("committed", None),
            "UNC": ("hedged", "none"),
            "OMIT": ("omitted", "none"),
        },
        "OMIT",
    ),
}

#: Second of two calls: does the value agree with the golds?
SECOND = _vocabulary(
    {"correct": (None, "correct"), "incorrect": (None, "incorrect"), "none": (None, "none")}, ""
)


def vocabulary(labels: Labels, step: str, form: Form) -> Vocabulary:
    """Return the labels of a call; ``step`` is ``one``, ``first`` or ``second``."""
    if step == "second":
        return SECOND
    found = (ONE_PASS if step == "one" else FIRST)[labels]
    return found.without_omitted() if labels == "uncle" and form == "short" else found


def combine(stance: Stance, content: Content | None) -> tuple[Stance, Content] | None:
    """Return stance and content if they can stand together, else ``None``.

    A committed answer has a value, so its content is never "none"; without a value there is none.
    """
    if content is None:
        return None
    if stance == "committed":
        return (stance, content) if content != "none" else None
    if stance == "hedged":
        return stance, content
    return (stance, content) if content == "none" else None
