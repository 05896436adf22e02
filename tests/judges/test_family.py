"""Relatives among models."""

from __future__ import annotations

import pytest

from sayso.judges.judge import family


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:Qwen/Qwen3-4B", "qwen"),
        ("Qwen/QwQ-32B", "qwen"),
        ("openai:gpt-4o", "gpt"),
        ("openai:o3-mini", "gpt"),
        ("openai/gpt-oss-20b", "gpt"),
        ("api:gpt-4.1@2025-04-14", "gpt"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("http://localhost:8000/v1#meta-llama/Llama-3.2-1B", "llama"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen"),  # the family of the weights
        ("deepseek-chat", "deepseek"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "llama"),
        ("anthropic/claude-sonnet-4", "claude"),
        ("google/gemma-3-4b-it", "gemini"),
        ("gemini-2.5-pro", "gemini"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("microsoft/phi-4", "phi"),
        ("CohereForAI/c4ai-command-r-v01", "command"),
        ("01-ai/Yi-1.5-9B", "yi"),
        ("zai-org/GLM-4.5", "glm"),
        ("HuggingFaceTB/SmolLM2-135M", "smollm"),
        ("builtin", "builtin"),
        ("hf:/models/mine/", "/models/mine"),
        ("ollama:llama3:8b", "llama"),
        ("api:ollama:nobodys:7b@1111", "nobodys:7b@1111"),
    ],
)
def test_family(name: str, expected: str) -> None:
    assert family(name) == expected
    assert family(expected) == expected


def test_names_of_no_family_are_related_only_to_themselves() -> None:
    assert family("hf:/a/model") != family("hf:/b/model")
    assert family("hf:/a/model") == family("hf:/a/model/")
