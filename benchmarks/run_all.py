"""Run every study behind README.md, one after another: ``make bench`` (about half an hour).

    python benchmarks/run_all.py [NAME …]

Studies on people's labels need SAYSO_TEST_DATA, and are named as skipped without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: study -> its arguments; those that read labelled data
STUDIES = {
    "judge_rules": [],
    "judge_reworded": [],
    "stance": [],
    "silence": [],
    "wordings": [],
    "injection": [],
    "checks": [],
    "judge_tokens": [],
    "cheap_judge": [],
    "coverage": [],
    "assertions": [],
    "correction": ["real"],
    "guarantee": [],
    "guard_speed": [],
    "decisiveness": [],
    "contradiction": [],
    "claims": [],
    "verifier": [],
    "faithfulness_forms": [],
    "faithfulness_cost": [],
    "selective_flip": [],
    "selective_people": [],
    "position_people": [],
    "findings": [],
    "confabulations": [],
    "drift": ["delay"],
    "engine_overhead": [],
    "run_overhead": [],
    "bf16_draws": [],
    "same_draws": ["--limit", "10"],
    "cache_speed": [],
    "kills": ["--kills", "20"],
    "studies": ["--part", "ranks"],
    "recompute": [],
    "reliability": [],
    "batch_kills": [],
    "client_cost": [],
    "dry_run": [],
    "pilot": [],
    "index_speed": ["--sizes", "10000,100000"],
    "wikidata_speed": ["--kinds", "gz,zst,plain"],
    "peers": [],
    "way_of_a_job": ["--quiet"],
}
NEED_DATA = {
    "correction",
    "judge_rules",
    "guarantee",
    "cheap_judge",
    "selective_people",
    "position_people",
    "findings",
    "confabulations",
    "drift",
    "contradiction",
    "claims",
    "verifier",
    "wikidata_speed",
}
#: lm-polygraph in an environment of its own, which `make bench-peers` makes
PEERS = HERE.parent / ".venv-peers" / "bin" / "python"


def main(names: list[str]) -> int:
    """Run the named studies, or all; return the number that failed."""
    unknown = [n for n in names if n not in STUDIES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(STUDIES)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or STUDIES:
        if name in NEED_DATA and not Path(os.environ.get("SAYSO_TEST_DATA", "/nowhere")).is_dir():
            print(f"\n== {name}: skipped, SAYSO_TEST_DATA is not a folder")
            continue
        if name == "peers" and not PEERS.is_file():
            print("\n== peers: skipped, lm-polygraph is not installed (make bench-peers)")
            continue
        script = next(HERE.glob(f"*/{name}.py"))
        shown = f"benchmarks/{script.parent.name}/{script.name}"
        print(f"\n== python {shown} {' '.join(STUDIES[name])}", flush=True)
        done = subprocess.run([sys.executable, str(script), *STUDIES[name]], check=False)
        if done.returncode != 0:
            failed.append(name)
    print(f"\nfailed: {', '.join(failed) or 'none'}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
