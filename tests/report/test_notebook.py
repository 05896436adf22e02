"""What a notebook shows: every text of others is escaped."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from sayso.records import InputError
from sayso.report.notebook import AnswerTable, html_table
from support.tables import tabled

BOLD = "<b>x</b> & <script>"
ESCAPED = "&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;"


def test_every_text_of_a_table_is_escaped() -> None:
    page = html_table(
        f"title {BOLD}",
        [f"head {BOLD}"],
        [[f"cell {BOLD}"]],
        cautions=[f"caution {BOLD}"],
        notes=[f"note {BOLD}"],
        last=f"last {BOLD}",
    )
    for place in ("title", "head", "cell", "caution", "note", "last"):
        assert f"{place} {ESCAPED}" in page, place
    assert BOLD not in page
    assert f"nothing {ESCAPED}" in html_table("t", [], [], nothing=f"nothing {BOLD}")


class Said(msgspec.Struct, frozen=True):
    form: str
    text: str
    known: bool | None = None
    golds: tuple[str, ...] = ()


def said(count: int) -> tuple[AnswerTable[Said], list[int]]:
    """Return answers, and the numbers of those that were read."""
    seen: list[int] = []

    def read() -> Iterator[Said]:
        for n in range(count):
            seen.append(n)
            yield Said("short" if n % 2 else "long", f"{BOLD} {n}", n % 3 == 0, (BOLD, "y"))

    return AnswerTable(f"run {BOLD}", Said, ("form", "text", "golds", "known"), read), seen


def test_answers_are_shown_escaped_and_read_only_as_far_as_shown() -> None:
    answers, seen = said(100_000)
    assert repr(answers) == f"<Answers: run {BOLD}>"
    assert not seen
    page = answers._repr_html_()
    assert BOLD not in page
    assert f"<td>{ESCAPED} 7</td><td>{ESCAPED}; y</td><td>False</td>" in page
    assert page.count("<tr>") == 9
    assert "The first 8 answers" in page
    assert len(seen) == 9


def test_answers_are_chosen_by_their_fields() -> None:
    answers, seen = said(12)
    some = answers.where(form="short", known=True)
    assert not seen
    assert [a.text[-1] for a in some] == ["3", "9"]
    assert len(some) == 2
    assert len(some.where(form="long")) == 0
    assert len(answers.where(golds=(BOLD, "y"))) == 12
    assert "no answers" in answers.where(known=None)._repr_html_()
    assert "The first" not in some._repr_html_()
    assert repr(some) == f"<Answers: form='short', known=True; run {BOLD}>"


@tabled
def test_a_mistake_in_a_choice_of_answers_is_one_line(
    fields: dict[str, object], message: str
) -> None:
    answers, seen = said(3)
    with pytest.raises(InputError, match=message) as refused:
        answers.where(**fields)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200
    assert not seen
