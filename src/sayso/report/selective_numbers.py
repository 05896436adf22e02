"""Finding a number among the estimates of a selective run: ``form:short;against:rules;score:x``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sayso.records import Estimate
from sayso.report.numbers import DASH, MINUS

LENGTH, WORDS = "length_words", "words"
#: keys of a place that any text may follow, to its end
LAST = ("type", "length")


def parse(where: str) -> dict[str, str]:
    """Take a place apart; what follows ``type:`` or ``length:`` may itself hold ``;`` and ``:``."""
    found: dict[str, str] = {}
    rest = where
    while rest:
        key, _, tail = rest.partition(":")
        if key in LAST:
            found[key] = tail
            return found
        found[key], _, rest = tail.partition(";")
    return found


class Selected:
    """The estimates of a run by name, form, answer metric and score."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self.all = list(estimates)
        self.parsed = [(e, parse(e.where)) for e in self.all]
        self._index = {
            (e.name, p.get("form", ""), p.get("against", ""), p.get("score", "")): e
            for e, p in self.parsed
            if not p.keys() - {"form", "against", "score"}
        }

    @property
    def forms(self) -> list[str]:
        """The forms that this run measured, short before long."""
        present = {p.get("form") for _, p in self.parsed}
        return [form for form in ("short", "long") if form in present]

    def get(self, name: str, form: str, against: str = "", score: str = "") -> Estimate:
        """Return an estimate; one that was not computed comes back undefined, with the reason."""
        found = self._index.get((name, form, against, score))
        return found or Estimate(name, problem="not computed in this run")

    def each(self, name: str, **where: str) -> Iterator[tuple[Estimate, dict[str, str]]]:
        """Yield (estimate, place) of every estimate of this name whose place has these parts."""
        for estimate, place in self.parsed:
            if estimate.name == name and where.items() <= place.items():
                yield estimate, place

    def metrics(self, form: str) -> list[str]:
        """Return the answer metrics of a form, the run's judge first."""
        return [p["against"] for _, p in self.each("error_rate", form=form)]

    def judge(self, form: str) -> str:
        """Return the answer metric that the run's judge is."""
        return next(iter(self.metrics(form)), "")

    def best(self, form: str, score: str, against: str = "") -> Estimate:
        """Return the AUROC within type of fact, or the plain one where there are no types."""
        by = against or self.judge(form)
        within = self.get("auroc_within", form, by, score)
        return within if within.value is not None else self.get("auroc", form, by, score)

    def ranked(self, form: str) -> list[str]:
        """Return the scores that have a value, the best first."""
        judge = self.judge(form)
        held = [
            p["score"]
            for e, p in self.each("auroc", form=form, against=judge)
            if e.value is not None
        ]
        return sorted(dict.fromkeys(held), key=lambda n: -(self.best(form, n).value or 0.0))


def number(estimate: Estimate, decimals: int = 2) -> str:
    """Return the value without its leading zero, .89 or -.03; a dash where there is none."""
    return plain(estimate.value, decimals)


def plain(value: float | None, decimals: int = 2) -> str:
    """Return a number in -1..1 without its leading zero; a dash where there is none."""
    if value is None or value != value:
        return DASH
    text = f"{abs(value):.{decimals}f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def range_of(estimate: Estimate, decimals: int = 2) -> str:
    """Return the interval in brackets; nothing where there is none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    return f"[{plain(estimate.low, decimals)}, {plain(estimate.high, decimals)}]"


def told(estimate: Estimate, decimals: int = 2) -> str:
    """Return value and interval."""
    return f"{number(estimate, decimals)} {range_of(estimate, decimals)}".strip()


def covers(estimate: Estimate, value: float) -> bool:
    """Tell whether the interval holds a value; ``False`` without an interval."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and low <= value <= high
