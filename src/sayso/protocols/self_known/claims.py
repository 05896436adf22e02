"""From long answers to claims with verdicts and scores: the steps that texts of any origin go
through.

``verdicts/long`` says of each answer whether it answers; ``sentences/long`` and ``claims/long``
hold what it is made of, ``verdicts/long-claims`` how the splitting went (``raw``: what of the text
claims nothing, counted); ``passages/long`` holds what was retrieved for the claims,
``verdicts/long-support`` whether it supports them, ``verdicts/long-aspects`` the facts that the
data ask for, ``verdicts/long-decisive`` how surely each claim is worded, ``scores/claims`` every
uncertainty score of a claim.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.claim_questions import GapQuestions, LlmQuestions, QuestionAnswer, check_pair
from sayso.judges.claims import (
    ClaimDraft,
    Claimed,
    LlmClaims,
    RulesClaims,
    prompted_topic,
    told_unclaimed,
    unresponsive,
)
from sayso.judges.decisiveness import decisiveness
from sayso.judges.judge import Item, Judge, engine_of
from sayso.judges.support import LlmSupport, NliSupport, RulesSupport
from sayso.protocols.protocol import MADE_UP, Run, rows_if_any, stored_verdicts
from sayso.protocols.self_known.rows import RESPONSIVE, SET_ASIDE, STAGE, SUPPORT
from sayso.protocols.self_known.settings import CLAIM_SCORES, MAIN, STEPS, Settings, modes_of
from sayso.protocols.settings import folder_setting
from sayso.records import (
    Claim,
    Generation,
    InputError,
    Passage,
    Question,
    Score,
    Sentence,
    Verdict,
    content_id,
    is_blank,
)
from sayso.scores.claim import frequency, refused, span_max_nll, span_nll
from sayso.scores.collect import Tools
from sayso.scores.evidence import NoEvidence

# ---- who takes texts apart, checks claims and makes questions: rules, an NLI model, a model


#: takes texts apart; says whether passages support a claim; turns claims into questions
Splitter = RulesClaims | LlmClaims
Checker = RulesSupport | NliSupport | LlmSupport
QuestionMaker = GapQuestions | LlmQuestions


class ClaimReaders(NamedTuple):
    """Who takes texts apart, who checks their claims, against which source ("": none), and who
    turns claims into questions: never the model that is asked, unless it is named."""

    splitter: Splitter
    checker: Checker
    maker: QuestionMaker
    source: str

    @property
    def notices(self) -> list[str]:
        """What each of them has to say."""
        return [n for reader in self[:3] for n in getattr(reader, "notices", ())]


def open_claim_readers(settings: Settings, run: Run, source: str) -> ClaimReaders:
    """Open whoever reads the claims of a run. Raises InputError for one who cannot be had."""
    if source:
        run.search(source, (), settings.passages)
    model = {step: _reading(step, settings, run) for step in STEPS}
    checker = LlmSupport(*model["support"]) if model["support"] else RulesSupport()
    return ClaimReaders(
        LlmClaims(*model["claims"]) if model["claims"] else RulesClaims(),
        nli_checker(run.tools(settings.nli)) if settings.support == "nli" else checker,
        LlmQuestions(*model["questions"]) if model["questions"] else GapQuestions(),
        source,
    )


def nli_checker(tools: Tools) -> Checker:
    """Return an NLI model that checks claims. Raises InputError where there is none."""
    if tools.meaning is None or tools.meaning.name == "rules":
        raise InputError("support nli: no NLI model can be opened here; name one with --nli")
    return NliSupport(tools.meaning)


def _reading(step: str, settings: Settings, run: Run) -> tuple[Engine, Path | None] | None:
    """Return the model that is to do this step, and the folder of its prompts.

    ``None`` for whoever asks none. Raises InputError.
    """
    how, engine = getattr(settings, step), engine_of(run.judge)
    if how in ("rules", "nli") or (how == "auto" and engine is None):
        return None
    if how not in STEPS[step]:
        engine = run.engine(how)
    if engine is None:
        name = run.judge.name
        raise InputError(f"{step} judge: the judge {name} is not a model; pass --judge MODEL")
    return engine, folder_setting(settings.prompt_folder)


# ---- from answers to claims

#: the phrases of the paper's filter, counted from here
FILTER = "phrases@1"


def topic_of(question: Question) -> str:
    """Return what a text is about: its entity, else what its prompt names; "" if neither.

    Without a topic a text is about the name that opens it.
    """
    return question.entity or prompted_topic(question.text)


def drawn_topics(texts: Sequence[Generation], most: int, seed: int) -> frozenset[str] | None:
    """Return the questions drawn among those whose plain text answers; ``None``: all are kept.

    Each question has its place in the draw by itself, so that neither the order of the data nor
    another text that answers changes who comes first.
    """
    if not most:
        return None
    answer = [g for g in texts if g.method == "plain" and g.problem is None]
    ids = {g.question for g in answer if unresponsive(g.text) is None}
    return frozenset(sorted(ids, key=lambda one: content_id([one, "kept", seed]))[:most])


def told_of_drawn(
    texts: Sequence[Generation], drawn: frozenset[str] | None, most: int
) -> list[str]:
    """Return how many plain texts were asked for, answer and were drawn; nothing where all are."""
    if drawn is None:
        return []
    plain = [g for g in texts if g.method == "plain"]
    answer = len(drawn_topics(plain, len(plain), 0) or ())
    fewer = "" if len(drawn) == most else f", fewer than the {most:,} of keep_answered"
    return [
        f"self_known: of {len(plain):,} texts asked for, {answer:,} answer; {len(drawn):,} of "
        f"these were drawn{fewer}, and every number but the share that answers is of them"
    ]


def keep_responsive(
    run: Run, generations: Iterable[Generation], drawn: frozenset[str] | None = None
) -> list[Generation]:
    """Store which answers answer, and return those that do: of the questions ``drawn``, if any."""
    verdicts, kept = [], []
    for g in generations:
        if g.problem not in (None, "empty"):
            verdict = Verdict(g.id, g.question, FILTER, problem="failed")
        else:
            phrase = unresponsive(g.text)
            label = "unresponsive" if phrase else RESPONSIVE
            if phrase is None and drawn is not None and g.question not in drawn:
                label = SET_ASIDE
            verdict = Verdict(g.id, g.question, FILTER, label=label, raw=phrase)
            if label == RESPONSIVE:
                kept.append(g)
        verdicts.append(verdict)
    run.folder.write(f"verdicts/{STAGE}", verdicts, Verdict)
    return kept


def take_apart(
    run: Run, kept: Sequence[Generation], by_id: Mapping[str, Question], splitter: Splitter
) -> list[Claim]:
    """Store sentences and claims of these answers, each claim of a text once; return the claims."""
    pairs = [(topic_of(by_id[g.question]), g.text) for g in kept]
    split = splitter.read(pairs)
    sentences, claims, verdicts = [], [], []
    for g, pair in zip(kept, pairs, strict=True):
        text = split[pair]
        sentences += [
            Sentence(g.id, number, span.start, span.end)
            for number, span in enumerate(text.sentences, 1)
        ]
        drafts = text.drafts
        if run.rehearses in MADE_UP and not drafts:  # no claim was seen: one a sentence
            drafts = tuple(
                ClaimDraft(number, span.start, span.end, g.text[span.start : span.end])
                for number, span in enumerate(text.sentences, 1)
            )
        for number, d in enumerate(drafts):
            key = content_id([g.id, "claim", number, d.text])
            claims.append(Claim(key, g.id, d.sentence, d.start, d.end, d.text))
        verdicts.append(
            Verdict(
                g.id,
                g.question,
                splitter.signature,
                label=None if text.problem else "read",
                raw=told_unclaimed(dict(text.unclaimed)) or None,
                problem=text.problem,
            )
        )
    run.folder.write(f"sentences/{STAGE}", sentences, Sentence)
    run.folder.write(f"claims/{STAGE}", claims, Claim)
    run.folder.write(f"verdicts/{STAGE}-claims", verdicts, Verdict)
    run.tell(splitting_notices([split[pair] for pair in pairs]))
    return claims


def splitting_notices(texts: Sequence[Claimed]) -> list[str]:
    """Return what a reader must know: repeated claims, texts cut off, and what claims nothing."""
    repeats = sum(text.repeated for text in texts)
    every = repeats + sum(len(text.drafts) for text in texts)
    looping = sum(text.repeated > 0 for text in texts)
    cut = sum(text.unfinished > 0 for text in texts)
    notices = []
    if repeats:
        notices.append(
            f"claims: {looping:,} of {len(texts):,} texts repeat themselves; {repeats:,} of their "
            f"{every:,} claims repeat an earlier one in the same text, and each counts once"
        )
    if cut:
        notices.append(
            f"claims: {cut:,} of {len(texts):,} texts end in an unfinished sentence, which yields "
            "no claims; allow more tokens"
        )
    if counts := sum((Counter(dict(text.unclaimed)) for text in texts), Counter[str]()):
        some = sum(bool(text.unclaimed) for text in texts)
        notices.append(
            f"claims: {told_unclaimed(counts)} in {some:,} of {len(texts):,} texts claim nothing "
            "and are left out"
        )
    return notices


def check_claims(
    run: Run,
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    readers: ClaimReaders,
    k: int,
) -> None:
    """Look every claim up and store whether ``k`` passages support it; each pair is read once.

    ``question_of`` has the question of each answer by the answer's id. Claims of equal words about
    one topic are looked up and checked once. Where only a prompt is known and no topic, the whole
    source is searched, and a passage must name whom the claim is about.
    """
    keys = [(question_of[c.generation].entity or "", c.text) for c in claims]
    unique = list(dict.fromkeys(keys))
    passages = dict(zip(unique, run.search(readers.source, unique, k), strict=True))
    labels = readers.checker.read([(topic, text, passages[topic, text]) for topic, text in unique])
    by_key = dict(zip(unique, labels, strict=True))
    verdicts = [
        Verdict(
            c.id,
            question_of[c.generation].id,
            readers.checker.signature,
            label=by_key[key].label,
            evidence=by_key[key].evidence or tuple(p.id for p in passages[key]),
            problem=by_key[key].problem,
        )
        for c, key in zip(claims, keys, strict=True)
    ]
    seen = {p.id: p for of_key in passages.values() for p in of_key}
    run.folder.write(f"passages/{STAGE}", list(seen.values()), Passage)
    run.folder.write(f"verdicts/{SUPPORT}", verdicts, Verdict)


# ---- claims that tell a fact for which the data have a question of their own
# Data in UNCLE's format have a short question for every aspect of a paragraph. A claim that tells
# the value of an aspect is asked about with that question instead of a made one.

#: who made such a question
BY_DATA = "data"


def judge_aspects(
    run: Run, kept: Sequence[Generation], by_id: Mapping[str, Question], judge: Judge
) -> None:
    """Judge every fact that the data ask for in these texts; nothing where they ask for none."""
    parts = [(g, tuple(by_id[p] for p in by_id[g.question].parts)) for g in kept]
    items = [Item(g, questions) for g, questions in parts if questions]
    if items:
        run.grade(f"{STAGE}-aspects", items, judge)


def own_questions(
    run: Run,
    claims: Sequence[Claim],
    answers: Mapping[str, Generation],
    by_id: Mapping[str, Question],
) -> dict[str, QuestionAnswer]:
    """Return the data's own question, with the value that the text gives, by the claim's id.

    A claim has one if the value of one fact, and of no other, stands both in its span and in its
    words. One that would give its answer away, or not name its subject, is left to be made.
    """
    values: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for v in stored_verdicts(run, f"{STAGE}-aspects"):
        if v.answer_start is not None and v.answer_end is not None:
            values[v.target].append((v.answer_start, v.answer_end, v.asked))
    own = {}
    for c in claims:
        answer = answers[c.generation]
        words = _plain(c.text)
        pairs = {
            (question, answer.text[start:end].strip())
            for start, end, question in values[c.generation]
            if c.start <= start and end <= c.end and _plain(answer.text[start:end]) in words
        }
        if len({question for question, _ in pairs}) != 1:
            continue
        question, value = max(pairs, key=lambda pair: len(pair[1]))
        pair = check_pair(topic_of(by_id[answer.question]), by_id[question].text, value)
        if pair.problem is None:
            own[c.id] = pair
    return own


def _plain(text: str) -> str:
    """Return a text between spaces, without case and marks: so that "art" is not in "party"."""
    return f" {' '.join(''.join(x if x.isalnum() else ' ' for x in text.casefold()).split())} "


# ---- uncertainty of every claim, stored once

BY_WORDING = "rules@1"


def read_wording(run: Run, claims: Sequence[Claim], answers: Mapping[str, Generation]) -> None:
    """Store how surely each claim is worded: the decisiveness of the clause it stands in."""
    verdicts = []
    for c in claims:
        g = answers[c.generation]
        score = decisiveness(g.text[c.start : c.end]) if c.end > c.start else None
        problem = None if score is not None else "unread"
        label = "assertion" if score is not None else None
        verdicts.append(
            Verdict(c.id, g.question, BY_WORDING, label=label, number=score, problem=problem)
        )
    run.folder.write(f"verdicts/{STAGE}-decisive", verdicts, Verdict)


def score_claims(
    run: Run,
    claims: Sequence[Claim],
    answers: Mapping[str, Generation],
    question_of: Mapping[str, Question],
    draws: Sequence[Generation],
    checker: Checker | None,
    settings: Settings,
) -> None:
    """Store every score of every claim, or why it has none.

    ``checker`` looks for the claims in ``draws``; without either there is no frequency.
    """
    accepted: dict[str, dict[str, float | None]] = {
        mode: {v.target: v.number for v in run.folder.read(f"verdicts/self-{mode}", Verdict)}
        for mode in modes_of(settings)
    }
    sure = {v.target: v.number for v in run.folder.read(f"verdicts/{STAGE}-decisive", Verdict)}
    held = _held(claims, question_of, draws, checker) if draws and checker else {}
    sentences = Counter(s.generation for s in rows_if_any(run, f"sentences/{STAGE}", Sentence))

    value: dict[str, Callable[[Claim, Generation], float]] = {
        "span_nll": lambda c, g: span_nll(g.logprobs, g.offsets, c.start, c.end),
        "span_max_nll": lambda c, g: span_max_nll(g.logprobs, g.offsets, c.start, c.end),
        "p_true": lambda c, _: refused(accepted.get("direct", {}).get(c.id)),
        "p_qa_none": lambda c, _: refused(accepted.get(MAIN, {}).get(c.id)),
        "frequency": lambda c, _: frequency(held.get(c.id, ())),
        "wording": lambda c, _: refused(sure.get(c.id)),
        "position": lambda c, g: c.sentence / max(sentences[g.id], 1),
        "length": lambda c, _: float(len(c.text.split())),
    }
    scores: list[Score] = []
    for c in claims:
        for name in CLAIM_SCORES:
            try:
                scores.append(Score(c.id, name, value[name](c, answers[c.generation])))
            except NoEvidence as reason:
                scores.append(Score(c.id, name, problem=str(reason)))
    run.folder.write("scores/claims", scores, Score)


def _held(
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    draws: Sequence[Generation],
    checker: Checker,
) -> dict[str, list[bool | None]]:
    """Return for each claim whether each draw of its topic holds it; equal pairs are read once."""
    by_question: dict[str, list[Generation]] = defaultdict(list)
    for g in draws:
        if g.problem is None and not is_blank(g.text):
            by_question[g.question].append(g)
    items: list[tuple[str, tuple[str, str, tuple[Passage, ...]]]] = []
    for c in claims:
        question = question_of[c.generation]
        topic = topic_of(question)
        items += [
            (c.id, (topic, c.text, (Passage(g.id, topic, g.text),)))
            for g in by_question[question.id]
        ]
    unique = list(dict.fromkeys(item for _, item in items))
    labels = dict(zip(unique, checker.read(unique, apart=True), strict=True))
    held: dict[str, list[bool | None]] = defaultdict(list)
    for claim, item in items:
        held[claim].append(None if labels[item].problem else labels[item].label == "S")
    return held
