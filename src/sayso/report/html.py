"""The page of a run: one self-contained file, and pages of answers beside it where there are many.

Everything that a model, a file or a person wrote is data here: it is escaped by the templates, and
a content security policy lets only our own style sheet and script through.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

import jinja2
from markupsafe import Markup

from sayso.records import Estimate, Generation, InputError, Question, Verdict
from sayso.report import cautions, judged, tabulate, words
from sayso.report.answers import Card, Tables, cards
from sayso.report.beside import board as beside_instruction
from sayso.report.clean import line, well_formed
from sayso.report.facts import facts, signatures, title
from sayso.report.faithfulness_models import Side
from sayso.report.faithfulness_models import read as read_beside
from sayso.report.faithfulness_worst import Worst, worst
from sayso.report.figures import figures
from sayso.report.highlight import LABELS, STANCES
from sayso.report.numbers import DASH, Numbers, show
from sayso.report.sample import INLINE_BYTES, choose, paginate
from sayso.report.self_known_texts import NO_TEXTS, Texts
from sayso.report.self_known_texts import read as read_texts
from sayso.store import Manifest, RunFolder

Row = TypeVar("Row", Generation, Verdict)


def write(run: str | Path | RunFolder, beside: Sequence[str | Path | RunFolder] = ()) -> Path:
    """Write ``report.html``, and ``answers/`` where a run has more than 300 answers.

    ``beside`` are further runs whose numbers stand in tables of methods by models; only runs of
    ``faithfulness`` have these. Returns the page's path. Raises
    :class:`~sayso.records.InputError` for a folder that is no run or holds no numbers yet.
    """
    folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
    manifest = folder.read_manifest()
    measured = folder.tables("metrics")
    if not measured:
        raise InputError(
            f"{folder.path} has no numbers yet: the run is not finished; repeat its command: "
            f"{manifest.command}"
        )
    estimates = [e for table in measured for e in folder.read(table, Estimate)]
    if "self_known" in manifest.protocols and not beside:
        drawn = read_texts(folder, _seed(manifest))
        folder.clear_pages()
        return folder.write_text("report.html", long_texts(manifest, estimates, drawn))
    probes = "draws" if "selective" in manifest.protocols else "probe"
    k = manifest.settings.get("known_k" if probes == "draws" else "probe.k")
    tables = Tables(
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
    most: list[Worst] = worst(folder, estimates) if "faithfulness" in manifest.protocols else []
    if beside and "faithfulness" not in manifest.protocols:
        raise InputError(f"{folder.path} is no run of faithfulness: nothing can stand beside it")
    written = pages(manifest, estimates, tables, most, read_beside(beside))
    folder.clear_pages()
    for name, text in written.items():
        folder.write_text(name, text)
    return folder.path / "report.html"


def long_texts(manifest: Manifest, estimates: Sequence[Estimate], texts: Texts = NO_TEXTS) -> str:
    """Return the page of a run of ``self_known``: one file, with as many texts as fit."""
    from sayso.report import self_known_page

    drawn = _environment().get_template("self_known_text.html.j2")
    rendered: list[Markup] = []
    room = INLINE_BYTES
    for text in texts.drawn:
        made = Markup(drawn.render(text=text))
        room -= len(made.encode("utf-8", "replace"))
        if room < 0 and rendered:
            break
        rendered.append(made)
    return _page(
        "self_known.html.j2",
        {"title": title(manifest), "first": cautions.first(manifest)},
        **self_known_page.context(manifest, estimates, texts),
        rendered=rendered,
        manifest=manifest,
        command=line(manifest.command, 2_000),
        facts=facts(manifest),
        notices=[line(notice, 500) for notice in manifest.notices[:50]],
    )


def pages(
    manifest: Manifest,
    estimates: list[Estimate],
    tables: Tables,
    most: Sequence[Worst] = (),
    beside: Sequence[Side] = (),
) -> dict[str, str]:
    """Return every file of the report by name: the pages of answers, then ``report.html``.

    ``most`` are the most unfaithful answers of a run of that protocol, ``beside`` other runs of it.
    """
    numbers = Numbers(estimates)
    made = cards(tables)
    written: dict[str, Markup] = {}

    def size(card: Card) -> int:
        if card.id not in written:
            written[card.id] = Markup(_environment().get_template("card.html.j2").render(card=card))
        return len(written[card.id].encode("utf-8", "replace"))

    inline, rest = choose(made, size, _seed(manifest))
    parts = paginate(rest, size)
    names = [f"answers-{number:03}.html" for number in range(1, len(parts) + 1)]
    shared = {
        "title": title(manifest),
        "first": cautions.first(manifest),
        "labels": LABELS,
        "stances": STANCES,
        "total": len(made),
        "total_answers": sum(c.answers for c in made),
        "inline": len(inline),
        "files": list(zip(names, parts, strict=True)),
    }
    out: dict[str, str] = {}
    for name, part in zip(names, parts, strict=True):
        out[f"answers/{name}"] = _page(
            "answers.html.j2", shared, reader=part, name=name, rendered=_rendered(part, written)
        )
    own: dict[str, object] = {}
    if "selective" in manifest.protocols:
        from sayso.report import selective_page

        own = selective_page.context(manifest, estimates)
    elif "faithfulness" in manifest.protocols:
        from sayso.report import faithfulness_page

        own = faithfulness_page.context(manifest, estimates, most, beside)
    if own:
        out["report.html"] = _page(
            f"{manifest.protocols[0]}.html.j2",
            shared | own,
            reader=inline,
            rendered=_rendered(inline, written),
            manifest=manifest,
            command=line(manifest.command, 2_000),
            facts=facts(manifest),
            notices=[line(notice, 500) for notice in manifest.notices[:50]],
        )
        return out
    entities = {q.entity for q in tables.questions if q.entity}
    out["report.html"] = _page(
        "report.html.j2",
        shared,
        reader=inline,
        rendered=_rendered(inline, written),
        numbers=numbers,
        headline=words.headline(numbers, len(entities) or None),
        tiles=_tiles(numbers),
        figures=figures(numbers, _type_names(tables.questions)),
        metrics=tabulate.metrics(numbers),
        compared=[tabulate.compared(numbers, form) for form in numbers.forms],
        beside=[beside_instruction(numbers, form) for form in numbers.forms],
        matrices=[tabulate.matrix(numbers, form) for form in numbers.forms],
        more=tabulate.more(numbers),
        robustness=tabulate.robustness(numbers),
        stance_split=tabulate.stances(numbers),
        variants=[tabulate.known_variants(numbers, form) for form in numbers.forms],
        domains=tabulate.slices(numbers, "domain", {}),
        types=tabulate.slices(numbers, "type", _type_names(tables.questions)),
        alignment=tabulate.alignment(numbers),
        missing=tabulate.missing(numbers),
        missing_lines=cautions.missing_lines(numbers),
        warnings=[*cautions.warnings(numbers), *judged.warned(manifest)],
        judged=judged.cited(manifest),
        manifest=manifest,
        command=line(manifest.command, 2_000),
        facts=facts(manifest),
        notices=[line(notice, 500) for notice in manifest.notices[:50]],
        signatures=signatures(numbers),
        definitions=words.METRICS,
        dash=DASH,
    )
    return out


def _rows(folder: RunFolder, table: str, kind: type[Row]) -> list[Row]:
    return folder.read(table, kind) if folder.has(table) else []


def _seed(manifest: Manifest) -> int:
    seed = manifest.settings.get("seed", 0)
    return seed if isinstance(seed, int) else 0


def _rendered(shown: list[Card], written: dict[str, Markup]) -> list[Markup]:
    return [written[card.id] for card in shown]


def _tiles(numbers: Numbers) -> list[tuple[str, list[tuple[str, str]]]]:
    """The four numbers of the headline, for a glance."""
    known = next(
        (e for f in numbers.forms if (e := numbers.get("p_known", f)).value is not None), None
    )
    tiles = [("facts it knew", [("", show(known, 0) if known else DASH)])]
    for name, label in (
        ("UUR", "hedged, of what it did not know"),
        ("over_hedge", "hedged, of what it knew"),
        ("J", "J: does it tell the two apart?"),
    ):
        values = [
            (tabulate.NARROW_FORMS[form], show(numbers.get(name, form), 0))
            for form in numbers.forms
        ]
        tiles.append((label, values))
    return tiles if numbers.forms else []


def _type_names(questions: Sequence[Question]) -> dict[str, str]:
    names = {}
    for question in questions:
        if question.aspect and not question.parts:
            aspect = question.aspect.description or question.aspect.label
            if aspect:
                names[question.type] = (
                    f"{aspect} ({question.domain})" if question.domain else aspect
                )
    return names


def _page(template: str, shared: dict[str, object], **context: object) -> str:
    style, script = _static("report.css"), _static("report.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = (
        _environment()
        .get_template(template)
        .render(shared, style=Markup(style), script=Markup(script), policy=policy, **context)
    )
    return well_formed(text)


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


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sayso.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["labels"] = LABELS
    environment.filters["tight"] = _tight
    return environment
