"""Do numbers corrected for the judge hold the truth, and what are labels worth?

    python benchmarks/people/correction.py coverage [--judge equal differ] [--design random]
    SAYSO_TEST_DATA=<folder> python benchmarks/people/correction.py real [--draws 500]
    python benchmarks/people/correction.py pairs [--trials 1000]
    python benchmarks/people/correction.py shares [--trials 300]
    python benchmarks/people/correction.py size
    python benchmarks/people/correction.py oracles      # needs ppi-python; glide-py too, if there

``coverage``: simulated runs of 150 entities with 4 to 8 facts each, by the law of
``benchmarks/metrics/coverage.py`` with about 40 % hedged (12 % with ``--hedged few``) and 60 %
known (half or 93 %: ``--known half`` or ``most``); labels of 60, 100 or 300 facts at random, as
``sayso label`` draws them by default (``--design stratified``) or by the certainty of the judge
(``certainty``, which is calibrated, or ``dull``: it tells nothing), or with a chance that rises
with the score (``unequal``). ``--rates``: only UNCLE's rates. The judge errs alike on known and
unknown facts, or differently, or in one direction only and seldom (``oneway``), or is of no use
(``blind``). The truth is that of 600,000 facts. "holds" is the share of printed intervals that
hold it (a coverage of 1,000 has a standard error of 0.7 points), "alone" that of the labels alone;
widths are mean half-widths, "spread" is the standard deviation of the value.

``pairs``: mean confidence of 200 answers, two to each of 100 questions, with 20 draws to compare.
The judge misses 30 % of contradictions and sees 5 % that are none. Of the draws 0 or 15 % give no
answer; the judge overlooks a fifth of these, and takes 3 % of the others for such. Labels are of an
answer and a draw, at random. The truth is that of people's comparisons of 18,000 answers, by the
protocol's own formula.

``real``: labels of people and verdicts of judges; of all labels 60 are drawn 500 times. "holds" is
the share of draws whose interval holds the value that all labels give, the judge's verdicts on all
rows being known. Rows are drawn without replacement from a finite set, and the interval also counts
the sampling of that set, so that it may hold more often. "worth" is the gain with all labels as if
60 of them were known.

``shares``: shares of 50, 90, 98 and 100 %, of 600 answers in clusters of 1 or 6 (intra-cluster
correlation .3), from 20 to 300 labels alone, at random or half of each verdict of a judge that is
wrong in 10 %: how often their interval holds the share.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso import metrics
from sayso.metrics import Corrected, LabeledRows
from sayso.metrics.uncle_rates import COMPOSED, SHARES
from sayso.people.items import RunItem
from sayso.people.labels import LabeledItem
from sayso.people.sampling import draw_design
from sayso.protocols.faithfulness.measure import AskedMethod, confidence_of_pairs
from sayso.protocols.faithfulness.rows import MethodRows, draw_agreement
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.labeled import PeopleLabels, corrected_places, pair_target
from sayso.records import Estimate, Verdict

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SIZES = (60, 100, 300)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TYPES = 8
ENTITIES = 150
#: what makes facts known: of about 50, 60 and 93 %
KNOWN = {"half": -0.1, "some": 0.5, "most": 3.0}
DRAWN = ("random", "stratified", "certainty", "dull", "unequal")
KNOWS = ("unknown", "known")
READ = ("correct", "incorrect", "uncertain")
HEDGED = {"many": -0.95, "few": -2.8}
#: a judge: of hedged answers read so, of committed ones read as hedged, of right ones accepted, of
#: wrong ones accepted; each on known and on unknown facts
JUDGES = {
    "equal": ((0.86, 0.86), (0.05, 0.05), (0.92, 0.92), (0.08, 0.08)),
    "differ": ((0.95, 0.76), (0.03, 0.09), (0.96, 0.82), (0.14, 0.04)),
    "oneway": ((0.96, 0.96), (0.0, 0.0), (0.96, 0.96), (0.0, 0.0)),
    "blind": ((0.5, 0.5), (0.4, 0.4), (0.6, 0.6), (0.45, 0.45)),
}


class Rows(NamedTuple):
    """Facts of a run: what is so, and what the judge reads."""

    entity: NDArray[np.int64]
    known: NDArray[np.int64]
    label: NDArray[np.int64]
    read: NDArray[np.int64]
    right: Floats
    accepted: Floats
    score: Floats
    words: Floats
    heard: Floats
    agreeing: NDArray[np.int64]
    supported: Flags
    found: Flags
    own: Flags


def simulate(
    entities: int, judge: str, hedging: float, rng: np.random.Generator, known_by: float = 0.5
) -> Rows:
    """Draw a run and its judge."""
    size = rng.integers(4, 9, entities)
    entity = np.repeat(np.arange(entities), size)
    n = len(entity)
    kind = np.argsort(rng.random((entities, TYPES)), axis=1)[np.arange(TYPES) < size[:, None]]
    knowledge = rng.normal(0, 1.0, entities)[entity]
    caution = rng.normal(0, 0.7, entities)[entity]
    easy, careful = np.linspace(-1, 1.2, TYPES), np.linspace(0.6, -0.6, TYPES)
    known = rng.random(n) < sigmoid(known_by + knowledge + easy[kind])
    hedged = rng.random(n) < sigmoid(hedging + caution + careful[kind] + 1.5 * ~known)
    right = rng.random(n) < np.where(known, 0.85, 0.12)
    score = rng.normal(0, 1, n) + 1.0 * ~right - 0.3 * knowledge
    rng.normal(0, 1, n)  # drawn for the tables of the page, too: the draws that follow stay theirs
    level = np.where(known, 0, 1)
    hit, invented, accepts, believes = (np.array(share)[level] for share in JUDGES[judge])
    accepted = rng.random(n) < np.where(right, accepts, believes)
    read_hedged = rng.random(n) < np.where(hedged, hit, invented)
    sure = sigmoid(0.8 + knowledge + 1.2 * rng.normal(0, 1, n))
    words = np.clip(0.55 + 0.5 * (sure - 0.5) + 0.2 * rng.normal(0, 1, n), 0, 1)
    noise = 0.08 * rng.normal(0, 1, n) * (1 + (judge == "differ") * 0.5 * level)
    heard = np.clip(np.where(rng.random(n) < 0.12, rng.random(n), words + 0.05 + noise), 0, 1)
    supported = rng.random(n) < sigmoid(0.6 + knowledge)
    return Rows(
        entity=entity,
        known=known.astype(np.int64),
        label=np.where(hedged, 2, np.where(right, 0, 1)),
        read=np.where(read_hedged, 2, np.where(accepted, 0, 1)),
        right=right.astype(np.float64),
        accepted=accepted.astype(np.float64),
        score=score,
        words=words,
        heard=heard,
        agreeing=rng.binomial(20, sure),
        supported=supported,
        found=rng.random(n) < np.where(supported, accepts, believes),
        own=rng.random(n) < np.where(supported, 0.85, 0.45),
    )


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def one_hot(at: NDArray[np.int64], columns: int) -> Floats:
    return (at[:, None] == np.arange(columns)).astype(np.float64)


def cells(known: NDArray[np.int64], label: NDArray[np.int64]) -> Floats:
    return one_hot(np.where(known == 1, 0, 3) + label, 6)


def uncle(sums: Floats) -> dict[str, Floats]:
    rates = metrics.cell_rates(sums)
    return {name: rates[name] for name in ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge")}


def claims(supported: Flags, own: Flags) -> Floats:
    return one_hot(np.where(supported, 0, 2) + np.where(own, 0, 1), 4)


def self_known(sums: Floats) -> dict[str, Floats]:
    """SK, SU, the share of claims that are supported, and Equation 3."""
    yes, no = sums[..., 0] + sums[..., 1], sums[..., 2] + sums[..., 3]
    SK, SU = sums[..., 0] / yes, sums[..., 3] / no
    return {
        "SK": SK, "SU": SU, "factuality": yes / (yes + no), "eq3": (1 - SU) / (2 - SU - SK),
    }  # fmt: skip


def mean(sums: Floats) -> dict[str, Floats]:
    return {"accuracy": sums[..., 0] / sums[..., 1]}


def with_ones(values: Floats) -> Floats:
    return np.stack([values, np.ones(len(values))], axis=1)


def numbers(w: Rows, labeled: LabeledRows, rates: bool = False) -> dict[str, Corrected]:
    """Return every number, or UNCLE's rates, corrected by the functions that reports use."""
    at = np.asarray(labeled.rows)
    made = metrics.corrected_sums(
        uncle,
        cells(w.known, w.read),
        cells(w.known, w.label)[at],
        labeled,
        {"J": (-1.0, 1.0)},
        SHARES,
        {"J": COMPOSED["J"]},
    )
    if rates:
        return made
    made |= metrics.corrected_sums(
        self_known,
        claims(w.found, w.own),
        claims(w.supported, w.own)[at],
        labeled,
        shares=("SK", "SU", "factuality"),
    )
    made |= metrics.corrected_sums(
        mean, with_ones(w.accepted), with_ones(w.right)[at], labeled, shares=("accuracy",)
    )
    made["AUROC"] = metrics.corrected_metric(
        "AUROC", metrics.auroc, (w.score, 1 - w.accepted), (w.score[at], 1 - w.right[at]), labeled
    )
    k = np.full(len(w.words), 20)
    made["cMFG"] = metrics.corrected_metric(
        "cMFG",
        metrics.cmfg,
        (w.heard, w.agreeing, k),
        (w.words[at], w.agreeing[at], k[at]),
        labeled,
    )
    close = [1 - np.abs(x - w.agreeing / 20) for x in (w.heard, w.words)]
    made["MFG"] = metrics.corrected_metric("MFG", metrics.mfg, close[:1], [close[1][at]], labeled)
    return made


def of_all(w: Rows) -> dict[str, float]:
    """Return the true numbers of a large run."""
    found = uncle(cells(w.known, w.label).sum(axis=0))
    found |= self_known(claims(w.supported, w.own).sum(axis=0))
    whole: dict[str, Any] = {
        "accuracy": w.right.mean(),
        "AUROC": metrics.auroc(w.score, 1 - w.right),
        "cMFG": metrics.cmfg(w.words, w.agreeing, 20),
        "MFG": metrics.mfg(1 - np.abs(w.words - w.agreeing / 20)),
    }
    return {name: float(value) for name, value in (found | whole).items()}


def draw(w: Rows, n: int, design: str, rng: np.random.Generator) -> LabeledRows:
    """Return n labeled rows of a run by a design."""
    N = len(w.entity)
    if design == "random":
        return LabeledRows(np.sort(rng.choice(N, n, replace=False)), clusters=w.entity)
    if design == "unequal":
        chance = sigmoid(w.score)
        chance = np.minimum(1.0, n * chance / chance.sum())
        rows = np.flatnonzero(rng.random(N) < chance)
        return LabeledRows(rows, chance[rows], clusters=w.entity)
    sure = certainty(w, design, rng) if design != "stratified" else np.ones(N)
    items = [
        RunItem(LabeledItem("answer", "short", f"{i}", ""), READ[w.read[i]], sure[i], KNOWS[k])
        for i, k in enumerate(w.known)
    ]
    name = "stratified" if design == "stratified" else "certainty"
    _, places = draw_design(items, name, n, 0, int(rng.integers(2**30)))
    stratum = {int(place.item.target): place.stratum for place in places}
    rows = [int(place.item.target) for place in places[:n]]
    return LabeledRows(rows, strata=[stratum[i] for i in range(N)], clusters=w.entity)


def certainty(w: Rows, design: str, rng: np.random.Generator) -> Floats:
    """Return how certain a judge is of the stance that it read: .9 on average."""
    if design == "dull":
        return rng.beta(1.8, 0.2, len(w.read))
    wrong = (w.read == 2) != (w.label == 2)
    # of errors and others by Bayes, so that a share c of those of certainty c is right
    return np.where(wrong, rng.beta(1.8, 1.2, len(wrong)), rng.beta(2.8, 0.2, len(wrong)))


def holds(estimate: Estimate, truth: float) -> float:
    """Return 1 or 0, NaN where no interval is printed."""
    if estimate.low is None or estimate.high is None:
        return float("nan")
    return float(estimate.low <= truth <= estimate.high)


def half_width(estimate: Estimate) -> float:
    if estimate.low is None or estimate.high is None:
        return float("nan")
    return (estimate.high - estimate.low) / 2


def coverage(options: argparse.Namespace) -> None:
    """Print the table of coverages."""
    print(
        "| judge | labels | number | truth | raw | bias | holds | printed | width | alone holds "
        "| alone width | gain | power | spread |"
    )
    print("|---" * 14 + "|")
    world, known = HEDGED[options.hedged], KNOWN[options.known]
    for judge in options.judge:
        big = simulate(100_000, judge, world, np.random.default_rng([options.seed, 9]), known)
        truth = of_all(big)
        for n in options.labels:
            rng = np.random.default_rng([options.seed, n])
            table: dict[str, list[list[float]]] = {}
            for _ in range(options.trials):
                run = simulate(options.entities, judge, world, rng, known)
                drawn = draw(run, n, options.design, rng)
                for name, c in numbers(run, drawn, options.rates).items():
                    value = np.nan if c.corrected.value is None else c.corrected.value
                    table.setdefault(name, []).append([
                        np.nan if c.raw is None else c.raw,
                        value - truth[name],
                        holds(c.corrected, truth[name]),
                        half_width(c.corrected),
                        holds(c.alone, truth[name]),
                        half_width(c.alone),
                        np.nan if c.gain is None else c.gain,
                        np.nan if c.power is None else c.power,
                    ])  # fmt: skip
            for name, rows in table.items():
                x = np.array(rows)
                shown = 100 * np.isfinite(x[:, 2]).mean()
                with np.errstate(all="ignore"):
                    m = [np.nanmean(c) if np.isfinite(c).any() else np.nan for c in x.T]
                gain = np.nanmedian(x[:, 6]) if np.isfinite(x[:, 6]).any() else np.nan
                holding = f"{100 * m[2]:.1f} | {shown:.0f} | {m[3]:.3f}"
                print(
                    f"| {judge} | {n} | {name} | {truth[name]:.3f} | {m[0]:.3f} | {m[1]:+.3f} | "
                    f"{holding} | {100 * m[4]:.1f} | {m[5]:.3f} | {gain:.2f} | {m[7]:.2f} | "
                    f"{np.nanstd(x[:, 1]):.3f} |",
                    flush=True,
                )


# ---- labels of an answer and a draw: mean confidence

K = 20


def compared(
    entities: int, silent: float, rng: np.random.Generator
) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.int64]]:
    """Return letters by people and by the judge (answers, draws), and entities: two answers each.

    ``silent`` is the share of draws that give no answer.
    """
    entity = np.repeat(np.arange(entities), 2)
    share = np.clip(rng.random(entities)[entity] + rng.normal(0, 0.1, 2 * entities), 0, 1)
    shape = (len(entity), K)
    against = rng.random(shape) < share[:, None]
    wrong = rng.random(shape) < np.where(against, 0.3, 0.05)
    none = rng.random(shape) < silent
    other = rng.random(shape) < np.where(none, 0.2, 0.2 * silent)
    letters = np.where(against, "c", "n"), np.where(against ^ wrong, "c", "n")
    return np.where(none, "p", letters[0]), np.where(none ^ other, "p", letters[1]), entity


def agreeing(letters: NDArray[np.str_]) -> tuple[Floats, Floats]:
    """Return (agreeing draws, draws that count) of each answer, by the protocol's defaults."""
    read = [draw_agreement("".join(row), Settings())[:2] for row in letters.tolist()]
    found = np.array(read)
    return found[:, 0], found[:, 1]


def of_answers(letters: NDArray[np.str_], entity: NDArray[np.int64]) -> MethodRows:
    """Return the rows of answers that make one claim each."""
    n, (j, k) = len(letters), agreeing(letters)
    none, zeros, names = np.zeros(n, bool), np.zeros(n), [str(i) for i in range(n)]
    return MethodRows(
        form="short", method="vanilla", d=zeros, j=j, k=k, punted=none, right=zeros,
        weight=np.ones(n), part=entity * 0, choice=entity * 0, entity=entity,
        name=entity.astype(str), domain=entity.astype(str), question=names, answers=names,
        thought=zeros, thinks=none, lost=Counter(), targets=names,
    )  # fmt: skip


def pairs(options: argparse.Namespace) -> None:
    """Print how often intervals of mean confidence hold the truth."""
    print("| no answer | labels | truth | by the judge | bias | holds | half-width | alone |")
    print("|---" * 8 + "|")
    for silent in (0.0, 0.15):
        people, _, _ = compared(9_000, silent, np.random.default_rng([options.seed, 9]))
        j, k = agreeing(people)
        truth = float(np.nanmean(j / k))
        for n in options.labels:
            rng = np.random.default_rng([options.seed, n])
            rows = []
            for _ in range(options.trials):
                people, judge, entity = compared(100, silent, rng)
                used = of_answers(judge, entity).take(~np.isnan(agreeing(judge)[0]))
                letters = {(str(i), str(i)): "".join(row) for i, row in enumerate(judge.tolist())}
                said = {}
                for at in rng.choice(judge.size, n, replace=False).tolist():
                    i, draw = divmod(at, K)
                    said[pair_target(str(i), draw), str(i)] = Verdict(
                        str(i), str(i), "person:a", label=str(people[i, draw])
                    )
                method = AskedMethod(used, Settings())
                judged, heard = (
                    method.number(
                        "mean_confidence",
                        confidence_of_pairs(used, "pairs", letters, labels, Settings()),
                        uses=frozenset({"people"}),
                    )
                    for labels in ({}, said)
                )
                labeled = PeopleLabels({"pairs": said}, {}, {})
                (place,) = corrected_places([judged], [heard], labeled)
                c = place.number
                if c.corrected.value is None or c.raw is None:
                    continue
                own = c.corrected.value - truth, holds(c.corrected, truth), half_width(c.corrected)
                rows.append((c.raw, *own, half_width(c.alone)))
            raw, bias, held, width, alone = np.nanmean(np.array(rows), axis=0)
            print(
                f"| {silent:.0%} | {n} | {truth:.3f} | {raw:.3f} | {bias:+.3f} | "
                f"{100 * held:.1f} | {width:.3f} | {alone:.3f} |",
                flush=True,
            )


# ---- real labels


class Judged(NamedTuple):
    """Rows of a public set with people's labels, one judge's verdicts, and their clusters."""

    name: str
    people: Floats
    judge: Floats
    cluster: NDArray[np.int64]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in text.decode("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def as_judged(name: str, rows: Sequence[tuple[Any, Any, Any]]) -> Judged:
    people, judge, cluster = zip(*rows, strict=True)
    return Judged(
        name, np.array(people, float), np.array(judge, float),
        np.unique([str(c) for c in cluster], return_inverse=True)[1],
    )  # fmt: skip


def real_sets(folder: Path) -> Iterator[Judged]:
    """Yield every set and judge."""
    yield from of_umass(folder / "real" / "umass_triviaqa_judges.jsonl.gz")
    yield from of_evouna(folder)
    yield from of_claims(folder)
    faith = list(lines(folder / "real" / "faithbench_judges.jsonl.gz"))
    for judge in faith[0]["judges"]:
        rows = [
            (r["consistent"], r["judges"][judge], r["source"])
            for r in faith
            if r["judges"].get(judge) is not None
        ]
        yield as_judged(f"FaithBench: {judge}", rows)
    pairs = list(lines(folder / "real" / "pandalm_pairs.jsonl.gz"))
    for judge, field in (("gpt-3.5-turbo", "gpt_result"), ("pandalm-7b", "pandalm_result")):
        rows = []
        for r in pairs:
            said = str(r["judges"][judge][field])
            if said in ("0", "1", "2"):
                rows.append((np.mean([v == 1 for v in r["people"]]), said == "1", r["idx"]))
        yield as_judged(f"PandaLM: {judge}, first is better", rows)


def of_umass(path: Path) -> Iterator[Judged]:
    rows = list(lines(path))
    for judge in ("GPT-4", "Llama3-70B", "Llama-70B", "Mistral-7B", "JudgeLM", "Gemma-2B"):
        yield as_judged(
            f"TriviaQA judges: {judge}",
            [
                (r["Human-Eval"] == "True", r[judge] == "True", r["question"])
                for r in rows
                if r["Human-Eval"] in ("True", "False") and r[judge] in ("True", "False")
            ],
        )


def of_evouna(folder: Path) -> Iterator[Judged]:
    """Yield QA-Eval with sayso's offline judge of right and wrong."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "readers"))
    import judge_rules

    table: dict[str, list[tuple[Any, Any, Any]]] = {}
    for row in judge_rules.rows(folder):
        golds = [judge_rules.golds_of_field(row.golden)]
        accepted = judge_rules.match(row.question, golds, row.answer).content == "correct"
        table.setdefault(row.dataset, []).append((row.right, accepted, row.question))
    for name, rows in table.items():
        yield as_judged(f"QA-Eval {name}: offline", rows)


def of_claims(folder: Path) -> Iterator[Judged]:
    """Yield FActScore and RefChecker: people's label of a claim, and a lexical judge of it.

    The judge of a FActScore claim is whether the texts of the two other systems on the topic hold
    most of its words; of a RefChecker claim whether the other models' answers do.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    found: list[tuple[str, str, str, bool]] = []
    for system in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        for r in lines(folder / "factscore" / f"{system}.jsonl"):
            texts.setdefault(("factscore", r["topic"]), []).append(system + "\n" + r["output"])
            for part in r["annotations"] or []:
                found += [
                    (system, r["topic"], fact["text"], fact["label"] == "S")
                    for fact in part.get("human-atomic-facts") or []
                    if fact["label"] in ("S", "NS")
                ]
    yield lexical("FActScore: words of the others' texts", "factscore", found, texts)
    found = []
    for r in lines(folder / "real" / "refchecker.jsonl.gz"):
        texts.setdefault(("refchecker", r["id"]), []).append(r["model"] + "\n" + r["response"])
        for claim in r["claims"]:
            if claim["human_label"] in ("Entailment", "Contradiction", "Neutral"):
                text = " ".join(map(str, claim["triplet"]))
                found.append((r["model"], r["id"], text, claim["human_label"] == "Entailment"))
    yield lexical("RefChecker: words of the others' answers", "refchecker", found, texts)


def lexical(
    name: str,
    source: str,
    found: Sequence[tuple[str, str, str, bool]],
    texts: dict[tuple[str, str], list[str]],
) -> Judged:
    rows = []
    for system, topic, claim, label in found:
        others = [t for t in texts[source, topic] if not t.startswith(system + "\n")]
        held = set(" ".join(others).lower().replace(",", " ").replace(".", " ").split())
        words = [w for w in claim.lower().replace(",", " ").replace(".", " ").split() if len(w) > 3]
        rows.append((label, np.mean([w in held for w in words]) if words else 0.5, topic))
    return as_judged(name, rows)


def real(options: argparse.Namespace) -> None:
    """Print how often 60 labels hold the value of all."""
    folder = Path(os.environ["SAYSO_TEST_DATA"])
    print(
        "| labels and judge | rows | all labels | judge | holds | power | half-width | alone | "
        "gain | worth with all labels |"
    )
    print("|---" * 10 + "|")
    for data in real_sets(folder):
        rng = np.random.default_rng(options.seed)
        N = len(data.people)
        truth = float(data.people.mean())
        sums = with_ones(data.judge), with_ones(data.people)
        table = []
        for _ in range(options.draws):
            rows = np.sort(rng.choice(N, options.n, replace=False))
            c = metrics.corrected_sums(
                mean,
                sums[0],
                sums[1][rows],
                LabeledRows(rows, clusters=data.cluster),
                shares=("accuracy",),
            )["accuracy"]
            table.append([
                holds(c.corrected, truth), np.nan if c.power is None else c.power,
                half_width(c.corrected), half_width(c.alone), np.nan if c.gain is None else c.gain,
            ])  # fmt: skip
        x = np.array(table)
        gain = of_many(data.people, data.judge, options.n)
        m = np.nanmean(x, axis=0)
        print(
            f"| {data.name} | {N} | {truth:.3f} | {data.judge.mean():.3f} | {100 * m[0]:.1f} | "
            f"{m[1]:.2f} | {m[2]:.3f} | {m[3]:.3f} | {np.nanmedian(x[:, 4]):.2f} | "
            f"{gain:.2f}{'' if gain >= metrics.LEAST_GAIN else ', not worth it'} |",
            flush=True,
        )


def of_many(people: Floats, judge: Floats, n: int) -> float:
    """Return the gain of n labels where the correlation of labels and verdicts is known."""
    N = len(people)
    spread = people.std()
    link = float(np.corrcoef(people, judge)[0, 1]) if judge.std() > 0 and spread > 0 else 0.0
    return float((1 / n) / (1 / N + (1 / n - 1 / N) * (1 - max(link, 0.0) ** 2)))


# ---- shares of labels alone


def shares(options: argparse.Namespace) -> None:
    """Print how often intervals of a share hold, of labels alone."""
    print("| design | cluster | share | labels | printed | holds | half-width |")
    print("|---" * 7 + "|")
    N = 600
    for design in ("random", "stratified"):
        for size in (1, 6):
            for share in (0.5, 0.9, 0.98, 1.0):
                for n in (20, 60, 150, 300):
                    rng = np.random.default_rng([options.seed, n, size, int(100 * share)])
                    cluster = np.repeat(np.arange(N // size), size)
                    table = []
                    for _ in range(options.trials):
                        rate = np.full(N // size, share)
                        if size > 1 and share < 1:  # beta: variance .3 share (1 - share)
                            rate = rng.beta(share * 7 / 3, (1 - share) * 7 / 3, N // size)
                        people = (rng.random(N) < rate[cluster]).astype(float)
                        judge = np.where(rng.random(N) < 0.1, 1 - people, people)
                        rows = rng.choice(N, n, replace=False)
                        labeled = LabeledRows(rows, clusters=cluster)
                        if design == "stratified":
                            at = [rng.permutation(np.flatnonzero(judge == v)) for v in (0, 1)]
                            rows = np.concatenate([a[: n // 2] for a in at])
                            labeled = LabeledRows(rows, strata=judge, clusters=cluster)
                        c = metrics.corrected_sums(
                            mean,
                            with_ones(judge),
                            with_ones(people[rows]),
                            labeled,
                            shares=("accuracy",),
                        )["accuracy"]
                        table.append([holds(c.alone, share), half_width(c.alone)])
                    x = np.array(table)
                    found = 100 * np.isfinite(x[:, 0]).mean()
                    print(
                        f"| {design} | {size} | {share} | {n} | {found:.0f} | "
                        f"{100 * np.nanmean(x[:, 0]):.1f} | {np.nanmean(x[:, 1]):.3f} |",
                        flush=True,
                    )


# ---- size, oracles


def size(options: argparse.Namespace) -> None:
    """Print CPU time and memory of correcting many verdicts with 100 labels, by doubling."""
    # one thread of numpy's BLAS: with more, CPU seconds count those that wait
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    print("| verdicts | UNCLE's rates, CPU s | AUROC, CPU s | cMFG, CPU s | peak memory, MB |")
    print("|---" * 5 + "|")
    before: list[float] = []
    for verdicts in (50_000, 100_000, 200_000):
        rng = np.random.default_rng(options.seed)
        w = simulate(verdicts // 6, "differ", HEDGED["many"], rng)
        labeled = draw(w, 100, "random", rng)
        at = np.asarray(labeled.rows)
        k = np.full(len(w.words), 20)
        columns = (
            ((w.score, 1 - w.accepted), (w.score[at], 1 - w.right[at])),
            ((w.heard, w.agreeing, k), (w.words[at], w.agreeing[at], k[at])),
        )
        clock = [time.process_time()]
        metrics.corrected_sums(uncle, cells(w.known, w.read), cells(w.known, w.label)[at], labeled)
        clock.append(time.process_time())
        metrics.corrected_metric("AUROC", metrics.auroc, *columns[0], labeled)
        clock.append(time.process_time())
        metrics.corrected_metric("cMFG", metrics.cmfg, *columns[1], labeled)
        clock.append(time.process_time())
        took = np.diff(clock).tolist()
        # ru_maxrss is in KB on Linux, and grows: that of the largest run so far
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        shown = [
            f"{t:.2f}" + (f" (x {t / b:.1f})" if b else "")
            for t, b in zip(took, before or [0.0] * 3, strict=True)
        ]
        print(f"| {len(w.known):,} | {' | '.join(shown)} | {peak:.0f} |", flush=True)
        before = took


def oracles(options: argparse.Namespace) -> None:
    """Print the largest differences to ppi-python and glide-py over random data."""
    from ppi_py import ppi_mean_pointestimate

    rng = np.random.default_rng(options.seed)
    worst: dict[str, float] = {}

    def note(name: str, one: Any, other: Any) -> None:
        worst[name] = max(worst.get(name, 0.0), abs(float(one) - float(np.ravel(other)[0])))

    for _ in range(200):
        n, N = int(rng.integers(5, 80)), int(rng.integers(50, 500))
        f, F = rng.random(n), rng.random(N)
        y = np.clip(f * rng.random() + 0.3 * rng.normal(size=n), 0, 1)
        power = float(rng.random())
        ours = metrics.ppi_mean(y, f, F, power)
        note("ppi-python, given power", ours.value, ppi_mean_pointestimate(y, f, F, lam=power))
        tuned = metrics.ppi_mean(y, f, F)
        # its covariance divides by n, ours and its variance by n - 1
        theirs = (tuned.power or 0) * (n - 1) / n
        if 0 < (tuned.power or 0) < 1:
            same = metrics.ppi_mean(y, f, F, theirs)
            note("ppi-python, tuned", same.value, ppi_mean_pointestimate(y, f, F))
        # the general estimator on all rows is the same with power N / (n + N)
        every, rows = np.concatenate([f, F]), np.arange(n)
        c = metrics.corrected_sums(
            lambda s: {"m": s[..., 0] / s[..., 1]},
            with_ones(every),
            with_ones(y),
            LabeledRows(rows),
        )["m"]
        value = ppi_mean_pointestimate(y, f, F, lam=(c.power or 0) * N / (n + N))
        inside = min(max(float(np.ravel(value)[0]), 0.0), 1.0)
        note("ppi-python, of any sums", c.corrected.value, inside)
        try:
            from glide.engines.ppi import PPIMeanEngine
        except ImportError:
            continue
        engine = PPIMeanEngine()
        data = engine.preprocess(np.concatenate([y, np.full(N, np.nan)]), every)
        lam = engine.fit_tuning_parameter(data, True)
        value, error = engine.compute_mean_and_std(data, min(max(lam, 0.0), 1.0))
        note("glide-py, tuned", tuned.value, value)
        note("glide-py, standard error", tuned.error, error)
    for name, gap in worst.items():
        print(f"{name}: largest difference {gap:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = {
        "coverage": coverage, "pairs": pairs, "real": real, "shares": shares,
        "size": size, "oracles": oracles,
    }  # fmt: skip
    parser.add_argument("part", choices=parts)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--judge", nargs="+", choices=JUDGES, default=["equal", "differ"])
    parser.add_argument("--design", choices=DRAWN, default="random")
    parser.add_argument("--known", choices=KNOWN, default="some")
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--hedged", choices=HEDGED, default="many")
    parser.add_argument("--labels", nargs="+", type=int, default=SIZES)
    parser.add_argument("--entities", type=int, default=ENTITIES)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    parts[options.part](options)


if __name__ == "__main__":
    main()
