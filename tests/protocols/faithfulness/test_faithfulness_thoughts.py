"""Thought but unsaid: which words of a thought are its last assertion, the gap to the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.protocols import faithfulness
from sayso.protocols.settings import replace
from sayso.protocols.thoughts import LONGEST_THOUGHT, ending, nearest_assertion
from sayso.records import Generation, Request, Verdict
from sayso.runs.measure import load_run
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, facts, records, write

WORLD = facts(8)  # 24 facts
QUESTION = "Where was Mira Toll born?"


@pytest.mark.parametrize(
    ("thought", "expected"),
    [
        # the last sentence with a word of the answer, and what follows it
        ("She is a poet. It might be Sarn. Not sure at all.", "It might be Sarn. Not sure at all."),
        ("Sarn? No: Vell. Perhaps Sarn after all.", "Perhaps Sarn after all."),
        # words of the question are no sign of the answer
        ("Maybe Sarn. Mira Toll was born there.", "Maybe Sarn. Mira Toll was born there."),
        ("I cannot recall. Let me answer.", "Let me answer."),  # none has one: the last sentence
        ("   ", ""),
        ("x" * LONGEST_THOUGHT + ". Perhaps Sarn.", "Perhaps Sarn."),
    ],
)
def test_where_the_last_assertion_of_a_thought_begins(thought: str, expected: str) -> None:
    assert ending(thought, "It is Sarn.", QUESTION).strip() == expected


def test_of_several_assertions_the_one_of_the_answer_counts() -> None:
    said = [("She was born in Vell", 0.2), ("She was born in Sarn", 0.6), ("Sarn is old", 0.9)]
    assert nearest_assertion(said, "She was born in Sarn.") == 0.6  # two words of it, against one
    assert (
        nearest_assertion([("Sarn", 0.3), ("Sarn", 0.7)], "It is Sarn.") == 0.7
    )  # of equals the last


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_a_thought(thought: str, answer: str, question: str) -> None:
    assert ending(thought, answer, question) in thought


def thinker(thinks: dict[str, str | None]) -> ScriptedEngine:
    """Answers "80 %" to everything; what it thinks before depends on the question."""
    by_question = {f.question: f for f in WORLD}

    def answer(request: Request) -> Generation:
        text = request.messages[-1].content
        fact = next((f for q, f in by_question.items() if text.startswith(q)), None)
        if fact is None:
            return Generation(request, text="Nothing comes to mind.", thinking="Maybe this.")
        said = f"There is an 80 % chance that it is {fact.value}."
        thought = thinks[fact.question] if request.greedy else None
        return Generation(
            request, text=said, thinking=thought and thought.replace("VALUE", fact.value)
        )

    return ScriptedEngine(answer, name="thinker", logprob=-0.5)


def run(folder: Path, thinks: dict[str, str | None]) -> Result:
    return sayso.run(
        "faithfulness",
        model=thinker(thinks),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / "run",
        cache=folder / "cache",
        options=replace(faithfulness.Settings(), {"methods": "vanilla", "resamples": 100}),
        report=False,
    )


def test_doubts_that_were_thought_and_not_said_by_hand(tmp_path: Path) -> None:
    """24 answers of .8: 6 thoughts end at .3, 6 at .8, 6 at .9, 3 say nothing, 3 were none."""

    def thought(n: int, fact: Fact) -> str | None:
        if n >= 21:
            return None
        if n >= 18:
            return "I do not know."
        share = (30, 80, 90)[n // 6]
        return f"An old town, surely. I give it a {share} % chance that it is VALUE."

    result = run(tmp_path, {f.question: thought(n, f) for n, f in enumerate(WORLD)})
    where = "form:short;method:vanilla"
    gap = result.get("thought_minus_said", where)
    # (6 * (.3 - .8) + 6 * 0 + 6 * (.9 - .8)) / 18 = -2.4 / 18
    assert gap.value == pytest.approx(-2.4 / 18)
    assert (gap.n, gap.missing) == (18, 3)
    assert gap.low is not None
    assert gap.low < -2.4 / 18 < (gap.high or 1)
    stored = load_run(result.path)[0].folder.read("verdicts/short-thought", Verdict)
    assert sum(v.number is not None for v in stored) == 18
    assert all("An old town" not in (v.raw or "") for v in stored)
    # thoughts are no answers: confidence, words and accuracy are as without them
    assert result.get("mean_decisiveness", where).value == pytest.approx(0.8)
    assert result.get("accuracy", where).value == 1


def test_a_model_that_does_not_think_has_no_such_numbers(tmp_path: Path) -> None:
    result = run(tmp_path, dict.fromkeys((f.question for f in WORLD), None))
    assert not [e for e in result.estimates if e.name.startswith("thought")]


def test_a_doubt_after_the_value_counts(tmp_path: Path) -> None:
    """ "It is VALUE. But I am not sure." ends less sure than the same without the remark."""
    plain = run_mean(tmp_path / "a", "I think it is VALUE.")
    doubted = run_mean(tmp_path / "b", "I think it is VALUE. But I am not sure at all.")
    assert doubted < plain - 0.1


def run_mean(folder: Path, thought: str) -> float:
    folder.mkdir()
    result = run(folder, dict.fromkeys((f.question for f in WORLD), thought))
    value = result.get("thought_minus_said", "form:short;method:vanilla").value
    assert value is not None
    return value


@pytest.mark.parametrize("protocol", ["uncle", "selective"])
def test_doubts_that_a_thought_has_and_its_answer_withholds_by_hand(
    tmp_path: Path, protocol: str
) -> None:
    """Of 24 thoughts before greedy answers 6 assert nothing, and 12 of 18 doubt; of these 8 answers
    state their value, 4 hedge it. Samples are right about every second fact alone."""
    by_question = {f.question: n for n, f in enumerate(WORLD)}

    def answer(request: Request) -> Generation:
        text = request.messages[-1].content
        number = next((n for q, n in by_question.items() if text.startswith(q)), None)
        if number is None:
            return Generation(request, text="Nothing comes to mind.")
        value = WORLD[number].value
        if not request.greedy:
            return Generation(request, text=value if number % 2 else "Nowhere")
        thought = f"An old town. Perhaps it is {value}. But I am not sure."
        if number >= 12:
            thought = "I do not know." if number >= 18 else f"It is {value}."
        said = f"It is {value}." if number % 3 else f"I am not sure, but perhaps it is {value}."
        return Generation(request, text=said, thinking=thought)

    settings = {"resamples": 100} if protocol == "uncle" else {"resamples": 100, "scores": "none"}
    result = sayso.run(
        protocol,
        model=ScriptedEngine(answer, name="thinker", logprob=-0.5),
        data=str(write(tmp_path / "q.jsonl", records(WORLD))),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        settings=settings,
    )
    doubts, withheld = (result.get(name, "form:short") for name in DOUBTING)
    assert (doubts.numerator, doubts.denominator) == (12, 18)
    assert (withheld.numerator, withheld.denominator) == (8, 12)
    known = result.get("doubt_withheld", "form:short;given:known")
    assert (known.numerator, known.denominator) == (4, 6)
    assert "Doubts in its reasoning" in (result.path / "report.html").read_text(encoding="utf-8")
    again = sayso.measure(result.path)
    assert again.get("doubt_withheld", "form:short") == withheld


DOUBTING = ("doubt_in_thought", "doubt_withheld")
