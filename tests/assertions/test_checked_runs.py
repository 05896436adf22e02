"""Assertions about stored runs: what decides, what is refused, and what other tools are given."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.assertions import written
from sayso.assertions.check import CheckedAssertions, DecidedAssertion, old_answers
from sayso.assertions.decide import NOMINAL
from sayso.protocols import PROTOCOLS, selective, uncle
from sayso.protocols.comparing import same_answers
from sayso.protocols.protocol import ComparedRun
from sayso.protocols.settings import replace
from sayso.records import Estimate, Generation, InputError, Question, Request, Results, Verdict
from sayso.runs.measure import load_run
from sayso.runs.result import Result
from sayso.storage.run_folder import Manifest, RunFolder
from support.scripted import ScriptedEngine
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
    median = checked(run, "answer_words[short] <= 12")
    assert (median.verdict, median.decided[0].value > 0) == ("cannot say yet", True)
    words = (one for p in PROTOCOLS.values() for one in p.metrics.values())
    counts = [one.explained for one in words if one.notation == "count"]
    assert counts
    assert not [text for text in counts if re.search(r"(?i)\b(median|mean|average)", text)]


def damaged(source: Path, run: Path, table: str, changed: Callable[[list[Any]], list[Any]]) -> Path:
    """Return a copy of a run of which the rows of a table were changed."""
    shutil.copytree(source, run)
    held = RunFolder.open(run)
    kinds = {"questions": Question, "generations": Generation, "verdicts": Verdict}
    kind: type[Any] = kinds[table.partition("/")[0]]
    held.write(table, changed(held.read(table, kind)), kind)
    return run


def contradicted(rows: list[Verdict]) -> list[Verdict]:
    return [*rows, *(msgspec.structs.replace(one, stance="abstained") for one in rows[:3])]


@pytest.mark.parametrize(
    ("table", "changed", "why"),
    [
        ("questions", lambda rows: [*rows[3:], *rows[3:6]], "lacks 3 of the rows"),
        ("generations/short", lambda rows: [*rows[3:], *rows[3:6]], "lacks 3 of the rows"),
        ("generations/probe", lambda rows: rows[3:], "lacks 3 of the rows"),
        ("verdicts/short", lambda rows: rows[3:], "lacks 3 of the rows"),
        ("verdicts/short", contradicted, "has 3 rows a second time"),
        ("verdicts/probe", lambda rows: [*rows, rows[0]], "has 1 rows a second time"),
    ],
)
def test_a_run_that_is_not_as_it_was_written_decides_nothing(
    folder: Path,
    tmp_path: Path,
    table: str,
    changed: Callable[[list[Any]], list[Any]],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = damaged(folder / "good", tmp_path / "cut", table, changed)
    for gate in (("assert", run), ("compare", folder / "good", run, "--assert")):
        code, _, err = call(*gate, "J[short] >= -.9", capsys=capsys)
        assert (code, f"cut/{table}.parquet {why}" in err) == (2, True)


#: a count of answers
COUNTED = "cell_kc[short] <= 8"


def test_what_an_older_run_lost_is_missing(folder: Path, tmp_path: Path) -> None:
    """Its manifest counts no rows: verdicts that are gone are missing, and no number is old."""
    run = damaged(
        folder / "good", tmp_path / "cut", "verdicts/short", lambda rows: rows[: len(rows) // 4]
    )
    held = RunFolder.open(run)
    held.write_manifest(msgspec.structs.replace(held.read_manifest(), rows={}))
    found = checked(run, "missing <= 2%", "missing[short] <= 70%", COUNTED)
    assert [one.verdict for one in found] == ["does not", "does not", "cannot say yet"]
    assert 0 < found.decided[2].value < checked(folder / "good", COUNTED).decided[0].value
    assert found.decided[1].value == pytest.approx(0.75, abs=0.02)
    held.write_manifest(msgspec.structs.replace(held.read_manifest(), model_signature="other"))
    with pytest.raises(InputError, match=r"manifest\.json says model 'other'.* are of 'good"):
        checked(run, "missing <= 2%")


def test_a_value_without_an_interval_cannot_be_decided(folder: Path) -> None:
    (one,) = checked(folder / "silent", "UA[short] >= .5")
    assert one.verdict == "cannot say yet"
    assert one.value is None
    assert one.reason
    assert one.needed is None
    (policy,) = checked(folder / "good", "FA[short, always] >= .5")
    assert (policy.verdict, policy.needed) == ("cannot say yet", None)
    # how often it is right without hedging is no matter of definition, and has no interval
    found = checked(folder / "good", "FA[short, never] >= .01", "J[short, never] <= 0")
    assert [one.verdict for one in found] == ["cannot say yet", "holds"]


def test_the_difference_of_two_runs(folder: Path) -> None:
    more = {"base": folder / "good", "resamples": 200}
    found = checked(
        folder / "silent", "J[short] not worse by .05", "J[short] <= -.1", "J[short] better by 0",
        **more,
    )  # fmt: skip
    assert [one.verdict for one in found] == ["does not", "holds", "does not"]
    same = checked(folder / "good", "J[short] not worse by .05", **more)
    assert same.verdict == "holds"  # the difference of a run and itself is 0
    assert written.found_text(same.decided[0]) == "0.00"


@pytest.mark.parametrize(
    ("table", "change", "verdicts"),
    [
        ("generations/short", lambda one: {"text": f"{one.text}."}, ["cannot say yet", "holds"]),
        ("generations/short", lambda one: {"thinking": "Well."}, ["cannot say yet", "holds"]),
        ("verdicts/short", lambda one: {"by": "another"}, ["cannot say yet", "holds"]),
        ("generations/probe", lambda one: {"text": f"{one.text}."}, ["cannot say yet"] * 2),
        ("generations/short", lambda one: {"finish": "stop"}, ["holds", "holds"]),
    ],
)
def test_one_model_is_not_one_set_of_answers(
    folder: Path,
    tmp_path: Path,
    table: str,
    change: Callable[[Any], dict[str, Any]],
    verdicts: list[str],
) -> None:
    """Other answers of a model of one name, read alike: that no difference is seen proves none.

    What is known is a matter of the probes alone, and a paragraph none of short answers.
    """
    base = folder / "silent"
    run = damaged(
        base, tmp_path / "new", table,
        lambda rows: [msgspec.structs.replace(one, **change(one)) for one in rows],
    )  # fmt: skip
    texts = ("UUR[short] not worse by .05", "p_known[short] not worse by .01")
    found = checked(run, *texts, base=base, resamples=200)
    assert [one.verdict for one in found] == verdicts
    for one in found:
        settled = "without sampling error" if one.verdict == "holds" else "entities would settle it"
        assert settled in written.sentence(one)
        assert written.found_text(one).startswith("0.0 pp")
    compared = Results(sayso.compare(base, run, resamples=200).estimates)
    for name, verdict in zip(("UUR", "p_known"), verdicts, strict=True):
        gap = compared.get(name, form="short")
        assert (gap.low == gap.high == gap.value == 0) is (verdict == "holds"), gap
    held = [ComparedRun(str(one), *load_run(one)) for one in (base, run)]
    assert same_answers(*held, "long") is ("probe" not in table)
    live = msgspec.structs.replace(held[1].manifest, model_identity="api:a name says little")
    assert not same_answers(held[0], held[0]._replace(manifest=live), "long")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((), "there is no assertion"),
        (("J[short] >= -1",), "so this never fails"),
        (("missing < 1",), r"so this hardly ever fails; did you mean 1%\?"),
        (("missing >= 0",), "so this never fails"),
        (("missing < 0",), "so this can never hold"),
        (("requests >= 0",), "so this never fails"),
        (("FA[short] <= 150%",), "FA lies between 0 and 1, so this never fails$"),
        (("J[short] >= .2", "J[short]  >= .2"), "there twice"),
        (("J[short] not worse by .05",), "needs two runs: sayso compare BASE NEW --assert"),
        (("JJ[short] >= .2",), "did you mean J"),
        (("FA[short] <= 30",), r"FA lies between 0 and 1, .*; did you mean 30%\?"),
        (("missing <= 2",), r"missing lies between 0 and 1, .*; did you mean 2%\?"),
        (("J[short] >= -2",), "J lies between -1 and 1, .*did you mean -2%"),
        (("selective/J[short] >= .2",), "there is no run of selective here"),
    ],
)
def test_mistakes_are_one_line(folder: Path, texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked(folder / "good", *texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("J[short] not worse by 5", r"between -2 and 2, so this never fails; did you mean 5%\?"),
        ("J[short] >= -5", "never fails"),
        ("J[short] not worse by 1", r"hardly ever fails; did you mean 1%\?"),
        ("FA[short] <= 150%", "FA lies between -1 and 1, so this never fails$"),
        ("KCR[short] not worse by 100%", "never fails"),
        ("J[short] better by 3", "can never hold"),
    ],
)
def test_a_gate_that_cannot_fail_is_refused_for_two_runs_too(
    folder: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        checked(folder / "good", text, base=folder / "good", resamples=200)


def test_the_cost_may_be_more_than_a_dollar(folder: Path) -> None:
    """It is no share: a limit of five dollars is no limit of five percent."""
    (one,) = checked(folder / "good", "dollars <= 5")
    assert one.verdict == "holds" or one.value is None


def test_a_folder_of_several_runs_of_one_protocol_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"several runs of uncle, such as .*good and .*silent"):
        checked(folder, "J[short] >= .2")
    with pytest.raises(InputError, match="does not exist"):
        checked(folder / "nowhere", "J[short] >= .2")


def unread(source: Path, run: Path, *tables: str) -> Path:
    """Return a copy of a run in which half of the verdicts could not be read."""
    shutil.copytree(source, run)
    folder = RunFolder.open(run)
    for table in tables:
        verdicts = folder.read(table, Verdict)
        half = [
            Verdict(v.target, v.asked, v.by, problem="unread") if chance(v.target) < 0.5 else v
            for v in verdicts
        ]
        folder.write(table, half, Verdict)
    sayso.measure(run)
    return run


def test_unread_verdicts_leave_two_equal_runs_undecided(folder: Path, tmp_path: Path) -> None:
    half = unread(folder / "good", tmp_path / "half", "verdicts/short")
    (one,) = checked(half, "J[short] not worse by .05", base=half, resamples=200)
    assert one.verdict == "cannot say yet"
    assert one.missing > 0
    assert "could not be read" in one.reason


# ---- questions that nobody can answer

QUESTIONS = {f"Where was {name}{n} born?": n % 2 for n in range(30) for name in ("A", "B")}


def declining(folder: Path, name: str, declines: Callable[[str], bool]) -> Path:
    """Return a run of a model that declines some of sixty questions, half of which have no answer.

    It is wrong about every fifth question that has one, and declines nothing when it may hedge.
    """
    rows = [
        {"question": q, "entity": q, "answerable": not none, **({} if none else {"gold": "Rome"})}
        for q, none in QUESTIONS.items()
    ]

    def says(request: Request) -> str:
        text = request.messages[-1].content
        question = next(q for q in QUESTIONS if q in text)
        plain = text.strip().endswith(question)
        if plain and declines(question):
            return "I don't know."
        return "Oslo" if chance("wrong", question) < 0.2 else "Rome"

    options = selective.Settings(draws=selective.SelectiveDraws(k=0), known_k=0, resamples=200)
    return sayso.run(
        "selective", model=ScriptedEngine(says, name=name), options=options, report=False,
        data=f"file:{write(folder / 'q.jsonl', rows)}", out=folder / name,
        cache=folder / f"c-{name}",
    ).path  # fmt: skip


@pytest.fixture(scope="module")
def decliners(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run that declines what has no answer, and one that declines some of the other questions."""
    place = tmp_path_factory.mktemp("declining")
    wise = declining(place, "wise", lambda q: bool(QUESTIONS[q]))
    return wise, declining(place, "bold", lambda q: not QUESTIONS[q] and chance("shy", q) < 0.2)


def test_what_is_declined_of_either_half_is_decided_for_two_runs(
    decliners: tuple[Path, Path], tmp_path: Path
) -> None:
    """The questions of the other half are not missing; an unread verdict of the own half is."""
    wise, bold = decliners
    texts = ("abstains_unanswerable not worse by .05", "abstains_answerable not worse by .5")
    found = checked(bold, *texts, "error rate not worse by 5%", base=wise, resamples=200)
    assert [one.verdict for one in found] == ["does not", "holds", "does not"]
    assert [one.missing for one in found] == [0, 0, 0]
    half = unread(bold, tmp_path / "half", "verdicts/short")
    found = checked(half, texts[0], base=wise, resamples=200)
    assert found.verdict == "cannot say yet"
    assert 0 < found.decided[0].missing < 30


@pytest.mark.parametrize(
    ("name", "like", "told"),
    [
        ("abstains_unanswerable", "abstains_unanswerable[short, rules]", False),
        ("abstains_unanswerable[plain]", "abstains_unanswerable[short, rules]", False),
        ("abstains_unanswerable[instructed]", "", True),
        ("abstention gap", "abstention_gap[short, rules]", False),
        ("G[short, plain]", "abstention_gap[short, rules]", False),
        ("error rate", "error_rate[short, rules]", False),
    ],
)
def test_what_goes_without_saying_need_not_be_said(
    decliners: tuple[Path, Path], name: str, like: str, told: bool
) -> None:
    (one,) = checked(decliners[0], f"{name} >= .01")
    assert (one.where.get("method") == "instructed") is told
    assert one.where["against"] == "rules"
    assert one.name == (like or one.name)


def test_plain_answers_of_uncle_are_not_the_instructed_ones(folder: Path) -> None:
    told, plain = checked(folder / "good", "J[instructed] >= .1", "J[plain] >= .1")
    assert (told.name, plain.name) == ("J[short]", "J[short, plain]")
    with pytest.raises(InputError, match="no J_within has these parts"):
        checked(folder / "good", "J_within[plain] >= .1")


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
    assert checked(first.path, "J[short] not worse by .05", **more).verdict == "cannot say yet"
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


#: what is called first at each stage of a gate
STAGES = {
    "open": "check.whole_run", "parse": "check.parse_assertion", "measure": "check.at_level",
    "decide": "check.decide", "write": "written.terminal_lines",
}  # fmt: skip
FAILURES = (
    RuntimeError("broken\nin two"), KeyError("J"), MemoryError(), RecursionError("deep"),
    ZeroDivisionError("x"), OSError(28, "No space left"), BrokenPipeError(32, "Broken pipe"),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), SystemExit(0), InputError("a mistake"),
)  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("command", ["assert", "compare"])
def test_whatever_fails_in_a_gate_is_code_2_and_the_files_say_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, stage: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run, xml, table = folder / "good", tmp_path / "v.xml", tmp_path / "v.md"
    files = ("--junit", xml, "--markdown", table)
    words = {
        "assert": ("assert", run, "J[short] >= .2", "missing <= 2%", *files),
        "compare": ("compare", run, run, "--assert", "J[short] not worse by .05", *files),
    }[command]
    assert call(*words, capsys=capsys)[0] == 0
    for failure in FAILURES:
        with monkeypatch.context() as patch:

            def failing(*_: object, failure: BaseException = failure, **__: object) -> NoReturn:
                raise failure

            patch.setattr(f"sayso.assertions.{STAGES[stage]}", failing)
            code, out, err = call(*words, capsys=capsys)
        assert (code, out) == (2, ""), failure
        assert len(err.splitlines()) == 1
        why = "a mistake" if isinstance(failure, InputError) else type(failure).__name__
        root = ElementTree.parse(xml).getroot()
        assert root.get("errors") == root.get("tests") != "0"
        assert {why in (one.get("message") or "") for one in root.iter("error")} == {True}
        assert why in err
        assert isinstance(failure, InputError) or "failed while" in err
        assert why in table.read_text(encoding="utf-8")
        assert "nothing was decided" in table.read_text(encoding="utf-8")


@pytest.mark.parametrize("out", ["/dev/full", "closed pipe"])
def test_verdicts_that_nobody_can_read_are_code_2(folder: Path, tmp_path: Path, out: str) -> None:
    """Nor 120, as what Python cannot write at its end. Who closes a pipe has read enough."""
    table = tmp_path / "v.md"
    words = ("assert", folder / "good", "J[short] <= .2", "--markdown", table)
    command = [sys.executable, "-m", "sayso", *map(str, words)]
    if out == "/dev/full":
        if not Path(out).exists():
            pytest.skip("there is no /dev/full")
        with open(out, "w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    else:
        read, write_end = os.pipe()
        os.close(read)
        done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
        os.close(write_end)
        assert (done.returncode, done.stderr) == (1, b"")
        assert "does not" in table.read_text(encoding="utf-8")
        return
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "nothing was decided" in table.read_text(encoding="utf-8")


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
    # what is typed is added to what the file says, and takes the place of no gate
    also = ("--config", gate, "--assertions", "missing <= 90%")
    code, out, err = call("assert", folder / "good", *also, capsys=capsys)
    assert code == 1, err
    assert [r.split("  ")[0] for r in out.splitlines()[:3]] == ["holds", "does not", "holds"]


def test_a_comparison_has_them_under_the_same_name(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("assertions: ['J[short] not worse by .05']\nresamples: 200\n", encoding="utf-8")
    both = ("compare", folder / "good", folder / "silent")
    code, out, err = call(*both, "--config", gate, capsys=capsys)
    assert (code, out.split("  ")[0]) == (1, "does not"), err
    code, out, err = call(
        *both, "--config", gate, "--assert", "J[short] not worse by .99", capsys=capsys
    )
    assert code == 1, err


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
    with pytest.raises(InputError, match=r"cannot write .*File name too long"):
        written.write_verdicts(tmp_path / ("x" * 300), written.junit_of(several()), "--junit")
    assert place.read_text(encoding="utf-8") == "<testsuites/>"
    ours = tmp_path / "ours.md"
    for count in (1, 2):
        written.write_verdicts(ours, written.markdown_of(several(count)), "--markdown")
    assert ours.read_text(encoding="utf-8") == written.markdown_of(several(2))
    with pytest.raises(InputError, match="was not written by sayso assert"):
        written.write_verdicts(ours, written.junit_of(several()), "--junit")
    with pytest.raises(InputError, match="is a folder"):
        written.write_verdicts(tmp_path, written.markdown_of(several()), "--markdown")


def test_json_is_what_was_decided() -> None:
    shown = json.loads(written.json_of(several(3)))
    assert [row["verdict"] for row in shown["decided"]] == ["holds", "does not", "cannot say yet"]
    assert msgspec.convert(shown["decided"][0], DecidedAssertion).needed is None
