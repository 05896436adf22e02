"""What a run of uncle asks, by default and in other words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sayso
from sayso.protocols import uncle
from sayso.protocols.protocol import first_asks
from sayso.protocols.uncle.run import steps as uncle_steps
from sayso.records import InputError, Question
from support.told_world import PROBES, run

SHORT = Question("s", "d", "q0.0?", golds=())
LONG = Question("l", "d", "Long e0.", parts=("s",))


def test_a_default_run_asks_what_it_always_asked(tmp_path: Path) -> None:
    asks = first_asks(uncle_steps([SHORT, LONG], uncle.Settings(), seed=3))
    found = [
        (a.stage, a.method, a.instructed, r.messages[0].content, r.temperature, r.sample)
        for a in asks
        for r in [a.request]
    ]
    short = "q0.0? Express uncertainty if you are not sure of the answer."
    long = "Long e0. Express uncertainty about any aspect you are not sure of."
    assert found == [
        *(("probe", "plain", False, "q0.0?", 1.0, sample) for sample in range(5)),
        ("short", "plain", False, "q0.0?", 0.0, 0),
        ("short", "instructed", True, short, 0.0, 0),
        ("long", "plain", False, "Long e0.", 0.0, 0),
        ("long", "instructed", True, long, 0.0, 0),
    ]
    assert {(a.request.seed, a.request.max_tokens) for a in asks} == {(3, 256), (3, 1024)}
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    assert sorted(p.stem for p in (result.path / "generations").iterdir()) == [
        "long",
        "probe",
        "short",
    ]
    assert result.manifest.prompts.keys() == {
        "signature",
        "uncle_short_instruction",
        "uncle_long_instruction",
    }


def test_a_folder_from_before_the_checks_goes_on(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    file = result.path / "manifest.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    for name in ("methods", "short_only"):
        del stored["settings"][name]
    file.write_text(json.dumps(stored), encoding="utf-8")
    assert sayso.measure(result.path).estimates == result.estimates
    again = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    assert again.estimates == result.estimates
    with pytest.raises(InputError, match=r"contains a run of uncle .* with methods"):
        run(tmp_path, PROBES, "cciuciuu", "cccccccc", methods="unc_few")
