"""The model decides only what the rules are not certain of."""

from __future__ import annotations

from sayso.judges.cascade import CascadeJudge, certain
from sayso.judges.decisiveness import voices_doubt
from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import DISPUTED, RulesJudge
from sayso.records import Generation, Gold, Question, ask
from support.judge_world import Shown, judge_engine, shown
from support.tables import tabled


def question(text: str, *golds: str, entity: str = "Mira Toll") -> Question:
    return Question(
        id=text, dataset="d", text=text, golds=tuple(Gold(g) for g in golds), entity=entity
    )


BORN = question("Where was Mira Toll born?", "Ripley")
WHEN = question("When was Mira Toll born?", "1950-05-03T00:00:00Z")
LANDED = question("When was Mira Toll's landing?", "+1969-07-20T00:00:00Z")
MURDER = question("When was Mira Toll murdered?", "-0044-03-15T00:00:00Z")
WORK = question("What was Mira Toll's occupation?", "singer")
ASKED = {"BORN": BORN, "WHEN": WHEN, "LANDED": LANDED, "MURDER": MURDER}


def item(text: str, *questions: Question, form: str = "short", **more: str) -> Item:
    return Item(Generation(request=ask("?"), id=text[:9], text=text, form=form, **more), questions)


@tabled
def test_when_the_rules_are_certain(text: str, asked: str, sure: bool) -> None:
    question = ASKED[asked]
    made = item(text, question)
    (verdict,) = RulesJudge().grade([made])
    assert certain(made, question, verdict) is sure, verdict


def test_a_committed_verdict_on_words_of_doubt_is_uncertain() -> None:
    """Where the reader of decisiveness hears doubt, the verdict says so and the model is asked."""
    made = item("Perhaps you meant Ripley, where she was born.", BORN)
    (verdict,) = RulesJudge().grade([made])
    assert (verdict.stance, verdict.content) == ("committed", "correct")
    assert voices_doubt(made.generation.text)
    assert verdict.certainty is not None
    assert verdict.certainty <= DISPUTED
    assert not certain(made, BORN, verdict)
    assert not voices_doubt("She was born in Ripley.")


def test_a_failed_generation_is_not_sent() -> None:
    made = item("", BORN, problem="failed: 500")
    (verdict,) = RulesJudge().grade([made])
    assert verdict.problem == "failed"
    assert certain(made, BORN, verdict)


def test_only_the_rest_is_asked_and_verdicts_keep_their_places() -> None:
    asked: list[str] = []

    def decide(seen: Shown, number: int) -> str:
        asked.append(seen.question(number))
        return "abstained"

    engine = judge_engine(decide, "gpt-4o")
    llm = LlmJudge(engine)
    judge = CascadeJudge(RulesJudge(), llm)
    assert judge.name == "rules+gpt-4o"
    assert judge.signature == f"{RulesJudge.signature}+c3+{llm.signature}"
    long = item(
        "Mira Toll was born in Ripley in 1950. She may have been a dancer.",
        BORN,
        WORK,
        form="long",
    )
    items = [item("In Paris.", BORN), item("Ripley", BORN), long, item("", WORK)]
    verdicts = judge.grade(items)
    assert [v.asked for v in verdicts] == [q.id for i in items for q in i.questions]
    assert [v.target for v in verdicts] == [i.generation.id for i in items for _ in i.questions]
    assert {v.by for v in verdicts} == {judge.signature}
    assert [v.stance for v in verdicts] == [
        "abstained",
        "committed",
        "committed",
        "abstained",
        "omitted",
    ]
    assert asked == [BORN.text, WORK.text]
    # the paragraph stays one although one of its questions is left
    assert [("paragraph" in shown(r).fields) for r in engine.requests] == [False, True]
    assert judge.requested == 2
    assert judge.graded == 5
    assert judge.counts is llm.counts
    assert "asked for 2 of 5 verdicts and gave 2 that" in judge.notices[-1]


def test_a_paragraph_whose_form_nobody_wrote_down_stays_one() -> None:
    engine = judge_engine(lambda seen, number: "omitted")
    made = item("Mira Toll was born in Ripley. She may have been a dancer.", BORN, WORK, form="")
    CascadeJudge(RulesJudge(), LlmJudge(engine)).grade([made])
    assert "paragraph" in shown(engine.requests[0]).fields


def test_what_the_model_does_not_say_is_missing() -> None:
    engine = judge_engine(lambda s, n: "x", write=lambda *_: "No idea what you want.")
    (verdict,) = CascadeJudge(RulesJudge(), LlmJudge(engine)).grade([item("In Paris.", BORN)])
    assert (verdict.stance, verdict.problem) == (None, "unread")
