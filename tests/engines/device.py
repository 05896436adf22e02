"""Where the tests that follow a device compute: ``SAYSO_TEST_DEVICE=cuda`` runs them on a GPU."""

from __future__ import annotations

import os

DEVICE = os.environ.get("SAYSO_TEST_DEVICE", "cpu")
