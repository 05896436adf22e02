"""The training loop of the built-in model.

The parameters are those of transformers' `LlamaForCausalLM`; only the training forward pass is
our own, because on one CPU thread it is twice as fast: logits are formed where there is a loss,
and nowhere else.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from builtin_model.packing import BEGIN, END, PAD, Batch, Recipe
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM


def new_model(recipe: Recipe, tokenizer: Tokenizer) -> LlamaForCausalLM:
    """A fresh model of the recipe's shape."""
    torch.manual_seed(recipe.seed)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        intermediate_size=recipe.feed_forward,
        tie_word_embeddings=True,
        # Twice what was trained on. A run reserves 1,024 tokens for a paragraph after its prompt
        # and refuses, never cuts, what does not fit; rotary positions have no weights, and no
        # answer of this model comes near the end. The card says up to where it was trained.
        max_position_embeddings=2 * recipe.windows[-1],
        rope_parameters={"rope_type": "default", "rope_theta": recipe.rope_theta},
        rms_norm_eps=1e-5,
        pad_token_id=tokenizer.token_to_id(PAD),
        bos_token_id=tokenizer.token_to_id(BEGIN),
        eos_token_id=tokenizer.token_to_id(END),
    )
    return LlamaForCausalLM(config)


def _rotary(width: int, head: int, theta: float) -> tuple[torch.Tensor, torch.Tensor]:
    inverse = theta ** -(torch.arange(0, head, 2).float() / head)
    angles = torch.outer(torch.arange(width).float(), inverse)
    both = torch.cat((angles, angles), -1)
    return both.cos(), both.sin()


def loss_logits(model: LlamaForCausalLM, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and targets at the learned positions: the Llama forward pass, written out."""
    config = model.config
    head = config.hidden_size // config.num_attention_heads
    lines, width = batch.ids.shape
    same = batch.owner[:, :, None] == batch.owner[:, None, :]
    mask = (same & torch.ones(width, width, dtype=torch.bool).tril())[:, None]
    cos, sin = _rotary(width, head, config.rope_parameters["rope_theta"])

    def rotate(x: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat((-right, left), -1) * sin

    x = model.model.embed_tokens(batch.ids)
    for layer in model.model.layers:
        at, mlp = layer.self_attn, layer.mlp
        h = functional.rms_norm(
            x, (config.hidden_size,), layer.input_layernorm.weight, config.rms_norm_eps
        )
        joined = functional.linear(
            h, torch.cat((at.q_proj.weight, at.k_proj.weight, at.v_proj.weight))
        )
        q, k, v = joined.view(lines, width, 3, config.num_attention_heads, head).permute(
            2, 0, 3, 1, 4
        )
        a = functional.scaled_dot_product_attention(rotate(q), rotate(k), v, attn_mask=mask)
        x = x + at.o_proj(a.transpose(1, 2).reshape(lines, width, config.hidden_size))
        h = functional.rms_norm(
            x, (config.hidden_size,), layer.post_attention_layernorm.weight, config.rms_norm_eps
        )
        gate, up = functional.linear(
            h, torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight))
        ).chunk(2, -1)
        x = x + mlp.down_proj(functional.silu(gate) * up)
    following = torch.zeros_like(same[:, 0, :])
    following[:, :-1] = (batch.learned[:, 1:] == 1) & (batch.owner[:, 1:] == batch.owner[:, :-1])
    kept = functional.rms_norm(
        x[following], (config.hidden_size,), model.model.norm.weight, config.rms_norm_eps
    )
    return functional.linear(kept, model.model.embed_tokens.weight), batch.ids.roll(-1, 1)[
        following
    ]


def train(
    model: LlamaForCausalLM,
    stream: Iterator[Batch],
    recipe: Recipe,
    checkpoint: Path,
    say: Callable[[str], None],
    every: int = 500,
) -> float:
    """Warm-up, plateau, linear decay; a checkpoint every so many steps, from which a stopped run
    resumes to the same weights (the corpus is replayed, which costs seconds).  Returns CPU
    seconds."""
    decayed, others = _groups(model)
    optimizer = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": recipe.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        eps=1e-8,
        fused=True,
    )
    parameters = decayed + others
    total = math.ceil(recipe.tokens / recipe.batch_tokens)
    start, spent = _resume(checkpoint, parameters, optimizer, recipe)
    began, wall, losses = time.process_time(), time.monotonic(), []
    for step, batch in enumerate(itertools.islice(stream, total)):
        if step < start:
            continue
        left = (total - step) / (recipe.decay * total)
        rate = recipe.learning_rate * min(1.0, (step + 1) / recipe.warmup, left)
        for group in optimizer.param_groups:
            group["lr"] = rate
        logits, targets = loss_logits(model, batch)
        loss = functional.cross_entropy(logits, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % 250 == 0:
            speed = (step + 1 - start) * recipe.batch_tokens / (time.monotonic() - wall)
            say(f"step {step + 1}/{total} loss {np.mean(losses[-250:]):.3f} {speed:.0f} tokens/s")
        if (step + 1) % every == 0:
            _save(
                checkpoint,
                parameters,
                optimizer,
                step + 1,
                spent + time.process_time() - began,
                recipe,
            )
    return spent + time.process_time() - began


def _groups(model: LlamaForCausalLM) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Matrices, which decay, and vectors, which do not."""
    return [p for p in model.parameters() if p.dim() > 1], [
        p for p in model.parameters() if p.dim() <= 1
    ]


def restore(model: LlamaForCausalLM, path: Path) -> None:
    """The weights of a checkpoint."""
    state = load_file(path)
    with torch.no_grad():
        for i, p in enumerate(itertools.chain(*_groups(model))):
            p.copy_(state[f"p{i}"])


def _save(
    path: Path,
    parameters: Sequence[torch.Tensor],
    optimizer: torch.optim.Optimizer,
    step: int,
    spent: float,
    recipe: Recipe,
) -> None:
    state = {f"p{i}": p.detach() for i, p in enumerate(parameters)}
    for i, p in enumerate(parameters):
        state |= {f"{k}{i}": optimizer.state[p][k] for k in ("exp_avg", "exp_avg_sq", "step")}
    part = path.with_suffix(".part")
    save_file(state, part, {"step": str(step), "spent": str(spent), "recipe": str(asdict(recipe))})
    part.replace(path)


def _resume(
    path: Path, parameters: Sequence[torch.Tensor], optimizer: torch.optim.Optimizer, recipe: Recipe
) -> tuple[int, float]:
    if not path.exists():
        return 0, 0.0
    with safe_open(path, "pt") as stored:
        notes = stored.metadata()
    if notes["recipe"] != str(asdict(recipe)):
        raise ValueError(f"{path} is a checkpoint of another recipe: remove it, or run that recipe")
    state = load_file(path)
    with torch.no_grad():
        for i, p in enumerate(parameters):
            p.copy_(state[f"p{i}"])
            optimizer.state[p] = {k: state[f"{k}{i}"] for k in ("exp_avg", "exp_avg_sq", "step")}
    return int(notes["step"]), float(notes["spent"])
