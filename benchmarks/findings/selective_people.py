"""Do answer metrics agree with people, also on long answers? And do draws tell wrong answers?

    SAYSO_TEST_DATA=<folder> python benchmarks/findings/selective_people.py [--resamples 2000]

Two studies on text that nobody here wrote. EVOUNA (QA-Eval): answers of five systems to NQ and
TriviaQA questions, each with a verdict of a person; every answer metric against the person, right
answers that it refuses by length, and the length audit of plain length. The rules were written
with one half of these questions open; the tables are of the half that was set aside, the same half
as in ``judge_rules.py``, and the last line compares both. UQ-NLG: 20 draws of a model for each of
about 250 TriviaQA questions; draw 0 is the answer, graded by the rules, and every score that needs
text alone comes from draws 1-19. Questions are resampled: the answers of five systems to one
question depend on each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "readers"))

from judge_rules import golds_of_field, set_aside
from judge_rules import rows as evouna_rows
from sayso.answers.lexical import ANSWER_METRICS, rouge_l
from sayso.judges.meaning import RulesMeaning
from sayso.judges.rules.judge import judge_rules
from sayso.metrics.agreement import against_others, agreement, agreement_matrix, kappa
from sayso.metrics.intervals import bootstrap
from sayso.metrics.length_audit import (
    THRESHOLDS,
    false_negatives,
    length_audit,
    length_inflation,
    threshold_sweep,
)
from sayso.metrics.ranking import auroc
from sayso.records import Estimate, Gold, Message, Request, part_of
from sayso.scores import score_one
from sayso.scores.collect import Tools, collect_evidence
from sayso.scores.evidence import Answer, Case, Samples

METRICS = ("rules", "rouge_l", "squad_f1", "exact_match", "squad_em", "contains")
#: scores that need text and meanings alone
DRAW_SCORES = (
    "length_words", "discrete_semantic_entropy", "num_sets", "exact_match_rate",
    "entailment_consistency", "lexical_similarity", "eigv_entailment", "degree_entailment",
    "eigv_similarity", "selfcheck_ngram",
)  # fmt: skip


def correct(metric: str, question: str, golds: Iterable[Gold], answer: str) -> float:
    """Return 1 if the metric accepts the answer, 0 if not; an answer without a value is not right.

    NaN where the rules cannot read it.
    """
    golds = list(golds)
    if metric == "rules":
        verdict = judge_rules(question, golds, answer)
        return float("nan") if verdict.value is None else float(verdict.content == "correct")
    names = [name for gold in golds for name in gold.names]
    return float(THRESHOLDS[metric].correct([ANSWER_METRICS[metric](names, answer)])[0])


def told(estimate: Estimate, decimals: int = 3) -> str:
    """Return value [low, high]."""
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{decimals}f}"
    ends = f"{estimate.low:.{decimals}f}, {estimate.high:.{decimals}f}"
    return f"{estimate.value:.{decimals}f} [{ends}]"


class Table:
    """The answers of a part of EVOUNA as arrays."""

    def __init__(self, folder: Path) -> None:
        found = list(evouna_rows(folder))
        self.question = np.array([f"{r.dataset}/{r.question}" for r in found])
        self.dataset = np.array([r.dataset for r in found])
        self.aside = np.array([set_aside(r.dataset, r.question) for r in found])
        self.system = np.array([r.system for r in found])
        self.people = np.array([float(r.right) for r in found])
        self.words = np.array([float(len(r.answer.split())) for r in found])
        self.said: dict[str, np.ndarray] = {}
        golds = [golds_of_field(r.golden) for r in found]
        for metric in METRICS:
            self.said[metric] = np.array(
                [
                    correct(metric, r.question, [g], r.answer)
                    for r, g in zip(found, golds, strict=True)
                ]
            )
        names = [list(g.names) for g in golds]
        self.rouge = np.array([rouge_l(n, r.answer) for r, n in zip(found, names, strict=True)])


def people(folder: Path, n: int) -> None:
    """Print the study of EVOUNA."""
    table = Table(folder)
    for dataset in ("NQ", "TQ"):
        use = table.aside & (table.dataset == dataset)
        print(
            f"\n## EVOUNA {dataset}, set aside: {use.sum():,} answers, "
            f"{len(set(table.question[use])):,} questions, "
            f"{table.people[use].mean():.1%} right by people\n"
        )
        print(
            "| metric | agreement with people | kappa | refuses right answers | accepts wrong | "
            "slope of refusals a fifth |"
        )
        print("|---|---|---|---|---|---|")
        slopes = {}
        fifths: dict[str, list[str]] = {}
        for metric in METRICS:
            said, right = table.said[metric][use], table.people[use]
            both = ~np.isnan(said)
            boot = partial(bootstrap, clusters=table.question[use][both], n=n)
            same = boot(agreement, said[both], right[both])
            beyond = boot(kappa, said[both], right[both], limits=(-1.0, 1.0))
            held = use & (table.people == 1)
            refused = 1 - table.said[metric][held]
            found = false_negatives(refused, table.words[held], clusters=table.question[held], n=n)
            wrong = both & (right == 0)
            accepts = float(said[wrong].mean())
            slopes[metric] = found.slope
            fifths[metric] = [f"{100 * (b.value or 0):.0f} %" for b in found.bins]
            names = [part_of(b.where, "length") for b in found.bins]
            print(
                f"| {metric} | {told(same)} | {told(beyond)} | {told(found.overall)} | "
                f"{accepts:.3f} | {told(found.slope)} |"
            )
        print("\nRight answers refused, by fifths of length in words:\n")
        print("| metric | " + " | ".join(names) + " |")
        print("|---" * (len(names) + 1) + "|")
        for metric, shares in fifths.items():
            print(f"| {metric} | " + " | ".join(shares) + " |")
        rules, rouge = slopes["rules"].value or 0.0, slopes["rouge_l"].value or float("nan")
        print(f"\nSlope of rules / slope of ROUGE-L: {rules / rouge:.3f} (at most .333 wanted)")
        between(table, use, n)
        audit(table, use, n)
        sweep(table, use)
    halves(table, n)


def between(table: Table, use: np.ndarray, n: int) -> None:
    """Print the agreement matrix of people and metrics, and each against most of the others."""
    said = {name: v[use] for name, v in {"people": table.people, **table.said}.items()}
    questions = table.question[use]
    pairs = agreement_matrix(said, questions, n)
    same = {(p.first, p.second): p.same for p in pairs}
    same |= {(p.second, p.first): p.same for p in pairs}
    others = against_others(said, (), questions, n)
    print("\nAgreement of every two, and with the majority of the others (itself left out):\n")
    print("| | " + " | ".join(said) + " | most others |")
    print("|---" * (len(said) + 2) + "|")
    for one in said:
        cells = ["" if one == two else f"{same[one, two].value:.3f}" for two in said]
        print(f"| {one} | " + " | ".join(cells) + f" | {told(others[one])} |")
    print("\nWith people, intervals: ", end="")
    print("; ".join(f"{two} {told(same['people', two])}" for two in said if two != "people"))


def audit(table: Table, use: np.ndarray, n: int) -> None:
    """Print the careful sentence about plain length as a score, by metric and by system."""
    print("\nThe audit of plain length as a score, people as the best truth:\n")
    for metric in ("rouge_l", "rules"):
        found = length_audit(
            table.words[use],
            1 - table.said[metric][use],
            table.words[use],
            1 - table.people[use],
            clusters=table.question[use],
            n=n,
        )
        print(f"- {metric}, five systems together: {found.sentence()}")
    for system in dict.fromkeys(table.system):
        here = use & (table.system == system)
        against = auroc(table.words[here], 1 - table.said["rouge_l"][here])
        truth = auroc(table.words[here], 1 - table.people[here])
        rules = auroc(table.words[here], 1 - table.said["rules"][here])
        right = here & (table.people == 1)
        p, q = float(table.people[here].mean()), float(table.said["rouge_l"][right].mean())
        closed = length_inflation(p, q)["auroc_rouge_of_length"]
        print(
            f"- {system}: plain length has AUROC {against:.3f} against ROUGE-L, {rules:.3f} "
            f"against rules, {truth:.3f} against people; the closed form of p = {p:.2f}, "
            f"q = {q:.2f} expects {closed:.3f} against ROUGE-L"
        )


def sweep(table: Table, use: np.ndarray) -> None:
    """Print what each threshold of ROUGE-L does."""
    rows = threshold_sweep(
        table.rouge[use], table.people[use], {"length": table.words[use]},
        thresholds=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    )  # fmt: skip
    print(
        "\n| ROUGE-L above | agreement | refuses right | accepts wrong | AUROC of length | "
        "inflation |"
    )
    print("|---|---|---|---|---|---|")
    for r in rows:
        print(
            f"| {r.threshold:g} | {r.agreement:.3f} | {r.false_negatives:.3f} | "
            f"{r.false_positives:.3f} | {r.auroc['length']:.3f} | {r.inflation['length']:+.3f} |"
        )


def halves(table: Table, n: int) -> None:
    """Print the agreement of rules on the open half and on the one set aside."""
    for name, half in (("open", ~table.aside), ("set aside", table.aside)):
        same = bootstrap(
            agreement, table.said["rules"][half], table.people[half],
            clusters=table.question[half], n=n,
        )  # fmt: skip
        print(f"\nrules, both sets, {name} half: agreement {told(same)}")


def draws(folder: Path, n: int) -> None:
    """Print the study of UQ-NLG: scores of draws 1-19 against draw 0."""
    lines = (folder / "uqnlg" / "triviaqa_20_samples.jsonl").read_text(encoding="utf-8").split("\n")
    data = [json.loads(line) for line in lines if line.strip()]
    cases = [
        Case(r["question"], Request((Message("user", r["question"]),)), r["samples"][0],
             r["samples"][1:])
        for r in data
    ]  # fmt: skip
    needs = ("clusters", "nli", "nli:answer", "similarity", "similarity:answer")
    collect_evidence(cases, needs, Tools(None, RulesMeaning()))
    columns: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        samples = Samples(
            answer=Answer(case.answer or ""),
            draws=tuple(Answer(text) for text in case.draws),
            **case.evidence,
        )
        for name, score in score_one(samples, DRAW_SCORES).items():
            columns[name].append(float("nan") if score.value is None else score.value)
    graded = {
        m: np.array([correct(m, r["question"], [Gold(r["answer"])], r["samples"][0]) for r in data])
        for m in ("rules", "rouge_l")
    }
    right = graded["rules"]
    print(
        f"\n## UQ-NLG: {len(data)} questions, answer = draw 0, scores of draws 1-19; "
        f"{np.nanmean(right):.1%} right by rules, {np.nanmean(graded['rouge_l']):.1%} by ROUGE-L "
        "against the one gold\n"
    )
    print("| score | AUROC, wrong by rules | AUROC, wrong by ROUGE-L |")
    print("|---|---|---|")
    for name, values in columns.items():
        found = [bootstrap(auroc, np.array(values), 1 - graded[m], n=n) for m in graded]
        print(f"| {name} | {told(found[0])} | {told(found[1])} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=2000)
    given = parser.parse_args()
    place = os.environ.get("SAYSO_TEST_DATA", "")
    if not Path(place, "evouna").is_dir():
        raise SystemExit("set SAYSO_TEST_DATA to the folder of labelled data")
    people(Path(place), given.resamples)
    draws(Path(place), given.resamples)
