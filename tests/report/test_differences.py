"""Two runs compared in words: better, worse, or no visible difference, in 80 columns."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sayso.metric import Headline, Metric, MetricTable
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate, slice_of
from sayso.report.differences import (
    Words,
    by_chance,
    compared_sentence,
    render_compare,
)
from sayso.runs.compare import number_words

WORDS = number_words(PROTOCOLS["uncle"])
SHORT, LONG = slice_of(form="short"), slice_of(form="long")
BOTH = slice_of(form="short", given="known")


def printed(found: list[Estimate], words: Words = WORDS, width: int = 80) -> str:
    out = io.StringIO()
    sides = ("small", "runs/a"), ("large", "runs/b")
    render_compare(found, Console(file=out, width=width), sides, words)
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
        "large knows more facts than small; no difference is visible in how reliably they admit "
        "what they do not know."
    )
    assert "A = small (runs/a)" in lines
    head = lines[lines.index("large minus small [95 % interval, sampling error only]") + 1 :]
    assert head[0].split() == (
        ["facts", "that", "it", "knows,", "short", "+16.7", "pp", "[+12.3,", "+21.0]", "better"]
    )
    assert "+0.08 [−0.15, +0.31] no visible difference" in words
    assert "– cannot be compared" in words
    # more hedging of known facts is worse, more hedging neither
    assert "+11.1 pp [+6.6, +15.6] worse" in words
    assert "+12.0 pp [+8.0, +16.0] higher" in words
    assert "short answers, facts that both know" in lines
    assert "no value for J (paragraphs): the probes differ" in words
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("value", "ends", "said"),
    [
        (0.1, (0.01, 0.2), "large admits more reliably what it does not know than small."),
        (-0.1, (-0.2, -0.01), "large admits less reliably what it does not know than small."),
        (0.1, (0.0, 0.2), "No difference is visible in how reliably they admit what they do not "
         "know."),
        (None, None, "This cannot be compared: how reliably they admit what they do not know."),
    ],
)  # fmt: skip
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
    assert text.count("better") == 4  # in the sentence, at the top, and in each row of the table
    assert text.count("Vanilla") == 2


def test_many_differences_say_how_many_chance_gives() -> None:
    found = [Estimate("auroc", slice_of(score=str(n)), 0.01, -0.02, 0.04) for n in range(89)]
    found += [Estimate("auroc", slice_of(score="x"), 0.05, 0.01, 0.09), Estimate("auroc")]
    text = " ".join(printed(found, number_words(PROTOCOLS["selective"])).split())
    assert "Of 90 differences, about 4 would look clear by chance alone." in text
    assert by_chance(found[:9]) == ""
    # a number of many scores is named once, above them
    assert text.count("AUROC for a wrong answer (.5 = chance)") == 1


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
    assert "−2.57 [−3.02, −2.11]" in text
    assert "−0.27" in text
    assert text.count("pp") == 1  # the share only


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_headline_number_has_a_direction_and_a_label(name: str) -> None:
    metrics = PROTOCOLS[name].metrics
    assert metrics.headlines
    for number in metrics.headlines:
        assert metrics[number].higher is not None
        assert metrics[number].label


def test_a_number_of_several_protocols_is_written_in_one_way() -> None:
    """Numbers are written by their name, whatever protocol they are of."""
    notations: dict[str, str] = {}
    for protocol in PROTOCOLS.values():
        for metric in protocol.metrics.values():
            assert notations.setdefault(metric.name, metric.notation) == metric.notation
