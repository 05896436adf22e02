"""What both sides of ``peers.py`` share: model folders, questions, and the counters.

Runs in either side's process, so it imports neither package.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

SHAPE = {
    "vocab_size": 32_000, "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 2048,
    "initializer_range": 0.1,
}  # fmt: skip
NLI_SHAPE = {
    "vocab_size": 32_000, "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 512,
}  # fmt: skip
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}  # as microsoft/deberta-large-mnli
END, START, PAD, CLS, SEP = "<|end|>", "<|start|>", "[PAD]", "[CLS]", "[SEP]"


def prompts(n: int, shots: int) -> list[str]:
    """Return n questions about an invented world, each behind the same solved examples."""
    draw = random.Random(5)
    ends, parts = "aeiou", ["birth place", "first film", "chief work", "founder", "currency"]

    def name() -> str:
        return "".join(draw.choice("bdfklmnrstv") + draw.choice(ends) for _ in range(3)).title()

    def question() -> str:
        return f"What is the {draw.choice(parts)} of {name()} {name()}?"

    solved = "".join(f"Question: {question()}\nAnswer: {name()} {name()}\n\n" for _ in range(shots))
    return [f"{solved}Question: {question()}\nAnswer:" for _ in range(n)]


def folders(root: Path, n: int, shots: int) -> tuple[Path, Path]:
    """Save a random language model and a random NLI model with tokenizers; return their folders."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from tokenizers.processors import TemplateProcessing
    from transformers import (
        DebertaConfig,
        DebertaForSequenceClassification,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    draw = random.Random(1)
    words = ["".join(draw.choices("aeioulnrstdmkbgp", k=draw.randint(3, 9))) for _ in range(60_000)]
    texts = [" ".join(words[i : i + 20]) for i in range(0, len(words), 20)]
    texts += ["Question: Possible answer: Is the possible answer:\n (A) True\n (B) False"] * 50
    texts += ["True", "False"] * 500  # the peer wants "True" to be one token
    texts += prompts(n, shots)

    def trained(marks: list[str], lower: bool) -> Any:
        inner = Tokenizer(models.BPE())
        if lower:
            inner.normalizer = normalizers.Lowercase()
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        inner.train_from_iterator(
            texts,
            trainers.BpeTrainer(
                vocab_size=SHAPE["vocab_size"], special_tokens=marks, show_progress=False,
                initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            ),
        )  # fmt: skip
        return inner

    torch.manual_seed(0)
    lm, nli = root / "lm", root / "nli"
    inner = trained([END, START], lower=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=END, bos_token=START, pad_token=END, padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    tokenizer.chat_template = "{{ messages[0].content }}"  # both sides read the very same text
    config = LlamaConfig(
        **{**SHAPE, "vocab_size": len(tokenizer)}, eos_token_id=0, bos_token_id=1, pad_token_id=0
    )
    LlamaForCausalLM(config).save_pretrained(lm)
    tokenizer.save_pretrained(lm)

    inner = trained([PAD, CLS, SEP], lower=True)
    inner.post_processor = TemplateProcessing(
        single=f"{CLS} $A {SEP}",
        pair=f"{CLS} $A {SEP} $B {SEP}",
        special_tokens=[(CLS, 1), (SEP, 2)],
    )
    coder = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token=PAD, cls_token=CLS, sep_token=SEP, model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    nli_config = DebertaConfig(
        **{**NLI_SHAPE, "vocab_size": len(coder)}, type_vocab_size=0, relative_attention=True,
        position_biased_input=False, pos_att_type=["c2p", "p2c"], pad_token_id=0,
        pooler_hidden_size=NLI_SHAPE["hidden_size"],
        id2label=LABELS, label2id={name: n for n, name in LABELS.items()},
    )  # fmt: skip
    DebertaForSequenceClassification(nli_config).save_pretrained(nli)
    coder.save_pretrained(nli)
    return lm, nli


class StandIn(torch.nn.Module):
    """A classifier with a model's interface whose answers follow from the token ids.

    A premise entails what it holds at least three quarters of, and contradicts what it holds less
    than a quarter of. Random weights would give meaningless clusters, and with them meaningless
    counts of pairs.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.device = torch.device("cpu")

    def forward(self, input_ids: torch.Tensor, **_: Any) -> Any:
        """Return ``logits`` (rows, 3) in the order of ``LABELS``."""
        rows = []
        for ids in input_ids.tolist():
            first = ids.index(2)
            premise, hypothesis = set(ids[1:first]), set(ids[first + 1 : ids.index(2, first + 1)])
            held = len(premise & hypothesis) / max(1, len(hypothesis))
            rows.append([8 * (0.25 - held), 0.0, 8 * (held - 0.74)])
        return SimpleNamespace(logits=torch.tensor(rows))


class Counter:
    """Counts the forward calls of a model, their rows and their token positions."""

    def __init__(self, model: Any) -> None:
        self.calls = self.rows = self.slots = 0
        model.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _module: Any, args: Any, given: dict[str, Any]) -> None:
        ids = given["input_ids"] if "input_ids" in given else args[0]
        self.calls += 1
        self.rows += ids.shape[0]
        self.slots += ids.numel()

    def told(self) -> dict[str, int]:
        """Return the counts."""
        return {"calls": self.calls, "rows": self.rows, "slots": self.slots}


def memory(field: str) -> float:
    """Return ``VmRSS`` (now) or ``VmHWM`` (the most so far) of this process in MB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}: this study reads memory as Linux tells it")


@torch.inference_mode()
def loaded(*models: torch.nn.Module) -> float:
    """Return the memory in MB before any work, all weights read: until then they are only mapped.

    What loading took at its peak does not count as work: the most so far starts again.
    """
    for model in models:
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.sum()
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return memory("VmRSS")


class Clock:
    """CPU seconds by stage, and the most memory in MB by the end of each."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.most: dict[str, float] = {}

    def timed(self, name: str, what: Any, *args: Any, **given: Any) -> Any:
        """Call, and add what it took under a name."""
        start = time.process_time()
        try:
            return what(*args, **given)
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - start
            self.most[name] = memory("VmHWM")


def read(path: str) -> Any:
    """Return a JSON file's content."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write(path: str, content: Any) -> None:
    """Write JSON."""
    Path(path).write_text(json.dumps(content), encoding="utf-8")
