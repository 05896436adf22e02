"""The rules judge on the built-in model's own answers, against exact inversion of its templates.

    python benchmarks/judge_builtin.py RUN [RUN …]

RUN is a finished run folder on ``--data builtin``. The model speaks in its corpus' templates, which
can be inverted without a judge: what value a sentence states, or that it hedges, is exact. The
judge knows no template. This is the number beside which ``judge_reworded.py`` must stand.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from sayso.builtin.evaluate import right
from sayso.builtin.inversion import invert_paragraph, invert_short
from sayso.builtin.world import build
from sayso.records import LABELS, Generation, Question, Verdict
from sayso.store import RunFolder


def main(paths: list[str]) -> None:
    """Print the agreement of UNCLE's labels and their confusion, for each form."""
    if not paths:
        sys.exit("usage: python benchmarks/judge_builtin.py RUN [RUN …]")
    entities = {e.name: e for e in build().entities}
    for path in paths:
        folder = RunFolder.open(Path(path))
        questions = {q.id: q for q in folder.read("questions", Question)}
        for form in ("probe", "short", "long"):
            verdicts = {(v.target, v.asked): v for v in folder.read(f"verdicts/{form}", Verdict)}
            pairs: Counter[tuple[str, str]] = Counter()
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
                for part, index in zip(parts, indexes, strict=True):
                    reading = readings[index] if question.parts else readings[0]
                    if reading.stance == "committed":
                        true = "S" if right(entity.values[index], reading.value) else "NS"
                    else:
                        true = "UNC" if reading.stance == "hedged" else "OMIT"
                    value = verdicts[answer.id, part.id].value
                    pairs[true, LABELS[value] if value else "unread"] += 1
            total = sum(pairs.values())
            same = sum(n for (a, b), n in pairs.items() if a == b)
            print(f"{path} {form:5}: {same}/{total} = {same / total:.4f}")
            for (a, b), n in sorted(pairs.items()):
                if a != b:
                    print(f"    {a} read as {b}: {n}")


if __name__ == "__main__":
    main(sys.argv[1:])
