"""``--help`` loads no charts, tables or models: it is typed often, and must come at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.metrics.cmfg import BINS, LEAST_IN_BIN
from sayso.options import check_values
from sayso.protocols.faithfulness import Settings
from sayso.protocols.settings import replace
from sayso.records import InputError
from support.endpoint import endpoint

HEAVY = ("altair", "jinja2", "numpy", "pyarrow", "torch", "transformers", "vl_convert", "openai")


@pytest.mark.parametrize(
    "command", ["run", "run uncle", "run selective", "study", "score", "check", "watch"]
)
def test_help_loads_little(command: str) -> None:
    code = (
        "import sys; from sayso import cli; "
        f"cli.execute({[*command.split(), '--help']!r}); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Examples:" in done.stdout
    assert done.stderr.strip() == "[]"


#: what no command needs whose answers come from elsewhere
MODELS = ("torch", "transformers", "tokenizers", "safetensors", "peft", "accelerate", "scipy",
          "pandas", "sklearn", "datasets", "asyncio", "openai")  # fmt: skip


def _loaded_by(*command: str, asks: bool = False) -> list[str]:
    """Run a command in a process of its own; return what it loaded of :data:`MODELS`."""
    code = (
        "import sys; from sayso import cli; code = cli.execute(sys.argv[1:]); "
        f"print('loaded', *(name for name in {MODELS!r} if name in sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [
        name
        for name in done.stdout.splitlines()[-1].split()[1:]
        if not (asks and name in ("asyncio", "openai"))
    ]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of answers from a file, and the file beside it."""
    place = tmp_path_factory.mktemp("recorded")
    rows = [
        {"question": f"Who wrote play {n}?", "answer": name, "gold": "Ann", "draws": [name, "Bea"]}
        for n, name in enumerate(("Ann", "Bea", "Ann", "Cas", "I do not know."))
    ]
    answers = place / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("run", "selective", "--answers", str(answers), "--out", str(place / "run"))
    assert _loaded_by(*command) == []
    return place / "run"


@pytest.mark.parametrize(
    "command",
    ["report RUN", "measure RUN", "compare RUN RUN", "export RUN OUT.csv", "score ANSWERS",
     "study RUN RUN --out OUT", "score ANSWERS --out OUT.csv", "data", "judge-check rules"],
)  # fmt: skip
def test_commands_on_answers_that_exist_load_no_model(
    recorded: Path, command: str, tmp_path: Path
) -> None:
    places = {"RUN": recorded, "ANSWERS": recorded.parent / "answers.jsonl"}
    words = [str(places.get(word, word)) for word in command.split()]
    words = [word.replace("OUT", str(tmp_path / "out")) for word in words]
    assert _loaded_by(*words) == []


def test_a_run_against_an_endpoint_loads_no_model(tmp_path: Path) -> None:
    with endpoint(lambda body: f"It was Ann, {len(str(body))}.") as address:
        command = ("--model", f"{address}#m", "--limit", "2", "--out", str(tmp_path / "run"))
        assert _loaded_by("run", "uncle", *command, asks=True) == []


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
