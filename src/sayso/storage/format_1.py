"""Slices and signatures as format 1 of run folders and of ``teaching.json`` holds them: as text.

Format 2 holds pairs (:data:`sayso.records.Slice`). This reader goes one release after it came.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType

from sayso.records import Signature, Slice

#: every key that a slice of format 1 may have
KEYS = (
    "against", "answer", "answers", "bin", "choice", "claims", "class", "clear", "confidence",
    "coverage", "decisiveness", "domain", "factuality", "fifth", "first", "form", "given", "k",
    "known", "layer", "length", "method", "metric", "minus", "mode", "other", "part", "policy",
    "position", "problem", "prompt", "question", "reason", "right", "score", "second", "type",
    "under",
)  # fmt: skip
#: keys that nothing follows: their value, which any text may be, goes to the end
LAST = ("domain", "length", "minus", "problem", "question", "reason", "type")
_KEY = re.compile(rf"(?:^|;)({'|'.join(KEYS)}):")


def read_slice(text: str) -> Slice:
    """Return the pairs of a slice such as "form:short;domain:movies"; "all" is ().

    A value may hold ";" and ":" itself: a part begins at a key that has not come before, and none
    begins behind a key of :data:`LAST`. Text that begins with no known key is one part.
    """
    if text in ("", "all"):
        return ()
    starts: list[re.Match[str]] = []
    for start in _KEY.finditer(text):
        keys = [other[1] for other in starts]
        if start[1] not in keys and not any(key in LAST for key in keys):
            starts.append(start)
    if not starts or starts[0].start():
        key, _, value = text.partition(":")
        return ((key, value),)
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return tuple((s[1], text[s.end() : end]) for s, end in zip(starts, ends, strict=True))


def read_signature(text: str) -> Signature:
    """Return the pairs of "J|form:short|seed:0"; a value that holds "|" becomes several parts.

    Written again, it is the text that it was.
    """
    parts = [
        part.partition(":") if part.find(":") > 0 else ("", "", part) for part in text.split("|")
    ]
    return tuple((key, value) for key, _, value in parts) if text else ()


#: how the columns of a table of estimates are read
READ: MappingProxyType[str, Callable[[str], tuple[tuple[str, str], ...]]] = MappingProxyType(
    {"where": read_slice, "signature": read_signature}
)
