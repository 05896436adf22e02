"""Prices: known ones are dated, unknown ones are None, an override is the user's."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from sayso.engines.prices import LOCAL, Price, price_of, reply_cost
from sayso.records import Generation, InputError, Usage, ask


def test_an_unknown_price_is_none_and_never_zero() -> None:
    for name in ("openai:gpt-99-ultra", "http://localhost:8000/v1#gpt-4o", "openai:", "x"):
        assert price_of(name) is None


def test_models_in_this_process_cost_nothing_and_say_so() -> None:
    for name in ("builtin", "smollm2", "hf:Qwen/Qwen3-4B", "vllm:Qwen/Qwen3-4B"):
        price = price_of(name)
        assert price is not None
        assert price.of(Usage(10**6, 10**6)) == 0
        assert price.label == "no price (local)"


def test_a_known_price_says_where_it_comes_from_and_dated_names_share_it() -> None:
    price = price_of("openai:gpt-4o-mini")
    assert price is not None
    assert (price.input, price.output, price.cached) == (0.15, 0.6, 0.075)
    assert price.source == f"genai-prices {version('genai-prices')}"
    assert price.source in price.label
    dated = price_of("openai:gpt-4o-mini-2024-07-18")
    assert dated is not None
    assert dated.of(Usage(900, 70, 100)) == price.of(Usage(900, 70, 100))
    assert dated.source.endswith(", gpt-4o-mini")
    # a model whose price came to be another one
    assert price_of("openai:gpt-4o-2024-05-13") != price_of("openai:gpt-4o")


@pytest.mark.parametrize(
    ("name", "dearer"),
    [("anthropic:claude-haiku-4-5", "anthropic:claude-sonnet-4-5"),
     ("gemini:gemini-2.5-flash", "gemini:gemini-2.5-pro"),
     ("openrouter:openai/gpt-4o-mini", "openrouter:openai/gpt-4o"),
     ("openai:gpt-5-mini", "openai:gpt-5")],
)  # fmt: skip
def test_models_of_providers_have_prices(name: str, dearer: str) -> None:
    price, more = price_of(name), price_of(dearer)
    assert price is not None
    assert more is not None
    assert 0 < price.input < more.input
    assert price.input <= price.output < more.output


def test_the_bill_counts_cached_tokens_at_their_own_price() -> None:
    # 600 fresh x 2 + 400 cached x 0.5 + 100 out x 8 = 1200 + 200 + 800 = 2200 per million
    usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
    assert Price(2, 8, 0.5).of(usage) == pytest.approx(0.0022)
    # no price for cached tokens: they cost as much as the others, 2000 + 800
    assert Price(2, 8).of(usage) == pytest.approx(0.0028)


def test_an_override_replaces_the_table() -> None:
    price = price_of("openai:gpt-4o", "1, 2")
    assert price is not None
    assert (price.input, price.output, price.cached) == (1, 2, None)
    assert "your --price" in price.label
    cached = price_of("http://localhost:1/v1", "$0.15,0.6,0.075")
    assert cached is not None
    assert cached.cached == 0.075


@pytest.mark.parametrize("text", ["", "1", "a,b", "1,-2", "nan,1", "inf,1", "1,2,3,4"])
def test_an_override_that_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected dollars per million tokens"):
        price_of("openai:gpt-4o", text)


@pytest.mark.parametrize(
    ("text", "usage", "problem", "dollars"),
    [
        # 10 in at 2, 5 out at 8: 60 dollars per million
        ("yes", Usage(10, 5), None, 0.00006),
        ("yes", Usage(10, 5, dollars=0.5), None, 0.5),  # what the engine counted stands
        ("yes", Usage(), None, None),  # an endpoint that tells no tokens: not free, unknown
        ("yes", Usage(10, 0), None, None),
        ("", Usage(), None, None),
        ("", Usage(10, 0), None, 0.00002),  # nothing was said, and that was told
        ("", Usage(), "truncated", None),  # it thought, and nobody says how long
        ("", Usage(), "failed: status 500", 0.0),
    ],
)
def test_an_answer_whose_tokens_nobody_told_is_not_free(
    text: str, usage: Usage, problem: str | None, dollars: float | None
) -> None:
    reply = Generation(ask("x"), text=text, usage=usage, problem=problem)
    found = reply_cost(reply, Price(2, 8))
    assert found == (None if dollars is None else pytest.approx(dollars))
    assert reply_cost(reply, LOCAL) == (usage.dollars or 0.0)  # this machine asks for none
