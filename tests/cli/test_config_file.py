"""--config FILE: whatever stands in it is settings, or one line and exit code 2, at once."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import InputError
from sayso.storage.run_folder import RunFolder
from sayso.storage.yaml_file import LARGEST, read_yaml
from support.effort import seconds

LAUGHS = "\n".join(
    ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
)


def refused(capsys: pytest.CaptureFixture[str], argv: list[str]) -> str:
    """Run a command that must be refused at once; return its one line."""
    assert cli.execute(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert len(err) < 300 + len(" ".join(argv))
    assert "Traceback" not in err
    return err


HOSTILE = {
    "nested brackets": (b"limit: 1\nprobe: " + b"[" * 5000 + b"]" * 5000, 2, "nested too deeply"),
    "nested braces": (b"{a: " * 5000 + b"1" + b"}" * 5000, 1, "nested too deeply"),
    "brackets a line each": (b"[\n" * 5000, 12, "nested too deeply"),
    "nested lists": (b"a:\n" + b"- " * 5000 + b"1", 2, "nested too deeply"),
    "nested keys": (b"? " * 5000 + b"1", 1, "nested too deeply"),
    "nested blocks": (
        b"\n".join(b" " * n + b"a:" for n in range(100)),
        11,
        "nested too deeply",
    ),
    "an endless number": (b"limit: " + b"9" * 5000, 1, "no number of 5,000 characters"),
    "an endless hex number": (b"model: builtin\nseed: 0x" + b"f" * 5000, 2, "no number of 5,002"),
    "an endless time": (b"seed: 1" + b":59" * 2000, 1, "no number of 6,001"),
    "an endless fraction": (b"max-cost: 1" + b":59" * 2000 + b".5", 1, "no number of 6,003"),
    "an octal number": (b"model: x\nseed: 010", 2, "'010' is no number"),
    "a number with a zero before it": (b"seed: 08", 1, "'08' is no number"),
    "a number in base 60": (b"timeout: 1:30", 1, "'1:30' is no number"),
    "a fraction in base 60": (b"timeout: 1:30.5", 1, "'1:30.5' is no number"),
    "a number in base 2": (b"seed: 0b11", 1, "'0b11' is no number"),
    "a number with a rule": (b"limit: 1_000", 1, "'1_000' is no number"),
    "a tagged number in base 60": (b"limit: !!int 1:30", 1, "'1:30' is no number"),
    "an impossible date": (b"seed: 3\nas-of: !!timestamp 2024-13-45\n", 2, ":timestamp"),
    "an impossible time": (b"as-of: !!timestamp 2024-01-01T99:00:00\n", 1, ":timestamp"),
    "bad binary": (b"model: !!binary abc", 1, ":binary"),
    "good binary": (b"limit: !!binary aGVsbG8=", 1, ":binary"),
    "a Python object": (b"model: !!python/object/apply:os.system [ls]", 1, ":python"),
    "a set": (b"\ndomain: !!set {a, b}", 2, ":set"),
    "a tag of one's own": (b"model: !mine x", 1, "!mine"),
    "text tagged as a number": (b"seed: !!int many", 1, "'many'"),
    "empty text tagged as a number": (b"seed: !!float ''", 1, "''"),
    "text tagged as a mapping": (b"probe: !!map x", 1, "expected a mapping node"),
    "a list tagged as text": (b"model: !!str [x]", 1, "expected a scalar node"),
    "aliases that multiply": (LAUGHS.encode(), 1, "&a0"),
    "an alias of itself": (b"probe: &p {k: *p}", 1, "&p"),
    "an alias of nothing": (b"limit: 1\nseed: *s", 2, "*s"),
    "an anchored key": (b"&k limit: 1", 1, "&k"),
    "a tab": (b"probe:\n\tk: 3\n", 2, "tab"),
    "a key twice": (b"limit: 1\nseed: 2\nlimit: 3\n", 3, "'limit' appears twice (first in"),
    "a key twice within": (b"probe: {k: 1, k: 2}", 1, "'k' appears twice"),
    "a list": (b"\n- limit: 1\n", 2, "expected a mapping"),
    "a word": (b"limit", 1, "expected a mapping"),
    "nothing": (b"", None, "expected a mapping"),
    "a comment": (b"# limit: 1\n", None, "expected a mapping"),
    "two documents": (b"limit: 1\n---\nseed: 2\n", 2, "another document"),
    "not UTF-8": (b"seed: 1\nmodel: caf\xe9\n", 2, "UTF-8"),
    "UTF-16": ("limit: 1".encode("utf-16"), 1, "UTF-8"),
    "NUL bytes": (b"limit: 1\nmodel: a\0b", 2, "#x0000"),
    "an escaped NUL": (b'cache: "a\\0b"', 1, "NUL"),
    "an escaped NUL in a key": (b'"a\\0b": 1', 1, "NUL"),
    "half a character": (b'out: "\\ud800"', 1, "character"),
    "no character": (b'seed: 1\nout: "\\Uffffffff"', 2, "is not YAML"),
    "a directive without end": (b"%YAML 1." + b"1" * 5000 + b"\n---\nlimit: 1", 1, "is not YAML"),
    "a number as key": (b"1: 2", 1, "the key 1 is not"),
    "a truth as key": (b"limit: 1\ntrue: 2", 2, "the key true is not"),
    "an unclosed bracket": (b"domain: [", 1, "is not YAML"),
    "a stray quote": (b'limit: 1\nmodel: "x\nseed: 2', 3, "is not YAML"),
    "too much": (b"# " + b"x" * LARGEST + b"\nlimit: 1", None, "is larger than"),
    "many keys": (b"\n".join(b"a%d: 1" % n for n in range(8000)), None, "is larger than"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_line_that_names_it(
    name: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    content, line, said = HOSTILE[name]
    Path("c.yaml").write_bytes(content)
    message = refused(capsys, ["run", "uncle", "--config", "c.yaml"])
    assert message.startswith(f"sayso: --config c.yaml{f' line {line}' if line else ''}: ")
    assert said in message


def test_what_is_no_file_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.yaml").mkdir()
    Path("f").touch()
    for name, said in (
        ("folder.yaml", "--config folder.yaml: is a folder"),
        ("missing.yaml", "--config missing.yaml: does not exist"),
        ("f/c.yaml", "--config f/c.yaml: cannot be read"),
        ("a\0b", "--config a"),
        ("x" * 300, "File name too long"),
        ("", "--config: expected the name of a YAML file"),
    ):
        message = refused(capsys, ["run", "uncle", f"--config={name}"])
        assert said in message or len(name) == 300
        assert said in refused(capsys, ["run", "uncle", "--config", name])
    assert "--config" in refused(capsys, ["run", "uncle", "--config"])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_an_endless_file_is_not_read_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is larger than" in refused(capsys, ["run", "uncle", "--config", "/dev/zero"])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_of_somebody_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "c.yaml").touch(mode=0)
    assert "cannot be read" in refused(
        capsys, ["run", "uncle", "--config", str(tmp_path / "c.yaml")]
    )


@pytest.mark.parametrize(
    "line",
    [
        b"a%d: 1\n",
        b"a%d: [x, y, {z: 1}]\n",
        b"- %d\n",
        b"# %d\n",
        b"a%d: 'x\n",
        b"? a%d\n: b\n",
        b"a%d: |\n  x\n",
        b"[a%d, ",
        b"'%d' ",
        b"a%d: 2024-01-01\n",
    ],
)
def test_the_largest_file_is_read_or_refused_at_once(line: bytes, tmp_path: Path) -> None:
    rows = b"".join(line % n for n in range(LARGEST))
    (tmp_path / "c.yaml").write_bytes(rows[:LARGEST])

    def read() -> None:
        with suppress(InputError):
            read_yaml(tmp_path / "c.yaml", "c.yaml")

    assert seconds(read, enough=1) < 1


def test_what_settings_need_of_yaml(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(
        b"\xef\xbb\xbf---\nmodel: openai:gpt-4o-mini  # a comment\nlimit: 20\nmax-cost: 1.5\n"
        b"probe: {k: 3, unc: yes}\ndomain: [bios, 'movies']\nas-of: 2024-01-31\nout: ~\n"
        b'price: "0.15,0.60"\nchat-template-kwargs: |\n  {"a": 1}\nseed: !!int 7\n...\n'
    )
    read = read_yaml(file, "c.yaml")
    assert read == {
        "as-of": "2024-01-31",
        "model": "openai:gpt-4o-mini",
        "limit": 20,
        "max-cost": 1.5,
        "probe": {"k": 3, "unc": "yes"},
        "domain": ["bios", "movies"],
        "out": None,
        "price": "0.15,0.60",
        "chat-template-kwargs": '{"a": 1}\n',
        "seed": 7,
    }


@pytest.mark.parametrize(
    "word", ["yes", "No", "on", "OFF", "y", "2024-01-31", "1,5", "12:x", "1.10", "07"]
)
def test_a_word_is_a_text(word: str, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(f"name: {word}\n", encoding="utf-8")
    assert read_yaml(tmp_path / "c.yaml", "c.yaml") == {"name": word}
    (tmp_path / "c.yaml").write_text("model-version: 1.10\n", encoding="utf-8")
    assert read_yaml(tmp_path / "c.yaml", "c.yaml") == {"model-version": "1.10"}


@pytest.mark.parametrize(
    ("written", "value"),
    [("0o10", 8), ("0x1F", 31), ("1e3", 1000.0), ("1.5e+3", 1500.0), (".5", 0.5), ("-0", 0),
     ("+12", 12), ("TRUE", True), ("false", False), ("~", None), ("NULL", None)],
)  # fmt: skip
def test_numbers_and_truths_are_those_of_yaml_1_2(
    written: str, value: object, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(f"seed: {written}\n", encoding="utf-8")
    read = read_yaml(tmp_path / "c.yaml", "c.yaml")["seed"]
    assert (read, type(read)) == (value, type(value))


def test_yes_and_no_answer_what_asks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for word, code in (("yes", 0), ("true", 0), ("no", 2)):
        text = f"dry-run: {word}\nlimit: 1\nmodel: openai:gpt-4o-mini\nout: run\n"
        Path("c.yaml").write_text(text, encoding="utf-8")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert cli.execute(["run", "uncle", "--config", "c.yaml"]) == code, capsys.readouterr()
        assert not Path("run").exists()
    assert "needs a key" in capsys.readouterr().err


def test_a_fraction_is_refused_with_its_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text("limit: 2.5\n")
    assert cli.execute(["run", "uncle", "--config", "c.yaml"]) == 2
    assert "--config c.yaml: limit is 2.5; expected a whole number" in capsys.readouterr().err


def test_an_unknown_setting_is_told_as_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("prob: {k: 3}\n")
    assert cli.execute(["run", "uncle", "--config", "mine.yaml"]) == 2
    assert (
        "--config mine.yaml: setting 'prob.k' is unknown; did you mean probe.k?"
        in capsys.readouterr().err
    )


def test_a_setting_has_the_name_of_its_flag_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text('{"question": "Who?", "answer": "x"}\n', encoding="utf-8")
    for name in ("for", "want"):
        text = f"{name}: declining\ndata: file:q.jsonl\nmodel: builtin\nout: {name}\n"
        Path("c.yaml").write_text(text, encoding="utf-8")
        assert cli.execute(["run", "selective", "--config", "c.yaml"]) == 0
        assert RunFolder.open(Path(name)).read_manifest().settings["want"] == "declining"
