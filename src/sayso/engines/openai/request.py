"""From a request to the JSON body of a call, less what the endpoint refuses.

Nothing is left out silently: every parameter that is not sent is listed in ``overrides`` of the
reply and, once, in the engine's notices. A parameter is left out only where it is refused alone:
:func:`without` and :func:`only` make the bodies that find out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from sayso.engines.providers import UNKNOWN_PROVIDER, Provider
from sayso.records import Request

#: parameters that OpenAI and Inspect do not know; llama.cpp has its own name of a penalty
EXTRAS = ("top_k", "min_p", "repetition_penalty", "repeat_penalty", "chat_template_kwargs")
#: "off" as top_k: -1 to vLLM, SGLang and llama.cpp, 0 where a number below it is refused
OFF = (-1, 0)
#: forms of a JSON schema in a body; the second where the first is refused, as by llama-cpp-python
SCHEMA_FORMS = ("json_schema", "json_object")
#: parameters that are refused by value: a model that takes only temperature 1 still gets its
#: temperature 1
BY_VALUE = ("temperature", "top_p")
LIMITS = ("max_tokens", "max_completion_tokens")
#: tokens of an answer that only shows whether a body is accepted
SHORT = 16
#: parameters that a refusal may name
REFUSABLE = (
    *EXTRAS, *BY_VALUE, "reasoning_effort", "seed", "top_logprobs", "logprobs", "n",
    "response_format", "stop", *LIMITS,
)  # fmt: skip
#: parameters that ``overrides`` does not list: that log-probabilities are missing is plain to see
UNLISTED = ("logprobs", "top_logprobs")
#: why a schema is no longer sent to an endpoint that accepted it without complaint
IGNORED = "replies do not keep to a JSON schema"
#: a message that refuses something, and does not merely mention it
REFUSES = re.compile(
    r"unsupported|not (?:be )?support|does(?:n't| not)|unrecogni[sz]ed|unknown|unexpected|extra[_ ]"
    r"|not (?:be )?(?:permitted|allowed|available|valid|accepted|enabled)|invalid|only|must|cannot"
    r"|can't|incompatible|removed|deprecated|refus|cannot find|validation error|should be",
    re.IGNORECASE,
)
UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not (?:be )?permitted"
    r"|instead|cannot find",
    re.IGNORECASE,
)
#: alternatives of each token that are requested: of an answer of one token, of others, and of
#: answers that are long together, whose replies would be too long
OPTIONS, TOP, FEW = 20, 10, 2
#: tokens of a call's answers up to which they are not long
NOT_LONG = 4096
#: choices requested in one call, before the endpoint says what it accepts
MOST_CHOICES = 32


class Learned:
    """What an endpoint accepts, learned from its answers.

    ``dropped`` maps (parameter, value) to the message that refused it.
    """

    def __init__(self, provider: Provider = UNKNOWN_PROVIDER) -> None:
        self.extras = provider.extras
        self.hottest = provider.hottest
        self.dropped: dict[tuple[str, object], str] = dict.fromkeys(
            ((name, None) for name in provider.ignores), provider.because
        )
        self.limit = "max_tokens" if self.extras else "max_completion_tokens"
        self.limits_refused: set[str] = set()
        self.choices = 1 if self.drops("n") else MOST_CHOICES
        self.gives_n = False
        self.off = OFF[0]
        self.top = OPTIONS
        self.schema_form = SCHEMA_FORMS[0]
        self.schema_kept = 0
        self.schema_ignored = 0
        self.unknown: dict[str, None] = {}

    def drops(self, name: str, value: object = None) -> bool:
        """Whether a parameter is no longer sent."""
        return (name, None) in self.dropped or (name, value) in self.dropped

    def refuse(self, message: str, sent: Mapping[str, Any]) -> bool:
        """Learn from a refusal what not to send; ``False`` unless it names one parameter.

        A message that names several may list what is accepted: each has to be asked alone.
        """
        named = refused_names(message, sent)
        if len(named) == 1:
            self.drop(named[0], sent, message)
        return len(named) == 1

    def drop(self, name: str, sent: Mapping[str, Any], message: str) -> None:
        """Learn that a parameter is refused as it was sent: it is sent in another way, or not."""
        if name in LIMITS:
            self.limits_refused.add(name)
            other = next((x for x in LIMITS if x not in self.limits_refused), None)
            if other is None:
                self.dropped[name, None] = message
            else:
                self.limit = other
        elif name == "n":
            self.choices = max(_below(sent["n"], message), default=1)
        elif name in UNLISTED and (fewer := self._fewer(name, sent, message)):
            self.top = fewer
        elif name in BY_VALUE:
            self.dropped[name, sent[name]] = message
        elif name == "top_k" and sent[name] == OFF[0] and not UNKNOWN.search(message):
            self.off = OFF[1]
        elif name == "response_format" and sent[name]["type"] == SCHEMA_FORMS[0]:
            self.schema_form = SCHEMA_FORMS[1]
        else:
            self.dropped[name, None] = message
            if name == "logprobs":
                self.dropped["top_logprobs", None] = message

    def _fewer(self, name: str, sent: Mapping[str, Any], message: str) -> int:
        """Return how many alternatives to request where so many were refused; 0: none at all."""
        many = sent.get("top_logprobs", 0)
        if many <= FEW or UNKNOWN.search(message):
            return 0
        return max(_below(many, message), default=FEW if name == "top_logprobs" else 0)

    def see_choices(self, requested: int, returned: int) -> None:
        """Learn from the number of choices in a reply."""
        if returned > 1:
            self.gives_n = True
        if 0 < returned < requested:
            self.choices = min(self.choices, returned)

    def see_schema(self, kept: bool) -> None:
        """Learn whether replies keep to a schema: if the first two do not, the endpoint ignores
        schemas."""
        self.schema_kept += kept
        self.schema_ignored += not kept
        if self.schema_kept == 0 and self.schema_ignored >= 2:
            self.dropped["response_format", None] = IGNORED

    @property
    def json_schema(self) -> bool:
        """``True`` once more replies kept to a schema than did not."""
        return self.schema_kept > self.schema_ignored

    @property
    def notices(self) -> list[str]:
        """One sentence for each refusal, naming what is no longer sent."""
        return self.in_replies + self._refusals(UNLISTED)

    @property
    def in_replies(self) -> list[str]:
        """The notices that the ``overrides`` of replies repeat."""
        unknown = ", ".join(self.unknown)
        first = [f"the endpoint does not know {unknown}: not sent, so its own default applies"]
        listed = [name for name, _ in self.dropped if name not in UNLISTED]
        return (first if unknown else []) + self._refusals(listed)

    def _refusals(self, names: Collection[str]) -> list[str]:
        """Return one sentence for each reason to drop some of these parameters."""
        by_reason: dict[tuple[str, str], list[str]] = {}
        for (name, value), reason in self.dropped.items():
            if name in names:
                # nothing takes the place of a schema or of log-probabilities
                lacking = name == "response_format" or name in UNLISTED
                effect = "not sent" if lacking else "not sent, so its own default applies"
                shown = name if value is None else f"{name} {value:g}"
                by_reason.setdefault((effect, reason), []).append(shown)
        return [
            f"{IGNORED}: it is not sent"
            if reason == IGNORED
            else f"the endpoint does not take {', '.join(shown)}: {effect} ({reason})"
            for (effect, reason), shown in by_reason.items()
        ]


def _below(number: int, message: str) -> list[int]:
    """Return the numbers from 2 on that a message names and that are below one that was sent."""
    return [int(x) for x in re.findall(r"\b\d{1,9}\b", message) if 1 < int(x) < number]


# ---- what of a body is refused


def refused_names(message: str, sent: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a body that a refusal names.

    A limit counts where it is the only one, and unknown: one that is too large is not.
    """
    if not REFUSES.search(message):
        return []
    word = r"(?<![A-Za-z0-9_\\]){}(?![A-Za-z0-9_])"
    named = [n for n in REFUSABLE if n in sent and re.search(word.format(n), message)]
    if "logprobs" in named and "top_logprobs" in named:
        named.remove("top_logprobs")
    limits = [name for name in named if name in LIMITS]
    if limits and (len(named) > 1 or not UNKNOWN.search(message)):
        named = [name for name in named if name not in LIMITS]
    return named


def refusable(sent: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a body that can be left out of it."""
    return [name for name in REFUSABLE if name in sent and name not in LIMITS]


def without(sent: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a body without some parameters, for a short answer."""
    left = {*names, *(("top_logprobs",) if "logprobs" in names else ())}
    body = {name: value for name, value in sent.items() if name not in left}
    return body | {name: min(body[name], SHORT) for name in LIMITS if name in body}


def only(sent: Mapping[str, Any], names: Collection[str], name: str) -> dict[str, Any]:
    """Return a body with only one of some parameters, for a short answer."""
    needed = {name} if name != "top_logprobs" else {"logprobs", "top_logprobs"}
    return without(sent, [other for other in names if other not in needed])


def refusable_parts(sent: Mapping[str, Any]) -> frozenset[tuple[str, object]]:
    """Return what of a body an endpoint may refuse: names, and the values of some."""
    named = [name for name in (*REFUSABLE, "continue_final_message") if name in sent]
    valued = (*BY_VALUE, "top_k", "top_logprobs")
    return frozenset((n, sent[n] if n in valued else None) for n in named)


#: puts a parameter into a body: name, value, and what to say if it is not sent
Put = Callable[[str, object, str | None], None]


def request_body(
    model: str, request: Request, choices: int, learned: Learned
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the body of a call and its overrides."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if request.prefill is not None:
        messages.append({"role": "assistant", "content": request.prefill})
    body: dict[str, Any] = {"model": model, "messages": messages}
    overrides: list[str] = []

    def put(name: str, value: object, override: str | None = None) -> None:
        if not learned.drops(name, value if name in BY_VALUE else None):
            body[name] = value
        elif override is not None:
            overrides.append(override)

    put("temperature", min(request.temperature, learned.hottest), "temperature: provider default")
    if request.temperature > learned.hottest:
        overrides.append(f"temperature: {learned.hottest:g}, the highest there")
    put("top_p", request.top_p, "top_p: provider default")
    put(learned.limit, request.max_tokens, "max_tokens: provider default")
    if request.stop:
        put("stop", list(request.stop), "stop: not sent, cut here")
    if not request.greedy or learned.drops("temperature", request.temperature):
        put("seed", call_seed(request.seed, request.sample), "seed: not sent")
    if choices > 1:
        put("n", choices)
    put("logprobs", True)
    if "logprobs" in body:
        top = OPTIONS if request.max_tokens == 1 else TOP
        long = choices * request.max_tokens > NOT_LONG
        put("top_logprobs", min(FEW if long else top, learned.top))
    if request.response_format is not None:
        named = json.loads(request.response_format)
        schema = {"type": "json_schema", "json_schema": named}
        if learned.schema_form == "json_object":  # with its schema, which llama-cpp-python reads
            schema = {"type": "json_object", "schema": named["schema"]}
        put("response_format", schema, "response_format: not enforced")
    if not learned.extras:
        unknown = _put_official(request, put)
        learned.unknown.update(dict.fromkeys(unknown))
        overrides += [f"{name}: not sent" for name in unknown]
    else:
        _put_extras(request, put, learned.off)
        if messages and messages[-1]["role"] == "assistant":
            body |= {"continue_final_message": True, "add_generation_prompt": False}
    return body, tuple(overrides)


def call_seed(seed: int, sample: int) -> int:
    """Return the seed of a call, from the request's seed and the first draw of the call.

    So draws 5-19 do not repeat draws 0-4, and a missing choice requested alone has its own.
    """
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _put_official(request: Request, put: Put) -> list[str]:
    """Put what OpenAI's own endpoint and Inspect know, and return the names of what they do not."""
    unknown = []
    for name, value in request.chat_template_kwargs:
        if name == "reasoning_effort":
            put(name, value, "reasoning_effort: not sent")
        else:
            unknown.append(name)
    neutral = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    return unknown + [name for name, off in neutral.items() if getattr(request, name) != off]


def _put_extras(request: Request, put: Put, off: int) -> None:
    """Put what other servers know; they read a penalty and a reasoning effort at either place."""
    put("top_k", request.top_k or off, "top_k: not sent")
    put("min_p", request.min_p, "min_p: not sent")
    put("repetition_penalty", request.repetition_penalty, "repetition_penalty: not sent")
    put("repeat_penalty", request.repetition_penalty, None)
    settings = dict(request.chat_template_kwargs)
    if settings:
        put("chat_template_kwargs", settings, "chat_template_kwargs: not sent")
    if "reasoning_effort" in settings:
        put("reasoning_effort", settings["reasoning_effort"], "reasoning_effort: not sent")


def unaskable(request: Request, learned: Learned) -> str | None:
    """Return why a request cannot be sent at all, ``None`` if it can."""
    if not (request.temperature >= 0 and request.repetition_penalty > 0):
        return "failed: temperature must be at least 0 and repetition_penalty above 0"
    if request.prefill is not None and not learned.extras:
        return "failed: this endpoint cannot continue the beginning of an answer (prefill)"
    if request.response_format is not None:
        try:
            value = json.loads(request.response_format)
        except ValueError:
            value = None
        if not isinstance(value, dict) or not isinstance(value.get("schema"), dict):
            return 'failed: response_format must be JSON of the form {"name": …, "schema": …}'
    return None


def keeps_schema(text: str, response_format: str) -> bool:
    """Whether a text is JSON of the kind that a schema describes.

    Type and required names of the outermost level are enough to tell a server that enforces a
    schema from one that ignores it; whoever reads the text checks the rest.
    """
    try:
        value = msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    schema = json.loads(response_format)["schema"]
    types = {"object": dict, "array": list, "string": str, "boolean": bool}
    expected = next((type_ for name, type_ in types.items() if schema.get("type") == name), object)
    required = schema.get("required", [])
    if not isinstance(value, expected):
        return False
    if not isinstance(value, dict) or not isinstance(required, Collection):
        return True
    return all(name in value for name in required)
