"""Sentences, charts and tables of a faithfulness page."""

from __future__ import annotations

from sayso.metrics.cmfg import THIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.prompts.methods import METHODS as WAYS
from sayso.protocols.faithfulness import report
from sayso.protocols.faithfulness.measure import CONSTANT, cautions
from sayso.protocols.faithfulness.report import FaithfulnessResults, plain_sentence
from sayso.records import Estimate, slice_of
from sayso.report.number_tables import NumberTable, notes_of, range_text, value_text
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


@tabled
def test_a_handful_of_claims_does_not_tell(
    value: float, low: float | None, high: float | None, said: str
) -> None:
    assert said in words(value=value, low=low, high=high, n=6)


def test_words_that_never_change_are_told_so() -> None:
    assert "its words never vary" in words(value=0.0, n=60, problem=CONSTANT)


def test_no_wrong_guess_is_called_knowledge() -> None:
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.0, n=42),
            Estimate("unknown_unknown", WHERE, 1 / 42, numerator=1, denominator=42, n=42),
            Estimate("known_unsaid", WHERE, 29 / 42, numerator=29, denominator=42, n=42),
        ]
    )
    table = report.method_table(found, "", report.FAILURES)
    row = dict(zip(table.columns, shown(table)[0][2:], strict=True))
    assert row["unsure, but sounds sure"] == "69.0 % 29/42"
    assert row["unaware of the error: sure, sounds sure, wrong"] == "2.4 % 1/42"
    assert len(row) == 2
    assert "knows" not in " ".join([*row, *(text for term in report.TERMS for text in term)])
    tiles = {tile.label: dict(tile.values) for tile in report.sheet(found.all).tiles}
    assert tiles["claims: unsure, sound sure"]["Vanilla, short answers"].numerator == 29


def test_missing_readings_are_told_in_words() -> None:
    where = slice_of(form="short", method="granularity")
    lost = Estimate("mean_decisiveness", where, 0.5, n=40, missing=10)
    ends = "If these are the hedged ones, the words seem surer than they are."
    why = [
        Estimate("left_out", where + slice_of(reason=reason), number, n=50)
        for reason, number in (("pairs unread", 7.0), ("wording unread", 3.0), ("omitted", 4.0))
    ]
    few = [  # counted, as in the table of what is left out, and too few to be named
        Estimate("mean_decisiveness", WHERE, 0.5, n=96, missing=4),
        Estimate("left_out", WHERE + slice_of(reason="pairs unread"), 4.0, n=100),
    ]
    assert cautions([lost, *few, *why]) == [
        "Some claims are left out of every mean (11 could not be compared with the draws, 3 have a "
        "wording that could not be read). More than 5 % are left out in: Short answers, "
        f"Granularity 10 of 50. {ends}"
    ]
    assert cautions(few) == []
    (one,) = cautions([Estimate("mean_decisiveness", where, 0.5, n=4, missing=1)])
    assert (
        "out of every mean. More than 5 % are left out in: Short answers, Granularity 1 of" in one
    )


def test_thin_bins_are_told_beside_the_numbers() -> None:
    """How many bins are filled, why there is no interval, and the value in no tile, only there."""
    thin = f"{THIN}: 3 of 10; 0.3-0.4 has 1"
    found = FaithfulnessResults(
        [
            Estimate("skill", WHERE, 0.2, n=60, problem=thin),
            Estimate("cmfg", WHERE, 0.6, n=60, problem=thin),
            Estimate("filled_bins", WHERE, 9.0, numerator=9.0, denominator=10.0, n=60),
        ]
    )
    sheet = report.sheet(found.all)
    assert sheet.main is not None
    (note,) = notes_of(sheet.main)
    assert note == f"1 number without an interval: {THIN[len('no interval: ') :]}"
    assert "too few per bin" in note
    assert "too high" in note
    assert "0.20" in " ".join(shown(sheet.main)[0])
    assert "skill" not in " ".join(tile.label for tile in sheet.tiles)
    assert "0.2" not in sheet.opening.sentence
    table, _ = next(s.tables for s in sheet.sections if s.id == "scores")
    row = dict(zip(table.columns, shown(table)[0][2:], strict=True))
    assert row["bins filled"] == "9 9/10"
    assert "too few claims" in words(value=0.2, n=60, problem=thin)


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
    assert plain[:4] == ["Vanilla", "short answers", "−0.10", "–"]
    assert other[:4] == ["Uncertainty", "short answers", "+0.20", "+0.30 [+0.20, +0.40]"]


def test_a_gain_has_its_corrected_p() -> None:
    found = {"gain": Estimate("skill_gain", OTHER, 0.3, low=0.02, high=0.58, n=9)}
    assert gains(**found)[-1][3:] == ["+0.30 [+0.02, +0.58]", "–", "–"]
    p = Estimate("skill_gain_p", OTHER, 0.04, n=3)
    assert gains(**found, p=p)[-1][3:] == ["+0.30 [+0.02, +0.58]", "0.04", "–"]


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
    table = report.bins_table(found, "short")
    assert shown(table) == [
        ["Vanilla", "0.1–0.2", "15.0 %", "50.0 % [40.0, 60.0]", "7"],
        ["UNCLE", "0.1–0.2", "18.0 %", "50.0 % [40.0, 60.0]", "7"],
    ]
    assert "--json" in table.notes[0]
    skill, bins = report.charts(found)
    assert skill.name == "skill"
    drawn = bins.make(860)
    assert drawn is not None
    sets = drawn.to_dict()["datasets"].values()
    assert [(r["series"], r["x"]) for rows in sets for r in rows if "series" in r] == [
        ("Vanilla", 0.15), ("UNCLE", 0.18),
    ]  # fmt: skip


def test_a_method_has_one_mark_in_every_chart() -> None:
    """Its short answers lack the first method's bins, and its paragraphs do not."""
    held = [("short", "uncle"), ("long", "vanilla"), ("long", "uncle")]
    rows = []
    for form, method in [("short", "vanilla"), *held]:
        rows.append(Estimate("skill", slice_of(form=form, method=method), 0.1, low=0, high=0.2))
    for form, method in held:
        where = slice_of(form=form, method=method, bin="0.1-0.2")
        of = (f"bin_{name}" for name in ("decisiveness", "confidence"))
        rows += [Estimate(name, where, 0.15, n=7) for name in of]
    short, long = (one.make(860) for one in report.bin_charts(FaithfulnessResults(rows)))
    assert short is not None
    assert long is not None
    marks = [
        {
            channel: dict(zip(scale["domain"], scale["range"], strict=True))["UNCLE"]
            for layer in chart.to_dict()["layer"]
            for channel in ("color", "shape")
            if (scale := layer["encoding"].get(channel, {}).get("scale"))
        }
        for chart in (short, long)
    ]
    assert marks[0] == marks[1]
    assert marks[0].keys() == {"color", "shape"}


def test_nothing_left_out_is_a_zero_and_no_dash() -> None:
    rows = [Estimate("skill", where, 0.1) for where in (WHERE, OTHER)]
    lost = Estimate("left_out", WHERE + slice_of(reason="few draws"), 4.0, n=50)
    table = report.left_out_table(FaithfulnessResults([*rows, lost]))
    assert [row[-1] for row in shown(table)] == ["4", "0"]


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
    assert '"domain": [-1.0, 1.0]' in drawn.to_json(indent=None)


def test_every_way_to_ask_has_a_name() -> None:
    assert set(WAYS) <= set(METHOD_LABELS)
