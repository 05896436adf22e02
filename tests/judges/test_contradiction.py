"""Contradiction of two answers to one question, offline.

More of each class stand in ``benchmarks/data/wordings_contradiction.jsonl``: ``test_wordings``.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sayso
from sayso.judges import contradiction
from sayso.judges.contradiction import answers, contradicts, question_kind, read_short_answer
from sayso.judges.english.families import keys, slip
from sayso.judges.meaning import RulesMeaning
from support.effort import check_growth, seconds

#: without synonyms: inflected, of one root, a people and its country, slips, numbers
WORDS = (
    "gardens", "garden", "gardening", "hieroglyph", "hieroglyphics", "Dutch", "Netherlands",
    "windmills", "windmlils", "7", "70", "seventh", "tarn", "turn",
)  # fmt: skip

CASES: list[tuple[str, str, str, bool | None]] = [
    # dates: a coarser one agrees
    ("When was she born?", "She was born in 1950.", "12 May 1950", False),
    ("When was she born?", "1950", "1951", True),
    ("When was she born?", "12 May 1950", "13 May 1950", True),
    # numbers with units
    ("How tall is it?", "It is 300 m tall.", "984 feet", False),
    ("How tall is it?", "300 m", "324 m", True),
    ("How many people live there?", "About 2 million", "2,100,000", False),
    # names
    ("Who wrote it?", "Bill Gates", "William Gates", False),
    ("Who wrote it?", "John Lennon", "Paul McCartney", True),
    ("Who wrote it?", "John Hawkins", "John Howard", True),
    # lists and inclusion
    ("Who wrote it?", "John Lennon and Paul McCartney", "Paul McCartney", False),
    ("Where is it?", "Paris, France", "Lyon, France", True),
    # aliases
    ("Where is it?", "the USA", "United States", False),
    # yes and no
    ("Is it a fish?", "Yes.", "No, it is a mammal.", True),
    ("Is it a fish?", "It is not a fish.", "It is a fish.", True),
    ("Is it a fish?", "No.", "Of course not.", False),
    ("Is it a fish?", "Yes.", "Certainly not.", True),
    ("Is it a fish?", "Yes.", "Of course.", False),
    # options
    ("Which is larger, Mars or Venus?", "Venus", "Mars is larger.", True),
    # shares in words
    ("What share of the vote did he win?", "half", "50%", False),
    ("What share of it?", "a third", "33%", False),
    ("When was it?", "in the first half of 1961", "1961", False),
    # degrees without their sign, where temperatures are asked for
    ("At what temperature does it boil?", "100 C", "100 degrees Celsius", False),
    ("At what temperature does it boil?", "100 C", "212 F", False),
    ("How many are there?", "100 C", "100", False),
    # a place without a name of its own
    (
        "Where is the left vessel located?",
        "The left vessel is located in the left arm, which it feeds.",
        "The left vessel is located primarily in the left wall of the chest.",
        True,
    ),
    # the number of a name is no count
    ("How many are there?", "There are 15 of them.", "The so-called F-16 is one kind of it.", None),
    # what says that it is the answer
    ("How many books are there about Pooh?", "The answer is 27. You can play a game.", "9", True),
    # two explanations may both be right
    (
        "What concerns arise when the cylinder leaks?",
        "When the cylinder leaks, fluid may poison plants and animals that live around the farm.",
        "When the cylinder leaks, pressure falls and the machine slowly stops lifting heavy loads.",
        False,
    ),
    # a mountain has a name
    ("What is the highest mountain of Veldia?", "Mount Orr", "It is far away and very high.", None),
    # a year that is said roughly
    ("When was it built?", "about 1961", "1962", False),
    ("When was it built?", "about 1961", "1968", True),
    ("When was it built?", "about 1961", "12 May 1990", True),
    # birth and death
    ("When was she born?", "She was born in 1815 and died in 1852.", "1815", False),
    ("When did she die?", "She was born in 1815 and died in 1852.", "1852", False),
    ("When was she born?", "She died in 1852.", "1852", False),
    # nothing to compare
    ("Who wrote it?", "I don't know.", "Paul", None),
    ("Who wrote it?", "", "Paul", None),
    ("Who wrote it?", "Je pense que c'est lui qui a écrit le livre dans la ville.", "Paul", None),
]


@pytest.mark.parametrize(("question", "a", "b", "expected"), CASES)
def test_cases(question: str, a: str, b: str, expected: bool | None) -> None:
    assert contradicts(question, a, b) is expected
    assert contradicts(question, b, a) is expected


def test_an_answer_does_not_contradict_itself() -> None:
    for question, a, b, _ in CASES:
        assert contradicts(question, a, a) in (False, None)
        assert contradicts(question, b, b) in (False, None)


ANY = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            str.split("no yes Ann Bo 1950 2 km or not in May 12/13/1950 0 1e999 , . the 5% €")
        ),
        max_size=12,
    ).map(" ".join),
)


@given(ANY, ANY, ANY)
@settings(max_examples=300, deadline=None)
def test_any_text(question: str, a: str, b: str) -> None:
    value = contradicts(question, a, b)
    assert value in (True, False, None)
    assert contradicts(question, b, a) is value
    assert contradicts(question, a, a) is not True


def test_public_name() -> None:
    assert sayso.contradicts("Who?", "Ann Bo", "Ann Bo") is False


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        ("Who wrote Emma?", "It was Austen.", "It was not Austen.", True),
        ("Who wrote Emma?", "It was not Eliot.", "Jane Austen.", False),  # both can be right
        ("Who wrote Emma?", "It was not Eliot.", "It was not Trollope.", False),
        ("When did it open?", "It was not on 12 May 1961.", "1961", False),  # another day of it
        ("When did it open?", "It was not until 1961.", "1961", False),
        ("When did it open?", "It was not 1960 but 1961.", "1960", False),
        ("Who wrote Emma?", "I'm not sure it was Austen.", "Austen", False),
    ],
)
def test_a_denial_excludes_what_it_denies(question: str, a: str, b: str, wanted: bool) -> None:
    assert sayso.contradicts(question, a, b) is wanted
    assert sayso.contradicts(question, b, a) is wanted


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        ("When did it open?", "before 1970", "1961", False),
        ("When did it open?", "after 1960", "1959", True),
        ("When did it open?", "after 1960", "before 1970", False),
        ("How many doors has it?", "at least 5", "7", False),
        ("How many doors has it?", "fewer than 10", "7", False),
        ("How many doors has it?", "up to 8", "at least 9", True),
        ("How high is it?", "over 900 m", "950 km", True),
    ],
)
def test_a_value_that_leaves_one_side_open(question: str, a: str, b: str, wanted: bool) -> None:
    assert sayso.contradicts(question, a, b) is wanted
    assert sayso.contradicts(question, b, a) is wanted


@pytest.mark.parametrize(
    "draw",
    [
        "I'm sorry, I'm unable to access real-time information.",
        "I'm an AI language model. How can I help you today?",
        "The exact date remains unknown.",
        "I'm happy to help. Please tell me more about your project.",
        "What an endless cycle of speculation.",
        "No, I am not sure or do not know, yet.",
    ],
)
def test_a_draw_without_an_answer_is_missing(draw: str) -> None:
    for question, answer in (("When was Ada Bo born?", "1815"), ("Who wrote Emma?", "Jane Austen")):
        assert contradicts(question, answer, draw) is None
        assert not answers(question, draw)


@pytest.mark.parametrize(
    "hedged",
    [
        "I'm not sure, but I think 1815.",
        "I'm not sure, but I think it was 1815.",
        "I am not sure; it may have been 1815.",
        "I don't know, but I believe it was published in 1815.",
        "It might be 1815, but I am not sure.",
    ],
)
def test_a_hedge_of_two_parts_hides_no_answer(hedged: str) -> None:
    assert contradicts("When was Emma published?", hedged, "1815") is False
    assert contradicts("When was Emma published?", hedged, "1816") is True


def test_an_answer_is_read_behind_talk() -> None:
    draw = "I'm happy to help! As far as I know, Emma was written by Jane Austen. Anything else?"
    assert contradicts("Who wrote Emma?", draw, "Jane Austen") is False
    assert contradicts("Who wrote Emma?", draw, "George Eliot") is True


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        ("How long is its year?", "It is 687.8 days.", "It is 687.9 days.", False),
        ("How many people live there?", "about 5,000", "5,012", False),
        ("How many people live there?", "about 5,000", "7,000", True),
        ("How high is it?", "8,848 m", "8,849 m", False),
        ("How many doors has it?", "41", "42", True),
        ("Who rules it?", "Kim Jong-un", "Kim Jong-il", True),
        ("Who rules it?", "Kim Jong-un", "Kim Jong Un", False),
        ("Who was it?", "Henry VIII", "It was Henry the Eighth.", False),
        ("Who was it?", "John Adams", "John Quincy Adams", True),
        ("Who was it?", "James Brown", "James James", True),
    ],
)
def test_values_and_names(question: str, a: str, b: str, wanted: bool) -> None:
    assert contradicts(question, a, b) is wanted
    assert contradicts(question, b, a) is wanted
    same = RulesMeaning().clusters([question], [[a, b]])[0].ids == (0, 0)
    assert not (same and wanted)


@pytest.mark.parametrize(
    ("question", "draw", "answer"),
    [
        ("When was Ada Bo born?", "The tower was opened to the public in 1961.", "1815"),
        ("Where was Ada Bo born?", "Many travelers have visited Rome and Paris since.", "Graz"),
        ("Which country is the Orm bridge in?", "Orm bridge is its name in Spanish.", "Austria"),
        ("where was ada bo born", "ada bo was born in [City].", "Graz"),
    ],
)
def test_a_draw_about_something_else_is_missing(question: str, draw: str, answer: str) -> None:
    assert contradicts(question, draw, answer) is None


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        # words of the question and of names are no talk of the speaker
        ("who sings you and me", "The song You and Me was sung by Ann Bo.", "Ivo Marsh"),
        ("When did Norway enter World War I?", "Norway entered World War I on 6 May 1917.", "1915"),
        # the name that opens a sentence with the verb that was asked with
        ("Who wrote Emma?", "Austen wrote Emma, which is her most popular novel.", "Eliot"),
        # the first word that asks says what is asked for
        ("What is it called when a name is reversed?", "It is called an ananym.", "A palindrome"),
        # the sentence that fits best, not the first with a date
        (
            "When was Ada Bo born?",
            "Ada Bo is an 18th-century composer. She was born on 12 May 1817 in Graz.",
            "1711",
        ),
        # a family of words: born and birth
        (
            "When was Ada Bo born?",
            "The exact date of her birth remains a mystery, but is believed to be 12 May 1817.",
            "1711",
        ),
        ("Who wrote Emma?", "It was not Eliot. It was Jane Austen.", "Eliot"),
        ("Where was Ada Bo born?", "Perhaps it is Vell. The town is old.", "Graz"),
        ("What does it run on?", "It is coal. There is much of it.", "Oil"),
        ("Where was Ada Bo born?", "There is an 80 % chance that it is the old Vell.", "Graz"),
    ],
)
def test_the_sentence_that_answers_is_found(question: str, answer: str, other: str) -> None:
    assert contradicts(question, answer, other) is True
    assert contradicts(question, answer, answer) is False


def test_a_kind_of_place_and_a_named_place_can_both_be_right() -> None:
    assert contradicts("Where was Ada Bo born?", "In a library.", "In Oslo.") is False
    assert contradicts("Where was Ada Bo born?", "In Graz.", "In Oslo.") is True


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("Mission: Impossible 2", "Mission: Impossible 3", True),
        ("It is Mission: Impossible 2.", "It is Mission: Impossible 3.", True),
        ("It is Alexandre Dumas fils.", "It is Alexandre Dumas p\u00e8re.", True),
        ("It is the Twelfth Amendment.", "It is the 12th Amendment.", False),
    ],
)
def test_whole_names_are_compared(a: str, b: str, wanted: bool) -> None:
    assert contradicts("What is its name?", a, b) is wanted


def test_thoughts_are_no_part_of_an_answer() -> None:
    answer = "<think>Eliot? No.</think>Jane Austen"
    assert contradicts("Who wrote Emma?", answer, "Jane Austen") is False
    assert contradicts("Who wrote Emma?", answer, "Eliot") is True
    assert contradicts("Who wrote Emma?", "<think>It was Jane Austen", "Eliot") is None
    assert not answers("Who wrote Emma?", "<think>It was Jane Austen")


HOSTILE = (
    "a",
    "A",
    " ",
    "1",
    ".",
    ",",
    "\n",
    "not ",
    "I am ",
    '"',
    "1,",
    "in the ",
    "A of ",
    "Aa-",
    "J. ",
    "I am not ",
    "Mission: ",
    "[a",
    "<think>",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length(piece: str) -> None:
    def read(length: int) -> None:
        text = (piece * length)[:length] + " Jane Austen"
        contradicts("Who wrote Emma?", text, "1815 Jane")

    check_growth(read, 2_000, 16_000, 0.1)
    assert seconds(lambda: read(50_000), enough=0.1) < 0.1


TALK = [
    "As an AI language model, I do not have access to records, but the bridge opened in {}.",
    "As an AI, I cannot verify this. However, it is believed that the bridge opened in {}.",
    "I don't have information about this bridge, but it was probably opened in {}.",
    "I'm not sure, but maybe {}.",
    "I don't know the exact date, but it was around {}.",
    "I don't know for sure, but my best guess is {}.",
    "If I had to guess, I would say {}.",
    "Sorry for the confusion, but the bridge opened in {}.",
    "As of my last update in 2023 the bridge opened in {}.",
]


@pytest.mark.parametrize("text", TALK)
def test_a_value_behind_talk_is_an_answer(text: str) -> None:
    question = "When did the bridge open?"
    assert contradicts(question, text.format(1961), "It opened in 1935.") is True
    assert contradicts(question, text.format(1961), "It opened in 1961.") is False


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote the novel?", "I'm sorry, but I can't assist with that."),
        ("Who wrote the novel?", "I'm not sure, but I'm pretty sure I'm not sure."),
        ("Who wrote the novel?", "I apologize, but I can't provide that information."),
        ("Who wrote the novel?", "I am not sure of the answer."),
        ("Who wrote the novel?", "No one knows who the author of the novel was."),
        ("Who wrote the novel?", "To tell who wrote it, I would need the Oslo records."),
        ("What genre is Home?", "I am not sure whether Home is a certain genre."),
        ("What genre is Home?", "Uncertain."),
        ("When did it open?", "The date is unknown, but the town is a famous place."),
    ],
)
def test_talk_alone_is_no_answer(question: str, answer: str) -> None:
    assert not answers(question, answer)


@pytest.mark.parametrize(
    "question",
    [
        "In which city, town or village was Ada Bo born?",
        "In which town or at which observatory was Ada Bo seen?",
        "Which microbe (species or virus) causes it?",
        "After whom or what is Bo named?",
        "Which film is the winner of the Palme d'Or?",
    ],
)
def test_two_names_for_what_is_asked_are_no_choice(question: str) -> None:
    assert question_kind(question) != "choice"


@pytest.mark.parametrize(
    "question",
    [
        "Which is larger, Mars or Venus?",
        "Which came first, the chicken or the egg?",
        "What is better, tea or coffee?",
        "Was it built before or after 1900?",
    ],
)
def test_a_choice_is_one(question: str) -> None:
    assert question_kind(question) == "choice"


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        ("In which city or town was it founded?", "In the city of Boston.", "In Lyon.", True),
        # qualifiers
        ("Where is it?", "Paris, Texas", "Paris, France", True),
        ("Where is it?", "It is in Paris, Texas.", "It is in Paris, France.", True),
        ("Where is it?", "Springfield, Illinois", "Springfield, Missouri", True),
        ("Where is it?", "Paris", "Paris, France", False),
        ("Where is it?", "London, England", "London, UK", False),
        ("Where is it?", "London, Ontario", "London, England", True),
        ("Where is it?", "New York", "New York City", False),
        ("Where is it?", "Atlanta, Georgia", "Atlanta, USA", False),
        # a country beside other places
        (
            "Which country is Mount Orr in?",
            "Mount Orr, the highest mountain in Africa, is situated in Kenya.",
            "Mount Orr stands in the Blue Mountains of Kenya.",
            False,
        ),
        # longer names, and words of one meaning
        ("Who was he?", "Martin Luther King", "Martin Luther King Jr.", False),
        ("What did she drive?", "a car", "an automobile", False),
        ("What did she drive?", "a car", "a bicycle", True),
        ("What does he do?", "He is a lawyer.", "He is an attorney.", False),
        ("What does he do?", "He is a lawyer.", "He is a teacher.", True),
        ("What sport does he play?", "He plays soccer.", "He plays football.", False),
        ("What sport does he play?", "He plays tennis.", "He plays golf.", True),
        ("What is the religion of Bo?", "Bo is Muslim.", "The religion of Bo is Islam.", False),
        # "it" behind words that name nothing
        ("How high is Orr?", "Not much. It is 19,225 meters tall, by the map.", "900 meters", True),
        # "No," before a statement denies nothing of it
        ("Where was Bo born?", "No, Bo was born in Oslo.", "Bo was born in Lyon.", True),
        # the value is a word of the question
        (
            "What is the capital of Orr Province?",
            "The capital of Orr Province is Orr.",
            "Lin",
            True,
        ),
        # a measure with a word before it
        ("What is the mean diameter of Orr?", "About 30 km.", "It is 90 km.", True),
    ],
)
def test_values_are_compared(question: str, a: str, b: str, wanted: bool) -> None:
    assert contradicts(question, a, b) is wanted
    assert contradicts(question, b, a) is wanted


def test_the_stance_is_read_only_where_it_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def withheld(_: str, text: str) -> float:
        asked.append(text)
        return 0.0

    monkeypatch.setattr(contradiction, "withheld", withheld)
    for text in ("Mona Tarn.", "It is Mona Tarn.", "Mona Tarn, I think.", "I like these gardens."):
        read_short_answer("Who wrote Tarn Water?", text)
    assert asked == []
    told = (
        "Most people who have looked into it say that Tarn Water was written by Mona Tarn in 1961."
    )
    assert read_short_answer("Who wrote Tarn Water?", told) is not None
    assert asked == [told]


def test_a_long_answer_that_withholds_gives_no_value() -> None:
    told = (
        "There is no record that would tell who wrote Tarn Water, which Mona Tarn printed, "
        "so nobody can say it."
    )
    assert read_short_answer("Who wrote Tarn Water?", told) is None


@given(*[st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)] * 2)
def test_shared_words_are_those_of_each_pair(a: list[str], b: list[str]) -> None:
    one, two = (read_short_answer("Why is it?", " ".join(["because", *words])) for words in (a, b))
    if one is None or two is None:
        return
    shared = [
        any(
            t.text == u.text
            if t.number or u.number
            else {*keys(t.text, t.stem)} & {*keys(u.text, u.stem)} or slip(t.text, u.text)
            for u in two.new
        )
        for t in one.new
    ]
    assert contradiction._shared_words(one, two) == (sum(shared), len(one.new))
