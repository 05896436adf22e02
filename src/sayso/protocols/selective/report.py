"""How selective numbers are shown: sentences, the terminal, and the tables and charts of the page.

Sentences claim no more than the intervals allow. Charts tell series apart by shape and
label as well as by color, in the colors of :mod:`sayso.report.charts`, which follow light and dark
mode; each function returns ``None`` where there is nothing to draw.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import msgspec
import numpy as np
from rich import table as rich_table
from rich.console import Console
from rich.text import Text

from sayso.harmless import line
from sayso.judges.rules.accuracy import (
    Form,
    nearest_contents,
    nearest_texts,
    reader_accuracy,
)
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics.ranking import FEW, FEWEST, TOO_FEW
from sayso.protocols.judged import (
    HowRead,
    PartRead,
    declining_part,
    how_read,
    right_part,
    run_writer,
    unknown_part,
)
from sayso.protocols.selective.measure import ABSTENTIONS, LENGTH, REFERENCES, TOLD
from sayso.protocols.selective.numbers import NUMBERS
from sayso.protocols.selective.rows import WORDS, load_rows
from sayso.protocols.selective.rows import FormRows as SelectiveRows
from sayso.protocols.selective.settings import BERT, Settings
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Estimate, Generation, Question, Results, part_of, tier_order
from sayso.report import terminal
from sayso.report.answers import cards, golds_text
from sayso.report.charts import (
    COLORS,
    DASHES,
    INK,
    NARROW,
    SHAPES,
    ChartRows,
    Drawing,
    Row,
    bars_of_intervals,
    chart_row,
    data_of,
    finish,
    legend_below,
    point,
    styled,
    values,
    vertical_line,
)
from sayso.report.corrected import corrected_part
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.numbers import (
    FORMS,
    TIERS,
    capital,
    covers,
    interval,
    is_bare,
    number,
    percent,
    plain_number,
    range_of,
    ratio_counts,
    shown_value,
    signed_number,
    tier_label,
    tight,
    with_interval,
)
from sayso.report.opening import (
    BY_LENGTH,
    NO_EXAMPLES,
    ChosenExamples,
    Example,
    HeadlineShare,
    PageOpening,
    errors_sentence,
    example,
    how_often,
    middle,
    open_page,
    with_bounds,
)
from sayso.report.page import stored_answers, with_answers
from sayso.report.scatter import Cloud, Scattered, cloud, figure
from sayso.report.tables import Notes, Table, TableCell, signatures
from sayso.report.terminal import plain_table, print_beginning, safe_text, say
from sayso.scores.text_only import TEXT_ONLY
from sayso.storage.run_folder import Manifest, RunFolder

GAP = "abstention_gap"
ABSTENTION_ROWS = (
    *ABSTENTIONS, "abstention_gap", "abstention_gap_within", "right_minus_wrong",
    "abstains_with_passage", "abstains_without_passage", "passage_gap", "by_heart",
    "answers_other_passage", "other_passage_gap", "right_other_passage", "misled_by_passage",
)  # fmt: skip
#: AUROCs that differ by less are equal
SAME = 1e-9


class SelectiveResults(Results):
    """The estimates of a run by name, form, answer metric and score.

    What rests on too few right or wrong answers to rank scores by has no value here.
    """

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        super().__init__(
            msgspec.structs.replace(e, value=None) if TOO_FEW in (e.problem or "") else e
            for e in estimates
        )

    def metrics(self, form: str) -> list[str]:
        """Return the answer metrics of a form, the run's judge first."""
        return [metric for metric, _ in self.by("against", "error_rate", form=form)]

    def judge(self, form: str) -> str:
        """Return the answer metric that the run's judge is."""
        return next(iter(self.metrics(form)), "")

    def within(self, form: str) -> bool:
        """Tell whether scores of a form are ranked within type of fact."""
        every = self.each("auroc_within", form=form, against=self.judge(form))
        return any(e.value is not None for e in every)

    def best(self, form: str, score: str, against: str = "") -> Estimate:
        """Return the AUROC within type of fact, or the plain one where there are no types."""
        name = "auroc_within" if self.within(form) else "auroc"
        return self.get(name, form=form, against=against or self.judge(form), score=score)

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

    def tied(self, form: str, score: str) -> list[str]:
        """Return the scores with the same rank as this one, which is among them."""
        value = self.best(form, score).value
        if value is None:
            return [score]
        own = ((name, self.best(form, name).value or 0.0) for name in self.scores(form))
        return [name for name, other in own if abs(other - value) < SAME]


# ---- names of scores and answer metrics in words

#: scores whose name is not readable with spaces for underscores
SCORE_NAMES = {
    "length_words": "plain length (words)",
    "length_tokens": "plain length (tokens)",
    "words": "its own words",
    "text_only": "the words alone",
    "token_sar": "TokenSAR",
    "sentence_sar": "SentenceSAR",
    "sar": "SAR",
    "mars": "MARS",
    "ccp": "CCP",
    "p_true": "P(True)",
    "p_true_few": "P(True), with examples",
    "p_true_raw": "P(True), unnormalized",
    "p_true_sampled": "P(True), by sampling",
    "p_ik": "P(IK)",
    "p_ik_other_data": "P(IK), learned on other data",
    "pmi": "mutual information",
    "conditional_pmi": "conditional mutual information",
    "num_sets": "number of meanings",
    "naive_entropy_eq4": "naive entropy, equation 4",
    "mc_mean_token_entropy": "token entropy of the draws",
    "cocoa_probability": "CoCoA on probability",
    "cocoa_perplexity": "CoCoA on perplexity",
    "cocoa_entropy": "CoCoA on entropy",
    "fisher_rao": "Fisher-Rao distance",
    "renyi_divergence": "Rényi divergence",
    "selfcheck_nli": "SelfCheck, NLI",
    "verbalized_two_step": "stated confidence, asked after",
    "verbalized_two_step_reasoned": "stated confidence, asked after reasons",
    "verbalized_top_k": "stated confidence, several guesses",
    "luq": "LUQ",
    "luq_draws": "LUQ of the draws",
}
#: first words of a family of scores
FAMILIES = {
    "semantic_entropy_mc": "semantic entropy, Monte Carlo",
    "semantic_entropy": "semantic entropy",
    "naive_entropy": "naive entropy",
    "eigv": "graph eigenvalues",
    "degree": "graph degree",
    "eccentricity": "graph eccentricity",
    "selfcheck_ngram": "SelfCheck n-gram",
    "selfcheck": "SelfCheck",
    "verbalized": "stated confidence",
}
METRIC_NAMES = {
    "rouge_l": "ROUGE-L",
    "squad_f1": "SQuAD F1",
    "exact_match": "exact match",
    "contains": "contains reference",
    "unknown": "unknown",
    "bert_score": "BERTScore",
    "llm_blind": "blind grader",
}
_OURS = re.compile(r"[a-z0-9_]{1,60}")


def score_label(name: str) -> str:
    """Return a score's name in words; a name that is not ours stays as it is."""
    if name in SCORE_NAMES:
        return SCORE_NAMES[name]
    if not _OURS.fullmatch(name):
        return line(name, 60)
    for start, family in FAMILIES.items():
        if name == start:
            return family
        if name.startswith(f"{start}_"):
            return f"{family}, {name.removeprefix(start)[1:].replace('_', ', ')}"
    return name.replace("_", " ")


def metric_label(name: str, judge: str = "") -> str:
    """Return an answer metric's name in words; the run's judge is called so."""
    kind, _, model = name.partition(":")
    label = METRIC_NAMES.get(name) or line(f"{METRIC_NAMES.get(kind, kind)} {model}".strip(), 40)
    return f"{label} (judge)" if name == judge else label


# ---- how page and terminal begin: one sentence for a reader without statistics, three answers

HEADING = "Which uncertainty score detects the model's errors, and does it beat answer length?"
#: of questions that can be answered and questions that cannot
DECLINING = "Does the model answer what it can and decline what it cannot?"
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
    for form in results.forms:
        shares = (results.get(name, **_of_judge(results, form)) for name in ABSTENTIONS)
        if all(share.value is not None for share in shares):
            return form
    return ""


def _of_judge(results: SelectiveResults, form: str) -> dict[str, str]:
    return {"form": form, "against": results.judge(form)}


def heading(estimates: Sequence[Estimate]) -> str:
    """Return the question that the page answers; it depends on the questions that were asked."""
    return DECLINING if declining_form(SelectiveResults(estimates)) else HEADING


def opening(estimates: Sequence[Estimate], manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin; see :class:`sayso.protocols.protocol.Report`."""
    results = SelectiveResults(estimates)
    limit = DECLINING_NOT_SHOWN if declining_form(results) else NOT_SHOWN
    counted = _counted(results, declining_form(results) or _judged_form(results))
    return open_page(manifest, plain_sentence(results), limit, counted=counted)


def _counted(results: SelectiveResults, form: str) -> list[HeadlineShare]:
    """Return the shares that the plain sentence rests on."""
    if form and form == declining_form(results):
        return _both(*(results.get(name, **_of_judge(results, form)) for name in ABSTENTIONS))
    facts, rate = results.get("facts", form=form), _errors(results, form)
    rate = msgspec.structs.replace(rate, n=facts.n - facts.missing, missing=facts.missing)
    return [("{} of all answers are wrong", "answers", rate)]


def _both(none: Estimate, some: Estimate) -> list[HeadlineShare]:
    cannot = "questions that cannot be answered"
    return [
        (f"it declined {{}} of the {cannot}", cannot, none),
        ("{} of those that can", "questions that can", some),
    ]


def _judged_form(results: SelectiveResults) -> str:
    """Return the first form with right and wrong answers, else the first; "" if there is none."""
    forms = [form for form in results.forms if results.judge(form)]
    return next((f for f in forms if _errors(results, f).value is not None), "".join(forms[:1]))


def plain_sentence(results: SelectiveResults) -> str:
    """Say in one sentence whether the model declines what it cannot answer, or what finds errors.

    The first where there are questions of both kinds, else the second; of short answers where
    there are any.
    """
    if form := declining_form(results):
        return _declines(results, form)
    form = _judged_form(results)
    return _finds(results, form) if form else "This run has no numbers yet."


def _errors(results: SelectiveResults, form: str) -> Estimate:
    return results.get("error_rate", **_of_judge(results, form))


def _declines(results: SelectiveResults, form: str) -> str:
    place = {**_of_judge(results, form), **dict(TOLD)}
    told = [results.get(name, **place) for name in ABSTENTIONS]
    if any(share.value is None for share in told):
        return _declines_plainly(results, form, "", "")
    plainly = _declines_plainly(results, form, " when asked plainly", "asked plainly, ")
    said = f"Told to express uncertainty, it declined {_of_both(*told)}."
    return f"{plainly} {with_bounds(said, _both(*told))}"


def _of_both(none: Estimate, some: Estimate) -> str:
    return f"{_count(none)} questions that cannot be answered and {_count(some)} that can"


def _declines_plainly(results: SelectiveResults, form: str, when: str, before: str) -> str:
    place = _of_judge(results, form)
    none, some = (results.get(name, **place) for name in ABSTENTIONS)
    gap = results.get(GAP, **place)
    if none.value == 0 and some.value == 0:
        return (
            f"It never declined{when}: it answered all {none.n:,} questions that cannot be "
            f"answered and all {some.n:,} that can."
        )
    counts = f"{before}it declined {_of_both(none, some)}"
    often = how_often(none)
    fewest = min(none.denominator or none.n, some.denominator or some.n)
    if gap.low is None or gap.high is None or not often or fewest < FEW:
        few = "There are too few questions to say whether it declines what it cannot answer"
        return f"{few}: {counts}."
    if gap.high < 0:
        return f"It declines the wrong questions: {counts}."
    if gap.low <= 0 and often != "rarely":
        return f"It shows no clear sense of what it cannot answer: {counts}."
    return f"It {often} declines what it cannot answer: {counts}."


def _count(share: Estimate) -> str:
    if share.numerator is None or share.denominator is None:
        return f"{percent(share.value, 0)} of {share.n:,}"
    return f"{share.numerator:,.0f} of {share.denominator:,.0f}"


def _finds(results: SelectiveResults, form: str) -> str:
    rate = _errors(results, form)
    if rate.value is None:
        return "This run cannot say which score detects errors: no answer has a verdict."
    wrong = round(rate.value * rate.n)
    answers = "facts in paragraphs" if form == "long" else "short answers"
    scores = results.scores(form)
    best = results.get("auroc_best", **_of_judge(results, form))
    if best.value is None and scores:
        best = results.best(form, scores[0])
    names = [score_label(name) for name in scores]
    said = errors_sentence(wrong, rate.n, f"its {rate.n:,} {answers}", names, best)
    silent = results.get("abstains_answerable", **_of_judge(results, form))
    if silent.numerator and part_of(silent.signature, "abstained") == "incorrect":
        decline = "declines" if silent.numerator == 1 else "decline"
        said += f" {silent.numerator:,.0f} of the wrong answers {decline} to answer."
    return said


def examples(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> ChosenExamples:
    """Return three answers of the first form; see :class:`sayso.protocols.protocol.Report`.

    Of questions of both kinds: one that was rightly declined, one that should have been, and one
    of the commonest kind. Else a wrong answer that the best score finds, one that it misses, and
    the answer of median score.
    """
    rows, _ = rows_of_folder(folder, manifest, estimates)
    return _examples(folder, rows, SelectiveResults(estimates))


def _examples(
    folder: RunFolder, forms: Mapping[str, SelectiveRows], results: SelectiveResults
) -> ChosenExamples:
    form = declining_form(results)
    if form in forms:
        return _declined_examples(folder, forms[form])
    # a probe is learned from hidden states, which are not read again for a page
    best = ((f, s) for f in forms for s in results.scores(f) if s in forms[f].scores)
    form, score = next(best, ("", ""))
    return _found_examples(folder, forms[form], score) if form else NO_EXAMPLES


#: what is said of a typical answer
NOBODY, POLICY = "Nobody can answer this.", "Read as a refusal by policy."


def _declined_examples(folder: RunFolder, rows: SelectiveRows) -> ChosenExamples:
    withheld, none = rows.withheld, rows.unanswerable
    if withheld is None or none is None:
        return NO_EXAMPLES
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for at in np.flatnonzero(~np.isnan(withheld)).tolist():
        kinds.setdefault((bool(none[at]), bool(withheld[at] > 0)), []).append(at)
    # to refuse is to state no value, but it says nothing of what can be known
    refused = np.zeros(len(none), dtype=np.bool_)
    if rows.stance is not None:
        refused = rows.stance == "refused_by_policy"
    spoken = [at for at in kinds.get((True, True), []) if not refused[at]]
    texts = _FormTexts(folder, rows)
    chosen: dict[int, tuple[str, str]] = {}
    for what, held, note in (
        ("Rightly declined", spoken, "Nobody can answer this, and it says so."),
        (
            "Should have declined",
            kinds.get((True, False), []),
            "Nobody can answer this, and it states a value.",
        ),
    ):
        found = middle(held, texts.length)
        if found is not None:
            chosen[found] = (what, note)
    commonest = [at for at in max(kinds.values(), key=len, default=[]) if at not in chosen]
    found = middle(commonest, texts.length)
    if found is not None:
        notes = (NOBODY * bool(none[found]), POLICY * bool(refused[found]))
        chosen[found] = ("A typical answer", " ".join(filter(None, notes)))
    shown = [texts.example(at, what, note) for at, (what, note) in chosen.items()]
    rule = f"{BY_LENGTH} Typical: from the most common kind (answerable or not, declined or not)."
    return ChosenExamples(shown, rule)


def _found_examples(folder: RunFolder, rows: SelectiveRows, score: str) -> ChosenExamples:
    values, wrong = rows.scores[score], rows.wrong[rows.judge]
    held = np.flatnonzero(~np.isnan(values) & ~np.isnan(wrong)).tolist()
    errors = [at for at in held if wrong[at] > 0]
    if not errors:
        return NO_EXAMPLES
    order = sorted(held, key=lambda at: (values[at], at))
    place = {at: rank for rank, at in enumerate(order, start=1)}
    chosen = {
        max(errors, key=lambda at: (values[at], -at)): "An error that the score finds",
        min(errors, key=lambda at: (values[at], at)): "An error that the score misses",
    }
    chosen.setdefault(order[(len(order) - 1) // 2], "A typical answer")
    texts = _FormTexts(folder, rows)
    shown = [
        texts.example(
            at,
            what,
            f"In order of certainty, it is number {place[at]:,} of {len(order):,} answers.",
        )
        for at, what in chosen.items()
    ]
    rule = (
        f"Chosen by the score {score_label(score)}: the least and the most certain wrong answer, "
        "and the answer of median score."
    )
    return ChosenExamples(shown, rule)


class _FormTexts:
    """The texts that the rows of a form stand for."""

    def __init__(self, folder: RunFolder, rows: SelectiveRows) -> None:
        self._rows = rows
        self._questions = {q.id: q for q in folder.read("questions", Question)}
        answers = folder.iter(f"generations/{rows.form}", Generation)
        self._answers = {g.question: g.text for g in answers if not g.instructed}

    def length(self, at: int) -> float:
        return len(self._answers.get(self._rows.facts[at][0], ""))

    def example(self, at: int, what: str, note: str) -> Example:
        asked, short = self._rows.facts[at]
        question, wrong = self._questions[short], self._rows.wrong[self._rows.judge][at]
        kind = "" if np.isnan(wrong) or note.startswith("Nobody") else KINDS[bool(wrong > 0)]
        text = self._answers.get(asked, "")
        return example(what, question.text, golds_text(question), text, kind=kind, note=note)


#: whether an answer is wrong -> the verdict that is shown
KINDS = {True: "incorrect", False: "correct"}


# ---- sentences


def headline(results: SelectiveResults, form: str) -> str:
    """Return the first sentences of a form: how many facts, how many wrong, what tells them.

    The best of many scores was chosen on the answers it is shown on, which flatters it: the
    sentences say of how many, and what the best has where it is chosen on other answers. Of several
    that tie none is named.
    """
    judge, title = results.judge(form), FORMS[form].capitalize()
    rate = results.get("error_rate", form=form, against=judge)
    ranked = results.scores(form)
    if rate.value is None:
        abstaining = " ".join(abstention_sentences(results, form))
        if abstaining:
            return f"{title}: {abstaining}"
        return f"{title}: no answer has a verdict, so nothing could be ranked."
    wrong = rate.value * rate.n
    if min(wrong, rate.n - wrong) < FEWEST:
        return (
            f"{title}: of {rate.n:,} judged answers {_are(wrong, 'wrong')} and "
            f"{_are(rate.n - wrong, 'right')} (judge: {line(judge, 40)}). Ranking scores requires "
            f"at least {FEWEST} of each."
        )
    errors = (
        f"{title}: {percent(rate.value, 0)} of {rate.n:,} judged answers are wrong (judge: "
        f"{line(judge, 40)})"
    )
    if not ranked:
        return f"{errors}. No score could be ranked."
    best, tied = ranked[0], len(results.tied(form, ranked[0]))
    estimate = results.best(form, best)
    among = f", the best of {len(ranked)} scores on these answers," if len(ranked) > 1 else ""
    who = f"{capital(score_label(best))}{among} has"
    if tied > 1:
        who = f"{tied} of {len(ranked)} scores tie as the best on these answers, with"
    within = " within fact type" if estimate.name == "auroc_within" else ""
    pairs = f"{_pairs(estimate)}pairs; " if _pairs(estimate) else ""
    text = (
        f"{errors}. {who} an AUROC of {with_interval(estimate)}{within} ({pairs}chance: .50); "
        f"plain length has {with_interval(results.best(form, LENGTH))}."
    )
    chosen = results.get("auroc_best", form=form, against=judge)
    if chosen.value is None:
        return text
    return (
        f"{text} If the best score is chosen on one part of the answers and measured on the rest, "
        "it has "
        f"{with_interval(chosen)}."
    )


def _are(count: float, kind: str) -> str:
    return f"{f'{count:,.0f}' if round(count) else 'none'} {'are' if count > 1 else 'is'} {kind}"


def _pairs(estimate: Estimate) -> str:
    """Return of how many pairs an AUROC is, as a cell or before the word."""
    return "" if estimate.denominator is None else f"{estimate.denominator:,.0f} "


def length_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield the AUROC of plain length, and what it means if it is not .5."""
    row = results.best(form, LENGTH)
    if row.value is None:
        yield f"Plain length has no AUROC: {line(row.problem or 'not computed', 200)}."
        return
    kind = "within type" if row.name == "auroc_within" else "pooled"
    if row.low is None:
        reason = line(row.problem or "no interval", 200)
        yield f"Plain length, {kind}: {number(row)}: {reason}."
        return
    if covers(row, 0.5):
        yield f"Plain length, {kind}: AUROC {with_interval(row)}; the interval includes .5."
        return
    yield (
        f"! Plain length, {kind}: AUROC {with_interval(row)}. Wrong answers differ in length from "
        "right ones here, which explains part of the AUROC of any score that grows with "
        "length."
    )


def unread_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield how many answers have no readable verdict, and what they could make of the errors."""
    facts = results.get("facts", form=form)
    rate = results.get("error_rate", form=form, against=results.judge(form))
    if facts.missing and rate.bound_low is not None and rate.bound_high is not None:
        yield (
            f"! {facts.missing:,} of {facts.n:,} answers have no readable verdict and are left "
            f"out; whatever their verdicts, {percent(rate.bound_low, 0)} to "
            f"{percent(rate.bound_high, 0)} of all answers are wrong."
        )


def abstention_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield whether it abstains where there is no answer and not where there is one, and its G."""
    place = {"form": form, "against": results.judge(form)}
    gap = results.get("abstention_gap", **place)
    parts = [results.get(name, **place) for name in ABSTENTIONS]
    if all(part.value is not None for part in parts):
        none, some = (f"{_share(part)} of {part.n:,}" for part in parts)
        said = f"abstention gap (G) = {_signed_interval(gap)} (0 = blind)"
        few = "too few questions for the abstention gap (G)"
        yield (
            f"the model declines {none} unanswerable questions and {some} answerable ones: "
            f"{few if is_bare(gap) or gap.value is None else said}."
        )
    removed, given, gap = (
        results.get(name, **place)
        for name in ("abstains_without_passage", "abstains_with_passage", "passage_gap")
    )
    if gap.value is not None:
        value = "" if is_bare(gap) else f": G = {_signed_interval(gap)}"
        yield (
            f"Without the passage, it declines {_share(removed)} of {removed.n:,} questions; with "
            f"it, {_share(given)}{value}. Without the passage, it answers "
            f"{_share(results.get('by_heart', **place))} right from memory."
        )
    answered, misled, gap = (
        results.get(name, **place)
        for name in ("answers_other_passage", "misled_by_passage", "other_passage_gap")
    )
    if gap.value is not None:
        value = "" if is_bare(gap) else f" G = {_signed_interval(gap)} (0 = blind)."
        yield (
            f"It declines {_share(given)} of {given.n:,} questions although the passage says the "
            f"answer, and answers {_share(answered)} of {answered.n:,} although the passage does "
            f"not say it: {_share(misled)} with a wrong value from that passage.{value}"
        )


def words_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield what the model's own words do as a policy: how much they commit to, how often wrong."""
    judge = results.judge(form)
    coverage = results.get("coverage_of_words", form=form, against=judge, score=WORDS)
    risk = results.get("risk_of_words", form=form, against=judge, score=WORDS)
    rate = results.get("error_rate", form=form, against=judge)
    if coverage.value is None or rate.value is None:
        return
    given = (
        "it hedges all of them"
        if risk.value is None
        else f"{_share(risk)} of those are wrong (of all answers: {_share(rate)})"
    )
    said = f"Told to express uncertainty, it commits to {_share(coverage)} of the answers; {given}."
    told = ("it commits to {}", "answers that were to express uncertainty", coverage)
    yield with_bounds(said, [told])


def _share(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return percent(estimate.value, 0)
    ends = f"{percent(estimate.low, 0)}, {percent(estimate.high, 0)}".replace(" %", "")
    return f"{percent(estimate.value, 0)} [{ends}]"


def length_audit_sentence(results: SelectiveResults, form: str, most: int = 3) -> Iterator[str]:
    """Yield the careful sentence of the length audit, of so many scores."""
    names = [part_of(e.where, "score") for e in results.each("audit_against_metric", form=form)]
    fields = ("against_metric", "against_truth", "difference", "from_length", "unexplained")
    for name in names[:most]:
        place = {"form": form, "against": "rouge_l", "score": name}
        metric, truth, difference, length, rest = (
            results.get(f"audit_{field}", **place) for field in fields
        )
        if difference.value is None:
            continue
        yield (
            f"{capital(score_label(name))}: AUROC {with_interval(metric)} against ROUGE-L, "
            f"{with_interval(truth)} against {line(results.judge(form), 40)} on the same rows. The "
            f"difference is {signed_number(difference.value)}. Long right answers that ROUGE-L "
            f"rejects account for {_signed_interval(length)}; {_signed_interval(rest)} is "
            "unexplained."
        )


def _signed_interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return signed_number(estimate.value)
    value, low, high = map(signed_number, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def refused_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield what share of the right answers each metric refuses, and how that rises with length."""
    parts = []
    few = 0
    for by, estimate in results.by("against", "false_negatives", form=form):
        if estimate.value is not None and estimate.n < FEWEST:
            few = max(few, estimate.n)
            continue
        slope = results.get("false_negative_slope", form=form, against=by)
        if estimate.value is None:
            continue
        rise = f", slope {_signed_interval(slope)}" if slope.value is not None else ""
        parts.append(f"{metric_label(by)} {percent(estimate.value, 0)}{rise}")
    if parts:
        yield (
            f"Right answers (judge: {line(results.judge(form), 40)}) that a metric rejects, and "
            f"the slope over fifths of their length: {'; '.join(parts)}."
        )
    elif few:
        right = "1 right answer is" if few == 1 else f"{few} right answers are"
        yield f"{right} too few to say what a metric rejects (at least {FEWEST})."


MAJORITY = "Word-overlap metrics make the same mistakes, so their majority is not ground truth."


def agreement_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield how often each answer metric says what most of the others say."""
    judge = results.judge(form)
    parts = [
        f"{metric_label(by, judge)} {_share(e)}"
        for by, e in results.by("against", "metric_against_others", form=form)
        if e.value is not None and e.n >= FEWEST
    ]
    if parts:
        yield (
            f"Agreement of each answer metric with the majority of the others: {', '.join(parts)}. "
            f"{MAJORITY}"
        )


def flip_sentences(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield how many pairs of scores swap places between answer metrics."""
    if not results.ranked(form):
        return
    total = results.get("rank_flips", form=form)
    if not total.value:
        if total.value == 0:
            yield "No two scores swap places when the answer metric changes."
        return
    clear = total.numerator or 0
    yield (
        f"{total.value:.0f} pairs of scores swap places when the answer metric changes, "
        f"{clear:.0f} of them clearly."
    )


def not_computed(results: SelectiveResults) -> Iterator[str]:
    """Yield one line for each reason why scores have no value, with the scores it concerns."""
    scores_of: dict[tuple[str, ...], list[str]] = {}
    for reason, names in missing_reasons(results).items():
        for score, forms in names.items():
            scores_of.setdefault((reason, *forms), []).append(score)
    for (reason, *forms), scores in scores_of.items():
        where = (
            "" if len(forms) == len(results.forms) else f" ({', '.join(FORMS[f] for f in forms)})"
        )
        yield f"not computed{where}: {', '.join(scores)}: {reason}"


def in_one_line(results: SelectiveResults) -> Iterator[str]:
    """Yield how many scores have no value in some form, if any."""
    missing = {score for names in missing_reasons(results).values() for score in names}
    if missing:
        many = "1 score was" if len(missing) == 1 else f"{len(missing)} scores were"
        yield f"{many} not computed, in one form or both: --verbose lists the reasons"


def missing_reasons(results: SelectiveResults) -> dict[str, dict[str, list[str]]]:
    """Return reason -> score -> forms, of scores without a value."""
    missing: dict[str, dict[str, list[str]]] = {}
    for form in results.forms:
        for score, estimate in results.by("score", "auroc", form=form, against=results.judge(form)):
            if estimate.value is None:
                reason = line(estimate.problem or "no value", 200)
                if TOO_FEW in reason and not results.ranked(form):
                    continue  # so it is with all scores: the first sentence says it
                missing.setdefault(reason, {}).setdefault(score, []).append(form)
    return missing


# ---- how well right, wrong and declining were read


def answers_read(
    results: SelectiveResults, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well right and wrong answers, and those that decline, are read in each form."""
    title = "How well right, wrong and declining were read"
    if manifest is None:
        return HowRead(title)
    parts: list[PartRead] = []
    for form in results.forms:
        parts += _form_read(results, manifest, form)
    return how_read(title, manifest, parts, run)


def _form_read(results: SelectiveResults, manifest: Manifest, form: str) -> Iterator[PartRead]:
    name = line(manifest.judge_signature or manifest.judge, 60)
    if manifest.judge != "rules":
        yield unknown_part(manifest, name, "tells right from wrong answers", "right")
        yield unknown_part(manifest, name, "sees that an answer declines", "doubt")
        return
    counts = reader_accuracy() if manifest.judge_signature == SIGNATURE else None
    kind: Form = "long" if form == "long" else "short"
    contents, texts = None, None
    if counts is not None:
        place = kind, _words_of(results, form), run_writer(manifest)
        contents, texts = nearest_contents(counts, *place), nearest_texts(counts, *place)
    yield right_part(name, FORMS[form], contents)
    yield declining_part(name, FORMS[form], texts)


def _words_of(results: SelectiveResults, form: str) -> float | None:
    """Return the words of a typical right answer: the middle of the middle fifth by length."""
    reaches = {part_of(e.where, "length") for e in results.each("false_negatives_fifth", form=form)}
    ends = [tuple(map(float, reach.split("-"))) for reach in reaches if "-" in reach]
    middles = sorted(sum(pair) / len(pair) for pair in ends)
    return middles[len(middles) // 2] if middles else None


# ---- the terminal: a leaderboard, always with plain length, and sentences

#: rows of a form's table; the page has them all
SHOWN = 12
#: scores of a form among the main numbers
BEST = 3


def render(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    entities: int | None = None,
    verbose: bool = False,
    run: RunFolder | None = None,
) -> None:
    """Print the leaderboard of each form and what must be known of it. Holds for any estimates."""
    results = SelectiveResults(estimates)
    first = opening(estimates, manifest)
    print_beginning(console, manifest, first)
    for form in results.forms if not first.void else ():
        say(console, headline(results, form), "")
    for form in results.forms:
        console.print()
        if results.ranked(form):
            say(console, columns_explained(results, form), "")
            console.print(terminal_board(results, form, console))
        else:
            say(console, FORMS[form].capitalize(), "bold")
        for table in terminal_tiers(results, form, console):
            console.print(table)
        for text in _below(results, form) if not first.void else ():
            say(console, text, "")
    for text in not_computed(results) if verbose else in_one_line(results):
        say(console, text, "dim")
    for text in answers_read(results, manifest, run).sentences:
        say(console, text, "dim")
    if manifest is not None:
        say(console, terminal.request_counts(manifest), "dim")
    terminal.end(console, manifest, first, results.all, page)


def summary(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return of each form the abstention gap, or the best AUROC, or the errors.

    See :class:`sayso.protocols.protocol.Report`.
    """
    results = SelectiveResults(estimates)
    numbers = []
    for form in results.forms:
        names = (GAP, "auroc_best", "error_rate")
        found = (results.get(name, **_of_judge(results, form)) for name in names)
        numbers += [e for e in found if e.value is not None][:1]
    return numbers


def main_numbers(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the errors of each form, its best scores, plain length, and the model's words.

    The errors come first, then what the best score has where it is chosen on other answers: the
    best of many was chosen on the answers it is shown on. See
    :class:`sayso.protocols.protocol.Report`.
    """
    results = SelectiveResults(estimates)
    main: list[Estimate] = []
    for form in results.forms:
        ranked = [name for name in results.ranked(form) if name != TEXT_ONLY]
        shown = ranked[:BEST] + [n for n in (LENGTH, WORDS) if n in ranked[BEST:]]
        place = {"form": form, "against": results.judge(form)}
        names = ("error_rate", "auroc_best", "abstention_gap", *ABSTENTIONS, "passage_gap")
        first = (results.find(name, **place) for name in names)
        main += [estimate for estimate in first if estimate is not None]
        main += [results.best(form, name) for name in shown]
    return main


def columns_explained(results: SelectiveResults, form: str) -> str:
    """Return what the columns of a form's table are."""
    within = results.within(form)
    area = ", within type of fact" if within else ""
    pooled = "pooled: AUROC of all pairs; " if within else ""
    return (
        f"AUROC for a wrong answer, {FORMS[form]} (.5 = chance){area}; pairs: of a wrong and a "
        f"right answer; {pooled}unkn.: for an unknown fact; len.: rank correlation with the number "
        "of words"
    )


def terminal_board(results: SelectiveResults, form: str, console: Console) -> rich_table.Table:
    """Return the leaderboard of a form: the best scores, plain length, the model's words."""
    table = plain_table()
    table.add_column(safe_text("score", console, "dim"), no_wrap=True)
    pooled = ("pooled",) if results.within(form) else ()
    for head in ("AUROC", "pairs", *pooled, "unkn.", "PRR", "len."):
        table.add_column(safe_text(head, console, "dim"), justify="right", no_wrap=True)
    ranked = results.ranked(form)
    shown = ranked[:SHOWN]
    best = next(iter(results.scores(form)), "")
    first = best if best and len(results.tied(form, best)) == 1 else ""
    shown += [name for name in REFERENCES if name in ranked and name not in shown]
    for name in shown:
        style = "bold cyan" if name in (LENGTH, TEXT_ONLY) else "bold" if name == first else ""
        table.add_row(safe_text(name, console, style), *_cells(results, form, name, console))
    left = len(ranked) - len(shown)
    if left > 0:
        table.add_row(safe_text(f"{left} more on the page", console, "dim"))
    for text in cut_in_ties(results, form, SHOWN):
        table.caption, table.caption_justify = safe_text(text, console, "dim"), "left"
    return table


def cut_in_ties(results: SelectiveResults, form: str, most: int) -> Iterator[str]:
    """Yield that the first ``most`` scores end among equal ones, where they do."""
    ranked = results.ranked(form)
    if len(ranked) <= most:
        return
    tied = results.tied(form, ranked[most - 1])
    if ranked[most] in tied:
        value = number(results.best(form, tied[0]))
        above = sum(name in tied for name in ranked[:most])
        yield (
            f"{len(tied)} scores tie at {value}; the {above} listed here are an arbitrary choice."
        )


def _cells(results: SelectiveResults, form: str, name: str, console: Console) -> list[Text]:
    place = {"form": form, "against": results.judge(form), "score": name}
    area = results.best(form, name)
    pooled = (number(results.get("auroc", **place)),) if results.within(form) else ()
    texts = (
        with_interval(area),
        _pairs(area).strip(),
        *pooled,
        number(results.best(form, name, "unknown")),
        number(results.get("prr", **place)),
        number(results.get("length_correlation", **place)),
    )
    return [safe_text(text, console) for text in texts]


def _below(results: SelectiveResults, form: str) -> Iterator[str]:
    yield from unread_sentences(results, form)
    yield from abstention_lines(results, form)
    if results.ranked(form):
        yield from length_sentences(results, form)
    yield from words_sentences(results, form)
    yield from length_audit_sentence(results, form, most=1)
    yield from refused_sentences(results, form)
    yield from agreement_sentences(results, form)
    yield from flip_sentences(results, form)


def abstention_lines(results: SelectiveResults, form: str) -> list[str]:
    """Return the sentences on abstaining that the headline does not hold, and right minus wrong."""
    place = {"form": form, "against": results.judge(form)}
    told = results.get("error_rate", **place).value is None
    lines = [] if told else [capital(text) for text in abstention_sentences(results, form)]
    first = results.get("right_minus_wrong", **place)
    if first.value is not None:
        lines.append(
            f"Right minus wrong, where declining counts 0: {_signed_interval(first)} (the "
            "Omniscience Index is 100 times this). Below 0, never answering would have scored "
            "higher."
        )
    return lines


# ---- charts

#: rows of the bars
MOST_BARS = 16
WORDS_OF_ANSWER = "words of the answer"


def auroc_bars(results: SelectiveResults, width: int) -> Drawing | None:
    """AUROC of the best scores and of plain length, by form, with intervals and a line at .5."""
    names: list[str] = []
    for form in results.forms:
        names += results.ranked(form)[: MOST_BARS // 2]
    names = list(dict.fromkeys([*names, *REFERENCES]))
    rows = [
        chart_row(score_label(name), FORMS[form], e)
        for name in names
        for form in results.forms
        if (e := results.best(form, name)).value is not None
    ]
    kinds = [FORMS[form] for form in results.forms]
    return _points(rows, kinds, width, "AUROC for a wrong answer") if rows else None


def targets(results: SelectiveResults, form: str, width: int) -> Drawing | None:
    """AUROC of scores against *wrong* and against *unknown*, the model's words among them."""
    judge = results.judge(form)
    names = list(dict.fromkeys([*results.ranked(form)[:MOST_BARS], *REFERENCES]))
    kinds = {judge: "a wrong answer", "unknown": "an unknown fact"}
    rows = [
        chart_row(score_label(name), kind, e)
        for name in names
        for by, kind in kinds.items()
        if (e := results.best(form, name, by)).value is not None
    ]
    if len({r["series"] for r in rows}) < 2:
        return None  # nothing to set against the errors: the bars show them
    return _points(rows, list(kinds.values()), width, "AUROC")


def _points(rows: list[Row], kinds: list[str], width: int, title: str) -> Drawing:
    """A point with its interval for each score and kind, the best of the first kind on top."""
    first = {str(r["row"]): r["value"] for r in rows if r["series"] == kinds[0]}
    names = dict.fromkeys(str(r["row"]) for r in rows)
    order = sorted(names, key=lambda n: -float(first.get(n) or 0))
    ends = values(rows, "value", "low", "high")
    scale = alt.Scale(domain=[min(0.4, *ends), max(1.0, *ends)], nice=False, zero=False, padding=8)
    axis = alt.Axis(tickCount=6 if width > NARROW else 3, format=".1f")
    x = alt.X("value:Q", title=title, scale=scale, axis=axis)
    drawn = [kind for kind in kinds if any(r["series"] == kind for r in rows)]
    forms = list(FORMS.values())
    layout = ChartRows(
        order,
        drawn,
        forms if set(kinds) <= set(forms) else kinds,
        width * 2 // 5 if width > NARROW else width // 2,
        legend=legend_below(2 if width > NARROW else 1, 24, labelLimit=320) if drawn[1:] else None,
    )
    layers = alt.layer(vertical_line(0.5), *layout.points(rows, x))
    return finish(layers, width, layout.height(22 if len(kinds) == 1 else 30))


def risk(results: SelectiveResults, form: str, width: int) -> Drawing | None:
    """Share wrong among the share answered, by score; the model's words as one point."""
    if not results.ranked(form):
        return None
    rows = [
        point(score_label(part_of(e.where, "score")), float(part_of(e.where, "coverage")), e)
        for e in results.each("risk", form=form)
        if e.value is not None and (e.denominator or 0) >= FEWEST
    ]
    judge = results.judge(form)
    spot = (
        results.get("coverage_of_words", form=form, against=judge, score=WORDS),
        results.get("risk_of_words", form=form, against=judge, score=WORDS),
    )
    words: list[Row] = []
    if spot[0].value is not None and spot[1].value is not None:
        words = [{"series": "its words", "x": spot[0].value, "y": spot[1].value}]
    titles = ("share of answers given", "share wrong among them")
    return _lines(rows, width, titles, words, formats=("%", "%"))


def refusals_figure(results: SelectiveResults, form: str, width: int) -> Drawing | None:
    """Share of right answers that each metric refuses, by parts of length, with intervals."""
    parts = [e for e in results.each("false_negatives_fifth", form=form) if e.value is not None]
    sizes: dict[str, int] = {}
    for e in parts:  # a metric may lack verdicts
        reach = part_of(e.where, "length")
        sizes[reach] = max(e.n, sizes.get(reach, 0))
    names = {reach: f"{_reach(reach)} ({size:,})" for reach, size in sizes.items()}
    rows = [
        point(metric_label(part_of(e.where, "against")), names[part_of(e.where, "length")], e)
        for e in parts
    ]
    titles = ("right answers by number of words (count)", "right answers rejected")
    return _lines(rows, width, titles, order=list(names.values()), formats=("", "%"))


def _reach(reach: str) -> str:
    """Return the shortest and the longest of some answers in words."""
    low, _, high = reach.partition("-")
    return low if low == high else f"{low} to {high}"


# ---- scatters: the answers themselves, read from the run folder

#: scores that are drawn against length, where the run has them, and how many of them
DRAWN, MOST_DRAWN = ("sequence_probability", "semantic_entropy", "perplexity"), 2
RIGHT_OR_WRONG = ("right answers", "wrong answers")
TAKEN = ("accepted", "rejected")


class RunScatter(NamedTuple):
    """A scatter of the page and what stands below it."""

    figure: Figure
    caption: str


def rows_of_folder(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> tuple[dict[str, SelectiveRows], Settings]:
    """Return the rows of a finished run by form, and its settings."""
    results = SelectiveResults(estimates)
    chosen = settings_of_run(manifest, Settings())
    judge = next((results.judge(form) for form in results.forms), "rules")
    return load_rows(stored_run(folder), chosen, judge), chosen


def threshold_of(metric: str, chosen: Settings) -> float:
    """Return where a run cuts a metric that has values: ROUGE-L, SQuAD F1 or BERTScore."""
    if metric.startswith(BERT):
        return chosen.bert_threshold
    return {"rouge_l": chosen.rouge_threshold, "squad_f1": chosen.f1_threshold}[metric]


def _scatters(form: str, rows: SelectiveRows, chosen: Settings) -> Iterator[RunScatter]:
    """Yield scores by length, and what metrics give to right answers.

    Figures 2 and 3a of Santilli et al., and the like with BERTScore where it was computed.
    """
    wrong, words = rows.wrong[rows.judge], rows.words
    for name in [name for name in DRAWN if name in rows.scores][:MOST_DRAWN]:
        points = cloud(words, rows.scores[name], wrong, RIGHT_OR_WRONG)
        about = f"{capital(score_label(name))} by number of words, for right and for wrong answers."
        drawing = Scattered(f"{name} by words {form}", (WORDS_OF_ANSWER, score_label(name)), about)
        yield from _drawn(points, RIGHT_OR_WRONG, drawing)
    for by, values_ in rows.values.items():
        if by == "rouge_l" or by.startswith(BERT):
            limit = threshold_of(by, chosen)
            right = np.where(wrong == 0, values_, np.nan)
            points = cloud(words, right, rows.wrong[by], TAKEN)
            about = (
                f"{metric_label(by)} by number of words, for the answers that are right (judge: "
                f"{line(rows.judge, 40)}). The metric rejects answers on or below the line."
            )
            titles = (WORDS_OF_ANSWER, f"{metric_label(by)} of right answers")
            name = f"{by.partition(':')[0]} of right answers {form}"
            yield from _drawn(points, TAKEN, Scattered(name, titles, about, limit))


def _drawn(points: Cloud, names: Sequence[str], of: Scattered) -> Iterator[RunScatter]:
    drawing = figure(points, names, of)
    if drawing is not None:
        yield RunScatter(drawing, f"{of.label} {capital(points.thinned)}")


def _lines(
    rows: list[Row],
    width: int,
    titles: tuple[str, str],
    points: list[Row] | None = None,
    order: list[str] | None = None,
    formats: tuple[str, str] = ("", ""),
) -> Drawing | None:
    """One line for each series over ``x``, named in the legend, intervals if any.

    ``formats`` are those of the numbers on the axes.
    """
    names = list(dict.fromkeys(str(r["series"]) for r in rows))[: len(COLORS)]
    rows = [r for r in rows if r["series"] in names]
    if len({r["x"] for r in rows}) < 2:
        return None
    ends = values([*rows, *(points or [])], "y", "low", "high")
    y_scale = alt.Scale(domain=[min(ends), max(ends)], nice=True, padding=6)
    x = _x_axis(width, titles[0], order, formats[0])
    y_axis = alt.Axis(tickCount=5, titleLimit=240, format=formats[1] or alt.Undefined)
    y = alt.Y("y:Q", title=titles[1], scale=y_scale, axis=y_axis)
    legend = legend_below(2 if width > NARROW else 1, 40, symbolOpacity=1, labelLimit=320)
    color, shape, dash = (
        styled(channel, names, styles, legend)
        for channel, styles in (
            (alt.Color, COLORS),
            (alt.Shape, SHAPES),
            (alt.StrokeDash, DASHES),
        )
    )
    base = alt.Chart(data_of(rows))
    layers: list[alt.Chart] = [
        base.mark_line(strokeWidth=2).encode(x=x, y=y, color=color, strokeDash=dash)
    ]
    if any(r.get("low") is not None for r in rows):
        layers.append(bars_of_intervals(base, x, color, strokeWidth=1, opacity=0.6))
    layers.append(
        base.mark_point(size=40, filled=True, opacity=1).encode(x=x, y=y, color=color, shape=shape)
    )
    if points:
        spots = alt.Chart(data_of(points))
        label = spots.mark_text(align="right", dx=-10, dy=-10, color=INK)
        layers += [
            spots.mark_point(size=130, shape="cross", color=INK, strokeWidth=2).encode(x=x, y=y),
            label.encode(x=x, y=y, text="series:N"),
        ]
    return finish(alt.layer(*layers), width, 300 if width > NARROW else 260)


def _x_axis(width: int, title: str, order: list[str] | None, number_format: str) -> Any:
    """Return the x axis of a chart of lines: names in their order, or numbers."""
    tight = width <= NARROW and len(order or []) > 3
    return alt.X(
        f"x:{'O' if order else 'Q'}",
        title=title,
        sort=order or None,
        axis=alt.Axis(
            labelAngle=-35 if tight else 0,
            labelLimit=110 if tight else width // max(len(order or []), 1),
            titlePadding=26 if tight else alt.Undefined,
            tickCount=6,
            tickMinStep=alt.Undefined if number_format else 1,
            format=number_format or alt.Undefined,
        ),
        scale=alt.Scale(zero=False) if not order else alt.Undefined,
    )


# ---- tables of the page: leaderboards, answer metrics, refusals, rankings

#: rows of a form's first table; the others stand below it, folded
SHOWN_ON_PAGE = 12
BOARD = ("AUROC within type", "AUROC", "unknown, within type", "PRR", "AURAC", "with length")


def run_board_table(results: SelectiveResults, form: str, most: int | None = None) -> Table:
    """Return the scores that have a value, the best first; plain length is there and marked."""
    judge = results.judge(form)
    ranked, rows = results.ranked(form), []
    for place, name in enumerate(ranked):
        if most is not None and place >= most and name not in REFERENCES:
            continue
        style = "own" if name in REFERENCES else ""
        cells = []
        for key, by in (
            ("auroc_within", judge),
            ("auroc", judge),
            ("auroc_within", "unknown"),
            ("prr", judge),
            ("aurac", judge),
            ("length_correlation", judge),
        ):
            estimate = results.get(key, form=form, against=by, score=name)
            detail = tight(range_of(estimate))
            if key.startswith("auroc") and estimate.value is not None and _pairs(estimate):
                detail = f"{detail} {tight(f'{_pairs(estimate)}pairs')}".strip()
            cells.append(TableCell(number(estimate), detail, style=style))
        rows.append([_named(name, style), *cells])
    cut = most is not None and most < len(ranked)
    which = f"The first {most} of {len(ranked)} scores, and length," if cut else "Scores"
    caption = f"{which} against {line(judge, 60)}: value and 95 % interval (sampling error only)"
    notes = [*cut_in_ties(results, form, most or len(ranked)), *_what_is_ranked(results, form)]
    return Table(caption, ["", *BOARD], rows, notes)


def _what_is_ranked(results: SelectiveResults, form: str) -> Iterator[str]:
    """Yield what the rows of a board are besides the scores that the first sentence counts."""
    ranked, scores = results.ranked(form), results.scores(form)
    names = {LENGTH: "plain length", TEXT_ONLY: "the words alone", WORDS: "the model's own words"}
    more = [words for name, words in names.items() if name in ranked]
    unranked = [name for name in ranked if name not in scores and name not in names]
    if unranked:
        listed = ", ".join(score_label(name) for name in unranked)
        more.append(f"{listed} (no pairs within type of fact)")
    if more:
        yield f"{len(ranked)} rows in total: {len(scores)} scores, {', '.join(more)}."


def _named(name: str, style: str = "") -> TableCell:
    """Return a score's name in words and, below it, what ``--scores`` calls it."""
    label = score_label(name)
    return TableCell(label, "" if label == name else name, head=True, style=style)


def abstention_table(results: SelectiveResults, form: str) -> Table:
    """Return how the model abstains, and what its answers are worth when wrong ones cost."""
    judge, rows, notes = results.judge(form), [], Notes()
    for name in ABSTENTION_ROWS:
        for e in results.each(name, form=form, against=judge):
            if part_of(e.where, "tier"):
                continue
            rest = [part_label(k, v) for k, v in e.where if k not in ("form", "against")]
            label = ", ".join([NUMBERS[name].titled, *rest])
            cells = notes.cell(e, label)
            missing = f"{e.missing:,}" if e.missing else ""
            rows.append(
                [TableCell(label, head=True), cells, TableCell(f"{e.n:,}"), TableCell(missing)]
            )
    text = (
        "Abstaining, refusing and asking back count as declining; a hedged answer does not. "
        "Declining scores 0 everywhere, so a model that always declines scores 0."
    )
    head = ["", "value", "answers", "without a verdict"]
    return Table(
        "Declining, with 95 % intervals (sampling error only)", head, rows, [text, *notes.lines()]
    )


def tier_errors_table(results: SelectiveResults, form: str) -> Table:
    """Return errors and abstention of each tier's answerable questions; no rows without tiers."""
    notes, rows = Notes(), []
    for tier, errors in tier_errors(results, form):
        label = tier_label(tier)
        silent = results.get("abstains_answerable", **_tier(results, form, tier))
        rows.append(
            [
                TableCell(label, head=True),
                TableCell(f"{errors.n:,}"),
                notes.cell(errors, f"wrong ({label})"),
                notes.cell(silent, f"abstained ({label})"),
            ]
        )
    head = ["", "questions with a verdict", "wrong", "abstained"]
    caption = "Answerable questions by tier: wrong answers and abstentions"
    return Table(caption, head, rows, [TIERS, *notes.lines()] if rows else [])


def tier_errors(results: SelectiveResults, form: str) -> list[tuple[str, Estimate]]:
    """Return each tier with the error rate of its answerable questions, best known first."""
    rates = results.by("tier", "error_rate", form=form, against=results.judge(form))
    return sorted(rates, key=lambda pair: tier_order(pair[0]))


def _tier(results: SelectiveResults, form: str, tier: str) -> dict[str, str]:
    return {"form": form, "against": results.judge(form), "tier": tier}


def terminal_tiers(
    results: SelectiveResults, form: str, console: Console
) -> Iterator[rich_table.Table]:
    """Yield the same table for the terminal; nothing without tiers."""
    tiers = tier_errors(results, form)
    if not tiers:
        return
    table = plain_table()
    title = f"{FORMS[form]} to answerable questions, by tier"
    table.title, table.title_justify = safe_text(title, console, "bold"), "left"
    table.add_column("", no_wrap=True)
    for head in ("wrong", "abstained"):
        table.add_column(safe_text(head, console, "dim"), no_wrap=True)
    for tier, errors in tiers:
        silent = results.get("abstains_answerable", **_tier(results, form, tier))
        cells = (
            safe_text(f"{shown_value(e)} {interval(e)} {ratio_counts(e)}".strip(), console)
            for e in (errors, silent)
        )
        table.add_row(safe_text(tier_label(tier), console), *cells)
    yield table


def metric_agreement_table(results: SelectiveResults, form: str) -> Table:
    """Return how often every two answer metrics agree, and each with most of the others."""
    judge = results.judge(form)
    pairs: dict[tuple[str, str], Estimate] = {}
    for estimate in results.each("metric_agreement", form=form):
        one, other = part_of(estimate.where, "against"), part_of(estimate.where, "metric")
        pairs[one, other] = pairs[other, one] = estimate
    if all(estimate.value is None for estimate in pairs.values()):
        pairs = {}
    names = list(dict.fromkeys(name for name, _ in pairs))
    rows = []
    for name in names:
        cells = [
            _percent_cell(pairs[name, other]) if name != other else TableCell("–")
            for other in names
        ]
        others = results.get("metric_against_others", form=form, against=name)
        rows.append(
            [TableCell(metric_label(name, judge), head=True), *cells, _percent_cell(others)]
        )
    head = ["", *(metric_label(name, judge) for name in names), "most others"]
    note = (
        "most others: how often a metric agrees with the majority of the other metrics; ties are "
        f"left out. {MAJORITY} To compare metrics with people, use sayso score."
    )
    return Table(
        "Same verdict on an answer: share and 95 % interval (sampling error only)",
        head,
        rows,
        [note],
    )


def _percent_cell(estimate: Estimate) -> TableCell:
    low, high = estimate.low, estimate.high
    ends = "" if low is None or high is None else f"[{percent(low, 0)}, {percent(high, 0)}]"
    return TableCell(percent(estimate.value, 0), tight(ends.replace(" %", "")))


def score_metrics_table(results: SelectiveResults, form: str) -> Table:
    """Return the main scores under every answer metric, shaded by their place in its ranking."""
    metrics = results.metrics(form)
    names = [score for score, _ in results.by("score", "auroc", form=form, against="rouge_l")]
    first = {n: results.get("auroc", form=form, against=metrics[0], score=n).value for n in names}
    held = {name: value for name, value in first.items() if value is not None}
    rows = []
    for name in sorted(held, key=lambda n: -held[n]):
        cells = []
        for by in metrics:
            estimate = results.get("auroc", form=form, against=by, score=name)
            value = estimate.value if estimate.value is not None else 0.5
            level = round(min(9, max(0.0, 18 * (value - 0.5))))
            cells.append(TableCell(number(estimate), tight(range_of(estimate)), level=level))
        rows.append([_named(name), *cells])
    shares = [results.get("error_rate", form=form, against=by) for by in metrics]
    wrong = [TableCell("share of answers called wrong", head=True)]
    wrong += [TableCell(percent(e.value, 0), f"{e.n:,} answers") for e in shares]
    return Table(
        "AUROC by answer metric",
        ["", *(metric_label(m, metrics[0]) for m in metrics)],
        [wrong, *rows],
        [],
    )


def refusals_table(results: SelectiveResults, form: str) -> Table:
    """Return what share of the right answers each metric refuses, by fifths of length."""
    rows = []
    for by, overall in results.by("against", "false_negatives", form=form):
        fifths: dict[str, Estimate] = {
            part_of(e.where, "fifth"): e
            for e in results.each("false_negatives_fifth", form=form, against=by)
        }
        cells = [_percent_cell(overall)]
        for fifth in "12345":
            estimate = fifths.get(fifth, Estimate(""))
            cells.append(
                TableCell(percent(estimate.value, 0), f"of {estimate.n:,}" if estimate.n else "")
            )
        slope = results.get("false_negative_slope", form=form, against=by)
        closed = results.get("auroc_length_closed_form", form=form, against=by)
        cells += [
            TableCell(number(slope), tight(range_of(slope))),
            TableCell(plain_number(closed.value)),
        ]
        rows.append([TableCell(metric_label(by), head=True), *cells])
    head = [
        "",
        "all",
        "shortest",
        "2nd",
        "3rd",
        "4th",
        "longest",
        "slope",
        "length alone",
    ]
    note = (
        "Columns are fifths by length (equal lengths stay together), with the number of answers "
        "below each share; a dash marks an empty fifth. slope: rise per fifth. length alone: the "
        "AUROC that plain length would get against this metric if length were unrelated to "
        "correctness."
    )
    title = f"Right answers (judge: {line(results.judge(form), 40)}) that a metric rejects"
    return Table(title, head, rows, [note])


def missing_scores_table(results: SelectiveResults) -> Table:
    """Return the scores without a value, with the reason."""
    rows = [
        [_named(score), TableCell(", ".join(FORMS[f] for f in forms)), TableCell(reason)]
        for reason, names in missing_reasons(results).items()
        for score, forms in names.items()
    ]
    return Table("Scores that could not be computed", ["", "in", "why"], rows, [])


# ---- the page

SIGNED = {"auroc_within": "AUROC within type", "auroc": "AUROC"}
#: what the page says of each number
GLOSSARY = {
    "AUROC": "the share of pairs of a wrong and a right answer in which the wrong one has the "
    "higher score. Ties count half; .5 is chance. At 0 and 1 the interval is exact, for the "
    "number of pairs that share no entity. Scores are ranked only if there are at least five "
    "right and five wrong answers.",
    "the best score": "the highest of many AUROCs is partly luck. It is therefore also given "
    "cross-fitted: each pair is ranked by the score that is best on other entities.",
    "within type": "AUROC over only those pairs that are about the same type of fact. A model that "
    "knows nothing and answers from type priors can have a high pooled AUROC, but has .5 here.",
    "unknown": "AUROC for facts that no draw got right, whatever the answer said. Scores that "
    "compare draws use some of the same draws.",
    "PRR": "prediction-rejection ratio: 1 = rejects wrong answers first, 0 = at random.",
    "AURAC": (
        "area under the curve of accuracy against the share of questions answered, normalized."
    ),
    "with length": "rank correlation of the score with the number of words of the answer.",
    "the words alone": "a baseline that sees only the text: Naive Bayes on 1- and 2-grams of "
    "question and answer, trained on other entities. A score that does not beat it may only have "
    "learned which questions are hard. It is never named as the best score.",
    "its own words": "the model's words as a score: 1 if it hedged when told to express "
    "uncertainty, else 0.",
    "ROUGE-L, SQuAD F1": "word overlap with the reference. An answer counts as right above .5 "
    "(ROUGE-L) or at .5 and above (F1), unless the signature (cuts) says otherwise.",
    "BERTScore": "F1 from the similarity of contextual vectors, rescaled by the similarity of "
    "unrelated sentences. An answer counts as right above .5, unless the signature says otherwise.",
    "blind grader": (
        "a model that sees the gold answers and the answer, but not the question, and replies 1 or "
        "0."
    ),
    "judge": "this run's judge; everything else is measured against it.",
    "risk": "share of wrong answers among those given, if only the answers with the lowest scores "
    "are given.",
}


def context(
    manifest: Manifest, estimates: Sequence[Estimate], run: RunFolder | None = None
) -> dict[str, Any]:
    """Return what the template of the page needs beside the answers."""
    results = SelectiveResults(estimates)
    return {
        "opening": opening(estimates, manifest),
        "declining": bool(declining_form(results)),
        "headline": [headline(results, form) for form in results.forms],
        "how_read": answers_read(results, manifest, run),
        "warnings": [
            *(
                text.removeprefix("! ")
                for form in results.forms
                for text in (*unread_sentences(results, form), *length_sentences(results, form))
                if text.startswith("!")
            ),
            *terminal.warned(manifest),
        ],
        "bars": figure_of(
            "auroc",
            lambda width: auroc_bars(results, width),
            "AUROC of scores with 95 % intervals; the tables below have the values.",
        ),
        "forms": [_form(results, form) for form in results.forms],
        "not_computed": missing_scores_table(results),
        "asked": terminal.request_counts(manifest),
        "judged": terminal.judge_sentences(manifest),
        "definitions": GLOSSARY,
        "signatures": signatures(_headline_numbers(results)),
    }


#: the names of the files of charts, before that of the form
FILES = {
    "targets": "auroc by target",
    "risk": "risk against coverage",
    "refused": "rejected by length",
}


def _form(results: SelectiveResults, form: str) -> dict[str, Any]:
    drawn: dict[str, tuple[Callable[[SelectiveResults, str, int], Drawing | None], str]] = {
        "targets": (
            targets,
            "AUROC of scores against wrong answers and against unknown facts, with intervals.",
        ),
        "risk": (risk, "Share wrong among the answers given, by score."),
        "refused": (refusals_figure, "Share of right answers rejected, by length."),
    }
    metrics = score_metrics_table(results, form)
    lengths = length_sentences(results, form) if results.ranked(form) else ()
    words = results.get("coverage_of_words", **_of_judge(results, form), score=WORDS)
    withheld = "Share of wrong answers among those given, when the least certain are withheld."
    cross = (
        (" The cross is a policy that follows the model's own words.")
        if words.value is not None
        else ""
    )
    return {
        "name": form,
        "title": FORMS[form].capitalize(),
        "abstention": abstention_table(results, form),
        "tiers": tier_errors_table(results, form),
        "abstention_text": abstention_lines(results, form),
        "risk_caption": f"{withheld}{cross}",
        "board": run_board_table(results, form, SHOWN_ON_PAGE),
        "whole": run_board_table(results, form)
        if len(results.ranked(form)) > SHOWN_ON_PAGE
        else None,
        "agreement": metric_agreement_table(results, form),
        "metrics": metrics,
        "refusals": refusals_table(results, form),
        "sentences": [
            *(t for t in lengths if not t.startswith("!")),
            *words_sentences(results, form),
        ],
        "audits": list(length_audit_sentence(results, form)),
        "refused_text": list(refused_sentences(results, form)),
        "flip_text": list(flip_sentences(results, form)),
        "figures": {
            name: figure_of(f"{FILES[name]} {form}", partial(make, results, form), label)
            for name, (make, label) in drawn.items()
        },
    }


def _headline_numbers(results: SelectiveResults) -> Iterator[tuple[str, Estimate]]:
    """Yield the AUROC of the best score of each form, by what it is called."""
    for form in results.forms:
        best = next((name for name in results.ranked(form) if name != TEXT_ONLY), LENGTH)
        place = {"form": form, "against": results.judge(form), "score": best}
        for name, title in SIGNED.items():
            yield f"{title}, {FORMS[form]}", results.get(name, **place)


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    if key == "score":
        return score_label(value)
    if key == "target":
        return f"target {line(value, 20)}"
    if ((key, value),) == TOLD:
        return "told to express uncertainty"
    if key == "against":
        return f"graded by {metric_label(value)}"
    return FORMS.get(value, line(value, 60))


def pages(
    folder: RunFolder,
    manifest: Manifest,
    estimates: list[Estimate],
    beside: Sequence[str | Path | RunFolder] = (),
) -> dict[str, str]:
    """Return every file of the page by name: the pages of answers, then ``report.html``."""
    tables = stored_answers(folder, "draws", manifest.settings.get("known_k"))
    shown, rows = _with_scatters(folder, manifest, estimates)
    first = shown["opening"]._replace(examples=_examples(folder, rows, SelectiveResults(estimates)))
    corrected = corrected_part(folder, NUMBERS, part_label)
    own = {**shown, "opening": first, "corrected": corrected}
    return with_answers(__package__, manifest, cards(tables), own)


def figures(folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]) -> list[Figure]:
    """Return every chart of the page; see :class:`sayso.protocols.protocol.Report`."""
    return figures_in(_with_scatters(folder, manifest, estimates)[0])


def _with_scatters(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> tuple[dict[str, Any], dict[str, SelectiveRows]]:
    """Return what the template needs, with the scatters, and the rows that these are made of."""
    shown = context(manifest, estimates, folder)
    rows, chosen = rows_of_folder(folder, manifest, estimates)
    for form in shown["forms"]:
        # Figures 2 and 3a of Santilli et al., and the like with BERTScore where it was computed
        name = form["name"]
        form["scatters"] = list(_scatters(name, rows[name], chosen)) if name in rows else []
    return shown, rows
