"""NLI with real (tiny, random) models: order of labels, lengths, identity, memory."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sayso.engines.hf.encoders import open_nli
from sayso.judges.meaning import Relations, label_columns
from sayso.records import InputError
from support.nli_models import ORDERS, make_nli

pytest.importorskip("transformers")

PAIRS = [("Paris", "Lyon"), ("a", "a much longer text about Lyon"), ("x y z", "x"), ("", "b")]


def test_probabilities_are_read_by_name_whatever_the_order(tmp_path: Path) -> None:
    # uqlm hard-codes the order of one model. The same weights with the outputs moved, and named
    # accordingly, must say the same about every pair.
    found = []
    for number, order in enumerate(ORDERS):
        classifier = open_nli(str(make_nli(tmp_path / str(number), order)))
        assert classifier.labels == order
        columns = label_columns(classifier.labels)
        values = classifier.classify(PAIRS)
        assert np.allclose(values.sum(axis=1), 1)
        found.append(values[:, [columns[r] for r in ("entailment", "neutral", "contradiction")]])
    assert np.allclose(found[0], found[1], atol=1e-6)
    assert np.allclose(found[0], found[2], atol=1e-6)
    assert found[0].argmax(axis=1).tolist() != [
        0,
        0,
        0,
        0,
    ]  # a model that says one thing is no test


def test_labels_that_say_nothing_are_refused(tmp_path: Path) -> None:
    folder = make_nli(tmp_path / "m", ("LABEL_0", "LABEL_1", "LABEL_2"))
    classifier = open_nli(str(folder))
    with pytest.raises(InputError, match="do not say which is which"):
        Relations(classifier)


def test_batches_do_not_move_values_and_long_pairs_are_cut_and_told(tmp_path: Path) -> None:
    folder = str(make_nli(tmp_path / "m", ORDERS[0], positions=64))
    classifier, other = open_nli(folder), open_nli(folder)
    rng = np.random.default_rng(0)
    pairs = [("w" * int(n), "v" * int(m)) for n, m in rng.integers(0, 28, (60, 2))]
    together = classifier.classify(pairs)
    alone = np.concatenate([other.classify([pair]) for pair in pairs])
    assert other.counts.forwards == len({*pairs} - {("", "")}) > 50
    assert np.abs(together - alone).max() < 1e-5
    assert classifier.notices == []
    long = classifier.classify([("w" * 100_000, "v")])
    assert np.isfinite(long).all()
    # the longer text is cut, not the hypothesis: 64 places less three marks and one "v"
    assert np.allclose(long, classifier.classify([("w" * 60, "v")]), atol=1e-6)
    assert "1 of 62 pairs are longer than the 64 tokens" in classifier.notices[0]


def test_pairs_of_like_length_share_a_call(tmp_path: Path) -> None:
    classifier = open_nli(str(make_nli(tmp_path / "m", ORDERS[0], positions=512)))
    pairs = [("a" * (n % 400), "b") for n in range(200)]
    classifier.classify(pairs)
    real = sum(len(a) + len(b) + 3 for a, b in pairs)
    assert classifier.counts.forwards < 20
    assert classifier.counts.slots < 1.25 * real


def no_capitals(folder: Path) -> Path:
    """Let a folder's tokenizer read no capitals."""
    import transformers
    from tokenizers import normalizers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.save_pretrained(folder)
    return folder


def test_what_is_the_same_tokens_is_computed_once(tmp_path: Path) -> None:
    classifier = open_nli(str(no_capitals(make_nli(tmp_path / "m", ORDERS[0]))))
    slots = []
    for pairs in ([("Paris", "Lyon"), ("paris", "lyon")], [("PARIS", "Lyon"), ("Lyon", "Paris")]):
        found = classifier.classify(pairs)
        slots.append(classifier.counts.slots)
        assert np.isfinite(found).all()
        assert not np.allclose(found[0], classifier.classify([("x", "y")])[0])
    # one row of 3 + 5 + 4 places; then one of 3 + 1 + 1, and the other direction of the first
    assert slots == [12, 12 + 5 + 12]
    whole = open_nli(str(make_nli(tmp_path / "cased", ORDERS[0])))
    whole.classify([("Paris", "Lyon"), ("paris", "lyon")])
    assert whole.counts.slots == 24  # to a model that reads capitals they differ


@pytest.mark.parametrize("order", ORDERS)
def test_texts_that_a_model_cannot_tell_apart_entail_each_other(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    # A random model says no such thing about itself: asking it is lm-polygraph's fault.
    classifier = open_nli(str(no_capitals(make_nli(tmp_path / "m", order))))
    found = classifier.classify([("Paris", "PARIS"), ("Paris", "Lyon")])
    column = label_columns(order)["entailment"]
    assert found[0].tolist() == [float(n == column) for n in range(3)]
    assert 0 < found[1][column] < 1
    assert classifier.counts.slots == 12
    # a token that stands for anything unknown is no sameness
    classifier = open_nli(str(tmp_path / "m"))
    classifier._tokenizer.unk_token = "p"
    assert 0 < classifier.classify([("Paris", "PARIS")])[0][column] < 1


def test_out_of_memory_halves_the_batch_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(make_nli(tmp_path / "m", ORDERS[0]))
    before = open_nli(folder).classify(PAIRS)
    classifier = open_nli(folder)
    model = classifier._model
    calls = itertools.count()

    def tight(**given: object) -> object:
        next(calls)
        if len(given["input_ids"]) > 1:  # type: ignore[arg-type]
            raise RuntimeError("DefaultCPUAllocator: not enough memory")
        return model(**given)

    tight.device = model.device  # type: ignore[attr-defined]
    monkeypatch.setattr(classifier, "_model", tight)
    assert np.allclose(classifier.classify(PAIRS), before, atol=1e-6)
    assert classifier.counts.out_of_memory >= 1


def test_roberta_keeps_two_positions_for_itself(tmp_path: Path) -> None:
    classifier = open_nli(str(make_nli(tmp_path / "m", ORDERS[0], positions=64, kind="roberta")))
    assert np.isfinite(classifier.classify([("w" * 500, "v" * 500)])).all()
    assert "62 tokens" in classifier.notices[0]


def test_the_identity_is_that_of_the_weights_and_the_labels(tmp_path: Path) -> None:
    one = make_nli(tmp_path / "one", ORDERS[0])
    two = shutil.copytree(one, tmp_path / "two")
    first, second = open_nli(str(one)), open_nli(str(two))
    assert first.identity == second.identity
    config = json.loads((two / "config.json").read_text())
    config["id2label"] = dict(enumerate(ORDERS[1]))
    (two / "config.json").write_text(json.dumps(config))
    assert open_nli(str(two)).identity != first.identity  # the memo must not mix them


@pytest.mark.parametrize(
    ("name", "told"),
    [("./nowhere", "does not exist"), ("nobody/nothing-here", "cannot be opened")],
)
def test_what_is_no_model_is_one_line(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.engines.hf.encoders.hub_answers", lambda: False)
    with pytest.raises(InputError, match=told) as caught:
        open_nli(name)
    assert "\n" not in str(caught.value)


def test_a_model_without_a_trained_classifier_is_refused(tmp_path: Path) -> None:
    # A language model opened as a classifier gets a random head: its "relations" are noise.
    import transformers

    folder = make_nli(tmp_path / "m", ORDERS[0])
    config = transformers.BertConfig.from_pretrained(folder)
    transformers.BertModel(config).save_pretrained(folder)
    with pytest.raises(InputError, match="no trained classifier"):
        open_nli(str(folder))
