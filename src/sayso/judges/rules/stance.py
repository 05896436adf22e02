"""How surely a text speaks: markers of doubt and what each of them reaches.

Reaches (English). A belief ("I think", "it is said that") at the head of a clause reaches the
clauses joined to it by "and" or a relative pronoun, up to "but", "although" or a semicolon; in the
middle or at the end only its own clause. A modal reaches its clause. An adverb beside the verb
reaches its clause, further right only what follows it. A marker alone in parentheses reaches the
phrase before it. A statement of ignorance reaches the aspects its words name ("I am not sure
when"); where it names none, the rest of its sentence, or alone the sentence before it, and at the
beginning of an answer everything. A disclaimer about the information as a whole ("please verify
these details", "I'm not sure about any of this") reaches everything in the answer wherever it
stands; a closing offer of more help is no marker.

Markers are patterns composed of the classes of ``lexicon``, bounded in length, so a text is read
in linear time. A word inside a title, a quotation, the question's own names or a booster ("no
doubt") is masked and marks nothing. Most sentences of a biography need no pattern at all: every
alternative of a pattern needs a word whose first four letters are listed for its class
(:data:`GATES`). Below the patterns lies a net: an answer all of whose words are the question's
own, function words or words of talk offers no value, and the words themselves say why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from sayso.judges.patterns import regex
from sayso.judges.rules import lexicon
from sayso.judges.rules.lexicon import GENERIC, NEG, marker, stem
from sayso.judges.rules.sentences import PRESENT, Span, clauses, plain, sentences
from sayso.records import Stance

# ---- sentences that speak to the user: questions back, offers of help, a guess as a question

_INVERTED = regex(r"(?:^|[:,;—-])\W*(?:is|are|was|were|do|does|did|has|have|should|shall)\b", re.I)
_PICK = regex(r"\bor\b|\byou\b|\bwhich\b", re.I)
_TO_THE_USER = regex(r"\b(?:you|your|clarify|specify)\b", re.I)
_OFFER = regex(
    r"\b(?:would\s+you\s+like|do\s+you\s+(?:want|need)|can\s+I\s+(?:help|assist)|"
    r"anything\s+else|how\s+(?:can|may)\s+I|"
    r"may\s+I\s+help|shall\s+I|should\s+I|want\s+me\s+to|like\s+me\s+to|what\s+else|"
    r"let\s+me\s+know\s+if\s+you\s+(?:have|need))",
    re.I,
)
_ASKING = regex(
    r"\b(?:are|were)\s+we\s+(?:\w+\s+)?(?:talking|speaking|thinking|after|discussing)\b|"
    r"\bnot\s+(?:enough|much)\s+to\s+go\s+on\b|"
    r"\b(?:could|can|would|will|cud|wud)\s+(?:you|u|ya)\s+(?:please\s+|pls\s+|plz\s+|just\s+)*(?:say|tell|"
    r"clarify|specify|explain|repeat|rephrase|narrow)|"
    r"\b(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?(?:clarify|specify|tell|give|"
    r"provide|say|be\s+more|share|elaborate|confirm|let|explain|narrow|rephrase|add)|"
    r"\bplease\s+(?:\w+\s+)?(?:clarify|specify|tell\s+me|let\s+me\s+know\s+(?:which|what|who)|"
    r"rephrase|elaborate|provide\s+(?:\w+\s+){0,3}(?:context|details?|information|"
    r"clarification|name)|give\s+(?:me\s+)?(?:\w+\s+){0,2}(?:context|details?|information))|"
    r"\b(?:do|did)\s+you\s+mean|\bare\s+you\s+(?:asking|referring|looking|talking|thinking|"
    r"interested|speaking|inquiring)|"
    r"\bwhich\s+(?:\S+\s+){0,6}?(?:do|did|are|would)\s+you\b|"
    r"\bwho\s+(?:or\s+what\s+)?are\s+you\b|\bI(?:'d|"
    r"\s+would)?\s+need\s+(?:\w+\s+){0,2}(?:context|details|information|clarification)|"
    r"\b(?:if\s+you\s+(?:could|can)\s+(?:\w+\s+)?(?:clarify|specify|tell|provide|give))|"
    r"\blet\s+me\s+know\s+which|\bwhat\s+do\s+you\s+mean|"
    r"\b(?:tell|let)\s+me\s+(?:know\s+)?(?:first\s+)?(?:which|what|who|whether|more|where|"
    r"a\s+(?:bit|little))|\bneed\s+(?:to\s+know|you\s+to|more|(?:a\s+)?(?:bit|little)\s+more|"
    r"some\s+more|further)\b|"
    r"\bdepends\s+on\s+(?:which|what|who)|\b(?:which|what|who)\b[^.?!]{0,60}\byou(?:\s+are|"
    r"'re|\s+mean|\s+have\s+in\s+mind|\s+want|\s+refer|\s+had\s+in\s+mind)|"
    r"\bhelp\s+me\s+out\b|\btell\s+me\s+(?:the|your)\s+\w+\s+and\b|\b(?:some|or\s+(?:some|"
    r"an?))\s*other\s+\w+\?|"
    r"\b(?:in|of|from|at|by|for)\s+(?:which|what)(?:\s+\w+){0,2},?(?:\s+\w+)?\?|"
    r"^\W*(?:\w+\s+){1,4}who\?|^\W*(?:which|wich)\s+\w+(?:\s+\w+)?\?|"
    r"\b(?:does\s*n't|does\s+not|didn't|did\s+not)\s+(?:name|say|specify|mention|tell)\b|"
    r"(?<!of\s)\b(?:which|wich|what)\s+(?:one|1)s?\b(?!\s+(?:is|was|of\s+(?:the\s+)?(?:two|"
    r"three)\s+is)\b)|"
    r"(?:^|[:,—-]\s*|\b(?:but|and|so)\s+)(?:which|wich)\s+[A-Z][^?.]{0,50}\?|"
    r"\bmore\s+(?:context|details?|information|info|specifics)(?:,?\s+please|\s+(?:is|are)\s+"
    r"(?:needed|required|necessary)|\s+would\s+(?:help|be))|"
    r"^\W*(?:well,?\s+)?(?:that\s+|it\s+)?depends\b|"
    r"\b(?:do|did|are|what|who|which)\s+(?:\w+\s+){0,2}u\b(?:\s+(?:mean|talking|asking|"
    r"referring))?|"
    r"\b(?:would|could)\s+you\s+mind\s+(?:clarify|tell|specify|rephras|explain|giv|shar|say)ing|"
    r"\bwhat\s+exactly\s+(?:do|are|would)\s+you|\b(?:is|are)\s+(?:too\s+)?ambiguous\b|"
    r"\bambiguous\s+(?:question|name|query)|\bany\s+(?:\w+\s+)?(?:details|context|hints?|clues?)"
    r"(?=[^.]*\?)|\b(?:say|tell\s+me|specify|indicate)\s+(?:more|which)\b|\bnot\s+following\b|"
    r"\b(?:say|tell|explain)\s+(?:\w+\s+){0,2}(?:more\s+)?about\s+(?:who|what|which)\b|"
    r"\bin\s+which\s+sense|\bclarification\b|\bonce\s+(?:I\s+know|you\s+tell)\s+|"
    r"\bplease\s+(?:give|provide|state|name|add|indicate|send|supply)\b|\bhave\s+in\s+mind\b",
    re.I,
)
_TURN = regex(
    r"\W*(?:[A-Z]|user|assistant|interviewer|teacher|student|question|answer)\s?:\s+", re.I
)
_WHICH_OFFER = regex(r"\W*(?:which|what|who)\b(?!\s+else)", re.I)
#: Questions that state ignorance, which no one is to answer.
_RHETORICAL = regex(
    r"\W*(?:(?:well|honestly|but|and),?\s+)?(?:who\s+(?:really\s+)?knows|"
    r"how\s+(?:should|would|could)\s+(?:I|anyone)\s+know|"
    r"who\s+(?:can|could)\s+(?:say|tell)|who\s+am\s+I\s+to)\b",
    re.I,
)
#: "The book or the film?": alternatives that are no names.
_ALTERNATIVES = regex(
    r"\W*(?:(?:well|hmm|sorry|uh|ok|okay|is\s+(?:this|that|it)\s+about|"
    r"about),?\s+)*(?:(?-i:[A-Z])[\w'-]*,?\s+){0,3}the\s+(?-i:[a-z])[^?.!]{0,40}"
    r"\bor\s+(?:(?-i:[A-Z])[\w'-]*\s+)?(?:the\s+)?"
    r"(?:(?-i:[a-z])[\w'-]*\s?){1,4}\??\W*$",
    re.I,
)
#: "Hepatitis A, B or C?", "Do you want the city's or the county's?": a choice put to the user.
_KINDS = regex(r"\W*[A-Z]\w+\s+[A-Z](?:\s*,\s*[A-Z]\b)*,?\s+or\s+[A-Z]\W*\?")
_WISH = regex(
    r"\bdo\s+you\s+(?:want|need)\s+(?:the|an?|to\s+know)\b[^.?!]{1,80}\bor\b[^.?!]{1,60}\?", re.I
)
_START_WH = regex(
    r"\W*(?:(?:and|but|so|well|ok|okay|now|sorry|hmm),?\s+)?(?:(?:in|at|of|for|on|from|by)\s+(?=which|what|whose))?"
    r"(?:which|who|what|where|when|how|whose|"
    r"do\s+you|did\s+you|are\s+you|is\s+this|could\s+you|can\s+you)\b",
    re.I,
)


class Addressed(NamedTuple):
    """How a sentence speaks to the user.

    "ask" asks for what is needed to answer, "offer" offers more help, "question" only repeats what
    was asked, "guess" is an answer with a question mark. ``at`` is where an "ask" shows.
    """

    how: Literal["ask", "offer", "question", "guess"]
    at: int


def addressed(sentence: str, alone: bool) -> Addressed | None:
    """Return how the sentence speaks to the user, ``None`` if it does not.

    ``alone`` says that the answer has no other sentence: then any open question asks back.
    """
    speaker = _TURN.match(sentence)
    if speaker:
        found = addressed(sentence[speaker.end() :], alone)
        return found and Addressed(found.how, found.at + speaker.end())
    if _RHETORICAL.match(sentence):
        return None
    if _KINDS.match(sentence) or _WISH.search(sentence):
        return Addressed("ask", 0)
    if _OFFER.search(sentence) and not _WHICH_OFFER.match(sentence):
        return Addressed("offer", 0)
    asked = _ASKING.search(sentence)
    if asked:
        return Addressed("ask", asked.start())
    if _ALTERNATIVES.match(sentence) and (alone or is_question(sentence)):
        return Addressed("ask", 0)
    if not is_question(sentence):
        return None
    if _START_WH.match(sentence) or (_INVERTED.search(sentence) and _PICK.search(sentence)):
        back = alone or _TO_THE_USER.search(sentence) or _PICK.search(sentence)
        return Addressed("ask" if back else "question", 0)
    return Addressed("guess", 0)


def is_question(sentence: str) -> bool:
    """Whether the sentence ends with a question mark, quotes and brackets apart."""
    return sentence.rstrip("\"') ").endswith("?")


# ---- which sentences need no pattern: a cheap look at the openings of their words

_TOKEN = regex(r"[^\W_]+(?:'[^\W_]+)?|%|/|\?")

_SELF = "i i'm i'd i'll i've im ive id we we're we'd we'l we'v my me our us ai myse assi mode"
_NEGATION = "no not none noth nobo neve nor n't n a cann cant dont wont didn isnt wasn coul woul"
_MATRIX = """few vari nume diff unna scat popu loca onli anot anec unco unve cert prop posi
cred sour
webs arti blog fans expe hist scho rese scie astr docu obit crit fami legend lege belief
folk lore stat goes idea has got pla by shot see say fig theor figu reg gut pin sens deem
held pick choo cho opt call put exper inst rep atte vou quot writ spea doin toge feas feel
mem ment unsa indi hint note firs half look list reas like\nfair pret reas almo quit most
sure cert conf posi conv repu puta rumo spec sugg hint indi hear goss conj theo beli blei
bele gues gue thnk thik tink hunc susp impr assu lege folk trad poss chan like prob alle
talk tale clai stor word whis hypo say says said tell argu main asse insi cont thin thou
judg goin seem soun look appe feel conc plau impl unli apt if unle far know memo reca reme
reco unde gath read seen disa vary conf diff dive acco vers repo told moot cand fron mone
toss torn coin shot stab bet % / perc out fift half two- thre two less nowh hard scar by
bell odds supp once mind poin lean rely trus stak swea bank coun trea take hand use chec veri
fact cros doub need dim diml vagu fain hazi not 100 disp deba ques chal unpr unsu apoc
anec circ seco they peop othe seve many some one cita tbc to be low safe smar proo or band nois
    medi mode limi alte
wann gonn imma let' lets let shal answ cons esti rese stud evid reck inst comp betw surm
pres infe imag expe tent only work cavea worth want hint allu soun mayb it it's give best
educ roug wild firs isn' here"""
_DOUBT = """un unkn uncl unce unsp undi unav unre unco unve unde unfa unaw unsu unab unso unab litt
limi insu hard zero scan few spar scar dunn beat sear who know idk idek dk iono mind tip
dark beyo outs past abov doub deba disp unce conf disa ambi ques cont rese diff impo toug
esca elud evad slip your corr quot hold salt got lost blan leav news over clue stum pass
how lack inad sole only nowh this your you you' myst obsc murk scet sket anyo anyb open up
miss haze hazy fuzz spec mean tbh forg give draw fail igno stuc out less vagu miss
abse left note sour trai data file pape reco reac stay rema nev wish
rath inco inac avai memo dont enou tona"""
_REFUSAL = """priv conf rest clas prot sens poli guid rule inst guar sett prog cont usag safe
requ deni
decl refu reje bloc withheld reda remo unco comf resp viol brea goes agai due for lega
inap impr irre unet unwi unsa righ appr ethi off- off good cros mine outs beyo keep leav
copy inco busi poss lack medi pers iden inva answ filt desi set avoi refr let' lets resp
qual lice"""

_SILENT = "n't not no noth none neit sile ment leav empt blan pass posi gues myst clos draw drew"


def _words(*lists: str) -> frozenset[str]:
    return frozenset(w for part in lists for w in part.split())


GATES: Mapping[str, frozenset[str]] = {
    "matrix": _words(_SELF, _MATRIX) - {"to", "be", "it", "by", "two", "the?", "a"},
    "doubt": _words(_SELF, _NEGATION, _DOUBT) - {"a", "this"},
    "silent": _words(_SILENT),
    "refusal": _words(_SELF, _NEGATION, _REFUSAL) - {"a"},
}


def openings(text: str) -> frozenset[str]:
    """Return the first letters of the words of ``text``, with "n't" for a contracted negation."""
    found = set()
    for token in _TOKEN.findall(text.lower()):
        found.add(token[:4])
        if token.startswith("un") and len(token) > 5:
            found.add("un")
        if token.endswith(("n't", "nt")):
            found.add("n't")
        if token == "withheld":
            found.add(token)
    return frozenset(found)


# ---- whether an answer holds a value at all: words about knowing, rules and asking

_WORD = regex(r"[^\W_]+(?:['-][^\W_]+)*")

_NUMBERING = regex(r"^\W*\(?\d{1,2}[.)]\s")
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

_POLICY = regex(
    r"\b(?:privacy|private|polic(?:y|ies)|confidential\w*|guidelines?|permit\w*|permission|"
    r"allow(?:ed|s)?|authori[sz]ed|disclos\w+|divulg\w+|shar(?:e|ing)|discuss\w*|declin\w+|"
    r"refus\w+|den(?:y|ied)|reject\w*|(?:un)?comfortable|(?:in)?appropriate|(?:un)?ethical|"
    r"(?:ir)?responsible|sensitive|restrict\w*|redact\w*|withh\w+|comply|assist\w*|prohibit\w*|"
    r"respect\w*|violat\w+|safety|rules?|off-limits|secret|browse|browsing|consult\w*|"
    r"doctor|physician|lawyer|professional|advice|recommend|prefer\s+not|boundaries|"
    r"help\s+(?:you\s+)?with)\b",
    re.I,
)
_IGNORANT = regex(
    r"\b(?:know\w*|kno|idk|dunno|idea|clue\w*|remember\w*|recall\w*|information|info|data|"
    r"records?|memory|familiar|aware|sure|certain|heard|guess\w*|blank\w*|unknown|unclear|"
    r"unavailable|stumped|forg\w+|found|find|unable|mystery|lost|missing|lack\w*|insufficient|"
    r"uncertain|pass|nothing|escapes|eludes|available|documented|"
    r"recorded|public|n/?a|details?|say|tell|confirm|verify|help|answer)\b",
    re.I,
)
_NEGATIVE = regex(
    r"\b(?:no|not|nothing|none|nobody|never|nope|nah|without|un\w+|insufficient|lack\w*|beyond|"
    r"outside|\w+n't|(?:do|ca|wo|could|would|did|is|does|have)nt|cannot|blank|pass|idk|dk|dunno|"
    r"stumped|clueless|lost|missing|forg\w+|escapes|eludes|beats|search\s+me|mystery|fails?|"
    r"hard|difficult|impossible|limited|little|n/?a|zilch|nada|zero)\b|\?",
    re.I,
)
_ASKS_BACK = regex(
    r"\b(?:clarif\w+|specify|rephrase|you\s+mean|u\s+mean|which|wich|context|elaborate|"
    r"ambiguous|be\s+(?:more\s+)?specific)\b|^\W*(?:who|what|whom|huh|sorry)\W*\?|"
    r"\bwho\W*\?\W*$|^\W*(?:who|what)\s+(?:is|are|was|do|did)\b[^.]*\?",
    re.I,
)
_RULE = regex(
    r"\b(?:providing|sharing|disclos\w+|discussing|giving\s+out|reveal\w+|polic(?:y|ies)|privacy|"
    r"unsafe|harmful|illegal|dangerous|inappropriate|unethical|copyright\w*|private|business|"
    r"request|requests|safety|guidelines?|confidential|rights?|such\s+(?:information|details))\b",
    re.I,
)
_WORLD = regex(
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
_CONSULT = regex(
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
    if _ASKS_BACK.search(text):
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


# ---- the little English syntax that reaches need: clause openings and phrase edges

WORD = regex(r"[^\W_]+(?:['-][^\W_]+)*")
CONTRAST = regex(r"(?:but|although|though|even\s+though|albeit|however|yet|whereas|while)\b", re.I)
RELATIVE = regex(r"(?:who|whom|whose|which|where|when)\b", re.I)
LINK = regex(
    r"[\s,;:.!?()\"*—–-]*(?:(?:and|but|or|so|although|though|even\s+though|that|which|who|"
    r"where|when|"
    r"however|then|also|well|while|because|since|yet|oh|hmm|ok)\b[\s,]*)*",
    re.I,
)
BESIDE = regex(
    r"\b(?:is|was|are|were|am|be|been|being|has|had|have|will|would|did|does|do|can|could|"
    r"most|very|'s|'d)\s*$",
    re.I,
)
VERB_NEXT = regex(
    r"\s*(?:is|was|are|were|has|had|have|will|would|did|does|became|wrote|won|led|made|went|began|"
    r"[a-z]{2,}ed|born|lies|orbits|causes|comes|came|dates?|refers?|means?|stands?|took|takes|"
    r"spent|"
    r"works|lives|plays|held|got|met|sang|ran|grew|fell)\b"
)
WHETHER = regex(
    r"[\s,]*(?:about\s+|of\s+|on\s+)?(?:if|whether|that)\s+(?=[a-z]+\s+\w+|[A-Z])(?!this|is\b)"
)
WH_PART = regex(r"[\s,]*(?:(?:and|or|nor)\s+)?(?:who|when|where|what|how|which)\b", re.I)
WH_WORD = regex(r"\b(?:who|when|where|what|how|which)\b", re.I)
PREPOSITION = regex(r"\b(?:in|on|at|by|from|of|to|for|with|as|is|was|and)\s+(?=\S)", re.I)
WHOLE = regex(rf"\b{lexicon.WHOLE}\b", re.I | re.X)
REST = regex(rf"\b{lexicon.REST}\b", re.I | re.X)
CAUTION = regex(
    r"\b(?:wrong|mistaken|misremember|confus|mixing|off$|correct\s+me|quote\s+me|hold\s+me|salt)",
    re.I,
)
DEMONSTRATIVE = regex(
    r"\W*(?:(?:or|but|although|though|and)\s+)?(?:(?:so|that|this|it|these|those|which)\b|"
    r"at\s+least\b)",
    re.I,
)
NAMES = regex(r"(?<=\s)[A-Z]\w+(?<!AI)|\d")
SUBORDINATE = regex(
    r"\b(?:which|that|who|where|when|and|but|because|as|although|though|so|or),?\s*$", re.I
)
COMMA = regex(r",\s+(?=[a-z])")
KIND_FIRST = regex(r"(?:dates?|years?|places?|name|number|identity|authorship|origins?)\b", re.I)
THAT = regex(r"(?<=\w)\s(?:that|who|which)\s+$", re.I)
VERB = regex(r"\b(?:is|was|are|were|has|had|born|[a-z]{2,}ed)\b")
FAR = 200
NEW_SUBJECT = regex(r"(?:he|she|it|they|i|we)\b", re.I)
PARENTHETICAL = regex(
    r"\s*(?:(?:as|so|or|if|unless|from|to|at\s+least|like|though|although|but|by|what|the|"
    r"some|most|very|in|and|according)\s+){0,3}",
    re.I,
)
TOPIC = regex(
    r"\W*(?:\d{1,2}[.)]\s*)?(?:(?:but|and|however),?\s+)?(?:as\s+(?:to|for)|regarding|"
    r"concerning|about|on|"
    r"(?:by|of|from|to|for|in|at|with)\s+(?:whom?|what|which|whose)|how|why|"
    r"with\s+(?:regard|respect)|when\s+it\s+comes|in\s+terms|who|what|when|where|how|which|"
    r"whether)\b",
    re.I,
)
MACHINE = regex(
    r"\bas\s+an?\s+(?:AI|(?:large\s+)?language\s+model|assistant|chatbot|artificial|"
    r"virtual)\b|\bI(?:'m|\s+am)\s+(?:just\s+|only\s+)?an?\s+(?:AI|"
    r"(?:large\s+)?language\s+model)\b",
    re.I,
)
ACCESS = regex(
    r"\b(?:access|retrieve|browse|real-time|live|look\s+up|internet|databases?|opinions?|"
    r"feelings)\b",
    re.I,
)
ALTERNATIVES = regex(
    r"\b(?:whether|if)\b|\d\w*,?\s+or\s+(?:\w+\s+)?\d|[A-Z]\w+\s+or\s+(?:\w+\s+)?[A-Z]"
)
ANYTHING = regex(r"")
RELATIVE_FULL = regex(r"(?:which|who)\b", re.I)


def bare(text: str) -> str:
    """Strip connectors and punctuation from both ends."""
    link = LINK.match(text)
    return text[link.end() if link else 0 :].strip(" ,;:.!?()\"'*—–-")


def parenthesis(text: str, sentence: Span, start: int, end: int) -> Span | None:
    """The innermost parentheses of the sentence around ``start:end``, with the brackets."""
    low = text.rfind("(", sentence.start, start + 1)
    if low < 0 or text.find(")", low, start) >= 0:
        return None
    high = text.find(")", max(start, end - 1), sentence.end)
    return Span(low, sentence.end if high < 0 else high + 1)


def empty(words: str) -> bool:
    """Whether only generic words are left."""
    return all(w.lower() in GENERIC for w in WORD.findall(words))


#: Words that only judge what was said.
_VERDICT_WORDS = """100 above actually ago now long been while studied reflection hmm accounts
    accurate advisable against another appear appeared appears as
assume be
    been being believe believed best bet biographers care case caution certainty change
    changed checked checking claimed confidence confirmed confirming contested could date
    debated different disputed doubt doubted earlier entirely entry evidence experts fair
    false far feels figure figures first fully guess hearsay high historians house
    impression inaccurate it's item just last later least legend level life like likely
    looks low make many medium memory mistaken moderate money moon most mostly name need
    needs not number numbers off official one online only open others outdated partly
    percent place plausible please possible previous probable purely questioned rather
    rating read recalled recollection records reliable remembered reported rumor rumour said
    scholars score second seem seemed seems slightly so some somewhat somewhere sound sounds
    source sources speculation stake still suppose swear tentative tentatively that's think
    third thought told treat true two understanding unlikely unreliable verified verifying
    website well what's word worth would year years"""
_VERDICTS = frozenset(_VERDICT_WORDS.split())


def evaluates(words: str) -> bool:
    """Whether words only judge what was said: "which may not be accurate"."""
    return all(w in GENERIC or w in _VERDICTS for w in map(str.lower, WORD.findall(words)))


# ---- withholding where the speaker is not the subject: silent sources ("the records do not say
# when") and doubt about a text as a whole ("none of this is verified")

_TELL = r"""(?:say|tell|mention|reveal|state|specify|give|name|record|indicate|list|report|show
    |cover|contain|include|explain|identify|supply|provide|note|address|touch\s+on|go\s+into|help)"""
_TELLS = r"""(?:say|tell|mention|reveal|state|specifie|give|name|record|indicate|list|report|show
    |cover|contain|include|explain|identifie|supplie|provide|note|addresse|help)s?"""
#: What a speaker reads from.
_TEXT = rf"""(?:{lexicon.SOURCES}|material|notes?|literature|archives?|files?|data|information
    |pages?
    |what\s+I\s+(?:have|know|read|found|remember)|memory|knowledge|works?\s+I)"""
SILENT = marker(
    rf"""
      (?:do|does|did|can|could|will|would)\s*{NEG}\s+(?:\w+\s+)?{_TELL}\b
    | (?:is|are|was|were|stays?|remains?|kept|keeps?)\s+(?:\w+\s+)?silent\s+(?:on|about|as\s+to
        |regarding)\b
    | makes?\s+no\s+mention\s+of\b | leaves?\s+(?:out|open|unsaid|unanswered)\b
    | (?:has|have)\s+nothing\s+(?:to\s+say\s+)?(?:on|about)\b
    """
)
#: The same where nothing at all is the subject: "nothing I have read gives her birth date".
NOTHING = marker(
    rf"""(?:nothing|none\s+of|no\s+{lexicon.SOURCES}|neither\s+of)(?=\s)(?:\s+[\w']+){{1,7}}?\s+{_TELLS}\b
    """
)
#: The speaker's own empty search.
EMPTY = marker(
    r"""
      (?:came|come|coming|drew|draw|end(?:ed)?)\s+(?:up\s+)?(?:empty(?:-handed)?|blank
        |with\s+nothing)\b(?:\s+on)?
    | (?:seen|read|found|heard|learned|got|saw|know|have)\s+nothing\s+(?:on|about|of|regarding)\b
    | in\s+no\s+position\s+to\s+(?:say|tell|name|state|give|judge)\b
    | (?:must|have\s+to|need\s+to|will|'ll|shall)\s+(?:have\s+to\s+)?pass\s+on\b
    | (?:mere\s+|pure\s+|sheer\s+)?guesswork\s+to\s+(?:say|tell|name|state|give)\b
    | (?:a|is|remains?)\s+(?:complete\s+)?(?:blank|mystery|closed\s+book)\s+to\s+me\b
    """
)
_FROM = regex(rf"\b{_TEXT}\b", re.IGNORECASE | re.VERBOSE)
_I = regex(r"\b(?:I|I'm|I've|me|my|we|our)\b")


def reads(before: str) -> bool:
    """Whether the words before "does not say" are about a text that the speaker reads from."""
    return bool(_FROM.search(before) or _I.search(before))


def speaks(sentence: str) -> bool:
    """Whether a sentence is about the speaker or a source."""
    return bool(_I.search(sentence) or _FROM.search(sentence))


_EVERYTHING = regex(
    r"\bthroughout\b|\b(?:everything|all|none|nothing|any|whatever|parts?|much|most|some)\s+(?:of\s+)?(?:(?:this|"
    r"that|these|those|it|them|what|which|I|the\s+(?:following|above|below|rest|foregoing)|below|"
    r"above|here|written|stated|said|follows|comes|my)\b|that\s+follows)|\bwhat\s+(?:follows|comes|"
    r"I\s+(?:say|write|state|give|said|wrote|gave))\b|\beverything\b|\b(?:the|all)\s+(?:following|"
    r"above|below|foregoing)\b|\b(?:these|those|the|my|all)\s+(?:\w+\s+)?(?:statements|lines|"
    r"sentences|notes|details|facts|claims|points|answers?|data|particulars|information)\b|"
    r"\b(?:this|the)\s+(?:whole\s+|entire\s+|above\s+)?(?:text|paragraph|answer|summary|account|"
    r"sketch|description|information|entry|profile|portrait)\b",
    re.I,
)
_SHAKY = regex(
    r"\b(?:loosely|limb|limited|iffy|rusty|wobbly|foggy|murky|fuzzy|muddled|half-\w+|misremember\w*|conflat\w+|"
    r"mixing|confus\w+|hesita\w+|reluctan\w+|re-?check|double-?check|suspect|bet|stake|bank|"
    r"guess\w*|memory|recollection|caution|cautiously|salt|unverified|unconfirmed|unchecked|"
    r"uncertain|unsure|doubtful|doubts?|off|wrong|mistaken|errors?|mistakes?|inaccura\w+|"
    r"tentative\w*|provisional\w*|hazy|vague\w*|shaky|unreliable|speculative|speculation|"
    r"hearsay|check(?:ing)?|verify|verification|verifying|confirmation|reservations?|outdated|"
    r"incomplete)\b|"
    r"\b(?:not|no|none|nothing|never|cannot|hardly|without|[a-z]+n't|nor)\b(?:\W+\w+){0,8}?\W+"
    r"(?:certain|certainty|sure|checked|verified|confirmed|confident|confidence|vouch|guaranteed?|"
    r"established|reliable|fact|facts|definite|sourced|trust|trusted|correct|right|accurate|"
    r"rely|swear)\b",
    re.I,
)
_PASSED = regex(
    r"\b(?:well\s+(?:documented|established|known)|no\s+doubts?|without\s+(?:a\s+|any\s+)?doubts?|"
    r"beyond\s+doubt|(?:been|was|were|have|has)\s+(?:double-?\s?)?(?:checked|verified))\b",
    re.I,
)
_FILL = regex(
    r"\b(?:haven't|hasn't|hadn't|room|error|there|bear|keep|aware|warned|warning|word|loosely|roughly|recalled|limb|out|situation|state|position|hazy|dim|poor|patchy|throughout|working|work|relying|iffy|rusty|wobbly|foggy|murky|fuzzy|muddled|half-\w+|"
    r"misremember\w*|conflat\w+|mixing|mix|up|two|confus\w+|hesita\w+|reluctan\w+|re-?check|"
    r"suspect|bet|stake|bank|figures?|dates?|years?|places?|names?|ones?|numbers?|spelling|"
    r"anyone|nobody|someone|shouldn't|wouldn't|hold|quote|part|bit|little|less|than|very|solid|"
    r"firm|sound|safe|hard|last|first|though|admittedly|mind|must|need|needs|warrants?|deserves?|"
    r"second|look|too|much|weight|put|on|myself|me|own|go|going|house|feel|remain|remains|follows?|following|below|text|paragraph|statements?|lines?|sentences?|sketch|"
    r"description|portrait|profile|handle|regard|treat|consider|take|read|use|nothing|guesses|"
    r"guesswork|written|writing|write|wrote|vague|vaguely|dimly|faint|shaky|piece|together|"
    r"cautious\w*|"
    r"recollect\w*|recall|recalled|errors?|contain|contains|unchecked|checked|vouch|rely|relied|"
    r"accuracy|double|hedged|provisional\w*|tentative\w*|outdated|incomplete|unconfirmed|"
    r"reservations?|swear|trust|established|merely|memories|salt|grain|pinch|notes?|foregoing|"
    r"gave|stated|based|solely|only|any|mistakes?|sourced|definite|official|independent\w*|"
    r"verification|confirmation|before|relying|using)\b",
    re.I,
)


def shaky(text: str) -> bool:
    """Whether a stretch has a word of doubt that nothing takes back."""
    return bool(_SHAKY.search(text)) and not (
        _PASSED.search(text) and not re.search(r"\b(?:not|n't|none|nothing|never)\b", text, re.I)
    )


_ME = regex(r"\b(?:I|me|my|mine|myself)\b")
_FIRM = regex(
    r"\b(?:sure|certain\w*|confident|confirm\w*|positive|know|knew|clear|convinced|promise|assure|guarantee|"
    r"definite\w*|doubt|checked|verified|hope|help\w*|happy|glad|let|please|you|your|mention\w*|"
    r"add|note|sorry|thanks?|love|like|enjoy\w*|recommend|more|else|other|further|share|tell|"
    r"must|find|found|looked|saw|visited|met|own|everything|all|provide|discuss|answer|said|listed|gave|above|below)\b",
    re.I,
)


def remarks(text: str) -> bool:
    """Whether a short stretch is the speaker's own remark and vouches for nothing.

    Nobody comments on a value in the first person without either vouching for it or doubting it:
    "I'm going out on a limb there".
    """
    return (
        bool(_ME.search(text))
        and len(text) < 90
        and not _FIRM.search(text)
        and not re.search(r"\d", text)
    )


def questions_itself(text: str, known: AbstractSet[str], cues: AbstractSet[str]) -> bool:
    """Whether a stretch says nothing but how far something is to be relied on.

    ``known`` are the lower-case words of the question, ``cues`` the stems that name the aspect;
    both add nothing.
    """
    rest = map(str.lower, _WORD.findall(_FILL.sub(" ", text)))
    words = [w for w in rest if w.removesuffix("'s") not in known and stem(w) not in cues]
    return evaluates(" ".join(words))


def disclaimer(text: str, sentence: Span) -> Span | None:
    """Return the stretch of a sentence that disclaims the text as a whole, if there is one."""
    if not _EVERYTHING.search(text, *sentence):
        return None
    if _disclaims(text[sentence.start : sentence.end]):
        return sentence
    for piece in _PIECE.finditer(text, *sentence):
        if _disclaims(piece.group()):
            return Span(*piece.span())
    return None


_PIECE = regex(r"[^,;:()—]+")


def _disclaims(words: str) -> bool:
    """Whether a stretch says nothing but that the text as a whole is not to be relied on."""
    if not _EVERYTHING.search(words) or not _SHAKY.search(words):
        return False
    if _PASSED.search(words) and not re.search(r"\b(?:not|n't|none|nothing|never)\b", words, re.I):
        return False
    return evaluates(_FILL.sub(" ", words))


# ---- where the words stand that weaken, withhold or refuse a claim

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


#: "Most likely Ripley" is an adverb beside a value; "most likely that ..." takes a clause.
_LIKELY = regex(r"(?:most|more|very|quite|highly|fairly|less)\s+likely\b", re.IGNORECASE)
_CLAUSE_NEXT = regex(r"\s+(?:that|to)\b", re.IGNORECASE)
_DETERMINER = regex(r"\b(?:the|an?|its|his|her|their|my)\s+$", re.IGNORECASE)
_FIRST_PERSON = regex(r"\b(?:I|I'm|me|my|we)\b")
#: A sentence with more markers is noise.
_MOST = 64


def masks(text: str, names: tuple[str, ...] = ()) -> list[Span]:
    """Return the stretches in which no marker counts: quotations, titles, names, boosters."""
    found = [Span(*m.span()) for m in lexicon.BOOSTER.finditer(text)]
    found += [
        Span(*m.span())
        for m in lexicon.QUOTE.finditer(text)
        if m.end() - m.start() < 0.8 * len(text)
    ]
    found += [Span(*m.span()) for m in lexicon.TITLE_WORD.finditer(text)]
    for name in names:
        at = text.find(name)
        while at >= 0 and len(found) < 1000:
            found.append(Span(at, at + len(name)))
            at = text.find(name, at + len(name))
    return found


def names_with_markers(names: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the names (titles, golds) in which a marker could be found by mistake."""
    return tuple(name for name in names if len(name) > 2 and lexicon.TRIGGER.search(name))


def find(text: str, sentence: Span, names: tuple[str, ...] = ()) -> list[Found]:
    """Return the markers of one sentence (plain text), in order, without overlaps.

    Where classes overlap, the stronger reading wins: refusals and statements of ignorance before
    beliefs, beliefs before modals and adverbs.
    """
    part = text[sentence.start : sentence.end]
    taken = masks(part, names)
    found: list[Found] = []
    first = openings(part)
    for kind, pattern, gate in _CLASSES:
        if gate and first.isdisjoint(GATES[gate]):
            continue
        for hit in pattern.finditer(part):
            start, end = hit.span()
            if any(start < high and end > low for low, high in taken):
                continue
            if pattern is SILENT and not reads(part[:start]):
                continue
            if gate == "silent":
                ruled = lexicon.RULES.search(part) and _FIRST_PERSON.search(part[:start])
                real: Kind | None = "refusal" if ruled else kind
            else:
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
    if kind in ("doubt", "predicate") and lexicon.CONDITION.search(left):
        return None
    if kind == "doubt" and part[start:end].strip() and not lexicon.MINE.search(left):
        return None
    if kind in ("predicate", "doubt") and states_unknown(part) and not _FIRST_PERSON.search(part):
        return None
    if kind == "predicate":
        if lexicon.PERSON.search(left):
            return None
        if lexicon.WEAK_UNKNOWN.search(part[start:end]) and not lexicon.INFORMATION.search(
            part[:end]
        ):
            return None
    if kind == "refusal":
        if re.match(r"(?:for|due|because|out|protect|respect)\b", part[start:end], re.IGNORECASE):
            return kind if re.search(r"\b(?:I|I'm|we|AI|policy)\b", part) else None
        if lexicon.STANDING.search(part[start:end]):
            return kind
        cannot = lexicon.REFUSING.match(part[start:end])
        if cannot and not lexicon.MINE.search(left):
            return None
        if cannot and not lexicon.RULES.search(part) and lexicon.KNOWING.search(part[start:]):
            return "doubt"
    if kind == "matrix" and _LIKELY.match(part, start) and not _CLAUSE_NEXT.match(part, end):
        return kind if _DETERMINER.search(left) else "adverb"
    return kind


_CLASSES: tuple[tuple[Kind, re.Pattern[str], str], ...] = (
    ("disclaimer", lexicon.DISCLAIMER, ""),
    ("refusal", lexicon.REFUSAL, "refusal"),
    ("doubt", lexicon.SELF_DOUBT, "doubt"),
    ("predicate", lexicon.ANY_DOUBT, "doubt"),
    ("predicate", lexicon.PREDICATE, "doubt"),
    ("predicate", SILENT, "silent"),
    ("predicate", NOTHING, "silent"),
    ("doubt", EMPTY, "silent"),
    ("matrix", lexicon.MATRIX, "matrix"),
    ("modal", lexicon.MODAL, ""),
    ("adverb", lexicon.ADVERB, ""),
    ("adjective", lexicon.ADJECTIVE, ""),
    ("choice", lexicon.CHOICE, ""),
)


# ---- what a marker of doubt reaches


class Hedge(NamedTuple):
    """Words that weaken every claim whose value lies in ``low:high``."""

    start: int
    end: int
    low: int
    high: int


def _run(text: str, parts: tuple[Span, ...], i: int) -> int:
    """The end of the clauses that follow clause ``i`` without a contrast."""
    if RELATIVE.match(text, parts[i].start) and i:
        return parts[i].end
    for previous, part in pairwise(parts[i:]):
        between = text[previous.end : part.start]
        if (
            ";" in between
            or NEW_SUBJECT.match(text, part.start)
            or "—" in between
            or " - " in between
            or CONTRAST.match(text, part.start)
        ):
            return previous.end
    return parts[-1].end


def weaken(text: str, sentence: Span, parts: tuple[Span, ...], mark: Found) -> Hedge:
    i = max(k for k, part in enumerate(parts) if k == 0 or part.start <= mark.start)
    clause = parts[i]

    def reach(low: int, high: int) -> Hedge:
        return Hedge(mark.start, mark.end, low, high)

    inside = parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        rest = text[inside.start : mark.start] + " " + text[mark.end : inside.end]
        ahead = _AHEAD.search(text, clause.start, inside.start) or _ONWARD.match(text, inside.end)
        if empty(rest) and ahead:
            return reach(inside.start, clause.end)
        if empty(rest):
            return reach(phrase_start(text, clause.start, inside.start), inside.end)
        return reach(inside.start, inside.end)
    if (
        i
        and (DEMONSTRATIVE.match(text, clause.start) or mark.kind == "matrix")
        and not NAMES.search(text, clause.start, clause.end)
        and evaluates(text[clause.start : mark.start] + " " + text[mark.end : clause.end])
    ):
        return reach(parts[i - 1].start, clause.end)
    if i and _OR_ELSE.match(text, clause.start) and mark.kind in ("modal", "adverb", "choice"):
        return reach(parts[i - 1].start, clause.end)
    relative = THAT.search(text, clause.start, mark.start)
    if (
        relative
        and relative.end() == mark.start
        and mark.kind in ("modal", "adverb", "matrix")
        and bare(text[clause.start : relative.start()])
    ):
        return reach(relative.start(), clause.end)
    lead = SUBORDINATE.search(text, clause.start, mark.start)
    if (
        lead
        and lead.end() == mark.start
        and i + 1 < len(parts)
        and empty(text[mark.end : clause.end])
    ):
        return reach(
            clause.start if not bare(text[clause.start : lead.start()]) else mark.start,
            parts[i + 1].end,
        )
    before = bare(text[clause.start : mark.start])
    after = bare(text[mark.end : clause.end])
    if mark.kind == "choice":
        return reach(mark.start, phrase_end(text, mark.start, clause.end, joined=True))
    if empty(after) and empty(before):
        if i == 0:
            return reach(sentence.start, _run(text, parts, 1) if len(parts) > 1 else sentence.end)
        return reach(parts[i - 1].start, clause.end)
    if before and _between_commas(text, clause, mark):
        return reach(clause.start, clause.end)
    if mark.kind == "matrix":
        if not after or (
            before
            and re.match(r"[\s]*,", text[mark.end :])
            and "," in text[mark.start - 2 : mark.start]
        ):
            return reach(clause.start, clause.end)
        return reach(clause.start, _run(text, parts, i))
    if mark.kind == "modal":
        return reach(clause.start, clause.end)
    if not before and i == 0:
        return reach(clause.start, _run(text, parts, i))
    if not before:
        aside = text[sentence.start : clause.start].rstrip().endswith(",") and not VERB_NEXT.match(
            text, mark.end
        )
        comma = COMMA.search(text, mark.end + 1, clause.end) if aside else None
        if (
            aside
            and i == 1
            and not PREPOSITION.match(text, mark.end + 1)
            and _bare_value(text, parts[0])
        ):
            return reach(parts[0].start, clause.end)
        return reach(clause.start, comma.start() if comma else clause.end)
    other = re.search(r",?\s*\bor,?\s*$", text[clause.start : mark.start])
    if other and after:
        at = clause.start + other.start()
        return reach(phrase_start(text, clause.start, at), phrase_end(text, mark.end, clause.end))
    if not after:
        return reach(clause.start, clause.end)
    if mark.kind == "adverb" and (
        BESIDE.search(text, clause.start, mark.start) or VERB_NEXT.match(text, mark.end)
    ):
        return reach(_after_inserted(text, clause.start, mark.start), clause.end)
    high = clause.end
    if text[clause.start : mark.start].rstrip().endswith(","):
        comma = COMMA.search(text, mark.end + 1, clause.end)
        high = comma.start() if comma else clause.end
    elif mark.kind == "adverb" and not _OWNED.search(text, clause.start, mark.start):
        high = phrase_end(text, mark.end, clause.end)
    return reach(mark.start, high)


def _after_inserted(text: str, low: int, at: int) -> int:
    """Where the part of a clause begins that "was probably" reaches: ", born in 1950, | was"."""
    inserted = _INSERTED.search(text, low, at)
    return inserted.end() if inserted else low


_INSERTED = regex(
    r",\s+(?:born|[a-z]{2,}ed|built|written|made|known|led)\b[^;()]{3,120},(?=\s+\w+\s)", re.I
)


def phrase_end(text: str, at: int, high: int, joined: bool = False) -> int:
    """Where the phrase that begins at ``at`` ends: before the next verb, preposition or comma.

    With ``joined``, not before an "or" has been passed: "either in Ripley or in Derby".
    """
    floor = at
    if joined:
        second = _OR.search(text, at, high)
        floor = second.end() if second else at
    for edge in _EDGE.finditer(text, floor, high):
        if WORD.search(text, floor, edge.start()):
            return edge.start()
    return high


def phrase_start(text: str, low: int, at: int) -> int:
    """Where the phrase that ends at ``at`` begins; "Ann Roe and Jon Kemp" is one phrase."""
    start = low
    for edge in _EDGE.finditer(text, low, at):
        if bare(text[edge.start() : at]):
            start = edge.start()
    return start


def _bare_value(text: str, part: Span) -> bool:
    """Whether a clause is a value without a verb: "Around a dozen, maybe 12"."""
    return (
        len(WORD.findall(text, *part)) <= 4
        and not VERB.search(text, *part)
        and not PREPOSITION.match(text.lower(), part.start)
        and not NEW_SUBJECT.match(text, part.start)
    )


def _between_commas(text: str, clause: Span, mark: Found) -> bool:
    """Whether the marker stands in a stretch set off by commas inside its clause."""
    comma = text.rfind(",", clause.start, mark.start)
    if comma < 0 or not PARENTHETICAL.fullmatch(text, comma + 1, mark.start):
        return False
    end = text.find(",", mark.end - 1, clause.end)
    return (0 <= end - mark.end < 40 and mark.kind in ("matrix", "doubt")) or end == mark.end


#: "Her likely birthplace is ..." says how likely the whole statement is.
_OWNED = regex(r"\b(?:the|her|his|its|their)\s*$", re.I)
#: "..., or it may have been Clara Hahn": the first alternative is as open as the second.
_OR_ELSE = regex(
    r"\W*or\s+(?:(?:he|she|it|they|that|this)\s+)?(?:may|might|could|perhaps|maybe)\b", re.I
)
_OR = regex(r"\bor\s+(?:(?:maybe|perhaps|possibly|in|on|at|by|from)\s+)*", re.I)
#: Where a noun phrase cannot go on.
_EDGE = regex(
    rf"\sand\s+(?={PRESENT})|"
    r",(?!\s+(?:\d{4}\b|and\b|or\b))\s|\s(?:in|on|at|by|for|from|with|since|ever|after|before|"
    r"while|who|which|that|until|to|is|was|are|were|has|had|have|became|found|led|made|took|"
    r"play|plays|brought|gave|lent|met|won|held|wrote|began|sits|lies|belongs|stands|as(?!\s+"
    r"well\b)(?<!well as)|and\s+(?=later|then|its|his|her|their|also|was|is|it|he|she|has|had|"
    r"[a-z]+ed\b)|[a-z]{2,}ed)\b"
)
#: What stands before a parenthesis that qualifies the words after it: "was (possibly) Ann".
_AHEAD = regex(
    r"\b(?:is|was|are|were|be|been|by|in|at|on|of|to|from|for|the|an?|and|or|with|as)\s*$", re.I
)
_ONWARD = regex(r"\s+(?:in|on|at|by|from|of|to|as|an?|the)\s", re.I)


# ---- what a statement of ignorance, a refusal or a caution reaches, and what it leaves unsaid

GapKind = Literal["ignorance", "refusal", "caution", "rest", "scant"]


class Gap(NamedTuple):
    """A statement of ignorance, a refusal, or a caution ("please verify this", "I may be wrong").

    ``about`` is the text in which it may name aspects; ``low:high`` what it reaches when it names
    none (the whole answer when ``whole``). ``silent`` is the stretch that asserts nothing.
    """

    kind: GapKind
    start: int
    end: int
    about: str
    low: int
    high: int
    whole: bool
    silent: Span


def withhold(
    text: str,
    where: tuple[tuple[Span, ...], ...],
    s: int,
    sentence: Span,
    mark: Found,
    before: Span | None,
) -> Gap | None:
    """Resolve a statement of ignorance or a refusal in sentence ``s``."""
    parts = where[s]
    i = max(k for k, part in enumerate(parts) if k == 0 or part.start <= mark.start)
    clause = parts[i]
    low, high = clause
    last = i
    if WH_PART.match(text, mark.end) or WH_PART.search(text, mark.end, clause.end):
        while last + 1 < len(parts) and WH_PART.match(text, parts[last + 1].start):
            last += 1
            high = parts[last].end
    if RELATIVE_FULL.match(text, clause.start) and "," in text[mark.end : high]:
        high = text.index(",", mark.end)
    inside = parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        low, high = inside
        if NAMES.search(text, low, mark.start):
            low = max(low, text.rfind(",", low, mark.start) + 1)
    if i and re.match(r"\W*unlike\b", text[parts[i - 1].start : parts[i - 1].end], re.I):
        return None
    left = text[low : mark.start]
    if re.search(r"\bwhose\s+[\w\s']{1,30}$", left, re.I) and not left.lower().startswith("whose"):
        return None
    if i and RELATIVE.match(left) and text[sentence.start : low].rstrip().endswith(","):
        left = left.partition(" ")[2]
    quiet = _quiet(text, low, mark, high)
    if quiet.start > low and ":" not in left and _VALUE_FIRST.match(left):
        left = text[quiet.start : mark.start]
    about = left[-FAR:] + " " + text[mark.end : min(quiet.end, mark.end + FAR)]
    if KIND_FIRST.match(text, mark.start, mark.end):
        about += " " + text[mark.start : mark.end]
    first = i
    while (
        first
        and inside is None
        and (empty(WH_WORD.sub(" ", about)) or not holds_new(about, frozenset(), frozenset()))
        and _is_topic(text, parts[first - 1])
    ):
        first -= 1
        low = parts[first].start
        about = text[low : parts[first].end] + ", " + about
    if _IT_HOLDS.match(text, mark.end):
        about = ""
    kind: GapKind = "ignorance"
    if mark.kind == "refusal" or (
        MACHINE.search(text, sentence.start, sentence.end) and ACCESS.search(text, *sentence)
    ):
        kind = "refusal"
    elif mark.kind == "disclaimer" or CAUTION.search(text, mark.start, mark.end):
        kind = "caution"
    words = bare(about)
    whether = WHETHER.match(text, mark.end)
    if mark.kind == "predicate" and ALTERNATIVES.search(about):
        silent_end = mark.start if whether is None else mark.end
        low, high = (low, high) if whether else (mark.start, mark.end)
        whether = whether or ANYTHING.match(text, silent_end)
    silent = _quiet(text, low, mark, mark.end if whether else high)
    everything = bool(WHOLE.search(words))
    if kind == "caution":
        everything = everything or bool(WHOLE.search(text, *sentence))
    if kind == "ignorance" and REST.search(_ELSE.sub(" ", text[mark.start : high])):
        kind = "rest"
    elif kind == "ignorance" and _SCANT.search(text, mark.start, high):
        kind = "scant"
    reach = _reach(text, parts, i, last, before, inside)
    return Gap(kind, mark.start, mark.end, about, *reach[:2], everything or reach[2], silent)


#: A value, not a topic: "Ripley, not certain though".
_VALUE_FIRST = regex(
    r"\W*(?!(?:the|her|his|its|their|my|as|about|for|on|where|when|who|what|which|how|this|that|"
    r"regarding|sorry|well|honestly|unfortunately|i|it|she|he|they)\b)(?:(?-i:[A-Z\d])|[a-z]+\W*$)",
    re.I,
)


#: Doubt about a clause as a whole: "though I'm not positive that it is the usual drug".
_ELSE = regex(r"\b(?:some|any)(?:one|body|where)\s+else\b", re.I)
_IT_HOLDS = regex(
    r"[\s,]*(?:of\s+|about\s+)?(?:if|whether|that)\s+(?:it|this|that)(?:'s|\s+is|\s+was|"
    r"\s+are)\b",
    re.I,
)


#: Too little is known of the whole subject: that takes nothing back of what is then said.
_SCANT = regex(
    r"\b(?:much|a\s+lot|a\s+great\s+deal|many\s+details|little|limited|a\s+complete\s+\w+)\s*"
    r"(?:(?:of\s+)?(?:information|data|material)\s*)?(?:(?:is|has\s+been|was|seems)\s+(?:\w+\s+)?)?"
    r"(?:(?:known|recorded|written|documented)\s*)?(?:\b(?:on|about|regarding|concerning|"
    r"of)\s+(?:the\s+|this\s+)?"
    r"(?:[A-Z]|him\b|her\b|it\b|them\b|this\b|that\b)|[.,;]|$)"
)


_ENDS = regex(
    r"(?:\s+(?:to\s+it|on\s+it|about\s+it|of\s+it|of\s+that|to\s+that|any\s*more|now|though|"
    r"tho|sorry|really|here|lol|tbh|honestly|on\s+this\s+one|about\s+this\s+one|about\s+that|"
    r"about\s+this|on\s+that|exactly|either|at\s+all|"
    r"yet|personally|right\s+now))*\s*(?:,|\.\.+|-|—|:|…)\s*(?!(?:to\s+be|sorry|when|where|who|"
    r"what|which|how|"
    r"whether|if|about|on|of|as|I'm\s+afraid|unfortunately|though|but|and|or|nor|so)\b)(?=\w)"
    r"|(?:\s+(?:sorry|lol|tho|tbh))*\s+(?=(?:maybe|perhaps|possibly|probably|prob|prolly|mayb)\b)",
    re.I,
)


#: "Not sure about the period, 4 to 10 days perhaps", "who runs it (Ann Bo, possibly)".
_VALUE_AFTER = regex(
    r",\s+(?=(?:an?\s+|the\s+|about\s+|around\s+)?[^,;.]{1,40}?\s(?:perhaps|maybe|possibly|"
    r"probably|I'd\s+say|I\s+(?:think|guess|believe|suppose))\b)|"
    r"\s\((?=[^()]{0,60}(?:[A-Z]\w|\d)[^()]{0,60}(?:perhaps|maybe|possibly|probably|\?|"
    r"I\s+(?:think|guess|believe)|guess))|"
    r"\s\((?=(?:perhaps|maybe|possibly|probably|I\s+(?:think|guess))\b)",
)
_SPEAKER = regex(
    r"(?:(?:but|though|although|and|so)\s+)?(?:(?:I|we|i'?m|im)(?:'m|\s+am|'ve|\s+have|\s+do|"
    r"\s+can|\s+could)?"
    r"(?:\s+\w+ly)?\s*|(?:lol|tbh|but|though|um|uh)\s*)$",
    re.I,
)


_NOUN_BEFORE = regex(
    r"(?:\b(?:in|at|from|on|by|with|for|to)\s+)?\b(?:an?|some)\s+(?!question|detail|thing|fact|"
    r"matter|point|mystery|topic|subject|piece|date\b|year\b)(?:\w+\s+){1,2}(?:that\s+|"
    r"which\s+|whose\s+\w+\s+)?(?:I|we)?"
    r"(?:\s+(?:am|have|do))?\s*$",
    re.I,
)


def _is_topic(text: str, part: Span) -> bool:
    """Whether a clause only names what the next one is about: "3. Her religion: ..."."""
    if TOPIC.match(text, part.start):
        return True
    return ":" in text[part.start : part.end + 2] and not VERB.search(text, *part)


def _quiet(text: str, low: int, mark: Found, high: int) -> Span:
    """What of ``low:high`` asserts nothing: a value before or after a comma still counts."""
    if mark.kind == "disclaimer":
        comma = text.rfind(",", low, mark.start)
        return Span(comma if comma > low else low, high)
    if mark.kind in ("doubt", "predicate"):
        after = _ENDS.match(text, mark.end, high)
        if after:
            high = after.end()
        value = _VALUE_AFTER.search(text, mark.end, high)
        if value:
            high = min(high, value.start())
        noun = _NOUN_BEFORE.search(text, low, mark.start) if mark.kind == "doubt" else None
        left = _SPEAKER.sub("", text[low : mark.start]).rstrip(" ")
        casual = text[low:high].islower() and bool(re.search(r"\b(?:lol|tbh|tho)$", left))
        if noun:
            low = noun.start()
        elif (left.endswith((",", "...", ":", "-")) or casual) and not TOPIC.match(left):
            low += len(left)
    return Span(low, high)


def _reach(
    text: str, parts: tuple[Span, ...], i: int, last: int, before: Span | None, inside: Span | None
) -> tuple[int, int, bool]:
    """What a gap that names no aspect reaches: (low, high, whole answer)."""
    if inside is not None and inside.start > parts[0].start:
        holder = max(k for k, part in enumerate(parts) if k == 0 or part.start < inside.start)
        return phrase_start(text, parts[holder].start, inside.start), inside.start, False
    if RELATIVE_FULL.match(text, parts[i].start):
        return parts[0].start, parts[-1].end, False
    left = bare(text[parts[0].start : parts[i].start])
    if i and not empty(left):
        low = parts[0].start
        for previous, part in pairwise(parts[:i]):
            if ";" in text[previous.end : part.start]:
                low = part.start
        return low, parts[i].start, False
    if last + 1 < len(parts):
        return parts[last + 1].start, parts[-1].end, before is None and _colon(text, parts, last)
    if before is None:
        return parts[0].start, parts[-1].end, True
    return before.start, before.end, False


def _colon(text: str, parts: tuple[Span, ...], last: int) -> bool:
    return ":" in text[parts[last].end - 1 : parts[last + 1].start]


def alone(gap: Gap, reach: Span, first: bool) -> Gap:
    """A gap whose sentence asserts nothing: about the one before, at the beginning about all."""
    return gap._replace(low=reach.start, high=reach.end, whole=gap.whole or first)


class Reading(NamedTuple):
    """A text with its sentences, clauses and everything in it that weakens or withholds."""

    text: str
    sentences: tuple[Span, ...]
    clauses: tuple[tuple[Span, ...], ...]
    hedges: tuple[Hedge, ...]
    gaps: tuple[Gap, ...]
    questions: tuple[Span, ...]
    asks: tuple[Span, ...]

    def hedged(self, start: int, end: int) -> bool:
        """Whether a hedge reaches the characters ``start:end``."""
        return any(h.low < end and start < h.high for h in self.hedges)

    def silent(self, start: int, end: int) -> bool:
        """Whether ``start:end`` lies where nothing is asserted."""
        return any(s.start <= start and end <= s.end for s in self.silences())

    def silences(self) -> list[Span]:
        """The stretches that assert nothing: ignorance, refusals, questions back."""
        return [g.silent for g in self.gaps] + list(self.questions)


def _only_judges(text: str, sentence: Span, marked: list[Span]) -> bool:
    """Whether a sentence says nothing but how sure another one is: "Just a guess."."""
    kept, at = [], sentence.start
    for mark in marked:
        kept.append(text[at : mark.start])
        at = max(at, mark.end)
    rest = " ".join([*kept, text[at : sentence.end]])
    mine = _MINE.search(text, *sentence)
    if _AT_LEAST.match(text, *sentence):
        return True
    return questions_itself(rest, frozenset(), frozenset()) or (
        mine is not None and not holds_new(rest, frozenset(), frozenset())
    )


def _joined(gaps: list[Gap], sentence: Span) -> list[Gap]:
    """Let a bare "because I don't know" be about what the sentence's other gaps name."""
    here = [g for g in gaps if g.start >= sentence.start]
    named = [g for g in here if not empty(WH_WORD.sub(" ", g.about))]
    if len(here) < 2 or not named or any(g.kind == "refusal" for g in here):
        return gaps
    return [
        g._replace(about=named[0].about, whole=named[0].whole)
        if g in here and g.kind == "ignorance" and empty(WH_WORD.sub(" ", g.about))
        else g
        for g in gaps
    ]


def _beside_value(text: str, sentence: Span, gap: Gap) -> bool:
    """Whether a gap is a bare comment in parentheses behind a value: "Derby (unconfirmed)"."""
    inside = parenthesis(text, sentence, gap.start, gap.end)
    if inside is None or gap.kind != "ignorance" or gap.whole or gap.high > inside.start:
        return False
    said = text[gap.low : gap.high]
    return empty(WH_WORD.sub(" ", gap.about)) and (
        NAMES.search(f" {said}") is not None or holds_new(said, frozenset(), frozenset())
    )


#: "At least that is where I believe she lives": says again what stands before.
_AT_LEAST = regex(
    r"\W*(?:or\s+rather|at\s+least),?\s+(?:that|this|it|so)\b|"
    r"\W*(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:at\s+least\s+)?(?:where|what|when|who|how)\b",
    re.I,
)
_MINE = regex(r"\b(?:I|my|me|myself)\b", re.I)


@lru_cache(maxsize=2048)
def read(text: str, names: tuple[str, ...] = ()) -> Reading:
    """Find everything in ``text`` that weakens or withholds, with its reach.

    ``names`` are titles and golds in which a marker word is not a marker ("Maybe Happy Ending").
    Never raises; linear in the length of the text.
    """
    text = plain(text)
    spans = sentences(text)
    where = tuple(tuple(clauses(text, s)) or (s,) for s in spans)
    hedges: list[Hedge] = []
    gaps: list[Gap] = []
    questions: list[Span] = []
    asks: list[Span] = []
    said: Span | None = None
    asked_aloud: Span | None = None
    for s, sentence in enumerate(spans):
        words = text[sentence.start : sentence.end]
        to_user = addressed(words, alone=len(spans) == 1)
        if to_user is not None:
            whole = to_user.how == "offer" or is_question(words)
            asked_aloud = sentence if to_user.how in ("question", "guess") else asked_aloud
            if to_user.how == "guess":
                hedges.append(Hedge(sentence.end - 1, sentence.end, *sentence))
            else:
                at = sentence.start + to_user.at
                clause = ([c for c in where[s] if c.start <= at] or [where[s][0]])[-1]
                questions.append(sentence if whole else clause)
            if to_user.how == "ask":
                asks.append(sentence)
            if whole and to_user.how != "guess":
                continue
        general = disclaimer(text, sentence)
        if general is not None and (general != sentence or len(spans) > 1):
            gaps.append(Gap("caution", *general, "", 0, len(text), True, general))
            if general == sentence:
                continue
        marked: list[Span] = []
        for found in find(text, sentence, names):
            if general is not None and general.start <= found.start < general.end < sentence.end:
                continue
            if found.kind in ("doubt", "predicate", "refusal", "disclaimer"):
                gap = withhold(text, where, s, sentence, found, said)
                if gap is not None and _beside_value(text, sentence, gap):
                    hedges.append(Hedge(gap.start, gap.end, gap.low, gap.silent.end))
                elif gap is not None:
                    gaps.append(gap)
            else:
                hedges.append(weaken(text, sentence, where[s], found))
                marked.append(Span(found.start, found.end))
        if marked and _only_judges(text, sentence, marked):
            # What opens an answer is said of all of it.
            about = said or Span(sentence.start, len(text))
            hedges.append(Hedge(*marked[0], *about))
            continue
        if s and asked_aloud == spans[s - 1]:
            # "Which composer worked on it? I couldn't tell you."
            topic = text[slice(*spans[s - 1])]
            gaps = [
                g._replace(about=f"{topic} {g.about}") if g.start >= sentence.start else g
                for g in gaps
            ]
        gaps = _joined(gaps, sentence)
        here = [g.silent for g in gaps if g.start >= sentence.start]
        silent = all(any(c.start >= g.start and c.end <= g.end for g in here) for c in where[s])
        if not silent:
            said = sentence
        elif here:
            reach = (sentence, True) if said is None else (said, False)
            gaps[-len(here) :] = [alone(g, *reach) for g in gaps[-len(here) :]]
    return Reading(text, spans, where, tuple(hedges), tuple(gaps), tuple(questions), tuple(asks))
