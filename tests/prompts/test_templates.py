"""A folder of prompts is read before anything is asked: names, places, headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.prompts import check_folder, load_prompt, prompt_names
from sayso.prompts.templates import PLACES, WHOLE, check_text, read_template
from sayso.records import InputError


def test_every_prompt_has_its_places_and_the_shipped_one_has_them() -> None:
    assert set(PLACES) == set(prompt_names())
    assert set(WHOLE) <= set(PLACES)
    for name in prompt_names():
        check_text(name, load_prompt(name), name)


def test_lines_of_one_question_are_what_is_repeated() -> None:
    text = (
        "---\nreply: blocks\nlabels: S, NS = incorrect\n---\nIntro.\n{paragraph}\nNow:\n"
        "### Question: {question}\n(golds)\nGold: {golds}\nThe end."
    )
    made = read_template("judge_long", text, "file")
    assert made is not None
    assert made.before == "Intro.\n{paragraph}\nNow:"
    assert made.entry == "### Question: {question}\n(golds)\nGold: {golds}"
    assert made.after == "The end."
    assert dict(made.labels) == {"s": ("S", "S"), "ns": ("NS", "incorrect")}
    assert read_template("judge_long", "No header {question}", "file") is None


PAIR = "{question} {answer}"


def headed(header: str, body: str = PAIR) -> str:
    """Return a prompt whose header has these lines, separated by semicolons."""
    return "\n".join(["---", *header.split("; "), "---", body])


WORD = "reply: word; labels: yes = correct, no = incorrect"
BLOCKS = "reply: blocks; labels: S"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("judge_short", "---\nreply: word\nlabels: S\n{question} {answer}", "does not end"),
        ("judge_short", headed("reply: essay"), "reply is 'essay'; expected blocks or word"),
        ("judge_short", headed("labels: S"), "reply is ''; expected"),
        ("judge_short", headed("reply: word"), "its header has no labels; expected"),
        ("judge_short", headed("reply: word; labels: a = b"), "'a' means 'b'; expected one of c"),
        ("judge_short", headed("reply: word; labels: S, s"), "'s' is empty, holds a mark or st"),
        ("judge_short", headed("reply: word; labels: S,, NS"), "'' is empty"),
        ("judge_short", headed("reply: word; heat: 1"), "'heat: 1' in its header; expected"),
        ("judge_short", headed("reply: word; reply: word"), "each once"),
        ("judge_short", headed(WORD, "{question}"), r"must contain \{answer\}"),
        ("judge_short", headed(WORD, PAIR + "{gold}"), r"nothing fills \{gold\}; its places: \{a"),
        ("judge_long", headed(BLOCKS, "{question} {paragraph}"), r"\{paragraph\} stands among"),
        ("decisive", headed("reply: word; labels: a"), "'word'; expected number LOW to HIGH"),
        ("decisive", headed("reply: number 1 to 0"), "expected such as 'number 0 to 1'"),
        ("decisive", headed("reply: number 0 to 1; labels: a"), "has no labels; leave them out"),
        ("judge_stance", headed(WORD), "takes no header; only judge_short, judge_long"),
        ("method_unc_few", "No question.", r"must contain \{question\}"),
        ("self_direct", "Is {clam} true?", r"must contain \{claim\}"),
        ("uncle_short_instruction", "Hedge, {x}.", r"nothing fills \{x\}; its places: \{quest"),
        ("judge_uncle_first", "{x}", r"nothing fills \{x\}; its places: none"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as refused:
        check_folder(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path / name}.txt: ")
    assert "\n" not in str(refused.value)


def test_a_file_that_no_step_uses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge_shrt.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"no step uses this prompt; did you mean judge_short"):
        check_folder(tmp_path)
    (tmp_path / "judge_shrt.txt").rename(tmp_path / "0123456.txt")
    with pytest.raises(
        InputError, match="no step uses this prompt; known: ambiguous, ambiguous_reply,"
    ):
        check_folder(tmp_path)
