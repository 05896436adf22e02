"""What the tests of ``sayso score`` share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw intervals as on a long file, with the fewest resamples: most of the time goes there.

    Files of tests that look at intervals override this fixture.
    """
    monkeypatch.setattr("sayso.score_files.leaderboard.MOST", 200)
