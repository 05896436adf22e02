"""Patterns that are compiled on first use: the same results, and none of them is broken."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from sayso.judges.patterns import _Uncompiled, regex
from support.tables import tabled

READERS = (
    *("cascade", "claim_questions", "claims", "contradiction", "decisiveness", "self_judgement"),
    *("support", "model.replies"),
    *("english.dates", "english.families", "english.language", "english.quantities"),
    *("english.questions", "english.sentences", "english.tokens"),
    *("rules.judge", "rules.matching", "rules.names", "rules.natural_questions", "rules.reading"),
)


@tabled
def test_a_pattern_gives_what_re_gives(method: str, arguments: tuple[object, ...]) -> None:
    lazy, known = regex(r"\b(may)\b", re.I), re.compile(r"\b(may)\b", re.I)

    def shown(found: object) -> object:
        return (found.span(), found.groups()) if isinstance(found, re.Match) else found

    for _ in range(2):  # the first use, and one after it
        assert shown(getattr(lazy, method)(*arguments)) == shown(getattr(known, method)(*arguments))


def test_asking_for_what_no_pattern_has_compiles_nothing() -> None:
    broken = regex("(")
    assert getattr(broken, "cache_clear", None) is None
    with pytest.raises(re.error):
        broken.search("a")


def test_every_pattern_of_the_readers_compiles() -> None:
    for name in READERS:
        import_module(f"sayso.judges.{name}")
    gc.unfreeze()  # what the suite keeps from collection is no object of gc's
    patterns = [one for one in gc.get_objects() if isinstance(one, _Uncompiled)]
    assert len(patterns) > 200
    for one in patterns:
        assert re.compile(one.pattern, one._flags)


def test_importing_the_readers_compiles_nothing_long() -> None:
    code = (
        "import re, sys\nlong = []\noriginal = re.compile\n"
        "def compile(pattern, flags=0):\n"
        "    ours = sys._getframe(1).f_globals['__name__'].startswith('sayso.judges')\n"
        "    long.append(pattern) if ours and len(pattern) > 400 else None\n"
        "    return original(pattern, flags)\n"
        "re.compile = compile\n"
        + "".join(f"import sayso.judges.{name}\n" for name in READERS)
        + "assert not long, long[0]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_weights_for_nli_the_hub_library_stays_closed(tmp_path: Path) -> None:
    """Opening it costs more than scoring a few rows."""
    code = (
        "import sys\nfrom sayso.runs.tools import chosen_nli\nassert chosen_nli() == 'rules'\n"
        "assert 'huggingface_hub.file_download' not in sys.modules"
    )
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
