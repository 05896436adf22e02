"""Tiny sequence-classification folders with random weights and outputs in any order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

ORDERS = (
    ("contradiction", "neutral", "entailment"),
    ("entailment", "neutral", "contradiction"),
    ("CONTRADICTION", "ENTAILMENT", "NEUTRAL"),
)
#: One model's outputs, by relation: a folder of another order has the same rows elsewhere.
ROW = {"entailment": 0, "neutral": 1, "contradiction": 2}


def make_nli(
    folder: Path, labels: Sequence[str], *, positions: int = 64, kind: str = "bert"
) -> Path:
    """Save a model whose outputs are the same for every order of ``labels``, moved accordingly."""
    import torch
    import transformers

    tokenizer = _tokenizer()
    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": positions,
        "num_labels": len(labels), "pad_token_id": 0,
    }  # fmt: skip
    torch.manual_seed(3)
    if kind == "bert":
        config: Any = transformers.BertConfig(**shape)
        model: Any = transformers.BertForSequenceClassification(config)
    else:
        config = transformers.RobertaConfig(**shape)
        model = transformers.RobertaForSequenceClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(9.0)
        final = model.classifier if kind == "bert" else model.classifier.out_proj
        rows = torch.randn(3, 32, generator=torch.Generator().manual_seed(9)) * 2
        order = [ROW.get(label.lower(), place) for place, label in enumerate(labels)]
        final.weight.copy_(rows[order])
        final.bias.zero_()
    model.config.id2label = dict(enumerate(labels))
    model.config.label2id = {label: n for n, label in enumerate(labels)}
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    marks = ["[PAD]", "[CLS]", "[SEP]"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(
        models.BPE(vocab={t: n for n, t in enumerate([*marks, *alphabet])}, merges=[])
    )
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
