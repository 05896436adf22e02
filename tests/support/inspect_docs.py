"""Run the commands of docs/inspect.md in order, in the folder where this is started.

A script of its own (see ``support.inspect_checks``). It fills in the sheet of labels.
"""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

from inspect_ai._cli.main import inspect

from sayso import cli

TEXT = (Path(__file__).parents[2] / "docs" / "inspect.md").read_text(encoding="utf-8")
MARK = "<!-- commands: a test runs them in order -->\n```console\n"


def fill(sheet: Path) -> None:
    """Label every answer of a sheet as abstained."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "stance": "abstained"} for row in rows)


def main() -> None:
    """Run every command."""
    for block in TEXT.split(MARK)[1:]:
        for command in re.findall(r"^\$ (.+)$", block.partition("```")[0], flags=re.MULTILINE):
            words = shlex.split(command)
            print("$", command, flush=True)
            if words[0] == "sayso":
                assert cli.execute(words[1:]) == 0, command
            else:
                assert words[0] == "inspect", command
                inspect.main([*words[1:], *(["--display", "plain"] if words[1] == "eval" else [])],
                             standalone_mode=False)  # fmt: skip
            if Path("sheet.csv").exists() and not Path("labeled.eval").exists():
                fill(Path("sheet.csv"))


if __name__ == "__main__":
    main()
