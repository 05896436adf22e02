"""A YAML file that a person wrote: read as a record, or refused with the line that is wrong.

What YAML itself lets pass is refused too: a key that stands twice (the second would silently take
the place of the first).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from sayso.records import InputError

if TYPE_CHECKING:
    import yaml

Record = TypeVar("Record")
#: the way to a value: keys of mappings and numbers of lists
Keys = tuple[object, ...]
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


class Lines:
    """Where everything stands in a file."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.numbers: dict[Keys, int] = {}

    def at(self, *keys: object) -> str:
        """Return file and line of the value that ``keys`` lead to, or of the nearest above it."""
        for length in range(len(keys), -1, -1):
            if keys[:length] in self.numbers:
                return f"{self.place} line {self.numbers[keys[:length]]}"
        return self.place


def read_yaml(path: Path, kind: type[Record], hint: str) -> tuple[Record, Lines]:
    """Read a file as ``kind``; InputError with the line, what was wrong there, and ``hint``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: does not exist; {hint}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; expected a YAML file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no UTF-8 text at its byte {error.start + 1}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    return parse_yaml(text, str(path), kind, hint)


def parse_yaml(text: str, place: str, kind: type[Record], hint: str) -> tuple[Record, Lines]:
    """Read text as ``kind``; see :func:`read_yaml`."""
    import yaml

    lines = Lines(place)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _number(node, (), lines, set())
        value = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}" if mark else ""
        raise InputError(f"{place}{line}: is no YAML ({error.problem or error.context})") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{place}: is no YAML ({' '.join(str(error).split())})") from None
    try:
        return msgspec.convert(value, kind), lines
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at ")
        keys = _way(value, kind, str(error), path)
        field = re.search(r"unknown field `(.*)`", reason)
        at = lines.at(*keys, *([field[1]] if field else []))
        told = "".join(f"{key}: " for key in keys)
        quoted = " (a word such as no is read as false: quote it)" if "got `bool`" in reason else ""
        raise InputError(f"{at}: {told}{reason}{quoted}; {hint}") from None


def _number(node: yaml.Node, keys: Keys, lines: Lines, seen: set[int]) -> None:
    """Note the line of every value, and refuse keys that stand twice."""
    lines.numbers.setdefault(keys, node.start_mark.line + 1)
    if id(node) in seen:  # an alias: walking it again could take for ever
        return
    seen.add(id(node))
    for key, line, value in _children(node):
        own = (*keys, key)
        if own in lines.numbers and key != "<<":
            raise InputError(
                f"{lines.place} line {line}: {key!r} stands there twice (first in line "
                f"{lines.numbers[own]})"
            )
        lines.numbers[own] = line
        _number(value, own, lines, seen)


def _children(node: yaml.Node) -> Iterator[tuple[object, int, yaml.Node]]:
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield number, value.start_mark.line + 1, value


def _way(value: object, kind: type, error: str, path: str) -> Keys:
    """Return the keys that lead to an error; msgspec writes [...] for those of a mapping."""
    keys: list[object] = []
    here = value
    for name, index in _STEP.findall(path):
        if index == "...":
            blamed = [key for key in here if _fails(_alone(value, keys, key), kind, error)]  # type: ignore[attr-defined]
            if not blamed:
                break
            keys.append(blamed[0])
        else:
            keys.append(name or int(index))
        try:
            here = here[keys[-1]]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            break
    return tuple(keys)


def _fails(value: object, kind: type, error: str) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as other:
        return str(other) == error
    return False


def _alone(value: object, keys: list[object], key: object) -> object:
    """Return ``value`` with one key alone in the mapping that ``keys`` lead to."""
    if not keys:
        return {key: value[key]}  # type: ignore[index]
    copy = dict(value) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
    copy[keys[0]] = _alone(copy[keys[0]], keys[1:], key)
    return copy


__all__ = ["Lines", "parse_yaml", "read_yaml"]
