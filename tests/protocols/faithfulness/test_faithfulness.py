"""Faithfulness: one pool with UNCLE, the join, the counts, controls that must be null."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso import datasets
from sayso.metrics.cmfg import THIN
from sayso.prompts import methods
from sayso.protocols import faithfulness, settings, uncle
from sayso.protocols.faithfulness.asks import evaluated
from sayso.protocols.faithfulness.demonstrations import held_out
from sayso.protocols.faithfulness.measure import CONSTANT
from sayso.protocols.faithfulness.rows import draw_agreement, load_rows
from sayso.protocols.faithfulness.run import steps as faithfulness_steps
from sayso.protocols.faithfulness.settings import ambiguous_questions
from sayso.protocols.faithfulness.verdicts import in_paragraph
from sayso.protocols.protocol import first_asks
from sayso.protocols.settings import replace
from sayso.protocols.uncle.run import steps as uncle_steps
from sayso.records import (
    Estimate,
    Gold,
    InputError,
    Question,
    Request,
    Signature,
    request_key,
    slice_text,
)
from sayso.runs.measure import load_run, measure
from sayso.runs.result import Result
from sayso.studies.results import of_folders
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, chance, facts, records, word, write
from support.tables import tabled

ENTITIES = 50
WORLD = facts(ENTITIES)
BY_QUESTION = {f.question: f for f in WORLD}
TOLD = "Where you are not certain"


def sure(fact: Fact) -> float:
    """How often a draw is the value: spread evenly over facts."""
    return chance("sure", fact.question)


def faithful(fact: Fact, value: str) -> str:
    """Words that follow how sure it is."""
    p = sure(fact)
    if p > 0.85:
        return f"It is {value}."
    if p > 0.6:
        return f"It is probably {value}."
    if p > 0.35:
        return f"It might be {value}, but I am not sure."
    return f"It is very unlikely to be {value}."


def constant(fact: Fact, value: str) -> str:
    return f"There is a 50 % chance that it is {value}."


def plain(fact: Fact, value: str) -> str:
    return f"It is {value}."


def dealt(fact: Fact, value: str) -> str:
    """The same mixture of words, with no link to how sure it is."""
    firm = chance("dealt", fact.question) < 0.5
    return f"It is {value}." if firm else f"It might be {value}."


Words = Callable[[Fact, str], str]


def engine(words: Words, name: str) -> ScriptedEngine:
    """A model that draws its value as often as it is sure, and speaks so where told to hedge."""

    def answer(request: Request) -> str:
        text = request.messages[-1].content.split("Question: ")[-1]
        fact = next((f for q, f in BY_QUESTION.items() if text.startswith(q)), None)
        if fact is None:
            entity = next(f.entity for f in WORLD if f"about {f.entity}," in text)
            some = [f for f in WORLD if f.entity == entity]
            return " ".join(f"The {f.aspect} of {entity} is {f.value}." for f in some[:-1])
        if request.greedy:
            return words(fact, fact.value) if TOLD in text else f"It is {fact.value}."
        right = chance("draw", fact.question, request.sample) < sure(fact)
        value = fact.value if right else word("other", fact.question, request.sample)
        return f"It is {value}."

    return ScriptedEngine(answer, name=name, logprob=-0.5)


def run(
    folder: Path, model: Any, name: str = "run", entities: int = ENTITIES, **fields: Any
) -> Result:
    data = write(folder / "q.jsonl", records(WORLD[: 3 * entities]))
    chosen = {"methods": "vanilla,uncertainty", "resamples": 200, **fields}
    return sayso.run(
        "faithfulness",
        model=model,
        data=str(data),
        out=folder / name,
        cache=folder / "cache",
        options=replace(faithfulness.Settings(), chosen),
        report=False,
    )


def get(result: Result, name: str, method: str = "uncertainty", form: str = "short") -> Estimate:
    return result.get(name, f"form:{form};method:{method}")


def holds(e: Estimate, value: float) -> bool:
    assert e.low is not None, e
    assert e.high is not None, e
    return e.low - 1e-9 <= value <= e.high + 1e-9


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    some: dict[str, Words] = {"faithful": faithful, "constant": constant, "dealt": dealt}
    return {
        name: run(tmp_path_factory.mktemp(name), engine(words, name))
        for name, words in some.items()
    }


def test_words_that_follow_confidence_have_skill(runs: dict[str, Result]) -> None:
    skill = get(runs["faithful"], "skill")
    assert (skill.value or 0) > 0.5
    # two of its ten bins hold a handful: a mean over bins of these is decided by luck
    assert (skill.low, (skill.problem or "").startswith(THIN)) == (None, True)
    assert (get(runs["faithful"], "spearman").value or 0) > 0.8
    gain = get(runs["faithful"], "skill_gain")
    assert (gain.low or 0) > 0.3  # beyond the plain answers, on shared bins
    assert (get(runs["faithful"], "cmfg_oracle").value or 0) == pytest.approx(1)


def test_always_one_half_has_no_skill_and_a_high_cmfg(runs: dict[str, Result]) -> None:
    """Control: the constant 50/50 scores about .75 in cMFG, which proves nothing."""
    skill = get(runs["constant"], "skill")
    assert (skill.value, skill.low) == (pytest.approx(0, abs=1e-9), None)
    assert skill.problem == CONSTANT
    assert get(runs["constant"], "cmfg").value == pytest.approx(0.75, abs=0.03)
    assert get(runs["constant"], "mean_decisiveness").value == pytest.approx(0.5)


def test_words_dealt_at_random_have_no_skill(runs: dict[str, Result]) -> None:
    assert holds(get(runs["dealt"], "skill"), 0)
    spread = get(runs["dealt"], "cmfg").value or 0
    assert spread == pytest.approx(get(runs["dealt"], "cmfg_permuted").value, abs=0.05)


@pytest.mark.parametrize("form", ["short", "long"])
def test_plain_words_have_no_skill(runs: dict[str, Result], form: str) -> None:
    skill = get(runs["faithful"], "skill", "vanilla", form)
    assert skill.value == pytest.approx(0, abs=1e-6)
    decisive = get(runs["faithful"], "cmfg_decisive", "vanilla", form).value
    assert decisive == pytest.approx(0.52, abs=0.04)


def test_confidence_is_the_share_of_draws_that_agree(runs: dict[str, Result]) -> None:
    expected = sum(sure(f) for f in WORLD) / len(WORLD)
    found = get(runs["faithful"], "mean_confidence", "vanilla").value
    assert found == pytest.approx(expected, abs=0.05)


def test_a_paragraphs_facts_are_joined_by_question(runs: dict[str, Result]) -> None:
    """The last aspect of each entity is left out of its paragraph: counted, and in no mean."""
    found = runs["faithful"]
    left = found.get("left_out", "form:long;method:vanilla;reason:omitted")
    assert (left.value, left.n) == (ENTITIES, len(WORLD))
    skill = get(found, "skill", "vanilla", "long")
    assert skill.n == 2 * ENTITIES
    right = get(found, "accuracy", "vanilla", "long")  # an omitted fact is not right, as in UNCLE
    assert (right.numerator, right.denominator) == (2 * ENTITIES, len(WORLD))
    punting = get(found, "punting", "vanilla", "long")
    assert (punting.n, punting.missing) == (2 * ENTITIES, 0)
    told = {f.question for f in WORLD if f.aspect not in ("instrument", "guardian")}
    expected = sum(sure(BY_QUESTION[q]) for q in told) / len(told)
    assert get(found, "mean_confidence", "vanilla", "long").value == pytest.approx(
        expected, abs=0.05
    )


def test_the_two_failures_of_decisive_words_have_names(runs: dict[str, Result]) -> None:
    # the values are all right, so nothing is firm, steady and wrong; what wavers is said firmly
    assert get(runs["faithful"], "unknown_unknown", "vanilla").value == 0
    expected = sum(sure(f) < 0.75 for f in WORLD) / len(WORLD)
    unsaid = get(runs["faithful"], "known_unsaid", "vanilla")
    assert unsaid.value == pytest.approx(expected, abs=0.08)
    assert holds(unsaid, unsaid.value or 0)
    assert (unsaid.numerator or 0) / (unsaid.denominator or 1) == pytest.approx(unsaid.value)


def test_wrong_and_steady_is_not_knowing_that_it_does_not_know(tmp_path: Path) -> None:
    wrong = ScriptedEngine(lambda request: "It is Nowhere.", "wrong", logprob=-0.5)
    found = run(tmp_path, wrong, entities=8)
    assert get(found, "unknown_unknown", "vanilla").value == 1
    assert get(found, "known_unsaid", "vanilla").value == 0
    assert any(text.startswith("The draws never vary") for text in found.manifest.cautions)


def test_punts_are_counted_and_enter_no_mean(tmp_path: Path) -> None:
    base = engine(plain, "x")

    def shy(request: Request) -> Any:
        text = request.messages[-1].content
        short = any(text.startswith(q) for q in BY_QUESTION)
        if short and TOLD in text and chance("shy", text) < 0.5:
            return "I don't know."
        return next(iter(base.complete([request])))[1].text

    found = run(tmp_path, ScriptedEngine(shy, "shy", logprob=-0.5))
    punting = get(found, "punting")
    assert punting.value == pytest.approx(0.5, abs=0.1)
    assert get(found, "skill").n == len(WORLD) - (punting.numerator or 0)
    assert get(found, "mean_decisiveness").value == pytest.approx(
        get(found, "mean_decisiveness", "vanilla").value
    )  # the punts are no zeros
    accuracy = get(found, "accuracy")
    assert accuracy.value == pytest.approx(1 - (punting.value or 0))  # and are not right
    zero, plainly = get(found, "cmfg_dec0"), get(found, "cmfg")
    assert zero.n == len(WORLD)
    assert zero.value != plainly.value


# --- one pool -----------------------------------------------------------------------------------


def test_the_pool_is_shared_with_uncle() -> None:
    found = datasets.load_dataset("builtin", limit=3)
    chosen = replace(faithfulness.Settings(), {"methods": "vanilla,uncle"})
    ours = first_asks(faithfulness_steps(found.questions, chosen, seed=0))
    theirs = first_asks(uncle_steps(found.questions, uncle.Settings(), seed=0))
    keys = {request_key(ask.request, "m") for ask in ours}
    assert {request_key(ask.request, "m") for ask in theirs} < keys
    # twenty draws and two answers of 18 facts; two answers of each of 3 paragraphs
    assert len(keys) == 18 * 22 + 3 * 2


def test_nothing_is_drawn_twice_after_uncle(tmp_path: Path) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD[:12])))
    model = engine(plain, "one")
    both: dict[str, Any] = {"model": model, "data": data, "cache": tmp_path / "cache"}
    sayso.run("uncle", out=tmp_path / "u", **both, report=False)
    before = len(model.requests)
    assert before == 12 * 7 + 4 * 2
    chosen = replace(faithfulness.Settings(), {"methods": "vanilla,uncle", "resamples": 100})
    second = sayso.run("faithfulness", out=tmp_path / "f", options=chosen, **both, report=False)
    asked = model.requests[before:]
    assert len(asked) == 12 * 15  # draws 5..19 and nothing else
    assert {r.sample for r in asked} == set(range(5, 20))
    assert second.manifest.tokens["requests"] == 12 * 22 + 4 * 2
    assert second.manifest.tokens["cached"] == before
    sayso.run("faithfulness", out=tmp_path / "again", options=chosen, **both, report=False)
    assert len(model.requests) == before + 12 * 15


def test_demonstrations_come_from_entities_that_are_not_measured(tmp_path: Path) -> None:
    model = engine(faithful, "demos")
    few = {"demos.entities": 10, "demos.certain": 0.8}
    found = run(tmp_path, model, methods="vanilla,uncertainty_plus", **few)
    shown = [r for r in model.requests if "Question: " in r.messages[-1].content]
    blocks = [r.messages[-1].content.split("Question: ")[1:] for r in shown]
    examples = {b.split("\n")[0] for some in blocks for b in some[:-1]}
    asked = {some[-1].split("\n")[0] for some in blocks}
    assert examples
    assert not examples & asked
    assert not {BY_QUESTION[q].entity for q in examples} & {BY_QUESTION[q].entity for q in asked}
    assert examples | asked <= set(BY_QUESTION)
    assert all(len(some) == 5 for some in blocks)  # two certain, two uncertain, the question
    assert all(sum("I am not sure, but" in b for b in some) == 2 for some in blocks)
    rows = get(found, "skill", "uncertainty_plus").n
    measured = ENTITIES - 10
    assert f"10 of {ENTITIES} entities only supply examples" in " ".join(found.manifest.notices)
    assert rows == 3 * measured * 3  # three choices, three facts
    each = [found.get("skill", f"form:short;method:uncertainty_plus;choice:{c}") for c in (1, 2, 3)]
    assert [e.n for e in each] == [measured * 3] * 3
    mean = sum(e.value or 0 for e in each) / 3
    assert get(found, "skill", "uncertainty_plus").value == pytest.approx(mean)
    assert get(found, "skill", "vanilla").n == measured * 3


def test_too_few_certain_answers_is_told_not_faked(tmp_path: Path) -> None:
    never = ScriptedEngine(lambda r: f"It is {word(r.sample)}.", "never", logprob=-0.5)
    found = run(tmp_path, never, entities=10, methods="vanilla,uncertainty_plus")
    e = get(found, "skill", "uncertainty_plus")
    assert e.value is None
    assert e.problem is not None
    assert "too few certain" in e.problem


def test_paper_prompts_and_draws_of_each_method() -> None:
    questions = [Question("q", "s", "Where is Orm?", (Gold("Sarn"),), entity="Orm", domain="d")]
    chosen = replace(
        faithfulness.Settings(),
        {"prompts": "paper", "sample_prompt": "same", "methods": "vanilla,granularity"},
    )
    asks = first_asks(faithfulness_steps(questions, chosen, seed=0))
    assert len(asks) == 2 + 2 * 20
    text = asks[0].request.messages[0].content
    assert text.endswith("\n\nQuestion: Where is Orm?\nAnswer:")
    assert {(a.stage, a.method) for a in asks} == {
        ("draws", "plain"), ("draws", "granularity"),
        ("short", "plain"), ("methods-short", "granularity"),
    }  # fmt: skip


# --- counts -------------------------------------------------------------------------------------

LETTERS = "cnnepp?xnnnnnnnnnnnn"  # 1 c, 14 n, 1 e, 2 p, 1 ?, 1 x


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (15, 16)),  # c n e: 16 answered draws, 15 do not contradict
        ({"sample_punt": "literal"}, (17, 18)),  # the formula: a punt does not contradict
        ({"sample_punt": "contradiction"}, (15, 18)),
        ({"relation": "inconsistency", "contradict": "nli"}, (1, 16)),  # only e agrees
        ({"draws.k": 5}, None),  # c n n e p: four answered, fewer than five
        ({"draws.k": 6, "least": 4}, (3, 4)),
        ({"draws.k": 2}, (1, 2)),  # k below the least: all of them
        ({"least": 17}, None),
    ],
)
def test_counts_by_hand(change: dict[str, Any], expected: tuple[int, int] | None) -> None:
    j, k, unread = draw_agreement(LETTERS, replace(faithfulness.Settings(), change))
    assert (None if k != k else (j, k)) == expected
    assert unread == (1 if change.get("draws.k", 20) > 6 else 0)


@given(
    st.text(alphabet="cnep?x", max_size=20), st.sampled_from(["drop", "literal", "contradiction"])
)
def test_counts_are_whole_and_within_k(letters: str, punt: str) -> None:
    chosen = replace(faithfulness.Settings(), {"sample_punt": punt, "least": 1})
    j, k, _ = draw_agreement(letters, chosen)
    usable = [c for c in letters if c in ("cne" if punt == "drop" else "cnep")]
    if not usable:
        assert k != k
    else:
        assert k == len(usable)
        assert j == k - sum(c == "c" or (c == "p" and punt == "contradiction") for c in usable)


def test_doubt_about_the_whole_paragraph_reaches_its_sentences() -> None:
    sentence = "Orm was born in Sarn."
    alone = in_paragraph(sentence, sentence, "Sarn")
    around = in_paragraph(f"{sentence} Some of this may be wrong.", sentence, "Sarn")
    assert alone is not None
    assert around is not None
    assert around < alone


# --- settings -----------------------------------------------------------------------------------


def test_every_setting_is_in_the_signature(tmp_path: Path) -> None:
    """Each field in turn, from the default, in the signatures of one run's numbers."""
    other: dict[str, Any] = {
        "methods": "vanilla", "prompts": "paper", "sample_prompt": "same", "decisive": "rules",
        "contradict": "rules", "nli": "some", "ambiguous": "drop",
        "empty": "zero", "sample_punt": "literal", "relation": "inconsistency",
        "prompt_folder": "x", "demos.data": "builtin",
    }  # fmt: skip
    found = run(tmp_path, engine(faithful, "signed"), entities=2, methods="vanilla")
    from sayso.protocols.faithfulness.measure import numbers_signature
    from sayso.runs.measure import load_run

    job, _, _ = load_run(found.path)
    defaults = faithfulness.Settings()

    def signature(chosen: faithfulness.Settings) -> Signature:
        job.parts["prompts"] = (
            "x" if chosen.prompt_folder else faithfulness.prompts.prompts(chosen)["signature"]
        )
        return numbers_signature(job, chosen, "short", "vanilla", {})

    seen = {signature(defaults)}
    names = settings.as_dict(defaults)
    for name, value in names.items():
        if name in other:
            new = other[name]
        elif isinstance(value, bool):
            new = not value
        elif value is None:  # a limit that belongs to the model's name
            new = 100
        else:
            new = value + (1 if isinstance(value, int) else -0.125 if value > 0.85 else 0.125)
        changed = {name: new} | ({"contradict": "nli"} if name == "nli" else {})
        seen.add(signature(replace(defaults, changed)))
    assert len(seen) == len(names) + 1


@tabled
def test_mistakes_are_told(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(faithfulness.Settings(), change).check()


def test_a_judge_without_a_model_cannot_read_wording(tmp_path: Path) -> None:
    model = engine(plain, "p")
    for setting in ("decisive", "contradict", "ambiguous"):
        with pytest.raises(InputError, match="pass --judge MODEL"):
            run(tmp_path, model, entities=2, **{setting: "judge"})
    assert not model.requests  # refused before anything is asked


def test_measure_counts_fewer_draws_and_other_bins(runs: dict[str, Result]) -> None:
    path = runs["faithful"].path
    fewer = measure(path, **{"draws.k": 5})
    every = get(fewer, "filled_bins")
    assert every.denominator == 6  # of ten: confidence 0, .2, .4, .6, .8 and 1
    assert not fewer.saved
    fine = measure(path, bins=20)
    assert dict(get(fine, "cmfg").signature)["bins"] == "20-right-skip"
    with pytest.raises(InputError, match="needs a new `sayso run`"):
        measure(path, **{"draws.k": 30})
    same = measure(path)
    assert same.estimates == runs["faithful"].estimates


def by_hand(path: Path, bins: list[set[int]] | None = None) -> tuple[float | None, list[set[int]]]:
    """Return cMFG of plain paragraphs in some bins (all), and the answers in each bin."""
    (rows,) = [
        r for r in load_rows(*load_run(path)[::2]) if (r.form, r.method) == ("long", "vanilla")
    ]
    used: dict[str, list[tuple[float, Fraction]]] = {}
    for d, j, k, answer in zip(rows.d, rows.j, rows.k, rows.answers, strict=True):
        if d == d and k == k:
            used.setdefault(answer, []).append((float(d), Fraction(int(j), int(k))))
    assert any(len(claims) > 1 for claims in used.values())
    held: list[list[float]] = [[] for _ in range(10)]
    for claims in used.values():
        mean = sum((c for _, c in claims), Fraction(0)) / len(claims)
        faithful = 1 - sum(abs(d - float(c)) for d, c in claims) / len(claims)
        held[max(math.ceil(mean * 10) - 1, 0)].append(faithful)
    full = {n for n, values in enumerate(held) if len(values) >= 10}
    use = set.intersection(full, *(bins or []))
    means = [sum(held[n]) / len(held[n]) for n in use]
    return sum(means) / len(means) if means else None, [full]


def test_paragraphs_of_two_runs_are_compared_with_one_vote_for_each_answer(
    runs: dict[str, Result],
) -> None:
    """cMFG of `compare` and of a study is that of whole answers, in the bins that both fill."""
    a, b = runs["constant"].path, runs["faithful"].path
    shared = [*by_hand(a)[1], *by_hand(b)[1]]
    first, second = by_hand(a, shared)[0], by_hand(b, shared)[0]
    assert first is not None
    assert second is not None
    found = sayso.compare(a, b, resamples=200)
    place = {("form", "long"), ("method", "vanilla")}
    of = {e.name: e for e in found.estimates if place <= set(e.where)}
    assert of["cmfg"].value == pytest.approx(second - first, abs=1e-12)
    answers = len(set.intersection(*shared))
    (told,) = [note for note in found.notes if "bins of confidence" in note]
    number = re.search(r"(\S+) by claims and (\S+) by answers \(paragraphs, Vanilla\)", told)
    assert number is not None
    assert int(number[2]) == answers != int(number[1])
    study = of_folders([a, b], resamples=100)
    cells = {n.name: n.cells for n in study.numbers("faithfulness") if place == set(n.where)}
    assert [row[0].value for row in cells["cmfg"]] == pytest.approx([first, second])
    # by fact it is another number in other bins
    assert cells["cmfg_aspects"][0][0].value != pytest.approx(first)
    assert any(told[:40] in note for note in study.notes("faithfulness"))


def test_compare_finds_what_differs_and_nothing_between_equals(
    runs: dict[str, Result], tmp_path: Path
) -> None:
    def gap(a: str, b: str, name: str) -> Estimate:
        found = sayso.compare(runs[a].path, runs[b].path, resamples=200)
        return next(
            e for e in found.estimates if e.name == name and "uncertainty" in slice_text(e.where)
        )

    skill = gap("constant", "faithful", "skill")
    assert (skill.low or 0) > 0.3
    assert gap("faithful", "faithful", "skill").value == 0
    # in words: on which bins, and where there are none
    found = sayso.compare(runs["constant"].path, runs["faithful"].path, resamples=200)
    (told,) = [note for note in found.notes if "bins of confidence" in note]
    assert "in which both runs have at least 10 claims (skill, cMFG by fact) or " in told
    assert "answers (cMFG). Of 10 bins these are" in told
    assert "(short answers, Uncertainty)" in told
    second = run(tmp_path, engine(faithful, "second"), entities=2, sample_prompt="same")
    alone = sayso.compare(second.path, second.path, resamples=200)
    assert any(" 0 (short answers, Vanilla)" in note for note in alone.notes)
    shared = next(e for e in alone.estimates if e.name == "skill")
    assert shared.problem == "no bin of confidence has 10 claims in both runs"
    with pytest.raises(InputError, match="sampled"):
        sayso.compare(runs["faithful"].path, second.path)


# --- ambiguity ----------------------------------------------------------------------------------


def test_ambiguous_questions_are_listed_and_can_be_dropped(tmp_path: Path) -> None:
    def question(name: str, *golds: str) -> Question:
        return Question(name, "s", f"When was {name} built?", tuple(Gold(g) for g in golds))

    some = [question("A", "1961", "1970"), question("B", "1961"), question("C", "1961", "May 1961")]
    assert ambiguous_questions(some) == ["A"]
    keep = replace(faithfulness.Settings(), {"methods": "vanilla"})
    assert [q.id for q in evaluated(some, keep)] == ["A", "B", "C"]
    assert [q.id for q in evaluated(some, replace(keep, {"ambiguous": "drop"}))] == ["B", "C"]


@given(st.integers(1, 60), st.integers(1, 30))
def test_no_entity_is_both_shown_and_measured(entities: int, wanted: int) -> None:
    some = [
        Question(f"q{e}-{i}", "s", f"What is {i} of {e}?", (Gold("x"),), entity=f"e{e}", domain="d")
        for e in range(entities)
        for i in range(2)
    ]
    some += [
        Question(
            f"p{e}", "s", f"About {e}", entity=f"e{e}", domain="d", parts=(f"q{e}-0", f"q{e}-1")
        )
        for e in range(entities)
    ]
    chosen = replace(faithfulness.Settings(), {"demos.entities": wanted})
    held = set(held_out(some, chosen))
    by_id = {q.id: q for q in some}
    apart = {by_id[q].entity for q in held}
    assert len(apart) == min(wanted, entities // 5)
    assert not apart & {q.entity for q in evaluated(some, chosen)}
    assert {q.entity for q in evaluated(some, chosen)} | apart == {q.entity for q in some}


def test_methods_are_one_dictionary_with_texts() -> None:
    for name, method in methods.METHODS.items():
        for form in ("short", "long"):
            if methods.asks_in(name, form):  # type: ignore[arg-type]
                assert methods.prompted(name, "Where is Orm?", form=form)  # type: ignore[arg-type]
        assert method.about
    assert methods.prompted("vanilla", "Where is Orm?") == "Where is Orm?"
