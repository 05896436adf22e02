"""Steps of self_known by models of their own: one splits, one checks, one writes questions."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.cli import execute
from sayso.records import InputError
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint

#: own prompts with a header, whose replies are one word or one line
PROMPTS = {
    "support": "---\nreply: word\nlabels: yes = supported, no = not supported\n---\n"
    "CHECK {claim} {passages}",
    "claim_question": "---\nreply: question#answer\n---\nASK {claim}",
}


def asked_by_step(folder: Path, sent: list[dict[str, Any]], **settings: object) -> sayso.Result:
    (folder / "mine").mkdir(exist_ok=True)
    for name, text in PROMPTS.items():
        (folder / "mine" / f"{name}.txt").write_text(text, encoding="utf-8")
    rows = [{"question": f"Where was Ada {n} born?", "gold": "Ripley"} for n in range(2)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def say(body: dict[str, Any]) -> str:
        sent.append(body)
        text = str(body["messages"][-1]["content"])
        if "CHECK" in text:
            return "yes"
        return "Where was Ada born?#Ripley" if "ASK" in text else "Ada was born in Ripley."

    with endpoint(say) as url:
        named = {name: f"{url}#{model}" for name, model in settings.items()}
        return sayso.run(
            "self_known", model=f"{url}#asked", data=f"file:{folder / 'q.jsonl'}",
            out=folder / "run", cache=folder / "cache", judge_price="1,1", price="1,1",
            settings={"modes": "qa", "prompt_folder": str(folder / "mine"), "claims": "rules",
                      "resamples": 100, **named},
            report=False,
        )  # fmt: skip


def test_each_step_asks_its_own_model(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    result = asked_by_step(tmp_path, sent, support="checks", questions="asks")
    texts: dict[str, list[str]] = defaultdict(list)
    for body in sent:
        texts[body["model"]].append(str(body["messages"][-1]["content"]))
    assert set(texts) == {"asked", "checks", "asks"}
    assert all("CHECK" in text for text in texts["checks"])
    assert all("ASK" in text for text in texts["asks"])
    assert not any("CHECK" in text or "ASK" in text for text in texts["asked"])
    parts = dict(next(e for e in result.estimates if e.name == "factscore").signature)
    assert "#checks" in parts["asked_by"]
    assert "#asks" in parts["self_asked"]
    assert sum("price of http" in notice for notice in result.manifest.notices) == 2
    # another model for a step is another run
    with pytest.raises(InputError, match=r"support .*choose another --out"):
        asked_by_step(tmp_path, sent, support="other", questions="asks")


def test_a_word_that_is_no_model_is_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "self_known", "--model", "builtin", "--limit", "1"]
    assert execute([*command, "--claims", "juge", "--out", str(tmp_path / "run")]) == 2
    (error,) = (
        one for one in capsys.readouterr().err.splitlines() if one.startswith("sayso: claims")
    )
    assert "claims is 'juge'" in error
    assert "did you mean judge?" in error
    assert not (tmp_path / "run").exists()


def test_a_dry_run_names_the_models_of_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "self_known", "--model", "builtin", "--limit", "1", "--dry-run"]
    command += ["--claims", "openai:splits", "--judge-price", "1,2", "--out", str(tmp_path / "run")]
    assert execute(command) == 0
    assert "openai:splits" in capsys.readouterr().out


def test_texts_on_record_are_split_by_the_model_that_is_named(tmp_path: Path) -> None:
    rows = [{"topic": "Ada", "text": "Ada was born in Ripley."}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    passages = [{"title": "Ada", "text": "Ada was born in Ripley."}]
    (tmp_path / "k.jsonl").write_text("\n".join(map(json.dumps, passages)), encoding="utf-8")
    sent: list[dict[str, Any]] = []

    def say(body: dict[str, Any]) -> str:
        sent.append(body)
        return "yes"

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "support.txt").write_text(PROMPTS["support"], encoding="utf-8")
    with endpoint(say) as url:
        command = ["run", "self_known", "--answers", str(tmp_path / "t.jsonl")]
        command += ["--knowledge", str(tmp_path / "k.jsonl"), "--support", f"{url}#checks"]
        command += ["--prompt-folder", str(tmp_path / "mine"), "--out", str(tmp_path / "run")]
        assert execute([*command, "--cache", str(tmp_path / "cache")]) == 0
    assert {body["model"] for body in sent} == {"checks"}
    notices = RunFolder.open(tmp_path / "run").read_manifest().notices
    assert any("#checks" in notice for notice in notices)
