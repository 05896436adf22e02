"""``sayso guard fit``: three answers, what is never mixed, which score."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso import Guard, InputError, cli
from sayso.guard.baseline import read_baseline
from sayso.guard.choices import GuardChoices, Selection
from sayso.guard.fit import FittedGuard, fit_guard, needed_sentence
from sayso.guard.guard import written_guard
from sayso.guard.labeled import labeled_answers
from sayso.guard.log_answers import AnswerReader
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, verdict_of_person
from sayso.records import Generation, Question, Score, Verdict
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint
from support.guards import guard_file
from support.label_runs import as_judge, label_run
from support.tables import tabled


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the intervals of the table as on a long file."""
    monkeypatch.setattr("sayso.score_files.leaderboard.MOST", 200)


def test_blank_samples_have_no_score(tmp_path: Path) -> None:
    """In a call of the guard they are missing, so no limit may rest on them, nor may a watch."""
    blank = [[""] * 3, ["", "-", "Bob"], ["", "Bob", "Bob"], ["Bob"] * 3]
    rows = [
        {"question": f"Q{n}?", "answer": "Bob", "samples": samples, "human": n % 2 == 0,
         "sample_token_logprobs": [[-0.1]] * 3, "token_logprobs": [-0.1]}
        for n, samples in enumerate(blank)
    ]  # fmt: skip
    file = write(tmp_path / "rows.jsonl", rows)
    for score in ("discrete_semantic_entropy", "perplexity", "naive_entropy"):
        column = labeled_answers(file, Selection(score=score, nli="rules")).scores[score]
        of_draws = score != "perplexity"
        assert np.isfinite(column).tolist() == [not of_draws, not of_draws, True, True]
    needs = ("draws", "draws.logprobs")
    reader = AnswerReader({}, Guard(guard_file(score="naive_entropy", needs=needs, limit=1.5)))
    counts = read_baseline(file, "", reader).counts
    assert counts["above_limit"] == [0, 2]


@pytest.mark.parametrize("halves", [1, 2])
def test_answers_of_one_entity_or_one_pair_are_one_cluster(tmp_path: Path, halves: int) -> None:
    """A row of a pair is also one of its entity, and two entities of one pair are one cluster."""
    rows = [
        {
            "question": f"Q{j} about E{e}?", "answer": f"{j}", "s": (e * 10 + j) / 300,
            "human": e != 7, "entity": f"E{e}/{j % halves}", "pair": f"{e}-{j // 2}",
        }
        for e in range(30) for j in range(10)
    ]  # fmt: skip
    alone = [{"question": f"Q{e}?", "answer": "x", "s": 0.5, "human": True} for e in (1, 2, 1)]
    file = write(tmp_path / "rows.jsonl", [*rows, *alone])
    group = labeled_answers(file, Selection(score="s")).group.tolist()
    assert [len(set(group[10 * e : 10 * e + 10])) for e in range(30)] == [1] * 30
    assert len(set(group)) == 32
    assert group[-3] == group[-1] != group[-2]


def rows_of(n: int, seed: int = 0, risk: float = 0.6) -> list[dict[str, Any]]:
    """Return answers whose log-probabilities tell the wrong ones; a fifth of them says nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        doubt = float(rng.random())
        wrong = rng.random() < risk * doubt**3
        rows.append(
            {
                "question": f"What is the number of thing {number}?",
                "answer": f"It is {number + 1000 * wrong}" + " indeed" * int(rng.integers(0, 5)),
                "human": not wrong,
                "token_logprobs": [-2 * doubt, -2 * doubt, -0.1],
                "token_entropies": [float(x) for x in rng.random(3)],
            }
        )
    return rows


def write(place: Path, rows: Iterable[dict[str, Any]]) -> Path:
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def fitted(
    place: Path, rows: list[dict[str, Any]], choices: GuardChoices, **more: Any
) -> FittedGuard:
    return fit_guard(write(place / "a.jsonl", rows), Selection(nli="rules", **more), choices)


def test_a_limit_is_written_and_its_promise_says_by_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "a.jsonl", rows_of(400))
    command = [
        "guard",
        "fit",
        str(file),
        "--score",
        "perplexity",
        "--max-error",
        ".1",
        "--nli",
        "rules",
    ]
    assert cli.execute(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "no limit can promise an error rate below 0.7461 %" in out
    assert "labels are needed" not in out  # there is a limit
    assert "plain length (words)" in out  # never without the baselines
    assert "the words alone" in out
    assert out.index("no limit can promise") < out.index("A limit: perplexity at most")
    guard = json.loads((tmp_path / "guard.json").read_text())
    assert guard["labels"] == 400
    assert guard["labeled_by"] == "people"
    assert guard["promise"] == (
        "Of the answers that this guard gives, at most 10 % are wrong as judged by people, for "
        "questions like the 400 labeled ones (confidence 95 %)."
    )
    assert guard["withdrawn"] is None
    assert guard["needs"] == ["logprobs"]
    Guard.load(tmp_path / "guard.json").withdraw("the model changed")
    assert cli.execute(command) == 0
    assert "the model changed): fit it on answers" in " ".join(capsys.readouterr().err.split())
    # the guard decides as the labels did
    loaded = Guard.load(tmp_path / "guard.json")
    given = [
        row
        for row in rows_of(400)
        if loaded(row["question"], row["answer"], logprobs=row["token_logprobs"]).action == "answer"
    ]
    assert len(given) == guard["answered"]
    assert sum(not row["human"] for row in given) == guard["wrong"]


def test_too_few_labels_are_not_called_a_useless_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "a.jsonl", rows_of(40))
    command = ["guard", "fit", str(file), "--score", "perplexity", "--nli", "rules"]
    assert cli.execute(command) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "No limit can be promised with 40 labels" in out
    assert "labels are needed for the best limit seen" in out
    assert "--limit" not in out  # nobody knows of how many entities a file is
    assert not (tmp_path / "guard.json").exists()
    # a guard of before is left, and that is told
    older = written_guard(guard_file())
    (tmp_path / "guard.json").write_bytes(older)
    assert cli.execute(command) == 3
    assert "guard.json is left as it was" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "guard.json").read_bytes() == older


def test_a_file_of_somebody_else_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = write(tmp_path / "a.jsonl", rows_of(300)), tmp_path / "own.json"
    other.write_text('{"max_error": 0.1, "mine": 1}', encoding="utf-8")
    command = ["guard", "fit", str(file), "--score", "perplexity", "--nli", "rules"]
    assert cli.execute([*command, "--out", str(other)]) == 2
    assert "was not written by sayso guard" in capsys.readouterr().err
    assert "mine" in other.read_text(encoding="utf-8")


def test_a_score_without_a_good_limit_is_no_better_than_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    rows = rows_of(300)
    for row in rows:  # nothing tells the wrong answers
        row["human"] = bool(rng.random() < 0.5)
    file = write(tmp_path / "a.jsonl", rows)
    command = ["guard", "fit", str(file), "--score", "perplexity", "--nli", "rules"]
    assert cli.execute(command) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "This score is no better than answering nothing" in out
    assert cli.execute([*command, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["answer"], told["guard"], told["labels_needed"]) == ("useless", None, None)


def test_the_score_is_chosen_where_it_is_not_certified(tmp_path: Path) -> None:
    result = fitted(tmp_path, rows_of(600), GuardChoices(0.15))
    assert result.half
    assert result.answer == "limit"
    assert result.score in ("perplexity", "sequence_probability", "min_token_probability")
    # the limit was certified on about half of the labels
    assert result.certified.answered < 320
    named = fitted(tmp_path, rows_of(600), GuardChoices(0.15), score="perplexity")
    assert not named.half
    assert named.certified.answered > result.certified.answered
    assert {e.method for e in result.labeled.board.entries} >= {"length_words", "text_only"}


def test_a_chosen_score_keeps_its_promise(tmp_path: Path) -> None:
    """Six scores of noise on answers that are wrong just more often than is allowed."""
    from sayso.guard.fit import LabeledUnits, cross_fitted_limit

    rng = np.random.default_rng(0)
    broken = 0
    for seed in range(120):
        scores = {f"s{k}": rng.random(240) for k in range(6)}
        wrong, each = (rng.random(240) < 0.21).astype(float), np.arange(240)
        rows = LabeledUnits(scores, wrong, each, each)
        _, found = cross_fitted_limit(rows, [*scores], 0.2, 0.1, seed)
        broken += found.limit is not None
    assert broken <= 24  # 10 % of 120; more would be a chance of 1 in 1,000


def test_answers_about_one_thing_count_once(tmp_path: Path) -> None:
    rows = [{**row, "entity": f"thing {n // 4}"} for n, row in enumerate(rows_of(400))]
    result = fitted(tmp_path, rows, GuardChoices(0.1), score="perplexity")
    assert (result.levels.units, result.levels.clusters) == (400, 100)
    assert any("400 answers about 100 entities" in text for text in result.notices)
    again = [row for row in rows_of(200) for _ in range(2)]  # each question twice
    twice = fitted(tmp_path, again, GuardChoices(0.1), score="perplexity").levels
    assert (twice.units, twice.clusters) == (400, 200)


def test_claims_of_a_text_are_one_label(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for text in range(150):
        for claim in range(4):
            doubt = float(rng.random())
            rows.append(
                {"question": f"Tell me about {text}", "answer": f"claim {claim}", "doubt": doubt,
                 "human": bool(rng.random() > 0.25 * doubt**2), "text": text}
            )  # fmt: skip
    result = fitted(tmp_path, rows, GuardChoices(0.1), score="doubt", texts="text")
    assert result.levels.units == 150
    assert result.answer == "limit"
    assert result.file is not None
    assert "Of the texts of which this guard keeps a claim" in result.file.promise
    with pytest.raises(InputError, match=r"1 row of .* without a value; expected"):
        fitted(
            tmp_path, [*rows, {**rows[0], "text": ""}], GuardChoices(), score="doubt", texts="text"
        )


def mixed(rows: list[dict[str, Any]], **columns: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {**row, **{name: pair[n % 2] for name, pair in columns.items()}}
        for n, row in enumerate(rows)
    ]


@pytest.mark.parametrize("column", ["model", "stage", "temperature", "logprob_kind"])
def test_answers_of_different_kinds_share_no_limit(tmp_path: Path, column: str) -> None:
    rows = mixed(rows_of(200), **{column: ("one", "two")})
    with pytest.raises(InputError, match=f"column {column} has one, two.*--where {column}=one"):
        fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity")
    result = fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity", where={column: "two"})
    assert result.levels.units == 100
    with pytest.raises(InputError, match="its column has one, two"):
        fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity", where={column: "three"})
    with pytest.raises(InputError, match="no row has a column 'colour'"):
        fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity", where={"colour": "red"})


def test_answers_to_different_prompts_share_no_limit(tmp_path: Path) -> None:
    rows = rows_of(60)
    for n, row in enumerate(rows):
        row["prompt"] = ("Be brief. " if n % 2 else "Think. ") + row["question"]
    with pytest.raises(InputError, match="answers to 2 different prompts"):
        fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity")
    for n, row in enumerate(rows):  # examples that differ from row to row are one way of asking
        row["prompt"] = f"Example {n}. {row['question']}"
    assert fitted(tmp_path, rows, GuardChoices(0.2), score="perplexity").levels.units == 60


def test_declined_answers_and_questions_without_an_answer(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "What is the capital of France?", "answer": "Paris", "gold": "Paris"},
        {"question": "What is the capital of Peru?", "answer": "I do not know.", "gold": "Lima"},
        {"question": "Who is king of Zzyq?", "answer": "Arthur", "answerable": False},
        {"question": "Who is queen of Zzyq?", "answer": "I do not know.", "answerable": False},
    ]
    for row in rows:
        row["token_logprobs"] = [-0.5]
    result = fitted(tmp_path, rows, GuardChoices(0.4), score="perplexity")
    assert result.labeled.wrong.tolist() == [0, 1]
    assert any("2 answers without a verdict" in text for text in result.notices)
    assert result.labeled.labeled_by.startswith("rules@")


@tabled
def test_mistakes_are_one_line(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", [{**row, "huge": 10**400} for row in rows_of(30)])
    write(tmp_path / "b.jsonl", rows_of(1))
    assert cli.execute(["guard", "fit", "a.jsonl", "--nli", "rules", *flags]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1 + told.count("note:")


def test_a_run_is_fitted_by_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {**row, "gold": f"{n}", "answer": row["answer"].split(" indeed")[0]}
        for n, row in enumerate(rows_of(150))
    ]
    answers = str(write(tmp_path / "a.jsonl", rows))
    run = str(tmp_path / "run")
    command = ["run", "selective", "--answers", answers, "--nli", "rules", "--out", run,
               "--set", "resamples=200", "--judge", "people"]  # fmt: skip
    assert cli.execute(command) == 0
    capsys.readouterr()
    assert cli.execute(["guard", "fit", run, "--score", "perplexity", "--max-error", ".15"]) == 0
    guard = msgspec.json.decode((tmp_path / "run" / "guard.json").read_bytes())
    assert guard["labels"] == 150
    assert guard["labeled_by"].startswith("people")
    # the run's own scores are what a log is compared with
    known = read_baseline(Path(run), "", AnswerReader({}, Guard.load(f"{run}/guard.json")))
    assert known.counts["above_limit"] == [150 - guard["answered"], 150]
    # the same labels and scores from the file give the same limit
    result = fit_guard(
        Path(answers), Selection(score="perplexity", nli="rules"),
        GuardChoices(0.15, out=tmp_path / "g.json"),
    )  # fmt: skip
    assert result.file is not None
    assert guard["limit"] == result.file.limit
    assert cli.execute(["guard", "fit", run, "--form", "long"]) == 2
    assert "has no long answers: it has short" in capsys.readouterr().err
    assert cli.execute(["guard", "fit", run, "--where", "model=x"]) == 2
    assert "is for a file of answers" in capsys.readouterr().err


def test_a_share_may_be_written_in_percent(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", rows_of(400))
    common = ["guard", "fit", str(file), "--score", "perplexity", "--nli", "rules", "--max-error"]
    assert cli.execute([*common, "10%", "--confidence", "90%"]) == 0
    guard = json.loads((tmp_path / "guard.json").read_text())
    assert (guard["max_error"], guard["confidence"]) == (0.1, 0.9)
    assert cli.execute([*common, "ten"]) == 2


def test_a_guard_never_replaces_the_labels(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", rows_of(60))
    before = file.read_bytes()
    with pytest.raises(InputError, match="holds the labels"):
        fit_guard(file, Selection(nli="rules"), GuardChoices(out=file, force=True))
    golds = write(tmp_path / "golds.jsonl", [])
    with pytest.raises(InputError, match="holds the labels"):
        fit_guard(file, Selection(golds=golds), GuardChoices(out=golds, force=True))
    assert file.read_bytes() == before
    run = judged_run(tmp_path, 60)
    (run / "labels.sqlite").write_bytes(b"labels")
    for name in ("answers.parquet", "manifest.json", "labels.sqlite"):
        own = run / name
        before = own.read_bytes()
        with pytest.raises(InputError, match="is a file of a run, which needs it"):
            fit_guard(run, Selection(score="perplexity"), GuardChoices(0.9, out=own, force=True))
        assert own.read_bytes() == before


def test_what_has_no_verdict_is_told_by_reason(tmp_path: Path) -> None:
    rows = rows_of(400)
    rows[0]["human"] = "perhaps"
    rows[1]["human"] = None
    rows[2]["answer"] = "I do not know."
    rows[3] |= {"answer": None, "human": None}  # a file need not hold texts
    result = fitted(tmp_path, rows, GuardChoices(max_error=0.1), score="perplexity")
    (text,) = [text for text in result.notices if "left out" in text]
    assert text.startswith("1 answer without a verdict (1 declined)")
    (text,) = [text for text in result.notices if "count as wrong" in text]
    assert text.startswith("3 answers without a verdict (")
    for reason in ("1 human is 'perhaps', expected true or false", "2 without a label"):
        assert reason in text
    assert result.levels.units == 399
    # the table of scores says it in the same words
    assert result.labeled.board.left_out_by == {"without a verdict": 3, "declined": 1}
    assert result.labeled.wrong[:3].tolist() == [1, 1, 1]


def test_answers_that_people_skipped_count_as_wrong(tmp_path: Path) -> None:
    run = judged_run(tmp_path, 200)

    def says(place: int, verdict: Verdict, name: str) -> dict[str, Any]:
        return {"skipped": "cannot tell"} if place % 10 == 0 else as_judge(place, verdict, name)

    label_run(run, "A", says, n=120, design="random")
    result = fit_guard(run, Selection(score="perplexity"), GuardChoices(0.3))
    assert any("12 answers that people skipped" in text for text in result.notices)
    assert result.levels.units == 120
    assert result.labeled.wrong.sum() >= 12
    # and so do those that they passed over
    with LabelStore.open(run) as store:
        for number, one in enumerate([one for one in store.labels() if not one.skipped][:30]):
            store.withdraw(one.item, "A", f"back {number}")
    result = fit_guard(run, Selection(score="perplexity"), GuardChoices(0.3))
    assert any("42 answers that people skipped or passed over" in one for one in result.notices)
    assert result.levels.units == 120
    assert result.labeled.wrong.sum() >= 42


def test_larger_entities_weigh_by_their_answers(tmp_path: Path) -> None:
    """Of 300 entities, 30 have ten answers and are always wrong: of the answers, half are."""
    rows = [
        {"question": f"What is the number of {entity}-{n}?", "answer": "It is 3.", "doubt": 0.5,
         "entity": f"e{entity}", "human": entity >= 30}
        for entity in range(300)
        for n in range(10 if entity < 30 else 1)
    ]  # fmt: skip
    result = fitted(tmp_path, rows, GuardChoices(0.3), score="doubt")
    assert result.answer != "limit"
    assert 0.35 < result.levels.wrong[-1] / result.levels.answered[-1] < 0.7
    assert any("at most 10 about one" in text for text in result.notices)


def test_certified_limits_are_shown_with_the_errors_that_they_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A looser limit may be a bad buy although it is certified, too."""
    rows = rows_of(600, risk=0)
    for n, row in enumerate(rows):  # the last tenth is wrong more often than not
        row["doubt"], row["human"] = n, n < 540 or n % 5 in (0, 1)
    file = write(tmp_path / "a.jsonl", rows)
    command = ["guard", "fit", str(file), "--score", "doubt", "--max-error", ".1"]
    assert cli.execute([*command, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    certified = [row for row in made["curve"] if row["certified"]]
    assert [row["limit"] for row in certified][-1] == made["guard"]["limit"] > 540
    assert {"answered": 542, "wrong": 0}.items() <= certified[0].items()  # before any error
    assert certified[-1]["wrong"] > 20
    assert cli.execute(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "541 <" in out
    assert "doubt" in out.partition("Answers at each limit")[0]  # in the table of scores


def test_counts_of_a_guard_are_of_all_its_labels(tmp_path: Path) -> None:
    result = fitted(tmp_path, rows_of(1200), GuardChoices(max_error=0.2))
    assert result.half
    assert result.file is not None
    at = result.levels.limit <= result.file.limit
    assert result.file.labels == 1200
    assert result.file.answered == result.levels.answered[at].max()
    assert result.file.wrong == result.levels.wrong[at].max()


def test_a_score_that_needs_a_model_names_the_command(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "token_logprobs"} for row in rows_of(60)]
    with pytest.raises(InputError, match="compute the score with sayso score"):
        fitted(tmp_path, rows, GuardChoices(), score="perplexity")


def test_a_run_without_the_score_says_why(tmp_path: Path) -> None:
    rows = [{"question": f"Who is {n}?", "gold": f"A{n}"} for n in range(12)]
    rows += [{"question": f"Who was {n}?", "answerable": False} for n in range(3)]
    common: dict[str, Any] = {"data": rows, "report": False, "cache": tmp_path / "cache"}
    with endpoint(lambda body: "A1", lambda body: -0.5 * body["temperature"]) as url:
        common["model"] = f"{url}#m"
        plain, bare = (
            sayso.run(
                "selective", **common, out=tmp_path / want, settings={"want": want, "nli": "rules"}
            )
            for want in ("both", "declining")
        )
    assert any("run --set elicit=true" in text for text in plain.manifest.notices)
    assert not any("log-probabilities" in text for text in bare.manifest.notices)
    with pytest.raises(InputError, match=r"endpoint's .*model's own.*token_logprobs.*num_sets"):
        fit_guard(tmp_path / "both", Selection(score="perplexity"))
    for score in ("", "perplexity"):
        with pytest.raises(InputError, match="--for declining, which computes no scores"):
            fit_guard(tmp_path / "declining", Selection(score=score))


def judged_run(
    folder: Path, n: int, *, plain: bool = True, rows: Iterable[dict[str, Any]] = ()
) -> Path:
    """Return a run of selective over given answers, which the rules judge by golds.

    Answers that are not ``plain`` go on after the value: the rules are not sure of all of them.
    """
    rows = [{**row, "gold": f"{k}", "human": None} for k, row in enumerate(rows or rows_of(n))]
    if plain:
        rows = [{**row, "answer": row["answer"].split(" indeed")[0]} for row in rows]
    answers, run = str(write(folder / "a.jsonl", rows)), folder / "run"
    command = ["run", "selective", "--answers", answers, "--nli", "rules", "--out", str(run),
               "--set", "resamples=200", "--judge", "rules"]  # fmt: skip
    assert cli.execute(command) == 0
    return run


def test_blank_samples_count_as_in_the_run(tmp_path: Path) -> None:
    """Its scores leave them out, and so do the guard that is fitted on it, and a watch."""
    kinds = [["A"] * 4, ["A", "B", "C", "D"], ["", "A", "A", "B"], ["-", "", "A", "B"], [""] * 4]
    rows = [{**row, "samples": kinds[n % 5]} for n, row in enumerate(rows_of(100))]
    run, place = judged_run(tmp_path, 100, rows=rows), tmp_path / "g.json"
    folder = RunFolder.open(run)
    answers = {g.id: g for g in folder.iter("generations/short", Generation)}
    questions = {q.id: q.text for q in folder.iter("questions", Question)}
    samples = {row["question"]: row["samples"] for row in rows}
    for score in ("discrete_semantic_entropy", "selfcheck_ngram"):
        fit_guard(run, Selection(score=score), GuardChoices(0.9, out=place, force=True))
        guard, values, log = Guard.load(place), [], []
        for one in folder.iter("scores/short", Score):
            if one.method == score and one.target:
                answer = answers[one.target]
                asked = questions[answer.question]
                found = guard(asked, answer.text, samples=samples[asked])
                value = None if one.value is None else pytest.approx(one.value)
                assert found.score == value, samples[asked]
                values.append(one.value)
                log.append({"question": asked, "answer": answer.text, "samples": samples[asked]})
        assert values.count(None) == 20
    reader = AnswerReader({}, guard)
    counts = read_baseline(write(tmp_path / "log.jsonl", log), "", reader).counts
    assert counts["above_limit"][1] == 80


def test_people_who_labeled_a_random_sample_decide(tmp_path: Path) -> None:
    run = judged_run(tmp_path, 200)
    with pytest.raises(InputError, match="nobody labeled short answers"):
        fit_guard(run, Selection(score="perplexity", labeled_by="people"))
    label_run(run, "A", as_judge, n=120, design="random")
    choices = GuardChoices(0.3, out=tmp_path / "g.json")
    result = fit_guard(run, Selection(score="perplexity"), choices)
    assert result.levels.units == 120
    assert result.labeled.labeled_by == "people (A)"
    assert any("80 not labeled" in text for text in result.notices)
    judged = fit_guard(run, Selection(score="perplexity", labeled_by="judge"), choices)
    assert judged.levels.units == 200
    assert judged.labeled.labeled_by.startswith("rules")


def test_labels_of_another_stage_are_no_labels_of_the_answers(tmp_path: Path) -> None:
    run = judged_run(tmp_path, 60, plain=False)
    item = LabeledItem("answer", "draws", "somewhere", "else")
    said = verdict_of_person(item, "A", {"stance": "committed", "content": "correct"})
    with LabelStore.open(run) as store:
        store.add(PersonLabel(said, "answer", "draws"))
    result = fit_guard(run, Selection(score="perplexity"))
    assert result.labeled.labeled_by.startswith("rules")
    assert result.needed is not None
    entities = math.ceil(result.needed * 60 / result.levels.units)
    assert f"labels (about --limit {entities:,}) are needed" in needed_sentence(result)
    chosen = verdict_of_person(item._replace(stage="short"), "A", {"stance": "abstained"})
    with LabelStore.open(run) as store:  # nobody knows how it was drawn
        store.add(PersonLabel(chosen, "answer", "short"))
    with pytest.raises(InputError, match="not drawn at random alone"):
        fit_guard(run, Selection(score="perplexity", labeled_by="people"))


def test_labels_with_unequal_chances_are_not_taken(tmp_path: Path) -> None:
    run = judged_run(tmp_path, 120, plain=False)
    label_run(run, "A", as_judge, n=60, design="certainty")
    result = fit_guard(run, Selection(score="perplexity"), GuardChoices(0.3))
    assert result.labeled.labeled_by.startswith("rules")
    assert any("not drawn at random alone" in text for text in result.notices)
    with pytest.raises(InputError, match="a guard cannot rest on them"):
        fit_guard(run, Selection(score="perplexity", labeled_by="people"), GuardChoices(0.3))
