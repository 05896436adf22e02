"""How fast scores and metrics are, beside what people use instead, in one run.

    python benchmarks/speed/score_speed.py [--data FOLDER] [--pairs 10000] [--repeats 3]
        [--evaluate FOLDER]
    python benchmarks/speed/score_speed.py --board 10000

CPU seconds of this process, the best of several repeats, and the ratio; each comparison also
checks that the values are equal. ``--data`` is the folder of labelled data (default
``SAYSO_TEST_DATA``), whose answers and references are then used; else invented sentences.
``--evaluate`` is the folder ``metrics/squad`` of a clone of Hugging Face's ``evaluate``, which must
be installed: then its own call is timed too. It computes F1 and EM together, as ours does.
Counts of NLI pairs and calls come from a deterministic stand-in for a classifier. ``--board`` times
the leaderboard of ``sayso score`` alone on simulated rows, and prints a digest of its numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayso import answers, metrics, scores
from sayso.judges.meaning import Relations, cluster_many, equivalent
from sayso.score_files.leaderboard import leaderboard_of
from sayso.score_files.write import QUESTION_NUMBER, FloatColumns

Pair = tuple[list[str], str]


def cpu(what: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the least CPU seconds of several runs, and what the last returned."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = what()
        best = min(best, time.process_time() - start)
    return best, result


def line(name: str, theirs: float, ours: float, wanted: float, gap: float) -> None:
    """Print one comparison."""
    print(
        f"  {name:<52} {theirs:8.3f} s  {ours:8.4f} s  {theirs / ours:6.1f} x (wanted {wanted:g})"
        f"  largest difference {gap:.1e}"
    )


def naive_squad(references: Sequence[str], answer: str, both: bool) -> tuple[float, float]:
    """SQuAD's F1 and, if wanted, exact match by their description, best over references.

    Each measure normalizes both texts for each reference, as the official script does.
    """
    marks = set(string.punctuation)

    def normalized(text: str) -> list[str]:
        kept = "".join(c for c in text.lower() if c not in marks)
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    def f1(reference: str) -> float:
        said, wanted = normalized(answer), normalized(reference)
        if not said or not wanted:
            return float(said == wanted)
        common = sum((Counter(said) & Counter(wanted)).values())
        if not common:
            return 0.0
        precision, recall = common / len(said), common / len(wanted)
        return 2 * precision * recall / (precision + recall)

    def exact(reference: str) -> float:
        return float(normalized(answer) == normalized(reference))

    return max(map(f1, references)), max(map(exact, references)) if both else 0.0


def real_pairs(folder: Path, names: Sequence[str]) -> list[Pair]:
    """Answers of five systems with their references."""
    found = []
    for name in names:
        with (folder / "evouna" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for text in lines:
                row = json.loads(text)
                golds = (row["golden_answer"] or "").split("/")
                found += [
                    (golds, row[key])
                    for key in row
                    if key.startswith("answer_") and isinstance(row[key], str) and golds != [""]
                ]
    return found


def invented_pairs(count: int) -> list[Pair]:
    """Sentences of common length around short references."""
    draw = random.Random(0)
    words = [
        "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9))) for _ in range(900)
    ]
    return [
        (
            [" ".join(draw.choices(words, k=draw.randint(1, 4))) for _ in range(4)],
            " ".join(draw.choices(words, k=draw.randint(1, 40))) + ".",
        )
        for _ in range(count)
    ]


def lexical(pairs: list[Pair], label: str, repeats: int, metric: Any = None) -> None:
    """ROUGE-L and SQuAD on these pairs."""
    references = sum(len(r) for r, _ in pairs) / len(pairs)
    words = sum(len(a.split()) for _, a in pairs) / len(pairs)
    print(f"{label}: {len(pairs)} pairs, {references:.1f} references and {words:.0f} words each")
    single = [(r[:1], a) for r, a in pairs]
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError:
        print("  rouge_score is not installed: no comparison")
    else:
        for stem in (False, True):
            scorer = RougeScorer(["rougeL"], use_stemmer=stem)

            def official(chosen: list[Pair], scorer: Any = scorer) -> list[float]:
                return [max(scorer.score(r, a)["rougeL"].fmeasure for r in rs) for rs, a in chosen]

            for name, chosen in (("1 reference", single), ("all references", pairs)):
                theirs, expected = cpu(lambda c=chosen, o=official: o(c), 1)
                ours, found = cpu(lambda c=chosen, s=stem: answers.rouge_l_many(c, stem=s), repeats)
                gap = float(np.abs(np.subtract(found, expected)).max())
                kind = "stemmed" if stem else "plain"
                line(f"rouge_l against rouge_score, {kind}, {name}", theirs, ours, 5, gap)
    for name, chosen in (("1 reference", single), ("all references", pairs)):
        ours, found = cpu(lambda c=chosen: answers.squad_many(c), repeats)
        for both in (False, True):
            theirs, expected = cpu(lambda c=chosen, b=both: [naive_squad(*p, b) for p in c], 1)
            gap = float(np.abs(np.subtract(found, expected))[:, : 1 + both].max())
            line(f"squad F1{' and EM' * both} as described, {name}", theirs, ours, 10, gap)
        if metric is not None:
            theirs, means = cpu(lambda c=chosen: by_evaluate(metric, c), 1)
            gap = float(np.abs(100 * np.mean(found, axis=0) - means).max())
            line(f"squad F1 and EM against evaluate, {name}", theirs, ours, 10, gap)


def by_evaluate(metric: Any, pairs: list[Pair]) -> tuple[float, float]:
    """Mean F1 and EM in percent, by the metric of ``evaluate``."""
    result = metric.compute(
        predictions=[{"id": str(n), "prediction_text": a} for n, (_, a) in enumerate(pairs)],
        references=[
            {"id": str(n), "answers": {"text": r, "answer_start": [0] * len(r)}}
            for n, (r, _) in enumerate(pairs)
        ],
    )
    return result["f1"], result["exact_match"]


def bootstraps(repeats: int) -> None:
    """1,000 bootstrap AUROCs of 2,000 rows."""
    print("1,000 bootstrap AUROCs of 2,000 rows")
    try:
        from sklearn.metrics import roc_auc_score
    except ModuleNotFoundError:
        print("  scikit-learn is not installed: no comparison")
        return
    rng = np.random.default_rng(0)
    n = 2000
    wrong = (rng.random(n) < 0.4).astype(float)
    for name, score in (
        ("continuous", rng.random(n)),
        ("11 values", rng.integers(0, 11, n).astype(float)),
    ):

        def loop(score: Any = score) -> list[float]:
            draw = np.random.default_rng(1)
            rows = (draw.integers(0, n, n) for _ in range(1000))
            return [roc_auc_score(wrong[i], score[i]) for i in rows]

        theirs, expected = cpu(loop, 1)
        draw = np.random.default_rng(1)
        weights = np.stack(
            [np.bincount(draw.integers(0, n, n), minlength=n) for _ in range(1000)]
        ).astype(float)
        ours, found = cpu(lambda s=score, w=weights: metrics.auroc(s, wrong, w), repeats)
        gap = float(np.abs(np.subtract(found, expected)).max())
        line(f"auroc, {name}, the same resamples", theirs, ours, 40, gap)
        ours, _ = cpu(lambda s=score: metrics.bootstrap(metrics.auroc, s, wrong, n=1000), repeats)
        line(f"bootstrap(auroc), {name}, drawing and interval too", theirs, ours, 40, 0.0)


class Equivalence:
    """A deterministic classifier: entailment where the offline rules find the same answer."""

    identity = "rules"
    labels = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")

    def classify(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """Return one-hot probabilities (pairs, 3)."""
        same = [equivalent("", a, b) for a, b in pairs]
        return np.asarray([[0.0, 0.0, 1.0] if s else [1.0, 0.0, 0.0] for s in same])


def clustering(folder: Path) -> None:
    """NLI pairs and calls on real samples of 250 questions, first 10 and all 20 samples."""
    with (folder / "uqnlg" / "triviaqa_20_samples.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(text) for text in lines]
    for k in (10, 20):
        groups = [row["samples"][:k] for row in rows]
        relations = Relations(Equivalence())
        found = cluster_many(groups, relations)
        floor = matrix = one_by_one = 0
        for group, one in zip(groups, found, strict=True):
            ids = one.ids or ()
            distinct, classes = len({t.strip() for t in group}), len(set(ids))
            floor += classes * (classes - 1) // 2 + 2 * (distinct - classes)
            matrix += k * (k - 1)
            # Both directions, draw by draw, against each leader, equal strings included.
            leaders = [ids.index(c) for c in range(classes)]
            one_by_one += sum(2 * sum(j <= ids[i] for j in range(classes)) for i in range(k))
            one_by_one -= 2 * len(leaders)
        print(
            f"NLI for {len(groups)} questions x {k} draws: {relations.requested} pairs in "
            f"{relations.calls} calls; draw by draw {one_by_one} pairs and calls "
            f"({relations.requested / one_by_one:.2f} x pairs, "
            f"1/{one_by_one / relations.calls:.0f} of the calls); full matrix {matrix} pairs; "
            f"floor {floor}"
        )


def scoring() -> None:
    """What all scores of a question cost, and that the cost is linear."""
    rng = np.random.default_rng(0)
    k, tokens = 10, 32

    def one() -> scores.Samples:
        def answer() -> scores.Answer:
            entropies = tuple(rng.random(tokens).tolist())
            return scores.Answer(
                f"answer {rng.integers(0, 5)}",
                logprobs=tuple((-rng.random(tokens)).tolist()),
                entropies=entropies,
            )

        table = rng.random((k, k)) / 2
        return scores.Samples(
            answer=answer(),
            draws=tuple(answer() for _ in range(k)),
            clusters=tuple(rng.integers(0, 4, k).tolist()),
            entail=table,
            contra=table.T,
            similarity=table,
        )

    some = [one() for _ in range(200)]
    for count in (1000, 10_000):
        rows = [some[i % 200] for i in range(count)]
        seconds, _ = cpu(lambda r=rows: [scores.score_one(one) for one in r], 1)
        print(
            f"all {len(scores.SCORES)} scores of {count} questions, {k} draws of {tokens} tokens: "
            f"{1e3 * seconds / count:.2f} ms a question"
        )


def board(n: int) -> None:
    """Time a leaderboard of 33 scores by six graders."""
    rng = np.random.default_rng(0)
    methods = [*(f"score{i}" for i in range(31)), "sequence_probability", "perplexity"]
    graders = ["rules", "rouge_l", "squad_f1", "exact_match", "contains", "squad_em"]
    right = (rng.random(n) < 0.6).astype(float)
    columns = {"words": rng.integers(1, 20, n).astype(float), QUESTION_NUMBER: np.arange(float(n))}
    columns["correct:people"] = np.full(n, np.nan)
    for i, method in enumerate(methods):
        score = rng.random(n) + 0.3 * (1 - right)
        columns[method] = score if i % 2 else np.round(score * (5 if i % 4 else 400))
    for grader in graders:
        refused = np.where(rng.random(n) < 0.15, 0, right)
        columns[f"correct:{grader}"] = right if grader == "rules" else refused
        columns[f"left:{grader}"] = np.full(n, np.nan)
    with FloatColumns(list(columns)) as table:
        table.add(np.stack(list(columns.values()), axis=1))
        seconds, found = cpu(lambda: leaderboard_of(table, methods, graders, "rules"), 1)
    numbers = [
        (e.method, e.auroc, e.prr, e.aurac, e.accuracy, e.versus_length) for e in found.entries
    ]
    digest = hashlib.md5(f"{numbers}{found.best}".encode()).hexdigest()
    print(f"leaderboard of {n:,} rows: {seconds:.2f} CPU s; {digest}")


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--evaluate", default="")
    parser.add_argument("--board", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.board:
        board(chosen.board)
        return
    metric = None
    if chosen.evaluate:
        import evaluate

        metric = evaluate.load(chosen.evaluate)
    bootstraps(chosen.repeats)
    if chosen.data is None:
        lexical(invented_pairs(chosen.pairs), "invented sentences", chosen.repeats, metric)
    else:
        folder = Path(chosen.data)
        for label, names in (("NQ answers", ["NQ"]), ("TriviaQA answers", ["TQ"])):
            lexical(real_pairs(folder, names)[: chosen.pairs], label, chosen.repeats, metric)
        clustering(folder)
    scoring()


if __name__ == "__main__":
    main()
