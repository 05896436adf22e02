"""Decided assertions for people and for other tools: a terminal, JUnit's XML, Markdown, JSON.

Names of models, of data and of slices come from elsewhere: in XML and Markdown they are text, not
markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from sayso.assertions.check import CheckedAssertions, DecidedAssertion, check_assertions
from sayso.assertions.decide import CANNOT_SAY, DOES_NOT, ERROR, HOLDS, MISTAKEN, Outcome
from sayso.harmless import line, plain_json, well_formed
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate, InputError
from sayso.report.numbers import DASH, difference_range, difference_value, interval, metric_value
from sayso.storage.atomic import disk_errors, replacing
from sayso.storage.outputs import check_output

#: characters of a comment on a pull request: GitHub takes 65,536
LONGEST_COMMENT = 60_000
#: characters of one cell
LONGEST_CELL = 300
#: what sayso was doing, by the function that did it
DOING = {
    "parse_assertion": "reading the assertions", "_run_target": "opening the run",
    "_differences": "comparing the runs", "measured": "measuring the run again",
    "write_verdicts": "writing the verdicts into files", "terminal_lines": "printing the verdicts",
}  # fmt: skip
#: by what files of ours are known
JUNIT_MARK, MARKDOWN_MARK = '<testsuites name="sayso assert"', "<!-- sayso assert -->"
ICONS: dict[Outcome, str] = {ERROR: "⚠️", DOES_NOT: "❌", CANNOT_SAY: "❔", HOLDS: "✅"}
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~<>&$:@/=-]|(?<=www)\.)", re.IGNORECASE)


def found_text(one: DecidedAssertion) -> str:
    """Return the value with the interval that decided."""
    exact = one.low is None and one.verdict != CANNOT_SAY
    ends = (one.value, one.value) if exact else (one.low, one.high)
    e = Estimate(one.name.partition("[")[0], tuple(one.where.items()), one.value, *ends)
    if one.value is None:
        return DASH
    if one.difference:
        parts = difference_value(e), difference_range(e)
    else:
        parts = metric_value(e.name, e.value), interval(e)
    shown = parts[0] if exact else " ".join(parts).strip()
    by = f", corrected by {one.labels:,} labels of people" if one.labels else ""
    if one.judge_alone:
        by = f", by the judge alone: {one.judge_alone}"
    return DASH if shown == DASH else shown + by


def needed_text(one: DecidedAssertion) -> str:
    """Return what would settle an assertion; empty where it is settled."""
    open_ = one.verdict == CANNOT_SAY and one.low is not None and one.low != one.high
    if not open_ or "verdict" in one.reason:
        return one.reason
    if one.labels:
        return "more questions or more labels of people would narrow it"
    if one.needed is None:
        return "the value is at the limit: no number of entities would settle it"
    return (
        f"about {one.needed:,} entities would settle it with a chance of 80 %, if the true value "
        f"is the observed one; this run has {one.entities:,}"
    )


def sentence(one: DecidedAssertion) -> str:
    """Return a verdict in one line: what, value and interval, what would settle it."""
    if one.verdict == ERROR:
        return f"{one.verdict}: {one.assertion}: {one.reason}"
    more = needed_text(one)
    return f"{one.verdict}: {one.assertion}: {found_text(one)}{'; ' if more else ''}{more}"


def undecided(assertions: Sequence[str], error: BaseException, run: object) -> CheckedAssertions:
    """Return of each assertion that nothing is decided, and why: a mistake in one is that of all.

    What is no mistake of the user is named with the place in sayso where it happened.
    """
    why = " ".join(str(error).split())
    if not isinstance(error, InputError):
        frames = extract_tb(error.__traceback__)
        doing = next((DOING[frame.name] for frame in frames if frame.name in DOING), "deciding")
        place = "".join(f", in {Path(one.filename).name}, line {one.lineno}" for one in frames[-1:])
        why = (
            f"sayso failed while {doing}, and nothing is decided. This is a fault of sayso, not of "
            f"the assertion: {type(error).__name__}: {line(why, 500)}{place}"
        )
    texts = [" ".join(str(text).split()) for text in assertions] or [""]
    return CheckedAssertions(
        tuple(DecidedAssertion(text, ERROR, run=str(run), reason=why) for text in texts), str(run)
    )


def verdict_lines(claims: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return verdict and sentence of each assertion.

    ``claims`` are the arguments of :func:`~sayso.assertions.check.check_assertions`.
    """
    try:
        checked = check_assertions(**claims)
    except Exception as error:
        checked = undecided(claims["assertions"], error, claims["run"])
    return {one.assertion: (one.verdict, sentence(one)) for one in checked}


def shared_text(checked: CheckedAssertions) -> str:
    """Return how sure the verdicts are, in a sentence."""
    tested = [one for one in checked if one.error]
    levels = sorted({one.level for one in tested if one.level is not None})
    if not levels:
        open_ = tested or any(one.verdict == ERROR for one in checked)
        return "" if open_ else "These numbers have no sampling error."
    errors = (
        "sampling error, and that of the judge where labels correct it"
        if any(one.labels for one in tested)
        else "sampling error only"
    )
    shown = " to ".join(f"{100 * level:.3g} %" for level in dict.fromkeys((levels[0], levels[-1])))
    if len(tested) == 1:
        return (
            f'"holds" is mistaken at most {100 * MISTAKEN:.0f} % of the time, and so is "does not" '
            f"(interval: {shown}; {errors})."
        )
    return (
        f'The {len(tested)} assertions share one chance of error: any mistaken "holds" comes up at '
        f'most {100 * MISTAKEN:.0f} % of the time, and so does any mistaken "does not" (Holm; '
        f"intervals: {shown}; {errors})."
    )


def terminal_lines(checked: CheckedAssertions) -> Iterator[str]:
    """Yield the lines of a terminal."""
    names = [line(one.assertion) for one in checked]
    width = max(map(len, names))
    for one, name in zip(checked, names, strict=True):
        more = line(needed_text(one))
        text = f"{one.verdict:<14}  {name:<{width}}  {line(found_text(one))}"
        yield f"{text}  ({more})" if more else text
    if shared := shared_text(checked):
        yield shared
    yield from map(line, checked.notes)
    yield from number_meanings(checked)


def number_meanings(checked: CheckedAssertions) -> list[str]:
    """Return what each number means, such as which answers count as wrong."""
    names = dict.fromkeys((one.protocol, one.name.partition("[")[0]) for one in checked)
    found = ((n, PROTOCOLS[p].metrics.get(n)) for p, n in names if p in PROTOCOLS)
    return [f"{name}: {metric.meaning}" for name, metric in found if metric and metric.meaning]


def json_of(checked: CheckedAssertions, *, strict: bool = False) -> str:
    """Return everything as JSON."""
    whole = {
        "verdict": checked.verdict,
        "exit_code": checked.code(strict=strict),
        **msgspec.to_builtins(checked),
    }
    return plain_json(json.dumps(whole, indent=2))


# ---- JUnit


def junit_of(checked: CheckedAssertions, *, strict: bool = False) -> str:
    """Return the XML of JUnit: one test case for each assertion, a suite for each run.

    "Cannot say yet" is a skipped test, a failure with ``strict``; what is not decided, an error.
    """
    suites: dict[tuple[str, str], list[DecidedAssertion]] = {}
    for one in checked:
        suites.setdefault((f"sayso.{one.protocol}".rstrip("."), one.run), []).append(one)
    body = [_suite(name, own, checked, strict) for (name, _), own in suites.items()]
    head = f'{JUNIT_MARK} {_counts(checked.decided, strict)} time="0">'
    text = "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *body, "</testsuites>"])
    return text + "\n"


def _failed(one: DecidedAssertion, strict: bool) -> bool:
    return one.verdict == DOES_NOT or (strict and one.verdict == CANNOT_SAY)


def _counts(decided: Sequence[DecidedAssertion], strict: bool) -> str:
    failed = sum(_failed(one, strict) for one in decided)
    errors = sum(one.verdict == ERROR for one in decided)
    skipped = 0 if strict else sum(one.verdict == CANNOT_SAY for one in decided)
    return f'tests="{len(decided)}" failures="{failed}" errors="{errors}" skipped="{skipped}"'


def _suite(
    name: str, decided: Sequence[DecidedAssertion], checked: CheckedAssertions, strict: bool
) -> str:
    when = checked.finished.partition("+")[0]
    stamp = f" timestamp={_attribute(when)}" if when else ""
    head = f'  <testsuite name={_attribute(name)} {_counts(decided, strict)} time="0"{stamp}>'
    lines = [head]
    for one in decided:
        case = f"    <testcase classname={_attribute(name)} name={_attribute(one.assertion)}"
        text = sentence(one)
        lines.append(f'{case} time="0">')
        if _failed(one, strict) or one.verdict == ERROR:
            tag = "error" if one.verdict == ERROR else "failure"
            head = f"<{tag} message={_attribute(text)} type={_attribute(one.verdict)}>"
            lines.append(f"      {head}{_xml(text)}</{tag}>")
        elif one.verdict == CANNOT_SAY:
            lines.append(f"      <skipped message={_attribute(text)}/>")
        lines.append(f"      <system-out>{_xml(text)}</system-out>")
        lines.append("    </testcase>")
    return "\n".join([*lines, "  </testsuite>"])


def _xml(text: str) -> str:
    return escape(line(well_formed(text)))


def _attribute(text: str) -> str:
    return quoteattr(line(well_formed(text)))


# ---- Markdown


def markdown_of(checked: CheckedAssertions) -> str:
    """Return a table that fits into a comment on a pull request."""
    counts = {v: sum(one.verdict == v for one in checked) for v in (HOLDS, DOES_NOT, CANNOT_SAY)}
    summary = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    summary = summary or "nothing was decided"
    what = f" of {_cell(checked.model)}" if checked.model else ""
    against = f" against {_cell(checked.base)}" if checked.base else ""
    head = [
        MARKDOWN_MARK,
        f"### sayso: assertions about {_cell(checked.run)}{what}{against}: {summary}",
        "",
        "| | assertion | value | |",
        "|---|---|---|---|",
    ]
    foot = ["", *(_cell(text, 1_000) for text in (shared_text(checked), *checked.notes))]
    room = LONGEST_COMMENT - sum(len(text) + 1 for text in (*head, *foot)) - 200
    order = sorted(checked, key=lambda one: [*ICONS].index(one.verdict))
    rows: list[str] = []
    for place, one in enumerate(order):
        verdict = f"{ICONS[one.verdict]} {one.verdict}"
        cells = (verdict, _cell(one.assertion), _cell(found_text(one)), _cell(needed_text(one)))
        row = f"| {' | '.join(cells)} |"
        room -= len(row) + 1
        if room < 0:
            rows.append(f"| | … and {len(order) - place:,} more | | |")
            break
        rows.append(row)
    return "\n".join([*head, *rows, *foot]) + "\n"


def _cell(text: str, longest: int = LONGEST_CELL) -> str:
    """Return a text as text of a table's cell: no markup, no mention, no link."""
    plain = line(well_formed(text), longest)
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", plain)


# ---- files


def write_verdicts(place: Path, text: str, flag: str) -> None:
    """Write a file in one piece; one that sayso did not write is refused. Raises InputError."""
    mark = JUNIT_MARK if JUNIT_MARK in text else MARKDOWN_MARK
    with disk_errors(place):
        check_output(place, mark=mark, command="sayso assert", force=None, name=f"{flag} {place}")
    with replacing(place) as out:
        out.write(text.encode("utf-8", "replace"))
