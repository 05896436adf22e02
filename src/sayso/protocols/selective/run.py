"""Selective answering from top to bottom: answers, draws, verdicts, every score of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from sayso.judges.judge import WITHHELD, Item, Judge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.endpoint_values import endpoint_values, named_own
from sayso.protocols.passages import AGAIN
from sayso.protocols.pool import item_of
from sayso.protocols.probes import draws_by_question
from sayso.protocols.protocol import Run, Step, stored_answers
from sayso.protocols.selective.asks import SHOWN, SHOWN_DRAWS, requests
from sayso.protocols.selective.rows import ungraded
from sayso.protocols.selective.scoring import (
    keep_metrics,
    open_further,
    read_states,
    scored_facts,
    scores_of,
    shown_of,
    tools_of,
    words_scores,
)
from sayso.protocols.selective.settings import FORMS, NO_SCORES, Settings
from sayso.protocols.thoughts import RulesWording, grade_thoughts
from sayso.records import Content, Question, Score, Verdict


def steps(questions: Sequence[Question], settings: Settings, seed: int) -> list[Step]:
    """Return the protocol: everything is asked in one call, judged, and scored once."""
    return [
        Step("further models", partial(open_further, settings)),
        Step("answers and draws", asks=requests(questions, settings, seed)),
        Step("verdicts and scores", partial(judge_and_score, settings, seed)),
    ]


def judge_and_score(settings: Settings, seed: int, run: Run) -> None:
    """Judge each stage, gather evidence on its answers, and store every score of it."""
    by_id = {q.id: q for q in run.questions}
    reader = run.judge
    if getattr(reader, "needs_golds", True) and any(map(ungraded, run.questions)):
        reader = StanceReader(reader)
    draws = draws_by_question(stored_answers(run, "draws"))
    values = endpoint_values(stored_answers(run, "short"), draws)
    draws = {question: named_own(some, values) for question, some in draws.items()}
    examples = None
    if settings.p_true.examples:
        answers = stored_answers(run, SHOWN)
        verdicts = run.grade(SHOWN, [item_of(g, by_id) for g in answers], run.judge)
        drawn = stored_answers(run, SHOWN_DRAWS)
        examples = shown_of(answers, drawn, verdicts, by_id, settings, seed)
    for stage in (*FORMS, "draws", *AGAIN):
        if not run.folder.has(f"generations/{stage}"):
            continue
        generations = stored_answers(run, stage)
        items = [
            item_of(g, by_id)
            for g in generations
            if stage != "draws" or g.request.sample < settings.known_k  # what decides what is known
        ]
        long = stage == "long"
        verdicts = spans = run.grade(stage, items, reader, items if long else None)
        if long:
            spans = run.folder.read(f"verdicts/{stage}-spans", Verdict)
        if stage in ("draws", *AGAIN):
            continue
        grade_thoughts(run, stage, items, RulesWording())
        if run.judge.name != "rules":
            run.grade(f"{stage}-rules", items, RulesJudge())  # a second answer metric
        generations, dry = named_own(generations, values), run.rehearses is not None
        facts = scored_facts(stage, generations, spans, by_id)
        scorers = tools_of(run, settings)._replace(examples=examples)
        scores = [
            *words_scores(generations, verdicts, by_id),
            *scores_of(stage, facts, generations, draws, settings, scorers, rehearses=dry),
            *read_states(stage, facts, run, settings, scorers.engine),
        ]
        run.folder.write(f"scores/{stage}", scores, Score)
        keep_metrics(stage, facts, run, settings)
    scored = settings.scores != NO_SCORES
    run.tell([*filter(None, [values.told] * scored), *(examples.notices if examples else [])])


class StanceReader:
    """A judge of answers to questions of which some have an answer that nobody gives us.

    Whether an answer to these is right cannot be said; whether it names a value can. So the judge
    reads them as if there were no answer, and only the stance is kept.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge, self.name, self.signature = judge, judge.name, judge.signature

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the judge's verdicts, without content where there is no gold."""
        without = {q.id for item in items for q in item.questions if ungraded(q)}
        read = self.judge.grade(
            [
                item._replace(questions=tuple(map(_as_unanswerable, item.questions)))
                for item in items
            ]
        )
        return [_without_content(v) if v.asked in without else v for v in read]


def _as_unanswerable(question: Question) -> Question:
    return msgspec.structs.replace(question, answerable=False) if ungraded(question) else question


def _without_content(verdict: Verdict) -> Verdict:
    if verdict.problem is not None or verdict.stance == "omitted":
        return verdict
    kept: Content | None = "none" if verdict.stance in WITHHELD else None
    return msgspec.structs.replace(verdict, content=kept)
