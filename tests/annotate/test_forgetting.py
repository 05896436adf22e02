"""What the rules remember of texts can be let go, and comes back when asked again."""

from __future__ import annotations

from sayso.judges.meaning import equivalent
from sayso.judges.rules.stance import read
from sayso.judges.rules.text import forget_texts


def test_every_memory_is_emptied_and_nothing_changes() -> None:
    before = equivalent("When was she born?", "12 May 1985", "1985-05-12")
    assert equivalent.cache_info().currsize
    assert read.cache_info().currsize
    forget_texts()
    assert equivalent.cache_info().currsize == 0
    assert read.cache_info().currsize == 0
    assert equivalent("When was she born?", "12 May 1985", "1985-05-12") == before
