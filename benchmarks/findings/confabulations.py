"""Who says that it does not know? A board of 77 systems on questions with and without an answer.

    SAYSO_TEST_DATA=FOLDER python benchmarks/findings/confabulations.py [--out FOLDER] [--file FILE]

Recorded answers of systems of 2024-25 to questions about articles (lechmazur/confabulations): to
some the article has no answer, which people verified. ``sayso study --answers`` makes a run of each
system of ``board.yaml``, judged by the rules, and ``OUT/index.html``; then the published rates are
looked for in it. The picture of the board is made by ``sayso study`` alone: see ``board.yaml``.
The data state no licence and are not in the repository. Rows have neither question nor golds, so
only the stance matters.

Printed: which questions the published rates are of, how far ours are from them and whether the
order is the same, what the judge's reading of "abstained" does to that, what a half of the articles
can show at most, and whether ranks by the abstention gap (G) stand under other seeds of the
bootstrap.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sayso
from sayso.metrics.cmfg import kendall
from sayso.records import Generation, Question, Verdict
from sayso.storage.run_folder import RunFolder
from sayso.storage.yaml_file import read_yaml
from sayso.studies.report import write_study
from sayso.studies.results import Study, of_folders

#: the study, which names the systems
STUDY = Path(__file__).with_name("board.yaml")
SEEDS = range(5)
#: what the prompt of the publisher asked for where the article has no answer
SAID_SO = re.compile(r"\W*n\s*/?\s*a\b", re.IGNORECASE)
#: other readings of who abstained
READINGS = {
    "the words N/A": None,
    "judge: abstained": ("abstained",),
    "judge: abstained, refused, asked back": ("abstained", "refused_by_policy", "asked_back"),
}


class Entry(NamedTuple):
    """A system: its name in ``board.yaml``, and its published rates in percent.

    Of 2025-07-10, those of GPT-5 later.
    """

    name: str
    confabulated: float
    silent: float


PUBLISHED = {
    "gemini-2_5-pro-preview-05-06": Entry("Gemini 2.5 Pro Preview 05-06", 5.9, 15.3),
    "grok-3-mini-beta-high": Entry("Grok 3 Mini Beta (high)", 6.9, 14.7),
    "gemini-2.5-pro-exp-03-25": Entry("Gemini 2.5 Pro Exp 03-25", 4.0, 17.6),
    "o1-2024-12-17": Entry("o1 (medium reasoning)", 10.9, 12.6),
    "qwen3-30b-a3b": Entry("Qwen 3 30B A3B", 12.9, 11.7),
    "gemini-2_5-pro-preview-06-05": Entry("Gemini 2.5 Pro", 4.0, 20.8),
    "grok-4-0709": Entry("Grok 4", 4.0, 20.9),
    "gemini_20_flash_thinking_exp_0121": Entry("Gemini 2.0 Flash Think Exp 01-21", 14.9, 10.0),
    "r1-fireworks": Entry("DeepSeek R1", 17.3, 8.0),
    "o1-preview": Entry("o1-preview", 18.3, 7.8),
    "claude-sonnet-4-20250514-16K": Entry("Claude Sonnet 4 Thinking 16K", 2.5, 23.9),
    "gemini": Entry("Gemini 1.5 Pro (Sept)", 16.8, 10.2),
    "gpt-4.5-preview-2025-02-27": Entry("GPT-4.5 Preview", 11.9, 15.4),
    "grok-3-mini-beta": Entry("Grok 3 Mini Beta (low)", 10.9, 17.2),
    "grok-3-beta": Entry("Grok 3 Beta (no reasoning)", 17.8, 10.6),
    "o3-pro-medium": Entry("o3-pro (medium reasoning)", 23.4, 5.1),
    "o3-high": Entry("o3 (high reasoning)", 24.8, 4.0),
    "r1-0528": Entry("DeepSeek R1 05/28", 12.9, 16.2),
    "claude-3-7-sonnet-20250219-thinking": Entry("Claude 3.7 Sonnet Thinking 16K", 7.9, 21.5),
    "claude-sonnet-4-20250514-0": Entry("Claude Sonnet 4 (no reasoning)", 5.4, 24.2),
    "gpt-4o": Entry("GPT-4o 2024-08-06", 22.3, 8.4),
    "qwq_fireworks": Entry("Qwen QwQ-32B 16K", 25.2, 5.9),
    "qwen3-235B": Entry("Qwen 3 235B A22B", 23.3, 8.0),
    "o4-mini-high": Entry("o4-mini (high reasoning)", 26.7, 4.8),
    "claude-opus-4-20250514-16K": Entry("Claude Opus 4 Thinking 16K", 2.5, 29.4),
    "chatgpt-4o-latest": Entry("GPT-4o Feb 2025", 26.7, 6.5),
    "gemini-flash-2-5-24k": Entry("Gemini 2.5 Flash Preview 24K", 4.5, 29.2),
    "claude-opus-4-20250514-0K": Entry("Claude Opus 4 (no reasoning)", 3.0, 31.2),
    "gpt-4o-2024-11-20": Entry("GPT-4o 2024-11-20", 26.2, 8.2),
    "llama": Entry("Llama 3.1 405B", 14.4, 20.9),
    "o3-mini": Entry("o3-mini (medium reasoning)", 27.2, 8.6),
    "gemini_20_pro_exp": Entry("Gemini 2.0 Pro Exp 02-05", 15.8, 21.0),
    "o3-mini-high": Entry("o3-mini (high reasoning)", 30.7, 6.2),
    "o1-mini": Entry("o1-mini", 26.2, 10.9),
    "qwen": Entry("Qwen 2.5 72B", 32.2, 6.0),
    "claude-3-7-sonnet-20250219": Entry("Claude 3.7 Sonnet", 25.2, 14.3),
    "sonnet-20241022": Entry("Claude 3.5 Sonnet 2024-10-22", 12.9, 27.0),
    "grok2-12-12": Entry("Grok 2 12-12", 25.7, 14.5),
    "chatgpt-4o-03-27": Entry("GPT-4o Mar 2025", 38.1, 3.5),
    "mistral": Entry("Mistral Large 2", 32.2, 10.6),
    "qwen-max": Entry("Qwen 2.5 Max", 31.2, 12.4),
    "mistral-medium": Entry("Mistral Medium 3", 38.1, 5.7),
    "llama4-maverick": Entry("Llama 4 Maverick", 28.2, 16.9),
    "opus": Entry("Claude 3 Opus", 28.2, 17.2),
    "llama33_70b": Entry("Llama 3.3 70B", 17.8, 27.8),
    "minimax": Entry("MiniMax-Text-01", 44.6, 3.3),
    "mistral-small-2501": Entry("Mistral Small 3", 38.6, 11.8),
    "deepseek-fireworks-v3-0324": Entry("DeepSeek V3-0324", 39.1, 13.2),
    "gemini_20_flash": Entry("Gemini 2.0 Flash", 24.3, 29.4),
    "gemma": Entry("Gemma 2 27B", 47.3, 7.2),
    "gpt-4t": Entry("GPT-4 Turbo", 26.7, 30.1),
    "phi-4": Entry("Microsoft Phi-4", 52.5, 6.4),
    "nova-pro": Entry("Amazon Nova Pro", 54.5, 5.6),
    "claude_mini": Entry("Claude 3 Haiku", 56.9, 11.5),
    "haiku35": Entry("Claude 3.5 Haiku", 65.8, 7.6),
    "gpt-4o_mini": Entry("GPT-4o mini", 60.9, 13.5),
    "gemma3": Entry("Gemma 3 27B", 66.3, 14.2),
    "gpt-5-medium": Entry("GPT-5 (medium)", 10.9, 9.8),
}


def specification(file: Path, out: Path) -> dict[str, Any]:
    """Return the study of ``board.yaml`` on a file of answers."""
    study = read_yaml(STUDY, str(STUDY))
    return {**study, "out": str(out), "answers": [str(file)]}


class Answers(NamedTuple):
    """One system: by question whether it has an answer, and by reading whether it abstained."""

    answerable: dict[str, bool]
    article: dict[str, str]
    part: dict[str, str]
    abstained: dict[str, dict[str, bool]]


def read(folder: Path) -> Answers:
    """Read a run."""
    run = RunFolder.open(folder)
    questions = {q.id: q for q in run.read("questions", Question)}
    texts = {g.question: g.text for g in run.read("generations/short", Generation)}
    stances = {v.asked: v.stance for v in run.read("verdicts/short", Verdict)}
    abstained = {
        reading: {
            q: bool(SAID_SO.match(texts[q])) if kinds is None else stances.get(q) in kinds
            for q in texts
        }
        for reading, kinds in READINGS.items()
    }
    return Answers(
        {q: questions[q].answerable is True for q in texts},
        {q: questions[q].entity for q in texts},
        {q: questions[q].text.split(" · ")[1] for q in texts},
        abstained,
    )


#: questions of each part in the whole set, by what the publisher's log of changes says: 202 without
#: an answer, 17 of them of February 2025; 2,612 with one, 176 of them of that month
COUNTS = {
    "responses2": 185,
    "responses2_v2_post": 17,
    "responses_possible": 2436,
    "responses_possible_v2": 176,
}


def rates(
    answers: Answers,
    reading: str,
    articles: Mapping[str, int] | None = None,
    *,
    counted: bool = False,
) -> tuple[float, float]:
    """Return confabulated and not answered, in percent; ``counted``: parts weigh by COUNTS.

    ``articles``: how often each counts, all once without it.
    """
    found = answers.abstained[reading]
    shares = []
    for answerable in (False, True):
        rows: dict[str, list[bool]] = {}
        for q, silent in found.items():
            if answers.answerable[q] == answerable:
                times = 1 if articles is None else articles.get(answers.article[q], 0)
                rows.setdefault(answers.part[q], []).extend([silent == answerable] * times)
        rows = {part: held for part, held in rows.items() if held}
        weights = [COUNTS[part] if counted else len(held) for part, held in rows.items()]
        means = [float(np.mean(held)) for held in rows.values()]
        shares.append(100 * float(np.average(means, weights=weights)) if rows else float("nan"))
    return shares[0], shares[1]


def denominators() -> None:
    """Print of how many questions every published share of confabulations can be."""
    shares = [e.confabulated for e in PUBLISHED.values()]
    fits = {
        n: sum(any(round(100 * k / n, 1) == share for k in range(n + 1)) for share in shares)
        for n in range(150, 260)
    }
    best, second, *_ = sorted(fits, key=lambda n: -fits[n])
    print(
        f"confabulated %: {fits[best]} of {len(shares)} published shares are k/{best} rounded; "
        f"next is {fits[second]} for k/{second}"
    )


def against_published(runs: dict[str, Answers]) -> None:
    """Print how far the rates are from the published ones, and Kendall's tau of the orders."""
    named = {m: e for m, e in PUBLISHED.items() if m in runs}
    six = [m for m in named if named[m].name in SIX]
    for title, models in ((f"{len(six)} in the README of the data", six), ("all", list(named))):
        print(f"\n{len(models)} systems that both name ({title})")
        for reading, counted in product(READINGS, (False, True)):
            ours = np.array([rates(runs[m], reading, counted=counted) for m in models])
            theirs = np.array([(named[m].confabulated, named[m].silent) for m in models])
            gap = ours - theirs
            label = f"{reading}, {'parts as published' if counted else 'pooled'}"
            for column, name in enumerate(("confabulated", "not answered")):
                print(
                    f"  {label:57} {name:12} off by {np.abs(gap[:, column]).mean():4.2f} on "
                    f"average ({gap[:, column].mean():+5.2f}), Kendall "
                    f"{kendall(ours[:, column], theirs[:, column]):.3f}"
                )
            print(
                f"  {label:57} {'their mean':12} Kendall "
                f"{kendall(ours.mean(axis=1), theirs.mean(axis=1)):.3f}"
            )


#: those that a README beside the data names
SIX = (
    "GPT-5 (medium)", "Gemini 2.5 Pro Preview 05-06", "o1 (medium reasoning)", "DeepSeek R1",
    "GPT-4o mini", "Gemma 3 27B",
)  # fmt: skip


def halves(runs: dict[str, Answers], draws: int = 200) -> None:
    """Print how far half of the articles is from all of them: what a half can show at most.

    The whole is taken to be twice these articles, each with a twin that was answered alike; a half
    of it is drawn at random.
    """
    models = [m for m in PUBLISHED if m in runs]
    few = [models.index(m) for m in models if PUBLISHED[m].name in SIX]
    reading = next(iter(READINGS))
    articles = sorted({a for answers in runs.values() for a in answers.article.values()})
    whole = np.array([rates(runs[m], reading) for m in models])
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        drawn = rng.choice(2 * len(articles), len(articles), replace=False) % len(articles)
        half = Counter(articles[at] for at in drawn)
        found.append(np.array([rates(runs[m], reading, half) for m in models]))
    for title, some in ((f"{len(few)} systems", few), (f"{len(models)} systems", ...)):
        for column, name in enumerate(("confabulated", "not answered")):
            now = whole[some, column]
            gaps = np.array([np.abs(part[some, column] - now).mean() for part in found])
            order = np.array([kendall(part[some, column], now) for part in found], dtype=float)
            print(
                f"  {title}, {name:12} off by {gaps.mean():.2f} [{np.quantile(gaps, 0.025):.2f}, "
                f"{np.quantile(gaps, 0.975):.2f}] on average, by .5 or less in "
                f"{np.mean(gaps <= 0.5):.1%}; Kendall {order.mean():.3f} "
                f"[{np.quantile(order, 0.025):.3f}, {np.quantile(order, 0.975):.3f}]"
            )


def seeds(folder: Path) -> None:
    """Print how far the ranks that G allows move with the seed of the bootstrap."""
    every = []
    for seed in SEEDS:
        found: Study = of_folders([folder], resamples=1000, seed=seed)
        number = next(n for n in found.numbers("selective") if n.name == "abstention_gap")
        means = [np.nan if e.value is None else e.value for e in number.means]
        ranks = [rank or (0, 0) for rank in number.ranking.ranks]
        every.append((np.array(means), np.array(ranks), number.ranking.detectable))
    first = every[0]
    held = ~np.isnan(first[0])
    same = all(np.array_equal(first[0][held], means[held]) for means, _, _ in every)
    moved = np.max([np.abs(ranks - first[1]) for _, ranks, _ in every], axis=0)[held]
    print(f"\nG of {held.sum()} systems, five seeds: {'the same order' if same else 'ORDER MOVES'}")
    print(
        f"  ends of the ranks: {np.mean(moved == 0):.0%} stay, {np.mean(moved <= 1):.0%} move by "
        f"at most one place, {moved.max()} places at most; a difference of "
        f"{first[2]:.3f} would have been seen four times out of five"
    )


def main() -> None:
    """Make the board and print what the published rates say of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--file", type=Path)
    chosen = parser.parse_args()
    data = os.environ.get("SAYSO_TEST_DATA")
    if chosen.file is None and not data:
        sys.exit("confabulations.py needs the answers: SAYSO_TEST_DATA=FOLDER or --file FILE")
    file = chosen.file or Path(str(data)) / "real" / "confabulations.jsonl.gz"
    with tempfile.TemporaryDirectory() as folder:
        out = chosen.out or Path(folder) / "study"
        os.environ.setdefault("SAYSO_CACHE", str(Path(folder) / "cache"))
        began = time.process_time()
        found = sayso.study(specification(file, out), resamples=1000)
        page = write_study(found, out, ("board",))
        print(
            f"{len(found.models)} systems, {time.process_time() - began:.0f} CPU seconds; "
            f"{page}: {page.stat().st_size / 1000:.0f} kB"
        )
        titles = {PUBLISHED[m].name: m for m in PUBLISHED}
        runs = {titles.get(run.model, run.model): read(run.path) for run in found.runs}
        sizes = Counter(
            (sum(not a for a in r.answerable.values()), sum(r.answerable.values()))
            for r in runs.values()
        )
        print(f"questions without an answer and with one: {sizes.most_common(3)}")
        denominators()
        against_published(runs)
        print("\na random half of twice these articles against all of them:")
        halves(runs)
        seeds(out)


if __name__ == "__main__":
    main()
