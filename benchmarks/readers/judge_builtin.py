"""The rules judge on the built-in model's own answers, against exact inversion of its templates.

    python benchmarks/readers/judge_builtin.py RUN [RUN …] [--again] [--misread 20]

``--again`` judges the answers anew instead of reading the verdicts in the folder; ``--misread N``
prints N aspects of each form whose label differs. RUN is a finished run folder on
``--data builtin``. The model speaks in its corpus' templates, which can be inverted without a
judge: what value a sentence states, or that it hedges, is exact. The judge knows no template. This
is the number beside which ``judge_reworded.py`` must stand.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from builtin_model.evaluate import right
from builtin_model.inversion import invert_paragraph, invert_short
from builtin_model.world import build

from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge
from sayso.records import LABELS, Generation, Question, Verdict, golds_of
from sayso.storage.run_folder import RunFolder


def main(paths: list[str], again: bool = False, misread: int = 0) -> None:
    """Print the agreement of UNCLE's labels and their confusion, for each form.

    With ``again`` the rules judge the answers now; ``misread`` is how many differing aspects of
    each form to print.
    """
    entities = {e.name: e for e in build().entities}
    for path in paths:
        folder = RunFolder.open(Path(path))
        questions = {q.id: q for q in folder.read("questions", Question)}
        for form in ("probe", "short", "long"):
            verdicts = {(v.target, v.asked): v for v in folder.read(f"verdicts/{form}", Verdict)}
            pairs: Counter[tuple[str, str]] = Counter()
            left = misread
            for answer in folder.read(f"generations/{form}", Generation):
                question = questions[answer.question]
                entity = entities[question.entity]
                parts = [questions[p] for p in question.parts] or [question]
                if question.parts:
                    readings = invert_paragraph(entity.domain, entity.name, answer.text)
                else:
                    readings = [invert_short(answer.text)]
                indexes = [
                    next(
                        i
                        for i, a in enumerate(entity.kind.aspects)
                        if part.aspect and a.description == part.aspect.description
                    )
                    for part in parts
                ]
                if again:
                    item = Item(answer, tuple(parts))
                    verdicts.update(((v.target, v.asked), v) for v in RulesJudge().grade([item]))
                for part, index in zip(parts, indexes, strict=True):
                    reading = readings[index] if question.parts else readings[0]
                    if reading.stance == "committed":
                        true = "S" if right(entity.values[index], reading.value) else "NS"
                    else:
                        true = "UNC" if reading.stance == "hedged" else "OMIT"
                    value = verdicts[answer.id, part.id].value
                    label = LABELS[value] if value else "unread"
                    pairs[true, label] += 1
                    if label != true and left:
                        left -= 1
                        golds = [g.value for g in golds_of(part.golds or ())]
                        print(f"  {true} read as {label}: {part.text} {golds}\n    {answer.text}")
            total = sum(pairs.values())
            same = sum(n for (a, b), n in pairs.items() if a == b)
            print(f"{path} {form:5}: {same}/{total} = {same / total:.4f}")
            for (a, b), n in sorted(pairs.items()):
                if a != b:
                    print(f"    {a} read as {b}: {n}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--misread", type=int, default=0, metavar="N")
    given = parser.parse_args()
    main(given.runs, given.again, given.misread)
