"""Further seeds for a finished training: only they are trained and measured, killed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError, signature_text
from sayso.train import proof
from sayso.train.config import TrainConfig
from sayso.train.result import FILE, Training, read_training
from sayso.train.training import fit

FEW: dict[str, Any] = {
    "paragraphs": 0, "sft_rows": 16, "sft_epochs": 1.0, "extra": {"training.sft.batch": 8}
}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("seeds")
    sayso.run(
        "uncle", split="dev", limit=5, out=place / "base", cache=place / "cache",
        options=Settings(resamples=100), report=False,
    )  # fmt: skip
    return place / "base"


def fitted(base: Path, cache: str = "cache", **more: Any) -> tuple[Path, Training]:
    given = {"stages": "sft", "train_limit": 10, "resamples": 100} | FEW
    return fit(base, config=TrainConfig(**given | more), cache=base.parent / cache)


def files(folder: Path, *seeds: int) -> dict[Path, int]:
    """Return when each file of these seeds was last written."""
    found = [
        path
        for seed in seeds
        for part in (f"adapters/sft-{seed}", f"runs/sft-{seed}", f"forced/sft-{seed}.json")
        for path in [folder / part, *(folder / part).rglob("*")]
    ]
    assert found
    return {path: path.stat().st_mtime_ns for path in found if path.is_file()}


def test_further_seeds_alone_are_trained_and_measured(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trl = pytest.importorskip("trl")
    trained: list[int] = []
    train = trl.SFTTrainer.train

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        trained.append(self.args.seed)
        return train(self, *args, **kwargs)

    monkeypatch.setattr(trl.SFTTrainer, "train", counted)
    folder, first = fitted(base, seeds=2)
    assert trained == [0, 1]
    assert [m.seeds for m in first.methods if m.kind == "trained"] == [(0, 1)]
    before = files(folder, 0, 1)

    def killed(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    # killed while the third seed is trained: the findings of two stay as they were
    with monkeypatch.context() as patch:
        patch.setattr(trl.SFTTrainer, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            fitted(base, seeds=3)
    assert read_training(folder) == first
    assert fitted(base, seeds=2)[1].cells == first.cells

    # killed while it is measured
    with monkeypatch.context() as patch:
        patch.setattr(proof, "_chosen", killed)
        with pytest.raises(KeyboardInterrupt):
            fitted(base, seeds=3)
    assert trained == [0, 1, 2]
    assert read_training(folder).cells == first.cells

    # with no stored reply at all: what was measured is read from its folder
    asked = count_requests(monkeypatch)
    again, more = fitted(base, seeds=3, cache="empty")
    assert again == folder
    assert trained == [0, 1, 2]
    assert asked == []
    assert files(folder, 0, 1) == before
    (method,) = (m for m in more.methods if m.kind == "trained")
    assert method.seeds == more.seeds == (0, 1, 2)
    assert {c.seed for c in more.curves} == {0, 1, 2}
    old = {(c.form, c.estimate.name): c.by_seed for c in first.cells if c.method == "sft"}
    new = {(c.form, c.estimate.name): c.by_seed for c in more.cells if c.method == "sft"}
    assert old.keys() == new.keys()
    assert all(new[name][:2] == own and len(new[name]) == 3 for name, own in old.items())
    assert more.created == first.created
    assert "seeds:3" in signature_text(more.signature)
    assert all(more.timings[name] >= spent for name, spent in first.timings.items())

    with pytest.raises(InputError, match=r"would leave out 2: pass at least --seed 0 --seeds 3,"):
        fitted(base, seeds=2)
    with pytest.raises(InputError, match="contains a finished training"):
        fit(
            base, folder, export="trl", cache=base.parent / "cache",
            config=TrainConfig(stages="sft", train_limit=10, **FEW),
        )  # fmt: skip
    assert read_training(folder).cells == more.cells


def count_requests(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with everything that a model is asked from now on."""
    from sayso.engines.hf.engine import HfEngine

    asked: list[Any] = []
    complete = HfEngine.complete

    def counted(self: Any, requests: Any) -> Any:
        held = list(requests)
        asked.extend(held)
        return complete(self, held)

    monkeypatch.setattr(HfEngine, "complete", counted)
    return asked


def test_an_unfinished_training_may_get_fewer_seeds(base: Path, tmp_path: Path) -> None:
    """Nothing was found yet: nothing would be left out."""

    def begun(**more: Any) -> Training:
        given = {"train_limit": 10, "paragraphs": 0}
        return fit(
            base, tmp_path / "out", export="trl", cache=base.parent / "cache",
            config=TrainConfig(**given | more),
        )[1]  # fmt: skip

    begun()
    assert begun(seed=3).seeds == (3,)
    assert read_training(tmp_path / "out").seeds == (3,)
    with pytest.raises(InputError, match="rows of one seed, not of 2"):
        begun(seeds=2)
    assert (tmp_path / "out" / FILE).is_file()
