"""``--help`` loads no charts, tables or models: it is typed often, and must come at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from sayso.metrics.cmfg import BINS, LEAST_IN_BIN
from sayso.options import check_values
from sayso.protocols.faithfulness import Settings
from sayso.protocols.settings import replace
from sayso.records import InputError
from support.endpoint import endpoint

HEAVY = ("altair", "jinja2", "numpy", "pyarrow", "torch", "transformers", "vl_convert", "openai")


def _loaded_by(commands: Iterable[Sequence[str]], names: tuple[str, ...]) -> dict[str, list[str]]:
    """Run commands in one process of their own; return what was loaded of ``names`` after each."""
    code = (
        "import json, sys; from sayso import cli\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    code = cli.execute(words)\n"
        f"    loaded = [name for name in {names!r} if name in sys.modules]\n"
        "    print('loaded', json.dumps([' '.join(words), code, loaded]))"
    )
    typed = json.dumps([list(words) for words in commands])
    command = [sys.executable, "-c", code, typed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line[7:] for line in done.stdout.splitlines() if line.startswith("loaded ")]
    found = {words: (code, loaded) for words, code, loaded in map(json.loads, rows)}
    assert {code for code, _ in found.values()} == {0}, (found, done.stderr)
    return {words: loaded for words, (_, loaded) in found.items()}


def test_help_loads_little() -> None:
    pages = ("run", "run uncle", "run selective", "study", "score", "check", "watch")
    loaded = _loaded_by(([*page.split(), "--help"] for page in pages), HEAVY)
    assert loaded == {f"{page} --help": [] for page in pages}


#: what no command needs whose answers come from elsewhere
MODELS = ("torch", "transformers", "tokenizers", "safetensors", "peft", "accelerate", "scipy",
          "pandas", "sklearn", "datasets", "asyncio", "openai")  # fmt: skip


def test_commands_on_answers_that_exist_load_no_model(tmp_path: Path) -> None:
    """What the first of them that loads one has loaded is told for all that follow."""
    rows = [
        {"question": f"Who wrote play {n}?", "answer": name, "gold": "Ann", "draws": [name, "Bea"]}
        for n, name in enumerate(("Ann", "Bea", "Ann", "Cas", "I do not know."))
    ]
    (tmp_path / "ANSWERS.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    commands = (
        "run selective --answers ANSWERS.jsonl --out RUN", "report RUN", "measure RUN",
        "compare RUN RUN", "export RUN OUT.csv", "score ANSWERS.jsonl", "study RUN RUN --out OUT",
        "score ANSWERS.jsonl --out SCORED.csv", "data", "judge-check rules",
    )  # fmt: skip
    typed = [
        [str(tmp_path / word) if word[0].isupper() else word for word in command.split()]
        for command in commands
    ]
    assert _loaded_by(typed, MODELS) == {" ".join(words): [] for words in typed}


def test_a_run_against_an_endpoint_loads_no_model(tmp_path: Path) -> None:
    with endpoint(lambda body: f"It was Ann, {len(str(body))}.") as address:
        words = f"run uncle --model {address}#m --limit 2 --set resamples=100 --out".split()
        (loaded,) = _loaded_by([[*words, str(tmp_path)]], MODELS).values()
    assert {*loaded} <= {"asyncio", "openai"}


@pytest.mark.parametrize(("before", "after"), [(700, 50_000), (90_000, 90_000), (0, 0)])
def test_a_command_seldom_looks_for_cycles_of_objects(before: int, after: int) -> None:
    code = (
        "import atexit, gc\n"
        "from sayso.cli import main\n"
        f"gc.set_threshold({before}, 10, 10)\n"
        "atexit.register(lambda: print(gc.get_threshold()))\n"
        "main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"({after}, 10, 10)"


@pytest.mark.skipif(os.name != "posix", reason="closes handles in a shell of POSIX")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_handles_that_are_closed_are_opened(closed: str, tmp_path: Path) -> None:
    # the renderer of charts ends where one of them is free
    code = (
        "import os, sys, traceback\n"
        "from sayso.cli import main\n"
        "try:\n"
        "    main(['--version'])\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        "import vl_convert\n"
        "print('said', file=sys.stdout), print('said', file=sys.stderr)\n"
        "drawn = vl_convert.vegalite_to_svg({'mark': 'bar', 'data': {'values': [{'a': 1}]},\n"
        "    'encoding': {'x': {'field': 'a', 'type': 'quantitative'}}})\n"
        "open(sys.argv[1], 'w').write(f'{code} {drawn[:4]} {sys.stdin.read()!r}')\n"
    )
    told = tmp_path / "told"
    command = f'exec "$0" -c "$1" "$2" {"" if "<" in closed else "</dev/null"} {closed}'
    subprocess.run(["sh", "-c", command, sys.executable, code, told], check=True, timeout=100)
    assert told.read_text() == "0 <svg ''"


def test_an_encoding_without_a_character_changes_no_exit_code(tmp_path: Path) -> None:
    told = (
        "import sayso.cli as cli\n"
        "cli.execute = lambda words: print('\\u22120.34') or 3\n"
        "cli.main(['assert'])"
    )
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, check=False, env=latin)
    assert (done.returncode, done.stdout.strip()) == (3, rb"\u22120.34")


def test_without_docstrings_it_says_so_before_anything_runs() -> None:
    command = [sys.executable, "-OO", "-m", "sayso", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("sayso: Python runs with -OO")
    assert done.stderr.count("\n") == 1


def test_limits_that_are_written_again_for_it_are_those_of_the_metric() -> None:
    assert Settings().bins == BINS
    check_values(replace(Settings(), {"shared_least": LEAST_IN_BIN}))
    with pytest.raises(InputError, match="shared_least"):
        check_values(replace(Settings(), {"shared_least": LEAST_IN_BIN - 1}))
