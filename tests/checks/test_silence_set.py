"""The set *who reads silence?*: its file, its stored readings, and the tables of the docs."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import sayso.checks.silence
from sayso import cli
from sayso.checks.judge import judge_check, judge_sheet, silence_set
from sayso.checks.silence import STANCE_OF, SilenceRow, silence_rows
from sayso.judges.reliability import place
from sayso.records import InputError

ROOT = Path(__file__).parents[2]
DATASHEET = Path(sayso.checks.silence.__file__).with_suffix(".md")

#: rows of each class, and what they are expected to do
CLASSES = {
    "plain": (10, {"answers"}), "hedged": (12, {"answers"}), "doubt_as_value": (14, {"answers"}),
    "denial": (8, {"answers"}), "quoted_doubt": (9, {"answers"}), "translation": (6, {"answers"}),
    "premise_corrected": (5, {"answers"}), "partial": (6, {"answers"}), "idiom": (6, {"answers"}),
    "gap": (34, {"does not answer"}), "premise_denied": (7, {"does not answer"}),
    "blank": (11, {"does not answer", "says nothing"}), "refusal": (12, {"refuses"}),
    "asks_back": (10, {"asks back"}),
}  # fmt: skip

#: what ``rules`` misreads without gold answers: silence read as an answer, answers read as silence
TAKEN_FOR_ANSWERS = (79, 88, 90, 92, 93, 97, 98, 102, 103, 106, 110, 113, 114, 133, 135)
TAKEN_FOR_SILENCE = (23, 27, 28, 29, 33, 35, 47, 51, 52, 53, 55, 57, 58)
#: and which of the answers it still misreads where it knows the gold answers
TAKEN_FOR_SILENCE_GOLD = (33, 47, 51, 53)


@pytest.fixture(scope="module")
def rows() -> list[SilenceRow]:
    return silence_rows()


@pytest.fixture(scope="module")
def study() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks" / "readers"))
    return importlib.import_module("silence")


def test_the_file_is_whole(rows: list[SilenceRow]) -> None:
    assert [row.id for row in rows] == [f"silence-{n:03}" for n in range(1, 151)]
    assert len({row.question for row in rows}) == 150  # one question each
    assert len({row.answer for row in rows}) >= 149
    for row in rows:
        assert row.question.strip() == row.question
        assert row.why
        assert row.expected in STANCE_OF
        # only an answer has a value to doubt, and only gaps have a manner
        assert not row.hedged or row.expected == "answers", row.id
        assert row.hedged == (row.kind == "hedged"), row.id
        assert (row.manner is not None) == (row.kind == "gap"), row.id
        # an answer is about something that a judge can compare
        assert row.gold or row.expected != "answers", row.id
        assert row.gold != "?"


def test_classes_and_what_is_expected_of_them(rows: list[SilenceRow]) -> None:
    assert Counter(row.kind for row in rows) == {kind: n for kind, (n, _) in CLASSES.items()}
    for kind, (_, expected) in CLASSES.items():
        assert {row.expected for row in rows if row.kind == kind} == expected, kind
    assert sum(row.expected == "answers" for row in rows) == 76
    # the phrasings without words are all there
    assert {"", "-", "N/A"} <= {row.answer for row in rows}


def test_the_datasheet_says_what_is_in_the_file(rows: list[SilenceRow]) -> None:
    text = DATASHEET.read_text("utf-8")
    told = re.findall(r"^\| `(\w+)`: .* \| (\d+) \|", text, re.MULTILINE)
    assert {kind: int(n) for kind, n in told} == {kind: n for kind, (n, _) in CLASSES.items()}
    blank = Counter(row.expected for row in rows if row.kind == "blank")
    assert (
        f"does not answer ({blank['does not answer']}), says nothing ({blank['says nothing']})"
        in (text)
    )
    for source in {row.source for row in rows}:
        assert f"`{source}`" in text
    manners = {row.manner for row in rows if row.manner}
    assert len(manners) == 12
    assert "twelve manners" in text
    assert "CC0" in text


def test_the_stored_readings_are_those_of_today(study: ModuleType, rows: list[SilenceRow]) -> None:
    stored = study.stored_readings()
    assert stored, "silence.json is of another set: run benchmarks/readers/silence.py --store"
    judge = study.RulesJudge()
    for name, golds in (("`rules`", False), ("`rules` with gold answers", True)):
        assert stored[name]["version"] == judge.signature
        assert stored[name]["read"] == study.judged(judge, rows, golds=golds), name
    pattern = "".join("D" if study.PATTERN.search(row.answer) else "A" for row in rows)
    assert stored["a pattern of 18 phrases"]["read"] == pattern
    assert len(study.PHRASES) == 18
    for one in stored.values():
        assert len(one["read"]) == len(rows)
        assert set(one["read"]) <= set("AHNRBSD?")


def test_what_our_reader_misreads_is_what_is_stated(
    study: ModuleType, rows: list[SilenceRow]
) -> None:
    stored = study.stored_readings()

    def numbers(name: str, *, silent: bool) -> tuple[int, ...]:
        wrong = study.misread(rows, stored[name]["read"])
        return tuple(int(row.id[-3:]) for row in wrong if study.silent(row) is silent)

    assert numbers("`rules`", silent=True) == TAKEN_FOR_ANSWERS
    assert numbers("`rules`", silent=False) == TAKEN_FOR_SILENCE
    assert numbers("`rules` with gold answers", silent=True) == TAKEN_FOR_ANSWERS
    assert numbers("`rules` with gold answers", silent=False) == TAKEN_FOR_SILENCE_GOLD
    text = " ".join((ROOT / "docs" / "readers.md").read_text("utf-8").split())
    wrong, with_gold = 28, 19
    assert len(TAKEN_FOR_ANSWERS) + len(TAKEN_FOR_SILENCE) == wrong
    assert len(TAKEN_FOR_ANSWERS) + len(TAKEN_FOR_SILENCE_GOLD) == with_gold
    assert f"misreads {wrong} of the 150" in text
    assert f"{with_gold} if it knows the gold answers" in text


def test_the_docs_have_the_tables_of_the_stored_readings(
    study: ModuleType, rows: list[SilenceRow]
) -> None:
    pages = (ROOT / "docs" / "readers.md", ROOT / "benchmarks" / "readers" / "trained.md")
    for page, table in zip(pages, study.tables(study.stored_readings(), rows), strict=True):
        assert table in page.read_text("utf-8"), "python benchmarks/readers/silence.py --tables"


def made(*pairs: tuple[str, bool]) -> list[SilenceRow]:
    """Rows with what is expected of them."""
    return [
        SilenceRow(
            id=f"silence-{n:03}", question="Who?", gold=None, answer="A.", kind="plain",
            expected=expected, hedged=hedged, source="ours", why="made",  # type: ignore[arg-type]
        )
        for n, (expected, hedged) in enumerate(pairs)
    ]  # fmt: skip


def test_what_counts_as_misread(study: ModuleType) -> None:
    some = made(("answers", False), ("answers", True), ("refuses", False), ("asks back", False),
                ("does not answer", False), ("says nothing", False))  # fmt: skip
    # a hedged answer is an answer, a refusal is silence, whatever their kinds
    assert study.misread(some, "HANNRN") == []
    assert study.misread(some, "AADDDD") == []
    assert [row.expected for row in study.misread(some, "NSAH??")] == [
        "answers", "answers", "refuses", "asks back",
    ]  # fmt: skip
    # undecided rows are counted apart, and in the right column
    lines = study.table({"x": {"version": "1", "read": "NA?AAS"}}, some).splitlines()
    assert lines[0].startswith(
        "| reader | version | misread of 6 | silence taken for an answer, of 4"
    )
    assert lines[2] == "| x | 1 | 3 | 2 | 1 | 1 |"
    assert study.by_class({"x": {"version": "1", "read": "NA?AAS"}}, some).endswith(
        "| `plain` | 6 | 3 (1) |"
    )


def test_readings_of_another_set_are_not_used(
    study: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = json.loads(study.STORED.read_text("utf-8"))
    other = tmp_path / "silence.json"
    other.write_text(json.dumps({**kept, "set": "0" * 12}), "utf-8")
    monkeypatch.setattr(study, "STORED", other)
    assert study.stored_readings() == {}


def test_a_reader_that_loses_answers_is_not_counted(
    study: ModuleType, rows: list[SilenceRow]
) -> None:
    with pytest.raises(SystemExit, match="1 of 150 answers read"):
        study.lines([sys.executable, "-c", "print('{}')"], rows)


# ---- sayso judge-check --labeled silence


def test_a_judge_is_checked_on_the_set(tmp_path: Path, rows: list[SilenceRow]) -> None:
    found = judge_check("rules", labeled="silence", cache=tmp_path)
    assert found.labelled is not None
    assert (found.labelled.name, found.labelled.aspects) == ("silence", 150)
    kinds = {group.name: group.agreed.of for group in found.labelled.groups}
    assert kinds == {kind: n for kind, (n, _) in CLASSES.items()}
    # stances, not contents, are compared: kinds of silence count, so it is stricter than the study
    assert found.labelled.agreed == found.labelled.stance_agreed
    assert found.labelled.agreed.count < 150 - 23
    # the shares of the set are nobody's: nothing is kept
    main = judge_sheet(found).main
    assert main is not None
    assert ("silence", "verdict") in [labels for labels, _ in main.rows]
    assert not place(found.signature, tmp_path).exists()
    assert len(silence_set()) == len(rows)


def test_the_command_says_that_nothing_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["judge-check", "rules", "--labeled", "silence", "--set", f"cache={tmp_path}"]
    assert cli.execute(argv) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "silence kind:" in text
    assert "not stored: reports cite only complete checks" in text
    assert not (tmp_path / "judge-checks").exists()


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("silence").mkdir()
    with pytest.raises(InputError, match="silence"):
        judge_check("rules", labeled="silence", cache=tmp_path)
    with pytest.raises(InputError, match="columns are for a labeled file"):
        judge_check("rules", labelled=None, columns="gold=x", cache=tmp_path)
