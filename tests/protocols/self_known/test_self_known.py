"""Whole runs of self_known on texts of letters: every number by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso import records
from sayso.datasets.topics import topic_dataset
from sayso.options import fields_of
from sayso.protocols import self_known, settings
from sayso.protocols.self_known.asks import topic_prompt
from sayso.protocols.self_known.claims import drawn_topics, told_of_drawn
from sayso.protocols.self_known.report import sheet
from sayso.protocols.self_known.rows import PEOPLE, SUPPORT, claim_verdicts
from sayso.protocols.stored import StoredRun
from sayso.records import Claim, Generation, InputError, Verdict, signature_text
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.tables import tabled
from support.telling_world import World, sentence

#: fifths of five and six sentences: 12345 and 123455
TEXTS = {"Mira Toll": "ttfff", "Orm Bask": "tfttff", "Ada Quill": "ttttt"}


def value(result: Result, name: str, where: str = "") -> float | None:
    return result.get(name, f"method:plain{';' * bool(where)}{where}").value


def test_factuality_by_hand(tmp_path: Path) -> None:
    result = World(TEXTS).run(tmp_path, modes="none")
    # 2/5, 3/6 and 5/5
    assert value(result, "factscore") == pytest.approx((0.4 + 0.5 + 1.0) / 3)
    assert value(result, "factuality_micro") == pytest.approx(10 / 16)
    # part 1: t t t; 2: t f t; 3: f t t; 4: f t t; 5: f, f f, t (four sentences)
    fifths = [value(result, "factuality", f"part:{n}/5") for n in range(1, 6)]
    assert fifths == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3, 1 / 4])
    counts = [value(result, "unsupported_per_sentence", f"part:{n}/5") for n in range(1, 6)]
    assert counts == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 3 / 4])
    assert value(result, "claims_per_answer") == pytest.approx(16 / 3)
    assert value(result, "response_rate") == 1.0
    # exp(1 - 10/5), exp(1 - 10/6)
    assert value(result, "factscore_penalized") == pytest.approx(
        (0.4 * 0.36788 + 0.5 * 0.51342 + 1.0 * 0.36788) / 3, abs=1e-4
    )
    # K = median of 2, 3, 5 = 3: P .4 R 2/3 -> .5; P .5 R 1 -> 2/3; P 1 R 1 -> 1
    assert value(result, "f1_at_k", "k:3") == pytest.approx((0.5 + 2 / 3 + 1) / 3)
    # the first five rated claims of each: 2, 3 and 5 of 5
    assert value(result, "precision_at_length", "first:5") == pytest.approx(10 / 15)
    assert (value(result, "trend") or 0) < 0


def test_left_closed_bins_and_other_averages(tmp_path: Path) -> None:
    World(TEXTS).run(tmp_path, modes="none")
    again = sayso.measure(tmp_path / "run", closed="left", average="micro", bins=2)
    # n=5, left-closed halves: 2i//5 = 0 0 1 1 1; n=6: 2i//6 = 0 0 1 1 1 1
    # first: t t + t f + t t = 5/6; second: f f f + t t f f + t t t = 5/10
    assert value(again, "factuality", "part:1/2") == pytest.approx(5 / 6)
    assert value(again, "factuality", "part:2/2") == pytest.approx(5 / 10)
    # the mean over texts of their means: the last fifth has 0, 0 and 1
    texts = sayso.measure(tmp_path / "run", average="generation")
    assert value(texts, "factuality", "part:5/5") == pytest.approx(1 / 3)


def test_unresponsive_and_failed_answers_are_left_out_and_counted(tmp_path: Path) -> None:
    world = World({**TEXTS, "Nobody": "t", "Broken": "t"})
    plain = world.reply

    def reply(request: Any) -> Any:
        text = request.messages[-1].content
        if "Nobody" in text:
            return "I apologize, but I don't have information about Nobody."
        return Generation(request, problem="failed: 500") if "Broken" in text else plain(request)

    world.reply = reply  # type: ignore[method-assign]
    result = world.run(tmp_path, modes="none")
    answered = result.get("response_rate", "method:plain")
    assert (answered.numerator, answered.denominator, answered.missing) == (3.0, 4.0, 1)
    assert value(result, "factuality_micro") == pytest.approx(10 / 16)
    assert any("25 % of the texts do not answer" in c for c in result.manifest.cautions)


# --- self-knowledge ---


def test_sk_and_su_of_one_who_knows(tmp_path: Path) -> None:
    result = World(TEXTS).run(tmp_path)
    for mode in ("direct", "qa", "qa_none"):
        assert value(result, "SK", f"mode:{mode}") == 1.0
        assert value(result, "SU", f"mode:{mode}") == 1.0
        assert value(result, "accept_rate", f"mode:{mode}") == pytest.approx(10 / 16)
        assert value(result, "rogan_gladen", f"mode:{mode}") == pytest.approx(10 / 16)
        # SK = SU = 1 leaves Equation 3 undefined
        assert result.get("equation3", f"method:plain;mode:{mode}").problem
        assert value(result, "order_flips", f"mode:{mode}") == 0.0


def test_none_of_the_above_by_rule(tmp_path: Path) -> None:
    """In qa_none: true claims yes, but none for Orm Bask's (3 of 10); false ones none."""

    def says(claim: str, truth: str, mode: str) -> str:
        if mode != "qa_none":
            return "yes"
        return "yes" if truth == "t" and "Orm" not in claim else "none"

    result = World(TEXTS, says).run(tmp_path)
    where = "mode:qa_none"
    assert value(result, "SK", where) == pytest.approx(7 / 10)
    assert value(result, "SU", where) == 1.0
    b_only = sayso.measure(tmp_path / "run", noa="b_only")
    assert value(b_only, "SK", where) == pytest.approx(7 / 10)
    assert value(b_only, "SU", where) == 0.0
    missing = sayso.measure(tmp_path / "run", noa="missing")
    assert value(missing, "SK", where) == 1.0  # 7 of 7
    lost = missing.get("SU", f"method:plain;{where}")
    assert (lost.value, lost.missing) == (None, 6)
    # accepted as qa and not as qa_none: 3 of 10 supported, 6 of 6 unsupported
    flips = result.get("none_flips", "method:plain;class:supported")
    assert (flips.numerator, flips.denominator, flips.value) == (3.0, 10.0, pytest.approx(0.3))
    assert value(result, "none_flips", "class:unsupported") == 1.0


def test_sk_by_part(tmp_path: Path) -> None:
    result = World(TEXTS, lambda claim, truth, mode: "yes" if "Mira" in claim else "no").run(
        tmp_path, modes="qa_none"
    )
    # part 1: supported are Mira's, Orm's and Ada's: one of three accepted
    assert value(result, "SK", "mode:qa_none;part:1/5") == pytest.approx(1 / 3)
    # part 5: unsupported are Mira's one (accepted) and Orm's two
    assert value(result, "SU", "mode:qa_none;part:5/5") == pytest.approx(2 / 3)


def test_each_setting_by_part_and_both_readings_of_equation_3(tmp_path: Path) -> None:
    """It accepts Mira's and Orm's claims, and with none of the above Mira's alone.

    Parts 1 to 5 of Mira t t f f f, of Orm t f t t (f, f), of Ada t t t t t.
    """

    def says(claim: str, truth: str, mode: str) -> str:
        accepts = "Mira" in claim or ("Orm" in claim and mode != "qa_none")
        return "yes" if accepts else "no"

    result = World(TEXTS, says).run(tmp_path)
    fifths = range(1, 6)

    def by_part(name: str, mode: str) -> list[float | None]:
        return [value(result, name, f"mode:{mode};part:{n}/5") for n in fifths]

    assert by_part("SK", "direct") == pytest.approx([2 / 3, 1 / 2, 1 / 2, 1 / 2, 0])
    assert by_part("SU", "direct") == pytest.approx([None, 0, 0, 0, 0])
    assert by_part("SK", "qa_none") == pytest.approx([1 / 3, 1 / 2, 0, 0, 0])
    assert by_part("SU", "qa_none") == pytest.approx([None, 1, 0, 0, 2 / 3])
    # (1 - SU) / (2 - SU - SK), each part's own; the first has no unsupported claim
    own = by_part("equation3_in_sample", "qa_none")
    assert own == pytest.approx([None, 0, 1 / 2, 1 / 2, (1 / 3) / (4 / 3)])
    assert value(result, "equation3_in_sample", "mode:direct") == pytest.approx(
        (1 - 0) / (2 - 0 - 5 / 10)
    )
    # accepted as an answer and no longer with none of the above: Orm's
    for kind, flips in (
        ("supported", [1 / 3, 0, 1 / 2, 1 / 2, 0]),
        ("unsupported", [None, 1, 0, 0, 2 / 3]),
    ):
        found = [value(result, "none_flips", f"class:{kind};part:{n}/5") for n in fifths]
        assert found == pytest.approx(flips)
    assert by_part("labeled_factuality", "qa") == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3, 1 / 4])


def test_factuality_and_self_knowledge_correlated_along_the_text(tmp_path: Path) -> None:
    """Four places have claims of both kinds: factuality 2/3 2/3 2/3 1/4."""
    result = World(TEXTS, lambda claim, truth, mode: "yes" if "Mira" in claim else "no").run(
        tmp_path, modes="qa"
    )
    where = "method:plain;mode:qa;with"
    # SK 1/3 1/2 0 0 0 over all five, where factuality is 1 2/3 2/3 2/3 1/4
    e = result.get("factuality_pearson", f"{where}:SK")
    assert e.value == pytest.approx(
        np.corrcoef([1 / 3, 1 / 2, 0, 0, 0], [1, *3 * [2 / 3], 1 / 4])[0, 1]
    )
    assert (e.n, e.low, e.problem) == (
        5,
        None,
        "3 texts cannot show a trend, which needs 10 topics",
    )
    # SU - 1 0 0 2/3 against 2/3 2/3 2/3 1/4, by ranks 4 1.5 1.5 3 and 3 3 3 1
    e = result.get("factuality_spearman", f"{where}:SU")
    assert e.value == pytest.approx(np.corrcoef([4, 1.5, 1.5, 3], [3, 3, 3, 1])[0, 1])
    assert e.n == 4


def test_equation_3_is_fitted_on_other_texts(tmp_path: Path) -> None:
    """Two texts, a fold each. Of Mira 2 t, 2 f; of Orm 4 t, 1 f. It accepts: Mira 1 of 2 t and
    1 of 2 f; Orm 3 of 4 t and 0 of 1 f.

    Mira from Orm: SK 3/4, SU 1: (1-1)/(2-1-.75) = 0. Orm from Mira: SK 1/2, SU 1/2: 1/2. By claims
    (4 and 5): (4 * 0 + 5 * .5) / 9.
    Rogan-Gladen: Mira (2/4 + 1 - 1) / (3/4) = 2/3; Orm: SK + SU = 1 is undefined.
    """
    yes = {
        sentence("Mira Toll", 0), sentence("Mira Toll", 2),
        *(sentence("Orm Bask", n) for n in range(3)),
    }  # fmt: skip
    world = World(
        {"Mira Toll": "ttff", "Orm Bask": "ttttf"},
        lambda claim, truth, mode: "yes" if f"{claim}." in yes else "no",
    )
    result = world.run(tmp_path, modes="qa_none")
    assert value(result, "equation3", "mode:qa_none") == pytest.approx(5 * 0.5 / 9)
    assert value(result, "rogan_gladen", "mode:qa_none") is None
    assert value(result, "labeled_factuality", "mode:qa_none") == pytest.approx(6 / 9)
    assert value(result, "overconfidence", "mode:qa_none") == pytest.approx(5 / 9 - 6 / 9)


def test_a_model_that_always_says_a_is_tied_and_flips(tmp_path: Path) -> None:
    result = World(TEXTS, lambda claim, truth, mode: "A").run(tmp_path)
    for mode in ("direct", "qa", "qa_none"):
        where = f"method:plain;mode:{mode}"
        assert value(result, "order_flips", f"mode:{mode}") == 1.0
        known = result.get("SK", where)
        assert (known.value, known.missing) == (None, 10)
        verdicts = RunFolder.open(tmp_path / "run").read(f"verdicts/self-{mode}", Verdict)
        share = 1 / 3 if mode == "qa_none" else 0.5
        assert all(v.number == pytest.approx(share) for v in verdicts)
        assert {(v.label, v.problem) for v in verdicts} == {(None, "tied")}
    assert any("change with the order" in c for c in result.manifest.cautions)
    # in the paper's order alone the same model accepts everything
    first = World(TEXTS, lambda claim, truth, mode: "A").run(tmp_path, "first", orders="first")
    assert value(first, "SK", "mode:qa_none") == 1.0
    assert value(first, "SU", "mode:qa_none") == 0.0


def test_unreadable_replies_are_missing_and_bound_the_share(tmp_path: Path) -> None:
    def says(claim: str, truth: str, mode: str) -> str:
        return "I would rather not say." if "Orm" in claim else "yes"

    result = World(TEXTS, says).run(tmp_path, modes="qa")
    known = result.get("SK", "method:plain;mode:qa")
    # 7 of 7 read, 3 of Orm's unread
    assert (known.value, known.missing) == (1.0, 3)
    assert (known.bound_low, known.bound_high) == (pytest.approx(0.7), 1.0)


# --- variants ---


def test_retrieval_writes_every_text_once_more_and_is_paired(tmp_path: Path) -> None:
    world = World(TEXTS)
    result = world.run(tmp_path, modes="qa", retrieval=True)
    shown = [p for p in world.asked if p.startswith("Passages that may help:")]
    assert len(shown) == 3
    assert all("won the" in p.split("Tell me")[0] for p in shown)
    assert result.get("factscore", "method:retrieval").value == value(result, "factscore")
    # the model judges without the passages
    assert not any("Passages" in p or "This is" in p for p in world.asked if "Proposed" in p)


def test_open_book_shows_the_passages_when_it_judges(tmp_path: Path) -> None:
    world = World(TEXTS)
    world.run(tmp_path, modes="qa", retrieval=True, open_book=True)
    judged = [p for p in world.asked if "Proposed answer" in p]
    # 16 claims in two orders, for the plain texts without and for the others with passages
    assert len(judged) == 64
    assert sum("This is" in p for p in judged) == 32


def test_retrieval_needs_a_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--knowledge"):
        World(TEXTS).run(tmp_path, retrieval=True, knowledge="none", modes="qa")


def test_revised_texts_leave_doubtful_claims_out(tmp_path: Path) -> None:
    world = World(TEXTS)
    plain = world.reply

    def reply(request: Any) -> Any:
        prompt = request.messages[-1].content
        if "Write the answer once more" not in prompt:
            return plain(request)
        world.asked.append(prompt)
        draft = prompt.split("A draft of the answer:\n")[1].split("\n\n")[0]
        doubted = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
        kept = [
            s for s in draft.split(". ") if s.rstrip(".") not in {d.rstrip(".") for d in doubted}
        ]
        return ". ".join(kept).rstrip(".") + "."

    world.reply = reply  # type: ignore[method-assign]
    result = world.run(tmp_path, modes="qa_none", remedy="revise")
    asked = [p for p in world.asked if "Write the answer once more" in p]
    assert len(asked) == 2  # nothing of Ada Quill's is rejected: that text is not asked again
    assert not any("Ada Quill" in p for p in asked)
    # both methods have all three topics: 2/2, 3/3 and 5/5
    revised = result.get("factscore", "method:revised")
    assert (revised.value, revised.n) == (1.0, 3)
    assert result.get("response_rate", "method:revised").numerator == 3
    # both sides have 2, 3 and 5 supported claims; plain has a wrong one before Orm Bask's third
    equal = {"": 1.0, ";of:plain": 10 / 11}
    for where, share in equal.items():
        estimate = result.get("precision_at_recall", f"method:revised{where}")
        assert estimate.value == pytest.approx(share)
    gap = result.get("precision_at_recall_minus_plain", "method:revised")
    assert gap.value == pytest.approx(1 / 11)
    folder = RunFolder.open(tmp_path / "run")
    texts = folder.read("generations/long", Generation)
    assert sorted(g.method for g in texts) == ["plain"] * 3 + ["revised"] * 3
    assert len({g.id for g in texts}) == 6
    claims = folder.read("claims/long", Claim)
    assert len({c.id for c in claims}) == len(claims) == 16 + 10


def test_some_of_the_texts_that_answer_are_drawn(tmp_path: Path) -> None:
    names = [f"Person {letter}ara" for letter in "ABCDEFGHIJKL"]
    refusing = set(names[::3])
    world = World(dict.fromkeys(names, "tf"))
    told = world.text

    def text(name: str, letters: str | None = None) -> str:
        return "I don't have information about this." if name in refusing else told(name, letters)

    world.text = text  # type: ignore[method-assign]
    result = world.run(tmp_path, modes="direct", keep_answered=5, remedy="revise")
    folder = RunFolder.open(tmp_path / "run")
    label = {v.target: v.label for v in folder.read("verdicts/long", Verdict)}
    texts = folder.read("generations/long", Generation)
    plain = [g for g in texts if g.method == "plain"]
    assert len(plain) == 12
    # 8 of 12 answer, 5 of them are drawn: only these are checked, asked back about and revised
    rate = result.get("response_rate", "method:plain")
    assert (rate.numerator, rate.denominator) == (8, 12)
    assert result.get("factscore", "method:plain").n == 5
    drawn = {g.question for g in plain if label[g.id] == "answered"}
    assert len(drawn) == 5
    assert {g.question for g in texts if g.method == "revised"} == drawn
    by_id = {g.id: g.question for g in texts}
    assert {by_id[c.generation] for c in folder.read("claims/long", Claim)} == drawn
    notices = " ".join(result.manifest.notices)
    assert "of 12 texts asked for, 8 answer; 5 of these were drawn, and every number" in notices
    assert "/kept-5" in signature_text(result.get("factscore", "method:plain").signature)
    whole, *_ = next(part.tables for part in sheet(result.estimates).parts if part.id == "whole")
    shown = [e for _, entries in whole.rows for e in entries]
    assert rate in shown
    # by a seed: the same draw again and in another order, another draw with another seed
    asked = list(plain)
    assert drawn_topics(asked[::-1], 5, 0) == drawn
    assert any(drawn_topics(asked, 5, seed) != drawn for seed in range(1, 5))
    assert len(drawn_topics(asked, 50, 0) or ()) == 8
    assert drawn_topics(asked, 0, 0) is None
    more = told_of_drawn(asked, drawn_topics(asked, 50, 0), 50)
    assert "8 of these were drawn, fewer than the 50 of keep_answered" in more[0]


def test_draws_give_a_frequency_of_each_claim(tmp_path: Path) -> None:
    world = World({"Mira Toll": "tf", "Orm Bask": "tf"})
    plain = world.reply

    def reply(request: Any) -> Any:
        prompt = request.messages[-1].content
        if request.greedy or not prompt.startswith("Tell"):
            return plain(request)
        name = "Mira Toll" if "Mira" in prompt else "Orm Bask"
        # every draw holds the first sentence, one of four the second
        return world.text(name, "tf" if request.sample == 1 else "t")

    world.reply = reply  # type: ignore[method-assign]
    result = world.run(tmp_path, modes="none", **{"draws.k": 4})
    scores = RunFolder.open(tmp_path / "run").read("scores/claims", records.Score)
    found = sorted(s.value for s in scores if s.method == "frequency" if s.value is not None)
    assert found == [0.0, 0.0, 0.75, 0.75]
    assert value(result, "auroc", "score:frequency") == 1.0
    # fewer draws cannot be had by measuring: the scores are made of all of them
    with pytest.raises(InputError, match=r"draws\.k"):
        sayso.measure(tmp_path / "run", **{"draws.k": 2})


def test_without_knowledge_nothing_is_labeled(tmp_path: Path) -> None:
    result = World(TEXTS).run(tmp_path, knowledge="none", modes="qa")
    lost = result.get("claims_without_label", "method:plain;problem:unchecked")
    assert lost.value == 1.0
    assert value(result, "factscore") is None
    assert value(result, "SK", "mode:qa") is None
    assert any("no knowledge source" in n for n in result.manifest.notices)


def test_golds_of_the_data_are_a_source(tmp_path: Path) -> None:
    from support.scripted_world import write

    rows = [
        {
            "entity": name,
            "prompt": f"Tell me about {name}.",
            "domain": "d",
            "individual_qa": [
                {"question": f"{what} of {name}?", "answer": [gold], "description": what}
                for what, gold in (("birthplace", "Ripley"), ("cause of death", "gout"))
            ],
        }
        for name in ("Mira Toll", "Orm Bask")
    ]  # fmt: skip

    def reply(request: Any) -> str:
        name = "Mira Toll" if "Mira" in request.messages[-1].content else "Orm Bask"
        place = "Ripley" if name == "Mira Toll" else "Paris"
        return f"{name} was born in {place}."

    for ask, knowledge in (("auto", "auto"), ("open", "golds")):
        result = sayso.run(
            "self_known",
            model=ScriptedEngine(reply),
            data=str(write(tmp_path / "d.jsonl", rows)),
            out=tmp_path / ask,
            cache=tmp_path / "cache",
            options=self_known.Settings(ask=ask, knowledge=knowledge, modes="none", resamples=100),
            report=False,
        )
        assert value(result, "factuality_micro") == 0.5
        assert any("contain few facts per topic" in n for n in result.manifest.notices)
        # of four wanted facts one is told rightly, one wrongly, two are left out
        assert value(result, "recall") == 0.25


# --- signatures, measuring, resuming ---

OTHER: dict[str, Any] = {
    "answer.temperature": 0.5, "answer.long_tokens": 900, "draws.k": 1, "draws.temperature": 0.5,
    "ask": "open", "keep_answered": 2, "passages": 4,
    "claims": "rules", "support": "rules", "questions": "rules",
    "modes": "qa_none", "orders": "first", "retrieval": True, "open_book": True,
    "remedy": "revise", "noa": "b_only", "bins": 4, "closed": "left", "average": "micro",
    "gamma": 5.0, "k": 7, "folds": 3, "resamples": 150, "ci_seed": 1,
}  # fmt: skip


def test_every_setting_is_in_the_signature(tmp_path: Path) -> None:
    base = World(TEXTS).run(tmp_path)
    assert base.estimates
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "self_open.txt").write_text("Now tell me about {topic}.")
    other = {**OTHER, "prompt_folder": str(tmp_path / "own"), "knowledge": "none"}
    left = settings.as_dict(self_known.Settings()).keys() - other.keys()
    # only with --set support=nli, and only of cautious texts, which have tests of their own
    assert left == {"nli", "answer.decoding", "answer.candidates", "answer.sure"}
    counted = {f.name for f in fields_of(self_known.Settings) if f.about["stage"] == "measure"}
    for number, (name, changed) in enumerate(other.items()):
        needed = {"retrieval": True} if name == "open_book" else {}
        with_it = World(TEXTS).run(tmp_path, f"b{number}", **needed) if needed else base
        if name in counted:
            again = sayso.measure(base.path, **{name: changed})
        else:
            again = World(TEXTS).run(tmp_path, f"r{number}", **{**needed, name: changed})
        pairs = {(e.name, e.where): e.signature for e in with_it.estimates}
        same = [e for e in again.estimates if pairs.get((e.name, e.where)) == e.signature]
        assert not same, (name, same[:1])


def test_an_own_prompt_of_topics_is_sent_for_topics_and_biographies(tmp_path: Path) -> None:
    (tmp_path / "self_open.txt").write_text("Now tell me of {topic}.", encoding="utf-8")
    rows = [{"topic": "Mira Toll"}, {"topic": "Orm Bask", "prompt": "Tell me a bio of Orm Bask."}]
    asked = topic_dataset(enumerate(rows, 1), "rows", name="topics").questions
    facts = records.Question(
        id="p", dataset="d", text="Tell of Ada Quill: birthplace, trade.", golds=(), parts=("a",)
    )  # fmt: skip
    own = self_known.Settings(prompt_folder=str(tmp_path))
    assert [topic_prompt(q, own) for q in asked] == [
        "Now tell me of Mira Toll.",
        "Now tell me of Orm Bask.",
    ]
    assert topic_prompt(facts, own) == facts.text  # it asks for facts of its own
    for kept in (dataclasses.replace(own, ask="item"), self_known.Settings()):
        assert [topic_prompt(q, kept) for q in asked] == [q.text for q in asked]


def test_people_outvote_a_checker_where_they_gave_a_label() -> None:
    stored = {
        SUPPORT: [Verdict("a", "q", "s", label="S"), Verdict("b", "q", "s", label="S")],
        PEOPLE: [Verdict("a", "q", "p", label="NS"), Verdict("b", "q", "p", problem="unread")],
    }

    class Folder:
        def has(self, table: str) -> bool:
            return table.removeprefix("verdicts/") in stored

        def read(self, table: str, kind: type) -> list[Verdict]:
            return stored[table.removeprefix("verdicts/")]

    found = claim_verdicts(StoredRun(Folder(), ()))  # type: ignore[arg-type]
    assert {target: v.label for target, v in found.items()} == {"a": "NS", "b": "S"}


def test_who_compares_by_nli_is_in_the_signature() -> None:
    from sayso.protocols.self_known.measure import signature_of_method

    class Run:
        def signature(self, **parts: str) -> str:
            return repr(parts)

    made = {
        signature_of_method(Run(), self_known.Settings(support="nli", nli=nli), "a", {})  # type: ignore[arg-type]
        for nli in ("one", "two")
    }
    assert len(made) == 2


def test_measure_refuses_what_was_asked(tmp_path: Path) -> None:
    World(TEXTS).run(tmp_path, modes="qa_none")
    asked = [f.name for f in fields_of(self_known.Settings) if f.about["stage"] == "collect"]
    assert len(asked) >= 15
    for name in asked:
        if name in OTHER:
            before = settings.as_dict(
                settings.replace(self_known.Settings(), {"modes": "qa_none", "resamples": 100})
            )[name]
            changed = OTHER[name] if OTHER[name] != before else "direct"
            needed = {"retrieval": True} if name == "open_book" else {}
            with pytest.raises(InputError, match="needs a new `sayso run`"):
                sayso.measure(tmp_path / "run", **{**needed, name: changed})


@pytest.mark.parametrize("forced", [False, True])
def test_a_run_that_is_stopped_asks_nothing_twice(tmp_path: Path, forced: bool) -> None:
    """Stopped after every few requests or reads; in all, the engine is asked nothing twice."""
    requests: list[Any] = []
    reads: list[Any] = []
    result = None
    stops = 0
    while stops < 80:
        world = World(TEXTS)
        engine = Stopping(world, logprob=-0.5 if forced else None)
        try:
            result = world.run(tmp_path, model=engine, remedy="revise")
        except KeyboardInterrupt:
            stops += 1
            continue
        finally:
            requests += engine.requests
            reads += engine.forced
        break
    assert result is not None
    assert result.manifest.finished
    assert stops > 5
    assert len({msgspec.json.encode(r) for r in requests}) == len(requests) > 2
    keys = [msgspec.json.encode([r, c]) for r, c in reads]
    assert len(set(keys)) == len(keys)
    assert len(keys) > 100 if forced else not keys


class Stopping(ScriptedEngine):
    """Stops after seven requests, or fifty reads."""

    def __init__(self, world: World, logprob: float | None) -> None:
        plain = world.reply

        def reply(request: Any) -> Any:
            revising = "Write the answer once more" in request.messages[-1].content
            return "Gone is gone." if revising else plain(request)

        super().__init__(reply, logprob=logprob, kill_after=7 if logprob is None else 2)

    def force(self, items: Any, want: Any) -> Any:
        for index, found in super().force(items, want):
            if len(self.forced) > 50:
                self.forced.pop()
                raise KeyboardInterrupt
            yield index, found


def test_each_claim_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sayso.judges.support import RulesSupport

    seen: list[Any] = []
    plain = RulesSupport.read

    def read(self: Any, items: Any, **given: Any) -> Any:
        seen.extend(items)
        return plain(self, items, **given)

    monkeypatch.setattr(RulesSupport, "read", read)
    # with retrieval the same texts come twice
    result = World(TEXTS).run(tmp_path, modes="none", retrieval=True)
    assert len(seen) == len(set(seen)) == 16
    assert any("32 claims (16 distinct), 16 checked" in n for n in result.manifest.notices)


def test_no_number_is_nan_and_undefined_ones_say_why(tmp_path: Path) -> None:
    for name, texts in (
        ("one", {"Mira Toll": "t"}),
        ("false", {"Mira Toll": "ff", "Orm Bask": "f"}),
        ("empty", {"Mira Toll": "", "Orm Bask": "t"}),
        ("mixed", TEXTS),
    ):
        result = World(texts).run(tmp_path / name)
        assert result.estimates
        for found in result.estimates:
            for number in msgspec.structs.astuple(found):
                assert number == number, (name, found)
            assert found.value is not None or found.problem, (name, found)


def test_settings_that_cannot_be_are_refused() -> None:
    for fields, message in (
        ({"modes": "qa,x"}, "modes 'x'"),
        ({"remedy": "revise", "modes": "none"}, "remedy needs"),
        ({"open_book": True}, "add --set retrieval=true"),
        ({"bins": 0}, "bins is 0"),
        ({"noa": "x"}, "noa is 'x'"),
    ):
        with pytest.raises(InputError, match=message):
            dataclasses.replace(self_known.Settings(), **fields).check()  # type: ignore[arg-type]


def test_a_dry_run_counts_what_comes_after_the_texts(tmp_path: Path) -> None:
    from sayso.runs.dry_run import estimate_job
    from sayso.runs.job import Job

    world = World(TEXTS)
    engine = world.engine()
    job = Job(
        protocol="self_known",
        model=engine,
        judge=ScriptedEngine(lambda request: "", name="judge"),
        data=world.topics(tmp_path),
        cache=tmp_path / "cache",
        options=self_known.Settings(remedy="revise"),
    )
    plan = estimate_job(job)
    stages = {(s.who, s.name): s.requests for s in plan.stages}
    assert stages["model", "long"] == (3, 3)
    low, high = stages["model", "self-direct"]
    assert 3 * 2 <= low <= high  # every text has a claim, and each is asked about in two orders
    assert stages["model", "self-qa_none"].low >= low  # in three
    assert stages["model", "long-revised"] == (0, 3)  # one for each text with a rejected claim
    assert {name for who, name in stages if who == "judge"} >= {"claims", "own judgement"}
    assert engine.requests == []
    assert not list(tmp_path.glob("runs"))


def test_the_public_name_of_texts_that_exist() -> None:
    from sayso.runs.run import factuality

    assert sayso.factuality is factuality
    assert "factuality" in dir(sayso)


def test_forced_reads_have_the_template_arguments_of_the_texts(tmp_path: Path) -> None:
    """--thinking off reaches the letters too: another rendering is another question."""
    world = World({"Mira Toll": "tf"})
    engine = world.engine(logprob=-0.5)
    sayso.run(
        "self_known",
        model=engine,
        data=world.topics(tmp_path),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        thinking="off",
        options=self_known.Settings(knowledge="none", modes="direct", resamples=100),
        report=False,
    )
    assert engine.forced
    wanted = engine.requests[0].chat_template_kwargs
    assert wanted == (("enable_thinking", False),)
    assert {r.chat_template_kwargs for r, _ in engine.forced} == {wanted}


def test_a_word_that_cannot_be_read_is_no_probability_of_zero(tmp_path: Path) -> None:
    world = World({"Mira Toll": "tf"})

    class Deaf(ScriptedEngine):
        def force(self, items: Any, want: Any) -> Any:
            for index, found in super().force(items, want):
                request, word = items[index]
                lost = word.strip().lower() == "false" and request.messages[-1].content.endswith(
                    "true or false?"
                )
                broken = msgspec.structs.replace(found, logprobs=None, problem="failed: lost")
                yield index, broken if lost else found

    result = world.run(tmp_path, model=Deaf(world.reply, logprob=-0.5), modes="direct")
    verdicts = RunFolder.open(tmp_path / "run").read("verdicts/self-direct", Verdict)
    # of the order "true or false" the second is lost, so the order is; the other has equal words
    assert {(v.label, v.problem, v.raw and v.raw.partition("|")[0]) for v in verdicts} == {
        (None, "tied", "?,?")
    }
    assert result.get("SK", "method:plain;mode:direct").missing == 1


def test_claims_checked_by_an_nli_model(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from support.nli_models import ORDERS, make_nli

    folder = make_nli(tmp_path / "nli", ORDERS[0], positions=400)
    world = World(TEXTS)
    given: dict[str, Any] = {"modes": "none", "support": "nli", "nli": str(folder)}
    result = world.run(tmp_path, **given)
    score = result.get("factuality_micro", "method:plain")
    assert score.denominator == 16.0
    assert "support:support-nli:" in signature_text(score.signature)
    verdicts = RunFolder.open(tmp_path / "run").read("verdicts/long-support", Verdict)
    assert {v.problem for v in verdicts} == {None}
    assert len(verdicts) == 16


@tabled
def test_what_cannot_be_had_is_told_before_anything_is_asked(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    engine = World(TEXTS).engine()
    with pytest.raises(InputError, match=message):
        World(TEXTS).run(tmp_path, model=engine, **fields)
    assert engine.requests == []
    assert not (tmp_path / "run").exists()
