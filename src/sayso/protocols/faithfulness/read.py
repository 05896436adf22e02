"""Who reads decisiveness and who compares two answers: rules, an NLI model, a language model.

A reader of wording turns (question, answer) into assertions with a score; a reader of pairs turns
(question, assertion, sample) into a letter: c contradicts, n does not, e says the same or follows,
p the sample asserts nothing, ? nobody could say. Neither has a default for what it could not read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from sayso.judges.contradiction import LlmContradict, contradicts
from sayso.judges.decisiveness import Asserted, LlmDecisive, about, decisiveness
from sayso.judges.judge import Item, engine_of
from sayso.judges.meaning import Meaning
from sayso.judges.rules.sentences import sentences
from sayso.judges.rules.text import is_english
from sayso.records import Generation, InputError, Question, Verdict

Pair = tuple[str, str]  # question, answer
Triple = tuple[str, str, str]  # question, assertion, sample


class Wording(Protocol):
    """Whoever reads how surely answers speak."""

    signature: str

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return the assertions of each answer with their scores, or why there are none."""


class Compared(Protocol):
    """Whoever says whether a sample contradicts an assertion."""

    signature: str

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return a letter for each triple."""


class RulesWording:
    """:func:`sayso.decisiveness`: the whole answer is one assertion."""

    signature = "rules@4"

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return one assertion, none for a punt, a problem for another language."""
        return {pair: _by_rules(pair[1]) for pair in dict.fromkeys(pairs)}


def _by_rules(text: str) -> Asserted:
    if not text.strip():
        return Asserted(())
    if not is_english(text):
        return Asserted((), "language")
    score = decisiveness(text)
    return Asserted(() if score is None else ((text.strip(), score),))


class RulesCompared:
    """:func:`sayso.contradicts`."""

    signature = "rules@4"

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n, or ? where the two have nothing in common that could be compared."""
        letters = {True: "c", False: "n", None: "?"}
        return {t: letters[contradicts(*t)] for t in dict.fromkeys(triples)}


class NliCompared:
    """A model for natural-language inference: the likeliest of its three relations.

    The sample is the premise and the assertion the hypothesis: does what was drawn bear it out?
    """

    def __init__(self, meaning: Meaning) -> None:
        if not meaning.three:
            raise InputError(
                f"--nli {meaning.name} tells no contradiction from neutral; name a model with "
                "three labels, or say --contradict rules"
            )
        self._meaning = meaning
        self.signature = meaning.signature

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c, n or e by the largest probability, n of equal ones; ? where none was given."""
        unique = list(dict.fromkeys(triples))
        asked = [(question, sample, claim) for question, claim, sample in unique]
        table = self._meaning.table(asked) if asked else np.empty((0, 2))
        found = {}
        for triple, (follows, denies) in zip(unique, table.tolist(), strict=True):
            if np.isnan(follows) or np.isnan(denies):
                found[triple] = "?"
                continue
            rest = 1 - follows - denies
            likelier = "c" if denies > follows else "e"
            sure = denies != follows and max(denies, follows) > rest
            found[triple] = likelier if sure else "n"
        return found


def wording_reader(how: str, judge: Any, folder: Path | None) -> Wording:
    """Open the reader of wording that settings name. Raises InputError where it has no model."""
    engine = engine_of(judge)
    if how == "rules" or (how == "auto" and engine is None):
        return RulesWording()
    if engine is None:
        raise InputError(f"decisive judge: the judge {judge.name} is no model; say --judge MODEL")
    return LlmDecisive(engine, folder)


def pair_reader(how: str, judge: Any, meaning: Meaning | None, folder: Path | None) -> Compared:
    """Open the reader of pairs that settings name. Raises InputError where it has no model."""
    engine = engine_of(judge)
    if how == "nli":
        if meaning is None:
            raise InputError("contradict nli: no NLI model can be opened here; name one with --nli")
        return NliCompared(meaning)
    if how == "rules" or (how == "auto" and engine is None):
        return RulesCompared()
    if engine is None:
        raise InputError(f"contradict judge: the judge {judge.name} is no model; say --judge MODEL")
    return LlmContradict(engine, folder)


# What is read from answers and kept as verdicts, so that every number can be counted again.
#
# ``<stage>-decisive``: a verdict for each assertion, ``target`` = ``<answer>#<number>``,
# ``label``
# "assertion", ``number`` its decisiveness, ``raw`` its text, ``start`` where a
# paragraph has it; or one for an answer (an aspect) labeled "punt" (nothing asserted) or
# "omitted".
# ``<stage>-contradict``: a verdict for each assertion, label "read", ``raw`` a letter for every
# draw
# in order: c contradicts, n does not, e equal or entailed, p the draw asserts nothing, ? not
# read, x
# no draw; ``number`` counts the c. ``<stage>-thought``: decisiveness of a thought's last
# assertion.

WITHHELD = ("abstained", "refused_by_policy", "asked_back")


class Draw(NamedTuple):
    """A draw's text; ``None`` where the request failed."""

    id: str
    text: str | None


def draws_of(generations: Iterable[Generation]) -> dict[tuple[str, str], list[Draw]]:
    """Return the draws by (question, method), in order of their sample index."""
    found: dict[tuple[str, str], list[Draw]] = defaultdict(list)
    for g in sorted(generations, key=lambda g: g.request.sample):
        found[g.question, g.method].append(Draw(g.id, g.text if g.problem is None else None))
    return dict(found)


class Wordings:
    """A reader of wording as a judge whose verdicts a run stores. ``spans``: of paragraphs."""

    def __init__(
        self,
        reader: Wording,
        draws: Mapping[tuple[str, str], list[Draw]],
        by_id: Mapping[str, Question],
    ) -> None:
        self.reader, self.name, self.signature = reader, reader.signature, reader.signature
        self.spans: dict[tuple[str, str], Verdict] = {}
        self._by_id = by_id
        drawn = [
            (by_id[question].text, draw.text)
            for (question, _), some in draws.items()
            for draw in some
            if draw.text is not None
        ]
        self.of_draws = reader.read(drawn)
        self._unread = Counter(said.problem for said in self.of_draws.values() if said.problem)
        self._read = len(self.of_draws)

    @property
    def notices(self) -> list[str]:
        """Who read wording, and how many answers could not be read, by reason."""
        told = getattr(self.reader, "notices", None)
        lost = [
            f"decisiveness by {self.signature}: {number:,} of {self._read:,} readings are missing "
            f"({problem})"
            for problem, number in sorted(self._unread.items())
        ]
        return [f"wording was read by {self.signature}", *(lost if told is None else told)]

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the verdicts on every assertion of these answers, joined by ids."""
        pairs = []
        for item in items:
            if item.generation.problem is None:
                pairs += [(q.text, self._text(item.generation, q)) for q in item.questions]
        read = self.reader.read([p for p in pairs if p[1].strip()])
        new = {pair: said for pair, said in read.items() if pair not in self.of_draws}
        self._unread.update(said.problem for said in new.values() if said.problem)
        self._read += len(new)
        found = []
        for item in items:
            for question in item.questions:
                found += self._of(item.generation, question, read)
        return found

    def _span(self, g: Generation, question: Question) -> Verdict | None:
        return self.spans.get((g.id, question.id)) if g.form == "long" else None

    def _text(self, g: Generation, question: Question) -> str:
        """Return the answer, or the sentence of a paragraph that speaks of the question."""
        if g.form != "long":
            return g.text
        span = self._span(g, question)
        return "" if span is None or span.start is None else g.text[span.start : span.end]

    def _of(
        self, g: Generation, question: Question, read: Mapping[tuple[str, str], Asserted]
    ) -> list[Verdict]:
        span = self._span(g, question)
        problem = g.problem.partition(":")[0] if g.problem else None
        if problem is None and g.form == "long":
            problem = "failed" if span is None else span.problem
        if problem is not None:
            return [Verdict(g.id, question.id, self.signature, problem=problem)]
        text = self._text(g, question)
        label = "punt"
        if span is not None and (span.stance == "omitted" or not text.strip()):
            label = "punt" if span.stance in WITHHELD else "omitted"
        elif text.strip() and not (span is not None and span.stance in WITHHELD):
            said = read[question.text, text]
            if said.problem is not None:
                return [Verdict(g.id, question.id, self.signature, problem=said.problem)]
            if said.assertions:
                return self._assertions(g, question, span, text, said.assertions)
        return [Verdict(g.id, question.id, self.signature, label=label)]

    def _assertions(
        self,
        g: Generation,
        question: Question,
        span: Verdict | None,
        text: str,
        assertions: Sequence[tuple[str, float]],
    ) -> list[Verdict]:
        """Return a verdict for each; of a paragraph, by rules, only the value and its score."""
        if span is not None and isinstance(self.reader, RulesWording):
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
                raw=said,
                start=None if span is None else span.start,
                end=None if span is None else span.end,
            )
            for number, (said, score) in enumerate(assertions)
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


# Comparing every assertion with the draws: what ``<stage>-contradict`` holds.


class Pairs:
    """A reader of pairs as a judge whose verdicts a run stores. ``verdicts``: the assertions."""

    def __init__(
        self,
        reader: Compared,
        draws: Mapping[tuple[str, str], list[Draw]],
        by_id: Mapping[str, Question],
        wordings: Wordings,
        *,
        same: bool,
    ) -> None:
        self.reader, self.name, self.signature = reader, reader.signature, reader.signature
        self.verdicts: list[Verdict] = []
        self._compared = self._open = 0
        self._draws, self._by_id, self._wordings, self._same = draws, by_id, wordings, same

    @property
    def notices(self) -> list[str]:
        """Who compared, and how many comparisons said nothing."""
        told = getattr(self.reader, "notices", None)
        lost = (
            f"contradiction by {self.signature}: {self._open:,} of {self._compared:,} comparisons "
            "say nothing; such a draw is no draw"
        )
        own = [lost] if self._open else []
        return [f"answers were compared by {self.signature}", *(own if told is None else told)]

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return a verdict with a letter for every draw, for each assertion."""
        method = {i.generation.id: i.generation.method for i in items}
        said = [v for v in self.verdicts if v.label == "assertion" and v.raw]
        drawn = [self._samples(v, method[v.target.partition("#")[0]]) for v in said]
        triples = [
            (self._by_id[v.asked].text, v.raw or "", text)
            for v, samples in zip(said, drawn, strict=True)
            for mark, text in samples
            if not mark
        ]
        read = self.reader.read(triples)
        self._compared += len(triples)
        self._open += sum(read[triple] == "?" for triple in triples)
        found = []
        for v, samples in zip(said, drawn, strict=True):
            question = self._by_id[v.asked].text
            letters = "".join(m or read[question, v.raw or "", text] for m, text in samples)
            count = float(letters.count("c"))
            found.append(
                Verdict(v.target, v.asked, self.signature, label="read", number=count, raw=letters)
            )
        return found

    def _samples(self, verdict: Verdict, method: str) -> list[tuple[str, str]]:
        """Return (mark, text) of every draw: a mark where there is nothing to compare."""
        own = method if self._same and (verdict.asked, method) in self._draws else "plain"
        question = self._by_id[verdict.asked].text
        found = []
        for draw in self._draws.get((verdict.asked, own), ()):
            said = self._wordings.of_draws.get((question, draw.text or ""))
            if draw.text is None or said is None:
                found.append(("x", ""))
            elif said.problem is not None:
                found.append(("?", ""))
            elif not said.assertions:
                found.append(("p", ""))
            else:
                found.append(("", "; ".join(text for text, _ in said.assertions)))
        return found


# Thought but unsaid: how surely a thought ended, beside how surely the answer then speaks.
#
# Kept in ``<stage>-thought``: a verdict for each short answer with a thought, ``number`` the
# decisiveness of the thought's last assertion, ``raw`` its text (VALIDITY 4). The last
# assertion is
# the last sentence with a word of the answer, and what follows it ("... But I am not sure.");
# where
# none has one, the last sentence.

#: characters of a thought, from its end, in which its last assertion is looked for
LONGEST_THOUGHT = 4000


class Thoughts:
    """Decisiveness of what a model thought last: more or less sure than what it then said."""

    def __init__(self, reader: Wording, by_id: Mapping[str, Question]) -> None:
        self.reader, self.name, self.signature = reader, reader.signature, reader.signature
        self._by_id = by_id

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the score of each thought's last assertion, or why there is none."""
        last = {}
        for item in items:
            g = item.generation
            if g.thinking and len(item.questions) == 1 and g.problem is None:
                q = item.questions[0]
                last[g.id] = (q, g.text, ending(g.thinking, g.text, q.text))
        last = {target: some for target, some in last.items() if some[2]}
        read = self.reader.read([(q.text, text) for q, _, text in last.values()])
        found = []
        for target, (q, answer, text) in last.items():
            said = read[q.text, text]
            if said.problem is not None:
                found.append(Verdict(target, q.id, self.signature, problem=said.problem))
            elif not said.assertions:
                found.append(Verdict(target, q.id, self.signature, label="punt"))
            else:
                score = nearest(said.assertions, answer)
                if isinstance(self.reader, RulesWording):
                    own = decisiveness(text, answer)
                    score = score if own is None else own
                found.append(
                    Verdict(target, q.id, self.signature, label="assertion", number=score, raw=text)
                )
        return found


def ending(thought: str, answer: str, question: str) -> str:
    """Return a thought from its last sentence on that has a word of the answer, of its own.

    Words of the question are no sign of the answer. "" for a thought without a sentence.
    """
    tail = thought[-LONGEST_THOUGHT:]
    spans = sentences(tail)
    if not spans:
        return ""
    wanted = about(answer)[0] - about(question)[0]
    for span in reversed(spans):
        if about(tail[span.start : span.end])[0] & wanted:
            return tail[span.start : spans[-1].end]
    return tail[spans[-1].start : spans[-1].end]


def nearest(assertions: Sequence[tuple[str, float]], answer: str) -> float:
    """Return the score of the assertion that shares most words with the answer; the last of equals.

    A thought that weighs several values asserts several.
    """
    wanted = about(answer)[0]
    shared = [len(about(text)[0] & wanted) for text, _ in assertions]
    best = max(shared)
    return next(
        s for (_, s), n in zip(reversed(assertions), reversed(shared), strict=True) if n == best
    )
