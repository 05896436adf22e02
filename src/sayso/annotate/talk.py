"""Does an answer hold a value at all? Words about knowing, rules and asking, told from the rest.

The patterns of ``marks`` know how doubt is usually worded; this is the net below them. An answer
whose every word is the question's own, a function word or a word of talk offers no value, however
its sentence is built, and the words themselves say why.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from sayso.annotate.cues import stem
from sayso.annotate.hedges import GENERIC
from sayso.records import Stance

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")

_NUMBERING = re.compile(r"^\W*\(?\d{1,2}[.)]\s")
_TALK_WORDS = """abide able above absolutely access accessible accessing according actual address
addresses
admit advice advise afraid agree aid aim alas allow allowed allows ambiguous answering
answerable anybody anyone anything anywhere apologise apologize apology appear appears
appropriate archive archives ask asker asking assistance assisting assume attempt
authority authorized avoid away back background base based basis beats because before
being believe best better beyond blank blanks boundaries brain browse browsing but call
came care case cases chat chatbot check claim clarification clarify clarifying clear
clearer clearly clue clueless cutoff come comes comfortable comment comply concern
concerns confidential confidentially conscience consult consulting contain content
conversation convey couldn't cover covered covers curious data database databases deal
declared decline declined declining deduce define definite delicate denied deny designed
detailed determine difficult disclose disclosed disclosing discuss discussing discussion
disclosure divulge doctor document documentation documented doing dont drawing drew dunno
easy elaborate else elude eludes empty encounter encountered english error escapes
estimate ethical evidence exactly example exist exists expert explain expose express
extent fabricate face fail failed fails faintest fair false familiarity far feel feeling
few figure file files fill finding focus foggy follow following forget forgets forgetting
forgot forgotten forward found fulfil fulfill full function gap gaps general get getting
given gives giving go goes going gone good google got guarantee guidance guideline
guidelines guess guessed guessing hand handle happy hard haven't hazy health healthcare
hear hearing heck helped helpful helping here hesitant hidden hold hmm honest honestly
hope how however idea ideas identify idk ignorance ignorant imagine impossible improper
inaccurate inappropriate include included includes incomplete indicate individual
individuals information ingrained insufficient instructions intend internal internet
invent inventing irresponsible issue item items just keep kind kindly knew knowing knows
lack lacking lacks lately lawyer lead learn learned learnt leave left legal legally less
let liberty likely line list listed lists little live lol look looked looking lookup lost
luck made main maintain make making manage many material maybe means meant media medical
memories memory mentions message mind mine misinform mislead misleading missing model more
moment moments more's mystery name named names natural near need needed needing needs
never nobody none nope normally note nothing notion nowhere numerous obligated obscure
obtain obvious offer offering official often ok okay omg online open operate opinion
option options order original others ought out outright outside over own page part
particular pass peace people perfectly permission permissions permit permitted physician
place please pleased point policies policy position possess possession possible possibly
post precise prefer preference preserve pretend pretty prevent prevents private privacy
probably problem professional programmed programming prohibited prohibits protect
protecting protocol proper provided provides providing public publish published purpose
purposes purview put quality query question questionable questions quick quite rather
reach reached readily real realize reason reasons recall recalled recalling received
recent recognise recognize recollect recollection recommend record recorded records redact
redacted redirect refer referring reference references refrain refuse refused refusing
regard regret regretfully regrettably reject release reliable relevant remain remains
remembering remotely removed rephrase replies reply report reports request requested
requests require required research residence resource resources respect respectfully
respecting respond responding response responses responsible rest restrict restricted
restriction restrictions result results retrieve reveal revealed revealing right risk rule
rules safe safety sake satisfy saw says scope scratch script search searched searching
secret secure see seeing seek seem seems seen sense sensitive set several shame share
shared sharing shed shot should shouldn't show shown shows shrug shy simply sir site sites
slate slightest slip slipped slips sort sorts sound sounds speak speaking specific
specifically specified specify speculate speculating speculation spot stand start state
stated states step stored struggle struggling stuff stumped such suggest suitable supplied
supply support supposed supposing sure surely system take tell telling temporarily
territory thinking thorough though thoughts throughout tip title today together tongue too
topic topics total touch tough track trace trained training tricky tried trouble true
truly trust truth truthful try trying turn type ugh umm unable unanswered unavailable
unaware uncertain uncharted unclear uncomfortable undisclosed unethical unfamiliar
unfortunate uninformed unlisted unrecorded unspecified unsuitable unsupported untrue
unverified update updated us usage user users usual vague vaguely valid various venture
verification verifiable verifying version violate violates violating violation voice void
vouch wait wanna want wanted warrant web website websites weigh welcome went whatever
whatsoever whether whoever whom willing wish within withheld withhold without word work
world would wouldn't write written wrong yeah years yep yet yikes you'd yours yourself
zero zilch zip sad sadly bummer shoot darn dang gosh eh meh nah nada nope huh tbh ngl fr
bro man dude pal friend thx ty pls plz u ur r n im ive id dont cant wont couldnt wouldnt
shouldnt didnt doesnt isnt wasnt arent werent havent hasnt know don doesn didn won t s re
ve ll d m a1 q qs q's answer's type typing starting beginning now hmm anymore up down off
again against along across around toward towards upon onto per via thing's unsafe
dangerous illegal copyright copyrighted reproduce predict prediction opinion opinions
judgment judgments express foggiest haha lemme ability capability brain top dear wich wat
wut wot whats hows lookin somethin nothin sry srry soz wd dk dno kno knw no1 abt bc cuz
coz gotta gonna kinda sorta lemme gimme aint ain't y'all em 'em"""
TALK = GENERIC | frozenset(_TALK_WORDS.split())

_POLICY = re.compile(
    r"\b(?:privacy|private|polic(?:y|ies)|confidential\w*|guidelines?|permit\w*|permission|"
    r"allow(?:ed|s)?|authori[sz]ed|disclos\w+|divulg\w+|shar(?:e|ing)|discuss\w*|declin\w+|"
    r"refus\w+|den(?:y|ied)|reject\w*|(?:un)?comfortable|(?:in)?appropriate|(?:un)?ethical|"
    r"(?:ir)?responsible|sensitive|restrict\w*|redact\w*|withh\w+|comply|assist\w*|prohibit\w*|"
    r"respect\w*|violat\w+|safety|rules?|off-limits|secret|browse|browsing|consult\w*|"
    r"doctor|physician|lawyer|professional|advice|recommend|prefer\s+not|boundaries|"
    r"help\s+(?:you\s+)?with)\b",
    re.I,
)
_IGNORANT = re.compile(
    r"\b(?:know\w*|kno|idk|dunno|idea|clue\w*|remember\w*|recall\w*|information|info|data|"
    r"records?|memory|familiar|aware|sure|certain|heard|guess\w*|blank\w*|unknown|unclear|"
    r"unavailable|stumped|forg\w+|found|find|unable|mystery|lost|missing|lack\w*|insufficient|"
    r"uncertain|pass|nothing|escapes|eludes|available|documented|"
    r"recorded|public|n/?a|details?|say|tell|confirm|verify|help|answer)\b",
    re.I,
)
_NEGATIVE = re.compile(
    r"\b(?:no|not|nothing|none|nobody|never|nope|nah|without|un\w+|insufficient|lack\w*|beyond|"
    r"outside|\w+n't|(?:do|ca|wo|could|would|did|is|does|have)nt|cannot|blank|pass|idk|dk|dunno|"
    r"stumped|clueless|lost|missing|forg\w+|escapes|eludes|beats|search\s+me|mystery|fails?|"
    r"hard|difficult|impossible|limited|little|n/?a|zilch|nada|zero)\b|\?",
    re.I,
)
_ASKING = re.compile(
    r"\b(?:clarif\w+|specify|rephrase|you\s+mean|u\s+mean|which|wich|context|elaborate|"
    r"ambiguous|be\s+(?:more\s+)?specific)\b|^\W*(?:who|what|whom|huh|sorry)\W*\?|"
    r"\bwho\W*\?\W*$|^\W*(?:who|what)\s+(?:is|are|was|do|did)\b[^.]*\?",
    re.I,
)
_RULE = re.compile(
    r"\b(?:providing|sharing|disclos\w+|discussing|giving\s+out|reveal\w+|polic(?:y|ies)|privacy|"
    r"unsafe|harmful|illegal|dangerous|inappropriate|unethical|copyright\w*|private|business|"
    r"request|requests|safety|guidelines?|confidential|rights?|such\s+(?:information|details))\b",
    re.I,
)
_WORLD = re.compile(
    r"\b(?:unknown|not\s+(?:yet\s+)?(?:known|understood|established|determined|identified)|unclear|"
    r"mystery|unsolved|unexplained)\s+(?:even\s+)?(?:to|by|in)\s+(?:modern\s+|medical\s+|"
    r"this\s+|present-day\s+)?"
    r"(?:medicine|science|historians|scholars|day|researchers|doctors|astronomers|anyone|"
    r"physicians|"
    r"experts|scientists|archaeologists)\b|"
    r"\b(?:medicine|science|scientists|doctors|researchers|historians|scholars|experts|astronomers|"
    r"physicians|nobody|no\s+one)\s+(?:ha(?:s|ve)|d(?:o|oes|id)|can|could)?\s*(?:not|n't|still|"
    r"never|ever|yet|really|been\s+able\s+to)?"
    r"\s*(?:been\s+able\s+to\s+)?(?:establish|determin|identif|discover|explain|found|figured|"
    r"pinned|agreed|work)\w*\b|"
    r"\b(?:cause|causes|etiology|aetiology|pathogenesis|mechanism)\b(?!\s+of\s+(?:her|his|"
    r"its\s+owner's)\s+death)(?:\s+(?:of|behind)\s+[\w' -]{1,40})?\s+"
    r"(?:is|are|was|remains?|has|have)\s+(?:\w+\s+){0,2}?(?:unknown|not\s+(?:\w+\s+)?(?:known|"
    r"established|been\s+\w+))\b(?!\s+to\s+me)|"
    r"\b(?:was|were|is|remained|remains)\s+(?:an\s+)?anonymous\b|\b(?:never|"
    r"not)\s+(?:been\s+)?(?:identified|established|determined|caught|found)\s+by\s+(?:anyone|"
    r"the\s+police|medical)",
    re.I,
)
_CONSULT = re.compile(
    r"^\W*(?:please|you\s+(?:should|could|may|might|can)|i(?:'d|\s+would)?\s+(?:suggest|recommend|"
    r"advise|urge)|it(?:'s|\s+is)\s+best\s+to|best\s+to|for\s+[\w\s]{1,40},?\s+(?:please\s+)?)?"
    r"[\w\s,]{0,30}\b(?:consult\w*|see|ask|speak\s+(?:to|with)|talk\s+(?:to|with)|contact|seek|"
    r"turn\s+to)\b[\w\s-]{0,40}\b(?:doctors?|physicians?|pharmacist|professionals?|provider|"
    r"specialist|lawyer|attorney|advis[eo]r|clinician|medical\s+(?:advice|help|care))\b",
    re.I,
)


def holds_new(text: str, known: AbstractSet[str], cues: AbstractSet[str]) -> bool:
    """Whether any word of ``text`` could be (part of) a value: neither talk nor the question's."""
    text = _NUMBERING.sub("", text.replace("’", "'").lower())
    for word in _WORD.findall(text):
        bare = word.removesuffix("'s")
        if word in TALK or bare in TALK or bare in known:
            continue
        if stem(word) in cues:
            continue
        return True
    return False


def unsaid(text: str) -> Stance | None:
    """The stance of an answer without a value, by its words; ``None`` where they tell nothing."""
    if _ASKING.search(text):
        return "asked_back"
    if _POLICY.search(text) and _NEGATIVE.search(text + "?" * bool(_CONSULT.search(text))):
        return "refused_by_policy"
    if _IGNORANT.search(text) and _NEGATIVE.search(text):
        return "abstained"
    if _POLICY.search(text):
        return "refused_by_policy"
    return "abstained" if _NEGATIVE.search(text) else None


def withholds(text: str, blank: bool = False) -> Stance | None:
    """How a sentence that holds no value withholds it; ``None`` without a word of either kind.

    Where it surely holds none (``blank``), a negative word is enough.
    """
    negative = _NEGATIVE.search(text)
    if _POLICY.search(text) and (negative or _CONSULT.search(text)):
        return "refused_by_policy"
    return "abstained" if negative and (blank or _IGNORANT.search(text)) else None


def sends_away(text: str) -> bool:
    """Whether a sentence only sends the asker to a professional."""
    return bool(_CONSULT.match(text))


def states_unknown(text: str) -> bool:
    """Whether a text says that the world, not the speaker, does not know: a fact like any other."""
    return bool(_WORLD.search(text))


def speaks_of_rules(text: str) -> bool:
    """Whether a statement beside a refusal only gives its reasons."""
    return bool(_RULE.search(text))
