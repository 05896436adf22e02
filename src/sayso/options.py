"""Options as values: how a model is opened, what may be spent, who judges, which questions.

Each kind of option is one frozen dataclass, and so are the settings of a protocol and the flags of
a command. Flags, ``--set NAME=VALUE``, keys of YAML files, keywords of Python and fields of a job
are its fields: a new option is one field and its use. The type of a field has its limits
(``msgspec.Meta``); :func:`option` declares its help, whether it is a flag of its own (``main``),
and ``use``, the models that it is for. :func:`read_value` reads a value, wherever it comes from.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta

from sayso.records import InputError, suggestion

Use = Literal["", "answering", "here", "endpoint", "judge"]
Value = str | int | float | bool | None
#: what log-probabilities in a file are
LogprobKind = Literal["natural", "base2", "base10", "logits", "none"]
#: a setting of a chat template
Scalar = str | int | float | bool


def option(
    default: Any,
    help: str,
    use: Use = "",
    *,
    main: bool = False,
    many: bool = False,
    flag: str = "",
    old: str = "",
    stage: str = "",
    off: bool = False,
    shrinks: bool = False,
    adds: bool = False,
) -> Any:
    """Declare a field of options.

    ``use`` says whom it is for: a model in this process, "here"; if only the one that answers is
    meant, "answering"; an "endpoint"; a model that is a "judge". A ``main`` one has a flag, named
    like the field or ``flag``, which takes ``many`` values at once; ``old`` is a name that it had.
    ``stage`` is "measure" for what only changes how stored answers are counted. One that is ``off``
    asks nothing unless it is changed; one that ``shrinks`` can be lowered where answers are stored.
    What is typed takes the place of what a file says; to a list that ``adds`` it is added.
    """
    about = {
        "help": help, "use": use, "main": main, "many": many, "flag": flag, "old": old,
        "stage": stage, "off": off, "shrinks": shrinks, "adds": adds,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=about)


def flag(default: Any, help: str, use: Use = "", **about: Any) -> Any:
    """Declare a field that is a flag of its own; ``about`` as in :func:`option`."""
    return option(default, help, use, main=True, **about)


def like(kind: Any, name: str, **about: Any) -> Any:
    """Declare a field that is one of another struct; ``about`` says what differs."""
    field = kind.__dataclass_fields__[name]
    default = about.pop("default", field.default)
    return dataclasses.field(default=default, metadata={**field.metadata, **about})


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How a model is opened; ``None`` stands for what suits the model."""

    device: str | None = flag(
        None,
        "device for models: auto (the best available), cpu, cuda, cuda:1 or mps",
        "here",
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
        None,
        "give up on a request after this many seconds; default: 600, and 60 where nothing listens",
        "endpoint",
    )
    model_version: str | None = option(
        None,
        "your name for the version that the endpoint serves; changing it repeats every request",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskingOptions:
    """How every question is asked."""

    thinking: str = flag(
        "",
        "reasoning: on, off, an effort (low, medium, high), or a token budget in addition to the "
        "answer's limit; default: the model's own setting",
    )
    chat_template_kwargs: str | Mapping[str, Scalar] | None = option(
        None,
        'arguments of the chat template as JSON, such as {"enable_thinking": false}',
    )
    #: where people type it, a file; from Python, a text is the prompt itself
    system: Path | str = flag(
        "",
        "text file with the system prompt that the model gets before every question, such as your "
        "bot's; the judge does not get it",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpendingOptions:
    """What may be spent on endpoints, in dollars."""

    max_cost: Annotated[float, Meta(ge=1e-9, le=1e9)] | None = flag(
        None,
        "stop after this many dollars for answers and verdicts; everything paid for is kept, and "
        "the same command resumes",
        "endpoint",
    )
    price: str | None = flag(
        None,
        "dollars per million prompt and answer tokens (0.15,0.60); default: what the package "
        "genai-prices says",
        "endpoint",
    )
    batch_files: bool = option(
        False,
        "send requests in batch files at half the price; answers may take a day; run the same "
        "command again to collect them",
        "endpoint",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CacheOptions:
    """Which answers of earlier runs are used."""

    cache: Path | None = option(
        None, "folder of stored replies; default: SAYSO_CACHE, or your cache folder"
    )
    fresh: bool = flag(
        False,
        "ask the model everything again instead of using cached answers of earlier runs; they stay "
        "in the cache, and cached verdicts are still used",
    )
    stale_ok: bool = option(
        False,
        "use cached answers even if the model behind the endpoint has changed",
        "endpoint",
    )


Batch = Literal["item", "entity", "aspect"]
Mode = Literal["one_pass", "two_pass"]
Labels = Literal["stance", "uncle", "grades"]
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
        "stance",
        "separate stance and content, UNCLE's three labels, or the four grades of AA-Omniscience",
        "judge",
    )
    judge_prompt: PromptSet = option(
        "full",
        "full: rules and examples, several questions a call; brief: for small models, one decision "
        "a call, a reply of one word",
        "judge",
    )
    judge_price: str | None = option(None, "like price, but for the judge", "judge")
    judge_device: str | None = option(
        None, "like device, but for the judge; default: that of device", "judge"
    )
    judge_dtype: str | None = option(
        None,
        "like dtype, but for a judge in this process; changing it repeats every verdict",
        "judge",
    )
    judge_batch_size: Annotated[int, Meta(ge=1, le=100_000)] | None = option(
        None, "like batch_size, but for a judge in this process", "judge"
    )
    judge_anyway: bool = option(
        False, "continue even if the judge's first ten replies were all unreadable", "judge"
    )
    jobs: Annotated[int, Meta(ge=1, le=1024)] | None = option(
        None,
        "number of processes for --judge rules; default: all cores; it does not change the result",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Which questions of a data set are asked, and in what order they are drawn."""

    limit: int | None = flag(
        None,
        "number of entities to ask about, spread evenly over domains and tiers; 0: all; default: "
        "all, or 200 in the invented world. The same share of the pairs of an unanswerable and an "
        "answerable question is added",
    )
    seed: Annotated[int, Meta(ge=0, le=2**63)] = flag(
        0, "seed for choosing entities and for sampling"
    )
    split: str = option(
        "test", "split of the data set: test, dev or train; or all, for the built-in world"
    )
    domains: tuple[str, ...] = option((), "only these domains", old="domain")
    tiers: tuple[str, ...] = option(
        (),
        "only these tiers, such as 1 (in world, the best-known entities)",
        old="tier",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Where models compute, besides this process."""

    engine: str = option(
        "", "ray: run models in Ray actors, on this machine or a cluster (docs/scaling.md)"
    )
    ray_address: str = option(
        "",
        "address of the cluster's head node, HOST:6379; default: RAY_ADDRESS, else this machine",
    )
    ray_actors: Annotated[int, Meta(ge=1, le=100_000)] | None = option(
        None, "number of copies of the model; default: one per GPU, else one per machine"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class GradingOptions:
    """How a file of answers is read, and what says which of them are right."""

    columns: str | Mapping[str, str] = flag("", "your column names: answer=response,gold=reference")
    golds: Path | None = flag(
        None,
        "a file with the columns custom_id (or id) and gold, joined on the id; needed for batch "
        "output",
    )
    nli: str | None = flag(
        None,
        "what compares meanings: rules (offline), the folder or hub id of an NLI model, or "
        "llm:MODEL; default: microsoft/deberta-large-mnli if its weights are on this machine, else"
        " rules",
    )
    gold_metric: str = flag(
        "rules",
        "what grades answers without a human verdict: rules, exact_match, contains, rouge_l, "
        "squad_f1, squad_em, bert_score, llm:MODEL, llm_blind:MODEL (does not see the question), "
        "or file:NAME for a column of verdicts (1 or 0, true or false) or a log's own metric",
    )


#: every kind of options of a run
OPTIONS = (
    *(ModelOptions, AskingOptions, SpendingOptions, CacheOptions, JudgingOptions, QuestionOptions),
    RayOptions,
)


# ---- what holds for every struct: options of a run, settings of a protocol, flags of a command


Options = TypeVar("Options")
Function = TypeVar("Function", bound=Callable[..., Any])


class OptionField(NamedTuple):
    """A field by its dotted name, with its type, its value, and what :func:`option` declares."""

    name: str
    hint: Any
    value: Any
    about: Mapping[str, Any]

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return _kinds(self.hint)[0] is tuple

    @property
    def flag(self) -> str:
        """What a person types for it in a command that takes it: a flag, or ``--set name``."""
        own = self.about["flag"] or f"--{self.name.replace('_', '-')}"
        return own.split()[0] if self.about["main"] else f"--set {self.name}"


def as_typed(name: str, value: str) -> str:
    """Return what people type to give an option of a run a value: ``--set judge_price=1,2``."""
    (field,) = (field for kind in OPTIONS for field in fields_of(kind) if field.name == name)
    return f"{field.flag}{' ' if field.about['main'] else '='}{value}"


_hints = functools.cache(functools.partial(get_type_hints, include_extras=True))


def fields_of(options: Any, prefix: str = "") -> Iterator[OptionField]:
    """Yield the fields of a struct, or of a kind of structs, nested ones included."""
    kind = options if isinstance(options, type) else type(options)
    values = kind() if options is kind else options
    for field in dataclasses.fields(kind):
        name, value = f"{prefix}{field.name}", getattr(values, field.name)
        if dataclasses.is_dataclass(value):
            yield from fields_of(value, f"{name}.")
        else:
            yield OptionField(name, _hints(kind)[field.name], value, field.metadata)


def option_names(*kinds: type, use: Use | None = None) -> tuple[str, ...]:
    """Return the names of the fields of kinds of options; with ``use`` those that are for it."""
    fields = (field for kind in kinds for field in dataclasses.fields(kind))
    return tuple(field.name for field in fields if use in (None, field.metadata.get("use")))


def part(kind: type[Options], of: Any) -> Options:
    """Return the options of one kind that a job, or the flags of a command, have."""
    return kind(**{name: getattr(of, name) for name in option_names(kind) if hasattr(of, name)})


def as_dict(settings: Any) -> dict[str, Value]:
    """Return the flat dotted form that a manifest stores."""
    return {field.name: field.value for field in fields_of(settings)}


def given(of: Any) -> dict[str, Any]:
    """Return the options of a dataclass that differ from their defaults, by name."""
    plain = as_dict(type(of))
    return {name: value for name, value in as_dict(of).items() if value != plain[name]}


def for_others(opening: ModelOptions) -> ModelOptions:
    """Return how models besides the one that answers are opened: without what is for it alone."""
    kept = option_names(ModelOptions, use="here") + option_names(ModelOptions, use="endpoint")
    return ModelOptions(**{name: getattr(opening, name) for name in kept})


def with_keywords(names: Iterable[str]) -> Callable[[Function], Function]:
    """Return a decorator by which ``help`` lists the options that a function takes by keyword."""
    fields = {field.name: field for kind in OPTIONS for field in fields_of(kind)}
    more = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=fields[name].value,
            annotation=fields[name].hint,
        )
        for name in names
    ]  # fmt: skip

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        whole = own.replace(parameters=[*named, *more])
        function.__signature__ = whole  # type: ignore[attr-defined]
        return function

    return shown


def check_keywords(function: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse keywords that a function does not have. Raises TypeError, as Python itself does."""
    for name in given:
        if name not in names:
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}; "
                f"{suggestion(name, names)}".rstrip("; ")
            )


# ---- reading a value, wherever it comes from


#: what a value of a type is called
WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
#: words for truth values
TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def _kinds(hint: Any) -> list[Any]:
    """Return the types of a field's values, of which the first is the one to expect."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    plain = [get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds]
    return [tuple if get_origin(kind) is tuple else kind for kind in plain]


def read_value(name: str, hint: Any, value: Any, *, typed: bool = False) -> Any:
    """Return a value as a field of this type has it. Raises InputError for any other.

    Where people ``typed`` it, on the command line or in a YAML file, a text may stand for a number
    or a truth value, and a number for a text.
    """
    kinds = _kinds(hint)
    kind = str if str in kinds and isinstance(value, str) and not typed else kinds[0]
    limits = _limits(hint)
    if value is None and NoneType in kinds:
        return None
    if isinstance(value, Mapping) and Mapping in [get_origin(one) for one in kinds]:
        return value
    if kind is tuple:
        (each, *_) = get_args(next(k for k in (hint, *get_args(hint)) if get_origin(k) is tuple))
        if typed or isinstance(value, str | PathLike):
            value = value if isinstance(value, list | tuple) else [value]
        if not isinstance(value, list | tuple):
            raise InputError(f"{name} is {value!r:.80}; expected a list of names")
        return tuple(read_value(name, each, one, typed=typed) for one in value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            choices = ", ".join(map(str, get_args(kind)))
            raise InputError(f"{name} is {value!r:.80}; expected one of {choices}")
        return value
    try:
        found = _scalar(kind, value, typed)
    except (KeyError, TypeError, ValueError, OverflowError):
        expected = WORDS.get(kind, "a path")
        raise InputError(f"{name} is {value!r:.80}; expected {expected}") from None
    if limits is not None:
        low, high = limits.ge, limits.le
        if not ((low is None or found >= low) and (high is None or found <= high)):
            expected = f"at least {low}" if high is None else f"{low} to {high:.12g}"
            shown = f"{found:g}" if isinstance(found, float) else found
            raise InputError(f"{name} is {shown}; expected {expected}")
    return found


def _scalar(kind: Any, value: Any, typed: bool) -> Any:
    """Return a value of a type that holds one. Raises ValueError and the like for another type."""
    if typed and isinstance(value, str) and kind in (int, float, bool):
        text = value.strip()
        if kind is bool:
            return TRUTHS[text.lower()]
        if kind is int:
            return int(text.removesuffix(".0"))
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if kind is Path:
        return Path(value)
    if kind is str and isinstance(value, PathLike):
        return os.fspath(value)
    if isinstance(value, bool) is (kind is bool):
        if kind is str and typed and isinstance(value, int | float):
            return str(value)
        if kind is float and isinstance(value, int):
            return float(value)
        if kind is int and typed and isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, kind):
            return value
    raise ValueError


def _limits(hint: Any) -> Meta | None:
    """Return the limits of a field, or those of an optional field's values."""
    for inner in (hint, *get_args(hint)):
        for limits in getattr(inner, "__metadata__", ()):
            if isinstance(limits, Meta):
                return limits
    return None


def check_values(options: Any) -> None:
    """Refuse values that the types of their fields do not allow. Raises InputError."""
    for field in fields_of(options):
        read_value(field.name, field.hint, field.value)


def change(settings: Any, changes: Mapping[str, object], *, typed: bool = False) -> Any:
    """Return settings with some changed by name, as the command line, YAML and Python have them.

    Names are dotted, ``{"probe.k": 3}``, or in groups, ``{"probe": {"k": 3}}``; hyphens stand for
    underscores. Raises InputError for an unknown name, with those that may be meant, for a name
    that is given twice, and for a value that the field does not have; see :func:`read_value`.
    """
    known = as_dict(settings)
    return replace(settings, spelled_out(changes, known), typed=typed)


def spelled_out(changes: Mapping[str, object], known: Iterable[str]) -> dict[str, Any]:
    """Return the dotted names and the values of changes that may stand in groups.

    Raises InputError for a name that is not known, and for one that is given twice.
    """
    names, flat = list(known), dict[str, Any]()
    for name, value in _flattened(changes, names, ""):
        if name not in names:
            meant = _meant(name, names)
            told = f"did you mean {meant}?" if meant else f"known: {', '.join(names)}"
            raise InputError(f"setting {name!r:.80} is unknown; {told}")
        if name in flat:
            raise InputError(f"setting {name} is given twice; leave one out")
        flat[name] = value
    return flat


def _flattened(
    changes: Mapping[str, object], known: Sequence[str], prefix: str
) -> Iterator[tuple[str, object]]:
    """Yield (dotted name, value) of changes that may stand in groups."""
    for key, value in changes.items():
        if not isinstance(key, str):
            raise InputError(f"setting {key!r}: expected a name, such as {known[0]!r}")
        name = f"{prefix}{key.replace('-', '_')}"
        if isinstance(value, Mapping) and name not in known:
            yield from _flattened(value, known, f"{name}.")
        else:
            yield name, value


def _meant(name: str, known: Sequence[str]) -> str:
    """Return the names that an unknown one may stand for, as the end of a question; or nothing."""
    last = name.rpartition(".")[2]
    meant = [n for n in known if n.startswith(f"{name}.") or n.rpartition(".")[2] == last]
    meant = meant or get_close_matches(name, known, n=1)
    return " or ".join(filter(None, (", ".join(meant[:-1]), *meant[-1:])))


def replace(settings: Any, changes: Mapping[str, Any], *, typed: bool = False) -> Any:
    """Return settings with dotted fields changed, e.g. ``{"probe.k": 3}``.

    Raises KeyError for a name that is no field, InputError for a value that it does not have.
    """
    fields = {field.name: field for field in fields_of(settings)}
    flat = {
        name: read_value(name, fields[name].hint, value, typed=typed)
        for name, value in changes.items()
    }
    return _rebuilt(settings, flat, "")


def _rebuilt(settings: Any, flat: Mapping[str, Any], prefix: str) -> Any:
    new: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        name, old = f"{prefix}{field.name}", getattr(settings, field.name)
        if dataclasses.is_dataclass(old):
            new[field.name] = _rebuilt(old, flat, f"{name}.")
        elif name in flat:
            new[field.name] = flat[name]
    return dataclasses.replace(settings, **new)
