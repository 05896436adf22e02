"""Two runs compared in words: better, worse, or no visible difference, in 80 columns."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from sayso.metric import Headline, Metric, MetricTable
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate, slice_of
from sayso.report.differences import (
    Words,
    by_chance,
    compared_sentence,
    compared_sheet,
    rules_alone,
)
from sayso.report.sheet import render_sheet
from sayso.runs.compare import number_words
from support.tables import tabled

WORDS = number_words(PROTOCOLS["uncle"])
SHORT, LONG = slice_of(form="short"), slice_of(form="long")
BOTH = slice_of(form="short", given="known")


def printed(found: list[Estimate], words: Words = WORDS, width: int = 80) -> str:
    out = io.StringIO()
    sides = ("small", "runs/a"), ("large", "runs/b")
    sheet = compared_sheet(found, sides, words)
    render_sheet(sheet, Console(file=out, width=width), verbose=True)
    return out.getvalue()


def test_the_sentence_comes_first_then_the_headline_numbers_then_all() -> None:
    text = printed(
        [
            Estimate("FA", SHORT, 0.021, -0.01, 0.05),
            Estimate("p_known", SHORT, 0.167, 0.123, 0.21),
            Estimate("J", SHORT, 0.08, -0.15, 0.31),
            Estimate("over_hedge", SHORT, 0.111, 0.066, 0.156),
            Estimate("p_uncertain", SHORT, 0.12, 0.08, 0.16),
            Estimate("KCR", BOTH, 0.187, 0.093, 0.281),
            Estimate("J", LONG, problem="the probes differ"),
        ]
    )
    lines = [line.rstrip() for line in text.splitlines() if line]
    words = " ".join(text.split())
    assert words.startswith(
        "large knows more facts and hedges more of what it knows than small; no difference is "
        "visible in how reliably they admit what they do not know (short answers); this cannot be "
        "compared: how reliably they admit what they do not know (paragraphs). Of 3 other numbers, "
        "2 differ."
    )
    assert "A = small (runs/a); B = large (runs/b)" in words
    head = lines[lines.index("large minus small [95 % interval, sampling error only]") + 3 :]
    assert head[0].split() == (
        ["facts", "that", "it", "knows,", "short", "+16.7", "pp", "[+12.3,", "+21.0]", "better"]
    )
    assert "J, short answers +0.08 [−0.15, +0.31] not visible" in words
    assert "– cannot be compared" in words
    # more hedging of known facts is worse, more hedging neither
    assert "+11.1 pp [+6.6, +15.6] worse" in words
    assert "+12.0 pp [+8.0, +16.0] higher" in words
    assert "KCR, short answers, facts" in words
    assert "J: tells known from unknown" in words
    assert "J, paragraphs): the probes differ" in words
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 40


@tabled
def test_a_difference_is_claimed_where_its_interval_leaves_out_0(
    value: float | None, ends: tuple[float, float] | None, said: str
) -> None:
    low, high = ends if ends is not None else (None, None)
    found = [Estimate("J", SHORT, value, low, high)]
    assert compared_sentence(found, WORDS, ("small", "large")) == said


def test_less_is_better_where_the_number_says_so() -> None:
    first = Headline("x", "errs less", "errs more", "errs least")
    words = Words(MetricTable(Metric("e", "errors", higher=False, headline=first)))
    found = [Estimate("e", SHORT, -0.1, -0.2, -0.05)]
    assert compared_sentence(found, words, ("a", "b")) == "b errs less than a."


def test_runs_without_a_number_or_a_headline_in_common() -> None:
    assert "Nothing to compare: the two runs have no numbers in common." in printed([])
    assert "The two runs share no headline number." in printed([Estimate("FA", SHORT, 0.1)])


def test_of_many_methods_the_first_stands_at_the_top() -> None:
    words = number_words(PROTOCOLS["faithfulness"])
    methods = ("vanilla", "uncle")
    found = [Estimate("skill", slice_of(form="short", method=m), 0.2, 0.1, 0.3) for m in methods]
    text = printed(found, words)
    assert text.count("better") == 3  # in the sentence, and in both rows
    assert text.index("Vanilla") < text.index("UNCLE")
    assert "Of 1 other number, 1 differs." in " ".join(text.split())


def test_many_differences_say_how_many_chance_gives() -> None:
    found = [Estimate("auroc", slice_of(score=str(n)), 0.01, -0.02, 0.04) for n in range(89)]
    found += [Estimate("auroc", slice_of(score="x"), 0.05, 0.01, 0.09), Estimate("auroc")]
    shown = printed(found, number_words(PROTOCOLS["selective"]))
    text = " ".join(shown.split())
    assert "Of 90 differences, about 4 would look clear by chance alone." in text
    assert by_chance(found[:9]) == ""
    # the clear one stands first, and all that are not shown are counted
    assert text.index("+0.05") < text.index("+0.01")
    assert "--json has 83 more, none of which differ." in text
    assert len(shown.splitlines()) <= 40


def test_a_difference_without_an_interval_is_counted_only() -> None:
    found = [Estimate("J", SHORT, 0.1, -0.1, 0.3), Estimate("align_CU", (), 0.123)]
    text = printed(found)
    assert "12.3" not in text
    assert "--json has 1 more" in text


PARTS = {"abstains_unanswerable": -1 / 3, "abstains_answerable": 0.0}


def test_no_sentence_says_less_than_the_rows_below_it() -> None:
    """No difference of the gap was visible above a part of it that was worse."""
    words = number_words(PROTOCOLS["selective"])
    gap = Estimate("abstention_gap", SHORT, -0.3, -0.7, 0.1)
    parts = [Estimate(name, SHORT, v, v - 0.2, v + 0.2) for name, v in PARTS.items()]
    said = compared_sentence([gap, *parts], words, ("a", "b"))
    assert said.startswith("b declines less of what cannot be answered than a; no difference is")
    assert "of what can be answered" not in said
    text = printed([gap, *parts], words)
    assert text.count("worse") == 2  # the row, and the rule
    # a form is named where forms differ
    both = [msgspec.structs.replace(parts[0], where=LONG, low=-0.9, high=0.9), parts[0]]
    assert "answered (short answers) than a" in compared_sentence(both, words, ("a", "b"))


def test_models_that_rules_alone_judge_are_compared_with_one_caution() -> None:
    (caution,) = rules_alone({"a": "rules", "b": "rules+m"})
    assert "sayso label RUN" in caution
    assert "--judge rules+MODEL" in caution
    assert rules_alone({"a": "rules"}) == rules_alone({"a": "m", "b": "rules+m"}) == ()


def test_differences_of_counts_and_slopes_are_no_percentage_points() -> None:
    method = slice_of(method="plain")
    text = printed(
        [
            Estimate("claims_per_answer", method, -2.567, -3.02, -2.11),
            Estimate("trend", method, -0.27, -0.54, 0.01),
            Estimate("recall", method, -0.02, -0.1, 0.06),
        ],
        number_words(PROTOCOLS["self_known"]),
    )
    assert "−2.57  [−3.02, −2.11]" in text
    assert "−0.27" in text
    assert text.count(" pp") == 1  # the share only


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_headline_number_has_a_direction_and_a_label(name: str) -> None:
    metrics = PROTOCOLS[name].metrics
    assert metrics.headlines
    for number in metrics.told:
        assert metrics[number].higher is not None
        assert metrics[number].label


def test_a_number_of_several_protocols_is_written_in_one_way() -> None:
    """Numbers are written by their name, whatever protocol they are of."""
    notations: dict[str, str] = {}
    for protocol in PROTOCOLS.values():
        for metric in protocol.metrics.values():
            assert notations.setdefault(metric.name, metric.notation) == metric.notation
