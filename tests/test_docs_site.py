"""The documentation as a site, built strictly: a dead link or a missing page is an error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    api = (tmp_path / "site" / "api" / "index.html").read_text("utf-8")
    for name in ("sayso.run", "sayso.score", "sayso.metrics.auroc", "sayso.records.Question"):
        assert f'id="{name}"' in api, name
    for page in (tmp_path / "site").rglob("*.html"):  # opened without a network
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', page.read_text())


def test_the_citation_is_of_this_version() -> None:
    from sayso import __version__

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    found = {i["value"] for r in citation["references"] for i in r["identifiers"]}
    assert found == {f"arXiv:{n}" for n in ("2505.16922", "2405.16908", "2504.13677", "2411.15993")}
