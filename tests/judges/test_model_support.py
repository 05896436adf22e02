"""Support of claims read by a model: what counts as a verdict, and that nothing else ever does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from sayso.engines.scripted import ScriptedEngine
from sayso.judges.model import numbered
from sayso.judges.support import LlmSupport, Supported, read_verdict
from sayso.records import Generation, Passage, Request
from support import attacks
from support.tables import tabled

CLAIMS = [f"Orm has claim number {n} here." for n in range(6)]
ONE, TWO = Passage("id1", "Orm", "Orm is in Sarn."), Passage("id2", "Orm", "Orm is old.")


def parts_of(prompt: str) -> tuple[str, list[str], list[str]]:
    """Return code, claims and names of passages, as a model would read them."""
    code = re.search(r"The code is (k\w+)", prompt)
    assert code is not None
    claims: dict[int, list[str]] = {}
    for number, text in re.findall(r"^(\d+) claim\| (.*)$", prompt, re.M):
        claims.setdefault(int(number), []).append(text)
    names = list(dict.fromkeys(re.findall(r"^passage (p\d+)\|", prompt, re.M)))
    return code[1], ["\n".join(claims[n]) for n in sorted(claims)], names


def good(prompt: str, said: Callable[[str], tuple[str, str]] | None = None) -> dict[str, Any]:
    code, claims, _ = parts_of(prompt)
    verdicts = []
    for n, claim in enumerate(claims, 1):
        verdict, passage = said(claim) if said else ("supported", "p1")
        verdicts.append(
            {"number": n, "begins": " ".join(claim.split()[:5]), "verdict": verdict,
             "passage": passage}
        )  # fmt: skip
    return {"code": code, "verdicts": verdicts}


def model(reply: Callable[[str], Any]) -> ScriptedEngine:
    return ScriptedEngine(lambda request: reply(request.messages[-1].content), name="checker")


@tabled
def test_entries_by_hand(entry: dict[str, Any], expected: Any) -> None:
    assert read_verdict(entry) == expected


def test_claims_of_a_topic_share_a_call_and_equal_ones_are_asked_once() -> None:
    engine = model(lambda prompt: json.dumps(good(prompt)))
    items = [("Orm", c, (ONE, TWO)) for c in CLAIMS] * 2
    found = LlmSupport(engine).read(items)
    assert found == [Supported("S", ("id1",))] * 12
    assert len(engine.requests) == 1
    prompt = engine.requests[0].messages[-1].content
    assert prompt.count("Orm is in Sarn.") == 1  # a passage is read once for all of them
    assert len(parts_of(prompt)[1]) == 6


def test_without_passages_nothing_is_asked() -> None:
    engine = model(lambda prompt: json.dumps(good(prompt)))
    assert LlmSupport(engine).read([("Orm", "x", ())]) == [Supported(None, (), "unretrieved")]
    assert engine.requests == []


def test_twelve_claims_and_twenty_passages_are_a_call() -> None:
    # 30 claims: 12 + 12 + 6. With 8 passages of its own each: 2 claims a call.
    engine = model(lambda prompt: json.dumps(good(prompt)))
    LlmSupport(engine).read([("Orm", f"claim {n} of many", (ONE,)) for n in range(30)])
    assert [len(parts_of(r.messages[-1].content)[1]) for r in engine.requests] == [12, 12, 6]
    engine = model(lambda prompt: json.dumps(good(prompt)))
    own = [tuple(Passage(f"{n}-{i}", "Orm", f"{n} {i}") for i in range(8)) for n in range(6)]
    LlmSupport(engine).read([("Orm", f"claim {n} of many", own[n]) for n in range(6)])
    assert [len(parts_of(r.messages[-1].content)[2]) for r in engine.requests] == [16, 16, 16]


def test_apart_no_claim_is_shown_the_passages_of_another() -> None:
    """Draws as passages: whether draw 2 holds a claim must not be read from draw 1."""
    draws = [Passage(f"draw{n}", "Orm", f"Text of draw {n}.") for n in range(3)]
    items = [("Orm", c, (d,)) for c in CLAIMS * 3 for d in draws]

    def reply(prompt: str) -> str:
        assert len(parts_of(prompt)[2]) == 1
        held = "draw 0" in prompt
        return json.dumps(good(prompt, lambda _: ("supported" if held else "not supported", "p1")))

    engine = model(reply)
    found = LlmSupport(engine).read(items, apart=True)
    assert [f.label for f in found] == ["S", "NS", "NS"] * 18
    assert len(engine.requests) == 3  # one a draw


def test_a_citation_of_nothing_is_no_support() -> None:
    engine = model(lambda prompt: json.dumps(good(prompt, lambda _: ("supported", "p9"))))
    reader = LlmSupport(engine)
    found = reader.read([("Orm", CLAIMS[0], (ONE,))])
    assert found == [Supported(None, ("id1",), "mismatch")]


def test_what_is_missing_is_asked_once_more_and_then_counted() -> None:
    def reply(prompt: str) -> str:
        whole = good(prompt)
        whole["verdicts"] = [v for v in whole["verdicts"] if "number 3" not in v["begins"]]
        return json.dumps(whole)

    engine = model(reply)
    claims = [c.replace("claim number", "number") for c in CLAIMS]
    reader = LlmSupport(engine)
    found = reader.read([("Orm", c, (ONE,)) for c in claims])
    assert [f.problem for f in found] == [None, None, None, "unread", None, None]
    assert len(engine.requests) == 2
    assert any("1 of 6" in notice and "unread" in notice for notice in reader.notices)


def test_failed_and_refused_requests_say_so() -> None:
    for answer, problem in (
        (Generation(Request(()), problem="failed: 500"), "failed"),
        (Generation(Request(()), problem="refused: content filter"), "refused"),
        ("I cannot help with that request.", "refused"),
        ("", "unread"),
    ):
        engine = model(lambda prompt, answer=answer: answer)
        (found,) = LlmSupport(engine).read([("Orm", CLAIMS[0], (ONE,))])
        assert found == Supported(None, ("id1",), problem)


def test_a_thousand_mutated_replies() -> None:
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

    for _ in range(1000):
        engine = model(lambda prompt: damage(json.dumps(good(prompt, truth))))
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
    assert kept > 333
    assert lost > 333


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
            return json.dumps(good(prompt, lambda _: said))
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
