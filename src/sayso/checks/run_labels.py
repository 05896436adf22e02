"""``sayso judge-check --from RUN``: how well does the judge see doubt in the answers of this run?

Answers of a run are drawn into a sheet for people to label, without the judge's verdicts. Given the
labels, the verdicts that the run already has are compared with them: no model is asked.
"""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from sayso.checks.judge import label_of
from sayso.datasets.answer_files import open_answer_file
from sayso.judges.reliability import STANCES
from sayso.protocols.probes import KNOWN, UNREADABLE, draws_by_question, probe_state
from sayso.records import Generation, InputError, Question, Stance, Verdict
from sayso.report.terminal import TextTables
from sayso.storage.atomic import replacing
from sayso.storage.outputs import check_output, export_cell, separator_of
from sayso.storage.run_folder import Manifest, RunFolder

#: the column by which a sheet of ours is known: it leads from a row back to the run
ROW = "run_row"
COLUMNS = ("question", "gold", "answer", "stance", "content", ROW)
ENDINGS = (".csv", ".tsv", ".jsonl")
#: draws of the shares from which an interval is read off
DRAWS = 20_000
ASSERTED: tuple[Stance, ...] = ("committed", "omitted")


class AnswerKind(NamedTuple):
    """Answers of one kind: form, whether the fact was known, and what the judge read."""

    form: str
    known: str
    verdict: str


class JudgedAnswer(NamedTuple):
    """An answer of a run about one question, with the verdict of the run's judge."""

    row: str
    question: Question
    text: str
    kind: AnswerKind


class WeightedShare(msgspec.Struct, frozen=True):
    """A share of all judged answers of a run, estimated from those that were labelled.

    ``value`` is ``None`` with a ``problem``.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    problem: str | None = None


class FormLabels(msgspec.Struct, frozen=True):
    """How the judge did on the labelled answers of one form.

    ``found``: of the answers that voice doubt, those that the judge read so; ``invented``: of the
    others, those that it read as doubt. Both are of all ``judged`` answers of the form. ``counts``
    has (known, verdict, judged, labelled, of these labelled as doubt).
    """

    form: str
    judged: int
    labelled: int
    found: WeightedShare
    invented: WeightedShare
    counts: tuple[tuple[str, str, int, int, int], ...]


class RunLabels(msgspec.Struct, frozen=True):
    """How well the judge of a run sees doubt; ``unlabelled`` rows of the sheet were left empty."""

    run: str
    judge: str
    unlabelled: int
    forms: tuple[FormLabels, ...]


def judged_answers(folder: RunFolder, manifest: Manifest) -> list[JudgedAnswer]:
    """Return every answer of a run that its judge could read. Raises InputError without any.

    Of short answers and paragraphs; of those that were asked with and without an instruction, the
    ones with it, which the main numbers are of.
    """
    questions = {q.id: q for q in folder.iter("questions", Question)}
    known = _known(folder, manifest)
    answers = []
    for form in ("short", "long"):
        tables = f"generations/{form}", f"verdicts/{form}"
        if not all(map(folder.has, tables)):
            continue
        given = [g for g in folder.iter(tables[0], Generation) if g.problem is None]
        instructed = any(g.instructed for g in given)
        texts = {g.id: g.text for g in given if g.instructed == instructed}
        for v in folder.iter(tables[1], Verdict):
            if v.target in texts and v.asked in questions and v.value is not None:
                read = "doubt" if v.value == "uncertain" else v.value
                kind = AnswerKind(form, known.get(v.asked, "undetermined"), read)
                row = f"{form}/{v.target}/{v.asked}"
                answers.append(JudgedAnswer(row, questions[v.asked], texts[v.target], kind))
    if not answers:
        raise InputError(
            f"--from {folder.path}: it holds no short answer or paragraph with a verdict; name a "
            "finished run whose answers a judge read"
        )
    return answers


def _known(folder: RunFolder, manifest: Manifest) -> dict[str, str]:
    """Return "known", "unknown" or "undetermined" of every question that was probed."""
    if not all(map(folder.has, ("generations/probe", "verdicts/probe"))):
        return {}
    k = manifest.settings.get("probe.k")
    read = {v.target: v.value for v in folder.iter("verdicts/probe", Verdict)}
    draws = draws_by_question(folder.iter("generations/probe", Generation))
    states = {}
    for question, probes in draws.items():
        state = probe_state([read.get(g.id) for g in probes], k if isinstance(k, int) else 1)
        names = {KNOWN: "known", UNREADABLE: "undetermined"}
        states[question] = names.get(state, "unknown")
    return states


def draw_answers(answers: Sequence[JudgedAnswer], n: int, seed: int) -> list[JudgedAnswer]:
    """Return ``n`` answers in blind order, as many of each kind as there are.

    Kinds are :class:`AnswerKind`; one with few answers gives all, and the others share the rest.
    """
    rng = random.Random(seed)
    kinds: dict[AnswerKind, list[JudgedAnswer]] = {}
    for answer in sorted(answers, key=lambda a: a.row):
        kinds.setdefault(answer.kind, []).append(answer)
    for kind in sorted(kinds):
        rng.shuffle(kinds[kind])
    chosen: list[JudgedAnswer] = []
    order = sorted(kinds)
    rng.shuffle(order)
    while len(chosen) < min(n, len(answers)):
        for kind in order:
            if kinds[kind] and len(chosen) < n:
                chosen.append(kinds[kind].pop())
    rng.shuffle(chosen)
    return chosen


def write_sheet(run: Path, place: Path, n: int, seed: int = 0, *, force: bool = False) -> int:
    """Write a sheet of at most ``n`` answers of a run to label; return how many it has.

    ``place`` ends in .csv, .tsv or .jsonl. Raises InputError.
    """
    if not isinstance(n, int) or n < 1:
        raise InputError(f"--n is {n!r:.80}; expected 1 or more answers")
    if place.suffix.lower() not in ENDINGS:
        raise InputError(f"--out {place}: expected a name ending in {', '.join(ENDINGS)}")
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    check_output(place, mark=ROW, command="sayso judge-check", force=force, name=f"--out {place}")
    if place.exists() and place.stat().st_size and not force:
        raise InputError(
            f"--out {place} exists and may hold labels: give another name, or pass --force to "
            "replace it"
        )
    rows = [_row(answer) for answer in draw_answers(judged_answers(folder, manifest), n, seed)]
    with replacing(place) as file:
        file.write(_encoded(rows, place))
    return len(rows)


def _row(answer: JudgedAnswer) -> dict[str, object]:
    golds = [gold.value for gold in answer.question.golds or ()]
    cells = (answer.question.text, golds, answer.text, "", "", answer.row)
    return dict(zip(COLUMNS, cells, strict=True))


def _encoded(rows: Sequence[Mapping[str, object]], place: Path) -> bytes:
    if place.suffix.lower() == ".jsonl":
        return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator_of(place))
    writer.writerow(COLUMNS)
    writer.writerows([export_cell(row[name]) for name in COLUMNS] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def run_labels(run: Path, sheet: Path, seed: int = 0) -> RunLabels:
    """Return how well the judge of a run sees doubt, by the labels in a sheet of it.

    Raises InputError for a sheet of another run, without labels, or with two labels for one answer.
    """
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    answers = {answer.row: answer for answer in judged_answers(folder, manifest)}
    labels, unlabelled = _labels(sheet, answers, run)
    forms = []
    for form in dict.fromkeys(a.kind.form for a in answers.values()):
        judged = Counter(a.kind for a in answers.values() if a.kind.form == form)
        some = {row: doubt for row, doubt in labels.items() if answers[row].kind.form == form}
        given = Counter(answers[row].kind for row in some)
        doubts = Counter(answers[row].kind for row, doubt in some.items() if doubt)
        counts = [(s, judged[s], given[s], doubts[s]) for s in sorted(judged)]
        found, invented = weighted_shares(
            [(s.verdict == "doubt", a, b, c) for s, a, b, c in _merged(counts)], seed
        )
        rows = tuple((s.known, s.verdict, a, b, c) for s, a, b, c in counts)
        forms.append(FormLabels(form, judged.total(), len(some), found, invented, rows))
    judge = manifest.judge_signature or manifest.judge
    return RunLabels(str(run), judge, unlabelled, tuple(forms))


def _labels(
    sheet: Path, answers: Mapping[str, JudgedAnswer], run: Path
) -> tuple[dict[str, bool], int]:
    """Return whether each labelled row voices doubt, and how many rows have no label."""
    labels: dict[str, bool] = {}
    unlabelled = 0
    try:
        for row in open_answer_file(sheet, {}, kind="rows", reader="labelled").rows:
            place = f"{sheet} {row.place}"
            label = label_of(msgspec.structs.replace(row, place=place), {})
            doubt = None if label is None else label.uncertain
            if label is not None and doubt is None:
                raise InputError(
                    f"{place}: a verdict says nothing of doubt; fill in the column stance "
                    f"({', '.join(STANCES)})"
                )
            name = str(row.own.get(ROW) or "").strip()
            if name not in answers:
                raise InputError(
                    f"{place}: {ROW} is {name!r:.80}, no judged answer of {run}; label a sheet "
                    f"that sayso judge-check --from {run} wrote, and keep that column"
                )
            if doubt is None:
                unlabelled += 1
            elif labels.setdefault(name, doubt) != doubt:
                raise InputError(f"{place}: the same answer has another label further up")
    except InputError as error:
        raise InputError(f"--labelled {error}") from None
    if not labels:
        raise InputError(
            f"--labelled {sheet}: no row has a label; fill in the column stance "
            f"({', '.join(STANCES)})"
        )
    return labels, unlabelled


Counted = tuple[AnswerKind, int, int, int]


def _merged(counts: Sequence[Counted]) -> list[Counted]:
    """Join kinds without a label to those with the same verdict, whatever was known."""
    merged: list[Counted] = []
    for verdict in dict.fromkeys(s.verdict for s, *_ in counts):
        some = [row for row in counts if row[0].verdict == verdict]
        if all(labelled for _, _, labelled, _ in some):
            merged += some
        else:
            judged = sum(n for _, n, _, _ in some)
            given = sum(n for _, _, n, _ in some)
            doubts = sum(n for *_, n in some)
            merged.append((some[0][0], judged, given, doubts))
    return merged


def weighted_shares(
    kinds: Sequence[tuple[bool, int, int, int]], seed: int = 0
) -> tuple[WeightedShare, WeightedShare]:
    """Return (found, invented): of answers with doubt, those read so; of others, those read so.

    ``kinds`` are (read as doubt, answers in the run, labelled, of these with doubt). Answers were
    drawn by what the judge read, so each kind counts by its answers in the run: with N_i answers of
    which a share t_i voices doubt, found = sum of N_i t_i where doubt was read / sum of all N_i t_i
    (Begg and Greenes, Biometrics 39, 1983). The interval is the middle 95 % of draws in which every
    t_i has Jeffreys' distribution Beta(doubts + 1/2, others + 1/2), that of a kind labelled as a
    whole excepted, widened to hold the value. Undefined with a reason where a kind has no label, or
    where no answer voices doubt (or every one does).
    """
    if any(not labelled for _, _, labelled, _ in kinds):
        why = "no answer is labelled of those that the judge read in one way"
        return WeightedShare(None, problem=why), WeightedShare(None, problem=why)
    read = np.array([kind[0] for kind in kinds])
    size, labelled, doubts = np.array([kind[1:] for kind in kinds], dtype=np.float64).T
    rng = np.random.default_rng(seed)
    drawn = rng.beta(doubts + 0.5, labelled - doubts + 0.5, size=(DRAWS, len(kinds)))
    drawn = np.where(labelled >= size, doubts / labelled, drawn)
    return (
        _weighted(size, doubts / labelled, drawn, read, "no labelled answer voices doubt"),
        _weighted(size, 1 - doubts / labelled, 1 - drawn, read, "every labelled answer does"),
    )


def _weighted(
    size: np.ndarray, share: np.ndarray, drawn: np.ndarray, read: np.ndarray, empty: str
) -> WeightedShare:
    def of(shares: np.ndarray) -> np.ndarray:
        mass = shares * size
        result: np.ndarray = (mass * read).sum(axis=-1) / mass.sum(axis=-1)
        return result

    if not (share * size).sum():
        return WeightedShare(None, problem=empty)
    value = float(of(share))
    with np.errstate(invalid="ignore"):
        low, high = np.nanquantile(of(drawn), (0.025, 0.975))
    return WeightedShare(value, min(float(low), value), max(float(high), value))


# ---- terminal

FORMS = {"short": "short answers", "long": "paragraphs"}


def run_labels_text(result: RunLabels) -> TextTables:
    """Return the result as text."""
    head = [f"how well {result.judge} sees doubt in {result.run}"]
    tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = []
    for form in result.forms:
        name = FORMS[form.form]
        if not form.labelled:
            head.append(f"{name}: none of {form.judged:,} is labelled")
            continue
        found, invented = form.found, form.invented
        head.append(
            f"{name}: it sees {_shown(found)} of the doubt, and takes {_shown(invented)} of the "
            f"other answers for doubt ({form.labelled:,} of {form.judged:,} answers labelled)."
        )
        if found.value is not None and invented.value is not None:
            factor = found.value - invented.value
            head.append(
                f"{name}: if it errs on known and unknown facts alike, a true J is measured as "
                f"{factor:.2f} times its size."
            )
        rows = [
            (f"{verdict}, {known}", f"{doubts} of {given}", f"{judged:,}")
            for known, verdict, judged, given, doubts in form.counts
        ]
        tables.append((f"{name}: read as", ("labelled as doubt", "answers in the run"), rows))
    tail = [
        "Shares count each kind of answer as often as the run has it; ranges are 95 % and hold for "
        "this run only."
    ]
    if result.unlabelled:
        tail.append(f"{result.unlabelled:,} rows of the sheet have no label and do not count.")
    return TextTables(head, tables, (), tail)


def _shown(share: WeightedShare) -> str:
    if share.value is None or share.low is None or share.high is None:
        return f"an unknown share ({share.problem})"
    return f"{100 * share.value:.0f} % [{100 * share.low:.0f}–{100 * share.high:.0f}]"
