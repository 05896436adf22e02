"""Passages of a text: cleaned, counted in tokens, cut where a sentence ends; and keys of titles.

A *token* is what :data:`TOKEN` matches: a run of letters, digits and underscores (every 64
characters of a longer one), one character of a script that puts no spaces between words, or one
mark of punctuation. Models count otherwise: in English, 256 of these are some 300 to 350 of theirs.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: characters of a word beyond which it counts again
LONG = 64
_SPACELESS = "\u0e00-\u0eff\u2e80-\u2fff\u3001-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SCRIPT = re.compile(f"[{_SPACELESS}]")
TOKEN = re.compile(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]{{1,{LONG}}}|[^\w\s]")
# what no text needs and terminals, XML and tokenizers stumble over; a tab and a newline stay
_BAD = re.compile("[\0-\x08\x0b-\x0d\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean_passage(text: str) -> tuple[str, bool]:
    """Return the text without control characters and lone surrogates; tell whether it had any.

    A control character becomes a space, a lone surrogate U+FFFD, a Windows line end a newline
    (which is not counted as a change).
    """
    if text.isprintable():
        return text, False
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if _BAD.search(text) is None:
        return text, False
    return _BAD.sub(lambda match: "\ufffd" if match[0] >= "\ud800" else " ", text), True


# ---- counting

# one byte for each kind of ASCII character: counting these is ten times as fast as matching
_WORD, _SPACE, _MARK, _ALONE = b"a !c"


def _kind(character: str) -> int:
    """Return the kind of one character, as :data:`TOKEN` and :func:`str.isspace` see it."""
    if character.isspace():
        return _SPACE
    if not (character.isalnum() or character == "_"):
        return _MARK
    return _ALONE if _SCRIPT.match(character) else _WORD


# ASCII, then what Windows-1252 has beside it: quotation marks, dashes, letters with accents
_KINDS = bytes(_kind(bytes([code]).decode("cp1252", "replace")) for code in range(256))
_RUN = b"a" * (LONG + 1)


def count_tokens(text: str) -> int:
    """Count the tokens of a text."""
    try:
        kinds = text.encode("ascii" if text.isascii() else "cp1252").translate(_KINDS)
    except UnicodeEncodeError:
        found = _kinds_of(text)
        kinds = _RUN if found is None else found.tobytes()
    if _RUN in kinds:
        return len(TOKEN.findall(text))
    marks = kinds.count(b"!")
    words = kinds.startswith(b"a") + kinds.replace(b"!", b" ").count(b" a")
    if b"c" in kinds:
        words += kinds.count(b"ca") + kinds.count(b"c")
    return words + marks


# ---- cutting

#: characters below which a text is probably one piece, and characters that are cut at a time
SHORT, WINDOW = 4000, 1 << 20
_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？]|\n\s*")
#: words before a full stop that ends no sentence
ABBREVIATIONS = {
    "Capt", "Col", "Dr", "Fr", "Gen", "Gov", "Hon", "Jr", "Lt", "Maj", "Mr", "Mrs", "Ms",
    "Mt", "No", "Prof", "Rep", "Rev", "Sen", "Sgt", "Sr", "St", "approx", "c", "ca", "cf",
    "e.g", "est", "etc", "fl", "i.e", "p", "pp", "vol", "vs",
}  # fmt: skip


def cut_passages(text: str, limit: int) -> list[str]:
    """Cut a cleaned text into pieces of at most ``limit`` tokens.

    Pieces end where a sentence or a line does; a sentence above the limit is cut between words,
    and a word above it (a word being what stands between spaces) between tokens. Nothing but
    white space is lost between two pieces.
    """
    text = text.strip()
    if len(text) < SHORT and count_tokens(text) <= limit:
        return [text] if text else []
    pieces: list[str] = []
    while len(text) > WINDOW:
        space = next((n for n in range(WINDOW, WINDOW // 2, -1) if text[n].isspace()), WINDOW)
        pieces += _cut_window(text[:space].strip(), limit)
        text = text[space:].strip()
    return pieces + _cut_window(text, limit) if text else pieces


def _cut_window(text: str, limit: int) -> list[str]:
    """Cut one window of a text."""
    import numpy as np

    tokens = _begun_before(text)
    ends = [match.end() for match in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    before = tokens[ends]
    pieces: list[str] = []
    start = first = 0  # the next piece, and the first sentence end behind its start
    while start < len(text):
        full = int(tokens[start]) + limit
        last = int(np.searchsorted(before, full, "right")) - 1
        if last >= first:
            good = (n for n in range(last, first - 1, -1) if _is_end(text, ends[n]))
            last = next(good, last)
            stop, first = ends[last], last + 1
        else:  # one sentence above the limit: between words, or else between tokens
            stop = int(np.searchsorted(tokens, full, "right")) - 1
            space = next((n for n in range(stop, start, -1) if text[n - 1].isspace()), start)
            if tokens[space] > tokens[start]:
                stop = space
        piece = text[start:stop].strip()
        if piece:
            pieces.append(piece)
        start = stop
    return pieces


def _begun_before(text: str) -> NDArray[np.int32]:
    """Return how many tokens begin before each position, shape (n + 1,)."""
    import numpy as np

    begins = np.zeros(len(text) + 1, np.int32)
    kinds = _kinds_of(text)
    if kinds is None:
        for token in TOKEN.finditer(text):
            begins[token.start() + 1] = 1
    else:
        word = kinds == _WORD
        begins[1:] = word
        begins[2:] &= ~word[:-1]
        begins[1:] |= (kinds == _ALONE) | (kinds == _MARK)
    return begins.cumsum(dtype=np.int32)


def _kinds_of(text: str) -> NDArray[np.uint8] | None:
    """Return the kind of each character; ``None`` where tokens do not follow from the kinds."""
    import numpy as np

    if text.isascii():
        kinds = np.frombuffer(text.encode().translate(_KINDS), np.uint8)
    else:
        codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
        if len(codes) > len(text):  # characters beyond the first 65,536
            return None
        kinds = _kind_table()[codes]
    return None if _RUN in kinds.tobytes() else kinds


@functools.cache
def _kind_table() -> NDArray[np.uint8]:
    """Return the kinds of the first 65,536 characters."""
    import numpy as np

    kinds = [_kind(chr(code)) for code in range(1 << 16)]
    return np.array(kinds, np.uint8)


def _is_end(text: str, end: int) -> bool:
    """Tell whether a sentence ends before ``end``: not behind an initial or an abbreviation."""
    head = text[max(0, end - 16) : end]
    if "\n" in head[len(head.rstrip()) :] or end == len(text):
        return True
    word = head.rsplit(None, 1)[-1].lstrip("([\"'“‘")
    if not word.endswith("."):
        return True
    word = word[:-1]
    return not (word in ABBREVIATIONS or (len(word) == 1 and word.isupper()))


# ---- titles that are written nearly the same

_TAIL = re.compile(r"(?<!\s)\s*+\([^()]*+\)$")
#: characters of a title that are kept
LONGEST_TITLE = 1000


def plain_title(title: str) -> str:
    """Return a title without case, diacritics, underscores and repeated spaces."""
    if not title.isascii():
        split = unicodedata.normalize("NFKD", title)
        title = "".join(c for c in split if not unicodedata.combining(c))
    return " ".join(title.casefold().replace("_", " ").split())


def key(title: str) -> str:
    """Return :func:`plain_title` without the note of a namesake: ``Ajax (play)`` gives ``ajax``."""
    short = plain_title(title)
    return (_TAIL.sub("", short) or short) if short.endswith(")") else short
