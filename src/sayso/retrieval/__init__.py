"""Passages of a knowledge source in an SQLite full-text index, and the search in it.

``build_index`` makes or updates the index of a source, ``open_index`` opens one, ``opened`` does
what of the two is needed.
"""

from __future__ import annotations

from sayso.retrieval.build import build_index, opened
from sayso.retrieval.index import Index, IndexInfo, open_index

__all__ = ["Index", "IndexInfo", "build_index", "open_index", "opened"]
