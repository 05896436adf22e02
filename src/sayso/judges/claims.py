"""Long answers taken apart into sentences and claims, each with the span it comes from.

Offline (:func:`claims`, :class:`RulesClaims`) a sentence is cut into pieces, by offsets, in a
guarded copy that keeps together what no cut may part: quotations, brackets, dates, "Cleveland,
Ohio", "between 1959 and 1965", "School of Arts and Sciences". A piece that opens with a verb has
the subject of the clause before; "who" and "which" speak of what was named last; a phrase between
commas ("a computer system") says what the name before it is. "Mira Toll (1936-1999)" was born and
died; "restaurateur Michael Tipps" is one.

Claims name their topic. It is given, or it is the name that opens the first sentence. A pronoun is
the topic's where the text uses that pronoun for it most; "it" in the life of a person is the last
thing named.

A clause gives claims of one thing each: "is an American actress and singer best known for her role
in Grease" says four things: is American, is an actress, is a singer, is best known for her role in
Grease. The verb with its complement is one claim; each phrase of time, place and the like behind it
is another, on top of it.

First-person remarks, talk about the answer, and questions claim nothing about the topic. A frame
that only reports ("It is believed that", "I think", "reportedly") is taken off the claim's text and
stays in its span. What turns the meaning ("It is unlikely that", "It is a myth that") stays.

:class:`LlmClaims` asks a language model instead; both give :class:`Claimed`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.model.numbered import Block, NumberedReader, Outcome, Task
from sayso.judges.patterns import regex
from sayso.judges.rules.sentences import AUXILIARY, PAST, Part, Span, parts, plain
from sayso.judges.rules.stance import states_unknown
from sayso.judges.rules.text import is_english
from sayso.prompts.fence import Field
from sayso.records import InputError

# ---- words by which a sentence is taken apart: places, nations, prepositions, verbs

MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = (
    rf"(?:{MONTH}\s+{_DAY},?\s+\d{{4}}|{_DAY}\s+(?:of\s+)?{MONTH},?\s+\d{{4}}|{MONTH},?\s+\d{{4}})"
)

_STATES = """
Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|
Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|
Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|
New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|
South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|
Wisconsin|Wyoming|D\\.C\\.|Ontario|Quebec|British Columbia|Alberta|Manitoba|Saskatchewan|
Nova Scotia|New South Wales|Victoria|Queensland|England|Scotland|Wales|Northern Ireland|Ireland|
United Kingdom|UK|U\\.K\\.|USA|U\\.S\\.A\\.|US|U\\.S\\.|United States|Canada|Australia|
New Zealand|France|Germany|Italy|Spain|Portugal|Austria|Switzerland|Belgium|Netherlands|Denmark|
Norway|Sweden|Finland|Iceland|Poland|Hungary|Romania|Bulgaria|Greece|Turkey|Russia|Ukraine|
Belarus|Serbia|Croatia|Slovenia|Slovakia|Czech Republic|Estonia|Latvia|Lithuania|Israel|Egypt|
Morocco|Algeria|Tunisia|Libya|Sudan|Ethiopia|Kenya|Uganda|Tanzania|Nigeria|Ghana|Senegal|
Cameroon|South Africa|Zimbabwe|India|Pakistan|Bangladesh|Sri Lanka|Nepal|China|Japan|
South Korea|North Korea|Korea|Taiwan|Hong Kong|Vietnam|Thailand|Malaysia|Singapore|Indonesia|
Philippines|Iran|Iraq|Syria|Lebanon|Jordan|Saudi Arabia|Kuwait|Qatar|Afghanistan|Mexico|Brazil|
Argentina|Chile|Peru|Colombia|Venezuela|Ecuador|Bolivia|Uruguay|Paraguay|Cuba|Jamaica|Haiti|
Puerto Rico|Dominican Republic|Costa Rica|Panama|Guatemala|Honduras|El Salvador|Nicaragua|
Punjab|Maharashtra|West Bengal|Kerala|Tamil Nadu|Gujarat|Uttar Pradesh|Sindh|Bavaria|Tuscany|
Catalonia
"""
REGION = "(?:(?:" + _STATES.replace("\n", "") + r"))(?![\w-])"
#: The comma of "Cleveland, Ohio, " and of "November 21, 1942," joins what stands around it.
PLACE = regex(rf"(?<=[\w.]),\s+(?={REGION})")

_NATION = """
American|African-American|British|English|Scottish|Welsh|Irish|Canadian|Australian|New Zealand|
French|German|Italian|Spanish|Portuguese|Austrian|Swiss|Belgian|Dutch|Danish|Norwegian|Swedish|
Finnish|Icelandic|Polish|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Serbian|
Croatian|Slovenian|Slovak|Czech|Estonian|Latvian|Lithuanian|Albanian|Bosnian|Israeli|Egyptian|
Moroccan|Algerian|Tunisian|Libyan|Sudanese|Ethiopian|Kenyan|Ugandan|Tanzanian|Nigerian|Ghanaian|
Senegalese|Cameroonian|South African|Zimbabwean|Indian|Pakistani|Bangladeshi|Sri Lankan|
Nepalese|Nepali|Chinese|Japanese|South Korean|North Korean|Korean|Taiwanese|Vietnamese|Thai|
Malaysian|Singaporean|Indonesian|Filipino|Filipina|Iranian|Persian|Iraqi|Syrian|Lebanese|
Jordanian|Palestinian|Saudi|Kuwaiti|Qatari|Afghan|Mexican|Brazilian|Argentine|Argentinian|
Chilean|Peruvian|Colombian|Venezuelan|Ecuadorian|Bolivian|Uruguayan|Paraguayan|Cuban|Jamaican|
Haitian|Puerto Rican|Dominican|Guatemalan|European|Asian|African|Armenian|Georgian|Azerbaijani|
Kazakh|Uzbek|Soviet|Jewish|Catalan|Basque|Croat|Serb|Yugoslav|Burmese|Cambodian|Mongolian|
Namibian|Zambian|Angolan|Congolese|Ivorian|Malian|Rwandan|Somali|Maltese|Cypriot|Luxembourgish|
Macedonian|Montenegrin
"""
_NATION = _NATION.replace("\n", "")
NATIONALITY = regex(
    rf"(?P<before>(?:former|retired|famous|late|prominent|renowned|well-known|notable)\s+)?"
    rf"(?P<nation>(?:{_NATION})(?:[-\s](?:born\s+)?(?:{_NATION}))?)(?:-born)?\s+(?!football\b|[Ff]ootballer\b|history\b|literature\b|Football\b)(?=[\w\"'])"
)

#: A piece that opens with one of these hangs on what stands before it.
PREPOSITION = (
    r"(?:in|on|at|from|during|between|since|until|till|after|before|for|with|without|by|as|through|"
    r"throughout|alongside|under|against|into|onto|over|within|across|via|behind|near|around|among|"
    r"amongst|where|when|while|despite|toward|towards|to|about|upon|following|due|because)"
)
#: Of these a verb may be the whole claim: "was born", "died", "lived".
LOOSE = regex(
    r"\b(?:born|died|dies|lives|lived|resides|resided|based|located|situated|buried|raised|founded|"
    r"formed|released|established|published|built|opened|closed|married|divorced|retired|discovered|"
    r"created|located|launched|elected|graduated|premiered|aired|broadcast|killed|executed|"
    r"assassinated|discovered|diagnosed|held)$"
)
TIME = regex(
    rf"(?:in|on|since|until|by|from|during|between|around|circa|after|before|at)\s+(?:the\s+|about\s+|"
    rf"around\s+|early\s+|late\s+|mid-?\s*|early\s+to\s+|the\s+age\s+of\s+|age\s+)*(?:{DATE}|{MONTH}|"
    r"\d{1,4}(?:s|st|nd|rd|th)?\b(?!(?-i:\s+[A-Z]))|twent|thirt|same\s+year)",
    re.IGNORECASE,
)

#: Words in -ed and other verb forms that stand before nouns more often than they open a clause.
_NO_VERB = (
    r"(?!organi[sz]ed\s+crime)(?!(?:related|limited|associated|advanced|applied|armed|united|mixed|animated|integrated|"
    r"distributed|embedded|automated|red|bed|shed|sacred|hundred|naked|kindred|talented|gifted|"
    r"skilled|dedicated|accomplished|celebrated|respected|experienced|noted|beloved|acclaimed|"
    r"influenced|inspired|unrelated|renowned|varied|complicated|detailed|extended|hosts?|works|"
    r"plays|leaves|covers|uses|shows|features|causes|turns|runs|stars)\b)"
)
_STRONG = (
    r"(?:hosts|plays|features|stars|covers|uses|shows|turns|runs|works|includes?|features|remained|"
    r"remain|serves?|consists?|lies|was|were|"
    r"received?|acts?|writes|directs|produces|sings|performs|focuses|ranks|depends|refers|means|"
    r"allows|provides|helps|became|become|sought|taught|co-\w+ed|co-wrote|struck|hit|put|set|cut|"
    r"read|beat|gave|rode|rose|sank|sprang|stole|swore|threw|woke|wore|withdrew|underwent|overcame|"
    r"undertook|lay|hung|fled|fed|felt|drank|dealt|crept|burst|broke|bore|ate|awoke|slept|"
    r"starring|features|guest\s+starred|heard|meant|sent|shook|shrank|won|went|"
    r"split|quit|cost|shot|swept|swung|arose|lent|lit|mistook|overtook|proved|shed|shone|slid|"
    r"spread|stuck|blew|caught|forgot|froze|rang|tore|upheld|withheld|wept|wound|dove|foresaw|"
    r"bred|bound|leapt|knelt|"
    r"continues|enjoys?|loves|likes|competes|represents|resides|studies|owns|volunteers|advocates|"
    r"practices|trains|aims|supports|manages|creates|develops|collaborates|contributes|publishes|"
    r"coaches|explores|combines|celebrates|showcases|seeks|strives|ranges|spans|attends|joins|moves|"
    r"dies|marries|raises|hopes|plans|believes|tries|boasts|promotes|organizes|delivers|connects|"
    r"travels|highlights|emphasizes|reflects|incorporates|marks|earns|wins|grows|rises|reaches)"
)
ADVERB = (
    r"(?:(?:also|then|later|still|now|often|even|never|ever|once|soon|always|currently|"
    r"subsequently|eventually|initially|only|just|not|since|[a-z]{3,}ly)\s+){0,3}"
)
#: The verb of a clause; ``ADVERB`` may stand before it.
VERB = rf"(?:{AUXILIARY}|(?:is|was|has|had|does|did|are|were|would|could)n't|{_NO_VERB}{PAST})"
VERB_LATER = rf"(?:{VERB}|{_STRONG}\b|{_NO_VERB}(?-i:[a-z]{{2,}}ed)\b)"
MAIN_VERB = regex(
    rf"(?<![\w-])(?<!\sto\s){ADVERB}(?P<verb>{VERB_LATER})(?=[\s,;:]|$)", re.IGNORECASE
)
OPENS_WITH_VERB = regex(rf"{ADVERB}(?:guest\s+)?(?:{VERB_LATER})(?=[\s,;:]|$)", re.IGNORECASE)
BE = regex(r"\b(?:is|was|are|were|be|been|being)\b", re.IGNORECASE)
#: What a noun phrase goes on with: "a band formed in 1969", "an actress known for Taxi".
TAIL = regex(
    r"\s+(?=(?:(?:best|well|widely|most|also|mostly|primarily|originally|first|mainly)\s+)?(?:known|born|"
    r"formed|based|located|founded|written|directed|produced|released|published|developed|created|"
    r"composed|recorded|performed|starring|featuring|named|called|situated|established|caused|"
    r"characteri[sz]ed|originating|consisting|used|set|designed|built|owned|operated|credited|"
    r"famous|noted|related|dedicated|held|discovered|nominated|appointed|responsible|raised|"
    r"signed|headquartered|hailing|specializing|working|serving|living|affiliated|introduced|launched)\s)",
    re.IGNORECASE,
)
#: These last; what was formed or directed is past.
LASTING = regex(
    r"(?:(?:best|well|widely|most|also|mostly|primarily|mainly)\s+)?(?:known|based|located|called|situated|"
    r"caused|headquartered|characteri[sz]ed|used|owned|operated|famous|noted|related|dedicated|held|responsible|"
    r"considered|associated|affiliated|credited)\b",
    re.IGNORECASE,
)
LISTING = regex(r"(?:including|such\s+as|(?:most\s+)?notably)\s+", re.IGNORECASE)
PRESENT_OF = {
    "starring": "stars", "featuring": "features", "consisting": "consists", "hailing": "hails",
    "originating": "originates", "specializing": "specializes", "working": "works",
    "serving": "serves", "living": "lives",
}  # fmt: skip


# ---- pieces of a sentence

Kind = Literal["main", "verb", "who", "where", "whose", "apposition", "doing", "adjunct", "rest"]

#: Stand for a comma and a space that part nothing.
COMMA, SPACE = "\x01", "\x02"
_HIDE = str.maketrans({",": COMMA, " ": SPACE, ";": "\x03", ":": "\x04"})
_SHOW = str.maketrans({COMMA: ",", SPACE: " ", "\x03": ";", "\x04": ":"})
_OWN_MARKS = regex(r"[\x00-\x1f\x7f]")
#: long runs of white space would make every search slow
_GAP = regex(r"\s{8,}")
_CITATION = regex(r"\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]")

_ORGAN = (
    r"(?:University|College|School|Department|Ministry|Minister|Cent(?:er|re)|Institute|Academy|"
    r"Faculty|Museum|Board|Bureau|Office|Secretary|Association|Society|Journal|Bachelor|Master|"
    r"Doctor|Council|Committee|Hall|Order|House|Division|Encyclopedia|Kingdom|Republic|Commission)"
)
_KEPT = regex(
    rf"""
      \"[^\"]{{1,200}}\" | \([^()]{{1,200}}\) | \[[^\[\]]{{1,100}}\]
    | {DATE} | {MONTH}\s+\d{{1,2}},?\s+\d{{4}}
    | \bbetween\s[^,;]{{1,60}}?\sand\s\S+
    | \b{_ORGAN}\s(?:of|for|on)\s(?:the\s)?[A-Z][\w'-]*(?:,?\s(?!and\b)[A-Z][\w'-]*){{0,4}}
        ,?\sand\s[A-Z][\w'-]*
    | ,\s(?:Jr|Sr|Inc|Ltd|Esq|Ph\.D|M\.D|LLC|III|II)\b\.?
    | \b(?:Trinidad\sand\sTobago|Bosnia\sand\sHerzegovina|Antigua\sand\sBarbuda
       |[Rr]hythm\sand\s[Bb]lues
       |[Rr]ock\sand\s[Rr]oll|[Rr]esearch\sand\s[Dd]evelopment|[Ss]cience\sand\s[Tt]echnology
       |[Ss]ocial\sand\s[Pp]olitical|[Aa]rts\sand\s[Ss]ciences|[Tt]rack\sand\s[Ff]ield
       |[Ll]aw\sand\s[Oo]rder
       |[Ss]aint\sKitts\sand\sNevis|[Bb]lack\sand\s[Ww]hite|[Ff]riends\sand\sfamily|[Hh]usband\sand\swife
       |[Mm]ergers\sand\sacquisitions|[Ss]ong\sand\sdance|[Dd]rum\sand\s[Bb]ass|[Nn]orth\sand\sSouth
       |[Ff]ood\sand\s[Dd]rug|[Dd]ungeons\sand\sDragons|[Ss]urvival\sof|[Cc]ountry\sand\s[Ww]estern)\b
    | \b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\sand\s(?:a\s(?:half|quarter)|one)
    | \b(?:most|more)\srecently,\s
    """,
    re.VERBOSE,
)

_NO_NOUN = (
    r"(?!(?:works|plays|shows|hosts|covers|features|stars|turns|runs|uses|set|cut|hit|read)\b)"
)
_OWNER_THEN_VERB = (
    rf"(?:(?:his|her|its|their|this|that)\s+(?:[\w'-]+\s+){{1,4}}?{ADVERB}{_NO_NOUN}{VERB_LATER}\b|"
    rf"(?:the|an?)\s+(?:(?!that\b|who\b|which\b)[\w'-]+\s+){{1,4}}?{ADVERB}(?:{AUXILIARY}|(?-i:became|won|led|made|began)\b))"
)
_NAME_THEN_VERB = rf"(?-i:[A-Z][\w.'-]*(?:\s+[A-Z][\w.'-]*){{0,3}})\s+{ADVERB}{VERB}\b"
_NEW = (
    rf"(?:(?:he|she|it|they|there|these|those|this)\s+{ADVERB}{VERB_LATER}\b|"
    rf"{_OWNER_THEN_VERB}|{_NAME_THEN_VERB})"
)
_CUTS = regex(
    rf"""
      (?P<stop>;\s+ | \s[–—]\s | \s--\s | —)
    | (?P<main>(?:,\s*|\s+)(?:and|but|so|yet|while|whereas|although|though)\s+(?={_NEW})
        | ,\s+(?={_NEW}))
    | (?P<remark>(?:,\s*|\s+)(?:and|but|so|though|although|while)\s+(?=(?-i:I)(?:'[a-z]|\s+[a-z])))
    | (?P<verb>(?:,\s*|\s+)(?:and|but|or|yet|then)\s+
          (?=(?:guest\s+)?{ADVERB}{VERB_LATER}(?=[\s,;]|$))
        | (?:,\s*|\s+)(?:and|but)\s+
          (?=(?:[a-z]{{3,}}ly|also|often|still|now)\s+[a-z]{{2,}}s\s+(?-i:[a-z]))
        | ,\s+(?=[a-z]{{3,}}s,\s+and\s+[a-z]{{3,}}s\s)
        | ,\s+(?=(?:guest\s+)?{ADVERB}{VERB}(?=[\s,;]|$)))
    | (?P<where>,\s+(?:in\s+which|at\s+which|where)\s+(?!case\b))
    | (?P<whose>(?:,\s+|\s+)whose\s+)
    | (?P<some>,\s+(?=(?:many|some|most|all|one|both|several|two|three)\s+of\s+(?:which|whom)\s))
    | (?P<who>,\s+(?:and\s+)?(?:who|which|whom)\s+ | \s+(?:who|which)\s+(?={ADVERB}{VERB_LATER}\b)
        | \s+that\s+(?={ADVERB}(?:is|was|are|were|has|had|have)\b))
    | (?P<doing>,\s+(?:thus\s+|thereby\s+|eventually\s+)?(?=(?-i:[a-z]{{2,}}ing)\s)(?!during\b|
        including\b|
        regarding\b|following\b|king\b|according\b|being\b|beginning\b|wing\b|string\b))
    | (?P<apposition>,\s+(?=(?:(?-i:an?)|the|one\s+of\s+the|his|her|its|their)\s))
    | (?P<rest>,\s+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PARTICIPLE = regex(
    r"(?:originally\s+|first\s+|best\s+|well\s+|widely\s+|also\s+|commonly\s+|often\s+)?(?:born|known|"
    r"raised|founded|formed|based|written|directed|released|published|located|established|"
    r"considered|regarded|nicknamed|named|called|created|built|described|educated|trained|set)\b",
    re.IGNORECASE,
)
_ADJUNCT = regex(
    r"(?:according|apart|aside|away|besides|outside|in|on|at|from|during|between|since|until|after|before|for|with|by|as|through|throughout|"
    r"under|despite|upon|following|while|when|over|within|along|alongside|at\s+the|today|later|"
    r"currently|early|prior|unlike|like|because|due|although|though|if|among|around|to)\b",
    re.IGNORECASE,
)


class Piece(NamedTuple):
    """Part of a sentence: where it stands in the sentence, what opened it, its guarded words."""

    start: int
    end: int
    kind: Kind
    words: str


def guarded(sentence: str) -> str:
    """Return a sentence of equal length in which commas and spaces inside units are hidden."""
    text = _OWN_MARKS.sub(" ", sentence)
    text = _CITATION.sub(lambda m: " " * len(m.group()), text)
    text = _GAP.sub(lambda m: " " + SPACE * (len(m.group()) - 1), text)
    text = _KEPT.sub(lambda m: m.group().translate(_HIDE), text)
    return PLACE.sub(lambda m: _place(m, text), text)


_REGION_LAST = regex(rf"(?:^|\s)(?={REGION}$).+$")
_WIDER = regex(r"(?:D\.C\.|United\s|U\.?S|U\.?K|Canada|Australia|India|New\s+York)")


def _place(comma: re.Match[str], text: str) -> str:
    """Hide the comma of "Omaha, Nebraska", not that of "However, Nebraska"."""
    before = text[: comma.start()].split()
    if len(before) < 2 or not before[-1][:1].isupper():
        return comma.group()
    if _REGION_LAST.search(text[: comma.start()][-30:]) and not _WIDER.match(text, comma.end()):
        return comma.group()  # "Brazil, South Africa and India" is a list
    return COMMA + SPACE * (len(comma.group()) - 1)


def shown(words: str) -> str:
    """Return guarded words as they were, with single spaces."""
    return " ".join(words.translate(_SHOW).split())


def has_verb(words: str) -> bool:
    """Whether a piece has a verb behind a subject, or opens with one."""
    return bool(OPENS_WITH_VERB.match(words) or MAIN_VERB.search(words, 1))


_MEMBERS = regex(r"[^,;.]{1,70}(?:,\s+(?!and\s)[^,;.]{1,70}){0,10}?,?\s+(?:and|or)\s+(?=[\w\"])")
_INNER = regex(rf"\b(?:{VERB}|who|which|that)\b")


def _listed(text: str, cut: re.Match[str]) -> bool:
    """Whether the comma before "a" or "the" is one of a list: "a poet, a singer, and a painter"."""
    low = max(text.rfind(", ", 0, cut.start()), 0)
    before = text[low : cut.start()]
    joined = _MEMBERS.match(text, cut.end())
    if joined is None:
        closing = re.match(r"[^,;.]{1,70}", text[cut.end() :])
        late = closing is not None and re.search(r"\s(?:and|or)\s", closing.group())
        if not late or closing is None:
            return False
        after = closing.group()[: late.start()]
    else:
        after = joined.group()
    if _INNER.search(after):
        return False
    word = text[cut.end() :].split(None, 1)[0]
    if word == "The":
        return True
    return bool(re.search(r"(?:^|\s)(?:an?|the|his|her|its|their|The)\s", before))


#: "written and directed by": one phrase
_TOGETHER = regex(
    r"(?:[a-z]ed|written|made|sung|built|led) \| (?:[a-z]+ed|written|made|led)\s+by\b"
)
#: "crafting complex and nuanced characters": no verb
_ADJECTIVES = regex(
    r"(?:[a-z]ing|\b(?:an?|the|of|in|with|for|his|her|its|their|most|very))\s+"
    r"[a-z]+(?<!ed)(?<!ing) \| "
    r"[a-z]+ed\s+[a-z]+(?:s|y|e|t|n)\b(?<!\bthe)(?<!\bin)(?<!\bon)(?<!\bby)"
)
_AFTERWARDS = regex(r"[a-z]+ed\s+(?:by|to|on|as|in|with|from|at)\s")
_ALIAS = {"some": "who", "remark": "main"}


def pieces(sentence: str) -> list[Piece]:
    """Cut a sentence (of plain quotes) into pieces, in order."""
    text = guarded(sentence)
    cut_pieces: list[Piece] = []
    start, kind = 0, "main"
    cuts: list[tuple[int, int, str]] = []
    for cut in _CUTS.finditer(text):
        name = cut.lastgroup or "rest"
        if name == "rest" or (name == "apposition" and _listed(text, cut)):
            continue
        if name == "verb" and _ADJECTIVES.search(
            text[: cut.start()][-40:] + " | " + text[cut.end() :][:40]
        ):
            continue
        if name == "verb" and _TOGETHER.search(
            text[: cut.start()][-40:] + " | " + text[cut.end() :][:40]
        ):
            continue
        if name == "verb" and cut.group().strip() == "," and _AFTERWARDS.match(text, cut.end()):
            name = "doing"  # ", followed by Orm"
        if name == "stop" and cut.group().strip() in ("–", "—", "--"):
            following = text[cut.end() : cut.end() + 120]
            if text[cut.end() : cut.end() + 1].isupper() and not MAIN_VERB.search(following):
                continue  # "Episode III – Revenge of the Sith"
        cuts.append((cut.start(), cut.end(), _ALIAS.get(name, name)))
    cuts = _opened(text, cuts)
    for low, high, name in [*cuts, (len(text), len(text), "")]:
        piece = _piece(text, start, low, kind)
        if piece is not None:
            cut_pieces.append(piece)
        start, kind = high, name
    return cut_pieces


def _opened(text: str, cuts: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Add the comma that ends an opening phrase: "In 1959, the band moved ..."."""
    first = cuts[0][0] if cuts else len(text)
    opens = _ADJUNCT.match(text.lstrip()) or _PARTICIPLE.match(text.lstrip())
    if opens and cuts and cuts[0][2] == "apposition":
        return [(*cuts[0][:2], "main"), *cuts[1:]]  # "Founded in 1976, the company ..."
    if not opens:
        return cuts
    for comma in re.finditer(r",\s+", text[: max(first, 0)][:400]):
        rest = text[comma.end() : first]
        verb = MAIN_VERB.search(rest, 1)
        if verb is not None and len(rest[: verb.start()].split()) <= 10:
            return [(comma.start(), comma.end(), "main"), *cuts]
    return cuts


_EDGE = f" ,;:{COMMA}{SPACE}"


def _piece(text: str, low: int, high: int, kind: str) -> Piece | None:
    words = text[low:high]
    left = len(words) - len(words.lstrip(_EDGE))
    words = words.strip(_EDGE)
    if not re.search(r"[^\W_]", words):
        return None
    low += left
    if kind in ("main", "stop", ""):
        if (
            _WHEN.match(words)
            or _PARTICIPLE.match(words)
            or (_ADJUNCT.match(words) and not _own_verb(words))
        ):
            kind = "adjunct"
        elif OPENS_WITH_VERB.match(words) and kind == "stop":
            kind = "verb"
        else:
            kind = "main" if has_verb(words) else "rest"
    known: Kind = kind  # type: ignore[assignment]
    return Piece(low, low + len(words), known, words)


_WHEN = regex(r"(?:after|before|when|since|until|once|because|if)\s", re.IGNORECASE)


def _own_verb(words: str) -> bool:
    """Whether an opening phrase without a comma goes on to a subject: "In 1990 he moved"."""
    return bool(re.match(rf"(?:\S+\s+){{1,6}}?{_NEW}", words, re.IGNORECASE))


# ---- whom a text is about: pronouns and "the film" become the topic

_BRACKET = regex(r"\s*\([^()]*\)\s*$")
_WORDS = regex(r"\b(he|him|his|she|her|hers|it|its|they|them|their)\b", re.IGNORECASE)
_KINDS = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she",
    "it": "it", "its": "it", "they": "they", "them": "they", "their": "they",
}  # fmt: skip
_OWN = regex(r"\b(his|her|its|their)\s+(?=[\w\"'])", re.IGNORECASE)
_OBJECT = regex(
    r"\b(him|her|them)\b(?!\s+(?!(?:in|on|at|to|from|and|as|for|with|by|the|a|an|"
    r"into|of|was|is|when|after|before|during|because|who|but|out|up|back)\b)[\w\"'])",
    re.IGNORECASE,
)
_SUBJECT = regex(r"\b(he|she|they|it)\b(?='s\b|\s+(?:\w+ly\s+|also\s+)?\w+)", re.IGNORECASE)
_OPENING = regex(
    r"\s*[\"']?((?:The\s+)?(?:[A-Z0-9][\w.'&-]*)(?:\s+(?:of|the|and|de|van|von|der|da|di|la|le|al|bin|ibn|"
    r"for|in|du|del|[A-Z0-9(&][\w.'&)-]*)){0,7}?)[\"']?(?:'s\s+[a-z ]{3,40}?)?\s*"
    r"(?:\([^()]{1,120}\)\s*)?,?\s*"
    r"(?:is|was|are|were|has|had|also\s+known|born)\b"
)
_NOT_NAMES = regex(r"(?:He|She|It|They|This|That|There|These|We|I|You|In|On|Here|What|Who|As)\b")
#: What a topic may be called instead of its name, after "the" or "this".
_GENERIC_WORDS = """
film movie book novel series show song album single band group company firm corporation
organization organisation game play musical disease disorder syndrome condition planet star
asteroid moon galaxy city town village country state river mountain island lake university
college school museum building bridge team club magazine newspaper website app software language
drug medication vaccine treatment actor actress singer songwriter author writer poet novelist
artist painter politician player footballer coach director producer musician rapper composer
athlete scientist engineer businessman businesswoman entrepreneur journalist model comedian
dancer king queen emperor general bishop pope rabbi duo trio project program programme virus
animal plant species bird dog cat comic manga anime opera symphony painting sculpture airline
airport bank brand car aircraft ship battle war treaty festival award competition league
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_PERSON_WORDS = """
actor actress singer songwriter author writer poet novelist artist painter politician player
footballer coach director producer musician rapper composer athlete scientist engineer
businessman businesswoman entrepreneur journalist model comedian dancer king queen emperor
general bishop pope rabbi
"""
_PERSONS = frozenset(_PERSON_WORDS.split())
#: "... is an American rock band formed ...": what stands before the first preposition
_KIND = regex(
    r"\b(?:is|are|was|were)\s+(?:an?|the|one\s+of\s+the)\s+((?:(?!(?:in|on|of|from|by|for|that|who|"
    r"which|with|at)\b)[\w'-]+(?:,\s+|\s+)?){1,12})"
)
_CALLED = regex(r"(?:^|[.!?]\s+)(?:The|This)\s+([a-z]+)(?='s|\s)")


class Topic(NamedTuple):
    """The topic's name as claims show it, the pronoun for it, and the nouns for its kind."""

    name: str
    pronoun: str
    nouns: frozenset[str]
    short: re.Pattern[str] | None = None


def find_topic(topic: str, text: str) -> Topic:
    """Return the topic of a text (of plain quotes); its name is "" where none is known."""
    name = " ".join(_BRACKET.sub("", topic).split()).rstrip(".,;:!?… ") or topic.strip()
    if not name:
        opening = _OPENING.match(text[:400])
        if opening is not None and not _NOT_NAMES.match(opening[1]):
            name = opening[1]
    uses = Counter(_KINDS[m.lower()] for m in _WORDS.findall(text[:20_000]))
    people = uses["he"] + uses["she"]
    pronoun = "he" if uses["he"] >= uses["she"] else "she"
    if not people or people < uses["it"] / 2 or (uses["they"] > 2 * people):
        pronoun = "it" if uses["it"] >= uses["they"] / 2 else "they"
    if not uses:
        pronoun = ""
    nouns = _nouns(text)
    if nouns and not nouns & _PERSONS and uses["it"] + uses["they"]:
        pronoun = "they" if uses["they"] > 2 * uses["it"] else "it"
    return Topic(name, pronoun, nouns, _short(name))


def _nouns(text: str) -> frozenset[str]:
    """What the opening of a text calls its topic, else what its sentences begin with."""
    kind = _KIND.search(text[:400])
    nouns = set(re.findall(r"[a-z]+", kind[1].lower())) & _GENERIC if kind is not None else set()
    return frozenset(nouns or set(_CALLED.findall(text[:4000])) & _GENERIC)


def _short(name: str) -> re.Pattern[str] | None:
    """The family name alone, for names of two to four capitalized words."""
    words = name.split()
    if not 2 <= len(words) <= 4 or not all(w[:1].isupper() for w in words):
        return None
    if words[-1].lower() in _GENERIC or len(words[-1]) < 3 or words[0] == "The":
        return None
    return re.compile(
        rf"(?<!of )(?:\b([A-Z][\w.'-]*)\s+)?(?<![\w'-]){re.escape(words[-1])}"
        r"(?=\s|'s|,|$)(?!\s[A-Z])"
    )


def is_topic(subject: str, topic: Topic) -> bool:
    """Whether a subject is the topic: its pronoun, name, family name, or "the" and its kind."""
    spoken_of = subject.strip(" ,").strip("\"'").lower()
    if not topic.name:
        return False
    name = topic.name.lower()
    if spoken_of in ("he", "she", "it", "they"):
        return _agrees(spoken_of, topic)
    if spoken_of in (name, name.removeprefix("the ")):
        return True
    if topic.short and len(spoken_of) > 2 and name.endswith(f" {spoken_of}"):
        return True
    words = spoken_of.split()
    if topic.short and len(words) == 1 and words[0] == name.split()[0]:
        return True
    return (
        2 <= len(words) <= 3
        and words[0] in ("the", "this")
        and words[-1] in topic.nouns
        and all(w.isalpha() for w in words)
    )


def _agrees(pronoun: str, topic: Topic) -> bool:
    if pronoun == topic.pronoun:
        return True
    return {pronoun, topic.pronoun} == {"it", "they"}


def resolved(subject: str, topic: Topic, last: str) -> str:
    """Return a subject that stands by itself. ``last``: the thing that was last named."""
    bare = subject.strip(" ,")
    if is_topic(bare, topic):
        return topic.name
    name = bare.lower()
    if name in ("it", "he", "she", "they"):
        if name == "they" and topic.name and last:
            whom = _thing(last, "he")
            person = topic.pronoun in ("he", "she")
            return (f"{topic.name} and {whom}" if whom else bare) if person else topic.name
        if name == "they" and topic.pronoun in ("he", "she"):
            return bare  # he and somebody: nobody says who
        thing = topic.pronoun in ("it", "they") and name in ("he", "she")
        return _thing(last, name) or ("" if thing else topic.name) or bare
    return owned(bare, topic)


_ITS_KIND = regex(r"(?:the|this)\s+([a-z]+)'s\s+", re.IGNORECASE)
_PLACES = regex(
    r"\b(?:University|College|Institute|School|Academy|Award|Medal|Prize|Company|Inc|Ltd|Studios?|"
    r"Records|League|Team|Museum|Award|Fellowship|Center|Centre|Party|Army|Church|Games|Cup|Festival)\b"
)


def _thing(last: str, pronoun: str) -> str:
    """What was named last, where the pronoun can be its: no date, and for "he" only a name."""
    if not last or re.search(r"\d{3}", last) or not re.search(r"[^\W\d_]", last):
        return ""
    if pronoun in ("he", "she") and (not last[0].isupper() or _PLACES.search(last)):
        return ""
    return last


def owned(text: str, topic: Topic) -> str:
    """Return ``text`` with its first possessive of the topic made the topic's name."""
    if not topic.name:
        return text

    def name(match: re.Match[str]) -> str:
        if not _agrees(_KINDS[match[1].lower()], topic):
            return match.group()
        return topic.name + ("' " if topic.name.endswith("s") else "'s ")

    called = _ITS_KIND.match(text)
    if called is not None and called[1].lower() in topic.nouns:
        mark = "'" if topic.name.endswith("s") else "'s"
        return f"{topic.name}{mark} {text[called.end() :]}"
    done = _OWN.sub(name, text, count=1)
    if done == text and topic.short is not None and topic.name not in text:
        done = topic.short.sub(lambda m: m.group() if m[1] else topic.name, text, count=1)
    return done


def closed(text: str, topic: Topic) -> str:
    """Return a claim without a pronoun that points out of it: its topic is named somewhere."""
    if not topic.name or topic.name in text:
        return text

    def name(match: re.Match[str]) -> str:
        return topic.name if _agrees(_KINDS[match[1].lower()], topic) else match.group()

    for pattern in (_SUBJECT, _OBJECT):
        done = pattern.sub(name, text, count=1)
        if done != text:
            return done
    if _OTHER.match(text):
        return text  # "Lena Falk earned her degree": it is hers
    return owned(text, topic)


_OTHER = regex(r"(?:Dr\.\s|Sir\s)?[A-Z][\w'-]+(?:\s[A-Z]\.?)?\s[A-Z][\w-]+\s[a-z]")


# ---- names: which was named last, and what is said beside one

_LIFE = regex(
    rf"\(\s*(?:(?:born|née)\s+[A-Z][^;()]{{2,60}};\s*)?(?:born\s+)?(?P<born>{DATE}|(?:c\.\s*)?\d{{4}})\s*(?:[-–—]|to)\s*(?:died\s+)?(?P<died>{DATE}|\d{{4}}|present)?"
    rf"[^()]{{0,40}}\)|\(\s*(?:born|b\.)\s+(?P<only>[^();]{{4,80}})\)",
    re.IGNORECASE,
)
_NAMED = regex(
    r"\(\s*(?:also\s+known\s+as|a\.?k\.?a\.?|better\s+known\s+as|born\s+as|née|formerly|abbreviated)\s+([^()]{2,80})\)",
    re.IGNORECASE,
)
_NAME = regex(
    r"((?:[Tt]he\s+)?(?:\"[^\"]+\"|[A-Z0-9][\w.'&\x01\x02-]*)(?:\s+(?:of\s+(?:the\s+)?|the\s+|de\s+|van\s+|von\s+|&\s+|and\s+)?"
    r"(?:\"[^\"]+\"|\([^()]*\)|[A-Z0-9][\w.'&\x01\x02-]*)){0,8})\s*(?:\([^()]*\)\s*)?$"
)
_PHRASE = regex(
    r"(?:^|\s)((?:an?|the|his|her|its|their|two|three|several|many|one)\s+(?:[\w'\"\x01\x02-]+\s+){0,4}"
    r"[\w'\"\x01\x02-]+)$",
    re.IGNORECASE,
)


_OFFICE = regex(r"(?:[A-Z]{2,4}|President|Director|Chair\w*|Professor|Founder|Chief)\s+of\s+")
_ROLES = (
    "actor|actress|singer|songwriter|director|producer|drummer|guitarist|bassist|pianist|violinist|"
    "keyboardist|vocalist|writer|author|poet|painter|photographer|restaurateur|businessman|"
    "businesswoman|wrestler|boxer|comedian|comedienne|rapper|composer|musician|politician|architect|"
    "journalist|novelist|screenwriter|playwright|footballer|filmmaker|choreographer|dancer|model|"
    "entrepreneur|philanthropist|physicist|chemist|biologist|historian|philosopher|engineer|lawyer|"
    "attorney|banker|industrialist|racer|cyclist|golfer|sprinter|goalkeeper|conductor|sculptor|"
    "cinematographer|editor|presenter|anchor|broadcaster|economist|mathematician|psychologist"
)
_ROLE = regex(
    rf"\b(?P<role>(?:(?:{_ROLES})(?:/|\s+and\s+|\s*,\s*)){{0,2}}(?:fellow\s+)?(?:{_ROLES}))\s+"
    r"(?P<name>[A-Z][\w.'-]*(?:\s+(?:van\s+|von\s+|de\s+|der\s+|al-)?[A-Z][\w.'-]*){1,3})"
)


class Statement(NamedTuple):
    """A claim's text and the stretch of the sentence it comes from."""

    start: int
    end: int
    text: str


def roles(sentence: str) -> list[Statement]:
    """Return what a sentence says of people by the word before their name."""
    statements: list[Statement] = []
    for one in _ROLE.finditer(sentence):
        for role in re.split(r"/|\s+and\s+|\s*,\s*", one["role"]):
            bare = role.removeprefix("fellow ").strip()
            if bare:
                article = "an" if bare[0] in "aeiou" else "a"
                text = f"{one['name'].rstrip('.')} is {article} {bare}"
                statements.append(Statement(*one.span(), text))
    return statements[:12]


_NAMES_WHEN = regex(
    rf"\s+(?:in|on|since|by|until|during)\s+(?:the\s+)?(?:early\s+|late\s+|mid-?\s*)?(?:{DATE}|\d{{4}}s?)$",
    re.IGNORECASE,
)


def last_named(words: str) -> str:
    """Return the name or the phrase at the end of guarded ``words``, or "" where there is none."""
    words = _NAMES_WHEN.sub("", words.strip(" ,"))
    match = _NAME.search(words[-200:]) or _PHRASE.search(words[-200:])
    return _OFFICE.sub("", match[1]) if match is not None else ""


def brackets(sentence: str, topic: Topic) -> tuple[str, list[Statement]]:
    """Take life dates and other names out of the sentence, as claims."""
    statements: list[Statement] = []

    def blank(match: re.Match[str]) -> str:
        return " " * len(match.group())

    def life(match: re.Match[str]) -> str:
        name = last_named(sentence[: match.start()]) or topic.name
        if not name or match.start() > 200:
            return match.group()
        opened = sentence[: match.start()]
        if topic.short and len(opened) < 120 and topic.name.split()[-1] in opened:
            name = topic.name
        if is_topic(name, topic) or name.lower() in topic.name.lower():
            name = topic.name
        elif match["only"] is None and not re.search(r"[a-z]\s+[A-Z]|[A-Z]\w+ [A-Z]", name):
            return match.group()
        born, died = match["born"] or match["only"], match["died"]
        thing = topic.pronoun in ("it", "they") or (not topic.pronoun and topic.short is None)
        if thing and match["only"] is None:
            return match.group()
        place = re.split(r"\s+in\s+", born, maxsplit=1)
        when = place[0]
        word = "on" if re.search(r"[A-Za-z]\S*\s+\d{1,2}\b|\d{1,2}\s+[A-Z]", when) else "in"
        statements.append(Statement(*match.span(), f"{name} was born {word} {when.strip(' ,')}"))
        if len(place) > 1:
            text = f"{name} was born in {place[1].strip(' ,')}"
            statements.append(Statement(*match.span(), text))
        if died and died.lower() != "present":
            word = "on" if re.search(r"[A-Za-z]", died) else "in"
            statements.append(Statement(*match.span(), f"{name} died {word} {died}"))
        return blank(match)

    def named(match: re.Match[str]) -> str:
        name = last_named(sentence[: match.start()]) or topic.name
        if not name:
            return match.group()
        text = f"{name} is also known as {match[1].strip(' ,')}"
        statements.append(Statement(*match.span(), text))
        return blank(match)

    done = _LIFE.sub(life, sentence, count=3)
    return _NAMED.sub(named, done, count=3), statements


# ---- lists inside a phrase: "roles in Grease and Taxi" is two, "Simon and Garfunkel" one

_MOST = 12
_SPLIT = regex(
    r",?\s+(?:and\s+also|as\s+well\s+as|and|&)\s+|,\s+(?:and\s+)?(?:both\s+)?", re.IGNORECASE
)
_JOINED = regex(r"\s(?:and|as\s+well\s+as|&)\s", re.IGNORECASE)
_LEFT = regex(
    r"(?<!\S)(?:such\s+as|including|like|of|in|on|at|for|with|by|as|from|to|about|against|between|"
    r"under|into|through|during|both|alongside|across|over|within|among|around|throughout|towards?|after|featuring|starring|include|includes|included|via|"
    r"the\s+(?:[\w-]+\s+){0,2}(?:films?|movies?|songs?|singles?|albums?|books?|novels?|shows?|series|films|bands?))\s+",
    re.IGNORECASE,
)
_PREPOSED = regex(
    r"(in|on|at|for|with|by|as|from|to|of|about|against|under|through|during|since)\s",
    re.IGNORECASE,
)
_DETERMINER = regex(r"(?:an?|the|his|her|its|their|several|many|some|numerous|two|three)\s", re.I)
_ADJECTIVE = regex(r"[a-z-]+(?:al|ic|ive|ous|ful|ary|ern|less|ent|ant|ian|ish|est|ed|ese|an)$")
_HAS_VERB = regex(rf"\b{VERB}\b")
_TITLED = regex(r"(?:^|\s)[A-Z][\w'.-]*\s*$")
_THE_OF = regex(r"(?:the|an?)\s+(?:[\w-]+\s+){1,3}?of\s")
_ACTING = regex(
    r"(?!(?:act|sing|writ|danc|paint|direct|teach|farm|model|modell|box|wrestl|rac|swimm|cycl|"
    r"runn|engineer|market|advertis|publish|bank|broadcast|gam|programm|read|cook|fish|hunt|ski|surf|"
    r"filmmak|train|coach|report|produc|edit|design|songwrit|sound|light|build)ing\b)[a-z]+ing(?:$|\s+(?:for|the|an?|in|to|on|his|her|their|its)\s)"
)
_BEST = regex(r"the\s+(?:most\s|(?:second|third)-?\s?)?[a-z]+est\b|the\s+most\s")
_ASIDE = regex(
    r"(?:(?:most|more)[\s\x02]recently|most\s+notably|notably|later)[\s\x01\x02]+", re.IGNORECASE
)
_OFFICES = regex(
    r"(?:Director|President|Chair\w*|Minister|Secretary|Member|Professor|Founder|CEO|Head|Dean|Editor|"
    r"Governor|Mayor|Chief|Officer|Manager|Ambassador|Commissioner|Judge)\s*$"
)
_AGENT = regex(
    r"(?:er|or|ist|ian|man|ress|poet|actor|coach|judge|athlete|model|hero|cook|chef|pilot|singer|king|queen)$"
)
_AND_MORE = regex(
    r"(?:others|more|many\s+(?:more|others)|so\s+on|etc\.?|among\s+others|several\s+others|the\s+like)$",
    re.IGNORECASE,
)


def expanded(phrase: str) -> list[str]:
    """Return a guarded phrase once for each member of its list, or alone where it has none that
    can safely be taken apart."""
    members = [m for m in _SPLIT.split(phrase) if m and m.strip(" ,")]
    if len(members) < 2 or not (_JOINED.search(phrase) or _LEFT.search(members[0])):
        return [phrase]
    if len(members) < 3 and not _JOINED.search(phrase):
        return [phrase]
    members = [m.strip(" ,") for m in members]
    members = [m for m in members if not _AND_MORE.match(m)]
    members[1:] = [_ASIDE.sub("", m) for m in members[1:]]
    members[:1] = [re.sub(r"(?<!\S)both\s+", "", m) for m in members[:1]]
    if not 2 <= len(members) <= _MOST:
        return [phrase]
    prefix, first = _prefix(members)
    members = [first, *(_bare(m, prefix) for m in members[1:])]
    if not _safe(members, prefix):
        return [phrase]
    members = _shared(members)
    return [f"{prefix}{m}" for m in members]


def _prefix(members: list[str]) -> tuple[str, str]:
    """What stands before the first member and belongs to all."""
    first, second = members[0], members[1]
    own = _PREPOSED.match(second)
    if own is not None:
        at = max(
            (m.start() for m in re.finditer(rf"(?:^|\s){own[1]}\s", first, re.IGNORECASE)),
            default=None,
        )
        if at is None:
            return "", first
        at += first[at] == " "
        return first[:at], first[at:]
    places = [
        m.end()
        for m in _LEFT.finditer(first)
        if not (
            m.group().strip().lower() in ("of", "for", "to", "in", "with")
            and _TITLED.search(first[: m.start()])
            and not _OFFICES.search(first[: m.start()])
        )
    ]
    if not places:
        return "", first
    if first[: places[-1]].rstrip().endswith("of") and _THE_OF.match(second):
        places = places[:-1] or [0]
    deep = _LEFT.search(members[-1])
    shallow = [p for p in places if p < places[-1]]
    if deep is not None and not re.match(r"(?:of)\s", deep.group().strip() + " "):
        # "Sandy in Grease and a nurse in Taxi": each member has its own
        same = re.search(rf"\s{re.escape(deep.group().strip())}\s", f" {first} ")
        if same is not None:
            at = shallow[-1] if shallow else 0
            return first[:at], first[at:]
    return first[: places[-1]], first[places[-1] :]


def _bare(member: str, prefix: str) -> str:
    return re.sub(r"^(?:both|also|and|then)\s+", "", member) if prefix else member


def _safe(members: list[str], prefix: str) -> bool:
    adjectives = not prefix.strip().endswith("of") and re.match(r"[a-z]+ed\s+[a-z]+$", members[1])
    if len(members) == 2 and adjectives and re.fullmatch(r"[a-z]+", members[0]):
        return False
    if re.match(r"[a-z]+ing\s+[a-z]+$", members[0]) and " " in members[1]:
        return False
    if any(_ACTING.match(m) for m in members[1:]) and not re.match(r"[a-z]+ing\b", members[0]):
        return False
    if prefix and any(_BEST.match(m) for m in members[1:]):
        return False
    for member in members:
        if not member or len(member.split()) > 12:
            return False
        if _HAS_VERB.search(member) and len(member.split()) > 6:
            return False
    if len(members) == 2:
        left, right = members
        lone = re.search(r"(?:^|\s)an?\s+([\w-]+)$", left)
        if lone and not _AGENT.search(lone[1]) and not _DETERMINER.match(right) and " " in right:
            return False
        if re.match(r"the\s+(?:[\d-]+\s+)?[A-Z]", left) and re.match(r"[A-Z]", right):
            return False
        if left[:1].isupper() and right[:1].isupper() and " " not in left and " " not in right:
            return bool(
                re.search(
                    r"\b(?:in|from|at|to|on|including|of|such\s+as|like|as|include|includes|included)\s+$",
                    prefix,
                    re.IGNORECASE,
                )
            )
        if re.fullmatch(r"\d[\d.,]*", left) or re.fullmatch(r"\d[\d.,]*", right):
            return bool(prefix)
    return True


def _shared(members: list[str]) -> list[str]:
    """Give members what only the first or the last shows: a determiner, a noun, "of Sarn"."""
    last = members[-1]
    tail = re.search(r"\s(?:of|for|at|in)\s.+$", last)
    done = []
    for place, member in enumerate(members):
        own = re.match(r"(?:his|her|its|their|the)\s", members[0])
        if place < len(members) - 1:
            member = _headed(member, members[place + 1 :])
            office = tail and last[: tail.start()].split()[-1].islower()
            if (
                tail
                and office
                and tail.group().startswith(" of ")
                and " of " not in member
                and member.islower()
            ):
                member += tail.group()
        elif own is not None and not _DETERMINER.match(member) and member[:1].islower():
            member = own.group() + member
        done.append(member)
    return done


def _headed(member: str, others: list[str]) -> str:
    """Give a lone adjective the noun that it shares: "traditional and modern art"."""
    words = member.split()
    wide = next((o for o in others if " " in o and not _DETERMINER.match(o)), None)
    if wide is None or not wide.split()[-1].islower():
        return member
    lone = len(words) == 1 or (len(words) == 2 and bool(_DETERMINER.match(member)))
    noun = re.sub(r"\s(?:of|for|at|in|on|from|with)\s.*$", "", wide).split()[-1]
    if lone and member.endswith("ing") and wide.split()[0].endswith("ing"):
        return " ".join([member, *wide.split()[1:]])
    if (lone and _ADJECTIVE.match(words[-1])) or _SURELY_ADJECTIVE.match(words[-1]):
        return f"{member} {noun}"
    return member


_SURELY_ADJECTIVE = regex(r"[a-z-]{3,}(?:ural|ional|ical|tic|sive|tive|ous|ary|ern|ful|less)$")


# ---- what follows a verb: "played | for Sarn | from 1959 to 1965"

_SUB = regex(
    r"(?:(?:after|before|while|when|since|where|because|despite|upon)\s+(?:(?:he|she|it|they|the\s+\w+|"
    r"his|her|its|their)\s|[a-z]+ing\s)|(?:by|for|without|as\s+well\s+as|in\s+order)\s+"
    r"(?:(?:he|she|it|they)\s|[a-z]+ing\s))",
    re.IGNORECASE,
)
_LASTS = regex(r"(?:by|for|without|as|in)\s", re.IGNORECASE)
_IN_TITLE = regex(r"(?:^|\s)[A-Z][\w'.-]*$")
_CUT = regex(
    rf",?\s+(?={PREPOSITION}\s)|,?\s+(?=including\s)|,\s+(?=such\s+as\s|(?:most\s+)?notably\s)",
    re.IGNORECASE,
)
_NO_CUT_BEFORE = regex(
    r"(?:^|\s)(?:known|referred|because|such|due|according|as|well|prior|similar|related|how|up|"
    r"number|one|part|kind|series|addition|result|and|or|both|not|but|old|member|out|from|back|in|on|at|"
    r"of|for|with|by|to|since|until)$",
    re.IGNORECASE,
)


def segments(words: str) -> list[str]:
    """Cut what follows a verb before its prepositions; clauses inside stay whole."""
    cut_segments: list[str] = []
    start = 0
    for cut in _CUT.finditer(words):
        if cut.start() < start or cut.start() == 0:
            continue
        head = words[start : cut.start()]
        following = words[cut.end() :]
        word = following.split(None, 1)[0].lower()
        if word in ("over", "about", "around", "under") and re.match(
            r"\w+\s+(?:[\d$€£]|half|one|two|three|a\s+\w+)", following
        ):
            continue
        if word == "by" and re.search(r"\s(?:[a-z]+ed|written|made|sung|built|led)$", head):
            continue
        if not head.strip() or _NO_CUT_BEFORE.search(head) or word in ("to", "about", "as"):
            continue
        if word == "from" or not re.match(r"(?:until|till|through)\b", word):
            pass
        elif re.search(r"\bfrom\s+\S+$", head):
            continue
        listing = (cut_segments or head) and LISTING.match(head)
        if listing and _IN_TITLE.search(head) and ", " in following:
            continue  # "such as Born on the Fourth of July, Taxi, and Grease"
        if _SUB.match(following):
            cut_segments.append(head)
            comma = words.find(", ", cut.end())
            end = len(words) if comma < 0 or _LASTS.match(following) else comma
            cut_segments.append(words[cut.end() : end])
            start = end
            if start >= len(words):
                break
            continue
        if cut_segments and _SUB.match(cut_segments[-1]) and not head.startswith(","):
            continue
        cut_segments.append(head)
        start = cut.end()
    if words[start:].strip(" ,"):
        cut_segments.append(words[start:])
    return _parallel([s.strip(" ,") for s in cut_segments if s.strip(" ,")])


def _parallel(members: list[str]) -> list[str]:
    """Join "Sandy | in Grease and a nurse | in Taxi" again: each member has its own phrase."""
    done: list[str] = []
    place = 0
    while place < len(members):
        here = members[place]
        first = here.split(None, 1)[0].lower()
        after = members[place + 1] if place + 1 < len(members) else ""
        joined = re.search(
            r"\s(?:and|as\s+well\s+as)\s+(?:an?|the|his|her|its|their|[A-Z])(?=[\s\w])", here
        )
        if (
            done
            and joined is not None
            and after.lower().startswith(f"{first} ")
            and (TIME.match(here) or not TIME.match(after))
        ):
            done[-1] = f"{done[-1]} {here} {after}"
            place += 2
            continue
        done.append(here)
        place += 1
    return done


# ---- one clause, subject and verb known

#: more claims than this are not made from one clause
_PARTS_MOST = 24
_PARTICIPLES = (
    r"(?:[a-z-]{2,}ed|born|known|made|held|written|won|led|set|sold|built|found|given|taken|seen|"
    r"shown|said|put|cast|chosen|drawn|driven|sung|spent|taught|left|lost|met|paid|read|run|sent|"
    r"shot|struck|sworn|torn|begun|become|come|gone|done|brought|bought|fought|thought|caught|grown|"
    r"flown|thrown|worn|broken|spoken|stolen|frozen|hidden|risen|fallen|beaten|forgotten|laid|hit|"
    r"hurt|sought|understood|overseen|undergone|awoken|had|been)"
)
_HOW = (
    r"(?:(?:also|best|well|better|widely|most|more|now|currently|still|often|then|later|primarily|"
    r"originally|first|once|not|never|since|well-|highly|perhaps|probably|likely|possibly|[a-z]{3,}ly)\s+){0,3}"
)
_GROUP = regex(
    rf"""{ADVERB}(?:
      (?:is|was|are|were|has|had|have|(?:is|was|are|were|has|had|have|did|does|do|can|could|would|wo|
        will)n't|can|could|may|might|must|will|would|should|did|does|do)(?=\s|$)
      (?:\s+{_HOW}(?:not|been|being|be|have)(?=\s|$)){{0,3}}
      (?:\s+{_HOW}(?:{_PARTICIPLES}|(?!(?:during|king|string|nothing|something|evening|being)\b)
        [a-z]{{2,}}ing)(?=\s|$)(?!\s+(?:and\s+)?(?:actor|actress|singer|artist|player|author|musician|
        politician|professional|film|football|American)))?
    | (?:has|have|had)\s+{_HOW}(?:gone\s+on|come|begun|continued|started|helped|tried|managed|
        chosen|sought|attempted)\s+to\s+[a-z]{{2,}}(?=\s|$)
    | (?:went\s+on|goes\s+on|began|begins|started|continued|continues|used|managed|helped|helps|
        decided|agreed|chose|tried|attempted|failed|refused|sought|seeks|aims|hopes|wants|serves|
        came|proved)\s+to\s+[a-z]{{2,}}(?=\s|$)
    | (?:guest\s+|co-)?(?:{VERB_LATER})
      (?:\s+(?:[a-z]{{2,}}ing(?=\s+(?:as|in|at|for|with|on)\s)|up|out|off)(?=\s|$))?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_MODAL = regex(
    r"(?:can|could|may|might|must|will|would|should|did|does|do)(?:n't)?(?:\s+not)?$", re.I
)
_BASE = regex(rf"\s*({_HOW}[a-z]+)(?=\s|$)")
#: "before moving to Sarn" says that it happened.
_PAST_PAIRS = """
becoming:became moving:moved joining:joined making:made retiring:retired graduating:graduated
winning:won attending:attended working:worked studying:studied leaving:left returning:returned
earning:earned receiving:received serving:served playing:played completing:completed
founding:founded starting:started turning:turned appearing:appeared finishing:finished
releasing:released signing:signed spending:spent publishing:published teaching:taught
taking:took writing:wrote entering:entered settling:settled
"""
_PAST_OF = dict(pair.split(":") for pair in _PAST_PAIRS.split())
_AFTER = regex(
    r"(?:after|before|while|since|upon|when|by)\s+(?:first\s+|later\s+|eventually\s+)?(\w+ing)\s+(.+)$",
    re.I,
)


def _done(subject: str, phrase: str) -> list[str]:
    """Claims of a phrase such as "before moving to Sarn"."""
    match = _AFTER.match(phrase)
    past = _PAST_OF.get(match[1].lower()) if match is not None else None
    if match is None or past is None or match[0].lower().startswith("by "):
        return []
    return spoken(subject, f"{past} {match[2]}")


def doing(subject: str, whole: str, words: str) -> list[str]:
    """Claims of ", becoming the first ..." behind the claim ``whole``."""
    first, _, rest = words.partition(" ")
    past = _PAST_OF.get(first.lower())
    return spoken(subject, f"{past} {rest}") if past else spoken(f"{whole},", words)


_PARTS_DETERMINER = regex(r"(?P<det>an?|the|one\s+of\s+the|his|her|its|their)\s+", re.IGNORECASE)


def spoken(subject: str, words: str, before: str = "", noun: bool = True) -> list[str]:
    """Return the claims of ``subject`` + guarded ``words`` that open with the verb.

    ``before``: the phrase that opened the sentence ("in 1959"). Returns guarded texts.
    """
    match = _GROUP.match(words)
    if match is None or not match.group().strip():
        match = re.match(rf"{ADVERB}\S+", words, re.IGNORECASE)
        if match is None:
            return [_line(subject, words, before)]
    group = match.group().strip()
    rest = words[match.end() :].strip(" ,")
    apart = _APART.search(rest)
    if apart is not None and len(rest[: apart.start(1)].split()) <= 3:
        ahead = rest[: apart.start(1)]
        joint = next(name for name in ("and", "second", "third") if apart[name])
        return _unique(
            [
                *spoken(subject, f"{group} {rest[: apart.start(joint)]}", before),
                *spoken(subject, f"{group} {ahead}{rest[apart.end(joint) :]}"),
            ]
        )
    joined = _PARTS_JOINED.match(rest)
    if joined is not None:
        return _together(subject, group, joined, rest, before)
    base = _BASE.match(" " + rest) if _MODAL.search(group) else None
    if base is not None:
        group = f"{group} {base[1]}"
        rest = rest[len(base.group()) - 1 :].strip(" ,")
    group = " ".join(group.split())
    adverb = re.match(
        r"(?:(?:also|currently|now|still|often|later|once|primarily|perhaps)\s+)+(?=an?\s|the\s|one\s)",
        rest,
    )
    if adverb is not None:
        group, rest = f"{group} {adverb.group().strip()}", rest[adverb.end() :]
    be = BE.search(group)
    if be is not None and (be.end() == len(group) or adverb is not None) and rest:
        return _unique(_copular(subject, group, rest, before))
    if group.lower() in ("became", "become", "remained") and NATIONALITY.match(_undetermined(rest)):
        return _unique(_plain(subject, group, rest, before))
    return _unique(_plain(subject, group, rest, before))


#: "for her role in Grease and her work in Taxi", "the son of Orm and the brother of Eli"
_APART = regex(
    r"(?<!\S)((?:his|her|its|their)\s[^,;]{2,80}?(?P<and>,?\s+(?:and|as\s+well\s+as)\s+)"
    r"(?:his|her|its|their)\s(?=[\w'. -]+\s(?:in|on|for|of|as|with|at|from|to)\s)|"
    r"(?:the|an?)\s(?:[\w-]+\s){1,4}of\s[^,;]{2,60}?"
    r"(?P<second>,?\s+(?:and|as\s+well\s+as)\s+)(?:the|an?)\s(?:[\w-]+\s){1,4}of\s|"
    r"an?\s(?:[\w-]+\s){1,4}(?:in|for|on|at|with|of)\s[^,;]{2,60}?(?P<third>,?\s+(?:and|as\s+well\s+as)\s+)"
    r"an?\s(?:[\w-]+\s){1,4}(?:in|for|on|at|to|of)\s)"
)
_PARTS_JOINED = regex(
    rf"(?P<more>(?:[a-z]+(?:ed|en|ing),\s+)*)(?:and|or)\s+(?P<last>{_PARTICIPLES}|[a-z]{{2,}}ing)(?=\s|$)",
)


def _together(subject: str, group: str, joined: re.Match[str], rest: str, before: str) -> list[str]:
    """ "was written and directed by X": each with what follows the last."""
    *helping, verb = group.split()
    after = rest[joined.end() :]
    all_claims: list[str] = []
    for one in [verb, *re.findall(r"[a-z]+", joined["more"]), joined["last"]]:
        phrase = " ".join([*helping, one, after]).strip()
        if joined["last"].endswith("ing") and one != joined["last"] and not _SHARED_ING.match(one):
            phrase = " ".join([*helping, one])
        all_claims += spoken(subject, phrase, before)
    return _unique(all_claims)


def _line(*parts: str) -> str:
    return " ".join(p.strip(" ,") for p in parts if p.strip(" ,"))


def _unique(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:_PARTS_MOST]


def _undetermined(words: str) -> str:
    match = _PARTS_DETERMINER.match(words)
    return words[match.end() :] if match else words


_SHARED_ING = regex(
    r"(?:writ|direct|produc|compos|perform|creat|develop|promot|support|publish|record|design|build|"
    r"teach|edit|study|research|explor|manag|own|host|mak|sell|buy|collect)ing$"
)
_SHARING = regex(
    r"(?:wrote|written|directed|produced|composed|created|founded|co-\w+|edited|developed|designed|"
    r"published|released|recorded|performed|born|built|narrated|painted|owned|hosted|arranged|mixed|"
    r"illustrated|translated|developed|invented|organized|managed|starred|designs|develops|makes|"
    r"sells|manufactures|produces|markets|distributes|writes|directs|operates|owns|publishes)$"
)


def bare_verb(words: str) -> bool:
    """Whether a verb stands without the object that it shares with the next: "has written"."""
    return len(words.split()) <= 3 and bool(_SHARING.search(words))


def _plain(subject: str, group: str, rest: str, before: str) -> list[str]:
    """Claims of a full verb."""
    cut_segments = segments(rest)
    if not cut_segments:
        return [_line(subject, group, before)]
    if len(cut_segments) > 1 and re.fullmatch(r"[a-z]+ly|place", cut_segments[0]):
        cut_segments[:2] = [f"{cut_segments[0]} {cut_segments[1]}"]
    first, others = cut_segments[0], cut_segments[1:]
    bound = re.match(rf"{PREPOSITION}\s", first, re.IGNORECASE)
    if bound and not re.match(r"over\s", first) and (LOOSE.search(group) or TIME.match(first)):
        claims = []
        core = _line(subject, group)
        if not re.search(r"\b(?:born|based|located|situated)$", group) and len(cut_segments) > 1:
            claims.append(core)
        for one in [*cut_segments, *([before] if before else [])]:
            claims += [_line(core, v) for v in expanded(one)]
            claims += _done(subject, one)
        return claims
    core = _line(subject, group, first)
    claims = [_line(subject, group, v) for v in expanded(first)]
    for one in [*others, *([before] if before else [])]:
        for variant in expanded(one):
            place = others.index(one) if one in others else 0
            behind = any(LISTING.match(o) for o in (*others[:place], variant))
            ahead = _line(core, *others[:place]) if behind else core
            claims.append(_line(ahead, variant))
        claims += _done(subject, one)
    return claims


def _copular(subject: str, group: str, rest: str, before: str) -> list[str]:
    """Claims of "is an American actress ... known for ..."."""
    claims: list[str] = []
    parts = TAIL.split(rest, maxsplit=1) if not rest.startswith(("in ", "at ")) else [rest]
    head, tail = parts[0].strip(" ,"), parts[1] if len(parts) > 1 else ""
    if tail and re.search(
        r"(?:^|\s)(?:the|an?|of|and|in|by|most|one|that|who|which)$|\s(?:in|on|for|with|by|at|from|to|about)\s",
        head,
    ):
        head, tail = rest, ""
    cut_segments = segments(head)
    if len(cut_segments) > 1 and re.fullmatch(r"[a-z]+ly", cut_segments[0]):
        cut_segments[:2] = [f"{cut_segments[0]} {cut_segments[1]}"]
    first, others = cut_segments[0], cut_segments[1:]
    det = _PARTS_DETERMINER.match(first)
    body = first[det.end() :] if det else first
    nation = NATIONALITY.match(body)
    kind = det["det"].lower() if det else ""
    if nation is not None and kind in ("an", "a", ""):
        claims.append(_line(subject, group, nation["nation"]))
        body = (nation["before"] or "") + body[nation.end() :]
        kind = kind and _article(body)
    whole = _line(kind, body)
    claims += [_line(subject, group, _with_article(v, kind)) for v in expanded(whole)]
    core = _line(subject, group, whole)
    for one in [*others, *([before] if before else [])]:
        claims += [_line(core, v) for v in expanded(one)]
    if tail:
        words = tail.split(None, 1)
        doing = PRESENT_OF.get(words[0].lower())
        lasting = re.search(r"\b(?:is|are)$", group) and not LASTING.match(tail)
        was = re.sub(r"\bare$", "were", re.sub(r"\bis$", "was", group)) if lasting else group
        phrase = f"{doing} {words[1]}" if doing and len(words) > 1 else f"{was} {tail}"
        claims += spoken(subject, phrase)
    return claims


def _article(words: str) -> str:
    return "an" if words[:1].lower() in "aeiou" else "a"


def _with_article(member: str, kind: str) -> str:
    """Give a member the article of its list: "actress and singer" are "an actress", "a singer"."""
    bare = re.sub(r"^an?\s+", "", member)
    if kind in ("a", "an"):
        if _PARTS_DETERMINER.match(bare) or (bare[:1].isupper() and " of " in bare):
            return bare
        return f"{_article(bare)} {bare}"
    office = member[:1].islower() or re.match(r"[A-Z]{2,4}\s+of\s", member)
    if kind == "the" and not _PARTS_DETERMINER.match(member) and office:
        return f"the {member}"
    return member


# ---- what is no claim, and the frames around one that is

_SURE = r"(?:not\s+(?:entirely\s+|completely\s+|quite\s+|totally\s+|100\s?%\s+)?(?:sure|certain))"
_ME = r"I(?:'m|'d|'ll|'ve|\s+am|\s+would|\s+do|\s+can|\s+could|\s+must|\s+should|\s+will|\s+have)?"
_SAYING = (
    r"(?:believed|thought|said|reported|known|assumed|estimated|claimed|rumou?red|understood|"
    r"presumed|suspected|likely|possible|probable|alleged|considered|recorded|noted|speculated|"
    r"suggested|worth\s+noting|important\s+to\s+note|noteworthy|notable|true|clear|"
    r"worth\s+mentioning|important\s+to\s+mention|interesting\s+to\s+note)"
)
_SOURCES = (
    r"(?:some|many|several|various|other|most|certain|available|a\s+few|different|multiple|these|"
    r"historical|online|recent)\s+(?:\w+\s+)?(?:sources?|reports?|accounts?|people|scholars?|"
    r"historians?|records?|experts?|critics?|estimates?|researchers?|observers?)"
)
#: Frames at the beginning of a clause that can be taken off.
_FRAME = regex(
    rf"""(?:and\s+|but\s+|so\s+|while\s+|although\s+|however,?\s+)?(?:
      it\s+(?:is|was|has\s+been|'s|may\s+be|should\s+be|might\s+be)\s+(?:\w+ly\s+|also\s+|now\s+)*
        (?:{_SAYING})\s+(?:\w+\s+(?:some|many|scholars|historians)\s+)?that\s+
    | it\s+(?:seems|appears)\s+(?:likely\s+)?(?:that\s+|to\s+me\s+that\s+)
    | it\s+should\s+be\s+(?:noted|mentioned|added)\s+that\s+
    | (?:please\s+)?note\s+that\s+ | (?:keep\s+in\s+mind|remember|bear\s+in\s+mind)\s+that\s+
    | {_ME}\s+(?:\w+ly\s+)?(?:think|believe|guess|suppose|suspect|imagine|recall|remember|feel|say|
        assume|gather|understand|confirm|tell\s+you|know|note|add)\s+(?:that\s+)?(?!I\b|of\b|about\b|
        if\b|whether\b|what\b|who\b|when\b|where\b|how\b|for\b|in\b|with\b|any|more\b|nothing\b|no\b|
        the\s+(?:answer|details?|name|exact)|so\b|not\b)
    | {_ME}\s+(?:fairly\s+|pretty\s+|quite\s+|almost\s+|very\s+|reasonably\s+)?(?:sure|certain|
        confident|convinced|positive)\s+(?:that\s+)?(?!about\b|of\b|if\b|whether\b|what\b|who\b|when\b)
    | {_ME}\s+{_SURE}(?:\s+(?:about\s+(?:this|that|it)|of\s+(?:this|that|it)))?,?\s+but\s+
    | {_SURE},?\s+but\s+
    | (?:as\s+far\s+as|to\s+the\s+best\s+of|from\s+what|if|as)\s+(?:I|my)\b[^,]{{0,50}},\s+
    | to\s+my\s+knowledge,?\s+ | in\s+my\s+(?:opinion|view),\s+
    | my\s+(?:best\s+)?guess\s+is\s+(?:that\s+)?
    | according\s+to\s+{_SOURCES}[^,]{{0,40}},\s+ | {_SOURCES}\s+(?:say|claim|believe|report|state|
        suggest|indicate|think|argue)\s+(?:that\s+)
    | (?:there\s+is|there's)\s+(?:some\s+|a\s+)?(?:evidence|speculation|belief|chance|possibility|
        rumou?rs?)\s+that\s+
    | (?:reportedly|allegedly|supposedly|apparently|perhaps|maybe|possibly|probably|presumably|
        purportedly|likely|seemingly|arguably|rumou?r\s+has\s+it\s+that),?\s+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
#: Words of the writer between the sentences; they add nothing.
LINK = regex(
    r"(?:(?:and|but|so|yet)\s+)?(?:however|moreover|furthermore|additionally|in\s+addition|also|"
    r"besides|overall|finally|lastly|notably|interestingly|unfortunately|fortunately|sadly|"
    r"nevertheless|nonetheless|consequently|therefore|thus|hence|meanwhile|for\s+example|"
    r"for\s+instance|in\s+conclusion|in\s+summary|in\s+fact|indeed|similarly|likewise|specifically|"
    r"ultimately|importantly|of\s+course|in\s+general|generally|essentially|basically|"
    r"on\s+the\s+other\s+hand|as\s+a\s+result|that\s+said|in\s+particular|first|firstly|second|"
    r"secondly|third|thirdly|sure|certainly|yes|well|still|alternatively|"
    r"outside\s+of\s+(?:his|her|their)\s+(?:work|career)|above\s+all|more\s+importantly),\s+",
    re.IGNORECASE,
)
#: Single words and asides inside a clause that report and do not turn the meaning.
_INSIDE = regex(
    r",\s+(?:I\s+(?:think|believe|guess|suppose|recall)|it\s+(?:seems|appears)|reportedly|allegedly|"
    r"apparently|as\s+far\s+as\s+I\s+know|perhaps|possibly|probably|if\s+I\s+recall\s+correctly|"
    r"if\s+I\s+remember\s+correctly),(?=\s)|(?<![a-z]n't)(?<!\bnot)\s(?:reportedly|allegedly|"
    r"supposedly|apparently|presumably|purportedly|probably|possibly|perhaps|likely)"
    r"(?=\s(?:is|was|are|were|has|had|been|born|died|in|on|at|the|a|an|due|because|[a-z]+ed)\b)",
    re.IGNORECASE,
)
_I = regex(
    r"(?:^\W*|[,;:]\s+|\b(?:but|and|that|so|as|because|while|if|though|although|what|which|than|do|"
    r"can|could|may|when|until)\s+)(?:I(?:'(?:m|ve|d|ll)\b|\s+[a-z]+)|my\s+[a-z]+|we\s+(?:do|can|have|"
    r"apologi[sz]e|recommend)\b)",
    re.MULTILINE,
)
_I_LOWER = regex(
    r"\b(?:my\s+(?:knowledge|training|information|database|apologies|last|"
    r"data|sources)|as\s+an\s+ai\b|as\s+a\s+(?:large\s+)?language\s+model|"
    r"for\s+me\s+to|let\s+me\s+know|provide\s+me)\b",
    re.IGNORECASE,
)
_QUOTED = regex(r"\"[^\"]{0,300}\"")
_META = regex(
    r"\b(?:no|not\s+(?:any|enough|much|a\s+lot\s+of)|n't\s+(?:any|enough|much)|little|limited|"
    r"insufficient|not\s+sufficient|without\s+(?:more|further|additional)|lack\s+of|scarce|"
    r"(?:additional|further|more)\s+(?:specific\s+)?)\s*(?:\w+\s+){0,3}?(?:information|details?|data|"
    r"records?|context|sources?|documentation|results?)\b|"
    r"\b(?:information|details?|records?)\b[^.;]{0,60}\b(?:(?:is|are|was|were)\s+(?:\w+\s+)?(?:not|"
    r"limited|scarce|un\w+|sparse|insufficient|missing)|(?:is|are)n't|not\s+(?:be\s+)?(?:available|"
    r"found|provided|mentioned))\b|"
    r"\b(?:search|provided|these|available)\s+results\b|\bthe\s+(?:provided|given)\s+(?:text|context|"
    r"information|sources?|documents?|passages?)\b|\b(?:hope|glad|happy)\s+(?:this|that|to)\s+help|"
    r"\bplease\s+(?:provide|specify|clarify|let|consult|check|refer|verify|see|visit|feel)\b|"
    r"\bhere\s+(?:is|are|'s)\s+(?:some|a|an|the|what|more)\b[^.]{0,80}(?::|\.)?$|"
    r"\byou\s+(?:can|could|may|might|should)\s+(?:check|visit|find|refer|see|look|try|use|consult|"
    r"read|search|also|want)\b|"
    r"\b(?:do|would)\s+you\s+(?:want|like|mean|have)\b|\bit\s+is\s+(?:unclear|not\s+clear|difficult|"
    r"possible\s+that\s+(?:there|the\s+name|you))\b|\b(?:is|are|remain)\s+(?:unclear|unknown\s+to\s+me)\b|"
    r"\b(?:there\s+(?:are|may\s+be|could\s+be)\s+(?:multiple|several|many|other)\s+(?:people|individuals|"
    r"persons))\b",
    re.IGNORECASE,
)
_ASKS = regex(r"\?[\"')\]]*\s*$")
_SEE = regex(r"^\W*(?:sources?|references?|see\s+also|read\s+more|learn\s+more)\b\W", re.IGNORECASE)


def unframed(clause: str) -> tuple[str, bool]:
    """Return a clause without the frames around it, and whether a frame was taken off."""
    framed = False
    while True:
        frame = LINK.match(clause) or _FRAME.match(clause)
        if frame is None or not clause[frame.end() :].strip(" .,"):
            break
        framed = framed or not LINK.match(clause)
        clause = clause[frame.end() :]
    bare = _INSIDE.sub("", clause)
    return bare, framed or bare != clause


_CHAT = regex(
    r"^\W*(?:sure|certainly|of\s+course|ok(?:ay)?|yes|no|absolutely|great|hello|hi|thanks?(?:\s+you)?|"
    r"sorry|you're\s+welcome|good\s+luck)(?:\s+thing)?\W*$",
    re.IGNORECASE,
)


def is_talk(sentence: str) -> bool:
    """Whether a sentence or clause, without its frames, claims nothing about the topic."""
    if _ASKS.search(sentence) or _CHAT.match(sentence) or _SEE.match(sentence):
        return True
    bare = _QUOTED.sub('""', sentence)
    if _I.search(bare) or _I_LOWER.search(bare):
        return True
    return bool(_META.search(bare)) and not states_unknown(bare)


# ---- where the verb of a clause begins: known verbs, and any word where the subject is sure


def verb_of(words: str, topic: Topic) -> int | None:
    """Where the verb of a clause begins, its adverbs included; ``None`` where there is none."""
    for name in (topic.name, topic.name.split()[-1] if topic.short else ""):
        if name and words.startswith(f"{name} "):
            behind = _SURE_VERB.match(words, len(name) + 1)
            if behind is not None:
                return len(name) + 1
    called = re.match(r"(?:the|this)\s+([a-z]+)\s+(?=[a-z])", words, re.IGNORECASE)
    if called is not None and called[1].lower() in topic.nouns:
        behind = _SURE_VERB.match(words, called.end())
        if behind is not None:
            return called.end()
    pronoun = re.match(r"(?:he|she|it|they)\s+(?=[a-z])(?!and\b|or\b|who\b)", words, re.IGNORECASE)
    if pronoun is not None:
        return pronoun.end()
    match = MAIN_VERB.search(words, 1) or _PLAIN_VERB.search(words)
    if match is None:
        return None
    if match.re is _PLAIN_VERB:
        return match.start("verb")
    later = _HELPS.match(words, match.end("verb")) if match["verb"].endswith("ed") else None
    return later.start("verb") if later is not None else match.start()


#: "the resulting encoded text is shorter": the word in -ed is none
_HELPS = regex(
    r"\s+(?!(?:by|in|on|at|to|for|with|from|as|of|the|a|an|his|her|its|their|that)\b)[a-z]+s?\s+"
    r"(?P<verb>(?:is|was|are|were|has|had|have|will|can|could|may|would)\b)"
)


#: Present forms without an ending, tried where no other verb is found.
_PLAIN_VERB = regex(
    r"(?<=s\s)(?P<verb>(?:(?:often|also|usually|frequently|typically|generally|mainly|always|still|never)"
    r"\s+[a-z]+|explore|include|focus|deal|range|feature|reflect|combine|address|blend|draw|show|appear|"
    r"cover|tend|contain|consist|cause|affect|provide|occur|remain|need|help|make|live|eat|use|work|vary|"
    r"depend|come|go|take|play|grow|become|serve|offer|require|lie|feed|hunt|believe|say))(?=\s)"
)


_SURE_VERB = regex(rf"{ADVERB}(?!and\b|or\b|of\b|is\b|in\b|on\b|at\b|who\b)[a-z]{{2,}}(?:s|ed)\b")


def with_object(verb: str, after: list[Piece]) -> str:
    """ "wrote, directed, and produced films": the films belong to all three."""
    for piece in after:
        if piece.kind != "verb":
            break
        words = piece.words.split(None, 1)
        if len(words) == 2:
            helped = OPENS_WITH_VERB.match(words[1]) or _HELPING.match(piece.words)
            return verb if helped else f"{verb} {words[1]}"
    return verb


_HELPING = regex(r"(?:is|was|are|were|has|had|have|did|does|can|could|will|would)\b")


# ---- claims of one sentence

#: more claims than this are not made from one sentence
MOST = 60


class _State:
    """What the pieces of a sentence pass on: subject, what was named last, the opening phrase."""

    def __init__(self, last: str) -> None:
        self.subject = ""
        self.last = last
        self.named = ""
        self.who = ""
        self.before = ""
        self.words = ""
        self.stub = False


def claims_of(sentence: str, topic: Topic, last: str = "") -> tuple[list[Statement], str]:
    """Return the claims of a sentence (of plain quotes), and what it named last.

    ``last``: what the sentence before named last. Talk, remarks and questions make none.
    """
    bare, statements = brackets(sentence, topic)
    state = _State(last)
    link = LINK.match(bare)
    if link is not None:
        bare = " " * link.end() + bare[link.end() :]
    label = _LABEL.match(bare.lstrip())
    spoken_of = label is not None and not OPENS_WITH_VERB.match(label[2])
    if label is not None and spoken_of and not has_verb(label[1]) and has_verb(label[2]):
        bare = " " * (len(bare) - len(label[2])) + label[2]  # "Early life: She was born ..."
    cut = pieces(bare)
    whole = unframed(bare.strip())[0]
    if is_talk(whole) and len(cut) < 2:
        return [], last
    for place, piece in enumerate(cut):
        words = unframed(piece.words)[0]
        after = cut[place + 1 :]
        if is_talk(shown(words) + ("?" if bare.rstrip().endswith("?") else "")):
            state.stub = False
            continue
        for text in _said(piece, words, after, state, topic):
            text = _ended(shown(text))
            if len(text.split()) > 1 and text != topic.name:
                statements.append(Statement(piece.start, piece.end, _upper(closed(text, topic))))
    distinct: dict[str, Statement] = {}
    for one in statements[: 4 * MOST]:
        distinct.setdefault(one.text.casefold(), one)
    for one in roles(sentence):
        distinct.setdefault(one.text.casefold(), one)
    if not distinct and not is_talk(whole) and len(whole.split()) > 2:
        text = _ended(shown(whole))  # nothing that claims something is dropped
        distinct[text] = Statement(0, len(sentence), _upper(closed(text, topic)))
    kept = sorted(distinct.values(), key=lambda one: (one.start, one.end))[:MOST]
    return kept, shown(state.last)


def _ended(text: str) -> str:
    """Drop what closes a sentence, but not the stop of "Washington, D.C."."""
    text = text.rstrip(" ,;:!")
    return text if _STOPPED.search(text) else text.rstrip(" .,;:!")


_STOPPED = regex(r"(?:\b[A-Z]\.[A-Z]|\b(?:Jr|Sr|Inc|Ltd|Ph\.D))\.$")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _said(piece: Piece, words: str, after: list[Piece], state: _State, topic: Topic) -> list[str]:
    """Return the claims of one piece, and note what it passes on."""
    label = _LABEL.match(words)
    if label is not None and not has_verb(label[1]) and topic.name and not state.subject:
        return _labelled(label[1], label[2], topic)
    kind = piece.kind
    following = after[0] if after else None
    words = words.strip(" .,")
    if kind == "adjunct":
        return _opening(words, following, state, topic)
    if kind == "who" or kind == "where" or kind == "whose":
        return _relative(kind, words, state, topic)
    if kind == "apposition":
        return _apposition(words, state, topic)
    if kind == "doing":
        if not state.words:
            return []
        return doing(state.subject or topic.name, state.words, words)
    opens = OPENS_WITH_VERB.match(words)
    if opens and (kind == "verb" or state.subject or state.stub):
        subject, verb = state.subject or topic.name, words
    else:
        at = verb_of(words, topic)
        if at is None:
            return _fragment(words, following, state, topic)
        subject, verb = words[:at].strip(" ,"), words[at:]
        subject = re.sub(
            r"^(?:and|but|so|while|although|though|because|since|that|also|then)\s+",
            "",
            subject,
            flags=re.IGNORECASE,
        )
        early = re.match(
            r"((?:in|on|at|during|after|since|by|from)\s.+?)\s+(he|she|it|they)$", subject, re.I
        )
        if early is not None:
            state.before, subject = early[1], early[2]
        if not subject:
            return [words]
        last = state.last
        couple = _COUPLE.search(state.words) and last_named(state.words)
        if subject.lower() == "they" and topic.pronoun in ("he", "she") and not couple:
            last = ""
        subject = resolved(subject, topic, last)
        state.subject = subject
    passive = _PASSIVE.search(state.words)
    if kind == "verb" and passive is not None and _RULES_PARTICIPLE.match(verb):
        verb = f"{passive[1]} {verb}"  # "was arrested and charged with theft"
    if bare_verb(verb):
        verb = with_object(verb, after)
    found_texts = spoken(subject, _inner(verb, topic, subject), state.before)
    state.before = ""
    state.stub = False
    state.words = f"{subject} {verb}"
    state.named = last_named(verb) or _tail(verb)
    state.last = last_named(verb) or state.last
    return found_texts


def _tail(verb: str) -> str:
    """What a clause ends with, where it is no name: "plays" of "directed plays"."""
    cut_segments = segments(verb)
    words = cut_segments[-1].split() if cut_segments else []
    if not 1 < len(words) <= 9 or not words[-1].isalpha():
        return ""
    return " ".join(words[1:]) if len(cut_segments) > 1 else words[-1]


_PASSIVE = regex(
    r"\s((?:(?:has|have|had)\s+been|was|were|is|are))\s+(?:[a-z]+ly\s+)?[a-z]+(?:ed|en|wn)\b"
)
_RULES_PARTICIPLE = regex(r"(?:[a-z]+ly\s+|later\s+)?[a-z]+ed\s+(?:with|by|as|to\s+be)\b")
_COUPLE = regex(
    r"\b(?:marri\w+|wed|wife|husband|partner|spouse|engaged|dating|divorced|couple|with|and)\b"
)
_LABEL = regex(r"([^\W\d_][\w' -]{1,40}?)\s*:\s+(\S.*)$")


def _labelled(label: str, rest: str, topic: Topic) -> list[str]:
    """ "Born: 1942" and other lines of a table."""
    known = {
        "born": "was born",
        "died": "died",
        "founded": "was founded",
        "released": "was released",
    }
    verb = known.get(label.lower().strip())
    if verb is None:
        return [f"{topic.name}: {label}: {rest}"]
    word = "on" if re.search(r"\d\s*[\x01,]|\b\d{1,2}[\s\x02]+[A-Z]", rest) else "in"
    lead = "" if re.match(r"(?:in|on|at|by|from)\s", rest) else word
    return spoken(topic.name, f"{verb} {lead} {rest}".replace("  ", " "))


def _inner(verb: str, topic: Topic, subject: str) -> str:
    """What follows the verb, its possessives resolved unless the subject is the topic."""
    return verb if topic.name and topic.name in subject else owned(verb, topic)


_OTHER_VERB = regex(
    rf"{ADVERB}(?!(?:he|she|it|they|the|a|an|his|her|its|their|many|some|most|this)\b)[a-z]{{3,}}(?:s|ed)\b"
)


def _opening(words: str, following: Piece | None, state: _State, topic: Topic) -> list[str]:
    """An opening phrase: a claim of its own ("Born in Sarn, she ...") or said of what follows."""
    participle = re.match(
        r"(?:originally\s+|first\s+|also\s+|best\s+|widely\s+|well\s+|commonly\s+)?(?:born|known|raised|founded|formed|based|written|directed|"
        r"released|published|located|established|considered|regarded|nicknamed|built|created|educated)\b",
        words,
        re.IGNORECASE,
    )
    if participle is not None:
        subject = topic.name
        if following is not None:
            at = verb_of(following.words, topic)
            if at is not None:
                subject = resolved(following.words[:at], topic, state.last)
        if not subject:
            return []
        be = (
            "is"
            if re.search(r"known|based|located|considered|regarded", participle.group(), re.I)
            else "was"
        )
        return spoken(subject, f"{be} {words[:1].lower()}{words[1:]}")
    if following is None:
        return _fragment(words, None, state, topic)
    first = words.split(None, 1)[0]
    keep = first[1:].islower() and len(first) > 1
    state.before = (words[:1].lower() if keep else words[:1]) + words[1:]
    return []


def _relative(kind: str, words: str, state: _State, topic: Topic) -> list[str]:
    """ "who ...", "which ...", "whose ...", "where ...": said of what was named last."""
    of = state.named if state.named and not state.stub else state.subject
    of = resolved(of or topic.name, topic, state.last)
    if not of:
        return []
    some = re.match(r"(\w+\s+of)\s+(?:which|whom)\s+", words)
    if some is not None:
        of, words = f"{some[1]} {of}", words[some.end() :]
    if kind == "whose":
        return spoken(f"{of}'s", words) if has_verb(words) else []
    if kind == "who" and (OPENS_WITH_VERB.match(words) or _OTHER_VERB.match(words)):
        if state.subject and _is_what(state.words, of):
            of = state.subject
        state.who = of
        state.named = last_named(words) or _tail(words)
        state.last = last_named(words) or state.last
        return spoken(of, words)
    verb = MAIN_VERB.search(words, 1)
    if verb is None:
        return []
    subject = resolved(words[: verb.start()], topic, state.last)
    rest = words[verb.start() :]
    if kind == "where":
        return [*spoken(subject, rest), f"{subject} {' '.join(segments(rest)[:1])} at {of}"]
    cut_segments = segments(rest)
    if not cut_segments or subject == of:
        return []
    return [" ".join([subject, cut_segments[0], of, *cut_segments[1:]])]


def _is_what(clause: str, named: str) -> bool:
    """Whether a clause says what its subject is: "is a lawyer" before "who served"."""
    match = re.search(r"\s(?:is|was|are|were|became)\s+(?:\w+\s+)?((?:an?|the|one)\s.+)$", clause)
    if match is None or len(segments(match[1])) > 1 or named[:1].isupper():
        return False
    return " of " not in match[1] or not re.match(r"(?:the|his|her|its|their)\s", named)


def _apposition(words: str, state: _State, topic: Topic) -> list[str]:
    """ "the Fischer Computer, a computer system used in the 1970s"."""
    of = state.named if not state.stub else state.subject or state.named
    if not re.search(r"[^\W\d_]", of) or (
        has_verb(words.split(" used ")[0]) and not re.match(r"(?:an?|the)\s", words, re.I)
    ):
        return []
    of = resolved(of, topic, state.last)
    own = re.match(r"(?:his|her|its|their)\s+", words, re.IGNORECASE)
    whose = state.who or state.subject
    if own is not None and whose and owned(words, topic) == words:
        words = f"{whose}'s {words[own.end() :]}"
    if of.lower() == words.lower():
        return []
    if state.stub and topic.name in of:
        return spoken(of, f"is {words}")
    return spoken(of, f"is {owned(words, topic)}")


def _fragment(words: str, following: Piece | None, state: _State, topic: Topic) -> list[str]:
    """Words without a verb: the subject of what follows, or something said of the topic."""
    if following is not None and not state.subject:
        state.subject = resolved(words, topic, state.last)
        state.named = state.last = last_named(words) or state.last
        state.stub = True
        return []
    if state.words and following is None:
        return [f"{state.words}, {words}"]
    if topic.name:
        return [f"{topic.name}: {words}" if topic.name and topic.name not in words else words]
    return [words]


_ROW = regex(r"^([^|:]{1,40}\s)\|(\s)")


class Draft(NamedTuple):
    """One claim: its sentence (from 1), the span ``start:end`` of the text it comes from, and a
    text that can be understood and checked by itself."""

    sentence: int
    start: int
    end: int
    text: str


class Claimed(NamedTuple):
    """Sentences of a text and its claims, in order. ``problem``: why claims are missing, or None.

    No claims and no problem: the text claims nothing.
    """

    sentences: tuple[Span, ...]
    drafts: tuple[Draft, ...]
    problem: str | None = None


class RulesClaims:
    """Claims by clause and list splitting, offline and deterministic."""

    signature = "claims-rules@1"

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Claimed]:
        """Return the claims of each distinct (topic, text)."""
        return {pair: read_claims(*pair) for pair in dict.fromkeys(pairs)}


def claims(text: str, topic: str = "") -> list[Draft]:
    """Return the claims of a text: each says one thing and names what it is about.

    ``topic`` is whom or what the text is about; without it the name that opens the text is taken.
    ``start:end`` of a claim is the clause it comes from, hedges included, while its ``text`` is
    without "It is believed that" and the like. Remarks in the first person, talk about missing
    information, questions, and headings claim nothing. Never raises on any text.

    Limits: English (a sentence in another language is one claim, as it stands); "it" and "they"
    go to the topic or to what was named last; a list is only split where that is safe.

    >>> [c.text for c in claims("Mira Toll is a Dutch poet. She died in 1999.")]
    ['Mira Toll is Dutch', 'Mira Toll is a poet', 'Mira Toll died in 1999']
    """
    if not isinstance(text, str) or not isinstance(topic, str):
        wrong = topic if isinstance(text, str) else text
        raise InputError(f"claims: got {type(wrong).__name__}; expected text and topic as str")
    return list(read_claims(topic, text).drafts)


def read_claims(topic: str, text: str) -> Claimed:
    """Return sentences and claims of a text about ``topic`` ("" where it is not known)."""
    sentences = parts(text)
    spans = tuple(Span(p.start, p.end) for p in sentences)
    if not sentences:
        return Claimed((), ())
    shown = plain(text)
    about = find_topic(plain(topic), shown[sentences[0].start :])
    english = is_english(text)
    drafts: list[Draft] = []
    last = ""
    for number, part in enumerate(sentences, 1):
        sentence = shown[part.start : part.end]
        if not english:
            drafts.append(Draft(number, part.start, part.end, " ".join(sentence.split())))
            continue
        if part.item:
            sentence = _ROW.sub(r"\1:\2", sentence, count=1)  # a row of two cells: "Born: 1942"
        if part.lead is None and sentence.endswith(":") and _leads(sentences, number - 1):
            continue
        led, offset = _led(sentence, part, sentences, shown, about)
        statements, last = claims_of(led, about, last)
        for one in statements:
            low = part.start + max(0, one.start - offset)
            high = part.start + max(0, one.end - offset)
            if high <= low:
                low, high = part.start, part.end
            drafts.append(Draft(number, low, min(high, part.end), one.text))
    return Claimed(spans, tuple(drafts))


def _leads(sentences: Sequence[Part], place: int) -> bool:
    return place + 1 < len(sentences) and sentences[place + 1].lead == place


def _led(
    sentence: str, part: Part, sentences: Sequence[Part], shown: str, topic: Topic
) -> tuple[str, int]:
    """Put what opens a list before its item: "Her roles include:" before "Sandy in Grease"."""

    if part.lead is None or has_verb(sentence):
        return sentence, 0
    opening = shown[sentences[part.lead].start : sentences[part.lead].end].rstrip(" :")
    if opening.startswith("Here ") or len(opening) > 200 or not has_verb(opening):
        return sentence, 0
    opening = owned(opening, topic) + " "
    return opening + sentence, len(opening)


# ---- by a language model

#: more claims than this in one sentence, and longer ones, are not read
MOST_CLAIMS = 40
LONGEST = 1_000
#: sentences in one call, their characters together, and characters of what stands before them
MOST_SENTENCES = 12
MOST_CHARACTERS = 8_000
BEFORE = 400
_WORD = regex(r"[^\W_]+")
_CONTROL = regex(r"[\x00-\x20\x7f-\x9f]+")
_PARAGRAPH = regex(r"\n[ \t\r]*\n")


def read_entry(entry: dict[str, Any]) -> list[list[str]] | None:
    """Return [text, quote] of each claim of an entry; ``None`` if any of it is not valid."""
    given = entry.get("claims")
    if not isinstance(given, list) or len(given) > MOST_CLAIMS:
        return None
    claims_read: list[list[str]] = []
    for one in given:
        if not isinstance(one, dict):
            return None
        text, quote = one.get("text"), one.get("quote")
        if not isinstance(text, str) or len(text) > LONGEST or not _WORD.search(text):
            return None
        if not isinstance(quote, str):
            return None
        claims_read.append([_CONTROL.sub(" ", text).strip(), quote])
    return claims_read


class LlmClaims(NumberedReader):
    """A model that takes texts apart; ``counts.parts`` are sentences. The prompt is ours.

    FActScore (Min et al. 2023, section 3) asks once for every sentence, with eight examples each
    time. Here up to twelve sentences share a call, so the instructions are paid once for all of
    them, and the text before them is shown, so that "he" can be resolved.
    ``unlocated``: claims whose quote is not in their sentence; they have the sentence's span.
    """

    task = Task("claims", "claims_reply", "sentence", 240, read_entry)
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
        cut = {pair: blocks_of(*pair) for pair in new}
        distinct = list(dict.fromkeys(block for blocks in cut.values() for block, _ in blocks))
        replies = self.ask(distinct)
        outcomes = dict(zip(distinct, replies, strict=True))
        for pair, blocks in cut.items():
            self._known[pair] = self._claimed(pair[1], blocks, outcomes)
        return {pair: self._known[pair] for pair in pairs}

    def _claimed(
        self,
        text: str,
        blocks: Sequence[tuple[Block, list[tuple[int, Span]]]],
        outcomes: dict[Block, dict[str, Outcome]],
    ) -> Claimed:
        drafts: list[Draft] = []
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
                    drafts.append(Draft(number, *(place or span), claim))
        return Claimed(tuple(spans), tuple(drafts), problem)

    @property
    def notices(self) -> list[str]:
        """What a reader of the numbers must know."""
        notices = super().notices
        if self.unlocated:
            notices.append(
                f"claims by {self.signature}: {self.unlocated} of {self.claims} claims quote words "
                "that their sentence does not have; they have the span of the whole sentence"
            )
        return notices


def blocks_of(topic: str, text: str) -> list[tuple[Block, list[tuple[int, Span]]]]:
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
        blocks.append((Block(topic, head, texts), members))
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
    wanted = [w.casefold() for w in _WORD.findall(quote[: 2 * LONGEST])]
    there = list(_WORD.finditer(text, *sentence))
    words = [w.group().casefold() for w in there]
    for at in range(len(words) - len(wanted) + 1):
        if wanted and words[at : at + len(wanted)] == wanted:
            return Span(there[at].start(), there[at + len(wanted) - 1].end())
    return None


# ---- does a long answer answer at all?

PHRASES = (
    "i don't have",
    "i do not have",
    "i need more information",
    "please provide me",
    "please clarify",
    "i apologize",
    "there isn't enough information",
    "unfortunately, there is no",
    "if you can provide more information",
    "you could provide more",
    "it seems you might",
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"'})


def unresponsive(text: str) -> str | None:
    """Return the phrase by which an answer declines; "empty" for no text, ``None`` if it answers.

    Tu et al., arXiv 2411.15993, section 3.1, filter their generations by phrases such as these
    before counting claims (PROTOCOLS 4.A.2): of a model that asks back or declines. Quotes and case
    are made equal, and a phrase counts anywhere.
    English only: other languages pass, and are counted as answers.
    """
    if not text.strip():
        return "empty"
    plain = " ".join(text.translate(_QUOTES).lower().split())
    return next((phrase for phrase in PHRASES if phrase in plain), None)
