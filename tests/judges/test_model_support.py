"""Support of claims read by a model: what counts as a verdict, and that nothing else ever does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest

from sayso.judges.model import numbered
from sayso.judges.support import LlmSupport, Supported
from sayso.records import Passage
from support import attacks
from support.numbered import good, model, shown

CLAIMS = [f"Orm has claim number {n} here." for n in range(6)]
ONE, TWO = Passage("id1", "Orm", "Orm is in Sarn."), Passage("id2", "Orm", "Orm is old.")
SUPPORTED = ("supported", "p1")


def passages_in(prompt: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"^passage (p\d+)\|", prompt, re.M)))


def claims_in(prompt: str) -> list[str]:
    return shown(prompt, "claim")[1]


def checked(prompt: str, said: Callable[[str], tuple[str, str]] = lambda claim: SUPPORTED) -> str:
    """Return a good reply, with the verdict and the passage that are said of each claim."""
    names = ("verdict", "passage")
    return json.dumps(good(prompt, "claim", lambda c: dict(zip(names, said(c), strict=True))))


def test_claims_of_a_topic_share_a_call_and_equal_ones_are_asked_once() -> None:
    engine = model(checked)
    items = [("Orm", c, (ONE, TWO)) for c in CLAIMS] * 2
    found = LlmSupport(engine).read(items)
    assert found == [Supported("S", ("id1",))] * 12
    assert len(engine.requests) == 1
    prompt = engine.requests[0].messages[-1].content
    assert prompt.count("Orm is in Sarn.") == 1  # a passage is read once for all of them
    assert len(claims_in(prompt)) == 6


def test_without_passages_nothing_is_asked() -> None:
    engine = model(checked)
    assert LlmSupport(engine).read([("Orm", "x", ())]) == [Supported(None, (), "unretrieved")]
    assert engine.requests == []


def test_twelve_claims_and_twenty_passages_are_a_call() -> None:
    # 30 claims: 12 + 12 + 6. With 8 passages of its own each: 2 claims a call.
    engine = model(checked)
    LlmSupport(engine).read([("Orm", f"claim {n} of many", (ONE,)) for n in range(30)])
    assert [len(claims_in(r.messages[-1].content)) for r in engine.requests] == [12, 12, 6]
    engine = model(checked)
    own = [tuple(Passage(f"{n}-{i}", "Orm", f"{n} {i}") for i in range(8)) for n in range(6)]
    LlmSupport(engine).read([("Orm", f"claim {n} of many", own[n]) for n in range(6)])
    assert [len(passages_in(r.messages[-1].content)) for r in engine.requests] == [16, 16, 16]


def test_apart_no_claim_is_shown_the_passages_of_another() -> None:
    """Draws as passages: whether draw 2 holds a claim must not be read from draw 1."""
    draws = [Passage(f"draw{n}", "Orm", f"Text of draw {n}.") for n in range(3)]
    items = [("Orm", c, (d,)) for c in CLAIMS * 3 for d in draws]

    def reply(prompt: str) -> str:
        assert len(passages_in(prompt)) == 1
        held = "draw 0" in prompt
        return checked(prompt, lambda _: ("supported" if held else "not supported", "p1"))

    engine = model(reply)
    found = LlmSupport(engine).read(items, apart=True)
    assert [f.label for f in found] == ["S", "NS", "NS"] * 18
    assert len(engine.requests) == 3  # one a draw


def test_a_citation_of_nothing_is_no_support() -> None:
    engine = model(lambda prompt: checked(prompt, lambda _: ("supported", "p9")))
    reader = LlmSupport(engine)
    found = reader.read([("Orm", CLAIMS[0], (ONE,))])
    assert found == [Supported(None, ("id1",), "mismatch")]


def test_a_damaged_reply_turns_no_verdict() -> None:
    """A damaged reply gives the verdict it gave undamaged, or none: never another."""
    generator = random.Random(5)
    lost = kept = 0

    def damage(text: str) -> str:
        for _ in range(generator.randint(1, 6)):
            at = generator.randrange(len(text) + 1)
            how = generator.randrange(5)
            if how == 0:
                text = text[:at] + text[at + generator.randint(1, 30) :]
            elif how == 1:
                text = text[:at] + generator.choice('{}[]",:ps1 \n\\') + text[at:]
            elif how == 2:
                text = text[:at]
            elif how == 3:
                text = text + text[at:]
            else:
                text = text[at:] + text[:at]
        return text

    # claims 0-2 supported by p1, 3-5 not: "supported" must never come to those
    def truth(claim: str) -> tuple[str, str]:
        number = int(re.findall(r"\d", claim)[0])
        return ("supported", "p1") if number < 3 else ("not supported", "")

    for _ in range(300):
        engine = model(lambda prompt: damage(checked(prompt, truth)))
        reader = LlmSupport(engine)
        found = reader.read([("Orm", c, (ONE,)) for c in CLAIMS])
        for n, one in enumerate(found):
            assert (one.label is None) == (one.problem is not None)
            if one.label is None:
                lost += 1
                continue
            kept += 1
            # "not" cut out of a verdict leaves a "supported" that names no passage
            assert one.label == ("S" if n < 3 else "NS")
        counts = reader.counts
        assert counts.unread + counts.mismatch + counts.refused + counts.truncated == sum(
            f.problem is not None and f.problem != "failed" for f in found
        )
    assert kept > 100
    assert lost > 100


@pytest.mark.parametrize("place", ["claim", "passage", "title", "topic"])
def test_no_attack_gets_out_of_the_fence(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker obeys any text outside the fence; the second claim must keep its verdict."""
    monkeypatch.setattr(attacks, "_PREFIX", re.compile(r"^(?:\d+ claim|question|passage p\d+)\| ?"))
    assert run_attacks(place) == 0


def test_without_the_fence_the_attacks_are_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacks, "_PREFIX", re.compile(r"^(?:\d+ claim|question|passage p\d+)\| ?"))
    monkeypatch.setattr(numbered, "fence", attacks.fixed_fence)
    assert run_attacks("passage", limit=120) >= 20


def run_attacks(place: str, limit: int | None = None) -> int:
    """Return how many attacks made the checker say more than the truth, "not supported"."""
    fallen = 0

    def reply(prompt: str) -> str:
        obeys = attacks.CANARY in attacks.outside(prompt)
        try:
            said = ("supported", "p1") if obeys else ("not supported", "")
            return checked(prompt, lambda _: said)
        except (AssertionError, KeyError):
            return ""

    for attack in [a for a in attacks.attacks() if len(a.text) < 5000][:limit]:
        hostile = f"Orm is in Sarn. {attack.text}"
        passage = Passage(
            "id1", hostile if place == "title" else "Orm", hostile if place == "passage" else "x"
        )
        topic = hostile if place == "topic" else "Orm"
        first = hostile if place == "claim" else CLAIMS[0]
        found = LlmSupport(model(reply)).read(
            [(topic, first, (passage,)), (topic, CLAIMS[1], (passage,))]
        )
        fallen += any(f.label == "S" for f in found)
    return fallen
