"""Whether a text is English, by its function words and scripts."""

from __future__ import annotations

from functools import lru_cache

from sayso.judges.patterns import regex

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
