"""The GitHub Action of the documentation: its shell part runs as it stands there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import sayso
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from support.scripted_world import Mind, facts, records, write

CI = Path(__file__).parent.parent.parent / "docs" / "ci"
ACTION: dict[str, Any] = yaml.safe_load((CI / "action.yml").read_text(encoding="utf-8"))
DECIDE, COMMENT = ACTION["runs"]["steps"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run, and sayso on the path."""
    folder, world = tmp_path_factory.mktemp("workspace"), facts(8)
    sayso.run(
        model=Mind(world, lambda fact: 1.0).engine(),
        data=str(write(folder / "q.jsonl", records(world))),
        out=folder / "runs" / "gate",
        cache=folder / "cache",
        options=replace(uncle.Settings(), {"resamples": 100, "probe.k": 2, "short_only": True}),
        report=False,
    )
    program = folder / "bin" / "sayso"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sayso "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return folder


def stepped(place: Path, step: dict[str, Any], **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Run the shell of a step as the runner does; return code, output and the step's outputs."""
    files = {name: place / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
    env = {
        name: given[source.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, source in step["env"].items()
        if source.startswith("${{ inputs.")
    }
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=place, capture_output=True, text=True, check=False,
        env={**os.environ, **env, "PATH": path, **{k: str(v) for k, v in files.items()}},
    )  # fmt: skip
    rows = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
    outputs = dict(row.split("=", 1) for row in rows)
    outputs["summary"] = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    return done.returncode, done.stdout + done.stderr, outputs


def test_the_action_decides_and_shows_what_it_decided(place: Path) -> None:
    texts = "KCR[short] >= .5\n\n  missing <= 2%  \n"
    code, out, outputs = stepped(place, DECIDE, run="runs/gate", assertions=texts)
    assert code == 0, out
    assert outputs["exit-code"] == "0"
    assert outputs["summary"].count("✅ holds") == 2
    assert (place / "sayso-verdicts.xml").read_text(encoding="utf-8").count("<testcase") == 2


@pytest.mark.parametrize(
    ("inputs", "code", "own", "words"),
    [
        ({"assertions": "KCR[short] <= .5"}, 1, "1", "does not"),
        ({"assertions": "KCR[short] >= .999"}, 0, "3", "::warning title=sayso::"),
        ({"assertions": "KCR[short] >= .999", "strict": "true"}, 1, "1", "cannot say yet"),
        ({"assertions": "KCR >= $(touch x) `touch x` .5"}, 2, "2", "is no number"),
        ({"assertions": "KCR[short] not worse by .05", "base": "runs/gate"}, 0, "0", "holds"),
    ],
    ids=["does not", "cannot say", "strict", "mistake", "compare"],
)
def test_the_action_ends_as_the_verdict_says(
    place: Path, inputs: dict[str, str], code: int, own: str, words: str
) -> None:
    done, out, outputs = stepped(place, DECIDE, run="runs/gate", **inputs)
    assert (done, outputs["exit-code"]) == (code, own), out
    assert words in out
    told = "nothing was decided" in outputs["summary"]  # and nothing of an earlier step is shown
    assert told is (own == "2")
    assert not (place / "x").exists()


def test_nothing_that_others_write_is_part_of_a_script() -> None:
    """An expression inside a script is code: a title of a pull request could be a command."""
    for step in (DECIDE, COMMENT):
        assert "${{" not in step["run"]
    workflow = yaml.safe_load((CI / "gate.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["gate"]["steps"]
    assert all("${{" not in step.get("run", "") for step in steps)
    used = next(step["with"] for step in steps if step.get("uses", "").endswith("sayso-gate"))
    assert used.keys() <= ACTION["inputs"].keys()
    assert {n for n, one in ACTION["inputs"].items() if one.get("required")} <= used.keys()
