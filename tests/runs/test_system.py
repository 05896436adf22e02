"""A system prompt: in every request to the model that is measured, and in no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.cli import execute
from sayso.options import AskingOptions
from sayso.prompts import LONGEST_SYSTEM
from sayso.records import Generation, InputError, Message, Request, ask, request_key
from sayso.runs.asking import request_shaper
from sayso.runs.job import check, job_of
from sayso.storage.run_folder import RunFolder
from sayso.storage.yaml_file import read_yaml
from sayso.studies.grid import read_grid
from sayso.train.base import open_base_run
from support.endpoint import endpoint
from support.scripted import ScriptedEngine

BOT = "You are <script>Ask Ada</script>, a careful bot."
FIRST = Message("system", BOT)


def data(folder: Path) -> str:
    rows = [{"question": f"Where was Ada {n} born?", "gold": "Ripley"} for n in range(3)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return f"file:{folder / 'q.jsonl'}"


def said(request: Request) -> str:
    number = request.sample % 3 or ""
    return f"Ada was born in Ripley {number}. She was a baker."


def run(folder: Path, name: str, protocol: str = "uncle", **given: Any) -> sayso.Result:
    return sayso.run(
        protocol, data=data(folder), out=folder / name, cache=folder / "cache", **given
    )  # fmt: skip


def test_a_request_gets_it_once_and_keeps_its_key_without_one() -> None:
    plain = ask("Who?", max_tokens=100)
    shape = request_shaper(AskingOptions(thinking="64", system=BOT))
    shaped = shape(plain)
    assert shaped.messages == (FIRST, *plain.messages)
    assert shaped.max_tokens == 164
    assert shape(shaped) == shaped
    assert request_key(request_shaper(AskingOptions())(plain), "m") == request_key(plain, "m")


SETTINGS: dict[str, dict[str, object]] = {
    "uncle": {"probe.k": 2},
    "faithfulness": {"methods": "vanilla,self_refine", "draws.k": 5},
    "selective": {"draws.k": 2, "elicit": True, "nli": "rules"},
    "self_known": {"knowledge": "golds", "retrieval": True, "remedy": "revise", "draws.k": 1},
}


@pytest.mark.parametrize("protocol", SETTINGS)
def test_whatever_the_model_is_asked_begins_with_it(tmp_path: Path, protocol: str) -> None:
    model = ScriptedEngine(said, "asked", logprob=-1.0)
    result = run(tmp_path, "run", protocol, model=model, system=BOT, settings=SETTINGS[protocol])
    assert result.estimates
    sent = [*model.requests, *(request for request, _ in model.forced)]
    assert bool(model.forced) == (protocol in ("selective", "self_known"))
    assert {request.messages[0] for request in sent} == {FIRST}
    # questions about an answer quote what was asked, and not what the bot was told
    assert not any(BOT in m.content for request in sent for m in request.messages[1:])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert " It was asked with a system prompt.</p>" in page
    assert "asked plainly" not in page.lower()


JUDGE = "---\nreply: word\nlabels: 1 = correct, 0 = incorrect\n---\n" + (
    "GRADE {question} {golds} {answer}"
)


def test_an_endpoint_gets_it_as_a_system_message_and_its_judge_does_not(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []

    def say(body: dict[str, Any]) -> str:
        sent.append(body)
        return "1" if body["model"] == "judge" else "Ada was born in Ripley"

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "judge_short.txt").write_text(JUDGE, encoding="utf-8")
    settings = {"probe.k": 1, "prompt_folder": str(tmp_path / "mine")}
    with endpoint(say) as url:
        run(
            tmp_path, "run", model=f"{url}#asked", judge=f"{url}#judge", system=BOT,
            settings=settings,
        )  # fmt: skip
    begins = {(b["model"], b["messages"][0] == {"role": "system", "content": BOT}) for b in sent}
    assert begins == {("asked", True), ("judge", False)}
    assert all(m["role"] == "user" for b in sent if b["model"] == "judge" for m in b["messages"])


def test_it_is_part_of_the_key_the_folder_the_signature_and_the_page(tmp_path: Path) -> None:
    model = ScriptedEngine(said, "asked")
    run(tmp_path, "plain", model=model)
    asked = len(model.requests)
    told = run(tmp_path, "told", model=model, system=BOT)
    assert len(model.requests) == 2 * asked  # nothing came from the plain run's answers
    run(tmp_path, "again", model=model)
    assert len(model.requests) == 2 * asked  # and those are still in the cache
    assert told.manifest.settings["system"] == BOT
    assert len(dict(told.estimates[0].signature)["system"]) == 8
    again = sayso.measure(tmp_path / "told")
    assert [e.signature for e in again.estimates] == [e.signature for e in told.estimates]
    page = (tmp_path / "told" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;Ask Ada" in page
    assert "<script>Ask Ada" not in page
    with pytest.raises(InputError, match=r"with system .* choose another --out"):
        run(tmp_path, "told", model=model, system="You are another bot.")
    with pytest.raises(InputError, match=r"differ in system .* --allow system"):
        sayso.compare(tmp_path / "plain", tmp_path / "told", resamples=100)
    notes = sayso.compare(tmp_path / "plain", tmp_path / "told", allow=("system",), resamples=100)
    assert any("system" in note for note in notes.notes)
    with pytest.raises(InputError, match="system prompt"):
        open_base_run(tmp_path / "told")


def test_a_model_that_takes_none_says_so_in_one_line(tmp_path: Path) -> None:
    problem = "failed: status 400: System role not supported"
    model = ScriptedEngine(lambda r: Generation(r, problem=problem), "asked")
    with pytest.raises(InputError, match="leave --system out") as error:
        run(tmp_path, "run", model=model, system=BOT)
    assert "\n" not in str(error.value)


# ---- files


def command(folder: Path, *more: str) -> list[str]:
    return [
        *("run", "uncle", "--model", "builtin", "--limit", "1", "--set", "probe.k=1"),
        *("--out", str(folder / "run"), "--set", f"cache={folder / 'cache'}", *more),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b" \n", "is empty"),
        (b"You are \xff", "is no UTF-8 text"),
        (b"x" * (LONGEST_SYSTEM + 1), "is longer than"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_in_one_line(
    tmp_path: Path, content: bytes | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bot.txt"
    if content is not None:
        file.write_bytes(content)
    assert execute(command(tmp_path, "--system", str(file))) == 2
    errors = capsys.readouterr().err.strip()
    assert says in errors
    assert str(file) in errors
    assert "\n" not in errors
    assert not (tmp_path / "run").exists()


def test_the_command_line_a_config_and_a_study_read_a_file(tmp_path: Path) -> None:
    (tmp_path / "bot.txt").write_text(f"\ufeff{BOT}\n", encoding="utf-8")
    assert execute(command(tmp_path, "--system", str(tmp_path / "bot.txt"))) == 0
    manifest = RunFolder.open(tmp_path / "run").read_manifest()
    assert manifest.settings["system"] == BOT
    # a name in a YAML file is that of a file beside it
    (tmp_path / "run.yaml").write_text("system: bot.txt\n", encoding="utf-8")
    assert execute(command(tmp_path, "--config", str(tmp_path / "run.yaml"))) == 0
    (tmp_path / "study.yaml").write_text(
        "models: [builtin, {model: builtin, name: bot, system: bot.txt}]\nprotocols: [uncle]\n",
        encoding="utf-8",
    )
    cells = read_grid(read_yaml(tmp_path / "study.yaml", "study")).cells
    assert [cell.job.system for cell in cells] == ["", BOT]


def test_in_python_a_text_is_the_prompt_and_a_path_its_file(tmp_path: Path) -> None:
    (tmp_path / "bot.txt").write_text(BOT, encoding="utf-8")
    assert job_of(system=BOT).system == job_of(system=tmp_path / "bot.txt").system == BOT
    for name in (str(tmp_path / "bot.txt"), "other.md"):
        with pytest.raises(InputError, match=r"pass Path\("):
            job_of(system=name)
    with pytest.raises(InputError, match="system is 5"):
        check(job_of(system=5))


def test_answers_on_record_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": "Who?", "answer": "Ada.", "gold": "Ada"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "bot.txt").write_text(BOT, encoding="utf-8")
    told = ["--answers", str(tmp_path / "a.jsonl"), "--system", str(tmp_path / "bot.txt")]
    assert execute(["run", "selective", *told, "--out", str(tmp_path / "run")]) == 2
    assert "system applies only if a model is asked" in capsys.readouterr().err
