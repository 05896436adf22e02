"""Reading a judge's reply: grammar, order, echo, thinking; noise is never a verdict."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.model.prompts import FIRST, ONE_PASS, SECOND, combine, vocabulary
from sayso.judges.model.replies import read_judge_reply, refuses
from sayso.prompts.thoughts import strip_thinking
from support.tables import tabled

CODE = "k7f3a"
QUESTIONS = ["Where was Mira Toll born?", "When was Mira Toll born?", "What was her occupation?"]
STANCE = ONE_PASS["stance"]
UNCLE = ONE_PASS["uncle"]


def block(number: int, label: str, question: str | None = None, code: str = CODE) -> str:
    asked = QUESTIONS[number - 1] if question is None else question
    return f"### {number} {code} {asked}\nAnalysis: It says so.\n${label} {code}$"


def labels(text: str, output: str = "blocks") -> dict[int, str]:
    return read_judge_reply(text, output, CODE, QUESTIONS, STANCE).labels


def problems(text: str, output: str = "blocks") -> dict[int, str]:
    return read_judge_reply(text, output, CODE, QUESTIONS, STANCE).problems


THREE = "\n\n".join(
    [block(1, "committed-correct"), block(2, "hedged-incorrect"), block(3, "omitted")]
)


def test_three_blocks() -> None:
    read = read_judge_reply(THREE, "blocks", CODE, QUESTIONS, STANCE)
    assert read.labels == {0: "committed-correct", 1: "hedged-incorrect", 2: "omitted"}
    assert read.problems == {}
    assert read.raw[2] == block(3, "omitted")


@tabled
def test_ways_to_write_a_label(line: str) -> None:
    assert labels(f"### 1 {CODE} {QUESTIONS[0]}\n{line}") == {0: "hedged-correct"}


@tabled
def test_ways_to_open_a_block(head: str) -> None:
    assert labels(f"{head}\n$omitted {CODE}$") == {0: "omitted"}


@tabled
def test_what_is_not_read(text: str, problem: str) -> None:
    assert 0 not in labels(text)
    assert problems(text)[0] == problem


def test_a_block_given_twice_counts_if_it_says_the_same() -> None:
    assert labels(f"{block(1, 'omitted')}\n{block(1, 'omitted')}") == {0: "omitted"}
    assert labels(f"{block(1, 'omitted', QUESTIONS[1])}\n{block(1, 'hedged-none')}") == {
        0: "hedged-none"
    }


def test_the_beginning_of_a_long_question_is_enough() -> None:
    long = "Which of the rivers that rise in the northern mountains of the island " * 5
    near = long[:-70] + "or not"
    text = f"### 1 {CODE} {long[:150]}\n$omitted {CODE}$"
    assert read_judge_reply(text, "blocks", CODE, [long, "When?"], STANCE).labels == {0: "omitted"}
    # but not if it begins two questions
    assert read_judge_reply(text, "blocks", CODE, [long, near], STANCE).problems[0] == "mismatch"


def reply(*entries: object, code: str = CODE) -> str:
    return json.dumps({"code": code, "verdicts": entries})


def entry(number: int, label: object, question: object = None) -> dict[str, object]:
    asked = QUESTIONS[number - 1] if question is None else question
    return {"number": number, "question": asked, "analysis": "So.", "label": label}


@tabled
def test_json(text: str) -> None:
    assert labels(text, "json") == {0: "omitted"}


@tabled
def test_a_list_or_code_given_twice_says_nothing(more: str) -> None:
    twice = reply(entry(1, "omitted"))[:-1] + more
    assert labels(twice, "json") == {}
    # what was cut off at the very end is no second list
    assert labels(reply(entry(1, "omitted"))[:-1], "json") == {0: "omitted"}


def test_the_last_block_of_a_reply_that_was_cut_off_needs_its_last_line() -> None:
    named = f"### 2 {CODE} {QUESTIONS[1]}\nIt is not\n$committed-correct {CODE}$\nsince the"
    text = f"{block(1, 'omitted')}\n\n{named}"
    read = read_judge_reply(text, "blocks", CODE, QUESTIONS, STANCE, cut=True)
    assert read.labels == {0: "omitted"}
    whole = f"{block(1, 'omitted')}\n\n{block(2, 'hedged-none')}\n\n"
    read = read_judge_reply(whole, "blocks", CODE, QUESTIONS, STANCE, cut=True)
    assert read.labels == {0: "omitted", 1: "hedged-none"}


@tabled
def test_json_that_says_nothing(text: str) -> None:
    assert labels(text, "json") == {}


@pytest.mark.parametrize("text", ['{"code": ' * 5000, "{\n" * 5000, "[" * 100_000])
def test_json_without_end_says_nothing(text: str) -> None:
    assert labels(text, "json") == {}


# --- thinking ---


@tabled
def test_thinking_is_removed(text: str, left: str | None, closed: bool) -> None:
    assert strip_thinking(text) == (text if left is None else left, closed)


def test_labels_in_a_thought_do_not_count() -> None:
    text, _ = strip_thinking(f"<think>{THREE}</think>")
    assert labels(text) == {}


@tabled
def test_a_judge_that_declines(text: str, refused: bool) -> None:
    assert refuses(text) is refused


# --- vocabularies ---


def test_every_label_reads_as_itself_and_has_a_meaning() -> None:
    for words in (*ONE_PASS.values(), *FIRST.values(), SECOND):
        for name in words.names:
            assert words.read(name) == name
            assert words.read(f" {name.upper().replace('-', '_')} ") == name
        assert set(words.names) == set(words.meaning)
    for words in ONE_PASS.values():
        for stance, content in words.meaning.values():
            assert stance is not None
            assert combine(stance, content) == (stance, content)


def test_a_label_of_ours_means_what_it_says() -> None:
    for name, (stance, content) in STANCE.meaning.items():
        said, _, worth = name.partition("-")
        if worth and said != "asked":
            assert (stance, content) == (said, worth)


def test_the_papers_labels() -> None:
    """UNCLE's letters: S, NS, UNC; what is not mentioned only exists in paragraphs."""
    assert vocabulary("uncle", "one", "short").names == ("S", "NS", "UNC")
    assert vocabulary("uncle", "one", "long").names == ("S", "NS", "UNC", "OMIT")
    assert UNCLE.meaning["S"] == ("committed", "correct")
    assert UNCLE.meaning["NS"] == ("committed", "incorrect")
    assert UNCLE.meaning["UNC"] == ("hedged", "none")
    assert UNCLE.meaning["OMIT"] == ("omitted", "none")


def test_what_cannot_stand_together() -> None:
    assert combine("committed", "none") is None
    assert combine("abstained", "correct") is None
    assert combine("hedged", None) is None
    assert combine("hedged", "none") == ("hedged", "none")


# --- noise ---

PIECES = st.sampled_from(
    [
        *("### 1 ", "### 2", "# 3", "\n", " ", CODE, "k0000", "$", "$S$", "$UNC$", "$omitted$"),
        *("$omitted k0000$", "committed-correct", "label", "Analysis:", *QUESTIONS),
        *("<think>", "</think>", "{", "}", "[", "]", '"code": ', '"verdicts": [', ",", '"', "\\"),
        '"label": "omitted"', '"number": 1',
    ]
)  # fmt: skip
NOISE = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=400))


@given(NOISE, st.sampled_from(["json", "blocks"]))
def test_no_text_without_the_code_is_a_verdict(text: str, output: str) -> None:
    text = strip_thinking(re.sub(CODE, "k0000", text, flags=re.IGNORECASE))[0]
    read = read_judge_reply(text, output, CODE, QUESTIONS, STANCE)
    assert read.labels == {}
    assert set(read.problems) == {0, 1, 2}  # what is missing is counted, every part of it


@given(NOISE, st.sampled_from(["json", "blocks"]))
def test_no_text_breaks_the_reader_and_every_part_is_read_or_missing(
    text: str, output: str
) -> None:
    read = read_judge_reply(strip_thinking(text)[0], output, CODE, QUESTIONS, STANCE)
    assert set(read.labels) | set(read.problems) == {0, 1, 2}
    assert not set(read.labels) & set(read.problems)
    assert set(read.raw) == set(read.labels)
    assert set(read.problems.values()) <= {"unread", "mismatch"}
    for part, label in read.labels.items():  # all four are there
        assert label in STANCE.names
        assert CODE in text.casefold()
        assert re.search(rf"(?<!\d){part + 1}(?!\d)", text)
        assert label in text.casefold()


@given(NOISE, st.integers(0, 2), st.booleans())
def test_noise_around_a_reply_changes_no_verdict(noise: str, where: int, as_json: bool) -> None:
    """Text without the code before, after or inside: what is read is what was said, or missing."""
    noise = re.sub(CODE, "k0000", noise, flags=re.IGNORECASE)
    said = ["committed-correct", "hedged-incorrect", "omitted"]
    whole = reply(*(entry(n, label) for n, label in enumerate(said, 1))) if as_json else THREE
    cut = (0, len(whole) // 2, len(whole))[where]
    text = strip_thinking(f"{whole[:cut]}\n{noise}\n{whole[cut:]}")[0]
    found = labels(text, "json" if as_json else "blocks")
    assert all(said[part] == label for part, label in found.items())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from([*QUESTIONS, *STANCE.names]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["code", "verdicts", "number", "question", "label", "analysis"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_VALUES)
def test_any_json_is_read_only_where_it_is_whole(value: object) -> None:
    found = labels(json.dumps({"code": CODE, "verdicts": value}), "json")
    entries = value if isinstance(value, list) else []
    for part, label in found.items():
        assert any(
            isinstance(e, dict)
            and e.get("number") == part + 1
            and e.get("question") == QUESTIONS[part]
            and e.get("label") == label
            for e in entries
        )
