"""Which data a run asks about by default, and what it says where they do not fit the model."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.datasets import FOREIGN, default_data
from sayso.engines.named import shipped_folder
from sayso.progress import Progress
from sayso.protocols.protocol import MISFIT
from sayso.protocols.uncle.notes import misfit
from sayso.records import Estimate, InputError
from sayso.runs.dry_run import estimate_job, plan_text
from sayso.runs.job import Job
from sayso.runs.measure import measure
from sayso.studies.grid import read_grid
from sayso.train.result import ModelCard, write_card
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, facts, records, write

WORLD = facts(6)


def trained(folder: Path, name: str, base: str) -> str:
    """Make a folder that a training left, as far as its card."""
    write_card(folder / name, ModelCard(kind="sft", base="b", base_name=base))
    return f"hf:{folder / name}"


@pytest.mark.parametrize(
    "model", ["smollm2", "hf:Qwen/Qwen3-4B", "hf:m.gguf", "openai:gpt-4o", "http://x/v1#m",
              "vllm:a/b", "@endpoints.txt", ""],
)  # fmt: skip
def test_any_other_model_is_asked_about_the_real_world(model: str) -> None:
    assert default_data(model) == "world"
    assert Job(model=model).data_set == "world"


def test_the_builtin_model_and_what_was_trained_from_it_keep_their_world(tmp_path: Path) -> None:
    first = trained(tmp_path, "sft", "builtin")
    second = trained(tmp_path, "dpo", first)
    plain = tmp_path / "plain"  # an adapter of other tools has no card
    plain.mkdir()
    base = {"base_model_name_or_path": str(shipped_folder("builtin"))}
    (plain / "adapter_config.json").write_text(json.dumps(base))
    for model in ("builtin", first, second, f"hf:{plain}", f"hf:{shipped_folder('builtin')}"):
        assert default_data(model) == "builtin", model
    other = trained(tmp_path, "other", "hf:Qwen/Qwen3-4B")
    around = trained(tmp_path, "around", f"hf:{tmp_path / 'around'}")  # its card names itself
    assert [default_data(model) for model in (other, around)] == ["world", "world"]


def test_an_engine_is_asked_about_the_real_world_unless_it_is_the_builtin_one() -> None:
    assert default_data(ScriptedEngine({}, "mine")) == "world"
    assert default_data(sayso.open_model("builtin")) == "builtin"


def test_a_study_asks_about_what_fits_all_its_models() -> None:
    def asked(*models: str, **given: list[str]) -> set[str]:
        grid = read_grid({"models": list(models), "protocols": ["uncle"], **given})
        return {cell.data for cell in grid.cells}

    assert asked("builtin") == {"builtin"}
    assert asked("smollm2", "openai:gpt-4o") == {"world"}
    with pytest.raises(InputError, match=r"no set fits all models .builtin for builtin, world for"):
        asked("builtin", "smollm2")
    assert asked("builtin", "smollm2", data=["builtin"]) == {"builtin"}


class Told(Progress):
    """Progress that keeps its notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def shown(result: Any) -> list[str]:
    """Return the lines of the terminal."""
    out = io.StringIO()
    report.render_run(result.estimates, Console(file=out, width=1000), result.manifest)
    return [line for line in out.getvalue().splitlines() if line.strip()]


def test_a_real_model_in_the_invented_world_is_told_first(tmp_path: Path) -> None:
    mute = ScriptedEngine(lambda request: "Paris.", "mine", logprob=-0.5)
    job = Job(model=mute, data="builtin", limit=2, cache=tmp_path / "cache")
    assert plan_text(estimate_job(job)).splitlines()[0].startswith(f"! {FOREIGN}")
    told = Told()
    result = sayso.run(
        model=mute, data="builtin", limit=2, cache=tmp_path / "cache", out=tmp_path / "run",
        settings={"resamples": 100}, progress=told,
    )  # fmt: skip
    assert told.notes[0].startswith(FOREIGN)
    assert result.manifest.cautions[0].startswith(FOREIGN)
    assert "pass --data" not in result.manifest.cautions[0]  # it says to leave data out
    assert not any(text.startswith(MISFIT) for text in result.manifest.cautions)
    assert shown(result)[0].startswith(f"! {FOREIGN}")
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index(FOREIGN) < page.index("facts it knew")
    assert measure(result).manifest.cautions == result.manifest.cautions


def test_the_builtin_model_and_other_data_get_no_such_line(tmp_path: Path) -> None:
    assert not estimate_job(Job(model="builtin", limit=1, cache=tmp_path)).cautions
    assert not estimate_job(Job(model=ScriptedEngine({}, "mine"), limit=1, cache=tmp_path)).cautions


@pytest.mark.parametrize(
    ("knows", "said"),
    [(0.0, ("hard", "0 of 18 facts", "known", "popqa")),
     (1.0, ("easy", "18 of 18 facts", "unknown", "simpleqa"))],
)  # fmt: skip
def test_too_hard_and_too_easy_questions_are_told_first(
    tmp_path: Path, knows: float, said: tuple[str, ...]
) -> None:
    mind = Mind(WORLD, lambda f: knows, guess=lambda fact, draw: "Nowhere")
    result = sayso.run(
        model=mind.engine("mine"), data=write(tmp_path / "q.jsonl", records(WORLD)),
        cache=tmp_path / "cache", out=tmp_path / "run", settings={"resamples": 100},
        report=False,
    )  # fmt: skip
    level, known, few, sets = said
    caution = result.manifest.cautions[0]
    assert caution.startswith(f"{MISFIT}{level} for this model: it knew {known}.")
    assert f"almost no {few} ones" in caution
    assert sets in caution
    assert shown(result)[0] == f"! {caution}"
    assert measure(result).manifest.cautions == result.manifest.cautions


def test_questions_of_which_it_knows_some_get_no_such_line(tmp_path: Path) -> None:
    mind = Mind(WORLD, lambda f: 1.0 if f.aspect in ("birthplace", "source") else 0.0)
    result = sayso.run(
        model=mind.engine("mine"), data=write(tmp_path / "q.jsonl", records(WORLD)),
        cache=tmp_path / "cache", out=tmp_path / "run", settings={"resamples": 100}, report=False,
    )  # fmt: skip
    assert not any(text.startswith(MISFIT) for text in result.manifest.cautions)


@pytest.mark.parametrize(("n", "warned"), [(9, False), (10, True)])
def test_of_nine_facts_nobody_says_that_they_are_too_hard(n: int, warned: bool) -> None:
    none_known = Estimate("p_known", (("form", "short"),), 0.0, numerator=0, denominator=n, n=n)
    assert bool(misfit([none_known])) == warned
