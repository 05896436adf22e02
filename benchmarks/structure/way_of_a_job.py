"""How far one job travels through the code, and how wide a protocol, a run, a command and an option
are.

    python benchmarks/structure/way_of_a_job.py [--quiet]

A small ``uncle`` job with the built-in model goes through ``execute_job`` under ``sys.setprofile``.
A function *holds the job* if one of its arguments is the :class:`Job`, or carries it as ``job``.
A call *changes module* if such a function calls one of another module of sayso, or enters it as a
context; reading a property is no call, and what a context or an exit stack does at its end is none
either. Each called function counts once, in the order in which a reader who follows the job first
meets it. The module that defines ``Job`` is left out as a caller, as it only checks its own fields;
how many there are with it stands beside. A protocol's folder counts as one module, and so does
``storage``.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import dis
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import sayso
from sayso import cli
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Run
from sayso.runs.job import Job, job_of
from sayso.runs.run import execute_job

SRC = Path(sayso.__file__).parent
#: loads a module when one of its functions is called, and stands in the way of every such call
TRANSPARENT = "later"
#: packages whose modules are one thing to a reader
WHOLE = ("storage", *(f"protocols.{name}" for name in PROTOCOLS))
#: structs of options in ``options.py`` end in this, their keywords in the other
STRUCT, KEYWORDS = "Options", "Keywords"


class Call(NamedTuple):
    """A function of another module, called by one that holds the job."""

    caller: str
    by: str
    module: str
    function: str


# ---- calls that change module


def module_of(code: CodeType) -> str:
    """Return the module of sayso that code stands in; "" for any other."""
    path = Path(code.co_filename)
    if not path.is_relative_to(SRC):
        return ""
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


def holds_the_job(frame: FrameType) -> bool:
    """Tell whether an argument of a function is the job, or carries it."""
    code = frame.f_code
    number = code.co_argcount + code.co_kwonlyargcount
    given = [frame.f_locals.get(name) for name in code.co_varnames[:number]]
    return any(isinstance(one, Job) or isinstance(_carried(one), Job) for one in given)


def _carried(value: object) -> object:
    fields = (*getattr(type(value), "_fields", ()), *getattr(type(value), "__annotations__", ()))
    return getattr(value, "job", None) if "job" in fields else None


def instruction(frame: FrameType) -> str:
    """Return the instruction at which a function waits for the one that it called."""
    found = ""
    for one in dis.get_instructions(frame.f_code):
        if one.offset > frame.f_lasti:
            break
        found = one.opname
    return found


def calls_of(job: Job) -> list[Call]:
    """Run a job, and return the calls that change module where it is held, each function once."""
    found: dict[Call, None] = {}
    met: set[tuple[str, int, str]] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        module = module_of(frame.f_code)
        if event != "call" or module in ("", TRANSPARENT):
            return
        above, straight = frame.f_back, True
        while above is not None and (here := module_of(above.f_code)) in ("", TRANSPARENT):
            straight &= here == TRANSPARENT
            above = above.f_back
        if above is None or here == module or not holds_the_job(above):
            return
        by, place = instruction(above), (here, above.f_lineno, module)
        entered = by == "BEFORE_WITH" and place not in met  # not twice: what made the context
        if entered or (straight and by.startswith("CALL")):
            met.add(place)
            name = frame.f_code.co_qualname
            found.setdefault(Call(here, above.f_code.co_qualname, module, name))

    sys.setprofile(look)
    try:
        execute_job(job)
    finally:
        sys.setprofile(None)
    return list(found)


def counted(calls: list[Call]) -> tuple[list[Call], set[str]]:
    """Return the first call of each function, and the modules that they lead to."""
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        first.setdefault((call.module, call.function), call)
    return list(first.values()), {_place(call.module) for call in calls}


def _place(module: str) -> str:
    """Return the package that a module is a part of, where that is one thing to a reader."""
    return next((one for one in WHOLE if f"{module}.".startswith(f"{one}.")), module)


def way_of_a_job() -> list[Call]:
    """Return the calls of a small run."""
    with tempfile.TemporaryDirectory() as folder:
        return calls_of(
            job_of(
                protocol="uncle", model="builtin", data="", judge="rules", out=f"{folder}/run",
                options=None, name="", command="", model_options={}, limit=3,
                cache=f"{folder}/cache",
            )
        )  # fmt: skip


# ---- how wide things are


def fields_of(value: Any) -> int:
    """Return how many fields a struct has; those of structs in it, of the same module, counted."""
    names = (
        [field.name for field in dataclasses.fields(value)]
        if dataclasses.is_dataclass(value)
        else getattr(type(value), "_fields", getattr(type(value), "__struct_fields__", ()))
    )
    inner = [getattr(value, name) for name in names]
    own = [one for one in inner if type(one).__module__ == type(value).__module__]
    return len(names) - len(own) + sum(max(1, fields_of(one)) for one in own)


def members_of_a_run() -> list[str]:
    """Return the public methods and properties of ``Run``."""
    return [name for name, value in vars(Run).items() if name[0] != "_" and _is_member(value)]


def _is_member(value: object) -> bool:
    return callable(value) or isinstance(value, property)


def flags_of_commands() -> dict[str, tuple[int, int]]:
    """Return how many flags each command accepts, and how many its help shows."""
    found: dict[str, tuple[int, int]] = {}

    def walk(app: Any, above: tuple[str, ...]) -> None:
        for name in app:
            if name.startswith("-"):
                continue
            command = app[name]
            if command.default_command is not None:
                flags = [
                    one
                    for one in command.assemble_argument_collection()
                    if one.name.startswith("--")
                ]
                found[" ".join((*above, name))] = len(flags), sum(one.show for one in flags)
            walk(command, (*above, name))

    walk(cli.app, ())
    return found


def places_of_options() -> dict[str, int]:
    """Return, for each option of every run, how often ``options.py`` declares it."""
    tree = ast.parse((SRC / "options.py").read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    for name in _declared(tree, STRUCT):
        found[name] = found.get(name, 0) + 1
    for name in set(_declared(tree, KEYWORDS)) & found.keys():
        found[name] += 1
    return found


def _declared(tree: ast.Module, ending: str) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith(ending):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    yield line.target.id


def main() -> None:
    """Print the calls in order, and all counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--quiet", action="store_true", help="the counts alone")
    quiet = parser.parse_args().quiet
    with contextlib.redirect_stdout(sys.stderr):
        every = way_of_a_job()
    own = Job.__module__.removeprefix("sayso.")
    calls, modules = counted([call for call in every if call.caller != own])
    if not quiet:
        for number, call in enumerate(calls, 1):
            print(f"{number:3}  {call.caller}:{call.by} -> {call.module}:{call.function}")
        print("\nmodules: " + ", ".join(sorted(modules)) + "\n")
    print(f"calls that change module on the way of a job: {len(calls)}, to {len(modules)} modules")
    with_own, theirs = counted(every)
    print(f"  with those of {own}: {len(with_own)}, to {len(theirs)} modules")
    print(f"fields of Protocol, structs inside counted: {fields_of(PROTOCOLS['uncle'])}")
    print(f"methods and properties of Run: {len(members_of_a_run())}")
    flags = flags_of_commands()
    most = max(flags, key=lambda name: flags[name])
    print(f"flags of a command: up to {flags[most][0]} accepted, {flags[most][1]} shown ({most})")
    if not quiet:
        for name, (accepted, shown) in flags.items():
            print(f"  {name}: {accepted} accepted, {shown} shown")
    declared = max(places_of_options().values())
    print(f"places of a new option: {declared} in options.py, and its use")


if __name__ == "__main__":
    main()
