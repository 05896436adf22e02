"""Answers on record: files of answers as questions, and what each model said to them.

One pass over the files serves all models in them. All models share one set of questions, so that
their runs can be compared; a question that a model has no answer to is left out of its run, and
counted there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.datasets.answer_files import OpenAnswers, open_answer_file
from sayso.datasets.answer_rows import ABOVE_ZERO, NO_TEXT, AnswerRow
from sayso.datasets.dataset import Dataset, questions_hash
from sayso.datasets.tables import gold_in, read_table, stem_of
from sayso.datasets.tools.batch import NO_QUESTIONS
from sayso.options import LogprobKind
from sayso.records import (
    Aspect,
    Gold,
    InputError,
    Question,
    content_id,
    is_blank,
    question_id,
    tier_of,
)
from sayso.storage.atomic import real_path

#: data of files in which the file is the model
NAME = "answers"
CONVERT = {
    "base2": "multiply them by ln 2 = 0.6931",
    "base10": "multiply them by ln 10 = 2.3026",
    "logits": "they are not probabilities until they are normalized over all tokens",
}


class RecordedModel(NamedTuple):
    """What one model said: its rows by question, and what was left out, and why."""

    name: str
    rows: Mapping[str, AnswerRow]
    notices: tuple[str, ...]

    @property
    def identity(self) -> str:
        """A hash of what is on record, under the model's name."""
        said: list[tuple[object, ...]] = []
        for q, r in sorted(self.rows.items()):
            row = (q, r.answer, r.samples, r.logprobs, r.sample_logprobs, r.human, r.stated)
            # files without entropies keep the hash that they had before these were part of it
            none = r.entropies is None and r.sample_entropies is None
            said.append(row if none else (*row, r.entropies, r.sample_entropies))
        return f"recorded:{content_id([self.name, said])}"

    @property
    def draws(self) -> int:
        """The most samples that a question has."""
        return max((len(row.samples) for row in self.rows.values()), default=0)


class RecordedAnswers(NamedTuple):
    """The questions of some files, and the models that answered them."""

    data: Dataset
    models: list[RecordedModel]


class _Model:
    """A model while its rows come in."""

    def __init__(self) -> None:
        self.rows: dict[str, AnswerRow] = {}
        self.count = 0
        self.left_out = Counter[str]()
        self.problems = Counter[str]()
        self.files: list[str] = []
        self.notes: list[str] = []

    def take(self, question: str, row: AnswerRow) -> None:
        self.count += 1
        self.problems.update(p for p in row.problems if p != NO_TEXT)
        if row.answer is None and not row.samples:
            self.left_out["no answer"] += 1
        elif question in self.rows:
            self.left_out["the question was already answered (the first answer counts)"] += 1
        else:
            self.rows[question] = row

    def finished(self, name: str) -> RecordedModel:
        out = "; ".join(f"{n:,} left out: {why}" for why, n in self.left_out.items())
        lead = f"answers of {name}: {len(self.rows):,} of {self.count:,} rows are used"
        files = f", from {', '.join(dict.fromkeys(self.files))}"
        worst = [
            f"{n:,} row{'s' * (n > 1)}: {problem}" for problem, n in self.problems.most_common(MOST)
        ]
        notes = [f"{lead}{files}{'; ' if out else ''}{out}", *dict.fromkeys(self.notes), *worst]
        return RecordedModel(name, self.rows, tuple(notes))


#: kinds of problems of rows that are told
MOST = 20


def read_recorded(
    files: Sequence[Path | str],
    columns: Mapping[str, str] | None = None,
    logprobs: LogprobKind | None = None,
) -> RecordedAnswers:
    """Read files of answers: a model for each name in the column ``model``, else for each file.

    ``columns`` maps our names to the files'; ``logprobs`` says what their log-probabilities are, if
    the columns do not. Raises InputError for files that cannot be read, and for log-probabilities
    that are none.
    """
    check_files(files)
    _check_kind(logprobs)
    questions = _Questions()
    models: dict[str, _Model] = {}
    names = file_names([Path(file) for file in files])
    by_column = False
    for file, name in zip(files, names, strict=True):
        answers = open_answer_file(file, _columns_in(Path(file), columns, files), reader="answers")
        aliases = answers.layout is not None and answers.layout.aliases
        of_file: dict[str, _Model] = {}
        for given in answers.rows:
            row = _with_logprobs(given, logprobs, str(file))
            by_column = by_column or row.model is not None
            own = _model_name(row.model or name)
            of_file[own] = model = models.setdefault(own, _Model())
            question = questions.of(row, aliases)
            if question is None:
                model.count += 1
                model.left_out["no question"] += 1
            else:
                model.take(question, msgspec.structs.replace(row, own={}))
        if not any(model.rows for model in of_file.values()):
            left = sum((model.left_out for model in of_file.values()), Counter[str]())
            if answers.kind == "batch":
                raise InputError(f"{file}: {NO_QUESTIONS}: sayso score {file} --set requests=INPUT")
            raise InputError(
                f"{file}: no row has a question and an answer "
                f"({'; '.join(f'{n:,} × {why}' for why, n in left.items())}): "
                "name its columns (--columns question=…,answer=…), or leave the file out"
            )
        _note(of_file, answers, Path(file).name)
    data = questions.dataset(stem_of(Path(files[0])) if by_column and len(files) == 1 else NAME)
    found = [model.finished(name) for name, model in models.items() if model.rows]
    if not found:
        raise InputError(f"{', '.join(map(str, files))[:200]}: no row has a question and an answer")
    return RecordedAnswers(data, found)


def _columns_in(
    file: Path, columns: Mapping[str, str] | None, files: Sequence[Path | str]
) -> Mapping[str, str] | None:
    """Return the names that a file has, of names for several files; the others are of another."""
    if not columns or len(files) == 1 or file.suffix.lower() == ".eval":
        return columns
    first = next(iter(read_table(file)))[1]
    return {ours: theirs for ours, theirs in columns.items() if theirs in first}


def check_files(files: Sequence[Path | str]) -> None:
    """Raise InputError for no file, or for one that is named twice."""
    if not files:
        raise InputError("no file of answers: pass --answers with one or more files")
    twice = [place for place, n in Counter(str(real_path(Path(f))) for f in files).items() if n > 1]
    if twice:
        raise InputError(f"{twice[0]} is named twice")


def _check_kind(kind: LogprobKind | None) -> None:
    if kind in CONVERT:
        raise InputError(
            f"logprobs {kind}: expected natural logarithms of probabilities; {CONVERT[kind]}. "
            "--set logprobs=none leaves them out"
        )


def _note(models: Mapping[str, _Model], answers: OpenAnswers, name: str) -> None:
    """Add to each model of a file what a reader must know of it."""
    layout = answers.layout
    notes = [f"{name}: {text}" for text in answers.notices]
    notes += [f"{layout.name}: {text}" for text in layout.notes] if layout is not None else []
    for model in models.values():
        model.files.append(name if layout is None else f"{name} ({layout.name})")
        model.notes += notes


def file_names(files: Sequence[Path]) -> list[str]:
    """Return the files' names as names of models, with their folders where two are equal."""
    stems = [stem_of(file) for file in files]
    return [
        stem if stems.count(stem) == 1 else f"{real_path(file).parent.name}/{stem}"
        for file, stem in zip(files, stems, strict=True)
    ]


#: characters of a model's name
LONGEST_NAME = 200


def _model_name(name: str) -> str:
    """Return a name in one line; two long ones that begin alike stay two."""
    text = " ".join(name.split()) or "unnamed"
    return text if len(text) <= LONGEST_NAME else f"{text[:180]}… {content_id(text)[:12]}"


def _with_logprobs(row: AnswerRow, kind: LogprobKind | None, file: str) -> AnswerRow:
    """Return a row whose log-probabilities can be used, or that has none.

    A list with a value that is unknown is left out whole: a mean over the others is of another
    text. Raises InputError for values that are no logarithms of probabilities.
    """
    if row.logprobs is None and row.sample_logprobs is None:
        return row
    every = [row.logprobs, *(row.sample_logprobs or ())]
    if kind == "none":
        return msgspec.structs.replace(row, logprobs=None, sample_logprobs=None)
    if any(value > ABOVE_ZERO for values in every for value in values or ()):
        raise InputError(
            f"{file} {row.place}: log-probabilities above 0: expected natural logarithms of "
            "probabilities, not logits or probabilities; convert them, or leave them out with "
            "--set logprobs=none"
        )
    known = [values if values and all(map(math.isfinite, values)) else None for values in every]
    return msgspec.structs.replace(
        row,
        logprobs=known[0],
        sample_logprobs=tuple(known[1:]) if row.sample_logprobs is not None else None,
    )


class _Questions:
    """The questions of all files, each once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, str | None], str] = {}
        self._found: dict[str, Question] = {}
        self._count = 0
        self._unlike: set[str] = set()

    def of(self, row: AnswerRow, aliases: bool) -> str | None:
        """Return the id of a row's question; ``None`` for a row without one."""
        self._count += 1
        text = " ".join(row.question.split())
        if is_blank(text):
            return None
        context = row.context.strip() or None if row.context else None
        key = (text, row.entity or "", context)
        id_ = self._ids.get(key)
        if id_ is None:
            id_ = self._ids[key] = question_id(NAME, row.entity or "", text, context)
        known = self._found.get(id_)
        if known is None or known.golds is None or known.answerable is None:
            self._found[id_] = _question(id_, text, context, row, known, aliases)
        if known is not None and _contradicts(row, known):
            self._unlike.add(id_)
        return id_

    def dataset(self, name: str) -> Dataset:
        """Return all questions as a set; its name is no part of them, so that files with the same
        questions are the same data."""
        questions = tuple(
            msgspec.structs.replace(q, domain=q.domain or NAME) for q in self._found.values()
        )
        notes = [
            f"{self._count:,} rows of answers to {len(questions):,} questions"
            f"{self._without_gold(questions)}"
        ]
        if self._unlike:
            notes.append(
                f"{len(self._unlike):,} questions have different golds in different rows, or can "
                "be answered in one and not in another: the first ones count"
            )
        return Dataset(name, questions, questions_hash(questions), self._count, tuple(notes))

    def _without_gold(self, questions: Sequence[Question]) -> str:
        bare = sum(q.golds is None and q.answerable is not False for q in questions)
        if not bare:
            return ""
        return (
            f"; {bare:,} have no gold: their answers count neither as right nor as wrong (if "
            "nobody can answer, write false in a column answerable)"
        )


def _contradicts(row: AnswerRow, known: Question) -> bool:
    """Tell whether a row says of a question what an earlier row did not."""
    can = row.answerable if row.answerable is not None else bool(row.gold) or None
    if None not in (can, known.answerable) and can != known.answerable:
        return True
    golds = {name for gold in known.golds or () for name in gold.names}
    return bool(golds) and not {*(row.gold or ())} <= golds


def _question(
    id_: str, text: str, context: str | None, row: AnswerRow, known: Question | None, aliases: bool
) -> Question:
    """Return a question as a row has it; what an earlier row said of it stays."""
    golds = known.golds if known is not None else None
    answerable = known.answerable if known is not None else None
    if golds is None and row.gold and row.answerable is not False:
        values = list(row.golds or (gold_in(value, row.place) for value in row.gold))
        others = tuple(dict.fromkeys(g.value for g in values[1:] if g.value != values[0].value))
        golds = tuple(values)
        if aliases:
            golds = (Gold(values[0].value, others, kind=values[0].kind),)
    if answerable is None:
        answerable = row.answerable if row.answerable is not None else True if golds else None
    if answerable is False:
        golds = None
    return Question(
        id=id_,
        dataset=NAME,
        text=text,
        golds=golds,
        answerable=answerable,
        entity=row.entity or f"question {content_id(text)[:8]}",
        domain=row.domain or (known.domain if known else ""),
        tier=tier_of(row.tier or "") or (known.tier if known else ""),
        pair=row.pair or (known.pair if known else ""),
        aspect=known.aspect if known and known.aspect else _aspect(row),
        context=context,
    )


def _aspect(row: AnswerRow) -> Aspect | None:
    text = " ".join((row.aspect or "").split())
    return Aspect(text) if text else None
