"""Faithfulness from top to bottom: draws of the plain question, an answer of each method, and
whether the wording of the answers matches the draws.

Uncertainty+ shows the model its own certain and uncertain answers as demonstrations: see
:mod:`sayso.protocols.faithfulness.demonstrations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from sayso.judges.ambiguity import LlmAmbiguous
from sayso.protocols.faithfulness.asks import (
    demonstrated_requests,
    evaluated,
    first_requests,
    revision_requests,
)
from sayso.protocols.faithfulness.demonstrations import (
    TABLE,
    certain_and_uncertain,
    held_out_notice,
    searched,
    stand_ins,
)
from sayso.protocols.faithfulness.settings import (
    FORMS,
    STAGES,
    Settings,
    ambiguous_notice,
    demonstrates,
    read_by_model,
)
from sayso.protocols.faithfulness.verdicts import (
    AMBIGUOUS,
    ContradictionJudge,
    ReadsContradiction,
    RehearsedContradiction,
    RehearsedWording,
    RulesContradiction,
    WordingJudge,
    ambiguity_verdicts,
    draws_of,
    open_ambiguity,
    open_contradiction,
    open_wording,
    stored_ambiguity,
)
from sayso.protocols.pool import item_of
from sayso.protocols.protocol import (
    Run,
    Step,
    nothing_more,
    rows_if_any,
    stored_answers,
    verdicts_at,
)
from sayso.protocols.settings import folder_setting
from sayso.protocols.thoughts import ReadsWording, grade_thoughts
from sayso.records import Question, Verdict


def steps(questions: Sequence[Question], settings: Settings, seed: int) -> list[Step]:
    """Return the protocol: everything is asked in one call, demonstrations and revisions later.

    Where a judge's model may first leave out ambiguous questions, it reads them before that.
    """
    reads = bool(read_by_model(questions, settings))
    ask_clear = partial(ask_first, settings, seed)
    asks = [] if reads else first_requests(questions, settings, seed, searched(questions, settings))
    return [
        Step("readers", partial(open_readers, settings)),
        Step("ambiguous questions", partial(read_ambiguity, settings)),
        Step("draws and answers", ask_clear if reads else nothing_more, asks),
        Step("demonstrations", partial(ask_demonstrated, settings, seed)),
        Step("revisions", partial(ask_revisions, settings, seed)),
        Step("verdicts", partial(judge_answers, settings)),
    ]


class AnswerReaders(NamedTuple):
    """Who reads questions for ambiguity, wording, and whether draws contradict."""

    ambiguity: LlmAmbiguous | None
    wording: ReadsWording
    contradiction: ReadsContradiction


def open_readers(settings: Settings, run: Run) -> AnswerReaders:
    """Return who reads; whoever cannot be opened is refused before anything is asked."""

    def opened() -> AnswerReaders:
        folder = folder_setting(settings.prompt_folder)
        meaning = run.tools(settings.nli).meaning if settings.contradict == "nli" else None
        readers = AnswerReaders(
            open_ambiguity(settings.ambiguous, run.judge, folder),
            open_wording(settings.decisive, run.judge, folder),
            open_contradiction(settings.contradict, run.judge, meaning, folder),
        )
        if run.rehearses:
            readers = readers._replace(wording=RehearsedWording(readers.wording))
            if isinstance(readers.contradiction, RulesContradiction):
                readers = readers._replace(contradiction=RehearsedContradiction())
        return readers

    return run.once("readers of faithfulness", opened)


def read_ambiguity(settings: Settings, run: Run) -> None:
    """Let a model say which questions are ambiguous, and store the questions of examples."""
    model = open_readers(settings, run).ambiguity
    wanted = [] if model is None else read_by_model(run.questions, settings)
    if model is not None and wanted:
        run.folder.write(f"verdicts/{AMBIGUOUS}", ambiguity_verdicts(model, wanted), Verdict)
    if examples := searched(run.questions, settings, stored_ambiguity(run)):
        run.folder.write(TABLE, examples, Question)


def measured(settings: Settings, run: Run) -> list[Question]:
    """Return the questions of a run that are measured."""
    return evaluated(run.questions, settings, stored_ambiguity(run))


def ask_first(settings: Settings, seed: int, run: Run) -> None:
    """Ask what needs no answer, about the questions that no model calls ambiguous."""
    examples = rows_if_any(run, TABLE, Question)
    run.ask(first_requests(run.questions, settings, seed, examples, stored_ambiguity(run)))


def ask_demonstrated(settings: Settings, seed: int, run: Run) -> None:
    """Ask again with the model's own certain and uncertain answers as demonstrations."""
    if not demonstrates(settings):
        return
    readers = open_readers(settings, run)
    tried = draws_of(stored_answers(run, "demos-draws"))
    examples = rows_if_any(run, TABLE, Question)
    found = certain_and_uncertain(examples, tried, readers.wording, readers.contradiction, settings)
    shown = found.choices(settings, seed)
    if run.rehearses == "most" and not shown:
        shown = stand_ins(examples, settings)
    run.tell(held_out_notice(run.questions, settings) if shown else [found.notice(settings)])
    run.ask([*demonstrated_requests(measured(settings, run), settings, seed, shown)])


def ask_revisions(settings: Settings, seed: int, run: Run) -> None:
    """Ask the model to revise its drafts."""
    drafts = {
        g.question: g.text
        for form in FORMS
        for g in stored_answers(run, f"drafts-{form}")
        if g.text
    }
    run.ask([*revision_requests(measured(settings, run), settings, seed, drafts)])


def judge_answers(settings: Settings, run: Run) -> None:
    """Judge each stage, read how surely its answers speak, and compare them with the draws."""
    readers, by_id = open_readers(settings, run), {q.id: q for q in run.questions}
    draws = draws_of(stored_answers(run, "draws"))
    words = WordingJudge(readers.wording, draws, by_id)
    same = settings.sample_prompt == "same"
    pairs = ContradictionJudge(readers.contradiction, draws, by_id, words, same=same)
    for form, stages in STAGES.items():
        for stage in stages:
            items = [item_of(g, by_id) for g in stored_answers(run, stage)]
            if not items:
                continue
            run.grade(stage, items, run.judge, items if form == "long" else None)
            if form == "long":
                words.spans = verdicts_at(run, f"{stage}-spans")
            pairs.assertions = run.grade(f"{stage}-decisive", items, words)
            run.grade(f"{stage}-contradict", items, pairs)
            grade_thoughts(run, stage, items, readers.wording)
    ambiguous = ambiguous_notice(run.questions, settings, stored_ambiguity(run))
    run.tell([*words.notices, *pairs.notices, *ambiguous])
