"""What every page begins with: a sentence that its numbers allow, and answers chosen by rule."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso.metric import Headline
from sayso.protocols import PROTOCOLS
from sayso.protocols.faithfulness import report as faithfulness
from sayso.protocols.selective import report as selective
from sayso.protocols.self_known import report as self_known
from sayso.protocols.uncle import report as uncle
from sayso.records import Estimate, Results, Slice, slice_of
from sayso.report import write
from sayso.report.answers import (
    STANCES,
    AnswerPiece,
    QuestionCard,
    ShownAnswer,
    ShownFact,
    ShownVerdict,
)
from sayso.report.opening import example, how_often, middle, open_page
from sayso.report.sheet import render_sheet
from sayso.score_files import page as score_page
from sayso.storage.run_folder import Manifest
from sayso.studies.report import ranked_sentence
from sayso.train import report as training_report
from sayso.train import verdict as trainings
from support.report_folders import CELLS, make_run
from support.tables import tabled
from support.trainings import training

HOSTILE = "<script>alert(1)</script>\x1b[31m‮"
Ends = tuple[float, float] | None


def share(name: str, where: Slice, top: float, bottom: float, ends: Ends = None) -> Estimate:
    value = top / bottom if bottom else None
    low, high = ends if ends is not None else (None, None)
    return Estimate(name, where, value, low, high, top, bottom, n=int(bottom))


def facts(cells: tuple[int, ...], unknown: Ends, j: Ends, form: str = "short") -> list[Estimate]:
    """The numbers of kc, ki, ku, uc, ui, uu; ``unknown`` is the interval of UUR."""
    kc, ki, ku, uc, ui, uu = cells
    where = slice_of(form=form)
    known, not_known = kc + ki + ku, uc + ui + uu
    gap = uu / not_known - ku / known if known and not_known else None
    low, high = j if j is not None else (None, None)
    return [
        share("UUR", where, uu, not_known, unknown),
        share("over_hedge", where, ku, known),
        share("p_known", where, known, known + not_known),
        Estimate("J", where, gap, low, high),
        *(Estimate(name, where, float(count)) for name, count in zip(CELLS, cells, strict=True)),
    ]


@tabled
def test_whether_a_model_admits_ignorance(
    cells: tuple[int, ...], unknown: Ends, j: Ends, says: str
) -> None:
    kc, ki, ku, uc, ui, uu = cells
    sentence = uncle.plain_sentence(Results(facts(cells, unknown, j)))
    assert says in sentence
    false = f" and stated {ui} falsely" if ui else ""
    assert f"f {uc + ui + uu} facts that it did not know, it hedged {uu}{false};" in sentence
    assert f" of {kc + ki + ku} that it knew, it hedged {ku}." in sentence


def test_hedging_by_type_of_fact_alone_is_not_called_admitting() -> None:
    """J is clear of 0, and within a type of fact its hedging knows nothing."""
    found = facts((40, 0, 1, 0, 5, 35), (0.73, 0.96), (0.7, 0.95))
    typed = Estimate("J", slice_of(form="short", type="born"), 0.1, -0.1, 0.2)
    for low, says in (
        (-0.2, "by the type of fact alone"),
        (0.1, "usually"),
    ):
        within = Estimate("J_within", slice_of(form="short"), 0.2, low, 0.4)
        assert says in uncle.plain_sentence(Results([*found, typed, within]))


def test_the_sentence_is_about_one_form_and_names_it_where_there_are_two() -> None:
    both = [
        *facts((38, 2, 1, 0, 31, 8), (0.1, 0.24), (0.05, 0.3)),
        *facts((40, 0, 1, 0, 5, 35), (0.73, 0.96), (0.7, 0.95), "long"),
    ]
    assert uncle.plain_sentence(Results(both)).startswith("In short answers, it rarely admits")
    # what a paragraph leaves out is not stated
    long = uncle.plain_sentence(Results(both[len(both) // 2 :]))
    assert "of 40 facts that it did not know, it hedged 35 and left out or got wrong 5;" in long


def test_a_run_without_a_verdict_or_without_numbers_says_so() -> None:
    where = slice_of(form="short")
    unread = [Estimate(n, where, problem="no verdict could be read") for n in ("UUR", "p_known")]
    assert uncle.plain_sentence(Results(unread)) == (
        "This run cannot say whether the model admits what it does not know: no verdict could be "
        "read."
    )
    for name, plan in PROTOCOLS.items():
        assert "no numbers yet" in plan.report.sheet([]).opening.sentence, name


FIRST = slice_of(form="short", method="vanilla")


def wording(words: tuple[float, Ends], agreed: tuple[float, Ends], skill: Ends, n: int = 90) -> str:
    rows = []
    for name, (value, ends) in (("mean_decisiveness", words), ("mean_confidence", agreed)):
        low, high = ends if ends is not None else (None, None)
        rows.append(Estimate(name, FIRST, value, low, high, n=n))
    low, high = skill if skill is not None else (None, None)
    rows.append(Estimate("skill", FIRST, 0.1, low, high, n=n))
    return faithfulness.plain_sentence(faithfulness.FaithfulnessResults(rows))


def test_whether_a_model_sounds_as_sure_as_it_is() -> None:
    assert wording((0.95, (0.9, 0.97)), (0.55, (0.46, 0.64)), None) == (
        "In short answers (Vanilla prompt), it sounds surer than it is: its words sound 95 % "
        "sure, and sampled on the plain question, it gives a consistent answer (right or wrong) "
        "55 % of the time."
    )
    # words that never vary have no interval, and enough of them need none
    assert "it sounds surer" in wording((0.975, None), (0.55, (0.46, 0.64)), None)
    few = wording((0.975, None), (0.55, (0.46, 0.64)), None, n=5)
    assert "too few claims (5)" in few
    assert "it sounds less sure" in wording((0.3, (0.2, 0.4)), (0.9, (0.8, 0.95)), None)
    # intervals that meet are no equality: an end may lie far from the other mean's
    wide = wording((0.98, (0.94, 1.0)), (0.55, (0.03, 0.98)), None)
    assert "too few entities to say whether it sounds as sure as it is: its words sound" in wide
    # nor are they, or a gap that nobody would hear, a difference
    about = wording((0.8, (0.7, 0.9)), (0.7, (0.6, 0.8)), (-0.1, 0.2))
    assert "it sounds on average about as sure as it is" in about
    assert about.endswith("too few claims to tell whether its words show which answers are shaky.")
    assert "no sign" in wording((0.8, (0.7, 0.9)), (0.7, (0.6, 0.8)), (-0.05, 0.04))
    assert "about as sure" in wording((0.975, None), (1.0, None), None)
    assert wording((0.8, (0.7, 0.9)), (0.7, (0.6, 0.8)), (0.1, 0.3)).endswith(
        "; its words partly show which answers are shaky."
    )
    lost = Estimate("skill", FIRST, problem="no draw could be compared")
    assert faithfulness.plain_sentence(faithfulness.FaithfulnessResults([lost])) == (
        "This run cannot say whether the model sounds as sure as it is: no draw could be compared."
    )


PLACE = slice_of(form="short", against="rules")


def declining(none: tuple[int, int, Ends], some: tuple[int, int], gap: Ends) -> list[Estimate]:
    low, high = gap if gap is not None else (None, None)
    return [
        Estimate("error_rate", PLACE, 0.4, n=some[1]),
        share(selective.ABSTENTIONS[0], PLACE, *none),
        share(selective.ABSTENTIONS[1], PLACE, *some),
        Estimate(selective.GAP, PLACE, none[0] / none[1] - some[0] / some[1], low, high),
    ]


@tabled
def test_whether_a_model_declines_what_it_cannot_answer(
    none: tuple[int, int, Ends], some: tuple[int, int], gap: Ends, said: str
) -> None:
    rows = declining(none, some, gap)
    sentence = selective.plain_sentence(selective.SelectiveResults(rows))
    assert sentence.startswith(said)
    assert sentence.endswith(
        f"asked the questions as they are, it declined {none[0]} of {none[1]} questions that "
        f"cannot be answered and {some[0]} of {some[1]} questions that can be answered."
    )
    assert selective.sheet(rows).question == selective.DECLINING


def test_who_declines_by_type_of_question_alone_is_told_so() -> None:
    rows = declining((18, 20, (0.68, 0.99)), (2, 30), (0.6, 0.95))
    within = Estimate(f"{selective.GAP}_within", PLACE, 0.0, -0.1, 0.1)
    sentence = selective.plain_sentence(selective.SelectiveResults([*rows, within]))
    assert "; within a type of question, it shows no clear sense of" in sentence
    assert "18 of 20" in sentence


def test_a_model_that_never_declines_is_told_so() -> None:
    rows = declining((0, 20, (0.0, 0.16)), (0, 30), (-0.1, 0.1))
    said = selective.plain_sentence(selective.SelectiveResults(rows))
    assert "it never declined" in said
    assert "0 of 20" in said
    assert "0 of 30" in said


def scored(wrong: float, n: int, best: Ends, value: float = 0.7) -> str:
    low, high = best if best is not None else (None, None)
    area = slice_of(form="short", against="rules", score="perplexity")
    length = slice_of(form="short", against="rules", score="length_words")
    rows = [
        Estimate("error_rate", PLACE, wrong / n, n=n),
        Estimate("answer_count", PLACE + slice_of(asked="answerable", did="wrong"), wrong),
        Estimate("auroc", area, value, low, high),
        Estimate("auroc", length, 0.5, 0.4, 0.6),
    ]
    assert selective.sheet(rows).question == selective.HEADING
    return selective.plain_sentence(selective.SelectiveResults(rows))


def test_whether_a_score_finds_the_errors() -> None:
    assert scored(52, 120, (0.6, 0.8)) == (
        "52 of its 120 short answers are wrong, and an uncertainty score can point to them: given "
        "a wrong and a right answer, perplexity ranks the wrong one as less certain 70 % [60, 80] "
        "of the time (chance: 50 %)."
    )
    assert "no uncertainty score clearly detects them" in scored(52, 120, (0.45, 0.7))
    assert "too few to be sure that a score detects" in scored(52, 120, (0.45, 0.8))
    assert "too few to say whether a score detects them" in scored(52, 120, None)
    assert "too few to say whether a score detects them" in scored(6, 60, (0.6, 0.95))
    assert "too few to rank scores (only 36 pairs" in scored(6, 12, (0.6, 0.95))
    assert "an uncertainty score can point to them" in scored(10, 20, (0.6, 0.95))
    assert scored(1, 60, None) == (
        "1 of its 60 short answers is wrong: too few are wrong to rank scores."
    )
    assert "too few are right" in scored(58, 60, None)


def texts(
    supported: float | None, ends: Ends, rejected: float | None, trend: Ends, *more: Estimate
) -> str:
    where = slice_of(method="plain")
    low, high = ends if ends is not None else (None, None)
    down, up = trend if trend is not None else (None, None)
    mode = slice_of(method="plain", mode=self_known.MAIN)
    rows = [
        Estimate("factscore", where, supported, low, high, problem="no claim has a label"),
        Estimate("trend", where, -0.2, down, up),
        Estimate("accept_rate", mode, 0.8),
        Estimate("SU", mode, rejected),
    ]
    rows = [*more, *rows]
    return self_known.plain_sentence(self_known.SelfKnownResults(rows))


@tabled
def test_that_a_model_notices_errors_is_said_where_both_intervals_allow_it(
    accepted: Ends, rejected: Ends, says: str
) -> None:
    mode = slice_of(method="plain", mode=self_known.MAIN)
    both = [
        Estimate(name, mode, value, *(ends or (None, None)))
        for name, value, ends in (("SK", 0.85, accepted), ("SU", 0.11, rejected))
    ]
    said = texts(0.54, (0.4, 0.67), 0.11, (-0.5, 0.1), *both)
    assert "accepts 85 % of the supported ones and rejects 11 % of the unsupported ones" in said
    assert says in said


def test_verdicts_that_follow_the_order_of_options_show_nothing() -> None:
    mode = slice_of(method="plain", mode=self_known.MAIN)
    flips = Estimate("order_flips", mode, 0.9)
    said = texts(0.54, (0.4, 0.67), 0.11, (-0.5, 0.1), flips, Estimate("SK", mode, 0.85, 0.8, 0.9))
    assert "changes 90 % of its verdicts with the order of the options" in said
    assert "11 %" not in said
    few = texts(0.54, (0.4, 0.67), 0.11, (-0.5, 0.1), Estimate("order_flips", mode, 0.5))
    assert "rejects 11 %" in few


def test_whether_long_answers_are_supported() -> None:
    assert texts(0.54, (0.4, 0.67), 0.11, (-0.5, 0.1)) == (
        "Of the claims in its long answers, 54 % are supported; asked to check each claim "
        '("or none of these?"), the model rejects '
        "11 % of the unsupported ones."
    )
    assert texts(0.54, (0.4, 0.67), None, (-0.5, -0.1)) == (
        "Of the claims in its long answers, 54 % are supported, and fewer of them towards the end "
        "of a text."
    )
    assert texts(1.0, None, None, None) == (
        "There are few texts to judge by: of the claims in its long answers, all are supported."
    )
    assert texts(None, None, None, None) == (
        "This run cannot say how much of its long answers is supported: no claim has a label."
    )


@pytest.mark.parametrize(
    ("ends", "word"),
    [(None, ""), ((0.0, 0.24), "rarely"), ((0.0, 0.25), "sometimes"), ((0.5, 1.0), "sometimes"),
     ((0.51, 1.0), "usually"), ((0.91, 1.0), "almost always")],
)  # fmt: skip
def test_a_frequency_follows_its_interval(ends: Ends, word: str) -> None:
    assert how_often(share("x", (), 1, 2, ends)) == word


def test_cautions_about_the_whole_run_stand_first_and_the_others_below() -> None:
    found = open_page(Manifest(cautions=("all of it", "a part")), "A.", "more", later=["a part"])
    assert (found.first, found.later) == (["all of it"], ["a part"])
    assert found.not_shown == "more."


def test_what_must_be_known_of_model_and_judge_stands_above_everything() -> None:
    made = Manifest(model="builtin", judge="openai:gpt-4o", cautions=("all of it",))
    invented, unchecked, last = open_page(made, "A.", "more").first
    assert "real language models" in invented
    assert "never checked" in unchecked
    assert last == "all of it"
    assert not open_page(Manifest(model="hf:other"), "A.", "more").first


# ---- answers


def test_the_median_is_the_lower_one_and_the_earlier_of_equals() -> None:
    assert middle(["aaa", "b", "cc", "dddd"], len) == "cc"
    assert middle(["bb", "aa", "cc"], len) == "aa"
    assert middle([], len) is None


def test_an_example_is_cut_and_harmless() -> None:
    found = example("what", HOSTILE, HOSTILE, HOSTILE + "x" * 1000)
    assert len(found.answer) == 320
    assert found.answer.endswith("…")
    assert not any(sign in "".join(found) for sign in "\x1b‮")


def lead(page: Path) -> str:
    """The page from its heading to the navigation, as written."""
    text = page.read_text(encoding="utf-8")
    return text[text.index("<h1>") : text.index("</header>")]


def test_a_page_begins_with_the_sentence_then_answers_then_numbers(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    first = lead(write(run))
    order = ['<p class="lead">', "Three answers", '<dl class="tiles">', "What this does not show:"]
    places = [first.index(part) for part in order]
    assert places == sorted(places)
    assert first.count("<li><h3>") == 3
    assert lead(write(run)) == first, "the choice is the same each time"


def test_the_answers_are_of_the_kinds_that_they_are_called(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    manifest = run.read_manifest()
    shown = uncle.read_answers(run, manifest, []).examples.shown
    assert [(e.what, e.kind) for e in shown] == [
        ("A hedged gap", "uncertain"),
        ("A confident error", "incorrect"),
        # of 36 facts 9 are known and hedged, and as many known and right: the first counts
        ("A typical answer", "uncertain"),
    ]
    # a gap and an error are of facts that no draw got right
    assert all("right in 0 of 5 draws" in e.note for e in shown[:2])
    assert len({e.question for e in shown}) == 3


def test_what_no_answer_is_an_example_of_is_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 2, unread=True)
    assert uncle.read_answers(run, run.read_manifest(), []).examples.shown == []
    run = make_run(tmp_path / "one", 1, facts=1)  # one fact, known and stated right
    found = uncle.read_answers(run, run.read_manifest(), []).examples
    assert found.rule.endswith("of a hedged gap. No answer is an example of a confident error.")


def test_a_refusal_by_policy_is_no_admitted_gap() -> None:
    def fact(number: int, stance: str) -> ShownFact:
        shown = ShownAnswer([AnswerPiece("I can't help with that.")], 0, ())
        reading = ShownVerdict("uncertain", STANCES[stance], "")
        return ShownFact(
            number, f"Who {number}?", "Ada", "t", "unknown", "0/5", shown, reading, None, None, None
        )

    def chosen(*stances: str) -> list[tuple[str, str]]:
        facts = [fact(number, stance) for number, stance in enumerate(stances)]
        card = QuestionCard("q", "Q", "", "", None, None, facts)
        return [(e.what, e.note) for e in uncle._examples([card]).shown]

    drawn = "It was right in 0 of 5 draws."
    assert chosen("abstained") == [("A hedged gap", drawn)]
    refused = f"Read as a refusal by policy. {drawn}"
    assert chosen("refused_by_policy") == [("A typical answer", refused)]
    assert chosen("refused_by_policy", "hedged") == [
        ("A hedged gap", drawn), ("A typical answer", refused),
    ]  # fmt: skip


def test_the_terminal_begins_with_cautions_then_the_sentence(tmp_path: Path) -> None:
    found = facts((38, 2, 1, 0, 31, 8), (0.1, 0.36), (0.05, 0.3))
    manifest: Any = Manifest(model="m", model_signature="m", cautions=("Read me first.",))
    out = io.StringIO()
    render_sheet(uncle.sheet(found, manifest), Console(file=out, width=80), manifest)
    lines = [line for line in out.getvalue().splitlines() if line]
    assert lines[0] == "! Read me first."
    assert lines[1].startswith("It sometimes admits what it does not know: of 39 facts")
    assert "What this does not show: how it answers" in " ".join(out.getvalue().split())


# ---- studies, trainings and files of scores


KNOWS, ADMITS = PROTOCOLS["uncle"].metrics.headlines.values()
Ranks = list[tuple[int, int] | None]
FORMS_OF = ("short answers", "paragraphs")


def ranked(*ranks: tuple[Headline, list[Ranks]]) -> str:
    found = [(headline, list(zip(FORMS_OF, of, strict=False))) for headline, of in ranks]
    return ranked_sentence(found, list("abcd")[: len(ranks[0][1][0])])


@tabled
def test_who_is_best_of_several_models(knows: Ranks, admits: Ranks, said: str) -> None:
    assert ranked((KNOWS, [knows]), (ADMITS, [admits])) == said


def test_forms_and_parts_in_which_models_differ_are_named() -> None:
    hedges = PROTOCOLS["uncle"].metrics.told["UUR"]
    alike: Ranks = [(1, 2), (1, 2)]
    first: Ranks = [(1, 1), (2, 2)]
    assert hedges.part
    said = ranked((ADMITS, [alike, first]), (hedges, [first, first]))
    assert "a admits most reliably what it does not know (paragraphs)" in said
    assert "no difference is visible in how reliably" in said
    assert "(short answers)" in said
    assert "a hedges most of what it does not know." in said
    assert "hedge of what" not in ranked((ADMITS, [alike]), (hedges, [alike]))


def test_whether_training_changed_a_model() -> None:
    found = training()
    # SFT + DPO: .70 of unknown and of known facts hedged, the instruction .25; corrected p .001
    assert trainings.training_sentence(found) == (
        "After training, it admits more reliably what it does not know: in short answers, it "
        "hedges 70 % of the facts that it did not know (before: 25 %) and 70 % of those that it "
        "knew (before: 25 %)."
    )

    def changed(p: float | None, value: float | None = 0.3) -> str:
        changes = tuple(
            msgspec.structs.replace(
                one, p_holm=p, difference=msgspec.structs.replace(one.difference, value=value)
            )
            for one in found.changes
        )
        return trainings.training_sentence(msgspec.structs.replace(found, changes=changes))

    assert changed(0.2).startswith("Training made no visible difference to how reliably it admits")
    assert changed(0.01, -0.3).startswith("After training, it admits less reliably what it does")
    assert changed(None).startswith("Whether it admits more reliably what it does not know could")
    nothing = msgspec.structs.replace(found, methods=(), cells=(), changes=())
    assert trainings.training_sentence(nothing) == "Nothing was measured."


def test_answers_before_and_after_training() -> None:
    shown = training_report.examples(training("Lyon")).shown
    assert [e.what for e in shown] == ["It learned to admit a gap"]
    assert shown[0].kind == "uncertain"
    assert shown[0].note == "Before training: “Lyon”"


def test_a_file_of_answers_begins_with_its_errors(tmp_path: Path) -> None:
    rows = [
        {"question": f"Q{n}?", "answer": HOSTILE, "human": n % 3 > 0, "mine": n % 3 == 0}
        for n in range(30)
    ]
    board = sayso.leaderboard([{**row, "mine": float(row["mine"]) + n / 99}
                               for n, row in enumerate(rows)], ["mine"])  # fmt: skip
    sentence = score_page.board_sentence(board)
    # people decide: what they call wrong may be an answer that declines
    assert sentence.startswith("10 of the 30 judged answers are not right, and")
    assert "mine ranks that one as less certain 100 % [69, 100] of the time" in sentence
    golds = [{**row, "human": None, "gold": "Bern", "answer": "Bern" if n % 3 else "Basel"}
             for n, row in enumerate(rows)]  # fmt: skip
    assert "10 of the 30 judged answers are wrong, and" in score_page.board_sentence(
        sayso.leaderboard(golds, ["mine"])
    )
    out = io.StringIO()
    score_page.render_board(board, Console(file=out, width=80))
    assert out.getvalue().lstrip().startswith("10 of the 30 judged answers are not right")
