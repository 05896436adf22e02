"""Encoders of transformers: natural-language inference with any sequence-classification model, and
token vectors for BERTScore.

Which output of a classifier means what is read from the model's own ``id2label``, never assumed:
published models disagree on the order, and a wrong one turns every measure upside down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from sayso.engines import hub_answers
from sayso.engines.engine import Counts
from sayso.engines.hf.files import error_reason, quiet_loading
from sayso.engines.hf.kv_cache import padded
from sayso.engines.hf.load import HfOptions, choose_device, identify, model_source, ran_out
from sayso.engines.hf.weights import check_encoder
from sayso.records import InputError

#: Models that count positions from their padding id, and so read two tokens fewer.
SHIFTED = ("roberta", "xlm-roberta", "camembert")
#: Padded token positions computed in one call; halved each time memory runs out.
SLOTS = {"cuda": 32_768, "cpu": 2_048}
#: A call with this many pairs ends before pairs shorter than this share of its width.
ROWS, EVEN = 16, 0.8
#: Pairs are tokenized in parts of this size, so that a long list needs no more memory.
WINDOW = 4_096
#: Rows remembered by what the model read, about 10 MB.
KNOWN = 50_000
#: The layer that correlates best with people, as published for these models (Zhang et al. 2020).
LAYERS = {"roberta-large": 17, "microsoft/deberta-large-mnli": 18}
#: Padded token positions of one call for token vectors.
VECTOR_SLOTS = 8192
#: how an encoder is loaded: weights that are missing or of another shape are in a report
AS_ENCODER: dict[str, Any] = {
    "dtype": "float32",
    "use_safetensors": True,
    "output_loading_info": True,
    "ignore_mismatched_sizes": True,
}


def open_nli(name: str, device: str = "auto") -> HfClassifier:
    """Open a folder or hub id; :class:`InputError` says in one line what is missing or unclear."""
    options = HfOptions()
    source, local = model_source(name, options, "--nli: the folder")
    common: dict[str, Any] = {"local_files_only": local or not hub_answers()}
    with quiet_loading():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **common)
            kind = transformers.AutoModelForSequenceClassification
            model, report = kind.from_pretrained(source, **common, **AS_ENCODER)
            _check_head(name, report)
            check_encoder(model, report)
        except InputError:
            raise
        except Exception as error:  # of a broken folder the libraries raise all sorts
            where = "" if local else " (a hub id needs network or a filled hub cache)"
            raise InputError(
                f"--nli {name} cannot be opened{where}: {error_reason(error)}; "
                "--nli rules needs no model"
            ) from None
    model = model.to(choose_device(device)).eval()
    if not hasattr(model, "generation_config"):
        model.generation_config = None  # a classifier generates nothing; identify() reads it
    identity = identify(name, model, tokenizer, options)
    return HfClassifier(name, model, tokenizer, identity.identity, identity.signature)


def _check_head(name: str, report: Mapping[str, Any]) -> None:
    """Refuse a model whose classifier was never trained. Raises InputError."""
    new = sorted(key for key in report["missing_keys"] if "classifier" in key or "score" in key)
    if new:
        raise InputError(
            f"--nli {name} has no trained classifier ({new[0]} is missing): expected a model "
            "fine-tuned on natural-language inference"
        )


class HfClassifier:
    """A folder or hub model as :class:`~sayso.engines.engine.Classifier`.

    ``labels`` are in the order of the outputs. ``pairs`` counts all pairs, ``truncated`` those
    longer than the model reads, ``counts`` the calls and padded token positions.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, identity: str, signature: str):
        self.name = name
        self.identity = identity
        self.signature = signature
        self.labels = output_labels(name, model.config)
        self.counts = Counts()
        self.pairs = 0
        self.truncated = 0
        self._model = model
        self._tokenizer = tokenizer
        self._known: dict[bytes, NDArray[np.float64]] = {}
        entails = [label.strip().lower().startswith("entail") for label in self.labels]
        self._itself = np.asarray(entails, dtype=np.float64)
        self._slots = SLOTS.get(str(model.device.type), SLOTS["cpu"])
        self._limit = longest(model.config, tokenizer)

    @property
    def notices(self) -> list[str]:
        """Sentences for the user."""
        if not self.truncated:
            return []
        return [
            f"{self.truncated:,} of {self.pairs:,} pairs are longer than the {self._limit} tokens "
            f"that {self.name} reads: the longer text of each was cut"
        ]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities (pairs, labels), pairs of similar length computed together.

        Pairs that are the same tokens are computed once. Two texts that are the same tokens (to a
        model that reads no capitals) are one text, which entails itself by definition. A pair over
        the model's length loses the end of its longer text and is counted. A row is NaN where the
        model gave no numbers.
        """
        probabilities = np.full((len(pairs), len(self.labels)), np.nan)
        self.pairs += len(pairs)
        same = self._sameness()
        for start in range(0, len(pairs), WINDOW):
            part = pairs[start : start + WINDOW]
            coded = [self._encode(*pair) for pair in part]
            keys = [_digest(one) for one in coded]
            if len(self._known) > KNOWN:
                self._known.clear()
            rows = {key: self._known[key] for key in keys if key in self._known}
            if self._itself.sum() == 1:  # one label means entailment
                itself = (key for key, pair in zip(keys, part, strict=True) if same(*pair))
                rows |= dict.fromkeys(itself, self._itself)
            new = {key: n for n, key in enumerate(keys) if key not in rows}
            order = sorted(new.values(), key=lambda i: -len(coded[i]["input_ids"]))
            while order:
                take = self._together(order, coded)
                computed = self._forward([coded[i] for i in take])
                if computed is None:  # out of memory: the same pairs again, fewer at a time
                    continue
                order = order[len(take) :]
                rows.update(zip((keys[i] for i in take), computed, strict=True))
            probabilities[start : start + len(part)] = [rows[key] for key in keys]
            self._known |= {key: row for key, row in rows.items() if np.isfinite(row).all()}
        return probabilities

    def _sameness(self) -> Callable[[str, str], bool]:
        """Return whether two texts are the same tokens, none of them unknown."""
        read: dict[str, list[int]] = {}

        def tokens(text: str) -> list[int]:
            if text not in read:
                read[text] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
            return read[text]

        def same(a: str, b: str) -> bool:
            ids = tokens(a)
            return bool(ids) and ids == tokens(b) and self._tokenizer.unk_token_id not in ids

        return same

    def close(self) -> None:
        """Give the memory back."""
        self._model = None

    def _together(self, order: Sequence[int], coded: Sequence[dict[str, list[int]]]) -> list[int]:
        """Return the longest pairs left, as many as one call takes with little padding."""
        width = len(coded[order[0]]["input_ids"])
        take = list(order[: max(1, self._slots // width)])
        even = sum(len(coded[i]["input_ids"]) >= EVEN * width for i in take)
        return take[: max(even, ROWS)]

    def _encode(self, premise: str, hypothesis: str) -> dict[str, list[int]]:
        coded = self._tokenizer(premise, hypothesis, verbose=False)
        if len(coded["input_ids"]) > self._limit:
            self.truncated += 1
            coded = self._tokenizer(
                premise, hypothesis, truncation="longest_first", max_length=self._limit,
                verbose=False,
            )  # fmt: skip
        return {name: list(values) for name, values in coded.items()}

    def _forward(self, coded: Sequence[dict[str, list[int]]]) -> NDArray[np.float64] | None:
        try:
            with torch.inference_mode():
                given = self._tokenizer.pad(list(coded), return_tensors="pt").to(self._model.device)
                logits = self._model(**given).logits.double()
                rows: NDArray[np.float64] = torch.softmax(logits, dim=-1).cpu().numpy()
        except RuntimeError as error:
            if not ran_out(error) or len(coded) == 1:
                raise
            self.counts.out_of_memory += 1
            self._slots = max(1, self._slots // 2)
            return None
        self.counts.forwards += 1
        self.counts.slots += int(given["input_ids"].numel())
        return rows


def _digest(coded: dict[str, list[int]]) -> bytes:
    """Return a key of what the model reads, 16 bytes."""
    whole = np.asarray([coded[name] for name in sorted(coded)], dtype="<i8")
    return hashlib.blake2b(whole.tobytes(), digest_size=16).digest()


def output_labels(name: str, config: Any) -> tuple[str, ...]:
    """Return the names of the outputs, in their order, from the model's own ``id2label``."""
    named = {int(key): str(value) for key, value in dict(config.id2label or {}).items()}
    if sorted(named) != list(range(len(named))) or len(named) < 2:
        raise InputError(
            f"{name} names the outputs {sorted(named)} in id2label: expected 0, 1, 2 with names"
        )
    return tuple(named[n] for n in range(len(named)))


def longest(config: Any, tokenizer: Any) -> int:
    """Return how many tokens a model reads, special ones included."""
    limit = int(getattr(config, "max_position_embeddings", 0) or 0)
    if getattr(config, "position_biased_input", True) is False:
        limit = 0  # relative positions only (DeBERTa): the tokenizer's limit is the one trained on
    if limit and config.model_type in SHIFTED:
        limit -= 2
    stated = int(getattr(tokenizer, "model_max_length", 0) or 0)
    return min((n for n in (limit, stated) if 0 < n < 1_000_000), default=512)


# ---- token vectors


def open_token_encoder(name: str, layer: int | None = None) -> HfTokenVectors:
    """Open a model by folder or hub id; :class:`InputError` says what is missing."""
    common: dict[str, Any] = {"local_files_only": Path(name).is_dir() or not hub_answers()}
    try:
        with quiet_loading():
            kind = transformers.AutoConfig.from_pretrained(name, **common).model_type
            # as published: byte-level tokenizers read the first word like the others
            prefix = {"add_prefix_space": True} if kind in ("roberta", "gpt2") else {}
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **prefix, **common)
            model, report = transformers.AutoModel.from_pretrained(name, **common, **AS_ENCODER)
            check_encoder(model, report)
    except Exception as error:  # of a broken folder the libraries raise all sorts
        raise InputError(
            f"cannot open {name!r} for BERTScore: expected a folder with an encoder and its "
            f"tokenizer, or a hub id that can be reached ({error_reason(error)})"
        ) from None
    model.eval()
    depth = int(model.config.num_hidden_layers)
    chosen = LAYERS.get(name, depth) if layer is None else layer
    if not 0 <= chosen <= depth:
        raise InputError(f"layer {chosen} of {name!r}: expected 0 (embeddings) to {depth}")
    return HfTokenVectors(name, model, tokenizer, chosen)


class HfTokenVectors:
    """A folder or hub model of transformers; calling it gives (token ids, vectors) of each text.

    ``layer`` counts hidden states from 0 = embeddings. Texts over the model's limit are cut there
    and counted in ``cut``; ``calls`` and ``slots`` count the work.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, layer: int) -> None:
        self.name = name
        self.layer = layer
        self.cut = 0
        self.calls = 0
        self.slots = 0
        self._model = model
        self._tokenizer = tokenizer
        self._limit = longest(model.config, tokenizer)

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], NDArray[np.float32]]]:
        """Return ids and vectors (tokens, dimensions) of each text, special tokens left out.

        Texts are batched by length, so that little is padded; the order does not change a value
        beyond the last digits.
        """
        coded = [self._encode(text) for text in texts]
        vectors: list[Any] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(coded[i][0]), reverse=True)
        device = next(self._model.parameters()).device
        while order:
            size = max(1, VECTOR_SLOTS // len(coded[order[0]][0]))
            take, order = order[:size], order[size:]
            part = [coded[i][0] for i in take]
            ids = padded(part, self._tokenizer.pad_token_id or 0, left=False)
            mask = torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in part])[:, None]
            with torch.inference_mode():
                out = self._model(
                    input_ids=ids.to(device),
                    attention_mask=mask.to(device, torch.long),
                    output_hidden_states=True,
                )
            states = out.hidden_states[self.layer].float().cpu().numpy()
            self.calls += 1
            self.slots += ids.numel()
            for row, i in enumerate(take):
                tokens, real = coded[i]
                keep = np.flatnonzero(real)
                vectors[i] = (tuple(tokens[k] for k in keep), states[row][keep])
        return vectors

    def _encode(self, text: str) -> tuple[list[int], NDArray[np.bool_]]:
        # RoBERTa's tokenizers read a first word without a space as another token
        coded = self._tokenizer(
            text.strip(), add_special_tokens=True, return_special_tokens_mask=True, verbose=False
        )
        ids, special = list(coded["input_ids"]), np.asarray(coded["special_tokens_mask"], bool)
        if len(ids) > self._limit:
            self.cut += 1
            ids, special = ids[: self._limit], special[: self._limit]
        return ids, ~special
