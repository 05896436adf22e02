"""A model in Ray's actors: what an actor keeps, what it gives up, and a run through Ray itself."""

from __future__ import annotations

import importlib.util
import socket
import time
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from sayso.engines import open_classifier, open_model
from sayso.engines.ray.classifier import RayClassifier, Reader
from sayso.engines.ray.engine import RaySettings, check_listening, open_ray
from sayso.engines.ray.worker import (
    DEATHS,
    GIVEN_UP,
    ActorTask,
    Ledger,
    Worker,
    replies_in,
    row_name,
)
from sayso.records import Generation, InputError, Request, ask, request_key
from sayso.runs.tools import Toolbox
from sayso.version import __version__
from support.nli_models import ORDERS, make_nli

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)


def prompts(number: int, draws: int = 2) -> list[ActorTask]:
    texts = [f"Where was person {n} born?" for n in range(number)]
    return [
        ActorTask(tuple(ask(text, max_tokens=4, sample=sample) for sample in range(draws)))
        for text in texts
    ]


def batch(tasks: list[ActorTask]) -> pa.Table:
    rows = [msgspec.json.encode(task) for task in tasks]
    return pa.table({"row": range(len(tasks)), "task": pa.array(rows, pa.binary())})


@pytest.fixture(scope="module")
def identity() -> str:
    engine = open_model("builtin", weights=False)
    engine.close()
    return engine.identity


def test_an_actor_answers_as_the_model_does_here(tmp_path: Path, identity: str) -> None:
    tasks = prompts(3)
    table = Worker("builtin", {}, identity, str(tmp_path))(batch(tasks))
    here = open_model("builtin")
    requests = [request for task in tasks for request in task.requests]
    texts = dict(here.complete(requests))
    here.close()
    got = [reply for data in table.column("replies").to_pylist() for reply in replies_in(data)]
    assert [reply.text for reply in got] == [texts[n].text for n in range(len(requests))]
    assert table.column("problem").to_pylist() == [""] * 3


def test_what_one_actor_has_answered_no_other_asks(tmp_path: Path, identity: str) -> None:
    tasks = prompts(3)
    first = Worker("builtin", {}, identity, str(tmp_path))
    first.answer(tasks[:2])
    second = Worker("builtin", {}, identity, str(tmp_path))
    second.answer(tasks)
    assert second.engine.counts.requests == 2  # of the third row alone


def test_draws_of_one_call_are_kept_together_or_not_at_all(
    tmp_path: Path, identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint gives other draws where only some of those of a call are asked for again."""
    (task,) = prompts(1, draws=4)
    worker = Worker("builtin", {}, identity, str(tmp_path))
    began = time.time()

    def broken_off(requests):  # type: ignore[no-untyped-def]
        for index, request in enumerate(requests):
            if index == 3:
                raise RuntimeError("the actor dies in the second call")
            worker.engine.whole = index % 2 == 1  # type: ignore[attr-defined]
            yield index, Generation(request, text="x", finish="stop")

    monkeypatch.setattr(worker.engine, "complete", broken_off)
    with pytest.raises(RuntimeError):
        worker.answer([task])
    worker.ledger.close()
    keys = [request_key(request, identity) for request in task.requests]
    assert Ledger(tmp_path).known(keys).keys() == set(keys[:2])
    # what --fresh takes over of a command that was stopped
    stored = Ledger(tmp_path).stored(keys, since=began)
    assert stored.keys() == set(keys[:2])
    assert all(one.origin and began <= one.origin.given <= time.time() for one in stored.values())
    assert not Ledger(tmp_path).stored(keys, since=time.time() + 1)


def test_rows_of_an_actor_that_died_run_alone(
    tmp_path: Path, identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = prompts(4)
    names = [row_name(task, identity) for task in tasks]
    (tmp_path / "dead.rows").write_text("\n".join(names[:2]))
    worker = Worker("builtin", {}, identity, str(tmp_path))
    groups: list[int] = []
    complete = worker.engine.complete

    def counted(requests):  # type: ignore[no-untyped-def]
        wanted = list(requests)
        groups.append(len(wanted))
        return complete(wanted)

    monkeypatch.setattr(worker.engine, "complete", counted)
    worker.answer(tasks)
    assert groups == [4, 2, 2]  # two rows together, then each of the two suspects


def test_a_row_that_kills_three_actors_is_given_up_and_no_other(
    tmp_path: Path, identity: str
) -> None:
    tasks = prompts(3)
    for number in range(DEATHS):
        (tmp_path / f"dead{number}.rows").write_text(row_name(tasks[1], identity))
    replies = Worker("builtin", {}, identity, str(tmp_path)).answer(tasks)
    assert [{reply.problem for reply in some} for some in replies] == [{None}, {GIVEN_UP}, {None}]


def test_what_a_row_had_answered_before_it_was_given_up_is_kept(
    tmp_path: Path, identity: str
) -> None:
    (task,) = prompts(1)
    ledger = Ledger(tmp_path)
    first = Generation(task.requests[0], text="Paris", finish="stop")
    ledger.keep({request_key(task.requests[0], identity): first})
    ledger.close()
    for number in range(DEATHS):
        (tmp_path / f"dead{number}.rows").write_text(row_name(task, identity))
    ((one, two),) = Worker("builtin", {}, identity, str(tmp_path)).answer([task])
    assert (one.text, one.problem) == ("Paris", None)
    assert two.problem == GIVEN_UP


def test_another_model_than_expected_says_so_in_its_batches(tmp_path: Path) -> None:
    table = Worker("builtin", {}, "hf:other", str(tmp_path))(batch(prompts(2)))
    assert {"is a different model" in text for text in table.column("problem").to_pylist()} == {
        True
    }


def test_given_texts_are_read_and_not_kept(tmp_path: Path, identity: str) -> None:
    request = ask("Where was she born?", max_tokens=4)
    task = ActorTask((request,), ("Paris",), ("logprobs",))
    ((reply,),) = Worker("builtin", {}, identity, str(tmp_path)).answer([task])
    here = open_model("builtin")
    ((_, same),) = here.force([(request, "Paris")], ["logprobs"])
    here.close()
    assert reply.logprobs == same.logprobs
    assert not list(tmp_path.glob("*.sqlite"))


def test_replies_that_a_killed_command_left_are_not_asked_again(
    tmp_path: Path, identity: str
) -> None:
    (task,) = prompts(1)
    left = tmp_path / "ray" / "killed"
    left.mkdir(parents=True)
    ledger = Ledger(left)
    for request in task.requests:
        reply = Generation(request, text=f"draw {request.sample}", finish="stop")
        ledger.keep({request_key(request, identity): reply})
    ledger.close()
    inner = open_model("builtin", weights=False)
    engine = open_ray(inner, "builtin", {}, RaySettings(tmp_path)) if needs_installed() else None
    if engine is None:
        pytest.skip("Ray is not installed")
    told: list[str] = []
    engine.tell = told.append
    found = dict(engine.complete(task.requests))  # all of it: Ray is not even started
    assert told == ["2 of 2 answers are reused from a command that was stopped"]
    assert engine.notices == ["2 answers reused from a command that was stopped"]
    assert [found[n].text for n in range(2)] == ["draw 0", "draw 1"]
    assert not engine.started
    engine.close()
    assert not left.exists()


def test_shards_of_which_not_all_was_fetched_stay(tmp_path: Path, identity: str) -> None:
    if not needs_installed():
        pytest.skip("Ray is not installed")
    one, two = prompts(2)
    left = tmp_path / "ray" / "killed"
    left.mkdir(parents=True)
    ledger = Ledger(left)
    for request in (*one.requests, *two.requests):
        key = request_key(request, identity)
        ledger.keep({key: Generation(request, text="x", finish="stop")})
    ledger.close()
    engine = open_ray(open_model("builtin", weights=False), "builtin", {}, RaySettings(tmp_path))
    assert len(dict(engine.complete(one.requests))) == 2
    engine.close()
    assert left.exists()


def needs_installed() -> bool:
    return importlib.util.find_spec("ray") is not None


@needs_ray
def test_a_run_through_ray_is_the_run_without(tmp_path: Path) -> None:
    import sayso
    from sayso.storage.run_folder import RunFolder

    settings = {"probe.k": 2}
    here = sayso.run(
        "uncle", limit=2, out=tmp_path / "here", cache=tmp_path / "c1", settings=settings,
        report=False,
    )  # fmt: skip
    there = sayso.run(
        "uncle", limit=2, out=tmp_path / "there", cache=tmp_path / "c2", settings=settings,
        report=False, engine="ray", ray_actors=2,
    )  # fmt: skip
    for stage in ("short", "probe", "long"):
        ours, theirs = (
            RunFolder.open(result.path).read(f"generations/{stage}", Generation)
            for result in (here, there)
        )
        assert [(g.id, g.text, g.token_ids) for g in ours] == [
            (g.id, g.text, g.token_ids) for g in theirs
        ]
        for one, other in zip(ours, theirs, strict=True):
            assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)
    assert [e.value for e in here.estimates] == pytest.approx(
        [e.value for e in there.estimates], abs=1e-3, nan_ok=True
    )
    tokens = there.manifest.tokens
    assert (tokens["cached"], tokens["asked"]) == (0, here.manifest.tokens["asked"])
    assert tokens["model_requests"] == here.manifest.tokens["model_requests"]
    assert not list((tmp_path / "c2" / "ray").iterdir())
    again = sayso.run(
        "uncle", limit=2, out=tmp_path / "again", cache=tmp_path / "c2", settings=settings,
        report=False, engine="ray",
    )  # fmt: skip
    assert again.manifest.tokens["asked"] == 0


def test_what_means_nothing_is_one_line() -> None:
    import sayso

    with pytest.raises(InputError, match="expected ray"):
        sayso.run("uncle", engine="spark", limit=1)
    with pytest.raises(InputError, match="add it"):
        sayso.run("uncle", ray_actors=2, limit=1)


def test_requests_of_one_prompt_stand_in_one_row() -> None:
    requests = [ask("a", sample=n, max_tokens=4) for n in range(3)]
    rows: dict[Request, list[int]] = {}
    for index, request in enumerate(requests):
        rows.setdefault(msgspec.structs.replace(request, sample=0), []).append(index)
    assert list(rows.values()) == [[0, 1, 2]]


def test_leftovers_that_nobody_took_stay(tmp_path: Path, identity: str) -> None:
    if not needs_installed():
        pytest.skip("Ray is not installed")
    (task,) = prompts(1, draws=5)
    left = tmp_path / "ray" / "killed"
    left.mkdir(parents=True)
    ledger = Ledger(left)
    for request in task.requests:
        key = request_key(request, identity)
        ledger.keep({key: Generation(request, text="x", finish="stop")})
    ledger.close()
    engine = open_ray(open_model("builtin", weights=False), "builtin", {}, RaySettings(tmp_path))
    taken = engine.complete(task.requests)
    next(taken)
    taken.close()  # type: ignore[attr-defined]  # Ctrl-C after the first of five
    engine.close()
    assert left.exists()


class Cluster:
    """What the engine reads of Ray: its machines."""

    def __init__(self, *machines: dict[str, float]) -> None:
        self.machines = machines

    def nodes(self) -> list[dict[str, object]]:
        return [{"Alive": True, "Resources": machine} for machine in self.machines]


@pytest.mark.parametrize(
    ("machines", "actors", "found"),
    [
        # a large head without a GPU has no part in it
        ([{"CPU": 32.0}, *[{"CPU": 4.0, "GPU": 1.0}] * 4], None, (4, 4.0, 1.0)),
        ([{"CPU": 2.0}], 2, (2, 1.0, 0.0)),
        ([{"CPU": 8.0}, {"CPU": 4.0}], None, (2, 4.0, 0.0)),
        ([{"CPU": 16.0, "GPU": 2.0}], 4, (4, 4.0, 0.5)),
    ],
)
def test_every_actor_finds_a_machine(
    tmp_path: Path,
    machines: list[dict[str, float]],
    actors: int | None,
    found: tuple[int, float, float],
) -> None:
    if not needs_installed():
        pytest.skip("Ray is not installed")
    engine = open_ray(
        open_model("builtin", weights=False), "builtin", {}, RaySettings(tmp_path, "", actors)
    )
    share = engine._share(Cluster(*machines))
    assert (engine.actors, share.cpus, share.gpus) == found
    engine.close()


def test_more_actors_than_find_a_place_are_one_line(tmp_path: Path) -> None:
    if not needs_installed():
        pytest.skip("Ray is not installed")
    engine = open_ray(
        open_model("builtin", weights=False), "builtin", {}, RaySettings(tmp_path, "", 1000)
    )
    with pytest.raises(InputError, match="do not fit"):
        engine._share(Cluster({"CPU": 2.0}))
    engine.close()


def test_an_address_where_nobody_listens_is_one_line() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with pytest.raises(InputError, match="nothing answers at"):
        check_listening(f"127.0.0.1:{port}")
    with pytest.raises(InputError, match="nothing answers at"):
        check_listening(f"ray://127.0.0.1:{port}")
    check_listening("auto")
    check_listening("")


def test_another_version_in_the_cluster_says_so(tmp_path: Path, identity: str) -> None:
    table = Worker("builtin", {}, identity, str(tmp_path), "0.0.1")(batch(prompts(1)))
    assert "install the same everywhere" in table.column("problem").to_pylist()[0]


# ---- comparing meanings


PAIRS = [(f"Ann was born in town {n}", f"Bo lives in {n % 7}") for n in range(40)]


def pairs_table(pairs: list[tuple[str, str]]) -> pa.Table:
    premises, hypotheses = zip(*pairs, strict=True)
    return pa.table(
        {"row": range(len(pairs)), "premise": list(premises), "hypothesis": list(hypotheses)}
    )


def test_an_actor_reads_pairs_as_the_classifier_does_here(tmp_path: Path) -> None:
    folder = str(make_nli(tmp_path / "nli", ORDERS[1]))
    here = open_classifier(folder)
    reader = Reader(folder, here.identity)
    long = [("a b c " * 60, "x"), *PAIRS[:3]]
    for pairs, truncated in ((PAIRS, 0), (long, 1)):
        table = reader(pairs_table(pairs))
        assert np.asarray(table.column("shares").to_pylist()) == pytest.approx(
            here.classify(pairs), abs=1e-6
        )
        assert sum(table.column("pairs").to_pylist()) == len(pairs)
        assert sum(table.column("truncated").to_pylist()) == truncated
        assert set(table.column("problem").to_pylist()) == {""}


@pytest.mark.parametrize(
    ("identity", "version", "told"),
    [
        ("another", __version__, "is a different model"),
        ("", "0.0.1", "install the same everywhere"),
    ],
)
def test_another_classifier_or_version_says_so(
    tmp_path: Path, identity: str, version: str, told: str
) -> None:
    folder = str(make_nli(tmp_path / "nli", ORDERS[1]))
    table = Reader(folder, identity, version=version)(pairs_table(PAIRS[:2]))
    assert [told in problem for problem in table.column("problem").to_pylist()] == [True, True]
    assert table.column("shares").to_pylist() == [[], []]
    remote = RayClassifier(open_classifier(folder), folder, RaySettings(tmp_path))
    with pytest.raises(InputError, match=told):
        remote._take(table, np.zeros((2, 3)))


@pytest.mark.slow
@needs_ray
def test_meanings_are_compared_by_actors_and_known_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.engines.ray.classifier.FEW", 10)
    monkeypatch.setattr("sayso.engines.ray.classifier.BATCH", 16)
    folder = str(make_nli(tmp_path / "nli", ORDERS[1]))
    questions = [f"Where was {n} born?" for n in range(6)]
    groups = [[f"Town {n * k % 5}", f"In {k} {n}", "Nobody knows"] for n in range(6) for k in (3,)]
    triples = [(q, a, b) for q, g in zip(questions, groups, strict=True) for a in g for b in g]
    found = []
    for ray in (None, RaySettings(tmp_path, "", 2)):
        box = Toolbox(None, folder, tmp_path / str(bool(ray)), ray=ray)
        meaning = box.tools(engine=False, meaning=True).meaning
        assert meaning is not None
        table, clusters = meaning.table(triples), meaning.clusters(questions, groups)
        remembered = meaning._classifier  # type: ignore[attr-defined]
        asked = remembered.asked
        assert np.array_equal(meaning.table(triples), table)
        assert remembered.asked == asked > 10
        found.append((table, clusters, asked, remembered._classifier.pairs if not ray else asked))
        if ray:
            assert remembered._classifier._started
            assert remembered._classifier.classifier.pairs == asked  # counted as if read here
        box.close()
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-6)
    assert found[0][1:] == found[1][1:]
