"""The sentences of a long answer, and what of it is none: markup, code, verse, speech, formulas.

``parts`` are the sentences: those of ``split_sentences``, without markup. Headings, list markers,
table rules and code are no sentences; each list item, each table row and each value of a flat JSON
object is one. It also handles a full stop that closes both an abbreviation and a sentence ("in the
U.S. He left"), citations after it ("1999.[3] They"), and abbreviations syntok does not know.

:func:`long_text` also counts the lines that hold no sentences of the writer: code, data, verse, and
what characters say. What a line is, is read once, in :func:`_layout`; offsets are never changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.english.sentences import AUXILIARY, PAST, Span, plain_text, split_sentences
from sayso.judges.patterns import regex


class SentencePart(NamedTuple):
    """One sentence. ``item``: of a list or table; ``lead``: place of the sentence that opens it.

    ``title``: the heading right above its list, or the item above it that is one; ``head``: the
    cells of its table's first row, or the key of a value of JSON; ``formula``: a formula on a line
    of its own.
    """

    start: int
    end: int
    item: bool = False
    lead: int | None = None
    title: Span | None = None
    head: tuple[Span, ...] = ()
    formula: bool = False


class LongText(NamedTuple):
    """Sentences of a long answer, and how many lines are something else, by what they are."""

    parts: tuple[SentencePart, ...]
    lines: Counter[str]


_LINE = regex(r"[^\n\r]+")
_MARK = regex(
    r"[ \t]*(?:(?:[-*•–—+·‣▪◦]|\(?\d{1,3}[.)]|\(?[a-z]\))(?:[ \t]+|(?=[\n\r]|\Z))|>[ \t]?){1,5}"
)
_HEADING = regex(
    r"[ \t]*(?:(?:\d{1,2}[.)]|[-*•+])[ \t]+)?(?:#{1,6}(?:[ \t].*|$)|"
    r"(?:\*\*|__)[^*_]{1,120}(?:\*\*|__)[ \t]*+(?::[ \t]*+)?$)"
)
_RULE = regex(r"[-=*_~`|:+ \t]{3,}+$")
_ROW = regex(r"[ \t]*\|.*\|[ \t]*$")
_ITEM = regex(r"[ \t]*(?:[-*•–—+·‣▪◦][ \t]|\(?\d{1,3}[.)][ \t]|\|)")
_FINITE_VERB = regex(rf"\b(?:{AUXILIARY}|{PAST}|born)\b", re.IGNORECASE)
_TITLE = regex(r"[ \t]*[^\W_][^.!?;:,]{1,58}[^\W_)][ \t]*$")
#: "Early life:", while "Her roles include:" opens a list.
_LABEL = regex(
    rf"[ \t]*(?!(?:{alternatives(lexicon_words('openers', 'sentences.label'))})\b)"
    r"[^\W\d_][^.!?;:]{0,40}:[ \t]*$"
)
_CITED = regex(r"(?:\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\])+")
_WORD = regex(r"[^\W_]")
#: longer ones are not joined again
_LONGEST_JOINED = 2_000

#: Words that open a sentence and no name.
_OPENER = rf"(?:{alternatives(lexicon_words('openers', 'sentences'))})"
#: An abbreviation whose full stop also ends the sentence, told by the next word.
_ALSO_END = regex(
    r"(?:\b(?:[A-Za-z]\.){2,5}|"
    rf"\b(?:{alternatives(lexicon_words('abbreviations', 'sentences.closing'))})\.|"
    r"\s[A-Z]\.)(?:[\"')]*)\s+(?="
    rf"{_OPENER}(?:,|\s+(?:[a-z]|[A-Z][\w.-]+\s+(?:is|was|has|had)\b)|\s+\d))"
)
_CITED_END = regex(r"(?:[.!?][\"')]*(?:\s?\[\d{1,3}\])+|[\])]\.)\s+(?=[\"'(]?[^\W_a-z]\S*\s)")
#: "One sentence.Another one": two lower-case words around the stop, and no address.
_GLUED = regex(r"(?<=[a-z]{3})[.!?](?=[A-Z][a-z]*\s+[a-z])")
#: Abbreviations that never end a sentence before a name or number.
_NO_END = regex(rf"\b(?:{alternatives(lexicon_words('abbreviations', 'sentences'))})\.$")
_NEXT = regex(rf"(?!{_OPENER}\s)[\"'(]?[A-Z0-9]")


def _is_title(text: str, lines: Sequence[Span], at: int) -> bool:
    """A short line without a verb or a stop, over a line that begins anew."""
    low, high = lines[at]
    line = text[low:high]
    if at + 1 == len(lines) or _ITEM.match(line) or not _TITLE.match(line):
        return False
    if len(line.split()) > 7 or not line.lstrip()[:1].isupper() or _FINITE_VERB.search(line):
        return False
    if at and "\n\n" not in text[lines[at - 1][1] : low]:
        before = text[slice(*lines[at - 1])].rstrip()
        if before[-1:] not in ".!?:" and not _ITEM.match(before):
            return False
    below = text[slice(*lines[at + 1])].lstrip()
    return bool(_ITEM.match(below)) or (
        below[:1].isupper() and (len(below.split()) > 3 or below.rstrip()[-1:] in ".!?")
    )


# ---- code and data

_FENCE = regex(r"[ \t]*(?:```+|~~~+)[ \t]*([\w+#-]{0,20})")
#: what a fence may hold that is text all the same
_PROSE = frozenset({"markdown", "md", "text", "txt", "plaintext"})
_CODE = regex(
    r"[ \t]*(?:"
    r"(?:def|class) \w+[(:].*:$|(?:from [\w.]+ )?import [\w., *]+;?$|(?:el)?if [^.]*:$|else:$|"
    r"(?:for|while) [^.]*(?:\bin\b|[<>=(]|True)[^.]*:$|return\b(?: [\w\[\](){}.,+*/\"' -]+;?)?$|"
    r"(?:public|private|static|const|let|var|int|float|void|function|func|fn) \w+.*[;{]$|"
    r"(?:print|console\.log|printf|cout)\b ?[(<].*$|#include\b.*|using namespace .*|"
    r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP) [\w*\"`,. ()]+.*;?$|"
    r"(?:FROM|WHERE|(?:LEFT |INNER )?JOIN|ORDER BY|GROUP BY|HAVING|VALUES|LIMIT) ?[\w(`\"].*$|"
    r"(?:if|else|for|while|switch|try|catch)\b[^\n]*\{$|<!?/?[a-zA-Z][^<>]{0,200}>(?:[^<>]{0,40}</\w+>)?$|[{}()\[\];,]+$|//.*|/\*.*|"
    r"[\w.\[\]\"']+ ?(?:[-+*/|&]?=|:=|<-) ?[^=\s].*[;)\]}\"']$|"
    r"[\w.]+\([^()]*(?:\([^()]*\)[^()]*)*\);?$|[a-z.#@*&<][^.]*[;{]$"
    r")[ \t]*"
)
#: what no line of prose has: without one of these a line of a few words is not taken for code
_SYMBOLS = regex(r"[{}\[\]=<>_]|\w\(|\);|//|;$|:$|#include|import |\breturn\b|[A-Z]{4} [\w*]")


def _fenced(text: str, lines: Sequence[Span]) -> dict[int, str]:
    """Return what the lines of fenced blocks are, by their places: "fence", "code", "data"."""
    fences = [i for i, line in enumerate(lines) if _FENCE.match(text, *line)]
    kinds: dict[int, str] = dict.fromkeys(fences, "fence")
    for at in range(0, len(fences), 2):
        first = fences[at]
        last = fences[at + 1] if at + 1 < len(fences) else len(lines)
        opened = _FENCE.match(text, *lines[first])
        language = opened[1].lower() if opened else ""
        alone = first == 0 and last >= len(lines) - 1
        within = range(first + 1, last)
        if language in _PROSE or (alone and not language and not _looks_like_code(text, lines)):
            continue
        data = within and text[lines[within[0]][0] :].lstrip()[:1] in "{["
        kind = "data" if data and language in ("", "json") else "code"
        kinds |= dict.fromkeys(within, kind)
    return kinds


def _looks_like_code(text: str, lines: Sequence[Span]) -> bool:
    found = sum(_is_code(text[slice(*line)]) for line in lines)
    return found > len(lines) / 4


def _is_code(line: str) -> bool:
    """Whether a line is code by its shape."""
    formula = line.rstrip()[-1:] not in "{};:" and _is_formula(line)
    return bool(_SYMBOLS.search(line) and _CODE.fullmatch(line)) and not formula


_PAIR = regex(
    r"\"(?P<key>[^\"\n]{1,60})\"[ \t]*:[ \t]*(?P<value>\"(?:[^\"\\\n]|\\.){0,4000}\"|"
    r"\[[^\[\]{}\n]{0,1000}\]|-?\d[\d.eE+-]{0,30}|true\b|false\b)"
)


def _json(text: str, span: Span) -> Iterator[tuple[Span, Span]]:
    """Return key and value of each plain value in the outermost object that opens ``span``."""
    part = text[span.start : span.end]
    depth, last = 0, 0
    outermost = 1 if part.lstrip()[:1] == "{" else 0
    for pair in _PAIR.finditer(part):
        between = part[last : pair.start()]
        depth += between.count("{") + between.count("[") - between.count("}") - between.count("]")
        last = pair.end()
        if depth == outermost:
            yield (
                Span(span.start + pair.start("key"), span.start + pair.end("key")),
                Span(span.start + pair.start("value"), span.start + pair.end("value")),
            )


# ---- verse and speech

_OPEN_END = regex(r"(?:[,;:—–-]|[^\W_]'?)[\"')]*[ \t]*$")
_STANZA = regex(r"\n[ \t\r]*\n")
_SMALL = lexicon_words("function words", "language")
_LAST = regex(r"([a-z']{2,20})[^a-z]{0,5}$", re.IGNORECASE)
#: lines of a stanza: fewer are verse only beside other stanzas
_LEAST_LINES = 3
_LONGEST_VERSE = 80


def _rhymes(lines: Sequence[str]) -> float:
    """Return the share of lines that end like one of the two before or behind them."""
    ends = [m[1].lower() if (m := _LAST.search(line)) else "" for line in lines]
    paired = [
        any(
            0 < abs(i - j) <= 2 and one and other and one != other and one[-2:] == other[-2:]
            for j, other in enumerate(ends)
        )
        for i, one in enumerate(ends)
    ]
    return sum(paired) / len(lines)


def _is_verse(lines: Sequence[str]) -> bool:
    """Whether lines without a break between them are a stanza."""
    n = len(lines)
    words = [line.split() for line in lines]
    if n < _LEAST_LINES or max(map(len, lines)) > _LONGEST_VERSE or any(map(_ITEM.match, lines)):
        return False
    within = [w for ws in words for w in ws[1:]]
    begun = sum(line.lstrip("\"'( \t")[:1].isupper() for line in lines)
    lower = sum(w[:1].islower() for w in within)
    small = sum(any(w.lower().strip(",.;'\"") in _SMALL for w in ws) for ws in words)
    digits = sum(any(c.isdigit() for c in line) for line in lines)
    labels = sum(":" in line[:40] for line in lines)
    if begun < 0.75 * n or lower < 0.7 * len(within) or not within:
        return False
    if small < 0.6 * n or digits > 0.15 * n or labels > 0.25 * n:
        return False
    inner = lines[:-1]
    enders = sum(line.rstrip()[-1:] in ",;—–" for line in inner) / len(inner)
    stops = sum(line.rstrip()[-1:] in ".!?" for line in inner) / len(inner)
    rhymed = _rhymes(lines)
    if sum(map(len, words)) > 11 * n:
        return False
    return enders >= 0.4 or (rhymed >= (0.4 if not stops else 0.5) and stops <= 0.7)


def _verse(text: str, lines: Sequence[Span], taken: Mapping[int, str]) -> set[int]:
    """Return the places of lines of verse."""
    blocks: list[list[int]] = []
    for at, (low, high) in enumerate(lines):
        if at in taken or not text[low:high].strip():
            blocks.append([])
            continue
        parted = at and _STANZA.search(text, lines[at - 1].end, low + 1)
        if parted or not blocks:
            blocks.append([])
        blocks[-1].append(at)
    found = [b for b in blocks if b and _is_verse([text[slice(*lines[at])] for at in b])]
    every = [at for block in blocks for at in block]
    couplets = not found and len(every) > 4 and max(map(len, blocks)) == 2
    if couplets and _is_verse([text[slice(*lines[at])] for at in every]):
        found = blocks
    verse = {at for block in found for at in block}
    if len(verse) >= 0.5 * sum(map(len, blocks)):
        # short stanzas and single lines between stanzas
        for before, block, after in zip(blocks, blocks[1:], blocks[2:], strict=False):
            sides = [side for side in (before, after) if side]
            if block and sides and all(side[0] in verse for side in sides) and len(block) <= 4:
                short = all(lines[at].end - lines[at].start <= _LONGEST_VERSE for at in block)
                verse |= set(block) if short and len(sides) == 2 else set()
    return verse


_SPOKEN = regex(
    r"[ \t]*(?:[-*•][ \t]+|\d{1,3}[.)][ \t]+)?(?:\*\*|__)?(?P<who>[^\W\d_][\w .'-]{0,30}?)"
    r"(?:\*\*|__)?[ \t]*+(?:\([^()]{1,60}\)[ \t]*+)?:(?:\*\*|__)?[ \t]*+(?P<said>\S.*)$"
)
_QUOTED = regex(
    r"[ \t]*(?:[-*•][ \t]+|\d{1,3}[.)][ \t]+)?(?P<said>[\"“][^\n]{20,}[\"”])[.,]?[ \t]*$"
)
_ADDRESS = regex(
    r"\b(?:I|me|my|I'm|I've|I'll|we|us|our|you|your|yours|let's)\b|[?!]", re.IGNORECASE
)
#: who is asked and answers in a list of facts, and no character
_NO_SPEAKER = frozenset({"q", "a", "question", "answer", "note", "example"})


def _speech(text: str, lines: Sequence[Span], taken: Mapping[int, str]) -> set[int]:
    """Return the places of lines that characters say: "Ann: …" by turns, or items in quotes."""
    said: dict[str, list[int]] = {}
    quoted: list[int] = []
    for at, (low, high) in enumerate(lines):
        if at in taken:
            continue
        line = text[low:high]
        if (spoken := _SPOKEN.match(line)) is not None:
            who = spoken["who"].lower()
            if who not in _NO_SPEAKER:
                said.setdefault(who, []).append(at)
        elif _ITEM.match(line) and _QUOTED.match(line):
            quoted.append(at)
    turns = [places for places in said.values() if len(places) > 1]
    by_turns = [at for places in turns for at in places] if len(said) > 1 and turns else []
    few = len(said) <= max(3, sum(map(len, said.values())) / 2)
    by_turns = [at for places in said.values() for at in places] if by_turns and few else []
    found: set[int] = set()
    for places in (by_turns, quoted):
        to_someone = sum(bool(_ADDRESS.search(text, *lines[at])) for at in places)
        if len(places) > 1 and to_someone >= 0.5 * len(places):
            found |= set(places)
    return found


# ---- formulas

_COMMAND = regex(r"\\[a-zA-Z]+")
_FORMULA_MARKS = regex(r"[=≈≤≥<>^]|\\(?:frac|sqrt|sum|int|boxed|begin|times|cdot)\b")
_LONG_WORD = regex(r"[^\W\d_]{4,}")
#: letters that stand for something
_VARIABLE = regex(r"(?<![^\W\d_])[a-zA-Zα-ω](?![^\W\d_])")


def _is_formula(line: str) -> bool:
    """Whether a line is a formula and nothing else."""
    bare = _COMMAND.sub(" ", line)
    return bool(_FORMULA_MARKS.search(line)) and not _LONG_WORD.search(bare)


def has_variable(formula: str) -> bool:
    """Whether a formula has letters: what they stand for is said elsewhere."""
    return _VARIABLE.search(_COMMAND.sub(" ", formula)) is not None


# ---- what every line is


class _Layout(NamedTuple):
    """A text with all markup made line breaks, and what its items are, by where they begin."""

    shown: str
    items: frozenset[int]
    titles: Mapping[int, Span]
    heads: Mapping[int, tuple[Span, ...]]
    formulas: frozenset[int]
    lines: Counter[str]


class _Reading:
    """The lines of a text, read from the first to the last."""

    def __init__(self, text: str, whole: str) -> None:
        self.text = text
        self.shown = list(whole)
        self.lines = [Span(*line.span()) for line in _LINE.finditer(text)]
        self.items: set[int] = set()
        self.formulas: set[int] = set()
        self.titles: dict[int, Span] = {}
        self.heads: dict[int, tuple[Span, ...]] = {}
        self.counts: Counter[str] = Counter()
        #: headings of what comes next: of a section, and items that are headings by their indent
        self.section: Span | None = None
        self.above: list[tuple[int, Span]] = []
        self.header: tuple[Span, ...] = ()

    def blank(self, low: int, high: int) -> None:
        self.shown[low:high] = "\n" * (high - low)

    def line(self, at: int) -> str:
        return self.text[slice(*self.lines[at])] if at < len(self.lines) else ""

    def read(self) -> _Layout:
        text, lines = self.text, self.lines
        taken = _fenced(text, lines)
        for at in range(len(lines)):
            if at not in taken and _is_code(self.line(at)):
                taken[at] = "code"
        for at in range(1, len(lines) - 1):
            between = taken.get(at - 1) == "code" == taken.get(at + 1)
            line = self.line(at)
            if at not in taken and between and not line[:1].isupper() and line[-1:] != ".":
                taken[at] = "code"
        taken |= self._loose_data(taken)
        taken |= dict.fromkeys(_speech(text, lines, taken), "speech")
        taken |= dict.fromkeys(_verse(text, lines, taken), "verse")
        at = 0
        while at < len(lines):
            kind = taken.get(at, "")
            if kind == "data":
                last = at
                while taken.get(last + 1) == "data":
                    last += 1
                self._data(at, last)
                at = last
            elif kind:
                self.blank(*lines[at])
                if kind != "fence" and self.line(at).strip():
                    self.counts[kind] += 1
                self.header = ()
            else:
                self._prose(at)
            at += 1
        return _Layout(
            "".join(self.shown), frozenset(self.items), self.titles, self.heads,
            frozenset(self.formulas), self.counts,
        )  # fmt: skip

    def _loose_data(self, taken: Mapping[int, str]) -> dict[int, str]:
        """Return the lines of an object that makes up a text without fences."""
        stripped = self.text.strip()
        if taken and set(taken.values()) - {"code"}:
            return {}
        whole = stripped[:1] in "{[" and stripped[-1:] in "}]" and '":' in stripped
        pair = _PAIR.match(stripped)
        return dict.fromkeys(range(len(self.lines)), "data") if whole or pair else {}

    def _data(self, first: int, last: int) -> None:
        """Leave key and value of plain values, each as a line; all else is counted as data."""
        low, high = self.lines[first].start, self.lines[last].end
        pairs = list(_json(self.text, Span(low, high)))
        self.blank(low, high)
        for key, value in pairs:
            low, high = value
            if self.text[low] in '"[':
                low, high = low + 1, high - 1
            self.shown[low:high] = self.text[low:high].translate(_BARE)
            self.items.add(low)
            self.heads[low] = (key,)
        told = {i for i in range(first, last + 1) for k, _ in pairs if self._holds(i, k)}
        rest = [i for i in range(first, last + 1) if i not in told and _WORD.search(self.line(i))]
        self.counts["data"] += len(rest)

    def _holds(self, at: int, span: Span) -> bool:
        return self.lines[at].start <= span.start < self.lines[at].end

    def _prose(self, at: int) -> None:
        text = self.text
        low, high = self.lines[at]
        line = text[low:high]
        below = ""
        if at + 1 < len(self.lines) and text.count("\n", high, self.lines[at + 1].start) == 1:
            below = self.line(at + 1)
        ruled = bool(below.strip() and _RULE.match(below) and set(below.strip()) <= set("=-|: \t"))
        heading = _HEADING.match(line) or (
            _LABEL.match(line) and not _FINITE_VERB.search(line) and not _ITEM.match(line)
        )
        over = ruled and ("|" in line or len(line.split()) <= 12)
        mark = _MARK.match(text, low, high)
        indent = len(line) - len(line.lstrip())
        if over and "|" in line:
            self.header = _cells(text, Span(low, high))
            self.blank(low, high)
            return
        if _RULE.match(line):
            self.blank(low, high)
            return
        if heading or over or _is_title(text, self.lines, at):
            self.blank(low, high)
            while self.above and self.above[-1][0] >= indent:
                self.above.pop()
            named = _bare(text, Span(low, high))
            if mark is not None and indent:
                self.above.append((indent, named))
            else:
                self.section, self.above = named, []
            self.header = ()
            return
        if mark is not None:
            self._item(at, mark.end(), indent)
            return
        if _ROW.match(line):
            first, last = low + line.index("|"), low + line.rindex("|")
            self.blank(low, first + 1)
            self.blank(last, high)
            self.items.add(first + 1)
            if self.header:
                self.heads[first + 1] = self.header
                for place in range(first + 1, last):
                    if self.shown[place] in ".!?":
                        self.shown[place] = ","
            return
        self.header = ()
        if _is_formula(line):
            self.formulas.add(low)
            self.items.add(low)
            return
        # a sentence of its own ends the list of a heading
        self.above, self.section = [], None

    def _item(self, at: int, begin: int, indent: int) -> None:
        """An item of a list; one without a verb over items that are further in is a heading."""
        low, high = self.lines[at]
        self.header = ()
        while self.above and self.above[-1][0] >= indent:
            self.above.pop()
        nested = self.line(at + 1)
        deeper = len(nested) - len(nested.lstrip()) > indent and _ITEM.match(nested)
        words = self.text[begin:high]
        within = ":" in words.rstrip(" :*_")
        if deeper and not within and len(words.split()) <= 10 and not _FINITE_VERB.search(words):
            self.above.append((indent, _bare(self.text, Span(begin, high))))
            self.blank(low, high)
            return
        self.blank(low, begin)
        self.items.add(begin)
        title = self.above[-1][1] if self.above else self.section
        if title is not None:
            self.titles[begin] = title
        if _is_formula(words):
            self.formulas.add(begin)


_BARE = str.maketrans({'"': " ", "\\": " ", "\n": " "})


def _cells(text: str, row: Span) -> tuple[Span, ...]:
    """Return the cells of a row of a table, without the bars and white space around them."""
    line = text[row.start : row.end]
    left = line.index("|") + 1 if line.lstrip().startswith("|") else 0
    right = line.rindex("|") if line.rstrip().endswith("|") else len(line)
    return row_cells(text, Span(row.start + left, row.start + max(left, right)))


def row_cells(text: str, row: Span) -> tuple[Span, ...]:
    """Return the cells of a row whose outer bars are not in ``row``."""
    found, low = [], row.start
    for piece in text[row.start : row.end].split("|"):
        found.append(_bare(text, Span(low, low + len(piece))))
        low += len(piece) + 1
    return tuple(found)


def _bare(text: str, span: Span) -> Span:
    """Return a span without marks of headings, emphasis and lists, and a colon at its end."""
    part = text[span.start : span.end]
    begin = re.match(r"[ \t]*(?:(?:[-•+]|\*(?!\*)|#{1,6}|\d{1,3}[.)])[ \t]+)*[*_`#\s]*", part)
    low = span.start + (begin.end() if begin else 0)
    high = max(low, span.start + len(part.rstrip(" \t*_`:#")))
    return Span(low, high)


def _divided(text: str, span: Span) -> list[Span]:
    """Cut a sentence where its end was overlooked."""
    ends: list[tuple[int, int]] = []
    for pattern in (_ALSO_END, _CITED_END, _GLUED):
        for found in pattern.finditer(text, *span):
            end = found.start() + len(found.group().rstrip())
            ends.append((end, found.end()))
    parts, start = [], span.start
    for end, after in sorted(ends):
        if end > start:
            parts.append(Span(start, end))
            start = after
    parts.append(Span(start, span.end))
    return [p for p in parts if p.end > p.start]


def _joined(text: str, found: list[Span]) -> list[Span]:
    """Join what was cut behind an abbreviation, and citations to the sentence they follow."""
    whole: list[Span] = []
    for span in found:
        if whole:
            last = whole[-1]
            gap = text[last.end : span.start]
            tail = text[max(last.start, last.end - 12) : last.end]
            short = tail.endswith("Pvt.") and text.startswith("Ltd", span.start)
            if span.end - last.start > _LONGEST_JOINED:
                whole.append(span)
                continue
            if "\n" not in gap and (short or (_NO_END.search(tail) and _NEXT.match(text, *span))):
                whole[-1] = Span(last.start, span.end)
                continue
            cited = _CITED.match(text, *span)
            if cited is not None and "\n" not in gap:
                whole[-1] = Span(last.start, cited.end())
                rest = len(text[cited.end() : span.end]) - len(
                    text[cited.end() : span.end].lstrip(" .")
                )
                span = Span(cited.end() + rest, span.end)
        if span.end > span.start:
            whole.append(span)
    return whole


@lru_cache(maxsize=1024)
def long_text(text: str) -> LongText:
    """Return the sentences of a long answer and the number of its lines that are none."""
    layout = _Reading(text, plain_text(text)).read()
    masked, items = layout.shown, sorted(layout.items)
    found: list[Span] = []
    for span in _joined(masked, list(split_sentences(masked))):
        found += _divided(masked, span)
    kept: list[SentencePart] = []
    lead: int | None = None
    for span in found:
        if not _WORD.search(masked, *span):
            continue
        left = masked.rfind("\n", 0, span.start) + 1
        low, high = bisect_left(items, left), bisect_right(items, span.start)
        item = items[high - 1] if low < high else None
        closed = _trimmed(text, span)
        ends = masked[closed.start : closed.end].endswith(":")
        title = None if item is None else layout.titles.get(item)
        if item is None:
            lead = len(kept) if ends else None
        elif title is not None and lead is not None and title.start >= kept[lead].end:
            lead = None  # a heading stands between
        kept.append(
            SentencePart(
                closed.start,
                closed.end,
                item is not None,
                None if item is None else lead,
                title,
                () if item is None else layout.heads.get(item, ()),
                item in layout.formulas,
            )
        )
    return LongText(tuple(kept), layout.lines)


def parts(text: str) -> tuple[SentencePart, ...]:
    """Return the sentences of a long answer, by offsets into ``text``, in order.

    A text of markup, punctuation, code or white space alone has none.
    """
    return long_text(text).parts


def _trimmed(text: str, span: Span) -> Span:
    """Take over quotes and brackets that close the sentence, and drop emphasis at its edges."""
    start, end = span
    while start < end and (text[start] in "*_`|~" or text[start].isspace()):
        start += 1
    while end > start and (text[end - 1] in "*_`|~" or text[end - 1].isspace()):
        end -= 1
    return Span(start, end)
