"""Whose probes decide what is known: the model's own, or those of another run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sayso.engines.engine import Engine
from sayso.protocols.protocol import Run
from sayso.protocols.uncle.settings import Settings
from sayso.records import Generation, InputError, Question, Verdict
from sayso.storage.run_folder import Manifest, RunFolder


def check_probed(
    settings: Settings, model: Engine, manifest: Manifest, questions: Sequence[Question]
) -> tuple[str, ...]:
    """Refuse probes that do not show what is known; return what a reader must know of them.

    These are a trained model's own, whose hedges would pass for gaps in knowledge, and those of
    another run that were not drawn and judged as this run's numbers will say. Raises InputError.
    """
    if settings.known_from != "self":
        return _check_known_from(settings, manifest, questions)
    base_name, base_run = (str(getattr(model, name, "")) for name in ("base_name", "base_run"))
    if not (base_name or base_run):
        return ()
    remedy = f"pass --known-from {shlex.quote(base_run)}"
    if not base_run:
        both = shlex.join(["sayso", "study", "--models", base_name, model.name])
        remedy = (
            f"measure both with `{both} --protocols uncle`, or pass --known-from RUN, a run of "
        )
        remedy += base_name
    raise InputError(
        f"{model.name} was trained from {base_run or base_name}, and a trained model's own probes "
        f"do not show what it knows: {remedy}"
    )


def _check_known_from(
    chosen: Settings, manifest: Manifest, questions: Sequence[Question]
) -> tuple[str, ...]:
    base = RunFolder.open(Path(chosen.known_from))
    other = base.read_manifest()
    if "uncle" not in other.protocols:
        raise InputError(
            f"known_from {chosen.known_from}: a run of {'+'.join(other.protocols) or 'nothing'}, "
            "which has no probes; expected a finished run of `sayso run uncle`"
        )
    k, heat = (other.settings.get(name) for name in ("probe.k", "probe.temperature"))
    if not isinstance(k, int) or k < chosen.probe.k or heat != chosen.probe.temperature:
        raise InputError(
            f"known_from {chosen.known_from}: it has {k} draws at T={heat}, not "
            f"{chosen.probe.k} at T={chosen.probe.temperature:g}; pass --set probe.k={k} "
            f"--set probe.temperature={heat}, or run the base model again"
        )
    stop = other.settings.get("probe.stop", "all")
    if stop != chosen.probe.stop:
        raise InputError(
            f"known_from {chosen.known_from}: its samples were drawn with probe.stop={stop}; pass "
            f"--set probe.stop={stop}, or run the base model again"
        )
    if other.settings.get("probe_wordings"):  # a run of version 0.2
        raise InputError(
            f"known_from {chosen.known_from}: its probes were drawn in several wordings, which is "
            "no longer done; run the base model again"
        )
    if other.judge_signature != manifest.judge_signature:
        raise InputError(
            f"known_from {chosen.known_from}: judged by {other.judge_signature}, not by "
            f"{manifest.judge_signature}; repeat that run with the same judge"
        )
    golds = {q.id: q.golds for q in base.iter("questions", Question)}
    changed = [q for q in questions if q.id in golds and golds[q.id] != q.golds]
    if changed:
        raise InputError(
            f"known_from {chosen.known_from}: it was judged against other golds for "
            f"{len(changed)} of the questions, first {changed[0].text!r}; run it on the same data"
        )
    if other.model_base == manifest.model_base:
        return ()
    return (
        f"What counts as known was decided by the draws of {other.model} (--known-from), whose "
        f"base model ({other.model_base}) is not this model's ({manifest.model_base}): read 'it "
        f"knew' as '{other.model} knew'.",
    )


def take_probes(settings: Settings, run: Run) -> None:
    """Copy the probes of another run, and their verdicts, where the settings name one.

    A dry run may come before that run. Raises InputError where it has none for a question.
    """
    if settings.known_from == "self":
        return
    source = RunFolder(Path(settings.known_from))
    if run.rehearses and not source.has("generations/probe"):
        return
    source = RunFolder.open(source.path)
    wanted = {q.id for q in run.questions}
    probes = source.read("generations/probe", Generation)
    answers = [g for g in probes if g.question in wanted]
    answered = {g.question for g in answers}
    missing = [q for q in run.questions if not q.parts and q.id not in answered]
    if missing:
        raise InputError(
            f"known_from {settings.known_from}: it has no probe answers for {len(missing)} of the "
            f"questions, first {missing[0].text!r}; run it on the same data, limit and seed"
        )
    kept = {g.id for g in answers}
    run.folder.write("generations/probe", answers, Generation)
    if source.has("verdicts/probe"):
        verdicts = source.read("verdicts/probe", Verdict)
        run.folder.write("verdicts/probe", [v for v in verdicts if v.target in kept], Verdict)
