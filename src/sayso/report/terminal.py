"""The table that a run ends with: readable in 80 columns, in color or piped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from sayso.harmless import line
from sayso.storage.run_folder import Manifest


def data_asked(manifest: Manifest) -> str:
    """Return the data of a run, and how many questions were asked of it."""
    counts = {"question": manifest.n_questions - manifest.n_long, "paragraph": manifest.n_long}
    many = [f"{n:,} {what}{'s' * (n != 1)}" for what, n in counts.items() if n]
    told = f" ({', '.join(many)})" if manifest.n_questions > 1 else ""
    return f"{manifest.data}{told}" if manifest.data else ""


def print_what_was_run(console: Console, manifest: Manifest | None) -> None:
    """Print what was run: model, data and judge."""
    if manifest is None:
        return
    parts = {
        "model": manifest.shown_model,
        "data": data_asked(manifest),
        "judge": manifest.judge_signature,
    }
    names = [f"{what} {line(name, 60)}" for what, name in parts.items() if name]
    say(console, " · ".join(names), "dim")


#: cells below which the names of rows are not broken, and above which a word of a text is
LEAST_NAME, LONGEST_WORD = 16, 36


class FoldedTable(Table):
    """A table of which a narrow terminal cuts nothing: names are broken, columns move below."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, in blocks that each begin with the names of rows where it is too wide.

        The names are the first column, and those after it that are not set to the right; a further
        one that is not belongs to the column before it, as an interval to its value.
        """
        wide, width = options.update(max_width=10_000), options.max_width
        sizes = [_size(column, console, wide) for column in self.columns]
        gap = self.padding[1] + self.padding[3] + 1
        if len(sizes) < 2 or sum(size.most + gap for size in sizes) <= width + gap:
            yield from super().__rich_console__(console, options)
            return
        right = [at for at, column in enumerate(self.columns) if at and column.justify == "right"]
        starts = right or range(1, len(sizes))
        units = [[*range(a, b)] for a, b in pairwise((*starts, len(sizes)))]
        if starts[0] == 1:
            sizes[0] = _narrowed(sizes, width, gap)
        for number, block in enumerate(_blocks(units, [s.least + gap for s in sizes], width + gap)):
            if number:
                yield Text()
            room = width - gap * (len(block) - 1)
            part = self._part(block, _widths([sizes[at] for at in block], room))
            yield from part.__rich_console__(console, options)

    def _part(self, block: Sequence[int], widths: Sequence[int]) -> Table:
        """Return a table of some of the columns, each as wide as is said."""
        part = Table(box=self.box, padding=self.padding, pad_edge=False, show_edge=False)
        columns = [self.columns[at] for at in block]
        for column, width in zip(columns, widths, strict=True):
            part.add_column(
                column.header,
                style=column.style,
                justify=column.justify,
                width=width,
                overflow="fold",
            )
        names = (_broken(cell, widths[0]) for cell in columns[0].cells)
        cells = zip(names, *(column.cells for column in columns[1:]), strict=True)
        for row, values in zip(self.rows, cells, strict=True):
            part.add_row(*values, style=row.style, end_section=row.end_section)
        return part


class _Size(NamedTuple):
    """The cells of a column's longest word, below which it would be cut, and of its longest line.

    Both are the same for a column that is not to be wrapped.
    """

    least: int
    most: int


def _size(column: Column, console: Console, wide: ConsoleOptions) -> _Size:
    every = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    most = max(size.maximum for size in every)
    least = min(LONGEST_WORD, max(size.minimum for size in every))
    return _Size(most if column.no_wrap else least, most)


def _narrowed(sizes: Sequence[_Size], width: int, gap: int) -> _Size:
    """Return the size of names that are broken where the table is too wide."""
    names, rest = sizes[0], [size.least for size in sizes[1:]]
    spare = width - sum(rest) - gap * len(rest)
    if spare < min(names.least, LEAST_NAME):  # breaking names is not enough: columns move
        spare = min(max(LEAST_NAME, width // 3), max(width - gap - max(rest), 1))
    least = min(names.least, spare)
    return _Size(least, max(least, min(names.most, spare)))


def _blocks(units: Sequence[Sequence[int]], least: Sequence[int], width: int) -> list[list[int]]:
    """Return which columns stand side by side: those before the first unit in every block."""
    names = [*range(units[0][0])]
    room = width - sum(least[at] for at in names)
    blocks: list[list[int]] = [[]]
    left = room
    for unit in units:
        need = sum(least[at] for at in unit)
        if blocks[-1] and left < need:
            blocks.append([])
            left = room
        blocks[-1] += unit
        left -= need
    return [[*names, *block] for block in blocks]


def _widths(sizes: Sequence[_Size], room: int) -> list[int]:
    """Return how wide each column is: what it needs, and a fair share of what is left."""
    widths = [size.least for size in sizes]
    spare = room - sum(widths)
    if spare < 0:
        widths[-1] = max(1, widths[-1] + spare)
    wants = sorted(range(len(sizes)), key=lambda at: sizes[at].most - sizes[at].least)
    for done, at in enumerate(wants):
        more = min(sizes[at].most - sizes[at].least, max(0, spare) // (len(wants) - done))
        widths[at] += more
        spare -= more
    return widths


def _broken(cell: RenderableType, width: int) -> RenderableType:
    """Return a name in lines of at most ``width`` cells, broken after a space or an underscore."""
    text = Text(cell) if isinstance(cell, str) else cell
    if not isinstance(text, Text) or text.cell_len <= width:
        return cell
    breaks, start, last, used = [], 0, 0, 0
    for at, sign in enumerate(text.plain):
        used += cell_len(sign)
        if used > width and at > start:
            start = last if last > start else at
            breaks.append(start)
            used = cell_len(text.plain[start : at + 1])
        if sign in " _":
            last = at + 1
    return Text("\n").join(text.divide(breaks))


def plain_table() -> Table:
    """Return an empty table as all of a run's tables look: no frame, a line below the heads."""
    return FoldedTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def say(console: Console, text: str, style: str, copied: bool = False, block: bool = False) -> None:
    """Print data: no markup, no colouring of numbers; ``copied`` lines are never broken.

    ``block`` keeps the line breaks of ``text``.
    """
    lines = text.split("\n") if block else [text]
    for part in lines:
        console.print(safe_text(part, console, style), soft_wrap=copied, highlight=False)


def safe_text(text: str, console: Console, style: str = "") -> Text:
    """Return data as rich text without markup, in signs that this terminal's encoding has."""
    safe = line(text)
    if not console.encoding.lower().startswith("utf"):
        plain = safe.translate({0x2013: "-", 0x2212: "-", 0x2026: "...", 0xB7: "|"})
        safe = plain.encode(console.encoding, "replace").decode(console.encoding)
    return Text(safe, style)


# ---- the judge: how well it did when it was checked, or that it never was

#: words of a judge's signature -> the flags of ``sayso judge-check`` that say the same
FLAGS = {
    **{labels: f"--set judge_labels={labels}" for labels in ("uncle", "grades")},
    "entity": "--set judge_batch=entity",
    "aspect": "--set judge_batch=aspect",
    "two_pass": "--set judge_mode=two_pass",
    "brief": "--set judge_prompt=brief",
    **{kind: f"--set judge_dtype={kind}" for kind in ("float64", "float32", "bfloat16", "float16")},
}


def judge_sentences(manifest: Manifest | None) -> list[str]:
    """Return how the judge did when it was checked, as sentences; nothing if it was not."""
    if manifest is None or not manifest.judge_check or "problem" in manifest.judge_check:
        return []
    check = manifest.judge_check
    text = (
        f"The judge {line(manifest.judge_signature, 60)} agreed with sayso's labels on "
        f"{_counts(manifest, '')}"
    )
    kappa = check.get("kappa")
    if isinstance(kappa, int | float):
        text += f", kappa of the stance {kappa:.2f}"
    unread = _number(manifest, "unread")
    if unread:
        text += f"; {unread} of {_number(manifest, 'aspects')} verdicts were unreadable"
    tried = _number(manifest, "injections")
    changed = _number(manifest, "injections_changed")
    text += f"; {changed} of {tried} injections changed its verdict" if tried else ""
    lines = [f"{text}. Checked on {line(str(check.get('checked', ''))[:10])}."]
    if "labelled" in check:
        name = line(str(check["labelled"]), 60)
        lines.append(f"With the labels of {name} it agreed on {_counts(manifest, 'labelled_')}.")
    left = _left_to_model(manifest)
    return lines if left is None or left.worse else [*lines, left.sentence]


class _Left(NamedTuple):
    """What a check found of the verdicts that the rules leave to a model."""

    sentence: str
    worse: bool


def _left_to_model(manifest: Manifest) -> _Left | None:
    """Return who decides better what the rules leave to a model, by the user's labels if any.

    ``None`` for a judge without rules in front of a model, and for a check that does not say.
    """
    for part in ("labelled_", ""):
        read = _number(manifest, f"{part}left_model_of")
        if not read:
            continue
        model, rules = (_number(manifest, f"{part}left_{who}") for who in ("model", "rules"))
        text = (
            f"In the judge's check, on the {read:,} labeled answers that the rules left to the "
            f"model, the model agreed with {model:,} labels; the rules alone agreed with {rules:,}."
        )
        return _Left(text, model < rules)
    return None


def warned(manifest: Manifest | None) -> list[str]:
    """Return what must be known of the judge before a number is quoted."""
    if manifest is None or manifest.judge in ("", "rules", "people"):
        return _injected(manifest)
    command = check_command(manifest)
    if not manifest.judge_check:
        return [f"This judge was never checked. To check it: {command}"]
    if "problem" in manifest.judge_check:
        problem = line(str(manifest.judge_check["problem"]), 200)
        return [f"The accuracy of this judge is unknown ({problem}). To check it: {command}"]
    left = _left_to_model(manifest)
    if left is not None and left.worse:
        return [f"{left.sentence} Use --judge rules, or another model.", *_injected(manifest)]
    if manifest.judge.startswith("rules+") and "left" not in manifest.judge_check:
        said = "whether the model decides better than the rules alone"
        return [f"The stored check does not say {said}. To find out: {command}"]
    return _injected(manifest)


def check_command(manifest: Manifest) -> str:
    """Return the command that checks the judge of a run."""
    return line(f"sayso judge-check {manifest.judge}{_flags(manifest)}", 200)


def _flags(manifest: Manifest) -> str:
    """Return the flags that make a check one of this judge.

    Read from the end of the signature, where every setting stands that is not the default.
    """
    words = manifest.judge_signature.rpartition("#p")[2].split("+")[1:]
    flags = [f" {flag}" for word, flag in FLAGS.items() if word in words]
    prompts = manifest.settings.get("prompt_folder")
    if prompts:
        flags.append(f" --prompt-folder {shlex.quote(str(prompts))}")
    return "".join(flags)


def _injected(manifest: Manifest | None) -> list[str]:
    changed = _number(manifest, "injections_changed") if manifest is not None else 0
    if manifest is None or not changed:
        return []
    return [
        f"In its check, {changed} of {_number(manifest, 'injections')} instructions hidden in "
        "answers changed this judge's verdict; it obeyed "
        f"{_number(manifest, 'injections_obeyed')} of them."
    ]


def _number(manifest: Manifest, name: str) -> int:
    number = manifest.judge_check.get(name)
    return number if isinstance(number, int) else 0


def _counts(manifest: Manifest, part: str) -> str:
    """Return "112 of 120 (93 %, 95 % range 87–97 %)"; no share of nothing."""
    agreed, of = _number(manifest, f"{part}agreed"), _number(manifest, f"{part}of")
    if not of:
        return "none, since no verdict could be read"
    text = f"{agreed:,} of {of:,} answers ({agreed / of:.0%}".replace("%", " %")
    low, high = (manifest.judge_check.get(f"{part}{end}") for end in ("low", "high"))
    if isinstance(low, float) and isinstance(high, float):
        text += f", 95 % range {100 * low:.0f}–{100 * high:.0f} %"
    return text + ")"
