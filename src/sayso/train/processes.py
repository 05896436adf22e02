"""The processes of one training, as ``accelerate launch`` starts them: the first one leads.

The leading process asks, judges, makes rows, measures and writes; the others wait until it tells
them what to train. What it tells goes over a channel of its own, which may be silent for hours: a
process group that computes gives up after minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

from sayso.records import InputError

#: how long the others wait for the one that asks and measures
PATIENCE = timedelta(days=30)
#: what every launcher tells a process
TOLD = ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def process_count() -> int:
    """Return how many processes train together. Raises InputError where a launcher says half."""
    told = os.environ.get("WORLD_SIZE") or "1"
    if not told.isdecimal():
        raise InputError(f"WORLD_SIZE is {told!r:.40}; expected a number of processes, or unset it")
    number = int(told)
    absent = [name for name in TOLD if not os.environ.get(name)]
    if number > 1 and absent:
        raise InputError(
            f"WORLD_SIZE is {number}, but {absent[0]} is not set: start with accelerate launch or "
            "torchrun, or unset WORLD_SIZE"
        )
    return number


def leads() -> bool:
    """Tell whether this process is the one that asks and writes."""
    return process_count() == 1 or os.environ["RANK"] == "0"


@cache
def channel() -> Any:
    """Join the other processes; return the channel over which the leading one tells them."""
    import torch
    from accelerate import PartialState

    PartialState(cpu=not torch.cuda.is_available())
    return torch.distributed.new_group(backend="gloo", timeout=PATIENCE)


def agreed(find: Callable[[], Any]) -> Any:
    """Return what the leading process finds, in every process."""
    if process_count() == 1:
        return find()
    import torch.distributed

    told = [find() if leads() else None]
    torch.distributed.broadcast_object_list(told, src=0, group=channel())
    return told[0]


def meet() -> None:
    """Wait until every process is here."""
    if process_count() > 1:
        import torch.distributed

        torch.distributed.barrier(group=channel())
