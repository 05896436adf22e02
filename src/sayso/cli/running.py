"""What ``sayso run``, ``measure``, ``report``, ``compare`` and ``factuality`` do: call, then print.

Their flags stand in :mod:`sayso.cli.run`.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console

from sayso import report as reports
from sayso.cli.flags import CompareFlags, FigureFlags, RunFlags, ShownFlags
from sayso.cli.printing import PILOT, note_figures, print_note, tell, wants_pilot
from sayso.cli.progress import Bars
from sayso.harmless import line
from sayso.later import later
from sayso.options import change
from sayso.protocols import PROTOCOLS, protocol_of
from sayso.protocols.protocol import Protocol, Unsuited
from sayso.records import CorrectedNumber, Estimate, InputError
from sayso.report.differences import compared_sheet
from sayso.report.formats import Wanted, write_files
from sayso.report.number_tables import grid, render_table
from sayso.report.numbers import json_text
from sayso.report.page import index_page, write_index
from sayso.report.sheet import main_numbers, render_runs, render_sheet
from sayso.report.terminal import say
from sayso.runs.compare import compare as compare_runs
from sayso.runs.compare import number_words, sides_of
from sayso.runs.dry_run import Range, RunEstimate, plan_text, price_job, total_of, total_text
from sayso.runs.job import Job, check, one_period
from sayso.runs.measure import load_run
from sayso.runs.measure import measure as measure_run
from sayso.runs.recorded import slug
from sayso.runs.result import Result, lost_answers, sheet_of, shown_examples, shown_run
from sayso.runs.run import execute_job
from sayso.storage.atomic import can_write, place_inside
from sayso.storage.run_folder import FIGURES, RunFolder
from sayso.train.result import is_training, read_training

with later(__name__):  # few runs need them
    from sayso.people import corrected as people
    from sayso.report import corrected
    from sayso.runs import texts as recorded_texts
    from sayso.studies import report as study_report
    from sayso.studies import results as study_results
    from sayso.train import report as training_report


def run_one(common: RunFlags, plan: Protocol, options: Any) -> int:
    """Run one protocol, of answers on record once for each model; return the exit code."""
    jobs = _jobs_of(common, plan, options)
    several = len(jobs) > 1
    if several:
        _check_several(common)
    if common.dry_run or common.pilot:
        plans = {_on_record(job)[0]: _estimate(job, pilot=common.pilot) for job in jobs}
        if common.json:
            print(json_text([*plans.values()] if several else next(iter(plans.values()))))
        else:
            _show_plans(plans)
        if wants_pilot(total_of(plans.values()).dollars, common):
            return run_one(dataclasses.replace(common, pilot=PILOT), plan, options)
        return 0
    done, _ = _run_jobs(
        jobs, ShowOptions(common.json, several, common.verbose, not several, common.files)
    )
    if several:
        _show_runs(done, common.out, json=common.json)
    return _exit_code(done)


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
    """Return the exit code of finished runs: 1, with a line, where most answers of one are lost."""
    again = (
        ": the numbers cover only the answers that came; run the same command to ask for the rest"
    )
    lost = [few for r in done if (few := lost_answers(r.manifest, r.estimates, again))]
    if lost:
        of = f" (likewise in {len(lost):,} of {len(done):,} runs)" if len(done) > 1 else ""
        tell(f"{lost[0]}{of}")
    return 1 if lost else 0


def _run_jobs(jobs: Sequence[Job], shown: ShowOptions) -> tuple[list[Result], list[str]]:
    """Run the jobs of one command; return the results, and why some of them are left out.

    Raises Unsuited where no data suit.
    """
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
            done.append(_run(job, shown))
        except Unsuited as reason:
            left_out.append(reason)
    if not done:
        raise left_out[0]
    for one in left_out:
        print_note(f"left out: {one}")
    return done, [str(one) for one in left_out]


def _check_several(common: RunFlags) -> None:
    """Refuse what is for one run only where the files hold several models. Raises InputError."""
    if common.name:
        raise InputError("--name is for one model, and the files hold several; leave it out")
    if common.out is not None and RunFolder.exists(common.out):
        raise InputError(
            f"{common.out}: contains a run, but every model needs its own folder in --out; choose "
            "another --out"
        )


def _run_all_answers(common: RunFlags) -> int:
    """Run every protocol that the files of answers allow; return the exit code."""
    left_out: list[str] = []
    codes = [0]
    for name, plan in PROTOCOLS.items():
        out = place_inside(common.out, name) if common.out is not None else None
        own, options = dataclasses.replace(common, out=out), plan.Settings()
        try:
            if "texts" in plan.needs and not any(
                t.system.labeled for t in recorded_texts.texts_by_model(own.answers)
            ):
                raise Unsuited(
                    f"{name} needs labeled claims of long texts, and the files have none"
                )
            if not common.json:
                print(f"{name}:")
            codes.append(run_one(own, plan, options))
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


class ShowOptions(NamedTuple):
    """How a finished run is shown, and which files of its figures are written.

    ``quiet``: its numbers are not printed; without ``notices`` nothing at all.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    notices: bool = True
    figures: Wanted = Wanted()


def _show_plans(plans: Mapping[str, RunEstimate], about: str = "") -> None:
    """Print what some jobs would ask, and the sum of several, which is ``about`` them."""
    for name, plan in plans.items():
        if len(plans) > 1:
            print(f"{name}:")
        print(plan_text(plan))
    if len(plans) > 1:
        print(about + total_text(total_of(plans.values())))


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


def _job_of_each(common: RunFlags) -> Iterator[Job]:
    """Yield a job for each protocol, in a folder of its own."""
    for name, plan in PROTOCOLS.items():
        out = place_inside(common.out, name) if common.out is not None else None
        yield dataclasses.replace(common, out=out).job(name, plan.Settings())


#: the page over the runs of all protocols
INDEX = "index.html"


def _check_folder(out: Path | None) -> None:
    """Refuse a run folder as the folder of several runs: theirs would lie inside it."""
    if out is not None and RunFolder.exists(out):
        held = ", ".join(RunFolder.open(out).read_manifest().protocols)
        raise InputError(
            f"{out}: contains a run of {held}, but every protocol needs its own folder in --out; "
            f"choose another --out, or resume that run: sayso run {held}"
        )
    if out is not None and out.is_dir():
        strange = [file.name for file in out.iterdir() if file.is_file() and file.name != INDEX]
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
    written = write_index(place, text)
    if written is None:
        print_note(f"{place} was not written by sayso: it is kept, and no index page is written")
    if not quiet:
        render_runs(runs, manifest, Console(), written)


def _estimate(job: Job, seen: set[bytes] | None = None, pilot: int | None = None) -> RunEstimate:
    """Price a job, after a pilot if there is to be one; what takes long is told."""
    with Bars() as bars:
        return price_job(job, pilot or 0, seen, bars)


def _run(job: Job, shown: ShowOptions) -> Result:
    """Run a job, write its page and its figures, and print its numbers."""
    with Bars() as bars:
        result = execute_job(job, bars)
        bars.doing("writing the page")
        page = reports.write(result.path)
    for notice in result.manifest.notices if shown.notices else ():
        print_note(notice)
    if not shown.quiet:
        show(result, json=shown.json, page=page, verbose=shown.verbose)
    if shown.figures.formats:
        written = reports.write_figures(result.path, shown.figures)
        note_figures(written, result.path / FIGURES)
    return result


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


def run_every(common: RunFlags) -> int:
    """Run every protocol; return the exit code."""
    _check_folder(common.out)
    if common.answers:
        return _run_all_answers(common)
    tell(f"running {', '.join(PROTOCOLS)}")
    pricing = common.dry_run or bool(common.pilot)
    with one_period(list(_job_of_each(common)), asks=not pricing) as jobs:
        if pricing:
            price = _price_every(jobs, common)
            if wants_pilot(price, common):
                _price_every(jobs, dataclasses.replace(common, pilot=PILOT))
            return 0
        quiet = not common.verbose or common.json
        shown = ShowOptions(False, quiet, common.verbose, figures=common.files)
        done, left_out = _run_jobs(jobs, shown)
    _summarise(done, left_out, quiet=common.json)
    if common.json:
        print(json_text({", ".join(r.manifest.protocols): _plain(r) for r in done}))
    return _exit_code(done)


def _price_every(jobs: Sequence[Job], common: RunFlags) -> Range | None:
    """Print what every protocol would ask and return its price.

    What several of them ask is counted once.
    """
    plans: dict[str, RunEstimate] = {}
    seen: set[bytes] = set()
    for job in jobs:
        try:
            plans[job.protocol] = _estimate(job, seen, common.pilot)
        except Unsuited as reason:
            print_note(f"left out: {reason}")
    if common.json:
        print(json_text(plans))
    else:
        shared = "Requests that several protocols share are paid for once and counted for the first"
        _show_plans(plans, f"{shared} of them.\n")
    return total_of(plans.values()).dollars


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
        print("people labeled items of this run, but none of its numbers is corrected by them")
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
