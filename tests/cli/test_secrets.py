"""A password in an address: refused by every command, and in nothing that is printed or written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sayso
from sayso import cli
from sayso.addresses import has_secret, redact
from sayso.records import InputError
from sayso.storage.run_folder import Manifest, RunFolder
from sayso.train import fit

PASSWORD = "hunter2"
#: ways to write one address that contains it
SPELLINGS = (
    f"http://user:{PASSWORD}@127.0.0.1:9/v1#m",
    f"HTTPS://user:{PASSWORD}@127.0.0.1:9/v1#m",
    f"  http:// user:{PASSWORD}@127.0.0.1:9/v1",
    f"http://user:pass word{PASSWORD}@127.0.0.1:9/v1",
    f"http://user:{PASSWORD}%40127.0.0.1:9/v1",
    f"http%3A%2F%2Fuser%3A{PASSWORD}%2540127.0.0.1:9%2Fv1",
    rf"http:\\user:{PASSWORD}@127.0.0.1:9\v1",
    f"http:/user:{PASSWORD}@127.0.0.1:9/v1",
    f"user:{PASSWORD}@127.0.0.1:9/v1",
    f"//user:{PASSWORD}@localhost/v1",
    f"ht\ttp://user:{PASSWORD}\uff20localhost/v1",
    f"http://user:a/b{PASSWORD}@localhost/v1",
    f"http://127.0.0.1:9/v1?api_key={PASSWORD}#m",
    f"http://127.0.0.1:9/v1;KEY={PASSWORD}",
    f"http://127.0.0.1:9/v1#m;token={PASSWORD}",
    f"http://127.0.0.1:9/v1#m,http://user:{PASSWORD}@127.0.0.1:9/v1",
    f"http://{PASSWORD}@127.0.0.1:9/v1#m",
    f"http://user:'{PASSWORD}'@127.0.0.1:9/v1",
    f"hf://user:{PASSWORD}@127.0.0.1:9/v1",
)
#: every command, with an address in each kind of place
COMMANDS = (
    "run uncle --model {}", "run uncle --judge {}", "run uncle --model=builtin --judge=rules+{}",
    "run uncle --data {}", "run uncle --out {}", "run uncle --answers {}", "run uncle --name {}",
    "run uncle --set cache={}", "run uncle --known-from {}", "run uncle --prompt-folder {}",
    "run uncle --config {}", "run uncle --limit {}", "run uncle --{} x", "run uncle {}", "run {}",
    "run --model {}", "run faithfulness --model {}", "run selective --nli {}",
    "run self_known --knowledge {}", "run uncle --set ray_address={}",
    "run uncle --dry-run --model {}",
    "measure {}", "measure x --set probe.k={}", "report {}", "export x {}",
    "export {} x.csv", "compare {} x", "compare x {}", "score {}", "score x.jsonl --model {}",
    "score x.jsonl --out {}", "score x.jsonl --columns question={}", "factuality {}", "check {}",
    "check openai:m --set judge_price={}", "judge-check {}", "judge-check rules --labeled {}",
    "data {}", "data show {}", "build {}", "build x --endpoint {}", "build x --contact {}",
    "index {}", "index x --search {}", "train {}", "train x --model {}", "train x --out {}",
    "study {}", "study x.yaml --out {}", "{}", "--{}", "{} --help",
)  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a command writes, it writes into the test's own folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))


def check_nothing_tells(folder: Path, told: str, but: str = "") -> None:
    """Fail if the password is in a text, or in the name or content of a file other than ``but``."""
    places = [told, *(str(p.relative_to(folder)) for p in folder.rglob("*"))]
    places += [
        p.read_bytes().decode("latin-1") for p in folder.rglob("*") if p.is_file() and p.name != but
    ]
    assert not [text for text in places if PASSWORD in text]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_or_writes_a_password(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for spelling in SPELLINGS:
        argv = [word.format(spelling) for word in command.split(" ")]
        assert cli.execute(argv) == 2, argv
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1, err
        assert "give the plain address" in err, (spelling, err)
        check_nothing_tells(tmp_path, err)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("study grid.yaml", "models: [{}]\ndata: [builtin]\nprotocols: [uncle]\n"),
        ("study grid.yaml", "models: [builtin]\ndata: [{}]\nprotocols: [uncle]\n"),
        ("study grid.yaml", "models: [builtin]\njudge: {}\ndata: [builtin]\nprotocols: [uncle]\n"),
        ("study grid.yaml", "models: [builtin]\n{}: 1\n"),
        ("run uncle --config grid.yaml", "model: {}\n"),
        ("measure x --config grid.yaml", "{}: 1\n"),
        ("build x --domains grid.yaml", "{}: 1\n"),
    ],
)
def test_no_file_of_settings_has_a_password(
    command: str, settings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for spelling in SPELLINGS:
        text = settings.replace("{}", json.dumps(spelling))
        (tmp_path / "grid.yaml").write_text(text, encoding="utf-8")
        assert cli.execute(command.split()) == 2
        out, err = capsys.readouterr()
        assert "grid.yaml line " in err
        assert "give the plain address" in err
        check_nothing_tells(tmp_path, out + err, "grid.yaml")


def fit_it(model: str) -> object:
    return fit("nowhere", model=model)


@pytest.mark.parametrize(
    "use",
    [
        lambda name: sayso.run(model=name, limit=1, out="run"),
        lambda name: sayso.run(model=[name], limit=1, out="run"),
        lambda name: sayso.run(judge=name, limit=1, out="run"),
        lambda name: sayso.run(data=name, limit=1, out="run"),
        lambda name: sayso.study(
            {"models": [name], "data": ["builtin"], "protocols": ["uncle"], "out": "study"}
        ),
        lambda name: sayso.check(name),
        lambda name: sayso.judge_check(name),
        lambda name: sayso.score([{"question": "q", "answer": "a"}], model=name, ask=True),
        lambda name: sayso.open_model(name),
        lambda name: sayso.report.write(name),
        fit_it,
    ],
)
def test_no_function_tells_a_password(
    use: Callable[[str], object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for spelling in SPELLINGS:
        with pytest.raises(InputError) as error:
            use(spelling)
        check_nothing_tells(tmp_path, str(error.value) + "".join(capsys.readouterr()))


@pytest.mark.parametrize("model", ["openai:m", "@list.txt"])
def test_no_other_place_of_an_address_tells_a_password(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    for spelling in SPELLINGS:
        monkeypatch.setenv("OPENAI_BASE_URL", spelling)
        (tmp_path / "list.txt").write_text(spelling.replace("#", "%23"), encoding="utf-8")
        argv = ["run", "uncle", "--limit", "1", "--model", model, "--out", "run"]
        assert cli.execute(argv) == 2, spelling
        check_nothing_tells(tmp_path, "".join(capsys.readouterr()), "list.txt")


def test_a_proxy_s_password_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://user:{PASSWORD}@127.0.0.1:9")
    argv = ["run", "uncle", "--limit", "1", "--model", "http://203.0.113.1:9/v1#m", "--out", "run"]
    assert cli.execute([*argv, "--set", "patience=1"]) == 2
    check_nothing_tells(tmp_path, "".join(capsys.readouterr()))


def test_a_folder_of_an_earlier_version_tells_no_password(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run")
    address = f"http://user:{PASSWORD}@host/v1"
    text = json.dumps({"format": 2, "model": address, "command": f"sayso run --model {address}",
                       "notices": [address], "id": "1", "created": "now"})  # fmt: skip
    (folder.path / "manifest.json").write_text(text, encoding="utf-8")
    manifest = folder.read_manifest()
    assert manifest.model == "http://[hidden]@host/v1"
    assert PASSWORD not in repr(manifest)
    folder.write_manifest(manifest)
    check_nothing_tells(tmp_path, "")
    assert isinstance(manifest, Manifest)


@pytest.mark.parametrize(
    "plain",
    [
        "http://localhost:8000/v1#org/model@2024", "http://[::1]:8000/v1#m", "hf:org/name@main",
        "https://api.example.com/accounts/1/ai/v1#@cf/meta/llama-3", "openai:gpt-4o@2024-08-06",
        "hf:/models/a@b", "me@example.org", "mailto:me@example.org", r"C:\models\me@home",
        "rules@7", "http://127.0.0.1:99: nothing listens", "http(s)://host[:port]/v1", "12:30",
        "a:b@", "question=q;key=answer", "http://a:1/v1, http://b:2/v1", "J >= .2", "@e.txt#m",
    ],
)  # fmt: skip
def test_plain_texts_stay_as_they_are(plain: str) -> None:
    assert redact(plain) == plain
    assert not has_secret(plain)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_hidden_stays_hidden(spelling: str) -> None:
    assert has_secret(spelling)
    shown = str(InputError(f"model {spelling!r} is not a name; expected http://host/v1"))
    assert redact(shown) == shown
    assert shown.endswith("expected http://host/v1")


@pytest.mark.parametrize("word", ["http:", "http://a@", "?key=", "http:?", "?keykey", "http:x@"])
def test_a_long_word_of_many_addresses_takes_no_time(word: str) -> None:
    """Somebody else's run folder may hold it; a search to its end at each address took hours."""
    begun = time.process_time()
    assert len(redact(word * (200_000 // len(word)))) > 0
    assert time.process_time() - begun < 60


def test_every_address_of_a_long_word_is_looked_at() -> None:
    one = f"http://user:{PASSWORD}@h/v1?key={PASSWORD}#m,"
    assert PASSWORD not in redact(one * 500)


@pytest.mark.parametrize("name", ["openai:{}", "inspect:openai/{}", "http://127.0.0.1:9/v1#{}"])
@pytest.mark.parametrize("key", [f"sk-proj-{PASSWORD}-0123456789", f"{PASSWORD}-of-ours"])
def test_a_key_is_no_name_of_a_model(
    name: str,
    key: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{PASSWORD}-of-ours")
    with pytest.raises(SystemExit) as left:
        cli.main(["run", "uncle", "--model", name.format(key), "--dry-run"])
    told = "".join(capsys.readouterr())
    assert left.value.code == 2
    assert "contains a key" in told
    check_nothing_tells(tmp_path, told)
