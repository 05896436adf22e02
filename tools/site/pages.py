"""Files outside docs/ that its pages link to become pages of the site too (a hook of mkdocs)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
_OUTSIDE = re.compile(r"\]\(\.\./((?!docs/)[^)#]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the studies, and every other file that a page links to outside docs/."""
    places = {f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("*.md")}
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]:
        places |= set(_OUTSIDE.findall(page.read_text("utf-8")))
    for place in sorted(places):
        if (ROOT / place).is_file():
            files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links between docs/ and the other folders to where their pages are in the site."""
    if page.file.src_uri.count("/"):
        return re.sub(r"\]\(\.\./docs/", "](../", markdown)
    return _OUTSIDE.sub(lambda found: f"]({found[1]}", markdown)
