"""Hedge propensity and wordings: off by default, and counted by hand where they are on."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import settings, uncle
from sayso.protocols.probes import ALIKE
from sayso.protocols.uncle.report import render
from sayso.records import InputError, Question, Request, signature_text
from sayso.runs.result import Result
from support.told_world import PROBES, aspect_of, estimate, run, run_told, value

#: by what each wording's instruction is told, in both forms
SAID = ("Express uncertainty", "for certain, say so", "Make it clear", "put them into words")
SHORT = Question("s", "d", "q0.0?", golds=())
LONG = Question("l", "d", "Long e0.", parts=("s",))


def reworded(
    folder: Path,
    probes: Sequence[Sequence[str]],
    short: Sequence[str],
    long: Sequence[str],
    draws: Mapping[str, Sequence[str]] | None = None,
    **fields: Any,
) -> Result:
    """``probes[w][aspect]``, ``short[w]``, ``long[w]`` are letters by wording.

    ``draws`` are those for propensity: ``short[aspect][draw]`` and ``long[draw]``.
    """

    def reply(request: Request) -> str:
        text = request.messages[-1].content
        aspect = aspect_of(text)
        told = [number for number, words in enumerate(SAID) if words in text]
        draw = request.sample - uncle.settings.PROPENSITY_SAMPLE
        if draws and draw >= 0:
            return draws["long"][draw] if aspect is None else draws["short"][aspect][draw]
        if aspect is None:
            return long[told[0] if told else 0]
        if request.sample < uncle.settings.ANSWER_SAMPLE and not request.greedy:
            return probes["respond to this" in text][aspect][request.sample]
        return short[told[0] if told else 0][aspect]

    return run_told(folder, reply, len(probes[0]), **fields)


def texts(asks: Sequence[Any], stage: str) -> list[str]:
    return [a.request.messages[0].content for a in asks if a.stage == stage]


def test_a_default_run_asks_what_it_always_asked(tmp_path: Path) -> None:
    asks = uncle.collect.requests([SHORT, LONG], uncle.Settings(), seed=3)
    found = [
        (a.stage, a.method, a.instructed, r.messages[0].content, r.temperature, r.sample)
        for a in asks
        for r in [a.request]
    ]
    short = "q0.0? Express uncertainty if you are not sure of the answer."
    long = "Long e0. Express uncertainty about any aspect you are not sure of."
    assert found == [
        *(("probe", "plain", False, "q0.0?", 1.0, sample) for sample in range(5)),
        ("short", "plain", False, "q0.0?", 0.0, 0),
        ("short", "instructed", True, short, 0.0, 0),
        ("long", "plain", False, "Long e0.", 0.0, 0),
        ("long", "instructed", True, long, 0.0, 0),
    ]
    assert {(a.request.seed, a.request.max_tokens) for a in asks} == {(3, 256), (3, 1024)}
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    assert sorted(p.stem for p in (result.path / "generations").iterdir()) == [
        "long",
        "probe",
        "short",
    ]
    assert not [e for e in result.estimates if "wordings" in e.name or "propensity" in e.name]
    assert not [e for e in result.estimates if "wordings" in signature_text(e.signature)]
    assert not [e for e in result.estimates if "propensity" in signature_text(e.signature)]
    assert result.manifest.prompts.keys() == {
        "signature",
        "uncle_short_instruction",
        "uncle_long_instruction",
    }


def test_a_folder_from_before_the_checks_goes_on(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    file = result.path / "manifest.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    for name in uncle.UNCLE.off_by_default:
        del stored["settings"][name]
    file.write_text(json.dumps(stored), encoding="utf-8")
    assert sayso.measure(result.path).estimates == result.estimates
    again = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    assert again.estimates == result.estimates
    with pytest.raises(InputError, match=r"contains a run of uncle .* with propensity 0, not 2"):
        run(tmp_path, PROBES, "cciuciuu", "cccccccc", propensity=2)


def test_propensity_by_hand(tmp_path: Path) -> None:
    draws = {
        #         known: 0, 2/3, 1/2 of two read, none read   unknown: 1, 2/3, 0, 2/3
        "short": ["ccc", "ucu", "?ui", "???", "uuu", "uui", "iii", "uiu"],
        "long": ["ccccoooo", "ccccoooo", "ccccoooo"],
    }
    answers = ["cciuciuu"], ["cccccccc"]
    result = reworded(tmp_path, [PROBES], *answers, draws, propensity=3)
    where = "form:short"
    known = estimate(result, "propensity_known", where)
    assert known.value == pytest.approx(7 / 18)  # (0 + 2/3 + 1/2) / 3
    assert (known.numerator, known.denominator) == (pytest.approx(7 / 6), 3)
    assert known.missing == 4
    unknown = estimate(result, "propensity_unknown", where)
    assert unknown.value == pytest.approx(7 / 12)
    assert unknown.missing == 0
    # all four unknown facts are of one entity and may move together
    assert (unknown.low, unknown.problem) == (None, "no interval: a single cluster")
    difference = estimate(result, "propensity_difference", where)
    assert difference.value == pytest.approx(7 / 36)
    assert difference.missing == 4
    # pairs of draws: stated twice 6, hedged twice 6, hedged then stated 5, stated then hedged 2;
    # agreement 12/19, by chance (11*8 + 8*11)/19^2
    retest = estimate(result, "propensity_retest", where)
    assert retest.value == pytest.approx((12 / 19 - 176 / 361) / (1 - 176 / 361))
    assert (retest.n, retest.missing) == (7, 4)
    # paragraphs never hedge, and an omission is none: 0 of 4 of one entity, no kappa
    never = estimate(result, "propensity_unknown", "form:long")
    assert (never.value, never.low, never.denominator) == (0.0, None, 4)
    retest = estimate(result, "propensity_retest", "form:long")
    assert (retest.value, retest.problem) == (None, "no draw was hedged, or all were")
    # what the headline counts is what it was
    assert value(result, "J", where) == pytest.approx(2 / 4 - 1 / 4)
    assert "|propensity:3|" in signature_text(known.signature)


def test_propensity_resamples_entities(tmp_path: Path) -> None:
    """The first aspect is known, and a third of the entities hedge it; the second is not."""

    def reply(request: Request) -> str:
        text = request.messages[-1].content
        aspect = aspect_of(text)
        if aspect is None:
            return "cu"
        if "ncertainty" not in text:
            return "ci"[aspect]
        third = int(text.split(".")[0].removeprefix("q")) % 3 == 0
        return "u" if third == (aspect == 0) else "c"

    result = run_told(tmp_path, reply, 2, entities=24, propensity=2)
    known = estimate(result, "propensity_known", "form:short")
    assert (known.value, known.denominator) == (pytest.approx(1 / 3), 24)  # aspects, not draws
    difference = estimate(result, "propensity_difference", "form:short")
    assert difference.value == pytest.approx(1 / 3)
    assert difference.problem is None
    assert difference.low is not None
    assert difference.high is not None
    # 16 entities say +1 and 8 say -1: 1/3 -+ 2.07 * .96 / sqrt(24) before the logit
    assert -0.2 < difference.low < 1 / 3 < difference.high < 0.7
    retest = estimate(result, "propensity_retest", "form:short")
    # both draws of all 48 questions are equal letters: such draws may be one answer given twice
    assert (retest.value, retest.n, retest.problem) == (None, 48, ALIKE)


def test_the_draws_for_propensity_are_none_of_the_others() -> None:
    chosen = settings.replace(uncle.Settings(), {"propensity": 2, "probe.temperature": 0.7})
    asks = uncle.collect.requests([SHORT, LONG], chosen, seed=0)
    for form in ("short", "long"):
        drawn = [a for a in asks if a.stage == f"propensity-{form}"]
        assert [(a.request.sample, a.request.temperature) for a in drawn] == [
            (2000, 0.7),
            (2001, 0.7),
        ]
        assert all(a.instructed and "ncertainty" in a.request.messages[0].content for a in drawn)


def test_one_draw_has_no_retest_and_says_so(tmp_path: Path) -> None:
    draws = {"short": ["u"] * 8, "long": ["uuuuuuuu"]}
    result = reworded(tmp_path, [PROBES], ["cciuciuu"], ["cccccccc"], draws, propensity=1)
    retest = estimate(result, "propensity_retest", "form:short")
    assert (retest.value, retest.problem) == (None, "no aspect has two readable draws")


def test_wordings_by_hand(tmp_path: Path) -> None:
    #        KCR 2/4 over 1/4 UUR 2/4;  3/4, 1/4, 1;  0, 1, 1
    short = ["cciuciuu", "cccuuuuu", "uuuuuuuu"]
    # in the second wording no known aspect can be read
    long = ["cccccccc", "????cccc", "cccccccc"]
    result = reworded(tmp_path, [PROBES], short, long, wordings=3)
    where = "form:short"
    for name, values in {
        "KCR": (1 / 2, 3 / 4, 0),
        "over_hedge": (1 / 4, 1 / 4, 1),
        "UUR": (1 / 2, 1, 1),
        "J": (1 / 4, 3 / 4, 0),
    }.items():
        mean = sum(values) / 3
        spread = (sum((v - mean) ** 2 for v in values) / 2) ** 0.5
        found = estimate(result, f"{name}_wordings", where)
        assert found.value == pytest.approx(mean), name
        assert (found.low, found.high, found.numerator, found.denominator) == (None,) * 4
        # all facts are of one entity, of which no resample differs
        assert found.problem == ("no interval: a single cluster" if name == "J" else None)
        assert value(result, f"{name}_wordings_spread", where) == pytest.approx(spread), name
        assert value(result, f"{name}_wordings_lowest", where) == pytest.approx(min(values))
        assert value(result, f"{name}_wordings_highest", where) == pytest.approx(max(values))
    lost = estimate(result, "KCR_wordings", "form:long")
    assert (lost.value, lost.problem) == (None, "undefined in wording 2")
    assert (lost.n, lost.missing) == (4, 4)
    assert value(result, "UUR_wordings", "form:long") == 0.0
    # the headline is the first wording's
    assert value(result, "J", where) == pytest.approx(1 / 4)
    assert "|wordings:3-" in signature_text(estimate(result, "J", where).signature)
    assert result.manifest.prompts["uncle_frame_3"].endswith("{question}")
    measured = sayso.measure(result.path).estimates
    assert measured == result.estimates


def test_every_wording_differs_from_every_other() -> None:
    chosen = settings.replace(uncle.Settings(), {"wordings": 4})
    asks = uncle.collect.requests([SHORT, LONG], chosen, seed=0)
    for form, question in (("short", "q0.0?"), ("long", "Long e0.")):
        said = [*texts(asks, form)[1:], *texts(asks, f"wordings-{form}")]
        assert len(set(said)) == 4
        for text, words in zip(said, SAID, strict=True):
            assert question in text
            assert words in text
    assert texts(asks, "probe") == ["q0.0?"] * 5


def test_probes_can_be_drawn_in_every_wording(tmp_path: Path) -> None:
    # aspect 0 is right in the second wording only, 1 never, 2 perhaps: any of two times two
    probes = ["ii", "ii", "ii"], ["ic", "ii", "i?"]
    fields = {"wordings": 2, "probe_wordings": True, "probe.k": 2}
    result = reworded(tmp_path, probes, ["ciu", "ciu"], ["ciu", "ciu"], **fields)
    known = estimate(result, "p_known", "form:short")
    assert (known.numerator, known.denominator, known.missing) == (1, 2, 1)
    assert "known:any-of-2x2@T1|" in signature_text(known.signature)
    one = sayso.measure(result.path, **{"probe.k": 1}).estimates
    assert estimate(one, "p_known", "form:short").denominator == 3
    assert value(one, "p_known", "form:short") == 0.0
    fields |= {"known_from": str(result.path), "name": "b"}
    assert reworded(tmp_path, probes, ["ciu", "ciu"], ["ciu", "ciu"], **fields).estimates
    fields |= {"probe_wordings": False, "name": "c"}
    with pytest.raises(InputError, match="its probes were drawn in other wordings"):
        reworded(tmp_path, probes, ["ciu", "ciu"], ["ciu", "ciu"], **fields)


def test_a_context_stands_before_the_frame() -> None:
    question = Question("s", "d", "q?", golds=(), context="Given this.")
    chosen = settings.replace(uncle.Settings(), {"wordings": 2})
    (second,) = texts(uncle.collect.requests([question], chosen, seed=0), "wordings-short")
    assert second.startswith("Given this.\n\nPlease respond to this: q? If you do not know")


def test_frames_can_be_your_own_and_must_hold_the_question(tmp_path: Path) -> None:
    frame = tmp_path / "uncle_frame_2.txt"
    frame.write_text("{question} {Answer} {question}", encoding="utf-8")
    changes = {"wordings": 2, "prompt_folder": str(tmp_path)}
    chosen = settings.replace(uncle.Settings(), changes)
    (second,) = texts(uncle.collect.requests([SHORT], chosen, seed=0), "wordings-short")
    assert second.startswith("q0.0? {Answer} q0.0? If you")
    ours = settings.replace(uncle.Settings(), {"wordings": 2})
    assert uncle.collect.prompts(chosen)["wordings"] != uncle.collect.prompts(ours)["wordings"]
    frame.write_text("Answer {this}.", encoding="utf-8")
    with pytest.raises(InputError, match=r"uncle_frame_2.txt: must contain \{question\}"):
        uncle.collect.requests([SHORT], chosen, seed=0)
    assert uncle.collect.requests([SHORT], settings.replace(chosen, {"wordings": 1}), seed=0)


def test_compare_says_what_is_smaller_than_the_spread(tmp_path: Path) -> None:
    short = ["cciuciuu", "cccuuuuu", "uuuuuuuu"]  # J .25, .75, 0: spread .38
    long = ["cccccccc"] * 3
    a = reworded(tmp_path, [PROBES], short, long, wordings=3, name="a")
    (tmp_path / "b").mkdir()
    other = ["cciuciui"]  # J 0
    draws = {"short": ["cc"] * 8, "long": ["cccccccc"] * 2}
    b = reworded(tmp_path / "b", [PROBES], other, long, draws, propensity=2)
    (note,) = [n for n in sayso.compare(a.path, b.path).notes if "wordings" in n]
    assert note.startswith("short form: these differences are smaller than the spread")
    assert "J (wordings: 0.382)" in note  # one entity: no interval, so no value
    assert "FA" not in note
    # UUR .5, 1, 1: spread .29, and the difference is .25
    assert "UUR -0.250 (wordings: 0.289)" in note
    plain = reworded(tmp_path, [PROBES], short, long, name="plain")
    assert not [n for n in sayso.compare(plain.path, b.path).notes if "wordings" in n]


def test_the_report_shows_the_checks_where_there_are_any(tmp_path: Path) -> None:
    draws = {"short": ["cu"] * 8, "long": ["cccccccc"] * 2}
    short, long = ["cciuciuu", "cccuuuuu"], ["cccccccc"] * 2
    checks = {"propensity": 2, "wordings": 2, "name": "on"}
    on = reworded(tmp_path, [PROBES], short, long, draws, **checks)
    off = reworded(tmp_path, [PROBES], short, long, name="off")
    for result, there in ((on, True), (off, False)):
        page = report.write(result.path).read_text(encoding="utf-8")
        assert ("Further draws and other wordings" in page) is there
        console = Console(width=200, record=True, file=io.StringIO())
        render(result.estimates, console)
        said = console.export_text()
        assert ("unknown facts 50 % of the time and known facts 50 %" in said) is there
        # so few facts give J no interval, and it is printed nowhere without one
        assert "J of short answers averages" not in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"propensity": -1}, "propensity is -1; expected 0 to 1000"),
        ({"wordings": 0}, "wordings is 0; expected 1 to 4"),
        ({"wordings": 5}, "wordings is 5; expected 1 to 4"),
        ({"probe_wordings": True}, "probe_wordings needs wordings of at least 2"),
        ({"propensity": 2, "probe.temperature": 0}, "propensity needs draws that can differ"),
    ],
)
def test_limits_of_the_checks(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        uncle.settings.check(settings.replace(uncle.Settings(), changes))


@pytest.mark.parametrize("name", ["propensity", "wordings"])
def test_the_checks_cannot_be_added_afterwards(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    with pytest.raises(InputError, match=f"setting {name} changes what is asked"):
        sayso.measure(result.path, **{name: 3})
