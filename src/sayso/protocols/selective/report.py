"""How selective numbers are shown: sentences, and the tables and charts of the page.

Sentences claim no more than the intervals allow. "Wrong" means that an answer states something
false; what an answer metric does not call right is "not right", which can also be a hedge or an
answer that declines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from sayso.harmless import line
from sayso.metric import FORMS
from sayso.metrics.ranking import FEW, FEWEST, TOO_FEW
from sayso.protocols import judged
from sayso.protocols.judged import PartRead
from sayso.protocols.selective.examples import chosen_examples
from sayso.protocols.selective.measure import ABSTENTIONS, ASKED, AUDITED, LENGTH, REFERENCES, TOLD
from sayso.protocols.selective.numbers import NUMBERS, metric_label, score_label
from sayso.protocols.selective.rows import WORDS, rows_of_folder
from sayso.protocols.thoughts import doubts_table
from sayso.records import Estimate, Results, part_of, tier_order
from sayso.report import opening
from sayso.report.answers import cards
from sayso.report.charts import Drawing, point, rows_plot, series_chart
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import TIERS, capital, covers, tier_label
from sayso.report.opening import PageOpening
from sayso.report.page import answer_tables
from sayso.report.sheet import Chart, HowRead, Section, Sheet, StoredAnswers, Tile, missing_section
from sayso.storage.run_folder import Manifest, RunFolder

GAP, BEST = "abstention_gap", "auroc_best"
OF_WORDS = ("coverage_of_words", "risk_of_words")
#: numbers of declining, and of passages taken away or exchanged
DECLINED = (*ABSTENTIONS, GAP, "abstention_gap_within", "right_minus_wrong")
PASSAGES = (
    "abstains_with_passage",
    "abstains_without_passage",
    "passage_gap",
    "by_heart",
    "answers_other_passage",
    "other_passage_gap",
    "right_other_passage",
    "misled_by_passage",
)


class SelectiveResults(Results):
    """The estimates of a run by name, form, answer metric and score.

    What rests on too few right or wrong answers to rank scores by has no value here.
    """

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        super().__init__(
            replace(e, value=None) if TOO_FEW in (e.problem or "") else e for e in estimates
        )

    def metrics(self, form: str) -> list[str]:
        """Return the answer metrics of a form, the run's judge first."""
        return [metric for metric, _ in self.by("against", "error_rate", form=form)]

    def judge(self, form: str) -> str:
        """Return the answer metric that the run's judge is."""
        return next(iter(self.metrics(form)), "")

    def count(self, form: str, did: str, asked: Sequence[str] = ASKED) -> float | None:
        """Return how many answers to these questions did something; ``None`` if nobody counted."""
        found = [self.of_judge("answer_count", form, asked=kind, did=did).value for kind in asked]
        held = [count for count in found if count is not None]
        return sum(held) if held else None

    def of_judge(self, name: str, form: str, **parts: str) -> Estimate:
        """Return a number of a form by the run's judge, an undefined one where there is none."""
        return self.get(name, form=form, against=self.judge(form), **parts)

    def within(self, form: str) -> bool:
        """Tell whether scores of a form are ranked within type of fact."""
        every = self.each("auroc_within", form=form, against=self.judge(form))
        return any(e.value is not None for e in every)

    def best(self, form: str, score: str) -> Estimate:
        """Return the AUROC within type of fact, or the plain one where there are no types."""
        name = "auroc_within" if self.within(form) else "auroc"
        return self.get(name, form=form, against=self.judge(form), score=score)

    def ranked(self, form: str) -> list[str]:
        """Return the scores that have a value, the best first, those without a rank last."""
        every = self.by("score", "auroc", form=form, against=self.judge(form))
        held = [score for score, e in every if e.value is not None]
        value = {score: self.best(form, score).value for score in dict.fromkeys(held)}
        return sorted(value, key=lambda name: -(value[name] or 0.0))

    def scores(self, form: str) -> list[str]:
        """Return the scores with a rank, the best first: not what they are read against."""
        ranked = (name for name in self.ranked(form) if name not in REFERENCES)
        return [name for name in ranked if self.best(form, name).value is not None]


# ---- how page and terminal begin: one sentence for a reader without statistics, three answers

HEADING = "Which uncertainty score detects the model's errors, and does it beat answer length?"
#: of questions that can be answered and questions that cannot
DECLINING = "Does the model answer what it can and decline what it cannot?"
#: of the questions behind :data:`ABSTENTIONS`
KINDS = ("questions that cannot be answered", "questions that can be answered")
#: end "What this does not show:"
NOT_SHOWN = (
    "how a score does on other questions or with another judge. The errors here are those that "
    "this judge finds"
)
DECLINING_NOT_SHOWN = (
    "how the model does on other questions or with other instructions. Whether an answer declines "
    "is read from its wording"
)


def declining_form(results: SelectiveResults) -> str:
    """Return the first form with answerable and unanswerable questions; "" where there is none."""

    def both(form: str) -> bool:
        return all(results.of_judge(name, form).value is not None for name in ABSTENTIONS)

    return next(filter(both, results.forms), "")


def _opening(results: SelectiveResults, manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin."""
    if form := declining_form(results):
        shares = [results.of_judge(name, form) for name in ABSTENTIONS]
        counted = [
            (f"{{}} of the {kind} are declined", kind, share)
            for kind, share in zip(KINDS, shares, strict=True)
        ]
    else:
        form = _judged_form(results)
        facts, rate = results.get("facts", form=form), results.of_judge("error_rate", form)
        rate = replace(rate, n=facts.n - facts.missing, missing=facts.missing)
        counted = [("{} of all answers are not right", "answers", rate)]
    limit = DECLINING_NOT_SHOWN if declining_form(results) else NOT_SHOWN
    return opening.open_page(manifest, plain_sentence(results), limit, counted=counted)


def _judged_form(results: SelectiveResults) -> str:
    """Return the first form with right and wrong answers, else the first; "" if there is none."""
    forms = [form for form in results.forms if results.judge(form)]
    held = (f for f in forms if results.of_judge("error_rate", f).value is not None)
    return next(held, "".join(forms[:1]))


def plain_sentence(results: SelectiveResults) -> str:
    """Say whether it declines what it cannot answer, or else whether a score finds its errors."""
    if form := declining_form(results):
        return _declines(results, form)
    form = _judged_form(results)
    return _finds(results, form) if form else "This run has no numbers yet."


def _declines(results: SelectiveResults, form: str) -> str:
    """Say whether it declines what it cannot answer when it is asked the plain question."""
    shares = [results.of_judge(name, form) for name in ABSTENTIONS]
    gap, within = (results.of_judge(name, form) for name in (GAP, f"{GAP}_within"))
    counts = " and ".join(
        f"{_count(share)} {kind}" for share, kind in zip(shares, KINDS, strict=True)
    )
    said = f"asked the questions as they are, it declined {counts}"
    often = opening.how_often(shares[0])
    fewest = min(share.denominator or share.n for share in shares)
    if all(share.value == 0 for share in shares):
        return f"Asked the questions as they are, it never declined: {counts}."
    if gap.low is None or gap.high is None or not often or fewest < FEW:
        least = f"Fewer than {FEW} of a kind are" if fewest < FEW else "There are"
        return (
            f"{least} too few questions to say whether it declines what it cannot answer: {said}."
        )
    if gap.high < 0:
        return f"It declines the wrong questions: {said}."
    if gap.low <= 0 and often != "rarely":
        return f"It shows no clear sense of what it cannot answer: {said}."
    if gap.low > 0 and within.low is not None and within.low <= 0:
        sense = "within a type of question, it shows no clear sense of what it cannot answer"
        return f"{capital(said)}; {sense}."
    return f"It {often} declines what it cannot answer: {said}."


def _count(share: Estimate) -> str:
    count = (share.value or 0) * share.n if share.numerator is None else share.numerator
    return f"{count:,.0f} of {share.denominator or share.n:,.0f}"


def _finds(results: SelectiveResults, form: str) -> str:
    rate = results.of_judge("error_rate", form)
    if rate.value is None:
        return "This run cannot say which score detects errors: no answer has a verdict."
    missed = round(rate.value * rate.n)
    of = f"its {rate.n:,} {'facts in paragraphs' if form == 'long' else 'short answers'}"
    names = [score_label(name) for name in results.scores(form)]
    did, best = _what_they_did(results, form, missed), best_score(results, form)
    which = opening.best_named(names, elsewhere=best.name == BEST)
    declined = results.count(form, "declined")
    if not which and declined is not None and min(missed, rate.n - missed) >= FEWEST:
        return (
            f"Of {of}, {declined:,.0f} decline and {results.count(form, 'wrong'):,.0f} are wrong; "
            "no question is marked as unanswerable, and no uncertainty score has a value."
        )
    alike = " to questions of one type" if results.within(form) else ""
    return opening.errors_sentence(missed, rate.n, of, which, best, did, alike)


def _what_they_did(results: SelectiveResults, form: str, missed: int) -> str | None:
    """Return what the answers that are not right did; ``None`` where all state something false."""
    wrong = results.count(form, "wrong")
    if wrong is None or wrong == missed:
        return "" if wrong is None else None
    return f" ({wrong:,.0f} wrong; the others declined, hedged or stated no value)"


def best_score(results: SelectiveResults, form: str) -> Estimate:
    """Return the AUROC of the best score: where possible, of one chosen on other answers."""
    best, scores = results.of_judge(BEST, form), results.scores(form)
    return results.best(form, scores[0]) if best.value is None and scores else best


# ---- how well right, wrong and declining were read


def answers_read(
    results: SelectiveResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well right and wrong answers, and those that decline, are read in each form."""
    if manifest is None:
        return HowRead()
    parts = [part for form in results.forms for part in _form_read(results, manifest, form)]
    return judged.how_read(manifest, parts, run)


def _form_read(results: SelectiveResults, manifest: Manifest, form: str) -> Iterator[PartRead]:
    both, words = bool(declining_form(results)), _words_of(results, form)
    right = judged.right_read(manifest, form, words)
    declined = judged.declining_read(manifest, form, words, both)
    yield from (declined, right) if both else (right, declined)


def _words_of(results: SelectiveResults, form: str) -> float | None:
    """Return the words of a typical right answer: the middle of the middle fifth by length."""
    reaches = {part_of(e.where, "length") for e in results.each("false_negatives_fifth", form=form)}
    ends = [tuple(map(float, reach.split("-"))) for reach in reaches if "-" in reach]
    middles = sorted(sum(pair) / len(pair) for pair in ends)
    return middles[len(middles) // 2] if middles else None


# ---- tables

#: what answers did, in words
DID = {
    "right": "right",
    "wrong": "wrong: stated something false",
    "hedged_right": "hedged, and right",
    "hedged_wrong": "hedged, and wrong",
    "hedged_other": "hedged, no value to judge",
    "declined": "declined",
    "partly": "partly right: counts 0 in right minus wrong",
    "nothing": "stated no value, in no share",
    "ungraded": "no gold answer to judge it by",
    "unread": "unread: no readable verdict",
}
#: have a row only where there are any
RARE = ("hedged_other", "partly", "nothing", "ungraded")


def fates_table(results: SelectiveResults) -> NumberTable:
    """Return how many answers did what, of answerable and of unanswerable questions."""
    places = [
        (form, asked)
        for form in results.forms
        for asked in ASKED
        if any(results.each("answer_count", form=form, asked=asked))
    ]
    columns = {f"{FORMS[form]}, {asked}": (form, asked) for form, asked in places}

    def found(did: str, place: tuple[str, str]) -> Entry:
        e = results.of_judge("answer_count", place[0], asked=place[1], did=did or "right")
        return e if did else f"{e.n:,}"

    none = {did for did in RARE if not any(results.count(f, did, [a]) for f, a in places)}
    rows = {words: did for did, words in DID.items() if did not in none}
    return grid("What the plain answers did", rows | {"questions asked": ""}, columns, found)


#: scores in the first table, of all forms together
SHOWN = 8


def best_scores_table(results: SelectiveResults) -> NumberTable:
    """Return the AUROC of the best scores of each form, and of what they are read against."""
    forms = {FORMS[form]: form for form in results.forms if results.ranked(form)}
    most = SHOWN // max(1, len(forms))
    best = [name for form in forms.values() for name in results.scores(form)[:most]]
    best += [n for n in (LENGTH, WORDS) if any(n in results.ranked(f) for f in forms.values())]
    within = " within type of fact" if any(map(results.within, forms.values())) else ""
    note = f"The {most} best of each form, equal ones by chance. All: below, or with --verbose."
    caption = f"Right answers against all others: AUROC{within} (.5 = chance)"
    return grid(
        caption,
        _named(best),
        forms,
        lambda score, form: results.best(form, score),
        written="plain",
        meanings=_names_of(best),
        notes=[note],
    )


def _named(scores: Iterable[str]) -> dict[str, str]:
    return {score_label(name): name for name in scores}


def _names_of(scores: Iterable[str]) -> dict[str, str]:
    """Return what the setting ``scores`` calls each score, by what a table calls it."""
    return {label: name for name in scores if (label := score_label(name)) != name}


def every_score_table(results: SelectiveResults, form: str, *, main: bool = False) -> NumberTable:
    """Return how well the scores of a form that have a value rank its answers, the best first.

    Of the ``main`` scores further numbers.
    """
    of = {"form": form, "against": results.judge(form)}
    names = ["prr", "aurac"] if main else ["auroc_within"] * results.within(form) + ["auroc"]
    means = {NUMBERS[name].column: NUMBERS[name].meaning for name in names}
    held = {score for score, _ in results.by("score", names[-1], **of)}
    ranked = [score for score in results.ranked(form) if score in held]
    which = "Main scores" if main else f"All scores against {line(of['against'], 60)}"
    return grid(
        f"{which}, {FORMS[form]}",
        _named(ranked),
        {NUMBERS[name].column: name for name in names},
        lambda score, name: results.get(name, **of, score=score),
        meanings=means | _names_of(ranked),
    )


def by_judge_table(
    results: SelectiveResults,
    caption: str,
    names: Sequence[str],
    notes: Sequence[str] = (),
    **of: str,
) -> NumberTable:
    """Return numbers by the run's judge, by form and by how the model was asked."""

    def found(name: str, place: tuple[str, dict[str, str]]) -> Entry:
        form, part = place
        e = results.find(name, form=form, against=results.judge(form), **of, **part)
        return e and if_read(e)

    told = any(any(results.each(name, **dict(TOLD))) for name in names)
    asked = {"": {}, **({", told to express uncertainty": dict(TOLD)} if told else {})}
    return grid(
        caption,
        {NUMBERS[name].titled: name for name in names},
        {f"{FORMS[f]}{how}": (f, part) for f in results.forms for how, part in asked.items()},
        found,
        notes=notes,
        meanings={NUMBERS[name].titled: NUMBERS[name].meaning for name in names},
    )


def if_read(share: Estimate) -> Estimate:
    """Return a share, without its value where most of its answers have no verdict."""
    if opening.unread_share([("", "", share)]) <= opening.MOST:
        return share
    lack = f"{share.missing:,} of {share.missing + share.n:,} answers have no verdict"
    return replace(share, value=None, problem=lack)


def tiers_table(results: SelectiveResults, form: str) -> NumberTable:
    """Return errors and abstention of each tier's answerable questions; no rows without tiers."""
    place = {"form": form, "against": results.judge(form)}
    tiers = sorted((tier for tier, _ in results.by("tier", "error_rate", **place)), key=tier_order)
    return grid(
        f"Answerable questions by tier, {FORMS[form]}",
        {tier_label(tier): tier for tier in tiers},
        {"not right": "error_rate", "declined": "abstains_answerable"},
        lambda tier, name: results.find(name, **place, tier=tier),
        notes=[TIERS],
    )


def metrics_table(results: SelectiveResults, form: str) -> NumberTable:
    """Return the main scores under the answer metrics that rank them; no rows for only one."""
    ranking = {by for by, _ in results.by("against", "auroc", form=form)}
    metrics = [metric for metric in results.metrics(form) if metric in ranking]
    scores = {score for score, _ in results.by("score", "auroc", form=form, against="rouge_l")}
    ranked = [name for name in results.ranked(form) if name in scores and metrics[1:]]
    rows = {"share of answers that are not right": ""}

    def found(score: str, by: str) -> Entry:
        if not score:
            return results.get("error_rate", form=form, against=by)
        return results.get("auroc", form=form, against=by, score=score)

    columns = {metric_label(metric, metrics[0]): metric for metric in metrics}
    caption = f"AUROC by answer metric, {FORMS[form]}"
    return grid(caption, rows | _named(ranked) if ranked else {}, columns, found)


def agreement_table(
    results: Results, form: str, judge: str, caption: str, who: str = ""
) -> NumberTable:
    """Return how often every two answer metrics agree.

    The judge comes first; ``who`` it is, if it has a name of its own.
    """
    pairs: dict[tuple[str, str], Estimate] = {}
    for e in results.each("metric_agreement", form=form):
        first, second = part_of(e.where, "against"), part_of(e.where, "metric")
        pairs[first, second] = pairs[second, first] = e
    metrics = sorted(dict.fromkeys(one for one, _ in pairs), key=lambda one: one != judge)
    rows = {(who if one == judge else "") or metric_label(one, judge): one for one in metrics}
    return grid(
        caption,
        rows,
        rows,
        lambda one, two: "" if one == two else pairs.get((one, two)),
        labels=("metric",),
        written="plain",
    )


#: columns of the length audit
AUDIT = {
    "AUROC against ROUGE-L": "audit_against_metric",
    "against the judge": "audit_against_truth",
    "difference": "audit_difference",
    "due to length": "audit_from_length",
    "unexplained": "audit_unexplained",
}


def audit_table(results: SelectiveResults, form: str) -> NumberTable:
    """Return what length adds to the AUROC of the main scores against ROUGE-L."""
    place = {"form": form, "against": "rouge_l"}
    return grid(
        f"Length audit, {FORMS[form]}",
        _named(AUDITED),
        AUDIT,
        lambda score, name: results.find(name, **place, score=score),
        meanings={head: NUMBERS[name].meaning for head, name in AUDIT.items()},
    )


#: columns of rejected answers: a number, or the place of a fifth by length
REJECTED = {
    "all": "false_negatives",
    "shortest fifth": "1",
    "longest fifth": "5",
}


def rejected_table(results: SelectiveResults, form: str) -> NumberTable:
    """Return what share of the right answers each metric rejects, by fifths of length."""
    fifths = {
        (part_of(e.where, "against"), part_of(e.where, "fifth")): e
        for e in results.each("false_negatives_fifth", form=form)
    }

    def found(by: str, column: str) -> Entry:
        return fifths.get((by, column)) or results.find(column, form=form, against=by)

    caption = f"Right answers (judge: {line(results.judge(form), 40)}) that a metric rejects"
    rows = {metric_label(by): by for by, _ in results.by("against", "false_negatives", form=form)}
    means = {head: NUMBERS[n].meaning for head, n in REJECTED.items() if not n.isdecimal()}
    return grid(f"{caption}, {FORMS[form]}", rows, REJECTED, found, meanings=means)


def not_computed(results: SelectiveResults) -> NumberTable:
    """Return the scores without a value, and why they have none."""
    rows = {
        (score_label(score), FORMS[form]): e
        for form in results.forms
        for score, e in results.by("score", "auroc", form=form, against=results.judge(form))
        if e.value is None
    }
    return grid(
        "Scores without a value",
        rows,
        {"why": ""},
        lambda e, _: line(e.problem or "no value", 200),
        labels=("score", "in"),
    )


# ---- charts


def auroc_bars(results: SelectiveResults, width: int) -> Drawing | None:
    """AUROC of the first table, with intervals and a line at .5."""
    table = best_scores_table(results)
    return rows_plot(table.rows, table.columns, width, "AUROC: right answers against others")


def risk(results: SelectiveResults, form: str, width: int) -> Drawing | None:
    """Share not right among the share answered, by score; the model's words as one point."""
    rows = [
        point(score_label(part_of(e.where, "score")), float(part_of(e.where, "coverage")), e)
        for e in results.each("risk", form=form)
        if e.value is not None and (e.denominator or 0) >= FEWEST
    ]
    given, missed = (results.of_judge(name, form, score=WORDS) for name in OF_WORDS)
    if rows and given.value is not None and missed.value is not None:
        rows.append(point(score_label(WORDS), given.value, missed))
    return series_chart(rows, width, ("share of answers given", "share not right among them"))


# ---- the sheet


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
) -> Sheet:
    """Return all that is shown of the numbers; see :class:`sayso.protocols.protocol.Report`."""
    results = SelectiveResults(estimates)
    form = declining_form(results)
    caption = (
        "AUROC of the best scores and of the baselines, right answers against others, with 95 % "
        "intervals; within type of fact where there are types. The line is chance."
    )
    bars = Chart("auroc", partial(auroc_bars, results), caption, caption)
    ranks = any(_ranks(results, f) for f in results.forms)
    counted = bool(form) or not ranks
    fates = fates_table(results)
    named = list(_named_numbers(results))
    return Sheet(
        DECLINING if form else HEADING,
        _opening(results, manifest),
        _declining_tiles(results, form) if form else _score_tiles(results),
        bars if ranks else None,
        fates if counted else best_scores_table(results),
        [
            corrected_section(run, NUMBERS, part_label),
            Section("fates", "What did its answers do?", [] if counted else [fates]),
            *_sections(results, [] if ranks else [bars]),
            missing_section(named),
        ],
        list(_cautions(results)),
        answers_read(results, manifest, run),
        named,
        TERMS,
        "Santilli et al., arXiv 2504.13677; semantic entropy: Kuhn et al. 2023, Farquhar et al. "
        "2024. The docstring of each score names its source.",
    )


TERMS = (
    (
        "wrong, not right",
        "A wrong answer states something false. What an answer metric does not call right is not "
        "right: it can also be hedged, or decline although there is an answer.",
    ),
    (
        "the best score",
        "The highest of many AUROCs is partly luck. The headline therefore gives it cross-fitted: "
        "each pair is ranked by the score that is best on other entities.",
    ),
    (
        "the words alone",
        "A baseline: Naive Bayes on 1- and 2-grams of question and answer, trained on other "
        "entities. A score that does not beat it may only have learned which questions are hard.",
    ),
    ("its own words", "1 if it hedged when told to express uncertainty, else 0, as a score."),
)


def _declining_tiles(results: SelectiveResults, form: str) -> list[Tile]:
    """Return what was declined of the questions as they are, and told to express uncertainty."""
    told = results.of_judge(GAP, form, **dict(TOLD)).value is not None
    asked = {"asked as they are": {}, "told to hedge": dict(TOLD)} if told else {"": {}}
    labels = dict(zip(ABSTENTIONS, (f"declined of {kind}" for kind in KINDS), strict=True))
    labels[GAP] = "abstention gap G: 1 = perfect, 0 = blind, < 0 = backwards"
    return _tiles(
        (label, [(how, results.of_judge(name, form, **part)) for how, part in asked.items()])
        for name, label in labels.items()
    )


def _score_tiles(results: SelectiveResults) -> list[Tile]:
    """Return the errors, the AUROC of the best score and of length, and what was not hedged."""
    judged_forms = [form for form in results.forms if results.judge(form)]
    ranked = [form for form in judged_forms if _ranks(results, form)]

    def of(forms: Sequence[str], number: Callable[[str], Estimate]) -> list[tuple[str, Estimate]]:
        return [(FORMS[form] if results.forms[1:] else "", number(form)) for form in forms]

    errors = partial(results.of_judge, "error_rate")
    worth = partial(results.of_judge, "right_minus_wrong")
    words = partial(results.of_judge, OF_WORDS[0], score=WORDS)
    return _tiles(
        [
            ("answers that are not right", of(judged_forms, errors)),
            (NUMBERS["right_minus_wrong"].titled, of(judged_forms, worth)),
            ("AUROC of the best score, on other answers", of(ranked, partial(best_score, results))),
            ("AUROC of plain length", of(ranked, partial(results.best, score=LENGTH))),
            ("not hedged when told to express uncertainty", of(judged_forms, words)),
        ]
    )


def _tiles(found: Iterable[tuple[str, Sequence[tuple[str, Estimate]]]]) -> list[Tile]:
    """Return tiles of what has a value and was read."""
    tiles = (
        Tile(label, [(of, e) for of, e in values if if_read(e).value is not None])
        for label, values in found
    )
    return [tile for tile in tiles if tile.values]


def _ranks(results: SelectiveResults, form: str) -> bool:
    """Tell whether there are enough pairs of a right and another answer for a headline."""
    rate, best = results.of_judge("error_rate", form), best_score(results, form)
    missed = round((rate.value or 0.0) * rate.n)
    return best.value is not None and missed * (rate.n - missed) >= opening.FEW_PAIRS


def _named_numbers(results: SelectiveResults) -> Iterator[tuple[str, Estimate]]:
    """Yield the numbers of the headline by what they are called, as far as they were computed."""
    for form in results.forms:
        names = ("error_rate", BEST, *ABSTENTIONS, GAP, "passage_gap", "other_passage_gap")
        found = {NUMBERS[name].shown_symbol: results.of_judge(name, form) for name in names}
        words = results.of_judge(OF_WORDS[0], form, score=WORDS)
        found[NUMBERS[OF_WORDS[0]].label] = words
        for score in results.ranked(form)[:1]:
            found[f"AUROC of {score_label(score)}"] = results.best(form, score)
        yield from ((f"{n}, {FORMS[form]}", e) for n, e in found.items() if e.signature or e.n)


def _cautions(results: SelectiveResults) -> Iterator[str]:
    """Yield what a reader must know before quoting a number of this run."""
    for form in results.forms:
        facts, length = results.get("facts", form=form), results.best(form, LENGTH)
        of = capital(FORMS[form])
        if facts.missing:
            yield f"{of}: {facts.missing:,} of {facts.n:,} have no readable verdict; left out."
        if length.low is not None and not covers(length, 0.5):
            yield (
                f"{of}: right answers differ in length from others, which explains part of the "
                "AUROC of any score that grows with length."
            )


def _sections(results: SelectiveResults, bars: Sequence[Chart]) -> list[Section]:
    """Return the tables behind the first one, each under the question that it answers."""
    forms = results.forms

    def each(*tables: Callable[[SelectiveResults, str], NumberTable]) -> list[NumberTable]:
        return [table(results, form) for table in tables for form in forms]

    about = (
        "share not right among the answers given, when the least certain are withheld. The model's "
        "own words are one point."
    )
    risks = []
    for form in forms:
        said = f"{capital(FORMS[form])}: {about}"
        drawn = partial(risk, results, form)
        risks.append(Chart(f"risk against coverage {form}", drawn, said, said))
    agreements = [
        agreement_table(results, f, results.judge(f), f"Same verdict, {FORMS[f]}") for f in forms
    ]
    note = "Abstaining, refusing and asking back count as declining; a hedged answer does not."
    return [
        Section(
            "declining",
            "Does it decline what it cannot answer?",
            [
                by_judge_table(results, "Declining", DECLINED, [note]),
                by_judge_table(results, "With its passage, without it, and with another", PASSAGES),
            ],
        ),
        Section(
            "scores",
            "How do all scores compare?",
            each(every_score_table, partial(every_score_table, main=True)),
            bars,
        ),
        Section(
            "risk",
            "What if only the most certain answers are given?",
            [
                by_judge_table(results, "Told to express uncertainty", OF_WORDS, score=WORDS),
                doubts_table(results),
            ],
            risks,
        ),
        Section("tiers", "Is it worse for obscure subjects?", each(tiers_table)),
        Section("metrics", "Does the ranking depend on the answer metric?", each(metrics_table)),
        Section("agreement", "Do the answer metrics agree?", agreements),
        Section(
            "length", "Is it only the length of the answers?", each(audit_table, rejected_table)
        ),
        Section(
            "not-computed", "Which scores were not computed, and why?", [not_computed(results)]
        ),
    ]


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    if key == "score":
        return score_label(value)
    if ((key, value),) == TOLD:
        return "told to express uncertainty"
    if key == "against":
        return f"graded by {metric_label(value)}"
    return (DID if key == "did" else FORMS).get(value, line(value, 60))


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return the answers, and three examples."""
    tables = answer_tables(folder, "draws", manifest.settings.get("known_k"))
    results, (rows, _) = SelectiveResults(estimates), rows_of_folder(folder, manifest, estimates)
    scores = {form: results.scores(form) for form in rows}
    examples = chosen_examples(folder, rows, declining_form(results), scores)
    return StoredAnswers(examples, cards(tables))
