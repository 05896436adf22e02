"""Long texts that somebody already has, and what people said of their claims where they did.

One row is one text. Read are FActScore's labeled files (Min et al. 2023, MIT: ``topic``,
``output``, ``annotations`` with sentences and ``human-atomic-facts`` labeled S, NS, IR;
``annotations`` null = the model abstained), Factcheck-Bench (Wang et al. 2024, Apache-2.0:
``prompt``, ``response``, ``claims``, ``claim_labels``), and a user's own rows: a text under
``text``, ``output``, ``response``, ``answer`` or ``generation``, what it is about under ``topic``,
``entity`` or ``title``, and what was asked under ``prompt`` or ``question``: one of the two. A
system is a file: its name tells it from the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from sayso.datasets.dataset import Dataset, hub_rows, questions_hash, text_of
from sayso.datasets.tables import SUFFIXES as TABLES
from sayso.datasets.tables import read_rows, read_table
from sayso.records import InputError, Question, question_id

# Things to be told about: ``--data topics:FILE`` for long texts without wanted facts.
#
# A text file has one topic a line ("Mira Toll"). JSONL, JSON, Parquet, CSV and TSV have a row
# for
# each: what it is about under ``topic``, ``entity``, ``name`` or ``title`` (FActScore's entity
# lists
# and labeled files, Min et al. 2023), a ``prompt`` or ``question`` of its own (LongFact, Wei et
# al.
# 2024), or both; ``domain`` or ``category``, and ``frequency`` (FActScore's rarity), become
# slices.
# A topic without a prompt of its own is asked as "Tell me about X."

NAMES = ("topic", "entity", "name", "title")
DOMAINS = ("domain", "category")
#: a line longer than this is a text, not a topic
LONGEST = 500


def load_topics_file(path: Path, name: str = "topics", *, region: bool = False) -> Dataset:
    """Load topics; each once. ``region``: FActScore's second slice too. Raises InputError."""
    rows = read_table(path) if path.suffix.lower() in TABLES else _lines(path)
    return dataset_of(rows, str(path), name=name, region=region)


def dataset_of(
    rows: Iterable[tuple[int, Mapping[str, object]]],
    source: str,
    *,
    name: str,
    region: bool = False,
) -> Dataset:
    """Turn rows into topics; each once. Raises InputError naming the line."""
    found: dict[str, Question] = {}
    count = 0
    for line, row in rows:
        count += 1
        question = _question(row, f"{source} line {line}", name, 2 if region else 1)
        found.setdefault(question.id, question)
    if not found:
        raise InputError(f"{source}: no topic in it; expected one a line")
    questions = tuple(found.values())
    notes = [f"{count} row{'s' * (count != 1)} read from {source}"]
    if len(questions) < count:
        notes.append(f"{count - len(questions)} left out: topics that stand there already")
    return Dataset(name, questions, questions_hash(questions), count, tuple(notes))


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give one file in it") from None
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the name") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        topic = _plain(line)
        if len(topic) > LONGEST:
            raise InputError(
                f"{path} line {number}: {len(topic):,} characters; expected a topic, one a line "
                "(texts that exist already: sayso factuality)"
            )
        if topic:
            yield number, {"topic": topic}


def _question(row: Mapping[str, object], source: str, name: str, kinds: int) -> Question:
    topic, prompt, domain = (_text(row, names) for names in (NAMES, PROMPTS, DOMAINS))
    if not topic and not prompt:
        have = ", ".join(map(repr, row)) or "nothing"
        raise InputError(
            f"{source}: no topic: expected {', '.join(NAMES)} or {', '.join(PROMPTS)}; "
            f"it has {have}"
        )
    text = prompt or f"Tell me about {topic}."
    given = row.get("cat")  # FActScore: rarity and region
    rarity = [row["frequency"]] if row.get("frequency") is not None else []
    told = given[:kinds] if isinstance(given, list) and given else rarity
    slices = [domain, *(_plain(str(kind)) for kind in told)]
    about = topic or text
    key = question_id(name, about, text)
    return Question(key, name, text, entity=about, domain=", ".join(filter(None, slices)))


def _text(row: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first text under one of these names, in whatever case the header has them."""
    folded = {str(key).strip().casefold(): value for key, value in row.items()}
    found = (folded.get(name) for name in names)
    return next((plain for v in found if isinstance(v, str) and (plain := _plain(v))), "")


def _plain(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


# FActScore: people to tell about, from famous to obscure, and texts whose claims people
# checked.
#
# Min et al. 2023, "FActScore: Fine-grained Atomic Evaluation of Factual Precision in Long Form
# Text
# Generation", arXiv 2305.14251. Licence MIT (github.com/shmsw25/FActScore). The authors keep
# their
# data in a Google Drive folder that the repository's README links, not on the hub:
# ``labeled/prompt_entities.txt`` (183 people), ``unlabeled/prompt_entities.txt`` (500), and
# ``labeled/{InstructGPT,ChatGPT,PerplexityAI}.jsonl``.
#
# ``--data factscore:FILE`` reads either as people to be told about, each asked "Tell me about
# X."
# (:mod:`sayso.datasets.long_texts`); rarity and region of a labeled file become slices. The texts
# themselves, with their claims and labels, are for ``sayso factuality``, which reads the
# labeled
# files as they are (:mod:`sayso.datasets.long_texts`)::
#
#     {"topic": "…", "cat": ["rare", "Europe"], "input": "…", "output": "…", "annotations": […]}


def load_factscore(split: str = "test") -> Dataset:
    """Refuse: the set is not on the hub. Says where it is, whatever the ``split``."""
    raise InputError(
        "factscore is not on the hub: get its folder through github.com/shmsw25/FActScore and name "
        "a file of it, --data factscore:prompt_entities.txt or factscore:ChatGPT.jsonl"
    )


def load_factscore_file(path: Path) -> Dataset:
    """Load a list of people, or a labeled file. Raises InputError naming the line."""
    return load_topics_file(path, name="factscore", region=True)


# Finding a piece of text in its source when white space or citation marks were taken out of it.

_DROPPED = re.compile(r"\s+|\[\d{1,3}\]")


class Squeezed:
    """A text without white space and without marks such as [3], with the place of every character.

    Pieces are looked for in order, each after the one before, so that equal sentences are told
    apart. ``reached`` is the end of the last piece found, in the text itself.
    """

    def __init__(self, text: str) -> None:
        self._places: list[int] = []
        at = 0
        for dropped in _DROPPED.finditer(text):
            self._places += range(at, dropped.start())
            at = dropped.end()
        self._places += range(at, len(text))
        self._text = "".join(text[place] for place in self._places)
        self._after = 0
        self.reached = 0

    def find(self, piece: str) -> tuple[int, int] | None:
        """Return (start, end) of a piece in the text, ``None`` if it is not in what is left."""
        wanted = _DROPPED.sub("", piece)
        place = self._text.find(wanted, self._after) if wanted else -1
        if place < 0:
            return None
        self._after = place + len(wanted)
        self.reached = self._places[self._after - 1] + 1
        return self._places[place], self.reached


# LongFact: questions about 38 subjects whose answers are long texts full of facts.
#
# Wei et al. 2024, "Long-form factuality in large language models", arXiv 2403.18802. The
# authors
# publish a folder of JSONL files on GitHub, google-deepmind/long-form-factuality
# (``longfact/``): for
# each subject 30 prompts about objects and 30 about concepts, 2,280 in all, in two folders
# (``longfact-objects_gpt4_01-12-2024_noduplicates``, …). Licence CC BY 4.0 (code: Apache-2.0).
# Hub:
# claserken/longfact, ``train``, a copy that others keep and of which only the split and the
# column
# ``prompt`` could be verified. One row::
#
#     {"prompt": "…", "canary": "…"}
#
# A file or a whole folder can be named. A file's name says subtask and subject, which become
# the
# slice: ``longfact-objects_virology.jsonl`` is "objects, virology". The canary is not read.

LONGFACT_HUB_ID = "claserken/longfact"
LONGFACT_SPLITS: dict[str, str | None] = {"test": "train", "dev": "train", "train": "train"}
_NAME = re.compile(r"longfact-(objects|concepts)_(.+)", re.IGNORECASE)


def load_longfact(split: str = "test") -> Dataset:
    """Load the copy on the hub; its only split is every split."""
    advice = "download the folder of its authors and name it: --data longfact:FOLDER"
    rows = hub_rows("longfact", LONGFACT_HUB_ID, None, split, LONGFACT_SPLITS, advice)
    return dataset_of(((n, _row(row, "")) for n, row in rows), LONGFACT_HUB_ID, name="longfact")


def load_longfact_file(path: Path) -> Dataset:
    """Load one file (JSONL, JSON, Parquet, CSV) or a folder of JSONL files. Raises InputError."""
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name")
    if not path.is_dir():
        return dataset_of(_rows(path), str(path), name="longfact")
    files = sorted(path.rglob("longfact-*_*.jsonl")) or sorted(path.glob("*.jsonl"))
    if not files:
        raise InputError(f"{path}: no .jsonl file in it, and no longfact-*.jsonl in its folders")
    rows = chain.from_iterable(map(_rows, files))
    return dataset_of(rows, str(path), name="longfact")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    found = _NAME.fullmatch(path.stem)
    slice_ = f"{found[1].lower()}, {found[2].replace('-', ' ')}" if found else ""
    for line, row in read_table(path):
        if not isinstance(row.get("prompt"), str) or not row["prompt"].strip():
            raise InputError(f"{path} line {line}: expected a text under prompt")
        yield line, _row(row, slice_)


def _row(row: Mapping[str, Any], slice_: str) -> dict[str, Any]:
    return {"prompt": row.get("prompt"), "domain": slice_}


TEXTS = ("text", "output", "response", "answer", "generation")
TOPICS = ("topic", "entity", "title")
PROMPTS = ("prompt", "question")
LABELS = ("S", "NS", "IR")
#: what a row of claims may say instead of S, NS and IR
SAME_AS: dict[object, str] = {
    True: "S", False: "NS", "supported": "S", "not supported": "NS", "irrelevant": "IR",
    "true": "S", "false": "NS", "unsupported": "NS", "refuted": "NS",
}  # fmt: skip
#: people looked and could not tell: no label, which is counted
UNTOLD = ("unknown", "not enough evidence", "nei", "controversial")


class GivenSentence(NamedTuple):
    """A sentence of a text: its span, and whether people called it relevant."""

    start: int
    end: int
    relevant: bool | None = None


class GivenClaim(NamedTuple):
    """A claim that people took from a text. ``sentence`` from 1, ``None`` where nobody said;
    ``label`` S, NS or IR, ``None`` with a ``problem`` where there is none."""

    text: str
    label: str | None
    sentence: int | None = None
    problem: str | None = None


class GivenText(NamedTuple):
    """One text. ``sentences`` and ``claims`` are ``None`` where the row has none: they are made.

    ``abstained``: people found that it does not answer (FActScore's null annotations).
    """

    line: int
    topic: str
    text: str
    prompt: str = ""
    domain: str = ""
    sentences: tuple[GivenSentence, ...] | None = None
    claims: tuple[GivenClaim, ...] | None = None
    abstained: bool = False
    unplaced: int = 0


def read_texts(path: Path | str) -> Iterator[GivenText]:
    """Yield the texts of a JSONL, JSON or Parquet file. Raises InputError naming the line."""
    for line, row in read_rows(path):
        source = f"{path} line {line}"
        if "annotations" in row and "output" in row:
            yield _factscore(row, line, source)
        else:
            yield _own(row, line, source)


def _first(row: Mapping[str, Any], names: Sequence[str], source: str, what: str) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
    have = ", ".join(map(repr, row)) or "nothing"
    raise InputError(f"{source}: no {what}: expected one of {', '.join(names)}; it has {have}")


def _factscore(row: Mapping[str, Any], line: int, source: str) -> GivenText:
    text = _first(row, ("output",), source, "text")
    topic = _first(row, (*TOPICS, *PROMPTS), source, "topic")
    kinds = row.get("cat")
    domain = str(kinds[0]) if isinstance(kinds, list) and kinds else ""
    given = row["annotations"]
    prompt = str(row.get("input") or "")
    if given is None:
        return GivenText(line, topic, text, prompt, domain, (), (), abstained=True)
    if not isinstance(given, list):
        raise InputError(f"{source}: annotations: expected a list of sentences, or null")
    squeezed, sentences, claims, lost = Squeezed(text), [], [], 0
    for number, one in enumerate(given, 1):
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            raise InputError(f"{source}: annotations {number}: expected an object with a text")
        span = squeezed.find(one["text"])
        lost += span is None
        start, end = span or (squeezed.reached, squeezed.reached)
        sentences.append(GivenSentence(start, end, bool(one.get("is-relevant"))))
        facts = one.get("human-atomic-facts") or []
        if not isinstance(facts, list):
            raise InputError(f"{source}: annotations {number}: human-atomic-facts is no list")
        claims += [_claim(f, f"{source}: annotations {number}", number) for f in facts]
    return GivenText(
        line, topic, text, prompt, domain, tuple(sentences), tuple(claims), unplaced=lost
    )


def _own(row: Mapping[str, Any], line: int, source: str) -> GivenText:
    text = _first(row, TEXTS, source, "text")
    topic = next((str(row[n]) for n in TOPICS if isinstance(row.get(n), str)), "")
    prompt = next((str(row[n]) for n in PROMPTS if isinstance(row.get(n), str)), "")
    domain = row.get("domain") or row.get("category") or ""
    given = row.get("claims")
    if given is None:
        return GivenText(line, topic, text, prompt, str(domain))
    if not isinstance(given, list):
        raise InputError(f"{source}: claims: expected a list, got {type(given).__name__}")
    labels = row.get("claim_labels")
    if labels is not None:
        if not isinstance(labels, list) or len(labels) != len(given):
            raise InputError(
                f"{source}: {len(given)} claims and "
                f"{len(labels) if isinstance(labels, list) else 'no list of'} claim_labels: "
                "expected one label for each"
            )
        given = [{"text": c, "label": x} for c, x in zip(given, labels, strict=True)]
    claims = tuple(_claim(one, source, None) for one in given)
    return GivenText(line, topic, text, prompt, str(domain), None, claims)


def _claim(value: object, source: str, sentence: int | None) -> GivenClaim:
    if isinstance(value, str):
        return GivenClaim(value, None, sentence, "unlabeled")
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise InputError(f"{source}: a claim is {value!r:.60}; expected an object with a text")
    label = value.get("label")
    key = label.strip().lower() if isinstance(label, str) else label
    found = label if label in LABELS else SAME_AS.get(key if isinstance(key, str | bool) else None)
    if label is not None and found is None and key not in UNTOLD:
        raise InputError(
            f"{source}: a claim is labeled {label!r:.40}; expected S, NS, IR, true or false"
        )
    number = value.get("sentence")
    if isinstance(number, int) and not isinstance(number, bool) and number >= 1:
        sentence = number
    problem = None if found is not None else "unlabeled"
    return GivenClaim(value["text"], str(found) if found else None, sentence, problem)


# WildHallucinations: things that people asked chatbots about, half of them not in Wikipedia.
#
# Zhao et al. 2024, "WildHallucinations: Evaluating Long-form Factuality in LLMs with Real-World
# Entity Queries", arXiv 2407.17468. Licence MIT (the card on the hub). Hub:
# wentingzhao/WildHallucinations, ``train``, 7,917 entities; with the web pages about them a
# download
# of 1.4 GB. Things to be told about, without wanted facts: asked as "Tell me about X.", in our
# words.
# Of a row ``entity``, ``category`` and ``wiki`` (whether Wikipedia has it) are read, the last
# two as
# slices; ``info``, web pages about it, can be exported and searched with ``sayso index``::
#
#     {"entity": "…", "category": "…", "wiki": 1, "perplexity": 3.1, "info": […]}

WILDHALLUCINATIONS_HUB_ID = "wentingzhao/WildHallucinations"
WILDHALLUCINATIONS_SPLITS: dict[str, str | None] = {
    "test": "train",
    "dev": "train",
    "train": "train",
}
NAME = "wildhallucinations"


def load_wildhallucinations(split: str = "test") -> Dataset:
    """Load the set from the hub; its only split is every split."""
    rows = hub_rows(NAME, WILDHALLUCINATIONS_HUB_ID, None, split, WILDHALLUCINATIONS_SPLITS)
    return dataset_of(
        rows_of(rows, WILDHALLUCINATIONS_HUB_ID), WILDHALLUCINATIONS_HUB_ID, name=NAME
    )


def load_wildhallucinations_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return dataset_of(rows_of(read_table(path), str(path)), str(path), name=NAME)


def rows_of(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rows of topics: what to tell about, and the slices it belongs to."""
    for line, row in rows:
        entity, category = text_of(row, ("entity",), source, line), row.get("category")
        slices = [category if isinstance(category, str) else ""]
        if row.get("wiki") is not None:
            known = str(row["wiki"]).strip().lower() in ("1", "1.0", "true")
            slices.append("in Wikipedia" if known else "not in Wikipedia")
        yield line, {"entity": entity, "domain": ", ".join(filter(None, slices))}
