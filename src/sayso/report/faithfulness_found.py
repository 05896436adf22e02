"""Finding a number among the estimates of a faithfulness run: ``form:short;method:vanilla;…``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sayso.records import Estimate, Generation, Question
from sayso.report.clean import block, line
from sayso.report.selective_numbers import plain
from sayso.store import RunFolder

#: keys of a place that any text may follow, to its end
LAST = ("domain", "question", "reason")
#: characters of one answer or draw that the page shows
SHOWN = 1200
METHODS = {
    "vanilla": "Vanilla",
    "granularity": "Granularity",
    "uncertainty": "Uncertainty",
    "uncertainty_plus": "Uncertainty+",
    "metacognitive": "Metacognitive",
    "uncle": "UNCLE",
}


def parse(where: str) -> dict[str, str]:
    """Take a place apart; what follows ``domain:`` or ``question:`` may hold ``;`` and ``:``."""
    found: dict[str, str] = {}
    rest = "" if where == "all" else where
    while rest:
        key, _, tail = rest.partition(":")
        if key in LAST:
            found[key] = tail
            return found
        found[key], _, rest = tail.partition(";")
    return found


class Found:
    """The estimates of a run by name, form and method."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self.all = list(estimates)
        self.parsed = [(e, parse(e.where)) for e in self.all]
        self._index = {
            (e.name, p.get("form", ""), p.get("method", "")): e
            for e, p in self.parsed
            if not p.keys() - {"form", "method"}
        }

    @property
    def forms(self) -> list[str]:
        """The forms that this run measured, short before long."""
        present = {p.get("form") for _, p in self.parsed}
        return [form for form in ("short", "long") if form in present]

    def methods(self, form: str) -> list[str]:
        """Return the methods of a form that have numbers."""
        return [p["method"] for _, p in self.each("skill", form=form) if len(p) == 2]

    def get(self, name: str, form: str = "", method: str = "") -> Estimate:
        """Return an estimate; one that was not computed comes back undefined, with the reason."""
        found = self._index.get((name, form, method))
        return found or Estimate(name, problem="not computed in this run")

    def each(self, name: str, **where: str) -> Iterator[tuple[Estimate, dict[str, str]]]:
        """Yield (estimate, place) of every estimate of this name whose place has these parts."""
        for estimate, place in self.parsed:
            if estimate.name == name and where.items() <= place.items():
                yield estimate, place


class Worst(NamedTuple):
    """An answer whose words and confidence are far apart, with its draws to read."""

    method: str
    form: str
    question: str
    answer: str
    gap: str
    told: str
    draws: list[str]


def worst(folder: RunFolder, estimates: Iterable[Estimate]) -> list[Worst]:
    """Return the most unfaithful answers of a run with the texts that they stand for."""
    found = [(e, p) for e, p in Found(estimates).each("gap") if e.value is not None]
    if not found:
        return []
    questions = {q.id: q for q in folder.read("questions", Question)}
    wanted = {p["answer"] for _, p in found}
    asked = {p["question"] for _, p in found}
    answers: dict[str, Generation] = {}
    draws: dict[str, list[str]] = {}
    for table in folder.tables("generations"):
        for g in folder.iter(table, Generation):
            if g.id in wanted:
                answers[g.id] = g
            if table == "generations/draws" and g.question in asked and g.method == "plain":
                said = block(g.text[:SHOWN]) if g.problem is None else "(the request failed)"
                draws.setdefault(g.question, []).append(said)
    rows = []
    for e, p in found:
        answer, question = answers.get(p["answer"]), questions.get(p["question"])
        if answer is None or question is None or e.value is None:
            continue
        told = f"{e.numerator or 0:.0f} of {e.denominator or 0:.0f} draws do not contradict it"
        rows.append(
            Worst(
                METHODS.get(p["method"], p["method"]),
                p["form"],
                line(question.text, 400),
                block(answer.text[:SHOWN]),
                plain(e.value),
                told,
                draws.get(p["question"], []),
            )
        )
    return rows
