"""Options of a run as keywords that a type checker knows, made from ``sayso/options.py``.

A changed option is written here by ``cd tests && ../.venv/bin/python -m support.keywords``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypedDict

from sayso.options import Batch, Labels, Mode, PromptSet, Scalar


class ModelKeywords(TypedDict, total=False):
    """Keywords for how a model is opened."""

    device: str | None
    dtype: str | None
    batch_size: int | None
    revision: str | None
    end_loops: bool | None
    concurrency: int | None
    timeout: float | None
    patience: float | None
    model_version: str | None


class RunKeywords(ModelKeywords, total=False):
    """Keywords of :func:`sayso.run` for all options."""

    thinking: str | int
    chat_template_kwargs: str | Mapping[str, Scalar] | None
    system: str | PathLike[str]
    max_cost: float | None
    price: str | None
    batch_files: bool
    cache: str | PathLike[str] | None
    fresh: bool
    stale_ok: bool
    judge_batch: Batch
    judge_mode: Mode
    judge_labels: Labels
    judge_prompt: PromptSet
    judge_price: str | None
    judge_device: str | None
    judge_dtype: str | None
    judge_batch_size: int | None
    judge_anyway: bool
    jobs: int | None
    limit: int | None
    seed: int
    split: str
    domains: str | Sequence[str]
    tiers: str | Sequence[str]
    engine: str
    ray_address: str
    ray_actors: int | None
