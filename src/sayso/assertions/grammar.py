"""What an assertion says: ``J[short] >= .2``, ``missing <= 2%``, ``J[short] not worse by .05``.

    [PROTOCOL/]NAME[PART, PART...] >= NUMBER      also <=, > and <
    [PROTOCOL/]NAME[PART, PART...] not worse by NUMBER
    [PROTOCOL/]NAME[PART, PART...] better by NUMBER

The last two are for the difference of two runs. A name is that of a number in tables and exports,
or the symbol or the words by which a page calls it. A part is a value of the number's slice
(``short``), with its key (``form=short``), or as a page calls it (``short answers``); in quotes if
it has a comma. ``20%`` is .2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple

from sayso.assertions.decide import Operator
from sayso.harmless import line
from sayso.metric import Metric, MetricTable
from sayso.records import Estimate, InputError, Slice

EXAMPLE = "expected NAME[PART] >= NUMBER, such as 'J[short] >= .2'"
DIFFERENCE = "expected NAME[PART] not worse by NUMBER, such as 'J[short] not worse by .05'"
Comparing = Literal["value", "not worse by", "better by"]
_OPERATOR = re.compile(r">=|<=|>|<|(?<=[ \]])(?:not worse|better) by ")
_PROTOCOL = re.compile(r"[a-z_]+")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?", re.ASCII)
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^,"']+?))\s*(?:,|$)""")
#: names and slices that a message lists
SHOWN = 6
#: characters of an assertion
LONGEST = 500


class Assertion(NamedTuple):
    """An assertion as it was written: ``comparing`` says whether it is of a value or difference."""

    text: str
    protocol: str
    name: str
    parts: tuple[str, ...]
    comparing: Comparing
    op: Operator
    limit: float


def _taken_apart(text: str) -> tuple[str, str, str | None, str, str] | None:
    """Return protocol, name, where, op and number of a text; ``None`` for something else."""
    found = _OPERATOR.search(text, max(text.rfind("]"), 0))
    if found is None:
        return None
    head, where = text[: found.start()].strip(), None
    if head.endswith("]") and "[" in head:
        head, where = head[:-1].split("[", 1)
    protocol, slash, name = head.rpartition("/")
    protocol, name = protocol.strip(), name.strip()
    if not name or set("[]<>=") & set(name) or (slash and not _PROTOCOL.fullmatch(protocol)):
        return None
    return protocol, name, where, found[0], text[found.end() :].strip()


def parse_assertion(text: object) -> Assertion:
    """Return what an assertion says. Raises InputError."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise InputError(f"assertion {text!r:.80}: {EXAMPLE}")
    named = f"assertion {line(text, 100)!r}"
    text = " ".join(text.split())
    found = _taken_apart(text)
    if found is None:
        raise InputError(f"{named}: {EXAMPLE}")
    protocol, name, where, sign, number = found
    limit = _number(number)
    if limit is None:
        raise InputError(f"{named}: {line(number, 40)!r} is no number; {EXAMPLE}, or 20% for .2")
    words = sign.strip()
    comparing: Comparing = "value"
    op: Operator = ">="
    if words.endswith("by"):
        comparing = "better by" if words == "better by" else "not worse by"
        if limit < 0:
            raise InputError(f"{named}: {words} {limit:g} is below 0; {DIFFERENCE}")
    else:
        op = words  # type: ignore[assignment]
    parts = () if where is None else _parts(where, named)
    return Assertion(text, protocol, name, parts, comparing, op, limit)


def _number(text: str) -> float | None:
    plain = text.removesuffix("%").rstrip()
    if not _NUMBER.fullmatch(plain):
        return None
    return float(plain) / 100 if text.endswith("%") else float(plain)


def _parts(text: str, named: str) -> tuple[str, ...]:
    """Return the parts between the brackets."""
    parts, place = [], 0
    while place < len(text):
        found = _PART.match(text, place)
        if found is None or found.end() == place:
            raise InputError(f"{named}: [{line(text, 60)}] has an empty or unclosed part")
        parts.append(next(part for part in found.groups() if part is not None))
        place = found.end()
    if not parts:
        raise InputError(f"{named}: nothing stands between the brackets; leave them out")
    return tuple(parts)


# ---- which number is meant


#: writes a part of a slice in words, from its key and its value
Label = Callable[[str, str], str]


class Numbers(NamedTuple):
    """The numbers of one run or comparison, with the words by which they are called.

    ``unsaid`` are parts that go without saying: those of a number that has none with their key.
    """

    protocol: str
    metrics: MetricTable
    estimates: Sequence[Estimate]
    part_label: Label
    unsaid: Slice = ()

    def parts(self, e: Estimate) -> Slice:
        """Return the parts of a number, those that go without saying too."""
        keys = {key for key, _ in e.where}
        return e.where + tuple(pair for pair in self.unsaid if pair[0] not in keys)


def find_number(assertion: Assertion, of: Sequence[Numbers]) -> tuple[int, Estimate]:
    """Return the place in ``of`` and the number that an assertion means. Raises InputError.

    Of several with these parts it is the one whose parts all the others have, too.
    """
    named = f"assertion {line(assertion.text, 100)!r}"
    within = [i for i, one in enumerate(of) if assertion.protocol in ("", one.protocol)]
    if not within:
        there = ", ".join(one.protocol for one in of)
        raise InputError(f"{named}: there is no run of {assertion.protocol} here; there is {there}")
    called = [(i, e) for i in within for e in of[i].estimates if _is_called(assertion, of[i], e)]
    if not called:
        raise InputError(f"{named}: {_no_name(assertion, [of[i] for i in within])}")
    parts = assertion.parts
    meant = [(i, e) for i, e in called if _has_parts(parts, of[i].parts(e), None)]
    if not meant:  # the words of pages take long to load
        meant = [(i, e) for i, e in called if _has_parts(parts, of[i].parts(e), of[i].part_label)]
    said = [(i, e.name, {*e.where} - {*of[i].unsaid}) for i, e in meant]
    for one, (i, name, own) in zip(meant, said, strict=True):
        if all(i == j and name == other and own <= theirs for j, other, theirs in said):
            return one
    choices = _choices(assertion, of, meant or called, nearest=not meant)
    if not meant:
        raise InputError(f"{named}: no {assertion.name} has these parts; there is {choices}")
    raise InputError(f"{named}: several numbers are meant: {choices}")


def _is_called(assertion: Assertion, of: Numbers, e: Estimate) -> bool:
    metric = of.metrics.named(e.name)
    wanted = assertion.name
    return wanted in (e.name, metric.symbol) or wanted.casefold() in _words(metric)


def _words(metric: Metric) -> set[str]:
    spoken = metric.name.replace("_", " ") if "_" in metric.name else ""
    return {text.casefold() for text in (metric.label, metric.titled, spoken) if text}


def _has_parts(parts: Sequence[str], where: Slice, label: Label | None) -> bool:
    """Tell whether each part is a pair of the slice of its own; ``label`` writes one in words."""
    free = list(where)
    for part in parts:
        pair = next((one for one in free if _is_part(part, one, label)), None)
        if pair is None:
            return False
        free.remove(pair)
    return True


def _is_part(part: str, pair: tuple[str, str], label: Label | None) -> bool:
    key, value = pair
    spelled = [tuple(map(str.strip, part.split(sign, 1))) for sign in "=:"]
    if part == value or pair in spelled or (part, *pair) == ("plain", "method", "vanilla"):
        return True
    return label is not None and part.casefold() == label(key, value).casefold()


def assertion_name(e: Estimate) -> str:
    """Return name and slice of a number as an assertion writes them: ``J[short]``."""
    values = [value for _, value in e.where]
    shown = []
    for key, value in e.where:
        text = value if values.count(value) == 1 else f"{key}={value}"
        quote = "'" if '"' in text else '"'
        plain = text and not set(text) & set(",\"'") and text == text.strip()
        shown.append(text if plain else f"{quote}{text}{quote}")
    return f"{e.name}[{', '.join(shown)}]" if shown else e.name


def _choices(
    assertion: Assertion,
    of: Sequence[Numbers],
    found: Sequence[tuple[int, Estimate]],
    *,
    nearest: bool,
) -> str:
    """Return the names of numbers, those most like the wanted one first if ``nearest``."""
    several = len({i for i, _ in found}) > 1
    names = [
        (f"{of[i].protocol}/" if several else "") + assertion_name(e)
        for i, e in sorted(found, key=lambda one: len(one[1].where))
    ]
    wanted = f"{assertion.name}[{', '.join(assertion.parts)}]"
    near = get_close_matches(wanted, names, n=SHOWN, cutoff=0.5) if nearest else []
    return _listed(list(dict.fromkeys([*near, *names])))


def _no_name(assertion: Assertion, of: Sequence[Numbers]) -> str:
    """Return that no number is called so, with the nearest ones."""
    names = list(dict.fromkeys(e.name for one in of for e in one.estimates))
    near = get_close_matches(assertion.name, names, n=3, cutoff=0.6)
    near += [n for n in names if n.lower() == assertion.name.lower() and n not in near]
    where = f"a run of {of[0].protocol}" if len(of) == 1 else "these runs"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there is {_listed(names)}"
    return f"no number of {where} is called {line(assertion.name, 60)!r}; {hint}"


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - SHOWN
    tail = f" and {rest} more" if rest > 0 else ""
    return ", ".join(line(name, 100) for name in names[:SHOWN]) + tail


def better_direction(assertion: Assertion, metric: Metric) -> tuple[Operator, float]:
    """Return the operator and the limit of the difference that an assertion wants.

    ``not worse by .05`` of a number of which more is better is a difference of at least -.05.
    Raises InputError for a number of which neither more nor less is better, and for a size that may
    be of another unit: a share of a number whose scale has no ends, a bare whole number.
    """
    percent = assertion.text.endswith("%")
    if assertion.comparing == "value":
        if percent and metric.notation == "count":
            raise InputError(
                f"assertion {line(assertion.text, 100)!r}: {metric.name} is a count, of which a "
                f"percentage says nothing; did you mean {100 * assertion.limit:g}?"
            )
        return assertion.op, assertion.limit
    if metric.higher is None:
        raise InputError(
            f"assertion {line(assertion.text, 100)!r}: neither more nor less of {metric.name} is "
            "better; write which difference is wanted, new minus base, with >= or <="
        )
    endless = metric.limits is None or not all(map(math.isfinite, metric.limits))
    whole = assertion.limit >= 1 and "." not in assertion.text.rpartition(" ")[2]
    if endless and assertion.limit and (metric.notation == "plain" if percent else whole):
        raise InputError(
            f"assertion {line(assertion.text, 100)!r}: the scale of {metric.name} has no ends of "
            f"which this could be a part; write the difference itself, with a point, such as .05 "
            f"or {assertion.limit:.2f}"
        )
    size = assertion.limit if assertion.comparing == "better by" else -assertion.limit
    return (">=", size) if metric.higher else ("<=", -size)
