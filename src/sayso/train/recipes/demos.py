"""Examples for Unc-Few and Pair-Few out of a run: the model's own known and unknown facts.

They take the place of the invented ones: each text goes into a prompt folder under its name. No
example may be about what is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sayso.prompts import load_prompt
from sayso.records import InputError, Question
from sayso.train.config import VARIANTS, RowSettings
from sayso.train.recipes.calibrated import nearest_wording
from sayso.train.recipes.idk import known_state
from sayso.train.recipes.logu import Cutoffs, logu
from sayso.train.rows import Fact, TrainingRow, chance, check_apart, check_draws

#: how decisive an answer that is not known is worded
UNSURE = 0.45
#: paragraphs with every wrong fact re-worded, each once
ONE_REFINED = RowSettings(cut="all", variants=1)


def demonstrations(
    facts: Sequence[Fact],
    evaluated: Iterable[str | Question],
    *,
    m: int = 5,
    k: int = 10,
    seed: int = 0,
    folder: Path | None = None,
) -> dict[str, str]:
    """Return prompt texts by name: ``method_unc_few``, ``method_pair_few`` and, where the facts
    have paragraphs that are partly wrong, ``method_unc_few_long``.

    ``m`` known facts (all ``k`` draws right) stand there plainly and as many unknown ones (none
    right) as a hedged answer of the model's own, each of another entity. What is said before the
    examples is the prompt file's. Raises InputError for too few facts, or any of ``evaluated``.
    """
    short = sorted((f for f in facts if f.form == "short"), key=lambda f: f.question.id)
    check_draws(short, k)
    known, unknown = _examples(short, m, k, seed)
    used = {fact.entity for fact, _ in (*known, *unknown)}
    chosen = [*((f, a, True) for f, a in known), *((f, a, False) for f, a in unknown)]
    chance("demos order", seed).shuffle(chosen)
    single, paired = list[tuple[str, str]](), list[tuple[str, str]]()
    rows: list[TrainingRow] = []
    for fact, answer, sure in chosen:
        generator = chance("demo", seed, fact.question.id)
        doubt = nearest_wording(answer, UNSURE, generator).say(answer)
        single.append((fact.prompt, f"Answer: {answer if sure else doubt}"))
        paired.append((fact.prompt, f"Certain: {answer}\nNot certain: {doubt}"))
        rows.append(
            TrainingRow(fact.prompt, answer, None, "short", fact.entity, (fact.question.id,), "")
        )
    long_rows = _paragraphs(facts, used, m, seed)
    check_apart([*rows, *long_rows], evaluated)
    texts = {
        "method_unc_few": _text("method_unc_few", single, folder),
        "method_pair_few": _text("method_pair_few", paired, folder),
    }
    if long_rows:
        examples = [(row.prompt, f"Answer: {row.chosen}") for row in long_rows]
        texts["method_unc_few_long"] = _text("method_unc_few_long", examples, folder)
    return texts


def _examples(
    short: Sequence[Fact], m: int, k: int, seed: int
) -> tuple[list[tuple[Fact, str]], list[tuple[Fact, str]]]:
    """Return ``m`` known and ``m`` unknown facts of different entities, each with an answer.

    The answer of an unknown one is committed and wrong. Raises InputError for too few facts.
    """
    known, unknown = list[tuple[Fact, str]](), list[tuple[Fact, str]]()
    used: set[str] = set()
    for fact in sorted(short, key=lambda f: chance("demos", seed, f.question.id).random()):
        state = known_state(fact.right[:k], 1.0, 0.0)
        examples = known if state else unknown
        if state is None or fact.entity in used or len(examples) == m:
            continue
        draws = zip(fact.draws[:k], fact.stances[:k], fact.right[:k], strict=True)
        answers = [
            text.strip()
            for text, stance, right in draws
            if _usable(text) and (state or (stance == "committed" and right is False))
        ]
        if answers:
            examples.append((fact, answers[0]))
            used.add(fact.entity)
    if len(known) < m or len(unknown) < m:
        raise InputError(
            f"demonstrations: {m} known and {m} unknown facts of different entities are needed; "
            f"there are {len(known)} and {len(unknown)}; lower m, or run over more entities"
        )
    return known, unknown


def _usable(answer: str) -> bool:
    """Tell whether an answer can stand in an example: one line, which opens no other question."""
    text = answer.strip()
    return bool(text) and len(text.splitlines()) == 1 and "{" not in text


def _paragraphs(facts: Sequence[Fact], used: set[str], m: int, seed: int) -> list[TrainingRow]:
    """Return up to 2m refined paragraphs that hedge something, of entities not in ``used``."""
    texts = {paragraph.text.strip() for fact in facts for paragraph in fact.paragraphs}
    apart = {
        row.entity: row
        for row in logu(facts, ONE_REFINED, cutoffs=Cutoffs(cap=VARIANTS), want="sft", seed=seed)
        if row.entity not in used
        and row.chosen not in texts
        and "{" not in row.chosen
        and "\n\n" not in row.chosen
    }
    return list(apart.values())[: 2 * m]


def _text(name: str, examples: Sequence[tuple[str, str]], folder: Path | None) -> str:
    """Return a prompt with other examples between its first words and the question's place."""
    text = load_prompt(name, folder)
    head, first, rest = text.partition("\n\nQuestion:")
    if not first or "Question: {question}" not in rest:
        raise InputError(f"prompt {name}: expected examples that begin with 'Question:'")
    blocks = [f"Question: {question}\n{answer}" for question, answer in examples]
    return "\n\n".join([head, *blocks, "Question: {question}\nAnswer:"])
