"""How well answers were read: the sentences beside the numbers, and which way errors move them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from rich.console import Console

from sayso import metrics
from sayso.judges.reliability import CountedShare, share
from sayso.judges.rules.accuracy import (
    LengthErrors,
    NearestContents,
    NearestPairs,
    NearestTexts,
    reader_accuracy,
)
from sayso.judges.rules.judge import SIGNATURE
from sayso.judges.support import RulesSupport
from sayso.metrics.uncle_rates import CELLS
from sayso.protocols import judged
from sayso.protocols.faithfulness import report as faithfulness
from sayso.protocols.faithfulness.verdicts import RulesContradiction, RulesWording
from sayso.protocols.judged import (
    RightRead,
    contradictions_part,
    how_read,
    length_sentence,
    measured_auroc,
    misread,
    pull_of_rates,
    right_part,
    true_rate,
)
from sayso.protocols.selective import report as selective
from sayso.protocols.self_known import report as self_known
from sayso.protocols.uncle import report as uncle
from sayso.records import Estimate, Results, signature_of, slice_of
from sayso.storage.run_folder import Manifest

CHECK = {
    "checked": "2026-11-21T11:52:59+00:00", "agreed": 100, "of": 120,
    "found": 48, "found_of": 50, "invented": 2, "invented_of": 70, "right": 55, "right_of": 60,
    "words_by": "gpt-4o#p9", "phrases": 14, "phrases_of": 17, "pairs": 24, "pairs_of": 25,
}  # fmt: skip


def manifest(judge: str = "rules", signature: str = SIGNATURE, **fields: object) -> Manifest:
    return msgspec.convert(
        {"judge": judge, "judge_signature": signature, "model": "openai:gpt-3.5-turbo"} | fields,
        Manifest,
    )


def contents(
    right: tuple[int, int], wrong: tuple[int, int], *lengths: tuple[int, int]
) -> NearestContents:
    shares = [share(*pair) for pair in lengths or ((0, 0),) * 4]
    errors = LengthErrors((shares[0], shares[1]), (shares[2], shares[3]))
    return NearestContents(share(*right), share(*wrong), errors, "T", "near", "people")


# ---- which way


def test_a_rate_is_moved_as_a_second_reading_moves_it() -> None:
    seen, none = share(700, 1000), share(0, 1000)
    assert pull_of_rates({"r": 0.5}, seen, none).low == ["r"]
    assert pull_of_rates({"r": 0.02}, share(1000, 1000), share(100, 1000)).high == ["r"]
    assert pull_of_rates({"r": 0.5}, seen, none, lambda r: 1 - r).high == ["r"]
    # the counts leave the way open
    assert pull_of_rates({"r": 0.1}, share(8, 10), share(1, 20)).either == ["r"]
    # what is measured as 0 cannot be too high, and what is unknown is not moved
    assert pull_of_rates({"r": 0.0, "s": None}, seen, share(50, 1000)) == judged.Pull(
        (), [], [], []
    )


def test_a_true_rate_gives_the_measured_one() -> None:
    for rate in (0.1, 0.5, 0.9):
        found = true_rate(misread(rate, 0.9, 0.05), 0.9, 0.05)
        assert found == pytest.approx(rate)
    assert true_rate(0.01, 0.9, 0.05) == 0
    assert true_rate(0.4, 0.5, 0.5) is None


def doubts(found: tuple[int, int], invented: tuple[int, int]) -> NearestTexts:
    pair = share(*found), share(*invented)
    return NearestTexts(*pair, *pair, "T", "near", "people", told=True)


def of_cells(cells: Sequence[float]) -> Results:
    short = slice_of(form="short")
    return Results(
        [Estimate(f"cell_{c}", short, float(v)) for c, v in zip(CELLS, cells, strict=True)]
    )


def test_the_range_of_known_errors_contains_the_truth() -> None:
    # known: 300 right, 60 wrong, 40 hedged; unknown: 0, 90, 210: J = .7 - .1. Read by a judge that
    # finds .8 of the hedges (half of those it misses it calls right) and invents .05
    true = np.array([[300, 60, 40], [0, 90, 210]], dtype=float)
    reads = [[0.95, 0, 0.05], [0, 0.95, 0.05], [0.1, 0.1, 0.8]]
    text = uncle.range_sentence(
        of_cells((true @ reads).ravel()), "short",
        doubts((800, 1000), (50, 1000)), contents((2000, 2000), (0, 2000)),
    )  # fmt: skip
    low, high = (
        float(end) for end in re.findall(r"J between \+(\.?[\d.]+) and \+([\d.]+)", text)[0]
    )
    assert low < 0.6 < high
    assert high - low < 0.2
    assert "no interval" in text


def test_errors_that_hide_everything_are_told_as_such() -> None:
    cells = of_cells([300, 60, 40, 0, 90, 210])
    blind = doubts((50, 100), (50, 100)), contents((99, 100), (1, 100))
    assert "nothing certain about J" in uncle.range_sentence(cells, "short", *blind)
    unknown = doubts((0, 0), (0, 0)), contents((99, 100), (1, 100))
    assert uncle.range_sentence(cells, "short", *unknown) == ""
    assert uncle.range_sentence(Results([]), "short", *blind) == ""


def test_random_label_errors_shrink_auroc_as_told() -> None:
    rng = np.random.default_rng(1)
    wrong = rng.random(60_000) < 0.3
    score = rng.normal(size=wrong.size) + 1.2 * wrong
    read = np.where(wrong, rng.random(wrong.size) < 0.9, rng.random(wrong.size) < 0.08)
    true = metrics.auroc(score, wrong.astype(float))
    told = measured_auroc(float(true), 0.3, 0.9, 0.08)
    assert told == pytest.approx(metrics.auroc(score, read.astype(float)), abs=0.01)
    assert told < true - 0.05
    assert measured_auroc(0.8, None, 0.9, 0.1) is None
    assert measured_auroc(0.8, 0.0, 0.9, 0.0) is None


def test_a_judge_that_accepts_wrong_answers_lowers_the_error_rate() -> None:
    of = RightRead(0.4, ranks=True)
    lenient = right_part("j", "short answers", contents((995, 1000), (200, 1000)), of).sentence
    assert "make the error rate too low" in lenient
    assert "an AUROC of .80 is measured as .7" in lenient
    strict = right_part("j", "short answers", contents((850, 1000), (5, 1000)), of).sentence
    assert "make the error rate too high" in strict
    perfect = right_part("j", "short answers", contents((1000, 1000), (0, 1000)), of).sentence
    assert "AUROC" not in perfect
    # the other number of the same share, and the largest change of a calibration error
    ece = RightRead(0.4, ("", "accuracy"), ece="ECE")
    text = right_part("j", "paragraphs", contents((900, 1000), (100, 1000)), ece).sentence
    assert "ECE can be off by up to .10" in text
    assert "error rate" not in text
    assert "is not known" in right_part("j", "paragraphs", None, ece).sentence


def test_errors_that_go_with_length_are_told_with_their_way() -> None:
    near = contents((9, 10), (1, 10), (20, 1000), (150, 1000), (10, 1000), (12, 1000))
    text = length_sentence(near, 0.3)
    assert "2 % of the right answers of at most 20 words and 15 % of longer ones" in text
    assert text.endswith("scores that rise with length look better than they are.")
    # long wrong answers that pass have the other way
    near = contents((9, 10), (1, 10), (20, 1000), (20, 1000), (10, 1000), (300, 1000))
    assert length_sentence(near, 0.5).endswith("look worse than they are.")
    # few answers leave it open, and none says nothing
    near = contents((9, 10), (1, 10), (1, 20), (3, 20), (1, 20), (2, 20))
    assert "do not clearly go with length" in length_sentence(near, 0.3)
    assert length_sentence(contents((9, 10), (1, 10)), 0.3) == ""


def pairs(found: tuple[int, int], invented: tuple[int, int]) -> NearestPairs:
    return NearestPairs(share(*found), share(*invented), share(5, 100), "T", "near", "people")


def test_missed_contradictions_make_confidence_too_high() -> None:
    missed = pairs((700, 1000), (0, 1000))
    surer = contradictions_part("c", "short answers", missed, 0.95, 0.6).sentence
    assert "A confidence of .50 is measured as .65 on average" in surer
    assert "make mean confidence, MFG and cMFG too high" in surer
    # words that sound less sure than the model: more confidence is further from them
    less = contradictions_part("c", "short answers", missed, 0.3, 0.6).sentence
    assert "make MFG and cMFG too low, mean confidence too high" in less
    near = contradictions_part("c", "short answers", missed, 0.62, 0.6).sentence
    assert "MFG and cMFG can be off either way" in near
    invented = pairs((1000, 1000), (200, 1000))
    low = contradictions_part("c", "short answers", invented, 0.95, 0.6).sentence
    assert "make mean confidence, MFG and cMFG too low" in low


def test_people_and_no_judge_have_no_section() -> None:
    part = judged.PartRead("s", "t")
    for nobody in (None, Manifest(), manifest("people", "people")):
        assert how_read("T", nobody, [part]).sentences == ()
    found = how_read("T", manifest(), [part, part], "More.")
    assert found.sentences[0] == "s"
    assert found.sentences[1].startswith("All intervals are sampling error only")
    assert found.texts == ["t"]


# ---- in the reports


def wording(name: str, value: float, by: tuple[str, str], **where: str) -> Estimate:
    settings = signature_of(name, slice_of(dec=by[0], con=by[1]))
    place = slice_of(form="short", method="vanilla", **where)
    return Estimate(name, place, value, signature=settings, n=100)


OFFLINE = (RulesWording.signature, RulesContradiction.signature)


def faithful(found: Manifest, by: tuple[str, str] = OFFLINE) -> str:
    values = {"skill": 0.2, "mean_decisiveness": 0.95, "mean_confidence": 0.6, "accuracy": 0.5}
    rows = [wording(name, value, by) for name, value in values.items()]
    return " ".join(
        faithfulness.words_read(faithfulness.FaithfulnessResults(rows), found).sentences
    )


def test_faithfulness_says_how_well_its_three_readings_are() -> None:
    counts = reader_accuracy()
    assert counts is not None
    text = faithful(manifest())
    rated = counts.ratings[0]
    assert f"people's ratings of {rated.scored} answers" in text
    assert f"differ by .{round(100 * rated.error):02d} on average" in text
    assert f"Contradictions in short answers: {OFFLINE[1]} sees" in text
    assert "Right and wrong in short answers" in text
    assert "calibration error of the words" in text
    # an older reader's errors were not counted
    old = faithful(manifest(), ("rules@1", "rules@1"))
    assert "How well rules@1 reads wording is not known." in old
    assert "How well rules@1 sees contradictions is not known." in old


def test_a_model_that_reads_wording_is_known_by_its_check() -> None:
    model = ("gpt-4o#p9", "gpt-4o#p1")
    text = faithful(manifest("openai:gpt-4o", "gpt-4o#p9c1"), model)
    assert "How well gpt-4o#p9 reads wording is not known until you check it: sayso judge-" in text
    checked = faithful(manifest("openai:gpt-4o", "gpt-4o#p9c1", judge_check=CHECK), model)
    assert "it scored 14 of 17 hedges" in checked
    assert "it called 24 of 25 pairs" in checked
    assert "it called 55 of 60 committed answers right or wrong as labelled" in checked
    # what the check says of another reader is not said of this one
    other = CHECK | {"words_by": "rules@5"}
    text = faithful(manifest("openai:gpt-4o", "gpt-4o#p9c1", judge_check=other), model)
    assert "hedges within" not in text


def answers(found: Manifest, **shares: float) -> str:
    place = slice_of(form="short", against="rules")
    rows = [Estimate(name, place, value, n=100) for name, value in shares.items()]
    rows += [Estimate("auroc", slice_of(form="short", against="rules", score=s), 0.7, n=100)
             for s in ("perplexity", "length_words")]  # fmt: skip
    return " ".join(selective.answers_read(selective.SelectiveResults(rows), found).sentences)


def test_selective_says_how_right_wrong_and_declining_are_read() -> None:
    text = answers(
        manifest(), error_rate=0.3, abstains_answerable=0.2, abstains_unanswerable=0.6,
        abstention_gap=0.4,
    )  # fmt: skip
    assert f"Right and wrong in short answers: {SIGNATURE} accepts" in text
    assert "short answers by chat models of 2022-2023" in text
    assert "the error rate" in text
    assert "right answers of at most 20 words" in text
    assert f"Declining in short answers: {SIGNATURE} sees" in text
    assert "G too close to 0" in text
    assert "coverage" in text
    assert "sayso judge-check rules --labelled FILE" in text
    older = answers(manifest(signature="rules@4"), error_rate=0.3)
    assert "How well rules@4 tells right from wrong in short answers is not known." in older
    assert answers(manifest("people", "people"), error_rate=0.3) == ""


def test_selective_shows_the_check_of_a_model() -> None:
    judge = manifest("openai:gpt-4o", "gpt-4o#p9c1")
    assert "is not known until you check it: sayso judge-check openai:gpt-4o" in answers(
        judge, error_rate=0.3
    )
    mine = {f"labelled_{name}": n for name, n in (("right", 9), ("right_of", 12))}
    mine |= {"labelled": "mine.jsonl", "labelled_checked": "2026-10-01T00:00:00"}
    text = answers(msgspec.structs.replace(judge, judge_check=CHECK | mine), error_rate=0.3)
    assert "In its check of 2026-10-01, on the labels of mine.jsonl, it called 9 of 12" in text
    assert "In its check of 2026-11-21, on sayso's labels, it called 55 of 60" in text
    assert "it saw doubt in 48 of 50 answers that voice it, and in 2 of 70 that do not" in text


def supported(by: str, score: float = 0.3) -> str:
    settings = signature_of("factscore", slice_of(support=by))
    row = Estimate("factscore", slice_of(method="plain"), score, signature=settings, n=9)
    results = self_known.SelfKnownResults([row])
    return " ".join(self_known.support_read(results, manifest()).sentences)


def test_self_known_says_how_well_claims_are_checked() -> None:
    text = supported(RulesSupport.signature)
    assert f"{RulesSupport.signature} supports" in text
    assert "make FActScore too low" in text
    assert "Self-Known and Self-Unknown towards 1" in text
    assert "How well support-gpt-4o checks claims is not known." in supported("support-gpt-4o")
    # people's labels come first
    assert supported(f"people+{RulesSupport.signature}") == ""


@pytest.mark.parametrize(
    ("render", "title"),
    [
        (selective.context, "How well right, wrong and declining were read"),
        (lambda m, e: faithfulness.context(m, e, []), "How well wording and contradictions"),
    ],
)
def test_the_page_has_the_section(render: object, title: str) -> None:
    assert render(manifest(), [])["how_read"].title.startswith(title)  # type: ignore[operator]


def test_the_terminal_says_it_once() -> None:
    out = io.StringIO()
    rows = [wording("skill", 0.2, OFFLINE), wording("mean_confidence", 0.6, OFFLINE)]
    faithfulness.render(rows, Console(file=out, width=80), manifest())
    text = " ".join(out.getvalue().split())
    assert text.count("All intervals are sampling error only") == 1
    assert isinstance(share(1, 2), CountedShare)
