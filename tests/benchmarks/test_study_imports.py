"""Studies and tools take from sayso what it has: nobody runs all of them after every change."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    str(path.relative_to(ROOT))
    for part in ("benchmarks", "tools")
    for path in (ROOT / part).rglob("*.py")
)


def missing(source: str) -> Iterator[str]:
    """Yield what a script imports from sayso that is not there."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "sayso":
            continue
        module = importlib.import_module(str(node.module))
        inside = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", []))}
        for name in node.names:
            if not hasattr(module, name.name) and name.name not in inside:
                yield f"line {node.lineno}: {node.module} has no {name.name}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_imports_what_there_is(script: str) -> None:
    assert not list(missing((ROOT / script).read_text(encoding="utf-8")))


def test_a_name_that_is_gone_is_found() -> None:
    assert list(missing("from sayso.records import Estimate, Nothing")) == [
        "line 1: sayso.records has no Nothing"
    ]
