"""Ray's actors: what they cost, and what kill -9 of driver, worker and raylet takes away.

    python benchmarks/reliability/ray_actors.py speed [--limit ENTITIES]
    python benchmarks/reliability/ray_actors.py kills [--kills 12] [--limit 20] [--seed 0]

``speed`` runs the built-in model on few and on many entities in this process, with one actor and
with two. The differences leave start-up out: clock, and CPU seconds of the whole machine (Ray's
processes are not this one's), so it is to be run on an idle one.

``kills`` asks a server on loopback (tests/engines/bad_server.py, which counts what it answered)
through two actors of eight calls each, and kills the driver, an actor, the raylet, or the server
for a while, at random moments; the same command is then repeated until it ends. All tables must
equal an uninterrupted run's, and no more may be answered again than was in flight at the kills and
what waits half a second to be committed. Exits 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kills import MARGIN, TESTS, same, tables

CONCURRENCY = 8


def family(root: int) -> dict[int, str]:
    """Return the living descendants of a process and their command lines."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text().rpartition(")")[2].split()
            if stat[0] != "Z":
                parents[int(place.name)] = int(stat[1])
                lines[int(place.name)] = (
                    (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                )
        except OSError:
            continue
    found: dict[int, str] = {}
    for pid in parents:
        at = pid
        while at in parents and at != root:
            at = parents[at]
        if at == root and pid != root:
            found[pid] = lines[pid]
    return found


def victim(what: str, driver: int) -> int | None:
    """Return the process to kill."""
    if what == "driver":
        return driver
    marks = {"worker": "ray::", "raylet": "/raylet/raylet "}
    own = [pid for pid, line in family(driver).items() if marks[what] in line]
    return random.choice(own) if own else None


def start(folder: Path, url: str, limit: int) -> subprocess.Popen[bytes]:
    """Start a run through Ray."""
    command = [sys.executable, "-m", "sayso", "run", "uncle", "--model", f"{url}#bad"]
    command += ["--limit", str(limit), "--out", str(folder / "run")]
    command += ["--cache", str(folder / "cache"), "--engine", "ray", "--ray-actors", "2"]
    command += ["--concurrency", str(CONCURRENCY)]
    folder.mkdir(exist_ok=True)
    log = (folder / "log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def sweep(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for a command to end; kill it and what is left of its Ray if it does not."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kills(arguments: argparse.Namespace) -> int:
    """Kill, repeat, compare."""
    sys.path.insert(0, str(TESTS / "engines"))
    from bad_server import BadServer

    random.seed(arguments.seed)
    with (
        tempfile.TemporaryDirectory() as place,
        BadServer(delay=0.05, keep_bodies=False) as server,
    ):
        whole, broken = Path(place, "whole"), Path(place, "broken")
        code = start(whole, server.url, arguments.limit).wait()
        total = sum(server.answered.values())
        print(f"uninterrupted: code {code}, {total} answered", flush=True)
        before = total
        cycles = done = failures = allowed = 0
        kinds = ("driver", "worker", "raylet", "server")
        while done < arguments.kills:
            process = start(broken, server.url, arguments.limit)
            target = before + random.randrange(1, total)
            while process.poll() is None and sum(server.answered.values()) < target:
                time.sleep(0.005)
            what = kinds[done % len(kinds)]
            busy = server.busy
            if process.poll() is None and what == "server":
                server.die()
                time.sleep(1.0)
                server.rise()
                allowed += busy
                done += 1
            elif process.poll() is None and (pid := victim(what, process.pid)) is not None:
                os.kill(pid, signal.SIGKILL)
                allowed += busy + MARGIN
                done += 1
            sweep(process, 15 if what == "driver" else 240)
            now = sum(server.answered.values())
            said = f"code {process.returncode}, {now - before} answered so far"
            print(f"kill {done} ({what}): {said}", flush=True)
            if process.returncode != 0:
                process = start(broken, server.url, arguments.limit)
                sweep(process, 400)
            now = sum(server.answered.values())
            if process.returncode == 0:
                one, two = tables(whole), tables(broken)
                different = [
                    n for n in one.keys() | two.keys() if not same(n, one.get(n), two.get(n), True)
                ]
                failures += bool(different)
                cycles += 1
                said = f"answered {now - before} of {total}; differ: {different}"
                print(f"  finished; {said}", flush=True)
                before = now
                shutil.rmtree(broken)
            else:
                print((broken / "log").read_text()[-800:])
                failures += 1
        again = sum(server.answered.values()) - total * (cycles + 1)
    print(f"{done} kills, {failures} runs that differ; answered again {again}, allowed {allowed}")
    return int(failures > 0 or again > allowed)


def busy() -> float:
    """CPU seconds that all processes of this machine have taken since it was started."""
    numbers = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    idle = numbers[3] + numbers[4]
    return (sum(numbers[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def speed(arguments: argparse.Namespace) -> int:
    """Compare one process, one actor and two."""
    for name, flags in (
        ("this process", []),
        ("one actor", ["--engine", "ray", "--ray-actors", "1"]),
        ("two actors", ["--engine", "ray", "--ray-actors", "2"]),
    ):
        taken: list[tuple[float, float]] = []
        for limit in (arguments.limit // 10, arguments.limit):
            with tempfile.TemporaryDirectory() as place:
                command = [sys.executable, "-m", "sayso", "run", "uncle", "--limit", str(limit)]
                command += ["--out", f"{place}/run", "--cache", f"{place}/c", *flags]
                begin, used = time.perf_counter(), busy()
                process = subprocess.run(command, capture_output=True, check=False)
                taken.append((time.perf_counter() - begin, busy() - used))
                if process.returncode != 0:
                    print(process.stderr.decode()[-800:])
                    return 1
        (few, cpu_few), (many, cpu_many) = taken
        print(
            f"{name}: {few:.1f} and {many:.1f} s, {cpu_few:.1f} and {cpu_many:.1f} CPU s; the rest "
            f"{many - few:.1f} s, {cpu_many - cpu_few:.1f} CPU s",
            flush=True,
        )
    return 0


def main() -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "kills"])
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    return {"speed": speed, "kills": kills}[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
