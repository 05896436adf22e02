"""Work of annotators: drawn once, resumed, shared; sheets and files; the command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.cli import execute
from sayso.people.choices import LabelChoices
from sayso.people.corrected import corrected_numbers
from sayso.people.guide import GUIDES
from sayso.people.labeling import (
    export_labels,
    import_labels,
    open_labeling,
    open_store,
)
from sayso.people.labels import (
    CODES,
    KINDS,
    READ_KINDS,
    STANCES,
    LabeledItem,
    LabelStore,
    merge_labels,
    verdict_of_person,
)
from sayso.records import Generation, Gold, InputError, Question, Verdict
from sayso.storage.run_folder import LABELS, RunFolder
from support.label_runs import answers_run, as_judge, claims_run, label_run, pairs_run
from support.tables import tabled


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return answers_run(tmp_path / "run", 80)


def test_the_guide_offers_what_a_label_may_say() -> None:
    for kind in KINDS:
        item = LabeledItem(kind, "s", "t", "a")
        steps = {step.field: [c.value for c in step.choices] for step in GUIDES[kind].steps}
        keys = [[c.key for c in step.choices] for step in GUIDES[kind].steps]
        assert all(some == [str(n) for n in range(1, len(some) + 1)] for some in keys)
        if kind in READ_KINDS:
            assert steps["stance"] == list(STANCES[kind])
            for content in steps["content"]:
                verdict_of_person(item, "Ada", {"stance": "hedged", "content": content})
                verdict_of_person(item, "Ada", {"stance": "committed", "content": content})
        elif kind == "sureness":
            for number in steps["number"]:
                verdict_of_person(item, "Ada", {"number": number})
        else:
            assert set(steps["label"]) == set(CODES[kind])


def test_work_is_drawn_once_and_goes_on(run: Path) -> None:
    with open_store(run) as store:
        first = open_labeling(run, store, LabelChoices(kind="answer", n=20, shared=5, seed=4))
        ada = [one.place for one in first.work("Ada")]
        assert first.label("Ada", ada[0], {"stance": "abstained"}, seconds=1e9, name="a")
    with open_store(run) as store:
        again = open_labeling(run, store, LabelChoices(n=30))
        assert again.design == first.design
        assert [one.place for one in again.work("Ada")][:20] == ada
        assert len(again.work("Ada")) == 30
        ((place, label),) = again.said("Ada")
        assert place == ada[0]
        assert label.seconds == 600.0
        assert label.verdict.by == "person:Ada"
        assert label.probability == pytest.approx(1 / 20)
        bo = {one.place for one in again.work("Bo")}
        assert len(bo & {one.place for one in again.work("Ada")}) == 5
        # asked for otherwise, items are drawn anew, and the labels stay
        with pytest.raises(InputError) as refused:
            open_labeling(run, store, LabelChoices(design="random", n=20))
        assert str(refused.value).startswith(
            f"--design random: Ada labeled items of {run} that were drawn by --design stratified "
            "--seed 4. To go on with these, leave out --design and --seed; to draw"
        )
        with pytest.raises(InputError, match="--seed 5: Ada labeled items"):
            open_labeling(run, store, LabelChoices(seed=5))
        other = open_labeling(run, store, LabelChoices(design="random", n=20, force=True))
        assert other.design.id != first.design.id
        assert "drawn anew" in " ".join(other.notices)
        assert len(store.labels()) == 1


def test_a_run_that_was_judged_anew_draws_anew_and_keeps_labels(run: Path) -> None:
    with open_store(run) as store:
        first = open_labeling(run, store, LabelChoices(n=20))
        place = first.work("Ada")[0].place
        first.label("Ada", place, {"stance": "abstained"}, name="a")
        folder = RunFolder.open(run)
        read = folder.read("verdicts/short", Verdict)
        changed = [Verdict(v.target, v.asked, v.by, stance="abstained") for v in read]
        folder.write("verdicts/short", changed, Verdict)
        again = open_labeling(run, store, LabelChoices(n=20))
        assert "judged again" in again.notices[0]
        assert again.design.id != first.design.id
        assert len(store.labels()) == 1


def test_nobody_labels_items_of_another(run: Path) -> None:
    with open_store(run) as store:
        opened = open_labeling(run, store, LabelChoices(n=5))
        opened.work("Ada")
        (bo,) = [one.place for one in opened.work("Bo")][:1]
        with pytest.raises(InputError, match="is no item of Ada"):
            opened.label("Ada", bo, {"stance": "abstained"})
        with pytest.raises(InputError, match="is no item of Ada"):
            opened.undo("Ada", bo, "x")


def test_declining_is_right_where_nobody_can_answer(run: Path) -> None:
    folder = RunFolder.open(run)
    questions = [
        Question(q.id, q.dataset, q.text, None, answerable=False, parts=q.parts)
        for q in folder.read("questions", Question)
    ]
    folder.write("questions", questions, Question)
    with open_store(run) as store:
        opened = open_labeling(run, store, LabelChoices(kind="answer", n=3))
        one = opened.work("Ada")[0]
        assert one.shown.golds == ("this question cannot be answered",)
        opened.label("Ada", one.place, {"stance": "abstained"}, name="a")
        assert opened.said("Ada")[0][1].verdict.content == "correct"
        before = store.labels()
        for ending in ("jsonl", "csv"):  # what goes out comes in again
            place = run.parent / f"labels.{ending}"
            assert export_labels(run, place) == 1
            assert import_labels(run, store, place)[1] == (0, 0)
            opened.undo("Ada", one.place, f"undo {ending}")
            assert import_labels(run, store, place)[1] == (1, 0)
            assert store.labels() == before


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (LabelChoices(n=0), "--n 0: expected 1 or more"),
        (LabelChoices(n=5, shared=6), "--shared 6: expected 0 to --n, which is 5"),
        (LabelChoices(kind="tweet"), "--kind 'tweet': expected one of answer"),
        (LabelChoices(design="worst"), "--design 'worst'"),
    ],
)
def test_wrong_choices_are_one_line(run: Path, choices: LabelChoices, expected: str) -> None:
    with open_store(run) as store, pytest.raises(InputError, match=expected):
        open_labeling(run, store, choices)


def test_who_lacks_items_is_told_why(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = run.parent / "sheet.csv"

    def ask(annotator: str, *more: str) -> tuple[int, str]:
        own = ("--annotator", annotator, "--sheet", str(sheet), "--kind", "answer", "--force")
        code = execute(["label", str(run), *own, *more])
        return int(code or 0), capsys.readouterr().err

    def label_all(annotator: str, n: int) -> None:
        with open_store(run) as store:
            opened = open_labeling(run, store, LabelChoices(kind="answer", n=n))
            for number, one in enumerate(opened.work(annotator)):
                opened.label(annotator, one.place, {"skipped": "?"}, name=f"{annotator}{number}")

    for name in ("Ada", "Bo"):
        code, said = ask(name, "--n", "20")
        assert code == 0
        assert "shared" not in said
    # shared items that are asked for later find no room
    code, said = ask("Ada", "--n", "20", "--shared", "15")
    assert code == 0
    assert "Bo has 20 items already, without 15 of the 15 shared ones: --n 35 adds them" in said
    assert "Ada has" not in said
    code, said = ask("Bo", "--n", "35")
    assert code == 0
    assert "shared ones" not in said
    # a sheet without items is none
    label_all("Ada", 20)
    code, said = ask("Ada", "--n", "20")
    assert code == 2
    assert "Ada labeled all 20 items already; --n " in said
    with open_store(run) as store:
        total = len(open_labeling(run, store, LabelChoices(kind="answer")).places)
    # Bo's 20 items that are not shared have no label: Cy gets them too, all others are taken
    code, said = ask("Cy", "--n", str(total))
    assert code == 0
    assert "20 items of Cy are also items of Bo, not labeled so far: no others are free" in said
    label_all("Cy", total)
    code, said = ask("Cy", "--n", str(total))
    assert (code, "Cy labeled all" in said, "other people labeled the rest" in said) == (
        2,
        True,
        True,
    )
    code, said = ask("Bo", "--n", str(total))
    assert f"Bo gets 35 items, not {total}: other people labeled the rest" in said
    code, said = ask("Dee", "--shared", "0")
    assert code == 2
    assert f"Dee has no items: other people labeled all {total}; --shared N" in said


# ---- the command: sheets and files


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_sheet_is_blind_and_its_labels_come_back(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "ada.csv"
    command = ["label", str(run), "--kind", "answer", "--n", "12"]
    assert execute([*command, "--annotator", "Ada", "--sheet", str(sheet)]) == 0
    assert "12 items to label. Fill in stance (committed, hedged," in capsys.readouterr().err
    rows = rows_of(sheet)
    assert list(rows[0]) == [
        "annotator", "question", "gold", "text", "stance", "content", "skipped", "kind", "stage",
        "target", "asked", "shown",
    ]  # fmt: skip
    assert not any("known" in cell or "judge" in cell for row in rows for cell in row.values())
    for number, row in enumerate(rows[:7]):
        row["stance"] = "committed" if number % 2 else "abstained"
        row["content"] = "correct" if number % 2 else ""
    rows[7]["skipped"] = "unreadable"
    rows[2] |= {"stance": "", "content": ""}
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert execute(["label", str(run), "--import", str(sheet)]) == 0
    said = capsys.readouterr().err
    assert "7 labels, 7 of them new; 5 rows have no label (line 4, 10, 11, 12, 13)" in said
    assert "groups" not in said
    with LabelStore.open(run) as store:
        labels = store.labels()
    assert len(labels) == 7
    # the draw is known again, though the sheet does not tell it
    assert all(one.design and one.stratum for one in labels)
    assert sum(one.probability is None for one in labels) == 1
    # what was said on the page since the sheet was saved is later, however often it is imported
    with open_store(run) as store:
        opened = open_labeling(run, store, LabelChoices(kind="answer", n=12))
        first = opened.work("Ada")[0].place
        opened.label("Ada", first, {"stance": "refused_by_policy"}, name="later")
    for _ in range(2):
        assert execute(["label", str(run), "--import", str(sheet)]) == 0
        assert "7 labels, 0 of them new; 1 is older" in capsys.readouterr().err
    rows[0]["stance"] = "asked_back"
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    ahead = time.time() + 9_000  # a clock that is ahead makes no label later than today's
    os.utime(sheet, (ahead, ahead))
    assert execute(["label", str(run), "--import", str(sheet)]) == 0
    assert "7 labels, 1 of them new" in capsys.readouterr().err
    with LabelStore.open(run) as store:
        assert max(one.time for one in store.labels()) <= datetime.now(UTC).isoformat()
    # a second sheet has what is left, and does not replace the first; what is refused draws nothing
    before = (run / LABELS).read_bytes()
    assert execute([*command, "--annotator", "Bo", "--sheet", str(sheet)]) == 2
    assert "exists and may hold labels" in capsys.readouterr().err
    anew = ("--design", "random", "--seed", "5", "--force", "--annotator", "Bo")
    assert execute([*command, *anew, "--sheet", f"{sheet}.xlsx"]) == 2
    assert (run / LABELS).read_bytes() == before
    assert execute([*command, "--annotator", "Ada", "--sheet", str(sheet), "--force"]) == 0
    assert len(rows_of(sheet)) == 5
    assert execute(["agreement", str(run)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "6 labeled (Ada 6); 1 skipped; 1 passed over" in out
    # an export knows what was passed over, and takes the place of no label
    export, copy = tmp_path / "labels.jsonl", answers_run(tmp_path / "copy", 80)
    assert execute(["label", str(run), "--export", str(export)]) == 0
    assert execute(["label", str(run), "--import", str(export)]) == 0
    assert "8 labels, 0 of them new" in capsys.readouterr().err
    for new in (8, 0):
        assert execute(["label", str(copy), "--import", str(export)]) == 0
        assert f"8 labels, {new} of them new" in capsys.readouterr().err
        with LabelStore.open(copy) as store:
            assert [*map(len, store.left_out("short"))] == [1, 1]
            passed = next(one for one in store.labels() if one.skipped == "passed over")
    said = verdict_of_person(passed.item, "Ada", {"stance": "hedged"})
    with LabelStore.open(copy) as store:
        early = msgspec.structs.replace(passed, verdict=said, skipped="", time="2026-01-01")
        assert merge_labels(store, [early]) == (1, 0)
        assert merge_labels(store, [passed]) == (0, 0)
        assert [*map(len, store.left_out("short"))] == [1, 0]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("renamed", "it has no column content, but 'Content'"),
        ("sorted", "line 2: its question is that of another item"),
        ("shifted", "line 2: its text is that of another item"),
    ],
)
def test_a_sheet_whose_columns_no_longer_fit_its_items_is_refused(
    run: Path, tmp_path: Path, changed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else labels would say "cannot tell" of every answer, or be of the answers of other rows."""
    sheet = tmp_path / "ada.csv"
    command = ["label", str(run), "--kind", "answer", "--n", "12", "--annotator", "Ada"]
    assert execute([*command, "--sheet", str(sheet)]) == 0
    rows = [row | {"stance": "committed", "content": "correct"} for row in rows_of(sheet)]
    kept = ["question", "gold", "text", "stance", "content"]
    if changed == "renamed":
        rows = [{name.replace("con", "Con"): cell for name, cell in row.items()} for row in rows]
    elif changed == "sorted":
        by_text = sorted(rows, key=lambda row: row["question"], reverse=True)
        rows = [
            row | {name: one[name] for name in kept} for row, one in zip(rows, by_text, strict=True)
        ]
    else:
        texts = [row["text"] for row in rows]
        rows = [row | {"text": text} for row, text in zip(rows, texts[1:] + texts[:1], strict=True)]
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    capsys.readouterr()
    assert execute(["label", str(run), "--import", str(sheet)]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    with LabelStore.open(run) as store:
        assert store.labels() == []


@pytest.mark.parametrize(("make", "kind"), [(claims_run, "claim"), (pairs_run, "pair")])
def test_labels_of_other_kinds_go_out_and_in(  # type: ignore[no-untyped-def]
    tmp_path: Path, make, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, copy = make(tmp_path / "run"), make(tmp_path / "copy")
    with open_store(run) as store:
        opened = open_labeling(run, store, LabelChoices(kind=kind, n=4))
        for number, one in enumerate(opened.work("Ada")):
            code = list(CODES[opened.kind])[number % 3]
            opened.label("Ada", one.place, {"label": code}, name=str(number))
        labels = store.labels()
    table = tmp_path / "labels.jsonl"
    assert execute(["label", str(run), "--export", str(table)]) == 0
    assert len(table.read_text().splitlines()) == 4
    # a file that exists may be all that somebody has of their labels
    before = table.read_bytes()
    with table.open("a") as file:
        file.write('{"annotator":"Ada"}\n')
    assert execute(["label", str(run), "--export", str(table)]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"sayso: --export {table} exists and may hold labels: give another name, or pass --force "
        "to replace it"
    )
    assert table.read_bytes() == before + b'{"annotator":"Ada"}\n'
    assert execute(["label", str(copy), "--import", str(table)]) == 0
    said = capsys.readouterr().err
    assert "4 labels, 4 of them new; 1 row has no label (line 5)" in said
    assert "note: 4 labels from a design whose groups this run does not store: each" in said
    assert execute(["label", str(run), "--export", str(table), "--force"]) == 0
    assert table.read_bytes() == before
    assert execute(["label", str(copy), "--import", str(table)]) == 0
    capsys.readouterr()
    assert execute(["label", str(run), "--import", str(table)]) == 0
    assert "groups" not in capsys.readouterr().err
    with LabelStore.open(copy) as store:
        assert store.labels() == labels


@tabled
def test_mistakes_are_one_line(
    run: Path, flags: list[str], expected: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert execute(["label", str(run), *flags]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1 or said.startswith("note:")


def test_labels_of_another_run_are_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "labels.jsonl"
    row = {"annotator": "Ada", "kind": "answer", "stage": "short", "target": "zz", "asked": "q0"}
    table.write_text(json.dumps({**row, "stance": "hedged", "content": "correct"}) + "\n")
    assert execute(["label", str(run), "--import", str(table)]) == 2
    told = f"--import {table} line 1: zz is no item of {run}; import labels of this run"
    assert told in capsys.readouterr().err
    with LabelStore.open(run) as store:
        assert store.labels() == []


def test_a_run_that_is_not_finished_is_called_so(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table in [*run.glob("*/*.parquet"), *run.glob("*.parquet")]:
        table.unlink()
    assert execute(["label", str(run)]) == 2
    told = capsys.readouterr().err
    assert str(run) in told
    assert "the run is not finished; repeat" in told
    assert not (run / LABELS).exists()


def test_who_labeled_in_an_earlier_draw_is_told_so(run: Path) -> None:
    with open_store(run) as store:
        before = open_labeling(run, store, LabelChoices(n=30))
        for number, one in enumerate(before.work("Ada")):
            before.label("Ada", one.place, {"stance": "abstained"}, name=f"a{number}")
        after = open_labeling(run, store, LabelChoices(n=80, seed=5, force=True))
        assert after.notices[0].startswith("items are drawn anew for everybody, as asked for")
        after.work("Bo")
        labeled = len(before.places) - 30
        after.work("Ada")
        assert after.notes("Ada")[0] == (
            f"Ada gets {labeled} items, not 80: the other 30 are labeled, 30 of them by Ada in an "
            "earlier draw"
        )


def test_all_true_answers_are_shown(run: Path) -> None:
    folder = RunFolder.open(run)
    names = tuple(f"name {number}" for number in range(11))
    questions = [
        Question(q.id, q.dataset, q.text, (Gold("first", names),), parts=q.parts)
        for q in folder.read("questions", Question)
    ]
    folder.write("questions", questions, Question)
    with open_store(run) as store:
        one = open_labeling(run, store, LabelChoices(n=3)).work("Ada")[0]
    assert one.shown.golds == ("first", *names)


def test_what_is_no_run_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["label", str(tmp_path)]) == 2
    assert "is not a run folder" in capsys.readouterr().err
    assert not (tmp_path / LABELS).exists()


def test_a_page_that_cannot_start_draws_nothing(run: Path) -> None:
    for port in ("99999", "-1"):
        assert execute(["label", str(run), "--annotator", "Ada", "--port", port]) == 2
    with LabelStore.read(run) as store:
        assert (store.designs(), store.annotators()) == ([], [])


def test_labels_are_of_the_text_that_was_shown(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that says something else in a run that is made anew was not labeled."""
    sayso.measure(run)
    label_run(run, "A", as_judge, n=40)
    before, *_ = corrected_numbers(run)
    export, sheet = tmp_path / "labels.csv", tmp_path / "sheet.csv"
    assert execute(["label", str(run), "--export", str(export)]) == 0
    command = ["label", str(run), "--kind", "answer", "--n", "45", "--annotator", "A"]
    assert execute([*command, "--sheet", str(sheet)]) == 0
    folder = RunFolder.open(run)
    with LabelStore.read(run) as store:
        one, *_ = [one for one in store.labels() if not one.skipped]
    answers = folder.read("generations/short", Generation)
    changed = [
        msgspec.structs.replace(g, text="another") if g.id == one.verdict.target else g
        for g in answers
    ]
    folder.write("generations/short", changed, Generation)
    found, *_ = corrected_numbers(run)
    assert (found.elsewhere, found.labels) == (1, before.labels - 1)
    assert execute(["agreement", str(run)]) == 2
    assert "have another text now" in capsys.readouterr().err
    # nor is it in a file, and the page asks for it again
    assert execute(["label", str(run), "--import", str(export)]) == 2
    assert "has another text or gold in" in capsys.readouterr().err
    bare = tmp_path / "bare.jsonl"  # a file without the hash of what was shown
    rows = [{**row, "shown": ""} for row in rows_of(export)]
    other = [{**row, "text": "1800", "annotator": "B"} for row in rows]
    for some in (rows, other):
        bare.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
        assert execute(["label", str(run), "--import", str(bare)]) == 2
        assert "has another text or gold in" in capsys.readouterr().err
    rest = [row for row in rows if row["target"] != one.verdict.target]
    bare.write_text("".join(json.dumps(row) + "\n" for row in rest), encoding="utf-8")
    assert execute(["label", str(run), "--import", str(bare)]) == 0
    assert "39 without a hash of their text (column shown)" in capsys.readouterr().err
    assert execute([*command, "--sheet", str(sheet), "--force"]) == 0
    assert "1 labels are of answers" in " ".join(capsys.readouterr().err.split())
    assert one.verdict.target in {row["target"] for row in rows_of(sheet)}
    assert execute(["agreement", str(run)]) == 0


def test_without_the_extra_one_line_says_what_to_install(run: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('starlette', 'uvicorn'):\n    sys.modules[name] = None\n"
        "from sayso.cli import execute\n"
        f"sys.exit(execute(['label', {str(run)!r}, '--annotator', 'Ada', '--kind', 'answer']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    (told,) = [text for text in done.stderr.splitlines() if not text.startswith("note: ")]
    assert told.startswith("sayso: the page needs ")
    assert "pip install 'sayso[label]'; --sheet FILE" in told


def test_labels_do_not_disturb_a_run(run: Path) -> None:
    with open_store(run) as store:
        open_labeling(run, store, LabelChoices(n=5)).work("Ada")
    folder = RunFolder.create(run)  # what a run that is repeated does
    assert folder.read_manifest().finished


def test_a_run_with_fewer_items_says_so(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 30)
    with LabelStore.open(run) as store:
        labeling = open_labeling(run, store, LabelChoices(kind="answer", n=60))
        assert "the run has 30 short answers: you label all of them, not 60" in labeling.notices
        assert not any(
            "you label all" in text
            for text in open_labeling(run, store, LabelChoices(kind="answer", n=30)).notices
        )


def test_an_export_writes_nothing_into_the_run(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a copy that cannot be written, or of a run that nobody labeled."""
    table = tmp_path / "labels.csv"
    assert execute(["label", str(run), "--export", str(table)]) == 2
    assert "has no labels of people; to label its answers: sayso label" in capsys.readouterr().err
    assert not (run / LABELS).exists()
    with open_store(run) as store:
        opened = open_labeling(run, store, LabelChoices(n=3))
        one = opened.work("Ada")[0]
        opened.label("Ada", one.place, {"stance": "abstained"})
    before = {place: place.stat().st_mtime_ns for place in run.rglob("*")}

    def refused(*_: object) -> None:
        raise AssertionError("opened for writing")

    monkeypatch.setattr(LabelStore, "open", refused)
    assert execute(["label", str(run), "--export", str(table)]) == 0
    assert len(table.read_text(encoding="utf-8").splitlines()) == 2
    assert {place: place.stat().st_mtime_ns for place in run.rglob("*")} == before


def test_a_note_counts_the_items_of_each_kind(run: Path) -> None:
    with open_store(run) as store:
        notices = open_labeling(run, store, LabelChoices(n=3)).notices
    assert notices[0] == (
        "you label short answers; --kind chooses among answer (80 items), aspect (6 items)"
    )
