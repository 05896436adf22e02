"""Files that other tools wrote themselves, in ``golden/tools``: the version is in the name.

Those of Inspect are written anew by ``support.inspect_logs`` where inspect-ai is installed. The
others come from ``lm_eval --model dummy --log_samples`` with ``repeats: 2``, from DeepEval's
``evaluate`` with a metric of its own, and from ``promptfoo eval`` with the provider echo.
"""

from __future__ import annotations

import importlib.util
import io
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from sayso import cli
from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import AnswerRow
from sayso.datasets.tools import inspect
from sayso.records import InputError

TOOLS = Path(__file__).parent.parent / "golden" / "tools"
LAYOUTS = ("inspect-0.3.285.eval", "inspect-0.3.285-chunked.eval", "inspect-0.3.285.json")


def read(path: Path) -> dict[str, AnswerRow]:
    return {row.id or row.question: row for row in open_answer_file(path).rows}


def check_inspect(rows: dict[str, AnswerRow]) -> None:
    """Check what support.inspect_logs had written."""
    assert set(rows) == {"emma/1", "2", "e_epoch_1"}
    emma, hamlet, eth = rows["emma/1"], rows["2"], rows["e_epoch_1"]
    assert emma.question == "Who wrote Emma?"
    assert (emma.answer, emma.samples) == ("Jane Austen", ("Austen", "It was Mary Shelley."))
    assert (emma.gold, emma.recorded, emma.model) == (("Austen",), {"includes": 1}, "mockllm/model")
    assert (emma.logprobs, emma.tokens) == ((-0.5, -0.5), ("Jane", " A"))
    assert hamlet.question.startswith("It is a tragedy, and it is set in Denmark. It is")
    assert hamlet.question.endswith("Denmark. Who wrote Hamlet?")
    assert (hamlet.answer or "").startswith("Shakespeare wrote it. It was first")  # no reasoning
    assert len(hamlet.answer or "") == 202
    assert (hamlet.samples, hamlet.gold) == (("Bacon",), ("Shakespeare", "W. S."))
    assert (eth.answer, eth.samples, eth.gold) == ("Zürich ✓", ("",), ("Zürich",))


@pytest.mark.parametrize("name", LAYOUTS)
def test_logs_that_inspect_wrote(name: str, tmp_path: Path) -> None:
    check_inspect(read(TOOLS / name))
    check_inspect({r.id or "": r for r in open_answer_file(TOOLS / name, kind="inspect").rows})
    out = tmp_path / "out.jsonl"
    assert cli.execute(["score", str(TOOLS / name), "--out", str(out)]) == 0
    scored = {row["id"]: row for row in map(json.loads, out.read_text("utf-8").splitlines())}
    assert {name: row["correct_rules"] for name, row in scored.items()} == {
        "emma/1": 1, "2": 1, "e_epoch_1": 1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of logs that the installed inspect-ai wrote."""
    if importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("inspect-ai is not installed: only its stored logs are read")
    folder = tmp_path_factory.mktemp("logs")
    command = [sys.executable, "-m", "support.inspect_logs", str(folder)]
    subprocess.run(command, check=True, cwd=TOOLS.parent.parent, timeout=120)
    return folder


@pytest.mark.parametrize("name", ["log.eval", "log-chunked.eval", "log.json"])
def test_logs_that_inspect_writes_today(name: str, written: Path) -> None:
    if not (written / name).exists():
        pytest.skip("the installed inspect-ai has another way to write chunked logs")
    rows = read(written / name)
    check_inspect(rows)
    if name == "log-chunked.eval":
        return  # inspect-ai 0.3.285 cannot read this layout itself
    read_by_inspect = json.loads((written / f"{name}.read").read_text("utf-8"))
    assert len(read_by_inspect) == 6
    for sample, epoch, target, said in read_by_inspect:
        row = rows[sample]
        assert set(said) <= {row.answer, *row.samples}
        assert row.gold == tuple([target] if isinstance(target, str) else target)
        assert epoch > 1 or row.answer == said[0]


def test_a_chunked_log_finds_attachments_in_every_chunk(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(7)]
    members: dict[str, Any] = {
        "header.json": {"eval": {"model": "m"}},
        "samples/q_epoch_1/sample.json": {
            "id": "q", "input": "attachment://6", "target": "x",
            "output": {"choices": [{"message": {"content": "attachment://3"}}]},
        },
        "samples/q_epoch_1/messages/0.json": [], "samples/q_epoch_1/metadata.json": {"a": 1},
        "samples/q_epoch_1/attachments/4.json": texts[4:],
        "samples/q_epoch_1/attachments/0.json": texts[:4],
        "samples/p_epoch_1/attachments/0.json": ["another's"],
    }  # fmt: skip
    path = zipped(tmp_path, {name: json.dumps(value).encode() for name, value in members.items()})
    (row,) = read(path).values()
    assert (row.question, row.answer, row.model) == ("text 6", "text 3", "m")


# ---- zips that are wrong


def packed(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def zipped(folder: Path, members: dict[str, bytes], kind: int = inspect.ZSTANDARD,
           **wrong: Any) -> Path:  # fmt: skip
    """Write a zip with members of Zstandard; ``wrong`` are fields of its last member."""
    path, file, central = folder / "log.eval", io.BytesIO(), b""
    for name, data in members.items():
        last = name == list(members)[-1]
        change = wrong if last else {}
        body = change.get("body", packed(data))
        crc, size = change.get("crc", zlib.crc32(data)), change.get("size", len(data))
        fields = struct.pack("<HHHHHIIIHH", 63, 0, kind, 0, 0, crc, len(body), size,
                             len(name.encode()), 0)  # fmt: skip
        central += b"PK\x01\x02\x3f\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, file.tell())
        central += name.encode()
        file.write(change.get("mark", b"PK\x03\x04") + fields + name.encode() + body)
    place = file.tell()
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), place, 0)
    path.write_bytes(file.getvalue() + central + b"PK\x05\x06" + end)
    return path


SAMPLE = json.dumps({"id": "q", "input": "Q?", "target": "x", "output": {
    "choices": [{"message": {"content": "yes"}}]}}).encode()  # fmt: skip
NAME = "samples/q_epoch_1.json"


def test_several_frames_are_one_member(tmp_path: Path) -> None:
    body = packed(SAMPLE[:20]) + packed(b"") + packed(SAMPLE[20:])
    (row,) = read(zipped(tmp_path, {NAME: SAMPLE}, body=body)).values()
    assert row.answer == "yes"


def wrong_members() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield (name, what is wrong, what is told)."""
    yield "crc", {"crc": 1}, "Bad CRC-32"
    yield "cut", {"body": packed(SAMPLE)[:-9]}, "cannot be read as an Inspect log"
    yield "garbage", {"body": b"garbage" * 9}, "cannot be read as an Inspect log"
    yield "empty", {"body": b""}, "cannot be read as an Inspect log"
    yield "longer", {"size": len(SAMPLE) - 1}, "is larger than its header says"
    yield "no header", {"mark": b"PK\x01\x02"}, "no member where"
    yield "bomb", {"size": 300 * 2**20}, "would unpack"
    # a window of 2 GiB: a frame may ask for as much memory
    window = b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00"
    yield "window", {"body": window}, "cannot be read as an Inspect log"


@pytest.mark.parametrize(("name", "wrong", "told"), wrong_members(), ids=lambda v: str(v)[:10])
def test_a_wrong_member_is_one_line(
    name: str, wrong: dict[str, Any], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(tmp_path, {"header.json": b"{}", NAME: SAMPLE}, **wrong)
    assert cli.execute(["score", str(path), "--out", str(tmp_path / "o.jsonl")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_another_compression_and_no_samples_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="inspect log convert --to json"):
        read(zipped(tmp_path, {NAME: SAMPLE}, kind=98))
    for members in ({"header.json": b"{}"}, {"samples/q_epoch_1/messages/0.json": b"[]"}):
        with pytest.raises(InputError, match="contains no samples"):
            read(zipped(tmp_path, members))
    (tmp_path / "log.json").write_text('{"version": 2, "eval": {}, "plan": {}, "samples": []}')
    with pytest.raises(InputError, match="contains no samples"):
        read(tmp_path / "log.json")
    with pytest.raises(InputError, match="contains none of its results"):
        open_answer_file(TOOLS / "deepeval-4.3.1.json", kind="inspect")


# ---- the other tools


def test_a_log_that_lm_eval_wrote() -> None:
    answers = open_answer_file(TOOLS / "samples_lm-eval-0.4.13.jsonl")
    first, second = answers.rows
    assert answers.kind == "harness"
    assert (first.question, first.prompt) == ("Capital of France?", "Q: Capital of France?\nA:")
    assert (first.answer, first.samples, first.gold) == ("lol", ("lol",), ("Paris", "paris"))
    assert [row.recorded for row in (first, second)] == [{"exact_match": 0}, {"exact_match": 1}]


@pytest.mark.parametrize("name", ["deepeval-4.3.1.json", "deepeval-4.3.1-latest.json"])
def test_a_run_that_deepeval_wrote(name: str) -> None:
    answers = open_answer_file(TOOLS / name)
    first, second = answers.rows
    assert answers.kind == "deepeval"
    assert (first.question, first.answer, first.gold) == ("Capital of France?", "Paris", ("Paris",))
    assert (first.context, first.model) == ("France's capital is Paris.", "gpt-x")
    assert (second.answer, second.gold) == ("Brontë", ("Austen",))
    assert [row.own["metric Same"] for row in (first, second)] == [True, False]


def test_results_that_promptfoo_wrote() -> None:
    answers = open_answer_file(TOOLS / "promptfoo-0.121.20.json")
    rows = {(row.question, row.answer): row for row in answers.rows}
    assert answers.kind == "promptfoo"
    assert len(rows) == 4
    row = rows["Capital of France?", "Answer briefly: Capital of France?"]
    assert (row.gold, row.model) == (("Capital of France?",), "echo")
    assert row.own["assert equals"] is False
    assert msgspec.structs.replace(row, own={}).prompt == "Answer briefly: Capital of France?"


def test_the_first_epoch_of_a_sample_may_be_missing_or_failed(tmp_path: Path) -> None:
    def sample(epoch: int, text: str, score: str, **more: object) -> dict[str, object]:
        return {
            "id": "1", "epoch": epoch, "input": "Who?", "target": "B",
            "output": {"choices": [{"message": {"content": text}}]},
            "scores": {"match": {"value": score}}, **more,
        }  # fmt: skip

    def row(*samples: dict[str, object]) -> AnswerRow:
        path = tmp_path / "log.json"
        log = {"plan": {}, "eval": {"model": "m"}, "samples": list(samples)}
        path.write_text(json.dumps(log))
        (one,) = open_answer_file(path, kind="inspect").rows
        return one

    late = row(sample(2, "B", "C"), sample(3, "C", "I"))
    assert late.problems == ("epoch 1 has no answer: the answer is that of epoch 2",)
    failed = row(sample(1, "", "I", error={"message": "broke"}), sample(2, "B", "C"))
    assert failed.answer == "B"
    assert failed.recorded == late.recorded  # the score is of the answer, not of the failed epoch
