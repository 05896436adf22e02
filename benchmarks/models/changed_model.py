"""Is a changed model behind an endpoint's name noticed when its answers are in the cache?

    python benchmarks/models/changed_model.py [--model smollm2] [--limit 8] [--starts 20]
        [--other NAME]

A model is served on loopback and asked by ``selective``, which fills the cache. Then what is served
changes in eleven ways behind the same name, and the check that every run begins with asks its up to
three prompts, five times for each way, each time among a random half of the questions. "Stopped"
ends a run, "cautioned" goes on and says so above the numbers. Then the same model is started
``--starts`` times; at each start its replies are said in other ways at random (spaces, case, a full
stop, "The answer is", bold) or left as they are. Any stop or caution is a false alarm.

``--other`` is the model that answers with other weights, and by default a copy whose matrices have
had noise of 10 % added. ``--smaller`` is the one that the name is an alias of in the end.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch

from sayso.engines import open_model
from sayso.protocols import selective
from sayso.protocols.settings import replace
from sayso.records import Generation, InputError, Message, Request
from sayso.runs.freshness.same_model import check_same_model
from sayso.runs.job import Job
from sayso.runs.run import execute_job, foreseen, open_job

#: starts for each way of changing
TIMES = 5
#: seconds that the server waits for more requests to answer together
GATHER = 0.02


class Way(NamedTuple):
    """How what is served differs: its requests, its texts, its weights, and its token limit."""

    request: Callable[[Request], Request] = lambda request: request
    text: Callable[[str], str] = lambda text: text
    weights: Callable[[Any], None] | None = None
    engine: str = ""
    most: int = 10**6


class Server:
    """Chat completions of a model in this process; ``way`` may change while it serves."""

    def __init__(self, name: str, *, logprobs: bool) -> None:
        self.name = name
        self.logprobs = logprobs
        self.way = Way()
        self.record = ["logprobs", "entropies", "alternatives"]
        self.engines = {name: open_model(name, record=self.record)}
        self.queue: queue.Queue[tuple[Request, Future[Generation]]] = queue.Queue()
        server = self
        self.stopped = False

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.send(server.answer(body))

            def do_GET(self) -> None:
                self.send({"object": "list", "data": [{"id": "m", "object": "model"}]})

            def send(self, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1#m"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        threading.Thread(target=self.work, daemon=True).start()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one call."""
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 64
        request = Request(
            messages=tuple(Message(m["role"], m["content"]) for m in body["messages"]),
            temperature=body.get("temperature", 1.0),
            top_p=body.get("top_p", 1.0),
            max_tokens=min(limit, self.way.most),
            stop=tuple(body.get("stop") or ()),
            seed=body.get("seed") or 0,
        )
        waiting = []
        for index in range(body.get("n", 1)):
            done: Future[Generation] = Future()
            draw = msgspec.structs.replace(request, sample=index)
            self.queue.put((self.way.request(draw), done))
            waiting.append(done)
        replies = [done.result() for done in waiting]
        choices = [
            {
                "index": index,
                "finish_reason": "length" if reply.finish == "length" else "stop",
                "message": {"role": "assistant", "content": self.way.text(reply.text)},
                **(
                    {"logprobs": self.told(reply)} if body.get("logprobs") and self.logprobs else {}
                ),
            }
            for index, reply in enumerate(replies)
        ]
        spent = {
            "prompt_tokens": replies[0].usage.prompt_tokens,
            "completion_tokens": sum(reply.usage.completion_tokens for reply in replies),
        }
        spent["total_tokens"] = sum(spent.values())
        return {
            "id": "c", "object": "chat.completion", "created": 1, "model": body.get("model"),
            "choices": choices, "usage": spent,
        }  # fmt: skip

    def told(self, reply: Generation) -> dict[str, Any]:
        """Return the log-probabilities of a reply's tokens, each with the two likeliest."""
        engine: Any = self.engines[self.way.engine or self.name]
        listed = zip(
            reply.token_ids or (), reply.logprobs or (), reply.alternatives or (), strict=True
        )
        return {
            "content": [
                {
                    "token": engine.decode([token]),
                    "logprob": logprob,
                    "top_logprobs": [
                        {"token": engine.decode([one.token]), "logprob": one.logprob}
                        for one in top[:2]
                    ],
                }
                for token, logprob, top in listed
            ]
        }

    def work(self) -> None:
        """Answer what waits, together, as servers do: batches differ from start to start."""
        while not self.stopped:
            try:
                some = [self.queue.get(timeout=0.2)]
            except queue.Empty:
                continue
            time.sleep(GATHER)
            while not self.queue.empty():
                some.append(self.queue.get())
            name = self.way.engine or self.name
            if name not in self.engines:
                self.engines[name] = open_model(name, record=self.record)
            for index, reply in self.engines[name].complete([request for request, _ in some]):
                some[index][1].set_result(reply)

    @contextmanager
    def changed(self, way: Way) -> Iterator[None]:
        """Serve otherwise within the block."""
        model = self.engines[self.name].runner.model
        kept = {k: v.clone() for k, v in model.state_dict().items()} if way.weights else None
        if way.weights is not None:
            way.weights(model)
        self.way = way
        try:
            yield
        finally:
            self.way = Way()
            if kept is not None:
                model.load_state_dict(kept)

    def close(self) -> None:
        """End the server and its models."""
        self.stopped = True
        self.http.shutdown()
        for engine in self.engines.values():
            engine.close()


def noise(model: Any, share: float = 0.1) -> None:
    """Add Gaussian noise of a share of each matrix's spread."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() == 2:
                drawn = torch.randn(weights.shape, generator=generator)
                weights.add_(drawn.to(weights.dtype) * weights.std() * share)


def prune(model: Any, share: float = 0.3) -> None:
    """Set the smallest weights of each matrix to zero."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "embed" not in name:
                size = weights.abs().flatten()
                limit = size.kthvalue(max(1, int(share * len(size)))).values
                weights.mul_(weights.abs() > limit)


def with_system(request: Request) -> Request:
    """Return a request with a system prompt before it."""
    told = Message("system", "You are Captain Salt, a pirate. Say everything as a pirate would.")
    return msgspec.structs.replace(request, messages=(told, *request.messages))


def forced(request: Request) -> Request:
    """Return a request whose temperature the server sets to 1."""
    draw = random.randrange(10**6)
    return msgspec.structs.replace(request, temperature=1.0, sample=draw)


def penalized(request: Request) -> Request:
    """Return a request with the server's own penalty of repetition."""
    return msgspec.structs.replace(request, repetition_penalty=1.3)


def ways(other: str, smaller: str, most: int) -> dict[str, Way]:
    """Return the ways in which what is served changes."""
    return {
        "other weights": Way(engine=other) if other else Way(weights=noise),
        "a system prompt before every request": Way(request=with_system),
        "temperature forced to 1": Way(request=forced),
        f"answers cut at {most} tokens": Way(most=most),
        "a prefix before every answer": Way(
            text=lambda text: f"Thank you for asking our help center today. {text}"
        ),
        "answers in another language": Way(
            text=lambda text: f"La respuesta correcta a esta pregunta es, según creo: {text}"
        ),
        "every answer hedged": Way(
            text=lambda text: f"I am not sure about this, but it could be that {text}"
        ),
        "every answer refused": Way(
            text=lambda text: "I'm sorry, but I'm not able to help with that request."
        ),
        "repetition penalty of 1.3 by default": Way(request=penalized),
        "30 % of the weights pruned": Way(weights=prune),
        "alias of a smaller model": Way(engine=smaller),
    }


def rewordings() -> Callable[[str], str]:
    """Return a function that says a text in another way at random, or leaves it."""
    chosen = random.Random(3)
    told: list[Callable[[str], str]] = [
        lambda text: text,
        lambda text: f" {text}\n\n",
        lambda text: text.upper(),
        lambda text: f"{text.rstrip('.')}.",
        lambda text: f"The answer is {text}",
        lambda text: f"**{text}**",
    ]
    return lambda text: chosen.choice(told)(text)


def start(job: Job, chosen: random.Random) -> str:
    """Do what a run does first, among a random half of its questions; return how it ends."""
    with open_job(job) as opened:
        asks = foreseen(opened)
        names = sorted({ask.question.id for ask in asks})
        half = set(chosen.sample(names, max(1, len(names) // 2)))
        some = [ask for ask in asks if ask.question.id in half]
        try:
            told = check_same_model(some, opened.model, begun=None, needed=True, stale_ok=False)
        except InputError as error:
            return f"stopped: {error}"
        return f"cautioned: {told.cautions[0]}" if told.cautions else ""


def main() -> None:
    """Print a line for each way, and the false alarms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--data", default="")
    parser.add_argument("--other", default="")
    parser.add_argument("--smaller", default="builtin")
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--cut", type=int, default=3)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--no-logprobs", action="store_true", help="of a server that gives none")
    parser.add_argument("--show", action="store_true", help="print what a run would say")
    args = parser.parse_args()
    data = args.data or ("builtin" if args.model == "builtin" else "world")
    chosen = random.Random(1)
    server = Server(args.model, logprobs=not args.no_logprobs)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"draws.k": 5, "answer.short_tokens": args.tokens, "resamples": 100}
        job = Job(
            protocol="selective", model=server.url, data=data, limit=args.limit,
            cache=Path(folder, "cache"), out=Path(folder, "run"),
            options=replace(selective.Settings(), settings),
        )  # fmt: skip
        asked = execute_job(job).manifest.tokens["requests"]
        print(f"{args.model}, {data}: {asked} answers in the cache")
        noticed = 0
        every = ways(args.other, args.smaller, args.cut)
        for name, way in every.items():
            with server.changed(way):
                ends = [start(job, chosen) for _ in range(TIMES)]
            stopped, cautioned = (
                sum(end.startswith(word) for end in ends) for word in ("stopped", "cautioned")
            )
            noticed += stopped + cautioned > TIMES // 2
            print(f"{name}: stopped {stopped}, cautioned {cautioned} of {TIMES}", flush=True)
            if args.show:
                print(f"    {ends[0][:400]}")
        print(f"noticed in most starts: {noticed} of {len(every)} ways")
        with server.changed(Way(text=rewordings())):
            ends = [start(job, chosen) for _ in range(args.starts)]
        alarms = [end for end in ends if end]
        print(f"the same model, said in other ways: {len(alarms)} alarms in {len(ends)} starts")
        for alarm in alarms:
            print(f"    {alarm[:400]}")
    server.close()


if __name__ == "__main__":
    main()
