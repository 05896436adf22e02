"""Claims by a model: what is read, where quotes stand, and that nothing is ever invented."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.claims import Claimed, LlmClaims, claim_blocks, locate
from sayso.judges.english.markup import parts
from sayso.judges.english.sentences import Span
from support.numbered import good, model, shown
from support.tables import tabled

TOPIC = "Orm Bek"
TEXT = "Orm Bek was born in Sarn. I think he  died\nin 1950, or so. He left no will."
SENTENCES = [TEXT[p.start : p.end] for p in parts(TEXT)]


def says(text: str) -> dict[str, Any]:
    """Quote the first four words of a sentence."""
    claim = {"text": f"Claim of {text.split()[0]}", "quote": " ".join(text.split()[:4])}
    return {"claims": [claim]}


def quoting(prompt: str) -> str:
    return json.dumps(good(prompt, "sentence", says))


def test_a_paragraph_is_one_call_and_is_asked_once() -> None:
    engine = model(quoting)
    reader = LlmClaims(engine)
    found = reader.read([(TOPIC, TEXT), (TOPIC, TEXT)])[TOPIC, TEXT]
    assert len(engine.requests) == 1
    assert found.problem is None
    assert [TEXT[s.start : s.end] for s in found.sentences] == SENTENCES
    assert [d.sentence for d in found.drafts] == [1, 2, 3]
    assert [TEXT[d.start : d.end] for d in found.drafts] == [
        "Orm Bek was born",
        "I think he  died",
        "He left no will",
    ]
    assert found.drafts[0].text == "Claim of Orm"
    assert reader.read([(TOPIC, TEXT)])[TOPIC, TEXT] == found
    assert len(engine.requests) == 1
    assert (reader.claims, reader.unlocated, reader.notices) == (3, 0, [])
    assert reader.signature.startswith(f"{engine.signature}#p")


def test_a_text_without_sentences_is_not_asked() -> None:
    engine = model(quoting)
    reader = LlmClaims(engine)
    assert reader.read([(TOPIC, ""), (TOPIC, "# Life\n---")]) == {
        (TOPIC, ""): Claimed((), ()),
        (TOPIC, "# Life\n---"): Claimed((), ()),
    }
    assert engine.requests == []


def test_long_texts_are_cut_and_say_what_stood_before() -> None:
    text = " ".join(f"Orm Bek won prize {n} in Sarn." for n in range(30))
    blocks = claim_blocks(TOPIC, text)
    assert [len(members) for _, members in blocks] == [8, 7, 8, 7]  # 30 -> 15, 15 -> 8, 7
    assert [n for _, members in blocks for n, _ in members] == list(range(1, 31))
    assert blocks[0][0].head == ()
    assert blocks[1][0].head[0].text.endswith("Orm Bek won prize 7 in Sarn.")


def test_short_paragraphs_share_a_call() -> None:
    text = "\n\n".join(f"Orm Bek won prize {n}. He lost it." for n in range(7))
    assert [len(members) for _, members in claim_blocks(TOPIC, text)] == [12, 2]


def test_equal_sentences_share_an_entry() -> None:
    text = "He won. He lost. He won."
    engine = model(quoting)
    found = LlmClaims(engine).read([(TOPIC, text)])[TOPIC, text]
    assert len(shown(engine.requests[0].messages[-1].content, "sentence")[1]) == 2
    # all three have the words "Claim of He": said again, a claim counts once
    assert [(d.sentence, text[d.start : d.end]) for d in found.drafts] == [(1, "He won")]
    assert found.repeated == 2


def test_a_quote_that_is_not_there_keeps_the_claim_and_is_counted() -> None:
    def invents(prompt: str) -> str:
        whole = good(prompt, "sentence", says)
        whole["verdicts"][1]["claims"][0]["quote"] = "was born in Sarn"  # of another sentence
        return json.dumps(whole)

    reader = LlmClaims(model(invents))
    found = reader.read([(TOPIC, TEXT)])[TOPIC, TEXT]
    assert TEXT[found.drafts[1].start : found.drafts[1].end] == SENTENCES[1]
    assert (reader.claims, reader.unlocated) == (3, 1)
    assert "1 of 3 claims quote words" in reader.notices[0]


@tabled
def test_where_a_quote_stands(quote: str, place: str | None) -> None:
    part = parts(TEXT)[1]
    found = locate(quote, TEXT, Span(part.start, part.end))
    assert (TEXT[found.start : found.end] if found else None) == place


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=20))
def test_any_text_any_quote_any_topic(text: str, quote: str, topic: str) -> None:
    def replies(prompt: str) -> str:
        whole = good(prompt, "sentence", says)
        for entry in whole["verdicts"]:
            entry["claims"] = [{"text": "It is so", "quote": quote}]
        return json.dumps(whole)

    found = LlmClaims(model(replies)).read([(topic, text)])[topic, text]
    for draft in found.drafts:
        sentence = found.sentences[draft.sentence - 1]
        assert sentence.start <= draft.start < draft.end <= sentence.end
