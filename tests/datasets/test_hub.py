"""Every published set is loaded by name from a hub: the real client, a server on the loopback."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hub_stub import Repositories, serving

from sayso import datasets

pytest.importorskip("datasets")
pq = pytest.importorskip("pyarrow.parquet")
import pyarrow as pa  # noqa: E402


def parquet(*rows: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), out)
    return out.getvalue()


def jsonl(*rows: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(header: Sequence[str], *rows: Sequence[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue().encode()


def card(*configs: tuple[str, Mapping[str, str]]) -> bytes:
    """Return a card that says which file is which configuration and split."""
    lines = ["---", "configs:"]
    for name, files in configs:
        lines += [f"- config_name: {name}", "  data_files:"]
        for split, path in files.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    return "\n".join([*lines, "---", ""]).encode()


WRITERS: dict[str, Callable[[Any], bytes]] = {
    "parquet": lambda rows: parquet(*rows),
    "jsonl": lambda rows: jsonl(*rows),
    "csv": lambda rows: table(*rows),
    "card": lambda configs: card(*configs),
    "text": lambda text: text.encode(),
}

#: hub id -> files with the names, splits and columns that the hub has (see each loader)
HUB: dict[str, dict[str, bytes]] = {}
for _line in (Path(__file__).parent / "tables" / "hub.jsonl").read_text("utf-8").splitlines():
    _row = json.loads(_line)
    HUB.setdefault(_row["repository"], {})[_row["path"]] = WRITERS[_row["kind"]](_row["holds"])
#: what a name and a split give: the texts of the questions
EXPECTED = {
    ("uncle", "test"): ["What is the capital of Orm?", "Tell of Orm, with its capital."],
    ("triviaqa", "test"): ["Who wrote Emma?"],
    ("triviaqa", "train"): ["Who wrote Persuasion?", "Who wrote Emma?"],
    ("nq_open", "test"): ["who sang that?"],
    ("nq_open", "train"): ["who sang it?"],
    ("popqa", "test"): ["Who was the director of Orm?"],
    ("squad", "test"): ["Where?"],
    ("squad", "train"): ["Where?", "Who met Bob?"],
    ("squad_v2", "test"): ["Where?", "When?"],
    ("squad_v2", "train"): ["Where?"],
    ("xquad", "test"): ["Where?"],
    ("svamp", "test"): ["How many?"],
    ("simpleqa", "test"): ["Who won?"],
    ("simpleqa_verified", "test"): ["How many?"],
    ("aa_omniscience", "test"): ["Which section?"],
    ("selfaware", "test"): ["Which dog is bigger?", "Where are all the aliens?"],
    ("truthfulqa", "test"): ["Seeds?"],
    ("wildhallucinations", "test"): ["Tell me about Netwrix Auditor.", "Tell me about Zeno."],
    ("longfact", "test"): ["Who is Albert Sabin?", "Who is Max Theiler?"],
}
SCRIPT = """
import json, sys
from sayso import datasets
from sayso.records import InputError
import msgspec
found = {}
for name, split in json.loads(sys.argv[1]):
    try:
        data = datasets.load_dataset(name, split=split, limit=0)
    except InputError as error:
        found[f"{name} {split}"] = str(error)
    else:
        found[f"{name} {split}"] = msgspec.to_builtins(data)
print(json.dumps(found))
"""


def load_from(hub: Repositories, asks: Sequence[tuple[str, str]], home: Path) -> dict[str, Any]:
    """Load names in one process of its own: the hub's client reads its address once."""
    with serving(hub) as (address, asked):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps(asks)],
            env={
                **os.environ, "HF_ENDPOINT": address, "HF_HOME": str(home), "HF_TOKEN": "",
                "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "*",
            },
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "asked": asked}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each name gives."""
    asks = [*EXPECTED, ("abstentionbench", "test"), ("factscore", "test"), ("xquad", "train")]
    return load_from(HUB, asks, tmp_path_factory.mktemp("hub"))


@pytest.mark.parametrize(("name", "split"), EXPECTED, ids=lambda text: str(text))
def test_a_set_comes_from_the_hub_by_its_name(
    name: str, split: str, loaded: dict[str, Any]
) -> None:
    data = loaded[f"{name} {split}"]
    assert not isinstance(data, str), data
    assert sorted(q["text"] for q in data["questions"]) == sorted(EXPECTED[name, split])
    assert data["name"] == name


def test_golds_and_slices_from_the_hub(loaded: dict[str, Any]) -> None:
    def first(name: str) -> Any:
        return loaded[f"{name} test"]["questions"][0]

    assert first("simpleqa")["domain"] == "Science"  # inside metadata, a dictionary as text
    # the range that the authors accept writes the number as well
    assert first("aa_omniscience")["domain"] == "Law"
    assert first("simpleqa_verified")["golds"] == [{"value": "120k", "aliases": ["118k to 122k"]}]
    # each correct answer is right by itself, the best first
    truths = [gold["value"] for gold in first("truthfulqa")["golds"]]
    assert truths == ["They pass", "Nothing happens"]
    asked, unanswerable = loaded["selfaware test"]["questions"]
    assert asked["answerable"] is True
    assert asked["golds"] == [{"value": "cane corso"}]
    assert unanswerable["answerable"] is False
    assert not unanswerable.get("golds")
    assert first("wildhallucinations")["domain"] == "computing, not in Wikipedia"
    assert "golds" not in first("longfact")


def test_a_script_on_the_hub_is_not_run(loaded: dict[str, Any]) -> None:
    told = loaded["abstentionbench test"]
    assert told.startswith("facebook/AbstentionBench could not be loaded from the hub")
    assert "--data abstentionbench:FILE" in told
    assert "\n" not in told


def test_a_set_that_no_hub_has_says_where_it_is(loaded: dict[str, Any]) -> None:
    assert "factscore:prompt_entities.txt" in loaded["factscore test"]
    assert "split 'train': google/xquad has test, dev" in loaded["xquad train"]


def test_every_name_was_tried(loaded: dict[str, Any]) -> None:
    tried = {key.split()[0] for key in loaded}
    assert set(datasets.LOADERS) - tried == {"builtin", "world", "world-50"}
    assert any("/resolve/" in path for path in loaded["asked"])


def test_what_the_hub_has_not_or_has_broken_is_one_line(tmp_path: Path) -> None:
    broken: Repositories = {
        "rajpurkar/squad": {"p/validation-00000-of-00001.parquet": b"PAR1 no parquet at all"},
        "basicv8vc/SimpleQA": {"test.csv": b'problem,answer\n"who?\n'},
        "google/xquad": {"README.md": card(("xquad.ar", {"validation": "xquad.ar/v-*"}))},
        "JesusCrist/selfAware": {"train.jsonl": b"{no json"},
        "rhyang2021/UNCLE": {"data.jsonl": b"{no json"},
        "ChilleD/SVAMP": {"test.jsonl": jsonl({"ID": "b", "Question": "How many?"})},
        "claserken/longfact": {"README.md": b"nothing else"},
    }
    names = ["squad", "simpleqa", "xquad", "selfaware", "uncle", "svamp", "longfact", "truthfulqa"]
    found = load_from(broken, [(name, "test") for name in names], tmp_path)
    for name in names:
        told = found[f"{name} test"]
        assert isinstance(told, str), name
        assert "\n" not in told
        assert "Traceback" not in told
    assert "truthfulqa/truthful_qa could not be loaded from the hub" in found["truthfulqa test"]
    for name in ("squad", "simpleqa", "xquad", "uncle"):  # each says its own name
        assert f"name it: --data {name}:FILE" in found[f"{name} test"]
    assert "name it: --data truthfulqa:TruthfulQA.csv" in found["truthfulqa test"]
    assert "ChilleD/SVAMP line 1: expected a number" in found["svamp test"]
