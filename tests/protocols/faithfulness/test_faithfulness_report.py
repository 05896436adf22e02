"""Sentences, charts and tables of a faithfulness page, and several runs on one page."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from sayso.cli import execute
from sayso.metrics.cmfg import THIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.prompts.methods import METHODS as WAYS
from sayso.protocols.faithfulness import report
from sayso.protocols.faithfulness.measure import CONSTANT, cautions
from sayso.protocols.faithfulness.report import (
    START,
    FaithfulnessResults,
    bin_figure,
    bin_rows,
    faithfulness_sentences,
    headline,
    marginals,
)
from sayso.records import Estimate, InputError, Question, Signature, signature_of, slice_of
from sayso.storage.run_folder import Manifest, RunFolder
from support.tables import tabled

WHERE = slice_of(form="short", method="vanilla")


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
    made = report.tables([side("a", 0.1), side("b", 0.3)], "short")
    assert [t.caption for t in made][:2] == [
        "cMFG by method and model, short answers",
        "Skill by method and model, short answers",
    ]
    assert made[1].head == ["", "a", "b"]
    assert [[c.text for c in row] for row in made[1].rows] == [["Vanilla", ".10", ".30"]]
    assert [c.text for c in made[2].rows[0]] == ["Vanilla", "–", "–"]  # never a zero
    assert report.tables([side("a", 0.1)], "short") == []


def test_columns_that_share_a_name_are_told_apart() -> None:
    made = report.tables([side("m", 0.1), side("m", 0.2), side("m", 0.3, "other")], "short")
    assert made[0].head == ["", "m, d", "m, d (2)", "m, other"]


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
    assert report.setting_differences([first, other], "short") == ["dec (rules@1, rules@2)"]
    assert report.setting_differences([other, paper], "short") == ["prompts (shared, paper)"]
    notes = report.tables([first, other], "short")[-1].notes
    assert notes == ["These runs differ in more than the model: dec (rules@1, rules@2)."]


def test_another_protocol_cannot_stand_beside(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run")
    folder.write_manifest(Manifest(protocols=["uncle"]))
    with pytest.raises(InputError, match="only runs of faithfulness"):
        report.read_columns([folder])


@tabled
def test_a_handful_of_claims_does_not_tell(
    value: float, low: float | None, high: float | None, said: str
) -> None:
    skill = Estimate("skill", WHERE, value, low=low, high=high, n=6)
    assert said in headline(FaithfulnessResults([skill]), "short")


def test_words_that_never_change_are_told_so() -> None:
    skill = Estimate("skill", WHERE, 0.0, n=60, problem=CONSTANT)
    said = headline(FaithfulnessResults([skill]), "short")
    assert "does not reflect its confidence: it is always equally decisive" in said


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
    assert (
        "Of 42 claims, 69 % are unsure, but sound sure; 21 of these 29 are wrong. 2 % are sure, "
        "sound sure and are wrong (unaware of the error)."
    ) in list(faithfulness_sentences(found, "short"))
    assert "unsure, but sounds sure, wrong" in report.THREE_WAY.values()
    shown = " ".join([*report.THREE_WAY.values(), *report.GLOSSARY])
    assert "knows" not in shown


def test_entities_that_only_give_examples_are_told() -> None:
    few = Estimate("entities_set_apart", value=1.0, numerator=1, denominator=8, n=8)
    assert list(report.set_apart_sentences(FaithfulnessResults([few]))) == [
        "7 of 8 entities are measured; the other 1 supplies the examples for the prompts."
    ]
    none = Estimate("entities_set_apart", value=0.0, numerator=0, denominator=8, n=8)
    assert list(report.set_apart_sentences(FaithfulnessResults([none]))) == []
    other = Estimate("demonstration_questions", value=100.0, n=100)
    assert list(report.set_apart_sentences(FaithfulnessResults([none, other]))) == [
        "The examples for the prompts come from 100 other questions, which are not measured."
    ]


def test_a_gain_that_no_resample_moves_is_not_clear() -> None:
    other = slice_of(form="short", method="uncle")
    still = Estimate("skill_gain", other, 1e-17, n=9, problem="no interval: no resample moves it")
    found = FaithfulnessResults(
        [Estimate("skill", WHERE, 0.0), Estimate("skill", other, 0.0), still]
    )
    assert "no method's skill clearly differs" in " ".join(faithfulness_sentences(found, "short"))


def test_missing_readings_are_told_in_words() -> None:
    where = slice_of(form="short", method="granularity")
    lost = Estimate("cmfg", where, 0.5, n=40, missing=10)
    ends = "If these are the hedged ones, the words seem surer than they are."
    why = [
        Estimate("left_out", where + slice_of(reason=reason), number, n=50)
        for reason, number in (("pairs unread", 7.0), ("wording unread", 3.0), ("omitted", 4.0))
    ]
    assert cautions([lost, *why]) == [
        "Some claims are left out of every mean (7 could not be compared with the draws, 3 have a "
        f"wording that could not be read): Short answers, Granularity 10 of 50. {ends}"
    ]
    (one,) = cautions([Estimate("cmfg", where, 0.5, n=4, missing=1)])
    assert "left out of every mean: Short answers, Granularity 1 of 5. If" in one


def test_thin_bins_are_told_in_words_beside_the_numbers() -> None:
    """How many claims the thinnest bin holds, how many bins are empty, and why no interval."""
    thin = f"{THIN}: 3 of 10; 0.3-0.4 has 1"
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.2, n=60, problem=thin),
            Estimate("cmfg", WHERE, 0.6, n=60, problem=thin),
            Estimate("thinnest_bin", (*WHERE, ("bin", "0.3-0.4")), 1.0, n=60),
            Estimate("filled_bins", WHERE, 9.0, numerator=9.0, denominator=10.0, n=60),
        ]
    )
    told = "Claims in the thinnest bin of confidence: Vanilla 1 (1 of 10 bins is empty)."
    assert told in [*faithfulness_sentences(found, "short")]
    notes = report.table1_of_run(found, "short").notes
    assert told in notes
    assert f"Vanilla: skill and cMFG have {thin}." in notes
    out = io.StringIO()
    report.render(found.all, Console(file=out, width=100))
    assert told in out.getvalue()
    assert "no interval if a bin holds fewer than 5" in " ".join(out.getvalue().split())


def test_a_gain_names_both_skills() -> None:
    other = slice_of(form="short", method="uncertainty")
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.0, low=0.0, high=0.0, n=9),
            Estimate("skill", other, 0.2, low=0.1, high=0.3, n=9),
            Estimate("skill_gain", other, 0.3, low=0.2, high=0.4, n=9),
            Estimate("skill_shared", WHERE, -0.1, n=9),
            Estimate("skill_shared", other, 0.2, n=9),
        ]
    )
    told = " ".join(faithfulness_sentences(found, "short"))
    assert (
        "Uncertainty: skill higher than Vanilla's by .30 [.20, .40]; in the bins that all methods "
        "fill, they score .20 and −.10." in told
    )


def test_marginals_count_as_the_bins_do() -> None:
    # confidence 0, .1, .15 -> first, first, second bin; decisiveness .97 -> last
    points = [{"x": 0.0, "y": 0.97, "n": 3.0}, {"x": 0.1, "y": 0.97, "n": 2.0}]
    points.append({"x": 0.15, "y": 0.05, "n": 1.0})
    bars, labels = marginals(points)
    above = [b for b in bars if b["y"] == START]
    assert [round(b["x"], 2) for b in above] == [0.01, 0.11]
    heights = [b["y2"] - b["y"] for b in above]
    assert heights[0] == pytest.approx(5 * heights[1])
    assert [(r["n"], r["side"]) for r in labels] == [("5", "c"), ("5", "d")]


def test_bins_stand_at_their_mean_confidence_and_are_told_with_counts() -> None:
    places = [slice_of(form="short", method=m) for m in ("vanilla", "uncle")]
    found = FaithfulnessResults(
        [
            *(Estimate("skill", place, 0.1) for place in places),
            *(
                Estimate("bin_skill", place + slice_of(bin="0.1-0.2"), 0.5, low=0.4, high=0.6, n=7)
                for place in places
            ),
            *(
                Estimate("bin_confidence", place + slice_of(bin="0.1-0.2"), mean, n=7)
                for place, mean in zip(places, (0.15, 0.18), strict=True)
            ),
        ]
    )
    made = bin_rows(found, "short", "bin_skill")
    assert [r["series"] for r in made] == ["Vanilla", "UNCLE"]
    assert [r["x"] for r in made] == [0.15, 0.18]
    cell = bin_figure(found, "short", "bin_skill").rows[0][1]
    assert msgspec.json.decode(msgspec.json.encode(cell.detail)) == "[.40,\xa0.60] n\xa07"


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


SELF_REFINE = slice_of(form="short", method="self_refine")


def gain_sentences(p: float | None, tested: int = 3) -> str:
    estimates = [
        Estimate("skill", slice_of(form="short", method="vanilla"), 0.0, low=-0.1, high=0.1, n=9),
        Estimate("skill", SELF_REFINE, 0.2, low=0.1, high=0.3, n=9),
        Estimate("skill_gain", SELF_REFINE, 0.3, low=0.02, high=0.58, n=9),
    ]
    if p is not None:
        estimates.append(Estimate("skill_gain_p", SELF_REFINE, p, n=tested))
    return " ".join(faithfulness_sentences(FaithfulnessResults(estimates), "short"))


def test_a_gain_that_the_correction_takes_away_is_not_told() -> None:
    told = gain_sentences(0.09)
    assert "skill higher than Vanilla's" not in told
    assert "no method's skill clearly differs from Vanilla's" in told


@pytest.mark.parametrize(("p", "said"), [(0.012, "p = .01"), (0.0004, "p < .001")])
def test_a_gain_that_holds_says_what_it_was_corrected_for(p: float, said: str) -> None:
    told = gain_sentences(p)
    assert "Self-Refine: skill higher than Vanilla's by .30 [.02, .58]" in told
    assert f"({said}, corrected for 3 methods)" in told


def test_one_comparison_needs_no_correction_and_an_older_run_has_none() -> None:
    for told in (gain_sentences(0.03, tested=1), gain_sentences(None)):
        assert "skill higher than Vanilla's by .30" in told
        assert "corrected" not in told


def test_every_way_to_ask_has_a_name() -> None:
    assert set(WAYS) <= set(METHOD_LABELS)
