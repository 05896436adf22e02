"""A question set, and what its loaders share: the hub, golds, and one way to refuse a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from sayso.datasets.tables import list_in, truth_value
from sayso.engines import check_proxies, quiet_hub
from sayso.harmless import printable
from sayso.records import Gold, GoldKind, InputError, Question, content_id, question_id

#: what names no value but tells something: "He announced it", "the bridge was closed in May"
_SENTENCE = re.compile(
    r"(?:He|She|It|They|There) [a-z]|.*\s(?:is|are|was|were|has|had|have|will|became|did)\s"
)


def is_sentence_gold(gold: str) -> bool:
    """Tell whether a gold of five words or more is a sentence with a verb, not a value."""
    return _SENTENCE.match(gold) is not None and len(gold.split()) > 4


def sentence_golds(number: int, example: str) -> str:
    """Return the notice on golds that are sentences."""
    return (
        f"{number:,} gold answers are sentences ('{printable(example, 60)}'), of which the offline "
        "judge may accept a part; give the value alone"
    )


#: what a gold holds that may say that there is no answer: "Not found in the context."
DENIES = re.compile(
    r"\b(?:no|not|cannot|nothing|insufficient)\b|n['’]t\b|\bun(?:known|answerable)\W*$", re.I
)


def declining_golds(number: int) -> list[str]:
    """Return the notice on questions whose golds say that there is no answer."""
    told = "whose gold itself declines to answer: if nobody can, write false in a column answerable"
    return [f"{number:,} questions {told}"] * (number > 0)


class Dataset(msgspec.Struct, frozen=True):
    """Questions with where they come from.

    ``questions`` holds short questions first, then the long ones that cover them. ``hash``
    depends on the questions and golds alone; ``notes`` say how they came to be (rows found, rows
    left out and why), ``notices`` all that a reader of the numbers must know. ``kind`` is the
    set's entry in the catalogue. ``prompts`` are the texts of ours that a protocol made questions
    with, by name, and their hash under the name that signatures have for it.
    """

    name: str
    questions: tuple[Question, ...]
    hash: str
    rows: int
    notes: tuple[str, ...] = ()
    kind: str = ""
    prompts: dict[str, str] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """The notes, how many of the questions nobody can answer, and golds that are sentences."""
        number = sum(q.answerable is False for q in self.questions)
        told = f"{number:,} cannot be answered: abstaining is right"
        golds = [
            gold.value for q in self.short for gold in q.golds or () if is_sentence_gold(gold.value)
        ]
        more = [sentence_golds(len(golds), golds[0])] if golds else []
        return (*self.notes, *[told] * bool(number), *more)

    @property
    def short(self) -> tuple[Question, ...]:
        """The questions about one aspect."""
        return tuple(q for q in self.questions if not q.parts)

    @property
    def long(self) -> tuple[Question, ...]:
        """The questions that cover several aspects."""
        return tuple(q for q in self.questions if q.parts)

    def replaced(self, questions: tuple[Question, ...]) -> Dataset:
        """Return the same set with other questions, and the hash that belongs to them."""
        return msgspec.structs.replace(self, questions=questions, hash=questions_hash(questions))


def questions_hash(questions: tuple[Question, ...]) -> str:
    """Return a short hash of what is asked and what is true."""
    return content_id(["questions", sorted(msgspec.json.encode(q).decode() for q in questions)])[:8]


class SourceQuestion(NamedTuple):
    """One question of a set. ``aliases`` are ways to write its one right answer, the best first.

    ``others`` are further right answers, each of its own. ``entity`` groups questions that depend
    on each other (one passage); ``line`` is the place. A question that is not ``answerable`` has
    no right answer: it is right to say so, or to abstain. ``domain`` "" is the set's name.
    """

    line: int
    text: str
    aliases: Sequence[str]
    entity: str
    context: str | None = None
    kind: GoldKind = "text"
    others: Sequence[str] = ()
    domain: str = ""
    answerable: bool = True


def hub_rows(
    name: str,
    repository: str,
    config: str | None,
    split: str,
    splits: Mapping[str, str | None],
    advice: str = "",
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number, row) of a set on the hub, through ``datasets``. Raises InputError.

    ``name`` is the set's in sayso. ``splits`` maps a split to the hub's, or to ``None`` for every
    part that the hub has, one after the other. ``advice`` is what to do where the hub cannot be
    had.
    """
    try:
        import datasets
    except ImportError:
        raise InputError(
            f'data {name!r} needs the extra packages: pip install "sayso[hf]"'
        ) from None
    if split not in splits:
        raise InputError(f"split {split!r}: {repository} has {', '.join(splits)}")
    check_proxies()
    try:
        with quiet_hub():
            loaded = datasets.load_dataset(repository, config, split=splits[split])
    except Exception as error:  # at a hub or proxy that answers oddly, libraries raise all sorts
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, AttributeError | TypeError | KeyError | IndexError):
            reason = "it sends something other than what was asked for"
        raise InputError(
            f"{repository} could not be loaded from the hub ({reason}); "
            + (advice or f"download its file and name it: --data {name}:FILE")
        ) from None
    parts = loaded.values() if isinstance(loaded, Mapping) else [loaded]
    for number, row in enumerate(chain.from_iterable(parts), 1):
        yield number, dict(row)


def short_dataset(items: Iterable[SourceQuestion | str], *, name: str, source: str) -> Dataset:
    """Turn items into a set of short questions. Golds are one value with its aliases, and others.

    A text instead of an item is the reason why a row is left out, which is counted. A question
    without a text, or one to be answered without an answer, is an error with its place; one that
    stands there already (same words, same context) is counted and asked once, with the answers of
    both rows. Raises InputError.
    """
    questions: dict[str, Question] = {}
    left_out = Counter[str]()
    count = repeated = 0
    for item in items:
        if isinstance(item, str):
            left_out[item] += 1
            continue
        count += 1
        question = _question(item, name, source)
        known = questions.get(question.id)
        repeated += known is not None
        questions[question.id] = _both(known, question) if known else question
    if not questions:
        raise InputError(f"{source}: no question with an answer was found")
    notes = [f"{count:,} question{'s' * (count != 1)} read from {source}"]
    notes += [f"{number:,} left out: {reason}" for reason, number in left_out.items()]
    if repeated:
        notes.append(f"{repeated:,} left out: repeated questions (their answers are kept)")
    unique = tuple(questions.values())
    return Dataset(name, unique, questions_hash(unique), count, tuple(notes))


def _question(item: SourceQuestion, name: str, source: str) -> Question:
    text = " ".join(item.text.split())
    names = list(dict.fromkeys(a.strip() for a in item.aliases if a and a.strip()))
    stripped = (a.strip() for a in item.others)
    others = dict.fromkeys(a for a in stripped if a and a not in names)
    golds = [Gold(names[0], tuple(names[1:]), kind=item.kind)] if names else []
    golds += [Gold(value, kind=item.kind) for value in others]
    if not text or (item.answerable and not names):
        what = "question" if not text else "answer"
        raise InputError(f"{source} line {item.line}: the {what} is empty; every row needs it")
    context = item.context.strip() if item.context and item.context.strip() else None
    return Question(
        id=question_id(name, item.entity, text, context),
        dataset=name,
        text=text,
        golds=tuple(golds) if item.answerable else None,
        answerable=item.answerable,
        entity=item.entity,
        domain=item.domain or name,
        context=context,
    )


def _both(known: Question, again: Question) -> Question:
    """Return a question that stands in two rows, with the golds of both.

    If only one of them has an answer, the first row counts.
    """
    if not known.golds or not again.golds:
        return known
    (first, *others), names = known.golds, {name for gold in known.golds for name in gold.names}
    new = tuple(n for n in dict.fromkeys(again.golds[0].names) if n not in names)
    golds = (msgspec.structs.replace(first, aliases=(*first.aliases, *new)), *others)
    further = tuple(gold for gold in again.golds[1:] if gold.value not in {*names, *new})
    return msgspec.structs.replace(known, golds=(*golds, *further))


def field_text(row: Mapping[str, Any], names: Sequence[str], source: str, line: int) -> str:
    """Return the first of the fields that holds text. Raises InputError with the place."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
    raise InputError(f"{source} line {line}: expected a text under {' or '.join(names)}")


def listed_texts(value: Any, source: str, line: int) -> list[str]:
    """Return texts given as one, as a list, or as a list in a cell of CSV. Raises InputError."""
    if isinstance(value, str) and value.strip()[:1] == "{" and value.strip()[-1:] == "}":
        raise InputError(
            f"{source} line {line}: the answer is an object written as text, {value!r:.40}; "
            "save the rows as JSONL or Parquet"
        )
    if isinstance(value, str):
        value = [value] if (listed := list_in(value)) is None else listed
    if isinstance(value, Sequence) and all(isinstance(v, str) for v in value):
        return list(value)
    raise InputError(f"{source} line {line}: expected answers as a text or a list of texts")


def truth_of(row: Mapping[str, Any], name: str, source: str, line: int) -> bool:
    """Return a truth value, also one that CSV has as text. Raises InputError with the place."""
    value = row.get(name)
    known = truth_value(value)
    if known is not None:
        return known
    raise InputError(f"{source} line {line}: {name} is {value!r:.40}; expected true or false")
