"""How much doubt does the offline reader see, and does that depend on the value it stands beside?

    python benchmarks/readers/doubt.py
    python benchmarks/readers/doubt.py --paragraphs  # only what paragraphs say of each aspect
    python benchmarks/readers/doubt.py --written     # only answers and silence that look alike

Two questions about short answers: of what share that voice doubt does ``rules`` read doubt (hedged
or withheld), and of what share that assert does it read an assertion?

* real answers that were set aside, by source (``tools/readers/labels.py``); those of 2026's
  assistants by weights that did not learn from their question (``tools/readers/folds.py``)
* answers of 2025's assistants in words of a level that was asked for, on the half of the questions
  that decisiveness was not learned from
* made answers (``tools/readers/cue_texts.py``): every cue with every kind of value. The difference
  between kinds says how far kinds of fact can be compared.
* J of a model that hedges by the toss of a coin, knows places and people best, dates and lists
  least, and says each kind of value in its own format: J is 0, and what is read beyond the J of the
  words that were chosen is the reader's error.

Of paragraphs it prints the share of aspects that are read right (stance, and stance with content
where the content is labeled), and which stance is taken for which, by source.

Needs ``SAYSO_TEST_DATA`` for the first two. One CPU minute.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "readers"))

from cue_texts import PLACES, VALUES, made_texts
from folds import judge as judge_unlearned
from labels import DATA, Row, assistant_rows, even_half, real_rows

from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge, judge_rules
from sayso.records import Aspect, Generation, Question, Request, Verdict, golds_of

ASSERTED = ("committed", "omitted")


def seen(
    rows: Iterable[tuple[str, str, Sequence[str], str]],
    judge: Callable[[str, list[str], str], Verdict] = judge_rules,
) -> str:
    """Return a line: doubt seen and assertions seen of (stance, question, golds, text)."""
    counts: dict[tuple[bool, bool], int] = defaultdict(int)
    for stance, question, golds, text in rows:
        read = judge(question, list(golds) or ["?"], text).stance
        counts[stance in ASSERTED, read in ASSERTED] += 1
    shares = []
    for asserted, name in ((False, "doubt"), (True, "assertion")):
        total = counts[asserted, True] + counts[asserted, False]
        share = counts[asserted, asserted] / total if total else float("nan")
        shares.append(f"{name} seen {share:.3f} of {total:5,}")
    return "   ".join(shares)


def labeled(rows: Iterable[Row]) -> list[tuple[str, str, Sequence[str], str]]:
    """Return the short answers whose stance is labeled."""
    return [
        (label.stance, label.question, label.golds, row.text)
        for row in rows
        for label in row.labels[:1]
        if row.form == "short" and label.stance
    ]


def paragraphs(rows: Iterable[Row]) -> str:
    """Return a line: aspects of paragraphs that are read right, and the commonest misreadings."""
    right: list[bool] = []
    both: list[bool] = []
    wrong: Counter[tuple[str, str]] = Counter()
    for row in rows:
        asked = tuple(
            Question(
                str(at), "", a.question, golds_of(a.golds or ("?",)), entity=row.entity,
                aspect=Aspect(a.hint),
            )
            for at, a in enumerate(row.labels)
        )  # fmt: skip
        item = Item(Generation(Request(()), id="", form="long", text=row.text), asked)
        for label, verdict in zip(row.labels, RulesJudge().grade([item]), strict=True):
            if label.stance is None:
                continue
            right.append(verdict.stance == label.stance)
            if label.content is not None:
                both.append(right[-1] and verdict.content == label.content)
            if not right[-1]:
                wrong[label.stance, str(verdict.stance)] += 1
    shares = [f"stance {sum(right) / len(right):.3f} of {len(right)}"]
    if both:
        shares.append(f"stance and content {sum(both) / len(both):.3f} of {len(both)}")
    shares += [f"{a} read as {b} {n}" for (a, b), n in wrong.most_common(4)]
    return "   ".join(shares)


def written(show: bool = False) -> Iterator[str]:
    """Yield a line for each class of ``silence_written.jsonl``: answers that are read wrong.

    Silence taken for an answer, or an answer for silence, without gold answers and with them; of
    "role" a name that is found right or wrong against its gold. Only the half that the reader was
    mended on is shown row by row.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    lines = (DATA / "silence_written.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        half = "mended on" if even_half(row["question"]) else "aside"
        counts[row["class"], half, "rows"] += 1
        for golds in ("without golds", "with golds"):
            given = row["gold"] if golds == "with golds" else "?"
            verdict = judge_rules(row["question"], [given], row["answer"])
            silent = verdict.stance not in ("committed", "hedged")
            wrong = silent != (row["expected"] != "answers")
            wrong |= golds == "with golds" and verdict.content != row.get(
                "content", verdict.content
            )
            counts[row["class"], half, golds] += wrong
            if wrong and show and half == "mended on":
                yield f"  {golds}: {row['question']!r} {row['answer']!r} {verdict.stance}"
    for half in ("mended on", "aside"):
        kinds = list(dict.fromkeys(kind for kind, own, _ in counts if own == half))
        for kind in (*kinds, ""):
            told = (
                sum(n for (k, own, what), n in counts.items()
                    if own == half and what == column and kind in ("", k))
                for column in ("without golds", "with golds", "rows")
            )  # fmt: skip
            bare, known, number = told
            yield (
                f"{half:9}  {kind or 'all':10}  misread {bare:3}, with golds {known:3}, "
                f"of {number:3}"
            )


def main() -> None:
    if sys.argv[1:2] == ["--written"]:
        print(*written("--show" in sys.argv), sep="\n")
        return
    every = real_rows()
    real = [row for row in every if row.half == "aside"]
    long = [row for row in real if row.form == "long"]
    for source in sorted({row.source for row in long}):
        print(f"{source + ' paragraphs':24} {paragraphs(r for r in long if r.source == source)}")
    if sys.argv[1:] == ["--paragraphs"]:
        return
    for source in sorted({row.source for row in real if row.form == "short"}):
        print(f"{source:24} {seen(labeled(row for row in real if row.source == source))}")
    chat = labeled(row for row in real if row.source != "smollm2")
    print(f"{'chat models, all':24} {seen(chat)}")
    unlearned = labeled(row for row in every if row.half == "folds")
    print(f"{'assistants of 2026':24} {seen(unlearned, judge_unlearned)}")
    print(f"{'assistants of 2025':24} {seen(labeled(assistant_rows('aside')))}")
    made = list(made_texts(seed=99))
    for name, groups in (("kind", VALUES), ("place", (*PLACES, "predicate"))):
        for group in groups:
            some = [m for m in made if getattr(m, name) == group]
            rows = [(m.stance, m.question, (m.gold,), m.text) for m in some]
            print(f"made, {name} {group:12}  {seen(rows)}")
    errors = [coin_j(seed) for seed in range(20)]
    print(f"J of hedging by coin, read minus chosen, 20 seeds: {min(errors):+.3f} to "
          f"{max(errors):+.3f}")  # fmt: skip


#: share of facts that the model of :func:`coin_j` knows, by kind of value
KNOWN = {
    "place": 0.9, "person": 0.8, "thing": 0.7, "title": 0.6, "year": 0.4, "quantity": 0.3,
    "list": 0.2, "date": 0.1,
}  # fmt: skip


def coin_j(seed: int) -> float:
    """Return how far the J that is read exceeds that of the words chosen by a coin."""
    rng = random.Random(seed)
    voiced: dict[tuple[bool, str], list[bool]] = defaultdict(list)
    for made in made_texts(seed=1000 + seed):
        if made.place == "predicate":
            continue
        known = rng.random() < KNOWN[made.kind]
        read = judge_rules(made.question, [made.gold], made.text).stance
        voiced[known, "read"].append(read not in ASSERTED)
        voiced[known, "chosen"].append(made.stance not in ASSERTED)
    mean = {key: sum(told) / len(told) for key, told in voiced.items()}
    return (mean[False, "read"] - mean[True, "read"]) - (
        mean[False, "chosen"] - mean[True, "chosen"]
    )


if __name__ == "__main__":
    main()
