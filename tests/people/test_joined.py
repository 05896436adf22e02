"""What several annotators say of one item: one verdict, and whether a majority gave it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import sayso
from sayso.people.agreement import agreement, agreement_sheet
from sayso.people.joined import joined_verdict
from sayso.people.labels import LabeledItem, LabelStore, verdict_of_person
from sayso.records import Verdict
from support.label_runs import answers_run, as_judge, label_run

ITEM = LabeledItem("answer", "short", "s1", "q1")
LABELS = {
    "right": {"stance": "committed", "content": "correct"},
    "wrong": {"stance": "committed", "content": "incorrect"},
    "stated": {"stance": "committed", "content": ""},
    "hedged right": {"stance": "hedged", "content": "correct"},
    "hedged wrong": {"stance": "hedged", "content": "incorrect"},
    "silent": {"stance": "abstained"},
    "asks": {"stance": "asked_back"},
}


def said(words: str, item: LabeledItem = ITEM) -> dict[str, Verdict]:
    """Return the verdicts of annotators A, B, … who say these words."""
    return {
        name: verdict_of_person(item, name, LABELS[one.strip()])
        for name, one in zip("ABCDE", words.split(","), strict=False)
    }


def words(verdict: Verdict) -> str:
    told = {"stance": verdict.stance, "content": verdict.content or ""}
    if verdict.stance not in ("committed", "hedged"):
        told = {"stance": verdict.stance}
    return next(name for name, label in LABELS.items() if label == told)


@pytest.mark.parametrize(
    ("given", "joined", "majority"),
    [
        ("right", "right", True),
        ("right, hedged right, right", "right", True),
        ("right, wrong, wrong", "wrong", True),
        # two of three hear doubt, though each says something else
        ("right, hedged right, silent", {"hedged right", "silent"}, True),
        ("right, hedged right, hedged wrong, hedged right", "hedged right", True),
        # the label given most often, without a majority
        ("right, right, wrong, silent, silent", {"right"}, False),
        ("right, wrong, silent, asks, right", {"right"}, False),
        # who cannot tell says nothing of right and wrong
        ("stated, stated, right", "right", True),
        ("stated, stated, silent", "stated", False),
        # one by chance
        ("right, wrong", {"right", "wrong"}, False),
        ("right, silent", {"right", "silent"}, False),
    ],
)
def test_the_label_given_most_often(given: str, joined: str | set[str], majority: bool) -> None:
    found = joined_verdict(ITEM, said(given), lambda v: v.value)
    assert words(found.verdict) in ({joined} if isinstance(joined, str) else joined)
    assert found.majority is majority


def test_whatever_most_say_the_joined_verdict_says_too() -> None:
    draw = random.Random(3)
    ties = Counter[str]()
    for number in range(400):
        item = LabeledItem("answer", "short", f"s{number}", f"q{number}")
        given = said(",".join(draw.choices([*LABELS], k=draw.randint(1, 5))), item)
        found = joined_verdict(item, given)
        assert found.verdict in given.values()
        shuffled = dict(draw.sample([*given.items()], len(given)))
        assert joined_verdict(item, shuffled) == found
        for read in (
            lambda v: v.value,
            lambda v: v.stance,
            lambda v: (v.stance, v.content) if v.content else None,
        ):
            votes = Counter(vote for one in given.values() if (vote := read(one)) is not None)
            most, times = votes.most_common(1)[0] if votes else (None, 0)
            if 2 * times > len(given):
                assert read(found.verdict) == most
                assert joined_verdict(item, given, read).majority
        two = said("right, silent", item)
        ties[words(joined_verdict(item, two).verdict)] += 1
    assert 150 < ties["right"] < 250


def test_of_sureness_it_is_the_mean() -> None:
    item = LabeledItem("sureness", "short-decisive", "s1#0", "q1")
    given = {
        name: verdict_of_person(item, name, {"number": number})
        for name, number in (("A", 0.2), ("B", 0.6))
    }
    verdict, majority = joined_verdict(item, given)
    assert verdict.number == pytest.approx(0.4)
    assert majority


# ---- the same verdict everywhere


@pytest.fixture(scope="module")
def differing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 160 answers, of which two annotators share 60 and differ on a third."""

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        if number % 3 == 0 and name == "B":
            return {"stance": "hedged", "content": "correct"}
        return as_judge(number, read, name)

    run = answers_run(tmp_path_factory.mktemp("differing") / "run", 160)
    sayso.measure(run)
    label_run(run, "AB", says, n=60, shared=60)
    return run


def test_only_the_first_table_leaves_ties_out(differing: Path) -> None:
    result = agreement(differing, resamples=50)
    (kind,) = result.kinds
    with LabelStore.open(differing) as store:
        values: dict[LabeledItem, set[str | None]] = {}
        for one in store.labels():
            values.setdefault(one.item, set()).add(one.verdict.value)
    ties = sum(len(some) > 1 for some in values.values())
    assert kind.undecided == ties > 5
    assert kind.get("split").value > 0  # type: ignore[operator]
    for of in ("verdict", "stance"):
        assert kind.get("agreement", of=of, between="judge and people").n == 60
        assert (
            sum(e.value for e in kind.numbers if e.where[:1] == (("of", of),) and e.name == "items")
            == 60
        )
    main = agreement_sheet([result]).main
    assert main is not None
    assert main.columns[-1] == "no majority"
    assert f"{ties} without a majority" in main.notes[0]


def test_one_annotator_is_of_one_mind(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    label_run(run, "A", as_judge, n=20)
    result = agreement(run, resamples=50)
    main = agreement_sheet([result]).main
    assert main is not None
    assert main.columns == ("people confirm it", "people contradict it")
    assert "split" not in {e.name for e in result.kinds[0].numbers}
