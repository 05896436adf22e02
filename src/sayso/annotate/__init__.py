"""Reading answers: replies of a model become verdicts and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sayso.records import Generation, Question, Verdict

if TYPE_CHECKING:
    from sayso.annotate.clusters import cluster as cluster
    from sayso.annotate.clusters import cluster_many as cluster_many
    from sayso.annotate.relations import Relations as Relations

#: public name -> the module that it is loaded from on first use
_PUBLIC = {
    "cluster": "sayso.annotate.clusters",
    "cluster_many": "sayso.annotate.clusters",
    "Relations": "sayso.annotate.relations",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sayso.annotate' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


class Item(NamedTuple):
    """One answer to judge: ``questions`` has one entry for a short answer, the parts in order
    for a long one."""

    generation: Generation
    questions: tuple[Question, ...]


class Judge(Protocol):
    """Whoever reads answers: the offline rules, or a model with a prompt and a parser."""

    name: str
    signature: str

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; unread ones carry a problem."""
