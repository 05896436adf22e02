"""From a run's tables to facts, and the rows that training reads: records and what they share.

A *fact* is one short question, or one paragraph's prompt, with what the model answered and what
the judge made of it. A *row* is one training example. The recipes (``sayso.train.recipes``) are
pure functions: chance is drawn from hashes of (seed, question), so that the order of the records
moves no row, and another fact only where rows are counted against each other.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from sayso.datasets.catalogue import is_topic
from sayso.judges.contradiction import contradicts
from sayso.records import (
    Claim,
    Generation,
    InputError,
    Question,
    Verdict,
    content_id,
)
from sayso.runs.draws import PARAGRAPHS

Form = Literal["short", "long"]
Want = Literal["sft", "dpo"]

#: stages that hold draws of the plain short question
DRAWS = ("probe", "draws")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_ADDED = re.compile(r"(?<=\S)\s*\([^()]*\)\s*$")
#: letters that no normal form takes apart
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
#: how the draws are got that a recipe lacks
MORE_DRAWS = "ask for them with `sayso run uncle --set split=train --set probe.k={k}`"


class Mention(msgspec.Struct, frozen=True):
    """What a paragraph says of one aspect.

    ``start:end`` is the sentence, ``value`` the text inside it that states a value, found without
    a look at the truth. ``right`` is None where the verdict is missing or the stance is not
    committed; ``start`` is None for an aspect that is left out.
    """

    question: Question
    stance: str | None
    right: bool | None
    start: int | None = None
    end: int | None = None
    value: str | None = None


class CheckedClaim(msgspec.Struct, frozen=True):
    """One claim of a paragraph and its label by evidence: S, NS, IR or None (unread)."""

    start: int
    end: int
    text: str
    label: str | None


class TrainingParagraph(msgspec.Struct, frozen=True):
    """One long answer with its aspects, and with its claims where a run has checked them."""

    text: str
    mentions: tuple[Mention, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """One question with the model's own answers to it.

    ``prompt`` is what was asked, ``greedy`` the answer at T=0 ("" where there is none), ``draws``
    those at T=1 in order of their index ("" where one failed or was cut off). ``right`` says of
    each draw whether it is committed and correct, None where its verdict is missing; ``stances``
    how it is voiced. A long fact has no draws but ``paragraphs``, the greedy one first.
    """

    question: Question
    form: Form
    prompt: str
    greedy: str = ""
    greedy_right: bool | None = None
    draws: tuple[str, ...] = ()
    right: tuple[bool | None, ...] = ()
    stances: tuple[str | None, ...] = ()
    paragraphs: tuple[TrainingParagraph, ...] = ()

    @property
    def entity(self) -> str:
        """The name of what is asked about; the question's text where it has none."""
        return self.question.entity or self.question.text


class TrainingRow(msgspec.Struct, frozen=True):
    """One training example; ``rejected`` is None in rows for supervised fine-tuning.

    ``questions`` are the ids of what it is about, ``kind`` says which rule made it.
    """

    prompt: str
    chosen: str
    rejected: str | None
    form: Form
    entity: str
    questions: tuple[str, ...]
    kind: str


def facts_of(
    questions: Sequence[Question],
    generations: Mapping[str, Iterable[Generation]],
    verdicts: Mapping[str, Iterable[Verdict]],
    *,
    claims: Iterable[Claim] = (),
    labels: Iterable[Verdict] = (),
) -> list[Fact]:
    """Return the facts of a run, short and long, in the order of its questions.

    ``generations`` and ``verdicts`` are the run's tables by stage; only answers to the plain
    prompt are taken. ``claims`` are those of its paragraphs and ``labels`` their verdicts by
    evidence. Questions that were never asked plainly are left out.
    """
    by_id = {q.id: q for q in questions}
    read = {stage: {(v.target, v.asked): v for v in rows} for stage, rows in verdicts.items()}
    drawn = _drawn(generations, read)
    greedy: dict[tuple[str, str], Generation] = {}
    for form in ("short", "long"):
        for g in generations.get(form, ()):
            if g.method in ("plain", "") and not g.instructed and g.problem is None:
                greedy[form, g.question] = g
    further: dict[str, list[Generation]] = defaultdict(list)
    for g in generations.get(PARAGRAPHS, ()):
        if g.problem is None and not g.instructed:
            further[g.question].append(g)
    checked = _checked(claims, labels)
    facts = []
    for question in questions:
        if question.parts or is_topic(question):
            parts = [by_id[p] for p in question.parts]
            plain = greedy.get(("long", question.id))
            fact = _long_fact(question, parts, plain, further[question.id], read, checked)
        else:
            plain = greedy.get(("short", question.id))
            fact = _short_fact(question, plain, drawn.get(question.id, {}), read.get("short", {}))
        if fact is not None:
            facts.append(fact)
    return facts


#: the verdicts of each stage by (generation, question)
Read = Mapping[str, Mapping[tuple[str, str], Verdict]]
#: the draws of a question by their index
Drawn = Mapping[int, tuple[Generation, Verdict | None]]


def _drawn(generations: Mapping[str, Iterable[Generation]], read: Read) -> Mapping[str, Drawn]:
    """Return the draws of each short question; of several of an index one that has a verdict."""
    drawn: dict[str, dict[int, tuple[Generation, Verdict | None]]] = defaultdict(dict)
    for stage in DRAWS:
        for g in generations.get(stage, ()):
            if g.instructed or g.method not in ("plain", ""):
                continue
            verdict = read.get(stage, {}).get((g.id, g.question)) if g.problem is None else None
            held = drawn[g.question].get(g.request.sample)
            if held is None or held[1] is None:
                drawn[g.question][g.request.sample] = g, verdict
    return drawn


def _long_fact(
    question: Question,
    parts: Sequence[Question],
    plain: Generation | None,
    further: Iterable[Generation],
    read: Read,
    checked: Mapping[str, tuple[CheckedClaim, ...]],
) -> Fact | None:
    """Return the fact of a paragraph's prompt; None where it has no paragraph."""
    texts = [("long", plain)] if plain else []
    texts += [(PARAGRAPHS, g) for g in sorted(further, key=lambda g: g.request.sample)]
    if not texts:
        return None
    paragraphs = tuple(
        TrainingParagraph(g.text, _mentions(g, parts, stage, read), checked.get(g.id, ()))
        for stage, g in texts
    )
    prompt = texts[0][1].request.messages[-1].content
    return Fact(question, "long", prompt, plain.text if plain else "", paragraphs=paragraphs)


def _short_fact(
    question: Question,
    plain: Generation | None,
    drawn: Drawn,
    read: Mapping[tuple[str, str], Verdict],
) -> Fact | None:
    """Return the fact of a short question; None where it has neither an answer nor draws."""
    draws = [drawn[sample] for sample in sorted(drawn)]
    answer = plain or (draws[0][0] if draws else None)
    if answer is None:
        return None
    return Fact(
        question,
        "short",
        answer.request.messages[-1].content,
        plain.text if plain else "",
        _right(read.get((plain.id, question.id)) if plain else None),
        tuple(g.text if g.problem is None else "" for g, _ in draws),
        tuple(_right(verdict) for _, verdict in draws),
        tuple(verdict.stance if verdict else None for _, verdict in draws),
    )


def _right(verdict: Verdict | None) -> bool | None:
    """Whether an answer is committed and correct; None where its verdict is missing."""
    if verdict is None or verdict.value is None:
        return None
    return verdict.value == "correct"


def _mentions(
    g: Generation, parts: Sequence[Question], stage: str, read: Read
) -> tuple[Mention, ...]:
    mentions = []
    for part in parts:
        verdict = read.get(stage, {}).get((g.id, part.id))
        place = read.get(f"{stage}-spans", {}).get((g.id, part.id))
        value = None
        if place is not None and place.answer_start is not None:
            value = g.text[place.answer_start : place.answer_end]
        stance = verdict.stance if verdict else None
        right = _right(verdict) if stance == "committed" else None
        span = (verdict.start, verdict.end) if verdict else (None, None)
        mentions.append(Mention(part, stance, right, *span, value))
    return tuple(mentions)


def _checked(
    claims: Iterable[Claim], labels: Iterable[Verdict]
) -> dict[str, tuple[CheckedClaim, ...]]:
    label = {v.target: v.label for v in labels}
    claims_by_answer: dict[str, list[CheckedClaim]] = defaultdict(list)
    for claim in sorted(claims, key=lambda c: (c.generation, c.start, c.end, c.id)):
        claims_by_answer[claim.generation].append(
            CheckedClaim(claim.start, claim.end, claim.text, label.get(claim.id))
        )
    return {generation: tuple(some) for generation, some in claims_by_answer.items()}


def check_draws(facts: Iterable[Fact], k: int) -> None:
    """Refuse short facts with fewer than ``k`` draws, saying how to get them. InputError."""
    some = [f for f in facts if f.form == "short"]
    lacking = [f for f in some if len(f.draws) < k]
    if lacking:
        first = min(lacking, key=lambda f: (len(f.draws), f.question.text))
        raise InputError(
            f"{len(lacking)} of {len(some)} questions have fewer than {k} draws, first "
            f"{first.question.text!r} with {len(first.draws)}: {MORE_DRAWS.format(k=k)}"
        )


def normal_name(name: str) -> str:
    """Return a name without what writing varies in: case, diacritics, width, spaces, marks.

    An article before it and a note in brackets behind it go too ("Orm (film)"): better two things
    of one name kept apart from an evaluation of either than one thing missed.
    """
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LETTERS)
    short = _ARTICLE.sub("", _ADDED.sub("", plain.strip()))
    letters = (c for c in short if not unicodedata.combining(c))
    return "".join(c for c in letters if c.isalnum()) or plain.strip()


def check_apart(rows: Iterable[TrainingRow], evaluated: Iterable[str | Question]) -> None:
    """Refuse rows about anything that is to be evaluated, with the names. Raises InputError.

    Names are compared as ``normal_name`` leaves them. Questions may be given in the names' place;
    then rows about the same question are refused too, also where a row names no entity.
    """
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for one in evaluated:
        title = one if isinstance(one, str) else one.entity or one.text
        names.setdefault(normal_name(title), title)
        if not isinstance(one, str):
            ids.setdefault(one.id, title)
    shared: dict[str, int] = {}
    for row in rows:
        hit = names.get(normal_name(row.entity))
        hits = [hit] if hit is not None else [ids[q] for q in row.questions if q in ids][:1]
        for name in hits:
            shared[name] = shared.get(name, 0) + 1
    if shared:
        first = ", ".join(repr(name) for name in sorted(shared)[:5])
        more = f" and {len(shared) - 5} more" if len(shared) > 5 else ""
        raise InputError(
            f"{sum(shared.values())} training rows are about what is evaluated: {first}{more}; "
            "make them from another split, or leave these entities out of the evaluation"
        )


def chance(*parts: object) -> random.Random:
    """Return a generator that depends on the parts alone, the same on every machine."""
    return random.Random(content_id(["pairs", *map(str, parts)]))


def in_order(rows: Iterable[TrainingRow], seed: int) -> list[TrainingRow]:
    """Return distinct rows in an order that depends on the seed and the rows alone."""
    return sorted(set(rows), key=lambda row: content_id([seed, row]))


def instructed(
    rows: Iterable[TrainingRow], instructions: Mapping[Form, str], share: float = 1.0, seed: int = 0
) -> list[TrainingRow]:
    """Return rows of which a ``share`` asks for doubt: the form's instruction behind the prompt."""
    marked = []
    for row in rows:
        wording = instructions.get(row.form, "")
        if (
            wording
            and chance("instructed", seed, row.questions, row.kind, row.chosen).random() < share
        ):
            row = msgspec.structs.replace(row, prompt=f"{row.prompt} {wording}")
        marked.append(row)
    return marked


# ---- how sure a model is of an answer: the share of its other draws that agree with it
#
# The confidence of Yona et al. (arXiv 2405.16908, Equation 2) in the training set's place: no
# truth enters. Draws that state nothing, and pairs of which nothing can be said, are not counted.

#: draws that must be comparable for a confidence to exist
LEAST = 5


class Agreement(NamedTuple):
    """``agreeing`` of ``counted`` draws."""

    agreeing: int
    counted: int

    @property
    def share(self) -> float:
        """The confidence, 0..1."""
        return self.agreeing / self.counted


def agreeing_draws(question: Question, answer: str, draws: Sequence[str]) -> Agreement | None:
    """Return how many draws agree with an answer; None with fewer than LEAST comparable."""
    agreeing = counted = 0
    for draw in draws:
        contradiction = contradicts(question.text, answer, draw)
        if contradiction is not None:
            counted += 1
            agreeing += not contradiction
    return Agreement(agreeing, counted) if counted >= LEAST else None


def mention_confidence(
    question: Question,
    value: str | None,
    short: Mapping[str, Fact],
    k: int,
) -> Agreement | None:
    """Return the confidence of a value told in a paragraph: of the draws of its own short question.

    None where the paragraph states no value or the question was not drawn.
    """
    fact = short.get(question.id)
    if fact is None or value is None or not value.strip():
        return None
    return agreeing_draws(question, value, fact.draws[:k])


def lucky(fact: Fact, k: int, right: bool | None) -> bool:
    """Tell whether an answer may be right although no draw of its question is."""
    read = [r for r in fact.right[:k] if r is not None]
    return bool(read) and not any(read) and right is not False


#: words that hedge the value behind them, in a sentence as well as alone
WORDS = ("possibly", "perhaps", "maybe", "probably")


# ---- the words of doubt in rows, all ours: refusals, and sentences re-worded as unsure
#
# A sentence about "Where was X born?" becomes "I am not sure where X was born", by rules on the
# question's form; where these do not reach, the aspect's name is used. No value is ever repeated.

#: an answer that says no more than that it is not known
REFUSALS = (
    "I am not sure.",
    "I do not know.",
    "I'm not sure about this.",
    "I am not certain of the answer.",
    "I don't know this for certain.",
    "I am unsure of the answer to this.",
    "I cannot say with any certainty.",
    "This is something I do not know.",
    "I'm afraid I don't know.",
    "I am not sure what the answer is.",
)
#: doubt about something named by an indirect question
UNSURE_WHERE = (
    "I am not sure {clause}.",
    "I do not know {clause}.",
    "I'm not certain {clause}.",
    "I cannot say for certain {clause}.",
    "I am unsure {clause}.",
    "It is unclear to me {clause}.",
)
#: doubt about something named by a noun
UNSURE_ABOUT = (
    "I am not sure about {noun}.",
    "I'm not certain about {noun}.",
    "I do not know {noun} for certain.",
    "I am unsure about {noun}.",
    "I have no reliable knowledge of {noun}.",
)
#: doubt about a claim that no question names
UNSURE_WHETHER = (
    "I am not sure whether it is true that {claim}.",
    "I do not know whether {claim}.",
    "I cannot say for certain that {claim}.",
)

_BE = re.compile(
    r"^(?P<wh>(?:in |at |on |from |by |of )?(?:what|which|who|where|when|how)\b[^?]*?)\s+"
    r"(?P<be>is|was|are|were)\s+(?P<rest>.+?)\s*\?*\s*$",
    re.IGNORECASE,
)
#: "Who founded X?" is an indirect question as it stands: the asked-for thing is its subject
_SUBJECT = re.compile(
    r"^(?:who|what|which [\w-]+)\s+(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|"
    r"would|should|may|might|must)\b)[a-z-]+(?:s|ed)\b",
    re.IGNORECASE,
)
_DO = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)
_NOUN = re.compile(r"^(?:the|his|her|its|their)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:He|She|It|They|His|Her|Its|Their|The|This|That|These|Those|There|A|An)\b"
)


def clause_of(question: Question) -> str | None:
    """Return a question as an indirect one: "where X was born"; None where no rule is safe.

    Only forms of "to be" are turned: "did X receive" would need the verb's past.
    """
    text = question.text.strip()
    if len(text) > 300:
        return None
    match = _BE.match(text)
    if match is None:
        if _SUBJECT.match(text) and not _DO.search(text):
            return text[0].lower() + text[1:].rstrip("? ")
        return None
    if _DO.search(match["wh"]):
        return None
    wh, be, rest = match["wh"], match["be"].lower(), match["rest"]
    wh = wh[0].lower() + wh[1:]
    entity = question.entity
    if entity and rest.startswith(entity):
        tail = rest[len(entity) :].strip()
        if tail.startswith(("'", "’")):
            return f"{wh} {rest} {be}"
        return f"{wh} {entity} {be} {tail}".strip()
    # where the subject ends is known by the entity, or by "what is the ... of ..."
    closed = rest.endswith(entity) if entity else wh in ("what", "who") and " of " in rest
    return f"{wh} {rest} {be}" if _NOUN.match(rest) and closed else None


def noun_of(question: Question) -> str | None:
    """Return what a question asks for as a noun, "X's place of birth"; None without an aspect."""
    name = question.aspect.description.strip() if question.aspect else ""
    if not name:
        return None
    return f"{possessive(question.entity)} {name}" if question.entity else f"the {name}"


def possessive(name: str) -> str:
    """Return "Anna's", "Lucas'"."""
    return f"{name}'" if name.endswith(("s", "S")) else f"{name}'s"


def unsure(question: Question | None, generator: random.Random, claim: str = "") -> str:
    """Return one sentence that says this is not known, its wording drawn by ``generator``.

    ``claim`` is what doubt is about where there is no question; without either, doubt is general.
    """
    options: list[str] = []
    if question is not None:
        clause, noun = clause_of(question), noun_of(question)
        if clause is not None:
            options += [wording.format(clause=clause) for wording in UNSURE_WHERE]
        if noun is not None:
            options += [wording.format(noun=noun) for wording in UNSURE_ABOUT]
        if not options:
            options = [f"I am not sure of the answer to the question: {question.text.strip()}"]
    elif claim.strip():
        bare = lowered(claim.strip().rstrip("."))
        options = [wording.format(claim=bare) for wording in UNSURE_WHETHER]
    else:
        options = ["There is more to say here, but I am not sure of it."]
    return generator.choice(options)


def lowered(sentence: str) -> str:
    """Return a sentence to stand inside another: a first word that is no name loses its capital."""
    return sentence[0].lower() + sentence[1:] if _PRONOUN.match(sentence) else sentence
