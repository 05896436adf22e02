"""self_known with a model as reader of claims, support and questions, and what it loses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.protocols import self_known
from sayso.records import ClaimQuestion, Passage, Request, Verdict, signature_text
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.telling_world import World

TEXTS = {"Mira Toll": "ttfff", "Orm Bask": "tfttff", "Ada Quill": "ttttt"}


class Reader:
    """A judge's model that reads as it should, but for the claims about ``lost``."""

    def __init__(self, world: World, lost: str = "nobody") -> None:
        self.world, self.lost = world, lost
        self.tasks: list[str] = []

    def reply(self, request: Request) -> str:
        prompt = request.messages[-1].content
        code = re.search(r"The code is (k\w+)", prompt)
        assert code is not None
        field = "sentence" if re.search(r"^1 sentence\|", prompt, re.M) else "claim"
        parts = re.findall(rf"^(\d+) {field}\| (.*)$", prompt, re.M)
        task = (
            "claims"
            if field == "sentence"
            else "support"
            if re.search(r"^passage p1\|", prompt, re.M)
            else "questions"
        )
        self.tasks.append(task)
        entries = []
        for number, text in parts:
            if self.lost in text and task == "support":
                continue
            entry: dict[str, Any] = {"number": int(number), "begins": " ".join(text.split()[:5])}
            if task == "claims":
                entry["claims"] = [{"text": text, "quote": text}]
            elif task == "support":
                true = self.world.truth[text.rstrip(".")] == "t"
                entry |= {"verdict": "supported" if true else "not supported"}
                entry |= {"passage": "p1" if true else ""}
            else:
                name, prize = text.rstrip(".").split(" won the ")
                entry |= {"question": f"Which prize did {name} win?", "answer": prize}
            entries.append(entry)
        return json.dumps({"code": code[1], "verdicts": entries})


def run(
    folder: Path, world: World, reader: Reader, kill_after: int | None = None, **fields: Any
) -> tuple[Result, ScriptedEngine, ScriptedEngine]:
    def answer(request: Request) -> str | None:
        prompt = request.messages[-1].content
        asked = re.search(
            r"^Question: Which prize did (.*) win\?\nProposed answer: (.*)$", prompt, re.M
        )
        if asked is None:
            return world.reply(request)
        options = dict(re.findall(r"^\(([ABC])\) (.+)$", prompt, re.M))
        true = world.truth[f"{asked[1]} won the {asked[2]}"] == "t"
        return next(x for x, option in options.items() if option == ("True" if true else "False"))

    model = ScriptedEngine(answer, name="subject")
    judge = ScriptedEngine(reader.reply, name="judge", kill_after=kill_after)
    options = self_known.Settings(
        **{"resamples": 100, "knowledge": world.knowledge(folder), **fields}
    )
    result = sayso.run(
        "self_known",
        model=model,
        judge=judge,
        data=world.topics(folder),
        out=folder / "run",
        cache=folder / "cache",
        options=options,
        report=False,
    )
    return result, model, judge


def test_a_model_reads_everything(tmp_path: Path) -> None:
    world = World(TEXTS)
    reader = Reader(world)
    result, _, judge = run(tmp_path, world, reader)
    where = "method:plain"
    assert result.get("factuality_micro", where).value == pytest.approx(10 / 16)
    for mode in ("direct", "qa", "qa_none"):
        assert result.get("SK", f"{where};mode:{mode}").value == 1.0
        assert result.get("SU", f"{where};mode:{mode}").value == 1.0
    # a call for each topic and task: three texts, three sets of claims, three of questions
    assert sorted(reader.tasks) == ["claims"] * 3 + ["questions"] * 3 + ["support"] * 3
    assert result.manifest.tokens["judge_requests"] == len(judge.requests) == 9
    assert "support:judge#p" in signature_text(result.get("factscore", where).signature)
    assert "claims:judge#p" in signature_text(result.get("factscore", where).signature)
    folder = RunFolder.open(tmp_path / "run")
    passages = {p.id for p in folder.read("passages/long", Passage)}
    for v in folder.read("verdicts/long-support", Verdict):
        assert v.evidence
        assert set(v.evidence) <= passages
    made = folder.read("asked/long", ClaimQuestion)
    assert all(q.question.startswith("Which prize did") for q in made)


def test_what_it_does_not_say_is_missing_and_told(tmp_path: Path) -> None:
    world = World(TEXTS)
    result, _, _ = run(tmp_path, world, Reader(world, lost="Orm Bask"), modes="none")
    where = "method:plain"
    lost = result.get("claims_without_label", f"{where};problem:unread")
    assert (lost.numerator, lost.denominator) == (6.0, 16.0)
    score = result.get("factscore", where)
    # Mira 2/5, Ada 5/5; Orm's six could all be false or all be true
    assert score.value == pytest.approx(0.7)
    assert score.missing == 6
    assert score.bound_low == pytest.approx(1.4 / 3)
    assert score.bound_high == pytest.approx(2.4 / 3)
    assert any("6 of 16 readings are missing (unread)" in n for n in result.manifest.notices)


def test_stopped_at_the_judge_nothing_is_asked_twice(tmp_path: Path) -> None:
    world = World(TEXTS)
    asked: list[Any] = []
    finished = None
    for _ in range(12):
        reader = Reader(world)
        before = len(world.asked)
        try:
            finished, _, _ = run(tmp_path, world, reader, kill_after=2, modes="qa_none")
        except KeyboardInterrupt:
            assert len(reader.tasks) == 2
        asked += reader.tasks
        assert len(world.asked) - before <= 3
        if finished:
            break
    assert finished is not None
    assert sorted(asked) == ["claims"] * 3 + ["questions"] * 3 + ["support"] * 3
    assert len(world.asked) == len(set(world.asked))


def test_readers_are_chosen_one_by_one(tmp_path: Path) -> None:
    world = World(TEXTS)
    reader = Reader(world)
    result, _, _ = run(
        tmp_path, world, reader, claims="rules", questions="rules", support="judge", modes="qa"
    )
    assert set(reader.tasks) == {"support"}
    signature = signature_text(result.get("factscore", "method:plain").signature)
    assert "claims:claims-rules@4" in signature
    assert "support:judge#p" in signature
