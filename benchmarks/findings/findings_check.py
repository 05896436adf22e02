"""Are the figures of ``findings.py`` what the formulas say? Computed again without sayso.

    SAYSO_TEST_DATA=<folder> python benchmarks/findings/findings.py --figures figures.json
    SAYSO_TEST_DATA=<folder> python benchmarks/findings/findings_check.py figures.json
        [--resamples 400]

pandas and numpy only, each formula written down a second time from its paper. What sayso's readers
made of a text (decisiveness, stance, right or wrong by ``rules``) is taken from the file, in the
order of the data's rows; labels, lengths, ROUGE-L and all that follows are computed here. A figure
must agree to the third decimal. ``--resamples`` adds a second opinion on each interval, plain
percentiles of resampled sources, which may differ. All of the data must be there.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Frame = pd.DataFrame
CHAT = ("gpt35", "chatgpt", "gpt4", "newbing")
NAMES = {"fid": "FiD, a span reader", "gpt35": "GPT-3.5 (text-davinci-003)", "chatgpt": "ChatGPT",
         "gpt4": "GPT-4", "newbing": "New Bing"}  # fmt: skip
JUDGES = ("JudgeLM", "Gemma-2B", "Llama3-70B", "Llama-70B", "GPT-4", "Llama-7B", "Llama3-8B",
          "Llama-13B", "Mistral-7B")  # fmt: skip


class Again(NamedTuple):
    """A line computed again: rows with a ``source``, and the figure as a function of rows."""

    claim: str
    data: str
    rows: Frame
    figure: Callable[[Frame], float]


class Data:
    """The folder, the part that was read, and the readings."""

    def __init__(self, folder: Path, given: dict[str, Any]) -> None:
        self.folder, self.part, self.readings = folder, given["part"], given["readings"]

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a file of JSON lines."""
        path = self.folder / name
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if name.endswith("gz")
            else path.open(encoding="utf-8") as file
        ):
            return [json.loads(line) for line in file.read().split("\n") if line.strip()]

    def part_of(self, rows: Frame) -> Frame:
        """Return the rows of the sources that were read."""
        digests = (hashlib.sha256(f"part {s}".encode()).digest()[:8] for s in rows["source"])
        keep = [int.from_bytes(d, "big") % self.part == 0 for d in digests]
        return rows[keep].reset_index(drop=True)

    def read(self, name: str, rows: Frame, *columns: str) -> Frame:
        """Add the readings to the rows they were made of, one after another."""
        values = self.readings[name]
        if len(values) != len(rows):
            raise SystemExit(f"{name}: {len(values)} readings of {len(rows)} rows")
        table = pd.DataFrame(values, columns=list(columns), dtype=float)
        return pd.concat([rows, table], axis=1)


# ---- formulas


def spearman(rows: Frame) -> float:
    """Pearson correlation of mid-ranks."""
    return float(np.corrcoef(rows["ours"].rank(), rows["people"].rank())[0, 1])


def kendall(rows: Frame) -> float:
    """tau-b: concordant less discordant pairs, over the root of pairs untied on each side."""
    x, y = (np.sign(np.subtract.outer(v, v)) for v in (rows["said"].values, confidence(rows)))
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def confidence(rows: Frame) -> Any:
    """Share of comparable samples that do not contradict the answer."""
    return (rows["agree"] / rows["k"]).values


def skill(rows: Frame) -> float:
    """(cMFG - blind) / (1 - blind): ten bins of confidence, (lo, hi], empty ones skipped.

    Blind: every answer's confidence meets the decisiveness of every answer.
    """
    said, sure = rows["said"].to_numpy(), confidence(rows)
    bins = np.maximum(-(-10 * rows["agree"].astype(int) // rows["k"].astype(int)) - 1, 0)
    faithful = pd.Series(1 - np.abs(said - sure)).groupby(bins.to_numpy()).mean().mean()
    everyone = 1 - np.abs(np.subtract.outer(said, sure)).mean(axis=0)
    blind = pd.Series(everyone).groupby(bins.to_numpy()).mean().mean()
    return float((faithful - blind) / (1 - blind))


def auroc_within(rows: Frame, right: str) -> float:
    """P(a wrong answer is longer than a right one of the same system and set), ties half."""
    won = pairs = 0.0
    for _, own in rows.groupby("kind"):
        wrong = own[right] == 0
        n1, n0 = int(wrong.sum()), int((~wrong).sum())
        won += own["words"].rank()[wrong].sum() - n1 * (n1 + 1) / 2  # Mann-Whitney
        pairs += n1 * n0
    return won / pairs if pairs else float("nan")


def inflation(truth: str) -> Callable[[Frame], float]:
    """AUROC of length against a metric less that against people."""
    return lambda rows: auroc_within(rows, truth) - auroc_within(rows, "people")


def slope(rows: Frame) -> float:
    """Least squares with an intercept for each text of two or more labeled places."""
    own = rows.groupby("text")
    own = rows[own["share"].transform("size") > 1].groupby("text")
    x = own["at"].transform(lambda v: v - v.mean())
    y = own["share"].transform(lambda v: v - v.mean())
    return float((x * y).sum() / (x * x).sum())


def gap(rows: Frame) -> float:
    """Mean of ``hit`` where ``group`` holds, less the mean where it does not."""
    means = rows.groupby("group")["hit"].mean()
    return float(means.get(True, np.nan) - means.get(False, np.nan))


def lenience(rows: Frame) -> float:
    """Share of wrong answers accepted less share of right ones refused."""
    wrong = rows["right"] == 0
    return float(rows["accepted"][wrong].mean() - (1 - rows["accepted"][~wrong]).mean())


def common(a: list[str], b: list[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        last = 0
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], last + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def words(text: str) -> list[str]:
    """ROUGE's tokens: runs of a-z and 0-9."""
    plain = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else " " for c in text.lower())
    return plain.split()


def rouge_l(golds: list[str], answer: str) -> float:
    """ROUGE-L F1 against the closest reference."""
    told, best = words(answer), 0.0
    for gold in golds:
        true = words(gold)
        lcs = common(true, told)
        if lcs:  # 2PR / (P + R), in whole numbers: the threshold is at a common value
            best = max(best, 2 * lcs / (len(told) + len(true)))
    return best


# ---- the lines


def aside(text: str) -> bool:
    """Tell whether EVOUNA's question is of the half that no rule was written with."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def evouna(data: Data) -> Frame:
    """Return the answers of the half, with people's verdict, ROUGE-L's and the rules'."""
    rows = []
    for name in ("NQ", "TQ"):
        for row in data.lines(f"evouna/{name}.jsonl"):
            if row["improper"] is True or not aside(f"sayso-evouna-1|{name}|{row['question']}"):
                continue
            parts = [p.strip() for p in row["golden_answer"].split("/")]
            parts = [p for p in parts if p and not (len(p) == 1 and p.isalpha())]
            golds = list(dict.fromkeys([*parts, row["golden_answer"].strip()]))
            for system in NAMES:
                right, answer = row.get(f"judge_{system}"), row.get(f"answer_{system}")
                if isinstance(right, bool) and isinstance(answer, str):
                    rows.append((row["question"], name, system, float(right), golds, answer))
    frame = pd.DataFrame(rows, columns=["source", "set", "system", "people", "golds", "answer"])
    frame = data.read("evouna", data.part_of(frame), "rules")
    pairs = zip(frame["golds"], frame["answer"], strict=True)
    frame["rouge"] = [float(rouge_l(golds, answer) > 0.5) for golds, answer in pairs]
    frame["words"] = [float(len(answer.split())) for answer in frame["answer"]]
    frame["kind"] = frame["set"] + frame["system"]
    frame["source"] = frame["set"] + frame["source"]
    return frame.drop(columns=["golds", "answer"])


def of_words(data: Data) -> Iterator[Again]:
    """Ratings of wordings, and consistency."""
    place = data.folder / "linguistic_uncertainty" / "benchmark.csv"
    rows = pd.read_csv(place, encoding="utf-8-sig")
    rows = rows.rename(columns={"question": "source"})
    odd = [int(hashlib.sha256(q.encode()).hexdigest(), 16) % 2 == 1 for q in rows["source"]]
    rows = data.read("ratings", data.part_of(rows[odd]), "ours")
    rows["people"] = rows["annotation_mean"] / 100
    yield Again("ratings", "wordings of four models, rated by up to five people", rows, spearman)
    rows = pd.DataFrame(
        {"source": row["question"]}
        for name in ("hotpotQA", "nq_open")
        for row in data.lines(f"sac3/{name}_250_eval_labeled-SC.jsonl")
    )
    rows = data.read("consistency", data.part_of(rows), "said", "agree", "k")
    rows = rows[rows["said"].notna() & (rows["k"] >= 5)]
    for claim, figure in (("skill", skill), ("rank", kendall)):
        yield Again(claim, "SAC3: GPT-3.5, each question asked ten more times", rows, figure)


def of_length(rows: Frame) -> Iterator[Again]:
    """The two answer metrics, by system and for those that chat."""
    every = {name: [system] for system, name in NAMES.items()}
    for metric in ("rouge", "rules"):
        for name, systems in {**every, "the four chat systems": list(CHAT)}.items():
            own = rows[rows["system"].isin(systems) & rows[metric].notna()]
            yield Again(metric, f"EVOUNA, {name}", own, inflation(metric))


def placed(texts: list[tuple[object, object, list[float]]]) -> Frame:
    """Return a row for each labeled place of (text, source, shares)."""
    rows = [
        (str(text), str(source), i / len(shares), share)
        for text, source, shares in texts
        for i, share in enumerate(shares, 1)
    ]
    return pd.DataFrame(rows, columns=["text", "source", "at", "share"]).dropna()


def of_position(data: Data) -> Iterator[Again]:
    """Supported claims, and claims that the source does not tell of, along texts."""
    for system in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        texts = []
        for number, row in enumerate(data.lines(f"factscore/{system}.jsonl")):
            shares = []
            for sentence in row["annotations"] or []:
                labels = pd.Series([f["label"] for f in sentence.get("human-atomic-facts") or []])
                shares.append((labels[labels.isin(["S", "NS"])] == "S").mean())
            texts.append((number, row["topic"], shares))
        rows = data.part_of(placed(texts))
        yield Again("support", f"FActScore, {system}: biographies", rows, slope)
    texts = [
        (k, k, [float(label == "accurate") for label in row["annotation"]])
        for k, row in enumerate(data.lines("real/wikibio_gpt3.jsonl.gz"))
    ]
    yield Again("support", "WikiBio, GPT-3: biographies", data.part_of(placed(texts)), slope)
    facts, steps = ["wk", "science", "writing_rec"], ["math", "reasoning"]
    kinds = {"facts and advice": facts, "math and reasoning": steps, "all": facts + steps}
    for name, domains in kinds.items():
        texts = [
            (row["domain"] + row["index"], row["prompt"], [float(x) for x in row["labels"]])
            for row in data.lines("real/felm.jsonl.gz")
            if row["domain"] in domains
        ]
        yield Again("support", f"FELM, ChatGPT: {name}", data.part_of(placed(texts)), slope)
    code = {"Yes": 1.0, "No": 0.0, "PartialSupport": 0.0}
    texts = [
        (row["model"] + row["book"], row["book"],
         [code.get(claim["label"], np.nan) for claim in row["claims"].values()])
        for row in data.lines("real/fables.jsonl.gz")
    ]  # fmt: skip
    rows = data.part_of(placed(texts))
    yield Again("support", "FABLES, five models: book summaries", rows, slope)
    settings = {"zero_context": "without a passage", "noisy_context": "with retrieved passages",
                "accurate_context": "with the right passage"}  # fmt: skip
    codes = {"support": {"Entailment": 1.0, "Contradiction": 0.0},
             "unsaid": {"Entailment": 0.0, "Contradiction": 0.0, "Neutral": 1.0}}  # fmt: skip
    for claim, labels in codes.items():
        for setting, name in settings.items():
            texts = [
                (row["model"] + row["id"], row["id"],
                 [labels.get(c["human_label"], np.nan) for c in row["claims"]])
                for row in data.lines("real/refchecker.jsonl.gz")
                if row["setting"] == setting
            ]  # fmt: skip
            rows = data.part_of(placed(texts))
            yield Again(claim, f"RefChecker, seven models: {name}", rows, slope)


def of_abstaining(data: Data) -> Iterator[Again]:
    """J of abstaining by model and pooled."""
    for name, file, source in (
        ("UnknownBench", "unknownbench_refunq", "question"),
        ("confabulations", "confabulations", "article"),
    ):
        rows = pd.DataFrame(data.lines(f"real/{file}.jsonl.gz"))
        rows["source"] = rows[source]
        if source == "question":  # one family has them in capitals and with a question mark
            lower = rows[source].str.lower().str
            rows["source"] = lower.replace(r"[^\w ]|_", "", regex=True).str.strip()
        rows = data.read(name.lower(), data.part_of(rows), "hit")
        rows["group"] = ~rows["answerable"].astype(bool)
        rows = rows[["source", "model", "group", "hit"]]
        for model, own in rows.groupby("model", sort=False):
            yield Again("known", f"{name}, {model}", own, gap)
        yield Again("known", f"{name}, all {rows['model'].nunique()}", rows, gap)


def of_judges(data: Data, ours: Frame) -> Iterator[Again]:
    """Nine models' verdicts, ours and ROUGE-L's beside people's."""
    rows = pd.DataFrame(data.lines("real/umass_triviaqa_judges.jsonl.gz"))
    rows = data.part_of(rows.rename(columns={"question": "source"}))
    for judge in JUDGES:
        own = rows[["source"]].assign(
            accepted=(rows[judge] == "True").astype(float),
            right=(rows["Human-Eval"] == "True").astype(float),
        )
        yield Again("judges", f"TriviaQA, eight models; judge: {judge}", own, lenience)
    for metric, name in (("rules", "judge: `rules`"), ("rouge", "judge: ROUGE-L above .5")):
        own = ours.rename(columns={metric: "accepted", "people": "right"})
        own = own[["source", "accepted", "right"]].dropna()
        yield Again("judges", f"EVOUNA, five systems; {name}", own, lenience)


# ---- the comparison


def interval(line: Again, n: int) -> tuple[float, float]:
    """Return the 2.5 and 97.5 percentile of the figure over resampled sources."""
    rng = np.random.default_rng(1)
    rows = line.rows.reset_index(drop=True)
    places = list(rows.groupby("source").indices.values())
    values = []
    for _ in range(n):
        drawn = [places[i] for i in rng.integers(0, len(places), len(places))]
        again = rows.iloc[np.concatenate(drawn)].reset_index(drop=True)
        if "text" in again:  # a text that is drawn twice is two texts
            again["text"] += np.repeat(np.arange(len(drawn)), [len(d) for d in drawn]).astype(str)
        values.append(line.figure(again))
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def compare(folder: Path, stored: dict[str, Any]) -> Iterator[tuple[Again, dict[str, Any], float]]:
    """Yield each line computed again, what findings.py has, and the figure here."""
    data = Data(folder, stored)
    ours = evouna(data)
    theirs = {(line["claim"], line["data"]): line for line in stored["lines"]}
    parts = (of_words(data), of_length(ours), of_position(data), of_abstaining(data),
             of_judges(data, ours))  # fmt: skip
    for line in chain(*parts):
        yield line, theirs.pop((line.claim, line.data)), line.figure(line.rows)
    if theirs:
        raise SystemExit(f"not computed again: {theirs.keys()}")


def alike(one: float, other: float) -> bool:
    """Tell whether two figures agree to the third decimal, or are both undefined."""
    return bool(abs(one - other) < 0.0005 or (np.isnan(one) and np.isnan(other)))


def main() -> int:
    """Print each figure beside what it is here; return how many differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path)
    parser.add_argument("--resamples", type=int, default=0, help="an interval for each, slow")
    given = parser.parse_args()
    folder = Path(os.environ.get("SAYSO_TEST_DATA", "/nowhere"))
    stored = json.loads(given.figures.read_text(encoding="utf-8"))
    count, wrong, most = 0, 0, 0.0
    print("findings    check  claim: data")
    for line, other, value in compare(folder, stored):
        count += 1
        own = np.nan if other["figure"] is None else other["figure"]
        wrong += not alike(own, value)
        most = np.fmax(most, abs(own - value))
        text = f"{own:+8.4f} {value:+8.4f}  {line.claim}: {line.data}"
        if given.resamples:
            low, high = interval(line, given.resamples)
            text += f"; {other['verdict']}, [{other['low']:+.3f}, {other['high']:+.3f}]"
            text += f", here [{low:+.3f}, {high:+.3f}]"
        print(text, flush=True)
    print(f"{count} figures, {wrong} not alike to the third decimal; largest difference {most:.1e}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
