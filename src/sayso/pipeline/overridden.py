"""What answers say was not asked as the settings say, counted over all answers of a run.

An engine tells it only of the answers that it gave itself; those of the cache carry it with them.
"""

from __future__ import annotations

from collections import Counter

from sayso.models import Engine
from sayso.records import Generation

#: different overrides that are told
MOST = 16


class Overridden:
    """Counts the ``overrides`` of answers; requests without an answer do not count."""

    def __init__(self) -> None:
        self._answers = 0
        self._found: Counter[str] = Counter()

    def see(self, reply: Generation) -> None:
        """Count one answer."""
        if reply.problem is None:
            self._answers += 1
            self._found.update(set(reply.overrides))

    def untold(self, engine: Engine) -> list[str]:
        """Return the engine's notices but for those that :meth:`lines` tells as well."""
        notices = [str(notice) for notice in getattr(engine, "notices", ())]
        if not self._found:
            return notices
        known = getattr(engine, "in_replies", ())
        return [n for n in notices if n not in known and not n.startswith(tuple(self._found))]

    def lines(self, what: str) -> list[str]:
        """Return one line for all overrides of equally many answers; ``what`` names answers."""
        alike: dict[int, list[str]] = {}
        for override, number in sorted(self._found.items(), key=lambda item: -item[1])[:MOST]:
            alike.setdefault(number, []).append(override)
        return [
            f"{number:,} of {self._answers:,} {what}: {'; '.join(sorted(said))}"
            for number, said in alike.items()
        ]
