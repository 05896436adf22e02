"""Estimates to something a person reads: a table in the terminal, a page in the browser, JSON.

``write(run)`` makes ``report.html``; the heavy libraries load only then.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.store import RunFolder

__all__ = ["write"]


def write(run: Path | RunFolder) -> Path:
    """Write ``report.html`` (and ``answers/`` beside it) into a run folder; return its path."""
    from sayso.report.html import write as write_page

    return write_page(run)
