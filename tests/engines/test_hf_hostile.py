"""Hostile or broken model folders: one line, in bounded time and memory."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from sayso.engines import open_model  # noqa: E402
from sayso.engines.hf import load, weights  # noqa: E402
from sayso.engines.local import text, trial, watch  # noqa: E402
from sayso.records import InputError, ask  # noqa: E402
from support.tables import tabled  # noqa: E402

NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
DOUBLED = (
    "{% set n = namespace(s='a') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}"
)


@pytest.fixture
def folder(make_folder: Any, tmp_path: Path) -> Path:
    return Path(shutil.copytree(make_folder(), tmp_path / "model"))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SECONDS", 1)
    trial.try_template.cache_clear()


def message(name: str, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        open_model(name, **{"device": "cpu", **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def settings(folder: Path, file: str, **values: object) -> None:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("template", "told"),
    [
        (NESTED, "its chat template takes more than 1 seconds"),
        ("{{ 'a' * 2000000 }}", "its chat template writes 2,000,000 characters for a question"),
        (DOUBLED, "its chat template needs more than 1,024 MB of memory"),
        ("{{ '%3000000000d' % 1 }}", "its chat template needs more than 1,024 MB of memory"),
        ("{# a #}" * 200_000, "its chat template has 1,400,000 characters"),
    ],
)
def test_a_template_that_never_ends_or_fills_the_memory(
    folder: Path, template: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "memory" in told:  # a slow machine needs more than a second to fill it
        monkeypatch.setattr(trial, "SECONDS", 60)
    (folder / "chat_template.jinja").write_text(template)
    for whole in (True, False):  # a dry run renders prompts, too
        assert told in message(f"hf:{folder}", weights=whole)
    (folder / "chat_template.jinja").unlink()
    assert told in message(f"hf:{folder}", chat_template=template)


@tabled
def test_what_else_a_template_does_is_not_told_here(template: str) -> None:
    trial.try_template(template)


def test_a_pattern_that_never_ends(folder: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(folder)
    adapted = peft.get_peft_model(base, peft.LoraConfig(r=2, target_modules=r".*\.q_proj"))
    adapted.save_pretrained(tmp_path / "adapter")
    for file in folder.glob("token*"):
        shutil.copy(file, tmp_path / "adapter")
    open_model(f"hf:{tmp_path / 'adapter'}", device="cpu").close()
    told = "a pattern of its adapter_config.json takes more than 1 seconds"
    slow = r"(([a-z0-9._])+)+!"
    for name, values in (
        ("a", {"target_modules": slow}),
        ("b", {"rank_pattern": {slow: 3}}),
        ("c", {"target_modules": ["q_proj"], "layers_pattern": [slow], "layers_to_transform": [1]}),
    ):
        copy = Path(shutil.copytree(tmp_path / "adapter", tmp_path / name))
        settings(copy, "adapter_config.json", **values)
        assert told in message(f"hf:{copy}")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"num_hidden_layers": 10_000_000}, "num_hidden_layers is 10,000,000: expected at most"),
        ({"vocab_size": 10**12}, "GB, and this machine has"),
        ({"vocab_size": 10**30}, "cannot be opened"),
        ({"hidden_size": "many"}, "hidden_size"),
        ({"num_hidden_layers": -1}, "cannot be opened"),
        ({"head_dim": 0}, "cannot be opened"),
        ({"dtype": []}, "cannot be opened"),
        ({"eos_token_id": ["</s>"]}, "eos_token_id"),
        ({"eos_token_id": {"a": 1}}, "eos_token_id"),
    ],
)
def test_a_config_that_describes_no_model(
    folder: Path, values: dict[str, object], told: str
) -> None:
    settings(folder, "config.json", **values)
    before = time.monotonic()
    assert told in message(f"hf:{folder}")
    assert time.monotonic() - before < 60


@pytest.mark.parametrize("value", ["2", ["</s>"], [0, "a"], {"a": 1}, 1.5, [[2]]])
def test_an_end_of_text_that_is_no_token(folder: Path, value: object) -> None:
    settings(folder, "generation_config.json", eos_token_id=value)
    for whole in (True, False):
        assert "eos_token_id" in message(f"hf:{folder}", weights=whole)


@pytest.mark.parametrize("value", [[], {}, "zz"])
def test_a_length_that_is_no_number(folder: Path, value: object) -> None:
    settings(folder, "tokenizer_config.json", model_max_length=value)
    assert f"{folder} cannot be opened: " in message(f"hf:{folder}")


def test_files_that_are_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "LONG", 3 << 20)
    with (folder / "chat_template.jinja").open("w") as file:
        file.truncate(5 << 20)  # a hole, of no size on disk
    said = message(f"hf:{folder}")
    assert "chat_template.jinja has 5 MB: expected at most 3 MB" in said
    (folder / "chat_template.jinja").unlink()
    (folder / "config.json").write_text("[" * 100_000)
    assert "cannot be read" in message(f"hf:{folder}")


def test_a_model_larger_than_the_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "main_memory", lambda: 10_000)
    assert "this machine has 0.0 GB of memory" in message(f"hf:{folder}")
    open_model(f"hf:{folder}", device="cpu", weights=False)  # it may be computed elsewhere


#: passes the trial, and never ends for other questions
PICKY = (
    "{% if messages[0]['content'] != 'What is the capital of France?' and messages|length == 1 %}"
    + NESTED
    + "{% endif %}{{ messages[0]['content'] }}"
)


def test_a_template_that_never_ends_for_one_question_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "RENDER_SECONDS", 1)
    (folder / "chat_template.jinja").write_text(PICKY)
    engine = open_model(f"hf:{folder}", device="cpu")
    list(engine.complete([ask("What is the capital of France?", max_tokens=1)]))
    with pytest.raises(InputError, match="takes more than 1 seconds for 'Who was it") as told:
        list(engine.complete([ask("Who was it?", max_tokens=1)]))
    engine.close()
    assert str(folder) in str(told.value)


def test_what_ends_in_time_is_left_alone() -> None:
    def endless() -> None:
        while True:
            pass

    assert watch.in_time(0.1, lambda: time.sleep(0.01) or 7) == 7
    with pytest.raises(watch.TooSlowError):
        watch.in_time(0.1, endless)
    assert watch.in_time(30, lambda: sum(range(1000))) == 499_500
    time.sleep(3 * watch.LOOK)  # nothing is raised later
