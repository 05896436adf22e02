"""What a method's words say of one aspect."""

from __future__ import annotations

import pytest

from sayso.judges.decisiveness import decisiveness
from sayso.protocols.uncle.seeds import _decisive

PERHAPS = decisiveness("Possibly Lyon")


@pytest.mark.parametrize(
    "sentence",
    [
        "He was born in possibly Lyon.",
        "Possibly he was born in Lyon.",
        "He was born in Lyon, possibly.",
    ],
)
def test_a_doubted_value_counts_as_doubted_wherever_the_word_stands(sentence):
    # read as a whole, "born in possibly Lyon" also asserts a birth
    assert _decisive(sentence, "Lyon") == pytest.approx(PERHAPS, abs=0.07)


def test_doubt_about_another_value_does_not_count():
    sentence = "He was born in Lyon in possibly 1950."
    assert _decisive(sentence, "Lyon") > 0.9
    assert _decisive(sentence, "1950") == pytest.approx(PERHAPS, abs=0.05)


def test_a_value_that_is_not_found_or_the_whole_is_read_as_a_whole():
    sentence = "Perhaps he was born in Lyon."
    assert _decisive(sentence, sentence) == decisiveness(sentence)
    assert _decisive(sentence, "Zanzibar") == decisiveness(sentence)
