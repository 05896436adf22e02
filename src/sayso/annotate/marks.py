"""Finding the words that weaken, withhold or refuse a claim: where they stand, not what they reach.

Patterns are composed from the lexical classes of ``hedges`` and bounded in length, so a text is
read in linear time. A word inside a title, a quotation, the question's own names or a booster
("no doubt") is masked and marks nothing.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from sayso.annotate import hedges as h
from sayso.annotate.sentences import Span

Kind = Literal[
    "adverb",
    "adjective",
    "matrix",
    "modal",
    "choice",
    "doubt",
    "predicate",
    "refusal",
    "disclaimer",
]


class Found(NamedTuple):
    """One marker: its class and its words' span."""

    kind: Kind
    start: int
    end: int


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_DEG = rf"(?:{h.DEGREE}\s+){{0,3}}"
_NEG = r"(?:n'?t|\s+not|not)"
_BE = r"(?:is|are|was|were|be|been|being|'s|remain|remains|remained|seems?|seemed|appears?)"
_NO = r"(?:no|little|limited|insufficient|hardly\s+any|not\s+enough|very\s+little|scant|zero|not\s+much)"
_KNOW = rf"(?:{h.KIND_OF}\s+){{0,4}}(?:[\w-]+\s+)?{h.KNOWLEDGE}"

#: The speaker is the subject, or there is none: "(not sure)", "but unsure".
_MINE = _compile(
    rf"""(?:^|["(\[,;:.!?—–-]\s*|\b(?:I|we|but|though|although|and|or|however|so|since|because|as|sorry|
    unfortunately|that|AI|assistant|model|honestly)(?:\s*'?(?:m|re|ve|d|ll)\b|\s+(?:am|was|are|were|do|did|can|could|
    would|have|had|will|must|should|remain|feel|seem|afraid|'m))?)\s*{_DEG}$"""
)
_PERSON = _compile(r"\b(?:he|she|they|who|you|[A-Z]\w+\s+and\s+she)\s*$")

_SELF_DOUBT = _compile(
    rf"""\b(?:
      (?:do\s*{_NEG}|not)\s+(?:think|believe|suppose)\s+(?:that\s+)?I\s+(?:\w+\s+)?(?:know|have|can|could|remember|recall|ever|am)
    | (?:have\s*{_NEG}|have\s+never|'ve\s+never|never)\s+(?:\w+\s+)?(?:heard|come\s+across|encountered|read|seen|learned|learnt|known)\b
    | (?:(?:am|was|are|were)\s*n'?t|not)\s+{_DEG}(?:sure|certain|confident|positive|aware|familiar|acquainted|
         convinced|knowledgeable|clear\s+(?:on|about|when|where|who|what|which|whether))
    | un(?:sure|certain|aware|familiar) | clueless | in\s+the\s+dark | at\s+a\s+loss | drawing\s+a\s+blank
    | less\s+(?:sure|certain|confident|clear) | doubtful | hazy | fuzzy | vague\s+(?:on|about)
    | (?:unable|not\s+able|struggling|failed)\s+to\s+{_DEG}{h.ESTABLISH}
    | (?:do|did|can|could|would|ca|wo|have|had)\s*{_NEG}\s+{_DEG}(?:been\s+able\s+to\s+)?
        (?:{h.ESTABLISH}|recognize|recognise|be\s+sure|(?:have|possess|hold|find|found|seen|see|got)\s+{_KNOW}|
           have\s+access|have\s+(?:that|this|it|one|those|these|the\s+\w+|any|anything|a\s+\w+|much|enough)|
           come\s+across|heard\s+of|found|found\s+out|looked|learned|retain|contain|include|cover)\b
    | (?:have|has|possess|got|find|found|with|'ve)\s+{_DEG}{_NO}\s+{_KNOW}
    | (?:have|'ve)\s+(?:forgotten|no\s+(?:earthly\s+)?(?:idea|clue)) | forgot | forget
    | lack(?:ing)?\s+{_KNOW}
    | (?:rather|would|will|wo|do|prefer|'d\s+rather)\s*{_NEG}\s+(?:to\s+)?(?:want\s+to\s+)?(?:guess|speculate|mislead|make\s+(?:something|anything)\s+up)
    | (?:wish\s+I\s+knew)
    )"""
)
_ANY_DOUBT = _compile(
    rf"""
      (?:^|[,;:(—–-]\s*)(?:no\s+(?:idea|clue)|not\s+a\s+clue|dunno|beats\s+me|search\s+me|who\s+knows|N/A|
         (?:sorry,?\s+)?(?:unknown|uncertain|unclear|unspecified|undisclosed)(?=\s*(?:[.,;!)—–-]|$|to\s+me|when|where|who|what|whether))|
         not\s+{_DEG}(?:known|available|sure|certain|specified|applicable|recorded|documented|listed|disclosed|stated|given|clear)\b)
    | \bthere\s*(?:is|are|'s|was|were|seems?\s+to\s+be|appears?\s+to\s+be|exists?)\s+{_DEG}{_NO}\s+(?:consensus|agreement|{_KNOW})
    | \bthere\s+(?:is|are|was|were)\s*n(?:'t|ot)\s+{_DEG}{_KNOW}
    | \b(?:no|little|not\s+much|nothing)\s+(?:[\w-]+\s+){{0,3}}?(?:is|are|was|were|has\s+been|can\s+be|could\s+be)\s+{_DEG}{h.NOT_KNOWN}
    | \b(?:nobody|no\s+one|none\s+of\s+us)\s+(?:really\s+)?knows
    | \bno\s+{_KNOW}\s+(?:about|on|of|regarding|concerning|for|as\s+to|available)
    | \b(?:beyond|outside|above|past|more\s+than)\s+(?:what\s+)?(?:I\s+(?:\w+\s+)?(?:know|can|remember|recall)|me\b|my\s+ken)
    | \bthere\s*(?:is|are|'s|remains?|has\s+been|exists?)\s+(?:\w+\s+){{0,3}}?{h.DOUBT}\b
    | \b(?:some|much|considerable|great|a\s+lot\s+of|conflicting)\s+{h.DOUBT}\s+(?:\w+\s+)?(?:surrounds?|exists?|remains?|about|over|as\s+to|around|on|regarding)
    | {h.DOUBT}\s+(?:surrounds?|remains?|persists?)\b
    | \bnot\s+(?:\w+\s+)?(?:verified|confirmed|certain|checked|sourced)\b(?=\s*\))
    | (?:\b(?:dates?|years?|places?|name|details|figures?|number|identity|authorship|origins?|attribution|exact\s+\w+)\s+|(?<=\()){{1}}
        (?:uncertain|unknown|disputed|unconfirmed|unverified|unclear|debated|not\s+known|not\s+certain|not\s+confirmed)\b
    | \b(?:hard|difficult|impossible|tough)\s+(?:for\s+me\s+)?to\s+{_DEG}{h.ESTABLISH}
    | \b(?:beyond|outside)\s+(?:of\s+)?(?:the\s+scope\s+of\s+)?(?:my|the)\s+(?:knowledge|training|information|expertise|data)
    | \bmy\s+(?:[\w-]+\s+){{0,2}}(?:knowledge|memory|information|recollection|data|sources?|database)\s+(?:[\w-]+\s+){{0,6}}?
        (?:(?:does|do|is|are)\s*{_NEG}|fails?|lacks?|limited|hazy|fuzzy|vague|incomplete|patchy|shaky)
    | \b(?:escapes|eludes)\s+me | \bslip(?:s|ped)\s+my\s+mind | \byour\s+guess\s+is\s+as\s+good
    | \b(?:can|could)\s*(?:not|n't)\s+be\s+{_DEG}{h.NOT_KNOWN}
    | \bI\s+(?:could|may|might)\s+{_DEG}be\s+(?:\w+\s+)?(?:wrong|mistaken|misremembering|confus\w+|off|mixing)
    | \bI\s+may\s+have\s+(?:this|that|it|some|these|the)\b[^.;]{{0,30}}\bwrong
    | \bcorrect\s+me\s+if | \b(?:do\s*n't|do\s+not)\s+(?:quote|hold)\s+me
    | \bwith\s+a\s+(?:grain|pinch)\s+of\s+salt
    """
)
_PREDICATE = _compile(
    rf"""\b{_BE}\s+(?:been\s+)?(?:{h.DEGREE}\s+|largely\s+|mostly\s+|somewhat\s+|often\s+|a\s+bit\s+|a\s+little\s+|to\s+be\s+){{0,3}}{h.UNKNOWN}\b
    | (?:\b(?:is|are|was|were|has|have|had|does|do|did)\s*(?:n't|\s+not|\s+never)|\b{_BE}\s+not|'s\s+not|\bnever)\s+(?:been\s+)?{_DEG}{h.NOT_KNOWN}\b"""
)
_WEAK_UNKNOWN = _compile(
    r"\b(?:limited|scarce|sparse|lacking|missing|hazy|fuzzy|sketchy|obscure|murky|questionable)$"
)
_INFORMATION = _compile(rf"\b(?:{h.KNOWLEDGE}|memory|dates?|accuracy|that|this|it)\b")

_CANNOT = rf"""(?:(?:can|could|wo|ca|do|will|would)\s*{_NEG}|unable\s+to|not\s+(?:able|allowed|permitted|comfortable|
    in\s+a\s+position|authori[sz]ed|at\s+liberty|going|willing|supposed)(?:\s+to|\s+with)?|declin(?:e|ing)\s+to|refuse\s+to|
    (?:prefer|rather|choose)\s+not(?:\s+to)?|avoid|refrain\s+from)"""
_REFUSAL = _compile(
    rf"""\b{_CANNOT}\s+{_DEG}(?:be\s+able\s+to\s+)?(?:{h.HAND_OVER}|(?:sharing|providing|disclosing|discussing|giving|revealing|answering))\b
    | (?:\bnot|n'?t)\s+(?:something|anything|information|a\s+\w+)\s+(?:that\s+|which\s+)?I(?:\s*'m|\s+am)?\s+(?:can|could|able|allowed|permitted|comfortable|at\s+liberty|will|do|share|disclose|discuss)\b(?!\s*(?:n'?t|not)?\s*(?:know|recall|remember|confirm|verify|say\s+for))
    | \b(?:(?:prefer|rather)\s+not(?:\s+to)?|not\s+(?:going|allowed|permitted|at\s+liberty|able)\s+to)\s+say\b(?!\s+(?:for|with))
    | \bI\s+(?:must|have\s+to|will\s+have\s+to|need\s+to|should)\s+(?:respectfully\s+|politely\s+)?decline
    | \bI\s+(?:respectfully\s+)?decline\b
    | \b(?:would|will|is|wo|'s|might)\s*(?:be\s+|not\s+be\s+|n't\s+be\s+|not\s+|n't\s+)?(?:in|un)?(?:appropriate|ethical|right|responsible)\s+(?:for\s+me\s+)?to\b
    | \b(?:that|this|it)\s+would\s+(?:be\s+(?:inappropriate|unethical|a\s+violation|against|harmful)|violate|breach|go\s+against)
    | \bagainst\s+(?:my|our|the)\s+(?:\w+\s+)?(?:polic|guideline|programming|rules|principles)
    | \b(?:for|due\s+to|because\s+of|out\s+of)\s+(?:\w+\s+)?(?:privacy|confidentiality|safety|policy|legal)\b
    | \b(?:protect|respect)\s+(?:\w+\s+){{0,3}}privacy
    | \b(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|programming|policies|policy|rules|safety\s+\w+)\s+(?:do\s*n[o']t|does\s*n[o']t|prevent|prohibit|forbid|restrict|require)"""
)
_RULES = _compile(rf"\b{h.POLICY}\b")
_KNOWING = _compile(rf"\b{h.ABOUT_KNOWING}\b")

_DISCLAIMER = _compile(
    rf"""
      \b(?:verify|verified|double-?\s?check(?:ed)?|fact-?check(?:ed)?|cross-?check(?:ed)?|confirm|check|checking|verifying|confirming)\s+(?:\w+\s+)?
        (?:this|these|those|the|that|it|them|everything|all|any|my|details|facts|key)\b(?!\s+(?:official\s+)?(?:website|page|imdb))
    | \b(?:this|these|those|some|all|my|the)(?:\s+of)?(?:\s+(?:this|these|the|my|above))?\s+
        (?:(?:\w+\s+)?(?:information|details?|facts?|answers?|statements?|dates|summary|claims|figures|response|paragraph|account|above)\s+)?(?:(?:above|here|I\s+\w+|given|provided)\s+)?
        (?:may|might|could)\s+(?:also\s+|well\s+)?(?:not\s+be|be|contain|have)\s+(?:\w+\s+){{0,2}}?(?:accurate|inaccurate|wrong|incorrect|incomplete|outdated|out\s+of\s+date|errors?|mistake[ns]?|unreliable|imprecise|inaccuracies|correct|reliable|off)
    | \b(?:not|n't|cannot|can't)\s+(?:\w+\s+)?(?:guarantee|vouch)\b
    """
)

_FIRST = r"\b(?:I|we)(?:\s*'d|\s+would|\s+do|\s+can\s+only|\s+could\s+only|\s+must|\s+will|\s*'ll|\s+seem\s+to|\s+have\s+to|\s*'ve)?"
_MATRIX = _compile(
    rf"""
      {_FIRST}(?:\s*n'?t|\s+not)?\s+(?:(?:\w+ly|do|only|just|kind\s+of|sort\s+of|also|still|tend\s+to|want\s+to|would|rather|don't)\s+){{0,2}}{h.BELIEF}(?!\s+(?:you|help))\b
    | {_FIRST}\s+(?:have\s+to\s+|go\s+with|lean\s+towards?|venture|want\s+to\s+say|say\b(?!\s+(?:that\s+)?I)|be\s+inclined|be\s+tempted)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+{h.PARTLY}\s+(?:sure|certain|confident|positive|convinced)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+(?:\w+\s+)?(?:inclined|tempted|leaning|guessing|assuming|under\s+the\s+impression|speculating|going\s+to\s+(?:guess|say)|sure\s+but\s+not)
    | \b(?:I|we)\s+doubt\b | \b(?:fairly|pretty|reasonably|almost|quite|somewhat|mostly)\s+(?:sure|certain|confident)\b
    | \bthere\s*(?:is|are|'s|has\s+been|have\s+been|was|were)\s+(?:\w+\s+){{0,3}}?{h.HEARSAY}\b
    | \b(?:so|as)\s+(?:the|a|one|family|local)?\s*(?:\w+\s+){{0,2}}?{h.HEARSAY}\s+(?:goes|has|have|says|tells)(?:\s+it)?
    | \b{h.HEARSAY}\s+(?:has|have)\s+it
    | \b(?:so|as)\s+(?:they|people|some|we|it)\s+(?:say|claim|tell|believe|seems|appears|is\s+said)
    | \b(?:the\s+)?{h.HEARSAY}\s+(?:is|goes|says)\s+that
    | \b{h.SOME}\s+(?:[\w-]+\s+){{1,3}}?(?:say|says|claim|claims|suggest|suggests|believe|argue|maintain|speculate|contend|assert|insist|allege)\b
    | \b(?:judging|going|guessing)\s+(?:by|from)\b
    | \b(?:it|this|that|he|she|they|which|who|answer)\s+{_DEG}(?:seems?|sounds?|looks?)\b(?!\s+(?:at|for|after|into|up))
    | \b(?:seems?|seemed)\s+(?:to\s+\w+|like|that)\b | \bappear(?:s|ed)?\s+(?:to\s+\w+|that|likely)\b | \bit\s+appears\b
    | \b(?:it|that|this)(?:\s+is|'s|\s+was)\s+(?:\w+ly\s+|also\s+|quite\s+|very\s+|entirely\s+)?(?:possible|likely|probable|conceivable|plausible|unlikely)\b
    | \b(?:is|are|was|were)\s+(?:\w+\s+)?(?:likely|unlikely|apt)\s+to\b
    | \b(?:there\s+is|there's)\s+(?:a|an|some)\s+(?:\w+\s+)?(?:chance|possibility|likelihood|probability)
    | \b(?:my|a|an|the|one)\s+(?:\w+\s+)?(?:guess|hunch|estimate|suspicion|assumption|impression|understanding|recollection|bet|feeling|belief)\s+(?:is|would|was|that|but)\b
    | \bif\s+I\s+(?:had|have)\s+to\b | \b(?:just|only|purely)\s+(?:a|my)\s+(?:\w+\s+)?(?:guess|hunch|estimate)\b
    | \b(?:best|educated|rough|wild|first|tentative)\s+guess\b
    | \bguess(?:ing|work)\b
    | \bif\s+(?:I|my\s+memory|memory|my)\b[^,.;]{{0,30}}(?:mistaken|wrong|right(?:ly)?|correct(?:ly)?|serves?|recall|remember|fail\w*|deceiv\w*)(?:\s+(?:me|correctly|right|rightly|well))*
    | \bunless\s+(?:I\b|my\b)[^,.;]{{0,40}}
    | \b(?:as|so)\s+far\s+as\s+(?:I|we|my|anyone|is)\b[^,.;]{{0,25}}(?:know[sn]?|aware|tell|remember|recall|concerned|goes|can\s+say|understand)
    | \bto\s+(?:the\s+best\s+of\s+)?my\s+(?:\w+\s+)?(?:knowledge|recollection|understanding|memory)
    | \b(?:from|by|based\s+on)\s+(?:what|my|the\s+little|the\s+limited)\b[^,.;]{{0,30}}(?:remember|recall|know|gather|tell|understand|memory|knowledge|heard|read|recollection|seen|information)
    | \boff\s+the\s+top\s+of\s+my\s+head
    | \b(?:rumou?rs?|legend|tradition|word|folklore|hearsay|lore|gossip)\s+(?:has\s+it|have\s+it|holds|says|is\s+that|suggests?|claims?)
    | \b(?:they|people|some|others|many|several)\s+(?:\w+\s+)?(?:say|claim|believe|think|argue|suggest|speculate|suspect|dispute|assume|maintain|hold)\b
    | \b{h.SOME}\s+(?:[\w-]+\s+){{0,3}}?{h.SOURCES}\s+(?:(?:[\w,-]+\s+){{0,6}}?{h.SAYS}|{h.DIFFER})\b
    | \b(?:sources|accounts|reports|records|evidence|historians|scholars|research|studies|rumou?rs|indications)\s+(?:\w+\s+){{0,2}}?(?:suggests?|differ|disagree|vary|conflict|hints?|impl(?:y|ies)|diverge|speculate|claim|points?\s+to)
    | \baccording\s+to\s+(?:{h.SOME}\b|legend|rumou?rs?|tradition|folklore|hearsay|gossip|what\s+I|popular|(?:un\w+|conflicting|anecdotal)\s+\w+|my\s+(?:memory|recollection|understanding))
    | \b(?:some|certain|various|other|different|conflicting)\s+(?:\w+\s+)?(?:accounts|sources|reports|records)\b
    | \bin\s+(?:some|certain|various)\s+(?:\w+\s+)?(?:accounts|sources|reports|records|versions)
    | \b(?:is|are|was|were|been|be|has\s+been|'s)\s+(?:(?:\w+ly|often|sometimes|also|widely|commonly|generally|now|once|long)\s+){{0,2}}{h.REPORTED}\s+(?:to\b|that\b|by\s+(?:{h.SOME}|historians|scholars)|he\b|she\b|it\b|they\b|the\b|\w+\s+(?:was|is)\b|as\s+having)
    | \b{h.REPORTED}\s+to\s+(?:be|have)\b
    | \bit\s+(?:is|was|has\s+been|had\s+been)\s+(?:(?:\w+ly|often|sometimes)\s+)?{h.REPORTED}\b
    | \b(?:one|a|another)\s+(?:\w+\s+)?(?:theory|possibility|hypothesis|version|account|story|claim|report|source|tradition)\s+(?:is|says|holds|suggests|claims|puts|has|places|gives|would\s+be|that)\b
    | \b(?:is|was|are|were)\s+(?:a\s+)?(?:possible|probable|plausible|likely|tentative|unconfirmed|alleged|speculative)\b(?!\s+to\b)
    | \bor\s+so\s+I(?:'ve|\s+have)?\s+(?:think|thought|believe|heard|read|am\s+told|was\s+told|recall)
    | \bI(?:'ve|\s+have)?\s+(?:am|'m|was|been)?\s*told\b
    | \bunder\s+the\s+impression\b
    """
)
_MODAL = _compile(
    r"""(?<!\bthe\s)(?<!\bits\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)(?<!\byou\s)(?<!\bin\s)\b(?:may|might)(?:n't)?\s+(?!include\b|includes\b|vary\b|range\b|differ\b|depend\b|require\b|also\s+include\b|
            not\s+show\b|last\b|\d|God\b|Day\b|Queen\b|as\s+well\s+ask\b|be\s+(?:noted|found|seen|used|treated|transmitted|spread)\b)(?-i:[a-z])
    | \bcould\s+(?:(?:also|well|possibly|potentially|perhaps|easily|just|conceivably|equally|be\s+that|either)\s+)?(?:be|have|mean|refer)\b(?!\s+(?:seen|found|heard))
    | \b(?:must|should|would|ought\s+to)\s+have\s+been\b
    | \b(?:it|that|this|answer|he|she)\s+(?:must|should|ought\s+to)\s+be\b(?!\s+(?:noted|mentioned|stressed|pointed|\w+ed\b))
    """
)
_ADVERB = _compile(
    rf"\b(?:(?:most|very|quite|more)\s+)?(?:{'|'.join(h.ADVERBS)}|{'|'.join(h.ADVERB_PHRASES)})\b(?:,?\s+(?:though|but)\s+not\s+certainly)?"
)
_ADJECTIVE = _compile(rf"\b(?:{'|'.join(h.ADJECTIVES)})\s+(?=[a-z0-9\"'])")
_CHOICE = _compile(
    r"""\beither\s+(?=[^.;?!]{1,60}\s+or\s)
    | (?-i:\b(?:[A-Z][\w'.-]*|\d[\d,.]*)\s+or\s+(?:(?:in|at|on|by|from|the|around|about)\s+)?(?:[A-Z][\w'.-]*|\d[\d,.]*))
    | \(\s*\?+\s*\) | (?<=\w)\?(?=\s*\)) """
)

_BOOSTER = _compile(
    rf"""\b(?:(?:there\s*(?:is|'s|was|can\s+be)|have|has|with|leaves?)\s+)?(?:no|little|not\s+(?:any|a))\s+(?:\w+\s+)?(?:doubt|question|uncertainty|dispute|ambiguity)\b
    | \bwithout\s+(?:any\s+|a\s+)?(?:\w+\s+)?(?:doubt|question) | \bbeyond\s+(?:any\s+|a\s+|all\s+)?(?:\w+\s+)?(?:doubt|dispute|question)
    | \b(?:not|never|n't|hardly)\s+(?:\w+\s+)?(?:uncertain|unsure|unclear|unknown|in\s+(?:doubt|dispute|question)|doubt(?:ed|ful)?|disputed|contested|debated|questioned|just\s+a\s+guess|a\s+guess|guessing|unfamiliar|unaware|limited)\b
    | \b(?:anything\s+but|far\s+from)\s+(?:uncertain|unclear|unknown)
    | \bcan(?:not|'t|\s+not)\s+be\s+(?:doubted|disputed|questioned)
    | \bas\s+(?:\w+\s+)?as\s+possible | \b(?:made|make|makes|making)\s+(?:\w+\s+){{0,3}}?possible | \bif\s+possible | \bwherever\s+possible
    | \bpossible\s+to\b | \bnot\s+(?:only|just|merely|simply)\s+(?:known|sure)\b
    | \b(?:un(?:known|familiar|aware))\s+(?:\w+\s+)?(?:actor|actress|singer|artist|at\s+the\s+time|outside|until|before)\b
    | \bnot\s+to\s+be\s+confused | \b(?:is|was|are|were|be|become|became)\s+(?:\w+\s+)?supposed\s+to\b
    | \bmake\s+sure | \bmade\s+sure | \bfor\s+sure(?<=\bis\sfor\ssure)"""
)
_QUOTE = re.compile(
    r"\"[^\"\n]{2,120}\"|(?<!\w)'[A-Z][^'\n]{2,80}'(?!\w)|(?<!\w)_[A-Z][^_\n]{2,80}_(?!\w)"
)
_TITLE_WORD = re.compile(
    r"(?<=[a-z,;:(]\s)(?:Maybe|Perhaps|Probably|Possibly|May|Might|Unknown|Uncertain|Unsure|Alleged|Likely|Possible|Could|Unlikely|Doubtful|Think|Believe)\b"
)

#: A sentence with none of these words needs no pattern.
_TRIGGER = _compile(
    rf"""\b(?:{"|".join(h.ADVERBS)}|{"|".join(h.ADJECTIVES)}|I|I'\w+|we|we'\w+|my|not|no|nothing|nobody|never|\w+n't|(?:do|ca|wo|did|does|is|was|are|have|has|could|would)nt|im|ive|cannot|ca|may|might|could|
    un\w+|either|or|seem\w*|appear\w*|rumou?r\w*|legend|tradition|according|some|others|several|sources?|
    accounts?|reports?|records?|evidence|historians|scholars|studies|research|said|believed|thought|reported|alleged|assumed|presumed|
    speculat\w+|suspected|claim\w*|hypothesi\w+|theori\w+|suggest\w*|reputed|purported|conjectured|inferred|
    guess\w*|chance|chances|odds|likelihood|probability|doubt\w*|limited|scarce|sparse|debated|disputed|contested|mystery|beyond|
    outside|hard|difficult|impossible|lack\w*|dunno|beats|who\s+knows|verify|check|confirm|salt|correct|memory|
    less|hazy|fuzzy|lost|differ|must|should|theory|possibility|little|N/A|they|people|would|privacy|inappropriate|
    forgot\w*|open|information|details|decline|escapes|eludes|slip\w+|search|top|pretty|fairly|reasonably|
    lacking|missing|sketchy|obscure|murky|questionable|debatable|double-?check\w*|goes|judging|story|stories|uncertaint\w+|debate|dispute\w*|controversy|heard|recall|hearsay|gossip|speculation|belief|word|tale|appeared|various|version|if|impression|anyone's|confidence)\b | \?"""
)


#: A sentence with more markers is noise.
_MOST = 64


def masks(text: str, names: tuple[str, ...] = ()) -> list[Span]:
    """Return the stretches in which no marker counts: quotations, titles, names, boosters."""
    found = [Span(*m.span()) for m in _BOOSTER.finditer(text)]
    found += [
        Span(*m.span()) for m in _QUOTE.finditer(text) if m.end() - m.start() < 0.8 * len(text)
    ]
    found += [Span(*m.span()) for m in _TITLE_WORD.finditer(text)]
    for name in names:
        at = text.find(name)
        while at >= 0 and len(found) < 1000:
            found.append(Span(at, at + len(name)))
            at = text.find(name, at + len(name))
    return found


def names_with_markers(names: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the names (titles, golds) in which a marker could be found by mistake."""
    return tuple(name for name in names if len(name) > 2 and _TRIGGER.search(name))


def find(text: str, sentence: Span, names: tuple[str, ...] = ()) -> list[Found]:
    """Return the markers of one sentence (plain text), in order, without overlaps.

    Where classes overlap, the stronger reading wins: refusals and statements of ignorance before
    beliefs, beliefs before modals and adverbs.
    """
    if not _TRIGGER.search(text, sentence.start, sentence.end):
        return []
    part = text[sentence.start : sentence.end]
    taken = masks(part, names)
    found: list[Found] = []
    for kind, pattern in _CLASSES:
        for hit in pattern.finditer(part):
            start, end = hit.span()
            if any(start < high and end > low for low, high in taken):
                continue
            real = _check(kind, part, start, end)
            if real is not None:
                taken.append(Span(start, end))
                found.append(Found(real, sentence.start + start, sentence.start + end))
            if len(found) >= _MOST:
                break
    return sorted(found, key=lambda mark: mark.start)


def _check(kind: Kind, part: str, start: int, end: int) -> Kind | None:
    """Confirm a hit by its context, or change its class."""
    left = part[max(0, start - 60) : start]
    if kind == "doubt" and part[start:end].strip() and not _MINE.search(left):
        return None
    if kind == "predicate":
        if _PERSON.search(left):
            return None
        if _WEAK_UNKNOWN.search(part[start:end]) and not _INFORMATION.search(part[:end]):
            return None
    if kind == "refusal":
        if re.match(r"(?:for|due|because|out|protect|respect)\b", part[start:end], re.IGNORECASE):
            return kind if re.search(r"\b(?:I|I'm|we|AI|policy)\b", part) else None
        cannot = _REFUSING.match(part[start:end])
        if cannot and not _MINE.search(left):
            return None
        if cannot and not _RULES.search(part) and _KNOWING.search(part[start:]):
            return "doubt"
    if kind == "choice" and part[start:end].lower().startswith("either"):
        return kind
    return kind


_REFUSING = _compile(rf"\b{_CANNOT}")
_CLASSES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("disclaimer", _DISCLAIMER),
    ("refusal", _REFUSAL),
    ("doubt", _SELF_DOUBT),
    ("predicate", _ANY_DOUBT),
    ("predicate", _PREDICATE),
    ("matrix", _MATRIX),
    ("modal", _MODAL),
    ("adverb", _ADVERB),
    ("adjective", _ADJECTIVE),
    ("choice", _CHOICE),
)
