"""A changed model behind a name is noticed, and the same model in other words is not."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_freshness import KNOWING, WORLD, Served, job, run

import sayso
from sayso.records import Generation, InputError, Request, Usage, request_key
from sayso.runs import asking
from sayso.runs.costs import BudgetSpent
from sayso.runs.dry_run import estimate_job, plan_text
from sayso.runs.job import Job
from sayso.runs.result import Result
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder
from support.scripted_world import Mind

#: what answers now, made of what answered before
Change = Callable[[Request], Generation]
OTHER = Mind(WORLD, lambda f: 0.0)
Answer = Callable[[str], str]


def reply(request: Request) -> Generation:
    """The model that filled the cache."""
    return KNOWING(request)


def said(change: Answer) -> Change:
    """Return a model whose answers are changed ones of the first."""
    return lambda request: msgspec.structs.replace(
        KNOWING(request), text=change(KNOWING(request).text), offsets=None, logprobs=None,
        entropies=None, token_ids=None,
    )  # fmt: skip


CHANGES: dict[str, Change] = {
    "another model": OTHER,
    "refuses": said(lambda text: "I'm sorry, but I cannot help with that request."),
    "does not know": said(lambda text: "I do not know."),
    "empty": said(lambda text: ""),
}
REWORDED: dict[str, Answer] = {
    "spaces": lambda text: f"  {text}\n",
    "case": str.upper,
    "a full stop": lambda text: f"{text}.",
    "markdown": lambda text: f"**{text}**",
    "a frame": lambda text: f"The answer is {text}.",
    "it is": lambda text: f"It is {text}.",
    "a hedge": lambda text: f"I think it might be {text}, but I am not certain.",
    "a sentence": lambda text: f"Let me help you with that, dear customer! It would be {text}.",
    "a thought": lambda text: f"<think>Let me see.</think>{text}",
}


def filled(folder: Path, script: Change = reply) -> Result:
    """Fill the cache by a finished run."""
    return run(folder, Served(script))


@pytest.mark.parametrize("name", CHANGES)
def test_another_model_stops_the_run_and_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    before = {f: f.read_bytes() for f in (tmp_path / "run").rglob("*") if f.is_file()}
    engine = Served(CHANGES[name])
    with pytest.raises(InputError, match="the model behind m has changed") as caught:
        run(tmp_path, engine)
    for way in ("--set model_version", "--fresh", "--set stale_ok=true"):
        assert way in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(engine.requests) == 3
    assert all(request.greedy for request in engine.requests)
    after = {f: f.read_bytes() for f in (tmp_path / "run").rglob("*") if f.is_file()}
    assert after == before
    with pytest.raises(InputError):
        run(tmp_path, Served(CHANGES[name]), "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", REWORDED)
def test_the_same_model_in_other_words_is_no_alarm(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    manifest = run(tmp_path, Served(said(REWORDED[name]))).manifest
    assert not [c for c in manifest.cautions if "model behind" in c]
    assert any("asked again, came back with the same meaning" in n for n in manifest.notices)
    assert manifest.cached["different"] == 0


def test_five_starts_of_a_model_that_says_it_otherwise_each_time(tmp_path: Path) -> None:
    filled(tmp_path)
    chosen = random.Random(5)
    for _ in range(5):
        ways = list(REWORDED.values())
        script = said(lambda text, ways=ways: chosen.choice(ways)(text))  # type: ignore[misc]
        manifest = run(tmp_path, Served(script)).manifest
        assert not [c for c in manifest.cautions if "model behind" in c]


def test_stale_ok_goes_on_with_a_caution(tmp_path: Path) -> None:
    first = filled(tmp_path)
    result = run(tmp_path, engine := Served(OTHER), stale_ok=True)
    assert len(engine.requests) == 3
    assert result.estimates == first.estimates
    (caution,) = [c for c in result.manifest.cautions if "--set stale_ok=true" in c]
    assert "The model behind this name has changed" in caution
    assert result.manifest.cached["asked again"] == 3
    assert result.manifest.cached["different"] >= 2


def test_another_version_name_asks_everything(tmp_path: Path) -> None:
    filled(tmp_path)
    engine = Served(OTHER)
    engine.identity = engine.base = "api:m@v2"
    manifest = run(tmp_path, engine, "v2").manifest
    assert manifest.tokens["asked_again"] == 0


def test_one_of_three_that_says_something_else_is_no_alarm(tmp_path: Path) -> None:
    """An answer between two nearly equal tokens may flip by rounding."""
    unsure = Mind(WORLD, lambda f: 0.5)
    filled(tmp_path, unsure)
    flipped: list[str] = []

    def one_other(request: Request) -> Generation:
        if request.greedy and not flipped:
            flipped.append(request.messages[0].content)
            return Generation(request, text="Timbuktu", finish="stop")
        return unsure(request)

    manifest = run(tmp_path, Served(one_other)).manifest
    told = [c for c in manifest.cautions if c.startswith("1 of 3 cached answers")]
    assert flipped
    assert len(told) == 1
    assert "the model may have changed" in told[0]
    assert not [c for c in manifest.cautions if "model behind" in c]


def test_a_dry_run_counts_what_is_asked_again(tmp_path: Path) -> None:
    own = Job(**job(tmp_path, Served()))
    assert not [s for s in estimate_job(own).stages if "again" in s.name]
    filled(tmp_path, paid(reply))
    (stage,) = [s for s in estimate_job(own).stages if "again" in s.name]
    assert stage.requests == (3, 3)
    assert stage.cached == 0
    unpriced = plan_text(estimate_job(own))
    assert "total: unknown price; 3 requests " in unpriced  # and never $0
    local = Job(**job(tmp_path, KNOWING.engine(), "local"))
    run(tmp_path, KNOWING.engine(), "local")
    assert not [s for s in estimate_job(local).stages if "again" in s.name]


def paid(script: Change, price: float = 1.0) -> Change:
    """Return a model whose answers cost dollars."""

    def answer(request: Request) -> Generation:
        return msgspec.structs.replace(script(request), usage=Usage(5, 5, dollars=price))

    return answer


def test_what_is_asked_again_is_paid_for_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = filled(tmp_path, paid(reply)).manifest
    engine = Served(paid(said(str.upper)))
    again = run(tmp_path, engine).manifest
    assert again.tokens["asked_again"] == 3
    assert again.dollars == pytest.approx((first.dollars or 0) + 3)
    assert any("$3.00 of it paid now" in n for n in again.notices)
    with Cache(tmp_path / "cache") as cache:
        for request in engine.requests:
            key = request_key(request, engine.identity)
            (aside,) = cache.aside(key)
            assert aside.reply.text == KNOWING(request).text.upper()
            assert cache.get_many([key])[key].text == KNOWING(request).text
    # money that ends before: everything is in the cache, so the run goes on and says so
    later = time.time() + 4_000
    monkeypatch.setattr(asking.time, "time", lambda: later)
    manifest = run(tmp_path, poor := Served(paid(reply)), max_cost=0.5, price="1,1").manifest
    assert any("could not check" in c for c in manifest.cautions)
    assert len(poor.requests) == 1


@pytest.mark.parametrize(
    ("seconds", "address", "price", "again"),
    [(0, "http://a/v1", "1,1", 0),  # after a pilot
     (3_590, "http://a/v1", "1,1", 0),
     (3_610, "http://a/v1", "1,1", 3),
     (0, "http://b/v1", "1,1", 3),
     (0, "http://a/v1", "0,0", 3),
     (0, "http://a/v1", None, 3)],
)  # fmt: skip
def test_what_was_paid_within_the_hour_is_not_paid_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
    address: str,
    price: str | None,
    again: int,
) -> None:
    filled(tmp_path)
    now = time.time()
    monkeypatch.setattr(asking.time, "time", lambda: now + seconds)
    engine = Served(reply, address)
    own = job(tmp_path, engine, price=price)
    planned = [s for s in estimate_job(Job(**own)).stages if "again" in s.name]
    assert sum(stage.requests.high for stage in planned) == again
    assert sayso.run(report=False, **own).manifest.tokens["asked_again"] == again
    assert len(engine.requests) == again


def test_money_that_ends_while_answers_are_missing_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Served(paid(reply), kill_after=40))
    with pytest.raises(BudgetSpent):
        run(tmp_path, Served(paid(reply)), max_cost=0.5, price="1,1")


class Gone(Served):
    """An endpoint where nobody listens any more."""

    def complete(self, requests: Any) -> Any:
        for _ in requests:
            raise InputError("nothing answers at http://a/v1")
        yield from ()


def test_an_endpoint_that_is_gone_is_no_obstacle_where_nothing_is_missing(tmp_path: Path) -> None:
    first = filled(tmp_path)
    result = run(tmp_path, Gone())
    assert result.estimates == first.estimates
    (caution,) = [c for c in result.manifest.cautions if "could not check" in c]
    assert "nothing answers at http://a/v1" in caution


def test_an_endpoint_that_is_gone_stops_a_run_that_needs_it(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Served(kill_after=40))
    before = RunFolder.open(tmp_path / "run").read_manifest()
    with pytest.raises(InputError, match="nothing answers"):
        run(tmp_path, Gone())
    assert RunFolder.open(tmp_path / "run").read_manifest() == before


def test_another_system_behind_the_name_is_told(tmp_path: Path) -> None:
    def called(name: str) -> Change:
        return lambda r: msgspec.structs.replace(reply(r), fingerprint=name)

    filled(tmp_path, called("fp_1"))
    told = run(tmp_path, Served(called("fp_2"))).manifest.notices
    assert any("calls its system fp_2 now and called it fp_1 then" in n for n in told)


def test_log_probabilities_that_moved_under_the_same_words_are_a_caution(tmp_path: Path) -> None:
    def surer(logprob: float) -> Change:
        def answer(request: Request) -> Generation:
            text = KNOWING(request).text
            starts = tuple(range(len(text)))
            return msgspec.structs.replace(
                KNOWING(request), offsets=starts, logprobs=(logprob,) * len(text), entropies=None,
                token_ids=None,
            )  # fmt: skip

        return answer

    filled(tmp_path, surer(-0.5))
    manifest = run(tmp_path, Served(surer(-0.45))).manifest
    assert not [c for c in manifest.cautions if "model behind" in c]
    manifest = run(tmp_path, Served(surer(-0.1))).manifest
    (caution,) = [c for c in manifest.cautions if "may have changed" in c]
    assert "differ by 0.40 on average" in caution
