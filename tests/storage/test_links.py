"""Folders of others: no link in them is followed, and only files of ours are deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso import cli, report
from sayso.assertions.written import JUNIT_MARK, write_verdicts
from sayso.engines.hf import files
from sayso.guard.guard import Guard
from sayso.people.labels import write_rows
from sayso.protocols import uncle
from sayso.records import InputError
from sayso.report.page import GENERATOR, write_index
from sayso.runs.freshness.ages import Period
from sayso.storage.atomic import WRITER, one_writer, replacing
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import read_grid
from sayso.train.trainers import begin_training
from support.guards import guard_file
from support.scripted_world import Mind, facts, records, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")
WORLD = facts(3)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished run beside its data and its cache."""
    folder = tmp_path_factory.mktemp("run")
    ask(folder)
    return folder


def ask(folder: Path) -> None:
    sayso.run(
        model=Mind(WORLD, lambda f: 0.7).engine(),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / "run",
        cache=folder / "cache",
        options=uncle.Settings(resamples=100),
    )


@pytest.fixture
def treasure(tmp_path: Path) -> Path:
    """A folder of somebody else's files, with names of ours."""
    folder = tmp_path / "treasure"
    for name in ("letter.html", "answers-001.html", "probe.parquet", "aa.part", "checkpoint-1/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine", encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


#: what a link in a run folder may be called
NAMES = (
    WRITER, "answers", "generations", "metrics", "figures", "arrays", "report.html",
    "manifest.json", "questions.parquet", "generations/probe.parquet", "answers/notes.txt",
)  # fmt: skip


@pytest.mark.parametrize("command", ["report", "figures", "measure", "export", "compare", "train",
                                     "run"])  # fmt: skip
def test_no_command_follows_a_link_in_a_run_folder(
    finished: Path,
    tmp_path: Path,
    treasure: Path,
    command: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number, name in enumerate(NAMES):
        run = tmp_path / f"run-{number}"
        shutil.copytree(finished / "run", run)
        place, target = run / name, treasure / ("letter.html" if "." in name else "")
        if place.is_dir():
            shutil.rmtree(place)
        elif place.exists():  # whole where the link leads to, so that nothing else is refused
            target = Path(shutil.copy(place, treasure / place.name))
            place.unlink()
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(target)
        before = contents(treasure)
        words = {
            "figures": ["report", str(run), "--figures", "svg"],
            "export": ["export", str(run), str(tmp_path / "answers.csv")],
            "compare": ["compare", str(finished / "run"), str(run)],
            "train": ["train", str(run), "--recipe", "short", "--out", str(tmp_path / "train")],
            "run": ["run", "uncle", "--model", "builtin", "--out", str(run)],
        }.get(command, [command, str(run)])
        assert cli.execute(words) == 2, name
        error = capsys.readouterr().err
        assert f"{place} is a symbolic link" in error
        assert error.count("\n") == 1
        assert contents(treasure) == before
        assert place.is_symlink()


def test_a_link_that_is_given_is_followed(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(finished / "run")
    assert sayso.report.write(tmp_path / "link").is_file()


def test_a_report_deletes_only_pages_that_it_wrote(finished: Path) -> None:
    answers = finished / "run" / "answers"
    answers.mkdir(exist_ok=True)
    for name in ("notes.html", "answers-007.html", "answers-1.html", "answers-0071.html.bak"):
        (answers / name).write_text("", encoding="utf-8")
    sayso.report.write(finished / "run")
    kept = {path.name for path in answers.iterdir()}
    assert {"notes.html", "answers-1.html", "answers-0071.html.bak"} <= kept
    assert "answers-007.html" not in kept
    shutil.rmtree(answers)


def test_who_writes_is_noted_in_a_new_file(tmp_path: Path) -> None:
    """A hard link cannot be seen as one; the file that it shares is not written into."""
    mine = tmp_path / "mine"
    mine.write_text("mine", encoding="utf-8")
    (tmp_path / "run").mkdir()
    os.link(mine, tmp_path / "run" / WRITER)
    with one_writer(tmp_path / "run", "test"):
        assert "test" in (tmp_path / "run" / WRITER).read_text(encoding="utf-8")
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_temporary_file_is_never_a_link(tmp_path: Path, treasure: Path) -> None:
    letter = treasure / "letter.html"
    link = tmp_path / f"page.html.tmp-{os.getpid()}"
    link.symlink_to(letter)
    dead = tmp_path / "page.html.tmp-999999999"
    dead.symlink_to(letter)
    with (
        pytest.raises(InputError, match=rf"{link.name} .*remove it"),
        replacing(tmp_path / "page.html") as file,
    ):
        file.write(b"page")
    assert letter.read_text(encoding="utf-8") == "mine"
    assert dead.is_symlink()  # not ours
    link.unlink()
    with replacing(tmp_path / "page.html") as file:
        file.write(b"page")
    assert (tmp_path / "page.html").read_bytes() == b"page"


@pytest.mark.parametrize("suffix", ["", ".lock", "-wal", "-shm", "-journal", ".new"])
def test_the_cache_follows_no_link(tmp_path: Path, treasure: Path, suffix: str) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    place = cache / f"replies.sqlite{suffix}"
    place.symlink_to(treasure / "new" if suffix == ".lock" else treasure / "letter.html")
    before = contents(treasure)
    with pytest.raises(InputError, match=r"replies.sqlite.* is a symbolic link.*cache="):
        Cache(cache)
    assert contents(treasure) == before
    assert place.is_symlink()


def in_models(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(cache))
    (cache / "tiny.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(files, "check_reader", lambda file: None)
    monkeypatch.setattr(files, "packaged_file", lambda name: cache / "tiny.gguf")
    files.unpack("smollm2")


def in_fresh(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Period(cache, "x").begin()


@pytest.mark.parametrize(("name", "use"), [("models", in_models), ("fresh", in_fresh)])
def test_the_folders_of_the_cache_are_no_links(
    tmp_path: Path,
    treasure: Path,
    name: str,
    use: Callable[[Path, pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / name).symlink_to(treasure)
    before = contents(treasure)
    with pytest.raises(InputError, match=f"{name} is a symbolic link"):
        use(cache, monkeypatch)
    assert contents(treasure) == before


def test_checkpoints_are_deleted_in_a_folder_of_ours(tmp_path: Path, treasure: Path) -> None:
    out = tmp_path / "out"
    begin_training(out, "x")
    (out / "checkpoints").symlink_to(treasure)
    before = contents(treasure)
    with pytest.raises(InputError, match="is a symbolic link"):
        begin_training(out, "x")
    assert contents(treasure) == before


def test_a_study_follows_no_link_to_its_cells(tmp_path: Path, treasure: Path) -> None:
    out = tmp_path / "study"
    data = write(tmp_path / "q.jsonl", records(WORLD))
    source = {"models": ["builtin"], "data": [str(data)], "protocols": ["uncle"], "out": str(out)}
    out.mkdir()
    before = contents(treasure)
    cell = read_grid(source, "study").cells[0].path
    for link in (cell.parent.parent, cell.parent, cell, out / "tables"):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(treasure)
        with pytest.raises(InputError, match=f"{link} is a symbolic link"):
            sayso.study(source)
        link.unlink()
    assert contents(treasure) == before


def test_a_loop_of_links_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    loop, out = str(tmp_path / "a"), str(tmp_path / "out")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for name in ("config.json", "model.safetensors", "wiki.txt", "q.jsonl"):
        (mixed / name).symlink_to(loop)
    asked = ["run", "uncle", "--limit", "1"]
    for words in (
        [*asked, "--out", loop],
        [*asked, "--set", f"cache={loop}", "--out", out],
        [*asked, "--data", loop],
        [*asked, "--data", f"{loop}.jsonl"],
        [*asked, "--data", str(mixed / "q.jsonl")],
        [*asked, "--answers", loop],
        [*asked, "--answers", str(mixed / "q.jsonl")],
        [*asked, "--prompt-folder", loop],
        [*asked, "--config", loop],
        [*asked, "--model", f"hf:{mixed}"],
        ["report", loop],
        ["measure", loop],
        ["compare", loop, loop],
        ["export", loop, f"{out}.csv"],
        ["train", loop],
        ["score", loop],
        ["score", str(mixed / "q.jsonl")],
        ["study", loop],
        ["study", str(mixed)],
        ["index", loop],
        ["index", str(mixed)],
        ["build", loop],
        ["check", f"hf:{loop}"],
        ["check", f"hf:{mixed}"],
        ["judge-check", "rules", "--labeled", loop],
    ):
        assert cli.execute(words) == 2, words
        error = capsys.readouterr().err
        assert error.startswith("sayso: "), error
        assert error.count("\n") == 1, error


# ---- outputs that a user names: a link stays, a device or a pipe is written to


def score(finished: Path, place: Path, *more: str) -> None:
    answers = write(place.with_name("answers.jsonl"), [{"question": "Who?", "answer": "Ada"}])
    assert (
        cli.execute(["score", str(answers), "--out", str(place), "--methods", "length_words"]) == 0
    )


def export(finished: Path, place: Path) -> None:
    assert cli.execute(["export", str(finished / "run"), str(place)]) == 0


def figure(finished: Path, place: Path) -> None:
    held = RunFolder.open(finished / "run")
    estimates = sayso.measure(finished / "run").estimates
    report.figures_of(held, held.read_manifest(), estimates)[0].save(place)


def withdrawn(finished: Path, place: Path) -> None:
    Guard(guard_file(), place).withdraw("an alarm")


def page(finished: Path, place: Path) -> None:
    assert write_index(place, f"<head>{GENERATOR}", force=place.is_symlink())


def state(finished: Path, place: Path) -> None:
    with replacing(place) as file:
        file.write(b"{}")


#: the name of an output, and what writes it
OUTPUTS: dict[str, Callable[[Path, Path], Any]] = {
    "verdicts.xml": lambda _, place: write_verdicts(place, f"<a>{JUNIT_MARK}</a>", "--junit"),
    "export.csv": export,
    "export.jsonl": export,
    "export.parquet": export,
    "export.xlsx": export,
    "scored.jsonl": score,
    "scored.csv": score,
    "sheet.csv": lambda _, place: write_rows([{"target": "a"}], ["target"], place, flag="--sheet"),
    "page.html": page,
    "chart.svg": figure,
    "guard.json": withdrawn,
    "watch.state": state,
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_replaces_what_a_link_leads_to(finished: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "elsewhere" / name
    target.parent.mkdir()
    target.write_bytes(b"" if name != "guard.json" else msgspec.json.encode(guard_file()))
    before = target.stat().st_ino
    (tmp_path / name).symlink_to(target)
    OUTPUTS[name](finished, tmp_path / name)
    assert (tmp_path / name).is_symlink()
    assert target.stat().st_size
    assert target.stat().st_ino != before  # in one piece
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name != "guard.json"])
def test_an_output_is_written_to_a_pipe_and_leaves_it(
    finished: Path, tmp_path: Path, name: str
) -> None:
    pipe, came = tmp_path / name, []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()), daemon=True)
    reader.start()
    OUTPUTS[name](finished, pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert came[0]


def test_our_own_output_is_written_to_where_it_is_a_file(tmp_path: Path) -> None:
    """Its place would go on to the next line: the shell holds the file, not its name."""
    code = (
        "import pathlib, sys; from sayso.storage.atomic import replacing\n"
        "print('before')\n"
        "with replacing(pathlib.Path(sys.argv[1])) as file: file.write(b'page\\n')\n"
        "print('after')"
    )
    place = tmp_path / "out"
    with place.open("wb") as out:
        subprocess.run([sys.executable, "-c", code, "/dev/stdout"], stdout=out, check=True)
    assert place.read_text() == "before\npage\nafter\n"
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="cannot write"), replacing(tmp_path / "a"):
        pass


def test_no_output_takes_the_place_of_a_run_s_own_file(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither under its name nor through a link, whatever flag says that it may be replaced."""
    own = finished / "run" / "report.html"
    own.write_text(f"<head>{GENERATOR}", encoding="utf-8")
    answers = write(tmp_path / "a.jsonl", [{"question": "Who?", "answer": "Ada", "gold": "Ada"}])
    table = finished / "run" / "questions.parquet"
    before = own.read_bytes(), table.read_bytes()
    for target, name in ((own, "page.html"), (table, "scored.parquet")):
        (link := tmp_path / name).symlink_to(target)
        for place in (target, link):
            words = ["score", str(answers), "--methods", "length_words", "--force"]
            if target is own:
                words += ["--out", str(tmp_path / "out.jsonl"), "--report", str(place)]
            else:
                words = ["export", str(finished / "run"), str(place), "--force"]
            assert cli.execute(words) == 2, words
            error = capsys.readouterr().err
            assert "is a file of a run, which needs it: give another name" in error
            assert error.count("\n") == 1
    assert (own.read_bytes(), table.read_bytes()) == before


def test_labels_join_what_standard_output_holds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file behind it, as of `>> log`, is written to and never replaced."""
    (tmp_path / "rows.jsonl").symlink_to("/dev/stdout")
    os.write(1, b"before\n")
    write_rows([{"target": "a"}], ["target"], tmp_path / "rows.jsonl", flag="--export")
    assert capfd.readouterr().out == 'before\n{"target":"a"}\n'
