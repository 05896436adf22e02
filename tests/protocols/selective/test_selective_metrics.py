"""Answer metrics that take a model, questions about answers, and panels, in a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sayso
from sayso import answers
from sayso.protocols import PROTOCOLS, selective, settings
from sayso.records import Estimate, Generation, InputError, Request, Score, slice_text
from sayso.report.sheet import main_numbers
from sayso.runs import dry_run, tools
from sayso.runs.job import Job
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import write

#: question -> gold, answer
SAID = {
    "What is the capital of France?": ("Paris", "Paris"),
    "What is the capital of Italy?": ("Rome", "Milan"),
    "What is the capital of Norway?": ("Oslo", "It is Oslo"),
    "What is the capital of Peru?": ("Lima", "Cusco"),
}
FEW = {"draws.k": 2, "known_k": 2, "resamples": 100, "words": False}


class Letters:
    """A vector for each letter: texts of the same letters have BERTScore 1."""

    name, layer = "roberta-large", 17

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], Any]]:
        self.calls += 1
        ids = [tuple(ord(c) % 64 for c in text) for text in texts]
        return [(one, np.eye(64, dtype=np.float32)[list(one)]) for one in ids]


def subject() -> ScriptedEngine:
    def reply(request: Request) -> Generation:
        text = request.messages[-1].content
        code = re.findall(r"nothing else: (\S+) and then (\w+)", text)
        if code:  # how sure, and whether it is true
            sure = "80" if "percent" in text or code[0][1] != "true" else "true"
            return Generation(request, text=f"{code[0][0]} {sure}")
        question = next(q for q in SAID if q in text)
        return Generation(request, text=SAID[question][1])

    return ScriptedEngine(reply, name="subject")


def grader() -> ScriptedEngine:
    def reply(request: Request) -> Generation:
        text = request.messages[-1].content
        (code,) = re.findall(r"nothing else: (\S+) and", text)
        if "gold|" in text:
            golds = re.findall(r"gold\| (.*)", text)
            (answer,) = re.findall(r"answer\| (.*)", text)
            return Generation(request, text=f"{code} {int(any(g in answer for g in golds))}")
        return Generation(request, text=f"{code} {'false' if 'Milan' in text else 'true'}")

    return ScriptedEngine(reply, name="hf:grader")


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [{"question": q, "answer": gold} for q, (gold, _) in SAID.items()]
    return f"triviaqa:{write(tmp_path / 'four.jsonl', rows)}"


def value(found: Sequence[Estimate], name: str, where: str) -> float | None:
    (estimate,) = [e for e in found if e.name == name and slice_text(e.where) == where]
    return estimate.value


def test_further_metrics_are_graded_stored_and_measured(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters, other = Letters(), grader()
    monkeypatch.setattr(answers, "open_vectors", lambda model, layer: letters)
    monkeypatch.setattr(tools, "open_priced", lambda *_, **__: (other, None))

    def run() -> Any:
        return sayso.run(
            "selective", model=subject(), data=data, out=tmp_path / "r", cache=tmp_path / "c",
            settings={**FEW, "answer_metrics": "bert_score, llm_blind:hf:grader"},
        )  # fmt: skip

    found = run().estimates
    blind, bert = "form:short;against:llm_blind:hf:grader", "form:short;against:bert_score"
    assert value(found, "error_rate", blind) == 2 / 4  # Milan, Cusco
    assert value(found, "error_rate", bert) is not None
    stored = RunFolder.open(tmp_path / "r").read("scores/short-metrics", Score)
    assert {s.method for s in stored} == {"bert_score", "llm_blind:hf:grader"}
    assert len(stored) == 8
    assert {s.value for s in stored if s.method.startswith("llm")} == {0.0, 1.0}
    prompts = [r.messages[-1].content for r in other.requests]
    assert len(prompts) == 4
    assert not any("capital" in text for text in prompts)
    signature = dict(found[0].signature)
    assert "bert_score" in signature["asked"]
    assert signature["cuts"].endswith("bert>0.5")
    calls = letters.calls
    again = run().estimates
    assert [(e.name, e.where, e.value) for e in again] == [
        (e.name, e.where, e.value) for e in found
    ]
    assert len(other.requests) == 4  # nothing is asked twice
    assert letters.calls == calls + 1  # its check; the values are stored
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "BERTScore" in page
    assert "blind grader" in page


def test_the_dry_run_prices_what_is_asked_about_answers(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = grader()
    monkeypatch.setattr(tools, "open_priced", lambda *_, **__: (other, None))
    job = Job(
        protocol="selective", model=subject(), data=data, cache=tmp_path / "c",
        options=settings.replace(
            selective.Settings(),
            {**FEW, "answer_metrics": "llm_blind:hf:grader", "elicit": True, "panel": "hf:grader"},
        ),
    )  # fmt: skip
    plan = dry_run.estimate_job(job)
    stages = {(s.who, s.name): s.requests.high for s in plan.stages}
    asked = sum(high for (who, _), high in stages.items() if who == "hf:grader")
    assert asked == 4 + 4  # a blind grade and a judge of the panel for each answer
    # confidence in two ways, five times whether it is true, and nothing of each draw
    assert stages["model", "verdicts and scores"] == 4 * 7
    text = dry_run.plan_text(plan)
    assert "hf:grader: verdicts and scores" in text
    assert plan.dollars is None  # nobody knows the price of the scripted grader
    assert not other.requests


def test_the_model_and_a_panel_are_asked_about_short_answers(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = grader()
    monkeypatch.setattr(tools, "open_priced", lambda *_, **__: (other, None))
    sayso.run(
        "selective", model=subject(), data=data, out=tmp_path / "r", cache=tmp_path / "c",
        settings={**FEW, "elicit": True, "panel": "hf:grader"}, report=False,
    )  # fmt: skip
    stored = RunFolder.open(tmp_path / "r").read("scores/short", Score)
    by_method: dict[str, list[float | None]] = {}
    for score in stored:
        by_method.setdefault(score.method, []).append(score.value)
    assert by_method["verbalized_two_step"] == pytest.approx([0.2] * 4)
    assert by_method["p_true_sampled"] == [0.0] * 4
    assert sorted(map(float, by_method["judge_panel"])) == [0.0, 0.0, 0.0, 1.0]  # Milan is false


def test_two_models_of_one_name_share_no_replies(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(name: str, *_: object, **__: object) -> tuple[ScriptedEngine, None]:
        engine = grader()
        engine.identity = "api:m"
        engine.address = f"http://{name[3:]}/v1"  # type: ignore[attr-defined]
        return engine, None

    monkeypatch.setattr(tools, "open_priced", opened)
    with pytest.raises(InputError, match="hf:one and hf:two have one name"):
        sayso.run(
            "selective", model=subject(), data=data, out=tmp_path / "r", cache=tmp_path / "c",
            settings={**FEW, "panel": "hf:one,hf:two"}, report=False,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["rouge_l", "bert_score:", "llm_blind", "llm:hf:m"])
def test_other_names_are_refused(name: str) -> None:
    chosen = selective.Settings(answer_metrics=name)
    with pytest.raises(InputError, match="answer metric"):
        chosen.check()


def test_a_metric_that_cannot_be_opened_is_told_before_anything_is_asked(
    tmp_path: Path, data: str
) -> None:
    model = subject()
    with pytest.raises(InputError):
        sayso.run(
            "selective", model=model, data=data, out=tmp_path / "r", cache=tmp_path / "c",
            settings={**FEW, "answer_metrics": f"bert_score:{tmp_path / 'nowhere'}"}, report=False,
        )  # fmt: skip
    assert not model.requests


def test_a_grader_whose_replies_cannot_be_read_is_told(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = ScriptedEngine(lambda r: Generation(r, text="hm"), name="hf:silent")
    monkeypatch.setattr(tools, "open_priced", lambda *_, **__: (silent, None))
    found = sayso.run(
        "selective", model=subject(), data=data, out=tmp_path / "r", cache=tmp_path / "c",
        settings={**FEW, "answer_metrics": "llm_blind:hf:silent"}, report=False,
    )  # fmt: skip
    (rate,) = (
        e
        for e in found.estimates
        if e.name == "error_rate" and dict(e.where).get("against") == "llm_blind:hf:silent"
    )
    assert (rate.value, rate.missing) == (None, 4)
    told = [n for n in found.manifest.notices if "llm_blind" in n]
    assert told == [
        "short: llm_blind:hf:silent gave no verdict on 4 of 4 answers (no readable label, twice)"
    ]


def test_questions_about_answers_say_how_the_model_is_to_think(tmp_path: Path, data: str) -> None:
    model = subject()
    sayso.run(
        "selective", model=model, data=data, out=tmp_path / "r", cache=tmp_path / "c",
        settings={**FEW, "elicit": True}, thinking="off", report=False,
    )  # fmt: skip
    ways = {
        ("nothing else" in r.messages[-1].content): r.chat_template_kwargs for r in model.requests
    }
    assert ways[True] == ways[False] != ()


def test_the_words_alone_are_read_against_and_never_the_best_score(tmp_path: Path) -> None:
    towns = [("hard" if n % 3 == 0 else "plain", n) for n in range(45)]
    rows = [{"question": f"Name the {kind} town {n}?", "answer": "Bern"} for kind, n in towns]

    def reply(request: Request) -> Generation:
        text = request.messages[-1].content
        said = "Basel" if "hard" in text else "Bern"
        rate = -0.1 - int(re.findall(r"town (\d+)", text)[0]) * 37 % 45 / 45
        return Generation(
            request, text=said, logprob_kind="model", token_ids=(1,), offsets=(0,),
            logprobs=(rate,), entropies=(-rate,), finish="stop",
        )  # fmt: skip

    data = f"triviaqa:{write(tmp_path / 'towns.jsonl', rows)}"
    result = sayso.run(
        "selective", model=ScriptedEngine(reply), data=data, out=tmp_path / "r",
        cache=tmp_path / "c", settings=FEW,
    )  # fmt: skip
    where = "form:short;against:rules"
    assert value(result.estimates, "auroc", f"{where};score:text_only") == pytest.approx(1.0)
    best = value(result.estimates, "auroc_best", where)
    assert best is not None
    assert best < 0.8
    sheet = PROTOCOLS["selective"].report.sheet(result.estimates)
    assert "words alone" not in sheet.opening.sentence
    main = main_numbers(sheet, result.estimates)
    assert not any(dict(e.where).get("score") == "text_only" for e in main)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "the words alone" in page


def test_fewer_than_twenty_answers_have_no_text_only_row_and_say_why(
    tmp_path: Path, data: str
) -> None:
    found = sayso.run(
        "selective", model=subject(), data=data, out=tmp_path / "r", cache=tmp_path / "c",
        settings=FEW, report=False,
    ).estimates  # fmt: skip
    (row,) = (e for e in found if dict(e.where).get("score") == "text_only")
    assert row.value is None
    assert "needs 20 judged ones" in (row.problem or "")


def test_texts_of_your_own_are_kept_and_signed(tmp_path: Path) -> None:
    plain = selective.Settings(answer_metrics="llm_blind:hf:m", elicit=True)
    (tmp_path / "blind.txt").write_text("{marker} {texts} nothing else: {code} and", "utf-8")
    own = settings.replace(plain, {"prompt_folder": str(tmp_path)})
    ours, theirs = (selective.prompts.prompts(chosen) for chosen in (plain, own))
    assert {"blind", "confidence", "is_true"} <= ours.keys()
    assert theirs["blind"].startswith("{marker} {texts}")
    assert ours["signature"] != theirs["signature"]
    bare = selective.prompts.prompts(selective.Settings())
    assert "blind" not in bare
