"""One setting of the training rows in several values, each taught and measured: UNCLE's Figure 4.

Every value is a teaching in a folder of its own and resumes by itself. A sweep of ``xi`` trains
every value on as many rows: the largest number that the smallest and the largest ``xi`` both allow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.records import Estimate, InputError
from sayso.runs.progress import Progress
from sayso.storage.atomic import replacing
from sayso.train.config import Lesson, stages_of
from sayso.train.result import SweepPoint, Teaching
from sayso.train.training import teach

Say = Callable[[str], None]
#: setting -> the values that are taken without others
VALUES: dict[str, tuple[float, ...]] = {
    "xi": tuple(n / 10 for n in range(1, 10)),
    "theta": (0.1, 0.3, 0.5, 0.7, 1.0),
    "plain_from": (0.2, 0.4, 0.6, 0.8, 1.0),
}
#: what is kept of every value
SHOWN = ("J", "J_within", "UUR", "KCR", "unspoken_knowledge", "forced", "skill", "wrong_and_sure")
FORMS = ("short", "long")
#: recipes that read a setting
_RECIPES = {
    "xi": ("mix", "rl"),
    "theta": ("mix", "short", "long", "rl"),
    "plain_from": ("calibrated",),
}


def sweep(
    run: str | Path,
    out: str | Path | None = None,
    *,
    setting: str,
    values: Sequence[float] = (),
    lesson: Lesson | None = None,
    progress: Progress | None = None,
    say: Say = lambda text: None,
    **opened: Any,
) -> tuple[Path, Teaching]:
    """Teach once for each value of a setting; return the folder and the last one with all points.

    ``opened`` is what :func:`~sayso.train.training.teach` takes besides. Raises InputError.
    """
    given = lesson or Lesson()
    wanted = check_values(setting, values, given)
    folder = Path(out) if out else Path(f"{Path(run)}-sweep-{setting}-{given.recipe}")

    def one(value: float, **changed: Any) -> Lesson:
        made = {**given.making, setting: value}
        return dataclasses.replace(given, making=made, **changed)

    training = dict(given.training)
    if setting == "xi":
        ends = [
            teach(
                run, folder / f"rows-{value:g}", lesson=one(value, seeds=1), style="trl",
                progress=progress, say=say, **opened,
            )[1]
            for value in (wanted[0], wanted[-1])
        ]  # fmt: skip
        training |= smallest(
            [rows_of(taught.rows) for taught in ends], stages_of(given.recipe, given.stages)
        )
    points: list[SweepPoint] = []
    last: Teaching | None = None
    for value in wanted:
        say(f"{setting} {value:g}")
        _, last = teach(
            run, folder / f"{setting}-{value:g}", lesson=one(value, training=training),
            progress=progress, say=say, **opened,
        )  # fmt: skip
        points.append(SweepPoint(setting, value, numbers(last)))
    assert last is not None
    swept = msgspec.structs.replace(last, sweep=tuple(points))
    with replacing(folder / "sweep.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(swept), indent=1) + b"\n")
    return folder, swept


def check_values(setting: str, values: Sequence[float], lesson: Lesson) -> list[float]:
    """Return the values of a sweep in order. Raises InputError."""
    if setting not in VALUES:
        raise InputError(f"sweep {setting!r}: expected one of {', '.join(VALUES)}")
    recipes = _RECIPES.get(setting, (lesson.recipe,))
    if lesson.recipe not in recipes:
        raise InputError(
            f"recipe {lesson.recipe} does not read {setting}: sweep it with --recipe {recipes[0]}"
        )
    if lesson.making.get(setting) is not None:
        raise InputError(f"{setting} is what is swept: give its values with --values instead")
    wanted = sorted(set(values or VALUES[setting]))
    if len(wanted) < 2 or not all(0 <= value <= 1 for value in wanted):
        raise InputError(
            f"values {', '.join(f'{v:g}' for v in wanted)} of {setting}: expected at least two "
            "within 0 and 1"
        )
    return wanted


def rows_of(counted: Mapping[str, int]) -> dict[str, int]:
    """Return how many rows a stage has ("sft", "dpo"), without the plain ones beside them."""
    found: dict[str, int] = {}
    for kind, number in counted.items():
        if not kind.endswith(" plain"):
            stage = kind.partition(" ")[0]
            found[stage] = found.get(stage, 0) + number
    return found


def smallest(sizes: Sequence[Mapping[str, int]], stages: Sequence[str]) -> dict[str, int]:
    """Return how many rows every value can have, as settings of the stages that are trained."""
    return {
        f"{stage}.rows": min(size[stage] for size in sizes) for stage in sizes[0] if stage in stages
    }


def numbers(taught: Teaching) -> dict[str, Estimate]:
    """Return the numbers of the last stage by "form name"."""
    last = taught.methods[-1].name
    return {f"{form} {name}": taught.get(last, form, name) for form in FORMS for name in SHOWN}
