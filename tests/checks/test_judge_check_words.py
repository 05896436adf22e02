"""judge-check reads the survey's hedges in sentences, and pairs of answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sayso.checks.judge import CLAIMS, check_words, judge_check
from sayso.judges.hedge_survey import PHRASES
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.faithfulness.verdicts import RulesWording
from sayso.records import Request
from support.scripted import ScriptedEngine

SURVEY = json.loads(
    (Path(__file__).parent.parent / "golden" / "hedge_survey.json").read_text(encoding="utf-8")
)


def test_the_seventeen_phrases_are_those_of_the_survey() -> None:
    ours = {said.phrase: (said.low, said.median, said.high) for said in PHRASES}
    theirs = {
        name.lower(): tuple(row[key] / 100 for key in ("q25", "median", "q75"))
        for name, row in SURVEY.items()
    }
    assert ours == theirs
    assert all(len(said.sentences) == 2 for said in PHRASES)


def test_rules_read_hedges_as_people_do() -> None:
    found = check_words(RulesJudge())
    assert found.unread == 0
    assert found.inside.count >= 16
    assert (found.rank or 0) > 0.9
    assert found.pairs.of + found.pairs_unread == sum(len(c.samples) for c in CLAIMS)
    assert (found.pairs.value or 0) >= 0.8


def scripted(score: float, said: str) -> LlmJudge:
    """A model that gives every answer one score and says one thing of every pair."""

    def answer(request: Request) -> str:
        prompt = request.messages[-1].content
        code = re.search(r"The code is (k\w+)", prompt)
        if code is None:
            return "no"
        entries = [
            {
                "number": int(number),
                "begins": " ".join(text.split()[:5]),
                "contradicts": said,
                "assertions": [{"text": text, "score": score}],
            }
            for number, text in re.findall(r"^(\d+) (?:answer|sample)\| (.*)$", prompt, re.M)
        ]
        return json.dumps({"code": code[1], "verdicts": entries})

    return LlmJudge(ScriptedEngine(answer, name="flat", logprob=-0.5))


def test_a_model_that_hears_no_hedges_is_found_out() -> None:
    found = check_words(scripted(1.0, "no"))
    assert found.inside.count == 0
    assert found.rank is None  # constant scores rank nothing
    contradict = sum(yes for c in CLAIMS for _, yes in c.samples)
    assert found.pairs.count == found.pairs.of - contradict


def test_scores_that_are_none_are_counted_and_in_no_mean() -> None:
    found = check_words(scripted(1.7, "perhaps"))
    assert found.unread == 34
    assert found.inside.of == 0
    assert found.inside.value is None
    assert found.pairs.of == 0
    assert found.pairs_unread == sum(len(c.samples) for c in CLAIMS)


def test_the_check_of_a_judge_holds_it(tmp_path: Path) -> None:
    found = judge_check("rules", cache=tmp_path)
    assert found.words is not None
    assert found.words.by == RulesWording.signature
    assert judge_check("rules", limit=3, cache=tmp_path).words is None  # a partial check
