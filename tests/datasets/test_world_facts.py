"""The entities of `world`: made by the recipe, spread over tiers, golds that the judge can read."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
from world.facts import EXCERPT, Entity, Fact, Value, domains
from world.make import TARGET, build, make

import sayso
from sayso import cli
from sayso.records import Gold

ROWS: list[dict[str, Any]] = [json.loads(line) for line in TARGET.read_text("utf-8").splitlines()]
FACTS = [(row, part) for row in ROWS for part in row["individual_qa"]]
DOMAINS = domains()
TIERS = ("1", "2", "3", "4")
#: words that say what kind of thing is asked for, and so may stand in question and gold
KINDS = {
    *("university", "college", "school", "academy", "observatory", "gene", "chromosome", "virus"),
    *("city", "company", "of", "the", "in", "at", "and", "a", "s", "d", "von"),
}
#: what PopQA asks, by the property of ours
POPQA = {
    "P57": "Who was the director of {}?",
    "P58": "Who was the screenwriter for {}?",
    "P86": "Who was the composer of {}?",
    "P162": "Who was the producer of {}?",
}


def golds(part: dict[str, Any]) -> tuple[Gold, ...]:
    return tuple(msgspec.convert(gold, Gold) for gold in part["answer"])


def written(gold: Gold, name: str) -> str:
    """Return a gold as an answer writes it: an amount with its unit."""
    return f"{name} {gold.unit}s" if gold.unit and name == gold.value else name


# ---- the recipe


@pytest.fixture(scope="module")
def data(test_data: Path) -> Path:
    if not (test_data / EXCERPT).is_file():
        pytest.skip(f"{EXCERPT} is not there: some entities take their facts from it")
    return test_data


def test_the_file_is_what_the_recipe_makes(data: Path) -> None:
    assert make(data) == TARGET.read_text("utf-8")


def test_without_the_excerpt_the_recipe_makes_all_other_entities() -> None:
    others = [
        line
        for line, row in zip(TARGET.read_text("utf-8").splitlines(), ROWS, strict=True)
        if not any("excerpt" in part["source"] for part in row["individual_qa"])
    ]
    assert 0 < len(ROWS) - len(others) < 10
    assert make(None).splitlines() == others


def test_a_fact_that_the_build_would_leave_out_is_refused(tmp_path: Path) -> None:
    facts = {"P569": "1815", "P570": "1852", "P20": "Ealing", "P19": "London"}
    ada = Entity(
        name="Ada of London",
        tier="1",
        domain="bios",
        facts=tuple(Fact(property, (Value(text),), "a book") for property, text in facts.items()),
    )
    with pytest.raises(SystemExit, match=r"Ada of London: sayso build left out P19$"):
        build([ada], DOMAINS, tmp_path)


# ---- what the file holds


def test_five_domains_are_spread_evenly_over_four_tiers() -> None:
    assert len(ROWS) >= 125
    assert len(FACTS) >= 700
    entities = Counter((row["domain"], row["tier"]) for row in ROWS)
    facts = Counter((row["domain"], row["tier"]) for row, _ in FACTS)
    assert {domain for domain, _ in entities} == set(DOMAINS)
    for domain in DOMAINS:
        assert sum(entities[domain, tier] for tier in TIERS) >= 25, domain
        assert min(entities[domain, tier] for tier in TIERS) >= 6, domain
        counts = [facts[domain, tier] for tier in TIERS]
        assert max(counts) <= 1.6 * min(counts), (domain, counts)
    total = Counter(row["tier"] for row, _ in FACTS)
    assert set(total) == set(TIERS)
    assert max(total.values()) <= 1.25 * min(total.values())


def test_the_card_counts_what_the_file_holds() -> None:
    card = TARGET.with_name("world.md").read_text("utf-8")
    assert f"{len(ROWS)} entities with {len(FACTS)} facts" in card
    entities = Counter((row["domain"], row["tier"]) for row in ROWS)
    facts = Counter((row["domain"], row["tier"]) for row, _ in FACTS)
    for domain in DOMAINS:
        cells = [f"{entities[domain, tier]} / {facts[domain, tier]}" for tier in TIERS]
        assert f"| {domain} | {' | '.join(cells)} |" in card
    kinds = Counter("excerpt" if "excerpt" in p["source"] else p["source"] for _, p in FACTS)
    for source, number in kinds.items():
        (line,) = (line for line in card.splitlines() if line.startswith("|") and source in line)
        assert line.endswith(f"| {number} |")


def test_most_facts_are_of_types_that_every_tier_has() -> None:
    tiers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row, part in FACTS:
        tiers[row["domain"], part["property_id"]].add(row["tier"])
    spread = [len(tiers[row["domain"], part["property_id"]]) for row, part in FACTS]
    assert sum(n == 4 for n in spread) / len(spread) > 0.75
    assert sum(n >= 3 for n in spread) / len(spread) > 0.9


def test_every_fact_says_where_it_is_from_and_what_kind_of_value_it_has() -> None:
    names = [row["entity"] for row in ROWS]
    assert len(set(names)) == len(names)
    questions = [part["question"] for _, part in FACTS]
    assert len(set(questions)) == len(questions)
    for row, part in FACTS:
        about = DOMAINS[row["domain"]].properties[part["property_id"]]
        assert part["source"].startswith(("public knowledge: ", "Wikidata"))
        assert part["description"] in row["prompt"]
        assert row["entity"] in part["question"]
        for gold in golds(part):
            assert gold.kind == {"year": "date"}.get(about.kind, about.kind)
            assert (gold.precision == "year") == (about.kind == "year")
            assert bool(gold.unit) == (about.kind == "quantity")
        assert part.get("as_of") == (str(about.as_of) if about.as_of else None)
        assert part.get("as_of", "") in part["question"]


def test_no_question_gives_its_answer_away() -> None:
    def words(text: str) -> set[str]:
        return set(re.findall(r"\w+", text.casefold())) - KINDS

    for _, part in FACTS:
        for gold in golds(part):
            shared = words(gold.value) & words(part["question"])
            assert not shared, (part["question"], gold.value)


def test_data_check_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["data", "check", str(TARGET), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_facts_from_popqa_are_in_popqa(test_data: Path) -> None:
    rows: dict[str, list[str]] = defaultdict(list)
    for file in sorted((test_data / "popqa").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            given = row.get("possible_answers") or [row["answer"], *row["aliases"]]
            rows[row["question"]] += json.loads(given) if isinstance(given, str) else given
    if not rows:
        pytest.skip("no PopQA in the labeled data")
    taken = [(row, part) for row, part in FACTS if "PopQA" in part["source"]]
    assert len(taken) >= 10
    for row, part in taken:
        there = rows[POPQA[part["property_id"]].format(row["entity"])]
        missing = [g.value for g in golds(part) if not {*g.names} & {*there}]
        assert len(missing) < len(part["answer"]), (row["entity"], part["property_id"], there)


# ---- the golds, as the offline judge reads them


@pytest.mark.parametrize("domain", list(DOMAINS))
def test_every_way_to_write_a_gold_is_right(domain: str) -> None:
    wrong = []
    for row, part in FACTS:
        if row["domain"] != domain:
            continue
        for gold in golds(part):
            for name in gold.names:
                text = written(gold, name)
                for answer in (text, f"It is {text}.", f"The answer is {text}."):
                    verdict = sayso.judge_rules(part["question"], golds(part), answer)
                    if (verdict.content, verdict.stance) != ("correct", "committed"):
                        wrong.append((part["question"], answer, verdict.stance, verdict.content))
    assert wrong == []


#: a town that the judge takes for the city whose name it holds
ALIKE = {("San Francisco", "South San Francisco")}


@pytest.mark.parametrize("domain", list(DOMAINS))
def test_the_golds_of_other_entities_are_wrong(domain: str) -> None:
    types: dict[str, list[tuple[str, tuple[Gold, ...]]]] = defaultdict(list)
    for row, part in FACTS:
        if row["domain"] == domain:
            types[part["property_id"]].append((part["question"], golds(part)))
    right = []
    for items in types.values():
        for question, own in items:
            names = {name.casefold() for gold in own for name in gold.names}
            for _, others in items:
                for other in others:
                    alike = any(tuple(sorted((g.value, other.value))) in ALIKE for g in own)
                    if alike or names & {name.casefold() for name in other.names}:
                        continue
                    answer = f"It is {written(other, other.value)}."
                    verdict = sayso.judge_rules(question, own, answer)
                    if verdict.content != "incorrect":
                        right.append((question, answer, verdict.content))
    assert right == []
