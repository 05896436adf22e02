"""What is read from answers and stored as verdicts, so that every number can be counted again.

``<stage>-decisive`` holds a verdict for each assertion: ``target`` is ``<answer>#<number>``,
``label`` "assertion", ``number`` its decisiveness, ``raw`` its text, ``start`` its place in a
paragraph. An answer (or an aspect of a paragraph) without one has a verdict labeled "punt" (nothing
asserted) or "omitted".

``<stage>-contradict`` holds a verdict for each assertion, label "read": ``raw`` is a letter for
every draw in order, ``number`` the count of c. c: the draw contradicts; n: it does not; e: equal or
entailed; p: missing, the draw gives no answer; ?: not read; x: no draw.

``<stage>-thought`` is of :mod:`sayso.protocols.thoughts`.

``ambiguous`` holds a verdict for each question that a model read before anything was asked:
``target`` and ``asked`` are the question, ``label`` "ambiguous" or "clear".

Wording and contradiction are read by rules, an NLI model or a language model. None of them has a
default for what it could not read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sayso.engines.engine import Engine
from sayso.judges.ambiguity import LlmAmbiguous
from sayso.judges.contradiction import LlmContradict, answers, contradicts
from sayso.judges.decisiveness import Asserted, LlmDecisive, decisiveness
from sayso.judges.judge import Item, engine_of
from sayso.judges.meaning import Meaning
from sayso.protocols.faithfulness.settings import LABELS, right_answers
from sayso.protocols.protocol import Run, stored_verdicts
from sayso.protocols.thoughts import Pair, ReadsWording, RulesWording
from sayso.records import Generation, InputError, Question, Verdict, is_blank

Triple = tuple[str, str, str]  # question, assertion, draw


# ---- who reads wording, and who compares an assertion with a draw


class ReadsContradiction(Protocol):
    """Whoever says whether a draw contradicts an assertion."""

    signature: str

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return a letter for each triple."""


class RehearsedWording:
    """Whoever reads wording, in a dry run: a text without a reading is one assertion."""

    def __init__(self, wording: ReadsWording) -> None:
        self.wording, self.signature = wording, wording.signature

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Ask a model, and take what is known; rules read nothing."""
        known = {} if isinstance(self.wording, RulesWording) else self.wording.read(pairs)
        unread = [pair for pair in pairs if pair not in known or known[pair].problem == "failed"]
        return {**known, **{pair: Asserted(((pair[1], 1.0),)) for pair in unread}}


class RehearsedContradiction:
    """Rules that compare, in a dry run: they ask nobody, so nothing is read."""

    signature = "rehearsed"

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return n for every triple."""
        return dict.fromkeys(triples, "n")


class RulesContradiction:
    """:func:`sayso.contradicts`."""

    signature = "rules@11"

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n, p for a draw without an answer, or ? where the assertion has no value."""
        letters = {}
        for question, claim, draw in dict.fromkeys(triples):
            value = contradicts(question, claim, draw)
            letter = "n" if value is False else "c" if value else None
            letters[question, claim, draw] = letter or ("?" if answers(question, draw) else "p")
        return letters


class NliContradiction:
    """A model for natural-language inference: the likeliest of its three relations.

    The draw is the premise and the assertion the hypothesis: does the draw bear it out?
    """

    def __init__(self, meaning: Meaning) -> None:
        if not meaning.three:
            raise InputError(
                f"--nli {meaning.name} does not distinguish contradiction from neutral; name a "
                "model with three labels, or pass --set contradict=rules"
            )
        self._meaning = meaning
        self.signature = meaning.signature

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n or e by the largest probability, n of equal ones; ? where there is none."""
        unique = list(dict.fromkeys(triples))
        premises_first = [(question, draw, claim) for question, claim, draw in unique]
        table = self._meaning.table(premises_first) if unique else np.empty((0, 2))
        return {one: _relation(*shares) for one, shares in zip(unique, table.tolist(), strict=True)}


def _relation(entailed: float, denied: float) -> str:
    if np.isnan(entailed) or np.isnan(denied):
        return "?"
    decided = denied != entailed and max(denied, entailed) > 1 - entailed - denied
    return ("c" if denied > entailed else "e") if decided else "n"


def open_wording(how: str, judge: Any, folder: Path | None) -> ReadsWording:
    """Return whoever reads wording by the settings. Raises InputError where it has no model."""
    engine = _engine("decisive", how, judge)
    return RulesWording() if engine is None else LlmDecisive(engine, folder)


def open_contradiction(
    how: str, judge: Any, meaning: Meaning | None, folder: Path | None
) -> ReadsContradiction:
    """Return whoever compares by the settings. Raises InputError where it has no model."""
    if how == "nli":
        if meaning is None:
            raise InputError("contradict nli: no NLI model can be opened here; name one with --nli")
        return NliContradiction(meaning)
    engine = _engine("contradict", how, judge)
    return RulesContradiction() if engine is None else LlmContradict(engine, folder)


def open_ambiguity(how: str, judge: Any, folder: Path | None) -> LlmAmbiguous | None:
    """Return the model that reads questions, if any. Raises InputError where it has to be one."""
    engine = _engine("ambiguous", how, judge)
    return None if engine is None else LlmAmbiguous(engine, folder)


def _engine(step: str, how: str, judge: Any) -> Engine | None:
    """Return the judge's model where it reads: if it must (``judge``), or can (``auto``)."""
    engine = engine_of(judge) if how in ("auto", "judge") else None
    if engine is None and how == "judge":
        raise InputError(f"{step} judge: the judge {judge.name} is not a model; pass --judge MODEL")
    return engine


# ---- ambiguous: which questions have several right answers

AMBIGUOUS = "ambiguous"


def ambiguity_verdicts(model: LlmAmbiguous, questions: Sequence[Question]) -> list[Verdict]:
    """Return a verdict for each question, as a run stores it."""
    pairs = [(q.text, right_answers(q)) for q in questions]
    readings = model.read(pairs)
    read = [(q.id, *readings[pair]) for q, pair in zip(questions, pairs, strict=True)]
    labels = LABELS | {None: None}
    return [
        Verdict(id, id, model.signature, label=labels[value], problem=problem)
        for id, value, problem in read
    ]


def stored_ambiguity(run: Run) -> list[Verdict]:
    """Return what a model read before this run asked; empty where none did."""
    return stored_verdicts(run, AMBIGUOUS)


# ---- <stage>-decisive: how surely each assertion is worded

WITHHELD = ("abstained", "refused_by_policy", "asked_back")


#: texts of draws by question and method, ``None`` where the request failed
Draws = dict[tuple[str, str], list[str | None]]


def draws_of(generations: Iterable[Generation]) -> Draws:
    """Return the draws by (question, method), in order of their sample index."""
    draws: Draws = defaultdict(list)
    for g in sorted(generations, key=lambda g: g.request.sample):
        draws[g.question, g.method].append(g.text if g.problem is None else None)
    return dict(draws)


class WordingJudge:
    """Reads wording as a judge whose verdicts a run stores. ``spans``: of paragraphs."""

    def __init__(self, wording: ReadsWording, draws: Draws, by_id: Mapping[str, Question]) -> None:
        self.wording, self.name, self.signature = wording, wording.signature, wording.signature
        self.spans: dict[tuple[str, str], Verdict] = {}
        self._by_id = by_id
        texts = [
            (by_id[question].text, text)
            for (question, _), of_method in draws.items()
            for text in of_method
            if text is not None
        ]
        self.of_draws = wording.read(texts)
        self._read = Counter(reading.problem or "" for reading in self.of_draws.values())

    @property
    def notices(self) -> list[str]:
        """Who read wording, and how many answers could not be read, by reason."""
        lost = [
            f"decisiveness by {self.signature}: {number:,} of {self._read.total():,} readings are "
            f"missing ({problem})"
            for problem, number in sorted(self._read.items())
            if problem
        ]
        own = getattr(self.wording, "notices", lost)
        return [f"wording was read by {self.signature}", *own]

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the verdicts on every assertion of these answers, joined by ids."""
        pairs = []
        for item in items:
            if item.generation.problem is None:
                pairs += [(q.text, self._text(item.generation, q)) for q in item.questions]
        readings = self.wording.read([p for p in pairs if p[1].strip()])
        new = (reading for pair, reading in readings.items() if pair not in self.of_draws)
        self._read.update(reading.problem or "" for reading in new)
        return [
            verdict
            for item in items
            for question in item.questions
            for verdict in self._verdicts(item.generation, question, readings)
        ]

    def _span(self, g: Generation, question: Question) -> Verdict | None:
        return self.spans.get((g.id, question.id)) if g.form == "long" else None

    def _text(self, g: Generation, question: Question) -> str:
        """Return the answer, or the sentence of a paragraph that speaks of the question."""
        if g.form != "long":
            return g.text
        span = self._span(g, question)
        return "" if span is None or span.start is None else g.text[span.start : span.end]

    def _verdicts(
        self, g: Generation, question: Question, readings: Mapping[Pair, Asserted]
    ) -> list[Verdict]:
        span, text = self._span(g, question), self._text(g, question)
        problem = g.problem.partition(":")[0] if g.problem else None
        if problem is None and g.form == "long":
            problem = "failed" if span is None else span.problem
        label: str | None = "punt"
        if problem is None and (span is None or span.stance not in WITHHELD):
            if span is not None and (span.stance == "omitted" or is_blank(text)):
                label = "omitted"
            elif not is_blank(text):
                reading = readings[question.text, text]
                if reading.assertions:
                    return self._assertions(g, question, span, text, reading.assertions)
                problem = reading.problem
        label = label if problem is None else None
        return [Verdict(g.id, question.id, self.signature, label=label, problem=problem)]

    def _assertions(
        self,
        g: Generation,
        question: Question,
        span: Verdict | None,
        text: str,
        assertions: Sequence[tuple[str, float]],
    ) -> list[Verdict]:
        """Return a verdict for each; of a paragraph, by rules, only the value and its score."""
        if span is not None and isinstance(self.wording, RulesWording):
            value = value_of(g.text, span)
            score = in_paragraph(g.text, text, value)
            assertions = [(value or text, assertions[0][1] if score is None else score)]
        return [
            Verdict(
                f"{g.id}#{number}",
                question.id,
                self.signature,
                label="assertion",
                number=score,
                raw=assertion,
                start=None if span is None else span.start,
                end=None if span is None else span.end,
            )
            for number, (assertion, score) in enumerate(assertions)
        ]


def value_of(text: str, span: Verdict) -> str | None:
    """Return the value inside the aligned sentence, ``None`` where none was placed."""
    if span.answer_start is None or span.answer_end is None:
        return None
    return text[span.answer_start : span.answer_end].strip() or None


def in_paragraph(paragraph: str, sentence: str, value: str | None) -> float | None:
    """Return the decisiveness of a value in its sentence, lowered as far as the rest of the
    paragraph ("some of this may be wrong") lowers the sentence."""
    own = decisiveness(sentence, value) if value else None
    own = decisiveness(sentence) if own is None else own
    alone, around = decisiveness(sentence, sentence), decisiveness(paragraph, sentence)
    if own is None or not alone or around is None or around >= alone:
        return own
    return own * around / alone


# ---- <stage>-contradict: each assertion against every draw


class ContradictionJudge:
    """Compares assertions with draws, as a judge whose verdicts a run stores.

    ``assertions`` are the verdicts of :class:`WordingJudge` on the same answers. ``same``: a
    method's own draws count where it has some, else those of the plain question.
    """

    def __init__(
        self,
        contradiction: ReadsContradiction,
        draws: Draws,
        by_id: Mapping[str, Question],
        wording: WordingJudge,
        *,
        same: bool,
    ) -> None:
        self.contradiction = contradiction
        self.name = self.signature = contradiction.signature
        self.assertions: list[Verdict] = []
        self._read = Counter[str]()
        self._draws, self._by_id, self._wording, self._same = draws, by_id, wording, same

    @property
    def notices(self) -> list[str]:
        """Who compared, and how many comparisons said nothing."""
        lost = [
            f"contradiction by {self.signature}: {self._read[letter]:,} of "
            f"{self._read.total():,} comparisons {why}"
            for letter, why in (
                ("?", "are undecided; such a draw does not count"),
                ("p", "are with a draw that gives no answer (see sample_punt)"),
            )
            if self._read[letter]
        ]
        own = getattr(self.contradiction, "notices", lost)
        return [f"answers were compared by {self.signature}", *own]

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return a verdict with a letter for every draw, for each assertion."""
        method = {i.generation.id: i.generation.method for i in items}
        assertions = [v for v in self.assertions if v.label == "assertion" and v.raw]
        draws = [self._marked(v, method[v.target.partition("#")[0]]) for v in assertions]
        compared = [
            [(mark, (self._by_id[v.asked].text, v.raw or "", text)) for mark, text in marked]
            for v, marked in zip(assertions, draws, strict=True)
        ]
        triples = [triple for own in compared for mark, triple in own if not mark]
        letter = self.contradiction.read(triples)
        self._read.update(letter[triple] for triple in triples)
        raws = ["".join(mark or letter[triple] for mark, triple in own) for own in compared]
        by, counts = self.signature, [float(raw.count("c")) for raw in raws]
        return [
            Verdict(v.target, v.asked, by, label="read", number=count, raw=raw)
            for v, count, raw in zip(assertions, counts, raws, strict=True)
        ]

    def _marked(self, assertion: Verdict, method: str) -> list[tuple[str, str]]:
        """Return (mark, text) of every draw: a mark where there is nothing to compare."""
        own = method if self._same and (assertion.asked, method) in self._draws else "plain"
        question = self._by_id[assertion.asked].text
        marked = []
        for draw in self._draws.get((assertion.asked, own), ()):
            reading = self._wording.of_draws.get((question, draw or ""))
            if draw is None or reading is None:
                marked.append(("x", ""))
            elif reading.assertions:
                marked.append(("", "; ".join(text for text, _ in reading.assertions)))
            else:
                marked.append(("p" if reading.problem is None else "?", ""))
        return marked
