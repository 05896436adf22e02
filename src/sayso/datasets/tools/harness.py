"""Sample logs of lm-evaluation-harness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.answer_rows import AnswerRow
from sayso.datasets.tables import gold_values, list_in, read_rows, solved
from sayso.datasets.tools.inspect import with_choices
from sayso.datasets.tools.values import object_in, text_in
from sayso.records import InputError

Row = tuple[int, dict[str, object]]
#: Fields of a harness document that may hold its question.
QUESTIONS = ("question", "query", "problem", "prompt")
#: What a harness row holds beside its metrics.
_FRAME = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def read_harness(path: Path, rows: Iterable[Row], notices: list[str]) -> Iterator[AnswerRow]:
    """Yield the answers of a harness log; repeats after the first are samples.

    With ``--log_samples`` the harness writes ``samples_<task>_<date>.jsonl`` with ``doc``,
    ``target`` (written as text, a list too), ``arguments`` (``gen_args_0.arg_0`` is the prompt),
    ``resps`` (for each request the texts of its repeats), ``filtered_resps``, and ``filter`` when a
    task has several, each of which writes all rows again, with verdicts of its own. The answers are
    those of the first; verdicts are named METRIC,FILTER then, as the harness calls them. Raises
    InputError for a task without generated text.
    """
    by_filter = _verdicts_by_filter(path)
    kept: object = None
    repeated = 0
    for number, row in rows:
        if kept is None:
            kept = row.get("filter", "")
        if row.get("filter", "") != kept:
            repeated += 1
            continue
        if verdicts := by_filter.get(str(row.get("doc_id"))):
            row = {n: v for n, v in row.items() if n not in _verdicts(row)} | verdicts
        yield _harness_row(path, number, row)
    if repeated:
        notices.append(f"{repeated} rows of filters other than {kept!r} repeat the same answers")
    if by_filter:
        right = Counter(n for by in by_filter.values() for n, value in by.items() if value)
        told = ", ".join(f"{right[n]:,} by {n}" for n in next(iter(by_filter.values())))
        notices.append(
            f"the filters differ: of {len(by_filter):,} answers are right {told}; choose one with "
            "--gold-metric file:NAME"
        )


def _verdicts_by_filter(path: Path) -> dict[str, dict[str, object]]:
    """Return by document what each filter says of its answer; nothing where all say the same."""
    found: dict[str, dict[str, object]] = {}
    filters, said = set(), set()
    for _, row in read_rows(path):
        document, name = str(row.get("doc_id")), row.get("filter")
        verdicts = _verdicts(row)
        filters.add(name)
        said.add((document, *verdicts.items()))
        named = {f"{metric},{name}": value for metric, value in verdicts.items()}
        found.setdefault(document, {}).update(named)
    return found if len(filters) > 1 and len(said) > len(found) else {}


def _verdicts(row: Mapping[str, object]) -> dict[str, float]:
    """Return the metrics of a row that mean right or wrong."""
    return {
        str(name): float(value)
        for name, value in row.items()
        if name not in _FRAME and isinstance(value, bool | int | float) and value in (0, 1)
    }


def _harness_row(path: Path, number: int, row: dict[str, object]) -> AnswerRow:
    place = f"line {number}"
    replies = row.get("resps")
    first = replies[0] if isinstance(replies, list) and replies else None
    texts = first if isinstance(first, list) else [first]
    if any(isinstance(text, list) for text in texts):
        raise InputError(
            f"{path} {place}: a multiple-choice task, which contains log-likelihoods of options "
            "and "
            "no answers; score the log of a generative task (generate_until)"
        )
    answers = [text for text in texts if isinstance(text, str)]
    doc = object_in(row.get("doc"))
    prompt = _prompt(row.get("arguments"))
    question = next((doc[n] for n in QUESTIONS if isinstance(doc.get(n), str)), None)
    read = AnswerRow(
        place=place,
        question=str(question) if question is not None else prompt or "",
        answer=answers[0] if answers else None,
        samples=tuple(answers[1:]),
        gold=_harness_target(row.get("target")),
        prompt=prompt,
        id=str(row.get("doc_id")),
        recorded=_verdicts(row),
        problems=() if answers else ("no reply in resps",),
        own=row,
    )
    return with_choices(read, doc.get("choices"))


def _prompt(arguments: object) -> str | None:
    """Return the prompt that the model saw: ``gen_args_0.arg_0`` of an object, or in a list."""
    value: Any = arguments
    if isinstance(value, dict):
        value = object_in(value.get("gen_args_0")).get("arg_0")
    for _ in range(2):
        value = value[0] if isinstance(value, list) and value else value
    return text_in(value)


def _harness_target(value: object) -> tuple[str, ...] | None:
    """Return the golds. The harness writes a list as Python shows it."""
    listed = list_in(value) if isinstance(value, str) else None
    values = gold_values(value if listed is None else listed)
    return tuple(solved(str(v)) for v in values if str(v).strip()) or None
