"""Values in answers: for each rule an answer it must accept and a near miss it must refuse.

Each row is (question, golds, answer, expected content). A gold written "a|b|c" is one value with
aliases; several entries are several true values. More rows of each class stand in
``benchmarks/data/wordings_matching.jsonl`` and are read in ``test_wordings``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from sayso.datasets import load_dataset
from sayso.judges.rules.matching import MatchedText, agreeing, match
from sayso.records import Gold, Question
from sayso.records import golds_of as golds_of_question

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "readers" / "judge_rules.py"
WORDINGS = SCRIPT.parents[1] / "data" / "wordings_matching.jsonl"

C, W, N = "correct", "incorrect", "none"

WHEN = "When was Ada Quill born?"
WHERE = "Where was Ada Quill born?"
WHO = "Who directed The Long Tide?"

TABLE = [
    # the family name that the question says is no answer for a relative who bears it
    ("Whom did Ben Quill marry?", ["Ada Bo|Ada Quill"], "Quill", N),
    ("Whom did Ben Quill marry?", ["Ada Bo|Ada Quill"], "Ada Quill", C),
    ("Whom did Ben Quill marry?", ["Ada Bo|Ada Quill"], "Ada", C),
    # dates: what is said must not contradict a timestamp, a coarser one agrees
    (WHEN, ["1946-08-15T00:00:00Z"], "August 1946", C),
    (WHEN, ["1946-08-15T00:00:00Z"], "in the 1940s", C),
    (WHEN, ["1946-08-15T00:00:00Z"], "16 August 1946", W),
    (WHEN, ["1946-08-15T00:00:00Z"], "She was born in Ripley.", W),
    # a timestamp of January 1st often means the year only; of month 0 it does
    (WHEN, ["1946-01-01T00:00:00Z"], "12 March 1946", C),
    (WHEN, ["+1946-08-00T00:00:00Z"], "15 May 1946", W),
    ("When was the city founded?", ["-0753-01-01T00:00:00Z"], "in AD 753", W),
    ("When did the war take place?", ["1939-1945"], "1939–45", C),
    # two dates, two events
    (WHEN, ["1946"], "She was born in 1946 and died in 2001.", C),
    (WHEN, ["2001"], "Ada Quill (1946-2001) was a painter.", W),
    (WHEN, ["1946"], "Ada Quill (15 May 1946 - 3 May 1990), sister of Bo (1950-2001).", C),
    (WHEN, ["2001"], "Ada Quill (15 May 1946 - 3 May 1990), sister of Bo (1950-2001).", W),
    (WHEN, ["1946-08-15T00:00:00Z"], "She was born in 1945, not 1946.", W),
    # amounts: words, rounding, units, ranges, ranks
    ("How many moons does Velt have?", ["8"], "eight", C),
    ("How many moons does Velt have?", ["8"], "Velt has 0.8 moons.", W),
    ("How many people live there?", ["2,487"], "about 2,500", C),
    ("How many people live there?", ["2,487"], "about 2,600", W),
    ("How long is the river?", ["100 km"], "62 miles", C),
    ("How long is the river?", ["100 km"], "100 miles", W),
    ("What is the incubation period?", ["8"], "7 to 10 days", C),
    ("What is the incubation period?", ["8"], "2 to 40 days", W),
    ("Which rank does it hold?", ["5"], "It is the fifteenth largest.", W),
    # names: given names, initials, titles, numerals, slips
    (WHO, ["Jesse Wesley Williams"], "Jesse Williams", C),
    (WHO, ["Jesse Williams"], "It was directed by J. Williams.", C),
    (WHO, ["Jesse Williams"], "It was directed by Mark Williams.", W),
    (WHO, ["William Penn"], "Bill Penn", C),
    (WHO, ["Sir Rowland Hill"], "Rowland Hill", C),
    (WHO, ["Björn Åkesson"], "Bjorn Akesson", C),
    (WHO, ["Smriti Kalra"], "Smiriti Kalra", C),
    ("Who was the last king?", ["Nicholas II"], "Nicholas the Second", C),
    ("Who was the last king?", ["Nicholas II"], "Nicholas III", W),
    # places and words: qualifiers, short forms, peoples, denials
    (WHERE, ["Oslo, Norway"], "in the city of Oslo", C),
    (WHERE, ["Plymouth, Massachusetts"], "in Plymouth, England", W),
    (WHERE, ["New York"], "York", W),
    (WHERE, ["Niger"], "Nigeria", W),
    (WHERE, ["US"], "It was given to us.", W),
    # lost spaces: at a capital, and then also behind the name
    (WHERE, ["Marl"], "She was born in the cityMarlwhich lies inland.", C),
    (WHERE, ["Marl"], "She was born in the city Marlwhite by the sea.", W),
    (WHERE, ["Bay"], "She was born where eBaywhich is well known began.", W),
    (WHERE, ["Colombia"], "She is Colombian.", C),
    (WHERE, ["Marl"], "It was not Ripley but Marl.", C),
    (WHERE, ["Ripley"], "Ripley is not her birthplace.", W),
    ("What is it called?", ["art"], "a party", W),
    ("What is it called?", ["tiger"], "They are all tigers.", C),
    ("Is it a fish or a mammal?", ["mammal"], "It is a fish.", W),
    ("Is it true?", ["yes"], "Yes, it is.", C),
    ("What is the capital of Velt?", ["Marl"], "   \n ?!", N),
    ("What is the capital of Velt?", ["Marl"], "The capital of Velt is", N),
    # several golds are all true: a part with nothing wrong is correct, a wrong item is not
    ("What did she work as?", ["actor", "film director"], "actor", C),
    ("What did she work as?", ["actor", "film director"], "She was an actor and singer.", W),
    ("Who founded it?", ["Ann Lee", "Bo Hart"], "Bo Hart and Ann Lee", C),
    ("Who founded it?", ["Ann Lee", "Bo Hart"], "Ann Lee, Bo Hart and Cy Dunn", W),
    ("Who won?", ["Ann Lee|A. B. Lee", "Bo Hart"], "A. B. Lee", C),
    # who did what in one sentence
    (
        "Who directed Marlow?",
        ["Bo Hart"],
        "Directed by Ann Lee, Marlow was written by Bo Hart.",
        W,
    ),
    ("Who discovered X?", ["William Herschel"], "John Herschel, son of William, discovered it.", W),
]

# What looked like agreement but is too little, or of another kind. Rules that accepted such answers
# were right too seldom on answers that nobody had read while the rules were written.
REFUSED = [
    # Two words of three, a noun without its modifiers, a country for its army: other things.
    ("What snake is it?", ["Indian rock python"], "It is a rock python from Velt.", W),
    ("What bird is it?", ["red-billed hornbill"], "The bird is a hornbill.", W),
    ("What bird is it?", ["red-billed hornbill"], "a hornbill", W),
    ("Who was defeated?", ["the Russian army"], "They defeated Russia.", W),
    # The region around a place is a coarser answer than was asked for, in a sentence.
    (WHERE, ["Covington, Kentucky"], "She was born in the state of Kentucky, in a small town.", W),
    # A short answer has the head of the gold, or its name, and at least half of its words.
    ("Where is it found?", ["the walls of the heart"], "heart", W),
    ("Where did they get them?", ["German folktales"], "German", W),
    ("What rock is it?", ["high-titanium basalts"], "basalts", W),
    ("What meat is it?", ["processed boneless chicken meat"], "chicken meat", C),
    ("Where does it end?", ["the London to Brighton Veteran Run"], "London", W),
    ("Which king was it?", ["Henry III"], "3", W),
    ("Which sea?", ["Caribbean Sea"], "the Caribbean", C),
    ("Who plays Crowley?", ["Mark Andreas Sheppard"], "Mark A. Sheppard", C),
    # The one word that the question leaves must be that word, and unqualified.
    ("Which was the first object on Mars?", ["Mars 2"], "Luna 2", W),
    ("Which was the first object on Mars?", ["Mars 2"], "It was Mars 2.", C),
    ("What is the newest TLS?", ["TLS 1.3"], "1.3", C),
    ("Which fruit product is it?", ["fruit sugar"], "It is corn sugar.", W),
    ("On which African coast?", ["South Africa"], "South America", W),
    # Initials that the question already has are not an answer.
    ("What is the meaning of AUV?", ["action utility vehicle"], "AUV is Asian Utility Vehicle.", W),
    # Another day of the year that another name of the gold gives more exactly.
    ("When did it open?", ["2006|30 March 2006"], "14 February 2006", W),
    ("When did it open?", ["2006|30 March 2006"], "March 2006", C),
    ("When did it open?", ["2006|30 March 2006"], "2006", C),
    ("When does it start?", ["July 11"], "2018", W),
    ("When does it start?", ["July 11"], "11 July 2018", C),
    ("How long did she play there?", ["2011-2014"], "2011", W),
    ("How long did she play there?", ["2011-2014"], "from 2011 to 2014", C),
    # A number of a date, a rank, or a year that is rounded away is no amount.
    ("How many episodes are there?", ["18"], "March 18, 2018", W),
    ("How many episodes are there?", ["3"], "It was the third episode.", W),
    ("How many are there?", ["2,430 games"], "2", W),
    ("In which year was it destroyed?", ["nineteen hundred and thirty-seven"], "1940", W),
    # A place goes on, or begins, otherwise.
    (WHERE, ["Plymouth, Massachusetts"], "plymouth, england", W),
    (WHERE, ["Woodward, Oklahoma"], "Thomas Morgan Woodward", W),
    # What the offered answer is compared with is the other one.
    ("Which has more members, Ash or Oak?", ["Oak"], "Ash has more members than the Oak.", W),
    ("Which has more members, Ash or Oak?", ["Ash"], "Ash has more members than the Oak.", C),
    # A family name is no part of another name.
    ("Which bank is it?", ["UK Central Bank"], "the Bank of Japan", W),
    ("Which city is it?", ["Missouri Saint Louis"], "Louis XVI", W),
    # Many names hold the short ones; parts and slips of them are something else.
    ("Which city is it?", ["Tokio|Tokyo|Tokyo, Japan|Edo|Tokyo-to|Tokyo City"], "Japan", W),
    ("Which city is it?", ["Tokio|Tokyo|Tokyo, Japan|Edo|Tokyo-to|Tokyo City"], "Tokyo", C),
    (
        "Which metal is it?",
        ["Helium|He|Helium gas|Hellium|Atom 2|Element He"],
        "He said that it is iron.",
        W,
    ),
    ("Which metal is it?", ["Helium|He|Helium gas|Hellium|Atom 2|Element He"], "He", C),
    (
        "Who scored it?",
        ["Comenici|Comaneci|Nadia Comeneci|Nadia Comaneci|N. Comaneci|Nadia C."],
        "Nadia Comaaneci",
        W,
    ),
    ("Which city is it?", ["Paris"], "It is a parish.", W),
    # One wrong letter makes another word of a long one.
    ("Which field of medicine is it?", ["hematology|haematology"], "hepatology", W),
]  # fmt: skip


def golds_of(written: list[str]) -> list[Gold]:
    parts = [w.split("|") for w in written]
    return [Gold(p[0], aliases=tuple(p[1:])) for p in parts]


#: The classes of error that a small model's prose showed: words of the question, parts of names,
#: names that are inflected, chains of thought, the gold in passing, what follows the point.
PROSE = [
    (
        "What is the official language of Poland?",
        ["Polish"],
        "German is the official language of Poland.",
        W,
    ),
    (
        "What is the official language of Poland?",
        ["Polish"],
        "The official language of Poland is Polish.",
        C,
    ),
    (
        "What is the official language of Poland?",
        ["Polish"],
        "It is German, which most people in Poland speak.",
        W,
    ),
    ("Which country is the director from Poland's capital from?", ["Poland"], "He is Polish.", C),
    ("What is the capital of Mexico?", ["Mexico City"], "The capital is the city of Monterrey.", W),
    ("What is the capital of Mexico?", ["Mexico City"], "The capital of Mexico is Mexico City.", C),
    ("What is the capital of Mexico?", ["Mexico City"], "It is called Mexico City.", C),
    (
        "Who founded the Ford Motor Company?",
        ["Henry Ford"],
        "The Ford Motor Company was founded by Henry Smith.",
        W,
    ),
    ("Who founded the Ford Motor Company?", ["Henry Ford"], "It was founded by Henry.", C),
    ("Who founded the Disney company?", ["Walt Disney"], "Disney was founded by Walt Whitman.", W),
    (
        "Who was the second wife of Albert Einstein?",
        ["Elsa Einstein"],
        "The second wife of Albert Einstein was Elsa Luria.",
        W,
    ),
    (
        "Who was the second wife of Albert Einstein?",
        ["Elsa Einstein"],
        "His cousin Elsa was his second wife.",
        C,
    ),
    ("Where did the horse race take place?", ["Manly"], "It was won by a man from Sydney.", W),
    ("Where was she born?", ["Reading"], "She liked to read.", W),
    ("Where was she born?", ["Nice"], "She was nicely brought up in Paris.", W),
    ("What was his profession?", ["journalist"], "He published in the Journal of Physics.", W),
    ("What was his profession?", ["journalist"], "He worked as a journalist.", C),
    (
        "How many books fit on each shelf?",
        ["27"],
        "23 shelves with 27 books. 23*27 = 621. The answer is 621.",
        W,
    ),
    (
        "How many books are there?",
        ["621"],
        "23 shelves with 27 books. 23*27 = 621. The answer is 621.",
        C,
    ),
    (
        "How many books are there?",
        ["621"],
        "23 shelves with 27 books each: 23 x 27 = 621 books.",
        C,
    ),
    ("How many books are there?", ["27"], "23 shelves with 27 books each: 23 x 27 = 621 books.", W),
    (
        "How many apples are left?",
        ["5"],
        "He has 12 apples and eats 5. 12 - 5 = 7. So 7 apples are left.",
        W,
    ),
    (
        "How many apples are left?",
        ["7"],
        "He has 12 apples and eats 5. 12 - 5 = 7. So 7 apples are left.",
        C,
    ),
    (
        "What is the currency of France?",
        ["euro"],
        "The currency of France is the French franc. One franc was worth 1.125 euros.",
        W,
    ),
    (
        "What is the currency of France?",
        ["euro"],
        "The currency of France is the euro, which replaced the franc.",
        C,
    ),
    (
        "When was the bridge completed?",
        ["1889"],
        "The bridge was begun in 1889 and completed in 1933.",
        W,
    ),
    (
        "When was the bridge completed?",
        ["1933"],
        "The bridge was begun in 1889 and completed in 1933.",
        C,
    ),
    (
        "When did construction of the bridge begin?",
        ["1889"],
        "Construction began in 1889 and was completed in 1933.",
        C,
    ),
    (
        "When did construction of the bridge begin?",
        ["1933"],
        "Construction began in 1889 and was completed in 1933.",
        W,
    ),
    ("How long is a Martian year?", ["687 days"], "A year on Mars is about 687.9 days long.", C),
    ("How long is a Martian year?", ["687.9 days"], "A year on Mars is 687 days long.", C),
    ("Who wrote it?", ["John Adams"], "John Quincy Adams wrote it.", W),
    ("Who wrote it?", ["J. S. Bach"], "Johann Sebastian Bach wrote it.", C),
    ("Which film is it?", ["Toy Story 2"], "It is Toy Story 3.", W),
    ("Who leads North Korea?", ["Kim Jong-un"], "Kim Jong-il leads it.", W),
    (
        "Where did he study?",
        ["University of Washington"],
        "He studied at Washington University.",
        W,
    ),
    ("What is the capital of France?", ["Paris"], "Paris is nice. The answer is London.", W),
    (
        "What is the capital of Australia?",
        ["Canberra"],
        "The capital of Australia is Sydney. Canberra is another city.",
        W,
    ),
    (
        "What is the capital of Australia?",
        ["Canberra"],
        "Many think that the capital of Australia is Sydney. It is Canberra.",
        C,
    ),
    (
        "Who wrote Hamlet?",
        ["William Shakespeare"],
        "The author is Shakespeare. He lived in Stratford.",
        C,
    ),
    ("Who painted it?", ["Vincent van Gogh"], "It was painted by Theo van Gogh.", W),
    ("Who painted it?", ["Vincent van Gogh"], "It was painted by van Gogh.", C),
    ("Who painted it?", ["Vincent van Gogh"], "Van Gogh painted it.", C),
    ("Where was he born?", ["Paris"], "He was born in the city of Tehran.", W),
]


@pytest.mark.parametrize(("question", "golds", "answer", "expected"), [*TABLE, *REFUSED, *PROSE])
def test_hand_worked(question: str, golds: list[str], answer: str, expected: str) -> None:
    found = match(question, golds_of(golds), answer)
    assert found.content == expected, found
    if found.start is not None:
        assert found.end is not None
        assert 0 <= found.start < found.end <= len(answer)


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        (Gold("3389.5", unit="kilometre"), "2,106 miles", C),
        (Gold("3389.5", unit="kilometre"), "6,371 km", W),
        (Gold("142", kind="quantity", unit="minute"), "2 hours 22 minutes", C),
        (Gold("142", kind="quantity", unit="minute"), "2 hours 12 minutes", W),
        (Gold("5778", unit="kelvin"), "5505 \u00b0C", C),
        (Gold("5778", unit="kelvin"), "5778 \u00b0C", W),
        (Gold("1946-08-15T00:00:00Z", kind="date", precision="year"), "May 1946", C),
        (Gold("1946-08-15T00:00:00Z", kind="date", precision="day"), "May 1946", W),
        (Gold("1946-01-01T00:00:00Z", kind="date", precision="day"), "12 March 1946", W),
        (Gold("1946-01-01T00:00:00Z", kind="date", precision="decade"), "1943", C),
        (Gold("1946-01-01T00:00:00Z", kind="date", precision="decade"), "1953", W),
        (Gold("1801-01-01T00:00:00Z", kind="date", precision="century"), "1850", C),
        (Gold("1801-01-01T00:00:00Z", kind="date", precision="century"), "1750", W),
    ],
)
def test_kind_precision_and_unit_of_a_gold(gold: Gold, answer: str, expected: str) -> None:
    assert match("What is known of it?", [gold], answer).content == expected


def test_the_quick_look_at_many_texts_finds_what_the_matcher_finds() -> None:
    rows = [json.loads(line) for line in WORDINGS.read_text(encoding="utf-8").splitlines()]
    texts = [*dict.fromkeys(row["text"] for row in rows), "", "...", "+", "\ud800"]
    read = {text: MatchedText(text) for text in texts}
    agreed = 0
    for at, row in enumerate(rows):
        golds = tuple(Gold(names[0], tuple(names[1:])) for names in map(_names, row["gold"]))
        some = [row["text"], *texts[at % 7 :: 7]]
        found = agreeing(row["question"], golds, [read[text] for text in some])
        assert found == [match(row["question"], golds, text).content == C for text in some], row
        agreed += sum(found)
    assert agreed > len(rows) / 3
    golds = (Gold("+"), Gold("1946-08-15T00:00:00Z"), Gold("5 km", kind="quantity"), Gold("JFK"))
    said = ["a + b", "-", "in 1946", "5,000 m", "6 km", "John Fitzgerald Kennedy", "John Bo"]
    assert agreeing(WHEN, golds, [MatchedText(text) for text in said]) == [
        match(WHEN, golds, text).content == C for text in said
    ]


TIMBER = ("What did the Brenn act do?", ["it split the royal timber company"])


@pytest.mark.parametrize(
    ("question", "golds", "answer", "expected"),
    [
        (
            *TIMBER,
            "The Brenn act of that year broke up the royal timber company into four parts.",
            C,
        ),
        (*TIMBER, "Nobody knows what it did, but it did not split the royal timber company.", W),
        (*TIMBER, "The Brenn act of that year gave a pension to every widow of the company.", W),
        (
            "What was the hall first used for?",
            ["a grain store for poor farmers"],
            "The hall was first used as a store of grain, which was given away in bad years.",
            C,
        ),
        # something else of the same kind
        (
            "What causes Vardoma ataxia?",
            ["Nusket virus"],
            "According to most of the doctors who saw it, it is caused by the Nusket fungus.",
            W,
        ),
        (
            "What are the symptoms of Norvyth disease?",
            ["loss of appetite"],
            "Most people who have Norvyth disease report a loss of smell in the first week.",
            W,
        ),
        (
            "What genre is Wolves of Voskon?",
            ["comedy film"],
            "Most of those who wrote about Wolves of Voskon call it a very slow prison film.",
            W,
        ),
        # another number, one name of two, another person
        (
            "What stands there?",
            ["a 12 metre bronze statue"],
            "What stands there is a bronze statue of about 15 metres, which is often painted.",
            W,
        ),
        (
            "Which two groups won?",
            ["The Red Foxes and The Blue Owls"],
            "The two groups that won were The Red Foxes and The Grey Geese, as far as we know.",
            W,
        ),
        (WHO, ["Ada Mary Quill"], "It was directed by Mary Brook, who came there years before.", W),
    ],
)
def test_a_part_of_a_long_gold(question: str, golds: list[str], answer: str, expected: str) -> None:
    found = match(question, golds_of(golds), answer)
    assert found.content == expected, found
    quick = agreeing(question, golds_of(golds), [MatchedText(answer)])
    assert quick == [expected == C]


TOWER = "The Halm tower fell on May 4, 1912, in a storm."
FALL = "When did the Halm tower fall?"
FATE = "What became of the Halm tower?"


@pytest.mark.parametrize(
    ("question", "gold", "answer", "expected"),
    [
        (FALL, TOWER, "It fell in a storm on May 4, 1912.", C),
        (FALL, TOWER, "The Halm tower fell on May 4.", C),
        (FALL, TOWER, "In a storm, the tower, 35 m high, fell on 4 May 1915.", W),
        (FALL, TOWER, "The tower, begun in 1912, fell on May 4, 1915, in a storm.", W),
        (FALL, TOWER, "Of 4 towers, it fell on May 9, 1912, in a storm.", W),
        (FALL, TOWER, "Of 4 towers, it fell on June 4, 1912; a storm in May had shaken it.", W),
        (FATE, TOWER, "The Halm tower fell on May 4, 1915, when a storm came.", W),
        (FATE, TOWER, "The Halm tower fell on May 4, 1912, in a storm.", C),
        (FATE, TOWER, "It fell in the storm of May 3-4, 1912; on May 4, 1962, bells rang.", C),
        # which day it was is not asked, and the name is the answer
        ("Who won?", "Ada Quill, who won on May 4, 1912.", "Ada Quill did, on May 3, 1912.", C),
        ("Who won, and when?", "Ada Quill, on May 4, 1912.", "Ada Quill did, on May 4, 1913.", W),
    ],
)
def test_a_date_in_a_gold_that_is_a_sentence(
    question: str, gold: str, answer: str, expected: str
) -> None:
    assert match(question, golds_of([gold]), answer).content == expected


@pytest.mark.parametrize("model_world", ["builtin", "world"])
def test_no_part_makes_another_value_of_a_type_right(model_world: str) -> None:
    by_type: dict[str, list[Question]] = {}
    for question in load_dataset(model_world).questions:
        if question.golds and not question.parts:
            by_type.setdefault(question.type, []).append(question)
    compared = 0
    for questions in by_type.values():
        for question, other in pairwise(questions[:60]):
            value = golds_of_question(other.golds)[0].value
            text = (
                f"As far as most sources tell us of {question.entity}, it was {value}, at the time."
            )
            compared += 1
            found = match(question.text, golds_of_question(question.golds), text)
            assert found.why != "part", (question.text, text)
    assert compared > 300


def _names(value: str) -> list[str]:
    return value.split("|")


@pytest.mark.data
def test_agrees_with_people(test_data: Path) -> None:
    """The matcher against people's labels on the open half of EVOUNA: the bar holds."""
    spec = importlib.util.spec_from_file_location("judge_rules_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    rows = [r for r in bench.rows(test_data) if not bench.set_aside(r.dataset, r.question)]
    cells = bench.measure(rows)[0]["all", "all"]
    assert sum(cells) > 6000
    assert cells.agreement >= 0.92
    assert cells.accepted_wrong <= 0.05
