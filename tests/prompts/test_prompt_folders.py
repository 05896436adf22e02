"""A folder of a paper's prompts in whole runs: sent byte by byte, and no file of it unused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.cli import execute
from sayso.prompts import EXAMPLE, check_folder, load_prompt
from sayso.protocols import PROTOCOLS
from sayso.records import InputError
from sayso.runs.job import check, job_of, prompt_uses_of, unused_prompts, with_settings
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint
from support.tables import tabled


def written(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def checked(folder: Path, protocol: str, judge: str = "rules", **settings: object) -> None:
    job = job_of(protocol=protocol, model="builtin", judge=judge)
    check(with_settings(job, {**settings, "prompt_folder": str(folder)}))


def unsent(folder: Path, protocol: str, judge: str = "rules", **settings: object) -> str:
    job = job_of(protocol=protocol, model="builtin", judge=judge)
    job = with_settings(job, {**settings, "prompt_folder": str(folder)})
    check(job)
    return " ".join(unused_prompts(job))


@tabled
def test_a_file_that_these_settings_never_send_is_noted_with_the_flag_that_sends_it(
    tmp_path: Path, protocol: str, name: str, says: str, needs: dict[str, object]
) -> None:
    folder = written(tmp_path / "mine", **{name: load_prompt(name)})
    assert re.search(f"does not send {name}.txt .*{says}", unsent(folder, protocol))
    assert not unsent(folder, protocol, **needs)


def test_a_mark_of_the_byte_order_is_no_text_of_a_prompt(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", plain_question="\ufeff{question}")
    assert load_prompt("plain_question", folder) == "{question}"


def test_a_judges_file_needs_a_model(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", judge_short=load_prompt("judge_short"))
    assert "judge_short.txt (for --judge MODEL)" in unsent(folder, "uncle")
    assert not unsent(folder, "uncle", judge="openai:gpt-4o")
    written(folder, judge_uncle=load_prompt("judge_uncle"))
    assert "judge_uncle.txt (for --set judge_labels=uncle" in unsent(
        folder, "uncle", "openai:gpt-4o"
    )


def test_one_folder_serves_several_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("self_direct", "rows_facts", "uncle_short_instruction")
    folder = written(tmp_path / "mine", **{name: load_prompt(name) for name in names})
    told = unsent(folder, "uncle")
    assert "self_direct.txt (for sayso run self_known)" in told
    assert "rows_facts.txt (for another command)" in told
    assert "uncle_short" not in told
    command = ["run", "uncle", "--model", "builtin", "--limit", "1", "--probe.k", "1"]
    command += ["--prompt-folder", str(folder), "--cache", str(tmp_path / "cache")]
    assert execute([*command, "--dry-run"]) == 0
    assert "self_direct.txt" in capsys.readouterr().out
    assert execute([*command, "--out", str(tmp_path / "run")]) == 0
    assert "self_direct.txt" in capsys.readouterr().err
    notices = RunFolder.open(tmp_path / "run").read_manifest().notices
    assert sum("self_direct.txt" in notice for notice in notices) == 1
    written(folder, self_dirct="Is it true?")
    assert execute([*command, "--out", str(tmp_path / "other")]) == 2
    assert "did you mean self_direct?" in capsys.readouterr().err


def test_a_file_with_another_ending_is_no_silent_example(tmp_path: Path) -> None:
    (tmp_path / "self_open.md").write_text("Of {topic}.", encoding="utf-8")
    with pytest.raises(InputError, match=r"self_open.md: is not read; name it self_open.txt"):
        check_folder(tmp_path)


def test_a_prompt_of_topics_is_noted_where_the_data_ask_for_facts(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", self_open="Tell me of {topic}.")
    result = sayso.run(
        "self_known", model="builtin", limit=1, out=tmp_path / "run", cache=tmp_path / "cache",
        settings={"prompt_folder": str(folder), "modes": "none"}, report=False,
    )  # fmt: skip
    assert any(re.search("self_open.txt.*--set ask=open", one) for one in result.manifest.notices)


def test_prompts_that_are_not_sent_do_not_sign_a_run() -> None:
    plan = PROTOCOLS["self_known"]
    held = plan.prompts(plan.Settings(modes="direct", ask="item"))
    assert set(held) == {"signature", "self_known_self_direct"}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_new_folder_changes_nothing_until_a_file_is_renamed(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert execute(["prompts", "new", str(folder), "--for", name]) == 0
    held = {file.name.removesuffix(EXAMPLE) for file in folder.glob(f"*{EXAMPLE}")}
    job = job_of(protocol=name, model="builtin", judge="openai:gpt-4o")
    assert held == set(prompt_uses_of(job))
    checked(folder, name)
    read_me = (folder / "README.md").read_text(encoding="utf-8")
    for prompt in held:
        assert load_prompt(prompt, folder) == load_prompt(prompt)
        assert f"| `{prompt}` |" in read_me
        (folder / f"{prompt}{EXAMPLE}").rename(folder / f"{prompt}.txt")
        check_folder(folder)  # what is written can be used
    assert execute(["prompts", "new", str(folder), "--for", name]) == 2
    assert "exists already" in capsys.readouterr().err


# ---- request logs


class Log:
    """An endpoint's log of what it is sent; it answers each prompt in the form that it wants."""

    def __init__(self, *replies: tuple[str, str]) -> None:
        self.replies = replies
        self.sent: list[str] = []

    def reply(self, body: dict[str, Any]) -> str:
        text = str(body["messages"][-1]["content"])
        self.sent.append(text)
        number = body.get("seed", 0) % 5 or ""  # draws that differ are compared
        town = f"Ada was born in Ripley {number}"
        return next((said for part, said in self.replies if part in text), town)

    def holds(self, file: Path) -> bool:
        """Whether a text of the log is a file's, with something in each of its places."""
        text = file.read_text(encoding="utf-8")
        body = text.split("---\n", 2)[2] if text.startswith("---\n") else text
        pieces = re.split(r"\{[a-z_]+\}", body.strip())
        end = r"\Z" if len(pieces) > 1 else ""  # an instruction stands before its question
        shape = re.compile(".+?".join(re.escape(p.strip("\n")) for p in pieces) + end, re.S)
        return any(shape.search(text) for text in self.sent)


JUDGED = (
    "---\nreply: word\nlabels: 1 = correct, 0 = incorrect\n---\nGRADE.\nTrue:  {golds}\n\nNew: "
)
FOLDERS: dict[str, tuple[dict[str, str], dict[str, object]]] = {
    "uncle": (
        {
            "uncle_short_instruction": "Say  if you doubt.\n\nQ: {question}\nA:",
            "judge_short": JUDGED + "{question} -> {answer}\tVerdict:",
        },
        {"probe.k": 1},
    ),
    "faithfulness": (
        {
            "method_uncertainty": "Hedge  where unsure.\nQuestion: {question}\nAnswer:",
            "decisive": "---\nreply: assertions 0 to 1\nlabels: Claim = assertion, Firm = score\n"
            "---\nEXTRACT.\n\nQ: {question}\nA: {answer}\nClaim:",
            "contradict": "---\nreply: word\nlabels: Yes = yes, No = no\n---\nCOMPARE  {claim}\n"
            "with {sample} for {question}\nAnswer:",
            "judge_short": JUDGED + "{answer}\tVerdict:",
        },
        {"methods": "vanilla,uncertainty", "draws.k": 5},
    ),
    "selective": (
        {
            "selective_sentence": "Be brief,  one sentence.",
            "judge_short": JUDGED + "{answer}\tVerdict:",
        },
        {"prompts": "paper", "draws.k": 1},
    ),
    "self_known": (
        {
            "self_open": "Tell  me of {topic}, please.",
            "self_direct": "Preamble.\n\n{claim}  Is it {options}?",
            "claim_question": "---\nreply: question#answer\n---\nASK.\n\n{claim}\nPair:",
        },
        {"modes": "direct,qa", "claims": "rules", "support": "rules", "knowledge": "none"},
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_the_log_holds_a_papers_prompts_byte_by_byte(tmp_path: Path, name: str) -> None:
    texts, settings = FOLDERS[name]
    folder = written(tmp_path / "mine", **texts)
    rows = [{"question": f"Where was Ada {n} born?", "gold": "Ripley"} for n in range(3)]
    data = "file:" + str(tmp_path / "q.jsonl")
    if name == "self_known":
        rows = [{"topic": f"Ada {n}"} for n in range(3)]
        data = "topics:" + str(tmp_path / "q.jsonl")
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    log = Log(
        ("GRADE.", "1"),
        ("COMPARE", "No"),
        *((f"Ripley {n}", f"Claim: born in Ripley {n}\nFirm: 0.9") for n in range(1, 5)),
        ("EXTRACT.", "Claim: Ada was born in Ripley\nFirm: 0.9"),
        ("ASK.", "Where was Ada born?#Ripley"),
        ("Tell  me", "Ada 1 was born in Ripley. She was a baker."),
    )
    with endpoint(log.reply) as url:
        result = sayso.run(
            name, model=f"{url}#asked", judge=f"{url}#judge", data=data, out=tmp_path / "run",
            cache=tmp_path / "cache", settings={**settings, "prompt_folder": str(folder)},
            report=False,
        )  # fmt: skip
    assert result.estimates
    for file in folder.glob("*.txt"):
        assert log.holds(file), file.stem
