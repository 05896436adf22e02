"""A change of the code's structure moves no number: what was frozen before it stays.

A change that means to move numbers writes the frozen ones anew (``support/frozen.py``).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sayso
from sayso import report
from support import frozen
from support.declared import only_declared

pytest.importorskip("torch")
pytest.importorskip("transformers")

FROZEN = Path(__file__).parent / "golden" / "frozen"
#: the data sets of the stored study
STUDIED = ["diseases", "people"]


def held(name: str, lines: list[str]) -> None:
    before = (FROZEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    moved = frozen.differences(before, lines)
    assert not moved, f"{name}: {len(moved)} lines moved, first " + "; ".join(moved[:5])


class Runs:
    """The run of each protocol, made once, with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: dict[str, dict[str, list[str]]] = {}

    def cache(self, protocol: str) -> Path:
        return self.folder / f"cache-{protocol}"

    def of(self, protocol: str) -> Path:
        """Return the folder of a protocol's run; ``lines`` has what it gave."""
        path = self.folder / protocol
        if protocol not in self.lines:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SAYSO_CACHE", str(self.cache(protocol)))
                only_declared(patch)
                self.lines[protocol] = frozen.run(protocol, path)
        return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("frozen"))


@pytest.mark.parametrize("protocol", frozen.PROTOCOLS)
def test_a_run_gives_the_frozen_numbers_tables_and_page(protocol: str, runs: Runs) -> None:
    runs.of(protocol)
    for kind, lines in runs.lines[protocol].items():
        assert lines
        held(f"{protocol}.{kind}", lines)


def test_scores_and_differences_are_the_frozen_ones(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selective = runs.of("selective")
    monkeypatch.setenv("SAYSO_CACHE", str(runs.cache("selective")))
    other = tmp_path / "other"
    sayso.run(
        "selective", limit=frozen.ENTITIES, seed=1, out=other, dtype=frozen.DTYPE, report=False
    )
    held("score", frozen.scored(selective, tmp_path))
    held("selective.compared", frozen.compared(selective, other))


def test_training_rows_are_the_frozen_ones(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(runs.cache("uncle")))
    base = frozen.training_base(tmp_path)
    for recipe in ("mix", "calibrated"):
        held(f"train.{recipe}", frozen.exported(base, tmp_path / recipe, recipe))


@pytest.mark.parametrize("part", frozen.STORED)
def test_stored_runs_give_the_frozen_numbers(part: str, tmp_path: Path) -> None:
    for name, lines in frozen.STORED[part](tmp_path):
        assert lines
        held(name, lines)


def test_a_study_of_version_0_2_0_still_opens(tmp_path: Path) -> None:
    (study,) = frozen.copied(tmp_path, "study")
    for run in sorted((study / "builtin-trained" / "people").iterdir()):
        before, today = frozen.measured(run)
        assert before
        # what 0.2.0 did not count yet: the AUROC of claims by part of the text, what answers did,
        # and texts without claims under this name
        today = [one for one in today if not (one.startswith("auroc\t") and ";part:" in one)]
        new = "answer_count", "answers_without_claims"
        today = [one for one in today if not any(name in one for name in new)]
        before = [one.replace("--demos.questions", "demos.questions") for one in before]  # a flag
        # a fact that a long answer omits lacks no verdict
        omitted = re.compile(r"^(error_rate\tform:long;against:rules(?:\t[^\t]+){6}\t)\d+")
        before = [omitted.sub(r"\g<1>0", one) for one in before]
        # and it is one that is not right
        right = re.compile(r"^(accuracy\tform:long;method:\w+)\t.*\t(#\w+)$")
        before, today = ([right.sub(r"\1 \2", one) for one in part] for part in (before, today))
        # intervals of rankings hold with heavy tails now; thin bins are told with their bias
        ranked = re.compile(r"^((?:auroc|prr|audit)\w*\t[^\t]+\t[^\t]+)\t.*\t(#\w+)$")
        bins = re.compile(r"\tno interval: (?:levels of confidence|too few per bin)[^\t]*")
        before, today = (
            [bins.sub("\tbins", ranked.sub(r"\1 \2", one)) for one in part]
            for part in (before, today)
        )
        assert not frozen.differences(sorted(before), sorted(today)), run.name
        assert report.write(run).is_file()
    found = sayso.study([study], resamples=100)
    assert len(found.runs) == len(list(study.rglob("manifest.json")))
    assert (found.models, found.data) == (["builtin", "builtin-trained", "guesser"], STUDIED)
    assert all(run.manifest.sayso == "0.2.0" for run in found.runs)


def test_a_moved_number_is_seen() -> None:
    line = "J\tform:long\t0.25\t0.1"
    assert not frozen.differences([line], ["J\tform:long\t0.25000000001\t0.1"])
    assert frozen.differences([line], ["J\tform:long\t0.2501\t0.1"])
    assert frozen.differences([line], ["J\tform:short\t0.25\t0.1"])
    assert frozen.differences([line], [])
    new = "FA\tform:long\t0.5"
    assert frozen.differences([line, line], [line, new, line]) == [f"after line 1: new {new!r}"]
    assert frozen.differences([line, new, line], [line, line]) == [
        f"line 2: frozen {new!r}, now gone"
    ]
    noisy = "J\tform:long\t0.25000000001\t0.1"
    assert frozen.updated([line, line], [noisy, new, noisy]) == [line, new, line]
