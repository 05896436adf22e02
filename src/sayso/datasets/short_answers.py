"""PopQA: questions on facts of Wikidata, with how often the subject's article is read.

Mallen et al. 2023, "When Not to Trust Language Models", arXiv 2212.10511. Licence MIT, that of its
authors' repository (AlexTMallen/adaptive-retrieval); the hub's card names none. Hub:
akariasai/PopQA, one file, ``test.tsv``, its test split. ``possible_answers`` are ways to write
every right object: those that are neither ``obj`` nor among its ``o_aliases`` write another one,
and so does a row that asks the same words about another subject of that name. Each right object is
a gold of its own, and an answer is right that names one; ``--ambiguous drop`` of ``sayso run
faithfulness`` leaves such questions out. Kept as in MetaFaith's protocol (PROTOCOLS 2.A): relations
director, screenwriter, producer, author, place of birth, occupation, and objects of more than two
characters. The domain of a question is its stratum of popularity::

    {"subj": "…", "prop": "director", "obj": "…", "o_aliases": "["…"]", "s_pop": 1200,
     "question": "…", "possible_answers": "["…"]"}
    {"question": "Who was the director of …?", "possible_answers": ["…"], "s_pop": 1200}
    {"question": "Who was the director of …?", "answer": "…", "aliases": ["…"]}

Rows without ``prop``, as others keep the set, are read by the wording of their question, which the
set makes by one sentence for each relation.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.dataset import (
    Dataset,
    Item,
    dataset_of,
    hub_rows,
    questions_hash,
    text_of,
    texts_of,
    truth_of,
)
from sayso.datasets.tables import read_document, read_rows_under, read_table
from sayso.records import Aspect, Gold, InputError, content_id

# AbstentionBench: questions from twenty sets, and whether one should abstain.
#
# Kirichenko et al. 2025, "AbstentionBench: Reasoning LLMs Fail on Unanswerable Questions",
# arXiv
# 2506.09038. Licence CC BY-NC 4.0, beside those of its sources: not for commercial use. Hub:
# facebook/AbstentionBench, which has a loading script and no data files: ``datasets`` runs such
# scripts up to 3.6.0 only, with leave to execute what they hold, which sayso never gives. So
# export
# the rows once, elsewhere, and name the file (docs/data.md says how).
#
# ``--data abstentionbench`` asks the hub all the same, should data files appear there (the
# names of
# its splits could not be verified: all are read). A row, as the card describes it::
#
#     {"question": "…", "reference_answers": ["…"], "should_abstain": false,
#      "metadata_json": "{…}"}
#
# Questions that one should abstain from have no right answer. A row to be answered that has no
# reference answer is left out and counted. Where a row says which set it comes from
# (``dataset``,
# ``dataset_name`` or ``source``; the card names no such column) this is its domain, else
# "answerable"
# or "unanswerable". Reference answers are ways to write one answer.

ABSTENTIONBENCH_HUB_ID = "facebook/AbstentionBench"
ABSTENTIONBENCH_SPLITS: dict[str, str | None] = {"test": None, "dev": None}
ADVICE = (
    "it has a loading script, which datasets runs up to 3.6.0 only: export its rows there to JSONL "
    "and name the file, --data abstentionbench:FILE (sayso data list; docs/data.md)"
)


def load_abstentionbench(split: str = "test") -> Dataset:
    """Load every row that the hub has. Raises InputError while it has a script only."""
    return _abstentionbench_dataset(
        hub_rows(
            "abstentionbench", ABSTENTIONBENCH_HUB_ID, None, split, ABSTENTIONBENCH_SPLITS, ADVICE
        ),
        ABSTENTIONBENCH_HUB_ID,
    )


def load_abstentionbench_file(path: Path) -> Dataset:
    """Load exported rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return _abstentionbench_dataset(read_table(path), str(path))


def _abstentionbench_dataset(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Dataset:
    left: list[int] = []
    found = list(abstentionbench_items(rows, source, left))
    notes = [f"{len(left):,} left out: to be answered, but no reference answer"] if left else []
    return dataset_of(found, name="abstentionbench", source=source, notes=notes)


def abstentionbench_items(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str, left: list[int]
) -> Iterator[Item]:
    """Yield the questions of rows; lines that hold none with an answer are added to ``left``."""
    for line, row in rows:
        text = text_of(row, ("question",), source, line)
        answerable = not truth_of(row, "should_abstain", source, line)
        names = texts_of(row.get("reference_answers") or [], source, line) if answerable else []
        if answerable and not any(name.strip() for name in names):
            left.append(line)
            continue
        given = (row.get(name) for name in ("dataset", "dataset_name", "source"))
        domain = next((v for v in given if isinstance(v, str) and v.strip()), "")
        domain = domain or ("answerable" if answerable else "unanswerable")
        about = f"question {content_id(text)[:8]}"
        yield Item(line, text, names, about, domain=domain, answerable=answerable)


# NQ-open: questions that people asked a search engine, with short answers.
#
# Lee, Chang and Toutanova 2019, arXiv 1906.00300, from Natural Questions (Kwiatkowski et al.
# 2019).
# Licence CC BY-SA 3.0. Hub: google-research-datasets/nq_open. The answers of a question are
# ways
# to write it that several annotators chose: one of them is enough. One row::
#
#     {"question": "who …", "answer": ["…", "…"]}
#
# Questions come without a question mark, which is added: as a fragment they ask to be
# continued.

NQ_OPEN_HUB_ID = "google-research-datasets/nq_open"


def load_nq_open(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows("nq_open", NQ_OPEN_HUB_ID, None, split)
    return dataset_of(nq_open_items(rows, NQ_OPEN_HUB_ID), name="nq_open", source=NQ_OPEN_HUB_ID)


def load_nq_open_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return dataset_of(nq_open_items(read_table(path), str(path)), name="nq_open", source=str(path))


def nq_open_items(rows: Iterable[tuple[int, dict[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        asked = text_of(row, ("question",), source, line).strip()
        text = asked if asked.endswith("?") or not asked else f"{asked}?"
        yield Item(line, text, texts_of(row.get("answer"), source, line), text)


POPQA_HUB_ID = "akariasai/PopQA"
RELATIONS = ("director", "screenwriter", "producer", "author", "place of birth", "occupation")
#: monthly views of the subject's page from which a stratum begins (the decades of the paper)
STRATA = ((10_000, "popular"), (1_000, "known"), (100, "rare"), (0, "obscure"))
LEAST_OBJECT = 3
#: how the set words a question of each relation
WORDINGS = {
    "director": re.compile(r"Who was the director of (.+)\?"),
    "screenwriter": re.compile(r"Who was the screenwriter for (.+)\?"),
    "producer": re.compile(r"Who was the producer of (.+)\?"),
    "author": re.compile(r"Who is the author of (.+)\?"),
    "place of birth": re.compile(r"In what city was (.+) born\?"),
    "occupation": re.compile(r"What is (.+)'s occupation\?"),
}
#: the domain of a row that does not say how often its subject is read
UNTOLD = "popularity not told"


def load_popqa(split: str = "test") -> Dataset:
    """Load the set from the hub; it has a test split only."""
    rows = hub_rows("popqa", POPQA_HUB_ID, None, split, {"test": "test", "dev": "test"})
    return _popqa_dataset(rows, POPQA_HUB_ID)


def load_popqa_file(path: Path) -> Dataset:
    """Load the published TSV, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return _popqa_dataset(read_table(path), str(path))


def _popqa_dataset(rows: Iterable[tuple[int, Any]], source: str) -> Dataset:
    found: dict[str, tuple[str, str]] = {}
    left = dict.fromkeys(("relation", "object"), 0)

    def items() -> Iterator[Item]:
        for line, row in rows:
            if not isinstance(row, Mapping):
                raise InputError(f"{source} line {line}: expected an object, see the docs of popqa")
            if "prop" not in row and isinstance(row.get("question"), str):
                row = _worded(row)
            relation = text_of(row, ("prop",), source, line)
            if relation not in RELATIONS:
                left["relation"] += 1
                continue
            names = _popqa_answers(row, source, line)
            if names and len(names[0]) < LEAST_OBJECT:
                left["object"] += 1
                continue
            text = " ".join(text_of(row, ("question",), source, line).split())
            subject = text_of(row, ("subj",), source, line)
            counted = "s_pop" in row or "answer" not in row
            views = stratum(row.get("s_pop"), source, line) if counted else UNTOLD
            found[subject] = views, relation
            relations[text] = relation
            own, others = _objects(row, names, source, line)
            known = right.setdefault((subject, text), {})
            for gold in (own, *((other,) for other in others)):
                known.setdefault(gold[0], gold)
            yield Item(line, text, names, subject)

    relations: dict[str, str] = {}
    right: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    data = dataset_of(items(), name="popqa", source=source)
    told = [
        f"{left['relation']:,} questions of other relations and {left['object']:,} with an object "
        f"of fewer than {LEAST_OBJECT} characters left out"
    ]
    questions = tuple(
        msgspec.structs.replace(
            q,
            domain=found[q.entity][0],
            aspect=Aspect(relations.get(q.text, found[q.entity][1])),
            golds=_golds(right.get((q.entity, q.text), {}), q.golds),
        )
        for q in data.questions
    )
    return Dataset(data.name, questions, questions_hash(questions), data.rows, (*data.notes, *told))


def _worded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the relation and the subject that the wording of its question tells."""
    text = " ".join(row["question"].split())
    told = ((name, wording.fullmatch(text)) for name, wording in WORDINGS.items())
    relation, subject = next(((n, m[1]) for n, m in told if m), ("another one", ""))
    made = {**row, "prop": relation, "subj": subject}
    if "answer" in row:
        made |= {"obj": row["answer"], "possible_answers": row.get("aliases") or []}
    return made


def stratum(views: Any, source: str, line: int) -> str:
    """Return the name of a popularity; the views are a whole number, also written as text."""
    try:
        number = int(views)
    except (TypeError, ValueError):
        raise InputError(
            f"{source} line {line}: s_pop is {views!r}; expected the subject's page views"
        ) from None
    return next(name for least, name in STRATA if number >= least)


def _golds(
    objects: Mapping[str, tuple[str, ...]], plain: tuple[Gold, ...] | None
) -> tuple[Gold, ...] | None:
    """Return a gold for each right object; a name that writes an earlier one is no further one."""
    golds: list[Gold] = []
    seen: set[str] = set()
    for names in objects.values():
        if names[0] not in seen:
            golds.append(Gold(names[0], names[1:]))
        seen |= set(names)
    return tuple(golds) or plain


def _objects(
    row: Mapping[str, Any], names: list[str], source: str, line: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ways to write a row's own object, and what else its answers write.

    Without ``o_aliases`` nobody can tell them apart, and all of them write one object.
    """
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    first = row.get("obj")
    if row.get("o_aliases") is None or not isinstance(first, str) or not names:
        return tuple(names) or ("",), ()
    aliases = {a.strip() for a in _listed(row["o_aliases"], "o_aliases", source, line)}
    own = [names[0], *(n for n in names[1:] if n in aliases)]
    return tuple(own), tuple(n for n in names if n not in own)


def _popqa_answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
    """Return the object and whatever else ``possible_answers`` holds."""
    value = _listed(row.get("possible_answers", []), "possible_answers", source, line)
    first = row.get("obj")
    return [*([first] if isinstance(first, str) else []), *value]


def _listed(value: Any, field: str, source: str, line: int) -> list[str]:
    """Return texts given as a list, or as one in JSON, as the hub keeps them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InputError(
                f"{source} line {line}: {field} is no JSON list: {value[:60]!r}"
            ) from None
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{source} line {line}: {field}: expected a list of texts")
    return value


# SelfAware: questions that nobody can answer beside questions like them that can be answered.
#
# Yin et al. 2023, "Do Large Language Models Know What They Don't Know?", Findings of ACL 2023,
# arXiv 2305.18153. Data CC BY-SA 4.0 (its README; the code beside it is Apache-2.0). The
# authors
# publish ``data/SelfAware.json`` on GitHub, yinzhangyue/SelfAware: 2,337 questions with answers
# from
# SQuAD, HotpotQA and TriviaQA, and 1,032 without. Hub: JesusCrist/selfAware, ``train``, a copy
# that
# others keep, without a licence of its own; that its columns are those below is what programs
# that
# read it say. Answers are ways to write one right answer. A row, or the published JSON::
#
#     {"question_id": 3, "question": "…", "answer": ["…"], "answerable": true, "source": "…"}
#     {"question_id": 2667, "question": "…", "answer": null, "answerable": false, "source": "…"}
#     {"example": [{…}]}
#
# The domain is "answerable" or "unanswerable".

SELFAWARE_HUB_ID = "JesusCrist/selfAware"
SELFAWARE_SPLITS: dict[str, str | None] = {"test": "train", "dev": "train", "train": "train"}


def load_selfaware(split: str = "test") -> Dataset:
    """Load the set from the hub; its only split is every split."""
    rows = hub_rows(
        "selfaware", SELFAWARE_HUB_ID, None, split, SELFAWARE_SPLITS,
        "download SelfAware.json from its authors and name it: --data selfaware:SelfAware.json",
    )  # fmt: skip
    return dataset_of(
        selfaware_items(rows, SELFAWARE_HUB_ID), name="selfaware", source=SELFAWARE_HUB_ID
    )


def load_selfaware_file(path: Path) -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    rows = read_rows_under(path, "example")
    return dataset_of(selfaware_items(rows, str(path)), name="selfaware", source=str(path))


def selfaware_items(rows: Iterable[tuple[int, Any]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = text_of(row, ("question",), source, line)
        answerable = truth_of(row, "answerable", source, line)
        names = texts_of(row.get("answer"), source, line) if answerable else []
        about = f"question {row.get('question_id') or content_id(text)[:8]}"
        slice_ = "answerable" if answerable else "unanswerable"
        yield Item(line, text, names, about, domain=slice_, answerable=answerable)


# SimpleQA and SimpleQA Verified: short facts that are hard to know, one right answer each.
#
# Wei et al. 2024, "Measuring short-form factuality in large language models", arXiv 2411.04368;
# Haas et al. 2025, "SimpleQA Verified", arXiv 2509.07968: 1,000 of the 4,326 questions, with
# labels
# corrected. Licence MIT, both. Hub: basicv8vc/SimpleQA (a copy that others keep of the
# published CSV;
# its authors have none there), ``test``; google/simpleqa-verified, ``eval``. The domain is the
# topic.
# Rows of the hub or of the published CSV, or of one's own (JSONL, JSON, Parquet, CSV)::
#
#     {"problem": "…", "answer": "…", "metadata": "{'topic': 'Art', 'answer_type': 'Person',
#     …}"}
#     {"problem": "…", "topic": "…",
#      "answer": "120k (acceptable range: anything between 118k and 122k)"}
#     {"question": "…", "answer": "…", "aliases": ["…"]}
#
# A range that Verified accepts becomes another way to write the number: "118k to 122k". The
# ``rules`` judge also takes what rounds to the number itself (117,000 for 120k).

#: name -> (hub id, its one split)
SIMPLEQA_SETS = {
    "simpleqa": ("basicv8vc/SimpleQA", "test"),
    "simpleqa_verified": ("google/simpleqa-verified", "eval"),
}
_RANGE = re.compile(
    r"\s*\(\s*acceptable range:\s*(?:anything\s+)?between\s+(?P<low>[^()]+?)\s+and\s+"
    r"(?P<high>[^()]+?)\s*\)\s*\.?\s*$",
    re.IGNORECASE,
)


def load_simpleqa(split: str = "test", name: str = "simpleqa") -> Dataset:
    """Load a set from the hub; it has one split, which is test and dev."""
    repository, part = SIMPLEQA_SETS[name]
    rows = hub_rows(name, repository, None, split, {"test": part, "dev": part})
    return dataset_of(simpleqa_items(rows, repository), name=name, source=repository)


load_simpleqa_verified = partial(load_simpleqa, name="simpleqa_verified")


def load_simpleqa_file(path: Path, name: str = "simpleqa") -> Dataset:
    """Load rows from CSV, JSONL, JSON or Parquet. Raises InputError."""
    return dataset_of(simpleqa_items(read_table(path), str(path)), name=name, source=str(path))


def simpleqa_items(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows; each is an entity of its own."""
    for line, row in rows:
        text = text_of(row, ("problem", "question"), source, line)
        names = texts_of(row.get("answer"), source, line)
        names = [form for name in names for form in ways(name)]
        if row.get("aliases"):
            names += texts_of(row["aliases"], source, line)
        yield Item(line, text, names, f"question {content_id(text)[:8]}", domain=topic(row))


def ways(answer: str) -> list[str]:
    """Return an answer, and the range that is accepted for it where it names one."""
    found = _RANGE.search(answer)
    if found is None:
        return [answer]
    value = answer[: found.start()].strip()
    accepted = f"{found['low']} to {found['high']}"
    return [value, accepted] if value else [accepted]


def topic(row: Mapping[str, Any]) -> str:
    """Return the topic of a row: a column, or inside ``metadata``, a dictionary written as text."""
    held = row.get("metadata")
    if isinstance(held, str) and len(held) < 100_000:
        try:
            held = ast.literal_eval(held)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            held = None  # a topic is a slice, not a fact: without it the question stands
    found = held.get("topic") if isinstance(held, Mapping) else None
    found = row.get("topic") or found
    return " ".join(found.split()) if isinstance(found, str) else ""


# SQuAD v1.1, SQuAD v2 and XQuAD: questions about a passage, which stands in the prompt.
#
# Rajpurkar et al. 2016, arXiv 1606.05250; Rajpurkar, Jia and Liang 2018, arXiv 1806.03822;
# Artetxe,
# Ruder and Yogatama 2020, arXiv 1910.11856. Licence CC BY-SA 4.0. Hub: rajpurkar/squad,
# rajpurkar/squad_v2, google/xquad. Answers are spans that several annotators marked: one is
# enough.
# A row of the hub, or the published JSON (train-v1.1.json, dev-v2.0.json, xquad.en.json, …)::
#
#     {"context": "…", "question": "…", "title": "…", "answers": {"text": ["…"], "answer_start":
#     [9]}}
#     {"data": [{"title": "…", "paragraphs": [{"context": "…", "qas": [{"question": "…",
#         "answers": [{"text": "…", "answer_start": 9}], "is_impossible": false}]}]}]}
#
# Questions about one passage are one cluster: they depend on each other. ``squad_v2`` keeps
# what the
# passage does not answer as questions without an answer, domain "unanswerable"; the rest has
# the
# domain "answerable". Their ``plausible_answers`` are wrong and not read. ``squad`` and
# ``xquad``
# leave such questions out and count them, so ``squad:dev-v2.0.json`` are v2's answerable ones,
# as
# Santilli et al. used them (arXiv 2504.13677).

HELD_OUT = {"test": "validation", "dev": "validation"}
#: name -> (hub id, configuration, its splits)
SQUAD_SETS: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "squad": ("rajpurkar/squad", None, {**HELD_OUT, "train": "train"}),
    "squad_v2": ("rajpurkar/squad_v2", None, {**HELD_OUT, "train": "train"}),
    "xquad": ("google/xquad", "xquad.en", HELD_OUT),
}


def load_squad(split: str = "test", name: str = "squad") -> Dataset:
    """Load a set from the hub; test and dev are its validation split."""
    repository, config, splits = SQUAD_SETS[name]
    rows = hub_rows(name, repository, config, split, splits)
    return _made(rows, name, repository)


load_squad_v2 = partial(load_squad, name="squad_v2")
load_xquad = partial(load_squad, name="xquad")


def load_squad_file(path: Path, name: str = "squad") -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    if path.suffix.lower() == ".json" and isinstance(document := read_document(path), dict):
        return _made(rows_of(document, str(path)), name, str(path))
    return _made(read_table(path), name, str(path))


def rows_of(document: Mapping[str, Any], source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the questions of the published JSON as rows. Raises InputError."""
    number = 0
    try:
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    number += 1
                    yield number, {**asked, "context": paragraph["context"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{source}, after question {number}: expected data[paragraphs[context, qas[question, "
            f"answers[text]]]] as in SQuAD ({type(error).__name__} {error})"
        ) from None


def _made(rows: Iterable[tuple[int, dict[str, Any]]], name: str, source: str) -> Dataset:
    keep = name == "squad_v2"
    left: list[int] = []
    items = _items(rows, source, None if keep else left)
    data = dataset_of(items, name=name, source=source)
    told = f"{len(left):,} left out: no answer in the passage (squad_v2 keeps them)"
    return msgspec.structs.replace(data, notes=(*data.notes, told)) if left else data


def _items(
    rows: Iterable[tuple[int, dict[str, Any]]], source: str, left: list[int] | None
) -> Iterator[Item]:
    """Yield questions; those without an answer are added to ``left``, and kept if it is None."""
    for line, row in rows:
        names = _squad_answers(row, source, line)
        answerable = bool(names)
        if left is not None and not answerable:
            left.append(line)
            continue
        context = text_of(row, ("context",), source, line)
        domain = "" if left is not None else "answerable" if answerable else "unanswerable"
        yield Item(
            line,
            text_of(row, ("question",), source, line),
            names,
            f"passage {content_id(context)[:8]}",
            context,
            domain=domain,
            answerable=answerable,
        )


def _squad_answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
    """Return the spans of a row; none says that the passage does not answer it.

    A row that merely lacks its answers says nothing of the kind. Raises InputError for it.
    """
    if row.get("is_impossible") is True:
        return []
    value = row.get("answers")
    if isinstance(value, Mapping):
        value = value.get("text")
    elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        value = [one.get("text") for one in value]
    found = [text for text in texts_of(value, source, line) if text.strip()]
    if not found and row.get("is_impossible") is False:
        raise InputError(f"{source} line {line}: no answer, though is_impossible is false")
    return found


# SVAMP: arithmetic in a short story; the story is the context, the question comes after it.
#
# Patel, Bhattamishra and Goyal 2021, "Are NLP Models really able to Solve Simple Math Word
# Problems?", arXiv 2103.07191. Licence MIT. Hub: ChilleD/SVAMP. One row::
#
#     {"ID": "chal-4", "Body": "43 children …", "Question": "How many …?", "Answer": 22.0}

SVAMP_HUB_ID = "ChilleD/SVAMP"
SVAMP_SPLITS = {"test": "test", "dev": "train", "train": "train"}


def load_svamp(split: str = "test") -> Dataset:
    """Load the set from the hub; dev is its train split."""
    rows = hub_rows("svamp", SVAMP_HUB_ID, None, split, SVAMP_SPLITS)
    return dataset_of(svamp_items(rows, SVAMP_HUB_ID), name="svamp", source=SVAMP_HUB_ID)


def load_svamp_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return dataset_of(svamp_items(read_table(path), str(path)), name="svamp", source=str(path))


def svamp_items(rows: Iterable[tuple[int, dict[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows; a whole number loses its decimals."""
    for line, row in rows:
        number = row.get("Answer")
        try:
            value = float(number)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(
                f"{source} line {line}: expected a number under Answer, got {number!r:.60}"
            ) from None
        text = text_of(row, ("Question",), source, line)
        told = f"{value:.0f}" if value.is_integer() else f"{value:g}"
        body = text_of(row, ("Body",), source, line)
        yield Item(line, text, [told], str(row.get("ID") or f"row {line}"), body, "quantity")


# TriviaQA: trivia questions with one answer each and many ways to write it.
#
# Joshi et al. 2017, "TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for Reading
# Comprehension", arXiv 1705.03551. Licence Apache-2.0 as its authors' repository has it; the
# card on
# the hub says "unknown", and the questions are their writers'. Hub: mandarjoshi/trivia_qa,
# ``rc.nocontext``, splits train and validation (test has no answers and is not read).
# ``aliases`` are
# ways to write one answer, not several true values. A row of the hub, of the published JSON
# (under
# ``Data``), or of a file of one's own::
#
#     {"question": "…", "question_id": "tc_1", "answer": {"value": "…", "aliases": ["…"]}}
#     {"Question": "…", "QuestionId": "tc_1", "Answer": {"Value": "…", "Aliases": ["…"]}}
#     {"question": "…", "answer": "…"}

TRIVIAQA_HUB_ID, TRIVIAQA_CONFIG = "mandarjoshi/trivia_qa", "rc.nocontext"


def load_triviaqa(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows("triviaqa", TRIVIAQA_HUB_ID, TRIVIAQA_CONFIG, split)
    return dataset_of(
        triviaqa_items(rows, TRIVIAQA_HUB_ID), name="triviaqa", source=TRIVIAQA_HUB_ID
    )


def load_triviaqa_file(path: Path) -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    rows = read_rows_under(path, "Data")
    return dataset_of(triviaqa_items(rows, str(path)), name="triviaqa", source=str(path))


def triviaqa_items(rows: Iterable[tuple[int, Any]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = text_of(row, ("question", "Question"), source, line)
        answer = row.get("answer", row.get("Answer"))
        if isinstance(answer, Mapping):
            value = answer.get("value", answer.get("Value"))
            aliases = answer.get("aliases", answer.get("Aliases")) or []
            names = [*texts_of(value, source, line), *texts_of(aliases, source, line)]
        else:
            names = texts_of(answer, source, line)
        given = row.get("question_id") or row.get("QuestionId") or row.get("id") or text
        yield Item(line, text, names, str(given))


# TruthfulQA: questions that many people answer wrongly, out of a common belief.
#
# Lin, Hilton and Evans 2022, "TruthfulQA: Measuring How Models Mimic Human Falsehoods", arXiv
# 2109.07958. Licence Apache-2.0. Hub: truthfulqa/truthful_qa, ``generation``, its one split
# ``validation`` of 817 questions; the CSV that its authors publish now has 790. Every correct
# answer
# is a statement of its own and any one of them is right; the best answer comes first. They are
# sentences, and so are the answers of a model: the ``rules`` judge compares names and numbers,
# so
# grade this set with a model as judge. The incorrect answers of the set are not read. A row of
# the
# hub, or of the published CSV::
#
#     {"type": "Adversarial", "category": "…", "question": "…", "best_answer": "…",
#      "correct_answers": ["…"], "incorrect_answers": ["…"], "source": "…"}
#     Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect
#     Answers,…
#
# (the older one without the best incorrect answer). Where the set lists "I have no comment"
# among the
# correct answers this is no value to compare with, and not taken as one: whether an answer
# abstains
# is judged apart. A question that has no other correct answer is one that cannot be answered.
# In the
# CSV the answers of a cell are separated by semicolons. The domain is the category.

TRUTHFULQA_HUB_ID, TRUTHFULQA_CONFIG = "truthfulqa/truthful_qa", "generation"
NO_COMMENT = "i have no comment"


def load_truthfulqa(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows(
        "truthfulqa", TRUTHFULQA_HUB_ID, TRUTHFULQA_CONFIG, split,
        {"test": "validation", "dev": "validation"},
        "download TruthfulQA.csv and name it: --data truthfulqa:TruthfulQA.csv",
    )  # fmt: skip
    return dataset_of(
        truthfulqa_items(rows, TRUTHFULQA_HUB_ID), name="truthfulqa", source=TRUTHFULQA_HUB_ID
    )


def load_truthfulqa_file(path: Path) -> Dataset:
    """Load rows from CSV, JSONL, JSON or Parquet. Raises InputError."""
    return dataset_of(
        truthfulqa_items(read_table(path), str(path)), name="truthfulqa", source=str(path)
    )


def truthfulqa_items(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows, whatever case their columns have."""
    for line, written in rows:
        row = {str(name).strip().lower().replace(" ", "_"): v for name, v in written.items()}
        text = text_of(row, ("question",), source, line)
        correct = row.get("correct_answers")
        if isinstance(correct, str):
            correct = correct.split(";")
        others = texts_of(correct or [], source, line)
        best = row.get("best_answer")
        given = [*([best] if isinstance(best, str) else []), *others]
        named = [answer for answer in given if answer.strip()]
        stated = [answer for answer in named if answer.strip(" .").casefold() != NO_COMMENT]
        category = row.get("category")
        domain = " ".join(category.split()) if isinstance(category, str) else ""
        about = f"question {content_id(text)[:8]}"
        yield Item(
            line,
            text,
            stated[:1],
            about,
            others=stated[1:],
            domain=domain,
            answerable=bool(stated) or not named,
        )
