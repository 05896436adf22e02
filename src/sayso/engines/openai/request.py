"""From a request to the JSON that is sent, with what the endpoint was learned to refuse left out.

Nothing is left out in silence: what was dropped stands in ``overrides`` of every reply and, once,
in the engine's notices.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sayso.records import Request

#: what only servers that are not OpenAI's know; vLLM, SGLang and llama.cpp take -1 for "off"
EXTRAS = ("top_k", "min_p", "repetition_penalty", "chat_template_kwargs")
#: what a refusal may be about. Two of them are refused by value: a model that takes only
#: temperature 1 still gets its temperature 1.
BY_VALUE = ("temperature", "top_p")
LEARNABLE = (
    *EXTRAS, *BY_VALUE, "reasoning_effort", "seed", "top_logprobs", "logprobs", "n",
    "response_format", "stop", "max_tokens", "max_completion_tokens",
)  # fmt: skip
LIMITS = ("max_tokens", "max_completion_tokens")
#: what replies do not tell in their ``overrides``: that log-probabilities are missing is seen
UNTOLD = ("logprobs", "top_logprobs")
#: why a schema is not sent any more that was taken without a word
IGNORED = "replies do not keep to a JSON schema"
#: a message that refuses something, and does not merely mention it
REFUSES = re.compile(
    r"unsupported|not (?:be )?support|does(?:n't| not)|unrecogni[sz]ed|unknown|unexpected|extra[_ ]"
    r"|not (?:be )?(?:permitted|allowed|available|valid|accepted|enabled)|invalid|only|must|cannot"
    r"|can't|incompatible|removed|deprecated|refus|cannot find",
    re.IGNORECASE,
)
UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not (?:be )?permitted"
    r"|instead|cannot find",
    re.IGNORECASE,
)
#: choices asked for in one call, before the endpoint says what it takes
MOST_CHOICES = 32


class Learned:
    """What an endpoint was learned to take. ``dropped`` maps (parameter, value) to the reason."""

    def __init__(self, official: bool) -> None:
        self.official = official
        self.dropped: dict[tuple[str, object], str] = {}
        self.limit = "max_completion_tokens" if official else "max_tokens"
        self.limits_refused: set[str] = set()
        self.choices = MOST_CHOICES
        self.gives_n = False
        self.proven = False
        self.schema_kept = 0
        self.schema_ignored = 0
        self.unknown: dict[str, None] = {}

    def drops(self, name: str, value: object = None) -> bool:
        """Say whether a parameter is not sent any more."""
        return bool(self.dropped) and (
            (name, None) in self.dropped or (name, value) in self.dropped
        )

    def refuse(self, message: str, sent: Mapping[str, Any]) -> bool:
        """Learn from a 400 what not to send; ``False`` where it names nothing that was sent."""
        if not REFUSES.search(message):
            return False
        named = [name for name in LEARNABLE if name in sent and _names(message, name)]
        if not UNKNOWN.search(message):  # a limit that is too large is no limit that is unknown
            named = [name for name in named if name not in LIMITS]
        for name in named:
            self._drop(name, sent, message)
        return bool(named)

    def _drop(self, name: str, sent: Mapping[str, Any], message: str) -> None:
        if name in LIMITS:
            self.limits_refused.add(name)
            other = next((x for x in LIMITS if x not in self.limits_refused), None)
            if other is None:
                self.dropped[name, None] = message
            else:
                self.limit = other
        elif name == "n":
            smaller = [int(x) for x in re.findall(r"\b\d+\b", message) if 1 < int(x) < sent["n"]]
            self.choices = max(smaller, default=1)
        elif name in BY_VALUE:
            self.dropped[name, sent[name]] = message
        else:
            self.dropped[name, None] = message
            if name == "logprobs":
                self.dropped["top_logprobs", None] = message

    def drop_extras(self, message: str) -> None:
        """Learn that a bare request works where the full one did not."""
        for name in (*EXTRAS, "seed", "top_logprobs", "logprobs"):
            self.dropped[name, None] = message
        self.choices = 1

    def saw_choices(self, asked: int, got: int) -> None:
        """Learn from the number of choices in a reply."""
        if got > 1:
            self.gives_n = True
        if 0 < got < asked:
            self.choices = min(self.choices, got)

    def saw_schema(self, kept: bool) -> None:
        """Learn whether replies keep to a schema; two that do not, and none that did, and the
        endpoint ignores it."""
        self.schema_kept += kept
        self.schema_ignored += not kept
        if self.schema_kept == 0 and self.schema_ignored >= 2:
            self.dropped["response_format", None] = IGNORED

    @property
    def json_schema(self) -> bool:
        """``True`` once replies kept to a schema."""
        return self.schema_kept > self.schema_ignored

    @property
    def notices(self) -> list[str]:
        """One sentence for each refusal, naming what is not sent since."""
        return self._refused(told=True) + self._refused(told=False)

    @property
    def in_replies(self) -> list[str]:
        """Those of the notices that the replies' ``overrides`` tell as well."""
        return self._refused(told=True)

    def _refused(self, *, told: bool) -> list[str]:
        """Return notices of what replies tell in their overrides, or of the rest."""
        refused: dict[tuple[str, str], list[str]] = {}
        for (name, value), reason in self.dropped.items():
            if (name not in UNTOLD) != told:
                continue
            # nothing takes the place of a schema or of log-probabilities
            lacks = name == "response_format" or name in UNTOLD
            after = "not sent" if lacks else "not sent, so its own default applies"
            shown = name if value is None else f"{name} {value:g}"
            refused.setdefault((after, reason), []).append(shown)
        unknown = ", ".join(self.unknown)
        found = [f"openai: endpoints know no {unknown}: not sent, the model does as it always does"]
        return (found if unknown and told else []) + [
            f"{IGNORED}: it is not sent"
            if reason == IGNORED
            else f"the endpoint does not take {', '.join(names)}: {after} ({reason})"
            for (after, reason), names in refused.items()
        ]


def _names(message: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_\\]){name}(?![A-Za-z0-9_])", message) is not None


def seed_of(seed: int, sample: int) -> int:
    """Return the seed for a call: from the request's seed and the first draw it asks for.

    So draws 5-19 do not repeat draws 0-4, and a missing choice asked singly has its own.
    """
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def build(
    model: str, request: Request, choices: int, learned: Learned, bare: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the body of a call and what must be said about it. ``bare`` leaves all extras out."""
    body: dict[str, Any] = {"model": model, "messages": _messages(request)}
    said: list[str] = []

    def put(name: str, value: object, note: str | None = None) -> None:
        if bare and (name in EXTRAS or name in ("seed", "logprobs", "top_logprobs")):
            return
        if learned.drops(name, value if name in BY_VALUE else None):
            if note is not None:
                said.append(note)
        else:
            body[name] = value

    put("temperature", request.temperature, "temperature: provider default")
    put("top_p", request.top_p, "top_p: provider default")
    put(learned.limit, request.max_tokens, "max_tokens: provider default")
    if request.stop:
        put("stop", list(request.stop), "stop: not sent, cut here")
    if not request.greedy or learned.drops("temperature", request.temperature):
        put("seed", seed_of(request.seed, request.sample), "seed: not sent")
    if choices > 1:
        put("n", choices)
    put("logprobs", True)
    if "logprobs" in body:
        put("top_logprobs", 2)
    if request.response_format is not None:
        put("response_format", _schema(request.response_format), "response_format: not enforced")
    if learned.official:
        unknown = _official(request, put)
        learned.unknown.update(dict.fromkeys(unknown))
        said += [f"{name}: not sent" for name in unknown]
    else:
        put("top_k", request.top_k or -1, "top_k: not sent")
        put("min_p", request.min_p, "min_p: not sent")
        put("repetition_penalty", request.repetition_penalty, "repetition_penalty: not sent")
        _template(request, put)
        if request.prefill is not None or _ends_open(request):
            body |= {"continue_final_message": True, "add_generation_prompt": False}
    return body, tuple(said)


def _official(request: Request, put: Any) -> list[str]:
    """Send what OpenAI's own endpoint knows, and return the names of what it does not."""
    unknown = []
    for name, value in request.chat_template_kwargs:
        if name == "reasoning_effort":
            put(name, value, "reasoning_effort: not sent")
        else:
            unknown.append(name)
    neutral = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    return unknown + [name for name, off in neutral.items() if getattr(request, name) != off]


def _template(request: Request, put: Any) -> None:
    """Send settings of the chat template; servers read an effort at either place."""
    settings = dict(request.chat_template_kwargs)
    if settings:
        put("chat_template_kwargs", settings, "chat_template_kwargs: not sent")
    if "reasoning_effort" in settings:
        put("reasoning_effort", settings["reasoning_effort"], "reasoning_effort: not sent")


def _ends_open(request: Request) -> bool:
    return bool(request.messages) and request.messages[-1].role == "assistant"


def _messages(request: Request) -> list[dict[str, str]]:
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if request.prefill is not None:
        messages.append({"role": "assistant", "content": request.prefill})
    return messages


def _schema(text: str) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": json.loads(text)}


def unaskable(request: Request, learned: Learned) -> str | None:
    """Return why a request cannot be asked at all."""
    if not (request.temperature >= 0 and request.repetition_penalty > 0):
        return "failed: temperature must be at least 0 and repetition_penalty above 0"
    if request.prefill is not None and learned.official:
        return "failed: this endpoint cannot go on from the beginning of an answer (prefill)"
    if request.response_format is not None:
        try:
            given = json.loads(request.response_format)
        except ValueError:
            given = None
        if not isinstance(given, dict) or not isinstance(given.get("schema"), dict):
            return 'failed: response_format must be JSON of the form {"name": …, "schema": …}'
    return None


def keeps_schema(text: str, response_format: str) -> bool:
    """Say whether a text is JSON of the kind that a schema asks for.

    Type and required names of the outermost level are enough to tell a server that enforces a
    schema from one that ignores it; readers of the text check the rest.
    """
    try:
        value = msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    schema = json.loads(response_format)["schema"]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool}
    kind = next((found for name, found in kinds.items() if schema.get("type") == name), None)
    if kind is not None and not isinstance(value, kind):
        return False
    required = schema.get("required", [])
    return not isinstance(value, dict) or _has(value, required)


def _has(value: Mapping[str, object], required: object) -> bool:
    return not isinstance(required, Collection) or all(name in value for name in required)
