"""What can be chosen of a labeling: the flags of ``sayso label`` that decide who labels what."""

from __future__ import annotations

import dataclasses
from typing import Literal

from sayso.options import flag


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelChoices:
    """What is labeled and how it is drawn; ``None``: as before, or the default."""

    kind: Literal["answer", "aspect", "claim", "pair", "sureness"] | None = flag(
        None,
        "what to label: short answers, aspects of paragraphs, claims beside evidence, pairs of "
        "answers that may contradict, how sure a sentence sounds; default: claims or short answers",
    )
    stage: str = flag("", "table of the judge's verdicts, such as methods-short; default: main")
    method: str = flag(
        "",
        "prompting method whose answers are labeled, or all; default: the one that the main "
        "numbers are of",
    )
    design: Literal["stratified", "random", "certainty"] | None = flag(
        None,
        "how items are drawn: by what was known and what the judge read, at random, or more of "
        "those that the judge is unsure of; default: stratified, or as before",
    )
    n: int = flag(100, "number of items for each annotator")
    shared: int | None = flag(
        None,
        "how many of them every annotator gets, to measure how well people agree; default: 0, or "
        "as before",
    )
    seed: int | None = flag(None, "seed of the draw; default: 0, or as before")
    force: bool = flag(
        False,
        "replace a file that exists; or draw other items where people labeled some",
    )
