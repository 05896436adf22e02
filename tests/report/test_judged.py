"""What a report says of its judge: cited when it was checked, warned when it was not."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from sayso.checks.judge import JudgeTables, judge_check, render_judge
from sayso.checks.model import Check, LeftOut, ModelFinding, render_check
from sayso.judges.reliability import stored
from sayso.protocols.uncle.report import render
from sayso.report import terminal
from sayso.storage.run_folder import Manifest
from support.report_folders import estimates

HOSTILE = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] \u202eevil \ud800"
CHECKED = {
    "checked": "2026-11-21T11:52:59+00:00",
    "aspects": 124,
    "unread": 4,
    "agreed": 112,
    "of": 120,
    "low": 0.8727,
    "high": 0.9708,
    "kappa": 0.912,
    "injections": 12,
    "injections_changed": 0,
}


def manifest(judge: str = "openai:gpt-4o", **check: object) -> Manifest:
    signature = "gpt-4o#p9c1" if judge != "rules" else "rules@1"
    return msgspec.convert(
        {"judge": judge, "judge_signature": signature, "judge_check": check}, Manifest
    )


def printed(found: Manifest) -> str:
    out = io.StringIO()
    render(estimates(), Console(file=out, width=80), found)
    return " ".join(out.getvalue().split())


def test_a_checked_judge_is_cited() -> None:
    text = printed(manifest(**CHECKED))
    assert (
        "The judge gpt-4o#p9c1 agreed with sayso's labels on 112 of 120 answers (93 %, 95 % range "
        "87–97 %), kappa of the stance 0.91; 4 of 124 verdicts were unreadable; 0 of 12 injections "
        "changed its verdict. Checked on 2026-11-21."
    ) in text
    assert "never checked" not in text


def test_a_model_that_was_never_checked_is_warned_of() -> None:
    assert (
        "! This judge was never checked. To check it: sayso judge-check openai:gpt-4o"
        in printed(manifest())
    )
    assert "never checked" not in printed(manifest("rules"))
    assert "never checked" not in printed(Manifest())


@pytest.mark.parametrize(
    ("signature", "flags"),
    [
        ("gpt-4o#p9c1f", ""),
        ("gpt-4o#p9c1f+json+own-family", ""),
        ("gpt-4o#p9c1f+entity+two_pass", " --judge-batch entity --judge-mode two_pass"),
        (
            "rules@2+c1+uncle+aspect#p9c1f+uncle+aspect",
            " --judge-labels uncle --judge-batch aspect",
        ),
        ("uncle+entity#p9c1f", ""),  # the name of a model
    ],
)
def test_the_command_checks_the_judge_that_was_used(signature: str, flags: str) -> None:
    found = msgspec.structs.replace(manifest(), judge_signature=signature)
    assert terminal.warned(found) == [
        f"This judge was never checked. To check it: sayso judge-check openai:gpt-4o{flags}"
    ]
    found = msgspec.structs.replace(found, settings={"prompt_folder": "my prompts"})
    assert terminal.warned(found)[0].endswith(f"gpt-4o{flags} --prompt-folder 'my prompts'")


def test_a_check_that_cannot_be_read_is_said() -> None:
    text = printed(manifest(problem="the stored check cannot be read (truncated)"))
    assert "cannot be read (truncated)). To check it: sayso judge-check openai:gpt-4o" in text


def test_a_judge_that_was_talked_over_is_warned_of() -> None:
    found = manifest(**{**CHECKED, "injections_changed": 3})
    assert "! In its check, 3 of 12 instructions hidden in answers changed" in printed(found)
    rules = manifest("rules", **{**CHECKED, "injections_changed": 1})
    assert terminal.warned(rules)[0].startswith("In its check, 1 of 12")


def test_labels_of_the_user_are_cited_too() -> None:
    mine = {"labelled": "mine.jsonl", "labelled_agreed": 45, "labelled_of": 50}
    lines = terminal.judge_sentences(manifest(**CHECKED, **mine))
    assert lines[1] == "With the labels of mine.jsonl it agreed on 45 of 50 answers (90 %)."


@pytest.mark.parametrize("check", [{"agreed": 0, "of": 0}, {"agreed": None}, {"kappa": "x"}])
def test_half_a_check_is_no_reason_to_stop(check: dict[str, object]) -> None:
    text = printed(manifest(**check))
    assert "None" not in text
    assert "nan" not in text


def test_hostile_names_are_harmless() -> None:
    text = printed(manifest(f"openai:{HOSTILE}", **CHECKED, labelled=HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_real_check_is_cited(tmp_path: Path) -> None:
    found = judge_check("rules", cache=tmp_path)
    text = printed(manifest("rules", **(stored(found.signature, tmp_path) or {})))
    assert f"{found.ours.agreed.count} of 124 answers" in text


def test_the_page_cites_the_check(tmp_path: Path) -> None:
    from sayso.protocols.uncle.report import context
    from sayso.report.answers import Tables, cards
    from sayso.report.page import with_answers

    tables = Tables(k=5, questions=[], probe=[], short=[], long=[], verdicts=[])

    def written(found: Manifest) -> str:
        own = context(found, estimates(), tables)
        return with_answers("sayso.protocols.uncle", found, cards(tables), own)["report.html"]

    page = written(manifest(**CHECKED)).replace("\xa0", " ")
    assert "labels on 112 of 120 answers" in page
    page = written(manifest("openai:<b>x</b>"))
    assert "never checked" in page
    assert "<b>x</b>" not in page


def test_the_tables_of_both_commands_hold_hostile_text() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80)
    check = Check(
        model="m", identity="api:m", signature=HOSTILE, fingerprint=None,
        findings=(ModelFinding("a", "no", HOSTILE),), left_out=(LeftOut("x", HOSTILE),), requests=1,
        failed=0, prompt_tokens=1, completion_tokens=1, dollars=None, notices=(HOSTILE,),
    )  # fmt: skip
    render_check(check, console)
    tables = JudgeTables([HOSTILE], [(HOSTILE, ("b",), [(HOSTILE, "1")])], [HOSTILE], [HOSTILE])
    render_judge(tables, None, console)
    render_judge(tables, "/a/file", console)
    text = out.getvalue()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text
    assert "not stored" in text
    assert "/a/file" in text
