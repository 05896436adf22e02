"""Trainings for tests of pages: every kind of method, curve, sweep and sample, or hostile ones."""

from __future__ import annotations

from sayso.records import Estimate, slice_of
from sayso.train.result import (
    Change,
    Curve,
    MeasuredMethod,
    MethodNumber,
    Point,
    Sample,
    SweepPoint,
    Training,
)

METHODS = (
    MeasuredMethod("base", "base, plain prompt", "base"),
    MeasuredMethod("instruction", "base, instruction", "prompted"),
    MeasuredMethod("unc_few", "Unc-Few", "prompted"),
    MeasuredMethod("sft", "SFT", "trained", (0, 1)),
    MeasuredMethod("dpo", "SFT + DPO", "trained", (0, 1)),
)
NAMES = (
    "FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge", "J_within", "odds_ratio_within",
    "policy_UUR", "unspoken_knowledge", "skill", "wrong_and_sure", "unasked",
)  # fmt: skip


def training(text: str = "Lyon", title: str = "") -> Training:
    """Return a training whose numbers are all in range; ``text`` stands wherever a model spoke."""
    cells = []
    for place, method in enumerate(METHODS):
        for form in ("short", "long"):
            for name in (*NAMES, *(("forced",) if form == "short" else ())):
                value = 0.1 + 0.15 * place
                made = Estimate(name, slice_of(form=form), value, value - 0.05, value + 0.05, n=480)
                cells.append(MethodNumber(method.name, form, made, (value, value)))
        shares = [0.4, 0.2, 0.1, 0.3]
        for pair, share in zip(("CC", "CU", "UC", "UU"), shares, strict=True):
            cells.append(MethodNumber(method.name, "both", Estimate(f"align_{pair}", value=share)))
    changes = [
        Change(method.name, "instruction", form, Estimate("J", value=0.3, low=0.2, high=0.4), p, h)
        for method, p, h in ((METHODS[3], 0.2, 0.4), (METHODS[4], 0.0001, 0.001))
        for form in ("short", "long")
    ]
    curves = tuple(
        Curve(
            stage, seed, 0.6931, tuple(Point(n, {"loss": 0.7 / n, "margin": n / 9}) for n in steps)
        )
        for stage in ("sft", "dpo")
        for seed in (0, 1)
        for steps in [range(1, 9)]
    )
    samples = tuple(
        Sample(
            form, text, f"Where was {text} born?", (text,), known, text, text, "incorrect", after
        )
        for form in ("short", "long")
        for known in (True, False)
        for after in ("correct", "uncertain")
    )
    sweep = tuple(
        SweepPoint(
            "xi",
            xi / 10,
            {
                f"{form} {name}": Estimate(name, value=0.2 + xi / 20)
                for form in ("short", "long")
                for name in ("FA", "UA", "UUR", "KCR", "EA")
            },
        )
        for xi in range(1, 10)
    )
    return Training(
        sayso="0.1.0",
        created="2026-01-01",
        finished="2026-01-02",
        command=f"sayso train {text}",
        base_run=text,
        model=title or text,
        data=text,
        judge="rules@2",
        settings={"recipe": "mix", "note": text},
        seeds=(0, 1),
        entities={"trained": 250, "measured": 80},
        rows={"sft short idk-known": 10, f"dpo long {text}": 12},
        methods=METHODS,
        cells=tuple(cells),
        changes=tuple(changes),
        curves=curves,
        samples=samples,
        sweep=sweep,
        verdict=("SFT + DPO, short form: hedges 44 % of unknown facts.", text),
        notes=(text,),
        timings={"training_cpu_s": 12.0},
        signature=(("", "training#abc"), ("recipe", text)),
    )
