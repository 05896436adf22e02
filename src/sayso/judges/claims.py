"""Long answers taken apart into sentences and claims, each with the span it comes from.

Offline (:func:`claims`, :class:`RulesClaims`) a claim is a clause: a subject with its verb and all
that hangs on them. "He was a poet, and his wife painted" is two, each with the name that "he" and
"his" stand for. A sentence is cut only where both sides are sure to be clauses; where that is in
doubt it is one claim as it stands. Nothing inside a clause is taken apart, apart from the day and
the place of a birth or death and the dates in brackets behind a name.

First-person remarks, talk about the answer, and questions claim nothing. A frame that only reports
("It is believed that", "I think", "reportedly") is taken off the claim's text and stays in its
span. What turns the meaning ("It is unlikely that", "It is a myth that") stays. A claim that a text
repeats counts once. Patterns read masked text with single spaces; all their repeats are bounded.

:class:`LlmClaims` asks a language model instead; both give :class:`Claimed`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.english.imperatives import is_instruction
from sayso.judges.english.language import is_english
from sayso.judges.english.lexicon import (
    alternatives,
    first_of_group,
    lexicon_rows,
    lexicon_words,
)
from sayso.judges.english.markup import (
    LongText,
    SentencePart,
    has_variable,
    long_text,
    parts,
    row_cells,
)
from sayso.judges.english.numbers import MONTH_NAMES
from sayso.judges.english.other_languages import silent_elsewhere
from sayso.judges.english.sentences import Span, plain_text
from sayso.judges.english.tokens import ALPHANUMERIC, seen
from sayso.judges.model.numbered import JudgeTask, NumberedReader, TextBlock, TextOutcome
from sayso.judges.patterns import regex
from sayso.prompts.fence import Field
from sayso.prompts.thoughts import split_thoughts
from sayso.records import InputError, is_blank


class ClaimDraft(NamedTuple):
    """One claim: its sentence (from 1), the span ``start:end`` of the text it comes from, and a
    text that can be understood and checked by itself."""

    sentence: int
    start: int
    end: int
    text: str


class Claimed(NamedTuple):
    """Sentences of a text and its claims, in order. ``problem``: why claims are missing, or None.

    No claims and no problem: the text claims nothing. ``repeated`` counts the claims left out
    because the text had made them before, ``unfinished`` those it breaks off in. ``unclaimed``
    counts what claims nothing, by the names of :data:`UNCLAIMED`.
    """

    sentences: tuple[Span, ...]
    drafts: tuple[ClaimDraft, ...]
    problem: str | None = None
    repeated: int = 0
    unfinished: int = 0
    unclaimed: tuple[tuple[str, int], ...] = ()


#: what of a text claims nothing, in the order in which it is told: one of it, and several
UNCLAIMED = {
    "code": ("line of code", "lines of code"),
    "data": ("line of data", "lines of data"),
    "verse": ("line of verse", "lines of verse"),
    "speech": ("line of dialogue or quotation", "lines of dialogue or quotation"),
    "formula": ("formula with unexplained letters", "formulas with unexplained letters"),
    "instruction": ("instruction", "instructions"),
    "phrase": ("phrase without a statement", "phrases without a statement"),
    "remark": ("remark or question", "remarks or questions"),
}


def told_unclaimed(counts: Mapping[str, int]) -> str:
    """Return "12 lines of code, 1 instruction": what of a text claims nothing; "" for no count."""
    named = [
        f"{counts[kind]:,} {several if counts[kind] != 1 else one}"
        for kind, (one, several) in UNCLAIMED.items()
        if counts.get(kind)
    ]
    return ", ".join(named)


def drafts_once(drafts: Iterable[ClaimDraft]) -> tuple[ClaimDraft, ...]:
    """Return the drafts whose words no draft before them has; case and marks do not count."""
    distinct: dict[str, ClaimDraft] = {}
    for draft in drafts:
        key = " ".join(w.casefold() for w in ALPHANUMERIC.findall(draft.text))
        distinct.setdefault(key or draft.text, draft)
    return tuple(distinct.values())


# ---- words by which clauses are told

_AUXILIARY = (
    rf"(?:(?:{alternatives(lexicon_words('auxiliaries', 'claims.negated'))})(?:n't)?|"
    rf"{alternatives(lexicon_words('auxiliaries', 'claims'))})\b"
)
#: Past forms that are no participles, and those that are both.
_PAST = rf"(?:{alternatives(lexicon_words('verbs', 'claims.past'))}|led(?= to\b))\b"
_EITHER = (
    rf"(?:{alternatives(lexicon_words('verbs', 'claims.either'))}|"
    r"(?!(?:hundred|sacred|naked|indeed|speed|seed|breed|kindred|embed|shed|united|red|"
    r"talented|gifted|skilled|beloved|renowned|limited|related|varied|detailed|complicated)\b)"
    r"[a-z]{1,20}+(?<=ed))\b"
)
#: Present forms that are no plural nouns, and some that may be.
_SINGULAR = rf"(?:{alternatives(lexicon_words('verbs', 'claims.singular'))})\b"
_PRESENT = rf"(?:{_SINGULAR}|(?:{alternatives(lexicon_words('verbs', 'claims.present'))})\b)"
_FINITE = rf"(?:{_AUXILIARY}|{_PAST}|{_PRESENT}|{_EITHER})"
_ADVERBS = (
    r"(?:(?:also|then|later|still|now|often|even|never|once|soon|always|only|just|not|first|"
    r"[a-z]{3,20}+(?<=ly)) ){0,2}"
)
_BEGINS = rf"(?:{alternatives(lexicon_words('openers', 'claims.begins'))})\b"
_OPENER = rf"(?:{_BEGINS}|(?:{alternatives(lexicon_words('openers', 'claims'))})\b)"
_CAPITAL = r"[^\W\da-z_][\w.'&/-]{0,30}+"
_NAME = (
    rf"(?!{_OPENER})(?:[Tt]he )?(?!The [a-z]|An? ){_CAPITAL}"
    rf"(?: (?:(?:of|the|de|del|dos|das|van|von|der|di|da|du|la|le|al|bin|and|&|for|in) ){{0,2}}"
    rf"(?:{_CAPITAL}|\d{{1,4}}+(?!\w))){{0,7}}(?: \x01+)?"
)
_OWNED = r"(?:(?<='s)|(?<=s'))(?: (?!and |who |which |that )[a-z][\w'-]{0,30}+){1,4}?"
_PHRASE = (
    r"(?i:the|his|her|its|their|an?|some|many|most|both|several|all|one)(?: (?!(?:and|or|who|which|"
    r"that|where|when|if|as|to|he|she|it|they|by)\b)[\w'-]{1,30}+){1,5}?"
)
_END = r"(?=[ ,;:.]|$)"
_INTRANSITIVE = rf"(?:{alternatives(lexicon_words('verbs', 'claims.intransitive'))})\b"
#: what an object begins with
_OBJECT = (
    r"(?:the|an?|his|her|its|their|this|several|many|over|numerous|more|two|three|four|five|it|him|"
    r"them|about)"
)
#: A subject with its verb: any verb behind a pronoun, a sure one behind a noun or a name.
_CLAUSE = (
    r"(?:(?P<pronoun>(?i:he|she|it|they|there))(?:(?P<short>'(?:s|d|ve|re|ll))\b|"
    rf" {_ADVERBS}(?P<any>{_FINITE}|[a-z]{{2,20}}+(?<=[^s]s)){_END})|"
    rf"(?P<name>{_NAME}(?:{_OWNED})?) {_ADVERBS}(?P<told>{_AUXILIARY}|{_PAST}|{_SINGULAR}|{_EITHER}"
    rf"(?! (?:by|and|or)\b)){_END}|(?P<noun>{_PHRASE}) {_ADVERBS}(?P<sure>{_AUXILIARY}|{_PAST}|"
    rf"{_PRESENT}|{_INTRANSITIVE}|{_EITHER}(?=[,.;]|$| {_OBJECT}\b)){_END})"
)
#: "In 1959, " and the like before a clause
_OPENING = rf"(?:{_BEGINS}(?:[^,;:]{{0,80}}+,){{1,3}}? )?"
_HEAD = regex(rf"{_OPENING}{_CLAUSE}")
_RIGHT = regex(_CLAUSE)
_VERB = regex(rf"(?<![\w-]){_FINITE}(?=[\s,;:.!?)]|$)")


def has_verb(words: str) -> bool:
    """Whether words hold a finite verb."""
    return _VERB.search(words) is not None


# ---- whom a text is about: pronouns and "the film" become the topic

_PRONOUNS = first_of_group("pronoun forms")
_USED = regex(rf"\b(?:{alternatives(_PRONOUNS)})\b", re.IGNORECASE)
_THINGS, _PERSONS = lexicon_words("things", "claims"), lexicon_words("people", "claims")
_KIND = regex(
    r"\b(?:is|are|was|were) (?:an?|the|one of the) ((?:(?!(?:in|on|of|from|by|for|that|who|which|"
    r"with|at|best|known|born|based|[a-z]{3,20}+(?<=ed))\b)[\w'-]{1,30}+,? ?){1,12})"
)
_HEADS = regex(r"([a-z-]{1,30}+)(?=,| and | or |$)")
#: the pronoun that opens a sentence first
_FIRST = regex(r"(?:^|[.!?\]\n] )\s{0,3}+(He|His|She|Her|It|Its|They|Their)\b")
_OPENED = regex(
    rf"({_NAME})(?:'s [a-z ]{{3,40}}+)?(?:, [^,.!?]{{1,80}}){{0,3}},? "
    r"(?:is|was|are|were|has|had|born)\b"
)
#: a heading over the whole text, and how a topic's name may be wrapped in a prompt
_TITLED = regex(rf"\s*# +(?P<name>{_NAME})\s*\n")


class Topic(NamedTuple):
    """Whom a text is about: name, pronoun, the nouns for its kind, and a person's last name."""

    name: str
    pronoun: str
    nouns: frozenset[str]
    last: str


def find_topic(topic: str, text: str) -> Topic:
    """Return the topic of a text (of plain quotes); its name is "" where none is known."""
    opening = " ".join(text[:500].split())
    name = " ".join(topic.partition(" (")[0].split()).rstrip(".,;:!?… ") or topic.strip()
    opened = _OPENED.match(_masked(opening))
    first_name = opening[: opened.end(1)].partition(" (")[0].strip('" ') if opened else ""
    # "the history of Orm" in a prompt, of a text that opens with "Orm is"
    within = name.lower().endswith(f" of {first_name.lower()}")
    if first_name and (not name or within):
        name = first_name
    uses = Counter(_PRONOUNS[m.lower()] for m in _USED.findall(text[:20_000]))
    kind = _KIND.search(opening[:400].partition(". ")[0])
    nouns = set(_HEADS.findall(kind[1].lower().rstrip())) if kind is not None else set()
    pronoun = ("it" if uses["it"] >= uses["they"] / 2 else "they") if uses else ""
    if uses["he"] + uses["she"] and _is_person(name, nouns, text):
        first = _FIRST.search(text[:20_000])
        known = first is not None and _PRONOUNS[first[1].lower()]
        if known in ("he", "she"):
            pronoun = str(known)
        elif not known or nouns & _PERSONS or uses["he"] + uses["she"] >= uses["it"]:
            pronoun = "he" if uses["he"] >= uses["she"] else "she"
    words = name.split()
    person = pronoun in ("he", "she") and 2 <= len(words) <= 4 and words[-1][:1].isupper()
    kinds = nouns | {w.lower() for w in words if len(w) > 3}
    if pronoun not in ("he", "she") and not nouns & (_THINGS | _PERSONS):
        kinds |= _THINGS
    return Topic(name, pronoun, frozenset(kinds), words[-1] if person else "")


#: how people ask for a text about one thing: what comes next is its name
_ASKED_FOR = regex(
    r"(?:question: ?)?(?:please )?(?:(?:can|could) you )?(?:"
    r"tell me (?:something |more |everything )?about|"
    r"(?:tell|give|write|generate|compose)(?: me| us)?(?: a| an| the)?(?: [\w-]+){0,2} "
    r"(?:bio|biography|paragraph|essay|summary|article|text|description|profile|overview|story) "
    r"(?:of|about|on)|"
    r"(?P<question>(?:who|what) (?:is|was|are|were))|"
    r"(?:describe|introduce|explain)) +(?P<name>[^\s].*)",
    re.IGNORECASE | re.DOTALL,
)
#: how long the text is to be, before what is asked
_LENGTH_FIRST = regex(r"^in (?:a|one)(?: short| single)? paragraph,? ", re.IGNORECASE)
#: where a name in such a request ends: a stop after a word (no initial, no "St."), a next wish
_NAME_ENDS = regex(
    r"[?!;:]|(?<=[a-z]{3})\.(?: |$)|,? {1,3}(?:covering|including|focusing|in (?:at "
    r"(?:most|least) |about |around )?(?:\d+|one|two|three|four|five|a few) )|, (?=[a-z])| \("
)
#: words that a name in a request has at most
_NAME_WORDS = 8


def prompted_topic(prompt: str) -> str:
    """Return whom or what a prompt of a usual form asks to write about; "" for any other.

    >>> prompted_topic("Write a paragraph about Ada Lovelace, covering date of birth.")
    'Ada Lovelace'
    >>> prompted_topic("In a paragraph, introduce Ada Lovelace, including date of birth.")
    'Ada Lovelace'
    >>> prompted_topic("Who was the first president of France?")
    ''
    """
    asked = " ".join(prompt[:1_000].split())
    hit = _ASKED_FOR.match(_LENGTH_FIRST.sub("", asked))
    if hit is None:
        return ""
    end = _NAME_ENDS.search(hit["name"])
    name = (hit["name"][: end.start()] if end else hit["name"]).strip(" .,'\"")
    # "Who is the king of Orm?" asks for somebody whom it does not name
    words = name.removeprefix("the ").split()
    unnamed = hit["question"] and any(w[:1] == w[:1].lower() for w in (*words[:1], *words[-1:]))
    return "" if len(words) > _NAME_WORDS or unnamed else name


def _is_person(name: str, nouns: set[str], text: str) -> bool:
    """Whether "he" or "she" may be whom a text is about: by its kind, its name, its place."""
    if nouns & _PERSONS:
        return True
    if nouns & _THINGS or name[:1].islower() or " and " in name or re.search(r"\d", name):
        return False
    subject = re.search(
        rf"(?:^|[.!?]\s)(?:\w{{1,30}} )?{re.escape(name)}(?:'s|,)? [a-z]", text[:20_000]
    )
    return 2 <= len(name.split()) <= 4 or subject is not None


def _agrees(pronoun: str, topic: Topic) -> bool:
    own = _PRONOUNS.get(pronoun.lower())
    return bool(topic.name) and (own == topic.pronoun or {own, topic.pronoun} == {"it", "they"})


#: A pronoun as subject, with what is contracted to it; one that owns; one as object.
_REFERS = regex(
    r"\b(?:(?P<subject>he|she|it|they)(?:'(?P<short>s|d|ve|re|ll)\b|(?= [a-z]))|"
    r"(?P<owner>his|its|their|her)(?= (?!(?:in|on|at|to|from|and|as|for|with|by|the|a|an|into|of|"
    r"was|is|when|after|before|during|because|who|but|out|up|back)\b)[\w\"])|(?P<object>him|"
    r"her)\b)",
    re.IGNORECASE,
)
_LONG = {"d": "had", "ve": "have", "re": "are", "ll": "will"}
_HAS = regex(r" (?:\w{1,20}+ )?(?:been|become|got|grown|had|won|gone|come|made|taken)\b")
#: "it" that stands for nothing: "It was in 1990 that he left", "It is hard to say".
_EMPTY = regex(
    r"(?i)it(?:'s| is| was| has been) (?:(?:not |only |also )?(?:in|on|at|during|until|through|"
    r"after|here|there)\b[^,;]{1,80}? (?:that|when|where|who)\b|(?:\w{1,20}+ )?(?:(?:said|believed|"
    r"thought|estimated|likely|unlikely|true|a myth|a fact|the (?:first|last|only) time) that\b|"
    r"(?:important|possible|impossible|difficult|hard|easy|clear|essential|necessary) "
    r"(?:for \w{1,20}+ )?(?:that|to)\b))"
)
_CALLED = regex(
    rf"(?P<opening>{_OPENING})(?i:the|this) (?P<noun>[a-z]{{1,30}}+)"
    r"(?='s |s' | (?!(?:that|who|which|of|in|and|from|with|for|[a-z]{2,20}+(?<=ed) by)\b)[a-z])"
)
_OTHER = regex(rf"(?P<opening>{_OPENING})(?P<name>{_NAME})(?= [a-z])")


def _owner(name: str, rest: str) -> str:
    return name + ("' " if name.endswith("s") else "'s ") + rest.lstrip()


def _named(words: str, topic: Topic, earlier: Sequence[str]) -> str:
    """Return a clause in which the first pronoun that points out of it is the topic's name.

    ``earlier``: the sentences before, for pronouns that cannot be the topic's.
    """
    if not topic.name or _EMPTY.match(words):
        return words
    called = _CALLED.match(words)
    if called is not None and called["noun"].lower() in topic.nouns:
        rest = words[called.end() :]
        whole = _owner(topic.name, rest[2:]) if rest.startswith("'s ") else topic.name + rest
        return called["opening"] + whole
    mask = _masked(words)
    other = _OTHER.match(mask)
    if topic.last and other is not None and other["name"] in (topic.last, f"{topic.last}'s"):
        return other["opening"] + topic.name + words[other.start("name") + len(topic.last) :]
    if other is not None:
        return words
    for one in _REFERS.finditer(mask):
        ahead, after = words[: one.start()], words[one.end() :]
        pronoun = (one["subject"] or one["owner"] or one["object"]).lower()
        if topic.name in ahead:
            return words
        name = topic.name
        if pronoun == "it" and not ahead and topic.name in after:
            return words  # "It is the capital of Peru" is not said of Peru
        if not _agrees(pronoun, topic):
            known = one["subject"] and pronoun != "it"
            name = _meant(pronoun, topic, earlier) if known else ""
            if not name:
                continue
        if pronoun in ("it", "its", "they", "their") and ahead and not ahead.endswith(", "):
            return words
        if one["owner"]:
            return ahead + _owner(name, after)
        short = one["short"]
        verb = f" {_LONG.get(short) or ('has' if _HAS.match(after) else 'is')}" if short else ""
        return f"{ahead}{name}{verb}{after}"
    return words


_COUPLE = regex(r"\b(?:marri|wife|husband|spouse|dating|engaged to|partner)")
_BODY = regex(rf"\b(?:{alternatives(lexicon_words('things', 'claims.body'))})\b")
_PERSON = regex(rf"(?!{_OPENER}){_CAPITAL}(?: {_CAPITAL}){{1,3}}")


def _meant(pronoun: str, topic: Topic, earlier: Sequence[str]) -> str:
    """Return whom a pronoun means that is not the topic's; "" where that is not known.

    "He" is who opened a sentence or was named last, "they" are the topic and who married it there.
    """
    for sentence in reversed(earlier[-6:]):
        people = [m for m in _PERSON.finditer(_masked(sentence)) if m[0] not in topic.name]
        people = [m for m in people if not _BODY.search(m[0]) and "QQ" not in m[0]]
        if people:
            who = people[0] if people[0].start() == 0 else people[-1]
            name = who[0].rstrip(".'").removesuffix("'s")
            if pronoun in ("he", "she"):
                return name
            both = topic.pronoun in ("he", "she") and _COUPLE.search(sentence)
            return f"{topic.name} and {name}" if both else ""
        if pronoun == "they":
            break
    return ""


# ---- a sentence cut into clauses

_JOINT = regex(
    r"(?P<comma>;)(?: however,)? |(?P<also>,)? (?P<word>and|but|so|yet|while|whereas|although|"
    r"though) |, where |, (?=(?i:he|she|it|they)[ '])"
)
#: Behind these words a second verb may have another subject.
_SUBORDINATE = regex(
    r"\b(?:that|who|which|whom|whose|where|when|whether|because|while|how|what|why|than|said|says|"
    r"believed|claimed|argued|thought|suggests?|(?:since|until|after|before) "
    r"(?!(?:the (?:early|late|mid|\d)|early|late|\d|[A-Z]))|as (?!(?:an?|the|one|well|part|"
    r"[A-Z])\b))"
)
#: What makes a half say less than the whole, or something else.
_BOUND = regex(
    r"\b(?:if|unless|whether|either|neither|nor|not only|rather than|no longer|would have|"
    r"could have|not just|instead of|so that|such that)\b",
    re.IGNORECASE,
)
#: "...; since 2016, it has": the comma ends an opening phrase
_AHEAD = regex(rf"[,;] {_BEGINS}[^,;]{{0,80}}+$", re.IGNORECASE)
_CONCESSION = regex(r"(?:While|Although|Though|Even though) ")
#: The verb of "... and moved to Orm": no participle, one with an object of its own, a passive.
_SECOND = regex(
    rf"{_ADVERBS}(?:(?P<alone>{_AUXILIARY}|{_PAST}|{_SINGULAR})|"
    rf"(?P<active>{_INTRANSITIVE}|{_EITHER}(?= (?:{_OBJECT}\b|\d|[A-Z])))|"
    rf"(?P<passive>{_EITHER}(?= (?:by|in|with|as|for|at|on|to|from)\b))){_END}"
)
#: What helps the first verb: "was born", "has written".
_HELPED = regex(
    r"(?P<be>is|was|are|were) (?:[a-z]{3,20}+(?<=ly) |also |first |later )?(?:born|known|made|held|"
    r"written|won|led|set|sold|built|given|taken|sung|taught|drawn|chosen|[a-z]{2,20}+(?<=ed))\b|"
    r"(?P<other>has|have|had|can|could|may|might|must|will|would|should|did|does|do|cannot)\b"
)
#: A verb that still waits for what it shares with the next, or a list of verbs.
_WAITS = regex(
    r"(?:\bto [a-z]{1,20}+|ed|\b(?:by|in|of|for|wrote|written|sang|sung|built|made|led|held|won|"
    r"sold|and))$|"
    rf", {_ADVERBS}{_FINITE}"
)
_KIN = regex(rf"\b(?:{alternatives(lexicon_words('people', 'claims.kin'))})s?\b")
#: a longer sentence is kept whole
_LONGEST_CUT = 1_000
_ASIDE = regex(r"\"[^\"]{1,200}+\"|\([^()]{1,200}+\)|\[[^\[\]]{1,100}+\]")


def _masked(text: str) -> str:
    """Return a text of equal length in which a quotation is a name, brackets one strange word."""
    return _ASIDE.sub(lambda m: ("Q" if m[0][0] == '"' else "\x01") * len(m[0]), text)


class _Clause(NamedTuple):
    """A clause by offsets into its sentence: its verb, its subject, and what it shares."""

    start: int
    end: int = 0
    verb: int = 0
    subject: str = ""
    shared: str = ""


def _opened(start: int, match: re.Match[str] | None) -> _Clause:
    """Return the clause that begins at ``start``, as far as its verb is known."""
    if match is None:
        return _Clause(start)
    verb = next(match.start(name) for name in ("short", "any", "told", "sure") if match[name])
    return _Clause(start, 0, verb, match["pronoun"] or match["name"] or match["noun"])


def _clauses(text: str, mask: str, topic: Topic) -> list[_Clause]:
    """Cut a sentence into clauses where both sides are sure to be some."""
    start = _lead(text, _LINKS)
    whole = [_Clause(start, len(text))]
    if len(mask) > _LONGEST_CUT or _BOUND.search(mask):
        return whole
    low = _lead(text)
    conceded = _CONCESSION.match(mask, low)
    low = conceded.end() if conceded else low
    here = _opened(low, (_RIGHT if conceded else _HEAD).match(mask, low))
    here = here if conceded else here._replace(start=start)
    cut: list[_Clause] = []
    for joint in _JOINT.finditer(mask, max(here.verb, here.start)):
        remark = joint["word"] and _REMARK.match(text, joint.end())
        right = None if remark else _RIGHT.match(mask, joint.end())
        if remark or (right and _parted(mask, joint, right, here, topic)):
            following = _opened(joint.end(), right)
        elif conceded or (shared := _shared(mask, here, joint)) is None:
            continue
        else:
            following = _Clause(joint.end(), 0, joint.end(), here.subject, shared)
        cut.append(here._replace(end=joint.start()))
        here, conceded = following, None
    return whole if conceded else [*cut, here._replace(end=len(text))]


def _parted(
    mask: str, joint: re.Match[str], right: re.Match[str], left: _Clause, topic: Topic
) -> bool:
    """Whether what follows a joint is a clause of its own, and what stands before it one too."""
    word = (right["pronoun"] or right["name"] or right["noun"]).partition(" ")[0].lower()
    if word in _PRONOUNS:
        who = left.subject
        other = who.lower() not in _PRONOUNS and topic.name not in who and who not in topic.name
        kin = _KIN.search(who or mask[left.start : joint.start()])
        if not _agrees(word, topic) or (other and (kin or _OTHER.match(f"{who} a"))):
            return False
    if not joint["word"] and _AHEAD.search(mask, left.verb, joint.start()):
        return False
    if joint[0] == ", where " and ", and " in mask[joint.end() :]:
        return False
    if joint["also"] or joint["comma"] or not joint["word"]:
        known = bool(joint["word"] and right["pronoun"]) and has_verb(
            mask[left.start : joint.start()]
        )
        return bool(left.subject) or known
    return bool(left.subject) and not _SUBORDINATE.search(mask, left.verb, joint.start())


def _shared(mask: str, left: _Clause, joint: re.Match[str]) -> str | None:
    """Return what a second verb takes from the first, "Doe was"; ``None``: no sure second verb."""
    second = _SECOND.match(mask, joint.end())
    between = mask[left.verb : joint.start()]
    if second is None or joint["word"] not in ("and", "but", "yet") or not left.subject:
        return None
    if " " not in between or _SUBORDINATE.search(between) or _WAITS.search(between):
        return None
    helped = _HELPED.match(mask, left.verb)
    helper: str | None = ""
    if helped is None:
        helper = None if second["passive"] else ""
    elif not second["alone"] and helped["other"]:
        helper = helped["other"] if helped["other"] in ("has", "have") else None
        helper = None if second["passive"] else helper
    elif second["passive"]:
        helper = helped["be"]
    return None if helper is None else f"{left.subject} {helper}".rstrip() + " "


# ---- what is no claim, and the frames around one that is

_SOURCES = (
    r"(?:some|many|several|various|most|certain|different|multiple|historical|other) "
    r"(?:sources?|reports?|accounts?|people|scholars?|historians?|records?|experts?|critics?)"
)
_ASKED = r"(?!(?:I|of|about|if|whether|what|who|when|where|how|any\w*|no|not|so)\b)"
_SURELY = r"(?:(?:fairly|pretty|quite|almost|very|[a-z]{3,12}+(?<=ly)) )?"
#: Frames at the beginning of a clause that only report.
_REPORT = (
    r"it(?: is| was| has been|'s| should be) (?:(?!not )\w{1,20}+ )?(?:believed|thought|said|"
    r"reported|known|"
    r"assumed|estimated|claimed|rumou?red|likely|possible|probable|alleged|noted|speculated|worth "
    r"noting|important to note|notable|true|clear|worth mentioning) that |it (?:seems|appears) "
    r"(?:likely )?that |(?:please )?note that |(?:keep in mind|remember) that |"
    rf"I(?:'d| would| do| can)? {_SURELY}(?:think|believe|guess|suppose|recall|remember|assume|say|"
    rf"know) (?:that )?{_ASKED}|"
    rf"I(?:'m| am) {_SURELY}(?:sure|certain|confident) (?:that )?{_ASKED}|(?:I(?:'m| am) )?not "
    rf"{_SURELY}(?:sure|certain)(?: (?:about|of) (?:this|that|it))?,? but |"
    r"(?:as far as|to the best of|from what|if|as) (?:I|my)\b[^,]{0,50}+, |"
    r"to my knowledge,? |in my (?:opinion|view), |"
    rf"my (?:best )?guess is (?:that )?|according to {_SOURCES}, |"
    rf"{_SOURCES} (?:say|claim|believe|report|suggest|think) that |(?:reportedly|allegedly|"
    r"supposedly|apparently|perhaps|maybe|possibly|probably|presumably|likely),? "
)
#: Words of the writer between the sentences; they add nothing.
_LINK = rf"(?:{alternatives(lexicon_rows('links')[0].split(' | '))}), "
_FRAME = regex(rf"(?:(?:and|but|so) )?(?:{_REPORT}|{_LINK})", re.IGNORECASE)
_LINKS = regex(rf"(?:(?:and|but|so) )?{_LINK}", re.IGNORECASE)
_REPORTED = regex(
    r", (?:I (?:think|believe|guess|suppose|recall)|it (?:seems|appears)|reportedly|allegedly|"
    r"apparently|as far as I know|perhaps|possibly|probably|if I (?:recall|"
    r"remember) correctly),(?= )|"
    r"(?<!n't)(?<!\bnot) (?:reportedly|allegedly|supposedly|apparently|presumably|probably|"
    r"possibly|perhaps|likely)"
    r"(?= (?:is|was|are|were|has|had|been|born|died|in|on|at|the|an?|[a-z]{2,20}+(?<=ed))\b)",
    re.IGNORECASE,
)
_REMARK = regex(
    r"(?:(?:I'm |I am )?not sure|I(?:'[a-z]| [a-z]))(?!\S{0,9} (?:think|believe|guess)\b)"
)
_TALK = regex(
    r"\bas an? (?:ai|(?:large )?language model)\b|^\W*(?:sources?|references?|see also)\b\W|"
    r"\bplease (?:provide|specify|clarify|let|consult|check|refer|verify|see|visit)\b|"
    r"\b(?:hope|glad|happy) (?:this|that|to) help|\b(?:search|provided|available) results\b|"
    r"\bthe (?:provided|given) (?:text|context|information|sources?|passages?)\b|"
    r"\b(?:no|any|enough|much|little|limited|insufficient|more|additional|further|specific|"
    r"lack of) (?:\w{1,20}+ ){0,3}?(?:information|details?|data|records?|context|documentation)\b|"
    r"\b(?:information|details?) (?:[\w']{1,20}+ ){0,8}?(?:not|limited|scarce|unavailable|n't)\b|"
    r"\bit is (?:unclear|not clear|difficult to say)\b|\b(?:is|are|remains?) unclear\b|"
    r"\bhere(?: is|'s| are) (?:some|an?|the|what|more)\b|"
    r"\b(?:do|would) you (?:want|like|mean|have)\b|"
    r"\bthere (?:are|may be) (?:multiple|several|many) (?:people|individuals|persons)\b|"
    r"\byou (?:can|could|may|might|should|want)\b"
)
_CHAT = regex(
    r"\W*(?:sure|certainly|of course|ok|okay|yes|no|hello|hi|thanks?|thank you|sorry|"
    r"you're welcome|good luck)\W*"
)
#: "I" with its verb, unless a name stands before it: "World War I ended"
_SPEAKER = regex(r"\bI(?:'(?:m|ve|d|ll)\b| [a-z])|\bm[ey]\b")
_NUMBERED = regex(r"[A-Z][\w.-]{0,30}+ $")


def _lead(text: str, frames: re.Pattern[str] = _FRAME) -> int:
    """Return where a clause begins behind frames and links."""
    at = len(text) - len(text.lstrip())
    while (frame := frames.match(text, at)) is not None and has_verb(text[frame.end() :]):
        at = frame.end()
    return at


def unframed(clause: str) -> tuple[str, bool]:
    """Return a clause without the frames around it, and whether anything was taken off."""
    bare = clause[_lead(clause) :]
    for one in reversed(list(_REPORTED.finditer(_masked(bare)))):
        bare = bare[: one.start()] + bare[one.end() :]
    return bare, bare != clause


def is_talk(sentence: str) -> bool:
    """Whether a sentence or clause, without its frames, claims nothing about the topic."""
    text = _masked(" ".join(sentence.split()))
    if text.rstrip("\"')]").endswith("?") or (len(text) < 30 and _CHAT.fullmatch(text.lower())):
        return True
    for one in _SPEAKER.finditer(text):
        if one[0][0] != "I" or not _NUMBERED.search(text, max(0, one.start() - 32), one.start()):
            return True
    return bool(_TALK.search(text.lower()))


# ---- claims of a sentence and of a text

#: months in full, and short forms with a stop: "Apr." is left to end a sentence
_MONTH = (
    rf"(?:{alternatives(map(str.title, MONTH_NAMES))}|Jan\.|Feb\.|Aug\.|Sept\.|Oct\.|Nov\.|Dec\.)"
)
_DATE = rf"(?:{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH},? \d{{4}}|{_MONTH} \d{{4}}|\d{{4}})"
_LIFE = regex(
    rf"(?P<name>[^(),;]{{2,60}}+)(?P<all>\((?P<word>born )?(?P<born>{_DATE})"
    rf"(?: ?[-–—] ?(?:(?P<died>{_DATE})|present))?\) ?)"
)
_ALONE = regex(_NAME)
_CITED = regex(r" ?\[\d{1,3}(?:[,–-] ?\d{1,3}){0,5}\]")
_WHERE = (
    rf"(?:in|at) (?:the (?:city|town|village) of )?{_CAPITAL}(?:,? (?:de |la )?{_CAPITAL}){{0,5}}"
)
_BORN = regex(
    rf"(?P<core>[^,;]{{1,80}}? (?:was born|died)) (?:(?P<when>(?:in|"
    rf"on) {_DATE}),? (?P<where>{_WHERE})|"
    rf"(?P<place>{_WHERE}),? (?P<time>(?:in|on) {_DATE}))"
)
_BEST = regex(
    r"(?P<core>(?P<who>[^,;]{1,80}?) (?P<be>is|was) (?:an?|the)(?: (?!(?:of|in|from|on|at|that|who|"
    r"which|by|for|with)\b)[\w'-]{1,30}+){1,8}?),? (?P<known>(?:best|well|widely|mostly|"
    r"mainly) known (?:for|as) .{1,1000}+)"
)
_LABEL = regex(r"(?P<label>[^\W\d_][\w' -]{1,40}?) ?[:|] (?P<value>\S.*)$")
_LIFTED = {"born": "was born", "birth": "was born", "died": "died", "death": "died"}
#: "Founded: 1950", "Directed by: Ann Ek", "Known for: her odes"
_PASSIVE = regex(
    r"(?:built|known|made|written|held|led|set|found|[a-z]{2,20}(?<=ed))"
    r"(?: (?P<word>by|in|on|for|as|at|to|from|with))?$"
)
_KEEPS_STOP = regex(
    rf"(?:\b[A-Z]\.[A-Z]|\b(?:{alternatives(lexicon_words('abbreviations', 'claims'))}))\.$"
)


#: "n = 10" keeps its small letter
_EQUATION = regex(r"[a-z]\w{0,2} ?[=<>≤≥(^+*/-]|(?!a\b)[a-z] (?:is|are)\b")


def _facts(text: str) -> list[str]:
    """Return a claim, or two where it has the day and the place of a birth or is known for more."""
    born = _BORN.fullmatch(text)
    if born is not None:
        both = [born["when"] or born["place"], born["where"] or born["time"]]
        return [f"{born['core']} {one.rstrip(',')}" for one in both]
    best = _BEST.fullmatch(text)
    if best is not None:
        return [best["core"], f"{best['who']} {best['be']} {best['known']}"]
    return [text]


def _finished(text: str) -> str:
    """Return a claim with a capital, and without the marks that close a sentence."""
    text = text.strip().rstrip(" ,;:!")
    text = text if _KEEPS_STOP.search(text) else text.rstrip(" .,;:!")
    return text if _EQUATION.match(text) else text[:1].upper() + text[1:]


def _claims_of(text: str, topic: Topic, earlier: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the claims (start, end, words) of a sentence with single spaces."""
    label = _LABEL.match(text)
    head = label["label"] if label is not None and topic.name else ""
    subject = topic.name in head or head.partition(" ")[0].lower() in _PRONOUNS
    if label is not None and head and not subject and not has_verb(head):  # "Born", "Early life"
        if not has_verb(label["value"]):
            return [(0, len(text), _labelled(label["label"], label["value"], topic.name))]
        text = " " * label.start("value") + label["value"]
    mask = _masked(text)
    drafts: list[tuple[int, int, str]] = []
    for clause in _clauses(text, mask, topic):
        words = clause.shared + unframed(text[clause.start : clause.end])[0]
        asks = "?" if text.rstrip("\"')").endswith("?") else ""
        if not ALPHANUMERIC.search(words) or is_talk(words + asks):
            continue
        words = _CITED.sub("", words)
        named = _named(words, topic, earlier)
        life = _LIFE.match(named)
        if life is not None and not _ALONE.fullmatch(life["name"].strip()):
            life = None
        if life is not None and (life["word"] or (topic.pronoun in ("he", "she") and life["died"])):
            named = life["name"] + named[life.end() :]
            days = (("was born", life["born"]), ("died", life["died"]))
            drafts += [
                (
                    clause.start,
                    clause.end,
                    f"{life['name']}{verb} {'on' if ' ' in day else 'in'} {day}",
                )
                for verb, day in days
                if day
            ]
        drafts += [(clause.start, clause.end, _finished(fact)) for fact in _facts(_finished(named))]
    return [one for one in drafts if one[2]]


def _labelled(label: str, value: str, name: str) -> str:
    """Return "Born: 1942" and other lines and cells of a table as a sentence about ``name``."""
    low = label.strip().lower()
    verb = _LIFTED.get(low)
    passive = _PASSIVE.fullmatch(low)
    if verb is None and passive is not None:
        verb = f"{'is' if low.startswith('known') else 'was'} {low}"
        if passive["word"]:
            return _finished(f"{name} {verb} {value}")
    if verb is None:
        plural = re.search(r"[^s]s$|children$|people$", low) is not None
        label = label[:1].lower() + label[1:] if label[1:2].islower() else label
        return _finished(_owner(name, f"{label} {'are' if plural else 'is'} {value}"))
    word = "on " if re.search(r"\b\d{1,2} [A-Z]|[a-z]\.? \d{1,2}\b", value) else "in "
    return _finished(f"{name} {verb} {word if value[:1] not in 'iobaf' else ''}{value}")


class RulesClaims:
    """Claims by clauses, offline and deterministic."""

    signature = "claims-rules@4"

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Claimed]:
        """Return the claims of each distinct (topic, text)."""
        return {pair: read_claims(*pair) for pair in dict.fromkeys(pairs)}


def claims(text: str, topic: str = "") -> list[ClaimDraft]:
    """Return the claims of a text: clauses that name what they are about, none of them twice.

    ``topic`` is whom or what the text is about; without it the name that opens the text is taken.
    ``start:end`` of a claim is the clause it comes from, hedges included, while its ``text`` is
    without "It is believed that" and the like. Remarks in the first person, talk about missing
    information, questions, instructions, verse, code, headings and thoughts claim nothing. Never
    raises on any text.

    Limits: English (a sentence in another language is one claim, as it stands); a claim may say
    several things of its subject; a text of more than 3,000 sentences has none. For numbers that
    are to be published let a model split claims.

        >>> [c.text for c in claims("Mira Toll is a poet, and she taught. She died in 1999.")]
        ['Mira Toll is a poet', 'Mira Toll taught', 'Mira Toll died in 1999']
    """
    if not isinstance(text, str) or not isinstance(topic, str):
        wrong = topic if isinstance(text, str) else text
        raise InputError(f"claims: got {type(wrong).__name__}; expected text and topic as str")
    split = split_thoughts(text)
    return [
        draft._replace(start=split.place(draft.start), end=split.place(draft.end - 1) + 1)
        for draft in read_claims(topic, split.text).drafts
    ]


#: a text of so many characters whose last sentence has no stop was cut off by its token limit
_LONG_TEXT = 300


#: sentences beyond which no claims are read
MOST_READ = 3_000


def read_claims(topic: str, text: str) -> Claimed:
    """Return sentences and claims of a text about ``topic`` ("" where it is not known)."""
    document = long_text(text)
    sentences = document.parts
    spans = tuple(Span(p.start, p.end) for p in sentences)
    if not sentences or len(sentences) > MOST_READ:
        problem = "budget" if sentences else None
        return Claimed(spans, (), problem, unclaimed=_counted(document.lines))
    shown = _shown(text)
    english = is_english(text)
    reading = _TextReading(document, shown, _topic_of(topic, shown, document))
    drafts: list[ClaimDraft] = []
    for number, part in enumerate(sentences, 1):
        sentence = shown[part.start : part.end]
        flat = " ".join(sentence.split())
        if not english:
            drafts.append(ClaimDraft(number, part.start, part.end, flat))
            continue
        exact = len(flat) == len(sentence)
        for low, high, words in reading.claims(number, part, flat):
            placed = exact and 0 <= low < high <= len(flat)
            span = (part.start + low, part.start + high) if placed else part[:2]
            drafts.append(ClaimDraft(number, *span, words))
    distinct = drafts_once(drafts)
    # the last claim is what a long text breaks off in
    last = sentences[-1]
    quoted = shown.count('"', last.start, last.end) % 2
    stops = shown[last.end - 1] in ".!?…:)\"'" and not quoted
    closed = last.item or last.end < _LONG_TEXT or stops
    cut = int(english and not closed and bool(distinct) and distinct[-1].sentence == len(sentences))
    kept = distinct[: len(distinct) - cut]
    counts = _counted(document.lines + reading.counts)
    return Claimed(spans, kept, None, len(drafts) - len(distinct), cut, counts)


def _counted(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((kind, counts[kind]) for kind in UNCLAIMED if counts.get(kind))


#: a mark of multiplication, which is no emphasis: "3 * 5"
_TIMES = regex(r"(?<=[\w)\]}] )\*(?= [\w(\[$\\])|(?<=[\d\"])\*(?=[\d\"])")


def _shown(text: str) -> str:
    """Return a text with plain marks and without emphasis, of equal length."""
    shown = plain_text(text)
    times = [m.start() for m in _TIMES.finditer(text)]
    if not times:
        return shown
    marks = list(shown)
    for at in times:
        marks[at] = "*"
    return "".join(marks)


def _topic_of(topic: str, shown: str, document: LongText) -> Topic:
    """Return whom a text is about: as told, as its first sentence opens, or as it is headed."""
    named = plain_text(topic)
    first = document.parts[0]
    for part in document.parts[:3]:
        if not is_talk(shown[part.start : part.end]):
            first = part
            break
    found = find_topic(named, shown[first.start :])
    titled = None if found.name else _TITLED.match(shown)
    return found if titled is None else find_topic(titled["name"], shown[first.start :])


def _is_fragment(sentence: str, part: SentencePart, topic: Topic) -> bool:
    """Whether a few words without a verb claim nothing: "A life in Orm."."""
    if part.item or (topic.name and topic.name in sentence) or has_verb(sentence):
        return False
    if not topic.name:
        closed = sentence[-1:] in ".!?:\"'" or ":" in sentence or "=" in sentence
        return not closed and len(sentence.split()) <= 8
    words = sentence.split()
    verb = any(w.islower() and w.rstrip(".,;:!").endswith("s") for w in words[1:])
    first = words[0].lower().partition("'")[0]
    opens = first in _PRONOUNS or first in ("the", "this", "these", "those", "an", "a")
    return len(words) <= 5 and not verb and not opens and not re.search(r"[\d:]", sentence)


# ---- lists, tables and formulas

_PROPERTY = lexicon_words("headings", "claims.property")
_INSTRUCTIONS = lexicon_words("headings", "claims.instructions")
_LISTING = lexicon_words("headings", "claims.listing")
#: "Here are some famous graduates of Orm:", "There are three kinds of rock:"
_LISTED = regex(
    r"(?i:(?:(?:sure|certainly|of course|absolutely|yes|okay|ok)[,!.]? )?(?:here(?:'s| is| are)|"
    r"these are|(?:the )?following (?:is|are)|below (?:is|are)|there (?:is|are|were)|some of)"
    r"(?: (?:a|an|the|my|our))?(?: (?:short |brief |quick |complete |full |sample )?(?:list|"
    r"selection|overview|summary|table) of)?) (?P<nouns>[^:.!?]{3,120}?)"
    r"(?= (?:that|which|who|you|for you|to help|to get|below|with (?:their|its))\b|:?$)"
)
_COUNTING = regex(
    r"(?i:(?:some|a few|few|several|many|various|the|just|other|more|of|my|top|\d{1,3}|two|three|"
    r"four|five|six|seven|eight|nine|ten|twelve|twenty)(?: |$)){1,5}"
)
#: words behind which more must come: "Her roles include", "is given by"
_OPEN_END = regex(
    r"\b(?:includ(?:e|es|ed|ing)|is|are|was|were|be|by|as|in|of|with|for|to|and|that|from|like|has|have|"
    r"had|contains?|equals?)$"
)
_FOLLOWS = regex(r" ?(?:(?:as follows|the following|below)) ?:?$")
_PLURAL = regex(
    r"(?i:\b[a-z-]{1,40}(?<!s)s|people|children|men|women)"
    r"(?=$| (?:of|in|on|at|for|by|from|with|about)\b)"
)
#: "Ann Ek - a poet", "Orm: a town in the north"
_ENTRY = regex(r"(?P<name>[^:–—]{2,60}?)(?:(?P<mark>:)| [–—-]| ?[–—]|-) (?P<said>\S.*)$")
_SMALL = lexicon_words("function words", "tokens")
_COMMANDS = frozenset(" ".join(lexicon_rows("commands")).split())
_NO_CELL = frozenset(["", "-", "–", "—", "?", "n/a", "na", "none", "..."])
_LETTER = regex(r"[^\W\d_]")
#: the head of a column that only counts rows
_INDEX = regex(r"#|no\.?|nr\.?|id|index|rank|")
#: no form that may be a participle: "author based in Orm", "Implementing automated tests"
_SURE_VERB = regex(rf"(?<![\w-])(?:{_AUXILIARY}|{_PAST}|{_PRESENT})(?=[\s,;:.!?)]|$)")
#: "Multilingualism enhances the memory": an unknown word in -s before what opens an object
_THIRD = regex(r" [a-z]{3,20}(?<![su])s (?:an?|the|its|their|his|her)\b")


def _states(words: str) -> bool:
    """Whether the words of an item are a sentence of their own: a subject with its verb.

    One of six words and a full stop that does not begin with a participle counts as one: no list of
    verbs is complete, and a fact must not be lost.
    """
    entry = _ENTRY.match(words)
    said = entry["said"] if entry is not None else words
    if _SURE_VERB.search(said) or _HEAD.match(_masked(said)) or _THIRD.search(said):
        return True
    if entry is not None:
        return False
    first, *others = words.split()
    return words[-1:] in ".!" and len(others) > 4 and not first.lower().endswith(("ing", "ed"))


def _nouns(lead: str) -> str:
    """Return what a list is of, "Graduates of Orm", by the words above it, or ""."""
    listed = _LISTED.match(lead)
    nouns = listed["nouns"] if listed is not None else "" if has_verb(lead) else lead
    counted = _COUNTING.match(nouns)
    before = f" {counted[0].lower()} " if counted else ""
    nouns = (nouns[counted.end() :] if counted else nouns).strip(" :")
    plural = _PLURAL.search(nouns)
    if plural is None or (listed is None and len(nouns.split()) < 3):
        return ""
    head = plural[0].lower()
    if head in _INSTRUCTIONS or (head in _LISTING and head != "examples"):
        return ""
    opening = listed[0][: -len(nouns)] if listed is not None else ""
    definite = " the " in before or " the " in opening
    return f"The {nouns}" if definite else nouns[:1].upper() + nouns[1:]


#: what says nothing without what it points to: "The output is the following:"
_POINTS = regex(r"(?i:\b(?:following|follows|below|outputs?|prints?|this|these)\b)")
#: a writer's next step, which says nothing by itself
_OUR_STEPS = regex(r"(?i:(?:\w{2,12},? )?(?:we|you|i|let|to)\b)")


def _gives(lead: str) -> bool:
    """Whether words before a formula say what it is: "The area is given by"."""
    return has_verb(lead) and not is_talk(lead) and not _OUR_STEPS.match(lead)


def _complete(words: str) -> bool:
    """Whether words before a colon say something by themselves: "She won two prizes:"."""
    open_end = _OPEN_END.search(words) is not None or _POINTS.search(words) is not None
    return _gives(words) and not open_end


class _TextReading:
    """The claims of one text, sentence after sentence; ``counts`` of what claims nothing."""

    def __init__(self, document: LongText, shown: str, topic: Topic) -> None:
        self.parts = document.parts
        self.shown = shown
        self.topic = topic
        self.counts: Counter[str] = Counter()
        self.earlier: list[str] = []
        #: whom the item is about in which the last sentence stood, and whether it told to do
        self.entry: Topic | None = None
        self.instructing = False
        #: the number of the last formula that stands behind the words that open it
        self.last_behind = 0

    def claims(self, number: int, part: SentencePart, flat: str) -> list[tuple[int, int, str]]:
        """Return the claims of a sentence; one without any is counted."""
        before = self.parts[number - 2] if number > 1 else None
        begins = before is None or "\n" in self.shown[before.end : part.start]
        begins = begins or (len(part.head) == 1 and before is not None and before.head != part.head)
        if begins:
            self.entry = None
        if len(part.head) > 1:
            return self._kept(self._row(part), "phrase")
        if part.head and begins and not _states(flat):
            key = self._words(part.head[0]).replace("_", " ")
            name = self.topic.name
            value = flat.replace('"', "")
            said = [(0, len(flat), _labelled(key, value, name))] if name not in ("", value) else []
            return self._kept(said, "phrase")
        if self._opens(number, part):
            return []
        bare = unframed(flat)[0]
        own = self.topic.name and bare.startswith(self.topic.name)
        # "heat" in a list of causes
        listed = len(bare.split()) < 3 and part.item and self._lead(part)
        told = not (own or listed) and is_instruction(bare, self.instructing)
        self.instructing = told
        if told:
            return self._kept([], "instruction")
        if part.formula:
            return self._formula(number, part, flat)
        if part.item and begins:
            return self._item(part, flat)
        fragment = len(self.parts) > 1 and _is_fragment(flat, part, self.topic)
        fragment = fragment or flat.startswith(("- ", "– ", "— ")) or flat.endswith(("…", "..."))
        if self._dangles(number, part) or fragment:
            return self._kept([], "phrase")
        about = self.entry or self.topic
        drafts = _claims_of(flat, about, self.earlier)
        self.earlier.append(flat)
        return self._kept(drafts, "remark")

    def _kept(self, drafts: list[tuple[int, int, str]], kind: str) -> list[tuple[int, int, str]]:
        self.counts[kind] += not drafts
        return drafts

    def _opens(self, number: int, part: SentencePart) -> bool:
        """Whether a sentence only opens the list that comes next, or the formula."""
        opens = part.lead is None and self.shown[part.end - 1] == ":" and number < len(self.parts)
        if not opens or self.parts[number].lead != number - 1:
            return False
        words = self._words((part.start, part.end - 1))
        if self.parts[number].formula:
            return _gives(words)
        return not _complete(words)

    def _dangles(self, number: int, part: SentencePart) -> bool:
        """Whether a sentence opens something that is no sentence: "The output is:"."""
        if self.shown[part.end - 1] != ":" or _complete(self._words((part.start, part.end - 1))):
            return False
        end = self.parts[number].start if number < len(self.parts) else len(self.shown)
        lead = number < len(self.parts) and self.parts[number].lead == number - 1
        rest = ALPHANUMERIC.search(self.shown, part.end, end) is not None
        return lead or rest or end == len(self.shown)

    def _words(self, span: Sequence[int]) -> str:
        return " ".join(self.shown[span[0] : span[1]].replace("*", " ").split())

    def _row(self, part: SentencePart) -> list[tuple[int, int, str]]:
        """Return a claim for each cell of a row, of the thing that the row is of."""
        spans = list(row_cells(self.shown, Span(part.start, part.end)))
        heads = list(part.head)
        cells = [self._words(one) for one in spans]
        names = [self._words(one).replace("_", " ") for one in heads]
        counts = _INDEX.fullmatch(names[0].lower()) and not _LETTER.search(cells[0])
        if len(cells) > 2 and len(names) > 2 and counts:
            spans, cells, names = spans[1:], cells[1:], names[1:]
        subject = cells[0]
        generic = not names[0] or names[0].lower() in _PROPERTY
        if self.topic.name and len(cells) == 2 and generic and subject:
            return [(0, part.end - part.start, _labelled(subject, cells[1], self.topic.name))]
        if not _LETTER.search(subject) and _LETTER.search(names[0]) and " " not in names[0]:
            subject = f"{names[0]} {subject}"  # "Year 2009"
        drafts = []
        for span, name, cell in zip(spans[1:], names[1:], cells[1:], strict=False):
            if not _LETTER.search(subject):
                break
            if cell.lower() in _NO_CELL or not name or subject.lower() in _NO_CELL:
                continue
            about = find_topic(subject, cell)
            person = cell.partition(" ")[0].lower() in ("he", "she", "his", "her")
            about = self.topic if person and self.topic.name else about
            words = _named(cell, about, ()) if has_verb(cell) else ""
            words = words or _labelled(name, cell, subject)
            if subject.casefold() not in words.casefold():
                words = f"{subject}: {words}"
            drafts.append((span.start - part.start, span.end - part.start, _finished(words)))
        return drafts

    def _lead(self, part: SentencePart) -> str:
        """Return the words that open an item's list, of a sentence or a heading."""
        if part.lead is not None:
            lead = self.parts[part.lead]
            words = self._words((lead.start, lead.end))
            return _FOLLOWS.sub("", words).rstrip(" :") if len(words) <= 200 else ""
        return self._words(part.title) if part.title is not None else ""

    def _item(self, part: SentencePart, flat: str) -> list[tuple[int, int, str]]:
        """Return the claims of the first sentence of an item."""
        lead, whole = self._lead(part), (0, len(flat))
        nouns = _nouns(lead)
        joins = part.lead is not None and (has_verb(lead) or lead.endswith("include"))
        joins = joins and not is_talk(lead) and _LISTED.match(lead) is None
        first = lead.partition(" ")[0].lower()
        joins = joins and (first not in _PRONOUNS or _agrees(first, self.topic))
        if is_talk(flat) or flat.endswith(("…", "...")):
            return self._kept([], "remark" if is_talk(flat) else "phrase")
        if _states(flat):
            return self._stated(flat, nouns)
        if joins:
            return [(*whole, _finished(self._behind(lead, flat)))]
        return self._kept(
            [(*whole, _finished(one)) for one in self._entry(part, flat, nouns)], "phrase"
        )

    def _behind(self, lead: str, words: str) -> str:
        """Return an item behind what opens its list; a colon stays where that could end."""
        open_end = _OPEN_END.search(lead) is not None
        return f"{_named(lead, self.topic, ())}{' ' if open_end else ': '}{words}"

    def _formula(self, number: int, part: SentencePart, flat: str) -> list[tuple[int, int, str]]:
        """Return a formula with the words that lead to it, or one without letters by itself."""
        lead = self._lead(part) if part.lead is not None else ""
        before = self.parts[number - 2].end if number > 1 else 0
        follows = number - 1 in (self.last_behind, (part.lead or 0) + 1)
        follows = follows and not ALPHANUMERIC.search(self.shown, before, part.start)
        if follows and _gives(lead):
            self.last_behind = number
            words = self._behind(lead, flat)
        else:
            words = "" if has_variable(flat) else flat
        return self._kept([(0, len(flat), _finished(words))] if words else [], "formula")

    def _stated(self, flat: str, nouns: str) -> list[tuple[int, int, str]]:
        """Return the claims of an item that is a sentence, or has one behind its name."""
        entry = _ENTRY.match(flat)
        label = entry["name"] if entry is not None and entry["mark"] else ""
        person = self.topic.pronoun in ("he", "she")
        topical = bool(self.topic.name) and self.topic.name in label
        if entry is None or not label or topical or has_verb(label) or (person and not nouns):
            drafts = _claims_of(flat, self.topic, self.earlier)
            self.earlier.append(flat)
            return self._kept(drafts, "remark")
        own = find_topic(label, entry["said"])
        if nouns or not self.topic.name or not _agrees(own.pronoun or "it", self.topic):
            self.entry = own
        value = " " * entry.start("said") + entry["said"]
        drafts = []
        for low, high, words in _claims_of(value, self.entry or self.topic, self.earlier):
            known = label.lower() in words.lower() or drafts
            drafts.append((low, high, words if known else f"{label}: {words}"))
        self.earlier.append(entry["said"])
        return self._kept(drafts, "remark")

    def _entry(self, part: SentencePart, flat: str, nouns: str) -> list[str]:
        """Return what an item without a verb says by its place in a list; nothing by itself."""
        title = self._words(part.title) if part.title is not None else ""
        kinds = set(title.lower().split())
        if kinds & _INSTRUCTIONS:
            return []
        entry = _ENTRY.match(flat)
        name, topic = entry["name"].strip() if entry is not None else flat, self.topic.name
        if nouns:
            of = [f"{nouns} include {name}"]
            if entry is not None:
                self.entry = find_topic(name, "")
                of.append(_said(name, entry["said"]))
            return of
        if topic and entry is not None and entry["mark"] and _LETTER.search(name):
            return [_labelled(name, entry["said"], topic)]
        said = not (flat[:1].islower() and flat.partition(" ")[0] in _SMALL)
        if topic and title and topic not in title and said and not kinds & (_PROPERTY | _LISTING):
            title = title[:1].lower() + title[1:] if title[1:2].islower() else title
            verb = "include" if _PLURAL.search(title) else "includes"
            return [_owner(topic, f"{title} {verb} {flat}")]
        if entry is not None and not entry["mark"] and name[:1].isupper():
            return [_said(name, entry["said"])]
        return [f"{topic}: {flat}"] if topic and said and len(flat.split()) > 1 else []


def _said(name: str, said: str) -> str:
    """Return "Ann Ek is a poet", "Orm offers baths": an item's name and what it says of it."""
    first, _, rest = said.partition(" ")
    low = first.lower()
    if low.endswith("s") and low.removesuffix("s") in _COMMANDS:
        return f"{name} {low} {rest}"
    passive = _PASSIVE.fullmatch(low) is not None
    if not (passive or low in ("a", "an", "the") or first[:1].islower()):
        return f"{name}: {said}"  # it may be a name: "Introduction to Logic - Orm University"
    many = name[-1:] == "s" and name[-2:] not in ("ss", "us", "is") and name.split()[-1].islower()
    verb = ("were" if many else "was") if passive and low != "known" else "are" if many else "is"
    verb = ("serve" if many else "serves") if low == "to" else verb
    return f"{name} {verb} {low} {rest}"


# ---- by a language model

#: more claims than this in one sentence, and longer ones, are not read
MOST_CLAIMS = 40
LONGEST = 1_000
#: sentences in one call, their characters together, and characters of what stands before them
MOST_SENTENCES = 12
MOST_CHARACTERS = 8_000
BEFORE = 400
_CONTROL = regex(r"[\x00-\x20\x7f-\x9f]+")
_PARAGRAPH = regex(r"\n[ \t\r]*\n")


class _ToldClaims(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(max_length=LONGEST)]
    quote: str


_TOLD = Annotated[list[_ToldClaims], msgspec.Meta(max_length=MOST_CLAIMS)]


def read_entry(entry: dict[str, Any]) -> list[list[str]] | None:
    """Return [text, quote] of each claim of an entry; ``None`` if any of it is not valid."""
    try:
        claims_read: list[_ToldClaims] = msgspec.convert(entry.get("claims"), _TOLD)
    except msgspec.ValidationError:
        return None
    if not all(ALPHANUMERIC.search(one.text) for one in claims_read):
        return None
    return [[_CONTROL.sub(" ", one.text).strip(), one.quote] for one in claims_read]


class LlmClaims(NumberedReader):
    """A model that takes texts apart; ``counts.parts`` are sentences. The prompt is ours.

    FActScore (Min et al. 2023, section 3) asks once for every sentence, with eight examples each
    time. Here up to twelve sentences share a call, so the instructions are paid once for all of
    them, and the text before them is shown, so that "he" can be resolved.
    ``unlocated``: claims whose quote is not in their sentence; they have the sentence's span.
    """

    task = JudgeTask("claims", "claims_reply", "sentence", 240, read_entry)
    subject = "claims"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self.claims = 0
        self.unlocated = 0
        self._known: dict[tuple[str, str], Claimed] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Claimed]:
        """Return the claims of each (topic, text); each is asked once, texts without sentences
        never. A ``problem`` says that claims of at least one sentence are missing."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        cut = {pair: claim_blocks(*pair) for pair in new}
        distinct = list(dict.fromkeys(block for blocks in cut.values() for block, _ in blocks))
        replies = self.ask(distinct)
        outcomes = dict(zip(distinct, replies, strict=True))
        for pair, blocks in cut.items():
            self._known[pair] = self._claimed(pair[1], blocks, outcomes)
        return {pair: self._known[pair] for pair in pairs}

    def _claimed(
        self,
        text: str,
        blocks: Sequence[tuple[TextBlock, list[tuple[int, Span]]]],
        outcomes: dict[TextBlock, dict[str, TextOutcome]],
    ) -> Claimed:
        drafts: list[ClaimDraft] = []
        spans: list[Span] = []
        problem = None
        for block, members in blocks:
            for number, span in members:
                spans.append(span)
                outcome = outcomes[block][text[span.start : span.end]]
                problem = problem or outcome.problem
                for claim, quote in outcome.value or ():
                    place = locate(quote, text, span)
                    self.claims += 1
                    self.unlocated += place is None
                    drafts.append(ClaimDraft(number, *(place or span), claim))
        distinct = drafts_once(drafts)
        counts = _counted(long_text(text).lines)
        return Claimed(tuple(spans), distinct, problem, len(drafts) - len(distinct), 0, counts)

    @property
    def notices(self) -> list[str]:
        """What a reader of the numbers must know."""
        notices = super().notices
        if self.unlocated:
            notices.append(
                f"claims by {self.signature}: {self.unlocated} of {self.claims} claims quote "
                "words that their sentence does not contain; their span is the whole sentence"
            )
        return notices


def claim_blocks(topic: str, text: str) -> list[tuple[TextBlock, list[tuple[int, Span]]]]:
    """Cut a text into calls: paragraphs, short ones together, long ones in parts of equal size.

    Returns each with its sentences (number from 1, span).
    """
    paragraphs: list[list[tuple[int, Span]]] = []
    end = 0
    for number, part in enumerate(parts(text), 1):
        if not paragraphs or _PARAGRAPH.search(text, end, part.start):
            paragraphs.append([])
        paragraphs[-1].append((number, Span(part.start, part.end)))
        end = part.end
    groups: list[list[tuple[int, Span]]] = []
    for members in (m for paragraph in paragraphs for m in _halved(paragraph)):
        if groups and _fits([*groups[-1], *members]):
            groups[-1] += members
        else:
            groups.append(members)
    blocks = []
    for members in groups:
        before = " ".join(text[max(0, members[0][1].start - BEFORE) : members[0][1].start].split())
        head = (Field("before", before),) if before else ()
        texts = tuple(dict.fromkeys(text[s.start : s.end] for _, s in members))
        blocks.append((TextBlock(topic, head, texts), members))
    return blocks


def _fits(members: Sequence[tuple[int, Span]]) -> bool:
    size = sum(span.end - span.start for _, span in members)
    return len(members) == 1 or (len(members) <= MOST_SENTENCES and size <= MOST_CHARACTERS)


def _halved(members: list[tuple[int, Span]]) -> list[list[tuple[int, Span]]]:
    """Cut a paragraph that is too much for one call in two, until it is not."""
    if _fits(members):
        return [members]
    half = (len(members) + 1) // 2
    return _halved(members[:half]) + _halved(members[half:])


def locate(quote: str, text: str, sentence: Span) -> Span | None:
    """Return where a quote stands in a sentence of ``text``, or ``None``.

    Its words must stand there in a row; white space, punctuation and case do not count.
    """
    wanted = [w.casefold() for w in ALPHANUMERIC.findall(quote[: 2 * LONGEST])]
    there = list(ALPHANUMERIC.finditer(text, *sentence))
    words = [w.group().casefold() for w in there]
    for at in range(len(words) - len(wanted) + 1):
        if wanted and words[at : at + len(wanted)] == wanted:
            return Span(there[at].start(), there[at + len(wanted) - 1].end())
    return None


# ---- does a long answer answer at all?

PHRASES = tuple(lexicon_rows("declining"))


def unresponsive(text: str) -> str | None:
    """Return the phrase by which an answer declines; "empty" for no text, ``None`` if it answers.

    Tu et al., arXiv 2411.15993, section 3.1, filter their generations by phrases such as these
    before counting claims: of a model that asks back or declines. Quotes and case
    are made equal, and a phrase counts anywhere.
    Of other languages set phrases alone decline; all else passes, and is counted as an answer.
    """
    if is_blank(text):
        return "empty"
    if not is_english(text) and silent_elsewhere(text):
        return "a phrase of another language"
    plain = " ".join(seen(text).lower().split())
    return next((phrase for phrase in PHRASES if phrase in plain), None)
