"""Options as values: how a model is opened, what may be spent, who judges, which questions.

Each kind of option is one frozen dataclass. Flags, keys of a study, keywords of ``sayso.run`` and
fields of a job are its fields: a new option is one field here, its keyword in the ``TypedDict``
below it, and its use. The type of a field has its limits (``msgspec.Meta``); its metadata have its
help and ``use``, the models that it is for.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Meta

from sayso.records import InputError, suggestion

Use = Literal["", "answering", "here", "endpoint", "judge", "ray", "rare"]
#: what log-probabilities in a file are
LogprobKind = Literal["natural", "base2", "base10", "logits", "none"]
#: a setting of a chat template
Scalar = str | int | float | bool


def option(default: Any, help: str, use: Use = "") -> Any:
    """Declare a field of options.

    ``use`` says whom it is for: a model in this process, "here"; if only the one that answers is
    meant, "answering"; an "endpoint"; a model that is a "judge"; "ray", many processes. "rare"
    options are for all, but few need them.
    """
    return dataclasses.field(default=default, metadata={"help": help, "use": use})


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How a model is opened; ``None`` stands for what suits the model."""

    device: str | None = option(
        None, "device for models: auto (the best available), cpu, cuda, cuda:1 or mps", "here"
    )
    dtype: str | None = option(
        None,
        "number format of the model: auto (float32 on a CPU, else as stored), float64, float32, "
        "bfloat16 or float16; changing it repeats every request",
        "answering",
    )
    batch_size: Annotated[int, Meta(ge=1, le=100_000)] | None = option(
        None,
        "largest batch of answers; default: depends on the model and the machine's memory",
        "answering",
    )
    revision: str | None = option(
        None, "branch, tag or commit of a hub model; default: the latest", "answering"
    )
    end_loops: bool | None = option(
        None,
        "end an answer when it only repeats itself (at least three times and over at least 24 "
        "tokens), and drop the repeats; changing this repeats every request; default: only for "
        "smollm2",
        "answering",
    )
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] | None = option(
        None, "largest number of requests in flight; default: 256", "endpoint"
    )
    timeout: Annotated[float, Meta(ge=0.001, le=86_400)] | None = option(
        None, "seconds to wait for one answer; default: 600", "endpoint"
    )
    patience: Annotated[float, Meta(ge=0.001, le=86_400)] | None = option(
        None, "give up on a request after this many seconds; default: 600", "endpoint"
    )
    model_version: str | None = option(
        None,
        "your name for the version that the endpoint serves; changing it repeats every request",
        "rare",
    )


class ModelKeywords(TypedDict, total=False):
    """Keywords for :class:`ModelOptions`."""

    device: str | None
    dtype: str | None
    batch_size: int | None
    revision: str | None
    end_loops: bool | None
    concurrency: int | None
    timeout: float | None
    patience: float | None
    model_version: str | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskingOptions:
    """How every question is asked."""

    thinking: str = option(
        "",
        "reasoning: on, off, an effort (low, medium, high), or a token budget in addition to the "
        "answer's limit; default: the model's own setting",
    )
    chat_template_kwargs: str | Mapping[str, Scalar] | None = option(
        None,
        'arguments of the chat template as JSON, such as {"enable_thinking": false}',
        "rare",
    )
    #: a file for the command line; from Python, a text is the prompt itself
    system: Path | str = option(
        "",
        "text file with the system prompt that the model gets before every question, such as your "
        "bot's; the judge does not get it",
    )


class AskingKeywords(TypedDict, total=False):
    """Keywords for :class:`AskingOptions`."""

    thinking: str | int
    chat_template_kwargs: str | Mapping[str, Scalar] | None
    system: str | PathLike[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpendingOptions:
    """What may be spent on endpoints, in dollars."""

    max_cost: Annotated[float, Meta(ge=1e-9, le=1e9)] | None = option(
        None,
        "stop after this many dollars for answers and verdicts; everything paid for is kept, and "
        "the same command resumes",
        "endpoint",
    )
    price: str | None = option(
        None,
        "dollars per million prompt and answer tokens (0.15,0.60); default: sayso's price table",
        "endpoint",
    )
    batch_files: bool = option(
        False,
        "send requests in batch files at half the price; answers may take a day; run the same "
        "command again to collect them",
        "endpoint",
    )


class SpendingKeywords(TypedDict, total=False):
    """Keywords for :class:`SpendingOptions`."""

    max_cost: float | None
    price: str | None
    batch_files: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class CacheOptions:
    """Which answers of earlier runs are used."""

    cache: str | Path | None = option(
        None, "folder of stored replies; default: SAYSO_CACHE, or your cache folder", "rare"
    )
    fresh: bool = option(
        False,
        "ask the model everything again instead of using cached answers of earlier runs; they stay "
        "in the cache, and cached verdicts are still used",
    )
    stale_ok: bool = option(
        False,
        "use cached answers even if the model behind the endpoint has changed",
        "endpoint",
    )


class CacheKeywords(TypedDict, total=False):
    """Keywords for :class:`CacheOptions`."""

    cache: str | PathLike[str] | None
    fresh: bool
    stale_ok: bool


Batch = Literal["item", "entity", "aspect"]
Mode = Literal["one_pass", "two_pass"]
Labels = Literal["stance", "uncle"]
PromptSet = Literal["full", "brief"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """How answers are judged by a model, and by how many processes of the rules."""

    judge_batch: Batch = option(
        "item",
        "what one call covers: a paragraph, or the short answers about an entity in one sample "
        "(item) or in all samples (entity, the cheapest); or a single aspect",
        "judge",
    )
    judge_mode: Mode = option("one_pass", "read stance and content in one call, or in two", "judge")
    judge_labels: Labels = option(
        "stance", "separate stance and content, or UNCLE's three labels", "judge"
    )
    judge_prompt: PromptSet = option(
        "full",
        "full: rules and examples, several questions a call; brief: for small models, one decision "
        "a call, a reply of one word",
        "judge",
    )
    judge_price: str | None = option(None, "like --price, but for the judge", "judge")
    judge_device: str | None = option(
        None, "like --device, but for the judge; default: that of --device", "judge"
    )
    judge_dtype: str | None = option(
        None,
        "like --dtype, but for a judge in this process; changing it repeats every verdict",
        "judge",
    )
    judge_batch_size: Annotated[int, Meta(ge=1, le=100_000)] | None = option(
        None, "like --batch-size, but for a judge in this process", "judge"
    )
    judge_anyway: bool = option(
        False, "continue even if the judge's first ten replies were all unreadable", "judge"
    )
    jobs: Annotated[int, Meta(ge=1, le=1024)] | None = option(
        None,
        "number of processes for --judge rules; default: all cores; it does not change the result",
        "ray",
    )


class JudgingKeywords(TypedDict, total=False):
    """Keywords for :class:`JudgingOptions`."""

    judge_batch: Batch
    judge_mode: Mode
    judge_labels: Labels
    judge_prompt: PromptSet
    judge_price: str | None
    judge_device: str | None
    judge_dtype: str | None
    judge_batch_size: int | None
    judge_anyway: bool
    jobs: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Which questions of a data set are asked, and in what order they are drawn."""

    limit: int | None = option(
        None,
        "number of entities to ask about, spread evenly over domains and tiers; 0: all; default: "
        "all, or 200 in the invented world. The same share of the pairs of an unanswerable and an "
        "answerable question is added",
    )
    seed: Annotated[int, Meta(ge=0, le=2**63)] = option(
        0, "seed for choosing entities and for sampling", "rare"
    )
    split: str = option(
        "test", "split of the data set: test, dev or train; or all, for the built-in world", "rare"
    )
    domains: Sequence[str] = option((), "only this domain; repeatable", "rare")
    tiers: Sequence[str] = option(
        (),
        "only this tier, such as 1 (in world, the best-known entities); repeatable",
        "rare",
    )


class QuestionKeywords(TypedDict, total=False):
    """Keywords for :class:`QuestionOptions`."""

    limit: int | None
    seed: int
    split: str
    domains: str | Sequence[str]
    tiers: str | Sequence[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Where models compute, besides this process."""

    engine: str = option(
        "", "ray: run models in Ray actors, on this machine or a cluster (docs/scaling.md)", "ray"
    )
    ray_address: str = option(
        "",
        "address of the cluster's head node, HOST:6379; default: RAY_ADDRESS, else this machine",
        "ray",
    )
    ray_actors: Annotated[int, Meta(ge=1, le=100_000)] | None = option(
        None, "number of copies of the model; default: one per GPU, else one per machine", "ray"
    )


class RayKeywords(TypedDict, total=False):
    """Keywords for :class:`RayOptions`."""

    engine: str
    ray_address: str
    ray_actors: int | None


class RunKeywords(
    ModelKeywords,
    AskingKeywords,
    SpendingKeywords,
    CacheKeywords,
    JudgingKeywords,
    QuestionKeywords,
    RayKeywords,
    total=False,
):
    """Keywords of :func:`sayso.run` for all options."""


# ---- what holds for every kind of options


Options = TypeVar("Options")
Function = TypeVar("Function", bound=Callable[..., Any])


def is_options(kind: object) -> bool:
    """Tell whether something is a kind of options, as declared here."""
    return isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == __name__


def option_names(*kinds: type, use: Use | None = None) -> tuple[str, ...]:
    """Return the names of the fields of kinds of options; with ``use`` those that are for it."""
    fields = (field for kind in kinds for field in dataclasses.fields(kind))
    return tuple(field.name for field in fields if use in (None, field.metadata.get("use")))


def part(kind: type[Options], of: Any) -> Options:
    """Return the options of one kind that a job, or the flags of a command, have."""
    return kind(**{name: getattr(of, name) for name in option_names(kind)})


def with_keywords(known: type) -> Callable[[Function], Function]:
    """Return a decorator by which ``help`` lists the keywords of a function that takes them whole.

    ``known`` is their ``TypedDict``; what they are without being given is the options' default.
    """
    every = globals().values()
    fields = [f for kind in every if is_options(kind) for f in dataclasses.fields(kind)]
    defaults = {field.name: field.default for field in fields}

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hint
            )
            for name, hint in get_type_hints(known).items()
        ]
        whole = own.replace(parameters=[*named, *more])
        function.__signature__ = whole  # type: ignore[attr-defined]
        return function

    return shown


def check_keywords(function: str, given: Mapping[str, object], known: type) -> None:
    """Refuse keywords that a function does not have. Raises TypeError, as Python itself does."""
    names = known.__annotations__
    for name in given:
        if name not in names:
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}; "
                f"{suggestion(name, names)}".rstrip("; ")
            )


def for_others(opening: ModelOptions) -> ModelOptions:
    """Return how models besides the one that answers are opened: without what is for it alone."""
    kept = option_names(ModelOptions, use="here") + option_names(ModelOptions, use="endpoint")
    return ModelOptions(**{name: getattr(opening, name) for name in kept})


def given(of: Any) -> dict[str, Any]:
    """Return the options of a dataclass that differ from their defaults, by name."""
    return {
        field.name: value
        for field in dataclasses.fields(of)
        if (value := getattr(of, field.name)) != field.default
    }


#: what a value of a type is called, and the types that are taken for it
KINDS: dict[object, tuple[str, tuple[type, ...]]] = {
    str: ("a text", (str,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    Path: ("a path", (str, PathLike)),
    Sequence: ("a list of names", (Sequence,)),
}


def check_kinds(options: Any) -> None:
    """Refuse values of another type than their fields have. Raises InputError."""
    hints = get_type_hints(type(options))
    for field in dataclasses.fields(options):
        value, hint = getattr(options, field.name), hints[field.name]
        own = [get_origin(kind) or kind for kind in (get_args(hint) or (hint,))]
        optional = type(None) in own
        if (value is None and optional) or Mapping in own or get_origin(hint) is Literal:
            continue
        if bool in own:
            if not isinstance(value, bool):
                raise InputError(f"{field.name} is {value!r:.80}; expected True or False")
            continue
        main = Sequence if get_origin(hint) is Sequence else Path if Path in own else own[0]
        wanted, kinds = KINDS[main]
        if isinstance(value, bool) or not isinstance(value, kinds):
            example = ', such as "0.15,0.60"' if field.name.endswith("price") else ""
            raise InputError(f"{field.name} is {value!r:.80}; expected {wanted}{example}")
        for one in value if isinstance(value, Sequence) else ():
            if not isinstance(one, str):
                raise InputError(
                    f"{field.name}: {one!r:.80} is not a text; expected a list of names"
                )


def check_types(settings: Any, prefix: str = "", *, flags: bool = False) -> None:
    """Refuse a value that its field's type does not allow. Raises InputError.

    Limits of an optional field hold where it is given. With ``flags`` a message names a field as
    its flag is typed, "train-limit".
    """
    hints = get_type_hints(type(settings), include_extras=True)
    for field in dataclasses.fields(settings):
        name = f"{prefix}{field.name.replace('_', '-') if flags else field.name}"
        value, hint = getattr(settings, field.name), hints[field.name]
        if dataclasses.is_dataclass(value):
            check_types(value, f"{name}.", flags=flags)
        elif get_origin(hint) is Literal and value not in get_args(hint):
            raise InputError(f"{name} is {value!r}; expected one of {', '.join(get_args(hint))}")
        limits = _limits(hint)
        if limits is None or value is None:
            continue
        low = -math.inf if limits.ge is None else limits.ge
        high = math.inf if limits.le is None else limits.le
        if not low <= value <= high:
            expected = f"at least {low}" if limits.le is None else f"{low} to {high:g}"
            shown = f"{value:g}" if isinstance(value, float) else value
            raise InputError(f"{name} is {shown}; expected {expected}")


def _limits(hint: Any) -> Meta | None:
    """Return the limits of a field, or those of an optional field's values."""
    for inner in (hint, *get_args(hint)):
        for limits in getattr(inner, "__metadata__", ()):
            if isinstance(limits, Meta):
                return limits
    return None
