"""The data's own questions of claims, one K for all methods, and differences from plain by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.judges.claim_questions import QuestionAnswer
from sayso.judges.claims import read_claims
from sayso.protocols import self_known
from sayso.protocols.self_known.claims import own_questions, splitting_notices
from sayso.protocols.self_known.measure import cautions
from sayso.protocols.self_known.report import sheet
from sayso.protocols.self_known.self_verdicts import _disjoint
from sayso.protocols.stored import StoredRun
from sayso.records import (
    Claim,
    ClaimQuestion,
    Estimate,
    Generation,
    Question,
    Request,
    Verdict,
    signature_text,
    slice_of,
    slice_text,
)
from sayso.report.number_tables import value_text
from sayso.storage.run_folder import RunFolder
from support.telling_world import World

TEXT = "Mira Toll was born in Orm in 1942. She was an artist of the party."
#: claims as (span, words)
CLAIMS = [
    ("Mira Toll was born in Orm in 1942.", "Mira Toll was born in Orm"),
    ("Mira Toll was born in Orm in 1942.", "Mira Toll was born in 1942"),
    ("Mira Toll was born in Orm in 1942.", "Mira Toll was born in Orm in 1942"),
    ("She was an artist of the party.", "Mira Toll was an artist of the party"),
]


class Told:
    """A folder that holds verdicts on the facts of one text."""

    def __init__(self, values: dict[str, str]) -> None:
        self.rows = [
            Verdict(
                "g", asked, "rules", stance="committed", content="correct",
                answer_start=TEXT.index(value), answer_end=TEXT.index(value) + len(value),
            )
            for asked, value in values.items()
        ]  # fmt: skip

    def has(self, table: str) -> bool:
        return table == "verdicts/long-aspects"

    def read(self, table: str, kind: type) -> list[Verdict]:
        assert table == "verdicts/long-aspects"
        return self.rows


def asked(values: dict[str, str], questions: dict[str, str]) -> dict[str, QuestionAnswer]:
    by_id = {
        key: Question(key, "d", text, entity="Mira Toll") for key, text in questions.items()
    } | {"long": Question("long", "d", "Write about Mira Toll.", entity="Mira Toll")}
    claims = []
    for number, (span, words) in enumerate(CLAIMS):
        start = TEXT.index(span)
        claims.append(Claim(f"c{number}", "g", 1, start, start + len(span), words))
    texts = {"g": Generation(Request(messages=()), id="g", question="long", text=TEXT)}
    return own_questions(StoredRun(Told(values), ()), claims, texts, by_id)  # type: ignore[arg-type]


def test_a_claim_that_tells_one_fact_has_the_datas_own_question() -> None:
    found = asked(
        {"place": "Orm", "year": "1942"},
        {"place": "Where was Mira Toll born?", "year": "In which year was Mira Toll born?"},
    )
    assert found == {
        "c0": QuestionAnswer("Where was Mira Toll born?", "Orm"),
        "c1": QuestionAnswer("In which year was Mira Toll born?", "1942"),
        # c2 tells two facts, c3 none
    }


def test_a_value_is_a_word_of_the_claim_and_not_a_part_of_one() -> None:
    # "art" stands in "artist" and in "party"
    assert asked({"x": "art"}, {"x": "What did Mira Toll make?"}) == {}


def test_a_question_that_gives_its_answer_away_is_left_to_be_made() -> None:
    leak = "Was Mira Toll born in Orm?"
    assert asked({"place": "Orm"}, {"place": leak}) == {}
    assert asked({"place": "Orm"}, {"place": "Where was she born?"}) == {}  # whom?


def test_a_run_on_facts_keeps_who_made_each_question(tmp_path: Path) -> None:
    result = sayso.run(
        "self_known", limit=2, out=tmp_path / "run", cache=tmp_path / "cache",
        options=self_known.Settings(modes="qa", resamples=100), report=False,
    )  # fmt: skip
    folder = RunFolder.open(tmp_path / "run")
    rows = folder.read("asked/long", ClaimQuestion)
    own = [row for row in rows if row.by == "data"]
    assert {row.by for row in rows} <= {"data", "gap@2"}
    assert own
    questions = {q.text for q in folder.read("questions", Question)}
    texts = " ".join(g.text for g in folder.read("generations/long", Generation))
    assert all(row.question in questions and row.answer in texts for row in own)
    assert "questions:data" in signature_text(result.get("SK", "method:plain;mode:qa").signature)
    told = f"({len(own)} of them the data's own)"
    assert any(told in note for note in result.manifest.notices)


# --- methods beside plain ---


def two(tmp_path: Path, **fields: Any) -> sayso.Result:
    """Mira: ttff plain, ttt with passages; Orm: tf plain, ff with passages."""
    world = World({"Mira Toll": "ttff", "Orm Bask": "tf"})
    plain = world.reply

    def reply(request: Any) -> Any:
        prompt = request.messages[-1].content
        if not prompt.startswith("Passages that may help:"):
            return plain(request)
        world.asked.append(prompt)
        mira = "about Mira Toll." in prompt
        own = world.text("Mira Toll" if mira else "Orm Bask").split(". ")
        kept = own[:2] if mira else own[1:]
        return ". ".join(kept).rstrip(".") + "."

    world.reply = reply  # type: ignore[method-assign]
    return world.run(tmp_path, retrieval=True, **fields)


def test_one_k_for_all_methods_of_a_run(tmp_path: Path) -> None:
    result = two(tmp_path, modes="none")
    # supported claims: plain 2, 1; with passages 2, 0: median of 0 1 2 2 = 1.5, K = 1
    where = {slice_text(e.where) for e in result.estimates if e.name == "f1_at_k"}
    assert where == {"method:plain;k:1", "method:retrieval;k:1"}
    # plain: P 1/2 R 1 -> 2/3, twice; with passages: 1 and 0
    assert result.get("f1_at_k", "method:plain;k:1").value == pytest.approx(2 / 3)
    assert result.get("f1_at_k", "method:retrieval;k:1").value == pytest.approx(1 / 2)


def test_what_passages_change_is_an_estimate_over_the_same_topics(tmp_path: Path) -> None:
    result = two(tmp_path, modes="qa")
    # Mira 2/2 - 2/4 = .5; Orm 0/1 - 1/2 = -.5
    gain = result.get("factscore_minus_plain", "method:retrieval")
    assert gain.value == pytest.approx(0.0)
    assert gain.low is None  # two topics leave it open from -1 to 1
    assert gain.problem == "no interval: too few topics to bound it"
    assert not [
        e
        for e in result.estimates
        if e.name.endswith("_minus_plain") and "plain;" in slice_text(e.where)
    ]


def test_unlabeled_claims_are_not_counted_as_no_error(tmp_path: Path) -> None:
    result = World({"Mira Toll": "tf"}).run(tmp_path, modes="none", knowledge="none")
    for part in (3, 5):
        e = result.get("unsupported_per_sentence", f"method:plain;part:{part}/5")
        assert (e.value, e.problem) == (None, "undefined: nothing to count")


def test_a_longer_tokenization_is_part_of_the_shorter_one() -> None:
    # "(A" holds "(A" + ")" already; "A" and " A" are others
    assert _disjoint({(5,): 0.5, (5, 7): 0.4, (1,): 0.1, (2,): 0.2}) == pytest.approx(0.8)


SHARES = {"direct": 0.4, "qa": 1.0, "qa_none": 1.0}


def test_the_same_caution_of_several_ways_of_asking_is_one() -> None:
    found = [
        Estimate("accept_rate", slice_of(method="a", mode="direct"), 0.0),
        Estimate("accept_rate", slice_of(method="a", mode="qa"), 1.0),
        Estimate("accept_rate", slice_of(method="a", mode="qa_none"), 0.5),
        Estimate("accept_rate", slice_of(method="a", mode="qa_none", part="1/5"), 1.0),
        Estimate("order_flips", slice_of(method="a", mode="qa"), 0.5),
        Estimate("order_flips", slice_of(method="a", mode="qa_none"), 0.5),
        *(Estimate("not_understood", slice_of(method="b", mode=m), x) for m, x in SHARES.items()),
        Estimate("order_flips", slice_of(method="a", mode="direct"), None),
    ]
    told = cautions(found)
    assert len(told) == 3
    assert told[0].startswith(
        'a, asked "is it true?", "is this the answer?": the model accepts 0 %, 100 % of its claims'
    )
    assert told[1].startswith(
        'a, asked "is this the answer?", "or none of these?": 50 % of the answers change'
    )
    # a share for each way, unless all are one
    ways = '"is it true?", "is this the answer?", "or none of these?"'
    assert told[2].startswith(f"b, asked {ways}: for 40 %, 100 %, 100 % ")


def test_a_topic_that_one_side_says_nothing_of_makes_no_difference_of_means(tmp_path: Path) -> None:
    world = World({"Mira Toll": "tf", "Orm Bask": "ff"})
    plain = world.reply

    def reply(request: Any) -> Any:
        prompt = request.messages[-1].content
        silent = prompt.startswith("Passages that may help:") and "about Orm Bask." in prompt
        return "Who can say?" if silent else plain(request)

    world.reply = reply  # type: ignore[method-assign]
    result = world.run(tmp_path, retrieval=True, modes="none")
    # alone: (1/2 + 0) / 2 and 1/2; on the topic that both tell something of nothing changes
    assert result.get("factscore", "method:plain").value == pytest.approx(0.25)
    assert result.get("factscore", "method:retrieval").value == pytest.approx(0.5)
    gain = result.get("factscore_minus_plain", "method:retrieval")
    assert (gain.value, gain.low) == (0.0, None)  # a single topic has no interval
    assert gain.problem == "no interval: a single cluster"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (165.9, "none (outside 0 to 1)"),
        (-0.04, "none (outside 0 to 1)"),
        (0.5, "50.0 %"),
        (None, "–"),
    ],
)
def test_rogan_and_gladens_value_outside_of_shares_is_said_to_be_none(
    value: float | None, shown: str
) -> None:
    place = slice_of(method="m", mode="qa")
    found = [Estimate("accept_rate", place, 0.5, n=9), Estimate("rogan_gladen", place, value)]
    table, *_ = next(part.tables for part in sheet(found).parts if part.id == "itself")
    (entry,) = next(row for (label,), row in table.rows if "corrected" in label)
    assert value_text(entry, "own") == shown


# ---- texts that repeat themselves


def test_a_notice_tells_of_claims_that_count_once() -> None:
    loop = read_claims("Mira Toll", "Mira Toll sang. She sang. She sang. She died.")
    plain = read_claims("Mira Toll", "Mira Toll sang.")
    assert [d.text for d in loop.drafts] == ["Mira Toll sang", "Mira Toll died"]
    assert splitting_notices([plain]) == []
    (notice,) = splitting_notices([loop, plain])
    assert notice.startswith("claims: 1 of 2 texts repeat themselves; 2 of their 5 claims")


def test_a_notice_tells_of_what_claims_nothing() -> None:
    recipe = read_claims(
        "", "Rice is a grain.\n\n1. Wash the rice.\n2. Boil it.\n\n```\nx = 1\n```"
    )
    plain = read_claims("Mira Toll", "Mira Toll sang.")
    assert splitting_notices([recipe, plain]) == [
        "claims: 1 line of code, 2 instructions in 1 of 2 texts claim nothing and are left out"
    ]
