"""The ambiguity filter: its rule by hand, on published sets, and what a run publishes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sayso
from sayso import datasets
from sayso.judges.rules.judge import judge_rules
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.settings import RULE, ambiguous_questions
from sayso.protocols.settings import replace
from sayso.records import Aspect, Generation, Gold, Question, part_of, signature_text
from sayso.runs.measure import load_run, measure
from support.scripted import ScriptedEngine
from support.tables import tabled


@pytest.mark.parametrize(
    ("golds", "expected"),
    [
        ((Gold("1961"), Gold("1970")), True),
        ((Gold("1961"), Gold("May 1961")), False),  # one is coarser
        ((Gold("1961", ("1970",)),), True),  # ways to write one date do not differ
        ((Gold("12 May 1961", ("1961", "May 12th, 1961")),), False),
        ((Gold("Mark Twain", ("Samuel Clemens",)),), False),  # other names of one person
        ((Gold("Mark Twain"), Gold("Samuel Clemens")), True),  # listed as two answers
        ((Gold("painter"),), False),
        ((), False),
    ],
)
def test_the_rule_by_hand(golds: tuple[Gold, ...], expected: bool) -> None:
    question = Question("q", "s", "What is it?", golds, aspect=Aspect("name"))
    assert ambiguous_questions([question]) == (["q"] if expected else [])


@tabled
def test_ways_to_write_an_answer_in_ones_own_table_are_not_ambiguous(
    tmp_path: Path, cells: str, expected: bool
) -> None:
    path = tmp_path / "mine.csv"
    quoted = cells.replace('"', '""').replace("'", '"')
    path.write_text(f"question,gold,aliases\nWhat is it?,{quoted}\n", encoding="utf-8")
    data = datasets.load_dataset(f"file:{path}")
    assert bool(ambiguous_questions(data.questions)) is expected


def popqa(test_data: Path) -> str:
    path = test_data / "popqa" / "popqa_1k_popularity.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} not found")
    return f"popqa:{path}"


def test_popqa_with_several_right_objects_is_ambiguous(test_data: Path) -> None:
    """67 of the 683 rows name answers that are no alias of their object: none else is flagged."""
    data = datasets.load_dataset(popqa(test_data), limit=0)
    several = {q.id for q in data.questions if len(q.golds or ()) > 1}
    assert set(ambiguous_questions(data.questions)) == several
    assert len(several) == 67
    fred = next(q for q in data.questions if q.entity == "Fred C. Newmeyer")
    for said in ("He was a film director.", "He was a film producer.", "An actor."):
        assert judge_rules(fred.text, fred.golds or (), said).value == "correct"
    assert judge_rules(fred.text, fred.golds or (), "He was a chemist.").value == "incorrect"


def test_natural_questions_with_two_dates_are_ambiguous(test_data: Path) -> None:
    path = test_data / "nq_open" / "NQ-open.dev.jsonl"
    data = datasets.load_dataset(f"nq_open:{path}", limit=0)
    found = set(ambiguous_questions(data.questions))
    assert 0.03 < len(found) / len(data.questions) < 0.08
    names = {q.text: q.id in found for q in data.questions}
    assert names["when did the first pokemon game come out?"]  # October 2000, and 1996


def test_a_run_on_popqa_publishes_what_it_leaves_out(test_data: Path, tmp_path: Path) -> None:
    """No draw of a question that is left out; rule and ids in the run; none is in any number."""
    model = ScriptedEngine(lambda request: "He was a politician.", name="one", logprob=-0.5)
    options = {"methods": "vanilla", "ambiguous": "drop", "resamples": 100, "draws.k": 5}
    result = sayso.run(
        "faithfulness",
        model=model,
        data=popqa(test_data),
        limit=120,
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=replace(faithfulness.Settings(), options),
    )
    job = load_run(result.path)[0]
    out = set(ambiguous_questions(job.questions))
    assert 5 < len(out) < 30
    published = {dict(e.where)["question"] for e in result.estimates if e.name == "ambiguous"}
    assert published == out
    told = [n for n in result.manifest.notices if RULE in n]
    assert len(told) == 1
    assert (
        f"{len(out)} of {len(job.questions)} questions are ambiguous and were left out" in told[0]
    )
    for stage in ("draws", "short"):
        assert not {g.question for g in job.folder.read(f"generations/{stage}", Generation)} & out
    assert result.get("asked", "form:short;method:vanilla").value == len(job.questions) - len(out)
    assert "|ambiguous:drop|" in signature_text(result.estimates[0].signature)
    # strata of popularity are domains
    assert {part_of(e.where, "domain") for e in result.estimates} >= {
        "rare", "known",
    }  # fmt: skip
    # without the model, and where the filter is off, the same questions are only listed
    assert measure(result.path).estimates == result.estimates
    stored = json.loads((result.path / "manifest.json").read_text(encoding="utf-8"))
    assert any(RULE in notice for notice in stored["notices"])


def test_kept_questions_are_told_all_the_same(tmp_path: Path) -> None:
    rows = [
        {"entity": "A", "domain": "d", "prompt": "Tell of A.", "individual_qa": [
            {"question": f"When was A {n}?", "answer": golds, "label": n, "description": n,
             "property_id": "P1"} for n, golds in (("built", ["1961", "1970"]), ("sold", ["1980"]))
        ]}
    ]  # fmt: skip
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    result = sayso.run(
        "faithfulness",
        model=ScriptedEngine(lambda request: "In 1961.", name="one", logprob=-0.5),
        data=str(path),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=replace(faithfulness.Settings(), {"methods": "vanilla", "resamples": 100}),
    )
    (told,) = [n for n in result.manifest.notices if "ambiguous" in n]
    assert told.startswith("1 of 2 questions are ambiguous and were kept (--set ambiguous=drop")
    assert result.get("asked", "form:short;method:vanilla").value == 2
