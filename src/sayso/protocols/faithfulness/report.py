"""How a faithfulness run is shown: sentences, and numbers of each method in each form of answers.

Sentences claim no more than the intervals allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import altair as alt
from markupsafe import Markup
from msgspec.structs import replace

from sayso.harmless import line
from sayso.judges.rules.accuracy import Form, nearest_contents, nearest_pairs, reader_accuracy
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics.cmfg import LEAST_IN_BIN, THIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols import judged
from sayso.protocols.faithfulness.gaps import examples, worst
from sayso.protocols.faithfulness.measure import CONSTANT, unread_methods
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.verdicts import RulesContradiction, RulesWording
from sayso.records import Estimate, InputError, Results, Slice, part_of, slice_of
from sayso.report.answers import cards
from sayso.report.charts import (
    COLORS,
    ChartRows,
    Drawing,
    chart_row,
    finish,
    legend_of,
    point,
    series_chart,
    values,
    vertical_line,
)
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import FORMS, covers, percent, plain_number
from sayso.report.opening import MOST, HeadlineShare, PageOpening, open_page, unread_share
from sayso.report.page import answer_tables, environment, title
from sayso.report.sheet import Chart, HowRead, Section, Sheet, StoredAnswers, Tile
from sayso.storage.run_folder import Manifest, RunFolder


class FaithfulnessResults(Results):
    """The estimates of a run by name, form and method."""

    def methods(self, form: str) -> list[str]:
        """Return the methods of a form that have numbers."""
        return [method for method, _ in self.by("method", "skill", form=form)]

    def first(self, name: str, form: str) -> Estimate:
        """Return a number of the method that sentences are about."""
        return self.get(name, form=form, method=self.first_method(form))

    def first_method(self, form: str) -> str:
        """Return the method that sentences are about: the plain question, else the first."""
        methods = self.methods(form)
        return "vanilla" if "vanilla" in methods else next(iter(methods), "")


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    return FORMS.get(value) or line(METHOD_LABELS.get(value, value), 60)


# ---- how page and terminal begin: one sentence for a reader without statistics, three answers

HEADING = "Do the model's words show how sure it is?"
#: ends "What this does not show:"
NOT_SHOWN = (
    "whether the model is right when it is sure. An answer counts as sure if further draws do not "
    "contradict it, and a model can repeat an error"
)


def opening(results: FaithfulnessResults, manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin."""
    counted = _counted(results, _plain_form(results)) if results.forms else []
    later = unread_methods(results.all)
    return open_page(manifest, plain_sentence(results), NOT_SHOWN, later=later, counted=counted)


def _counted(results: FaithfulnessResults, form: str) -> list[HeadlineShare]:
    """Return the share that the plain sentence rests on; claims with too few draws were read."""
    words, read = (results.first(name, form) for name in ("mean_decisiveness", "punting"))
    share = replace(words, n=read.n, missing=read.missing)
    return [("its words sound {} sure", f"claims in {FORMS[form]}", share)]


def _plain_form(results: FaithfulnessResults) -> str:
    """Return the form of the plain sentence: the first whose words could be read."""
    every = ((form, _counted(results, form)) for form in results.forms)
    held = (f for f, own in every if own[0][2].value is not None and unread_share(own) <= MOST)
    return next(held, results.forms[0])


def plain_sentence(results: FaithfulnessResults) -> str:
    """Say in one sentence whether the model sounds as sure as it is.

    Of the plain question, and of short answers where there are any. The model sounds surer (or
    less sure) than it is where the intervals of both means lie apart.
    """
    if not results.forms:
        return "This run has no numbers yet."
    form = _plain_form(results)
    words, agreed, skill = (
        results.first(name, form) for name in ("mean_decisiveness", "mean_confidence", "skill")
    )
    if words.value is None or agreed.value is None:
        why = f": {line(skill.problem, 200)}" if skill.problem else ""
        return f"This run cannot say whether the model sounds as sure as it is{why}."
    text = _sounds(words, agreed, skill)
    if len(results.forms) == 1:
        return text
    return f"In {FORMS[form]}, {text[0].lower()}{text[1:]}"


#: a mean gap that is worth a word; answers from which a mean that never varies needs no interval
VISIBLE, ENOUGH = 0.05, 10
#: an interval that holds both 0 and this skill leaves open whether words follow confidence
OPEN = 0.1


def _sounds(words: Estimate, agreed: Estimate, skill: Estimate) -> str:
    sounds, repeats = percent(words.value, 0), percent(agreed.value, 0)
    again = f"asked again, it agrees with itself {repeats} of the time"
    both = f"its words sound {sounds} sure, and {again}"
    said, held = _ends(words), _ends(agreed)
    if said is None or held is None:
        count = "1 answer is" if words.n == 1 else f"{words.n:,} answers are"
        return f"{count} too few to say whether it sounds as sure as it is: {both}."
    gap = (words.value or 0.0) - (agreed.value or 0.0)
    if said[0] > held[1] and gap > VISIBLE:
        return (
            f"It sounds surer than it is: its words sound {sounds} sure, but asked again, it "
            f"agrees with itself only {repeats} of the time."
        )
    if said[1] < held[0] and gap < -VISIBLE:
        return f"It sounds less sure than it is: its words sound {sounds} sure, but {again}."
    text = f"On average, it sounds about as sure as it is: {both}"
    return f"{text}{_shows(skill)}."


def _shows(skill: Estimate) -> str:
    """Say, as the end of a sentence, whether words show which answers are shaky."""
    shaky = "which answers are shaky"
    if skill.problem == CONSTANT:
        return f"; its words never vary, so they cannot show {shaky}"
    if skill.problem and skill.problem.startswith(THIN):
        few = "too few claims have some levels of confidence"
        return f"; {few} to tell whether its words show {shaky}"
    if skill.low is None or skill.high is None or (covers(skill, 0) and covers(skill, OPEN)):
        return f"; {skill.n:,} claims are too few to tell whether its words show {shaky}"
    if skill.high < 0:
        return f"; its words mislead about {shaky}"
    if skill.low <= 0:
        return f"; there is no sign that its words show {shaky}"
    return f"; its words partly show {shaky}"


def _ends(mean: Estimate) -> tuple[float, float] | None:
    """Return the interval of a mean; the mean twice where no answer differs from it."""
    if mean.low is not None and mean.high is not None:
        return mean.low, mean.high
    if mean.value is None or mean.n < ENOUGH:
        return None
    return mean.value, mean.value


# ---- how well words, contradictions and right answers were read


def words_read(
    results: FaithfulnessResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well wording, contradictions, right and wrong are read, of the first method."""
    if manifest is None or manifest.judge in ("", "people"):
        return HowRead()
    parts = [part for form in results.forms for part in _form_read(results, manifest, form)]
    return judged.how_read(manifest, parts, run)


def _form_read(
    results: FaithfulnessResults, manifest: Manifest, form: str
) -> Iterator[judged.PartRead]:
    signature = results.first("skill", form).signature
    words, pairs = part_of(signature, "dec"), part_of(signature, "con")
    counts = reader_accuracy()
    if counts is not None and words == RulesWording.signature:
        yield judged.wording_part(words, counts)
    elif words:
        yield judged.unknown_part(
            manifest, words, "reads wording", _checks(manifest, words, "words")
        )
    if counts is not None and pairs == RulesContradiction.signature:
        skills = {f: results.first("skill", f) for f in results.forms}
        alike = [FORMS[f] for f, e in skills.items() if part_of(e.signature, "con") == pairs]
        near = nearest_pairs(counts, judged.run_writer(manifest))
        yield judged.contradictions_part(pairs, " and ".join(alike), near)
    elif pairs:
        yield judged.unknown_part(
            manifest, pairs, "sees contradictions", _checks(manifest, pairs, "pairs")
        )
    name = line(manifest.judge_signature or manifest.judge, 60)
    if results.first("accuracy", form).value is None:
        return
    if manifest.judge != "rules":
        yield judged.unknown_part(manifest, name, "tells right from wrong answers", "right")
        return
    contents = None
    if counts is not None and manifest.judge_signature == SIGNATURE:
        kind: Form = "long" if form == "long" else "short"
        contents = nearest_contents(counts, kind, None, judged.run_writer(manifest))
    yield judged.right_part(name, FORMS[form], contents)


def _checks(manifest: Manifest, reader: str, part: str) -> str:
    """Return the part of the judge's check that is of this reader; "" if another was checked."""
    checked = str(manifest.judge_check.get("words_by", reader))
    same = re.split("[@#]", checked)[0] == re.split("[@#]", reader)[0]
    return part if same else ""


# ---- tables: a row for each method in each form

#: where space is short
NARROW_FORMS = {"short": "short", "long": "paragraph"}
#: which numbers of two runs can be compared
EQUAL_BINS = "Skill weighs all bins of confidence equally; compare runs with sayso compare."
#: a number of a method, and what else its slice has
Column = tuple[str, Slice]
#: the rest of the paper's Table 1; what cMFG is read against
SCORES = ("cmfg", "mfg", "accuracy", "punting", "spearman", "filled_bins")
BASELINES = (
    "cmfg_aspects",
    "cmfg_permuted",
    "cmfg_half",
    "cmfg_decisive",
    "cmfg_oracle",
    "cmfg_plain",
    "cmfg_dec0",
    "cmfg_corrected",
    "mfg_aspects",
    "over_claim",
    "over_hedge",
)
GAINS = ("skill_shared", "skill_gain", "cmfg_gain", "shared_bins")
OF_RUN = ("entities_set_apart", "demonstration_questions", "ambiguous_questions", "draws_alike")
THOUGHTS = ("thought_minus_said", "thought_unsaid")
#: claims by confidence, decisiveness and right, with the two failures by name
THREE_WAY: dict[str, Column] = {
    "unaware of the error: sure, sounds sure, wrong": ("unknown_unknown", ()),
    "unsure, but sounds sure": ("known_unsaid", ()),
} | {
    f"{'un' * (sure == 'low')}sure, {'sounds sure' if firm == 'high' else 'hedges'}, "
    f"{'right' if right == 'yes' else 'wrong'}": (
        "three_way",
        slice_of(confidence=sure, decisiveness=firm, right=right),
    )
    for sure in ("high", "low")
    for firm in ("high", "low")
    for right in ("yes", "no")
    if (sure, firm, right) != ("high", "high", "no")
}
#: a p, corrected over the methods, below which a gain is told as one
LEAST_P = 0.05


def method_rows(*results: FaithfulnessResults) -> dict[str | tuple[str, ...], dict[str, str]]:
    """Return the slice of each method in each form, by the labels of its row."""
    return {
        (line(part_label("method", method), 40), NARROW_FORMS[form]): {
            "form": form,
            "method": method,
        }
        for form in FORMS
        for one in results
        for method in one.methods(form)
    }


def method_table(
    results: FaithfulnessResults,
    caption: str,
    columns: Mapping[str, Column] | Sequence[str],
    last: Callable[[FaithfulnessResults, Mapping[str, str]], Entry] | None = None,
    called: str = "",
) -> NumberTable:
    """Return numbers of each method in each form; ``last`` finds what a further column shows."""
    if not isinstance(columns, Mapping):
        columns = {NUMBERS[name].column: (name, ()) for name in columns}
    rows = method_rows(results)
    table = grid(
        caption,
        rows,
        columns,
        lambda where, of: results.find(of[0], **where, **dict(of[1])),
        labels=("", "form"),
        meanings={head: NUMBERS[name].meaning for head, (name, of) in columns.items() if not of},
    )
    if last is None:
        return table
    longer = [(names, (*found, last(results, rows[names]))) for names, found in table.rows]
    return table._replace(columns=(*table.columns, called), rows=longer)


def skill_table(results: FaithfulnessResults) -> NumberTable:
    """Return skill and both means of each method, and of how many claims."""
    caption = "Skill, sureness of words, agreement of draws [95 % interval, sampling error]"
    columns = {"skill": "skill", "words": "mean_decisiveness", "draws": "mean_confidence"}
    named = {head: (name, ()) for head, name in columns.items()}
    return method_table(results, caption, named, _claims, "claims")


def _claims(results: FaithfulnessResults, where: Mapping[str, str]) -> str:
    return f"{results.get('skill', **where).n:,}"


def _thinnest(results: FaithfulnessResults, where: Mapping[str, str]) -> Entry:
    bins = (e for e in results.each("thinnest_bin", **where) if e.value is not None)
    return next((f"{e.value:.0f}" for e in bins), None)


def skill_gains(results: FaithfulnessResults) -> NumberTable:
    """Return what each method gains on the plain question, and whether that is more than chance."""
    caption = "Skill in the bins of confidence that all methods fill"
    table = method_table(results, caption, GAINS, _decided, "than the plain question")
    return table if any(results.each("skill_gain")) else table._replace(rows=())


def _decided(results: FaithfulnessResults, where: Mapping[str, str]) -> Entry:
    """Return whether a gain is more than chance: by its corrected p, else by its interval."""
    gain, p = results.get("skill_gain", **where), results.get("skill_gain_p", **where)
    if gain.value is None:
        return None
    clear = gain.low is not None and not covers(gain, 0) if p.value is None else p.value < LEAST_P
    said = "not clearly different" if not clear else "higher" if gain.value > 0 else "lower"
    if p.value is None or p.n < 2:
        return said
    shown = "p < .001" if p.value < 0.001 else f"p = {plain_number(p.value)}"
    return f"{said} ({shown}, corrected for {p.n} methods)"


def bins_table(results: FaithfulnessResults) -> NumberTable:
    """Return decisiveness by bin of confidence, of the bins that hold enough claims."""
    held = [e for e in results.all if e.name == "skill" or e.n >= LEAST_IN_BIN]
    names = {part_of(e.where, "bin") for e in held if e.name == "bin_decisiveness"}
    order = sorted(names, key=lambda name: float(name.partition("-")[0]))
    columns = {
        name.replace("-", "\N{EN DASH}"): ("bin_decisiveness", slice_of(bin=name)) for name in order
    }
    caption = "How sure its words sound [95 % interval], by the share of draws that agree"
    table = method_table(FaithfulnessResults(held), caption, columns)
    note = f"Bins with fewer than {LEAST_IN_BIN} claims are only in --json."
    return table._replace(notes=(note,) if names else ())


def slice_table(results: FaithfulnessResults, key: str) -> NumberTable:
    """Return skill by domain, or by fifths of the paragraphs (``position``), with an interval."""
    found = [dict(e.where) for e in results.each("skill") if part_of(e.where, key)]
    rows: dict[str | tuple[str, ...], dict[str, str]] = {
        (line(f"{'fifth ' * (key == 'position')}{place[key]}", 60), NARROW_FORMS[place["form"]]): {
            "form": place["form"],
            key: place[key],
        }
        for place in found
    }
    columns = {line(part_label("method", place["method"]), 40): place["method"] for place in found}

    def skill(where: Mapping[str, str], method: str) -> Entry:
        e = results.find("skill", **where, method=method)
        return e if e is not None and e.low is not None else None

    note = "A skill without an interval is only in --json."
    return grid("Skill [95 % interval]", rows, columns, skill, labels=("", "form"), notes=[note])


def left_out_table(results: FaithfulnessResults) -> NumberTable:
    """Return what was asked for, and what is in no mean, by reason."""
    reasons = sorted({part_of(e.where, "reason") for e in results.each("left_out")})
    columns: dict[str, Column] = {"asked for": ("asked", ())}
    columns |= {line(reason, 60): ("left_out", slice_of(reason=reason)) for reason in reasons}
    return method_table(results, "Answers, or facts of paragraphs", columns)


def run_table(results: FaithfulnessResults) -> NumberTable:
    """Return which entities and questions only give examples, or were left out."""
    rows: dict[str | tuple[str, ...], Estimate] = {
        NUMBERS[name].label: e for name in OF_RUN if (e := results.find(name)) is not None
    }
    columns: dict[str, Callable[[Estimate], Entry]] = {
        "": lambda e: replace(e, problem=None),
        "what became of them": lambda e: e.problem or "",
    }
    return grid("Of the whole run", rows, columns, lambda e, shown: shown(e))


# ---- charts


def skill_chart(results: FaithfulnessResults, width: int) -> Drawing | None:
    """Skill of each method by form, with intervals and a line at 0."""
    rows = [
        chart_row(part_label("method", where["method"]), FORMS[where["form"]], e)
        for where in method_rows(results).values()
        if (e := results.get("skill", **where)).value is not None
    ]
    if not rows:
        return None
    # skill has no least value: an interval that goes far below 0 is cut at the axis
    least = max(min([-0.1, *values(rows, "low")]), min([-1.0, *values(rows, "value")]))
    scale = alt.Scale(domain=[least, 1], nice=False, clamp=True, padding=12)
    axis = alt.Axis(tickCount=6, format=".2~f")
    x = alt.X("value:Q", title="skill (0 = blind, 1 = faithful)", axis=axis, scale=scale)
    order, forms = (list(dict.fromkeys(str(row[key]) for row in rows)) for key in ("row", "series"))
    legend = legend_of(forms, width)
    layout = ChartRows(order, forms, [*FORMS.values()], width * 2 // 5, legend=legend)
    return finish(alt.layer(vertical_line(0), *layout.points(rows, x)), width, layout.height(34))


def bin_charts(results: FaithfulnessResults) -> Iterator[Chart]:
    """Yield decisiveness over confidence of each form, in the bins that hold enough claims."""
    titles = "confidence: share of draws that agree", "decisiveness of the words"
    for form in results.forms:
        points = [
            point(part_label("method", method), sure, e)
            for method in results.methods(form)[: len(COLORS)]
            for e in results.each("bin_decisiveness", form=form, method=method)
            if e.n >= LEAST_IN_BIN
            and (sure := results.get("bin_confidence", **dict(e.where)).value) is not None
        ]
        caption = (
            f"How sure {FORMS[form]} sound at each level of confidence, with 95 % intervals. "
            "Faithful words lie on the dashed line; flat points ignore confidence."
        )
        make = partial(series_chart, points, titles=titles, share=True, diagonal=True)
        if points:
            yield Chart(f"decisiveness by confidence {form}", make, caption, caption)


def charts(results: FaithfulnessResults) -> list[Chart]:
    """Return the charts, first the one that carries the result: skill, or a single method's words.

    Several methods are compared by skill, the headline. Of a single one it would be one point,
    which the table has; how it came about is seen bin by bin.
    """
    of_bins = [*bin_charts(results)]
    if not any(results.methods(form)[1:] for form in results.forms):
        return of_bins
    caption = "Skill of each method; lines are 95 % intervals. At 0, wording ignores confidence."
    return [Chart("skill", partial(skill_chart, results), caption, caption), *of_bins]


# ---- several runs in the layout of the paper's Table 1: methods by models

#: what the tables show, in this order
BY_MODEL = {
    "cmfg": "cMFG by method and model",
    "skill": "Skill by method and model",
    "accuracy": "Right, by method and model",
}
#: parts of a signature in which these runs are meant to differ
MEANT = ("model", "methods", "method", "form", "v")


class RunColumn(NamedTuple):
    """One run: the name of its column, its model and data, and its numbers."""

    name: str
    manifest: Manifest
    results: FaithfulnessResults


def read_columns(runs: Sequence[str | Path | RunFolder]) -> list[RunColumn]:
    """Return the numbers of runs of this protocol, each a column.

    Raises :class:`~sayso.records.InputError` for a folder that is no run, is not finished, or is
    of another protocol.
    """
    sides = []
    for run in runs:
        folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
        manifest = folder.read_manifest()
        if "faithfulness" not in manifest.protocols:
            raise InputError(
                f"{folder.path} is a run of {', '.join(manifest.protocols) or 'no protocol'}; "
                "only runs of faithfulness can be shown on its page"
            )
        estimates = [e for table in folder.tables("metrics") for e in folder.read(table, Estimate)]
        if not estimates:
            raise InputError(f"{folder.path} has no numbers yet: repeat its command first")
        sides.append(RunColumn(title(manifest), manifest, FaithfulnessResults(estimates)))
    return sides


def model_tables(sides: Sequence[RunColumn]) -> list[NumberTable]:
    """Return cMFG, skill and accuracy, methods by models; none for a single run."""
    if len(sides) < 2:
        return []
    rows = method_rows(*(side.results for side in sides))
    notes = [f"These runs differ in more than the model: {d}." for d in setting_differences(sides)]
    tables = []
    for name, caption in BY_MODEL.items():
        columns = {
            head: (name, run.results) for head, run in zip(_names(sides), sides, strict=True)
        }
        tables.append(
            grid(
                caption,
                rows,
                columns,
                lambda where, of: of[1].get(of[0], **where),
                labels=("", "form"),
                notes=notes if name == "accuracy" else (),
            )
        )
    return tables


def _names(sides: Sequence[RunColumn]) -> list[str]:
    """Return names of columns: model, data where they differ, a number where both are equal."""
    several = len({side.manifest.data for side in sides}) > 1
    names: list[str] = []
    for side in sides:
        name = f"{side.name}, {line(side.manifest.data, 60)}" if several else side.name
        again = sum(n == name or n.startswith(f"{name} (") for n in names)
        names.append(f"{name} ({again + 1})" if again else name)
    return names


def setting_differences(sides: Sequence[RunColumn]) -> list[str]:
    """Return the settings besides the model in which runs differ, as their signatures say."""
    values_of: dict[str, list[str]] = {}
    for side in sides:
        skills = side.results.each("skill")
        parts = dict(next((e.signature for e in skills if e.signature), ())[1:])
        # "shared-1f2e": the hash follows from the methods asked
        parts["prompts"] = parts.get("prompts", "").partition("-")[0]
        for key, value in parts.items():
            values_of.setdefault(key, []).append(value)
    return [
        f"{key} ({', '.join(line(v, 60) for v in dict.fromkeys(values))})"
        for key, values in values_of.items()
        if key not in MEANT and len(set(values)) > 1
    ]


# ---- the sheet

TERMS = (
    (
        "decisiveness",
        "The probability that a reader would give a claim, judging only by its wording.",
    ),
    (
        "confidence",
        "The share of draws of the plain question that do not contradict the claim. A fact in a "
        "paragraph is compared with the draws of its short question; its wording is that of the "
        "sentence that states it.",
    ),
    ("dec, con", "In a signature: what read the wording, and what looked for contradictions."),
)
METHOD = (
    "Yona, Aharoni and Geva, arXiv 2405.16908; paragraphs, skill and the three-way table are "
    "sayso's additions."
)
#: above tables of several runs
BESIDE = (
    "A high cMFG proves nothing by itself, so read skill too. Both are means over the bins of "
    "confidence that each run fills, so a small run may score higher. sayso compare takes them "
    "from the bins that both runs fill, and gives intervals for differences."
)


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
    beside: Sequence[str | Path | RunFolder] = (),
) -> Sheet:
    """Return all that is shown of a run; see :class:`sayso.protocols.protocol.Report`."""
    results = FaithfulnessResults(estimates)
    own = manifest or Manifest()
    sides = [RunColumn(title(own), own, results), *read_columns(beside)]
    named = [
        (f"skill, {', '.join(labels)}", results.get("skill", **where))
        for labels, where in method_rows(results).items()
    ]
    return Sheet(
        HEADING,
        opening(results, manifest),
        _tiles(results),
        next(iter(charts(results)), None),
        skill_table(results),
        [corrected_section(run, NUMBERS, part_label), *_sections(results, sides)],
        [EQUAL_BINS] if named else [],
        words_read(results, manifest, run),
        named,
        TERMS,
        METHOD,
    )


def _tiles(results: FaithfulnessResults) -> list[Tile]:
    """Return skill and what the main table does not have, of the first method."""
    forms: dict[str, str] = {}
    for form in results.forms:
        several = results.methods(form)[1:]
        of = part_label("method", results.first_method(form)) if several else ""
        forms[", ".join(filter(None, (of, NARROW_FORMS[form] * bool(results.forms[1:]))))] = form
    parts = {
        "skill": "skill: 0 = blind, 1 = perfect",
        "known_unsaid": "unsure, but sounds sure",
        "accuracy": "right",
    }
    tiles = [
        Tile(label, [(of, results.first(name, form)) for of, form in forms.items()])
        for name, label in parts.items()
    ]
    return [tile for tile in tiles if any(e.value is not None for _, e in tile.values)]


def _sections(results: FaithfulnessResults, sides: Sequence[RunColumn]) -> Iterator[Section]:
    """Yield the tables behind the first one, each under the question that it answers."""
    table = partial(method_table, results)
    models = model_tables(sides)
    yield Section(
        "models", "How do the methods do with other models?", models, text=[BESIDE] * bool(models)
    )
    yield Section("gains", "Does another way of asking help?", [skill_gains(results)])
    bins = bins_table(results)
    yield Section("bins", "Do its words follow its confidence?", [bins], charts(results)[1:])
    thinnest = "claims in the thinnest bin of confidence"
    scores = table("The paper's numbers", SCORES, _thinnest, thinnest)
    yield Section("scores", "How faithful and how often right is each method?", [scores])
    blind = table("cMFG of other words in the same bins", BASELINES)
    yield Section("baselines", "What would words that ignore confidence score?", [blind])
    truth = table("Share of the claims, and counts", THREE_WAY)
    yield Section("truth", "Is it wrong where it sounds sure?", [truth])
    for key, place in (("domain", "between domains"), ("position", "along a paragraph")):
        yield Section(f"by-{key}", f"Does it differ {place}?", [slice_table(results, key)])
    thoughts = table("Decisiveness of thoughts and answers", THOUGHTS)
    yield Section("thoughts", "Are its thoughts less sure than its answers?", [thoughts])
    left_out = [left_out_table(results), run_table(results)]
    yield Section("left-out", "What is left out of every mean?", left_out)


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return the answers by entity, three examples, and the most unfaithful answers with draws."""
    results = FaithfulnessResults(estimates)
    every = cards(answer_tables(folder, "probe", manifest.settings.get("probe.k")))
    shown = worst(folder, results)
    form = next(iter(results.forms), "")
    chosen = examples(folder, manifest, form, results.first_method(form))
    template = environment(__package__).get_template("worst.html.j2")
    html = Markup(template.render(worst=shown, methods=dict.fromkeys(w["method"] for w in shown)))
    unfaithful = Section("worst", "Which answers are the most unfaithful?", html=html)
    return StoredAnswers(chosen, every, [unfaithful] if shown else [])
