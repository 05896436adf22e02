"""Every table and figure of the four papers has its place, and nothing else has its number."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sayso
from sayso import cli
from sayso.protocols.protocol import OURS
from sayso.records import Generation, Question
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import layout_tables, layouts
from sayso.studies.results import of_folders

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
#: paper -> its tables and figures by number, each with words of what it shows there; "" where no
#: layout of runs can show it, so that docs/papers.md has another command or says why
PAPERS: dict[str, dict[str, str]] = {
    "uncle": {
        "Figure 1": "", "Figure 2": "", "Table 1": "", "Table 2": "matrix known unknown",
        "Table 3": "rates model", "Table 4": "rates method", "Figure 3": "short long method",
        "Figure 4": "", "Table 5": "benchmark entities", "Table 6": "",
        "Figure 5": "short long model",
    },
    "faithfulness": {
        "Figure 1": "examples answer", "Figure 2": "people hedges", "Table 1": "cmfg method model",
        "Figure 3": "accuracy confidence decisiveness model", "Table 2": "",
    },
    "selective": {
        "Figure 1": "auroc score", "Table 1": "agreement metrics", "Figure 2": "words reference",
        "Figure 3": "rouge", "Figure 4": "squad", "Figure 5": "bertscore",
    },
    "self-known": {
        "Figure 1": "supported unsupported irrelevant", "Figure 2": "self-known self-unknown flips",
        "Figure 3": "equation 3 labels", "Table 1": "claims answered",
        "Figure 4": "factuality unsupported sk su model", "Figure 5": "number unsupported model",
        "Figure 6": "passages", "Table 2": "example retrieval", "Figure 7": "who checked",
        "Figure 8": "figure 1", "Figure 9": "figure 2",
    },
}  # fmt: skip
SECTIONS = dict(
    zip(PAPERS, ("## UNCLE", "## Faithfully", "## Uncertainty scores", "## Self-knowledge"),
        strict=True)
)  # fmt: skip
NUMBERED = re.compile(r"(.+)-(figure|table)(\d+)$")


def section(paper: str) -> str:
    return PAGE.split(SECTIONS[paper])[1].split("\n## ")[0]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_has_a_layout_with_its_content_or_a_line(paper: str) -> None:
    for number, words in PAPERS[paper].items():
        name = f"{paper}-{number.lower().replace(' ', '')}"
        assert re.search(rf"\| {number}\b", section(paper)), f"{paper} {number} is on no line"
        if not words:
            assert name not in layouts(), name
            continue
        _, layout = layouts()[name]
        assert layout.reference.endswith(f", {number}")
        lacking = [word for word in words.split() if word not in layout.title.lower()]
        assert not lacking, f"{name}: {layout.title!r} lacks {lacking}"
        assert f"`--layout {name}`" in section(paper)


def test_nothing_else_has_a_number_and_what_is_ours_says_so() -> None:
    for name, (_, layout) in layouts().items():
        match = NUMBERED.match(name)
        if match:
            assert f"{match[2].title()} {match[3]}" in PAPERS[match[1]]
        else:
            assert layout.reference.startswith(OURS), name


def test_a_tool_beside_people_on_the_same_texts(tmp_path: Path) -> None:
    """Figure 7: one run of texts that people labeled, one whose claims are found and checked."""
    sayso.run("self_known", limit=4, out=tmp_path / "own", report=False,
                    settings={"modes": "none"})  # fmt: skip
    own = RunFolder.open(tmp_path / "own")
    asked = {q.id: q.entity for q in own.read("questions", Question)}
    texts = [g for g in own.read("generations/long", Generation) if g.method == "plain"]
    rows = []
    for g in texts:
        topic = asked[g.question]
        facts = [
            {"text": f"{part.strip()}.", "label": "S" if n % 2 else "NS"}
            for n, part in enumerate(g.text.split(".")) if part.strip()
        ]  # fmt: skip
        sentences = [
            {"text": fact["text"], "is-relevant": True, "human-atomic-facts": [fact]}
            for fact in facts
        ]
        rows.append({"topic": topic, "input": "Tell", "output": g.text, "annotations": sentences})
    people, bare = tmp_path / "people.jsonl", tmp_path / "bare.jsonl"
    people.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:  # null would mean that the system did not answer
        del row["annotations"]
    bare.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for file in (people, bare):
        argv = ["run", "self_known", "--answers", str(file), "--set", "modes=none"]
        source = "builtin" if file == bare else "none"
        argv += ["--knowledge", source, "--out", str(tmp_path / "runs" / file.stem)]
        assert cli.execute(argv) == 0
    study = of_folders([tmp_path / "runs" / "people", tmp_path / "runs" / "bare"], resamples=100)
    tables = layout_tables(study, "self-known-figure7")
    assert len(tables) >= 2
