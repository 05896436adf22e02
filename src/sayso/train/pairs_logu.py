"""LoGU rows (as UNCLE trains paragraphs): what is right stays, what is wrong is said as unsure.

    refined    right sentences word for word, wrong ones re-worded as unsure
    amateur    labels swapped: a few right ones unsure, everything else as it was
    pairs      refined > original,  original > amateur,  refined > amateur

Counts are those of PROTOCOLS 1.A (LoGU data, steps 4 to 7): a paragraph is used if less than
``most_wrong`` of it is wrong; ``cut="cutoff2"`` tells a quarter of the wrong facts where they are
many. Every variant is drawn afresh; each prompt gives at most ``cap`` rows of a kind.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from sayso.annotate.contradict import contradicts
from sayso.records import InputError, content_id
from sayso.train.pairs import Fact, Paragraph, Row, Told, Want, chance, check_draws, in_order
from sayso.train.pairs_agree import Compare, lucky, told_confidence
from sayso.train.pairs_stretches import Piece, Stretch, by_aspects, by_claims
from sayso.train.pairs_words import unsure

Veracity = Literal["gold", "evidence", "consistency"]
#: LoGU's constants: most variants, the share of right facts that wrong ones make up, its limits
VARIANTS, QUARTER, FEW, LEAST_RIGHT = 5, 0.25, 0.2, 4


class Labelled(NamedTuple):
    """A paragraph whose stretches are labelled; ``right`` and ``wrong`` count pieces.

    ``luck``: something in it is right that no draw of its short question got right.
    """

    fact: Fact
    paragraph: Paragraph
    stretches: list[Stretch]
    right: int
    wrong: int
    luck: bool


def logu(
    facts: Sequence[Fact],
    *,
    veracity: Veracity = "gold",
    cut: Literal["all", "cutoff2"] = "cutoff2",
    variants: int = VARIANTS,
    most_wrong: float = 0.9,
    percentile: float = 10.0,
    below: float | None = None,
    k: int = 10,
    cap: int = VARIANTS,
    most: int | None = None,
    want: Want = "dpo",
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[Row]:
    """Return rows of the long facts; the short ones lend their draws to ``veracity``.

    ``veracity``: "gold" takes the judge's verdicts, "evidence" those on the paragraph's claims,
    "consistency" calls a value wrong whose agreement with the draws of its short question lies
    under the ``percentile`` of all (strictly, as LoGU does), or under ``below`` where that is
    given. A value that is right although no draw of its short question is counts as wrong: what
    is not known is not taught as known, even if it was hit.

    ``cut="all"`` re-words every wrong fact instead of a sample. For ``want="sft"`` the refined
    paragraphs alone. ``most`` rows are drawn in the end. Raises InputError.
    """
    if not 0 < most_wrong <= 1 or not 0 <= percentile <= 100 or cap < 1 or variants < 1:
        raise InputError("logu: expected most_wrong in (0, 1], percentile 0-100, cap and variants")
    long = [f for f in facts if f.form == "long"]
    judge = _judge(facts, veracity, percentile, below, k, compare)
    short = {f.question.id: f for f in facts if f.form == "short"}
    rows: list[Row] = []
    unread = wrong = 0
    for fact in long:
        own: dict[str, list[Row]] = {}
        for paragraph in fact.paragraphs:
            one = _labelled(fact, paragraph, judge, short, k)
            if one is None:
                unread += 1
                continue
            if not one.right + one.wrong or one.wrong / (one.right + one.wrong) >= most_wrong:
                wrong += 1
                continue
            for row in _rows(one, cut, variants, want, seed):
                own.setdefault(row.kind, []).append(row)
        for kind, some in own.items():
            distinct = sorted(set(some), key=lambda row: content_id([seed, row]))
            generator = chance("cap", seed, fact.question.id, kind)
            rows += generator.sample(distinct, min(cap, len(distinct)))
    if notes is not None:
        notes.append(
            f"logu ({veracity}): {len(rows)} rows of {len(long)} prompts; {unread} paragraphs left "
            f"out for a verdict that is missing or a sentence that is right and wrong, {wrong} for "
            f"being wrong in {most_wrong:.0%} or more"
        )
    return in_order(rows, seed)[:most]


Judge = Callable[[Told], bool | None]


def _judge(
    facts: Sequence[Fact],
    veracity: Veracity,
    percentile: float,
    below: float | None,
    k: int,
    compare: Compare,
) -> Judge | None:
    """Return what labels a committed aspect; None where claims carry the labels."""
    if veracity == "evidence":
        if not any(p.claims for f in facts for p in f.paragraphs):
            raise InputError(
                "veracity evidence: no paragraph has checked claims; run `sayso run self_known` on "
                "these paragraphs first, or say veracity gold"
            )
        return None
    if veracity == "gold":
        return lambda told: told.right
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), k)
    scores: dict[tuple[str, str | None], float | None] = {}
    for fact in facts:
        for paragraph in fact.paragraphs:
            for told in paragraph.told:
                if told.stance == "committed":
                    made = told_confidence(told.question, told.value, short, k, compare)
                    scores[told.question.id, told.value] = made.share if made else None
    held = sorted(score for score in scores.values() if score is not None)
    if not held:
        raise InputError(
            "veracity consistency: no value of a paragraph could be compared with draws of its "
            "short question; the run needs both forms, with probes"
        )
    limit = _percentile(held, percentile) if below is None else below

    def consistent(told: Told) -> bool | None:
        score = scores[told.question.id, told.value]
        return None if score is None else score >= limit

    return consistent


def _percentile(ordered: Sequence[float], percentile: float) -> float:
    """Return the linearly interpolated percentile of sorted values."""
    place = (len(ordered) - 1) * percentile / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _labelled(
    fact: Fact, paragraph: Paragraph, judge: Judge | None, short: Mapping[str, Fact], k: int
) -> Labelled | None:
    hit = {
        told.question.id
        for told in paragraph.told
        if told.question.id in short and lucky(short[told.question.id], k, told.right)
    }

    def known(told: Told) -> bool | None:
        right = judge(told) if judge else None
        return False if right and told.question.id in hit else right

    stretches = by_aspects(paragraph, known, fact.entity) if judge else by_claims(paragraph)
    if stretches is None:
        return None
    if judge is None:
        stretches = [_unlucky(paragraph, stretch, hit) for stretch in stretches]
    labels = [piece.label for stretch in stretches for piece in stretch.pieces]
    right, wrong = labels.count("S"), labels.count("NS")
    return Labelled(fact, paragraph, stretches, right, wrong, bool(hit))


def _unlucky(paragraph: Paragraph, stretch: Stretch, hit: set[str]) -> Stretch:
    """Return a stretch of claims in which those that tell a lucky hit count as wrong.

    A hit whose value is not found in one of them makes all of them wrong.
    """
    pieces = list(stretch.pieces)
    for told in paragraph.told:
        if told.question.id not in hit or told.start is None or told.end is None:
            continue
        if told.start >= stretch.end or told.end <= stretch.start:
            continue
        own = [n for n, p in enumerate(pieces) if told.value and told.value in p.text]
        for n in own or range(len(pieces)):
            if pieces[n].label == "S":  # named by its question: the value is not said again
                pieces[n] = Piece("NS", told.question, pieces[n].text)
    return stretch._replace(pieces=tuple(pieces))


def told_wrong(right: int, wrong: int, cut: str, variants: int = VARIANTS) -> tuple[int, int]:
    """Return (variants, wrong facts in each) of a refined paragraph; (0, 0): it gives none.

    Under "cutoff2": all where at most a fifth is wrong; else round(right / 4) of them (Python
    rounds halves to even) in min(5, right) variants, if at least 4 are right.
    """
    share = wrong / (right + wrong)
    if cut == "all" or share <= FEW:
        return (1 if not wrong else variants if cut == "all" else 1), wrong
    if right < LEAST_RIGHT:
        return 0, 0
    return min(VARIANTS, right, variants), min(wrong, round(QUARTER * right))


def swapped_right(right: int, wrong: int) -> int:
    """Return how many right facts an amateur paragraph says as unsure (step 6)."""
    total = right + wrong
    return round(min(total * min(wrong / total, FEW), right))


def _rows(one: Labelled, cut: str, variants: int, want: Want, seed: int) -> list[Row]:
    """Return the rows of one paragraph; every variant has its own draw of facts and wordings."""
    original = one.paragraph.text
    count, some = told_wrong(one.right, one.wrong, cut, variants)
    found: list[Row] = []
    for number in range(max(count, 1)):
        generator = chance("logu", seed, one.fact.question.id, original, number)
        refined = None
        if count:
            chosen = set(generator.sample(range(one.wrong), some))
            refined = _rewritten(one, "NS", chosen, generator, drop=True)
        if want == "sft":
            if refined is not None:
                found.append(_row(one.fact, refined, None, "logu-refined"))
            continue
        swapped = set(generator.sample(range(one.right), swapped_right(one.right, one.wrong)))
        amateur = _rewritten(one, "S", swapped, generator, drop=False)
        if refined is not None:
            found.append(_row(one.fact, refined, original, "logu-refined-original"))
            found.append(_row(one.fact, refined, amateur, "logu-refined-amateur"))
        if not one.luck:
            found.append(_row(one.fact, original, amateur, "logu-original-amateur"))
    return [row for row in found if row.chosen.strip() and row.chosen != row.rejected]


def _rewritten(
    one: Labelled, label: str, chosen: set[int], generator: random.Random, *, drop: bool
) -> str:
    """Return the paragraph with the chosen pieces of a label re-worded as unsure.

    The others of the label are left out (``drop``) or stay. Everything else stays as it is.
    """
    text, parts, at, number = one.paragraph.text, list[str](), 0, 0
    for stretch in one.stretches:
        parts.append(text[at : stretch.start])
        at = stretch.end
        said: list[str] = []
        own = range(number, number + sum(piece.label == label for piece in stretch.pieces))
        changed = any(drop or n in chosen for n in own)
        # what does not stand alone cannot stay beside what is re-worded: it goes with it
        whole = changed and not drop and any(not piece.text for piece in stretch.pieces)
        for piece in stretch.pieces:
            if piece.label != label:
                said.append(piece.text)
                continue
            if number in chosen or whole:
                said.append(unsure(piece.question, generator, piece.text))
            elif not drop:
                said.append(piece.text)
            number += 1
        if not changed:
            parts.append(text[stretch.start : stretch.end])
            continue
        parts.append(" ".join(s for s in said if s))
        if not parts[-1]:  # a sentence that is left out takes the space behind it along
            at += len(text[at:]) - len(text[at:].lstrip(" "))
    return "".join([*parts, text[at:]]).strip()


def _row(fact: Fact, chosen: str, rejected: str | None, kind: str) -> Row:
    questions = (fact.question.id, *fact.question.parts)
    return Row(fact.prompt, chosen, rejected, "long", fact.entity, questions, kind)


def by_kind(rows: Sequence[Row]) -> Mapping[str, int]:
    """Return how many rows there are of each kind."""
    return {kind: sum(r.kind == kind for r in rows) for kind in sorted({r.kind for r in rows})}
