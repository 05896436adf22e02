"""Rows from a real run of the built-in model: the document's own code, and what the rows hold."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from sayso.storage.run_folder import RunFolder
from sayso.train.config import RowSettings
from sayso.train.draws import facts_in
from sayso.train.recipes.logu import logu, uncle_pairs
from sayso.train.rows import Fact

STUDY = Path(__file__).parents[2] / "benchmarks" / "models" / "uncle_pairs.py"
DOCUMENT = Path(__file__).parents[2] / "docs" / "training.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pairs")
    options = replace(uncle.Settings(), {"probe.k": 10, "resamples": 100})
    sayso.run(
        split="train",
        limit=15,
        out=place / "runs" / "train",
        cache=place / "cache",
        options=options,
        report=False,
    )
    return place


@pytest.fixture(scope="module")
def facts(folder: Path) -> list[Fact]:
    return facts_in(RunFolder.open(folder / "runs" / "train"))


def test_the_code_of_the_document_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = DOCUMENT.read_text(encoding="utf-8").split("\n## Pairs\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(folder)
    exec(compile(code, str(DOCUMENT), "exec"), {})
    number, _, files = capsys.readouterr().out.partition(" ")
    assert files.strip() == f"{{'sayso_dpo.json': {number}}}"
    assert int(number) >= 20
    assert (folder / "rows" / "dataset_info.json").is_file()


def test_prompts_are_what_a_run_asks(facts: list[Fact]) -> None:
    """A row whose prompt differed by a character would ask another question."""
    assert all(f.prompt == f.question.text for f in facts)
    assert {f.form for f in facts} == {"short", "long"}


def test_the_judge_reads_re_worded_paragraphs_as_they_were_meant(facts: list[Fact]) -> None:
    right = wrong = missed = 0
    by_id = {f.question.id: f for f in facts}
    for row in logu(facts, RowSettings(cut="all"), want="sft"):
        (paragraph,) = by_id[row.questions[0]].paragraphs
        parts = [t.question for t in paragraph.mentions]
        read = sayso.judge_rules_long([(p.text, p.golds or ()) for p in parts], row.chosen)
        for told, verdict in zip(paragraph.mentions, read, strict=True):
            lucky = not any(by_id[told.question.id].right)
            if told.right and not lucky:
                right += 1
                missed += verdict.value != "correct"
            elif told.right is False:
                wrong += 1
                missed += verdict.value != "uncertain"
    assert right > 30
    assert wrong > 30
    assert missed <= 0.06 * (right + wrong)


def test_uncles_pairs_drop_and_state_no_wrong_fact_and_doubt_every_right_one(
    facts: list[Fact],
) -> None:
    """Appendix D.2, counted by the offline judge on the pairs of the built-in model's paragraphs.

    benchmarks/models/uncle_pairs.py counts the same on sixty entities.
    """
    spec = importlib.util.spec_from_file_location("uncle_pairs", STUDY)
    assert spec is not None
    assert spec.loader is not None
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    rows = uncle_pairs(facts)
    counted = study.count_pairs(facts, rows)
    assert counted["pairs"] >= 10
    assert min(counted["wrong facts"], counted["right facts"]) >= 20
    amiss = {name: n for name, n in counted.items() if "not as they should be" in name}
    assert set(amiss.values()) == {0}, amiss
    # a pair that is the wrong way round is seen
    turned = [msgspec.structs.replace(r, chosen=r.rejected, rejected=r.chosen) for r in rows]
    assert study.count_pairs(facts, turned)["wrong facts not as they should be in chosen"] >= 20
