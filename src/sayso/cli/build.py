"""``sayso build``: a new benchmark from a Wikidata dump or a query service."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from sayso.cli.commands import with_options
from sayso.cli.printing import print_json, print_note, safe_one_line
from sayso.cli.progress import Bars
from sayso.engines import open_model
from sayso.options import flag
from sayso.prompts import check_folder
from sayso.records import InputError
from sayso.storage.atomic import refuse_links
from sayso.wikidata.aspects import FILE, AspectReview, check_review, deleted, read_review
from sayso.wikidata.build import WRONG, Built, aspects_step, question_step
from sayso.wikidata.dump import DumpReading, read_dump
from sayso.wikidata.entities import checked_day
from sayso.wikidata.excerpt import AS_OF, Excerpt, read_excerpt
from sayso.wikidata.excerpt import FILE as EXCERPT
from sayso.wikidata.plan import load_plan
from sayso.wikidata.questions import Worder
from sayso.wikidata.sparql import Service, read_service
from sayso.wikidata.templates import Templates, load_templates, texts

WIKIDATA = "https://query.wikidata.org/sparql"
OUT = Path("benchmark")


@dataclasses.dataclass(frozen=True, kw_only=True)
class BuildFlags:
    """The flags of ``sayso build``."""

    domains: Path | None = flag(
        None,
        "YAML file that describes the domains; default: UNCLE's five (people, companies, …)",
    )
    sparql: bool = flag(False, "query a service instead of reading a dump")
    endpoint: str = flag(WIKIDATA, "address of the query service")
    contact: str = flag(
        "",
        "your email or web page, so that the service's operators can contact you; default: "
        "SAYSO_CONTACT",
    )
    out: Path = flag(OUT, "output folder")
    languages: str = flag(
        "",
        "languages of labels, such as en,de; questions use the first; default: those in the file "
        "of domains",
    )
    as_of: str = flag("", "date of the source, such as 2024-01-31")
    fresh_after: str = flag("", "write facts that became true after this day to a separate file")
    templates: Path | None = flag(None, "YAML file with additional question templates")
    questions: str = flag(
        "templates",
        "what writes the questions: templates, or a model (checked by round trip)",
    )
    twins: int = flag(20, "largest number of entities with invented names per domain")
    prompts: int = flag(
        1,
        "number of prompts per entity, each about different aspects. Each names at least 'least' "
        "aspects, so an entity with few aspects gets fewer prompts",
    )
    workers: int = flag(1, "number of processes for a folder of parts")
    review: bool = flag(True, "stop so that you can review the aspects before questions are made")
    seed: int = flag(0, "seed for sampling entities")
    prompt_folder: Path | None = flag(None, "folder with your own prompts for --questions MODEL")
    json: bool = flag(False, "print the data set's card as JSON")


@with_options
def build(
    source: Annotated[
        Path | None,
        Parameter(
            help="a Wikidata JSON dump (.json, .json.gz, .json.bz2, .json.zst) or a folder of its "
            "parts; or a build's folder, to make questions from its reviewed aspects"
        ),
    ] = None,
    /,
    *,
    flags: BuildFlags,
) -> None:
    """Make a benchmark like UNCLE: entities by class, spread over how much is known about them.

    The first call finds entities and proposes aspects in a file; review it, then call
    ``sayso build FOLDER``. A command that was stopped goes on where it was.
    """
    if flags.twins < 0 or flags.workers < 1 or flags.prompts < 1:
        raise InputError("--twins must be at least 0, --workers and --prompts at least 1")
    table = load_templates(flags.templates)
    as_of = checked_day(flags.as_of, "--as-of")
    fresh_after = checked_day(flags.fresh_after, "--fresh-after")
    out = flags.out
    again = source is not None and (source / EXCERPT).is_file()
    if source is not None and again:
        _check_again(source, flags)
        refuse_links(source)
        out, excerpt = source, read_excerpt(source)
        if flags.templates is None and excerpt.table is not None:
            table = excerpt.table
    else:
        excerpt = _excerpt(source, flags, table, fresh_after)
    if as_of:
        excerpt = msgspec.structs.replace(excerpt, day=as_of, day_from=AS_OF)
    if fresh_after:
        excerpt = msgspec.structs.replace(excerpt, fresh_after=fresh_after)
    reviewed = (out / FILE).exists()
    if reviewed and flags.questions != "templates":
        print_note(
            f"{out / FILE} exists, so its questions are kept and {flags.questions} writes none; "
            "delete the file for new ones"
        )
    if not (again and reviewed):
        aspects = _aspects(excerpt, out, table, flags, by_model=not reviewed)
        if flags.review:
            _show_aspects(excerpt, aspects, out, reviewed, flags.json)
            return
    made = question_step(out, excerpt, table, flags.twins, flags.prompts)
    _show_build(made, excerpt, flags.json)


def _check_again(source: Path, flags: BuildFlags) -> None:
    """Refuse flags that are for a dump or a service where a build goes on."""
    for name in ("domains", "sparql", "languages", "seed", "out", "contact", "endpoint", "workers"):
        if getattr(flags, name) != getattr(BuildFlags(), name):
            raise InputError(
                f"{source} was built already: --{name} applies only to a dump or a service"
            )


def _excerpt(source: Path | None, flags: BuildFlags, table: Templates, fresh_after: str) -> Excerpt:
    """Read the dump, or ask the service."""
    if flags.sparql == (source is not None):
        raise InputError(
            "expected one source: a dump, or --sparql, or the folder of an unfinished build"
        )
    out = flags.out
    _check_out(out)
    plan = load_plan(flags.domains, tuple(filter(None, flags.languages.replace(",", " ").split())))
    texts(table, plan.languages[0])
    check_review(out, plan)
    with Bars() as bars:
        if source is not None:
            reading = DumpReading(
                flags.workers,
                progress=lambda step: bars.doing(
                    f"{step.stage}: {step.done} of {step.parts} parts, "
                    f"{step.offset / 1e6:,.0f} MB, {step.lines:,} lines"
                ),
            )
            return read_dump(
                source, plan, out, table, seed=flags.seed, fresh=fresh_after, reading=reading
            )
        replies = out / "scan" / "replies"
        with Service(flags.endpoint, replies, contact=flags.contact, tell=print_note) as service:
            return read_service(
                service, plan, table, seed=flags.seed, fresh=fresh_after, progress=bars.doing
            )


def _check_out(out: Path) -> None:
    """Refuse a folder with somebody else's files: ours might take the place of one of them."""
    if not out.is_dir():
        return
    if (out / EXCERPT).is_file() or (out / "scan").is_dir():
        refuse_links(out)
        return
    strange = sorted(entry.name for entry in out.iterdir())
    if strange:
        raise InputError(
            f"{out} is not empty and is not the folder of a build (it contains {strange[0]!r}): "
            "choose "
            "another --out"
        )


def _aspects(
    excerpt: Excerpt, out: Path, table: Templates, flags: BuildFlags, *, by_model: bool
) -> AspectReview:
    """Propose aspects, worded by a model where one is named, and print what was left out."""
    model, worder = flags.questions, None
    if by_model and model != "templates":
        check_folder(flags.prompt_folder)
        worder = Worder(open_model(model), excerpt, table, flags.prompt_folder)
    aspects = aspects_step(out, excerpt, table, worder)
    _note_problems(excerpt, out)
    if worder is not None:
        print_note(f"{model} worded {worder.kept} questions, {worder.refused} did not lead back to "
             "their aspect and are as in the table")  # fmt: skip
        if worder.failed:
            print_note(f"{model} gave no answer to {worder.failed} requests ({worder.failure})")
    return aspects


def _note_problems(excerpt: Excerpt, out: Path) -> None:
    for kind, number in sorted(excerpt.wrong.items()):
        print_note(f"left out: {WRONG.get(kind, kind)}: {number:,}")
    if excerpt.problems:
        print_note(
            f"problems listed with file and line in {out / 'problems.jsonl'}: "
            f"{len(excerpt.problems):,}"
        )
    for text in excerpt.notes:
        print_note(text)
    if not excerpt.day:
        print_note(
            "the source has no date: without --as-of, questions about values that change name no "
            "date"
        )
    for name, counts in excerpt.population.items():
        if not sum(counts):
            print_note(f"{name}: no entity was found ({excerpt.plan.domains[name].members})")


def _show_aspects(
    excerpt: Excerpt, aspects: AspectReview, out: Path, reviewed: bool, json: bool
) -> None:
    if json:
        print_json(
            {"folder": str(out), "aspects": str(out / FILE), "population": excerpt.population}
        )
        return
    for domain, counts in excerpt.population.items():
        sample = sum(map(len, excerpt.entities[domain]))
        kept = len(aspects.kept(domain))
        counts_text = (
            f"{sum(counts):,} entities, {sample:,} drawn as candidates, {kept} aspects kept"
        )
        print(f"{safe_one_line(domain)}: {counts_text}")
    state = "kept as it was" if reviewed else "review it"
    print(f"{out / FILE}: {state}, then: sayso build {out}")


def _show_build(built: Built, excerpt: Excerpt, json: bool) -> None:
    if json:
        print_json(built)
        return
    for row in built.card.counts:
        if row.prompts or row.split == "main":
            print(
                f"{safe_one_line(row.domain)} ({row.split}): {row.entities:,} entities, "
                f"{row.prompts:,} prompts, {row.aspects:,} questions"
            )
        there = sum(excerpt.population[row.domain])
        if not row.prompts and row.split == "main" and there:
            settings = excerpt.plan.domains[row.domain]
            print_note(f"{row.domain}: none of {there:,} entities has "
                  f"{settings.least} aspects that can be asked ('least')")  # fmt: skip
    if excerpt.fresh_after and "fresh" not in built.files:
        print_note(f"no fact that became true after {excerpt.fresh_after}")
    for domain, properties in deleted(excerpt, read_review(Path(built.folder), excerpt)).items():
        named = ", ".join(properties[:5]) + ", …" * (len(properties) > 5)
        print_note(
            f"{domain}: {len(properties):,} proposed properties are no longer in "
            f"{Path(built.folder) / FILE} and are not asked about ({named})"
        )
    if not built.card.reviewed:
        print_note(f"nobody has reviewed {Path(built.folder) / FILE} (reviewed: false)")
    main = built.files.get("main") or built.files["fresh"]
    print(f"{built.folder}/card.md; next: sayso run uncle --data {main}")
