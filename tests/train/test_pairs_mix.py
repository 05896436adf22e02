"""Mix rows: one size for every share."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.train.recipes import largest, mix
from sayso.train.rows import Form, TrainingRow


def rows(form: Form, number: int) -> list[TrainingRow]:
    return [
        TrainingRow("p", f"{form}{i}", "r", form, f"e{i}", (f"q{i}",), "k") for i in range(number)
    ]


@pytest.mark.parametrize(("xi", "long"), [(0.0, 0), (0.1, 1), (0.25, 2), (0.7, 7), (1.0, 10)])
def test_the_share_is_of_long_rows(xi: float, long: int) -> None:
    made = mix(rows("short", 10), rows("long", 10), xi, 10)
    assert len(made) == 10
    assert sum(r.form == "long" for r in made) == long  # round(2.5) = 2


def test_too_few_rows_are_refused_with_their_number() -> None:
    with pytest.raises(InputError) as told:
        mix(rows("short", 40), rows("long", 6), 0.7, 10)
    assert str(told.value) == (
        "mix: xi 0.7 of 10 rows takes 7 long ones, and there are 6; a size of 9 would do, or a run "
        "over more entities"
    )
    doubled = rows("long", 6) * 2  # the same rows again are no more rows
    with pytest.raises(InputError, match="there are 6"):
        mix(rows("short", 40), doubled, 0.7, 10)


@pytest.mark.parametrize(("xi", "size"), [(-0.1, 5), (1.1, 5), (0.5, 0)])
def test_impossible_sets_are_refused(xi: float, size: int) -> None:
    with pytest.raises(InputError):
        mix(rows("short", 9), rows("long", 9), xi, size)
    with pytest.raises(InputError, match="a long row among the short ones"):
        mix(rows("long", 9), rows("long", 9), 0.5, 4)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9), st.randoms())
def test_every_share_gives_the_largest_common_size(
    short: int, long: int, seed: int, dice: random.Random
) -> None:
    xis = [0.1, 0.3, 0.5, 0.7, 0.9]
    size = largest(short, long, xis)
    given_rows = rows("short", short), rows("long", long)
    held: set[TrainingRow] = set()
    for xi in xis if size else ():
        made = mix(*given_rows, xi, size, seed)
        assert len(set(made)) == size
        mixed = [dice.sample(some, len(some)) for some in given_rows]
        assert mix(mixed[0], mixed[1], xi, size, seed) == made
        longs = {r for r in made if r.form == "long"}
        assert held <= longs  # sets differ by as little as they must
        held = longs
    over = [round(xi * (size + 1)) for xi in xis]
    assert any(n > long or size + 1 - n > short for n in over)
