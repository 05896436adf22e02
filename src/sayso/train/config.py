"""What decides the training rows of a teaching, and which settings fit together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Literal, get_args

from sayso.records import InputError, content_id, signature_of
from sayso.runs.measure import entities_of
from sayso.runs.stages import now
from sayso.train.base import Base, Halves
from sayso.train.presets import PRESETS, Preset
from sayso.train.presets import check as check_preset
from sayso.train.result import Teaching
from sayso.train.rewards import NAMES, Name
from sayso.train.rows import WORDS
from sayso.version import __version__

Recipe = Literal["short", "long", "mix", "calibrated", "rl"]
RECIPES: tuple[str, ...] = get_args(Recipe)
STYLES = ("paper", "known")
#: who says what is right in a paragraph whose facts LoGU words anew
Veracity = Literal["gold", "evidence", "consistency"]
VERACITIES: tuple[str, ...] = get_args(Veracity)
#: names that are no longer taken -> what to use instead
DROPPED = {
    "aligned": "--recipe calibrated",
    "fut": "--recipe calibrated",
    "rlmf": "--reward ternary",
    "self_judgement": "--reward brier",
}
#: most variants of one paragraph (LoGU)
VARIANTS = 5


@dataclasses.dataclass(frozen=True)
class Making:
    """What decides the rows. ``low`` None: unknown is all below theta (the papers' rule).

    ``cut`` "all" re-words every wrong fact of a paragraph, "cutoff2" LoGU's sample of them;
    ``variants`` is how often each paragraph is re-worded. ``each`` and ``each_unknown`` are rows of
    a short fact. In rows of style "known" ``words`` hedge, and ``against`` is how many pairs
    against a hedge stand beside one for it (None: all). ``plain`` is how many of the model's own
    plain answers stand beside the SFT rows, as a share of them, and ``plain_pairs`` the same for
    DPO, as a share of the pairs that prefer a hedge. ``reward``, ``cost`` and ``choose`` are of
    reinforcement learning: what is rewarded, what a wrong answer costs, and which questions are
    asked (``extremes``: those whose draws agree most and least).
    """

    style: Literal["paper", "known"] = "paper"
    k: int = 10
    paragraphs: int = 0
    theta: float = 1.0
    low: float | None = None
    xi: float = 0.7
    veracity: Veracity = "gold"
    cut: Literal["all", "cutoff2"] = "cutoff2"
    variants: int = VARIANTS
    each: int = 1
    each_unknown: int | None = None
    words: tuple[str, ...] = WORDS
    against: float | None = None
    plain: float = 0.5
    plain_pairs: float = 0.0
    plain_from: float = 1.0
    refuse_below: float = 0.0
    reward: Name = "ternary"
    cost: float = 1.0
    choose: Literal["any", "extremes"] = "any"


def check_making(made: Making) -> None:
    """Refuse settings of which no rows can come. Raises InputError."""
    for name, value, low, high in (
        ("theta", made.theta, 0, 1),
        ("low", made.low or 0.0, 0, 1),
        ("xi", made.xi, 0, 1),
        ("plain", made.plain, 0, 1),
        ("variants", made.variants, 1, 100),
        ("each", made.each, 1, 100),
        ("paragraphs", made.paragraphs, 0, 100),
        ("cost", made.cost, 0, 100),
        ("plain_from", made.plain_from, 0, 1),
        ("against", 1.0 if made.against is None else made.against, 0, 100),
    ):
        if not low <= value <= high:
            raise InputError(f"{name} is {value:g}; expected {low} to {high}")
    if not made.theta:
        raise InputError("theta is 0; expected more than 0, up to 1: every fact would be known")
    if made.low is not None and made.low >= made.theta:
        raise InputError(
            f"low is {made.low:g} and theta {made.theta:g}; expected low below theta: a fact is "
            "unknown up to low and known from theta"
        )
    for name, chosen, known in (
        ("style", made.style, STYLES),
        ("veracity", made.veracity, VERACITIES),
        ("reward", made.reward, NAMES),
    ):
        _check_dropped(name, chosen)
        if chosen not in known:
            raise InputError(f"{name} {chosen!r}: expected one of {', '.join(known)}")


def _check_dropped(setting: str, name: str) -> None:
    """Refuse a name that an earlier sayso took. Raises InputError."""
    if name in DROPPED:
        raise InputError(f"{setting} {name!r} is no longer there: use {DROPPED[name]}")


def check_name(recipe: str) -> None:
    """Refuse what is no recipe; of a style, say the command that takes it. Raises InputError."""
    _check_dropped("recipe", recipe)
    if recipe in STYLES:
        raise InputError(f"recipe {recipe!r} is a style of rows: sayso train RUN --style {recipe}")
    if recipe not in RECIPES:
        raise InputError(f"recipe {recipe!r}: expected one of {', '.join(RECIPES)}")


def check_recipe(recipe: str, made: Making) -> None:
    """Refuse settings that a recipe would leave unread. Raises InputError."""
    check_name(recipe)
    if made.veracity != "gold" and (made.style != "paper" or recipe in ("short", "calibrated")):
        raise InputError(
            f"veracity {made.veracity} says which sentences of a paragraph are wrong in rows of "
            "style paper: add --style paper, with --recipe mix, long or rl"
        )


#: for the built-in model: chosen on its dev entities (benchmarks/teaching.md)
BUILTIN = Making(
    style="known",
    theta=0.3,
    low=0.0,
    paragraphs=4,
    words=("possibly",),
    against=1.0,
    plain=0.3,
    plain_pairs=0.3,
    plain_from=0.5,
    cut="all",
    variants=3,
)
#: preset -> how rows are made
MAKINGS: dict[str, Making] = {"paper": Making(), "builtin": BUILTIN}


# What settings of a teaching are where nobody says them, preset by preset, as help says it.


def of_rows(name: str, none: str = "") -> str:
    """Return the defaults of a setting of rows, such as "(10)"; ``none`` stands for ``None``."""
    return _told({preset: getattr(made, name) for preset, made in MAKINGS.items()}, none)


def of_preset(name: str) -> str:
    """Return the defaults of a setting of trainings, dotted: "(paper: 5e-05; builtin: 0.002)"."""
    return _told({each.name: attrgetter(name)(each) for each in PRESETS.values()}, "")


def _told(values: Mapping[str, object], none: str) -> str:
    shown = {name: _plain(value, none) for name, value in values.items()}
    if len(set(shown.values())) == 1:
        return f"({next(iter(shown.values()))})"
    return f"({'; '.join(f'{name}: {value}' for name, value in shown.items())})"


def _plain(value: object, none: str) -> str:
    if value is None:
        return none
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


#: stages that ``--stages`` can end at
STAGES = ("sft", "dpo")


def preset_for(name: str, model: object) -> Preset:
    """Return a preset; "auto" is ``builtin`` for the built-in model and ``paper`` for others."""
    if name == "auto":
        name = "builtin" if model == "builtin" else "paper"
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is not known: expected auto, {', '.join(PRESETS)}")
    return PRESETS[name]


def stages_of(recipe: str, last: str) -> tuple[str, ...]:
    """Return the stages of a recipe up to ``last``. Raises InputError."""
    if last not in STAGES:
        raise InputError(f"stages {last!r}: expected sft, or dpo (which comes after SFT)")
    second = "rl" if recipe == "rl" else "dpo"
    return ("sft",) if last == "sft" else ("sft", second)


# Settings that were asked for and would change nothing: told, not left unread.
#
# A setting that is taken from a preset may stay unread; one that somebody said may not.

#: recipes whose rows are of one label a fact, known or unknown
LABELED = ("short", "long", "mix", "rl")
#: what only a training reads
TRAINED = ("sft.epochs", "sft.rate", "dpo.epochs", "dpo.rate", "targets")
#: what only reinforcement learning reads
REWARDED = ("reward", "choose", "cost", "rl.rows", "rl.rate")


def check_read(
    recipe: str,
    stages: str,
    made: Making,
    given: Mapping[str, Any],
    *,
    export: bool = False,
) -> None:
    """Refuse a given setting (``given``: dotted for trainings) that nothing reads. InputError.

    ``export``: rows are made for another trainer, who takes pairs of every recipe.
    """
    for name, value in given.items():
        why = value is not None and _why(name, value, recipe, stages, made, export)
        if why:
            raise InputError(_line(name, value, why))


def check_exported(methods: str, given: Mapping[str, Any]) -> None:
    """Refuse what ``--export`` leaves unread: it trains and measures nothing. InputError."""
    if methods:
        raise InputError(_line("methods", methods, "--export writes rows and measures nothing"))
    for name, value in given.items():
        if value is not None and name in (*TRAINED, *REWARDED):
            raise InputError(_line(name, value, "--export writes rows and trains nothing"))


def _line(name: str, value: object, why: str) -> str:
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
    flag = name.replace("_", "-").replace(".", "-")
    return f"--{flag} {shown} would change nothing: {why}; leave it out"


def _why(
    name: str, value: object, recipe: str, stages: str, made: Making, export: bool
) -> str | None:
    """Return why nothing reads a setting; ``None`` if something does."""
    if name in REWARDED and (recipe != "rl" or stages == "sft"):
        return "it is of reinforcement learning (--recipe rl, not with --stages sft)"
    if name == "cost" and made.reward != "ternary":
        return f"reward {made.reward} has no cost (--reward ternary has)"
    if name in ("against", "dpo.rows", "dpo.epochs", "dpo.rate"):
        if stages == "sft":
            return "--stages sft ends before DPO"
        if recipe == "rl" and not export:
            return "--recipe rl goes on from SFT without DPO"
    if name == "against" and made.style != "known":
        return f"style {made.style} does not read it (--style known does)"
    if name == "xi" and recipe not in ("mix", "rl"):
        return f"--recipe {recipe} mixes no forms by a share (--recipe mix and rl do)"
    if name in ("plain_from", "refuse_below") and recipe != "calibrated":
        return f"--recipe {recipe} does not read it (--recipe calibrated does)"
    if name in ("theta", "low"):
        if recipe not in LABELED:
            return f"--recipe {recipe} grades by agreement of the draws (see --plain-from)"
        if recipe == "long" and made.style == "paper":
            return "paragraphs of style paper are labeled fact by fact (see --veracity)"
    if name == "paragraphs" and value and recipe == "short":
        return "rows of short questions take no paragraph"
    return None


# What decides a teaching: its settings, and its manifest before it has begun.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lesson:
    """Everything that decides a teaching. ``None`` in ``making``'s place: the preset's own."""

    recipe: str = "mix"
    preset: str = "auto"
    seeds: int = 1
    seed: int = 0
    stages: str = "dpo"
    limit: int | None = None
    train_limit: int | None = None
    methods: str = ""
    resamples: int = 2000
    making: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check(self) -> None:
        """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
        check_name(self.recipe)
        stages_of(self.recipe, self.stages)
        for name, value, low, high in (
            ("seeds", self.seeds, 1, 100),
            ("seed", self.seed, 0, 2**31),
            ("resamples", self.resamples, 100, 1_000_000),
        ):
            if not low <= value <= high:
                raise InputError(f"{name} is {value}; expected {low} to {high}")

    def resolved(self, model: object, *, export: bool = False) -> tuple[Preset, Making]:
        """Return the preset and how rows are made, for a model. Raises InputError.

        What was given and would be left unread, also by an ``export``, is refused.
        """
        preset = preset_for(self.preset, model)
        known = {f.name for f in dataclasses.fields(Making)}
        unknown = [name for name in self.making if name not in known]
        if unknown:
            raise InputError(f"{unknown[0]!r} is no setting of rows; known: {', '.join(known)}")
        given = {k: v for k, v in self.making.items() if v is not None}
        made = dataclasses.replace(MAKINGS[preset.name], **({"xi": preset.xi} | given))
        check_making(made)
        check_recipe(self.recipe, made)
        given |= self.training
        check_read(self.recipe, self.stages, made, given, export=export)
        chosen = _trained(preset, self.training)
        check_preset(chosen)
        return chosen, made


def _trained(preset: Preset, changed: Mapping[str, Any]) -> Preset:
    """Return a preset with some settings changed; nested ones are dotted."""
    for name, value in changed.items():
        if value is None:
            continue
        part, dot, last = name.partition(".")
        try:
            own = dataclasses.replace(getattr(preset, part), **{last: value}) if dot else value
            preset = dataclasses.replace(preset, **{part: own})
        except (AttributeError, TypeError):
            raise InputError(f"{name!r} is no setting of a preset") from None
    return preset


def begin(
    base: Base, parts: Halves, lesson: Lesson, preset: Preset, making: Making, command: str
) -> Teaching:
    """Return what a teaching is before it has begun; its settings decide whether it may go on."""
    settings: dict[str, object] = {
        "recipe": lesson.recipe,
        "stages": lesson.stages,
        "seeds": lesson.seeds,
        "seed": lesson.seed,
        "methods": lesson.methods,
        "resamples": lesson.resamples,
        "taught": parts.taught.hash,
        "measured": parts.measured.hash,
        **_flat("rows", dataclasses.asdict(making)),
        **_flat("training", dataclasses.asdict(preset)),
    }
    manifest = base.manifest
    key = content_id([settings, manifest.model_identity, manifest.judge_signature])[:8]
    signature = signature_of(
        f"taught#{key}",
        (
            ("recipe", lesson.recipe),
            ("data", f"{manifest.data}-{parts.measured.hash[:4]}"),
            ("judge", manifest.judge_signature),
            ("known_from", manifest.model_signature),
            ("seeds", str(lesson.seeds)),
            ("ci", f"seeds-entities-{lesson.resamples}-s0"),
            ("v", __version__),
        ),
    )
    return Teaching(
        sayso=__version__,
        created=now(),
        command=command,
        base_run=str(base.path),
        model=manifest.model,
        model_identity=manifest.model_identity,
        data=manifest.data,
        judge=manifest.judge_signature,
        settings=settings,
        seeds=tuple(range(lesson.seed, lesson.seed + lesson.seeds)),
        entities={
            "taught": entities_of(parts.taught.questions),
            "measured": entities_of(parts.measured.questions),
        },
        notes=parts.notes,
        signature=signature,
    )


def _flat(prefix: str, settings: Mapping[str, Any]) -> dict[str, object]:
    """Return nested settings with dotted names, as JSON values."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(f"{prefix}.{name}", value)
        else:
            found[f"{prefix}.{name}"] = list(value) if isinstance(value, tuple) else value
    return found
