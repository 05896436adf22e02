"""kill -9 at random moments of a run, resume, and compare with a run that was left alone.

    python benchmarks/reliability/kills.py [--kills 20] [--model builtin|scripted|endpoint]
        [--limit 12]
    python benchmarks/reliability/kills.py --what train|build|two [--kills 20]

Every run is a process of its own. Checked: all tables equal an uninterrupted run's as sorted rows,
and so does the manifest apart from times, machine and counts; and no request that was committed
to the cache before a process started was asked by that process. Exits 1 if anything differs.

``endpoint`` is a server on loopback (tests/engines/bad_server.py) whose draws depend on the call
that they come in; it counts what it answered, and more is asked again than was in flight at a kill
plus 64 (replies that came within the last half second) counts as a failure.

``--what train`` kills `sayso train` of the built-in model, ``build`` `sayso build` from a dump of
20,000 entities, both anywhere in their time; what they leave must equal, byte for byte but for
times, what one leaves that was let alone. ``two`` starts two runs on one folder at once: one of
them does the work, the other says who is at it, in a line.

Floats may differ by 1e-4 (in ``metrics`` by 1e-3): what is left after a kill is batched otherwise,
and matrix products of another shape round log-probabilities otherwise, by some 1e-6. Texts,
verdicts and counts are compared exactly; so is everything with the scripted model.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2] / "tests"
#: replies that an endpoint gave and a kill may take away, beyond those in flight
MARGIN = 64
#: what may differ between two runs of the same command
TIMES = {"created", "finished", "timings", "machine", "tokens", "command", "notices", "cached"}


def child(arguments: argparse.Namespace) -> None:
    """Run once, logging the key of each request that reaches the engine."""
    import sayso
    from sayso.engines import open_model
    from sayso.engines.engine import Engine
    from sayso.records import Generation, Request, request_key

    class Logged:
        """An engine that writes down what it is asked before it answers."""

        def __init__(self, inner: Engine, log: Path) -> None:
            self.inner = inner
            self.log = log.open("a", buffering=1)

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

        def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
            def noted() -> Iterator[Request]:
                for request in requests:
                    print(request_key(request, self.inner.identity).hex(), file=self.log)
                    yield request

            yield from self.inner.complete(noted())

    def slow(request: Request) -> str:
        time.sleep(0.01)
        key = hashlib.sha256(repr((request.messages, request.sample)).encode()).hexdigest()
        return ("Ripley", "I am not sure.", "It is Ripley, I think.")[int(key, 16) % 3]

    if arguments.model == "scripted":
        sys.path.insert(0, str(TESTS))
        from support.scripted import ScriptedEngine

        engine: Engine = ScriptedEngine(slow, logprob=-0.5)
    else:
        engine = open_model(arguments.model)
    logged = Logged(engine, arguments.folder / "asked.log")
    (arguments.folder / "started").touch()
    sayso.run(
        model=logged,  # type: ignore[arg-type]
        limit=arguments.limit,
        out=arguments.folder / "run",
        cache=arguments.folder / "cache",
    )


#: the endpoint of a benchmark, if it has one
SERVER: list[Any] = []


def checked() -> int:
    """Return how many cached answers a start may ask an endpoint again: is the model the same?"""
    from sayso.runs.freshness.same_model import MOST

    return MOST if SERVER else 0


def start(arguments: argparse.Namespace, folder: Path) -> subprocess.Popen[bytes]:
    """Start a run in a process of its own and wait until its imports are done."""
    folder.mkdir(exist_ok=True)
    (folder / "started").unlink(missing_ok=True)
    command = [sys.executable, __file__, "--child", "--folder", str(folder)]
    model = f"{SERVER[0].url}#bad" if SERVER else arguments.model
    command += ["--model", model, "--limit", str(arguments.limit)]
    process = subprocess.Popen(command)
    while not (folder / "started").exists() and process.poll() is None:
        time.sleep(0.005)
    return process


def committed(folder: Path) -> set[str]:
    """Return the keys that the cache holds."""
    file = folder / "cache" / "replies.sqlite"
    if not file.exists():
        return set()
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        made = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'replies'").fetchone()
        if not made[0]:  # killed before the table was made
            return set()
        return {row[0].hex() for row in db.execute("SELECT key FROM replies")}


def asked(folder: Path) -> list[str]:
    """Return the keys that reached the engine so far, in order."""
    log = folder / "asked.log"
    return log.read_text().split() if log.exists() else []


Row = tuple[str, list[float]]


def split(value: object, floats: list[float]) -> object:
    """Return a value with its floats taken out (into ``floats``, in order)."""
    if isinstance(value, float):
        floats.append(value)
        return "float"
    if isinstance(value, dict):
        return {key: split(value[key], floats) for key in sorted(value)}
    return [split(v, floats) for v in value] if isinstance(value, list) else value


def rows_in(file: Path) -> list[Row]:
    """Return a table as sorted rows, their floats apart."""
    import pyarrow.parquet as pq

    rows: list[Row] = []
    for row in pq.read_table(file).to_pylist():
        floats: list[float] = []
        rows.append((json.dumps(split(row, floats), default=str), floats))
    return sorted(rows)


def tables(folder: Path) -> dict[str, list[Row]]:
    """Return every table of a run as sorted rows, and the manifest without its times."""
    run = folder / "run"
    found: dict[str, list[Row]] = {}
    for file in run.rglob("*.parquet"):
        found[str(file.relative_to(run))] = rows_in(file)
    manifest = json.loads((run / "manifest.json").read_text())
    kept = {k: v for k, v in manifest.items() if k not in TIMES}
    found["manifest"] = [(json.dumps(kept, sort_keys=True), [])]
    found["stray files"] = [(f.name, []) for f in sorted(run.rglob("*.tmp*"))]
    return found


def same(name: str, one: list[Row] | None, two: list[Row] | None, exact: bool) -> bool:
    """Tell whether two tables agree: exactly but for the last digits of floats."""
    if one is None or two is None or [r[0] for r in one] != [r[0] for r in two]:
        return False
    allowed = 0.0 if exact else 1e-3 if "metrics/" in name else 1e-4
    return all(
        len(a) == len(b) and all(abs(x - y) <= allowed for x, y in zip(a, b, strict=True))
        for (_, a), (_, b) in zip(one, two, strict=True)
    )


def train(folder: Path) -> tuple[list[str], Path]:
    """Return a small `sayso train` and the folder that it makes."""
    base = folder / "base"
    sayso = [sys.executable, "-m", "sayso"]
    cache = ["--cache", str(folder / "cache")]
    if not base.exists():
        command = [*sayso, "run", "uncle", "--limit", "10", "--out", str(base), *cache]
        subprocess.run(command, check=True, capture_output=True)
    small = ["--recipe", "short", "--limit", "4", "--train-limit", "20", "--k", "3"]
    small += ["--sft-rows", "64", "--dpo-rows", "32", "--sft-epochs", "1", "--resamples", "100"]
    out = folder / "out"
    return [*sayso, "train", str(base), *small, "--out", str(out), *cache], out


def build(folder: Path) -> tuple[list[str], Path]:
    """Return a `sayso build` from a dump and the folder that it makes."""
    sys.path.insert(0, str(TESTS))
    from support.wikidata_world import DOMAINS, dump, entities, entity, item

    parts = folder / "parts"
    if not parts.exists():
        parts.mkdir()
        padding = [entity(f"Q{90_000 + n}", f"x{n}", item("P31", "Q7")) for n in range(20_000)]
        lines = dump(entities() + padding).splitlines(keepends=True)
        for number in range(4):
            (parts / f"{number}.json.gz").write_bytes(gzip.compress(b"".join(lines[number::4])))
        (folder / "domains.yaml").write_text(DOMAINS)
    command = [sys.executable, "-m", "sayso", "build", str(parts), "--no-review", "--workers", "2"]
    out = folder / "out"
    return [*command, "--domains", str(folder / "domains.yaml"), "--out", str(out)], out


def left(out: Path) -> dict[str, object]:
    """Return what a command left: tables as sorted rows, other files as bytes, no times."""
    found: dict[str, object] = {}
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        name = str(file.relative_to(out))
        if file.suffix in (".safetensors", ".jsonl", ".csv", ".md"):
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        elif file.suffix == ".parquet":
            found[name] = rows_in(file)
        elif ".tmp-" in name or file.name == ".writer":
            found[name] = "left over"
    return found


def alike(name: str, one: Any, two: Any) -> bool:
    """Tell whether two files are equal, tables but for the last digits of floats."""
    return same(name, one, two, exact=False) if name.endswith(".parquet") else one == two


def kill_command(make: Any, kills: int, seed: int) -> int:
    """Kill a command anywhere in its time, until it ends; compare; begin again."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command, out = make(folder)
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        length = time.perf_counter() - begin
        whole = left(out)
        print(f"uninterrupted: {length:.0f} s, {len(whole)} files")
        shutil.rmtree(out)  # names of models are paths: the killed ones work in the same place
        shutil.rmtree(folder / "cache", ignore_errors=True)
        done = failures = 0
        while done < kills:
            for _ in range(min(4, kills - done)):
                process = subprocess.Popen(
                    command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(rng.uniform(0.1, length * 0.7))
                done += process.poll() is None
                process.kill()
                process.wait()
            end = subprocess.run(command, check=False, capture_output=True, text=True)
            killed = left(out)
            different = sorted(
                n for n in whole.keys() | killed.keys() if not alike(n, whole.get(n), killed.get(n))
            )
            failures += end.returncode != 0 or bool(different)
            print(f"kill {done}: ended with {end.returncode}, files that differ: {different}")
            print(end.stderr[-400:] if end.returncode else "", end="")
            shutil.rmtree(out)
            shutil.rmtree(folder / "cache", ignore_errors=True)
    print(f"{done} kills, {failures} that differ")
    return int(failures > 0)


def two_on_one(times: int) -> int:
    """Start two runs on one folder at once."""
    failures = 0
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "sayso", "run", "uncle", "--limit", "6"]
            command += ["--out", f"{place}/run", "--cache", f"{place}/cache"]
            both = [
                subprocess.Popen(
                    command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
                )
                for _ in range(2)
            ]
            errors = [process.communicate()[1] for process in both]
            codes = [process.returncode for process in both]
            said = " ".join(" ".join(errors).split())
            good = sorted(codes) in ([0, 0], [0, 2]) and "Traceback" not in said
            good &= (2 in codes) == ("is writing here" in said)
            good &= not [f for f in Path(place, "run").rglob("*") if ".tmp-" in f.name]
            good &= (
                json.loads(Path(place, "run", "manifest.json").read_text())["finished"] is not None
            )
            failures += not good
            print(f"codes {codes}{'' if good else ' ' + said[-600:]}")
    print(f"{times} pairs, {failures} that went wrong")
    return int(failures > 0)


def main() -> int:
    """Kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--what", default="run", choices=["run", "train", "build", "two"])
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--limit", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path())
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return 0
    if arguments.what == "two":
        return two_on_one(arguments.kills)
    if arguments.what != "run":
        makes = {"train": train, "build": build}
        return kill_command(makes[arguments.what], arguments.kills, arguments.seed)
    if arguments.model == "endpoint":
        sys.path.insert(0, str(TESTS / "engines"))
        from bad_server import BadServer

        with BadServer(delay=0.05, keep_bodies=False) as server:
            SERVER.append(server)
            return kill_runs(arguments)
    return kill_runs(arguments)


def kill_runs(arguments: argparse.Namespace) -> int:
    """Kill runs at random moments, resume them, and compare with one that was left alone."""
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as place:
        whole, broken = Path(place, "whole"), Path(place, "broken")
        begin = time.perf_counter()
        process = start(arguments, whole)
        ready = time.perf_counter()
        if process.wait() != 0:
            return 1
        length = time.perf_counter() - ready
        print(
            f"uninterrupted: {len(asked(whole))} requests, {length:.1f} s + {ready - begin:.1f} s"
        )
        twice = kills = failures = allowed = 0
        cycles = 1  # runs that were finished
        total = len(asked(whole))
        while kills < arguments.kills:
            before, safe = len(asked(broken)), committed(broken)
            process = start(arguments, broken)
            # Random in work rather than in seconds, which a busy machine stretches: at some request
            # still to come, or, a third of the time, some while after the last one.
            target = rng.randrange(len(safe) + 1, total * 3 // 2)
            while process.poll() is None and len(asked(broken)) - before < min(target, total) - len(
                safe
            ):
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1 if target < total else length / 2))
            alive = process.poll() is None
            if SERVER:
                allowed += SERVER[0].busy + MARGIN + checked()
            process.kill()  # SIGKILL; nothing happens if it has ended
            process.wait()
            kills += alive
            again = safe.intersection(asked(broken)[before:])
            twice += max(0, len(again) - checked())
            print(
                f"kill {kills}: {len(safe)} committed before, {len(asked(broken)) - before} asked, "
                f"{len(again)} of them again{'' if alive else ' (it had ended)'}"
            )
            if len(safe) == total or kills == arguments.kills:
                # all asked: finish, compare, and begin again with nothing
                before, safe = len(asked(broken)), committed(broken)
                code = start(arguments, broken).wait()
                twice += max(0, len(safe.intersection(asked(broken)[before:])) - checked())
                one, two = tables(whole), tables(broken)
                exact = arguments.model != "builtin"
                different = [
                    n for n in one.keys() | two.keys() if not same(n, one.get(n), two.get(n), exact)
                ]
                print(f"  finished with code {code}; tables that differ: {different}")
                failures += code != 0 or bool(different)
                cycles += 1
                shutil.rmtree(broken)
        print(f"{kills} kills, {twice} requests asked again, {failures} runs that differ")
        if SERVER:
            again = sum(SERVER[0].answered.values()) - cycles * len(SERVER[0].answered)
            print(
                f"answered again by the server: {again} calls; in flight plus {MARGIN}: {allowed}"
            )
            failures += again > allowed
        return int(twice > 0 or failures > 0)


if __name__ == "__main__":
    sys.exit(main())
