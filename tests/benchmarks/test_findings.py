"""The study findings.py: its rule by hand, and a short form on the real data."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "benchmarks" / "findings"


@pytest.fixture(scope="module")
def findings() -> ModuleType:
    sys.path.insert(0, str(STUDIES))
    return importlib.import_module("findings")


@pytest.fixture(scope="module")
def check() -> ModuleType:
    sys.path.insert(0, str(STUDIES))
    return importlib.import_module("findings_check")


# Least size .10. An interval decides by where it lies, whatever the figure in it.
RULE = [
    ("more", 0.05, 0.30, "found"),  # above 0, and .10 is not excluded
    ("more", 0.01, 0.09, "not found"),  # above 0, but too small to count
    ("more", -0.20, 0.09, "not found"),
    ("more", -0.30, -0.20, "not found"),  # the other way round
    ("more", -0.05, 0.15, "cannot say"),
    ("less", -0.30, -0.05, "found"),
    ("less", -0.09, -0.01, "not found"),
    ("less", 0.20, 0.30, "not found"),
    ("less", -0.15, 0.05, "cannot say"),
    ("same", -0.05, 0.09, "found"),
    ("same", 0.02, 0.09, "found"),  # there, and too small to count
    ("same", 0.02, 0.30, "not found"),
    ("same", -0.30, -0.15, "not found"),
    ("same", -0.05, 0.15, "cannot say"),
    ("more", None, None, "cannot say"),
]


@pytest.mark.parametrize(("way", "low", "high", "expected"), RULE)
def test_the_interval_decides(
    findings: ModuleType, way: str, low: float | None, high: float | None, expected: str
) -> None:
    claim = findings.Claim("", "", "", way, ())
    assert findings.verdict(claim, findings.Line("", "", 0.1, low, high, {})) == expected


def test_pooled_lines_are_no_evidence_of_their_own(findings: ModuleType) -> None:
    claim = findings.CLAIMS["known"]
    one = findings.Line("data, one", "u", 0.3, 0.2, 0.4, {})
    two = findings.Line("data, two", "u", 0.0, -0.1, 0.05, {})
    both = findings.Line("data, all 2", "u", 0.2, 0.15, 0.25, {}, pooled=True)
    result = findings.Result("known", claim, [one, two, both], [])
    assert findings.summary([result]).endswith("| 1 | 1 | 0 |")
    table = findings.table(result, everything=False)
    assert "| .200 [.150, .250] | pooled: found |" in table
    assert "| **found** |" in table
    assert table.endswith(findings.POOLED)
    assert findings.POOLED not in findings.table(result._replace(lines=[one, two]), everything=True)


def test_lenience_by_hand(findings: ModuleType) -> None:
    # 2 of 4 wrong answers accepted, 1 of 5 right ones refused: .5 - .2
    accepted, right = [1, 1, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert findings.lenience(accepted, right) == pytest.approx(0.3)
    # the first wrong answer twice: 3 of 5 - 1 of 5; and nothing but right ones
    weights = np.ones((2, 9))
    weights[0, 0], weights[1, :4] = 2, 0
    twice, undefined = findings.lenience(accepted, right, weights)
    assert twice == pytest.approx(0.4)
    assert np.isnan(undefined)
    assert findings.lenience([1, 0], [1, 1]) is None


@pytest.mark.parametrize(
    ("fall", "noise", "texts", "expected"),
    [(0.5, 0.05, 20, "found"), (0.0, 0.05, 20, "not found"), (0.1, 1.0, 6, "cannot say")],
)
def test_a_fall_along_the_text_need_not_be_there(
    findings: ModuleType, fall: float, noise: float, texts: int, expected: str
) -> None:
    rng = np.random.default_rng(0)
    placed = [
        findings.Placed(text, text, i, 10, 0.8 - fall * i / 10 + noise * rng.normal())
        for text in range(texts)
        for i in range(1, 11)
    ]
    study = findings.Study(Path(), resamples=300)
    line = findings.slope(study, "made up", "sentence", "text", placed)
    assert findings.verdict(findings.CLAIMS["support"], line) == expected


def test_data_that_are_not_there_are_named(findings: ModuleType, tmp_path: Path) -> None:
    results = findings.measure(findings.Study(tmp_path))
    assert [len(r.lines) for r in results] == [0] * len(findings.CLAIMS)
    page = findings.page(results)
    for name in ("evouna/NQ.jsonl", "real/fables.jsonl.gz", "linguistic_uncertainty/benchmark.csv"):
        assert name in page
    assert page.count("no data") == len(findings.CLAIMS)


def test_only_what_is_between_the_marks_is_written(findings: ModuleType) -> None:
    text = f"before\n{findings.BEGIN}\nold\n{findings.END}\nafter\n"
    made = findings.written(text, "new", "make findings")
    assert made.startswith("before\n")
    assert made.endswith("\nafter\n")
    assert "new" in made
    assert "old" not in made
    with pytest.raises(SystemExit, match="no place for the tables"):
        findings.written("no marks", "new", "make findings")


def test_a_short_form_agrees_with_the_check(
    findings: ModuleType, check: ModuleType, test_data: Path
) -> None:
    """One source in sixteen; on all of the data: benchmarks/README.md."""
    study = findings.Study(test_data, part=16, resamples=200)
    results = findings.measure(study)
    missing = [name for r in results for name in r.missing]
    if missing:
        pytest.skip(f"not in the folder of labeled data: {', '.join(missing)}")
    stored = findings.figures(results, study)
    compared = list(check.compare(test_data, stored))
    assert len(compared) == sum(len(r.lines) for r in results) > 100
    far = [
        (line.data, other["figure"], value)
        for line, other, value in compared
        if not check.alike(np.nan if other["figure"] is None else other["figure"], value)
    ]
    assert not far
    told = {(line["claim"], line["data"]): line["verdict"] for line in stored["lines"]}
    assert set(told.values()) == {"found", "not found", "cannot say"}
    assert told["rouge", "EVOUNA, the four chat systems"] == "found"
    assert told["rouge", "EVOUNA, FiD, a span reader"] == "not found"
    assert told["judges", "EVOUNA, five systems; judge: ROUGE-L above .5"] == "not found"


def test_the_page_has_every_claim(findings: ModuleType) -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    for claim in findings.CLAIMS.values():
        assert claim.text in page
        assert findings.needed(claim) in page
