"""What ``sayso export RUN answers.eval`` refuses, also where Inspect is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import InputError
from sayso.runs.export import export


def test_flags_of_logs_are_refused_for_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--labels", "sheet.csv"]
    assert cli.execute(["export", str(tmp_path), str(tmp_path / "a.csv"), *flags]) == 2
    error = capsys.readouterr().err
    assert "is for a log (.eval)" in error
    assert error.count("\n") == 1


def test_the_function_for_tables_names_the_one_for_logs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sayso\.inspect_ai_tools\.export_log writes \.eval"):
        export(tmp_path, tmp_path / "a.eval")


def test_without_inspect_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    code = (
        "import importlib.util as u, sys\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'inspect_ai' else find(name, *more)\n"
        "from sayso import cli\n"
        "sys.exit(cli.execute(['export', '.', 'answers.eval']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "sayso[inspect]"' in done.stderr
    assert done.stderr.count("\n") == 1
