"""docs/notebook.ipynb is true: its cells run from top to bottom, and show what it says."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BOOK: dict[str, Any] = json.loads((DOCS / "notebook.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in BOOK["cells"] if cell["cell_type"] == "code"]
TEXT = "\n".join("".join(cell["source"]) for cell in BOOK["cells"] if cell["cell_type"] != "code")


def test_it_is_a_notebook_without_outputs() -> None:
    assert (BOOK["nbformat"], BOOK["nbformat_minor"]) == (4, 5)
    assert BOOK.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert BOOK["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in BOOK["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
    for cell in BOOK["cells"]:
        own = {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
        assert cell == {**cell, "metadata": {}, **own}
        assert cell.keys() == {"cell_type", "id", "metadata", "source", *own}
        assert cell["cell_type"] in ("code", "markdown")
        lines = cell["source"]
        assert all(line.endswith("\n") for line in lines[:-1])
        assert not lines[-1].endswith("\n")


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert links
    assert all((DOCS / link.partition("#")[0]).is_file() for link in links)


def displayed(code: str, names: dict[str, Any]) -> object:
    """Run a cell; return what a notebook would show below it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_its_cells_run_and_show_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [value for code in CODE if (value := displayed(code, names)) is not None]
    kinds = [type(value).__name__ for value in shown]
    assert kinds == [
        "Result", "DataFrame", "Figure", "AnswerTable", "Series", "Figure", "AnswerTable",
        "DataFrame", "Figure",
    ]  # fmt: skip
    assert (tmp_path / "runs" / "first" / "report.html").is_file()
    for value in shown:
        made = [
            show for kind in ("html", "svg") if (show := getattr(value, f"_repr_{kind}_", None))
        ]
        assert not made or "<t" in made[0]() or "<svg" in made[0]()
    # the text speaks of these
    wrong, hedged = (value for value in shown if type(value).__name__ == "AnswerTable")
    assert list(wrong)
    assert list(hedged)
    plots = re.findall(r'result\.plot\("([^"]+)"\)', TEXT)
    assert plots
    assert set(plots) <= set(names["result"].plots)
    scored = names["scored"]
    assert scored[names["scores"]].notna().all(axis=None)
