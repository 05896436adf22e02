"""``sayso data check`` finds what is wrong with a set, and nothing in one without faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import Aspect, Gold, Question, question_id
from sayso.wikidata.quality import QualityFinding, findings


def ask(
    text: str, *golds: str, entity: str = "Ada", domain: str = "d", about: str = "a"
) -> Question:
    return Question(
        id=question_id("x", entity, text),
        dataset="x",
        text=text,
        golds=tuple(Gold(gold) for gold in golds),
        entity=entity,
        domain=domain,
        aspect=Aspect(about, property_id=about),
    )


def kinds(*questions: Question, **more: object) -> list[str]:
    return [one.kind for one in findings(questions, **more)]  # type: ignore[arg-type]


def test_a_clean_set_has_no_findings() -> None:
    assert (
        kinds(
            ask("Where was Ada born?", "London", about="birth"),
            ask("When was Ada born?", "1815", about="date"),
            ask("Where was Bo born?", "London", entity="Bo", about="birth"),
        )
        == []
    )


def test_duplicates_and_near_duplicates() -> None:
    same = ask("where was Ada born", "Paris", entity="Ada II", about="birth")
    one = ask("Where was Ada born?", "London", about="birth")
    (found,) = findings([one, same])
    assert found.kind == "duplicate"
    assert "with other golds; entities: Ada, Ada II" in found.why
    near = ask("In which city was Ada born?", "London", about="birth")
    assert kinds(one, near) == []  # half of their words
    nearer = ask("Where was Ada really born?", "London", about="birth")
    assert kinds(one, nearer) == ["near-duplicate"]
    assert kinds(one, ask("Where was Ada really born?", "London", about="other")) == []
    assert kinds(one, ask("Where was Ada really born?", "Paris", about="birth")) == []


def test_golds_in_questions_are_whole_words() -> None:
    assert kinds(ask("Where is the river Oslo of Oslo?", "Oslo")) == ["gold in question"]
    assert kinds(ask("Where is Oslofjord?", "Oslo")) == []


def test_ambiguous_entities() -> None:
    a, b = ask("Who is Ajax?", "x", entity="Ajax"), ask("Who wrote it?", "y", entity="Ajax (play)")
    assert kinds(a, b) == ["ambiguous entity"]
    c = ask("Who else?", "z", entity="Ajax", domain="other")
    assert kinds(a, c) == ["ambiguous entity"]
    nested = ask("Who?", "z", entity="Ajax (play (1890))")
    assert kinds(a, nested) == ["ambiguous entity"]
    rows = [{"entity": "Ajax", "id": "Q1"}, {"entity": "Ajax", "id": "Q2"}]
    assert kinds(a, rows=rows) == ["ambiguous entity"]


def test_empty_strata_and_disputed_golds() -> None:
    part = {"question": "Who is Ada?", "disputed": True}
    row = {"entity": "Ada", "domain": "d", "stratum": "0-9", "individual_qa": [part]}
    card = {"strata": {"d": {"0-9": [1, 4], "10+": [0, 3]}}}
    gone = {"strata": {"d": {"0-9": [1, 4]}, "e": {"0-9": [0, 3]}}}
    (found,) = findings([ask("Who is Ada?", "x")], [{**row, "individual_qa": []}], gone)
    assert found == QualityFinding("empty stratum", ("e",), "no entity at all")
    assert findings([ask("Who is Ada?", "x")], [{"domain": "d", "split": "twins"}], gone) == []
    assert findings([ask("Who is Ada?", "x", "y")], [row], card) == [
        QualityFinding("empty stratum", ("d",), "10+: no entity taken, 3 in the source"),
        QualityFinding("disputed gold", ("Who is Ada?",), "cannot all be true: x, y"),
    ]


def test_golds_that_unrelated_models_agree_against() -> None:
    one = ask("Where was Ada born?", "Paris")
    wrong = [("m1", {one.id: "London."}), ("m2", {one.id: "In London"}), ("m2", {one.id: "Rome"})]

    def agree(question: str, a: str, b: str) -> bool:
        return "London" in a and "London" in b

    (found,) = findings([one], answers=wrong, agree=agree)
    assert "gold Paris; unrelated models agree" in found.why
    same_base = [("m1", {one.id: "London."}), ("m1", {one.id: "In London"})]
    assert findings([one], answers=same_base, agree=agree) == []


def test_the_command_prints_findings_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = {"question": "What is Oslo called?", "answer": ["Oslo"], "description": "name"}
    prompt = "Write about Oslo, covering name."
    record = {"entity": "Oslo\x1b[2J", "prompt": prompt, "domain": "d", "individual_qa": [part]}
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(record))
    assert cli.execute(["data", "check", str(file)]) == 0
    told = capsys.readouterr().out
    assert "1 question, 1 prompt, 1 finding" in told
    assert "gold in question: 1" in told
    assert "\x1b" not in told
    assert cli.execute(["data", "check", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["kind"] == "gold in question"
    run = ["run", "uncle", "--data", str(file), "--out", str(tmp_path / "run")]
    assert cli.execute(run) == 0
    capsys.readouterr()
    again = ["data", "check", str(file), "--runs", str(tmp_path / "run")]
    assert cli.execute(again) == 0
    assert "disputed gold: 0" in capsys.readouterr().out  # one model is no majority
    assert cli.execute(["data", "check", str(tmp_path / "no.jsonl")]) == 2
