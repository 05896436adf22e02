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
    | \bsomething\s+tells\s+me\b | \bmy\s+gut\b | \b(?:safest|best|likeliest|surest
        |closest)\s+(?:bet|guess|answer|candidate)\b
    | \bor\s+so\s+(?:the|an?|my|his|her|its|people|some|one|they|he|she|it|legend|rumou?r)\b
        [^.;]{{0,40}}
    | \bif\s+[^,.;]{{1,40}}?\s(?:(?:can|could|may)\s+be\s+(?:trusted|believed|relied)
        |(?:is|are)\s+(?:to\s+be\s+(?:believed|trusted)|right|correct|accurate|anything\s+to))\b
    | \b(?:tradition|legend|lore|folklore|rumou?r|hearsay|gossip|popular\s+belief)\s+(?:\w+ly\s+)?
        (?:places|puts|has|makes|gives|names|credits|locates|dates|assigns|attributes)\b
    | \b(?:smart|safe)\s+money\b | \b(?:proof|evidence|confirmation)\s+(?:is|was|remains)\s+
        (?:\w+\s+)?(?:lacking|missing|thin|scant|wanting|weak)\b
    | \bbeen\s+(?:put|bandied|noised)\s+about\b
    | \bmy\s+(?:\w+\s+)?(?:guess|hunch|suspicion|bet|impression|assumption)\b
    | (?:^|[,;(]\s*|\b(?:but|and|although|though|while)\s+){h.SOURCES}\s+(?:\w+ly\s+)?(?:say
        |claim|suggest|believe|allege|maintain|insist|speculate|think|argue|assume)\b
    | \b(?:is|are|was|were|been|being)\s+(?:\w+\s+)?(?:suspected|presumed|assumed|alleged
        |rumou?red|speculated|conjectured)\b
    | \b(?:looks?|sounds?|feels?)\s+(?:like|as\s+if|to\s+(?:be|me))\b
    | \b(?:best|educated|rough|wild|first|tentative)\s+guess\b
    | \bguess(?:ing|work)\b
    | \bif\s+(?:I|my\s+memory|memory|my)\b[^,.;]{{0,30}}(?:mistaken
        |mixing\s+\w+\s+up|misremember\w*|confus\w+|wrong|right(?:ly)?
        |correct(?:ly)?|serves?|recall|remember|fail\w*|deceiv\w*|trust\w*|holds?|reliable
        |play\w*)(?:\s+(?:me|correctly|right
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
    | \b(?:as|so)\s+(?:best|well|far|near(?:ly)?)\s+(?:as\s+)?(?:I|we|anyone)\s+(?:can|could|know
        |recall|am|understand)
        (?:\s+(?:tell|judge|recall|remember|determine|say|gather|see|make\s+out|aware))?
    | \b(?:I|we)\s+can\s+only\s+(?:say|assume|suppose|guess)
    | \bmy\s+(?:\w+\s+)?(?:memory|recollection|instinct|understanding|sense|inclination|money
        |vote|pick|answer\s+would)\s*
        (?:says?|tells?|suggests?|is|goes|points?|was|here)\b
    | (?<!nothing\s)\b(?:comes?|came|springs?|sprang|pops?|leaps?
        |jumps?)\s+(?:in)?to\s+(?:my\s+)?mind
    | \b(?:put|bet|place|stake)\s+(?:my\s+|some\s+)?money\s+on | \bbet\s+is\b
    | \b(?:I'd|I\s+would|I'll|I\s+will|let's|let\s+me|let\s+us|shall\s+we|going\s+to
        |gonna)\s+(?:just\s+)?(?:go|plump|opt|say|guess|pick|choose|try|settle)\b
    | \b(?:wanna|gonna|imma)\s+(?:say|guess|go)
    | \bguess\s*[:=-] | \b(?:this|that|it)(?:\s+is|'s|\s+was)\s+(?:just\s+|only\s+
        |purely\s+)?(?:a|my|an)\s+(?:\w+\s+)?(?:guess|hunch|estimate|stab)
    | \b(?:a\s+)?(?:shot|stab)\s+in\s+the\s+dark | \btoss-?\s?up\b | \btorn\s+between
        | \bcoin\s+(?:flip|toss)
    | \bI(?:'d|\s+would)\s+(?:\w+\s+)?(?:pick|choose|favou?r|opt|plump|attribute
        |call\s+it\s+a\s+guess|put\s+it\s+(?:at|around|in)|place\s+(?:it|her|him)|imagine)\b
    | \b(?:is|was|are|be|'s|of)\s+(?:(?:probably|likely)\s+)?one\s+of\s*(?:these|the\s+following
        |:|(?=[^.;]{1, 80}\bor\s))
    | \b(?:citation\s+needed|to\s+be\s+(?:confirmed|verified|checked)|TBC
        |not\s+(?:yet\s+)?(?:verified|confirmed))\b
    | \b(?:very\s+)?(?:low|medium|moderate|limited|some|partial|little|weak|middling|fair
        |reasonable)[\s-]+(?:confidence|certainty)\b
    | \b(?:confidence|certainty|probability|likelihood|sureness)(?:\s+(?:level|score|rating
        |in\s+(?:this|that|it)|here))?\s*(?:[:=]|is|of|at|about|around|-)*\s*
        (?:(?:about|around|roughly|only|maybe)\s+)?(?:\d{{1,2}}(?!\d)(?:\.\d+)?\s?(?:%|percent
        |per\s+cent|/|out\s+of)?|0?\.\d+|low|medium|moderate|limited|fair|middling
        |not\s+(?:very\s+)?high)
    | \b(?:[0-9]|[1-9]\d)(?:\.\d+)?\s?(?:%|percent|per\s+cent)\s+(?:\w+\s+)?(?:sure|certain
        |confident|likely|positive|chance|probability|confidence|odds|certainty)
    | \b(?:[1-9])\s?(?:/|out\s+of|in)\s?10\b | \b\d{{1,2}}\s?[/-]\s?\d{{1,2}}\s+(?:in\s+fav|that
        |on|for|between|chance|odds|it)
    | \b(?:better\s+than\s+)?even\s+odds(?:\s+(?:that|it|whether|of)\b|\s*[,:-])
    | \b(?:one|two|three|\d)\s+chances?\s+in\s+(?:a\s+)?\w+\s+(?:that|it)\b
    | \b(?:one|two|three|\d)[\s-](?:in|out\s+of)[\s-]\w+\s+(?:chances?\s+)?that\s+(?:it|this)\b
    | \b(?:fifty-fifty|50[/-]50)\b | \b(?:two-thirds|three-quarters|half)\s+(?:sure|certain
        |confident)\b
    | \b(?:far\s+from|less\s+than|nowhere\s+near|hardly|scarcely|by\s+no\s+means
        |not\s+at\s+all)\s+(?:\w+\s+)?(?:sure|certain|confident|positive|definite|conclusive)
    | \b(?:im)?plausible\b | \bconceivable\b | \bprobable\b | \b(?:most|more|very|quite|highly
        |fairly|less)\s+likely\b | \blikeliest\b | \bpossibility\b
    | \b(?:sounds?|feels?|looks?|seems?)\s+(?:(?:\w+ly|about|just|quite|most|more|very|somewhat
        |vaguely|like\s+the)\s+){{0,2}}
        (?:right|correct|plausible|familiar|likely|probable|reasonable|possible|accurate|best
        |true|it)\b
    | (?<!n't\s)(?<!not\s)\brings?\s+(?:a|some|any)\s+bells?
    | \bsupposed\s+to\s+(?:have|be|come)\b | \bword\s+is\b | \bstory\s+goes\b
    | \b(?:I|we)(?:'ve|'d|\s+have|\s+had)?\s+(?:\w+\s+)?(?:heard|read
        |seen)\s+(?:it\s+)?(?:somewhere|mentioned|claimed|said|that|[A-Z]\w+)
    | \b(?:someone|somebody|a\s+\w+|they|people|my\s+\w+)\s+(?:once\s+)?(?:told|informed)\s+(?:me
        |us)\b
    | \b(?:as|so)\s+I\s+(?:recall|remember|understand|see|read|heard|gather|was\s+told)(?:\s+it)?
    | \baccording\s+to\s+(?:an?\s+(?:\w+\s+)?(?:account|source|story|legend|theory|version
        |rumou?r|website|blog|post|article|fan|forum)|unnamed|my|people|locals|fans|sources
        |reports|accounts)\b
    | \b(?:candidate|contender|front-?runner|suspect)s?\b(?=\W*$|\s+(?:for|is|would|here))
    | \bif\s+(?:I\s+(?:were|was|must|may|had|have|need(?:ed)?|'d)\b[^,.;]{{0,20}}(?:guess|pick
        |choose|say|bet|answer|venture)|(?:pressed|forced|pushed|pressed|made|asked
        |obliged)(?:\s+to\s+\w+)?)
    | \bit\s+(?:would|does|might)\s+(?:seem|appear)\b
    | \b(?:scientists|experts|researchers|astronomers|historians|scholars|doctors|physicians|many
        |some|most|biographers|critics|specialists|archaeologists|geologists|linguists|others
        |fans|people)\s+
        (?:\w+ly\s+|now\s+|still\s+|have\s+(?:\w+\s+)?)?(?:believe|think|suspect|assume|speculate
        |theori[sz]e|hypothesi[sz]e|suggest|propose|claim|contend|guess|surmise|presume
        |conjecture)d?\b
    | \b(?:hinted|whispered|rumou?red|speculated|conjectured|surmised|mooted)\b
    | \b(?:it(?:'s|\s+is|\s+has|\s+was))\s+(?:been\s+)?(?:\w+\s+)?(?:said|suggested|claimed
        |rumou?red|alleged|believed|thought|speculated|argued|proposed|assumed|reported|told
        |hinted)\b
    | \b(?:research|studies|study|evidence|data|findings|clues|signs|work|results|analysis
        |analyses|observations|models?|tests)\s+(?:\w+ly\s+|now\s+|also\s+)?(?:suggest|hint|point
        |indicate|imply|lean)(?:s|ed)?\b
    | \b(?:don't|do\s+not|dont|wouldn't|would\s+not|wouldnt|can't
        |cannot)\s+(?:\w+\s+)?(?:take\s+my\s+word|take\s+(?:this|that|it)\s+as
        |rely\s+on\s+(?:this|that|it|me)|trust\s+me|stake|bet|swear|put\s+money|bank\s+on
        |count\s+on|treat\s+(?:this|that|it))
    | \b(?:treat|take|read|handle|use|consider)\s+(?:this|that|it|these|those|them
        |what\s+I\s+say)(?:\s+\w+){{0,2}}?\s+(?:with\s+(?:caution|care|suspicion|scepticism
        |skepticism|a)|as\s+(?:a\s+|an\s+|only\s+)?(?:\w+\s+)?(?:guess|tentative|provisional
        |estimate|approximate))
    | \b(?:would|should|needs?\s+to|ought\s+to|want\s+to|wants?|need)\s+(?:be\s+)?(?:double-?
        |cross-?|fact-?)?(?:check(?:ing)?|checked|verif(?:y|ied)|verifying|verification
        |confirmation|confirming)\b(?=\W|$)(?!\s+(?:with|out|in)\b)
    | \b(?:working|going|quoting|speaking|relying|writing|answering|doing\s+this
        |recalling)\s+(?:purely\s+|only\s+|mostly\s+)?(?:from|on)\s+(?:my\s+)?(?:memory
        |recollection)
    | \bhalf[\s-]+remember\w* | \b(?:dimly|vaguely|faintly|hazily)\b
    | \bnot\s+(?:\w+\s+)?(?:100\s?%|a\s+hundred\s+percent|one\s+hundred\s+percent|entirely|fully
        |\d\d?\s?%)(?=\s+(?:on|about|sure|certain|tho)|\W*$)
    | \b(?:remains?|is|are|was|were|been|'s)\s+(?:\w+\s+)?(?:disputed|contested|debated
        |questioned|challenged|unproven|unsubstantiated|apocryphal|anecdotal|circumstantial)\b
    | \bbeen\s+(?:\w+\s+)?(?:proposed|suggested|suspected|posited|hypothesi[sz]ed|put\s+forward
        |mooted|floated)\s+as\b
    | \b(?:wouldn't|would\s+not|wouldnt)\s+(?:\w+\s+)?(?:stake|bet|swear|put)\b
    | \bI(?:'ve|\s+have|'ve\s+got|\s+had)\s+(?:a|some|the)\s+(?:\w+\s+)?(?:feeling|hunch|inkling
        |recollection|memory|idea|suspicion|sense)\b
    | \b(?:second-?guess(?:ing)?|doubt(?:ing)?)\s+myself\b | \bsecond\s+thoughts\b
    | \b(?:I'd|I\s+would|I'll|put|bet|give)\s+(?:\w+\s+){{0,2}}?\d{{1,2}}\s?(?:%|percent)
        | \bunless\s+(?:they|it|he|she|this|that|something|things|someone)\b[^,.;]{{0,40}}
    | \bthere\s+(?:are|were|have\s+been|is|was)\s+(?:\w+\s+)?(?:reports?|accounts?|claims?|signs?
        |suggestions?|indications?)\s+(?:that|of)
    | \b(?:one|you)\s+(?:often\s+|sometimes\s+)?hears?\b | \b(?:is|was|are
        |were)\s+(?:\w+\s+)?understood\s+to\s+(?:have|be)
    | \bgive\s+or\s+take\s+(?:my|a\s+guess) | \baccording\s+to\s+one\b
    | \b(?:isn't|is\s+not|not)\s+(?:really\s+)?my\s+(?:field|area|forte|strong|specialty|thing
        |subject)
    | (?:[,(—-]\s*|\bis\s+|\bas\s+)(?:(?:an?|just|only|merely|pure|sheer
        |mostly)\s+)(?:\w+\s+){{0,2}}(?:guess|estimate\s+of\s+mine)\b
    | \b(?:strikes?|hits?|struck)\s+me\s+as\b | \bout\s+on\s+a\s+limb\b | \blooks?\s+to\s+(?:have
        |be)\b
    | \bled\s+to\s+(?:believe|think|understand)\b | \bin\s+my\s+(?:recollection|memory
        |understanding)\b
    | \bby\s+one\s+(?:\w+\s+)?{h.SOURCES}\b
    | \bgetting\s+(?:un|less\s+)sure\b | \bhunch\b | \bif\s+(?:anything|at\s+all|that)\b(?=\W*$)
    | \bapocryphal\w* | \bfolklore\b | \bso\s+(?:I|we|they|it)(?:'m|'ve|\s+am|\s+have|\s+is
        |\s+was)?\s+(?:told|heard|hear|gather|read|believe|think|say|said|claimed|understand)
    | \b(?:then\s+again|on\s+second\s+thoughts?),?\s+(?:maybe|perhaps|it|that|this|I)\s+(?:might
        |may|could|was|am)
    | \b(?:some|many|others|several|a\s+few|various)\s+(?:\w+\s+)?(?:dispute|doubt|question
        |contest|challenge|disagree)\b
    | \bI\s+(?:think|believe|guess|suppose|hope|assume|imagine)\s+so\b | \bthink\s+so\b
    """
)
MODAL = compiled(
    r"""(?<!\bthe\s)(?<!\bits\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)(?<!\byou\s)(?<!\bin
        \s)\b(?:may|might)(?:n't)?\s+(?!include\b|includes\b|vary\b|range\b|differ\b|depend\b
        |require\b|also\s+include\b|
            not\s+show\b|last\b|\d|God\b|Day\b|Queen\b|as\s+well\s+ask\b|be\s+(?:noted|found|seen
        |used|treated|transmitted|spread)\b)(?=(?-i:[a-z]))
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
    r"""\bor\s+(?:was|is|were|perhaps|maybe|possibly|should|could)\s+(?:it|that|they|he|she)\b
    | (?<=[\w)]),\s+or\s+(?=(?-i:[A-Z\d])[\w' -]{1,30}\s*(?:[;.?!]|$))
    | \beither\s+(?=[^.;?!]{1,60}\s+or\s)
    | (?-i:\b(?:[A-Z][\w'.-]*|\d[\d,.]*)\s+or\s+(?:(?:in|at|on|by|from|the|around
        |about)\s+)?(?:[A-Z][\w'.-]*|\d[\d,.]*))
    | \(\s*\?+\s*\) | \bbetween\s+(?=(?-i:[A-Z\d])[^.;?!]{1,40}\s+(?:and
        |or)\s[^.;?!]{1,40},?\s+I\b) | (?<=\w)\?(?=\s*\)) """
)
