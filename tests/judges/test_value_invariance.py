"""The stance of an answer does not depend on the value, its format, the name or the subject."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso.judges.rules.judge import judge_rules

#: kinds of values: a question, a sentence, the same with a place for a word before the value, and
#: values in different formats; the reader has learned from none of them
ROWS = (Path(__file__).parent / "tables" / "value_invariance.jsonl").read_text(encoding="utf-8")
KINDS = {row["kind"]: row for row in map(json.loads, ROWS.splitlines())}
NAMES = (("Hedda Krom", "She"), ("the Vintner Company", "It"))
CUES = {
    "before": (
        "Maybe {a}.", "I think {a}.", "I'm not sure, but {a}.", "It's possible that {a}.",
        "My best guess is that {a}.",
    ),
    "within": (" probably", " possibly", ", I believe,", " perhaps", ", if I remember correctly,"),
    "behind": (
        ", I think.", ", but I'm not sure.", ", perhaps.", ", though I could be wrong.",
        " (not certain).",
    ),
    "apart": (
        ". However, I am not certain.", ". Please verify this.",
        ". However, there is some uncertainty about this.", ". I might be wrong.",
        ". Note: I am not sure.",
    ),
}  # fmt: skip
FIRM = {"before": "Certainly, {a}.", "within": "", "behind": ".", "apart": ". This is well known."}


def texts(place: str, cue: str, kind: str) -> list[tuple[str, str, str]]:
    """Return (question, value, answer) of every value, name, and bare or whole statement."""
    row = KINDS[kind]
    made = []
    for value in row["values"]:
        for name, subject in NAMES:
            parts = {"n": name, "s": subject, "v": value, "m": cue}
            statement = row["whole"].format(**parts)
            for said in (statement, value):
                if place == "within":
                    said = row["within"].format(**parts) + "."
                elif place == "before":
                    low = said[0].lower() + said[1:] if said.startswith(("It ", "She ")) else said
                    said = cue.format(a=low)
                else:
                    said += cue
                made.append((row["question"].format(n=name), value, said[0].upper() + said[1:]))
    return made


def shares_seen(doubt: bool) -> dict[str, float]:
    """Return the share of answers read as they are meant, by kind of value."""
    seen: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for place, cues in CUES.items():
        for cue in cues if doubt else (FIRM[place],):
            for kind in KINDS:
                for question, value, answer in texts(place, cue, kind):
                    stance = judge_rules(question, value, answer).stance
                    seen[kind].append((stance != "committed") is doubt)
    return {kind: sum(right) / len(right) for kind, right in seen.items()}


@pytest.mark.parametrize("doubt", [True, False])
def test_stance_is_read_alike_beside_every_kind_of_value(doubt: bool) -> None:
    shares = shares_seen(doubt)
    assert min(shares.values()) >= 0.95, shares
    assert max(shares.values()) - min(shares.values()) <= 0.05, shares
