"""Settings that would change nothing, and names that stand in a wrong place, are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import sayso
from sayso import cli
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError
from sayso.storage.run_folder import RunFolder
from sayso.train import training
from sayso.train.base import halves, open_base_run
from sayso.train.config import ROW_NAMES, ROWS, TrainConfig, check_exported, defaults
from sayso.train.result import Training, write_training
from support.tables import tabled


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"recipe": "calibrated", "xi": 0.9}, "xi=0.9 would change nothing"),
        ({"recipe": "mix", "plain_from": 0.9}, "--recipe calibrated does"),
        ({"stages": "sft", "dpo_rows": 9}, "ends before DPO"),
        ({"style": "paper", "against": 1.0}, "--style known does"),
        ({"recipe": "calibrated", "theta": 0.5}, "plain_from"),
        ({"recipe": "long", "style": "paper", "theta": 0.5}, "fact by fact"),
        ({"recipe": "short", "paragraphs": 2}, "need no paragraph"),
        ({"recipe": "calibrated", "equal_rows": True}, "of recipes short, long and mix"),
        ({"recipe": "mix", "pairs": "logu"}, "pairs=logu .*--style paper"),
        ({"style": "paper", "cut": "all"}, "cut=all .*--set pairs=logu makes more"),
        ({"style": "paper", "words": ("maybe",)}, "words=maybe .*--style known"),
    ],
)
def test_a_given_setting_that_nothing_reads_is_refused(config: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        TrainConfig(preset="builtin", **config).resolved("builtin")
    assert "\n" not in str(refused.value)


def test_an_export_measures_nothing() -> None:
    check_exported(TrainConfig(sft_rows=3, sft_epochs=2.0))  # its configuration says how to train
    with pytest.raises(InputError, match="measures nothing"):
        check_exported(TrainConfig(methods="unc_few"))


@tabled
def test_what_is_read_is_taken(config: dict[str, Any]) -> None:
    TrainConfig(preset="builtin", **config).resolved("builtin")


@tabled
def test_thresholds_are_called_by_their_names(settings: dict[str, float], told: str) -> None:
    with pytest.raises(InputError, match=told):
        TrainConfig(preset="builtin", **settings).resolved("builtin")  # type: ignore[arg-type]


def test_a_style_is_no_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    for name, flags in (
        ("known", "--style known"),
        ("paper", "--style paper"),
    ):
        assert cli.execute(["train", "nowhere", "--recipe", name]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"is a style of rows: sayso train RUN {flags}" in said
    assert cli.execute(["train", "nowhere", "--recipe", "best"]) == 2
    assert "expected one of short, long, mix, calibrated" in capsys.readouterr().err


def test_a_training_is_no_run_to_start_from(tmp_path: Path) -> None:
    write_training(tmp_path, Training(base_run="runs/base"))
    with pytest.raises(InputError, match="is a training, started from runs/base: name that run"):
        open_base_run(tmp_path)


def test_probes_of_another_protocol_are_none(tmp_path: Path) -> None:
    options = Settings(resamples=100)
    given = {"split": "dev", "limit": 2, "cache": tmp_path / "cache"}
    sayso.run("uncle", out=tmp_path / "base", options=options, **given, report=False)  # type: ignore[arg-type]
    run = RunFolder.open(tmp_path / "base")
    manifest = msgspec.structs.replace(run.read_manifest(), protocols=("selective",))
    run.write_manifest(manifest)
    other = Settings(resamples=100, known_from=str(tmp_path / "base"))
    with pytest.raises(InputError, match="a run of selective, which has no probes"):
        sayso.run("uncle", out=tmp_path / "x", options=other, **given, report=False)  # type: ignore[arg-type]


def test_help_says_the_defaults_of_each_preset() -> None:
    assert defaults("k") == "(10)"
    assert defaults("low", "all below theta") == "(paper: all below theta; builtin: 0)"
    assert defaults("style") == "(paper: paper; builtin: known)"
    assert defaults("sft.rate") == "(paper: 5e-05; builtin: 0.002)"
    assert defaults("targets").startswith("(paper: q_proj,v_proj; builtin: q_proj,k_proj")


def test_more_to_train_on_than_there_is_is_told(tmp_path: Path) -> None:
    """The built-in world has 250 entities to train on."""
    sayso.run(
        "uncle", split="dev", limit=2, out=tmp_path / "base", cache=tmp_path / "cache",
        options=Settings(resamples=100), report=False,
    )  # fmt: skip
    base = open_base_run(tmp_path / "base")
    note = halves(base, train_limit=251).notes[-1]
    assert note.startswith("train-limit 251: there are 250 entities")
    assert halves(base, train_limit=250).notes == ()


#: flags with which it is read -> flag -> (what is typed, the setting of rows, its value)
ROW_FLAGS: dict[tuple[str, ...], dict[str, tuple[str, str, Any]]] = {
    ("--recipe", "mix"): {
        "style": ("paper", "style", "paper"),
        "theta": ("0.6", "theta", 0.6),
        "low": ("0.2", "low", 0.2),
        "xi": ("0.4", "xi", 0.4),
        "k": ("7", "k", 7),
        "paragraphs": ("2", "paragraphs", 2),
        "plain": ("0.1", "plain", 0.1),
        "veracity": ("consistency", "veracity", "consistency"),
        "rows.pairs": ("logu", "pairs", "logu"),
        "rows.cut": ("cutoff2", "cut", "cutoff2"),
        "rows.variants": ("2", "variants", 2),
        "rows.each": ("4", "each", 4),
        "rows.plain-pairs": ("0.2", "plain_pairs", 0.2),
    },
    ("--recipe", "mix", "--style", "known"): {
        "against": ("2", "against", 2.0),
        "rows.words": ("maybe", "words", ("maybe",)),
    },
    ("--recipe", "calibrated"): {
        "plain-from": ("0.9", "plain_from", 0.9),
    },
}


def test_every_setting_of_rows_is_a_flag_and_a_key_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[TrainConfig] = []

    def fit(run: Path, out: object, config: TrainConfig, **named: object) -> None:
        seen.append(config)
        raise InputError("reached")

    monkeypatch.setattr(training, "fit", fit)
    named = set()
    for recipe, flags in ROW_FLAGS.items():
        typed = [word for flag, (text, _, _) in flags.items() for word in (f"--{flag}", text)]
        nested: dict[str, Any] = {}
        for flag, (_, _, value) in flags.items():
            outer, _, inner = flag.partition(".")
            plain = list(value) if isinstance(value, tuple) else value
            if inner:
                nested.setdefault(outer, {})[inner] = plain
            else:
                nested[flag] = plain
        (tmp_path / "c.yaml").write_text(yaml.safe_dump(nested))
        for words in (typed, ["--config", str(tmp_path / "c.yaml")]):
            assert cli.execute(["train", "run", *recipe, "--preset", "builtin", *words]) == 2
            _, rows = seen.pop().resolved("builtin")
            assert seen == []
            for _, name, value in flags.values():
                assert getattr(rows, name) == value != getattr(ROWS["builtin"], name), name
        named |= {name for _, name, _ in flags.values()}
    assert named == set(ROW_NAMES)
