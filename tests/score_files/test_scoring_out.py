"""Where ``sayso score`` writes is looked at before any work, and nobody's file is written over."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from sayso.cli import execute
from sayso.records import InputError
from sayso.score_files import score as scoring
from sayso.score_files.score import score_file

ROWS = [
    {"question": "Who wrote Emma?", "answer": "Jane Austen", "token_logprobs": [-0.1, -0.4]},
    {"question": "Who wrote Ulysses?", "answer": "James Joyce", "token_logprobs": [-0.2]},
]


def source(folder: Path, ending: str) -> Path:
    """Write the rows as a file of this kind."""
    path = folder / f"answers{ending}"
    if ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",")
            table.writerow(ROWS[0])
            table.writerows([json.dumps(v) if isinstance(v, list) else v for v in row.values()]
                            for row in ROWS)  # fmt: skip
    return path


KINDS = (".jsonl", ".csv", ".tsv", ".parquet")


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize("methods", [None, ["perplexity"]])
def test_what_sayso_wrote_is_written_again(
    tmp_path: Path, ending: str, methods: list[str] | None
) -> None:
    path, out = source(tmp_path, ending), tmp_path / f"out{ending}"
    score_file(path, out, methods, nli="rules")
    first = out.read_bytes()
    score_file(path, out, ["length_words"], nli="rules")
    assert out.read_bytes() != first
    score_file(path, out, methods, nli="rules")
    assert out.read_bytes() == first


FOREIGN = {
    ".jsonl": b'{"question": "mine", "perplexity": 3.0, "note": "score_problems"}\n',
    ".csv": b"question,perplexity,my_score_problems\nmine,score_problems,1\n",
    ".tsv": b"question\tperplexity\nmine\t3\n",
    ".parquet": b"PAR1 no table at all",
}


@pytest.mark.parametrize("ending", KINDS)
def test_a_file_of_somebody_else_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    path, out = source(tmp_path, ending), tmp_path / f"thesis{ending}"
    out.write_bytes(FOREIGN[ending])
    words = ["score", str(path), "--out", str(out), "--nli", "rules"]
    assert execute(words) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"sayso: --out {out} exists and was not written by sayso score")
    assert "--force" in message
    assert message.count("\n") == 1
    assert out.read_bytes() == FOREIGN[ending]
    assert execute([*words, "--force"]) == 0
    assert out.read_bytes() != FOREIGN[ending]
    assert execute(words) == 0  # now it is sayso's


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00broken", b"[1, 2]\n", b"{" * 50_000, b"question,score_problems\n", b"\n\n3\n"],
)
def test_what_cannot_be_read_is_somebody_elses(tmp_path: Path, content: bytes) -> None:
    path, out = source(tmp_path, ".jsonl"), tmp_path / "notes.jsonl"
    out.write_bytes(content)
    with pytest.raises(InputError, match="--force"):
        score_file(path, out)
    assert out.read_bytes() == content


def test_the_name_that_is_taken_without_out_is_looked_at_too(tmp_path: Path) -> None:
    path = source(tmp_path, ".jsonl")
    mine = tmp_path / "answers.scored.jsonl"
    mine.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"answers\.scored\.jsonl exists and was not"):
        score_file(path)
    mine.write_bytes(b"")  # nothing is lost
    assert score_file(path, nli="rules").path == mine


def test_files_of_older_versions_are_known(tmp_path: Path) -> None:
    """Their rows have ``score_problems`` only where a score is missing."""
    path, out = source(tmp_path, ".jsonl"), tmp_path / "old.jsonl"
    rows = [
        {"answer": "a", "perplexity": 1.0},
        {"answer": "b", "score_problems": {"eccentricity": "x"}},
    ]
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert score_file(path, out, nli="rules").rows == 2


def test_a_place_that_cannot_be_written_is_told_before_a_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*names: object, **more: object) -> None:
        raise AssertionError("a model was opened first")

    monkeypatch.setattr(scoring, "Toolbox", loaded)
    monkeypatch.setattr(scoring, "graders", loaded)
    path = source(tmp_path, ".jsonl")
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    (tmp_path / "mine.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    for out, message in [
        (tmp_path / "file" / "out.jsonl", "file is not a folder"),
        (tmp_path / "mine.jsonl", "exists and was not"),
        (path, "the input itself"),
        (Path("/proc/out.jsonl"), "cannot write into /proc"),
    ]:
        if out.parts[1] == "proc" and not Path("/proc").is_dir():
            continue
        with pytest.raises(InputError, match=message):
            score_file(path, out, model="builtin", gold_metric="bert_score")
    assert {one.name for one in tmp_path.iterdir()} == {"answers.jsonl", "file", "mine.jsonl"}


def test_a_folder_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    path = source(tmp_path, ".jsonl")
    out = tmp_path / "new" / "deep" / "out.jsonl"
    with pytest.raises(InputError, match="blue"):
        score_file(path, out, ["blue"])
    assert not (tmp_path / "new").exists()  # not by a command that failed
    assert score_file(path, out, nli="rules").path == out
    assert out.exists()


def test_a_head_of_several_lines_is_read_whole(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text('question,answer,"my\nnote"\nwho,me,\n', encoding="utf-8")
    for _ in range(2):
        assert score_file(path, out, nli="rules").rows == 1
    out.write_text('question,"never closed\n' + "x\n" * 5_000 + "score_problems", encoding="utf-8")
    with pytest.raises(InputError, match="--force"):
        score_file(path, out)
