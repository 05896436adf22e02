"""Cutting a text into sentences and clauses, by offsets: the text itself is never changed.

A clause is the smallest stretch a hedge can be limited to: "He was born in Ripley | but I am not
sure when". Sentences come from syntok, loaded when the first longer text is read.

``parts`` are the sentences of a long answer, for claims: those of ``sentences``, without markup.
Headings, list markers, table rules and code fences are no sentences; each list item and each table
row is one. It also handles a full stop that closes both an abbreviation and a sentence ("in the
U.S. He left"), citations after it ("1999.[3] They"), and abbreviations syntok does not know.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.judges.patterns import regex


class Span(NamedTuple):
    """Characters ``start:end`` of a text."""

    start: int
    end: int


#: Typographic characters that mean the same to every rule; each is replaced by one character.
_PLAIN = str.maketrans("’‘‛ʼ“”„«»\u00a0\u202f\u2009\t‑*`", '\'\'\'\'"""""    -  ')
_MORE_THAN_ONE = regex(r"[.!?…][\"')\]*_]*\s+\S")
_LIST_ITEM = regex(r"\s*(?:[-*•–]\s|#+\s|\(?\d{1,2}[.)]\s|\**[^\W\d_][\w '-]{0,40}\**:)")
_LINE = regex(r"[^\n\r]+")
_CHUNK = 20_000
#: A longer sentence is no sentence; it is cut, so that work inside one stays bounded.
_LONGEST = 2_000
_CUT = regex(r"\S.{0,1999}(?!\S)|\S{1,2000}", re.DOTALL)

#: Third-person subjects and verbs that may open the second part of "... and ...".
_SUBJECT = r"(?:he|she|it|they|there|i|we|you)\b"
AUXILIARY = (
    r"(?:is|was|are|were|has|had|have|did|does|do|can|could|may|might|must|will|would|should)\b"
)
#: Present forms that nobody takes for plural nouns: a clause may open with "and leads to".
PRESENT = (
    r"(?:lies|orbits|belongs|causes|affects|employs|makes|produces|stars|features|works|lives|"
    r"holds|lasts|takes|plays|sells|runs|leads|falls|manufactures|operates|requires|builds|"
    r"offers|speciali[sz]es|measures|weighs|attacks|strikes|targets|responds|goes|comes|gives|"
    r"gets|sits|stands|remains|serves|includes|contains|appears|receives|derives|owes|bears|"
    r"deals|generates|hires|covers|tells|describes|depicts|involves|brings|starts|begins|ends|"
    r"shows|becomes|carries|uses|turns|keeps|teaches|writes|speaks|sings|earns|owns|opens)\b"
)
PAST = (
    r"(?:became|began|wrote|won|led|made|went|ran|held|spent|took|grew|fell|gave|sold|built|taught|"
    r"sang|fought|met|left|rose|found|got|kept|lost|saw|sat|spoke|stood|told|thought|drew|drove|"
    r"knew|came|bought|brought|chose|flew|shot|sought|swam|"
    rf"{PRESENT}|"
    r"(?!(?:hundred|indeed|speed|need|seed|breed|embed)\b)(?-i:[a-z]{2,})ed)\b"
)
_ADVERBS = (
    r"(?:(?:then|later|also|probably|possibly|perhaps|maybe|likely|apparently|"
    r"(?-i:[a-z]{3,}ly))\s+){0,2}"
)
#: A possessive opens a clause only with its verb: "or her home address" is no clause.
_OWNER = (
    r"(?:(?:his|her|its|their|this|that)\s+(?:[\w-]+\s+){0,4}?(?="
    rf"(?:{AUXILIARY}|{PAST})))"
)
_VERB = rf"(?:{_SUBJECT}|{_OWNER}|{_ADVERBS}(?:{AUXILIARY}|{PAST}))"
_WH = r"(?:who|whom|whose|which|where|when)\b"
_BREAK = regex(
    rf"""
      ;\s+ | :\s+ | \s[–—]\s | \s--?\s | —
    | (?:,\s*|\s+)(?=but\s(?!also\b)|although\b|though\b|even\sthough\b|albeit\b|however\b)
    | ,\s+(?=(?:while|whereas|yet|because|since)\s|so\s+(?:I|we|he|she|it|they)\b)
    | \s+(?=and\s+(?:definitely|certainly|undoubtedly|assuredly)\b)
    | ,\s+(?={_WH}) | ,\s+(?=(?:(?:the\s+\w+|\w+)\s+)?(?:of|for|in|from)\s+(?:which|whom|whose)\b)
    | ,\s+(?=(?:and|but|so)\s+(?:(?:the|its|his|her|their|some|many
        |most)\s+)?(?-i:[a-z])[\w-]+\s+{AUXILIARY})
    | ,\s+(?=(?:and|but|so)\s+(?:the|its|his|her|their)\s+(?-i:[a-z])[\w-]+
        (?:\s+(?-i:[a-z])[\w-]+){{1,4}}?\s+(?:is|was|are|were|has|had)\b)
    | ,\s+(?=(?:(?:most|very|quite|more)\s+)?
        (?:maybe|perhaps|possibly|probably|likely|presumably)\b)
    | ,\s+(?={_ADVERBS}(?:{AUXILIARY}|{PAST}))
    | ,\s+(?={_SUBJECT}|(?:his|her|its|their|this|that)\b)
    | (?:,\s*|\s+)(?=(?:and|or|nor)\s+(?:{_VERB}|(?:{_ADVERBS})(?:who|when|where|what|how)\b))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VERBAL = regex(rf"{_ADVERBS}(?:{AUXILIARY}|{PAST})", re.IGNORECASE)
_WITH_VERB = regex(rf"\b(?:{AUXILIARY}|{PAST}|born\b)", re.IGNORECASE)
#: A comment inside a clause: "The founder, I believe, was ...", "lasts, I'm guessing, 11 days".
_INSERTED = regex(
    r",\s+(?:(?:(?:I|we)\b|it(?:'s|\s+(?:is|was|seems|appears|has|would))|they\s+say|so|as|if|"
    r"though\s+I)"
    r"\b(?-i:[^,.;:()A-Z0-9]){0,40}|if\s+I'm\s+\w+\s+\w+|as\s+I\s+\w+|(?:I|so\s+I)(?:'m|'d|'ve|"
    r"\s+would|\s+am)?\s+\w+(?:\s+\w+)?),\s+"
    r"(?!and\b|but\b|so\b|or\b|which\b|who\b)(?!(?:he|she|it|they|I|we|there|his|her|its)\b)",
    re.IGNORECASE,
)
_WH_FIRST = regex(_WH, re.IGNORECASE)
#: Where the segmenter sees no end: after "(?).", and before a sentence that opens with a number.
_BRACKET_STOP = regex(
    r"(?<=[?!]\)\.)\s+(?=[^\W\d_a-z])|(?<=[a-z]{4}\.)(?<!prox\.)\s+(?=\d[\d,.]*\s+\w)|"
    r"(?<=\s\d{4}\.)\s+(?=\d[\d,.]*\s+[a-z])|"
    r"(?:(?<=\d m\.)|(?<=\d (?:km|kg|cm|mm|ft|mi|lb)\.))\s+(?=[A-Z])"
)
#: "While I have no idea who led it, the cast was ...": the comma ends the opening clause.
_OPENING = regex(r"(?:while|although|though|even\s+though|whereas)\b[^,;]{3,160},\s+", re.I)
#: "Born in Ripley, she ...", "After two years at sea, she ...": so does the comma behind these.
_ADJUNCT = regex(
    r"(?:(?:and|but|so),?\s+)?(?:(?:after|before|since|while|when|upon|by|having|being|following)"
    r"\s+(?:\w+ly\s+|later\s+|first\s+)?(?:an?|the|his|her|its|their|\w+ing|\w+ed|been)\b|"
    r"(?:first\s+|later\s+|originally\s+|once\s+)?(?!(?:indeed|need|unlike)\b)"
    r"(?:[a-z]{2,}ed|born|built|made|written|set|shot|led|sold|known|held|run|found|sung|drawn|"
    r"starring|featuring|\w+ing\s+(?:from|in|as|at))\b|originally\b|"
    r"with\s+(?:its|his|her|their|an?)\b|an?\s+(?:\w+\s+){1,3}by\b)[^;]{3,200}",
    re.I,
)
_BRACKETED = regex(r"\([^()]{1,80}\)")
_COMMA = regex(r",\s+(?=[^,;]*)")
_CONNECTOR_ONLY = regex(r"[\W_]*(?:though|although|but|however|so|yet)?[\W_]*", re.IGNORECASE)
#: In text without capitals a full stop alone ends a sentence, and a new subject a clause.
_LOWER_STOP = regex(r"(?<=[a-z0-9)][a-z0-9)])[.!?]+\s+")
_OPENERS = """that when where if whether think believe guess say because since as who what how which
    while and but or sure is so suppose maybe perhaps probably though"""
_RUN_ON = regex(
    "".join(rf"(?<!\b{word})" for word in _OPENERS.split())
    + r"\s+(?=(?:he|she|they|it|i)\s+(?:is|was|has|had|won|died|wrote|think|guess|believe|"
    r"don'?t|dont|am)\b)"
)
#: A colon ends a clause only after the speaker's own words; "Born: Ripley" stays together.
_VOICE = regex(r"\b(?:I|we|my|please|not|sure)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """Return ``text`` with typographic quotes and spaces made plain; every offset stays valid."""
    return text.translate(_PLAIN)


def _trim(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return Span(start + left, max(start + left, start + len(part.rstrip())))


def _paragraphs(text: str) -> list[Span]:
    """Lines, joined again where a line break is only a wrapped line."""
    found: list[Span] = []
    last = ""
    for line in _LINE.finditer(text):
        words = line.group()
        if not words.strip():
            last = ""
            continue
        gap = text[found[-1].end : line.start()] if found else ""
        wrapped = (
            last
            and gap.count("\n") <= 1
            and last.rstrip()[-1:] not in ".!?:…"
            and not _LIST_ITEM.match(words)
            and not _LIST_ITEM.match(last)
        )
        if wrapped and line.end() - found[-1].start < _CHUNK:
            found[-1] = Span(found[-1].start, line.end())
        else:
            found.append(Span(line.start(), line.end()))
        last = words
    return found


def _cut(text: str, span: Span) -> list[Span]:
    part = text[span.start : span.end]
    stop = _BRACKET_STOP.search(text, *span)
    if stop is not None:
        head, tail = Span(span.start, stop.start()), Span(stop.end(), span.end)
        return _cut_long(text, head) + _cut(text, tail)
    if part.islower() or part.lstrip()[:1].islower():
        found: list[Span] = []
        start = span.start
        for stop in _LOWER_STOP.finditer(text, span.start, span.end):
            found.append(Span(start, stop.end() - len(stop.group()) + 1))
            start = stop.end()
        if found and start < span.end:
            return [p for s in [*found, Span(start, span.end)] for p in _cut_long(text, s)]
    return _cut_long(text, span)


def _cut_long(text: str, span: Span) -> list[Span]:
    if span.end - span.start <= _LONGEST:
        return [span]
    return [Span(*m.span()) for m in _CUT.finditer(text, span.start, span.end)]


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` in order, without surrounding white space.

    Initials and abbreviations do not end a sentence (syntok); list items and headings are
    sentences of their own. An empty text has none. Very long lines are cut every 20,000
    characters, so that time stays linear in the length.
    """
    found: list[Span] = []
    for start, end in _paragraphs(text):
        if not _MORE_THAN_ONE.search(text, start, end):
            found.append(_trim(text, start, end))
            continue
        from syntok import segmenter

        for low in range(start, end, _CHUNK):
            part = text[low : min(low + _CHUNK, end)]
            for paragraph in segmenter.analyze(part):
                for tokens in paragraph:
                    if tokens:
                        last = tokens[-1]
                        found.append(
                            Span(low + tokens[0].offset, low + last.offset + len(last.value))
                        )
    return tuple(part for span in found if span.end > span.start for part in _cut(text, span))


def clauses(text: str, sentence: Span) -> list[Span]:
    """Cut one sentence (of plain text) where a hedge's reach may end.

    Boundaries: semicolon, colon, dash, "but", "although", commas before relative pronouns and new
    subjects, "and" before a verb or subject. A conjunction belongs to the clause it opens.
    """
    found: list[Span] = []
    start = sentence.start
    inserted = [m.span() for m in _INSERTED.finditer(text, sentence.start, sentence.end)]
    inserted += [m.span() for m in _BRACKETED.finditer(text, sentence.start, sentence.end)]
    cuts = list(_BREAK.finditer(text, sentence.start, sentence.end))
    opening = _OPENING.match(text, *sentence)
    if opening is not None or _ADJUNCT.match(text, *sentence):
        start_of_main = _main_clause(text, sentence)
        if start_of_main is not None and start_of_main.start() not in {c.start() for c in cuts}:
            cuts = sorted([*cuts, start_of_main], key=lambda cut: cut.start())
    if text[sentence.start : sentence.end].islower():
        cuts += _RUN_ON.finditer(text, sentence.start, sentence.end)
        cuts.sort(key=lambda cut: cut.start())
    for cut in cuts:
        opened = text[start : cut.start()]
        if any(low <= cut.start() < high for low, high in inserted):
            continue
        if cut.group()[0] == "," and _VERBAL.match(text, cut.end()) and _no_verb_yet(opened):
            continue
        if cut.group()[0] == ":" and not _VOICE.search(text, start, cut.start()):
            continue
        if cut.start() > start:
            found.append(_trim(text, start, cut.start()))
        start = max(start, cut.end())
    found.append(_trim(text, start, sentence.end))
    whole: list[Span] = []
    for span in found:
        if whole and _CONNECTOR_ONLY.fullmatch(text, *span):
            whole[-1] = Span(whole[-1].start, span.end)
        elif span.end > span.start:
            whole.append(span)
    return whole


def _main_clause(text: str, sentence: Span) -> re.Match[str] | None:
    """The comma before the first stretch that has a subject and a verb."""
    for comma in _COMMA.finditer(text, *sentence):
        ends = [at for at in (text.find(c, comma.end(), sentence.end) for c in ",;") if at >= 0]
        verb = _WITH_VERB.search(text, comma.end(), min(ends, default=sentence.end))
        if verb is not None and verb.start() > comma.end():
            return comma
    return None


def _no_verb_yet(opened: str) -> bool:
    """Whether a clause still waits for its verb: "The music, as I recall, | was by ..."."""
    subject = opened.split(",", 1)[0]
    return "," in opened and not _WITH_VERB.search(subject) and not _WH_FIRST.match(opened)


# ---- the sentences of a long answer, without markup


class Part(NamedTuple):
    """One sentence. ``item``: of a list or table; ``lead``: place of the sentence that opens it."""

    start: int
    end: int
    item: bool = False
    lead: int | None = None


_MARK = regex(
    r"[ \t]*(?:(?:[-*•–—+·‣▪◦]|\(?\d{1,3}[.)]|\(?[a-z]\))(?:[ \t]+|(?=[\n\r]|\Z))|>[ \t]?){1,5}"
)
_HEADING = regex(
    r"[ \t]*(?:\d{1,2}[.)][ \t]+)?(?:#{1,6}(?:[ \t].*|$)|"
    r"(?:\*\*|__)[^*_]{1,120}(?:\*\*|__)[ \t]*:?[ \t]*$)"
)
_RULE = regex(r"[ \t]*(?:[-=*_~`|:+ \t]{3,}|```.*|~~~.*)$")
_ROW = regex(r"[ \t]*\|.*\|[ \t]*$")
_ITEM = regex(r"[ \t]*(?:[-*•–—+·‣▪◦][ \t]|\(?\d{1,3}[.)][ \t]|\|)")
_FINITE_VERB = regex(rf"\b(?:{AUXILIARY}|{PAST}|born)\b", re.IGNORECASE)
_TITLE = regex(r"[ \t]*[^\W_][^.!?;:,]{1,58}[^\W_)][ \t]*$")
#: "Early life:", while "Her roles include:" opens a list.
_LABEL = regex(
    r"[ \t]*(?!(?:He|She|It|They|His|Her|Its|Their|The|Some|These|Here)\b)"
    r"[^\W\d_][^.!?;:]{0,40}:[ \t]*$"
)
_CITED = regex(r"(?:\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\])+")
_WORD = regex(r"[^\W_]")
#: longer ones are not joined again
_LONGEST_JOINED = 2_000

#: Words that open a sentence and no name.
_OPENER = (
    r"(?:He|She|It|They|His|Her|Its|Their|We|I|You|This|These|That|Those|There|The|An?|In|On|At|"
    r"After|Before|During|Since|While|When|From|With|For|As|Although|Though|However|Despite|Both|"
    r"Some|Many|Most|Other|Others|Also|Additionally|Moreover|Furthermore|Later|Then|Today|But|And|"
    r"Throughout|Prior|Following|Currently|Over|By|Not)"
)
#: An abbreviation whose full stop also ends the sentence, told by the next word.
_ALSO_END = regex(
    r"(?:\b(?:[A-Za-z]\.){2,5}|\b(?:Ph\.D|[Aa]rt|Inc|Ltd|Co|Corp|Bros|etc|al|Jr|Sr|Esq|LLC)\.|"
    r"\s[A-Z]\.)(?:[\"')]*)\s+(?="
    + _OPENER
    + r"(?:,|\s+(?:[a-z]|[A-Z][\w.-]+\s+(?:is|was|has|had)\b)|\s+\d))"
)
_CITED_END = regex(r"(?:[.!?][\"')]*(?:\s?\[\d{1,3}\])+|[\])]\.)\s+(?=[\"'(]?[^\W_a-z]\S*\s)")
#: "One sentence.Another one": two lower-case words around the stop, and no address.
_GLUED = regex(r"(?<=[a-z]{3})[.!?](?=[A-Z][a-z]*\s+[a-z])")
#: Abbreviations that never end a sentence before a name or number.
_NO_END = regex(
    r"\b(?:Ft|Sgt|Op|pp|p|Gen|Lt|Col|Capt|Cpt|Mt|Pvt|Rev|Prof|Hon|Gov|Sen|Rep|Maj|Cpl|Adm|Vol|vol|"
    r"Fig|Ch|No|Nos|no|cf|ca|approx|Bros|Pte|Supt|Insp|Msgr|Fr|Ste|Dept|Univ|Assn|Ed|ed|eds|trans)"
    r"\.$"
)
_NEXT = regex(rf"(?!{_OPENER}\s)[\"'(]?[A-Z0-9]")


def _lines(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in _LINE.finditer(text)]


def _is_title(text: str, lines: list[tuple[int, int]], at: int) -> bool:
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


def _masked(text: str, whole: str) -> tuple[str, set[int]]:
    """Return ``whole`` with all markup made line breaks, and where items begin."""
    shown = list(whole)
    items: set[int] = set()
    lines = _lines(text)

    def blank(low: int, high: int) -> None:
        shown[low:high] = "\n" * (high - low)

    for at, (low, high) in enumerate(lines):
        line = text[low:high]
        below = ""
        if at + 1 < len(lines) and text.count("\n", high, lines[at + 1][0]) == 1:
            below = text[slice(*lines[at + 1])]
        ruled = bool(below and _RULE.match(below) and set(below.strip()) <= set("=-|: \t"))
        heading = _HEADING.match(line) or (
            _LABEL.match(line) and not _FINITE_VERB.search(line) and not _ITEM.match(line)
        )
        over = ruled and ("|" in line or len(line.split()) <= 12)
        if _RULE.match(line) or heading or over or _is_title(text, lines, at):
            blank(low, high)
            continue
        mark = _MARK.match(text, low, high)
        if mark is not None:
            blank(low, mark.end())
            items.add(mark.end())
        elif _ROW.match(line):
            first = low + line.index("|")
            last = low + line.rindex("|")
            blank(low, first + 1)
            blank(last, high)
            items.add(first + 1)
    return "".join(shown), items


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
def parts(text: str) -> tuple[Part, ...]:
    """Return the sentences of a long answer, by offsets into ``text``, in order.

    A text of markup, punctuation or white space alone has none.
    """
    masked, items = _masked(text, plain(text))
    found: list[Span] = []
    for span in _joined(masked, list(sentences(masked))):
        found += _divided(masked, span)
    kept: list[Part] = []
    lead: int | None = None
    for span in found:
        if not _WORD.search(masked, *span):
            continue
        left = masked.rfind("\n", 0, span.start) + 1
        item = left in items or any(at in items for at in range(left, span.start + 1))
        closed = _trimmed(text, span)
        if not item:
            lead = len(kept) if masked[closed.start : closed.end].endswith(":") else None
        kept.append(Part(closed.start, closed.end, item, lead if item else None))
    return tuple(kept)


def _trimmed(text: str, span: Span) -> Span:
    """Take over quotes and brackets that close the sentence, and drop emphasis at its edges."""
    start, end = span
    while start < end and (text[start] in "*_`|~" or text[start].isspace()):
        start += 1
    while end > start and (text[end - 1] in "*_`|~" or text[end - 1].isspace()):
        end -= 1
    return Span(start, end)
