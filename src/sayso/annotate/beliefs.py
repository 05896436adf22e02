"""Patterns of claims short of knowledge: belief, hearsay, modals, adverbs, either/or.

Composed from ``hedges`` like ``patterns``, and linear like them.
"""

from __future__ import annotations

from sayso.annotate import hedges as h
from sayso.annotate.patterns import DEG as _DEG
from sayso.annotate.patterns import compiled

_FIRST = (
    r"\b(?:I|we)(?:\s*'d|\s+would|\s+do|\s+can\s+only|\s+could\s+only|\s+must|\s+will|\s*'ll|"
    r"\s+seem\s+to|\s+have\s+to|\s*'ve)?"
)
MATRIX = compiled(
    rf"""
      {_FIRST}(?:\s*n'?t|\s+not)?\s+(?:(?:\w+ly|do|only|just|kind\s+of|sort\s+of|also|still
        |tend\s+to|want\s+to|would|rather|don't)\s+){{0,2}}{h.BELIEF}(?!\s+(?:you|help))\b
    | {_FIRST}\s+(?:have\s+to\s+|go\s+with|lean\s+towards?|venture|want\s+to\s+say
        |say\b(?!\s+(?:that\s+)?I)|be\s+inclined|be\s+tempted)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+{h.PARTLY}\s+(?:sure|certain|confident|positive|convinced)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+(?:\w+\s+)?(?:inclined|tempted|leaning|guessing|assuming
        |under\s+the\s+impression|speculating|going\s+to\s+(?:guess|say)|sure\s+but\s+not)
    | \b(?:I|we)\s+doubt\b | \b(?:fairly|pretty|reasonably|almost|quite|somewhat
        |mostly)\s+(?:sure|certain|confident)\b
    | \bthere\s*(?:is|are|'s|has\s+been|have\s+been|was|were)\s+(?:\w+\s+){{0,3}}?{h.HEARSAY}\b
    | \b(?:so|as)\s+(?:the|a|one|family|local)?\s*(?:\w+\s+){{0,2}}?{h.HEARSAY}\s+(?:goes|has
        |have|says|tells)(?:\s+it)?
    | \b{h.HEARSAY}\s+(?:has|have)\s+it
    | \b(?:so|as)\s+(?:they|people|some|we|it)\s+(?:say|claim|tell|believe|seems|appears|is\s+said)
    | \b(?:the\s+)?{h.HEARSAY}\s+(?:is|goes|says)\s+that
    | \b{h.SOME}\s+(?:[\w-]+\s+){{1,3}}?(?:say|says|claim|claims|suggest|suggests|believe|argue
        |maintain|speculate|contend|assert|insist|allege)\b
    | \b(?:judging|going|guessing)\s+(?:by|from)\b
    | \b(?:it|this|that|he|she|they|which|who|answer)\s+{_DEG}(?:seems?|sounds?
        |looks?)\b(?!\s+(?:at|for|after|into|up))
    | \b(?:seems?|seemed)\s+(?:to\s+\w+|like|that)\b | \bappear(?:s|ed)?\s+(?:to\s+\w+|that
        |likely)\b | \bit\s+appears\b
    | \b(?:it|that|this)(?:\s+is|'s|\s+was)\s+(?:\w+ly\s+|also\s+|quite\s+|very\s+
        |entirely\s+)?(?:possible|likely|probable|conceivable|plausible|unlikely)\b
    | \b(?:is|are|was|were)\s+(?:\w+\s+)?(?:likely|unlikely|apt)\s+to\b
    | \b(?:there\s+is|there's)\s+(?:a|an|some)\s+(?:\w+\s+)?(?:chance|possibility|likelihood
        |probability)
    | \b(?:my|a|an|the|one)\s+(?:\w+\s+)?(?:guess|hunch|estimate|suspicion|assumption|impression
        |understanding|recollection|bet|feeling|belief)\s+(?:is|would|was|that|but)\b
    | \bif\s+I\s+(?:had|have)\s+to\b | \b(?:just|only|purely)\s+(?:a|my)\s+(?:\w+\s+)?(?:guess
        |hunch|estimate)\b
    | \bsomething\s+tells\s+me\b | \bmy\s+gut\b
    | \bmy\s+(?:\w+\s+)?(?:guess|hunch|suspicion|bet|impression|assumption)\b
    | (?:^|[,;(]\s*|\b(?:but|and|although|though|while)\s+){h.SOURCES}\s+(?:\w+ly\s+)?(?:say
        |claim|suggest|believe|allege|maintain|insist|speculate|think|argue|assume)\b
    | \b(?:is|are|was|were|been|being)\s+(?:\w+\s+)?(?:suspected|presumed|assumed|alleged
        |rumou?red|speculated|conjectured)\b
    | \b(?:looks?|sounds?|feels?)\s+(?:like|as\s+if|to\s+(?:be|me))\b
    | \b(?:best|educated|rough|wild|first|tentative)\s+guess\b
    | \bguess(?:ing|work)\b
    | \bif\s+(?:I|my\s+memory|memory|my)\b[^,.;]{{0,30}}(?:mistaken|wrong|right(?:ly)?
        |correct(?:ly)?|serves?|recall|remember|fail\w*|deceiv\w*)(?:\s+(?:me|correctly|right
        |rightly|well))*
    | \bunless\s+(?:I\b|my\b)[^,.;]{{0,40}}
    | \b(?:as|so)\s+far\s+as\s+(?:I|we|my|anyone|is)\b[^,.;]{{0,25}}(?:know[sn]?|aware|tell
        |remember|recall|concerned|goes|can\s+say|understand)
    | \bto\s+(?:the\s+best\s+of\s+)?my\s+(?:\w+\s+)?(?:knowledge|recollection|understanding|memory)
    | \b(?:from|by|based\s+on)\s+(?:what|my|the\s+little
        |the\s+limited)\b[^,.;]{{0,30}}(?:remember|recall|know|gather|tell|understand|memory
        |knowledge|heard|read|recollection|seen|information)
    | \boff\s+the\s+top\s+of\s+my\s+head
    | \b(?:rumou?rs?|legend|tradition|word|folklore|hearsay|lore|gossip)\s+(?:has\s+it|have\s+it
        |holds|says|is\s+that|suggests?|claims?)
    | \b(?:they|people|some|others|many|several)\s+(?:\w+\s+)?(?:say|claim|believe|think|argue
        |suggest|speculate|suspect|dispute|assume|maintain|hold)\b
    | \b{h.SOME}\s+(?:[\w-]+\s+){{0,3}}?{h.SOURCES}\s+(?:(?:[\w,-]+\s+){{0,6}}?{h.SAYS}
        |{h.DIFFER})\b
    | \b(?:sources|accounts|reports|records|evidence|historians|scholars|research|studies
        |rumou?rs|indications)\s+(?:\w+\s+){{0,2}}?(?:suggests?|differ|disagree|vary|conflict
        |hints?|impl(?:y|ies)|diverge|speculate|claim|points?\s+to)
    | \baccording\s+to\s+(?:{h.SOME}\b|legend|rumou?rs?|tradition|folklore|hearsay|gossip
        |what\s+I|popular|(?:un\w+|conflicting|anecdotal)\s+\w+|my\s+(?:memory|recollection
        |understanding))
    | \b(?:some|certain|various|other|different|conflicting)\s+(?:\w+\s+)?(?:accounts|sources
        |reports|records)\b
    | \bin\s+(?:some|certain|various)\s+(?:\w+\s+)?(?:accounts|sources|reports|records|versions)
    | \b(?:is|are|was|were|been|be|has\s+been|'s)\s+(?:(?:\w+ly|often|sometimes|also|widely
        |commonly|generally|now|once|long)\s+){{0,2}}{h.REPORTED}\s+(?:to\b|that\b
        |by\s+(?:{h.SOME}|historians|scholars)|he\b|she\b|it\b|they\b|the\b|\w+\s+(?:was|is)\b
        |as\s+having)
    | \b{h.REPORTED}\s+to\s+(?:be|have)\b
    | \bit\s+(?:is|was|has\s+been|had\s+been)\s+(?:(?:\w+ly|often|sometimes)\s+)?{h.REPORTED}\b
    | \b(?:one|a|another)\s+(?:\w+\s+)?(?:theory|possibility|hypothesis|version|account|story
        |claim|report|source|tradition)\s+(?:is|says|holds|suggests|claims|puts|has|places|gives
        |would\s+be|that)\b
    | \b(?:is|was|are|were)\s+(?:a\s+)?(?:possible|probable|plausible|likely|tentative
        |unconfirmed|alleged|speculative)\b(?!\s+to\b)
    | \bor\s+so\s+I(?:'ve|\s+have)?\s+(?:think|thought|believe|heard|read|am\s+told|was\s+told
        |recall)
    | \bI(?:'ve|\s+have)?\s+(?:am|'m|was|been)?\s*told\b
    | \bunder\s+the\s+impression\b
    """
)
MODAL = compiled(
    r"""(?<!\bthe\s)(?<!\bits\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)(?<!\byou\s)(?<!\bin\s)\b(?:may|might)(?:n't)?\s+(?!include\b|includes\b|vary\b|range\b|differ\b|depend\b|require\b|also\s+include\b|
            not\s+show\b|last\b|\d|God\b|Day\b|Queen\b|as\s+well\s+ask\b|be\s+(?:noted|found|seen
        |used|treated|transmitted|spread)\b)(?-i:[a-z])
    | \bcould\s+(?:(?:also|well|possibly|potentially|perhaps|easily|just|conceivably|equally
        |be\s+that|either)\s+)?(?:be|have|mean|refer)\b(?!\s+(?:seen|found|heard))
    | \b(?:must|should|would|ought\s+to)\s+have\s+been\b
    | \bshould\s+be\s+(?:(?:in|at|on|an?|the|about|around)\s+)?(?-i:[A-Z]|\d)
    | \b(?:it|that|this|answer|he|she)\s+(?:must|should|ought\s+to)\s+be\b(?!\s+(?:noted
        |mentioned|stressed|pointed|\w+ed\b))
    """
)
_ADVERBS = "|".join([*h.ADVERBS, *h.ADVERB_PHRASES])
ADVERB = compiled(
    rf"\b(?:(?:most|very|quite|more)\s+)?(?:{_ADVERBS})\b(?:,?\s+(?:though|but)\s+not\s+certainly)?"
)
ADJECTIVE = compiled(rf"\b(?:{'|'.join(h.ADJECTIVES)})\s+(?=[a-z0-9\"'])")
CHOICE = compiled(
    r"""\beither\s+(?=[^.;?!]{1,60}\s+or\s)
    | (?-i:\b(?:[A-Z][\w'.-]*|\d[\d,.]*)\s+or\s+(?:(?:in|at|on|by|from|the|around
        |about)\s+)?(?:[A-Z][\w'.-]*|\d[\d,.]*))
    | \(\s*\?+\s*\) | (?<=\w)\?(?=\s*\)) """
)
