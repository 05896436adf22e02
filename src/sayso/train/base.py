"""The run that a training starts from, and which of its data is trained on and which measured.

The base run's model, data, judge and settings are taken over. Of the built-in world its split
``train`` is trained on. Of other data it is the entities that the run did not ask about; where it
asked about all of them, a seeded part is set apart for measuring (both by the seed of the run).
``train_data`` names other sets to train on, and everything that the run asked is measured.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sayso.datasets import load_dataset, subset
from sayso.datasets.catalogue import is_topic
from sayso.datasets.dataset import Dataset
from sayso.datasets.own_table import name_with_columns
from sayso.datasets.short_answers import SETS
from sayso.harmless import line
from sayso.progress import Progress
from sayso.protocols.uncle import UNCLE
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError, Question
from sayso.runs.asking import REQUEST_SETTINGS
from sayso.runs.costs import is_local
from sayso.runs.job import Job, parts_of
from sayso.runs.measure import entities_of, load_run
from sayso.runs.run import open_job
from sayso.storage.cache import FILE_NAME, default_cache_folder
from sayso.storage.run_folder import Manifest
from sayso.train.result import FILE, read_training
from sayso.train.rows import normal_name

#: the part of the entities that is measured where a run asked about all of them
HELD_OUT = 0.4
_WORD = re.compile(r"\w+")
#: splits of the built-in world that a run may measure: training uses its train split
MEASURED = ("dev", "test")


class Base(NamedTuple):
    """A finished run of the base model and how to ask it again."""

    path: Path
    manifest: Manifest
    settings: Settings
    model: Any
    data: str
    judge: Any
    cache: Path

    def job(self, **changed: Any) -> Job:
        """Return a job with the run's model, data, judge and seed, changed where given."""
        chosen = self.manifest.chosen
        own: dict[str, Any] = {
            "model": self.model,
            "data": self.data,
            "judge": self.judge,
            "cache": self.cache,
            "limit": chosen.get("limit"),
            "split": str(chosen.get("split") or "test"),
            "domains": tuple(filter(None, str(chosen.get("domain") or "").split(","))),
            "tiers": tuple(filter(None, str(chosen.get("tier") or "").split(","))),
            "seed": int(chosen.get("seed", self.manifest.settings["seed"]) or 0),
            "options": self.settings,
            "command": self.manifest.command,
            "end_loops": self._end_loops,
        }
        return Job(**(own | changed))

    @property
    def _end_loops(self) -> bool | None:
        """Whether answers of the run's model ended with their loops; ``None`` for an endpoint's."""
        if not isinstance(self.model, str) or not is_local(self.model):
            return None
        return self.manifest.model_identity.endswith("|end_loops")


class Halves(NamedTuple):
    """What is trained on, what is measured, and the ``limit`` at which a run asks just that."""

    trained: Dataset
    measured: Dataset
    limit: int
    notes: tuple[str, ...]


def open_base_run(
    run: str | Path,
    *,
    model: Any = None,
    data: str | None = None,
    judge: Any = None,
    cache: str | Path | None = None,
) -> Base:
    """Open a finished uncle run of a base model. Raises InputError for anything else.

    ``model``, ``data``, ``judge`` and ``cache`` replace what the run's own command said; they are
    needed where it cannot be repeated from its manifest (an engine from Python, a moved file).
    """
    if (Path(run) / FILE).is_file():
        base = read_training(run).base_run
        named = shlex.quote(line(base)) if base else "a run it does not name"
        raise InputError(f"{run} is a training, started from {named}: name that run")
    job, manifest, chosen = load_run(run)
    if manifest.protocols != ("uncle",):
        raise InputError(
            f"{run} is a run of {'+'.join(manifest.protocols)}; a training starts from "
            "`sayso run uncle`"
        )
    if chosen.known_from != "self":
        raise InputError(
            f"{run} was itself measured with the probes of {chosen.known_from}: train from that one"
        )
    if any(manifest.settings.get(name) for name in REQUEST_SETTINGS):
        raise InputError(
            f"{run} asked with thinking, arguments of the chat template or a system prompt, "
            "which training rows do not have; run the base model without"
        )
    if not any(q.parts for q in job.questions):
        raise InputError(
            f"{run} asked short questions only, and a training is measured in paragraphs too: run "
            "uncle without short_only, on data with paragraphs (in a table of your own, rows "
            "that share an entity)"
        )
    flags = _flags(manifest.command)
    for what, named, given in (("model", manifest.model, model), ("judge", manifest.judge, judge)):
        asked = named.removeprefix("rules+")
        if given is None and "://" in asked:
            raise InputError(
                f"the {what} of {run} is at an address that its folder names, {named!r}: to send "
                f"your key and questions there, add --{what} {shlex.quote(named)}"
            )
    where = (
        data or name_with_columns(flags.get("data", ""), flags.get("columns", "")) or manifest.data
    )
    # a folder that somebody else's run names gets no new files
    theirs = Path(flags.get("cache") or default_cache_folder())
    folder = Path(cache or (theirs if (theirs / FILE_NAME).is_file() else default_cache_folder()))
    settings = dataclasses.replace(chosen, methods="")
    return Base(
        Path(run), manifest, settings, model or manifest.model, where, judge or manifest.judge,
        folder,
    )  # fmt: skip


def check_still(base: Base, progress: Progress | None = None) -> None:
    """Refuse a model or judge that is not the run's any more, before anything is asked. InputError.

    Known and unknown are what that model's probes and that judge said; a trained model's
    answers must be judged alike.
    """
    with open_job(base.job(limit=1), progress, learn=False) as job:
        job.check_here()
        now = job.model.identity, job.judge.judge.signature
    before = base.manifest.model_identity, base.manifest.judge_signature
    for what, own, other in zip(("model", "judge"), before, now, strict=True):
        if own != other:
            raise InputError(
                f"{base.path} was run with {what} {own}, which is {other} now: run the base model "
                "again into another --out (stored replies are used), and train from that run"
            )


def _flags(command: str) -> dict[str, str]:
    """Return ``--name value``, ``--name=value`` and ``--set name=value`` of a command line."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    flags: dict[str, str] = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            given = after if word == "--set" else word[2:]
            name, equals, value = given.partition("=")
            flags[name] = value if equals else after
    return flags


def halves(
    base: Base,
    limit: int | None = None,
    train_limit: int | None = None,
    train_data: Sequence[str] = (),
) -> Halves:
    """Divide the data; ``limit`` entities are measured, at most ``train_limit`` trained on.

    With ``train_data``, names of other sets, at most ``train_limit`` entities of each of these.
    Raises InputError where nothing is left to train on, or the data are not what the run asked.
    """
    for name, number in (("limit", limit), ("train-limit", train_limit)):
        if number is not None and number < 1:
            raise InputError(f"{name} is {number}; expected at least 1 entity")
    questions = load_run(base.path)[0].questions
    job = base.job()
    count = entities_of(questions)
    notes: list[str] = []
    covered = {part for q in questions for part in q.parts}
    if alone := sum(not q.parts and q.id not in covered for q in questions):
        notes.append(
            f"{alone:,} of the facts that {base.path} asked about are in no paragraph: the proof "
            "compares both forms and leaves them out"
        )
    if limit is not None and limit > count:
        raise InputError(
            f"limit {limit}: {base.path} asked about {count} entities, and only those have frozen "
            "probes; run the base model about more"
        )
    if train_data:
        held, drawn = _measured(base, limit or count, questions)
        train = _of_sets(train_data, held, train_limit, job.seed, notes)
        return Halves(train, held, drawn, tuple(notes))
    if base.manifest.data == "builtin":
        if job.split not in MEASURED:
            raise InputError(
                f"{base.path} asked about split {job.split} of the built-in world; training uses "
                f"its split train: measure {' or '.join(MEASURED)}"
            )
        train = load_dataset("builtin", split="train", limit=0, **parts_of(job))
        wanted = limit or count
    else:
        train, wanted = _others(base, limit, notes)
    held, drawn = _measured(base, wanted, questions)
    names = {normal_name(q.entity or q.text) for q in held.questions}
    kept = [q for q in train.questions if normal_name(q.entity or q.text) not in names]
    left = _whole(kept)
    if not left:
        raise InputError(
            f"{base.data} has no entity left to train on besides the {wanted} measured"
        )
    if train_limit is not None:
        if train_limit > (there := entities_of(left)):
            notes.append(
                f"train-limit {train_limit}: there are {there} entities to train on, all are taken"
            )
        data = subset(train.replaced(left), limit=train_limit, seed=job.seed)
        left = data.questions
    return Halves(train.replaced(left), held, drawn, tuple(notes))


def _measured(base: Base, wanted: int, asked: Sequence[Question]) -> tuple[Dataset, int]:
    """Return what is measured: so many entities of what the run asked. Raises InputError.

    They are drawn as a run draws them: of all, and questions without an answer left out then; with
    the limit of such a run.
    """
    job = base.job()
    every = load_dataset(base.data, split=job.split, limit=0, **parts_of(job))
    total = entities_of(every.questions)
    for limit in range(wanted, max(wanted, total) + 1):
        drawn = subset(every, limit=limit, seed=job.seed)
        held = UNCLE.asked(drawn, base.settings)
        if entities_of(held.questions) >= wanted:
            break
    known = {q.id for q in asked}
    strange = [q for q in held.questions if q.id not in known]
    if strange:
        raise InputError(
            f"{base.data} is not what {base.path} asked: {len(strange)} questions differ, first "
            f"{strange[0].text!r}; pass --data with the file that it was run on"
        )
    return held, limit


def _of_sets(
    names: Sequence[str], held: Dataset, most: int | None, seed: int, notes: list[str]
) -> Dataset:
    """Return the questions of several sets that are about nothing that is measured. InputError."""
    sets = []
    questions: dict[str, Question] = {}
    for name in dict.fromkeys(names):
        known = SETS.get(name)
        split = "train" if known is None or "train" in known.splits else "test"
        data = load_dataset(name, split=split, limit=0)
        left = _whole(_apart(data.questions, held))
        if not any(q.golds or q.answerable is False or is_topic(q) for q in left):
            raise InputError(
                f"train-data {name}: nothing is left to train on: it has no golds and no topics, "
                "or all of it is about measured entities"
            )
        there, out = entities_of(left), entities_of(data.questions) - entities_of(left)
        if out:
            notes.append(
                f"train-data {name}: {out} of {there + out} entities are left out because they "
                "name a measured entity or have one as their answer"
            )
        if most is not None and most < there:
            left = subset(data.replaced(left), limit=most, seed=seed).questions
        notes.append(f"train-data {name}: {entities_of(left)} entities are trained on")
        sets.append(data)
        questions |= {q.id: q for q in left}
    # short questions first, as in any set
    every = tuple(sorted(questions.values(), key=lambda q: bool(q.parts)))
    title = "+".join(dict.fromkeys(data.name for data in sets))
    return Dataset(title, every, "", sum(data.rows for data in sets)).replaced(every)


def _apart(questions: Sequence[Question], held: Dataset) -> list[Question]:
    """Return questions about nothing that is measured: by entity, in their words, or in a gold.

    Other sets name no entity, or write it otherwise: "Where was Ada Lovelace born?" is about her
    wherever it stands. Names are looked for as they are written, as whole words.
    """
    plain = {normal_name(q.entity or q.text) for q in held.questions}
    ids = {q.id for q in held.questions}
    written: dict[str, set[str]] = {}
    for q in held.questions:
        name = q.entity.partition(" (")[0].strip()
        if first := _WORD.search(name):
            written.setdefault(first.group(), set()).add(name[first.start() :])

    def names(text: str) -> bool:
        return any(
            text.startswith(name, word.start()) and not _WORD.match(text, word.start() + len(name))
            for word in _WORD.finditer(text)
            for name in written.get(word.group(), ())
        )

    def about(q: Question) -> bool:
        golds = [name for gold in q.golds or () for name in gold.names]
        return (
            q.id in ids
            or any(normal_name(name) in plain for name in (q.entity or q.text, *golds))
            or names(q.text)
        )

    return [q for q in questions if not about(q)]


def _others(base: Base, limit: int | None, notes: list[str]) -> tuple[Dataset, int]:
    """Return all the data, and how many entities of it are measured."""
    job = base.job()
    every = load_dataset(base.data, split=job.split, limit=0, **parts_of(job))
    every = UNCLE.asked(every, base.settings)
    questions = load_run(base.path)[0].questions
    total, count = entities_of(every.questions), entities_of(questions)
    wanted = limit or count
    if wanted >= total:
        wanted = max(1, round(HELD_OUT * total))
        notes.append(
            f"the run asked about all {total} entities: {wanted} of them, drawn with its seed, are "
            f"measured, and the other {total - wanted} are trained on"
        )
    return every, wanted


def _whole(questions: list[Question]) -> tuple[Question, ...]:
    """Return questions without paragraphs whose parts are gone."""
    ids = {q.id for q in questions}
    return tuple(q for q in questions if all(part in ids for part in q.parts))
