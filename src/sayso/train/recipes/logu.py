"""Rows of paragraphs: what is right stays, what is wrong is said as unsure.

Two recipes make them (``pairs`` of the row settings). :func:`uncle_pairs` is what UNCLE states
(arXiv 2505.16922, appendix D.2): one pair a question,

    chosen     everything right as stated, everything wrong re-worded as unsure
    rejected   everything right re-worded as unsure, everything wrong as stated

:func:`logu` is LoGU's own data (arXiv 2410.14309):

    refined    right sentences word for word, wrong ones re-worded as unsure or left out
    amateur    labels swapped: a few right ones unsure, everything else as it was
    pairs      refined > original,  original > amateur,  refined > amateur

Its counts: a paragraph is used if less than
``most_wrong`` of it is wrong; ``cut="cutoff2"`` tells a quarter of the wrong facts where they are
many. Every variant is drawn afresh; each prompt gives at most ``cap`` rows of a kind.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from sayso.judges.claims import claims as split_claims
from sayso.judges.english.markup import parts as sentences_of
from sayso.records import InputError, Question, content_id
from sayso.train.config import VARIANTS, RowSettings
from sayso.train.rows import (
    Fact,
    Mention,
    TrainingParagraph,
    TrainingRow,
    Want,
    chance,
    check_draws,
    in_order,
    lucky,
    mention_confidence,
    unsure,
)

# ---- a paragraph as stretches: sentences that say one or more things, each right, wrong or unsure
#
# What lies between stretches (headings, sentences about nothing that was asked) stays as it is. A
# sentence that holds something right and something wrong is taken apart into claims that stand
# alone, so that the right ones can stay.

Label = Literal["S", "NS", "UNC"]
What = TypeVar("What")
#: what labels a committed aspect: right, wrong, or unread (None)
Judge = Callable[[Mention], bool | None]


class StretchPiece(NamedTuple):
    """One thing that a stretch says. ``text`` stands alone; "" where the stretch says only this."""

    label: Label
    question: Question | None = None
    text: str = ""


class Stretch(NamedTuple):
    """Characters ``start:end`` of a paragraph and what they say, in order."""

    start: int
    end: int
    pieces: tuple[StretchPiece, ...]

    @property
    def labels(self) -> set[Label]:
        """The labels of its pieces."""
        return {piece.label for piece in self.pieces}


def by_aspects(paragraph: TrainingParagraph, judge: Judge, topic: str) -> list[Stretch] | None:
    """Return the stretches of a paragraph by its aspects; None where one could not be read.

    Also None where one is told nobody knows where, and where right and wrong stand in one sentence
    that the rules cannot take apart.
    """
    placed: list[tuple[int, int, Mention, Label]] = []
    bounds = _bounds(paragraph.text)
    for mention in paragraph.mentions:
        if mention.stance is None:
            return None
        if mention.start is None or mention.end is None:
            if mention.stance == "committed":
                return None
            continue
        if mention.stance == "omitted":
            continue
        start, end = _whole(mention.start, mention.end, bounds)
        if mention.stance != "committed":
            placed.append((start, end, mention, "UNC"))
            continue
        right = judge(mention)
        if right is None:
            return None
        placed.append((start, end, mention, "S" if right else "NS"))
    stretches = []
    for start, end, some in _joined(placed):
        labels = {label for _, _, _, label in some}
        stands: dict[str, str] = {}
        if len(some) > 1:
            alone = _alone(paragraph.text, start, end, [t for _, _, t, _ in some], topic)
            if alone is None and "NS" in labels and len(labels) > 1:
                return None
            stands = alone or {}
        stretches.append(
            Stretch(
                start,
                end,
                tuple(
                    StretchPiece(label, mention.question, stands.get(mention.question.id, ""))
                    for _, _, mention, label in some
                ),
            )
        )
    return stretches


def by_claims(paragraph: TrainingParagraph) -> list[Stretch] | None:
    """Return the stretches of a paragraph by its checked claims; None where one was not read.

    Irrelevant claims (IR) are kept with what is right around them.
    """
    labels: Mapping[str, Label] = {"S": "S", "NS": "NS", "IR": "S", "UNC": "UNC"}
    if not paragraph.claims or any(c.label not in labels for c in paragraph.claims):
        return None
    bounds = _bounds(paragraph.text)
    placed = [
        (*_whole(c.start, c.end, bounds), _closed(c.text), labels[c.label])
        for c in paragraph.claims
        if c.label is not None
    ]
    return [
        Stretch(start, end, tuple(StretchPiece(label, None, text) for _, _, text, label in some))
        for start, end, some in _joined(placed)
    ]


def _bounds(text: str) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in sentences_of(text)]


def _whole(start: int, end: int, bounds: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return a span widened to the sentences that it touches: half of one cannot be re-worded."""
    touched = [(low, high) for low, high in bounds if low < end and start < high]
    return min([start, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)])


def _closed(claim: str) -> str:
    """Return a claim as a sentence."""
    text = claim.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _joined(
    placed: Sequence[tuple[int, int, What, Label]],
) -> list[tuple[int, int, list[tuple[int, int, What, Label]]]]:
    """Return overlapping spans as one, in the order of the text."""
    joined: list[tuple[int, int, list[tuple[int, int, What, Label]]]] = []
    for one in sorted(placed, key=lambda p: (p[0], p[1])):
        if joined and one[0] < joined[-1][1]:
            start, end, some = joined[-1]
            joined[-1] = (start, max(end, one[1]), [*some, one])
        else:
            joined.append((one[0], one[1], [one]))
    return joined


def _alone(
    text: str, start: int, end: int, mentions: Sequence[Mention], topic: str
) -> dict[str, str] | None:
    """Return a claim that stands alone for each aspect of a sentence; None where there is none.

    A claim serves if it holds the aspect's value and no other aspect's.
    """
    drafts = [draft.text for draft in split_claims(text[start:end], topic)]
    held: dict[str, list[str]] = defaultdict(list)
    for one in mentions:
        others = [t.value for t in mentions if t is not one and t.value]
        if not one.value:
            return None
        for draft in drafts:
            if one.value in draft and not any(other in draft for other in others):
                held[one.question.id].append(_closed(draft))
    if any(one.question.id not in held for one in mentions):
        return None
    return {question: min(some, key=len) for question, some in held.items()}


#: LoGU's constants: the share of right facts that wrong ones make up, and its limits
QUARTER, FEW, LEAST_RIGHT = 0.25, 0.2, 4


class LabelledParagraph(NamedTuple):
    """A paragraph whose stretches are labeled; ``right`` and ``wrong`` count pieces.

    ``luck``: something in it is right that no draw of its short question got right.
    """

    fact: Fact
    paragraph: TrainingParagraph
    stretches: list[Stretch]
    right: int
    wrong: int
    luck: bool


class Cutoffs(NamedTuple):
    """What LoGU leaves out.

    Paragraphs that are wrong in ``most_wrong`` or more; rows of one prompt and kind beyond
    ``cap`` (None: ``variants`` times 1 + ``paragraphs``). By "consistency" a value is wrong
    whose agreement with its draws lies under the ``percentile`` of all (strictly, as LoGU does),
    or under ``below`` where that is given.
    """

    most_wrong: float = 0.9
    percentile: float = 10.0
    below: float | None = None
    cap: int | None = None

    def check(self) -> None:
        """Refuse cutoffs that leave nothing, or cut nothing sensible. Raises InputError."""
        cap = 1 if self.cap is None else self.cap
        if not 0 < self.most_wrong <= 1 or not 0 <= self.percentile <= 100 or cap < 1:
            raise InputError("logu: expected most_wrong in (0, 1], percentile 0 to 100, cap from 1")


def uncle_pairs(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    cutoffs: Cutoffs = Cutoffs(),  # noqa: B008 - immutable
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return one row of each long fact, as UNCLE's appendix D.2 states it.

    The paragraph is the first of the fact that can be read (the one at T=0). What it doubts itself
    and what is about nothing that was asked stays in both texts. Nothing is left out, and right is
    what ``settings.veracity`` calls right, also if no draw of the short question knows it; of
    ``cutoffs`` only those of "consistency" are read. For ``want="sft"`` the chosen texts alone.
    Raises InputError.
    """
    settings.check_thresholds()
    cutoffs.check()
    long = [f for f in facts if f.form == "long"]
    short = {f.question.id: f for f in facts if f.form == "short"}
    judge = _judge(facts, short, settings, cutoffs)
    rows: list[TrainingRow] = []
    unread = empty = 0
    for fact in long:
        read = (_labelled(fact, p, judge, {}, settings.k) for p in fact.paragraphs)
        one = next((labelled for labelled in read if labelled is not None), None)
        if one is None:
            unread += 1
            continue
        if not one.right + one.wrong:
            empty += 1
            continue
        generator = chance("uncle", seed, fact.question.id)
        chosen = _rewritten(one, "NS", set(range(one.wrong)), generator, drop=False)
        rejected = _rewritten(one, "S", set(range(one.right)), generator, drop=False)
        rows.append(_row(fact, chosen, rejected if want == "dpo" else None, "uncle"))
    if notes is not None:
        notes.append(
            f"uncle ({settings.veracity}): {len(rows)} rows of {len(long)} prompts; {unread} left "
            "out for a verdict that is missing or a sentence that is right and wrong, "
            f"{empty} for stating nothing that is right or wrong"
        )
    return in_order(rows, seed)


def logu(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    cutoffs: Cutoffs = Cutoffs(),  # noqa: B008 - immutable
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return rows of the long facts; the short ones lend their draws to ``settings.veracity``.

    ``veracity``: "gold" takes the judge's verdicts, "evidence" those on the paragraph's claims,
    "consistency" the agreement of a value with the draws of its short question
    (:class:`Cutoffs`). A value that is right although no draw of its short question is counts as
    wrong: what is not known is not trained as known, even if it was hit.

    ``cut="all"`` re-words every wrong fact instead of a sample. For ``want="sft"`` the refined
    paragraphs alone. Raises InputError.
    """
    settings.check_thresholds()
    cutoffs.check()
    long = [f for f in facts if f.form == "long"]
    short = {f.question.id: f for f in facts if f.form == "short"}
    judge = _judge(facts, short, settings, cutoffs)
    cap = cutoffs.cap or settings.variants * (1 + settings.paragraphs)
    rows: list[TrainingRow] = []
    unread = wrong = 0
    for fact in long:
        own: dict[str, list[TrainingRow]] = {}
        for paragraph in fact.paragraphs:
            one = _labelled(fact, paragraph, judge, short, settings.k)
            if one is None:
                unread += 1
                continue
            pieces = one.right + one.wrong
            if not pieces or one.wrong / pieces >= cutoffs.most_wrong:
                wrong += 1
                continue
            for row in _rows(one, settings.cut, settings.variants, want, seed):
                own.setdefault(row.kind, []).append(row)
        for kind, some in own.items():
            rows += capped(some, cap, fact.question.id, kind, seed)
    if notes is not None:
        notes.append(
            f"logu ({settings.veracity}): {len(rows)} rows of {len(long)} prompts; {unread} "
            "paragraphs left out for a verdict that is missing or a sentence that is right and "
            f"wrong, {wrong} for being wrong in {cutoffs.most_wrong:.0%} or more"
        )
    return in_order(rows, seed)


def capped(
    rows: Sequence[TrainingRow], cap: int, question: str, kind: str, seed: int
) -> list[TrainingRow]:
    """Return at most ``cap`` different rows of a kind that one prompt gives, drawn by the seed."""
    distinct = sorted(set(rows), key=lambda row: content_id([seed, row]))
    return chance("cap", seed, question, kind).sample(distinct, min(cap, len(distinct)))


def _judge(
    facts: Sequence[Fact],
    short: Mapping[str, Fact],
    settings: RowSettings,
    cutoffs: Cutoffs,
) -> Judge | None:
    """Return what labels a committed aspect; None where claims carry the labels."""
    if settings.veracity == "evidence":
        if not any(p.claims for f in facts for p in f.paragraphs):
            raise InputError(
                "veracity evidence: no paragraph has checked claims; run `sayso run self_known` on "
                "these paragraphs first, or set veracity gold"
            )
        return None
    if settings.veracity == "gold":
        return lambda mention: mention.right
    check_draws(list(short.values()), settings.k)
    scores: dict[tuple[str, str | None], float | None] = {}
    for fact in facts:
        for paragraph in fact.paragraphs:
            for mention in paragraph.mentions:
                if mention.stance == "committed":
                    confidence = mention_confidence(
                        mention.question, mention.value, short, settings.k
                    )
                    scores[mention.question.id, mention.value] = (
                        confidence.share if confidence else None
                    )
    held = sorted(score for score in scores.values() if score is not None)
    if not held:
        raise InputError(
            "veracity consistency: no value of a paragraph could be compared with draws of its "
            "short question; the run needs both forms, with probes"
        )
    limit = _percentile(held, cutoffs.percentile) if cutoffs.below is None else cutoffs.below

    def consistent(mention: Mention) -> bool | None:
        score = scores[mention.question.id, mention.value]
        return None if score is None else score >= limit

    return consistent


def _percentile(ordered: Sequence[float], percentile: float) -> float:
    """Return the linearly interpolated percentile of sorted values."""
    place = (len(ordered) - 1) * percentile / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _labelled(
    fact: Fact, paragraph: TrainingParagraph, judge: Judge | None, short: Mapping[str, Fact], k: int
) -> LabelledParagraph | None:
    hit = {
        mention.question.id
        for mention in paragraph.mentions
        if mention.question.id in short and lucky(short[mention.question.id], k, mention.right)
    }

    def known(mention: Mention) -> bool | None:
        right = judge(mention) if judge else None
        return False if right and mention.question.id in hit else right

    stretches = by_aspects(paragraph, known, fact.entity) if judge else by_claims(paragraph)
    if stretches is None:
        return None
    if judge is None:
        stretches = [_unlucky(paragraph, stretch, hit) for stretch in stretches]
    labels = [piece.label for stretch in stretches for piece in stretch.pieces]
    right, wrong = labels.count("S"), labels.count("NS")
    return LabelledParagraph(fact, paragraph, stretches, right, wrong, bool(hit))


def _unlucky(paragraph: TrainingParagraph, stretch: Stretch, hit: set[str]) -> Stretch:
    """Return a stretch of claims in which those that tell a lucky hit count as wrong.

    A hit whose value is not found in one of them makes all of them wrong.
    """
    pieces = list(stretch.pieces)
    for mention in paragraph.mentions:
        if mention.question.id not in hit or mention.start is None or mention.end is None:
            continue
        if mention.start >= stretch.end or mention.end <= stretch.start:
            continue
        own = [n for n, p in enumerate(pieces) if mention.value and mention.value in p.text]
        for n in own or range(len(pieces)):
            if pieces[n].label == "S":  # named by its question: the value is not said again
                pieces[n] = StretchPiece("NS", mention.question, pieces[n].text)
    return stretch._replace(pieces=tuple(pieces))


def wrong_counts(right: int, wrong: int, cut: str, variants: int = VARIANTS) -> tuple[int, int]:
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


def _rows(
    one: LabelledParagraph, cut: str, variants: int, want: Want, seed: int
) -> list[TrainingRow]:
    """Return the rows of one paragraph; every variant has its own draw of facts and wordings."""
    original = one.paragraph.text
    count, some = wrong_counts(one.right, one.wrong, cut, variants)
    rows: list[TrainingRow] = []
    for number in range(max(count, 1)):
        generator = chance("logu", seed, one.fact.question.id, original, number)
        refined = None
        if count:
            chosen = set(generator.sample(range(one.wrong), some))
            refined = _rewritten(one, "NS", chosen, generator, drop=True)
        if want == "sft":
            if refined is not None:
                rows.append(_row(one.fact, refined, None, "logu-refined"))
            continue
        swapped = set(generator.sample(range(one.right), swapped_right(one.right, one.wrong)))
        amateur = _rewritten(one, "S", swapped, generator, drop=False)
        if refined is not None:
            rows.append(_row(one.fact, refined, original, "logu-refined-original"))
            rows.append(_row(one.fact, refined, amateur, "logu-refined-amateur"))
        if not one.luck:
            rows.append(_row(one.fact, original, amateur, "logu-original-amateur"))
    return [row for row in rows if row.chosen.strip() and row.chosen != row.rejected]


def _rewritten(
    one: LabelledParagraph, label: str, chosen: set[int], generator: random.Random, *, drop: bool
) -> str:
    """Return the paragraph with the chosen pieces of a label re-worded as unsure.

    The others of the label are left out (``drop``) or stay. Everything else stays as it is.
    """
    text, parts, at, number = one.paragraph.text, list[str](), 0, 0
    for stretch in one.stretches:
        parts.append(text[at : stretch.start])
        at = stretch.end
        sentences: list[str] = []
        own = range(number, number + sum(piece.label == label for piece in stretch.pieces))
        changed = any(drop or n in chosen for n in own)
        # what does not stand alone cannot stay beside what is re-worded: it goes with it
        whole = changed and not drop and any(not piece.text for piece in stretch.pieces)
        for piece in stretch.pieces:
            if piece.label != label:
                # what does not stand alone is in doubt already (by_aspects), and stays so
                doubted = whole and not piece.text
                sentences.append(unsure(piece.question, generator) if doubted else piece.text)
                continue
            if number in chosen or whole:
                sentences.append(unsure(piece.question, generator, piece.text))
            elif not drop:
                sentences.append(piece.text)
            number += 1
        if not changed:
            parts.append(text[stretch.start : stretch.end])
            continue
        parts.append(" ".join(s for s in sentences if s))
        if not parts[-1]:  # a sentence that is left out takes the space behind it along
            at += len(text[at:]) - len(text[at:].lstrip(" "))
    return "".join([*parts, text[at:]]).strip()


def _row(fact: Fact, chosen: str, rejected: str | None, kind: str) -> TrainingRow:
    questions = (fact.question.id, *fact.question.parts)
    return TrainingRow(fact.prompt, chosen, rejected, "long", fact.entity, questions, kind)
