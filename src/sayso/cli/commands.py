"""How a command takes structs: main fields are flags, ``--set`` and ``--config`` reach all fields.

A command is a function whose keyword-only parameters are structs (:mod:`sayso.options`);
:func:`with_options` gives it their flags, and help is made from the same fields.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import cyclopts
from cyclopts import Group, Parameter
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel
from rich.console import Console

from sayso.cli.printing import tell
from sayso.options import OptionField, fields_of, read_value, replace, spelled_out
from sayso.records import InputError
from sayso.storage.yaml_file import read_yaml

#: the flag that explains settings too
ALL = "--help-all"
OPTIONS = Group("Options", sort_key=0)
#: placeholders of values, in plain words
VALUES = {"STR": "TEXT", "INT": "N", "FLOAT": "N"}
CONFIG = "YAML file of flags and settings by name (limit: 20, probe: {k: 3}); the command line wins"


class Page(DefaultFormatter):
    """Prints panels of options and commands."""

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:
        """Print a panel, with defaults and values as they would be typed."""
        entries = [_as_typed(entry) for entry in panel.entries]
        super().__call__(console, options, panel.copy(entries=entries))


page = Page()


def _as_typed(entry: HelpEntry) -> HelpEntry:
    """Return an entry whose default stands there as it would be typed; none for what is off."""
    default, off = entry.default, entry.negative_names
    if default in ("False", '""', "''", "", "None", "()"):
        default, off = None, ()  # what is off is not typed
    elif default == "True":
        default = entry.positive_names[0] if entry.positive_names else None
    kind, many = (entry.metavar or "").removesuffix("..."), (entry.metavar or "").endswith("...")
    metavar = f"{VALUES.get(kind, kind)}{'...' * many}" or None
    return entry.copy(default=default, metavar=metavar, negative_names=off)


def help_examples(*commands: str) -> str:
    """Return the text below a help page."""
    return "\n".join(["Examples:", *(f"  {command}" for command in commands)])


def with_options(
    function: Callable[..., Any],
    kinds: Mapping[str, type] | None = None,
    later: Sequence[OptionField] = (),
) -> Callable[..., Any]:
    """Return a command with the flags of the structs that a function takes.

    ``kinds`` are they, by parameter, if the function's annotations do not name them. The fields
    ``later`` can be set too: the function gets them as they were typed, by name, in its parameter
    ``settings``. Help leaves those out that have none.
    """
    hints = get_type_hints(function, include_extras=True)
    structs: Mapping[str, type] = kinds or {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and dataclasses.is_dataclass(hint)
    }
    own = [field for kind in structs.values() for field in own_first(kind)]
    fields = {field.name: field for field in (*own, *later)}
    words = [
        p.replace(annotation=hints[p.name])
        for p in inspect.signature(function).parameters.values()
        if p.name not in structs and p.kind is not p.KEYWORD_ONLY
    ]
    flags = {f"{f.name.replace('.', '_')}_": f for f in fields.values() if f.about["main"]}
    shown = [_parameter(name, field) for name, field in flags.items()]
    if hidden := [field.name for field in _settings(fields)]:
        text = f"change a setting ({ALL} explains them), repeatable: {', '.join(hidden)}"
        shown.append(_extra("set", tuple[str, ...], (), text, "NAME=VALUE"))
    if flags:
        shown.append(_extra("config", str | None, None, CONFIG, "FILE"))

    def command(*given: Any, **typed: Any) -> Any:
        sets, file = typed.pop("set", ()), typed.pop("config", None)
        values = {flags[name].name: value for name, value in typed.items()}
        chosen = _chosen(fields, values, sets, file)
        own = {name: fields_of(kind) for name, kind in structs.items()}
        named = {name: {f.name for f in found} & chosen.keys() for name, found in own.items()}
        made = {
            name: replace(kind(), {n: chosen.pop(n) for n in sorted(named[name])}, typed=True)
            for name, kind in structs.items()
        }
        return function(*given, **made, **({"settings": chosen} if later else {}))

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature([*words, *shown])  # type: ignore[attr-defined]
    command.fields = fields  # type: ignore[attr-defined]
    return command


def _settings(fields: Mapping[str, OptionField]) -> list[OptionField]:
    """Return the fields that no flag sets: first those of a protocol."""
    hidden = [f for f in fields.values() if f.about["help"] and not f.about["main"]]
    return sorted(hidden, key=lambda field: not field.about["stage"])


def own_first(kind: type) -> list[OptionField]:
    """Return the fields of a struct: those that it declares itself, then those it inherits."""
    own = inspect.get_annotations(kind)
    return sorted(
        (f for f in fields_of(kind) if f.about),
        key=lambda field: field.name.partition(".")[0] not in own,
    )


def _parameter(name: str, field: OptionField) -> inspect.Parameter:
    """Return the parameter that is the flag of a field."""
    own = field.about["flag"].split() or [f"--{field.name.replace('_', '-')}"]
    kind = bool in (field.hint, *get_args(field.hint))
    in_python = any(get_origin(one) is Mapping for one in get_args(field.hint))  # a text here
    parameter = Parameter(
        name=own,
        help=field.about["help"],
        converter=partial(_read, field),
        negative="" if field.is_list or (kind and field.value is False) else None,
        consume_multiple=field.about["many"],
        show_default=bool(field.value),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=field.value,
        annotation=Annotated[str if in_python else field.hint, parameter],
    )


def _extra(name: str, hint: Any, default: Any, text: str, metavar: str) -> inspect.Parameter:
    """Return the parameter that is ``--set`` or ``--config``."""
    parameter = Parameter(
        name=f"--{name}", help=text, negative="", show_default=False, metavar=metavar
    )
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=Annotated[hint, parameter])


def _read(field: OptionField, kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Return the value that was typed for a flag. Raises InputError."""
    typed = [t.value if t.implicit_value is cyclopts.UNSET else t.implicit_value for t in tokens]
    name = field.flag if field.about["flag"] else field.name
    return read_value(name, field.hint, typed if field.is_list else typed[-1], typed=True)


def _chosen(
    fields: Mapping[str, OptionField],
    flags: Mapping[str, Any],
    sets: Sequence[str],
    file: str | None,
) -> dict[str, Any]:
    """Return what was chosen by name: in the file, over which ``--set`` and flags win.

    Raises InputError.
    """
    named, chosen = _named(fields), dict[str, Any]()
    if file is not None:
        if not file:
            raise InputError("--config: expected the name of a YAML file")
        place = f"--config {file}"
        read_in = read_yaml(Path(file), place)
        try:
            for name, value in spelled_out(read_in, named).items():
                field = named[name]
                if value is not None:
                    chosen[field.name] = read_value(field.name, field.hint, value, typed=True)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
    typed = dict(flags)
    for one in sets:
        name, equals, text = (part.strip() for part in one.partition("="))
        if not name or not equals:
            raise InputError(f"--set {one!r:.80}: expected NAME=VALUE, such as --set seed=1")
        field = named[next(iter(spelled_out({name: text}, named)))]
        values = [part.strip() for part in text.split(",")] if field.is_list else text
        if field.is_list and isinstance(typed.get(field.name), list | tuple):
            values = [*typed[field.name], *values]
        elif field.name in typed:
            raise InputError(f"{field.name} is given twice; leave one out")
        typed[field.name] = values
    added = {name for name in chosen.keys() & typed.keys() if fields[name].about["adds"]}
    return chosen | typed | {name: (*chosen[name], *typed[name]) for name in added}


def _named(fields: Mapping[str, OptionField]) -> dict[str, OptionField]:
    """Return fields by the names that they have and had, and by those of their flags."""
    others = {
        word.lstrip("-").replace("-", "_"): field
        for field in fields.values()
        for word in (*field.about["flag"].split(), field.about["old"])
    }
    return {name: field for name, field in {**others, **fields}.items() if name}


def without_old_flags(words: Sequence[str], fields: Mapping[str, OptionField]) -> list[str]:
    """Return a command line in which flags of version 0.2 are what replaces them, and say so.

    A flag that is a setting now is ``--set NAME=VALUE``, one that has another name that flag.
    """
    named, left, typed = _named(fields), list(words), list[str]()
    while left and left[0] != "--":
        word = left.pop(0)
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_") if flag.startswith("--") else ""
        field = named.get(name) or named.get(name.removeprefix("no_"))
        if field is None or (field.about["main"] and name != field.about["old"]):
            typed.append(word)
        elif field.about["main"]:
            tell(f"{flag} is now {field.flag}")
            typed.append(f"{field.flag}{equals}{value}")
        else:
            if bool in (field.hint, *get_args(field.hint)):
                value = value or ("true" if name in named else "false")
            elif not equals:
                if not left:
                    raise InputError(f"{flag}: expected a value")
                value = left.pop(0)
                while field.about["many"] and left and not left[0].startswith("-"):
                    value += f",{left.pop(0)}"
            tell(f"{flag} is now a setting: --set {field.name}={value}")
            typed += ["--set", f"{field.name}={value}"]
    return [*typed, *left]


def print_settings(fields: Mapping[str, OptionField]) -> None:
    """Print what ``--set`` and YAML files can change and no flag does."""
    entries = [
        HelpEntry(
            positive_names=(field.name,),
            description=field.about["help"],
            choices=_choices(field.hint),
            default=_shown(field.value),
        )
        for field in _settings(fields)
    ]
    if entries:
        title = "Settings: --set NAME=VALUE, or NAME: VALUE in a --config file"
        panel = HelpPanel(format="parameter", title=title, entries=entries)
        console = Console()
        page(console, console.options, panel)


def _shown(value: object) -> str | None:
    """Return a default as it would be typed."""
    if value in (None, "", ()):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choices(hint: Any) -> tuple[str, ...] | None:
    for kind in (hint, *get_args(hint)):
        if get_origin(kind) is Literal:
            return tuple(map(str, get_args(kind)))
    return None
