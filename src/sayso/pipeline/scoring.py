"""``sayso.score`` and ``sayso score FILE``: every score that the rows at hand allow."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from sayso.annotate.forgetting import forget_texts
from sayso.boards import LENGTH, Board
from sayso.cache import default_cache_folder
from sayso.datasets.answers import AnswerRow, open_answers, row_of
from sayso.models import Classifier, Engine
from sayso.pipeline.metering import Meter
from sayso.pipeline.scoring_board import board
from sayso.pipeline.scoring_columns import Columns
from sayso.pipeline.scoring_grade import Grade, graders
from sayso.pipeline.scoring_rows import BLOCK, Scored, Summary, methods_of, possible, score_rows
from sayso.pipeline.scoring_tools import Toolbox
from sayso.pipeline.scoring_write import PROBLEMS, output_of, writing
from sayso.records import InputError
from sayso.scores import Method

__all__ = ["FileScores", "score", "score_file"]

#: Characters after which the rules forget what they read: rows of a file rarely come twice.
FORGET = 1_000_000
Names = Iterable[str] | Mapping[str, Method] | None


class FileScores(NamedTuple):
    """What became of a file: where its scores lie, which there are, and how good they are.

    ``values`` counts rows by method, ``missing`` says of each method without any why;
    ``board`` is ``None`` without golds and verdicts of people. ``notices`` are sentences for the
    user, ``signature`` names the tools that the scores owe something to.
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


def score(
    rows: Iterable[Mapping[str, object]],
    methods: Names = None,
    *,
    model: str | Engine | None = None,
    nli: str | Classifier | None = None,
    columns: Mapping[str, str] | None = None,
    token_level: bool = False,
    cache: str | Path | None = None,
) -> list[dict[str, object]]:
    """Return the rows, each with a column for every score that could be computed of it.

    A row is a mapping with some of ``question, answer, samples, token_logprobs,
    sample_token_logprobs, context, prompt`` (:data:`sayso.datasets.answers.COLUMNS`; ``columns``
    maps our names to yours). ``methods`` are names of :data:`sayso.scores.SCORES` (all), or a
    mapping of names to methods of your own; every one that is named has a column, ``None`` where
    it has no value. ``score_problems`` says why. Higher = less certain.

    ``model`` (a name, or an engine) fills in token probabilities by reading the text, ``nli``
    compares meanings (``rules``, a folder or hub id, ``llm:MODEL``, or a classifier). Raises
    :class:`~sayso.records.InputError` for unknown methods and tools that cannot be opened.
    """
    chosen = methods_of(methods)
    read = (row_of(row, columns, f"row {n}") for n, row in enumerate(rows, 1))
    tools = Toolbox(model, nli, cache)
    with contextlib.closing(tools):
        return [
            {**one.row.own, **new_columns(one, named=methods is not None, token_level=token_level)}
            for one in score_rows(read, chosen, tools)
        ]


def new_columns(scored: Scored, *, named: bool, token_level: bool) -> dict[str, object]:
    """Return what a row gains: scores, why some are missing, and tokens where wanted.

    ``named``: the user named the methods, so that each has a column.
    """
    found: dict[str, object] = dict(scored.values)
    if named:
        found |= dict.fromkeys(scored.reasons)
    told = {m: r for m, r in scored.reasons.items() if named or m in scored.own}
    if scored.row.problems:
        told["row"] = "; ".join(scored.row.problems)
    if told:
        found[PROBLEMS] = told
    if token_level:
        found |= tokens_of(scored)
    return found


def tokens_of(scored: Scored) -> dict[str, object]:
    """Return the tokens of the answer as text, and their log-probabilities and entropies.

    All are of one tokenization: the file's where it has log-probabilities, else the model's.
    """
    arrays, row = scored.case.arrays, scored.row
    found: dict[str, object] = {}
    tokens, offsets = row.tokens, arrays.get("offsets")
    if offsets is not None and row.answer is not None and row.logprobs is None:
        ends = [*offsets[1:], len(row.answer)]
        tokens = tuple(row.answer[a:b] for a, b in zip(offsets, ends, strict=True))
    if tokens is not None:
        found["tokens"] = list(tokens)
    count = len(arrays["logprobs"]) if "logprobs" in arrays else None
    for name in ("logprobs", "entropies"):
        values = arrays.get(name)
        if values is not None and count in (None, len(values)):
            found[f"token_{name}"] = [v if math.isfinite(v) else None for v in values]
    return found


def score_file(
    path: str | Path,
    out: str | Path | None = None,
    methods: Names = None,
    *,
    model: str | Engine | None = None,
    nli: str | Classifier | None = None,
    gold_metric: str = "rules",
    columns: Mapping[str, str] | None = None,
    requests: str | Path | None = None,
    kind: str | None = None,
    token_level: bool = False,
    strict: bool = True,
    condition: bool = True,
    cache: str | Path | None = None,
    price: str | None = None,
    max_cost: float | None = None,
    seed: int = 0,
) -> FileScores:
    """Score a file of answers row by row, write it back with a column for each score, compare.

    See :func:`score`; ``gold_metric`` decides who is right where no person did, ``strict`` and
    ``condition`` how meanings are compared; ``price`` and ``max_cost`` are for language models that
    compare or grade. Memory does not grow with the file. Raises InputError.
    """
    place = Path(path)
    chosen = methods_of(methods)
    folder = Path(cache) if cache is not None else default_cache_folder()
    summary = Summary()
    with contextlib.ExitStack() as stack:
        meter = Meter(max_cost)
        judges = graders(gold_metric, folder, stack, price, meter)
        answers = open_answers(place, columns, requests, kind)
        target = output_of(place, Path(out) if out is not None else None, answers.kind)
        tools = stack.enter_context(
            contextlib.closing(
                Toolbox(
                    model, nli, folder, strict=strict, condition=condition, price=price, meter=meter
                )
            )
        )
        rows, first = _peek(answers.rows)
        verdict = f"correct_{gold_metric}"
        gold = any(row.gold for row in first) or gold_metric.startswith("file:")
        names = [*chosen] if methods is not None or target.suffix == ".jsonl" else []
        if not names:  # a table has its columns before its rows: look what they hold
            again = open_answers(place, columns, requests, kind).rows
            names = possible(again, chosen, tools, model is not None)
        names += [PROBLEMS, *[verdict] * gold]
        names += ["tokens", "token_logprobs", "token_entropies"] * token_level
        kept = [m for m in chosen if m != LENGTH]
        table = stack.enter_context(
            Columns(
                ["words", "correct:people", *kept]
                + [f"{what}:{name}" for name in judges for what in ("correct", "value")]
            )
        )
        sink = stack.enter_context(writing(place, target, names))
        judged = people = seen = held = 0
        for block in _blocks(score_rows(rows, chosen, tools)):
            of_block = [one.row for one in block]
            seen += sum(map(_characters, of_block))
            if seen > FORGET:
                forget_texts()
                seen = 0
            golds = any(row.gold for row in of_block) or gold_metric.startswith("file:")
            held += golds
            graded = {name: judge(of_block) for name, judge in judges.items()} if golds else {}
            for n, one in enumerate(block):
                summary.add(one)
                grades = {name: found[n] for name, found in graded.items()}
                table.add(_numbers(one, grades, kept))
                judged += any(not math.isnan(g.correct) for g in grades.values())
                people += one.row.human is not None
                new = new_columns(one, named=methods is not None, token_level=token_level)
                if gold_metric in grades:
                    said = grades[gold_metric].correct
                    new[verdict] = None if math.isnan(said) else said
                sink(one.row, new)
        if not summary.rows:
            raise InputError(f"{place}: no answers in it")
        if held and not judged and not people:
            answers.notices.append(
                "no answer could be judged against its gold: there is no leaderboard"
            )
        computed = [m for m in chosen if summary.values[m]]
        found = None
        if judged or people:
            used = list(judges) if judged else []
            found = board(table, computed, used, gold_metric, people > 0, seed)
        return FileScores(
            path=target,
            rows=summary.rows,
            values={m: summary.values[m] for m in computed},
            missing={m: summary.why(m) for m in chosen if not summary.values[m]},
            problems=dict(summary.problems),
            examples=summary.examples,
            board=found,
            notices=[*answers.notices, *tools.notices, *summary.notices, *_circular(found, tools)],
            signature=tools.signature,
        )


def _circular(found: Board | None, tools: Toolbox) -> list[str]:
    if found is None or found.against != "rules" or "nli:rules" not in tools.signature.split("|"):
        return []
    return [
        "verdicts and meanings both come from the rules: scores that compare meanings agree with "
        "this judge more than with another; --nli or verdicts of people make them independent"
    ]


def _peek(rows: Iterator[AnswerRow]) -> tuple[Iterator[AnswerRow], list[AnswerRow]]:
    """Return the rows, and the first of them."""
    first = list(islice(rows, BLOCK))
    return chain(first, rows), first


def _blocks(scored: Iterable[Scored]) -> Iterator[list[Scored]]:
    source = iter(scored)
    while block := list(islice(source, BLOCK)):
        yield block


def _characters(row: AnswerRow) -> int:
    return len(row.question) + len(row.answer or "") + sum(map(len, row.samples))


def _numbers(one: Scored, grades: Mapping[str, Grade], methods: Sequence[str]) -> dict[str, float]:
    found = {m: one.values[m] for m in methods if m in one.values}
    if one.row.answer is not None:
        found["words"] = float(len(one.row.answer.split()))
    if one.row.human is not None:
        found["correct:people"] = one.row.human
    for name, grade in grades.items():
        found[f"correct:{name}"] = grade.correct
        found[f"value:{name}"] = grade.value
    return found
