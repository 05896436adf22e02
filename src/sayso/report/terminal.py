"""The table that a run ends with: readable by a stranger, in 80 columns, in colour or piped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sayso.records import Estimate
from sayso.report import beside, cautions, judged, robustness, words
from sayso.report.clean import line
from sayso.report.numbers import Numbers, counts, interval, reach, show
from sayso.store import Manifest

#: what stands below the six metrics in the same columns
BEYOND = ("J_within", "unspoken_knowledge", "hedge_precision")
#: rows of the table of references: (label, arguments that find their estimates)
REFERENCES: dict[str, dict[str, str]] = {
    "this model": {},
    "  not asked for doubt": {"prompt": "plain"},
    "never hedging": {"policy": "never"},
    "always hedging": {"policy": "always"},
    "as often, at random": {"policy": "random"},
    "as often, by its log-probs": {"policy": "own_logprob"},
}


def render(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    entities: int | None = None,
) -> None:
    """Print the headline, the metrics with intervals and counts, references and warnings.

    ``manifest`` says what was run, ``page`` where the HTML report stands, ``entities`` how many
    things were asked about. Holds for any list of estimates, also an empty one; undefined numbers
    are dashes with a reason.
    """
    numbers = Numbers(estimates)
    begin(console, manifest)
    say(console, " ".join(words.headline(numbers, entities)), "bold")
    if numbers.forms:
        console.print()
        console.print(_metrics(numbers, console))
        console.print()
        console.print(_references(numbers, console))
        console.print()
    for table in _beside(numbers, console):
        console.print(table)
        console.print()
    for text in robustness.lines(numbers):
        say(console, text, "")
    for text in _undefined(numbers):
        say(console, text, "dim")
    found = *cautions.missing_lines(numbers), *cautions.warnings(numbers)
    end(console, manifest, numbers.all, page, found)


def begin(console: Console, manifest: Manifest | None) -> None:
    """Print what every table begins with: what was run, and what must be read before a number."""
    console.print()
    if manifest is not None:
        model = manifest.model_signature or manifest.model
        said = {"model": model, "data": manifest.data, "judge": manifest.judge_signature}
        names = [f"{what} {line(name, 60)}" for what, name in said.items() if name]
        say(console, " · ".join(names), "dim")
    for text in cautions.first(manifest):
        say(console, f"! {text}", "bold yellow")


def end(
    console: Console,
    manifest: Manifest | None,
    estimates: Sequence[Estimate],
    page: Path | None,
    found: Sequence[str] = (),
) -> None:
    """Print what every table ends with: who judged, warnings, the first signature, the page.

    ``found`` are warnings of the protocol's own, which come before those about the judge.
    """
    for text in judged.cited(manifest):
        say(console, text, "dim")
    for text in (*found, *judged.warned(manifest)):
        say(console, f"! {text}", "yellow")
    signature = next((e.signature for e in estimates if e.signature), "")
    if signature:
        say(console, f"signature  {line(signature)}", "dim", copied=True)
    if page is not None:
        say(console, f"report     {line(str(page))}", "", copied=True)


def asked(manifest: Manifest) -> str:
    """Return how much was asked, in one sentence."""
    t = manifest.tokens
    return (
        f"{t.get('requests', 0):,} requests to the model, {t.get('cached', 0):,} of them answered "
        f"from the cache; {t.get('model_forced_tokens', 0):,} tokens read without generating"
    )


def _metrics(numbers: Numbers, console: Console) -> Table:
    table = plain_table()
    table.add_column("", no_wrap=True)
    table.add_column(data("share [95 % range]  count", console, "dim"))
    for form in numbers.forms:
        table.add_column("", no_wrap=True, justify="right")
        table.add_column(data(words.FORMS[form], console), no_wrap=True)
    for name, (meaning, _, _) in words.METRICS.items():
        row = [data(name, console, "bold"), data(meaning, console)]
        for form in numbers.forms:
            row += _cells(numbers.get(name, form), console)
        table.add_row(*row, end_section=name == "J")
    for name in BEYOND:
        row = [Text(""), data(words.MORE[name][0], console)]
        for form in numbers.forms:
            row += _cells(numbers.get(name, form), console)
        table.add_row(*row)
    return table


def plain_table() -> Table:
    """Return an empty table as all of a run's tables look: no frame, a line below the heads."""
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _cells(estimate: Estimate, console: Console) -> list[Text]:
    strong = "bold cyan" if estimate.name == "J" else "bold"
    detail = data(interval(estimate, 0), console)
    if counts(estimate):
        detail.append_text(data(f" {counts(estimate)}", console, "dim"))
    return [data(show(estimate, 0), console, strong), detail]


def _references(numbers: Numbers, console: Console) -> Table:
    """What others would score on the same facts: a number is worth its distance from these."""
    table = plain_table()
    table.add_column(data("for comparison, in %", console, "dim"), width=33)
    for name in words.METRICS:
        table.add_column(name, justify="right", no_wrap=True, width=6)
    for form in numbers.forms:
        for place, (label, part) in enumerate(REFERENCES.items()):
            found = [numbers.get(name, form, **part) for name in words.METRICS]
            if all(e.value is None for e in found) and part:
                continue
            head = f"{form:<6} " if place == 0 else " " * 7
            style = "bold" if place == 0 else ""
            cells = [data(show(e, 0).removesuffix(" %"), console, style) for e in found]
            table.add_row(data(head + label, console, style), *cells)
    return table


def _beside(numbers: Numbers, console: Console) -> Iterator[Table]:
    """Yield a table of other ways to ask for each form, intervals below the numbers."""
    shares = [share for _, _, share in beside.COLUMNS]
    for form in numbers.forms:
        found = list(beside.rows(numbers, form))
        if not found:
            continue
        table = plain_table()
        table.add_column(data(f"asked otherwise, {words.FORMS[form]}", console, "bold"))
        for _, head, _ in beside.COLUMNS:
            table.add_column(data(head, console, "dim"), justify="right")
        for title, estimates in found:
            ends = [reach(e, share) for e, share in zip(estimates, shares, strict=True)]
            table.add_row(data(title, console), *(data(show(e, 0), console) for e in estimates))
            table.add_row("", *(data(text, console, "dim") for text in ends))
        yield table


def _undefined(numbers: Numbers) -> Iterator[str]:
    """One line for each reason why a shown number is a dash, with the numbers it concerns."""
    reasons: dict[str, list[str]] = {}
    for form in numbers.forms:
        for name in (*words.METRICS, *BEYOND):
            estimate = numbers.get(name, form)
            if estimate.value is None:
                reasons.setdefault(words.reason(estimate), []).append(f"{name} ({form})")
    for reason, names in reasons.items():
        yield f"no value for {', '.join(names)}: {line(reason, 200)}"


def say(console: Console, text: str, style: str, copied: bool = False, block: bool = False) -> None:
    """Print data: no markup, no colouring of numbers; ``copied`` lines are never broken.

    ``block`` keeps the line breaks of ``text``.
    """
    lines = text.split("\n") if block else [text]
    for part in lines:
        console.print(data(part, console, style), soft_wrap=copied, highlight=False)


def data(text: str, console: Console, style: str = "") -> Text:
    """Return data as rich text without markup, in signs that this terminal's encoding has."""
    safe = line(text)
    if not console.encoding.lower().startswith("utf"):
        plain = safe.translate({0x2013: "-", 0x2212: "-", 0x2026: "...", 0xB7: "|"})
        safe = plain.encode(console.encoding, "replace").decode(console.encoding)
    return Text(safe, style)
