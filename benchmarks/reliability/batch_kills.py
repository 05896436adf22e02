"""kill -9 at random moments of runs whose requests are in a batch file: is anything paid twice?

    python benchmarks/reliability/batch_kills.py [--runs 6]

Each run is killed up to nine times, each time within six seconds. The server
(tests/engines/batch_server.py) counts what it was paid for; fails if that is anything twice.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from reliability import SERVER

sys.path.append(str(SERVER.parent))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=6)
    return kills(parser.parse_args().runs)


def kills(runs: int) -> int:
    """Kill runs whose requests are in a batch file, and look at what the server was paid for."""
    from batch_server import BatchServer
    from test_batch_files import child

    source, done, twice = random.Random(0), 0, 0
    for _ in range(runs):
        with BatchServer(looks=8) as server, tempfile.TemporaryDirectory() as folder:
            for left in range(9, -1, -1):
                process = child(server.url, Path(folder))
                assert process.stdout is not None
                process.stdout.readline()
                try:
                    process.communicate(timeout=source.uniform(0.2, 6.0) if left else None)
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    done += 1
            twice += len(server.billed) - len(set(server.billed)) + len(server.batches) - 1
    print(f"{runs} runs, {done} kills: {twice} requests or batches paid twice")
    return int(twice > 0)


if __name__ == "__main__":
    sys.exit(main())
