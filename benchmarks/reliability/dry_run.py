"""Does a dry run tell the truth? Its ranges beside what metered engines then counted.

    python benchmarks/reliability/dry_run.py [NAME …] [--limit 3] [--json FILE]

Each variant is a command line of ``sayso``: first with ``--dry-run --json``, then for real, then
with ``--dry-run --json`` once more. The subject is the built-in model, whose engine counts the
requests, forced reads and hidden states that it is asked for; whatever else is asked (judge, NLI,
panel, blind graders) is an endpoint on loopback that counts calls by model name, reads its prompts
and follows them. The one short question whether an endpoint holds replies to a schema is left out.

A row of the table is what is asked of one of them: what the dry run said, what came, whether that
lies inside, and how wide the range is (its most over its least). ``first`` are requests of the
subject that need no answer, by stage: the dry run has to know them exactly. What the last dry run
says is left after the run should be 0. A range that is paid for should be at most three times as
wide; reads may be wider.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso import cli
from sayso.engines.hf.engine import HfEngine
from sayso.engines.local.engine import LocalEngine
from sayso.records import Generation, Request, ask, request_key
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint
from support.judge_world import Block, shown, truthful, written
from support.row_author import fields_of

#: {url} stands for the address of the endpoint; a command that begins with study is a study
VARIANTS: dict[str, str] = {
    "uncle": "run uncle",
    "uncle, judge": "run uncle --judge {url}#judge",
    "uncle, cascade": "run uncle --judge rules+{url}#judge",
    "selective": "run selective",
    "selective, NLI": "run selective --judge {url}#judge --nli llm:{url}#nli",
    "selective, elicit": (
        "run selective --set elicit=true --set scores=all --set panel={url}#panel "
        "--answer-metrics llm_blind:{url}#blind"
    ),
    "faithfulness": "run faithfulness",
    "faithfulness, judge": "run faithfulness --judge {url}#judge",
    "self_known": "run self_known",
    "self_known, judge": "run self_known --judge {url}#judge",
    "self_known, revise": "run self_known --set remedy=revise --set retrieval=true --set draws.k=2",
    "self_known, cautious": "run self_known --set answer.decoding=cautious --set modes=none",
    "study": "study --models builtin --protocols uncle selective faithfulness",
    "study, trained": "study --models builtin builtin-trained --protocols uncle",
    "study, judge": "study --models builtin --protocols selective self_known --judge {url}#judge",
}
#: methods of texts that are made of others, and so no first requests
REMADE = ("revised", "cautious")
#: how a judge is asked whether it holds replies to a schema
PROBE = "Is tea better than coffee?"
#: at most so wide may be what is paid for, which these are not
WIDEST = 3.0
NOT_PAID = ("reads", "states")


# ---- the endpoint: it reads its prompts, follows them, and counts


def entry(key: str, number: int, text: str) -> Mapping[str, object]:
    """Return what is said of one numbered text, by the key that the prompt asks for."""
    words = text.split()
    last = words[-1].strip(".,") if words else ""
    if key == "claims":
        return {"claims": [{"text": text, "quote": text}] if words else []}
    if key == "assertions":
        return {"assertions": [{"text": text, "score": 0.8}]}
    if key == "question":
        asked = f"With what does the text on {' '.join(words[:2])} end?"
        return {"question": asked, "answer": last}
    if key == "verdict":
        return {"verdict": "supported" if number % 3 else "not supported", "passage": "p1"}
    return {key: "no"}  # contradicts, ambiguous


#: what a prompt about numbered texts wants to know of each
KEYS = ("claims", "assertions", "question", "verdict", "contradicts", "ambiguous")


def answer(prompt: str) -> str:
    """Return what a model that follows its prompt replies."""
    (code,) = set(re.findall(r"k[0-9a-f]{16}", prompt))
    if '"begins"' in prompt:
        told = prompt.partition("\n<<<")[0]
        key = next(key for key in KEYS if f'"{key}"' in told)
        numbered = [
            (int(hit[1]), text)
            for name, text in fields_of(prompt).items()
            if (hit := re.match(r"(\d+) \w+$", name))
        ]
        verdicts = [
            {"number": n, "begins": " ".join(text.split()[:5]), **entry(key, n, text)}
            for n, text in numbered
        ]
        return json.dumps({"code": code, "verdicts": verdicts})
    one_line = re.search(r"one line and nothing else: k[0-9a-f]{16} and then ([^.\n]+)", prompt)
    if one_line:
        words = re.findall(r"\b(?:entailment|neutral|contradiction|true|yes|1)\b", one_line[1])
        return f"{code} {words[zlib.crc32(prompt.encode()) % len(words)] if words else 70}"
    seen = shown(ask(prompt))
    blocks = [Block(n, seen.question(n), "It says so.", truthful(seen, n)) for n in seen.numbers]
    return written(seen, blocks)


def counting(asked: Counter[str], body: dict[str, Any]) -> tuple[dict[str, str], dict[str, int]]:
    """Answer for every model name, and count calls by name."""
    prompt = str(body["messages"][-1]["content"])
    text = "Tea, I think."
    if not prompt.startswith(PROBE):
        asked[str(body["model"])] += 1
        text = answer(prompt)
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
    return {"content": text}, usage


@contextlib.contextmanager
def metered(asked: Counter[str]) -> Iterator[None]:
    """Count what reaches a model in this process: "model" requests, "reads" and hidden "states"."""
    complete, force, hidden = LocalEngine.complete, LocalEngine.force, HfEngine.hidden

    def completing(self: Any, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        def counted() -> Iterator[Request]:
            for request in requests:
                asked["model"] += 1
                yield request

        return complete(self, counted())

    def forcing(self: Any, items: Sequence[Any], want: Sequence[str]) -> Any:
        asked["reads"] += len(items)
        return force(self, items, want)

    def keeping(self: Any, items: Sequence[Any], layer: int, position: str) -> Any:
        asked["states"] += len(items)
        return hidden(self, items, layer, position)

    own: Any = LocalEngine
    states: Any = HfEngine
    own.complete, own.force, states.hidden = completing, forcing, keeping
    try:
        yield
    finally:
        own.complete, own.force, states.hidden = complete, force, hidden


# ---- what a dry run says


class Said(NamedTuple):
    """The range of one meter."""

    low: float
    high: float


def meter_of(stage: Mapping[str, Any]) -> str:
    """Return the meter that counts what a stage asks: "model", "reads", or a model's name."""
    who = str(stage["who"])
    if who == "nli":
        return "reads"
    return who.rpartition("#")[2]


def plans_in(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the plans of a dry run: one, or those of a study's cells."""
    if "cells" not in found:
        return [found]
    return [cell["plan"] for cell in found["cells"] if cell["plan"] is not None]


def said_of(plans: Sequence[Mapping[str, Any]]) -> dict[str, Said]:
    """Return what is still to ask, by meter."""
    total: dict[str, Said] = {}
    for stage in (stage for plan in plans for stage in (*plan["stages"], *plan["reads"])):
        meter, (low, high) = meter_of(stage), stage["requests"]
        before = total.get(meter, Said(0, 0))
        left = [max(0, end - stage.get("cached", 0)) for end in (low, high)]
        total[meter] = Said(before.low + left[0], before.high + left[1])
    return total


def firsts_in(plans: Sequence[Mapping[str, Any]]) -> dict[str, Said]:
    """Return the subject's requests of each stage, over all plans."""
    found: dict[str, Said] = {}
    for stage in (stage for plan in plans for stage in plan["stages"]):
        if meter_of(stage) == "model":
            before = found.get(stage["name"], Said(0, 0))
            low, high = stage["requests"]
            found[stage["name"]] = Said(before.low + low, before.high + high)
    return found


def asked_first(folders: Sequence[Path]) -> Counter[str]:
    """Return how many different requests each stage of some runs asked that need no answer.

    A request counts in the run and stage that stored it first; probes of another run count there.
    """
    seen: set[bytes] = set()
    found: Counter[str] = Counter()
    for folder in sorted(folders, key=lambda path: (path / "manifest.json").stat().st_mtime):
        run = RunFolder.open(folder)
        manifest = run.read_manifest()
        identity = manifest.model_identity
        taken = manifest.settings.get("known_from", "self") != "self"
        for stage in ("short", "draws", "long") if taken else ("probe", "short", "draws", "long"):
            if run.has(f"generations/{stage}"):
                rows = run.read(f"generations/{stage}", Generation)
                keys = {
                    request_key(row.request, identity) for row in rows if row.method not in REMADE
                } - seen
                seen |= keys
                found[stage] += len(keys)
    return found


# ---- a variant


class Row(NamedTuple):
    """One line of the table; ``said`` is ``None`` where the dry run does not mention it."""

    what: str
    said: Said | None
    counted: int

    @property
    def inside(self) -> bool:
        """Whether the range holds what came."""
        if self.said is None:
            return not self.counted
        return self.said.low <= self.counted <= self.said.high

    @property
    def width(self) -> float:
        """The most over the least."""
        if self.said is None or self.said.high == self.said.low:
            return 1.0
        return self.said.high / self.said.low if self.said.low else math.inf


class Outcome(NamedTuple):
    """What came of a variant; ``refused`` is a line where the dry run gave none."""

    rows: list[Row]
    again: float
    seconds: float
    refused: str = ""


def sayso(*words: str) -> str:
    """Run a command in this process and return what it prints. Raises RuntimeError."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.execute(list(words))
    if code not in (0, 1):
        raise RuntimeError(err.getvalue().strip().splitlines()[-1])
    return out.getvalue()


def tried(command: str, limit: int) -> Outcome:
    """Plan a variant, run it, and plan it again."""
    asked: Counter[str] = Counter()
    served = endpoint(partial(counting, asked))
    with tempfile.TemporaryDirectory() as folder, served as url, metered(asked):
        own = ["--limit", str(limit), "--out", f"{folder}/out", "--cache", f"{folder}/cache"]
        words = [*command.replace("{url}", url).split(), *own]
        began = time.process_time()
        try:
            plans = plans_in(json.loads(sayso(*words, "--dry-run", "--json")))
        except RuntimeError as error:
            return Outcome([], math.nan, math.nan, str(error))
        spent = time.process_time() - began
        if any(asked.values()):
            raise RuntimeError(f"the dry run of {command} asked {dict(asked)}")
        sayso(*words, "--json")
        folders = [path.parent for path in Path(folder, "out").rglob("manifest.json")]
        first, planned = asked_first(folders), firsts_in(plans)
        rows = [
            Row(f"first {name}", planned.get(name), number)
            for name, number in first.items()
            if name not in planned or planned[name].low == planned[name].high
        ]
        said, counts = said_of(plans), dict(asked)
        rows += [
            Row(name, said.get(name), counts.get(name, 0)) for name in sorted({*said, *counts})
        ]
        left = said_of(plans_in(json.loads(sayso(*words, "--dry-run", "--json"))))
        return Outcome(rows, sum(one.high for one in left.values()), spent)


def line_of(name: str, row: Row) -> str:
    """Return a row of the table."""
    told = "not mentioned"
    if row.said is not None:
        low, high = row.said
        told = f"{low:,.0f}" if low == high else f"{low:,.0f} - {high:,.0f}"
    wide = row.width > WIDEST and row.what not in NOT_PAID
    faults = " ".join(("MISS",) * (not row.inside) + ("WIDE",) * wide)
    width = "" if row.width == 1 else f"{row.width:.1f}"
    return f"{name:22} {row.what:14} {told:>20} {row.counted:>9,} {width:>7}  {faults}".rstrip()


def main() -> int:
    """Print the table; return 1 if a range misses or is too wide."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("names", nargs="*", help=f"variants: {', '.join(VARIANTS)}")
    parser.add_argument("--limit", type=int, default=3, help="entities")
    parser.add_argument("--json", type=Path, help="file for the rows")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    kept: dict[str, object] = {}
    missed, wide, again = [], [], []
    print(f"{'variant':22} {'asked':14} {'dry run':>20} {'counted':>9} {'width':>7}")
    for name in given.names or VARIANTS:
        outcome = tried(VARIANTS[name], given.limit)
        for row in outcome.rows:
            print(line_of(name, row), flush=True)
        if outcome.refused:
            print(f"{name:22} no dry run: {outcome.refused}", flush=True)
        else:
            told = f"left after the run: {outcome.again:,.0f}"
            print(f"{name:22} {told}; dry run {outcome.seconds:.1f} CPU s", flush=True)
        if outcome.refused or not all(row.inside for row in outcome.rows):
            missed.append(name)
        if any(row.width > WIDEST and row.what not in NOT_PAID for row in outcome.rows):
            wide.append(name)
        if outcome.again:
            again.append(name)
        kept[name] = {
            "rows": [[r.what, r.said, r.counted] for r in outcome.rows],
            "again": outcome.again,
            "seconds": outcome.seconds,
            "refused": outcome.refused,
        }
    if given.json:
        given.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for what, names in (
        ("miss", missed),
        (f"are more than {WIDEST:g} times as wide as they need be", wide),
        ("leave something to ask after the run", again),
    ):
        print(f"{len(names)} of {len(kept)} {what}: {', '.join(names) or 'none'}")
    return 1 if missed or wide else 0


if __name__ == "__main__":
    sys.exit(main())
