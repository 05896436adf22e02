"""``--help`` loads no charts, tables or models: it is typed often, and must come at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sayso.metrics.cmfg import BINS, LEAST_IN_BIN
from sayso.options import check_types
from sayso.protocols.faithfulness import Settings
from sayso.protocols.settings import replace
from sayso.records import InputError

HEAVY = ("altair", "jinja2", "numpy", "pyarrow", "torch", "transformers", "vl_convert", "openai")


@pytest.mark.parametrize(
    "command", ["run", "run uncle", "run selective", "study", "score", "check"]
)
def test_help_loads_little(command: str) -> None:
    code = (
        "import sys; from sayso import cli; "
        f"cli.execute({[*command.split(), '--help']!r}); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Examples:" in done.stdout
    assert done.stderr.strip() == "[]"


def test_limits_that_are_written_again_for_it_are_those_of_the_metric() -> None:
    assert Settings().bins == BINS
    check_types(replace(Settings(), {"shared_least": LEAST_IN_BIN}))
    with pytest.raises(InputError, match="shared_least"):
        check_types(replace(Settings(), {"shared_least": LEAST_IN_BIN - 1}))
