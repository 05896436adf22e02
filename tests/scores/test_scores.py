"""Every score: what it needs, hand-worked values, missing and broken evidence, peers' faults."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import msgspec
import numpy as np
import pytest

from sayso import scores
from sayso.records import Alternative, Generation, InputError, ask
from sayso.scores import SCORES
from sayso.scores.evidence import Answer, Samples, made_once

K = 4


def answer(text: str, *logprobs: float) -> Answer:
    n = len(logprobs)
    return Answer(
        relevance=tuple(0.1 * i for i in range(1, n + 1)),
        importance=tuple(float(i == 0) for i in range(n)),
        compared=tuple(((-2.0, "contradiction"), (-3.0, "neutral")) for _ in range(n)),
        text=text,
        logprobs=logprobs,
        entropies=tuple(0.5 + 0.1 * i for i in range(n)),
        margins=tuple(0.3 + 0.1 * i for i in range(n)),
        self_certainty=tuple(2.0 + i for i in range(n)),
        renyi=tuple(1.0 + 0.5 * i for i in range(n)),
        unconditional=tuple(x - 1.0 for x in logprobs),
    )


def full() -> Samples:
    """One question with all evidence there is: draws Paris, Paris, Rome, It is Paris."""
    draws = (
        answer("Paris", -0.1, -0.2),
        answer("Paris", -0.1, -0.2),
        answer("Rome", -1.0),
        answer("It is Paris", -0.2, -0.2, -0.2),
    )
    entail = np.full((K, K), 0.9)
    entail[2, :] = entail[:, 2] = 0.05
    contra = np.full((K, K), 0.02)
    contra[2, :] = contra[:, 2] = 0.9
    return Samples(
        target="q1",
        answer=answer("Paris", -0.1, -0.3),
        draws=draws,
        clusters=(0, 0, 1, 0),
        entail=entail,
        contra=contra,
        answer_entail=np.array([[0.9, 0.9], [0.9, 0.9], [0.05, 0.05], [0.8, 0.7]]),
        answer_contra=np.array([[0.02, 0.02], [0.02, 0.02], [0.9, 0.9], [0.1, 0.2]]),
        sentence_entail=np.array([[0.9, 0.9, 0.1, 0.6]]),
        sentence_contra=np.array([[0.1, 0.1, 0.9, 0.2]]),
        similarity=np.array([[1, 1, 0, 0.5], [1, 1, 0, 0.5], [0, 0, 1, 0], [0.5, 0.5, 0, 1]]),
        answer_similarity=np.array([1, 1, 0, 0.5]),
        true_false=(0.6, 0.2),
        true_false_few=(0.3, 0.1),
        said_true=(True, False, None, True),
        support=(("yes", "yes", "no", "n/a"),),
        stated={"one_step": 0.9, "two_step": 0.75, "two_step_reasoned": 0.75, "top_k": 0.6},
        judged={"a": 0.8, "b": None, "c": 0.4},
    )


def value(name: str, samples: Samples | None = None) -> float:
    found = scores.score_one(samples or full(), [name])[name]
    assert found.value is not None, found.problem
    assert found.target == "q1"
    return found.value


BY_HAND = {
    "length_words": 1,
    "length_tokens": 2,
    "sequence_probability": 0.4,
    "perplexity": math.exp(0.2),
    "mean_token_entropy": 0.55,
    "max_token_entropy": 0.6,
    "min_token_probability": 0.3,
    "probability_margin": 1 - 0.35,
    "self_certainty": -2.5,
    "renyi_divergence": -1.25,
    # Bhattacharyya overlaps e^-.5, e^-.75
    "fisher_rao": -(math.acos(math.exp(-0.5)) + math.acos(math.exp(-0.75))) / math.pi,
    "pmi": -1.0,
    # both entropies above tau: -mean(l - w (l - 1)) with l -.1, -.3
    "conditional_pmi": -((-0.1 + 3.599 * 1.1) + (-0.3 + 3.599 * 1.3)) / 2,
    # means -.15 -.15 -1 -.2, sums -.3 -.3 -1 -.6
    "naive_entropy": 1.5 / 4,
    "naive_entropy_sum": 2.2 / 4,
    "naive_entropy_eq4": 0.3 * math.exp(-0.3) + math.exp(-1) + 0.6 * math.exp(-0.6),
    # entropies .5 .6 | .5 .6 | .5 | .5 .6 .7
    "mc_mean_token_entropy": (0.55 + 0.55 + 0.5 + 0.6) / 4,
    # shares of relevance .1 : .2
    "token_sar": 0.1 / 3 + 0.3 * 2 / 3,
    # weights 1/4 + 1/2 and 1/4
    "mars": 0.75 * 0.1 + 0.25 * 0.3,
    # each place: the token's own p against itself and e^-2; e^-3 is neutral
    "ccp": sum(math.log(math.exp(-x) + math.exp(-2)) + x for x in (0.1, 0.3)),
    # p e^-.3 e^-.3 e^-1 e^-.6; resemblance 1 of the two Paris, .5 of each with the last
    "sentence_sar": -(
        2 * math.log(math.exp(-0.3) + 1000 * (math.exp(-0.3) + 0.5 * math.exp(-0.6)))
        - 1
        + math.log(math.exp(-0.6) + 1000 * (0.5 * math.exp(-0.3) + 0.5 * math.exp(-0.3)))
    ) / 4,
    # the same with p e^-TokenSAR: (.1 + .2 x 2)/3 = 1/6, again, 1, .2
    "sar": -(
        2 * math.log(math.exp(-1 / 6) + 1000 * (math.exp(-1 / 6) + 0.5 * math.exp(-0.2)))
        - 1
        + math.log(math.exp(-0.2) + 1000 * (0.5 * math.exp(-1 / 6) + 0.5 * math.exp(-1 / 6)))
    ) / 4,
    "discrete_semantic_entropy": -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)),
    "num_sets": 2,
    # unique sums: class 0 has e^-.3 + e^-.6, class 1 has e^-1
    "semantic_entropy_mc_sum_unique": -(
        3 * math.log(math.exp(-0.3) + math.exp(-0.6)) - 1
    ) / 4,
    "lexical_similarity": 1 - (1 + 0 + 0.5 + 0 + 0.5 + 0) / 6,
    "degree_similarity": 1 - (4 + 2 * (1 + 0 + 0.5 + 0 + 0.5 + 0)) / 16,
    "exact_match_rate": 0.5,
    # equal strings contradict by 0: (0 + 0 + .9 + .15)/4
    "noncontradiction": (0.9 + 0.15) / 4,
    "entailment_consistency": 1 - (1 + 1 + 0.05 + 0.75) / 4,
    "selfcheck_nli": (0.1 + 0.1 + 0.9 + 0.25) / 4,
    "luq": (0.1 + 0.1 + 0.9 + 0.25) / 4,
    "selfcheck_prompt": (0 + 0 + 1 + 0.5) / 4,
    # words of draws and answer: paris 4, rome, it, is: 7
    "selfcheck_ngram": -math.log(4 / 7),
    "selfcheck_ngram_max": -math.log(4 / 7),
    "cocoa_probability": 0.4 * (1 - 2.5 / 4),
    "cocoa_perplexity": 0.2 * (1 - 2.5 / 4),
    "cocoa_entropy": 0.55 * (1 - 2.5 / 4),
    "p_true": 0.25,
    "p_true_few": 0.25,  # .1 / .4
    "p_true_raw": 0.4,
    "p_true_sampled": 1 / 3,
    "verbalized": 0.1,
    "verbalized_two_step": 0.25,
    "verbalized_two_step_reasoned": 0.25,
    "verbalized_top_k": 0.4,
    "judge_panel": 0.4,
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert value(name) == pytest.approx(BY_HAND[name], abs=1e-9)


def test_semantic_density_by_hand() -> None:
    # Unique draws Paris (p e^-.15, K 1), Rome (e^-1, K = 1 - .9 - .025), It is Paris (e^-.2,
    # K = mean of 1 - .1 - .05 and 1 - .2 - .05).
    p = [math.exp(-0.15), math.exp(-1), math.exp(-0.2)]
    k = [1, 0.075, (0.85 + 0.75) / 2]
    density = sum(a * b for a, b in zip(p, k, strict=True)) / sum(p)
    assert value("semantic_density") == pytest.approx(1 - density)


def test_a_draw_that_follows_and_contradicts_has_no_negative_density() -> None:
    base = full()
    follows, contradicts = np.array(base.answer_entail), np.array(base.answer_contra)
    follows[2], contradicts[2] = 0.8, 0.6  # an NLI model that is asked twice may say both
    both = msgspec.structs.replace(base, answer_entail=follows, answer_contra=contradicts)
    p = [math.exp(-0.15), math.exp(-1), math.exp(-0.2)]
    density = (p[0] + 0.4 * p[1] + 0.8 * p[2]) / sum(p)
    assert value("semantic_density", both) == pytest.approx(1 - density)


def graph(samples: Samples, weights: Any) -> Samples:
    return msgspec.structs.replace(samples, similarity=np.asarray(weights, dtype=float))


def test_graphs_of_agreement_and_disagreement() -> None:
    texts = tuple(answer(t, -0.1) for t in "abcd")
    base = msgspec.structs.replace(full(), draws=texts)
    apart, together = graph(base, np.eye(4)), graph(base, np.ones((4, 4)))
    two = graph(base, np.kron(np.eye(2), np.ones((2, 2))))
    for name, of in (("eigv_similarity", (1, 2, 4)), ("degree_similarity", (0, 0.5, 0.75))):
        assert [value(name, s) for s in (together, two, apart)] == pytest.approx(of)
    # Coordinates: together one constant vector, centered 0; two groups add one more direction.
    assert value("eccentricity_similarity", together) == pytest.approx(0, abs=1e-9)
    assert value("eccentricity_similarity", two) == pytest.approx(1)
    assert value("eccentricity_similarity", apart) == pytest.approx(math.sqrt(3))


def test_kernel_language_entropy_between_its_ends() -> None:
    texts = tuple(answer(t, -0.1) for t in "abcd")
    base = msgspec.structs.replace(full(), draws=texts)
    off = ~np.eye(4, dtype=bool)
    apart = msgspec.structs.replace(base, entail=0.0 * off, contra=1.0 * off)
    alike = msgspec.structs.replace(base, entail=np.ones((4, 4)), contra=0.0 * off)
    # No edges: the kernel is the identity over 4, entropy log 4.
    assert value("kernel_language_entropy", apart) == pytest.approx(math.log(4))
    # All edges 2: eigenvalues of L 0, 8, 8, 8; heat 1, e^-2.4 (three times).
    heat = np.array([1] + 3 * [math.exp(-2.4)])
    shares = heat / heat.sum()
    expected = -(shares * np.log(shares)).sum()
    assert value("kernel_language_entropy", alike) == pytest.approx(expected)


@pytest.mark.parametrize("name", SCORES)
def test_all_evidence_gives_every_score(name: str) -> None:
    assert math.isfinite(value(name))


#: evidence -> what to take away from the full record
WITHOUT: dict[str, dict[str, Any]] = {
    "answer": {"answer": None},
    "draws": {"draws": ()},
    "clusters": {"clusters": None},
    "nli": {"entail": None, "contra": None},
    "nli:answer": {"answer_entail": None, "answer_contra": None},
    "nli:sentences": {"sentence_entail": None, "sentence_contra": None},
    "contradiction": {"contra": None, "answer_contra": None},
    "similarity": {"similarity": None},
    "similarity:answer": {"answer_similarity": None},
    "ptrue": {"true_false": None},
    "ptrue:few": {"true_false_few": None},
    "said_true": {"said_true": None},
    "support": {"support": None},
    "judged": {"judged": {}},
}
PER_TOKEN = (
    "logprobs", "entropies", "margins", "self_certainty", "renyi", "unconditional", "relevance",
    "importance",
)  # fmt: skip


def without(need: str) -> Samples:
    samples = full()
    if need in WITHOUT:
        return msgspec.structs.replace(samples, **WITHOUT[need])
    if need.startswith("stated:"):
        rest = {k: v for k, v in samples.stated.items() if k != need.removeprefix("stated:")}
        return msgspec.structs.replace(samples, stated=rest)
    name = "compared" if need == "nli:alternatives" else need.removeprefix("draws.")
    assert name in (*PER_TOKEN, "compared")
    if need.startswith("draws."):
        bare = tuple(msgspec.structs.replace(d, **{name: None}) for d in samples.draws)
        return msgspec.structs.replace(samples, draws=bare)
    assert samples.answer is not None
    return msgspec.structs.replace(
        samples, answer=msgspec.structs.replace(samples.answer, **{name: None})
    )


NEEDED = {need for method in scores.SCORES.values() for need in method.needs}
NEEDS = sorted({*WITHOUT, *PER_TOKEN, "draws.logprobs", "draws.entropies", *NEEDED})


@pytest.mark.parametrize("need", NEEDS)
def test_a_score_needs_exactly_what_it_says(need: str) -> None:
    found = scores.score_one(without(need))
    for name, score in found.items():
        stated = {*SCORES[name].needs}
        if stated & set(PER_TOKEN):
            stated.add("answer")  # an answer's tokens need the answer
        assert (score.value is None) == (need in stated), (name, score)
        assert (score.problem is None) == (score.value is not None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("array", PER_TOKEN)
def test_numbers_that_are_not_finite_give_no_score(array: str, bad: float) -> None:
    # The fault: NaN uncertainty became -1e7, most certain of all.
    samples = full()
    assert samples.answer is not None
    broken = msgspec.structs.replace(samples.answer, **{array: (0.0, bad)})
    found = scores.score_one(msgspec.structs.replace(samples, answer=broken))
    for name, score in found.items():
        if array in SCORES[name].needs:
            assert score.value is None
            assert f"{array} of token 1 is {bad}" in (score.problem or "")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_broken_draw_gives_no_score_and_says_which(bad: float) -> None:
    samples = full()
    draws = (*samples.draws[:3], answer("x", bad))
    found = scores.score_one(msgspec.structs.replace(samples, draws=draws))
    for name, score in found.items():
        if "draws.logprobs" in SCORES[name].needs:
            assert score.value is None
            assert "draw 3" in (score.problem or "")


@pytest.mark.parametrize(
    "table",
    [
        "entail", "contra", "answer_entail", "answer_contra", "sentence_entail",
        "sentence_contra", "similarity", "answer_similarity",
    ],
)  # fmt: skip
def test_broken_tables_give_no_score(table: str) -> None:
    samples = full()
    right = getattr(samples, table)
    need = "nli:sentences" if table.startswith("sentence") else "nli"
    if table.endswith("similarity"):
        need = "similarity"
    if table.startswith("answer"):
        need += ":answer"
    for wrong in (right * np.nan, right + 5, right[:0], right.reshape(-1)[:3]):
        found = scores.score_one(msgspec.structs.replace(samples, **{table: wrong}))
        some = [s for name, s in found.items() if need in SCORES[name].needs]
        assert any(s.value is None and table in (s.problem or "") for s in some), wrong
        assert all(s.value is None or math.isfinite(s.value) for s in some)


def test_an_empty_answer_has_no_likelihood() -> None:
    samples = msgspec.structs.replace(full(), answer=Answer("", logprobs=()))
    found = scores.score_one(samples, ["sequence_probability", "selfcheck_ngram", "perplexity"])
    assert {s.value for s in found.values()} == {None}
    assert "no tokens to score" in (found["sequence_probability"].problem or "")


def test_failed_answers_and_draws_are_told() -> None:
    failed = msgspec.structs.replace(full(), answer=Answer("", problem="context"))
    assert "context" in (scores.score_one(failed)["perplexity"].problem or "")
    samples = full()
    broken = (*samples.draws, Answer("", problem="failed: timeout"))
    found = scores.score_one(msgspec.structs.replace(samples, draws=broken))
    assert "draw 4" in (found["exact_match_rate"].problem or "")


def test_probabilities_that_are_none_are_told() -> None:
    for wrong in ((0.9, 0.9), (-0.1, 0.5), (math.nan, 0.2), (0.0, 0.0)):
        found = scores.score_one(msgspec.structs.replace(full(), true_false=wrong), ["p_true"])
        assert found["p_true"].value is None
    for stated in (1.2, -1, math.nan, None):
        samples = msgspec.structs.replace(full(), stated={"one_step": stated})
        assert scores.score_one(samples, ["verbalized"])["verbalized"].value is None
    above = msgspec.structs.replace(full(), answer=answer("x", 0.7))
    assert "above 0" in (scores.score_one(above)["perplexity"].problem or "")


def test_a_one_token_answer_is_scored_as_it_is() -> None:
    # The fault: min_new_tokens=2 adds a junk token to it.
    one = msgspec.structs.replace(full(), answer=answer("Paris", -0.7))
    assert value("sequence_probability", one) == pytest.approx(0.7)
    assert value("perplexity", one) == pytest.approx(math.exp(0.7))


def test_samples_equal_to_the_item_are_the_strongest_agreement() -> None:
    # The fault: LUQ drops them. Three equal draws and one other, told apart by the model.
    k = np.full((4, 4), 0.1)
    samples = msgspec.structs.replace(
        full(),
        draws=tuple(answer(t, -0.1) for t in ("x", "x", "x", "y")),
        entail=k,
        contra=1 - k,
    )
    # Ordered pairs: 6 of equal strings support 1, 6 others support .1.
    assert value("luq_draws", samples) == pytest.approx(1 - (6 * 1 + 6 * 0.1) / 12)


def test_equal_strings_mean_the_same_whatever_a_model_said() -> None:
    off = np.zeros((4, 4))
    samples = msgspec.structs.replace(
        full(),
        draws=tuple(answer("x", -0.1) for _ in range(4)),
        entail=off,
        contra=off + 1,
    )
    assert value("eigv_entailment", samples) == pytest.approx(1)
    assert value("degree_contradiction", samples) == pytest.approx(0)
    assert value("luq_draws", samples) == 0


def test_log_probabilities_of_another_distribution_are_left_out() -> None:
    # The fault: log-probabilities after temperature and truncation.
    def generation(kind: str | None) -> Generation:
        return Generation(
            request=ask("Who?"),
            text="Paris",
            logprob_kind=kind,
            logprobs=(-0.1,),
            alternatives=((Alternative(1, -0.1),),),
        )

    assert scores.answer_of(generation("model")).logprobs == (-0.1,)
    assert scores.answer_of(generation("sampling")).logprobs is None
    assert scores.answer_of(generation("sampling"), logprob_kind="sampling").logprobs == (-0.1,)
    samples = Samples("q1", answer=scores.answer_of(generation("sampling")))
    assert "no logprobs" in (scores.score_one(samples)["perplexity"].problem or "")


@pytest.mark.parametrize("name", SCORES)
def test_each_docstring_says_how_to_read_it(name: str) -> None:
    text = SCORES[name].score.__doc__ or ""
    for word in ("Range", "Needs:", "Source:", "Read:"):
        assert word in text, (name, word)
    assert len(text.split("\n")[0]) < 110
    plain = " ".join(text.split())
    stated = plain.split("Needs: ")[1].split(". Source")[0]
    listed = [need.split(" (")[0] for need in stated.split(", ")]
    assert sorted(listed) == sorted(SCORES[name].needs)


@pytest.mark.parametrize("name", SCORES)
def test_the_range_in_the_docstring_holds(name: str) -> None:
    span = (SCORES[name].score.__doc__ or "").split("Range ")[1].split(". ")[0]
    ends = [*span.split(".."), ""][:2]
    low, high = (float(end) if re.fullmatch(r"-?(\d+|inf)", end) else None for end in ends)
    found = value(name)
    assert low is None or found >= low - 1e-9
    assert high is None or found <= high + 1e-9


def test_choosing_methods() -> None:
    assert set(scores.score_one(full(), ["perplexity", "p_true"])) == {"perplexity", "p_true"}
    assert scores.choose("perplexity, luq").keys() == {"perplexity", "luq"}
    with pytest.raises(InputError, match="no score is called 'perplexty'"):
        scores.score_one(full(), ["perplexty"])
    own = {"mine": scores.Method(lambda s: float("nan"), ())}
    assert scores.score_one(full(), own)["mine"].problem == "the value is nan"


def test_scores_load_neither_torch_nor_scikit_learn() -> None:
    code = (
        "import sayso.scores, sys; "
        "print({'torch', 'transformers', 'sklearn', 'scipy', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def permuted(s: Samples, order: list[int]) -> Samples:
    """The same question with its draws in another order."""
    square = np.ix_(order, order)
    return msgspec.structs.replace(
        s,
        draws=tuple(s.draws[i] for i in order),
        clusters=tuple(s.clusters[i] for i in order),
        entail=s.entail[square],
        contra=s.contra[square],
        answer_entail=s.answer_entail[order],
        answer_contra=s.answer_contra[order],
        sentence_entail=s.sentence_entail[:, order],
        sentence_contra=s.sentence_contra[:, order],
        similarity=s.similarity[square],
        answer_similarity=s.answer_similarity[order],
    )


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_same_draws_in_another_order_tie_exactly(seed: int, alike: bool) -> None:
    """Draws that say the same have the same numbers; rounding must not rank two questions."""
    rng = np.random.default_rng(seed)
    k = 8
    ids = [0] * k if alike else [int(i) for i in rng.integers(4, size=k)]
    given = [tuple(float(x) for x in -rng.random(2)) for _ in range(4)]
    draws = tuple(answer(f"w{i}", *given[i]) for i in ids)
    square = np.ix_(ids, ids)
    entail, contra = (rng.random((4, 4))[square] / 2 for _ in range(2))
    if alike:
        entail, contra = np.ones((k, k)), np.zeros((k, k))
    similar = (entail + entail.T) / 2
    np.fill_diagonal(similar, 1)
    both = rng.random((4, 2))[ids] / 2
    samples = msgspec.structs.replace(
        full(),
        draws=draws,
        clusters=tuple(ids),
        entail=entail,
        contra=contra,
        answer_entail=both,
        answer_contra=both[:, ::-1],
        sentence_entail=both[:, 0][None],
        sentence_contra=both[:, 1][None],
        similarity=similar,
        answer_similarity=both[:, 0],
        said_true=(True, False) * 4,
    )
    other = permuted(samples, [int(i) for i in rng.permutation(k)])
    moved = {
        name: (one.value, two.value)
        for (name, one), two in zip(
            scores.score_one(samples).items(), scores.score_one(other).values(), strict=True
        )
        if one.value != two.value
    }
    assert not moved


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [-1e308, -1e300, -745.0])
def test_numbers_near_the_largest_give_no_warning(size: float) -> None:
    """A sum of two of -1e308 is infinite: no score, the reason, and nothing on stderr."""
    samples = full()
    assert samples.answer is not None
    wide: dict[str, Any] = {"logprobs": (size, size), "unconditional": (size, size)}
    draws = tuple(msgspec.structs.replace(d, logprobs=(size, size)) for d in samples.draws)
    answered = msgspec.structs.replace(samples.answer, **wide)
    found = scores.score_one(msgspec.structs.replace(samples, answer=answered, draws=draws))
    for score in found.values():
        assert (score.value is None) != (score.problem is None)
        assert score.value is None or math.isfinite(score.value)
    if size == -1e308:
        assert found["sequence_probability"].problem == "the value is inf"


def test_a_score_that_overflows_in_plain_python_has_no_value() -> None:
    own = {"mine": scores.Method(lambda _: math.exp(1e4), ())}
    assert scores.score_one(full(), own)["mine"].problem == "the value is inf"


@pytest.mark.filterwarnings("error")
def test_entropies_of_numbers_that_overflow() -> None:
    wide, plain = [-1e308, -1e308], [-1.0]
    assert scores.naive_entropy([wide, plain]) is None
    assert scores.naive_entropy([wide, plain], "mc_sum") is None
    # the impossible draw adds nothing: 0 log 0; the other e^-1 * 1
    assert scores.naive_entropy([wide, plain], "eq4") == pytest.approx(math.exp(-1))
    assert scores.semantic_entropy([0, 1], [wide, plain]) == 0.0
    # two impossible draws are no certainty about either
    for norm in (True, False):
        assert scores.semantic_entropy([0, 1], [wide, wide], length_norm=norm) is None
        assert scores.semantic_entropy([0, 1], [wide, plain], "mc", norm) is None


def test_relevance_where_no_token_matters_weighs_all_alike() -> None:
    flat = Answer("of the", logprobs=(-0.2, -0.4), relevance=(0.0, 0.0), importance=(0.0, 0.0))
    samples = msgspec.structs.replace(full(), answer=flat)
    assert value("token_sar", samples) == pytest.approx(0.3)
    assert value("mars", samples) == pytest.approx(0.3)


def test_relevance_of_one_token_is_its_surprise() -> None:
    one = Answer("Paris", logprobs=(-0.7,), relevance=(0.2,), importance=(1.0,), compared=((),))
    samples = msgspec.structs.replace(full(), answer=one)
    assert value("token_sar", samples) == pytest.approx(0.7)
    assert value("mars", samples) == pytest.approx(0.7)
    assert value("ccp", samples) == 0.0  # nothing else was likely


def test_relevance_of_other_tokens_gives_no_score() -> None:
    for field, name in (("relevance", "token_sar"), ("importance", "mars"), ("compared", "ccp")):
        fewer = {field: ((),) if name == "ccp" else (0.1,)}
        wrong = msgspec.structs.replace(answer("Paris", -0.1, -0.3), **fewer)
        found = scores.score_one(msgspec.structs.replace(full(), answer=wrong), [name])[name]
        assert found.value is None
        assert "token" in (found.problem or "")


def test_draws_that_resemble_no_other_keep_their_own_probability() -> None:
    apart = msgspec.structs.replace(
        full(), draws=(answer("a", -1.0), answer("b", -3.0)), similarity=np.eye(2)
    )
    assert value("sentence_sar", apart) == pytest.approx(2.0)
    assert value("sar", apart) == pytest.approx(2.0)
    alone = msgspec.structs.replace(apart, draws=apart.draws[:1])
    assert "2 draws" in (scores.score_one(alone, ["sar"])["sar"].problem or "")


def test_what_scores_share_is_made_once_and_not_carried_over() -> None:
    """Nine semantic entropies read the draws once; changed evidence is read anew."""
    one = full()
    names = [name for name in scores.SCORES if name.startswith("semantic_entropy")]
    together = {name: score.value for name, score in scores.score_one(one, names).items()}
    assert together == {name: value(name) for name in names}
    made: list[str] = []
    assert made_once(one, "key", lambda: made.append("x") or 1) == 1  # type: ignore[func-returns-value]
    assert made_once(one, "key", lambda: made.append("y") or 2) == 1  # type: ignore[func-returns-value]
    assert made == ["x"]
    other = msgspec.structs.replace(one, clusters=(0, 1, 2, 3))
    assert value("semantic_entropy", other) != together["semantic_entropy"]
    assert value("num_sets", other) == 4
