"""The rows of a faithfulness run: one for each assertion of a method's answers in a form.

Answers, decisiveness and comparisons with the draws are joined by ids, never by order. A row
without decisiveness (a punt, an omitted fact) or without enough answered draws has NaN there and
enters no mean of claims, but how often a model is right; everything that is left out is counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.cmfg import answer_confidence, faithfulness
from sayso.prompts import methods
from sayso.protocols.faithfulness.settings import STAGES, Settings, dropped
from sayso.protocols.faithfulness.verdicts import stored_ambiguity
from sayso.protocols.pool import Cluster, cluster_name, clusters_of
from sayso.protocols.protocol import Run, verdicts_at
from sayso.protocols.thoughts import thought_scores
from sayso.records import Generation, Question, Verdict

Floats = NDArray[np.float64]
#: parts of a paragraph, by where the sentence begins
PARTS = 5


class MethodRows(NamedTuple):
    """One method in one form; arrays have n entries, one for each assertion or punted answer.

    ``d`` decisiveness, ``j`` agreeing draws of ``k``; ``punted`` rows have no ``d``, and the ``j``
    of the plain answer to the same question. ``right`` 1, 0 or NaN (no verdict). ``weight``: the
    assertions of an answer share 1. ``part`` 0..4 of a paragraph, -1 in short answers. ``choice``
    of demonstrations, from 1, and 0 where there are none: scores are averaged over choices.
    ``thought`` is the decisiveness of a thought's last assertion, ``thinks`` whether there was one.
    ``lost`` counts answers (or aspects) left out, by reason. ``answers`` names each row's answer.
    """

    form: str
    method: str
    d: Floats
    j: Floats
    k: Floats
    punted: NDArray[np.bool_]
    right: Floats
    weight: Floats
    part: NDArray[np.int64]
    choice: NDArray[np.int64]
    entity: NDArray[np.int64]
    name: NDArray[np.str_]
    domain: NDArray[np.str_]
    question: list[str]
    answers: list[str]
    thought: Floats
    thinks: NDArray[np.bool_]
    lost: Counter[str]
    #: the verdicts on the wording, if the rows were read from a run: of which assertion, and the
    #: stage of the answers
    targets: Sequence[str] = ()
    stage: str = ""

    @property
    def c(self) -> Floats:
        """Confidence, NaN where too few draws answered."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.k > 0, self.j / self.k, np.nan)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Rows that enter MFG and cMFG."""
        return ~np.isnan(self.d) & ~np.isnan(self.c)

    @property
    def counts(self) -> tuple[NDArray[Any], ...]:
        """What cMFG of every row takes, averaged over choices: d, j, k, weight, choice."""
        return self.d, self.j, self.k, self.weight, self.choice

    def scored(self, pooled: bool = False) -> MethodRows:
        """Return the rows that enter, those of one answer sharing weight 1 among themselves.

        Definition 1 is the mean over the assertions that have both numbers: one that could not be
        read must not make its answer count for less. ``pooled``: every assertion has weight 1.
        """
        used = self.take(self.used)
        if pooled:
            return used._replace(weight=np.ones(len(used.d)))
        pairs = np.array([f"{a} {q}" for a, q in zip(used.answers, used.question, strict=True)])
        _, place, count = np.unique(pairs, return_inverse=True, return_counts=True)
        return used._replace(weight=1 / count[place.reshape(-1)] if len(pairs) else used.weight)

    def by_answer(self) -> AnswerRows:
        """Return the answers of these rows, each with its assertions' one vote (Definition 1)."""
        names, at, group = np.unique(
            np.array(self.answers, dtype=np.str_), return_index=True, return_inverse=True
        )
        order = np.argsort(group, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(group, minlength=len(names)))[:-1])
        pairs = [answer_confidence(self.j[p].tolist(), self.k[p].tolist()) for p in parts if len(p)]
        j, k = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return AnswerRows(
            f=np.array([faithfulness(self.d[p], self.c[p]) for p in parts if len(p)], dtype=float),
            j=j,
            k=k,
            choice=self.choice[at],
            entity=self.entity[at],
            name=self.name[at],
            claims=[p.tolist() for p in parts if len(p)],
        )

    def take(self, use: NDArray[np.bool_]) -> MethodRows:
        """Return some of the rows."""
        at = np.flatnonzero(use)
        arrays: dict[str, Any] = {
            name: value[use]
            for name, value in self._asdict().items()
            if isinstance(value, np.ndarray)
        }
        return self._replace(
            **arrays,
            question=[self.question[i] for i in at],
            answers=[self.answers[i] for i in at],
            targets=[self.targets[i] for i in at.tolist()] if self.targets else (),
        )


class AnswerRows(NamedTuple):
    """Answers with a claim that has decisiveness and confidence; arrays have one entry for each.

    ``f`` faithfulness (Definition 1), ``j`` / ``k`` the claims' mean confidence as a fraction,
    ``choice``, ``entity`` and ``name`` as in :class:`MethodRows`, ``claims`` the places of its
    claims there.
    """

    f: Floats
    j: Floats
    k: Floats
    choice: NDArray[np.int64]
    entity: NDArray[np.int64]
    name: NDArray[np.str_]
    claims: list[list[int]]

    @property
    def weight(self) -> Floats:
        """One vote for each answer."""
        return np.ones(len(self.f))


class AssertionRow(NamedTuple):
    """One assertion, or (no d) a punted answer, an omitted fact, or wording that is not read."""

    d: float
    j: float
    k: float
    punted: bool
    right: float
    weight: float
    part: int
    choice: int
    question: Question
    answer: str
    thought: float
    thinks: bool
    target: str = ""


def row_arrays(
    form: str,
    method: str,
    rows: Sequence[AssertionRow],
    lost: Counter[str],
    clusters: Mapping[str, Cluster],
) -> MethodRows:
    """Return the rows of one method in one form as arrays."""

    kinds = dict.fromkeys(("d", "j", "k", "right", "weight", "thought"), "f8")
    kinds |= {"punted": "?", "thinks": "?", "part": "i8", "choice": "i8"}
    columns: dict[str, Any] = {
        name: np.array([getattr(r, name) for r in rows], dtype=kind) for name, kind in kinds.items()
    }
    entities = {e: n for n, e in enumerate(dict.fromkeys(clusters.values()))}
    own = [clusters[r.question.id] for r in rows]
    return MethodRows(
        form=form,
        method=method,
        **columns,
        entity=np.array([entities[cluster] for cluster in own], dtype=np.int64),
        name=np.array([cluster_name(cluster) for cluster in own], dtype=np.str_),
        domain=np.array([r.question.domain for r in rows], dtype=np.str_),
        question=[r.question.id for r in rows],
        answers=[r.answer for r in rows],
        lost=lost,
        targets=[r.target for r in rows],
    )


# ---- from the stored tables to rows

#: what the two methods of the common pool are called in its tables
NAMES = {"plain": "vanilla", "instructed": "uncle"}
_CHOICE = re.compile(r"-(\d+)$")


def load_rows(run: Run, settings: Settings) -> list[MethodRows]:
    """Return the rows of every method and form that the run asked for, short before long."""
    by_id = {q.id: q for q in run.questions}
    out = dropped(run.questions, settings, stored_ambiguity(run))
    clusters = clusters_of(run.questions)
    every = []
    for form, stages in STAGES.items():
        rows: dict[str, list[AssertionRow]] = defaultdict(list)
        lost: dict[str, Counter[str]] = defaultdict(Counter)
        read_in: dict[str, str] = {}
        for stage in filter(lambda stage: run.folder.has(f"generations/{stage}"), stages):
            for method, row in _rows(run, stage, by_id, settings, out, lost):
                rows[method].append(row)
                read_in[method] = stage
        plain = {r.question.id: r for r in rows["vanilla"] if not r.punted and r.k == r.k}
        for method in methods.methods_in_list(settings.methods):
            if rows[method] or lost[method]:
                own = [_withheld(r, plain) for r in rows[method]]
                arrays = row_arrays(form, method, own, lost[method], clusters)
                every.append(arrays._replace(stage=read_in.get(method, "")))
    return every


def _rows(
    run: Run,
    stage: str,
    by_id: dict[str, Question],
    settings: Settings,
    out: set[str],
    lost: dict[str, Counter[str]],
) -> Iterator[tuple[str, AssertionRow]]:
    """Yield (method, row) of a stage; what has no row is counted in ``lost``."""
    content = verdicts_at(run, stage)
    letters = {at: v.raw or "" for at, v in verdicts_at(run, f"{stage}-contradict").items()}
    thoughts = thought_scores(run, stage)
    wording: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for v in run.folder.read(f"verdicts/{stage}-decisive", Verdict):
        wording[v.target.partition("#")[0], v.asked].append(v)
    for g in run.folder.read(f"generations/{stage}", Generation):
        choice = _CHOICE.search(g.method)
        method = NAMES.get(g.method, _CHOICE.sub("", g.method))
        for question in by_id[g.question].parts or (g.question,):
            if question in out:
                continue
            lost[method]["asked"] += 1
            verdicts = wording.get((g.id, question), [])
            for v in verdicts:
                if v.label == "omitted":
                    lost[method]["omitted"] += 1
                j, k, unread = draw_agreement(letters.get((v.target, question), ""), settings)
                if v.problem is not None:
                    lost[method][f"wording {v.problem}"] += 1
                elif v.label == "assertion" and k != k:
                    lost[method]["pairs unread" if unread else "few draws"] += 1
                yield (
                    method,
                    AssertionRow(
                        d=np.nan if v.number is None else v.number,
                        j=j,
                        k=k,
                        punted=v.label == "punt",
                        right=_right(content.get((g.id, question))),
                        weight=1 / len(verdicts),
                        part=_part(g, v),
                        choice=int(choice[1]) if choice else 0,
                        question=by_id[question],
                        answer=g.id,
                        thought=thoughts.get(g.id, np.nan),
                        thinks=g.form == "short" and bool(g.thinking),
                        target=v.target,
                    ),
                )


def draw_agreement(letters: str, settings: Settings) -> tuple[float, float, int]:
    """Return (agreeing, k, unread) of one assertion's draws; NaN where fewer than ``least`` count.

    The letters are those of the ``-contradict`` verdicts; ``draws.k`` takes the first draws only.
    """
    count = Counter(letters[: settings.draws.k])
    says = {"n": settings.relation == "contradiction", "e": True, "c": False}
    if settings.sample_punt != "drop":
        says["p"] = settings.sample_punt == "literal"
    k = sum(count[letter] for letter in says)
    if k < min(settings.least, settings.draws.k):
        return np.nan, np.nan, count["?"]
    return float(sum(count[letter] for letter in says if says[letter])), float(k), count["?"]


def _right(verdict: Verdict | None) -> float:
    """Return 1 for a right value, 0 for a wrong one or none, NaN where nobody read it."""
    if verdict is None or verdict.stance is None:
        return float("nan")
    return float(verdict.content == "correct")


def _part(g: Generation, v: Verdict) -> int:
    if g.form != "long" or v.start is None or not g.text:
        return -1
    return min(PARTS * v.start // len(g.text), PARTS - 1)


def _withheld(row: AssertionRow, plain: dict[str, AssertionRow]) -> AssertionRow:
    """Give a punt the confidence of the plain answer: what was withheld."""
    own = plain.get(row.question.id) if row.punted else None
    return row if own is None else row._replace(j=own.j, k=own.k)
