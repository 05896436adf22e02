"""Long texts that exist already, and the claims that people found in them.

A row is one text. Read are FActScore's labeled files (Min et al. 2023, MIT: ``topic``,
``output``, ``annotations`` with sentences and ``human-atomic-facts`` labeled S, NS, IR;
``annotations`` null = the model abstained), Factcheck-Bench (Wang et al. 2024, Apache-2.0:
``prompt``, ``response``, ``claims``, ``claim_labels``), and rows of one's own: a text under
``text``, ``output``, ``response``, ``answer`` or ``generation``, and its topic under ``topic``,
``entity`` or ``title`` or its prompt under ``prompt`` or ``question``. Columns of other names are
mapped to these (:data:`COLUMNS`). A system is a file: its name is the system's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sayso.datasets.answer_files import laid_out
from sayso.datasets.columns import slips_among
from sayso.datasets.layouts import layout_of
from sayso.datasets.tables import is_text_table, list_in, read_rows, read_table
from sayso.prompts.thoughts import Split, split_thoughts
from sayso.records import InputError

TEXTS = ("text", "output", "response", "answer", "generation")
TOPICS = ("topic", "entity", "title")
PROMPTS = ("prompt", "question")
#: what --columns maps to a file's own names
COLUMNS = ("text", "topic", "prompt", "domain", "claims", "claim_labels", "annotations", "model")
#: what tables of short answers call these
ELSEWHERE = {"answer": "text", "entity": "topic", "question": "prompt"}
#: columns that hold lists, which CSV has as JSON
LISTS = ("claims", "claim_labels", "annotations")
LABELS = ("S", "NS", "IR")
#: what a row of claims may say instead of S, NS and IR
SAME_AS: dict[object, str] = {
    True: "S", False: "NS", "supported": "S", "not supported": "NS", "irrelevant": "IR",
    "true": "S", "false": "NS", "unsupported": "NS", "refuted": "NS",
}  # fmt: skip
#: labels of people who could not decide: no label, which is counted
UNDECIDED = ("unknown", "not enough evidence", "nei", "controversial")


class GivenSentence(NamedTuple):
    """A sentence of a text: its span, and whether people called it relevant."""

    start: int
    end: int
    relevant: bool | None = None


class GivenClaim(NamedTuple):
    """A claim that people took from a text. ``sentence`` counts from 1, ``None`` if unknown;
    ``label`` is S, NS or IR, or ``None`` with a ``problem``."""

    text: str
    label: str | None
    sentence: int | None = None
    problem: str | None = None


class GivenText(NamedTuple):
    """One text. ``sentences`` and ``claims`` are ``None`` if the row has none: sayso makes them.

    ``abstained``: people say that it does not answer (FActScore's null annotations). ``unplaced``
    counts sentences that are not in the text. ``thinking`` is a thought that was taken out of it;
    ``unended``: that never ended, and left nothing.
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
    thinking: str | None = None
    unended: bool = False
    model: str = ""


def read_texts(
    path: Path | str, columns: Mapping[str, str] = MappingProxyType({})
) -> Iterator[GivenText]:
    """Yield the texts of a table in any format; ``columns`` maps our names to the file's.

    Published files (:mod:`sayso.datasets.layouts`) are known by their columns. Raises InputError
    naming the line.
    """
    rows = _rows(Path(path))
    for line, given in rows if columns else laid_out(Path(path), rows, long=True):
        source = f"{path} line {line}"
        row = _named(given, columns, source)
        known = "annotations" in row and ("output" in row or "text" in columns)
        name = "output" if known else next((n for n in TEXTS if isinstance(row.get(n), str)), "")
        if known and "text" in columns:
            row["output"] = row["text"]
        text = row.get(name)
        split = split_thoughts(text) if isinstance(text, str) else Split("")
        if split.thoughts:
            row = {**row, name: split.text.strip()}
        read = _factscore(row, line, source) if known else _own(row, line, source)
        yield read._replace(
            thinking="\n\n".join(split.thoughts) if split.thoughts else None,
            unended=not split.closed,
            model=str(row["model"]) if isinstance(row.get("model"), str) else "",
        )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a file; in CSV lists are JSON, and an empty cell is none."""
    if not is_text_table(path):
        yield from read_rows(path)
        return
    for line, row in read_table(path):
        cells = {name: value for name, value in row.items() if value.strip()}
        lists = {n: list_in(cells[n]) for n in LISTS if n in cells}
        yield line, {**cells, **{n: found for n, found in lists.items() if found is not None}}


def layout_notes(path: Path, columns: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return what a reader must know of a file: of a published one, or of mistyped columns."""
    _, first = next(iter(_rows(path)))
    layout = layout_of(first, long=True)
    if layout is not None:
        return [f"{layout.name}: {note}" for note in layout.notes]
    names = dict.fromkeys(name for _, row in _rows(path) for name in row)
    lacking = [ours for ours in COLUMNS if ours not in names and ours not in columns]
    return slips_among([n for n in names if n not in columns.values()], lacking)


def _named(row: Mapping[str, Any], columns: Mapping[str, str], source: str) -> dict[str, Any]:
    """Return a row under our names; a column that is mapped to one of them is no other's."""
    for ours, theirs in columns.items():
        if theirs not in row:
            have = ", ".join(map(repr, row))[:300] or "nothing"
            raise InputError(
                f"{source}: --columns {ours}={theirs} names a missing column; it has {have}"
            )
    also = {"text": TEXTS, "topic": TOPICS, "prompt": PROMPTS}
    hidden = {*columns.values(), *(name for ours in columns for name in also.get(ours, ()))}
    kept = {name: value for name, value in row.items() if name not in hidden}
    return {**kept, **{ours: row[theirs] for ours, theirs in columns.items()}}


def no_subjects(path: Path | str) -> str:
    """Return one line on a file no row of which says what its text is about, with its columns.

    Such texts are looked up in the whole source, and asked about without their subject.
    """
    names = dict.fromkeys(repr(name) for _, row in _rows(Path(path)) for name in row)
    return (
        f"{path}: no row says what its text is about ({', '.join((*TOPICS, *PROMPTS))}); its "
        f"columns are {', '.join(names)[:300]}: if one of them does, pass --columns topic=NAME"
    )


def _first(row: Mapping[str, Any], names: Sequence[str], source: str, what: str) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
    have = ", ".join(map(repr, row)) or "nothing"
    raise InputError(
        f"{source}: no {what}: expected one of {', '.join(names)}; it has {have}. Another name: "
        f"--columns {what}=NAME"
    )


def _factscore(row: Mapping[str, Any], line: int, source: str) -> GivenText:
    text = _first(row, ("output",), source, "text")
    topic = next((row[n] for n in TOPICS if isinstance(row.get(n), str)), "")
    asked = topic or _first(row, (*TOPICS, *PROMPTS), source, "topic")
    kinds = row.get("cat")
    domain = str(kinds[0]) if isinstance(kinds, list) and kinds else ""
    given = row["annotations"]
    prompt = str(row.get("input") or ("" if topic else asked))
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
            raise InputError(f"{source}: annotations {number}: human-atomic-facts is not a list")
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
    known = label if label in LABELS else SAME_AS.get(key if isinstance(key, str | bool) else None)
    if label is not None and known is None and key not in UNDECIDED:
        raise InputError(
            f"{source}: a claim is labeled {label!r:.40}; expected S, NS, IR, true or false"
        )
    number = value.get("sentence")
    if isinstance(number, int) and not isinstance(number, bool) and number >= 1:
        sentence = number
    told = value.get("problem")  # what people said instead of a label
    problem = None if known is not None else told if isinstance(told, str) else "unlabeled"
    return GivenClaim(value["text"], str(known) if known else None, sentence, problem)


_DROPPED = re.compile(r"\s+|\[\d{1,3}\]")


class Squeezed:
    """A text without white space and citation marks such as [3], to find pieces that lost them.

    Pieces are searched in order, each after the one before, so that equal sentences have different
    places. ``reached`` is the end of the last piece, in the text itself.
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
