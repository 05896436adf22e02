"""What Python gives back: a result that shows itself, its tables, and settings by their names."""

from __future__ import annotations

import dataclasses
import html
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.engines.named import AnswerLimits
from sayso.protocols import PROTOCOLS, settings
from sayso.protocols.answer_table import AnswerRecord
from sayso.protocols.uncle import Settings
from sayso.records import Estimate, InputError
from sayso.runs.result import Result, shown_number
from sayso.storage.run_folder import RunFolder
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))
FEW = {"resamples": 100}
#: text that a page would run, a terminal obey and a reader lose
HOSTILE = "<script>alert(1)</script>&\x1b[2J\u202e" + "x" * 5_000


def scripted(folder: Path, **arguments: object) -> Result:
    """Run the small world."""
    data = write(folder / "q.jsonl", records(WORLD, lambda f: f.value))
    fixed = {"model": MIND.engine("base"), "data": str(data), "cache": folder / "cache"}
    fixed["report"] = False
    return sayso.run(**{"out": folder / "run", "settings": FEW, **fixed, **arguments})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def result(folder: Path) -> Result:
    return scripted(folder)


@pytest.fixture(scope="module", params=PROTOCOLS)
def builtin(request: pytest.FixtureRequest, folder: Path) -> Result:
    """A small run of each protocol on the built-in model."""
    name = request.param
    few = FEW if "resamples" in settings.as_dict(PROTOCOLS[name].Settings()) else {}
    return sayso.run(
        name, limit=1, out=folder / name, cache=folder / "cache", settings=few, report=False
    )


def hostile(result: Result) -> Result:
    """Return a result whose every text is somebody else's."""
    manifest = msgspec.structs.replace(
        result.manifest,
        protocols=("self_known",),
        model=HOSTILE,
        model_signature=HOSTILE,
        data=HOSTILE,
        cautions=(HOSTILE,),
    )
    estimates = [
        Estimate("factscore", (("method", HOSTILE),), 0.5, problem=HOSTILE),
        Estimate("recall", (("method", HOSTILE),), problem=HOSTILE),
    ]
    return Result(Path("/tmp") / HOSTILE[30:220], estimates, manifest, result.entities)


# ---- what it looks like


def test_a_repr_says_what_was_run_and_the_first_number(result: Result) -> None:
    text = repr(result)
    assert len(text) <= 300
    for part in (
        "uncle",
        "model base",
        "data q",
        "4 entities",
        "J short",
        "J long",
        str(result.path)[-40:],
    ):
        assert part in text, part
    value = result.get("J", form="short").value
    assert value is not None
    assert f"{abs(value):.2f}".lstrip("0") in text
    assert str(result) == text


def test_every_protocol_has_headlines(builtin: Result) -> None:
    text = repr(builtin)
    assert len(text) <= 300
    rows = builtin.table()
    assert 2 <= len(rows) <= 60
    assert f"; {rows[0]['name']} " in text
    for row in rows:
        parts = {k: v for k, v in row.items() if k not in ROW}
        estimate = builtin.get(str(row["name"]), **parts)  # type: ignore[arg-type]
        assert (row["value"], row["low"], row["n"]) == (estimate.value, estimate.low, estimate.n)
        assert row["meaning"]


ROW = ("name", "meaning", "value", "low", "high", "n", "problem")


def test_what_others_wrote_stays_text(result: Result) -> None:
    bad = hostile(result)
    assert len(repr(bad)) <= 300
    assert repr(bad).isprintable()
    page = bad._repr_html_()
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert len(page) < 10_000
    assert page.count("<tr>") == 3


def test_a_notebook_sees_cautions_before_the_numbers(result: Result) -> None:
    cautious = Result(
        result.path,
        result.estimates,
        msgspec.structs.replace(result.manifest, cautions=("Draws <repeat>.",)),
        result.entities,
    )
    page = cautious._repr_html_()
    assert 0 < page.index("Draws &lt;repeat&gt;.") < page.index("<table")
    assert page.count("<tr>") == 1 + len(result.table())
    assert "UUR" in page


def test_a_result_without_numbers_shows_itself(result: Result) -> None:
    none = Result(result.path, [], result.manifest, 0)
    assert "no numbers" in repr(none)
    assert none.table() == []
    assert "<table" not in none._repr_html_()
    undefined = Result(result.path, [Estimate("J", (("form", "short"),))], result.manifest, 1)
    assert "J short –" in repr(undefined)
    assert "1 entity" in repr(undefined)


def test_a_result_has_the_names_that_a_user_needs(result: Result) -> None:
    shown = {name for name in dir(result) if not name.startswith("_")}
    data = {"path", "estimates", "manifest", "entities", "saved"}
    assert shown == data | {
        "get", "each", "page", "table", "to_pandas", "plot", "plots", "answers"
    }  # fmt: skip
    with pytest.raises(AttributeError):
        result.entities = 3  # type: ignore[misc]


# ---- pandas


def test_pandas_gets_every_number_with_its_slice(builtin: Result) -> None:
    pytest.importorskip("pandas")
    frame = builtin.to_pandas()
    assert len(frame) == len(builtin.estimates)
    assert list(frame["name"]) == [e.name for e in builtin.estimates]
    fields = set(Estimate.__struct_fields__) - {"where"}
    clash = {n for n, e in enumerate(builtin.estimates) if fields & dict(e.where).keys()}
    for number in {0, len(frame) // 2, len(frame) - 1} | clash:
        estimate, row = builtin.estimates[number], frame.iloc[number]
        # a part that is called as a field is, such as "problem", has a column of its own
        named = {key: f"slice {key}" if key in fields else key for key, _ in estimate.where}
        parts = {key: row[column] for key, column in named.items()}
        assert parts == dict(estimate.where)
        assert row["n"] == estimate.n
        assert row["value"] == estimate.value or estimate.value is None
    assert frame["value"].dtype == float


def test_without_pandas_the_message_says_how_to_get_it(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sayso.InputError, match="pip install pandas"):
        result.to_pandas()


# ---- the answers


def test_a_result_has_its_answers(builtin: Result) -> None:
    stored = RunFolder.open(builtin.path).read("answers", AnswerRecord)
    assert list(builtin.answers) == stored
    assert len(builtin.answers) == len(stored) > 0
    form = stored[-1].form
    some = builtin.answers.where(form=form, stance=stored[-1].stance)
    assert list(some) == [a for a in stored if (a.form, a.stance) == (form, stored[-1].stance)]
    assert builtin.manifest.protocols[0] in repr(builtin.answers)
    page = some._repr_html_()
    assert page.count("<tr>") == 1 + min(8, len(some))
    assert html.escape(stored[-1].question) in builtin.answers.where(id=stored[-1].id)._repr_html_()


def test_answers_become_a_data_frame(result: Result) -> None:
    pytest.importorskip("pandas")
    frame = result.answers.where(known=False).to_pandas()
    assert list(frame.columns) == list(AnswerRecord.__struct_fields__)
    assert len(frame) == len(result.answers.where(known=False)) > 0
    assert set(frame["known"]) == {False}
    assert list(result.answers.where(id="none").to_pandas().columns) == list(frame.columns)


def test_answers_of_other_settings_are_known_by_those(result: Result) -> None:
    one = sayso.measure(result, settings={"probe.k": 1})
    first = {a.question_id: a.draw_labels for a in one.answers if a.form == "short"}
    known = {a.question_id: a.known for a in one.answers if a.form == "short"}
    assert known == {name: labels and labels[0] == "correct" for name, labels in first.items()}
    stored = {a.question_id: a.known for a in result.answers if a.form == "short"}
    assert known != stored
    share = one.get("p_known", form="short").value
    assert share == pytest.approx(sum(map(bool, known.values())) / len(known))


def test_a_run_without_a_table_of_answers_says_how_to_get_it(
    result: Result, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(result.path, copy)
    (copy / "answers.parquet").unlink()
    bare = dataclasses.replace(result, path=copy)
    with pytest.raises(InputError, match=r"has no table of its answers: `sayso measure .*copy`"):
        bare.answers  # noqa: B018
    sayso.measure(copy)
    assert list(bare.answers) == list(result.answers)
    shutil.rmtree(copy)
    with pytest.raises(InputError, match="does not exist: expected a run folder"):
        bare.answers  # noqa: B018


# ---- settings by name


def test_the_mistake_of_a_user_can_be_caught_by_its_public_name() -> None:
    assert sayso.InputError is InputError
    assert "InputError" in dir(sayso)
    with pytest.raises(sayso.InputError):
        sayso.run("unkle")


@pytest.mark.parametrize(
    "given",
    [
        {"probe.k": 3, "answer.long_tokens": 512},
        {"probe": {"k": 3}, "answer": {"long-tokens": 512}},  # as in a file for --config
    ],
)
def test_settings_are_those_of_the_command_line(tmp_path: Path, given: dict[str, object]) -> None:
    done = scripted(tmp_path, settings={**FEW, **given})
    changes = {"resamples": 100, "probe.k": 3, "answer.long_tokens": 512}
    wanted = settings.with_limits(settings.replace(Settings(), changes), AnswerLimits())
    stored = {name: done.manifest.settings[name] for name in settings.as_dict(wanted)}
    assert stored == settings.as_dict(wanted)
    again = sayso.measure(done.path, settings={"probe.k": 2})
    assert not again.saved
    assert again.page is None  # the page holds the run's own numbers
    assert "measured with other settings" in repr(again)
    with pytest.raises(InputError, match="not stored"):
        sayso.compare(done, again)


def test_settings_change_the_options_that_were_given(tmp_path: Path) -> None:
    options = settings.replace(Settings(), {"probe.k": 4, "resamples": 100})
    done = scripted(tmp_path, options=options, settings={"answer.short_tokens": 99})
    kept = done.manifest.settings
    assert (kept["probe.k"], kept["answer.short_tokens"]) == (4, 99)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prob.k": 3}, r"setting 'prob\.k' is unknown; did you mean probe\.k\?"),
        ({"k": 3}, r"'k' is unknown; did you mean probe\.k\?"),
        ({"temperature": 0.5}, r"did you mean probe\.temperature or answer\.temperature\?"),
        ({"probe": 3}, r"'probe' is unknown; did you mean probe\.k, probe\.temperature, .* or"),
        ({"probe": {"n": 3}}, r"'probe\.n' is unknown; did you mean probe\."),
        ({"answer.short_token": 3}, r"did you mean answer\.short_tokens\?"),
        ({"answer-short-tokens": 3}, r"did you mean answer\.short_tokens\?"),
        ({"resample": 100}, r"did you mean resamples\?"),
        ({"zzzz": 3}, r"'zzzz' is unknown; known: probe\.k, "),
        ({"limit": 3}, r"limit is not a setting of uncle .*: sayso\.run\(limit=\.\.\.\)"),
        ({"probe.k": "3"}, r"probe\.k is '3'; expected a whole number"),
        ({"probe.k": 0}, r"probe\.k is 0; expected 1 to"),
        ({"probe.unc": "maybe"}, r"probe\.unc is 'maybe'; expected one of"),
        ({3: 3}, r"setting 3: expected a name, such as 'probe\.k'"),
        ({"probe.k": 3, "probe": {"k": 4}}, r"probe\.k is given twice"),
    ],
)
def test_a_mistake_in_settings_is_one_line_before_anything_is_asked(
    tmp_path: Path, given: dict[str, object], message: str
) -> None:
    engine = MIND.engine("base")
    with pytest.raises(InputError, match=message) as refused:
        scripted(tmp_path, model=engine, settings=given)
    assert "\n" not in str(refused.value)
    assert not engine.requests
    assert not (tmp_path / "run").exists()


def test_measure_suggests_names_too(result: Result) -> None:
    with pytest.raises(InputError, match=r"did you mean probe\.k\?"):
        sayso.measure(result.path, **{"prob.k": 3})


def test_a_path_may_be_the_value_of_a_setting(tmp_path: Path, result: Result) -> None:
    base = result.path
    with pytest.raises(InputError, match="nowhere does not exist"):
        scripted(tmp_path, settings={"known_from": base / "nowhere"})


def test_the_table_says_what_a_number_counts() -> None:
    # 9 pairs of the same type among 48 answers
    area = Estimate("auroc_within", value=1.0, numerator=9, denominator=9, n=48)
    assert shown_number(area)[2] == "48 (9 counted)"
    assert shown_number(Estimate("EA", value=0.5, denominator=48, n=48))[2] == "48"
    assert shown_number(Estimate("skill", value=0.5, n=48))[2] == "48"
