"""Two runs on the same questions, B minus A, with paired intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.harmless import line
from sayso.later import Later
from sayso.protocols import PROTOCOLS, comparing, protocol, protocol_of
from sayso.protocols.answer_table import AnswersOf, RunAnswer, answers_of_runs
from sayso.protocols.protocol import ComparedRun, Protocol
from sayso.records import InputError
from sayso.report.differences import Words, differences_table, rules_alone, told_differences
from sayso.report.notebook import AnswerTable, Plotted, estimates_frame, short_repr
from sayso.report.numbers import difference_range, difference_value
from sayso.report.sheet import main_numbers
from sayso.runs.measure import load_run, run_path
from sayso.runs.result import leading, short_number_name, table_row
from sayso.storage.run_folder import RunFolder

if TYPE_CHECKING:
    from sayso.report import charts, figures
else:
    charts = Later("sayso.report.charts")
    figures = Later("sayso.report.figures")


class ShownComparison(Plotted, protocol.Comparison):
    """Differences, B minus A, that show themselves: in a notebook as a table."""

    __slots__ = ()

    def table(self) -> list[dict[str, object]]:
        """Return the differences, a dict for each: ``{"name": "J", "form": "long", ...}``.

        Keys are those of ``Result.table``.
        """
        plan = PROTOCOLS[self.protocol]
        return [table_row(plan, e) for e in self.estimates]

    def to_pandas(self) -> Any:
        """Return the differences as a ``pandas.DataFrame``; see ``Result.to_pandas``."""
        return estimates_frame(self.estimates)

    @property
    def answers(self) -> AnswerTable[RunAnswer]:
        """The answers of both sides: those of A, with "A" in the column ``run``, then those of B.

        They are read from the folders when they are looked at.
        """
        sides = []
        for letter, name in zip("AB", self.names, strict=True):
            manifest = RunFolder.open(name).read_manifest()
            data = Path(manifest.data).name or manifest.data
            names = (letter, self.protocol, manifest.shown_model, data)
            sides.append(AnswersOf(Path(name), *names))
        return answers_of_runs(sides, self._what(100).removeprefix("B minus A, "))

    def _figures(self) -> list[figures.Figure]:
        """Return the chart of the headline numbers; none where there is nothing to draw."""
        words = number_words(PROTOCOLS[self.protocol])
        table = differences_table(told_differences(self.estimates, words), words, "")
        rows = [(labels, entries[:1]) for labels, entries in table.rows]
        draw = partial(charts.rows_plot, rows, ["B minus A"], title="B minus A", base=0.0)
        label = "Headline numbers, B minus A, with 95 % intervals."
        found = figures.figure_of("differences", draw, label)
        return [found] if found is not None else []

    def __repr__(self) -> str:
        sheet = PROTOCOLS[self.protocol].report.sheet(self.estimates)
        main = main_numbers(sheet, self.estimates)
        shown = [
            f"{short_number_name(e)} {difference_value(e)} {difference_range(e)}".strip()
            for e in leading(main or self.estimates)
        ]
        size = f"{len(self.estimates)} differences"
        return short_repr("Comparison", (self._what(40), ", ".join([size, *shown])))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was compared, warnings, a row for each difference."""
        words = number_words(PROTOCOLS[self.protocol])
        table = differences_table(self.estimates, words, self._what(100))
        if not table.rows:
            return f"<p>{escape(table.caption)}: nothing to compare</p>"
        return table.to_html(self.notes)

    def _what(self, limit: int) -> str:
        a, b = (line(name[-limit:]) for name in self.names)
        return f"B minus A, A = {a}, B = {b}"


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    allow: str | Sequence[str] = (),
    resamples: int = 2000,
    seed: int = 0,
) -> ShownComparison:
    """Return B - A for every headline number on what both runs were asked.

    ``a`` and ``b`` are run folders or results. Entities are resampled jointly. Runs that differ in
    more than the model are refused, unless ``allow`` names the settings; runs of one base model
    must share its probes (``known_from``), because a model that learned to hedge also hedges its
    probes. Raises InputError.
    """
    check_resampling(resamples, seed)
    a, b = run_path(a), run_path(b)
    allow = (allow,) if isinstance(allow, str) else allow
    kinds = [RunFolder.open(place).read_manifest().protocols for place in (a, b)]
    if kinds[0] != kinds[1]:
        names = " and ".join("+".join(kind) or "no protocol" for kind in kinds)
        raise InputError(f"{a} and {b} are runs of {names}; compare runs of one protocol")
    sides = ComparedRun(str(a), *load_run(a)), ComparedRun(str(b), *load_run(b))
    plan = protocol_of(sides[0].manifest)
    found = comparing.compare(plan, sides, allow, resamples, seed)
    judges = {m.model_identity or m.model: m.judge for m in (side.manifest for side in sides)}
    notes = [*found.notes, *rules_alone(judges)]
    named = found._replace(notes=notes, protocol=plan.name, names=(str(a), str(b)))
    return ShownComparison(*named)


def check_resampling(resamples: int, seed: int) -> None:
    """Refuse numbers of resamples and seeds that cannot be meant. Raises InputError."""
    limits = (("resamples", resamples, 100, 1_000_000), ("seed", seed, 0, 2**63))
    for name, value, low, high in limits:
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"{name} is {value!r:.80}; expected a whole number")
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")


def number_words(plan: Protocol) -> Words:
    """Return how a protocol's numbers are called where runs are compared."""
    return Words(plan.metrics, plan.report.part_label)


def sides_of(a: Path, b: Path) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the name of each run and where it lies.

    The name is the model's where the two differ, else the folder's, else A and B.
    """
    models = [RunFolder.open(place).read_manifest().shown_model for place in (a, b)]
    for names in (models, [place.resolve().name for place in (a, b)]):
        if all(names) and names[0] != names[1]:
            return (line(names[0], 60), str(a)), (line(names[1], 60), str(b))
    return ("A", str(a)), ("B", str(b))
