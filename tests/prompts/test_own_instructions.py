"""A paper's instructions and examples as they stand, in a user's folder."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from sayso.prompts import methods
from sayso.protocols import PROTOCOLS
from sayso.protocols.pool import load_wording
from sayso.protocols.self_known.self_verdicts import own_requests
from sayso.protocols.self_known.settings import Settings
from sayso.protocols.settings import replace
from sayso.records import Claim, Question


def test_an_instruction_with_the_questions_place_is_the_whole_prompt(tmp_path: Path) -> None:
    text = "Hedge where you must.\nQ: {question}\nA:"
    (tmp_path / "uncle_short_instruction.txt").write_text(text, encoding="utf-8")
    (tmp_path / "method_granularity.txt").write_text(text, encoding="utf-8")
    wording = load_wording(str(tmp_path))
    expected = "Hedge where you must.\nQ: Who {wrote} it?\nA:"
    assert wording.ask("Who {wrote} it?", None, "short") == expected
    assert wording.ask("Who?", None) == "Who?"  # the plain question stays plain
    assert wording.ask("Who?", "A text.", "short") == (
        "Hedge where you must.\nQ: A text.\n\nWho?\nA:"
    )
    for style in ("shared", "paper"):
        made = methods.prompted("granularity", "Who {wrote} it?", style=style, folder=tmp_path)
        assert made == expected
    shown = [methods.Demonstration("When?", "In 1950.")]
    made = methods.prompted("granularity", "Who?", folder=tmp_path, shown=shown)
    assert made == "Question: When?\nAnswer: In 1950.\n\nHedge where you must.\nQ: Who?\nA:"


def test_an_answer_ends_where_the_next_example_would_begin(tmp_path: Path) -> None:
    assert methods.stop("unc_few", "short") == ("\nQuestion:",)
    assert methods.stop("pair_few", "long") == ("\nQuestion:",)
    assert methods.stop("uncle", "short") == ()
    file = tmp_path / "method_unc_few.txt"
    file.write_text("Q: Who?\nA: I am not sure.\n\nQ: {question}\nA:", encoding="utf-8")
    assert methods.stop("unc_few", "short", tmp_path) == ("\nQ:",)
    file.write_text("Examples: none.\n{question}", encoding="utf-8")
    assert methods.stop("unc_few", "short", tmp_path) == ()


def test_direct_asking_takes_a_preamble_and_fixed_options(tmp_path: Path) -> None:
    """Options that the text spells out stand in one order: a second would be read the wrong way."""
    file = tmp_path / "self_direct.txt"
    file.write_text("Judge what is said of {topic}.\n{claim}\n(A) True (B) False", encoding="utf-8")
    claim = Claim("c", "g", 0, 0, 10, "Ada flew")
    question = Question("q", "d", "Tell me about Ada.", entity="Ada")
    settings = replace(Settings(), {"prompt_folder": str(tmp_path), "modes": "direct"})
    made = own_requests([(claim, question, None, ())], settings, seed=0)
    assert [one.order for one in made] == [("yes", "no")]
    assert made[0].request.messages[0].content == (
        "Judge what is said of Ada.\nAda flew.\n(A) True (B) False"
    )
    file.write_text("{claim} {options}?", encoding="utf-8")
    both = own_requests([(claim, question, None, ())], settings, seed=0)
    assert [one.order for one in both] == [("yes", "no"), ("no", "yes")]


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_help_calls_our_words_the_papers(name: str) -> None:
    """``--prompts paper`` is the paper's frame and decoding: its texts are not shipped."""
    helps = [f.metadata["help"] for f in dataclasses.fields(PROTOCOLS[name].Settings)
             if "help" in f.metadata]  # fmt: skip
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    for text in (*helps, *pages):
        assert not re.search(r"paper's own (?:prompt|words|form|text)", text)
