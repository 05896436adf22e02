"""The English lexicon of doubt: lexical classes, and the patterns that are composed of them.

A class holds words or small phrase patterns (verbose, ignoring case, on text whose quotes are
plain). Patterns mark doubt, claims short of knowledge (belief, hearsay, modals, adverbs,
either/or), refusals by policy, phrases that name an aspect without its usual word ("hails from"),
and what a short question asks for: its cue words (words of one family, such as "born", "birth",
"birthplace", count as one) and the kind of answer. Every repetition is bounded, so each pattern is
linear in the length of the text. Where a marker reaches is decided in ``stance``.

Approximators ("about", "around", "roughly", "estimated") are left out on purpose: they make a
value vague, they do not withdraw the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from sayso.judges.patterns import regex

#: Sentence adverbs that weaken a claim.
_ADVERBS_WORDS = """perhaps maybe possibly probably presumably likely unlikely seemingly apparently
supposedly allegedly prolly probly probaly prob probs mayb mabye iirc afaik afaict imo imho
alternatively feasibly doubtfully uncertainly notionally nominally reportedly purportedly
ostensibly conceivably potentially plausibly putatively
arguably hypothetically tentatively speculatively"""
ADVERBS = _ADVERBS_WORDS.split()

#: The same as phrases.
ADVERB_PHRASES = (
    r"in\s+all\s+(?:likelihood|probability)",
    r"more\s+likely\s+than\s+not",
    r"(?:the\s+)?(?:chances|odds)\s+are",
    r"for\s+all\s+I\s+know",
    r"at\s+a\s+guess",
    r"what\s+I\s+(?:take|understand|remember|recall|hold|suppose)\s+(?:to\s+(?:be|have\s+been)|as|"
    r"is|was)",
    r"by\s+some",
    r"almost\s+certainly",
    r"nearly\s+certain(?:ly)?",
    r"from\s+memory",
    r"last\s+I\s+(?:heard|checked|knew|looked)",
    r"give\s+or\s+take\s+a\s+guess",
    r"subject\s+to\s+(?:confirmation|verification|correction|change)",
    r"worth\s+(?:double-?)?\s?check\w*",
    r"something\s+like\s+that",
    r"with\s+(?:some|low|little|limited|moderate|medium)\s+(?:confidence|certainty|hesitation|"
    r"doubt|uncertainty)",
)

#: Adjectives before a noun: "the alleged author", "a likely date".
_ADJECTIVES_WORDS = """probable possible alleged supposed presumed purported putative rumored
    rumoured
reputed suspected unconfirmed unverified speculative questionable tentative disputed"""
ADJECTIVES = _ADJECTIVES_WORDS.split()

#: Verbs a speaker uses for a belief short of knowledge.
BELIEF = r"""(?:think|thnk|thik|tink|beleive|belive|bleive|guss|expect|hazard|venture|conclude
        |deduce
        |attribute|estimate|have\s+heard|'ve\s+heard|once\s+(?:heard|read|saw)|thought|believe
        |guess|suspect|assume|suppose|presume|imagine|reckon|figure
        |gather|
    speculate|infer|surmise|lean|wager|bet|hear|vaguely\s+\w+|recall|remember|hope\s+(?:it|that)
        |feel\s+(?:like|that)|
    estimate|have\s+(?:a\s+)?(?:(?:vague|faint|slight|dim)\s+)?(?:feeling|hunch|inkling
        |notion|suspicion|impression|sense|recollection|memory|idea)|
    heard|read|understand|understood)"""

#: Participles that report a belief without standing for it.
REPORTED = r"""(?:reckoned|judged|guessed|deemed|believed|thought|said|reported|rumou?red|alleged
        |assumed|presumed|speculated
        |suspected|proposed|posited|postulated|implicated|held|considered\s+likely|
    claimed|hypothesi[sz]ed|theori[sz]ed|suggested|reputed|supposed|purported|conjectured|inferred|
    suggested)"""

#: Degree words that turn "sure" into "not quite sure".
PARTLY = r"""(?:only|half|two-thirds|three-quarters|fairly|largely|tolerably|somewhat
        |more\s+or\s+less|as\s+good\s+as|just\s+about
        |halfway|not\s+\w+\s+but\s+fairly|
    (?:(?:about|around|roughly|maybe|perhaps|only|at\s+most|some|like)\s+)?\d{1,2}\s?(?:%|percent
        |per\s+cent)|pretty|quite|reasonably|almost|nearly|somewhat|relatively|moderately|mostly
        |rather|
    kind\s+of|sort\s+of|partly|semi-?|\d{1,2}\s?%)"""

#: Degree words that do not change the sense of a negated certainty.
DEGREE = r"""(?:really|quite|entirely|completely|totally|absolutely|fully|wholly|100\s?%
        |a\s+hundred\s+percent|
    all\s+that|too|exactly|so|very|currently|honestly|personally|actually|even|immediately|at\s+all|
    altogether|particularly|specifically|also|simply|still|yet|just|necessarily|really|overly|that|
    perfectly|terribly|especially|always|now|certainly|unfortunately|sadly|publicly|widely|well|
    officially|readily|generally|clearly|precisely|definitively|reliably|fully|firmly|been|ever|
    independently|conclusively|historically|commonly|easily|directly|sufficiently)"""

#: Who may stand behind a report that is not vouched for.
SOURCES = r"""(?:sources?|people|papers?|press|books?|press\s+reports|family|locals|villagers
        |journalists|blogs?|pages?|
    obituar(?:y|ies)|biography|profile|guides?|catalogu?es|encyclop(?:a)?edias|witnesses|insiders
        |posts?|scientists|astronomers|accounts?|reports?|records?|historians?|biographers?
        |scholars?|researchers?|
    experts?|critics?|fans?|websites?|sites?|articles?|references?|rumou?rs?|claims?|evidence
        |databases?|
    stories|observers?|commentators?|authors?|writers?|texts?|documents?|outlets?|studies
        |traditions?|
    lists?|theories|versions?|biographies|obituaries|newspapers?|authorities|indications?|hints?)"""

#: Nouns for what is told or supposed without being vouched for.
HEARSAY = r"""(?:rumou?rs?|speculation|suggestions?|hints?|indications?|hearsay|gossip|conjecture
        |theor(?:y|ies)|
    belief|guess|hunch|suspicion|impression|assumption|legends?|folklore|tradition|possibility
        |chance|
    likelihood|probability|allegations?|talk|tale|claims?|stor(?:y|ies)|word|whispers?
        |hypothes[ie]s)"""

#: Nouns for doubt itself.
DOUBT = (
    r"(?:doubts?|uncertainty|uncertainties|debate|dispute|disputes|confusion|disagreement|"
    r"controversy|ambiguity|questions?|reservations?)"
)

#: Determiners and adjectives that leave it open who that is.
SOME = r"""(?:some|several|certain|various|a\s+few|few|other|others|many|multiple|numerous
        |unconfirmed|
    unverified|conflicting|different|anecdotal|at\s+least\s+one|one|unnamed|scattered
        |a\s+number\s+of|
    most|a\s+couple\s+of|two|contradictory|unreliable|local|popular|secondary|online)"""

#: What such sources do.
SAYS = r"""(?:say|says|said|claim|claims|claimed|believe|believes|believed|suggest|suggests
        |suggested|
    state|states|stated|think|insist|insists|assert|asserts|allege|alleges|imply|implies|implied
        |hint|hints|list|lists|listed|give|gives|gave|indicate|indicates|report|reports|
    reported|put|puts|place|places|point|points|mention|mentions|hold|holds|argue|argues|name|names|
    credit|credits|cite|cites|describe|describes|speculate|attribute|attributes|trace|traces
        |have\s+it|
    has\s+it|mark|refer|record|maintain|contend|date|locate)"""

#: Sources that contradict each other leave the value open.
DIFFER = (
    r"(?:differ|disagree|vary|conflict|diverge|contradict|are\s+(?:divided|split|conflicting|"
    r"inconsistent|mixed))"
)

#: Nouns for something one can know or have.
KNOWLEDGE = r"""(?:information|info|details?|data|knowledge|records?|facts?|evidence|answers?
        |idea|clue|
    memory|recollection|sources?|documentation|confirmation|specifics|account|mention|background|
    biography|certainty|insight|material|reference|references|way)"""

#: Adjectives that may stand before those nouns.
KIND_OF = r"""(?:reliable|specific|detailed|available|sufficient|enough|any|further|more|much
        |other|public|
    publicly|verified|verifiable|accurate|additional|concrete|definite|definitive|biographical
        |personal|
    exact|precise|readily|credible|firm|clear|known|published|solid|relevant|surviving|documented|
    the|a|such|official|trustworthy|confirmed|particular|complete|full|real|good|earthly|official
        |direct)"""

#: Verbs of finding out and being sure, for "I can't confirm".
ESTABLISH = r"""(?:commit|put\s+a\s+\w+|point\s+to|supply|attest\s+to|conjure\s+up|summon
        |bring\s+to\s+mind|dig\s+up|turn\s+up|substantiate|authenticate|quote|offer\s+a\s+guess
        |hazard|say|tell|check|double-check|verify|settle|decide|judge|pin\s+it\s+down
        |be\s+of\s+any\s+help|answer\s+with|attest|confirm|verify|determine|recall|remember|find
        |locate|identify|pinpoint|specify|state|
    ascertain|guarantee|vouch|establish|know|guess|be\s+(?:sure|certain|confident|positive
        |definite)|
    come\s+up\s+with|think\s+of|place|name|pin\s+down|corroborate|figure\s+out|work\s+out
        |speak\s+to|
    swear|retrieve|access|recollect|make\s+out|trace)"""

#: Verbs of handing over an answer, for "I can't share".
HAND_OVER = r"""(?:recommend|prescribe|advise|diagnose|browse|search\s+(?:the\s+)?(?:web|internet
        |online)|look\s+(?:\w+\s+){0,2}up|give\s+out|open|facilitate|entertain|expose|publish
        |pass\s+(?:on|along)|weigh\s+in|opine|advertise|help|assist|provide|give|share|disclose
        |reveal|discuss|answer|comply|fulfil
        |fulfill|engage|
    respond|offer|supply|talk|comment|complete|release|hand|divulge|cooperate|support|participate|
    go\s+into|get\s+into|speculate|look\s+up|process|do\s+that|reply|address|describe|list
        |repeat)"""

#: Words that show a refusal is about knowledge, not about rules.
ABOUT_KNOWING = r"""(?:specific|exact|exactly|precise|precisely|accurate|accurately|reliable
        |reliably|definitive|
    definitively|definite|certain|certainty|confidence|confidently|verified|correct|correctly|sure|
    know|knowledge|information\s+is\s+not|confirmed|detailed|fabricat\w*|made-?\s?up|guess\w*
        |invent\w*|
    speculat\w*|familiar|aware|limited|available|records?|unsure|uncertain|enough|trustworthy
        |truthfully|real-time)"""

#: Words that show a refusal is about rules.
POLICY = r"""(?:privacy|private|polic(?:y|ies)|guidelines?|confidential(?:ity)?|inappropriate|
    appropriate|unethical|ethical|ethics|harmful|harm|sensitive|permitted|allowed|authori[sz]ed
        |safety|illegal|
    programming|safeguards?|rules|restricted|comfortable|prohibited|terms\s+of\s+(?:use|service)|
    personal(?:ly)?\s+(?:information|details?|data|identif\w+)|doxx?ing|against\s+my|liberty
        |consent|
    (?:medical|legal|financial|health|investment|tax)\s+advice|responsible|content\s+restrictions?
        |legal\s+reasons|decline)"""

#: Predicates of something that nobody, or not the speaker, knows: "her birth date is unknown".
UNKNOWN = r"""(?:unknown|unclear|uncertain|undocumented|unrecorded|undisclosed|unspecified
        |unconfirmed|
    unverified|undetermined|unavailable|unsettled|unresolved|debated|disputed|contested|debatable|
    a\s+mystery|a\s+matter\s+of\s+(?:debate|dispute|speculation)|in\s+(?:doubt|dispute|question)|
    open\s+to\s+(?:debate|question)|up\s+for\s+debate|lost\s+to\s+history|beyond\s+my\s+knowledge|
    murky|obscure|speculative|doubtful|questionable|anyone's\s+guess|anybody's\s+guess|sketchy|
    scarce|sparse|limited|lacking|missing|hazy|fuzzy)"""

#: Past participles and adjectives which, negated, say the same: "is not known".
NOT_KNOWN = r"""(?:made\s+public|known|understood|available|documented|recorded|disclosed
        |specified|clear
        |certain|established|
    confirmed|verified|determined|settled|published|reported|listed|given|stated|mentioned|sure|
    accessible|revealed|identified|definitive|guaranteed|reliable|on\s+record|public
        |something\s+I\s+(?:\w+\s+)?(?:know|recall|remember|have)|
    recoverable|found|preserved)"""

#: Words that speak of an answer as a whole.
WHOLE = r"""(?:
    (?:any|all|each|most|some|much|none|every\s+(?:bit|part)|parts?|either|both)\s+of\s+(?:this
        |these|those|it|that|them|what|the\s+(?:\w+\s+)?
        (?:above|following|details?|information|facts?|answers?|specifics|claims|points
        |particulars|statements|figures|dates))
    | everything | accuracy | (?:all|the)\s+(?:of\s+the\s+)?(?:above|following|foregoing)
    | (?:these|those|the|all|my|its|their)\s+(?:\w+\s+)?(?:details|information|facts|answers?
        |specifics|claims|points|
        particulars|statements|summary|paragraph|biography|figures\s+and\s+\w+|dates\s+and\s+\w+)
    | (?:about|on|of)\s+details | this\s+(?:information|answer|summary|account|paragraph|biography)
    | all\s+(?:this|that|these|those) | (?:details|information|facts)\s+(?:above|here|below))"""

#: Words of a statement about what was not said: it withholds the rest and weakens nothing.
REST = r"""(?:else|further|other|others|additional|beyond\s+(?:that|this|those|these)|rest
        |remaining|remainder|
    (?:anything|much|any|no|nothing|details?|information)\s+more|more\s+(?:details?|information
        |about)|apart\s+from)"""

#: Words that say nothing about which aspect is meant.
_GENERIC_WORDS = """simply a an the this that these those it its her his their him them she he they
    there here i i'm i'd i've
    me my we our you your yours who's is are was were be been being am do does did done has have had
    having of for to in on at by from with within into as if or and but nor so than then though
    although
    however even about regarding concerning respect any anything all some every everything each
    either
    both nothing none no not n't what which whether how why because since while unfortunately
    sorry sadly
    apologies apologize afraid honestly know known sure certain uncertain unsure details detail
    information info data facts fact knowledge record records answer answers question questions
    specific specifics exact exactly precise accurate accuracy reliable available publicly public
    person people individual topic subject matter thing things point points one ones entity name's
    much many more most enough further other else beyond really quite entirely completely totally
    absolutely fully very too also just still yet such same again currently time moment provide
    provided give given find found tell say said mentioned mention asked asking ask above following
    claim claims statement sources source may might could can can't cannot would should will
    particular personal biographical background details verified verify confirm confirmed reliably
    correct incorrect wrong right true be sure please ai language model assistant training my
    knowledge who it's he's she's familiar aware recall remember idea clue access context request
    help assist able unable share discuss off top head mistaken misremembering moment quote don't
    didn't
    isn't wasn't aren't doesn't won't limited unknown unclear whole entire part parts bit lot
    definitely definitive confident confidence certainty figures numbers story wrong details. i'll
    well oh hmm hm uh um okay ok alright certainly hi hello hey there's that's don dont cant wont
    im ive
    check checked double-check verified called named heard anyone's anybody afraid ever able unable
    cannot couldn't could hand honest honestly frank fair good great yes anymore matter matters
    happen
    happens say saying speak speaking come comes mind one's myself own end side given part certainty
    something someone somewhere nothing guess guesses sense help thanks thank hope enjoy"""
GENERIC = frozenset(_GENERIC_WORDS.split())


# ---- markers of doubt


def marker(pattern: str) -> re.Pattern[str]:
    """Return a marker of doubt as a pattern: verbose, ignoring case."""
    # No marker begins inside a word; saying so first saves trying every branch at every letter.
    return regex(rf"(?!\B(?!n't)\w)(?:{pattern})", re.VERBOSE | re.IGNORECASE)


DEG = rf"(?:{DEGREE}\s+){{0,3}}"
NEG = r"(?:n'?t|\s+not|not)"
_BE = r"(?:is|are|was|were|be|been|being|'s|remain|remains|remained|seems?|seemed|appears?)"
_NO = (
    r"(?:no|little|limited|insufficient|hardly\s+any|not\s+enough|very\s+little|scant|zero|"
    r"not\s+much)"
)
_KNOW = rf"(?:{KIND_OF}\s+){{0,4}}(?:[\w-]+\s+)?{KNOWLEDGE}"

#: The speaker is the subject, or there is none: "(not sure)", "but unsure".
MINE = marker(
    rf"""(?:^|["(\[,;:.!?—–-]\s*|\b(?:I|we|but|though|although|and|or|however|so|since|because|as
        |sorry|
    unfortunately|that|AI|assistant|model|honestly)(?:\s*'?(?:m|re|ve|d|ll)\b|\s+(?:am|was|are
        |were|do|did|can|could|
    would|have|had|will|must|should|remain|feel|seem|afraid|'m))?)\s*{DEG}$"""
)
PERSON = marker(r"\b(?:he|she|they|who|you|[A-Z]\w+\s+and\s+she)\s*$")

SELF_DOUBT = marker(
    rf"""\b(?:
      (?:do\s*{NEG}|not)\s+(?:think|believe|suppose)\s+(?:that\s+)?I\s+(?:\w+\s+)?(?:know|have
        |can|could|remember|recall|ever|am)
    | (?:have\s*{NEG}|have\s+never|'ve\s+never|never)\s+(?:\w+\s+)?(?:heard|c[oa]me\s+across
        |encountered|read|seen|learned|learnt|known)\b
    | (?:(?:am|was|are|were)\s*n'?t|not)\s+{DEG}(?:sure|certain|confident|positive|aware
        |familiar|acquainted|
         convinced|knowledgeable|clear\s+(?:on|about|when|where|who|what|which|whether))
    | (?:have|has|had)\s+(?:\w+\s+){{0,2}}?{DOUBT}\b
    | (?:have|know|find|found|got)\s+(?:next\s+to\s+|absolutely\s+)?nothing\b
    | have\s*{NEG}\s+(?:a|any|the)\s+(?:\w+\s+)?(?:clue|idea|notion)\b
    | (?:do\s*{NEG}|can\s*{NEG}|cannot)\s+{DEG}(?:have|know|recall|say|tell
        |find)(?=\s*(?:[.,;!)]|$))
    | (?:a\s+(?:bit|little|touch)\s+|rather\s+|somewhat\s+)?(?:shaky|rusty|iffy|wobbly|foggy
        |muddled|vague|murky)\s+(?:on|about|here|there|when|where|who)\b
    | not\s+in\s+(?:a|any)\s+position\s+to\s+{ESTABLISH} | less\s+than\s+(?:\w+\s+)?(?:sure
        |certain|confident|clear|positive)
    | un(?:sure|certain|aware|familiar) | clueless | in\s+the\s+dark | at\s+a\s+loss
        | drawing\s+a\s+blank
    | (?<!more\sor\s)less\s+(?:sure|certain|confident|clear) | doubtful | hazy | fuzzy
        | vague\s+(?:on|about)
    | (?:unable|not\s+able|struggling|fail(?:ed|ing|s)?)\s+to\s+{DEG}{ESTABLISH}
    | (?:do|did|can|could|would|ca|wo|have|had)\s*{NEG}\s+{DEG}(?:been\s+able\s+to\s+)?
        (?:{ESTABLISH}|recognize|recognise|be\s+sure|(?:have|possess|hold|find|found|seen|see
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
ANY_DOUBT = marker(
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
        |can\s+be|could\s+be)\s+{DEG}{NOT_KNOWN}\b
    | \b(?:nobody|no\s+one|none\s+of\s+us)\s+(?:(?:really\s+)?knows|(?:\w+\s+){{0,4}}?(?:can
        |could)\s+(?:say|tell))
    | \bno\s+{_KNOW}\s+(?:about|on|of|regarding|concerning|for|as\s+to|available)
    | \b(?:beyond|outside|above|past|more\s+than)\s+(?:what\s+)?(?:I\s+(?:\w+\s+)?(?:know|can
        |remember|recall)|me\b|my\s+ken)
    | \bthere\s*(?:is|are|'s|remains?|has\s+been|exists?)\s+(?:\w+\s+){{0,3}}?{DOUBT}\b
    | \b(?:some|much|considerable|great|a\s+lot\s+of
        |conflicting)\s+{DOUBT}\s+(?:\w+\s+)?(?:surrounds?|exists?|remains?|about|over|as\s+to
        |around|on|regarding)
    | {DOUBT}\s+(?:surrounds?|remains?|persists?)\b
    | \bnot\s+(?:\w+\s+)?(?:verified|confirmed|certain|checked|sourced)\b(?=\s*\))
    | (?:\b(?:dates?|years?|places?|name|details|figures?|number|identity|authorship|origins?
        |attribution|exact\s+\w+)\s+|(?<=\()){{1}}
        (?:uncertain|unknown|disputed|unconfirmed|unverified|unclear|debated|not\s+known
        |not\s+certain|not\s+confirmed)\b
    | \b(?:hard|difficult|impossible|tough)\s+(?:for\s+me\s+)?to\s+{DEG}{ESTABLISH}
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
    | \bnor\s+(?:do|can|could|am|have|did|would)\s+I\s+(?:\w+\s+)?(?:{ESTABLISH}|sure|certain
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
    | \b(?:can|could)\s*(?:not|n't)\s+be\s+{DEG}{NOT_KNOWN}
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
PREDICATE = marker(
    rf"""\b{_BE}\s+(?:been\s+)?(?:{DEGREE}\s+|largely\s+|mostly\s+|somewhat\s+|often\s+
        |a\s+bit\s+|a\s+little\s+|to\s+be\s+){{0,3}}{UNKNOWN}\b
    | (?:\b(?:is|are|was|were|has|have|had|does|do|did)\s*(?:n't|\s+not|\s+never)|\b{_BE}\s+not
        |'s\s+not|\bnever)\s+(?:been\s+)?{DEG}{NOT_KNOWN}\b"""
)
WEAK_UNKNOWN = marker(
    r"\b(?:limited|scarce|sparse|lacking|missing|hazy|fuzzy|sketchy|obscure|murky|questionable)$"
)
INFORMATION = marker(rf"\b(?:{KNOWLEDGE}|memory|dates?|accuracy|that|this|it)\b")

DISCLAIMER = marker(
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

BOOSTER = marker(
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
QUOTE = regex(
    r"\"[^\"\n]{2,120}\"|(?<!\w)'[A-Z][^'\n]{2,80}'(?!\w)|(?<!\w)_[A-Z][^_\n]{2,80}_(?!\w)"
)
TITLE_WORD = regex(
    r"(?<=[a-z,;:(]\s)(?:Maybe|Perhaps|Probably|Possibly|May|Might|Unknown|Uncertain|Unsure|"
    r"Alleged|Likely|Possible|Could|Unlikely|Doubtful|Think|Believe)\b"
)

#: A sentence with none of these words needs no pattern.
TRIGGER = marker(
    rf"""\b(?:{"|".join(ADVERBS)}|{"|".join(ADJECTIVES)}|I|I'\w+|we|we'\w+|my|not|no|nothing
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
CONDITION = marker(r"\b(?:if|unless)\s+(?:my\s+)?$")


# ---- claims short of knowledge: belief, hearsay, modals, adverbs, either/or

_FIRST = (
    r"\b(?:I|we)(?:\s*'d|\s+would|\s+do|\s+can\s+only|\s+could\s+only|\s+must|\s+will|\s*'ll|"
    r"\s+seem\s+to|\s+have\s+to|\s*'ve)?"
)
MATRIX = marker(
    rf"""
      {_FIRST}(?:\s*n'?t|\s+not)?\s+(?:(?:\w+ly|do|only|just|kind\s+of|sort\s+of|also|still
        |tend\s+to|want\s+to|would|rather|don't)\s+){{0,2}}{BELIEF}(?!\s+(?:you|help))\b
    | {_FIRST}\s+(?:have\s+to\s+|go\s+with|lean\s+towards?|venture|want\s+to\s+say
        |say\b(?!\s+(?:that\s+)?I)|be\s+inclined|be\s+tempted)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+{PARTLY}\s+(?:sure|certain|confident|positive|convinced)
    | \b(?:I|we)\s*(?:'m|am|'re|are)\s+(?:\w+\s+)?(?:inclined|tempted|leaning|guessing|assuming
        |under\s+the\s+impression|speculating|going\s+to\s+(?:guess|say)|sure\s+but\s+not)
    | \b(?:I|we)\s+doubt\b | \b(?:fairly|pretty|reasonably|almost|quite|somewhat
        |mostly)\s+(?:sure|certain|confident)\b
    | \bthere\s*(?:is|are|'s|has\s+been|have\s+been|was|were)\s+(?:\w+\s+){{0,3}}?{HEARSAY}\b
    | \b(?:so|as)\s+(?:the|a|one|family|local)?\s*(?:\w+\s+){{0,2}}?{HEARSAY}\s+(?:goes|has
        |have|says|tells)(?:\s+it)?
    | \b{HEARSAY}\s+(?:has|have)\s+it
    | \b(?:so|as)\s+(?:they|people|some|we|it)\s+(?:say|claim|tell|believe|seems|appears|is\s+said)
    | \b(?:the\s+)?{HEARSAY}\s+(?:is|goes|says)\s+that
    | \b{SOME}\s+(?:[\w-]+\s+){{1,3}}?(?:say|says|claim|claims|suggest|suggests|believe|argue
        |maintain|speculate|contend|assert|insist|allege)\b
    | \b(?:judging|going|guessing)\s+(?:by|from)\b
    | \b(?:it|this|that|he|she|they|which|who|answer)\s+{DEG}(?:seems?|sounds?
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
    | (?:^|[,;(]\s*|\b(?:but|and|although|though|while)\s+){SOURCES}\s+(?:\w+ly\s+)?(?:say
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
    | \b{SOME}\s+(?:[\w-]+\s+){{0,3}}?{SOURCES}\s+(?:(?:[\w,-]+\s+){{0,6}}?{SAYS}
        |{DIFFER})\b
    | \b(?:sources|accounts|reports|records|evidence|historians|scholars|research|studies
        |rumou?rs|indications)\s+(?:\w+\s+){{0,2}}?(?:suggests?|differ|disagree|vary|conflict
        |hints?|impl(?:y|ies)|diverge|speculate|claim|points?\s+to)
    | \baccording\s+to\s+(?:{SOME}\b|legend|rumou?rs?|tradition|folklore|hearsay|gossip
        |what\s+I|popular|(?:un\w+|conflicting|anecdotal)\s+\w+|my\s+(?:memory|recollection
        |understanding))
    | \b(?:some|certain|various|other|different|conflicting)\s+(?:\w+\s+)?(?:accounts|sources
        |reports|records)\b
    | \bin\s+(?:some|certain|various)\s+(?:\w+\s+)?(?:accounts|sources|reports|records|versions)
    | \b(?:is|are|was|were|been|be|has\s+been|'s)\s+(?:(?:\w+ly|often|sometimes|also|widely
        |commonly|generally|now|once|long)\s+){{0,2}}{REPORTED}\s+(?:to\b|that\b
        |by\s+(?:{SOME}|historians|scholars)|he\b|she\b|it\b|they\b|the\b|\w+\s+(?:was|is)\b
        |as\s+having)
    | \b{REPORTED}\s+to\s+(?:be|have)\b
    | \bit\s+(?:is|was|has\s+been|had\s+been)\s+(?:(?:\w+ly|often|sometimes)\s+)?{REPORTED}\b
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
    | \bby\s+one\s+(?:\w+\s+)?{SOURCES}\b
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
MODAL = marker(
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
_ADVERBS = "|".join([*ADVERBS, *ADVERB_PHRASES])
ADVERB = marker(
    rf"\b(?:(?:most|very|quite|more)\s+)?(?:{_ADVERBS})\b(?:,?\s+(?:though|but)\s+not\s+certainly)?"
)
ADJECTIVE = marker(rf"\b(?:{'|'.join(ADJECTIVES)})\s+(?=[a-z0-9\"'])")
CHOICE = marker(
    r"""\bor\s+(?:was|is|were|perhaps|maybe|possibly|should|could)\s+(?:it|that|they|he|she)\b
    | (?<=[\w)]),\s+or\s+(?=(?-i:[A-Z\d])[\w' -]{1,30}\s*(?:[;.?!]|$))
    | \beither\s+(?=[^.;?!]{1,60}\s+or\s)
    | (?-i:\b(?:[A-Z][\w'.-]*|\d[\d,.]*)\s+or\s+(?:(?:in|at|on|by|from|the|around
        |about)\s+)?(?:[A-Z][\w'.-]*|\d[\d,.]*))
    | \(\s*\?+\s*\) | \bbetween\s+(?=(?-i:[A-Z\d])[^.;?!]{1,40}\s+(?:and
        |or)\s[^.;?!]{1,40},?\s+I\b) | (?<=\w)\?(?=\s*\)) """
)


# ---- phrases that name an aspect without its usual word: "hails from", "on the payroll"

_PHRASES: dict[str, str] = {
    "birth": r"""life\s+(?:began|started)|saw\s+(?:his|her|their)\s+birth|native\s+(?:town|city
        |place|village)
        |arrival\s+(?:\w+\s+){0,5}?(?:this|the)\s+world|birth\w*|cradle|born
        |hail(?:s|ed|ing)?\s+from|c[ao]mes?\s+from|originally\s+from|(?:came|come
        |brought)\s+into
        \s+(?:the|this)\s+world|first\s+saw\s+the\s+light|entered\s+the\s+world|grew\s+up\s+in
        |native
        \s+of|arrived\s+in\s+the\s+world|roots\s+(?:are\s+)?in|b\.\s|home\s?town|raised\s+in""",
    "death": r"""passed\s+away|lost\s+(?:his|her|their)\s+life|end\s+came|last\s+breath|succumbed
        |perished
        |d\.\s|laid\s+to\s+rest|fatal""",
    "marriage": r"""(?:family|married|love|private)\s+life\b|partner\s+in\s+marriage|marri\w+
        |wed(?:s|ded|ding)?\b|spouse|partner\b
        |tied\s+the\s+knot|exchanged\s+vows|life\s+partner|better\s+half
        |took\s+\w+\s+as\s+
        (?:his|her)|husband|wife|bride|groom|walked\s+down\s+the\s+aisle|shared\s+(?:his
        |her)\s+life""",
    "education": r"""train(?:ed|ing)\b|graduat\w+|school\b|stud(?:y|ied|ies|ent\s+(?:at|of))\b
        |alma\s+mater
        |attended|degree|diploma|educat\w+
        |trained\s+(?:at|in)|enrolled|schooled|took\s+(?:a|her|his)\s+degree
        |went\s+to\s+
        (?:college|university|school)|lecture\s+halls|learn(?:ed|t)\s+(?:his|her|their
        |the)\s+(?:trade|craft)|
        passed\s+through|academic|(?:attended|reading|read)\s+\w+\s+at|schooling|alumn\w+|
        (?:university|college|institute|academy)\b""",
    "occupation": r"""-born\s+(?:[\w-]+\s+){0,2}?\w+(?:ist|er|or|ian|ant|ect)\b|(?:life|years
        |days)\s+as\s+an?\b|went\s+into\b|served\s+as\b|,\s+(?:an?
        |the)\s+(?:[\w-]+\s+){0,3}?\w+(?:ist|er|or|ian|man
        |woman)\b(?!\s+of\b)
        |taught\b|practi[sc](?:ed|ing|es)\b|(?:made|makes|making)\s+(?:a|his|her
        |their)\s+name\s+as|by\s+calling
        |took\s+up\s+work
        |profession|trade\b|job\b|vocation|occupation
        |bec[ao]mes?\s+an?\s|(?:is|was)\s+an?\s+(?:[\w-]+\s+){0,3}?\w+(?:ist|er|or
        |ian|ant)\b|(?:made?|earned|makes|making|earns?)\s+(?:a|his|her|their)\s+living
        |by\s+(?:trade
        |profession)|
        work(?:s|ed|ing)?\s+as|earned\s+(?:his|her)\s+(?:bread|keep)|day\s+job|line\s+of\s+work|
        career|livelihood|did\s+for\s+a\s+living|professionally|(?:was|is)\s+active\s+as
        |known\s+as\s+an?\s""",
    "founding": r"""laid\s+the\s+foundations?|foundations?\b|owes?\s+its\s+existence|(?:saw
        |marks?)\s+the\s+(?:creation|birth|start)
        |(?:for|by)\s+(?:starting|founding|creating)|set\s+(?:[\w']+\s+){1,4}up|set\s+up
        |start(?:s|ed)?\s+(?:of|the)|establish\w*|found(?:ed|ers?|ing)\b|birth\s+of\s+the
        |c[oa]me\s+into\s+(?:being|existence)
        |set\s+up|set\s+\w+\s+up|started\s+(?:by|in|out|up)|brainchild
        |launched\s+(?:by|in)|
        dat(?:es?|ing)\s+(?:back\s+)?(?:to|from)|go(?:es)?\s+back\s+to|opened\s+(?:its|for)\s+\w+|
        came\s+into\s+(?:being|existence)|first\s+opened|got\s+(?:its|their)\s+start
        |began\s+(?:life|trading|operating|business)|
        roots\s+in|origins?|beginnings?|got\s+going|brought\s+(?:it\s+)?to\s+life
        |in\s+business\s+since|since\s+\d{4}|
        started\s+(?:the|it|this)|founders?|creation|creator|came\s+about""",
    "location": r"""(?:from|in|at)\s+(?:which|what)\s+(?:town|city|place)|home\s+to|seat\b
        |main\s+offices?|head\s+offices?|management\b|base\b|based\b|central\s+offices?
        |based\s+in|head\s+office|main\s+office|home\s+(?:base|is|city)|runs?\s+from
        |run\s+from|
        operates?\s+(?:out\s+of|from)|call(?:s|ed)?\s+\w+\s+home|offices?\s+(?:are|is|in|at)
        |directed\s+from|at\s+home\s+in|
        sits?\s+in|domiciled|head\s?quarter\w*|quarters""",
    "employees": r"""gives?\s+work|workers|men\s+and\s+women|employ\w*|\d\s+people|workforce
        |head\s?count|how\s+many\s+(?:people|hands|workers)
        |payroll|on\s+(?:its|the)\s+books|people\s+(?:work|on|strong)|head\s?count|jobs|
        (?:employ|hire)\w*|work(?:s|ers|force|ing)?\s+(?:for|there)|staff\w*|team\s+of\s+\d|hands
        |personnel""",
    "industry": r"""does\s+business|business\s+in|(?:makes?|earns?)\s+its\s+(?:living|money)
        |compet(?:es?|ing)\s+in|familiar\s+name
        |trade\b|sector\b|industry\b|branch\b|line\s+of\s+(?:business|work)|what\s+business
        |(?:business|trade|field|sector|industry|market|area|line)\s+of
        |in\s+the\s+[\w-]+(?:\s+[\w-]+)?\s+
        (?:business|trade|sector|industry|market|field)|(?:company|firm|business|maker|group
        |corporation)\s+
        (?:active|engaged|operating)|active\s+in|(?:is|was)\s+an?\s+[\w' -]{1,40}(?:company|firm
        |business|maker|producer|manufacturer|corporation|designer)""",
    "product": r"""production\s+of|maker\s+of|(?:customers?|people|buyers?)\s+(?:buy|get)
        |leaves?\s+the\s+(?:works
        |factory|plant)
        |turns?\s+out|(?:has|have)\s+(?:made|built|sold)|roll\s+off|goods\b
        |turns?\s+out|known\s+for\s+(?:its|making)|manufactur\w+|churns?\s+out
        |(?:builds?|makes?(?!\s+(?:its|his|her|a|the\s+firm)\s+(?:money|living|name))|making|made
        |sells?|selling|
        offers\b|produc(?:e[sd]?|ing|ers?|ts?)\b|supplies|markets)\b|product\s+(?:line|range)
        |output|wares|catalogu?e
        |factory|factories""",
    "award": r"""jury|distinctions?|reward\w*|accept(?:s|ed)\s+the
        |honou?red\s+with|laureate|recipient|took\s+home|went\s+home\s+with
        |earned\s+(?:the|a|her|him)(?!\s+(?:living|bread|keep|name|money))|
        awarded|decorated|distinction|\b(?:prize|medal|fellowship|award|order\s+of|honou?rs?
        |trophy|accolade\w*|recogni[sz]\w+)\b|bestowed|given\s+the""",
    "direction": r"""brought\s+(?:[\w']+\s+){1,8}?to\s+(?:the\s+)?(?:screen|life)|director\w*
        |direct(?:s|ed|ion)\b
        |sat\s+in\s+the
        |(?:film|movie|picture|drama|comedy|thriller|western|musical|documentary|feature|romance
        |horror)\s+(?:by|from|of)\s+(?-i:[A-Z])
        |director's\s+chair|behind\s+the\s+camera|a\s+(?:film|movie)\s+(?:by|from|of)|
        helm(?:s|ed|ing)?|(?:was\s+)?shot\s+by|film-?maker|brought\s+to\s+the\s+screen\s+by
        |at\s+the\s+helm|made\s+by""",
    "release": r"""issu(?:ed?|es|ing)\b|first\s+appeared|\w's?\s+(?:1[89]|20)\d\d\s+[a-z]|\b(?:an?
        |the|this|his|her|its)\s+(?:\w+\s+)?(?:1[89]
        |20)\d\d\s+(?:[\w-]+\s+){0,4}?(?:film|movie|picture
        |drama
        |comedy|thriller|western|musical|documentary|novel|album|book|game|single|song|series)\b
        |br(?:ings?|ought)\s+(?:it\s+)?out\b|(?:film|movie|drama|comedy|novel|album)\s+(?:of
        |from)\s+
        (?:1[89]|20)\d\d\b|first\s+showed|opening\s+(?:day|night)|first\s+show(?:n|ing)
        |audiences?\s+first
        |to\s+the\s+screens?\s+(?:on|in)|reach(?:ed|es)\s+(?:the\s+)?(?:\w+\s+)?(?:cinemas
        |theaters|theatres|screens?|public|audiences?)|releas\w+|hit\s+the|first\s+screening
        |hit\s+(?:theaters|theatres|cinemas|the\s+screens?|screens|shelves|stores)
        |c[ao]me\s+out|came\s+to\s+(?:theaters|cinemas)|
        (?:in|reached|into)\s+(?:cinemas|theaters|theatres|screens)|premier\w+|first\s+(?:shown
        |screened|seen|aired)|opened\s+(?:in|on)|
        out\s+(?:in|on|since)\s+\d|arrived\s+(?:in|on)|screened|saw\s+the\s+light\s+of\s+day
        |went\s+on\s+sale|appeared\s+in\s+\d""",
    "cast": r"""acts?\s+in|acting|in\s+front\s+of\s+the\s+camera|we\s+(?:meet|see)|(?:play|plays
        |played|take|takes)\s+the\b|cast\b|lead(?:s|ing)?\b|players?\b|actors?\b|roles?\b
        |leads?\b|headlin\w+|in\s+the\s+(?:lead|leading|main|title)|fronted|opposite
        |on\s+screen
        |leading\s+(?:role|part|man|lady)|
        features?\b|performances?|(?:play|act)(?:s|ed|ing)?\s+(?:the|in|by)|stars?\b|starring
        |appear(?:s|ed)?\s+in\s+(?:it|the)""",
    "music": r"""set\s+to\s+music|songs\b|heard\s+in
        |score\b|scored|soundtrack|music|wrote\s+the\s+(?:score|songs)|tunes|compos\w+
        |melod(?:y|ies)\b""",
    "genre": r"""(?:is|was|,)\s+(?:[\w'-]+\s+){0,4}?an?\s+(?:[\w'-]+\s+){0,4}?(?:film|movie|comedy
        |drama|thriller)\b
        |labels?\b|heading|(?:sort|kind|type|class)\s+of\s+(?:film|movie|picture|book|novel|music
        |album|story)\b|in\s+style|described\s+as|genre|(?:film|movie)\s+of\s+the|categor\w+
        |^(?:\W*\w+){0,8}?,\s+an?\s+(?:[\w'-]+\s+){0,4}(?:film|movie|drama|comedy|thriller|western
        |musical|romance)
        |(?:is|was|as)\s+an?\s+(?:[\w'-]+\s+){0,4}(?:film|movie|picture|drama|comedy
        |thriller|western|musical|romance|
        documentary|fantasy|horror|noir|melodrama|epic|tale|novel|story)|falls?\s+(?:into|under)
        |class(?:ed|ified)\s+as|
        (?:drama|comedy|thriller|western|musical|romance|documentary|fantasy|horror|noir
        |melodrama)\b|billed\s+as|kind\s+of\s+(?:film|movie)""",
    "duration": r"""keeps?\s+(?:viewers|audiences?|people)|in\s+their\s+seats|seated|long\b
        |duration|runs\b
        |runs?\s+(?:for|to|about|around|roughly|\d)|running\s+time|run-?time
        |clocks?\s+in|last(?:s|ing|ed)?\b|
        minutes|hours\b|from\s+start\s+to\s+finish|length|how\s+long""",
    "incubation": r"""latency|latent|days?\b|weeks?\b|time\s+(?:from|between)|onset
        |(?:days?|weeks?)\s+(?:after|pass|go\s+by|elapse|between|before|from)
        |(?:appear|emerge|show|begin|surface)\w*\s+[\w\s]{0,30}
        (?:days?|weeks?)|after\s+(?:exposure|infection|contact)|between\s+(?:infection|exposure)
        |dormant|incubat\w+|
        first\s+signs\s+(?:take|appear)|(?:exposure|infection)\s+(?:to|and)""",
    "distance": r"""separat\w+|gap\s+between|remote\w*|removed\b|travell?ed|distan\w+|kiloparsecs?
        |light[\s-]?years?|parsecs?|from\s+(?:the\s+)?(?:earth|us|sun|our)|(?:away
        |distant|far\s+off)\b|how\s+far""",
    "radius": r"""size\b|(?:middle|center|centre|core)\s+(?:[\w']+\s+){0,5}?to\s+(?:its\s+
        |the\s+)?(?:surface|edge|outside)
        |how\s+(?:big|large|wide)|kilomet(?:er|re)s|\d\s*km\b
        |radi(?:us|i)\b|(?:from\s+)?(?:center|centre|core)\s+to\s+(?:surface|edge)
        |half\s+(?:its|the)\s+diameter""",
    "discovery": r"""(?:known|heard|aware)\s+of\s+(?:[\w']+\s+){1,4}?since
        |first\s+(?:\w+\s+){0,3}?(?:to\s+)?(?:notice|see|spot|detect|observe|find
        |record|seen)\b
        |(?<!data\s)(?<!information\s)(?<!records\s)(?<!details\s)found\b(?!\s+(?:among|within
        |throughout|in\s+the\b|to\b|that\b))|detect\w*|notic(?:ed|ing)|astronomer\s+who|finder
        |spott\w+|picked
        |spott(?:ed|ing)|first\s+(?:seen|noticed|observed|identified|recorded
        |detected)|credit\w*|turned\s+up|sighted|
        came\s+to\s+light|picked\s+out|noticed\s+by|observed\s+by|caught\s+(?:sight|by)
        |found\s+(?:by|in)|discover\w+|detect\w+|
        (?:known|been\s+known)\s+since""",
    "constellation": r"""belongs?\s+to|(?:sits?|lies|located|found|visible|seen|situated
        |resides?)\s+in\s+(?:\w+\s+){0,3}?(?-i:[A-Z])
        |stars\s+of|turn\s+to|part\s+of|in\s+the\s+direction\s+of|border
        |constellation|(?:patch|part|region|corner)\s+of\s+(?:the\s+)?sky
        |among\s+the\s+stars\s+of|night\s+sky|
        (?:look|seek|find)\s+(?:for\s+)?it\s+in""",
    "eponym": r"""(?:lent|gave|gives|lends)\s+(?:[\w']+\s+){0,5}?(?:its\s+)?name\b
        |bears?\s+(?:the\s+|its\s+)?name|name\s+of\b
        |name\s+(?:honou?rs|comes|goes)|whose\s+name|nam(?:ed|es|ing)\b|after\s+whom
        |nam(?:e|ed|ing)\s+(?:\w+\s+)?(?:honou?rs?|after|for|comes?|derives?|recalls?
        |refers?|commemorates?|pays)|
        takes?\s+its\s+name|owes?\s+its\s+name|in\s+honou?r\s+of|namesake|christened|tribute\s+to
        |eponym\w*|got\s+its\s+name|its\s+name""",
    "symptom": r"""leaves?\s+(?:\w+\s+){1,3}with\b|(?:patients?|sufferers?|those\s+\w+|people)\s+
        (?:\w+ly\s+)?(?:lose|suffer|feel|complain|become|run|grow|cough|itch|bleed|tire|notice)\b
        |marks?\b|look\s+for\b|develops?\b|leads?\s+to|clinical|brings?\s+with|feel\b
        |(?:makes?|made|making)\s+(?:itself|themselves)\s+(?:felt|known|noticed)|sufferers
        |(?<!that\s)(?<!which\s)suffer\w*|experience[sd]?|complain\w*|marked\s+by
        |characteri[sz]ed\s+by
        |patients?\s+(?:report|show|have|develop|get)|
        shows?\s+itself|manifest\w*|presents?\s+with|people\s+(?:with\s+it\s+)?(?:report|get
        |develop|notice)|brings?\s+(?:on\s+)?(?:fever|pain|\w+ing)|
        tell-?tale|warning\s+signs?|signs?\b|symptom\w*|sufferers|it\s+(?:mostly\s+
        |often\s+)?(?:dries|hurts|weakens|makes)""",
    "treatment": r"""helps?\s+against|works?\s+against|against\s+(?:it|the)|pills?\b|dose\w*
        |combat\w*
        |respond\w*\s+to|manag(?:ed|eable)\s+with|prescri\w+|(?:is|are
        |be)\s+(?:\w+\s+)?given|remed(?:y|ies)|medic(?:ation|ine|ament)s?\b|
        drugs?\b|treat\w*|cur(?:e|ed|es)\b|therap\w+|relie\w+|fought\s+with|controlled\s+with
        |tablets?|doctors\s+(?:give|use|turn)|antidote|
        standard\s+choice|taken\s+(?:early|daily)""",
    "cause": r"""brings?\s+(?:[\w']+\s+){1,5}?about|gives?\s+rise|infection\s+with
        |makes?\s+people\s+(?:ill|sick)|pathogen|(?:virus|bacterium|fungus|parasite|prion|gene
        |toxin)\b|agent\b|germs?\b|source\s+of
        |due\s+to|results?\s+from|stems?\s+from|ar(?:ises?|ose)\s+from|brought\s+(?:on
        |about)\s+by|trigger\w*|traced\s+(?:back\s+)?to|
        blamed?|culprit|behind\s+(?:it|the\s+(?:disease|illness|condition))|root\s+of
        |responsible\s+for|origin\s+of\s+the\s+(?:disease|illness)|
        etiolog\w+|aetiolog\w+|caus\w+|leads?\s+to\s+(?:it|the)|comes\s+from\s+an?\b""",
    "specialty": r"""(?:doctors?|physicians?|experts?|specialists?)\s+(?:of|in)|refer(?:s
        |red)?\s+(?:[\w']+\s+){0,5}?to
        |department|branch\s+of|clinics?\s+(?:of|for)|handles?\s+the
        |\w+olog(?:y|ists?)\b|\w+iatr(?:y|ics|ists?|icians?)\b|(?:falls?
        |comes?)\s+(?:under|within)|handled\s+by|(?:seen|looked\s+after|treated)\s+by\s+
        |look\s+after|(?:branch|field|department|area)\s+of\s+medicine|special(?:ty|ist\w*|ism)
        |(?:matter|case|job)\s+for|
        \w+(?:al|ic|ine|gy|ry)\s+physicians\b|surgeons?\b|dealt\s+with\s+(?:in|by)\b""",
    "affect": r"""anatom\w+|damage\s+(?:occurs|is\s+done|sits|shows)|found\s+in\s+(?:the|his|her)
        |suffers\b|bodily|lesions?\b|site\b|organ\b
        |seat\s+of|lodges?|located
        |attacks?|targets?|strikes?|settles?\s+in|affect\w*|harms?|damages?|organs?\b
        |part\s+of\s+the\s+body|involves?|hits?\s+the""",
    "prevalence": r"""(?:one|\d+)\s+in\s+(?:\d|every)|million\s+(?:people|patients|cases)
        |cases\s+(?:a|per)|how\s+(?:common|many\s+people)|
        widespread|rare\b|patients\s+in\b|as\s+many\s+as""",
    "residence": r"""home\s+address|liv(?:es|ed|ing)\s+in|makes?\s+(?:his|her|their)\s+home
        |settled\s+in|resid\w+|where\s+\w+\s+lives?""",
    "citizenship": r"""(?:is|was|of|as)\s+(?:an?\s+)?(?:\w+,?\s+){0,4}?(?-i:[A-Z])\w+(?:an|ese
        |ish|i|ch|ek|ss|sh)\s+(?:[a-z]+|citizen|national)\b|
        passport|citizen\w*|nationals?\b""",
    "chief": r"""(?:run|managed|chaired|steered)\s+by|under\s+the\s+(?:leadership|direction)\s+of
        |in\s+charge|(?:who|whoever)\s+(?:now\s+)?(?:runs|leads|heads|steers)
        |at\s+the\s+(?:top|helm)|heads?\s+(?:the|it)|headed\s+by|led\s+by
        |leads\s+(?:the|it)|runs\s+the|boss|top\s+job|corner\s+office""",
    "owner": r"""in\s+the\s+hands\s+of|sold\s+to|subsidiary|belongs?\s+to|bought\s+by|acquired|owned
        |part\s+of\s+the|parent""",
    "writing": r"""(?:novel|book|story|play|poem|tale|memoir)\s+(?:is\s+)?(?:by|from)\b
        |pen(?:ned)?\s+by|from\s+the\s+pen|script\w*|screenplay|wrote|written
        |author\w*""",
    "period": r"""orbits?\b|once\s+every|goes?\s+(?:a)?round\s+(?:the|its)
        |to\s+go\s+(?:a)?round|a\s+year\s+(?:there|on)|circles?\b|circuit|lap\b""",
    "child": r"""(?:mother|father|parent)\s+of\s+\w+|sons?\b|daughters?\b|kids?\b|offspring
        |children""",
    "crossing": r"""(?:span|cross|bridg)(?:s|es|ed|ing)?\b|over\s+the\s+(?-i:[A-Z])""",
    "narrator": r"""told\s+(?:by|from|through)|narrat\w+|in\s+the\s+voice\s+of""",
    "diet": r"""li(?:ves?|ving)\s+(?:off|on)\s+(?-i:[a-z])|feed\w*|feeds|prey\w*|eats?\b|consum\w+
        |diet\w*|devour\w*""",
    "lifespan": r"""lives?\s+(?:for|to|up\s+to|about|around|some)\b|life\s?span
        |reach(?:es)?\s+(?:an\s+age|\d)""",
    "mass": r"""weigh\w*|tips?\s+the\s+scales?|(?:kilo|milli)?grams?\b|\d\s*kg\b|tonnes?\b
        |solar\s+mass\w*""",
    "magnitude": r"""magnitude|shines?\s+at|bright\w*""",
    "flow": r"""(?:empt(?:y|ies|ied)|drain|discharg|join|pour|flow)\w*""",
    "moon": r"""moons?\b|satellites?\b""",
}
_FAMILY_PHRASES = {
    family: regex(rf"\b(?:{pattern})", re.IGNORECASE | re.VERBOSE)
    for family, pattern in _PHRASES.items()
}


def families(text: str, wanted: Iterable[str]) -> list[str]:
    """Return which of the ``wanted`` families of cues a text speaks of in phrases."""
    return [f for f in wanted if f in _FAMILY_PHRASES and _FAMILY_PHRASES[f].search(text)]


# ---- what a short question asks for: its cue words and the kind of answer it expects

Expected = Literal["date", "place", "number", "person", "any"]


_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")

#: Families of words that answer each other; the first word names the family.
_FAMILIES = """
birth born birthday birthplace birthdate native
death die dies died dead deceased passed killed demise deathplace
marriage married marry marries wife husband spouse wed wedding partner
education educated studied study studies student attended alma mater graduated graduate
    university college school degree schooling
occupation profession job career worked work vocation
employer employed employs worked works hired
founding founded founder founders found inception established establishment started formation
    formed created set-up incorporated
location located headquarters headquartered based lies situated seat hq sits
direction director directed directing directs helmed
writing writer wrote written author authored authors screenwriter screenplay penned novelist
    scripted
production producer produced produces producers
music composer composed composition score scored soundtrack
cast starring starred stars star actor actress actors featured lead played role
release released publisher publishing came premiered premiere publication published debuted debut
    came-out launched launch
discovery described discovered discoverer discovers detected found identified
award awards prize prizes won received honor honour honored medal honours
citizenship citizen nationality national country
owner owned owns parent subsidiary belongs acquired
chief ceo executive chairman chairperson president led leader leads leadership manager
industry sector field business operates
product products produce makes made manufactures produces sells offers
employees staff workforce workers employs people
symptom symptoms sign signs signal presents
treatment treated treat drug drugs medication therapy medicine cure
cause caused causes causing pathogen agent due
specialty speciality medical branch specialist
transmission transmitted spread spreads
genre style type kind category
duration long runtime minutes running length runs lasts long
distance far away light-years parsecs
radius radii
diameter across wide size
mass massive weighs weigh weight weighed solar
magnitude brightness bright apparent
temperature hot kelvin warm
period orbital orbits takes revolution year-long orbit completes
constellation
spectral class
language languages spoken speaks filmed
religion religious faith
sport sports plays
team club plays
instrument instruments
influence influenced influences
notable famous known best-known remembered
child children son daughter kids
father mother parent parents
sibling brother sister siblings
character characters protagonist
illustrator illustrated illustrations drawings
incubation incubate
prevalence incidence common
affect affects affected affecting attacks
gene genetic mutation
eponym named namesake
income revenue earnings turnover sales
budget cost
stock exchange listed traded ticker
position held office served
political party member
buried burial interred grave cemetery
teacher taught teach teaches teachers tutor mentor pupil
residence live lives lived residing reside resides address home house moved relocated emigrated
    settled
moon moons satellite satellites
restoration restored remastered
visit visited visits
sequel sequels prequel
festival
adaptation adapted
photography photographed cinematography cinematographer photographs
distribution distributed distributor
vaccine vaccines vaccination
sale sold bought
illness diagnosed diagnosis ill health
retire retired retirement
climb climbed ascent summit ascended climbers
kept hangs housed displayed hang exhibited holds
composition metallic rocky icy carbonaceous material
win wins winner winning champion championship title
voice voiced
opened opening inaugurated open opens
dissolution dissolved closed ended ends defunct disbanded ceased folded
built building construction constructed erected builder
architect designed designer design architects
engineer engineered engineering
population inhabitants residents
height tall rises elevation stands metres meters
depth deep
area covers square
capital
currency
nickname dubbed
hobby hobbies
salary earns paid
rank ranked ranking
flag colours colors
editor edited edits
narrator narrated narrates narrate narration
crossing cross crosses crossed spans span spanned bridges
transportation carries carry carried
coach coached coaches
captain captained
score scoreline result
species genus
habitat forests
diet feed feeds eats eat
lifespan live-for
"""
_STOP_WORDS = """a an the of in on at by for to from with and or is was are were be been do does
    did has have had
    what which who whom whose when where why how that this these those it its he she his her they
    their
    him them as into about than there can could would should will may might s many much name
    called also one first some any current main primary major specific exact if please tell
    give me you i am my we us our your not no date year day month century place city town number
    amount time state value following receive receives used deal deals after part body based
    what's who's large big"""
STOP = frozenset(_STOP_WORDS.split())
#: "Medicine" that is a field and no drug.
_FIELD = regex(
    r"\b(?:(?:branch|field|department|area|kind|part)(?:e?s)?\s+of|sleep|family|internal|emergency|"
    r"sports?|nuclear|tropical|travel|intensive\s+care|palliative|occupational|general|"
    r"addiction|preventive|reproductive|pain|rehabilitation)\s+medicine\b",
    re.I,
)
_LIVING = regex(
    r"\bopen(?:s|ed)?\s+for\s+business\b|"
    r"\b(?:makes?|made|making|earns?|earned)\s+(?:its|his|her|their|a)\s+(?:money|living|name)\b",
    re.I,
)
_SUFFIX = regex(r"(?:ations?|ings?|ers?|ors?|ments?|ions?|ed|es|s|e)$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a crude stem of a lower-case word, or the name of its family."""
    word = word.removesuffix("'s")
    if word in _FAMILY:
        return _FAMILY[word]
    return _crude(word)


def _crude(word: str) -> str:
    base = word.removesuffix("'s")
    cut = _SUFFIX.sub("", base)
    if len(cut) < 4:
        cut = base
    cut = cut.rstrip("iy") or cut
    return cut[:-1] if len(cut) > 4 and cut[-1] == cut[-2] else cut


_FAMILY: dict[str, str] = {}
for _line in _FAMILIES.split("\n"):
    for _word in _line.split():
        _FAMILY.setdefault(_word, _line.split()[0])


#: The names of all families: what people commonly ask of persons, works, firms and things.
FAMILIES = frozenset(_FAMILY.values())


def settled(text: str) -> str:
    """Return ``text`` with the phrases whose words mean another aspect when read one by one."""
    return _LIVING.sub(" livelihood ", _FIELD.sub(" specialty ", text))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of ``text``."""
    text = settled(text)
    return frozenset(stem(w) for w in map(str.lower, _WORD.findall(text)) if w not in STOP)


@lru_cache(maxsize=16384)
def topics(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """Return the stems of ``text``, and the ``wanted`` families that its phrases speak of."""
    return stems(text) | frozenset(families(_FIELD.sub(" department ", text), wanted))


_NUMBER = regex(
    r"\bhow\s+(?:many|much|long|far|old|tall|high|large|big|deep|wide|heavy|fast|hot|massive|"
    r"bright)\b|"
    r"\b(?:number|amount|percentage|population|mass|radius|diameter|distance|length|duration|"
    r"height|weight|"
    r"temperature|budget|box\s+office|revenue|runtime|running\s+time|magnitude|area|speed|"
    r"elevation|"
    r"(?:orbital|incubation|rotation)\s+period|income|profit|density|age)\b",
    re.I,
)
_DATE = regex(
    r"^\W*(?:\w+\s+){0,2}when\b|\b(?:what|which)\s+(?:\w+\s+)?(?:year|date|day|month|century|"
    r"decade)\b|"
    r"\bdate\s+of\b|\b(?:birth|death|release|publication)\s+date\b|\binception\b|"
    r"\byear\s+of\b|\bsince\s+when\b",
    re.I,
)
_PLACE = regex(
    r"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?(?:city|town|country|place|village|state|"
    r"location|region|continent|county|municipality)\b|"
    r"\bplace\s+of\b|\bbirthplace\b|\bheadquarters?\s+location\b",
    re.I,
)
_PERSON = regex(r"\bwho(?:m|se)?\b", re.I)


@lru_cache(maxsize=8192)
def expected(question: str, hint: str = "") -> Expected:
    """Return the kind of answer that a question expects; ``hint`` is the aspect's description."""
    for text in (question, hint):
        if _DATE.search(text):
            return "date"
        if _PLACE.search(text):
            return "place"
        if _PERSON.search(text):
            return "person"
        if _NUMBER.search(text):
            return "number"
    return "any"


_KIND_WORDS: tuple[tuple[Expected, re.Pattern[str]], ...] = (
    (
        "date",
        regex(
            r"\b(?:when(?!\s+it\s+comes)|dates?|year|years|day|month|(?<!running\s)time\s+of|timeline|century|decade|"
            r"birthday|timing)\b",
            re.I,
        ),
    ),
    (
        "place",
        regex(
            r"\b(?:where|places?|location|city|town|country|village|birthplace|site|whereabouts)\b",
            re.I,
        ),
    ),
    (
        "person",
        regex(
            r"\b(?:who|whom|whose|publisher|author|director|founder|discoverer|composer|teacher|"
            r"owner|editor|writer|screenwriter|producer|spouse|husband|wife|ceo|chief\s+executive|"
            r"inventor|architect|engineer|designer|creator|illustrator|narrator|builder)s?\b",
            re.I,
        ),
    ),
    (
        "number",
        regex(
            r"\b(?:how\s+(?:many|much|long|far|big|large|old|tall|high|heavy)|number|figures?|"
            r"amount|size|count|total|percentage|numbers|value|measurement|length|quantity)\b",
            re.I,
        ),
    ),
)


def kinds_named(text: str) -> frozenset[Expected]:
    """Return the kinds of answer that a statement of ignorance names ("not sure when")."""
    return frozenset(kind for kind, pattern in _KIND_WORDS if pattern.search(text))


# ---- refusals by policy: what is not said for a rule's sake, not for ignorance

CANNOT = rf"""(?:(?:can|could|wo|ca|do|will|would|should|must|shall|dare)\s*{NEG}
        |unable\s+to|not\s+(?:able|allowed
        |permitted|comfortable|
    in\s+a\s+position|authori[sz]ed|at\s+liberty|going|willing|supposed)(?:\s+to|\s+with)?
        |declin(?:e|ing)\s+to|refuse\s+to|
    (?:prefer|rather|choose)\s+not(?:\s+to)?|avoid|refrain\s+from)"""
REFUSAL = marker(
    rf"""\b{CANNOT}\s+{DEG}(?:be\s+able\s+to\s+)?(?:{HAND_OVER}|(?:shar|provid|disclos|discuss
        |giv|reveal|answer|divulg|comment|help|assist|speculat|recommend)ing)\b
    | \bI\b[^.;]{{0,30}}?\b(?:stay|keep|steer|remain)\s+(?:\w+\s+)?(?:neutral|impartial|clear\s+of
        |away\s+from|out\s+of)\b | \boff\s+the\s+table\s+for\s+(?:me|us)\b
    | \bI\b[^.;]{{0,30}}?\bdeclin(?:e|ing)\s+to\s+\w+
    | \b(?:keeps?|kept|prevents?|prevented|bars?|barred|stops?|stopped|forbids?
        |prohibits?)\s+(?:me|us)
        \s+(?:from\s+|to\s+)?\w+ing\b
    | (?:\bun|\bnot\s+|n't\s+|\bnever\s+)(?:\w+\s+){{0,2}}?comfortable\b
    | \b(?:never|do\s*{NEG})\s+(?:\w+\s+)?(?:give\s+out|share|disclose|discuss|reveal|divulge
        |hand\s+out|provide)\b
    | \b(?:is|are|was|'s|it's|be|remain|remains|stays?|kept|keep\w*|considered|treated\s+as
        |deemed)\s+(?:\w+\s+)?(?:(?:a|an)\s+)?(?:\w+\s+)?(?:private|confidential|off[\s-]limits
        |restricted|classified|protected|sensitive)
        (?:\s+(?:information|matter|details?|data|info|topic|subject|matters|one
        |for\s+me))?(?=\s*(?:[,.;!)]|$|and\b|so\b|which\b|that\b|information|for\b))
    | \b(?:private|personal|sensitive|confidential|identifying)\s+(?:information|data|details
        |info|matters?)\b(?=[^.]{{0,60}}\b(?:not|n't|refrain|decline|avoid|won't|cannot|allowed
        |policy)\b)
    | (?:\bnot|n't)\s+(?:permitted|allowed|authori[sz]ed|at\s+liberty|free
        |supposed)\s+to\b(?!\s+(?:know|have))
    | \bnor\s+(?:will|can|do|may|would|should|am|shall)\s+I\b(?!\s+(?:know|recall|remember|sure
        |certain
        |have|tell\s+you\s+w|say\s+w|(?:confirm|verify|identify|determine|establish|name)\b))
    | (?:\bnot|n't)\s+possible\s+for\s+me\s+to\b | \bnot\s+going\s+there\b | \b(?:own
        |none\s+of\s+(?:my|our|your))\s+business\b
    | \b(?:I|we|AI)\b(?:'m|\s+am)?\s*(?:\w+\s+)?(?:do|wo|can|will|would|ca)?(?:\s*n't|not|\s+not
        |\s+never|\s+no\s+longer)\s+(?:\w+\s+)?(?:speculate|predict|forecast|express
        |take\s+(?:sides|positions?)|hold\s+(?:\w+\s+)?opinions?
        |have\s+(?:\w+\s+)?(?:opinions?|feelings|preferences|views)|comment|reproduce|paste|copy
        |quote|endorse|rank|judge|offer|weigh|diagnose|name\s+(?:private|individuals|suspects)
        |post|print|repeat|transcribe|make\s+(?:\w+\s+)?(?:predictions|judg\w+)|go\s+there)\b
    | \bcopyright\w*\b(?=[^.]{{0,60}}\b(?:not|n't|cannot|rules?|reasons?|law|protected|so)\b)
        | \b(?:because\s+of|due\s+to|for)\s+copyright
    | \b(?:conflicts?|inconsistent|incompatible
        |at\s+odds)\s+with\s+(?:\w+\s+){{0,2}}?(?:polic(?:y|ies)|guidelines?|rules?|principles?)
    | \bno\s+(?:answer|information|details?)\s+(?:will|can|may)\s+be\s+(?:provided|given|shared
        |disclosed)
    | \b(?:leave|leaving|keep|keeping)\s+(?:that|this|it|those)\s+(?:out|aside|to\s+(?:her|him
        |them))\b(?!\s+blank)
    | (?:\bno|n't\s+have(?:\s+(?:the|any))?|not\s+have(?:\s+(?:the|any))?
        |lack(?:\s+the)?)\s+(?:ability|means|tools?|capability|permission|authority|clearance
        |live|real-?time)\b(?!\s+to\s+(?:know|verify|confirm|tell))
    | \b(?:my|our|company|the|content|privacy|usage|safety|internal)\s+(?:[\w-]+\s+)?(?:policy
        |policies|guidelines|rules|instructions|guardrails|settings|restrictions|programming
        |filters?)\s+
        (?:\w+\s+)?(?:is\s+not\s+to|are\s+not\s+to|prevents?|prohibits?|forbids?|bars?|blocks?
        |stops?|keeps?\s+me|limits?|restricts?|requires?|says?|asks?\s+me|do(?:es)?\s*{NEG}
        |rules?\s+out|means?\s+I|advises?)
    | \b(?:content|usage|privacy)\s+policy\s*: | \binvasion\s+of\s+(?:\w+\s+)?privacy
    | \b(?:request|question|query|answer|response|content|information|reply|topic|name|address
        |details?)\s+(?:has\s+been\s+|was\s+|is\s+|must\s+be\s+)?(?:denied|declined|refused
        |rejected|blocked|withheld|restricted|redacted|removed|not\s+permitted|disallowed)\b
    | \[?\b(?:redacted|withheld|refused|declined|blocked|content\s+filtered)\b(?=\W*(?:$|for\b
        |due\b|by\b|-|:))
    | \b(?:I|we)(?:\s+can|\s+may|\s+am|'m|\s+was|\s+are|'re)?\s+(?:only|just)\s+(?:able\s+to\s+
        |allowed\s+to\s+|here\s+to\s+|permitted\s+to\s+|designed\s+to\s+|meant\s+to\s+
        |set\s+up\s+to\s+|trained\s+to\s+)?(?:discuss|help|talk|answer|assist|handle|deal|support
        |chat|speak|cover|do)\b
    | \b(?:designed|set\s+up|meant|built|configured|here)\s+(?:only|solely
        |just)?\s*to\s+(?:\w+\s+){{0,3}}?(?:only|answer|help|discuss|talk)\b(?=[^.]*\b(?:only
        |cannot|can't|not|nothing\s+else)\b)
    | \b(?:what|topics?|subjects?|things?)\s+(?:that\s+)?I(?:'m|\s+am)?\s+(?:can|permitted
        |allowed|able|authori[sz]ed)\s+(?:to\s+)?(?:discuss|answer|talk|address|share
        |say)\b(?<!what\sI\scan\ssay)
    | \boff[\s-]limits\b | \bin\s+good\s+conscience | \bcross\w*\s+a\s+(?:line|boundary)
        | \bnot\s+mine\s+to\s+(?:share|tell|give)
    | \b(?:outside|beyond|not\s+within)\s+(?:of\s+)?(?:what\s+I(?:'m|\s+am)\s+(?:allowed
        |permitted|able\s+to\s+(?:discuss|share|help))|my\s+(?:remit|scope|permissions?|mandate
        |purview))
    | \b(?:keep|leave)\s+(?:that|this|it|those|such|her|his|their)\s+(?:\w+\s+)?(?:private
        |confidential|out\s+of\s+(?:this|it)|undisclosed)
    | \b(?:irresponsible|unethical|inappropriate|improper|unwise
        |unsafe)\b(?=[^.]{{0,40}}(?:\bto\b|\bso\b|\bfor\s+me\b|\bof\s+me\b))
    | \bnot\s+(?:a|your)\s+(?:doctor|physician|lawyer|attorney|pharmacist|medical\s+professional
        |clinician|financial\s+advis[eo]r)\b
    | (?:\bnot|n't)\s+(?:\w+\s+)?(?:qualified|licensed|entitled|cleared|programmed|enabled)\s+to\b
    | (?:\bnot|n't)\s+(?:be\s+)?(?:able|in\s+a\s+position|allowed|permitted|free|supposed
        |authori[sz]ed)\s+to\s+(?:[\w-]+(?:\s+or\s+|\s*,\s*)){{1,2}}(?:share|give|disclose
        |provide|recommend|discuss|reveal)
    | \b(?:can|could)(?:\s*n't|not|nt|\s+not)\s+(?:give|offer|provide
        |dispense)\s+(?:\w+\s+)?(?:medical|legal|financial|health|investment|tax)
    | (?:\bnot|n'?t)\s+(?:something|anything|information|a\s+\w+)\s+(?:that\s+
        |which\s+)?I(?:\s*'m|\s+am)?\s+(?:can|could|able|allowed|permitted|comfortable
        |at\s+liberty|will|do|share|disclose|discuss)\b(?!\s*(?:n'?t|not)?\s*{DEG}(?:{ESTABLISH}
        |answer|help
        |supply|offer)\b)
    | \b(?:(?:prefer|rather)\s+not(?:\s+to)?|not\s+(?:going|allowed|permitted
        |at\s+liberty)\s+to)\s+say\b(?!\s+(?:for|with))
    | \bI\s+(?:must|have\s+to|will\s+have\s+to|need\s+to|should)\s+(?:respectfully\s+
        |politely\s+)?decline
    | \bI\s+(?:respectfully\s+)?decline\b
    | \b(?:would|will|is|wo|'s|might|not|feels?|seems?)\s*(?:be\s+|not\s+be\s+|n't\s+be\s+|not\s+
        |n't\s+)?(?:in
        |un|im|ir)?(?:appropriate|ethical|right|responsible|proper|fair)\s+(?:(?:for
        |of)\s+me\s+)?to\s+(?!say\s+that)
    | \blet(?:'s|\s+us|\s+me)\s+respect\b
    | \b(?:that|this|it)\s+would\s+(?:be\s+(?:inappropriate|unethical|a\s+violation|against
        |harmful)|violate|breach|go\s+against)
    | \b(?:violat\w+|breach\w*|goes?\s+against|contraven\w+)\s+(?:\w+\s+){{0,3}}?(?:polic(?:y
        |ies)|guidelines?|rules?|terms|privacy)\b
    | \bagainst\s+(?:my|our|the)\s+(?:\w+\s+)?(?:polic(?:y|ies)|guidelines?|programming|rules
        |principles)\b
    | \b(?:for|due\s+to|because\s+of|out\s+of)\s+(?:\w+\s+)?(?:privacy|confidentiality|safety
        |policy|legal)\b
    | \b(?:protect|respect)\s+(?:\w+\s+){{0,3}}privacy
    | \b(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|programming|policies|policy|rules
        |safety\s+\w+)\s+(?:do\s*n[o']t|does\s*n[o']t|prevent|prohibit|forbid|restrict|require)"""
)
RULES = marker(rf"\b{POLICY}\b")
KNOWING = marker(rf"\b{ABOUT_KNOWING}\b")

REFUSING = marker(rf"\b{CANNOT}")
#: Refusals whose subject need not be the speaker: "it wouldn't be appropriate to share that".
STANDING = marker(
    r"\b(?:in|un|im|ir)?(?:appropriate|ethical|right|responsible|proper)\b|\bcomfortable\b"
)
