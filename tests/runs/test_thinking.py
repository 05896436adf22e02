"""Thinking and template arguments: in every request, in the cache key and in the signature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.options import AskingOptions
from sayso.protocols import uncle
from sayso.records import InputError, ask, signature_text
from sayso.runs.asking import request_shaper
from support.scripted_world import Mind, facts, records, write
from support.tables import tabled

WORLD = facts(2)


@pytest.mark.parametrize(
    ("thinking", "kwargs", "told", "longer"),
    [
        ("", None, (), 0),
        ("on", None, (("enable_thinking", True),), 0),
        ("off", None, (("enable_thinking", False),), 0),
        ("low", None, (("reasoning_effort", "low"),), 0),
        ("512", None, (("enable_thinking", True), ("thinking_budget", 512)), 512),
        ("", '{"b": 1.5, "a": true}', (("a", True), ("b", 1.5)), 0),
        ("high", {"tone": "dry"}, (("reasoning_effort", "high"), ("tone", "dry")), 0),
    ],
)
def test_what_a_request_is_told(thinking: str, kwargs: Any, told: Any, longer: int) -> None:
    request = request_shaper(AskingOptions(thinking=thinking, chat_template_kwargs=kwargs))(
        ask("Who?", max_tokens=100)
    )
    assert request.chat_template_kwargs == told
    assert request.max_tokens == 100 + longer


@tabled
def test_what_means_nothing_is_refused(thinking: str, kwargs: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        request_shaper(AskingOptions(thinking=thinking, chat_template_kwargs=kwargs))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_thinks_in_every_request_and_says_so(tmp_path: Path) -> None:
    mind = Mind(WORLD, lambda f: 0.7)
    common: dict[str, Any] = {
        "data": str(write(tmp_path / "q.jsonl", records(WORLD))),
        "cache": tmp_path / "cache",
        "options": uncle.Settings(resamples=100),
        "report": False,
    }
    sayso.run(model=mind.engine("m"), out=tmp_path / "plain", **common)
    engine = mind.engine("m")
    kwargs = {"tone": "dry"}
    result = sayso.run(
        model=engine, out=tmp_path / "t", thinking="64", chat_template_kwargs=kwargs, **common
    )
    assert len(engine.requests) > 0  # other requests than the plain ones: another cache key
    wanted = (("enable_thinking", True), ("thinking_budget", 64), ("tone", "dry"))
    assert {r.chat_template_kwargs for r in engine.requests} == {wanted}
    assert {r.max_tokens for r in engine.requests} == {256 + 64, 1024 + 64}
    assert "|thinking:64|template:" in signature_text(result.estimates[0].signature)
    assert result.manifest.settings["chat_template_kwargs"] == '{"tone": "dry"}'
    # measured again offline, the same
    again = sayso.measure(tmp_path / "t")
    assert [e.signature for e in again.estimates] == [e.signature for e in result.estimates]
    # another way to think does not mix into the folder, nor into a comparison unseen
    with pytest.raises(InputError, match="thinking 64, not off"):
        sayso.run(model=engine, out=tmp_path / "t", thinking="off", **common)
    with pytest.raises(InputError, match="differ in"):
        sayso.compare(tmp_path / "plain", tmp_path / "t", resamples=100)
