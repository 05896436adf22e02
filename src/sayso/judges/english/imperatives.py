"""Sentences that tell a reader to do something: "Dice the onion.", "Next, add it to the pan."."""

from __future__ import annotations

from sayso.judges.english.lexicon import alternatives, lexicon_rows, lexicon_words
from sayso.judges.english.sentences import AUXILIARY
from sayso.judges.patterns import regex

_COMMANDS = frozenset(" ".join(lexicon_rows("commands")).split())
#: those that are nouns as often: "Water exhibits a phenomenon"
_NOUNS = frozenset(lexicon_rows("commands")[1].split())
#: verbs that have a subject before them; participles in -ed are left out: "the diced onion", and
#: forms in -s at the end: "under the stars"
_FINITE = regex(
    rf"(?<![\w-])(?:{AUXILIARY}|"
    rf"(?:{alternatives(lexicon_words('verbs', 'sentences.past'))})(?![\w-])|"
    rf"(?:{alternatives(lexicon_words('verbs', 'sentences.present'))}|"
    rf"{alternatives(lexicon_words('verbs', 'claims.singular'))})(?= \w))"
)
#: what may stand before the verb: "First, ", "To make a cake, ", "If it is dry, ", "Please "
_BEFORE = regex(
    r"(?i:(?:and |or )?(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|now|finally|lastly|"
    r"also|again|afterwards?|after that|meanwhile|optionally|alternatively|additionally|instead|"
    r"once (?:you|it|they|all|the)\b[^,.;]{1,80}|(?:if|when|before|after|while|until) [^,.;]{1,80}|"
    r"to [a-z]{2,20}(?: [^,.;]{1,80})?|(?:in|on|over|with|using|for) (?:an?|the|your|each|low|"
    r"medium|high) [^,.;]{1,60}), )|(?i:please|simply|just|carefully|gently|slowly|quickly|"
    r"gradually|thoroughly|then|next|first|always|never|do not|don't|be sure to|make sure to|"
    r"remember to|try to|feel free to) "
)
_MOST_BEFORE = 4
_LABEL = regex(r"[^\W_][\w '&/-]{0,40}: ")
_WORDS = regex(r"([^\W\d_]{2,20})(?: (\S{1,40}))?(?: (\S{1,40}))?")
#: "let us", "be careful", "make sure that it is dry", "avoid frying it"
_FIXED = regex(
    r"(?i:let's|let us|make sure|be (?:sure|careful|aware|mindful|patient|honest|prepared|creative|"
    r"consistent|specific|open|respectful)|avoid|keep in mind|don't|do not)\b"
)
#: where the main clause ends: what comes may have a subject and a verb of its own
_SUBORDINATE = regex(
    r"[;:(]|,? \b(?:until|till|if|when|whenever|that|which|who|whose|where|because|since|as|while|"
    r"before|after|unless|whether|what|how|why|once|and (?:it|they|you)|so|to see)\b"
)
_DETERMINER = frozenset(["a", "all", "an", "any", "each", "it", "the", "them", "your"])
_AFTER_VERB = _DETERMINER | frozenset(["as", "at", "by", "for", "from", "in", "on", "to", "with"])
#: past forms that are no adjectives either
_PAST_VERB = regex(
    r"\b(?:said|told|made|won|held|led|lost|met|sold|taught|built|bought|brought|kept|[a-z]{3,20}ed)\b"
)
#: base forms that are past forms or participles too: "Set in Paris, the film …"
_EITHER = frozenset(["beat", "cut", "let", "put", "read", "set", "shut", "split", "spread"])
_NO_VERB = regex(r"(?:s|ed|ing|ly|ion|ness|ment|ity|th)$")


def is_instruction(sentence: str, among: bool = False) -> bool:
    """Whether a sentence is in the imperative: told by a base form without a subject.

    ``among``: it stands among instructions, where unknown words before "the" are verbs too.
    """
    label = _LABEL.match(sentence)
    if label is not None:
        value = sentence[label.end() :]
        if _FINITE.search(value) or _opens(value, among):
            return _opens(value, among)
    return _opens(sentence, among)


def _opens(words: str, among: bool) -> bool:
    if _FIXED.match(words):
        return True
    at = 0
    for _ in range(_MOST_BEFORE):
        before = _BEFORE.match(words, at)
        if before is None:
            break
        at = before.end()
    return _commands(words[at:], among)


def _commands(words: str, among: bool) -> bool:
    if _FIXED.match(words):
        return True
    found = _WORDS.match(words)
    if found is None or (found[2] is None and words[found.end() :].strip(" .!")):
        return False
    verb, following = found[1].lower(), (found[2] or "").lower().strip(".,;:!")
    if found[1][1:] != verb[1:]:  # a name in capitals
        return False
    third = found[3] or ""
    # "Focus released an album", "Focus initially worked for"
    past = (following.endswith("ed") and third.lower() in _AFTER_VERB) or (
        following.endswith("ly") and third.endswith("ed")
    )
    # "Mark Twain once said"
    named = (found[2] or "")[:1].isupper() and _PAST_VERB.search(words)
    # "Water exhibits a phenomenon"
    subject = verb in _NOUNS and following.endswith("s") and third in ("a", "an", "the", "that")
    if past or named or subject:
        return False
    known = verb in _COMMANDS
    stop = _SUBORDINATE.search(words) if verb not in _EITHER else None
    states = _FINITE.search(words[: stop.start()] if stop else words, len(verb))
    if states or (following.endswith("s") and following.removesuffix("s") in _COMMANDS):
        return False
    if known:
        return following != "of" and (following != "by" or verb not in _NOUNS)
    unknown = not _NO_VERB.search(verb) and verb not in _SMALL and len(verb) > 2
    return among and unknown and following in _DETERMINER and third[:1].islower()


_SMALL = lexicon_words("function words", "tokens") | lexicon_words("function words", "stance")
