"""The page shows, per fact, the draws that decide what is known, with what was read in each."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from sayso.protocols.uncle import report
from sayso.records import Generation, Gold, Question, Verdict
from sayso.report.answers import DRAW_CHARACTERS, Tables, cards
from sayso.report.page import answer_tables, run_pages
from sayso.storage.run_folder import RunFolder
from support.report_folders import make_run

ATTACK = "<script>alert(1)</script>\u202e\x1b[31m"


def page_of(folder: RunFolder) -> str:
    manifest = folder.read_manifest()
    answers = report.read_answers(folder, manifest, [])
    return run_pages(report.sheet([], manifest, folder), answers, manifest)["report.html"]


def draws_of(page: str) -> list[str]:
    return re.findall(r'<details class="draws">.*?</details>', page, flags=re.DOTALL)


def test_five_draws_of_every_fact_are_folded_beside_its_answers(tmp_path: Path) -> None:
    page = page_of(make_run(tmp_path / "run", entities=3))
    shown = draws_of(page)
    assert len(shown) == 9  # three entities of three facts
    assert "open" not in re.findall(r"<details class=\"draws\"[^>]*>", page)[0]
    for text in shown:
        assert text.count("<li>") == 5
        assert text.count("<q>") == 5
    # the first fact: no draw is right, by the run's making; of the second one is
    chips = [re.findall(r'class="chip v-(\w+)"', text) for text in shown]
    assert chips[0] == ["incorrect"] * 5
    assert chips[1] == ["correct", *["incorrect"] * 4]
    assert "4 May 1950" in shown[0]
    assert "The 5 draws" in shown[0]


def test_draws_stand_in_the_order_of_their_samples_and_up_to_k(tmp_path: Path) -> None:
    tables = answer_tables(make_run(tmp_path / "run", entities=1), "probe", 3)
    probe = [
        msgspec.structs.replace(g, text=f"draw {g.request.sample}") for g in reversed(tables.probe)
    ]
    (card,) = cards(tables._replace(probe=probe))
    for fact in card.facts:
        texts = ["".join(p.text for p in draw.answer.pieces) for draw in fact.draws]
        assert texts == ["draw 0", "draw 1", "draw 2"]


def test_what_a_draw_wrote_is_data_and_cut(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", entities=1)
    answers = [
        msgspec.structs.replace(g, text=ATTACK + "x" * 5_000, finish="length")
        for g in folder.read("generations/probe", Generation)
    ]
    folder.write("generations/probe", answers, Generation)
    verdicts = [
        Verdict(v.target, v.asked, v.by, problem=f"unread: {ATTACK}")
        for v in folder.read("verdicts/probe", Verdict)
    ]
    folder.write("verdicts/probe", verdicts[:-1], Verdict)
    page = page_of(folder)
    shown = draws_of(page)
    assert len(shown) == 3
    for text in shown:
        assert "<script" not in text
        assert "&lt;script&gt;" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "cut off at the token limit" in text
        assert len(text) < 5 * (DRAW_CHARACTERS + 600)
        assert "more characters" in text
    assert "no verdict was stored" in shown[-1]


def test_facts_without_draws_show_none() -> None:
    assert cards(Tables([], [], [], [], [])) == []
    (card,) = cards(Tables([Question("q", "d", "Who?", (Gold("x"),))], [], [], [], []))
    assert card.facts[0].draws == ()
