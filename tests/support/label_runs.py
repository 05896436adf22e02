"""Small finished runs with something of every kind to label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sayso.people.agreement import judge_verdicts
from sayso.people.choices import LabelChoices
from sayso.people.labeling import open_labeling
from sayso.people.labels import LabelStore
from sayso.records import (
    Claim,
    Generation,
    Gold,
    Passage,
    Question,
    Verdict,
    ask,
)
from sayso.storage.run_folder import Manifest, RunFolder

MODEL = "vendor/secret-model-9b"
JUDGE = "judge-of-the-run@7"
#: what the judge read, in turn; its raw words must reach nobody
READ = (
    {"stance": "committed", "content": "correct", "certainty": 0.99},
    {"stance": "committed", "content": "incorrect", "certainty": 0.9},
    {"stance": "hedged", "content": "correct", "certainty": 0.7},
    {"stance": "abstained", "content": "none", "certainty": 0.5},
)


#: what a person says of an item, given its number in the draw, the judge's verdict, and their name
Says = Callable[[int, Verdict, str], dict[str, object]]


def as_judge(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who reads as the judge does."""
    if read.stance is not None:
        stated = read.stance in ("committed", "hedged")
        said = read.content if read.content in ("correct", "incorrect") else "correct"
        return {"stance": read.stance, "content": said if stated else ""}
    if read.number is not None:
        return {"number": read.number}
    return {"label": read.label}


def label_run(
    run: Path, people: str, says: Says, kind: str = "answer", *, n: int = 40, shared: int = 0,
    design: str = "",
) -> None:  # fmt: skip
    """Let people, a letter each, label a run through the store."""
    with LabelStore.open(run) as store:
        choices = LabelChoices(kind=kind, n=n, shared=shared, design=design)
        labeling = open_labeling(run, store, choices)
        items = [place.item for place in labeling.places]
        read = judge_verdicts(labeling.source.folder, labeling.kind, labeling.design.stage, items)
        for name in people:
            for work in labeling.work(name):
                said = says(work.place, read[labeling.places[work.place].item], name)
                labeling.label(name, work.place, said, seconds=2.0)


def answers_run(folder: Path, n: int = 80, hostile: str = "", *, model: str = MODEL) -> Path:
    """A run of short answers and paragraphs: question i is known where i is even."""
    run = RunFolder.create(folder)
    questions, tables = [], {name: [] for name in ("probe", "short", "long")}  # type: ignore[var-annotated]
    verdicts: dict[str, list[Verdict]] = {name: [] for name in tables}
    for i in range(n):
        question = Question(
            f"q{i}", "made", f"When was person {i} born?{hostile}", (Gold(f"{1800 + i}{hostile}"),)
        )
        text = (f"{1800 + i}", f"{1700 + i}", f"Perhaps {1800 + i}.", "I do not know.")[i % 4]
        answer = _answer(f"s{i}", question, f"{text}{hostile}", "short", "instructed")
        questions.append(question)
        tables["short"] += [answer, _answer(f"p{i}", question, text, "short", "plain")]
        said = READ[i % 4]
        verdicts["short"] += [
            Verdict(f"s{i}", f"q{i}", JUDGE, raw=f"{JUDGE} read it", **said),  # type: ignore[arg-type]
            Verdict(f"p{i}", f"q{i}", JUDGE, **said),  # type: ignore[arg-type]
        ]
        for draw in range(5):
            tables["probe"].append(_answer(f"d{i}-{draw}", question, text, "probe", "plain", draw))
            right = "correct" if i % 2 == 0 and draw == 0 else "incorrect"
            verdicts["probe"].append(
                Verdict(f"d{i}-{draw}", f"q{i}", JUDGE, stance="committed", content=right)  # type: ignore[arg-type]
            )
    parts = tuple(q.id for q in questions[:6])
    whole = Question("w", "made", "Introduce six people.", None, parts=parts)
    questions.append(whole)
    paragraph = f"Person 0 was born in 1800.{hostile} Person 1 was born in 1701."
    tables["long"].append(_answer("l0", whole, paragraph, "long", "instructed"))
    verdicts["long"] = [
        Verdict("l0", part, JUDGE, stance="committed" if k < 2 else "omitted", content="none")
        for k, part in enumerate(parts)
    ]
    run.write("questions", questions, Question)
    for name in tables:
        run.write(f"generations/{name}", tables[name], Generation)
        run.write(f"verdicts/{name}", verdicts[name], Verdict)
    return _finished(run, "uncle", {"probe.k": 5}, model)


def claims_run(folder: Path, n: int = 12) -> Path:
    """A run of long texts with claims; a supported claim cites one passage, another all three."""
    run = RunFolder.create(folder)
    question = Question("t0", "made", "Tell me about Ada.", None, entity="Ada")
    text = " ".join(f"Fact {i} is so." for i in range(n))
    claims, support, wording = [], [], []
    for i in range(n):
        start = text.index(f"Fact {i} ")
        end = start + len(f"Fact {i} is so.")
        claims.append(Claim(f"c{i}", "g0", i + 1, start, end, f"Fact {i} is so"))
        label = ("S", "NS")[i % 2]
        evidence = (f"a{i % 3}",) if label == "S" else ("a0", "a1", "a2")
        support.append(Verdict(f"c{i}", "t0", JUDGE, label=label, evidence=evidence))
        wording.append(Verdict(f"c{i}", "t0", JUDGE, label="assertion", number=(i % 3) / 2))
    run.write("questions", [question], Question)
    run.write("generations/long", [_answer("g0", question, text, "long", "plain")], Generation)
    run.write("claims/long", claims, Claim)
    run.write("verdicts/long", [Verdict("g0", "t0", "filter@1", label="answered")], Verdict)
    run.write("verdicts/long-support", support, Verdict)
    run.write("verdicts/long-decisive", wording, Verdict)
    passages = [Passage(f"a{i}", f"Title {i}", f"Passage {i} about Ada.") for i in range(3)]
    run.write("passages/long", passages, Passage)
    return _finished(run, "self_known", {}, MODEL)


def pairs_run(folder: Path, n: int = 6) -> Path:
    """A run whose answers are compared with three samples each; the last sample failed."""
    run = RunFolder.create(folder)
    questions = [Question(f"q{i}", "made", f"Who found {i}?", (Gold("Bo"),)) for i in range(n)]
    answers = [
        _answer(f"s{i}", q, "I think Bo did.", "short", "plain") for i, q in enumerate(questions)
    ]
    draws = [
        _answer(f"d{i}-{k}", q, f"sample {k} of {i}", "short", "plain", k)
        for i, q in enumerate(questions)
        for k in reversed(range(3))
    ]
    run.write("questions", questions, Question)
    run.write("generations/short", answers, Generation)
    run.write("generations/draws", draws, Generation)
    read = [Verdict(f"s{i}", f"q{i}", JUDGE, stance="hedged", content="correct") for i in range(n)]
    run.write("verdicts/short", read, Verdict)
    sure = [
        Verdict(f"s{i}#0", f"q{i}", JUDGE, label="assertion", number=0.2 * (i % 6), raw="Bo did.")
        for i in range(n)
    ]
    run.write("verdicts/short-decisive", sure, Verdict)
    pairs = [Verdict(f"s{i}#0", f"q{i}", JUDGE, label="read", raw="cnx") for i in range(n)]
    run.write("verdicts/short-contradict", pairs, Verdict)
    return _finished(run, "faithfulness", {}, MODEL)


def _answer(
    name: str, question: Question, text: str, form: str, method: str, sample: int = 0
) -> Generation:
    return Generation(
        ask(question.text, sample=sample, temperature=1.0 if sample else 0.0),
        id=name,
        question=question.id,
        stage=form,
        form="long" if form == "long" else "short",
        method=method,
        instructed=method == "instructed",
        text=text,
        finish="stop",
    )


def _finished(run: RunFolder, protocol: str, settings: dict[str, int], model: str) -> Path:
    run.write_manifest(
        Manifest(
            created="2026-01-02T03:04:05+00:00",
            finished="2026-01-02T03:05:05+00:00",
            command=f"sayso run {protocol}",
            protocols=(protocol,),
            settings={"seed": 0, **settings},
            prompts={"signature": "made"},
            data="made",
            model=model,
            model_identity=model,
            model_signature=model,
            judge="rules",
            judge_signature=JUDGE,
        )
    )
    return run.path
