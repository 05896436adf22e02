"""Topics: things to write long texts about, without wanted facts.

``--data topics:FILE`` reads a text file with one topic a line ("Mira Toll"), or rows of JSONL,
JSON, Parquet, CSV and TSV: what to write about under ``topic``, ``entity``, ``name`` or ``title``
(FActScore's entity lists and labeled files, Min et al. 2023), a ``prompt`` or ``question`` of its
own (LongFact, Wei et al. 2024), or both; ``domain`` or ``category``, and ``frequency`` (FActScore's
rarity), become slices. A topic without a prompt of its own becomes "Tell me about X."
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from sayso.datasets.dataset import Dataset, field_text, hub_rows, questions_hash
from sayso.datasets.tables import SUFFIXES, decode_text, read_table, suffix_of, unreadable
from sayso.records import InputError, Question, question_id

NAMES = ("topic", "entity", "name", "title")
PROMPTS = ("prompt", "question")
DOMAINS = ("domain", "category")
#: a longer line is a text, not a topic
LONGEST = 500
#: the hub's split for each of ours, where it has only one
ONE_SPLIT: Mapping[str, str | None] = {"test": "train", "dev": "train", "train": "train"}


def load_topics_file(path: Path, name: str = "topics", *, region: bool = False) -> Dataset:
    """Load topics; each once. ``region``: FActScore's second slice too. Raises InputError."""
    rows = read_table(path) if suffix_of(path) in SUFFIXES else _lines(path)
    return topic_dataset(rows, str(path), name=name, region=region)


def topic_dataset(
    rows: Iterable[tuple[int, Mapping[str, object]]],
    source: str,
    *,
    name: str,
    region: bool = False,
) -> Dataset:
    """Turn rows into topics; each once. Raises InputError naming the line."""
    topics: dict[str, Question] = {}
    count = 0
    for line, row in rows:
        count += 1
        question = _question(row, f"{source} line {line}", name, 2 if region else 1)
        topics.setdefault(question.id, question)
    if not topics:
        raise InputError(f"{source}: no topic in it; expected one per line")
    questions = tuple(topics.values())
    notes = [f"{count} row{'s' * (count != 1)} read from {source}"]
    if len(questions) < count:
        notes.append(f"{count - len(questions)} left out: repeated topics")
    return Dataset(name, questions, questions_hash(questions), count, tuple(notes))


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        text = decode_text(path.read_bytes(), path, 1, first=True)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name one file in it") from None
    except OSError as error:
        raise unreadable(path, error) from error
    for number, line in enumerate(text.split("\n"), 1):
        topic = _plain(line)
        if len(topic) > LONGEST:
            raise InputError(
                f"{path} line {number}: {len(topic):,} characters; expected one topic per line "
                "(for existing texts: --answers)"
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
    named = given[:kinds] if isinstance(given, list) and given else rarity
    slices = [domain, *(_plain(str(kind)) for kind in named)]
    about = topic or text
    key = question_id(name, about, text)
    # a prompt is no title: without a topic the whole of a source is searched
    return Question(key, name, text, entity=topic, domain=", ".join(filter(None, slices)))


def _text(row: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first text under one of these names, in whatever case the header has them."""
    folded = {str(key).strip().casefold(): value for key, value in row.items()}
    values = (folded.get(name) for name in names)
    return next((plain for v in values if isinstance(v, str) and (plain := _plain(v))), "")


def _plain(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


# ---- published sets


def load_factscore(split: str = "test") -> Dataset:
    """Refuse: the set is not on the hub. Says where it is, whatever the ``split``."""
    raise InputError(
        "factscore is not on the hub: get its folder through github.com/shmsw25/FActScore and name "
        "a file of it, --data factscore:prompt_entities.txt or factscore:ChatGPT.jsonl"
    )


def load_factscore_file(path: Path) -> Dataset:
    """Load FActScore's people, from famous to obscure: a list, or a labeled file.

    Min et al. 2023, "FActScore: Fine-grained Atomic Evaluation of Factual Precision in Long Form
    Text Generation", arXiv 2305.14251. License MIT (github.com/shmsw25/FActScore). The authors keep
    their data in a Google Drive folder that the repository's README links, not on the hub:
    ``labeled/prompt_entities.txt`` (183 people), ``unlabeled/prompt_entities.txt`` (500), and
    ``labeled/{InstructGPT,ChatGPT,PerplexityAI}.jsonl``. Rarity and region of a labeled file become
    slices. Its texts, with their claims and labels, are for ``--answers``, which reads the
    labeled files as they are (:mod:`sayso.datasets.long_texts`)::

        {"topic": "…", "cat": ["rare", "Europe"], "input": "…", "output": "…", "annotations": […]}

    Raises InputError naming the line.
    """
    return load_topics_file(path, name="factscore", region=True)


LONGFACT_HUB_ID = "claserken/longfact"
_LONGFACT_FILE = re.compile(r"longfact-(objects|concepts)_(.+)", re.IGNORECASE)


def load_longfact(split: str = "test") -> Dataset:
    """Load the copy of LongFact on the hub; its only split is every split."""
    advice = "download the folder of its authors and name it: --data longfact:FOLDER"
    rows = hub_rows("longfact", LONGFACT_HUB_ID, None, split, ONE_SPLIT, advice)
    prompts = ((n, {"prompt": row.get("prompt"), "domain": ""}) for n, row in rows)
    return topic_dataset(prompts, LONGFACT_HUB_ID, name="longfact")


def load_longfact_file(path: Path) -> Dataset:
    """Load LongFact, questions about 38 subjects: a file, or a folder of JSONL files.

    Wei et al. 2024, "Long-form factuality in large language models", arXiv 2403.18802. The authors
    publish a folder of JSONL files on GitHub, google-deepmind/long-form-factuality (``longfact/``):
    for each subject 30 prompts about objects and 30 about concepts, 2,280 in all, in two folders
    (``longfact-objects_gpt4_01-12-2024_noduplicates``, …). License CC BY 4.0 (code: Apache-2.0).
    The hub has a copy that others keep and of which only the split and the column ``prompt`` could
    be verified. One row, of which the canary is not read::

        {"prompt": "…", "canary": "…"}

    A file's name says subtask and subject, which become the slice:
    ``longfact-objects_virology.jsonl`` is "objects, virology". Raises InputError.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name")
    if not path.is_dir():
        return topic_dataset(_longfact_rows(path), str(path), name="longfact")
    files = sorted(path.rglob("longfact-*_*.jsonl")) or sorted(path.glob("*.jsonl"))
    if not files:
        raise InputError(f"{path}: no .jsonl file in it, and no longfact-*.jsonl in its folders")
    rows = chain.from_iterable(map(_longfact_rows, files))
    return topic_dataset(rows, str(path), name="longfact")


def _longfact_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    name = _LONGFACT_FILE.fullmatch(path.stem)
    domain = f"{name[1].lower()}, {name[2].replace('-', ' ')}" if name else ""
    for line, row in read_table(path):
        if not isinstance(row.get("prompt"), str) or not row["prompt"].strip():
            raise InputError(f"{path} line {line}: expected a text under prompt")
        yield line, {"prompt": row["prompt"], "domain": domain}


WILD_HUB_ID = "wentingzhao/WildHallucinations"


def load_wildhallucinations(split: str = "test") -> Dataset:
    """Load the set from the hub; its only split is every split."""
    rows = hub_rows("wildhallucinations", WILD_HUB_ID, None, split, ONE_SPLIT)
    return topic_dataset(wild_topics(rows, WILD_HUB_ID), WILD_HUB_ID, name="wildhallucinations")


def load_wildhallucinations_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    rows = wild_topics(read_table(path), str(path))
    return topic_dataset(rows, str(path), name="wildhallucinations")


def wild_topics(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """WildHallucinations: things that people asked chatbots about, half of them not in Wikipedia.

    Zhao et al. 2024, "WildHallucinations: Evaluating Long-form Factuality in LLMs with Real-World
    Entity Queries", arXiv 2407.17468. License MIT (the card on the hub). 7,917 entities; with the
    web pages about them a download of 1.4 GB. Of a row ``entity``, ``category`` and ``wiki``
    (whether Wikipedia has it) are read, the last two as slices; ``info``, web pages about it, can
    be exported and searched with ``sayso index``. The prompt is ours::

        {"entity": "…", "category": "…", "wiki": 1, "perplexity": 3.1, "info": […]}
    """
    for line, row in rows:
        entity, category = field_text(row, ("entity",), source, line), row.get("category")
        slices = [category if isinstance(category, str) else ""]
        if row.get("wiki") is not None:
            known = str(row["wiki"]).strip().lower() in ("1", "1.0", "true")
            slices.append("in Wikipedia" if known else "not in Wikipedia")
        yield line, {"entity": entity, "domain": ", ".join(filter(None, slices))}
