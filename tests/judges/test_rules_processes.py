"""The offline judge in several processes: the same verdicts, in the same order."""

from __future__ import annotations

import os

import pytest

from sayso.judges.judge import Item
from sayso.judges.rules import judge as rules
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.probes import BlindRules
from sayso.records import Alternative, Generation, Gold, Question, ask

TEXTS = (
    "In 1815.",
    "I am not sure, perhaps 1815.",
    "I don't know.",
    "",
    "In 1900.",
    "En 1815, creo yo que nació.",
)


def item(number: int) -> Item:
    """A short answer, a paragraph about two aspects, or a failed one."""
    born = Question(f"b{number}", "t", f"When was Ada {number} born?", (Gold("1815"),))
    place = Question(f"p{number}", "t", f"Where was Ada {number} born?", (Gold("London"),))
    long = number % 5 == 0
    generation = Generation(
        ask("a prompt"),
        id=f"g{number}",
        form="long" if long else "short",
        text=f"Ada {number} was born in London. " * long + TEXTS[number % len(TEXTS)],
        logprobs=(-0.5,),
        alternatives=((Alternative(1, -0.5),),),
        problem="truncated" if number % 11 == 0 else None,
    )
    return Item(generation, (born, place) if long else (born,))


def test_verdicts_do_not_depend_on_the_number_of_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "BLOCK", 8)
    monkeypatch.setattr(rules, "BLOCKS", 2)
    items = [item(n) for n in range(60)]
    expected = RulesJudge().grade(items)
    asked = [(one.generation.id, q.id) for one in items for q in one.questions]
    assert [(v.target, v.asked) for v in expected] == asked
    assert {v.problem for v in expected} >= {None, "truncated"}
    for jobs in (2, 3):
        assert RulesJudge(jobs).grade(items) == expected


def test_two_judges_side_by_side_read_what_each_reads_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "BLOCK", 8)
    monkeypatch.setattr(rules, "BLOCKS", 2)
    items = [item(n) for n in range(60)]
    blind = BlindRules([question for one in items for question in one.questions])
    some = [one for one in items if int(one.generation.id[1:]) % 3]
    expected = RulesJudge().grade(items), blind.grade(some)
    ids = {one.generation.id for one in some}
    for jobs in (1, 2):
        assert RulesJudge(jobs).grade_beside(items, blind, ids) == expected
    assert RulesJudge().grade_beside(items, blind, ()) == (expected[0], [])


def test_few_answers_are_read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    whole = rules._grade_block

    def noted(items: list[Item]) -> object:
        read.append(os.getpid())
        return whole(items)

    monkeypatch.setattr(rules, "_grade_block", noted)
    items = [item(n) for n in range(30)]
    assert RulesJudge(4).grade(items) == whole(items)
    assert read == [os.getpid()]


def test_blocks_hold_every_answer_once_and_only_what_is_read() -> None:
    items = [item(n) for n in range(2000)]
    blocks = list(rules._blocks(items))
    assert [i.generation.id for b in blocks for i in b] == [i.generation.id for i in items]
    assert len(blocks) > 1
    # 400 paragraphs of two questions count 12 each, 1,600 short answers one each
    assert len(blocks) == -(-(400 * 12 + 1600) // rules.BLOCK)
    first = blocks[0][0].generation
    assert (first.text, first.alternatives) == (items[0].generation.text, None)
