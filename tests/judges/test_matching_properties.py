"""What must hold of every match: valid spans, no crash, aliases, case and diacritics, cost."""

from __future__ import annotations

import string
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.dates import find_dates
from sayso.judges.english.quantities import find_quantities
from sayso.judges.english.tokens import tokens
from sayso.judges.rules import matching
from sayso.judges.rules.matching import match
from sayso.records import Gold
from support.effort import check_growth
from support.tables import tabled

QUESTION = "What is it?"
NAMES = st.lists(
    st.text(string.ascii_lowercase, min_size=2, max_size=9).map(str.capitalize),
    min_size=1,
    max_size=4,
).map(" ".join)
# Text of the kinds the readers look for, glued together at random.
PIECES = st.sampled_from(
    ["12 March 1946", "1946", "1,500", "2.5 million", "km", "not", "and", "or", ", ", ". ", "(",
     ")", "II", "the", "Ripley", "born", "died", "-", "\u2013", "/", "1946-08-15T00:00:00Z",
     "half a", "%", "\u00b0C", "10^24", "\u00d7", "\u00df", "\u0130", "e\u0301", "\ud55c\uad6d",
     "\u0661\u0662", "\u00b2", "'s", "\n", "\u2028", "May", "twenty", "hundred", "BC", "century",
     "1940s", "$", "rather than", "nineteenth century"]
)  # fmt: skip
SALAD = st.lists(PIECES, max_size=30).map(" ".join)
ANYTHING = st.one_of(st.text(max_size=200), SALAD, st.lists(PIECES, max_size=30).map("".join))


@given(st.one_of(NAMES, SALAD))
def test_a_gold_that_says_something_is_correct_itself(value: str) -> None:
    if not value.strip():
        return
    assert match(QUESTION, [Gold(value)], value).content == "correct"


@given(ANYTHING, st.lists(ANYTHING, max_size=4), ANYTHING)
def test_never_raises_and_spans_index_the_text(question: str, golds: list[str], text: str) -> None:
    found = match(question, [Gold(g) for g in golds], text)
    assert found.content in ("correct", "incorrect", "none")
    assert (found.start is None) == (found.end is None)
    if found.start is not None and found.end is not None:
        assert 0 <= found.start < found.end <= len(text)
    if found.content == "correct":
        assert found.start is not None
    assert found.why


@given(ANYTHING, st.sampled_from(["date", "quantity", "text"]), ANYTHING)
def test_kinds_and_units_never_raise(value: str, kind: str, text: str) -> None:
    for precision, unit in ((None, None), ("year", "km"), ("century", "nonsense"), ("x", "")):
        gold = Gold(value, kind=kind, precision=precision, unit=unit)  # type: ignore[arg-type]
        assert match("When?", [gold], text).content in ("correct", "incorrect", "none")


@given(ANYTHING)
def test_finders_return_spans_of_the_text_in_order(text: str) -> None:
    for found in (find_dates(text), find_quantities(text), tokens(text)):
        starts = [f.start for f in found]
        assert starts == sorted(starts)
        assert all(0 <= f.start < f.end <= len(text) for f in found)


@given(NAMES, NAMES, st.one_of(NAMES, SALAD))
def test_an_alias_never_turns_correct_into_incorrect(one: str, other: str, text: str) -> None:
    if match(QUESTION, [Gold(one)], text).content == "correct":
        assert match(QUESTION, [Gold(one, aliases=(other,))], text).content == "correct"


@given(NAMES, st.lists(NAMES, max_size=3))
def test_order_of_aliases_does_not_matter(value: str, others: list[str]) -> None:
    text = " ".join([value, *others])
    names = [value, *others]
    contents = {
        match(QUESTION, [Gold(n[0], aliases=tuple(n[1:]))], text).content
        for n in (names, names[::-1])
    }
    assert len(contents) == 1


@given(NAMES)
def test_case_and_diacritics_do_not_matter(value: str) -> None:
    marked = value.replace("e", "\u00e9").replace("o", "\u00f6").replace("n", "n\u0303")
    for written in (value.upper(), marked, marked.upper(), f"\u201c{value}\u201d", f"  {value}!"):
        assert match(QUESTION, [Gold(value)], written).content == "correct", written
        assert match(QUESTION, [Gold(written)], value).content == "correct", written


def test_the_span_is_in_the_text_as_given() -> None:
    text = "Well \u2014 e\u0301coutez: it was Bj\u00f6rn \u00c5kesson\u2019s idea."
    found = match("Whose idea was it?", [Gold("Bjorn Akesson")], text)
    assert text[found.start : found.end].startswith("Bj\u00f6rn \u00c5kesson")
    wrong = match("When was it built?", [Gold("1946")], "They built it in 1947, in stone.")
    assert wrong.content == "incorrect"
    assert (wrong.start, wrong.end) == (17, 21)
    short = match("Who wrote it?", [Gold("Ann Lee")], "  Bo Hart.")
    assert "  Bo Hart."[short.start : short.end] == "Bo Hart"


LONG = [
    "a " * 50_000,
    "1946 " * 20_000,
    "1,000" * 20_000,
    "9" * 100_000,
    "Ripley and " * 10_000,
    "not Ripley " * 10_000,
    "(" * 100_000,
    "12 March " * 3_000,
    "between 1 and " * 8_000,
    "one hundred and " * 7_000,
    "A" * 100_000,
    "aA" * 50_000,
    "e\u0301" * 50_000,
    "U.S. " * 20_000,
    "'s" * 50_000,
    "- " * 50_000,
    "Ann Lee, " * 12_000,
    "Ann de la Cour " * 7_000,
    "\n" * 100_000,
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_work_grows_no_faster_than_the_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golds of several kinds against 27,000 to 100,000 characters: few candidates are looked at."""
    looked = 0
    real = matching._rejected

    def counting(case: matching.MatchedCase, one: matching.Candidate, kind: str) -> str | None:
        nonlocal looked
        looked += 1
        return real(case, one, kind)

    monkeypatch.setattr(matching, "_rejected", counting)
    golds = [Gold("Ripley"), Gold("Ann Lee"), Gold("1946-08-15T00:00:00Z"), Gold("100 km")]
    match("Where was Ada born?", golds, text)
    match("Where was Ada born?", [Gold("Bo Hart", aliases=("7 March 1701",))], text)
    assert looked <= matching.MOST_CANDIDATES * 5


ASKED = [
    ("Where was she born?", "Paris"),
    ("When was she born?", "12 March 1946"),
    ("How many?", "621"),
    ("Who is it?", "Ann Bo Smith"),
    ("Where did she study?", "University of Washington"),
]


@tabled
def test_time_grows_with_the_text(piece: str) -> None:
    sizes = count()  # what is read is remembered: each text is another one

    def read(size: int) -> None:
        text = (piece * (size // len(piece) + 1))[: size - next(sizes)]
        for question, gold in ASKED:
            match(question, [Gold(gold)], text)

    check_growth(read, 2_000, 16_000, 1.5)
