"""What a run gives back in Python: its folder, its numbers, and how they show themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.harmless import line
from sayso.protocols import PROTOCOLS, protocol_of
from sayso.protocols.answer_table import AnswerRecord, answers_of_run
from sayso.protocols.protocol import Protocol
from sayso.records import Estimate, InputError, Results, Slice, slice_text
from sayso.report import figures_of
from sayso.report.notebook import AnswerTable, Plotted, estimates_frame, html_table, short_repr
from sayso.report.numbers import number, range_of, with_interval
from sayso.report.opening import ChosenExamples
from sayso.report.sheet import Sheet, ShownRun, main_numbers
from sayso.storage.run_folder import Manifest, RunFolder

if TYPE_CHECKING:
    from sayso.report.figures import Figure

#: numbers in a repr
NUMBERS = 2


@dataclasses.dataclass(frozen=True, repr=False)
class Result(Plotted):
    """A finished run: its folder, its numbers, its manifest, and its number of entities.

    A notebook shows it as the table of its main numbers. It stands wherever a run folder is asked
    for: ``sayso.measure(result)``. ``saved`` is false where other settings than the run's own were
    measured.
    """

    path: Path
    estimates: list[Estimate]
    manifest: Manifest
    entities: int
    saved: bool = True
    #: reads the answers anew, where ``known`` is counted by other settings than the run's own
    _read: Callable[[], Iterable[AnswerRecord]] | None = dataclasses.field(
        default=None, compare=False
    )

    def get(self, name: str, where: str | None = None, **parts: str) -> Estimate:
        """Return one number, e.g. ``result.get("J", form="long")``.

        The slice as text, ``result.get("J", "form:long")``, is understood for one more release.
        Raises InputError, which names those that there are, where there is no such number.
        """
        for estimate in self.estimates:
            if estimate.name != name:
                continue
            if where is None and set(estimate.where) == set(parts.items()):
                return estimate
            if where is not None and slice_text(estimate.where) == where:
                return estimate
        plan = protocol_of(self.manifest)
        names = {estimate.name for estimate in self.estimates}
        if name not in names and (owner := owner_of(name, plan)) is not None:
            raise InputError(other_protocols_number(name, plan, owner, names))
        raise InputError(no_such_number(self.estimates, name, parts if where is None else where))

    def each(self, name: str, **parts: str) -> Iterator[Estimate]:
        """Yield every number of this name whose slice has these parts, whatever else it has."""
        yield from Results(self.estimates).each(name, **parts)

    def table(self) -> list[dict[str, object]]:
        """Return the main numbers, a dict for each: ``{"name": "J", "form": "long", ...}``.

        Keys are ``name``, ``meaning``, the parts of the slice, ``value``, ``low`` and ``high`` (its
        95 % interval), ``n`` and ``problem``: why a value is ``None``, or what weakens it. All
        numbers, not only the main ones: :meth:`to_pandas`.
        """
        plan = protocol_of(self.manifest)
        return [table_row(plan, e) for e in self._main()]

    @property
    def answers(self) -> AnswerTable[AnswerRecord]:
        """The answers: short ones, and every aspect of long ones, with how each was read.

        ``result.answers.where(form="short", known=False)`` are some of them. They are read from the
        folder when they are looked at. Raises InputError for a run that has no table of them.
        """
        answers = answers_of_run(self.path, self._what(60))
        return answers if self._read is None else dataclasses.replace(answers, read=self._read)

    def _figures(self) -> list[Figure]:
        return figures_of(RunFolder.open(self.path), self.manifest, self.estimates)

    def to_pandas(self) -> Any:
        """Return every number as a ``pandas.DataFrame``, a row for each.

        The columns are ``name``, one for each part that any slice has (``form``, ``domain``, ...;
        missing where a number is not of such a slice), and the fields of
        :class:`sayso.records.Estimate`. Raises InputError where pandas is not installed.
        """
        return estimates_frame(self.estimates)

    @property
    def page(self) -> Path | None:
        """The page of the run, ``report.html``; ``None`` where none was written.

        Of numbers measured with other settings than the run's own there is none.
        """
        page = self.path / "report.html"
        return page if self.saved and page.is_file() else None

    def __fspath__(self) -> str:
        """Return the folder: a result stands wherever a run folder is asked for.

        Raises InputError for numbers measured with other settings, which no folder holds.
        """
        if not self.saved:
            raise InputError(
                "these numbers were measured with other settings and are not stored; result.path "
                "is the run, with its own numbers (sayso.run with these settings stores them)"
            )
        return str(self.path)

    def __repr__(self) -> str:
        cautions, numbers = self.manifest.cautions, leading(self._main())
        shown = [f"{short_number_name(e)} {with_interval(e)}" for e in numbers]
        parts = [
            self._what(28),
            ", ".join(shown) or "no numbers",
            *([_many(len(cautions), "caution", "cautions")] if cautions else []),
            *([] if self.saved else ["measured with other settings"]),
            f"in {_ending(str(self.path), 48)}",
        ]
        return short_repr("Result", parts)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was run, cautions, the main numbers, the page."""
        plan = protocol_of(self.manifest)
        rows = [(*shown_name(plan, e), *shown_number(e)) for e in self._main()]
        return html_table(
            self._what(60),
            ("name", "what it means", "of", "value", "95 % range (sampling error only)", "n"),
            rows,
            cautions=self.manifest.cautions,
            last=str(self.page or self.path),
        )

    def _main(self) -> list[Estimate]:
        return main_numbers(sheet_of(self), self.estimates)

    def _what(self, limit: int) -> str:
        """Return protocol, model, data and size in words."""
        manifest = self.manifest
        model = line(manifest.shown_model, limit)
        size = _many(self.entities, "entity", "entities")
        data = _ending(manifest.data, limit)
        return f"{', '.join(manifest.protocols)}, model {model}, data {data}, {size}"


def few_answers(requests: int, failed: int) -> str:
    """Return how many requests were answered, where that is less than half; else ""."""
    if 2 * failed <= requests:
        return ""
    return f"only {requests - failed:,} of {requests:,} requests were answered, fewer than half"


def lost_answers(manifest: Manifest, estimates: Sequence[Estimate], again: str) -> str:
    """Return :func:`few_answers` of a run and how to ask ``again``, or that few have a verdict."""
    few = few_answers(*(manifest.tokens.get(name, 0) for name in ("requests", "failed")))
    opened = protocol_of(manifest).report.sheet(estimates, manifest).opening
    return f"{few}{again}" if few else opened.sentence * opened.void


def sheet_of(result: Result) -> Sheet:
    """Return all that is shown of a run's numbers."""
    return protocol_of(result.manifest).report.sheet(result.estimates, result.manifest)


def shown_run(result: Result) -> ShownRun:
    """Return a run for a table of several."""
    return ShownRun(
        protocol_of(result.manifest).name, sheet_of(result), result.path / "report.html"
    )


def shown_examples(result: Result) -> ChosenExamples:
    """Return the answers that the page of a run begins with."""
    report = protocol_of(result.manifest).report
    folder = RunFolder.open(result.path)
    return report.read_answers(folder, result.manifest, result.estimates).examples


def shown_name(plan: Protocol, estimate: Estimate) -> tuple[str, str, str]:
    """Return the name of a number, as ``get`` wants it, what it means, and what it is of."""
    meaning = meaning_of(plan, estimate)
    of = (plan.report.part_label(key, value) for key, value in estimate.where)
    return estimate.name, meaning, ", ".join(of)


def leading(main: Sequence[Estimate]) -> list[Estimate]:
    """Return the first number of each form or method, as many as a repr has room for."""
    first = {e.where[:1]: e for e in reversed(main)}
    return [e for e in main if first[e.where[:1]] is e][:NUMBERS]


def short_number_name(estimate: Estimate) -> str:
    """Return name and slice of a number in a few characters."""
    return line(" ".join((estimate.name, *(value for _, value in estimate.where))), 36)


def table_row(plan: Protocol, estimate: Estimate) -> dict[str, object]:
    """Return a number as a row of ``Result.table``."""
    return {
        "name": estimate.name,
        "meaning": meaning_of(plan, estimate),
        **dict(estimate.where),
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "problem": estimate.problem,
    }


def meaning_of(plan: Protocol, estimate: Estimate) -> str:
    """Return what a number means, in words."""
    return plan.metrics.named(estimate.name).label


def shown_number(estimate: Estimate) -> tuple[str, str, str]:
    """Return value, interval or why there is no value, and number of facts.

    Where a number counts other things than its facts, as pairs of them, that stands beside it.
    """
    why = (estimate.problem or "") if estimate.value is None else ""
    size, of = f"{estimate.n:,}" if estimate.n else "", estimate.denominator
    if size and of is not None and of != estimate.n:
        size = f"{size} ({of:,.0f} counted)"
    return number(estimate), range_of(estimate) or why, size


def owner_of(name: str, plan: Protocol) -> Protocol | None:
    """Return the protocol whose number this is, if it is another one's alone."""
    if name in plan.metrics:
        return None
    return next((one for one in PROTOCOLS.values() if name in one.metrics), None)


def other_protocols_number(
    name: str, plan: Protocol, owner: Protocol, names: Collection[str]
) -> str:
    """Return the message for a number of another protocol; ``names`` are those of this run."""
    text = (
        f"a run of {plan.name} has no {name} ({owner.metrics[name].label}: sayso run {owner.name})"
    )
    own = next((m.name for m in plan.metrics.values() if m.stands_for == name), None)
    if own is None or own not in names:
        return text
    return f"{text}; its {own.replace('_', ' ')} is {own!r}"


#: so many numbers are listed where one was not found
CHOICES = 8


def no_such_number(
    estimates: Sequence[Estimate], name: str, wanted: Mapping[str, str] | str
) -> str:
    """Return the message for a number that is not there: which ones are."""
    slices = {e.where: _keywords(e.where) for e in estimates if e.name == name}
    if not slices:
        names = list(dict.fromkeys(e.name for e in estimates))
        near = get_close_matches(name, names, n=3, cutoff=0.6)
        near += [one for one in names if one.lower() == name.lower() and one not in near]
        hint = f"did you mean {' or '.join(near)}?" if near else f"it has {_some(names)}"
        return f"no number is called {line(str(name), 60)!r} in this run; {hint}"
    asked = wanted if isinstance(wanted, str) else _keywords(tuple(wanted.items()))
    fewest = sorted(slices.values(), key=lambda text: text.count("="))
    choices = get_close_matches(asked, fewest, n=CHOICES, cutoff=0.6) if asked else []
    choices += [text for text in fewest if text not in choices]
    if slices.keys() == {()}:
        return f"{name} has no parts: get({name!r})"
    if not asked:
        return f"which {name}? This run has it with {_some(choices)}"
    return f"{name} of {line(asked, 100)} is not in this run; the run has it with {_some(choices)}"


def _keywords(where: Slice) -> str:
    """Return a slice as the keywords of ``get``."""
    return ", ".join(f"{line(str(k), 60)}={line(str(v), 60)!r}" for k, v in where)


def _some(texts: Sequence[str]) -> str:
    rest = len(texts) - CHOICES
    tail = f" and {rest} more" if rest > 0 else ""
    return "; ".join(line(text, 100) or "no keyword" for text in texts[:CHOICES]) + tail


def _many(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _ending(text: str, limit: int) -> str:
    """Return a path on one line, cut at its beginning: its last name says most."""
    flat = line(text[-2 * limit :])
    return flat if len(text) <= limit else f"…{flat[1 - limit :]}"
