"""PopQA's rows: relations, popularity, answers as JSON in a text, mistakes with their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sayso import datasets
from sayso.datasets import short_answers
from sayso.records import InputError
from support.tables import tabled


def row(**fields: Any) -> dict[str, Any]:
    given = {
        "subj": "Orm",
        "prop": "director",
        "obj": "Ada Veld",
        "s_pop": 1200,
        "question": "Who was the director of Orm?",
        "possible_answers": '["Ada Veld", "A. Veld"]',
    }
    return given | fields


def load(folder: Path, *rows: Any) -> Any:
    path = folder / "popqa.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return datasets.load_dataset(f"popqa:{path}")


def test_a_row_becomes_a_question(tmp_path: Path) -> None:
    data = load(tmp_path, row(), row(subj="Tolm", question="Where is Tolm?", prop="capital"))
    (question,) = data.questions
    assert question.golds is not None
    assert question.golds[0].names == ("Ada Veld", "A. Veld")
    assert (question.domain, question.entity) == ("known", "Orm")
    assert question.type == "known/director"
    assert any("1 questions of other relations" in note for note in data.notes)


def test_other_objects_are_other_right_answers(tmp_path: Path) -> None:
    """Names that ``o_aliases`` lists write the row's object; the rest are right answers as well."""
    both = row(
        o_aliases='["A. Veld"]', possible_answers='["Ada Veld", "A. Veld", "Jan Oster", "J. Oster"]'
    )
    (question,) = load(tmp_path, both).questions
    assert question.golds is not None
    assert [g.names for g in question.golds] == [
        ("Ada Veld", "A. Veld"),
        ("Jan Oster",),
        ("J. Oster",),
    ]
    # two films of one name: the same words ask about both, and each director is right
    same = load(
        tmp_path,
        row(o_aliases="[]", possible_answers='["Ada Veld"]'),
        row(o_aliases='["M. Toll"]', obj="Mira Toll", possible_answers='["Mira Toll", "M. Toll"]'),
    )
    (question,) = same.questions
    assert question.golds is not None
    assert [g.names for g in question.golds] == [("Ada Veld",), ("Mira Toll", "M. Toll")]
    assert any("1 left out: repeated questions" in note for note in same.notes)


@pytest.mark.parametrize(
    ("views", "name"),
    [(0, "obscure"), (99, "obscure"), (100, "rare"), (999, "rare"), (1000, "known"),
     (9999, "known"), (10_000, "popular"), ("12000", "popular")],
)  # fmt: skip
def test_strata_of_popularity(views: Any, name: str) -> None:
    assert short_answers.stratum(views, "x", 1) == name


def test_short_objects_are_dropped_and_told(tmp_path: Path) -> None:
    short = row(subj="B", obj="Ed", question="Who was the director of B?", possible_answers="[]")
    data = load(tmp_path, row(), short)
    assert len(data.questions) == 1
    assert any("1 with an object" in note for note in data.notes)


def test_strata_can_be_chosen_as_domains(tmp_path: Path) -> None:
    load(tmp_path, row(), row(subj="B", s_pop=5, question="Who was the director of B?"))
    path = tmp_path / "popqa.jsonl"
    found = datasets.load_dataset(f"popqa:{path}", domains=["obscure"])
    assert [q.entity for q in found.questions] == ["B"]


@tabled
def test_mistakes_are_told_with_their_place(tmp_path: Path, bad: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(tmp_path, row(**bad))


def test_the_published_tsv_is_read(tmp_path: Path) -> None:
    """``test.tsv`` of the hub: lists are JSON inside quoted cells."""
    file = tmp_path / "test.tsv"
    fields = row(o_aliases='["A. Veld"]')
    cells = ['"' + str(v).replace('"', '""') + '"' for v in fields.values()]
    file.write_text("\t".join(fields) + "\n" + "\t".join(cells) + "\n", encoding="utf-8")
    (question,) = datasets.load_dataset(f"popqa:{file}").questions
    assert question.golds is not None
    assert question.golds[0].names == ("Ada Veld", "A. Veld")
    assert question.domain == "known"
