"""How fast a knowledge source is indexed and searched, how large the index is, beside bm25s.

    python benchmarks/speed/index_speed.py [--sizes 40000,1000000] [--words 100]
        [--english] [--peer FOLDER] [--repeat 3] [--folder DIR]

Passages are made by a script: 100 words each from an invented vocabulary of a million words drawn
by a Zipf-Mandelbrot law (exponent 1.05), with sentences and titles; the long answers and paragraphs
of SAYSO_TEST_DATA stand before them where it is set. With ``--english`` all are made of the English
sentences there, in random order: words have endings that a stemmer looks at, and every fifth
passage a character outside ASCII. CPU seconds are of all processes, user and
system. ``--peer`` is a folder with bm25s in it (``pip install --target FOLDER bm25s``); both read
the same JSONL file in turns and the best of each counts, and both answer the same queries one at a
time. A million passages need 2.5 GB of disk, which are freed at the end.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TYPES = 1_000_000
BUILD = """
import json, os, resource, sys, time
import numpy
from sayso import retrieval
from sayso.retrieval import build as building
before = os.times()
info = retrieval.build_index(sys.argv[1], sys.argv[2], workers=int(sys.argv[3]))
after = os.times()
peak = lambda who: resource.getrusage(who).ru_maxrss / 1e3
print(json.dumps([sum(after[:4]) - sum(before[:4]), info.seconds, info.passages, info.bytes,
                  peak(resource.RUSAGE_SELF), peak(resource.RUSAGE_CHILDREN)]))
"""
PEER = """
import json, os, resource, sys
sys.path.insert(0, sys.argv[3])
import bm25s
before = os.times()
with open(sys.argv[1], encoding="utf-8") as file:
    texts = ["{title}\\n{text}".format(**json.loads(line)) for line in file]
tokens = bm25s.tokenize(texts, stopwords="en", show_progress=False)
index = bm25s.BM25()
index.index(tokens, show_progress=False)
index.save(sys.argv[2])
after = os.times()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
queries = json.load(open(sys.argv[4], encoding="utf-8"))
began = os.times()
for query in queries:
    index.retrieve(bm25s.tokenize([query], stopwords="en", show_progress=False), k=5,
                   show_progress=False, n_threads=0)
ended = os.times()
print(json.dumps([sum(after[:4]) - sum(before[:4]), len(texts), peak,
                  1e3 * (sum(ended[:4]) - sum(began[:4])) / len(queries)]))
"""


def vocabulary(seed: int = 0) -> list[str]:
    """Invent words, short ones first, as frequent words are."""
    draw = random.Random(seed)
    consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
    found: dict[str, None] = {}
    while len(found) < TYPES:
        length = draw.choice((1, 1, 2) if len(found) < 50 else (2, 2, 3, 3, 3, 4, 4))
        ends = ("", "", "", "n", "r", "s", "l")
        word = "".join(
            draw.choice(consonants) + draw.choice(vowels) + draw.choice(ends) for _ in range(length)
        )
        found[word] = None
    return list(found)


def passages(count: int, words: int, seed: int = 1) -> Iterator[dict[str, str]]:
    """Make documents of one passage each."""
    import numpy as np

    names = np.array(vocabulary(), dtype=object)
    share = np.cumsum(1 / (np.arange(1, TYPES + 1) + 2.7) ** 1.05)
    draw = np.random.default_rng(seed)
    for start in range(0, count, 2000):
        many = min(2000, count - start)
        drawn = np.searchsorted(share, draw.random((many, words)) * share[-1])
        for number, row in enumerate(names[drawn], start):
            parts = [" ".join(row[n : n + 16]).capitalize() for n in range(0, words, 16)]
            yield {"title": f"{names[number % TYPES].title()} {number}", "text": ". ".join(parts)}


def real() -> tuple[list[dict[str, str]], list[tuple[str, str, str]]]:
    """Read long answers and paragraphs; return them, and (title, query, text it was made from)."""
    folder = Path(os.environ.get("SAYSO_TEST_DATA", "/nowhere"))
    rows, queries = [], []
    for name in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        path = folder / "factscore" / f"{name}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            if not row["annotations"]:
                continue
            rows.append({"title": f"{row['topic']} ({name})", "text": row["output"]})
            facts = [f["text"] for a in row["annotations"] for f in a["human-atomic-facts"] or ()]
            queries += [(rows[-1]["title"], fact, row["output"]) for fact in facts]
    path = folder / "squad" / "xquad.en.json"
    for page in json.loads(path.read_text(encoding="utf-8"))["data"] if path.exists() else ():
        for paragraph in page["paragraphs"]:
            rows.append({"title": page.get("title", ""), "text": paragraph["context"]})
            asked = [qa["question"] for qa in paragraph["qas"]]
            queries += [(rows[-1]["title"], text, paragraph["context"]) for text in asked]
    return rows, queries


def english(words: int, seed: int = 1) -> Iterator[dict[str, str]]:
    """Make documents of one passage each without end, of real sentences in random order."""
    texts = [row["text"] for row in real()[0]]
    for path in sorted(Path(os.environ["SAYSO_TEST_DATA"], "evouna").glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            row = json.loads(line)
            texts += [row[k] for k in row if k.startswith("answer_") and isinstance(row[k], str)]
    found = dict.fromkeys(s.strip() for text in texts for s in re.split(r"(?<=[.!?])\s+", text))
    sentences = [sentence for sentence in found if len(sentence.split()) > 3]
    draw = random.Random(seed)
    left: list[str] = []
    for number in itertools.count():
        passage: list[str] = []
        while len(passage) < words:
            left = left or draw.sample(sentences, len(sentences))
            passage += left.pop().split()
        title = f"{' '.join(passage[3:5])} {number}"
        yield {"title": title, "text": " ".join(passage[:words])}


def write(path: Path, count: int, words: int, in_english: bool) -> None:
    """Write a source of so many documents."""
    made = itertools.chain(real()[0], passages(count, words))
    rows = itertools.islice(english(words) if in_english else made, count)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def run(script: str, *arguments: object) -> list[float]:
    """Run a script in a process of its own and return what it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: list[float] = json.loads(done.stdout)
    return found


def asked_of(source: Path, number: int = 1000) -> list[tuple[str, str]]:
    """Return titles and ten words in a row of passages drawn at random."""
    draw = random.Random(0)
    size, asked = source.stat().st_size, []
    with source.open("rb") as file:
        while len(asked) < number:
            file.seek(draw.randrange(size))
            file.readline()
            line = file.readline()
            words = json.loads(line)["text"].split() if line else []
            if len(words) >= 10:
                start = draw.randrange(len(words) - 9)
                asked.append((json.loads(line)["title"], " ".join(words[start : start + 10])))
    return asked


def latency(path: Path, asked: list[tuple[str, str]]) -> float:
    """Print how long searches take, one at a time; return the mean of the whole source."""
    from sayso import retrieval

    means = []
    for kind, queries in (
        ("whole source", [("", text) for _, text in asked]),
        ("within a title", asked),
    ):
        times = []
        with retrieval.open_index(path) as index:
            for title, text in queries:
                began = time.process_time()
                index.search(text, 5, title)
                times.append(1e3 * (time.process_time() - began))
        low, high = (statistics.quantiles(times, n=20)[n] for n in (9, 18))
        means.append(statistics.mean(times))
        print(
            f"    {kind:<16} mean {means[-1]:.2f} ms CPU, p50 {low:.2f}, p95 {high:.2f}", flush=True
        )
    return means[0]


def quality(folder: Path) -> None:
    """Print how often a claim or question finds the text that it was made from."""
    from sayso import retrieval

    rows, queries = real()
    if not rows:
        print("real text: skipped, SAYSO_TEST_DATA is not set")
        return
    source = folder / "real.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    info = retrieval.build_index(source, folder / "real.index")
    chosen = random.Random(0).sample(queries, 2000)
    with retrieval.open_index(info.path) as index:
        for given in (False, True):
            asked = [(title if given else "", text) for title, text, _ in chosen]
            ranks = {1: 0, 5: 0}
            found = index.search_many(asked)
            for passages_found, (_, _, text) in zip(found, chosen, strict=True):
                own = " ".join(text.split())
                hits = [" ".join(p.text.split()) in own for p in passages_found]
                for k in ranks:
                    ranks[k] += any(hits[:k])
            where = "within its title" if given else "in the whole source"
            told = ", ".join(f"{n / len(chosen):.3f} in the first {k}" for k, n in ranks.items())
            print(f"real text, {info.passages} passages, own text {where}: {told}", flush=True)


def study(folder: Path, chosen: argparse.Namespace) -> None:
    """Build and search at every size."""
    for size in (int(number) for number in chosen.sizes.split(",")):
        source, place = folder / f"{size}.jsonl", folder / f"{size}.index"
        write(source, size, chosen.words, chosen.english)
        print(f"{size:,} documents, {source.stat().st_size / 1e6:,.0f} MB of JSONL", flush=True)
        asked = asked_of(source)
        queries = folder / "queries.json"
        queries.write_text(json.dumps([text for _, text in asked]), encoding="utf-8")
        ours: list[list[float]] = []
        theirs: list[list[float]] = []
        for turn in range(chosen.repeat if size <= 100_000 else 1):
            shutil.rmtree(place, ignore_errors=True)
            ours.append(run(BUILD, source, place, 0))
            if chosen.peer and size <= 100_000:
                theirs.append(run(PEER, source, folder / f"peer{turn}", chosen.peer, queries))
        cpu, wall, count, size_of, peak, _ = min(ours)
        print(
            f"  sayso: {cpu:.1f} CPU s, {count:,.0f} passages, {count / cpu:,.0f} a CPU second, "
            f"{wall:.0f} s wall, {size_of / count:,.0f} bytes a passage, peak {peak:.0f} MB",
            flush=True,
        )
        each = latency(place, asked)
        if theirs:
            other, number, memory, search = min(theirs)
            print(
                f"  bm25s: {other:.1f} CPU s, {number / other:,.0f} a CPU second, peak "
                f"{memory:.0f} MB; {search:.2f} ms a search; sayso indexes "
                f"{count / cpu / (number / other):.2f} x as many, a search takes "
                f"{each / search:.2f} x as long",
                flush=True,
            )
        source.unlink()
        shutil.rmtree(place)


def main() -> None:
    """Run all of it in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="40000,1000000")
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--peer", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--english", action="store_true")
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        quality(Path(place))
        study(Path(place), chosen)


if __name__ == "__main__":
    main()
