"""``sayso.run``: from names on a command line to a finished run folder."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import sayso
from sayso import datasets, prompts
from sayso.annotate import Judge
from sayso.cache import Cache, default_cache_folder
from sayso.datasets.collection import Dataset
from sayso.models import Engine, open_model
from sayso.pipeline.folder_run import FolderRun, Progress
from sayso.protocols import PROTOCOLS, settings, uncle
from sayso.records import Estimate, InputError, Question, content_id
from sayso.store import FORMAT, Manifest, RunFolder, machine, versions


class Result(NamedTuple):
    """A finished run: where it lies, what it says, and about how many entities."""

    path: Path
    estimates: list[Estimate]
    manifest: Manifest
    entities: int
    saved: bool = True

    def get(self, name: str, where: str = "all") -> Estimate:
        """Return one number, e.g. ``result.get("J", "form:long")``. Raises KeyError."""
        for estimate in self.estimates:
            if estimate.name == name and estimate.where == where:
                return estimate
        raise KeyError(f"{name} {where}")


def open_judge(name: str) -> Judge:
    """Open a judge by name. Raises InputError for a name that is no judge."""
    if name == "rules":
        from sayso.annotate.rules import RulesJudge

        return RulesJudge()
    raise InputError(f"judge {name!r}: expected 'rules', the offline judge")


def run(
    protocol: str = "uncle",
    *,
    model: str | Engine = "builtin",
    data: str = "builtin",
    judge: str | Judge = "rules",
    out: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    split: str = "test",
    domains: Sequence[str] = (),
    cache: str | Path | None = None,
    options: uncle.Settings | None = None,
    command: str = "",
    progress: Progress | None = None,
    model_options: dict[str, object] | None = None,
) -> Result:
    """Run one protocol: ask, judge, measure, and leave a run folder behind.

    ``model`` and ``data`` are names as on the command line, or an engine of your own. ``out`` is
    the run folder; left out, its name is derived from the settings, so that the same command goes
    on where it was stopped. ``limit`` counts entities (0: all). Raises
    :class:`~sayso.records.InputError` for what a user can mend.
    """
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol {protocol!r}: expected one of {', '.join(PROTOCOLS)}")
    chosen = options or uncle.Settings()
    uncle.check(chosen)
    if not 0 <= seed < 2**63:
        raise InputError(f"seed is {seed}; expected 0 to {2**63:g}")
    prompts.check_folder(Path(chosen.prompt_folder) if chosen.prompt_folder else None)
    grader = open_judge(judge) if isinstance(judge, str) else judge
    questions = datasets.load(data, split=split, domains=domains, limit=limit, seed=seed)
    entities = {(q.domain, q.entity) for q in questions.questions}
    engine = open_model(model, **(model_options or {})) if isinstance(model, str) else model
    try:
        manifest = _manifest(protocol, questions, engine, grader, chosen, seed, command)
        borrowed = _check_known_from(chosen, manifest, questions)
        path = Path(out) if out else Path("runs") / _folder_name(protocol, manifest)
        folder = _open_folder(path, manifest)
        with Cache(Path(cache or default_cache_folder()) / "replies.sqlite") as replies:
            job = FolderRun(
                folder,
                questions.questions,
                cache=replies,
                parts=signature_parts(manifest),
                progress=progress,
            )
            folder.write("questions", questions.questions, Question)
            folder.write_manifest(manifest)
            uncle.collect(questions.questions, engine, grader, job, chosen, seed)
            told = *replies.notices, *getattr(engine, "notices", ())
            asked = (
                f"{len(entities):,} entities: {len(questions.short):,} short questions, "
                f"{len(questions.long):,} paragraphs"
            )
            notices = (*questions.notes, asked, *told, *borrowed, *job.notices)
        with job.timed("measure"):
            estimates = uncle.measure(job, chosen)
        folder.write(f"metrics/{protocol}", estimates, Estimate)
        counts = {f"model_{name}": value for name, value in _counts(engine).items()}
        manifest = msgspec.structs.replace(
            manifest,
            finished=_now(),
            timings=job.timings,
            tokens={**job.tokens, **counts},
            notices=notices,
        )
        folder.write_manifest(manifest)
    finally:
        if isinstance(model, str):
            engine.close()
    return Result(path, estimates, manifest, len(entities))


def _check_known_from(chosen: uncle.Settings, manifest: Manifest, data: Dataset) -> tuple[str, ...]:
    """Refuse probes of another run that were not drawn and judged as this run's numbers will say.

    Returns what a reader must know of them.
    """
    if chosen.known_from == "self":
        return ()
    base = RunFolder.open(Path(chosen.known_from))
    other = base.read_manifest()
    k, heat = (other.settings.get(name) for name in ("probe.k", "probe.temperature"))
    if not isinstance(k, int) or k < chosen.probe.k or heat != chosen.probe.temperature:
        raise InputError(
            f"known_from {chosen.known_from}: it has {k} draws at T={heat}, not "
            f"{chosen.probe.k} at T={chosen.probe.temperature:g}; say --probe.k {k} "
            f"--probe.temperature {heat}, or run the base model again"
        )
    wordings = [m.prompts.get("probe_wordings", "1") for m in (other, manifest)]
    if wordings[0] != wordings[1]:
        raise InputError(
            f"known_from {chosen.known_from}: its probes were drawn in other wordings "
            f"({wordings[0]}, not {wordings[1]}); give both runs the same --wordings, "
            "--probe-wordings and frames"
        )
    if other.judge_signature != manifest.judge_signature:
        raise InputError(
            f"known_from {chosen.known_from}: judged by {other.judge_signature}, not by "
            f"{manifest.judge_signature}; repeat that run with the same judge"
        )
    golds = {q.id: q.golds for q in base.iter("questions", Question)}
    changed = [q for q in data.questions if q.id in golds and golds[q.id] != q.golds]
    if changed:
        raise InputError(
            f"known_from {chosen.known_from}: it was judged against other answers to "
            f"{len(changed)} of the questions, first {changed[0].text!r}; run it on the same data"
        )
    if other.model_base == manifest.model_base:
        return ()
    return (
        f"what is known was decided by the probes of {other.model}, whose base model "
        f"({other.model_base}) is not this model's ({manifest.model_base})",
    )


def signature_parts(manifest: Manifest) -> dict[str, str]:
    """Return the run-wide parts of every signature; the model is what ``compare`` compares."""
    return {
        "data": f"{manifest.data}-{manifest.data_hash[:4]}",
        "model": manifest.model_signature,
        "judge": manifest.judge_signature,
        "prompts": manifest.prompts["signature"],
        **_wordings(manifest),
        "seed": str(manifest.settings["seed"]),
        "v": sayso.__version__,  # of the sayso that measures, not of the one that asked
    }


def _wordings(manifest: Manifest) -> dict[str, str]:
    """Return hashes of the further wordings of a run; none where it has one wording."""
    names = ("wordings", "probe_wordings")
    return {name: manifest.prompts[name] for name in names if name in manifest.prompts}


def _counts(engine: Engine) -> dict[str, int]:
    return {f: int(getattr(engine.counts, f)) for f in engine.counts.__struct_fields__}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _manifest(
    protocol: str,
    data: Dataset,
    engine: Engine,
    judge: Judge,
    chosen: uncle.Settings,
    seed: int,
    command: str,
) -> Manifest:
    said = uncle.instructions(chosen)
    return Manifest(
        format=FORMAT,
        sayso=sayso.__version__,
        created=_now(),
        finished=None,
        command=command or f"sayso run {protocol}",
        protocols=(protocol,),
        settings={**settings.as_dict(chosen), "seed": seed},
        data=data.name,
        data_hash=data.hash,
        n_questions=len(data.questions),
        prompts={
            "signature": uncle.prompts_signature(chosen),
            **uncle.extra_signatures(chosen),
            **{f"uncle_{form}_instruction": text for form, text in said.items()},
            **uncle.more_prompts(chosen),
        },
        model=engine.name,
        model_identity=engine.identity,
        model_base=engine.base,
        model_signature=engine.signature,
        judge=judge.name,
        judge_signature=judge.signature,
        versions=versions(),
        machine=machine(),
    )


def _folder_name(protocol: str, manifest: Manifest) -> str:
    """Derive the folder's name from everything that decides what is asked.

    Checks that are off ask nothing: the name is the one from before there were any.
    """
    off = {k: v for k, v in settings.as_dict(uncle.Settings()).items() if k in uncle.CHECKS}
    asked = {k: v for k, v in _asked(manifest).items() if k not in off or v != off[k]}
    key = content_id([asked, manifest.judge_signature])[:8]
    model = "".join(c if c.isalnum() or c in "-_." else "-" for c in manifest.model_signature)
    return f"{protocol}-{model.strip('-.')[-40:]}-{key}"


def _asked(manifest: Manifest) -> dict[str, object]:
    """Return what a run asks for: two runs that agree in it may share a folder."""
    return {
        "protocols": manifest.protocols,
        "data": f"{manifest.data}-{manifest.data_hash}",
        "model": manifest.model_identity,
        "judge": manifest.judge_signature,
        "prompt_texts": manifest.prompts["signature"],
        "seed": manifest.settings["seed"],
        **{
            name: manifest.settings.get(name, default)
            for name, default, stage in settings.flatten(uncle.Settings())
            if stage == "collect"
        },
        **{f"{name} in use": said for name, said in _wordings(manifest).items()},
    }


def _open_folder(path: Path, manifest: Manifest) -> RunFolder:
    """Create the run folder, or open it again if it holds a run that asks the same."""
    if not RunFolder.exists(path):
        return RunFolder.create(path)
    folder = RunFolder.open(path)
    old, new = _asked(folder.read_manifest()), _asked(manifest)
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            raise InputError(
                f"{path}: holds a run with {name} {old.get(name)!r}, not {new.get(name)!r}; "
                "choose another --out"
            )
    return folder


def load_run(path: str | Path) -> tuple[FolderRun, Manifest, uncle.Settings]:
    """Open a finished run for measuring: no cache, no model."""
    folder = RunFolder.open(Path(path))
    manifest = folder.read_manifest()
    if manifest.finished is None:
        raise InputError(
            f"{path}: this run is not finished; repeat its command: {manifest.command}"
        )
    if "seed" not in manifest.settings or "signature" not in manifest.prompts:
        raise InputError(f"{path}: its manifest.json is incomplete; run again into another --out")
    stored = {k: v for k, v in manifest.settings.items() if k != "seed"}
    try:
        chosen = settings.replace(uncle.Settings(), stored)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: made by sayso {manifest.sayso}, whose setting {error} this one does not know"
        ) from None
    uncle.check(chosen)
    questions = folder.read("questions", Question)
    job = FolderRun(folder, questions, cache=None, parts=signature_parts(manifest))
    return job, manifest, dataclasses.replace(chosen)
