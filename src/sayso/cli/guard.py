"""``sayso guard`` and ``sayso watch``: a limit with a promise, and whether it still holds."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts
from cyclopts import Parameter

from sayso.cli.commands import OPTIONS, help_examples, with_options
from sayso.later import Later
from sayso.options import option
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.cli import printing
    from sayso.datasets import columns
    from sayso.guard import changes, labeled, log_answers
    from sayso.guard import fit as fitting
    from sayso.guard import watch as watching
    from sayso.report import numbers
else:  # loaded when a guard is fitted or a log is watched
    printing, columns = Later("sayso.cli.printing"), Later("sayso.datasets.columns")
    fitting, labeled = Later("sayso.guard.fit"), Later("sayso.guard.labeled")
    numbers = Later("sayso.report.numbers")
    watching, changes = Later("sayso.guard.watch"), Later("sayso.guard.changes")
    log_answers = Later("sayso.guard.log_answers")

guard_app = cyclopts.App(
    name="guard",
    help="Set a limit on a score up to which answers may be given, with a promise.",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso guard fit runs/first --max-error .05 --confidence .95",
        "sayso guard fit answers.jsonl --score perplexity",
    ),
)
guard_app.command(
    "sayso.cli.guard:fit",
    name="fit",
    help="Find the loosest limit whose error rate can be promised, and write guard.json.",
    help_epilogue=help_examples(
        "sayso guard fit runs/first --max-error .05 --confidence .95",
        "sayso guard fit answers.jsonl --where model=palm --score verbalized",
    ),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuardFlags:
    """The flags of ``sayso guard fit``."""

    max_error: float = option(
        0.05, "largest error rate among the answers that are given: .05 or 5%", main=True
    )
    confidence: float = option(
        0.95, "confidence of the promise: .95 holds for 95 of 100 sets of labels", main=True
    )
    score: str = option(
        "",
        "score to set the limit on, or a numeric column of the file (higher = less certain); "
        "default: the best at hand, chosen on one half of the labels",
        main=True,
    )
    otherwise: Literal["decline", "ask"] = option(
        "decline",
        "what becomes of answers above the limit: declined, or asked of a person",
        main=True,
    )
    form: Literal["short", "long"] | None = option(
        None, "of a run: short answers, or facts in paragraphs (default: short)", main=True
    )
    where: str = option(
        "", "of a file: only rows with these values, model=palm,stage=short", main=True
    )
    texts: str = option(
        "",
        "of a file whose rows are claims: the column that names the text of each; a text is wrong "
        "if one of its kept claims is",
        main=True,
    )
    columns: str = option("", "your column names: answer=response,gold=reference", main=True)
    golds: Path | None = option(
        None, "a file with the columns id and gold, joined on the id", main=True
    )
    gold_metric: str = option(
        "rules",
        "what labels answers without a human verdict: rules, exact_match, llm:MODEL, or file:NAME "
        "for a column of verdicts (as in sayso score)",
        main=True,
    )
    labeled_by: Literal["people", "judge"] | None = option(
        None,
        "of a run: whose verdicts count; default: people where they labeled a random sample (sayso"
        " label), else the judge",
        main=True,
    )
    nli: str | None = option(
        None, "what compares meanings: rules, an NLI model, or llm:MODEL", main=True
    )
    out: Path | None = option(
        None, "file to write; default: guard.json in the run folder or beside the file", main=True
    )
    force: bool = option(False, "replace a file that sayso guard did not write", main=True)
    seed: int = option(0, "seed of the halves and draws of labels", main=True)
    json: bool = option(False, "print everything as JSON instead of tables", main=True)


@with_options
def fit(
    source: Annotated[
        Path,
        Parameter(
            help="labeled answers: a run folder of sayso run selective, or a file that sayso score "
            "reads, with golds or people's verdicts"
        ),
    ],
    /,
    *,
    flags: GuardFlags,
) -> int:
    """Find the loosest limit on a score whose error rate can be promised.

    Exit code 0: a limit, written to guard.json; 1: the score is no better than answering nothing;
    3: no limit can be promised with so many labels; 2: the input cannot be used.
    """
    result = fitting.fit_guard(
        source,
        labeled.Selection(
            score=flags.score,
            form=flags.form or "",
            texts=flags.texts,
            where=_pairs("--where", flags.where),
            columns=columns.columns_of(flags.columns),
            golds=flags.golds,
            gold_metric=flags.gold_metric,
            labeled_by=flags.labeled_by or "",
            nli=flags.nli,
            seed=flags.seed,
        ),
        fitting.GuardChoices(
            max_error=flags.max_error,
            confidence=flags.confidence,
            otherwise=flags.otherwise,
            out=flags.out,
            force=flags.force,
        ),
    )
    for notice in result.notices:
        printing.print_note(notice)
    if flags.json:
        print(numbers.json_text(fitting.guard_json(result)))
    else:
        fitting.render_guard(result, printing.terminal())
    return int(result.code)


def _pairs(flag: str, text: str) -> dict[str, str]:
    """Read NAME=VALUE,NAME=VALUE. Raises InputError."""
    pairs: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals:
            raise InputError(f"{flag} {part!r}: expected NAME=VALUE")
        if name in pairs:
            raise InputError(f"{flag} names {name} twice")
        pairs[name] = value
    return pairs


@dataclasses.dataclass(frozen=True, kw_only=True)
class WatchFlags:
    """The flags of ``sayso watch``."""

    against: str = option(
        "", "earlier answers: a run with short answers, or a file that sayso score reads", main=True
    )
    once: bool = option(False, "read a file to its end and stop, as sayso watch does anyway")
    stop_at_alarm: bool = option(False, "stop after a new alarm, also in a stream", main=True)
    rates: str = option(
        "",
        "what to watch: declining, hedging, above_limit, error, declining_answerable, "
        "declining_unanswerable, or several (a,b); default: all that the baseline has. Fewer rates"
        " raise their alarms sooner",
        main=True,
    )
    alpha: float = option(
        0.05, "chance of any false alarm over the whole log, however long", main=True
    )
    guard: Path | None = option(
        None,
        "the guard whose limit scores are compared with, and whose promise an alarm withdraws; "
        "default: guard.json in the run folder",
        main=True,
    )
    keep_guard: bool = option(
        False, "do not withdraw the guard's promise after an alarm", main=True
    )
    state: Path | None = option(
        None,
        "file that stores the watch's state and its position in the log: the next call reads on "
        "from there",
        main=True,
    )
    page: Path | None = option(
        None, "also write a page (.html): rates over time, with alarms", main=True
    )
    every: int = option(
        10000, "print a summary about every N answers; 0: only at the end", main=True
    )
    columns: str = option(
        "",
        "your names of fields: answer=response,score=perplexity,time=ts; a name holds for the log,"
        " for a file of earlier answers, or for both, wherever it is found",
        main=True,
    )
    method: str = option(
        "",
        "of a run that asked in several ways, the one to compare with: plain or instructed; "
        "default: the first",
        main=True,
    )


@with_options
def watch(
    log: Annotated[
        Path,
        Parameter(
            help="one JSON object on each line, with question and answer (or stance), and any of "
            "score, token_logprobs, gold, correct, answerable, id, time; - is standard input",
            allow_leading_hyphen=True,
        ),
    ],
    /,
    *,
    flags: WatchFlags,
) -> int:
    """Read a log of answers, and raise an alarm where their rates change.

    A file is read to its end; with --state, the next call reads on. To follow a log as it grows:
    tail -F LOG | sayso watch - --against RUN. Alarms and summaries are JSON lines on standard
    output. Exit code 1: this call raised an alarm; 0: none; 2: the input cannot be used. No model
    is asked.
    """
    if not flags.against:
        raise InputError(
            "watch: expected --against, as in: sayso watch log.jsonl --against runs/first"
        )
    options = changes.WatchOptions(
        rates=tuple(name.strip() for name in flags.rates.split(",") if name.strip()),
        alpha=flags.alpha,
        guard=flags.guard,
        keep_guard=flags.keep_guard,
        columns=log_answers.log_columns(flags.columns),
        method=flags.method,
        stop_at_alarm=flags.stop_at_alarm,
        every=flags.every,
        state=flags.state,
        page=flags.page,
    )
    summary = watching.watch(log, Path(flags.against), options, emit=_emit, tell=printing.tell)
    if log.is_file() and not flags.once and flags.state is None:
        printing.tell(
            f"{log} was read to its end. Pass --state FILE to read on in the next call, or follow "
            f"it: tail -F {log} | sayso watch - --against {flags.against}"
        )
    return 1 if summary["new_alarms"] else 0


def _emit(event: dict[str, Any]) -> None:
    """Print an event as one line of JSON, in which nothing moves a cursor."""
    print(json.dumps(event), flush=True)
