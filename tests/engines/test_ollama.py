"""``ollama:NAME`` against a stand-in for Ollama's server and its store."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from bad_server import BadServer
from fake_ollama import NEW, OLD, FakeOllama, store

from sayso import cli
from sayso.addresses import has_secret, redact
from sayso.checks.model import check
from sayso.engines import check_model_name, open_model
from sayso.engines.ollama import full_name, server_address, serves_here, stored_weights
from sayso.engines.openai.engine import OllamaEngine
from sayso.engines.prices import LOCAL, price_of
from sayso.records import InputError, ask
from sayso.runs.costs import is_endpoint, is_local, known_price, open_priced
from support.tables import tabled

GGUF = b"GGUF\x03\x00\x00\x00" + b"\x00" * 32


@pytest.fixture(autouse=True)
def no_ollama_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "none"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with FakeOllama() as running:
        monkeypatch.setenv("OLLAMA_HOST", running.host)
        yield running


def opened(name: str, **options: Any) -> OllamaEngine:
    engine = open_model(name, **options)
    assert isinstance(engine, OllamaEngine)
    engine.close()
    return engine


# ---- the address


@tabled
def test_the_address_is_read_as_ollama_reads_it(
    monkeypatch: pytest.MonkeyPatch, said: str, address: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    assert server_address() == address


@pytest.mark.parametrize(
    "said",
    ["box:port", "box:0", "box:70000", "ftp://box", "a b", "[]", "[x]:80:", "box:80:80", "box?x"],
)
def test_a_wrong_address_is_one_line_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    with pytest.raises(InputError, match="OLLAMA_HOST") as caught:
        open_model("ollama:qwen2.5")
    assert "\n" not in str(caught.value)


def test_a_login_in_the_address_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://me:hunter22@box.lan")
    with pytest.raises(InputError, match="OLLAMA_HOST") as caught:
        open_model("ollama:qwen2.5")
    assert "hunter22" not in str(caught.value)


# ---- names


def test_names_are_those_of_ollama() -> None:
    assert full_name("qwen2.5") == "qwen2.5:latest"
    assert full_name("qwen2.5:0.5b") == "qwen2.5:0.5b"
    assert full_name("hf.co/bartowski/Llama-3.2-GGUF:Q4_K_M") == (
        "hf.co/bartowski/Llama-3.2-GGUF:Q4_K_M"
    )
    wrong = (
        "", ":", "a:", "../x", "a/../b", "/etc/passwd", "a/b/c/d", "a b", "a#b", "a:b:c", "a\n",
        "ü", "a..b", "-a", "x" * 200,
    )  # fmt: skip
    for name in wrong:
        assert full_name(name) == "", name
    with pytest.raises(InputError, match="is not called as Ollama calls models: expected ollama:"):
        open_model("ollama:../../etc/passwd")
    for name in ("ollama:qwen2.5:0.5b", "ollama:hf.co/a/b:Q4"):
        check_model_name(name)
        assert is_endpoint(name)
        assert not is_local(name)
        assert not has_secret(name)
        assert redact(f"api:{name}@{OLD}") == f"api:{name}@{OLD}"
    with pytest.raises(InputError, match="is not a name sayso can open"):
        check_model_name("ollama:")


def test_only_a_model_that_runs_on_this_machine_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert price_of("ollama:qwen2.5:0.5b") == LOCAL
    assert price_of("ollama:gpt-oss:120b-cloud") is None
    assert price_of("ollama:glm-4.6:cloud") is None
    given = price_of("ollama:glm-4.6:cloud", "1,2")
    assert given is not None
    assert given.output == 2
    for host, here in (("box.lan", False), ("192.168.1.5", False), ("localhost", True),
                       ("127.0.0.2:80", True), ("0.0.0.0", True), ("[::1]", True)):  # fmt: skip
        monkeypatch.setenv("OLLAMA_HOST", host)
        assert serves_here() is here, host
        assert price_of("ollama:qwen2.5:0.5b") == (LOCAL if here else None)


def test_another_name_of_a_cloud_model_is_not_taken_for_free(server: FakeOllama) -> None:
    passed_on = {"name": "mine:latest", "digest": OLD, "remote_host": "https://ollama.com:443"}
    here = {"name": "qwen2.5:0.5b", "digest": NEW, "remote_host": ""}
    server.listed = {"models": [passed_on, here]}
    for name, price in (("ollama:mine", None), ("ollama:qwen2.5:0.5b", LOCAL)):
        engine, known = open_priced(name)
        engine.close()
        assert known == price
        assert known_price(engine) == price
    with pytest.raises(InputError, match="cannot be enforced: the price of 'ollama:mine' is"):
        open_priced("ollama:mine", max_cost=1.0)
    engine, known = open_priced("ollama:mine", max_cost=1.0, price="1,2")
    engine.close()
    assert known is not None
    assert known.output == 2


# ---- opening, identity


def test_it_is_the_endpoint_engine_under_the_models_digest(server: FakeOllama) -> None:
    engine = open_model("ollama:qwen2.5:0.5b")
    assert isinstance(engine, OllamaEngine)
    assert engine.name == "ollama:qwen2.5:0.5b"
    assert engine.identity == engine.base == f"api:ollama:qwen2.5:0.5b@{OLD[:12]}"
    assert engine.signature == f"ollama:qwen2.5:0.5b@{OLD[:7]}"
    assert engine.address == f"http://{server.host}/v1"
    assert engine.price == LOCAL
    requests = [ask("Who?", sample=n, max_tokens=4) for n in range(3)]
    replies = dict(engine.complete(requests))
    again = ask("Who?", temperature=0.0, max_tokens=4)
    ((_, greedy),) = engine.complete([again])
    engine.close()
    assert len({reply.text for reply in replies.values()}) == 3
    assert all(body["model"] == "qwen2.5:0.5b" for body in server.bodies)
    assert all(reply.logprobs for reply in replies.values())
    # what it ignores is not sent, and every reply and a notice say so
    assert not {"n", "top_k", "min_p", "repetition_penalty"} & server.bodies[0].keys()
    for reply in (*replies.values(), greedy):
        assert "top_k: not sent" in reply.overrides
        assert "repetition_penalty: not sent" in reply.overrides
    (said,) = [notice for notice in engine.notices if "top_k" in notice]
    assert "Ollama ignores it" in said
    assert len(server.bodies) == 4


def test_a_tag_that_moves_is_another_model(server: FakeOllama) -> None:
    before = opened("ollama:llama3")
    assert before.identity == f"api:ollama:llama3:latest@{NEW[:12]}"
    assert opened("ollama:LLAMA3:latest").identity == before.identity
    server.tags["llama3:latest"] = OLD
    after = opened("ollama:llama3")
    assert after.identity != before.identity
    assert after.signature != before.signature


@pytest.mark.parametrize("digest", [None, 7, "", "not-hex", "../../x", "1" * 100])
def test_without_a_digest_the_name_is_all_there_is(server: FakeOllama, digest: Any) -> None:
    server.listed = {"models": [{"name": "qwen2.5:0.5b", "digest": digest}]}
    engine = opened("ollama:qwen2.5:0.5b")
    assert engine.identity == "api:ollama:qwen2.5:0.5b"
    assert engine.signature == "ollama:qwen2.5:0.5b"
    named = opened("ollama:qwen2.5:0.5b", model_version="july")
    assert named.identity == "api:ollama:qwen2.5:0.5b@july"


def test_a_long_name_makes_no_long_signature(server: FakeOllama) -> None:
    name = f"hf.co/somebody/{'Long-' * 20}GGUF:Q4_K_M"
    server.tags[name] = NEW
    engine = opened(f"ollama:{name}")
    assert len(engine.signature) < 60
    assert engine.identity == f"api:ollama:{name}@{NEW[:12]}"


# ---- no server, no model


def test_no_server_is_one_line_that_says_how_to_start_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert cli.execute(["check", "ollama:qwen2.5:0.5b"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no Ollama server answers at http://127.0.0.1:9 (" in said
    assert "start it with `ollama serve`" in said
    assert "gguf:" not in said
    place = tmp_path / "the store"
    monkeypatch.setenv("OLLAMA_MODELS", str(place))
    blob = store(place, GGUF)
    for command in (
        ["check", "ollama:qwen2.5:0.5b"],
        ["run", "uncle", "--model", "ollama:qwen2.5:0.5b", "--limit", "1"],
        ["run", "uncle", "--model", "ollama:qwen2.5:0.5b", "--limit", "1", "--dry-run"],
        ["run", "uncle", "--judge", "rules+ollama:qwen2.5:0.5b", "--limit", "1"],
    ):
        out = ["--out", str(tmp_path / "run")] if "run" in command else []
        assert cli.execute([*command, *out]) == 2
        (line,) = [li for li in capsys.readouterr().err.splitlines() if "no Ollama server" in li]
        assert "`ollama serve`" in line
        assert f"'gguf:{blob}'" in line  # quoted: the path has a blank


def test_a_server_elsewhere_is_started_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    store(tmp_path, GGUF)
    monkeypatch.setenv("OLLAMA_HOST", "http://no-such-box.invalid:1")
    with pytest.raises(InputError, match="start it there with `ollama serve`") as caught:
        open_model("ollama:qwen2.5:0.5b")
    assert "gguf:" not in str(caught.value)  # its model may be another one


def test_a_model_that_is_not_there_is_one_line_with_those_that_are(
    server: FakeOllama, capsys: pytest.CaptureFixture[str]
) -> None:
    server.tags |= {f"other{n}:latest": NEW for n in range(9)}
    assert cli.execute(["check", "ollama:qwen2.5"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "does not have 'qwen2.5:latest'; it has qwen2.5:0.5b, " in said  # likeliest first
    assert "and 5 more" in said
    assert "`ollama pull qwen2.5`" in said
    server.listed = {"models": []}
    with pytest.raises(InputError, match=r"it has no model: run `ollama pull qwen2\.5`"):
        open_model("ollama:qwen2.5")
    assert not server.bodies  # it was asked for nothing


@pytest.mark.parametrize(
    "listed", [[], 7, None, {"models": 7}, {"models": [7]}, {"models": {}, "x": "\u001b[2J"}, {}]
)
def test_a_list_that_is_none_is_one_line(server: FakeOllama, listed: Any) -> None:
    server.listed = listed if listed is not None else {"models": None}
    with pytest.raises(InputError, match=r"ollama pull|is not Ollama's") as caught:
        open_model("ollama:qwen2.5:0.5b")
    assert "\n" not in str(caught.value)


def test_names_that_a_server_makes_up_reach_no_terminal(server: FakeOllama) -> None:
    bad = ["\u001b[2Jx", "a\nb", "../../x", 7, None, {"a": 1}]
    server.listed = {"models": [{"name": name, "digest": OLD} for name in bad]}
    with pytest.raises(InputError, match="it has no model: run"):
        open_model("ollama:qwen2.5:0.5b")


def test_another_server_at_the_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer() as other:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{other.port}")
        with pytest.raises(InputError, match=r"is not Ollama's: .*/v1#NAME"):
            open_model("ollama:qwen2.5:0.5b")
        monkeypatch.setattr(other, "key", "wanted-by-it")
        with pytest.raises(InputError, match="wants a key; set SAYSO_API_KEY_127_0_0_1"):
            open_model("ollama:qwen2.5:0.5b")


def test_batch_files_are_refused(server: FakeOllama, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Ollama takes no batch files; leave batch_files out"):
        open_model("ollama:qwen2.5:0.5b", batches=str(tmp_path))


# ---- what it can do


def test_check_says_whether_there_are_log_probabilities_and_what_to_do(
    server: FakeOllama, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = check("ollama:qwen2.5:0.5b").get("log-probs")
    assert found.answer == "yes"
    assert "gguf:FILE runs such weights here, with exact log-probs" in found.follows
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    blob = store(tmp_path, GGUF)
    server.logprobs = False  # as before version 0.12.11
    result = check("ollama:qwen2.5:0.5b")
    found = result.get("log-probs")
    assert found.answer == "no"
    assert found.follows == f"gguf:{blob} runs its weights here, with exact log-probs"
    assert result.get("takes sampling settings").answer == "no"
    assert result.identity == f"api:ollama:qwen2.5:0.5b@{OLD[:12]}"
    assert result.dollars == 0


def test_a_run_takes_its_answers_from_the_cache_until_the_tag_moves(
    server: FakeOllama, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "run", "uncle", "--model", "ollama:qwen2.5:0.5b", "--data", "builtin", "--limit", "1",
        "--set", "short_only=true", "--set", f"cache={tmp_path / 'cache'}",
    ]  # fmt: skip

    def asked(out: str) -> int:
        before = len(server.bodies)
        assert cli.execute([*command, "--out", str(tmp_path / out)]) == 0
        return len(server.bodies) - before

    first = asked("one")
    assert first > 5
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert manifest["model"] == "ollama:qwen2.5:0.5b"
    assert manifest["model_identity"] == f"api:ollama:qwen2.5:0.5b@{OLD[:12]}"
    assert asked("two") <= 3  # is it still the same model?
    server.tags["qwen2.5:0.5b"] = NEW
    assert asked("three") == first
    capsys.readouterr()


# ---- the store


def test_the_store_names_the_file_of_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    blob = store(tmp_path, GGUF)
    assert stored_weights("qwen2.5:0.5b") == blob
    assert stored_weights("qwen2.5") is None
    latest = store(tmp_path, GGUF + b"1", "library/qwen2.5/latest")
    assert stored_weights("qwen2.5") == latest
    theirs = store(tmp_path, GGUF + b"2", "somebody/tiny/latest")
    assert stored_weights("somebody/tiny") == theirs
    monkeypatch.delenv("OLLAMA_MODELS")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert stored_weights("qwen2.5:0.5b") is None
    at_home = store(tmp_path / ".ollama" / "models", GGUF)
    assert stored_weights("qwen2.5:0.5b") == at_home


def _manifest(place: Path) -> Path:
    return place / "manifests" / "registry.ollama.ai" / "library" / "qwen2.5" / "0.5b"


@pytest.mark.parametrize(
    "garbage",
    [
        b"", b"{", b"[]", b"7", b"\xff\xfe", b'{"layers": 7}', b'{"layers": [7]}',
        b'{"layers": [{"mediaType": 1, "digest": 2}]}', b"[" * 100_000, b" " * 2_000_000,
    ],
)  # fmt: skip
def test_a_manifest_of_garbage_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, garbage: bytes
) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    store(tmp_path, GGUF)
    _manifest(tmp_path).write_bytes(garbage)
    assert stored_weights("qwen2.5:0.5b") is None


def test_no_path_leads_out_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, outside = tmp_path / "store", tmp_path / "outside.gguf"
    outside.write_bytes(GGUF)
    monkeypatch.setenv("OLLAMA_MODELS", str(place))
    blob = store(place, GGUF)
    good = _manifest(place).read_text()
    digest = blob.name.removeprefix("sha256-")
    for wrong in ("../../outside.gguf", f"sha256:../{digest}", str(outside), "sha256:", digest):
        _manifest(place).write_text(good.replace(f"sha256:{digest}", wrong))
        assert stored_weights("qwen2.5:0.5b") is None, wrong
    _manifest(place).write_text(good)
    assert stored_weights("qwen2.5:0.5b") == blob
    blob.unlink()
    blob.symlink_to(outside)
    assert stored_weights("qwen2.5:0.5b") is None
    blob.unlink()
    os.mkfifo(blob)  # would wait for ever
    assert stored_weights("qwen2.5:0.5b") is None
    blob.unlink()
    blob.write_bytes(b"no weights")
    assert stored_weights("qwen2.5:0.5b") is None
    blob.write_bytes(GGUF)
    manifest = tmp_path / "manifest"
    manifest.write_text(good)
    _manifest(place).unlink()
    _manifest(place).symlink_to(manifest)
    assert stored_weights("qwen2.5:0.5b") is None


def test_weights_with_an_adapter_are_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    store(tmp_path, GGUF)
    manifest = json.loads(_manifest(tmp_path).read_text())
    layer = {"mediaType": "application/vnd.ollama.image.adapter", "digest": f"sha256:{'3' * 64}"}
    manifest["layers"].append(layer)
    _manifest(tmp_path).write_text(json.dumps(manifest))
    assert stored_weights("qwen2.5:0.5b") is None


def test_a_store_that_is_a_link_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(tmp_path / "disk", GGUF)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("OLLAMA_MODELS", f'"{tmp_path / "link"}"')
    assert stored_weights("qwen2.5:0.5b") is not None
