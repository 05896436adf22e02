"""Two processes with gloo train what one trains: the same rows, steps and weights, written once."""

from __future__ import annotations

import dataclasses
import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

pytest.importorskip("trl")

import torch
from safetensors.torch import load_file

from sayso import cli
from sayso.records import InputError
from sayso.train import processes, trainers
from sayso.train.base import Base
from sayso.train.config import PAPER, TrainConfig
from sayso.train.result import read_card, read_training
from sayso.train.training import check_before_training, fit
from support.tiny_training import PRESET, rows

WITHOUT_DROPOUT = dataclasses.replace(PRESET, dropout=0.0)
LAUNCH = (
    *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"),
    *("--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"),
    *("--main_process_port", "0"),
)
#: SFT and DPO of the tiny preset; killed at a step if one is named
SCRIPT = """
import os, sys
from pathlib import Path
from sayso.train import processes, trainers
from test_several_processes import WITHOUT_DROPOUT, rows

out, step = Path(sys.argv[1]), int(sys.argv[2])
whole = trainers.mark

def mark():
    marks = whole()
    def on_step_end(args, state, control, **kwargs):
        if state.global_step == step:
            os._exit(9)
    marks.on_step_end = on_step_end
    return marks

trainers.mark = mark
sft = trainers.sft("builtin", rows(24), WITHOUT_DROPOUT, out / "sft", seed=3)
trainers.dpo(sft, rows(24, True), WITHOUT_DROPOUT, out / "dpo", seed=3)
"""
#: rows for two steps, and little to ask before and after them
FEW = {
    "recipe": "short", "k": 2, "paragraphs": 0, "plain": 0.0, "train_limit": 7, "limit": 1,
    "resamples": 100, "sft_rows": 32, "sft_epochs": 2, "stages": "sft",
}  # fmt: skip


def launched(*words: str) -> subprocess.CompletedProcess[str]:
    """Run words in two processes, as a user's shell would."""
    return subprocess.run(
        [*LAUNCH, *words],
        capture_output=True, text=True, env=environment(), timeout=300, check=False,
    )  # fmt: skip


def environment() -> dict[str, str]:
    """Return an environment in which a process finds this file, and uses one thread."""
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}


def in_two_processes(*words: str) -> list[tuple[int, str]]:
    """Run a script in two processes as a launcher does; return how each ended, and its errors."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    started = [
        subprocess.Popen(
            [sys.executable, *words], stderr=subprocess.PIPE, text=True,
            env={**environment(), **shared, "RANK": rank, "LOCAL_RANK": rank},
        )
        for rank in "01"
    ]  # fmt: skip
    try:
        errors = [process.communicate(timeout=300)[1] for process in started]
    finally:
        for process in started:
            process.kill()
    return [(process.returncode, error) for process, error in zip(started, errors, strict=True)]


def difference(a: Path, b: Path) -> float:
    """Return the distance of two adapters as a share of the second one's length."""
    left, right = (load_file(folder / "adapter_model.safetensors") for folder in (a, b))
    assert left.keys() == right.keys()
    far = sum(float((left[name] - right[name]).square().sum()) for name in right)
    return math.sqrt(far / sum(float(weight.square().sum()) for weight in right.values()))


def test_two_processes_killed_and_started_again_train_the_weights_of_one(tmp_path: Path) -> None:
    script = tmp_path / "both.py"
    script.write_text(SCRIPT)
    killed = in_two_processes(str(script), str(tmp_path / "two"), "3")
    assert all(code for code, _ in killed), killed
    left = tmp_path / "two" / "sft" / "checkpoints"
    assert [place.name for place in left.glob("checkpoint-*")] == ["checkpoint-2"]
    again = in_two_processes(str(script), str(tmp_path / "two"), "0")
    assert [code for code, _ in again] == [0, 0], again
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    sft = trainers.sft("builtin", rows(24), WITHOUT_DROPOUT, tmp_path / "one" / "sft", seed=3)
    trainers.dpo(sft, rows(24, True), WITHOUT_DROPOUT, tmp_path / "one" / "dpo", seed=3)
    torch.set_num_threads(before)
    for stage in ("sft", "dpo"):
        one, two = tmp_path / "one" / stage, tmp_path / "two" / stage
        assert difference(two, one) < 1e-4
        assert {p.name for p in two.iterdir()} == {p.name for p in one.iterdir()}
        cards = [read_card(folder) for folder in (one, two)]
        assert cards[0] is not None
        assert cards[1] is not None
        assert cards[0].signature == cards[1].signature
        assert [s.step for s in cards[1].curve] == [1, 2, 3, 4, 5, 6]
        for own, other in zip(cards[0].curve, cards[1].curve, strict=True):
            assert own.loss == pytest.approx(other.loss, rel=1e-3)


def test_accelerate_launches_the_command_and_one_process_asks_and_writes(tmp_path: Path) -> None:
    base = tmp_path / "base"
    cache = str(tmp_path / "cache")
    asked = ["run", "uncle", "--limit", "1", "--out", str(base), "--cache", cache]
    assert cli.execute([*asked, "--resamples", "100"]) == 0
    words = [
        word for name, value in FEW.items() for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    two = tmp_path / "two"
    done = launched("-m", "sayso", "train", str(base), "--out", str(two), *words, "--cache", cache)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("everything is in") == 1
    assert done.stderr.count("sayso: seed 0: SFT on 32 rows") == 1
    assert done.stderr.count("sayso: measuring: SFT, seed 0") == 1
    alone = TrainConfig(**FEW)  # type: ignore[arg-type]
    fit(base, tmp_path / "one", alone, cache=cache, export="trl")
    kept = [(folder / "rows" / "sft-0.jsonl").read_bytes() for folder in (two, tmp_path / "one")]
    assert kept[0] == kept[1]
    curve = read_training(two).curves[0]
    assert [point.step for point in curve.points] == [1, 2]
    assert all(math.isfinite(point.values["loss"]) for point in curve.points)
    assert [place.name for place in (two / "adapters").iterdir()] == ["sft-0"]


def test_what_several_processes_cannot_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(InputError, match="WORLD_SIZE is 3, but RANK is not set"):
        processes.leads()
    for name in processes.TOLD:
        monkeypatch.setenv(name, "0")
    assert processes.leads()
    with pytest.raises(InputError, match=r"32 rows cannot be divided among 3 .*: start 2"):
        trainers.check_processes([PAPER.sft])
    monkeypatch.setenv("WORLD_SIZE", "4")
    trainers.check_processes([PAPER.sft, PAPER.dpo])
    trained = cast(Base, SimpleNamespace(model="builtin"))
    with pytest.raises(InputError, match="recipe rl trains in one process"):
        check_before_training(trained, PAPER, ("sft", "rl"))
    monkeypatch.setenv("RANK", "3")
    assert not processes.leads()


def test_a_number_of_processes_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(InputError, match="expected a number of processes"):
        processes.process_count()
