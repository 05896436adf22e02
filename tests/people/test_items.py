"""What of a run can be labeled, and that whoever labels it sees neither judge nor model."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.people.choices import LabelChoices
from sayso.people.items import (
    LONGEST,
    ShownItem,
    counts_of,
    items_of,
    kind_stages,
    label_source,
    shown_items,
)
from sayso.people.labeling import open_labeling, write_sheet_of
from sayso.people.labels import Kind, LabeledItem, LabelStore
from sayso.protocols import selective
from sayso.records import Claim, Generation, InputError, Request, Verdict
from sayso.storage.run_folder import RunFolder
from support.label_runs import JUDGE, MODEL, answers_run, claims_run, pairs_run
from support.scripted import ScriptedEngine


def shown(run: Path, kind: Kind, stage: str = "") -> dict[LabeledItem, ShownItem]:
    source = label_source(run)
    _, items = items_of(source, kind, stage)
    every = [one.item for one in items]
    return dict(zip(every, shown_items(source, every), strict=True))


def test_kinds_and_tables_of_runs(tmp_path: Path) -> None:
    answers, claims, pairs = (
        make(tmp_path / make.__name__) for make in (answers_run, claims_run, pairs_run)
    )
    assert counts_of(label_source(answers)) == {"answer": 80, "aspect": 6}
    assert counts_of(label_source(claims)) == {"claim": 12, "sureness": 12}
    assert counts_of(label_source(pairs)) == {"answer": 6, "pair": 12, "sureness": 6}
    assert kind_stages(RunFolder.open(answers), "answer") == ["short", "probe"]
    with pytest.raises(InputError, match="has no claims that its judge read; it has items of kind"):
        items_of(label_source(answers), "claim")
    with pytest.raises(InputError, match=r"--stage nowhere: .* has short answers in short, probe"):
        items_of(label_source(answers), "answer", "nowhere")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (answers_run, "answer"),
        (answers_run, "aspect"),
        (claims_run, "claim"),
        (claims_run, "sureness"),
        (pairs_run, "pair"),
        (pairs_run, "sureness"),
    ],
)
def test_nothing_shown_tells_the_judge_or_the_model(tmp_path: Path, make, kind: Kind) -> None:  # type: ignore[no-untyped-def]
    run = make(tmp_path / "run")
    every = shown(run, kind)
    assert len(every) >= 6
    told = msgspec.json.encode(list(every.values())).decode()
    for secret in (JUDGE, MODEL, "secret-model", "committed", "hedged", "certainty", "NS"):
        assert secret not in told


def test_a_claim_has_as_many_passages_whatever_the_judge_said(tmp_path: Path) -> None:
    """The judge cites one passage where it supports a claim, and all where it does not."""
    run = claims_run(tmp_path / "run")
    every = shown(run, "claim")
    read = {v.target: v for v in RunFolder.open(run).iter("verdicts/long-support", Verdict)}
    assert {len(v.evidence) for v in read.values()} == {1, 3}
    assert {len(one.passages) for one in every.values()} == {3}
    # nor does their order tell: a cited passage stands first as often as by chance
    first = [
        one.passages[0][0][-1] == read[item.target].evidence[0][-1]
        for item, one in every.items()
        if len(read[item.target].evidence) == 1
    ]
    assert 0 < sum(first) < len(first)


def test_a_claim_is_marked_in_its_text(tmp_path: Path) -> None:
    every = shown(claims_run(tmp_path / "run"), "claim")
    for item, one in every.items():
        number = item.target[1:]
        assert one.claim == f"Fact {number} is so"
        assert one.text[1] == f"Fact {number} is so."
        assert len("".join(one.text)) > 150


def test_a_pair_is_the_assertion_and_the_sample_that_the_letter_is_of(tmp_path: Path) -> None:
    run = pairs_run(tmp_path / "run")
    every = shown(run, "pair")
    assert {item.target: one.other for item, one in every.items()} == {
        f"s{i}#0/{k}": f"sample {k} of {i}" for i in range(6) for k in range(2)
    }  # the third sample failed: there is nothing to compare
    assert {one.text for one in every.values()} == {("I think ", "Bo did.", "")}
    readings = {one.item.target: one.reading for one in items_of(label_source(run), "pair")[1]}
    assert readings["s0#0/0"] == "contradicts"
    assert readings["s0#0/1"] == "does not"


def test_sureness_is_of_the_marked_sentence(tmp_path: Path) -> None:
    run = pairs_run(tmp_path / "run")
    assert {one.text for one in shown(run, "sureness").values()} == {("I think ", "Bo did.", "")}
    readings = [one.reading for one in items_of(label_source(run), "sureness")[1]]
    assert sorted(set(readings)) == ["between", "sure", "unsure"]
    claims = shown(claims_run(tmp_path / "claims"), "sureness")
    assert {one.text[1] for one in claims.values()} == {f"Fact {i} is so." for i in range(12)}


def test_texts_of_others_are_harmless_and_cut(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 8, hostile="\u202e\x1b[2J" + "x" * 50_000)
    for one in shown(run, "answer").values():
        for text in (one.question, *one.golds, *one.text):
            assert "\u202e" not in text
            assert "\x1b" not in text
            assert len(text) <= LONGEST + 10


def test_places_outside_a_text_mark_nothing(tmp_path: Path) -> None:
    run = claims_run(tmp_path / "run")
    folder = RunFolder.open(run)
    claims = [
        Claim(c.id, c.generation, c.sentence, start, end, c.text)
        for c, (start, end) in zip(
            folder.read("claims/long", Claim),
            [(-5, 3), (7, 7), (9, 2), (0, 10**9), *[(0, 4)] * 8],
            strict=True,
        )
    ]
    folder.write("claims/long", claims, Claim)
    every = {item.target: one for item, one in shown(run, "claim").items()}
    assert [every[f"c{i}"].text[1] for i in range(5)] == ["", "", "", "", "Fact"]


def test_an_item_that_the_run_no_longer_has_is_one_line(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 8)
    source = label_source(run)
    with pytest.raises(InputError, match="no longer has an item"):
        shown_items(source, [LabeledItem("answer", "short", "elsewhere", "q0")])


def test_runs_that_cannot_be_labeled_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        label_source(tmp_path / "none")
    run = answers_run(tmp_path / "run", 4)
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    folder.write_manifest(msgspec.structs.replace(manifest, finished=None))
    with pytest.raises(InputError, match="is not finished; repeat its command"):
        label_source(run)
    folder.write_manifest(msgspec.structs.replace(manifest, protocols=("other",)))
    with pytest.raises(InputError, match="a run of other, which this version"):
        label_source(run)


def test_hedged_samples_count_as_the_run_counts_them(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 8)
    folder = RunFolder.open(run)
    hedged = [
        Verdict(v.target, v.asked, v.by, stance="hedged", content="correct")
        for v in folder.read("verdicts/probe", Verdict)
    ]
    folder.write("verdicts/probe", hedged, Verdict)
    source = label_source(run)
    for how, expected in ((True, "known"), (False, "unknown"), (None, "undetermined")):
        changed = source._replace(probing=source.probing._replace(hedged=how))
        assert {one.known for one in items_of(changed, "answer")[1]} == {expected}


def test_answers_that_failed_are_no_items(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 8)
    folder = RunFolder.open(run)
    answers = folder.read("generations/short", Generation)
    lost = msgspec.structs.replace(answers[0], text="", problem="failed: 500")
    folder.write("generations/short", [lost, *answers[1:]], Generation)
    assert len(items_of(label_source(run), "answer")[1]) == 7


TOWNS = {"Ada": "Paris", "Bo": "Rome", "Cy": "Oslo"}


def test_an_answer_stands_beside_the_passage_that_the_model_was_shown(tmp_path: Path) -> None:
    """With its own passage, without any, and with that of another question."""
    rows = [
        {"question": f"Where does {who} of {town} live?", "gold": town, "entity": who,
         "context": f"{who} has lived in {town} for years."}
        for who, town in TOWNS.items()
    ]  # fmt: skip
    table = tmp_path / "rows.jsonl"
    table.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    asked: dict[str, set[str]] = {}

    def says(request: Request) -> str:
        prompt = request.messages[-1].content
        asked.setdefault(prompt.rpartition("Where does ")[2].partition(" ")[0], set()).add(prompt)
        return "The passage does not say."

    settings = selective.Settings(
        draws=selective.SelectiveDraws(0), known_k=0, words=False, context="twins", resamples=100
    )  # fmt: skip
    run = sayso.run(
        "selective", model=ScriptedEngine(says, name="made"), data=f"file:{table}",
        out=tmp_path / "run", options=settings, report=False,
    ).path  # fmt: skip
    for stage, own in (("short", True), ("other-passage", False)):
        for item, one in shown(run, "answer", stage).items():
            ((title, passage),) = one.passages
            who = next(name for name in TOWNS if name in one.question)
            assert (passage == f"{who} has lived in {TOWNS[who]} for years.") is own
            assert title == ""
            assert any(passage in prompt for prompt in asked[who]), item
    assert {one.passages for one in shown(run, "answer", "without-passage").values()} == {()}
    assert {one.passages for one in shown(answers_run(tmp_path / "bare"), "answer").values()} == {
        ()
    }
    # and in a sheet, where there is any
    with LabelStore.open(run) as store:
        for stage, has in (("other-passage", True), ("without-passage", False)):
            labeling = open_labeling(run, store, LabelChoices(stage=stage))
            sheet = tmp_path / f"{stage}.csv"
            write_sheet_of(labeling, "Ada", sheet)
            head, first = sheet.read_text(encoding="utf-8").splitlines()[:2]
            assert ("passages" in head.split(",")) is has
            assert ("has lived in" in first) is has
