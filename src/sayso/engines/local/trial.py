"""Tries in a process of its own what a model folder brings that runs like a program: its chat
template, and the patterns by which an adapter chooses modules.

Either can be written so that it never ends or fills the memory. The process has a limit on its time
and its memory, and reads nothing of ours; it is this file, started as a script.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

#: seconds of processor time, and of waiting on a machine that is busy
SECONDS, PATIENCE = 5, 120
#: bytes of memory, and characters of a prompt for :data:`QUESTION`
MEMORY, LONGEST = 1 << 30, 1_000_000
#: characters of a template: the longest of published models have about 50,000
TEMPLATE = 1_000_000
QUESTION = "What is the capital of France?"
CONVERSATIONS = (
    ({"role": "user", "content": QUESTION},),
    ({"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}),
    (
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "Paris."},
        {"role": "user", "content": QUESTION},
    ),
)


# ---- what is asked of it


@lru_cache(maxsize=64)
def try_template(template: str) -> None:
    """Raise ValueError for a chat template that takes too long or writes too much for a question.

    Whatever else is wrong with it is found where it is used.
    """
    if len(template) > TEMPLATE:
        raise ValueError(
            f"its chat template has {len(template):,} characters: expected at most {TEMPLATE:,}"
        )
    longest = _tried({"template": template}, "its chat template")
    if longest > LONGEST:
        raise ValueError(
            f"its chat template writes {longest:,} characters for a question of {len(QUESTION)}"
        )


def try_patterns(patterns: Sequence[str], names: Iterable[str], what: str) -> None:
    """Raise ValueError for regular expressions that take too long on names of modules."""
    _tried({"patterns": list(patterns), "names": list(names)}, what)


def _tried(task: Mapping[str, Any], what: str) -> int:
    """Return what the process says of a task; ValueError where it passes its limits."""
    limits = {"seconds": SECONDS, "memory": MEMORY}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(Path(__file__)), json.dumps(limits)],
            input=json.dumps(task).encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{what} took more than {PATIENCE} seconds for one question") from None
    said = done.stdout.decode(errors="replace").strip()
    if said == "memory":
        raise ValueError(f"{what} needs more than {MEMORY >> 20:,} MB of memory")
    if done.returncode < 0:
        raise ValueError(f"{what} takes more than {SECONDS} seconds")
    return int(said) if said.isdecimal() else 0  # else it could not be tried here


# ---- in the process


def main() -> None:
    """Do what standard input asks for, and print one number, or that memory ran out."""
    limits = json.loads(sys.argv[1])
    try:
        import resource
    except ImportError:  # Windows: only the patience of the other process is left
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"],) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"],) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    task = json.loads(sys.stdin.buffer.read())
    try:
        print(_longest_prompt(task["template"]) if "template" in task else _matches(task))
    except MemoryError:
        print("memory")


def _longest_prompt(template: str) -> int:
    """Return the length of the longest prompt that a template writes for a question."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # a tag of transformers, which marks what the model says
    plain = re.sub(r"\{%-?\s*(end)?generation\s*-?%\}", "", template)
    world = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    world.globals["strftime_now"] = lambda form: form
    lengths = [0]
    for messages in CONVERSATIONS:
        try:
            written = world.from_string(plain).render(
                messages=messages, add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
            )
        except MemoryError:
            raise
        except Exception:  # whatever a template does wrong is told where it is used
            continue
        lengths.append(len(written))
    return max(lengths)


def _matches(task: Mapping[str, Any]) -> int:
    """Return how often patterns match names, tried in the ways in which peft does."""
    count = 0
    for pattern in task["patterns"]:
        for written in (pattern, rf"(.*\.)?({pattern})$", rf".*\.[^.]*\.{pattern}\.(\d+)\."):
            try:
                compiled = re.compile(written)
            except re.error:
                continue  # peft says what is wrong with it
            count += sum(compiled.fullmatch(name) is not None for name in task["names"])
            count += sum(compiled.match(name) is not None for name in task["names"])
    return count


if __name__ == "__main__":
    main()
