"""--dry-run: what would be asked and paid, before anything is."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.engines.prices import LOCAL, Price
from sayso.progress import Progress
from sayso.protocols import uncle
from sayso.records import Generation, InputError, Request, Usage, ask
from sayso.runs import measure
from sayso.runs.dry_run import (
    UNKNOWN_FORM,
    Range,
    RunEstimate,
    StageEstimate,
    _Cost,
    _Pilot,
    estimate_job,
    means,
    plan_text,
    price_job,
    still_asked,
)
from sayso.runs.job import Job, with_settings
from sayso.runs.run import execute_job, foreseen, open_job
from sayso.runs.tools import ScoringCount
from sayso.storage.run_folder import read_head
from support.endpoint import endpoint
from support.judge_world import judge_engine, truthful
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, facts, records, write

WORLD = facts(6)  # 18 facts, 6 paragraphs
MIND = Mind(WORLD, lambda f: 0.7)


def job(folder: Path, model: Any, judge: Any = "rules", **more: Any) -> Job:
    return Job(
        model=model,
        judge=judge,
        data=str(write(folder / "q.jsonl", records(WORLD))),
        cache=folder / "cache",
        out=folder / "run",
        options=uncle.Settings(resamples=100),
        **more,
    )


def stage(plan: RunEstimate, who: str, name: str) -> StageEstimate:
    (found,) = [s for s in plan.stages if (s.who, s.name) == (who, name)]
    return found


def run(folder: Path, model: Any, judge: Any = "rules") -> measure.Result:
    return sayso.run(
        report=False,
        model=model,
        judge=judge,
        data=str(folder / "q.jsonl"),
        cache=folder / "cache",
        out=folder / "run",
        options=uncle.Settings(resamples=100),
    )


def test_nothing_is_asked_and_no_folder_is_made(tmp_path: Path) -> None:
    subject, judge = MIND.engine("base"), judge_engine(truthful)
    plan = estimate_job(job(tmp_path, subject, judge))
    assert not subject.requests
    assert not judge.requests
    assert not (tmp_path / "run").exists()
    # 18 facts drawn five times; each asked with and without instruction; so are 6 paragraphs
    for name, number in (("probe", 90), ("short", 36), ("long", 12)):
        found = stage(plan, "model", name)
        assert (found.requests, found.cached) == (Range(number, number), 0)
        assert found.by == "assumption"
    # an answer of at most 256 tokens takes 2 to 256 of them
    assert stage(plan, "model", "probe").completion_tokens == Range(90 * 2, 90 * 256)
    # the judge reads the short answers of an entity together: at least two calls for each of six
    # entities (equal draws are read once, and some differ), at most one for each draw of it
    assert stage(plan, "judge", "probe").requests == Range(12, 30)
    assert stage(plan, "judge", "long").requests == Range(6, 12)


def test_the_range_holds_what_then_happens(tmp_path: Path) -> None:
    subject = ScriptedEngine(lambda r: MIND(r).text + "!" * (r.sample % 2), "base")
    judge = judge_engine(truthful)
    plan = estimate_job(job(tmp_path, subject, judge))
    run(tmp_path, subject, judge)
    asked = [s.requests for s in plan.stages if s.who == "judge"]
    assert sum(r.low for r in asked) <= len(judge.requests) <= sum(r.high for r in asked)
    assert sum(s.requests.high for s in plan.stages if s.who == "model") == len(subject.requests)
    for who, engine in (("model", subject), ("judge", judge)):
        spent = [s.completion_tokens for s in plan.stages if s.who == who]
        words = engine.counts.completion_tokens  # a token is a word here
        assert sum(r.low for r in spent) <= words <= sum(r.high for r in spent), who


def test_what_is_in_the_cache_costs_nothing_more(tmp_path: Path) -> None:
    run_job = job(tmp_path, MIND.engine("base"), judge_engine(truthful))
    run(tmp_path, MIND.engine("base"), judge_engine(truthful))
    plan = estimate_job(run_job)
    for found in plan.stages:
        assert found.requests == Range(found.cached, found.cached), found.name
        assert found.completion_tokens == Range(0, 0)
    assert plan.dollars == Range(0, 0)  # unknown prices, but nothing is left to pay


def test_answers_so_far_replace_the_assumptions(tmp_path: Path) -> None:
    """Every answer takes 20 tokens, and a prompt as many as it has characters."""

    def reply(request: Any) -> Generation:
        size = len(request.messages[0].content)
        usage = Usage(prompt_tokens=size, completion_tokens=20, dollars=0.0)
        return Generation(request, text="I do not know. " * 4, finish="stop", usage=usage)

    engine = ScriptedEngine(reply, kill_after=60)
    wanted = job(tmp_path, engine)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, engine)
    plan = estimate_job(wanted)
    probe = stage(plan, "model", "probe")
    assert probe.by == "answers"
    left = 90 - probe.cached
    assert probe.completion_tokens == Range(round(left * 18), round(left * 22))  # 20 +- 10 %


@pytest.mark.parametrize(
    ("price", "said", "dollars"),
    [
        (None, "unknown (give --price IN,OUT)", None),
        (LOCAL, "local, no price", 0.0),
        (Price(0.0, 1000.0, source="your --price"), "$0 in, $1000 out", 90 * 256 / 1000),
    ],
)
def test_prices(tmp_path: Path, price: Price | None, said: str, dollars: float | None) -> None:
    engine: Any = MIND.engine("base")
    engine.price = price
    plan = estimate_job(job(tmp_path, engine))
    assert said in plan.prices["model"]
    found = stage(plan, "model", "probe").dollars
    assert (found and found.high) == dollars or (found is None and dollars is None)
    text = plan_text(plan)
    assert said in text
    if price is None:
        asked = sum(s.requests.high for s in plan.stages)
        tokens = r"[\d,]+ - [\d,]+ prompt tokens, [\d,]+ - [\d,]+ answer tokens"
        assert re.search(
            rf"^total: unknown price; {asked:,.0f} requests still to ask, {tokens}$", text, re.M
        )
        assert "$0" not in text
    if price == LOCAL:
        assert "total: local, no price" in text
        assert "$" not in text


def test_a_cascade_asks_from_every_third_answer_to_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-never-sent")
    plan = estimate_job(job(tmp_path, MIND.engine("base"), "rules+openai:gpt-4o-mini"))
    judged = [s for s in plan.stages if s.who == "judge"]
    assert all(s.requests.low < s.requests.high for s in judged)
    assert sum(s.requests.low for s in judged) > 0
    assert all(s.dollars is not None and s.dollars.low < s.dollars.high for s in judged)
    assert plan.dollars is None  # nobody knows what the model costs
    # every entity has as many questions: each call has some that the rules are not certain of
    assert still_asked(judged).high <= 3 * still_asked(judged).low
    assert not any("is a wide range" in note for note in plan.notes)
    two = estimate_job(
        job(tmp_path, MIND.engine("base"), "openai:gpt-4o-mini", judge_mode="two_pass")
    )
    one = estimate_job(job(tmp_path, MIND.engine("base"), "openai:gpt-4o-mini"))
    for name in ("probe", "short", "long"):
        first, second = stage(one, "judge", name), stage(two, "judge", name)
        assert second.requests == Range(first.requests.low, 2 * first.requests.high)


def json_judge() -> ScriptedEngine:
    """An endpoint that holds to a schema."""
    engine = judge_engine(truthful)
    engine.identity = "api:judge"
    inner: Any = engine.reply

    def reply(request: Any) -> Any:
        first = "Is tea better" in request.messages[0].content
        return '{"choice": "tea"}' if first else inner(request)

    engine.reply = reply
    return engine


def test_verdicts_in_json_are_found_in_the_cache(tmp_path: Path) -> None:
    before = estimate_job(job(tmp_path, MIND.engine("base"), json_judge()))
    assert UNKNOWN_FORM in before.notes
    manifest = run(tmp_path, MIND.engine("base"), json_judge()).manifest
    judge = json_judge()
    plan = estimate_job(job(tmp_path, MIND.engine("base"), judge))
    assert not judge.requests
    assert UNKNOWN_FORM not in plan.notes
    assert plan.judge == manifest.judge_signature
    assert "+json" in plan.judge
    judged = [s for s in plan.stages if s.who == "judge"]
    assert sum(s.cached for s in judged) == sum(s.requests.high for s in judged) > 0


@pytest.mark.parametrize(
    ("name", "thinking", "warns"),
    [("openai:o3-mini", "", True), ("http://127.0.0.1:1/v1#Qwen/Qwen3-4B", "low", True),
     ("http://127.0.0.1:1/v1#Qwen3-4B", "off", False), ("openai:gpt-4o-mini", "", False),
     ("http://127.0.0.1:1/v1#Qwen3-4B-Instruct-2507", "", False)],
)  # fmt: skip
def test_a_model_that_thinks_is_told(tmp_path: Path, name: str, thinking: str, warns: bool) -> None:
    plan = estimate_job(job(tmp_path, name, thinking=thinking))
    assert any("thinks before it answers" in text for text in plan.cautions) is warns


def test_few_answers_say_nothing_yet() -> None:
    known = [(ask("q" * 100), Generation(ask("q"), usage=Usage(25, 10)))] * 4
    assert means(known, 256).by == "assumption"
    found = means([*known, known[0]], 256)
    assert found.by == "answers"
    assert found.completion == Range(9.0, 11.0)
    assert found.prompt == pytest.approx(Range(0.225, 0.275))


def test_an_address_that_was_not_tried_is_said(tmp_path: Path) -> None:
    name = "http://127.0.0.1:9/v1#m"
    plan = estimate_job(job(tmp_path, name, f"rules+{name}"))
    said = [note for note in plan.notes if "not contacted" in note]
    assert said == [f"{name}: the address was not contacted; sayso check contacts it"]
    assert said[0] in plan_text(plan)
    plan = estimate_job(job(tmp_path, MIND.engine("base")))
    assert not [note for note in plan.notes if "not contacted" in note]


def test_pricing_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    plan = estimate_job(job(tmp_path, "openai:gpt-4o-mini", "rules+openai:gpt-4o"))
    assert plan.dollars is not None
    assert plan.dollars.high > plan.dollars.low > 0
    assert "$0.15 in" in plan.prices["model"]
    with pytest.raises(InputError, match="needs a key: set the variable OPENAI_API_KEY"):
        sayso.run(model="openai:gpt-4o-mini", limit=1, cache=tmp_path / "c", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_misspelt_model_has_no_price_and_a_question(tmp_path: Path) -> None:
    asked = "unknown (give --price IN,OUT)"
    plan = estimate_job(job(tmp_path, "openai:gpt-4o-minni", "openai:gpt-4o-minii"))
    assert plan.prices["model"] == asked
    assert plan.prices["judge"] == asked.replace("--price ", "--set judge_price=")
    assert plan.dollars is None
    assert asked in plan_text(plan)
    plan = estimate_job(job(tmp_path, "openai:of-my-own"))
    assert plan.prices["model"] == "unknown (give --price IN,OUT)"
    with pytest.raises(InputError, match=r"unknown; give"):
        estimate_job(job(tmp_path, "openai:gpt-4o-minni", max_cost=1.0))


def test_what_is_read_before_a_price_is_told(tmp_path: Path) -> None:
    class Told(Progress):
        def doing(self, what: str) -> None:
            said.append(what)

    said: list[str] = []
    wanted = job(tmp_path, f"hf:{tmp_path}/tiny")
    with pytest.raises(InputError, match="does not exist"):
        estimate_job(wanted, progress=Told())
    with pytest.raises(InputError, match="does not exist"):
        execute_job(wanted, Told())
    assert said == ["reading the files of tiny (no weights are loaded)", "loading the model"]


# ---- what the run would refuse


def test_a_folder_that_the_run_refuses_is_refused(tmp_path: Path) -> None:
    planned = job(tmp_path, MIND.engine("base"))
    assert estimate_job(planned).stages
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"not a run folder \(it contains 'letter.txt'\)"):
        estimate_job(planned)
    (tmp_path / "run" / "letter.txt").unlink()
    execute_job(planned)
    assert estimate_job(planned).stages
    other = dataclasses.replace(planned, seed=7, limit=1)
    with pytest.raises(InputError, match="contains a run of uncle"):
        estimate_job(other)


def test_probes_that_the_run_refuses_are_refused(tmp_path: Path) -> None:
    planned = job(tmp_path, MIND.engine("base"))
    chosen = uncle.Settings(resamples=100, known_from=str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere does not exist: expected a run folder"):
        estimate_job(dataclasses.replace(planned, options=chosen))
    assert not (tmp_path / "run").exists()


REHEARSED = (
    ("uncle", {"probe.stop": "first_right", "probe.at_least": 2}),
    ("selective", {"elicit": True}),
    ("faithfulness", {"draws.k": 4, "decisive": "judge", "contradict": "judge"}),
    ("faithfulness", {"draws.k": 2, "methods": "vanilla,self_refine"}),
    ("self_known", {"support": "judge", "claims": "rules", "questions": "judge"}),
    ("self_known", {"remedy": "revise", "claims": "rules", "support": "rules"}),
)


def or_nothing(reply: Callable[[Request], str | Generation]) -> Callable[[Request], str]:
    """Answer what is known, and say nothing of use to anything else."""

    def answered(request: Request) -> str:
        try:
            found = reply(request)
        except (StopIteration, IndexError, KeyError, AttributeError):
            return "I only grade."
        return found if isinstance(found, str) else found.text

    return answered


@pytest.mark.parametrize(("protocol", "chosen"), REHEARSED)
def test_a_rehearsal_holds_what_a_run_asks(
    tmp_path: Path, protocol: str, chosen: dict[str, object]
) -> None:
    """Readers of wording, claims and questions, revisions and elicited confidence are counted."""
    subject = ScriptedEngine(or_nothing(lambda request: MIND(request).text), "base")
    judge = ScriptedEngine(
        or_nothing(lambda r: next(iter(judge_engine(truthful).complete([r])))[1]), "judge-1"
    )
    given = with_settings(
        dataclasses.replace(job(tmp_path, subject, judge), protocol=protocol, options=None),
        {"resamples": 100, **chosen},
    )
    plan = estimate_job(given)
    assert not subject.requests
    assert not judge.requests
    execute_job(given)
    for who, engine in (("model", subject), ("judge", judge)):
        ranges = [s.requests for s in plan.stages if s.who == who]
        low, high = sum(r.low for r in ranges), sum(r.high for r in ranges)
        told = any(f"requests to the {who} is a wide range" in note for note in plan.notes)
        assert told == (high > 3 * low), who
        again = 2 if who == "judge" else 1  # what this judge cannot read is asked once more
        assert low <= len(engine.requests) <= again * high, (
            who,
            [(s.name, s.requests) for s in plan.stages],
        )
    left = estimate_job(given)
    assert [s.name for s in left.stages if s.requests.high > s.cached] == []


def test_scoring_tells_how_many_texts_were_read() -> None:
    """On a model in this process scores take as long as answers, and nobody should wait blindly."""
    told: list[str] = []

    class Watching(Progress):
        def doing(self, what: str) -> None:
            told.append(what)

    counted = ScoringCount(Watching())
    counted.add(texts=3)
    counted._told = 0.0
    counted.add(pairs=1200)
    assert told[0].endswith("3 texts read")
    assert told[1].endswith("3 texts read, 1,200 pairs compared")


@pytest.mark.parametrize(
    ("protocol", "chosen"),
    [("faithfulness", {"ambiguous": "judge", "draws.k": 2}), ("self_known", {"retrieval": True})],
)
def test_what_is_asked_after_a_reading_is_foreseen(
    tmp_path: Path, protocol: str, chosen: dict[str, object]
) -> None:
    """Else nobody would see that another model answers now than the one in the cache."""
    given = with_settings(
        dataclasses.replace(
            job(tmp_path, MIND.engine("base"), judge_engine(truthful)),
            protocol=protocol, options=None,
        ),
        {"resamples": 100, **chosen},
    )  # fmt: skip
    with open_job(given, learn=False) as opened:
        stages = {ask.stage for ask in foreseen(opened)}
    assert stages >= ({"short", "draws"} if protocol == "faithfulness" else {"long"})


def test_hidden_states_are_counted_by_their_name_until_the_run_has_them(tmp_path: Path) -> None:
    chosen = {"draws.k": 2, "known_k": 1, "words": False, "resamples": 100}
    given = Job(protocol="selective", limit=1, cache=tmp_path / "cache", out=tmp_path / "run")
    given = with_settings(given, chosen)
    before = estimate_job(given)
    _, (who, _, (low, high)) = map(msgspec.structs.astuple, before.reads)
    assert who == "states"
    assert any(note.startswith(f"{low:.0f} - {high:.0f} hidden states") for note in before.notes)
    execute_job(given)
    heads = [read_head(place) for place in (tmp_path / "run" / "arrays").glob("*.npy")]
    assert low <= sum(len(head.ids) for head in heads if head) <= high
    assert estimate_job(given).reads == ()


# ---- a pilot

#: dollars of a token, as a million cost 2,500 and 10,000
DEAR = Price(2_500.0, 10_000.0)


def billed(*engines: ScriptedEngine) -> float:
    """Return what all answers of engines cost."""
    counts = [engine.counts for engine in engines]
    return sum(DEAR.of(Usage(c.prompt_tokens, c.completion_tokens)) for c in counts)


@pytest.mark.parametrize("stop", ["all", "first_right"])
def test_a_pilot_prices_the_rest_of_a_run_and_is_paid_once(tmp_path: Path, stop: str) -> None:
    subject = ScriptedEngine(lambda request: MIND(request).text, "base")
    judge = judge_engine(truthful)
    for engine in (subject, judge):
        engine.price = DEAR  # type: ignore[attr-defined]
    given = with_settings(job(tmp_path, subject, judge), {"probe.stop": stop})
    plan = price_job(given, 5)
    paid, found = billed(subject, judge), plan.pilot
    assert found is not None
    assert (found.asked, found.of) == (3, 6)  # half of the run at the most
    assert found.paid == pytest.approx(paid)
    assert plan.dollars == Range(found.low, found.high)
    assert "first 3 of 6 entities cost" in plan_text(plan)
    # prompts of some 20 words at a quarter of the price of an answer's one or two: 2 to 3 of 5
    cheaper = re.search(r"cheaper below ([\d.]+) to ([\d.]+) samples", plan_text(plan))
    assert cheaper
    assert 1 < float(cheaper[1]) <= float(cheaper[2]) < 5
    execute_job(given)
    rest = billed(subject, judge) - paid
    assert found.low <= rest <= found.high
    assert found.dollars == pytest.approx(rest, rel=0.25)
    assert len(subject.requests) == len({repr(r) for r in subject.requests})
    again = price_job(given, 5).pilot
    assert again is not None
    assert (again.paid, again.dollars) == (0, 0)  # all is in the cache


@pytest.mark.parametrize(("asked", "widths"), [(5, (2, 3)), (10, (1.4, 1.8)), (40, (1.05, 1.4))])
def test_few_entities_that_cost_the_same_by_chance_give_no_narrow_range(
    asked: int, widths: tuple[float, float]
) -> None:
    pilot = object.__new__(_Pilot)
    pilot.paid, pilot.costs = 1.0, [_Cost(1, 0.0, 2.0)] * asked
    pilot.entities, pilot.firsts = [("", str(n)) for n in range(120)], Counter()
    found = pilot.price((0.0, 1.0))
    assert found.dollars == pytest.approx(2.0 * (120 - asked))
    assert widths[0] < found.high / found.low < widths[1]


def test_a_pilot_contacted_the_address(tmp_path: Path) -> None:
    with endpoint(lambda body: MIND(ask(body["messages"][-1]["content"])).text) as url:
        plan = price_job(job(tmp_path, f"{url}#m", price="1,4"), 3)
    assert plan.pilot is not None
    assert plan.pilot.paid > 0
    assert not [note for note in plan.notes if "not contacted" in note]


@pytest.mark.parametrize(
    ("price", "limit", "said"),
    [
        (None, 0, "the price of its tokens is unknown"),
        (LOCAL, 0, "nothing is paid for"),
        (DEAR, 4, "4 entities are too few"),
    ],
)
def test_why_no_pilot_is_asked(tmp_path: Path, price: Price | None, limit: int, said: str) -> None:
    subject = MIND.engine("base")
    subject.price = price
    plan = price_job(job(tmp_path, subject, limit=limit), 5)
    assert not subject.requests
    assert plan.pilot is None
    assert any(note.startswith("no pilot was asked") and said in note for note in plan.notes)


@pytest.mark.parametrize("command", ["run uncle --model", "run --model", "study --models"])
@pytest.mark.parametrize("answer", [None, "n", "y"])
def test_a_pilot_is_asked_for_at_a_terminal_only(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    answer: str | None,
) -> None:
    asked: list[dict[str, Any]] = []
    data, questions = write(tmp_path / "q.jsonl", records(WORLD)), list[str]()

    def person(question: str) -> str:
        questions.append(question)
        return str(answer)

    monkeypatch.setattr("builtins.input", person)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: answer is not None, raising=False)
    with endpoint(lambda body: asked.append(body) or "In Oslo.") as url:  # type: ignore[func-returns-value]
        words = [*command.split(), f"{url}#m", "--data", str(data), "--price", "2500,10000"]
        words += ["--cache", str(tmp_path / "c"), "--out", str(tmp_path / "o")]
        assert cli.execute([*words, "--dry-run"]) == 0
    assert len(questions) == (answer is not None)
    assert bool(asked) == (answer == "y")
    assert ("$" in capsys.readouterr().out) is True
