"""Bad input of ``sayso score FILE`` as typed: each kind is told, and none becomes a number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sayso import cli
from sayso.score_files.score import score, score_file
from support.tables import tabled


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def _good(count: int) -> list[dict[str, Any]]:
    return [
        {
            "question": f"Where was person {n} born?",
            "answer": f"place {n}" if n % 3 else f"town {n}, or so they say",
            "samples": [f"place {n}", f"town {n}"],
            "token_logprobs": [-0.1 * (n % 5) - 0.1, -0.2],
            "gold": f"place {n}",
        }
        for n in range(count)
    ]


def _write(rows: Sequence[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    Path("a.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Path("a.jsonl")


def _run(
    rows: Sequence[Any], capsys: pytest.CaptureFixture[str], *flags: str
) -> tuple[int, str, str]:
    _write(rows)
    code = cli.execute(["score", "a.jsonl", "--nli", "rules", *flags])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said.out, said.err


@tabled
def test_one_bad_row_is_named_by_its_line(
    row: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = _run([*_good(5), row], capsys)
    assert code == 0
    assert told in err
    assert "line 6: " in err
    back = json.loads(Path("a.scored.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert "sequence_probability" not in back
    assert told in json.dumps(back["score_problems"])


def test_many_bad_rows_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    bad = [{"answer": "a", "token_logprobs": [None] * n + [-1]} for n in range(1, 5)]
    _, _, err = _run([*_good(3), *bad], capsys)
    assert "4 rows, such as line 4: 1 of 2 token_logprobs are missing or not finite" in err


def test_evidence_of_another_number_of_tokens_is_left_out() -> None:
    # one entropy for two tokens: nobody knows of which, so their mean means nothing
    row = {"answer": "a b", "token_logprobs": [-1, -1], "token_entropies": [1], "tokens": ["a"]}
    found = score([row], token_level=True)[0]
    assert "mean_token_entropy" not in found
    assert "token_entropies" not in {*found} - {*row}
    assert "1 token_entropies for 2 token_logprobs: left out" in str(found["score_problems"])


def test_one_class_and_equal_scores_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    right = [{**row, "answer": row["gold"]} for row in _good(6)]
    _, out, _ = _run(right, capsys)
    assert "ll 6 answers are correct: a ranking needs at least 5 of each kind" in " ".join(
        out.split()
    )
    flat = [{**row, "token_logprobs": [-1, -1], "samples": None} for row in _good(30)]
    _, out, err = _run(flat, capsys)
    assert "rank nothing (AUROC .5 by definition): length_tokens, sequence_probability" in err
    # nothing is claimed of a score that ranks nothing
    assert "sequence_probability against" not in out


def test_columns_that_are_missing_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run([{"answer": "a"}, {"answer": "b"}], capsys, "--verbose")
    assert code == 0
    flat = " ".join(out.split())
    assert "1 score of 2 rows" in flat
    assert "not computed (no samples): naive_entropy" in flat
    assert "not computed (needs token_logprobs: in the file, or from --model)" in flat
    assert "not computed (needs token_entropies: in the file, or from --model)" in flat
    assert "nan" not in flat.lower().replace("nano", "")
    code, _, err = _run([{"q": "x", "response": "y"}], capsys)
    assert code == 2
    assert "expected a column 'answer' (or 'samples'), got q, response" in err


@pytest.mark.parametrize(
    ("gold", "answer", "wrong"),
    [
        ("القاهرة", "في القاهرة", "دمشق"),
        ("東京", "東京", "大阪"),
        ("ירושלים", "ירושלים", "חיפה"),
    ],
)
def test_other_scripts_are_judged_and_no_metric_refuses_them_all(
    gold: str, answer: str, wrong: str
) -> None:
    rows = [
        {"question": f"? {n}", "answer": answer if n % 2 else wrong, "gold": gold}
        for n in range(12)
    ]
    # ROUGE-L's official tokenizer finds no word here: it would call everything wrong
    for metric in ("rules", "rouge_l"):
        found = score_file(_write(rows), gold_metric=metric)
        assert found.board is not None
        assert (found.board.judged, found.board.wrong) == (12, 6)
        judges = {judge.name: (judge.p, judge.q) for judge in found.board.judges}
        assert judges["rouge_l"] == (0.5, 1.0)


def test_very_long_answers(capsys: pytest.CaptureFixture[str]) -> None:
    long = {"question": "q", "answer": "x" * 100_000, "samples": ["y" * 100_000], "gold": "x"}
    words = {"question": "q2", "answer": "word " * 20_000, "gold": "word", "samples": ["a", "b"]}
    code, _, _ = _run([*_good(4), long, words], capsys)
    assert code == 0
    back = [json.loads(line) for line in Path("a.scored.jsonl").read_text().splitlines()]
    assert back[4]["length_words"] == 1
    assert back[5]["length_words"] == 20_000


def test_what_a_model_wrote_does_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"question": "\x1b]0;t\x07", "answer": "\u202eevil\x1b[2J", "human": "\x1b[31mred\x9b2J"},
        *_good(3),
    ]
    _, out, err = _run(rows, capsys)
    assert all(line.isprintable() for line in (out + err).split("\n"))


def test_a_row_without_a_text_has_one_reason(tmp_path: Path) -> None:
    import sayso

    rows = [{"question": "a?", "answer": "x", "samples": ["x", "y"]}, {"question": "b?"}]
    full, bare = sayso.score(rows, nli="rules", cache=tmp_path)
    assert full["num_sets"] == 2.0
    assert bare["score_problems"] == {"row": "neither an answer nor a sample"}
