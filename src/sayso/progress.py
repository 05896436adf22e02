"""How a run reports its progress, and how it learns that it should stop."""

from __future__ import annotations

from collections.abc import Callable

from sayso.records import Generation


class Progress:
    """Where a run reports its progress: this one says nothing, the command line's draws it.

    ``stopping`` becomes True when the person at the keyboard wants to stop: then nothing more is
    sent, what is on its way from an endpoint is waited for, and KeyboardInterrupt is raised.
    ``hold`` is set while an endpoint is asked: called at that moment, it sees to it that nothing
    more is sent, and returns how many answers are on their way (``None``: nobody knows).
    """

    stopping = False
    hold: Callable[[], int | None] | None = None

    def start(self, stage: str, total: int, done: int, *, remote: bool = False) -> None:
        """A stage begins: ``done`` of ``total`` came from the cache. ``remote``: asking costs."""

    def advance(self, stage: str, reply: Generation, paid: float | None) -> None:
        """One more request was answered, for so many dollars; ``None`` where nobody knows."""

    def end(self, stage: str) -> None:
        """Nothing waits for an answer any more."""

    def doing(self, what: str) -> None:
        """Something begins that asks nobody: "loading the model"."""

    def note(self, text: str) -> None:
        """Tell something at once that cannot wait for the end of the run."""
