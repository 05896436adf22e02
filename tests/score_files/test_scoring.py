"""``sayso.score`` and ``sayso score FILE``: values, forms, tools, bad input, no torch."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import sayso
from sayso import metrics
from sayso.cli import execute
from sayso.datasets.tables import read_table
from sayso.records import InputError
from sayso.score_files.leaderboard import board_warnings
from sayso.score_files.score import score, score_file
from sayso.score_files.write import harmless
from sayso.scores.evidence import Samples
from support.scripted import ScriptedEngine
from support.tables import tabled


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))


def _lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _back(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def made(n: int, *, human: bool = False) -> list[dict[str, Any]]:
    """Rows of a careless model: its log-probabilities know what it does not know."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        right = bool(rng.random() < 0.6)
        base = -0.2 if right else -1.0
        said = f"place {i}" if right else f"town {i}"
        # an unsure model draws other values, told apart by a number
        draws = [said if right or rng.random() < 0.4 else f"town {i}{d}" for d in range(4)]
        row = {
            "question": f"Where was person {i} born?",
            "answer": said,
            "samples": draws,
            "token_logprobs": (-np.abs(base + rng.normal(0, 0.8, 3))).tolist(),
            "sample_token_logprobs": [[base, base] for _ in draws],
            "gold": f"place {i}",
        }
        rows.append({**row, "human": right} if human else row)
    return rows


def test_values_worked_out_by_hand() -> None:
    rows = score(
        [
            {
                "question": "Who wrote Emma?",
                "answer": "Jane Austen",
                "token_logprobs": [-0.5, -1.5],
                "samples": ["Jane Austen", "Austen", "Charlotte Bronte", "Jane Austen"],
                "sample_token_logprobs": [[-0.5, -1.5], [-1.0], [-2.0, -4.0], [-0.5, -1.5]],
            }
        ],
        nli="rules",
    )
    row = rows[0]
    assert row["sequence_probability"] == pytest.approx(2.0)
    assert row["perplexity"] == pytest.approx(math.exp(1.0))
    # two meanings, shares 3/4 and 1/4
    assert row["num_sets"] == 2
    assert row["discrete_semantic_entropy"] == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    )
    # -(mean over draws of the mean log-probability) = (1 + 1 + 3 + 1)/4
    assert row["naive_entropy"] == pytest.approx(1.5)
    # one of four draws differs from... "Austen" and "Charlotte Bronte" are not the answer's words
    assert row["exact_match_rate"] == pytest.approx(0.5)
    assert row["answer"] == "Jane Austen"
    assert "kernel_language_entropy" not in row


def test_named_methods_have_a_column_whatever_happens() -> None:
    rows = score([{"answer": "a"}, {"answer": ""}], ["perplexity", "length_words"])
    assert rows[0]["perplexity"] is None
    assert rows[0]["length_words"] == 1
    assert "needs token_logprobs" in rows[0]["score_problems"]["perplexity"]  # type: ignore[index]
    assert "the answer is empty" in str(rows[1]["score_problems"])
    with pytest.raises(InputError, match="no score is called 'perplexety'"):
        score([{"answer": "a"}], ["perplexety"])


def test_a_score_of_your_own() -> None:
    from sayso.scores import Method

    def shouting(samples: Samples) -> float:
        return float((samples.answer.text if samples.answer else "").count("!"))

    rows = score([{"answer": "Yes!!"}], {"shouting": Method(shouting, ("answer",))})
    assert rows[0]["shouting"] == 2


@pytest.mark.parametrize("bad", [[float("nan"), -0.1], [-math.inf], [], [0.5, -1.0]])
def test_what_is_no_probability_is_no_score_and_never_the_most_certain(bad: list[float]) -> None:
    # lm-polygraph turns NaN into -1e7: most certain of all
    row = score([{"answer": "a", "token_logprobs": bad}])[0]
    assert "sequence_probability" not in row
    assert "sequence_probability" in row["score_problems"]  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000, "word " * 20_000, "ولدت في القاهرة", "彼女は東京で生まれた。",
        "\u202eevil\x00", "🙂" * 50, "=1+1",
    ],
)  # fmt: skip
def test_any_text_is_scored(text: str) -> None:
    row = score(
        [{"question": "Where?", "answer": text, "samples": [text, text[:40], "Paris"]}], nli="rules"
    )[0]
    assert row["num_sets"] in (1, 2, 3)
    assert row["length_words"] == len(text.split())
    assert 0 <= row["exact_match_rate"] <= 1  # type: ignore[operator]


def test_a_file_comes_back_with_columns_and_a_leaderboard(tmp_path: Path) -> None:
    rows = made(200)
    found = score_file(_lines(tmp_path / "a.jsonl", rows), nli="rules")
    back = _back(found.path)
    assert found.path == tmp_path / "a.scored.jsonl"
    assert [{k: row[k] for k in rows[0]} for row in back] == rows  # what came stays
    assert len(back) == found.rows == 200
    board = found.board
    assert board is not None
    assert (board.against, board.judged, board.left_out) == ("rules", 200, 0)
    wrong = np.asarray([1 - row["correct_rules"] for row in back])
    for entry in board.entries:
        name = entry.method
        if name == "text_only":  # a reference, and no column
            continue
        scores = [
            len(row["answer"].split()) if name == "length_words" else row[name] for row in back
        ]
        assert entry.auroc.value == pytest.approx(metrics.auroc(scores, wrong)), name
    by = {entry.method: entry for entry in board.entries}
    assert by["length_words"].auroc.value == 0.5  # every answer has two words
    assert by["perplexity"].auroc.low > 0.5  # type: ignore[operator]
    assert by["perplexity"].versus_length is not None
    assert by["discrete_semantic_entropy"].auroc.low > 0.5  # type: ignore[operator]
    sentence = board.audits["sequence_probability"]["rouge_l"].sentence()
    assert "plain length has" in sentence


def test_shuffled_golds_leave_nothing(tmp_path: Path) -> None:
    rows = made(300, human=True)
    rng = np.random.default_rng(0)
    verdicts = [row["human"] for row in rows]
    rng.shuffle(verdicts)
    for row, verdict in zip(rows, verdicts, strict=True):
        row["human"] = verdict
        del row["gold"]
    board = score_file(_lines(tmp_path / "a.jsonl", rows), nli="rules").board
    assert board is not None
    assert board.against == "people"
    apart = [e for e in board.entries if not (e.auroc.low or 0) <= 0.5 <= (e.auroc.high or 1)]
    assert len(apart) <= len(board.entries) // 5


def test_the_length_trap_is_told(tmp_path: Path) -> None:
    # Lengths say nothing of being right, ROUGE-L refuses long right answers, and so
    # the summed log-probability looks good against it and is blind against people.
    rng = np.random.default_rng(1)
    rows = []
    for i in range(600):
        n = max(2, round(float(rng.lognormal(1.75, 0.6))))
        right = bool(rng.random() < 0.75)
        words = [f"alpha{i}", f"beta{i}"] if right else [f"gamma{i}", f"delta{i}"]
        filler = ["so", "it", "is", "said", "by", "all", "of", "them", "here", "now"]
        words += [filler[j % 10] for j in range(n - 2)]
        rate = float(rng.lognormal(0, 0.3))
        rows.append({"question": "Who?", "answer": " ".join(words), "gold": f"alpha{i} beta{i}",
                     "token_logprobs": [-rate] * n, "human": right})  # fmt: skip
    by_people, bare = tmp_path / "a.jsonl", [{**row, "human": None} for row in rows]
    boards = []
    for path, some, area in (
        (_lines(by_people, rows), rows, 0.5),
        (_lines(tmp_path / "b.jsonl", bare), bare, 0.86),
    ):
        found = score_file(path, gold_metric="rouge_l", methods=["sequence_probability"])
        board = found.board
        assert board is not None
        assert board.judged == len(some)
        entry = next(e for e in board.entries if e.method == "sequence_probability")
        assert entry.auroc.value == pytest.approx(area, abs=0.06)
        told = any("lain length alone" in text for text in board_warnings(board))
        assert told == (area > 0.8)
        boards.append(board)
    audit = boards[0].audits["sequence_probability"]["rouge_l"]
    assert audit.against_metric.value == pytest.approx(0.86, abs=0.05)
    assert audit.against_truth is not None
    assert audit.against_truth.value == pytest.approx(0.5, abs=0.06)
    assert audit.from_length is not None
    assert audit.from_length.value == pytest.approx(0.36, abs=0.08)
    judges = {judge.name: judge for judge in boards[0].judges}
    rouge = judges["rouge_l"]
    assert rouge.false_negatives.slope.low > 0.1  # type: ignore[operator]
    assert rouge.inflation == pytest.approx(audit.length.value, abs=0.06)


def test_parquet_keeps_its_columns(tmp_path: Path) -> None:
    rows = made(20)
    table = pa.Table.from_pylist(rows).append_column(
        "weight", pa.array([1.5, math.nan] * 10, pa.float32())
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    found = score_file(tmp_path / "a.parquet", nli="rules", token_level=True)
    back = pq.read_table(found.path)
    assert found.path.name == "a.scored.parquet"
    assert back.schema.field("weight").type == pa.float32()
    assert math.isnan(back.column("weight")[1].as_py())
    assert back.column("answer").to_pylist() == [row["answer"] for row in rows]
    lines = score_file(_lines(tmp_path / "b.jsonl", rows), nli="rules")
    assert back.column("perplexity").to_pylist() == [row["perplexity"] for row in _back(lines.path)]
    assert back.column("correct_rules").null_count == 0
    assert back.column("token_logprobs")[0].as_py() == rows[0]["token_logprobs"]
    assert "p_true" not in back.schema.names


def test_csv_comes_back_harmless(tmp_path: Path) -> None:
    cells = ['=HYPERLINK("http://x")', "+1", "-2+3", "@SUM(A1)", " =1", "-0.5", "plain", "\t=1"]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["answer", "samples", "=note"])
        writer.writerows([[cell, json.dumps(["a", cell]), "x"] for cell in cells])
    found = score_file(tmp_path / "a.csv", nli="rules")
    with found.path.open(newline="", encoding="utf-8") as file:
        back = list(csv.DictReader(file))
    assert [row["answer"] for row in back] == [
        "'=HYPERLINK(\"http://x\")", "+1", "'-2+3", "'@SUM(A1)", "' =1", "-0.5", "plain", "'\t=1"
    ]  # fmt: skip
    assert "'=note" in back[0]
    assert back[0]["num_sets"] == "2.0"
    assert "perplexity" not in back[0]  # no row of the file allows it
    assert harmless("=1") == "'=1"


def test_an_output_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = _lines(tmp_path / "a.jsonl", made(3))
    for out, told in [("a.jsonl", "is the input itself"), ("b.txt", "expected a name ending in"),
                      ("b.parquet", "are written as"), (".", "name ending in")]:  # fmt: skip
        with pytest.raises(InputError, match=told):
            score_file(path, tmp_path / out)
    before = path.read_bytes()
    with path.open("a") as file:
        file.write("{broken\n")
    with pytest.raises(InputError, match="line 4"):
        score_file(path, tmp_path / "c.jsonl")
    assert not (tmp_path / "c.jsonl").exists()
    assert path.read_bytes().startswith(before)


class Counting:
    """An NLI classifier with a rule that counts its pairs."""

    labels = ("CONTRADICTION", "ENTAILMENT", "NEUTRAL")
    identity = "counting-1"

    def __init__(self) -> None:
        self.pairs = 0

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        self.pairs += len(pairs)
        return np.asarray(
            [[0.1, 0.8, 0.1] if a[-1] == b[-1] else [0.8, 0.1, 0.1] for a, b in pairs]
        )


def test_relations_are_kept_between_runs_and_by_model(tmp_path: Path) -> None:
    path = _lines(tmp_path / "a.jsonl", made(30))
    first, again, other = Counting(), Counting(), Counting()
    one = score_file(path, nli=first)
    two = score_file(path, nli=again)
    other.identity = "counting-2"
    score_file(path, nli=other)
    assert first.pairs > 0
    assert again.pairs == 0
    assert other.pairs == first.pairs
    assert one.board == two.board
    assert "luq" in one.values
    assert "kernel_language_entropy" in one.values


def test_a_model_fills_in_what_the_file_lacks(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda r: None, logprob=-0.25)
    rows = [
        {"question": "Who wrote Emma?", "answer": "Jane Austen", "samples": ["Austen", "A B C"]}
    ]
    path = _lines(tmp_path / "a.jsonl", rows)
    found = score_file(path, model=engine, nli="rules", token_level=True)
    row = _back(found.path)[0]
    assert row["sequence_probability"] == pytest.approx(0.5)
    assert row["mean_token_entropy"] == pytest.approx(0.25)
    assert row["mc_mean_token_entropy"] == pytest.approx(0.25)
    assert row["pmi"] == pytest.approx(0)
    # P(A) = P(B), each over two spellings of one token: exp(-.25) twice is more than 1, refused
    assert "p_true" not in row
    assert row["tokens"] == ["Jane", " Austen"]
    assert row["token_logprobs"] == [-0.25, -0.25]
    asked = len(engine.forced)
    again = ScriptedEngine(lambda r: None, logprob=-0.25)
    assert score_file(path, model=again, nli="rules").values == found.values
    assert asked > 0
    assert again.forced == []  # read before, in another run


def test_an_endpoint_cannot_fill_in_and_says_so(tmp_path: Path) -> None:
    found = score_file(_lines(tmp_path / "a.jsonl", [{"answer": "a"}]), model=ScriptedEngine({}))
    assert any("given text token by token" in notice for notice in found.notices)
    assert "given text token by token" in found.missing["perplexity"]


def test_the_built_in_model_reads_given_text(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    rows = [
        {
            "question": "Where was Mira Toll born?",
            "answer": "Ripley",
            "samples": ["Derby", "Ripley"],
        },
        {"question": "?", "answer": "東京 \u202e"},
        {"question": "Where?", "answer": "x " * 100_000},
    ]
    found = score_file(
        _lines(tmp_path / "a.jsonl", rows), model="builtin", nli="rules", token_level=True
    )
    back = _back(found.path)
    first = back[0]
    assert first["sequence_probability"] == pytest.approx(-sum(first["token_logprobs"]))
    assert "".join(first["tokens"]).strip() == "Ripley"
    assert 0 <= first["p_true"] <= 1
    for name in ("self_certainty", "fisher_rao", "probability_margin", "semantic_entropy"):
        assert name in first
    assert "longer than the model's context" in back[2]["score_problems"]["perplexity"]
    readable = "perplexity" in back[1] or "cannot reproduce" in str(back[1]["score_problems"])
    assert readable


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"answer": "a", "gold": "a", "token_logprobs": [-1]}] * 5, "all 5 answers are correct"),
        ([{"answer": "a", "human": 0, "token_logprobs": [-1]}] * 5, "all 5 answers are wrong"),
    ],
)
def test_one_class_only_is_told(tmp_path: Path, rows: list[dict[str, Any]], told: str) -> None:
    board = score_file(_lines(tmp_path / "a.jsonl", rows)).board
    assert board is not None
    assert board.problem is not None
    assert told in board.problem
    assert all(entry.auroc.value is None for entry in board.entries)


def test_golds_without_answers_give_no_leaderboard_and_say_so(tmp_path: Path) -> None:
    rows = [{"question": "Where?", "samples": ["Ripley", "Derby"], "gold": "Ripley"}] * 3
    found = score_file(_lines(tmp_path / "a.jsonl", rows), nli="rules")
    assert found.board is None
    assert found.values["num_sets"] == 3
    assert found.missing["length_words"] == "no answer"
    assert any("no answer could be judged" in notice for notice in found.notices)


def test_equal_scores_are_blind_and_say_why(tmp_path: Path) -> None:
    rows = [
        {"answer": "Ripley", "gold": "Ripley" if n % 2 else "Derby", "token_logprobs": [-1]}
        for n in range(40)
    ]
    board = score_file(_lines(tmp_path / "a.jsonl", rows)).board
    assert board is not None
    for entry in board.entries:
        assert entry.auroc.value == 0.5
        assert entry.auroc.problem == "all scores are equal"


def test_rows_without_a_score_are_counted_beside_it(tmp_path: Path) -> None:
    rows = made(60)
    for row in rows[:10]:
        row["token_logprobs"] = None
    found = score_file(_lines(tmp_path / "a.jsonl", rows), nli="rules")
    assert found.values["perplexity"] == 50
    assert found.board is not None
    entry = next(e for e in found.board.entries if e.method == "perplexity")
    assert (entry.n, entry.missing) == (50, 10)


def test_other_graders_decide_where_asked(tmp_path: Path) -> None:
    rows = [{"doc_id": n, "doc": {"question": f"q{n}"}, "target": "a", "arguments": {},
             "resps": [["a", "b", "a"]], "filtered_resps": ["a"], "exact_match": float(n % 2)}
            for n in range(20)]  # fmt: skip
    path = _lines(tmp_path / "samples_x.jsonl", rows)
    board = score_file(path, nli="rules", gold_metric="file:exact_match").board
    assert board is not None
    assert (board.judged, board.wrong) == (20, 10)
    with pytest.raises(InputError, match="--gold-metric 'blue'"):
        score_file(path, gold_metric="blue")


def _without_torch(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python where torch and transformers cannot be imported."""
    (folder / "sitecustomize.py").write_text(
        "import sys\nfor name in ('torch', 'transformers'): sys.modules[name] = None\n"
    )
    place = str(Path(sayso.__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), place])}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=300)


def test_a_thousand_rows_on_the_command_line_without_torch(tmp_path: Path) -> None:
    _lines(tmp_path / "answers.jsonl", made(1000))
    code = "from sayso.cli import main; main(['score', 'answers.jsonl'])"
    done = _without_torch(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "scores of 1,000 rows" in done.stdout
    assert "plain length (words)" in done.stdout
    back = _back(tmp_path / "answers.scored.jsonl")
    assert len(back) == 1000
    assert all(isinstance(row["semantic_entropy"], float) for row in back)


def test_the_script_of_the_readme_without_torch(tmp_path: Path) -> None:
    _lines(tmp_path / "answers.jsonl", made(1000))
    code = (
        "import json, sayso\n"
        "rows = [json.loads(line) for line in open('answers.jsonl')]\n"
        "scored = sayso.score(rows, methods=['semantic_entropy', 'perplexity'])\n"
        "least = max(scored, key=lambda row: row['semantic_entropy'])\n"
        "print(len(scored), least['question'], least['perplexity'] > 1)\n"
    )
    done = _without_torch(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1000 Where was person")


@tabled
def test_mistakes_on_the_command_line_are_one_line(
    tmp_path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip

    monkeypatch.chdir(tmp_path)
    _lines(tmp_path / "a.jsonl", made(3))
    assert execute(["score", *arguments]) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert "Traceback" not in said.err


def test_everything_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.chdir(tmp_path)
    rows = [*made(40), {"answer": "", "token_logprobs": [None]}]
    _lines(tmp_path / "a.jsonl", rows)
    assert execute(["score", "a.jsonl", "--json", "--nli", "rules"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["rows"] == 41
    assert told["board"]["against"] == "rules"
    assert "p_true" in told["missing"]
    assert "the answer is empty" in said.err
    assert "line 41" in said.err


def test_log_probabilities_of_other_tokens_than_the_model_s_are_not_mixed(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Charlotte", "token_logprobs": [-0.5, -0.1]}
    names = ["token_sar", "mars", "perplexity"]
    found = score_file(_lines(tmp_path / "a.jsonl", [row]), None, names, model="builtin")
    (back,) = _back(found.path)
    assert back["perplexity"] is not None
    assert back["token_sar"] is None
    assert "the text of each token" in back["score_problems"]["mars"]
    whole = {**row, "tokens": ["Charl", "otte"]}  # both tokens are of the one word that says it
    found = score_file(_lines(tmp_path / "b.jsonl", [whole]), None, names)
    (back,) = _back(found.path)
    assert back["token_sar"] == back["mars"] == pytest.approx(0.3)


@pytest.mark.parametrize("force", [False, True])
def test_no_file_that_is_read_is_written_over(tmp_path: Path, force: bool) -> None:
    path = _lines(tmp_path / "a.jsonl", made(3))
    golds = _lines(tmp_path / "golds.jsonl", [{"id": "1", "gold": "x"}])
    page = tmp_path / "page.html"
    page.hardlink_to(path)
    before = {file: file.read_bytes() for file in (path, golds)}
    for out, report, told in (
        (None, page, "is a file that is read" if force else "was not written by sayso"),
        (golds, None, "is a file that is read" if force else "was not written by sayso score"),
        (None, golds, "expected a name ending in .html"),
        (None, path, "expected a name ending in .html"),
    ):
        with pytest.raises(InputError, match=re.escape(told)):
            score_file(path, out, golds=golds, report=report, force=force)
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_scores_of_an_earlier_scoring_do_not_stay(tmp_path: Path, ending: str) -> None:
    """The answer was edited, and its log-probabilities removed."""
    rows = [{"question": "q?", "answer": "Rome", "gold": "Paris", "token_logprobs": [-0.9, -0.1]}]
    first = tmp_path / f"a{ending}"
    _table_of(first, rows)
    scored = score_file(first).path
    old = next(iter(read_table(scored)))[1]
    assert old["perplexity"] not in (None, "")
    edited = {k: v for k, v in old.items() if k != "token_logprobs"} | {"answer": "quite another"}
    edited.pop("score_problems")
    again = tmp_path / f"b{ending}"
    _table_of(again, [{**edited, "score_problems": "{}" if ending == ".csv" else None}])
    new = next(iter(read_table(score_file(again).path)))[1]
    assert new.get("perplexity") in (None, "")
    assert new.get("sequence_probability") in (None, "")
    assert float(new["length_words"]) == 2


def _table_of(path: Path, rows: list[dict[str, Any]]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        _lines(path, rows)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(
                {k: json.dumps(v) if isinstance(v, list) else v for k, v in r.items()} for r in rows
            )


def test_a_column_of_golds_of_the_users_own_stays(tmp_path: Path) -> None:
    path = _lines(
        tmp_path / "a.jsonl",
        [{"question": "q?", "answer": "Rome", "correct_answer": "Paris", "correct_rules": 1.0,
          "score_problems": {}, "perplexity": 3.0}],
    )  # fmt: skip
    row = next(iter(read_table(score_file(path, columns={"gold": "correct_answer"}).path)))[1]
    assert row["correct_answer"] == "Paris"
    assert row["correct_rules"] == 0.0
    assert "perplexity" not in row


@pytest.mark.parametrize(("golds", "times"), [(1, 0), (40, 1)])
def test_what_is_remembered_of_golds_is_let_go_too(
    golds: int, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many aliases are most of the text of a file, and of what readers remember of it."""
    forgotten: list[int] = []
    monkeypatch.setattr("sayso.score_files.score.FORGET", 5000)
    monkeypatch.setattr("sayso.score_files.score.forget_texts", lambda: forgotten.append(1))
    rows = [
        {
            "question": f"Who is number {n}?",
            "answer": "Ada",
            "gold": [f"Bo {a}" for a in range(golds)],
        }
        for n in range(50)
    ]
    score_file(_lines(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", "length_words", jobs=1)
    assert len(forgotten) == times


def test_golds_that_are_sentences_are_noted(tmp_path: Path) -> None:
    place = tmp_path / "answers.jsonl"
    rows = [
        {"question": "Where is Ada?", "answer": "away", "gold": "She was seen in Marl."},
        {"question": "Who is it?", "answer": "Ada", "gold": "The Man Who Would Be King"},
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = score_file(place, tmp_path / "out.jsonl", nli="rules")
    assert [n[:36] for n in found.notices if "sentences" in n] == [
        "1 gold answers are sentences ('She w"
    ]
