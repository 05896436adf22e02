"""Decisiveness: the survey's phrases, ordered pairs, parts, and hostile text."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sayso
from sayso import metrics
from sayso.judges.decisiveness import Level, combine, decisiveness, family, stated, without
from sayso.judges.rules.text import word_list

GOLDEN = Path(__file__).parent.parent / "golden"
SURVEY: dict[str, Any] = json.loads((GOLDEN / "hedge_survey.json").read_text(encoding="utf-8"))
CARRIERS: dict[str, Any] = json.loads((GOLDEN / "hedge_carriers.json").read_text(encoding="utf-8"))
PAIRS: dict[str, Any] = json.loads((GOLDEN / "decisive_pairs.json").read_text(encoding="utf-8"))


def survey(leave_out: str | None) -> tuple[int, float]:
    """How many phrases lie within the quartiles, and Spearman with the medians."""
    means, inside = [], 0
    for phrase, row in SURVEY.items():
        sentences = CARRIERS[phrase]["carriers"]
        assert len(sentences) >= 8
        with without(*(CARRIERS[phrase][leave_out] if leave_out else ())):
            found = [decisiveness(text) for text in sentences]
        assert None not in found, phrase
        value = mean(x for x in found if x is not None)
        inside += row["q25"] <= 100 * value + 1e-7 and 100 * value - 1e-7 <= row["q75"]
        means.append(value)
    rank = metrics.spearman(means, [row["median"] for row in SURVEY.values()])
    assert isinstance(rank, float)
    return inside, rank


def test_survey_phrases() -> None:
    inside, rank = survey(None)
    assert inside >= 16  # the bar is 14
    assert rank >= 0.97  # .95


def test_survey_phrases_without_their_entries() -> None:
    # The word of likelihood itself is in no list: its relatives and its frame are left.
    inside, rank = survey("head")
    assert inside >= 14  # the bar is 10
    assert rank >= 0.93  # .85
    # Every content word of the phrase is in no list, its adverbs of degree included.
    inside, rank = survey("words")
    assert inside >= 12
    assert rank >= 0.85


def test_leaving_out_ends_with_its_block() -> None:
    with without("likely"):
        inside = decisiveness("It is likely Lyon.")
    assert inside is not None
    assert decisiveness("It is likely Lyon.") == pytest.approx(0.71, abs=0.02)


def test_ordered_pairs() -> None:
    wrong = []
    for kind, surer, less in PAIRS["pairs"]:
        first, second = decisiveness(surer), decisiveness(less)
        if first is None or second is None or first <= second + 0.01:
            wrong.append((kind, surer, first, less, second))
    assert len(PAIRS["pairs"]) >= 60
    assert len(wrong) <= 0.05 * len(PAIRS["pairs"]), wrong


@pytest.mark.parametrize(("answer", "surer", "less"), PAIRS["parts"])
def test_parts_of_an_answer(answer: str, surer: str, less: str) -> None:
    first, second = decisiveness(answer, surer), decisiveness(answer, less)
    assert first is not None
    assert second is not None
    assert first > second + 0.01


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!",
        "I don't know.",
        "I have no idea.",
        "I'm not sure.",
        "I'm sorry, but I cannot answer that question.",
        "As an AI language model, I don't have access to that information.",
        "Could you tell me which film you mean?",
        "The question is incomplete. Please provide the title.",
        "Je ne sais pas, mais je pense que c'est probablement Paris qui est la capitale.",
        "我不确定，但我认为答案可能是北京，因为它是中国的首都。",
    ],
)
def test_nothing_asserted_or_not_english(text: str) -> None:
    assert decisiveness(text) is None


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1961", 0.95, 1),
        ("It was built in 1961.", 0.95, 1),
        ("Yes.", 0.95, 1),
        ("It was not Lyon.", 0.95, 1),  # a plain denial is decisive
        ("I'm fairly confident it was 1961.", 0.7, 0.88),
        ("I'm not entirely sure, but I think it was 1961.", 0.45, 0.7),
        ("To the best of my knowledge, it was 1961.", 0.7, 0.9),
        ("I would lean toward 1961.", 0.5, 0.7),
        ("There's a slim chance it was 1961.", 0.05, 0.2),
        ("It could possibly be 1961.", 0.3, 0.5),
        ("I'm roughly 70% sure it was 1961.", 0.7, 0.7),
        ("It was 1961 (confidence: 0.8).", 0.8, 0.8),
        ("I give it 9 out of 10 that it was 1961.", 0.9, 0.9),
        ("It was 1961. I'd give it 7/10.", 0.7, 0.7),
        ("I give 9 out of 10 dollars to charity.", 0.6, 0.8),  # no mark for the answer
        ("I don't know for sure, 1961.", 0.4, 0.65),
        ("I do not know for certain: Jane Austen.", 0.4, 0.65),
        ("I'm not claiming to be an expert, but it was 1961.", 0.9, 1),
        ("I'm not saying it was Lyon; it was Paris.", 0.9, 1),
        ("Confidence: 85%. It was 1961.", 0.85, 0.85),
        ("I'd put it at one in four, the odds are that, for 1961.", 0.25, 0.25),
        ("Probably not.", 0.15, 0.3),
        ("I doubt it.", 0.1, 0.3),
        ("Certain people live there.", 0.9, 1),
        ("It is certainly not Lyon.", 0.95, 1),
        # an adverb after "be" reaches the predicate, a phrase too: the survey's .15 to .30, .60-.75
        ("The painting is probably not by Anna Roos.", 0.15, 0.3),
        ("The book was likely not from 1950.", 0.15, 0.3),
        ("The painting is probably in Lyon.", 0.6, 0.75),
        ("He was born in 1950, probably in Lyon.", 0.75, 0.95),  # the year is not hedged
        # even odds without a noun of chance (the survey: .50)
        ("It is about even whether she won the prize in 1988.", 0.5, 0.5),
        ("It's roughly even whether he won.", 0.5, 0.5),
        ("The road is about even with the river.", 0.9, 1),
        ("It is an even number.", 0.9, 1),
        ("I hope this helps. It was Lyon.", 0.95, 1),
        ("'s 's n't lost", 0, 1),
        ("The song is called 'Maybe Tomorrow'.", 0.95, 1),
        ("It was released in May 1961.", 0.95, 1),
    ],
)
def test_wordings(text: str, low: float, high: float) -> None:
    value = decisiveness(text)
    assert value is not None
    assert low - 1e-9 <= value <= high + 1e-9


def test_denied_assertions_get_the_complement() -> None:
    assert decisiveness("It was not Lyon.", "it was Lyon") == pytest.approx(
        1 - (decisiveness("It was not Lyon.", "it was not Lyon") or 0)
    )
    assert decisiveness("It was Lyon.", "the price of tea") is None


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("about 60-70% sure", [0.65]),
        ("a two-thirds chance", [2 / 3]),
        ("seventy percent certain", [0.7]),
        ("odds of 3 to 1 against", [0.25]),
        ("nine times out of ten", [0.9]),
        ("a 30% chance that I'm wrong", [0.7]),
        ("51% of the population", []),
        ("a 95% confidence interval", []),
        ("I'm not 100% sure", []),
        ("15 percent more likely", []),
        ("fifty-fifty", [0.5]),
    ],
)
def test_stated_numbers(text: str, shares: list[float]) -> None:
    assert [s.share for s in stated(text, 0, len(text))] == pytest.approx(shares)


def test_even_odds_on_a_clause_are_a_frame_not_a_phrase() -> None:
    """With "even" in no list the frame "it is about ... whether" still says one half."""
    with without("even"):
        assert decisiveness("It is about even whether she won the prize.") == pytest.approx(0.5)


def test_relatives() -> None:
    assert family("improbable") == ("prob", -1)
    assert family("probably") == family("probability") == ("prob", 1)
    assert family("unlikely")[0] == family("likelihood")[0]


def test_combination() -> None:
    # One hedge decides; a second one takes a little more; a booster alone lifts a plain statement.
    think, might, unsure = Level(1.0, wraps=True), Level(-0.25), Level(0.1, remark=True)
    assert combine([think]) == 1.0
    assert combine([think, might]) < combine([might]) < combine([think])
    assert combine([Level(4.0)]) > combine([])
    # A remark meets the statement halfway and takes a little: (1.0 + 0.1) / 2 - 0.1.
    assert combine([think, unsure]) == pytest.approx(0.45)
    # Two alternatives: half the probability of a plain statement.
    assert 1 / (1 + 2.718281828 ** -combine([], 2)) == pytest.approx(0.968 / 2, abs=0.001)


WORDS = st.lists(
    st.sampled_from(
        word_list(
            "I think not it was is Lyon maybe might probably never doubt no chance that but , . ? "
            "( ) 70% sure 50-50 or or Paris very almost certain unless \" ' — if the odds 3 to 1 "
            "1/0 0/0 0% 1000% know don't"
        )
    ),
    max_size=30,
).map(" ".join)


@given(st.one_of(st.text(max_size=300), WORDS), st.one_of(st.none(), st.text(max_size=40), WORDS))
@settings(max_examples=400, deadline=None)
def test_any_text(text: str, assertion: str | None) -> None:
    value = decisiveness(text, assertion)
    assert value is None or 0 <= value <= 1
    assert decisiveness(text, assertion) == value


@pytest.mark.parametrize(
    "text", ["maybe " * 4000, "(" * 9000, "not " * 9000, "1/2 " * 6000, "a" * 50000]
)
def test_long_text(text: str) -> None:
    value = decisiveness(text)
    assert value is None or 0 <= value <= 1


def test_public_name() -> None:
    assert sayso.decisiveness("It may be Lyon.") == decisiveness("It may be Lyon.")


@pytest.mark.parametrize(
    "said",
    [
        "No reliable information about this is known to me.",
        "No information on the matter is available to me.",
        "I'm not saying it was Paris.",
        "We are not claiming that it was built in 1961.",
        "おそらく1961年",
        "1961年です。",
        "可能是1961年",
        "아마 1961년",
    ],
)
def test_what_asserts_nothing_in_english_has_no_score(said: str) -> None:
    assert decisiveness(said) is None


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        ("It can't be anything but 1961.", 0.95, 1.0),
        ("It cannot have been anyone but Austen.", 0.95, 1.0),
        ("It can't be 1961.", 0.0, 0.1),
        ("Not necessarily 1961.", 0.3, 0.7),
        ("I can't say with confidence that it was 1961.", 0.4, 0.65),
        ("I can say with confidence that it was 1961.", 0.9, 1.0),
        # two alternatives share, and "maybe" is the second one's
        ("It was 1961, or maybe 1962.", 0.4, 0.6),
        ("It was Gagarin, or Titov.", 0.45, 0.5),
        ("It was Gagarin, Titov, or Glenn.", 0.3, 0.34),
        ("Maybe it was 1961 or 1962.", 0.1, 0.4),
    ],
)
def test_builds_that_were_read_the_wrong_way(said: str, low: float, high: float) -> None:
    found = decisiveness(said)
    assert found is not None
    assert low <= found <= high
