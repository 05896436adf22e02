"""The table of a training: numbers and intervals of single runs, and what seeds make of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sayso
from sayso.metrics.within_type import log_odds_error
from sayso.protocols.uncle.seeds import FEW_HEDGES, Frame, SeedSide, least_error
from sayso.protocols.uncle.settings import Settings
from sayso.records import Estimate, Generation, Question, slice_text
from sayso.storage.run_folder import RunFolder
from sayso.train.proof import cells_and_changes, frame_of, side_of
from sayso.train.result import MeasuredMethod, MethodNumber
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, Mind, chance, facts, write
from support.scripted_world import records as records_of

RESAMPLES = 1000
LETTERS = str.maketrans("0123456789.", "abcdefghijq")
Hedges = Callable[[Fact], bool]


def known(fact: Fact) -> bool:
    return chance("knows", fact.question) < 0.6


def run(tmp: Path, name: str, hedges: Hedges, world: list[Fact], sure: float = 1.0) -> Path:
    """A run of a model that hedges as told, and is right ``sure`` of the time or never."""
    mind = Mind(
        world, lambda f: (1.0 if chance("sure", f.question) < 0.5 else sure) * known(f),
        lambda fact, told: told and hedges(fact),
        guess=lambda fact, draw: f"Zz{chance('wrong', fact.question, draw):.6f}".translate(LETTERS),
    )  # fmt: skip
    data = write(tmp / "mine.jsonl", records_of(world))
    engine = ScriptedEngine(mind, name="one", logprob=-0.5)
    sayso.run(
        "uncle", model=engine, data=str(data), out=tmp / name, limit=0, cache=tmp / f"c-{name}",
        options=Settings(resamples=RESAMPLES), report=False,
    )  # fmt: skip
    return tmp / name


def cells_of(frame: Frame, sides: list[SeedSide]) -> list[MethodNumber]:
    method = MeasuredMethod("m", "M", "trained", tuple(range(len(sides))))
    return cells_and_changes(
        frame, [method], {"m": sides}, against="m", signature="", resamples=RESAMPLES
    )[0]


def get(cells: list[MethodNumber], form: str, name: str) -> MethodNumber:
    return next(c for c in cells if (c.form, c.estimate.name) == (form, name))


def opened(path: Path) -> tuple[Frame, SeedSide]:
    questions = RunFolder.open(path).read("questions", Question)
    frame = frame_of(path, questions)
    return frame, side_of(frame, path, {})


def few(fact: Fact) -> bool:
    """Seven hedges, one of them of a known fact: too few for resamples."""
    rate = 0.12 if not known(fact) else 0.012
    return chance("few", fact.question) < rate


def many(fact: Fact) -> bool:
    return chance("many", fact.question) < (0.2 if known(fact) else 0.7)


def never(fact: Fact) -> bool:
    return False


@pytest.mark.parametrize("hedges", [few, many, never])
def test_one_run_has_the_numbers_and_intervals_that_it_has_alone(
    hedges: Hedges, tmp_path: Path
) -> None:
    path = run(tmp_path, "r", hedges, facts(40))
    frame, side = opened(path)
    cells = cells_of(frame, [side])
    alone = {
        (e.name, slice_text(e.where)): e
        for e in RunFolder.open(path).read("metrics/uncle", Estimate)
    }
    names = ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge", "J_within", "odds_ratio_within")
    for form in ("short", "long"):
        for name in names:
            mine, own = get(cells, form, name).estimate, alone[name, f"form:{form}"]
            where = (name, form, mine, own)
            assert mine.value == pytest.approx(own.value), where
            assert (mine.low is None) == (own.low is None), where
            if own.low is None or mine.low is None or mine.high is None or own.high is None:
                continue
            ends = np.array([[mine.low, mine.high], [own.low, own.high]])
            if name == "odds_ratio_within":
                ends = np.log(ends)
            width = ends[1, 1] - ends[1, 0]
            # other random numbers: a tenth of the width
            assert np.abs(ends[0] - ends[1]).max() <= 0.1 * width + 1e-9, where


def test_a_model_that_never_hedges_has_an_interval_around_0(tmp_path: Path) -> None:
    """No resample holds a hedge; "0 [0, 0]" would say that none could have been there."""
    frame, side = opened(run(tmp_path, "r", never, facts(40)))
    cells = cells_of(frame, [side, side])
    for name in ("J", "J_within"):
        found = get(cells, "short", name).estimate
        assert found.value == 0
        assert found.low is not None
        assert found.high is not None
        assert found.low < 0 < found.high
    odds = get(cells, "short", "odds_ratio_within")
    assert odds.estimate.value is None
    assert odds.estimate.problem
    assert odds.by_seed == (None, None)


def test_odds_ratios_of_seeds_are_averaged_as_logarithms(tmp_path: Path) -> None:
    world = facts(40)
    frame, one = opened(run(tmp_path, "a", many, world))
    other = side_of(
        frame, run(tmp_path, "b", lambda f: many(f) and chance("x", f) < 0.6, world), {}
    )
    found = get(cells_of(frame, [one, other]), "short", "odds_ratio_within")
    first, second = found.by_seed
    assert first is not None
    assert second is not None
    assert first != second
    alone = get(cells_of(frame, [one]), "short", "odds_ratio_within").estimate.value
    assert first == pytest.approx(alone)
    assert found.estimate.value == pytest.approx((first * second) ** 0.5)
    # a seed that never hedges has none; it is left out, and told
    silent = side_of(frame, run(tmp_path, "c", never, world), {})
    told = get(cells_of(frame, [one, silent]), "short", "odds_ratio_within").estimate
    assert told.value == pytest.approx(first)
    assert told.problem == "undefined for 1 of 2 seeds, which are left out"


def test_the_least_error_of_an_odds_ratio_over_seeds(tmp_path: Path) -> None:
    """Few hedges: seeds answer the same facts, so that their mean errs as much as each of them."""
    frame, sparse = opened(run(tmp_path, "a", few, facts(40)))
    label = sparse.answers["short"].label
    own = least_error(frame, [label])
    assert own > 0.5
    assert least_error(frame, [label, label]) == pytest.approx(own)
    rich = side_of(frame, run(tmp_path, "b", many, facts(40)), {}).answers["short"].label
    alone = least_error(frame, [rich])
    assert least_error(frame, [rich] * 4) == pytest.approx(alone / 2)
    assert least_error(frame, [np.zeros_like(rich)]) == 0
    assert log_odds_error(np.zeros((1, 6))) is None


def test_facts_with_one_answer_to_choose_from_are_told_apart(tmp_path: Path) -> None:
    """Any model "chooses" an answer that stands alone: only where there are several can one err."""
    world = facts(20)
    path = run(tmp_path, "r", never, world, sure=0.5)
    frame, _ = opened(path)
    held = RunFolder.open(path)
    given: dict[str, set[str]] = {}
    for stage in ("probe", "short"):
        for g in held.read(f"generations/{stage}", Generation):
            if not g.instructed:
                given.setdefault(g.question, set()).add(g.text)
    many = np.array([len(given[q.id]) > 1 for q in frame.questions])
    assert frame.several.tolist() == many.tolist()
    here = frame.known == 1
    assert 0 < (here & many).sum() < here.sum()
    # every choice was wrong, and those that were none were right
    side = side_of(frame, path, {q.id: not m for q, m in zip(frame.questions, many, strict=True)})
    cells = cells_of(frame, [side])
    share = 1 - (here & many).sum() / here.sum()
    assert get(cells, "short", "forced").estimate.value == pytest.approx(share)
    assert get(cells, "short", "forced_several").estimate.value == 0


def test_what_probabilities_would_allow_counts_the_facts_that_uur_counts(tmp_path: Path) -> None:
    """A fact that is hedged unasked has no log-probability: it stays hedged, and counted."""
    frame, side = opened(run(tmp_path, "r", many, facts(30)))
    short = side.answers["short"]
    lost = (short.label == 2) & (np.arange(len(short.label)) % 3 > 0)
    blind = short._replace(logprob=np.where(lost, np.nan, -1.0))
    none = short._replace(logprob=np.full(len(lost), -1.0))
    told = {}
    for name, answers in (("blind", blind), ("none", none)):
        cells = cells_of(frame, [side._replace(answers={**side.answers, "short": answers})])
        told[name] = get(cells, "short", "policy_UUR").estimate.value
        uur = get(cells, "short", "UUR").estimate.value
    # equal scores: hedging at random, within type as often. Fewer facts are drawn again.
    assert told["none"] < told["blind"] <= uur


def test_hedges_unasked_are_counted_where_nobody_asks(tmp_path: Path) -> None:
    """The model hedges when told to: 0 of all facts unasked, with an exact interval; counts."""
    frame, side = opened(run(tmp_path, "r", many, facts(30)))
    cells = cells_of(frame, [side])
    none = get(cells, "short", "unasked").estimate
    asked = get(cells, "short", "p_uncertain").estimate
    assert (none.value, none.numerator, none.denominator) == (0, 0, asked.denominator)
    assert none.problem == f"sparse: 0 of {none.denominator:.0f}, exact interval"
    assert none.low == 0
    assert none.high is not None
    assert none.high > 0
    uur, over = (get(cells, "short", name).estimate for name in ("UUR", "over_hedge"))
    assert (uur.numerator or 0) + (over.numerator or 0) == asked.numerator
    assert uur.denominator == (frame.known == 0).sum()
    # whoever hedges at random unasked is seen, in this form alone
    half = np.arange(len(frame.known)) % 2 * 2
    short = side.answers["short"]._replace(plain=half)
    cells = cells_of(frame, [side._replace(answers={**side.answers, "short": short})])
    found = get(cells, "short", "unasked").estimate
    use = frame.known >= 0
    assert found.value == pytest.approx((half[use] == 2).mean())
    assert found.low is not None
    assert found.low > 0.4
    assert get(cells, "long", "unasked").estimate.value == 0
    assert get(cells, "short", "p_uncertain").estimate.value == asked.value


def test_what_has_no_interval_is_not_tested(tmp_path: Path) -> None:
    """Thin bins of confidence, few hedges: the change of skill and of the odds ratio has no p."""
    world = facts(40)
    frame, often = opened(run(tmp_path, "a", many, world))
    _, seldom = opened(run(tmp_path, "b", few, world))
    methods = [MeasuredMethod("a", "A", "instruction"), MeasuredMethod("b", "B", "trained", (0,))]
    sides = {"a": [often], "b": [seldom]}
    _, changes = cells_and_changes(
        frame, methods, sides, against="a", signature=(), resamples=RESAMPLES
    )
    gaps = {(c.form, c.difference.name): c for c in changes}
    assert gaps["short", "log_odds_within"].difference.problem == FEW_HEDGES
    for name in ("skill", "log_odds_within"):
        one = gaps["short", name]
        assert one.difference.value is not None
        assert (one.difference.low, one.p, one.p_holm) == (None, None, None)
        assert (one.difference.problem or "").startswith("no interval")
    assert gaps["short", "J"].p is not None
