"""Choosing tokens: uniforms, the inverse cumulative distribution, truncation, recorded arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from sayso.engines.hf import sampling  # noqa: E402
from sayso.engines.local import draws  # noqa: E402


def shaping(rows: int = 1, **changed: float) -> draws.Shaping:
    """Plain settings for some rows, with changes."""
    values = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "penalty": 1.0} | changed
    return draws.Shaping(
        *(
            np.full(rows, v, dtype=np.int64 if name == "top_k" else np.float64)
            for name, v in values.items()
        )
    )


def logits_of(probabilities: list[float]) -> torch.Tensor:
    """Logits of one row with these probabilities."""
    return torch.tensor([[math.log(p) if p else -math.inf for p in probabilities]])


def choose(logits: torch.Tensor, uniform: float, **changed: float) -> int:
    """One row's choice."""
    reading = sampling.read_logits(logits)
    node = np.zeros(1, dtype=np.int64)
    seen = {0: [0, 2]} if "penalty" in changed else {}
    picked = sampling.next_tokens(
        logits, reading, node, shaping(**changed), np.array([uniform]), seen
    )
    return int(picked[0])


def test_uniforms_do_not_depend_on_how_they_are_fetched() -> None:
    whole = draws.uniforms(123, 7, 4, 0, 256)
    parts = [draws.uniforms(123, 7, 4, at, 64) for at in (0, 64, 128, 192)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.min() >= 0
    assert whole.max() < 1


def test_uniforms_differ_by_prompt_seed_and_sample() -> None:
    base = draws.uniforms(1, 2, 3, 0, 8)
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4), (1, -2, 3)):
        assert not np.array_equal(base, draws.uniforms(*other, 0, 8))


def test_uniforms_look_uniform() -> None:
    drawn = np.concatenate([draws.uniforms(9, 0, sample, 0, 64) for sample in range(400)])
    # 25,600 numbers: the mean has a standard error of .29 / 160 = .0018
    assert abs(drawn.mean() - 0.5) < 0.008
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03


@pytest.mark.parametrize(("uniform", "token"), [(0, 0), (0.09, 0), (0.11, 1), (0.39, 1), (0.41, 2),
                                                (0.999999, 2)])  # fmt: skip
def test_inverse_cdf_goes_in_token_order(uniform: float, token: int) -> None:
    # cumulative: .1, .4, 1.0
    assert choose(logits_of([0.1, 0.3, 0.6]), uniform) == token


@given(
    st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=300),
    st.floats(0, 1, exclude_max=True),
)
def test_inverse_cdf_agrees_with_a_plain_search(row: list[float], uniform: float) -> None:
    logits = torch.tensor([row])
    picked = choose(logits, uniform)
    weights = np.exp(np.array(row, dtype=np.float64) - max(row))
    cumulative = weights.cumsum() / weights.sum()
    below = cumulative[picked - 1] if picked else 0.0
    assert below - 1e-5 <= uniform <= cumulative[picked] + 1e-5


def test_tokens_of_probability_zero_are_never_chosen() -> None:
    logits = logits_of([0.0, 0.5, 0.0, 0.5, 0.0, 0.0])
    chosen = {choose(logits, u) for u in [0.0, 0.3, 0.5, 0.7, 1 - 2**-53]}
    assert chosen == {1, 3}
    # the same in a vocabulary of several blocks with an empty end
    wide = torch.full((1, 200), -math.inf)
    wide[0, 70] = 0.0
    assert {choose(wide, u) for u in (0.0, 0.5, 1 - 2**-53)} == {70}


@pytest.mark.parametrize(
    ("changed", "reachable"),
    [
        ({}, {0, 1, 2, 3}),
        ({"top_k": 2}, {1, 2}),
        ({"top_k": 99}, {0, 1, 2, 3}),
        # likeliest first: .4, .3, .2, .1; the smallest set that reaches .5 is the first two
        ({"top_p": 0.5}, {1, 2}),
        ({"top_p": 0.4}, {2}),
        ({"top_p": 0.000001}, {2}),
        ({"top_p": 0.0}, {2}),  # the likeliest token always stays
        ({"min_p": 0.5}, {1, 2, 3}),  # at least .2
        # after top-k 2 the two are .57 and .43, so .5 is reached by the first alone
        ({"top_k": 2, "top_p": 0.5}, {2}),
    ],
)
def test_truncation(changed: dict[str, float], reachable: set[int]) -> None:
    logits = logits_of([0.1, 0.3, 0.4, 0.2])
    found = {choose(logits, u, **changed) for u in np.linspace(0, 0.9999, 201)}
    assert found == reachable


def test_temperature_sharpens() -> None:
    # .3^2 and .7^2 renormalized: .155, .845
    logits = logits_of([0.3, 0.7])
    assert choose(logits, 0.15, temperature=0.5) == 0
    assert choose(logits, 0.16, temperature=0.5) == 1


def test_repetition_penalty_applies_to_seen_tokens_and_greedy_rows() -> None:
    logits = torch.tensor([[2.0, 1.5, -1.0]])
    assert choose(logits, 0.0, temperature=0) == 0
    assert choose(logits, 0.0, temperature=0, penalty=2.0) == 1  # 2.0 / 2 < 1.5


def test_rows_with_different_settings_share_a_batch() -> None:
    logits = logits_of([0.1, 0.3, 0.4, 0.2]).repeat(2, 1)
    reading = sampling.read_logits(logits)
    together = draws.Shaping(
        np.array([0.0, 1.0, 0.3, 1.0]),
        np.array([1.0, 1.0, 1.0, 0.5]),
        np.array([0, 0, 2, 0]),
        np.zeros(4),
        np.array([1.0, 1.0, 1.0, 1.0]),
    )
    uniform = np.array([0.0, 0.05, 0.9, 0.1])
    node = np.array([0, 1, 0, 1])
    picked = sampling.next_tokens(logits, reading, node, together, uniform, {}).tolist()
    alone = [
        int(
            sampling.next_tokens(
                logits, reading, node[[r]], together.take(np.array([r])), uniform[[r]], {}
            )[0]
        )
        for r in range(4)
    ]
    assert picked == alone


def test_recorded_arrays() -> None:
    reading = sampling.read_logits(logits_of([0.5, 0.25, 0.25]))
    every = frozenset(
        {"logprobs", "entropies", "margins", "self_certainty", "renyi", "alternatives"}
    )
    found = sampling.record(reading, torch.tensor([0]), torch.tensor([1]), every)
    assert found["logprobs"].item() == pytest.approx(math.log(0.25), abs=1e-6)
    # 1.5 bits
    assert found["entropies"].item() == pytest.approx(1.5 * math.log(2), abs=1e-6)
    assert found["margins"].item() == pytest.approx(0.25, abs=1e-6)
    # -(log 1.5 + 2 log .75) / 3 = (-.405465 + 2 * .287682) / 3
    assert found["self_certainty"].item() == pytest.approx(0.0566330, abs=1e-6)
    # sum sqrt(p/3) = (.707107 + 1) / 1.732051 = .985599; -2 log of it
    assert found["renyi"].item() == pytest.approx(0.0290123, abs=1e-6)
    assert found["alternatives"].tolist()[0] == pytest.approx(np.log([0.5, 0.25, 0.25]), abs=1e-6)


@pytest.mark.parametrize("vocabulary", [380, 49_152, 151_936])
def test_entropies_are_exact_over_large_vocabularies(vocabulary: int) -> None:
    torch.manual_seed(3)
    logits = torch.randn(4, vocabulary) * 4
    exact = torch.distributions.Categorical(logits=logits.double()).entropy()
    found = sampling.entropies(sampling.read_logits(logits))
    assert found.tolist() == pytest.approx(exact.tolist(), abs=3e-6)


def test_entropy_of_a_certain_and_of_a_masked_distribution() -> None:
    reading = sampling.read_logits(logits_of([0.0, 1.0, 0.0]))
    assert sampling.entropies(reading).tolist() == [0.0]
    assert sampling.entropies(
        sampling.read_logits(logits_of([0.5, 0.0, 0.5]))
    ).item() == pytest.approx(math.log(2), abs=1e-6)


def test_logits_that_are_not_numbers_are_told() -> None:
    rows = torch.tensor([[0.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf], [0.0, 1.0]])
    assert sampling.read_logits(rows).sound.tolist() == [False, False, False, True]


@pytest.mark.parametrize("temperature", [5e-324, 1e-50, 1e-40, 1e-30])
def test_the_lowest_temperatures_choose_the_likeliest_token(temperature: float) -> None:
    logits = 40 * logits_of([0.3, 0.4, 0.2, 0.0])
    for uniform in (0.0, 0.5, 0.999999):
        assert choose(logits, uniform, temperature=temperature) == 1
        assert choose(logits, uniform, temperature=temperature, top_p=0.9, top_k=3) == 1
