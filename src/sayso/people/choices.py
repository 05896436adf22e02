"""What can be chosen of a labeling: the flags of ``sayso label`` that decide who labels what."""

from __future__ import annotations

import dataclasses
from typing import Literal

from sayso.options import option


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelChoices:
    """What is labeled and how it is drawn; ``None``: as before, or the default."""

    kind: Literal["answer", "aspect", "claim", "pair", "sureness"] | None = option(
        None,
        "what to label: short answers, aspects of paragraphs, claims beside evidence, pairs of "
        "answers that may contradict, how sure a sentence sounds; default: claims or short answers",
        main=True,
    )
    stage: str = option(
        "", "table of the judge's verdicts, such as methods-short; default: main", main=True
    )
    method: str = option(
        "",
        "prompting method whose answers are labeled, or all; default: the one that the main "
        "numbers are of",
        main=True,
    )
    design: Literal["stratified", "random", "certainty"] | None = option(
        None,
        "how items are drawn: by what was known and what the judge read, at random, or more of "
        "those that the judge is unsure of; default: stratified, or as before",
        main=True,
    )
    n: int = option(100, "number of items for each annotator", main=True)
    shared: int | None = option(
        None,
        "how many of them every annotator gets, to measure how well people agree; default: 0, or "
        "as before",
        main=True,
    )
    seed: int | None = option(None, "seed of the draw; default: 0, or as before", main=True)
    force: bool = option(
        False,
        "replace a file that exists; or draw other items where people labeled some",
        main=True,
    )
