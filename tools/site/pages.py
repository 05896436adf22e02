"""Files outside docs/ that its pages link to become pages of the site too (a hook of mkdocs)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
_UP = re.compile(r"\]\(((?:\.\./)+[^)#]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the studies, and every other file that a page links to outside docs/."""
    studies = list((ROOT / "benchmarks").rglob("*.md"))
    paths = set(studies)
    for page in [*(ROOT / "docs").glob("*.md"), *studies]:
        for target in _UP.findall(page.read_text("utf-8")):
            paths.add((page.parent / target).resolve())
    for path in sorted(paths):
        if path.is_file() and not path.is_relative_to(ROOT / "docs"):
            place = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links between docs/ and the other folders to where their pages are in the site."""
    if page.file.src_uri.count("/"):
        return re.sub(r"\]\(((?:\.\./)+)docs/", r"](\1", markdown)
    return re.sub(r"\]\(\.\./(?!docs/)", "](", markdown)
