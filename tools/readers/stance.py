"""Train the offline reader of stance again, or say how well it reads texts it has not seen.

    python tools/readers/stance.py            # train, write judges/data/*.npz
    python tools/readers/stance.py --folds 4  # cross-validate on the training texts, write nothing
    python tools/readers/stance.py --aside    # read what is set aside with the weights in use

Training also writes the weights of :mod:`folds`, each without a fifth of the questions of the half
"folds", which the weights in use have learned from.

``SAYSO_TEST_DATA`` names the folder of the public texts, ``SAYSO_STANCE_LABELS`` a file of your own
labeled answers, in the format of ``benchmarks/data/stance.jsonl``. Needs scikit-learn. The same
texts give the same weights. Whoever changes the reader by what ``--aside`` shows must set other
texts aside.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from folds import FOLDS, fold_of, save_folds
from labels import DATA, Row, real_rows, training_rows
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from sayso.judges.rules.alignment import AlignedParagraph, asserting_sentences
from sayso.judges.rules.reading import (
    STANCES,
    WEIGHT_STEP,
    AskedAspect,
    Features,
    StanceWeights,
    StanceWord,
    aspect_of,
    load_weights,
    sentences_of,
    stance_features,
    weights_of,
)
from sayso.metrics.agreement import kappa
from sayso.records import golds_of

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "sayso" / "judges" / "data"
WITHHELD = ("abstained", "refused_by_policy", "asked_back")
REAL = (
    "refunq", "evouna", "felm", "smollm2", "qwen-0.5b", "qwen-1.5b", "factscore", "own",
    "assistants_2026",
)  # fmt: skip
LEAST = {"stance": 3, "alignment": 4, "spoken": 4}
STRENGTH = {"stance": 0.3, "alignment": 0.3, "spoken": 0.1}
ROUNDS = 3
#: share of aspects that a paragraph is taken to leave out, whoever wrote it
OMITTED = 0.35
#: of a text in learning; real models' answers to many questions count most
IMPORTANCE = {
    "taught": 0.35, "orders": 0.8, "factscore": 1.0, "stance_writers": 0.7, "made": 0.3,
    "assistants": 0.2, "assistants_2026": 1.2,
}  # fmt: skip


#: log-odds taken from "committed" in short answers: texts that assert outnumber others in learning,
#: and a reader that errs towards them hides doubt. On folds of the training texts it sees .97 of
#: chat models' assertions with it, and two points more of their doubt
LEAN = 0.4


def aspects_of(row: Row) -> list[AskedAspect]:
    return [aspect_of(a.question, golds_of(a.golds), a.hint, row.entity) for a in row.labels]


def short_features(row: Row) -> Features:
    (aspect,) = aspects_of(row)
    return {
        **stance_features(asserting_sentences(sentences_of(row.text), aspect), aspect),
        "short": 1.0,
    }


def weight_of(row: Row) -> float:
    if row.source in IMPORTANCE:
        return IMPORTANCE[row.source]
    return 2.0 if row.source in REAL else 0.5 if row.source.startswith("wordings") else 1.0


def fit(
    examples: Sequence[Features], labels: Sequence[Any], weights: Sequence[float], name: str
) -> StanceWeights:
    """Fit a linear model; classes are those of the labels, in the order of STANCES."""
    counts = Counter(feature for example in examples for feature in example)
    kept = [{f: v for f, v in e.items() if counts[f] >= LEAST[name]} for e in examples]
    vectorizer = DictVectorizer(dtype=np.float64)
    table = vectorizer.fit_transform(kept)
    model = LogisticRegression(C=STRENGTH[name], max_iter=500)
    model.fit(table, labels, sample_weight=weights)
    if name != "stance":
        coefficients, bias = model.coef_.T, model.intercept_
    else:
        order = [list(model.classes_).index(stance) for stance in STANCES[:-1]]
        coefficients, bias = model.coef_[order].T, model.intercept_[order]
        coefficients[vectorizer.vocabulary_["short"], STANCES.index("committed")] -= LEAN
    return weights_of(vectorizer.get_feature_names_out().tolist(), coefficients, bias, 1.0)


def has_gold(row: Sequence[StanceWord], aspect: AskedAspect) -> bool:
    """Whether one of the golds stands in these words, word for word."""
    texts = [word.text for word in row]
    for gold in aspect.golds:
        for at in range(len(texts) - len(gold) + 1):
            if texts[at] == gold[0] and tuple(texts[at : at + len(gold)]) == gold:
                return True
    return False


class Long:
    """A paragraph with its features of alignment, and where each aspect is spoken of.

    ``homes`` is a clause, -1 for nowhere, ``None`` where it has to be guessed.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.text = AlignedParagraph(row.text, aspects_of(row))
        n = len(self.text.clauses)
        self.pairs = [[self.text.pair(i, j) for i in range(n)] for j in range(len(row.labels))]
        self.homes = [self._home(j) for j in range(len(row.labels))]

    def _home(self, j: int) -> int | None:
        label, text = self.row.labels[j], self.text
        if label.span is not None:
            low, high = label.span
            common = []
            for clause in text.clauses:
                part = text.words(clause)
                common.append(max(0, min(high, part[-1].end) - max(low, part[0].start)))
            return int(np.argmax(common)) if max(common) else None
        if label.stance == "omitted":
            return -1
        golds = self._golds(j)
        if golds.any():
            return int(np.argmax(golds * (1 + text.hits[:, j])))
        if label.stance in WITHHELD:
            gaps = [
                pair[j].get("gap", 0.0) * (1 + 2 * text.hits[i, j] + pair[j]["gap names kind"])
                if "gap" in pair[j]
                else 0.0
                for i, pair in enumerate(zip(*self.pairs, strict=True))
            ]
            return int(np.argmax(gaps)) if max(gaps) else None
        return None

    def _golds(self, j: int) -> np.ndarray:
        """Return where a gold stands, but for clauses that name only another aspect of its kind."""
        text, kind = self.text, self.text.aspects[j].kind
        golds = [has_gold(text.words(clause), text.aspects[j]) for clause in text.clauses]
        alike = [k for k, a in enumerate(text.aspects) if k != j and a.kind == kind]
        if not alike:
            return np.array(golds, dtype=float)
        theirs = (text.hits[:, j] == 0) & (text.hits[:, alike].max(axis=1) > 0)
        return np.array(golds, dtype=float) * ~theirs

    def align(self, weights: StanceWeights) -> None:
        every = weights.of_each([pair for pairs in self.pairs for pair in pairs])
        self.text.use(every.reshape(len(self.pairs), -1))


def fit_alignment(texts: Sequence[Long]) -> StanceWeights:
    """Fit which clause speaks of which aspect; unlabelled homes are guessed and fitted again."""
    homes = [list(text.homes) for text in texts]
    for turn in range(ROUNDS):
        examples, labels, importance = [], [], []
        for text, known in zip(texts, homes, strict=True):
            weight = 0.5 if text.row.source in ("factscore", "stance_writers") else 1.0
            for pairs, home in zip(text.pairs, known, strict=True):
                if home is not None:
                    examples += pairs
                    labels += [int(i == home) for i in range(len(pairs))]
                    importance += [weight] * len(pairs)
        weights = fit(examples, labels, importance, "alignment")
        if turn == ROUNDS - 1:
            break
        for text, known in zip(texts, homes, strict=True):
            text.align(weights)
            for j, label in enumerate(text.row.labels):
                if text.homes[j] is None and label.stance not in (None, "omitted"):
                    known[j] = int(np.argmax(text.text.fits[j]))
    return weights


class Readers(NamedTuple):
    """The weights of the three models."""

    alignment: StanceWeights
    spoken: StanceWeights
    stance: StanceWeights


def fit_all(short: Sequence[Row], long: Sequence[Long]) -> Readers:
    """Fit alignment, then whether an aspect is spoken of, then the stance where it is."""
    alignment = fit_alignment(long)
    spoken, omitted, spoken_weights, sources = [], [], [], []
    for text in long:
        text.align(alignment)
        for j, label in enumerate(text.row.labels):
            if label.stance is not None:
                spoken.append(text.text.spoken_features(j, text.text.features(j)))
                omitted.append(int(label.stance == "omitted"))
                spoken_weights.append(weight_of(text.row))
                sources.append(text.row.source)
    return Readers(
        alignment,
        fit(spoken, omitted, _balanced(omitted, spoken_weights, sources), "spoken"),
        fit_stance(stance_examples(short, long)),
    )


class Example(NamedTuple):
    """What the model of stance learns from: the features of an aspect's clauses, and its label."""

    features: Features
    stance: str
    row: Row


def stance_examples(short: Sequence[Row], long: Sequence[Long]) -> list[Example]:
    """Return the examples of stance; paragraphs must be aligned."""
    found = []
    for row in short:
        stance = row.labels[0].stance
        if stance is not None:
            wanted = "committed" if stance == "omitted" else stance
            found.append(Example(short_features(row), wanted, row))
    for text in long:
        for j, label in enumerate(text.row.labels):
            if label.stance not in (None, "omitted"):
                found.append(Example(text.text.features(j), str(label.stance), text.row))
    return found


def fit_stance(examples: Sequence[Example]) -> StanceWeights:
    features, labels, rows = zip(*examples, strict=True)
    return fit(features, labels, [weight_of(row) for row in rows], "stance")


def fit_folds(examples: Sequence[Example]) -> list[StanceWeights]:
    """Fit the stance once without each fold of the questions of the half "folds"."""
    return [
        fit_stance(
            [e for e in examples if e.row.half != "folds" or fold_of(e.row.labels[0].question) != k]
        )
        for k in range(FOLDS)
    ]


def _balanced(
    omitted: Sequence[int], weights: Sequence[float], sources: Sequence[str]
) -> list[float]:
    """Weigh omitted aspects so that they make up the share OMITTED of each source."""
    mass: Counter[tuple[str, int]] = Counter()
    for value, weight, source in zip(omitted, weights, sources, strict=True):
        mass[source, value] += weight  # type: ignore[assignment]
    kept = []
    for value, weight, source in zip(omitted, weights, sources, strict=True):
        share = OMITTED if value else 1 - OMITTED
        kept.append(weight * share * (mass[source, 0] + mass[source, 1]) / mass[source, value])
    return kept


def predict_short(row: Row, readers: Readers) -> np.ndarray:
    return np.append(readers.stance.probabilities(short_features(row)), 0.0)


def cross_validate(short: list[Row], long: list[Long], folds: int) -> None:
    """Print kappa by source, and the temperature that fits the real texts best."""
    groups = [row.labels[0].question if row.source in REAL else row.id for row in short]
    long_groups = [text.row.entity or text.row.id for text in long]
    seen: list[tuple[str, str, np.ndarray]] = []
    for (a, b), (c, d) in zip(
        GroupKFold(folds).split(short, groups=groups),
        GroupKFold(folds).split(long, groups=long_groups),
        strict=True,
    ):
        readers = fit_all([short[i] for i in a], [long[i] for i in c])
        for i in b:
            label = short[i].labels[0].stance
            if label is not None:
                wanted = "committed" if label == "omitted" else label
                seen.append((f"{short[i].source} short", wanted, predict_short(short[i], readers)))
        for i in d:
            long[i].align(readers.alignment)
            chances = long[i].text.chances(readers.spoken, readers.stance)
            for one, row in zip(long[i].row.labels, chances, strict=True):
                if one.stance is not None:
                    seen.append((f"{long[i].row.source} long", one.stance, row))
    for source in sorted({source for source, _, _ in seen}):
        _print(source, [(w, p) for s, w, p in seen if s == source])
    for form in ("short", "long"):
        mine = [(w, p) for s, w, p in seen if s.split()[0] in REAL and s.endswith(form)]
        _print(f"real, {form}", mine)
    real = [(w, p) for s, w, p in seen if s.split()[0] in REAL]
    losses = {t: _loss(real, t) for t in np.arange(0.5, 2.55, 0.05)}
    best = min(losses, key=losses.__getitem__)
    print(f"temperature {best:.2f}, log-loss {losses[best]:.3f}")
    _print_calibration(real, best)


def read_aside(halves: tuple[str, ...]) -> None:
    """Print kappa of the reader in use on the real texts that it did not learn from."""
    rows = [row for row in real_rows() if row.half in halves]
    seen: list[tuple[str, str, np.ndarray]] = []
    for row in rows:
        if row.form == "short":
            weights = load_weights("stance")
            chances = [np.append(weights.probabilities(short_features(row)), 0.0)]
        else:
            text = AlignedParagraph(row.text, aspects_of(row))
            text.align()
            spoken, stance = load_weights("spoken"), load_weights("stance")
            chances = list(text.chances(spoken, stance))
        for label, found in zip(row.labels, chances, strict=True):
            if label.stance is not None:
                wanted = label.stance
                if row.form == "short" and wanted == "omitted":
                    wanted = "committed"
                seen.append((f"{row.source} {row.form}", wanted, found))
    for source in sorted({source for source, _, _ in seen}):
        _print(source, [(w, p) for s, w, p in seen if s == source])
    chat = [(w, p) for s, w, p in seen if not s.startswith(("smollm2", "halueval"))]
    _print(
        "chat models, short",
        [(w, p) for s, w, p in seen if s.startswith(("evouna", "refunq", "felm"))],
    )
    _print("chat models, all", chat)
    _print_calibration([(w, p) for _, w, p in seen], 1.0)


def _print_calibration(rows: list[tuple[str, np.ndarray]], temperature: float) -> None:
    """Print how often the likeliest stance is right, by its probability."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for wanted, chances in rows:
        power = np.power(np.maximum(chances, 1e-12), 1 / temperature)
        certainty = float(power.max() / power.sum())
        right = STANCES[int(power.argmax())] == wanted
        bins.setdefault(min(int(certainty * 10), 9), []).append((certainty, right))
    for at in sorted(bins):
        said, right = zip(*bins[at], strict=True)
        print(
            f"certainty {at / 10:.1f}-{at / 10 + 0.1:.1f}: n={len(said):5} "
            f"mean {np.mean(said):.3f} right {np.mean(right):.3f}"
        )


def _loss(rows: list[tuple[str, np.ndarray]], temperature: float) -> float:
    total = 0.0
    for wanted, chances in rows:
        power = np.power(np.maximum(chances, 1e-12), 1 / temperature)
        total -= float(np.log(power[STANCES.index(wanted)] / power.sum()))  # type: ignore[arg-type]
    return total / len(rows)


def _print(title: str, rows: list[tuple[str, np.ndarray]]) -> None:
    wanted = [w for w, _ in rows]
    read = [STANCES[int(p.argmax())] for _, p in rows]
    wrong = Counter((w, r) for w, r in zip(wanted, read, strict=True) if w != r).most_common(4)
    right = sum(w == r for w, r in zip(wanted, read, strict=True)) / len(rows)
    value = kappa(wanted, read)
    shown = "-" if value is None else f"{value:.3f}"
    print(f"{title:28} n={len(rows):5} kappa {shown} right {right:.3f} {wrong}")


def save(weights: StanceWeights, name: str, temperature: float) -> None:
    """Write weights of some size as half floats."""
    every = weights.table * WEIGHT_STEP
    kept = [f for f, at in weights.rows.items() if np.abs(every[at]).max() > 0.004]
    table = every[[weights.rows[f] for f in kept]]
    np.savez_compressed(
        PACKAGE / f"{name}.npz",
        names=np.frombuffer("\n".join(kept).encode("utf-8"), dtype=np.uint8),
        table=table.astype(np.float16),
        bias=np.array(weights.bias, dtype=np.float32),
        temperature=np.float32(temperature),
    )
    print(f"{name}: {len(kept)} features, {(PACKAGE / f'{name}.npz').stat().st_size // 1024} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0, help="cross-validate, write nothing")
    parser.add_argument("--temperature", type=float, default=1.3, help="of probabilities")
    parser.add_argument("--aside", action="store_true", help="read what is set aside")
    parser.add_argument("--unopened", action="store_true", help="and the source kept unopened")
    arguments = parser.parse_args()
    if arguments.aside or arguments.unopened:
        read_aside(("aside", "unopened") if arguments.unopened else ("aside",))
        return
    rows = training_rows()
    short = [row for row in rows if row.form == "short"]
    long = [text for row in rows if row.form == "long" if (text := Long(row)).text.clauses]
    print(f"{len(short)} short answers, {len(long)} paragraphs")
    if arguments.folds:
        cross_validate(short, long, arguments.folds)
        return
    readers = fit_all(short, long)
    save(readers.alignment, "alignment", 1.0)
    save(readers.spoken, "spoken", arguments.temperature)
    save(readers.stance, "stance", arguments.temperature)
    save_folds(fit_folds(stance_examples(short, long)), arguments.temperature, short)
    print(f"written to {PACKAGE} and {DATA}; git checkout {PACKAGE} {DATA} takes it back")


if __name__ == "__main__":
    main()
