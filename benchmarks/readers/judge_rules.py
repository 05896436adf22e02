"""How often does the offline `rules` matcher agree with people? Measured on EVOUNA (QA-Eval).

    SAYSO_TEST_DATA=<folder> python benchmarks/readers/judge_rules.py [--final] [--errors FILE]

Rows marked improper and answers without a human verdict are left out. Questions are split once, by
a seeded hash of set and question text, into an *open* half, in which errors may be read while rules
are written, and a half that is *set aside* and read only by `--final`, at the end. A hedged answer
counts by its content. `accepted wrong` is the share of the answers that people called wrong which
the matcher accepts. `containment` is the plain baseline: a normalized gold inside the answer.

Human labels that look wrong are listed in `data/evouna_label_errors.json` (hashes and a reason, no
text). They stay in every headline number; the last line only says what leaving them out would do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sayso.judges.rules.matching import match
from sayso.records import Gold

SEED = "sayso-evouna-1"
SETS = ("NQ", "TQ")
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
LABEL_ERRORS = Path(__file__).parents[1] / "data" / "evouna_label_errors.json"


class Row(NamedTuple):
    """One answer of one system that a person called right or wrong."""

    id: str
    dataset: str
    system: str
    question: str
    golden: str
    answer: str
    right: bool


def set_aside(dataset: str, question: str) -> bool:
    """Tell whether a question belongs to the half that is read only at the end."""
    return hashlib.sha256(f"{SEED}|{dataset}|{question}".encode()).digest()[0] % 2 == 1


def golds_of_field(field: str) -> Gold:
    """Read a `/`-separated field as one gold with aliases.

    A slash may also stand inside a value ("AC/DC", "9/11"), so the whole field is an alias too;
    a single letter between slashes is part of such a value, not an alias of its own.
    """
    parts = [
        p.strip()
        for p in field.split("/")
        if p.strip() and not (len(p.strip()) == 1 and p.strip().isalpha())
    ]
    whole = field.strip()
    return Gold(parts[0], aliases=(*parts[1:], whole)) if len(parts) > 1 else Gold(whole)


def rows(folder: Path) -> Iterator[Row]:
    """Yield every answer with a human verdict, both halves."""
    for dataset in SETS:
        path = folder / "evouna" / f"{dataset}.jsonl"
        # not splitlines(): it also splits at U+2028 inside a text
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line.strip():
                continue
            row = json.loads(line)
            if row["improper"] is True:
                continue
            for system in SYSTEMS:
                verdict, answer = row.get(f"judge_{system}"), row.get(f"answer_{system}")
                if not isinstance(verdict, bool) or not isinstance(answer, str):
                    continue
                key = f"{dataset}|{system}|{row['question']}|{row['golden_answer']}|{answer}"
                name = hashlib.sha256(key.encode()).hexdigest()[:16]
                yield Row(
                    name, dataset, system, row["question"], row["golden_answer"], answer, verdict
                )


def plain(text: str) -> str:
    """Lower case, no diacritics, no punctuation, no articles: SQuAD's normalization."""
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = re.sub(r"[^\w\s]", " ", text)
    return " ".join(w for w in text.split() if w not in ("a", "an", "the"))


def contained(row: Row) -> bool:
    """The baseline: some alias is in the answer, after normalization."""
    answer = f" {plain(row.answer)} "
    golds = [plain(p) for p in row.golden.split("/")]
    return any(g and f" {g} " in answer for g in golds)


class Cells(NamedTuple):
    """A confusion matrix: people say right or wrong, the judge accepts or refuses."""

    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0

    def add(self, right: bool, accepted: bool) -> Cells:
        """Return the matrix with one more answer."""
        return Cells(
            self.tp + (right and accepted),
            self.fn + (right and not accepted),
            self.fp + (not right and accepted),
            self.tn + (not right and not accepted),
        )

    @property
    def agreement(self) -> float:
        """Share of answers on which judge and people agree."""
        return (self.tp + self.tn) / max(1, sum(self))

    @property
    def accepted_wrong(self) -> float:
        """Share of the answers called wrong by people that are accepted."""
        return self.fp / max(1, self.fp + self.tn)


def measure(part: list[Row]) -> tuple[dict[tuple[str, str], Cells], Cells, list[tuple[Row, str]]]:
    """Judge the rows: cells per (set, system), the baseline's cells, and the disagreements."""
    cells: dict[tuple[str, str], Cells] = {}
    baseline, errors = Cells(), []
    for row in part:
        found = match(row.question, [golds_of_field(row.golden)], row.answer)
        accepted = found.content == "correct"
        for key in ((row.dataset, row.system), ("all", row.system), (row.dataset, "all")):
            cells[key] = cells.get(key, Cells()).add(row.right, accepted)
        cells["all", "all"] = cells.get(("all", "all"), Cells()).add(row.right, accepted)
        baseline = baseline.add(row.right, contained(row))
        if accepted != row.right:
            span = "" if found.start is None else row.answer[found.start : found.end]
            errors.append((row, f"{found.why} [{span}]"))
    return cells, baseline, errors


def table(name: str, part: list[Row]) -> list[tuple[Row, str]]:
    """Print one half's table and return the disagreements."""
    start = time.perf_counter()
    cells, baseline, errors = measure(part)
    spent = time.perf_counter() - start
    print(f"\n{name}: {len(part)} answers, {1e6 * spent / max(1, len(part)):.0f} us each (cold)")
    head = f"{'set':5}{'system':9}{'n':>6}{'agree':>8}{'acc.wrong':>11}"
    print(head + f"{'tp':>7}{'fn':>6}{'fp':>6}{'tn':>6}")
    for dataset in ("NQ", "TQ", "all"):
        for system in (*SYSTEMS, "all"):
            c = cells.get((dataset, system), Cells())
            line = f"{dataset:5}{system:9}{sum(c):6}{c.agreement:8.3f}{c.accepted_wrong:11.3f}"
            print(line + f"{c.tp:7}{c.fn:6}{c.fp:6}{c.tn:6}")
    b = baseline
    print(
        f"containment on the same rows: {b.agreement:.3f}, accepts {b.accepted_wrong:.3f}", end=""
    )
    print(f"  tp {b.tp} fn {b.fn} fp {b.fp} tn {b.tn}")
    if LABEL_ERRORS.exists():
        doubtful = {e["id"] for e in json.loads(LABEL_ERRORS.read_text(encoding="utf-8"))}
        kept = [row for row in part if row.id not in doubtful]
        c = measure(kept)[0]["all", "all"]
        print(
            f"without {len(part) - len(kept)} labels listed as doubtful: "
            f"{c.agreement:.3f}, accepts {c.accepted_wrong:.3f}"
        )
    return errors


def main() -> None:
    """Print the open half; with --final the half set aside as well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--final", action="store_true", help="also read the half set aside")
    parser.add_argument("--errors", type=Path, help="write the open half's disagreements here")
    options = parser.parse_args()
    everything = list(rows(Path(os.environ["SAYSO_TEST_DATA"])))
    errors = table("open half", [r for r in everything if not set_aside(r.dataset, r.question)])
    if options.errors:
        with options.errors.open("w", encoding="utf-8") as out:
            for row, why in errors:
                out.write(json.dumps({**row._asdict(), "why": why}, ensure_ascii=False) + "\n")
    if options.final:
        table("half set aside", [r for r in everything if set_aside(r.dataset, r.question)])


if __name__ == "__main__":
    main()
