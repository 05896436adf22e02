"""`builtin-trained`: small, safe to open, measured with the base model's probes, and better."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("peft")

import torch
from builtin_model import trained

import sayso
from sayso.engines import open_model
from sayso.engines.named import shipped_folder
from sayso.records import InputError
from sayso.studies.grid import read_grid

NUMBERS = ("p_known", "J")
FOLDER = shipped_folder("builtin-trained")


def test_it_is_small_and_holds_no_pickle() -> None:
    files = [file for file in FOLDER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 2_000_000
    weights = {file.name for file in files if file.suffix not in {".json", ".md", ".jinja"}}
    assert weights == {"adapter_model.safetensors"}


def test_it_names_its_base_by_name_and_no_place_where_it_was_made() -> None:
    config = json.loads((FOLDER / "adapter_config.json").read_text("utf-8"))
    card = json.loads((FOLDER / "sayso.json").read_text("utf-8"))
    assert config["base_model_name_or_path"] == card["base_name"] == "builtin"
    assert (card["base_run"], card["seed"], card["recipe"]) == ("", 0, "calibrated")


def test_its_card_is_written_from_the_recorded_numbers() -> None:
    numbers = json.loads((FOLDER / "numbers.json").read_text("utf-8"))
    text = (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert text == trained.write(numbers)
    assert "nothing about real language models" in text
    assert numbers["size"] == (FOLDER / "adapter_model.safetensors").stat().st_size
    assert numbers["signature"] == json.loads((FOLDER / "sayso.json").read_text())["signature"]
    short, long = (numbers["estimates"]["sft"][form]["J"] for form in ("short", "long"))
    assert short["low"] > 0.2
    assert long["low"] > 0.15


def test_it_opens_by_name_as_a_model_trained_from_builtin() -> None:
    base, model = (open_model(name, weights=False) for name in ("builtin", "builtin-trained"))
    assert (model.name, model.signature) == ("builtin-trained", "builtin-trained@1")
    assert model.base == base.identity == base.base
    assert model.identity != base.identity
    by_folder = open_model(f"hf:{FOLDER}", weights=False)
    assert by_folder.identity == model.identity  # one cache for both names


def test_a_run_without_the_base_models_probes_is_refused(tmp_path: Path) -> None:
    wanted = r"builtin-trained was trained from builtin.*sayso study --models builtin builtin-train"
    with pytest.raises(InputError, match=wanted):
        sayso.run("uncle", model="builtin-trained", limit=1, out=tmp_path / "run", cache=tmp_path)


@pytest.mark.parametrize("order", [("builtin", "builtin-trained"), ("builtin-trained", "builtin")])
def test_a_study_takes_known_and_unknown_from_the_base(order: tuple[str, ...]) -> None:
    grid = read_grid({"models": list(order), "protocols": ["uncle", "selective"], "out": "here"})
    froms = {
        (cell.model, cell.protocol): getattr(cell.job.options, "known_from", "none")
        for cell in grid.cells
    }
    assert froms == {
        ("builtin", "uncle"): "self",
        ("builtin", "selective"): "none",
        ("builtin-trained", "uncle"): str(Path("here/builtin/builtin/uncle")),
        ("builtin-trained", "selective"): "none",
    }
    first = [cell.model for cell in grid.cells if cell.protocol == "uncle"]
    assert first == ["builtin", "builtin-trained"]


def test_a_study_matches_a_base_model_that_is_opened_alike() -> None:
    half = {"model": "builtin", "name": "half", "dtype": "bfloat16"}
    grid = read_grid({"models": [half, "builtin-trained"], "protocols": ["uncle"]})
    assert [cell.job.options.known_from for cell in grid.cells] == ["self", "self"]


def test_training_raised_j(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.studies.run.write_page", lambda result: None)
    study = sayso.study(
        {
            "models": ["builtin-trained", "builtin"],
            "protocols": ["uncle"],
            "limit": 25,
            "out": tmp_path / "study",
            "cache": tmp_path,
        }
    )
    base, model = (study.find("uncle", m, "builtin") for m in ("builtin", "builtin-trained"))
    assert base is not None
    assert model is not None
    for form in ("short", "long"):
        known, j = ([of.results.get(n, form=form).value for of in (base, model)] for n in NUMBERS)
        assert known[0] == known[1]
        assert abs(j[0]) < 0.1
        assert j[1] > j[0] + 0.15


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.write_text, (self.place, "opened")


def test_a_pickled_adapter_is_refused_even_beside_other_safetensors(tmp_path: Path) -> None:
    folder, sprung = tmp_path / "adapter", tmp_path / "sprung"
    shutil.copytree(FOLDER, folder)
    (folder / "adapter_model.safetensors").rename(folder / "other.safetensors")
    torch.save({"weight": Trap(sprung)}, folder / "adapter_model.bin")
    with pytest.raises(InputError, match=r"would load 'adapter_model\.bin'.*expected \*\.safetens"):
        open_model(f"hf:{folder}")
    assert not sprung.exists()
