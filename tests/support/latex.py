"""LaTeX tables read back, and typeset where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

TABULAR = re.compile(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", re.DOTALL)
#: what shrinks a tabular to the line
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def latex_rows(text: str) -> list[list[str]]:
    """Return the cells of a LaTeX table; fails for anything that would not compile.

    Braces and dollars balance, every special sign is escaped, every row has all columns, and only
    commands of booktabs, graphicx and of LaTeX itself stand there. The lines of a row are joined.
    """
    text = "\n".join(row for row in text.splitlines() if not row.startswith("%"))
    kind = "table*" if "\\begin{table*}" in text else "table"
    assert text.count(f"\\begin{{{kind}}}") == text.count(f"\\end{{{kind}}}") == 1
    assert text.count(FITTED) == len(TABULAR.findall(text)) == 1  # no wider than the line
    commands = set(re.findall(r"\\([A-Za-z]+)", text))
    assert commands <= {
        "begin", "end", "centering", "caption", "label", "small", "footnotesize", "scriptsize",
        "resizebox", "ifdim", "width", "linewidth", "else", "fi", "addlinespace", "toprule",
        "midrule",
        "bottomrule", "cmidrule", "multicolumn", "textbf", "texttt", "textbackslash",
        "textless", "textgreater", "textbar", "textasciitilde", "textasciicircum",
        "textasciigrave", "pm", "cdot", "geq", "times", "mu", "rightarrow", "dots", "leq",
        "approx", "circ",
    }  # fmt: skip
    rows = []
    for align, body in TABULAR.findall(text):
        columns, new = len(align), True
        for row in body.splitlines():
            if row.startswith(("\\toprule", "\\midrule", "\\bottomrule", "\\cmidrule")):
                spans = re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", row)
                assert all(1 <= int(a) <= int(b) <= columns for a, b in spans)
                new = True
                continue
            if row == r"\addlinespace[2pt]":
                new = True
                continue
            assert row.endswith(r" \\")
            cells = re.split(r"(?<!\\)&", row.removesuffix(r" \\"))
            wide = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
            assert len(cells) + wide == columns, row
            for part in cells:
                plain = re.sub(r"\\[&%$#_{}]", "", part)
                assert plain.count("{") == plain.count("}")
                assert plain.count("$") % 2 == 0
                outside = re.sub(r"\$[^$]*\$", "", plain)
                assert not re.search(r"[%#_^~&]", outside), part
                assert all(sign.isascii() or sign.isalpha() for sign in outside)
            assert not cells[0].strip().startswith(("[", "*"))  # else they belong to \\ before them
            shown = [part.strip() for part in cells]
            tall = r"\addlinespace" in body or r"\scriptsize" in body
            if new or not tall or len(shown) != len(rows[-1]):
                rows.append(shown)
            else:
                rows[-1] = [" ".join(two).strip() for two in zip(rows[-1], shown, strict=True)]
            new = False
    return rows


def typeset(text: str, folder: Path) -> list[str]:
    """Return the lines of a table that LaTeX finds too wide; fails where it does not compile.

    Holds without LaTeX.
    """
    if shutil.which("pdflatex") is None:
        return []
    file = folder / "t.tex"
    head = "\\documentclass[a4paper]{article}\\usepackage{booktabs,graphicx}\\begin{document}\n"
    file.write_text(f"{head}{text}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name],
        cwd=folder, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    out = done.stdout.decode(errors="replace")
    assert done.returncode == 0, out[-2_000:]
    return re.findall(r"Overfull .hbox.*", out)
