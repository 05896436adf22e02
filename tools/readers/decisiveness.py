"""Train the decisiveness reader: which clauses assert something, and how surely they are worded.

    python tools/readers/decisiveness.py --data DATA [--level] [--check]

Writes ``src/sayso/judges/data/decisiveness_weights.json``. ``DATA`` is the folder that holds
``linguistic_uncertainty/``, ``certainty_scicomm/``, ``evouna/`` and ``real/``. Both models are
ridge regressions in closed form, so that one run gives the same weights as the next. Only the half
of the questions with an even hash, and of ``labels.py`` the half "train", are used;
``benchmarks/readers/decisiveness.py`` measures on the others. Takes two minutes.
``--check`` prints five-fold figures within the half and writes nothing. See
``benchmarks/readers/trained.md``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import labels
import numpy as np
from scipy.sparse import diags_array, lil_array

from sayso.judges import decisiveness as reader
from sayso.metrics import spearman

ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "src" / "sayso" / "judges" / "data" / "decisiveness_weights.json"
PLAIN = 0.975

#: what the medians of the survey are spread over; none of these is a carrier of the test
TEMPLATES = {
    "clause": ("It is {} that the abbey burned down.", "It's {} that Karin Voss painted it.",
               "That the mill closed in 1871 is {}.", "I find it {} that he lived in Graz."),
    "adverb": ("It was {} Graz.", "The mill {} closed in 1871.", "He was {} a weaver.",
               "The river {} freezes.", "The film will {} be shown."),
    "be": ("It {} Graz.", "It {} 1871.", "It {} Karin Voss.", "I say it {} oak."),
    "we": ("{} that the abbey burned down.", "{} it was Graz.", "{} he was a weaver."),
    "chance": ("There is {} chance that the mill closed in 1871.", "There's {} chance it was Graz.",
               "I would say there is {} chance that he was a weaver.",
               "It has {} chance of being oak."),
    "chances": ("The chances {} that it was Graz.", "The odds {} that he was a weaver.",
                "The chances that the mill closed in 1871 {}.",
                "The likelihood that it is oak {}."),
}  # fmt: skip
#: kind of template, phrase, median of 123 readers / 100 (the survey), or a level between them
LEVELS = (
    ("clause", "almost certain", 0.95), ("clause", "highly likely", 0.9),
    ("clause", "probable", 0.7), ("clause", "likely", 0.7), ("clause", "improbable", 0.12),
    ("clause", "unlikely", 0.2), ("clause", "highly unlikely", 0.07),
    ("clause", "very likely", 0.85), ("clause", "certain", 0.97), ("clause", "possible", 0.4),
    ("clause", "impossible", 0.02), ("clause", "not likely", 0.2), ("clause", "doubtful", 0.2),
    ("clause", "quite likely", 0.75), ("clause", "extremely unlikely", 0.06),
    ("clause", "somewhat likely", 0.62), ("clause", "highly probable", 0.85),
    ("clause", "not impossible", 0.4), ("clause", "not certain", 0.5),
    ("clause", "conceivable", 0.35), ("clause", "more likely than not", 0.6),
    ("adverb", "probably", 0.7), ("adverb", "probably not", 0.25), ("adverb", "likely", 0.7),
    ("adverb", "almost certainly", 0.95), ("adverb", "certainly", 0.98),
    ("adverb", "certainly not", 0.97), ("adverb", "definitely not", 0.97),
    ("adverb", "likely not", 0.25), ("adverb", "possibly", 0.4), ("adverb", "perhaps", 0.4),
    ("adverb", "maybe", 0.4), ("adverb", "definitely", 0.985), ("adverb", "undoubtedly", 0.98),
    ("adverb", "presumably", 0.7), ("adverb", "most likely", 0.8), ("adverb", "not", PLAIN),
    ("be", "cannot be", 0.03), ("be", "can't be", 0.03), ("be", "cannot have been", 0.03),
    ("be", "could not be", 0.05), ("be", "can't be anything but", PLAIN),
    ("be", "cannot have been anything but", PLAIN), ("be", "can't have been anyone but", PLAIN),
    ("we", "We believe", 0.75), ("we", "I believe", 0.7), ("we", "We doubt", 0.2),
    ("we", "I doubt", 0.2), ("we", "I do not believe", 0.2), ("we", "I don't think", 0.22),
    ("we", "I seriously doubt", 0.1), ("we", "I think", 0.65),
    ("chance", "a very good", 0.8), ("chance", "little", 0.1), ("chance", "almost no", 0.02),
    ("chance", "a good", 0.72), ("chance", "a slim", 0.1), ("chance", "a slight", 0.12),
    ("chance", "no", 0.01), ("chance", "a better than even", 0.6), ("chance", "a fair", 0.5),
    ("chance", "an about even", 0.5), ("chance", "a strong", 0.8), ("chance", "a small", 0.12),
    ("chances", "are slight", 0.12), ("chances", "are better than even", 0.6),
    ("chances", "are about even", 0.5), ("chances", "are slim", 0.1), ("chances", "are good", 0.75),
)  # fmt: skip
#: our own remarks that speak of knowing and assert nothing of what is asked
NOTHING = (
    "I'm not certain of the exact place, but I'm certain of her name.",
    "I'm sure of his name.", "I'm certain of the year of his death.", "I know who he is.",
    "I'm not equipped to give definitive answers.", "I have no reliable records of that.",
    "I'm not confident enough to name a date.", "Sorry, I can't confidently provide that name.",
    "I'm sorry, but I'm not confident enough in my knowledge to give a reliable answer.",
    "I'm not able to verify that.", "I could not find any record of this person.",
    "Let me know if you might need more.", "Hope this helps!", "I could be wrong.",
    "Please verify this with a reliable source.", "I might be mistaken.", "That's only a guess.",
    "Don't quote me on that.", "I am not sure about that.", "I'm sure of it.", "I think so.",
    "I'm not completely sure about this.", "I might be tired today.", "I cannot say for certain.",
    "I really don't know.", "I can't tell which.", "That is a wild guess.", "I have my doubts.",
    "It's just a guess.", "I'd need to double-check that.", "But I'm not 100% positive.",
    "Though I'm unsure.", "I'm not entirely certain.", "I'm doubting myself.",
    "I'm not at all confident.", "My confidence is low.", "I would need to check.",
    "With very low confidence.", "I'm not claiming to be an expert.",
    "I'm not saying it was Graz.",
)  # fmt: skip
#: clauses of our own that assert something, however little
SOMETHING = (
    "I doubt it.", "Probably not.", "Yes.", "No.", "Certainly.", "Maybe Graz.", "1871?",
    "I doubt that it was Graz.", "I cannot confirm that it was Graz.", "I'm not sure it was Graz.",
    "I do not know whether it was Graz.", "I'm not sure that he lived in Graz.",
    "I don't know for sure, 1871.", "The cause is unknown to science.", "It was not Graz.",
    "I can't say with confidence that it was 1871.", "I have no idea, maybe Graz?",
    "I'm sure it was Graz.", "I know that he lived in Graz.", "I am certain it was 1871.",
    "The treatment is rest.", "The capital is a port.", "Symptoms could include a cough.",
    "But signs could include a cough.", "But the symptoms could be a rash.",
    "The disease is caused by mites.", "It is a kind of cheese.",
    "The play is about a miller.",
    "He was a weaver and a poet.", "Symptoms include pain and a rash.", "It is made of oak.",
    "The answer is blue.", "A spider has eight legs.", "The river floods.", "She hated the town.",
    "The bank is on the left.", "They grow in wet soil.", "Its roof fell in.", "The sea is warm.",
    "It causes the heart to beat faster.", "The last king fled.", "Two of them are mammals.",
    "We have doubts that he lived there.", "I'm sure about the year 1871.",
)  # fmt: skip


class Row(NamedTuple):
    """A text with the level that its readers gave, and how much it counts."""

    text: str
    level: float
    weight: float
    group: str = ""


def even(text: str) -> bool:
    """Whether a question belongs to the half that is trained on."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    read = gzip.open if path.suffix == ".gz" else open
    with read(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def rated(data: Path, half: bool = True) -> list[Row]:
    """Return answers with the mean of people's ratings, of one half of the questions."""
    with (data / "linguistic_uncertainty/benchmark.csv").open(encoding="utf-8-sig") as lines:
        return [
            Row(r["uncertainty_expression"], float(r["annotation_mean"]) / 100, 1.0, r["question"])
            for r in csv.DictReader(lines)
            if even(r["question"]) == half
        ]


def more_rated(data: Path) -> list[Row]:
    """Return the answers of the same questions that were left out of the benchmark.

    Their raters agree less and shun the ends of the scale, so that each level of certainty that was
    asked of the model is moved to the mean that it has in the benchmark.
    """
    chosen = {row.text: row.level for row in rated(data)}
    of_level: dict[str, list[tuple[float, bool]]] = {}
    rows = []
    with (data / "linguistic_uncertainty/full.csv").open(encoding="utf-8-sig") as lines:
        for row in csv.DictReader(lines):
            text, level = row["uncertainty_expression"], row["llm_confidence_level"]
            scores = [float(s) for i in range(1, 6) if (s := row[f"annotater_confidence_score{i}"])]
            if text in chosen:
                of_level.setdefault(level, []).append((chosen[text], True))
            elif even(row["question"]) and len(scores) >= 3:
                mean = sum(scores) / len(scores) / 100
                of_level.setdefault(level, []).append((mean, False))
                rows.append((text, mean, level, row["question"]))
    shift = {
        level: np.mean([x for x, inside in means if inside])
        - np.mean([x for x, inside in means if not inside])
        for level, means in of_level.items()
    }
    return [
        Row(text, float(np.clip(mean + shift[level], 0, 1)), COUNTS["more"], question)
        for text, mean, level, question in rows
    ]


def wordings(name: str) -> list[dict[str, Any]]:
    """Return the rows of one file of the wording tests."""
    return list(_lines(ROOT / f"benchmarks/data/wordings_{name}.jsonl"))


def real_answers(data: Path) -> list[str]:
    """Return real answers that people called right (EVOUNA, Apache-2.0): each asserts something."""
    texts = [
        text
        for name in ("NQ", "TQ")
        for row in _lines(data / "evouna" / f"{name}.jsonl")
        if even(row["question"])
        for who in ("chatgpt", "gpt35", "gpt4", "newbing")
        if row[f"judge_{who}"] is True
        and isinstance(text := row[f"answer_{who}"], str)
        and 3 < len(text) < 300
    ]
    aside = {row.text for row in labels.real_rows(data) if row.half != "train"}
    texts = [text for text in texts if text.strip() not in aside]
    random.Random(0).shuffle(texts)
    return texts[:1200]


def findings(data: Path) -> list[Row]:
    """Return scientific findings with people's certainty (MIT), those of the split "train"."""
    path = data / "certainty_scicomm" / "sentence-level-certainty.jsonl"
    return [
        Row(r["finding"], PLAIN - 0.6 * (6 - r["sentence-level-certainty"]) / 5, 1.0)
        for r in _lines(path)
        if r["split"] == "train"
    ]


# ---- which clauses assert something


def labelled(data: Path) -> list[tuple[str, bool, float]]:
    """Return (text, whether it asserts anything, weight)."""
    rows: list[tuple[str, bool, float]] = [(t, False, 2.0) for t in NOTHING]
    rows += [(t, True, 3.0) for t in SOMETHING]
    for row in wordings("short"):
        stance = row["expected"].split()[0]
        if stance in ("hedged", "committed"):
            rows.append((row["text"], True, 1.0))
        elif (
            stance != "omitted" and "birth date" not in row["class"] and "Ripley" not in row["text"]
        ):
            rows.append((row["text"], False, 1.0))
    rows += [(r["text"], r["expected"] is not None, 2.0) for r in wordings("decisiveness")]
    pairs = json.loads((ROOT / "tests/golden/decisive_pairs.json").read_text(encoding="utf-8"))
    rows += [(t, True, 1.0) for _, *both in pairs["pairs"] for t in both]
    rows += [(t.format(p), True, 0.5) for kind, p, _ in LEVELS for t in TEMPLATES[kind]]
    rows += [(r.text, True, 0.5) for r in rated(data) if r.level > 0.12]
    rows += [(t, True, 0.5) for t in real_answers(data)]
    rows += [(r.text, True, 0.5) for r in findings(data)]
    for row in labels.real_rows(data):
        stance = row.labels[0].stance
        if row.half == "train" and row.form == "short" and stance is not None:
            rows.append((row.text[: reader.LONGEST_READ], stance in ("committed", "hedged"), 1.0))
    return [r for r in rows if reader.is_english(r[0])]


def ridge(
    rows: Sequence[dict[str, float]],
    y: np.ndarray,
    weight: np.ndarray,
    alpha: float,
    base: float | None,
    least: int = 2,
) -> tuple[float, dict[str, float]]:
    """Return (base, weights of features that ``least`` rows have) of a weighted ridge regression.

    Solved in the space of rows. With ``base`` given, it stays; otherwise it is a feature that is
    hardly shrunk.
    """
    counts = Counter(f for row in rows for f in row)
    names = sorted(f for f, n in counts.items() if n >= least)
    place = {f: i for i, f in enumerate(names)}
    x = lil_array((len(rows), len(names) + 1))
    for i, row in enumerate(rows):
        for f, value in row.items():
            if f in place:
                x[i, place[f]] = value
        x[i, -1] = 0.0 if base is not None else 10.0
    root = np.sqrt(weight)
    a, b = diags_array(root) @ x.tocsr(), (y - (base or 0.0)) * root
    solved = a.T @ np.linalg.solve((a @ a.T).toarray() + alpha * np.eye(len(rows)), b)
    level = base if base is not None else float(solved[-1] * 10)
    kept = {
        f: round(float(v), 4) for f, v in zip(names, solved[:-1], strict=True) if abs(v) >= 2e-3
    }
    return round(level, 4), kept


def learn_asserts(data: Path) -> reader.DecisivenessWeights:
    """Learn from labels of texts which of their clauses assert: the surest clause of each does."""
    rows = labelled(data)
    counts: Counter[str] = Counter()
    for text, _, _ in rows:
        counts.update(
            {w.text for w in _words(text) if (not w.value and w.text.isalpha()) or "-" in w.text}
        )
    glue = reader.lexicon().glue
    known = frozenset(w for w, n in counts.items() if n >= 4) | (glue & counts.keys())
    parts = [reader.clauses(_plain(t), _words(t)) for t, _, _ in rows]
    features = [[reader.assert_features(c.words, known) for c in cs] for cs in parts]
    marks = [
        [1.0 if label else -1.0] * len(cs) for cs, (_, label, _) in zip(parts, rows, strict=True)
    ]
    model = reader.DecisivenessWeights(0.0, {})
    # A text that asserts something and has several clauses counts once the model can tell them.
    counted = [not label or len(cs) == 1 for cs, (_, label, _) in zip(parts, rows, strict=True)]
    for _ in range(6):
        every = zip(features, marks, rows, counted, strict=True)
        flat = [
            (f, m, w) for fs, ms, (_, _, w), c in every for f, m in zip(fs, ms, strict=True) if c
        ]
        base, of = ridge(
            [f for f, _, _ in flat], np.array([m for _, m, _ in flat]),
            np.array([w for _, _, w in flat]), 4.0, None, 3,
        )  # fmt: skip
        model = reader.DecisivenessWeights(base, of, known)
        for k, (fs, ms, (_, label, _)) in enumerate(zip(features, marks, rows, strict=True)):
            sums = [model.sum(f) for f in fs]
            counted[k] = True
            if label and sums:
                ms[:] = [1.0 if s > 0 or s == max(sums) else -1.0 for s in sums]
    return model


def _plain(text: str) -> str:
    return reader.seen_plainly(text[: reader.LONGEST_READ])


def _words(text: str) -> list[reader.DecisivenessWord]:
    return reader.decisiveness_words(_plain(text))


# ---- how surely


def features_of(text: str) -> tuple[dict[str, float], int] | None:
    """Return the features of a text, averaged over what it asserts, and its alternatives.

    None for a text that asserts nothing or says its probability as a number.
    """
    statements = reader.analyze(text)
    if not statements or any(s.shares for s in statements):
        return None
    total, most = sum(s.weight for s in statements), 1
    mean: Counter[str] = Counter()
    for one in statements:
        count, kept = reader.count_alternatives(one.remarks)
        most = max(most, count)
        for feature, value in reader.level_features(kept).items():
            mean[feature] += value * one.weight / total  # type: ignore[assignment]
    return dict(mean), most


#: how much a row of each kind counts beside one answer that people rated
COUNTS = {"survey": 5.0, "wording": 6.0, "plain": 0.3, "hedged": 0.05, "finding": 0.5, "more": 0.15}


def level_rows(data: Path) -> list[Row]:
    """Return the texts that are trained on with their levels."""
    rows = [*rated(data), *more_rated(data)]
    survey, wording = COUNTS["survey"], COUNTS["wording"]
    rows += [Row(t.format(p), level, survey) for kind, p, level in LEVELS for t in TEMPLATES[kind]]
    for row in wordings("decisiveness"):
        if row["expected"] is not None and row["expected"][1] - row["expected"][0] < 0.5:
            low, high = row["expected"]
            rows.append(Row(row["text"], PLAIN if low > 0.89 else (low + high) / 2, wording))
    for row in wordings("short"):
        stance = row["expected"].split()[0]
        if stance == "hedged":
            rows.append(Row(row["text"], 0.55, COUNTS["hedged"]))
        elif stance == "committed":
            rows.append(Row(row["text"], PLAIN, COUNTS["plain"]))
    rows += [r._replace(weight=COUNTS["finding"]) for r in findings(data)]
    return rows


def learn_level(rows: Sequence[Row], alpha: float = 2.0) -> reader.DecisivenessWeights:
    """Learn from levels and from ordered pairs, which are held at a margin of .06."""
    usable = [(f[0], r.level * f[1], r.weight) for r in rows if (f := features_of(r.text))]
    pairs = json.loads((ROOT / "tests/golden/decisive_pairs.json").read_text(encoding="utf-8"))
    ordered = [
        (a, b) for _, x, y in pairs["pairs"] if (a := features_of(x)) and (b := features_of(y))
    ]
    differences: list[tuple[dict[str, float], float]] = []
    model = reader.DecisivenessWeights(PLAIN, {})
    for _ in range(4):
        x = [f for f, _, _ in usable] + [d for d, _ in differences]
        y = np.array([min(1.1, t) for _, t, _ in usable] + [PLAIN + m for _, m in differences])
        w = np.array([w for _, _, w in usable] + [1.0] * len(differences))
        model = reader.DecisivenessWeights(*ridge(x, y, w, alpha, PLAIN))
        for (surer, n), (less, m) in ordered:
            if n == m and min(1, model.sum(surer)) < min(1, model.sum(less)) + 0.03:
                both = surer.keys() | less.keys()
                apart = {f: surer.get(f, 0.0) - less.get(f, 0.0) for f in both}
                differences.append((apart, 0.06))
    return model


def check(data: Path) -> None:
    """Print five-fold figures of the level within the half that is trained on."""
    rows, more = level_rows(data), COUNTS["more"]
    groups = sorted({r.group for r in rows if r.group})
    random.Random(0).shuffle(groups)
    fold = {g: i % 5 for i, g in enumerate(groups)}
    for alpha in (1.0, 2.0, 4.0):
        people, ours, gaps = [], [], 0
        for k in range(5):
            model = learn_level([r for r in rows if not r.group or fold[r.group] != k], alpha)
            for row in rows:
                if row.group and fold[row.group] == k and row.weight != more:
                    f = features_of(row.text)
                    gaps += f is None
                    if f:
                        people.append(row.level)
                        ours.append(min(1.0, max(0.0, model.sum(f[0]))) / f[1])
        error = np.abs(np.array(people) - ours).mean()
        print(f"alpha {alpha}: Spearman {spearman(ours, people):.3f}, error {error:.3f}, "
              f"n {len(ours)}, {gaps} without a level or with a number")  # fmt: skip


def main() -> None:
    """Train both models, in this order: the level is learned from what asserts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--level", action="store_true", help="learn the level alone")
    parser.add_argument("--check", action="store_true", help="five folds; nothing is written")
    arguments = parser.parse_args()
    asserts = reader.weights("asserts") if arguments.level else learn_asserts(arguments.data)
    reader.use({"asserts": asserts, "level": reader.DecisivenessWeights(PLAIN, {})})
    if arguments.check:
        check(arguments.data)
        return
    level = learn_level(level_rows(arguments.data))
    data = {
        "asserts": {
            "base": asserts.base,
            "vocabulary": sorted(asserts.vocabulary),
            "of": asserts.of,
        },
        "level": {"base": level.base, "of": level.of},
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    WEIGHTS.write_text(text.replace('},"level"', '},\n"level"') + "\n", encoding="utf-8")
    print(f"{len(asserts.of)} and {len(level.of)} weights, {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
