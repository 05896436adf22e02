"""Tiers and pairs: how ``--limit`` draws over them, and that they survive every file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso import datasets
from sayso.cli import execute
from sayso.datasets.dataset import Dataset, questions_hash
from sayso.datasets.uncle import from_records
from sayso.protocols.answer_table import AnswerRecord
from sayso.protocols.pool import clusters_of
from sayso.protocols.uncle import UNCLE, Settings
from sayso.records import Gold, InputError, Question, tier_order
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.tables import tabled

DOMAINS = ("a", "b", "c", "d", "e")
TIERS = ("1", "2", "3", "4")


def entity(domain: str, tier: str, number: int) -> list[Question]:
    """Two short questions and the paragraph of an entity."""
    name = f"{domain}{tier}-{number}"
    shorts = [
        Question(f"{name}/{n}", "x", f"{n} of {name}?", entity=name, domain=domain, tier=tier)
        for n in range(2)
    ]
    parts = tuple(q.id for q in shorts)
    long = Question(name, "x", name, entity=name, domain=domain, parts=parts, tier=tier)
    return [*shorts, long]


def pair(number: int, tier: str) -> list[Question]:
    """An unanswerable question and its twin, about things of their own."""
    shared: dict[str, Any] = {"domain": "things", "pair": f"p{number}", "dataset": "x"}
    no, yes = f"no{number}", f"yes{number}"
    return [
        Question(no, text="?", entity=no, answerable=False, **shared),
        Question(yes, text="!", entity=yes, answerable=True, tier=tier, **shared),
    ]


def data_of(questions: list[Question]) -> Dataset:
    return Dataset("x", tuple(questions), questions_hash(tuple(questions)), len(questions))


FULL = data_of(
    [q for d in DOMAINS for t in TIERS for n in range(6) for q in entity(d, t, n)]
    + [q for n in range(90) for q in pair(n, TIERS[n % 4])]
)


def drawn(limit: int, seed: int = 0) -> Dataset:
    return datasets.subset(FULL, domains=(), limit=limit, seed=seed)


def test_data_without_tiers_are_drawn_as_before_there_were_any() -> None:
    """The hashes are those of the version before."""
    assert datasets.load_dataset("builtin").hash == "55427505"
    assert datasets.load_dataset("builtin", limit=7, seed=3).hash == "5d302e1f"
    some = datasets.load_dataset("builtin", limit=33, seed=1, domains=["bios", "movies"])
    assert some.hash == "82959222"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [5, 8, 20, 37, 60])
def test_every_draw_is_spread_over_domains_and_tiers(limit: int, seed: int) -> None:
    paragraphs = drawn(limit, seed).long
    assert len(paragraphs) == limit
    domains = Counter(q.domain for q in paragraphs)
    tiers = Counter(q.tier for q in paragraphs)
    cells = Counter((q.domain, q.tier) for q in paragraphs)
    assert set(domains) == set(DOMAINS)
    assert set(tiers) == set(TIERS)
    assert max(domains.values()) - min(domains.values()) <= 1
    assert max(tiers.values()) - min(tiers.values()) <= 2
    assert max(cells.values()) - min(cells.get((d, t), 0) for d in DOMAINS for t in TIERS) <= 1


def test_a_larger_limit_keeps_what_a_smaller_one_drew_and_a_seed_draws_others() -> None:
    small, large, other = drawn(20), drawn(41), drawn(20, seed=1)
    assert {q.id for q in small.questions} < {q.id for q in large.questions}
    assert {q.id for q in small.questions} != {q.id for q in other.questions}


def test_tiers_of_unequal_size_are_drawn_in_proportion() -> None:
    sizes = {"1": 20, "2": 10, "3": 10}
    data = data_of([q for t, size in sizes.items() for n in range(size) for q in entity("a", t, n)])
    some = datasets.subset(data, domains=(), limit=8, seed=0)
    assert Counter(q.tier for q in some.long) == {"1": 4, "2": 2, "3": 2}


@pytest.mark.parametrize(("limit", "pairs"), [(1, 1), (4, 3), (40, 30), (119, 89)])
def test_pairs_come_whole_and_in_the_proportion_of_the_entities(limit: int, pairs: int) -> None:
    some = drawn(limit)
    assert len(some.long) == limit
    members = Counter(q.pair for q in some.questions if q.pair)
    assert len(members) == pairs
    assert set(members.values()) == {2}
    twins = Counter(q.tier for q in some.questions if q.pair and q.answerable)
    assert max(twins.values()) - min(twins.get(t, 0) for t in TIERS) <= 2


def test_a_limit_counts_pairs_where_there_is_nothing_else() -> None:
    data = data_of([q for n in range(12) for q in pair(n, "1")])
    some = datasets.subset(data, domains=(), limit=3, seed=0)
    assert Counter(q.pair for q in some.questions).most_common(4)[-1][1] == 2
    assert len(some.questions) == 6


def test_tiers_are_sorted_by_their_numbers() -> None:
    strata = ["invented", "100+ statements", "20-39 statements", "5-9 statements"]
    assert sorted(strata, key=tier_order) == strata[::-1]
    assert sorted(["10", "2", "1"], key=tier_order) == ["1", "2", "10"]


def test_both_questions_of_a_pair_are_resampled_together() -> None:
    no, yes = pair(3, "2")
    other = pair(4, "2")[0]
    clusters = clusters_of([no, yes, other])
    assert clusters[no.id] == clusters[yes.id] != clusters[other.id]


def test_a_protocol_of_known_facts_asks_no_question_of_a_pair() -> None:
    given = [
        q if q.parts or q.answerable is False else msgspec.structs.replace(q, golds=(Gold("x"),))
        for q in FULL.questions
    ]
    left = UNCLE.asked(data_of(given), Settings())
    assert not any(q.pair for q in left.questions)
    assert len(left.long) == 120
    (note,) = left.notes
    assert note.startswith(
        "90 questions without a true answer and 90 answerable counterparts (similar questions with "
        "a true answer) are not asked"
    )


def record(**fields: Any) -> dict[str, Any]:
    part = {"question": "When?", "answer": ["1900"], "description": "year"}
    return {"entity": "e", "prompt": "All about e.", "individual_qa": [part], **fields}


@tabled
def test_a_record_has_a_tier_or_the_stratum_of_sayso_build(
    fields: dict[str, Any], tier: str
) -> None:
    data = from_records([(1, record(**fields))], name="n", source="s")
    assert [q.tier for q in data.questions] == [tier, tier]
    plain = from_records([(1, record())], name="n", source="s")
    assert (data.hash == plain.hash) == (not tier)


ROWS = [
    {"question": "Who wrote Emma?", "gold": "Jane Austen", "level": 1.0, "twin": "p1"},
    {"question": "Who wrote Zorb?", "answerable": False, "level": None, "twin": "p1"},
]


def test_a_tier_and_a_pair_survive_from_a_table_to_a_run_and_back(tmp_path: Path) -> None:
    table = tmp_path / "mine.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    name = f"file:{table}#tier=level,pair=twin"
    expected = {"Who wrote Emma?": ("1", "p1"), "Who wrote Zorb?": ("", "p1")}
    assert {q.text: (q.tier, q.pair) for q in datasets.load_dataset(name).questions} == expected
    engine = ScriptedEngine(lambda request: "It is Jane Austen.", name="base")
    few = {"resamples": 100, "draws.k": 2, "nli": "rules"}
    sayso.run(
        "selective", model=engine, data=name, cache=tmp_path / "cache", out=tmp_path / "run",
        settings=few, report=False,
    )  # fmt: skip
    folder = RunFolder.open(tmp_path / "run")
    stored = {q.text: (q.tier, q.pair) for q in folder.read("questions", Question)}
    assert stored == expected
    assert {r.question: (r.tier, r.pair) for r in folder.read("answers", AnswerRecord)} == expected

    assert execute(["export", str(tmp_path / "run"), str(tmp_path / "answers.csv")]) == 0
    command = ["run", "selective", "--answers", str(tmp_path / "answers.csv"), "--nli", "rules"]
    assert execute([*command, "--out", str(tmp_path / "again"), "--set", "resamples=100"]) == 0
    again = RunFolder.open(tmp_path / "again").read("questions", Question)
    assert {q.text: (q.tier, q.pair) for q in again} == expected


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
def test_a_few_entities_of_world_begin_with_the_best_known(limit: int) -> None:
    """A small model knows nothing obscure: without tier 1 its J would be undefined."""
    drawn = datasets.load_dataset("world", limit=limit)
    tiers = {q.entity: q.tier for q in drawn.questions if not q.pair}
    assert len(tiers) == limit
    counted = [list(tiers.values()).count(tier) for tier in "1234"]
    assert counted == sorted(counted, reverse=True)
    assert counted[0] - counted[-1] <= 1


def test_one_tier_can_be_asked_alone() -> None:
    drawn = datasets.load_dataset("world", tiers=("1",), limit=7)
    assert {q.tier for q in drawn.questions} == {"1"}
    with pytest.raises(InputError, match="tier '9' is not in world; it has 1, 2, 3, 4"):
        datasets.load_dataset("world", tiers=("9",))
    with pytest.raises(InputError, match="tier '1' is not in world-50; it has no tiers"):
        datasets.load_dataset("world-50", tiers=("1",))
