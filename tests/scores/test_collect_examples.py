"""P(True) behind labeled examples: which are shown, what is asked, and what cannot be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.records import Generation, Message, Request
from sayso.scores.collect import (
    NEED,
    NONE_FITS,
    NOT_GIVEN,
    ONE_OF_THEM,
    PromptExamples,
    ShownExample,
    Tools,
    choose_examples,
    collect_evidence,
    evidence_lacking,
    provided,
)
from sayso.scores.evidence import Case
from support.scripted import ScriptedEngine


class Letters(ScriptedEngine):
    """Gives A .6 and B .2 behind an example, .5 and .5 without; no prompt above ``room`` fits."""

    def __init__(self, room: int = 10**6) -> None:
        super().__init__({}, logprob=-1.0)
        self.room = room

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        for index, (request, text) in enumerate(items):
            self.forced.append((request, text))
            asked = request.messages[-1].content
            option = str(text).strip()
            p = {"A": 0.6, "B": 0.2}[option] if asked.count("Proposed answer:") > 1 else 0.5
            found = Generation(request, text=str(text), token_ids=(ord(option),))
            if len(asked) > self.room:
                yield index, msgspec.structs.replace(found, problem="context")
            else:
                yield index, msgspec.structs.replace(found, logprobs=(math.log(p),))


def shown(n: int, true: bool) -> ShownExample:
    return ShownExample(f"What is number {n}?", (f"{n}", "nine"), f"{n}", true)


POOL = [*(shown(n, True) for n in range(30)), *(shown(n, False) for n in range(30, 40))]


def case(question: str = "What is it?", answer: str | None = "it") -> Case:
    return Case(question, Request(messages=(Message("user", question),)), answer, ("it", "them"))


def test_examples_are_drawn_by_the_seed_with_both_kinds() -> None:
    for seed in range(20):
        found = choose_examples(POOL, 20, seed).shown
        assert len(set(found)) == 20
        assert {found[0].true, found[1].true} == {True, False}
        # a quarter of 20 of each kind at least; there are only 10 false ones
        assert 5 <= sum(not s.true for s in found) <= 10
        assert found == choose_examples(POOL[::-1], 20, seed).shown
    assert len({choose_examples(POOL, 20, seed).shown for seed in range(20)}) == 20
    # 39 right and one wrong: the one is among them
    rare = [*(shown(n, True) for n in range(39)), shown(39, False)]
    assert Counter(s.true for s in choose_examples(rare, 4, 0).shown) == {True: 3, False: 1}
    assert len(choose_examples(POOL[29:31], 20, 0).shown) == 2


@pytest.mark.parametrize(
    ("pool", "told"),
    [(POOL[:5], "all 5 are right"), (POOL[35:], "all 5 are wrong"), ([], "there are none")],
)
def test_examples_of_one_kind_are_none(pool: list[ShownExample], told: str) -> None:
    found = choose_examples(pool, 4, 0)
    assert not found.shown
    assert told in (found.problem or "")
    tools = Tools(Letters(), examples=found)
    assert NEED not in provided(tools)
    assert evidence_lacking(NEED, tools) == found.problem


def test_what_is_asked_word_for_word() -> None:
    engine, found = Letters(), choose_examples(POOL, 2, 0)
    one = case()
    collect_evidence([one], [NEED], Tools(engine, examples=found))
    # one trial of the size, then two spellings of each letter
    assert len(engine.forced) == 5
    (text,) = {request.messages[-1].content for request, _ in engine.forced}
    blocks = text.split("\n\n")
    assert len(blocks) == 3
    for block, example in zip(blocks, found.shown, strict=False):
        lines = block.splitlines()
        assert lines[1] == f"Question: {example.question}"
        assert f"Proposed answer: {example.answer}" in lines
        assert lines[-1].endswith("The proposed answer is: A" if example.true else "is: B")
    assert blocks[2].splitlines()[1] == "Question: What is it?"
    assert blocks[2].endswith("The proposed answer is:")
    # equal token sequences count once: .6 and .2, though "A" and " A" were both read
    assert one.evidence["true_false_few"] == pytest.approx((0.6, 0.2))
    assert "true_false" not in one.evidence


def test_the_text_before_the_question_is_the_same_for_all() -> None:
    engine, found = Letters(), choose_examples(POOL, 6, 3)
    cases = [case(f"Who is {n}?") for n in range(4)]
    collect_evidence(cases, [NEED], Tools(engine, examples=found))
    asked = {request.messages[-1].content for request, _ in engine.forced}
    heads = {text[: text.index("Question: Who is")] for text in asked}
    assert len(asked) == 4
    assert len(heads) == 1
    assert len(engine.forced) == 1 + 4 * 4
    collect_evidence([case("Who else?")], [NEED], Tools(engine, examples=found))
    assert len(engine.forced) == 1 + 5 * 4  # the size is not tried again
    assert found.asked == 5
    true = sum(s.true for s in found.shown)
    assert found.notices == [
        f"P(True) with examples: 6 stand before each of 5 answers, {true} of them true; none of "
        "the examples gets this score"
    ]


def test_an_example_is_not_scored_by_itself() -> None:
    found = choose_examples(POOL, 4, 0)
    same = case(f"  {found.shown[0].question.upper()} ")
    empty, other = case(answer=None), case()
    collect_evidence([same, empty, other], [NEED], Tools(Letters(), examples=found))
    assert same.reasons == {NEED: ONE_OF_THEM}
    assert not empty.evidence
    assert "true_false_few" in other.evidence


@pytest.mark.parametrize("fit", [0, 1, 2, 5, 11, 20])
def test_as_many_as_fit_into_the_context(fit: int) -> None:
    found = choose_examples(POOL, 20, 1)
    long, short = case("What is it, that long and winding thing?"), case("What?")
    engine = Letters()
    collect_evidence([long], [NEED], Tools(engine, examples=found))
    asked = engine.forced[-1][0].messages[-1].content
    blocks = asked.split("\n\n")
    room = len("\n\n".join([*blocks[:fit], blocks[-1]]))
    again = PromptExamples(found.shown)
    collect_evidence([short, long], [NEED], Tools(Letters(room), examples=again))
    assert again.fit == fit
    if fit < 2:
        assert long.reasons == short.reasons == {NEED: NONE_FITS}
        assert again.notices == []
    else:
        assert "true_false_few" in short.evidence
        assert (f"of {len(found.shown)}: more do not fit" in again.notices[0]) == (fit < 20)


def test_without_examples_nothing_is_asked_and_it_says_so() -> None:
    engine, one = Letters(), case()
    collect_evidence([one], [NEED, "ptrue"], Tools(engine))
    assert one.evidence == {"true_false": pytest.approx((0.5, 0.5))}
    assert evidence_lacking(NEED, Tools(engine)) == NOT_GIVEN
    assert "--model" in evidence_lacking(NEED, Tools())
    asked = Tools(ScriptedEngine({}), examples=choose_examples(POOL, 4, 0))
    assert "--ask" in evidence_lacking(NEED, asked)


@given(st.text(max_size=60), st.text(max_size=60), st.lists(st.text(max_size=30), max_size=3))
def test_no_text_opens_a_line_of_its_own(question: str, answer: str, ideas: list[str]) -> None:
    lines = ShownExample(question, tuple(ideas), answer, True).text.splitlines()
    plain = ShownExample("q", tuple("i" for _ in ideas[:1]), "a", True).text.splitlines()
    assert lines[0] == plain[0]
    assert lines[1].startswith("Question:")
    assert sum(line.startswith("Question:") for line in lines) == 1
    assert lines[-1] == plain[-1]
    kept = len({" ".join(i.split()) for i in ideas if i.strip()})
    assert len(lines) <= len(plain) + max(0, kept)
    assert sum(line.startswith("Proposed answer:") for line in lines) == 1
