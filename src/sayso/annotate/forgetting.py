"""Letting go of what the rules remember of texts that will not come again.

The rules remember what they read in a text, so that judging it again costs nothing, and count
that memory in texts. Over a long file of long texts it would be most of the memory in use.
"""

from __future__ import annotations

import sys

PACKAGE = "sayso.annotate."


def forget_texts() -> None:
    """Empty every memory (``functools.lru_cache``) of this package's modules."""
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE):
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if callable(clear):
                    clear()
