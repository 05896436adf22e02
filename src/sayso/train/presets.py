"""Settings of a training by name: UNCLE's Table 6 for real models, ours for the built-in one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sayso.records import InputError


@dataclass(frozen=True)
class Stage:
    """One pass over rows: supervised fine-tuning, DPO or reinforcement learning.

    ``batch`` is rows (drawn answers, for the last) per optimizer step, ``micro`` how many of them
    are computed at once (halved by itself where memory runs out). ``rows`` is how many training
    rows are wanted.
    """

    rate: float
    batch: int
    epochs: float
    rows: int
    micro: int = 4


@dataclass(frozen=True)
class Preset:
    """Everything that decides what a training does to a model, apart from its rows and seed.

    ``warmup`` is a share of the steps. ``beta`` is DPO's; ``nll`` is the weight of the negative
    log-likelihood of the chosen answer beside DPO's loss (0: none). ``xi`` is the share of
    long-form rows in a mixture. ``cutoff`` is in tokens. ``save`` is in steps. ``group`` is how
    many answers reinforcement learning draws to a question, ``answer`` their longest in tokens,
    ``kl`` the weight that holds it to where it began.
    """

    name: str
    sft: Stage
    dpo: Stage
    r: int = 8
    alpha: int = 16
    dropout: float = 0.05
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    cutoff: int = 1024
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-8
    warmup: float = 0.1
    schedule: str = "cosine"
    beta: float = 0.1
    nll: float = 0.0
    xi: float = 0.7
    save: int = 200
    checkpointing: bool = True
    rl: Stage = Stage(rate=1e-6, batch=64, epochs=1, rows=20_000, micro=8)
    group: int = 8
    answer: int = 256
    kl: float = 0.0


#: UNCLE (arXiv 2505.16922), Table 6: LoRA r=8, alpha=16, dropout .05 on q_proj and v_proj, 3
#: epochs, cutoff 1,024, Adam (.9, .98), warm-up ratio .1, 40k rows for SFT and 20k for DPO, xi .7.
#: The schedule, beta and the plain sigmoid loss are those of the authors' code.
PAPER = Preset(
    "paper",
    sft=Stage(rate=5e-5, batch=32, epochs=3, rows=40_000),
    dpo=Stage(rate=1e-5, batch=64, epochs=3, rows=20_000),
)
#: For the 0.8M-parameter model that is shipped: chosen on dev entities (benchmarks/teaching.md).
#: A model this small needs rates forty times the paper's, and more than two kinds of modules to
#: hear in a paragraph that it is unsure. DPO's pairs push one token everywhere, up or down: the
#: likelihood of the chosen answer holds it where SFT left it.
BUILTIN = Preset(
    "builtin",
    sft=Stage(rate=2e-3, batch=32, epochs=3, rows=3_000, micro=8),
    dpo=Stage(rate=4e-4, batch=32, epochs=1, rows=2_000, micro=16),
    r=16,
    alpha=32,
    targets=("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
    nll=1.0,
    xi=0.35,
    save=50,
    checkpointing=False,
    rl=Stage(rate=1e-3, batch=256, epochs=1, rows=800, micro=256),
    answer=24,
)
PRESETS = {preset.name: preset for preset in (PAPER, BUILTIN)}


def preset(name: str) -> Preset:
    """Return a preset by its name. Raises :class:`~sayso.records.InputError`."""
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is not known: expected one of {', '.join(PRESETS)}")
    return PRESETS[name]


def check(chosen: Preset) -> None:
    """Refuse settings with which nothing could be trained. Raises InputError."""
    limits: list[tuple[str, float, float, float]] = [
        ("r", chosen.r, 1, 4096),
        ("alpha", chosen.alpha, 1, 1_000_000),
        ("dropout", chosen.dropout, 0, 0.99),
        ("cutoff", chosen.cutoff, 8, 10_000_000),
        ("warmup", chosen.warmup, 0, 0.99),
        ("beta", chosen.beta, 1e-9, 1e9),
        ("nll", chosen.nll, 0, 1e6),
        ("xi", chosen.xi, 0, 1),
        ("save", chosen.save, 1, 10**9),
        ("group", chosen.group, 2, 10_000),
        ("answer", chosen.answer, 1, 1_000_000),
        ("kl", chosen.kl, 0, 1e6),
    ]
    for part in ("sft", "dpo", "rl"):
        stage: Stage = getattr(chosen, part)
        limits += [
            (f"{part}.rate", stage.rate, 1e-12, 10),
            (f"{part}.batch", stage.batch, 1, 1_000_000),
            (f"{part}.micro", stage.micro, 1, stage.batch),
            (f"{part}.epochs", stage.epochs, 1e-6, 10_000),
            (f"{part}.rows", stage.rows, 1, 10**9),
        ]
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value:g}; expected {low:g} to {high:g}")
    if chosen.rl.batch % chosen.group:
        raise InputError(f"rl.batch {chosen.rl.batch} is no multiple of group {chosen.group}")
    if not chosen.targets:
        raise InputError("targets is empty; expected names of linear modules, such as q_proj")


def settings_of(chosen: Preset, kind: str) -> dict[str, object]:
    """Return what a card and a signature say of one training: JSON values, its own stage dotted."""
    found: dict[str, object] = {}
    for name, value in dataclasses.asdict(chosen).items():
        if not isinstance(value, dict):
            found[name] = list(value) if isinstance(value, tuple) else value
        elif name == kind:
            found |= {f"{name}.{key}": inner for key, inner in value.items()}
    drawn, paired = ("group", "answer", "kl"), ("beta", "nll")
    foreign = {"sft": (*drawn, *paired), "dpo": drawn, "rl": paired}[kind]
    return {name: value for name, value in found.items() if name not in foreign}
