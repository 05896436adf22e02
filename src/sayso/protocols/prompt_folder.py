"""A folder in which prompts of a user's own, such as a paper's, can stand: every file explained."""

from __future__ import annotations

from pathlib import Path

from sayso.judges.model.prompts import judge_prompt_uses
from sayso.prompts import EXAMPLE, load_prompt
from sayso.prompts.templates import PLACES, WHOLE, Places, Whole
from sayso.protocols.protocol import Protocol
from sayso.records import InputError

README = "README.md"
_INTRO = """\
# Prompts of `sayso run {name}`

Nothing in this folder is sent as it is: `--prompt-folder` does not read files that end in
`{example}`. Each holds the text that sayso sends today. To use your own text:

1. Paste the text into the file.
2. Write placeholders in braces where the question, the answer and so on go. Change nothing else.
3. Rename the file to end in `.txt`.

sayso checks every `.txt` file before it asks anything. One folder can serve several commands: a
note names the files that a command does not send. The last column says which flag sends a prompt
that the default settings do not send. Prompts
of judges (`judge_*`, `*_reply` and those with a header) also need a model as judge
(`--judge MODEL`).

| file | required placeholders | optional placeholders | sent with |
|---|---|---|---|
"""
_HEADERS = """
## Judge prompts that are taken whole

These prompts can also be one text of your own. Begin it with a header. sayso then sends the text
below the header unchanged, after one paragraph that explains the fence around the data.
docs/judges.md describes each reply format.
"""


def write_prompt_folder(folder: Path, plan: Protocol) -> int:
    """Write a folder with every prompt that a protocol can send, and return their number.

    A run with this folder sends the same as a run without it until a file is renamed. Raises
    InputError for a folder that holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name a new folder, or delete this one")
    uses = judge_prompt_uses("stance", False, True) | plan.prompt_uses(plan.Settings(), True)
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(uses):
        (folder / f"{name}{EXAMPLE}").write_text(load_prompt(name) + "\n", encoding="utf-8")
    (folder / README).write_text(_read_me(plan.name, uses), encoding="utf-8")
    return len(uses)


def _read_me(name: str, uses: dict[str, str]) -> str:
    """Return what tells about each file, its placeholders and its header."""
    rows = [
        f"| `{prompt}` | {_braced(PLACES[prompt].must)} | {_braced(PLACES[prompt].may)} | "
        f"{f'`{uses[prompt]}`' if uses[prompt] else 'the default settings'} |"
        for prompt in sorted(uses)
    ]
    heads = [_header(prompt, whole) for prompt, whole in WHOLE.items() if prompt in uses]
    return _INTRO.format(name=name, example=EXAMPLE) + "\n".join([*rows, _HEADERS, *heads])


def _header(prompt: str, whole: Whole) -> str:
    """Return the headers that a prompt can begin with, one for each format of a reply."""
    places: Places = whole.places
    lines = [
        f"### {prompt}",
        "",
        f"Placeholders: {_braced(places.must)} required, {_braced(places.may)} optional.",
    ]
    for reply in whole.replies:
        must = [name for name in whole.echoed if reply == "blocks"]
        lines += ["", f"{_braced(must)} is required here:"] if must else []
        lines += ["", "```", *whole.example(reply), "(the paper's text)", "```"]
    if whole.meanings:
        lines += ["", f"A label can mean: {', '.join(whole.meanings)}."]
    return "\n".join([*lines, ""])


def _braced(names: tuple[str, ...] | list[str]) -> str:
    return " ".join(f"`{{{name}}}`" for name in names) or "none"
