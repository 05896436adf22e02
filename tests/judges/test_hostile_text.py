"""No text of a model makes a reader slow: patterns grow linearly, readers have their budget.

A pattern is attacked at each of its repeats: what leads to the repeat, then what the repeat takes
in, thousands of times, then a character that fits nothing; and both together, over and over. Runs
that no pattern asks for are tried on all. Modules of the package join by themselves.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import random
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sayso
from sayso.judges.claim_questions import gap_question
from sayso.judges.claims import read_claims
from sayso.judges.patterns import _Uncompiled
from sayso.judges.support import RulesSupport
from sayso.records import Passage
from support.effort import seconds
from support.hostile_readers import READERS
from support.hostile_texts import LONGEST, hostile_texts

#: packages that read no text of a model: dumps and query services, downloads, pages
APART = ("sayso.cli", "sayso.datasets", "sayso.report", "sayso.wikidata")
#: modules that are being written anew, and join when they are done
LEFT_OUT: tuple[str, ...] = ()
#: patterns that are given at most so many characters by the lines that use them
WINDOWS = {
    ("sayso.judges.rules.matching", "_LEFT"): 80,
    ("sayso.train.rows", "_BE"): 300,
}
METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")

# ---- the patterns of the package, and how they are used


class Found(NamedTuple):
    """A pattern, where it stands, and whether it is tried at the beginning of a text only."""

    module: str
    name: str
    pattern: re.Pattern[str]
    method: str


def modules() -> Iterator[ModuleType]:
    """Yield every module of the package that may read what a model wrote."""
    for info in pkgutil.walk_packages(sayso.__path__, "sayso."):
        if not info.name.startswith(APART) and info.name not in LEFT_OUT:
            try:
                yield import_module(info.name)
            except ImportError as error:
                if (error.name or "").startswith("sayso"):
                    raise  # what is not installed here is no module of ours


def held(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value of a module: one, or those of a table."""
    if isinstance(value, re.Pattern | _Uncompiled):
        yield value  # type: ignore[misc]
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from held(one)


def uses(tree: ast.AST) -> dict[str, set[str]]:
    """Return by name the methods that a module calls; "search" for a name that is handed on."""
    methods: dict[str, set[str]] = {}
    inside: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        holder: ast.expr = node.value
        if isinstance(holder, ast.Subscript):
            holder = holder.value
        if isinstance(holder, ast.Name):
            inside.add(id(holder))
        name = getattr(holder, "attr", getattr(holder, "id", ""))
        if node.attr in METHODS:
            methods.setdefault(name, set()).add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside:
            methods.setdefault(node.id, set()).add("search")
    return methods


def in_place(module: ModuleType, tree: ast.AST) -> Iterator[Found]:
    """Yield the patterns that a module writes where it uses them: ``re.search("a+", text)``."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=str(pattern)), *_],
            ) if method in METHODS:
                given = [k.value for k in node.keywords if k.arg == "flags"]
                flags = eval(ast.unparse(given[0]), {"re": re}) if given else 0
                name = f"line {node.lineno}"
                yield Found(module.__name__, name, re.compile(pattern, flags), how({method}))


def how(methods: set[str]) -> str:
    """Return the method that tries a pattern hardest of those that are used."""
    rest = methods - {"match", "fullmatch"}
    return "finditer" if rest or not methods else min(methods, key=METHODS.index)


@cache
def patterns() -> list[Found]:
    """Return every pattern of the modules, once."""
    found: dict[tuple[str, int], Found] = {}
    trees = {m.__name__: (m, ast.parse(inspect.getsource(m))) for m in modules()}
    calls = {name: uses(tree) for name, (_, tree) in trees.items()}
    for module, tree in trees.values():
        for name, value in vars(module).items():
            private = name.startswith("_")
            own = (module.__name__,) if private else calls
            used = set[str]().union(*(calls[one].get(name, set()) for one in own))
            for one in held(value):
                if isinstance(one.pattern, str):
                    known = re.compile(one.pattern, one.flags & ~re.UNICODE)
                    place = Found(module.__name__, name, known, how(used))
                    found.setdefault((one.pattern, known.flags), place)
        for place in in_place(module, tree):
            found.setdefault((place.pattern.pattern, place.pattern.flags), place)
    return list(found.values())


# ---- texts that a pattern can stumble over

#: tried on every pattern
RUNS = (
    *("a", "A", "word ", "Word ", " ", "\t", "\n", " \n", "1", "1,", "1.", "1 ", ".", "?!", "a."),
    *("A. ", "(", "[", "{", '"', "“", "()", "(a", "-", " - ", ",", ", ", "a, ", "'", "a'", "a-"),
    *("<", "_", "*", "#", "|", "| a ", "é", "\u200b", "中", "$", "% "),
)
#: fits next to nothing
ODD = "\u00ac"
#: what a class of characters is asked for
SAMPLES = " a1A-.,\n'\"(;:é"
MOST_REPEATS = 12

_PARSER, _CODES, _COMPILER = re._parser, re._constants, re._compiler  # type: ignore[attr-defined]


class Attack(NamedTuple):
    """A text of any length: a head, a unit that is repeated, and a character that fits nothing."""

    head: str
    unit: str

    def text(self, size: int) -> str:
        return (self.head + self.unit * (size // len(self.unit) + 1))[: size - 1] + ODD


def attacks(pattern: re.Pattern[str]) -> list[Attack]:
    """Return what to try on a pattern: every run, and each repeat of its own (of many, some)."""
    repeats: list[tuple[str, str]] = []
    whole = _walk(_PARSER.parse(pattern.pattern, pattern.flags & ~re.UNICODE), "", repeats)
    repeats = list(dict.fromkeys((h, u) for h, u in repeats if u))
    if len(repeats) > MOST_REPEATS:
        repeats = random.Random(pattern.pattern).sample(repeats, MOST_REPEATS)
    own = [Attack(head, unit) for head, unit in repeats]
    own += [Attack("", f"{start}{head}{unit}") for head, unit in repeats for start in ("", "\n")]
    halves = [whole, f"{whole} ", whole[: len(whole) // 2], f"{whole[: len(whole) // 2]} "]
    tried = [*(Attack("", unit) for unit in (*RUNS, *halves) if unit), *own]
    return list(dict.fromkeys(tried))


def _characters(node: tuple[Any, Any], flags: int = 0) -> list[str]:
    """Return samples that one step of a pattern takes."""
    code, argument = node
    if code is _CODES.LITERAL:
        return [chr(argument)]
    step = _PARSER.SubPattern(_PARSER.State(), [node])
    one = _COMPILER.compile(step, flags)
    taken = [c for c in SAMPLES if one.fullmatch(c)]
    if not taken and code is _CODES.IN:
        firsts = [a if c is _CODES.LITERAL else a[0] for c, a in argument if c in _FIRST]
        taken = [chr(point) for point in firsts]
    return taken or ["a"]


_FIRST = (_CODES.LITERAL, _CODES.RANGE)
_SINGLE = (_CODES.LITERAL, _CODES.NOT_LITERAL, _CODES.IN, _CODES.ANY)
_REPEATS = (_CODES.MAX_REPEAT, _CODES.MIN_REPEAT, _CODES.POSSESSIVE_REPEAT)


def _walk(steps: Any, head: str, repeats: list[tuple[str, str]]) -> str:
    """Return a text that the steps take, behind ``head``; put (head, unit) of repeats aside."""
    text = ""
    for code, argument in steps:
        if code in _SINGLE:
            text += _characters((code, argument))[0]
        elif code in _REPEATS:
            low, high, body = argument
            if high > 8:
                single = len(body) == 1 and body[0][0] in _SINGLE
                units = _characters(body[0])[:5] if single else [_walk(body, head + text, [])]
                repeats += [(head + text, unit) for unit in units]
            text += _walk(body, head + text, repeats) * (min(low, 8) or (high < 9))
        elif code is _CODES.SUBPATTERN:
            text += _walk(argument[-1], head + text, repeats)
        elif code is _CODES.ATOMIC_GROUP:
            text += _walk(argument, head + text, repeats)
        elif code is _CODES.BRANCH:
            branches = [_walk(branch, head + text, repeats) for branch in argument[1]]
            text += branches[0]
        elif code in (_CODES.ASSERT, _CODES.ASSERT_NOT):
            _walk(argument[1], head + text, repeats)
    return text


# ---- growth

#: seconds of processor time: below, growth is not worth measuring; above, it is too much
LITTLE, MUCH = 0.001, 0.1


def runner(found: Found) -> Callable[[str], object]:
    """Return what a module does with its pattern, to the end of a text."""
    if found.method == "finditer":
        return lambda text: sum(1 for _ in found.pattern.finditer(text))
    return getattr(found.pattern, found.method)  # type: ignore[no-any-return]


def steep(run: Callable[[str], object], attack: Attack) -> str | None:
    """Say how time grows with an attack's length where that is more than linear."""
    for size in (250, 1_000, 2_000):
        taken = seconds(partial(run, attack.text(size)), enough=MUCH, times=3)
        if taken > MUCH:
            return f"{taken:.2f} s for {size:,} characters"
        if taken < LITTLE * (size / 2_000) ** 3:  # were it cubic, 2,000 would take too little
            return None
    few = seconds(partial(run, attack.text(2_000)), times=3)
    bound = max(10 * LITTLE, 24 * few)
    if (many := seconds(partial(run, attack.text(16_000)), enough=bound)) <= bound:
        return None
    return f"{few:.4f} s for 2,000 characters, {many:.4f} s for 16,000"


def test_patterns_are_found_with_the_way_they_are_used() -> None:
    found = {(one.module, one.name): one.method for one in patterns()}
    assert len(found) > 200
    assert found["sayso.judges.english.markup", "_ROW"] == "match"
    assert found["sayso.prompts.thoughts", "_MARK"] == "finditer"
    assert {*WINDOWS} <= found.keys()


@pytest.mark.parametrize("pattern", [r"\s+x", r"(?:a+)+$", r"<b>.*?</b>", r"-[ \t]*:?[ \t]*$"])
def test_what_backtracks_is_noticed(pattern: str) -> None:
    compiled = re.compile(pattern, re.S)
    run = runner(Found("", "", compiled, "finditer"))
    tried = [a for a in attacks(compiled) if a.unit != "a" or "+)+" not in pattern]
    assert any(steep(run, attack) for attack in tried) or _doubles(compiled)


def _doubles(pattern: re.Pattern[str]) -> bool:
    fewer, more = (seconds(partial(pattern.search, "a" * n + ODD), times=1) for n in (21, 22))
    return more > 1.5 * fewer


def test_time_grows_with_the_text_and_no_faster() -> None:
    slow: list[str] = []
    for found in patterns():
        if (found.module, found.name) in WINDOWS:
            continue
        run = runner(found)
        for attack in attacks(found.pattern):
            if (growth := steep(run, attack)) is not None:
                slow.append(f"{found.module} {found.name} {found.method} {attack}: {growth}")
                break
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize("place", WINDOWS, ids=lambda place: place[1])
def test_a_pattern_in_a_window_is_quick_there(place: tuple[str, str]) -> None:
    found = [one for one in patterns() if (one.module, one.name) == place]
    assert found
    for one in found:
        run = runner(one)
        tried = [attack.text(WINDOWS[place]) for attack in attacks(one.pattern)]
        assert max(seconds(partial(run, text), enough=MUCH / 10) for text in tried) < MUCH / 10


# ---- readers as wholes: benchmarks/readers/hostile.py measures them on 5,000 texts

#: seconds; the bar is .2, and the rest is room for a busy machine
ROOM = 1.0
#: what was slowest among many texts, when it was
PIECES = (
    *("5 ", "10^6, ", "Mira Toll and ", "They won [1][2]. ", "not not x ", "\n<think>\n"),
    *(
        "I am not sure, but, ",
        "Dr. A. Roe. ",
        "(May 1999 ",
        "### 1 k1234 Where?\n",
        "i\u00ad\u200d",
    ),
)


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_has_its_budget(reader: str) -> None:
    read = READERS[reader]
    read("She was born in Ripley, I think.")  # loads what it needs
    for piece in PIECES:
        text = f"I think {piece * (LONGEST // len(piece))}"[:LONGEST]
        assert seconds(partial(read, text), enough=ROOM) < ROOM, repr(piece)


@given(st.integers(0, 4_999))
@settings(max_examples=10, deadline=None)
def test_no_reader_raises_on_hostile_text(number: int) -> None:
    (text,) = hostile_texts(1, first=number)
    for read in READERS.values():
        read(text.text[:4_000])


def test_what_is_too_long_has_the_problem_budget() -> None:
    claim = "Mira Toll was born in Ripley. " * 1_000
    passage = Passage("p", "Mira Toll", "Mira Toll was born in Ripley.")
    (supported,) = RulesSupport().read([("Mira Toll", claim, (passage,))])
    assert (supported.label, supported.problem) == (None, "budget")
    assert gap_question("Mira Toll", claim).problem == "budget"
    claimed = read_claims("Mira Toll", claim * 4)
    assert (claimed.drafts, claimed.problem) == ((), "budget")
    assert len(claimed.sentences) >= 4_000
