"""docs/training.md is true: what it says of running runs as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sayso.train.report import ABOUT
from sayso.train.result import read_training
from support.pages import commands, walk

DOC = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
SECTION = DOC.split("\n## Running\n")[1].split("\n## ")[0]


def test_commands_and_code_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    walk(commands(SECTION), capsys)
    rows = read_training("runs/rows")
    assert rows.entities["trained"] == 30
    assert rows.entities["measured"] == 20
    assert Path("runs/rows/export/sayso_dpo.jsonl").is_file()
    capsys.readouterr()
    (code,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert "'trained': 30" in capsys.readouterr().out
    assert read_training("runs/more").settings["rows.xi"] == 0.5


def test_accelerate_reads_the_files_of_several_machines(tmp_path: Path) -> None:
    config_args = pytest.importorskip("accelerate.commands.config.config_args")
    launch = pytest.importorskip("accelerate.commands.launch")
    section = DOC.split("\n## On several processes or machines\n")[1].split("\n## ")[0]
    texts = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    flags = launch.launch_command_parser()
    kinds = []
    for text in texts:
        file = tmp_path / "gpus.yaml"
        file.write_text(text)
        config = config_args.load_config_from_file(str(file))  # refuses names that it does not know
        kinds.append(config.distributed_type.value)
        known = {action.dest for action in flags._actions}
        assert {*(config.fsdp_config or {})} <= known
    assert kinds == ["MULTI_GPU", "FSDP"]
    (command,) = re.findall(r"```console\n\$ (.*?)\n```", section, re.DOTALL)
    words = shlex.split(command)
    assert words[:2] == ["accelerate", "launch"]
    given = flags.parse_args(words[2:])
    assert (given.num_processes, given.module, given.training_script) == (2, True, "sayso")
    assert given.training_script_args[:2] == ["train", "runs/base"]


def test_what_the_table_shows_is_explained() -> None:
    reading = DOC.split("\n## Reading the results\n")[1].split("\n## ")[0].lower()
    for head in ("J within", "unspoken", "forced", "skill", "wrong, sure", "unasked"):
        assert head in ABOUT
        assert f"*{head.lower()}*" in reading, head
