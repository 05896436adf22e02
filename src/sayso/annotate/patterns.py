"""The markers of doubt as compiled patterns, composed from the lexical classes of ``hedges``.

Every repetition is bounded, so each pattern is linear in the length of the text.
"""

from __future__ import annotations

import re

from sayso.annotate import hedges as h


def compiled(pattern: str) -> re.Pattern[str]:
    # No marker begins inside a word; saying so first saves trying every branch at every letter.
    return re.compile(rf"(?!\B(?!n't)\w)(?:{pattern})", re.VERBOSE | re.IGNORECASE)


DEG = rf"(?:{h.DEGREE}\s+){{0,3}}"
NEG = r"(?:n'?t|\s+not|not)"
_BE = r"(?:is|are|was|were|be|been|being|'s|remain|remains|remained|seems?|seemed|appears?)"
_NO = (
    r"(?:no|little|limited|insufficient|hardly\s+any|not\s+enough|very\s+little|scant|zero|"
    r"not\s+much)"
)
_KNOW = rf"(?:{h.KIND_OF}\s+){{0,4}}(?:[\w-]+\s+)?{h.KNOWLEDGE}"

#: The speaker is the subject, or there is none: "(not sure)", "but unsure".
MINE = compiled(
    rf"""(?:^|["(\[,;:.!?—–-]\s*|\b(?:I|we|but|though|although|and|or|however|so|since|because|as
        |sorry|
    unfortunately|that|AI|assistant|model|honestly)(?:\s*'?(?:m|re|ve|d|ll)\b|\s+(?:am|was|are
        |were|do|did|can|could|
    would|have|had|will|must|should|remain|feel|seem|afraid|'m))?)\s*{DEG}$"""
)
PERSON = compiled(r"\b(?:he|she|they|who|you|[A-Z]\w+\s+and\s+she)\s*$")

SELF_DOUBT = compiled(
    rf"""\b(?:
      (?:do\s*{NEG}|not)\s+(?:think|believe|suppose)\s+(?:that\s+)?I\s+(?:\w+\s+)?(?:know|have
        |can|could|remember|recall|ever|am)
    | (?:have\s*{NEG}|have\s+never|'ve\s+never|never)\s+(?:\w+\s+)?(?:heard|c[oa]me\s+across
        |encountered|read|seen|learned|learnt|known)\b
    | (?:(?:am|was|are|were)\s*n'?t|not)\s+{DEG}(?:sure|certain|confident|positive|aware
        |familiar|acquainted|
         convinced|knowledgeable|clear\s+(?:on|about|when|where|who|what|which|whether))
    | (?:have|has|had)\s+(?:\w+\s+){{0,2}}?{h.DOUBT}\b
    | (?:have|know|find|found|got)\s+(?:next\s+to\s+|absolutely\s+)?nothing\b
    | have\s*{NEG}\s+(?:a|any|the)\s+(?:\w+\s+)?(?:clue|idea|notion)\b
    | (?:do\s*{NEG}|can\s*{NEG}|cannot)\s+{DEG}(?:have|know|recall|say|tell
        |find)(?=\s*(?:[.,;!)]|$))
    | (?:a\s+(?:bit|little|touch)\s+|rather\s+|somewhat\s+)?(?:shaky|rusty|iffy|wobbly|foggy
        |muddled|vague|murky)\s+(?:on|about|here|there|when|where|who)\b
    | not\s+in\s+(?:a|any)\s+position\s+to\s+{h.ESTABLISH} | less\s+than\s+(?:\w+\s+)?(?:sure
        |certain|confident|clear|positive)
    | un(?:sure|certain|aware|familiar) | clueless | in\s+the\s+dark | at\s+a\s+loss
        | drawing\s+a\s+blank
    | (?<!more\sor\s)less\s+(?:sure|certain|confident|clear) | doubtful | hazy | fuzzy
        | vague\s+(?:on|about)
    | (?:unable|not\s+able|struggling|fail(?:ed|ing|s)?)\s+to\s+{DEG}{h.ESTABLISH}
    | (?:do|did|can|could|would|ca|wo|have|had)\s*{NEG}\s+{DEG}(?:been\s+able\s+to\s+)?
        (?:{h.ESTABLISH}|recognize|recognise|be\s+sure|(?:have|possess|hold|find|found|seen|see
        |got)\s+{_KNOW}|
           have\s+access|have\s+(?:that|this|it|one|those|these|(?:the|her|his|its|their)\s+\w+
        |any|anything|a\s+\w+
        |much|enough)|
           come\s+across|heard\s+of|found|found\s+out|looked|learned|retain|contain|include|cover)\b
    | (?:have|'ve)\s*{NEG}\s+(?:\w+\s+)?(?:checked|verified|confirmed|looked\s+(?:it|this
        |that)\s+up)
    | (?:have|has|possess|got|find|found|with|'ve)\s+{DEG}{_NO}\s+{_KNOW}
    | (?:have|'ve)\s+(?:forgotten|no\s+(?:earthly\s+)?(?:idea|clue)) | forgot | forget
    | lack(?:ing)?\s+{_KNOW}
    | (?:rather|would|will|wo|do|prefer
        |'d\s+rather)\s*{NEG}\s+(?:to\s+)?(?:want\s+to\s+)?(?:guess|speculate|mislead
        |make\s+(?:something|anything)\s+up)
    | (?:wish\s+I\s+knew) | (?:still|yet)\s+to\s+(?:find|learn) | stumped | give\s+up\b | (?:draw
        |drew)\s+(?:a\s+)?blank
    | no\s+longer\s+(?:\w+\s+)?(?:know|recall|remember|have|sure|certain|confident)
    | (?:would|'d|will|'ll)\s+(?:just\s+|only\s+|merely\s+)?be\s+(?:just\s+|only\s+
        |purely\s+)?(?:guessing|speculating|making\s+(?:it|this|that|something|things)\s+up
        |inventing)(?:\s+(?:if|were|should)\s+I\s+(?:\w+\s+){{0,3}}?(?:tell|told|say|said|name|named
        |give|gave|state|stated|offer|offered)\b(?:\s+you)?)?
    | (?:would|'d|will|'ll)?\s*(?:have|need|want)\s+to\s+(?:\w+\s+)?(?:look|check|search|google
        |research|consult|verify|find)\b(?:\s+(?:(?:it|this|that)\s+)?(?:up|out))?
    | (?:have|'ve|has)?(?:\s*n't|\s+not)\s+(?:got\s+)?(?:the|a)\s+(?:foggiest|faintest|slightest
        |remotest|first|scooby)
    | only\s+know\b | (?:am|was)\s+(?:\w+\s+)?(?:ignorant|blank|lost|stuck|out\s+of\s+my\s+depth)
    | got\s+(?:nothing|no\s+\w+) | (?:can|could)(?:\s*n't|\s+not|not)\s+(?:quite\s+
        |really\s+)?(?:get\s+(?:it|there)|put\s+(?:my|a)\s+finger)
    | (?:know|knew|heard|remember|recall|learned)\s+(?:very\s+|too\s+|so\s+
        |only\s+a\s+)?(?:little|nothing|next\s+to\s+nothing)
    | (?:do|did)\s*{NEG}\s+{DEG}no\b
    )"""
)
ANY_DOUBT = compiled(
    rf"""
      (?:^|[,;:(—–-]\s*|\b(?:also|likewise|equally|similarly|lol|sorry|honestly|tbh|um|uh|hmm|well
        |but|one|question
        |though)[.,!]?\s+)(?:no\s+(?:\w+\s+)?(?:idea|clue)|not\s+a\s+clue
        |not\s+the\s+(?:\w+\s+)?(?:idea|clue)|dunno|clueless|stumped
        |nothing\s+(?:comes|springs)|how\s+(?:should|would)\s+I\s+know|drawing\s+a\s+blank
        |pass(?=\W*$)
        |(?:none|not)\s+that\s+I(?:'m|\s+am)?\s+(?:know|aware|recall|remember)|too\s+obscure
        |can't\s+recall|beats\s+me|search\s+me
        |who\s+knows|N/A|
         (?:sorry,?\s+)?(?:unknown|uncertain|unclear|unspecified|undisclosed)(?=\s*(?:[.,;!)—–-]
        |$|to\s+me|when|where|who|what|whether))|
         not\s+{DEG}(?:known|available|sure|certain|specified|applicable|recorded|documented
        |listed|disclosed|stated|given|clear)\b)
    | \bthere\s*(?:is|are|'s|was|were|seems?\s+to\s+be|appears?\s+to\s+be
        |exists?)\s+{DEG}{_NO}\s+(?:consensus|agreement|{_KNOW})
    | \bthere\s+(?:is|are|was|were)\s*n(?:'t|ot)\s+{DEG}{_KNOW}
    | \b(?:no|little|not\s+much|nothing)\s+(?:[\w-]+\s+){{0,3}}?(?:is|are|was|were|has\s+been
        |can\s+be|could\s+be)\s+{DEG}{h.NOT_KNOWN}\b
    | \b(?:nobody|no\s+one|none\s+of\s+us)\s+(?:(?:really\s+)?knows|(?:\w+\s+){{0,4}}?(?:can
        |could)\s+(?:say|tell))
    | \bno\s+{_KNOW}\s+(?:about|on|of|regarding|concerning|for|as\s+to|available)
    | \b(?:beyond|outside|above|past|more\s+than)\s+(?:what\s+)?(?:I\s+(?:\w+\s+)?(?:know|can
        |remember|recall)|me\b|my\s+ken)
    | \bthere\s*(?:is|are|'s|remains?|has\s+been|exists?)\s+(?:\w+\s+){{0,3}}?{h.DOUBT}\b
    | \b(?:some|much|considerable|great|a\s+lot\s+of
        |conflicting)\s+{h.DOUBT}\s+(?:\w+\s+)?(?:surrounds?|exists?|remains?|about|over|as\s+to
        |around|on|regarding)
    | {h.DOUBT}\s+(?:surrounds?|remains?|persists?)\b
    | \bnot\s+(?:\w+\s+)?(?:verified|confirmed|certain|checked|sourced)\b(?=\s*\))
    | (?:\b(?:dates?|years?|places?|name|details|figures?|number|identity|authorship|origins?
        |attribution|exact\s+\w+)\s+|(?<=\()){{1}}
        (?:uncertain|unknown|disputed|unconfirmed|unverified|unclear|debated|not\s+known
        |not\s+certain|not\s+confirmed)\b
    | \b(?:hard|difficult|impossible|tough)\s+(?:for\s+me\s+)?to\s+{DEG}{h.ESTABLISH}
    | \b(?:beyond|outside)\s+(?:of\s+)?(?:the\s+scope\s+of\s+)?(?:my|the)\s+(?:knowledge|training
        |information|expertise|data)
    | \bmy\s+(?:[\w-]+\s+){{0,2}}(?:knowledge|memory|information|recollection|data|sources?
        |database)\s+(?:[\w-]+\s+){{0,6}}?
        (?:(?:does|do|is|are)\s*{NEG}|fails?|lacks?|limited|hazy|fuzzy|vague|incomplete|patchy
        |shaky|thin|weak|faint|rusty|spotty|dim|poor|unreliable)
    | \b(?:idk|idek|dunno|iono|i\s+dk|dk)\b | \b(?:got|have|'ve)\s+(?:got\s+)?me\s+there\b
        | ^\W*you(?:'ve)?\s+got\s+me\b
    | \bmind\s+(?:is|'s|has\s+gone|went|goes|just\s+went)\s+(?:\w+\s+)?blank
        | \btip\s+of\s+my\s+tongue
    | \b(?:does|did|do)\s*(?:n't|\s+not|nt)\s+(?:\w+\s+)?(?:ring\s+(?:a|any)\s+bells?
        |mean\s+(?:anything|much)|come\s+to\s+(?:me|mind))
    | \b(?:no|nothing|not\s+(?:a|one|any))(?=\s+(?:[\w-]+\s+){{0,6}}?(?:comes|springs
        |came)\s+to\s+(?:my\s+)?mind)
    | \bnor\s+(?:do|can|could|am|have|did|would)\s+I\s+(?:\w+\s+)?(?:{h.ESTABLISH}|sure|certain
        |tell|have)\b
    | \bnothing\s+I\s+(?:can|could|have)\s+(?:to\s+)?(?:offer|say|tell|add|report|give)\b
    | \bmeans?\s+nothing\s+to\s+me | \bnothing\s+(?:comes|springs|came)\s+to\s+mind
        | \bin\s+the\s+dark\b
    | \b(?:is|are|was|'s)\s*(?:n't|\s+not|nt)\s+(?:\w+\s+)?(?:in|part\s+of|covered|included|among
        |within)\s+(?:by\s+|in\s+|what\s+)?(?:my|the\s+(?:data|information|training)|I\b)
    | \b(?:beyond|outside)\s+of\s+what\s+I | (?:\bnot|n't)\s+(?:someone|somebody|anyone|anybody
        |something|anything|a\s+\w+|one|information|data)\s+(?:that\s+|who\s+|which\s+
        |whom\s+)?I(?:'ve|'m|\s+have|\s+am)?\s+(?:\w+\s+)?(?:know|known|heard|recognize|recognise
        |recall|remember|aware|familiar|come\s+across|seen|read|have|hold|possess|can\s+(?:answer
        |say|tell|confirm|verify|recall|speak))
    | (?:^|[:;(,]\s*)\W*(?:sorry,?\s+)?(?:(?:there\s+(?:is|was)\s+)?no|insufficient|not\s+enough
        |inadequate|not\s+much|lacking)\s+{_KNOW}
    | \bno\s+(?:[\w-]+\s+){{0,2}}?(?:sources?|records?|documents?|reports?|references?
        |biograph(?:y|ies)|databases?|accounts?|register
        |archives?)\s+(?:I\s+\w+\s+(?:of\s+)?)?(?:\w+\s+)?(?:mentions?|says?|gives?|lists?
        |states?|records?|tells?|confirms?|names?|survives?|exists?|shows?)\b
    | \b(?:very\s+)?(?:little|scant|scarce|few|sparse|limited)\s+(?:\w+\s+)?(?:information
        |details?|data|documentation|records?|evidence)\s+(?:\w+\s+)?(?:exists?|survives?
        |remains?|is|are|has|on|about)\b
    | \byou(?:'d|'ll|\s+would|\s+will)\s+(?:have|need|want)\s+to\s+(?:\w+\s+)?(?:look|check
        |search|google|consult|ask)
    | \b(?:but|just|though|and|only)\s+not\s+(?:exactly\s+|precisely\s+
        |the\s+(?:exact\s+)?)?(?:when|where|who|what|which|how|date|place|year|name|why)\b
    | \b(?:I|we)\s+(?:\w+\s+)?know\s+(?:nothing|little)\b | \bnowhere\s+(?:\w+\s+)?(?:recorded
        |documented|stated|mentioned|given|written|listed|to\s+be\s+found)
    | \b(?:nothing|none)\s+(?:\w+\s+){{0,3}}?(?:is|was|has\s+been|are)\s+(?:\w+\s+)?(?:known
        |recorded|written|published|on\s+record|available)
    | \b(?:the\s+)?(?:only|sole)\s+thing\s+I\s+know\b
    | \b(?:blank|left\s+blank|leave\s+(?:it|this|that)\s+blank|question\s+mark\s+for\s+me
        |lost\s+on\s+me|news\s+to\s+me|over\s+my\s+head|above\s+my\s+pay)\b
    | \bthis\s+(?:newspaper|author|writer|reporter|article|page|site|source|text|paper
        |correspondent)\s+(?:(?:was|is|has\s+been)\s+unable|(?:could|did|does)\s*(?:not|n't)
        |knows?\s+no)
    | \b(?:is|are|was|were)\s*(?:n't|\s+not)\s+(?:\w+\s+)?(?:given|stated|mentioned|named|listed
        |recorded|said)\s+(?:in|by|anywhere|here)
    | \b(?:question|one)\s+(?:that\s+|which\s+)?I\s+(?:have\s+no|can't|cannot|don't)
    | \b(?:escapes|eludes|evades)\s+me | \bslip(?:s|ped)\s+my\s+mind
        | \byour\s+guess\s+is\s+as\s+good
    | \b(?:can|could)\s*(?:not|n't)\s+be\s+{DEG}{h.NOT_KNOWN}
    | \bI\s+(?:could|may|might)\s+{DEG}be\s+(?:\w+\s+)?(?:wrong|mistaken|misremembering
        |confus\w+|off|mixing)
    | \bI\s+may\s+have\s+(?:this|that|it|some|these|the)\b[^.;]{{0,30}}\bwrong
    | \b(?:missing|absent|left\s+out)\s+(?:from|in)\s+(?:what|my|the\s+\w+\s+I|anything|everything
        |all)\b(?:\s+I\b)?[^.;]{{0,30}}
    | \b(?:notes|sources?|memory|training|data|files|papers|records)\s+(?:\w+\s+){{0,2}}?(?:says?
        |holds?|tells?|gives?|contains?|has|have|is\s+silent|are\s+silent)\s+(?:nothing|on|about)\b
    | \b(?:has|have|ever)\s+(?:never\s+|not\s+)?reached\s+me\b
    | \b(?:has|have)\s+to\s+(?:stay|remain)\s+open\b | \bmust\s+(?:stay|remain)\s+open\b
    | \bcorrect\s+me\s+if | \b(?:do\s*n't|do\s+not)\s+(?:quote|hold)\s+me
    | \bwith\s+a\s+(?:grain|pinch)\s+of\s+salt
    """
)
PREDICATE = compiled(
    rf"""\b{_BE}\s+(?:been\s+)?(?:{h.DEGREE}\s+|largely\s+|mostly\s+|somewhat\s+|often\s+
        |a\s+bit\s+|a\s+little\s+|to\s+be\s+){{0,3}}{h.UNKNOWN}\b
    | (?:\b(?:is|are|was|were|has|have|had|does|do|did)\s*(?:n't|\s+not|\s+never)|\b{_BE}\s+not
        |'s\s+not|\bnever)\s+(?:been\s+)?{DEG}{h.NOT_KNOWN}\b"""
)
WEAK_UNKNOWN = compiled(
    r"\b(?:limited|scarce|sparse|lacking|missing|hazy|fuzzy|sketchy|obscure|murky|questionable)$"
)
INFORMATION = compiled(rf"\b(?:{h.KNOWLEDGE}|memory|dates?|accuracy|that|this|it)\b")

DISCLAIMER = compiled(
    r"""
      (?<!can\s)(?<!could\s)(?<!to\s)(?<!I\s)(?<!have\s)(?<!records\s)(?<!sources\s)\b(?:verify
        |verified|double-?\s?check(?:ed)?|fact-?check(?:ed)?|cross-?check(?:ed)?|confirm
        |check|checking|verifying|confirming)\s+(?:\w+\s+)?
        (?:this|these|those|the|that|it|them|everything|all|any|my|details|facts
        |key)\b(?!\s+(?:official\s+)?(?:website|page|imdb))
    | \b(?:this|these|those|some|all|my|the)(?:\s+of)?(?:\s+(?:this|these|the|my|above))?\s+
        (?:(?:\w+\s+)?(?:information|details?|facts?|answers?|statements?|dates|summary|claims
        |figures|response|paragraph|account|above)\s+)?(?:(?:above|here|I\s+\w+|given
        |provided)\s+)?
        (?:may|might|could)\s+(?:also\s+|well\s+)?(?:not\s+be|be|contain
        |have)\s+(?:\w+\s+){0,2}?(?:accurate|inaccurate|wrong|incorrect|incomplete|outdated
        |out\s+of\s+date|errors?|mistake[ns]?|unreliable|imprecise|inaccuracies|correct|reliable
        |off)
    | \b(?:any|all|some|much|most|part|parts|none)\s+of\s+(?:it|this|that|what\s+follows
        |the\s+(?:above|following|below))\s+(?:may|might|could)\s+(?:well\s+)?(?:not\s+)?be\b
    | \bwhat\s+follows\s+(?:is|comes|was)\s+(?:only\s+|purely\s+|mostly\s+)?(?:from\s+memory
        |a\s+guess|guesswork|unverified|unchecked|uncertain)
    | \b(?:not|n't|cannot|can't)\s+(?:\w+\s+)?(?:guarantee|vouch)\b
    """
)

BOOSTER = compiled(
    r"""\b(?:(?:there\s*(?:is|'s|was|can\s+be)|have|has|with|leaves?)\s+)?(?:no|little
        |not\s+(?:any|a))\s+(?:\w+\s+)?(?:doubts?|question|uncertainty|dispute|ambiguity
        |reservations?)\b
    | \bwithout\s+(?:any\s+|a\s+)?(?:\w+\s+)?(?:doubt|question) | \bbeyond\s+(?:any\s+|a\s+
        |all\s+)?(?:\w+\s+)?(?:doubt|dispute|question)
    | \b(?:not|never|n't|hardly)\s+(?:\w+\s+)?(?:uncertain|unsure|unclear|unknown|in\s+(?:doubt
        |dispute|question)|doubt(?:ed|ful)?|disputed|contested|debated|questioned
        |just\s+a\s+guess|a\s+guess|guessing|unfamiliar|unaware|limited)\b
    | \b(?:think|believe)\s+(?:that\s+)?there(?:\s+is|'s|\s+can\s+be)\s+(?:any|much|a
        |room\s+for)\s+(?:\w+\s+)?(?:doubt|question)
    | \b(?:whatever|no\s+matter\s+what|regardless\s+of\s+what|despite\s+what
        |contrary\s+to\s+what)\s+(?:\w+\s+){1,3}?(?:believes?|thinks?|says?|claims?|may\s+\w+
        |might\s+\w+)
    | \b(?:used\s+to|once|long|formerly|previously)\s+(?:doubt(?:ed)?|believed?|thought|think)\b
    | \b(?:perhaps|maybe)\s+(?:not\s+)?(?:un)?surprisingly | \bnot\s+(?:maybe|perhaps|probably
        |possibly)\b | \bnot\s+(?:a|just\s+a)\s+(?:mere\s+)?(?:guess|maybe|rumou?r)
    | \b(?:any|anything|something|everything)\s+(?:\w+\s+)?(?:is|was|seems)\s+unclear
        | \bin\s+case\s+you\s+(?:did|do)\s*(?:n't|not)
    | \b(?:thought|believed|guessed|assumed|said)\s+(?:it\s+was\s+)?(?:at\s+first|initially)\b
    | \b(?:anything\s+but|far\s+from)\s+(?:uncertain|unclear|unknown)
    | \bcan(?:not|'t|\s+not)\s+be\s+(?:doubted|disputed|questioned)
    | \bno\s+two\s+ways\s+about\s+(?:it|that)\b
    | \bas\s+(?:\w+\s+)?as\s+possible | \b(?:made|make|makes|making)\s+(?:\w+\s+){0,3}?possible
        | \bif\s+possible | \bwherever\s+possible
    | \bpossible\s+to\b | \bnot\s+(?:only|just|merely|simply)\s+(?:known|sure)\b
    | \b(?:un(?:known|familiar|aware))\s+(?:\w+\s+)?(?:actor|actress|singer|artist
        |at\s+the\s+time|outside|until|before)\b
    | \bnot\s+to\s+be\s+confused | \b(?:is|was|are|were|be|become
        |became)\s+(?:\w+\s+)?supposed\s+to\b(?!\s+(?:have|be\s+(?:from|born|in)))
    | \bmake\s+sure | \bmade\s+sure | \bfor\s+sure(?<=\bis\sfor\ssure)"""
)
QUOTE = re.compile(
    r"\"[^\"\n]{2,120}\"|(?<!\w)'[A-Z][^'\n]{2,80}'(?!\w)|(?<!\w)_[A-Z][^_\n]{2,80}_(?!\w)"
)
TITLE_WORD = re.compile(
    r"(?<=[a-z,;:(]\s)(?:Maybe|Perhaps|Probably|Possibly|May|Might|Unknown|Uncertain|Unsure|"
    r"Alleged|Likely|Possible|Could|Unlikely|Doubtful|Think|Believe)\b"
)

#: A sentence with none of these words needs no pattern.
TRIGGER = compiled(
    rf"""\b(?:{"|".join(h.ADVERBS)}|{"|".join(h.ADJECTIVES)}|I|I'\w+|we|we'\w+|my|not|no|nothing
        |nobody|never|\w+n't|(?:do|ca|wo|did|does|is|was|are|have|has|could|would)nt|im|ive
        |cannot|ca|may|might|could|
    un\w+|either|or|seem\w*|appear\w*|rumou?r\w*|legend|tradition|according|some|others|several
        |sources?|
    accounts?|reports?|records?|evidence|historians|scholars|studies|research|said|believed
        |thought|reported|alleged|assumed|presumed|
    speculat\w+|suspected|claim\w*|hypothesi\w+|theori\w+|suggest\w*|reputed|purported
        |conjectured|inferred|
    guess\w*|chance|chances|odds|likelihood|probability|doubt\w*|limited|scarce|sparse|debated
        |disputed|contested|mystery|beyond|
    outside|hard|difficult|impossible|lack\w*|dunno|beats|who\s+knows|verify|check|confirm|salt
        |correct|memory|
    less|hazy|fuzzy|lost|differ|must|should|theory|possibility|little|N/A|they|people|would
        |privacy|inappropriate|
    forgot\w*|open|information|details|decline|escapes|eludes|slip\w+|search|top|pretty|fairly
        |reasonably|
    lacking|missing|sketchy|obscure|murky|questionable|debatable|double-?check\w*|one|another|far
        |tells|gut|feeling|bet|clue|locals|looks?|sounds?|feels?|inclined|leaning|violat\w+
        |against|known|knows|rather|salt|available|goes|judging|story|stories|uncertaint\w+
        |debate|dispute\w*|controversy|heard|recall|hearsay|gossip|speculation|belief|word|tale
        |appeared|various|version|if|impression|anyone's|confidence)\b | \?"""
)
CONDITION = compiled(r"\b(?:if|unless)\s+(?:my\s+)?$")
