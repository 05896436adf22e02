"""Answers on record are runs: judged, measured, compared, exported like any other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import cli
from sayso.datasets.recorded import RecordedModel
from sayso.judges.judge import Item
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Ask, Unsuited, recording_of
from sayso.records import Generation, InputError, Question, Score, Verdict, ask
from sayso.runs.job import Job
from sayso.runs.recorded import (
    PeopleJudge,
    RecordedEngine,
    check_record,
    open_answers,
    recorded_settings,
    slug,
)
from sayso.runs.run import execute_job
from sayso.storage.run_folder import RunFolder

BOOKS = {"Emma": "Jane Austen", "Ulysses": "James Joyce", "Dracula": "Bram Stoker"}


def rows(model: str, *, draws: bool = True) -> list[dict[str, Any]]:
    """Right, wrong, right; the second with people's verdict against the gold's."""
    answers = ["Jane Austen", "Oscar Wilde", "I think it was Bram Stoker."]
    found = []
    for number, (book, author) in enumerate(BOOKS.items()):
        row: dict[str, Any] = {
            "model": model,
            "question": f"Who wrote {book}?",
            "answer": answers[number],
            "gold": author,
            "human": [True, True, False][number],
            "stated_confidence": [0.9, 0.2, 0.6][number],
            "token_logprobs": [[-0.1, -0.2], [-1.5, -0.4], [-0.3]][number],
        }
        if draws:
            row["samples"] = [author, author, "Oscar Wilde"]
            row["sample_token_logprobs"] = [[-0.1], [-0.2], [-2.0]]
        found.append(row)
    found.append(
        {"model": model, "question": "Who wrote Zorb?", "answer": "I don't know.",
         "answerable": False}
    )  # fmt: skip
    return found


def written(path: Path, found: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "mine.jsonl", [*rows("a"), *rows("b/../<b>", draws=False)])


def engines(file: Path) -> dict[str, RecordedEngine]:
    return {engine.name: engine for engine in open_answers(file)}


def test_a_run_asks_nobody_and_holds_what_is_on_record(file: Path, tmp_path: Path) -> None:
    engine = engines(file)["a"]
    result = execute_job(Job(protocol="selective", model=engine, out=tmp_path / "a"))
    folder = RunFolder.open(result.path)
    answers = folder.read("generations/short", Generation)
    assert [g.text for g in answers] == [
        "Jane Austen", "Oscar Wilde", "I think it was Bram Stoker.", "I don't know.",
    ]  # fmt: skip
    assert answers[0].logprobs == (-0.1, -0.2)
    assert len(folder.read("generations/draws", Generation)) == 9
    verdicts = folder.read("verdicts/short", Verdict)
    assert [v.value for v in verdicts] == ["correct", "incorrect", "uncertain", "uncertain"]
    assert {v.by for v in verdicts} == {verdicts[0].by}
    # people's verdicts stand beside, and do not count
    people = folder.read("verdicts/short-people", Verdict)
    assert [(v.by, v.label) for v in people] == [
        ("people", "S"), ("people", "S"), ("people", "NS"),
    ]  # fmt: skip
    scores = {(s.target, s.method): s.value for s in folder.read("scores/short", Score)}
    # 1 - .9, 1 - .2, 1 - .6: how sure it said that it was
    stated = [scores[g.id, "verbalized"] for g in answers[:3]]
    assert stated == pytest.approx([0.1, 0.8, 0.4])
    # exp of minus the mean log-probability, -.15
    assert scores[answers[0].id, "perplexity"] == pytest.approx(1.1618, abs=1e-4)
    assert any(method == "num_sets" and value for (_, method), value in scores.items())
    manifest = result.manifest
    assert (manifest.data, manifest.model, manifest.shown_model) == ("mine", "a", "a")
    assert manifest.settings["draws.k"] == 3  # of 10: as many as there are
    assert manifest.settings["words"] is False
    assert manifest.tokens["asks"] == 0
    notes = "\n".join(manifest.notices)
    assert "answers of a: 4 of 4 rows are used, from mine.jsonl" in notes
    assert "draws: 3 of 12 are not in the files and are left out" in notes
    assert "3 of 4 answers have human verdicts, which are not used here" in notes


def test_what_a_file_lacks_is_said_once_by_name(file: Path, tmp_path: Path) -> None:
    engine = engines(file)["b/../<b>"]
    result = execute_job(Job(protocol="selective", model=engine, out=tmp_path / "b"))
    notes = [n for n in result.manifest.notices if n.startswith("no ")]
    assert len(notes) == 1
    assert notes[0].startswith("no draws (column samples): consistency, semantic entropy")
    # the settings are those of all models in the file, so that they can be compared
    assert result.manifest.settings["draws.k"] == 3


def test_people_are_a_judge_of_their_own(file: Path, tmp_path: Path) -> None:
    engine = engines(file)["a"]
    job = Job(protocol="selective", model=engine, judge="people", out=tmp_path / "a")
    result = execute_job(job)
    verdicts = RunFolder.open(result.path).read("verdicts/short", Verdict)
    assert [(v.stance, v.content, v.problem) for v in verdicts] == [
        ("committed", "correct", None),
        ("committed", "correct", None),  # the gold says otherwise
        ("hedged", "incorrect", None),
        (None, None, "unlabeled"),
    ]
    assert {v.by for v in verdicts} == {"people"}
    assert result.manifest.judge == "people"
    assert result.manifest.judge_signature.startswith("people+rules@")
    assert result.manifest.settings["known_k"] == 0  # they judged answers, not draws
    rate = result.get("error_rate", form="short", against=result.manifest.judge_signature)
    assert (rate.value, rate.n) == (pytest.approx(1 / 3), 3)


def test_the_judge_of_people_by_hand() -> None:
    question = Question("q", "answers", "Who wrote Emma?")
    reply = Generation(ask("x"), id="g", question="q", stage="short", form="short", text="Unknown.")

    def content(label: float | None, text: str, stage: str = "short") -> tuple[Any, Any]:
        judge = PeopleJudge({} if label is None else {"q": label})
        given = Generation(
            reply.request, id="g", question="q", stage=stage, form="short", text=text
        )
        (verdict,) = judge.grade([Item(given, (question,))])
        return verdict.stance, verdict.content

    assert content(1.0, "Jane Austen.") == ("committed", "correct")
    assert content(0.0, "Jane Austen.") == ("committed", "incorrect")
    assert content(0.0, "I don't know.") == ("abstained", "none")
    assert content(1.0, "I don't know.") == ("abstained", "correct")
    assert content(None, "Jane Austen.") == (None, None)
    assert content(1.0, "Jane Austen.", "draws") == (None, None)  # nobody judged the draws


def test_settings_that_ask_are_off_or_refused(file: Path) -> None:
    engine = engines(file)["a"]
    settings = PROTOCOLS["selective"].Settings
    chosen = recorded_settings(settings(), engine, "rules")
    assert (chosen.words, chosen.draws.k, chosen.known_k) == (False, 3, 3)
    with pytest.raises(InputError, match="elicit is True: it would ask the model"):
        recorded_settings(settings(elicit=True), engine, "rules")
    with pytest.raises(InputError, match="thinking applies only if a model is asked"):
        execute_job(Job(protocol="selective", model=engine, thinking="on"))
    with pytest.raises(Unsuited, match="files of answers do not have that"):
        execute_job(Job(protocol="uncle", model=engine))
    bare = RecordedEngine(engine.data, RecordedModel("c", {}, ()), 0)
    with pytest.raises(Unsuited, match="add a column samples"):
        check_record(PROTOCOLS["faithfulness"], bare, "rules")
    with pytest.raises(InputError, match="has a person's verdict"):
        check_record(PROTOCOLS["selective"], bare, "people")
    with pytest.raises(InputError, match="judge 'people'"):
        execute_job(Job(protocol="selective", judge="people"))


def test_which_recording_a_request_is() -> None:
    question = Question("q", "answers", "Who?")
    request = ask("Who?", sample=4)

    def found(stage: str, method: str = "plain", instructed: bool = False) -> Any:
        return recording_of(Ask(question, request, stage, "short", method, instructed))

    assert found("short") == ("answer", 0)
    assert found("draws") == ("sample", 4)
    assert found("short", "instructed", True) is None
    assert found("methods-short") is None
    assert found("draws", "uncle") is None


def test_draws_allow_faithfulness(file: Path, tmp_path: Path) -> None:
    result = sayso.run("faithfulness", model=engines(file)["a"], out=tmp_path / "f", report=False)
    assert result.manifest.settings["methods"] == "vanilla"
    assert result.manifest.settings["draws.k"] == 3


def test_the_command_makes_a_run_for_each_model(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    argv = ["run", "selective", "--answers", file.name, "--set", "cache=cache"]
    assert cli.execute([*argv, "--out", "out"]) == 0
    said = capsys.readouterr()
    assert "abstention gap G" in " ".join(said.out.split())
    assert "sayso study out" in said.out
    assert "note: model 2 of 2: b/../<b>, 4 answers in the files" in said.err
    assert said.err.count("note: 8 rows of answers to 4 questions") == 1
    names = sorted(path.name for path in Path("out").iterdir())
    assert names == ["a", slug("b/../<b>")]
    assert re.fullmatch(r"[\w.-]+", names[1])
    page = Path("out", names[1], "report.html").read_text(encoding="utf-8")
    assert "../<b>" not in page
    assert "../&lt;b&gt;" in page
    # the same command goes on; with another judge it is another run
    assert cli.execute([*argv, "--out", "out"]) == 0
    assert cli.execute([*argv, "--out", "out", "--judge", "people"]) == 2
    assert "choose another --out" in capsys.readouterr().err
    # what runs can do, these can
    assert cli.execute(["measure", "out/a"]) == 0
    assert cli.execute(["export", "out/a", "a.csv"]) == 0
    assert "Oscar Wilde" in Path("a.csv").read_text(encoding="utf-8")
    assert cli.execute(["compare", "out/a", f"out/{names[1]}"]) == 0
    assert cli.execute(["study", "out", "--out", "study"]) == 0
    capsys.readouterr()
    assert cli.execute([*argv, "--dry-run"]) == 0
    assert "local, no price" in capsys.readouterr().out


def test_mistakes_in_the_command_are_one_line(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["run", "selective", "--answers", file.name]
    for more, told in (
        (["--model", "builtin"], "with --answers expected one of the models in the files: a, b"),
        (["--data", "builtin"], "--answers replaces --data"),
        (["--set", "logprobs=base2"], "multiply them by ln 2"),
        (["--columns", "answer=nope"], "names a missing column"),
        (["--name", "x"], "--name is for one model"),
        (["--price", "1,2"], "price applies only if a model is asked"),
        (["--set", "answer.temperature=0.3"], "answer.temperature applies only if a model is"),
    ):
        assert cli.execute([*argv, *more]) == 2, more
        error = capsys.readouterr().err.strip()
        assert told in error, error
        assert "\n" not in error
    # how recorded draws were made is no setting of a request
    assert cli.execute([*argv, "--set", "draws.temperature=0.3", "--dry-run"]) == 0
    argv[1] = "faithfulness"
    assert cli.execute([*argv, "--set", "sample_prompt=same"]) == 2
    assert "sample_prompt applies only if a model is asked" in capsys.readouterr().err
    assert cli.execute(["run", "selective", "--set", "logprobs=none"]) == 2
    assert "only for --answers" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_every_protocol_that_the_file_allows(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["run", "--answers", file.name, "--out", "all", "--set", "cache=cache"]
    assert cli.execute(argv) == 0
    said = capsys.readouterr()
    assert sorted(p.name for p in Path("all").iterdir()) == ["faithfulness", "selective"]
    assert [p.name for p in Path("all/faithfulness").iterdir()] == ["a"]
    assert "left out: uncle asks every question several times" in said.err
    assert "left out: self_known needs labeled claims" in said.err
    assert "b/../<b> has none: add a column samples" in said.err


def test_a_study_of_answers(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = sayso.study(
        {"answers": file.name, "protocols": ["selective"], "cache": "cache", "out": "s",
         "models": ["a", {"model": "b/../<b>", "name": "B"}]}
    )  # fmt: skip
    assert (found.models, found.data) == (["a", "B"], ["mine"])
    assert found.numbers("selective")
    argv = ["study", "--answers", file.name, "--protocols", "selective", "--set", "cache=cache"]
    assert cli.execute([*argv, "--out", "t"]) == 0
    assert cli.execute([*argv, "--out", "t"]) == 0  # finished cells are used
    assert "2 of 2 cells were finished already" in capsys.readouterr().err
    for spec, told in (
        ({"answers": file.name, "data": ["builtin"]}, "leave data out"),
        ({"answers": file.name, "models": ["c"]}, "'c' has no answers in the files"),
        ({"models": ["builtin"], "logprobs": "none"}, "logprobs is for files of answers"),
        ({"answers": [3]}, "expected names of files"),
    ):
        with pytest.raises(InputError, match=told):
            sayso.study(spec)


def _file_of(model: str, name: str, found: list[dict[str, Any]]) -> str:
    return str(written(Path(name), [{**row, "model": model} for row in found]))


def test_files_with_the_same_questions_are_the_same_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = []
    for name in ("first", "second"):
        (model,) = open_answers(_file_of(name, f"{name}.jsonl", rows(name)))
        results.append(sayso.run("selective", model=model, out=f"runs/{name}", report=False))
    one, two = (result.manifest for result in results)
    assert (one.data, two.data) == ("first", "second")
    assert one.data_hash == two.data_hash
    found = sayso.study([result.path for result in results], resamples=100)
    assert found.data == ["first"]
    assert found.models == ["first", "second"]
    (number,) = [n for n in found.numbers("selective") if n.name == "error_rate"]
    assert number.ranking.pairs  # compared, entity by entity
    assert number.joint.clusters.tolist() == [4]
    told = (
        "first and second have the same questions and gold answers, so they count as one data set, "
        "called first"
    )
    assert told in found.notes("selective")


def test_files_with_other_questions_say_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = [dict(row) for row in rows("b")[1:]]
    other[0]["gold"] = "Jim Joyce"
    results = []
    for name, own in (("first", rows("a")), ("second", other)):
        (model,) = open_answers(_file_of(name, f"{name}.jsonl", own))
        results.append(sayso.run("selective", model=model, out=f"runs/{name}", report=False))
    found = sayso.study([result.path for result in results], resamples=100)
    assert found.data == ["first", "second"]
    (told,) = [note for note in found.notes("selective") if note.startswith("first (4)")]
    assert "second (3) share 3 questions" in told
    assert "--answers FILE FILE" in told


# ---- long texts


def texts(model: str) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "topic": topic,
            "text": f"{topic} was a writer. {topic} lived in Kent.",
            "claims": [
                {"text": f"{topic} was a writer.", "label": "S"},
                {"text": f"{topic} lived in Kent.", "label": "NS" if model == "b" else "S"},
            ],
        }
        for topic in ("Ada Toll", "Ben Hurd")
    ]


def test_texts_on_record_are_runs_of_self_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("t.jsonl"), [*texts("a"), *texts("b")])
    argv = ["run", "self_known", "--answers", "t.jsonl", "--set", "cache=cache"]
    assert cli.execute([*argv, "--out", "out"]) == 0
    assert "supported claims" in capsys.readouterr().out
    assert sorted(p.name for p in Path("out").iterdir()) == ["a", "b"]
    manifest = RunFolder.open("out/b").read_manifest()
    assert (manifest.shown_model, manifest.data) == ("b", "t")
    assert "texts of b in the files: 2; 4 claims, 4 labeled by people" in manifest.notices
    # two runs of one set of texts, told apart by their models alone
    assert cli.execute(["compare", "out/a", "out/b"]) == 0
    assert "50.0 pp" in capsys.readouterr().out.replace("−", "-")
    # a model may be asked about the claims
    assert cli.execute([*argv, "--model", "builtin", "--dry-run", "--set", "modes=direct"]) == 0
    assert "texts are read by the model" in capsys.readouterr().out


def test_a_study_of_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    both = [*texts("a"), *texts("b")]
    written(Path("t.jsonl"), both)
    argv = ["study", "--answers", "t.jsonl", "--set", "cache=cache", "--protocols", "self_known"]
    assert cli.execute([*argv, "--dry-run"]) == 0
    assert "self_known · a · t" in " ".join(capsys.readouterr().out.split())
    assert cli.execute([*argv, "--out", "s"]) == 0
    capsys.readouterr()
    assert cli.execute([*argv, "--out", "s"]) == 0
    assert "2 of 2 cells were finished already" in capsys.readouterr().err
    alone = [*argv[1:5], "--out", "alone"]
    assert cli.execute(["run", "self_known", *alone]) == 0
    for name in ("a", "b"):
        whole = [
            RunFolder.open(p).read_manifest() for p in (f"s/{name}/t/self_known", f"alone/{name}")
        ]
        assert whole[0].model_identity == whole[1].model_identity
        assert whole[0].settings == whole[1].settings
    found = sayso.study({"answers": "t.jsonl", "protocols": ["self_known"], "cache": "cache",
                         "out": "s", "models": ["b"]})  # fmt: skip
    assert [o.status for o in found.outcomes] == ["kept"]
    changed = [row | {"text": "Nobody."} if row["model"] == "b" else row for row in both]
    written(Path("t.jsonl"), changed)
    assert cli.execute([*argv, "--out", "s"]) == 2
    assert ") with model " in capsys.readouterr().err
    asking = {"answers": "t.jsonl", "protocols": {"self_known": {"modes": "direct"}}}
    with pytest.raises(InputError, match="modes is direct: it would ask the model"):
        sayso.study({**asking, "out": "u"})


def test_a_study_says_once_what_texts_lack(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["study", "--answers", file.name, "--set", "cache=cache", "--out", "s"]
    assert cli.execute([*argv, "--protocols", "self_known", "selective"]) == 0
    told = capsys.readouterr().err
    lacking = "self_known needs long texts with labeled claims (columns text and claims)"
    assert told.count(lacking) == 1
    assert "left out: self_known of a, b/../<b>: " in told
    # files of texts alone, and every protocol
    written(Path("t.jsonl"), texts("a"))
    assert cli.execute(["study", "--answers", "t.jsonl", "--set", "cache=cache", "--out", "u"]) == 0
    found = sayso.study(["u"], resamples=100)
    assert found.protocols == ["self_known"]


def test_self_known_refuses_answers_without_claims_in_one_line(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bare = [{key: row[key] for key in ("topic", "text", "model")} for row in texts("a")]
    written(Path("bare.jsonl"), bare)
    for given in (file.name, "bare.jsonl"):
        argv = ["run", "self_known", "--answers", given, "--set", "cache=cache", "--out", "s"]
        assert cli.execute(argv) == 2
        told = capsys.readouterr().err
        assert "self_known needs long texts with labeled claims" in told
        assert told.count("\n") == 1
        assert not Path("s").exists()


def test_the_old_name_says_what_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("t.jsonl"), texts("a"))
    assert cli.execute(["factuality", "t.jsonl", "--set", "cache=cache", "--out", "old"]) == 0
    assert "factuality is now `sayso run self_known --answers FILES`" in capsys.readouterr().err
