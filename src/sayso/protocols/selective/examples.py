"""The answers at the top of a selective page, chosen by what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

    def nobody(self, at: int) -> str:
        """Return why a question has no answer; "" of one that has."""
        if self.rows.unanswerable is None or not self.rows.unanswerable[at]:
            return ""
        passage = self._questions[self.rows.facts[at][1]].context
        return "The passage does not say it" if passage else "Nobody can answer this"

    @property
    def kinds(self) -> dict[tuple[str, str], list[int]]:
        """The answers that were read, by why nobody can answer the question, and what they did.

        To refuse by policy is a kind of its own: it says nothing of what can be known.
        """
        found: dict[tuple[str, str], list[int]] = {}
        for at, did in enumerate(self.fates):
            refused = self.rows.stance is not None and self.rows.stance[at] == "refused_by_policy"
            if did != "unread":
                found.setdefault((self.nobody(at), "refused" if refused else did), []).append(at)
        return found

    def example(self, at: int, what: str) -> Example:
        asked, short = self.rows.facts[at]
        question, did = self._questions[short], self.fates[at]
        ends = {"declined": "It declines.", "wrong": "It states a value."}
        why, end = self.nobody(at), ends.get(did, "")
        note = f"{why}. {end}" if why else end * (did == "declined")
        text, truth = self._answers.get(asked, ""), golds_text(question)
        return example(what, question.text, truth, text, kind=CHIPS.get(did, ""), note=note)


#: what an answer is an example of, and the answers that it is chosen from, as places of rows
Group = tuple[str, list[int]]


def chosen_examples(
    folder: RunFolder,
    forms: Mapping[str, FormRows],
    declining: str,
    scores: Mapping[str, Sequence[str]],
) -> ChosenExamples:
    """Return three answers of the form ``declining``, else of the first with ranked ``scores``.

    Of questions of both kinds: one that was rightly declined, and one that should have been. Else
    a wrong answer that the best score finds, and one that it misses. Then one of the commonest
    kind.
    """
    # a probe is learned from hidden states, which are not read again for a page
    best = ((form, s) for form in forms for s in scores[form] if s in forms[form].scores)
    form, score = (declining, "") if declining in forms else next(best, ("", ""))
    if not form:
        return NO_EXAMPLES
    texts = _FormTexts(folder, forms[form])
    groups = _by_score(texts, score) if score else _by_kind(texts)
    groups.append(("A typical answer", max(texts.kinds.values(), key=len, default=[])))
    chosen: dict[int, Example] = {}
    for what, held in groups:
        found = middle([at for at in held if at not in chosen], texts.length)
        if found is not None:
            chosen[found] = texts.example(found, what)
    by = f" Errors: the least and the most certain by {score_label(score)}." if score else ""
    rule = f"{BY_LENGTH}{by} Typical: from the most common kind (answerable or not, its verdict)."
    return ChosenExamples([*chosen.values()], rule)


def _by_kind(texts: _FormTexts) -> list[Group]:
    """Return the unanswerable questions that were declined, and those that were answered."""
    places = [(at, own) for (why, own), some in texts.kinds.items() if why for at in some]
    return [
        (what, [at for at, own in places if own == did])
        for did, what in (("declined", "Rightly declined"), ("wrong", "Should have declined"))
    ]


def _by_score(texts: _FormTexts, score: str) -> list[Group]:
    """Return the least and the most certain wrong answer."""
    values = texts.rows.scores[score]
    wrong = [at for at, did in enumerate(texts.fates) if did == "wrong"]
    wrong = sorted((at for at in wrong if values[at] == values[at]), key=lambda at: values[at])
    finds = f"An error that {score_label(score)} finds"
    return [(finds, wrong[-1:]), ("An error that it misses", wrong[:1])]
