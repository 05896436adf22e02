"""How a faithfulness run is shown: sentences, and numbers of each method in each form of answers.

Sentences claim no more than the intervals allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from markupsafe import Markup
from msgspec.structs import replace

from sayso.harmless import line
from sayso.judges.rules.accuracy import nearest_pairs, reader_accuracy
from sayso.metric import FORMS
from sayso.metrics.cmfg import LEAST_IN_BIN
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols import judged
from sayso.protocols.faithfulness.gaps import examples, measured_claims, worst
from sayso.protocols.faithfulness.measure import CONSTANT, unread_methods
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.verdicts import RulesContradiction
from sayso.protocols.thoughts import RulesWording
from sayso.records import Estimate, Results, part_of
from sayso.report.answers import cards
from sayso.report.charts import Drawing, chart_row, forest_plot, point, series_chart
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import covers, percent, with_interval_only
from sayso.report.opening import PageOpening, open_page
from sayso.report.page import answer_tables, environment
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
NOT_SHOWN = "what it would say when asked otherwise. A consistent answer can be consistently wrong"


def opening(results: FaithfulnessResults, manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin."""
    counted = []
    if form := _plain_form(results):
        words, read = (results.first(name, form) for name in ("mean_decisiveness", "punting"))
        # claims with too few draws were read
        share = replace(words, n=read.n, missing=read.missing)
        counted = [("its words sound {} sure", f"claims in {FORMS[form]}", share)]
    later = unread_methods(results.all)
    return open_page(manifest, plain_sentence(results), NOT_SHOWN, later=later, counted=counted)


def _plain_form(results: FaithfulnessResults) -> str:
    """Return the first form whose words were read, else the first; "" if there is none."""
    forms = results.forms
    held = (f for f in forms if results.first("mean_decisiveness", f).value is not None)
    return next(held, "".join(forms[:1]))


def plain_sentence(results: FaithfulnessResults) -> str:
    """Say in one sentence whether the model sounds as sure as it is, asked in which way.

    Of the plain question, in short answers if there are any. It sounds surer (or less sure) than it
    is where the intervals of both means lie apart, and about as sure only where both are narrow.
    """
    form = _plain_form(results)
    if not form:
        return "This run has no numbers yet."
    words, agreed, skill = (
        results.first(name, form) for name in ("mean_decisiveness", "mean_confidence", "skill")
    )
    if words.value is None or agreed.value is None:
        why = f": {line(skill.problem, 200)}" if skill.problem else ""
        return f"This run cannot say whether the model sounds as sure as it is{why}."
    method = part_label("method", results.first_method(form))
    return f"In {FORMS[form]} ({method} prompt), {_sounds(words, agreed, skill)}."


#: a mean gap that is worth a word; answers from which a mean that never varies needs no interval
VISIBLE, ENOUGH = 0.05, 10
#: an interval that holds both 0 and this skill leaves open whether words follow confidence;
#: intervals of both means that meet say nothing if their ends lie farther apart than this
OPEN, FAR = 0.1, 0.33


def _sounds(words: Estimate, agreed: Estimate, skill: Estimate) -> str:
    """Say, as the end of a sentence, how sure the words sound, and how sure the model is."""
    sounds, repeats = percent(words.value, 0), percent(agreed.value, 0)
    voiced = f"its words sound {sounds} sure"
    if skill.problem == CONSTANT:
        voiced = f"its answers never voice doubt (read as {sounds} sure)"
    both = (
        f"{voiced}, and sampled on the plain question, it gives a consistent answer (right or "
        f"wrong) {repeats} of the time"
    )
    said, held = _ends(words), _ends(agreed)
    if said is None or held is None:
        few = f"there are too few claims ({words.n:,}) to say whether it sounds as sure as it is"
        return f"{few}: {both}"
    gap = (words.value or 0.0) - (agreed.value or 0.0)
    if said[0] > held[1] and gap > VISIBLE:
        return f"it sounds surer than it is: {both}"
    if said[1] < held[0] and gap < -VISIBLE:
        return f"it sounds less sure than it is: {both}"
    if max(said[1] - held[0], held[1] - said[0]) > FAR:
        return f"there are too few entities to say whether it sounds as sure as it is: {both}"
    return f"it sounds on average about as sure as it is: {both}{_shows(skill)}"


def _shows(skill: Estimate) -> str:
    """Say, as the end of a sentence, whether words show which answers are shaky."""
    shaky = "which answers are shaky"
    if skill.problem == CONSTANT:
        return f"; its words never vary, so they cannot show {shaky}"
    if skill.low is None or skill.high is None or (covers(skill, 0) and covers(skill, OPEN)):
        return f"; there are too few claims to tell whether its words show {shaky}"
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
    if results.first("accuracy", form).value is not None:
        yield judged.right_read(manifest, form)


def _checks(manifest: Manifest, reader: str, part: str) -> str:
    """Return the part of the judge's check that is of this reader; "" if another was checked."""
    checked = str(manifest.judge_check.get("words_by", reader))
    same = re.split("[@#]", checked)[0] == re.split("[@#]", reader)[0]
    return part if same else ""


# ---- tables: a row for each method in each form

#: which numbers of two runs can be compared
EQUAL_BINS = (
    "Skill is a mean over the levels of confidence that a run reaches: do not subtract skills of "
    "two runs, use sayso compare."
)
#: the rest of the paper's Table 1; other definitions; what cMFG by fact is read against
SCORES = ("cmfg", "mfg", "accuracy", "punting", "spearman", "filled_bins")
VARIANTS = ("cmfg_plain", "cmfg_dec0", "cmfg_corrected", "over_claim", "over_hedge")
BASELINES = ("cmfg_aspects", "cmfg_permuted", "cmfg_half", "cmfg_decisive", "cmfg_oracle")
GAINS = ("skill_shared", "skill_gain", "skill_gain_p", "shared_bins")
#: the two ways in which decisive words fail
FAILURES = ("unknown_unknown", "known_unsaid")


def method_rows(results: FaithfulnessResults) -> dict[tuple[str, str], dict[str, str]]:
    """Return the slice of each method in each form, by the labels of its row."""
    return {
        _labels(where): where
        for form in results.forms
        for method in results.methods(form)
        for where in [{"form": form, "method": method}]
    }


def _labels(where: Mapping[str, str]) -> tuple[str, str]:
    """Return what the row of a method in a form is called."""
    return line(part_label("method", where["method"]), 40), FORMS[where["form"]]


def method_table(results: FaithfulnessResults, caption: str, names: Sequence[str]) -> NumberTable:
    """Return numbers of each method in each form."""
    return grid(
        caption,
        method_rows(results),
        {NUMBERS[name].column: name for name in names},
        lambda where, name: results.find(name, **where),
        labels=("", "form"),
        meanings={NUMBERS[name].column: NUMBERS[name].explained for name in names},
    )


#: columns of the first table
MAIN = {
    "skill": "skill",
    "sounds sure": "mean_decisiveness",
    "consistent": "mean_confidence",
    "right": "accuracy",
}


def skill_table(results: FaithfulnessResults) -> NumberTable:
    """Return skill and both means of each method, and of how many claims."""

    def found(where: Mapping[str, str], name: str) -> Entry:
        return results.find(name, **where) if name else f"{results.get('skill', **where).n:,}"

    return grid(
        "Skill, and means over claims [95 % interval, sampling error]",
        method_rows(results),
        MAIN | {"claims": ""},
        found,
        labels=("", "form"),
        meanings={head: NUMBERS[name].explained for head, name in MAIN.items()},
    )


def skill_gains(results: FaithfulnessResults) -> NumberTable:
    """Return what each method gains on the plain question, and whether that is more than chance."""
    table = method_table(results, "Skill in the bins of confidence that all methods fill", GAINS)
    return table if any(results.each("skill_gain")) else table._replace(rows=())


def bins_table(results: FaithfulnessResults, form: str) -> NumberTable:
    """Return decisiveness by confidence, of the bins of a form that hold enough claims."""
    rows = {
        (part_label("method", method), part_of(e.where, "bin").replace("-", "\N{EN DASH}")): e
        for method in results.methods(form)
        for e in results.each("bin_decisiveness", form=form, method=method)
        if e.n >= LEAST_IN_BIN
    }

    def found(e: Estimate, name: str) -> Entry:
        return results.get(name, **dict(e.where)) if name else f"{e.n:,}"

    columns = {"confidence": "bin_confidence", "decisiveness": "bin_decisiveness", "claims": ""}
    note = f"Bins with fewer than {LEAST_IN_BIN} claims are only in --json."
    caption = f"Decisiveness by bin of confidence, {FORMS[form]}"
    return grid(caption, rows, columns, found, labels=("", "bin"), notes=[note])


def left_out_table(results: FaithfulnessResults) -> NumberTable:
    """Return what was asked for, and what is in no mean, by reason."""
    reasons = sorted({part_of(e.where, "reason") for e in results.each("left_out")})
    columns: dict[str, tuple[str, dict[str, str]]] = {"asked for": ("asked", {})}
    columns |= {line(reason, 60): ("left_out", {"reason": reason}) for reason in reasons}
    return grid(
        "Answers, or facts of paragraphs",
        method_rows(results),
        columns,
        lambda where, of: results.find(of[0], **where, **of[1]) or Estimate(of[0], value=0.0),
        labels=("", "form"),
    )


# ---- charts


def skill_chart(results: FaithfulnessResults, width: int) -> Drawing | None:
    """Skill of each method by form, with intervals and a line at 0."""
    rows = []
    for where in method_rows(results).values():
        e = _with_interval(results.get("skill", **where))
        # skill has no least value: an interval that goes far below 0 is cut
        low = None if e.low is None else max(e.low, min(-1.0, e.value or 0.0))
        rows.append(chart_row(*_labels(where), replace(e, low=low)))
    order = list(dict.fromkeys(row["row"] for row in rows))
    title = "skill of its words (0 = none, 1 = perfect)"
    return forest_plot(rows, order, width, title, [], reach=1.0)


def bin_charts(results: FaithfulnessResults) -> Iterator[Chart]:
    """Yield decisiveness over confidence of each form, in the bins that hold enough claims."""
    titles = "confidence: share of samples that agree", "decisiveness of the words"
    known = [point(name, 0.0, Estimate("")) for name, _ in method_rows(results)]
    for form in results.forms:
        points = [
            point(names[0], sure.value, e)
            for names, (sure, e, _) in bins_table(results, form).rows
            if isinstance(sure, Estimate) and isinstance(e, Estimate) and sure.value is not None
        ]
        caption = (
            f"How sure {FORMS[form]} sound at each level of confidence, with 95 % intervals. "
            "Faithful words lie on the dashed line; flat points ignore confidence."
        )
        every = [*known, *points]
        make = partial(series_chart, every, titles=titles, share=True, diagonal=True)
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
    caption = (
        "Skill of each method, and its 95 % interval if any. Methods with too few claims per bin "
        "for an interval are only in the table. At 0, wording ignores confidence."
    )
    return [Chart("skill", partial(skill_chart, results), caption, caption), *of_bins]


# ---- the sheet

TERMS = (
    (
        "decisiveness",
        "The probability that a reader would give a claim, judging only by its wording.",
    ),
    (
        "confidence",
        "The share of samples of the plain question that do not contradict the claim, right or "
        "wrong. A fact in a paragraph is compared with the samples of its short question; its "
        "wording is that of the sentence that states it.",
    ),
    ("dec, con", "In a signature: what read the wording, and what looked for contradictions."),
)
METHOD = (
    "Yona, Aharoni and Geva, arXiv 2405.16908; paragraphs, skill and what goes wrong where it "
    "sounds sure are sayso's additions."
)


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
) -> Sheet:
    """Return all that is shown of a run; see :class:`sayso.protocols.protocol.Report`."""
    results = FaithfulnessResults(estimates)
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
        [corrected_section(run, NUMBERS, part_label), *_sections(results)],
        [EQUAL_BINS] if named else [],
        words_read(results, manifest, run),
        named,
        TERMS,
        METHOD,
    )


def _tiles(results: FaithfulnessResults) -> list[Tile]:
    """Return skill and what the main table does not have, of the method of the sentence."""
    methods = {form: results.first_method(form) for form in results.forms}
    of = {form: ", ".join(_labels({"form": form, "method": m})) for form, m in methods.items()}
    parts = {
        "skill: 0 = none, 1 = perfect": "skill",
        "claims: unsure, sound sure": "known_unsaid",
        "right, of all facts": "accuracy",
    }
    tiles = [
        Tile(label, [(of[form], _with_interval(results.first(name, form))) for form in of])
        for label, name in parts.items()
    ]
    return [tile for tile in tiles if any(e.value is not None for _, e in tile.values)]


def _with_interval(e: Estimate) -> Estimate:
    """Return a number as it is told outside of tables: no skill of too few claims per bin."""
    return with_interval_only(e) if e.name == "skill" and e.problem != CONSTANT else e


def _sections(results: FaithfulnessResults) -> Iterator[Section]:
    """Yield the tables behind the first one, each under the question that it answers."""
    table = partial(method_table, results)
    yield Section("gains", "Does another way of asking help?", [skill_gains(results)])
    bins = [bins_table(results, form) for form in results.forms]
    yield Section("bins", "Do its words follow its confidence?", bins, charts(results)[1:])
    scores = [table("Faithfulness and right answers", SCORES), table("Other definitions", VARIANTS)]
    yield Section("scores", "How faithful and how often right is each method?", scores)
    blind = table("cMFG by fact, and that of other words for the same claims", BASELINES)
    yield Section("baselines", "What would words that ignore confidence score?", [blind])
    truth = table("Share of the claims", FAILURES)
    yield Section("truth", "Is it wrong where it sounds sure?", [truth])
    thoughts = table("Decisiveness of thoughts and answers", ["thought_minus_said"])
    yield Section("thoughts", "Are its thoughts less sure than its answers?", [thoughts])
    yield Section("left-out", "What is left out of every mean?", [left_out_table(results)])


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return the answers by entity, three examples, and the most unfaithful answers with draws."""
    results = FaithfulnessResults(estimates)
    every = cards(answer_tables(folder, "probe", manifest.settings.get("probe.k")))
    form = _plain_form(results)
    claims = measured_claims(folder, manifest, form, results.first_method(form))
    shown = worst(folder, claims)
    html = Markup(environment(__package__).get_template("worst.html.j2").render(worst=shown))
    unfaithful = Section("worst", "Which answers are the most unfaithful?", html=html)
    return StoredAnswers(examples(claims), every, [unfaithful] if shown else [])
