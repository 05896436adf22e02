"""Labels of people: the record, their store in the run folder, and files of them.

A label is a :class:`~sayso.records.Verdict` by ``person:NAME`` on the same (target, asked) as the
verdict of the run's judge, so that every number is computed from it by the same code. Of a pair of
an assertion and a sample, the target also names the sample
(:func:`sayso.protocols.labeled.pair_target`).

``labels.sqlite`` only ever grows: a label that is changed or taken back is followed by another
event, and the last event on an item by an annotator counts. Every event has a name of its own, so
one that is sent twice is stored once.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import secrets
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from time import time
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

import msgspec

from sayso.datasets.tables import read_table, suffix_of
from sayso.harmless import line
from sayso.records import InputError, Stance, Verdict, content_id
from sayso.storage.atomic import NO_LINK, disk_errors, is_stream, place_inside, replacing
from sayso.storage.outputs import check_output, export_cell, separator_of
from sayso.storage.run_folder import CORRECTED, LABELS, RunFolder, has_labels_file

Kind = Literal["answer", "aspect", "claim", "pair", "sureness"]
#: what is labeled: a short answer, an aspect of a paragraph, a claim beside evidence, two answers
#: that may contradict each other, how sure a sentence sounds
KINDS: tuple[Kind, ...] = get_args(Kind)
#: the kinds whose labels are a stance and, for a stated value, right or wrong
READ_KINDS: tuple[Kind, ...] = ("answer", "aspect")
STANCES: dict[Kind, tuple[Stance, ...]] = {
    "answer": ("committed", "hedged", "abstained", "asked_back", "refused_by_policy"),
    "aspect": (
        "committed", "hedged", "abstained", "asked_back", "refused_by_policy", "omitted",
    ),
}  # fmt: skip
#: the stances that state a value, which is right or wrong
STATED: tuple[Stance, ...] = ("committed", "hedged")
CONTENTS = ("correct", "incorrect", "none")
#: the labels of the other kinds, with the words that files may have in their place
CODES: dict[Kind, dict[str, str]] = {
    "claim": {"S": "supported", "NS": "not supported", "IR": "irrelevant"},
    "pair": {"c": "contradicts", "n": "does not contradict", "p": "no answer"},
}
#: what a label consists of, by kind; of the others it is ``label`` alone
FIELDS: dict[Kind, list[str]] = {
    "answer": ["stance", "content"], "aspect": ["stance", "content"], "sureness": ["number"],
}  # fmt: skip
#: the label of a verdict on how sure a sentence sounds
SURENESS = "assertion"
#: what a verdict's ``problem`` is where an annotator skipped the item
SKIPPED = "skipped"
#: the reason in a file of an item that its annotator left without a label and went on
PASSED = "passed over"
PERSON = "person:"
#: how the name of an event begins that withdrew a label because its item has another text now
OLD_TEXT = "other text:"
#: the least probability of a draw: no run has a billion answers
LEAST_CHANCE = 1e-9
#: how far the clock of another machine may be ahead
AHEAD = timedelta(days=1)
#: characters of an annotator's name, of a reason, and of one field that names an item
LONGEST_NAME, LONGEST_REASON, LONGEST_KEY = 80, 200, 400
#: apostrophes, and what names have beside letters, their marks and digits
APOSTROPHES, JOINERS = "'\u2018\u2019\u02bc\u05f3", "\u200c\u200d"
IN_NAMES = frozenset(f"{APOSTROPHES}{JOINERS} .,-\u2010_()\u05f4\u00b7\u30fb")
#: small Cyrillic and Greek letters whose capital or own form is that of a Latin letter, an i
#: without its dot, apostrophes, hyphens; joiners, and the dot of a Turkish capital, are not seen
LOOKALIKES = str.maketrans(
    f"авекмнорстухіјαβεηικμνορτυχı{APOSTROPHES}\u2010",
    "abekmhopctyxijabehikmnoptyxi" + "'" * len(APOSTROPHES) + "-",
    f"{JOINERS}\u0307",
)

Record = TypeVar("Record", bound=msgspec.Struct)


class PersonLabel(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one person said of one item.

    ``stage`` names the run's table of verdicts (``verdicts/<stage>``) with the judge's verdict on
    the item. ``stratum`` and ``probability`` come from the ``design`` that drew the item:
    the probability with which an item of the stratum is among those that people labeled so far.
    It is ``None`` where the item was skipped, and where nothing is known of the draw.
    ``skipped`` is the reason; the verdict then has the problem "skipped". ``seconds`` is how long
    the item was shown, ``time`` when it was labeled (ISO, UTC). ``shown`` is a hash of the text
    that was labeled ("": nobody kept it): a run that is made anew may have another.
    """

    verdict: Verdict
    kind: Kind
    stage: str
    stratum: str = ""
    probability: float | None = None
    design: str = ""
    seconds: float | None = None
    skipped: str = ""
    time: str = ""
    shown: str = ""

    @property
    def annotator(self) -> str:
        """The name of the person."""
        return self.verdict.by.removeprefix(PERSON)

    @property
    def item(self) -> LabeledItem:
        """The item."""
        return LabeledItem(self.kind, self.stage, self.verdict.target, self.verdict.asked)


class LabeledItem(NamedTuple):
    """Names one item of a run: its kind, and the judge's verdict on it."""

    kind: Kind
    stage: str
    target: str
    asked: str


def pair_of(target: str) -> tuple[str, int]:
    """Return the assertion and the sample that the target of a pair names. Raises InputError."""
    assertion, _, sample = target.rpartition("/")
    if not assertion or not re.fullmatch(r"\d{1,9}", sample):
        raise InputError(f"{target!r:.80} names no pair: expected an assertion, / and a number")
    return assertion, int(sample)


# ---- what a label may say


def check_annotator(name: str, known: Iterable[str] = ()) -> str:
    """Return the name of an annotator without space around it. Raises InputError.

    Of somebody ``known`` it is the name that is known: "ada" is Ada, however it was typed.
    """
    plain = " ".join(unicodedata.normalize("NFKC", name).split())
    first = plain.lstrip(APOSTROPHES)[:1]
    others = {one for one in plain if unicodedata.category(one)[0] not in "LMN"}
    if not first.isalnum() or not others <= IN_NAMES or len(plain) > LONGEST_NAME:
        raise InputError(
            f"annotator {name!r:.60}: expected a name of letters, digits, spaces and .,'-_(), at "
            f"most {LONGEST_NAME} characters"
        )
    same = {_as_read(one): one for one in known}
    return plain if plain in same.values() else same.get(_as_read(plain), plain)


def _as_read(name: str) -> str:
    """Return a name without case, and in Latin letters where others look like these."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", plain).translate(LOOKALIKES)


def verdict_of_person(item: LabeledItem, annotator: str, said: Mapping[str, object]) -> Verdict:
    """Return the verdict of a person on an item; ``said`` is what the label consists of.

    ``stance`` and ``content`` of an answer or aspect, where ``content`` is empty if the annotator
    cannot tell, and "none" if a hedged answer states no value; ``label`` of a claim or pair, as a
    code or in words; ``number`` of a sureness, 0 to 1; or ``skipped``, the reason. Raises
    InputError.
    """
    by = f"{PERSON}{check_annotator(annotator)}"
    target, asked = item.target, item.asked
    skipped = _text(said.get("skipped"))
    known = ["skipped"] if skipped else FIELDS.get(item.kind, ["label"])
    if stray := [name for name in said if name not in known and _text(said[name])]:
        has, instead = " and ".join(stray), f"skipped is {skipped!r:.60}" if skipped else item.kind
        raise InputError(
            f"it has {has:.80}, but {instead}: expected {' and '.join(known)} alone; empty the rest"
        )
    if skipped:
        return Verdict(target, asked, by, problem=SKIPPED)
    if item.kind in READ_KINDS:
        stance = _one_of("stance", said.get("stance"), STANCES[item.kind])
        content = _text(said.get("content"))
        if stance in STATED and content:
            _one_of("content", content, CONTENTS[: 3 if stance == "hedged" else 2])
        elif stance not in STATED and content not in ("", "none"):
            raise InputError(
                f"content is {content!r:.60}, but an answer that is {stance} states no value: "
                "leave it empty"
            )
        said_of_it = {
            "stance": stance,
            "content": (content or None) if stance in STATED else "none",
        }
        return msgspec.convert({"target": target, "asked": asked, "by": by} | said_of_it, Verdict)
    if item.kind == "sureness":
        return Verdict(target, asked, by, label=SURENESS, number=_share(said.get("number")))
    codes = CODES[item.kind]
    words = {word: code for code, word in codes.items()} | {code: code for code in codes}
    given = _one_of("label", said.get("label"), tuple(words))
    return Verdict(target, asked, by, label=words[given])


def _text(value: object) -> str:
    """Return what a field says; 0 says something."""
    return "" if value is None else str(value).strip()


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if isinstance(value, str) and value.strip() in known:
        return value.strip()
    raise InputError(f"{name} is {value!r:.60}: expected one of {', '.join(known)}")


def _share(value: object) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) else float("nan")
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        raise InputError(f"number is {value!r:.60}: expected 0 to 1")
    return number


# ---- the design: which items, with which probability


class LabelStratum(msgspec.Struct, frozen=True):
    """Items of one kind that are drawn alike: how many the run has, and their share of a draw."""

    name: str
    size: int
    share: float


class LabelDesign(msgspec.Struct, frozen=True):
    """How the items of one kind were drawn, from those that the judge read into one table.

    Within a stratum the items are in random order, and people get them in that order: the items
    labeled so far are a random sample of the stratum, however many they are. ``name`` is "random",
    "stratified" or "certainty"; ``shared`` items, the first ones, go to every annotator. ``items``
    is how many the run has, ``population`` a hash of them and their strata, by which a run that was
    judged anew is known.
    """

    id: str
    kind: Kind
    name: str
    seed: int
    shared: int
    items: int
    population: str
    strata: tuple[LabelStratum, ...]
    created: str = ""
    stage: str = ""
    method: str = ""


class Placed(NamedTuple):
    """An item with its stratum, in the order in which a design hands items out."""

    item: LabeledItem
    stratum: str


# ---- the store

APPLICATION, VERSION = 0x53414C42, 1  # "SALB"
TABLES = {
    "designs": "CREATE TABLE designs (id TEXT PRIMARY KEY, design BLOB NOT NULL) WITHOUT ROWID",
    "places": "CREATE TABLE places (design TEXT NOT NULL, place INTEGER NOT NULL, kind TEXT NOT "
    "NULL, stage TEXT NOT NULL, target TEXT NOT NULL, asked TEXT NOT NULL, stratum TEXT NOT NULL, "
    "PRIMARY KEY (design, place)) WITHOUT ROWID",
    "assigned": "CREATE TABLE assigned (design TEXT NOT NULL, annotator TEXT NOT NULL, place "
    "INTEGER NOT NULL, PRIMARY KEY (design, annotator, place)) WITHOUT ROWID",
    "events": "CREATE TABLE events (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
    "annotator TEXT NOT NULL, kind TEXT NOT NULL, stage TEXT NOT NULL, target TEXT NOT NULL, asked "
    "TEXT NOT NULL, label BLOB)",
}
#: what SQLite says of a damaged file; of others, which a full disk or a limit stops, it is whole
DAMAGED = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT,
)  # fmt: skip
#: places of a design that are stored: nobody labels more
MOST_PLACES = 20_000
#: seconds that another process may write before one waits no longer
WAIT = 10.0


class ChangedLabelError(InputError):
    """The annotator's label of an item is another by now than the one that they saw."""


class LabelStoreError(InputError):
    """The file of labels cannot be used now: locked, damaged, or on a full disk."""


class LabelStore:
    """The labels of a run, in its folder; a context manager.

    Open with :meth:`open`, or with :meth:`read` where nothing is written.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._opened = path.stat()

    def _check_place(self) -> None:
        """Refuse to write to a file that lies in no folder any more. Raises LabelStoreError."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), self._opened):
                return
        raise LabelStoreError(
            f"{self.path} was deleted or replaced since it was opened: end sayso label with "
            "Ctrl+C, and repeat its command"
        )

    @classmethod
    def open(cls, run: Path) -> LabelStore:
        """Open the labels of a run folder; a file for them is made where there is none.

        Raises InputError for a file that is not ours, damaged, or reached by a link.
        """
        path = _file_in(run)
        new = not path.exists()
        with disk_errors(path, "open"):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o644)
            os.close(handle)
        with _sqlite_errors(path):
            db = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            try:
                db.execute("PRAGMA trusted_schema=OFF")
                _prepare(db, path)
                db.execute(
                    "PRAGMA synchronous=FULL"
                )  # a label that was stored survives a power cut
                # a log beside it (WAL) would hold labels that a copy of the file lacks
                db.execute("PRAGMA journal_mode=DELETE")
            except BaseException:
                db.close()
                if new and not path.stat().st_size:  # on a full disk
                    path.unlink()
                raise
        return cls(path, db)

    @classmethod
    def read(cls, run: Path) -> LabelStore:
        """Open the labels that a run folder has to read them, also where nothing can be written.

        Raises InputError as :meth:`open`.
        """
        path = _file_in(run)
        # SQLite makes files beside a database that it reads, and only mode=rw clears them away
        how = "mode=rw"
        if not os.access(run, os.W_OK):
            beside = [path.with_name(f"{LABELS}{ending}") for ending in ("-wal", "-journal")]
            unfinished = any(one.is_file() and one.stat().st_size for one in beside)
            how = "mode=ro" if unfinished else "mode=ro&immutable=1"
        with _sqlite_errors(path):
            db = sqlite3.connect(
                f"{path.absolute().as_uri()}?{how}", uri=True, timeout=WAIT,
                isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            try:
                db.execute("PRAGMA trusted_schema=OFF")
                db.execute("PRAGMA query_only=ON")
                _check(db, path)
            except BaseException:
                db.close()
                raise
        return cls(path, db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> LabelStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- labels

    def add(self, label: PersonLabel, name: str = "", on: str | None = None) -> bool:
        """Store a label; tell whether it is new. Of one ``name`` the first counts.

        Without a name the label's content is its name: the same label is stored once. ``on`` names
        the label of the item that the annotator saw, "" if none. Raises ChangedLabelError if
        another one counts by now; without ``on`` the new label takes the place of any.
        """
        name = name or content_id(["label", label])
        return self._say((name, label.annotator, *label.item, msgspec.json.encode(label)), on)

    def add_all(self, labels: Sequence[PersonLabel], names: Sequence[str] | None = None) -> int:
        """Store labels, all of them or none; return how many are new."""
        named = names or [content_id(["label", label]) for label in labels]
        rows = [
            (name, label.annotator, *label.item, msgspec.json.encode(label))
            for name, label in zip(named, labels, strict=True)
        ]
        with self._writing():
            return sum(self._put(row) for row in rows)

    def withdraw(self, item: LabeledItem, annotator: str, name: str, on: str | None = None) -> bool:
        """Take back what an annotator said of an item; tell whether this is new.

        ``on`` is that of :meth:`add`.
        """
        return self._say((name, annotator, *item, None), on)

    def _say(self, row: tuple[object, ...], on: str | None) -> bool:
        with self._writing():
            if not self._put(row):
                return False
            if on is not None:
                before = self._db.execute(
                    "SELECT name, label IS NULL FROM events WHERE annotator=? AND kind=? AND "
                    "stage=? AND target=? AND asked=? AND name<>? ORDER BY number DESC LIMIT 1",
                    (*row[1:6], row[0]),
                ).fetchone()
                counts = "" if before is None or before[1] else before[0]
                if counts != on:  # nothing of this is stored
                    raise ChangedLabelError("the item was labeled elsewhere since it was shown")
            return True

    def names(self, annotator: str) -> dict[LabeledItem, str]:
        """Return the names of an annotator's labels that count, by item: see :meth:`add`."""
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT name, kind, stage, target, asked FROM events WHERE number IN (SELECT "
                "max(number) FROM events WHERE annotator=? GROUP BY kind, stage, target, asked) "
                "AND label IS NOT NULL",
                (annotator,),
            ).fetchall()
        return {LabeledItem(*item): str(name) for name, *item in rows}

    def _put(self, row: tuple[object, ...]) -> int:
        return self._db.execute(
            "INSERT OR IGNORE INTO events (name, annotator, kind, stage, target, asked, label) "
            "VALUES (?,?,?,?,?,?,?)",
            row,
        ).rowcount

    def labels(self, kind: Kind | None = None, annotator: str | None = None) -> list[PersonLabel]:
        """Return the labels that count, in the order in which they were given.

        Stratum and probability are those of now: see :class:`PersonLabel`. Of a draw that is not
        stored, the group's is the largest: an export that was made later names a larger one.
        """
        current = self._current()
        strata, sizes = self._strata()
        given = {(one.design, one.item) for one in current if not one.skipped}
        reached = Counter((key[0], strata[key]) for key in given if key in strata)
        chances: dict[tuple[str, ...], float] = {}
        for one in current:
            group = one.design, one.kind, one.stage, one.stratum
            chances[group] = max(chances.get(group, 0.0), one.probability or 0.0)
        told = []
        for label in current:
            if kind not in (None, label.kind) or annotator not in (None, label.annotator):
                continue
            stratum = strata.get((label.design, label.item))
            if stratum is not None:
                place = label.design, stratum
                share = None if label.skipped else min(1.0, reached[place] / sizes[place])
                label = msgspec.structs.replace(label, stratum=stratum, probability=share)
            elif label.stratum and label.probability:
                most = chances[label.design, label.kind, label.stage, label.stratum]
                label = msgspec.structs.replace(label, probability=most)
            told.append(label)
        return told

    def annotators(self) -> list[str]:
        """Return the names of everybody who labels this run."""
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT annotator FROM assigned UNION SELECT annotator FROM events ORDER BY 1"
            ).fetchall()
        return [str(name) for (name,) in rows]

    def left_out(self, stage: str) -> tuple[set[LabeledItem], set[LabeledItem]]:
        """Return the items of a stage that have no label: skipped by people, and passed over.

        Whoever leaves out hard items labels no random sample.
        """
        said = [one for one in (*self._current(), *self.passed_over()) if one.stage == stage]
        labeled = {one.item for one in said if not one.skipped}
        skipped = {one.item for one in said if one.skipped not in ("", PASSED)} - labeled
        return skipped, {one.item for one in said} - labeled - skipped

    def passed_over(self) -> list[PersonLabel]:
        """Return the items that nobody labeled or skipped and whose annotator went on to a later.

        They are as if skipped, for the reason ``PASSED``.
        """
        answered = {(one.annotator, one.item) for one in self._current()}
        said = {item for _, item in answered}
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT design, annotator, kind, stage, target, asked, stratum FROM assigned JOIN "
                "places USING (design, place) ORDER BY place DESC"
            ).fetchall()
        passed, reached = [], set()
        for design, annotator, *row in rows:
            item, stratum = self._placed(row)
            if (annotator, item) in answered:
                reached.add((design, annotator))
            elif (design, annotator) in reached and item not in said:
                verdict = verdict_of_person(item, annotator, {"skipped": PASSED})
                label = PersonLabel(verdict, item.kind, item.stage, stratum, design=design)
                passed.append(msgspec.structs.replace(label, skipped=PASSED))
        return passed

    def of_old_texts(self) -> list[PersonLabel]:
        """Return the last labels that were withdrawn as of a text that the run has no more."""
        key = "annotator, kind, stage, target, asked"
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                f"SELECT label FROM events JOIN (SELECT max(number) FILTER (WHERE label IS NOT "
                f"NULL) AS number, max(number) AS last FROM events GROUP BY {key}) USING (number) "
                "WHERE (SELECT name FROM events WHERE number = last) LIKE ?",
                (f"{OLD_TEXT}%",),
            ).fetchall()
        return [self._decoded(data, PersonLabel) for (data,) in rows]

    def _current(self) -> list[PersonLabel]:
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT label FROM events WHERE number IN (SELECT max(number) FROM events GROUP BY "
                "annotator, kind, stage, target, asked) AND label IS NOT NULL ORDER BY number"
            ).fetchall()
        return [self._decoded(data, PersonLabel) for (data,) in rows]

    def _decoded(self, data: Any, kind: type[Record]) -> Record:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
            raise _damaged(self.path, str(error)) from error

    # -- designs

    def designs(self, kind: Kind | None = None) -> list[LabelDesign]:
        """Return the designs by which items were drawn, the oldest first."""
        with _sqlite_errors(self.path):
            rows = self._db.execute("SELECT design FROM designs").fetchall()
        found = [self._decoded(data, LabelDesign) for (data,) in rows]
        found.sort(key=lambda one: (one.created, one.id))
        return [one for one in found if kind in (None, one.kind)]

    def put_design(self, design: LabelDesign, places: Iterable[Placed]) -> None:
        """Store a design and the order of its items; one that is there already stays as it is."""
        with self._writing():
            new = self._db.execute(
                "INSERT OR IGNORE INTO designs VALUES (?,?)",
                (design.id, msgspec.json.encode(design)),
            ).rowcount
            if new:
                self._db.executemany(
                    "INSERT INTO places VALUES (?,?,?,?,?,?,?)",
                    (
                        (design.id, number, *place.item, place.stratum)
                        for number, place in enumerate(places)
                    ),
                )

    def update_design(self, design: LabelDesign) -> None:
        """Store how many items of a design are shared, which may change; its order does not."""
        with self._writing():
            self._db.execute(
                "UPDATE designs SET design=? WHERE id=?",
                (msgspec.json.encode(design), design.id),
            )

    def places(self, design: str) -> list[Placed]:
        """Return the items of a design in their order."""
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT kind, stage, target, asked, stratum FROM places WHERE design=? "
                "ORDER BY place",
                (design,),
            ).fetchall()
        return [self._placed(row) for row in rows]

    def assign(self, design: LabelDesign, annotator: str, n: int) -> list[int]:
        """Return the places of an annotator, ``n`` or as many as there are; new ones are added.

        Everybody has the first ``design.shared`` places; each other place has one annotator. Where
        these are too few, places follow that others have and nobody labeled, first those of names
        that labeled nothing: a name that was mistyped keeps no item from being labeled.
        """
        with self._writing(labels=False):
            mine = self.assigned(design.id, annotator)
            total = self._db.execute(
                "SELECT count(*) FROM places WHERE design=?", (design.id,)
            ).fetchone()[0]
            taken = {
                place
                for (place,) in self._db.execute(
                    "SELECT place FROM assigned WHERE design=?", (design.id,)
                )
            }
            shared = [p for p in range(min(design.shared, total)) if p not in mine]
            free = [p for p in range(design.shared, total) if p not in taken]
            lacking = max(0, n - len(mine))
            new = [*shared, *free][:lacking]
            if len(new) < lacking:
                held = {*mine, *new}
                new += [p for p in self._unlabeled(design) if p not in held][: lacking - len(new)]
            self._db.executemany(
                "INSERT INTO assigned VALUES (?,?,?)",
                [(design.id, annotator, place) for place in new],
            )
            return sorted([*mine, *new])

    def _unlabeled(self, design: LabelDesign) -> list[int]:
        """Return the places that are not shared and that their annotators did not label yet.

        Those of names without a label come first, then those that others come to last.
        """
        said = self._current()
        items, names = {one.item for one in said}, {one.annotator for one in said}
        places = self.places(design.id)
        idle = {
            place: names.isdisjoint(holders)
            for place, holders in self.holders(design.id).items()
            if place >= design.shared and places[place].item not in items
        }
        busy = sorted((place for place in idle if not idle[place]), reverse=True)
        return [*sorted(place for place in idle if idle[place]), *busy]

    def holders(self, design: str) -> dict[int, set[str]]:
        """Return who has each place of a design that somebody has."""
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT place, annotator FROM assigned JOIN places USING (design, place) "
                "WHERE design=? ORDER BY place",
                (design,),
            ).fetchall()
        held: dict[int, set[str]] = {}
        for place, annotator in rows:
            held.setdefault(place, set()).add(str(annotator))
        return held

    def assigned(self, design: str, annotator: str) -> list[int]:
        """Return the places that an annotator has of a design."""
        self._check_place()
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT place FROM assigned JOIN places USING (design, place) WHERE design=? AND "
                "annotator=? ORDER BY place",
                (design, annotator),
            ).fetchall()
        return [place for (place,) in rows]

    def _placed(self, row: Sequence[object]) -> Placed:
        """Return an item as it was stored; SQLite holds values of any type in any column."""
        if not all(isinstance(value, str) for value in row) or row[0] not in KINDS:
            raise _damaged(self.path, "a place names no item")
        kind, *names, stratum = cast(Sequence[str], row)
        return Placed(LabeledItem(cast(Kind, kind), *names), stratum)

    def _strata(
        self,
    ) -> tuple[dict[tuple[str, LabeledItem], str], dict[tuple[str, str], int]]:
        """Return the stratum of every item by design, and the size of every stratum."""
        designs = self.designs()
        sizes = {(d.id, s.name): s.size for d in designs for s in d.strata}
        with _sqlite_errors(self.path):
            rows = self._db.execute(
                "SELECT design, kind, stage, target, asked, stratum FROM places"
            ).fetchall()
        strata = {}
        for design, *row in rows:
            placed = self._placed(row)
            strata[design, placed.item] = placed.stratum
        found = Counter((design, stratum) for (design, _), stratum in strata.items())
        for d in designs:
            mine = {(d.id, s.name): s.size for s in d.strata}
            stored = sum(found[place] for place in mine)
            if sum(mine.values()) != d.items or min(d.items, MOST_PLACES) != stored:
                raise _damaged(self.path, "a draw lacks items, or has others than it says")
            if any(found[place] > size for place, size in mine.items()):
                raise _damaged(self.path, "a group of a draw has more items than it says")
        if found.keys() - sizes.keys():
            raise _damaged(self.path, "items are of a draw that is not stored")
        return strata, sizes

    @contextlib.contextmanager
    def _writing(self, *, labels: bool = True) -> Iterator[None]:
        """Write alone, all of it or nothing; labels and draws make corrected numbers stale.

        Those go first: if they cannot be deleted, no label is stored that they lack.
        """
        with _sqlite_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._check_place()
                yield
                if labels:
                    RunFolder(self.path.parent).drop(CORRECTED)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite itself takes back what found no space
                    self._db.execute("ROLLBACK")
                raise
        self._check_place()


def stored_labels(run: Path) -> list[PersonLabel]:
    """Return the labels of a run; nothing is written. Raises InputError where there are none."""
    if has_labels_file(run):
        with LabelStore.read(run) as store:
            if labels := store.labels():
                return labels
    raise InputError(
        f"{run} has no labels of people; to label its answers: sayso label {quote(str(run))}"
    )


def _file_in(run: Path) -> Path:
    """Return the place of the labels in a run folder; refuse links."""
    for ending in ("-wal", "-shm", "-journal"):
        place_inside(run, LABELS + ending)
    path = place_inside(run, LABELS)
    if not path.is_file():
        has_labels_file(run)  # refuses a folder or a pipe of that name
    return path


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file; refuse any other schema."""
    if not _schema(db):
        db.execute("BEGIN IMMEDIATE")
        if not _schema(db):
            for statement in TABLES.values():
                db.execute(statement)
            db.execute(f"PRAGMA application_id={APPLICATION}")
            db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    _check(db, path)


def _check(db: sqlite3.Connection, path: Path) -> None:
    """Refuse any schema but ours, with triggers for instance."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION and version > VERSION:
        raise InputError(f"{path} was written by a newer sayso (format {version}): update sayso")
    if _schema(db) != sorted(("table", name, sql) for name, sql in TABLES.items()):
        raise InputError(
            f"{path} is not a file of labels that sayso wrote: move it away, and import your "
            "labels from an export"
        )


def _schema(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return (type, name, SQL) of everything; a trigger may have the name of a table."""
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return sorted((str(kind), str(name), str(sql)) for kind, name, sql in found)


@contextlib.contextmanager
def _sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line for the user."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LabelStoreError(
                f"{path} stayed locked by another process for {WAIT:g} s: let it finish"
            ) from error
        if code not in DAMAGED:
            raise LabelStoreError(f"cannot read or write {path}: {error}") from error
        raise _damaged(path, str(error)) from error
    except MemoryError as error:
        raise LabelStoreError(f"cannot read {path}: there is too little memory") from error
    except (UnicodeDecodeError, OverflowError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> LabelStoreError:
    return LabelStoreError(
        f"{path} is damaged ({why:.120}): move it away, and import your labels from an export"
    )


# ---- files of labels

#: what a row says; the rest says of which item, by whom, and how it was drawn
SAID = ("stance", "content", "label", "number", "skipped")
#: the columns that lead from a row back to the run
ITEM = ("kind", "stage", "target", "asked")
COLUMNS = (
    "annotator", *ITEM, *SAID, "design", "stratum", "probability", "seconds", "time", "shown",
)  # fmt: skip
ENDINGS = (".jsonl", ".csv", ".tsv")


def label_row(label: PersonLabel) -> dict[str, object]:
    """Return a label as a row of a file; an answer without a value says nothing right or wrong."""
    verdict = label.verdict
    content = verdict.content if verdict.stance in STATED else None
    said = (verdict.stance, content, verdict.label, verdict.number, label.skipped or None)
    drawn = (label.design, label.stratum, label.probability, label.seconds, label.time)
    values = (label.annotator, *label.item, *said, *drawn, label.shown)
    return dict(zip(COLUMNS, values, strict=True))


def check_place(place: Path, *, flag: str, force: bool = False) -> None:
    """Refuse a place that rows of labels cannot be written to. Raises InputError."""
    name = f"{flag} {place}"
    if place.suffix.lower() not in ENDINGS:
        raise InputError(f"{name}: expected a name ending in {', '.join(ENDINGS)}")
    check_output(place, mark="target", command="sayso label", force=force, name=name)
    if not (force or is_stream(place)) and place.exists() and place.stat().st_size:
        raise InputError(
            f"{name} exists and may hold labels: give another name, or pass --force to replace it"
        )


def write_rows(
    rows: Iterable[Mapping[str, object]],
    columns: Sequence[str],
    place: Path,
    *,
    flag: str,
    force: bool = False,
) -> int:
    """Write rows of labels, or of items to label; return how many. Raises InputError.

    The name of ``place`` ends in .jsonl, .csv or .tsv; ``flag`` is what messages call it.
    """
    check_place(place, flag=flag, force=force)
    table = list(rows)
    if place.suffix.lower() == ".jsonl":
        data = b"".join(
            msgspec.json.encode({column: row.get(column) for column in columns}) + b"\n"
            for row in table
        )
    else:
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=separator_of(place))
        writer.writerow(columns)
        writer.writerows([export_cell(row.get(column)) for column in columns] for row in table)
        data = text.getvalue().encode("utf-8", "replace")
    with replacing(place) as file:
        file.write(data)
    return len(table)


def read_labels(
    place: Path, *, annotator: str = "", known: Iterable[str] = (), flag: str = "--import"
) -> ReadLabels:
    """Return the labels in a file; rows that say nothing are not read, but named, unless all do.

    A label that names no time is as old as the file: what was said since on the page is later.
    ``annotator`` is by whom rows are that name nobody, ``known`` are the names of others who
    labeled the run. Raises InputError with the row.
    """
    name = f"{flag} {place}"
    if suffix_of(place) not in (*ENDINGS, ".json", ".parquet"):
        raise InputError(f"{name}: expected a file ending in {', '.join(ENDINGS)}")
    if place.exists() and not place.is_file():
        raise InputError(f"{name} is a folder, a pipe or a device: expected a file of labels")
    found: dict[tuple[str, LabeledItem], PersonLabel] = {}
    lines: dict[tuple[str, LabeledItem], str] = {}
    rows: dict[tuple[str, LabeledItem], Mapping[str, Any]] = {}
    empty, names = [], dict.fromkeys(known)
    word = "line" if place.suffix.lower() in (".csv", ".tsv", ".jsonl") else "row"
    table = list(read_table(place))
    saved = datetime.fromtimestamp(min(place.stat().st_mtime, time()), UTC).isoformat()
    for number, row in table:
        if not any(_text(row.get(column)) for column in SAID):  # nobody labeled it yet
            empty.append(number)
            continue
        try:
            label = _label_in(row, annotator, saved, names)
            names[label.annotator] = None
            key = label.annotator, label.item
            if key in found and found[key].verdict != label.verdict:
                raise InputError("the same item has another label further up")
        except InputError as error:
            raise InputError(f"{name} {word} {number}: {error}") from None
        found[key], rows[key] = label, row
        lines[key] = f"{name} {word} {number}"
    if not found:
        columns = line(" | ".join(table[0][1]), 200)
        raise InputError(
            f"{name}: none of its {len(table):,} rows has a label: expected {', '.join(SAID[:-1])} "
            f"or skipped filled in, in columns of these names; it has {columns}"
        )
    return ReadLabels(list(found.values()), list(lines.values()), list(rows.values()), empty, word)


class ReadLabels(NamedTuple):
    """The labels of a file, where each stands, its row, and which (``word``: lines) have none."""

    labels: list[PersonLabel]
    places: list[str]
    rows: list[Mapping[str, Any]]
    empty: list[int]
    word: str


def _label_in(
    row: Mapping[str, Any], annotator: str, saved: str, known: Iterable[str]
) -> PersonLabel:
    kind, stage, target, asked = (_text(row.get(column)) for column in ITEM)
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r:.60}: expected one of {', '.join(KINDS)}")
    if not target or not asked or max(map(len, (stage, target, asked))) > LONGEST_KEY:
        raise InputError("it names no item: keep the columns stage, target and asked as written")
    item = LabeledItem(kind, stage, target, asked)
    by = _text(row.get("annotator")) or annotator
    if not by:
        raise InputError("it names no annotator: fill in the column, or pass --annotator NAME")
    reason = _text(row.get("skipped"))[:LONGEST_REASON]
    said = {name: row.get(name) for name in SAID} | {"skipped": reason}
    if kind == "sureness" and said["label"] == SURENESS:
        del said["label"]  # an export has it
    return PersonLabel(
        verdict_of_person(item, check_annotator(by, known), said),
        kind,
        stage,
        stratum=_text(row.get("stratum"))[:LONGEST_KEY],
        probability=None if reason else _optional(row, "probability", LEAST_CHANCE, 1.0),
        design=_text(row.get("design"))[:LONGEST_KEY],
        seconds=_optional(row, "seconds"),
        skipped=reason,
        time=_time_in(row, saved),
        shown=_text(row.get("shown"))[:LONGEST_KEY],
    )


def _optional(
    row: Mapping[str, Any], name: str, least: float = 0.0, most: float = float("inf")
) -> float | None:
    value = row.get(name)
    if value is None or not _text(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= most:
        raise InputError(f"{name} is {value!r:.60}: expected a number from {least:g} to {most:g}")
    return number


def _time_in(row: Mapping[str, Any], saved: str) -> str:
    text = _text(row.get("time"))
    if not text:
        return saved
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
        later = moment - datetime.now(UTC) > AHEAD
    except (ValueError, OverflowError):  # the year 1 has no earlier time in another zone
        later = True
    if later:  # a label of the future would keep out all that are given until then
        raise InputError(
            f"time is {text!r:.60}: expected a time that has passed, such as "
            "2026-01-31T12:00:00+00:00"
        )
    return moment.isoformat()


class MergedLabels(NamedTuple):
    """How many labels of a file are new, and of how many the store has newer ones."""

    new: int
    older: int


def merge_labels(store: LabelStore, labels: Sequence[PersonLabel]) -> MergedLabels:
    """Store labels of a file; of two labels of one person on one item the later counts.

    What is stored is another event each time, so that a label that was taken back comes back.
    A row of a sheet does not say by which design its item was drawn, so that the sheet is blind:
    that is looked up among the items that the annotator was given. That an item was passed over
    takes the place of no label, and is stored where the store does not know it.
    """
    held = {(one.annotator, one.item): one for one in (*store.passed_over(), *store.labels())}
    drawn = {
        (annotator, places[number].item): design.id
        for design in store.designs()
        for places in [store.places(design.id)]
        for annotator in {one.annotator for one in labels}
        for number in store.assigned(design.id, annotator)
    }
    new, older = [], 0
    for label in labels:
        key = label.annotator, label.item
        there = held.get(key)
        if there is not None and not label.shown.startswith(there.shown):
            there = None  # of a text or gold that the run has no more
        same = there and (there.verdict, there.skipped) == (label.verdict, label.skipped)
        if same and label.probability and there and not there.probability:
            there = None  # of a sheet, which does not say how its items were drawn
        if there is not None and (same or label.skipped == PASSED):
            continue
        if there is not None and there.skipped != PASSED and there.time > label.time:
            older += 1
            continue
        design = label.design or drawn.get(key, "")
        new.append(msgspec.structs.replace(label, design=design))
    names = [f"import:{secrets.token_hex(12)}" for _ in new]
    return MergedLabels(store.add_all(new, names), older)
