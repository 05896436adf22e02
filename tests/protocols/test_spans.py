"""Values are placed without a look at the truth: where a span ends tells nothing of right."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.judges.judge import Item
from sayso.protocols.probes import NOWHERE, BlindRules
from sayso.records import Estimate, Generation, Gold, Question, Request, ask, slice_text
from sayso.runs.result import Result
from support.scripted_world import Fact, Mind, chance, facts, prior, records, write


class Careless(Mind):
    """A mind whose log-probabilities hang on the word alone, never on what is true.

    Values are common nouns and unlikely, the words around them are likely. The rules cut a right
    noun out to the letter, and take a wrong one with its clause.
    """

    def __call__(self, request: Request) -> Generation:
        text = request.messages[-1].content
        entity = next((e for e in self.by_entity if f"about {e}," in text), None)
        if entity is None:
            return super().__call__(request)
        sentences = []
        for fact in self.by_entity[entity]:
            if self.hedges(fact, "ncertainty" in text):
                sentences.append((f"I am not sure what the {fact.aspect} of {entity} is.", -0.3))
                continue
            sentences.append((f"The {fact.aspect} of {entity} is known as", -0.1))
            said = self.value(fact, "greedy")
            sentences.append((f"{said}.", self.certain(fact, said)))
        return self._reply(request, sentences)


def wrong(fact: Fact, draw: object) -> str:
    """Return a value of the type's prior that is not the right one."""
    tries = (prior(fact.type, "wrong", fact.question, turn).lower() for turn in range(1000))
    return next(value for value in tries if value != fact.value)


def careless(folder: Path, kind: type[Mind] = Careless) -> Result:
    """Half of the facts are right, and 40 % are hedged when told to: both by chance."""
    world = [f._replace(value=f.value.lower()) for f in facts(120)]
    mind = kind(
        world,
        lambda f: float(chance("which", f.question) < 0.5),
        hedges=lambda f, instructed: instructed and chance("blind", f.question) < 0.4,
        certain=lambda f, value: -2.0 - chance("lp", f.question),
        guess=wrong,
    )
    data = write(folder / "world.jsonl", records(world))
    return sayso.run(
        model=mind.engine(), data=str(data), out=folder / "r", cache=folder / "cache", report=False
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return careless(tmp_path_factory.mktemp("careless"))


def one(result: Result, name: str, where: str = "form:long") -> Estimate:
    (estimate,) = [e for e in result.estimates if e.name == name and slice_text(e.where) == where]
    return estimate


def covers(estimate: Estimate, value: float) -> bool:
    assert estimate.low is not None, estimate
    assert estimate.high is not None, estimate
    return estimate.low <= value <= estimate.high


@pytest.mark.parametrize("form", ["short", "long"])
def test_careless_log_probs_know_nothing(found: Result, form: str) -> None:
    """Half of the facts are right, the log-probs do not know which: only the span could tell."""
    where = f"form:{form}"
    estimate = one(found, "auroc_incorrect_within", where)
    assert estimate.value == pytest.approx(0.5, abs=0.1), estimate
    assert covers(estimate, 0.5), estimate
    assert covers(one(found, "unspoken_knowledge", where), 0)


def asked(i: int, gold: str | None, kind: str = "a") -> Question:
    golds = (Gold(gold),) if gold is not None else None
    return Question(f"{kind}{i}", "d", f"{kind}{i}?", golds, domain=kind)


def test_golds_are_lent_by_the_next_question_of_the_type() -> None:
    questions = [
        asked(0, "red"),
        asked(1, "red"),
        asked(2, "blue"),
        asked(3, "gray"),
        asked(4, None),
        asked(0, "x", "alone"),
    ]
    blind = BlindRules(questions)
    lent = [[golds[0].value for golds in blind.lenders(q)] for q in questions]
    # around the end, each value once, never its own; a question without golds borrows them all
    assert lent[:2] == [["blue", "gray"], ["blue", "gray"]]
    assert lent[2:4] == [["gray", "red"], ["red", "blue"]]
    assert lent[4:] == [["red", "blue", "gray"], []]


def placed(text: str, question: Question, others: list[Question]) -> Any:
    said = Generation(ask("x"), id="g", question=question.id, form="short", text=text)
    (verdict,) = BlindRules([question, *others]).grade([Item(said, (question,))])
    assert (verdict.target, verdict.asked) == ("g", question.id)
    return verdict.stance, verdict.answer_start, verdict.answer_end, verdict.content


def test_no_gold_makes_a_difference() -> None:
    """Whatever is true of what the text says, or of what is lent, the place is the same."""
    text = "It is probably known as the miller of the valley."
    names = ["miller", "weaver", "potter", "smith"]
    found = set()
    for turn in range(
        len(names)
    ):  # each is the gold once; the text states one that is lent, or not
        golds = [*names[turn:], *names[:turn]]
        first, *rest = [asked(i, gold) for i, gold in enumerate(golds)]
        found.add(placed(text, first, rest))
    assert len(found) == 1
    ((stance, start, end, content),) = found
    assert (stance, content) == ("hedged", "incorrect")
    assert "miller" in text[start:end]
    # the only one of its type, and right: nothing is lent that the text could state
    assert placed(text, asked(0, "miller"), []) == (stance, start, end, content)
    assert NOWHERE[0].value not in text


def test_a_run_without_spans_says_to_run_again(found: Result, tmp_path: Path) -> None:
    """What ``measure`` finds in a folder of before: no value, the reason, what is to be done."""
    old = tmp_path / "old"
    shutil.copytree(found.path, old)
    for form in ("short", "long"):
        (old / "verdicts" / f"{form}-spans.parquet").unlink()
    result = sayso.measure(old)
    for form in ("short", "long"):
        for name in ("auroc_incorrect_within", "unspoken_knowledge"):
            estimate = one(result, name, f"form:{form}")
            assert estimate.value is None
            assert estimate.problem is not None
            assert "run the same command again" in estimate.problem
        assert one(result, "J", f"form:{form};policy:own_logprob").problem == estimate.problem
        assert one(result, "J", f"form:{form};policy:type").value is not None
    here, there = (
        [e for e in r.estimates if e.name == "J" and "policy" not in slice_text(e.where)]
        for r in (found, result)
    )
    assert here == there  # all the rest is as it was


def test_running_again_places_them_without_asking(found: Result) -> None:
    for form in ("short", "long"):
        (found.path / "verdicts" / f"{form}-spans.parquet").unlink()

    class Gone(Careless):
        def __call__(self, request: Request) -> Generation:
            raise AssertionError("asked again")

    after = careless(found.path.parent, Gone)
    assert one(after, "unspoken_knowledge") == one(found, "unspoken_knowledge")
    assert after.estimates == found.estimates
