"""``sayso run selective`` on the built-in model: the scores tell, length does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from sayso import cli
from sayso.protocols import selective
from sayso.runs import measure


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> measure.Result:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("builtin")
    chosen = selective.Settings(resamples=200)
    return sayso.run(
        "selective", limit=60, options=chosen, out=folder / "r", cache=folder / "c", report=False
    )


def test_probability_and_meaning_tell_within_type_and_length_does_not(run) -> None:
    for form in ("short", "long"):
        where = f"form:{form};against:rules;score:"
        for score in ("sequence_probability", "semantic_entropy"):
            found = run.get("auroc_within", where + score)
            assert found.low > 0.7, found
        length = run.get("auroc_within", f"{where}length_words")
        assert length.low <= 0.5 <= length.high, length


def test_every_score_has_a_value_or_a_reason(run) -> None:
    from sayso.scores import SCORES

    for form in ("short", "long"):
        for score in (*SCORES, "p_ik"):
            found = run.get("auroc", f"form:{form};against:rules;score:{score}")
            assert (found.value is None) == (found.problem is not None), found


def test_commands_work_on_the_run(
    run, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = str(run.path)
    assert cli.execute(["measure", folder, "--set", "rouge_threshold=0.3"]) == 0
    assert "printed only" in capsys.readouterr().out
    assert cli.execute(["report", folder]) == 0
    assert cli.execute(["compare", folder, folder, "--set", "resamples=100"]) == 0
    assert "0.00 [0.00, 0.00]" in " ".join(capsys.readouterr().out.split())
    assert cli.execute(["measure", folder, "--set", "probe.k=3"]) == 2
    assert "setting 'probe.k' is unknown" in capsys.readouterr().err
    assert cli.execute(["run", "selective", "--nli", "no/such-model-here", "--limit", "2"]) == 2
    assert "no/such-model-here" in capsys.readouterr().err
