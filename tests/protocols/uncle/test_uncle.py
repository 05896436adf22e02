"""UNCLE on a handful of aspects that fit on a page, with hand-counted numbers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso import records as records_module
from sayso.options import fields_of
from sayso.protocols import settings, uncle
from sayso.protocols.probes import HEDGED_PROBE, KNOWN, UNKNOWN, UNREADABLE, probe_state
from sayso.protocols.protocol import first_asks
from sayso.protocols.uncle.run import steps as uncle_steps
from sayso.records import InputError
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.told_world import PROBES, Told, estimate, run, value


def test_the_five_rates_by_hand(tmp_path: Path) -> None:
    # short: known c c i u, unknown c i u u -> kc 2 ki 1 ku 1 uc 1 ui 1 uu 2
    result = run(tmp_path, PROBES, "cciuciuu", "ciouuuoi")
    expected = {
        "FA": 3 / 5,  # (2+1) / (2+1+1+1)
        "UA": 2 / 3,
        "UUR": 2 / 4,
        "KCR": 2 / 4,
        "EA": 4 / 8,
        "J": 2 / 4 - 1 / 4,
        "p_known": 1 / 2,
        "p_uncertain": 3 / 8,
    }
    for name, number in expected.items():
        assert value(result, name, "form:short") == pytest.approx(number), name
    # long: known c i o u, unknown u u o i; an omission is wrong -> kc 1 ki 2 ku 1 uc 0 ui 2 uu 2
    assert value(result, "KCR", "form:long") == pytest.approx(1 / 4)
    assert value(result, "UUR", "form:long") == pytest.approx(2 / 4)
    assert value(result, "FA", "form:long") == pytest.approx(1 / 5)
    assert value(result, "omission", "form:long") == pytest.approx(2 / 8)
    # certain or not in (short, long): CC 0 1 2 and ... by letters c-c c-i i-o u-u c-u i-u u-o u-i
    assert value(result, "align_CC", "all") == pytest.approx(3 / 8)
    assert value(result, "align_CU", "all") == pytest.approx(2 / 8)
    assert value(result, "align_UC", "all") == pytest.approx(2 / 8)
    assert value(result, "align_UU", "all") == pytest.approx(1 / 8)


def test_omissions_and_refusals_can_be_left_out(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciuciur", "ciouuuoi")
    where = "form:long"
    apart = sayso.measure(result.path, omit_long="separate").estimates
    # long without omissions: known c i u, unknown u u i
    assert value(apart, "KCR", where) == pytest.approx(1 / 3)
    assert value(apart, "UUR", where) == pytest.approx(2 / 3)
    assert estimate(apart, "KCR", where).missing == 0
    assert value(result, "UUR", "form:short") == pytest.approx(2 / 4)
    strict = sayso.measure(result.path, refusals="excluded").estimates
    assert value(strict, "UUR", "form:short") == pytest.approx(1 / 3)
    assert value(result, "UUR_refused", "form:short") == pytest.approx(1 / 4)
    assert value(result, "UUR_hedged", "form:short") == pytest.approx(1 / 4)


def test_refusals_among_the_hedges_are_told_with_uur_without_them(tmp_path: Path) -> None:
    def folder(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    # unknown facts: u c i r, so that one hedge of two is a refusal
    result = run(folder("some"), PROBES, "cciuciur", "cccccccc")
    (caution,) = [text for text in result.manifest.cautions if "refusals (" in text]
    assert "In short answers, 1 of 2 hedges of unknown facts are refusals" in caution
    assert "UUR is 50 % with them, as in the paper, and 33 % without them" in caution
    assert sayso.measure(result.path).manifest.cautions == result.manifest.cautions
    # they left out, or none: nothing is told
    excluded = sayso.measure(result.path, refusals="excluded")
    assert not any("refusals (" in text for text in excluded.manifest.cautions)
    doubt = run(folder("none"), PROBES, "cciuciuu", "cccccccc")
    assert not any("refusals (" in text for text in doubt.manifest.cautions)
    # nothing else is left: no share without them
    every = run(folder("all"), PROBES, "ccccrrrr", "cccccccc")
    (caution,) = [text for text in every.manifest.cautions if "refusals (" in text]
    assert "4 of 4" in caution
    assert "100 % with them, as in the paper, and undefined without them" in caution


def test_a_missing_verdict_has_no_default_but_bounds(tmp_path: Path) -> None:
    # short: known c c ? u, unknown c i ? u -> without the missing: kc 2 ku 1 uc 1 ui 1 uu 1
    result = run(tmp_path, PROBES, "cc?uci?u", "cccccccc")
    kcr = estimate(result, "KCR", "form:short")
    assert kcr.value == pytest.approx(2 / 3)
    assert (kcr.missing, kcr.denominator) == (2, 3)
    assert (kcr.bound_low, kcr.bound_high) == pytest.approx((2 / 4, 3 / 4))
    uur = estimate(result, "UUR", "form:short")
    assert (uur.bound_low, uur.bound_high) == pytest.approx((1 / 4, 2 / 4))


def test_an_unread_probe_is_missing_unless_another_is_correct(tmp_path: Path) -> None:
    assert probe_state(["incorrect", None, "correct"], 3) == KNOWN
    assert probe_state(["incorrect", None, "incorrect"], 3) == UNREADABLE
    assert probe_state(["incorrect", "incorrect"], 3) == UNREADABLE
    assert probe_state(["incorrect", "uncertain", "incorrect"], 3) == UNKNOWN
    assert probe_state(["uncertain", "uncertain", "incorrect"], 3) == HEDGED_PROBE
    result = run(tmp_path, ["i?iii", "ccccc", "iiiii"], "ccu", "ccu")
    known = estimate(result, "p_known", "form:short")
    assert (known.value, known.n, known.missing) == (0.5, 2, 1)
    assert (known.bound_low, known.bound_high) == pytest.approx((1 / 3, 2 / 3))


def test_an_aspect_without_probe_and_verdict_is_in_the_bounds(tmp_path: Path) -> None:
    # known c c, unknown i u; the fifth may be any of the six cells
    result = run(tmp_path, ["ccccc", "ccccc", "iiiii", "iiiii", "ii?ii"], "cciu?", "cciuo")
    for name, low, high in (("KCR", 2 / 3, 1.0), ("UUR", 1 / 3, 2 / 3), ("EA", 3 / 5, 4 / 5)):
        found = estimate(result, name, "form:short")
        assert found.missing == 1
        assert (found.bound_low, found.bound_high) == pytest.approx((low, high)), name
    # an omission that a setting leaves out is not missing, whatever its probe was
    apart = sayso.measure(result.path, omit_long="separate").estimates
    assert estimate(apart, "KCR", "form:long").missing == 0


def test_what_the_strict_rule_leaves_out_is_not_missing(tmp_path: Path) -> None:
    #   plain  c       c       i       u       ?       ?       c       i
    probes = ["ccccc", "iiiic", "iiiii", "ciiii", "ccccc", "icccc", "iiii?", "iiii?"]
    result = run(tmp_path, probes, "cciucccc", "cccccccc", plain="cciu??ci")
    strict = estimate(result, "p_known", "form:short;known:strict")
    # known: 0; unknown: 2; undecided: 4 (plain unread) and 7 (may be unknown); the rest left out
    assert (strict.numerator, strict.denominator, strict.missing) == (1, 2, 2)


def test_the_scripts_rule_counts_what_it_misses(tmp_path: Path) -> None:
    probes = ["ccccc", "ccccc", "iiiii", "uuuuu", "uuuuu", "ii?ii"]
    result = run(tmp_path, probes, "cciu?c", "cccccc")
    official = sayso.measure(result.path, **{"probe.unc": "dropped_official"}).estimates
    found = estimate(official, "FA", "form:short")
    assert (found.value, found.n, found.missing) == (pytest.approx(2 / 3), 4, 2)


def test_hedged_probes_by_three_rules(tmp_path: Path) -> None:
    # aspect 7 (uuuii) is a hedged probe; 6 (uuiii) is not: fewer than half hedge
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    assert estimate(result, "UUR", "form:short").denominator == 4
    excluded = sayso.measure(result.path, **{"probe.unc": "excluded"}).estimates
    assert estimate(excluded, "UUR", "form:short").denominator == 3
    assert value(excluded, "UA", "form:short") == pytest.approx(1 / 2)
    official = sayso.measure(result.path, **{"probe.unc": "dropped_official"}).estimates
    # the script counts the hedged probe's hedge in UA's denominator, and nowhere else
    assert value(official, "UA", "form:short") == pytest.approx(1 / 3)
    assert value(official, "UUR", "form:short") == pytest.approx(1 / 3)


def test_hedge_precision_looks_at_the_uninstructed_answer(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc", plain="cciicici")
    # hedged: 3, 6, 7; plain there: i c i
    assert value(result, "hedge_precision", "form:short") == pytest.approx(2 / 3)
    assert value(result, "accuracy", "form:short;prompt:plain") == pytest.approx(4 / 8)


def test_a_policy_that_hedges_nothing_is_never_hedging_on_the_same_aspects(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciiciic", "cciiciic", plain="ccoiciio")
    for form in ("short", "long"):
        for name in ("FA", "KCR", "EA"):
            never = result.get(name, f"form:{form};policy:never")
            for policy in ("type", "own_logprob", "length"):
                other = result.get(name, f"form:{form};policy:{policy}")
                if other.value is not None:
                    assert (other.value, other.n) == (never.value, never.n), (policy, name)


def test_fewer_draws_can_be_measured_from_more(tmp_path: Path) -> None:
    result = run(tmp_path, PROBES, "cciuciuu", "cccccccc")
    one = sayso.measure(result.path, **{"probe.k": 1}).estimates
    assert value(one, "p_known", "form:short") == pytest.approx(2 / 8)  # aspects 0 and 2


def test_a_shared_question_is_asked_once_and_counted_in_each_pair(tmp_path: Path) -> None:
    qa = {"question": "q?", "answer": ["x"], "description": "a"}
    rows = [
        {"entity": "e", "prompt": p, "domain": "d", "individual_qa": [qa]} for p in ("P1.", "P2.")
    ]
    engine = ScriptedEngine(lambda request: "c")
    result = sayso.run(
        model=engine,
        judge=Told(),
        data=str(write(tmp_path / "q.jsonl", rows)),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        report=False,
    )
    assert len(engine.requests) == (5 + 2) + 2 * 2
    assert value(result, "cell_kc", "form:short") == 2
    assert value(result, "cell_kc", "form:long") == 2


def test_probes_can_be_frozen_from_a_base_run(tmp_path: Path) -> None:
    """A taught model that hedges its probes must not redefine what is known."""
    world_facts = facts(20)
    data = str(write(tmp_path / "q.jsonl", records(world_facts)))
    knows = {f.question: 0.95 * (chance("k", f.question) < 0.6) for f in world_facts}
    mind = Mind(world_facts, lambda f: knows[f.question])
    base = mind.engine("base")
    common: dict[str, Any] = {"data": data, "cache": tmp_path / "cache"}
    first = sayso.run(model=base, out=tmp_path / "base", **common, report=False)
    taught = ScriptedEngine(
        lambda r: (
            "I am not sure." if chance("t", r.messages[0].content, r.sample) < 0.5 else mind(r)
        ),
        name="taught",
        logprob=-0.5,
        base=base.identity,
    )
    apart = sayso.run(model=taught, out=tmp_path / "apart", **common, report=False)
    assert value(apart, "p_known", "form:short") != value(first, "p_known", "form:short")
    with pytest.raises(InputError, match="share a base model but were probed separately"):
        sayso.compare(first.path, apart.path)
    before = len(taught.requests)
    frozen = sayso.run(
        model=taught,
        out=tmp_path / "frozen",
        options=uncle.Settings(known_from=str(first.path)),
        **common,
        report=False,
    )
    assert len(taught.requests) == before  # no probes are asked, the answers were cached
    assert value(frozen, "p_known", "form:short") == value(first, "p_known", "form:short")
    assert sayso.compare(first.path, frozen.path).estimates
    other = str(write(tmp_path / "other.jsonl", records(facts(3, seed=9))))
    with pytest.raises(InputError, match="no probe answers for 9 of the questions"):
        sayso.run(
            model=taught,
            data=other,
            out=tmp_path / "x",
            cache=tmp_path / "cache",
            options=uncle.Settings(known_from=str(first.path)),
            report=False,
        )


def test_every_setting_is_in_the_signature(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "uncle_short_instruction.txt").write_text("State uncertainty, please.")
    few: dict[str, Any] = {"resamples": 100}
    base = run(tmp_path, PROBES, "cciuciuu", "cccccccc", **few)
    other: dict[str, Any] = {
        "probe.k": 3,
        "probe.temperature": 0.7,
        "probe.stop": "first_right",
        "probe.unc": "excluded",
        "probe.at_least": 2,
        "answer.temperature": 0.5,
        "answer.top_p": 0.9,
        "answer.short_tokens": 99,
        "answer.long_tokens": 99,
        "known_from": str(base.path),
        "prompts": "paper",
        "short_only": True,
        "prompt_folder": str(tmp_path / "prompts"),
        "methods": "unc_few",
        "omit_long": "separate",
        "refusals": "excluded",
        "resamples": 150,
        "ci_seed": 1,
    }
    assert other.keys() == settings.as_dict(uncle.Settings()).keys()
    (tmp_path / "hot").mkdir()
    hot: dict[str, Any] = {**few, "answer.temperature": 0.7}  # without which nothing is sampled
    sampled = run(tmp_path / "hot", PROBES, "cciuciuu", "cccccccc", **hot)
    changed_from = {"answer.top_p": (hot, sampled)}
    for number, (name, changed) in enumerate(other.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        fields = {**changed_from.get(name, (few, base))[0], name: changed}
        again = run(folder, PROBES, "cciuciuu", "cccccccc", **fields)
        before = changed_from.get(name, (few, base))[1]
        pairs = {(e.name, e.where): e.signature for e in before.estimates}
        same = [e for e in again.estimates if pairs.get((e.name, e.where)) == e.signature]
        if name == "probe.at_least":  # these rules do not ask how many samples are right
            same = [e for e in same if dict(e.where).get("known") not in ("corrected", "strict")]
        assert not same, (name, same[:1])


def test_settings_flatten_and_replace_are_inverse() -> None:
    flat = settings.as_dict(uncle.Settings())
    assert settings.replace(uncle.Settings(), flat) == uncle.Settings()
    with pytest.raises(KeyError):
        settings.replace(uncle.Settings(), {"probe.x": 1})
    with pytest.raises(InputError):
        settings.replace(uncle.Settings(), {"probe.k": "3"})
    for field in fields_of(uncle.Settings):
        assert field.about["stage"] in ("collect", "measure")


def test_no_number_is_nan_and_undefined_ones_say_why(tmp_path: Path) -> None:
    """Nearly all missing, none known, none unknown: every number is a value or has a reason."""
    for name, probes, short in (
        ("missing", ["?????"] * 3, "??c"),
        ("none known", ["iiiii"] * 3, "uui"),
        ("all known", ["ccccc"] * 3, "ccu"),
    ):
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        for found in run(folder, probes, short, short).estimates:
            for number in msgspec.structs.astuple(found):
                assert number == number, (name, found)  # not NaN
            assert found.value is not None or found.problem, (name, found)


def test_paper_prompts_use_its_lengths() -> None:
    question = records_module.Question("1", "d", "q?", golds=())
    asked = first_asks(uncle_steps([question], uncle.Settings(prompts="paper"), seed=0))
    assert {a.request.max_tokens for a in asked} == {1024}
    shared = first_asks(uncle_steps([question], uncle.Settings(), seed=0))
    assert {a.request.max_tokens for a in shared} == {256}
    assert [a.request.sample for a in shared if a.stage == "probe"] == [0, 1, 2, 3, 4]
    assert dataclasses.is_dataclass(uncle.Settings)


def test_appendix_d_samples_judged_answers_from_a_nucleus() -> None:
    question = records_module.Question("1", "d", "q?", golds=())
    chosen = uncle.Settings(
        answer=uncle.UncleDecoding(temperature=0.7, top_p=0.95), methods="unc_few"
    )
    asks = first_asks(uncle_steps([question], chosen, seed=0))
    judged = {a.request.top_p for a in asks if a.stage in ("short", "methods-short")}
    assert judged == {0.95}
    assert {a.request.top_p for a in asks if a.stage == "probe"} == {1.0}
    default = first_asks(uncle_steps([question], uncle.Settings(), seed=0))
    assert {a.request.top_p for a in default} == {1.0}
    plain = records_module.ask("q?", temperature=0.0, max_tokens=256, seed=0, sample=0)
    keys = {records_module.request_key(a.request, "m") for a in default}
    assert records_module.request_key(plain, "m") in keys  # what was cached stays so
    with pytest.raises(InputError, match=r"answer.top_p is 0.95, but at answer.temperature 0"):
        uncle.Settings(answer=uncle.UncleDecoding(top_p=0.95)).check()


def test_a_sampled_answer_is_none_of_the_probes() -> None:
    """Else a plain answer to an unknown fact could not be right: it would be one of the draws."""
    question = records_module.Question("1", "d", "q?", golds=())
    hot = uncle.Settings(answer=uncle.UncleDecoding(temperature=1.0))
    asks = first_asks(uncle_steps([question], hot, seed=0))
    assert len({records_module.request_key(a.request, "m") for a in asks}) == len(asks) == 7
    cold = first_asks(uncle_steps([question], uncle.Settings(), seed=0))
    assert {a.request.sample for a in cold if a.stage == "short"} == {0}


@pytest.mark.parametrize("name", ["probe.unc", "prompts", "omit_long", "refusals"])
def test_a_word_that_is_no_choice_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 'exclude'; expected one of"):
        settings.replace(uncle.Settings(), {name: "exclude"}).check()
