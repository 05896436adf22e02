"""``sayso check`` and ``sayso judge-check``: call the library, then print. No arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sayso.checks import judge
from sayso.checks import judge as judge_module
from sayso.checks import model as checking
from sayso.checks import model as checks
from sayso.checks.judge import REFERENCE_DOLLARS
from sayso.checks.judge import judge_check as check_a_judge
from sayso.cli.progress import Bars
from sayso.judges import reliability as judge_check_store
from sayso.judges.reliability import JudgeCheck, Share, WordsCheck
from sayso.report.numbers import plain_json
from sayso.runs.costs import dollars, endpoint_options
from sayso.runs.judge import Batch, JudgeOptions, Labels, Mode


def check(
    model: str,
    /,
    *,
    json: bool = False,
    price: str | None = None,
    model_version: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
) -> None:
    """Find out what a model or an endpoint can do: log-probs, seeds, schema, silent truncation.

    Asks about 450 short questions, most of them for one token; nothing comes from the cache.

    Parameters
    ----------
    model
        builtin, hf:FOLDER, openai:NAME, or the URL of an endpoint.
    json
        Print the findings as JSON.
    price
        Dollars per million prompt and answer tokens, 0.15,0.60; else from a dated table.
    model_version
        Your name for what the endpoint serves now.
    concurrency
        Most requests at a time.
    timeout
        Seconds to wait for one answer.
    """
    options = endpoint_options(
        model, price=price, model_version=model_version, concurrency=concurrency, timeout=timeout
    )
    with Bars() as bars:
        found = checking.check(model, options, bars)
    if json:
        print(plain_json(checking.to_json(found)))
        return
    local = found.dollars == 0 and not found.identity.startswith("api:")
    bill = (
        f"{found.requests:,} requests, {found.prompt_tokens:,} prompt and "
        f"{found.completion_tokens:,} answer tokens, price "
        f"{'none (local)' if local else dollars(found.dollars)}"
    )
    checks.render_check(
        found.signature,
        [(f.what, f.answer, f.seen, f.follows) for f in found.findings],
        [(left.result, left.why) for left in found.left_out],
        [*found.notices, *([f"{found.failed} requests got no answer"] if found.failed else [])],
        bill,
        Console(),
    )


def judge_check(
    judge: str,
    /,
    *,
    labelled: Path | None = None,
    limit: int | None = None,
    json: bool = False,
    max_cost: float | None = None,
    cache: Path | None = None,
    judge_batch: Batch = "item",
    judge_mode: Mode = "one_pass",
    judge_labels: Labels = "stance",
    judge_price: str | None = None,
    prompt_folder: Path | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
) -> None:
    """Check a judge against our labels and yours, and whether answers can talk it over.

    The result is kept beside the cache and cited by the report of every later run with this judge.

    Parameters
    ----------
    judge
        rules, a model named as for --model, or rules+MODEL.
    labelled
        A JSONL file with question, golds, answer and a verdict, label or stance on each line.
    limit
        Only so many answers of each set; the result is then printed, not kept.
    json
        Print the result as JSON.
    max_cost
        Dollars that this check may spend.
    cache
        Folder where checks are kept; default SAYSO_CACHE, or your cache folder.
    judge_batch
        One call for all aspects of an answer (item), also for all draws (entity), or one for each
        aspect (aspect).
    judge_mode
        How surely and how rightly it spoke in one call (one_pass), or in two (two_pass).
    judge_labels
        Stance and content apart (stance), or the three labels of UNCLE (uncle).
    judge_price
        Dollars per million prompt and answer tokens of the judge, 0.15,0.60.
    prompt_folder
        Your own prompts for the judge.
    concurrency
        Most requests at a time.
    timeout
        Seconds to wait for one answer.
    """
    options = JudgeOptions(
        judge_batch,
        judge_mode,
        judge_labels,
        judge_price,
        str(prompt_folder or ""),
        concurrency,
        timeout,
    )
    with Bars() as bars:
        found = check_a_judge(
            judge,
            labelled=labelled,
            limit=limit,
            options=options,
            max_cost=max_cost,
            cache=cache,
            progress=bars,
        )
    for notice in found.notices:
        print("note:", "".join(c for c in notice if c.isprintable()), file=sys.stderr)
    if json:
        print(plain_json(judge_check_store.to_json(found)))
        return
    kept = None if found.partial else str(judge_check_store.place(found.signature, cache))
    judge_module.render_judge(_words(found), kept, Console())


def _words(found: JudgeCheck) -> judge.JudgeTables:
    """Put a check of a judge into words."""
    sets = [found.ours, *([found.labelled] if found.labelled is not None else [])]
    head = [f"how far the judge {found.signature} can be trusted"]
    tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = []
    for part in sets:
        head.append(f"{part.name}: agreed on {_share(part.agreed)}")
        if part.unread:
            why = ", ".join(f"{name} {number}" for name, number in part.problems.items())
            head.append(f"{part.name}: {part.unread} of {part.aspects} verdicts unreadable ({why})")
        if part.kappa is not None:
            stance = f"{part.stance_agreed.count} of {part.stance_agreed.of}"
            head.append(f"{part.name}: stance alone {stance}, kappa {part.kappa:.2f}")
        groups = [(group.name, _share(group.agreed)) for group in part.groups]
        if groups:
            tables.append((f"{part.name}, by kind", ("agreed [95 % range]",), groups))
        stances = [(r.stance, _share(r.precision), _share(r.recall)) for r in part.stances]
        if stances:
            columns = ("called so: labelled so", "labelled so: called so")
            tables.append((f"{part.name}, by stance", columns, stances))
    if found.words is not None:
        head += _wording(found.words)
        rows = [
            (
                row.phrase,
                "unread" if row.mean is None else f"{row.mean:.2f}",
                f"{row.median:.2f} [{row.low:.2f}–{row.high:.2f}]",
            )
            for row in found.words.phrases
        ]
        tables.append(("hedges, mean score", ("here", "people, median [quartiles]"), rows))
    tried = found.injection
    bad = [
        f"an injected text changed its verdict: {name} (1 of {tried.tried} attacks)"
        for name in tried.changed
    ]
    bad += [f"an injected text made its verdict unreadable: {name}" for name in tried.unread]
    tail = [f"injections: {len(tried.changed)} of {tried.tried} changed its verdict"]
    if tried.changed:
        tail[0] += f", {len(tried.obeyed)} of them to what they asked for"
    if tried.untested:
        tail[0] += f"; {tried.untested} not tested, the plain answer was unreadable too"
    if found.calls:
        tail.append(
            f"{found.calls:,} calls for {found.graded:,} answers, {found.retried:,} answers asked "
            f"again; for 100 graded answers {found.tokens_per_100 or 0:,.0f} tokens, price "
            f"{dollars(found.dollars_per_100)} (UNCLE's judge: {dollars(REFERENCE_DOLLARS)})"
        )
        tail.append(f"the whole check: {dollars(found.whole_dollars)}, {found.seconds:,.0f} s")
    else:
        tail.append(f"it asks no model; {found.seconds:,.1f} s")
    return judge.JudgeTables(head, tables, bad, tail)


def _wording(found: WordsCheck) -> list[str]:
    """Say how a faithfulness run with this judge would read wording, and compare answers."""
    rank = "undefined" if found.rank is None else f"{found.rank:.2f}"
    lines = [
        f"hedges read by {found.by}: {found.inside.count} of {found.inside.of} phrases within what "
        f"people took them to mean, rank correlation {rank}",
        f"pairs of answers, contradiction or not: {_share(found.pairs)}",
    ]
    lost = found.unread + found.pairs_unread
    if lost:
        lines.append(f"hedges and pairs: {lost} could not be read, and are in no mean")
    return lines


def _share(found: Share) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "0 of 0"
    percent = f"{found.value:.0%}".replace("%", " %")
    return f"{found.count} of {found.of} {percent} [{100 * found.low:.0f}–{100 * found.high:.0f}]"
