"""Read answers of the half "folds" by weights of stance that did not learn from their question.

The weights in use learn from all of these answers, so what they read of them says too much. For
each fifth of the questions ``stance.py`` trains the model of stance once more without it, and
:func:`judge` reads an answer as the judge does, but for these weights. The file holds only weights
of features that the fold's own answers have.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from labels import DATA, Row

from sayso.judges.english.lexicon import judge_data
from sayso.judges.rules import judge as judging
from sayso.judges.rules import voiced
from sayso.judges.rules.reading import (
    WEIGHT_STEP,
    AskedAspect,
    Features,
    Sentence,
    StanceWeights,
    stance_features,
    weights_of,
)
from sayso.metrics.arrays import Floats
from sayso.records import Verdict

FILE = DATA / "stance_folds.npz"
FOLDS = 5


def fold_of(question: str) -> int:
    """Return the fold of a question."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % FOLDS


def judge(question: str, golds: Sequence[Any], answer: str) -> Verdict:
    """Return the verdict of ``judge_rules`` by weights that did not learn from the question."""
    return _judge_by(_stored()[fold_of(question)].probabilities, question, golds, answer)


def _judge_by(
    chances: Callable[[Features], Floats], question: str, golds: Sequence[Any], answer: str
) -> Verdict:
    def of(rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
        return chances({**stance_features(rows, aspect), "short": 1.0})

    _forget()
    with patch.object(voiced, "stance_chances", of):
        verdict = judging.judge_rules(question, golds, answer)
    _forget()
    return verdict


def _forget() -> None:
    """Forget what other weights have read."""
    judging._short.cache_clear()
    voiced.voiced.cache_clear()


def save_folds(weights: Sequence[StanceWeights], temperature: float, rows: Sequence[Row]) -> None:
    """Write the weights of each fold for the answers of its questions."""
    arrays: dict[str, Any] = {"of": np.array(_weights_in_use())}
    for k, model in enumerate(weights):
        mine = [r for r in rows if r.half == "folds" and fold_of(r.labels[0].question) == k]
        names = _features_read(model._replace(temperature=temperature), mine)
        table = model.table[[model.rows[name] for name in names]] * WEIGHT_STEP
        arrays[f"names{k}"] = np.frombuffer("\n".join(names).encode(), dtype=np.uint8)
        arrays[f"table{k}"] = table.astype(np.float16)
        arrays[f"bias{k}"] = np.array(model.bias, dtype=np.float32)
    np.savez_compressed(FILE, temperature=np.float32(temperature), **arrays)
    print(f"folds: {FILE.stat().st_size // 1024} kB")


def _features_read(model: StanceWeights, rows: Iterable[Row]) -> list[str]:
    """Return the features with a weight that the judge asks for while it reads these answers."""
    seen: dict[str, None] = {}

    def chances(features: Features) -> Floats:
        seen.update(dict.fromkeys(features))
        return model.probabilities(features)

    for row in rows:
        (label,) = row.labels
        _judge_by(chances, label.question, label.golds or ["?"], row.text)
    return [name for name in seen if name in model.rows]


@cache
def _stored() -> list[StanceWeights]:
    with np.load(FILE, allow_pickle=False) as arrays:
        if str(arrays["of"]) != _weights_in_use():
            sys.exit(f"{FILE} is of other weights: run python tools/readers/stance.py")
        return [
            weights_of(
                arrays[f"names{k}"].tobytes().decode().split("\n"),
                arrays[f"table{k}"], arrays[f"bias{k}"], float(arrays["temperature"]),
            )
            for k in range(FOLDS)
        ]  # fmt: skip


def _weights_in_use() -> str:
    return hashlib.sha256(judge_data("stance.npz")).hexdigest()
