"""Which sentences need no pattern: a cheap look at the openings of their words.

Every alternative of a pattern needs at least one word whose first four letters are listed for its
class. Most sentences of a biography have none, and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|%|/|\?")

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
