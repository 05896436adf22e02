"""When a part of the gold is enough, in a short answer, and when a place goes on otherwise."""

from __future__ import annotations

from sayso.annotate.names import TITLES
from sayso.annotate.normalize import CHANGERS, STOP, word_set
from sayso.annotate.phrases import Hit, Text, locate
from sayso.annotate.readings import LISTED, Form

# What stands before "of" in a name that is often left out: "(the University of) Oxford".
_INSTITUTION = word_set(
    "university city republic kingdom state county province isle island commonwealth"
)


def _clips(form: Form, kept: set[str]) -> bool:
    """Tell whether what is left out makes another thing of the gold.

    A number, a word that changes what follows it, the family name of three names, the thing itself
    of "walls of the heart", and the noun of "Boston suburbs" or "hydrogen peroxide" may not be.
    """
    missing = [t for t in form.content if t.stem not in kept]
    if any(t.number or t.text in CHANGERS for t in missing):
        return True
    if form.person is not None and len(form.person) > 2 and form.person[-1].stem not in kept:
        return True
    if len(form.tokens) > 2 and form.tokens[1].text == "of":
        thing = form.tokens[0]
        if kept == {thing.stem} or not (thing.stem in kept or thing.text in _INSTITUTION):
            return True
    if all(t.number for t in form.content if t.stem in kept):
        named = any(t.capital for t in missing)  # "III" is not "Henry III"
        return named or not (form.content[0].number or form.content[-1].number)
    last = form.content[-1]
    counted = form.content[0].number and form.content[0].stem in kept
    return last.stem not in kept and not last.capital and not counted


def bare(form: Form, text: Text) -> list[Hit]:
    """A short answer that says nothing but words of the gold: "Belshazzar" for "king Belshazzar".

    One word of several common ones is too little: "basalts" is not "high-titanium basalts".
    """
    said = {i: t for i, t in enumerate(text.tokens) if t.text not in STOP}
    if not 1 <= len(said) <= 4 or len(text.tokens) > 7 or LISTED.search(form.value):
        return []
    kept: set[str] = set()
    covered: set[int] = set()
    for t in form.tokens:
        places = set(locate(t, text)) & said.keys()
        if places:
            kept.add(t.stem)
            covered |= places
    if covered != said.keys() or _clips(form, kept):
        return []
    counted = form.content[0].number and form.content[0].stem in kept
    if 2 * len(kept) < len({t.stem for t in form.content}) and not counted:
        return []
    common = not any((t.capital or t.number) and t.stem in kept for t in form.content)
    if common and len(kept) == 1 < len(form.content):
        return []
    return [Hit(min(said), max(said), "bare part")]


def continued(text: str, said: Text, hit: Hit, gold: Form) -> bool:
    """Tell whether a place goes on otherwise than its gold: "Plymouth, England", "Texas Bowl".

    A capitalized word that is not the gold's follows it, after a space or a comma (in a text
    without capitals any word after a comma), or stands before it ("Ann Plymouth").
    """

    def foreign(i: int, capital: bool) -> bool:
        t = said.tokens[i]
        if not capital or t.text in STOP or (t.number and t.raw.isdigit()):
            return False
        return t.text not in TITLES and not any(t.stem == g.stem for g in gold.tokens)

    first, last = hit.first, hit.last
    if last + 1 < len(said.tokens):
        after = said.tokens[last + 1]
        gap = text[said.tokens[last].end : after.start].strip()
        lower = gap == "," and text.islower()
        if gap in ("", ",") and foreign(last + 1, after.capital or lower):
            return True
    if first:
        before = said.tokens[first - 1]
        touching = not text[before.end : said.tokens[first].start].strip()
        return touching and foreign(first - 1, before.capital)
    return False
