"""A built file in UNCLE's published format, read as the official scripts read theirs.

The reading part imports nothing of sayso: a JSON list, the keys by name, answers joined as text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sayso import cli
from sayso.datasets import load_dataset
from sayso.datasets.uncle import plain_answer, plain_answers
from sayso.judges.rules.judge import judge_rules
from sayso.records import Gold
from support.tables import tabled
from support.wikidata_world import DOMAINS, dump

KEYS = {"entity", "prompt", "domain", "individual_qa"}
PART_KEYS = {"question", "answer", "label", "description", "property_id"}


# ---- the reading part


def read_officially(path: Path) -> list[dict[str, Any]]:
    """Read a file of the data set: one JSON list."""
    data = json.load(path.open(encoding="utf-8"))
    assert isinstance(data, list)
    for item in data:
        assert set(item) == KEYS
        for part in item["individual_qa"]:
            assert set(part) == PART_KEYS
            assert isinstance(part["answer"], list)
            assert part["answer"]
            assert all(isinstance(gold, str) and gold.strip() for gold in part["answer"])
    return data


def blocks_of(item: dict[str, Any]) -> str:
    """Return what the judge of the official scripts is shown of an item: questions and golds."""
    return "\n".join(
        f"### Question: {part['question']} Gold answer: {', '.join(part['answer'])}."
        for part in item["individual_qa"]
    )


def named_in_prompt(prompt: str, entity: str) -> list[str]:
    """Return the aspects that a prompt of the fixed sentence names, in order."""
    whole = re.fullmatch(
        rf"In a paragraph, introduce the [a-z ]+ {re.escape(entity)}, including (.+)\.", prompt
    )
    assert whole, prompt
    return re.split(r", | and ", whole[1])


# ---- what is read


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "domains.yaml").write_text(DOMAINS)
    (tmp_path / "dump.json").write_bytes(dump())
    words = ["build", str(tmp_path / "dump.json"), "--domains", str(tmp_path / "domains.yaml")]
    assert cli.execute([*words, "--out", str(tmp_path / "out"), "--no-review"]) == 0
    return tmp_path / "out"


def test_a_built_file_is_read_as_the_published_one(built: Path) -> None:
    data = read_officially(built / "questions.uncle.json")
    assert len(data) == 28
    assert {item["domain"] for item in data} == {"films", "people"}
    for item in data:
        described = [part["description"] for part in item["individual_qa"]]
        assert named_in_prompt(item["prompt"], item["entity"]) == described
    one = next(item for item in data if item["entity"] == "The Amber Nettle")
    assert blocks_of(one) == (
        "### Question: Who directed The Amber Nettle? Gold answer: Alda Amberson.\n"
        "### Question: When was The Amber Nettle released? Gold answer: 2012-03-05T00:00:00Z.\n"
        "### Question: How long does The Amber Nettle last? Gold answer: 80 minute."
    )
    assert [part["property_id"] for part in one["individual_qa"]] == ["P57", "P577", "P2047"]
    assert read_officially(built / "twins.uncle.json")


def test_it_asks_what_our_file_asks_and_its_golds_mean_the_same(built: Path) -> None:
    ours = load_dataset(str(built / "questions.jsonl"), limit=0)
    plain = load_dataset(str(built / "questions.uncle.json"), limit=0)
    assert [(q.text, q.entity, q.domain) for q in plain.long] == [
        (q.text, q.entity, q.domain) for q in ours.long
    ]
    assert [(q.text, q.entity, q.aspect) for q in plain.short] == [
        (q.text, q.entity, q.aspect) for q in ours.short
    ]
    kinds = set()
    for one, other in zip(ours.short, plain.short, strict=True):
        assert [plain_answer(g) for g in one.golds or ()] == [g.value for g in other.golds or ()]
        for gold in one.golds or ():
            kinds.add(gold.kind)
            right = f"{gold.value} minutes" if gold.unit else gold.value[:10]
            wrong = {"text": "Zed Zedson", "date": "1901-01-01", "quantity": "7 minutes"}[gold.kind]
            if gold.kind == "text":
                right = gold.value
            for said, value in ((right, "correct"), (wrong, "incorrect")):
                read = [judge_rules(q.text, q.golds or (), said).value for q in (one, other)]
                assert read == [value, value], (one.text, said)
    assert kinds == {"text", "date", "quantity"}


@tabled
def test_plain_answers_of_every_kind(gold: Gold, text: str) -> None:
    assert plain_answers([gold, gold]) == [text]


def test_a_set_is_shown_in_the_format_and_reads_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["data", "show", "world", "--as", "uncle"]) == 0
    out = capsys.readouterr().out
    file = tmp_path / "mine.json"
    file.write_text(out, encoding="utf-8")
    every = load_dataset("world", limit=0)
    data = read_officially(file)
    assert len(data) == len(every.long)
    assert sum(len(item["individual_qa"]) for item in data) == sum(
        len(long.parts) for long in every.long
    )
    again = load_dataset(str(file), limit=0)
    assert [q.text for q in again.long] == [q.text for q in every.long]
    assert cli.execute(["data", "show", str(file), "--as", "uncle"]) == 0
    assert capsys.readouterr().out == out  # plain strings stay as they are
    assert cli.execute(["data", "show", "world", "--as", "uncle", "-n", "2"]) == 0
    assert json.loads(capsys.readouterr().out) == data[:2]


def test_what_the_format_cannot_hold_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "quiz.csv"
    table.write_text("question,gold\nWho?,Ann\n")
    assert cli.execute(["data", "show", f"file:{table}", "--as", "uncle"]) == 2
    assert "has no prompts for paragraphs" in capsys.readouterr().err
    assert cli.execute(["data", "show", "world", "--as", "csv"]) == 2
