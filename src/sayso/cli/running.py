"""What ``sayso run``, ``measure``, ``report``, ``compare`` and ``factuality`` do: call, then print.

Their flags stand in :mod:`sayso.cli.run`.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from sayso import report as reports
from sayso.cli.flags import CompareFlags, FigureFlags, RunFlags, ShownFlags
from sayso.cli.printing import (
    PILOT,
    exit_code,
    note_figures,
    print_note,
    tell,
    wants_pilot,
)
from sayso.cli.progress import Bars
from sayso.harmless import line
from sayso.later import Later
from sayso.options import change
from sayso.protocols import PROTOCOLS, protocol_of
from sayso.protocols.protocol import Protocol, Unsuited
from sayso.records import CorrectedNumber, Estimate, InputError
from sayso.report.differences import compared_sheet
from sayso.report.formats import write_files
from sayso.report.number_tables import grid, render_table
from sayso.report.numbers import json_text
from sayso.report.page import index_page, write_index
from sayso.report.sheet import main_numbers, render_runs, render_sheet
from sayso.report.terminal import say
from sayso.runs.compare import compare as compare_runs
from sayso.runs.compare import number_words, sides_of
from sayso.runs.dry_run import RunEstimate, plan_text, price_job, total_of, total_text
from sayso.runs.job import Job, check, one_period
from sayso.runs.measure import load_run
from sayso.runs.measure import measure as measure_run
from sayso.runs.recorded import slug
from sayso.runs.result import Result, lost_answers, sheet_of, shown_examples, shown_run
from sayso.runs.run import execute_job
from sayso.storage.atomic import can_write, place_inside
from sayso.storage.run_folder import FIGURES, RunFolder
from sayso.train.result import is_training, read_training

if TYPE_CHECKING:
    from sayso.people import corrected as people
    from sayso.report import corrected
    from sayso.runs import texts as recorded_texts
    from sayso.studies import report as study_report
    from sayso.studies import results as study_results
    from sayso.train import report as training_report
else:  # few runs need them
    people = Later("sayso.people.corrected")
    corrected = Later("sayso.report.corrected")
    recorded_texts = Later("sayso.runs.texts")
    study_report = Later("sayso.studies.report")
    study_results = Later("sayso.studies.results")
    training_report = Later("sayso.train.report")


def run_one(common: RunFlags, plan: Protocol, options: Any) -> int:
    """Run one protocol, of answers on record once for each model; return the exit code."""
    jobs = _jobs_of(common, plan, options)
    several = len(jobs) > 1
    if several:
        _check_out(common.out, "model")
        if common.name:
            raise InputError("--name is for one model, and the files hold several; leave it out")
    if common.dry_run or common.pilot:
        _price({_on_record(job)[0]: job for job in jobs}, common, named=False)
        return 0
    done, _ = _run_jobs(jobs, common, quiet=several, notices=not several)
    if several:
        _show_runs(done, common.out, json=common.json)
    return _exit_code(done)


def run_every(common: RunFlags) -> int:
    """Run every protocol; return the exit code."""
    _check_out(common.out, "protocol")
    _check_free(common.out)
    if common.answers:
        return _run_all_answers(common)
    tell(f"running {', '.join(PROTOCOLS)}")
    own = [flags.job(plan.name, plan.Settings()) for plan, flags in _flags_of_each(common)]
    pricing = common.dry_run or bool(common.pilot)
    with one_period(own, asks=not pricing) as jobs:
        if pricing:
            _price({job.protocol: job for job in jobs}, common)
            return 0
        done, left_out = _run_jobs(jobs, common, quiet=not common.verbose or common.json)
    _summarise(done, left_out, quiet=common.json)
    if common.json:
        print(json_text({", ".join(r.manifest.protocols): _plain(r) for r in done}))
    return _exit_code(done)


def _flags_of_each(common: RunFlags) -> Iterator[tuple[Protocol, RunFlags]]:
    """Yield each protocol with the flags of its run, in a folder of its own."""
    for name, plan in PROTOCOLS.items():
        out = place_inside(common.out, name) if common.out is not None else None
        yield plan, dataclasses.replace(common, out=out)


def _jobs_of(common: RunFlags, plan: Protocol, options: Any) -> list[Job]:
    """Return the jobs of a command: one, or one for each model whose answers are on record."""
    if not common.answers:
        return [common.job(plan.name, options)]
    if "texts" in plan.needs:
        return list(_jobs_of_texts(common, plan, options))
    return common.recorded_jobs(plan.name, options)


def _on_record(job: Job) -> tuple[str, int]:
    """Return whose answers a job has on record, and how many; ("", 0) where a model is asked."""
    if job.texts is not None:
        return job.texts.system.name, len(job.texts.system.texts)
    return (job.recorded.name, len(job.recorded.model.rows)) if job.recorded else ("", 0)


def _exit_code(done: Sequence[Result]) -> int:
    """Return the exit code of finished runs."""
    again = (
        ": the numbers cover only the answers that came; run the same command to ask for the rest"
    )
    return exit_code(
        list(filter(None, (lost_answers(r.manifest, r.estimates, again) for r in done)))
    )


def _run_jobs(
    jobs: Sequence[Job], common: RunFlags, *, quiet: bool, notices: bool = True
) -> tuple[list[Result], list[str]]:
    """Run the jobs of one command; return the results, and why some of them are left out.

    ``quiet``: no numbers of a run are printed; without ``notices`` nothing at all. Raises Unsuited
    where no data suit.
    """
    files = common.files  # a mistake in them is told before anything is asked
    done: list[Result] = []
    left_out: list[Unsuited] = []
    for number, job in enumerate(jobs, 1):
        try:
            whose, answers = _on_record(job)
            if whose:
                check(job)  # a mistake is one line
                place = f"model {number} of {len(jobs)}: " if len(jobs) > 1 else ""
                many = f"{answers:,} answer{'s' * (answers != 1)}"
                print_note(f"{place}{whose}, {many} in the files")
            result, page = _run(job, notices=notices)
            if not quiet:
                show(result, json=common.json, page=page, verbose=common.verbose)
            if files.formats:
                written = reports.write_figures(result.path, files)
                note_figures(written, result.path / FIGURES)
            done.append(result)
        except Unsuited as reason:
            left_out.append(reason)
    _note_left_out(left_out, done)
    return done, [str(one) for one in left_out]


def _check_out(out: Path | None, owner: str) -> None:
    """Refuse a run folder as the folder of several runs: theirs would lie inside it."""
    if out is not None and RunFolder.exists(out):
        held = ", ".join(RunFolder.open(out).read_manifest().protocols)
        raise InputError(
            f"{out}: contains a run of {held}, but every {owner} needs its own folder in --out; "
            f"choose another --out, or resume that run: sayso run {held}"
        )


def _run_all_answers(common: RunFlags) -> int:
    """Run every protocol that the files of answers allow; return the exit code."""
    left_out: list[str] = []
    codes = [0]
    for plan, own in _flags_of_each(common):
        try:
            if "texts" in plan.needs and not any(
                t.system.labeled for t in recorded_texts.texts_by_model(own.answers)
            ):
                raise Unsuited(
                    f"{plan.name} needs labeled claims of long texts, and the files have none"
                )
            if not common.json:
                print(f"{plan.name}:")
            codes.append(run_one(own, plan, plan.Settings()))
        except InputError as reason:  # files of short answers are none of texts
            left_out.append(str(reason))
            print_note(f"left out: {reason}")
    if len(left_out) == len(PROTOCOLS):
        raise InputError(f"no protocol can use these answers: {left_out[-1]}")
    return max(codes)


def _jobs_of_texts(common: RunFlags, plan: Protocol, options: Any) -> Iterator[Job]:
    """Yield a job for each model in files of long texts."""
    if common.data:
        raise InputError("--answers replaces --data: leave --data out")
    if not common.model:
        options = dataclasses.replace(options, modes="none")
    models = recorded_texts.texts_by_model(common.answers, common.columns)
    lacking = [recorded_texts.lacking_claims(own, options) for own in models]
    if lacking and all(lacking):
        raise Unsuited(lacking[0])
    job = dataclasses.replace(common.job(plan.name, options), data="texts", model=common.model)
    for own in models:
        folder = (
            place_inside(common.out, slug(own.system.name))
            if common.out and len(models) > 1
            else common.out
        )
        yield dataclasses.replace(job, out=folder, texts=own)


def _price(jobs: Mapping[str, Job], common: RunFlags, *, named: bool = True) -> None:
    """Print what jobs would ask by name; again after a pilot, if somebody wants one.

    What several of them ask is counted once. In JSON they may have no names, and then one is alone.
    """
    plans: dict[str, RunEstimate] = {}
    left_out: list[Unsuited] = []
    seen: set[bytes] = set()
    for name, job in jobs.items():
        try:
            with Bars() as bars:  # what takes long is told
                plans[name] = price_job(job, common.pilot or 0, seen, bars)
        except Unsuited as reason:
            left_out.append(reason)
    _note_left_out(left_out, plans)
    total = total_of(plans.values())
    if common.json:
        alone = [*plans.values()] if len(jobs) > 1 else plans[next(iter(jobs))]
        print(json_text(plans if named else alone))
    elif len(plans) == 1:
        print(plan_text(*plans.values()))
    else:
        for name, plan in plans.items():
            print(f"{name}:\n{plan_text(plan)}")
        print("Requests that several runs share are paid for once and counted for the first.")
        print(total_text(total))
    if wants_pilot(total.dollars, common):
        _price(jobs, dataclasses.replace(common, pilot=PILOT), named=named)


def _note_left_out(reasons: Sequence[Unsuited], found: Sized) -> None:
    """Note which runs are left out. Raises Unsuited where nothing else is found."""
    if not found:
        raise reasons[0]
    for reason in reasons:
        print_note(f"left out: {reason}")


#: folders of runs that are named
MOST_LISTED = 8


def _show_runs(done: Sequence[Result], out: Path | None, *, json: bool) -> None:
    """Print the main numbers of several models, a row for each."""
    if json:
        print(json_text({r.manifest.shown_model: _plain(r) for r in done}))
        return
    shared = [n for n in done[0].manifest.notices if all(n in r.manifest.notices for r in done)]
    for notice in shared:
        print_note(notice)
    print_note("cautions about one model alone are on the page of its run")
    found = {
        result.manifest.shown_model: {
            f"{tile.label}, {of}" if of else tile.label: e
            for tile in sheet_of(result).tiles
            for of, e in tile.values
        }
        for result in done
    }
    heads = {head: head for values in found.values() for head in values}
    table = grid("The main numbers", found, heads, dict.get, labels=("model",))
    render_table(table, Console(), compact=True)
    folders = [out] if out is not None else [result.path for result in done]
    listed = shlex.join(str(folder) for folder in folders[:MOST_LISTED])
    more = " …" * (len(folders) > MOST_LISTED)
    told = f"{len(done)} runs; on one page, with ranks: sayso study {line(listed, 1_000)}{more}"
    say(Console(), told, "", copied=True)


#: the page over the runs of all protocols
INDEX = "index.html"


def _check_free(out: Path | None) -> None:
    """Refuse a folder with files of somebody else, where runs and a page over them are to be."""
    strange = [
        file.name
        for file in (out.iterdir() if out is not None and out.is_dir() else ())
        if file.is_file() and file.name != INDEX
    ]
    if strange:
        raise InputError(
            f"{out} is not empty and is not a folder of runs (it contains {min(strange)!r}): "
            "choose "
            "another --out"
        )


def _summarise(done: Sequence[Result], left_out: Sequence[str], *, quiet: bool) -> None:
    """Write the page that links the reports, and print the main numbers of all unless ``quiet``."""
    runs = [shown_run(result) for result in done]
    place = place_inside(done[0].path.parent, INDEX)
    manifest = done[0].manifest
    text = index_page(runs, manifest, left_out, place, shown_examples(done[0]))
    written = None
    try:
        written = write_index(place, text)
    except InputError as error:
        print_note(f"no index page is written: {error}")
    if not quiet:
        render_runs(runs, manifest, Console(), written)


def _run(job: Job, *, notices: bool) -> tuple[Result, Path]:
    """Run a job and write its page; return both."""
    with Bars() as bars:
        result = execute_job(job, bars)
        bars.doing("writing the page")
        page = reports.write(result.path)
    for notice in result.manifest.notices if notices else ():
        print_note(notice)
    return result, page


def _compare_many(runs: Sequence[Path], flags: CompareFlags) -> None:
    """Print a study of some runs."""
    options = {"resamples": flags.resamples, "seed": flags.seed, "allow": flags.allow}
    found = study_results.of_folders(runs, **options)
    if flags.json:
        print(json_text(found.table()))
    else:
        study_report.render_study(found, Console())


def _plain(result: Result) -> list[dict[str, Any]]:
    """Return the numbers of a run as plain values."""
    return [msgspec.structs.asdict(e) for e in result.estimates]


def show(result: Result, *, json: bool, page: Path | None, verbose: bool = False) -> None:
    """Print a finished run as a table, or every number of it as JSON."""
    if json:
        print(json_text(_plain(result)))
    else:
        reports.render_run(
            result.estimates,
            Console(),
            result.manifest,
            page,
            verbose=verbose,
            run=RunFolder.open(result.path),
        )


def measure(run: Path, flags: ShownFlags, settings: Mapping[str, Any]) -> None:
    """Recompute a run's numbers with some settings as they were typed, and print them."""
    *_, stored = load_run(run)
    result = measure_run(run, change(stored, settings, typed=True))
    numbers = people.correct(run) if result.saved else []
    if flags.json:
        print(json_text(list(_with_corrected(result.estimates, numbers))))
        return
    show(result, json=False, page=None, verbose=flags.verbose)
    plan = protocol_of(result.manifest)
    main = main_numbers(sheet_of(result), result.estimates)
    places = () if flags.verbose else {(e.name, e.where) for e in main}
    corrected.render_corrected(numbers, number_words(plan), Console(), places)
    if result.saved and not numbers and people.has_labels(run):
        print("people labeled or skipped items of this run, but their labels correct no number")
    if result.saved and not can_write(run):
        print_note(f"{run} cannot be written: these numbers are not stored in it")
    if not result.saved:
        print("measured with other settings: printed only; the run's own numbers are unchanged")


def _with_corrected(
    estimates: Sequence[Estimate], numbers: Sequence[CorrectedNumber]
) -> Iterator[dict[str, Any]]:
    """Yield numbers as plain values, with what labels of people make of them."""
    labeled = {(n.raw.name, n.raw.where): n for n in numbers}
    for e in estimates:
        row = msgspec.structs.asdict(e)
        one = labeled.get((e.name, e.where))
        if one is not None:
            row |= {
                "corrected": msgspec.structs.asdict(one.corrected),
                "labels_alone": msgspec.structs.asdict(one.alone),
                "labels": one.labels,
                "gain": one.gain,
            }
        yield row


def write_report(run: Path, flags: FigureFlags) -> None:
    """Write the page of a run or a training again, and files of its charts."""
    files = flags.files
    if is_training(run):
        print(training_report.write_training_page(run))
        if files.formats:
            drawn = training_report.training_figures(run)
            note_figures(write_files(drawn, run / FIGURES, files), run / FIGURES)
        if text := training_report.unfinished(read_training(run)):
            print(f"sayso: {text}", file=sys.stderr)
        return
    people.correct(run)
    print(reports.write(run))
    if files.formats:
        note_figures(reports.write_figures(run, files), run / FIGURES)


def compare(a: Path, b: Path, more: Sequence[Path], flags: CompareFlags) -> None:
    """Print what changes from one run to another, or a study of more."""
    if more:
        _compare_many((a, b, *more), flags)
        return
    result = compare_runs(a, b, allow=flags.allow, resamples=flags.resamples, seed=flags.seed)
    if flags.json:
        print(json_text([msgspec.structs.asdict(e) for e in result.estimates]))
    else:
        plan = PROTOCOLS[result.protocol]
        before, after = (people.current_corrected(one) for one in (a, b))
        words = number_words(plan)
        labeled = corrected.corrected_differences(before, after, words)
        shown = compared_sheet(result.estimates, sides_of(a, b), words, result.notes, [labeled])
        render_sheet(shown, Console(), verbose=True)
