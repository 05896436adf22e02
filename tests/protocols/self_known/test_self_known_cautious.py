"""Texts that a model decodes cautiously: sentence by sentence, and only what it is sure of."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.engines import open_model
from sayso.metrics.factuality import unsupported_before
from sayso.protocols import self_known
from sayso.protocols.protocol import Ask
from sayso.protocols.self_known.cautious import Draft, cautious_texts, first_sentence, sureness
from sayso.protocols.self_known.settings import SelfKnownDecoding
from sayso.records import Generation, InputError, Question, Usage, ask, signature_text
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.telling_world import World

DECODING = SelfKnownDecoding(long_tokens=200, decoding="cautious", candidates=2, sure=0.5)
REQUEST = ask("Tell me about Mira Toll.", temperature=0.0, max_tokens=200)
QUESTION = Question(id="q", text="Tell me about Mira Toll.", entity="Mira Toll", dataset="own")


def reply(text: str, probability: float | dict[str, float] = 0.9) -> Generation:
    """Return a reply whose tokens are words with the space before them."""
    offsets, at = [], 0
    words = text.split(" ")
    for place, word in enumerate(words):
        offsets.append(max(0, at - (place > 0)))
        at += len(word) + 1
    one = probability if isinstance(probability, dict) else {}
    usual = 0.9 if one else probability
    assert isinstance(usual, float)
    logprobs = tuple(math.log(one.get(word.strip("."), usual)) for word in words) if text else ()
    ids = tuple(range(len(words))) if text else ()
    return Generation(
        REQUEST,
        text=text,
        token_ids=ids,
        offsets=tuple(offsets) if text else (),
        logprobs=logprobs,
        finish="stop",
        usage=Usage(7, len(ids)),
    )


def draft() -> Draft:
    return Draft(Ask(QUESTION, REQUEST, "long", "long", "cautious"))


def test_a_sentence_is_as_sure_as_its_least_probable_value() -> None:
    sentence = reply("Mira Toll was born in Orm in 1942.", {"Orm": 0.8, "1942": 0.3, "born": 0.01})
    assert sureness("Mira Toll", sentence) == pytest.approx(0.3)
    # two tokens of one name: the root of .9 * .4
    sentence = reply("She lived in Port Orm.", {"Port": 0.9, "Orm": 0.4})
    assert sureness("Mira Toll", sentence) == pytest.approx(0.6)
    # a name that opens the sentence is a value too: a model that turns the sentence hides nothing
    sentence = reply("Orm is where she was born.", {"Orm": 0.2})
    assert sureness("Mira Toll", sentence) == pytest.approx(0.2)
    # without a value the whole sentence counts
    assert sureness("Mira Toll", reply("she liked to sing.", 0.7)) == pytest.approx(0.7)


def test_a_reply_is_cut_behind_the_last_token_of_its_first_sentence() -> None:
    text = "She was born in Orm. She sang."
    cut = first_sentence(reply(text))
    assert cut.text == "She was born in Orm."
    assert [len(a or ()) for a in (cut.token_ids, cut.offsets, cut.logprobs)] == [5, 5, 5]
    spaced = Generation(
        REQUEST, text=text, token_ids=(1, 2, 3), offsets=(0, 19, 21), logprobs=(-0.1, -0.2, -0.3)
    )
    cut = first_sentence(spaced)  # the second token is the stop and its space
    assert (cut.text, cut.token_ids) == ("She was born in Orm. ", (1, 2))
    assert first_sentence(reply("She sang")).text == "She sang"


def test_the_surest_candidate_is_kept_and_a_repeated_one_is_none() -> None:
    own = draft()
    own.go_on([reply("Born in Orm. She", 0.6), reply("Born in Ulm. She", 0.8)], DECODING)
    assert own.text == "Born in Ulm."
    assert own.usage == Usage(14, 8)
    own.go_on([reply(" Born in Ulm.", 0.99), reply(" She left Tor.", 0.7)], DECODING)
    assert own.text == "Born in Ulm. She left Tor."
    assert own.offsets[-1] == own.text.index(" Tor")
    # of equals the greedy one stays
    own.go_on([reply(" She met Bo."), reply(" She met Ed.")], DECODING)
    assert own.text.endswith("She met Bo.")
    assert (own.end, own.generation("m", DECODING).finish) == ("", "stop")


def test_a_text_ends_where_no_candidate_is_sure_or_the_greedy_one_ends() -> None:
    own = draft()
    own.go_on([reply("Born in Orm.", 0.4), reply("Born in Ulm.", 0.3)], DECODING)
    assert (own.end, own.text) == ("unsure", "")
    own = draft()
    own.go_on([reply("Born in Orm.", 0.4), reply("Born in Ulm.", 0.5)], DECODING)
    assert (own.end, own.text) == ("", "Born in Ulm.")
    own.go_on([reply(""), reply(" She sang in Tor.", 0.9)], DECODING)
    assert (own.end, own.text) == ("stop", "Born in Ulm.")
    lost = draft()
    lost.go_on([Generation(REQUEST, problem="context"), reply("Born in Ulm.")], DECODING)
    assert lost.generation("m", DECODING).problem == "context"


def test_the_built_in_model_goes_on_from_what_is_kept(tmp_path: Path) -> None:
    settings = {"answer.decoding": "cautious", "answer.sure": 0.3, "modes": "none"}
    result = sayso.run(
        "self_known", model="builtin", limit=4, out=tmp_path / "run", settings=settings,
        cache=str(tmp_path / "cache"), report=False,
    )  # fmt: skip
    texts = RunFolder.open(tmp_path / "run").read("generations/long", Generation)
    cautious = [g for g in texts if g.method == "cautious"]
    assert sorted(g.method for g in texts) == ["cautious"] * 4 + ["plain"] * 4
    assert len({g.id for g in texts}) == 8
    engine = open_model("builtin")
    plain = {g.question: g for g in texts if g.method == "plain"}
    for g in cautious:
        assert g.text == engine.decode(g.token_ids or ())
        assert len(g.token_ids or ()) == len(g.offsets or ()) == len(g.logprobs or ())
        # the kept tokens have the probabilities that a pass over the whole text gives them
        if g.token_ids:
            ((_, forced),) = engine.force([(g.request, g.token_ids)], ["logprobs"])
            assert g.logprobs == pytest.approx(forced.logprobs, abs=1e-3)
        assert g.usage.completion_tokens > 3 * len(g.token_ids or ())
        assert g.request == plain[g.question].request
    assert sum(g.text.count(". ") for g in cautious) > 4  # it does not end after one sentence
    for e in result.estimates:
        signature, where = signature_text(e.signature), dict(e.where)
        assert ("cautious-4@0.3" in signature) == (where.get("method") == "cautious")
    # without a cache: draws have seeds, and another seed draws others
    asks = [Ask(QUESTION, g.request, "long", "long") for g in plain.values()]
    decoding = SelfKnownDecoding(long_tokens=100, candidates=4, sure=0.0)
    (one, told), (two, _) = (cautious_texts(asks, engine, decoding) for _ in range(2))
    assert [g.text for g in one] == [g.text for g in two]
    other = [a._replace(request=msgspec.structs.replace(a.request, seed=1)) for a in asks]
    assert [g.text for g in cautious_texts(other, engine, decoding)[0]] != [g.text for g in one]
    assert told[0].startswith("cautious: 0 of 4 texts end where")


def test_a_model_without_probabilities_is_refused_before_it_is_asked(tmp_path: Path) -> None:
    world = World({"Mira Toll": "tf"})
    engine = ScriptedEngine(world.reply)
    with pytest.raises(InputError, match=r"decoding cautious .* scripted does not offer"):
        world.run(tmp_path, model=engine, **{"answer.decoding": "cautious"})
    assert engine.requests == []


def dry(tmp_path: Path, model: str) -> dict[str, tuple[float, float]]:
    """Return how many requests each stage takes for texts about one topic."""
    data = World({"Mira Toll": "tf"}).topics(tmp_path)
    options = self_known.Settings(answer=DECODING)
    cache = tmp_path / "cache"
    job = Job(protocol="self_known", model=model, data=data, cache=cache, options=options)
    return {stage.name: stage.requests for stage in estimate_job(job).stages}


def test_a_dry_run_refuses_an_endpoint_as_the_run_does(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"decoding cautious .* does not offer: use a model in"):
        dry(tmp_path, "openai:http://127.0.0.1:9/v1#some-model")
    low, high = dry(tmp_path, "builtin")["cautious texts"]  # no weights are loaded
    assert 2 * 2 <= low <= high  # two candidates for every sentence


def test_a_difference_in_no_topic_has_no_interval(tmp_path: Path) -> None:
    # the stop alone: every cautious text is the beginning of the plain one
    settings = {"answer.decoding": "cautious", "answer.candidates": 1, "modes": "none"}
    result = sayso.run(
        "self_known", model="builtin", limit=12, out=tmp_path / "run", settings=settings,
        cache=str(tmp_path / "cache"), report=False,
    )  # fmt: skip
    gap = result.get("precision_at_recall_minus_plain", "method:cautious")
    assert (gap.value, gap.low, gap.high) == (0.0, None, None)
    assert gap.problem == "no interval: no topic differs between the two methods"
    # their lengths do differ
    sizes = [result.get("claims_per_answer", method=m).value or 0 for m in ("cautious", "plain")]
    assert sizes[0] < sizes[1]
    assert not [e.name for e in result.estimates if e.low is not None and e.low == e.high]


def test_wrong_claims_before_as_many_right_ones() -> None:
    texts = [["S", "NS", "S", "NS", "S"], ["NS", "IR", "S"], ["NS"]]
    assert unsupported_before(texts, [2, 1, 0]) == [1, 1, 0]
    assert unsupported_before(texts, [3, 0, 0]) == [2, 0, 0]
    with pytest.raises(InputError, match="2 supported claims"):
        unsupported_before(texts, [1, 2, 0])
