"""Help pages: what a panel of options looks like, which are shown only by ``--help-all``, and the
options that several commands have."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Optional, TypeVar, get_type_hints

from cyclopts import Group, Parameter
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel

from sayso.options import Scalar, Use, is_options

#: the words of the command line whose help is shown
words: ContextVar[Sequence[str]] = ContextVar("words", default=())

#: the flag that shows rare settings too
ALL = "--help-all"
#: the options that everybody meets
OPTIONS = Group("Options", sort_key=0)
LOCAL = Group("A model on this machine", sort_key=2)
ENDPOINT = Group("Endpoints and money", sort_key=3)
JUDGE = Group("A model as judge", sort_key=4)
#: the charts of a page as files
Figures = Annotated[
    str,
    Parameter(
        help="also save the charts of the page as files: svg, pdf, png or json (the Vega-Lite "
        "specification), or several (svg,pdf)"
    ),
]
FigureWidth = Annotated[
    str,
    Parameter(
        help="width of the figures: column (3.33 in), page (6.75 in, the default), or a length "
        "such as 8.4cm"
    ),
]


CONFIG = (
    "YAML file of settings, named like the long flags (limit: 20, probe: {k: 3}); command-line "
    "flags win"
)
#: placeholders of values, in plain words
VALUES = {"STR": "TEXT", "INT": "N", "FLOAT": "N"}


class Page(DefaultFormatter):
    """Prints panels of options and commands."""

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:
        """Print a panel, with ``--config`` among the options that everybody meets."""
        entries = [_as_typed(entry) for entry in panel.entries]
        if panel.title == OPTIONS.name:
            config = HelpEntry(positive_names=("--config",), metavar="FILE", description=CONFIG)
            entries.append(config)
        super().__call__(console, options, panel.copy(entries=entries))


page = Page()


def _as_typed(entry: HelpEntry) -> HelpEntry:
    """Return an entry whose default stands there as it would be typed; none for what is off."""
    default, off = entry.default, entry.negative_names
    if default in ("False", '""', "''", ""):
        default, off = None, ()  # what is off is not typed
    elif default == "True":
        default = entry.positive_names[0] if entry.positive_names else None
    kind, many = (entry.metavar or "").removesuffix("..."), (entry.metavar or "").endswith("...")
    metavar = f"{VALUES.get(kind, kind)}{'...' * many}" or None
    return entry.copy(default=default, metavar=metavar, negative_names=off)


def in_brief(console: Any, options: Any, panel: HelpPanel) -> None:
    """Print the names of a panel of rare options; the whole panel with ``--help-all``."""
    if ALL in words.get():
        page(console, options, panel)
        return
    names = ", ".join(entry.positive_names[0] for entry in panel.entries if entry.positive_names)
    console.print(f"{panel.title} ({ALL}): {names}", markup=False, highlight=False)


def help_examples(*commands: str) -> str:
    """Return the text below a help page."""
    return "\n".join(["Examples:", *(f"  {command}" for command in commands)])


def rare(title: str, sort_key: int) -> Group:
    """Return a group of options that are explained only by ``--help-all``."""
    return Group(title, sort_key=sort_key, help_formatter=in_brief)


JUDGE_MODEL = rare(JUDGE.name, sort_key=6)
MORE = rare("More", sort_key=7)
RAY = rare("Many processes and machines", sort_key=8)
Kind = TypeVar("Kind")
#: the panel of an option, by whom it is for
PANELS: dict[Use, Group] = {
    "": OPTIONS,
    "answering": LOCAL,
    "here": LOCAL,
    "endpoint": ENDPOINT,
    "judge": JUDGE_MODEL,
    "ray": RAY,
    "rare": MORE,
}
#: types of options that are typed otherwise than in Python
TYPED: dict[object, Any] = {
    str | Path | None: Path | None,
    Sequence[str]: tuple[str, ...],
    str | Mapping[str, Scalar] | None: str | None,
}


def with_flags(
    *,
    unset: bool = False,
    only: Mapping[type, Sequence[str]] = MappingProxyType({}),
    helps: Mapping[str, str] = MappingProxyType({}),
    panels: Mapping[Use, Group] = MappingProxyType({}),
) -> Callable[[type[Kind]], type[Kind]]:
    """Return a decorator of a command's flags: fields that are kinds of options become flags.

    ``only`` names the options that the command has of a kind, if not all; ``helps`` replaces the
    help of an option by name, ``panels`` the panel of a use. A flag that is not given is ``None``
    with ``unset``, else the option's default.
    """

    def decorated(flags: type[Kind]) -> type[Kind]:
        for name, hint in get_type_hints(flags, include_extras=True).items():
            if isinstance(hint, type) and is_options(hint):
                own = _flags_of(hint, only.get(hint, ()), unset, helps, {**PANELS, **panels})
                flags.__annotations__[name] = Annotated[own, Parameter(name="*")]
                setattr(flags, name, own())
        return flags

    return decorated


def _flags_of(
    kind: type,
    only: Sequence[str],
    unset: bool,
    helps: Mapping[str, str],
    panels: Mapping[Use, Group],
) -> type:
    """Return a dataclass of options, of this kind, whose fields are flags."""
    hints = get_type_hints(kind)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        hint, name = TYPED.get(hints[field.name], hints[field.name]), field.name
        many = hint == tuple[str, ...]
        parameter = Parameter(
            name=f"--{name.removesuffix('s')}" if many else None,  # one for each --domain
            group=panels[field.metadata["use"]],
            help=helps.get(name, field.metadata["help"]),
            negative="" if many or hint is bool else None,
            show_default=False if many else None,
        )
        if only and name not in only:
            parameter = Parameter(parse=False, show=False)
        typed: Any = Annotated[Optional[hint] if unset else hint, parameter]  # noqa: UP045
        default = None if unset else field.default
        fields.append((name, typed, dataclasses.field(default=default)))
    return dataclasses.make_dataclass(
        kind.__name__, fields, bases=(kind,), frozen=True, kw_only=True,
        namespace={"__doc__": "", "__module__": __name__},
    )  # fmt: skip


def of_one(title: str, name: str, names: Sequence[str], sort_key: int) -> Group:
    """Return a group that is left out where the command line names another one of ``names``."""

    def shown(console: Any, options: Any, panel: HelpPanel) -> None:
        chosen = [word for word in words.get() if word in names]
        if not chosen or name in chosen:
            page(console, options, panel)

    return Group(title, sort_key=sort_key, help_formatter=shown)
