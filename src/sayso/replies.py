"""What the cache keeps of a generation: the reply alone, as compressed JSON, exactly."""

from __future__ import annotations

import json
import zlib

import msgspec

from sayso.records import Generation, Request

ARRAYS = (
    "token_ids", "offsets", "logprobs", "entropies", "margins", "self_certainty", "renyi",
    "alternatives",
)  # fmt: skip
NOTHING = Request(messages=())
DECODER = msgspec.json.Decoder(Generation)


def unbind(generation: Generation) -> Generation:
    """Return the reply alone: without the request and without what a run added to it."""
    return msgspec.structs.replace(
        generation,
        request=NOTHING, id="", question="", stage="", form="", method="", instructed=False,
    )  # fmt: skip


def encode(generation: Generation) -> bytes:
    """Return a reply as compressed JSON, exactly: NaN and lone surrogates included."""
    try:
        text = msgspec.json.encode(generation)
    except UnicodeEncodeError:
        text = b"null"
    if b"null" in text:  # a NaN or infinity was written as null, or a text says "null"
        text = json.dumps(msgspec.to_builtins(generation), separators=(",", ":")).encode()
    return zlib.compress(text, 1)


def decode(data: bytes) -> Generation | None:
    """Return the reply, or ``None`` when it is not one."""
    try:
        text = zlib.decompress(data)
    except (zlib.error, MemoryError):
        return None
    try:
        return DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return msgspec.convert(json.loads(text), Generation)
    except (ValueError, RecursionError):  # JSON and msgspec errors are ValueErrors
        return None


def arrays_of(generation: Generation) -> frozenset[str]:
    """Return the names of the arrays that were recorded."""
    return frozenset(name for name in ARRAYS if getattr(generation, name) is not None)


def merge(old: Generation, new: Generation) -> Generation | None:
    """Return what to store in place of ``old``; ``None`` to keep it.

    The same tokens: the union of both records. Other tokens (an endpoint need not repeat itself):
    the old reply stays, unless the new one has all of its arrays and more.
    """
    if (old.problem is None) != (new.problem is None):
        return new if new.problem is None else None
    before, after = arrays_of(old), arrays_of(new)
    if after <= before:
        return None
    same = old.token_ids is not None and old.token_ids == new.token_ids
    if same and old.text == new.text and old.logprob_kind in (None, new.logprob_kind):
        added = {name: getattr(new, name) for name in after - before}
        return msgspec.structs.replace(old, logprob_kind=new.logprob_kind, **added)
    return new if before < after else None
