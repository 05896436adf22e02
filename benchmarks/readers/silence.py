"""Who reads silence? Several readers on 150 answers that answer their question, or do not.

    python benchmarks/readers/silence.py [--promptfoo FOLDER] [--fidelity PYTHON] [--model NAME]
        [--show] [--store READER=NAME …]

The set is ``src/sayso/checks/silence.jsonl``; ``silence.md`` beside it says how it was made.

* ``rules`` is our offline reader without gold answers, as a guard would call it; ``rules_gold`` has
  the gold answers, as in a run.
* ``pattern`` is a list of phrases of ignorance and refusal, as people write it into a script.
* ``promptfoo`` is its assertion ``is-refusal``, which is meant for refusals. ``--promptfoo`` is the
  folder in which ``npm install promptfoo`` ran; it needs Node.js 22 (``--node`` names a program).
* ``fidelity`` is inspect-refusal-fidelity, which may say that it cannot tell. ``--fidelity`` is a
  Python that can import it.
* ``model`` is a model that judges with the brief prompts. With ``--cache FOLDER`` it goes on where
  it was stopped.

A row is *misread* if an answer is taken for silence, or silence for an answer. Refusals, questions
back and empty texts are silence. *Undecided* rows are counted apart. ``--store`` puts readings into
``silence.json`` under a name; the tables of docs/readers.md and
trained.md are made from that file:
``python benchmarks/readers/silence.py --tables``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from sayso.checks.judge import make_item
from sayso.checks.silence import SilenceRow, silence_rows
from sayso.judges.judge import Judge
from sayso.judges.rules.judge import RulesJudge
from sayso.records import Verdict
from sayso.runs.judge import JudgeOptions, open_judge
from sayso.storage.cache import Cache

STORED = Path(__file__).with_suffix(".json")
#: what was read of a row, one letter each; D: silence of any kind, from readers that tell no more
LETTERS = {
    "committed": "A", "hedged": "H", "abstained": "N", "refused_by_policy": "R",
    "asked_back": "B", "omitted": "S",
}  # fmt: skip
ANSWERED, UNDECIDED = "AH", "?"

#: what people put into a script that counts refusals and "I don't know"
PHRASES = (
    r"i (?:do not|don't|don’t) know", r"i(?: am|'m|’m) not sure", r"not certain", r"no idea",
    r"i (?:cannot|can't|can’t|could not|couldn't)", r"unable to", r"i(?: am|'m|’m) sorry",
    r"i apologi[sz]e", r"as an ai", r"language model", r"(?:do not|don't) have (?:any |enough )?"
    r"(?:information|data|access|context)", r"(?:no|not enough|insufficient) (?:information|data|"
    r"context|evidence)", r"not (?:provided|mentioned|stated|specified|available|found)",
    r"cannot be determined", r"unknown", r"unanswerable", r"\bn/?a\b", r"^\s*(?:none|null|-)?\s*$",
)  # fmt: skip
PATTERN = re.compile("|".join(PHRASES), re.IGNORECASE)

PROMPTFOO = """
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";
const {default: promptfoo} = await import(pathToFileURL(process.argv[1]).href);
for await (const line of createInterface({input: process.stdin})) {
  const got = await promptfoo.assertions.runAssertion({
    assertion: {type: "is-refusal"}, test: {}, providerResponse: {output: JSON.parse(line)}});
  console.log(JSON.stringify({refusal: got.pass}));
}
process.exit(0);
"""

FIDELITY = """
import json, sys
from inspect_refusal_fidelity import detect
for line in sys.stdin:
    print(json.dumps({"verdict": detect(json.loads(line)).verdict.value}))
"""


def of_verdict(verdict: Verdict) -> str:
    """Return the letter of a judge's verdict."""
    return LETTERS.get(verdict.stance or "", UNDECIDED)


def judged(judge: Judge, rows: Sequence[SilenceRow], *, golds: bool) -> str:
    """Return what a judge reads of each row."""
    items = [make_item([(r.question, [r.gold or "?" if golds else "?"])], r.answer) for r in rows]
    return "".join(of_verdict(verdict) for verdict in judge.grade(items))


def lines(command: Sequence[str], rows: Sequence[SilenceRow]) -> list[dict[str, Any]]:
    """Return what a program prints of each answer: JSON in, JSON out, a line each."""
    sent = "".join(json.dumps(row.answer) + "\n" for row in rows)
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=False)
    got = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(got) != len(rows):
        sys.exit(f"{command[0]}: {len(got)} of {len(rows)} answers read\n{done.stderr[-2000:]}")
    return got


def readings(options: argparse.Namespace, rows: Sequence[SilenceRow]) -> dict[str, dict[str, str]]:
    """Return the version and the readings of every reader that was asked for."""
    rules = RulesJudge()
    found = {
        "rules": {"version": rules.signature, "read": judged(rules, rows, golds=False)},
        "rules_gold": {"version": rules.signature, "read": judged(rules, rows, golds=True)},
        "pattern": {
            "version": "-",
            "read": "".join("D" if PATTERN.search(row.answer) else "A" for row in rows),
        },
    }
    if options.promptfoo:
        package = Path(options.promptfoo) / "node_modules" / "promptfoo"
        main = str(package / "dist" / "src" / "index.js")
        command = [options.node, "--input-type=module", "-e", PROMPTFOO, main]
        got = lines(command, rows)
        version = json.loads((package / "package.json").read_text())["version"]
        found["promptfoo"] = {
            "version": version,
            "read": "".join("D" if g["refusal"] else "A" for g in got),
        }
    if options.fidelity:
        which = {"refused": "D", "answered": "A", "undetermined": UNDECIDED}
        got = lines([options.fidelity, "-c", FIDELITY], rows)
        asked = "import importlib.metadata as m; print(m.version('inspect-refusal-fidelity'))"
        version = subprocess.run(
            [options.fidelity, "-c", asked], capture_output=True, text=True, check=True
        ).stdout.strip()
        found["fidelity"] = {
            "version": version,
            "read": "".join(which[g["verdict"]] for g in got),
        }
    if options.model:
        brief = JudgeOptions(judge_prompt="brief", judge_anyway=True)
        with Cache(options.cache) if options.cache else nullcontext() as cache:
            seat = open_judge(options.model, brief, cache=cache)
            try:
                found["model"] = {
                    "version": seat.judge.signature,
                    "read": judged(seat.judge, rows, golds=True),
                }
            finally:
                seat.close()
    return found


def silent(row: SilenceRow) -> bool:
    """Tell whether an answer leaves its question open."""
    return row.expected != "answers"


def misread(rows: Sequence[SilenceRow], read: str) -> list[SilenceRow]:
    """Return the rows whose silence is read wrong; undecided ones are not among them."""
    return [
        row
        for row, letter in zip(rows, read, strict=True)
        if letter != UNDECIDED and silent(row) != (letter not in ANSWERED)
    ]


HEAD = ("reader", "version", "misread", "silence taken for an answer", "answers taken for silence")


def table(stored: dict[str, dict[str, str]], rows: Sequence[SilenceRow]) -> str:
    """Return the table of the docs, a line for each stored reader."""
    of = Counter(silent(row) for row in rows)
    heads = (*HEAD[:2], f"misread of {len(rows)}", f"{HEAD[3]}, of {of[True]}",
             f"{HEAD[4]}, of {of[False]}", "undecided")  # fmt: skip
    made = [heads, ("---",) * len(heads)]
    for name, one in stored.items():
        wrong = Counter(silent(row) for row in misread(rows, one["read"]))
        counts = (wrong.total(), wrong[True], wrong[False], one["read"].count(UNDECIDED))
        made.append((name, one["version"], *map(str, counts)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in made)


def by_class(stored: dict[str, dict[str, str]], rows: Sequence[SilenceRow]) -> str:
    """Return a second table: rows of each class that each stored reader does not read right."""
    kinds = Counter(row.kind for row in rows)
    made = [("class", "rows", *stored), ("---",) * (2 + len(stored))]
    for kind, number in kinds.items():
        cells = []
        for one in stored.values():
            wrong = sum(row.kind == kind for row in misread(rows, one["read"]))
            open_ = sum(
                row.kind == kind and letter == UNDECIDED
                for row, letter in zip(rows, one["read"], strict=True)
            )
            cells.append(f"{wrong} ({open_})" if open_ else str(wrong))
        made.append((f"`{kind}`", str(number), *cells))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in made)


def tables(stored: dict[str, dict[str, str]], rows: Sequence[SilenceRow]) -> tuple[str, str]:
    """Return both tables of the docs."""
    return table(stored, rows), by_class(stored, rows)


def stored_readings() -> dict[str, dict[str, str]]:
    """Return the stored readings of this set, none of another one."""
    kept = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    return dict(kept["readers"]) if kept.get("set") == set_hash() else {}


def set_hash() -> str:
    """Return a hash of questions, answers and labels: stored readings are of this set."""
    text = json.dumps([(r.question, r.answer, r.expected, r.hedged) for r in silence_rows()])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def main() -> None:
    """Read, print, and store if told to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--promptfoo", help="folder in which npm installed promptfoo")
    parser.add_argument("--node", default="node")
    parser.add_argument("--fidelity", help="a Python with inspect-refusal-fidelity")
    parser.add_argument("--model", help="a model that judges with the brief prompts")
    parser.add_argument("--cache", help="a folder for the replies of the model")
    parser.add_argument("--show", action="store_true", help="print every misread row")
    parser.add_argument("--store", nargs="*", default=[], metavar="READER=NAME")
    parser.add_argument("--tables", action="store_true", help="print the tables of the docs")
    options = parser.parse_args()
    rows = silence_rows()
    if options.tables:
        print(*tables(stored_readings(), rows), sep="\n\n")
        return
    found = readings(options, rows)
    print(*tables(found, rows), sep="\n\n")
    for name, one in found.items():
        if set(one["read"]) & set("RB"):
            pairs = Counter(zip((r.stance for r in rows), one["read"], strict=True))
            kinds = {s: sum(n for (a, _), n in pairs.items() if a == s) for s in LETTERS}
            told = (f"{s} {pairs[s, at]} of {kinds[s]}" for s, at in LETTERS.items())
            print(f"\n{name}, stance read as labeled: {', '.join(told)}")
        if options.show:
            for row in misread(rows, one["read"]):
                print(f"  {name} {row.id} {row.kind} [{row.expected}] {row.question} "
                      f"{row.answer!r:.200}")  # fmt: skip
    if options.store:
        kept = stored_readings()
        for pair in options.store:
            reader, _, name = pair.partition("=")
            kept[name or reader] = found[reader]
        text = json.dumps({"set": set_hash(), "readers": kept}, indent=1, ensure_ascii=False)
        STORED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
