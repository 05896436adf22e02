"""Everything that decides a training: its flags, and the presets from which the others are taken.

:class:`TrainConfig` is what ``sayso train`` reads its flags into and ``sayso.train.fit`` takes; a
flag that is not given is ``None``. :meth:`TrainConfig.resolved` fills it from a preset, which is a
:class:`Preset` (what training does to a model) and :class:`RowSettings` (how its rows are made).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Literal, get_args

import msgspec

from sayso.engines import check_model_name
from sayso.options import check_values, option
from sayso.records import InputError
from sayso.train.rows import WORDS

Recipe = Literal["short", "long", "mix", "calibrated"]
Style = Literal["paper", "known"]
#: how pairs of paragraphs are made: as UNCLE states it, or as LoGU's code does
Pairs = Literal["uncle", "logu"]
#: what says which facts of a paragraph are wrong
Veracity = Literal["gold", "evidence", "consistency"]
#: names that are no longer taken -> what to use instead
DROPPED = {
    "rl": "--recipe mix, and a trainer such as TRL's GRPOTrainer to continue by reward",
}
#: most variants of one paragraph (LoGU)
VARIANTS = 5

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


# ---- what training does to a model


@dataclass(frozen=True)
class TrainingStage:
    """One pass over rows: supervised fine-tuning or DPO.

    ``batch`` is rows per optimizer step, ``micro`` how many of them are computed at once (halved
    by itself where memory runs out). ``rows`` is how many training rows are wanted.
    """

    rate: Annotated[float, msgspec.Meta(ge=1e-12, le=10)]
    batch: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    epochs: Annotated[float, msgspec.Meta(ge=1e-6, le=10_000)]
    rows: Annotated[int, msgspec.Meta(ge=1, le=10**9)]
    micro: Annotated[int, msgspec.Meta(ge=1)] = 4


@dataclass(frozen=True)
class Preset:
    """Everything that decides what a training does to a model, apart from its rows and seed.

    ``warmup`` is a share of the steps. ``beta`` is DPO's; ``nll`` is the weight of the negative
    log-likelihood of the chosen answer beside DPO's loss (0: none). ``xi`` is the share of
    long-form rows in a mixture. ``cutoff`` is in tokens. ``save`` is in steps.
    """

    name: str
    sft: TrainingStage
    dpo: TrainingStage
    r: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 8
    alpha: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 16
    dropout: Annotated[float, msgspec.Meta(ge=0, le=0.99)] = 0.05
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    cutoff: Annotated[int, msgspec.Meta(ge=8, le=10_000_000)] = 1024
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-8
    warmup: Annotated[float, msgspec.Meta(ge=0, le=0.99)] = 0.1
    schedule: str = "cosine"
    beta: Annotated[float, msgspec.Meta(ge=1e-9, le=1e9)] = 0.1
    nll: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 0.0
    xi: Share = 0.7
    save: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 200
    checkpointing: bool = True

    def check(self) -> None:
        """Refuse settings with which nothing can be trained. Raises InputError."""
        check_values(self)
        for name in ("sft", "dpo"):
            stage: TrainingStage = getattr(self, name)
            if stage.micro > stage.batch:
                raise InputError(f"{name}.micro is {stage.micro}; expected 1 to {stage.batch}")
        if not self.targets:
            raise InputError("targets is empty; expected names of linear modules, such as q_proj")

    def settings(self, stage: str) -> dict[str, object]:
        """Return what a card and a signature say of one stage: JSON values, its own ones dotted."""
        settings: dict[str, object] = {}
        for name, value in dataclasses.asdict(self).items():
            if not isinstance(value, dict):
                settings[name] = list(value) if isinstance(value, tuple) else value
            elif name == stage:
                settings |= {f"{name}.{key}": inner for key, inner in value.items()}
        of_pairs = ("beta", "nll") if stage == "sft" else ()
        return {name: value for name, value in settings.items() if name not in of_pairs}


#: UNCLE (arXiv 2505.16922), Table 6: LoRA r=8, alpha=16, dropout .05 on q_proj and v_proj, 3
#: epochs, cutoff 1,024, Adam (.9, .98), warm-up ratio .1, 40k rows for SFT and 20k for DPO, xi .7.
#: The schedule, beta and the plain sigmoid loss are those of the authors' code.
PAPER = Preset(
    "paper",
    sft=TrainingStage(rate=5e-5, batch=32, epochs=3, rows=40_000),
    dpo=TrainingStage(rate=1e-5, batch=64, epochs=3, rows=20_000),
)
#: For the shipped 0.8M-parameter model: chosen on dev entities (benchmarks/models/training.md).
#: A model this small needs rates forty times the paper's, and more than two kinds of modules to
#: hear in a paragraph that it is unsure. DPO's pairs push one token everywhere, up or down: the
#: likelihood of the chosen answer holds it where SFT left it.
BUILTIN = Preset(
    "builtin",
    sft=TrainingStage(rate=2e-3, batch=32, epochs=3, rows=3_000, micro=8),
    dpo=TrainingStage(rate=4e-4, batch=32, epochs=1, rows=2_000, micro=16),
    r=16,
    alpha=32,
    targets=("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
    nll=1.0,
    xi=0.35,
    save=50,
    checkpointing=False,
)
PRESETS = {preset.name: preset for preset in (PAPER, BUILTIN)}
#: settings that are gone, by preset: trainings of version 0.2 stored them, and the hash of a
#: training's settings still contains them
GONE: Mapping[str, Mapping[str, object]] = {
    name: {
        "rows.each_unknown": None, "rows.refuse_below": 0.0,
        "rows.reward": "ternary", "rows.cost": 1.0, "rows.choose": "any",
        "training.group": 8, "training.answer": answer, "training.kl": 0.0,
        "training.rl.rate": rate, "training.rl.batch": batch, "training.rl.epochs": 1,
        "training.rl.rows": rows, "training.rl.micro": micro,
    }
    for name, answer, rate, batch, rows, micro in (
        ("paper", 256, 1e-6, 64, 20_000, 8), ("builtin", 24, 1e-3, 256, 800, 256),
    )
}  # fmt: skip


# ---- how training rows are made


@dataclass(frozen=True)
class RowSettings:
    """What decides the rows. ``low`` None: unknown is all below theta (the papers' rule).

    ``pairs`` are of paragraphs in style "paper": "uncle" makes one a prompt, "logu" three kinds of
    them. With "logu", ``cut`` "all" re-words every wrong fact of a paragraph, "cutoff2" LoGU's
    sample of them; ``variants`` is how often each paragraph is re-worded. ``each`` is
    rows of a short fact. In rows of style "known" and of recipe calibrated ``words`` hedge, and
    ``against`` is the number of pairs against a hedge for each pair in favor of one (None: all).
    ``plain`` is how many of the model's own plain answers are added to the SFT rows, as a share of
    them, and ``plain_pairs`` the same for DPO, as a share of the pairs that prefer a hedge.
    """

    style: Style = "paper"
    k: int = 10
    paragraphs: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    theta: Share = 1.0
    low: Share | None = None
    xi: Share = 0.7
    veracity: Veracity = "gold"
    pairs: Pairs = "uncle"
    cut: Literal["all", "cutoff2"] = "cutoff2"
    variants: Count = VARIANTS
    each: Count = 1
    words: tuple[str, ...] = WORDS
    against: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    plain: Share = 0.0
    plain_pairs: float = 0.0
    plain_from: Share = 1.0

    def check(self, recipe: str) -> None:
        """Refuse settings of which no rows can come, or that a recipe leaves unread. InputError."""
        check_choice("recipe", recipe, Recipe)
        for name, allowed in (("style", Style), ("veracity", Veracity), ("pairs", Pairs)):
            check_choice(name, getattr(self, name), allowed)
        self.check_thresholds()
        paragraphs = self.style == "paper" and recipe not in ("short", "calibrated")
        if self.veracity != "gold" and not paragraphs:
            raise InputError(
                f"veracity {self.veracity} says which sentences of a paragraph are wrong in rows "
                "of style paper: add --style paper, with --recipe mix or long"
            )

    def check_thresholds(self) -> None:
        """Refuse numbers outside their limits, and thresholds that split nothing. InputError."""
        check_values(self)
        if not self.theta:
            raise InputError("theta is 0; expected more than 0, up to 1: every fact would be known")
        if self.low is not None and self.low >= self.theta:
            raise InputError(
                f"low is {self.low:g} and theta {self.theta:g}; expected low below theta: a fact "
                "is unknown up to low and known from theta"
            )


#: preset -> how its rows are made; for the built-in model chosen on dev entities
#: (benchmarks/models/training.md)
ROWS = {
    "paper": RowSettings(),
    "builtin": RowSettings(
        style="known",
        theta=0.3,
        low=0.0,
        paragraphs=4,
        words=("possibly",),
        against=1.0,
        plain=0.3,
        plain_pairs=0.3,
        plain_from=0.5,
        xi=0.35,
        cut="all",
        variants=3,
    ),
}


def check_choice(setting: str, name: str, allowed: Any) -> None:
    """Refuse a name that a setting does not take, or no longer. Raises InputError."""
    if name in DROPPED:
        raise InputError(f"{setting} {name!r} no longer exists: use {DROPPED[name]}")
    if setting == "recipe" and name in get_args(Style):
        raise InputError(f"recipe {name!r} is a style of rows: sayso train RUN --style {name}")
    if name not in get_args(allowed):
        raise InputError(f"{setting} {name!r}: expected one of {', '.join(get_args(allowed))}")


def preset_for(name: str, model: object) -> Preset:
    """Return a preset; "auto" is ``builtin`` for the built-in model and ``paper`` for others."""
    if name == "auto":
        name = "builtin" if model == "builtin" else "paper"
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is unknown: expected auto, {', '.join(PRESETS)}")
    return PRESETS[name]


def stages_of(last: str) -> tuple[str, ...]:
    """Return the stages of a training up to ``last``. Raises InputError."""
    if last not in ("sft", "dpo"):
        raise InputError(f"stages {last!r}: expected sft, or dpo (which comes after SFT)")
    return ("sft",) if last == "sft" else ("sft", "dpo")


# ---- the flags


def defaults(name: str, none: str = "") -> str:
    """Return a setting's default in each preset: "(10)", or "(paper: 5e-05; builtin: 0.002)".

    ``none`` stands for ``None``; settings of a stage are dotted.
    """
    of_rows = name in ROW_NAMES
    shown = {
        key: _shown(attrgetter(name)(ROWS[key] if of_rows else preset), none)
        for key, preset in PRESETS.items()
    }
    if len(set(shown.values())) == 1:
        return f"({next(iter(shown.values()))})"
    return f"({'; '.join(f'{key}: {value}' for key, value in shown.items())})"


def _shown(value: object, none: str = "") -> str:
    if value is None:
        return none
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


ROW_NAMES = tuple(field.name for field in dataclasses.fields(RowSettings))


def of_preset(setting: str, help: str, *, none: str = "", **about: Any) -> Any:
    """Declare a field that a preset decides unless it is given; ``about`` as in :func:`option`."""
    return option(None, f"{help} {defaults(setting, none)}", **about)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """The flags of ``sayso train`` that decide a training; ``None``: the preset's own.

    ``extra`` holds settings that have no flag, by their names in ``training.json``
    ("training.sft.batch"). Every setting of the rows has one.
    """

    recipe: str = option(
        "mix",
        "training data: short (short questions), long (paragraphs), mix (both, see --xi), "
        "calibrated (wording as confident as the model is)",
        main=True,
    )
    preset: Literal["auto", "paper", "builtin"] = option(
        "auto",
        "hyperparameters: paper (UNCLE's Table 6), builtin (the built-in model), or auto",
        main=True,
    )
    seeds: Annotated[int, msgspec.Meta(ge=1, le=100)] = option(
        1, "number of training seeds, each with its own examples and order", main=True
    )
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**31)] = option(0, "the first seed", main=True)
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = option(
        None, "number of entities to measure; default: as in the run", main=True
    )
    train_limit: Annotated[int, msgspec.Meta(ge=1)] | None = option(
        None, "largest number of entities to train on; default: all others", main=True
    )
    stages: Literal["sft", "dpo"] = option(
        "dpo", "last training stage: sft, or dpo, which comes after it", main=True
    )
    train_data: tuple[str, ...] = option(
        (),
        "train on this data set instead, named as for --data of sayso run (triviaqa, "
        "topics:people.txt); repeatable",
        main=True,
    )
    methods: str | None = option(
        None,
        "prompting methods to compare with, such as unc_few,pair_few,self_refine; default: as in "
        "the run",
        main=True,
    )
    resamples: Annotated[int, msgspec.Meta(ge=100, le=1000000)] = option(
        2000, "bootstrap resamples of seeds and entities"
    )

    equal_rows: bool = option(
        False, "in each stage, take as many rows as recipes short, long and mix can all have"
    )
    theta: float | None = of_preset(
        "theta", "share of right samples at or above which a fact is known", main=True
    )
    low: float | None = of_preset(
        "low",
        "share of right samples at or below which a fact is unknown; facts in between are left out",
        none="all below theta",
    )
    xi: float | None = of_preset("xi", "share of paragraphs in a mix", main=True)
    k: int | None = of_preset("k", "number of samples per short question")
    style: str | None = of_preset(
        "style",
        "paper: UNCLE's examples (Idk, and pairs); known: a hedging word before the value, "
        "in both forms",
        main=True,
    )
    paragraphs: int | None = of_preset(
        "paragraphs", "number of sampled paragraphs, in addition to the one at T=0", main=True
    )
    plain: float | None = of_preset(
        "plain", "number of the model's own plain answers to add, as a share of sft_rows"
    )
    plain_from: float | None = of_preset(
        "plain_from",
        "with --recipe calibrated: share of agreeing samples at or above which an answer is "
        "worded without a hedge",
    )
    against: float | None = of_preset(
        "against",
        "with --style known or --recipe calibrated, for DPO: for each pair that prefers a "
        "hedge, the number of pairs that prefer a plain answer; a larger number means less "
        "hedging",
        none="all there are",
    )
    veracity: Veracity | None = of_preset(
        "veracity",
        "with --style paper, the method that finds wrong facts in a paragraph: gold (the "
        "judge's verdict), evidence (claims checked against passages) or consistency "
        "(agreement with the short samples)",
        main=True,
    )

    pairs: str | None = of_preset(
        "pairs",
        "with --style paper, the pairs of paragraphs: uncle (one for each prompt, with every "
        "wrong or every right fact hedged) or logu (LoGU's code: three kinds, some facts)",
        old="rows.pairs",
    )
    cut: Literal["all", "cutoff2"] | None = of_preset(
        "cut",
        "with pairs=logu, the wrong facts that a chosen paragraph hedges: all, or cutoff2 "
        "(LoGU's sample; the other wrong facts are left out)",
        old="rows.cut",
    )
    variants: int | None = of_preset(
        "variants", "with pairs=logu, the largest number of versions of one", old="rows.variants"
    )
    each: int | None = of_preset("each", "number of examples of a short question", old="rows.each")
    words: tuple[str, ...] | None = of_preset(
        "words",
        "with --style known or --recipe calibrated, the hedging words, such as possibly; "
        "repeatable",
        old="rows.words",
    )
    plain_pairs: float | None = of_preset(
        "plain_pairs",
        "number of the model's own plain answers to add to the DPO pairs, as a share of the "
        "pairs that prefer a hedge",
        old="rows.plain_pairs",
    )

    knowledge: str | None = option(
        None,
        "with --veracity evidence: passages for checking claims, as for sayso index; default: the "
        "built-in world or the data's gold answers",
        main=True,
    )
    rows_by: str | None = option(
        None,
        "model that writes training examples from paragraphs (hf:…, openai:… or a URL); default: "
        "rules",
        main=True,
    )
    prompt_folder: str | None = option(
        None, "folder with your own prompts for --rows-by", main=True
    )

    sft_rows: int | None = of_preset(
        "sft.rows", "largest number of SFT examples, not counting plain ones"
    )
    dpo_rows: int | None = of_preset(
        "dpo.rows", "largest number of DPO pairs, not counting plain ones"
    )
    sft_epochs: float | None = of_preset("sft.epochs", "number of SFT epochs")
    dpo_epochs: float | None = of_preset("dpo.epochs", "number of DPO epochs")
    sft_rate: float | None = of_preset("sft.rate", "learning rate of SFT")
    dpo_rate: float | None = of_preset("dpo.rate", "learning rate of DPO")
    targets: str | None = of_preset("targets", "linear modules that receive adapters")
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def rows_of(self) -> str:
        """The recipe whose rows are made: a mix where others must have as many."""
        return "mix" if self.equal_rows else self.recipe

    def given(self) -> dict[str, Any]:
        """Return what was given of rows and training, by names such as "theta" and "sft.rows"."""
        given = {name.partition(".")[2]: value for name, value in self.extra.items()}
        for field in dataclasses.fields(self):
            stage, _, rest = field.name.partition("_")
            name = f"{stage}.{rest}" if rest and stage in ("sft", "dpo") else field.name
            value = getattr(self, field.name)
            if value is not None and (name in ROW_NAMES or "." in name or name == "targets"):
                given[name] = value
        if isinstance(targets := given.get("targets"), str):
            given["targets"] = tuple(t.strip() for t in targets.split(",") if t.strip())
        return given

    def check(self) -> None:
        """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
        check_values(self)
        check_choice("recipe", self.recipe, Recipe)
        for name, allowed in (("style", Style), ("pairs", Pairs)):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), allowed)
        stages_of(self.stages)
        if self.rows_by:
            check_model_name(self.rows_by)

    def resolved(self, model: object) -> tuple[Preset, RowSettings]:
        """Return the preset and the settings of rows for a model. Raises InputError.

        What is given and would be left unread is refused.
        """
        preset = preset_for(self.preset, model)
        given = self.given()
        unknown = [name for name in self.extra if not name.startswith("training.")]
        if unknown:
            raise InputError(f"{unknown[0]!r} is not a setting without a flag: expected training.…")
        rows = dataclasses.replace(
            ROWS[preset.name], **{name: v for name, v in given.items() if name in ROW_NAMES}
        )
        rows.check(self.rows_of)
        check_is_used(self.rows_of, self.stages, rows, given)
        self._check_sources(rows)
        for name, value in given.items():
            if name not in ROW_NAMES:
                preset = _changed(preset, name, value)
        preset.check()
        return preset, rows

    def _check_sources(self, rows: RowSettings) -> None:
        """Refuse what is said of rows that come from elsewhere and would stay unread."""
        paragraphs = rows.style == "paper" and self.rows_of not in ("short", "calibrated")
        if self.rows_by and not paragraphs:
            why = "a model makes rows of paragraphs of style paper (--recipe mix or long)"
            raise _unread("rows_by", self.rows_by, why)
        if self.equal_rows and self.recipe == "calibrated":
            raise InputError("equal_rows is of recipes short, long and mix: leave it out")
        if self.knowledge and rows.veracity != "evidence":
            raise _unread("knowledge", self.knowledge, "--veracity evidence reads it")
        if self.prompt_folder and not self.rows_by:
            raise _unread("prompt_folder", self.prompt_folder, "--rows-by MODEL reads it")
        if self.rows_by and rows.veracity == "consistency" and not rows.paragraphs:
            raise InputError(
                "veracity consistency: a model compares each paragraph with others to the same "
                "prompt; set how many are drawn with --paragraphs (10 in UNCLE's code)"
            )

    @property
    def sources(self) -> dict[str, object]:
        """Where rows come from, by name, as far as it was said."""
        named: dict[str, object] = {
            "train_data": list(self.train_data), "rows_by": self.rows_by,
            "knowledge": self.knowledge, "prompt_folder": self.prompt_folder,
            "equal_rows": self.equal_rows,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value}


def _changed(preset: Preset, name: str, value: object) -> Preset:
    """Return a preset with one setting changed; nested ones are dotted."""
    part, dot, last = name.partition(".")
    own: Any
    try:
        own = dataclasses.replace(getattr(preset, part), **{last: value}) if dot else value
        return dataclasses.replace(preset, **{part: own})
    except (AttributeError, TypeError):
        raise InputError(f"{name!r} is not a setting of a training") from None


# ---- settings that were given and would change nothing are refused, not left unread


def check_is_used(recipe: str, stages: str, rows: RowSettings, given: Mapping[str, Any]) -> None:
    """Refuse a given setting that nothing reads; a preset's may stay unread. Raises InputError."""
    for name, value in given.items():
        why = _why_unread(name, value, recipe, stages, rows)
        if why:
            raise _unread(name, value, why)


def check_exported(config: TrainConfig) -> None:
    """Refuse what ``--export`` leaves unread: it measures nothing. InputError."""
    if config.methods:
        raise _unread("methods", config.methods, "--export writes rows and measures nothing")


def _unread(name: str, value: object, why: str) -> InputError:
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
    field = name.replace(".", "_")  # sft.rows
    return InputError(f"{field}={shown} would change nothing: {why}; leave it out")


def _why_unread(
    name: str, value: object, recipe: str, stages: str, rows: RowSettings
) -> str | None:
    """Return why nothing reads a setting; ``None`` if something does."""
    if name in ("against", "dpo.rows", "dpo.epochs", "dpo.rate") and stages == "sft":
        return "--stages sft ends before DPO"
    if name == "against" and rows.style != "known" and recipe != "calibrated":
        return f"style {rows.style} does not read it (--style known does)"
    if name == "xi" and recipe != "mix":
        return f"--recipe {recipe} has no mix of forms (--recipe mix has)"
    if name in ("pairs", "cut", "variants"):
        if recipe in ("short", "calibrated") or rows.style != "paper":
            return "it is of paragraphs of style paper (--style paper, with --recipe mix or long)"
        if name != "pairs" and rows.pairs != "logu":
            return "one pair is made of each prompt (--set pairs=logu makes more)"
    if name == "words" and rows.style != "known" and recipe != "calibrated":
        return f"style {rows.style} does not read it (--style known does)"
    if name == "plain_from" and recipe != "calibrated":
        return f"--recipe {recipe} does not read it (--recipe calibrated does)"
    if name in ("theta", "low"):
        if recipe == "calibrated":
            return f"--recipe {recipe} grades by agreement of the draws (see plain_from)"
        if recipe == "long" and rows.style == "paper":
            return "paragraphs of style paper are labeled fact by fact (see --veracity)"
    if name == "paragraphs" and value and recipe == "short":
        return "rows of short questions need no paragraph"
    return None
