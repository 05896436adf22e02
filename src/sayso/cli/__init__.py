"""The command line: parse, call, print. Commands load only when they are called."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import sys

import cyclopts

from sayso.addresses import has_secret, redact
from sayso.cli import commands
from sayso.cli.printing import tell
from sayso.harmless import printable
from sayso.records import InputError, refuse_secret
from sayso.version import __version__

#: commands, by what people do: where each one is, what help says of it, and lines to type
COMMANDS = """\
Measure a model:
run:run_app
    Ask a model, judge its answers, and report whether it admits what it does not know.
run:measure
    Recompute a run's numbers from stored answers; settings that you omit keep the run's values.
    sayso measure runs/first --set probe.k=3
run:study
    Compare models, data sets and protocols on one page, with joint intervals and ranks.
    sayso study first.yaml --dry-run
    sayso study --models builtin builtin-trained --protocols uncle
    sayso study --models smollm2 hf:Qwen/Qwen3.5-4B --protocols uncle --limit 20
    sayso study runs/* --layout uncle-table3
run:report
    Rebuild a run's page.
    sayso report runs/first
data:export
    Write a run's answers as a table: CSV, Excel, JSON Lines, Parquet.
    sayso export runs/first answers.csv
run:compare
    Show the differences between two runs, with intervals.
    sayso compare runs/first runs/second
    sayso compare runs/base runs/new --assert "J[short] not worse by .05"

Answers you have:
score:score
    Compute uncertainty scores for answers you already have, and see which to trust.
    sayso score answers.jsonl
    sayso score answers.csv --columns answer=response --out scored.csv
    sayso score answers.jsonl --methods num_sets,lexical_similarity --nli rules

In production:
run:assert_
    Decide whether a run meets your limits: holds, does not, or cannot say yet (exit codes).
    sayso assert runs/first "J[short] >= .2" "missing <= 2%"
    sayso assert runs/first "J[short] >= .2" --junit verdicts.xml
guard:watch
    Read a log of answers: an alarm where their rates change.
    sayso watch log.jsonl --against runs/first
    sayso watch log.jsonl --against runs/first --state watch.json
    sayso watch - --against earlier.jsonl --page watch.html
guard:guard_app
    Set a limit on a score up to which answers may be given, and promise their error rate.

People:
people:label
    Label a run's answers yourself, to check its judge: a page on this machine, by keyboard.
    sayso label runs/first
    sayso label runs/first --annotator Ada --n 60 --shared 20
    sayso label runs/first --annotator Ada --sheet ada.csv
people:agreement
    Compare a run's judge with the people who labeled its answers (sayso label).
    sayso agreement runs/first

Before you pay:
check:check
    Find out what a model or an endpoint can do, and which numbers that rules out.
    sayso check openai:gpt-5.4-mini
    sayso check http://localhost:8000/v1#NAME
    sayso check hf:Qwen/Qwen3.5-4B --device cuda
check:judge_check
    Check a judge against labels and attacks, before you pay for it.
    sayso judge-check rules
    sayso judge-check openai:gpt-5.4-mini --labeled mine.jsonl --max-cost 1

Data:
data:data_app
    Inspect question sets.
build:build
    Build a benchmark from a Wikidata dump or a query service.
    sayso build dump.json.gz --domains domains.yaml --out mine
    sayso build mine

Train:
train:train
    Train a run's model to say what it does not know, and measure whether it does.
    sayso train runs/base --recipe calibrated --stages sft --seeds 5
    sayso train runs/base --export trl --out runs/rows

not on the first screen
data:prompts_app
    Write a folder for prompts of your own, such as a paper's.
index:index
    Index the passages of a knowledge source, and search them.
    sayso index wiki.jsonl
    sayso index wiki.jsonl --search "born in London" --title "Ada Lovelace"
"""

app = cyclopts.App(
    name="sayso",
    help="Does a language model know what it knows, and does it say so?",
    version=__version__,
    suppress_keyboard_interrupt=False,  # main() says that the same command goes on
    help_flags=("--help", "-h", commands.ALL),
    help_format="plaintext",
    help_formatter=commands.page,
    help_epilogue=commands.help_examples(
        "sayso run uncle --limit 5      # the built-in model, offline",
        f"sayso run uncle {commands.ALL}     # rare settings too",
    ),
    group_parameters=commands.OPTIONS,
    group_commands=cyclopts.Group("Commands", sort_key=9),
)
app["--help"].help = f"Show help; {commands.ALL} explains rare settings too."
app["--version"].help = "Show the version."
app.register_install_completion_command(help="Complete commands and flags in this shell.")

#: commands whose exit code 1 says something, so that it is never that of an exception
DECIDING = ("assert", "watch", "guard")

#: what ``sayso`` alone prints: what people come for
OVERVIEW = """\
Does a language model know what it knows, and does it say so?

  measure a model     sayso run uncle --limit 5    (this one: built in, offline)
                      study, compare, measure, report, export
  answers you have    sayso score answers.jsonl    which score detects errors?
                      sayso run selective --answers answers.jsonl
  in production       assert, guard, watch
  people              label, agreement
  before you pay      sayso check MODEL, judge-check
  data                data, build
  train               sayso train RUN              teach a model to say what it does not know

MODEL is builtin, smollm2, hf:FOLDER-OR-HUB-ID, gguf:FILE, ollama:NAME, openai:NAME
(anthropic:, gemini:, …), inspect:PROVIDER/NAME or a URL.
All commands: sayso --help"""


def _add_commands() -> None:
    """Add the commands of the table, each of which is imported when it is called."""
    for number, part in enumerate(COMMANDS.split("\n\n")):
        title, *listed = re.split(r"\n(?=\S)", part.rstrip())
        group, first, _ = title.partition(":")
        shown = {"group": cyclopts.Group(group, sort_key=number)} if first else {"show": False}
        for command in listed:
            place, text, *examples = command.split("\n    ")
            name = place.partition(":")[2].removesuffix("_app").strip("_").replace("_", "-")
            below = {"help_epilogue": commands.help_examples(*examples)} if examples else {}
            app.command(f"sayso.cli.{place}", name=name, help=text, **shown, **below)


_add_commands()


def main(argv: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one line and exit code 2, never a traceback."""
    _open_handles()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # "−" is no letter of Latin-1
    made, *others = gc.get_threshold()
    if made:  # 0 is never. Loading modules makes many objects, hardly any in cycles
        gc.set_threshold(max(made, 50_000), *others)
    if sys.flags.optimize > 1:
        why = "Python runs with -OO (PYTHONOPTIMIZE=2), which removes the docstrings that altair"
        sys.exit(_refuse(f"{why}, which draws the charts, needs: run with -O or without it"))
    code = execute(sys.argv[1:] if argv is None else argv)
    try:
        sys.stdout.flush()
    except OSError:  # what Python cannot write at its end changes the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def _open_handles() -> None:
    """Open the null device in place of a closed standard input, output or error.

    Otherwise the next file that is opened takes its handle, and the renderer of charts, which needs
    all three, ends.
    """
    for handle, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest free handle, which is this one
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def execute(argv: list[str]) -> int:
    """Run one command line and return its exit code.

    A command that wrote its results, but of fewer than half of the answers, returns 1.
    """
    if not argv:
        with contextlib.suppress(BrokenPipeError):
            print(OVERVIEW, flush=True)
        return 0
    if old := argv[0] == "factuality":
        argv = ["run", "self_known", *_answers_first(argv[1:])]
    everything = commands.ALL in argv
    argv = ["--help" if word == commands.ALL else word for word in argv]
    try:
        _refuse_secrets(argv)
        _, apps, _ = app.parse_commands([w for w in argv if w not in ("--help", "-h")])
        fields = getattr(apps[-1].default_command, "fields", {})
        tokens = commands.without_old_flags(argv, fields)
        if old:
            tell("factuality is now `sayso run self_known --answers FILES`")
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        if everything:
            commands.print_settings(fields)
        return code if isinstance(code, int) else 0
    except InputError as error:
        return _refuse(str(error))
    except cyclopts.UnusedCliTokensError as error:
        return _refuse(_unused(error))
    except cyclopts.MissingArgumentError as error:
        return _refuse(_missing(error))
    except cyclopts.CycloptsError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("sayso: stopped; run the same command to resume", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `sayso … | head` is no mistake, but decides nothing
        sys.stderr.close()
        return 2 if argv[0] in DECIDING else 0
    except SystemExit as error:  # rich ends the process, with 1, where a pipe was closed
        if not isinstance(error.__context__, BrokenPipeError):
            raise
    except UnicodeEncodeError as error:  # a name from the shell or the disk in another encoding
        return _refuse(f"{error.object!a:.200} is not UTF-8, and cannot be stored: rename it")
    except OSError as error:  # a name that the system refuses, a folder without permission
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{place}{error.strerror or error}")
    except Exception as error:
        if argv[0] not in DECIDING and "--assert" not in argv:
            raise
        return _refuse(f"sayso failed, and nothing is decided: {type(error).__name__}: {error}")
    return 0


def _unused(error: cyclopts.UnusedCliTokensError) -> str:
    """Return the message for superfluous words, with what they may have been meant for."""
    words, chain = list(error.unused_tokens or ()), error.command_chain or ()
    text = f"{' '.join(map(repr, words))}: nothing is expected here"
    if tuple(chain) == ("run",):
        protocols = (name for name in app["run"] if not name.startswith("-"))
        return f"{text}; protocols: {', '.join(protocols)}"
    return (
        f"{text}; write several values of one flag as a,b without spaces (sayso {chain[0]} --help)"
    )


def _missing(error: cyclopts.MissingArgumentError) -> str:
    """Return the message for a word that a command needs, with the command's own example."""
    name = error.argument.name if error.argument is not None else "-"
    if name.startswith("-"):
        return str(error)
    chain = error.command_chain or ()
    _, apps, _ = app.parse_commands(chain)
    example = re.search(r"sayso .*?(?=  #|$)", str(apps[-1].help_epilogue), re.MULTILINE)
    hint = f", as in: {example[0]}" if example else f" (sayso {' '.join(chain)} --help)"
    return f"{' '.join(chain)}: expected {name}{hint}"


def _refuse(message: str) -> int:
    """Print one clear line, free of control characters that came with the input."""
    with contextlib.suppress(OSError):  # nobody reads it; the exit code stays
        print("sayso:", printable(redact(" ".join(message.split()))), file=sys.stderr)
    return 2


def _refuse_secrets(argv: list[str]) -> None:
    """Refuse a word with a login or a key in an address: it would be written into a run's files."""
    for number, word in enumerate(argv):
        before = argv[number - 1] if number else ""
        flag = word.partition("=")[0] if word.startswith("--") else before
        named = flag.startswith("-") and not has_secret(flag)
        refuse_secret(word, flag if named else f"word {number + 1} of the command")


def _answers_first(words: list[str]) -> list[str]:
    """Return the words of ``sayso factuality`` for ``sayso run self_known``: files, then flags."""
    flags = next((n for n, word in enumerate(words) if word.startswith("-")), len(words))
    return ["--answers", *words] if flags else words
