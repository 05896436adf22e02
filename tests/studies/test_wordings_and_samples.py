"""A study that repeats every run in other words and with other samples of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sayso
from sayso import cli
from sayso.metrics.joint import Number, resample_jointly, spread_between
from sayso.prompts import WORDINGS, load_prompt
from sayso.protocols import uncle
from sayso.protocols.pool import load_wording
from sayso.protocols.protocol import first_asks
from sayso.protocols.uncle.run import steps as uncle_steps
from sayso.records import Estimate, Generation, InputError, Question, Request
from sayso.runs.job import Job, check, planned
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import read_grid
from sayso.studies.joined import StudyNumbers
from sayso.studies.report import study_sheet
from sayso.studies.results import Study
from support.scripted import ScriptedEngine
from support.told_world import Told, aspect_of, world

FOLDERS = ["wording-1", "wording-2"]
#: facts of an entity and entities: the model knows the first four facts of each
FACTS, ENTITIES, KNOWN = 8, 6, 4


def answer(request: Request) -> str:
    """Hedge some unknown facts, fewer of them in the second wording and with another seed."""
    text = request.messages[-1].content
    aspect = aspect_of(text)
    assert aspect is not None
    if not request.greedy and request.sample < uncle.settings.ANSWER_SAMPLE:  # a probe
        # of the second wording, or of another seed, one fact more
        known = KNOWN + ("respond to this" in text) + 2 * (request.seed > 0)
        return "c" if aspect < known else "i"
    if aspect < KNOWN:
        return "c"
    if "q0." in text:  # nothing about the first entity
        return "i"
    hedged = "If you do not know" in text or (request.seed > 0 and not request.greedy)
    return "u" if aspect < KNOWN + (1 if hedged else 3) else "i"


def spec(folder: Path, engine: Callable[[Request], str] = answer, **changes: Any) -> dict[str, Any]:
    return {
        "out": str(folder / "study"),
        "cache": str(folder / "cache"),
        "judge": Told(),
        "models": [{"model": ScriptedEngine(engine, name="m"), "name": "m"}],
        "data": [{"data": world(folder, FACTS, ENTITIES), "name": "d"}],
        "protocols": [{"uncle": {"resamples": 100, "probe": {"k": 2}, "short_only": True}}],
        **changes,
    }


@pytest.fixture
def without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.studies.run.write_page", lambda result: None)


def spreads(study: Study) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Return the rows of the table of spreads by number and probes."""
    return {(row[0], row[3]): entries for row, entries in study.table("spread").rows}


def known_of(study: StudyNumbers, data: str) -> list[bool | None]:
    run = study.find("uncle", "m", data)
    assert run is not None
    rows = sayso.measure(run.path).answers.where(form="short", method="instructed")
    return [row.known for row in rows]


# ---- prompt folders


@pytest.mark.usefixtures("without_pages")
def test_rows_share_the_first_ones_probes_and_the_page_shows_their_spread(tmp_path: Path) -> None:
    study = sayso.study(spec(tmp_path, prompt_folders=FOLDERS), resamples=200)
    assert study.data == ["d · wording-1", "d · wording-2"]
    assert [o.data for o in study.outcomes] == [*study.data, "d · wording-2 · own probes"]
    # the same facts are known in both, though the second wording's own samples know one more
    known = known_of(study, "d · wording-1")
    assert known.count(True) == KNOWN * ENTITIES
    assert known_of(study, "d · wording-2") == known
    own = study.with_own_probes
    assert own is not None
    assert known_of(own, "d · wording-2 · own probes").count(True) == (KNOWN + 1) * ENTITIES
    # J: 3 of 4 unknown facts of five entities hedged, then 1 of 4
    found = spreads(study)
    mean, apart, error, lowest, highest = found["J", "of the first run"]
    least, most = 0.25 * 5 / 6, 0.75 * 5 / 6
    assert (lowest.value, highest.value) == pytest.approx((least, most))
    assert mean.value == pytest.approx((least + most) / 2)
    assert apart.value == pytest.approx(np.std([least, most], ddof=1))
    assert 0 < error.value < 0.3
    assert mean.low <= mean.value <= mean.high
    # with its own probes the second wording's one hedged fact was known
    assert found["J", "each run's own"][3].value < least
    known_share = {p: row for (name, p), row in found.items() if name != "J"}
    assert known_share["of the first run"][1].value == 0
    assert known_share["each run's own"][1].value > 0
    sheet = study_sheet(study)
    assert "repetitions" in sheet.main.caption
    assert not [note for note in study.notes("uncle") if "Sampling seeds" in note]
    assert not [note for note in study.notes("uncle") if "judged by the facts" in note]
    # from its folder it is the same study
    again = sayso.study(str(tmp_path / "study"), resamples=200)
    assert again.table("spread") == study.table("spread")
    assert again.data == study.data


@pytest.mark.usefixtures("without_pages")
def test_a_difference_smaller_than_the_spread_is_called_so(tmp_path: Path) -> None:
    def other(request: Request) -> str:
        """Answer as the first model does, but hedge one fact of one entity less."""
        text, reply = request.messages[-1].content, answer(request)
        return "i" if reply == "u" and "q1." in text else reply

    models = [
        {"model": ScriptedEngine(run, name=name, base=name), "name": name}
        for name, run in (("m", answer), ("other", other))
    ]
    given = spec(tmp_path, prompt_folders=FOLDERS, models=models)
    study = sayso.study(given, resamples=200)  # two base models in other words, without --allow
    sheet = study_sheet(study)
    assert [note for note in sheet.cautions if "m and other is smaller than the spread" in note]
    alone = sayso.study({**given, "prompt_folders": FOLDERS[:1], "out": str(tmp_path / "one")})
    sheet = study_sheet(alone)
    assert not [note for note in sheet.cautions if "spread" in note]
    assert "uncle/spread" not in alone.tables


def test_spread_and_sampling_error_by_hand() -> None:
    def share(x: np.ndarray, weights: np.ndarray | None = None) -> Any:
        W = np.ones((1, len(x))) if weights is None else weights
        values = W @ x / W.sum(axis=1)
        return values[0] if weights is None else values

    columns = [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0]]
    row = [Number(share, (np.array(x, dtype=float),), list("abcd")) for x in columns]
    joint = resample_jointly([row], 500)
    cells = [[Estimate("x", value=0.5) for _ in row]]
    between, within = spread_between(joint, cells, ["one", "one", "one", "two"])
    # three columns ask about one set; the fourth asks another and has nothing to differ from
    assert between == pytest.approx([np.std([0.75, 0.5, 0.25], ddof=1)])
    variances = joint.resamples[0].var(axis=1)
    assert within == pytest.approx([np.sqrt(variances.mean())])
    # an interval of a run that tells more than its resamples, which do not move, counts instead
    still = resample_jointly([[Number(share, (np.ones(4),), list("abcd"))] * 2], 500)
    wide = [[Estimate("x", value=0.9, low=0.0, high=1.0)] * 2]
    half = 0.5 / 3.182446  # Student's t of four entities
    assert spread_between(still, wide, ["one"] * 2)[1] == pytest.approx([half], rel=1e-3)
    apart = spread_between(joint, cells, ["one", "two", "three", "four"])[0]
    assert np.isnan(apart).all()
    silent = [[Estimate("x", value=1.0)] * 2]  # neither resamples nor an interval tell of an error
    assert np.isnan(spread_between(still, silent, ["one"] * 2)[1]).all()


def test_a_trained_model_has_the_probes_of_its_base_in_every_row(tmp_path: Path) -> None:
    models = [
        {"model": "builtin", "name": "base"},
        {"model": "builtin", "name": "tuned", "known_from": "base"},
    ]
    given = {"models": models, "out": str(tmp_path), "data": ["builtin"], "prompt_folders": FOLDERS}
    grid = read_grid({**given, "protocols": ["uncle", "selective"]})
    probes = {
        (c.model, c.data): Path(c.job.options.known_from).parts[-3:-1]
        for c in grid.cells
        if c.protocol == "uncle"
    }
    titles = {c.data: c.path.parts[-2] for c in grid.cells}
    first, second = "builtin · wording-1", "builtin · wording-2"
    own = f"{second} · own probes"
    assert probes == {
        ("base", first): (),
        ("base", second): ("base", titles[first]),
        ("base", own): (),
        ("tuned", first): ("base", titles[first]),
        ("tuned", second): ("base", titles[first]),
        ("tuned", own): ("base", titles[own]),
    }
    # a protocol without probes has nothing of its own to repeat
    selective = [c.data for c in grid.cells if c.protocol == "selective" and c.model == "base"]
    assert selective == [first, second]


def test_probes_that_were_named_are_those_of_every_row(tmp_path: Path) -> None:
    given = {"models": ["builtin"], "out": str(tmp_path), "prompt_folders": FOLDERS}
    grid = read_grid({**given, "protocols": [{"uncle": {"known_from": "runs/base"}}]})
    assert [c.job.options.known_from for c in grid.cells] == ["runs/base"] * 2


# ---- sampling seeds


@pytest.mark.usefixtures("without_pages")
def test_seeds_change_samples_and_not_entities(tmp_path: Path) -> None:
    hot = [{"uncle": {"resamples": 100, "probe": {"k": 2}, "short_only": True,
                      "answer": {"temperature": 0.7}}}]  # fmt: skip
    given = spec(tmp_path, sampling_seeds=[0, 1], limit=3, protocols=hot, seed=5)
    study = sayso.study(given, resamples=200)
    runs = [study.find("uncle", "m", data) for data in ("d · seed 0", "d · seed 1")]
    asked, seeds = [], []
    for run in runs:
        assert run is not None
        folder = RunFolder.open(run.path)
        asked.append({q.id for q in folder.read("questions", Question)})
        seeds.append({g.request.seed for g in folder.read("generations/short", Generation)})
        assert run.manifest.chosen["seed"] == 5
    assert asked[0] == asked[1]
    assert len({q.entity for q in RunFolder.open(runs[0].path).read("questions", Question)}) == 3  # type: ignore[union-attr]
    assert seeds == [{0}, {1}]
    assert not study.repeats_greedy("uncle")
    assert spreads(study)["J", "of the first run"][1].value > 0
    assert known_of(study, "d · seed 1") == known_of(study, "d · seed 0")


@pytest.mark.usefixtures("without_pages")
def test_at_temperature_0_seeds_change_nothing_and_the_study_says_so(tmp_path: Path) -> None:
    study = sayso.study(spec(tmp_path, sampling_seeds=[0, 1]), resamples=200)
    assert study.repeats_greedy("uncle")
    assert [note for note in study.notes("uncle") if note.startswith("Sampling seeds")]
    found = spreads(study)
    assert found["J", "of the first run"][1].value == 0
    assert found["J", "each run's own"][1].value > 0  # the probes are samples
    # an interval over repetitions of the same answers is that of one run
    (number,) = (n for n in study.numbers("uncle") if n.name == "J")
    mean, cell = number.means[0], number.cells[0][0]
    assert (mean.low, mean.high) == pytest.approx((cell.low, cell.high), abs=0.05)


def test_the_seed_of_a_run_stays_its_data_seed(tmp_path: Path) -> None:
    manifest = planned(Job(seed=3))
    assert (manifest.settings["seed"], manifest.chosen["seed"]) == (3, 3)
    manifest = planned(Job(seed=3, sampling_seed=7))
    assert (manifest.settings["seed"], manifest.chosen["seed"]) == (7, 3)


# ---- the wordings that ship, and one's own


@pytest.mark.parametrize("protocol", ["uncle", "selective", "faithfulness", "self_known"])
def test_the_shipped_wordings_fit_every_protocol(protocol: str) -> None:
    for name in WORDINGS:
        plan = sayso.protocols.PROTOCOLS[protocol]
        check(Job(protocol=protocol, options=plan.Settings(prompt_folder=name)))


def test_the_first_wording_is_what_every_run_says_and_the_others_differ() -> None:
    texts = {}
    for name, folder in WORDINGS.items():
        files = sorted(file.stem for file in folder.iterdir())
        assert files == ["plain_question", "uncle_long_instruction", "uncle_short_instruction"]
        wording = load_wording(name)
        for form in ("", "short", "long"):
            text = wording.ask("Who wrote it?", "Given this.", form)
            assert text.startswith("Given this.\n\n")
            assert "Who wrote it?" in text
            assert texts.setdefault((form, text), name) == name
    assert load_wording("wording-1") == load_wording("")
    plain = uncle.prompts.prompts(uncle.Settings())
    assert uncle.prompts.prompts(uncle.Settings(prompt_folder="wording-1")) == plain
    assert "plain_question" not in plain


def test_a_folder_of_ones_own_rewords_the_plain_question(tmp_path: Path) -> None:
    file = tmp_path / "plain_question.txt"
    file.write_text("Answer briefly: {question}", encoding="utf-8")
    chosen = uncle.Settings(prompt_folder=str(tmp_path))
    asks = first_asks(uncle_steps([Question("s", "d", "q?", golds=())], chosen, seed=0))
    said = {a.stage: a.request.messages[0].content for a in asks if not a.instructed}
    assert said == {"probe": "Answer briefly: q?", "short": "Answer briefly: q?"}
    stored = uncle.prompts.prompts(chosen)
    assert stored["plain_question"] == "Answer briefly: {question}"
    assert stored["signature"] != uncle.prompts.prompts(uncle.Settings())["signature"]
    file.write_text("Answer {this}.", encoding="utf-8")
    with pytest.raises(InputError, match=r"plain_question.txt: must contain \{question\}"):
        first_asks(uncle_steps([], chosen, seed=0))
    assert load_prompt("plain_question") == "{question}"


def test_flags_name_folders_and_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["study", "--models", "builtin", "--protocols", "uncle", "--limit", "2", "--dry-run"]
    more = ["--prompt-folders", "wording-1", "wording-3", "--set", "sampling_seeds=0,4", "--json"]
    assert cli.execute([*argv, *more]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    rows = [f"builtin · wording-{w} · seed {s}" for w in (1, 3) for s in (0, 4)]
    assert [cell["data"] for cell in cells] == [*rows, *(f"{row} · own probes" for row in rows[1:])]
