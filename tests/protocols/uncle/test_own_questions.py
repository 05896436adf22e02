"""UNCLE on a table of one's own: short questions alone, and paragraphs made of shared entities."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import cli, datasets, report
from sayso.protocols import uncle
from sayso.protocols.protocol import Unsuited
from sayso.protocols.settings import replace
from sayso.protocols.uncle.asked import MOST_TOGETHER, PARAGRAPH, asked
from sayso.records import Generation, InputError, Question, Request, part_of
from sayso.runs.compare import compare
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.runs.measure import measure
from sayso.train.base import halves, open_base_run
from support.scripted_world import Fact, Mind, facts

#: 8 entities; the first six have three facts each in the table, the others one
WORLD = facts(8)
SEVERAL = 6


class Writer(Mind):
    """A mind that also answers the paragraphs that are made of questions."""

    def __call__(self, request: Request) -> Generation:
        text = request.messages[-1].content
        if not text.startswith("Write one paragraph about "):
            return super().__call__(request)
        instructed = "ncertainty" in text
        said = [
            f"I am not sure what the {fact.aspect} of {fact.entity} is."
            if self.hedges(fact, instructed)
            else f"The {fact.aspect} of {fact.entity} is {self.value(fact, 'greedy')}."
            for question, fact in self.by_question.items()
            if f"- {question}" in text
        ]
        return self._reply(request, [(sentence, -0.5) for sentence in said])


#: knows every first aspect and nothing else; hedges what it does not know, but for one aspect
MIND = Writer(
    WORLD,
    lambda f: 1.0 if f.aspect in ("birthplace", "source") else 0.0,
    hedges=lambda f, instructed: instructed and f.aspect in ("instrument", "guardian"),
    guess=lambda fact, draw: "Nowhere",
)


def table(folder: Path, rows: list[Fact], *columns: str, **more: str) -> str:
    """Write facts as a CSV with a question, a gold and some of entity, domain and aspect."""
    path = folder / "mine.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["question", "gold", "answerable", *columns])
        for fact in rows:
            own = [getattr(fact, column) for column in columns]
            out.writerow([fact.question, fact.value, "", *own])
        for question, answerable in more.items():
            out.writerow([question.replace("_", " "), "", answerable, *("" for _ in columns)])
    return f"file:{path}"


def rows() -> list[Fact]:
    """Return the facts of a table: all of six entities, one of two others."""
    return [*WORLD[: 3 * SEVERAL], WORLD[3 * SEVERAL], WORLD[3 * SEVERAL + 3]]


def run(folder: Path, data: str, name: str = "run", **more: Any) -> Any:
    settings = {"resamples": 100, **more.pop("settings", {})}
    return sayso.run(
        model=more.pop("model", None) or MIND.engine("mind"), data=data, out=folder / name,
        cache=folder / "cache", settings=settings, **more,
    )  # fmt: skip


def terminal(result: Any) -> str:
    out = io.StringIO()
    report.render_run(result.estimates, Console(file=out, width=100), result.manifest)
    return out.getvalue()


def test_questions_alone_give_the_headline_and_nothing_about_paragraphs(tmp_path: Path) -> None:
    engine = MIND.engine("mind")
    result = run(tmp_path, table(tmp_path, WORLD), model=engine)
    assert not any("paragraph" in r.messages[-1].content for r in engine.requests)
    assert len(engine.requests) == len(WORLD) * 7  # five draws, with and without the instruction
    known, hedged = 8, 8  # of 24 facts: one of three is known, one of the two others is hedged
    assert result.get("p_known", form="short").numerator == known
    assert result.get("UUR", form="short").numerator == hedged
    assert result.get("J", form="short").value == pytest.approx(0.5)
    assert result.get("J_within", form="short").value == pytest.approx(0.5)
    low, high = result.get("J", form="short").low, result.get("J", form="short").high
    assert low is not None
    assert low < 0.5 < high
    forms = {part_of(e.where, "form") for e in result.estimates}
    assert forms == {"", "short"}
    assert not any(e.name.startswith("align_") or e.name == "omission" for e in result.estimates)
    keys = {key for e in result.estimates for key, _ in e.where}
    assert "domain" not in keys  # the table says nothing of domains
    page = (tmp_path / "run" / "report.html").read_text()
    body = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S)
    for text in (terminal(result), body):
        found = re.search(r".{30}(paragraph|\blong\b|omission|not mentioned).{30}", text, re.I)
        assert not found, found
    assert "24 facts about" not in terminal(result)  # each question stands for itself
    again = measure(result)
    assert [e.value for e in again.estimates] == [e.value for e in result.estimates]


def test_rows_that_share_an_entity_are_asked_for_a_paragraph(tmp_path: Path) -> None:
    engine = MIND.engine("mind")
    data = table(tmp_path, rows(), "entity", "domain", "aspect")
    result = run(tmp_path, data, model=engine)
    long = [r.messages[-1].content for r in engine.requests if r.max_tokens == 1024]
    assert len(long) == 2 * SEVERAL  # with and without the instruction
    first = WORLD[0]
    assert any(
        text.startswith(f"Write one paragraph about {first.entity}. ")
        and all(f"\n- {fact.question}\n" in text for fact in WORLD[:3])
        for text in long
    )
    short, both = result.get("J", form="short"), result.get("J", form="long")
    assert (short.n, both.n) == (20, 18)  # two facts stand in no paragraph
    assert (short.missing, both.missing) == (0, 0)
    assert both.value == pytest.approx(0.5)
    assert result.get("align_UU").n == 18
    assert "paragraphs" in dict(both.signature)
    assert result.manifest.prompts[PARAGRAPH].startswith("Write one paragraph about {entity}.")
    told = " ".join(result.manifest.notices)
    assert "6 paragraphs are asked for" in told
    assert "--set short_only=true leaves paragraphs out" in told
    assert "no verdict" not in terminal(result)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Short against long" in page
    again = run(tmp_path, data)  # the same folder: the same run
    assert again.estimates == result.estimates


def test_the_prompt_of_paragraphs_can_be_ones_own_and_is_signed(tmp_path: Path) -> None:
    data = table(tmp_path, rows(), "entity")
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    own = prompts / f"{PARAGRAPH}.txt"
    own.write_text("Write one paragraph about {entity}. Mine:\n{questions}\n")
    first = run(tmp_path, data, "first")
    other = run(tmp_path, data, "other", settings={"prompt_folder": str(prompts)})
    signed = [dict(r.get("J", form="long").signature)["paragraphs"] for r in (first, other)]
    assert signed[0] != signed[1]
    long = [q for q in datasets_of(other) if q.parts]
    assert all("Mine:" in q.text for q in long)
    own.write_text("Write about {entity}.")
    with pytest.raises(InputError, match=f"{PARAGRAPH}.txt"):
        run(tmp_path, data, "third", settings={"prompt_folder": str(prompts)})


def datasets_of(result: Any) -> list[Question]:
    return measure_folder(result).read("questions", Question)


def measure_folder(result: Any) -> Any:
    from sayso.storage.run_folder import RunFolder

    return RunFolder.open(result.path)


def test_places_in_questions_and_names_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(
        "question,gold,entity\nWhat is {entity}?,a,{questions}\nWhat is \\1?,b,{questions}\n"
    )
    data = asked(datasets.load_dataset(f"file:{path}"), uncle.Settings())
    (long,) = data.long
    assert "about {questions}." in long.text
    assert "- What is {entity}?\n- What is \\1?\n" in long.text


def test_many_questions_about_one_entity_make_several_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    lines = [f"What is number {n} of Ada?,{n},Ada" for n in range(2 * MOST_TOGETHER + 1)]
    path.write_text("\n".join(["question,gold,entity", *lines]))
    data = asked(datasets.load_dataset(f"file:{path}"), uncle.Settings())
    assert [len(q.parts) for q in data.long] == [7, 7, 7]
    assert sorted(p for q in data.long for p in q.parts) == sorted(q.id for q in data.short)


@pytest.mark.parametrize("name", ["builtin", "world"])
def test_short_only_leaves_paragraphs_out_of_any_data(name: str, tmp_path: Path) -> None:
    def stages(*changes: object) -> dict[str, float]:
        options = replace(uncle.Settings(), {"short_only": bool(changes)})
        job = Job(model="builtin", data=name, limit=3, cache=tmp_path, options=options)
        return {stage.name: stage.requests.high for stage in estimate_job(job).stages}

    both, short = stages(), stages("short only")
    assert both.pop("long") > 0
    assert short == both


def test_questions_without_a_true_answer_are_left_out_and_counted(tmp_path: Path) -> None:
    data = table(tmp_path, WORLD[:6], Who_can_say="", Who_will_win_in_2090="false")
    engine = MIND.engine("mind")
    result = run(tmp_path, data, model=engine)
    assert not any("Who" in r.messages[-1].content for r in engine.requests)
    (note,) = [n for n in result.manifest.notices if "without a true answer" in n]
    assert note.startswith("2 questions without a true answer are not asked")
    assert "`sayso run selective`" in note
    assert result.get("J", form="short").n == 6


def test_a_table_without_golds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("question\nWho?\nWhat?\n")
    with pytest.raises(Unsuited, match="bare has no golds"):
        run(tmp_path, f"file:{tmp_path / 'bare.csv'}")
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_topics_are_refused_before_they_are_read() -> None:
    job = Job(model="builtin", data="factscore")
    with pytest.raises(Unsuited, match="no questions with true answers; use"):
        estimate_job(job)


def test_a_published_set_of_short_questions_has_no_paragraphs(tmp_path: Path) -> None:
    lines = [f"\"{{'topic': 'x'}}\",{f.question},{f.value}" for f in WORLD]
    path = tmp_path / "simple.csv"
    path.write_text("\n".join(["metadata,problem,answer", *lines]))
    result = run(tmp_path, f"simpleqa:{path}", report=False)
    assert result.get("J", form="short").value == pytest.approx(0.5)
    assert result.get("J", form="short").low is not None
    assert {part_of(e.where, "form") for e in result.estimates} == {"", "short"}
    for name, entry in datasets.CATALOGUE.items():
        assert ("uncle" in entry.suits) == ("selective" in entry.suits), name


def test_domains_serve_as_types_where_there_are_no_aspects(tmp_path: Path) -> None:
    result = run(tmp_path, table(tmp_path, WORLD, "domain"))
    kinds = {value for e in result.estimates for key, value in e.where if key == "domain"}
    assert kinds == {"people", "rivers"}
    slices = [e for e in result.estimates if part_of(e.where, "type") and e.name == "J"]
    assert not slices  # they would be the domains once more
    assert result.get("J_within", form="short").value == pytest.approx(0.5)
    assert result.get("guess_rate", type="people").n > 0


def test_short_only_and_full_runs_are_compared_in_short_answers(tmp_path: Path) -> None:
    data = table(tmp_path, rows(), "entity", "domain", "aspect")
    full = run(tmp_path, data, "full", report=False)
    short = run(tmp_path, data, "short", settings={"short_only": True}, report=False)
    assert short.get("J", form="short").value == full.get("J", form="short").value
    result = compare(full, short)
    assert {part_of(e.where, "form") for e in result.estimates} == {"short"}
    (j,) = [e for e in result.estimates if e.name == "J"]
    assert (j.value, j.n) == (0.0, 20)
    assert {part_of(e.where, "form") for e in compare(full, full).estimates} == {"short", "long"}


def test_a_study_asks_uncle_about_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = sayso.study(
        {
            "out": str(tmp_path / "study"), "cache": str(tmp_path / "cache"),
            "models": [{"model": MIND.engine("mind"), "name": "mine"}],
            "data": [table(tmp_path, WORLD)],
            "protocols": [{"uncle": {"resamples": 100}}],
        }
    )  # fmt: skip
    assert [o.status for o in found.outcomes] == ["done"]
    assert not any("long" in dict(n.where).values() for n in found.numbers("uncle"))
    flags = ["study", str(tmp_path / "study"), "--layout", "uncle-table3", "--set", "resamples=100"]
    with pytest.raises(SystemExit, match="0"):
        cli.main(flags)
    printed = capsys.readouterr().out
    assert "FA short" in printed
    assert "FA long" not in printed


def test_a_training_refuses_a_run_without_paragraphs_and_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    data = table(tmp_path, rows(), "entity", "domain", "aspect")
    short = run(tmp_path, data, "short", settings={"short_only": True}, report=False)
    with pytest.raises(InputError, match="asked short questions only"):
        open_base_run(short.path, data=data, cache=tmp_path / "cache")
    full = run(tmp_path, data, "full", report=False)
    base = open_base_run(full.path, model=MIND.engine("mind"), data=data, cache=tmp_path / "cache")
    parts = halves(base)
    assert parts.measured.long
    assert parts.trained.long
    assert any(note.startswith("2 of the facts") for note in parts.notes)


def test_the_flag_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["run", "uncle", "--help"])
    assert "short_only" in capsys.readouterr().out
