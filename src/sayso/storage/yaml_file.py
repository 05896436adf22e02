"""YAML files of people: PyYAML's safe loader, with stricter types.

PyYAML reads YAML 1.1, where ``no`` is a truth value, ``1:30`` is 90 and ``010`` is 8. Here only
``true`` and ``false`` are truth values, a day is a text, and a number that YAML 1.2 reads
differently is refused. Anchors and aliases are refused, and so is a file beyond a size or a depth
that no settings have: a few lines of them can stand for more than fits into memory.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

from sayso.records import InputError, refuse_secret

#: bytes of a file of settings; all settings of a protocol with their defaults are two thousand
LARGEST = 32_768
#: mappings and lists inside each other; settings have two
DEEPEST = 10
#: characters of one number; Python prints none beyond 4,300 digits
LONGEST_NUMBER = 100
#: settings that are names, also where they look like numbers: version 1.10 is not 1.1
NAMES = ("model_version", "revision", "name")
EXAMPLE = "expected a mapping of settings, e.g. 'limit: 20'"
QUOTE = "put a text into quotes"
_NULL, _BOOL, _INT, _FLOAT, _STR, _SEQ, _MAP = (
    f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map")
)
#: numbers that YAML 1.1 and YAML 1.2 read alike, or that are a text in YAML 1.1
_CLEAR_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    r"|[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?"
)


def read_yaml(path: Path, place: str) -> dict[str, Any]:
    """Return the settings of a file; InputError with the line, and what is wrong there.

    ``place`` is what messages call the file. The name of a system prompt's file is relative to it.
    """
    node, value = parse_yaml(yaml_text(path, place, LARGEST), place)
    if not isinstance(value, dict):
        line = f" line {node.start_mark.line + 1}" if node is not None else ""
        raise InputError(f"{place}{line}: {EXAMPLE}")
    _check_texts(node, place)
    return cast(dict[str, Any], _beside(value, path.parent))


def _beside(value: Any, folder: Path) -> Any:
    """Return settings whose ``system``, at any depth, is a path from here."""
    if isinstance(value, list):
        return [_beside(one, folder) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: str(folder / one)
        if name == "system" and isinstance(one, str)
        else _beside(one, folder)
        for name, one in value.items()
    }


def _check_texts(node: Any, place: str) -> None:
    """Refuse texts that no name of a file and no reply can hold: with NUL, or half a character."""
    if isinstance(node, yaml.CollectionNode):
        for part in node.value:
            for one in part if isinstance(part, tuple) else (part,):
                _check_texts(one, place)
    elif "\0" in node.value or any("\ud800" <= c <= "\udfff" for c in node.value):
        shown = f"{_short(repr(node.value))} contains NUL or half a character"
        raise InputError(f"{place} line {node.start_mark.line + 1}: {shown}")


def yaml_text(path: Path, place: str, largest: int | None = None) -> str:
    """Return the text of a file of at most ``largest`` bytes. Raises InputError."""
    try:
        with path.open("rb") as file:
            content = file.read(-1 if largest is None else largest + 1)
    except FileNotFoundError:
        raise InputError(f"{place}: does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{place}: is a folder; expected a YAML file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{place}: cannot be read ({reason})") from None
    if largest is not None and len(content) > largest:
        raise InputError(f"{place}: is larger than {largest:,} bytes; {EXAMPLE}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{place} line {line}: is not UTF-8 text") from None


def parse_yaml(text: str, place: str) -> tuple[yaml.Node | None, Any]:
    """Return the only document of a text, as PyYAML's nodes and as a value; ``None`` if empty.

    Raises InputError with ``place``, the line, and what is wrong there.
    """
    try:
        loader = StrictLoader(text, place)
    except yaml.reader.ReaderError as error:
        at = text.count("\n", 0, error.position) + 1
        what = f"contains the character #x{error.character:04x}"
        raise InputError(f"{place} line {at}: {what}") from None
    try:
        node = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}" if mark else ""
        problem = _short(str(error.problem or error.context), 100)
        if "'\\t'" in problem:
            problem = "a tab, where lines are indented with spaces"
        raise InputError(f"{place}{line}: is not YAML ({problem})") from None
    except (yaml.YAMLError, ValueError, LookupError, OverflowError) as error:
        at = loader.line_of_value or loader.get_mark().line + 1
        raise InputError(f"{place} line {at}: is not YAML ({_short(error, 100)})") from None


class StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader with the types that the module describes; it builds nothing else."""

    yaml_implicit_resolvers = {  # noqa: RUF012  (PyYAML's own table)
        first: [rule for rule in rules if rule[0] in (_NULL, _INT, _FLOAT)]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {  # noqa: RUF012
        tag: yaml.SafeLoader.yaml_constructors[tag] for tag in (_NULL, _BOOL, _SEQ, _MAP, None)
    }

    def __init__(self, text: str, place: str) -> None:
        super().__init__(text)
        self.place = place
        self.depth = self.line_of_value = 0

    def wrong(self, what: str, where: Any) -> InputError:
        """Return the error for the place of a node or an event."""
        return InputError(f"{self.place} line {where.start_mark.line + 1}: {what}")

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node, unless it is nested too deeply, an anchor or an alias."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise self.wrong(
                f"{_short(sign + event.anchor)} is an anchor or an alias; write values out, and "
                "texts that begin with & or * in quotes",
                event,
            )
        if self.depth > DEEPEST:
            raise self.wrong("nested too deeply; settings have two levels", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return the value of a node; its line is kept for errors that name none."""
        self.line_of_value = node.start_mark.line + 1
        return super().construct_object(node, deep)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping whose keys are texts, each there once."""
        lines: dict[str, int] = {}
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.tag != _STR:
                named = f" {_short(key.value)}" if isinstance(key, yaml.ScalarNode) else ""
                raise self.wrong(f"the key{named} is not the name of a setting", key)
            line = key.start_mark.line + 1
            if key.value in lines:
                first = f" (first in line {lines[key.value]})" if lines[key.value] != line else ""
                raise self.wrong(f"{_short(repr(key.value))} appears twice{first}", key)
            lines[key.value] = line
            if key.value.replace("-", "_") in NAMES and value.tag in (_INT, _FLOAT):
                value.tag = _STR
        return super().construct_mapping(node, deep)

    def number(self, node: Any) -> Any:
        """Return a number that both versions of YAML read alike."""
        text = str(self.construct_scalar(node))
        if len(text) > LONGEST_NUMBER:
            raise self.wrong(f"no number of {len(text):,} characters is a setting; {QUOTE}", node)
        if not _CLEAR_NUMBER.fullmatch(text):
            raise self.wrong(
                f"{text!r} is no number that YAML 1.1 and YAML 1.2 read alike; write a decimal "
                f"number without leading zeros, or {QUOTE}",
                node,
            )
        return yaml.SafeLoader.yaml_constructors[node.tag](self, node)

    def text(self, node: Any) -> str:
        """Return a text that is no secret."""
        value = str(self.construct_scalar(node))
        refuse_secret(value, f"{self.place} line {node.start_mark.line + 1}")
        return value


for _tag, _form, _first in (
    (_BOOL, r"true|True|TRUE|false|False|FALSE", "tTfF"),
    (_INT, r"[-+]?[0-9]+|0o[0-7]+", "-+0123456789"),
    (_FLOAT, r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+|[-+]\.[0-9]+", "-+0123456789."),
):
    StrictLoader.add_implicit_resolver(_tag, re.compile(f"(?:{_form})$"), list(_first))
StrictLoader.add_constructor(_INT, StrictLoader.number)
StrictLoader.add_constructor(_FLOAT, StrictLoader.number)
StrictLoader.add_constructor(_STR, StrictLoader.text)


def _short(what: object, most: int = 60) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(str(what).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
