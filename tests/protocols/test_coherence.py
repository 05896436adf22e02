"""An incoherent model is told before any number; one that answers is not."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.judges.contradiction import read_short_answer
from sayso.protocols.coherence import (
    BESIDE,
    LEAD,
    LOOP,
    MARKS,
    REPEATING,
    UNSEEN,
    repeated_ngrams,
)
from sayso.records import Generation, Question, Request
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

WORLD = facts(8)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))
ROUND = "The river is known for its water. " * 20
TALK = "Hello! I am ready, and the snakes follow the plan of the night."


def run(folder: Path, mind: Any, protocol: str = "uncle", report: bool = False) -> Any:
    return sayso.run(
        protocol,
        model=ScriptedEngine(mind, name="mind", logprob=-0.5),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / "run",
        cache=folder / "cache",
        settings={"resamples": 200},
        report=report,
    )


def told(result: Any) -> list[str]:
    return [text for text in result.manifest.cautions if text.startswith(LEAD)]


def babble(request: Request) -> Generation:
    """Loops in paragraphs, cut off; every fifth short answer is an answer."""
    long = request.max_tokens > 256
    asked = request.messages[-1].content
    if not long and chance(asked, request.sample) < 0.2:
        return MIND(request)
    text = ROUND if long else TALK
    return Generation(request, text=text, finish="length" if long else "stop")


def test_repetition_by_hand() -> None:
    # a b c d e f: three 4-grams, all different
    assert repeated_ngrams("a b c d e f", 4) == 0
    # a b a b a b a b: abab baba abab baba abab: two of five are different
    assert repeated_ngrams("A b, a b. A b a b!", 4) == pytest.approx(1 - 2 / 5)
    assert repeated_ngrams("word " * 10, 4) == pytest.approx(1 - 1 / 7)
    assert repeated_ngrams("a b c d", 4) == 0
    for text in ("", "a b c", "!?", "…"):
        assert repeated_ngrams(text, 4) is None
    # 140 words of period 7: 121 times twenty words in a row, of which seven differ
    assert repeated_ngrams(ROUND) == pytest.approx(1 - 7 / 121)
    assert repeated_ngrams("no " * 19) is None  # too few words to say
    assert repeated_ngrams("no " * 20) == 0
    assert repeated_ngrams("no " * 25) == pytest.approx(1 - 1 / 6)


def test_one_formula_for_every_fact_is_no_loop() -> None:
    aspects = ("date of birth", "place of birth", "occupation", "employer", "date of death")
    for formula in (
        "I am not sure what the {} of Ada Lovelace is.",
        "It is unclear to me what the {} of Universal Studios Orlando is, so I cannot say.",
    ):
        assert repeated_ngrams(" ".join(map(formula.format, aspects))) == 0


@tabled
def test_marks_of_a_template(text: str) -> None:
    assert MARKS.search(text)


def test_text_without_marks() -> None:
    for text in ("The user: a study.", "It is <b>x</b>, |a|b|.", "He saw the system at work."):
        assert not MARKS.search(text)
    assert not MARKS.search("\n" * 50_000 + " " * 50_000)  # at once


def test_one_line_about_a_model_that_babbles(tmp_path: Path) -> None:
    result = run(tmp_path, babble)
    (line,) = told(result)
    assert line == result.manifest.cautions[0]
    assert "of 16 long answers, 16 are cut off at the token limit and 16 repeat themselves" in line
    assert "committed answers do not answer the question" in line
    assert "no chat template" not in line
    assert len(line) < 1000


def test_loops_that_an_engine_ended_are_told_all_the_same(tmp_path: Path) -> None:
    def ended(request: Request) -> Generation:
        if request.max_tokens <= 256:
            return MIND(request)
        return Generation(request, text="The river is known for its water.", finish="loop")

    result = run(tmp_path, ended, report=True)
    (line,) = told(result)
    assert "of 16 long answers, 16 repeat themselves in a loop" in line
    assert "cut off" not in line
    told_once = "long: 16 of 16 answers only repeated themselves and were ended; the repeats are"
    assert sum(n.startswith(told_once) for n in result.manifest.notices) == 1
    page = (result.path / "report.html").read_text(encoding="utf-8")
    assert "stopped where it began to repeat itself" in page


def test_measure_finds_the_same_line_in_stored_answers(tmp_path: Path) -> None:
    result = run(tmp_path, babble)
    folder = RunFolder.open(result.path)
    for stored in ((), ("There are no log-probabilities.",), (f"{LEAD}old words",)):
        folder.write_manifest(msgspec.structs.replace(folder.read_manifest(), cautions=stored))
        again = sayso.measure(result.path)
        assert told(again) == told(result)
        others = [text for text in stored if not text.startswith(LEAD)]
        assert list(again.manifest.cautions) == [*told(result), *others]
        assert folder.read_manifest().cautions == again.manifest.cautions
    folder.write_manifest(msgspec.structs.replace(folder.read_manifest(), cautions=()))
    assert told(sayso.measure(result.path, settings={"resamples": 100})) == told(result)
    assert folder.read_manifest().cautions == ()  # other settings write nothing


def test_a_model_without_a_template_is_named_where_it_babbles(tmp_path: Path) -> None:
    def bare(mind: Any) -> Any:
        return lambda request: msgspec.structs.replace(
            mind(request), overrides=("no chat template: plain prompt, stops at '\\n\\n'",)
        )

    (line,) = told(run(tmp_path, bare(babble)))
    assert "The model has no chat template." in line
    shutil.rmtree(tmp_path / "run")
    shutil.rmtree(tmp_path / "cache")
    assert not told(run(tmp_path, bare(MIND)))


def test_thoughts_that_reach_the_limit_are_cut_off(tmp_path: Path) -> None:
    def thinking(request: Request) -> Generation:
        if chance(request.messages[-1].content, "t") < 0.5:
            return Generation(request, finish="length", problem="truncated", thinking="Well, ")
        return MIND(request)

    (line,) = told(run(tmp_path, thinking))
    assert "cut off at the token limit" in line
    assert "loops" not in line


@pytest.mark.parametrize("protocol", ["uncle", "faithfulness", "selective", "self_known"])
def test_every_protocol_tells(tmp_path: Path, protocol: str) -> None:
    assert told(run(tmp_path, babble, protocol))


def test_models_that_answer_trip_nothing(tmp_path: Path) -> None:
    for name, mind in (
        ("right", Mind(WORLD, lambda f: 1.0)),
        ("wrong", Mind(WORLD, lambda f: 0.0)),
        ("silent", Mind(WORLD, lambda f: 0.0, hedges=lambda f, instructed: True)),
    ):
        (tmp_path / name).mkdir()
        assert not told(run(tmp_path / name, mind))


def test_the_built_in_model_trips_nothing(tmp_path: Path) -> None:
    result = sayso.run(limit=4, out=tmp_path / "run", cache=tmp_path / "cache")
    assert not result.manifest.cautions


# ---- answers of real models


def _real(folder: Path) -> Iterator[tuple[str, str, str, bool]]:
    """Yield (model, question, answer, may its answers to short questions be read?)."""
    with gzip.open(
        folder / "real" / "unknownbench_refunq.jsonl.gz", "rt", encoding="utf-8"
    ) as file:
        for row in map(json.loads, file):
            if row["answerable"] and isinstance(row["answer"], str):
                yield row["model"], row["question"], row["answer"], True
    for name in ("NQ", "TQ"):
        for text in (folder / "evouna" / f"{name}.jsonl").read_text("utf-8").strip().split("\n"):
            row = json.loads(text)
            for model in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
                if isinstance(answer := row.get(f"answer_{model}"), str):
                    yield f"evouna {model}", row["question"], answer, True
    with gzip.open(folder / "real" / "refchecker.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            yield f"refchecker {row['model']}", "", row["response"], False
    for model in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        path = folder / "factscore" / f"{model}.jsonl"
        for row in map(json.loads, path.read_text("utf-8").strip().split("\n")):
            yield f"factscore {model}", "", row["output"], False


def test_answers_of_real_models(test_data: Path) -> None:
    """Of 24 models one goes round in loops: Alpaca 7B, whose texts do."""
    answers: dict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    for model, question, answer, short in _real(test_data):
        answers[model].append((question, answer.strip(), short))
    looping, marked = (
        {
            model: sum(is_so(text) for _, text, _ in rows) / len(rows)
            for model, rows in answers.items()
        }
        for is_so in (_loops, lambda text: MARKS.search(text) is not None)
    )
    assert [model for model, share in looping.items() if share > REPEATING] == [
        "refchecker alpaca_7B"
    ]
    assert looping["refchecker alpaca_7B"] > 0.15
    assert sorted(looping.values())[-2] < 0.02
    assert max(marked.values()) < 0.02
    assert len(looping) == 24
    for rows in answers.values():
        beside = [_beside(question, text) for question, text, short in rows[::9] if short]
        read = [one for one in beside if one is not None]
        assert not read or sum(read) < 0.6 * BESIDE * len(read)


def _loops(text: str) -> bool:
    return (repeated_ngrams(text) or 0) > LOOP


def _beside(question: str, text: str) -> bool | None:
    verdict = sayso.judge_rules(question, ["Zyzzqy"], text)
    if verdict.stance != "committed":
        return None
    return read_short_answer(question, text) is None


# ---- questions that the model never saw


def blind(request: Request) -> Generation:
    """What a model gives whose chat template leaves the question out."""
    return msgspec.structs.replace(MIND(request), rendered_hash="c0ffee")


def test_a_template_that_leaves_the_question_out_is_the_first_line(tmp_path: Path) -> None:
    result = run(tmp_path, lambda request: blind(request), report=True)
    first = result.manifest.cautions[0]
    assert first.startswith(UNSEEN)
    asked = {q.text for q in RunFolder.open(result.path).read("questions", Question)}
    assert f"{len(asked)} of {len(asked)} questions became the same prompt" in first
    page = (result.path / "report.html").read_text(encoding="utf-8")
    assert page.index(UNSEEN) < page.index("<h2")
    # measured again, it is found in what is stored
    folder = RunFolder.open(result.path)
    folder.write_manifest(msgspec.structs.replace(folder.read_manifest(), cautions=()))
    assert sayso.measure(result.path).manifest.cautions[0] == first


def test_questions_that_differ_in_the_prompt_trip_nothing(tmp_path: Path) -> None:
    def seen(request: Request) -> Generation:
        words = "".join(m.content for m in request.messages)
        return msgspec.structs.replace(MIND(request), rendered_hash=f"{hash(words):x}")

    assert not any(text.startswith(UNSEEN) for text in run(tmp_path, seen).manifest.cautions)


def test_a_label_before_most_answers_is_told_once(tmp_path: Path) -> None:
    def labeled(request: Request) -> Generation:
        reply = MIND(request)
        return msgspec.structs.replace(reply, text=f"**Reply:** {reply.text}")

    (line,) = told(run(tmp_path, labeled))
    assert "48 of 48 short answers begin with 'Reply'; 16 of 16 long" in line


def in_german(request: Request) -> Generation:
    """Answer a third of the prompts in German, with values and without."""
    asked = request.messages[-1].content
    drawn = chance(asked, request.sample)
    text = "Es war wohl Tolmark, das 1902 gegründet wurde." if drawn < 0.2 else "Keine Ahnung."
    return Generation(request, text=text) if drawn < 0.35 else MIND(request)


@pytest.mark.parametrize("protocol", ["uncle", "faithfulness", "selective", "self_known"])
def test_every_protocol_tells_what_is_not_in_english(tmp_path: Path, protocol: str) -> None:
    (line,) = [text for text in told(run(tmp_path, in_german, protocol)) if "English" in text]
    assert "got no verdict, because they are not in English" in line
    assert "--judge MODEL" in line


def test_a_run_of_which_nothing_is_in_english_says_so(tmp_path: Path) -> None:
    def german(request: Request) -> Generation:
        return Generation(request, text="Es war wohl Tolmark, das 1902 gegründet wurde.")

    with pytest.raises(sayso.InputError, match=r"none of them readable \(\d+: not in English\)"):
        run(tmp_path, german, "selective")


def test_a_stated_confidence_is_no_part_of_an_answer(tmp_path: Path) -> None:
    def mind(request: Request) -> Generation:
        answer = MIND(request)
        return msgspec.structs.replace(answer, text=f"{answer.text}\n\nConfidence: 90%")

    assert told(run(tmp_path, mind)) == []
