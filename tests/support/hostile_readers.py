"""Every offline reader of the package as a function of one text, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sayso.answers.lexical import ANSWER_METRICS, rouge_l, rouge_l_table
from sayso.judges.claim_questions import gap_question
from sayso.judges.claims import claim_blocks, claims, unresponsive
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.judges.english.dates import find_dates
from sayso.judges.english.markup import parts
from sayso.judges.english.quantities import find_quantities
from sayso.judges.english.sentences import split_sentences
from sayso.judges.meaning import RulesMeaning, relation_in
from sayso.judges.model.numbered import read_numbered
from sayso.judges.model.prompts import vocabulary
from sayso.judges.model.replies import read_judge_reply
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.judges.rules.matching import match
from sayso.judges.rules.names import compare_names
from sayso.judges.self_judgement import read_yes_no as read_self_judgement
from sayso.judges.support import RulesSupport
from sayso.prompts.fence import Field, fence
from sayso.prompts.thoughts import split_thoughts
from sayso.records import Gold, Passage
from sayso.scores.collect import confidence_in, truth_in

Reader = Callable[[str], Any]

WHERE, WHEN, MANY = "Where was Mira Toll born?", "When did it end?", "How many people live there?"
NAME = (Gold("Ripley", aliases=("Ripley, England",)),)
DATE = (Gold("3 May 1999"),)
NUMBER = (Gold("3 million"),)
PARTS = ((WHERE, NAME), (WHEN, DATE), (MANY, NUMBER))
CODE = "k1234"
LABELS = vocabulary("stance", "one", "short")


def _passage(text: str) -> Passage:
    return Passage("p1", "Mira Toll", text)


READERS: dict[str, Reader] = {
    "judge: name": lambda text: judge_rules(WHERE, NAME, text),
    "judge: date": lambda text: judge_rules(WHEN, DATE, text),
    "judge: number": lambda text: judge_rules(MANY, NUMBER, text),
    "judge: paragraph": lambda text: judge_rules_long(PARTS, text),
    "match: name": lambda text: match(WHERE, NAME, text),
    "match: date": lambda text: match(WHEN, DATE, text),
    "match: number": lambda text: match(MANY, NUMBER, text),
    "decisiveness": decisiveness,
    "decisiveness of": lambda text: decisiveness(text, "She was born in Ripley."),
    "contradiction": lambda text: contradicts(WHERE, text, "She was born in Ripley."),
    "meaning": lambda text: RulesMeaning().clusters([WHERE], [[text, text[1:], "Ripley"]]),
    "claims": claims,
    "claims, blocks": lambda text: claim_blocks("Mira Toll", text),
    "claim question": lambda text: gap_question("Mira Toll", text),
    "responsive": unresponsive,
    "support: claim": lambda text: RulesSupport().read(
        [("Mira Toll", text, (_passage("Mira Toll was born in Ripley on 3 May 1999."),))]
    ),
    "support: passage": lambda text: RulesSupport().read(
        [("Mira Toll", "She was born in Ripley on 3 May 1999.", (_passage(text),))]
    ),
    "sentences": split_sentences,
    "sentences, marked": parts,
    "dates": find_dates,
    "quantities": find_quantities,
    "names": lambda text: compare_names(text, "Mira Toll"),
    "answer metrics": lambda text: [one(["Ripley"], text) for one in ANSWER_METRICS.values()],
    "rouge": lambda text: (rouge_l_table([text, text[1:]]), rouge_l([text[1:]], text)),
    "fence": lambda text: fence([Field("answer", text)]),
    "thought": split_thoughts,
    "reply: blocks": lambda text: read_judge_reply(text, "blocks", CODE, [WHERE, WHEN], LABELS),
    "reply: json": lambda text: read_judge_reply(text, "json", CODE, [WHERE, WHEN], LABELS),
    "reply: numbered": lambda text: read_numbered(text, CODE, [WHERE, WHEN], dict),
    "reply: itself": lambda text: read_self_judgement(text, ("yes", "no", "none")),
    "reply: other": lambda text: (
        confidence_in(text, CODE),
        truth_in(text, CODE),
        relation_in(text, CODE),
    ),
}
