"""Settings in a file: a mapping, in as much of YAML 1.2 as settings need.

The library reads YAML 1.1, where ``no`` is a truth value, ``1:30`` is 90 and ``010`` is 8. Here a
word is a word and a day is a text; a number that the two versions read differently is refused.
Anchors, aliases, merges and tags of other types are refused, and so is a file beyond a size or a
depth that no settings have: a few lines of them can stand for more than fits into memory.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.records import InputError, refuse_secret

if TYPE_CHECKING:
    import yaml

#: bytes of a file; all settings of a protocol with their defaults are two thousand
LARGEST = 32_768
#: mappings and lists inside each other; settings have two
DEEPEST = 10
#: characters of one number; Python prints none beyond 4,300 digits
LONGEST_NUMBER = 100
EXAMPLE = "expected a mapping of settings, e.g. 'limit: 20'"
QUOTE = "put a text into quotes"
_TAG = "tag:yaml.org,2002:"
_NUMBERS = (f"{_TAG}int", f"{_TAG}float")
#: plain values of YAML 1.2, first match first
_CORE = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")),
    ("float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
                         r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")),
)  # fmt: skip
#: numbers that are the same in both versions
_SAME_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_SCALARS = (*_NUMBERS, f"{_TAG}str", f"{_TAG}bool", f"{_TAG}null", f"{_TAG}timestamp")


def read_yaml(path: Path, place: str) -> dict[str, Any]:
    """Return the settings of a file; InputError with the line, and what is wrong there.

    ``place`` is what messages call the file.
    """
    import yaml

    reader = _YamlReader(place)
    text = reader.decoded(_content(path, place))
    try:
        reader.loader = loader_class()(text)
        return reader.document()
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context)
        if "'\\t'" in problem:
            problem = "a tab, where lines are indented with spaces"
        raise reader.wrong(
            f"is not YAML ({problem})", error.problem_mark or error.context_mark
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise reader.wrong(f"contains the character #x{error.character:04x}", line) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:100]
        raise reader.wrong(f"is not YAML ({reason})", reader.loader.get_mark()) from None


def _content(path: Path, name: str) -> bytes:
    """Return the bytes of a file, which are few."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(f"{name}: does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a folder; expected a YAML file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read ({reason})") from None
    if len(content) > LARGEST:
        raise InputError(f"{name}: is larger than {LARGEST:,} bytes; {EXAMPLE}")
    return content


class AmbiguousError(ValueError):
    """A number that YAML 1.1 and YAML 1.2 read differently."""


@functools.cache
def loader_class() -> Any:
    """Return a loader that reads plain values as the core schema of YAML 1.2 does.

    Section 10.3.2 of https://yaml.org/spec/1.2.2. Its methods raise :class:`AmbiguousError`.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        """A safe loader that reads plain values by the core schema."""

        #: the line of the value that is read
        value_line = 0

        def compose_scalar_node(self, anchor: Any) -> Any:
            """Return the node of a scalar."""
            self.value_line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            return super().compose_scalar_node(anchor)

        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            """Return the tag of a node."""
            tag = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
            if kind is not yaml.ScalarNode or not implicit[0]:
                return tag
            core = next((name for name, form in _CORE if form.fullmatch(value)), "str")
            check_number(value, tag in _NUMBERS or core == "int")
            # merges and default values stay what they are, and are refused where they mean nothing
            return tag if value in ("<<", "=") else f"{_TAG}{core}"

    return Loader


def check_number(text: str, number: bool) -> None:
    """Refuse what is a ``number`` in one version, and another one or a text in the other."""
    if number and not _SAME_NUMBER.fullmatch(text):
        raise AmbiguousError(
            f"{_short(repr(text))} means one thing in YAML 1.1 and another in YAML 1.2; write a "
            f"decimal number without leading zeros, or {QUOTE}"
        )


class _YamlReader:
    """Builds settings from the parser's events, so that nothing is built that is refused."""

    loader: Any  # a yaml.SafeLoader, whose methods have no types

    def __init__(self, place: str) -> None:
        self.place = place

    def wrong(self, what: str, where: yaml.Mark | int | None) -> InputError:
        """Return the error for a place in the file."""
        line = where if isinstance(where, int) or where is None else where.line + 1
        return InputError(f"{self.place}{f' line {line}' if line else ''}: {what}")

    def decoded(self, content: bytes) -> str:
        """Return a file's text."""
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self.wrong("is not UTF-8 text", line) from None

    def document(self) -> dict[str, Any]:
        """Return the settings of the only document."""
        import yaml

        self.loader.get_event()  # the stream's start
        if self.loader.check_event(yaml.StreamEndEvent):
            raise self.wrong(EXAMPLE, None)
        self.loader.get_event()  # the document's start
        if not self.loader.check_event(yaml.MappingStartEvent):
            raise self.wrong(EXAMPLE, self.loader.peek_event().start_mark)
        settings: dict[str, Any] = self.value(0)
        self.loader.get_event()  # the document's end
        if not self.loader.check_event(yaml.StreamEndEvent):
            raise self.wrong("a second document", self.loader.peek_event().start_mark)
        return settings

    def value(self, depth: int) -> Any:
        """Return what the next events stand for."""
        import yaml

        event = self.loader.get_event()
        if event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise self.wrong(
                f"{_short(sign + event.anchor)} is an anchor or an alias; write values out, and "
                "texts that begin with & or * in quotes",
                event.start_mark,
            )
        if depth > DEEPEST:
            raise self.wrong("nested too deeply; settings have two levels", event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
        if event.tag not in (None, "!", f"{_TAG}{kind}"):
            raise self.wrong(f"{_tag(event.tag)} is not a type of a setting", event.start_mark)
        return self.mapping(depth) if kind == "map" else self.listed(depth)

    def listed(self, depth: int) -> list[Any]:
        """Return a list whose start was read."""
        import yaml

        values = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            values.append(self.value(depth + 1))
        self.loader.get_event()
        return values

    def mapping(self, depth: int) -> dict[str, Any]:
        """Return a mapping whose start was read; its keys are texts, each there once."""
        import yaml

        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self.loader.peek_event()
            line = event.start_mark.line + 1
            if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                raise self.wrong("a list or a mapping is not the name of a setting", line)
            key = self.value(depth + 1)
            if not isinstance(key, str):
                name = _short(event.value)
                raise self.wrong(f"the key {name} is not the name of a setting", line)
            if key in values:
                first = f" (first in line {lines[key]})" if lines[key] != line else ""
                raise self.wrong(f"{_short(repr(key))} appears twice{first}", line)
            lines[key] = line
            values[key] = self.value(depth + 1)
        self.loader.get_event()
        return values

    def scalar(self, event: Any) -> Any:
        """Return a text, number, truth, day or nothing."""
        import yaml

        node = yaml.ScalarNode(event.tag, event.value, event.start_mark, event.end_mark)
        plain = node.tag is None or node.tag == "!"
        try:
            if plain:
                node.tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
            else:
                check_number(event.value, node.tag in _NUMBERS and bool(event.value))
        except AmbiguousError as error:
            raise self.wrong(str(error), event.start_mark) from None
        if plain and node.tag not in _SCALARS:  # << and =
            raise self.wrong(
                f"{_short(repr(event.value))} means nothing in settings; {QUOTE}", event.start_mark
            )
        if node.tag not in _SCALARS:
            raise self.wrong(f"{_tag(node.tag)} is not a type of a setting", event.start_mark)
        if node.tag in _NUMBERS and len(event.value) > LONGEST_NUMBER:
            raise self.wrong(
                f"no number of {len(event.value):,} characters is a setting; {QUOTE}",
                event.start_mark,
            )
        try:
            value = self.loader.construct_object(node)
        except (ValueError, LookupError, OverflowError, AttributeError):  # PyYAML checks no more
            kind = {"timestamp": "day or time", "bool": "truth"}.get(name := node.tag[len(_TAG) :])
            raise self.wrong(
                f"{_short(repr(event.value))} is no {kind or name}; {QUOTE}", event.start_mark
            ) from None
        if isinstance(value, str):
            self.check_text(value, event.start_mark)
        return value

    def check_text(self, text: str, mark: yaml.Mark) -> None:
        """Refuse what no name of a file and no reply can hold: NUL, half a character; a secret."""
        refuse_secret(text, f"{self.place} line {mark.line + 1}")
        if "\0" in text:
            raise self.wrong(f"{_short(repr(text))} contains a NUL character", mark)
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise self.wrong(f"{_short(repr(text))} contains half a character", mark)


def _tag(tag: str) -> str:
    """Return a tag as it is written."""
    return _short(tag.replace(_TAG, "!!", 1))


def _short(text: str) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
