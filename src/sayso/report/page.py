"""A sheet as a page: one self-contained file, with further pages of answers where there are many.

Everything that a model, a file or a person wrote is data here: it is escaped by the templates, and
a content security policy lets only our own style sheet and script through.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from sayso.harmless import line, well_formed
from sayso.records import Generation, Question, Verdict
from sayso.report import terminal
from sayso.report.answers import (
    LABELS,
    NOT_IN_PASSAGE,
    STANCES,
    QuestionCard,
    Tables,
    paginate,
    split_cards,
)
from sayso.report.number_tables import notes_of, page_rows
from sayso.report.opening import NO_EXAMPLES, ChosenExamples
from sayso.report.sheet import Sheet, ShownRun, StoredAnswers
from sayso.storage.atomic import replacing
from sayso.storage.outputs import check_output
from sayso.storage.run_folder import Manifest, RunFolder

#: stands in every page of ours
GENERATOR = '<meta name="generator" content="sayso">'
#: of a page without answers
NO_ANSWERS: Mapping[str, object] = {"reader": (), "files": ()}
Row = TypeVar("Row", Generation, Verdict)


def title(manifest: Manifest) -> str:
    """Return the short name of the model: the user's, else as in signatures."""
    return line(manifest.shown_model or "a model", 100)


def facts(manifest: Manifest) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (group, rows of name and value) of a manifest; what is empty is left out."""
    groups: list[tuple[str, list[tuple[str, object]]]] = [
        (
            "Model, data, judge",
            [
                ("model", manifest.model),
                ("identity", manifest.model_identity),
                ("base", manifest.model_base),
                ("data", manifest.data),
                ("data hash", manifest.data_hash),
                ("questions", f"{manifest.n_questions:,}"),
                ("judge", manifest.judge_signature or manifest.judge),
            ],
        ),
        (
            "Run",
            [
                ("sayso", manifest.sayso),
                ("started", manifest.created),
                ("finished", manifest.finished or "not finished"),
                ("price of the answers", _dollars(manifest.dollars)),
                ("price of the verdicts", _dollars(manifest.judge_dollars)),
            ],
        ),
        ("Settings", [*sorted(manifest.settings.items())]),
        ("Prompts", [*sorted(manifest.prompts.items())]),
        ("Machine", [*sorted(manifest.machine.items())]),
        ("Versions", [*sorted(manifest.versions.items())]),
        (
            "Seconds",
            [(n.removesuffix("_s"), f"{v:.1f}") for n, v in sorted(manifest.timings.items())],
        ),
        ("Requests and tokens", [(n, f"{v:,}") for n, v in sorted(manifest.tokens.items())]),
    ]
    tables = []
    for group, rows in groups:
        shown = [(line(n.replace("_", " "), 80), _value(v)) for n, v in rows if v not in (None, "")]
        if shown:
            tables.append((group, shown))
    return tables


def _dollars(amount: float | None) -> str | None:
    """Return a price; one that is unknown or 0 is left out, and a notice says which it is."""
    return f"${amount:.4f}" if amount else None


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return line(str(value), 1_000)


def answer_tables(folder: RunFolder, probes: str, k: object) -> Tables:
    """Return the answers and verdicts that a reader of the page may look through.

    ``probes`` is the stage of the ``k`` draws that decide what is known, 5 if it is no number.
    """
    return Tables(
        k=k if isinstance(k, int) else 5,
        questions=folder.read("questions", Question),
        probe=_rows(folder, f"generations/{probes}", Generation),
        short=_rows(folder, "generations/short", Generation),
        long=_rows(folder, "generations/long", Generation),
        verdicts=[
            v
            for form in (probes, "short", "long")
            for v in _rows(folder, f"verdicts/{form}", Verdict)
        ],
    )


def run_pages(sheet: Sheet, stored: StoredAnswers, manifest: Manifest) -> dict[str, str]:
    """Return the files of a run's page: ``report.html``, and the ``answers/*`` that it links."""
    written: dict[str, Markup] = {}

    def size(card: QuestionCard) -> int:
        if card.id not in written:
            written[card.id] = Markup(environment().get_template("card.html.j2").render(card=card))
        return len(written[card.id].encode("utf-8", "replace"))

    def cards_of(shown: Sequence[QuestionCard]) -> dict[str, object]:
        read = [reading for card in shown for reading in card.readings]
        passage = any(reading.stance == NOT_IN_PASSAGE for reading in read)
        stances = STANCES | ({"not_in_passage": NOT_IN_PASSAGE} if passage else {})
        rendered = [written[card.id] for card in shown]
        kinds = {reading.kind for reading in read}
        return {"reader": shown, "rendered": rendered, "kinds": kinds, "stances": stances}

    inline, rest = split_cards(stored.cards, size, page_seed(manifest))
    parts = paginate(rest, size)
    names = [f"answers-{number:03}.html" for number in range(1, len(parts) + 1)]
    shared = {
        "title": title(manifest),
        "labels": LABELS,
        "total": len(stored.cards),
        "total_answers": sum(c.answers for c in stored.cards),
        "files": list(zip(names, parts, strict=True)),
    }
    out = {
        f"answers/{name}": page("answers.html.j2", {**shared, **cards_of(part), "name": name})
        for name, part in zip(names, parts, strict=True)
    }
    out["report.html"] = sheet_page(
        sheet._replace(sections=[*sheet.sections, *stored.sections]),
        manifest,
        facts(manifest),
        examples=stored.examples,
        answers={**shared, **cards_of(inline)},
    )
    return out


def sheet_page(
    sheet: Sheet,
    manifest: Manifest | None = None,
    made: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (),
    *,
    about: Sequence[tuple[str, str]] = (),
    notices: Sequence[str] = (),
    command: str = "",
    wide: bool = False,
    examples: ChosenExamples = NO_EXAMPLES,
    answers: Mapping[str, object] = NO_ANSWERS,
) -> str:
    """Return a page of a sheet; ``made`` are groups of facts on how its numbers were made.

    ``about`` says whose numbers these are: model, data, or file. ``wide``: tables may be wider than
    the text. ``answers`` are the cards of answers, if any.
    """
    told = [*notices]
    if manifest is not None:
        names = {
            "model": title(manifest),
            "data": terminal.data_asked(manifest),
            "judge": manifest.judge_signature,
        }
        about = [(what, line(name, 100)) for what, name in names.items() if name]
        told += manifest.notices[:50]
        command = manifest.command
    shown: dict[str, object] = {
        "title": about[0][1] if about else "",
        "examples": examples,
        "sheet": sheet,
        "sections": sheet.parts,
        "about": about,
        "judged": terminal.judge_sentences(manifest),
        "command": line(command, 2_000),
        "notices": [line(text, 500) for text in told],
        "facts": made,
        "wide": wide,
    }
    return page("sheet.html.j2", {**shown, **answers})


def _rows(folder: RunFolder, table: str, kind: type[Row]) -> list[Row]:
    return folder.read(table, kind) if folder.has(table) else []


def page_seed(manifest: Manifest) -> int:
    """Return the seed of a run, by which answers are chosen for the page."""
    seed = manifest.settings.get("seed", 0)
    return seed if isinstance(seed, int) else 0


def page(
    template: str, shared: Mapping[str, object], own: tuple[str, str] = ("", ""), **context: object
) -> str:
    """Return a page from a template.

    ``own`` are a style sheet and a script of its own, behind those that all pages have.
    """
    style, script = _static("report.css") + own[0], _static("report.js") + own[1]
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = (
        environment()
        .get_template(template)
        .render(shared, style=Markup(style), script=Markup(script), policy=policy, **context)
    )
    return well_formed(text)


def index_page(
    runs: Sequence[ShownRun],
    manifest: Manifest,
    left_out: Sequence[str],
    place: Path,
    examples: ChosenExamples,
) -> str:
    """Return a page at ``place`` that links the reports of several runs of one model.

    It begins as the page of the first run does, with ``examples`` of its answers.
    """
    parts = {"data": manifest.data, "judge": manifest.judge_signature, "made": manifest.created}
    links = [quote(os.path.relpath(run.page, place.parent).replace(os.sep, "/")) for run in runs]
    context = {
        "title": title(manifest),
        "examples": examples,
        "about": " · ".join(f"{what} {line(text, 80)}" for what, text in parts.items() if text),
        "runs": list(zip(runs, links, strict=True)),
        "left_out": [line(text, 500) for text in left_out],
    }
    return page("index.html.j2", context)


def write_index(
    place: Path, text: str, *, mark: str = GENERATOR, name: str = "", force: bool | None = None
) -> Path:
    """Write a page, return its path. Raises InputError as :func:`check_output` does."""
    check_output(place, mark=mark, command="sayso", force=force, name=name)
    with replacing(place) as file:
        file.write(text.encode("utf-8", "replace"))
    return place


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _static(name: str) -> str:
    return resources.files(__package__).joinpath("static", name).read_text(encoding="utf-8")


def _tight(text: str) -> str:
    """Keep numbers together with their units and signs at the end of a line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace(
        "J = ", "J\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )


def _breakable(text: str) -> Markup:
    """Return a name, escaped, that may be broken before "@" and "+" and after ":" and "/"."""
    return Markup(re.sub(r"(?<=\S)(?=[@+])|(?<=[:/])(?=\S)", "<wbr>", str(escape(text))))


@cache
def environment(package: str | None = None) -> jinja2.Environment:
    """Return the templates of a package, and those that all share."""
    shared = jinja2.PackageLoader("sayso.report")
    own = [jinja2.PackageLoader(package, ".")] if package else []
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([*own, shared]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["labels"] = LABELS
    environment.filters["tight"] = _tight
    environment.filters["breakable"] = _breakable
    environment.filters["page_rows"] = page_rows
    environment.filters["notes_of"] = notes_of
    return environment
