"""Studies: killed and resumed, their cost beside that of their runs, their page, their ranks.

    python benchmarks/reliability/studies.py --part kills [--limit 2]  # 2 models x 4 sets x 4 ways
    python benchmarks/reliability/studies.py --part page [--models 20] [--entities 250]
    python benchmarks/reliability/studies.py --part ranks [--worlds 1000]

``kills``: the built-in model and a folder with a disturbed copy of it, killed five times at random
moments, then finished. No request that was committed to the cache before a process started is asked
by that process, and every number equals that of runs made one by one; the CPU seconds of a study
that nobody stopped are divided by the sum of those runs'.

``page``: scripted models on one world; bytes of the page, and CPU seconds from finished runs to it.

``ranks``: simulated models of known order, some of them equal, on shared entities: the share of
families in which an equal pair is declared different, and how often a real difference is seen.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2] / "tests"
HERE = Path(__file__).parent


# ---- a study that is killed


def disturbed(folder: Path) -> Path:
    """Make a folder with a copy of the built-in model whose weights are a little off."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    import sayso

    source = Path(sayso.__file__).parent / "builtin" / "model"
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(source)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.02 * weight.std() * torch.randn_like(weight))
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


def specification(folder: Path, limit: int) -> dict[str, Any]:
    """Return the study, as a file would have it."""
    return {
        "out": str(folder / "study"),
        "cache": str(folder / "cache"),
        "limit": limit,
        "models": ["builtin", {"model": f"hf:{folder / 'model'}", "name": "disturbed"}],
        "data": [{"data": "builtin", "name": f"seed {n}", "seed": n} for n in range(4)],
    }


def study_once(folder: Path, limit: int) -> None:
    """Run the study, writing down the key of each request that reaches an engine."""
    import sayso
    from sayso.engines import open_model
    from sayso.engines.engine import Engine
    from sayso.records import Generation, Request, request_key

    class Logged:
        def __init__(self, inner: Engine) -> None:
            self.inner = inner
            self.log = (folder / "asked.log").open("a", buffering=1)

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

        def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
            def noted() -> Iterator[Request]:
                for request in requests:
                    print(request_key(request, self.inner.identity).hex(), file=self.log)
                    yield request

            yield from self.inner.complete(noted())

    given = specification(folder, limit)
    for number, entry in enumerate(given["models"]):
        name = entry if isinstance(entry, str) else entry["model"]
        title = "builtin" if isinstance(entry, str) else entry["name"]
        given["models"][number] = {"model": Logged(open_model(name)), "name": title}
    (folder / "started").touch()
    sayso.study(given, resamples=200)


def runs_once(folder: Path, limit: int) -> None:
    """Make the runs of the study one by one, as commands of their own would."""
    import sayso
    from sayso.protocols import PROTOCOLS

    given = specification(folder, limit)
    for entry in given["models"]:
        model = entry if isinstance(entry, str) else entry["model"]
        for data in given["data"]:
            for protocol in PROTOCOLS:
                out = folder / "runs" / str(model).replace("/", "_") / data["name"] / protocol
                sayso.run(protocol, model=model, data="builtin", seed=data["seed"], limit=limit,
                          out=out, cache=given["cache"])  # fmt: skip


def process(what: str, folder: Path, limit: int) -> subprocess.Popen[bytes]:
    """Start a part of this file in a process of its own."""
    command = [sys.executable, __file__, "--child", what, "--folder", str(folder)]
    return subprocess.Popen([*command, "--limit", str(limit)])


def cpu_of(what: str, folder: Path, limit: int) -> float:
    """Return the CPU seconds of a child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = process(what, folder, limit).wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code:
        raise SystemExit(f"{what} ended with {code}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kills(limit: int, times: int) -> bool:
    """Kill a study, finish it, and hold it against one that nobody stopped and against its runs."""
    sys.path.insert(0, str(HERE))
    from kills import committed
    from sayso.studies.results import of_folders

    good = True
    with tempfile.TemporaryDirectory() as name:
        whole, killed, single = (Path(name) / part for part in ("whole", "killed", "single"))
        whole.mkdir()
        disturbed(whole / "model")
        for other in (killed, single):
            other.mkdir()
            shutil.copytree(whole / "model", other / "model")
        begin = time.perf_counter()
        cpu_study = cpu_of("study", whole, limit)
        seconds = time.perf_counter() - begin
        rng, again, asked_before = random.Random(0), 0, 0
        for number in range(times + 1):
            held, log = committed(killed), killed / "asked.log"
            lines = len(log.read_text().split()) if log.exists() else 0
            (killed / "started").unlink(missing_ok=True)
            child = process("study", killed, limit)
            while not (killed / "started").exists() and child.poll() is None:
                time.sleep(0.01)
            if number < times:
                time.sleep(rng.uniform(0.05, 0.35) * seconds)
                child.kill()
            child.wait()
            asked = log.read_text().split()[lines:] if log.exists() else []
            again += sum(key in held for key in asked)
            asked_before += len(asked)
        unique = len(set((killed / "asked.log").read_text().split()))
        print(f"{times} kills: {asked_before:,} requests of {unique:,} different ones sent; "
              f"{again} asked again after they were committed")  # fmt: skip
        good &= again == 0
        cpu_runs = cpu_of("runs", single, limit)
        ratio = cpu_study / cpu_runs
        print(f"CPU of the study / of its 32 runs, one cache: {ratio:.2f} "
              f"({cpu_study:.0f} s, {cpu_runs:.0f} s)")  # fmt: skip
        good &= ratio <= 1.1
        one, other = (of_folders([f / "study"], resamples=200).table() for f in (whole, killed))
        far = [a for a, b in zip(one, other, strict=True) if not alike(a["value"], b["value"])]
        print(f"{len(one):,} numbers of the study, {len(far)} differ from the one left alone")
        good &= not far
    return good


def alike(a: object, b: object) -> bool:
    """Tell whether two numbers are the same but for rounding of another batch."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) < 1e-3
    return a == b


# ---- the page of a large study


def page(models: int, entities: int) -> bool:
    """Make the page of many models on one world, and weigh it."""
    sys.path.insert(0, str(TESTS))
    import sayso
    from sayso.protocols.uncle import Settings
    from support.scripted_world import Mind, chance, facts, records, write

    world = facts(entities)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = write(folder / "q.jsonl", records(world))
        for number in range(models):
            level = (number + 1) / (models + 1)
            mind = Mind(
                world,
                lambda f, level=level: 0.9 * (chance(f.question) < level),
                hedges=lambda f, i, level=level: i and chance(f.question, 1) > 0.3 + level / 2,
            )
            sayso.run(model=mind.engine(f"model {number:02}"), data=data, report=False,
                      out=folder / "runs" / f"m{number:02}", cache=folder / "cache",
                      options=Settings(resamples=100))  # fmt: skip
        begin = time.process_time()
        found = sayso.study([folder / "runs"], out=folder / "page")
        spent = time.process_time() - begin
        size = (folder / "page" / "index.html").stat().st_size
    print(f"{len(found.models)} models, {len(world):,} questions: page {size / 1e6:.2f} MB, "
          f"made in {spent:.1f} CPU seconds")  # fmt: skip
    return size < 1.5e6 and spent < 20


# ---- ranks of models of known order


def ranks(worlds: int) -> bool:
    """Count equal pairs that are declared different, and different ones that are seen."""
    import numpy as np

    from sayso.metrics.joint import Number, rank_jointly, resample_jointly

    def mean(values: Any, weights: Any = None) -> Any:
        if weights is None:
            return float(values.mean())
        return weights @ values / weights.sum(axis=1)

    good = True
    truth = np.array([0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 1.5])
    equal = {(a, b) for a in range(8) for b in range(a + 1, 8) if truth[a] == truth[b]}
    print("entities  sets  equal pairs declared different  studies with one  real ones seen")
    for entities, sets in ((20, 1), (100, 1), (100, 4), (400, 1)):
        rng = np.random.default_rng(entities * 10 + sets)
        wrong = pairs_wrong = seen = outside = 0
        for number in range(worlds):
            columns: list[list[Number]] = [[] for _ in truth]
            for s in range(sets):
                names = np.repeat([f"{s}/{e}" for e in range(entities)], 4).tolist()
                hard = np.repeat(rng.normal(0, 1, entities), 4) + rng.normal(0, 0.5)
                for m, ability in enumerate(truth):
                    right = rng.random(len(hard)) < 1 / (1 + np.exp(hard - ability))
                    columns[m].append(Number(mean, (right.astype(float),), names))
            found = rank_jointly(resample_jointly(columns, seed=number))
            clear = {(pair.first, pair.second) for pair in found.pairs if pair.clear}
            wrong += bool(clear & equal)
            pairs_wrong += len(clear & equal)
            seen += len(clear - equal)
            for m, rank in enumerate(found.ranks):
                best = 1 + int((truth > truth[m]).sum())
                outside += rank is None or not rank[0] <= best <= rank[1]
        pairs = 28 - len(equal)
        rate, power = wrong / worlds, seen / (pairs * worlds)
        share = pairs_wrong / (len(equal) * worlds)
        print(f"{entities:8}  {sets:4}  {share:30.4f}  {rate:16.3f}  {power:14.2f}; "
              f"ranks that miss the true one: {outside / worlds / len(truth):.4f}")  # fmt: skip
        good &= share < 0.05
        good &= rate <= 0.05 + 2 * (0.05 * 0.95 / worlds) ** 0.5
    return good


def main() -> int:
    """Run one part; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("kills", "page", "ranks"), default="ranks")
    parser.add_argument("--limit", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--entities", type=int, default=334)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--child", default="")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.child:
        {"study": study_once, "runs": runs_once}[given.child](given.folder, given.limit)
        return 0
    good = {
        "kills": lambda: kills(given.limit, given.kills),
        "page": lambda: page(given.models, given.entities),
        "ranks": lambda: ranks(given.worlds),
    }[given.part]()
    print(json.dumps({"held": good}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
