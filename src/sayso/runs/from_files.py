"""Texts of files as the records that a run of a model would have left."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets.long_texts import GivenSentence, GivenText, read_texts
from sayso.engines.engine import Engine
from sayso.judges.judge import Judge
from sayso.judges.rules.sentences import parts
from sayso.judges.rules.text import content, tokens
from sayso.protocols import settings
from sayso.protocols.self_known import SELF_KNOWN
from sayso.protocols.self_known.ask_back import read_wording
from sayso.protocols.self_known.claims import (
    Checker,
    Splitter,
    check_claims,
    checker_of,
    keep_responsive,
    splitter_of,
    take_apart,
)
from sayso.protocols.self_known.collect import instructions, prompts_signature
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE
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
    question_id,
)
from sayso.runs.costs import Meter
from sayso.runs.judge import JudgeOptions, OpenJudge, open_judge
from sayso.runs.measure import Result
from sayso.runs.progress import Progress
from sayso.runs.run import open_folder
from sayso.runs.stages import FolderRun, now
from sayso.runs.tools import KnowledgeSources, RunTools
from sayso.storage.cache import Cache, default_cache_folder
from sayso.storage.run_folder import FORMAT, Manifest, machine, versions
from sayso.version import __version__

#: who labeled the claims of a file
BY_PEOPLE = "people"
#: share of a claim's words that the sentence it came from must hold
HALF = 0.5


class System(NamedTuple):
    """The texts of one file. ``labeled`` are the ids of answers whose claims it holds, ``labels``
    a short hash of those; ``notices`` what a reader must know."""

    name: str
    questions: tuple[Question, ...]
    answers: tuple[Generation, ...]
    texts: tuple[GivenText, ...]
    labeled: frozenset[str]
    labels: str
    notices: tuple[str, ...]


class Given(NamedTuple):
    """Tables of what people said: verdicts on answers, sentences, claims, verdicts on claims."""

    answered: list[Verdict]
    sentences: list[Sentence]
    claims: list[Claim]
    verdicts: list[Verdict]


def systems_of(files: Sequence[Path]) -> list[System]:
    """Read each file; its name is the system's, with its folder before it where two are equal."""
    if not files:
        raise InputError("no file of texts: name one or more, a system each")
    names = [file.stem for file in files]
    found: dict[str, System] = {}
    for file, name in zip(files, names, strict=True):
        own = name if names.count(name) == 1 else f"{file.resolve().parent.name}/{name}"
        own = own.replace(";", "_").replace(":", "_")  # separators of a place
        if own in found:
            raise InputError(f"{file}: a system is called {own} already; rename one of the files")
        found[own] = _system(own, tuple(read_texts(file)))
    return list(found.values())


def _system(name: str, texts: tuple[GivenText, ...]) -> System:
    questions = tuple(_question(text) for text in texts)
    answers = tuple(
        Generation(
            Request(messages=(Message("user", question.text),)),
            id=content_id(["text", name, row, text.text]),
            question=question.id,
            stage=STAGE,
            form=STAGE,
            method=name,
            text=text.text,
        )
        for row, (text, question) in enumerate(zip(texts, questions, strict=True))
    )
    labeled = frozenset(a.id for a, t in zip(answers, texts, strict=True) if t.claims is not None)
    lost = sum(t.unplaced for t in texts)
    notices = [f"{name}: {lost} sentences were not found in their text"] if lost else []
    labels = content_id([t.claims for t in texts])
    return System(name, questions, answers, texts, labeled, labels, tuple(notices))


def _question(text: GivenText) -> Question:
    # what was asked is no title: without a topic the whole source is searched
    about = text.topic or text.prompt or text.text[:80]
    prompt = text.prompt or about
    key = question_id("texts", about, prompt)
    return Question(key, "texts", prompt, entity=text.topic, domain=text.domain)


def rows_of(systems: Sequence[System]) -> Given:
    """Return what people said of the texts that they labeled."""
    found = Given([], [], [], [])
    for system in systems:
        for answer, text in zip(system.answers, system.texts, strict=True):
            if text.claims is None:
                continue
            question = answer.question
            label = "unresponsive" if text.abstained else RESPONSIVE
            found.answered.append(Verdict(answer.id, question, BY_PEOPLE, label=label))
            given = text.sentences
            cut = given if given is not None else [GivenSentence(*span) for span in _cut(text.text)]
            spans = [(s.start, s.end) for s in cut]
            found.sentences.extend(Sentence(answer.id, n, *s) for n, s in enumerate(cut, 1))
            for number, c in enumerate(text.claims):
                place = c.sentence or _nearest(c.text, text.text, spans)
                start, end = spans[place - 1] if 1 <= place <= len(spans) else (0, 0)
                key = content_id([answer.id, "claim", number, c.text])
                found.claims.append(Claim(key, answer.id, place, start, end, c.text))
                found.verdicts.append(
                    Verdict(key, question, BY_PEOPLE, label=c.label, problem=c.problem)
                )
    return found


def _cut(text: str) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in parts(text)]


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


# ``sayso.factuality``: long texts that exist already, claim by claim and along the text.
#
# No model writes anything here. Labels of people in the file are taken as they are; texts
# without
# them are taken apart and checked against a knowledge source; with both, the checker is held
# against
# the people. The outcome is a run folder of the self_known protocol, so that it is measured,
# reported and compared like any other.

UNCHECKED = (
    "claims have no label: name a knowledge source to check them against (--knowledge), or give "
    "labels in the file"
)


def factuality(
    files: Sequence[str | Path],
    out: str | Path | None = None,
    *,
    judge: str | Judge | Engine = "rules",
    options: Any = None,
    cache: str | Path | None = None,
    max_cost: float | None = None,
    judge_price: str | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Result:
    """Measure the factuality of long texts in ``files``, a system each, by position in the text.

    Rows have a text and, for labels of people, claims (see :mod:`sayso.datasets.long_texts`).
    ``options`` are :class:`sayso.protocols.self_known.Settings`, of which ``knowledge`` names what
    claims are checked against. ``judge`` takes texts apart and checks claims: ``rules`` or a
    model. Returns what :func:`sayso.run` returns. Raises InputError.
    """
    plan = SELF_KNOWN
    chosen = options or plan.Settings()
    plan.check(chosen)
    if chosen.knowledge == "golds":
        raise InputError("knowledge golds: texts have no gold answers; name a source")
    found = systems_of([Path(file) for file in files])
    questions = tuple({q.id: q for s in found for q in s.questions}.values())
    place = Path(cache) if cache is not None else default_cache_folder()
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(Cache(place / "replies.sqlite"))
        asked = JudgeOptions(price=judge_price, prompt_folder=chosen.prompt_folder)
        seat = open_judge(judge, asked, cache=kept, meter=Meter(max_cost), progress=progress)
        stack.callback(seat.close)
        knowing = stack.enter_context(contextlib.closing(KnowledgeSources(questions, place)))
        box = stack.enter_context(contextlib.closing(RunTools(None, place)))
        readers = _readers(chosen, seat, knowing, box)  # before a folder is made
        manifest = _manifest(found, questions, chosen, seat, command)
        path = Path(out) if out else Path("runs") / f"factuality-{manifest.model_identity[:8]}"
        folder = open_folder(path, manifest)
        work = FolderRun(
            folder,
            questions,
            manifest,
            judge_engine=seat.engine,
            tools=box.open,
            search=knowing.search,
        )
        folder.write("questions", questions, Question)
        folder.write_manifest(manifest)
        notices = [*_store(work, found, chosen, readers), *(n for s in found for n in s.notices)]
        with work.timed("measure"):
            estimates = plan.measure(work, chosen)
        folder.write("metrics/self_known", estimates, Estimate)
        manifest = msgspec.structs.replace(
            manifest,
            finished=now(),
            timings=work.timings,
            judge_dollars=seat.engine.dollars if seat.engine else None,
            cautions=tuple(plan.cautions(estimates, None)),
            notices=(*notices, *box.notices, *knowing.notices),
        )
        folder.write_manifest(manifest)
    return Result(path, estimates, manifest, len(questions))


def _manifest(
    found: Sequence[System],
    questions: tuple[Question, ...],
    chosen: Any,
    seat: OpenJudge,
    command: str,
) -> Manifest:
    identity = content_id([(s.name, [a.text for a in s.answers], s.labels) for s in found])
    return Manifest(
        format=FORMAT,
        sayso=__version__,
        created=now(),
        command=command or "sayso.factuality",
        protocols=("self_known",),
        settings={**settings.as_dict(chosen), "seed": 0},
        data="texts",
        data_hash=content_id([q.id for q in questions])[:8],
        n_questions=len(questions),
        prompts={"signature": prompts_signature(chosen), **instructions(chosen)},
        model=", ".join(s.name for s in found),
        model_identity=identity,
        model_base=identity,
        model_signature=f"texts-{identity[:4]}",
        judge=seat.judge.name,
        judge_signature=seat.judge.signature,
        versions=versions(),
        machine=machine(),
    )


class Readers(NamedTuple):
    """Who takes texts apart and who checks claims, against which source; None: nobody."""

    splitter: Splitter
    checker: Checker | None
    source: str


def _readers(chosen: Any, seat: OpenJudge, knowing: KnowledgeSources, box: RunTools) -> Readers:
    """Open everybody that is needed. Raises InputError for one who cannot be had."""
    source = "" if chosen.knowledge in ("auto", "none") else chosen.knowledge
    splitter = splitter_of(chosen, seat.judge)
    checker = checker_of(chosen, seat.judge, box.open) if source else None
    if source:
        knowing.search(source, (), chosen.passages)
    return Readers(splitter, checker, source)


def _store(work: FolderRun, found: Sequence[System], chosen: Any, readers: Readers) -> list[str]:
    """Write the tables that a run of a model would have left; return what must be told."""
    by_id = {q.id: q for q in work.questions}
    answers = [a for s in found for a in s.answers]
    work.put(f"generations/{STAGE}", answers, Generation)
    labeled = {a.id for s in found for a in s.answers if a.id in s.labeled}
    bare = [a for a in answers if a.id not in labeled]
    kept = keep_responsive(work, bare)
    splitter, checker, source = readers
    claims = take_apart(work, kept, by_id, splitter)
    given = rows_of(found)
    if labeled:
        made = work.table(f"sentences/{STAGE}", Sentence), work.verdicts(STAGE)
        work.put(f"verdicts/{STAGE}", [*made[1], *given.answered], Verdict)
        work.put(f"sentences/{STAGE}", [*made[0], *given.sentences], Sentence)
        claims = [*claims, *given.claims]
        work.put(f"claims/{STAGE}", claims, Claim)
        work.put(f"verdicts/{PEOPLE}", given.verdicts, Verdict)
    asked = {a.id: by_id[a.question] for a in answers}
    told = list(getattr(splitter, "notices", ()))
    if checker is not None:
        check_claims(work, claims, asked, checker, source, chosen.passages)
        told += getattr(checker, "notices", ())
    read_wording(work, claims, {a.id: a for a in answers})
    unlabeled = sum(c.generation not in labeled for c in claims)
    told += [f"{unlabeled:,} {UNCHECKED}"] if unlabeled and not source else []
    return [*told, *work.notices]
