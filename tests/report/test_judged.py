"""What a report says of its judge: cited when it was checked, warned when it was not."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso.checks.judge import judge_check, render_judge
from sayso.checks.model import Check, LeftOut, ModelFinding, render_check
from sayso.judges.reliability import stored
from sayso.judges.rules.judge import SIGNATURE
from sayso.protocols.uncle.report import sheet
from sayso.records import Verdict
from sayso.report import terminal, write
from sayso.report.page import run_pages
from sayso.report.sheet import StoredAnswers, render_sheet
from sayso.storage.run_folder import Manifest, RunFolder
from support.label_runs import answers_run, as_judge, label_run
from support.report_folders import estimates
from support.tables import tabled

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


def printed(found: Manifest, run: RunFolder | None = None) -> str:
    out = io.StringIO()
    shown = sheet(estimates(), found, run)
    render_sheet(shown, Console(file=out, width=80), found, verbose=True)
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


@tabled
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


LEFT = {"left": 60, "left_model": 53, "left_model_of": 60, "left_rules": 57, "left_rules_of": 60}


def test_a_cascade_whose_model_is_worse_than_its_rules_is_warned_of() -> None:
    cascade = manifest("rules+openai:gpt-4o", **CHECKED, **LEFT)
    text = printed(cascade)
    assert (
        "! In the judge's check, on the 60 labeled answers that the rules left to the model, the "
        "model agreed with 53 labels; the rules alone agreed with 57. Use --judge rules, or "
        "another model."
    ) in text
    better = manifest("rules+openai:gpt-4o", **CHECKED, **{**LEFT, "left_model": 57})
    assert terminal.warned(better) == []
    assert "the model agreed with 57 labels; the rules alone agreed with 57." in printed(better)


def test_the_users_labels_say_whether_a_cascade_is_worth_it() -> None:
    theirs = {f"labelled_{name}": number for name, number in LEFT.items()}
    ours = {**LEFT, "left_model": 60}
    assert len(terminal.warned(manifest("rules+openai:x", **CHECKED, **ours, **theirs))) == 1
    theirs["labelled_left_model"] = 58
    assert not terminal.warned(manifest("rules+openai:x", **CHECKED, **LEFT, **theirs))


def test_a_cascade_whose_check_does_not_compare_is_warned_of() -> None:
    (said,) = terminal.warned(manifest("rules+openai:gpt-4o", **CHECKED))
    assert said.startswith("The stored check does not say whether the model decides better")
    assert said.endswith("sayso judge-check rules+openai:gpt-4o")
    assert terminal.warned(manifest("rules+openai:gpt-4o", **CHECKED, left=0)) == []
    assert "never checked" in terminal.warned(manifest("rules+openai:gpt-4o"))[0]


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
    def written(found: Manifest) -> str:
        return run_pages(sheet(estimates(), found), StoredAnswers(), found)["report.html"]

    page = written(manifest(**CHECKED)).replace("\xa0", " ")
    assert "labels on 112 of 120 answers" in page
    page = written(manifest("openai:<b>x</b>"))
    assert "never checked" in page
    assert "<b>x</b>" not in page


def test_the_tables_of_both_commands_hold_hostile_text(tmp_path: Path) -> None:
    out = io.StringIO()
    console = Console(file=out, width=80)
    check = Check(
        model="m", identity="api:m", signature=HOSTILE, fingerprint=None,
        findings=(ModelFinding("a", "no", HOSTILE),), left_out=(LeftOut("x", HOSTILE),), requests=1,
        failed=0, prompt_tokens=1, completion_tokens=1, dollars=None, notices=(HOSTILE,),
    )  # fmt: skip
    render_check(check, console)
    judged = judge_check("rules", limit=2, cache=tmp_path)
    ours = msgspec.structs.replace(judged.ours, name=HOSTILE, problems={HOSTILE: 1})
    hostile = msgspec.structs.replace(judged, signature=HOSTILE, ours=ours)
    render_judge(hostile, None, console)
    render_judge(hostile, "/a/file", console, verbose=True)
    text = out.getvalue()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text
    assert "not stored" in text
    assert "/a/file" in text


# ---- how well the judge sees doubt, beside the numbers


def test_the_numbers_say_how_well_their_doubt_was_read() -> None:
    rules = msgspec.convert(
        {"judge": "rules", "judge_signature": SIGNATURE, "model": "hf:Qwen/Qwen2.5-0.5B"}, Manifest
    )
    text = printed(rules)
    assert f"Doubt in short answers: {SIGNATURE} sees" in text
    assert "short answers by small models" in text
    # few paragraphs by small models voice doubt, and those by others say nothing of them
    assert f"How well {SIGNATURE} sees doubt in paragraphs is not known" in text
    assert "sampling error only" in text
    assert "To measure that on answers of this run: sayso label RUN" in text


def test_labels_of_the_run_say_how_well_its_doubt_was_read(tmp_path: Path) -> None:
    """On the page and in the terminal, for a judge whose errors are known or not."""
    folder = answers_run(tmp_path / "my runs", 120)
    sayso.measure(folder)
    run = RunFolder.open(folder)
    unknown = msgspec.convert({"judge": "openai:gpt-4o", "judge_signature": "gpt#p9"}, Manifest)
    rules = msgspec.convert({"judge": "rules", "judge_signature": SIGNATURE}, Manifest)
    before = printed(unknown, run)
    assert "How well gpt#p9 sees doubt in answers like these is not known" in before
    assert f"To measure that on answers of this run: sayso label '{folder}'" in before

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        if number % 4 == 0:
            return {"stance": "hedged", "content": "correct"}
        return as_judge(number, read, name)

    label_run(folder, "A", says, n=60)
    sayso.correct(folder)
    for found in (unknown, rules):
        text = printed(found, run)
        assert "sayso label" not in text.replace("(sayso label)", "")
        assert f"with people's labels: sayso agreement '{folder}'" in text
    write(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "A labeled up to 60 of the 120" in page.replace("\xa0", " ")
    assert "sayso agreement" in page
    assert "label RUN" not in page


def test_a_judge_whose_errors_nobody_counted_is_called_so() -> None:
    for judge, signature in (("openai:gpt-4o", "gpt-4o#p9c1"), ("rules+hf:x", "rules@7+c1#p9")):
        found = msgspec.convert({"judge": judge, "judge_signature": signature}, Manifest)
        text = printed(found)
        assert f"How well {signature} sees doubt in answers like these is not known" in text
        assert "sayso label RUN" in text
    # the figures of today's reader are not those of an older one
    older = msgspec.convert({"judge": "rules", "judge_signature": "rules@4"}, Manifest)
    assert "How well rules@4 sees doubt in short answers is not known" in printed(older)
    for nobody in (Manifest(), msgspec.convert({"judge": "people"}, Manifest)):
        assert "sampling error only: they" not in printed(nobody)
