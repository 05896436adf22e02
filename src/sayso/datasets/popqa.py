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

    {"subj": "…", "prop": "director", "obj": "…", "o_aliases": "[\"…\"]", "s_pop": 1200,
     "question": "…", "possible_answers": "[\"…\"]"}
    {"question": "Who was the director of …?", "possible_answers": ["…"], "s_pop": 1200}
    {"question": "Who was the director of …?", "answer": "…", "aliases": ["…"]}

Rows without ``prop``, as others keep the set, are read by the wording of their question, which the
set makes by one sentence for each relation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.collection import Dataset, questions_hash
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of
from sayso.datasets.tables import read_table
from sayso.records import Aspect, Gold, InputError

HUB_ID = "akariasai/PopQA"
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


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; it has a test split only."""
    rows = hub_rows("popqa", HUB_ID, None, split, {"test": "test", "dev": "test"})
    return _dataset(rows, HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load the published TSV, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return _dataset(read_table(path), str(path))


def _dataset(rows: Iterable[tuple[int, Any]], source: str) -> Dataset:
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
            names = _answers(row, source, line)
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


def _answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
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
