"""Every gold that is built from real entities, checked against the raw JSON by other code."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sayso import cli

PLAN = """
domains:
  people: {classes: [Q5], type: person, entities: 200, least: 1}
  places: {classes: [Q515, Q6256, Q3624078, Q1549591], type: place, entities: 200, least: 1}
  films: {classes: [Q11424], type: film, least: 1}
  papers: {classes: [Q13442814], type: article, entities: 200, least: 1}
"""
PRECISIONS = {7: "century", 8: "decade", 9: "year", 10: "month", 11: "day"}


@pytest.fixture(scope="module")
def raw(excerpt: list[bytes]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, excerpt)}


@pytest.fixture(scope="module")
def parts(
    plain_excerpt: Path, tmp_path_factory: pytest.TempPathFactory, raw: dict[str, Any]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("excerpt")
    (folder / "d.yaml").write_text(PLAN)
    words = ["build", str(plain_excerpt), "--domains", str(folder / "d.yaml"), "--no-review"]
    assert cli.execute([*words, "--out", str(folder / "out")]) == 0
    records = [json.loads(line) for line in (folder / "out" / "questions.jsonl").open()]
    return [(raw[record["id"]], part) for record in records for part in record["individual_qa"]]


def told(raw: dict[str, Any], snak: dict[str, Any]) -> object:
    """Return what a value should read like, as far as plain rules say; None for no gold."""
    value = snak["datavalue"]["value"]
    if snak["datatype"] == "wikibase-item":
        label = raw.get(value["id"], {}).get("labels", {}).get("en")
        return " ".join(label["value"].split()) if label else None
    if snak["datatype"] == "time":
        return PRECISIONS.get(value["precision"])
    if snak["datatype"] == "quantity":
        return Decimal(value["amount"])
    return value["text"] if isinstance(value, dict) else value


def test_golds_are_the_best_ranked_values_of_the_entity(
    raw: dict[str, dict[str, Any]], parts: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    assert len(parts) > 300
    exact = 0
    for entity, part in parts:
        every = [s for s in entity["claims"][part["property_id"]] if s["rank"] != "deprecated"]
        best = [s for s in every if s["rank"] == "preferred"] or every
        values = [told(raw, s["mainsnak"]) for s in best if s["mainsnak"]["snaktype"] == "value"]
        golds = []
        for gold in part["answer"]:
            kind = gold.get("kind", "text")
            if kind == "quantity":
                golds.append(Decimal(gold["value"]))
            else:
                golds.append(gold["precision"] if kind == "date" else gold["value"])
        assert golds, part
        assert set(golds) <= set(values), (entity["id"], part)
        # whatever has no day and no end is told whole
        dated = part.get("as_of") or any(
            set(s.get("qualifiers", {})) & {"P582", "P585"} for s in best
        )
        if not dated:
            missing = [v for v in values if v is None]
            assert set(golds) == {v for v in values if v is not None}, (entity["id"], part)
            unreal = len(values) < len(best)
            assert part.get("partial", False) == (bool(missing) or unreal), (entity["id"], part)
            exact += 1
    assert exact > 250


def test_dates_are_those_of_the_statements(
    raw: dict[str, dict[str, Any]], parts: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    seen = 0
    for entity, part in parts:
        times = [
            s["mainsnak"]["datavalue"]["value"]["time"]
            for s in entity["claims"][part["property_id"]]
            if s["mainsnak"].get("datatype") == "time" and s["mainsnak"]["snaktype"] == "value"
        ]
        for gold in part["answer"]:
            if gold.get("precision") == "day":
                assert any(gold["value"] == time.lstrip("+") for time in times), (
                    entity["id"],
                    gold,
                )
            elif gold.get("precision") in ("year", "month"):
                (year,) = re.findall(r"\b\d+\b(?! \d)", gold["value"])
                assert any(int(re.findall(r"\d+", t)[0]) == int(year) for t in times), gold
            seen += "precision" in gold
    assert seen > 250


def test_no_question_tells_its_gold_or_its_year(
    parts: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    for _, part in parts:
        asked = re.sub(r"^As of [^,]*, ", "", part["question"])
        for gold in part["answer"]:
            for name in (gold["value"], *gold.get("aliases", ())):
                assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked), part
            if gold.get("precision") in ("day", "month", "year"):
                (year, *_) = re.findall(r"\d{3,}", gold["value"]) or [gold["value"]]
                assert not re.search(rf"(?<!\w){year.lstrip('0')}(?!\w)", asked), part
