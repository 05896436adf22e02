"""Hidden states of given text: those of transformers, whatever stands beside them in the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device import DEVICE

from sayso.engines import open_model
from sayso.engines.engine import POSITIONS, HiddenReader
from sayso.engines.hf import force
from sayso.records import InputError, Request, ask

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

KINDS = ("llama", "gpt2", "mistral", "mamba")
ITEMS: list[tuple[Request, Any]] = [
    (ask("Who painted the ceiling?"), " a painter from the north"),
    (
        ask("When was the bridge built, and by whom was it repaired later?"),
        " It was built in 1871.",
    ),
    (ask("Who?"), [17]),  # one token
    (ask("Who?"), " a painter"),
    (ask("Zoë ate a crêpe in Łódź"), " naïve façade"),
]


@pytest.fixture(params=KINDS, scope="module")
def engine(request: pytest.FixtureRequest) -> Any:
    make = request.getfixturevalue("make_folder")
    opened = open_model(f"hf:{make(request.param)}", device=DEVICE)
    yield opened
    opened.close()


def expected(engine: Any, item: tuple[Request, Any], layer: int, position: str) -> np.ndarray:
    """The state by transformers' own output_hidden_states, one text at a time."""
    request, continuation = item
    prompt = list(engine.render(request).ids)
    ids = continuation
    if isinstance(continuation, str):
        (_, forced) = next(iter(engine.force([item], ["logprobs"])))
        ids = forced.token_ids
    # Index n - 1 of the steps, which for one token is the prompt's last
    at = (
        len(prompt)
        - 1
        + {"last_prompt": 0, "second_last_answer": len(ids) - 1}.get(position, len(ids))
    )
    with torch.inference_mode():
        given = torch.tensor([[*prompt, *ids]], device=engine.runner.device)
        out = engine.runner.model(given, output_hidden_states=True)
    return out.hidden_states[layer][0, at].float().cpu().numpy()


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("layer", [0, 1, -1, -2])
def test_equal_to_transformers(engine: Any, layer: int, position: str) -> None:
    if "mamba" in engine.name and layer != -1:
        pytest.skip("transformers counts the states of Mamba without the embeddings")
    found = engine.hidden(ITEMS, layer, position)
    assert found.dtype == np.float16
    for row, item in zip(found, ITEMS, strict=True):
        theirs = expected(engine, item, layer, position)
        assert row == pytest.approx(theirs, rel=1e-3, abs=1e-3)  # float16 has 11 bits


def test_the_same_alone_and_in_a_batch(engine: Any) -> None:
    for layer in (1, -1):
        together = engine.hidden(ITEMS, layer, "second_last_answer").astype(float)
        alone = [engine.hidden([i], layer, "second_last_answer")[0].astype(float) for i in ITEMS]
        assert np.abs(together - alone).max() <= 1e-3 * max(1, np.abs(together).max())


def test_positions_of_one_token(engine: Any) -> None:
    (one,) = (i for i in ITEMS if i[1] == [17])
    states = [engine.hidden([one], -1, position)[0] for position in POSITIONS]
    assert (states[0] == states[1]).all()
    assert (states[0] != states[2]).any()


def test_a_prompt_is_read_once_whatever_follows(engine: Any) -> None:
    assert isinstance(engine, HiddenReader)
    assert engine.capabilities.hidden
    before = (engine.counts.forwards, engine.counts.slots)
    same = [(ask("Who?"), text) for text in (" a", " b", " a painter from the north")]
    found = engine.hidden(same, -1, "last_prompt")
    assert (found == found[0]).all()
    assert engine.counts.forwards - before[0] == 1
    assert engine.counts.slots - before[1] == len(engine.render(ask("Who?")).ids)


def test_what_cannot_be_read_is_nan_and_the_rest_is_not(engine: Any) -> None:
    items = [(ask("Who?"), ""), (ask("Who?"), [10**9]), (ask("Who?"), " a")]
    if engine.runner.context is not None:
        items.append((ask("Who? " * 400), " a"))
    found = engine.hidden(items, -1, "last_answer")
    assert np.isnan(found).all(axis=1).tolist() == [True, True, False, True][: len(items)]
    # no answer is needed for the prompt's state
    assert np.isfinite(engine.hidden(items[:1], -1, "last_prompt")).all()
    assert engine.hidden([], -1, "last_prompt").shape == (0, 32)


@pytest.mark.parametrize(
    ("layer", "position", "said"), [(3, "last_answer", "layer 3"), (-1, "middle", "'middle'")]
)
def test_unknown_places_are_refused(engine: Any, layer: int, position: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        engine.hidden(ITEMS, layer, position)


def test_memory_that_runs_out_halves_the_batch(engine: Any, monkeypatch: Any) -> None:
    whole = engine.hidden(ITEMS, -1, "last_answer")
    from sayso.engines.hf import force as hf_hidden

    real, sizes = hf_hidden._states, []

    def tight(runner: Any, texts: Any, layer: int) -> Any:
        sizes.append(len(texts))
        if len(texts) > 2:
            raise RuntimeError("CUDA out of memory")
        return real(runner, texts, layer)

    monkeypatch.setattr(force, "_states", tight)
    monkeypatch.setattr(engine, "limits", engine.limits._replace(rows=4))
    assert np.allclose(engine.hidden(ITEMS, -1, "last_answer"), whole, rtol=1e-3, atol=1e-3)
    assert sizes[0] == 4
    assert max(sizes[1:]) == 2


def test_the_states_of_the_built_in_model_tell_what_was_asked() -> None:
    """A positive control of the whole reading: a probe tells one type of question from others."""
    from sayso import datasets, metrics, scores

    questions = [q for q in datasets.load_dataset("builtin", limit=40).questions if not q.parts]
    model = open_model("builtin", device=DEVICE)
    states = model.hidden([(ask(q.text), "") for q in questions], -1, "last_prompt")  # type: ignore[attr-defined]
    model.close()
    kinds = [q.type for q in questions]
    kind = np.array([k == max(set(kinds), key=kinds.count) for k in kinds], dtype=float)
    entity = np.array([q.entity for q in questions])
    found, probes = scores.cross_fit_probe(states, kind, entity, np.random.default_rng(0))
    assert all(probe.converged for probe in probes)
    value = metrics.auroc(found, kind)
    assert value is not None
    assert value > 0.95


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("layer", [0, 1, -1])
def test_states_of_forced_texts_are_taken_from_the_pass_that_forced_them(
    engine: Any, layer: int, position: str
) -> None:
    alone = engine.hidden(ITEMS, layer, position)
    plain = dict(engine.force(ITEMS, ["logprobs"]))
    engine.watch(layer, position)
    try:
        forced = dict(engine.force(ITEMS, ["logprobs"]))
        before = engine.counts.forwards
        found = engine.hidden(ITEMS, layer, position)
        assert engine.counts.forwards == before  # nothing was read again
        assert np.allclose(found, alone, rtol=2e-3, atol=2e-3)
        for n, one in plain.items():
            assert forced[n].logprobs == pytest.approx(one.logprobs, abs=1e-5)
        engine.hidden(ITEMS[:1], layer, position)  # what was taken is not held any longer
        assert engine.counts.forwards == before + 1
        # another place is read by a pass of its own, and takes nothing
        list(engine.force(ITEMS[:1], ["logprobs"]))
        other = "last_prompt" if position != "last_prompt" else "last_answer"
        before = engine.counts.forwards
        assert np.isfinite(engine.hidden(ITEMS[:1], layer, other)).all()
        assert engine.counts.forwards == before + 1
    finally:
        engine.watched = None


def test_states_that_nobody_asks_for_do_not_pile_up(engine: Any, monkeypatch: Any) -> None:

    monkeypatch.setattr(force, "WAITING", 100)  # bytes: one state of 32 halves and a second
    alone = engine.hidden(ITEMS, -1, "last_answer")
    engine.watch(-1, "last_answer")
    try:
        for item in ITEMS:
            list(engine.force([item], ["logprobs"]))
        assert len(engine.watched._waiting) == 2
        assert np.allclose(engine.hidden(ITEMS, -1, "last_answer"), alone, rtol=2e-3, atol=2e-3)
        assert not engine.watched._waiting
    finally:
        engine.watched = None
