"""Answers by the gap between how sure their words sound and the share of draws that agree.

A page shows three at its top, and the most unfaithful ones with their draws.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from sayso.harmless import block, line
from sayso.protocols.faithfulness.rows import load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Generation, Question, Verdict
from sayso.report.answers import golds_text
from sayso.report.numbers import percent, signed_number
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, example
from sayso.storage.run_folder import Manifest, RunFolder


class MeasuredClaim(NamedTuple):
    """A claim of an answer: decisiveness and confidence, from ``agree`` of ``draws`` draws.

    ``right`` is 1, 0, or NaN where nobody could tell; ``target`` names it in verdicts.
    """

    question: Question
    answer: Generation
    target: str
    decisiveness: float
    confidence: float
    agree: float
    draws: float
    right: float

    @property
    def gap(self) -> float:
        """How far the words are surer than the draws; below 0, less sure."""
        return self.decisiveness - self.confidence

    @property
    def counts(self) -> str:
        """How many draws agree."""
        return f"{self.agree:.0f} of {self.draws:.0f} samples do not contradict it."


def measured_claims(
    folder: RunFolder, manifest: Manifest, form: str, method: str
) -> list[MeasuredClaim]:
    """Return the claims of a method with decisiveness and confidence, in the order of the run."""
    run = stored_run(folder)
    every = load_rows(run, settings_of_run(manifest, Settings()))
    held = [rows.take(rows.used) for rows in every if (rows.form, rows.method) == (form, method)]
    wanted = {answer for rows in held for answer in rows.answers}
    answers = {
        g.id: g
        for table in folder.tables("generations")
        for g in folder.iter(table, Generation)
        if g.id in wanted
    }
    questions = {q.id: q for q in run.questions}
    return [
        MeasuredClaim(questions[question], answers[answer], target, *map(float, numbers))
        for rows in held
        for question, answer, target, *numbers in zip(
            *(rows.question, rows.answers, rows.targets),
            *(rows.d, rows.c, rows.j, rows.k, rows.right),
            strict=True,
        )
        if answer in answers
    ]


def examples(claims: Sequence[MeasuredClaim]) -> ChosenExamples:
    """Return the claims whose words fit the draws best, worst, and as the median."""
    order = sorted(claims, key=lambda one: (abs(one.gap), one.confidence))
    if not order:
        return NO_EXAMPLES
    names = ("The words that fit best", "The words that fit worst", "The median answer")
    places = dict.fromkeys([0, len(order) - 1, (len(order) - 1) // 2])
    shown = []
    for what, one in zip(names, (order[at] for at in places), strict=False):
        kind = {1.0: "correct", 0.0: "incorrect"}.get(one.right, "")
        sure = percent(one.decisiveness, 0)
        note = f"Its words sound {sure} sure; {one.counts}"
        asked, truth = one.question.text, golds_text(one.question)
        shown.append(example(what, asked, truth, one.answer.text, kind=kind, note=note))
    rule = (
        "Chosen by the distance between how sure the words sound and the share of samples "
        "that do not contradict it: the smallest (if tied, the least sure), the largest, and the "
        "median."
    )
    return ChosenExamples(shown, rule)


# ---- the most unfaithful answers, each with its draws

#: characters of one answer or draw that the page shows, and of the answer in its closed line
SHOWN_CHARACTERS, EXCERPT = 1200, 90
#: answers that the page shows
MOST_WORST = 8
#: letter of a ``-contradict`` verdict -> (sign, words, class of the style sheet)
VERDICT_MARKS = {
    "c": ("✗", "contradicts", "v-incorrect"),
    "n": ("✓", "does not contradict", "v-correct"),
    "e": ("✓", "says the same", "v-correct"),
    "p": ("∅", "asserts nothing", "v-omitted"),
    "?": ("?", "not read", "v-missing"),
    "x": ("?", "no draw", "v-missing"),
}


def worst(folder: RunFolder, claims: Sequence[MeasuredClaim]) -> list[dict[str, object]]:
    """Return the claims whose words are furthest from their draws, with these, for the page."""
    order = sorted(claims, key=lambda one: (-abs(one.gap), one.answer.id, one.question.id))
    chosen = order[:MOST_WORST]
    draws = _draws(folder, {one.question.id for one in chosen})
    letters = _comparisons(folder, {one.target for one in chosen})
    found: list[dict[str, object]] = []
    for one in chosen:
        answer, question = one.answer, one.question
        own = draws.get((question.id, answer.method), draws.get((question.id, "plain"), {}))
        raw = letters.get((one.target, question.id), "").ljust(len(own), "?")
        marks = [VERDICT_MARKS.get(letter, VERDICT_MARKS["?"]) for letter in raw]
        found.append(
            {
                "gap": signed_number(one.gap),
                "question": line(question.text, 400),
                "answer": block(answer.text[:SHOWN_CHARACTERS]),
                "excerpt": line(answer.text, EXCERPT),
                "counts": one.counts,
                "draws": [*zip(marks, (own[at] for at in sorted(own)), strict=False)],
            }
        )
    return found


def _draws(folder: RunFolder, asked: Set[str]) -> dict[tuple[str, str], dict[int, str]]:
    """Return the draws of some questions, by question and method, as the page shows them."""
    found: dict[tuple[str, str], dict[int, str]] = {}
    table = "generations/draws"
    for g in folder.iter(table, Generation) if folder.has(table) else ():
        if g.question in asked:
            text = block(g.text[:SHOWN_CHARACTERS]) if g.problem is None else "(the request failed)"
            found.setdefault((g.question, g.method), {})[g.request.sample] = text
    return found


def _comparisons(folder: RunFolder, claims: Set[str]) -> dict[tuple[str, str], str]:
    """Return how some claims were compared with draws, a letter for each, by what was asked."""
    return {
        (v.target, v.asked): v.raw
        for table in folder.tables("verdicts")
        if table.endswith("-contradict")
        for v in folder.iter(table, Verdict)
        if v.target in claims and v.raw
    }
