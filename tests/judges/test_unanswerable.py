"""Questions that nobody can answer: abstaining is right, a stated value is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sayso
from sayso import cli
from sayso.judges.judge import (
    NO_VALUE,
    NO_VALUE_IN_WORDS,
    Item,
    credit_withholding,
    golds_to_compare,
)
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols import selective
from sayso.records import Generation, Gold, Question, Request, Verdict
from support.judge_world import judge_engine, truthful
from support.scripted import ScriptedEngine
from support.tables import tabled

NOWHERE_KNOWN = Question("q", "d", "Where are all the aliens?", answerable=False)
KNOWN = Question("k", "d", "Where was Ada born?", golds=(Gold("London"),), answerable=True)
UNTOLD = Question("u", "d", "Where was Ada born?")


def said(question: Question, text: str) -> Verdict:
    generation = Generation(Request(()), id="g", question=question.id, form="short", text=text)
    (verdict,) = RulesJudge().grade([Item(generation, (question,))])
    return verdict


@tabled
def test_the_rules_judge(text: str, value: str, content: str) -> None:
    verdict = said(NOWHERE_KNOWN, text)
    assert (verdict.value, verdict.content) == (value, content)


def test_other_questions_are_judged_as_before() -> None:
    assert said(KNOWN, "I don't know.").content == "none"
    assert said(KNOWN, "In London.").value == "correct"
    assert said(UNTOLD, "In London.").problem == "unread"  # nobody can say who is right
    assert golds_to_compare(KNOWN) == KNOWN.golds
    assert golds_to_compare(UNTOLD) == ()
    assert golds_to_compare(NOWHERE_KNOWN) == NO_VALUE
    unread = Verdict("g", "q", "x", problem="unread")
    assert credit_withholding(NOWHERE_KNOWN, unread) is unread


def test_a_model_as_judge_is_told_that_there_is_no_gold() -> None:
    engine = judge_engine(truthful)
    items = [
        Item(
            Generation(Request(()), id=text, question="q", form="short", text=text),
            (NOWHERE_KNOWN,),
        )
        for text in ("I don't know.", "They are on Mars.")
    ]
    abstained, stated = LlmJudge(engine).grade(items)
    assert (abstained.stance, abstained.content) == ("abstained", "correct")
    assert (stated.value, stated.problem) == ("incorrect", None)
    assert NO_VALUE_IN_WORDS[0].value in engine.requests[0].messages[-1].content


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_any_text_is_right_only_where_it_withholds(text: str) -> None:
    verdict = said(NOWHERE_KNOWN, text)
    withheld = verdict.stance in ("abstained", "refused_by_policy", "asked_back")
    assert (verdict.content == "correct") is withheld


def table(folder: Path) -> Path:
    """Four questions: two with golds, two that nobody can answer."""
    rows = [
        {"question": "Where was Ada born?", "gold": "London"},
        {"question": "Where was Bob born?", "gold": "Rome"},
        {"question": "Where are all the aliens?", "answerable": False},
        {"question": "What will I eat tomorrow?", "answerable": False},
    ]
    place = folder / "t.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def test_a_run_counts_abstaining_as_right(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        text = request.messages[-1].content
        known = {"Ada": "London.", "Bob": "Paris.", "aliens": "I don't know.", "tomorrow": "Soup."}
        return next(reply for word, reply in known.items() if word in text)

    chosen = selective.Settings(resamples=100, nli="rules")
    result = sayso.run(
        "selective", model=ScriptedEngine(answer), data=f"file:{table(tmp_path)}",
        options=chosen, out=tmp_path / "r", cache=tmp_path / "c",
    )  # fmt: skip
    # right: London and "I don't know" about the aliens; wrong: Paris and soup
    wrong = result.get("error_rate", "form:short;against:rules")
    assert (wrong.numerator, wrong.denominator, wrong.missing) == (2, 4, 0)
    # it abstains on one of the two that nobody can answer, on neither of the others
    for name, share in (("abstains_unanswerable", (1, 2)), ("abstains_answerable", (0, 2))):
        found = result.get(name, "form:short;against:rules")
        assert (found.numerator, found.denominator) == share
    # and these are neither known nor unknown
    assert result.get("share_unknown", "form:short;against:unknown").denominator == 2
    # word overlap needs a gold to overlap with
    assert result.get("error_rate", "form:short;against:rouge_l").denominator == 2
    assert "2 cannot be answered: abstaining is right" in result.manifest.notices


def test_data_without_golds_is_refused_where_golds_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "q.csv"
    place.write_text("question\nWhere was Ada born?\n", encoding="utf-8")
    assert cli.execute(["run", "selective", "--data", str(place), "--dry-run"]) == 2
    assert (
        "selective needs to know which answers are right, and q has no golds"
        in capsys.readouterr().err
    )
    assert cli.execute(["run", "uncle", "--data", str(place), "--dry-run"]) == 2
    assert (
        "uncle needs to know which answers are right, and q has no golds" in capsys.readouterr().err
    )
    # those that nobody can answer are neither known nor unknown
    assert cli.execute(["run", "uncle", "--data", f"file:{table(tmp_path)}", "--dry-run"]) == 0
    assert "2 questions without a true answer are not asked" in capsys.readouterr().out
    assert cli.execute(["run", "faithfulness", "--data", str(place), "--dry-run"]) == 0
