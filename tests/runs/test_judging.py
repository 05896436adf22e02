"""A model as judge inside a run: cached, counted apart, resumable, and known by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.options import ModelOptions
from sayso.progress import Progress
from sayso.protocols import uncle
from sayso.records import EMPTY_TEXT, Generation, InputError, Request, Usage, ask, signature_text
from sayso.runs.asking import CachedEngine, bill
from sayso.runs.costs import BudgetSpent
from sayso.runs.judge import JudgeOptions, check_judge, open_judge
from sayso.runs.result import Result
from sayso.storage.cache import Cache
from support.judge_world import judge_engine, truthful
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

WORLD = facts(6)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6), hedges=lambda f, i: i)


def costly(engine: ScriptedEngine, dollars: float) -> ScriptedEngine:
    """Let every reply of an engine cost so much."""
    inner: Any = engine.reply

    def reply(request: Request) -> Generation:
        said = inner(request)
        made = said if isinstance(said, Generation) else Generation(request, text=said)
        usage = Usage(prompt_tokens=100, completion_tokens=10, dollars=dollars)
        return msgspec.structs.replace(made, usage=usage, finish="stop")

    engine.reply = reply
    return engine


def run(folder: Path, name: str, judge: Any, model: Any = None, **arguments: Any) -> Result:
    return sayso.run(
        report=False,
        model=model or MIND.engine("base"),
        judge=judge,
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / name,
        cache=folder / "cache",
        options=uncle.Settings(resamples=100),
        **arguments,
    )


class Noted(Progress):
    """Progress that remembers what is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_processes_for_the_rules_are_told_to_be_idle_where_a_model_reads(tmp_path: Path) -> None:
    told: dict[str, list[str]] = {}
    for name, reader in (("model", judge_engine(truthful)), ("rules", "rules")):
        progress = Noted()
        run(tmp_path, name, reader, jobs=1, progress=progress)
        told[name] = [note for note in progress.notes if note.startswith("jobs")]
    assert told["rules"] == []
    (line,) = told["model"]
    assert line.startswith("jobs has no effect here: it is for the judge rules, and ")


def test_a_killed_judge_is_asked_nothing_twice(tmp_path: Path) -> None:
    first = judge_engine(truthful)
    first.kill_after = 9
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "run", first)
    assert len(first.requests) == 9
    second = judge_engine(truthful)
    result = run(tmp_path, "run", second)
    assert not {repr(r) for r in first.requests} & {repr(r) for r in second.requests}
    tokens = result.manifest.tokens
    assert tokens["judge_requests"] == 9 + len(second.requests)
    assert (tokens["judge_cached"], tokens["judge_asked"]) == (9, len(second.requests))
    # a third time, nothing is asked of anybody, and every number is the same
    third, subject = judge_engine(truthful), MIND.engine("base")
    again = run(tmp_path, "run", third, subject)
    assert not third.requests
    assert not subject.requests
    assert [e.value for e in again.estimates] == [e.value for e in result.estimates]


def test_what_the_judge_costs_is_counted_apart(tmp_path: Path) -> None:
    subject, judge = costly(MIND.engine("base"), 0.01), costly(judge_engine(truthful), 0.002)
    manifest = run(tmp_path, "run", judge, subject).manifest
    assert manifest.dollars == pytest.approx(0.01 * len(subject.requests))
    assert manifest.judge_dollars == pytest.approx(0.002 * len(judge.requests))
    assert manifest.tokens["judge_prompt_tokens"] == 100 * len(judge.requests)
    assert manifest.tokens["prompt_tokens"] == 100 * len(subject.requests)
    assert manifest.judge_signature.startswith("judge-1#p")
    assert any(n.startswith("price: answers $") for n in manifest.notices)
    # read again from the cache: the price stays what it was
    again = run(tmp_path, "again", judge_engine(truthful), MIND.engine("base")).manifest
    assert (again.dollars, again.judge_dollars) == (manifest.dollars, manifest.judge_dollars)
    assert any("$0.00 of it paid now" in n for n in again.notices)


def test_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    manifest = run(tmp_path, "run", judge_engine(truthful)).manifest
    assert manifest.dollars is None
    assert manifest.judge_dollars is None
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert told["judge_dollars"] is None
    assert any("answers unknown, verdicts unknown" in n for n in manifest.notices)


def test_money_that_ends_while_judging_loses_nothing(tmp_path: Path) -> None:
    def engines() -> tuple[ScriptedEngine, ScriptedEngine]:
        return costly(MIND.engine("base"), 0.01), costly(judge_engine(truthful), 0.01)

    subject, judge = engines()
    with pytest.raises(BudgetSpent, match="run the same command to resume"):
        run(tmp_path, "run", judge, subject, max_cost=0.01 * 155)
    # 18 facts with 5 probes and 2 answers, 6 paragraphs with 2: 138; 17 more fit into the money
    assert (len(subject.requests), len(judge.requests)) == (138, 17)
    subject, judge = engines()
    result = run(tmp_path, "run", judge, subject, max_cost=100)
    assert not subject.requests
    assert result.manifest.finished


def test_a_judge_of_the_subjects_family_is_said(tmp_path: Path) -> None:
    result = run(tmp_path, "run", judge_engine(truthful, "hf:Qwen/Qwen3-8B"), MIND.engine("qwen2"))
    assert result.manifest.judge_signature.endswith("+own-family")
    assert any("own model family" in n for n in result.manifest.notices)
    assert "own-family" in signature_text(result.estimates[0].signature)


@tabled
def test_how_a_model_judges_is_in_the_signature(
    tmp_path: Path, options: dict[str, Any], part: str
) -> None:
    result = run(tmp_path, "run", judge_engine(truthful), **options)
    assert part in result.manifest.judge_signature
    values = {e.value for e in result.estimates if e.name == "p_known"}
    assert values - {None, 0.0}


@tabled
def test_what_is_no_judge_is_refused(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_judge(name, JudgeOptions(**options))
    assert said in str(caught.value)


def test_a_judge_is_opened_with_settings_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Device and, where given, dtype and batch size: the subject's are not the judge's."""
    opened: list[ModelOptions] = []

    def open_priced(name: str, *more: Any, opening: ModelOptions, **others: Any) -> Any:
        opened.append(opening)
        return judge_engine(truthful, name), None

    monkeypatch.setattr("sayso.runs.judge.open_priced", open_priced)
    subject = ModelOptions(device="cuda", dtype="float16", batch_size=64, revision="main")
    for options, device, dtype, size in (
        ({}, "cuda", None, None),
        ({"judge_dtype": "bfloat16", "judge_batch_size": 4}, "cuda", "bfloat16", 4),
        ({"judge_device": "cpu"}, "cpu", None, None),
    ):
        for name in ("hf:x", "rules+hf:x"):
            open_judge(name, JudgeOptions(opening=subject, **options)).close()  # type: ignore[arg-type]
            assert opened.pop() == ModelOptions(device=device, dtype=dtype, batch_size=size)


def test_the_dtype_of_a_local_judge_is_in_its_signature() -> None:
    signatures = {}
    for dtype in (None, "float64"):
        seat = open_judge("builtin", JudgeOptions(judge_dtype=dtype), learn=False)
        signatures[dtype] = seat.judge.signature
        seat.close()
    assert "float64" in signatures["float64"]
    assert "float64" not in signatures[None]


def test_an_open_model_takes_no_settings_of_opening() -> None:
    with pytest.raises(InputError, match="is open already: leave judge_dtype out"):
        open_judge(judge_engine(truthful), JudgeOptions(judge_dtype="bfloat16"))


def test_judges_open_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_judge("rules").judge.signature == "rules@11"
    for name in ("openai:gpt-4o-mini", "rules+openai:gpt-4o-mini"):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-never-sent")
        seat = open_judge(name, learn=False)
        assert seat.judge.name == name
        assert seat.engine is not None
        assert seat.engine.price is not None
        assert seat.engine.price.input == 0.15
        seat.close()


def test_a_limit_that_cannot_be_kept_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the price of 'openai:nobody-knows' is unknown; give"):
        run(tmp_path, "run", "rules", "openai:nobody-knows", max_cost=1.0)
    with pytest.raises(InputError, match="--set judge_price=IN,OUT"):
        run(tmp_path, "run", "openai:nobody-knows", "builtin", max_cost=1.0)
    assert not (tmp_path / "run").exists()


def test_a_stored_check_of_the_judge_is_in_every_later_run(tmp_path: Path) -> None:
    assert run(tmp_path, "before", judge_engine(truthful)).manifest.judge_check == {}
    found = sayso.judge_check(judge_engine(truthful), cache=tmp_path / "cache")
    manifest = run(tmp_path, "after", judge_engine(truthful)).manifest
    assert manifest.judge_check["agreed"] == found.ours.agreed.count
    assert manifest.judge_check["of"] == found.ours.agreed.of
    assert run(tmp_path, "other", "rules").manifest.judge_check == {}  # another judge


@tabled
def test_an_endpoint_that_holds_to_a_schema_judges_in_json(
    tmp_path: Path, said: str, output: str
) -> None:
    empty = () if said else (EMPTY_TEXT,)
    endpoint = ScriptedEngine(lambda request: Generation(request, text=said, overrides=empty))
    endpoint.identity = "api:held"
    with Cache(tmp_path / "replies.sqlite") as cache:
        signature = open_judge(endpoint, cache=cache).judge.signature
        assert signature.endswith("+json") == (output == "json")
        assert len(endpoint.requests) == 1
        # a run that goes on reads its judge in the same form, and does not ask again
        assert open_judge(endpoint, cache=cache).judge.signature == signature
        assert len(endpoint.requests) == 1


def test_a_judge_that_refuses_everything_is_told_before_anybody_is_paid(tmp_path: Path) -> None:
    """A wrong name: the schema and the plain question are refused; only the schema is no matter."""
    refusal = "failed: status 400: no such model"
    judge = ScriptedEngine(lambda request: Generation(request, problem=refusal))
    judge.identity = "api:nope"
    subject = MIND.engine("base")
    with pytest.raises(InputError, match=r"judge .* did not answer .*no such model"):
        run(tmp_path, "run", judge, subject)
    assert not subject.requests

    def plain_only(request: Request) -> Generation:
        if request.response_format is None:
            return Generation(request, text="Tea, I think.")
        return Generation(request, problem="failed: status 400: no response_format here")

    choosy = ScriptedEngine(plain_only)
    choosy.identity = "api:choosy"
    assert "+json" not in open_judge(choosy).judge.signature


@tabled
def test_a_judge_that_is_away_does_not_change_its_form(
    tmp_path: Path, problem: str, goes_on: bool
) -> None:
    """Read as blocks today, and as JSON once it answers, everything would be judged twice."""

    def reply(request: Request) -> Generation:
        said = None if request.response_format is None else problem
        return Generation(request, text="" if said else "Tea.", problem=said)

    endpoint = ScriptedEngine(reply)
    endpoint.identity = "api:away"
    with Cache(tmp_path / "replies.sqlite") as cache:
        if goes_on:
            assert "+json" not in open_judge(endpoint, cache=cache).judge.signature
        else:
            with pytest.raises(InputError, match="did not answer a short test question"):
                open_judge(endpoint, cache=cache)


def test_nobody_else_is_asked_about_schemas() -> None:
    here, counted = ScriptedEngine(lambda r: "{}"), ScriptedEngine(lambda r: "{}")
    counted.identity = "api:counted"
    open_judge(here)
    open_judge(counted, learn=False)  # what a dry run does
    assert not here.requests + counted.requests


def test_nothing_answered_has_no_price() -> None:
    """An endpoint whose requests all fail told nothing of what an answer costs: not $0.00."""

    def reply(request: Request) -> Generation:
        return Generation(request, problem="failed: status 500")

    def asked(script: Any) -> CachedEngine:
        engine = ScriptedEngine(script)
        engine.identity = "api:far"
        asker = CachedEngine(engine)
        list(asker.complete([ask("Who?"), ask("When?")]))
        return asker

    away = asked(reply)
    assert bill(away, None) == []
    there = asked(lambda request: Generation(request, text="x", usage=Usage(1, 1, dollars=0.5)))
    assert bill(there, away) == ["price: answers $1.00; $1.00 of it paid now"]
    free = asked(lambda request: Generation(request, text="x", usage=Usage(1, 1)))
    assert bill(free, away) == ["price: answers unknown; --price IN,OUT sets token prices"]
    assert bill(there, free) == [
        "price: answers $1.00, verdicts unknown; --set judge_price=IN,OUT sets token prices"
    ]
    assert bill(free, free) == [
        "price: answers unknown, verdicts unknown; --price IN,OUT and --set judge_price=IN,OUT set "
        "token prices"
    ]


def test_a_judge_that_says_nothing_is_stopped_and_what_it_said_is_kept(tmp_path: Path) -> None:
    def silent() -> ScriptedEngine:
        return judge_engine(lambda *_: "x", write=lambda *_: "Hello.")

    first, subject = silent(), MIND.engine("base")
    with pytest.raises(InputError, match="no readable reply to its first 10 requests"):
        run(tmp_path, "run", first, subject)
    assert (len(first.requests), len(subject.requests)) == (10, 138)
    second, subject = silent(), MIND.engine("base")
    with pytest.raises(InputError, match="gave no readable verdict"):
        run(tmp_path, "run", second, subject, judge_anyway=True)
    assert not subject.requests  # answers and replies were in the cache
    assert not {repr(r) for r in first.requests} & {repr(r) for r in second.requests}
    assert len(second.requests) > 60
    third, subject = judge_engine(truthful, "judge-2"), MIND.engine("base")
    assert run(tmp_path, "other", third, subject).manifest.finished
    assert not subject.requests


def test_judge_anyway_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judge_anyway is 'yes'; expected true or false"):
        run(tmp_path, "run", judge_engine(truthful), judge_anyway="yes")
