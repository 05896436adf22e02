"""Every protocol gives the charts of its page as figures, each with a name of its own."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import report as reports
from sayso.protocols import PROTOCOLS

#: settings with which a run takes a second and has every chart
QUICK: dict[str, dict[str, Any]] = {
    "faithfulness": {"methods": "vanilla,uncertainty", "draws.k": 4},
    "self_known": {"draws.k": 2},
    "selective": {"draws.k": 5},
}


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_figures_are_the_charts_of_the_page(protocol: str, tmp_path: Path) -> None:
    result = sayso.run(
        protocol, model="builtin", data="builtin", out=tmp_path / "r", report=False,
        limit=8 if protocol == "selective" else 2,  # ranked from five of each kind
        settings={"resamples": 100, **QUICK.get(protocol, {})},
    )  # fmt: skip
    page = reports.write(result.path).read_text(encoding="utf-8")
    drawn = re.findall(r'class="chart wide"[^>]*aria-label="([^"]*)"', page)
    names = result.plots
    assert len(names) == len(set(names)) > 0
    assert sorted(html.unescape(label) for label in drawn) == sorted(
        result.plot(name).label for name in names
    )
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    assert not any(name.endswith("-2") for name in names)  # each was given a name of its own
