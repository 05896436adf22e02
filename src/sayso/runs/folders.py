"""Which folder a run has, and whether a folder that is there holds this run or another one."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sayso.engines.engine import Engine
from sayso.protocols import PROTOCOLS, settings
from sayso.protocols.protocol import setting_text
from sayso.records import InputError, Question, content_id
from sayso.report.numbers import line
from sayso.runs.asking import REQUEST_SETTINGS, thinking_settings
from sayso.runs.job import LONGEST_NAME, Job
from sayso.runs.recorded import RecordedEngine
from sayso.runs.stages import now, prompt_parts
from sayso.storage.atomic import disk_errors, one_writer
from sayso.storage.run_folder import FORMAT, Manifest, RunFolder, versions
from sayso.version import __version__


def planned(job: Job) -> Manifest:
    """Return what is known of a run before anything is opened for it."""
    chosen = job.settings
    return Manifest(
        format=FORMAT,
        sayso=__version__,
        created=now(),
        finished=None,
        command=job.command or f"sayso run {job.protocol}",
        protocols=(job.protocol,),
        settings={
            **settings.as_dict(chosen),
            "seed": job.seed,
            **thinking_settings(job.thinking, job.chat_template_kwargs),
        },
        chosen={
            "limit": job.limit,
            "split": job.split,
            "domain": ",".join(job.domains),
            **({"tier": ",".join(job.tiers)} if job.tiers else {}),
            "seed": job.seed,
        },
        prompts=job.plan.prompts(chosen),
        model_title=job.name or _title(job.model),
        versions=versions(),
    )


def folder_name(manifest: Manifest) -> str:
    """Derive the folder's name from everything that decides what is asked.

    Settings that are off ask nothing and change no name.
    """
    (name,) = manifest.protocols
    plan = PROTOCOLS[name]
    off = {k: v for k, v in settings.as_dict(plan.Settings()).items() if k in plan.off_by_default}
    parts = {k: v for k, v in what_is_asked(manifest).items() if k not in off or v != off[k]}
    key = content_id([parts, manifest.judge_signature])[:8]
    model = "".join(c if c.isalnum() or c in "-_." else "-" for c in manifest.model_signature)
    return f"{name}-{model.strip('-.')[-40:]}-{key}"


def what_is_asked(manifest: Manifest) -> dict[str, object]:
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
            for name, default, stage in settings.flatten(_defaults(manifest))
            if stage == "collect"
        },
        **{f"{name} in use": text for name, text in prompt_parts(manifest).items()},
        **{name: manifest.settings[name] for name in REQUEST_SETTINGS if name in manifest.settings},
    }


def _title(model: str | Engine) -> str:
    """Return what pages call a model on record: its name in the file."""
    return line(model.name, LONGEST_NAME).strip() if isinstance(model, RecordedEngine) else ""


def _defaults(manifest: Manifest) -> object:
    """Return the default settings of a run's protocol (of any, where it is unknown)."""
    known = [PROTOCOLS[name] for name in manifest.protocols if name in PROTOCOLS]
    return (known or list(PROTOCOLS.values()))[0].Settings()


def open_folder(path: Path, manifest: Manifest, questions: Sequence[Question] = ()) -> RunFolder:
    """Create the run folder, or open it again if it holds a run that asks the same."""
    if not RunFolder.exists(path):
        return RunFolder.create(path)
    folder = RunFolder.open(path)
    before = folder.read_manifest()
    refuse_other_data(path, before, manifest, questions)
    refuse_other(path, before, what_is_asked(before), what_is_asked(manifest))
    return folder


def refuse_other_data(
    path: Path, before: Manifest, manifest: Manifest, questions: Sequence[Question]
) -> None:
    """Refuse a folder whose run asks other questions. Raises InputError."""
    data = [f"{m.data}-{m.data_hash}" for m in (before, manifest)]
    asked = _content(_asked_in(path))
    if before.data != manifest.data and asked and asked == _content(questions):
        names = [line(m.data, 100) for m in (before, manifest)]
        raise InputError(
            f"{_contains(path, before)}: its data have the same content under another name "
            f"({names[0]}, not {names[1]}); use the old name, or choose another --out"
        )
    chosen = [
        f"--{name} {setting_text(before.chosen[name])}, not {setting_text(value)}"
        for name, value in manifest.chosen.items()
        if name in before.chosen and before.chosen[name] != value
    ]
    if chosen and data[0] != data[1]:
        raise InputError(
            f"{_contains(path, before)} with {'; '.join(chosen)}; repeat its command, or choose "
            "another --out"
        )
    refuse_other(path, before, {"data": data[0]}, {"data": data[1]})


def _asked_in(path: Path) -> Sequence[Question]:
    """Return the questions of a run folder; none where it was stopped before they were written."""
    try:
        return list(RunFolder.open(path).read("questions", Question))
    except InputError:
        return ()


def _content(questions: Sequence[Question]) -> list[bytes]:
    """Return what is asked and true, without the name of its data set."""
    rows = (
        (q.text, q.context, q.entity, [g.names for g in q.golds or ()], q.answerable)
        for q in questions
    )
    return sorted(map(msgspec.json.encode, rows))


def _contains(path: Path, before: Manifest) -> str:
    """Return "FOLDER: contains a run of uncle (model builtin, data world)"."""
    told = ", ".join(before.protocols), f"model {before.model}", f"data {before.data}"
    protocol, model, data = (line(text, 100) for text in told)
    return f"{path}: contains a run of {protocol} ({model}, {data})"


def refuse_other(
    path: Path, before: Manifest, old: Mapping[str, object], new: Mapping[str, object]
) -> None:
    """Refuse a folder whose run asks something else. Raises InputError."""
    for name in dict.fromkeys((*FIRST_TOLD, *new, *old)):
        if old.get(name) != new.get(name):
            kept, wanted = (line(_in_words(of.get(name)), 200) for of in (old, new))
            told = f" with {name.replace('_', ' ')} {kept}, not {wanted}"
            if name == "protocols":
                told = f", not of {wanted}"
            raise InputError(f"{_contains(path, before)}{told}; choose another --out")


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else setting_text(value)


#: what people know a run by
FIRST_TOLD = ("protocols", "model", "data")
#: what only an open model, judge and data set can tell
OPENED = ("data", "model", "judge", "paragraphs in use")


def check_out(job: Job) -> None:
    """Refuse an ``out`` that cannot hold this run, as far as can be seen before anything is opened.

    Leaves no folder behind. Raises InputError.
    """
    if job.out is None:
        return
    path = Path(job.out)
    with one_writer(path, job.command or "sayso.run"):
        folder = RunFolder.create(path)
        with disk_errors(path), tempfile.TemporaryFile(dir=path):
            pass
        if RunFolder.exists(path):
            before = folder.read_manifest()
            old, new = what_is_asked(before), what_is_asked(planned(job))
            for name in OPENED:
                old.pop(name, None), new.pop(name, None)
            refuse_other(path, before, old, new)


def path_of(job: Job, manifest: Manifest) -> Path:
    return Path(job.out) if job.out else Path("runs") / folder_name(manifest)


def discard(folder: RunFolder) -> None:
    """Remove manifest and questions of a run in which nothing was answered, and its folder."""
    for name in ("manifest.json", "questions.parquet"):
        (folder.path / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other files are in it: it stays
        folder.path.rmdir()
