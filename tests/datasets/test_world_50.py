"""The fifty questions about the real world: what they hold, and how their golds are read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import sayso
from sayso import datasets
from sayso.records import Question, year_of
from sayso.runs.job import Job
from sayso.runs.run import check_finished, execute_job, open_job

DATA = datasets.load_dataset("world-50")
SHORT = [q for q in DATA.questions if not q.parts]
KNOWN = [q for q in SHORT if q.answerable]
NOBODY = [q for q in SHORT if q.answerable is False]
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def test_fifty_questions_of_which_nobody_can_answer_ten() -> None:
    assert (len(SHORT), len(KNOWN), len(NOBODY)) == (50, 40, 10)
    assert len({q.id for q in DATA.questions}) == 70
    assert Counter(q.domain for q in KNOWN) == {
        "people": 12,
        "places": 12,
        "works": 8,
        "science": 8,
    }
    assert Counter(q.domain for q in NOBODY) == {"people": 3, "places": 3, "works": 2, "science": 2}
    assert all(q.golds for q in KNOWN)
    assert not any(q.golds for q in NOBODY)
    assert DATA.notices == ("10 cannot be answered: abstaining is right",)


def test_every_answerable_fact_is_asked_for_in_a_paragraph() -> None:
    paragraphs = [q for q in DATA.questions if q.parts]
    assert len(paragraphs) == 20
    assert sorted(part for q in paragraphs for part in q.parts) == sorted(q.id for q in KNOWN)
    by_id = {q.id: q for q in KNOWN}
    for paragraph in paragraphs:
        for part in paragraph.parts:
            aspect = by_id[part].aspect
            assert aspect is not None
            assert aspect.description in paragraph.text


def form(question: Question) -> str:
    """The question without what it is about."""
    return question.text.replace(f"the {question.entity}", "X").replace(question.entity, "X")


@pytest.mark.parametrize("question", NOBODY, ids=lambda q: q.text)
def test_each_that_nobody_can_answer_is_the_twin_of_one_that_can_be(question: Question) -> None:
    twins = [q for q in KNOWN if (q.type, form(q)) == (question.type, form(question))]
    assert twins


def words(value: str) -> str:
    """A gold as an answer would say it: a date in words, a year alone where only it is known."""
    if year_of(value) is None:
        return value
    year, month, day = value[:10].split("-")
    return year if (month, day) == ("01", "01") else f"{int(day)} {MONTHS[int(month) - 1]} {year}"


@pytest.mark.parametrize("question", KNOWN, ids=lambda q: q.text)
def test_every_way_to_write_a_gold_is_right_and_another_ones_is_not(question: Question) -> None:
    assert question.golds is not None
    for gold in question.golds:
        for name in gold.names:
            for answer in (words(name), f"It is {words(name)}.", f"The answer is {words(name)}."):
                verdict = sayso.judge_rules(question.text, question.golds, answer)
                assert (verdict.content, verdict.stance) == ("correct", "committed"), answer
    others = [q for q in KNOWN if q.type == question.type and q.golds != question.golds]
    for other in others:
        assert other.golds is not None
        if not {n.casefold() for n in other.golds[0].names} & {
            n.casefold() for n in question.golds[0].names
        }:
            answer = words(other.golds[0].value)
            verdict = sayso.judge_rules(question.text, question.golds, answer)
            assert verdict.content == "incorrect", answer


def test_a_protocol_of_known_facts_asks_none_that_nobody_can_answer(tmp_path: Path) -> None:
    job = Job(protocol="uncle", data="world-50", cache=tmp_path)
    with open_job(job) as opened:
        assert all(q.answerable is not False for q in opened.data.short)
        assert (len(opened.data.short), len(opened.data.long)) == (40, 20)
        said = "10 questions without a true answer"
        assert any(note.startswith(said) for note in opened.data.notes)
    with open_job(Job(protocol="selective", data="world-50", cache=tmp_path)) as opened:
        assert sum(q.answerable is False for q in opened.data.short) == 10


def test_a_finished_run_of_it_is_known_again(tmp_path: Path) -> None:
    job = Job(protocol="uncle", data="world-50", limit=1, cache=tmp_path, out=tmp_path / "run")
    execute_job(job)
    check_finished(job)  # as a study does before it takes a run that is there
