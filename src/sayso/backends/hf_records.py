"""From what the model computed to the records that are stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sayso.backends.hf_decode import Raw
from sayso.backends.hf_force import Given
from sayso.backends.hf_render import Rendered
from sayso.backends.hf_text import Detokenizer, read_answer
from sayso.records import Alternative, Generation, Request, Usage


def unanswered(request: Request, prompt: Rendered, problem: str | None) -> Generation:
    """Return the record of a request that was not run, or asked for no tokens."""
    return Generation(
        request,
        rendered_hash=prompt.hash,
        overrides=prompt.overrides,
        finish=None if problem else "length",
        usage=Usage(prompt_tokens=len(prompt.ids)),
        problem=problem,
    )


def answered(raw: Raw, detokenizer: Detokenizer, record: frozenset[str]) -> Generation:
    """Return the record of what was generated; arrays in ``record`` cover the text's tokens.

    The end-of-text token is in none of the arrays but counts in the usage. The log-probabilities
    of an answer that follows a thought are given that thought, and say so.
    """
    job, request = raw.job, raw.job.request
    if raw.finish == "failed":
        return unanswered(request, job.prompt, "failed: the model gave no numbers (NaN)")
    stops = (*request.stop, *job.prompt.stop)
    answer = read_answer(detokenizer, raw.ids, stops, job.prompt.thought)
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


def forced(
    request: Request,
    item: Given,
    arrays: Mapping[str, Sequence[Any]],
    want: frozenset[str],
    detokenizer: Detokenizer,
) -> Generation:
    """Return the record of a continuation that was read."""
    if not all(math.isfinite(value) for value in arrays.get("logprobs", ())):
        return unanswered(request, item.prompt, "failed: the model gave no numbers (NaN)")
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


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    """Round to six decimals: float32 holds no more, and records stay small."""
    return tuple([round(v, 6) + 0.0 for v in values])


def _arrays(arrays: Mapping[str, Sequence[Any]], record: frozenset[str]) -> dict[str, Any]:
    """Return the arrays in ``record`` as fields of a record."""
    found: dict[str, Any] = {
        name: _rounded(arrays.get(name, ())) for name in record if name != "alternatives"
    }
    if "alternatives" in record:
        pairs = zip(
            arrays.get("alternative_tokens", ()), arrays.get("alternatives", ()), strict=True
        )
        found["alternatives"] = tuple(
            tuple(Alternative(t, round(v, 6)) for t, v in zip(tokens, values, strict=True))
            for tokens, values in pairs
        )
    return found
