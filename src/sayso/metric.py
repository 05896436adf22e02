"""What a number is called and how it is read.

Each protocol declares its numbers once, in its module ``numbers``. The terminal, the page, tables
of differences, studies and the list of all numbers in the documentation are made from there.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import msgspec

from sayso.records import Slice

#: how a value is written: a share in percent; a number in -1..1 with its sign; the same for a
#: difference of two shares, which is not shown without its interval; two decimals; a whole number;
#: a fraction of 1
Notation = Literal["percent", "signed", "gap", "plain", "count", "fraction"]
#: the notation of every number that a protocol declares, by name: :mod:`sayso.protocols` fills it
NOTATIONS: dict[str, Notation] = {}
#: the forms of an answer, parts of slices, in words
FORMS = {"short": "short answers", "long": "paragraphs"}


class Headline(msgspec.Struct, frozen=True):
    """How runs are compared by a number, in words.

    ``what`` ends "no visible difference in"; one model is ``better`` or ``worse`` "than" another,
    or ``best`` of several. ``only`` are parts that the number's slice must have. A ``part`` is what
    another headline number is made of: it ranks no model, and is told where it differs.
    """

    what: str
    better: str
    worse: str
    best: str
    only: Slice = ()
    part: bool = False


class Metric(msgspec.Struct, frozen=True):
    """One number of a protocol, with all that is said of it anywhere.

    ``name`` is that of its estimates, ``symbol`` the sign by which the field knows it, ``label``
    what it is in a few words and ``meaning`` in one or two sentences. ``definition`` stands beside
    the symbol below a table, else the label; ``head`` in a narrow column; ``source`` is the place
    in the paper. ``higher`` tells whether more of it is better (``None``: neither is), ``limits``
    the ends of its scale (``None``: it has none). ``section`` is the part of the page that lists
    it. ``study`` is its place among the columns of a study, ``headline`` how runs are ranked by it;
    the headlines of a protocol are used in the order of its table. Whoever asks for the number of
    another protocol that it ``stands_for`` may mean it.
    """

    name: str
    label: str
    meaning: str = ""
    symbol: str = ""
    definition: str = ""
    head: str = ""
    source: str = ""
    notation: Notation = "percent"
    higher: bool | None = None
    limits: tuple[float, float] | None = (0.0, 1.0)
    section: str = ""
    study: int | None = None
    headline: Headline | None = None
    stands_for: str = ""

    @property
    def shown_symbol(self) -> str:
        """The symbol, or the label of a number that has none."""
        return self.symbol or self.label

    @property
    def titled(self) -> str:
        """The symbol with what it means, or the label alone."""
        named = self.symbol and self.symbol != self.label
        return f"{self.symbol}: {self.label}" if named else self.label

    @property
    def column(self) -> str:
        """The head of a narrow column."""
        return self.head or self.shown_symbol

    @property
    def defined(self) -> str:
        """What a caption says of the symbol."""
        return self.definition or self.label

    @property
    def explained(self) -> str:
        """What it is, in sentences: of a number without a meaning its label."""
        return self.meaning or f"{self.label[:1].upper()}{self.label[1:]}."


#: kinds of numbers besides shares: whole ones and others, from 0; fractions of 1 that are no share;
#: gaps of two shares; numbers in -1..1, and those without ends
Count = partial(Metric, notation="count", limits=(0.0, math.inf))
Positive = partial(Metric, notation="plain", limits=(0.0, math.inf))
Fraction = partial(Metric, notation="fraction")
Gap = partial(Metric, notation="gap", higher=True, limits=(-1.0, 1.0))
Signed = partial(Metric, notation="signed", limits=(-1.0, 1.0))
Unbounded = partial(Metric, notation="signed", limits=None)
#: doubts of the reasoning before answers, which several protocols count
DOUBTS = (
    Metric(
        "doubt_in_thought",
        "its reasoning doubts",
        "Share of the answers whose reasoning ends in a hedged claim.",
        section="thoughts",
    ),
    Metric(
        "doubt_withheld",
        "doubts that the answer withholds",
        "Share of these answers that have no hedge.",
        higher=False,
        section="thoughts",
    ),
)


class MetricTable(dict[str, Metric]):
    """The numbers of a protocol by name, in the order in which they are shown."""

    def __init__(self, *metrics: Metric) -> None:
        super().__init__((metric.name, metric) for metric in metrics)
        if len(self) != len(metrics):
            raise ValueError("a number is declared twice")

    def named(self, name: str) -> Metric:
        """Return a number; one that nobody declared is called by its name."""
        return self.get(name) or Metric(name=name, label=name.replace("_", " "))

    def section(self, *sections: str) -> dict[str, Metric]:
        """Return the numbers of some sections of the page."""
        return {name: metric for name, metric in self.items() if metric.section in sections}

    @property
    def headlines(self) -> dict[str, Headline]:
        """The numbers by which runs are compared first, in words."""
        return {name: one for name, one in self.told.items() if not one.part}

    @property
    def told(self) -> dict[str, Headline]:
        """The same, and then what they are made of."""
        held = [(name, metric.headline) for name, metric in self.items() if metric.headline]
        return dict(sorted(held, key=lambda pair: pair[1].part))

    @property
    def studied(self) -> dict[str, Metric]:
        """The numbers of a study in the order of its columns."""
        own = [metric for metric in self.values() if metric.study is not None]
        return {metric.name: metric for metric in sorted(own, key=lambda m: m.study or 0)}
