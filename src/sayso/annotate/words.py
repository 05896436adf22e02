"""Word families: a country and its people, and words that share a root."""

from __future__ import annotations

import re
from functools import lru_cache

from sayso.annotate.normalize import LONGEST, word_list

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
PLACE: dict[str, str] = {
    word: group.split()[0]
    for group in _PLACES.replace("\n", " ").split("|")
    for word in group.split()
}
# Words for people that differ by gender only, and one everyday pair.
_PAIRS = """
actor actress|businessman businesswoman businessperson|chairman chairwoman chairperson chair
|spokesman spokeswoman spokesperson|sportsman sportswoman sportsperson|comedian comedienne
|waiter waitress|congressman congresswoman|policeman policewoman|songwriter songstress
|film movie|heir heiress|hero heroine|duke duchess|poet poetess|author authoress
"""
_PAIR: dict[str, str] = {
    word: group.split()[0]
    for group in _PAIRS.replace("\n", " ").split("|")
    for word in group.split()
}
# Countries that are written in several ways; upper-case short forms are compared as such.
_COUNTRIES = (
    ("United States", "United States of America", "USA", "U.S.A.", "US", "U.S.", "America"),
    ("United Kingdom", "UK", "U.K.", "Great Britain", "Britain"),
    ("Soviet Union", "USSR", "U.S.S.R."),
    ("Russia", "Russian Federation"),
    ("China", "People's Republic of China", "PRC"),
    ("South Korea", "Republic of Korea"),
    ("North Korea", "DPRK"),
    ("Czech Republic", "Czechia"),
    ("Netherlands", "Holland"),
    ("Myanmar", "Burma"),
    ("United Arab Emirates", "UAE", "U.A.E."),
    ("Ivory Coast", "C\u00f4te d'Ivoire"),
    ("East Germany", "German Democratic Republic", "GDR"),
    ("West Germany", "Federal Republic of Germany"),
)


@lru_cache(maxsize=4096)
def country_names(value: str) -> tuple[str, ...]:
    """Return the other names of a country, or nothing for what is not in the short list."""
    bare = re.sub(r"^the\s+", "", value.strip(), flags=re.IGNORECASE)
    for names in _COUNTRIES:
        if bare in names:
            return tuple(n for n in names if n != bare)
    return ()


_ENDINGS = word_list(
    "izations ization izing isation ations ation ically ical ics ions ion ings ing ers er ors or"
    " ists ist isms ism als al ic ives ive ments ment ern ians ian ans an ized ised ed es s ae a"
    " on um us y ity ies e ia ium"
)
_SUFFIX = re.compile("(?:" + "|".join(sorted(set(_ENDINGS), key=len, reverse=True)) + ")$")


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
    found = [text] if text == stem else [text, stem]
    if text in PLACE:
        found.append("@" + PLACE[text])
    if text in _PAIR:
        found.append("&" + _PAIR[text])
    base = root(text)
    if base != text and base != stem:
        found.append(base)
    if len(base) >= 7:
        found.append("~" + base)
    return tuple(found)


def slip(a: str, b: str) -> bool:
    """Tell whether two long words differ by one typing slip.

    One letter too many or too few, or two swapped, where both have six letters ("Paris" is not
    "parish"); one wrong letter from nine on, as shorter names that differ by a letter are mostly
    different names.
    """
    if a == b:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    if len(long) - len(short) > 1 or len(short) < 6 or short[0] != long[0]:
        return False
    if not (a.isalpha() and b.isalpha()):
        return False
    i = 0
    while i < len(short) and short[i] == long[i]:
        i += 1
    if len(short) != len(long):
        return short[i:] == long[i + 1 :]
    if short[i : i + 2] == long[i : i + 2][::-1] and short[i + 2 :] == long[i + 2 :]:
        return True
    return len(long) >= 9 and short[i + 1 :] == long[i + 1 :]
