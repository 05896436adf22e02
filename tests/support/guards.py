"""A small guard, as sayso guard writes it."""

from __future__ import annotations

from typing import Any

from sayso.guard.guard import GuardFile

PROMISE = "Of the answers that this guard gives, at most 5 % are wrong."


def guard_file(**changes: Any) -> GuardFile:
    plain: dict[str, Any] = {
        "format": 1, "sayso": "0", "created": "2026-01-01", "score": "perplexity", "limit": 1.5,
        "promise": PROMISE, "max_error": 0.05, "confidence": 0.95, "labels": 200,
        "labeled_by": "people", "unit": "answer", "answered": 100, "wrong": 1,
        "needs": ("logprobs",),
    }  # fmt: skip
    return GuardFile(**{**plain, **changes})
