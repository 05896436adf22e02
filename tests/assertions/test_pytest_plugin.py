"""Assertions as tests of pytest: from sayso.ini, from a marker, and at no cost to other tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sayso
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from support.scripted_world import Mind, facts, records, write

ROOT = Path(__file__).parent.parent.parent
PLUGIN = "sayso.assertions.pytest_plugin"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of a model that knows everything and never hedges."""
    folder, world = tmp_path_factory.mktemp("project"), facts(8)
    sayso.run(
        model=Mind(world, lambda fact: 1.0).engine(),
        data=str(write(folder / "q.jsonl", records(world))),
        out=folder / "run",
        cache=folder / "cache",
        options=replace(uncle.Settings(), {"resamples": 100, "probe.k": 2, "short_only": True}),
        report=False,
    )
    (folder / "sayso.ini").write_text(
        "\ufeff[gate]\nrun = run\nassert =\n    KCR[short] >= .5\n    KCR[short] >= .999\n"
        "    p_known[short] <= .5\n    missing <= 0\n",
        encoding="utf-8",
    )
    (folder / "test_marked.py").write_text(
        "import pytest\n"
        '@pytest.mark.sayso("run", "KCR[short] >= .5", "KCR[short] >= .999", "JJ >= 1")\n'
        "def test_gate(): ...\n"
        '@pytest.mark.sayso("run", "missing <= 0")\n'
        "def test_body():\n    assert False, 'the body runs too'\n",
        encoding="utf-8",
    )
    return folder


def typed(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # where sayso is installed, its entry point has loaded the plugin, and pytest refuses it twice
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=alone
    )


def ran(folder: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-rA"]
    done = typed([*command, *words], folder)
    return done.returncode, done.stdout + done.stderr


def test_a_file_of_assertions_is_a_test_for_each(project: Path) -> None:
    code, out = ran(project, "sayso.ini")
    assert code == 1, out
    assert "PASSED sayso.ini::gate: KCR[short] >= .5" in out
    assert "FAILED sayso.ini::gate: p_known[short] <= .5" in out
    assert "PASSED sayso.ini::gate: KCR[short] >= .999" in out
    assert "SaysoWarning: cannot say yet: KCR[short] >= .999" in out
    assert "1 failed, 3 passed, 1 warning" in out
    assert "Traceback" not in out
    code, out = ran(project, "sayso.ini", "--sayso-strict", "-q")
    assert "2 failed, 2 passed" in out


def test_a_marker_makes_a_test_of_each_assertion(project: Path) -> None:
    """A mistake in one assertion is the failure of all that are decided with it."""
    code, out = ran(project, "test_marked.py")
    assert code == 2, out
    assert "did you mean J" in out
    assert "the body runs too" in out
    assert out.count("FAILED test_marked.py::test_gate[") == 3
    code, out = ran(project, "test_marked.py", "-k", "body")
    assert "1 failed" in out


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('@pytest.mark.sayso("run")', "needs a run folder and at least one assertion"),
        ('@pytest.mark.sayso("run", "J >= 0", alow=1)', "base, allow_cache, allow, not alow"),
        ('@pytest.mark.sayso("run", "J >= 0")\n@pytest.mark.sayso("run", "J >= .1")', "several"),
        ('@pytest.mark.xfail\n@pytest.mark.sayso("run", "J >= .1")', "1 xfailed"),
    ],
)
def test_a_wrong_marker_shows_nothing_of_pytest(tmp_path: Path, marker: str, message: str) -> None:
    text = f"import pytest\n{marker}\ndef test_gate(): ...\n"
    (tmp_path / "test_wrong.py").write_text(text, encoding="utf-8")
    code, out = ran(tmp_path, "test_wrong.py")
    assert code == 2
    assert message in out
    assert "_caller.py" not in out


#: runs the same tests once for each stage, which fails
STAGES = """
import sys, pytest
import sayso.assertions.check as check

def failing(*_, **__):
    raise KeyError("broken")

for stage in sys.argv[1:]:
    kept = getattr(check, stage)
    setattr(check, stage, failing)
    words = ["-p", "PLUGIN", "-p", "no:cacheprovider", "-rA", "sayso.ini", "test_marked.py"]
    code = pytest.main([*words, "--junit-xml", f"{stage}.xml"])
    setattr(check, stage, kept)
    print("ended", stage, int(code))
""".replace("PLUGIN", PLUGIN)


def test_whatever_fails_is_code_2_and_one_line(project: Path) -> None:
    """Also beside other tests that fail, and in pytest's own JUnit file."""
    stages = ("whole_run", "parse_assertion", "at_level", "decide")
    out = typed([sys.executable, "-c", STAGES, *stages], project).stdout
    assert "Traceback" not in out
    for stage in stages:
        told, _, out = out.partition(f"ended {stage} 2\n")
        assert "KeyError: 'broken'" in told
        assert "KeyError" in (project / f"{stage}.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gate]\nrun = run\n", "nothing to assert"),
        ("[gate]\nrun = run\nassert = J >= 1\nstrict = yes\n", "unknown key 'strict'"),
        ("[gate]\nrun = run\nassert = J >= 1\nallow_cache = maybe\n", "allow_cache is 'maybe'"),
        ("run = run\n", "no section headers"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "sayso.ini").write_text(text, encoding="utf-8")
    code, out = ran(tmp_path, "sayso.ini")
    assert code == 2
    assert message in out
    assert "Traceback" not in out


def test_it_is_declared_and_loads_nothing_until_it_is_used() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["entry-points"]["pytest11"] == {"sayso": PLUGIN}
    code = (
        "import sys, pytest; before = set(sys.modules); import sayso.assertions.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    ours = {name for name in loaded if name.startswith("sayso")}
    assert ours == {"sayso", "sayso.version", "sayso.later", "sayso.assertions", PLUGIN}
    assert not {"numpy", "msgspec", "pyarrow"} & set(loaded)
