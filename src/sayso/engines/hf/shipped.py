"""The model and the tokenizer that sayso ships, without transformers: importing that takes twice
the CPU time of a short run.

It is the same Llama as there, operation by operation, so every number is the same to the last bit
(``tests/engines/test_shipped_model.py``). Another template, a revision and a graphics card are left
to transformers, as is every other folder, also this one's under ``hf:``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jinja2
import torch
from jinja2.sandbox import ImmutableSandboxedEnvironment
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional


def open_plain(folder: Path, dtype: torch.dtype, weights: bool) -> tuple[Llama, PlainTokenizer]:
    """Return model and tokenizer of a folder; without ``weights`` the model takes no memory."""
    model = Llama(_Config(_read(folder, "config.json")), _read(folder, "generation_config.json"))
    if weights:
        tensors = load_file(folder / "model.safetensors")
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
        model.load_state_dict(tensors, assign=True)
    model.lm_head.weight = model.model.embed_tokens.weight
    return model.to(dtype).eval(), PlainTokenizer(folder)


def _read(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


# ---- the tokenizer


class PlainTokenizer:
    """A ``tokenizer.json`` with its special tokens and chat template, under transformers' names."""

    def __init__(self, folder: Path) -> None:
        self._inner = Tokenizer.from_file(str(folder / "tokenizer.json"))
        said = _read(folder, "tokenizer_config.json")
        self.name_or_path = str(folder)
        self.chat_template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
        self.bos_token, self.eos_token = said["bos_token"], said["eos_token"]
        names = (self.bos_token, self.eos_token, said["pad_token"])
        self.bos_token_id, self.eos_token_id, self.pad_token_id = map(
            self._inner.token_to_id, names
        )
        self.all_special_tokens = [*names, *said["additional_special_tokens"]]
        self.all_special_ids = [self._inner.token_to_id(n) for n in self.all_special_tokens]
        self.added_tokens_decoder = self._inner.get_added_tokens_decoder()
        world = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self._template: jinja2.Template = world.from_string(self.chat_template)

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        """Return the token ids of a text."""
        return {"input_ids": self._inner.encode(text, add_special_tokens=add_special_tokens).ids}

    def get_chat_template(self) -> str:
        """Return the template, as text."""
        return self.chat_template

    def apply_chat_template(
        self, turns: Sequence[Mapping[str, str]], chat_template: str, tokenize: bool, **given: Any
    ) -> str:
        """Return a conversation as the model reads it; the template is always the folder's."""
        return self._template.render(messages=turns, **given)

    def decode(
        self, ids: Sequence[int], skip_special_tokens: bool, clean_up_tokenization_spaces: bool
    ) -> str:
        """Return the text of token ids; spaces are always left as they are."""
        return str(self._inner.decode(ids, skip_special_tokens=skip_special_tokens))

    def convert_ids_to_tokens(self, token: int) -> str:
        """Return the name of a token."""
        return str(self._inner.id_to_token(token))


# ---- the model


class _Config(SimpleNamespace):
    """``config.json``, whose values are attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(**values)

    def get_text_config(self, decoder: bool = True) -> _Config:
        """Return itself: the model reads nothing but text."""
        return self


class States(NamedTuple):
    """What the last block leaves (rows, columns, d), normalized."""

    last_hidden_state: Tensor


class Logits(NamedTuple):
    """What the head makes of it (rows, columns, V)."""

    logits: Tensor


class PlainLayer:
    """Keys and values of one block, (rows, heads, columns, size), which grow by concatenation."""

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    @property
    def is_initialized(self) -> bool:
        """Whether it holds anything."""
        return self.keys is not None

    def get_seq_length(self) -> int:
        """Return its columns."""
        return 0 if self.keys is None else self.keys.shape[-2]

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add columns and return all."""
        before = (self.keys, self.values)
        self.keys, self.values = (
            torch.cat([new] if old is None else [old, new], dim=-2)
            for old, new in zip(before, (keys, values), strict=True)
        )
        return self.keys, self.values

    def reorder_cache(self, rows: Tensor) -> None:
        """Keep these rows, in this order."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = (
                self.keys.index_select(0, rows),
                self.values.index_select(0, rows),
            )


class PlainCache:
    """Keys and values of every block."""

    def __init__(self, config: Any) -> None:
        self.layers: list[Any] = [PlainLayer() for _ in range(config.num_hidden_layers)]


class _Weighted(nn.Module):
    """A weight that takes no memory before it is loaded, and no time to be drawn at random."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape, device="meta"))


class _Linear(_Weighted):
    """A matrix (out, in)."""

    def forward(self, states: Tensor) -> Tensor:
        return functional.linear(states, self.weight)


class _Embedding(_Weighted):
    """A vector for each token (V, d)."""

    def forward(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self.weight)


class _Norm(_Weighted):
    """Root mean square normalization, computed in float32."""

    def __init__(self, config: Any) -> None:
        super().__init__(config.hidden_size)
        self.least = config.rms_norm_eps

    def forward(self, states: Tensor) -> Tensor:
        wide = states.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.least)
        return self.weight * wide.to(states.dtype)


class _Attention(nn.Module):
    """Attention with rotated queries and keys, as many heads of keys as of queries."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.size = config.head_dim
        inner = config.num_attention_heads * self.size
        self.q_proj = _Linear(inner, config.hidden_size)
        self.k_proj = _Linear(inner, config.hidden_size)
        self.v_proj = _Linear(inner, config.hidden_size)
        self.o_proj = _Linear(config.hidden_size, inner)

    def forward(
        self, states: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cached: Any
    ) -> Tensor:
        shape = states.shape[:-1]
        query, key, value = (
            part(states).view(*shape, -1, self.size).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = _rotated(query, *turn), _rotated(key, *turn)
        if cached is not None:
            key, value = cached.update(key, value)
        seen = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, scale=self.size**-0.5,
            is_causal=query.shape[2] > 1 and mask is None,
        )  # fmt: skip
        seen = seen.transpose(1, 2).contiguous().reshape(*shape, -1).contiguous()
        out: Tensor = self.o_proj(seen)
        return out


def _rotated(states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    half = states.shape[-1] // 2
    turned = torch.cat((-states[..., half:], states[..., :half]), dim=-1)
    return (states * cosine) + (turned * sine)


class _Gated(nn.Module):
    """The gated feed-forward network of a block."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.gate_proj = _Linear(config.intermediate_size, config.hidden_size)
        self.up_proj = _Linear(config.intermediate_size, config.hidden_size)
        self.down_proj = _Linear(config.hidden_size, config.intermediate_size)

    def forward(self, states: Tensor) -> Tensor:
        gated = functional.silu(self.gate_proj(states)) * self.up_proj(states)
        out: Tensor = self.down_proj(gated)
        return out


class _Block(nn.Module):
    """Attention, then the network, each added to what came in."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.self_attn = _Attention(config)
        self.mlp = _Gated(config)
        self.input_layernorm = _Norm(config)
        self.post_attention_layernorm = _Norm(config)

    def forward(
        self, states: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cached: Any
    ) -> Tensor:
        states = states + self.self_attn(self.input_layernorm(states), turn, mask, cached)
        out: Tensor = states + self.mlp(self.post_attention_layernorm(states))
        return out


class _Body(nn.Module):
    """Embeddings and blocks: all but the head."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = _Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(_Block(config) for _ in range(config.num_hidden_layers))
        self.norm = _Norm(config)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: Any = None,
        use_cache: bool = False,
    ) -> States:
        before = cache.layers[0].get_seq_length() if cache is not None else 0
        if position_ids is None:
            position_ids = (torch.arange(input_ids.shape[1], device=input_ids.device) + before)[
                None
            ]
        states = self.embed_tokens(input_ids)
        mask = _mask(attention_mask, input_ids.shape[1], before)
        turn = self._turn(position_ids, states.dtype)
        for number, block in enumerate(self.layers):
            states = block(states, turn, mask, cache.layers[number] if cache is not None else None)
        return States(self.norm(states))

    def _turn(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return cosine and sine of each position's angles, for every head."""
        size, base = self.config.head_dim, self.config.rope_parameters["rope_theta"]
        steps = torch.arange(0, size, 2, dtype=torch.float, device=positions.device)
        angles = positions[..., None].float() * (1.0 / (base ** (steps / size)))
        both = torch.cat((angles, angles), dim=-1)
        return both.cos().to(dtype)[:, None], both.sin().to(dtype)[:, None]


def _mask(attention_mask: Tensor | None, columns: int, before: int) -> Tensor | None:
    """Return what each new column may read, (rows, 1, columns, all); None: all before it.

    A mask that hides nothing is None, since attention has a faster way without one.
    """
    there = before + columns
    plain = attention_mask is None or bool(attention_mask.all())
    if plain and (columns == 1 or before == 0):
        return None
    device = attention_mask.device if attention_mask is not None else None
    reach = torch.arange(columns, device=device)[:, None] + before
    causal = (torch.arange(there, device=device) <= reach)[None, None]
    return causal if attention_mask is None else causal & attention_mask.bool()[:, None, None]


class Llama(nn.Module):
    """The shipped model, with what :class:`~sayso.engines.hf.load.Runner` reads of any model."""

    def __init__(self, config: Any, generation: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = config
        self.generation_config = SimpleNamespace(eos_token_id=generation.get("eos_token_id"))
        self.model = _Body(config)
        self.lm_head = _Linear(config.vocab_size, config.hidden_size)

    @property
    def base_model(self) -> _Body:
        """All but the head."""
        return self.model

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.lm_head.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """In which numbers it computes."""
        return self.lm_head.weight.dtype

    def num_parameters(self) -> int:
        """Return how many weights it has."""
        return sum(weights.numel() for weights in self.parameters())

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: Any = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
    ) -> Logits:
        """Return logits; of the last columns only, if ``logits_to_keep`` is not 0."""
        states = self.model(input_ids, attention_mask, position_ids, cache).last_hidden_state
        return Logits(self.lm_head(states[:, -logits_to_keep:] if logits_to_keep else states))
