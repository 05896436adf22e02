"""`gguf:` against llama.cpp's own server: tokens a CPU second, and memory, on the same prompts.

    python benchmarks/speed/gguf_speed.py [--model gguf:smollm2] [--threads 1] [--repeat 2]

The other side is llama.cpp's server in the same wheel (xllamacpp's ``Server``, called in the
process, without HTTP), which decodes several requests at once and shows no probabilities; it gets
the number of parallel requests that is best for each kind of work (1, 4, 8 and 16 are tried). Ours
records the log-probability and the exact entropy of each token. Each side runs in a process of its
own, and so does each repeat; the best of the repeats counts. Kinds of work: 16 short answers at
T=0, 5 draws of 6 short questions at T=1, 4 long answers at T=0. Tokens of the answers are counted,
CPU seconds of the whole process after opening, and its peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

#: kinds of work: questions, draws of each, tokens at most
WORK = {"16 short greedy": (16, 0, 64), "6 x 5 draws": (6, 5, 64), "4 long greedy": (4, 0, 256)}
PARALLEL = (1, 4, 8, 16)
LONG = "Write a paragraph about {}."


def prompts(kind: str) -> list[str]:
    """Return the questions of one kind of work."""
    from sayso.datasets import load_dataset

    count, _, tokens = WORK[kind]
    questions = [q.text for q in load_dataset("world-50").questions if not q.parts]
    if tokens > 100:
        return [
            f"Write a paragraph that answers this question: {text}" for text in questions[:count]
        ]
    return questions[:count]


def ours(kind: str, model: str, threads: int) -> tuple[int, float]:
    """Answer with the engine; return tokens and CPU seconds."""
    from sayso.engines import open_model
    from sayso.records import ask

    _, draws, tokens = WORK[kind]
    engine = open_model(model, threads=threads, end_loops=False)
    requests = [
        ask(text, max_tokens=tokens, temperature=1.0 if draws else 0.0, sample=sample)
        for text in prompts(kind)
        for sample in range(max(1, draws))
    ]
    began = time.process_time()
    made = sum(answer.usage.completion_tokens for _, answer in engine.complete(requests))
    return made, time.process_time() - began


def theirs(kind: str, file: str, threads: int, parallel: int) -> tuple[int, float]:
    """Answer with llama.cpp's server in this process; return tokens and CPU seconds."""
    import xllamacpp

    _, draws, tokens = WORK[kind]
    settings: Any = xllamacpp.CommonParams()
    settings.model.path = file
    settings.n_ctx = (512 if tokens > 100 else 256) * parallel
    settings.n_parallel = parallel
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server: Any = xllamacpp.Server(settings)

    def answer(job: tuple[str, int]) -> int:
        reply = server.handle_chat_completions(
            {
                "messages": [{"role": "user", "content": job[0]}],
                "max_tokens": tokens, "temperature": 1.0 if draws else 0.0, "seed": job[1],
                "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0,
            }
        )  # fmt: skip
        found = json.loads(reply) if isinstance(reply, str | bytes) else reply
        return int(found["usage"]["completion_tokens"])

    jobs = [(text, sample) for text in prompts(kind) for sample in range(max(1, draws))]
    began = time.process_time()
    with ThreadPoolExecutor(parallel) as pool:
        made = sum(pool.map(answer, jobs))
    return made, time.process_time() - began


def in_a_process(side: str, kind: str, args: argparse.Namespace, parallel: int) -> dict[str, float]:
    """Run one side in a process of its own; return tokens a CPU second and peak memory in MB."""
    command = [
        sys.executable, __file__, "--side", side, "--kind", kind, "--parallel", str(parallel),
        "--model", args.model, "--file", args.file, "--threads", str(args.threads),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(
        next(line for line in done.stdout.splitlines() if line.startswith("{"))
    )
    return found


def main() -> None:
    """Measure all kinds of work and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="gguf:smollm2")
    parser.add_argument("--file", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--side", default="")
    parser.add_argument("--kind", default="", help="only this kind of work")
    parser.add_argument("--parallel", type=int, default=1)
    args = parser.parse_args()
    if not args.file:
        from sayso.engines.local.files import gguf_file

        args.file = str(gguf_file(args.model.removeprefix("gguf:")))
    if args.side:
        made, seconds = (
            ours(args.kind, args.model, args.threads)
            if args.side == "ours"
            else theirs(args.kind, args.file, args.threads, args.parallel)
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        time.sleep(0.1)  # the server's last lines
        print(json.dumps({"tokens": made, "rate": made / seconds, "peak": peak}))
        return
    print("| work | gguf: | server (best of parallel) | ratio | memory, MB | its memory |")
    print("|---|---|---|---|---|---|")
    for kind in [args.kind] if args.kind else WORK:
        mine = max(
            (in_a_process("ours", kind, args, 1) for _ in range(args.repeat)),
            key=lambda found: found["rate"],
        )
        their = {
            parallel: max(
                (in_a_process("theirs", kind, args, parallel) for _ in range(args.repeat)),
                key=lambda found: found["rate"],
            )
            for parallel in PARALLEL
            if parallel <= WORK[kind][0] * max(1, WORK[kind][1])
        }
        best = max(their, key=lambda parallel: their[parallel]["rate"])
        print(
            f"| {kind} | {mine['rate']:.1f} | {their[best]['rate']:.1f} ({best}) | "
            f"{mine['rate'] / their[best]['rate']:.2f} | {mine['peak']:.0f} | "
            f"{their[best]['peak']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
