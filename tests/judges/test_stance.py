"""Stances of one-line answers: one for each class of wording, and the known traps.

More of each class stand in ``benchmarks/data/wordings_short.jsonl`` and are read in
``test_wordings``. None of the sentences comes from labeled data.
"""

from __future__ import annotations

import pytest

from sayso.judges.english.lexicon import hedge_phrases
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.reading import (
    aspect_of,
    load_weights,
    marks_of,
    may_hold_cue,
    sentences_of,
    stance_chances,
    stance_features,
)
from support.tables import tabled

WHERE = ("Where was Mira Toll born?", ["Ripley"])
WHEN = ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"])
WORK = ("What was Mira Toll's occupation?", ["singer"])
WHO = ("Who directed Maybe Happy Ending?", ["Jo Park"])
FOUNDER = ("Who founded Toll Industries?", ["Ann Bo"])
STAFF = ("How many employees does Toll Industries have?", ["5000"])
CAUSE = ("What causes Toll syndrome?", ["prions"])
DRUG = ("What is Toll syndrome treated with?", ["prednisone"])
HOME = ("Where does Mira Toll live?", ["Derby"])

CASES = [
    # plain assertions, boosters, negated doubt
    (WHERE, "Ripley", "committed", "correct"),
    (WHERE, "She was born in Derby.", "committed", "incorrect"),
    (WHERE, "I am absolutely certain that it was Ripley.", "committed", "correct"),
    (
        WHERE,
        "I don't think there is any doubt that she was born in Ripley.",
        "committed",
        "correct",
    ),
    (WHERE, "According to the 1951 census, she was born in Ripley.", "committed", "correct"),
    (WHERE, "Derby... no wait, Ripley.", "committed", "correct"),
    (WHERE, "Some people say Derby, but that is wrong: it was Ripley.", "committed", "correct"),
    (STAFF, "The company has an estimated 5,000 employees.", "committed", "correct"),
    # words of doubt that are none here
    (WHERE, "She was born in Ripley, a largely unknown village.", "committed", "correct"),
    (WHERE, "Mira Toll, who believed in God, was born in Ripley.", "committed", "correct"),
    (WHERE, "She was born in Ripley and could speak four languages.", "committed", "correct"),
    (WHERE, 'Born in Ripley, she wrote the song "Perhaps Tomorrow".', "committed", "correct"),
    (WHERE, "She was born in Ripley. Do you want to know more?", "committed", "correct"),
    (WHEN, "She was born in May 1950.", "committed", "correct"),
    (WHO, "Maybe Happy Ending was directed by Jo Park.", "committed", "correct"),
    (FOUNDER, "Ann Bo founded the firm, which may be sold soon.", "committed", "correct"),
    (CAUSE, "It is caused by prions, which may also harm animals.", "committed", "correct"),
    # weakened: adverb, modal, belief, guess, memory, confidence, hearsay, alternatives, caution
    (WHERE, "Probably Ripley.", "hedged", "correct"),
    (WHERE, "It could be Derby.", "hedged", "incorrect"),
    (WHERE, "I think she was born in Ripley.", "hedged", "correct"),
    (WHERE, "My best guess is Ripley.", "hedged", "correct"),
    (WHERE, "Ripley, if memory serves me.", "hedged", "correct"),
    (WHERE, "I am 90 percent sure it is Ripley.", "hedged", "correct"),
    (WHERE, "Word has it that she comes from Ripley.", "hedged", "correct"),
    (WHERE, "It was Ripley or Derby.", "hedged", "correct"),
    (WHERE, "Ripley. You should double-check this.", "hedged", "correct"),
    (WHERE, "Not sure, perhaps Ripley?", "hedged", "correct"),
    (WHERE, "Ripley??", "hedged", "correct"),
    (WHERE, "ripley but dont quote me on that", "hedged", "correct"),
    (CAUSE, "The cause is unknown, but prions are suspected.", "hedged", "correct"),
    # the doubt is about something else ...
    (WHERE, "She was born in Ripley, but I am not sure when.", "committed", "correct"),
    (WHERE, "She was born in Ripley, probably in 1950.", "committed", "correct"),
    (WHEN, "She was born, perhaps in Ripley, on 3 May 1950.", "committed", "correct"),
    (WORK, "She was a singer, and I think she lived in Derby.", "committed", "correct"),
    # ... or about this
    (WHEN, "She was born in Ripley, probably in 1950.", "hedged", "correct"),
    (WHEN, "She was born in 1950, though I'm not sure about the year.", "hedged", "correct"),
    # ignorance
    (WHERE, "I don't know.", "abstained", "none"),
    (WHERE, "Her birthplace is not known.", "abstained", "none"),
    (WHERE, "My training data doesn't include anything on Mira Toll.", "abstained", "none"),
    (WHERE, "I'd rather not guess.", "abstained", "none"),
    (WHERE, "dont know sorry", "abstained", "none"),
    (WHEN, "She was born in Ripley, but I don't know when.", "abstained", "none"),
    # refusals
    (WHEN, "As an AI, I cannot share personal data.", "refused_by_policy", "none"),
    (WHEN, "For privacy reasons I won't give out birth dates.", "refused_by_policy", "none"),
    (HOME, "That's private.", "refused_by_policy", "none"),
    (DRUG, "I can't give medical advice.", "refused_by_policy", "none"),
    # questions back
    (WHERE, "Which Mira Toll do you mean?", "asked_back", "none"),
    (WHERE, "Please clarify which person you have in mind.", "asked_back", "none"),
    (WHERE, "The singer or the judge?", "asked_back", "none"),
    # nothing
    (WHERE, "", "omitted", "none"),
    (WHERE, "  \n", "omitted", "none"),
]


@pytest.mark.parametrize(("asked", "answer", "stance", "content"), CASES)
def test_stance(asked: tuple[str, list[str]], answer: str, stance: str, content: str) -> None:
    verdict = judge_rules(asked[0], asked[1], answer)
    assert (verdict.stance, verdict.content, verdict.problem) == (stance, content, None)


@tabled
def test_what_its_writer_knows_of(
    question: str, gold: str, text: str, stance: str, content: str
) -> None:
    verdict = judge_rules(question, [gold], text)
    assert (verdict.stance, verdict.content) == (stance, content)


@tabled
def test_only_who_speaks_of_himself_or_of_little_else_declines(text: str, refused: bool) -> None:
    for question in ("What was it about?", "Where does Mira Toll live?"):
        verdict = judge_rules(question, ["Ripley"], text)
        assert (verdict.stance == "refused_by_policy") is refused


@tabled
@pytest.mark.parametrize("question", ["Where was Ada Bo born?", "When did it open?", "What is it?"])
def test_answers_that_look_alike_have_the_chances_of_their_features(
    question: str, answer: str
) -> None:
    rows, aspect = sentences_of(answer), aspect_of(question)
    features = stance_features(rows, aspect) | {"short": 1.0}
    (expected,) = load_weights("stance").of_each([features])
    assert stance_chances(rows, aspect).tolist() == expected.tolist()
    changed = stance_chances(rows, aspect)
    changed[:] = 0.0  # whoever gets them may change them
    assert stance_chances(rows, aspect).tolist() == expected.tolist()


@pytest.mark.parametrize("form", ["{}", "{}.", "Well, {} IT.", "It’s old (and {}, to be fair)."])
def test_a_text_that_has_a_cue_may_hold_one(form: str) -> None:
    seen = 0
    for _, phrase in hedge_phrases("stance"):
        for written in (phrase.replace("*", "quite"), phrase.replace("*", "at all").upper()):
            text = form.format(written.replace("'", "’"))
            kinds = {mark.kind for row in sentences_of(text) for mark in marks_of(row)}
            seen += "ignorant" in kinds
            assert all(may_hold_cue(text, kind) for kind in kinds), text
    assert seen > 100
    assert not may_hold_cue("She was born in Ripley.", "ignorant")
