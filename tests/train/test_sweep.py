"""A sweep trains once for each value, on equally many rows where xi is swept, and resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from sayso.cli import main
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError
from sayso.train.config import TrainConfig
from sayso.train.result import read_training
from sayso.train.training import VALUES, sweep, sweep_values
from support.tables import tabled


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl")
    place = tmp_path_factory.mktemp("sweep")
    sayso.run(
        "uncle", split="dev", limit=5, out=place / "base", cache=place / "cache",
        options=Settings(resamples=100), report=False,
    )  # fmt: skip
    return place / "base"


def test_every_xi_trains_on_as_many_rows_and_a_second_call_trains_nothing(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = TrainConfig(stages="sft", train_limit=10, resamples=100, paragraphs=0, sft_epochs=1.0)
    folder, swept = sweep(base, values=[0.6, 0.2], config=few, cache=base.parent / "cache")
    assert [p.value for p in swept.sweep] == [0.2, 0.6]
    trainings = [read_training(folder / f"xi-{value}") for value in ("0.2", "0.6")]
    every = [sum(t.rows.values()) for t in trainings]
    assert every[0] == every[1]
    sizes = [sum(n for kind, n in t.rows.items() if "plain" not in kind) for t in trainings]
    assert sizes[0] == sizes[1] > 10
    shares = [
        sum(n for kind, n in t.rows.items() if kind.startswith("sft long known")) / size
        for t, size in zip(trainings, sizes, strict=True)
    ]
    assert shares == pytest.approx([0.2, 0.6], abs=0.05)
    for point, one in zip(swept.sweep, trainings, strict=True):
        # UNCLE's Figure 4 is FA, UA and EA over xi
        for name in ("FA", "UA", "UUR", "KCR", "EA", "J"):
            for form in ("short", "long"):
                assert point.numbers[f"{form} {name}"] == one.get("sft", form, name)
    # its Table 4: five columns in both forms, and its Figure 5: alignment, of every stage
    for name in ("FA", "UA", "UUR", "KCR", "EA"):
        for form in ("short", "long"):
            assert trainings[0].get("sft", form, name).denominator is not None
    shares = [trainings[0].get("sft", "both", f"align_{pair}").value
              for pair in ("CC", "CU", "UC", "UU")]  # fmt: skip
    assert sum(share or 0.0 for share in shares) == pytest.approx(1.0)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("adapter_model.safetensors")}
    assert len(before) == 2
    with pytest.raises(SystemExit) as stopped:
        main([
            "train", str(base), "--sweep", "xi", "--values", "0.2,0.6", "--stages", "sft",
            "--train-limit", "10", "--paragraphs", "0",
            "--set", "sft_epochs=1", "--set", "resamples=100",
            "--set", f"cache={base.parent / 'cache'}", "--out", str(folder),
        ])  # fmt: skip
    assert not stopped.value.code
    printed = capsys.readouterr().out
    assert "Short answers, by xi" in printed
    head = next(line for line in printed.splitlines() if line.startswith("xi "))
    assert head.split()[1:7] == ["FA", "UA", "UUR", "KCR", "EA", "J"]
    assert "0.6" in printed
    assert 'id="sweep"' in (folder / "report.html").read_text()
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("adapter_model.safetensors")}


@tabled
def test_what_cannot_be_swept_is_refused(values, changed, told) -> None:
    assert sweep_values([], TrainConfig()) == list(VALUES)
    with pytest.raises(InputError, match=told):
        sweep_values(values, TrainConfig(**changed))


def test_short_long_and_mix_have_equally_many_rows_by_a_flag(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = {}
    for recipe in ("short", "long", "mix"):
        with pytest.raises(SystemExit) as stopped:
            main([
                "train", str(base), "--recipe", recipe, "--set", "equal_rows=true",
                "--train-limit", "14",
                "--export", "trl", "--set", f"cache={base.parent / 'cache'}",
                "--out", str(tmp_path / recipe),
            ])  # fmt: skip
        assert not stopped.value.code
        assert "equal rows: " in " ".join(capsys.readouterr().out.split())
        data = tmp_path / recipe / "export"
        lines[recipe] = [
            len((data / f"sayso_{stage}.jsonl").read_text().splitlines())
            for stage in ("sft", "dpo")
        ]
    assert lines["short"] == lines["long"] == lines["mix"]
    assert min(lines["mix"]) > 10
    before = read_training(tmp_path / "mix")
    assert before.settings["equal_rows"] is True
    with pytest.raises(SystemExit) as stopped:  # other rows: another training
        main([
            "train", str(base), "--train-limit", "14", "--export", "trl",
            "--set", f"cache={base.parent / 'cache'}", "--out", str(tmp_path / "mix"),
        ])  # fmt: skip
    assert stopped.value.code == 2
    assert "contains a training with equal_rows True" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--values", "0.1,0.2"], "--values needs --sweep: add"),
        (["--sweep", "xi", "--values", "a,b"], "expected numbers"),
        (["--sweep", "xi", "--export", "trl"], "not of a sweep"),
    ],
)
def test_flags_that_do_not_go_together_are_told(given, told, capsys, tmp_path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["train", str(tmp_path), *given])
    assert stopped.value.code == 2
    assert told in " ".join(capsys.readouterr().err.split())
