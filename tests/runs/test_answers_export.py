"""The table of a run's answers agrees with its numbers, and leaves the folder in every format."""

from __future__ import annotations

import contextlib
import csv
import gc
import json
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO
from xml.etree import ElementTree

import msgspec
import pyarrow.parquet as pq
import pytest

import sayso
from sayso.cli import execute
from sayso.datasets.answer_files import open_answer_file
from sayso.protocols.answer_table import AnswerRecord, TokenRecord, answer_records
from sayso.protocols.settings import Probing
from sayso.records import (
    Aspect,
    Generation,
    Gold,
    InputError,
    Question,
    Verdict,
    ask,
)
from sayso.runs import export as export_module
from sayso.runs.export import WRITERS, export
from sayso.score_files.score import score_file
from sayso.storage.atomic import disk_errors
from sayso.storage.run_folder import RunFolder
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(6)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))
HEADER = list(AnswerRecord.__struct_fields__)


def scripted(
    protocol: str, folder: Path, settings: Mapping[str, object] = MappingProxyType({})
) -> Path:
    data = write(folder / "q.jsonl", records(WORLD, lambda f: f.value))
    few = {"resamples": 100, **settings}
    place = folder / "-".join([protocol, *settings])
    sayso.run(
        protocol, model=MIND.engine("base"), data=str(data), cache=folder / "cache", out=place,
        settings=few, report=False,
    )  # fmt: skip
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exported")


@pytest.fixture(scope="module")
def uncle(folder: Path) -> Path:
    return scripted("uncle", folder)


@pytest.fixture
def copied(uncle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(uncle, tmp_path / "run"))


def table(run: Path) -> list[AnswerRecord]:
    return RunFolder.open(run).read("answers", AnswerRecord)


# ---- the table and the numbers


@pytest.mark.parametrize("form", ["short", "long"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"probe.unc": "excluded"}, {"probe.k": 2}],
    ids=["paper", "hedged-probes-out", "two-draws"],
)
def test_uncles_rates_can_be_counted_in_the_table(
    folder: Path, uncle: Path, form: str, settings: dict[str, object]
) -> None:
    uncle = scripted("uncle", folder, settings) if settings else uncle
    rows = [r for r in table(uncle) if r.form == form and r.method == "instructed"]
    assert len(rows) == len(WORLD)
    assert {len(row.draws or ()) for row in rows} == {settings.get("probe.k", 5)}
    cells = Counter((row.known, row.label) for row in rows)
    wrong = ("incorrect", "omitted")
    kc, ku = cells[True, "correct"], cells[True, "uncertain"]
    ki = sum(cells[True, label] for label in wrong)
    uc, uu = cells[False, "correct"], cells[False, "uncertain"]
    ui = sum(cells[False, label] for label in wrong)
    assert kc + ku + ki + uc + uu + ui == len(rows) - sum(r.known is None for r in rows)
    expected = sayso.metrics.expression_rates(kc, ki, ku, uc, ui, uu)
    result = sayso.measure(uncle)
    for name in ("FA", "UA", "UUR", "KCR", "EA", "J"):
        value = result.get(name, form=form).value
        assert value == (None if expected[name] is None else pytest.approx(expected[name])), name


def test_what_is_known_is_what_the_judged_draws_of_selective_say(folder: Path) -> None:
    run = scripted("selective", folder, {"nli": "rules", "scores": "length_words"})
    rows = [r for r in table(run) if r.form == "short" and r.method == "plain"]
    share = sayso.measure(run).get("share_unknown", form="short", against="unknown")
    assert share.numerator == sum(row.known is False for row in rows)
    assert share.denominator == sum(row.known is not None for row in rows)
    assert {len(row.draws or ()) for row in rows} == {10}
    assert {sum(one is None for one in row.draw_labels or ()) for row in rows} == {5}  # unjudged


@pytest.mark.parametrize("protocol", ["faithfulness", "self_known"])
def test_every_protocol_has_the_table(folder: Path, protocol: str) -> None:
    run = scripted(protocol, folder)
    rows = table(run)
    assert {row.known for row in rows} == {None}  # no draw is judged
    assert {row.draw_labels for row in rows} == {None}
    assert {bool(row.draws) for row in rows} == {protocol == "faithfulness"}
    stages = {row.stage for row in rows}
    assert stages >= ({"short", "long"} if protocol == "faithfulness" else {"long"})
    assert "draws" not in stages
    assert all(row.label or row.problem for row in rows)
    judged = {r.id for r in rows if r.label == "omitted"}
    assert all(r.sentence is None for r in rows if r.id in judged and r.label == "omitted")
    assert len({(r.id, r.question_id) for r in rows}) == len(rows)


def test_texts_from_files_have_the_table_too(tmp_path: Path) -> None:
    source = tmp_path / "texts.jsonl"
    source.write_text(
        json.dumps({"topic": "Ada", "text": "Ada was born in London. She may have died in 1852."}),
        encoding="utf-8",
    )
    result = sayso.factuality(source, tmp_path / "run", cache=tmp_path / "cache")
    assert result.page is not None  # one file needs no list, and the run has its page
    (row,) = table(result.path)
    assert (row.entity, row.form, row.method, row.label) == ("Ada", "long", "plain", "answered")
    assert row.answer == "Ada was born in London. She may have died in 1852."


def test_measure_writes_it_again_and_only_with_the_runs_own_settings(copied: Path) -> None:
    place = copied / "answers.parquet"
    before = place.read_bytes()
    place.unlink()
    sayso.measure(copied, settings={"probe.k": 2})
    assert not place.exists()
    sayso.measure(copied)
    assert place.read_bytes() == before


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_run_of_an_older_version_is_exported_from_what_it_has(
    uncle: Path, copied: Path, tmp_path: Path, ending: str
) -> None:
    (copied / "answers.parquet").unlink()
    new, old = tmp_path / f"new{ending}", tmp_path / f"old{ending}"
    assert export(uncle, new).rows == export(copied, old).rows
    assert new.read_bytes() == old.read_bytes()
    assert not (copied / "answers.parquet").exists()  # the run is left as it is


# ---- rows, worked out by hand


def made(folder: Path, unc: bool | None = False) -> dict[str, AnswerRecord]:
    """A run of two questions: draws hedge on q1; on q2 one of them failed and one is right."""
    run = RunFolder.create(folder)
    aspect = Aspect("date of birth", "born", "P569")
    golds = (Gold("20", ("twenty",), unit="km"), Gold("30"))
    shorts = [
        Question("q1", "d", "When?", golds, entity="Ada", domain="people", aspect=aspect, tier="2"),
        Question("q2", "d", "Who?", (Gold("Bo"),), entity="Ada"),
        Question("q3", "d", "Whence?"),
    ]
    paragraph = Question("long", "d", "Write about Ada.", entity="Ada", parts=("q1", "q2"))
    questions = [*shorts, paragraph]

    def answer(name: str, question: str, text: str, form: str = "short", **more: object):
        stage = str(more.pop("stage", form))
        request = ask("p", sample=int(str(more.pop("sample", 0))))
        return Generation(
            request, name, question, stage, form, "plain", text=text, **more,  # type: ignore[arg-type]
        )  # fmt: skip

    draws = [
        answer(f"d{q}{n}", f"q{q}", text, stage="probe", sample=n, problem=problem)
        for q, n, text, problem in [
            (2, 1, "Bo", None), (1, 0, "Maybe 20", None), (1, 1, "Perhaps", None),
            (2, 0, "", "failed: server"),
        ]
    ]  # fmt: skip
    probe = [
        Verdict("d10", "q1", "rules", "hedged", "correct"),
        Verdict("d11", "q1", "rules", "abstained", "none"),
        Verdict("d20", "q2", "rules", problem="failed"),
        Verdict("d21", "q2", "rules", "committed", "correct"),
    ]
    short = [
        # mean of -1 and -2
        answer("a1", "q1", "I'm not sure, but I think it was 25.", logprobs=(-1.0, -2.0)),
        answer("a2", "q2", "", problem="context", logprobs=()),
        answer("a3", "q3", "Nobody knows.", logprobs=(-1.0, float("-inf"))),
    ]
    told = [Verdict("a1", "q1", "rules", "hedged", "incorrect", answer_start=33, answer_end=35)]
    told += [Verdict("a2", "q2", "rules", problem="failed")]
    text = "Ada was born in 1815. Perhaps Bo wrote it."
    long = [answer("l1", "long", text, "long", logprobs=(-3.0, -5.0, -7.0), offsets=(0, 16, 30))]
    read = [
        Verdict("l1", "q1", "rules", "committed", "incorrect", start=0, end=21),
        Verdict("l1", "q2", "rules", "hedged", "correct", start=22, end=42),
    ]
    spans = [Verdict("l1", "q1", "blind", "committed", answer_start=16, answer_end=20)]
    for stage, generations, verdicts in [
        ("probe", draws, probe), ("short", short, told), ("long", long, read), ("extra", [], None)
    ]:  # fmt: skip
        run.write(f"generations/{stage}", generations, Generation)
        if verdicts is not None:
            run.write(f"verdicts/{stage}", verdicts, Verdict)
    run.write("verdicts/long-spans", spans, Verdict)
    rows = list(answer_records(run, questions, Probing("probe", 2, hedged=unc)))
    assert [(row.id, row.question_id) for row in rows] == [
        ("a1", "q1"), ("a2", "q2"), ("a3", "q3"), ("l1", "q1"), ("l1", "q2"),
    ]  # fmt: skip
    return {f"{row.id}/{row.question_id}": row for row in rows}


def test_the_columns_of_a_short_answer(tmp_path: Path) -> None:
    row = made(tmp_path / "run")["a1/q1"]
    assert row == AnswerRecord(
        id="a1",
        question_id="q1",
        entity="Ada",
        domain="people",
        tier="2",
        pair="",
        aspect="date of birth",
        question="When?",
        golds=("20 km", "twenty", "30"),
        form="short",
        stage="short",
        method="plain",
        answer="I'm not sure, but I think it was 25.",
        sentence=None,
        stated="25",
        stance="hedged",
        content="incorrect",
        label="uncertain",
        known=False,
        draws_right=0,
        draws=("Maybe 20", "Perhaps"),
        draw_labels=("uncertain", "uncertain"),
        hedge_words=("not sure", "think"),
        logprob=-1.5,
        problem=None,
    )


def test_what_is_undefined_is_none_with_a_reason(tmp_path: Path) -> None:
    rows = made(tmp_path / "run", None)
    assert rows["a1/q1"].known is None  # both draws hedged, and the setting says: neither
    failed = rows["a2/q2"]
    assert (failed.answer, failed.label, failed.logprob, failed.hedge_words) == (None,) * 4
    assert failed.problem == "context"
    assert (failed.known, failed.draws_right) == (True, 1)
    assert failed.draws == (None, "Bo")
    assert failed.draw_labels == (None, "correct")
    unjudged = rows["a3/q3"]
    assert unjudged.problem == "not judged"
    assert (unjudged.golds, unjudged.known, unjudged.draws, unjudged.logprob) == (None,) * 4
    assert unjudged.aspect == ""


def test_the_columns_of_a_long_text(tmp_path: Path) -> None:
    rows = made(tmp_path / "run")
    born, wrote = rows["l1/q1"], rows["l1/q2"]
    assert born.answer == wrote.answer == "Ada was born in 1815. Perhaps Bo wrote it."
    assert (born.sentence, wrote.sentence) == ("Ada was born in 1815.", "Perhaps Bo wrote it.")
    assert (born.label, wrote.label) == ("incorrect", "uncertain")
    assert (born.hedge_words, wrote.hedge_words) == ((), ("Perhaps",))
    assert (born.logprob, wrote.logprob) == (-5.0, None)  # where a blind reading placed a value


@pytest.mark.parametrize(
    ("k", "known", "right"),
    [
        (2, True, 1),  # Bo at the second draw
        (1, None, 0),  # the first failed, so that nothing can be said
        (3, True, 1),
    ],
)
def test_only_the_first_draws_decide(
    tmp_path: Path, k: int, known: bool | None, right: int
) -> None:
    made(tmp_path / "run")
    question = Question("q2", "d", "Who?", (Gold("Bo"),), entity="Ada")
    rest = [Question(name, "d", "?") for name in ("q1", "q3")]
    long = Question("long", "d", "?", parts=("q1", "q2"))
    probing = Probing("probe", k)
    rows = answer_records(RunFolder(tmp_path / "run"), [question, *rest, long], probing)
    (row,) = (row for row in rows if row.id == "a2")
    assert (row.known, row.draws_right) == (known, right)
    assert row.draws == (None, "Bo")


def test_a_question_is_unknown_only_if_every_draw_was_read(tmp_path: Path) -> None:
    made(tmp_path / "run")
    questions = [Question(n, "d", "?", (Gold("20"),)) for n in ("q1", "q2", "q3")]
    questions.append(Question("long", "d", "?", parts=("q1", "q2")))
    for k, known in ((2, False), (3, None)):  # q1 has two draws, neither right
        probing = Probing("probe", k)
        rows = answer_records(RunFolder(tmp_path / "run"), questions, probing)
        assert next(row.known for row in rows if row.id == "a1") is known


# ---- files


def sheet(path: Path) -> list[list[object]]:
    """Read a workbook's one sheet without any library for it; all cells must be plain values."""
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        text = book.read("xl/worksheets/sheet1.xml")
    assert not [name for name in names if "external" in name or "vba" in name.lower()]
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    rows = []
    for row in ElementTree.fromstring(text).iter(f"{space}row"):
        cells: dict[int, object] = {}
        for one in row.iter(f"{space}c"):
            column = 0
            for letter in re.findall("[A-Z]", one.attrib["r"]):
                column = 26 * column + ord(letter) - 64
            assert one.find(f"{space}f") is None, "a formula"
            kind, value = one.attrib.get("t"), one.find(f"{space}v")
            if kind == "inlineStr":
                text = "".join(part.text or "" for part in one.iter(f"{space}t"))
                # the format writes control characters as _x000D_
                plain = re.sub("_x([0-9A-F]{4})_", lambda hit: chr(int(hit[1], 16)), text)
                cells[column - 1] = plain or None
            elif value is not None:
                cells[column - 1] = value.text == "1" if kind == "b" else float(value.text or "")
        rows.append([cells.get(n) for n in range(len(HEADER))])
    return rows


def as_cells(row: AnswerRecord) -> list[object]:
    """Return a row as a spreadsheet has it: no null, lists as JSON."""
    return [
        json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value or None
        if isinstance(value, str) else value
        for value in msgspec.structs.astuple(row)
    ]  # fmt: skip


def test_every_format_holds_the_same_rows(uncle: Path, tmp_path: Path) -> None:
    rows = table(uncle)
    for ending in WRITERS:
        done = export(uncle, tmp_path / f"a{ending}")
        assert (done.rows, done.cut) == (len(rows), 0)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [msgspec.convert(json.loads(line), AnswerRecord) for line in lines] == rows
    assert list(json.loads(lines[0])) == list(TokenRecord.__struct_fields__)
    whole = pq.read_table(tmp_path / "a.parquet")
    assert whole.column_names == list(TokenRecord.__struct_fields__)
    assert whole.select(HEADER).equals(pq.read_table(uncle / "answers.parquet"))
    expected = [as_cells(row) for row in rows]
    header, *found = sheet(tmp_path / "a.xlsx")
    assert header == HEADER
    assert found == expected
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        with (tmp_path / f"a{ending}").open(encoding="utf-8", newline="") as file:
            header, *cells = csv.reader(file, delimiter=separator)
        assert header == HEADER
        assert cells == [["" if v is None else str(v) for v in row] for row in expected]


HOSTILE = (
    '=HYPERLINK("http://x","y")', "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1",
    "＝1+1", "</t></is></c><c><f>1+1</f></c>", "\x1b[2J\x00\x07",
)  # fmt: skip


def hostile(run: Path, change: Callable[[Generation, int], Generation]) -> None:
    folder = RunFolder.open(run)
    rows = folder.read("generations/short", Generation)
    folder.write("generations/short", [change(g, n) for n, g in enumerate(rows)], Generation)
    (run / "answers.parquet").unlink()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_no_cell_is_a_formula(copied: Path, tmp_path: Path, ending: str) -> None:
    texts = dict(enumerate(HOSTILE))
    hostile(copied, lambda g, n: msgspec.structs.replace(g, text=texts.get(n, g.text)))
    out = tmp_path / f"a{ending}"
    export(copied, out)
    if ending == ".xlsx":
        _, *rows = sheet(out)
    else:
        with out.open(encoding="utf-8", newline="") as file:
            _, *rows = csv.reader(file, delimiter="\t" if ending == ".tsv" else ",")
    told = [str(row[HEADER.index("answer")]) for row in rows[: len(HOSTILE)]]
    assert told[:-2] == [f"'{text}" for text in HOSTILE[:-2]]
    assert told[-2] == HOSTILE[-2]
    for row in rows:
        assert not [
            c for c in row if isinstance(c, str) and c.lstrip(" ")[:1] in "=+@\t\r\n＝" and c
        ]


def test_numbers_stay_numbers(uncle: Path, tmp_path: Path) -> None:
    export(uncle, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, record in zip(rows, table(uncle), strict=True):
        assert (float(row["logprob"]) if row["logprob"] else None) == record.logprob


def test_a_long_cell_of_a_workbook_is_cut_and_told(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile(copied, lambda g, n: msgspec.structs.replace(g, text="😀" * 20_000) if n == 0 else g)
    out = tmp_path / "a.xlsx"
    assert execute(["export", str(copied), str(out)]) == 0
    said = capsys.readouterr()
    assert "1 cell was cut" in said.err
    assert f"rows written to {out}" in said.out
    _, first, *_ = sheet(out)
    assert first[HEADER.index("answer")] == "😀" * 16_383  # two units each, and no half of one
    export(copied, tmp_path / "a.csv")
    assert "😀" * 20_000 in (tmp_path / "a.csv").read_text(encoding="utf-8")


# ---- mistakes


@pytest.mark.parametrize("ending", list(WRITERS))
def test_a_file_of_somebody_else_is_kept(
    uncle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    out = tmp_path / f"mine{ending}"
    out.write_bytes(b"question,answer\nmine,draw_labels\n")
    assert execute(["export", str(uncle), str(out)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"sayso: {out} exists and was not written by sayso export")
    assert message.count("\n") == 1
    assert out.read_bytes().startswith(b"question")
    assert execute(["export", str(uncle), str(out), "--force"]) == 0
    assert execute(["export", str(uncle), str(out)]) == 0  # now it is sayso's


def test_a_workbook_of_somebody_else_is_kept(uncle: Path, tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    out = tmp_path / "mine.xlsx"
    book = xlsxwriter.Workbook(out)
    book.set_properties({"author": "somebody"})
    book.add_worksheet().write(0, 0, "draw_labels")
    book.close()
    with pytest.raises(InputError, match="--force"):
        export(uncle, out)


def test_mistakes_are_one_line(
    uncle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for run, out, words in [
        (uncle, tmp_path / "a.docx", "expected a name ending in .csv, .tsv, .xlsx, .jsonl"),
        (uncle, tmp_path / "a.xlsx", "pip install 'sayso[xlsx]'"),
        (uncle, tmp_path / "file" / "a.csv", "is not a folder"),
        (uncle, uncle / "questions.parquet", "is a file of a run, which needs it"),
        (tmp_path / "none", tmp_path / "a.csv", "does not exist: expected a run folder"),
        (tmp_path, tmp_path / "a.csv", "is not a run folder"),
    ]:
        assert execute(["export", str(run), str(out)]) == 2, words
        message = capsys.readouterr().err
        assert words in message
        assert message.count("\n") == 1
        assert not out.exists() or out.name == "questions.parquet"


def test_more_rows_than_a_sheet_holds(
    uncle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.storage.outputs.MOST_ROWS", 10)
    with pytest.raises(InputError, match=r"a sheet holds 9 rows and there are more: write .csv"):
        export(uncle, tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "jsonl", "parquet"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_is_one_line_with_the_file(
    uncle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    @contextlib.contextmanager
    def full(path: Path) -> Iterator[IO[bytes]]:
        file = open("/dev/full", "wb")  # noqa: SIM115
        try:
            yield file
            with disk_errors(path):
                file.flush()
        finally:
            with contextlib.suppress(OSError):
                file.close()

    monkeypatch.setattr(export_module, "replacing", full)
    (tmp_path / "small").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "small"))
    out = tmp_path / f"a.{ending}"
    with pytest.raises(InputError, match=rf"disk is full while writing .*a\.{ending}"):
        export(uncle, out)
    gc.collect()  # what a library left open says so when it is collected
    assert not list((tmp_path / "small").iterdir())


def test_an_export_can_be_scored(uncle: Path, tmp_path: Path) -> None:
    columns = {"gold": "golds", "samples": "draws"}
    methods = Counter(record.method for record in table(uncle))
    assert len(methods) == 2
    for method, rows in {"": methods.total(), **methods}.items():
        out = tmp_path / f"a{method}.jsonl"
        assert sayso.export(uncle, out, method=method).rows == rows
        done = score_file(out, tmp_path / "b.jsonl", ["num_sets"], nli="rules", columns=columns)
        assert (done.rows, bool(done.values["num_sets"])) == (rows, True)
        told = [notice for notice in done.notices if "2 methods are ranked together" in notice]
        assert len(told) == (not method)
    with pytest.raises(InputError, match=r"no answer of the method 'plane'; it has .*plain"):
        sayso.export(uncle, tmp_path / "c.csv", method="plane")
    assert not (tmp_path / "c.csv").exists()


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_score_knows_the_columns_of_an_export(uncle: Path, tmp_path: Path, ending: str) -> None:
    table = tmp_path / f"answers{ending}"
    export(uncle, table)
    answers = open_answer_file(table)
    rows = list(answers.rows)
    stored = list(RunFolder.open(uncle).iter("answers", AnswerRecord))
    assert len(rows) == len(stored)
    for row, record in zip(rows, stored, strict=True):
        assert row.samples == record.draws
        assert row.gold == record.golds
        assert row.answer == (record.sentence if record.form == "long" else record.answer)
    assert answers.notices == [
        "a table of sayso export: draws are read as samples, golds as gold, and in a paragraph the "
        "sentence about a fact as the answer"
    ]
    # what the user names is taken as it is named
    first = next(open_answer_file(table, {"samples": "golds", "answer": "stated"}).rows)
    assert first.samples == stored[0].golds
    assert first.answer == stored[0].stated
    result = score_file(table, methods=["num_sets"], nli="rules")
    assert result.board is not None
    assert "num_sets" in result.values


def test_rows_of_an_export_are_known_in_python(uncle: Path, tmp_path: Path) -> None:
    table = tmp_path / "answers.jsonl"
    export(uncle, table)
    rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    scored = sayso.score(rows, methods=["num_sets"], nli="rules")
    assert all(row["num_sets"] >= 1 for row in scored)


def test_no_table_of_a_run_is_written_over(uncle: Path) -> None:
    tables = ("questions.parquet", "answers.parquet", "generations/short.parquet")
    before = {name: (uncle / name).read_bytes() for name in tables}
    for name in tables:
        with pytest.raises(InputError, match="is a file of a run, which needs it"):
            export(uncle, uncle / name, force=True)
    assert {name: (uncle / name).read_bytes() for name in tables} == before


def test_a_table_near_another_program_s_manifest_is_no_run_s(uncle: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my web extension"}')
    for _ in range(2):
        assert execute(["export", str(uncle), str(tmp_path / "answers.parquet")]) == 0
