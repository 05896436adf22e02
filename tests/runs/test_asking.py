"""Asking through the cache: nothing asked twice, nothing lost, money kept to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sayso.engines.engine import Capabilities
from sayso.engines.prices import LOCAL, Price
from sayso.progress import Progress
from sayso.records import Generation, InputError, Request, Usage, ask
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import BudgetSpent, Meter, dollars
from sayso.storage.cache import Cache
from support.scripted import ScriptedEngine
from support.tables import tabled

ASKED = [ask(f"question {n}", seed=0) for n in range(20)]


def paid(cost: float | None, tokens: int = 10) -> Any:
    """Return a script whose every answer costs so much."""

    def reply(request: Request) -> Generation:
        usage = Usage(prompt_tokens=tokens, completion_tokens=tokens, dollars=cost)
        return Generation(request, text=f"to {request.messages[0].content}", usage=usage)

    return reply


class Heard(Progress):
    """Progress that remembers, and asks to stop after some answers."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.notes: list[str] = []
        self.began: list[tuple[str, int, int]] = []
        self.answers: list[float | None] = []
        self.ended = 0
        self.stop_after = stop_after

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self.stop_after is not None and len(self.answers) >= self.stop_after

    def start(self, stage: str, total: int, done: int, *, remote: bool = False) -> None:
        self.began.append((stage, total, done))

    def advance(self, stage: str, reply: Generation, paid: float | None) -> None:
        self.answers.append(paid)

    def end(self, stage: str) -> None:
        self.ended += 1

    def note(self, text: str) -> None:
        self.notes.append(text)


class Ahead(ScriptedEngine):
    """Takes eight requests before it answers the first, as an endpoint does."""

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        taken: list[Request] = []
        feed = iter(requests)
        done = 0
        while True:
            while len(taken) - done < 8 and (request := next(feed, None)) is not None:
                taken.append(request)
                self.requests.append(request)
            if done == len(taken):
                return
            yield done, self._answer(taken[done])
            done += 1


def test_what_was_asked_ahead_is_fresh_in_its_stage(tmp_path: Path) -> None:
    """Eight were answered by an earlier run; of twelve asked ahead, two in vain."""

    def reply(request: Request) -> Generation:
        number = int(request.messages[0].content.split()[1])
        problem = "failed: gone" if number >= 18 else None
        return Generation(request, text="a", problem=problem)

    with Cache(tmp_path) as cache:
        list(CachedEngine(ScriptedEngine(reply), cache).complete(ASKED[:8]))
        heard, engine = Heard(), ScriptedEngine(reply)
        asker = CachedEngine(engine, cache, progress=heard)
        missing = asker.missing([*ASKED, *ASKED[:3]])
        assert missing == ASKED[8:]
        assert heard.notes == ["8 of 20 answers are in the cache, given less than a minute ago"]
        asker.ask_ahead(missing)
        asker.stage = "asking: first"
        list(asker.complete(ASKED[:10]))
        asker.stage = "asking: second"
        assert len(list(asker.complete(ASKED[10:]))) == 10
        assert len(engine.requests) == 12
        tally = asker.tally
        assert (tally.requests, tally.cached, tally.asked, tally.failed) == (20, 8, 12, 2)
        # a bar is of what is still to be asked, and of what earlier runs asked
        assert heard.began == [
            ("asking: all stages", 12, 0),
            ("asking: first", 8, 8),
            ("asking: second", 0, 0),
        ]
        assert asker.notices == ["8 of 20 answers are from the cache, given less than a minute ago"]


def test_a_cache_that_holds_nothing_of_a_run_is_not_spoken_of(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        heard = Heard()
        asker = CachedEngine(ScriptedEngine(paid(None)), cache, progress=heard)
        assert not cache.filled
        assert asker.missing(ASKED) == ASKED
        list(asker.complete(ASKED[:1]))
        assert cache.filled
        assert asker.missing(ASKED[1:]) == ASKED[1:]
        assert heard.notes == []
        assert asker.missing(ASKED) == ASKED[1:]
        assert heard.notes == ["1 of 20 answers is in the cache, given less than a minute ago"]
    heard = Heard()
    asker = CachedEngine(ScriptedEngine(paid(None)), None, progress=heard)
    assert asker.missing(ASKED) == ASKED


def test_equal_requests_are_asked_once_and_each_gets_its_answer(tmp_path: Path) -> None:
    engine = ScriptedEngine(paid(None), backwards=True)
    with Cache(tmp_path) as cache:
        asker = CachedEngine(engine, cache)
        # at T=0 sample and seed do not matter; the answer still carries the request it is for
        greedy = [ask("greedy", temperature=0, sample=n) for n in range(3)]
        found = dict(asker.complete([*ASKED, *ASKED, *greedy]))
        assert sorted(found) == list(range(43))
        assert [found[n].request for n in range(43)] == [*ASKED, *ASKED, *greedy]
        assert len(engine.requests) == 21
        assert (asker.tally.asks, asker.tally.requests, asker.tally.asked) == (43, 21, 21)
        again = CachedEngine(engine, cache)
        assert {i: g.text for i, g in again.complete(ASKED)} == {
            i: f"to question {i}" for i in range(20)
        }
        assert len(engine.requests) == 21
        assert again.tally.cached == 20
        assert again.notices == [
            "20 of 20 answers are from the cache, given less than a minute ago"
        ]


@tabled
def test_no_answer_holds_a_thought(
    tmp_path: Path, said: str, text: str, thinking: str, problem: str | None
) -> None:
    def script(request: Request) -> Generation:
        return Generation(request, text=said, logprobs=(-1.0,), offsets=(0,))

    with Cache(tmp_path) as cache:
        for _ in range(2):  # as it comes, and from the cache
            asker = CachedEngine(ScriptedEngine(script), cache)
            ((_, reply),) = asker.complete([ask("Where?")])
            assert (reply.text, reply.thinking, reply.problem) == (text, thinking, problem)
            assert (reply.logprobs is None) is (thinking is not None)
            kept = problem is None and thinking is not None
            assert any("reasoning inside the answer's text" in n for n in asker.notices) is kept
        judge = CachedEngine(ScriptedEngine(script), cache, who="judge")
        ((_, reply),) = judge.complete([ask("Where?")])
        assert reply.text == said  # whoever reads it takes the thought out


def test_failures_are_asked_again_and_counted(tmp_path: Path) -> None:
    def reply(request: Request) -> Generation:
        return Generation(request, problem="failed: no reply")

    engine = ScriptedEngine(reply)
    with Cache(tmp_path) as cache:
        for _ in range(2):
            asker = CachedEngine(engine, cache)
            assert len(list(asker.complete(ASKED))) == 20
            assert (asker.tally.failed, asker.tally.cached) == (20, 0)
            assert asker.dollars == 0.0  # no token came or went
    assert len(engine.requests) == 40


def test_an_engine_that_forgets_or_repeats_an_answer_loses_nothing(tmp_path: Path) -> None:
    class Sloppy(ScriptedEngine):
        def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
            for index, request in enumerate(requests):
                if index != 3:
                    yield index, self._answer(request)
                    yield index, Generation(request, text="another")

    with Cache(tmp_path) as cache:
        asker = CachedEngine(Sloppy(paid(None)), cache)
        found = dict(asker.complete(ASKED))
        assert found[3].problem == "failed: no answer"
        assert {found[n].text for n in range(20) if n != 3} == {
            f"to question {n}" for n in range(20) if n != 3
        }
        assert asker.tally.asked == 20


@pytest.mark.parametrize(
    "changes", [{"text": None}, {"token_ids": (1, 2), "logprobs": (-1.0,)}, {"offsets": ()}, None]
)
def test_an_answer_of_an_own_engine_that_is_none_is_one_line(changes: Any) -> None:
    class Own(ScriptedEngine):
        def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Any]]:
            for index, reply in super().complete(requests):
                yield index, changes and msgspec.structs.replace(reply, **changes)

    asker = CachedEngine(Own(lambda request: "a b", name="mine", logprob=-0.5))
    with pytest.raises(InputError, match=r"the engine mine gave a .* docs/python\.md") as refused:
        list(asker.complete(ASKED))
    assert "\n" not in str(refused.value)


def test_a_killed_asker_goes_on_where_it_was(tmp_path: Path) -> None:
    engine = ScriptedEngine(paid(0.5), kill_after=7)
    with Cache(tmp_path) as cache:
        with pytest.raises(KeyboardInterrupt):
            list(CachedEngine(engine, cache).complete(ASKED))
        assert len(engine.requests) == 7
    engine = ScriptedEngine(paid(0.5))
    with Cache(tmp_path) as cache:
        asker = CachedEngine(engine, cache)
        assert len(dict(asker.complete(ASKED))) == 20
    assert len(engine.requests) == 13
    # all twenty answers cost half a dollar; thirteen of them were paid for now
    assert (asker.dollars, asker.paid) == (10.0, 6.5)


def test_stopping_waits_for_what_was_asked(tmp_path: Path) -> None:
    """Asked to stop after three answers, eight are on their way: all are kept, no other is sent."""
    engine, heard = Ahead(paid(0.01)), Heard(stop_after=3)
    with Cache(tmp_path) as cache:
        with pytest.raises(KeyboardInterrupt):
            list(CachedEngine(engine, cache, progress=heard).complete(ASKED))
        sent = len(engine.requests)
        assert 8 <= sent <= 11  # one more is sent for each of the first answers
        assert len(heard.answers) == sent
        assert len(cache.get_many(_keys(engine))) == sent
        assert heard.ended == 1


def test_stopping_holds_the_engine_and_what_it_gives_back_did_not_fail(tmp_path: Path) -> None:
    """Eight are taken when somebody stops; the engine answers two more and gives back the rest."""

    class Holding(ScriptedEngine):
        held = 0

        def hold(self) -> int:
            self.held += 1
            return 2

        def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
            feed = iter(requests)
            taken = [next(feed) for _ in range(8)]
            for done, request in enumerate(taken):
                if done == 5:
                    assert self.held == 1
                    return
                yield done, self._answer(request)

    heard, meter = Heard(stop_after=3), Meter(1.0)
    meter.settle("model/256", 0.01)  # a price is known, so that eight may wait at a time
    meter.settle("model/256", 0.01)
    with Cache(tmp_path) as cache:
        asker = CachedEngine(Holding(paid(0.01)), cache, progress=heard, meter=meter)
        with pytest.raises(KeyboardInterrupt):
            list(asker.complete(ASKED))
        assert (asker.tally.asked, asker.tally.failed) == (5, 0)
        assert len(heard.answers) == 5
        # two settled above and were never taken; all eight that were taken are settled or freed
        assert meter._kinds["model/256"].waiting == -2
        assert heard.hold is None


def _keys(engine: ScriptedEngine) -> list[bytes]:
    from sayso.records import request_key

    return [request_key(request, engine.identity) for request in ASKED]


@pytest.mark.parametrize("kind", [ScriptedEngine, Ahead])
def test_the_budget_is_kept_and_nothing_paid_for_is_lost(
    tmp_path: Path, kind: type[ScriptedEngine]
) -> None:
    """Ten answers at 10 cents each fit into 1.05 dollars; the eleventh does not."""
    engine, heard = kind(paid(0.10)), Heard()
    with Cache(tmp_path) as cache:
        asker = CachedEngine(engine, cache, meter=Meter(1.05), progress=heard)
        with pytest.raises(BudgetSpent) as caught:
            list(asker.complete(ASKED))
        assert len(engine.requests) == 10
        assert len(cache.get_many(_keys(engine))) == 10
    said = str(caught.value)
    assert "stopped at --max-cost 1.05: $1.00 spent" in said
    assert "10 requests left to ask, about $1.00" in said
    assert "run the same command to resume, with at most another $" in said
    assert "\n" not in said
    # the next command pays for the other ten
    with Cache(tmp_path) as cache:
        asker = CachedEngine(engine, cache, meter=Meter(1.05))
        assert len(dict(asker.complete(ASKED))) == 20
        assert len(engine.requests) == 20
        assert asker.dollars == pytest.approx(2.0)


def test_one_limit_holds_for_model_and_judge_together(tmp_path: Path) -> None:
    meter = Meter(0.5)
    model = CachedEngine(ScriptedEngine(paid(0.1), "a"), meter=meter)
    judge = CachedEngine(ScriptedEngine(paid(0.1), "b"), meter=meter, who="judge")
    assert len(list(model.complete(ASKED[:3]))) == 3
    with pytest.raises(BudgetSpent, match="18 requests left"):
        list(judge.complete(ASKED))
    assert meter.spent == pytest.approx(0.5)


def test_a_kind_of_request_is_tried_before_many_of_it_are_sent() -> None:
    """Long answers cost a hundred times as much as the short ones before them."""

    def reply(request: Request) -> Generation:
        cost = 1.0 if request.max_tokens == 1000 else 0.01
        return Generation(request, text="x", usage=Usage(dollars=cost))

    engine = Ahead(reply)
    long = [ask(f"long {n}", max_tokens=1000) for n in range(20)]
    with pytest.raises(BudgetSpent):
        list(CachedEngine(engine, meter=Meter(3.5)).complete([*ASKED, *long]))
    # 20 short ones for 0.20 dollars, then three long ones; a fourth would make 4.20
    assert sum(r.max_tokens == 1000 for r in engine.requests) == 3


def test_an_answer_without_a_price_ends_a_limited_run_but_is_kept(tmp_path: Path) -> None:
    engine = ScriptedEngine(paid(None))
    with Cache(tmp_path) as cache:
        with pytest.raises(InputError, match="is unknown; pass --set judge_price"):
            list(CachedEngine(engine, cache, who="judge", meter=Meter(5)).complete(ASKED))
        assert len(cache.get_many(_keys(engine))) == 1
        # a price of the user's own, and local models, need none in the replies
        for price in (Price(1.0, 1.0), LOCAL):
            asker = CachedEngine(engine, cache, price=price, meter=Meter(5))
            assert len(list(asker.complete(ASKED))) == 20
    assert asker.dollars == 0.0


def test_what_was_not_sent_is_said_of_new_and_of_cached_answers(tmp_path: Path) -> None:
    """The endpoint's own notices end with the process that asked it; the replies stay."""

    class Stubborn(ScriptedEngine):
        in_replies = ("the endpoint does not take top_k",)

        def __init__(self) -> None:
            super().__init__(reply)
            self.identity = "api:stubborn"
            told = "another name answered", "seed: not sent (3 prompts)"
            self.notices = [*self.in_replies, *told]

    def reply(request: Request) -> Generation:
        number = int(request.messages[0].content.split()[1])
        if number == 19:
            return Generation(request, problem="failed: no reply")
        said = ("top_k: not sent", "min_p: not sent", *(["seed: not sent"] if number < 3 else []))
        return Generation(request, text="x", overrides=said)

    told = [
        "19 of 19 answers: min_p: not sent; top_k: not sent",
        "3 of 19 answers: seed: not sent",
    ]
    with Cache(tmp_path) as cache:
        first = CachedEngine(Stubborn(), cache)
        assert len(first.notices) == 3  # nothing was answered yet
        list(first.complete(ASKED))
        assert first.notices == ["another name answered", *told]
        again = CachedEngine(ScriptedEngine(reply), cache, who="judge")
        again.engine.identity = "api:stubborn"
        list(again.complete(ASKED))
    assert again.notices == [
        "19 of 20 answers of the judge are from the cache, given less than a minute ago",
        *(line.replace("answers", "answers of the judge") for line in told),
    ]


def test_failures_do_not_make_answers_look_cheap() -> None:
    """A hundred requests are filtered, which costs nothing; an answer costs ten cents.

    The last failures let eight be asked at once before any price is known, and no more.
    """

    def reply(request: Request) -> Generation:
        if int(request.messages[0].content.split()[1]) < 100:
            return Generation(request, problem="failed: content filter")
        return Generation(request, text="x", usage=Usage(10, 10, dollars=0.1))

    asked = [ask(f"question {n}") for n in range(1000)]
    asker = CachedEngine(Ahead(reply), meter=Meter(1.0))
    with pytest.raises(BudgetSpent, match=r"stopped at --max-cost 1: \$1.00 spent"):
        list(asker.complete(asked))
    assert asker.paid == pytest.approx(1.0)


def test_tokens_that_an_endpoint_does_not_tell_are_not_free() -> None:
    def reply(request: Request) -> Generation:
        return Generation(request, text="an answer without usage")

    asker = CachedEngine(ScriptedEngine(reply), price=Price(1.0, 1.0))
    list(asker.complete(ASKED))
    assert asker.dollars is None
    with pytest.raises(
        InputError, match="cannot be enforced: the price of answers of scripted is unknown"
    ):
        list(
            CachedEngine(ScriptedEngine(reply), price=Price(1.0, 1.0), meter=Meter(1)).complete(
                ASKED
            )
        )


def test_an_unknown_price_is_none_and_never_zero() -> None:
    asker = CachedEngine(ScriptedEngine(paid(None)))
    list(asker.complete(ASKED))
    assert asker.dollars is None
    assert asker.paid == 0.0


def test_repeating_draws_are_told_at_once_and_once() -> None:
    engine, heard = ScriptedEngine(paid(None)), Heard()
    engine.capabilities = Capabilities(draws_vary=False)
    list(CachedEngine(engine, progress=heard).complete(ASKED))
    assert len(heard.notes) == 1
    assert "repeat the same text" in heard.notes[0]


def test_what_the_engine_learns_shows_through() -> None:
    engine = ScriptedEngine(paid(None))
    asker = CachedEngine(engine)
    assert not asker.capabilities.logprobs
    engine.capabilities = msgspec.structs.replace(engine.capabilities, logprobs=True)
    assert asker.capabilities.logprobs
    asker.close()
    assert engine.closed


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0, "$0.00"), (12.345, "$12.35"), (0.5, "$0.500"), (0.00012, "$0.00012"), (1234, "$1,234.00")],
)
def test_amounts_are_readable(amount: float, said: str) -> None:
    assert dollars(amount) == said
