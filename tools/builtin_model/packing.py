"""From documents to batches: tokenizer, what is learned of a document, packing into windows.

Documents that share a window do not see each other; a document is never cut.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from builtin_model.documents import Corpus, Document
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, BEGIN, END = "<|pad|>", "<|begin|>", "<|end|>"
ROLES = {"system": "<|system|>", "user": "<|user|>", "assistant": "<|assistant|>"}
SPECIAL = [PAD, BEGIN, END, *ROLES.values()]
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if not (loop.last and continue_final_message is defined and continue_final_message) %}"
    "{{ '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights."""

    seed: int = 8
    tokens: int = 17_000_000
    vocabulary: int = 2048
    hidden: int = 128
    layers: int = 3
    heads: int = 4
    feed_forward: int = 320
    learning_rate: float = 3e-3
    warmup: int = 100
    decay: float = 0.4
    weight_decay: float = 0.05
    batch_tokens: int = 2048
    windows: tuple[int, ...] = (128, 256, 512, 1024, 2048)
    rope_theta: float = 10_000.0


def render(document: Document) -> str:
    """The document as one string with its special tokens, exactly as the chat template renders
    it."""
    parts = [f"{ROLES.get(role, BEGIN)}{text}{END}" for role, text in document.turns]
    return "".join(parts)


def train_tokenizer(texts: Iterator[str], vocabulary: int) -> Tokenizer:
    """Byte-level BPE whose words keep the space *after* them: a value is then the same tokens as
    a whole answer and at the end of a sentence, and every token string is plain text, so
    decoding is concatenation."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\w+ ?|[^\w\s]+ ?|\s+"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=SPECIAL,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, documents: Sequence[Document]) -> list[tuple[Array, Array]]:
    """Per document its token ids, and 1 where a token is learned: assistant turns with their
    end, and prose."""
    vocabulary = tokenizer.get_vocab()
    learned = [vocabulary[ROLES["assistant"]], vocabulary[BEGIN]]
    marks = np.array([*learned, vocabulary[ROLES["system"]], vocabulary[ROLES["user"]]])
    rows = []
    for encoding in tokenizer.encode_batch([render(d) for d in documents]):
        ids = np.array(encoding.ids, dtype=np.int64)
        starts = np.isin(ids, marks)
        turn = np.maximum.accumulate(np.where(starts, np.arange(len(ids)), 0))
        rows.append((ids, (np.isin(ids[turn], learned) & ~starts).astype(np.int64)))
    return rows


@dataclass(frozen=True)
class Batch:
    """Windows of packed documents: `owner` numbers the document of each position, -1 for
    padding."""

    ids: torch.Tensor
    owner: torch.Tensor
    learned: torch.Tensor


def _pack(rows: Sequence[tuple[Array, Array]], window: int) -> list[list[int]]:
    """First fit, longest first."""
    bins: list[tuple[int, list[int]]] = []
    for index in sorted(range(len(rows)), key=lambda i: -len(rows[i][0])):
        size = len(rows[index][0])
        for place, (free, members) in enumerate(bins):
            if free >= size:
                members.append(index)
                bins[place] = (free - size, members)
                break
        else:
            bins.append((window - size, [index]))
    return [members for _, members in bins]


def batches(
    corpus: Corpus, tokenizer: Tokenizer, recipe: Recipe, seen: Callable[[Document], None]
) -> Iterator[Batch]:
    """Endless batches of one window size each; a document goes to the smallest window that holds
    it."""
    shuffle = np.random.default_rng([recipe.seed, 1])
    waiting: dict[int, list[tuple[Array, Array]]] = {w: [] for w in recipe.windows}
    ready: list[Batch] = []
    while True:
        documents = list(itertools.islice(iter(corpus.__next__, None), 3000))
        for document, row in zip(documents, encode(tokenizer, documents), strict=True):
            window = next((w for w in recipe.windows if len(row[0]) <= w), None)
            if window is not None:  # the few longer ones are dropped, not cut
                seen(document)
                waiting[window].append(row)
        for window, rows in waiting.items():
            height = recipe.batch_tokens // window
            packed = _pack(rows, window)
            order = [packed[int(i)] for i in shuffle.permutation(len(packed))]
            full = len(order) // height * height
            groups = [order[at : at + height] for at in range(0, full, height)]
            ready.extend(_batch([[rows[i] for i in m] for m in group], window) for group in groups)
            waiting[window] = [rows[i] for members in order[full:] for i in members]
        for index in shuffle.permutation(len(ready)):
            yield ready[int(index)]
        ready = []


def _batch(windows: Sequence[Sequence[tuple[Array, Array]]], width: int) -> Batch:
    ids = np.zeros((len(windows), width), dtype=np.int64)
    owner, learned = np.full_like(ids, -1), np.zeros_like(ids)
    for line, rows in enumerate(windows):
        at = 0
        for number, (tokens, mask) in enumerate(rows):
            span = slice(at, at + len(tokens))
            ids[line, span], owner[line, span], learned[line, span] = tokens, number, mask
            at += len(tokens)
    return Batch(torch.from_numpy(ids), torch.from_numpy(owner), torch.from_numpy(learned))
