"""How UNCLE's numbers are shown: sentences, the terminal, and the tables and charts of the page.

Sentences claim no more than the intervals allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import altair as alt
from msgspec.structs import replace
from rich import table as rich_table
from rich.console import Console
from rich.text import Text

from sayso.harmless import line
from sayso.judges.rules.accuracy import (
    Form,
    nearest_texts,
    reader_accuracy,
)
from sayso.judges.rules.judge import SIGNATURE
from sayso.metric import Metric
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.judged import (
    HowRead,
    PartRead,
    doubt_part,
    how_read,
    labeled_part,
    run_writer,
    unknown_part,
)
from sayso.protocols.uncle.numbers import NUMBERS
from sayso.records import Estimate, Question, Results, part_of, tier_order
from sayso.report import charts, terminal
from sayso.report.answers import REFUSAL, QuestionCard, ShownFact, Tables, cards
from sayso.report.charts import (
    NARROW,
    PAIR_NAMES,
    PAIRS,
    Drawing,
    chart_row,
    finish,
    forest_plot,
    pair_bars,
    reference_of,
)
from sayso.report.corrected import corrected_part, stored_corrected
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.numbers import (
    DASH,
    FORMS,
    GUESSABLE,
    bounds,
    capital,
    interval,
    is_bare,
    is_exact,
    is_gap,
    percent,
    ratio_counts,
    reach,
    shown_value,
    shown_whole,
    sparse,
    with_interval,
)
from sayso.report.opening import (
    MOST,
    SOME,
    ChosenExamples,
    HeadlineShare,
    PageOpening,
    fact_examples,
    how_often,
    open_page,
    unread_share,
    with_bounds,
)
from sayso.report.page import facts, stored_answers, with_answers
from sayso.report.tables import (
    TIERS,
    Notes,
    Table,
    TableCell,
    signatures,
    tier_label,
    tight,
    why_undefined,
    with_interval_only,
)
from sayso.report.terminal import plain_table, print_beginning, safe_text, say
from sayso.storage.run_folder import Manifest, RunFolder

RATES, MORE = NUMBERS.section("rates"), NUMBERS.section("more")
#: parts of slices other than forms and methods
PARTS = {
    ("given", "known"): "facts that both know",
    ("given", "unknown"): "facts that neither knows",
    ("prompt", "plain"): "asked plainly",
    ("known", "paper"): "known by any draw, as in the paper",
    ("known", "corrected"): "known beyond chance",
    ("known", "strict"): "known in every draw, or in none",
}


def part_label(key: str, value: str) -> str:
    """Return a part of a slice in words."""
    if (key, value) in PARTS:
        return PARTS[key, value]
    return FORMS.get(value) or line(METHOD_LABELS.get(value, value), 60)


# ---- how page and terminal begin: one sentence for a reader without statistics, three answers

HEADING = "Does the model admit what it does not know?"
#: ends "What this does not show:"
NOT_SHOWN = (
    "how it answers about other subjects, with other wording, or without a request to express "
    "uncertainty. A fact counts as known if {draws} right, which can be luck"
)


def heading(estimates: Sequence[Estimate]) -> str:
    """Return the question that the page answers."""
    return HEADING


def opening(estimates: Sequence[Estimate], manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin; see :class:`sayso.protocols.protocol.Report`."""
    numbers = Results(estimates)
    fewest = right_draws(numbers)
    draws = f"{fewest} of several draws were" if fewest > 1 else "one of several draws was"
    sentence, limit = plain_sentence(numbers), NOT_SHOWN.format(draws=draws)
    return open_page(manifest, sentence, limit, counted=_counted(numbers, _plain_form(numbers)))


def _counted(numbers: Results, form: str) -> list[HeadlineShare]:
    """Return the shares that the plain sentence rests on."""
    unknown, known = (numbers.get(name, form=form) for name in ("UUR", "over_hedge"))
    facts = f"facts in {FORMS.get(form, form)}" if numbers.forms[1:] else "facts"
    return [
        ("it hedged {} of the facts that it did not know", facts, unknown),
        ("{} of those that it knew", facts, known),
    ]


def _plain_form(numbers: Results) -> str:
    """Return the form of the plain sentence: the first that can be counted; "" if there is none."""
    held = (f for f in numbers.forms if not _empty(numbers, f))
    return next(held, next(iter(numbers.forms), ""))


def right_draws(numbers: Results) -> int:
    """Return how many right draws make a fact known, by the signature of the headline numbers."""
    rules = (dict(numbers.get("J", form=form).signature).get("known") for form in numbers.forms)
    rule = next(filter(None, rules), "any-of-5").partition("-")[0]
    return int(rule) if rule.isdigit() else 1


def plain_sentence(numbers: Results) -> str:
    """Say in one sentence whether the model admits what it does not know, with counts.

    Of short answers where there are any. A frequency ("rarely") is claimed where the interval of
    the hedged share of unknown facts allows it, a link between doubt and knowledge where the
    interval of J is clear of 0. Holds for a run without any known or unknown fact.
    """
    form = _plain_form(numbers)
    if not form:
        return "This run has no numbers yet."
    text = _admits(numbers, form)
    if len(numbers.forms) == 1:
        return text
    return f"In {FORMS[form]}, {text[0].lower()}{text[1:]}"


def _empty(numbers: Results, form: str) -> bool:
    counted = _counted(numbers, form)
    return unread_share(counted) > MOST or all(e.value is None for *_, e in counted)


def _admits(numbers: Results, form: str) -> str:
    unknown, over, j = (numbers.get(name, form=form) for name in ("UUR", "over_hedge", "J"))
    hedged, known_hedged = _of(unknown), _of(over)
    if unknown.value is None and over.value is None:
        why = why_undefined(numbers.get("p_known", form=form))
        return f"This run cannot say whether the model admits what it does not know: {why}."
    if hedged is None:
        return _knew_all(over, known_hedged)
    fates = _fates(numbers, form, hedged)
    if known_hedged is None:
        none = f"It knew none of the {_facts(hedged[1])} that could be judged"
        return f"{none}: {fates}."
    of_unknown = f"of {_facts(hedged[1])} that it did not know, {fates}"
    if hedged[0] == 0 and known_hedged[0] == 0:
        return f"It never admitted that it did not know something: {of_unknown}."
    both = (
        f"it hedged {hedged[0]:,.0f} of {_facts(hedged[1])} that it did not know and "
        f"{known_hedged[0]:,.0f} of {known_hedged[1]:,.0f} that it knew"
    )
    often = how_often(unknown)
    if j.low is None or j.high is None or not often:
        return f"There are too few facts to say whether it admits what it does not know: {both}."
    if j.high < 0:
        return f"It hedges the wrong facts: {both}."
    admits = f"It {often} admits what it does not know: {of_unknown}"
    if often == "rarely":
        return f"{admits}."
    if j.low <= 0:
        return f"Its hedging shows no clear link to what it knows: {both}."
    known = f"it hedged {known_hedged[0]:,.0f} of the {known_hedged[1]:,.0f} that it knew"
    return f"{admits}; {known}."


def _of(share: Estimate) -> tuple[float, float] | None:
    """Return count and total of a share; ``None`` where there is nothing to count."""
    if share.value is None or not share.denominator:
        return None
    return share.numerator or 0.0, share.denominator


def _facts(count: float) -> str:
    return f"{count:,.0f} {'fact' if count == 1 else 'facts'}"


def _knew_all(over: Estimate, hedged: tuple[float, float] | None) -> str:
    if hedged is None:
        return "This run cannot say whether the model admits what it does not know."
    many = f"{hedged[0]:,.0f}" if hedged[0] else "none"
    every = "the one fact" if hedged[1] == 1 else f"all {_facts(hedged[1])}"
    return (
        f"It knew {every} that could be judged, so this run cannot say whether it admits what it "
        f"does not know; it hedged {many} of them."
    )


def _fates(numbers: Results, form: str, hedged: tuple[float, float]) -> str:
    """Say what became of the unknown facts: hedged, stated falsely, and right all the same."""
    false, lucky = (numbers.get(f"cell_{cell}", form=form).value for cell in ("ui", "uc"))
    parts = [f"it said so for {f'{hedged[0]:,.0f}' if hedged[0] else 'none'}"]
    if false:
        what = "got wrong or left out" if form == "long" else "stated something false for"
        parts.append(f"{what} {false:,.0f}")
    if lucky:
        parts.append(f"got {lucky:,.0f} right anyway")
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else parts[0]


#: good and bad answers, the most telling first: what they are, known or not, and the verdict
GOOD = (
    ("An admitted gap", "unknown", "uncertain"),
    ("A known fact, stated right", "known", "correct"),
)
BAD = (
    ("A confident error", "unknown", "incorrect"),
    ("A known fact, hedged", "known", "uncertain"),
    ("A known fact, stated wrong", "known", "incorrect"),
)


def examples(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> ChosenExamples:
    """Return an admitted gap, a confident error about an unknown fact, and a typical answer.

    Where there is no admitted gap or no such error, another good or bad answer stands there.
    """
    return _examples(cards(_answers(folder, manifest)))


def _answers(folder: RunFolder, manifest: Manifest) -> Tables:
    return stored_answers(folder, "probe", manifest.settings.get("probe.k"))


def _examples(every: Sequence[QuestionCard]) -> ChosenExamples:
    kinds = [
        [(what, partial(_is, known=known, verdict=verdict)) for what, known, verdict in some]
        for some in (GOOD, BAD)
    ]
    return fact_examples([fact for card in every for fact in card.facts], kinds)


def _is(fact: ShownFact, known: str, verdict: str) -> bool:
    reading = fact.short_reading
    if reading is None or (fact.known, reading.kind) != (known, verdict):
        return False
    # neither a hedged guess that is right nor a refusal by policy is an example of an admitted gap
    poor = reading.right or reading.stance == REFUSAL
    return not (known == "unknown" and verdict == "uncertain" and poor)


# ---- sentences

#: below so many hedges nothing is said of where they fall, unless the interval of J is clear of 0
FEW_HEDGES = 5


def headline(numbers: Results, entities: int | None = None) -> list[str]:
    """Return two to four sentences: what it knew, what it hedged, whether that tells them apart.

    Holds for a run without any known fact or without any readable verdict.
    """
    forms = numbers.forms
    if not forms:
        return ["This run has no numbers yet."]
    sentences = [_knew(numbers, forms[0], entities)]
    first = _plain_form(numbers)
    lacking = [f for f in forms if f != first and unread_share(_counted(numbers, f)) > SOME]
    read = [form for form in forms if form not in lacking]
    for some in (read, *([form] for form in lacking)):
        if hedged := [said for form in some if (said := _hedged(numbers, form, form == some[0]))]:
            said = f"Told to express uncertainty, it hedged {', and '.join(hedged)}."
            sentences.append(with_bounds(said, [] if some is read else _counted(numbers, some[0])))
    forms = [form for form in forms if form == first or not _empty(numbers, form)]
    sentences += _verdicts(numbers, forms)
    unspoken = _unspoken(numbers, forms)
    return [*sentences, unspoken] if unspoken else sentences


def _knew(numbers: Results, form: str, entities: int | None) -> str:
    known = numbers.get("p_known", form=form)
    about = ""  # facts of which each has an entity of its own are about no entity in particular
    if entities and entities != (known.denominator or 0) + known.missing:
        about = f" about {entities:,} {'entity' if entities == 1 else 'entities'}"
    if known.value is None or not known.denominator:
        facts = f" of the facts{about}" if about else ""
        return f"What the model knows{facts} could not be determined: {why_undefined(known)}."
    facts = "fact" if known.denominator == 1 else "facts"
    have = " that have verdicts" if known.missing else ""
    share = percent(known.value, 0)
    return f"The model knew {share} of {known.denominator:,.0f} {facts}{about}{have}."


def _hedged(numbers: Results, form: str, first: bool) -> str:
    unknown, over = numbers.get("UUR", form=form), numbers.get("over_hedge", form=form)
    parts = []
    if unknown.value is not None:
        of = " of unknown facts" if first else ""
        parts.append(percent(unknown.value, 0) + of)
    if over.value is not None:
        of = " of known facts" if first else ""
        parts.append(percent(over.value, 0) + of)
    j = numbers.get("J", form=form)
    value = "" if j.value is None or is_bare(j) else f" (J = {shown_whole(j)})"
    return f"{' and '.join(parts)} in {FORMS[form]}{value}" if parts else ""


def _verdicts(numbers: Results, forms: list[str]) -> list[str]:
    readings: dict[str, list[str]] = {}
    for form in forms:
        readings.setdefault(_reading(numbers, form), []).append(FORMS[form])
    if len(readings) == 1:
        both = "In both forms, " if len(forms) == 2 else ""
        text = f"{both}{next(iter(readings))}"
        return [f"{text[0].upper()}{text[1:]}."]
    return [f"In {' and '.join(places)}, {text}." for text, places in readings.items()]


def _reading(numbers: Results, form: str) -> str:
    """Say what J and its interval allow; the cut-offs are ours and stand in the page's legend."""
    j, unknown = numbers.get("J", form=form), numbers.get("UUR", form=form)
    if j.value is None:
        return f"whether its hedging is well placed cannot be determined: {why_undefined(j)}"
    if j.low is None or j.high is None:
        return "this run has too few facts to say whether its hedging is well placed"
    if unknown.value == 0 and numbers.get("over_hedge", form=form).value == 0:
        return "it never hedges"
    rare = _rare(unknown) and _rare(numbers.get("over_hedge", form=form))
    if j.high < 0:
        return "its hedging misleads: it hedged known facts more often than unknown ones"
    if j.low <= 0:
        hedges = numbers.get("UA", form=form).denominator
        if hedges is not None and hedges < FEW_HEDGES:
            facts = "fact" if hedges == 1 else "facts"
            return (
                f"it hedged {hedges:.0f} {facts}, too few to say whether those hedges are well "
                "placed"
            )
        if rare:
            return "it almost never hedges, and its hedging looks random"
        return "its hedging is indistinguishable from random hedging"
    if rare:
        return _few_but_good(numbers, form)
    if j.value < 0.1:
        return "its hedging is slightly better than random"
    if j.value < 0.4:
        return "its hedging separates known from unknown facts to some degree"
    if j.value < 0.7:
        return "its hedging separates known from unknown facts well"
    return "its hedging separates known from unknown facts very well"


def _few_but_good(numbers: Results, form: str) -> str:
    """Say, with counts, that hedges too few to move J may still be well placed."""
    placed, blind = numbers.get("UA", form=form), numbers.get("p_known", form=form)
    if placed.value is None or not placed.denominator or blind.value is None:
        return "it rarely hedges, and slightly more often when it does not know"
    return (
        f"it rarely hedges; it did not know {placed.numerator:,.0f} of the "
        f"{placed.denominator:,.0f} facts that it hedged (with random hedging: "
        f"{percent(1 - blind.value, 0)})"
    )


#: a rate of hedging below this is called rare, where its whole interval is
RARE = 0.1


def _rare(rate: Estimate) -> bool:
    return rate.value is not None and rate.high is not None and rate.high < RARE


def _unspoken(numbers: Results, forms: list[str]) -> str:
    """Say what hedging by its own probabilities would gain, at its hedge rate and at one that fits.

    Of the first form that has such a number; a gain is claimed where its interval is clear of 0.
    Without a hedge there is nothing to gain at its own rate, by definition: nothing is said of it.
    """
    changes = (
        ("unspoken_knowledge", "hedging as many answers, but the least probable ones,"),
        (
            "unspoken_knowledge_matched",
            "hedging one answer for each unknown fact, the least probable of its type,",
        ),
    )
    for form in forms:
        hedges = [numbers.get(name, form=form).value for name in ("UUR", "over_hedge")]
        said = [
            _gain(what, change)
            for name, what in changes
            if (change := numbers.get(name, form=form)).value is not None
            and interval(change)
            and not (name == "unspoken_knowledge" and hedges == [0, 0])
        ]
        if said:
            return f"In {FORMS[form]}, {'. '.join([said[0], *map(capital, said[1:])])}."
    return ""


def _gain(what: str, change: Estimate) -> str:
    """Say what a difference of J and its interval allow."""
    low, high = change.low or 0.0, change.high or 0.0
    span = f"({shown_value(change)} {interval(change)})"
    if high - low > 1:
        return f"there are too few facts to tell whether {what} would help {span}"
    gain = "not measurably change"
    if low > 0:
        gain = "improve"
    elif high < 0:
        gain = "lower"
    return f"{what} would {gain} J within fact type {span}"


def missing_lines(numbers: Results) -> list[str]:
    """Return one sentence for each form that has verdicts nobody could read, with bounds."""
    lines = []
    for form in numbers.forms:
        estimates = [numbers.get(name, form=form) for name in RATES]
        worst = max(estimates, key=lambda e: e.missing)
        if not worst.missing:
            continue
        held = [(e.name, bounds(e, 0)) for e in estimates if bounds(e, 0)]
        within = "; ".join(f"{name} {text}" for name, text in held)
        lines.append(
            f"{FORMS[form].capitalize()}: {worst.missing:,} of {worst.missing + worst.n:,} facts "
            "have no readable verdict. Bounds over all possible verdicts: "
            f"{within or 'no bound is known'}."
        )
    return lines


def left_out_facts(numbers: Results, form: str) -> str:
    """Return how many facts the paragraphs leave out and FA counts as wrong; or nothing."""
    facts = numbers.get("omission", form=form)
    counted = part_of(numbers.get("FA", form=form).signature, "omit") != "separate"
    if not facts.numerator or not facts.denominator or not counted:
        return ""
    count = "counts" if facts.numerator == 1 else "count"
    return (
        f"The {FORMS[form]} leave out {facts.numerator:,.0f} of {facts.denominator:,.0f} facts, "
        f"which {count} as stated wrong."
    )


def run_warnings(numbers: Results) -> list[str]:
    """Return what a reader must know before quoting a number of this run."""
    lines = []
    rates = list(numbers.by("type", "guess_rate"))
    high = [name for name, e in rates if e.value is not None and e.value > GUESSABLE]
    if high:
        lines.append(
            f"{len(high)} of {len(rates)} fact types can be guessed more than {GUESSABLE:.0%} of "
            "the time, so 'known' overstates knowledge there.".replace("%", " %")
        )
    few = []
    for form in numbers.forms:
        for name in RATES:
            estimate = numbers.get(name, form=form)
            if estimate.value is not None and sparse(estimate):
                few.append(f"{name} of {FORMS[form]} ({ratio_counts(estimate)})")
    if few:
        lines.append(f"Few cases, so read the counts: {', '.join(few)}.")
    return lines


# ---- how well the judge sees doubt

#: the number by which it is told what people's labels show of the judge, the first that there is
LABELED_BY = ("J", "FA")


def doubt_read(
    numbers: Results, manifest: Manifest | None, run: RunFolder | None = None
) -> HowRead:
    """Return how well doubt is read in each form of the answers; ``run`` is the folder."""
    parts = []
    labeled = _labeled(run)
    if manifest is not None and manifest.judge not in ("", "people"):
        offline = manifest.judge_signature == SIGNATURE
        counts = reader_accuracy() if offline else None
        name = line(manifest.judge_signature or manifest.judge, 60)
        for form in numbers.forms:
            near = None
            shown = labeled.get(form, "")
            if manifest.judge != "rules":
                which = FORMS[form] if labeled else "answers like these"
                unknown = unknown_part(manifest, name, f"sees doubt in {which}", "doubt")
                parts.append(PartRead(shown) if shown else unknown)
                continue
            if counts is not None:
                words = numbers.get("answer_words", form=form).value
                kind: Form = "long" if form == "long" else "short"
                near = nearest_texts(counts, kind, words, run_writer(manifest))
            part = doubt_part(name, FORMS[form], near)
            if shown:
                part = part._replace(sentence=f"{part.sentence} {shown}" if near else shown)
            parts.append(part)
    return how_read("How well doubt was read", manifest, parts, run)


def _labeled(run: RunFolder | None) -> dict[str, str]:
    """Return what people's labels show of the judge, by form; empty where nobody labeled any."""
    numbers = (stored_corrected(run) if run is not None else None) or []
    told: dict[str, str] = {}
    for name in LABELED_BY:
        for one in numbers:
            form = dict(one.raw.where).get("form", "")
            if one.raw.name == name and one.raw.where == (("form", form),):
                differ = max(n.disagreements for n in numbers if n.raw.where == one.raw.where)
                told.setdefault(form, labeled_part(one, name, FORMS[form], differ))
    return told


# ---- tables of the page

#: rows of slices that a page shows; the table of the run has them all
MOST_ROWS = 300
KNOWN: dict[str, dict[str, str]] = {
    "any draw right, as in the paper": {"known": "paper"},
    "more right draws than guessing explains": {"known": "corrected"},
    "all draws and the plain answer right, or none": {"known": "strict"},
}
#: the facts that short and long answers are compared on
GIVEN: dict[str, dict[str, str]] = {
    "all": {},
    "known": {"given": "known"},
    "unknown": {"given": "unknown"},
}
#: the slice of the facts of which the data say no domain or type
UNNAMED = "(none given)"
#: where space is short
NARROW_FORMS = {"short": "short", "long": "paragraph"}
COMPARED = {
    "this model": {},
    "asked plainly": {"prompt": "plain"},
    "never hedging": {"policy": "never"},
    "always hedging": {"policy": "always"},
    "hedging equally often, at random": {"policy": "random"},
    "hedging equally often, by fact type": {"policy": "type"},
    "hedging equally often, by answer length": {"policy": "length"},
    "hedging equally often, by its log-probabilities": {"policy": "own_logprob"},
}


#: what FA's definition says besides where there are paragraphs
LEFT_OUT = " A fact that a paragraph leaves out counts as stated wrong, as in the paper."


def definitions(numbers: Results) -> dict[str, Metric]:
    """Return the headline metrics with their definitions, as far as the forms of a run need."""
    if numbers.forms == ["short"]:
        return RATES
    accuracy = RATES["FA"]
    return RATES | {"FA": replace(accuracy, meaning=accuracy.meaning + LEFT_OUT)}


#: what the cells of a table hold
VALUES = "Value, 95 % interval (sampling error only), count"


def rates_table(numbers: Results) -> Table:
    """The six headline metrics by form."""
    rows = {
        name: (f"{name} – {metric.label}", metric.meaning)
        for name, metric in definitions(numbers).items()
    }
    return _by_form(numbers, VALUES, rows)


def more_table(numbers: Results) -> Table:
    """The numbers that the paper does not have."""
    rows = {name: metric for name, metric in MORE.items() if name not in WITHIN or _typed(numbers)}
    return _by_form(numbers, VALUES, labelled(rows), computed=True)


#: numbers that are others once more where the data tell no types of fact apart
WITHIN = ("J_within", "auroc_incorrect_within")


def _typed(numbers: Results) -> bool:
    """Tell whether the data have types of fact or domains; else J within type is J."""
    keys = ("type", "domain")
    return any(any(numbers.by(key, "J", form=f)) for key in keys for f in numbers.forms)


def stances_table(numbers: Results) -> Table:
    """How the unknown facts were hedged: the parts of UUR."""
    rows = labelled(NUMBERS.section("stances"))
    return _by_form(numbers, "How it hedged the unknown facts", rows, computed=True)


def labelled(metrics: Mapping[str, Metric]) -> dict[str, tuple[str, str]]:
    """Return the head of a row for each number, and what stands beside it."""
    return {name: (metric.label, metric.meaning) for name, metric in metrics.items()}


def _by_form(
    numbers: Results, caption: str, rows: dict[str, tuple[str, str]], computed: bool = False
) -> Table:
    notes = Notes()
    lines = []
    for name, (label, text) in rows.items():
        if computed and not any(numbers.find(name, form=form) for form in numbers.forms):
            continue
        cells = [
            notes.cell(numbers.get(name, form=f), f"{name} ({FORMS[f]})") for f in numbers.forms
        ]
        lines.append([TableCell(label, text, head=True), *cells])
    head = ["", *(FORMS[form] for form in numbers.forms)]
    return Table(caption, head, lines if numbers.forms else [], notes.lines(), "stack")


def compared_table(numbers: Results, form: str) -> Table:
    """This model beside policies that do not look at the fact, on the same facts."""
    return _grid(
        f"The same facts under other policies, {FORMS[form]}",
        {
            label: partial(numbers.get, form=form, **part)
            for label, part in COMPARED.items()
            if part.get("policy") != "type" or _typed(numbers)
        },
        list(RATES),
        notes=["The other policies hedge some of the answers to the plain questions."],
    )


def known_table(numbers: Results, form: str) -> Table:
    """The headline under other definitions of known; they leave out different facts."""
    fewest = right_draws(numbers)
    own = f"at least {fewest} draws right (headline)" if fewest > 1 else "any draw right (headline)"
    lines = {
        label: partial(numbers.get, form=form, **part)
        for label, part in {own: {}, **KNOWN}.items()
        if numbers.find("J", form=form, **part)
    }
    if len(lines) < 2:
        return Table("", [], [], [])
    caption = f"Other ways to decide what it knows, {FORMS[form]}"
    return _grid(caption, lines, list(RATES), facts=True)


def _grid(
    caption: str,
    lines: Mapping[str, Callable[..., Estimate]],
    names: Sequence[str],
    facts: bool = False,
    notes: Sequence[str] = (),
) -> Table:
    """One line for each way of counting; ``facts`` adds how many facts each counts."""
    rows: list[list[TableCell]] = []
    for label, find in lines.items():
        estimates = [find(name) for name in names]
        if rows and all(e.value is None for e in estimates):
            continue
        style = "" if rows else "own"
        count = [TableCell(f"{max(e.n for e in estimates):,}", style=style)] if facts else []
        cells = [
            TableCell(
                shown_value(e),
                tight(interval(e)) if is_gap(e.name) and not is_exact(e) else "",
                style=style,
            )
            for e in estimates
        ]
        rows.append([TableCell(label, head=True, style=style), *count, *cells])
    return Table(caption, ["", *(["facts"] if facts else []), *names], rows, list(notes))


def matrix_table(numbers: Results, form: str) -> Table:
    """The 2x3 matrix of what was known by what was said, shaded by the share of its row."""
    rows = []
    for label, row in (("known", "k"), ("unknown", "u")):
        cells = [numbers.get(f"cell_{row}{column}", form=form).value for column in "ciu"]
        total = sum(cell or 0 for cell in cells)
        if any(cell is None for cell in cells):
            return Table("", [], [], [])
        shares = [(cell or 0) / total if total else None for cell in cells]
        rows.append(
            [TableCell(label, f"{total:.0f} facts", head=True)]
            + [
                TableCell(
                    f"{cell or 0:.0f}",
                    percent(share) if total else "",
                    level=round(9 * (share or 0)),
                    style="good" if row + column in ("kc", "uu") else "",
                )
                for cell, share, column in zip(cells, shares, "ciu", strict=True)
            ]
        )
    omitted = left_out_facts(numbers, form)
    wrong = "stated wrong or left out" if omitted else "stated wrong"
    return Table(
        f"{FORMS[form].capitalize()}: facts, and their share of the row",
        ["", "stated right", wrong, "hedged"],
        rows,
        [omitted] if omitted else [],
    )


def slices_table(numbers: Results, key: str, names: dict[str, str]) -> Table:
    """Headline numbers of every domain or fact type, by form; guess rates where there are any."""
    notes = Notes()
    rows = []
    shown = ("J", "UUR", "over_hedge", "p_known", "FA")
    guesses = dict(numbers.by(key, "guess_rate"))
    values = list(dict.fromkeys(v for f in numbers.forms for v, _ in numbers.by(key, "J", form=f)))
    for value in values[:MOST_ROWS]:
        label = line(names.get(value, value), 80) or UNNAMED
        for place, form in enumerate(numbers.forms):
            estimates = [numbers.get(name, form=form, **{key: value}) for name in shown]
            facts = next((e.n for e in estimates if e.n), 0)
            cells = [
                notes.cell(e, f"{e.name} ({label}, {FORMS[form]})", e.name in ("UUR", "J"))
                for e in estimates
            ]
            forms = [TableCell(NARROW_FORMS[form], style="left")] if numbers.forms[1:] else []
            row = [*forms, TableCell(f"{facts:,}"), *cells]
            if place == 0:
                row.insert(0, TableCell(label, head=True, rows=len(numbers.forms)))
            if guesses and place == 0:
                row.append(_guess(guesses.get(value), len(numbers.forms)))
            rows.append(row)
    head = ["", *([""] if numbers.forms[1:] else [])]
    head += ["facts", "J", "UUR", "known, yet hedged", "known", "FA"]
    head += ["guess rate"] if guesses else []
    left = len(values) - MOST_ROWS
    further = [f"{left} more are in the table metrics of the run."] if left > 0 else []
    name = {"domain": "domain", "type": "type of fact"}[key]
    return Table(f"Every {name}", head, rows, [*further, *notes.lines()[:20]])


def tier_knowledge_table(numbers: Results) -> Table:
    """Return the share known in each tier, and J and UUR of each form; no rows without tiers."""
    notes, rows = Notes(), []
    for tier, known in tier_knowledge(numbers):
        label = tier_label(tier)
        cells = [notes.cell(known, f"known ({label})")]
        for form in numbers.forms:
            for name in ("J", "UUR"):
                estimate = with_interval_only(numbers.get(name, form=form, tier=tier))
                cells.append(notes.cell(estimate, f"{name} ({label}, {FORMS[form]})"))
        rows.append([TableCell(label, head=True), TableCell(f"{known.n:,}"), *cells])
    measured = [f"{name}, {FORMS[form]}" for form in numbers.forms for name in ("J", "UUR")]
    head = ["", "facts", "known", *measured]
    return Table("Known share by tier", head, rows, [TIERS, *notes.lines()] if rows else [])


def tier_knowledge(numbers: Results) -> list[tuple[str, Estimate]]:
    """Return each tier with the share of its facts that the model knows, best known first."""
    forms = numbers.forms[:1]
    shares = [pair for form in forms for pair in numbers.by("tier", "p_known", form=form)]
    return sorted(shares, key=lambda pair: tier_order(pair[0]))


def _guess(rate: Estimate | None, rows: int) -> TableCell:
    if rate is None or rate.value is None:
        return TableCell(shown_value(Estimate("")), rows=rows)
    high = rate.value > GUESSABLE
    return TableCell(shown_value(rate), "⚑ easily guessed" if high else "", rows=rows)


def alignment_table(numbers: Results) -> Table:
    """Which facts were stated or hedged in which form, for all, known and unknown facts."""
    parts = {f"{label} facts": part for label, part in GIVEN.items()}
    return _aligned("Short against long", numbers, parts)


def methods_alignment_table(numbers: Results) -> Table:
    """The same of all facts for each prompting method; no rows for the instruction alone."""
    names = [name for name, _ in numbers.by("method", "align_CC")]
    parts = {METHOD_LABELS.get(name, line(name, 40)): {"method": name} for name in names}
    caption = "Short against long, by prompting method"
    return _aligned(caption, numbers, {INSTRUCTION: {}, **parts} if parts else {})


def _aligned(caption: str, numbers: Results, parts: dict[str, dict[str, str]]) -> Table:
    """The four shares and kappa of some slices, by label."""
    notes = Notes()
    rows = []
    for label, part in parts.items():
        pairs = [f"align_{pair}" for pair in ("CC", "CU", "UC", "UU")]
        estimates = [numbers.get(name, **part) for name in (*pairs, "kappa")]
        if any(e.value is not None for e in estimates):
            cells = [
                notes.cell(e, f"{e.name} ({label.removesuffix(' facts')})")
                if e.signature or e.n
                else TableCell("")
                for e in estimates
            ]
            rows.append([TableCell(label, head=True), *cells])
    head = [
        "",
        "stated in both",
        "stated short, hedged long",
        "hedged short, stated long",
        "hedged in both",
        "kappa",
    ]
    return Table(caption, head, rows, notes.lines())


def missing_verdicts_table(numbers: Results) -> Table:
    """Verdicts nobody could read, and how far the metrics could move whatever they were."""
    rows = []
    for form in numbers.forms:
        for name in RATES:
            estimate = numbers.get(name, form=form)
            if estimate.missing:
                rows.append(
                    [
                        TableCell(f"{name}, {FORMS[form]}", head=True),
                        TableCell(f"{estimate.missing:,}"),
                        TableCell(shown_value(estimate), tight(interval(estimate))),
                        TableCell(bounds(estimate) or shown_value(Estimate(""))),
                    ]
                )
    return Table(
        "Metrics with missing verdicts", ["", "missing", "as printed", "lowest, highest"], rows, []
    )


# ---- other prompting methods, beside the instruction: one table a form

#: numbers of each method in the terminal
COLUMNS = ("UUR", "KCR", "J", "J_within", "odds_ratio_within", "wrong_and_sure")
#: and on the page: the paper's five (Table 4), then ours
PAGE_COLUMNS = ("FA", "UA", *COLUMNS[:2], "EA", *COLUMNS[2:])
INSTRUCTION = "the instruction"
ABOUT = (
    "All methods are asked about the same facts, and the same probes decide what is known. J "
    "within: within fact type. Odds ratio: odds of hedging an unknown fact over those of a known "
    "one, within type. Wrong, sure: share of all facts stated wrong, without a hedge."
)


def methods_of(
    numbers: Results, form: str, columns: Sequence[str] = COLUMNS
) -> Iterator[tuple[str, list[Estimate]]]:
    """Yield each method with its numbers, the instruction first; nothing if there is no other."""
    names = [name for name, _ in numbers.by("method", "J", form=form)]
    if names:
        yield INSTRUCTION, [numbers.get(name, form=form) for name in columns]
    for method in names:
        title = METHOD_LABELS.get(method, line(method, 40))
        yield title, [numbers.get(name, form=form, method=method) for name in columns]


def methods_table(numbers: Results, form: str) -> Table:
    """Return the table of a form for the page; without rows for a run of the instruction alone."""
    notes = Notes()
    lines = []
    for title, estimates in methods_of(numbers, form, PAGE_COLUMNS):
        cells = [notes.cell(e, f"{e.name} ({title})") for e in estimates]
        lines.append([TableCell(title, head=True), *cells])
    caption = f"Other prompting methods, {FORMS[form]}"
    heads = [NUMBERS[name].column for name in PAGE_COLUMNS]
    return Table(caption, ["", *heads], lines, [ABOUT, *notes.lines()])


# ---- charts, each wide and narrow, with words for readers who cannot see them


def drawings(numbers: Results, names: dict[str, str]) -> dict[str, Figure | None]:
    """Return the charts of the page; ``None`` where there is nothing to draw."""
    return {
        "metrics": figure_of(
            "metrics", lambda width: metrics_chart(numbers, width), _describe(numbers)
        ),
        "domains": figure_of(
            "j-by-domain",
            lambda width: domains_chart(numbers, width),
            "J by domain with 95 % intervals; the table below has the values.",
        ),
        "types": figure_of(
            "j-by-type",
            lambda width: types_chart(numbers, names, width),
            "J by type of fact with 95 % intervals; the table below has the values.",
        ),
        "alignment": figure_of(
            "short-against-long",
            lambda width: alignment_chart(numbers, width),
            "Shares of facts stated or hedged in short answers and in paragraphs; the table below "
            "has the values.",
        ),
    }


def _describe(numbers: Results) -> str:
    values = [
        f"{name} {FORMS[form]} {shown_value(estimate)} {interval(estimate)}"
        for name in RATES
        for form in numbers.forms
        if (estimate := numbers.get(name, form=form)).value is not None
    ]
    return f"Metrics with 95 % intervals: {'; '.join(values)}."


def metrics_chart(numbers: Results, width: int) -> Drawing | None:
    """Six metrics by form: points with intervals, and what blind policies would score."""
    labels = {
        name: f"{name}  {metric.label}" if width > NARROW else name
        for name, metric in RATES.items()
    }
    rows = [
        chart_row(labels[name], FORMS[form], numbers.get(name, form=form))
        for name in RATES
        for form in numbers.forms
    ]
    references = [
        reference_of(labels[name], FORMS[form], policy, estimate.value)
        for name in RATES
        for form in numbers.forms
        for policy in charts.REFERENCES
        if (estimate := numbers.get(name, form=form, policy=policy)).value is not None
    ]
    return forest_plot(
        rows, list(labels.values()), width, "share (J: difference of two shares)", references
    )


def domains_chart(numbers: Results, width: int) -> Drawing | None:
    """J in each domain, by form, with its interval and a line at 0."""
    return _sliced(numbers, "domain", {}, width)


def types_chart(numbers: Results, names: dict[str, str], width: int) -> Drawing | None:
    """J in each type of fact, those with most facts first; ``names`` are the labels to show."""
    return _sliced(numbers, "type", names, width)


def _sliced(numbers: Results, key: str, names: dict[str, str], width: int) -> Drawing | None:
    slices: dict[str, list[tuple[str, Estimate]]] = {}
    for form in numbers.forms:
        for value, estimate in numbers.by(key, "J", form=form):
            slices.setdefault(value, []).append((form, estimate))
    largest = sorted(slices, key=lambda v: -max(e.n for _, e in slices[v]))[: charts.MOST_ROWS]
    order: list[str] = []
    for value in largest:
        label = line(names.get(value, value), 52) or UNNAMED
        # two names that are cut to the same label must not share a row
        order.append(label if label not in order else f"{label} {len(order) + 1}")
    rows = [
        chart_row(label, FORMS[form], estimate)
        for value, label in zip(largest, order, strict=True)
        for form, estimate in slices[value]
    ]
    return forest_plot(rows, order, width, "J (0 = blind hedging)", [])


def alignment_chart(numbers: Results, width: int) -> Drawing | None:
    """Shares of the four short/long combinations, for all, known and unknown facts."""
    rows = []
    for label, part in GIVEN.items():
        start = 0.0
        for order, pair in enumerate(PAIRS):
            estimate = numbers.get(f"align_{pair}", **part)
            if estimate.value is None:
                continue
            rows.append(
                {
                    "facts": label,
                    "pair": PAIR_NAMES[pair],
                    "order": order,
                    "start": start,
                    "end": start + estimate.value,
                    "middle": start + estimate.value / 2,
                    "label": f"{100 * estimate.value:.0f}" if estimate.value >= 0.05 else "",
                }
            )
            start += estimate.value
    if not rows:
        return None
    y = alt.Y("facts:N", sort=list(GIVEN), title=None)
    bars = pair_bars(rows, y, 26, width)
    return finish(bars, width, 44 * len({r["facts"] for r in rows}))


# ---- the terminal

#: what stands below the six metrics in the same columns
BEYOND = ("J_within", "unspoken_knowledge", "hedge_precision")
#: rows of the table of references: (label, arguments that find their estimates)
REFERENCES: dict[str, dict[str, str]] = {
    "this model": {},
    "  asked plainly": {"prompt": "plain"},
    "never hedging": {"policy": "never"},
    "always hedging": {"policy": "always"},
    "equally often, at random": {"policy": "random"},
    "equally often, by log-probs": {"policy": "own_logprob"},
}


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
    """Print the opening, the metrics with intervals and counts, references and warnings.

    ``manifest`` says what was run, ``page`` where the HTML report stands, ``entities`` how many
    entities were asked about. Holds for any list of estimates, also an empty one; undefined numbers
    are dashes with a reason.
    """
    numbers = Results(estimates)
    first = opening(estimates, manifest)
    print_beginning(console, manifest, first)
    if not first.void:
        say(console, " ".join(headline(numbers, entities)), "")
    if numbers.forms:
        console.print()
        console.print(_metrics(numbers, console))
        console.print()
        console.print(_references(numbers, console))
        console.print()
    for table in (*_tiers(numbers, console), *_methods(numbers, console)):
        console.print(table)
        console.print()
    for text in (
        *filter(None, (left_out_facts(numbers, f) for f in numbers.forms)),
        *_undefined(numbers),
    ):
        say(console, text, "dim")
    for text in doubt_read(numbers, manifest, run).sentences:
        say(console, text, "dim")
    notes = *missing_lines(numbers), *run_warnings(numbers)
    terminal.end(console, manifest, first, numbers.all, page, notes)


def summary(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return J of each form; see :class:`sayso.protocols.protocol.Report`."""
    numbers = Results(estimates)
    computed = (numbers.find("J", form=form) for form in numbers.forms)
    return [estimate for estimate in computed if estimate is not None]


def main_numbers(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return J and the rates of each form; see :class:`sayso.protocols.protocol.Report`."""
    numbers = Results(estimates)
    names = dict.fromkeys(("J", *RATES))
    computed = (numbers.find(name, form=form) for form in numbers.forms for name in names)
    return [estimate for estimate in computed if estimate is not None]


def _metrics(numbers: Results, console: Console) -> rich_table.Table:
    table = plain_table()
    table.add_column("", no_wrap=True)
    table.add_column(safe_text("share [95 % range]  count", console, "dim"))
    for form in numbers.forms:
        table.add_column("", no_wrap=True, justify="right")
        table.add_column(safe_text(FORMS[form], console), no_wrap=True)
    for name, metric in RATES.items():
        row = [safe_text(name, console, "bold"), safe_text(metric.label, console)]
        for form in numbers.forms:
            row += _cells(numbers.get(name, form=form), console)
        table.add_row(*row, end_section=name == "J")
    for name in BEYOND if _typed(numbers) else BEYOND[1:]:
        row = [Text(""), safe_text(MORE[name].label, console)]
        for form in numbers.forms:
            row += _cells(numbers.get(name, form=form), console)
        table.add_row(*row)
    return table


def _cells(estimate: Estimate, console: Console) -> list[Text]:
    strong = "bold cyan" if estimate.name == "J" else "bold"
    detail = safe_text(interval(estimate, 0), console)
    if ratio_counts(estimate):
        detail.append_text(safe_text(f" {ratio_counts(estimate)}", console, "dim"))
    return [safe_text(shown_value(estimate, 0), console, strong), detail]


def _references(numbers: Results, console: Console) -> rich_table.Table:
    """Return what other policies score on the same facts: what the numbers are worth."""
    table = plain_table()
    table.add_column(safe_text("for comparison, in %", console, "dim"), no_wrap=True)
    for name in RATES:
        table.add_column(name, justify="right", no_wrap=True)
    for form in numbers.forms:
        for place, (label, part) in enumerate(REFERENCES.items()):
            estimates = [numbers.get(name, form=form, **part) for name in RATES]
            if all(e.value is None for e in estimates) and part:
                continue
            head = f"{form if place == 0 else '':<6} " if numbers.forms[1:] else ""
            style = "bold" if place == 0 else ""
            cells = [safe_text(_reference(e), console, style) for e in estimates]
            table.add_row(safe_text(head + label, console, style), *cells)
    return table


def _tiers(numbers: Results, console: Console) -> Iterator[rich_table.Table]:
    """Yield the table of known shares by tier; nothing without tiers."""
    tiers = tier_knowledge(numbers)
    if not tiers:
        return
    table = plain_table()
    table.title, table.title_justify = safe_text("known share by tier", console, "bold"), "left"
    table.add_column("", no_wrap=True)
    table.add_column("", no_wrap=True, justify="right")
    table.add_column(safe_text("[95 % range]  count", console, "dim"), no_wrap=True)
    for form in numbers.forms:
        table.add_column(safe_text(f"J, {FORMS[form]}", console, "dim"), no_wrap=True)
    for tier, known in tiers:
        row = [safe_text(tier_label(tier), console), *_cells(known, console)]
        for form in numbers.forms:
            j = with_interval_only(numbers.get("J", form=form, tier=tier))
            row.append(safe_text(f"{shown_value(j)} {interval(j)}".strip(), console))
        table.add_row(*row)
    yield table


def _reference(estimate: Estimate) -> str:
    if is_gap(estimate.name):
        return "0" if is_exact(estimate) and estimate.value == 0 else with_interval(estimate)
    return shown_value(estimate, 0).removesuffix(" %")


def _methods(numbers: Results, console: Console) -> Iterator[rich_table.Table]:
    """Yield a table of other methods for each form, intervals below the numbers."""
    shares = [NUMBERS[name].notation == "percent" for name in COLUMNS]
    for form in numbers.forms:
        methods = list(methods_of(numbers, form))
        if not methods:
            continue
        table = plain_table()
        table.add_column(safe_text(f"other methods, {FORMS[form]}", console, "bold"))
        for head in (NUMBERS[name].column for name in COLUMNS):
            table.add_column(safe_text(head, console, "dim"), justify="right")
        for title, estimates in methods:
            ends = [reach(e, share) for e, share in zip(estimates, shares, strict=True)]
            table.add_row(
                safe_text(title, console),
                *(safe_text(shown_value(e, 0), console) for e in estimates),
            )
            table.add_row("", *(safe_text(text, console, "dim") for text in ends))
        yield table


def _undefined(numbers: Results) -> Iterator[str]:
    """One line for each reason why a shown number is a dash, with the numbers it concerns."""
    reasons: dict[str, list[str]] = {}
    for form in numbers.forms:
        for name in (*RATES, *BEYOND):
            estimate = numbers.get(name, form=form)
            if estimate.value is None:
                reasons.setdefault(why_undefined(estimate), []).append(f"{name} ({form})")
    for reason, names in reasons.items():
        yield f"no value for {', '.join(names)}: {line(reason, 200)}"


# ---- the page


def pages(
    folder: RunFolder,
    manifest: Manifest,
    estimates: list[Estimate],
    beside: Sequence[str | Path | RunFolder] = (),
) -> dict[str, str]:
    """Return every file of the page by name: the pages of answers, then ``report.html``."""
    tables = _answers(folder, manifest)
    every = cards(tables)
    own = context(manifest, estimates, tables, every, folder)
    corrected = corrected_part(folder, NUMBERS, part_label)
    return with_answers(__package__, manifest, every, {**own, "corrected": corrected})


def figures(folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]) -> list[Figure]:
    """Return every chart of the page; see :class:`sayso.protocols.protocol.Report`."""
    names = _type_names(folder.read("questions", Question))
    return figures_in(drawings(Results(estimates), names))


def context(
    manifest: Manifest,
    estimates: list[Estimate],
    tables: Tables,
    every: Sequence[QuestionCard] = (),
    folder: RunFolder | None = None,
) -> dict[str, object]:
    """Return what the template of the page needs besides the answers."""
    numbers = Results(estimates)
    entities = {q.entity for q in tables.questions if q.entity}
    names = _type_names(tables.questions)
    own: dict[str, object] = {}
    if numbers.forms == ["short"]:  # of what was not asked nothing need be said
        own["facts"] = [
            (group, [row for row in rows if "long" not in re.split(r"[ .]", row[0])])
            for group, rows in facts(manifest)
        ]
    return own | {
        "numbers": numbers,
        "opening": opening(estimates, manifest)._replace(examples=_examples(every)),
        "headline": headline(numbers, len(entities) or None),
        "tiles": _tiles(numbers),
        "figures": drawings(numbers, names),
        "how_read": doubt_read(numbers, manifest, folder),
        "metrics": rates_table(numbers),
        "compared": [compared_table(numbers, form) for form in numbers.forms],
        "beside": [methods_table(numbers, form) for form in numbers.forms],
        "right_draws": right_draws(numbers),
        "matrices": [matrix_table(numbers, form) for form in numbers.forms],
        "more": more_table(numbers),
        "stance_split": stances_table(numbers),
        "variants": [known_table(numbers, form) for form in numbers.forms],
        "tiers": tier_knowledge_table(numbers),
        "domains": slices_table(numbers, "domain", {}),
        "types": slices_table(numbers, "type", names),
        "alignment": alignment_table(numbers),
        "methods_alignment": methods_alignment_table(numbers),
        "missing": missing_verdicts_table(numbers),
        "missing_lines": missing_lines(numbers),
        "warnings": [*run_warnings(numbers), *terminal.warned(manifest)],
        "judged": terminal.judge_sentences(manifest),
        "signatures": signatures(
            (f"{name}, {FORMS[form]}", numbers.get(name, form=form))
            for form in numbers.forms
            for name in RATES
        ),
        "definitions": definitions(numbers),
        "dash": DASH,
    }


def _tiles(numbers: Results) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the four numbers of the headline."""
    known = next(
        (e for f in numbers.forms if (e := numbers.get("p_known", form=f)).value is not None), None
    )
    tiles = [("facts it knew", [("", shown_value(known, 0) if known else DASH)])]
    for name, label in (
        ("UUR", "unknown facts that it hedged"),
        ("over_hedge", "known facts that it hedged"),
        ("J", "J: 0 = blind hedging, 1 = perfect"),
    ):
        values = [
            _tile(NARROW_FORMS[form] if numbers.forms[1:] else "", numbers.get(name, form=form))
            for form in numbers.forms
        ]
        tiles.append((label, values))
    return tiles if numbers.forms else []


def _tile(form: str, estimate: Estimate) -> tuple[str, str]:
    """Return what stands beside a number of the headline, and the number."""
    span = tight(interval(estimate)) if is_gap(estimate.name) else ""
    return f"{form} {span}".strip(), shown_value(estimate, 0)


def _type_names(questions: Sequence[Question]) -> dict[str, str]:
    names = {}
    for question in questions:
        if question.aspect and not question.parts:
            aspect = question.aspect.description or question.aspect.label
            if aspect:
                names[question.type] = (
                    f"{aspect} ({question.domain})" if question.domain else aspect
                )
    return names
