"""Which models are relatives? A judge may favor the answers of its own family (VALIDITY 5)."""

from __future__ import annotations

import re

#: family -> how its models are called; a fine-tune belongs to the family of its weights
_FAMILIES = {
    "gpt": r"gpt|\bo[134](?=\b|-)|davinci",
    "claude": r"claude",
    "gemini": r"gemini|gemma|palm-?2",
    "llama": r"llama|vicuna|alpaca",
    "qwen": r"qwen|qwq|qvq",
    "mistral": r"mi[sx]tral|ministral|codestral|magistral|devstral|zephyr",
    "deepseek": r"deepseek",
    "phi": r"\bphi-?\d",
    "grok": r"grok",
    "command": r"\bcommand(?=-|\b)|c4ai|\baya\b",
    "glm": r"glm-?\d",
    "yi": r"\byi-\d",
    "olmo": r"olmo",
    "kimi": r"kimi|moonshot|moonlight",
    "minimax": r"minimax",
    "internlm": r"internlm",
    "falcon": r"falcon",
    "granite": r"granite",
    "smollm": r"smollm",
    "ernie": r"ernie",
    "hunyuan": r"hunyuan",
    "nova": r"\bnova-",
    "jamba": r"jamba",
}
_KNOWN = {name: re.compile(pattern) for name, pattern in _FAMILIES.items()}
_PREFIX = re.compile(r"^(?:hf|openai|api|vllm|scripted):")


def family(name: str) -> str:
    """Return the family of a model's name: ``qwen`` for ``hf:Qwen/Qwen3-4B``.

    Of several families in one name the last counts, which is the one of the weights
    (``DeepSeek-R1-Distill-Qwen-7B``). A name of no family that is listed is a family of its own,
    so that a model is at least related to itself.
    """
    plain = name.strip().lower()
    if plain.startswith(("http://", "https://")):
        plain = plain.partition("#")[2] or plain
    plain = _PREFIX.sub("", plain)
    found = [
        (match.end(), relatives)
        for relatives, pattern in _KNOWN.items()
        for match in pattern.finditer(plain)
    ]
    return max(found)[1] if found else plain.rstrip("/")
