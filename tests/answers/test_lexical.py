"""Answer metrics of words: known values, definitions written out slowly, hostile text."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import answers, scores
from sayso.answers.lexical import rouge_l_table
from sayso.records import InputError

PIECES = ["the", "a", "an", "Paris", "paris.", "«the", "is", "it’s", "C++", "東京", "\x01an", "é"]
WORDS = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)
TEXT = st.one_of(st.text(max_size=40), WORDS)


def slow_squad(reference: str, answer: str) -> tuple[float, float]:
    """F1 and exact match as published: normalize both, count words."""

    def normalized(text: str) -> list[str]:
        kept = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    said, wanted = normalized(answer), normalized(reference)
    exact = float(said == wanted)
    if not said or not wanted:
        return exact, exact
    common = sum((Counter(said) & Counter(wanted)).values())
    if not common:
        return 0.0, exact
    precision, recall = common / len(said), common / len(wanted)
    return 2 * precision * recall / (precision + recall), exact


def slow_rouge(reference: str, answer: str) -> float:
    """ROUGE-L F1 with the quadratic table."""
    one, two = (re.findall("[a-z0-9]+", t.lower()) for t in (reference, answer))
    table = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i, x in enumerate(one):
        for j, y in enumerate(two):
            best = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else best
    longest = table[-1][-1]
    if not longest:
        return 0.0
    precision, recall = longest / len(two), longest / len(one)
    return 2 * precision * recall / (precision + recall)


@given(TEXT, TEXT)
def test_squad_equals_its_definition(reference: str, answer: str) -> None:
    f1, exact = slow_squad(reference, answer)
    assert answers.squad_f1(reference, answer) == pytest.approx(f1, abs=1e-12)
    assert answers.squad_em(reference, answer) == exact


@given(TEXT, TEXT)
def test_rouge_equals_its_definition(reference: str, answer: str) -> None:
    assert answers.rouge_l(reference, answer) == pytest.approx(
        slow_rouge(reference, answer), abs=1e-12
    )


@given(WORDS, WORDS, st.booleans())
def test_rouge_equals_rouge_score_when_installed(reference: str, answer: str, stem: bool) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge_score not installed")
    theirs = scorer.RougeScorer(["rougeL"], use_stemmer=stem).score(reference, answer)
    assert answers.rouge_l(reference, answer, stem=stem) == pytest.approx(
        theirs["rougeL"].fmeasure, abs=1e-9
    )


@pytest.mark.parametrize("name", ["exact_match", "contains", "rouge_l", "squad_f1", "squad_em"])
def test_several_references_count_by_the_best(name: str) -> None:
    metric: Callable[[object, str], float] = getattr(answers, name)
    assert metric(["Rome", "Paris", "London"], "Paris") == 1
    assert metric("Paris", "Paris") == 1
    assert metric(("Rome",), "Paris") == 0
    with pytest.raises(InputError, match="at least one reference"):
        metric([], "Paris")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gives_a_value_between_0_and_1(reference: str, answer: str) -> None:
    for metric in answers.ANSWER_METRICS.values():
        assert 0 <= metric(reference, answer) <= 1
    for tokenizer in ("ascii", "unicode"):
        value = answers.rouge_l(reference, answer, tokenizer=tokenizer)  # type: ignore[arg-type]
        assert 0 <= value <= 1


@pytest.mark.parametrize("text", ["\ud800", "a" * 100_000, "word " * 20_000, "\x00", "‮abc"])
def test_hostile_text(text: str) -> None:
    for metric in answers.ANSWER_METRICS.values():
        assert 0 <= metric(text, "Paris") <= 1
        assert 0 <= metric("Paris", text) <= 1
    assert answers.exact_match(text, text) == 1


def test_the_whole_reference_among_n_words() -> None:
    # 2m/(m+N) with m = 2: above .5 exactly when N < 6
    for n in range(2, 12):
        answer = " ".join(["Owen", "Paterson", *["x"] * (n - 2)])
        assert answers.rouge_l("Owen Paterson", answer) == pytest.approx(4 / (2 + n))
        assert (answers.rouge_l("Owen Paterson", answer) > 0.5) == (n < 6)


def test_other_scripts_need_the_unicode_tokenizer() -> None:
    assert answers.rouge_l("Москва", "Москва") == 0  # officially no tokens
    assert answers.rouge_l("Москва", "это МОСКВА", tokenizer="unicode") == pytest.approx(2 / 3)
    assert answers.rouge_l("東京", "東京都", tokenizer="unicode") == pytest.approx(
        0.8
    )  # characters
    assert answers.rouge_l("القاهرة", "القاهرة", tokenizer="unicode") == 1
    assert answers.rouge_l("Malmö", "Malmo", tokenizer="unicode") == 1
    with pytest.raises(InputError, match="tokenizer"):
        answers.rouge_l("a", "a", tokenizer="latin")  # type: ignore[arg-type]


def test_first_reference_only() -> None:
    assert answers.rouge_l(["Rome", "Paris"], "Paris", refs="first") == 0
    with pytest.raises(InputError, match="refs"):
        answers.rouge_l("a", "a", refs="last")  # type: ignore[arg-type]


def test_contains_whole_words() -> None:
    assert answers.contains("art", "He likes a party.") == 0
    assert answers.contains("New York", "It is in new-york, I think") == 1
    assert answers.contains("Malmö", "from MALMO.") == 1
    assert answers.contains("...", "...") == 0


def test_exact_match_trims_only_the_ends() -> None:
    assert answers.exact_match("St. John's", ' "st. john\'s". ') == 1
    assert answers.exact_match("C++", "C") == 0
    assert answers.exact_match("The Hague", "Hague") == 0
    assert answers.squad_em("The Hague", "hague!") == 1
    assert answers.exact_match("", "") == 1
    assert answers.exact_match("", "x") == 0


def test_squad_of_nothing() -> None:
    # Only articles and punctuation: empty after normalization.
    assert answers.squad_f1("the", "a!") == 1
    assert answers.squad_f1("the", "Paris") == 0
    assert answers.squad_f1(["the", "Paris"], "") == 1


def test_squad_counts_repeated_words() -> None:
    # bags {to:2 be:2 or not} and {to:1 be:2}: common 3; 2 * 3/(6 + 3)
    assert answers.squad_f1("to be or not to be", "to be be") == pytest.approx(2 / 3)


def test_many_at_once_equal_one_by_one() -> None:
    pairs = [("Paris", "It is Paris"), (["a b", "b c"], "b c"), ("", "")]
    assert answers.rouge_l_many(pairs) == [answers.rouge_l(r, a) for r, a in pairs]
    assert answers.squad_f1_many(pairs) == [answers.squad_f1(r, a) for r, a in pairs]
    assert answers.squad_em_many(pairs) == [answers.squad_em(r, a) for r, a in pairs]


@given(st.lists(st.tuples(st.lists(TEXT, min_size=1, max_size=3), TEXT), max_size=6))
def test_squad_of_many_equals_one_by_one(pairs: list[tuple[list[str], str]]) -> None:
    expected = [(answers.squad_f1(r, a), answers.squad_em(r, a)) for r, a in pairs]
    assert answers.squad_many(pairs) == expected
    assert answers.squad_f1_many(iter(pairs)) == [f1 for f1, _ in expected]
    assert answers.squad_em_many(iter(pairs)) == [em for _, em in expected]


def test_squad_of_many_takes_any_text_beside_any_other() -> None:
    # one block: controls, other scripts, articles beside marks that are no ASCII, empty texts
    texts = [
        "", "a", " The ", "the the an", "«the» cat", "théa the", "a’s cat",
        "cat\x85the\xa0an\u2003a", "\x1c", "to be or not to be", "b\x1ce a\tcat", "cat\x01 the",
        "\0", "a\0cat", "\ud800 cat",
        "ΟΔΟΣ cat", "İ the", "C++", "東京 the 東京", "_a_ cat", "aé a", "the\n\nthe cat",
    ]  # fmt: skip
    pairs = [([one], two) for one in texts for two in texts]
    for chosen in (pairs, [pair for pair in pairs if "\0" not in "".join((pair[0][0], pair[1]))]):
        expected = [(answers.squad_f1(r, a), answers.squad_em(r, a)) for r, a in chosen]
        assert answers.squad_many(chosen) == expected


def test_no_reference_is_refused_among_many_too() -> None:
    with pytest.raises(InputError, match="at least one reference"):
        answers.squad_f1_many([("a", "a"), ([], "a")])


def test_stemming_without_its_library_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from sayso.answers import lexical as lexical_tokens

    lexical_tokens._stemmer.cache_clear()
    lexical_tokens.stemmed.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.stem.porter", None)
    with pytest.raises(InputError, match="pip install nltk"):
        lexical_tokens.stemmed("running")
    lexical_tokens.stemmed.cache_clear()


def test_answers_load_neither_torch_nor_nltk() -> None:
    code = (
        "from sayso import answers; answers.rouge_l('a', 'b'); import sys; "
        "print({'torch', 'transformers', 'nltk', 'pyarrow', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there() -> None:
    assert all(hasattr(answers, name) for name in answers.__all__)
    with pytest.raises(AttributeError, match="no attribute"):
        answers.rouge_7  # noqa: B018


TEXTS = ["It is Paris", "Paris", "paris!", "", "It is Paris", "東京", " "]


def test_a_table_of_texts_equals_pairs_one_by_one() -> None:
    table = rouge_l_table(TEXTS)
    for i, a in enumerate(TEXTS):
        for j, b in enumerate(TEXTS):
            same = a.strip() == b.strip()
            expected = 1.0 if same else answers.rouge_l(a, b, tokenizer="unicode")
            assert table[i, j] == pytest.approx(expected), (a, b)


def test_a_table_of_texts_is_evidence_of_scores() -> None:
    texts = ("Rome", "Rome", "Paris", "It is Rome")
    table = rouge_l_table(texts)
    samples = scores.Samples(draws=tuple(map(scores.Answer, texts)), similarity=table)
    values = scores.score_one(samples, ["lexical_similarity", "eigv_similarity"])
    assert all(score.value is not None for score in values.values())
    assert rouge_l_table([]).shape == (0, 0)
    assert np.isfinite(table).all()
