"""Hand-worked stances of one-line answers. None of the sentences comes from labelled data."""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules

WHERE = ("Where was Mira Toll born?", ["Ripley"])
WHEN = ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"])
WORK = ("What was Mira Toll's occupation?", ["singer"])
WHO = ("Who directed Maybe Happy Ending?", ["Jo Park"])
COUNT = ("How many employees does Toll Industries have?", ["5000"])

CASES = [
    # plain assertions, boosters, negated doubt
    (WHERE, "Ripley", "committed", "correct"),
    (WHERE, "She was born in Derby.", "committed", "incorrect"),
    (WHERE, "There is no doubt that she was born in Ripley.", "committed", "correct"),
    (WHERE, "Undoubtedly Ripley.", "committed", "correct"),
    (WHERE, "I am absolutely certain that it was Ripley.", "committed", "correct"),
    (WHERE, "I have no doubt it was Ripley.", "committed", "correct"),
    (WHERE, "It is not disputed that she was born in Ripley.", "committed", "correct"),
    (WHERE, "Without question, Ripley.", "committed", "correct"),
    (WHERE, "I know that she was born in Ripley.", "committed", "correct"),
    (WHERE, "She was certainly born in Ripley.", "committed", "correct"),
    (WHERE, "According to official records, she was born in Ripley.", "committed", "correct"),
    (
        WHERE,
        "According to the parish register, Mira Toll was born in Ripley.",
        "committed",
        "correct",
    ),
    # words of doubt that are none here
    (
        WHERE,
        "She was born in Ripley, a largely unknown village at the time.",
        "committed",
        "correct",
    ),
    (
        WHERE,
        "She was born in Ripley and was unsure of her faith all her life.",
        "committed",
        "correct",
    ),
    (WHERE, "Mira Toll, who believed in God, was born in Ripley.", "committed", "correct"),
    (WHERE, "She was born in Ripley and could speak four languages.", "committed", "correct"),
    (WHERE, 'Born in Ripley, she wrote the song "Perhaps Tomorrow".', "committed", "correct"),
    (WHERE, "She was born in Ripley and did not know her father.", "committed", "correct"),
    (WHERE, "She was born in Ripley. If you have any doubts, let me know!", "committed", "correct"),
    (
        WHERE,
        "She was born in Ripley. Would you like to know more about her?",
        "committed",
        "correct",
    ),
    (WHEN, "She was born in May 1950.", "committed", "correct"),
    (WHEN, "May 1950", "committed", "correct"),
    (
        WHEN,
        "She was born on 3 May 1950, as soon as possible after the move.",
        "committed",
        "correct",
    ),
    (WHO, "Maybe Happy Ending was directed by Jo Park.", "committed", "correct"),
    (WHO, 'The director of "Maybe Happy Ending" is Jo Park.', "committed", "correct"),
    (COUNT, "About 5,000.", "committed", "correct"),
    (COUNT, "It employs roughly 5,000 people.", "committed", "correct"),
    (COUNT, "The company has an estimated 5,000 employees.", "committed", "correct"),
    # weakened
    (WHERE, "Probably Ripley.", "hedged", "correct"),
    (WHERE, "She may have been born in Ripley.", "hedged", "correct"),
    (WHERE, "It might be Ripley.", "hedged", "correct"),
    (WHERE, "It could be Derby.", "hedged", "incorrect"),
    (WHERE, "I think she was born in Ripley.", "hedged", "correct"),
    (WHERE, "She was born in Ripley, I believe.", "hedged", "correct"),
    (WHERE, "If I had to guess, I'd say Ripley.", "hedged", "correct"),
    (WHERE, "My best guess is Ripley.", "hedged", "correct"),
    (WHERE, "I'm fairly sure it was Ripley.", "hedged", "correct"),
    (WHERE, "I'm about 80% certain that she was born in Ripley.", "hedged", "correct"),
    (WHERE, "I'm not sure, but I think it's Ripley.", "hedged", "correct"),
    (WHERE, "Not sure, perhaps Ripley?", "hedged", "correct"),
    (WHERE, "Ripley?", "hedged", "correct"),
    (WHERE, "Ripley (I think).", "hedged", "correct"),
    (WHERE, "She was born in Ripley, if memory serves.", "hedged", "correct"),
    (WHERE, "As far as I know, she was born in Ripley.", "hedged", "correct"),
    (WHERE, "To the best of my knowledge, Ripley.", "hedged", "correct"),
    (WHERE, "Some sources say she was born in Ripley.", "hedged", "correct"),
    (WHERE, "She is said to have been born in Ripley.", "hedged", "correct"),
    (WHERE, "She is widely believed to have been born in Ripley.", "hedged", "correct"),
    (WHERE, "It is thought that she was born in Ripley.", "hedged", "correct"),
    (WHERE, "Reportedly, she was born in Ripley.", "hedged", "correct"),
    (WHERE, "Rumor has it that she was born in Ripley.", "hedged", "correct"),
    (WHERE, "Legend says she was born in Ripley.", "hedged", "correct"),
    (WHERE, "Either Ripley or Derby.", "hedged", "correct"),
    (WHERE, "It was Ripley or Derby.", "hedged", "correct"),
    (WHERE, "She was born in Ripley, but I can't confirm that.", "hedged", "correct"),
    (WHERE, "She was born in Ripley. Please double-check this, though.", "hedged", "correct"),
    (WHERE, "She was born in Ripley, but don't quote me on that.", "hedged", "correct"),
    (WHERE, "Ripley, but I could be wrong.", "hedged", "correct"),
    (WHERE, "It seems that she was born in Derby.", "hedged", "incorrect"),
    (WHERE, "It is possible that she was born in Ripley.", "hedged", "correct"),
    (WHERE, "There's a good chance she was born in Ripley.", "hedged", "correct"),
    (WHERE, "Evidence suggests a birth in Ripley.", "hedged", "correct"),
    (WHERE, "Her alleged birthplace is Ripley.", "hedged", "correct"),
    (WHERE, "I doubt it, but some people claim she was born in Ripley.", "hedged", "correct"),
    (WHERE, "I'm not certain whether she was born in Ripley.", "hedged", "correct"),
    (WHEN, "1950 or 1951.", "hedged", "correct"),
    (WHEN, "She was probably born around 1950.", "hedged", "correct"),
    (COUNT, "Perhaps 5,000, but accounts differ.", "hedged", "correct"),
    # scope: the doubt is about something else
    (WHERE, "She was born in Ripley, but I am not sure when.", "committed", "correct"),
    (WHERE, "She was born in Ripley, probably in 1950.", "committed", "correct"),
    (
        WHERE,
        "She was born in Ripley, although her exact birth date is unknown.",
        "committed",
        "correct",
    ),
    (WHERE, "She was born in Ripley; I don't know when she died.", "committed", "correct"),
    (WHERE, "I don't know when she was born, but she was born in Ripley.", "committed", "correct"),
    (WHERE, "She was born in Ripley and may have studied in Derby.", "committed", "correct"),
    (WHEN, "She was born, perhaps in Ripley, on 3 May 1950.", "committed", "correct"),
    (WHEN, "She was born on 3 May 1950 in Ripley (or maybe Derby).", "committed", "correct"),
    (WHEN, "She was probably born in Ripley, but she was born in 1950.", "committed", "correct"),
    (WORK, "She was a singer, and I think she lived in Derby.", "committed", "correct"),
    # ... or about this
    (
        WHEN,
        "She was born in Ripley in 1950, though I'm not sure about the year.",
        "hedged",
        "correct",
    ),
    (WHEN, "She was born in Ripley, probably in 1950.", "hedged", "correct"),
    (WHERE, "I think she was born in Ripley and grew up in Derby.", "hedged", "correct"),
    (WHERE, "The details may not be accurate, but she was born in Ripley.", "hedged", "correct"),
    # ignorance
    (WHERE, "I don't know.", "abstained", "none"),
    (WHERE, "I have no idea where she was born.", "abstained", "none"),
    (WHERE, "Unknown.", "abstained", "none"),
    (WHERE, "Her birthplace is not known.", "abstained", "none"),
    (WHERE, "I'm not sure.", "abstained", "none"),
    (WHERE, "I'm afraid I couldn't find any information about her.", "abstained", "none"),
    (WHERE, "There is no reliable information about her place of birth.", "abstained", "none"),
    (WHERE, "My training data doesn't include anything on Mira Toll.", "abstained", "none"),
    (WHERE, "I can't answer that with any confidence.", "abstained", "none"),
    (WHERE, "I'd rather not guess.", "abstained", "none"),
    (WHERE, "It is unclear where Mira Toll was born.", "abstained", "none"),
    (WHERE, "Sorry, that's beyond my knowledge.", "abstained", "none"),
    (WHERE, "I'm drawing a blank on this one.", "abstained", "none"),
    (WHERE, "dont know sorry", "abstained", "none"),
    (WHEN, "She was born in Ripley, but I don't know when.", "abstained", "none"),
    (
        WHEN,
        "She was a singer from Ripley. Her date of birth has never been published.",
        "abstained",
        "none",
    ),
    (
        WORK,
        "I don't know what Mira Toll did for a living. Is there anything else I can help with?",
        "abstained",
        "none",
    ),
    # refusals
    (WHEN, "I'm sorry, but I can't help with that.", "refused_by_policy", "none"),
    (
        WHEN,
        "As an AI, I cannot share personal data about private persons.",
        "refused_by_policy",
        "none",
    ),
    (
        WHEN,
        "It would be inappropriate for me to disclose her date of birth.",
        "refused_by_policy",
        "none",
    ),
    (WHEN, "For privacy reasons I won't give out birth dates.", "refused_by_policy", "none"),
    (WHEN, "My guidelines prevent me from discussing individuals.", "refused_by_policy", "none"),
    (WHEN, "I must respectfully decline to answer.", "refused_by_policy", "none"),
    # questions back
    (WHERE, "Which Mira Toll do you mean?", "asked_back", "none"),
    (WHERE, "Could you tell me which Mira Toll you are referring to?", "asked_back", "none"),
    (
        WHERE,
        "There are several people of that name. Are you asking about the singer or the judge?",
        "asked_back",
        "none",
    ),
    (WHERE, "Please clarify which person you have in mind.", "asked_back", "none"),
    # nothing
    (WHERE, "", "omitted", "none"),
    (WHERE, "  \n", "omitted", "none"),
]


@pytest.mark.parametrize(("asked", "answer", "stance", "content"), CASES)
def test_stance(asked: tuple[str, list[str]], answer: str, stance: str, content: str) -> None:
    verdict = judge_rules(asked[0], asked[1], answer)
    assert (verdict.stance, verdict.content, verdict.problem) == (stance, content, None)
