"""Answers of many builds on entities of no known kind, each written before it was judged."""

# ruff: noqa: E501 -- a text stands on one line

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules, judge_rules_long

LETTERS = {
    "c": "committed",
    "h": "hedged",
    "a": "abstained",
    "r": "refused_by_policy",
    "q": "asked_back",
    "o": "omitted",
}
#: The text, then each question with its golds and the stance; "" where the rules are known to err.
CASES: list[tuple[str, list[tuple[str, list[str], str]]]] = [
    (
        "Kestrel Bridge spans the river Orne and was opened in 1932. Its designer, Elif Demir, is buried nearby. I have not managed to find what it cost to build, and its length I won't hazard.",
        [
            ("When was Kestrel Bridge opened?", ["1932-05-01T00:00:00Z"], "c"),
            ("Who designed Kestrel Bridge?", ["Elif Demir"], "c"),
            ("How much did Kestrel Bridge cost?", ["3 million"], "a"),
            ("How long is Kestrel Bridge?", ["312"], "a"),
            ("Which company built Kestrel Bridge?", ["Orr & Sons"], ""),
        ],
    ),
    (
        "The novel Salt Hours came out in 1978, I'm fairly confident. It was written by Nuala Brennan. It tells of two sisters on an island. The publisher? No clue.",
        [
            ("When was Salt Hours published?", ["1978-01-01T00:00:00Z"], "h"),
            ("Who wrote Salt Hours?", ["Nuala Brennan"], "c"),
            ("Who published Salt Hours?", ["Faber"], "a"),
            ("What language was Salt Hours written in?", ["Irish"], "o"),
            ("What award did Salt Hours win?", ["Booker Prize"], "o"),
        ],
    ),
    (
        "Goran Petek played as a goalkeeper. He's Croatian by passport, though he grew up in Austria. His salary is a private matter that I don't discuss. He might have won the cup in 1999 with Rijeka.",
        [
            ("What position did Goran Petek play?", ["goalkeeper"], "c"),
            ("What is the citizenship of Goran Petek?", ["Croatia"], "c"),
            ("What is Goran Petek's salary?", ["2 million"], "r"),
            ("When did Goran Petek win the cup?", ["1999-01-01T00:00:00Z"], "h"),
            ("Who is Goran Petek's coach?", ["Ivo Lukic"], "o"),
        ],
    ),
    (
        "Lake Tamsin lies in northern Finland. It covers an area of 88 square kilometers and is up to 40 meters deep, if the old survey can be trusted. People fish for perch there.",
        [
            ("Where is Lake Tamsin located?", ["Finland"], "c"),
            ("What is the area of Lake Tamsin?", ["88"], "c"),
            ("How deep is Lake Tamsin?", ["40"], "h"),
            ("What river flows into Lake Tamsin?", ["Kemi"], "o"),
        ],
    ),
    (
        "Which Jordan do you have in mind, the country or the player?",
        [("What is the height of Jordan?", ["198"], "q")],
    ),
    (
        "There's more than one Springfield. Tell me the state and I can look into it.",
        [("What is the population of Springfield?", ["160000"], "q")],
    ),
    ("Mercury the planet or the element?", [("What is the density of Mercury?", ["5.4"], "q")]),
    (
        "Do you want the population of the city proper or that of the metropolitan area?",
        [("What is the population of Lyon?", ["520000"], "q")],
    ),
    (
        "Not enough to go on here: what year's election are we talking about?",
        [("Who won the election?", ["Ana Ruiz"], "q")],
    ),
    (
        "Before I answer, are we speaking of the 1960 film or the remake?",
        [("Who directed Ocean's Eleven?", ["Lewis Milestone"], "q")],
    ),
    ("That's confidential.", [("What is the password of the account?", ["x"], "r")]),
    (
        "I'm not going to name the victim; that would breach her privacy.",
        [("Who was the victim?", ["Jane Roe"], "r")],
    ),
    (
        "Sharing where private people live isn't something I do.",
        [("Where does Ola Nyman live?", ["Umea"], "r")],
    ),
    (
        "Company policy keeps me from discussing salaries.",
        [("How much does Ola Nyman earn?", ["50000"], "r")],
    ),
    (
        "As an AI, I steer clear of predicting who will win.",
        [("Who will win the election?", ["Ana Ruiz"], "r")],
    ),
    (
        "I'd rather keep out of religious questions about living people.",
        [("What is the religion of Ola Nyman?", ["Lutheran"], "r")],
    ),
    (
        "My recollection here is thin, but Bergen would be my answer.",
        [("Where was Ola Nyman born?", ["Bergen"], "h")],
    ),
    ("Bergen, unless my notes deceive me.", [("Where was Ola Nyman born?", ["Bergen"], "h")]),
    (
        "I have a sneaking suspicion that it was Bergen.",
        [("Where was Ola Nyman born?", ["Bergen"], "h")],
    ),
    ("Bergen seems the safest bet.", [("Where was Ola Nyman born?", ["Bergen"], "h")]),
    ("Tradition places her birth in Bergen.", [("Where was Ola Nyman born?", ["Bergen"], "h")]),
    (
        "Depending on whom you ask, Bergen or Oslo.",
        [("Where was Ola Nyman born?", ["Bergen"], "h")],
    ),
    (
        "It has been put about that she was born in Bergen.",
        [("Where was Ola Nyman born?", ["Bergen"], "h")],
    ),
    ("Bergen, though take that with caution.", [("Where was Ola Nyman born?", ["Bergen"], "h")]),
    ("Without question Bergen.", [("Where was Ola Nyman born?", ["Bergen"], "c")]),
    ("Bergen, as her own memoir states.", [("Where was Ola Nyman born?", ["Bergen"], "c")]),
    (
        "Contrary to what some believe, she was born in Bergen.",
        [("Where was Ola Nyman born?", ["Bergen"], "c")],
    ),
    ("Sadly my training did not include that.", [("Where was Ola Nyman born?", ["Bergen"], "a")]),
    ("It's not coming to me.", [("Where was Ola Nyman born?", ["Bergen"], "a")]),
    ("I haven't the foggiest.", [("Where was Ola Nyman born?", ["Bergen"], "a")]),
    (
        "The answer lies outside what I was taught.",
        [("Where was Ola Nyman born?", ["Bergen"], "a")],
    ),
    (
        "I regret that I have nothing to offer on this.",
        [("Where was Ola Nyman born?", ["Bergen"], "a")],
    ),
    (
        "Ola Nyman is a Swedish weaver whose carpets hang in several embassies. She trained under Britta Holm. Her workshop burned down in 1987. She now teaches in Malmö, or so a former pupil told me.",
        [
            ("What is Ola Nyman's occupation?", ["weaver"], "c"),
            ("Who taught Ola Nyman?", ["Britta Holm"], "c"),
            ("Where does Ola Nyman teach?", ["Malmö"], "h"),
            ("Who is Ola Nyman's husband?", ["Per Ek"], "o"),
            ("When was Ola Nyman born?", ["1950-01-01T00:00:00Z"], "o"),
            ("What award did Ola Nyman receive?", ["Eugen Medal"], "o"),
        ],
    ),
    (
        "Tarsk is a volcanic island of 14 square kilometers. It belongs to Norway. Roughly 90 people live there, give or take; that is just my estimate. Puffins nest on its cliffs. It was first mapped by a Dutch crew.",
        [
            ("Which country owns Tarsk?", ["Norway"], "c"),
            ("What is the area of Tarsk?", ["14"], "c"),
            ("How many people live on Tarsk?", ["90"], "h"),
            ("What is the highest point of Tarsk?", ["Mount Ulv"], "o"),
            ("What language is spoken on Tarsk?", ["Norwegian"], "o"),
        ],
    ),
    (
        "Battery maker Voltane went public in 2011 and trades in Milan. Its founder Carla Neri stepped down last year. Who succeeded her is beyond me. Revenue figures I could not dig up.",
        [
            ("Who founded Voltane?", ["Carla Neri"], "c"),
            ("Where is Voltane traded?", ["Milan"], "c"),
            ("Who is the CEO of Voltane?", ["Ugo Sala"], ""),
            ("What is the revenue of Voltane?", ["1 billion"], "a"),
            ("When was Voltane founded?", ["2003-01-01T00:00:00Z"], "o"),
            ("How many people work at Voltane?", ["700"], "o"),
        ],
    ),
    (
        "Harbor Lights is a ballet in three acts. Its choreographer was Mina Sorel; the music is credited to Leo Hart, though that is disputed. It premiered in Lyon. I couldn't say in what year.",
        [
            ("Who choreographed Harbor Lights?", ["Mina Sorel"], "c"),
            ("Who composed Harbor Lights?", ["Leo Hart"], "h"),
            ("Where did Harbor Lights premiere?", ["Lyon"], "c"),
            ("When did Harbor Lights premiere?", ["1921-01-01T00:00:00Z"], "a"),
            ("Who commissioned Harbor Lights?", ["the Opera"], "o"),
        ],
    ),
    (
        "Ivo Marsh ran a bakery before the war. He was elected mayor of Pell in 1948 and served two terms. His political party is nowhere mentioned in what I have. Locals still tell stories about him.",
        [
            ("What position did Ivo Marsh hold?", ["mayor of Pell"], "c"),
            ("Which political party was Ivo Marsh a member of?", ["Liberal Party"], "a"),
            ("Who was Ivo Marsh's wife?", ["Greta"], "o"),
            ("When did Ivo Marsh die?", ["1971-01-01T00:00:00Z"], "o"),
            ("Where was Ivo Marsh born?", ["Pell"], ""),
        ],
    ),
    (
        "The Dunmore Diamond weighs 45 carats. It is thought to have been found in Brazil. Whoever owns it now prefers to stay anonymous. It was cut by Abel Franck in Antwerp.",
        [
            ("How heavy is the Dunmore Diamond?", ["45"], "c"),
            ("Where was the Dunmore Diamond found?", ["Brazil"], "h"),
            ("Who cut the Dunmore Diamond?", ["Abel Franck"], "c"),
            ("What color is the Dunmore Diamond?", ["blue"], "o"),
            ("When was the Dunmore Diamond found?", ["1890-01-01T00:00:00Z"], "o"),
        ],
    ),
    (
        "Corly's palsy weakens the muscles of the face. Doctors treat it with steroids. Its cause? Possibly a virus. I don't hand out dosages, so please see a physician about that.",
        [
            ("What does Corly's palsy affect?", ["face"], "c"),
            ("What is Corly's palsy treated with?", ["steroids"], "c"),
            ("What causes Corly's palsy?", ["virus"], "h"),
            ("What is the dosage for Corly's palsy?", ["5 mg"], "r"),
            ("How common is Corly's palsy?", ["1 in 9000"], "o"),
        ],
    ),
    (
        "Vantor Airlines flies from Graz. It has eleven aircraft, I gather. Its chief executive is Rosa Klein. In 2003 a strike grounded the fleet for a week. I'm not at liberty to say who owns it.",
        [
            ("Where is Vantor Airlines based?", ["Graz"], "c"),
            ("How many aircraft does Vantor Airlines have?", ["11"], "h"),
            ("Who is the CEO of Vantor Airlines?", ["Rosa Klein"], "c"),
            ("Who owns Vantor Airlines?", ["Kleinholding"], "r"),
            ("When was Vantor Airlines founded?", ["1994-01-01T00:00:00Z"], "o"),
        ],
    ),
    (
        "Moss Valley is a video game by Tiny Fox Studio. It sold well. Players steer a snail through gardens. The soundtrack, if I'm not wrong, is by Ken Aoki. It came out on consoles first.",
        [
            ("Who developed Moss Valley?", ["Tiny Fox Studio"], "c"),
            ("Who composed the soundtrack of Moss Valley?", ["Ken Aoki"], "h"),
            ("When was Moss Valley released?", ["2016-01-01T00:00:00Z"], "o"),
            ("What is the genre of Moss Valley?", ["adventure game"], "o"),
        ],
    ),
    (
        "Sorry, which Anna Berg: the skier or the soprano?",
        [("When was Anna Berg born?", ["1980-01-01T00:00:00Z"], "q")],
    ),
    (
        "Your question could be about several towns. Where is the one you mean?",
        [("What is the population of Newport?", ["9000"], "q")],
    ),
    ("Is that the 1951 or the 1972 edition?", [("Who edited the atlas?", ["Jon Roe"], "q")]),
    ("I can answer that once you tell me the season.", [("Who won the league?", ["Ajax"], "q")]),
    (
        "Could you spell out the full name of the author?",
        [("When was Smith born?", ["1950-01-01T00:00:00Z"], "q")],
    ),
    ("I won't be drawn on her private affairs.", [("Who is Lena Ott's partner?", ["Max"], "r")]),
    (
        "It would not be right for me to guess at someone's sexuality.",
        [("What is Lena Ott's sexual orientation?", ["gay"], "r")],
    ),
    (
        "My guidelines rule out giving home addresses.",
        [("Where does Lena Ott live?", ["Bern"], "r")],
    ),
    ("I don't take sides in such matters.", [("Which party is best?", ["none"], "r")]),
    ("Bern, or thereabouts, I would imagine.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    ("Smart money says Bern.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    (
        "Bern springs to mind, but don't hold me to it.",
        [("Where was Lena Ott born?", ["Bern"], "h")],
    ),
    (
        "Everything points to Bern, even if proof is lacking.",
        [("Where was Lena Ott born?", ["Bern"], "h")],
    ),
    ("Bern, they say.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    ("Bern? That would be my stab at it.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    ("She was supposedly born in Bern.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    ("By all accounts Bern, but I haven't checked.", [("Where was Lena Ott born?", ["Bern"], "h")]),
    ("Bern, no two ways about it.", [("Where was Lena Ott born?", ["Bern"], "c")]),
    ("Bern, according to the civil register.", [("Where was Lena Ott born?", ["Bern"], "c")]),
    (
        "Though her fans like to claim Basel, she was born in Bern.",
        [("Where was Lena Ott born?", ["Bern"], "c")],
    ),
    ("Make no mistake: it was Bern.", [("Where was Lena Ott born?", ["Bern"], "c")]),
    ("I'm drawing a complete blank.", [("Where was Lena Ott born?", ["Bern"], "a")]),
    ("You've stumped me.", [("Where was Lena Ott born?", ["Bern"], "a")]),
    (
        "Her birthplace isn't anything I've got a record of.",
        [("Where was Lena Ott born?", ["Bern"], "a")],
    ),
    (
        "Can't help you there, I simply never learned it.",
        [("Where was Lena Ott born?", ["Bern"], "a")],
    ),
    ("Nothing in my memory answers that.", [("Where was Lena Ott born?", ["Bern"], "a")]),
    (
        "It is anyone's guess as far as I am concerned.",
        [("Where was Lena Ott born?", ["Bern"], "a")],
    ),
    (
        "Lena Ott was a glassblower. Where she learned the craft is not documented in the books I know. She kept a shop in Bern until 1960. A street bears her name. Her partner in the business was Urs Frei.",
        [
            ("What was Lena Ott's occupation?", ["glassblower"], "c"),
            ("Where did Lena Ott study?", ["Murano"], "a"),
            ("Who was Lena Ott's husband?", ["Max"], "o"),
            ("When did Lena Ott die?", ["1975-01-01T00:00:00Z"], "o"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "aspects"), CASES, ids=[c[0][:60] for c in CASES])
def test_builds(text: str, aspects: list[tuple[str, list[str], str]]) -> None:
    if len(aspects) == 1:
        verdicts = [judge_rules(aspects[0][0], aspects[0][1], text)]
    else:
        verdicts = judge_rules_long([(q, golds) for q, golds, _ in aspects], text)
    for (question, _, letter), verdict in zip(aspects, verdicts, strict=True):
        if letter:
            assert verdict.stance == LETTERS[letter], question
