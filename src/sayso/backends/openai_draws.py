"""Do draws at T>0 differ? An endpoint that repeats itself makes five equal probes in silence."""

from __future__ import annotations

import msgspec

from sayso.records import Request

#: so many prompts must have repeated themselves before it is said
ENOUGH = 8
#: and no more than so many are remembered while nothing is decided
MOST = 512


class DrawWatch:
    """Compares draws of the same prompt as they come, until two differ."""

    def __init__(self) -> None:
        self.first: dict[int, tuple[tuple[int, int], int]] = {}
        self.repeated: set[int] = set()
        self.differ = False

    def see(self, request: Request, text: str) -> None:
        """Remember a draw and compare it with an earlier one of the same prompt."""
        if self.differ or request.greedy:
            return
        prompt = hash(msgspec.structs.replace(request, seed=0, sample=0))
        draw, said = (request.seed, request.sample), hash(text)
        known = self.first.get(prompt)
        if known is None:
            if len(self.first) < MOST:
                self.first[prompt] = draw, said
        elif known[0] != draw:
            if known[1] == said:
                self.repeated.add(prompt)
            else:
                self.differ = True
                self.first.clear()

    @property
    def vary(self) -> bool | None:
        """``True`` once two draws differed, ``False`` when enough prompts only repeat."""
        if self.differ:
            return True
        return False if len(self.repeated) >= ENOUGH else None

    @property
    def notice(self) -> str | None:
        """One sentence for the user where draws repeat."""
        if self.vary is not False:
            return None
        return (
            f"draws at temperature above 0 repeat: for each of {len(self.repeated)} prompts all "
            "draws are the same text, so the endpoint does not seem to sample, and repeated draws "
            "are no independent evidence ('sayso check' tests it with an open question)"
        )
