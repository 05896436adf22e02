"""``--data file:``: tables of one's own, columns by their names, mistakes with their place."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import datasets
from sayso.datasets import own_table
from sayso.datasets.columns import COLUMNS
from sayso.records import Aspect, Gold, InputError
from support.tables import tabled


def write(folder: Path, name: str, text: str) -> Path:
    place = folder / name
    place.write_text(text, encoding="utf-8")
    return place


def row(**fields: Any) -> str:
    return json.dumps({"question": "Who?", "gold": "Ann", **fields}) + "\n"


def test_the_same_table_in_every_format(tmp_path: Path) -> None:
    rows = [
        {"q": "Where?", "a": ["Rome", "Roma"], "who": "Ann"},
        {"q": "When?", "a": ["1815-12-10T00:00:00Z"], "who": "Ann"},
    ]
    text = "".join(json.dumps(r) + "\n" for r in rows)
    places = [
        write(tmp_path, "t.jsonl", text),
        write(tmp_path, "t.json", json.dumps(rows)),
        write(
            tmp_path,
            "t.csv",
            'q,a,who\nWhere?,"[""Rome"", ""Roma""]",Ann\nWhen?,1815-12-10T00:00:00Z,Ann\n',
        ),
        write(
            tmp_path, "t.tsv", 'q\ta\twho\nWhere?\t"[""Rome"",""Roma""]"\tAnn\n'
            "When?\t1815-12-10T00:00:00Z\tAnn\n",
        ),
    ]  # fmt: skip
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    hashes = set()
    for place in [*places, tmp_path / "t.parquet"]:
        data = datasets.load_dataset(
            own_table.name_with_columns(f"file:{place}", "question=q, gold=a,entity=who")
        )
        where, when = data.questions
        assert where.golds == (Gold("Rome"), Gold("Roma"))  # two true values
        assert when.golds == (Gold("1815-12-10T00:00:00Z", kind="date"),)
        assert (where.entity, where.answerable) == ("Ann", True)
        hashes.add(data.hash)
    assert len(hashes) == 1


def test_every_column(tmp_path: Path) -> None:
    full = row(
        aliases=["A."], entity="E", domain="D", aspect="birth", context=" C \n d ", answerable=True
    )
    (question,) = datasets.load_dataset(f"file:{write(tmp_path, 't.jsonl', full)}").questions
    assert question.golds == (Gold("Ann", ("A.",)),)
    assert (question.entity, question.domain, question.context) == ("E", "D", "C \n d")
    assert question.aspect == Aspect("birth")


@tabled
def test_golds(value: Any, golds: tuple[Gold, ...] | None, tmp_path: Path) -> None:
    (question,) = datasets.load_dataset(
        f"file:{write(tmp_path, 't.jsonl', row(gold=value))}"
    ).questions
    assert question.golds == golds
    assert question.answerable is (True if golds else None)


def test_other_names_of_the_gold_and_of_columns(tmp_path: Path) -> None:
    file = write(
        tmp_path, "t.jsonl", json.dumps({"question": "Q?", "answers": ["A"], "category": 3})
    )
    (question,) = datasets.load_dataset(f"file:{file}").questions
    assert (question.golds, question.domain) == ((Gold("A"),), "3")
    # a column that was given to one of ours is no other's
    file = write(tmp_path, "u.jsonl", json.dumps({"answer": "Q?", "gold": "A"}))
    (question,) = datasets.load_dataset(f"file:{file}#question=answer").questions
    assert (question.text, question.golds) == ("Q?", (Gold("A"),))


def test_a_csv_needs_no_prefix_and_a_name_may_hold_a_number_sign(tmp_path: Path) -> None:
    file = write(tmp_path, "a#b=c.csv", "question,gold\nQ?,A\n")
    assert datasets.load_dataset(str(file)).questions[0].golds == (Gold("A"),)
    turned = datasets.load_dataset(f"file:{file}#question=gold,gold=question").questions[0]
    assert (turned.text, turned.golds) == ("A", (Gold("Q?"),))


def test_questions_without_gold_and_without_answer_are_told(tmp_path: Path) -> None:
    text = "question,gold,answerable\nQ?,A,\nR?,,\nS?,,false\n"
    data = datasets.load_dataset(f"file:{write(tmp_path, 't.csv', text)}")
    assert [q.answerable for q in data.questions] == [True, None, False]
    assert any(
        note.startswith("1 have no gold: their answers count neither") for note in data.notes
    )
    assert "1 cannot be answered: abstaining is right" in data.notices


@tabled
def test_mistakes_are_told_with_their_place(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    file = write(tmp_path, name, text)
    with pytest.raises(InputError, match=said) as error:
        datasets.load_dataset(f"file:{file}")
    assert "\n" not in str(error.value)
    assert str(file) in str(error.value)


@tabled
def test_lists_and_dates_in_cells(
    cell: str, golds: tuple[Gold, ...] | None, tmp_path: Path
) -> None:
    file = tmp_path / "t.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([["question", "gold"], ["Q?", cell]])
    if cell.startswith("['it''s'"):  # two texts without a comma between them are not one
        with pytest.raises(InputError, match="looks like a list"):
            datasets.load_dataset(f"file:{file}")
        return
    (question,) = datasets.load_dataset(f"file:{file}").questions
    assert question.golds == golds


EXCEL = "Question;Answer ;Answerable\r\nWho wrote Émile, then?;Rousseau;WAHR\r\n;;\r\n\r\n"


def test_a_table_as_a_spreadsheet_saves_it(tmp_path: Path) -> None:
    """Semicolons, a byte order mark, capitals and spaces in the header, empty rows at the end."""
    text = EXCEL.replace("WAHR", "TRUE")
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "b.csv").write_bytes(text.replace(";", "\t").encode())
    for name in ("a.csv", "b.csv"):
        data = datasets.load_dataset(f"file:{tmp_path / name}")
        (question,) = data.questions
        assert question.text == "Who wrote Émile, then?"
        assert question.golds == (Gold("Rousseau"),)
        assert data.rows == 1
    named = datasets.load_dataset(
        own_table.name_with_columns(str(tmp_path / "a.csv"), "question=Question,gold=Answer")
    )
    assert named.questions[0].golds == (Gold("Rousseau"),)


@tabled
def test_other_encodings_are_told_with_their_line(
    content: bytes, said: str, tmp_path: Path
) -> None:
    for name in ("t.csv", "t.tsv"):
        (tmp_path / name).write_bytes(content if name == "t.csv" else content.replace(b";", b"\t"))
        with pytest.raises(InputError, match=said):
            datasets.load_dataset(f"file:{tmp_path / name}")


def test_a_missing_value_that_was_written_out_is_told(tmp_path: Path) -> None:
    """``None`` can be an answer, so it stands; but nobody should find out from the numbers."""
    text = "question,gold\nA?,NaN\nB?,None\nC?,N/A\nD?,null\nE?,Nantes\n"
    data = datasets.load_dataset(f"file:{write(tmp_path, 't.csv', text)}")
    assert len(data.questions) == 5
    (told,) = [note for note in data.notes if "NaN" in note]
    assert told.startswith("4 golds are NaN, None, null or N/A")


@pytest.mark.parametrize("yes", ["yes", "TRUE", "1", "1.0", 1.0, True])
def test_answerable_as_people_write_it(yes: Any, tmp_path: Path) -> None:
    text = json.dumps({"question": "Q?", "gold": "A", "answerable": yes}) + "\n"
    (question,) = datasets.load_dataset(f"file:{write(tmp_path, 't.jsonl', text)}").questions
    assert question.answerable is True


def test_dates_and_decimals_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    values = [
        datetime.date(1815, 12, 10),
        datetime.datetime(987, 6, 5, 4, 3),
        decimal.Decimal("20.50"),
    ]
    expected = [
        Gold("1815-12-10T00:00:00Z", kind="date"),
        Gold("0987-06-05T04:03:00Z", kind="date"),
        Gold("20.50"),
    ]
    for value, gold in zip(values, expected, strict=True):
        table = pa.table({"question": ["Q?"], "gold": [value]})
        pq.write_table(table, tmp_path / "t.parquet")
        (question,) = datasets.load_dataset(f"file:{tmp_path / 't.parquet'}").questions
        assert question.golds == (gold,)


def test_what_is_no_single_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder: name one file in it"):
        datasets.load_dataset(f"file:{tmp_path}")
    for name in (str(tmp_path), f"popqa:{tmp_path}", f"squad:{tmp_path}", f"uncle:{tmp_path}"):
        with pytest.raises(InputError, match="is a folder: name one file in it"):
            datasets.load_dataset(name)
    table = write(tmp_path, "t.jsonl", row())
    with pytest.raises(InputError, match="a table of questions and golds: --data file:"):
        datasets.load_dataset(str(table))


@tabled
def test_maps_of_columns_that_say_nothing(data: str, columns: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own_table.name_with_columns(data, columns)


def test_a_map_that_names_a_column_that_is_not_there(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "q,a\nQ?,A\n")
    with pytest.raises(InputError, match=r"gold=b names a missing column.* has q, a"):
        datasets.load_dataset(f"file:{file}#question=q,gold=b")


@given(
    st.dictionaries(
        st.sampled_from([*COLUMNS, "answers"]),
        st.recursive(
            st.none() | st.text() | st.integers() | st.floats() | st.booleans(),
            lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=2),
            max_leaves=5,
        ),
    ),
    st.booleans(),
)
def test_any_row_is_a_question_or_an_input_error(row: dict[str, Any], loose: bool) -> None:
    try:
        data = own_table.from_rows([(1, row)], {}, "x", "x", loose=loose)
    except InputError:
        pass
    else:
        (question,) = data.questions
        assert question.text
        assert not (question.answerable is False and question.golds)


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize("encoding", WIDE)
@tabled
def test_wide_encodings_are_named_with_and_without_a_mark(
    encoding: str, name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path(name.partition(":")[2])
    file.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=f"{encoding[:6].upper()}, not UTF-8; save the file as"):
        datasets.load_dataset(name)
    file.write_bytes(text.encode("utf-8-sig"))
    assert datasets.load_dataset(name).questions


def test_golds_that_are_sentences_are_noted(tmp_path: Path) -> None:
    golds = ("She died on 3 May 2024.", "the mill was sold in May", "Ann Lee", "To Be or Not to Be")
    text = "".join(row(question=f"What of {n}?", gold=gold) for n, gold in enumerate(golds))
    place = write(tmp_path, "t.jsonl", text)
    (told,) = [n for n in datasets.load_dataset(f"file:{place}").notices if "are sentences" in n]
    assert told.startswith("2 gold answers are sentences ('She died on 3 May 2024.')")
