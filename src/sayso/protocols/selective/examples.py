"""The answers at the top of a selective page, chosen by what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sayso.protocols.selective.numbers import score_label
from sayso.protocols.selective.rows import FormRows, fates_of
from sayso.records import Generation, Question
from sayso.report.answers import golds_text
from sayso.report.opening import BY_LENGTH, NO_EXAMPLES, ChosenExamples, Example, example, middle
from sayso.storage.run_folder import RunFolder

#: what an answer did -> the verdict that is shown
CHIPS = {
    "right": "correct", "wrong": "incorrect", "hedged_right": "uncertain",
    "hedged_wrong": "uncertain", "hedged_other": "uncertain",
}  # fmt: skip


class _FormTexts:
    """The texts that the rows of a form stand for, and what each answer did."""

    def __init__(self, folder: RunFolder, rows: FormRows) -> None:
        self.rows, self.fates = rows, fates_of(rows).tolist()
        self._questions = {q.id: q for q in folder.read("questions", Question)}
        answers = folder.iter(f"generations/{rows.form}", Generation)
        self._answers = {g.question: g.text for g in answers if not g.instructed}

    def length(self, at: int) -> float:
        return len(self._answers.get(self.rows.facts[at][0], ""))

    def refused(self, at: int) -> bool:
        return self.rows.stance is not None and bool(self.rows.stance[at] == "refused_by_policy")

    def nobody(self, at: int) -> str:
        """Return why a question has no answer; "" of one that has."""
        if self.rows.unanswerable is None or not self.rows.unanswerable[at]:
            return ""
        passage = self._questions[self.rows.facts[at][1]].context
        return "The passage does not say it" if passage else "Nobody can answer this"

    def example(self, at: int, what: str, note: str) -> Example:
        asked, short = self.rows.facts[at]
        question, kind = self._questions[short], CHIPS.get(self.fates[at], "")
        text, truth = self._answers.get(asked, ""), golds_text(question)
        return example(what, question.text, truth, text, kind=kind, note=note)


def chosen_examples(
    folder: RunFolder,
    forms: Mapping[str, FormRows],
    declining: str,
    scores: Mapping[str, Sequence[str]],
) -> ChosenExamples:
    """Return three answers of the form ``declining``, else of the first with ranked ``scores``.

    Of questions of both kinds: one that was rightly declined, one that should have been, and one
    of the commonest kind. Else a wrong answer that the best score finds, one that it misses, and
    the answer of median score among those of the commonest verdict.
    """
    if declining in forms:
        return _declined_examples(_FormTexts(folder, forms[declining]))
    # a probe is learned from hidden states, which are not read again for a page
    best = ((form, s) for form in forms for s in scores[form] if s in forms[form].scores)
    form, score = next(best, ("", ""))
    return _found_examples(_FormTexts(folder, forms[form]), score) if form else NO_EXAMPLES


def _declined_examples(texts: _FormTexts) -> ChosenExamples:
    """Return an answer that was rightly declined, one that should have been, and a typical one."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for at, did in enumerate(texts.fates):
        if did != "unread":
            # to refuse is to state no value, but it says nothing of what can be known
            own = "refused" if texts.refused(at) else did
            kinds.setdefault((texts.nobody(at), own), []).append(at)
    groups = [
        (
            what,
            [at for (why, own), some in kinds.items() if why and own == did for at in some],
            says,
        )
        for what, did, says in (
            ("Rightly declined", "declined", ", and the answer says so"),
            ("Should have declined", "wrong", ", and it states a value"),
        )
    ]
    common = max(kinds, key=lambda kind: len(kinds[kind]), default=("", ""))
    groups.append(("A typical answer", kinds.get(common, []), ""))
    ends = {"refused": "Read as a refusal by policy.", "declined": "It declined."}
    chosen: dict[int, Example] = {}
    for what, held, says in groups:
        found = middle([at for at in held if at not in chosen], texts.length)
        if found is not None:
            why = f"{texts.nobody(found)}{says}." if texts.nobody(found) else ""
            end = "" if says else ends.get(common[1], "")
            chosen[found] = texts.example(found, what, f"{why} {end}".strip())
    rule = f"{BY_LENGTH} Typical: from the most common kind (answerable or not, and its verdict)."
    return ChosenExamples([*chosen.values()], rule)


def _found_examples(texts: _FormTexts, score: str) -> ChosenExamples:
    """Return a wrong answer that a score finds, one that it misses, and a typical answer."""
    values, missed = texts.rows.scores[score], texts.rows.wrong[texts.rows.judge]
    held = np.flatnonzero(~np.isnan(values) & ~np.isnan(missed)).tolist()
    order = sorted(held, key=lambda at: (values[at], at))
    fates = [texts.fates[at] for at in order]
    errors = [at for at, did in zip(order, fates, strict=True) if did == "wrong"]
    if not errors:
        return NO_EXAMPLES
    common = max(dict.fromkeys(fates), key=fates.count)
    typical = [at for at, did in zip(order, fates, strict=True) if did == common]
    chosen = {errors[-1]: "An error that the score finds"}
    chosen.setdefault(errors[0], "An error that the score misses")
    chosen.setdefault(typical[(len(typical) - 1) // 2], "A typical answer")
    places = {at: f"{order.index(at) + 1:,} of {len(order):,} answers" for at in chosen}
    rule = (
        f"Chosen by the score {score_label(score)}: the least and the most certain wrong answer, "
        "and, of the answers with the most common verdict, the one of median score."
    )
    shown = [
        texts.example(at, what, f"In order of certainty, it is number {places[at]}.")
        for at, what in chosen.items()
    ]
    return ChosenExamples(shown, rule)
