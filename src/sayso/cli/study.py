"""The help of ``sayso study``; what it does stands in :mod:`sayso.cli.studying`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from sayso.cli.commands import own_first, with_options
from sayso.cli.flags import StudyFlags, StudyKeys
from sayso.later import later

with later(__name__):
    from sayso.cli import studying


def _study(
    *sources: Annotated[
        Path,
        Parameter(help="a YAML file with models, data and protocols; or run folders"),
    ],
    flags: StudyFlags,
    settings: Mapping[str, Any],
) -> int:
    """Several models on several data sets by several protocols, on one page with joint intervals.

    Runs that are missing are made, those that are finished are used. Folders of finished runs are
    a study too. Stopped at any moment, the same command goes on.
    """
    return studying.study(sources, flags, settings)


study = with_options(_study, later=own_first(StudyKeys))
