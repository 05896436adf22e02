"""``sayso build``: a new benchmark from a Wikidata dump or a query service."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from sayso.engines import open_model
from sayso.prompts import check_folder
from sayso.records import InputError
from sayso.report.numbers import plain_json
from sayso.wikidata.aspects import FILE, Aspects, check_review
from sayso.wikidata.build import WRONG, Built, Word, found_step, question_step
from sayso.wikidata.dump import read_dump
from sayso.wikidata.entities import checked_day
from sayso.wikidata.found import AS_OF, Found, read_found
from sayso.wikidata.found import FILE as FOUND
from sayso.wikidata.plan import Plan, load_plan
from sayso.wikidata.questions import Worder
from sayso.wikidata.sparql import Service, ask_service
from sayso.wikidata.templates import Templates, load_templates, texts

WIKIDATA = "https://query.wikidata.org/sparql"
OUT = Path("benchmark")


def build(
    source: Annotated[
        Path | None,
        Parameter(
            help="a Wikidata JSON dump (.json, .json.gz, .json.bz2, .json.zst) or a folder of its "
            "parts; or the folder of a build, to make questions of its reviewed aspects"
        ),
    ] = None,
    /,
    *,
    domains: Annotated[
        Path | None,
        Parameter(help="YAML file of domains; left out: UNCLE's five (people, companies, …)"),
    ] = None,
    sparql: Annotated[
        bool, Parameter(help="ask a query service instead of reading a dump", negative="")
    ] = False,
    endpoint: Annotated[str, Parameter(help="the query service's address")] = WIKIDATA,
    contact: Annotated[
        str,
        Parameter(help="how the service's people can reach you (mail or page); or SAYSO_CONTACT"),
    ] = "",
    out: Annotated[Path, Parameter(help="folder of the benchmark")] = OUT,
    languages: Annotated[
        str, Parameter(help="of labels, en,de: questions in the first; left out: as in the file")
    ] = "",
    as_of: Annotated[str, Parameter(help="day that the source describes, 2024-01-31")] = "",
    fresh_after: Annotated[
        str, Parameter(help="put what is true only since after this day into a file of its own")
    ] = "",
    templates: Annotated[
        Path | None, Parameter(help="YAML file that adds to the table of questions")
    ] = None,
    questions: Annotated[
        str, Parameter(help="who words questions: templates, or a model, checked by round trip")
    ] = "templates",
    twins: Annotated[int, Parameter(help="renamed entities of each domain, at most")] = 20,
    workers: Annotated[int, Parameter(help="processes that read a folder of parts")] = 1,
    review: Annotated[
        bool, Parameter(help="stop for a look at the aspects before questions are made")
    ] = True,
    seed: Annotated[int, Parameter(help="of the sample of entities")] = 0,
    prompt_folder: Annotated[
        Path | None, Parameter(help="folder with your own prompt texts, for --questions MODEL")
    ] = None,
    json: Annotated[bool, Parameter(help="print the card as JSON", negative="")] = False,
) -> None:
    """Make a benchmark like UNCLE: entities by class, spread over how much is known about them.

    The first call finds entities and proposes aspects in a file; look through it, then call
    ``sayso build FOLDER``. A command that was stopped goes on where it was.
    """
    if twins < 0 or workers < 1:
        raise InputError("--twins must be at least 0 and --workers at least 1")
    table = load_templates(templates)
    as_of, fresh_after = checked_day(as_of, "--as-of"), checked_day(fresh_after, "--fresh-after")
    built = source is not None and (source / FOUND).is_file()
    if source is not None and built:
        given = {"--domains": domains, "--sparql": sparql, "--languages": languages, "--seed": seed,
                 "--out": out != OUT, "--contact": contact, "--endpoint": endpoint != WIKIDATA,
                 "--workers": workers != 1}  # fmt: skip
        for flag, value in given.items():
            if value:
                raise InputError(f"{source} was built already: {flag} is for a dump or a service")
        out, found = source, read_found(source)
        if templates is None and found.table is not None:
            table = found.table
    else:
        if sparql == (source is not None):
            raise InputError(
                "expected one source: a dump, or --sparql, or the folder of a build that was begun"
            )
        _check_out(out)
        plan = load_plan(domains, tuple(filter(None, languages.replace(",", " ").split())))
        texts(table, plan.languages[0])
        check_review(out, plan)
        with _bar() as tell:
            if source is not None:
                found = _scanned(source, plan, out, table, seed, fresh_after, workers, tell)
            else:
                found = _asked(plan, out, table, endpoint, contact, seed, fresh_after, tell)
    if as_of:
        found = msgspec.structs.replace(found, day=as_of, day_from=AS_OF)
    if fresh_after:
        found = msgspec.structs.replace(found, fresh_after=fresh_after)
    there = (out / FILE).exists()
    if there and questions != "templates":
        _note(f"{out / FILE} stays as it is and {questions} words nothing; delete it for new ones")
    if not (built and there):
        by_model = questions != "templates" and not there
        word = _worder(questions, prompt_folder, found, table) if by_model else None
        aspects = found_step(out, found, table, word)
        _tell_problems(found, out)
        if word is not None:
            _note(f"{questions} worded {word.kept} questions, {word.refused} did not lead back to "
                  "their aspect and are as in the table")  # fmt: skip
            if word.failed:
                _note(f"{questions} gave no answer to {word.failed} requests ({word.failure})")
        if review:
            _summary(found, aspects, out, there, json)
            return
    _show(question_step(out, found, table, twins), found, json)


def _check_out(out: Path) -> None:
    """Refuse a folder with somebody else's files: ours might take the place of one of them."""
    if not out.is_dir() or (out / FOUND).is_file() or (out / "scan").is_dir():
        return
    strange = sorted(entry.name for entry in out.iterdir())
    if strange:
        raise InputError(
            f"{out} is not empty and no folder of a build (it holds {strange[0]!r}): choose "
            "another --out"
        )


def _scanned(
    source: Path,
    plan: Plan,
    out: Path,
    table: Templates,
    seed: int,
    fresh: str,
    workers: int,
    tell: Callable[[str], None],
) -> Found:
    return read_dump(
        source, plan, out, table, seed=seed, fresh=fresh, workers=workers,
        progress=lambda step: tell(
            f"{step.stage}: {step.done} of {step.parts} parts, "
            f"{step.offset / 1e6:,.0f} MB, {step.lines:,} lines"
        ),
    )  # fmt: skip


def _asked(
    plan: Plan,
    out: Path,
    table: Templates,
    endpoint: str,
    contact: str,
    seed: int,
    fresh: str,
    tell: Callable[[str], None],
) -> Found:

    with Service(endpoint, out / "scan" / "replies", contact=contact, tell=_note) as service:
        return ask_service(service, plan, table, seed=seed, fresh=fresh, progress=tell)


def _worder(model: str, prompts: Path | None, found: Found, table: Templates) -> Word:

    check_folder(prompts)
    return Worder(open_model(model), found, table, prompts)


@contextmanager
def _bar() -> Iterator[Callable[[str], None]]:
    """Show one line on standard error where that is a terminal."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task("reading", total=None)
        yield lambda text: progress.update(task, description=_plain(text))


def _tell_problems(found: Found, out: Path) -> None:
    for kind, number in sorted(found.wrong.items()):
        _note(f"left out: {WRONG.get(kind, kind)}: {number:,}")
    if found.problems:
        _note(f"named with file and line in {out / 'problems.jsonl'}: {len(found.problems):,}")
    for text in found.notes:
        _note(text)
    if not found.day:
        _note("the source does not say which day it describes: give --as-of, or values that "
              "change are asked for without a day")  # fmt: skip
    for name, counts in found.population.items():
        if not sum(counts):
            _note(f"{name}: no entity was found ({found.plan.domains[name].members})")


def _summary(found: Found, aspects: Aspects, out: Path, there: bool, json: bool) -> None:
    if json:
        _print_json(
            {"folder": str(out), "aspects": str(out / FILE), "population": found.population}
        )
        return
    for domain, counts in found.population.items():
        sample = sum(map(len, found.entities[domain]))
        kept = len(aspects.kept(domain))
        told = f"{sum(counts):,} entities, {sample:,} drawn to choose from, {kept} aspects kept"
        print(f"{_plain(domain)}: {told}")
    state = "left as it was" if there else "look through it"
    print(f"{out / FILE}: {state}, then: sayso build {out}")


def _show(built: Built, found: Found, json: bool) -> None:
    if json:
        _print_json(built)
        return
    for row in built.card.counts:
        if row.prompts or row.split == "main":
            print(
                f"{_plain(row.domain)} ({row.split}): {row.entities:,} entities, "
                f"{row.prompts:,} prompts, {row.aspects:,} questions"
            )
        there = sum(found.population[row.domain])
        if not row.prompts and row.split == "main" and there:
            settings = found.plan.domains[row.domain]
            _note(f"{row.domain}: none of {there:,} entities has "
                  f"{settings.least} aspects that can be asked ('least')")  # fmt: skip
    if found.fresh_after and "fresh" not in built.files:
        _note(f"nothing that is true only since after {found.fresh_after}")
    if not built.card.reviewed:
        _note(f"nobody has reviewed {Path(built.folder) / FILE} (reviewed: false)")
    main = built.files.get("main") or built.files["fresh"]
    print(f"{built.folder}/card.md; next: sayso run uncle --data {main}")


def _print_json(value: object) -> None:

    print(plain_json(msgspec.json.format(msgspec.json.encode(value)).decode()))


def _note(text: str) -> None:
    print("note:", _plain(text), file=sys.stderr)


def _plain(text: str) -> str:
    """Return one line without anything that a terminal would obey."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
