"""How well answers were read: the sentences beside the numbers."""

from __future__ import annotations

import io

import msgspec
from rich.console import Console

from sayso.judges.reliability import CountedShare, share
from sayso.judges.rules.accuracy import NearestContents, NearestPairs, reader_accuracy
from sayso.judges.rules.judge import SIGNATURE
from sayso.judges.support import RulesSupport
from sayso.protocols import judged
from sayso.protocols.faithfulness import report as faithfulness
from sayso.protocols.faithfulness.verdicts import RulesContradiction, RulesWording
from sayso.protocols.judged import contradictions_part, how_read, right_part
from sayso.protocols.selective import report as selective
from sayso.protocols.self_known import report as self_known
from sayso.records import Estimate, signature_of, slice_of
from sayso.report.sheet import render_sheet
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


# ---- the parts


def test_a_part_says_how_often_the_reader_is_right_and_no_more() -> None:
    near = NearestContents(share(995, 1000), share(200, 1000), "T", "near", "people")
    part = right_part("j", "short answers", near)
    assert "j accepts" in part.sentence
    assert "(200 of 1,000 answers)" in part.sentence
    assert part.sentence.endswith("the labeled answers nearest to this run: near.")
    assert "is not known" in right_part("j", "paragraphs", None).sentence
    pairs = NearestPairs(share(7, 10), share(0, 10), share(5, 100), "T", "near", "people")
    assert "(7 of 10 pairs)" in contradictions_part("c", "short answers", pairs).sentence
    assert "is not known" in contradictions_part("c", "short answers", None).sentence


def test_people_and_no_judge_have_no_section() -> None:
    part = judged.PartRead("s", "t")
    for nobody in (None, Manifest(), manifest("people", "people")):
        assert how_read(nobody, [part], None).sentences == ()
    found = how_read(manifest(), [part, part], None)
    assert found.sentences[0] == "s"
    assert found.sentences[1].startswith("All intervals are sampling error only")
    assert found.sentences[1].endswith("sayso label RUN")
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
    assert "it called 55 of 60 committed answers right or wrong as labeled" in checked
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
    assert f"Declining in short answers: {SIGNATURE} sees" in text
    assert "sayso label RUN" in text
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
    assert "How well support-gpt-4o checks claims is not known." in supported("support-gpt-4o")
    # people's labels come first
    assert supported(f"people+{RulesSupport.signature}") == ""


def test_the_terminal_says_it_once() -> None:
    out = io.StringIO()
    rows = [wording("skill", 0.2, OFFLINE), wording("mean_confidence", 0.6, OFFLINE)]
    sheet = faithfulness.sheet(rows, manifest())
    render_sheet(sheet, Console(file=out, width=80), manifest(), verbose=True)
    text = " ".join(out.getvalue().split())
    assert text.count("All intervals are sampling error only") == 1
    assert isinstance(share(1, 2), CountedShare)
