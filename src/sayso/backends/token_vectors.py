"""Contextual token vectors from one layer of an encoder, for BERTScore."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayso.records import InputError

#: The layer that correlates best with people, as published for these models (Zhang et al. 2020).
LAYERS = {"roberta-large": 17, "microsoft/deberta-large-mnli": 18}
#: Padded token positions computed in one call.
SLOTS = 8192


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
        limit = getattr(model.config, "max_position_embeddings", None) or 512
        # RoBERTa counts positions from its padding id.
        shift = int(model.config.model_type in ("roberta", "xlm-roberta", "camembert")) * 2
        self._limit = min(int(limit) - shift, int(getattr(tokenizer, "model_max_length", limit)))

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], NDArray[np.float32]]]:
        """Return ids and vectors (tokens, dimensions) of each text, special tokens left out.

        Texts are batched by length, so that little is padded; the order does not change a value
        beyond the last digits.
        """
        import torch

        coded = [self._encode(text) for text in texts]
        found: list[Any] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(coded[i][0]), reverse=True)
        device = next(self._model.parameters()).device
        while order:
            width = len(coded[order[0]][0])
            take, order = order[: max(1, SLOTS // width)], order[max(1, SLOTS // width) :]
            pad = self._tokenizer.pad_token_id or 0
            ids = torch.full((len(take), width), pad, dtype=torch.long)
            mask = torch.zeros((len(take), width), dtype=torch.long)
            for row, i in enumerate(take):
                size = len(coded[i][0])
                ids[row, :size] = torch.tensor(coded[i][0])
                mask[row, :size] = 1
            with torch.inference_mode():
                out = self._model(
                    input_ids=ids.to(device),
                    attention_mask=mask.to(device),
                    output_hidden_states=True,
                )
            states = out.hidden_states[self.layer].float().cpu().numpy()
            self.calls += 1
            self.slots += ids.numel()
            for row, i in enumerate(take):
                tokens, real = coded[i]
                keep = np.flatnonzero(real)
                found[i] = (tuple(tokens[k] for k in keep), states[row][keep])
        return found

    def _encode(self, text: str) -> tuple[list[int], NDArray[np.bool_]]:
        # RoBERTa's tokenizers read a first word without a space as another token.
        coded = self._tokenizer(
            text.strip(), add_special_tokens=True, return_special_tokens_mask=True, verbose=False
        )
        ids, special = list(coded["input_ids"]), np.asarray(coded["special_tokens_mask"], bool)
        if len(ids) > self._limit:
            self.cut += 1
            ids, special = ids[: self._limit], special[: self._limit]
        return ids, ~special


def open_token_vectors(name: str, layer: int | None = None) -> HfTokenVectors:
    """Open a model by folder or hub id; :class:`InputError` says what is missing."""
    try:
        from sayso.backends.hf_load import REFUSALS, _hub_answers, quiet
    except ModuleNotFoundError as error:
        raise InputError(
            f"BERTScore needs {error.name}, which is not installed: pip install 'sayso[hf]'"
        ) from None
    import transformers

    local = Path(name).is_dir()
    settings: dict[str, Any] = {"local_files_only": local or not _hub_answers()}
    try:
        with quiet():
            tokenizer = _tokenizer(transformers, name, settings)
            model = transformers.AutoModel.from_pretrained(
                name, dtype="float32", use_safetensors=True, **settings
            )
    except REFUSALS as error:
        reason = str(error).strip().split("\n")[0][:200]
        raise InputError(
            f"cannot open {name!r} for BERTScore: expected a folder with an encoder and its "
            f"tokenizer, or a hub id that can be reached ({reason})"
        ) from None
    model.eval()
    depth = int(model.config.num_hidden_layers)
    chosen = LAYERS.get(name, depth) if layer is None else layer
    if not 0 <= chosen <= depth:
        raise InputError(f"layer {chosen} of {name!r}: expected 0 (embeddings) to {depth}")
    return HfTokenVectors(name, model, tokenizer, chosen)


def _tokenizer(transformers: Any, name: str, settings: dict[str, Any]) -> Any:
    config = transformers.AutoConfig.from_pretrained(name, **settings)
    # As published: byte-level tokenizers read the first word like the others.
    prefix = {"add_prefix_space": True} if config.model_type in ("roberta", "gpt2") else {}
    return transformers.AutoTokenizer.from_pretrained(name, **prefix, **settings)
