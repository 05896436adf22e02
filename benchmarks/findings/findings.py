"""Do the papers' headlines hold on public answers with people's labels? ``make findings``.

    SAYSO_TEST_DATA=<folder> python benchmarks/findings/findings.py [--all] [--part N]
        [--figures FILE] [--write docs/findings.md]

Nine claims, each read off public data by sayso's own functions; no model takes part. What counts is
written down first (:data:`CLAIMS`, :func:`verdict`): the interval, over resampled questions,
documents or people, decides between *found*, *not found* and *cannot say*.
Data that are not there are named and left out.

``--part N`` reads one source in N. ``--figures FILE`` writes every figure, and what the readers
made of each text, for ``findings_check.py``, which computes the figures again without sayso.
``--write`` puts the tables between the marks of a page. No text of the data is printed or written.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "readers"))

from judge_rules import golds_of_field, set_aside
from sayso import answers, metrics
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.judges.judge import NO_VALUE, WITHHELD
from sayso.judges.rules.judge import judge_rules
from sayso.report.numbers import plain_number

#: the least that counts, for every claim but the first: a tenth of the scale
SIZE = 0.10
BEGIN, END = "<!-- made by `make findings` -->", "<!-- end of what `make findings` makes -->"
#: of more systems than this only the ends are printed
MANY = 20
#: answers with fewer comparable samples have no consistency (docs/faithfulness.md)
LEAST_SAMPLES = 5


class Line(NamedTuple):
    """A figure on one set of answers, with what it rests on."""

    data: str
    units: str
    figure: float | None
    low: float | None
    high: float | None
    details: dict[str, float | None]
    #: one of many of a kind: counted in a sentence, printed with --all
    folded: bool = False
    #: the answers of other lines together: no evidence beside theirs
    pooled: bool = False


class Study:
    """The folder of data, the part of it that is read, and what the readers made of it."""

    def __init__(self, folder: Path, part: int = 1, resamples: int = 2000) -> None:
        self.folder, self.part, self.resamples = folder, part, resamples
        self.readings: dict[str, list[Any]] = {}

    def kept(self, source: object) -> bool:
        """Tell whether a source is in the part that is read."""
        digest = hashlib.sha256(f"part {source}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.part == 0

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a file of JSON lines, packed or not."""
        path = self.folder / name
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
        # not splitlines(): it also splits at U+2028 inside a text
        return [json.loads(line) for line in text.split("\n") if line.strip()]


class Claim(NamedTuple):
    """A headline, and what would count as finding it.

    ``way``: "more" = the figure is above 0 by ``size`` or more, "less" = below, "same" = it is
    within ``size`` of 0.
    """

    text: str
    paper: str
    figure: str
    way: str
    pieces: tuple[Callable[[Study], Iterator[Line]], ...]
    size: float = SIZE


def verdict(claim: Claim, line: Line) -> str:
    """Return what the interval says of the claim."""
    low, high, size = line.low, line.high, claim.size
    if low is None or high is None:
        return "cannot say"
    if claim.way == "same":
        inside = -size < low and high < size
        return "found" if inside else "not found" if low > 0 or high < 0 else "cannot say"
    if claim.way == "less":
        low, high = -high, -low
    return "not found" if high < size else "found" if low > 0 else "cannot say"


def needed(claim: Claim) -> str:
    """Return what would count, in words."""
    size = plain_number(claim.size)
    if claim.way == "same":
        return f"interval within ±{size}"
    sign, side = ("+", "above") if claim.way == "more" else ("−", "below")
    return f"interval {side} 0, reaching {sign}{size}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


# ---- words and consistency


def trained_on(question: str) -> bool:
    """Tell whether the reader of decisiveness was trained on a question's ratings."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2 == 0


def ratings(study: Study) -> Iterator[Line]:
    """Wordings that people rated: does the reader rank them alike?"""
    path = study.folder / "linguistic_uncertainty" / "benchmark.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [r for r in csv.DictReader(file) if study.kept(r["question"])]
    rows = [r for r in rows if not trained_on(r["question"])]
    # an answer that asserts nothing has no decisiveness: no one would bet on it
    ours = [decisiveness(r["uncertainty_expression"]) or 0.0 for r in rows]
    people = [float(r["annotation_mean"]) / 100 for r in rows]
    study.readings["ratings"] = ours
    groups = [r["question"] for r in rows]
    e = metrics.bootstrap(
        metrics.spearman, ours, people, clusters=groups, limits=(-1, 1), n=study.resamples
    )
    off = float(np.abs(np.subtract(ours, people)).mean()) if rows else None
    units = f"{counted(len(rows), 'answer')}, {counted(len(set(groups)), 'question')}"
    yield Line("wordings of four models, rated by up to five people", units, e.value, e.low, e.high,
               {"mean absolute error": off})  # fmt: skip


@cache
def consistency(study: Study) -> tuple[dict[str, np.ndarray], int]:
    """Return decisiveness, agreeing and comparable samples of SAC3's usable answers, and all."""
    found: list[list[Any]] = []
    for name in ("hotpotQA", "nq_open"):
        for row in study.rows(f"sac3/{name}_250_eval_labeled-SC.jsonl"):
            if not study.kept(row["question"]):
                continue
            answer = row["generated_answer"]
            text = answer[0] if isinstance(answer, list) else answer
            told = [contradicts(row["question"], text, s) for s in row["self_evaluations"]]
            told = [t for t in told if t is not None]
            found.append([decisiveness(text), len(told) - sum(told), len(told), row["question"]])
    study.readings["consistency"] = [row[:3] for row in found]
    used = [row for row in found if row[0] is not None and row[2] >= LEAST_SAMPLES]
    columns = dict(zip(("said", "agree", "k", "question"), zip(*used, strict=True), strict=False))
    return {name: np.asarray(column) for name, column in columns.items()}, len(found)


def of_consistency(study: Study, metric: Any, *names: str) -> Iterator[Line]:
    """Yield a metric of what was said and what the samples say."""
    rows, n = consistency(study)
    if not rows:
        return
    rows = {**rows, "confidence": rows["agree"] / rows["k"]}
    e = metrics.bootstrap(metric, *(rows[name] for name in names), clusters=rows["question"],
                          limits=(-1, 1), n=study.resamples)  # fmt: skip
    units = f"{len(rows['k'])} of {counted(n, 'answer')}, each to a different question"
    details = {
        "mean decisiveness": float(rows["said"].mean()),
        "mean confidence": float(rows["confidence"].mean()),
    }
    data = "SAC3: GPT-3.5, each question asked ten more times"
    yield Line(data, units, e.value, e.low, e.high, details)


def skill(study: Study) -> Iterator[Line]:
    """Return what the words say of consistency beyond a blind choice of words."""
    yield from of_consistency(study, metrics.skill, "said", "agree", "k")


def rank(study: Study) -> Iterator[Line]:
    """Whether less consistent answers are worded less decisively at all."""
    yield from of_consistency(study, metrics.kendall, "said", "confidence")


# ---- length and the answer metric

SYSTEMS = {"fid": "FiD, a span reader", "gpt35": "GPT-3.5 (text-davinci-003)",
           "chatgpt": "ChatGPT", "gpt4": "GPT-4", "newbing": "New Bing"}  # fmt: skip


@cache
def evouna(study: Study) -> dict[str, np.ndarray]:
    """Return the half of EVOUNA that no rule was written with, as arrays."""
    found: list[list[Any]] = []
    for dataset in ("NQ", "TQ"):
        for row in study.rows(f"evouna/{dataset}.jsonl"):
            question = row["question"]
            if row["improper"] is True or not set_aside(dataset, question):
                continue
            gold = golds_of_field(row["golden_answer"])
            for system in SYSTEMS:
                right, answer = row.get(f"judge_{system}"), row.get(f"answer_{system}")
                if not (isinstance(right, bool) and isinstance(answer, str)):
                    continue
                if not study.kept(question):
                    continue
                read = judge_rules(question, [gold], answer)
                rules = math.nan if read.value is None else float(read.content == "correct")
                rouge = answers.rouge_l(list(gold.names), answer) > 0.5
                found.append([f"{dataset}/{question}", dataset, system, float(right),
                              float(rouge), rules, float(len(answer.split()))])  # fmt: skip
    study.readings["evouna"] = [None if math.isnan(row[5]) else row[5] for row in found]
    names = ("question", "dataset", "system", "people", "rouge", "rules", "words")
    return dict(zip(names, map(np.asarray, zip(*found, strict=True)), strict=True))


def length_by(study: Study, metric: str) -> Iterator[Line]:
    """AUROC of length against an answer metric, less that against people, within a system."""
    data = evouna(study)
    chat = [system for system in SYSTEMS if system != "fid"]
    for name, systems in (*((n, [s]) for s, n in SYSTEMS.items()), ("the four chat systems", chat)):
        use = ~np.isnan(data[metric]) & np.isin(data["system"], systems)
        d = {key: column[use] for key, column in data.items()}
        kind = np.char.add(d["dataset"], d["system"])
        sides = [(d["words"], 1 - d[truth], kind) for truth in (metric, "people")]
        e = metrics.bootstrap_difference(
            metrics.within_auroc, *sides, clusters=d["question"], n=study.resamples
        )
        truths = METRIC_NAMES[metric], "people"
        found = {
            f"AUROC of length against {truth}": metrics.within_auroc(*side)
            for truth, side in zip(truths, sides, strict=True)
        }
        units = f"{counted(len(kind), 'answer')}, {counted(len(set(d['question'])), 'question')}"
        pooled = len(systems) > 1
        yield Line(f"EVOUNA, {name}", units, e.value, e.low, e.high, found, pooled=pooled)


METRIC_NAMES = {"rouge": "ROUGE-L", "rules": "`rules`"}


def rouge(study: Study) -> Iterator[Line]:
    """By how much ROUGE-L above .5 as the answer metric raises the AUROC of length."""
    yield from length_by(study, "rouge")


def rules(study: Study) -> Iterator[Line]:
    """By how much the rules judge as the answer metric raises the AUROC of length."""
    yield from length_by(study, "rules")


# ---- position in a text


class Placed(NamedTuple):
    """A sentence or claim, number ``i`` of ``n`` of its text; ``share`` is NaN where unlabeled."""

    text: object
    source: object
    i: int
    n: int
    share: float


def slope(study: Study, data: str, unit: str, source: str, placed: Iterable[Placed]) -> Line:
    """Return the slope inside texts, with the mean of each fifth."""
    rows = [p for p in placed if study.kept(p.source)]
    share = np.array([p.share for p in rows])
    found = metrics.position_trend(
        share, [p.i / p.n for p in rows], [str(p.text) for p in rows],
        clusters=[str(p.source) for p in rows], n=study.resamples,
    )  # fmt: skip
    fifth = np.array([metrics.position_bin(p.i, p.n) for p in rows])
    held = ~np.isnan(share)
    means = {
        name: float(share[held & (fifth == k)].mean()) if (held & (fifth == k)).any() else None
        for k, name in enumerate(("first fifth", "second", "third", "fourth", "last"))
    }
    units = f"{counted(found.sentences, unit)}, {counted(found.clusters, source, SEVERAL[source])}"
    return Line(data, units, found.slope, found.low, found.high, means)


SEVERAL = {"person": "people", "text": "texts", "prompt": "prompts", "book": "books",
           "question": "questions"}  # fmt: skip
#: what a label says of support; whatever is not named here has no place in the share
SUPPORT = {
    "fables": {"Yes": 1.0, "PartialSupport": 0.0, "No": 0.0},
    "refchecker": {"Entailment": 1.0, "Contradiction": 0.0},
    "unsaid": {"Entailment": 0.0, "Contradiction": 0.0, "Neutral": 1.0},
}
FACTS = ("wk", "science", "writing_rec")
SETTINGS = {
    "zero_context": "without a passage",
    "noisy_context": "with retrieved passages",
    "accurate_context": "with the right passage",
}


def factscore(study: Study, system: str) -> Iterator[Placed]:
    """Yield the sentences of one system's biographies: supported claims of S and NS."""
    for number, row in enumerate(study.rows(f"factscore/{system}.jsonl")):
        sentences = row["annotations"] or []
        for i, sentence in enumerate(sentences, 1):
            labels = [fact["label"] for fact in sentence.get("human-atomic-facts") or ()]
            s, ns = labels.count("S"), labels.count("NS")
            share = s / (s + ns) if s + ns else math.nan
            yield Placed(number, row["topic"], i, len(sentences), share)


def in_order(text: object, source: object, shares: Sequence[float]) -> Iterator[Placed]:
    """Yield the labels of a text, one after another."""
    for i, share in enumerate(shares, 1):
        yield Placed(text, source, i, len(shares), share)


def felm(study: Study, domains: Sequence[str]) -> Iterator[Placed]:
    """Yield the segments of ChatGPT's answers in some domains: right, says a person."""
    for row in study.rows("real/felm.jsonl.gz"):
        if row["domain"] in domains:
            key = f"{row['domain']} {row['index']}"
            yield from in_order(key, row["prompt"], [float(label) for label in row["labels"]])


def refchecker(study: Study, setting: str, codes: dict[str, float]) -> Iterator[Placed]:
    """Yield the claims of seven models in one setting."""
    for row in study.rows("real/refchecker.jsonl.gz"):
        if row["setting"] == setting:
            shares = [codes.get(claim["human_label"], math.nan) for claim in row["claims"]]
            yield from in_order(f"{row['model']} {row['id']}", row["id"], shares)


def support_factscore(study: Study) -> Iterator[Line]:
    """FActScore's three systems: supported claims of each sentence."""
    for system in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        yield slope(study, f"FActScore, {system}: biographies", "sentence", "person",
                    factscore(study, system))  # fmt: skip


def support_wikibio(study: Study) -> Iterator[Line]:
    """GPT-3's biographies: sentences without any inaccuracy."""
    rows = enumerate(study.rows("real/wikibio_gpt3.jsonl.gz"))
    shares = ((k, [float(label == "accurate") for label in row["annotation"]]) for k, row in rows)
    placed = (p for k, labels in shares for p in in_order(k, k, labels))
    yield slope(study, "WikiBio, GPT-3: biographies", "sentence", "text", placed)


def support_felm(study: Study) -> Iterator[Line]:
    """ChatGPT's answers by kind: in a sum or an argument a step builds on those before it."""
    steps = ("math", "reasoning")
    for name, domains in (("facts and advice", FACTS), ("math and reasoning", steps),
                          ("all", FACTS + steps)):  # fmt: skip
        line = slope(study, f"FELM, ChatGPT: {name}", "segment", "prompt", felm(study, domains))
        yield line._replace(pooled=name == "all")


def support_fables(study: Study) -> Iterator[Line]:
    """Summaries of books: claims that the book supports as a whole."""
    code = SUPPORT["fables"]
    placed = (
        p
        for row in study.rows("real/fables.jsonl.gz")
        for p in in_order(
            f"{row['model']} {row['book']}",
            row["book"],
            [code.get(claim["label"], math.nan) for claim in row["claims"].values()],
        )
    )
    yield slope(study, "FABLES, five models: book summaries", "claim", "book", placed)


def support_refchecker(study: Study) -> Iterator[Line]:
    """Claims that a source decides: supported, of supported and contradicted."""
    for setting, name in SETTINGS.items():
        yield slope(study, f"RefChecker, seven models: {name}", "claim", "question",
                    refchecker(study, setting, SUPPORT["refchecker"]))  # fmt: skip


def unsaid(study: Study) -> Iterator[Line]:
    """The share of claims of which the source says nothing, along the text."""
    for setting, name in SETTINGS.items():
        yield slope(study, f"RefChecker, seven models: {name}", "claim", "question",
                    refchecker(study, setting, SUPPORT["unsaid"]))  # fmt: skip


# ---- known and unknown


def abstaining(
    study: Study, data: str, source: str, rows: Sequence[dict[str, Any]], folded: bool = False
) -> Line:
    """Return the abstention gap over rows with ``withheld``, ``answerable`` and ``source``."""
    held = np.array([r["withheld"] for r in rows], dtype=np.float64)
    nobody = np.array([not r["answerable"] for r in rows])
    sources = [r["source"] for r in rows]
    e = metrics.bootstrap_abstention(held, nobody, sources, n=study.resamples)
    shares = {
        f"declines {where}": float(held[side & ~np.isnan(held)].mean())
        for where, side in (("unanswerable questions", nobody), ("answerable questions", ~nobody))
        if (side & ~np.isnan(held)).any()
    }
    units = f"{counted(len(rows), 'answer')}, {counted(len(set(sources)), source)}"
    return Line(data, units, e.value, e.low, e.high, shares, folded)


def unknownbench(study: Study) -> list[dict[str, Any]]:
    """Return the answers of nine models to questions with an invented word, and without."""
    found = []
    for row in study.rows("real/unknownbench_refunq.jsonl.gz"):
        # one model family has the questions in capitals and with a question mark
        source = "".join(c for c in row["question"].lower() if c.isalnum() or c == " ").strip()
        if study.kept(source):
            stance = row["answer"] and judge_rules(row["question"], NO_VALUE, row["answer"]).stance
            withheld = float(stance in WITHHELD) if stance else math.nan
            found.append({**row, "source": source, "withheld": withheld})
    study.readings["unknownbench"] = [
        None if math.isnan(r["withheld"]) else r["withheld"] for r in found
    ]
    return found


def confabulations(study: Study) -> list[dict[str, Any]]:
    """Return the answers of 77 systems about articles that hold the answer, or do not."""
    # Systems were told to write N/A. The questions are not in the set, and without them real
    # answers read as refusals by policy ("could not count on tax revenue"): abstained only.
    stance = cache(lambda text: judge_rules("", NO_VALUE, text).stance)
    found = []
    for row in study.rows("real/confabulations.jsonl.gz"):
        if study.kept(row["article"]):
            read = stance(row["answer"])
            withheld = math.nan if read is None else float(read == "abstained")
            found.append({**row, "source": row["article"], "withheld": withheld})
    study.readings["confabulations"] = [
        None if math.isnan(r["withheld"]) else r["withheld"] for r in found
    ]
    return found


def known(study: Study, data: str, source: str, rows: Sequence[dict[str, Any]]) -> Iterator[Line]:
    """Yield the abstention gap by model and pooled."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    for model in models:
        name = "".join(c for c in model if c.isprintable() and c not in "|<>`[]")
        own = [row for row in rows if row["model"] == model]
        yield abstaining(study, f"{data}, {name}", source, own, folded=len(models) > MANY)
    yield abstaining(study, f"{data}, all {len(models)}", source, rows)._replace(pooled=True)


def known_unknownbench(study: Study) -> Iterator[Line]:
    """Questions with an invented word, and without."""
    yield from known(study, "UnknownBench", "question", unknownbench(study))


def known_confabulations(study: Study) -> Iterator[Line]:
    """Questions about an article that says nothing of it, and about one that does."""
    yield from known(study, "confabulations", "article", confabulations(study))


# ---- judges


def lenience(accepted: Any, right: Any, weights: Any = None) -> Any:
    """Return the share of wrong answers accepted less that of right ones refused; -1..1.

    ``accepted`` and ``right`` (n,) are 1 or 0; ``weights`` (n,), or (B, n) and then (B,). NaN
    (``None`` without weights) unless there are right and wrong answers.
    """
    a, r = np.asarray(accepted, dtype=np.float64), np.asarray(right, dtype=np.float64)
    W = np.ones((1, len(a))) if weights is None else np.atleast_2d(weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (W @ (a * (1 - r))) / (W @ (1 - r)) - (W @ ((1 - a) * r)) / (W @ r)
    if weights is None:
        return None if np.isnan(value[0]) else float(value[0])
    return value


JUDGES = ("JudgeLM", "Gemma-2B", "Llama3-70B", "Llama-70B", "GPT-4", "Llama-7B", "Llama3-8B",
          "Llama-13B", "Mistral-7B")  # fmt: skip


def errors(study: Study, data: str, accepted: Any, right: Any, questions: Sequence[str]) -> Line:
    """Return how much more a judge errs in favor of an answer than against it."""
    a, r = np.asarray(accepted, dtype=np.float64), np.asarray(right, dtype=np.float64)
    e = metrics.bootstrap(lenience, a, r, clusters=questions, limits=(-1, 1), n=study.resamples)
    details = {
        "accepts wrong answers": float(a[r == 0].mean()) if (r == 0).any() else None,
        "rejects right answers": float(1 - a[r == 1].mean()) if (r == 1).any() else None,
        "kappa": metrics.kappa(a, r),
    }
    units = f"{counted(len(a), 'answer')}, {counted(len(set(questions)), 'question')}"
    return Line(data, units, e.value, e.low, e.high, details)


def judges_models(study: Study) -> Iterator[Line]:
    """Nine models as judges of TriviaQA answers."""
    rows = study.rows("real/umass_triviaqa_judges.jsonl.gz")
    rows = [row for row in rows if study.kept(row["question"])]
    right = [row["Human-Eval"] == "True" for row in rows]
    questions = [row["question"] for row in rows]
    for judge in JUDGES:
        accepted = [row[judge] == "True" for row in rows]
        yield errors(study, f"TriviaQA, eight models; judge: {judge}", accepted, right, questions)


def judges_ours(study: Study) -> Iterator[Line]:
    """Our rules, and ROUGE-L, as judges of EVOUNA."""
    data = evouna(study)
    for metric, name in (("rules", "judge: `rules`"), ("rouge", "judge: ROUGE-L above .5")):
        use = ~np.isnan(data[metric])
        yield errors(study, f"EVOUNA, five systems; {name}", data[metric][use],
                     data["people"][use], data["question"][use].tolist())  # fmt: skip


# ---- the claims, settled beforehand

CLAIMS = {
    "ratings": Claim(
        "the offline reader ranks wordings as people do", "claims 2 and 3 rely on this reader",
        "Spearman correlation of decisiveness with people's ratings", "more", (ratings,), 0.50,
    ),
    "skill": Claim(
        "a model's decisiveness says nothing about its consistency",
        "Yona et al. 2024, arXiv 2405.16908",
        "skill: cMFG relative to the same words assigned at random", "same", (skill,),
    ),
    "rank": Claim(
        "decisiveness and consistency do not even rank answers alike",
        "Yona et al. 2024, arXiv 2405.16908",
        "Kendall correlation of decisiveness with the share of samples that agree", "same", (rank,),
    ),
    "rouge": Claim(
        "under ROUGE-L, answer length detects errors",
        "Santilli et al. 2025, arXiv 2504.13677",
        "AUROC of length against ROUGE-L above .5, minus that against people", "more", (rouge,),
    ),
    "rules": Claim(
        "under a judge, answer length does not detect errors",
        "Santilli et al. 2025, arXiv 2504.13677",
        "AUROC of length against the judge `rules`, minus that against people", "same", (rules,),
    ),
    "support": Claim(
        "the share of supported claims falls along a text", "Tu et al. 2024, arXiv 2411.15993",
        "slope of the share within texts, from start (0) to end (1)", "less",
        (support_factscore, support_wikibio, support_felm, support_fables, support_refchecker),
    ),
    "unsaid": Claim(
        "claims that the source does not mention become more frequent",
        "this can look like falling accuracy",
        "slope of the share labeled Neutral, from start (0) to end (1)", "more", (unsaid,),
    ),
    "known": Claim(
        "models distinguish unanswerable from answerable questions",
        "UNCLE, arXiv 2505.16922; UnknownBench, arXiv 2311.09731",
        "abstention gap (G): share of unanswerable questions declined minus share of answerable "
        "ones declined", "more", (known_unknownbench, known_confabulations),
    ),
    "judges": Claim(
        "judges err in favor of the answer", "Thakur et al. 2024, arXiv 2406.12624",
        "share of wrong answers accepted, minus share of right answers rejected", "more",
        (judges_models, judges_ours),
    ),
}  # fmt: skip


class Result(NamedTuple):
    """The lines of one claim; the files that are not there."""

    key: str
    claim: Claim
    lines: list[Line]
    missing: list[str]


def measure(study: Study) -> list[Result]:
    """Return every claim with its lines; data that are not there are named."""
    results = []
    for key, claim in CLAIMS.items():
        lines: list[Line] = []
        missing: list[str] = []
        for piece in claim.pieces:
            try:
                lines += piece(study)
            except FileNotFoundError as error:
                missing.append(Path(error.filename).relative_to(study.folder).as_posix())
        results.append(Result(key, claim, lines, missing))
    return results


# ---- tables


def cell(claim: Claim, line: Line) -> str:
    """Return figure and interval."""
    if line.low is None or line.high is None:
        return plain_number(line.figure, 3)
    value, low, high = (plain_number(part, 3) for part in (line.figure, line.low, line.high))
    return f"{value} [{low}, {high}]"


def summary(results: Sequence[Result]) -> str:
    """Return the table of the claims: what would count, and what the lines say."""
    head = "| | claim | figure | found if | *found* (lines) | *not found* (lines) | "
    lines = [f"{head}*cannot say* (lines) |"]
    lines.append("|---" * 7 + "|")
    for number, (_, claim, rows, _) in enumerate(results, 1):
        told = [verdict(claim, line) for line in rows if not line.pooled]
        cells = [str(told.count(v)) for v in ("found", "not found", "cannot say")]
        cells = cells if rows else ["no data", "", ""]
        lines.append(
            f"| {number} | {claim.text} ({claim.paper}) | {claim.figure} | {needed(claim)} | "
            + " | ".join(cells) + " |"
        )  # fmt: skip
    return "\n".join(lines)


def table(result: Result, everything: bool) -> str:
    """Return the lines of a claim, and a sentence about those that are folded."""
    _, claim, rows, missing = result
    absent = f"Not measured, the data are not here: {', '.join(missing)}." if missing else ""
    if not rows:
        return absent
    shown = [line for line in rows if everything or not line.folded]
    names = list(dict.fromkeys(name for line in shown for name in line.details))
    lines = ["| data | sample | " + " | ".join(names) + " | figure | |"]
    lines.append("|---" * (4 + len(names)) + "|")
    for line in shown:
        cells = [plain_number(line.details.get(name), 2) for name in names]
        lines.append(f"| {line.data} | {line.units} | " + " | ".join(cells)
                     + f" | {cell(claim, line)} | {shown_verdict(claim, line)} |")  # fmt: skip
    folded = [line for line in rows if line.folded]
    if folded and not everything:
        lines += ["", many(claim, folded)]
    if any(line.pooled for line in shown):
        lines += ["", POOLED]
    return "\n".join([*lines, "", absent] if absent else lines)


POOLED = "A pooled line combines the answers from the other lines and is not counted."


def shown_verdict(claim: Claim, line: Line) -> str:
    """Return a verdict as the table has it."""
    return f"pooled: {verdict(claim, line)}" if line.pooled else f"**{verdict(claim, line)}**"


def many(claim: Claim, lines: Sequence[Line]) -> str:
    """Return a sentence about many lines of a kind."""
    told = [verdict(claim, line) for line in lines]
    counts = ", ".join(f"{told.count(v)} {v}" for v in ("found", "not found", "cannot say"))
    order = sorted((line for line in lines if line.figure is not None), key=lambda x: x.figure or 0)
    start = f"The {len(lines)} systems separately (`--all` lists them): {counts}"
    if not order:
        return f"{start}."
    ends = " to ".join(
        f"{plain_number(line.figure, 3)} ({line.data.partition(', ')[2]})"
        for line in (order[0], order[-1])
    )
    return f"{start}; figures from {ends}."


def other_sizes(results: Sequence[Result], sizes: Sequence[float]) -> str:
    """Return how many verdicts another least size would change."""
    lines = []
    for size in sizes:
        both = (
            (
                f"{number} {line.data}",
                verdict(claim, line),
                verdict(claim._replace(size=size), line),
            )
            for number, (_, claim, rows, _) in enumerate(results, 1)
            for line in rows
            if claim.size == SIZE
        )
        changed = [f"{name} ({other})" for name, own, other in both if own != other]
        lines.append(f"* {plain_number(size)}: {'; '.join(changed) or 'none'}")
    return "\n".join(lines)


def page(results: Sequence[Result], everything: bool = False) -> str:
    """Return the tables in Markdown."""
    parts = [summary(results)]
    for number, result in enumerate(results, 1):
        title = result.claim.text.lstrip("… ")
        parts.append(f"### {number}. {title[0].upper()}{title[1:]}\n\n{table(result, everything)}")
    if any(result.lines for result in results):
        parts.append(
            "### Verdicts that depend on the smallest size that counts\n\n"
            "These verdicts change if the smallest size that counts is not "
            f"{plain_number(SIZE)} but:\n\n" + other_sizes(results, (SIZE / 2, SIZE * 2))
        )
    return "\n\n".join(parts)


def written(text: str, body: str, command: str) -> str:
    """Return a page with what stands between its marks replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"no place for the tables: expected {BEGIN} and {END}")
    made = f"Made on {date.today():%Y-%m-%d} by `{command}`."
    return f"{before}{BEGIN}\n\n{made}\n\n{body}\n\n{END}{after}"


def figures(results: Sequence[Result], study: Study) -> dict[str, Any]:
    """Return every figure, and the readings it rests on, for the check."""
    lines = [
        {"claim": r.key, "data": line.data, "figure": line.figure, "low": line.low,
         "high": line.high, "verdict": verdict(r.claim, line), "details": line.details}
        for r in results for line in r.lines
    ]  # fmt: skip
    return {"part": study.part, "lines": lines, "readings": study.readings}


def main() -> None:
    """Print the tables; write the page and the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every system of a set of many")
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--figures", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    folder = os.environ.get("SAYSO_TEST_DATA", "")
    if not folder or not Path(folder).is_dir():
        sys.exit("set SAYSO_TEST_DATA to the folder of labelled data (benchmarks/README.md)")
    start = time.process_time()
    study = Study(Path(folder), given.part, given.resamples)
    results = measure(study)
    body = page(results, given.all)
    print(body)
    print(f"\n{time.process_time() - start:.0f} CPU seconds")
    if given.figures:
        given.figures.write_text(json.dumps(figures(results, study)), encoding="utf-8")
    if given.write:
        text = given.write.read_text(encoding="utf-8")
        given.write.write_text(written(text, body, "make findings"), encoding="utf-8")


if __name__ == "__main__":
    main()
