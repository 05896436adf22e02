"""The stance of an answer does not depend on the value, its format, the name or the subject."""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules

#: kind of value -> question, a sentence, the same with a place for a word before the value, two
#: values in different formats; the reader has learned from none of them
KINDS = {
    "place": (
        "Where was {n} raised?", "{s} was raised in {v}", "{s} was{m} raised in {v}",
        ("Tilburg", "Old Harwick, Devon"),
    ),
    "person": (
        "Who composed {n}?", "{v} composed it", "It was{m} composed by {v}",
        ("Ottilie Brandt", "W. J. Tamsin"),
    ),
    "year": (
        "In what year was {n} dissolved?", "It was dissolved in {v}", "It was{m} dissolved in {v}",
        ("1887", "2009"),
    ),
    "date": (
        "When was {n} launched?", "{s} was launched on {v}", "{s} was{m} launched on {v}",
        ("October 3, 1956", "3 October 1956", "1956-10-03", "the 3rd of October, 1956"),
    ),
    "quantity": (
        "How tall is {n}?", "It is {v} tall", "It is{m} {v} tall", ("214 metres", "1.9 m"),
    ),
    "list": (
        "Which rivers meet at {n}?", "The {v} meet there", "The{m} {v} meet there",
        ("Aar, Limmat and Reuss", "Fulda and Werra"),
    ),
    "thing": (
        "What did {n} sell?", "{s} sold {v}", "{s}{m} sold {v}", ("pottery", "wool and candles"),
    ),
    "title": (
        "Which novel did {n} write?", "The novel is {v}", "The novel is{m} {v}",
        ('"The Glass Orchard"', "Winter in Ostend"),
    ),
}  # fmt: skip
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
    question, whole, within, values = KINDS[kind]
    made = []
    for value in values:
        for name, subject in NAMES:
            parts = {"n": name, "s": subject, "v": value, "m": cue}
            statement = whole.format(**parts)
            for said in (statement, value):
                if place == "within":
                    said = within.format(**parts) + "."
                elif place == "before":
                    low = said[0].lower() + said[1:] if said.startswith(("It ", "She ")) else said
                    said = cue.format(a=low)
                else:
                    said += cue
                made.append((question.format(n=name), value, said[0].upper() + said[1:]))
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
