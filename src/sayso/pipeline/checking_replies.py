"""Findings of ``sayso check`` that single replies show: template, thinking, schema, greedy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from sayso.models import Engine
from sayso.pipeline.checking_ask import (
    FACTS,
    OPEN,
    PROSE,
    SCHEMA,
    Questioner,
    Template,
    said,
    thinks,
)
from sayso.pipeline.checking_records import Finding
from sayso.records import Generation

SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_tokens", "stop")
#: those whose defaults, where a model brings some, keep a draw from being the model's own
TRUNCATING = ("top_p", "top_k", "min_p", "repetition_penalty")
#: how thinking is switched off: by the template's argument, else by the effort
OFF: tuple[Template, ...] = (
    (("enable_thinking", False),),
    (("reasoning_effort", "none"),),
    (("reasoning_effort", "minimal"),),
)
GREEDY_TOKENS = 48


def shown(text: str, length: int = 60) -> str:
    """Return the beginning of a text in quotes, on one line."""
    flat = " ".join(text.encode("utf-8", "replace").decode().split())
    return repr(flat if len(flat) <= length else f"{flat[: length - 1]}…")


def reached(engine: Engine, first: Generation) -> Finding:
    """The model answered; what, and as whom."""
    who = engine.identity if engine.identity.startswith("api:") else engine.signature
    mark = f", system {first.fingerprint}" if first.fingerprint else ""
    return Finding("answers", "yes", f"{who}{mark}: {shown(first.text, 40)}")


def chat_template(engine: Engine, first: Generation) -> Finding:
    """Does the model have a chat template of its own?"""
    known = engine.capabilities.chat_template
    if any(what.startswith("no chat template") for what in first.overrides):
        known = False
    elif known is None and engine.capabilities.force:  # the tokenizer is in this process
        known = True
    if known is None:
        return Finding(
            "chat template", "cannot tell", "the server renders the prompt and does not show it"
        )
    if known:
        return Finding("chat template", "yes", "the model's own")
    return Finding(
        "chat template", "no", "plain prompt", "a base model: it is asked as 'Question: … Answer:'"
    )


def context(engine: Engine) -> Finding:
    """How much may prompt and answer be together?"""
    tokens = engine.capabilities.context
    if tokens is None:
        return Finding(
            "context length", "cannot tell", "the endpoint does not say", "too long: a problem"
        )
    return Finding("context length", "yes", f"{tokens:,} tokens")


def alternatives(engine: Engine, replies: Sequence[Generation]) -> Finding:
    """Are the likeliest other tokens listed?"""
    if engine.capabilities.alternatives or any(r.alternatives for r in replies):
        return Finding("alternatives", "yes", "the likeliest other tokens are known")
    if any(r.margins for r in replies):
        return Finding("alternatives", "no", "only the distance of the two likeliest tokens")
    return Finding("alternatives", "no", "none were given")


class Thinking(NamedTuple):
    """Whether a model thinks; ``always`` where it cannot be kept from it."""

    findings: tuple[Finding, ...]
    always: bool


def thinking(asking: Questioner, first: Generation) -> Thinking:
    """Find out whether a model thinks, and switch it off for the rest of the check if it can be."""
    if not thinks(first):
        if any(what.startswith("no chat template") for what in first.overrides):
            return Thinking(
                (Finding("thinking", "no", "no template that could ask for it"),), False
            )
        on = _asked(asking, (("enable_thinking", True),), first)
        if thinks(on):
            seen = "only when asked to (enable_thinking)"
            return Thinking((Finding("thinking", "yes", seen, "--thinking on"),), False)
        return Thinking((Finding("thinking", "no", "no thought before two answers"),), False)
    length = f"{first.thinking_tokens:,} tokens" if first.thinking_tokens else "a thought"
    found = Finding(
        "thinking", "yes", f"{length} before {shown(first.text, 30)}",
        "kept apart from the answer; log-probs are given the thought",
    )  # fmt: skip
    for template in OFF:
        off = _asked(asking, template, first)
        if said(off) is not None and not thinks(off):
            asking.template = template
            name, value = template[0]
            switch = Finding("thinking off", "yes", f"{name}={value}", "--thinking off")
            return Thinking((found, switch), False)
    switch = Finding(
        "thinking off", "no", f"{len(OFF)} ways tried, it thought each time",
        "one-token draws show nothing; answers cost the thought",
    )  # fmt: skip
    return Thinking((found, switch), True)


def _asked(asking: Questioner, template: Template, first: Generation) -> Generation:
    room = first.request.max_tokens
    request = asking.request(FACTS[0], room, temperature=0, template=template)
    return asking.ask([request])[0]


def greedy(asking: Questioner) -> Finding:
    """Ask the same greedy questions twice alone and twice among others: are they all equal?"""
    requests = [asking.request(text, GREEDY_TOKENS, temperature=0) for text in FACTS]
    alone = [[asking.ask([r])[0] for r in requests] for _ in range(2)]
    neighbours = [asking.request(text, 8, seed=7) for text in OPEN]
    mixed = asking.ask([*requests, *neighbours, *reversed(requests)])
    batch = [mixed[: len(requests)], mixed[: -len(requests) - 1 : -1]]
    rows = list(zip(*alone, *batch, strict=True))
    texts = [[said(reply) for reply in row] for row in rows]
    read = [row for row in texts if None not in row]
    if not read:
        return Finding("greedy repeats", "cannot tell", "no question was answered four times")
    same_alone = sum(len(set(row[:2])) == 1 for row in read)
    same = sum(len(set(row)) == 1 for row in read)
    n = len(read)
    refused = any("temperature" in what for row in rows for r in row for what in r.overrides)
    note = "; temperature 0 is refused" if refused else ""
    if same == n:
        seen = f"{n} questions, each twice alone and twice in a batch: equal"
        return Finding("greedy repeats", "yes", seen + note)
    seen = f"twice alone {same_alone} of {n} equal, in a batch {same} of {n}"
    follows = "T=0 is itself a draw: numbers move from run to run"
    return Finding("greedy repeats", "no", seen + note, follows)


def schema(asking: Questioner) -> Finding:
    """Ask for prose with a JSON schema: a reply that keeps to the schema was held to it."""
    replies = asking.ask(
        [asking.request(text, 64, temperature=0, response_format=SCHEMA) for text in PROSE]
    )
    kept = sum(r.problem is None and _keeps(r.text) for r in replies)
    failed = [r.problem for r in replies if r.problem is not None]
    if kept == len(replies):
        return Finding("JSON schema", "yes", f"{kept} of {kept} replies keep to it")
    seen = f"{kept} of {len(replies)} replies keep to it"
    if failed:
        seen = failed[0].removeprefix("failed: ")[:80]
    elif kept == 0:
        seen += f": {shown(replies[0].text, 30)}"
    return Finding("JSON schema", "no", seen, "a judge is read by its label blocks instead")


def _keeps(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    allowed = json.loads(SCHEMA)["schema"]["properties"]["choice"]["enum"]
    return isinstance(value, dict) and set(value) == {"choice"} and value["choice"] in allowed


def sampling_taken(replies: Sequence[Generation]) -> Finding:
    """Did the engine say that some sampling setting was not taken?"""
    refused = sorted(
        {what for r in replies for what in r.overrides if what.split(":")[0] in SAMPLING}
    )
    if not refused:
        return Finding("takes sampling settings", "yes", "none was refused")
    follows = "its own defaults apply there"
    if any(what.split(":")[0] in TRUNCATING for what in refused):
        follows = (
            "start the server with neutral generation settings, or take it that draws are truncated"
        )
    return Finding("takes sampling settings", "no", "; ".join(refused)[:160], follows)
