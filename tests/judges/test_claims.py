"""Claims of long answers, offline. Expected claims are worked out by hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.judges.claims import (
    PHRASES,
    Claimed,
    RulesClaims,
    claims,
    is_talk,
    prompted_topic,
    read_claims,
    told_unclaimed,
    unframed,
    unresponsive,
)
from sayso.judges.english.markup import parts
from sayso.records import InputError
from support.effort import check_growth, seconds
from support.tables import tabled


def said(text: str, topic: str = "Jane Doe") -> list[str]:
    return [c.text for c in claims(text, topic)]


@tabled
def test_what_a_sentence_claims(text: str, expected: list[str]) -> None:
    # what shows that the topic is a woman
    assert said(f"She was real. {text}")[1:] == expected


def test_without_a_topic_the_opening_name_is_taken() -> None:
    found = claims("Mira Toll is a Dutch poet, and she taught. She died in 1999.")
    assert [c.text for c in found] == [
        "Mira Toll is a Dutch poet",
        "Mira Toll taught",
        "Mira Toll died in 1999",
    ]
    assert [c.sentence for c in found] == [1, 1, 2]


def test_a_claim_that_is_repeated_counts_once() -> None:
    text = "Jane Doe sang. She wrote plays. She sang. SHE WROTE PLAYS! She died."
    found = read_claims("Jane Doe", text)
    assert [c.text for c in found.drafts] == [
        "Jane Doe sang",
        "Jane Doe wrote plays",
        "Jane Doe died",
    ]
    assert [c.sentence for c in found.drafts] == [1, 2, 5]
    assert (found.repeated, found.unfinished) == (2, 0)


def test_what_a_long_text_breaks_off_in_is_no_claim() -> None:
    text = "Jane Doe was a poet. " + "".join(f"She wrote {n} odes. " for n in range(10, 30))
    assert read_claims("Jane Doe", text + "She was the").unfinished == 1
    cut = read_claims("Jane Doe", text + 'She sang, and she was awarded the "')
    assert (cut.drafts[-1].text, cut.unfinished) == ("Jane Doe sang", 1)
    # a short text may do without a stop, and a list too
    assert said("She was born in Orm. She died in Sarn")[-1] == "Jane Doe died in Sarn"
    assert read_claims("Jane Doe", text + "\n- She sang").unfinished == 0


def test_the_span_keeps_the_hedge_that_the_text_has_lost() -> None:
    text = (
        "It is believed that she was born in 1942. She probably died in Orm, and I think she sang."
    )
    shown = [(text[c.start : c.end], c.text) for c in claims(text, "Jane Doe")]
    assert shown[0] == (
        "It is believed that she was born in 1942.",
        "Jane Doe was born in 1942",
    )
    assert ("She probably died in Orm", "Jane Doe died in Orm") in shown
    assert sayso.decisiveness("She probably died in Orm") < sayso.decisiveness("She died in Orm.")


def test_the_span_begins_behind_a_link() -> None:
    text = "Additionally, the band toured. She left it."
    (one, two) = claims(text, "Jane Doe")
    assert (text[one.start : one.end], one.text) == ("the band toured.", "The band toured")
    assert (text[two.start : two.end], two.text) == ("She left it.", "Jane Doe left it")


@tabled
def test_frames(text: str, bare: str | None) -> None:
    assert unframed(text)[0] == (bare or text)


@tabled
def test_talk_is_no_claim(text: str) -> None:
    assert said(text) == []
    assert is_talk(text)


@tabled
def test_what_only_looks_like_talk(text: str) -> None:
    assert said(text) != []


def test_list_items_are_claims_of_what_opens_the_list() -> None:
    text = (
        "Jane Doe acted.\n\nHer roles include:\n- Sandy in Grease\n- A nurse in Taxi\n\n"
        "Born: 1942\n\nChildren: two"
    )
    found = read_claims("Jane Doe", text)
    assert [c.text for c in found.drafts] == [
        "Jane Doe acted",
        "Jane Doe's roles include Sandy in Grease",
        "Jane Doe's roles include A nurse in Taxi",
        "Jane Doe was born in 1942",
        "Jane Doe's children are two",
    ]
    assert text[slice(*found.drafts[1][1:3])] == "Sandy in Grease"
    # the opening counts as a sentence
    assert [c.sentence for c in found.drafts] == [1, 3, 4, 5, 6]


@tabled
def test_thoughts_claim_nothing_and_spans_are_those_of_the_whole_text(text: str) -> None:
    found = claims(text, "Jane Doe")
    assert [c.text for c in found] == ["Jane Doe was a poet", "Jane Doe sang"]
    assert [text[c.start : c.end] for c in found] == ["Jane Doe was a poet.", "She sang."]


def test_the_reader_and_the_public_name() -> None:
    text = "Mira Toll is a poet. ???"
    reader = RulesClaims()
    found = reader.read([("", text), ("", text), ("x", "")])
    assert len(found) == 2
    assert found["", text].drafts == tuple(sayso.claims(text))
    assert found["x", ""] == Claimed((), ())
    assert reader.signature.startswith("claims-rules@")


def holds(text: str, topic: str) -> Claimed:
    found = read_claims(topic, text)
    last = 0
    for draft in found.drafts:
        sentence = found.sentences[draft.sentence - 1]
        assert sentence.start <= draft.start < draft.end <= sentence.end
        assert draft.sentence >= last
        assert draft.text.strip() == draft.text != ""
        last = draft.sentence
    return found


PIECES = """He She It They who which where and but or , ; : – ( ) " born in 1942 May 5 the a an
was is has been directed film Orm Sarn Bo Ek his her of for with I think that probably not U.S.
Inc. - 1. | # ** including such as most notably becoming after joining [1] … ? ! ."""
WORDS = [*PIECES.split(), "\x00", "\x01", "\x02", "\u202e", "\n", "\n\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from(["", "Bo Ek"]))
def test_any_words_in_any_order(words: list[str], topic: str) -> None:
    holds(" ".join(words), topic)


@given(st.text(max_size=300), st.text(max_size=20))
def test_any_text_and_topic(text: str, topic: str) -> None:
    holds(text, topic)


HOSTILE = ["a", "7", " ", "\n", ".", ", ", "(", '"', "not ", "and he was ", ", he is", "Bo and ",
           "He was a, ", "In 1, ", "'s ", "a: ", "I think ", "It is said that ", "is a is a ",
           "no more ", "and wrote ", "U.S. ", "| a |\n", ", which is"]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    def text(length: int) -> str:
        made = (piece * (length // len(piece) + 1))[:length]
        parts(made)  # the sentences are another module's work
        return made

    holds((piece * 16_000)[:16_000], "Bo Ek")
    texts = {length: text(length) for length in (2_000, 16_000, 50_000)}
    check_growth(lambda length: read_claims("Bo Ek", texts[length]), 2_000, 16_000, 0.4)
    assert seconds(lambda: read_claims("Bo Ek", texts[50_000]), enough=0.3) < 0.3


@pytest.mark.parametrize(("text", "topic"), [(None, ""), (5, "Ada"), ("She wrote.", None)])
def test_what_is_no_text_is_refused_in_one_line(text: object, topic: object) -> None:
    with pytest.raises(InputError, match=r"claims: got (NoneType|int); expected text and topic"):
        claims(text, topic)  # type: ignore[arg-type]


# ---- answers that decline, by the paper's phrases


def test_the_eleven_phrases_of_the_paper_anywhere_and_in_any_case() -> None:
    assert len(PHRASES) == 11
    for phrase in PHRASES:
        assert unresponsive(f"Well, {phrase.upper()} more.") == phrase


@tabled
def test_by_hand(text: str, expected: str | None) -> None:
    assert unresponsive(text) == expected


@tabled
def test_the_topic_of_a_prompt_by_hand(prompt: str, name: str) -> None:
    assert prompted_topic(prompt) == name


@given(st.text(max_size=80))
def test_any_prompt_names_a_part_of_itself_or_nothing(prompt: str) -> None:
    for text in (prompt, f"Tell me about {prompt}"):
        assert prompted_topic(text) in " ".join(text.split())


def test_a_phrase_inside_a_good_answer_still_counts_as_the_paper_has_it() -> None:
    # a known weakness of the filter: it looks anywhere
    assert unresponsive('Her song "I Do Not Have a Dog" was a hit.') == "i do not have"


@given(st.text(max_size=80))
def test_any_text_is_a_phrase_empty_or_none(text: str) -> None:
    assert unresponsive(text) in (*PHRASES, "empty", None)


# ---- the example of docs/self_known.md prints what stands below it

DOC = (Path(__file__).parents[2] / "docs" / "self_known.md").read_text(encoding="utf-8")


def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    section = DOC.partition("## Claims")[2].partition("\n## ")[0]
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", section, flags=re.DOTALL)
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == found[2]


@pytest.mark.parametrize("blank", ["", "-", "...", "\n—\n"])
def test_what_says_nothing_does_not_respond(blank: str) -> None:
    assert unresponsive(blank) == "empty"
    assert claims(blank) == []


# ---- lists, tables, data, instructions, verse, code: few whole claims, and the rest is counted


def counted(text: str, topic: str = "") -> dict[str, int]:
    return dict(read_claims(topic, text).unclaimed)


@tabled
def test_what_lists_tables_and_data_claim(text: str, topic: str, expected: list[str]) -> None:
    assert said(text, topic) == expected


@tabled
def test_what_claims_nothing_is_counted(
    text: str, expected: list[str], rest: dict[str, int]
) -> None:
    assert said(text, "") == expected
    assert counted(text) == rest


def test_what_claims_nothing_is_told_in_words() -> None:
    counts = {"verse": 1, "code": 1_200, "remark": 2, "data": 0}
    assert told_unclaimed(counts) == "1,200 lines of code, 1 line of verse, 2 remarks or questions"
    assert told_unclaimed({}) == ""


def test_no_line_of_a_life_is_verse_code_or_an_instruction(test_data: Path) -> None:
    """Three systems' lives of people, which hold none."""
    counts: Counter[str] = Counter()
    for name in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        for line in (test_data / "factscore" / f"{name}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["annotations"]:
                counts.update(dict(read_claims(row["topic"], row["output"]).unclaimed))
    assert not {"code", "data", "verse", "speech", "formula", "instruction"} & counts.keys()
