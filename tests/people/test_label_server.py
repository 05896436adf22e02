"""The server of the page: who may ask, what it answers, and that nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sayso.people.choices import LabelChoices
from sayso.people.labeling import Labeling, open_labeling, open_store
from sayso.people.labels import LabelStore
from sayso.records import InputError
from sayso.storage.run_folder import LABELS
from support.label_pages import label_page
from support.label_runs import JUDGE, MODEL, answers_run
from support.tables import tabled

uvicorn = pytest.importorskip("uvicorn", reason="the extra label is not installed")
servers = pytest.importorskip("sayso.people.server", reason="the extra label is not installed")


class Client:
    """Asks a page as a browser does; headers can be changed."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def ask(
        self, name: str, body: object = None, path: str | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        own = f"{self.host}:{self.port}"
        raw = body is None or isinstance(body, bytes)
        data: Any = body if raw else json.dumps(body).encode()
        sent: dict[str, str | None] = {"Host": own}
        if data is not None:
            sent |= {
                "Content-Type": "application/json",
                "Origin": f"http://{own}",
                "Content-Length": str(len(data)),
            }
        sent |= {key.replace("_", "-"): value for key, value in headers.items()}
        connection.putrequest(
            "GET" if data is None else "POST", self.path + name if path is None else path,
            skip_host=True,
        )  # fmt: skip
        for key, value in sent.items():
            if value is not None:
                connection.putheader(key, value)
        connection.endheaders()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send(data or b"")
        with contextlib.closing(connection):
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read().decode()

    def work(self, annotator: str) -> dict[str, Any]:
        status, _, text = self.ask("api/work", {"annotator": annotator})
        assert status == 200, text
        return json.loads(text)  # type: ignore[no-any-return]

    def write(self, place: int, name: str, **more: object) -> tuple[int, dict[str, Any]]:
        body = {"annotator": "Ada", "place": place, "name": name, **more}
        status, _, text = self.ask("api/write", body)
        return status, json.loads(text)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return answers_run(tmp_path_factory.mktemp("label") / "run", 40)


@contextlib.contextmanager
def served(labeling: Labeling, annotator: str = "") -> Iterator[Client]:
    """Serve in this process."""
    server = servers.label_server(labeling, annotator, servers.listen(0))
    config = uvicorn.Config(server.app, log_level="error", lifespan="off")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [server.socket]})
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield Client(server.address)
    finally:
        running.should_exit = True
        thread.join()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    path = answers_run(tmp_path / "run", 40)
    with open_store(path) as store:
        choices = LabelChoices(kind="answer", n=10)
        with served(open_labeling(path, store, choices)) as asking:
            yield asking


# ---- who may ask


def test_the_page_and_its_files_come_with_strict_headers(client: Client) -> None:
    for name in ("", "label.css", "label.js", "report.css", "api/start"):
        status, headers, text = client.ask(name)
        assert status == 200, name
        assert len(text) > 100
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_it_listens_on_this_machine_alone(run: Path) -> None:
    with open_store(run) as store:
        server = servers.label_server(
            open_labeling(run, store, LabelChoices(n=3)), "", servers.listen(0)
        )
    with contextlib.closing(server.socket):
        assert server.socket.family == socket.AF_INET
        assert server.socket.getsockname()[0] == "127.0.0.1"


@tabled
def test_another_host_is_refused(client: Client, host: str) -> None:
    """A page elsewhere whose name suddenly means 127.0.0.1 still names itself."""
    for name, body in (("", None), ("api/start", None), ("api/work", {"annotator": "Ada"})):
        status, _, text = client.ask(name, body, Host=host.format(port=client.port))
        assert status in (400, 403), name
        assert "person" not in text


def test_localhost_is_this_host_too(client: Client) -> None:
    assert client.ask("", Host=f"localhost:{client.port}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/x/", "/x/api/start", "//", "/api/start", "/%00/", "/ü/"])
def test_another_token_is_refused(client: Client, path: str) -> None:
    path = path.replace("ü", "%C3%BC")
    assert client.ask("", path=path)[0] == 403
    assert client.ask("", {"annotator": "Ada"}, path=path)[0] == 403


def test_every_start_has_another_token(run: Path) -> None:
    with open_store(run) as store:
        labeling = open_labeling(run, store, LabelChoices(n=3))
        addresses = set()
        for _ in range(3):
            server = servers.label_server(labeling, "", servers.listen(0))
            server.socket.close()
            addresses.add(urlsplit(server.address).path)
    assert len(addresses) == 3
    assert all(len(path) == 34 for path in addresses)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Length": "99999999"},
    ],
    ids=str,
)
def test_only_the_page_itself_may_write(client: Client, headers: dict[str, str | None]) -> None:
    place = client.work("Ada")["items"][0]["place"]
    body = {"annotator": "Ada", "place": place, "name": "x", "said": {"stance": "abstained"}}
    given = {key.replace("-", "_"): value for key, value in headers.items()}
    assert client.ask("api/write", body, **given)[0] in (403, 415)
    assert client.work("Ada")["said"] == []
    assert client.ask("api/write", body)[0] == 200


@pytest.mark.parametrize("length", [None, "0", "10"])
def test_a_body_in_chunks_is_refused_and_not_lost(client: Client, length: str | None) -> None:
    """Its length is known only at its end; a Content-Length beside it may say anything."""
    place = client.work("Ada")["items"][0]["place"]
    body = {"annotator": "Ada", "place": place, "name": "x", "said": {"stance": "abstained"}}
    data = json.dumps(body).encode()
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
    sent = {"Content_Length": length, "Transfer_Encoding": "chunked"}
    status, _, text = client.ask("api/write", chunks, **sent)
    told = "expected a body with a Content-Length, and no Transfer-Encoding"
    assert (status, text) == (411, told)
    assert client.ask("api/write", body, Content_Length=None)[0] == 411
    assert client.work("Ada")["said"] == []


def test_another_page_can_embed_nothing(client: Client) -> None:
    embedded = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
    assert client.ask("api/start", **embedded)[0] == 403
    opened = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert client.ask("", **opened)[0] == 200  # a click on the address in a chat


# ---- what it answers


def test_the_browser_learns_neither_judge_nor_model(client: Client) -> None:
    told = client.ask("api/start")[2] + json.dumps(client.work("Ada"))
    for secret in (JUDGE, MODEL, "known", "certainty", "stratum", "probability"):
        assert secret not in told


def test_markup_of_a_run_travels_as_text(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    path = answers_run(tmp_path / "run", 8, hostile=hostile)
    with (
        open_store(path) as store,
        served(open_labeling(path, store, LabelChoices(n=3))) as asking,
    ):
        assert hostile in asking.work("Ada")["items"][0]["shown"]["question"]
        headers = asking.ask("api/start")[1]
        assert headers["content-type"].startswith("application/json")
        assert hostile not in asking.ask("")[2]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"annotator": "Ada"},
        {"annotator": "Ada", "place": "0", "name": "x"},
        {"annotator": "Ada", "place": 999, "name": "x", "said": {"stance": "hedged"}},
        {"annotator": "Ada", "place": -1, "name": "x", "said": {"stance": "hedged"}},
        {"annotator": "Ada", "place": 0, "name": "", "said": {"stance": "abstained"}},
        {"annotator": "Ada", "place": 0, "name": "x" * 99, "said": {"stance": "abstained"}},
        {"annotator": "Ada", "place": 0, "name": "x", "said": {"stance": "maybe"}},
        {"annotator": "Ada", "place": 0, "name": "x", "said": {}},
        {"annotator": "Ada", "place": 0, "name": "x"},
        {"annotator": "a:b", "place": 0, "name": "x", "said": {"stance": "abstained"}},
        {"annotator": "Ada", "place": 0, "name": "x", "said": {"stance": ["abstained"]}},
        {"annotator": "Ada", "place": 0, "name": "x", "judge": "me"},
        {"annotator": "Ada", "place": 1e300, "name": "x"},
        {"annotator": "\ud800", "place": 0, "name": "x", "undo": True},
        b"\xff\xfe",
        b'{"annotator": "\xff"}',
        b"[" * 16_000,
    ],
    ids=lambda body: repr(body)[:60],
)
def test_a_wrong_write_is_one_line_and_stores_nothing(client: Client, body: object) -> None:
    client.work("Ada")
    status, _, text = client.ask("api/write", body)
    assert status == 400
    assert json.loads(text)["error"]
    assert "Traceback" not in text
    assert client.work("Ada")["said"] == []


def test_a_page_for_one_person_labels_for_nobody_else(run: Path) -> None:
    with (
        open_store(run) as store,
        served(open_labeling(run, store, LabelChoices(n=3)), "Ada") as asking,
    ):
        asking.work("Ada")
        status, _, text = asking.ask("api/work", {"annotator": "Bo"})
        assert status == 409
        assert "this page is for Ada" in text
        write = {"annotator": "Bo", "place": 0, "name": "x", "said": {"stance": "abstained"}}
        status, _, text = asking.ask("api/write", write)
        assert status == 409  # for the page to keep: another server will take it
        assert "this page is for Ada" in text
        assert store.labels() == []
        assert json.loads(asking.ask("api/start")[2])["annotators"] == []


# ---- nothing is lost or doubled


def test_a_write_that_is_sent_twice_counts_once(client: Client) -> None:
    place = client.work("Ada")["items"][3]["place"]
    said = {"stance": "committed", "content": "correct"}
    assert client.write(place, "a", said=said) == (200, {"stored": True, "new": True})
    assert client.write(place, "a", said=said) == (200, {"stored": True, "new": False})
    assert client.write(place, "b", on="a", undo=True)[1]["new"]
    assert not client.write(place, "b", on="a", undo=True)[1]["new"]
    # the first write comes once more, late: what was taken back stays so
    assert not client.write(place, "a", said=said)[1]["new"]
    assert client.work("Ada")["said"] == []


def test_a_store_that_cannot_be_used_now_is_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.people.labels.WAIT", 0.1)
    path = answers_run(tmp_path / "run", 40)
    choices = LabelChoices(kind="answer", n=10)
    with open_store(path) as store, served(open_labeling(path, store, choices)) as asking:
        places = [one["place"] for one in asking.work("Ada")["items"]]
        said = {"stance": "abstained"}
        with contextlib.closing(sqlite3.connect(path / LABELS)) as other:
            other.execute("BEGIN EXCLUSIVE")
            status, told = asking.write(places[0], "a", said=said)
            assert (status, "stayed locked" in told["error"]) == (503, True)
            assert asking.ask("api/work", {"annotator": "Ada"})[0] == 503
            status, _, text = asking.ask("api/start")
            assert (status, "stayed locked" in text) == (503, True)
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count={pages}")  # a full disk
        answers, on = [], ""
        for turn in range(40):
            said_now = {"skipped": "x" * 200}
            answers.append(asking.write(places[0], f"{turn:079}", said=said_now, on=on))
            on = f"{turn:079}" if answers[-1][0] == 200 else on
        full = [told["error"] for status, told in answers if status == 503]
        assert {status for status, _ in answers} == {200, 503}
        assert all("full" in one for one in full)
        store._db.execute(f"PRAGMA max_page_count={pages + 100}")
        assert asking.write(places[0], "a", said=said, on=on) == (
            200,
            {"stored": True, "new": True},
        )


@pytest.mark.parametrize("lost", ["deleted", "replaced", "folder"])
def test_nothing_is_stored_in_a_file_that_lies_nowhere(tmp_path: Path, lost: str) -> None:
    path = answers_run(tmp_path / "run", 40)
    choices, said = LabelChoices(kind="answer", n=10), {"stance": "abstained"}
    with open_store(path) as store, served(open_labeling(path, store, choices)) as asking:
        places = [one["place"] for one in asking.work("Ada")["items"]]
        assert asking.write(places[0], "a", said=said)[0] == 200
        if lost == "folder":
            path.rename(tmp_path / "before")
            answers_run(path, 40)
        else:
            (path / LABELS).unlink()
            if lost == "replaced":
                LabelStore.open(path).close()
        for write in ({"said": said}, {"said": said}, {"undo": True, "on": "a"}):
            status, told = asking.write(places[1], "b", **write)
            assert (status, "deleted or replaced" in told["error"]) == (503, True)
    with open_store(path) as store, served(open_labeling(path, store, choices)) as asking:
        assert asking.work("Ada")["items"][1]["place"] == places[1]
        assert asking.write(places[1], "b", said=said) == (200, {"stored": True, "new": True})


def test_who_types_a_name_in_another_way_is_the_same_person(client: Client) -> None:
    place = client.work("Zoë Ada")["items"][0]["place"]
    for name in ("zoë ADA", "Zoe\u0308 Ada", "Zoë \u0410da", "\uff3aoë Ada"):
        assert client.work(name)["annotator"] == "Zoë Ada"
        write = {"annotator": name, "place": place, "name": name, "said": {"stance": "hedged"}}
        client.ask("api/write", write)
    assert json.loads(client.ask("api/start")[2])["annotators"] == ["Zoë Ada"]
    assert client.work("Zoë Bo")["annotator"] == "Zoë Bo"


def test_a_client_that_leaves_is_nothing_to_tell(
    client: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    head = f"POST {client.path}api/write HTTP/1.1\r\nHost: {client.host}:{client.port}\r\n"
    head += f"Origin: http://{client.host}:{client.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((client.host, client.port)) as leaving:
        leaving.sendall(f"{head}Content-Length: 99\r\n\r\n{{".encode())
        time.sleep(0.3)
    time.sleep(0.3)
    assert client.work("Ada")["said"] == []
    assert "Traceback" not in "".join(capfd.readouterr()) + caplog.text


def test_nothing_replaces_a_label_that_the_page_has_not_seen(client: Client) -> None:
    place = client.work("Ada")["items"][3]["place"]
    hedged, refused = {"stance": "hedged"}, {"stance": "refused_by_policy"}
    assert client.write(place, "a", said=hedged)[0] == 200
    # another tab, which saw no label
    status, told = client.write(place, "b", said=refused)
    assert (status, told["changed"]) == (409, True)
    assert "labeled elsewhere" in told["error"]
    # one that saw it changes it, and then the first can neither change it nor take it back
    (seen,) = client.work("Ada")["said"]
    assert (seen["name"], seen["said"]) == ("a", hedged)
    assert client.write(place, "c", said=refused, on=seen["name"])[0] == 200
    for write in ({"undo": True}, {"said": hedged}):
        status, told = client.write(place, "d", on="a", **write)
        assert (status, told["changed"]) == (409, True)
    (now,) = client.work("Ada")["said"]
    assert (now["name"], now["said"]["stance"]) == ("c", "refused_by_policy")
    # what is kept and sent again, late, is what it was
    assert client.write(place, "a", said=hedged) == (200, {"stored": True, "new": False})
    assert client.write(place, "e", undo=True, on="c")[0] == 200
    assert client.write(place, "f", undo=True, on="c")[0] == 409
    assert client.write(place, "b", said=hedged)[1]["new"]  # refused before: it was not stored


def test_two_tabs_and_two_people_at_once(client: Client) -> None:
    places = {name: client.work(name)["items"] for name in ("Ada", "Bo")}
    failed: list[object] = []
    stored: list[tuple[str, int]] = []

    def label(name: str, tab: int) -> None:
        for one in places[name]:
            body = {
                "annotator": name, "place": one["place"], "name": f"{name}{tab}{one['place']}",
                "said": {"stance": "abstained"}, "seconds": 2.5,
            }  # fmt: skip
            status = client.ask("api/write", body)[0]
            if status == 200:
                stored.append((name, one["place"]))
            elif status != 409:
                failed.append(body)

    threads = [
        threading.Thread(target=label, args=(name, tab)) for name in places for tab in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(stored) == sorted((n, one["place"]) for n in places for one in places[n])
    for name in places:
        assert len(client.work(name)["said"]) == 10
    assert {one["place"] for one in places["Ada"]}.isdisjoint(one["place"] for one in places["Bo"])


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_it_confirmed(tmp_path: Path) -> None:
    path = answers_run(tmp_path / "run", 40)
    flags = ("--annotator", "Ada", "--n", "12", "--kind", "answer", "--port", "0")
    confirmed = []
    for turn in range(3):
        with label_page(path, *flags) as page:
            asking = Client(page.address)
            work = asking.work("Ada")
            assert [one["place"] for one in work["said"]] == confirmed
            for one in work["items"][4 * turn : 4 * turn + 4]:
                said = {"stance": "hedged", "content": "incorrect"}
                assert asking.write(one["place"], f"w{one['place']}", said=said)[0] == 200
                confirmed.append(one["place"])
            page.kill()
    with LabelStore.open(path) as store:
        assert len(store.labels()) == 12
    with label_page(path, *flags) as page:
        code, last = page.end()
    assert code == 0
    assert last == "sayso: short answers: Ada: 12 of 12 labeled\n"


def test_a_port_that_is_taken_is_one_line() -> None:
    with contextlib.closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"--port {port}: cannot listen there"):
            servers.listen(port)
        with pytest.raises(InputError, match="--port 99999999"):
            servers.listen(99999999)
