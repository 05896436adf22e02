"""What does it save, and cost, to ask a model only where the rules are not certain?

    SAYSO_TEST_DATA=<folder> python benchmarks/judges/cheap_judge.py [--final]

Graded on EVOUNA's human labels, split into halves as in `judge_rules.py`: `certain` was decided on
the open half; `--final` prints one total of the half set aside. No model is asked. In its place
stands a scripted judge of *known* accuracy, which calls an answer right or wrong as people did but
for a share of errors drawn by a hash of the row; its prompts and replies are those of `LlmJudge`,
and the tokens of both are counted as characters / 4, an approximation. The errors of a real judge
are not drawn at random: where it errs on what the rules get right, less is lost than here; where
it errs on what they also get wrong, more.

The bar: at most half the tokens of asking about everything, for at most one point of agreement.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "readers"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from judge_rules import Row, golds_of_field, rows, set_aside
from sayso.judges.cascade import CascadeJudge
from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.judges.model.prompts import short_line
from sayso.judges.rules.judge import RulesJudge
from sayso.prompts.fence import visible_text
from sayso.records import Generation, Question, Verdict, ask
from support.judge_world import Shown, judge_engine

#: 1.0 is the hardest case for the cascade: every error of the rules costs
ACCURACIES = (0.95, 0.98, 1.0)
CHARACTERS_PER_TOKEN = 4


def item_of(row: Row) -> Item:
    """Return an answer as a run would hand it to a judge."""
    question = Question(
        id=row.id, dataset=row.dataset, text=row.question, golds=(golds_of_field(row.golden),)
    )
    made = Generation(request=ask(row.question), id=row.id, text=row.answer, form="short")
    return Item(made, (question,))


def stand_in(part: list[Row], accuracy: float, name: str) -> LlmJudge:
    """Return a judge that errs in a share of the rows, the same ones whoever asks."""
    label = {(short_line(r.question), visible_text(r.answer)): r.right for r in part}

    def decide(seen: Shown, number: int) -> str:
        question, text = seen.question(number), seen.text(number)
        draw = hashlib.sha256(f"{name}|{question}|{text}".encode()).digest()
        wrong = int.from_bytes(draw[:4], "big") / 2**32 >= accuracy
        return "committed-correct" if label[question, text] != wrong else "committed-incorrect"

    return LlmJudge(judge_engine(decide, name, analysis="The answer names what the gold names."))


def tokens(judge: LlmJudge) -> float:
    """Approximate tokens of all requests and replies of a judge on a scripted engine."""
    engine = judge.engine
    sent = sum(len(m.content) for r in engine.requests for m in r.messages)
    got = sum(len(engine.reply(r)) for r in engine.requests)
    return (sent + got) / CHARACTERS_PER_TOKEN


def agreement(part: list[Row], verdicts: list[Verdict]) -> float:
    """Share of answers that the judge accepts exactly where people do; missing ones do not."""
    pairs = zip(part, verdicts, strict=True)
    return sum(v.problem is None and (v.content == "correct") == r.right for r, v in pairs) / len(
        part
    )


def table(title: str, part: list[Row]) -> bool:
    """Print one half and return whether it meets the bar for every accuracy."""
    items = [item_of(r) for r in part]
    rules = RulesJudge().grade(items)
    print(f"\n{title}: {len(part):,} answers; rules alone agree on {agreement(part, rules):.3f}")
    print(f"{'judge':>16} {'asked':>7} {'tokens/100':>11} {'share':>6} {'agree':>7} {'loss':>7}")
    good = True
    for accuracy in ACCURACIES:
        name = f"accuracy {accuracy}"
        everything = stand_in(part, accuracy, name)
        all_agree = agreement(part, everything.grade(items))
        llm = stand_in(part, accuracy, name)
        cascade = CascadeJudge(RulesJudge(), llm)
        some_agree = agreement(part, cascade.grade(items))
        whole, some = tokens(everything), tokens(llm)
        loss = all_agree - some_agree
        for who, count, spent, agree in (
            (name, len(part), whole, all_agree),
            ("rules+it", cascade.requested, some, some_agree),
        ):
            line = f"{who:>16} {count:7,} {100 * spent / len(part):11,.0f} {spent / whole:6.2f}"
            print(f"{line} {agree:7.4f} {all_agree - agree:+7.4f}")
        good = good and some <= whole / 2 and loss <= 0.01
    print(f"bar (tokens at most .50, loss at most .0100): {'met' if good else 'MISSED'}")
    return good


def main() -> int:
    """Print the open half, with --final the other; 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--final", action="store_true", help="also total the half set aside")
    options = parser.parse_args()
    found = list(rows(Path(os.environ["SAYSO_TEST_DATA"])))
    good = table("open half", [r for r in found if not set_aside(r.dataset, r.question)])
    if options.final:
        good &= table("half set aside", [r for r in found if set_aside(r.dataset, r.question)])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
