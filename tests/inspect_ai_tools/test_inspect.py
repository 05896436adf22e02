"""sayso inside Inspect: tasks, scorers, metrics, logs; what ``support.inspect_checks`` found."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.recorded import read_recorded
from sayso.judges.judge import WITHHELD
from sayso.metrics import abstention_gap, confidence_target_utility
from support.tables import tabled

TESTS = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
Facts = dict[str, Any]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None,
    reason='Inspect is not installed: pip install "sayso[inspect]"',
)


def installed(folder: Path) -> dict[str, str]:
    """Return an environment in which sayso is installed as this pyproject.toml says."""
    info = folder / "site" / "sayso-0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sayso\nVersion: 0.0\n")
    entries = PYPROJECT["entry-points"]["inspect_ai"].items()
    lines = "".join(f"{name} = {place}\n" for name, place in entries)
    (info / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    editable = {"url": TESTS.parent.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(editable))
    places = (info.parent, TESTS.parent / "src", TESTS)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "SAYSO_CACHE": str(folder / "cache"),
        "INSPECT_LOG_DIR": str(folder / "logs"),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("inspect")
    done = subprocess.run(
        [sys.executable, "-m", "support.inspect_checks", str(place)],
        cwd=place, env=installed(place), capture_output=True, text=True, check=False, timeout=580,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(scope="module")
def facts(folder: Path) -> Facts:
    found: Facts = json.loads((folder / "facts.json").read_text("utf-8"))
    return found


def by_input(log: Facts, epoch: int = 1) -> dict[str, Facts]:
    return {s["input"]: s for s in log["samples"] if s["epoch"] == epoch}


def column(log: Facts, scorer: str) -> list[Any]:
    return [sample["scores"][scorer]["value"] for sample in log["samples"]]


# ---- tasks and scorers


def test_the_task_selective(facts: Facts) -> None:
    log = facts["tasks"]["selective"]
    assert (log["status"], log["error"], log["headline"]) == ("success", None, "J")
    assert len(log["samples"]) == 12  # two epochs of six questions
    first = by_input(log)
    stances = {words[:12]: s["scores"]["stance"]["value"] for words, s in first.items()}
    assert stances == {
        "When was Ada": "committed", "Where was Ad": "committed", "Who wrote Th": "hedged",
        "When did the": "abstained", "What is the ": "abstained", "Who will rul": "committed",
    }  # fmt: skip
    outcomes = {words[:12]: s["scores"]["answered"]["value"] for words, s in first.items()}
    assert outcomes == {
        "When was Ada": "C", "Where was Ad": "I", "Who wrote Th": "C", "When did the": "N",
        "What is the ": "N", "Who will rul": "I",
    }  # fmt: skip
    assert all(s["tokens"] == 10 for s in first.values())
    # both questions about Ada Veld are one cluster
    assert len({s["cluster"] for s in first.values()}) == 5


def test_j_and_right_minus_wrong_are_those_of_our_metrics(facts: Facts) -> None:
    log = facts["tasks"]["selective"]
    withheld = [float(value in WITHHELD) for value in column(log, "stance")]
    unanswerable = [not sample["answerable"] for sample in log["samples"]]
    worth = [{"C": 1.0, "I": -1.0, "N": 0.0}[value] for value in column(log, "answered")]
    metrics = {n: v for s in log["scores"].values() for n, v in s["metrics"].items()}
    gap = abstention_gap(withheld, unanswerable)
    assert isinstance(gap, float)
    assert gap == pytest.approx(1 / 2 - 1 / 4)
    assert abs(metrics["J"] - gap) < 1e-12
    minus = confidence_target_utility(worth, 0.5)
    assert isinstance(minus, float)
    assert abs(metrics["right_minus_wrong"] - minus) < 1e-12
    assert metrics["J_lower"] < metrics["J"] < metrics["J_upper"]
    assert metrics["abstention_rate"] == pytest.approx(1 / 3)
    assert metrics["answered_accuracy"] == pytest.approx(1 / 2)


def test_the_task_uncle_knows_by_its_draws(facts: Facts) -> None:
    log = facts["tasks"]["uncle"]
    assert log["status"] == "success"
    first = by_input(log)
    assert len(first) == 4  # questions without an answer are not asked
    assert all("Express uncertainty" in words for words in first)
    known = {words[:12]: s["scores"]["stance"]["metadata"]["known"] for words, s in first.items()}
    assert known == {
        "When was Ada": True, "Where was Ad": False, "Who wrote Th": False, "When did the": False,
    }  # fmt: skip
    assert all(s["tokens"] == 30 for s in first.values())  # an answer and two draws
    metrics = log["scores"]["stance"]["metrics"]
    assert metrics["J"] == pytest.approx(2 / 3)
    assert metrics["FA"] == pytest.approx(1 / 2)
    assert (metrics["UA"], metrics["KCR"]) == (1, 1)
    assert log["headline"] == "J"


def test_a_model_judges_once_and_what_it_does_not_say_is_unscored(facts: Facts) -> None:
    judged, again = facts["tasks"]["judged"], facts["tasks"]["again"]
    for scorer in ("stance", "answered"):
        for words, sample in by_input(judged).items():
            score = sample["scores"][scorer]
            if "Salt Road" in words:
                assert (score["value"], score["reason"]) == (None, "grader_failed")
                assert score["metadata"]["problem"] == "unread"
            else:
                assert score["value"] == ("abstained" if scorer == "stance" else "N")
                assert score["metadata"]["by"].startswith("mockllm/model#p")
        counts = judged["scores"][scorer]
        assert (counts["scored"], counts["unscored"]) == (10, 2)
    # ten readable answers once; two unreadable ones twice, for each of the two scorers
    assert judged["calls"] == 10 + 2 * 2 * 2
    # scored again by appending, only what could not be read is asked about anew
    assert again["calls"] == judged["calls"] + 2 * 2
    assert set(again["samples"][0]["scores"]) == {"stance", "answered", "stance1"}
    values = {name: again["samples"][0]["scores"][name]["value"] for name in ("stance", "stance1")}
    assert values["stance"] == values["stance1"]


def test_scorers_in_a_task_of_ones_own(facts: Facts) -> None:
    log = facts["tasks"]["own"]
    (sample,) = log["samples"]
    assert [s["value"] for s in sample["scores"].values()] == ["committed", "C"]
    assert "J" not in log["scores"]["stance"]["metrics"]  # nobody says what has an answer


@tabled
def test_no_answer_gets_a_default(
    facts: Facts, case: str, stance: list[Any], answered: list[Any]
) -> None:
    assert facts["states"][case] == [stance, answered]


def test_metadata_that_say_nonsense_are_one_line(facts: Facts) -> None:
    line = facts["states"]["wrong"]
    assert "'perhaps'" in line
    assert "expected answerable to be true or false" in line


# ---- metrics


def test_metrics_of_values(facts: Facts) -> None:
    found = facts["metrics"]
    # a a c c h r b o on sides - + - + + - - -: withheld 3 of 5 without an answer, 1 of 3 with one
    assert found["J"]["J"] == pytest.approx(3 / 5 - 1 / 3)
    assert found["rate"]["abstention_rate"] == pytest.approx(4 / 8)
    assert found["accuracy"]["answered_accuracy"] == pytest.approx(3 / 4)
    assert found["minus"]["right_minus_wrong"] == pytest.approx(2 / 6)
    undefined = ("J one side", "J bare", "J empty", "rate empty", "accuracy none")
    assert [found[name] for name in undefined] == [{}] * 5
    assert "sayso/right_minus_wrong: the score of sample" in found["wrong value"]


def test_epochs_of_a_sample_are_one_cluster(facts: Facts) -> None:
    rows, epochs = facts["metrics"]["rows"], facts["metrics"]["epochs"]
    name = "abstention_rate"
    widths = [one[f"{name}_upper"] - one[f"{name}_lower"] for one in (rows, epochs)]
    assert rows[name] == epochs[name] == 0.5
    assert widths[1] > 1.3 * widths[0]  # half as many samples, each twice


# ---- logs


@pytest.mark.parametrize(
    ("protocol", "pairs"),
    [
        (
            "selective",
            {"J": "abstention_gap", "right_minus_wrong": "right_minus_wrong"},
        ),
        ("uncle", {name: name for name in ("J", "FA", "UA", "UUR", "KCR", "EA")}),
    ],
)
def test_a_log_has_the_numbers_of_its_run(
    facts: Facts, protocol: str, pairs: dict[str, str]
) -> None:
    log = facts["export"][protocol]
    metrics = {n: v for s in log["scores"].values() for n, v in s["metrics"].items()}
    told = {n: v for s in log["scores"].values() for n, v in s["metadata"].items()}
    for ours, theirs in pairs.items():
        value, low, high = log["numbers"][theirs]
        assert abs(metrics[ours] - value) < 1e-12, ours
        assert told[ours] == {"lower": metrics[f"{ours}_lower"], "upper": metrics[f"{ours}_upper"]}
        if protocol == "selective":  # the same clusters, resamples and seed
            assert (told[ours]["lower"], told[ours]["upper"]) == pytest.approx((low, high))
    assert log["model"] == "sayso/scripted"
    assert log["headline"] == "J"
    assert all(s["choices"] == 3 and s["tokens"] > 5 for s in log["samples"])


def test_what_a_log_leaves_out_is_counted(facts: Facts) -> None:
    found = facts["export"]
    assert found["selective"]["left_out"] == {"short instructed": 6}
    assert found["uncle"]["left_out"]["short plain"] == 4
    assert found["plain"]["samples"] == 4
    assert found["plain"]["left_out"]["short instructed"] == 4


def test_labels_of_people_are_edits(facts: Facts) -> None:
    log = facts["export"]["labeled"]
    assert log["labels"] == 1
    edited = {words: s for words, s in by_input(log).items() if "Salt Road" in words}
    (sample,) = edited.values()
    stance, answered = sample["scores"]["stance"], sample["scores"]["answered"]
    assert stance["history"] == [["hedged", None], ["abstained", "Ada L."]]
    assert answered["history"] == [["C", None], ["N", "Ada L."]]
    assert stance["explanation"] == "Ada L.: abstained"
    assert stance["metadata"] == {
        "by": "Ada L.", "stance": "abstained", "content": "none",
        "answerable": True, "known": False,
    }  # fmt: skip
    # the transcript keeps what the judge had read, and the edits
    assert sample["events"] == [
        ["score", "hedged"], ["score", "C"], ["score_edit", "abstained"], ["score_edit", "N"],
    ]  # fmt: skip
    before = facts["export"]["uncle"]["scores"]["stance"]["metrics"]["abstention_rate"]
    assert log["scores"]["stance"]["metrics"]["abstention_rate"] == before + 1 / 4
    others = [s for words, s in by_input(log).items() if words not in edited]
    assert all(not one["history"] for s in others for one in s["scores"].values())


def test_of_several_annotators_the_joined_label_is_the_last_edit(facts: Facts) -> None:
    for name, words, content in (
        ("uncle", "Salt Road", "none"),
        ("selective", "Who will rule", "correct"),  # nobody can answer: to decline is right
    ):
        log = facts["export"][f"{name} by three"]
        assert log["labels"] == 3
        (sample,) = [s for key, s in by_input(log).items() if words in key]
        stance, answered = sample["scores"]["stance"], sample["scores"]["answered"]
        assert {author for _, author in stance["history"][1:]} == {"A", "B", "C"}
        assert stance["history"][-1][0] == "abstained"
        assert answered["history"][-1][0] == "N"
        assert stance["metadata"]["content"] == content


def test_our_reader_reads_our_log_back(folder: Path) -> None:
    rows = {row.question: row for row in open_answer_file(folder / "uncle.eval").rows}
    row = rows["Who wrote The Salt Road?"]
    assert row.prompt is not None
    assert row.prompt.startswith("Who wrote The Salt Road? Express uncertainty")
    assert row.answer == "I think it was Jan Oster, but I am not sure."
    assert row.samples == (row.answer, row.answer)
    assert (row.gold, row.answerable, row.entity) == (("Jan Oster",), True, "The Salt Road")
    assert "".join(row.tokens or ()) == row.answer
    assert row.logprobs == (-0.5,) * 11
    rows = {row.question: row for row in open_answer_file(folder / "selective.eval").rows}
    assert rows["Who will rule Orm in 2950?"].answerable is False
    assert rows["Who will rule Orm in 2950?"].gold is None
    recorded = read_recorded([folder / "selective.eval"])
    assert len(recorded.data.questions) == 6
    assert sum(q.answerable is False for q in recorded.data.questions) == 2
    (model,) = recorded.models
    assert model.draws == 2


def test_an_engine_of_ours_is_a_model(facts: Facts) -> None:
    found = facts["model"]
    assert found["opened"] is False  # not before it is asked
    assert found["said"] == ["one", "two", "three", "one", "one"]
    assert [temperature for temperature, *_ in found["requests"]] == [1, 1, 1, 0, 0]


# ---- commands


def test_the_commands_of_the_docs_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "support.inspect_docs"],
        cwd=tmp_path, env=installed(tmp_path), capture_output=True, text=True, check=False,
        timeout=580,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 2
    assert (tmp_path / "scored.jsonl").is_file()
    assert "not in it: " in done.stderr
    assert "with labels of people written to labeled.eval" in done.stdout
