"""Names of people: which other ways of writing a name are the same person."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.annotate.normalize import STOP, Token, word_set

TITLES = word_set(
    "sir dame lord lady king queen prince princess president doctor mr mrs ms miss saint"
    " professor general captain colonel major sergeant pope emperor senator governor reverend rev"
    " father brother sister count countess duke duchess baron earl judge justice chief coach"
    " admiral marshal minister czar emperor mayor"
)
SUFFIXES = word_set("junior senior phd md esq")
# Capitalized first words of places and works, never of people.
NOT_GIVEN = word_set(
    "new north south east west upper lower northern southern eastern western great little san santa"
    " los las port fort mount lake cape river"
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
    """Return the parts of a name of 2 to 5 capitalized words without titles and suffixes.

    ``None`` where the tokens do not look like a name (lower-case words, numbers, function words).
    """
    kept = list(items)
    if kept[0].text in NOT_GIVEN:
        return None
    while len(kept) > 1 and kept[0].text in TITLES:
        kept = kept[1:]
    while len(kept) > 1 and kept[-1].text in SUFFIXES:
        kept = kept[:-1]
    if not 2 <= len(kept) <= 5 or len(kept[-1].text) < 2:
        return None
    for i, t in enumerate(kept):
        if t.number or (not t.capital and (t.text not in PARTICLES or i == len(kept) - 1)):
            return None
        if t.text in STOP and len(t.text) > 1 and not t.capital:
            return None
    return kept


def stands_alone(items: Sequence[Token], i: int) -> bool:
    """Tell whether a family name is said without a given name: "Pasteur", "Dr. Pasteur".

    A capitalized word right before or after it makes another name of it ("Ricky Wilson"), and so
    does "of" or a Roman numeral ("Bank of Japan", "Louis XVI").
    """
    before = items[i - 1] if i else None
    after = items[i + 1] if i + 1 < len(items) else None
    if after is not None and (after.text == "of" or (after.number and after.raw.isalpha())):
        return False
    if after is not None and after.capital and not after.number and after.text not in STOP:
        return False
    return before is None or not before.capital or before.text in TITLES or before.text in STOP
