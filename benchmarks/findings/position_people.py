"""Where in a long text errors lie, by people's labels: three systems of FActScore.

    SAYSO_TEST_DATA=FOLDER python benchmarks/findings/position_people.py [--figure FILE.svg]

Reads ChatGPT.jsonl, InstructGPT.jsonl and PerplexityAI.jsonl of FOLDER/factscore, each line an
answer with atomic facts that people labeled, and runs what ``sayso run self_known --answers`` runs.
No model takes part. Prints factuality, S/(S+NS), by fifth of the text with 95 % intervals over
resampled people (entities), under all three averages, and the trend inside texts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

import sayso
from sayso.metrics.arrays import divide
from sayso.metrics.factuality import position_trend
from sayso.metrics.intervals import bootstrap_ratio
from sayso.protocols.self_known.report import SelfKnownResults
from sayso.protocols.self_known.rows import load_long_answers
from sayso.protocols.self_known.settings import Settings
from sayso.protocols.stored import stored_run
from sayso.records import Estimate, slice_of
from sayso.report.numbers import percent, plain_number, range_of
from sayso.runs.run import factuality
from sayso.storage.run_folder import RunFolder

SYSTEMS = ("ChatGPT", "InstructGPT", "PerplexityAI")
COLORS = ("#0072b2", "#bf6f00", "#00805d")
SHAPES = ("circle", "diamond", "square")
AVERAGES = {
    "factuality": "mean over sentences",
    "factuality, generation": "mean over texts",
    "factuality, micro": "claims pooled",
    "factuality, long": "mean over sentences, texts of 5 sentences or more",
    "unsupported_per_sentence": "unsupported claims a sentence",
}


def found_in(folder: Path) -> SelfKnownResults:
    """Return every number of the three systems. Raises InputError for a file that is not there."""
    found: list[Estimate] = []
    with tempfile.TemporaryDirectory() as place:
        for name in SYSTEMS:
            file, out = folder / "factscore" / f"{name}.jsonl", Path(place) / name
            made = factuality(file, out=out, cache=Path(place) / "cache")
            found += [_of_system(e, name) for e in (*made.estimates, *_otherwise(out))]
    return SelfKnownResults(found)


def _otherwise(run: Path) -> Iterator[Estimate]:
    """Yield the curve by the other averages, and of texts that reach every part; p of the slope."""
    for average in ("generation", "micro"):
        for e in sayso.measure(run, average=average).estimates:
            if e.name == "factuality":
                yield msgspec.structs.replace(e, name=f"{e.name}, {average}")
    settings = Settings()
    (texts,) = load_long_answers(stored_run(RunFolder.open(run)))
    s, ns = texts.counts()[:, :2].T
    share, topic = divide(s, s + ns), texts.entity[texts.s_text]
    place = texts.places(settings.bins, settings.closed)
    where = slice_of(method=texts.method)
    enough = texts.s_count >= settings.bins
    for part in range(settings.bins) if not enough.all() else ():
        here = (place == part) & enough & ~np.isnan(share)
        long = bootstrap_ratio(
            "factuality, long", share[here], np.ones(here.sum()), topic[here], settings.resamples
        )
        at = slice_of(part=f"{part + 1}/{settings.bins}")
        yield msgspec.structs.replace(long, where=where + at)
    n = settings.resamples
    slope = position_trend(share, texts.position, texts.s_text, topic, n, settings.ci_seed)
    yield Estimate("trend, p", where, value=slope.p)


def _of_system(e: Estimate, name: str) -> Estimate:
    """Return a number of a run's texts as one of the system that wrote them."""
    where = tuple((key, name if key == "method" else value) for key, value in e.where)
    return msgspec.structs.replace(e, where=where)


def table(found: SelfKnownResults) -> str:
    """Return the curves of each system as a table in Markdown."""
    places = found.values("part")
    lines = ["| system | average | " + " | ".join(places) + " |"]
    lines.append("|---" * (2 + len(places)) + "|")
    for name, label in AVERAGES.items():
        for system in found.methods:
            parts = [found.get(name, method=system, part=part) for part in places]
            if all(e.value is None for e in parts):
                continue
            cells = [f"{plain_number(e.value)} {range_of(e)}".strip() for e in parts]
            lines.append(f"| {system} | {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def trends(found: SelfKnownResults) -> str:
    """Return the slope inside texts of each system, in Markdown."""
    lines = ["| system | texts | FActScore | slope inside texts | p |"]
    lines.append("|---" * 5 + "|")
    for system in found.methods:
        score, slope, p = (
            found.get(name, method=system) for name in ("factscore", "trend", "trend, p")
        )
        lines.append(
            f"| {system} | {score.n} | {percent(score.value, 0)} | {_told(slope)} | "
            f"{plain_number(p.value, 4)} |"
        )
    return "\n".join(lines)


def _told(e: Estimate) -> str:
    return f"{plain_number(e.value)} {range_of(e)}".strip()


def figure(found: SelfKnownResults, place: Path) -> None:
    """Write the curves by fifth of the text, with intervals."""
    import altair as alt
    import vl_convert

    rows = [
        {"system": system, "x": part + 0.1 * (at - 1), "y": e.value, "low": e.low, "high": e.high}
        for at, system in enumerate(found.methods)
        for part, (_, e) in enumerate(found.by("part", "factuality", method=system), start=1)
        if e.value is not None
    ]
    x = alt.X(
        "x:Q",
        title="fifth of the text, by sentences",
        scale=alt.Scale(domain=[0.7, 5.3], nice=False),
        axis=alt.Axis(values=[1, 2, 3, 4, 5], format="d"),
    )
    y = alt.Y(
        "y:Q", title="supported, of S and NS", scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".1f", tickCount=6),
    )  # fmt: skip
    legend = alt.Legend(title=None, orient="bottom")
    systems = list(found.methods)
    color = alt.Color(
        "system:N", legend=legend, scale=alt.Scale(domain=systems, range=list(COLORS))
    )
    shape = alt.Shape(
        "system:N", legend=legend, scale=alt.Scale(domain=systems, range=list(SHAPES))
    )
    base = alt.Chart(alt.InlineData(values=rows))
    layers = [
        base.mark_line(strokeWidth=1.5, opacity=0.7).encode(x=x, y=y, color=color),
        base.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=color, shape=shape),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=560, height=320, background="white")
        .properties(title="Supported claims along the text, labeled by people; 95 % intervals")
    )
    place.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")


def main() -> None:
    """Print the tables and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    folder = os.environ.get("SAYSO_TEST_DATA")
    if not folder:
        sys.exit(
            "set SAYSO_TEST_DATA to a folder that holds factscore/ChatGPT.jsonl and the others"
        )
    found = found_in(Path(folder))
    print(trends(found))
    print()
    print(table(found))
    if given.figure:
        figure(found, given.figure)


if __name__ == "__main__":
    main()
