"""Words too many on the command line are told with what they may have been meant for."""

from __future__ import annotations

import pytest

from sayso.cli import execute


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "selectiv"], "'selectiv': nothing is expected there; did you mean selective?"),
        (["run", "xyz"], "'xyz': nothing is expected there; protocols: "),
        (["score", "x.jsonl", "--methods", "a", "b"], "written a,b without spaces (sayso score"),
        (["report", "a", "b"], "'b': nothing is expected there"),
    ],
)
def test_words_too_many(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(argv) == 2
    said = capsys.readouterr().err
    assert said.startswith("sayso: ")
    assert told in said
