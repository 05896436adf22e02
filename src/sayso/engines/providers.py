"""Companies that serve models behind OpenAI's chat completions: ``NAME:MODEL`` is one of theirs.

A row holds what cannot be learned from replies: the address, the variable of the key, and what an
address is documented to ignore without a word. What it refuses, it says itself.
"""

from __future__ import annotations

from typing import NamedTuple

#: in place of a company: what runs on this machine costs nothing
LOCAL_HERE = "local"


class Provider(NamedTuple):
    """An address with the variable of its key; ``prices`` is the company's name in genai-prices.

    ``ignores`` are parameters that have no effect there, ``because`` who says so; ``hottest`` is
    the highest temperature: a higher one would be lowered in silence. ``extras``: whether it may
    know parameters that others than OpenAI brought.
    """

    url: str
    key: str
    prices: str
    ignores: tuple[str, ...] = ()
    hottest: float = 2.0
    extras: bool = True
    because: str = "as its documentation says"

    @property
    def official(self) -> bool:
        """Whether it is OpenAI."""
        return self.prices == "openai"


PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "openai", extras=False),
    # https://docs.anthropic.com/en/api/openai-sdk: one choice a call, temperatures up to 1
    "anthropic": Provider(
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "anthropic",
        ("n", "seed", "logprobs", "top_logprobs", "response_format", "reasoning_effort"),
        1.0,
    ),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "google"
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter"),
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", "groq"),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY", "together"),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY", "x-ai"),
}
#: how models of companies are named, for help
OF_PROVIDERS = f"{':NAME, '.join(PROVIDERS)}:NAME; inspect:PROVIDER/NAME (any model of Inspect)"
#: what an address of anybody else is
UNKNOWN_PROVIDER = Provider("", "", "")
#: what stands before the colon of a model behind an endpoint
REMOTE = (*PROVIDERS, "ollama", "inspect", "http", "https")

#: a provider of Inspect, which gives it every option that Inspect has
OF_INSPECT = Provider("", "", "", extras=False, because="Inspect 0.3.285 does not pass it on")
_NONE = ("n", "seed", "logprobs", "top_logprobs")
#: providers of Inspect whose prices are known, or to which it does not pass all options on
INSPECT = {
    "openai": OF_INSPECT._replace(prices="openai"),
    "anthropic": OF_INSPECT._replace(
        prices="anthropic", ignores=(*_NONE, "temperature", "top_p")
    ),
    "google": OF_INSPECT._replace(prices="google", ignores=("seed",)),
    "grok": OF_INSPECT._replace(prices="x-ai", ignores=("n",)),
    "groq": OF_INSPECT._replace(prices="groq", ignores=_NONE[2:]),
    "mistral": OF_INSPECT._replace(prices="mistral", ignores=("n", *_NONE[2:], "stop")),
    "bedrock": OF_INSPECT._replace(prices="aws", ignores=_NONE),
    "azureai": OF_INSPECT._replace(
        prices="azure", ignores=("n", *_NONE[2:], "response_format", "reasoning_effort")
    ),
    "hf": OF_INSPECT._replace(prices=LOCAL_HERE, ignores=("n", "response_format")),
    "nnterp": OF_INSPECT._replace(prices=LOCAL_HERE, ignores=("n", "seed", "response_format")),
    "mockllm": OF_INSPECT._replace(
        prices=LOCAL_HERE, ignores=(*_NONE, "temperature", "top_p", "stop", "response_format")
    ),
    **{
        name: OF_INSPECT._replace(prices=prices)
        for name, prices in {
            "together": "together", "deepseek": "deepseek", "openrouter": "openrouter",
            "fireworks": "fireworks", "perplexity": "perplexity", "moonshot": "moonshotai",
        }.items()
    },
}  # fmt: skip
#: those whose batches Inspect knows
INSPECT_BATCHES = ("openai", "anthropic", "google", "grok", "together")
