"""The offline judge: stance and content of an answer in one go.

Stance is learned from labeled text (``reading``, ``alignment``); right or wrong are rules over
values (``matching``). Deterministic, English, no model and no network. Decisions to know:

* A hedged answer keeps its content; abstaining, refusing and asking back have content "none".
* A short answer that says something else than what was asked is committed and incorrect: it voices
  no gap. Only an empty one is "omitted", and an aspect of which a paragraph says nothing.
* An approximate value ("about 5,000") is committed; whether it agrees, the matcher says.
* ``certainty`` is the calibrated probability of the stance; at most ``DISPUTED`` where the words
  of a committed sentence have a low decisiveness.
* Other languages, texts beyond the budget, failed and truncated generations are problems; none of
  them gets a default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial

import msgspec
import numpy as np

from sayso.datasets.dataset import DENIES
from sayso.datasets.tables import WRITTEN_OUT
from sayso.judges.decisiveness import voices_doubt
from sayso.judges.english.dates import find_dates, gold_dates
from sayso.judges.english.language import (
    has_foreign_month,
    has_foreign_words,
    is_english,
    says_more,
)
from sayso.judges.english.lexicon import lexicon_words
from sayso.judges.english.other_languages import (
    MOST_WORDS,
    is_set_phrase,
    plain,
    plain_words,
    silent_elsewhere,
)
from sayso.judges.english.sentences import Span
from sayso.judges.english.tokens import HYPHENATED
from sayso.judges.english.wrapping import Said, unwrapped
from sayso.judges.judge import WITHHELD, Item, Judge, credit_withholding, golds_to_compare
from sayso.judges.patterns import regex
from sayso.judges.rules.alignment import AlignedParagraph
from sayso.judges.rules.matching import Match, asserted, match
from sayso.judges.rules.polarity import gold_polarity, is_only_polarity
from sayso.judges.rules.reading import (
    STANCES,
    AskedAspect,
    Sentence,
    aspect_of,
    has_kind,
    load_weights,
    marks_of,
    stretch_words,
)
from sayso.judges.rules.silence import is_token, speaks_of_itself
from sayso.judges.rules.voiced import likeliest, limited_chances, voiced
from sayso.metrics.arrays import Floats
from sayso.processes import blocks_in_processes
from sayso.prompts.thoughts import Split
from sayso.records import (
    Content,
    Generation,
    Gold,
    InputError,
    Question,
    Request,
    Stance,
    Verdict,
    golds_of,
    is_blank,
)

NAME = "rules"
SIGNATURE = "rules@11"
#: No word is this long; such a run is noise that would only cost time.
_ENDLESS = regex(r"\S{200,}+")
_NEGATIONS = lexicon_words("negations", "judge")
_WITHHOLDING = ("ignorant", "policy", "ask")
#: what is judged of one answer at most: characters, and clauses of a paragraph (problem "budget")
LONGEST = 20_000
MOST_CLAUSES = 600
#: a clause speaks about as clearly of an aspect as the best one from this share of its fit on
CLEARLY = 0.33
#: so many of them are read
MOST_LATER = 8


def missing(problem: str) -> Verdict:
    """Return a verdict without a value."""
    return Verdict(target="", asked="", by=SIGNATURE, problem=problem)


def make_verdict(
    stance: Stance,
    content: Content = "none",
    where: Span | None = None,
    value: Span | None = None,
    certainty: float = 1.0,
) -> Verdict:
    """Return a verdict that was read; ``where`` is the sentence, ``value`` the value inside it."""
    return Verdict(
        target="",
        asked="",
        by=SIGNATURE,
        stance=stance,
        content=content,
        start=where.start if where else None,
        end=where.end if where else None,
        answer_start=value.start if value else None,
        answer_end=value.end if value else None,
        certainty=round(certainty, 3),
    )


#: certainty of a committed verdict on words that voice doubt by their decisiveness; labels agreed
#: with 9 of 17 such verdicts (benchmarks/readers/trained.md)
DISPUTED = 0.5


def _less_certain(verdict: Verdict, text: str) -> Verdict:
    """Return a verdict with what the reader of decisiveness makes of the same sentence."""
    if verdict.stance != "committed" or not voices_doubt(text[verdict.start : verdict.end]):
        return verdict
    return msgspec.structs.replace(verdict, certainty=min(verdict.certainty or 0.0, DISPUTED))


#: a true value, or several of which any one suffices
Golds = str | Gold | Sequence[str | Gold]


def judge_rules(question: str, golds: Golds, answer: str) -> Verdict:
    """Judge a short answer to one question; offline, deterministic.

    Each gold is a true value; any one suffices; a text alone is one gold. ``target`` and ``asked``
    are left empty. An empty answer is omitted; running text in another language has problem
    "language". Never raises on any text; raises InputError on what is no text.
    """
    _check_texts(question=question, answer=answer)
    return _unwrapped_short(aspect_of(question, golds_of(golds)), answer)


def judge_rules_long(parts: Sequence[tuple[str, Golds]], paragraph: str) -> list[Verdict]:
    """Judge a paragraph for each (question, golds) of ``parts``, in their order.

    An aspect of which nothing is said is omitted. Otherwise as :func:`judge_rules`.
    """
    _check_texts(paragraph=paragraph)
    for part in parts:
        if isinstance(part, str) or not isinstance(part, Sequence) or len(part) != 2:
            raise InputError(
                f"a part is {part!r:.80}; expected a list of pairs, each a question and its golds"
            )
        _check_texts(question=part[0])
    aspects = [aspect_of(question, golds_of(golds)) for question, golds in parts]
    return _unwrapped_long(aspects, paragraph)


def _check_texts(**texts: object) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{name} is {text!r:.80}; expected a text")


#: questions of a block of answers, of which a process reads one at a time; those of a paragraph
#: take several times as long; blocks up to which processes would take longer to start than to read
BLOCK, OF_PARAGRAPH, BLOCKS = 1000, 6, 48


class RulesJudge:
    """The offline readers as a :class:`~sayso.judges.judge.Judge`.

    Many answers are read by ``jobs`` processes; the verdicts are the same for any number.
    """

    name = NAME
    signature = SIGNATURE

    def __init__(self, jobs: int = 1) -> None:
        """Read in so many processes."""
        self.jobs = jobs

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; see ``judge_rules``."""
        if self.jobs == 1:
            return _grade_block(items)
        graded = blocks_in_processes(_grade_block, _blocks(items), self.jobs, BLOCKS)
        return [verdict for block in graded for verdict in block]

    def grade_beside(
        self, items: Sequence[Item], other: Judge, others: Collection[str]
    ) -> tuple[list[Verdict], list[Verdict]]:
        """Return the verdicts of :meth:`grade`, and another judge's on the answers ``others``.

        ``others`` are ids of answers. Both judges read a block before the next one: offline rules
        with other golds then need not find the sentences of an answer again, nor what they voice.
        """
        both = partial(_grade_both, other, frozenset(others))
        graded = list(blocks_in_processes(both, _blocks(items), self.jobs, BLOCKS))
        mine, theirs = ([v for block in graded for v in block[n]] for n in (0, 1))
        return mine, theirs


def _grade_block(items: Sequence[Item]) -> list[Verdict]:
    return [verdict for item in items for verdict in _grade(item)]


def _grade_both(
    other: Judge, others: frozenset[str], items: Sequence[Item]
) -> tuple[list[Verdict], list[Verdict]]:
    theirs = [item for item in items if item.generation.id in others]
    return _grade_block(items), other.grade(theirs)


def _blocks(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Yield the answers in blocks, without what the readers do not look at."""
    block: list[Item] = []
    size = 0
    for item in items:
        told = item.generation
        bare = Generation(
            Request(()), id=told.id, form=told.form, text=told.text, problem=told.problem
        )
        block.append(Item(bare, item.questions))
        size += 1 if _is_short(item) else OF_PARAGRAPH * len(item.questions)
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _is_short(item: Item) -> bool:
    return item.generation.form != "long" and len(item.questions) == 1


def _grade(item: Item) -> list[Verdict]:
    generation = item.generation
    problem = generation.problem
    if problem is not None:
        problem = problem if problem in ("truncated", "empty") else "failed"
        verdicts = [missing(problem) for _ in item.questions]
    elif _is_short(item):
        verdicts = [_unwrapped_short(_aspect(item.questions[0]), generation.text)]
    else:
        verdicts = _unwrapped_long([_aspect(q) for q in item.questions], generation.text)
    return [
        msgspec.structs.replace(credit_withholding(q, verdict), target=generation.id, asked=q.id)
        for verdict, q in zip(verdicts, item.questions, strict=True)
    ]


def _aspect(question: Question) -> AskedAspect:
    aspect = question.aspect
    hint = f"{aspect.description} {aspect.label}" if aspect else ""
    return aspect_of(question.text, golds_to_compare(question), hint.strip(), question.entity)


#: asks for words of a language: "How do you say … in Spanish?", "What is the French word for …?"
_LANGUAGE = r"[A-Z][a-z]+(?:ish|ese|an|ic|ch|in|ek|di|ew|ai|ili)\b"
_ASKS_FOR_WORDS = regex(
    rf"\b(?:say|translate|word|phrase|term|express)\b.{{0,200}}\bin(?:to)? {_LANGUAGE}"
    rf"|\b{_LANGUAGE} (?:word|phrase|term|expression|translation|for)\b"
)

#: begins with a capital, and has neither numbers nor ends of clauses and sentences
_TITLE = regex(r"\s*(?=[^\W\d_])(?![a-z])[^\d.,;:!?]+")


def _foreign(text: str, aspects: Sequence[AskedAspect]) -> Verdict | None:
    """Return the verdict on a text in another language; ``None`` for English and for a gold.

    Words of the questions have no language, nor have words that they ask for. Names may be in a
    script of the golds, or of the questions where no gold is known. Only silence is read in other
    languages, by set phrases.
    """
    golds = [name for aspect in aspects for gold in aspect.given for name in gold.names]
    questions = " ".join(aspect.question[:2000] for aspect in aspects)
    more = says_more(text, golds, questions)
    if plain_words(text) in map(plain_words, golds) or (not more and is_english(text)):
        return None
    if len(text.split()) <= MOST_WORDS and (
        _ASKS_FOR_WORDS.search(questions) or (not more and _may_be_another_title(text, golds))
    ):
        return None
    neutral = {w.lower() for w in HYPHENATED.findall(questions)}
    kept = [w for w in text.split() if w.strip(".,;").lower() not in neutral]
    enough = not more and (len(kept) > 3 or not any(w[0].islower() for w in kept))
    if enough and not is_set_phrase(text) and is_english(" ".join(kept)):
        return None
    if not silent_elsewhere(text):
        return missing("language")
    start = len(text) - len(text.lstrip())
    return make_verdict("abstained", where=Span(start, len(text.rstrip())))


def _may_be_another_title(text: str, golds: Sequence[str]) -> bool:
    """Return whether a gold is a title that is no English, and a text may be another one."""
    if not _TITLE.fullmatch(text) or is_set_phrase(text, title=True):
        return False
    told = plain(text)
    return any(map(has_foreign_words, golds)) and not any(plain(gold) in told for gold in golds)


# ---- wrappings


def _unwrapped_short(aspect: AskedAspect, answer: str) -> Verdict:
    said = unwrapped(answer, _is_address(aspect), aspect.question)
    return _as_stated(_placed(_short(aspect, said.split.text), said.split), said)


def _unwrapped_long(aspects: list[AskedAspect], paragraph: str) -> list[Verdict]:
    said = unwrapped(paragraph, any(map(_is_address, aspects)))
    verdicts = _long(aspects, said.split.text)
    return [_as_stated(_placed(verdict, said.split), said) for verdict in verdicts]


#: A label with a lower confidence hedges. Models that are asked for a number call nearly all of
#: their answers 90 % sure or more; in a sentence anything below 100 % hedges.
SURE_LABEL = 0.9


def _as_stated(verdict: Verdict, said: Said) -> Verdict:
    """Return a verdict that is hedged where a low confidence stands beside what it commits to."""
    place = verdict.start if verdict.answer_start is None else verdict.answer_start
    if verdict.stance != "committed" or verdict.problem is not None or place is None:
        return verdict
    speaking = (one for one in said.stated if one.speaks_of(place))
    low = any(one.share < (SURE_LABEL if one.kind == "label" else 1) for one in speaking)
    return msgspec.structs.replace(verdict, stance="hedged") if low else verdict


def _is_address(aspect: AskedAspect) -> bool:
    """Whether what is asked for may be an address: "example.org"."""
    names = (name.strip(" .") for gold in aspect.given for name in gold.names)
    return any("." in name and " " not in name for name in names)


def _placed(verdict: Verdict, split: Split) -> Verdict:
    """Return a verdict whose places are those of the text before it was unwrapped."""
    if not split.kept:
        return verdict
    spans = {}
    for first, last in (("start", "end"), ("answer_start", "answer_end")):
        low, high = getattr(verdict, first), getattr(verdict, last)
        if low is not None and high is not None:
            spans.update({first: split.place(low), last: split.place(high - 1) + 1})
    return msgspec.structs.replace(verdict, **spans) if spans else verdict


# ---- short answers


@lru_cache(maxsize=65536)
def _short(aspect: AskedAspect, answer: str) -> Verdict:
    if is_blank(answer):
        return make_verdict("omitted")
    if len(answer) > LONGEST:
        return missing("budget")
    if (foreign := _foreign(answer, [aspect])) is not None:
        return foreign
    rows, chances = voiced(aspect._replace(golds=(), given=()), answer)
    if not rows:
        return make_verdict("omitted")
    stance, certainty = likeliest(chances)
    if stance in WITHHELD and (_is_gold(rows, aspect) or _is_yes_or_no(aspect, answer, rows)):
        stance, certainty = "committed", _of_gold(chances)
    if stance in WITHHELD:
        same = declines(aspect.question, [gold.value for gold in aspect.given])
        content: Content = "correct" if same else "none"
        return make_verdict(stance, content, _withholding(rows), certainty=certainty)
    if not aspect.given:
        return missing("unread")
    text = _readable(answer)
    found = match(aspect.question, aspect.given, text)
    said = found, Span(0, len(text))
    return _read_as(aspect, (stance, certainty), said, text, (rows, _stretch(rows[0])))


def _read_as(
    aspect: AskedAspect,
    likely: tuple[Stance, float],
    said: tuple[Match, Span],
    text: str,
    sentences: tuple[Sequence[Sentence], Span],
) -> Verdict:
    """Return the verdict on what ``said`` of a text, with the stance and certainty ``likely``.

    ``sentences`` are all, and the one that speaks of the aspect where there is no value.
    """
    (stance, certainty), (found, where), (rows, home) = likely, said, sentences
    if _month_unread(aspect, found, text[where.start : where.end]):
        return missing("language")
    content: Content = found.content
    if content == "none" and stance == "committed":
        content = "incorrect"
    value = _value(aspect, found, text, where)
    at = _sentence_at(rows, value) if value else home
    return _less_certain(make_verdict(stance, content, at, value, certainty), text)


def declines(question: str, golds: Sequence[str]) -> bool:
    """Tell whether all golds of a question say that there is no answer: "Not in the context."."""
    return bool(golds) and all(
        gold in WRITTEN_OUT
        or (DENIES.search(gold) and judge_rules(question, (), gold).stance in WITHHELD)
        for gold in golds
    )


def _is_gold(rows: Sequence[Sentence], aspect: AskedAspect) -> bool:
    """Whether what sounds like not knowing is itself the true answer: "The cause is unknown.".

    So is a sentence that is a gold, word for word. Of the writer's own ignorance none is.
    """
    for row in rows:
        said = [word.text for word in row if word.raw[0].isalnum()]
        own = speaks_of_itself(row)
        for gold in aspect.golds:
            text = " ".join(gold)
            if list(gold) == said:
                return True
            if own or f" {text} " not in f" {' '.join(said)} ":
                continue
            told = stretch_words(text)
            marks = [mark for mark in marks_of(told) if mark.kind == "ignorant"]
            if len({at for m in marks for at in range(m.start, m.end)}) == len(told) > 0:
                return True
    return False


def _is_yes_or_no(aspect: AskedAspect, answer: str, rows: Sequence[Sentence]) -> bool:
    """Whether an answer says yes or no and nothing else, where one of them is true."""
    known = gold_polarity(aspect.question, aspect.given) is not None
    return known and not is_token(rows, aspect) and is_only_polarity(aspect.question, answer)


def _of_gold(chances: Floats) -> float:
    """Return the certainty of a stated "unknown": learned, or even odds after a rule."""
    return float(chances[STANCES.index("committed")]) or 0.5


def _month_unread(aspect: AskedAspect, found: Match, text: str) -> bool:
    """Return whether only a year agrees, beside a month that is no English: "8. Juni 1945"."""
    dates = (d for g in aspect.given for n in g.names for d in gold_dates(n, g.precision, g.kind))
    return (
        found.why == "date"
        and found.content == "correct"
        and any(d.month for d in dates)
        and not any(d.month for d in find_dates(text[found.start : found.end]))
        and has_foreign_month(text)
    )


def _readable(text: str) -> str:
    """Return a text without endless runs, each replaced by as many spaces."""
    return _ENDLESS.sub(lambda run: " " * len(run.group()), text)


def _value(aspect: AskedAspect, found: Match, text: str, where: Span) -> Span | None:
    """Return the span of the value; ``found`` was matched on ``text[where.start:where.end]``."""
    low, high = where
    if found.start is not None and found.end is not None:
        span = Span(low + found.start, low + found.end)
        if found.content == "correct" or aspect.kind in ("date", "number"):
            return span
    known = _words_of(aspect.question)
    value = asserted(text, low, high, aspect.kind, known, aspect.cues)
    words = list(HYPHENATED.finditer(text, low, high)) if value is None else []
    if words and len(words) <= 6:
        return Span(words[0].start(), words[-1].end())
    return value


@lru_cache(maxsize=1024)
def _words_of(question: str) -> frozenset[str]:
    return frozenset(word.lower() for word in HYPHENATED.findall(question[:2000]))


def _sentence_at(rows: Sequence[Sentence], value: Span) -> Span:
    """Return the sentence of a value."""
    spans = [_stretch(row) for row in rows]
    return next((s for s in spans if s.start <= value.start < s.end), spans[0])


def _withholding(rows: Sequence[Sentence]) -> Span:
    """Return the sentence that says most of not knowing, not telling or asking back."""
    counts = [sum(mark.kind in _WITHHOLDING for mark in marks_of(row)) for row in rows]
    return _stretch(rows[counts.index(max(counts))])


# ---- paragraphs


def _long(aspects: list[AskedAspect], paragraph: str) -> list[Verdict]:
    if not aspects or is_blank(paragraph):
        return [make_verdict("omitted") for _ in aspects]
    if len(paragraph) > LONGEST:
        return [missing("budget") for _ in aspects]
    if (foreign := _foreign(paragraph, aspects)) is not None:
        return [foreign for _ in aspects]
    asked = tuple(aspect._replace(golds=(), given=()) for aspect in aspects)
    keep = len(paragraph) <= LONGEST_KEPT
    text, chances = (_read if keep else _read.__wrapped__)(paragraph, asked)
    if not text.clauses:
        return [make_verdict("omitted") for _ in aspects]
    if not chances:
        return [missing("budget") for _ in aspects]
    readable = _readable(paragraph)
    golds = zip(text.aspects, aspects, strict=True)
    every = [asked._replace(golds=own.golds, given=own.given) for asked, own in golds]
    return [_of_aspect(text, readable, j, every[j], chances[j]) for j in range(len(every))]


#: a longer paragraph is read again for other golds
LONGEST_KEPT = 4000


@lru_cache(maxsize=512)
def _read(
    paragraph: str, aspects: tuple[AskedAspect, ...]
) -> tuple[AlignedParagraph, list[Floats]]:
    """Return a paragraph and the chances of the stances towards each aspect, whatever is true.

    No chances where there is nothing to read, or too much.
    """
    text = AlignedParagraph(paragraph, aspects)
    if not 0 < len(text.clauses) <= MOST_CLAUSES:
        return text, []
    text.align()
    chances = text.chances(load_weights("spoken"), load_weights("stance"))
    del text.pairs  # nothing reads them any more, and they are large
    return text, [
        limited_chances(chances[j], text.context_of(j) or text.rows, aspect)
        for j, aspect in enumerate(text.aspects)
    ]


def _of_aspect(
    text: AlignedParagraph, readable: str, j: int, aspect: AskedAspect, chances: Floats
) -> Verdict:
    rows = text.context_of(j) or text.rows
    stance, certainty = likeliest(chances)
    if stance == "omitted":
        return make_verdict(stance, certainty=certainty)
    if stance in WITHHELD and _is_gold(rows, aspect):
        stance, certainty = "committed", _of_gold(chances)
    if stance in WITHHELD:
        return make_verdict(stance, "none", _withholding(rows), certainty=certainty)
    if not aspect.given:
        return missing("unread")
    found, where = _found(text, readable, j, rows, aspect)
    home = _stretch(text.rows[text.clauses[text.best(j)[0]].sentence])
    return _read_as(aspect, (stance, certainty), (found, where), readable, (text.rows, home))


def _found(
    text: AlignedParagraph, readable: str, j: int, rows: Sequence[Sentence], aspect: AskedAspect
) -> tuple[Match, Span]:
    """Return what the clause of an aspect, its sentence or its context says, and where.

    "Not X, but Y" is read as a whole. A clause that gives nothing definite gives way to others that
    speak of the aspect about as clearly: "Saturn is often overlooked" to "it is the sixth planet".
    """
    best, fit = text.best(j)
    clause, home = text.words(text.clauses[best]), text.rows[text.clauses[best].sentence]
    # a clause that goes on about somebody named before it: "Ada Bo, ... was its author"
    named = aspect.kind == "person" and clause[0].text in ("was", "is", "were", "are")
    parts = [home] if named or _turns(clause, home) else []
    parts += [clause, home, *rows]
    if len({_stretch(part) for part in parts}) > 1:
        parts.sort(key=lambda part: not has_kind(part, aspect))
    # a name or a number that the question did not say
    told = [w for w in clause if (w.name or w.text[0].isdigit()) and w.text not in aspect.names]
    if aspect.kind == "any" and not told:
        others = sorted(np.flatnonzero(text.hits[:, j]), key=lambda i: -text.fits[j, i])[
            :MOST_LATER
        ]
        later = [text.words(text.clauses[i]) for i in others if text.fits[j, i] >= CLEARLY * fit]
    else:
        later = []
    first: tuple[Match, Span] | None = None
    for where in dict.fromkeys(map(_stretch, [*parts, *later])):
        found = match(aspect.question, aspect.given, readable[where.start : where.end])
        if found.content == "correct" or (found.content != "none" and not later):
            return found, where
        if first is None and found.content != "none":
            first = found, where
    return first or (found, _stretch(home))


def _stretch(part: Sentence) -> Span:
    """Return where words stand, from the first to the last."""
    return Span(part[0].start, part[-1].end)


def _turns(clause: Sentence, home: Sentence) -> bool:
    """Whether a sentence goes on with "but" behind a clause that denies something."""
    after = next((word.text for word in home if word.start >= clause[-1].end), "")
    return after in ("but", "rather") and any(w.text in _NEGATIONS for w in clause)
