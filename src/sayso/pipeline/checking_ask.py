"""What ``sayso check`` asks, and how: everything through the Engine protocol, nothing cached."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sayso.models import Engine
from sayso.pipeline.progress import Progress, Silent
from sayso.prices import Price, cost, price_of
from sayso.records import Generation, InputError, Request, ask

#: questions for the greedy checks, of different lengths so that a batch has to pad them
FACTS = (
    "What is the capital of France?",
    "Name three rivers, and say which of them is the longest.",
    "In two sentences, explain to a child why the sky is blue by day and red in the evening.",
    "Who wrote Moby-Dick?",
)
#: questions whose first word could be almost anything
OPEN = (
    "Write one random English word.",
    "Tell me something.",
    "Name any city, animal or thing that comes to your mind.",
)
#: a prompt that asks for prose: a reply in JSON is then the schema's doing, not the prompt's
PROSE = (
    "Which season do you like best? Answer in one plain English sentence.",
    "Is tea better than coffee? Answer in one plain English sentence.",
)
#: what is being done, and about how many requests it takes
STAGE, ABOUT = "checking", 450
SEASONS = ("spring", "summer", "autumn", "winter")
SCHEMA = json.dumps(
    {
        "name": "preference",
        "schema": {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": [*SEASONS, "tea", "coffee"]}},
            "required": ["choice"],
            "additionalProperties": False,
        },
    }
)
Template = tuple[tuple[str, str | int | float | bool], ...]


class Questioner:
    """Asks an engine and keeps the bill. ``template`` goes into every request from now on.

    ``dollars`` is ``None`` as soon as one reply had no known price.
    """

    def __init__(self, engine: Engine, progress: Progress | None = None) -> None:
        self.engine = engine
        self.progress = progress or Silent()
        self.template: Template = ()
        self.replies: list[Generation] = []
        self.dollars: float | None = 0.0
        found = getattr(engine, "price", None)
        self._price = found if isinstance(found, Price) else price_of(engine.name)

    def request(self, text: str, tokens: int, **settings: object) -> Request:
        """Return a request of at most so many tokens, with the template's settings so far."""
        template = settings.pop("template", self.template)
        return ask(text, max_tokens=tokens, chat_template_kwargs=template, **settings)

    def ask(self, requests: Sequence[Request]) -> list[Generation]:
        """Ask all in one call and return the answers in the order of the requests.

        A request without an answer is a record with a problem.
        """
        found: dict[int, Generation] = {}
        for index, reply in self.engine.complete(iter(requests)):
            if index not in found:
                found[index] = reply
                self.progress.advance(STAGE, reply, self._pay(reply))
        answers = [
            found.get(index, Generation(request, problem="failed: no answer"))
            for index, request in enumerate(requests)
        ]
        self.replies += answers
        return answers

    def _pay(self, reply: Generation) -> float | None:
        paid = cost(reply, self._price)
        known = self.dollars is not None and paid is not None
        self.dollars = (self.dollars or 0.0) + (paid or 0.0) if known else None
        return paid

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion tokens of all answers."""
        return (
            sum(r.usage.prompt_tokens for r in self.replies),
            sum(r.usage.completion_tokens for r in self.replies),
        )


def first_answer(questioner: Questioner) -> Generation:
    """Ask the first question; raises InputError where nobody answers it."""
    context = questioner.engine.capabilities.context
    reply = Generation(questioner.request(FACTS[0], 1), problem="context")
    for room in (512, 128, 32):  # room to think for a model that does
        if context is None or room * 2 <= context:
            (reply,) = questioner.ask([questioner.request(FACTS[0], room, temperature=0)])
        if reply.problem != "context":
            break
    if reply.problem is not None and reply.problem != "truncated":
        reason = reply.problem.removeprefix("failed: ")
        name = questioner.engine.name
        model = name.partition("#")[2]
        if model and model in reason and reason.startswith("status 4"):
            raise InputError(
                f"{name}: the server does not have the model {model!r} ({reason}); name one that "
                "it has, as URL#model"
            )
        raise InputError(f"{name} did not answer {FACTS[0]!r} ({reason}): nothing can be checked")
    return reply


def thinks(reply: Generation) -> bool:
    """Tell whether a model thought before it answered."""
    return reply.thinking is not None or bool(reply.thinking_tokens) or reply.problem == "truncated"


def said(reply: Generation) -> tuple[str, str | None] | None:
    """Return text and thought of a reply, ``None`` for a request that failed."""
    if reply.problem is not None and reply.problem != "truncated":
        return None
    return reply.text, reply.thinking


def first_token(reply: Generation) -> tuple[str, float] | None:
    """Return the first token as written and its log-probability, ``None`` where either is not
    known: an answer that ended at once, half a character, a failed request."""
    if reply.problem is not None or not reply.logprobs or not reply.text:
        return None
    starts = reply.offsets or (0,)
    if len(reply.logprobs) > 1 and len(starts) < 2:
        return None
    text = reply.text[: starts[1]] if len(starts) > 1 else reply.text
    if not text or "\ufffd" in text:
        return None
    return text, reply.logprobs[0]
