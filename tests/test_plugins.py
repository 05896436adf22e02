"""Entry points of other packages: a model, a judge, a score and a data set under a name."""

from __future__ import annotations

import importlib.metadata
import itertools
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import plugins
from sayso.cli import execute
from sayso.datasets import check_data_name, load_dataset
from sayso.engines import check_model_name, open_model
from sayso.runs.judge import check_judge, open_judge
from sayso.scores import SCORES
from sayso.storage.run_folder import RunFolder

DOCS = (Path(__file__).parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS, flags=re.DOTALL)
POINTS = re.search(r"```toml\n(.*?)```", DOCS, flags=re.DOTALL)
NUMBERS = itertools.count()


def example() -> str:
    """Return the module of docs/python.md: its engine, its judge, and what opens them."""
    parts = [block for block in BLOCKS if re.search(r"^(?:class|def) ", block, flags=re.MULTILINE)]
    return "\n".join(line for part in parts for line in part.splitlines() if line[:5] != "print")


def install(folder: Path, package: str, points: str, code: str = "", module: str = "") -> None:
    """Install a tiny distribution into a folder: its metadata, its entry points, its module."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (folder / f"{module or package}.py").write_text(code)


Install = Callable[..., str]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install what brings ``name``, as ``value`` of a module with some code; return the module."""

    def one(group: str, name: str, code: str, value: str = "made", package: str = "") -> str:
        number = next(NUMBERS)
        module, folder = f"plugin_{number}", tmp_path / f"site-{number}"
        points = f"[sayso.{group}]\n{name} = {module}:{value}\n"
        install(folder, package or f"acme-{number}", points, code, module)
        monkeypatch.syspath_prepend(folder)
        return module

    return one


# ---- the example of the docs


def run_sayso(folder: Path, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), str(Path(sayso.__file__).parent.parent)])
    return subprocess.run(
        [sys.executable, "-m", "sayso", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "SAYSO_CACHE": str(folder / "cache")},
    )


def test_the_example_of_the_docs_runs(tmp_path: Path) -> None:
    site, code = tmp_path / "site", example()
    assert POINTS is not None
    points = re.sub(r'project\.entry-points\."(.*)"|"|#.*', r"\1", POINTS[1])
    install(site, "acme", points, "print('acme is imported')\n" + code)
    asked = ("--model", "acme:9", "--judge", "acme", "--data", "acme:Rome Oslo", "--out", "run")
    command = ("run", "selective", *asked, "--scores", "all,shouting", "--draws.k", "2")
    planned = run_sayso(tmp_path, site, *command, "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert "acme:9: the plug-in was opened" in planned.stdout
    assert "The judge exact is not called in a dry run" in planned.stdout
    done = run_sayso(tmp_path, site, *command)
    assert done.returncode == 0, done.stderr
    manifest = RunFolder.open(tmp_path / "run").read_manifest()
    assert (manifest.model, manifest.judge, manifest.data) == (
        "oracle-1",
        "exact",
        "acme:Rome Oslo",
    )
    numbers = [dict(e.where) for e in sayso.measure(tmp_path / "run").estimates]  # without acme
    assert {"perplexity", "shouting"} <= {where.get("score") for where in numbers}
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"question": "Who?", "answer": "Ann!!"}\n')
    done = run_sayso(tmp_path, site, "score", str(rows), "--methods", "shouting")
    assert done.returncode == 0, done.stderr
    assert '"shouting":2.0' in (tmp_path / "a.scored.jsonl").read_text()
    done = run_sayso(tmp_path, site, "data", "show", "acme:Rome")
    assert "Rome" in done.stdout
    done = run_sayso(tmp_path, site, "run", "uncle", "--model", "nobody:x")
    assert done.returncode == 2
    assert "plug-ins: acme (acme)" in done.stderr


# ---- names


OURS: dict[str, tuple[str, Callable[[], object]]] = {
    "engines": ("builtin", lambda: open_model("builtin", weights=False)),
    "judges": ("rules", lambda: check_judge("rules")),
    "scores": ("perplexity", lambda: sayso.score([{"answer": "a"}], "perplexity")),
    "datasets": ("world-50", lambda: load_dataset("world-50")),
}


@pytest.mark.parametrize("group", OURS)
def test_a_name_of_ours_stays_ours_and_one_line_says_so(
    group: str, installed: Install, caplog: pytest.LogCaptureFixture
) -> None:
    name, use = OURS[group]
    module = installed(group, name, "raise SystemExit('imported')", package=f"thief-{group}")
    with caplog.at_level(logging.WARNING):
        use()
        use()
    assert [r.getMessage() for r in caplog.records] == [
        f"note: plug-in '{name}' of package thief-{group} is not used: sayso has '{name}' itself"
    ]
    assert module not in sys.modules


ASKED: dict[str, Callable[[str], object]] = {
    "engines": open_model,
    "judges": open_judge,
    "scores": lambda name: sayso.score([{"answer": "a"}], name),
    "datasets": load_dataset,
}


@pytest.mark.parametrize("group", ASKED)
def test_a_name_of_nobody_lists_what_is_installed(group: str, installed: Install) -> None:
    installed(group, "mine", "", package="acme-tools")
    with pytest.raises(sayso.InputError, match=r"plug-ins: mine \(acme-tools\)"):
        ASKED[group]("yours")


@pytest.mark.parametrize("group", ASKED)
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nowhere_at_all", "cannot be imported: ModuleNotFoundError: .*nowhere_at_all"),
        ("def made(:", "cannot be imported: SyntaxError"),
        ("other = 1", "cannot be imported: AttributeError"),
        ("raise SystemExit(0)", "cannot be imported: SystemExit"),
    ],
)
def test_a_broken_plug_in_is_one_line_that_names_its_package(
    group: str, code: str, message: str, installed: Install
) -> None:
    installed(group, "mine", code, package="acme-tools")
    told = rf"plug-in 'mine' of package acme-tools {message}"
    with pytest.raises(sayso.InputError, match=told) as refused:
        ASKED[group]("mine")
    assert "\n" not in str(refused.value)
    assert sayso.score([{"answer": "a b"}], "length_words")[0]["length_words"] == 2
    check_model_name("builtin")


@pytest.mark.parametrize("group", ["engines", "judges", "datasets"])
def test_what_a_plug_in_raises_is_one_line(group: str, installed: Install) -> None:
    installed(group, "mine", "def made(text):\n    return {}[text]", package="acme-tools")
    with pytest.raises(sayso.InputError, match=r"of package acme-tools failed: KeyError: 'x:y'"):
        ASKED[group]("mine:x:y")
    code = "from sayso import InputError\ndef made(text):\n    raise InputError('no key: set KEY')"
    installed(group, "other", code)
    with pytest.raises(sayso.InputError, match=r"^no key: set KEY$"):
        ASKED[group]("other")


def test_two_packages_with_one_name_are_refused(installed: Install) -> None:
    for package in ("acme-a", "acme-b"):
        installed("scores", "mine", "", package=package)
    with pytest.raises(sayso.InputError, match=r"of package acme-a and a plug-in .* acme-b: unin"):
        sayso.score([{"answer": "a"}], "mine")


# ---- what a plug-in must bring


@pytest.mark.parametrize(
    ("group", "code", "message"),
    [
        ("engines", "made = str", "plug-in 'mine' .*: str lacks name, identity, base, .*python.md"),
        ("engines", "class made:\n    def __init__(self, t): self.name = t", "made lacks identity"),
        ("judges", "class made:\n    name = 'x'\n    __init__ = lambda self, t: None",
         "plug-in 'mine' .*: made lacks signature, grade; docs/python.md"),
        ("judges", "made = lambda text: None", "NoneType lacks name, signature, grade"),
        ("scores", "made = 5", "score 'mine' is of type int; expected a function"),
        ("scores", "made = lambda: 5", "score 'mine' failed on row 1: TypeError"),
        ("datasets", "made = lambda text: 5", "data 'mine' is of type int: expected a list"),
        ("datasets", "made = lambda text: []", "data 'mine' has no rows"),
        ("datasets", "made = lambda text: [{'q': 1}]", "mine: expected a column 'question'"),
        ("datasets", "made = lambda text: [{'question': 'a', 'answerable': 5}]", "line 1: answ"),
    ],
)  # fmt: skip
def test_a_contract_is_checked(group: str, code: str, message: str, installed: Install) -> None:
    installed(group, "mine", code)
    with pytest.raises(sayso.InputError, match=message):
        ASKED[group]("mine")


def test_a_judge_of_a_plug_in_is_no_model(installed: Install) -> None:
    installed("judges", "mine", "raise OSError")
    argv = ["run", "uncle", "--judge", "mine", "--judge-batch", "2", "--dry-run"]
    assert execute(argv) == 2
    with pytest.raises(sayso.InputError, match="judge 'mine' is not a model: leave judge_mode"):
        check_judge("mine", sayso.runs.judge.JudgeOptions(judge_mode="two_pass"))


def test_a_name_is_checked_without_importing_it(installed: Install) -> None:
    for group in ("engines", "judges", "scores", "datasets"):
        installed(group, "mine", "raise OSError('imported')")
    check_model_name("mine:x")
    check_judge("mine")
    check_data_name("mine")
    settings: Any = sayso.protocols.PROTOCOLS["selective"]
    settings.Settings(scores="mine,perplexity").check()
    with pytest.raises(sayso.InputError, match="no score is called 'mine:x'"):
        settings.Settings(scores="mine:x").check()


# ---- beside those of ours


def test_all_scores_are_those_of_sayso(installed: Install) -> None:
    installed("scores", "shouting", "def made(samples): return samples.answer.text.count('!')")
    rows = [{"question": "Who?", "answer": "Ann!"}]
    assert "shouting" not in sayso.score(rows)[0]
    both = sayso.score(rows, "all,shouting", nli="rules")[0]
    assert SCORES.keys() < both.keys()
    assert both["shouting"] == 1


def test_a_broken_score_is_told_before_anything_is_asked(
    installed: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed("scores", "mine", "other = 1")
    out = tmp_path / "run"
    argv = ["run", "selective", "--limit", "1", "--set", "scores=all,mine", "--out", str(out)]
    assert execute(argv) == 2
    assert "cannot be imported: AttributeError" in capsys.readouterr().err
    assert not (out / "generations").exists()


@pytest.mark.parametrize("need", ["logprobs", "draws"])
def test_an_answer_that_lacks_what_a_score_needs_has_no_value(
    need: str, installed: Install, tmp_path: Path
) -> None:
    code = "from sayso.scores import Method\nmade = Method(lambda s: {}, ({!r},))"
    given = {"logprobs": "-sum(s.answer.logprobs)", "draws": "1 / len(s.draws)"}[need]
    installed("scores", "mine", code.format(given, need))
    rows = tmp_path / "a.jsonl"
    held = '"token_logprobs": [-1.0, -2.0], "samples": ["Rome", "Oslo"]'
    line = '{{"question": "Who is {}?", "gold": "Rome", "answer": "Rome"{}}}\n'
    rows.write_text("".join(line.format(n, f", {held}" * (n > 1)) for n in range(6)))
    out = str(tmp_path / "run")
    assert (
        execute(["run", "selective", "--answers", str(rows), "--scores", "mine", "--out", out]) == 0
    )
    scores = RunFolder.open(Path(out)).read("scores/short", sayso.records.Score)
    mine = [s for s in scores if s.method == "mine"]
    assert [s.value for s in mine if s.value is not None] == [
        3.0 if need == "logprobs" else 0.5
    ] * 4
    lacking = [s.problem or "" for s in mine if s.value is None]
    assert len(lacking) == 2
    assert all(need in problem for problem in lacking)


ENGINE = """
from sayso.engines.engine import Capabilities, Counts
from sayso.engines.prices import Price
class made:
    capabilities = Capabilities()
    price = {price}
    def __init__(self, text, device="none"):
        self.name = self.base = self.signature = self.identity = f"{{text}}-{{device}}"
        self.counts, self.closed = Counts(), False
    complete = force = lambda self, *given: iter(())
    def close(self): self.closed = True
"""


@pytest.mark.parametrize("price", ["Price(1.0, 2.0)", "None"])
def test_a_model_of_a_plug_in_may_say_what_it_costs(price: str, installed: Install) -> None:
    from sayso.options import ModelOptions
    from sayso.runs.costs import open_priced

    installed("engines", "mine", ENGINE.format(price=price))
    engine, known = open_priced("mine:x", opening=ModelOptions(device="cpu", concurrency=4))
    assert engine.name == "x-cpu"
    assert (known is None) == (price == "None")
    assert open_priced("mine:x", price="3,4")[1].input == 3  # type: ignore[union-attr]
    if known is None:
        with pytest.raises(sayso.InputError, match="the price of 'mine:x' is unknown; give --pri"):
            open_priced("mine:x", 5.0)


def test_looking_for_plug_ins_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: calls.append(group) or [])
    monkeypatch.setattr(sys, "path", [*sys.path, "/nowhere"])
    for _ in range(3):
        assert plugins.find_plugin("scores", "mine", ()) is None
    assert calls == ["sayso.scores"]


@pytest.mark.parametrize("command", ["--help", "run selective --help", "score --help"])
def test_help_looks_for_none(command: str) -> None:
    code = (
        "import sys; from sayso.cli import execute; execute(sys.argv[1:]); "
        "print({'importlib.metadata', 'numpy'} & set(sys.modules))"
    )
    argv = [sys.executable, "-c", code, *command.split()]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")
