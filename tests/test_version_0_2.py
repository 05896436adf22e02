"""What version 0.2.0 left on a disk opens, measures, compares and gates in this version.

Users keep run folders, base probes, labels, studies, guards and states for years. The folders under
``golden/runs`` are such ones; see the README there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.guard.choices import WatchOptions
from sayso.guard.guard import Guard
from sayso.guard.watch import watch
from sayso.people.labeling import import_labels
from sayso.people.labels import LabelStore, stored_labels
from sayso.protocols import PROTOCOLS
from sayso.protocols.uncle.settings import Settings
from sayso.records import Estimate, InputError, Results
from sayso.report.sheet import main_numbers
from sayso.storage.renamed import GONE
from sayso.storage.run_folder import RunFolder
from sayso.train.report import write_training_page
from sayso.train.result import read_training
from support.frozen import RUNS, as_read_today, copied
from support.scripted import ScriptedEngine

#: two runs of each protocol that can be compared, and a number with its slice
PAIRS = {
    "uncle": ("uncle", "training/runs/dpo-0", "FA", {"form": "short"}),
    **{
        protocol: (f"study/builtin/people/{protocol}", f"study/builtin-trained/people/{protocol}",
                   name, where)
        for protocol, name, where in (
            ("selective", "error_rate", {"form": "short", "against": "rules"}),
            ("faithfulness", "accuracy", {"form": "short", "method": "vanilla"}),
            ("self_known", "factscore", {"method": "plain"}),
        )
    },
}  # fmt: skip


def copy(name: str, folder: Path) -> Path:
    """Copy a stored run under its own name and its parents' names."""
    return Path(shutil.copytree(RUNS / name, folder / name))


@pytest.fixture
def uncle(tmp_path: Path) -> Path:
    return copy("uncle", tmp_path)


@pytest.mark.parametrize("protocol", PAIRS)
def test_a_run_of_each_protocol_measures_as_it_did(protocol: str, tmp_path: Path) -> None:
    run = copy(PAIRS[protocol][0], tmp_path)
    before = Results(RunFolder.open(run).read(f"metrics/{protocol}", Estimate))
    manifest = RunFolder.open(run).read_manifest()
    assert manifest.sayso == "0.2.0"
    assert manifest.settings["seed"] == 0
    result = sayso.measure(run)
    main = main_numbers(PROTOCOLS[protocol].report.sheet(result.estimates), result.estimates)
    assert main
    for e in main:
        old, now = (r.find(e.name, **dict(e.where)) for r in (before, Results(result.estimates)))
        assert now is not None
        if old is None:
            assert e.name == "answer_count"  # new since 0.2.0
            continue
        if (e.name, ("form", "long")) == ("accuracy", e.where[0]):
            # a fact that a paragraph omits is not right: it was left out
            assert (now.numerator, now.denominator) == (old.numerator, 36)
            assert 0 < (old.denominator or 0) < 36
            continue
        assert now.value == pytest.approx(old.value)
        if not e.name.startswith("auroc"):  # whose intervals hold with heavy tails now
            assert (now.low, now.high) == pytest.approx((old.low, old.high))
    assert RunFolder.open(run).read(f"metrics/{protocol}", Estimate) == list(result.estimates)


@pytest.mark.parametrize("protocol", PAIRS)
def test_two_runs_of_each_protocol_compare_and_gate(protocol: str, tmp_path: Path) -> None:
    first, second, name, where = PAIRS[protocol]
    a, b = copy(first, tmp_path), copy(second, tmp_path)
    found = [e for e in sayso.compare(a, b).estimates if e.name == name and e.value is not None]
    assert found
    one, other = (_stored(run, protocol, name, **where) for run in (a, b))
    assert any(e.value == pytest.approx(other.value - one.value) for e in found)
    text = f"{name}[{', '.join(where.values())}]"
    (below,) = sayso.check_assertions(a, f"{text} >= {one.low / 2}", raw=True)
    (above,) = sayso.check_assertions(a, f"{text} > {(1 + one.high) / 2}", raw=True)
    assert below.value == above.value == pytest.approx(one.value)
    assert (below.verdict, above.verdict) == ("holds", "does not")


def _stored(run: Path, protocol: str, name: str, **where: str) -> Any:
    found = Results(RunFolder.open(run).read(f"metrics/{protocol}", Estimate)).find(name, **where)
    assert found is not None
    assert found.value is not None
    return found


@pytest.mark.parametrize("protocol", PAIRS)
def test_a_setting_that_is_gone_is_told_where_it_was_used(protocol: str, tmp_path: Path) -> None:
    run = copy(PAIRS[protocol][0], tmp_path)
    told = json.loads((run / "manifest.json").read_bytes())
    today = {name.partition(".")[0] for name in vars(PROTOCOLS[protocol].Settings())}
    for name in set(GONE) & set(told["settings"]):
        assert told["settings"][name] == GONE[name].default
        if name.partition(".")[0] in today:
            continue
        settings = {**told["settings"], name: "another"}
        (run / "manifest.json").write_text(json.dumps({**told, "settings": settings}))
        with pytest.raises(InputError, match=f"{name}=another") as error:
            sayso.measure(run)
        assert "\n" not in str(error.value)


# ---- a base probe


def test_a_run_with_the_probes_of_another_measures(tmp_path: Path) -> None:
    run = copy("training/runs/dpo-0", tmp_path)
    assert RunFolder.open(run).read_manifest().settings["known_from"] == "runs/uncle"
    known = [
        [a.known for a in sayso.measure(place).answers if a.form == "short"]
        for place in (copy("uncle", tmp_path), run)
    ]
    assert known[0] == known[1]
    assert set(known[0]) == {True, False}


def test_a_new_run_takes_its_probes(uncle: Path, tmp_path: Path) -> None:
    as_read_today(uncle / "manifest.json")
    model = ScriptedEngine(lambda request: "I do not know.", name="silent", logprob=-0.5)
    result = sayso.run(
        "uncle", model=model, data="builtin", limit=12, out=tmp_path / "new", report=False,
        options=Settings(known_from=str(uncle), resamples=100),
    )  # fmt: skip
    unread = Results(result.estimates).find("UUR", form="short")
    assert unread is not None
    assert unread.value == 1.0
    assert not any(request.temperature for request in model.requests)  # nothing was probed


# ---- labels of people


def test_labels_of_a_run_correct_its_numbers(uncle: Path) -> None:
    labels = stored_labels(uncle)
    assert len(labels) == 112
    assert {label.annotator for label in labels} == {"ann", "bob"}
    numbers = {(n.raw.name, n.raw.where): n for n in sayso.correct(uncle)}
    fa = numbers["FA", (("form", "short"),)]
    assert (fa.raw.value, fa.corrected.value) == pytest.approx((0.5416666667, 0.4727272727))
    agreed = {kind.kind: kind.get("agreed").value for kind in sayso.agreement(uncle).kinds}
    assert agreed["answer"] == pytest.approx(0.5972222222)


def test_a_file_of_labels_is_read(tmp_path: Path) -> None:
    run = copy("selective", tmp_path)
    with LabelStore.open(run) as store:
        read, merged = import_labels(run, store, RUNS / "selective-labels.jsonl")
    assert len(read.labels) == merged.new == 58
    assert any(one.raw.name == "error_rate" for one in sayso.correct(run))


# ---- a study


def test_a_study_opens(tmp_path: Path) -> None:
    study = sayso.study([copy("study", tmp_path)], resamples=100)
    assert study.models == ["builtin", "builtin-trained", "guesser"]
    assert study.data == ["diseases", "people"]
    for protocol in PAIRS:
        assert study.find(protocol, "builtin", "people") is not None
        assert any(number.name == PAIRS[protocol][2] for number in study.numbers(protocol))


# ---- guards, and the state of a watch


@pytest.mark.parametrize(
    ("name", "limit", "actions"),
    [
        ("guard", 0.725, ["answer", "decline", "decline", "decline"]),
        ("guard-costs", 0.613, ["answer", "ask", "decline", "ask"]),
    ],
)
def test_a_guard_decides_as_it_did(
    name: str, limit: float, actions: list[str], tmp_path: Path
) -> None:
    place = Path(shutil.copy(RUNS / "guard" / f"{name}.json", tmp_path))
    guard = Guard.load(place)
    assert guard.file.limit == limit
    told = [guard("When?", "In 1815.", score=score) for score in (limit, 0.976, 0.98, None)]
    assert [one.action for one in told] == actions
    assert guard.withdraw("changed")
    assert Guard.load(place)("When?", "In 1815.", score=0.0).promise is None


def test_a_watch_goes_on_from_its_state(tmp_path: Path) -> None:
    (folder,) = copied(tmp_path, "guard")
    as_read_today(folder / "watch.json")
    events: list[dict[str, Any]] = []
    options = WatchOptions(
        guard=folder / "guard.json", keep_guard=True, state=folder / "watch.json"
    )
    summary = watch(
        folder / "log.jsonl", folder / "earlier.jsonl", options, emit=events.append,
        tell=lambda text: None,
    )  # fmt: skip
    assert (summary["lines"], summary["answers"], summary["alarms"]) == (232, 230, 1)
    (alarm,) = (event for event in events if event["event"] == "alarm")
    assert (alarm["rate"], alarm["change"], alarm["answer"]) == ("declining", "rise", 182)


# ---- a training


def test_a_training_is_shown(tmp_path: Path) -> None:
    (folder,) = copied(tmp_path, "training")
    training = read_training(folder)
    assert training.sayso == "0.2.0"
    assert training.get("dpo", "short", "J").value == pytest.approx(0.125, abs=0.01)
    assert write_training_page(folder).stat().st_size > 10_000
