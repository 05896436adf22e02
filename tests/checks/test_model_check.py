"""``sayso check`` against engines with one known fault each, and against real models."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.checks.model import (
    FACTS,
    OPEN,
    WHOLE,
    CheckQuestioner,
    Tail,
    check,
    check_json,
    lower_tail,
    masses,
    tail,
    tempering,
)
from sayso.engines.prices import Price
from sayso.records import Generation, InputError, Request, Usage, ask
from support.scripted import ScriptedEngine
from support.urn import STEEP, Urn


def answers(engine: Any) -> dict[str, str]:
    return {f.what: f.answer for f in check(engine).findings}


def test_a_sound_endpoint() -> None:
    found = check(Urn())
    said = {f.what: f.answer for f in found.findings}
    assert said == {
        "answers": "yes",
        "log-probs": "yes",
        "several draws a call (n)": "yes",
        "seed": "yes",
        "thinking": "no",
        "greedy repeats": "yes",
        "takes sampling settings": "yes",
        WHOLE: "yes",
    }
    assert found.left_out == ()
    assert found.failed == 0
    assert found.requests == 442  # 1 + 1 thinking + 8 greedy + 9 seeds + 360 + 60 + 3
    assert found.prompt_tokens == 9 * 442
    assert "raw" in found.get("log-probs").seen
    assert found.dollars is None  # nobody knows the price of an urn
    assert json.loads(check_json(found))["findings"][0]["what"] == "answers"


@pytest.mark.parametrize(
    "cut",
    [
        {"top_k": 1},
        {"top_k": 5},
        {"top_k": 20},
        {"top_p": 0.5},
        {"top_p": 0.9, "weights": STEEP},
        {"top_p": 0.95, "weights": STEEP},
        {"min_p": 0.2},
    ],
    ids=str,
)
def test_truncated_sampling_is_seen_in_the_log_probabilities(cut: dict[str, Any]) -> None:
    found = check(Urn(**cut))
    finding = found.get(WHOLE)
    assert finding.answer == "no"
    assert "truncated" in finding.follows
    assert ("draws never vary" in {left.why for left in found.left_out}) == (cut.get("top_k") == 1)
    if cut.get("top_k") == 5:
        assert "top_k=5" in finding.follows
    if cut.get("top_p") == 0.5:  # nine words reach one half
        assert "top_p=0.5" in finding.follows


def test_twenty_sound_endpoints_are_not_accused() -> None:
    for n in range(20):
        weights = [1 / (i + 2 + n) for i in range(40 + n)]
        assert answers(Urn(weights=weights))[WHOLE] == "yes", n


def test_a_certain_model_cannot_be_tested_for_truncation() -> None:
    found = check(Urn(weights=[0.995, 0.005 / 2, 0.005 / 2]))
    assert found.get(WHOLE).answer == "cannot tell"


def test_repeated_draws_take_away_what_rests_on_draws() -> None:
    found = check(Urn(repeats=True, logprobs=None))
    assert found.get(WHOLE).answer == "no"
    assert found.get("seed").answer == "cannot tell"
    lost = {left.result: left.why for left in found.left_out}
    assert lost["unspoken knowledge"] == "no log-probs"
    assert "draws never vary" in lost.values()


def test_without_log_probabilities_truncation_is_only_a_guess() -> None:
    found = check(Urn(logprobs=None, top_k=5))
    assert found.get("log-probs").answer == "no"
    assert found.get(WHOLE).answer == "cannot tell"
    assert "looks like top_k=5" in found.get(WHOLE).follows
    sound = check(Urn(logprobs=None))
    assert sound.get(WHOLE).answer == "cannot tell"
    assert sound.get(WHOLE).follows == ""


def test_a_refused_temperature_is_no_evidence_of_truncation() -> None:
    engine = Urn(logprobs=None, top_k=5, overrides=("temperature: provider default",))
    found = check(engine)
    assert found.get(WHOLE).follows == ""
    assert found.get("takes sampling settings").answer == "no"
    assert found.get("takes sampling settings").follows == "its own defaults apply there"
    assert "temperature 0 is refused" in found.get("greedy repeats").seen


def test_a_refused_truncation_says_what_to_do() -> None:
    found = check(Urn(overrides=("top_k: not sent",))).get("takes sampling settings")
    assert (found.answer, found.seen) == ("no", "top_k: not sent")
    assert "start the server with neutral generation settings" in found.follows


@pytest.mark.parametrize("where", ["alone", "batch"])
def test_greedy_that_wavers(where: str) -> None:
    finding = check(Urn(wavers=where)).get("greedy repeats")
    assert finding.answer == "no"
    # two calls of one question are four calls apart, and the answer changes every four calls
    assert "0 of 4" in finding.seen


def test_equal_greedy_requests_are_really_asked() -> None:
    engine = Urn()
    check(engine)
    for text in FACTS[1:]:  # the first one also opens the check and asks for thinking
        asked = [r for r in engine.requests if r.messages[-1].content == text]
        assert len(asked) == 2
        assert len(set(asked)) == 1


def test_tempered_log_probabilities() -> None:
    found = check(Urn(logprobs="tempered"))
    assert "tempered" in found.get("log-probs").seen
    assert "greedy answers have none" in found.get("log-probs").follows  # 0.0, not log .19
    assert found.get(WHOLE).answer == "cannot tell"
    assert "unspoken knowledge" in {left.result for left in found.left_out}
    # a cut shows all the same: at T=1 tempering changes nothing
    assert answers(Urn(logprobs="tempered", top_k=5))[WHOLE] == "no"


def test_seeds_that_are_ignored() -> None:
    assert answers(Urn(seeded=False))["seed"] == "no"


def test_thinking_that_can_be_switched_off() -> None:
    engine = Urn(thinks="yes")
    found = check(engine)
    assert found.get("thinking").answer == "yes"
    assert "enable_thinking=False" in found.get("thinking").seen
    assert found.get(WHOLE).answer == "yes"  # asked without thoughts from there on
    draws = [r for r in engine.requests if r.max_tokens == 1]
    assert all(dict(r.chat_template_kwargs) == {"enable_thinking": False} for r in draws)


@pytest.mark.parametrize("length", [100, 3000])
def test_thinking_that_cannot_be_switched_off(length: int) -> None:
    class Thinker(Urn):
        def answer(self, request: Request, batched: bool) -> Generation:
            found = super().answer(request, batched)
            if request.max_tokens < length:
                return Generation(request, thinking="hm", problem="truncated", usage=Usage(9, 1))
            return Generation(request, text=found.text, thinking="hm", usage=found.usage)

    found = check(Thinker())
    assert "failed" in found.get("thinking").seen
    assert "a thought before ''" not in found.get("thinking").seen  # an answer came
    assert found.get("seed").answer == "yes"
    assert found.get(WHOLE).answer == "cannot tell"
    assert found.requests < 60


def test_thinking_only_when_asked() -> None:
    finding = check(Urn(thinks="asked")).get("thinking")
    assert finding.answer == "yes"
    assert "only when asked" in finding.seen


def test_hidden_thoughts_are_no_equal_draws() -> None:
    """Replies that show nothing at all say nothing about whether draws vary."""

    def reply(request: Request) -> Generation:
        if request.greedy:
            return Generation(request, text="Paris.", thinking_tokens=40)
        return Generation(request, problem="truncated", thinking_tokens=request.max_tokens)

    found = check(ScriptedEngine(reply))
    assert found.get(WHOLE).answer == "cannot tell"
    assert "draws never vary" not in {left.why for left in found.left_out}


def test_requests_that_fail_are_counted_and_decide_nothing() -> None:
    def reply(request: Request) -> str | Generation:
        if request.greedy and request.messages[-1].content == FACTS[0]:
            return "Paris."
        return Generation(request, problem="failed: 500 of the server")

    found = check(ScriptedEngine(reply))
    said = {f.what: f.answer for f in found.findings}
    assert found.failed > 90
    assert said["seed"] == "cannot tell"
    assert said[WHOLE] == "cannot tell"
    assert said["greedy repeats"] == "yes"  # of the one question that was answered


def test_tokens_that_an_endpoint_does_not_tell_are_not_free() -> None:
    engine: Any = ScriptedEngine(lambda request: Generation(request, text="yes"))
    engine.price = Price(1.0, 1.0)
    asking = CheckQuestioner(engine)
    asking.ask([ask("x")])
    assert asking.dollars is None


def test_nobody_answers() -> None:
    with pytest.raises(InputError, match=r"did not answer .*\(dead\)"):
        check(ScriptedEngine(lambda _: Generation(Request(()), problem="failed: dead")))
    with pytest.raises(InputError, match="context"):
        check(ScriptedEngine({}, context=5))
    with pytest.raises(InputError, match="scripted gave a Generation without a text, or whose"):
        check(ScriptedEngine(lambda _: Generation(Request(()), text=None)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected 'builtin'"):
        check("nonsense")


def test_a_small_context_is_asked_for_less() -> None:
    words = itertools.cycle(["red", "green", "blue"])
    engine = ScriptedEngine(lambda _: next(words), context=128)
    assert check(engine).failed == 0


def test_the_built_in_model() -> None:
    found = check("builtin")
    said = {f.what: f.answer for f in found.findings}
    assert {what for what, answer in said.items() if answer == "no"} == {"thinking"}
    assert "cannot tell" not in said.values()
    assert found.dollars == 0.0
    assert found.left_out == ()


def test_a_folder_whose_own_settings_would_truncate(make_tiny_folder: Path) -> None:
    """do_sample is false and top_k=1 in the folder: our own engine must not read it."""
    said = answers_of_folder(make_tiny_folder)
    assert said[WHOLE] == "yes"
    assert said["log-probs"] == "yes"


def answers_of_folder(folder: Path) -> Mapping[str, str]:
    return {f.what: f.answer for f in check(f"hf:{folder}").findings}


@pytest.fixture(scope="module")
def make_tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built-in model with a generation config that forbids sampling."""
    import shutil
    from importlib import resources

    folder = tmp_path_factory.mktemp("folder") / "model"
    with resources.as_file(resources.files("sayso") / "builtin" / "model") as source:
        shutil.copytree(source, folder)
    config = json.loads((folder / "generation_config.json").read_text())
    config |= {"do_sample": False, "top_k": 1, "temperature": 0.1}
    (folder / "generation_config.json").write_text(json.dumps(config))
    return folder


def test_the_tail_by_hand() -> None:
    # P(Bin(3, .5) <= 1) = (1 + 3) / 8; coins .5 and .2: P(0) = .4, P(<=1) = .4 + .4 + .1
    assert lower_tail(1, [0.5] * 3) == pytest.approx(0.5)
    assert lower_tail(0, [0.5, 0.2]) == pytest.approx(0.4)
    assert lower_tail(1, [0.5, 0.2]) == pytest.approx(0.9)
    assert lower_tail(0, []) == 1.0
    half = math.log(0.5)
    found = tail({"q": [("a", half)]}, {"q": [("a", half)] * 4})
    assert (found.shown, found.mass, found.draws, found.new) == (1, pytest.approx(0.5), 4, 0)
    assert found.p == pytest.approx(1 / 16)
    assert found.expected == pytest.approx(2)
    # 1/16 is above .01: with four draws no cut at all would show. With twenty at q = .5: a cut of
    # 34 % leaves 20 * .16 / .66 = 4.8, and P(Bin(20, .5) <= 4) = .0059; of 33 % 5, and .0207
    assert found.smallest == 1.0
    assert Tail(1, 0.5, 20, 0, 10.0, 1.0).smallest == 0.34
    # a draw that cannot be read is one that was not shown before
    assert tail({"q": [("a", half)]}, {"q": [None, ("b", half)]}).new == 2


@given(st.lists(st.floats(0, 1), max_size=8), st.integers(0, 8))
def test_the_tail_is_a_sum_over_all_outcomes(chances: list[float], most: int) -> None:
    total = 0.0
    for outcome in itertools.product([0, 1], repeat=len(chances)):
        if sum(outcome) <= most:
            total += math.prod(p if hit else 1 - p for p, hit in zip(chances, outcome, strict=True))
    assert lower_tail(most, chances) == pytest.approx(total, abs=1e-9)


def test_two_tokens_of_one_spelling_are_left_out() -> None:
    assert masses([("a", -1.0), ("a", -2.0), ("b", -1.0), None]) == {"b": math.exp(-1.0)}


def test_tempering_by_hand() -> None:
    # p = .8, .2: at T=.5 they are .64/.68 and .04/.68
    warm = {"q": [("a", math.log(0.8)), ("b", math.log(0.2))]}
    moved = {"q": [("a", math.log(0.64 / 0.68)), ("b", math.log(0.04 / 0.68))]}
    found = tempering(warm, moved)
    assert found.moves is True
    assert found.moved == pytest.approx(found.would_move)
    assert tempering(warm, warm).moves is False
    assert tempering(warm, {"q": []}).moves is None
    certain = {"q": [("a", math.log(0.999))]}
    assert tempering(certain, certain).moves is None


def test_open_questions_differ() -> None:
    assert len(set(OPEN)) == 3


def test_a_template_that_leaves_the_question_out() -> None:
    found = check(ScriptedEngine(lambda _: Generation(Request(()), text="x", rendered_hash="c0")))
    finding = found.get("answers")
    assert finding.answer == "no"
    assert "different questions became the same prompt" in finding.seen
