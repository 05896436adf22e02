"""Companies that serve models behind OpenAI's chat completions: ``NAME:MODEL`` is one of theirs.

A row holds what cannot be learned from replies: the address, the variable of the key, and what an
address is documented to ignore without a word. What it refuses, it says itself.
"""

from __future__ import annotations

from typing import NamedTuple


class Provider(NamedTuple):
    """An address with the variable of its key; ``prices`` is the company's name in genai-prices.

    ``ignores`` are parameters that have no effect there, ``hottest`` the highest temperature: a
    higher one would be lowered in silence.
    """

    url: str
    key: str
    prices: str
    ignores: tuple[str, ...] = ()
    hottest: float = 2.0

    @property
    def official(self) -> bool:
        """Whether it is OpenAI, whose address knows none of the parameters that others added."""
        return self.prices == "openai"


PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "openai"),
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
#: what an address of anybody else is
UNKNOWN_PROVIDER = Provider("", "", "")
#: what stands before the colon of a model behind an endpoint
REMOTE = (*PROVIDERS, "ollama", "http", "https")
