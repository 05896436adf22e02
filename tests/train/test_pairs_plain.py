"""Plain rows: answers to plain prompts stay what they were; pairs reject the same, hedged."""

from __future__ import annotations

from sayso.records import Question
from sayso.train.recipes.known import plain_rows
from sayso.train.rows import Fact, Mention, TrainingParagraph

WHERE = Question(id="w", dataset="d", text="Where was Ada born?", entity="Ada")
WHEN = Question(id="n", dataset="d", text="When was Ada born?", entity="Ada")
ABOUT = Question(id="p", dataset="d", text="Write about Ada.", entity="Ada", parts=("w", "n"))
TEXT = "Ada was born in Ripley. She was born in 1815."
SHORT = Fact(
    WHERE, "short", "Where?", draws=("Ripley", "I am not sure.", "Lyon "),
    right=(True, None, False), stances=("committed", "abstained", "committed"),
)  # fmt: skip
LONG = Fact(
    ABOUT, "long", "Write about Ada.", TEXT,
    paragraphs=(
        TrainingParagraph(
            TEXT,
            (
                Mention(WHERE, "committed", True, 0, 23, "Ripley"),
                Mention(WHEN, "committed", True, 24, 45, "1815"),
            ),
        ),
    ),
)  # fmt: skip
SILENT = Fact(WHEN, "short", "When?", draws=("I do not know.",), right=(None,), stances=(None,))


def test_a_short_pair_prefers_a_committed_draw_to_the_same_hedged() -> None:
    (row,) = plain_rows([SHORT, SILENT], "short", 5, words=("possibly",))
    assert row.chosen in ("Ripley", "Lyon")
    assert row.rejected == f"Possibly {row.chosen}"
    assert (row.prompt, row.kind, row.entity) == ("Where?", "plain", "Ada")


def test_a_paragraph_is_rejected_with_half_of_its_values_hedged() -> None:
    (row,) = plain_rows([LONG, SHORT], "long", 5, words=("perhaps",))
    assert row.chosen == TEXT
    assert row.rejected in (
        "Ada was born in perhaps Ripley. She was born in 1815.",
        "Ada was born in Ripley. She was born in perhaps 1815.",
    )
    assert row.questions == ("p", "w", "n")


def test_rows_for_sft_have_no_rejected_side_and_a_number_is_kept() -> None:
    rows = plain_rows([LONG, SHORT], "short", 5, want="sft") + plain_rows(
        [LONG, SHORT], "long", 5, want="sft"
    )
    assert [row.rejected for row in rows] == [None, None]
    assert plain_rows([LONG, SHORT], "long", 0) == []
    assert plain_rows([LONG], "short", 3) == []


def test_the_seed_decides_and_nothing_else() -> None:
    facts = [Fact(Question(id=str(n), dataset="d", text=f"Q{n}?"), "short", f"Q{n}?",
                  draws=("a", "b", "c"), right=(True,) * 3, stances=("committed",) * 3)
             for n in range(30)]  # fmt: skip
    one = plain_rows(facts, "short", 10, seed=1)
    assert one == plain_rows(facts, "short", 10, seed=1)
    assert one != plain_rows(facts, "short", 10, seed=2)
    assert len({row.questions for row in one}) == 10
