"""Sentences, charts and tables of a faithfulness page, and several runs on one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.cli import execute
from sayso.metrics.cmfg import THIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.prompts.methods import METHODS as WAYS
from sayso.protocols.faithfulness import report
from sayso.protocols.faithfulness.measure import CONSTANT, cautions
from sayso.protocols.faithfulness.report import FaithfulnessResults, plain_sentence
from sayso.records import Estimate, InputError, Question, Signature, signature_of, slice_of
from sayso.report.number_tables import NumberTable, notes_of, range_text, value_text
from sayso.storage.run_folder import Manifest, RunFolder
from support.tables import tabled

WHERE = slice_of(form="short", method="vanilla")
OTHER = slice_of(form="short", method="uncertainty")


def shown(table: NumberTable) -> list[list[str]]:
    """The rows of a table as they are read."""
    return [
        [*labels, *(f"{value_text(e, table.written)} {range_text(e, table.written)}".strip()
                    for e in entries)]
        for labels, entries in table.rows
    ]  # fmt: skip


def words(**fields: object) -> str:
    """The sentence of a run whose words are as sure as its draws, with this skill."""
    means = [Estimate(f"mean_{name}", WHERE, 0.7, low=0.6, high=0.8, n=60)
             for name in ("decisiveness", "confidence")]  # fmt: skip
    skill = Estimate("skill", WHERE, **fields)  # type: ignore[arg-type]
    return plain_sentence(FaithfulnessResults([*means, skill]))


def side(name: str, skill: float, data: str = "d", signature: Signature = ()) -> report.RunColumn:
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, skill, low=skill - 0.1, high=skill + 0.1, n=50,
                     signature=signature),
            Estimate("cmfg", WHERE, 0.5, low=0.4, high=0.6, n=50),
        ]
    )  # fmt: skip
    return report.RunColumn(name, Manifest(data=data), found)


def test_columns_are_models_and_rows_methods() -> None:
    made = report.model_tables([side("a", 0.1), side("b", 0.3)])
    assert [t.caption.split()[0] for t in made] == ["cMFG", "Skill", "Right,"]
    assert (*made[1].labels, *made[1].columns) == ("", "form", "a", "b")
    assert shown(made[1]) == [["Vanilla", "short", "+0.10 [0.00, +0.20]", "+0.30 [+0.20, +0.40]"]]
    assert shown(made[2]) == [["Vanilla", "short", "–", "–"]]  # never a zero
    assert report.model_tables([side("a", 0.1)]) == []


def test_columns_that_share_a_name_are_told_apart() -> None:
    made = report.model_tables([side("m", 0.1), side("m", 0.2), side("m", 0.3, "other")])
    assert made[0].columns == ("m, d", "m, d (2)", "m, other")


def test_what_else_differs_is_said() -> None:
    def signed(**settings: str) -> Signature:
        return signature_of("skill", tuple({"form": "short", **settings}.items()))

    first = side(
        "a", 0.1, signature=signed(method="x", dec="rules@1", prompts="shared-1", model="a")
    )
    other = side(
        "b", 0.1, signature=signed(method="y", dec="rules@2", prompts="shared-2", model="b")
    )
    paper = side(
        "c", 0.1, signature=signed(method="y", dec="rules@2", prompts="paper-2", model="c")
    )
    assert report.setting_differences([first, other]) == ["dec (rules@1, rules@2)"]
    assert report.setting_differences([other, paper]) == ["prompts (shared, paper)"]
    notes = report.model_tables([first, other])[-1].notes
    assert notes == ("These runs differ in more than the model: dec (rules@1, rules@2).",)


def test_another_protocol_cannot_stand_beside(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run")
    folder.write_manifest(Manifest(protocols=["uncle"]))
    with pytest.raises(InputError, match="only runs of faithfulness"):
        report.read_columns([folder])


@tabled
def test_a_handful_of_claims_does_not_tell(
    value: float, low: float | None, high: float | None, said: str
) -> None:
    assert said in words(value=value, low=low, high=high, n=6)


def test_words_that_never_change_are_told_so() -> None:
    assert "its words never vary" in words(value=0.0, n=60, problem=CONSTANT)


def test_no_wrong_guess_is_called_knowledge() -> None:
    wrong = slice_of(confidence="low", decisiveness="high", right="no")
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.0, n=42),
            Estimate("unknown_unknown", WHERE, 1 / 42, numerator=1, denominator=42, n=42),
            Estimate("known_unsaid", WHERE, 29 / 42, numerator=29, denominator=42, n=42),
            Estimate("three_way", WHERE + wrong, 0.5, numerator=21, denominator=42, n=42),
        ]
    )
    table = report.method_table(found, "", report.THREE_WAY)
    row = dict(zip(table.columns, shown(table)[0][2:], strict=True))
    assert row["unsure, but sounds sure"] == "69.0 % 29/42"
    assert row["unsure, sounds sure, wrong"] == "50.0 % 21/42"
    assert row["unaware of the error: sure, sounds sure, wrong"] == "2.4 % 1/42"
    assert len(row) == 9
    assert "knows" not in " ".join([*row, *(text for term in report.TERMS for text in term)])
    tiles = {tile.label: dict(tile.values) for tile in report.sheet(found.all).tiles}
    assert tiles["unsure, but sounds sure"][""].numerator == 29


def test_entities_that_only_give_examples_are_told() -> None:
    few = Estimate("entities_set_apart", value=1.0, numerator=1, denominator=8, n=8)
    searched = Estimate("demonstration_questions", value=100.0, n=100)
    table = report.run_table(FaithfulnessResults([few, searched]))
    assert [row[1] for row in shown(table)] == ["1 1/8", "100"]
    assert report.run_table(FaithfulnessResults([])).rows == []


def test_missing_readings_are_told_in_words() -> None:
    where = slice_of(form="short", method="granularity")
    lost = Estimate("mean_decisiveness", where, 0.5, n=40, missing=10)
    ends = "If these are the hedged ones, the words seem surer than they are."
    why = [
        Estimate("left_out", where + slice_of(reason=reason), number, n=50)
        for reason, number in (("pairs unread", 7.0), ("wording unread", 3.0), ("omitted", 4.0))
    ]
    assert cautions([lost, *why]) == [
        "Some claims are left out of every mean (7 could not be compared with the draws, 3 have a "
        f"wording that could not be read): Short answers, Granularity 10 of 50. {ends}"
    ]
    (one,) = cautions([Estimate("mean_decisiveness", where, 0.5, n=4, missing=1)])
    assert "left out of every mean: Short answers, Granularity 1 of 5. If" in one


def test_thin_bins_are_told_beside_the_numbers() -> None:
    """How many claims the thinnest bin holds, how many bins are filled, and why no interval."""
    thin = f"{THIN}: 3 of 10; 0.3-0.4 has 1"
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.2, n=60, problem=thin),
            Estimate("cmfg", WHERE, 0.6, n=60, problem=thin),
            Estimate("thinnest_bin", (*WHERE, ("bin", "0.3-0.4")), 1.0, n=60),
            Estimate("filled_bins", WHERE, 9.0, numerator=9.0, denominator=10.0, n=60),
        ]
    )
    sheet = report.sheet(found.all)
    assert sheet.main is not None
    assert notes_of(sheet.main) == [f"1 number without an interval: {THIN[len('no interval: ') :]}"]
    (table,) = next(s.tables for s in sheet.sections if s.id == "scores")
    row = dict(zip(table.columns, shown(table)[0][2:], strict=True))
    assert row["bins filled"] == "9 9/10"
    assert row["claims in the thinnest bin of confidence"] == "1"
    assert "too few claims have some levels of confidence" in words(value=0.2, n=60, problem=thin)


def gains(**other: Estimate) -> list[list[str]]:
    skills = [Estimate("skill", WHERE, 0.0, low=-0.1, high=0.1, n=9),
              Estimate("skill", OTHER, 0.2, low=0.1, high=0.3, n=9)]  # fmt: skip
    return shown(report.skill_gains(FaithfulnessResults([*skills, *other.values()])))


def test_a_gain_stands_beside_both_skills() -> None:
    plain, other = gains(
        gain=Estimate("skill_gain", OTHER, 0.3, low=0.2, high=0.4, n=9),
        first=Estimate("skill_shared", WHERE, -0.1, n=9),
        second=Estimate("skill_shared", OTHER, 0.2, n=9),
    )
    assert plain[:4] == ["Vanilla", "short", "−0.10", "–"]
    assert other[:4] == ["Uncertainty", "short", "+0.20", "+0.30 [+0.20, +0.40]"]
    assert other[-1] == "higher"


def test_a_gain_that_no_resample_moves_is_not_clear() -> None:
    still = Estimate("skill_gain", OTHER, 1e-17, n=9, problem="no interval: no resample moves it")
    assert gains(gain=still)[-1][-1] == "not clearly different"


@pytest.mark.parametrize(
    ("p", "tested", "said"),
    [
        (0.09, 3, "not clearly different (p = .09, corrected for 3 methods)"),
        (0.012, 3, "higher (p = .01, corrected for 3 methods)"),
        (0.0004, 3, "higher (p < .001, corrected for 3 methods)"),
        (0.03, 1, "higher"),  # one comparison needs no correction
        (None, 0, "higher"),  # an older run has none
    ],
)
def test_a_gain_is_told_by_its_corrected_p(p: float | None, tested: int, said: str) -> None:
    found = {"gain": Estimate("skill_gain", OTHER, 0.3, low=0.02, high=0.58, n=9)}
    if p is not None:
        found["p"] = Estimate("skill_gain_p", OTHER, p, n=tested)
    assert gains(**found)[-1][-1] == said


def test_without_gains_there_is_no_table() -> None:
    assert gains() == []


def test_bins_of_few_claims_are_left_out_and_points_stand_at_their_mean_confidence() -> None:
    places = [slice_of(form="short", method=m) for m in ("vanilla", "uncle")]
    held = slice_of(bin="0.1-0.2")
    found = FaithfulnessResults(
        [
            *(Estimate("skill", place, 0.1) for place in places),
            *(
                Estimate("bin_decisiveness", place + held, 0.5, low=0.4, high=0.6, n=7)
                for place in places
            ),
            *(
                Estimate("bin_confidence", place + held, mean, n=7)
                for place, mean in zip(places, (0.15, 0.18), strict=True)
            ),
            Estimate("bin_decisiveness", places[0] + slice_of(bin="0.2-0.3"), 0.5, n=4),
            Estimate("bin_confidence", places[0] + slice_of(bin="0.2-0.3"), 0.25, n=4),
        ]
    )
    table = report.bins_table(found)
    assert table.columns == ("0.1–0.2",)
    assert [row[2] for row in shown(table)] == ["50.0 % [40.0, 60.0]"] * 2
    assert "--json" in table.notes[0]
    skill, bins = report.charts(found)
    assert skill.name == "skill"
    drawn = bins.make(860)
    assert drawn is not None
    sets = drawn.to_dict()["datasets"].values()
    assert [(r["series"], r["x"]) for rows in sets for r in rows if "series" in r] == [
        ("Vanilla", 0.15), ("UNCLE", 0.18),
    ]  # fmt: skip


def test_the_chart_of_a_single_method_is_its_words_by_confidence() -> None:
    found = [Estimate("skill", WHERE, 0.1, n=9)]
    assert report.sheet(found).chart is None
    held = WHERE + slice_of(bin="0-0.1")
    found += [Estimate(f"bin_{name}", held, 0.5, n=9) for name in ("decisiveness", "confidence")]
    one = report.sheet(found).chart
    assert one is not None
    assert one.name == "decisiveness by confidence short"
    two = report.sheet([*found, Estimate("skill", OTHER, 0.2, n=9)]).chart
    assert two is not None
    assert two.name == "skill"


def test_an_interval_far_below_zero_does_not_stretch_the_chart() -> None:
    rows = [Estimate("skill", WHERE, 0.1, low=-40.0, high=0.6), Estimate("skill", OTHER, 0.2)]
    drawn = report.skill_chart(FaithfulnessResults(rows), 860)
    assert drawn is not None
    assert '"domain": [-1.0, 1]' in drawn.to_json(indent=None)


def test_a_skill_of_a_domain_without_an_interval_is_not_shown() -> None:
    rows = [
        Estimate("skill", WHERE, 0.1, n=60),
        Estimate(
            "skill",
            (
                *WHERE,
                ("domain", "<b>"),
            ),
            0.1,
            low=0.0,
            high=0.2,
            n=30,
        ),
        Estimate("skill", (*WHERE, ("domain", "few")), 0.9, n=3),
    ]
    table = report.slice_table(FaithfulnessResults(rows), "domain")
    assert shown(table) == [["<b>", "short", "+0.10 [0.00, +0.20]"]]


def test_a_page_can_stand_beside_another_run(tmp_path: Path) -> None:
    from sayso import report

    for name in ("a", "b"):
        folder = RunFolder.create(tmp_path / name)
        folder.write_manifest(Manifest(protocols=["faithfulness"], model_signature=f"model-{name}"))
        folder.write("metrics/faithfulness", [Estimate("skill", WHERE, 0.1, n=9)], Estimate)
        folder.write("questions", [], Question)
    page = report.write(tmp_path / "a", [tmp_path / "b"]).read_text(encoding="utf-8")
    assert "Skill by method and model" in page
    assert "model-b" in page
    assert "Skill by method and model" not in report.write(tmp_path / "a").read_text("utf-8")


def test_the_command_takes_runs_to_stand_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    for name, protocol in (("a", "faithfulness"), ("b", "faithfulness"), ("c", "uncle")):
        folder = RunFolder.create(tmp_path / name)
        folder.write_manifest(Manifest(protocols=[protocol], model_signature=f"model-{name}"))
        folder.write("metrics/x", [Estimate("skill", WHERE, 0.1, n=9)], Estimate)
        folder.write("questions", [], Question)
    places = {name: str(tmp_path / name) for name in "abc"}
    assert execute(["report", places["a"], "--beside", places["b"]]) == 0
    assert "model-b" in (tmp_path / "a" / "report.html").read_text("utf-8")
    capsys.readouterr()
    assert execute(["report", places["a"], "--beside", places["c"]]) == 2
    assert "is a run of uncle" in capsys.readouterr().err
    assert execute(["report", places["c"], "--beside", places["a"]]) == 2
    assert "is a run of uncle: its page shows no other runs" in capsys.readouterr().err


def test_every_way_to_ask_has_a_name() -> None:
    assert set(WAYS) <= set(METHOD_LABELS)
