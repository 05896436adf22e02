"""What stands beside lm-polygraph: how memory is read, and which model and questions both get."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "speed"))

import peers  # noqa: E402
from peers_parts import loaded, memory  # noqa: E402
from peers_shown import print_generation  # noqa: E402

linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux tells memory")


@linux
def test_weights_that_are_only_mapped_count_as_loaded(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(bytes(64 << 20))
    model = torch.nn.Module()
    mapped = torch.from_file(str(file), shared=False, size=16 << 20, dtype=torch.float32)
    model.weight = torch.nn.Parameter(mapped)
    before = memory("VmRSS")
    assert loaded(model) - before > 60


@linux
def test_what_loading_took_at_its_peak_is_not_the_work_s() -> None:
    held = torch.zeros(32 << 20)  # 128 MB
    most = memory("VmHWM")
    del held
    loaded(torch.nn.Module())
    assert memory("VmHWM") < most - 60


def test_the_memory_that_is_judged_is_that_of_the_whole_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def side(peak: float, loaded: float, seconds: float) -> dict[str, Any]:
        memory = {"peak": peak, "loaded": loaded, "by": {}}
        counts = {"calls": 10, "slots": 100}
        return {"lm": counts, "nli": {}, "cpu": {"all": seconds}, "memory": memory, "real": 90,
                "without a value": 0}  # fmt: skip

    # less than half is left where packages and weights are taken off, more than half is not
    print_generation(side(2000.0, 1000.0, 100.0), side(1200.0, 1100.0, 90.0))
    rows = capsys.readouterr().out.splitlines()
    (memory,) = [row for row in rows if "peak memory" in row]
    assert ".600" in memory
    assert memory.endswith("MISSED")
    assert "0.100" not in "".join(rows)
    assert rows.index(memory) < next(n for n, row in enumerate(rows) if "forward calls" in row)


def test_a_real_model_is_a_folder_and_is_asked_about_the_world(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no config\.json"):
        peers.real_model(str(tmp_path), 3)
    (tmp_path / "config.json").touch()
    model, questions = peers.real_model(str(tmp_path), 3)
    assert model == tmp_path
    assert len(questions) == len(set(questions)) == 3
    assert all(question.endswith("?") for question in questions)
    with pytest.raises(SystemExit, match="short questions, and --n wants 1000"):
        peers.real_model(str(tmp_path), 1000)
