"""The tutorial and docs/checking.md show what today's version prints, number by number.

Where a change is meant: ``cd tests && ../.venv/bin/python -m support.printed``. Where the reader of
answers has a new version, run the tutorial's two commands first, and add ``--runs STUDY RUN``.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec
import pytest

from sayso.judges.rules.judge import SIGNATURE
from support import printed

BLOCKS = [block for page in printed.PAGES for block in printed.shown(page)]
IDS = [block.command or f"{block.page}, no command" for block in BLOCKS]
made = cache(printed.printed)


def test_every_block_of_output_is_held() -> None:
    assert {(block.page, block.command) for block in BLOCKS} == set(printed.HELD)
    assert len(BLOCKS) == len(printed.HELD)


@pytest.mark.parametrize("block", BLOCKS, ids=IDS)
def test_a_page_shows_what_is_printed(block: printed.Block) -> None:
    output = made(block.page, block.command)
    assert printed.holds(block.text, output), printed.changes(block.text, output)


@pytest.mark.parametrize("block", BLOCKS, ids=IDS)
def test_a_changed_number_is_seen(block: printed.Block) -> None:
    output = made(block.page, block.command)
    held = "\n".join(printed.plain(block.text))
    digits = [found.start() for found in re.finditer(r"\d", held)]
    assert len(digits) >= 8
    for at in digits:
        other = str((int(held[at]) + 1) % 10)
        assert not printed.holds(held[:at] + other + held[at + 1 :], output), held[
            at - 20 : at + 20
        ]


def test_the_kept_runs_were_read_by_todays_reader() -> None:
    """Else the pages show what nobody sees any more; the module's docstring says how to mend it."""
    manifests = sorted(printed.KEPT.rglob("manifest.json"))
    read = {msgspec.json.decode(one.read_bytes())["judge_signature"] for one in manifests}
    assert len(manifests) == 3
    assert read == {SIGNATURE}


def test_lost_added_and_moved_lines_are_seen() -> None:
    output = "one 1\ntwo 2\nthree 3\nfour 4\n"
    for same in (output, "one 1\n[...]\nfour 4\n", "[...]\ntwo 2\n[...]\n", "one 1  \n[...]\n"):
        assert printed.holds(same, output), same
    for other in (
        "one 1\ntwo 2\nthree 3\n",
        "two 2\nthree 3\nfour 4\n",
        "one 1\nfour 4\n",
        "one 1\n[...]\nthree 3\n",
        "two 2\n[...]\nfour 4\n",
        "[...]\nthree 3\n[...]\ntwo 2\n[...]\n",
        output + "five 5\n",
        "",
    ):
        assert not printed.holds(other, output), other


def test_only_seconds_and_the_cache_folder_may_vary() -> None:
    assert printed.plain("it asks no model; 1.1 s") == printed.plain("it asks no model; 27.0 s")
    one, other = (f"kept: {place}/judge-checks/0dce.json" for place in ("~/.cache/sayso", "/tmp/x"))
    assert printed.plain(one) == printed.plain(other)
    assert printed.plain("J 0.30 s and more") == ["J 0.30 s and more"]
