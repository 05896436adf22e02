"""Long texts on record, claim by claim: ``sayso run self_known --answers``.

No model writes anything here. Labels of people in the file are taken as they are; texts without
them are taken apart and checked against a knowledge source; with both, the checker is compared with
the people. A model may be asked about every labeled claim, as a run asks one about its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.datasets.columns import columns_of
from sayso.datasets.dataset import Dataset
from sayso.datasets.long_texts import (
    COLUMNS,
    ELSEWHERE,
    GivenSentence,
    GivenText,
    layout_notes,
    no_subjects,
    read_texts,
)
from sayso.datasets.recorded import check_files, file_names
from sayso.datasets.tables import stem_of
from sayso.engines.engine import Engine
from sayso.judges.english.markup import parts
from sayso.judges.english.tokens import content, tokens
from sayso.judges.self_judgement import orders
from sayso.protocols.protocol import MADE_UP, Run, Step, rows_if_any
from sayso.protocols.self_known.claims import (
    QuestionMaker,
    check_claims,
    keep_responsive,
    open_claim_readers,
    read_wording,
    score_claims,
    take_apart,
)
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE
from sayso.protocols.self_known.rows import claim_verdicts as verdicts_on_claims
from sayso.protocols.self_known.self_verdicts import (
    judge_own,
    make_questions,
)
from sayso.protocols.self_known.settings import Settings, modes_of
from sayso.records import (
    Claim,
    Generation,
    InputError,
    Message,
    Question,
    Request,
    Sentence,
    Verdict,
    content_id,
    is_blank,
    question_id,
)
from sayso.storage.run_folder import Manifest

#: who labeled the claims of a file
BY_PEOPLE = "people"
#: labels that Self-Known and Self-Unknown are of: about an irrelevant claim nobody is asked
RATED = ("S", "NS")
UNCHECKED = (
    "claims have no label: name a knowledge source to check them against (--knowledge), or give "
    "labels in the file"
)
NOTHING_TO_ASK = (
    "no claim has a label, so there is nothing to ask the model about: give labels in the file, or "
    "a knowledge source to check claims against (--knowledge)"
)


def lacking_claims(texts: TextsOf | None, options: Settings) -> str:
    """Return what a model's texts lack for factuality; "" for those that can be measured."""
    if texts is not None and (texts.system.labeled or _source(options)):
        return ""
    return (
        "self_known needs long texts with labeled claims (columns text and claims), or a source "
        "to check claims against (its setting knowledge); these answers have neither; for answers "
        "to questions "
        "use `sayso run selective`"
    )


class TextsOf(NamedTuple):
    """The texts of one model, and the questions that it and others answered with texts."""

    system: SystemTexts
    questions: tuple[Question, ...]
    data: str

    @property
    def dataset(self) -> Dataset:
        """The questions as a data set."""
        key = content_id(sorted(q.id for q in self.questions))[:8]
        return Dataset(self.data, self.questions, key, len(self.questions), self.system.notices)


def check_texts(texts: TextsOf, settings: Settings, asked: bool) -> None:
    """Refuse settings that texts on record leave no room for; ``asked``: a model is asked about
    their claims. Raises InputError.
    """
    if settings.knowledge == "golds":
        raise InputError("knowledge golds: texts have no gold answers; name a source")
    if settings.keep_answered:
        raise InputError(
            "keep_answered draws among the texts that a model writes; these are written already, "
            "so leave it out, or give a file of fewer texts"
        )
    if asked and not modes_of(settings):
        raise InputError(
            "modes none asks the model nothing, but --model names one; leave one of the two out"
        )
    labeled = any(c.label in RATED for t in texts.system.texts for c in t.claims or ())
    if asked and not _source(settings) and not labeled:
        raise InputError(NOTHING_TO_ASK)


def _source(options: Settings) -> str:
    """Return what claims are checked against; empty where there is nothing."""
    return "" if options.knowledge in ("auto", "none") else str(options.knowledge)


def of_texts(manifest: Manifest, texts: TextsOf, model: Engine | None) -> Manifest:
    """Return the manifest of a run of texts, about whose claims a ``model`` is asked, or nobody."""
    system = texts.system
    identity = content_id([(system.name, [a.text for a in system.answers], system.labels)])
    signature = f"texts-{identity[:4]}"
    base = identity
    if model is not None:  # whoever is asked makes another run of the same texts
        base = content_id([identity, model.base])
        identity = content_id([identity, model.identity])
        signature = f"{signature}+{model.signature}"
    return msgspec.structs.replace(
        manifest,
        settings={**manifest.settings, "seed": 0},
        chosen={} if model is None else {"model": model.name},
        model=system.name,
        model_title=system.name,
        model_identity=identity,
        model_base=base,
        model_signature=signature,
    )


# ---- from files to models


class SystemTexts(NamedTuple):
    """The texts of one model. ``labeled`` are the ids of answers whose claims it holds, ``labels``
    a short hash of those; ``notices`` what a reader must know."""

    name: str
    questions: tuple[Question, ...]
    answers: tuple[Generation, ...]
    texts: tuple[GivenText, ...]
    labeled: frozenset[str]
    labels: str
    notices: tuple[str, ...]


def texts_by_model(files: Sequence[Path], columns: str | Mapping[str, str] = "") -> list[TextsOf]:
    """Read files of texts: one model for each name in their column ``model``, else for each file.

    All share their questions, so that runs of them can be compared. Raises InputError.
    """
    check_files(files)
    texts: dict[str, list[GivenText]] = {}
    notes: dict[str, list[str]] = {}
    for file, name in zip(files, file_names(files), strict=True):
        named = _named(columns)
        rows, told = tuple(read_texts(file, named)), list(layout_notes(file, named))
        if not any(text.topic or text.prompt for text in rows):
            told.append(no_subjects(file))
        for text in rows:
            model = text.model or name
            texts.setdefault(model, []).append(text)
            notes.setdefault(model, [])
            notes[model] += [note for note in told if note not in notes[model]]
    systems = []
    for model, own in texts.items():
        system = _system(model, tuple(own))
        systems.append(
            system._replace(notices=(*_taken(model, own), *notes[model], *system.notices))
        )
    questions = tuple({q.id: q for s in systems for q in s.questions}.values())
    one = len(files) == 1 and any(text.model for own in texts.values() for text in own)
    data = stem_of(files[0]) if one else "texts"
    return [TextsOf(system, questions, data) for system in systems]


def _taken(model: str, texts: Sequence[GivenText]) -> list[str]:
    """Return what was taken of a model's texts, and which claims have no label, and why."""
    claims = [c for t in texts for c in t.claims or ()]
    bare = Counter(c.problem for c in claims if c.label is None)
    parts = [f"texts of {model} in the files: {len(texts):,}"]
    if claims:
        parts.append(f"{len(claims):,} claims, {len(claims) - bare.total():,} labeled by people")
    parts += [f"{number:,} without a label: {why}" for why, number in bare.most_common()]
    return ["; ".join(parts)]


def _named(columns: str | Mapping[str, str]) -> dict[str, str]:
    if not isinstance(columns, str):
        columns = ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())
    named = columns_of(columns, (*COLUMNS, *ELSEWHERE))
    return {ELSEWHERE.get(ours, ours): theirs for ours, theirs in named.items()}


def _system(name: str, texts: tuple[GivenText, ...]) -> SystemTexts:
    """Return texts as answers of a model."""
    questions = tuple(_question(text) for text in texts)
    answers = tuple(
        Generation(
            Request(messages=(Message("user", question.text),)),
            id=content_id(["text", name, row, text.text]),
            question=question.id,
            stage=STAGE,
            form=STAGE,
            method="plain",
            text=text.text,
            thinking=text.thinking,
            problem="truncated" if text.unended else None,
        )
        for row, (text, question) in enumerate(zip(texts, questions, strict=True))
    )
    labeled = frozenset(a.id for a, t in zip(answers, texts, strict=True) if t.claims is not None)
    lost = sum(t.unplaced for t in texts)
    notices = [f"{name}: {lost} sentences were not found in their text"] if lost else []
    thought = sum(t.thinking is not None for t in texts)
    notices += (
        [f"{name}: {thought} texts contained reasoning, which is left out"] if thought else []
    )
    labels = content_id([t.claims for t in texts])
    return SystemTexts(name, questions, answers, texts, labeled, labels, tuple(notices))


def _question(text: GivenText) -> Question:
    # what was asked is no title: without a topic the whole source is searched
    about = text.topic or text.prompt or text.text[:80]
    prompt = text.prompt or about
    key = question_id("texts", about, prompt)
    return Question(key, "texts", prompt, entity=text.topic, domain=text.domain)


# ---- from texts to the tables that a run of a model would have left


def steps_of_texts(texts: TextsOf, settings: Settings, asked: bool) -> list[Step]:
    """Return what is done with texts on record; ``asked``: a model is asked about their claims."""
    return [Step("claims", partial(_read_texts, texts.system, settings, asked))]


def _read_texts(system: SystemTexts, settings: Settings, asked: bool, run: Run) -> None:
    """Write the tables that a run of a model would have left."""
    readers = open_claim_readers(settings, run, _source(settings))
    source = readers.source
    by_id = {q.id: q for q in run.questions}
    answers, labeled = system.answers, system.labeled
    run.folder.write(f"generations/{STAGE}", answers, Generation)
    kept = keep_responsive(run, [a for a in answers if a.id not in labeled])
    claims = take_apart(run, kept, by_id, readers.splitter)
    if labeled:
        people = people_labels(system)
        verdicts = run.folder.read(f"verdicts/{STAGE}", Verdict)
        sentences = rows_if_any(run, f"sentences/{STAGE}", Sentence)
        run.folder.write(f"verdicts/{STAGE}", [*verdicts, *people.answered], Verdict)
        run.folder.write(f"sentences/{STAGE}", [*sentences, *people.sentences], Sentence)
        claims = [*claims, *people.claims]
        run.folder.write(f"claims/{STAGE}", claims, Claim)
        run.folder.write(f"verdicts/{PEOPLE}", people.verdicts, Verdict)
    by_answer = {a.id: a for a in answers}
    question_of = {a.id: by_id[a.question] for a in answers}
    if source:
        check_claims(run, claims, question_of, readers, settings.passages)
    read_wording(run, claims, by_answer)
    if asked:
        run.tell([_judge_claims(run, settings, claims, question_of, readers.maker)])
        score_claims(run, claims, by_answer, question_of, (), None, settings)
    unlabeled = sum(c.generation not in labeled for c in claims)
    run.tell(readers.notices)
    run.tell([f"{unlabeled:,} {UNCHECKED}"] if unlabeled and not source else [])


def _judge_claims(
    run: Run,
    options: Settings,
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    maker: QuestionMaker,
) -> str:
    """Ask the model about every claim that is supported or not; return what was asked."""
    labels = verdicts_on_claims(run)
    rated = [c for c in claims if c.id in labels and labels[c.id].label in RATED]
    if run.rehearses in MADE_UP:  # only people have labeled claims; a checker may label the others
        by_people = {v.target for v in labels.values() if v.by == BY_PEOPLE and v.label is not None}
        rated = [c for c in rated if c.id in by_people]
        if run.rehearses == "most":
            rated += [c for c in claims if c.id not in by_people]
    own = make_questions(run, rated, question_of, maker, {})
    judge_own(run, own, options, 0)
    made = sum(one.pair.problem is None for one in own)
    times = sum(
        len(orders(mode, options.orders)) * (len(own) if mode == "direct" else made)
        for mode in modes_of(options)
    )
    return (
        f"{run.engine().name} was asked {times:,} times about {len(own):,} of {len(claims):,} "
        f"claims, those labeled supported or not; {made:,} of them became questions"
    )


class HumanLabels(NamedTuple):
    """Tables of people's labels: verdicts on answers, sentences, claims, verdicts on claims."""

    answered: list[Verdict]
    sentences: list[Sentence]
    claims: list[Claim]
    verdicts: list[Verdict]


def people_labels(system: SystemTexts) -> HumanLabels:
    """Return people's labels of the texts that have some."""
    labels = HumanLabels([], [], [], [])
    for answer, text in zip(system.answers, system.texts, strict=True):
        if text.claims is None:
            continue
        question = answer.question
        silent = text.abstained or (is_blank(text.text) and not text.claims)
        label = "unresponsive" if silent else RESPONSIVE
        labels.answered.append(Verdict(answer.id, question, BY_PEOPLE, label=label))
        sentences: Sequence[GivenSentence] = text.sentences or ()
        if text.sentences is None:
            sentences = [GivenSentence(part.start, part.end) for part in parts(text.text)]
        spans = [(s.start, s.end) for s in sentences]
        labels.sentences.extend(Sentence(answer.id, n, *s) for n, s in enumerate(sentences, 1))
        for number, c in enumerate(text.claims):
            place = c.sentence or _nearest(c.text, text.text, spans)
            start, end = spans[place - 1] if 1 <= place <= len(spans) else (0, 0)
            key = content_id([answer.id, "claim", number, c.text])
            labels.claims.append(Claim(key, answer.id, place, start, end, c.text))
            labels.verdicts.append(
                Verdict(key, question, BY_PEOPLE, label=c.label, problem=c.problem)
            )
    return labels


#: share of a claim's words that the sentence it came from must hold
HALF = 0.5


def _nearest(claim: str, text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Return the number of the sentence that holds most of a claim's words, 0 where none holds
    half of them: people's claims come without their place in some files."""
    wanted = {t.stem for t in content(tokens(claim))}
    best, number = 0.0, 0
    for place, (start, end) in enumerate(spans, 1):
        held = {t.stem for t in tokens(text[start:end])}
        share = len(wanted & held) / len(wanted) if wanted else 0.0
        if share > best:
            best, number = share, place
    return number if best >= HALF else 0
