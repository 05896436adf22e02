"""``sayso compare`` of two trainings: paired, by the last stage, and refused where it is unfair."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso.cli import main
from sayso.protocols.uncle.settings import KnowledgeProbe, Settings
from sayso.records import Generation, InputError, slice_text
from sayso.runs.measure import load_run
from sayso.storage.run_folder import RunFolder
from sayso.train.compare import _check_probes, differing, side_by_side, training_differences
from sayso.train.config import TrainConfig
from sayso.train.proof import frame_of
from sayso.train.result import MeasuredMethod, Training, read_training, write_training
from sayso.train.training import fit

FEW: dict[str, Any] = {
    "paragraphs": 0, "sft_rows": 16, "sft_epochs": 1.0, "extra": {"training.sft.batch": 8}
}  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A base run and two trainings of it, one with a rate at which it forgets everything."""
    pytest.importorskip("trl")
    place = tmp_path_factory.mktemp("beside")
    sayso.run(
        "uncle", split="dev", limit=5, out=place / "base", cache=place / "cache",
        options=Settings(resamples=100), report=False,
    )  # fmt: skip

    def train(name: str, **more: Any) -> Path:
        config = TrainConfig(stages="sft", train_limit=10, resamples=100, **FEW, **more)
        return fit(place / "base", place / name, config=config, cache=place / "cache")[0]

    return place / "base", train("a"), train("b", sft_rate=0.05)


def test_what_one_training_gains_is_the_gap_of_the_two_tables(folders) -> None:
    _, a, b = folders
    found, notes, said, tests, *_ = training_differences(a, b, resamples=200)
    one, two = (read_training(place) for place in (a, b))
    held = {(slice_text(e.where), e.name): e for e in found}
    for form in ("short", "long"):
        for name in ("KCR", "wrong_and_sure", "EA"):
            gap = two.get("sft", form, name).value - one.get("sft", form, name).value
            assert held[f"form:{form}", name].value == pytest.approx(gap)
    forced = two.get("sft", "short", "forced").value - one.get("sft", "short", "forced").value
    assert held["form:short", "forced"].value == pytest.approx(forced)
    # what was compared is no warning
    assert said[:2] == ["A = mix, SFT, 1 seed", "B = mix, SFT, 1 seed"]
    assert any("training.sft.rate (0.0" in text and "0.05)" in text for text in said)
    assert notes == ["with one seed, the intervals do not cover what another seed would give"]
    assert len(tests) == len(found)
    left = sum(holm is not None and holm < 0.05 for _, holm in tests)
    verb = "differs" if left == 1 else "differ"
    tested = sum(p is not None for p, _ in tests)
    assert f"over the {tested} differences tested, {left} {verb} from 0" in said[-1]


def test_a_training_against_itself_differs_in_nothing(folders) -> None:
    _, a, _ = folders
    _, changes = side_by_side({"one": a, "again": a}, resamples=200)
    assert {c.difference.value for c in changes} <= {0.0, None}
    assert all(c.p_holm in (1.0, None) for c in changes)


def test_the_difference_is_paired_by_entity(folders) -> None:
    _, a, b = folders
    cells, changes = side_by_side({"A": a, "B": b}, resamples=500)
    alone = [c.estimate for c in cells if c.form == "short" and c.estimate.name == "KCR"]
    gap = next(c for c in changes if c.form == "short" and c.difference.name == "KCR").difference
    if None in (gap.low, *(e.low for e in alone)):
        pytest.skip("a number at the end of its range has no interval")
    widths = [e.high - e.low for e in alone]
    assert gap.high - gap.low < np.hypot(*widths) * 1.3


def test_what_cannot_be_compared_is_refused_in_one_line(folders, tmp_path, capsys) -> None:
    base, a, b = folders
    with pytest.raises(InputError, match="is a training and the other folder is not"):
        sayso.compare(a, base)
    copy = tmp_path / "copy"
    shutil.copytree(b, copy)
    told = read_training(copy)
    write_training(copy, msgspec.structs.replace(told, finished=None))
    with pytest.raises(InputError, match="not finished: the same call"):
        training_differences(a, copy)  # trained from Python: there is no command
    write_training(copy, msgspec.structs.replace(told, model_identity="other"))
    with pytest.raises(InputError, match="differ in their model identity"):
        training_differences(a, copy)
    other = {**told.settings, "measured": "0000"}
    write_training(copy, msgspec.structs.replace(told, settings=other))
    with pytest.raises(InputError, match="differ in their measured entities"):
        training_differences(a, copy)
    write_training(copy, msgspec.structs.replace(told, methods=told.methods[:2]))
    with pytest.raises(InputError, match="no trained model"):
        training_differences(a, copy)
    write_training(copy, told)
    (copy / "forced" / "sft-0.json").write_text("{")
    with pytest.raises(InputError, match="delete it"):
        training_differences(a, copy)
    with pytest.raises(SystemExit) as stopped:
        main(["compare", str(a), str(base)])
    assert stopped.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_command_prints_the_differences(folders, capsys) -> None:
    _, a, b = folders
    with pytest.raises(SystemExit) as stopped:
        main(["compare", str(a), str(b), "--resamples", "200"])
    assert not stopped.value.code
    printed = capsys.readouterr().out
    assert "stated wrong, without a hedge" in printed
    assert "\nafter Holm" in printed
    assert "\nA = mix" in printed
    assert "\n! with one seed" in printed
    with pytest.raises(SystemExit):
        main(["compare", str(a), str(b), "--resamples", "200", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert {"name", "where", "value", "p", "p_holm"} <= set(rows[0])
    assert [(row["p"], row["p_holm"]) for row in rows] == [
        pytest.approx(one) if None not in one else one
        for one in training_differences(a, b, resamples=200).tests
    ]


def longer(place: Path, copy: Path) -> Path:
    """Copy a training that goes on to DPO, which changed nothing."""
    shutil.copytree(place, copy)
    shutil.copytree(copy / "runs" / "sft-0", copy / "runs" / "dpo-0")
    shutil.copy(copy / "forced" / "sft-0.json", copy / "forced" / "dpo-0.json")
    told = read_training(copy)
    methods = (*told.methods, MeasuredMethod("dpo", "SFT + DPO", "trained", (0,)))
    write_training(copy, msgspec.structs.replace(told, methods=methods))
    return copy


def test_unlike_stages_are_warned_of_and_one_can_be_chosen(folders, tmp_path) -> None:
    _, a, b = folders
    other = longer(b, tmp_path / "longer")
    made = sayso.compare(a, other, resamples=100, base=folders[0])
    assert any(
        "the first ends with SFT, the second with SFT + DPO" in note and "use --stage sft" in note
        for note in made.notes
    )
    chosen = sayso.compare(a, other, resamples=100, stage="sft", base=folders[0])
    assert not any("ends with" in note for note in chosen.notes)
    assert chosen.compared[1] == "B = mix, SFT, 1 seed"
    plain = sayso.compare(a, b, resamples=100)
    assert [e.value for e in chosen.estimates] == [e.value for e in plain.estimates]
    with pytest.raises(InputError, match=r"stage 'dpo': .* trained sft"):
        sayso.compare(a, other, stage="dpo")


def test_a_base_run_that_moved_is_found_or_named(folders, tmp_path) -> None:
    base, a, b = folders
    moved = tmp_path / "moved"
    shutil.copytree(base, moved)
    copies = []
    for place in (a, b):
        copies.append(tmp_path / place.name)
        shutil.copytree(place, copies[-1])
        told = read_training(copies[-1])
        write_training(copies[-1], msgspec.structs.replace(told, base_run="gone/base"))
    with pytest.raises(
        InputError, match="no longer exists there: pass its new location with --base RUN"
    ):
        sayso.compare(*copies)
    with pytest.raises(InputError, match="not a run folder"):
        sayso.compare(*copies, base=tmp_path / "nowhere")
    plain = sayso.compare(a, b, resamples=100)
    assert sayso.compare(*copies, resamples=100, base=moved).estimates == plain.estimates
    moved.rename(tmp_path / "base")  # beside the trainings
    assert sayso.compare(*copies, resamples=100).estimates == plain.estimates
    # another run of the same model has other probes: it does not decide what is known
    other = sayso.run(
        "uncle", split="dev", limit=5, out=tmp_path / "other", cache=tmp_path / "cache",
        options=Settings(resamples=100, probe=KnowledgeProbe(k=3)), report=False,
    )  # fmt: skip
    with pytest.raises(InputError, match="other probes"):
        sayso.compare(*copies, base=other.path)


def test_each_training_must_have_the_base_runs_probes_whatever_its_name(folders) -> None:
    base, _, b = folders
    run = b / "runs" / "sft-0"
    frame = frame_of(base, load_run(run)[0].questions)
    _check_probes(frame, base, run)
    question, said = next(iter(frame.probes.items()))
    other = frame._replace(probes={**frame.probes, question: [*said[1:], "Zanzibar"]})
    with pytest.raises(InputError, match="other probes"):
        _check_probes(other, base, run)


def test_stage_and_base_are_for_trainings(folders) -> None:
    base, *_ = folders
    for more in ({"stage": "sft"}, {"base": base}):
        with pytest.raises(InputError, match="are chosen for trainings"):
            sayso.compare(base, base, **more)


def test_an_adapter_loads_as_the_docs_say(folders, capsys) -> None:
    """Plain transformers and peft say what sayso stored, word for word."""
    _, a, _ = folders
    doc = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    section = doc.split("\n## Using the model\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    stored = [
        g for g in RunFolder.open(a / "runs" / "sft-0").read("generations/short", Generation)
        if g.instructed
    ]  # fmt: skip
    own = {
        '"your/base-model"': repr(str(Path(sayso.__file__).parent / "builtin" / "model")),
        '"runs/trained/adapters/dpo-0"': repr(str(a / "adapters" / "sft-0")),
        re.findall(r'text = (".*")', code)[0]: repr(stored[0].request.messages[0].content),
    }
    for old, new in own.items():
        assert code.count(old) == 1
        code = code.replace(old, new)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert capsys.readouterr().out.strip() == stored[0].text


def test_sets_that_one_training_alone_took_are_told() -> None:
    plain = Training(settings={"recipe": "mix", "rows.xi": 0.7, "trained": "a"})
    other = Training(
        settings={"recipe": "mix", "rows.xi": 0.7, "trained": "b", "train_data": ["triviaqa"]}
    )
    (line,) = differing(plain, other)
    assert line == "settings that differ: trained (a and b), train_data (none and ['triviaqa'])"
    assert differing(other, plain) == [
        "settings that differ: trained (b and a), train_data (['triviaqa'] and none)"
    ]
    assert differing(other, other) == []
