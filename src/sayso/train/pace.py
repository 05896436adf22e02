"""How many optimizer steps a training takes, and how far it is: told before and while it runs."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

from sayso.train.opening import Say
from sayso.train.presets import Preset, Stage

#: below so many steps nothing warms up: a linear warm-up spends its first step at rate 0, which
#: is all of a training of one step and a tenth of one of ten
WARM = 20
#: fewer steps than this teach next to nothing
FEW = 10
#: seconds between two lines of progress: never sooner; a hundredth of the whole, but within these
SOONEST, LATE, LATEST = 2.0, 15.0, 300.0
#: what gives a stage more steps
MORE = {
    "sft": "more rows (--sft-rows, --train-limit) or --sft-epochs",
    "dpo": "more pairs (--dpo-rows, --train-limit) or --dpo-epochs",
    "rl": "more questions (--rl-rows, --train-limit)",
}


def steps_of(kind: str, rows: int, preset: Preset) -> int:
    """Return how many optimizer steps a stage ("sft", "dpo", "rl") takes on so many rows.

    RL answers each question ``group`` times and leaves out a last batch that is not full.
    """
    stage: Stage = getattr(preset, kind)
    if kind == "rl":
        return math.ceil(stage.epochs * (rows // (stage.batch // preset.group)))
    return math.ceil(max(1, round(rows * stage.epochs)) / stage.batch)


def paced(kind: str, rows: int, preset: Preset) -> Preset:
    """Return a preset as a training of so many rows takes it: without warm-up if steps are few."""
    short = steps_of(kind, rows, preset) < WARM
    return dataclasses.replace(preset, warmup=0.0) if short else preset


def told(kind: str, steps: int) -> str:
    """Say how many steps a stage takes, and what to do where they are too few."""
    said = f"{kind.upper()} takes {steps} optimizer step{'' if steps == 1 else 's'}"
    return said if steps >= FEW else f"{said}: too few to teach anything; take {MORE[kind]}"


class Pace:
    """Decides which steps are worth a line: every tenth part of them, or after 15 seconds.

    A training of many hours says a line every five minutes at the latest instead.
    """

    def __init__(self, kind: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._kind, self._clock = kind, clock
        self._began = self._last = clock()
        self._first = self._said = 0
        self.loss: float | None = None

    def begin(self, step: int) -> None:
        """Start to count time and steps; a resumed training begins at a later step than 0."""
        self._began = self._last = self._clock()
        self._first = self._said = step

    def at(self, step: int, total: int) -> str | None:
        """Return the line for a finished step, or ``None`` where it is too soon for one."""
        now = self._clock()
        each = (now - self._began) / (step - self._first)
        late = now - self._last >= min(max(LATE, each * total / 100), LATEST)
        tenth = step * 10 // total > self._said * 10 // total and now - self._last >= SOONEST
        if step >= total or not (tenth or late):
            return None
        self._said, self._last = step, now
        loss = "" if self.loss is None else f", loss {self.loss:.3f}"
        left = _time(each * (total - step))
        return f"{self._kind.upper()} step {step} of {total}{loss}, {left} left"


def _time(seconds: float) -> str:
    """Return a span as people say it: seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def watch(kind: str, say: Say) -> Any:
    """Return a callback of a trainer that says how far it is."""
    from transformers import TrainerCallback

    pace = Pace(kind)

    class Watch(TrainerCallback):  # type: ignore[misc]
        """Tells step, loss and the time that is left."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Begin to count."""
            pace.begin(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Keep the last loss."""
            loss = (kwargs.get("logs") or {}).get("loss")
            pace.loss = pace.loss if loss is None else float(loss)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Say where it is."""
            line = pace.at(state.global_step, state.max_steps)
            if line is not None:
                say(line)

    return Watch()
