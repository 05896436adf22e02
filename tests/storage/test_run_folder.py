"""A run folder holds whole tables of exact records, or says in one line what is broken."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso import records
from sayso.datasets.tables import read_rows
from sayso.records import Alternative, Claim, Generation, InputError, Question, Score, Verdict, ask
from sayso.storage import atomic
from sayso.storage.run_folder import FORMAT, Manifest, RunFolder, machine, versions
from sayso.storage.tables import schema_of
from support.tables import tabled

RECORDS = [
    kind
    for kind in vars(records).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
]
SCORES = [Score("g1", "length", 1.5), Score("g2", "length", None, "no tokens")]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run")


def anything(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a type annotation: unicode, NaN, extremes, empty and missing."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([anything(one) for one in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(anything(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(anything, arguments))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        hints = typing.get_type_hints(annotation)
        return st.builds(annotation, **{name: anything(one) for name, one in hints.items()})
    return {
        str: st.text(max_size=8),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(),
        bool: st.booleans(),
        type(None): st.none(),
    }[annotation]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_record_comes_back_exactly(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    rows = data.draw(st.lists(anything(kind), max_size=4))
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder.create(place)
        assert folder.write("scores/x", rows, kind) == len(rows)
        # repr, because NaN does not equal itself; it tells 1 from 1.0 and () from None too
        assert repr(folder.read("scores/x", kind)) == repr(rows)


def test_the_schema_says_what_may_be_missing() -> None:
    schema = schema_of(Generation)
    assert schema.field("text").type == pa.string()
    assert not schema.field("text").nullable
    assert schema.field("logprobs").type == pa.list_(pa.field("element", pa.float64()))
    assert schema.field("logprobs").nullable
    step = pa.struct([("token", pa.int64()), ("logprob", pa.float64()), ("text", pa.string())])
    assert schema.field("alternatives").type == pa.list_(
        pa.field("element", pa.list_(pa.field("element", step)))
    )
    assert schema.field("request").type.field("chat_template_kwargs").type == pa.string()
    assert schema_of(Verdict).field("stance").type == pa.string()


def test_lone_surrogates_are_replaced_and_pairs_joined(folder: RunFolder) -> None:
    claims = [Claim("a\ud800", "g", 0, 0, 1, "\ud83d\ude00 ok"), Claim("b", "g", 0, 0, 1, "é")]
    folder.write("claims/x", claims, Claim)
    first, second = folder.read("claims/x", Claim)
    assert (first.id, first.text, second.text) == ("a\ufffd", "\U0001f600 ok", "é")


def test_more_rows_than_a_row_group(folder: RunFolder) -> None:
    rows = [
        Generation(request=ask(str(i)), id=str(i), logprobs=(-float(i),) * (i % 3))
        for i in range(4321)
    ]
    assert folder.write("generations/probe", iter(rows), Generation) == 4321
    assert folder.read("generations/probe", Generation) == rows
    assert next(folder.iter("generations/probe", Generation)) == rows[0]
    assert pq.ParquetFile(folder.path / "generations/probe.parquet").num_row_groups == 3


def test_long_answers_make_small_row_groups(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.storage.tables.ITEMS", 100)
    step = tuple(Alternative(i, -1.0) for i in range(10))
    rows = [Generation(request=ask("?"), id=str(i), alternatives=(step,) * 5) for i in range(6)]
    folder.write("generations/long", rows, Generation)
    assert folder.read("generations/long", Generation) == rows
    # 5 steps count as 50 entries each: two rows fill a group
    assert pq.ParquetFile(folder.path / "generations/long.parquet").num_row_groups == 3


def test_equal_texts_are_one_object(folder: RunFolder) -> None:
    """A million rows have a few names of stages and judges, which take no memory each."""
    folder.write("verdicts/short", [Verdict(f"g{n}", "q1", "rules@7") for n in range(9)], Verdict)
    rows = folder.read("verdicts/short", Verdict)
    assert len({id(row.by) for row in rows}) == len({id(row.asked) for row in rows}) == 1
    assert [row.target for row in rows] == [f"g{n}" for n in range(9)]


def test_an_empty_table_is_a_table(folder: RunFolder) -> None:
    assert not folder.has("verdicts/probe")
    assert folder.write("verdicts/probe", [], Verdict) == 0
    assert folder.has("verdicts/probe")
    assert folder.read("verdicts/probe", Verdict) == []


def test_the_same_records_make_the_same_file(folder: RunFolder) -> None:
    folder.write("scores/a", SCORES, Score)
    folder.write("scores/b", SCORES, Score)
    scores = folder.path / "scores"
    assert (scores / "a.parquet").read_bytes() == (scores / "b.parquet").read_bytes()


def test_tables_are_listed_by_kind(folder: RunFolder) -> None:
    assert folder.tables("generations") == []
    assert folder.tables("questions") == []
    for name in ("scores/b", "scores/a", "questions"):
        folder.write(name, SCORES, Score)
    (folder.path / "scores" / "c.parquet.tmp-1").write_bytes(b"")
    assert folder.tables("scores") == ["scores/a", "scores/b"]
    assert folder.tables("questions") == ["questions"]
    with pytest.raises(InputError, match="no tables are called"):
        folder.tables("../scores")


@pytest.mark.parametrize(
    "name",
    ["", "..", "scores", "scores/", "scores/..", "scores/../../x", "/etc/passwd", "scores/A",
     "scores/a/b", "secrets/a", "scores/.hidden", "scores/a\n", "scores/a\0", "questions/a",
     "scores/" + "a" * 101, "scores\\a", "questions "],
)  # fmt: skip
def test_hostile_names_are_refused(folder: RunFolder, name: str) -> None:
    for act in (
        lambda: folder.write(name, SCORES, Score),
        lambda: folder.read(name, Score),
        lambda: folder.has(name),
    ):
        with pytest.raises(InputError, match="is not a table of a run folder"):
            act()


# --- older and newer files ---------------------------------------------------------------------


class OldUsage(msgspec.Struct):
    prompt_tokens: int


class OldScore(msgspec.Struct):
    target: str
    method: str
    gone: int


class OldGeneration(msgspec.Struct):
    request: records.Request
    usage: OldUsage


def test_a_column_that_is_missing_reads_as_its_default_and_a_strange_one_is_ignored(
    folder: RunFolder,
) -> None:
    folder.write("scores/x", [OldScore("g", "length", 7)], OldScore)
    assert folder.read("scores/x", Score) == [Score("g", "length")]
    folder.write("generations/x", [OldGeneration(ask("?"), OldUsage(3))], OldGeneration)
    (reply,) = folder.read("generations/x", Generation)
    assert reply == Generation(request=ask("?"), usage=records.Usage(prompt_tokens=3))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"target": ["g"]}, "column 'method' is missing"),
        ({"target": ["g"], "method": [None]}, "a value is missing"),
        ({"target": ["g"], "method": ["m"], "value": ["high"]}, "high"),
        ({"other": [1]}, "none of the columns"),
        (pa.table([["g"], ["m"], ["n"]], names=["target", "method", "method"]), "have one name"),
    ],
)
def test_a_table_of_something_else_is_one_line(
    folder: RunFolder, table: dict[str, list[object]] | pa.Table, why: str
) -> None:
    (folder.path / "scores").mkdir()
    written = table if isinstance(table, pa.Table) else pa.table(table)
    pq.write_table(written, folder.path / "scores" / "x.parquet")
    with pytest.raises(InputError, match=f"x.parquet cannot be read as Score records .*{why}"):
        folder.read("scores/x", Score)


def test_a_word_that_is_no_stance_is_refused(folder: RunFolder) -> None:
    table = {"target": ["g"], "asked": ["q"], "by": ["me"], "stance": ["sure"]}
    (folder.path / "verdicts").mkdir()
    pq.write_table(pa.table(table), folder.path / "verdicts" / "x.parquet")
    with pytest.raises(InputError, match="unexpected value 'sure'"):
        folder.read("verdicts/x", Verdict)


def test_tables_of_other_tools_are_cast(folder: RunFolder) -> None:
    """Dictionary-coded or large strings, 32-bit floats: what other writers make of the same."""
    table = pa.table(
        {
            "target": pa.array(["g"]).dictionary_encode(),
            "method": pa.array(["m"], pa.large_string()),
            "value": pa.array([0.5], pa.float32()),
        }
    )
    (folder.path / "scores").mkdir()
    pq.write_table(table, folder.path / "scores" / "x.parquet")
    assert folder.read("scores/x", Score) == [Score("g", "m", 0.5)]


def test_a_number_too_large_for_a_table(folder: RunFolder) -> None:
    with pytest.raises(InputError, match="a Claim cannot be stored"):
        folder.write("claims/x", [Claim("a", "g", 2**63, 0, 0, "")], Claim)
    assert not folder.has("claims/x")


# --- interruptions and broken disks ------------------------------------------------------------


def failing(error: BaseException) -> Iterator[Score]:
    yield from SCORES
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("the model's"), InputError("x")])
def test_an_interrupted_table_leaves_the_old_one(folder: RunFolder, error: BaseException) -> None:
    folder.write("scores/x", SCORES, Score)
    with pytest.raises(type(error)):
        folder.write("scores/x", failing(error), Score)
    assert folder.read("scores/x", Score) == SCORES
    assert [file.name for file in (folder.path / "scores").iterdir()] == ["x.parquet"]


KILLED = """
import os, sys
from sayso.records import Score
from sayso.storage.run_folder import RunFolder
folder = RunFolder(__import__("pathlib").Path(sys.argv[1]))
def rows():
    for i in range(3000):
        yield Score(str(i), "m")
    os.kill(os.getpid(), 9)
folder.write("scores/x", rows(), Score)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_writer_leaves_the_old_table_and_its_rest_is_swept(folder: RunFolder) -> None:
    folder.write("scores/x", SCORES, Score)
    folder.write("scores/x.y", SCORES, Score)
    subprocess.run(
        [sys.executable, "-c", KILLED, str(folder.path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    scores = folder.path / "scores"
    assert len(list(scores.glob("x.parquet.tmp-*"))) == 1
    assert folder.read("scores/x", Score) == SCORES
    assert folder.tables("scores") == ["scores/x", "scores/x.y"]
    folder.write("scores/x", SCORES[:1], Score)
    assert sorted(file.name for file in scores.iterdir()) == ["x.parquet", "x.y.parquet"]


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.ENOSPC, "disk is full while writing .*; free some space and run again: everything"),
        (errno.EACCES, "cannot write .*: Permission denied"),
    ],
)
def test_a_disk_that_refuses_is_one_line(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, number: int, line: str
) -> None:
    folder.write("scores/x", SCORES, Score)

    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic.os, "fsync", refuse)
    with pytest.raises(InputError, match=line):
        folder.write("scores/x", SCORES[:1], Score)
    with pytest.raises(InputError, match=line):
        folder.write_manifest(Manifest())
    assert folder.read("scores/x", Score) == SCORES
    assert sorted(str(p.relative_to(folder.path)) for p in folder.path.rglob("*")) == [
        "scores",
        "scores/x.parquet",
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_disk_that_fills_up_while_rows_are_written(folder: RunFolder) -> None:
    from sayso.storage.tables import write_parquet

    rows = (Score(os.urandom(20).hex(), "m") for _ in range(9000))
    full = Path("/dev/full")
    with full.open("wb", buffering=0) as file, pytest.raises(InputError, match="disk is full"):
        write_parquet(file, Path("x.parquet"), rows, Score)


def test_a_changed_digit_is_never_read_as_another_number(folder: RunFolder) -> None:
    rng = random.Random(0)
    rows = [Score(str(n), "m", value=rng.random()) for n in range(2000)]
    folder.write("scores/x", rows, Score)
    file = folder.path / "scores" / "x.parquet"
    whole = file.read_bytes()
    for start in range(4, len(whole), len(whole) // 150):
        file.write_bytes(whole[:start] + bytes([whole[start] ^ 1]) + whole[start + 1 :])
        with contextlib.suppress(InputError):
            assert folder.read("scores/x", Score) == rows


@settings(max_examples=60, deadline=None)
@given(
    patches=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)), min_size=1),
    cut=st.none() | st.floats(0, 1),
)
def test_a_damaged_table_is_one_line_or_unharmed(
    patches: list[tuple[float, bytes]], cut: float | None
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder.create(place)
        rows = [Generation(request=ask(str(i)), logprobs=(-0.5,) * 9) for i in range(50)]
        folder.write("generations/x", rows, Generation)
        file = Path(place) / "generations" / "x.parquet"
        data = bytearray(file.read_bytes())
        for where, noise in patches:
            start = int(where * (len(data) - len(noise)))
            data[start : start + len(noise)] = noise
        if cut is not None:
            del data[int(cut * len(data)) :]
        file.write_bytes(data)
        try:
            assert len(folder.read("generations/x", Generation)) == 50
        except InputError as error:
            line = str(error)
        else:
            line = f"{file} delete it"
        assert str(file) in line
        assert "delete it" in line or "keep it" in line  # where its sizes ask for all memory
        assert "\n" not in line


@pytest.mark.parametrize("error", [MemoryError(), OSError(12, "Cannot allocate memory")])
def test_a_table_that_cannot_be_read_now_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder = RunFolder.create(os.fsdecode(os.fsencode(tmp_path) + b"/run-\xff"))
    folder.write("generations/x", [Generation(request=ask("Who?"))], Generation)
    assert len(folder.read("generations/x", Generation)) == 1  # whatever its path is called

    def out_of_memory(*args: object, **keywords: object) -> None:
        raise error

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", out_of_memory)
    with pytest.raises(InputError, match="keep it") as told:
        folder.read("generations/x", Generation)
    assert "delete" not in str(told.value)


def test_a_table_that_lost_its_rows_is_not_empty(folder: RunFolder) -> None:
    rows = [Generation(request=ask(str(i)), logprobs=(-0.5,) * 9) for i in range(50)]
    folder.write("generations/x", rows, Generation)
    file = folder.path / "generations" / "x.parquet"
    data, lost = file.read_bytes(), 0
    for start in range(len(data) // 2, len(data) - 8, 41):  # the footer: sizes of columns
        file.write_bytes(data[:start] + bytes(1) + data[start + 1 :])
        try:
            assert len(folder.read("generations/x", Generation)) == 50
        except InputError as error:
            lost += "rows can be read" in str(error)
    assert lost


def test_a_missing_table_says_what_to_do(folder: RunFolder) -> None:
    with pytest.raises(InputError, match="has no table 'verdicts/probe': the run is not finished"):
        folder.read("verdicts/probe", Verdict)


# --- the folder and its manifest -----------------------------------------------------------------

MANIFEST = Manifest(
    sayso="0.1.0",
    created="2026-01-02T03:04:05+00:00",
    command="sayso run uncle --limit 3",
    protocols=("uncle",),
    settings={"probe.k": 5, "temperature": 1.0, "instruction": None, "ci": True, "form": "both"},
    timings={"generate_cpu_s": 1.25},
    tokens={"asked": 7},
    machine=machine(),
    versions=versions(),
    notices=("one",),
)


def test_the_manifest_comes_back_and_people_can_read_it(folder: RunFolder) -> None:
    folder.write_manifest(MANIFEST)
    assert RunFolder.open(folder.path).read_manifest() == MANIFEST
    text = (folder.path / "manifest.json").read_text()
    keys = list(json.loads(text))
    assert keys == sorted(keys)
    assert '\n  "command": "sayso run uncle --limit 3",\n' in text


def test_a_command_line_that_is_no_text(folder: RunFolder) -> None:
    folder.write_manifest(Manifest(command="sayso run --out \udcff"))
    assert folder.read_manifest().command == "sayso run --out ?"


def test_a_later_format_is_refused_by_name(folder: RunFolder) -> None:
    (folder.path / "manifest.json").write_text(
        json.dumps({"format": FORMAT + 1, "sayso": "9.9", "settings": "of a later kind"})
    )
    with pytest.raises(InputError, match=r"written by sayso 9\.9 .format 3., this one reads"):
        RunFolder.open(folder.path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"name": "an app"}', '{"format": 2, "n_questions": "many"}', "\ufeff"]
)
def test_a_manifest_that_is_none(folder: RunFolder, text: str) -> None:
    (folder.path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="is not a manifest of a run"):
        RunFolder.open(folder.path)
    (folder.path / "manifest.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not a manifest of a run"):
        RunFolder.create(folder.path)


def test_opening_what_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        RunFolder.open(tmp_path / "nothing")
    with pytest.raises(InputError, match="is not a run folder: it has no manifest"):
        RunFolder.open(tmp_path)
    assert not RunFolder.exists(tmp_path)


def test_a_folder_of_runs_names_them(tmp_path: Path) -> None:
    for name in ("uncle", "selective"):
        RunFolder.create(tmp_path / name).write_manifest(MANIFEST)
    (tmp_path / "notes").mkdir()
    expected = f"is not a run folder but contains runs: did you mean {tmp_path / 'selective'} or"
    with pytest.raises(InputError, match=re.escape(f"{expected} {tmp_path / 'uncle'}?")):
        RunFolder.open(tmp_path)
    for number in range(5):
        RunFolder.create(tmp_path / f"run-{number}").write_manifest(MANIFEST)
    with pytest.raises(InputError, match=r"run-0 or .*run-3 or one of 3 more\?"):
        RunFolder.open(tmp_path)


def test_creating_goes_on_where_a_killed_run_stopped(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "a" / "b")
    folder.write("questions", [Question("q", "d", "t")], Question)
    assert not RunFolder.exists(folder.path)
    assert RunFolder.create(folder.path).read("questions", Question)[0].id == "q"
    folder.write_manifest(MANIFEST)
    assert RunFolder.exists(folder.path)
    assert RunFolder.create(folder.path).read_manifest() == MANIFEST


def test_creating_leaves_other_people_s_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(
        InputError, match=r"not empty and is not a run folder .it contains 'thesis\.tex'"
    ):
        RunFolder.create(tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        RunFolder.create(tmp_path / "thesis.tex")


def test_pages_are_written_beside_the_tables_and_nowhere_else(folder: RunFolder) -> None:
    assert folder.write_text("report.html", "<p>é</p>") == folder.path / "report.html"
    folder.write_text("answers/000.html", "x")
    assert folder.read_text("report.html") == "<p>é</p>"
    for name in ("manifest.json", "../report.html", "answers/../x", "answers/a/b", "/report.html"):
        with pytest.raises(InputError, match="is not a file of a run folder"):
            folder.write_text(name, "x")
    with pytest.raises(InputError, match="cannot read"):
        folder.read_text("answers/111.html")


def test_machine_and_versions_name_nobody() -> None:
    assert {"python", "msgspec", "pyarrow", "numpy"} <= versions().keys()
    about = machine()
    assert about["cpus"]
    said = " ".join(map(str, [*about.values(), *versions().values()]))
    assert platform.node() not in said.split()


def test_importing_the_store_does_not_load_pyarrow() -> None:
    modules = "sayso.storage.run_folder, sayso.storage.cache"
    code = f"import sys, {modules}; print('pyarrow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


# --- tables that users bring ---------------------------------------------------------------------


def lines(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_jsonl_rows_carry_their_line_numbers(tmp_path: Path) -> None:
    file = lines(tmp_path / "x.jsonl", '\ufeff{"a": 1}\r\n\n  \n{"a": NaN, "b": [Infinity, "é"]}')
    assert list(read_rows(file)) == [(1, {"a": 1}), (4, {"a": None, "b": [None, "é"]})]


def test_a_json_list_and_parquet_count_rows(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": ["x"]}, {"a": None, "b": []}]
    file = lines(tmp_path / "x.JSON", "\ufeff" + json.dumps(rows))
    assert list(read_rows(file)) == [(1, rows[0]), (2, rows[1])]
    pq.write_table(pa.Table.from_pylist([*rows, {"a": 2}]), tmp_path / "x.parquet")
    assert list(read_rows(tmp_path / "x.parquet"))[:2] == [(1, rows[0]), (2, rows[1])]


def test_escaped_surrogates_become_text(tmp_path: Path) -> None:
    file = lines(tmp_path / "x.jsonl", '{"a": ["\\ud83d\\ude00", "\\ud83d!"]}')
    assert list(read_rows(file)) == [(1, {"a": ["\U0001f600", "\ufffd!"]})]


@tabled
def test_wrong_files_are_one_line_each(tmp_path: Path, name: str, data: bytes, line: str) -> None:
    with pytest.raises(InputError, match=line) as caught:
        list(read_rows(lines(tmp_path / name, data)))
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_depth_without_end_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: wrong JSON"):
        list(read_rows(lines(tmp_path / "x.jsonl", b"[" * 100_000)))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    with pytest.raises(InputError, match="is a folder: name one file in it"):
        list(read_rows(tmp_path / "x.json"))
    for name in ("x.jsonl", "x.parquet", "no/x.jsonl"):
        with pytest.raises(InputError, match="does not exist"):
            list(read_rows(tmp_path / name))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(tmp_path / f"{'x' * 400}.jsonl"))


@given(
    suffix=st.sampled_from([".jsonl", ".json", ".parquet"]),
    data=st.binary(max_size=200)
    | st.text(alphabet='{}[]",:\\u d8a1eE+-.NaIinfty\n\r\t\ufeff', max_size=80).map(str.encode)
    | st.dictionaries(st.text(), st.floats() | st.text()).map(lambda row: json.dumps(row).encode()),
)
def test_any_file_gives_rows_or_one_line(suffix: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = lines(Path(place) / f"x{suffix}", data)
        try:
            rows = list(read_rows(file))
        except InputError as error:
            rows = []
            said = str(error)
        else:
            said = file.name
        assert file.name in said
        assert "\n" not in said
        for number, row in rows:
            assert number >= 1
            msgspec.json.encode(row)  # text and finite numbers, fit for hashing and storing
