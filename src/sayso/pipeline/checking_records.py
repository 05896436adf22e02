"""The records of ``sayso check``."""

from __future__ import annotations

from typing import Literal

import msgspec

Answer = Literal["yes", "no", "cannot tell"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that a model can or cannot do: what was ``seen``, and what ``follows`` from it."""

    what: str
    answer: Answer
    seen: str
    follows: str = ""


class LeftOut(msgspec.Struct, frozen=True):
    """A result of sayso that this model cannot give, and why."""

    result: str
    why: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What ``sayso.check`` found. ``dollars`` is what it cost, ``None`` where nobody knows.

    ``fingerprint`` is what the endpoint calls the system that answered; ``failed`` of the
    ``requests`` got no answer.
    """

    model: str
    identity: str
    signature: str
    fingerprint: str | None
    findings: tuple[Finding, ...]
    left_out: tuple[LeftOut, ...]
    requests: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    notices: tuple[str, ...] = ()

    def get(self, what: str) -> Finding:
        """Return the finding of this name, e.g. ``check.get("draws vary")``. Raises KeyError."""
        for finding in self.findings:
            if finding.what == what:
                return finding
        raise KeyError(what)
