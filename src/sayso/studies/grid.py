"""What a study is: models, data sets and protocols, each combination an ordinary run.

A study is written as a mapping, in a YAML file or in Python, where a model may be an engine::

    out: studies/first
    limit: 50
    models:
      - smollm2
      - {model: "hf:Qwen/Qwen3.5-4B", name: Qwen3.5 4B, dtype: bfloat16}
    data:
      - world
      - {data: "file:mine.jsonl", columns: "question=q", limit: 200}
    protocols:
      - uncle: {probe: {k: 3}}
      - selective

Keys outside the three lists are flags of ``sayso run`` for every cell; an entry of a list may
change them for its own cells. Without ``data`` the models are asked about the set that fits them.
``thinking: [off, low, high]``, of the study or of one model, makes a row of each level.
``prompt_folders`` and ``sampling_seeds`` repeat every cell with the same entities, in other words
and with other samples: their runs stand beside each other like data sets (:class:`Variant`).
``answers:`` names files of answers in place of ``data``; ``models`` then chooses among those that
answered, by the names in the files (left out: all of them).
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets import default_data
from sayso.datasets.own_table import name_with_columns
from sayso.engines.named import base_name
from sayso.harmless import line
from sayso.options import AskingOptions, ModelOptions, QuestionOptions, change, option_names
from sayso.protocols import PROTOCOLS, protocol_named
from sayso.records import InputError, content_id
from sayso.runs.job import LONGEST_NAME, OF_COMMANDS, Job, job_of
from sayso.runs.recorded import ASKS_NOBODY, RecordedEngine, open_answers, slug
from sayso.runs.texts import TextsOf, lacking_claims, texts_by_model

#: flags of a run that a study sets itself
OWN = (
    *("protocol", "model", "data", "out", "options", "command", "model_options", "sampling_seed"),
    *OF_COMMANDS,
)
#: flags of a run that an entry of a list, or the whole study, may have
FLAGS = tuple(f.name for f in dataclasses.fields(Job) if f.name not in OWN)
#: what files of version 0.2 say of a model and nothing reads any more
UNREAD = ("group", "date")
OF_MODEL = (
    *("name", "price", "batch_files", "fresh", "stale_ok", "known_from"),
    *option_names(ModelOptions, AskingOptions),
    "label",
    *UNREAD,
)
OF_DATA = ("name", "columns", *option_names(QuestionOptions))
#: keys of a study of files of answers
OF_ANSWERS = ("answers", "columns", "logprobs")
#: lists by which every cell is repeated: folders of prompts, and seeds of the model's samples
REPEATED = ("prompt_folders", "sampling_seeds")
LISTS = ("models", "data", "protocols")


class GridCell(NamedTuple):
    """One run of a study, by what tables call its model and its data."""

    model: str
    data: str
    protocol: str
    job: Job
    #: what the files of answers lack for the protocol
    lacking: str = ""

    @property
    def path(self) -> Path:
        """The run folder."""
        return Path(self.job.out or "")

    @property
    def title(self) -> str:
        """What messages call it."""
        return line(f"{self.protocol} · {self.model} · {self.data}", 3 * LONGEST_NAME)


class About(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the study's file says of a model: ``label``, its short name in a figure."""

    label: str = ""


class Variant(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a data set is asked in one of several ways: in which words, with which samples.

    All are judged by what the first one's probes say is known; with ``own_probes``, by its own.
    """

    data: str
    prompts: str = ""
    seed: int | None = None
    own_probes: bool = False

    @property
    def title(self) -> str:
        """What tables call the data set, asked like this."""
        words = Path(self.prompts).name if self.prompts else ""
        seed = "" if self.seed is None else f"seed {self.seed}"
        return " · ".join(filter(None, (self.data, words, seed, "own probes" * self.own_probes)))


class Grid(NamedTuple):
    """The cells of a study, ordered so that a model is opened once, and where they lie."""

    out: Path
    cells: list[GridCell]
    max_cost: float | None = None
    #: what the entries say of their models, by title
    systems: Mapping[str, About] = {}
    #: how each data set is asked, by title, where a study lists prompt folders or sampling seeds
    variants: Mapping[str, Variant] = {}


class _Entry(NamedTuple):
    """An entry of one of the three lists: its value, its title, and what it changes."""

    value: Any
    title: str
    changes: dict[str, Any]


def read_grid(spec: Mapping[str, Any], place: str = "study", command: str = "") -> Grid:
    """Return the cells that a mapping describes; ``place`` is what messages call it.

    Raises InputError for what is no study, with the name of the entry.
    """
    given = {_field(key): value for key, value in spec.items()}
    shared = {k: v for k, v in given.items() if k not in (*LISTS, *REPEATED, *OF_ANSWERS, "out")}
    _refuse_unknown(shared, FLAGS, place)
    protocols = _protocols(given.get("protocols"), place)
    recorded = _recorded(given, protocols, place)
    if not given.get("models") and not recorded:
        raise InputError(f"{place}: names no models; expected such as models: [builtin]")
    models = _entries(given.get("models") or list(recorded), "model", OF_MODEL, place)
    if not recorded:
        level = shared.pop("thinking", None)
        models = [one for entry in models for one in _thinking(entry, level)]
    asked = given.get("data") or [_fitting(models, recorded, place)]
    data = [_with_columns(one) for one in _entries(asked, "data", OF_DATA, place)]
    if recorded:
        models = [_chosen(entry, recorded, place) for entry in models]
    out = Path(str(given.get("out") or f"studies/{content_id([repr(sorted(given.items()))])[:8]}"))
    titles = {entry.title for entry in models}
    bases = {entry.title: _base_of(entry, models) for entry in models}
    systems = {entry.title: _about(entry, asked=not recorded) for entry in models}
    variants = {entry.title: _variants(entry.title, given, place) for entry in data}
    cells = []
    for model in sorted(models, key=lambda entry: bool(bases[entry.title])):  # base models first
        base = bases[model.title]
        model.changes.pop("known_from", "")
        if base and (base not in titles or base == model.title):
            raise InputError(
                f"{place}: known_from {base!r} of {model.title} is not another model of this "
                f"study; it has {', '.join(sorted(titles - {model.title})) or 'none'}"
            )
        for source in data:
            first = variants[source.title][0]
            for variant, (name, options) in product(variants[source.title], protocols.items()):
                draws = getattr(options, "known_from", "")  # whose probes say what is known
                if variant.own_probes and draws != "self":
                    continue
                probed = variant if variant.own_probes else first
                known = out / slug(base or model.title) / slug(probed.title) / name
                borrows = draws if base else draws == "self" and probed != variant
                own = _asked_as(options, variant, known if borrows else None)
                folder = out / slug(model.title) / slug(variant.title) / name
                flags = {**shared, **source.changes, **model.changes}
                job = job_of(typed=True, **flags)
                job = dataclasses.replace(
                    job, protocol=name, data=source.value, out=folder, options=own,
                    sampling_seed=variant.seed,
                    command=command or f"sayso study {shlex.quote(place)}",
                )  # fmt: skip
                cell = GridCell(model.title, variant.title, name, job)
                cells.append(_with_model(cell, model.value))
    ways = {v.title: v for own in variants.values() if any(map(given.get, REPEATED)) for v in own}
    return Grid(out, cells, shared.get("max_cost"), systems, ways)


def _thinking(entry: _Entry, shared: Any) -> list[_Entry]:
    """Return a model that thinks as it is told, or one for each of several levels.

    Those after the first are judged by its probes: how a model is asked does not change what it
    knows.
    """
    given = entry.changes.get("thinking", shared)
    if given is None:
        return [entry]
    levels = [["off", "on"][own] if isinstance(own, bool) else own for own in _listed(given)]
    if not isinstance(given, list | tuple):
        return [entry._replace(changes={**entry.changes, "thinking": levels[0]})]
    _refuse_twice([str(own) for own in levels], f"{entry.title}: two levels of thinking")
    titles = [f"{entry.title} · thinking {own}" for own in levels]
    known = [{}, *[{"known_from": titles[0]}] * (len(levels) - 1)]
    return [
        _Entry(entry.value, title, {**own_known, **entry.changes, "thinking": own})
        for title, own, own_known in zip(titles, levels, known, strict=True)
    ]


def _variants(data: str, given: Mapping[str, Any], place: str) -> list[Variant]:
    """Return how a data set is asked: the first way, the others, and those with own probes.

    Raises InputError for folders and seeds that are none, and for two of one name.
    """
    folders, seeds = (_listed(given.get(name)) for name in REPEATED)
    for folder in folders:
        if not isinstance(folder, str | PathLike) or not os.fspath(folder):
            raise InputError(
                f"{place}: prompt_folders has {folder!r:.60}; expected names of folders"
            )
    for seed in seeds:
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise InputError(f"{place}: sampling_seeds has {seed!r:.60}; expected whole numbers")
    ways = product(folders or [""], seeds or [None])
    found = [Variant(data, os.fspath(folder), seed) for folder, seed in ways]
    _refuse_twice([variant.title for variant in found], f"{place}: two prompt folders or seeds")
    return [*found, *(msgspec.structs.replace(v, own_probes=True) for v in found[1:])]


def _asked_as(options: Any, variant: Variant, known: Path | None) -> Any:
    """Return a protocol's settings with a variant's prompts, and the run that decides on known."""
    changes = {"prompt_folder": variant.prompts} if variant.prompts else {}
    changes |= {"known_from": str(known)} if known is not None else {}
    return dataclasses.replace(options, **changes)


def _listed(given: Any) -> list[Any]:
    """Return the values of a key that may have one of them or a list."""
    if given is None or given == ():
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _refuse_twice(titles: Sequence[str], what: str) -> None:
    """Refuse titles of which two are the same. Raises InputError."""
    if twice := next((title for title in titles if titles.count(title) > 1), ""):
        raise InputError(f"{what} are called {line(twice, 100)!r}; give each a name of its own")


def _fitting(models: Sequence[_Entry], recorded: Mapping[str, _OnRecord], place: str) -> str:
    """Return the data set of a study that names none. Raises InputError where no set fits all."""
    if recorded:
        return next(iter(recorded.values())).data
    fitting = {default_data(entry.value): entry.title for entry in models}
    if len(fitting) > 1:
        told = ", ".join(f"{name} for {title}" for name, title in fitting.items())
        raise InputError(
            f"{place}: names no data, and no set fits all models ({told}); name the set that all "
            "of them are asked about"
        )
    return next(iter(fitting))


class _OnRecord(NamedTuple):
    """What files hold of one model: short answers, long texts, or why they hold none."""

    data: str
    answers: RecordedEngine | None = None
    texts: TextsOf | None = None
    reason: str = ""


def _with_model(cell: GridCell, model: Any) -> GridCell:
    """Return a cell with who answers it: a model that is asked, or what is on record of one."""
    job = cell.job
    if not isinstance(model, _OnRecord):
        return cell._replace(job=dataclasses.replace(job, model=model))
    if "texts" not in job.plan.needs:
        lacking = "" if model.answers else f"{cell.protocol} reads answers: {model.reason}"
        return cell._replace(
            job=dataclasses.replace(job, model=model.answers or ""), lacking=lacking
        )
    plain = job.plan.Settings()
    if job.options.modes not in (plain.modes, "none"):
        raise InputError(f"modes is {job.options.modes}: it would ask the model, but {ASKS_NOBODY}")
    options = dataclasses.replace(job.options, modes="none")
    job = dataclasses.replace(job, model="", data="texts", options=options, texts=model.texts)
    return cell._replace(job=job, lacking=lacking_claims(model.texts, options))


def _recorded(
    given: Mapping[str, Any], protocols: Iterable[str], place: str
) -> dict[str, _OnRecord]:
    """Return the models in files of answers by name; none where a study names no such files."""
    files = given.get("answers")
    if not files:
        for name in OF_ANSWERS:
            if given.get(name):
                raise InputError(f"{place}: {name} is for files of answers (answers:)")
        return {}
    if named := next((name for name in ("data", *REPEATED) if given.get(name)), ""):
        raise InputError(f"{place}: answers are there already: leave {named} out")
    listed = _listed(files)
    if not all(isinstance(file, str | PathLike) for file in listed):
        raise InputError(f"{place}: answers is {line(repr(files), 60)}; expected names of files")
    paths, columns = [Path(file) for file in listed], given.get("columns") or ""
    wanted = {"texts" in PROTOCOLS[name].needs for name in protocols}
    found: dict[str, _OnRecord] = {}
    reasons: list[InputError] = []  # long texts are no answers, and answers no texts
    if False in wanted:
        try:
            models = open_answers(paths, columns, given.get("logprobs"))
            found = {_short(model.name): _OnRecord(model.data.name, model) for model in models}
        except InputError as reason:
            reasons.append(reason)
    if True in wanted:
        try:
            for own in texts_by_model(paths, columns):
                name = _short(own.system.name)
                found[name] = found.get(name, _OnRecord(own.data))._replace(texts=own)
        except InputError as reason:
            reasons.append(reason)
    if reasons and not found:
        raise reasons[0]
    why = str(reasons[0]) if reasons else "this model has none"
    return {name: one._replace(reason=why) for name, one in found.items()}


def _chosen(entry: _Entry, recorded: Mapping[str, _OnRecord], place: str) -> _Entry:
    """Return an entry with the model on record that it names."""
    if entry.value not in recorded:
        there = f"there are {', '.join(recorded)}"[:1000]
        raise InputError(
            f"{place}: model {line(entry.value, 60)!r} has no answers in the files; {there}"
        )
    return entry._replace(value=recorded[entry.value])


def _base_of(entry: _Entry, models: Sequence[_Entry]) -> str:
    """Return the title of the model whose probes say what another one knows; "" for its own.

    Unless ``known_from`` names one, it is the model that an entry was trained from, opened alike.
    """
    given = entry.changes.get("known_from", "")
    if given or not isinstance(entry.value, str):
        return str(given or "")
    name = base_name(entry.value)
    for other in models:
        alike = all(other.changes.get(f) == entry.changes.get(f) for f in ("dtype", "device"))
        if name and other.value in (name, f"hf:{name}") and alike:
            return other.title
    return ""


def _about(entry: _Entry, *, asked: bool) -> About:
    """Return what an entry says of its model, and take out of it what no request needs."""
    for name in UNREAD if asked else (*UNREAD, "thinking"):
        entry.changes.pop(name, None)
    return About(str(entry.changes.pop("label", "") or ""))


def _field(key: object) -> str:
    return str(key).replace("-", "_")


def _refuse_unknown(given: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            group = key.partition(".")[0]
            if of := [n for n, plan in PROTOCOLS.items() if group in option_names(plan.Settings)]:
                hint = f"a setting of {' and '.join(of)}, which stands there: protocols: "
                hint += f"[{of[0]}: {{{key}: …}}]; "
            raise InputError(f"{place}: unknown {line(key, 60)!r}; {hint}known: {', '.join(known)}")


def _entries(given: Any, what: str, known: Sequence[str], place: str) -> list[_Entry]:
    """Return the entries of a list: names, or mappings with what they change."""
    found: list[_Entry] = []
    for entry in _listed(given):
        if isinstance(entry, str) and entry:
            found.append(_Entry(entry, _short(entry), {}))
            continue
        changes = {_field(k): v for k, v in entry.items()} if isinstance(entry, Mapping) else {}
        value = changes.pop(what, "")
        engine = what == "model" and hasattr(value, "complete")  # one of the caller's own
        if not engine and (not isinstance(value, str) or not value):
            raise InputError(
                f"{place}: an entry of {what} is {line(repr(entry), 80)}; expected a name, or a "
                f"mapping with {what}: and the settings that it changes"
            )
        shown = str(value.name) if engine else value
        _refuse_unknown(changes, known, f"{place}: {what} {line(shown, 60)}")
        title = str(changes.get("name") or _short(shown))
        found.append(_Entry(value, title, changes))
    _refuse_twice([entry.title for entry in found], f"{place}: two entries of {what}")
    return found


def _short(value: str) -> str:
    """Return what tables call a model or data that has no name of its own."""
    return line(value, 2 * LONGEST_NAME).strip()[-LONGEST_NAME:]


def _protocols(given: Any, place: str) -> dict[str, Any]:
    """Return the settings of each protocol, of all of them where a study names none."""
    named = [{name: own} for name, own in given.items()] if isinstance(given, Mapping) else given
    found: dict[str, Any] = {}
    for entry in _listed(named) or PROTOCOLS:
        for name, changes in (entry if isinstance(entry, Mapping) else {entry: None}).items():
            plan = protocol_named(str(name))
            if plan.name in found:
                raise InputError(f"{place}: protocol {plan.name} is named twice")
            if changes is not None and not isinstance(changes, Mapping):
                raise InputError(
                    f"{place}: settings of {name} are {line(repr(changes), 60)}; "
                    "expected a mapping, such as probe: {k: 3}"
                )
            try:
                found[plan.name] = change(plan.Settings(), changes or {}, typed=True)
            except InputError as error:
                raise InputError(f"{place}: {plan.name}: {error}") from None
    return found


def _with_columns(source: _Entry) -> _Entry:
    """Return an entry of data whose value names its columns too, as a job takes it."""
    columns = str(source.changes.pop("columns", None) or "")
    source.changes.pop("name", None)
    return source._replace(value=name_with_columns(source.value, columns))
