"""Answers that a page shows, by the gap between how sure the words sound and what draws say.

Three stand at its top, and the most unfaithful ones of each method in a section, with their draws.
"""

from __future__ import annotations

import math
from collections.abc import Set
from itertools import groupby

from sayso.harmless import block, line
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.faithfulness.rows import load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Estimate, Generation, Question, Results, Verdict
from sayso.report.answers import golds_text
from sayso.report.numbers import FORMS, percent, plain_number
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, example
from sayso.storage.run_folder import Manifest, RunFolder


def examples(folder: RunFolder, manifest: Manifest, form: str, method: str) -> ChosenExamples:
    """Return the answers of a method whose words fit the draws best, worst, and as the median."""
    every = load_rows(stored_run(folder), settings_of_run(manifest, Settings()))
    rows = next((r for r in every if r.form == form and r.method == method), None)
    if rows is None or not rows.used.any():
        return NO_EXAMPLES
    used = rows.take(rows.used)
    gap = abs(used.d - used.c)
    order = sorted(range(len(gap)), key=lambda i: (gap[i], used.c[i], i))
    places = dict.fromkeys([order[0], order[-1], order[(len(order) - 1) // 2]])
    names = ("Words that fit", "Words that do not fit", "The median answer")
    answers = _stored_answers(folder, {used.answers[at] for at in places})
    questions = {q.id: q for q in folder.read("questions", Question)}
    shown = []
    for what, at in zip(names, places, strict=False):
        question, right = questions[used.question[at]], used.right[at]
        text = answers[used.answers[at]].text if used.answers[at] in answers else ""
        kind = "" if math.isnan(right) else "correct" if right else "incorrect"
        sure, agree = percent(float(used.d[at]), 0), f"{used.j[at]:.0f} of {used.k[at]:.0f}"
        note = f"Its words sound {sure} sure; {agree} draws agree."
        truth = golds_text(question)
        shown.append(example(what, question.text, truth, text, kind=kind, note=note))
    rule = (
        "Chosen by the distance between how sure the words sound and the share of draws that "
        "agree: the smallest (if tied, the least sure), the largest, and the median."
    )
    return ChosenExamples(shown, rule)


def _stored_answers(folder: RunFolder, wanted: Set[str]) -> dict[str, Generation]:
    """Return some answers by id; only they are kept in memory."""
    return {
        g.id: g
        for table in folder.tables("generations")
        for g in folder.iter(table, Generation)
        if g.id in wanted
    }


#: characters of one answer or draw that the page shows, and of the answer in its closed line
SHOWN_CHARACTERS, EXCERPT = 1200, 90
#: answers that the page shows, as many of each method and form
MOST_WORST = 24
#: letter of a ``-contradict`` verdict -> (sign, words, class of the style sheet)
VERDICT_MARKS = {
    "c": ("✗", "contradicts", "v-incorrect"),
    "n": ("✓", "does not contradict", "v-correct"),
    "e": ("✓", "says the same", "v-correct"),
    "p": ("∅", "asserts nothing", "v-omitted"),
    "?": ("?", "not read", "v-missing"),
    "x": ("?", "no draw", "v-missing"),
}


def worst(folder: RunFolder, results: Results) -> list[dict[str, object]]:
    """Return the most unfaithful answers of each method and form with their texts, for the page."""
    gaps = [(e, dict(e.where)) for e in results.each("gap") if e.value is not None]
    gaps.sort(key=lambda gap: list(FORMS).index(gap[1]["form"]))
    groups = groupby(gaps, lambda gap: (gap[1]["form"], gap[1]["method"]))
    by_method = [[*group] for _, group in groups]
    gaps = [gap for some in by_method for gap in some[: max(1, MOST_WORST // len(by_method))]]
    if not gaps:
        return []
    questions = {q.id: q for q in folder.read("questions", Question)}
    answers = _stored_answers(folder, {place["answer"] for _, place in gaps})
    drawn: dict[tuple[str, str], dict[int, str]] = {}
    for g in (
        folder.iter("generations/draws", Generation) if folder.has("generations/draws") else ()
    ):
        text = block(g.text[:SHOWN_CHARACTERS]) if g.problem is None else "(the request failed)"
        drawn.setdefault((g.question, g.method), {})[g.request.sample] = text
    letters: dict[tuple[str, str], list[str]] = {}
    for table in folder.tables("verdicts"):
        for v in folder.iter(table, Verdict) if table.endswith("-contradict") else ():
            if (of := v.target.partition("#")[0]) in answers and v.raw:
                letters.setdefault((of, v.asked), []).append(v.raw)
    found = []
    for e, place in gaps:
        answer, question = answers.get(place["answer"]), questions.get(place["question"])
        if answer is not None and question is not None:
            plain = drawn.get((question.id, "plain"), {})
            draws = drawn.get((question.id, answer.method), plain)
            raw = _fitting(letters.get((answer.id, question.id), []), e).ljust(len(draws), "?")
            marks = [VERDICT_MARKS.get(letter, VERDICT_MARKS["?"]) for letter in raw]
            texts = [draws[at] for at in sorted(draws)]
            found.append(
                {
                    **_told(e),
                    "method": METHOD_LABELS.get(place["method"], line(place["method"], 40)),
                    "form": place["form"],
                    "form_name": FORMS[place["form"]],
                    "question": line(question.text, 400),
                    "answer": block(answer.text[:SHOWN_CHARACTERS]),
                    "excerpt": line(answer.text, EXCERPT),
                    "draws": [*zip(marks, texts, strict=False)],
                }
            )
    return found


def _fitting(letters: list[str], e: Estimate) -> str:
    """Return the comparison with as many contradictions: an answer may assert several things."""
    wrong = round((e.denominator or 0) - (e.numerator or 0))
    return next((raw for raw in letters if raw.count("c") == wrong), letters[0] if letters else "")


def _told(e: Estimate) -> dict[str, object]:
    """Return how far words and confidence are apart, as a number and in words."""
    gap, agree, k = e.value or 0.0, e.numerator or 0.0, e.denominator or 0.0
    sure = agree / k if k else 0.0
    return {
        "gap": f"+{plain_number(gap)}" if gap > 0 else plain_number(gap),
        "sounds": "surer than it is" if gap > 0 else "less sure than it is",
        "summary": f"Its words are {plain_number(min(1.0, max(0.0, sure + gap)))} decisive; "
        f"{agree:.0f} of {k:.0f} answered draws do not contradict it ({plain_number(sure)})",
    }
