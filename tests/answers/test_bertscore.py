"""BERTScore: the formula by hand, and the whole path on a tiny encoder made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sayso import answers
from sayso.answers.bertscore import greedy_match
from sayso.records import InputError


class Letters:
    """One vector for each letter: equal letters have cosine 1, others 0."""

    name = "letters"
    layer = 0

    def __init__(self) -> None:
        self.seen: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], np.ndarray]]:
        self.seen.append(list(texts))
        return [
            (tuple(map(ord, t)), np.eye(128, dtype=np.float32)[[ord(c) for c in t]]) for t in texts
        ]


def test_greedy_matching_by_hand() -> None:
    # Reference (1,0), (0,1); answer (1,0), (1,1)/sqrt2: cosines [[1, .7071], [0, .7071]].
    # R = (1 + .7071)/2 = .853553; P = (1 + .7071)/2; F1 the same.
    found = greedy_match(np.array([[2.0, 0], [0, 3]]), np.array([[1.0, 0], [1, 1]]))  # type: ignore[arg-type]
    assert found == pytest.approx((0.8535534, 0.8535534, 0.8535534))
    assert greedy_match(np.zeros((0, 2)), np.ones((1, 2))) == (0, 0, 0)  # type: ignore[arg-type]


def test_components_rescaling_and_references() -> None:
    letters = Letters()
    # "ab" against "abcd": P of "abcd" = 2/4, R = 1, F1 = 2/3.
    for component, expected in (("precision", 0.5), ("recall", 1.0), ("f1", 2 / 3)):
        value = answers.bert_score("ab", "abcd", letters, component=component, rescale=False)
        assert value == pytest.approx(expected)
    # (2/3 - .5)/(1 - .5) = 1/3
    value = answers.bert_score("ab", "abcd", letters, baseline=(0.4, 0.4, 0.5))
    assert value == pytest.approx(1 / 3)
    assert answers.bert_score(["x", "abcd"], "abcd", letters, rescale=False) == 1


def test_without_a_baseline_rescaling_is_refused() -> None:
    with pytest.raises(InputError, match="no published baseline"):
        answers.bert_score("a", "a", Letters())
    with pytest.raises(InputError, match="component"):
        answers.bert_score("a", "a", Letters(), component="accuracy")
    with pytest.raises(InputError, match="below 1"):
        answers.bert_score("a", "a", Letters(), baseline=(1, 1, 1))


def test_many_answers_embed_each_text_once() -> None:
    letters = Letters()
    values = answers.bert_score(["ab", ["ab", "c"]], ["ab", "c"], letters, rescale=False)
    assert values == [1, 1]
    assert letters.seen == [["ab", "c"]]
    with pytest.raises(InputError, match="one for each"):
        answers.bert_score(["a"], ["a", "b"], letters, rescale=False)


def test_the_baseline_of_unrelated_texts() -> None:
    letters = Letters()
    assert answers.measure_baseline(["ab", "cd", "ef"], letters, pairs=50) == (0, 0, 0)
    with pytest.raises(InputError, match="unrelated"):
        answers.measure_baseline(["ab"], letters)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of two layers with a word-piece vocabulary of letters."""
    pytest.importorskip("torch", reason="torch is not installed")
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def test_the_real_path_on_a_tiny_encoder(encoder: Path) -> None:
    same = answers.bert_score("paris", "paris", str(encoder), rescale=False)
    other = answers.bert_score("paris", "london bridge", str(encoder), rescale=False)
    assert same == pytest.approx(1, abs=1e-6)
    assert isinstance(other, float)
    assert other < 0.999
    vectors = answers.open_vectors(str(encoder), None)
    base = answers.measure_baseline(["one cat", "two dogs", "a red sea", "old men"], vectors, 40)
    scaled = answers.bert_score("paris", "paris", str(encoder), baseline=base)
    assert scaled == pytest.approx(1, abs=1e-5)
    assert 0 < base[2] < 1


def test_special_tokens_are_left_out_and_batches_change_nothing(encoder: Path) -> None:
    vectors = answers.open_vectors(str(encoder), 1)
    together = vectors(["paris", "a", "the quick brown fox", ""])
    assert [len(ids) for ids, _ in together] == [5, 1, 16, 0]
    for text, (ids, found) in zip(["paris", "a"], together, strict=False):
        (alone,) = vectors([text])
        assert alone[0] == ids
        assert alone[1] == pytest.approx(found, abs=1e-5)


def test_texts_over_the_limit_are_cut_and_counted(encoder: Path) -> None:
    from sayso.engines.hf.encoders import open_token_encoder

    vectors = open_token_encoder(str(encoder))
    ((ids, _),) = vectors(["a " * 500])
    assert vectors.cut == 1
    assert len(ids) == 39  # 40 positions less [CLS]; the closing one was cut


def test_what_cannot_be_opened_says_so(tmp_path: Path, encoder: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(InputError, match="cannot open"):
        answers.bert_score("a", "a", str(tmp_path))
    with pytest.raises(InputError, match="layer 7"):
        answers.bert_score("a", "a", str(encoder), 7)
