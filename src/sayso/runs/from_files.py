"""``sayso run self_known --answers``: long texts that exist already, claim by claim.

No model writes anything here. Labels of people in the file are taken as they are; texts without
them are taken apart and checked against a knowledge source; with both, the checker is compared with
the people. A model may be asked about every labeled claim, as a run asks one about its own. The
outcome is a run folder of the self_known protocol, so that it is measured, reported and compared
like any other.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from sayso.datasets.columns import columns_of
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
from sayso.engines.absent import check_here
from sayso.engines.engine import Engine
from sayso.harmless import line
from sayso.judges.claim_questions import GapQuestions
from sayso.judges.english.markup import parts
from sayso.judges.english.tokens import content, tokens
from sayso.judges.judge import Judge
from sayso.judges.self_judgement import orders
from sayso.keywords import ModelKeywords
from sayso.options import ModelOptions, as_dict, check_keywords, option_names, with_keywords
from sayso.progress import Progress
from sayso.protocols.answer_table import write_answers
from sayso.protocols.coherence import coherence_cautions, unseen_cautions
from sayso.protocols.protocol import Step
from sayso.protocols.self_known import SELF_KNOWN
from sayso.protocols.self_known.claims import (
    Checker,
    QuestionMaker,
    Splitter,
    check_claims,
    checker_of,
    keep_responsive,
    maker_of,
    read_wording,
    score_claims,
    splitter_of,
    take_apart,
)
from sayso.protocols.self_known.prompts import instructions, prompts_signature
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE
from sayso.protocols.self_known.rows import claim_verdicts as verdicts_on_claims
from sayso.protocols.self_known.self_verdicts import (
    judge_own,
    make_questions,
)
from sayso.protocols.self_known.settings import modes_of
from sayso.protocols.settings import with_limits
from sayso.records import (
    Claim,
    Estimate,
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
from sayso.report import write as write_page
from sayso.runs.asking import CachedEngine, asking_settings, bill, request_shaper
from sayso.runs.costs import Meter
from sayso.runs.dry_run import RunEstimate, estimate_walk
from sayso.runs.job import Job, check, job_of, one_period, open_folder, with_period
from sayso.runs.judge import OpenJudge, open_judge
from sayso.runs.recorded import slug
from sayso.runs.rehearsal import Rehearsed
from sayso.runs.result import Result
from sayso.runs.run import open_subject, token_counts
from sayso.runs.stages import FolderRun, now
from sayso.runs.tools import FurtherModels, KnowledgeSources, RunTools
from sayso.storage.atomic import one_writer
from sayso.storage.cache import FILE_NAME, Cache
from sayso.storage.run_folder import FORMAT, Manifest, machine, versions
from sayso.version import __version__

#: the command in the manifest of a run that Python started
BY_HAND = "sayso.factuality"
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


class TextKeywords(ModelKeywords, total=False):
    """Keywords of :func:`factuality`: how a model is opened and asked, and what it may cost."""

    cache: str | PathLike[str] | None
    max_cost: float | None
    price: str | None
    judge_price: str | None
    thinking: str | int
    system: str | PathLike[str]


#: options of a run that texts on record have too
OF_TEXTS = tuple({**dict.fromkeys(option_names(ModelOptions)), **TextKeywords.__annotations__})


@with_keywords(OF_TEXTS)
def factuality(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    out: str | Path | None = None,
    *,
    model: str | Engine = "",
    judge: str | Judge | Engine = "rules",
    options: Any = None,
    columns: str | Mapping[str, str] = "",
    progress: Progress | None = None,
    command: str = "",
    report: bool = True,
    **given: Unpack[TextKeywords],
) -> Result:
    """Measure the factuality of one model's long texts in ``files``, by position in the text.

    The same as ``sayso run self_known --answers FILES``. Rows have a text and, for labels of
    people, claims (see :mod:`sayso.datasets.long_texts`); ``columns`` maps its names to the file's,
    ``"topic=person"`` or a mapping.
    ``options`` are :class:`sayso.protocols.self_known.Settings`, of which ``knowledge`` names what
    claims are checked against. ``judge`` takes texts apart, checks claims and makes questions:
    ``rules`` or a model. ``model``, a name or an engine, is asked whether each labeled claim is
    true, in every way of ``options.modes``; left out, nobody is. ``price``, ``max_cost`` and how
    the model is opened are as in :func:`sayso.run`, which also says what is returned;
    ``report=False`` leaves the page out. Raises InputError.
    """
    check_keywords(factuality.__name__, given, OF_TEXTS)
    named = [files] if isinstance(files, str | PathLike) else files
    models = texts_by_model([Path(file) for file in named], columns)
    if len(models) > 1:
        names = ", ".join(line(own.system.name, 40) for own in models)
        raise InputError(
            f"the files hold texts of {len(models)} models ({names}), and a run measures one: "
            "measure all with `sayso run self_known --answers FILES` or `sayso study --answers "
            "FILES`"
        )
    chosen = options or SELF_KNOWN.Settings()
    if not model:
        chosen = dataclasses.replace(chosen, modes="none")
    job = job_of(
        protocol="self_known", model=model, data="texts", judge=judge, out=out, options=chosen,
        command=command, **given,
    )  # fmt: skip
    result = measure_texts(models[0], job, progress)
    if report:
        write_page(result)
    return result


def measure_texts(given: TextsOf, job: Job, progress: Progress | None = None) -> Result:
    """Measure texts of a model as a job says, whose model is "" where nobody is asked."""
    with contextlib.ExitStack() as stack:
        (job,) = stack.enter_context(one_period([job], progress))
        texts = stack.enter_context(_opened(given, job, progress))
        options, place = texts.options, job.cache_folder
        knowledge = stack.enter_context(
            contextlib.closing(KnowledgeSources(texts.questions, place))
        )
        tools = stack.enter_context(contextlib.closing(RunTools(texts.model, place)))
        manifest = _manifest(texts)
        path = Path(job.out) if job.out else Path("runs") / _folder_name(manifest)
        stack.enter_context(one_writer(path, job.command or BY_HAND))
        folder = open_folder(path, manifest)
        run = FolderRun(
            folder,
            texts.questions,
            manifest,
            model=texts.model,
            judge=texts.judge,
            tools=tools.open,
            search=knowledge.search,
        )
        run.models = texts.further.open
        readers = _readers(texts, run)  # one that cannot be had is refused before anything is kept
        folder.write("questions", texts.questions, Question)
        folder.write_manifest(manifest)
        notices = [*_store(run, texts, readers), *texts.system.notices]
        run.end()
        with run.timed("measure"):
            estimates = SELF_KNOWN.measure(run, options)
        folder.write("metrics/self_known", estimates, Estimate)
        write_answers(folder, texts.questions, SELF_KNOWN.probing(options))
        manifest = msgspec.structs.replace(
            manifest,
            finished=now(),
            timings=run.timings,
            **_bookkeeping(texts),
            cautions=(
                *unseen_cautions(run),
                *(texts.model.cautions if texts.model else ()),
                *coherence_cautions(run),
                *SELF_KNOWN.cautions(estimates, None),
            ),
            cached=texts.model.ages.record() if texts.model else {},
            notices=(
                *notices,
                *tools.notices,
                *knowledge.notices,
                *texts.further.notices,
                *_bill(texts),
            ),
        )
        folder.write_manifest(manifest)
    return Result(path, estimates, manifest, len(texts.questions))


def check_same_texts(texts: TextsOf, job: Job) -> None:
    """Refuse a finished run in a job's ``out`` that is of other texts. Raises InputError."""
    with _opened(texts, job, learn=False) as opened:
        check_here(opened.model)
        check_here(opened.judge.engine)
        open_folder(Path(job.out or ""), _manifest(opened))


def lacking_claims(texts: TextsOf | None, options: Any) -> str:
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


class OpenTexts(NamedTuple):
    """Texts with everything open that they are measured with; ``model`` may be nobody."""

    job: Job
    options: Any
    system: SystemTexts
    questions: tuple[Question, ...]
    model: CachedEngine | None
    judge: OpenJudge
    further: FurtherModels
    data: str


@contextlib.contextmanager
def _opened(
    texts: TextsOf, job: Job, progress: Progress | None = None, *, learn: bool = True
) -> Iterator[OpenTexts]:
    """Open model and judge, and close them at the end. Raises InputError.

    With ``learn=False`` nothing can be asked, as in :func:`sayso.runs.run.open_job`.
    """
    check(job)
    options = with_limits(job.options or SELF_KNOWN.Settings(), job.limits)
    if options.knowledge == "golds":
        raise InputError("knowledge golds: texts have no gold answers; name a source")
    if options.keep_answered:
        raise InputError(
            "keep_answered draws among the texts that a model writes; these are written already, "
            "so leave it out, or give a file of fewer texts"
        )
    if job.model and not modes_of(options):
        raise InputError(
            "modes none asks the model nothing, but --model names one; leave one of the two out"
        )
    for name in ("price", "thinking", "system", "fresh"):
        if getattr(job, name) and not job.model:
            raise InputError(f"{name} is for a model that is asked about the texts: --model NAME")
    system = texts.system
    source = _source(options)
    labeled = any(c.label in RATED for t in system.texts for c in t.claims or ())
    if job.model and not source and not labeled:
        raise InputError(NOTHING_TO_ASK)
    meter = Meter(job.max_cost)
    with contextlib.ExitStack() as stack:
        replies = stack.enter_context(Cache(job.cache_folder / FILE_NAME))
        model = None
        if job.model:
            engine, price = open_subject(job, stack, weights=learn)
            model = CachedEngine(
                engine, replies, price=price, meter=meter, progress=progress, period=job.period
            )
            model.shape = request_shaper(job)
        judge = open_judge(
            job.judge, job.judge_options, subject=model, cache=replies, meter=meter,
            progress=progress, learn=learn,
        )  # fmt: skip
        stack.callback(judge.close)
        priced = dataclasses.replace(job.judge_options, judge_price=job.judge_price)
        further = FurtherModels(replies, meter, priced, progress, learn=learn)
        stack.callback(further.close)
        yield OpenTexts(job, options, system, texts.questions, model, judge, further, texts.data)


def _source(options: Any) -> str:
    """Return what claims are checked against; empty where there is nothing."""
    return "" if options.knowledge in ("auto", "none") else str(options.knowledge)


def _folder_name(manifest: Manifest) -> str:
    name = slug(manifest.model_title)
    return "-".join([*manifest.protocols, name, manifest.model_identity[:8]])


def _manifest(texts: OpenTexts) -> Manifest:
    job, system, model = texts.job, texts.system, texts.model
    identity = content_id([(system.name, [a.text for a in system.answers], system.labels)])
    signature = f"texts-{identity[:4]}"
    base = identity
    if model is not None:  # whoever is asked makes another run of the same texts
        base = content_id([identity, model.base])
        identity = content_id([identity, model.identity])
        signature = f"{signature}+{model.signature}"
    judge = texts.judge.judge
    return Manifest(
        format=FORMAT,
        sayso=__version__,
        created=now(),
        command=job.command or BY_HAND,
        protocols=("self_known",),
        settings={
            **as_dict(texts.options),
            "seed": 0,
            **asking_settings(job),
        },
        chosen={} if model is None else {"model": model.name},
        data=texts.data,
        data_hash=content_id(sorted(q.id for q in texts.questions))[:8],
        n_questions=len(texts.questions),
        prompts={"signature": prompts_signature(texts.options), **instructions(texts.options)},
        model=system.name,
        model_title=system.name,
        model_identity=identity,
        model_base=base,
        model_signature=signature,
        judge=judge.name,
        judge_signature=judge.signature,
        versions=versions(),
        machine=machine(),
    )


def _bookkeeping(texts: OpenTexts) -> dict[str, Any]:
    """Return what was asked and what it cost; of texts that nobody is asked about, the judge."""
    judge = texts.judge.engine
    spent: dict[str, Any] = {"judge_dollars": judge.dollars if judge else None}
    if texts.model is not None:
        counts = token_counts(texts.model, texts.judge.judge, judge)
        spent |= {"tokens": counts, "dollars": texts.model.dollars}
    return spent


def _bill(texts: OpenTexts) -> list[str]:
    if texts.model is None:
        return []
    return [*texts.model.notices, *bill(texts.model, texts.judge.engine)]


# ---- what it would ask and cost


def estimate_texts(given: TextsOf, job: Job) -> RunEstimate:
    """Return what measuring texts would ask and cost. Asks nothing and makes no run folder.

    Claims that people labeled are known; so are those of other texts where rules take them apart,
    though not whether a checker will label them. Raises InputError.
    """
    (job,), _ = with_period([job])
    with _opened(given, job, learn=False) as texts:
        manifest = _manifest(texts)
        of = Rehearsed(job, manifest, texts.questions, texts.model, texts.judge, texts.further)

        def read(run: Any) -> None:
            _store(run, texts, _readers(texts, run))

        return estimate_walk(of, [Step("claims", read)])


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


class Readers(NamedTuple):
    """Who takes texts apart, who checks claims, against which source, and who makes questions.

    ``checker``: ``None`` where nobody checks.
    """

    splitter: Splitter
    checker: Checker | None
    source: str
    maker: QuestionMaker


def _readers(texts: OpenTexts, run: FolderRun) -> Readers:
    """Open everybody that is needed. Raises InputError for one who cannot be had."""
    options, judge = texts.options, run.judge
    source = _source(options)
    splitter = splitter_of(options, judge, run.engine)
    checker = checker_of(options, judge, run.engine, run.tools) if source else None
    maker = maker_of(options, judge, run.engine) if texts.model is not None else GapQuestions()
    if source:
        run.search(source, (), options.passages)
    return Readers(splitter, checker, source, maker)


def _store(run: FolderRun, texts: OpenTexts, readers: Readers) -> list[str]:
    """Write the tables; return what a reader of the numbers must know."""
    system = texts.system
    by_id = {q.id: q for q in run.questions}
    answers = system.answers
    run.put(f"generations/{STAGE}", answers, Generation)
    labeled = system.labeled
    kept = keep_responsive(run, [a for a in answers if a.id not in labeled])
    splitter, checker, source, maker = readers
    claims = take_apart(run, kept, by_id, splitter)
    if labeled:
        people = people_labels(system)
        verdicts, sentences = run.verdicts(STAGE), run.table(f"sentences/{STAGE}", Sentence)
        run.put(f"verdicts/{STAGE}", [*verdicts, *people.answered], Verdict)
        run.put(f"sentences/{STAGE}", [*sentences, *people.sentences], Sentence)
        claims = [*claims, *people.claims]
        run.put(f"claims/{STAGE}", claims, Claim)
        run.put(f"verdicts/{PEOPLE}", people.verdicts, Verdict)
    notices = list(getattr(splitter, "notices", ()))
    by_answer = {a.id: a for a in answers}
    question_of = {a.id: by_id[a.question] for a in answers}
    if checker is not None:
        check_claims(run, claims, question_of, checker, source, texts.options.passages)
        notices += getattr(checker, "notices", ())
    read_wording(run, claims, by_answer)
    if texts.model is not None:
        notices += _judge_claims(run, texts.model, texts.options, claims, question_of, maker)
        score_claims(run, claims, by_answer, question_of, (), None, texts.options)
    unlabeled = sum(c.generation not in labeled for c in claims)
    notices += [f"{unlabeled:,} {UNCHECKED}"] if unlabeled and not source else []
    return [*notices, *run.notices]


def _judge_claims(
    run: FolderRun,
    model: CachedEngine,
    options: Any,
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    maker: QuestionMaker,
) -> list[str]:
    """Ask the model about every claim that is supported or not; return what was asked."""
    labels = verdicts_on_claims(run)
    rated = [c for c in claims if c.id in labels and labels[c.id].label in RATED]
    if run.made_up:  # in a dry run only people have labeled claims; a checker may label the others
        by_people = {v.target for v in labels.values() if v.by == BY_PEOPLE and v.label is not None}
        rated = [c for c in rated if c.id in by_people]
        if run.made_up == "most":
            rated += [c for c in claims if c.id not in by_people]
    own = make_questions(run, rated, question_of, maker, {})
    judge_own(run, own, options, 0)
    made = sum(one.pair.problem is None for one in own)
    times = sum(
        len(orders(mode, options.orders)) * (len(own) if mode == "direct" else made)
        for mode in modes_of(options)
    )
    return [
        f"{model.name} was asked {times:,} times about {len(own):,} of {len(claims):,} "
        f"claims, those labeled supported or not; {made:,} of them became questions",
        *getattr(maker, "notices", ()),
    ]


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
