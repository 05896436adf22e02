"""A GGUF file written from a folder of a Llama model, as llama.cpp's converter would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

#: tensors of one layer: what llama.cpp calls them -> what transformers does
LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
WHOLE = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}


def write_gguf(folder: Path, out: Path, *, architecture: str = "llama", without: str = "") -> Path:
    """Write the folder's model in float32; ``without`` names a tensor to leave out."""
    import gguf
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    writer = gguf.GGUFWriter(out, architecture)
    heads, kept = config["num_attention_heads"], config["num_key_value_heads"]
    writer.add_name("Tiny \x1b[31m test")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kept)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, folder, config)
    names = {f"{theirs}.weight": f"{ours}.weight" for ours, theirs in WHOLE.items()} | {
        f"model.layers.{n}.{theirs}.weight": f"blk.{n}.{ours}.weight"
        for n in range(config["num_hidden_layers"])
        for ours, theirs in LAYER.items()
    }
    for name, value in weights.items():
        if names[name] == without:
            continue
        if "q_proj" in name or "k_proj" in name:
            value = _interleaved(value, heads if "q_proj" in name else kept)
        writer.add_tensor(names[name], np.ascontiguousarray(value, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def _interleaved(value: Any, heads: int) -> Any:
    """Return rows in the order in which llama.cpp rotates them."""
    split = value.reshape(heads, 2, value.shape[0] // heads // 2, *value.shape[1:])
    return split.swapaxes(1, 2).reshape(value.shape)


def _add_tokenizer(writer: Any, folder: Path, config: dict[str, Any]) -> None:
    import gguf
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inner = json.loads((folder / "tokenizer.json").read_text())
    special = {token["content"] for token in inner["added_tokens"]}
    tokens = tokenizer.convert_ids_to_tokens(range(config["vocab_size"]))
    merges = [m if isinstance(m, str) else " ".join(m) for m in inner["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_token_types([kinds[token in special] for token in tokens])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_bos_token_id(tokenizer.eos_token_id)
    writer.add_chat_template(tokenizer.chat_template)


def write_gemma3(folder: Path, out: Path, window: int = 32) -> Path:
    """Write a tiny random model with sliding windows, and the tokenizer of the folder."""
    import gguf

    config = json.loads((folder / "config.json").read_text())
    random = np.random.default_rng(5)
    width, inner, heads, size = 32, 48, 4, 8
    writer = gguf.GGUFWriter(out, "gemma3")
    writer.add_name("Tiny windows")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_block_count(6)
    writer.add_context_length(1024)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(2)
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_sliding_window(window)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, folder, config)

    def add(name: str, *shape: int) -> None:
        value = random.normal(0, 0.3, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(name, value.astype(np.float32))

    add("token_embd.weight", config["vocab_size"], width)
    add("output_norm.weight", width)
    for block in range(6):
        for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            add(f"blk.{block}.{name}.weight", width)
        for name in ("attn_q_norm", "attn_k_norm"):
            add(f"blk.{block}.{name}.weight", size)
        add(f"blk.{block}.attn_q.weight", heads * size, width)
        add(f"blk.{block}.attn_k.weight", 2 * size, width)
        add(f"blk.{block}.attn_v.weight", 2 * size, width)
        add(f"blk.{block}.attn_output.weight", width, heads * size)
        add(f"blk.{block}.ffn_gate.weight", inner, width)
        add(f"blk.{block}.ffn_up.weight", inner, width)
        add(f"blk.{block}.ffn_down.weight", width, inner)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def write_bare(out: Path, architecture: str, vocabulary: str) -> Path:
    """Write a file with metadata and no tensors."""
    import gguf

    writer = gguf.GGUFWriter(out, architecture)
    writer.add_context_length(64)
    writer.add_embedding_length(8)
    writer.add_block_count(1)
    writer.add_feed_forward_length(8)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(8)
    writer.add_tokenizer_model(vocabulary)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out
