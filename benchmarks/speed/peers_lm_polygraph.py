"""lm-polygraph's side of ``peers.py``: its own manager over the same questions, results as JSON.

    python benchmarks/speed/peers_lm_polygraph.py TASK.json RESULT.json

Runs in an environment that has lm-polygraph, through its public classes; started by ``peers.py``.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from lm_polygraph import estimators as known
from lm_polygraph.defaults.register_default_stat_calculators import (
    register_default_stat_calculators,
)
from lm_polygraph.stat_calculators import SemanticClassesCalculator, SemanticMatrixCalculator
from lm_polygraph.utils.builder_enviroment_stat_calculator import BuilderEnvironmentStatCalculator
from lm_polygraph.utils.dataset import Dataset
from lm_polygraph.utils.generation_parameters import GenerationParameters
from lm_polygraph.utils.manager import UEManager
from lm_polygraph.utils.model import WhiteboxModel
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from peers_parts import Clock, Counter, StandIn, loaded, memory, read, write

NLI_BATCH = 10  # its default
KEPT = (
    "greedy_tokens", "greedy_log_likelihoods", "entropy", "sample_texts", "sample_tokens",
    "sample_log_probs", "sample_log_likelihoods", "semantic_matrix_entail",
    "semantic_matrix_contra",
)  # fmt: skip


class Timed:
    """A stat calculator, with the CPU seconds it takes."""

    def __init__(self, inner: Any, clock: Clock) -> None:
        self.inner, self.clock = inner, clock

    def __call__(self, *args: Any) -> Any:
        return self.clock.timed(type(self.inner).__name__, self.inner, *args)


def plain(value: Any) -> Any:
    """Return numbers and lists for JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def nli_of(folder: str, model: Any = None) -> Any:
    """Return a classifier in the shape in which its calculators hold DeBERTa."""
    model = model or AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return SimpleNamespace(
        deberta=model, deberta_tokenizer=tokenizer, batch_size=NLI_BATCH, device="cpu"
    )


def generate(task: dict[str, Any]) -> dict[str, Any]:
    """Answer, draw, and score through its manager, as its own documentation does."""
    model = AutoModelForCausalLM.from_pretrained(
        task["lm"], attn_implementation="eager" if task["attentions"] else "sdpa"
    ).eval()
    tokenizer = AutoTokenizer.from_pretrained(task["lm"], padding_side="left")
    settings = GenerationParameters(top_k=0, max_new_tokens=task["tokens"])
    wrapped = WhiteboxModel(
        model, tokenizer, task["lm"], "CausalLM", settings, instruct=bool(task["model"])
    )
    around = BuilderEnvironmentStatCalculator(wrapped)
    around.nli_model = nli_of(task["nli"])
    methods = [
        known.MaximumSequenceProbability(), known.Perplexity(), known.MeanTokenEntropy(),
        known.MonteCarloSequenceEntropy(), known.MonteCarloNormalizedSequenceEntropy(),
        known.SemanticEntropy(), known.SemanticEntropy(use_unique_responses=True),
        known.SemanticEntropy(class_probability_estimation="frequency"),
        known.NumSemSets(), known.EigValLaplacian(), known.DegMat(), known.Eccentricity(),
        known.LexicalSimilarity("rougeL"),
    ]  # fmt: skip
    methods.append(known.PTrueSampling() if task["ideas"] else known.PTrue())
    manager = UEManager(
        Dataset(task["prompts"], [""] * len(task["prompts"]), batch_size=task["batch"]),
        wrapped,
        methods,
        builder_env_stat_calc=around,
        available_stat_calculators=register_default_stat_calculators(
            "Whitebox",
            output_attentions=task["attentions"],
            output_hidden_states=task["attentions"],
        ),
        generation_metrics=[],
        ue_metrics=[],
        processors=[],
        ignore_exceptions=False,
        verbose=False,
        max_new_tokens=task["tokens"],
        save_stats=list(KEPT),
    )
    clock = Clock()
    manager.stat_calculators = [Timed(c, clock) for c in manager.stat_calculators]
    for calculator in manager.stat_calculators:
        if hasattr(calculator.inner, "samples_n"):
            calculator.inner.samples_n = task["draws"]
    lm, nli = Counter(model), Counter(around.nli_model.deberta)
    before = loaded(model, around.nli_model.deberta)
    torch.manual_seed(task["seed"])
    clock.timed("all", manager)
    return {
        "lm": lm.told(),
        "nli": nli.told(),
        "cpu": clock.spent,
        "memory": {"loaded": before, "peak": memory("VmHWM"), "by": clock.most},
        "scores": {name: plain(v) for (_, name), v in manager.estimations.items()},
        "kept": {name: plain(list(manager.stats[name])) for name in KEPT},
    }


def meanings(task: dict[str, Any]) -> dict[str, Any]:
    """Relate real samples with the deterministic classifier; no language model."""
    shell = AutoModelForSequenceClassification.from_pretrained(task["nli"])
    nli = nli_of(task["nli"], StandIn(shell.config))
    counter, clock = Counter(nli.deberta), Clock()
    matrix, classes = SemanticMatrixCalculator(nli), SemanticClassesCalculator()
    counted = known.SemanticEntropy(class_probability_estimation="frequency")
    sets = known.NumSemSets()
    entropies: list[float] = []
    numbers: list[float] = []
    groups: list[list[int]] = []

    def run() -> None:
        for at in range(0, len(task["samples"]), task["batch"]):
            stats: dict[str, Any] = {"sample_texts": task["samples"][at : at + task["batch"]]}
            stats |= matrix(stats, [], None)
            stats |= classes(stats, [], None)
            entropies.extend(counted(stats).tolist())
            numbers.extend(sets(stats).tolist())
            held = stats["semantic_classes_entail"]["sample_to_class"]
            groups.extend([held[i][j] for j in sorted(held[i])] for i in sorted(held))

    clock.timed("all", run)
    return {
        "nli": counter.told(),
        "cpu": clock.spent,
        "entropies": entropies,
        "sets": numbers,
        "ids": groups,
    }


def main() -> None:
    """Run the task that was written down."""
    torch.set_num_threads(1)
    task = read(sys.argv[1])
    write(sys.argv[2], generate(task) if task["kind"] == "generate" else meanings(task))


if __name__ == "__main__":
    main()
