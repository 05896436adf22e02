"""The folder of a training: one process at a time, a base run that moved, and nothing left over."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.protocols.uncle.settings import Settings
from sayso.records import Generation, InputError
from sayso.storage.atomic import one_writer
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base, halves, open_base_run
from sayso.train.config import TrainConfig
from sayso.train.proof import prove
from sayso.train.result import (
    FILE,
    ModelCard,
    Training,
    read_card,
    read_training,
    write_card,
    write_training,
)
from sayso.train.training import begin_result, fit, open_training
from support import frozen
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, Mind, chance, facts, records, word, write

CONFIG = TrainConfig(preset="builtin", resamples=100)


def mind(world: list[Fact]) -> Mind:
    return Mind(
        world, lambda fact: float(chance("knows", fact.question) < 0.5),
        guess=lambda fact, draw: word("wrong", fact.question, draw, n=5),
    )  # fmt: skip


@pytest.fixture(scope="module")
def world() -> list[Fact]:
    return facts(60)


@pytest.fixture(scope="module")
def base(world: list[Fact], tmp_path_factory: pytest.TempPathFactory) -> Base:
    place = tmp_path_factory.mktemp("folder")
    file = write(place / "mine.jsonl", records(world))
    model = mind(world).engine("base")
    sayso.run(
        "uncle", model=model, data=str(file), out=place / "run", limit=30, cache=place / "cache",
        options=Settings(resamples=100), command=f"sayso run uncle --data {file}", report=False,
    )  # fmt: skip
    return open_base_run(place / "run", model=model, cache=place / "cache")


def rows(base: Base, out: Path, config: TrainConfig = CONFIG, style: str = "trl") -> Path:
    """Write the rows of a training, trained by nobody."""
    return fit(
        base.path, out, config=config, export=style, model=base.model, cache=base.cache
    )[0]  # fmt: skip


def begun(base: Base, folder: Path, config: TrainConfig = CONFIG) -> Training:
    preset, settings = config.resolved("builtin")
    parts = halves(base, config.limit, config.train_limit)
    first = begin_result(base, parts, config, preset, settings, "")
    folder.mkdir(exist_ok=True)
    return open_training(folder, first, base)


def test_a_second_process_is_refused_in_one_line(base: Base, tmp_path: Path) -> None:
    with (
        one_writer(tmp_path / "out", "sayso train RUN"),
        pytest.raises(InputError, match=r"process .*, sayso train RUN is writing here") as told,
    ):
        rows(base, tmp_path / "out")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "out").exists()  # new, and nothing was left in it
    assert rows(base, tmp_path / "out") == tmp_path / "out"


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    held = (
        "import os, pathlib, sys\n"
        "from sayso.storage.atomic import one_writer\n"
        "with one_writer(pathlib.Path(sys.argv[1]), 'sayso train'):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held, str(tmp_path / "out")], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=r"process .*, sayso train is writing here"),
            one_writer(tmp_path / "out", "sayso train RUN"),
        ):
            pass
        other.kill()
    with one_writer(tmp_path / "out", "sayso train RUN") as new:
        assert not new  # what the killed one made


def test_a_base_run_may_lie_elsewhere(base: Base, world: list[Fact], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = begun(base, folder)
    engine = ScriptedEngine(mind(world), name="trained", logprob=-0.5, base="scripted:base")
    measured = halves(base)

    def proved(base: Base, first: Training) -> Training:
        return prove(base, measured, {"dpo": [engine]}, folder, first)

    before = proved(base, first)
    write_card(folder / "adapters" / "dpo-0", ModelCard(
        kind="dpo", base="b", base_name="n", base_run=str(base.path), signature="s"
    ))  # fmt: skip
    moved = tmp_path / "moved"
    shutil.copytree(base.path, moved)
    other = base._replace(path=moved)
    asked = len(engine.requests)
    after = proved(other, begun(other, folder))
    assert after.cells == before.cells
    assert len(engine.requests) == asked
    manifest = RunFolder.open(folder / "runs" / "dpo-0").read_manifest()
    assert manifest.settings["known_from"] == str(moved)
    card = read_card(folder / "adapters" / "dpo-0")
    assert card is not None
    assert (card.base_run, card.signature) == (str(moved), "s")
    # another run's probes are another run, wherever it lies
    run = RunFolder.open(moved)
    drawn = run.read("generations/probe", Generation)
    changed = [msgspec.structs.replace(drawn[0], text="changed"), *drawn[1:]]
    run.write("generations/probe", changed, Generation)
    third = tmp_path / "third"
    shutil.move(moved, third)
    with pytest.raises(InputError, match=r"dpo-0 was measured with the probes of .*moved, which"):
        begun(base._replace(path=third), folder)


def test_a_refused_training_leaves_nothing(base: Base, tmp_path: Path) -> None:
    few = TrainConfig(preset="builtin", train_limit=3)
    out = tmp_path / "above" / "out"
    for begun_before, trained in ((False, False), (True, False), (True, True)):
        if begun_before:  # by a call that was stopped before it made rows
            out.parent.mkdir(exist_ok=True)
            begun(base, out, few)
        if trained:
            (out / "adapters").mkdir()
        with pytest.raises(InputError, match=r"only \d of 9 training facts are"):
            rows(base, out, few)
        assert out.exists() is trained
        assert out.parent.exists() is begun_before  # what the call made itself
    assert (out / FILE).exists()


def test_a_damaged_manifest_says_what_to_do_and_that_is_true(base: Base, tmp_path: Path) -> None:
    folder = rows(base, tmp_path / "out")
    held = (folder / "draws" / "manifest.json").stat().st_mtime_ns
    for damage in (b'{"format":1}', b"{]", b'{"format":1,"model":"builtin"}'):
        (folder / FILE).write_bytes(damage)
        with pytest.raises(InputError, match=r"remove .*training\.json and run the same command"):
            rows(base, folder)
    (folder / FILE).unlink()
    assert rows(base, folder) == folder
    assert read_training(folder).finished
    assert (folder / "draws" / "manifest.json").stat().st_mtime_ns == held  # used again
    (folder / FILE).unlink()
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty and is not a training"):
        rows(base, folder)


@pytest.fixture(scope="module")
def built_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the built-in model."""
    place = tmp_path_factory.mktemp("built_in")
    sayso.run(
        "uncle", out=place / "run", limit=4, cache=place / "cache",
        options=Settings(resamples=100), report=False,
    )  # fmt: skip
    return place / "run"


def test_a_dry_run_prices_the_samples_and_loads_no_weights(
    built_in: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*given: object, **named: object) -> None:
        raise AssertionError("weights are loaded")

    monkeypatch.setattr("sayso.train.trainers.open_base_model", never)
    monkeypatch.setattr("sayso.engines.hf.load.open_causal", never)
    before = sorted(built_in.parent.iterdir())
    argv = [
        "train",
        str(built_in),
        "--train-limit",
        "4",
        "--set",
        f"cache={built_in.parent / 'cache'}",
    ]
    assert cli.execute([*argv, "--dry-run"]) == 0
    # 4 entities of 6 questions: 10 probes and an answer of each; a paragraph, and 4 draws of it
    shown = " ".join(capsys.readouterr().out.split())
    for stage in ("probe 240 0", "short 24 0", "long 4 0"):
        assert f"asking {stage}" in shown
    assert sorted(built_in.parent.iterdir()) == before
    assert cli.execute([*argv, "--sweep", "xi", "--dry-run"]) == 2
    assert "--dry-run covers one training" in capsys.readouterr().err


def test_what_somebody_else_s_run_names_gets_no_key_and_no_file(
    built_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Path(shutil.copytree(built_in, tmp_path / "theirs"))
    path = theirs / "manifest.json"
    told = json.loads(path.read_text())
    told["command"] = f"sayso run uncle --set cache={tmp_path / 'chosen'}"
    path.write_text(json.dumps(told))
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "own"))
    assert open_base_run(theirs).cache == tmp_path / "own"
    with Cache(tmp_path / "chosen" / "replies.sqlite"):
        assert open_base_run(theirs).cache == tmp_path / "chosen"
    for judge in ("http://203.0.113.1:9/v1#m", "rules+https://203.0.113.1:9/v1#m"):
        path.write_text(json.dumps(told | {"judge": judge}))
        with pytest.raises(InputError, match=r"to send your key and questions there, add --judge"):
            open_base_run(theirs)
        assert open_base_run(theirs, judge=judge).judge == judge
    path.write_text(json.dumps(told | {"model": "http://203.0.113.1:9/v1#m"}))
    with pytest.raises(InputError, match=r"the model of .* is at an address .* add --model"):
        open_base_run(theirs)


def test_a_training_of_version_0_2_goes_on_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stores settings of reinforcement learning, which are gone."""
    monkeypatch.chdir(tmp_path)
    for name, place in (("uncle", "runs/uncle"), ("training", "training")):
        shutil.copytree(frozen.RUNS / name, place)
    stored = read_training("training")
    assert "training.rl.rate" in stored.settings
    model = frozen._asked(Path("runs/uncle"))
    of_stored = open_base_run("runs/uncle", model=model, cache="cache")
    # epochs as the command line reads them
    config = dataclasses.replace(frozen.TRAINED, sft_epochs=6.0, dpo_epochs=2.0)
    parts = halves(of_stored, train_limit=config.train_limit)
    preset, settings = config.resolved("builtin")
    first = begin_result(of_stored, parts, config, preset, settings, "")
    assert "training.rl.rate" not in first.settings
    assert first.signature[0] == stored.signature[0]  # its hash of all settings
    assert open_training(Path("training"), first, of_stored).created == stored.created
    by_reward = {**stored.settings, "recipe": "rl"}
    write_training("training", msgspec.structs.replace(stored, settings=by_reward))
    with pytest.raises(InputError, match="with recipe 'rl', not 'mix'; choose another --out"):
        open_training(Path("training"), first, of_stored)
