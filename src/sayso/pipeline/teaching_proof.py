"""The proof of a teaching: base, prompted and taught models on the same facts, one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.pipeline import teaching_measure as measuring
from sayso.pipeline.asking import Progress
from sayso.pipeline.running import entities_of
from sayso.pipeline.teaching_base import Base, Halves
from sayso.pipeline.teaching_sides import Side, frame_of, side_of
from sayso.pipeline.teaching_table import table
from sayso.pipeline.teaching_words import samples, verdict
from sayso.taught import Method, Teaching

Say = Callable[[str], None]
#: what trained methods are compared with
AGAINST = "instruction"
TITLES = {
    "base": "base, plain prompt",
    "instruction": "base, instruction",
    "unc_few": "Unc-Few",
    "pair_few": "Pair-Few",
    "self_refine": "Self-Refine",
    "sft": "SFT",
    "dpo": "SFT + DPO",
    "rl": "SFT + RL",
}


def prove(
    base: Base,
    parts: Halves,
    trained: Mapping[str, Sequence[Any]],
    folder: Path,
    begun: Teaching,
    seeds: Sequence[int],
    *,
    methods: str = "",
    resamples: int = 2000,
    progress: Progress | None = None,
    say: Say = lambda text: None,
) -> Teaching:
    """Measure taught models (by stage, a list over seeds) with frozen probes; return it all."""
    frame = frame_of(base.path, parts.measured.questions)
    given = measuring.choices(base.path, parts.measured.questions)
    say(f"measuring: {entities_of(parts.measured.questions)} entities, probes of {base.path}")
    own = measuring.forced(base, base.model, given, folder / "forced" / "base.json", progress)
    sides: dict[str, list[Side]] = {
        "base": [side_of(frame, base.path, own, instructed=False)],
        AGAINST: [side_of(frame, base.path, own)],
    }
    shown = [Method("base", TITLES["base"], "base"), Method(AGAINST, TITLES[AGAINST], "prompted")]
    asked = str(base.manifest.settings.get("methods") or "")
    place: Path = base.path
    if methods and methods != asked:
        place = folder / "runs" / "methods"
        measuring.measure(
            base, base.model, place, limit=parts.limit, progress=progress, methods=methods
        )
        asked = methods
    for name in (n.strip() for n in asked.split(",") if n.strip()):
        sides[name] = [side_of(frame, place, own, method=name)]
        shown.append(Method(name, TITLES.get(name, name), "prompted"))
    folders = {"base": str(base.path)}
    for stage, models in trained.items():
        sides[stage] = []
        for seed, model in zip(seeds, models, strict=True):
            say(f"measuring: {TITLES.get(stage, stage)}, seed {seed}")
            run = folder / "runs" / f"{stage}-{seed}"
            result = measuring.measure(base, model, run, limit=parts.limit, progress=progress)
            measuring.check_measured(base, result)
            kept = folder / "forced" / f"{stage}-{seed}.json"
            right = measuring.forced(base, model, given, kept, progress)
            sides[stage].append(side_of(frame, run, right))
            folders[f"{stage}-{seed}"] = str(run.relative_to(folder))
        shown.append(Method(stage, TITLES.get(stage, stage), "trained", tuple(seeds)))
    say("table: intervals over seeds and entities")
    cells, changes = table(
        frame, shown, sides, against=AGAINST, signature=begun.signature, resamples=resamples
    )
    found = msgspec.structs.replace(
        begun,
        methods=tuple(shown),
        cells=tuple(cells),
        changes=tuple(changes),
        folders=folders,
        entities={**begun.entities, "facts": len(frame.pairs)},
    )
    last = list(trained)[-1] if trained else AGAINST
    return msgspec.structs.replace(
        found,
        verdict=tuple(verdict(found, AGAINST)),
        samples=tuple(samples(frame, sides[AGAINST][0], sides[last][0])),
    )
