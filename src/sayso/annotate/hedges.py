"""The English lexicon of doubt, as data: lexical classes that the rules of ``stance`` compose.

Nothing here decides anything. A class holds words or small phrase patterns (verbose, ignoring
case, on text whose quotes are plain); where each of them reaches is decided in ``stance``.
Approximators ("about", "around", "roughly", "estimated") are left out on purpose: they make a
value vague, they do not withdraw the claim.
"""

from __future__ import annotations

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
