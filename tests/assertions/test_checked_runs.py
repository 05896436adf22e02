"""Assertions about stored runs: what decides, what is refused, and what other tools are given."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.assertions import written
from sayso.assertions.check import CheckedAssertions, DecidedAssertion, old_answers
from sayso.assertions.decide import NOMINAL
from sayso.engines.scripted import ScriptedEngine
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from sayso.records import Estimate, InputError
from sayso.runs.result import Result
from sayso.storage.run_folder import Manifest, RunFolder
from support.scripted_world import Fact, Mind, chance, facts, records, write
from support.tables import tabled

WORLD = facts(20)
SMALL = replace(uncle.Settings(), {"resamples": 200, "probe.k": 2, "short_only": True})


def knows(fact: Fact) -> float:
    return float(chance("knows", fact.question) < 0.5)


def hedges(fact: Fact, instructed: bool) -> bool:
    """Hedge nine of ten facts that it does not know, and one of twenty that it knows."""
    return instructed and chance("hedges", fact.question) < (0.05 if knows(fact) else 0.9)


class Served(ScriptedEngine):
    """What answers behind an endpoint's name."""

    def __init__(self, mind: Mind) -> None:
        super().__init__(mind, "m")
        self.identity = self.base = "api:m"
        self.address = "http://a/v1"


def made(folder: Path, name: str, engine: Any, cache: str = "cache", **more: Any) -> Result:
    data = str(write(folder / "q.jsonl", records(WORLD)))
    place = {"data": data, "out": folder / name, "cache": folder / cache}
    return sayso.run(report=False, model=engine, options=SMALL, **place, **more)


def near(run: Path, less: float = 0.01) -> str:
    """Assert that J is at least a little less than it is: so few facts cannot say that."""
    value = next(
        e.value
        for e in RunFolder.open(run).read("metrics/uncle", Estimate)
        if (e.name, e.where) == ("J", (("form", "short"),))
    )
    assert value is not None
    return f"J[short] >= {value - less:.3f}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: a model that hedges what it does not know, and the same model when it never does.

    The second is judged by the first one's knowledge.
    """
    place = tmp_path_factory.mktemp("asserted")
    made(place, "good", Mind(WORLD, knows, hedges).engine("good"))
    base = Mind(WORLD, knows).engine("good")
    made(place, "silent", base, "other", settings={"known_from": str(place / "good")})
    return place


def checked(run: Path, *assertions: str, **more: Any) -> CheckedAssertions:
    return sayso.check_assertions(run, assertions, **more)


def test_a_run_is_decided_on_its_intervals_and_left_as_it_is(folder: Path) -> None:
    run = folder / "good"
    before = {f: f.read_bytes() for f in run.rglob("*") if f.is_file()}
    found = checked(run, "J[short] >= .2", "UUR[short] <= 20%", near(run))
    assert [one.verdict for one in found] == ["holds", "does not", "cannot say yet"]
    assert found.verdict == "does not"
    assert (found.code(), found.code(strict=True)) == (1, 1)
    third = found.decided[2]
    assert third.needed is not None
    assert third.needed > third.entities == 20
    stored = next(
        e
        for e in RunFolder.open(run).read("metrics/uncle", Estimate)
        if (e.name, e.where) == ("J", (("form", "short"),))
    )
    assert found.decided[0].value == third.value == stored.value
    # one of three holds: it was tested at a third of the error, and what is open at a half
    assert found.decided[0].error == pytest.approx(NOMINAL / 3)
    assert third.error == NOMINAL / 2
    assert found.decided[0].low < third.low < stored.low  # type: ignore[operator]
    assert before == {f: f.read_bytes() for f in run.rglob("*") if f.is_file()}


def test_alone_an_assertion_has_the_whole_error(folder: Path) -> None:
    run = folder / "good"
    alone = checked(run, near(run)).decided[0]
    several = checked(run, near(run), near(run, 0.02)).decided[0]
    assert alone.error == NOMINAL
    assert alone.level == 1 - 2 * NOMINAL
    assert several.error == alone.error / 2
    assert several.low < alone.low < alone.high < several.high  # type: ignore[operator]


def test_a_release_that_is_worse_is_told_how_many_entities_settle_it(folder: Path) -> None:
    both = {"base": folder / "good", "resamples": 200}
    (whole,) = checked(folder / "silent", "J[short] not worse by 0", **both)
    assert whole.value is not None
    assert whole.value < -0.5
    (one,) = checked(folder / "silent", f"J[short] not worse by {0.02 - whole.value:.3f}", **both)
    assert one.verdict == "cannot say yet"
    assert one.needed is not None
    assert one.needed > one.entities


def test_facts_of_the_run_are_decided_on_their_value(folder: Path) -> None:
    run = folder / "good"
    tokens = RunFolder.open(run).read_manifest().tokens
    texts = (
        "missing <= 0", "missing[short] <= 2%", "failed <= 0", "entities >= 20",
        f"requests <= {tokens['requests']}", f"requests < {tokens['requests']}",
        "cell_kc[short] >= 1", "J[short] >= -.9",
    )  # fmt: skip
    found = checked(run, *texts)
    assert [one.verdict for one in found] == [*["holds"] * 5, "does not", "holds", "holds"]
    assert all("without sampling error" in one.reason for one in found.decided[:7])
    assert found.decided[7].error == NOMINAL  # the only one that shares it


def test_a_value_without_an_interval_cannot_be_decided(folder: Path) -> None:
    (one,) = checked(folder / "silent", "UA[short] >= .5")
    assert one.verdict == "cannot say yet"
    assert one.value is None
    assert one.reason
    assert one.needed is None
    (policy,) = checked(folder / "good", "FA[short, always] >= .5")
    assert (policy.verdict, policy.needed) == ("cannot say yet", None)


def test_the_difference_of_two_runs(folder: Path) -> None:
    more = {"base": folder / "good", "resamples": 200}
    found = checked(
        folder / "silent", "J[short] not worse by .05", "J[short] <= -.1", "J[short] better by 0",
        **more,
    )  # fmt: skip
    assert [one.verdict for one in found] == ["does not", "holds", "does not"]
    same = checked(folder / "good", "J[short] not worse by .05", **more)
    assert same.verdict == "holds"  # the difference of a run and itself is 0


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((), "there is no assertion"),
        (("J[short] >= .2", "J[short]  >= .2"), "there twice"),
        (("J[short] not worse by .05",), "needs two runs: sayso compare BASE NEW --assert"),
        (("JJ[short] >= .2",), "did you mean J"),
        (("FA[short] <= 30",), r"FA lies between 0 and 1; did you mean 30%\?"),
        (("missing <= 2",), r"missing lies between 0 and 1; did you mean 2%\?"),
        (("J[short] >= -2",), "J lies between -1 and 1$"),
        (("selective/J[short] >= .2",), "there is no run of selective here"),
    ],
)
def test_mistakes_are_one_line(folder: Path, texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked(folder / "good", *texts)


def test_a_folder_of_several_runs_of_one_protocol_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"several runs of uncle, such as .*good and .*silent"):
        checked(folder, "J[short] >= .2")
    with pytest.raises(InputError, match="does not exist"):
        checked(folder / "nowhere", "J[short] >= .2")


# ---- answers from the cache


def test_old_answers_of_an_endpoint_satisfy_nothing(tmp_path: Path) -> None:
    engine = Served(Mind(WORLD, knows, hedges))
    first = made(tmp_path, "first", engine)
    assert checked(first.path, "J[short] >= .2").verdict == "holds"
    second = made(tmp_path, "second", engine)
    with pytest.raises(InputError, match=r"answers are from the cache.* --fresh .*--allow-cache"):
        checked(second.path, "J[short] >= .2")
    assert checked(second.path, "J[short] >= .2", allow_cache=True).verdict == "holds"
    # a base may be of any age
    more: dict[str, Any] = {"base": second.path, "resamples": 200}
    assert checked(first.path, "J[short] not worse by .05", **more).verdict == "holds"
    fresh = made(tmp_path, "fresh", engine, fresh=True)
    assert checked(fresh.path, "J[short] >= .2").verdict == "holds"


@tabled
def test_what_the_command_itself_asked_is_not_old(
    identity: str, cached: dict[str, Any], number: int
) -> None:
    assert old_answers(Manifest(model_identity=identity, cached=cached)) == number


# ---- the command line


def call(*words: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.execute([str(word) for word in words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_command_prints_verdicts_and_returns_their_code(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, xml, table = folder / "good", tmp_path / "v.xml", tmp_path / "v.md"
    code, out, _ = call("assert", run, "J[short] >= .2", "missing <= 2%", capsys=capsys)
    assert code == 0
    assert out.splitlines()[0].split()[:1] == ["holds"]
    files = ("--junit", xml, "--markdown", table)
    code, out, _ = call("assert", run, near(run), *files, capsys=capsys)
    assert code == 3
    assert "entities would settle it with a chance of 80 %" in out
    assert "<skipped" in xml.read_text(encoding="utf-8")
    code, _, _ = call("assert", run, near(run), "--strict", *files, capsys=capsys)
    assert code == 1
    assert "<failure" in xml.read_text(encoding="utf-8")
    assert "cannot say yet" in table.read_text(encoding="utf-8")
    code, out, _ = call("assert", run, "J[short] <= .2", "--json", capsys=capsys)
    assert code == 1
    shown = json.loads(out)
    assert (shown["verdict"], shown["exit_code"]) == ("does not", 1)
    assert shown["decided"][0]["name"] == "J[short]"
    code, out, err = call("assert", run, "J[shrt] >= .99", capsys=capsys)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_assertions_from_a_file_of_settings(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(
        'assertions:\n  - "J[short] >= .2"\n  - "UUR[short] <= 20%"\nstrict: true\n',
        encoding="utf-8",
    )
    code, out, err = call("assert", folder / "good", "--config", gate, capsys=capsys)
    assert code == 1, err
    assert [row.split("  ")[0] for row in out.splitlines()[:2]] == ["holds", "does not"]


def test_a_comparison_has_them_under_the_same_name(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("assertions: ['J[short] not worse by .05']\nresamples: 200\n", encoding="utf-8")
    both = ("compare", folder / "good", folder / "silent")
    code, out, err = call(*both, "--config", gate, capsys=capsys)
    assert (code, out.split("  ")[0]) == (1, "does not"), err


def test_compare_asserts_differences(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ("compare", folder / "good", folder / "silent", "--set", "resamples=200")
    code, out, _ = call(*both, "--assert", "J[short] not worse by .05", capsys=capsys)
    assert code == 1
    assert out.startswith("does not")
    code, _, err = call(*both, "--strict", capsys=capsys)
    assert code == 2
    assert "are for --assert" in err
    code, out, _ = call(*both, capsys=capsys)
    assert code == 0


# ---- files for other tools

HOSTILE = "x|y <b>]]></failure> `@team` [a](http://b) \x1b[31m\x00 \ud800 <!-- --> & ::error::"


def decision(text: str = "J[short] >= .2", verdict: Any = "does not", **more: Any) -> Any:
    own = {
        "assertion": text, "verdict": verdict, "protocol": "uncle", "run": HOSTILE,
        "name": "J[short]", "where": {"form": "short"}, "value": 0.1, "low": 0.05, "high": 0.15,
        "level": 0.9, "error": 0.05, "n": 40, "missing": 0, "entities": 20,
    }  # fmt: skip
    return DecidedAssertion(**{**own, **more})


def several(count: int = 1) -> CheckedAssertions:
    kinds = ("holds", "does not", "cannot say yet")
    rows = tuple(
        decision(f"J[{HOSTILE} {n}] >= .2", kinds[n % 3], reason="the interval contains the limit")
        for n in range(count)
    )
    return CheckedAssertions(rows, HOSTILE, model=HOSTILE, finished="2026-11-27T16:31:58+00:00")


@pytest.mark.parametrize("strict", [False, True])
def test_junit_is_as_its_readers_expect(strict: bool) -> None:
    text = written.junit_of(several(6), strict=strict)
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    (suite,) = root
    wanted = {"tests": "6", "failures": "4" if strict else "2", "errors": "0"}
    wanted["skipped"] = "0" if strict else "2"
    for element in (root, suite):
        assert {key: element.get(key) for key in wanted} == wanted
    assert suite.get("name") == "sayso.uncle"
    assert suite.get("timestamp") == "2026-11-27T16:31:58"
    assert len(suite.findall("testcase")) == 6
    assert len(suite.findall("testcase/failure")) == int(wanted["failures"])
    assert len(suite.findall("testcase/skipped")) == int(wanted["skipped"])
    for case in suite:
        assert case.tag == "testcase"
        assert set(case.attrib) == {"classname", "name", "time"}
        assert {child.tag for child in case} <= {"failure", "skipped", "system-out"}
    assert "\x1b" not in text
    assert "\x00" not in text


def test_markdown_fits_a_comment_and_shows_text_as_text() -> None:
    text = written.markdown_of(several(2_000))
    assert len(text) < 60_000
    assert "more" in text.splitlines()[-4:][0] or "more |" in text
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert {row.count("|") for row in rows} == {5}  # four cells in every row
    body = text.replace(written.MARKDOWN_MARK, "")
    for markup in ("<b>", "`", "@team", "](", "http://", "<!--", "::", "\x1b"):
        assert markup not in body, markup
    assert rows[2].startswith("| ❌ does not")  # what fails comes first


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "results.xml"
    place.write_text("<testsuites/>", encoding="utf-8")
    with pytest.raises(InputError, match="was not written by sayso assert"):
        written.write_verdicts(place, written.junit_of(several()), "--junit")
    assert place.read_text(encoding="utf-8") == "<testsuites/>"
    ours = tmp_path / "ours.md"
    for count in (1, 2):
        written.write_verdicts(ours, written.markdown_of(several(count)), "--markdown")
    assert ours.read_text(encoding="utf-8") == written.markdown_of(several(2))
    with pytest.raises(InputError, match="is a folder"):
        written.write_verdicts(tmp_path, written.markdown_of(several()), "--markdown")


def test_json_is_what_was_decided() -> None:
    shown = json.loads(written.json_of(several(3)))
    assert [row["verdict"] for row in shown["decided"]] == ["holds", "does not", "cannot say yet"]
    assert msgspec.convert(shown["decided"][0], DecidedAssertion).needed is None
