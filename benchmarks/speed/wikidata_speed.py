"""How fast a Wikidata dump is read, beside bare decompression and beside parsing every line.

    python benchmarks/speed/wikidata_speed.py --data $SAYSO_TEST_DATA [--megabytes 1100]
        [--folder DIR] [--style compact|spaced] [--kinds gz,zst,bz2,plain] [--parts 4]

The dump is made from the real entities of the excerpt: every copy gets ids of its own (classes and
properties stay as they are, so what is pointed to is as frequent as there), shuffled with a seed.
``compact`` is how Wikidata writes (no spaces, ASCII with escapes), ``spaced`` how the excerpt is
written (UTF-8). Seconds are CPU seconds, user and system, of a process that does only this, from
after its imports on, and its peak memory; of two processes also those of the clock. The files are
deleted at the end.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: few lines matter: lakes; many: people and scientific articles (30 % of the excerpt)
FEW = "domains: {lakes: {classes: [Q23397], type: lake}}"
MANY = "domains: {people: {classes: [Q5]}, articles: {classes: [Q13442814]}}"

BARE = """
import sys
from pathlib import Path
from sayso.wikidata.unpack import DumpPart, LinePlace, _unpacked
# begins
size = sum(len(block) for block, *_ in _unpacked(Path(sys.argv[1]), LinePlace()))
"""
LIBRARY = """
import bz2, gzip, sys
# begins
opened = {"gz": gzip.open, "bz2": bz2.open, "plain": open}[sys.argv[2]](sys.argv[1], "rb")
with opened as file:
    while file.read(1 << 20):
        pass
"""
JSON = """
import json, sys
from pathlib import Path
from sayso.wikidata.unpack import DumpPart, read_dump_lines
# begins
part = DumpPart("x", Path(sys.argv[1]), 0, 0)
for lines in read_dump_lines(part):
    for line in lines.data():
        if len(line) > 1:
            json.loads(line)
"""
PASS = """
import sys
from pathlib import Path
from sayso.wikidata.plan import load_plan
from sayso.wikidata.unpack import DumpPart
from sayso.wikidata.dump import scan
from sayso.wikidata.passes import PassTask
import msgspec
# begins
task = msgspec.json.decode(sys.argv[2], type=PassTask)
scan(task, DumpPart("x", Path(sys.argv[1]), 0, 0), Path(sys.argv[3]))
"""
BUILD = """
import sys
from sayso import cli
raise SystemExit(cli.execute(["build", *sys.argv[1:], "--no-review"]))
"""
TIMED = """
import json, resource, time
def _used():
    return [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
def _cpu():
    return sum(one.ru_utime + one.ru_stime for one in _used())
_wall, _begun = time.perf_counter(), 0
{code}
peak = max(one.ru_maxrss for one in _used())
print("#" + json.dumps([_cpu() - _begun, time.perf_counter() - _wall, peak / 1e3]))
"""


def timed(code: str, *words: str) -> tuple[float, float, float]:
    """Run code in a process of its own: CPU seconds from "# begins" on, wall seconds, peak MB."""
    body = code.replace("raise SystemExit(", "(").replace("# begins", "_begun = _cpu()")
    done = subprocess.run(
        [sys.executable, "-c", TIMED.format(code=body), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, wall, peak = json.loads(done.stdout.rpartition("#")[2])
    return cpu, wall, peak


def lines_of(source: Path, style: str) -> list[bytes]:
    found = [line.strip().rstrip(b",") for line in bz2.decompress(source.read_bytes()).split(b"\n")]
    found = [line for line in found if len(line) > 2]
    if style == "compact":
        found = [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in found]
    return found


def copies(lines: list[bytes], megabytes: int) -> Iterator[bytes]:
    """Yield lines until there are enough; each copy's own ids are new, the first keeps them."""
    own = re.compile(rb'("id":\s*"[QP])(\d+)(")')
    draw = random.Random(0)
    size, copy = 0, 0
    while size < megabytes * 1e6:
        shuffled = draw.sample(lines, len(lines))
        for line in shuffled:
            if copy and line.find(b'"property"', 0, 60) < 0:
                new = b"\\g<1>" + str(copy).encode() + b"00\\g<2>\\g<3>"
                line = own.sub(new, line, count=1)
            size += len(line) + 2
            yield line
        copy += 1


def write(folder: Path, lines: list[bytes], megabytes: int, parts: int) -> dict[str, Path]:
    """Write the dump in every packing, and a folder of parts; return the plain size in MB too."""
    plain = folder / "dump.json"
    with plain.open("wb") as file:
        file.write(b"[\n")
        for line in copies(lines, megabytes):
            file.write(line + b",\n")
        file.write(b"]\n")
    pieces = folder / "parts"
    pieces.mkdir()
    with contextlib.ExitStack() as stack, plain.open("rb") as file:
        names = [pieces / f"{n}.json.gz" for n in range(parts)]
        files = [stack.enter_context(gzip.open(name, "wb", compresslevel=6)) for name in names]
        for number, line in enumerate(file):
            files[number % parts].write(line)
    return {"plain": plain, "parts": pieces}


def packed(plain: Path, kind: str) -> Path:
    if kind == "plain":
        return plain
    path = plain.with_name(f"dump.json.{kind}")
    with plain.open("rb") as file:
        if kind == "zst":
            import zstandard

            with path.open("wb") as out:
                zstandard.ZstdCompressor(level=3).copy_stream(file, out)
            return path
        with gzip.open(path, "wb", 6) if kind == "gz" else bz2.open(path, "wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
    return path


def tasks(folder: Path, plan_text: str, wanted: int) -> dict[str, str]:
    """Return the three passes as JSON, as a build would run them."""
    import msgspec

    from sayso.wikidata.passes import PassTask
    from sayso.wikidata.plan import load_plan

    file = folder / "plan.yaml"
    file.write_text(plan_text)
    plan = load_plan(file)
    ids = {}
    for name, domain in plan.domains.items():
        place = folder / f"ids-{name}"
        place.write_text("\n".join(i[1:] for i in domain.classes))
        ids[name] = str(place)
    labels = folder / "ids-labels"
    labels.write_text("\n".join(f"Q{n}" for n in range(wanted)))
    made = {
        "classes": PassTask("classes", plan),
        "members": PassTask("members", plan, 0, ids),
        "labels": PassTask("labels", plan, 0, {"labels": str(labels)}),
    }
    return {name: msgspec.json.encode(task).decode() for name, task in made.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--megabytes", type=int, default=1100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--style", choices=["compact", "spaced"], default="compact")
    parser.add_argument("--kinds", default="gz,zst,plain,bz2")
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=2)
    chosen = parser.parse_args()
    source = Path(chosen.data) / "wikidata" / "entities.dump.json.bz2"
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        files = write(folder, lines_of(source, chosen.style), chosen.megabytes, chosen.parts)
        size = files["plain"].stat().st_size / 1e6
        print(f"{chosen.style}: {size:,.0f} MB")
        for kind in chosen.kinds.split(","):
            speeds(folder, files["plain"], kind, size, chosen.repeat)
        processes(folder, files["parts"], size)


def speeds(folder: Path, plain: Path, kind: str, size: float, repeat: int) -> None:
    """Every rate of one packing; all are measured in turn, and of each the best is taken."""
    path = packed(plain, kind)
    codes: dict[str, tuple[str, list[str]]] = {"unpack": (BARE, []), "json": (JSON, [])}
    if kind != "zst":
        codes["the library's own file object"] = LIBRARY, [kind]
    for told, plan in (("few", FEW), ("many", MANY)):
        for stage, task in tasks(folder, plan, 2000).items():
            if told == "few" or stage == "members":
                codes[f"{stage} ({told} matter)"] = PASS, [task]
    best: dict[str, tuple[float, float]] = {}
    for _ in range(repeat):
        for name, (code, words) in codes.items():
            with tempfile.TemporaryDirectory(dir=folder) as state:
                cpu, _, peak = timed(code, str(path), *words, f"{state}/a")
            before = best.get(name, (cpu, peak))
            best[name] = min(cpu, before[0]), max(peak, before[1])
    print(f"{kind}, load {os.getloadavg()[0]:.1f}")
    for name, (cpu, peak) in best.items():
        print(
            f"  {name}: {size / cpu:,.0f} MB/s, {best['json'][0] / cpu:.1f} x json, "
            f"{best['unpack'][0] / cpu:.2f} x unpacking, peak {peak:.0f} MB",
            flush=True,
        )
    if path != plain:
        path.unlink()


def processes(folder: Path, parts: Path, size: float) -> None:
    """A whole build of a folder of parts by one process and by two."""
    (folder / "few.yaml").write_text(FEW)
    walls = {}
    for workers in (1, 2):
        words = [str(parts), "--domains", str(folder / "few.yaml"), "--workers", str(workers)]
        began = time.perf_counter()
        cpu, _, peak = timed(BUILD, *words, "--out", str(folder / f"out{workers}"))
        walls[workers] = time.perf_counter() - began, cpu
        print(
            f"build, {workers} processes: wall {walls[workers][0]:.1f} s, CPU {cpu:.1f} s, "
            f"peak {peak:.0f} MB, {3 * size / cpu:,.0f} MB/s of CPU, load {os.getloadavg()[0]:.1f}"
        )
    print(
        f"two processes: {walls[1][0] / walls[2][0]:.2f} x by the clock; CPU of one over half the "
        f"CPU of two: {walls[1][1] / (walls[2][1] / 2):.2f}"
    )


if __name__ == "__main__":
    main()
