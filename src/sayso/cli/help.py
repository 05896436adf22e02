"""Help pages: what a panel of options looks like, which are shown only by ``--help-all``, and the
options that several commands have."""

import dataclasses
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Annotated, Any

from cyclopts import Group, Parameter
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel

#: the words of the command line whose help is shown
words: ContextVar[Sequence[str]] = ContextVar("words", default=())

#: the flag that shows rare settings too
ALL = "--help-all"
#: the options that everybody meets
OPTIONS = Group("Options", sort_key=0)
LOCAL = Group("A model on this machine", sort_key=2)
ENDPOINT = Group("Endpoints and money", sort_key=3)
JUDGE = Group("A model as judge", sort_key=4)
#: how a model in this process is opened
Device = Annotated[
    str | None,
    Parameter(
        group=LOCAL, help="device for models: auto (the best available), cpu, cuda, cuda:1 or mps"
    ),
]
Dtype = Annotated[
    str | None,
    Parameter(
        group=LOCAL,
        help="number format of the model: auto (float32 on a CPU, else as stored), float32, "
        "bfloat16 or float16; changing it repeats every request",
    ),
]
BatchSize = Annotated[
    int | None,
    Parameter(
        group=LOCAL,
        help="largest batch of answers; default: depends on the model and the machine's memory",
    ),
]
Revision = Annotated[
    str | None,
    Parameter(group=LOCAL, help="branch, tag or commit of a hub model; default: the latest"),
]
#: how an endpoint is asked
Concurrency = Annotated[
    int | None, Parameter(group=ENDPOINT, help="largest number of requests in flight; default: 256")
]
Timeout = Annotated[
    float | None, Parameter(group=ENDPOINT, help="seconds to wait for one answer; default: 600")
]
Patience = Annotated[
    float | None,
    Parameter(
        group=ENDPOINT,
        help="give up on a request after this many seconds; default: 600",
    ),
]


# Types, not texts, as annotations: each command's flags inherit these in a module of its own.
@dataclasses.dataclass(frozen=True)
class ModelFlags:
    """How a model is opened, here or at an endpoint."""

    device: Device = None
    dtype: Dtype = None
    batch_size: BatchSize = None
    revision: Revision = None
    concurrency: Concurrency = None
    timeout: Timeout = None
    patience: Patience = None


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


RAY = rare("Many processes and machines", sort_key=8)
BatchFiles = Annotated[
    bool,
    Parameter(
        group=ENDPOINT,
        negative="",
        help="send requests in batch files at half the price; answers may take a day; run the same "
        "command again to collect them",
    ),
]
#: what a run does with answers of earlier runs
Fresh = Annotated[
    bool,
    Parameter(
        negative="",
        help="ask the model everything again instead of using cached answers of earlier runs; they "
        "stay in the cache, and cached verdicts are still used",
    ),
]
StaleOk = Annotated[
    bool,
    Parameter(
        group=ENDPOINT,
        negative="",
        help="use cached answers even if the model behind the endpoint has changed",
    ),
]
#: where a run computes, besides this process
EngineName = Annotated[
    str,
    Parameter(
        group=RAY,
        help="ray: run models in Ray actors, on this machine or a cluster (docs/scaling.md)",
    ),
]
RayAddress = Annotated[
    str,
    Parameter(
        group=RAY,
        help="address of the cluster's head node, HOST:6379; default: RAY_ADDRESS, else this "
        "machine",
    ),
]
RayActors = Annotated[
    int | None,
    Parameter(
        group=RAY,
        help="number of copies of the model; default: one per GPU, else one per machine",
    ),
]
Jobs = Annotated[
    int | None,
    Parameter(
        group=RAY,
        help="number of processes for --judge rules; default: all cores; it does not change the "
        "result",
    ),
]


def of_one(title: str, name: str, names: Sequence[str], sort_key: int) -> Group:
    """Return a group that is left out where the command line names another one of ``names``."""

    def shown(console: Any, options: Any, panel: HelpPanel) -> None:
        chosen = [word for word in words.get() if word in names]
        if not chosen or name in chosen:
            page(console, options, panel)

    return Group(title, sort_key=sort_key, help_formatter=shown)
