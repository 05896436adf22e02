"""``sayso.score`` and ``sayso score FILE``: every score that the rows at hand allow.

A row becomes a case for the collectors of evidence, and its evidence becomes scores. P(IK) learns
from the rows' own verdicts, so it comes when all rows were read: an answer is predicted by a probe
that saw no answer to its question, and ranked among those of the same fold (between folds chance
alone ranks them the wrong way around).
"""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.datasets.answer_files import OpenAnswers, open_answer_file
from sayso.datasets.answer_rows import (
    KEYWORD,
    AnswerRow,
    answer_rows,
    is_exported,
    only_samples,
    starts_of,
)
from sayso.datasets.columns import COLUMNS, notices_on, slips
from sayso.datasets.dataset import declining_golds, is_sentence_gold, sentence_golds
from sayso.datasets.tables import as_frame
from sayso.engines.engine import Classifier, Engine, StateWatcher, reader_of
from sayso.harmless import line
from sayso.judges.english.tokens import forget_texts
from sayso.judges.rules.judge import declines
from sayso.metrics.ranking import EQUAL
from sayso.options import ModelOptions
from sayso.processes import blocks_in_processes, cores
from sayso.records import InputError, Message, Request, is_blank
from sayso.report.formats import Wanted, write_files
from sayso.runs.costs import Meter
from sayso.runs.tools import Toolbox
from sayso.score_files.grade import (
    OFFLINE,
    Grade,
    Grader,
    Unjudged,
    check_recorded_verdict,
    graded_examples,
    graders,
    why_unjudged,
)
from sayso.score_files.leaderboard import (
    LENGTH,
    Board,
    RowTexts,
    auroc_figures,
    column_names,
    leaderboard_of,
    numbers_of,
)
from sayso.score_files.page import check_page_is_ours
from sayso.score_files.page import examples as page_examples
from sayso.score_files.page import write_file_page as write_page
from sayso.score_files.write import (
    PROBLEMS,
    QUESTION_NUMBER,
    FloatColumns,
    OutputForm,
    add_column,
    check_kept,
    encoded,
    form_of,
    frame_with_columns,
    number_rows,
    output_of,
    writing,
)
from sayso.scores import ALL, Choice, Method, choose, names_in, values_of
from sayso.scores.collect import (
    ALTERNATIVES,
    OF_ANSWER,
    RELEVANCE,
    collect_evidence,
    evidence_lacking,
    needs_taking,
    present,
    provided,
    row_confidence,
)
from sayso.scores.collect import NEED as FEW
from sayso.scores.elicited import LEAST_MASS
from sayso.scores.evidence import Case, samples_of
from sayso.scores.p_ik import (
    P_IK,
    cross_fit_stored,
    fold_ranks,
    folds_of,
    not_converged,
    too_few_to_learn,
)
from sayso.storage.atomic import is_stream
from sayso.storage.cache import default_cache_folder

#: characters after which the rules forget the texts that they read
FORGET = 1_000_000
#: bytes from which a file is long enough for a progress bar
LONG_FILE = 2_000_000
#: what token_level adds
TOKEN_COLUMNS = ["tokens", "token_logprobs", "token_entropies"]
Item = TypeVar("Item")


class StatePlace(NamedTuple):
    """Which hidden state: layer (0 = embeddings, -1 = the last) and position."""

    layer: int = -1
    position: str = "second_last_answer"


class FileScores(NamedTuple):
    """What became of a file: where its scores lie, which there are, and how good they are.

    ``values`` counts rows by method, ``missing`` says of each method without any why;
    ``board`` is ``None`` without golds and verdicts of people. ``notices`` are sentences for the
    user, ``signature`` names the tools that the scores owe something to, ``asked`` counts requests
    that were made for confidences. ``probe`` says how P(IK) came about, ``figures`` are
    the files of charts that were written.
    """

    path: Path
    rows: int
    values: dict[str, int]
    missing: dict[str, str]
    problems: dict[str, int]
    examples: dict[str, str]
    board: Board | None
    notices: list[str]
    signature: str
    asked: dict[str, int]
    probe: ProbeReport | None
    figures: Sequence[str] = ()


def score(
    rows: Any,
    methods: Choice = None,
    *,
    model: str | Engine | None = None,
    nli: str | Classifier | None = None,
    columns: Mapping[str, str] | None = None,
    token_level: bool = False,
    ask: bool = False,
    cache: str | Path | None = None,
) -> Any:
    """Return the rows, each with a column for every score that could be computed of it.

    ``rows`` are mappings or a mapping of columns, which give a list of dicts, or a data frame of
    pandas or polars or a table of pyarrow, which gives the same kind with the columns that
    ``sayso score`` adds to a Parquet file. Of any other object that speaks Arrow comes a table of
    pyarrow.

    A row is a mapping with some of ``question, answer, samples, token_logprobs,
    sample_token_logprobs, context, prompt`` (see :mod:`sayso.datasets.answer_rows`; ``columns``
    maps our names to yours). ``methods`` are names of :data:`sayso.scores.SCORES` (all), or a
    mapping of names to functions of your own, which take :class:`~sayso.scores.Samples` and return
    a number or None (or methods, which say what more they need); every one that is named has a
    column, ``None`` where it has no value. ``score_problems`` says why. Higher = less certain.

    ``model`` (a name, or an engine) fills in token probabilities by reading the text, ``nli``
    compares meanings (``rules``, a folder or hub id, ``llm:MODEL``, or a classifier). ``ask``: the
    model is also asked for its confidence. P(IK) learns from all rows: :func:`score_file`. What the
    command prints as notes, that meanings are compared by rules for want of a model too, is a
    ``UserWarning`` here. Raises
    :class:`~sayso.records.InputError` for unknown methods, rows without any answer, and tools that
    cannot be opened.
    """
    chosen, named = _columns_of(methods), methods is not None
    frame = as_frame(rows)
    read = list(answer_rows(rows if frame is None else frame, columns))
    tools = Toolbox(model, nli, cache, ask=ask, sentences=asks_of_sentences(methods))
    with contextlib.closing(tools):
        names = [*chosen] if named else []
        if frame is not None and not named:  # columns do not hang on what scores come to
            names = possible(read, chosen, tools, model is not None)
        scored = [
            (one.row.own, new_columns(one, names, token_level=token_level))
            for one in score_rows(read, chosen, tools)
        ]
        notices = [*_on_columns(read, columns or {}), *tools.notices]
    for notice in notices:
        warnings.warn(notice, stacklevel=2)
    if frame is None:
        return [{**own, **new} for own, new in scored]
    names += [PROBLEMS, *TOKEN_COLUMNS * token_level]
    return frame_with_columns(frame, names, [new for _, new in scored])


def asks_of_sentences(methods: Choice) -> bool:
    """Tell whether a score was named that asks of each sentence and sample: never one of "all"."""
    if methods is None:
        return False
    if not isinstance(methods, Mapping):
        methods = [name for name in names_in(methods) if name not in (P_IK, ALL)]
    return any("support" in method.needs for method in choose(methods).values())


def _on_columns(rows: Sequence[AnswerRow], columns: Mapping[str, str]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row.own))
    if not rows:
        return []
    notices = [] if is_exported(rows[0].own) else slips(notices_on(names, columns, "score"))
    return [*only_samples(names, columns, "rows", KEYWORD), *notices]


def score_file(
    path: str | Path,
    out: str | Path | None = None,
    methods: Choice = None,
    *,
    model: str | Engine | None = None,
    nli: str | Classifier | None = None,
    gold_metric: str = "rules",
    columns: Mapping[str, str] | None = None,
    requests: str | Path | None = None,
    golds: str | Path | None = None,
    kind: str | None = None,
    token_level: bool = False,
    strict: bool = True,
    condition: bool = True,
    cache: str | Path | None = None,
    ask: bool = False,
    prompts: Path | None = None,
    place: StatePlace = StatePlace(),  # noqa: B008 - frozen
    price: str | None = None,
    max_cost: float | None = None,
    examples: int = 0,
    panel: Sequence[str] = (),
    report: Path | None = None,
    figures: Wanted = Wanted(),  # noqa: B008 - frozen
    seed: int = 0,
    force: bool = False,
    opening: ModelOptions = ModelOptions(),
    jobs: int | None = None,
    tell: Callable[[int], None] | None = None,
) -> FileScores:
    """Score a file of answers row by row, write it back with a column for each score, compare.

    See :func:`score`; ``gold_metric`` decides who is right where no person did, ``strict`` and
    ``condition`` how meanings are compared; ``price`` and ``max_cost`` are for language models that
    compare, grade or are asked. ``prompts`` is a folder of prompts of your own, ``place`` the
    hidden state that P(IK) learns from. ``golds`` is a file of golds by id, ``examples`` how many
    labeled rows are shown to ``model`` before it says whether another answer is true; ``panel``
    names models that say so without a gold. ``report`` is where a page goes, ``figures`` says which
    files of its charts are written, into a folder beside ``out`` (``answers.scored.figures``). A
    file at ``out`` that sayso did not write is replaced only with ``force``. ``opening`` says
    how ``model`` is opened. ``jobs`` processes (all cores) score where no model is asked or
    loaded, with the same result for any number of them. ``tell`` gets how many rows are done.
    Memory does not grow with the file. Raises InputError.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs is {jobs}; expected 1 or more")
    if examples and model is None:
        raise InputError("--examples are shown to the model that gave the answers: add --model")
    source, named = Path(path), methods is not None
    if methods is not None and not isinstance(methods, Mapping | str):
        methods = list(methods)
    chosen, learns = _chosen(methods)
    folder = Path(cache) if cache is not None else default_cache_folder()

    verdicts = [gold_metric.removeprefix("file:")] if gold_metric.startswith("file:") else []

    def read() -> OpenAnswers:
        return open_answer_file(source, columns, requests, kind, golds, known=verdicts)

    with contextlib.ExitStack() as stack:
        meter = Meter(max_cost)
        answers = read()
        if report is not None:
            check_page_is_ours(report, force=force)
        target = output_of(source, Path(out) if out is not None else None, force=force)
        read_files = [source, *(Path(p) for p in (golds, requests) if p is not None)]
        check_read_files(target, report, read_files)
        judges = graders(gold_metric, folder, stack, price, meter)
        tools = Toolbox(
            model, nli, folder, strict=strict, condition=condition, price=price, meter=meter,
            ask=ask, prompts=prompts, panel=panel, sentences=asks_of_sentences(methods),
            opening=opening,
        )  # fmt: skip
        stack.enter_context(contextlib.closing(tools))
        first = list(islice(answers.rows, BLOCK))
        check_recorded_verdict(gold_metric, first)
        if examples:
            tools.examples = graded_examples(read().rows, judges[gold_metric], examples, seed)
        gold = any(row.gold for row in first) or gold_metric.startswith("file:")
        truth = gold or any(row.human is not None for row in first)
        probe = state_reader(tools, truth, place) if learns else None
        if probe is not None and is_stream(target):
            probe = "it is added to a file when all rows are written, and this output is none"
        if isinstance(probe, StateProbe):
            stack.callback(probe.close)
        names = [*chosen] if named else []
        if not named and target.suffix != ".jsonl":  # a table has its columns before its rows
            names = possible(read().rows, chosen, tools, model is not None)
        always = tuple(names)
        names += [P_IK] * isinstance(probe, StateProbe) + [
            PROBLEMS,
            *[f"correct_{gold_metric}"] * gold,
        ]
        names += TOKEN_COLUMNS * token_level
        kept = [m for m in chosen if m != LENGTH]
        table = stack.enter_context(FloatColumns(column_names(kept, judges)))
        plan = ScorePlan(
            tuple(chosen), gold_metric, tuple(table.names), always, named and learns, token_level
        )
        opened = probe if isinstance(probe, StateProbe) else None
        form = form_of(target, names, first[0] if first else None)
        rows = RowScorer(plan, form, chosen, tools, judges, opened)
        # what asks or loads no model can be done by several processes
        alone = not isinstance(methods, Mapping) and rows.is_offline(gold_metric)
        work = _Scoring(gold_metric, table)
        blocks = _blocks(work.reading(chain(first, answers.rows)), PART if alone else BLOCK)
        with writing(source, target, form) as put:
            for part in blocks_in_processes(rows, blocks, (jobs or cores()) if alone else 1):
                put(part.output)
                work.add(part)
                if tell is not None:
                    tell(work.summary.rows)
            if not work.summary.rows:
                raise InputError(f"{source}: contains no answers")
        found = _outcome(work, rows, target, answers.notices, probe, seed)
        if report is not None:
            examples_ = page_examples(table, found.board, read().rows)
            write_page(report, source, found.board, found._asdict(), examples_, force=force)
    charts = auroc_figures(found.board) if figures.formats and found.board is not None else []
    files = write_files(charts, target.with_suffix(".figures"), figures)
    return found._replace(figures=[str(file) for file in files])


def check_read_files(out: Path, report: Path | None, read: Sequence[Path]) -> None:
    """Refuse to write scores or a page over a file that is read, or one over the other.

    Raises InputError.
    """
    for flag, place in (("--out", out), ("--report", report)):
        if place is None or not place.exists():
            continue
        if any(other.exists() and place.samefile(other) for other in read):
            raise InputError(f"{flag} {place} is a file that is read: give another name")
    if report is not None and report.resolve() == out.resolve():
        raise InputError(f"--out and --report are the same file, {out}: give each its own name")


def _chosen(methods: Choice) -> tuple[Mapping[str, Method], bool]:
    """Return the methods that are functions of one row, and whether P(IK) is wanted too."""
    if methods is None or isinstance(methods, Mapping):
        return _columns_of(methods), methods is None
    names = names_in(methods)
    learns = P_IK in names or ALL in names
    return _columns_of([name for name in names if name != P_IK]), learns


def _columns_of(methods: Choice) -> Mapping[str, Method]:
    """Return the chosen methods; refuse one that is called as another column of a row."""
    chosen = choose(methods)
    for name in chosen:
        if name in COLUMNS or name == PROBLEMS:
            raise InputError(f"score {name!r} has the name of a column: give it another name")
    return chosen


def _outcome(
    work: _Scoring,
    rows: RowScorer,
    target: Path,
    notices: list[str],
    probe: StateProbe | str | None,
    seed: int,
) -> FileScores:
    """Return what came of all rows: P(IK), the leaderboard, and what is to be told.

    ``probe`` may also be why there is none, ``None`` where none was wanted.
    """
    summary, tools = work.summary, rows.tools
    if summary.draws and rows.compares:
        tools.tools(engine=False, meaning=True)  # for what it has to say
    if work.with_gold and not work.judged and not work.people:
        notices.append(
            "no answer could be judged against its gold answer, so there is no leaderboard"
        )
    values = {m: summary.values[m] for m in rows.chosen if summary.values.get(m)}
    missing = {m: summary.why(m) for m in rows.chosen if m not in values}
    fitted = work.fit(rows.probe, seed)
    if isinstance(fitted, Fitted):
        values[P_IK] = fitted.add_to(work.table)
        add_column(target, P_IK, *fitted.cells())
    elif probe is not None:
        missing[P_IK] = str(fitted or probe)
    result = work.board(rows.judges, [*values], seed)
    return FileScores(
        path=target,
        rows=summary.rows,
        values=values,
        missing=missing,
        problems=dict(summary.problems),
        examples=summary.examples,
        board=result,
        notices=[
            *_lacking(work, missing, rows),
            *_pooled(work.different, "scored" if result is None else "ranked"),
            *notices,
            *tools.notices,
            *summary.notices,
            *_on(result, tools),
        ],
        signature=tools.signature,
        asked=tools.request_counts,
        probe=fitted.report if isinstance(fitted, Fitted) else None,
    )


def _lacking(work: _Scoring, missing: Mapping[str, str], rows: RowScorer) -> list[str]:
    """Return notices on a file without golds, and on one without samples."""
    notices = []
    if not work.with_gold and not work.people:
        notices.append(
            "no gold answers and no human verdicts, so no score is ranked; name the column of gold "
            "answers (--columns gold=COLUMN), or join them from a file (--golds FILE)"
        )
    of_samples = [m for m in missing if m in rows.chosen and "draws" in rows.chosen[m].needs]
    if of_samples and not work.summary.draws:
        more = f" and {len(of_samples) - 3} more" if len(of_samples) > 3 else ""
        notices.append(
            "no samples (further answers of the same model to the question), so scores that "
            f"compare samples are not computed ({', '.join(of_samples[:3])}{more}); name the "
            "column of samples (--columns samples=COLUMN)"
        )
    return notices


#: columns whose different values are taken together, and how to have one of them
APART = {
    "model": "for a result per model, split the file by model, or run `sayso study --answers FILE`",
    "method": "for one of them, `sayso export RUN FILE --method NAME`",
}


def _pooled(different: Mapping[str, Collection[str]], done: str) -> Iterator[str]:
    """Yield a notice on answers of several models, or ways of asking, that are taken together."""
    for column, found in different.items():
        names = ", ".join(line(name, 40) for name in sorted(found)[:SHOWN_MODELS])
        count = f"{len(found):,}{' or more' * (len(found) >= MOST_MODELS)}"
        more = ", …" * (len(found) > SHOWN_MODELS)
        if len(found) > 1:
            told = f"column {column!r}: {count} {column}s are {done} together ({names}{more})"
            yield f"{told}; {APART[column]}"


def row_count(path: Path) -> int | None:
    """Return about how many rows a long file has; ``None`` for a short one, or if it takes reading.

    Lines are counted, and a row of a table may have several.
    """
    try:
        if path.stat().st_size < LONG_FILE:
            return None
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            return int(pq.read_metadata(path).num_rows)
        if path.suffix.lower() in (".jsonl", ".csv", ".tsv"):
            with path.open("rb") as file:
                return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return None
    return None


def _on(result: Board | None, tools: Toolbox) -> list[str]:
    """Return notices on a ranking: scores that rank nothing, a judge that shares its rules."""
    notices: list[str] = []
    if result is None or result.problem is not None:
        return notices
    flat = [e.method for e in result.entries if e.auroc.problem == EQUAL]
    if flat:
        notices.append(
            "these scores are equal on all rows, so they rank nothing (AUROC .5 by definition): "
            f"{', '.join(flat)}"
        )
    by_rules = any(part.startswith("nli:rules") for part in tools.signature.split("|"))
    if result.against == "rules" and by_rules:
        notices.append(
            "verdicts and meanings both come from the rules, so scores that compare meanings agree "
            "more with this judge than with another; pass --nli or human verdicts to make them "
            "independent"
        )
    return notices


def _blocks(source: Iterable[Item], size: int) -> Iterator[list[Item]]:
    items = iter(source)
    while block := list(islice(items, size)):
        yield block


# ---- rows

#: questions whose evidence is collected together
BLOCK = 128
#: rows that a process scores at a time
PART = 1024
_MEANING, _ENGINE = needs_taking("meaning"), needs_taking("engine") | needs_taking("options")
#: What differs from row to row in a reason: numbers, and texts in quotes.
_NUMBER = re.compile(r"""-?\d[\d.,e+-]*|\bnan\b|\binf\b|'[^']*'|"[^"]*\"""")
#: how the question whether an answer is true was put, by the name of its evidence
_ASKED_TRUE = {"true_false": "", "true_false_few": " behind examples"}
NO_PLACES = (
    "needs the text of each token: a column tokens, or --model to compute the log-probabilities"
)
OTHER_TOKENS = "the log-probabilities in the file are for other tokens than the model's"
_NOT_READ = "a relation of meaning could not be read"
#: The evidence that lies in a column, and how a problem names the column.
_HELD = {
    "sample_token_logprobs": "draws.logprobs", "sample_token_entropies": "draws.entropies",
    "token_logprobs": "logprobs", "token_entropies": "entropies", "samples": "draws",
    "stated_confidence": "stated:one_step",
}  # fmt: skip
_COLUMN = re.compile(rf"\b(?:{'|'.join(_HELD)})\b")


class Scored(NamedTuple):
    """One row with its scores. ``reasons``: by method, why it has no value.

    ``own`` are those of the reasons that lie in this row and not in what the file or the tools
    lack altogether.
    """

    row: AnswerRow
    values: dict[str, float]
    reasons: dict[str, str]
    own: frozenset[str]
    case: Case


#: reasons of one method, and kinds of problems, that are counted apart
MOST_REASONS, MOST_KINDS = 20, 50


@lru_cache(maxsize=4096)
def _kind_of(reason: str) -> str:
    """Return a reason without what differs from row to row."""
    return _NUMBER.sub("#", reason)


class MethodSummary(msgspec.Struct):
    """Values and reasons of each method over all rows, in memory that does not grow with them.

    ``worded`` are reasons as a row has them, by what they are without their numbers.
    """

    rows: int = 0
    draws: int = 0
    values: dict[str, int] = {}
    reasons: dict[str, dict[str, int]] = {}
    worded: dict[str, str] = {}
    problems: dict[str, int] = {}
    examples: dict[str, str] = {}
    sentences: int = 0
    sentence: str = ""
    asked_true: dict[str, int] = {}
    not_understood: dict[str, int] = {}
    declining: int = 0

    def add(self, scored: Scored) -> None:
        """Count one row."""
        self.rows += 1
        self.draws += bool(scored.case.draws)
        for gold in filter(is_sentence_gold, scored.row.gold or ()):
            self.sentences += 1
            self.sentence = self.sentence or gold
        row = scored.row
        self.declining += row.answerable is not False and declines(row.question, row.gold or ())
        for name in scored.values:
            self.values[name] = self.values.get(name, 0) + 1
        for name in _ASKED_TRUE:
            options = scored.case.evidence.get(name)
            if options is not None:
                _count(self.asked_true, name)
                _count(self.not_understood, name, int(sum(options) < LEAST_MASS))
        for method, reason in scored.reasons.items():
            self._count_reason(method, _kind_of(reason), reason, 1)
        for problem in scored.row.problems:
            example = f"{scored.row.place}: {problem}"[:200]
            self._count_problem(_kind_of(problem)[:160], example, 1)

    def merge(self, other: MethodSummary) -> None:
        """Count the rows behind those that were counted here."""
        self.rows += other.rows
        self.draws += other.draws
        self.sentences += other.sentences
        self.sentence = self.sentence or other.sentence
        self.declining += other.declining
        for ours, theirs in (
            (self.values, other.values),
            (self.asked_true, other.asked_true),
            (self.not_understood, other.not_understood),
        ):
            for name, count in theirs.items():
                _count(ours, name, count)
        for method, counted in other.reasons.items():
            for kind, count in counted.items():
                self._count_reason(method, kind, other.worded[kind], count)
        for kind, count in other.problems.items():
            self._count_problem(kind, other.examples[kind], count)

    def _count_reason(self, method: str, kind: str, reason: str, count: int) -> None:
        counted = self.reasons.get(method)
        if counted is None:
            counted = self.reasons[method] = {}
        if kind in counted or len(counted) < MOST_REASONS:
            _count(counted, kind, count)
            self.worded.setdefault(kind, reason)

    def _count_problem(self, kind: str, example: str, count: int) -> None:
        if kind not in self.problems and len(self.problems) >= MOST_KINDS:
            kind = "other problems"
        _count(self.problems, kind, count)
        self.examples.setdefault(kind, example)

    @property
    def notices(self) -> list[str]:
        """Notices on all rows together."""
        told = [sentence_golds(self.sentences, self.sentence)] if self.sentences else []
        return [*told, *declining_golds(self.declining)] + [
            f"on {self.not_understood[name]:,} of {asked:,} rows the model put less than half of "
            f"its probability on 'true' or 'false' when asked{how}: P(True) means little on these "
            "rows"
            for name, how in _ASKED_TRUE.items()
            if (asked := self.asked_true.get(name)) and self.not_understood[name]
        ]

    def why(self, method: str) -> str:
        """Return the commonest reason for a method without a value, as the first row has it."""
        counted = self.reasons.get(method)
        return self.worded[max(counted, key=counted.__getitem__)] if counted else "no rows"


def _count(counts: dict[str, int], name: str, more: int = 1) -> None:
    counts[name] = counts.get(name, 0) + more


def row_request(row: AnswerRow) -> Request:
    """Return the request for an answer: its prompt, else context and question."""
    text = row.prompt if row.prompt is not None else row.question
    if row.prompt is None and row.context:
        text = f"{row.context}\n\n{row.question}"
    return Request(messages=(Message("user", text),))


def row_case(row: AnswerRow) -> Case:
    """Return a case with what the row already holds."""
    answer = None if is_blank(row.answer or "") else row.answer
    case = Case(row.question, row_request(row), answer, row.samples)
    given = {"logprobs": row.logprobs, "entropies": row.entropies, "margins": row.margins}
    case.arrays.update({name: value for name, value in given.items() if value is not None})
    if (stated := row_confidence(row)) is not None:
        case.evidence["stated"] = {"one_step": stated}
    offsets = row.offsets if answer is not None and row.logprobs is not None else None
    if offsets is not None and len(offsets) == len(row.logprobs or ()):
        case.arrays["offsets"] = offsets
    for name, lists in (("logprobs", row.sample_logprobs), ("entropies", row.sample_entropies)):
        for kept, value in zip(case.draw_arrays, lists or (), strict=False):
            if value is not None:
                kept[name] = value
    for kept, tokens, text in zip(
        case.draw_arrays, row.sample_tokens or (), row.samples, strict=False
    ):
        starts = starts_of(tokens, text)
        if starts is not None and len(starts) == len(kept.get("logprobs", ())):
            kept["offsets"] = starts
    return case


def score_rows(
    rows: Iterable[AnswerRow], methods: Mapping[str, Method], tools: Toolbox
) -> Iterator[Scored]:
    """Yield every row with its scores, in order; a block of rows is in memory at a time."""
    wanted = {need for method in methods.values() for need in method.needs}
    engine, meaning = bool(wanted & (_ENGINE | needs_taking("questioner"))), bool(wanted & _MEANING)
    for part in _blocks(rows, BLOCK):
        cases = [row_case(row) for row in part]
        several = meaning and any(len(case.draws) > 0 for case in cases)
        open_ = tools.tools(engine=engine, meaning=several)
        collect_evidence(cases, wanted, open_)
        can = provided(open_)
        known: dict[Hashable, dict[str, tuple[str, bool]]] = {}
        for row, case in zip(part, cases, strict=True):
            values: dict[str, float] = {}
            there = present(case)
            # rows that hold the same lack the same, for the same reasons
            alike = (there, case.answer is None, row.answer is None, len(case.draws))
            whys = None if row.problems or case.reasons else known.get(alike)
            if whys is None:
                whys = {
                    name: _why(absent, case, row, can, open_)
                    for name, method in methods.items()
                    if (absent := [need for need in method.needs if need not in there])
                }
                if not row.problems and not case.reasons:
                    known[alike] = whys
            lacks = dict(whys)
            can_have = {name: method for name, method in methods.items() if name not in whys}
            for name, result in values_of(
                can_have, samples_of(row.place, case, row.answer)
            ).items():
                if isinstance(result, float):
                    values[name] = result
                elif result.endswith("not finite") and _MEANING & set(methods[name].needs):
                    lacks[name] = _NOT_READ, True
                else:
                    lacks[name] = result, True
            reasons = {name: lacks[name][0] for name in methods if name in lacks}
            own = frozenset(name for name, (_, mine) in lacks.items() if mine)
            yield Scored(row, values, reasons, own, case)


def possible(
    rows: Iterable[AnswerRow], methods: Mapping[str, Method], tools: Toolbox, model: bool
) -> list[str]:
    """Return the methods that some of these rows may have, before anything is asked."""
    kinds: set[str] = {"answer"}
    for row in rows:
        case = row_case(row)
        kinds |= present(case) | ({*RELEVANCE[:2]} if "offsets" in case.arrays else set())
        kinds |= {*RELEVANCE[2:]} if any("offsets" in kept for kept in case.draw_arrays) else set()
    if "draws" in kinds:
        kinds |= {"clusters", "nli", "nli:answer", "similarity", "similarity:answer"}
        kinds |= {"nli:sentences", "contradiction"} if tools.three else set()
    if model:
        shown = tools.examples is not None and tools.examples.problem is None
        kinds |= _ENGINE if shown else _ENGINE - {FEW}
        kinds |= {*RELEVANCE} | ({ALTERNATIVES} if tools.three else set())
    if tools.asks:
        kinds |= needs_taking("questioner") - ({"support"} if not tools.sentences else set())
    if tools.panel:
        kinds.add("judged")
    return [name for name, method in methods.items() if kinds.issuperset(method.needs)]


def _why(
    absent: Sequence[str], case: Case, row: AnswerRow, can: frozenset[str], tools: Any
) -> tuple[str, bool]:
    """Why a method has no value, and whether that lies in this row alone."""
    reason = next((case.reasons[need] for need in absent if need in case.reasons), None)
    if reason is not None:
        return reason, True
    if case.answer is None and "draws" not in absent and not OF_ANSWER.isdisjoint(absent):
        return ("no answer", False) if row.answer is None else ("the answer is empty", True)
    named = ((p, _COLUMN.search(p)) for p in row.problems)
    broken = next((p for p, column in named if column and _HELD[column[0]] in absent), None)
    if broken is not None:
        return broken, True
    if "draws" in absent or (not case.draws and any(n.startswith("draws") for n in absent)):
        return "no samples", False
    need = next((need for need in absent if need not in can), None)
    if need is not None:
        return evidence_lacking(need, tools), False
    if {*RELEVANCE}.issuperset(absent):
        return NO_PLACES, False
    if absent == [ALTERNATIVES]:
        return OTHER_TOKENS, True
    if len(case.draws) < 2 and not {"nli", "similarity"}.isdisjoint(absent):
        return f"needs at least 2 samples, got {len(case.draws)}", True
    if any(need.startswith("draws.") for need in absent):
        return "a sample is empty and has no tokens", True
    return "the answer has no sentence that samples could support", True


def new_columns(scored: Scored, always: Collection[str], *, token_level: bool) -> dict[str, object]:
    """Return what a row gains: scores, why some are missing, and tokens where wanted.

    ``always`` are the methods that have a column in every row: those that the user named, and in
    a table all that some row may have. Where such a cell is empty, its reason is told.
    """
    new: dict[str, object] = dict(scored.values)
    new |= dict.fromkeys(method for method in scored.reasons if method in always)
    told = scored.own.union(always)
    reasons = {method: why for method, why in scored.reasons.items() if method in told}
    if scored.row.problems:
        reasons["row"] = "; ".join(scored.row.problems)
    new[PROBLEMS] = reasons
    if token_level:
        new |= answer_tokens(scored)
    check_kept(scored.row.own, new)
    return new


def answer_tokens(scored: Scored) -> dict[str, object]:
    """Return the tokens of the answer as text, and their log-probabilities and entropies.

    All are of one tokenization: the file's where it has log-probabilities, else the model's.
    """
    arrays, row = scored.case.arrays, scored.row
    new: dict[str, object] = {}
    tokens, offsets = row.tokens, arrays.get("offsets")
    if offsets is not None and row.answer is not None and row.logprobs is None:
        ends = [*offsets[1:], len(row.answer)]
        tokens = tuple(row.answer[a:b] for a, b in zip(offsets, ends, strict=True))
    if tokens is not None:
        new["tokens"] = list(tokens)
    count = len(arrays["logprobs"]) if "logprobs" in arrays else None
    for name in ("logprobs", "entropies"):
        values = arrays.get(name)
        if values is not None and count in (None, len(values)):
            new[f"token_{name}"] = [v if math.isfinite(v) else None for v in values]
    return new


# ---- blocks of rows, in whatever process


class ScorePlan(NamedTuple):
    """What is done with every row.

    ``columns`` are those of the table of numbers, ``always`` the methods that have a column in
    every row; ``learns``: P(IK) has one too.
    """

    methods: tuple[str, ...]
    gold_metric: str
    columns: tuple[str, ...]
    always: tuple[str, ...]
    learns: bool
    token_level: bool


class ScoredBlock(msgspec.Struct, frozen=True):
    """What became of a block of rows: their bytes in the output, their numbers, what was counted.

    ``numbers`` are float64 (rows, columns of the plan); ``unread`` counts the answers that a metric
    could not read, by metric and problem.
    """

    output: bytes
    numbers: bytes
    summary: MethodSummary
    unread: dict[str, dict[str, int]]
    judged: int
    people: int
    with_gold: bool


class RowScorer:
    """Scores, grades and encodes a block of rows.

    A copy in another process opens tools of its own, which ask and load no model.
    """

    def __init__(
        self,
        plan: ScorePlan,
        form: OutputForm,
        chosen: Mapping[str, Method],
        tools: Toolbox,
        judges: Mapping[str, Grader],
        probe: StateProbe | None = None,
    ) -> None:
        self.plan, self._form = plan, form
        self.chosen, self.tools, self.judges, self.probe = chosen, tools, judges, probe
        self._characters = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_another_process, (self.plan, self._form)

    @property
    def compares(self) -> bool:
        """Whether some score takes meanings."""
        return any(_MEANING & set(method.needs) for method in self.chosen.values())

    def is_offline(self, gold_metric: str) -> bool:
        """Tell whether nothing asks or loads a model."""
        tools = self.tools
        models = tools.has_model or bool(tools.panel) or tools.asks or self.probe is not None
        graded = gold_metric in OFFLINE or gold_metric.startswith("file:")
        return graded and not models and tools.nli == "rules"

    def __call__(self, rows: Sequence[AnswerRow]) -> ScoredBlock:
        """Return what becomes of a block."""
        summary, unjudged = MethodSummary(), Unjudged()
        new: list[dict[str, object]] = []
        numbers: list[dict[str, float]] = []
        judged, gold = 0, False
        for block in _blocks(score_rows(rows, self.chosen, self.tools), BLOCK):
            texts = [one.row for one in block]
            self._forget(texts)
            has_gold = any(row.gold for row in texts) or self.plan.gold_metric.startswith("file:")
            gold |= has_gold
            judges = self.judges if has_gold else {}
            graded = {name: judge(texts) for name, judge in judges.items()}
            if self.probe is not None:
                self.probe.read(block)
            for n, one in enumerate(block):
                summary.add(one)
                grades = {name: values[n] for name, values in graded.items()}
                unjudged.add(grades)
                judged += any(grade.correct == grade.correct for grade in grades.values())
                numbers.append(numbers_of(one.row, one.values, grades, self.plan.columns))
                new.append(self._new(one, grades))
        return ScoredBlock(
            output=encoded(self._form, rows, new),
            numbers=number_rows(self.plan.columns, numbers).tobytes(),
            summary=summary,
            unread={metric: dict(counts) for metric, counts in unjudged.problems.items()},
            judged=judged,
            people=sum(row.human is not None for row in rows),
            with_gold=gold,
        )

    def _new(self, one: Scored, grades: Mapping[str, Grade]) -> dict[str, object]:
        """Return what a row gains."""
        metric = self.plan.gold_metric
        new = new_columns(one, self.plan.always, token_level=self.plan.token_level)
        if self.plan.learns:
            new[P_IK] = None
        if metric in grades:
            name, grade = f"correct_{metric}", grades[metric]
            new[name] = None if math.isnan(grade.correct) else grade.correct
            if grade.problem is not None:
                problems: Any = new[PROBLEMS]
                new[PROBLEMS] = {**problems, name: why_unjudged(metric, grade.problem)}
        check_kept(one.row.own, [*new, *[P_IK] * (self.probe is not None)])
        return new

    def _forget(self, rows: Sequence[AnswerRow]) -> None:
        """Have the rules forget their texts from time to time: rows of a file rarely repeat."""
        self._characters += sum(
            sum(map(len, (row.question, row.answer or "", *row.samples, *(row.gold or ()))))
            for row in rows
        )
        if self._characters > FORGET:
            forget_texts()
            self._characters = 0


def _in_another_process(plan: ScorePlan, form: OutputForm) -> RowScorer:
    judges = graders(plan.gold_metric, default_cache_folder(), contextlib.ExitStack())
    return RowScorer(plan, form, choose(plan.methods), Toolbox(nli="rules"), judges)


#: names of models that are kept to be counted, and that a notice lists
MOST_MODELS, SHOWN_MODELS = 1_000, 4


class _Scoring:
    """What is gathered of the rows of a file while they pass: a table of numbers, and counts."""

    def __init__(self, gold_metric: str, table: FloatColumns) -> None:
        self.gold_metric, self.table = gold_metric, table
        self.summary, self.unjudged, self.texts = MethodSummary(), Unjudged(), RowTexts()
        self.judged = self.people = self.with_gold = 0
        self.different: dict[str, set[str]] = {column: set() for column in APART}

    def reading(self, rows: Iterable[AnswerRow]) -> Iterator[AnswerRow]:
        """Yield rows, and look at their words."""
        for row in rows:
            self.texts.add(row)
            method = row.own.get("method") if is_exported(row.own) else None
            for found, name in zip(self.different.values(), (row.model, method), strict=True):
                if isinstance(name, str) and name and len(found) < MOST_MODELS:
                    found.add(name)
            yield row

    def add(self, part: ScoredBlock) -> None:
        """Count a block."""
        self.summary.merge(part.summary)
        self.table.add(np.frombuffer(part.numbers).reshape(-1, len(self.table.names)))
        for metric, counts in part.unread.items():
            self.unjudged.problems.setdefault(metric, Counter()).update(counts)
        self.judged += part.judged
        self.people += part.people
        self.with_gold += part.with_gold

    @property
    def decides(self) -> str:
        """Who says which answers are right: people, where one said it of any."""
        return "people" if self.people else self.gold_metric

    def fit(self, probe: StateProbe | None, seed: int) -> Fitted | str | None:
        """Return P(IK), or why there is none; ``None`` without a probe."""
        if probe is None:
            return None
        wrong = 1 - self.table.column(f"correct:{self.decides}")
        return probe.fit(wrong, self.table.column(QUESTION_NUMBER), seed)

    def board(
        self, judges: Mapping[str, Grader], methods: Sequence[str], seed: int
    ) -> Board | None:
        """Return the leaderboard; ``None`` without a verdict."""
        if not self.judged and not self.people:
            return None
        unread = self.unjudged.sentences(judges)
        return leaderboard_of(
            self.table, methods, [*judges], self.decides, seed, unread, self.texts
        )


# ---- P(IK): hidden states of the rows, and a probe that is fitted when all rows were read

Floats = NDArray[np.float64]
FOLDS = 5
NO_MODEL = "needs hidden states: --model hf:NAME"
NO_TRUTH = "learns from right and wrong answers: needs gold or human in the first rows"


NO_STATE = "no hidden state: the model could not read the answer after its prompt"


class ProbeReport(msgspec.Struct, frozen=True):
    """How P(IK) came about: ``converged`` of ``folds`` fits, each on ``fitted`` answers or more.

    ``rows`` with a state; ``problem`` says that fits did not converge.
    """

    layer: int
    position: str
    rows: int
    folds: int
    converged: int
    fitted: int
    problem: str | None = None

    def sentence(self) -> str:
        """Say it on one line."""
        ended = self.problem or f"all {self.folds} fits converged"
        return (
            f"p_ik: a probe on the model's hidden states (layer {self.layer}, {self.position}), "
            f"fitted in {self.folds} folds on {self.fitted:,} answers to other questions; {ended}; "
            "ranked within folds"
        )


class Fitted(NamedTuple):
    """P(incorrect) of each row, NaN without one, its rank within its fold, and how it came."""

    value: Floats
    ranks: Floats
    report: ProbeReport

    def add_to(self, table: FloatColumns) -> int:
        """Give a table the ranks as the score and the values as its probability; count them."""
        table.put(P_IK, self.ranks)
        table.put(f"probability:{P_IK}", self.value)
        return int((~np.isnan(self.value)).sum())

    def cells(self) -> tuple[list[float | None], dict[int, str]]:
        """Return the value of each row for a file, and by row why there is none."""
        values = [None if math.isnan(value) else value for value in self.value.tolist()]
        return values, {n: NO_STATE for n, value in enumerate(values) if value is None}


class StateProbe:
    """Reads hidden states block by block into a file, float16, and fits when all are there."""

    def __init__(self, engine: Engine, place: StatePlace) -> None:
        self._reader = reader_of(engine)
        self._place = place
        if isinstance(engine, StateWatcher):
            engine.watch(*place)
        # as long as the object lives, and gone from the disk with it
        self._file = tempfile.TemporaryFile(prefix="sayso-states-")  # noqa: SIM115
        self._width = 0
        self._rows = 0

    def read(self, block: Sequence[Scored]) -> None:
        """Read the state of each answer once; what cannot be read has none."""
        texts = {
            (one.case.request, one.case.answer): None
            for one in block
            if one.case.answer is not None
        }
        places = {key: n for n, key in enumerate(texts)}
        states = self._reader.hidden(list(places), *self._place)
        if states.shape[1]:
            self._width = states.shape[1]
        rows = np.full((len(block), self._width), np.nan, dtype=np.float16)
        for n, one in enumerate(block):
            if one.case.answer is not None:
                rows[n] = states[places[one.case.request, one.case.answer]]
        self._file.write(rows.tobytes())
        self._rows += len(block)

    def fit(self, wrong: Floats, groups: Floats, seed: int) -> Fitted | str:
        """Return P(IK), or why there is none.

        ``wrong`` (rows,) 1, 0 or NaN; ``groups`` (rows,) says which rows share a question.
        """
        self._file.flush()
        if not self._width:
            return "no answer could be read"
        shape = (self._rows, self._width)
        states = np.memmap(self._file, dtype=np.float16, mode="r", shape=shape)
        held = np.concatenate(
            [np.isfinite(states[n : n + 2048]).all(axis=1) for n in range(0, self._rows, 2048)]
        )
        judged = held & ~np.isnan(wrong)
        if few := too_few_to_learn(int(judged.sum()), int(np.nansum(wrong[judged]))):
            return few
        folds = min(FOLDS, len(np.unique(groups[judged])))
        if folds < 2:
            return "learns from other questions, but all judged answers are to one question"
        rng = np.random.default_rng(seed)
        fold = folds_of(held, groups, folds, rng)
        value, probes = cross_fit_stored(states, wrong, fold, rng)
        if not probes:
            return "the questions outside each fold have answers of one kind only"
        report = ProbeReport(
            layer=self._place.layer,
            position=self._place.position,
            rows=int(held.sum()),
            folds=len(probes),
            converged=sum(probe.converged for probe in probes),
            fitted=min(probe.n for probe in probes),
            problem=not_converged(probes),
        )
        return Fitted(value, fold_ranks(value, fold), report)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def state_reader(tools: Toolbox, truth: bool, place: StatePlace) -> StateProbe | str:
    """Return who reads hidden states, or why nobody does. ``truth``: there are verdicts."""
    if not tools.has_model:
        return NO_MODEL
    if not truth:
        return NO_TRUTH
    engine = tools.tools(engine=True, meaning=False).engine
    if engine is None or not engine.capabilities.hidden:
        name = engine.name if engine is not None else "the model"
        return f"{name} does not return hidden states: that needs a model in this process (hf:NAME)"
    return StateProbe(engine, place)
