"""From long answers to claims with a verdict: the steps that texts of any origin go through.

``verdicts/long`` says of each answer whether it answers; ``sentences/long`` and ``claims/long``
what it is made of, read by ``verdicts/long-claims``; ``passages/long`` what was found for the
claims, and ``verdicts/long-support`` whether it supports them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sayso.engines.engine import Engine
from sayso.judges.claim_questions import GapQuestions, LlmQuestions, QuestionAnswer, check_pair
from sayso.judges.claims import Claimed, LlmClaims, RulesClaims, unresponsive
from sayso.judges.judge import Item, Judge, engine_of
from sayso.judges.self_judgement import orders
from sayso.judges.support import LlmSupport, NliSupport, RulesSupport, Supported
from sayso.protocols.protocol import Run
from sayso.protocols.self_known.rows import RESPONSIVE, STAGE, SUPPORT
from sayso.protocols.self_known.settings import Settings, modes_of
from sayso.records import (
    Claim,
    Generation,
    InputError,
    Passage,
    Question,
    Sentence,
    Verdict,
    content_id,
)
from sayso.scores.collect import Tools


class Maker(Protocol):
    """Whoever turns claims into questions."""

    signature: str

    def read(self, pairs: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], QuestionAnswer]:
        """Return question and answer of each (topic, claim)."""


#: the phrases of PROTOCOLS 4.A.2, counted from here
FILTER = "phrases@1"


class Splitter(Protocol):
    """Whoever takes texts apart."""

    signature: str

    def read(self, pairs: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], Claimed]:
        """Return sentences and claims of each (topic, text)."""


class Checker(Protocol):
    """Whoever says whether passages support a claim."""

    signature: str

    def read(
        self, items: Sequence[tuple[str, str, tuple[Passage, ...]]], *, apart: bool = False
    ) -> list[Supported]:
        """Return a label for each (topic, claim, passages); ``apart``: by its own passages only."""


def topic_of(question: Question) -> str:
    """Return what a text is about: its entity, else its prompt."""
    return question.entity or question.text


def keep_responsive(run: Run, generations: Iterable[Generation]) -> list[Generation]:
    """Store which answers answer, and return those that do."""
    verdicts, kept = [], []
    for g in generations:
        if g.problem is not None:
            verdict = Verdict(g.id, g.question, FILTER, problem="failed")
        else:
            phrase = unresponsive(g.text)
            label = "unresponsive" if phrase else RESPONSIVE
            verdict = Verdict(g.id, g.question, FILTER, label=label, raw=phrase)
            if phrase is None:
                kept.append(g)
        verdicts.append(verdict)
    run.put(f"verdicts/{STAGE}", verdicts, Verdict)
    return kept


def take_apart(
    run: Run, kept: Sequence[Generation], by_id: Mapping[str, Question], splitter: Splitter
) -> list[Claim]:
    """Store sentences and claims of these answers, and return the claims."""
    pairs = [(topic_of(by_id[g.question]), g.text) for g in kept]
    read = splitter.read(pairs)
    sentences, claims, verdicts = [], [], []
    for g, pair in zip(kept, pairs, strict=True):
        found = read[pair]
        sentences += [
            Sentence(g.id, number, span.start, span.end)
            for number, span in enumerate(found.sentences, 1)
        ]
        for number, d in enumerate(found.drafts):
            key = content_id([g.id, "claim", number, d.text])
            claims.append(Claim(key, g.id, d.sentence, d.start, d.end, d.text))
        label = None if found.problem else "read"
        verdicts.append(
            Verdict(g.id, g.question, splitter.signature, label=label, problem=found.problem)
        )
    run.put(f"sentences/{STAGE}", sentences, Sentence)
    run.put(f"claims/{STAGE}", claims, Claim)
    run.put(f"verdicts/{STAGE}-claims", verdicts, Verdict)
    return claims


def check_claims(
    run: Run,
    claims: Sequence[Claim],
    asked: Mapping[str, Question],
    checker: Checker,
    source: str,
    k: int,
) -> list[Verdict]:
    """Look every claim up and store whether the passages support it; each pair is asked once.

    ``asked`` gives the question of each answer by the answer's id. Claims of equal words about
    one topic are looked up and checked once. Where only a prompt is known and no topic, the whole
    source is searched, and a passage must name whom the claim is about.
    """
    keys = [(asked[c.generation].entity or "", c.text) for c in claims]
    unique = list(dict.fromkeys(keys))
    passages = dict(zip(unique, run.search(source, unique, k), strict=True))
    read = checker.read([(topic, text, passages[topic, text]) for topic, text in unique])
    found = dict(zip(unique, read, strict=True))
    verdicts = []
    for c, key in zip(claims, keys, strict=True):
        one = found[key]
        verdicts.append(
            Verdict(
                c.id,
                asked[c.generation].id,
                checker.signature,
                label=one.label,
                evidence=one.evidence or tuple(p.id for p in passages[key]),
                problem=one.problem,
            )
        )
    seen = {p.id: p for some in passages.values() for p in some}
    run.put(f"passages/{STAGE}", list(seen.values()), Passage)
    run.put(f"verdicts/{SUPPORT}", verdicts, Verdict)
    return verdicts


# Claims that tell a fact which the data ask for in words of their own.
#
# Data in UNCLE's format have a short question for every aspect of a paragraph. A claim that
# tells
# the value of one is asked of by that question instead of a made one.

#: who made such a question
BY_DATA = "data"


def read_aspects(
    run: Run, kept: Sequence[Generation], by_id: Mapping[str, Question], judge: Judge
) -> None:
    """Judge every fact that the data ask for in these texts; nothing where they ask for none."""
    parts = [(g, tuple(by_id[p] for p in by_id[g.question].parts)) for g in kept]
    items = [Item(g, own) for g, own in parts if own]
    if items:
        run.grade(f"{STAGE}-aspects", items, judge)


def own_questions(
    run: Run,
    claims: Sequence[Claim],
    texts: Mapping[str, Generation],
    by_id: Mapping[str, Question],
) -> dict[str, QuestionAnswer]:
    """Return the data's own question, with the value that is told, by the claim's id.

    A claim has one if the value of one fact, and of no other, stands both in its span and in its
    words. One that would give its answer away, or not name its subject, is left to be made.
    """
    if not run.has(f"verdicts/{STAGE}-aspects"):
        return {}
    told: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for v in run.verdicts(f"{STAGE}-aspects"):
        if v.answer_start is not None and v.answer_end is not None:
            told[v.target].append((v.answer_start, v.answer_end, v.asked))
    found = {}
    for c in claims:
        text = texts[c.generation].text
        words = _plain(c.text)
        own = {
            (asked, text[start:end].strip())
            for start, end, asked in told[c.generation]
            if c.start <= start and end <= c.end and _plain(text[start:end]) in words
        }
        if len({asked for asked, _ in own}) != 1:
            continue
        asked, value = max(own, key=lambda pair: len(pair[1]))
        made = check_pair(topic_of(by_id[texts[c.generation].question]), by_id[asked].text, value)
        if made.problem is None:
            found[c.id] = made
    return found


def _plain(text: str) -> str:
    """Return a text between spaces, without case and marks: so that "art" is not in "party"."""
    return f" {' '.join(''.join(x if x.isalnum() else ' ' for x in text.casefold()).split())} "


# Who takes texts apart, checks claims and makes questions: rules, an NLI model, the judge's.


def _engine(what: str, how: str, judge: Any) -> Engine | None:
    """Return the judge's model if it is to do this; ``None`` for rules. Raises InputError."""
    engine = engine_of(judge)
    if how == "rules" or (how == "auto" and engine is None):
        return None
    if engine is None:
        raise InputError(f"{what} judge: the judge {judge.name} is no model; say --judge MODEL")
    return engine


def _folder(settings: Settings) -> Path | None:
    return Path(settings.prompt_folder) if settings.prompt_folder else None


def splitter_of(settings: Settings, judge: Any) -> Splitter:
    """Open whoever takes texts apart."""
    engine = _engine("claims", settings.claims, judge)
    if engine is None:
        return RulesClaims()

    return LlmClaims(engine, _folder(settings))


def checker_of(settings: Settings, judge: Any, tools: Callable[[str], Tools]) -> Checker:
    """Open whoever checks claims against passages; ``tools`` gives an NLI model by its name."""
    if settings.support == "nli":
        meaning = tools(settings.nli).meaning
        if meaning is None or meaning.name == "rules":
            raise InputError("support nli: no NLI model can be opened here; name one with --nli")
        return NliSupport(meaning)
    engine = _engine("support", settings.support, judge)
    return RulesSupport() if engine is None else LlmSupport(engine, _folder(settings))


def maker_of(settings: Settings, judge: Any) -> Maker:
    """Open whoever turns claims into questions: never the model that is asked, unless it judges."""
    engine = _engine("questions", settings.questions, judge)
    return GapQuestions() if engine is None else LlmQuestions(engine, _folder(settings))


def unpriced(questions: Sequence[Question], settings: Settings, judge: Any) -> list[str]:
    """Return what a run asks beside its texts: how many claims they have is not known before."""
    ways = sum(len(orders(mode, settings.orders)) for mode in modes_of(settings))
    found = []
    if ways:
        found.append(
            f"not in the table: the model is asked {ways} times about each claim of its texts, or "
            f"reads the options' letters where its probabilities can be read (modes "
            f"{settings.modes})"
        )
    model = engine_of(judge)
    asks = {"claims": settings.claims, "support": settings.support, "questions": settings.questions}
    by_model = [
        name
        for name, how in asks.items()
        if how == "judge" or (how == "auto" and model is not None)
    ]
    if model is not None and by_model:
        found.append(
            f"not in the table: the judge's model reads {', '.join(by_model)}, a call for up to 12 "
            "sentences or claims each"
        )
    if settings.remedy == "revise":
        found.append("not in the table: every text with a rejected claim is asked for once more")
    return found
