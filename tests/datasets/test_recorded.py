"""Answers on record: what files of answers hold, model by model, and what is left out and why."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.layouts import LAYOUTS, layout_of
from sayso.datasets.long_texts import read_texts
from sayso.datasets.recorded import RecordedAnswers, RecordedModel, read_recorded
from sayso.datasets.tables import stem_of, suffix_of
from sayso.records import InputError
from support.tables import tabled

EMMA = "Who wrote Emma?"


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def judged(model: RecordedModel) -> int:
    """Return how many answers carry a person's verdict."""
    return sum(row.human is not None for row in model.rows.values())


def by_name(read: RecordedAnswers) -> dict[str, RecordedModel]:
    return {model.name: model for model in read.models}


ROWS = [
    {"model": "a", "question": EMMA, "answer": "Austen", "gold": "Jane Austen", "human": True},
    {"model": "b", "question": EMMA, "answer": "Brontë", "samples": ["Austen", "Brontë"]},
    {"model": "a", "question": "Who wrote Zorb?", "answer": "I don't know.", "answerable": False},
    {"model": "a", "question": EMMA, "answer": "Eliot"},
    {"model": "a", "question": "Who?", "answer": None},
    {"model": "b", "question": "", "answer": "Yes."},
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_model_for_each_name_and_one_set_of_questions(tmp_path: Path, ending: str) -> None:
    read = read_recorded([lines(tmp_path / f"mine.{ending}", ROWS)])
    models = by_name(read)
    assert list(models) == ["a", "b"]
    assert read.data.name == "mine"
    assert [(q.text, q.answerable) for q in read.data.questions] == [
        (EMMA, True), ("Who wrote Zorb?", False), ("Who?", None),
    ]  # fmt: skip
    emma, zorb, _ = read.data.questions
    assert [gold.value for gold in emma.golds or ()] == ["Jane Austen"]
    assert zorb.golds is None
    assert models["a"].rows[emma.id].answer == "Austen"  # the first counts
    assert models["b"].rows[emma.id].samples == ("Austen", "Brontë")
    assert (models["a"].draws, models["b"].draws) == (0, 2)
    assert (judged(models["a"]), judged(models["b"])) == (1, 0)
    told = models["a"].notices[0]
    assert told == (
        f"answers of a: 2 of 4 rows are used, from mine.{ending}; 1 left out: the question "
        "was already answered (the first answer counts); 1 left out: no answer"
    )
    assert "1 left out: no question" in models["b"].notices[0]


def test_without_a_column_model_the_file_is_the_model(tmp_path: Path) -> None:
    rows = [{"question": EMMA, "answer": "Austen"}]
    (tmp_path / "x").mkdir()
    files = [lines(tmp_path / f"{name}.jsonl", rows) for name in ("gpt", "claude", "x/gpt")]
    read = read_recorded(files)
    assert list(by_name(read)) == [f"{tmp_path.name}/gpt", "claude", "x/gpt"]
    assert read.data.name == "answers"
    # the same questions have the same ids and hash whichever files are read
    assert read_recorded(files[:1]).data.hash == read.data.hash
    with pytest.raises(InputError, match="named twice"):
        read_recorded([files[0], files[0]])
    with pytest.raises(InputError, match="no file of answers"):
        read_recorded([])


def test_a_record_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    one, other = [dict(row) for row in ROWS], [dict(row) for row in ROWS]
    other[0]["human"] = False
    first = by_name(read_recorded([lines(tmp_path / "one.jsonl", one)]))
    again = by_name(read_recorded([lines(tmp_path / "again.jsonl", one)]))
    changed = by_name(read_recorded([lines(tmp_path / "other.jsonl", other)]))
    assert first["a"].identity == again["a"].identity
    assert first["a"].identity != changed["a"].identity
    assert first["b"].identity == changed["b"].identity


def test_logprobs_are_natural_or_refused(tmp_path: Path) -> None:
    row = {"question": EMMA, "answer": "Jane Austen", "token_logprobs": [-0.5, -0.1]}
    path = lines(tmp_path / "a.jsonl", [row])
    (model,) = read_recorded([path]).models
    (kept,) = model.rows.values()
    assert kept.logprobs == (-0.5, -0.1)
    (model,) = read_recorded([path], logprobs="none").models
    assert next(iter(model.rows.values())).logprobs is None
    for kind, told in (("base2", "0.6931"), ("logits", "normalized"), ("base10", "2.3026")):
        with pytest.raises(InputError, match=told):
            read_recorded([path], logprobs=kind)  # type: ignore[arg-type]
    bad = lines(tmp_path / "b.jsonl", [{**row, "token_logprobs": [2.5, -0.1]}])
    with pytest.raises(InputError, match=r"b\.jsonl line 1: log-probabilities above 0"):
        read_recorded([bad])
    assert read_recorded([bad], logprobs="none").models
    # a value that the server did not know: a mean over the others would be of another text
    unknown = lines(tmp_path / "c.jsonl", [{**row, "token_logprobs": [-9999.0, -0.1]}])
    (model,) = read_recorded([unknown]).models
    assert next(iter(model.rows.values())).logprobs is None
    assert any("1 of 2 token_logprobs are missing" in note for note in model.notices)


def test_golds_that_differ_are_counted(tmp_path: Path) -> None:
    rows = [
        {"model": "a", "question": EMMA, "answer": "x", "gold": "Austen"},
        {"model": "b", "question": EMMA, "answer": "x", "gold": "Eliot"},
    ]
    data = read_recorded([lines(tmp_path / "a.jsonl", rows)]).data
    assert [g.value for g in data.questions[0].golds or ()] == ["Austen"]
    assert "1 questions have different golds in different rows" in data.notes[1]
    # nobody can answer it, says one row, and another has the answer: in either order
    rows[0] = {**rows[0], "gold": "Eliot", "answerable": True}
    never = {"model": "c", "question": EMMA, "answer": "x", "answerable": False}
    for several in ([never, rows[1]], [*rows, never], [never, {**never, "model": "d"}]):
        data = read_recorded([lines(tmp_path / "a.jsonl", several)]).data
        told = any("can be answered in one and not" in note for note in data.notes)
        assert told == (rows[1] in several)


def test_results_of_promptfoo(tmp_path: Path) -> None:
    result = {
        "provider": {"id": "openai:gpt-4o"},
        "vars": {"question": EMMA},
        "prompt": {"raw": f"Answer: {EMMA}", "label": "p"},
        "response": {"output": "Jane Austen"},
        "testCase": {"assert": [{"type": "equals", "value": "Jane Austen"}]},
        "gradingResult": {
            "componentResults": [
                {"pass": True, "assertion": {"type": "equals"}},
                {"pass": False, "assertion": {"type": "human"}},
            ]
        },
    }
    failed = {**result, "provider": {"id": "x", "label": "mine"}, "response": None, "error": "429"}
    document = {"evalId": "e", "results": {"version": 3, "results": [result, failed]}}
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document))
    assert open_answer_file(path).kind == "promptfoo"
    (row, none) = open_answer_file(path).rows
    assert (row.question, row.answer, row.gold, row.human) == (
        EMMA, "Jane Austen", ("Jane Austen",), 0.0,
    )  # fmt: skip
    assert (none.model, none.answer) == ("mine", None)
    assert list(by_name(read_recorded([path]))) == ["openai:gpt-4o"]  # the other has no answer


@tabled
def test_an_assertion_of_promptfoo_that_is_a_template(
    tmp_path: Path, value: str, rendered: str | None, gold: list[str] | None
) -> None:
    """Results keep the template; what it became stands beside the outcome, or in the variables."""
    assertion = {"type": "equals", "value": value}
    metadata = {} if rendered is None else {"renderedAssertionValue": rendered}
    result = {
        "provider": "p",
        "vars": {"question": EMMA, "expected": "Paris", "year": 1900},
        "prompt": {"raw": EMMA},
        "response": {"output": "Paris"},
        "testCase": {"assert": [assertion]},
        "gradingResult": {
            "componentResults": [{"pass": True, "assertion": assertion, "metadata": metadata}]
        },
    }
    path = tmp_path / "out.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": [result]}}))
    (row,) = open_answer_file(path).rows
    assert row.gold == (None if gold is None else tuple(gold))


def test_a_file_of_ones_own_with_golds_is_not_taken_for_a_published_one(tmp_path: Path) -> None:
    row = {"model": "a", "question": EMMA, "answer": "Austen", "golds": ["Jane Austen"],
           "answerable": True}  # fmt: skip
    assert layout_of(row) is not None
    own = {**row, "entity": "Emma", "samples": ["Austen"], "human": 1, "stated_confidence": 0.9}
    assert layout_of(own) is None
    (model,) = read_recorded([lines(tmp_path / "a.jsonl", [own])]).models
    assert judged(model) == 1
    (read,) = open_answer_file(
        lines(tmp_path / "b.jsonl", [{**row, "stated_confidence": 0.9}])
    ).rows
    assert read.stated == 0.9


def test_the_identity_of_answers_on_record_holds_all_that_is_scored(tmp_path: Path) -> None:
    row = {"model": "a", "question": EMMA, "answer": "Jane Austen", "samples": ["Austen"],
           "token_logprobs": [-0.1, -0.2], "token_entropies": [0.3, 0.4],
           "sample_token_entropies": [[0.5]], "stated_confidence": 0.5, "human": 1}  # fmt: skip
    other = {"answer": "Eliot", "samples": ["Eliot"], "token_logprobs": [-0.1, -0.3],
             "token_entropies": [0.3, 0.5], "sample_token_entropies": [[0.6]],
             "stated_confidence": 0.6, "human": 0}  # fmt: skip
    changed = [row, *({**row, name: value} for name, value in other.items())]
    identities = {
        read_recorded([lines(tmp_path / "a.jsonl", [one])]).models[0].identity for one in changed
    }
    assert len(identities) == len(changed)


def test_long_names_of_models_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    folder = "/d" * 120
    rows = [
        {"model": f"{folder}/checkpoint-{n}", "question": EMMA, "answer": "Austen"} for n in (1, 2)
    ]
    names = list(by_name(read_recorded([lines(tmp_path / "a.jsonl", rows)])))
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 200


def test_a_test_run_of_deepeval(tmp_path: Path) -> None:
    case = {
        "name": "test_0",
        "input": EMMA,
        "actualOutput": "Jane Austen",
        "expectedOutput": "Jane Austen",
        "context": ["Emma is by Austen."],
        "metricsData": [{"name": "Correctness", "success": True, "score": 1.0}],
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [case], "hyperparameters": {"model": "gpt-4o"}}))
    (row,) = open_answer_file(path).rows
    assert (row.question, row.answer, row.gold) == (EMMA, "Jane Austen", ("Jane Austen",))
    assert (row.context, row.model, row.human) == ("Emma is by Austen.", "gpt-4o", None)
    path.write_text(json.dumps({"testCases": []}))
    with pytest.raises(InputError, match="no results"):
        open_answer_file(path)
    path.write_text(json.dumps({"other": []}))
    with pytest.raises(InputError, match="expected a list"):
        open_answer_file(path)


def test_packed_files(tmp_path: Path) -> None:
    assert suffix_of(Path("a.b.jsonl.gz")) == ".jsonl.gz"
    assert stem_of(Path("a.b.jsonl.gz")) == "a.b"
    assert (suffix_of(Path("a.csv.gz")), stem_of(Path("a.csv"))) == (".gz", "a")
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b'{"question": "q", "answer": "a"}\n' * 1000)
    for broken in (whole[: len(whole) // 2], b"no gzip at all"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"a\.jsonl\.gz cannot be unpacked"):
            read_recorded([path])


def test_no_two_layouts_claim_one_file() -> None:
    for layout in LAYOUTS:
        row = dict.fromkeys(layout.signs)
        assert layout_of(row, long=layout.long) is layout
    assert layout_of({"question": "q", "answer": "a", "model": "m"}) is None


def test_a_row_that_is_not_laid_out_as_the_first(tmp_path: Path) -> None:
    row = {"prompt": "p", "response": "One. Two.", "segmented_response": ["One.", "Two."]}
    rows = [{**row, "domain": "d", "labels": [True, False]}, {**row, "domain": "d", "labels": [1]}]
    texts = read_texts(lines(tmp_path / "a.jsonl", rows))
    assert [c.label for c in next(texts).claims or ()] == ["S", "NS"]
    with pytest.raises(InputError, match=r"line 2: not as FELM has it \(2 sentences and 1 labels"):
        next(texts)


def test_a_label_that_is_none_stays_none(tmp_path: Path) -> None:
    """Neutral is not wrong: the source does not say."""
    labels = ["Entailment", "Contradiction", "Neutral", "Whatever"]
    claims = [{"triplet": ["A", "is", str(n)], "human_label": x} for n, x in enumerate(labels)]
    row = {"setting": "zero", "model": "m", "id": "7", "response": "A is.", "claims": claims}
    (text,) = read_texts(lines(tmp_path / "a.jsonl", [row]))
    assert [(c.label, c.problem) for c in text.claims or ()] == [
        ("S", None), ("NS", None), (None, "not in the source"), (None, "label 'Whatever'"),
    ]  # fmt: skip
    assert text.model == "m"


def test_texts_are_no_short_answers(tmp_path: Path) -> None:
    row = {"book": "B", "model": "m", "summary": "It is.", "claims": {}}
    path = lines(tmp_path / "a.jsonl", [row])
    with pytest.raises(InputError, match=r"\(FABLES\): its rows are long texts: sayso"):
        read_recorded([path])
    row = {"set": "s", "answerable": True, "model": "m", "article": "a", "number": 1, "answer": "b"}
    with pytest.raises(InputError, match="short answers and no long texts"):
        list(read_texts(lines(tmp_path / "b.jsonl", [row])))


#: models, questions and answers of the dev halves; of the largest also of one row in eight
PUBLISHED = {
    "confabulations": (77, 1963, 132_455),
    "confabulations/8": (77, 1797, 16_565),
    "unknownbench_refunq": (9, 4288, 19_287),
    "llmdrift_opinionqa": (4, 731, 2_924),
    "halueval_general": (1, 2198, 2_198),
}


@pytest.mark.parametrize(
    "part", [pytest.param("confabulations", marks=pytest.mark.slow), *list(PUBLISHED)[1:]]
)
def test_published_short_answers(test_data: Path, tmp_path: Path, part: str) -> None:
    name, _, every = part.partition("/")
    path = test_data / "real" / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("real answers are not here")
    if every:
        with gzip.open(path) as rows:
            path = tmp_path / path.stem
            path.write_bytes(b"".join(itertools.islice(rows, 0, None, int(every))))
    read = read_recorded([path])
    kept = sum(len(model.rows) for model in read.models)
    assert (len(read.models), len(read.data.questions), kept) == PUBLISHED[part]
    if name == "unknownbench_refunq":
        chatgpt = by_name(read)["chatgpt"]
        stated = [row.stated for row in chatgpt.rows.values()]
        assert all(value is not None and 0 <= value <= 1 for value in stated)
        assert any("prompt_and_answer_entropy is left out" in note for note in chatgpt.notices)
    if name == "llmdrift_opinionqa":
        assert all(q.golds is None for q in read.data.questions)
    if name == "confabulations":
        assert len({q.entity for q in read.data.questions}) == 216


def test_answers_that_are_not_there_are_refused(test_data: Path) -> None:
    path = test_data / "real" / "umass_triviaqa_judges.jsonl.gz"
    if not path.exists():
        pytest.skip("real answers are not here")
    for read in (lambda: read_recorded([path]), lambda: list(read_texts(path))):
        with pytest.raises(InputError, match="no answers: nothing can be judged"):
            read()


#: texts, models, claims supported, not supported, without a label
TEXTS = {
    "refchecker": (1036, 7, 3570, 497, 1458),
    "felm": (385, 1, 1615, 417, 0),
    "wikibio_gpt3": (129, 1, 296, 737, 0),
    "fables": (75, 5, 1455, 124, 256),
}


@pytest.mark.parametrize("name", TEXTS)
def test_published_texts(test_data: Path, name: str) -> None:
    path = test_data / "real" / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("real answers are not here")
    texts = list(read_texts(path))
    labels = [c.label for t in texts for c in t.claims or ()]
    counts = (labels.count("S"), labels.count("NS"), labels.count(None))
    assert (len(texts), len({t.model for t in texts}), *counts) == TEXTS[name]
