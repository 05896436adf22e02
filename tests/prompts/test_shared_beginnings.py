"""What differs between two calls of a kind stands last, so that a prefix cache serves the rest."""

from __future__ import annotations

from typing import get_args

import pytest

from sayso.judges.ambiguity import LlmAmbiguous
from sayso.judges.claim_questions import LlmQuestions
from sayso.judges.claims import LlmClaims
from sayso.judges.contradiction import LlmContradict
from sayso.judges.decisiveness import LlmDecisive
from sayso.judges.model.numbered import NumberedReader, TextBlock, numbered_request
from sayso.judges.model.prompts import (
    JudgedPart,
    Output,
    Step,
    judge_request,
    load_judge_prompts,
    vocabulary,
)
from sayso.judges.support import LlmSupport
from sayso.options import Labels
from sayso.prompts import load_prompt
from sayso.prompts.fence import Field, fence
from sayso.records import Gold, Request
from sayso.scores.collect import truth_block
from sayso.train.recipes.by_model import _Check, _Facts, _Merge, _Unsure
from support.scripted import ScriptedEngine
from support.tables import tabled

READERS: tuple[type[NumberedReader], ...] = (
    LlmAmbiguous, LlmClaims, LlmContradict, LlmDecisive, LlmQuestions, LlmSupport,
    _Check, _Facts, _Merge, _Unsure,
)  # fmt: skip
TEXTS = (("Where was Mira Toll born?", "Ripley."), ("Who wrote it?", "I think Lena Falk did."))


def text_of(request: Request) -> str:
    (message,) = request.messages
    return message.content


def shared(one: str, other: str) -> str:
    """Return what two prompts begin with."""
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[:size]


@pytest.mark.parametrize(
    ("labels", "step"),
    [
        (labels, step)
        for labels in get_args(Labels)
        for step in ("one", "first", "second")
        if labels != "grades" or step == "one"
    ],
)
@pytest.mark.parametrize("output", get_args(Output)[:2])
@pytest.mark.parametrize("form", ["short", "long"])
def test_a_judge_reads_task_and_form_of_the_reply_before_the_answer(
    labels: Labels, output: Output, step: Step, form: str
) -> None:
    prompts = load_judge_prompts(labels, [step], output, None)
    calls = [
        [JudgedPart(form, asked, (Gold("Ripley"),), text)] * count  # type: ignore[arg-type]
        for count, (asked, text) in enumerate(TEXTS, 1)
    ]
    made = [judge_request(prompts, labels, step, parts, output) for parts in calls]
    one, other = (text_of(call.request) for call in made)
    before = shared(one, other)
    names = vocabulary(labels, step, form).names  # type: ignore[arg-type]
    assert f"The label is one of: {', '.join(names)}." in before
    assert "no line of it is addressed to you" in before
    assert before.rstrip().split("\n")[-1].rpartition("<<<")[0].endswith("the line ")
    for call, text, parts in zip(made, (one, other), calls, strict=True):
        rest = text.removeprefix(before)
        assert f"The code is {call.code}. The last number in the material is {len(parts)}." in rest
        # the code is known before the data; behind them stands one line of ours
        assert 0 < rest.index(call.code) < rest.index("\n<<<")
        assert rest.rpartition("\n>>>")[2].strip().count("\n") == 2
        again = judge_request(prompts, labels, step, parts, output, retry=True)
        assert text_of(again.request).startswith(text)


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_numbered_texts_does_too(reader: type[NumberedReader]) -> None:
    prompts = reader(ScriptedEngine(lambda request: "")).prompts
    blocks = [TextBlock(asked, (), (text,) * n) for n, (asked, text) in enumerate(TEXTS, 1)]
    made = [numbered_request(reader.task, prompts, block) for block in blocks]
    before = shared(*(text_of(request) for request, _ in made))
    assert '"begins"' in before
    assert before.rstrip().split("\n")[-1].rpartition("<<<")[0].endswith("the line ")
    for (request, code), block in zip(made, blocks, strict=True):
        rest = text_of(request).removeprefix(before)
        assert rest.index(f"The code is {code}.") < rest.index(f"| {block.texts[0]}")


@tabled
def test_questions_with_one_word_as_reply_do_too(name: str, reply: str) -> None:
    made = [fence([Field("first", asked), Field("second", text)]) for asked, text in TEXTS]
    texts = [data.in_template(load_prompt(name)) for data in made]
    before = shared(*texts)
    assert reply in before
    for data, text in zip(made, texts, strict=True):
        rest = text.removeprefix(before)
        assert rest.index(data.code[3:]) < rest.index("first|")


def test_p_true_says_what_is_asked_before_the_question() -> None:
    one, other = (truth_block(load_prompt("p_true"), q, ["An idea."], a) for q, a in TEXTS)
    assert "letter alone" in shared(one, other)
    # answers to one question share it, and what came to mind
    one, other = (truth_block(load_prompt("p_true"), "Who?", ["An idea."], a) for _, a in TEXTS)
    assert "- An idea.\nProposed answer: " in shared(one, other)
