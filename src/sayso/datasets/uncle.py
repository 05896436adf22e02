"""UNCLE's record format: an entity, one long prompt, and a short question for each aspect in it.

Yang, Zhang et al. 2025, "UNCLE: Benchmarking Uncertainty Expressions in Long-Form Generation",
arXiv 2505.16922, section 3; code github.com/rhyang2021/UNCLE. Neither that repository nor the card
on the hub names a license. Hub: rhyang2021/UNCLE, one file, ``uncle.json``. One record::

    {"entity": "…", "prompt": "…", "domain": "bios", "individual_qa": [
        {"question": "…", "answer": ["…"], "label": "…", "description": "…", "property_id": "P19"}]}

The paper's Listing 1 has no ``description``: the ``label`` names such an aspect. A record may have
a ``tier``, how widely known the entity is; ``sayso build`` writes a ``stratum``,
which is read as one. ``answer`` lists *all true values*. An aspect is the pair (long prompt, part):
a short question that several prompts of an entity share is one Question, asked once and counted
once per pair.

Our files may hold more of a gold (aliases, its kind, the unit of a quantity) than the plain strings
above. :func:`published_records` and :func:`plain_answers` write what the official scripts read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from sayso.datasets.dataset import Dataset, hub_rows, questions_hash
from sayso.datasets.tables import gold_in, read_rows
from sayso.records import Aspect, Gold, InputError, Question, question_id

HUB_ID = "rhyang2021/UNCLE"
#: records that the two published versions of the set hold
PUBLISHED_ROWS = (1066, 3932)


class _Part(msgspec.Struct):
    question: str
    answer: list[str | int | float | Gold | None]
    description: str = ""
    label: str = ""
    property_id: str = ""

    @property
    def name(self) -> str:
        """What a prompt calls the aspect; "" if the record does not say."""
        return self.description or self.label


class _Record(msgspec.Struct):
    entity: str
    prompt: str
    individual_qa: list[_Part]
    domain: str = ""
    tier: str | int = ""
    stratum: str = ""

    @property
    def level(self) -> str:
        """The tier of its questions."""
        return str(self.tier).strip() or self.stratum


def load_uncle_file(path: Path) -> Dataset:
    """Load a user's own questions from JSONL, JSON or Parquet."""
    # an undecodable file name must not reach an id
    name = path.stem.encode("utf-8", "replace").decode()
    return from_records(read_rows(path), name=name, source=str(path))


def load_uncle(split: str = "test") -> Dataset:
    """Load the published set through ``datasets``. The set has no splits; ``split`` is ignored.

    Its rows are taken as they are: a repeated prompt or an aspect without a gold is left out and
    counted in the notes, since only its authors can correct it.
    """
    rows = hub_rows("uncle", HUB_ID, None, split, {split: None})
    data = from_records(rows, name="uncle", source=HUB_ID, strict=False)
    if data.rows not in PUBLISHED_ROWS:
        expected = " or ".join(str(n) for n in PUBLISHED_ROWS)
        note = f"{HUB_ID} has {data.rows} rows, not the {expected} that were published"
        data = msgspec.structs.replace(data, notes=(*data.notes, note))
    return data


# ---- the published format, written


def plain_answer(gold: Gold) -> str:
    """Return a gold as the published file writes it: a timestamp, a number with its unit, a text.

    A date that is coarser than a day is in words already ("April 1981").
    """
    return f"{gold.value} {gold.unit}" if gold.unit else gold.value


def plain_answers(golds: Iterable[Gold]) -> list[str]:
    """Return golds as a list of strings, each once. Aliases are left out: they are not values."""
    return list(dict.fromkeys(map(plain_answer, golds)))


class PublishedPart(msgspec.Struct, frozen=True):
    """A short question with the keys of the published file."""

    question: str
    answer: list[str]
    label: str
    description: str
    property_id: str


class PublishedRecord(msgspec.Struct, frozen=True):
    """A prompt with its questions, with the keys of the published file."""

    entity: str
    prompt: str
    domain: str
    individual_qa: list[PublishedPart]


def published_record(
    entity: str,
    prompt: str,
    domain: str,
    parts: Iterable[tuple[str, Iterable[Gold], str, str, str]],
) -> PublishedRecord:
    """Return a record of (question, golds, label, description, property) of each aspect."""
    rows = [PublishedPart(text, plain_answers(golds), *about) for text, golds, *about in parts]
    return PublishedRecord(entity, prompt, domain, rows)


def published_records(questions: Iterable[Question]) -> tuple[list[PublishedRecord], int]:
    """Return a record for each prompt, and how many of its questions have no gold or no aspect.

    Those are left out, and with them a prompt of which none is left.
    """
    every = {question.id: question for question in questions}
    records, left = [], 0
    for long in every.values():
        parts = []
        for short in (every[id] for id in long.parts):
            if not short.golds or short.aspect is None:
                left += 1
                continue
            aspect = short.aspect
            label = aspect.label or aspect.description
            about = label, aspect.description, aspect.property_id
            parts.append((short.text, short.golds, *about))
        if parts:
            records.append(published_record(long.entity, long.text, long.domain, parts))
    return records, left


# ---- records, read


def from_records(
    rows: Iterable[tuple[int, object]], *, name: str, source: str, strict: bool = True
) -> Dataset:
    """Turn records into questions. ``rows`` gives (line number, decoded object).

    With ``strict`` a repeated prompt, a repeated question with other golds or an empty gold list
    is an InputError with file and line; otherwise such rows are left out and counted in notes.
    """
    reader = _RecordReader(name, source, strict)
    count = 0
    for line, row in rows:
        count += 1
        reader.add(_record(row, source, line), line)
    if not reader.longs:
        raise InputError(f"{source}: no record with a question and an answer was found")
    # a row that was left out may have been the only one with a question
    parts = {part for long in reader.longs.values() for part in long.parts}
    questions = (*(q for q in reader.shorts.values() if q.id in parts), *reader.longs.values())
    notes = [] if name == "builtin" else [f"{count} row{'s' * (count != 1)} read from {source}"]
    if reader.unnamed:
        notes.append(
            f"{reader.unnamed} aspects are not named in their prompt: a paragraph may leave them "
            "out"
        )
    notes += [f"{number} left out: {what}" for what, number in sorted(reader.left_out.items())]
    return Dataset(name, questions, questions_hash(questions), count, tuple(notes))


class _RecordReader:
    """The questions of the records so far, and what was left out of them."""

    def __init__(self, name: str, source: str, strict: bool) -> None:
        self.name, self.source, self.strict = name, source, strict
        self.shorts: dict[str, Question] = {}
        self.longs: dict[str, Question] = {}
        self.left_out: Counter[str] = Counter()
        self.unnamed = 0

    def add(self, record: _Record, line: int) -> None:
        """Add a record's prompt and those of its aspects that can be asked."""
        prompt = record.prompt.strip()
        parts: list[str] = []
        for number, part in enumerate(record.individual_qa, start=1):
            short = _short(record, part, self.name)
            if not short.golds:
                aspect = f"aspect {number} ({part.name!r})"
                advice = "give at least one true value, or remove the aspect"
                self._refuse(line, "empty answer list", aspect, advice)
            elif self.shorts.get(short.id, short) != short:
                advice = "a question in several prompts needs the same answers in each"
                self._refuse(
                    line, "repeated question with different answers", repr(short.text), advice
                )
            elif short.id in parts:
                self._refuse(line, "question twice in one prompt", repr(short.text), "remove one")
            elif short.id in self.longs or short.text == prompt:
                advice = "word the prompt and the question differently"
                self._refuse(line, "question that is also a prompt", repr(short.text), advice)
            else:
                self.shorts[short.id] = short
                self.unnamed += part.name.lower() not in prompt.lower()
                parts.append(short.id)
        long = Question(
            id=question_id(self.name, record.entity, prompt),
            dataset=self.name,
            text=prompt,
            entity=record.entity,
            domain=record.domain,
            parts=tuple(parts),
            tier=record.level,
        )
        if long.id in self.longs:
            self._refuse(line, "duplicate prompt", repr(prompt[:60]), "remove one of the two rows")
        elif long.id in self.shorts:
            advice = "word the prompt and the question differently"
            self._refuse(line, "prompt that is also a question", repr(prompt[:60]), advice)
        elif parts:
            self.longs[long.id] = long

    def _refuse(self, line: int, what: str, about: str, advice: str) -> None:
        if self.strict:
            raise InputError(f"{self.source} line {line}: {what}: {about}; {advice}")
        self.left_out[what] += 1


def _record(row: object, source: str, line: int) -> _Record:
    """Check one row. Raises InputError with its place."""
    try:
        record = msgspec.convert(row, _Record)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{source} line {line}: {error}; expected the fields entity, prompt, domain and "
            "individual_qa with question and answer (a list) (a table of questions and "
            "golds: --data file:FILE; a file of a published set: say which, --data nq_open:FILE)"
        ) from None
    empty = [f for f in ("entity", "prompt") if not getattr(record, f).strip()]
    empty += [] if record.individual_qa else ["individual_qa"]
    empty += ["question" for part in record.individual_qa if not part.question.strip()][:1]
    if empty:
        raise InputError(f"{source} line {line}: {empty[0]} is empty; every record needs it")
    return record


def _short(record: _Record, part: _Part, name: str) -> Question:
    values = (gold_in(value, name) for value in part.answer if value is not None)
    golds = tuple(gold for gold in values if gold.value.strip())
    return Question(
        id=question_id(name, record.entity, part.question.strip()),
        dataset=name,
        text=part.question.strip(),
        golds=golds,
        entity=record.entity,
        domain=record.domain,
        aspect=Aspect(part.name, part.label, part.property_id),
        tier=record.level,
    )
