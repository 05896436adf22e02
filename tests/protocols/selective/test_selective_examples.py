"""Labeled examples for P(True): who is set apart, what is asked, what is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import sayso
from sayso.protocols import selective
from sayso.protocols.pool import clusters_of
from sayso.protocols.selective.asks import example_pool, measured_questions
from sayso.protocols.settings import replace
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Request,
    golds_of,
    signature_text,
    slice_of,
)
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import write

N = 40
BASE = selective.Settings(
    draws=selective.SelectiveDraws(k=2), known_k=0, resamples=100, words=False
)
ON = replace(BASE, {"p_true.examples": 6})


def number_of(text: str) -> int:
    return int(text.rsplit("number ", 1)[1].split("?")[0])


def reply(request: Request) -> Generation:
    """Every third answer is wrong."""
    n = number_of(request.messages[-1].content)
    return Generation(request, text="Lima" if n % 3 else "Cusco", finish="stop")


class Knowing(ScriptedEngine):
    """Behind examples it says B for Cusco; without any it says A to everything."""

    def __init__(self) -> None:
        super().__init__(reply, name="knowing", logprob=-0.5)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        for index, found in super().force(items, want):
            asked = found.request.messages[-1].content
            option = found.text.strip()
            if option not in ("A", "B") or "Proposed answer:" not in asked:
                yield index, found
                continue
            few = asked.count("Proposed answer:") > 1
            wrong = few and "Proposed answer: Cusco" in asked.rsplit("Question:", 1)[1]
            p = 0.9 if (option == "B") == wrong else 0.1
            yield (
                index,
                Generation(
                    found.request,
                    text=found.text,
                    logprobs=(math.log(p),),
                    token_ids=(ord(option),),
                ),
            )


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [{"question": f"What is the name of number {n}?", "answer": "Lima"} for n in range(N)]
    return f"triviaqa:{write(tmp_path / 'many.jsonl', rows)}"


def one(found: Sequence[Estimate], name: str, method: str) -> Estimate:
    (e,) = [
        e
        for e in found
        if e.name == name and e.where == slice_of(form="short", against="rules", score=method)
    ]
    return e


def test_a_run_with_examples(tmp_path: Path, data: str) -> None:
    engine = Knowing()
    result = sayso.run(
        "selective", model=engine, data=data, out=tmp_path / "r", options=ON, report=False
    )
    folder = RunFolder.open(tmp_path / "r")
    shown = folder.read("generations/shown", Generation)
    answers = folder.read("generations/short", Generation)
    assert len(shown) == 8  # twice as many, but a fifth of 40 at most
    assert len(answers) == N - 8
    assert not {g.question for g in shown} & {g.question for g in answers}
    assert len(folder.read("generations/shown-draws", Generation)) == 2 * 8
    few = one(result.estimates, "auroc", "p_true_few")
    assert few.value == 1.0
    assert few.n == N - 8
    assert "p_true:6-examples" in signature_text(few.signature)
    assert one(result.estimates, "auroc", "p_true").value == 0.5
    notices = folder.read_manifest().notices
    assert any("P(True) with examples: 6 stand before each of 32 answers" in n for n in notices)


def test_off_by_default_and_listed_with_the_reason(tmp_path: Path, data: str) -> None:
    result = sayso.run(
        "selective", model=Knowing(), data=data, out=tmp_path / "r", options=BASE, report=False
    )
    few = one(result.estimates, "auroc", "p_true_few")
    assert few.value is None
    assert "needs labeled examples: --set p_true.examples=20" in (few.problem or "")
    assert "p_true:" not in signature_text(few.signature)
    folder = RunFolder.open(tmp_path / "r")
    assert len(folder.read("generations/short", Generation)) == N
    assert not folder.has("generations/shown")


def test_too_few_questions_or_one_kind_is_a_reason(tmp_path: Path) -> None:
    for count, told in ((4, "the run has too few"), (10, "all 2 are")):
        rows = [{"question": f"The name of number {3 * n + 1}?", "answer": "Lima"}
                for n in range(count)]  # fmt: skip
        place = f"triviaqa:{write(tmp_path / f'{count}.jsonl', rows)}"
        out = tmp_path / f"r{count}"
        result = sayso.run(
            "selective", model=Knowing(), data=place, out=out, options=ON, report=False
        )
        assert told in (one(result.estimates, "auroc", "p_true_few").problem or "")


def question(n: int, entity: str = "", parts: tuple[str, ...] = ()) -> Question:
    return Question(f"q{n}", "s", "?", golds_of(["x"]), entity=entity, parts=parts)


def test_whole_entities_are_set_apart_and_no_more_than_a_fifth() -> None:
    short = [question(n, f"e{n // 3}") for n in range(60)]
    long = [question(100 + e, f"e{e}", tuple(f"q{3 * e + i}" for i in range(3))) for e in range(20)]
    every = [*short, *long]
    clusters = clusters_of(every)
    for count in (1, 3, 4, 1000):
        chosen = replace(BASE, {"p_true.examples": min(count, 1000)})
        apart = example_pool(every, chosen)
        entities = {clusters[q.id] for q in apart}
        assert len(apart) == 3 * len(entities)
        assert len(entities) == min(4, -(-2 * count // 3))
        rest = measured_questions(every, chosen)
        assert not {clusters[q.id] for q in rest} & entities
        assert len(rest) == 4 * (20 - len(entities))
        assert {q.id for q in apart} >= {
            q.id for q in example_pool(every, replace(BASE, {"p_true.examples": 1}))
        }
    assert example_pool(every, BASE) == []
    assert measured_questions(every, BASE) == every
    # a paragraph without an entity goes with its parts
    loose = [*(question(n) for n in range(10)), question(50, "", tuple(f"q{n}" for n in range(10)))]
    assert question(50).id not in {q.id for q in measured_questions(loose, ON)}


def test_a_number_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match=r"p_true\.examples"):
        replace(BASE, {"p_true.examples": -1}).check()
