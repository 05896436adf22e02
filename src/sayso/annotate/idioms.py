"""Phrases that name an aspect without its usual word: "hails from", "on the payroll".

Each family of ``cues`` gets the phrases of general English that speak of it. Bounded, linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PHRASES: dict[str, str] = {
    "birth": r"""life\s+(?:began|started)|saw\s+(?:his|her|their)\s+birth|native\s+(?:town|city
        |place|village)
        |arrival\s+(?:\w+\s+){0,5}?(?:this|the)\s+world|birth\w*|cradle|born
        |hail(?:s|ed|ing)?\s+from|c[ao]mes?\s+from|originally\s+from|(?:came|come
        |brought)\s+into
        \s+(?:the|this)\s+world|first\s+saw\s+the\s+light|entered\s+the\s+world|grew\s+up\s+in
        |native
        \s+of|arrived\s+in\s+the\s+world|roots\s+(?:are\s+)?in|b\.\s|home\s?town|raised\s+in""",
    "death": r"""passed\s+away|lost\s+(?:his|her|their)\s+life|end\s+came|last\s+breath|succumbed
        |perished
        |d\.\s|laid\s+to\s+rest|fatal""",
    "marriage": r"""(?:family|married|love|private)\s+life\b|partner\s+in\s+marriage|marri\w+
        |wed(?:s|ded|ding)?\b|spouse|partner\b
        |tied\s+the\s+knot|exchanged\s+vows|life\s+partner|better\s+half
        |took\s+\w+\s+as\s+
        (?:his|her)|husband|wife|bride|groom|walked\s+down\s+the\s+aisle|shared\s+(?:his
        |her)\s+life""",
    "education": r"""train(?:ed|ing)\b|graduat\w+|school\b|stud(?:y|ied|ies|ent\s+(?:at|of))\b
        |alma\s+mater
        |attended|degree|diploma|educat\w+
        |trained\s+(?:at|in)|enrolled|schooled|took\s+(?:a|her|his)\s+degree
        |went\s+to\s+
        (?:college|university|school)|lecture\s+halls|learn(?:ed|t)\s+(?:his|her|their
        |the)\s+(?:trade|craft)|
        passed\s+through|academic|(?:attended|reading|read)\s+\w+\s+at|schooling|alumn\w+|
        (?:university|college|institute|academy)\b""",
    "occupation": r"""-born\s+(?:[\w-]+\s+){0,2}?\w+(?:ist|er|or|ian|ant|ect)\b|(?:life|years
        |days)\s+as\s+an?\b|went\s+into\b|served\s+as\b|,\s+(?:an?
        |the)\s+(?:[\w-]+\s+){0,3}?\w+(?:ist|er|or|ian|man
        |woman)\b(?!\s+of\b)
        |taught\b|practi[sc](?:ed|ing|es)\b|(?:made|makes|making)\s+(?:a|his|her
        |their)\s+name\s+as|by\s+calling
        |took\s+up\s+work
        |profession|trade\b|job\b|vocation|occupation
        |bec[ao]mes?\s+an?\s|(?:is|was)\s+an?\s+(?:[\w-]+\s+){0,3}?\w+(?:ist|er|or
        |ian|ant)\b|(?:made?|earned|makes|making|earns?)\s+(?:a|his|her|their)\s+living
        |by\s+(?:trade
        |profession)|
        work(?:s|ed|ing)?\s+as|earned\s+(?:his|her)\s+(?:bread|keep)|day\s+job|line\s+of\s+work|
        career|livelihood|did\s+for\s+a\s+living|professionally|(?:was|is)\s+active\s+as
        |known\s+as\s+an?\s""",
    "founding": r"""laid\s+the\s+foundations?|foundations?\b|owes?\s+its\s+existence|(?:saw
        |marks?)\s+the\s+(?:creation|birth|start)
        |(?:for|by)\s+(?:starting|founding|creating)|set\s+(?:[\w']+\s+){1,4}up|set\s+up
        |start(?:s|ed)?\s+(?:of|the)|establish\w*|found(?:ed|ers?|ing)\b|birth\s+of\s+the
        |c[oa]me\s+into\s+(?:being|existence)
        |set\s+up|set\s+\w+\s+up|started\s+(?:by|in|out|up)|brainchild
        |launched\s+(?:by|in)|
        dat(?:es?|ing)\s+(?:back\s+)?(?:to|from)|go(?:es)?\s+back\s+to|opened\s+(?:its|for)\s+\w+|
        came\s+into\s+(?:being|existence)|first\s+opened|got\s+(?:its|their)\s+start
        |began\s+(?:life|trading|operating|business)|
        roots\s+in|origins?|beginnings?|got\s+going|brought\s+(?:it\s+)?to\s+life
        |in\s+business\s+since|since\s+\d{4}|
        started\s+(?:the|it|this)|founders?|creation|creator|came\s+about""",
    "location": r"""(?:from|in|at)\s+(?:which|what)\s+(?:town|city|place)|home\s+to|seat\b
        |main\s+offices?|head\s+offices?|management\b|base\b|based\b|central\s+offices?
        |based\s+in|head\s+office|main\s+office|home\s+(?:base|is|city)|runs?\s+from
        |run\s+from|
        operates?\s+(?:out\s+of|from)|call(?:s|ed)?\s+\w+\s+home|offices?\s+(?:are|is|in|at)
        |directed\s+from|at\s+home\s+in|
        sits?\s+in|domiciled|head\s?quarter\w*|quarters""",
    "employees": r"""gives?\s+work|workers|men\s+and\s+women|employ\w*|\d\s+people|workforce
        |head\s?count|how\s+many\s+(?:people|hands|workers)
        |payroll|on\s+(?:its|the)\s+books|people\s+(?:work|on|strong)|head\s?count|jobs|
        (?:employ|hire)\w*|work(?:s|ers|force|ing)?\s+(?:for|there)|staff\w*|team\s+of\s+\d|hands
        |personnel""",
    "industry": r"""does\s+business|business\s+in|(?:makes?|earns?)\s+its\s+(?:living|money)
        |compet(?:es?|ing)\s+in|familiar\s+name
        |trade\b|sector\b|industry\b|branch\b|line\s+of\s+(?:business|work)|what\s+business
        |(?:business|trade|field|sector|industry|market|area|line)\s+of
        |in\s+the\s+[\w-]+(?:\s+[\w-]+)?\s+
        (?:business|trade|sector|industry|market|field)|(?:company|firm|business|maker|group
        |corporation)\s+
        (?:active|engaged|operating)|active\s+in|(?:is|was)\s+an?\s+[\w' -]{1,40}(?:company|firm
        |business|maker|producer|manufacturer|corporation|designer)""",
    "product": r"""production\s+of|maker\s+of|(?:customers?|people|buyers?)\s+(?:buy|get)
        |leaves?\s+the\s+(?:works
        |factory|plant)
        |turns?\s+out|(?:has|have)\s+(?:made|built|sold)|roll\s+off|goods\b
        |turns?\s+out|known\s+for\s+(?:its|making)|manufactur\w+|churns?\s+out
        |(?:builds?|makes?(?!\s+(?:its|his|her|a|the\s+firm)\s+(?:money|living|name))|making|made
        |sells?|selling|
        offers\b|produc(?:e[sd]?|ing|ers?|ts?)\b|supplies|markets)\b|product\s+(?:line|range)
        |output|wares|catalogu?e
        |factory|factories""",
    "award": r"""jury|distinctions?|reward\w*|accept(?:s|ed)\s+the
        |honou?red\s+with|laureate|recipient|took\s+home|went\s+home\s+with
        |earned\s+(?:the|a|her|him)(?!\s+(?:living|bread|keep|name|money))|
        awarded|decorated|distinction|\b(?:prize|medal|fellowship|award|order\s+of|honou?rs?
        |trophy|accolade\w*|recogni[sz]\w+)\b|bestowed|given\s+the""",
    "direction": r"""brought\s+(?:[\w']+\s+){1,8}?to\s+(?:the\s+)?(?:screen|life)|director\w*
        |direct(?:s|ed|ion)\b
        |sat\s+in\s+the
        |(?:film|movie|picture|drama|comedy|thriller|western|musical|documentary|feature|romance
        |horror)\s+(?:by|from|of)\s+(?-i:[A-Z])
        |director's\s+chair|behind\s+the\s+camera|a\s+(?:film|movie)\s+(?:by|from|of)|
        helm(?:s|ed|ing)?|(?:was\s+)?shot\s+by|film-?maker|brought\s+to\s+the\s+screen\s+by
        |at\s+the\s+helm|made\s+by""",
    "release": r"""issu(?:ed?|es|ing)\b|first\s+appeared|\w's?\s+(?:1[89]|20)\d\d\s+[a-z]|\b(?:an?
        |the|this|his|her|its)\s+(?:\w+\s+)?(?:1[89]
        |20)\d\d\s+(?:[\w-]+\s+){0,4}?(?:film|movie|picture
        |drama
        |comedy|thriller|western|musical|documentary|novel|album|book|game|single|song|series)\b
        |br(?:ings?|ought)\s+(?:it\s+)?out\b|(?:film|movie|drama|comedy|novel|album)\s+(?:of
        |from)\s+
        (?:1[89]|20)\d\d\b|first\s+showed|opening\s+(?:day|night)|first\s+show(?:n|ing)
        |audiences?\s+first
        |to\s+the\s+screens?\s+(?:on|in)|reach(?:ed|es)\s+(?:the\s+)?(?:\w+\s+)?(?:cinemas
        |theaters|theatres|screens?|public|audiences?)|releas\w+|hit\s+the|first\s+screening
        |hit\s+(?:theaters|theatres|cinemas|the\s+screens?|screens|shelves|stores)
        |c[ao]me\s+out|came\s+to\s+(?:theaters|cinemas)|
        (?:in|reached|into)\s+(?:cinemas|theaters|theatres|screens)|premier\w+|first\s+(?:shown
        |screened|seen|aired)|opened\s+(?:in|on)|
        out\s+(?:in|on|since)\s+\d|arrived\s+(?:in|on)|screened|saw\s+the\s+light\s+of\s+day
        |went\s+on\s+sale|appeared\s+in\s+\d""",
    "cast": r"""acts?\s+in|acting|in\s+front\s+of\s+the\s+camera|we\s+(?:meet|see)|(?:play|plays
        |played|take|takes)\s+the\b|cast\b|lead(?:s|ing)?\b|players?\b|actors?\b|roles?\b
        |leads?\b|headlin\w+|in\s+the\s+(?:lead|leading|main|title)|fronted|opposite
        |on\s+screen
        |leading\s+(?:role|part|man|lady)|
        features?\b|performances?|(?:play|act)(?:s|ed|ing)?\s+(?:the|in|by)|stars?\b|starring
        |appear(?:s|ed)?\s+in\s+(?:it|the)""",
    "music": r"""set\s+to\s+music|songs\b|heard\s+in
        |score\b|scored|soundtrack|music|wrote\s+the\s+(?:score|songs)|tunes|compos\w+
        |melod(?:y|ies)\b""",
    "genre": r"""(?:is|was|,)\s+(?:[\w'-]+\s+){0,4}?an?\s+(?:[\w'-]+\s+){0,4}?(?:film|movie|comedy
        |drama|thriller)\b
        |labels?\b|heading|(?:sort|kind|type|class)\s+of\s+(?:film|movie|picture|book|novel|music
        |album|story)\b|in\s+style|described\s+as|genre|(?:film|movie)\s+of\s+the|categor\w+
        |^(?:\W*\w+){0,8}?,\s+an?\s+(?:[\w'-]+\s+){0,4}(?:film|movie|drama|comedy|thriller|western
        |musical|romance)
        |(?:is|was|as)\s+an?\s+(?:[\w'-]+\s+){0,4}(?:film|movie|picture|drama|comedy
        |thriller|western|musical|romance|
        documentary|fantasy|horror|noir|melodrama|epic|tale|novel|story)|falls?\s+(?:into|under)
        |class(?:ed|ified)\s+as|
        (?:drama|comedy|thriller|western|musical|romance|documentary|fantasy|horror|noir
        |melodrama)\b|billed\s+as|kind\s+of\s+(?:film|movie)""",
    "duration": r"""keeps?\s+(?:viewers|audiences?|people)|in\s+their\s+seats|seated|long\b
        |duration|runs\b
        |runs?\s+(?:for|to|about|around|roughly|\d)|running\s+time|run-?time
        |clocks?\s+in|last(?:s|ing|ed)?\b|
        minutes|hours\b|from\s+start\s+to\s+finish|length|how\s+long""",
    "incubation": r"""latency|latent|days?\b|weeks?\b|time\s+(?:from|between)|onset
        |(?:days?|weeks?)\s+(?:after|pass|go\s+by|elapse|between|before|from)
        |(?:appear|emerge|show|begin|surface)\w*\s+[\w\s]{0,30}
        (?:days?|weeks?)|after\s+(?:exposure|infection|contact)|between\s+(?:infection|exposure)
        |dormant|incubat\w+|
        first\s+signs\s+(?:take|appear)|(?:exposure|infection)\s+(?:to|and)""",
    "distance": r"""separat\w+|gap\s+between|remote\w*|removed\b|travell?ed|distan\w+|kiloparsecs?
        |light[\s-]?years?|parsecs?|from\s+(?:the\s+)?(?:earth|us|sun|our)|(?:away
        |distant|far\s+off)\b|how\s+far""",
    "radius": r"""size\b|(?:middle|center|centre|core)\s+(?:[\w']+\s+){0,5}?to\s+(?:its\s+
        |the\s+)?(?:surface|edge|outside)
        |how\s+(?:big|large|wide)|kilomet(?:er|re)s|\d\s*km\b
        |radi(?:us|i)\b|(?:from\s+)?(?:center|centre|core)\s+to\s+(?:surface|edge)
        |half\s+(?:its|the)\s+diameter""",
    "discovery": r"""(?:known|heard|aware)\s+of\s+(?:[\w']+\s+){1,4}?since
        |first\s+(?:\w+\s+){0,3}?(?:to\s+)?(?:notice|see|spot|detect|observe|find
        |record|seen)\b
        |(?<!data\s)(?<!information\s)(?<!records\s)(?<!details\s)found\b(?!\s+(?:among|within
        |throughout|in\s+the\b|to\b|that\b))|detect\w*|notic(?:ed|ing)|astronomer\s+who|finder
        |spott\w+|picked
        |spott(?:ed|ing)|first\s+(?:seen|noticed|observed|identified|recorded
        |detected)|credit\w*|turned\s+up|sighted|
        came\s+to\s+light|picked\s+out|noticed\s+by|observed\s+by|caught\s+(?:sight|by)
        |found\s+(?:by|in)|discover\w+|detect\w+|
        (?:known|been\s+known)\s+since""",
    "constellation": r"""belongs?\s+to|(?:sits?|lies|located|found|visible|seen|situated
        |resides?)\s+in\s+(?:\w+\s+){0,3}?(?-i:[A-Z])
        |stars\s+of|turn\s+to|part\s+of|in\s+the\s+direction\s+of|border
        |constellation|(?:patch|part|region|corner)\s+of\s+(?:the\s+)?sky
        |among\s+the\s+stars\s+of|night\s+sky|
        (?:look|seek|find)\s+(?:for\s+)?it\s+in""",
    "eponym": r"""(?:lent|gave|gives|lends)\s+(?:[\w']+\s+){0,5}?(?:its\s+)?name\b
        |bears?\s+(?:the\s+|its\s+)?name|name\s+of\b
        |name\s+(?:honou?rs|comes|goes)|whose\s+name|nam(?:ed|es|ing)\b|after\s+whom
        |nam(?:e|ed|ing)\s+(?:\w+\s+)?(?:honou?rs?|after|for|comes?|derives?|recalls?
        |refers?|commemorates?|pays)|
        takes?\s+its\s+name|owes?\s+its\s+name|in\s+honou?r\s+of|namesake|christened|tribute\s+to
        |eponym\w*|got\s+its\s+name|its\s+name""",
    "symptom": r"""leaves?\s+(?:\w+\s+){1,3}with\b|(?:patients?|sufferers?|those\s+\w+|people)\s+
        (?:\w+ly\s+)?(?:lose|suffer|feel|complain|become|run|grow|cough|itch|bleed|tire|notice)\b
        |marks?\b|look\s+for\b|develops?\b|leads?\s+to|clinical|brings?\s+with|feel\b
        |(?:makes?|made|making)\s+(?:itself|themselves)\s+(?:felt|known|noticed)|sufferers
        |(?<!that\s)(?<!which\s)suffer\w*|experience[sd]?|complain\w*|marked\s+by
        |characteri[sz]ed\s+by
        |patients?\s+(?:report|show|have|develop|get)|
        shows?\s+itself|manifest\w*|presents?\s+with|people\s+(?:with\s+it\s+)?(?:report|get
        |develop|notice)|brings?\s+(?:on\s+)?(?:fever|pain|\w+ing)|
        tell-?tale|warning\s+signs?|signs?\b|symptom\w*|sufferers|it\s+(?:mostly\s+
        |often\s+)?(?:dries|hurts|weakens|makes)""",
    "treatment": r"""helps?\s+against|works?\s+against|against\s+(?:it|the)|pills?\b|dose\w*
        |combat\w*
        |respond\w*\s+to|manag(?:ed|eable)\s+with|prescri\w+|(?:is|are
        |be)\s+(?:\w+\s+)?given|remed(?:y|ies)|medic(?:ation|ine|ament)s?\b|
        drugs?\b|treat\w*|cur(?:e|ed|es)\b|therap\w+|relie\w+|fought\s+with|controlled\s+with
        |tablets?|doctors\s+(?:give|use|turn)|antidote|
        standard\s+choice|taken\s+(?:early|daily)""",
    "cause": r"""brings?\s+(?:[\w']+\s+){1,5}?about|gives?\s+rise|infection\s+with
        |makes?\s+people\s+(?:ill|sick)|pathogen|(?:virus|bacterium|fungus|parasite|prion|gene
        |toxin)\b|agent\b|germs?\b|source\s+of
        |due\s+to|results?\s+from|stems?\s+from|ar(?:ises?|ose)\s+from|brought\s+(?:on
        |about)\s+by|trigger\w*|traced\s+(?:back\s+)?to|
        blamed?|culprit|behind\s+(?:it|the\s+(?:disease|illness|condition))|root\s+of
        |responsible\s+for|origin\s+of\s+the\s+(?:disease|illness)|
        etiolog\w+|aetiolog\w+|caus\w+|leads?\s+to\s+(?:it|the)|comes\s+from\s+an?\b""",
    "specialty": r"""(?:doctors?|physicians?|experts?|specialists?)\s+(?:of|in)|refer(?:s
        |red)?\s+(?:[\w']+\s+){0,5}?to
        |department|branch\s+of|clinics?\s+(?:of|for)|handles?\s+the
        |\w+olog(?:y|ists?)\b|\w+iatr(?:y|ics|ists?|icians?)\b|(?:falls?
        |comes?)\s+(?:under|within)|handled\s+by|(?:seen|looked\s+after|treated)\s+by\s+
        |look\s+after|(?:branch|field|department|area)\s+of\s+medicine|special(?:ty|ist\w*|ism)
        |(?:matter|case|job)\s+for|
        \w+(?:al|ic|ine|gy|ry)\s+physicians\b|surgeons?\b|dealt\s+with\s+(?:in|by)\b""",
    "affect": r"""anatom\w+|damage\s+(?:occurs|is\s+done|sits|shows)|found\s+in\s+(?:the|his|her)
        |suffers\b|bodily|lesions?\b|site\b|organ\b
        |seat\s+of|lodges?|located
        |attacks?|targets?|strikes?|settles?\s+in|affect\w*|harms?|damages?|organs?\b
        |part\s+of\s+the\s+body|involves?|hits?\s+the""",
    "prevalence": r"""(?:one|\d+)\s+in\s+(?:\d|every)|million\s+(?:people|patients|cases)
        |cases\s+(?:a|per)|how\s+(?:common|many\s+people)|
        widespread|rare\b|patients\s+in\b|as\s+many\s+as""",
    "residence": r"""home\s+address|liv(?:es|ed|ing)\s+in|makes?\s+(?:his|her|their)\s+home
        |settled\s+in|resid\w+|where\s+\w+\s+lives?""",
    "citizenship": r"""(?:is|was|of|as)\s+(?:an?\s+)?(?:\w+,?\s+){0,4}?(?-i:[A-Z])\w+(?:an|ese
        |ish|i|ch|ek|ss|sh)\s+(?:[a-z]+|citizen|national)\b|
        passport|citizen\w*|nationals?\b""",
    "chief": r"""(?:run|managed|chaired|steered)\s+by|under\s+the\s+(?:leadership|direction)\s+of
        |in\s+charge|(?:who|whoever)\s+(?:now\s+)?(?:runs|leads|heads|steers)
        |at\s+the\s+(?:top|helm)|heads?\s+(?:the|it)|headed\s+by|led\s+by
        |leads\s+(?:the|it)|runs\s+the|boss|top\s+job|corner\s+office""",
    "owner": r"""in\s+the\s+hands\s+of|sold\s+to|subsidiary|belongs?\s+to|bought\s+by|acquired|owned
        |part\s+of\s+the|parent""",
    "writing": r"""(?:novel|book|story|play|poem|tale|memoir)\s+(?:is\s+)?(?:by|from)\b
        |pen(?:ned)?\s+by|from\s+the\s+pen|script\w*|screenplay|wrote|written
        |author\w*""",
    "period": r"""orbits?\b|once\s+every|goes?\s+(?:a)?round\s+(?:the|its)
        |to\s+go\s+(?:a)?round|a\s+year\s+(?:there|on)|circles?\b|circuit|lap\b""",
    "child": r"""(?:mother|father|parent)\s+of\s+\w+|sons?\b|daughters?\b|kids?\b|offspring
        |children""",
    "crossing": r"""(?:span|cross|bridg)(?:s|es|ed|ing)?\b|over\s+the\s+(?-i:[A-Z])""",
    "narrator": r"""told\s+(?:by|from|through)|narrat\w+|in\s+the\s+voice\s+of""",
    "diet": r"""li(?:ves?|ving)\s+(?:off|on)\s+(?-i:[a-z])|feed\w*|feeds|prey\w*|eats?\b|consum\w+
        |diet\w*|devour\w*""",
    "lifespan": r"""lives?\s+(?:for|to|up\s+to|about|around|some)\b|life\s?span
        |reach(?:es)?\s+(?:an\s+age|\d)""",
    "mass": r"""weigh\w*|tips?\s+the\s+scales?|(?:kilo|milli)?grams?\b|\d\s*kg\b|tonnes?\b
        |solar\s+mass\w*""",
    "magnitude": r"""magnitude|shines?\s+at|bright\w*""",
    "flow": r"""(?:empt(?:y|ies|ied)|drain|discharg|join|pour|flow)\w*""",
    "moon": r"""moons?\b|satellites?\b""",
}
_COMPILED = {
    family: re.compile(rf"\b(?:{pattern})", re.IGNORECASE | re.VERBOSE)
    for family, pattern in _PHRASES.items()
}


def families(text: str, wanted: Iterable[str]) -> list[str]:
    """Return which of the ``wanted`` families of ``cues`` a text speaks of in phrases."""
    return [f for f in wanted if f in _COMPILED and _COMPILED[f].search(text)]
