"""How every page begins: one plain sentence, three answers, and what the numbers do not show.

The protocol writes the sentence and sorts its answers into kinds; what all openings share is here.
Nothing is picked by hand: of each kind the answer of median length is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from sayso.harmless import block, line
from sayso.metrics.ranking import FEW, FEWEST
from sayso.records import Estimate
from sayso.report.answers import REFUSAL, ShownAnswer, ShownFact
from sayso.report.numbers import percent
from sayso.report.terminal import warned
from sayso.storage.run_folder import Manifest

#: characters of an answer, and of a question or a truth, at the top of a page
MOST_ANSWER, MOST_QUESTION = 320, 240
#: how an answer is chosen among those of its kind
BY_LENGTH = "Each is the answer of median length of its kind."
Item = TypeVar("Item")


#: a share is called rare where its interval lies below the first, large above the second, and
#: "almost always" where the interval lies above the third
QUARTER, HALF, ALMOST_ALL = 0.25, 0.5, 0.9


def how_often(share: Estimate) -> str:
    """Return the adverb that a share and its interval allow; "" without an interval."""
    if share.low is None or share.high is None:
        return ""
    if share.high < QUARTER:
        return "rarely"
    if share.low > ALMOST_ALL:
        return "almost always"
    return "usually" if share.low > HALF else "sometimes"


#: how often a blind score ranks a wrong answer as less certain than a right one
CHANCE = 0.5
#: an interval of that as wide as this says too little
WIDE = 0.3


#: pairs of a right and another answer below which no AUROC is a headline
FEW_PAIRS = 100


def errors_sentence(
    wrong: int,
    total: int,
    of: str,
    which: str,
    best: Estimate,
    did: str | None = None,
    alike: str = "",
) -> str:
    """Say how many answers are wrong, and whether an uncertainty score can point to them.

    ``of`` says what is counted, as "its 60 short answers"; ``which`` names the best score
    (:func:`best_named`), and ``best`` is how often it ranks a wrong answer as less certain than a
    right one. A score is said to point to errors where the interval is clear of chance, and
    nothing is said of it below :data:`FEW` wrong or right answers, or :data:`FEW_PAIRS` pairs.
    Where not all of them state something false they are "not right", and ``did`` says what they
    did. ``alike`` says of which pairs ``best`` is, if not of all.
    """
    kind = "wrong" if did is None else "not right"
    are = f"{wrong:,} of {of} {'is' if wrong == 1 else 'are'} {kind}{did or ''}"
    if min(wrong, total - wrong) < FEWEST:
        few = f"{kind} to rank" if wrong < total - wrong else "right to rank"
        return f"{are}: too few are {few} scores."
    if not which or best.value is None:
        return f"{are}, and no uncertainty score could be computed."
    if (pairs := wrong * (total - wrong)) < FEW_PAIRS:
        return (
            f"{are}: too few to rank scores (only {pairs:,} pairs of a right and another answer "
            "can be made)."
        )
    pair = "a wrong and a right answer" if did is None else "one of these and a right answer"
    other = "the wrong one" if did is None else "that one"
    how = f"given {pair}{alike}, {which} ranks {other} as less certain"
    ends = [] if best.low is None or best.high is None else [best.low, best.high]
    reach = f" [{', '.join(percent(end, 0).removesuffix(' %') for end in ends)}]" if ends else ""
    often = f"{percent(best.value, 0)}{reach} of the time (chance: 50 %)"
    if best.low is None or best.high is None or min(wrong, total - wrong) < FEW:
        return f"{are}, and there are too few to say whether a score detects them: {how} {often}."
    if best.low > CHANCE:
        return f"{are}, and an uncertainty score can point to them: {how} {often}."
    if best.high - best.low > WIDE:
        return f"{are}, too few to be sure that a score detects errors; {how} {often}."
    return f"{are}, and no uncertainty score clearly detects them: {how} {often}."


def best_named(scores: Sequence[str], *, elsewhere: bool) -> str:
    """Return what the best of some scores is called; "" of none.

    ``elsewhere``: it was chosen on other answers than it is measured on.
    """
    if not scores[1:]:
        return "".join(scores)
    return f"the best of {len(scores)} scores{', chosen on other answers,' * elsewhere}"


class Example(NamedTuple):
    """An answer at the top of a page, and what it is an example of.

    ``kind`` is a verdict of :data:`sayso.report.answers.LABELS`, or empty; ``note`` is one sentence
    of evidence, such as what the draws said.
    """

    what: str
    question: str
    truth: str
    answer: str
    kind: str = ""
    note: str = ""


class ChosenExamples(NamedTuple):
    """Answers at the top of a page, and by which rule they were chosen."""

    shown: Sequence[Example]
    rule: str


NO_EXAMPLES = ChosenExamples((), "")


class PageOpening(NamedTuple):
    """What a page begins with.

    ``first`` are cautions that stand above the sentence, ``later`` those that stand below it.
    """

    sentence: str
    not_shown: str
    first: Sequence[str] = ()
    later: Sequence[str] = ()
    examples: ChosenExamples = NO_EXAMPLES
    void: bool = False


#: a share that the sentence of an opening rests on, after words that its range completes at "{}"
#: and the name of what lacks a verdict
HeadlineShare = tuple[str, str, Estimate]
#: of larger shares of answers without a verdict, the bounds stand before the sentence, or nothing
#: is said of the model
SOME, MOST = 0.1, 0.5


def unread_share(counted: Sequence[HeadlineShare]) -> float:
    """Return which part of the answers behind a sentence has no verdict, of its worst share."""
    return max((e.missing / max(e.missing + e.n, 1) for *_, e in counted), default=0.0)


def with_bounds(
    sentence: str,
    counted: Sequence[HeadlineShare],
    nothing: str = "nothing is said of them",
) -> str:
    """Return a sentence as far as there are verdicts for it, its bounds first where some lack.

    ``nothing`` stands in its place where most of them lack.
    """
    if not sentence or unread_share(counted) <= SOME:
        return sentence
    lacks = dict.fromkeys(f"{e.missing:,} of {e.missing + e.n:,} {of}" for _, of, e in counted)
    lack = f"{' and '.join(lacks)} have no verdict"
    if unread_share(counted) > MOST:
        return f"{lack}, because the answers are empty, failed, or could not be read: {nothing}."
    ranges = []
    for words, _, e in counted:
        low = e.bound_low if e.bound_low is not None else (e.value or 0.0) * e.n / (e.n + e.missing)
        high = e.bound_high if e.bound_high is not None else low + e.missing / (e.n + e.missing)
        ranges.append(words.format(f"{percent(low, 0)} to {percent(high, 0)}"))
    return f"{lack}; whatever it would be, {' and '.join(ranges)}. {sentence}"


def invented_model(models: Sequence[str]) -> list[str]:
    """Return what stands above every number of the built-in model; nothing of other models."""
    text = (
        "The built-in model is invented: its numbers show that sayso works, and nothing about real "
        "language models."
    )
    return [text] if models and all(model.startswith("builtin") for model in models) else []


def open_page(
    manifest: Manifest | None,
    sentence: str,
    not_shown: str,
    *,
    later: Sequence[str] = (),
    counted: Sequence[HeadlineShare] = (),
) -> PageOpening:
    """Return the opening of a run, without examples.

    ``not_shown`` is the end of a sentence. What must be known of model and judge stands above the
    sentence, and cautions of the run after it. Those that are among ``later`` stand below the
    sentence: they qualify numbers, and do not make it doubtful. The sentence rests on the shares
    ``counted``.
    """
    cautions = [line(text, 1_000) for text in manifest.cautions] if manifest is not None else []
    below = {line(text, 1_000) for text in later}
    prompted = bool(manifest and manifest.settings.get("system"))
    return PageOpening(
        with_bounds(sentence, counted, "this run says nothing about the model")
        + " It was asked with a system prompt." * prompted,
        f"{not_shown}.",
        [
            *invented_model([manifest.model] if manifest is not None else []),
            *warned(manifest),
            *(text for text in cautions if text not in below),
        ],
        [text for text in cautions if text in below],
        void=unread_share(counted) > MOST,
    )


def example(
    what: str, question: str, truth: str, answer: str, *, kind: str = "", note: str = ""
) -> Example:
    """Return an example of texts that others wrote: made harmless, and cut where they are long."""
    shown = block(answer[: MOST_ANSWER + 1]).strip()
    if len(shown) > MOST_ANSWER:
        shown = f"{shown[: MOST_ANSWER - 1].rstrip()}…"
    return Example(
        line(what, 120),
        line(question, MOST_QUESTION),
        line(truth, MOST_QUESTION),
        shown,
        kind,
        line(note, MOST_QUESTION),
    )


def middle(items: Sequence[Item], size: Callable[[Item], float]) -> Item | None:
    """Return the item of median size, the earlier one of equals; ``None`` of none."""
    if not items:
        return None
    order = sorted(range(len(items)), key=lambda at: (size(items[at]), at))
    return items[order[(len(items) - 1) // 2]]


def shown_words(answer: ShownAnswer) -> str:
    """Return the shown text of an answer."""
    return "".join(piece.text for piece in answer.pieces)


#: what an answer is an example of, and which facts have such an answer
Kind = tuple[str, Callable[[ShownFact], bool]]


def fact_examples(facts: Sequence[ShownFact], kinds: Sequence[Sequence[Kind]]) -> ChosenExamples:
    """Return short answers: one of each group of kinds, then a typical one.

    Of a group the first kind counts that has an answer. Typical is the kind (known or not, and the
    verdict) that most facts are of. No answer is shown twice.
    """
    asked = [fact for fact in facts if fact.short is not None and fact.short_reading is not None]
    chosen: list[tuple[str, ShownFact]] = []
    absent = []
    for group in kinds:
        found = (
            (what, middle([f for f in asked if belongs(f)], _length)) for what, belongs in group
        )
        held = [(what, fact) for what, fact in found if fact is not None]
        chosen += held[:1]
        if asked and (not held or held[0][0] != group[0][0]):
            absent.append(f" No answer is an example of {group[0][0][0].lower()}{group[0][0][1:]}.")
    taken = {id(fact) for _, fact in chosen}
    typical = middle([fact for fact in _commonest(asked) if id(fact) not in taken], _length)
    if typical is not None:
        chosen.append(("A typical answer", typical))
    rule = f"{BY_LENGTH} Typical: from the most common kind.{''.join(absent)}"
    return ChosenExamples([_of_fact(what, fact) for what, fact in chosen], rule)


def _commonest(facts: Sequence[ShownFact]) -> list[ShownFact]:
    """Return the facts of the commonest kind, of equals the first that occurs."""
    kinds: dict[tuple[str, str], list[ShownFact]] = {}
    for fact in facts:
        reading = fact.short_reading
        if reading is not None and reading.kind != "missing" and fact.known != "missing":
            kinds.setdefault((fact.known, reading.kind), []).append(fact)
    return max(kinds.values(), key=len, default=[])


def _length(fact: ShownFact) -> float:
    return len(shown_words(fact.short)) if fact.short is not None else 0


def _of_fact(what: str, fact: ShownFact) -> Example:
    assert fact.short is not None
    assert fact.short_reading is not None
    right, _, drawn = fact.hits.partition("/")
    note = f"It was right in {right} of {drawn} draws." if drawn else ""
    if fact.short_reading.stance == REFUSAL:
        note = f"Read as a refusal by policy. {note}".strip()
    return example(
        what, fact.question, fact.golds, shown_words(fact.short), kind=fact.short_reading.kind,
        note=note,
    )  # fmt: skip
