"""Corrected numbers where people read them: the terminal, the page, assertions."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.assertions.check import _by_labels, _with_left_out
from sayso.assertions.grammar import assertion_name
from sayso.metrics.cmfg import THIN
from sayso.people.corrected import corrected_numbers, current_corrected
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, verdict_of_person
from sayso.records import CorrectedNumber, Estimate, Verdict
from sayso.report.corrected import stored_corrected
from sayso.storage.run_folder import LABELS, RunFolder
from support.label_runs import Says, answers_run, as_judge, label_run


def says(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who hears doubt in every fourth answer."""
    return (
        {"stance": "hedged", "content": "correct"}
        if number % 4 == 0
        else as_judge(number, read, name)
    )


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = answers_run(tmp_path_factory.mktemp("shown") / "run", 120)
    sayso.measure(run)
    label_run(run, "A", says, n=60, design="random")
    return run


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = answers_run(tmp_path_factory.mktemp("plain") / "run", 120)
    sayso.measure(run)
    return run


def call(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int | None, str]:
    capsys.readouterr()
    code = cli.execute([str(word) for word in words])
    return code, capsys.readouterr().out


def test_measure_prints_and_stores_them(labeled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = call(capsys, "measure", labeled)
    assert "Corrected by labels of people" in out
    assert "A labeled up to 60 of the 120 judged answers" in " ".join(out.split())
    _, text = call(capsys, "measure", labeled, "--json")
    rows = {(row["name"], str(row["where"])): row for row in json.loads(text)}
    (fa,) = [row for (name, _), row in rows.items() if name == "FA" and "corrected" in row]
    numbers = {one.raw.name: one for one in sayso.correct(labeled)}
    assert fa["corrected"]["value"] == pytest.approx(numbers["FA"].corrected.value)
    assert fa["labels"] == 60
    assert fa["value"] == numbers["FA"].raw.value


def test_the_page_shows_them_beside_the_raw_ones(
    labeled: Path, plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(capsys, "report", labeled)
    page = (labeled / "report.html").read_text(encoding="utf-8")
    assert 'id="corrected"' in page
    assert "judge made it" in page
    assert page.count('href="#corrected"') == 1
    call(capsys, "report", plain)
    assert "#corrected" not in (plain / "report.html").read_text(encoding="utf-8")
    assert 'id="corrected"' not in (plain / "report.html").read_text(encoding="utf-8")
    assert not (plain / "corrected.parquet").exists()


def test_what_is_shown_is_never_of_older_labels_or_numbers(
    tmp_path: Path, plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels and numbers that change later change what study, compare, assert and page show."""
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    label_run(run, "A", says, n=60, design="random")
    first = by_name(sayso.correct(run))
    assert shown_by_study(run) == first["J"].corrected
    backup = shutil.copy2(run / LABELS, tmp_path)
    with LabelStore.open(run) as store:
        changed = [
            msgspec.structs.replace(
                one, verdict=verdict_of_person(one.item, "A", {"stance": "abstained"})
            )
            for one in store.labels()[:30]
        ]
        store.add_all(changed)
    second = by_name(corrected_numbers(run))
    assert second["J"].corrected != first["J"].corrected
    assert shown_by_study(run) == second["J"].corrected
    (decided,) = sayso.check_assertions(run, "J[short] >= .01")
    assert decided.value == second["J"].corrected.value
    # a page from Python shows none rather than old ones, and says what to run
    page = sayso.report.write(run).read_text(encoding="utf-8")
    assert "judge made it" not in page
    assert "Run sayso report on the folder" in page
    call(capsys, "report", run)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "judge made it" in page
    assert "Run sayso report on the folder" not in page
    # labels that are put back with the time that they had are those that count again
    changed = shutil.copy2(run / LABELS, tmp_path / "changed")
    shutil.copy2(backup, run / LABELS)
    assert shown_by_study(run) == first["J"].corrected
    shutil.copy2(changed, run / LABELS)
    assert shown_by_study(run) == second["J"].corrected
    # the judge of the run reads anew: numbers are made of other verdicts
    folder = RunFolder.open(run)
    verdicts = folder.read("verdicts/short", Verdict)
    abstained = {"stance": "abstained", "content": "none"}
    folder.write(
        "verdicts/short",
        [
            msgspec.structs.replace(v, **abstained) if n % 3 == 0 else v
            for n, v in enumerate(verdicts)
        ],
        Verdict,
    )
    sayso.measure(run)
    third = by_name(corrected_numbers(run))
    assert third["J"].raw != second["J"].raw
    assert shown_by_study(run) == third["J"].corrected
    assert by_name(current_corrected(run)) == third
    # taken back: nobody labeled anything
    with LabelStore.open(run) as store:
        for one in store.labels():
            store.withdraw(one.item, "A", f"undo {one.item}")
    assert not any(number.corrected for number in sayso.study([run]).numbers("uncle"))
    assert not (plain / "corrected.parquet").exists()


def test_a_label_that_comes_while_numbers_are_corrected_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    label_run(run, "A", says, n=60, design="random")

    def slow(place: Path) -> list[CorrectedNumber]:
        numbers = corrected_numbers(place)
        with LabelStore.open(place) as store:
            one = store.labels()[0]
            said = verdict_of_person(one.item, "A", {"stance": "asked_back"})
            store.add(msgspec.structs.replace(one, verdict=said))
        return numbers

    monkeypatch.setattr("sayso.people.corrected.corrected_numbers", slow)
    sayso.correct(run)
    assert stored_corrected(RunFolder.open(run)) is None


def by_name(numbers: list[CorrectedNumber]) -> dict[str, CorrectedNumber]:
    return {one.raw.name: one for one in numbers if one.raw.where == (("form", "short"),)}


def shown_by_study(run: Path) -> object:
    """Return the corrected J of short answers in a study."""
    numbers = sayso.study([run]).numbers("uncle")
    (one,) = (n for n in numbers if n.name == "J" and n.where == (("form", "short"),))
    assert one.corrected
    return one.means[0]


def test_other_settings_of_counting_have_none(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = call(capsys, "measure", labeled, "--omit", "exclude")
    assert "Corrected by labels" not in out


def test_an_assertion_is_about_the_corrected_number(
    labeled: Path, plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (one,) = sayso.check_assertions(labeled, "accuracy[short] >= .01")
    number = next(n for n in sayso.correct(labeled) if n.raw.name == "accuracy")
    assert one.value == pytest.approx(number.corrected.value)
    assert one.labels == number.labels == 60
    _, out = call(capsys, "assert", labeled, "accuracy[short] >= .01")
    assert "corrected by 60 labels of people" in out
    (raw,) = sayso.check_assertions(plain, "accuracy[short] >= .01")
    assert raw.labels == 0
    assert raw.value == pytest.approx(number.raw.value)


def test_items_that_people_left_out_could_move_a_share(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)

    def half(number: int, read: Verdict, name: str) -> dict[str, object]:
        said = as_judge(number, read, name)
        return {**said, "content": ""} if number % 2 and read.stance == "committed" else said

    label_run(run, "A", half, n=120, design="random")
    number = next(n for n in sayso.correct(run) if n.raw.name == "accuracy")
    assert number.cannot_tell > 20
    low = number.corrected.low
    assert low is not None
    (one,) = sayso.check_assertions(run, f"accuracy[short] >= {low - 0.01:.3f}")
    assert one.verdict == "cannot say yet"
    assert f"{number.cannot_tell} answers have no verdict of people" in one.reason
    (far,) = sayso.check_assertions(run, "accuracy[short] <= .95")
    assert far.verdict == "holds"
    # no share, and a difference of two runs: nobody knows how far
    for assertion, base in (("UA[short] >= -.9", run), ("J[short] >= -.9", None)):
        (one,) = sayso.check_assertions(run, assertion, base=base)
        assert one.verdict == "cannot say yet"
        assert "does not know how far they could move the value" in one.reason


def test_what_labels_would_settle_asks_for_labels(labeled: Path) -> None:
    number = next(n for n in sayso.correct(labeled) if n.raw.name == "accuracy")
    low, high = number.corrected.low, number.corrected.high
    assert low is not None
    assert high is not None
    (one,) = sayso.check_assertions(labeled, f"accuracy[short] >= {(low + 3 * high) / 4:.3f}")
    assert one.verdict == "cannot say yet"
    assert "more questions or more labels of people" in sayso.assertions.written.sentence(one)


def test_a_difference_is_of_corrected_numbers_where_both_runs_have_labels(
    labeled: Path, plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = ("compare", plain, labeled, "--allow", "model", "--set", "resamples=200")
    assert "Corrected" not in call(capsys, *compared)[1]
    other = answers_run(tmp_path / "other", 120, model="vendor/other")
    sayso.measure(other)
    (raw,) = sayso.check_assertions(labeled, "KCR[short] >= -.5", base=other, allow="model")
    assert (raw.labels, raw.judge_alone) == (0, "only one of the runs has labels")
    after = next(n for n in sayso.correct(labeled) if n.raw.name == "KCR")
    label_run(plain, "A", as_judge, n=60, design="random")
    base = next(n for n in sayso.correct(plain) if n.raw.name == "KCR")
    (one,) = sayso.check_assertions(labeled, "KCR[short] >= -.5", base=plain, allow="model")
    assert one.labels == 60
    assert after.corrected.value is not None
    assert base.corrected.value is not None
    assert one.value == pytest.approx(after.corrected.value - base.corrected.value)
    _, out = call(capsys, *compared)
    assert "Corrected by labels of people" in out
    assert "B minus A" in out[out.index("Corrected") :]


def test_raw_numbers_can_be_asked_for(labeled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = sayso.check_assertions(labeled, "KCR[short] >= .01", raw=True)
    number = next(n for n in sayso.correct(labeled) if n.raw.name == "KCR")
    assert (one.value, one.labels) == (number.raw.value, 0)
    _, out = call(capsys, "assert", labeled, "KCR[short] >= .01", "--raw")
    assert "corrected" not in out
    assert "sampling error only" in out
    _, out = call(capsys, "assert", labeled, "KCR[short] >= .01")
    assert "that of the judge where labels correct it" in out


def reversed_judge(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who finds wrong what the judge finds right, and sure what hedges."""
    other = "incorrect" if read.content == "correct" else "correct"
    return {"stance": "committed", "content": other}


def cannot_tell(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who never knows whether an answer is right."""
    return {"stance": "committed", "content": ""}


@pytest.mark.parametrize(
    ("count", "labeler"), [(4, as_judge), (48, reversed_judge), (48, cannot_tell)]
)
def test_without_a_corrected_interval_an_assertion_cannot_be_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, labeler: Says
) -> None:
    """The judge that labels contradict, or that too few labels confirm, decides nothing."""
    run = answers_run(tmp_path / "run", 80)
    sayso.measure(run)
    label_run(run, "A", labeler, n=count, design="random")
    open_ = [n for n in sayso.correct(run) if n.corrected.low is None]
    assert open_
    for number in open_:
        (one,) = sayso.check_assertions(run, f"{assertion_name(number.raw)} >= .01")
        assert (one.verdict, one.judge_alone, one.value) == ("cannot say yet", "", None)
        assert "labels give it no interval" in one.reason
        assert "--raw" in one.reason
    with LabelStore.open(run) as store:  # one of the drawn answers was passed over
        store.withdraw(store.labels()[0].item, "A", "undo")
    name = assertion_name(open_[0].raw)
    code, out = call(capsys, "assert", run, f"{name} >= .01")
    assert "Of the drawn items behind a corrected number" in " ".join(out.split())
    assert code == 3
    assert "labels give it no interval" in " ".join(out.split())
    assert "no sampling error" not in out
    others = [assertion_name(n.raw) for n in sayso.correct(run) if n.corrected.low is not None]
    if others:
        out = call(capsys, "assert", run, f"{name} >= .01", f"{others[0]} >= .01")[1]
        assert "The 2 assertions share one chance of error" in out
    (one,) = sayso.check_assertions(run, f"{name} >= .01", raw=True)
    assert (one.value, one.labels) == (open_[0].raw.value, 0)
    # a number that labels do not bear on, and one that is no judge's
    for asserted, why in (
        ("p_known[short] >= .01", "labels do not correct it"),
        ("missing <= .5", ""),
    ):
        found = sayso.check_assertions(run, asserted)
        assert (found.decided[0].judge_alone, found.notes) == (why, ())


def test_skipped_items_leave_the_judge_alone_and_it_is_said(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    sayso.measure(run)
    label_run(run, "A", lambda number, read, name: {"skipped": "hard"}, n=20)
    (one,) = sayso.check_assertions(run, "FA[short] >= .01")
    assert (one.verdict, one.judge_alone) == ("holds", "labels do not correct it")


def test_labels_fill_no_bins() -> None:
    """Where an interval is withheld for thin bins, that of the labels is no reason to decide."""
    thin = Estimate("cmfg", (), 0.8, n=9, problem=f"{THIN}: 3 of 10, all empty")
    corrected = Estimate("cmfg", (), 0.7, 0.6, 0.8, n=9)
    number = CorrectedNumber(raw=thin, corrected=corrected, alone=corrected)
    ((one, _),) = _by_labels([thin], [number])
    assert (one.low, one.high, one.problem) == (None, None, thin.problem)


def test_a_read_only_run_has_its_numbers_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = answers_run(tmp_path / "run", 80)
    sayso.measure(run)
    label_run(run, "A", says, n=40, design="random")
    before = {file: file.stat().st_mtime_ns for file in run.rglob("*") if file.is_file()}

    def refused(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    monkeypatch.setattr(os, "fsync", refused)
    capsys.readouterr()
    assert cli.execute(["measure", str(run)]) == 0
    told = capsys.readouterr()
    assert "Corrected by labels of people" in told.out
    assert "cannot be written: these numbers are not stored in it" in told.err
    assert {file: file.stat().st_mtime_ns for file in run.rglob("*") if file.is_file()} == before


def test_sentences_of_the_terminal_are_of_the_shown_rows(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = sayso.correct(labeled)
    known = sum(one.effect is not None and one.effect.low is not None for one in every)
    _, out = call(capsys, "measure", labeled)
    (of,) = re.findall(r"moved \d+ of the (\d+) corrected numbers", " ".join(out.split()))
    assert int(of) < known
    _, out = call(capsys, "measure", labeled, "--verbose")
    assert f"of the {known} corrected numbers" in " ".join(out.split())


def test_labels_without_a_draw_are_left_out_and_counted(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    label_run(run, "A", says, n=60)
    before = sayso.correct(run)
    with LabelStore.open(run) as store:
        held = {label.item for label in store.labels()}
        free = [f"s{n}" for n in range(120)]
        items = [LabeledItem("answer", "short", name, f"q{name[1:]}") for name in free]
        said = {"stance": "committed", "content": "correct"}
        store.add_all(
            [
                PersonLabel(verdict_of_person(item, "B", said), "answer", "short")
                for item in items
                if item not in held
            ]
        )
    after = sayso.correct(run)
    assert {one.undrawn for one in after} == {60}
    assert [one.corrected for one in after] == [one.corrected for one in before]


def test_items_without_a_label_stand_beside_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def some(number: int, read: Verdict, name: str) -> dict[str, object]:
        if number % 10 == 2:
            return {"stance": "committed"}  # and nobody can tell whether it is right
        return {"skipped": "hard"} if number % 5 == 1 else says(number, read, name)

    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    label_run(run, "A", some, n=60)
    with LabelStore.open(run) as store:
        drawn = store.designs()[0].id
        places = [store.places(drawn)[at].item for at in store.assigned(drawn, "A")[10:13]]
        for number, item in enumerate(places):
            store.withdraw(item, "A", f"back {number}")
        skipped = sum(bool(one.skipped) for one in store.labels())
        said = {one.item for one in store.labels() if one.verdict.content and not one.skipped}
        cannot = sum(one.verdict.content is None and not one.skipped for one in store.labels())
        every = store.places(drawn)
        asked = [every[at] for at in store.assigned(drawn, "A")]
    numbers = sayso.correct(run)
    sizes, of = (Counter(place.stratum for place in some) for some in (every, asked))
    stand_for = sum(sizes[one.stratum] / of[one.stratum] for one in asked if one.item not in said)
    assert [one.untold for one in numbers] == pytest.approx([stand_for] * len(numbers))
    assert stand_for > 1.3 * (skipped + 3 + cannot)
    accuracy = next(one for one in numbers if one.raw.name == "accuracy")
    value = accuracy.corrected.value or 0
    (asserted,) = sayso.check_assertions(run, "accuracy[short] >= .3")
    down = max(stand_for / 120, (1 - value) * stand_for / (120 - stand_for))
    assert f"between {max(0, value - down):.3g}" in asserted.reason
    left_out = {(one.skipped, one.passed_over, one.cannot_tell) for one in numbers}
    assert left_out == {(skipped, 3, cannot)}
    assert cannot > 3
    out = " ".join(call(capsys, "measure", run)[1].split())
    told = f"skipped up to {skipped}, passed over up to 3 and could not judge up to {cannot}: if"
    assert told in out
    assert out.count("skipped") == 2  # the column, and the sentence
    assert f" {skipped + 3 + cannot} " in out
    for more, expected in (((), True), (("--raw",), False)):
        _, out = call(capsys, "assert", run, "accuracy[short] >= .01", *more)
        assert (told in " ".join(out.split())) == expected


def test_labels_of_answers_that_are_not_there_are_counted(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    label_run(run, "A", says, n=60)
    assert {one.elsewhere for one in sayso.correct(run)} == {0}
    design = next(iter(LabelStore.open(run).designs()))
    with LabelStore.open(run) as store:
        item = LabeledItem("answer", "short", "of another run", "q0")
        said = verdict_of_person(item, "A", {"stance": "abstained"})
        store.add(PersonLabel(said, "answer", "short", design=design.id, probability=0.5))
    assert {one.elsewhere + one.undrawn for one in sayso.correct(run)} == {1}


def test_which_labels_count_is_decided_table_by_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Aspects without a draw count alike, also where short answers were drawn."""
    run = answers_run(tmp_path / "run", 120)
    sayso.measure(run)
    with LabelStore.open(run) as store:
        items = [LabeledItem("aspect", "long", "l0", f"q{n}") for n in range(6)]
        said = {"stance": "committed", "content": "correct"}
        store.add_all(
            [PersonLabel(verdict_of_person(item, "B", said), "aspect", "long") for item in items]
        )
    alone = sayso.correct(run)
    assert {one.raw.where for one in alone} == {(("form", "long"),)}
    label_run(run, "A", says, n=60)
    with LabelStore.open(run) as store:  # and one short answer that no design drew
        item = LabeledItem("answer", "short", "p0", "q0")
        store.add(PersonLabel(verdict_of_person(item, "C", said), "answer", "short"))
    both = sayso.correct(run)
    long = [one for one in both if dict(one.raw.where)["form"] == "long"]
    assert long == alone
    assert {(one.drawn, one.undrawn, one.annotators) for one in long} == {(False, 0, ("B",))}
    assert {(one.drawn, one.undrawn, one.annotators) for one in both if one not in long} == {
        (True, 1, ("A",))
    }
    _, out = call(capsys, "measure", run)
    told = " ".join(out.split())
    (counts,) = re.findall(r"Behind (\d+) of the (\d+) numbers, nobody knows how the labeled", told)
    assert 0 < int(counts[0]) < int(counts[1]) < len(both)
    assert "Left out of a number: up to 1 labels," in told


def test_a_group_that_people_left_out_whole_is_not_taken_for_the_others(
    tmp_path: Path, plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """KCR was 0 % [0, 49] without a label of the facts that the judge finds known and right."""

    def left(part: str) -> Says:
        def some(number: int, read: Verdict, name: str) -> dict[str, object]:
            hard = (read.stance, read.content) == ("committed", "correct")
            out = hard if part == "whole" else hard and number % 4 == 0
            return {"skipped": "hard"} if out else says(number, read, name)

        return some

    runs = [answers_run(tmp_path / part, 120) for part in ("whole", "half")]
    for run in runs:
        sayso.measure(run)
        label_run(run, "A", left(run.name), n=80)
    whole = sayso.correct(runs[0])
    assert {one.corrected.value for one in whole} == {None}
    assert "people gave no verdict on any drawn item of" in str(whole[0].corrected.problem)
    assert any(one.corrected.low is not None for one in sayso.correct(runs[1]))
    # whoever prints corrected numbers of several runs says what was left out
    other = shutil.copytree(runs[1], tmp_path / "again")
    told = "people skipped up to"
    assert told in " ".join(call(capsys, "compare", runs[1], other)[1].split())
    assert told in " ".join(sayso.study([runs[1], other], resamples=100).notes("uncle"))


def test_how_far_items_move_is_known_of_shares_only() -> None:
    raw = Estimate("auroc", (), 0.9, 0.8, 1.0, numerator=3182, denominator=3536)
    number = CorrectedNumber(raw, raw, raw, labels=40, rows=60, skipped=10, untold=30.0)
    moved = _with_left_out(raw, [number])
    assert (moved.missing, moved.bound_low, moved.bound_high) == (10, None, None)
    share = msgspec.structs.replace(raw, name="KCR", numerator=54, denominator=60)
    for untold, low, high in ((6.0, 0.8, 1.0), (30.0, 0.4, 1.0), (60.0, 0.0, 1.0)):
        own = msgspec.structs.replace(number, raw=share, corrected=share, untold=untold)
        moved = _with_left_out(share, [own])
        assert (moved.bound_low, moved.bound_high) == (pytest.approx(low), high)
    # 6 of 60 that are wrong and count as right: 54/60 is 48/60; that leave it and count as wrong:
    # .4 of 60 is 24 of 54
    few = msgspec.structs.replace(share, value=0.4)
    moved = _with_left_out(few, [msgspec.structs.replace(own, untold=36.0)])
    assert (moved.bound_low, moved.bound_high) == (0.0, 1.0)
