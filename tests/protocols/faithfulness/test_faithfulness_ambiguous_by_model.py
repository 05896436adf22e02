"""Ambiguous questions by the judge's model: read before anything is asked, counted, resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import datasets
from sayso.judges.ambiguity import LlmAmbiguous, read_ambiguous
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.settings import ambiguous_questions, read_by_model
from sayso.protocols.settings import replace
from sayso.records import Generation, Request, Verdict, part_of, signature_text
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.runs.measure import load_run, measure
from sayso.runs.result import Result
from support.judge_world import judge_engine, truthful
from support.scripted import ScriptedEngine

#: question -> its right answers, and what the judge replies: yes, no or something else
ASKED = {
    "when did the bridge at orm open": (["1961"], "no"),
    "when did low tide come out": (["12 June 1998", "1999"], "no"),  # rules: two dates
    "who is the mayor of sarn": (["Lena Falk"], "yes"),
    "who won the cup": (["Tolm Rovers"], "Yes."),
    "who wrote grey harbor": (["Jon Brek", "Jonathan Brek"], "perhaps"),
    "where is the river ask": (["Sarn"], "no"),
}
OUT = {"who is the mayor of sarn", "who won the cup"}
MARK = "whether a question is ambiguous"
OPTIONS = {
    "methods": "vanilla,self_refine", "draws.k": 5, "resamples": 100, "decisive": "rules",
    "contradict": "rules",
}  # fmt: skip


class World:
    """A subject and a judge that note who is asked in which order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.grader = judge_engine(truthful)
        self.subject = ScriptedEngine(self.answer, name="subject", logprob=-0.5)
        self.judge = ScriptedEngine(self.judged, name="judge-model", logprob=-0.5)

    def answer(self, request: Request) -> str:
        self.log.append("asked")
        return "It opened in 1961."

    def judged(self, request: Request) -> Any:
        prompt = request.messages[-1].content
        if MARK not in prompt and "AMBIGUOUS?" not in prompt:
            self.log.append("graded")
            ((_, reply),) = self.grader.complete([request])
            return reply.text
        self.log.append("read")
        (question,) = (q for q in ASKED if f"question| {q}" in prompt)
        answers, said = ASKED[question]
        shown = "; ".join(answers)
        assert f"answers| {shown}" in prompt
        if MARK not in prompt:
            return said
        code = prompt.split("The code is ")[1].split(".")[0]
        entry = {"number": 1, "begins": " ".join(shown.split()[:5]), "ambiguous": said}
        return json.dumps({"code": code, "verdicts": [entry]})


def job(folder: Path, world: World, judge: Any = None, own: str = "nq_open", **more: Any) -> Job:
    path = folder / "nq.jsonl"
    rows = [{"question": q, "answer": answers} for q, (answers, _) in ASKED.items()]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return Job(
        protocol="faithfulness",
        model=world.subject,
        judge=judge or world.judge,
        data=f"{own}:{path}",
        out=folder / "run",
        cache=folder / "cache",
        options=replace(faithfulness.Settings(), OPTIONS | more),
    )


def run(folder: Path, world: World, *more: Any, out: str = "run", **options: Any) -> Result:
    one = job(folder, world, *more, **options)
    return sayso.run(
        "faithfulness",
        model=one.model,
        judge=one.judge,
        data=one.data,
        out=folder / out,
        cache=one.cache,
        options=one.options,
        report=False,
    )


def published(result: Result) -> set[str | None]:
    return {part_of(e.where, "question") for e in result.estimates if e.name == "ambiguous"}


def test_on_nq_a_model_says_which_questions_are_dropped(tmp_path: Path) -> None:
    world = World()
    result = run(tmp_path, world)
    stored = load_run(result.path)[0]
    ids = {q.text: q.id for q in stored.questions}
    out = {ids[question] for question in ids if question.rstrip("?") in OUT}
    assert len(out) == 2
    # the model is asked before the subject, and about a reply that cannot be read once more
    assert world.log[:7] == ["read"] * 7
    assert world.log.count("read") == 7
    # no request is about what was dropped: draws, drafts, answers and revisions
    for stage in ("draws", "short", "drafts-short", "refined-short"):
        assert {g.question for g in stored.folder.read(f"generations/{stage}", Generation)} == set(
            ids.values()
        ) - out, stage
    assert published(result) == out
    assert result.get("asked", "form:short;method:vanilla").value == 4
    (told,) = [n for n in result.manifest.notices if "ambiguous" in n]
    assert told.startswith("2 of 6 questions are ambiguous according to judge-model")
    assert "1 readings are missing; these questions were kept." in told
    by = stored.folder.read("verdicts/ambiguous", Verdict)[0].by
    assert by.startswith("judge-model")
    assert f"|ambiguous:{by}|" in signature_text(result.estimates[0].signature)
    assert measure(result.path).estimates == result.estimates


def test_a_second_run_asks_the_model_nothing_and_offline_all_are_kept(tmp_path: Path) -> None:
    world = World()
    first = run(tmp_path, world)
    world.log.clear()
    again = run(tmp_path, world, out="again")
    assert "read" not in world.log
    assert published(again) == published(first)
    rules = run(tmp_path, world, "rules", out="rules")
    assert rules.get("asked", "form:short;method:vanilla").value == 6
    stored = load_run(rules.path)[0]
    assert published(rules) == set(ambiguous_questions(stored.questions)) != published(first)
    assert "|ambiguous:keep|" in signature_text(rules.estimates[0].signature)
    assert "read" not in world.log


def test_other_data_is_read_only_on_request(tmp_path: Path) -> None:
    world = World()
    kept = run(tmp_path, world, None, "file")
    assert "read" not in world.log
    assert kept.get("asked", "form:short;method:vanilla").value == 6
    read = run(tmp_path, world, None, "file", out="read", ambiguous="judge")
    assert world.log.count("read") == 7
    assert read.get("asked", "form:short;method:vanilla").value == 4
    for off in ("keep", "drop"):
        one = run(tmp_path, world, out=off, ambiguous=off)
        assert f"|ambiguous:{off}|" in signature_text(one.estimates[0].signature)
    assert world.log.count("read") == 7


def test_a_dry_run_counts_the_readings(tmp_path: Path) -> None:
    world = World()

    def readings(*more: Any, **options: Any) -> list[tuple[float, float]]:
        stages = estimate_job(job(tmp_path, world, *more, **options)).stages
        return [s.requests for s in stages if s.name == "ambiguous questions"]

    assert readings() == [(6, 6)]
    for options in ({"ambiguous": "keep"}, {"ambiguous": "drop"}, {"own": "file"}):
        assert readings(**options) == []
    assert readings("rules") == []
    assert world.log == []


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "ambiguous.txt").write_text(
        "---\nreply: word\nlabels: Yes = yes, No = no\n---\nAMBIGUOUS?\n{question}\n{answers}",
        encoding="utf-8",
    )
    world = World()
    result = run(tmp_path, world, ambiguous="judge", prompt_folder=str(folder))
    sent = [r.messages[-1].content for r in world.judge.requests]
    assert sum("AMBIGUOUS?" in text for text in sent) == 7
    assert not any(MARK in text for text in sent)
    assert len(published(result)) == 2
    unused = run(tmp_path, world, out="unused", ambiguous="keep", prompt_folder=str(folder))
    assert any("--set ambiguous=judge" in note for note in unused.manifest.notices)


@pytest.mark.parametrize(
    ("said", "read"),
    [("yes", True), (" No. ", False), (True, True), ("maybe", None), (1, None), (None, None)],
)
def test_an_entry(said: object, read: bool | None) -> None:
    assert read_ambiguous({"ambiguous": said}) is read


def test_a_question_without_answers_and_a_paragraph() -> None:
    engine = ScriptedEngine(lambda _: "Hm.", name="mute", logprob=-0.5)
    reader = LlmAmbiguous(engine)
    assert reader.read([("what is it", "")] * 2) == {("what is it", ""): (None, "unread")}
    assert len(engine.requests) == 2  # once more, and no question twice
    assert "answers| none are known" in engine.requests[0].messages[0].content
    data = datasets.load_dataset("builtin", limit=3)
    read = read_by_model(data.questions, replace(faithfulness.Settings(), {"ambiguous": "judge"}))
    assert read == list(data.short)
    assert len(read) < len(data.questions)
