"""Files of answers: every format by hand, and everything that can be wrong with one."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import cli
from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import AnswerRow, answer_row
from sayso.datasets.columns import COLUMNS
from sayso.datasets.tools import inspect
from sayso.records import InputError
from support.tables import tabled


def _lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _read(path: Path, **options: Any) -> list[AnswerRow]:
    return list(open_answer_file(path, **options).rows)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"answer": "a", "token_logprobs": [-0.1, None]}, "1 of 2 token_logprobs are missing"),
        ({"answer": "a", "token_logprobs": [float("nan"), -1e999]}, "2 of 2 token_logprobs"),
        ({"answer": "a", "token_logprobs": "x"}, "token_logprobs is a text"),
        ({"answer": "", "token_logprobs": []}, "the answer is empty"),
        ({"answer": " \n"}, "the answer is empty"),
        ({"answer": ["a"]}, "answer is a list, expected text"),
        ({"answer": "a", "samples": "b"}, "samples is a text, expected a list"),
        ({"answer": "a", "samples": ["b", None]}, "1 of 2 samples are not texts"),
        (
            {"answer": "a", "samples": ["b"], "sample_token_logprobs": [[-1], [-2]]},
            "2 lists in sample_token_logprobs for 1 samples",
        ),
        ({"answer": "a", "tokens": ["a"], "token_logprobs": [-1, -2]}, "1 tokens for 2"),
        ({"answer": "a", "human": "maybe"}, "human is 'maybe'"),
        ({"answer": "a", "human": [1, 0]}, "tied"),
        ({"answer": "a", "gold": {"x": 1}}, "gold {'x': 1}: expected a text"),
    ],
)
def test_what_cannot_be_used_is_kept_and_told(
    tmp_path: Path, row: dict[str, Any], told: str
) -> None:
    found = _read(_lines(tmp_path / "a.jsonl", [{"answer": "fine"}, row]))
    assert len(found) == 2
    assert any(told in problem for problem in found[1].problems), found[1].problems
    assert found[1].place == "line 2"


def test_numbers_that_are_not_finite_stay_in_their_place() -> None:
    row = answer_row({"answer": "a", "token_logprobs": [-0.5, float("nan"), {"logprob": -2}]})
    assert row.logprobs is not None
    assert row.logprobs[0] == -0.5
    assert math.isnan(row.logprobs[1])
    assert row.logprobs[2] == -2.0


@tabled
def test_verdicts_of_people(value: object, found: float | None) -> None:
    assert answer_row({"answer": "a", "human": value}).human == found


@given(
    st.dictionaries(
        st.sampled_from(list(COLUMNS)),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=3), inner, max_size=2)
            ),
            max_leaves=6,
        ),
    ),
    st.booleans(),
)
def test_no_row_raises(row: dict[str, Any], loose: bool) -> None:
    found = answer_row(row, loose=loose)
    assert isinstance(found.question, str)
    assert found.answer is None or isinstance(found.answer, str)


@tabled
def test_a_file_that_cannot_be_read_is_one_line(
    tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=told) as caught:
        _read(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)
    for suffix in (".jsonl", ".csv", ".parquet", ".eval"):
        with pytest.raises(InputError, match="does not exist"):
            _read(tmp_path / f"nowhere{suffix}")


def test_two_columns_of_one_name_are_refused_in_parquet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outer = pa.table([["a"], ["b"]], names=["answer"] * 2)
    inner = pa.table(
        {"answer": ["a"], "more": pa.StructArray.from_arrays([["a"], ["b"]], ["x"] * 2)}
    )
    deep = pa.table({"answer": ["a"], "gold": pa.array([[]], pa.list_(inner.schema.field(1).type))})
    for name, table, column in (("o", outer, "answer"), ("i", inner, "x"), ("d", deep, "x")):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path)
        for words in (
            ["score", str(path)],
            ["run", "uncle", "--answers", str(path)],
            ["run", "uncle", "--data", str(path)],
            ["judge-check", "rules", "--labeled", str(path)],
        ):
            assert cli.execute(words) == 2
            error = capsys.readouterr().err
            assert f"two columns are called '{column}'" in error, (words, error)
            assert error.count("\n") == 1


HARNESS = {
    "doc_id": 3,
    "doc": {"question": "Who wrote Emma?", "answer": ["Austen"]},
    "target": "['Jane Austen', 'Austen']",
    "arguments": {"gen_args_0": {"arg_0": "Q: Who wrote Emma?\nA:", "arg_1": {"until": ["\n"]}}},
    "resps": [[" Jane Austen", " Austen", " Brontë"]],
    "filtered_resps": ["Jane Austen"],
    "filter": "strict",
    "metrics": ["exact_match"],
    "doc_hash": "d", "prompt_hash": "p", "target_hash": "t",
    "exact_match": 1.0,
}  # fmt: skip


def test_samples_of_the_harness(tmp_path: Path) -> None:
    rows = [HARNESS, {**HARNESS, "doc_id": 4, "resps": [[]]}, {**HARNESS, "filter": "loose"}]
    opened = open_answer_file(_lines(tmp_path / "samples_triviaqa_2024.jsonl", rows))
    found = list(opened.rows)
    assert opened.kind == "harness"
    assert [row.id for row in found] == ["3", "4"]  # the second filter repeats the first
    assert "1 rows of filters other than 'strict'" in opened.notices[0]
    first = found[0]
    assert (first.question, first.answer) == ("Who wrote Emma?", " Jane Austen")
    assert first.samples == (" Austen", " Brontë")
    assert first.gold == ("Jane Austen", "Austen")
    assert first.prompt == "Q: Who wrote Emma?\nA:"
    assert first.recorded == {"exact_match": 1.0}
    assert found[1].answer is None
    assert found[1].problems == ("no reply in resps",)


def test_a_multiple_choice_log_holds_no_answers(tmp_path: Path) -> None:
    row = {**HARNESS, "resps": [[["-1.25", "False"]], [["-0.5", "True"]]]}
    with pytest.raises(InputError, match="multiple-choice"):
        _read(_lines(tmp_path / "s.jsonl", [row]))


def _chat(text: str, logprobs: list[float] | None) -> dict[str, Any]:
    held = None
    if logprobs is not None:
        held = {
            "content": [
                {"token": "t", "logprob": p, "bytes": None, "top_logprobs": []} for p in logprobs
            ]
        }
    return {"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": held,
            "finish_reason": "stop"}  # fmt: skip


def _batch(name: str, body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
    response = None if body is None else {"status_code": status, "request_id": "r", "body": body}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": error}


def test_output_of_a_batch(tmp_path: Path) -> None:
    completion = {
        "choices": [
            {"text": " Austen", "logprobs": {"tokens": [" Austen"], "token_logprobs": [-0.5]}}
        ]
    }
    part = {"type": "output_text", "text": "Austen"}
    part["logprobs"] = [{"token": "Austen", "logprob": -0.25}]  # type: ignore[assignment]
    response = {"output": [{"type": "reasoning"}, {"type": "message", "content": [part]}]}
    rows = [
        _batch("two", {"choices": [_chat("Austen", [-0.1, -0.2]), _chat("Brontë", [-2.0])]}),
        _batch("one", {"choices": [_chat("Derby", None)]}),
        _batch("bad", {"error": {"message": "model\nover"}}, 500),
        _batch("lost", None, error={"code": "batch_expired", "message": "too late"}),
        _batch("old", completion),
        _batch("new", response),
        _batch("two", {"choices": [_chat("Eliot", None)]}, error={"message": "cut off"}),
    ]
    asked = [
        {"custom_id": "one", "body": {"messages": [{"role": "user", "content": "Where?"}]}},
        {"custom_id": "two", "body": {"messages": [
            {"role": "user", "content": [{"type": "text", "text": "Who wrote Emma?"}]}]}},
        {"custom_id": "bad", "body": {}}, {"custom_id": "lost", "body": {}},
        {"custom_id": "old", "body": {"prompt": "Emma?"}},
        {"custom_id": "new", "body": {"input": "Emma, then?"}},
    ]  # fmt: skip
    out, requests = _lines(tmp_path / "out.jsonl", rows), _lines(tmp_path / "in.jsonl", asked)
    found = _read(out, requests=requests)
    assert [row.question for row in found] == [
        "Who wrote Emma?",
        "Where?",
        "",
        "",
        "Emma?",
        "Emma, then?",
        "Who wrote Emma?",
    ]
    two = found[0]
    assert (two.answer, two.samples) == ("Austen", ("Brontë",))
    assert two.logprobs == (-0.1, -0.2)
    assert two.sample_logprobs == ((-2.0,),)
    assert found[1].logprobs is None
    assert found[2].problems == ("failed: status 500: model over",)
    assert found[3].problems == ("failed: too late",)
    assert (found[4].answer, found[4].logprobs) == (" Austen", (-0.5,))
    assert (found[5].answer, found[5].logprobs) == ("Austen", (-0.25,))
    opened = open_answer_file(out)
    assert [row.question for row in opened.rows] == [""] * 7
    assert "--set requests=FILE" in opened.notices[0]
    assert "1 lines" in opened.notices[1]
    assert (found[6].answer, found[6].problems) == (None, ("failed: cut off",))


def _sample(**changes: Any) -> dict[str, Any]:
    return {
        "id": 1, "epoch": 1, "input": "Who wrote Emma?", "target": ["Austen", "Jane Austen"],
        "output": {"model": "gpt-x", "choices": [_chat("Austen", [-0.25])]},
        "scores": {"match": {"value": "C", "answer": "Austen"}, "rating": {"value": 7}},
        "attachments": {}, **changes,
    }  # fmt: skip


def _log(path: Path, samples: dict[str, Any], model: str = "openai/gpt-x") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"model": model}}))
        for name, sample in samples.items():
            log.writestr(
                f"samples/{name}.json", sample if isinstance(sample, str) else json.dumps(sample)
            )
        log.writestr("summaries.json", "[]")
        log.writestr("header.json", json.dumps({"version": 2, "eval": {"model": model}}))
        log.writestr("../../etc/passwd", "never unpacked")
    return path


def test_logs_of_inspect(tmp_path: Path) -> None:
    long = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "attachment://ab"},
    ]
    parts = {"role": "assistant", "content": [
        {"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Ripley"}]}  # fmt: skip
    samples = {
        "1_epoch_1": _sample(),
        "1_epoch_2": _sample(epoch=2, output={"choices": [_chat("Brontë", [-1.0, -2.0])]}),
        "q_epoch_7_epoch_1": _sample(
            id="q_epoch_7", input=long, target="Ripley", scores={"match": {"value": "I"}},
            output={"choices": [{"message": parts}]}, attachments={"ab": "Where was she born?"},
        ),
        "3_epoch_1": _sample(id=3, error={"message": "boom"}),
    }  # fmt: skip
    found = _read(_log(tmp_path / "log.eval", samples))
    assert [row.id for row in found] == ["1", "q_epoch_7", "3"]
    first, second, third = found
    assert (first.answer, first.samples, first.gold) == (
        "Austen",
        ("Brontë",),
        ("Austen", "Jane Austen"),
    )
    assert first.logprobs == (-0.25,)
    assert first.sample_logprobs == ((-1.0, -2.0),)
    assert first.recorded == {"match": 1.0}
    assert (second.question, second.answer) == ("Where was she born?", "Ripley")
    assert second.recorded == {"match": 0.0}
    assert third.answer is None
    assert "1 of 1 epochs failed: boom" in third.problems[0]


def test_inspects_local_log_probabilities_are_of_another_token(tmp_path: Path) -> None:
    # PEERS: the hf provider reports the likeliest token's log-probability, not the drawn one's
    opened = open_answer_file(
        _log(tmp_path / "log.eval", {"1_epoch_1": _sample()}, model="hf/gpt2")
    )
    assert [row.logprobs for row in opened.rows] == [None]
    assert "likeliest token" in opened.notices[0]


def test_zips_that_no_log_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = _log(tmp_path / "bomb.eval", {"1_epoch_1": '{"a": "' + "0" * 30_000_000 + '"}'})
    with pytest.raises(InputError, match="would unpack"):
        _read(bomb)
    with pytest.raises(InputError, match="contains no samples"):
        _read(_log(tmp_path / "none.eval", {}))
    for text, told in (
        ("{", "wrong JSON"),
        ("[]", "expected an object"),
        ("[" * 100_000, "wrong JSON"),
    ):
        with pytest.raises(InputError, match=told):
            _read(_log(tmp_path / "bad.eval", {"1_epoch_1": text}))
    good = _log(tmp_path / "good.eval", {"1_epoch_1": _sample()})
    data = bytearray(good.read_bytes())
    at = data.find(b"samples/1_epoch_1.json") + 40
    data[at : at + 20] = b"\xff" * 20
    (tmp_path / "cut.eval").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as an Inspect log"):
        _read(tmp_path / "cut.eval")
    monkeypatch.setattr(inspect, "ENTRIES", 3)
    with pytest.raises(InputError, match="entries"):
        _read(good)


def test_files_are_read_row_by_row(tmp_path: Path) -> None:
    # the first rows are there before the mistake further down is met
    path = _lines(tmp_path / "a.jsonl", [{"answer": str(n)} for n in range(50)])
    with path.open("a") as file:
        file.write("{broken\n")
    rows = open_answer_file(path).rows
    assert [next(rows).answer for _ in range(50)] == [str(n) for n in range(50)]
    with pytest.raises(InputError, match="line 51"):
        next(rows)


def test_a_row_without_anything_to_score_says_so() -> None:
    assert answer_row({"question": "a?", "answer": None}).problems == (
        "neither an answer nor a sample",
    )
    assert answer_row({"question": "a?", "samples": []}).problems == (
        "neither an answer nor a sample",
    )
    assert answer_row({"question": "a?", "samples": ["x"]}).problems == ()
    # what could not be read is told once
    (told,) = answer_row({"question": "a?", "answer": ["x"]}).problems
    assert told.startswith("answer is a list")
    (told,) = answer_row({"question": "a?", "samples": [{}]}).problems
    assert told == "1 of 1 samples are not texts"
