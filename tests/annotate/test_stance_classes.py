"""One sentence for each way to say, doubt, withhold or ask back: the breadth of the lexicon.

The sentences were written in one go after the rules, to see what they miss; the first reading got
82 % of them, and each miss was answered by a class of words, not by its phrase.
"""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules

WHERE = ("Where was Mira Toll born?", ["Ripley"])
WHEN = ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"])
WORK = ("What was Mira Toll's occupation?", ["singer"])
WHO = ("Who founded Toll Industries?", ["Ann Bo"])
MOONS = ("How many moons does Veld have?", ["12"])
CAUSE = ("What causes Toll syndrome?", ["prions"])
GENRE = ("What genre is Night Ferry?", ["crime film"])
SKY = ("In which constellation is Veld?", ["Lyra"])

CASES = [
    (WHERE, "It's Ripley, no ifs or buts.", "committed"),
    (WHERE, "Ripley, I'm positive.", "committed"),
    (WHERE, "Ripley — of that I am sure.", "committed"),
    (WHERE, "You can take it from me that she was born in Ripley.", "committed"),
    (WHERE, "Every source agrees that she was born in Ripley.", "committed"),
    (WHERE, "Ripley, as her birth certificate shows.", "committed"),
    (WHERE, "Wikipedia says she was born in Ripley.", "committed"),
    (WHERE, "Her biographer states that she was born in Ripley.", "committed"),
    (WHERE, "The BBC reported that she was born in Ripley.", "committed"),
    (WHERE, "She would have been born in Ripley, I imagine.", "hedged"),
    (WHERE, "I'm inclined to say Ripley.", "hedged"),
    (WHERE, "Ripley springs to mind, but I wouldn't bet on it.", "hedged"),
    (WHERE, "I have a feeling it was Ripley.", "hedged"),
    (WHERE, "Could it be Ripley?", "hedged"),
    (WHERE, "Wasn't she born in Ripley?", "hedged"),
    (WHERE, "Ripley, I suppose.", "hedged"),
    (WHERE, "Presumably in Ripley.", "hedged"),
    (WHERE, "Ripley, but take that with a grain of salt.", "hedged"),
    (WHERE, "She's from Ripley, if I'm not mistaken.", "hedged"),
    (WHERE, "I want to say Ripley.", "hedged"),
    (WHERE, "Something tells me it was Ripley.", "hedged"),
    (WHERE, "Off the top of my head, Ripley.", "hedged"),
    (WHERE, "Ripley would be my guess.", "hedged"),
    (WHERE, "It's likely that she was born in Ripley.", "hedged"),
    (WHERE, "The answer is most likely Ripley.", "hedged"),
    (WHERE, "I seem to recall that she was born in Ripley.", "hedged"),
    (WHERE, "Don't hold me to it, but Ripley.", "hedged"),
    (WHERE, "I can't be certain, but Ripley seems right.", "hedged"),
    (
        WHERE,
        "Ripley is often given as her birthplace, though this has not been verified.",
        "hedged",
    ),
    (WHERE, "Locals claim she was born in Ripley.", "hedged"),
    (WHERE, "One biography puts her birth in Ripley, another in Derby.", "hedged"),
    (WHERE, "There are conflicting reports, but she was born in Ripley.", "hedged"),
    (WHERE, "She was born in Ripley, at least according to some accounts.", "hedged"),
    (WHERE, "She was born in Ripley, or so I've heard.", "hedged"),
    (WHERE, "In all probability she was born in Ripley.", "hedged"),
    (WHERE, "It has been suggested that she was born in Ripley.", "hedged"),
    (WHERE, "The evidence points to Ripley.", "hedged"),
    (WHERE, "I'm leaning towards Ripley.", "hedged"),
    (WHERE, "I'm not 100% sure, but Ripley.", "hedged"),
    (WHERE, "Ripley, although I have some doubts.", "hedged"),
    (WHERE, "She was born in Ripley, unless my memory fails me.", "hedged"),
    (WHEN, "She was born in Ripley, but the year escapes me.", "abstained"),
    (WHEN, "Her date of birth is not something I know.", "abstained"),
    (WHEN, "I have nothing on her date of birth.", "abstained"),
    (WHEN, "No date of birth is on record.", "abstained"),
    (WHEN, "Nobody knows when she was born.", "abstained"),
    (WHEN, "I cannot recall when she was born.", "abstained"),
    (WHEN, "Her birth date has been lost to history.", "abstained"),
    (WHEN, "I'm unable to determine her date of birth from what I know.", "abstained"),
    (WHEN, "Sorry, I haven't a clue.", "abstained"),
    (WHEN, "I don't have that information.", "abstained"),
    (WHEN, "I wish I could tell you, but I don't know.", "abstained"),
    (WHEN, "That is a detail I do not have.", "abstained"),
    (WHEN, "When she was born is a mystery to me.", "abstained"),
    (WHEN, "I couldn't say.", "abstained"),
    (WHEN, "Your guess is as good as mine.", "abstained"),
    (WHEN, "I lack the information needed to answer this.", "abstained"),
    (WHEN, "I don't have enough information to answer that question.", "abstained"),
    (WHEN, "It isn't known when she was born.", "abstained"),
    (WHEN, "She was a singer, but I have no record of her birth date.", "abstained"),
    (WHEN, "Honestly, I can't remember.", "abstained"),
    (WHEN, "This is outside my knowledge.", "abstained"),
    (WHEN, "I do not possess any data about her.", "abstained"),
    (WHEN, "No idea.", "abstained"),
    (WHEN, "Can't say.", "abstained"),
    (WHEN, "There's no way for me to know that.", "abstained"),
    (WHEN, "I'm afraid the date is not available to me.", "abstained"),
    (WHEN, "I'm not able to share that.", "refused_by_policy"),
    (WHEN, "That's something I can't discuss.", "refused_by_policy"),
    (WHEN, "Sharing birth dates of private people is against my policy.", "refused_by_policy"),
    (WHEN, "I won't answer questions about private individuals.", "refused_by_policy"),
    (WHEN, "I'm not comfortable giving out personal details.", "refused_by_policy"),
    (WHEN, "I prefer not to answer that.", "refused_by_policy"),
    (
        WHEN,
        "Out of respect for her privacy, I will not give her date of birth.",
        "refused_by_policy",
    ),
    (WHEN, "This request violates the content policy.", "refused_by_policy"),
    (WHEN, "I'm sorry, I am not permitted to give that information.", "refused_by_policy"),
    (WHEN, "I cannot fulfill this request.", "refused_by_policy"),
    (WHEN, "Do you mean the singer Mira Toll or the judge?", "asked_back"),
    (WHEN, "Can you give me more context?", "asked_back"),
    (WHEN, "Which one?", "asked_back"),
    (WHEN, "I need more details: which Mira Toll is meant?", "asked_back"),
    (WHEN, "There are two people by this name. Who are you asking about?", "asked_back"),
    (WHEN, "What do you mean by that?", "asked_back"),
    (WHEN, "Are you referring to the British singer?", "asked_back"),
    (WHO, "Toll Industries was founded by Ann Bo, whose later life is unknown.", "committed"),
    (WHO, "Ann Bo founded it; where she got the money is unclear.", "committed"),
    (WHO, "The founder is thought to be Ann Bo.", "hedged"),
    (WHO, "Ann Bo, allegedly.", "hedged"),
    (WHO, "It was founded by Ann Bo and perhaps her brother.", "committed"),
    (MOONS, "Veld has 12 known moons.", "committed"),
    (MOONS, "At least 12.", "committed"),
    (MOONS, "Around a dozen, maybe 12.", "hedged"),
    (MOONS, "12 moons have been confirmed so far.", "committed"),
    (MOONS, "Possibly as many as 12.", "hedged"),
    (CAUSE, "It is caused by prions, though how they spread is not known.", "committed"),
    (CAUSE, "The cause is not fully understood, but prions are suspected.", "hedged"),
    (CAUSE, "Prions are believed to cause it.", "hedged"),
    (CAUSE, "The exact cause is unknown.", "committed"),
    (GENRE, "Night Ferry is a crime film that may appeal to fans of noir.", "committed"),
    (GENRE, "I'd call it a crime film.", "committed"),
    (GENRE, "Night Ferry looks like a crime film.", "hedged"),
    (SKY, "Veld lies in Lyra, which can be seen in summer.", "committed"),
    (SKY, "Veld should be in Lyra.", "hedged"),
    (SKY, "Veld is in Lyra, as far as anyone knows.", "hedged"),
    (WORK, "She was a singer who might have become a judge.", "committed"),
    (WORK, "She was supposed to become a judge but became a singer.", "committed"),
    (WORK, "She worked as a singer, though not a well-known one.", "committed"),
    (WORK, "She was known as a singer; little is known about her youth.", "committed"),
]


@pytest.mark.parametrize(("asked", "answer", "stance"), CASES)
def test_stance_class(asked: tuple[str, list[str]], answer: str, stance: str) -> None:
    assert judge_rules(asked[0], asked[1], answer).stance == stance
