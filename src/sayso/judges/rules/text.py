"""Text as comparable tokens that still know where they stood, and what words have in common.

Case, marks, numbers and inflection are undone one token at a time, so that spans index the text as
it was given. Also here: whether a text is English (:func:`is_english`), variants of a person's
name, and word families (a country and its people, words that share a root).

The rules remember what they read in a text, so that judging it again costs nothing, and count that
memory in texts; over a long file of long texts it would be most of the memory in use, so
:func:`forget_texts` empties it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from rapidfuzz.distance import OSA

from sayso.judges.patterns import regex

PACKAGE = "sayso.judges."


def forget_texts() -> None:
    """Empty every bounded memory (``functools.lru_cache``) of this package's modules.

    What has no bound holds words and weights of the package, not texts.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE):
            for value in list(vars(module).values()):
                memory = getattr(value, "cache_info", None)
                if callable(memory) and memory().maxsize:
                    value.cache_clear()


# ---- whether a text is English: by function words and scripts. Only running text can be told
# apart; names, dates, numbers and other short answers ("Ludwig van Beethoven", "1950") pass.

_WORD = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SAMPLE = 4000

#: Frequent words that hold a sentence together and are rare in names; shared forms are left out
#: ("in", "was", "die", "a", "on", "or", "me", "as", "do", "no").
_ENGLISH_WORDS = """the of and to is that it for with he she his her they are were be this have had
    by from at which but not an has been their who its there when what where i i'm my don't can't
    you your know sure born than about after also all one would could may might between during first
    known because into over under most some other more both does did how why without doubt shadow
    think maybe perhaps probably guess question"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHER = {
    "fr": """le la les des du et est une dans que qui pour il elle sur au aux avec né née par ce ne
        cette pas je suis sais était sont ses son à été mais où plus ont mort""",
    "de": """der das und ist ein eine einer einem den dem des wurde nicht ich mit von zu für auf im
        sich er sie geboren weiß als bei nach auch am war wird aus dass sind oder aber bin""",
    "es": """el los las y es una que del por con nació en para su no se lo al fue como pero más era
        sé está son murió yo desde año también cuando donde""",
    "it": """il gli di è una che per con nel della del sono non si è nato nata un e ha da al alla
        dei delle anche come ma fu era so morto dove suo sua""",
    "pt": """o os um uma que é do da dos em para com não nasceu foi por no na ao se mais como mas eu
        sei ele ela sua seu são também onde""",
    "nl": """de het een en van is dat niet met op te zijn voor aan werd ik geboren die er maar bij
        door naar ook hij zij weet niet wordt uit""",
    "sv": "och är att det en ett som på av för med inte jag han hon den till var föddes född vet i",
    "da": "og er at det en et som på af for med ikke jeg han hun den til blev født ved i",
    "pl": "i w jest nie się na że do z urodził urodziła był była to jak ale nie wiem roku oraz",
    "tr": "ve bir bu ile için de da olarak doğdu değil ben o çok en bilmiyorum",
    "id": "dan yang di adalah ini itu dengan untuk tidak dari pada lahir saya ke dalam tahun",
    "ro": "este și în la un o cu pe de nu că s-a născut din sau fost era mai pentru",
    "fi": "ja on ei se hän että oli syntyi mutta ole en tiedä joka kun",
    "hu": "a az és hogy nem egy van volt született is de ez meg",
    "cs": "a je v na se že nebyl byl byla narodil narodila ale jako do z nevím si",
}
_OTHERS = tuple(frozenset(words.split()) - _ENGLISH for words in _OTHER.values())

_ELSEWHERE = frozenset().union(*_OTHERS)

#: what makes even a few characters a sentence: "probably", "it is", "I do not know"
_SENTENCE = regex(
    "です|でした|ます|ません|おそらく|たぶん|かもしれ|思い|"
    "可能|也许|也許|大概|应该是|應該是|不确定|不確定|不知道|我认为|我認為|我想|"
    "아마|입니다|습니다|인 것|모르"
)
_BEYOND_LATIN = regex("[^\u0000-\u024f\u1e00-\u1eff]")
_LATIN = regex("[A-Za-zªµºÀ-ÖØ-öø-\u024f\u1e00-\u1eff]")
_GREEK = regex("[\u0370-\u03ff]")
_WIDE = regex("[\u3040-\u9fff\uac00-\ud7af]")


def _foreign_script(text: str) -> bool:
    """Whether most letters are neither Latin nor the Greek of formulas."""
    beyond = "".join(_BEYOND_LATIN.findall(text))
    if not beyond or _SENTENCE.search(text):
        return bool(beyond)
    latin, greek = len(_LATIN.findall(text)), len(_GREEK.findall(beyond))
    other = sum(c.isalpha() for c in _GREEK.sub("", beyond))
    # One ideograph says what a word says, so few of them already make a sentence.
    enough = 8 if _WIDE.search(beyond) else 16
    return (greek > 12 and greek > latin) or (other >= enough and other > latin)


@lru_cache(maxsize=4096)
def is_english(text: str) -> bool:
    """Return whether ``text`` may be judged by rules written for English.

    True for English, and for what has no language: the empty text, names, numbers, up to three
    words. False for running text in another script, or where another language's function words
    outnumber the English ones. Judged on the first 4,000 characters.
    """
    sample = text[:_SAMPLE]
    if not sample.isascii() and _foreign_script(sample):
        return False
    written = _WORD.findall(sample)
    words = " ".join(written).lower().replace("’", "'").split()
    english = sum(map(_ENGLISH.__contains__, words))
    if len(words) < 4 or english >= 0.25 * len(words):
        return True
    if len(_ELSEWHERE.intersection(words)) < 2:
        return True
    # One word alone may be English too: "A tadpole becomes a frog".
    several = [known for known in _OTHERS if len(known.intersection(words)) > 1]
    best = max((sum(map(known.__contains__, words)) for known in several), default=0)
    # Names carry a particle or two ("Leonardo di ser Piero da Vinci"), so among capitalized words
    # it takes more of them.
    capitals = sum(word[0].isupper() for word in written)
    least = 4 if 2 * capitals >= len(words) else 2
    return best < least or best <= english or best < 0.18 * len(words)


_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f"
# Letters, with their combining marks; raised digits are footnote marks and powers, not letters.
_LETTERS = rf"(?:[^\W\d_\u00b2\u00b3\u00b9\u2070-\u2079]++[{_MARKS}]*+)++"
_TOKEN = regex(
    rf"{_LETTERS}(?:['\u2019\u02bc\u00b4]{_LETTERS})*+"
    r"|\d{1,3}(?:,\d{3})++(?:\.\d++)?(?!\d)|\d++(?:(?i:st|nd|rd|th)(?![^\W\d_])|\.\d++)?"
)
# Letters that NFKD does not take apart.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_APOSTROPHES = regex("['\u2019\u02bc\u00b4]")
#: Longer "words" are no words: they are compared as they are.
LONGEST = 40
NUMERALS = {"I": "1", "V": "5", "X": "10"}
_ROMAN = regex(r"(?=[IVXL]{2,7}$)(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})$")


def word_list(text: str) -> list[str]:
    """Return the words of a text, so that lists of words read as text."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """Return the different words of a text."""
    return frozenset(text.split())


STOP = word_set(
    "a an the of in on at to for from by with and or as is are was were be been being it its this"
    " that these those his her their he she they him them who whom whose which what when where how"
    " why do does did has have had there s also into than then so such about called named known"
    " i you we my our your but if during after before between within through while when about"
    " because until since upon onto"
)

# Words that make another thing of what they stand before: without them the answer is not the gold.
CHANGERS = word_set(
    "new north south east west upper lower northern southern eastern western great little saint non"
    " anti vice former deputy co not no half pre post ex sub semi inter under over pseudo mini step"
    " first second third last de san santa los las el la port fort mount lake cape los"
)

_UNITS = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_ORDINALS = word_list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS: dict[str, int] = {
    **{w: i for i, w in enumerate(_UNITS)},
    **{w: i for i, w in enumerate(_ORDINALS)},
    **{w: 10 * (i + 2) for i, w in enumerate(_TENS)},
    **{w[:-1] + "ieth": 10 * (i + 2) for i, w in enumerate(_TENS)},
}

# Short written forms that mean the same word; applied to both sides.
_SAME = {
    "blvd": "boulevard", "ave": "avenue", "st": "saint", "mt": "mount", "ft": "fort",
    "dept": "department", "govt": "government", "univ": "university", "co": "company",
    "corp": "corporation", "inc": "incorporated", "ltd": "limited", "jr": "junior",
    "sr": "senior", "dr": "doctor", "prof": "professor", "gen": "general", "sgt": "sergeant",
    "capt": "captain", "lt": "lieutenant", "col": "colonel", "vs": "versus", "tv": "television",
    "ww1": "world war 1", "ww2": "world war 2", "colour": "color", "grey": "gray",
    "centre": "center", "theatre": "theater", "harbour": "harbor", "honour": "honor",
    "defence": "defense", "mum": "mom", "tsar": "czar", "per": "per",
}  # fmt: skip


class Token(msgspec.Struct, frozen=True, gc=False):
    """One word or number: its comparable form, its stem, its span, and how it was written."""

    text: str
    stem: str
    start: int
    end: int
    raw: str

    @property
    def capital(self) -> bool:
        """True when it was written with a capital letter first."""
        return self.raw[:1].isupper()

    @property
    def number(self) -> bool:
        """True when the comparable form is digits (number words included)."""
        return self.text[:1].isdigit()


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return a word in lower case without diacritics, apostrophes and a possessive ending."""
    word = word.casefold()
    if not word.isascii():
        word = unicodedata.normalize("NFKD", word).translate(_PLAIN)
        word = "".join(c for c in word if not unicodedata.combining(c))
    if word.isalpha():
        return word
    parts = _APOSTROPHES.split(word)
    if len(parts) > 1 and parts[-1] == "s":
        parts.pop()
    return "".join(parts)


def roman(word: str) -> int | None:
    """Return the value of an upper-case Roman numeral of 2 to 7 letters from I, V, X, L."""
    if not word.isupper() or not _ROMAN.match(word):
        return None
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[c] for c in word]
    return sum(-v if v < n else v for v, n in zip(values, [*values[1:], 0], strict=True))


_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def uninflected(word: str) -> str:
    """Return a word without its inflection: plural, -ing, -ed, -ly, final e (rules of our own)."""
    if not 4 <= len(word) <= LONGEST or word[0].isdigit():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 5:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


def plain_plural(word: str) -> str:
    """Return a word without the ending of a plural, and with no other ending taken off."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 5:
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


_BRITISH = regex(
    "(?<=[a-z]{2})(our)(?=s?$)|(?<=[^aeiou])(re)(?=s?$)|(?<=[a-z]{3})(is)(?=e[sd]?$|ing$|ation$)"
)


def _american(word: str) -> str:
    """Return one spelling for words that British and American writers spell apart."""
    if not 4 < len(word) <= LONGEST:
        return word
    return _BRITISH.sub(lambda m: {"our": "or", "re": "er", "is": "iz"}[m[0]], word)


def comparable(raw: str) -> str:
    """Return the form in which a written word or number is compared; "" for nothing."""
    if raw.isdigit() and raw.isascii():
        return raw.lstrip("0") or "0"
    if raw[0].isdigit():
        digits = re.sub(r"(?:st|nd|rd|th)$", "", raw.casefold()).replace(",", "")
        whole, _, fraction = unicodedata.normalize("NFKC", digits).partition(".")
        fraction = fraction.rstrip("0")
        return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
    value = roman(raw)
    if value is not None:
        return str(value)
    word = fold(raw)
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    return _SAME.get(word) or _american(word)


@lru_cache(maxsize=65536)
def _forms(raw: str) -> tuple[str, str]:
    form = comparable(raw)
    return form, uninflected(form)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text in order; ``&`` is left out, as "and" carries no content.

    Words that were glued by a lost space are taken apart at their capitals.
    """
    return list(_tokens(text))


@lru_cache(maxsize=512)
def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        start, end = match.span()
        if not raw.islower() and not raw[1:].islower() and raw.isalpha() and not raw.isupper():
            for i in range(start + 1, end):
                joint = text[i].isupper() and text[i - 1].islower()
                if joint and i - start >= (2 if text[start].islower() else 4):
                    raw = text[start:i]
                    found.append(Token(*_forms(raw), start, i, raw))
                    start = i
            raw = text[start:end]
        form, base = _forms(raw)
        if form:
            found.append(Token(form, base, start, end, raw))
    return found


def content(items: Sequence[Token]) -> list[Token]:
    """Return the tokens that carry meaning; all of them when each is a function word."""
    kept = [t for t in items if t.text not in STOP]
    return kept or list(items)


# ---- names of people: which other ways of writing a name are the same person

TITLES = word_set(
    "sir dame lord lady king queen prince princess president doctor mr mrs ms miss saint"
    " professor general captain colonel major sergeant pope emperor senator governor reverend rev"
    " father brother sister count countess duke duchess baron earl judge justice chief coach"
    " admiral marshal minister czar emperor mayor"
)
PARTICLES = word_set("van von de der den di da du la le del della bin ibn al el st dos des")

_NICK = (
    "robert rob bob bobby robbie|william will bill billy willie liam|richard rick dick ricky rich"
    "|james jim jimmy jamie|john jack johnny jon|joseph joe joey|thomas tom tommy"
    "|charles charlie chuck charley|edward ed eddie ted teddy ned|michael mike mick mickey micky"
    "|david dave davy|daniel dan danny|samuel sam sammy|benjamin ben benny|anthony tony antony"
    "|christopher chris kit|matthew matt|andrew andy drew|steven stephen steve|patrick pat paddy"
    "|peter pete|gregory greg|jeffrey jeff geoffrey geoff|kenneth ken kenny|ronald ron ronnie"
    "|donald don donnie|lawrence larry laurence|gerald jerry gerry|henry harry hank|frederick fred"
    " freddie freddy|albert al bert|alexander alex sandy|nicholas nick nicky nicolas|philip phil"
    " phillip|timothy tim|walter walt|raymond ray|leonard len lenny leo|elizabeth liz beth betty"
    " lizzie eliza|margaret maggie peggy meg|katherine catherine kathy cathy kate katie kathryn"
    "|susan sue suzanne|deborah debbie deb|barbara barb|jennifer jen jenny|jessica jess"
    "|victoria vicky|patricia pat patty trish|christina chris tina christine|rebecca becky"
    "|abraham abe|theodore ted teddy|franklin frank|francis frank|stanley stan|vincent vince"
    "|douglas doug|nathaniel nathan nate|zachary zach zack|jonathan jon|eugene gene|arthur art"
    "|harold hal harry"
)
_GROUPS: dict[str, set[int]] = {}
for _i, _group in enumerate(_NICK.split("|")):
    for _name in _group.split():
        _GROUPS.setdefault(_name, set()).add(_i)


def same_given(a: str, b: str) -> bool:
    """Tell whether two given names can be one person's: equal, an initial, a short form."""
    if a == b or (len(a) == 1 and b.startswith(a)) or (len(b) == 1 and a.startswith(b)):
        return True
    if _GROUPS.get(a, set()) & _GROUPS.get(b, set()):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= 3 and long.startswith(short)


def person_parts(items: Sequence[Token]) -> list[Token] | None:
    """Return the parts of a name of 2 to 5 capitalized words, without titles.

    ``None`` where the tokens do not look like a name (lower-case words, numbers, function words).
    """
    kept = list(items)
    while len(kept) > 1 and kept[0].text in TITLES:
        kept = kept[1:]
    if not 2 <= len(kept) <= 5 or items[0].text in CHANGERS:
        return None
    named = all((t.capital or t.text in PARTICLES) and not t.number for t in kept)
    return kept if named and kept[-1].capital and len(kept[-1].text) > 1 else None


def stands_alone(items: Sequence[Token], i: int) -> bool:
    """Tell whether a family name is said without a given name: "Pasteur", "Dr. Pasteur".

    A capitalized word right before or after it makes another name of it ("Ricky Wilson"), and so
    does "of" or a Roman numeral ("Bank of Japan", "Louis XVI").
    """
    k = i - 1
    while k >= 0 and items[k].text in PARTICLES:
        k -= 1
    before = items[k] if k >= 0 else None
    after = items[i + 1] if i + 1 < len(items) else None
    if after is not None and (after.text == "of" or (after.number and after.raw.isalpha())):
        return False
    if after is not None and after.capital and not after.number and after.text not in STOP:
        return False
    return before is None or not before.capital or before.text in TITLES or before.text in STOP


# ---- word families: a country and its people, and words that share a root

# Each line: the country (or region), then its adjective and people, where no suffix rule tells.
_PLACES = """
france french frenchman frenchmen frenchwoman|spain spanish spaniard spaniards|england english
englishman englishmen|scotland scottish scots scot|wales welsh welshman|ireland irish irishman
|netherlands dutch holland dutchman|germany german germans|greece greek greeks|switzerland swiss
|sweden swedish swede swedes|denmark danish dane danes|finland finnish finn finns
|norway norwegian norwegians|iceland icelandic|poland polish pole poles|portugal portuguese
|turkey turkish turk turks|china chinese|japan japanese|vietnam vietnamese|thailand thai
|philippines filipino filipinos philippine|peru peruvian|wien vienna viennese|hungary hungarian
|belgium belgian|czechia czech|brazil brazilian|argentina argentine argentinian argentinean
|canada canadian|mexico mexican|egypt egyptian|israel israeli|iraq iraqi|pakistan pakistani
|kuwait kuwaiti|russia russian|italy italian|ukraine ukrainian|norse norseman|venice venetian
|naples neapolitan|cyprus cypriot|malta maltese|lebanon lebanese|nepal nepali nepalese
|sudan sudanese|taiwan taiwanese|burma burmese|afghanistan afghan|congo congolese
|colombia colombian|jamaica jamaican|cuba cuban|chile chilean|korea korean|india indian
|australia australian|austria austrian|africa african|asia asian|europe european|arabia arab
arabian arabic|syria syrian|iran iranian|persia persian|rome roman|america american americans
|britain british briton britons|croatia croatian|serbia serbian|bulgaria bulgarian
|romania romanian|ethiopia ethiopian|kenya kenyan|nigeria nigerian|bavaria bavarian
|prussia prussian|saxony saxon|flanders flemish|catalonia catalan|brittany breton
|tibet tibetan|mongolia mongolian|indonesia indonesian|malaysia malaysian|ghana ghanaian
|morocco moroccan|tunisia tunisian|algeria algerian|libya libyan|babylon babylonian
|hawaii hawaiian|texas texan|california californian|estonia estonian|latvia latvian
|lithuania lithuanian|georgia georgian|armenia armenian|albania albanian|slovenia slovenian
slovene|slovakia slovak slovakian|venezuela venezuelan|ecuador ecuadorian|bolivia bolivian
|paraguay paraguayan|uruguay uruguayan|panama panamanian|haiti haitian|somalia somali somalian
"""
# Words for people that differ by gender only, and one everyday pair.
_PAIRS = """
actor actress|businessman businesswoman businessperson|chairman chairwoman chairperson chair
|spokesman spokeswoman spokesperson|sportsman sportswoman sportsperson|comedian comedienne
|waiter waitress|congressman congresswoman|policeman policewoman|songwriter songstress
|film movie|heir heiress|hero heroine|duke duchess|poet poetess|author authoress
"""
PLACE, _PAIR = (
    {word: group.split()[0] for group in table.split("|") for word in group.split()}
    for table in (_PLACES, _PAIRS)
)
# Countries that are written in several ways; upper-case short forms are compared as such.
_COUNTRIES = """
United States/United States of America/USA/U.S.A./US/U.S./America|Ivory Coast/Côte d'Ivoire
|United Kingdom/UK/U.K./Great Britain/Britain|Soviet Union/USSR/U.S.S.R.
|Russia/Russian Federation|China/People's Republic of China/PRC|South Korea/Republic of Korea
|North Korea/DPRK|Czech Republic/Czechia|Netherlands/Holland|Myanmar/Burma
|United Arab Emirates/UAE/U.A.E.|East Germany/German Democratic Republic/GDR
|West Germany/Federal Republic of Germany
"""
_COUNTRY = {
    name: tuple(group.split("/"))
    for group in _COUNTRIES.strip().replace("\n", "").split("|")
    for name in group.split("/")
}


@lru_cache(maxsize=8192)
def country_names(value: str) -> tuple[str, ...]:
    """Return the names of a country, its own among them, or nothing for another thing."""
    return _COUNTRY.get(re.sub(r"^the\s+", "", value.strip(), flags=re.IGNORECASE), ())


_ENDINGS = word_list(
    "izations ization izing isation ations ation ically ical ics ions ion ings ing ers er ors or"
    " ists ist isms ism als al ic ives ive ments ment ern ians ian ans an ized ised ed es s ae a"
    " on um us y ity ies e ia ium"
)
_SUFFIX = regex("(?:" + "|".join(sorted(_ENDINGS, key=len, reverse=True)) + ")$")


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """Return the part of a long word that its family shares: "hieroglyphics" -> "hieroglyph".

    At least seven letters must remain, so that short words keep apart ("organ", "organize").
    """
    if not 8 <= len(word) <= LONGEST or not word.isalpha():
        return word
    while len(word) > 7:
        shorter = _SUFFIX.sub("", word)
        if shorter == word or len(shorter) < 7:
            break
        word = shorter
    if len(word) > 7 and word[-1] == word[-2]:
        word = word[:-1]
    return word


@lru_cache(maxsize=65536)
def keys(text: str, stem: str) -> tuple[str, ...]:
    """Return what a word is looked up by: form, stem, place, root; strongest first."""
    base = root(text)
    found = [text, stem, base]
    if text in PLACE:
        found.append("@" + PLACE[text])
    if text in _PAIR:
        found.append("&" + _PAIR[text])
    if len(base) >= 7:
        found.append("~" + base)
    return tuple(dict.fromkeys(found))


def slip(a: str, b: str) -> bool:
    """Tell whether two long words differ by one typing slip.

    One letter too many or too few, or two swapped, where both have six letters ("Paris" is not
    "parish"); one wrong letter from nine on, as shorter names that differ by a letter are mostly
    different names.
    """
    if a == b or min(len(a), len(b)) < 6 or a[0] != b[0] or not (a.isalpha() and b.isalpha()):
        return a == b
    if len(a) == len(b) < 9 and sorted(a) != sorted(b):
        return False
    return OSA.distance(a, b, score_cutoff=1) <= 1
