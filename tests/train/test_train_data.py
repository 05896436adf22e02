"""Rows from other sets than the one that is measured, by rules and by a model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.cli import main
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError
from sayso.runs.draws import price_draws
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base, halves, open_base_run
from sayso.train.config import TrainConfig
from sayso.train.result import Training
from sayso.train.training import fit, planned_draws
from support.judge_world import judge_engine, truthful
from support.row_author import RowAuthor
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, Mind, chance, facts, records, word, write
from support.tables import tabled

PAPER: dict[str, Any] = {"preset": "paper", "resamples": 100}


def mind(world: list[Fact]) -> Mind:
    return Mind(
        world, lambda fact: float(chance("knows", fact.question) < 0.5),
        guess=lambda fact, draw: word("wrong", fact.question, draw, n=5),
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured() -> list[Fact]:
    return facts(20)


@pytest.fixture(scope="module")
def other() -> list[Fact]:
    return facts(40, seed=1, name="other")


@pytest.fixture(scope="module")
def model(measured: list[Fact], other: list[Fact]) -> ScriptedEngine:
    return mind([*measured, *other]).engine("base")


@pytest.fixture(scope="module")
def base(
    measured: list[Fact], model: ScriptedEngine, tmp_path_factory: pytest.TempPathFactory
) -> Base:
    place = tmp_path_factory.mktemp("other-data")
    file = write(place / "mine.jsonl", records(measured))
    sayso.run(
        "uncle", model=model, data=str(file), out=place / "run", cache=place / "cache",
        options=Settings(resamples=100), command=f"sayso run uncle --data {file}", report=False,
    )  # fmt: skip
    return open_base_run(place / "run", model=model, cache=place / "cache")


@pytest.fixture(scope="module")
def trivia(base: Base, measured: list[Fact], other: list[Fact]) -> str:
    """TriviaQA's rows: 60 of the other world, one that names and one that is what is measured."""
    rows = [{"question": f.question, "answer": f.value} for f in other[:60]]
    name = measured[0].entity
    rows += [
        {"question": f"Where was {name} born?", "answer": "Ripley"},
        {"question": "Who lived in Ripley?", "answer": name},
    ]
    file = write(base.path.parent / "trivia.jsonl", rows)
    return f"triviaqa:{file}"


@pytest.fixture(scope="module")
def topics(base: Base, measured: list[Fact], other: list[Fact]) -> str:
    """Topics of the other world, and one that is measured."""
    names = dict.fromkeys(f.entity for f in [*other[60:], measured[0]])
    rows = [{"topic": n, "prompt": f"Write a paragraph about {n}, at length."} for n in names]
    return f"topics:{write(base.path.parent / 'people.jsonl', rows)}"


def rows_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        stage: [json.loads(x) for x in (folder / f"rows/{stage}-0.jsonl").read_text().splitlines()]
        for stage in ("sft", "dpo")
    }


def exported(base: Base, out: Path, **more: Any) -> tuple[Path, Training]:
    engine = more.pop("rows_by", None)
    config = TrainConfig(**PAPER | more)
    return fit(
        base.path, out, config, export="trl", model=base.model, cache=base.cache, rows_by=engine
    )


def test_idk_rows_come_from_the_other_set_and_all_of_the_run_is_measured(
    base: Base, trivia: str, measured: list[Fact], other: list[Fact], tmp_path: Path
) -> None:
    folder, training = exported(base, tmp_path / "out", recipe="short", train_data=(trivia,))
    rows = rows_of(folder)
    asked = {f.question for f in other[:60]}
    for row in [*rows["sft"], *rows["dpo"]]:
        assert row["form"] == "short"
        assert any(row["prompt"].startswith(question) for question in asked)
    assert {row["kind"] for row in rows["dpo"]} == {"idk-known", "idk-unknown"}
    # K = 10 draws; theta = 1: every draw of a known fact is right
    draws = RunFolder.open(folder / "draws")
    assert draws.read_manifest().data == "triviaqa"
    assert training.entities == {"trained": 60, "measured": 20}
    assert training.settings["train_data"] == [trivia]
    assert training.settings["rows.k"] == 10
    assert training.settings["rows.theta"] == 1.0
    assert f"train-data {trivia}: 2 of 62 entities are left out because they name a measured " \
        "entity or have one as their answer" in training.notes  # fmt: skip
    assert f"train-data {trivia}: 60 entities are trained on" in training.notes
    # the same call goes on, and asks nothing
    before = len(base.model.requests)
    assert exported(base, tmp_path / "out", recipe="short", train_data=(trivia,))[0] == folder
    assert len(base.model.requests) == before
    with pytest.raises(InputError, match="about other entities"):
        exported(base, tmp_path / "out", recipe="short", train_data=(trivia,), train_limit=30)


def test_paragraphs_come_from_one_set_and_short_rows_from_the_other(
    base: Base, trivia: str, other: list[Fact], tmp_path: Path
) -> None:
    """As UNCLE trains: Idk rows from TriviaQA, LoGU rows from biographies."""
    bios = str(write(tmp_path / "bios.jsonl", records(other[60:])))
    folder, training = exported(
        base, tmp_path / "out", recipe="mix", xi=0.5, train_data=(trivia, bios), train_limit=15
    )
    rows = rows_of(folder)
    assert training.entities["trained"] == 15 + 15  # so many of each set
    short = [row for row in rows["sft"] if row["form"] == "short"]
    long = [row for row in rows["sft"] if row["form"] == "long"]
    assert len(short) == pytest.approx(len(long), abs=1)
    about_trivia = {f.question for f in other[:60]}
    assert all(any(row["prompt"].startswith(q) for q in about_trivia) for row in short)
    names = {f.entity for f in other[60:]}
    assert {row["entity"] for row in long} <= names
    with pytest.raises(InputError, match="recipe long makes rows of paragraphs"):
        exported(base, tmp_path / "no", recipe="long", train_data=(trivia,))
    assert not (tmp_path / "no").exists()


def test_topics_make_rows_where_passages_tell_what_is_wrong(
    base: Base, topics: str, other: list[Fact], measured: list[Fact], tmp_path: Path
) -> None:
    passages = [
        {"title": f.entity, "text": f"The {f.aspect} of {f.entity} is {f.value}."}
        for f in other[60:]
    ]
    wiki = str(write(tmp_path / "wiki.jsonl", passages))
    given: dict[str, Any] = {
        "recipe": "long", "train_data": (topics,), "veracity": "evidence",
        "pairs": "logu", "cut": "all",
    }  # fmt: skip
    # a judge that is a model takes texts apart and checks claims, which a dry run says
    config = TrainConfig(**PAPER | given, knowledge=wiki)
    job, data, paragraphs, evidence = planned_draws(
        base.path, config, model=base.model, cache=base.cache, export="trl"
    )
    job = dataclasses.replace(job, judge=judge_engine(truthful))
    plan = price_draws(job, data, paragraphs=paragraphs, evidence=evidence)
    (asked,) = [one.requests for one in plan.stages if (one.who, one.name) == ("judge", "claims")]
    assert 0 < asked.low < asked.high
    folder, training = exported(base, tmp_path / "out", **given, knowledge=wiki)
    rows = rows_of(folder)["dpo"]
    assert {row["kind"] for row in rows} >= {"logu-refined-original", "logu-original-amateur"}
    assert measured[0].entity not in {row["entity"] for row in rows}
    right = {f"The {f.aspect} of {f.entity} is {f.value}." for f in other[60:]}
    refined = [row for row in rows if row["kind"] == "logu-refined-original"]
    for row in refined:  # what the passages say stays, everything else is in doubt
        sure = [s for s in row["chosen"].split(". ") if s.startswith("The ")]
        assert all(f"{s.rstrip('.')}." in right for s in sure)
    assert sum(row["rejected"].count("The ") for row in refined) > len(refined)
    assert training.settings["knowledge"] == wiki
    assert any(note.startswith(f"knowledge {wiki}: ") for note in training.notes)
    with pytest.raises(InputError, match="name a source of passages with --knowledge"):
        exported(base, tmp_path / "no", **given)
    for veracity in ("gold", "consistency"):
        with pytest.raises(InputError, match="topics have no golds"):
            exported(base, tmp_path / "no", **given | {"veracity": veracity})
    with pytest.raises(InputError, match=r"gone\.jsonl"):
        exported(base, tmp_path / "no", **given, knowledge=str(tmp_path / "gone.jsonl"))
    assert not (tmp_path / "no").exists()


def test_a_model_makes_the_rows_through_the_cache_and_is_counted(
    base: Base, trivia: str, other: list[Fact], tmp_path: Path
) -> None:
    author = RowAuthor(None)
    engine = author.engine()
    bios = str(write(tmp_path / "bios.jsonl", records(other[60:])))
    given: dict[str, Any] = {
        "recipe": "mix", "train_data": (trivia, bios),
        "pairs": "logu", "cut": "all",
    }  # fmt: skip
    folder, training = exported(base, tmp_path / "out", **given, rows_by=engine)
    rows = rows_of(folder)
    assert {row["form"] for row in rows["dpo"]} == {"short", "long"}
    assert any(
        "I am not sure about this" in r["chosen"] for r in rows["sft"] if r["form"] == "long"
    )
    asked = author.steps.total()
    assert asked > 20
    (counted,) = (note for note in training.notes if note.startswith("rows by author#p"))
    assert f"{asked:,} requests, 0 of them in the cache" in counted
    assert "price unknown" in counted
    assert training.settings["rows_by"] == "author"
    assert exported(base, tmp_path / "out", **given, rows_by=engine)[0] == folder
    again = exported(base, tmp_path / "other", **given, rows_by=engine)[1]
    assert author.steps.total() == asked  # every reply was in the cache
    assert rows_of(tmp_path / "other") == rows
    assert any(f"{asked:,} requests, {asked:,} of them in the cache" in n for n in again.notes)
    with pytest.raises(InputError, match="contains a training with rows_by 'author'"):
        exported(base, tmp_path / "out", **given, rows_by=author.engine("another"))
    with pytest.raises(InputError, match="with rows_by 'author', not None"):
        exported(base, tmp_path / "out", **given)
    exported(base, tmp_path / "rules", **given)
    with pytest.raises(InputError, match="contains a training without rows_by, not 'author'"):
        exported(base, tmp_path / "rules", **given, rows_by=engine)


def test_topics_are_held_against_further_paragraphs_and_a_stopped_model_goes_on(
    measured: list[Fact], base: Base, topics: str, other: list[Fact], tmp_path: Path
) -> None:
    # of few facts no draw tells the same: the tenth of all that agrees least is called wrong
    sure = Mind(
        [*measured, *other], lambda f: 1.0 if chance("sure", f.question) < 0.96 else 0.0,
        guess=lambda fact, draw: word("wrong", fact.question, draw, n=5),
    ).engine("base")  # fmt: skip
    base = base._replace(model=sure, cache=tmp_path / "cache")
    given: dict[str, Any] = {
        "recipe": "long", "train_data": (topics,), "veracity": "consistency", "paragraphs": 5,
        "pairs": "logu", "cut": "all",
    }  # fmt: skip
    whole = RowAuthor()
    _, training = exported(base, tmp_path / "whole", **given, rows_by=whole.engine("stopped"))
    assert training.entities["trained"] == 20
    rows = rows_of(tmp_path / "whole")
    assert any("I am not sure about this" in row["chosen"] for row in rows["sft"])
    first = ScriptedEngine(RowAuthor(), name="goes-on", kill_after=30)
    with pytest.raises(KeyboardInterrupt):
        exported(base, tmp_path / "out", **given, rows_by=first)
    second = RowAuthor()
    exported(base, tmp_path / "out", **given, rows_by=second.engine("goes-on"))
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "whole")
    assert second.steps.total() == whole.steps.total() - 30


@tabled
def test_what_would_stay_unread_is_refused(given: dict[str, Any], told: str) -> None:
    config = TrainConfig(**PAPER | given)
    with pytest.raises(InputError, match=told):  # noqa: PT012 - whichever sees it
        config.check()
        config.resolved("hf:some/model")


def test_the_command_takes_several_sets(base: Base, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["train", str(base.path), "--train-data", "triviaqa:no", "--train-data", "no.jsonl"])
    assert stopped.value.code == 2
    assert "no" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"train-data .*mine\.jsonl: nothing is left"):
        halves(base, train_data=(str(base.path.parent / "mine.jsonl"),))
