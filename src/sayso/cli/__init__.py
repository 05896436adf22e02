"""The command line: parse, call, print. Commands load only when they are called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

import cyclopts

from sayso.records import InputError
from sayso.version import __version__


def _converted(kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Convert as usual, but refuse to round a number where a whole one is expected."""
    if kind is int or int in get_args(kind):
        for token in tokens:
            if "." in token.value and not token.value.rstrip("0").endswith("."):
                raise InputError(
                    f"{token.keyword or token.value} {token.value!r}: expected a whole number"
                )
    return cyclopts.convert(kind, tokens)


app = cyclopts.App(
    name="sayso",
    help="Does a language model know what it knows, and does it say so?",
    version=__version__,
    suppress_keyboard_interrupt=False,  # main() says that the same command goes on
    default_parameter=cyclopts.Parameter(converter=_converted),
)
app.command(
    "sayso.cli.run:run_app",
    name="run",
    help="Ask a model, judge its answers, report whether it voices what it does not know.",
)
app.command(
    "sayso.cli.run:measure", name="measure", help="Recompute a run's numbers from stored answers."
)
app.command("sayso.cli.run:report", name="report", help="Write a run's page again.")
app.command(
    "sayso.cli.run:compare", name="compare", help="Differences between two runs, with intervals."
)

app.command(
    "sayso.cli.check:check",
    name="check",
    help="Find out what a model or an endpoint can do, and what that leaves out.",
)
app.command(
    "sayso.cli.check:judge_check",
    name="judge-check",
    help="Check a judge against labels and attacks, before it is paid for.",
)
app.command(
    "sayso.cli.run:factuality",
    name="factuality",
    help="Long texts you already have: supported claims, from the beginning to the end.",
)
app.command(
    "sayso.cli.score:score",
    name="score",
    help="Uncertainty scores for answers you already have, and which of them to believe.",
)
app.command(
    "sayso.cli.index:index",
    name="index",
    help="Make passages of a knowledge source searchable, and search them.",
)
app.command(
    "sayso.cli.build:build",
    name="build",
    help="Make a benchmark from a Wikidata dump or a query service.",
)
app.command("sayso.cli.data:data_app", name="data", help="Look at question sets.")
app.command(
    "sayso.cli.train:train",
    name="train",
    help="Train a run's model to say what it does not know, and measure whether it does.",
)


def main(argv: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one line and exit code 2, never a traceback."""
    sys.exit(execute(sys.argv[1:] if argv is None else argv))


def execute(argv: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        tokens = _with_config(argv)
        app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except InputError as error:
        return _refuse(str(error))
    except cyclopts.UnusedCliTokensError as error:
        return _refuse(_unused(error))
    except cyclopts.CycloptsError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("sayso: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `sayso … | head` is no mistake
        sys.stderr.close()
    except OSError as error:  # a name that the system refuses, a folder without permission
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{place}{error.strerror or error}")
    return 0


def _unused(error: cyclopts.UnusedCliTokensError) -> str:
    """Return the message for superfluous words, with what they may have been meant for."""
    words, chain = list(error.unused_tokens or ()), error.command_chain or ()
    text = f"{' '.join(map(repr, words))}: nothing is expected there"
    if tuple(chain) == ("run",):
        from sayso.protocols import PROTOCOLS

        near = get_close_matches(words[0], PROTOCOLS, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f"{text}; {meant}protocols: {', '.join(PROTOCOLS)}"
    return f"{text}; values of one flag are written a,b without spaces (sayso {chain[0]} --help)"


def _refuse(message: str) -> int:
    """Print one clear line, free of control characters that came with the input."""
    line = " ".join(message.split())
    print("sayso:", "".join(c for c in line if c.isprintable()), file=sys.stderr)
    return 2


def _with_config(argv: list[str]) -> list[str]:
    """Take ``--config FILE.yaml`` out of the arguments: its keys are the long option names."""
    for number, token in enumerate(argv):
        if token == "--config" or token.startswith("--config="):
            name = token[9:] if "=" in token else (argv[number + 1 : number + 2] or [""])[0]
            rest = argv[:number] + argv[number + (1 if "=" in token else 2) :]
            app.config = (_yaml(Path(name)), *_stored(rest))
            return rest
    app.config = _stored(argv)
    return argv


def _stored(argv: list[str]) -> tuple[cyclopts.config.Dict, ...]:
    """For ``sayso measure RUN`` the run's own settings are the defaults of the flags."""
    if argv[:1] != ["measure"]:
        return ()
    app.config = ()
    _, bound, _ = app.parse_args(argv, exit_on_error=False, print_error=False)
    run = bound.arguments.get("run")  # wherever it stands among the flags
    if run is None:
        return ()
    from sayso.runs.measure import stored_settings

    return (
        cyclopts.config.Dict(stored_settings(run), use_commands_as_keys=False, source=str(run)),
    )


def _yaml(path: Path) -> cyclopts.config.Dict:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"--config {path}: cannot be read as YAML ({reason})") from None
    if not isinstance(content, dict):
        raise InputError(f"--config {path}: expected a mapping of settings, e.g. 'limit: 20'")
    _check_yaml(content, path)
    return cyclopts.config.Dict(content, use_commands_as_keys=False, source=str(path))


def _check_yaml(value: object, path: Path, depth: int = 0) -> None:
    """Refuse what YAML can say and no setting can mean: other keys than text, loops, NUL."""
    if depth > 10:
        raise InputError(f"--config {path}: nested too deeply; settings have two levels")
    if isinstance(value, str) and "\0" in value:
        raise InputError(f"--config {path}: {value!r} holds a NUL character")
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"--config {path}: the key {key!r} is not the name of a setting")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_yaml(item, path, depth + 1)
