"""Where the examples of Uncertainty+ come from: never from the entities that are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from sayso import datasets
from sayso.protocols.faithfulness import Settings
from sayso.protocols.faithfulness.demonstrations import TABLE, searched
from sayso.protocols.settings import replace
from sayso.records import Generation, InputError, Question, Request
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.runs.measure import load_run, measure
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import facts, records, write
from support.tables import tabled

METHODS = "vanilla,uncertainty_plus"
PLUS = "form:short;method:uncertainty_plus"


def run(folder: Path, name: str, **settings: object) -> Result:
    chosen = {"methods": METHODS, "draws.k": 8, "resamples": 100, **settings}
    return sayso.run(
        "faithfulness", limit=6, out=folder / name, cache=folder / "cache", report=False,
        settings=chosen,
    )  # fmt: skip


@tabled
def test_the_set_of_the_examples_follows_the_measured_one(
    data: str, limit: int | None, expected: str
) -> None:
    assert Settings().fitted(data, limit).demos.data == expected
    own = replace(Settings(), {"demos.data": "held-out"})
    assert own.fitted(data, limit) == own
    assert Job(protocol="faithfulness", data=data, limit=limit).settings.demos.data == expected


def test_other_entities_are_those_that_the_run_does_not_measure() -> None:
    chosen = replace(Settings(), {"demos.data": "builtin", "demos.questions": 300})
    asked = datasets.load_dataset("builtin", limit=0).questions  # the whole split
    found = searched(asked, chosen)
    assert len(found) == 300
    assert not {q.entity for q in found} & {q.entity for q in asked}
    assert not {q.text for q in found} & {q.text for q in asked}
    names = {q.entity.casefold() for q in asked}
    assert not any(name in q.text.casefold() for q in found for name in names)
    assert len({q.entity for q in found}) > 100  # spread over entities
    # a smaller number is the beginning of the same list, whatever else is measured
    assert searched(asked, replace(chosen, {"demos.questions": 20})) == found[:20]
    few = searched(asked[:6], chosen)
    assert set(found[:50]) & set(few)
    assert not searched(asked, replace(chosen, {"methods": "vanilla"}))


def test_questions_with_a_passage_or_without_an_answer_are_no_examples(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text(
        "question,gold,context,answerable\n"
        "Where is Orm?,Sarn,,true\n"
        "Where is Ulm?,Varn,Ulm is a town in Varn.,true\n"
        "Where is Nowhere?,,,false\n"
        "Who rules Keld?,Ann,,true\n"
    )
    measured = [Question("q", "s", "When was Keld founded?", entity="Keld", domain="d")]
    chosen = replace(Settings(), {"demos.data": str(path)})
    # the question about Keld names a measured entity
    assert [q.text for q in searched(measured, chosen)] == ["Where is Orm?"]
    path.write_text("question,gold,context\nWhere is Ulm?,Varn,Ulm is a town in Varn.\n")
    with pytest.raises(InputError, match=r"demos.data .*: it has no question that can be asked"):
        searched(measured, chosen)


def test_a_study_of_six_entities_measures_all_of_them_and_has_the_row(tmp_path: Path) -> None:
    found = run(tmp_path, "six")
    row = found.get("skill", PLUS)
    assert row.value is not None
    assert row.problem is None or "not asked" not in row.problem
    folder = RunFolder.open(found.path)
    measured = list(folder.read("questions", Question))
    candidates = list(folder.read(TABLE, Question))
    assert len(candidates) == 100
    assert not {q.entity for q in candidates} & {q.entity for q in measured}
    job, _, _ = load_run(found.path)
    short = [q.id for q in measured if not q.parts]
    assert {g.question for g in job.folder.read("generations/draws", Generation)} == set(short)
    assert len(job.folder.read("generations/demos-draws", Generation)) == 100 * 8
    asked = job.folder.read("generations/demos-short", Generation)
    assert len(asked) == 3 * len(short)
    texts = {q.text for q in candidates}
    for g in asked:
        *shown, own = g.request.messages[-1].content.split("Question: ")[1:]
        assert {one.split("\n")[0] for one in shown} <= texts
        assert len(shown) == 4
        assert own.split("\n")[0] in {q.text for q in measured}
    # measured again it is the same, without the data set of the examples
    assert measure(found.path).estimates == found.estimates


def test_another_set_of_examples_is_another_run(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a"), run(tmp_path, "b", **{"demos.questions": 60})
    held = run(tmp_path, "c", **{"demos.data": "held-out"})
    signed = [dict(r.get("skill", PLUS).signature)["demos"] for r in (first, second, held)]
    assert len(set(signed)) == 3
    assert signed[0].startswith("2x3/100/20/0.9/0.5/builtin-")
    same = [s.rpartition("-")[2] for s in signed[:2]]
    assert same[0] != same[1]  # the hash of the questions
    with pytest.raises(InputError, match=r"demos\.questions"):
        run(tmp_path, "a", **{"demos.questions": 60})


def test_a_dry_run_counts_the_draws_of_the_examples(tmp_path: Path) -> None:
    chosen = replace(Settings(), {"methods": METHODS, "draws.k": 8})
    job = Job(protocol="faithfulness", limit=6, cache=str(tmp_path), options=chosen)
    stages = {s.name: s for s in estimate_job(job).stages if s.who == "model"}
    assert stages["demos-draws"].requests.high == 100 * 8
    assert stages["draws"].requests.high == 36 * 8
    assert stages["demos-short"].requests.high == 3 * 36


def test_a_name_that_is_no_set_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"demos\.data: data 'trivaqa': expected one of "):
        run(tmp_path, "x", **{"demos.data": "trivaqa"})
    assert not (tmp_path / "x").exists()


def test_too_few_examples_in_another_set_are_told_with_numbers(tmp_path: Path) -> None:
    data = write(tmp_path / "q.jsonl", records(facts(4)))
    other = write(tmp_path / "other.jsonl", records(facts(4, seed=1)))

    def never(request: Request) -> str:
        return f"It is Sarn{request.sample}."

    found = sayso.run(
        "faithfulness", model=ScriptedEngine(never, "never", logprob=-0.5), data=str(data),
        out=tmp_path / "run", cache=tmp_path / "cache", report=False,
        settings={"methods": METHODS, "demos.data": str(other), "resamples": 100},
    )  # fmt: skip
    row = found.get("skill", PLUS)
    assert row.value is None
    assert row.problem == (
        "not asked: too few certain or uncertain answers to serve as examples; raise "
        "demos.questions"
    )
    (told,) = [n for n in found.manifest.notices if n.startswith("Uncertainty+")]
    assert "Of 12 questions of demos.data" in told
    assert "answered 0 with a confidence of at least 0.9 and 12 with at most 0.5" in told
