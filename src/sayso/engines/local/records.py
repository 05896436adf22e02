"""Requests that can be run, given texts to read, and the records of what a model computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sayso.engines.local.decode import DecodeJob, Raw
from sayso.engines.local.text import Detokenizer, Rendered, said_once, thought_and_answer
from sayso.records import Alternative, Generation, InputError, Request, Usage

#: Arrays that an engine in this process can record.
ARRAYS = frozenset({"logprobs", "entropies", "margins", "self_certainty", "renyi", "alternatives"})
Arrays = dict[str, list[Any]]


def check_arrays(names: frozenset[str]) -> None:
    """Refuse names of arrays that no engine in this process can record."""
    if not names <= ARRAYS:
        unknown = ", ".join(sorted(names - ARRAYS))
        raise InputError(
            f"array {unknown} is unknown: expected some of {', '.join(sorted(ARRAYS))}"
        )


class Given(NamedTuple):
    """One continuation to read behind a prompt."""

    number: int
    prompt: Rendered
    ids: tuple[int, ...]


def continuation_ids(tokenizer: Any, prompt: Rendered, text: str) -> tuple[int, ...]:
    """Tokenize a continuation as it stands behind its prompt.

    Where the tokenizer would join the prompt's end with the text's beginning into one token, the
    text is tokenized by itself.
    """
    ids = tokenizer(prompt.text + text, add_special_tokens=False)["input_ids"]
    own = tokenizer(prompt.text, add_special_tokens=False)["input_ids"]
    if list(ids[: len(own)]) == list(own):
        return tuple(ids[len(own) :])
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def jobs_of(
    window: Sequence[tuple[int, Request]],
    render: Callable[[Request], Rendered],
    context: int | None,
) -> tuple[list[DecodeJob], list[tuple[int, Generation]]]:
    """Return the requests that can be run, and the records of the others, by their numbers."""
    jobs: list[DecodeJob] = []
    refused: list[tuple[int, Generation]] = []
    for index, request in window:
        prompt = render(request)
        problem = refusal_reason(request, prompt, context)
        if problem is not None or request.max_tokens < 1:
            refused.append((index, unanswered_record(request, prompt, problem)))
        else:
            jobs.append(DecodeJob(index, request, prompt))
    return jobs, refused


def refusal_reason(request: Request, prompt: Rendered, context: int | None) -> str | None:
    """Return why a request cannot be answered by a model that reads ``context`` tokens."""
    if prompt.problem is not None:
        return prompt.problem
    if not (request.temperature >= 0 and request.repetition_penalty > 0):
        return "failed: temperature must be at least 0 and repetition_penalty above 0"
    if context is not None and len(prompt.ids) + request.max_tokens > context:
        return "context"
    return None


def unanswered_record(request: Request, prompt: Rendered, problem: str | None) -> Generation:
    """Return the record of a request that was not run, or that wanted no tokens."""
    return Generation(
        request,
        rendered_hash=prompt.hash,
        overrides=prompt.overrides,
        finish=None if problem else "length",
        usage=Usage(prompt_tokens=len(prompt.ids)),
        problem=problem,
    )


def answered_record(raw: Raw, detokenizer: Detokenizer, record: frozenset[str]) -> Generation:
    """Return the record of what was generated; arrays in ``record`` cover the text's tokens.

    The end-of-text token and what a loop repeats are in none of the arrays but count in the usage.
    The log-probabilities
    of an answer that follows a thought are given that thought, and say so.
    """
    job, request = raw.job, raw.job.request
    if raw.finish == "failed":
        return unanswered_record(request, job.prompt, "failed: the model gave no numbers (NaN)")
    stops = (*request.stop, *job.prompt.stop)
    kept = said_once(detokenizer, raw.ids, raw.repeated) if raw.finish == "loop" else len(raw.ids)
    answer = thought_and_answer(detokenizer, raw.ids[:kept], stops, job.prompt.thought)
    part = slice(answer.first, answer.last)
    overrides = job.prompt.overrides
    if request.response_format is not None:
        overrides = (*overrides, "response_format is not enforced")
    return Generation(
        request,
        rendered_hash=job.prompt.hash,
        text=answer.text,
        thinking=answer.thinking,
        thinking_tokens=answer.thinking_tokens,
        logprob_kind="model" if answer.thinking is None else "model_after_thought",
        overrides=overrides,
        token_ids=tuple(raw.ids[part]),
        offsets=answer.offsets,
        finish=raw.finish,
        usage=Usage(len(job.prompt.ids), raw.computed),
        problem="truncated" if answer.unclosed else None,
        **_arrays({name: values[part] for name, values in raw.arrays.items()}, record),
    )


def forced_record(
    request: Request,
    item: Given,
    arrays: Mapping[str, Sequence[Any]],
    want: frozenset[str],
    detokenizer: Detokenizer,
) -> Generation:
    """Return the record of a continuation that was read."""
    if not all(math.isfinite(value) for value in arrays.get("logprobs", ())):
        return unanswered_record(request, item.prompt, "failed: the model gave no numbers (NaN)")
    text = detokenizer.decode(item.ids)
    return Generation(
        request,
        rendered_hash=item.prompt.hash,
        text=text,
        logprob_kind="model",
        overrides=item.prompt.overrides,
        token_ids=item.ids,
        offsets=tuple(detokenizer.offsets(item.ids, text)),
        usage=Usage(prompt_tokens=len(item.prompt.ids)),
        **_arrays(arrays, want),
    )


def _arrays(arrays: Mapping[str, Sequence[Any]], record: frozenset[str]) -> dict[str, Any]:
    """Return the arrays in ``record`` as fields of a record."""
    fields: dict[str, Any] = {
        # float32 holds no more than six decimals, and records stay small
        name: tuple([round(v, 6) + 0.0 for v in arrays.get(name, ())])
        for name in record
        if name != "alternatives"
    }
    if "alternatives" in record:
        pairs = zip(
            arrays.get("alternative_tokens", ()), arrays.get("alternatives", ()), strict=True
        )
        fields["alternatives"] = tuple(
            tuple(Alternative(t, round(v, 6)) for t, v in zip(tokens, values, strict=True))
            for tokens, values in pairs
        )
    return fields
