"""What is trained on and measured, controls that must find nothing, and one whole training."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest

import sayso
from sayso import cli
from sayso import records as records_module
from sayso.protocols import uncle
from sayso.protocols.uncle.settings import Settings
from sayso.records import Estimate, InputError, slice_text
from sayso.runs.run import open_job
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base, Halves, halves, open_base_run
from sayso.train.config import PRESETS, ROWS, RowSettings, TrainConfig, preset_for, stages_of
from sayso.train.draws import draw_facts
from sayso.train.proof import cells_and_changes, frame_of, measure_trained, prove, side_of
from sayso.train.recipes import LEAST, RowSet, keep_rows, make, row_counts
from sayso.train.result import FILE, MeasuredMethod, Training, read_training
from sayso.train.rows import TrainingRow
from sayso.train.training import begin_result, fit
from support.scripted import ScriptedEngine
from support.scripted_world import HEDGE, Fact, Mind, chance, facts, records, word, write

QUICK = Settings(resamples=200)
BUILTIN = ROWS["builtin"]
INSTRUCTIONS = uncle.prompts.instructions(QUICK)


def half_known(fact: Fact) -> float:
    """Half of the facts of every type are known surely, the others never."""
    return 1.0 if chance("knows", fact.question) < 0.5 else 0.0


def wrong(fact: Fact, draw: object) -> str:
    """A guess that is never right, another one at every draw."""
    return word("wrong", fact.question, draw, n=5)


def mind(world: list[Fact], **more: object) -> Mind:
    return Mind(world, half_known, guess=wrong, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def world() -> list[Fact]:
    return facts(60)


@pytest.fixture(scope="module")
def file(world: list[Fact], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "mine.jsonl", records(world))


@pytest.fixture(scope="module")
def run(world: list[Fact], file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("base")
    sayso.run(
        "uncle", model=mind(world).engine("base"), data=str(file), out=out / "run", limit=30,
        cache=out / "cache", options=QUICK, command=f"sayso run uncle --data {file}", report=False,
    )  # fmt: skip
    return out / "run"


@pytest.fixture(scope="module")
def base(run: Path, world: list[Fact]) -> Base:
    return open_base_run(run, model=mind(world).engine("base"), cache=run.parent / "cache")


def names(halves_: Halves, which: str) -> set[str]:
    return {q.entity for q in getattr(halves_, which).questions}


def test_what_is_measured_is_what_the_run_asked_and_the_rest_is_trained_on(base: Base) -> None:
    parts = halves(base)
    asked = {q.entity for q in RunFolder.open(base.path).read("questions", records_module.Question)}
    assert names(parts, "measured") == asked
    assert len(asked) == 30
    assert len(names(parts, "trained")) == 30
    assert not names(parts, "trained") & asked
    fewer = halves(base, limit=10, train_limit=7)
    assert len(names(fewer, "measured")) == 10
    assert names(fewer, "measured") <= asked
    assert len(names(fewer, "trained")) == 7
    assert not names(fewer, "trained") & names(fewer, "measured")
    with pytest.raises(InputError, match="asked about 30 entities"):
        halves(base, limit=31)


def test_a_run_about_everything_is_split_by_its_seed(
    world: list[Fact], file: Path, tmp_path: Path
) -> None:
    engine = mind(world).engine("base")
    sayso.run(
        "uncle", model=engine, data=str(file), out=tmp_path / "r", limit=0,
        cache=tmp_path / "cache", options=QUICK, report=False,
    )  # fmt: skip
    whole = open_base_run(tmp_path / "r", model=engine, data=str(file), cache=tmp_path / "cache")
    parts = halves(whole)
    # .4 of 60 entities
    assert len(names(parts, "measured")) == 24
    assert len(names(parts, "trained")) == 36
    assert "60 entities: 24" in parts.notes[0]
    assert names(halves(whole), "measured") == names(parts, "measured")


def test_runs_that_cannot_be_trained_from_are_refused(
    run: Path, world: list[Fact], file: Path, tmp_path: Path
) -> None:
    engine = mind(world).engine("other")
    sayso.run(
        "uncle", model=engine, data=str(file), out=tmp_path / "borrowed", limit=30,
        cache=tmp_path / "cache", options=dataclasses.replace(QUICK, known_from=str(run)),
        report=False,
    )  # fmt: skip
    with pytest.raises(InputError, match="itself measured with the probes"):
        open_base_run(tmp_path / "borrowed")
    sayso.run("uncle", model=_builtin_like(), data="builtin", split="train", limit=2,
              out=tmp_path / "t", cache=tmp_path / "cache", options=QUICK,
              report=False)  # fmt: skip
    with pytest.raises(InputError, match="split train"):
        halves(open_base_run(tmp_path / "t", model=engine, cache=tmp_path / "cache"))
    with pytest.raises(InputError, match=r"not a run folder|does not exist"):
        open_base_run(tmp_path / "nothing")


def _builtin_like() -> ScriptedEngine:
    return ScriptedEngine(lambda request: "Paris", name="any")


def test_five_stored_draws_are_the_first_of_ten_and_nothing_is_asked_twice(
    world: list[Fact], run: Path, file: Path, tmp_path: Path
) -> None:
    engine = mind(world).engine("base")
    base = open_base_run(run, model=engine, data=str(file), cache=tmp_path / "cache")
    data = halves(base, train_limit=5).trained
    with_five = draw_facts(base, data, tmp_path / "five", k=5)
    first = len(engine.requests)
    # 15 questions: five draws and one greedy answer each, and five paragraphs
    assert first == 15 * 6 + 5
    facts_ = draw_facts(base, data, tmp_path / "ten", k=10, paragraphs=2)
    # five more draws each, and two more of each paragraph
    assert len(engine.requests) - first == 15 * 5 + 5 * 2
    short = [f for f in facts_ if f.form == "short"]
    assert all(len(f.draws) == 10 for f in short)
    assert [f.draws[:5] for f in short] == [f.draws for f in with_five if f.form == "short"]
    long = [f for f in facts_ if f.form == "long"]
    assert len(long) == 5
    assert all(len(f.paragraphs) == 3 for f in long)
    asked = len(engine.requests)
    assert draw_facts(base, data, tmp_path / "ten", k=10, paragraphs=2) == facts_
    assert len(engine.requests) == asked
    assert not any("ncertainty" in r.messages[-1].content for r in engine.requests)


def test_draws_that_a_model_does_not_give_are_told(
    world: list[Fact], run: Path, file: Path, tmp_path: Path
) -> None:
    plain = mind(world)

    def forgetful(request: object) -> object:
        sample = getattr(request, "sample", 0)
        return plain(request) if sample < 4 else None  # type: ignore[arg-type]

    engine = ScriptedEngine(forgetful, name="base", logprob=-0.5)  # type: ignore[arg-type]
    base = open_base_run(run, model=engine, data=str(file), cache=tmp_path / "cache")
    facts_ = draw_facts(base, halves(base, train_limit=12).trained, tmp_path / "d", k=10)
    said = RunFolder.open(tmp_path / "d").read_manifest().notices
    assert any(notice.startswith("probe: 216 of 360 requests") for notice in said)
    with pytest.raises(InputError, match="only 0 of 36 training facts are known"):
        # a draw without an answer has no verdict: no fact can be right in all ten
        make("short", facts_, RowSettings(), INSTRUCTIONS, (99, 99), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("knows", "lacking"), [(1.0, "unknown"), (0.0, "known")])
def test_too_few_facts_of_a_kind_are_one_line_with_counts(
    knows: float, lacking: str, world: list[Fact], run: Path, file: Path, tmp_path: Path
) -> None:
    engine = Mind(world, lambda fact: knows, guess=wrong).engine("base")
    base = open_base_run(run, model=engine, data=str(file), cache=tmp_path / "cache")
    facts_ = draw_facts(base, halves(base).trained, tmp_path / "d")
    with pytest.raises(InputError, match=f"only 0 of 90 training facts are {lacking} ") as told:
        make("mix", facts_, BUILTIN, INSTRUCTIONS, (99, 99), 0)  # type: ignore[arg-type]
    assert f"at least {LEAST}" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.fixture(scope="module")
def made(base: Base, tmp_path_factory: pytest.TempPathFactory) -> list:
    return draw_facts(base, halves(base).trained, tmp_path_factory.mktemp("draws"), paragraphs=1)


def test_a_mix_of_which_one_form_has_no_rows_names_the_recipe_that_is_left(made: list) -> None:
    short = [fact for fact in made if fact.form == "short"]
    settings = dataclasses.replace(BUILTIN, style="paper", xi=0.7)
    with pytest.raises(InputError, match=r"mix: \d+ short and 0 long rows .*or --recipe short$"):
        make("mix", short, settings, INSTRUCTIONS, (60, 40), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("style", ["paper", "known"])
@pytest.mark.parametrize("recipe", ["short", "long", "mix", "calibrated"])
def test_every_recipe_makes_rows_that_ask_as_the_evaluation_does(
    recipe: str, style: str, made: list
) -> None:
    settings = dataclasses.replace(BUILTIN, style=style)  # type: ignore[arg-type]
    rows = make(recipe, made, settings, INSTRUCTIONS, (60, 40), 0)  # type: ignore[arg-type]
    forms = {"short": {"short"}, "long": {"long"}}.get(recipe, {"short", "long"})
    learned = [row for row in rows.sft if row.kind != "plain"]
    assert {row.form for row in learned} == {row.form for row in rows.dpo} == forms
    assert len(learned) <= 60
    assert 0 < len(rows.dpo) <= 40 * 1.3
    assert all(row.rejected is None for row in rows.sft)
    assert all(row.rejected for row in rows.dpo)
    asking = [row for row in [*learned, *rows.dpo] if row.kind != "plain"]
    assert all(row.prompt.endswith(INSTRUCTIONS[row.form]) for row in asking)
    plain = [row for row in rows.sft if row.kind == "plain"]
    assert plain
    assert not any(INSTRUCTIONS[row.form] in row.prompt for row in plain)
    assert sum(row_counts(rows).values()) == len(rows.sft) + len(rows.dpo)
    again = make(recipe, made, settings, INSTRUCTIONS, (60, 40), 0)  # type: ignore[arg-type]
    assert again == rows
    other = make(recipe, made, settings, INSTRUCTIONS, (60, 40), 1)  # type: ignore[arg-type]
    assert other.sft != rows.sft


@pytest.mark.parametrize("style", ["paper", "known"])
@pytest.mark.parametrize("shares", [(0.0, 0.4, 1.0), (0.1, 0.3, 0.5, 0.7, 0.9)])
def test_recipes_and_shares_get_equally_many_rows_and_pairs(
    shares: tuple[float, ...], style: str, made: list
) -> None:
    """Plain rows count too: without that, a training got more pairs the more of them were long."""
    recipes = {0.0: "short", 1.0: "long"}
    counts, forms = set(), []
    for xi in shares:
        settings = dataclasses.replace(BUILTIN, style=style, xi=xi)  # type: ignore[arg-type]
        rows = make(
            recipes.get(xi, "mix"), made, settings, INSTRUCTIONS, (900, 900), 0, equal=shares
        )  # type: ignore[arg-type]
        counts.add((len(rows.sft), len(rows.dpo)))
        learned = [row for row in rows.dpo if row.kind != "plain"]
        forms.append(sum(row.form == "long" for row in learned) / len(learned))
        assert [note.startswith("SFT: equal rows") for note in rows.notes].count(True) == 1
        assert any(row.kind == "plain" for row in rows.dpo)
    assert len(counts) == 1
    assert forms == pytest.approx(shares, abs=0.05)


def test_the_shares_of_a_mix_are_those_asked_for(made: list) -> None:
    for xi in (0.25, 0.75):
        settings = dataclasses.replace(BUILTIN, xi=xi, plain=0.0, plain_pairs=0.0)
        rows = make("mix", made, settings, INSTRUCTIONS, (20, 20), 0)  # type: ignore[arg-type]
        for some in (rows.sft, rows.dpo):
            assert len(some) == 20
            assert sum(r.form == "long" for r in some) == 20 * xi


def test_rows_about_what_is_measured_are_refused_with_names(tmp_path: Path) -> None:
    row = TrainingRow("Who?", "I do not know.", None, "short", "Ada  LOVELACE", ("q",), "idk")
    other = msgspec.structs.replace(row, entity="Somebody Else")
    made = RowSet([other, row], [], [])
    with pytest.raises(InputError, match="'Ada Lovelace'"):
        keep_rows(made, tmp_path / "rows", 0, ["Ada Lovelace"])
    assert not (tmp_path / "rows").exists()
    keep_rows(made, tmp_path / "rows", 0, ["Nobody"])
    assert len((tmp_path / "rows" / "sft-0.jsonl").read_bytes().splitlines()) == 2


def proof(base: Base, out: Path, **models: list[ScriptedEngine]) -> Training:
    parts = halves(base)
    config = TrainConfig(resamples=400, seeds=len(next(iter(models.values()))))
    begun = begin_result(base, parts, config, PRESETS["builtin"], BUILTIN, "")
    return prove(base, parts, models, out, begun)


def trained(world: list[Fact], hedges: object, name: str = "trained") -> ScriptedEngine:
    """A model trained from "base": the same knowledge, other hedges under the instruction."""
    hedging = mind(world, hedges=hedges)
    return ScriptedEngine(hedging, name=name, logprob=-0.5, base="scripted:base")


def test_blind_hedging_gains_nothing(base: Base, world: list[Fact], tmp_path: Path) -> None:
    models = [
        trained(
            world, lambda fact, told, s=seed: told and chance(s, fact.question) < 0.4, f"b{seed}"
        )
        for seed in range(3)
    ]
    found = proof(base, tmp_path, sft=models)
    for form in ("short", "long"):
        j, uur = found.get("sft", form, "J"), found.get("sft", form, "UUR")
        assert uur.value == pytest.approx(0.4, abs=0.12)  # it hedges, and to no use
        assert j.low < 0 < j.high
        within = found.get("sft", form, "J_within")
        assert within.low < 0 < within.high
        change = found.change("sft", "instruction", form, "J")
        assert change is not None
        assert change.p_holm is not None
        assert change.p_holm > 0.05
    assert "the interval of J includes 0" in found.verdict[0]
    assert "no difference beyond chance" in found.verdict[0]


def test_hedging_what_is_unknown_is_found(base: Base, world: list[Fact], tmp_path: Path) -> None:
    def knows_itself(fact: Fact, told: bool) -> bool:
        return told and half_known(fact) == 0.0 and chance("voiced", fact.question) < 0.7

    models = [trained(world, knows_itself, f"good{seed}") for seed in range(2)]
    found = proof(base, tmp_path, sft=models, dpo=models)
    for form in ("short", "long"):
        j = found.get("dpo", form, "J")
        assert j.value == pytest.approx(0.7, abs=0.12)
        assert j.low > 0.3
        assert found.get("dpo", form, "over_hedge").value == 0
        change = found.change("dpo", "instruction", form, "J")
        assert change is not None
        assert change.p_holm is not None
        assert change.p_holm < 0.05
        # what comes after is compared with what was before
        stage = found.change("dpo", "sft", form, "J")
        assert stage is not None
        assert stage.difference.value == 0
        assert stage.p_holm == 1
    assert found.get("dpo", "short", "forced").value == found.get("base", "short", "forced").value
    assert ": a gain" in found.verdict[0]
    assert {m.kind for m in found.methods} == {"base", "prompted", "trained"}
    assert {s.after_value for s in found.samples} >= {"uncertain", "correct"}


def test_shuffled_known_labels_leave_nothing(base: Base, world: list[Fact], tmp_path: Path) -> None:
    """The best model, against labels that say nothing about it: J within its interval of 0."""

    def knows_itself(fact: Fact, told: bool) -> bool:
        return told and half_known(fact) == 0.0

    parts = halves(base)
    result = measure_trained(base, trained(world, knows_itself), tmp_path / "r", limit=parts.limit)
    frame = frame_of(base.path, parts.measured.questions)
    side = side_of(frame, result.path, {})
    method = MeasuredMethod("sft", "SFT", "trained", (0,))

    def j(known: np.ndarray, name: str) -> Estimate:
        cells, _ = cells_and_changes(
            frame._replace(known=known), [method], {"sft": [side]}, against="sft", signature="",
            resamples=400,
        )  # fmt: skip
        return next(c.estimate for c in cells if c.form == "short" and c.estimate.name == name)

    assert j(frame.known, "J").value > 0.8
    shuffled = np.random.default_rng(0).permutation(frame.known)
    for name in ("J", "J_within"):
        found = j(shuffled, name)
        assert found.low < 0 < found.high


def test_stopped_draws_go_on_where_they_were(
    world: list[Fact], run: Path, file: Path, tmp_path: Path
) -> None:
    def train(engine: ScriptedEngine) -> Training:
        return fit(
            run, tmp_path / "out", config=TrainConfig(preset="builtin", paragraphs=0),
            export="trl", model=engine, data=str(file), cache=tmp_path / "cache",
        )[1]  # fmt: skip

    stopped = ScriptedEngine(mind(world), name="base", logprob=-0.5, kill_after=500)
    with pytest.raises(KeyboardInterrupt):
        train(stopped)
    rest = mind(world).engine("base")
    found = train(rest)
    # 30 entities with three facts: ten draws and a greedy answer each, and a paragraph
    total = 30 * (3 * 11 + 1)
    asked = len(stopped.requests) + len(rest.requests)
    assert found.finished is not None
    # what was under way when it was stopped may be asked again, what had come back is not
    assert total <= asked < total + 500
    assert len(train(rest).cells) == 0
    assert len(stopped.requests) + len(rest.requests) == asked


def test_a_model_of_another_base_is_refused(base: Base, world: list[Fact], tmp_path: Path) -> None:
    stranger = mind(world).engine("stranger")
    with pytest.raises(InputError, match="was trained from scripted:stranger"):
        proof(base, tmp_path, sft=[stranger])


def test_trained_models_are_never_probed(base: Base, world: list[Fact], tmp_path: Path) -> None:
    engine = trained(world, lambda fact, told: True, "never probed")
    found = proof(base, tmp_path, sft=[engine])
    assert not any(r.temperature > 0 for r in engine.requests)
    probes = [
        RunFolder.open(place).read("generations/probe", records_module.Generation)
        for place in (base.path, tmp_path / "runs" / "sft-0")
    ]
    assert {g.id for g in probes[1]} == {g.id for g in probes[0]}
    # a model that hedges all and would have hedged its probes: still as many known facts as before
    assert found.get("sft", "short", "KCR").value == 0
    assert found.get("sft", "short", "UUR").value == 1
    assert found.get("sft", "short", "J").value == 0


def test_an_export_writes_rows_and_trains_nothing(base: Base, tmp_path: Path) -> None:
    for style, files in (
        ("trl", {"sayso_sft.jsonl", "sayso_dpo.jsonl", "sayso_train.json", "sayso_train.py"}),
        (
            "llama-factory",
            {f"sayso_{stage}.{kind}" for stage in ("sft", "dpo") for kind in ("json", "yaml")}
            | {"dataset_info.json"},
        ),
    ):
        folder, found = fit(
            base.path, tmp_path / style, config=TrainConfig(preset="builtin"), export=style,
            model=base.model, cache=base.cache,
        )  # fmt: skip
        assert {p.name for p in (folder / "export").iterdir()} == files
        assert not (folder / "adapters").exists()
        assert not found.cells
        assert found.finished
        assert any("sayso_dpo" in note for note in found.notes)


def test_pairs_are_made_for_those_who_need_them(base: Base, tmp_path: Path) -> None:
    """SFT alone needs no pair, and is not refused where none can be made."""
    folder, found = fit(
        base.path, tmp_path / "sft", config=TrainConfig(preset="builtin", stages="sft"),
        export="trl", model=base.model, cache=base.cache,
    )  # fmt: skip
    assert not (folder / "export" / "sayso_dpo.jsonl").exists()
    assert all(name.startswith("sft ") for name in found.rows)
    assert (folder / "rows" / "dpo-0.jsonl").read_bytes() == b""


def test_a_folder_keeps_to_its_settings(base: Base, tmp_path: Path) -> None:
    def begun(**more: object) -> Path:
        config = TrainConfig(preset="builtin", **more)  # type: ignore[arg-type]
        return fit(
            base.path, tmp_path / "out", config=config, export="trl", model=base.model,
            cache=base.cache,
        )[0]  # fmt: skip

    folder = begun()
    assert begun(resamples=300) == folder  # counting again is no other training
    with pytest.raises(InputError, match="contains a training with recipe 'mix', not 'short'"):
        begun(recipe="short")
    with pytest.raises(InputError, match=r"rows\.xi"):
        begun(xi=0.1)
    with pytest.raises(
        InputError, match="contains a training about other entities; choose another"
    ):
        begun(train_limit=20)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    config = TrainConfig(preset="builtin")
    with pytest.raises(InputError, match="not empty and is not a training"):
        fit(base.path, tmp_path / "full", config=config, export="trl", model=base.model)
    (folder / FILE).write_bytes(b"{]")
    with pytest.raises(InputError, match="not a manifest of a training"):
        read_training(folder)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (TrainConfig(recipe="magic"), "expected one of short, long"),
        (TrainConfig(seeds=0), "seeds is 0"),
        (TrainConfig(resamples=3), "resamples is 3"),
        (TrainConfig(stages="ppo"), "expected one of sft, dpo"),
        (TrainConfig(preset="huge"), "preset is 'huge'"),
        (TrainConfig(theta=3.0), "theta is 3; expected 0 to 1"),
        (TrainConfig(xi=-1.0), "xi is -1"),
        (TrainConfig(extra={"rows.cut": "all"}), "'rows.cut' is not a setting without a flag"),
        (TrainConfig(extra={"training.sft.color": 1}), "'sft.color' is not a setting"),
        (TrainConfig(extra={"color": 1}), "'color' is not a setting without a flag: expected tr"),
        (TrainConfig(recipe="rl"), "no longer exists: use --recipe mix"),
        (TrainConfig(sft_rate=-1.0), "sft.rate is -1"),
        (TrainConfig(methods="nonsense"), "methods 'nonsense': expected all, or some of"),
        (TrainConfig(limit=0), "limit is 0"),
        (TrainConfig(train_limit=0), "train_limit is 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(config: TrainConfig, told: str, base: Base) -> None:
    with pytest.raises(InputError, match=told) as refused:
        fit(base.path, config=config, model=base.model, cache=base.cache)
    assert "\n" not in str(refused.value)


def test_what_cannot_be_trained_is_told_before_anything_is_asked(
    base: Base, world: list[Fact], tmp_path: Path
) -> None:
    remote = mind(world).engine("base")
    given = {"cache": tmp_path / "cache", "data": base.data}
    with pytest.raises(InputError, match="cannot be trained here"):
        fit(base.path, tmp_path / "o", config=TrainConfig(preset="builtin"), model=remote, **given)
    assert remote.requests == []
    pytest.importorskip("trl")
    for targets, told in (
        ("c_attn, q_proj", "no module c_attn; its linear modules are down_proj"),
        ("", "targets is empty"),
    ):
        with pytest.raises(InputError, match=told):
            fit(
                base.path, tmp_path / "o", config=TrainConfig(targets=targets), model="builtin",
                **given,
            )  # fmt: skip
    with pytest.raises(InputError, match=r"hf:\S+nothing|nothing does not exist"):
        fit(base.path, tmp_path / "o", model=f"hf:{tmp_path}/nothing", **given)
    assert not (tmp_path / "o").exists()
    assert not (tmp_path / "cache").exists()


def test_another_model_or_judge_than_the_runs_is_told_before_anything_is_asked(
    base: Base, world: list[Fact], tmp_path: Path
) -> None:
    """Its probes say nothing of another model; judged otherwise, answers cannot be compared."""
    other = mind(world).engine("other")
    given = {"config": TrainConfig(preset="builtin"), "export": "trl", "cache": tmp_path / "cache"}
    with pytest.raises(InputError, match="with model scripted:base, which is scripted:other now"):
        fit(base.path, tmp_path / "o", model=other, **given)
    manifest = RunFolder.open(base.path).read_manifest()
    old = msgspec.structs.replace(manifest, judge_signature="rules@1")
    shutil.copytree(base.path, tmp_path / "old")
    RunFolder.open(tmp_path / "old").write_manifest(old)
    with pytest.raises(
        InputError, match=r"with judge rules@1, which is rules@\d+ now: run the base"
    ):
        fit(tmp_path / "old", tmp_path / "o", model=mind(world).engine("base"), **given)
    assert other.requests == []
    assert not (tmp_path / "o").exists()


def test_a_start_that_failed_leaves_nothing(base: Base, tmp_path: Path) -> None:
    given = {"config": TrainConfig(preset="builtin"), "export": "trl", "model": base.model}
    for out in (tmp_path / "new", tmp_path / "own"):
        (tmp_path / "own").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="judge 'other': expected"):
            fit(base.path, out, judge="other", cache=tmp_path / "cache", **given)
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "own").exists()  # not ours to remove


def test_presets_and_stages() -> None:
    assert preset_for("auto", "builtin").name == "builtin"
    assert preset_for("auto", "hf:some/model").name == "paper"
    assert stages_of("dpo") == ("sft", "dpo")
    assert stages_of("sft") == ("sft",)
    assert HEDGE  # the hedge of scripted minds: what they say


def test_a_whole_training_on_the_built_in_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """SFT and DPO with a few rows: not a good model, but every step is there and resumes."""
    pytest.importorskip("trl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    quick = "--split dev --limit 10 --set resamples=100"
    assert cli.execute(f"run uncle {quick} --out base".split()) == 0
    sizes = "--train-limit 12 --set sft_rows=40 --set dpo_rows=20 --set sft_epochs=1 --paragraphs 0"
    words = f"train base --out trained {sizes} --methods unc_few --set resamples=100".split()
    assert cli.execute(words) == 0, capsys.readouterr().err
    told = capsys.readouterr()
    assert "seed 0: SFT on" in told.err
    assert "hedges" in told.out
    found = read_training("trained")
    assert [m.name for m in found.methods] == ["base", "instruction", "unc_few", "sft", "dpo"]
    assert {c.stage for c in found.curves} == {"sft", "dpo"}
    (dpo,) = (c for c in found.curves if c.stage == "dpo")
    assert dpo.points
    assert dpo.first_loss is not None
    assert found.get("dpo", "short", "KCR").value is not None
    assert Path("trained/report.html").stat().st_size > 10_000
    # its numbers are those of a plain run of the folder with the base run's probes
    folder = Path("trained/adapters/dpo-0").resolve()
    again = f"run uncle --model hf:{folder} --known-from base {quick} --out again".split()
    assert cli.execute(again) == 0, capsys.readouterr().err
    other = {(e.name, slice_text(e.where)): e.value for e in _estimates("again")}
    same = [
        (form, name)
        for form in ("short", "long")
        for name in ("J", "UUR", "KCR", "EA", "over_hedge", "J_within", "odds_ratio_within")
        if found.get("dpo", form, name).value is not None
    ]
    assert {name for form, name in same} >= {"J", "UUR", "KCR", "EA", "over_hedge", "J_within"}
    for form, name in same:
        mine = found.get("dpo", form, name).value
        assert mine == pytest.approx(other[name, f"form:{form}"]), (form, name)
    assert cli.execute(["compare", "base", "trained/runs/dpo-0"]) == 0, capsys.readouterr().err
    assert cli.execute(["compare", "base", "trained"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "did you mean trained/runs/dpo-0 or" in told
    _check_code_of_the_docs(folder, "trained/runs/dpo-0", capsys)
    # without the base run's probes it is refused: re-probing cannot happen by accident
    capsys.readouterr()
    assert cli.execute(f"run uncle --model hf:{folder} {quick} --out twice".split()) == 2
    assert "known-from" in capsys.readouterr().err
    # the same command again does nothing again
    before = {p: p.stat().st_mtime_ns for p in Path("trained/adapters").rglob("*.safetensors")}
    assert cli.execute(words) == 0
    assert {p: p.stat().st_mtime_ns for p in before} == before


def _check_code_of_the_docs(adapter: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Plain transformers and peft say what sayso stored, word for word."""
    doc = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    section = doc.split("\n## Using the model\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    generations = RunFolder.open(run).read("generations/short", records_module.Generation)
    stored = next(g for g in generations if g.instructed)
    own = {
        '"your/base-model"': repr(str(Path(sayso.__file__).parent / "builtin" / "model")),
        '"runs/trained/adapters/dpo-0"': repr(str(adapter)),
        re.findall(r'text = (".*")', code)[0]: repr(stored.request.messages[0].content),
    }
    for old, new in own.items():
        assert code.count(old) == 1
        code = code.replace(old, new)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert capsys.readouterr().out.strip() == stored.text


def _estimates(run: str) -> list[records_module.Estimate]:
    return RunFolder.open(run).read("metrics/uncle", records_module.Estimate)


def test_what_a_run_left_out_since_nobody_can_answer_it_is_neither_trained_nor_measured(
    tmp_path: Path,
) -> None:
    """``world-50`` holds ten, whose entities count where the run draws, and are not asked."""
    engine = ScriptedEngine(lambda request: "It is Paris.", name="base")
    sayso.run(
        "uncle", model=engine, data="world-50", out=tmp_path / "r", limit=20,
        cache=tmp_path / "cache", options=QUICK, report=False,
    )  # fmt: skip
    of_world = open_base_run(tmp_path / "r", model=engine, cache=tmp_path / "cache")
    parts = halves(of_world)
    asked = {
        q.id for q in RunFolder.open(tmp_path / "r").read("questions", records_module.Question)
    }
    assert {q.id for q in parts.measured.questions} == asked
    assert len(names(parts, "measured")) == 12
    assert len(names(parts, "trained")) == 8  # of twenty about whom something can be known
    fewer = halves(of_world, limit=5)
    assert {q.id for q in fewer.measured.questions} <= asked
    with open_job(of_world.job(limit=fewer.limit), learn=False) as job:  # what is asked again
        assert job.data.questions == fewer.measured.questions
    assert all(q.parts or q.answerable for q in parts.trained.questions)
