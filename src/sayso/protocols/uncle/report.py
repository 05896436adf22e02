"""How UNCLE's numbers are shown: sentences, the terminal, and the tables and charts of the page.

Sentences claim no more than the intervals allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import altair as alt
from msgspec.structs import replace

from sayso.harmless import line
from sayso.judges.rules.accuracy import Form, nearest_contents, nearest_texts, reader_accuracy
from sayso.judges.rules.judge import SIGNATURE
from sayso.metric import Metric
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.judged import (
    PartRead,
    doubt_part,
    how_read,
    labeled_part,
    right_part,
    run_writer,
    unknown_part,
)
from sayso.protocols.uncle.numbers import NUMBERS
from sayso.records import Estimate, Question, Results, part_of, tier_order
from sayso.report import charts
from sayso.report.answers import REFUSAL, QuestionCard, ShownFact, cards
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
from sayso.report.corrected import corrected_section, stored_corrected
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import (
    FORMS,
    GUESSABLE,
    TIERS,
    percent,
    ratio_counts,
    shown_whole,
    sparse,
    tier_label,
    why_undefined,
    with_interval_only,
)
from sayso.report.opening import (
    MOST,
    ChosenExamples,
    HeadlineShare,
    PageOpening,
    fact_examples,
    how_often,
    open_page,
    unread_share,
)
from sayso.report.page import answer_tables
from sayso.report.sheet import (
    Chart,
    HowRead,
    Section,
    Sheet,
    StoredAnswers,
    Tile,
    missing_section,
)
from sayso.storage.run_folder import Manifest, RunFolder

MORE = NUMBERS.section("more")
#: J, by which runs are told apart, then the rates of the paper
RATES = {"J": NUMBERS["J"], **NUMBERS.section("rates")}
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


def opening(numbers: Results, manifest: Manifest | None) -> PageOpening:
    """Return how page and terminal begin."""
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
    intervals of J, and of J within types of fact, are clear of 0. Holds for a run without any known
    or unknown fact.
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
    within = numbers.get("J_within", form=form)
    if _typed(numbers) and within.low is not None and within.low <= 0:
        whole = f"{both[0].upper()}{both[1:]}"
        return f"{whole}; within a type of fact, its hedging shows no clear link to what it knows."
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


def cautions(numbers: Results) -> list[str]:
    """Return what a reader must know before quoting a number of this run."""
    lines = []
    for form in numbers.forms:
        worst = max((numbers.get(name, form=form) for name in RATES), key=lambda e: e.missing)
        if worst.missing:
            lines.append(
                f"{FORMS[form].capitalize()}: {worst.missing:,} of {worst.missing + worst.n:,} "
                "facts are left out, since no verdict on the answer or on some draws could be read."
            )
    rates = list(numbers.by("type", "guess_rate"))
    high = [name for name, e in rates if e.value is not None and e.value > GUESSABLE]
    if high:
        lines.append(
            f"{len(high)} of {len(rates)} fact types can be guessed more than {GUESSABLE:.0%} of "
            "the time, so 'known' overstates knowledge there.".replace("%", " %")
        )
    few = [
        f"{name} of {FORMS[form]} ({ratio_counts(estimate)})"
        for form in numbers.forms
        for name in RATES
        if (estimate := numbers.get(name, form=form)).value is not None and sparse(estimate)
    ]
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
        if counts is not None and manifest.judge == "rules":
            words = numbers.get("answer_words", form="short").value
            near_draws = nearest_contents(counts, "short", words, run_writer(manifest))
            parts.append(right_part(name, "the draws, which decide what is known,", near_draws))
    return how_read(manifest, parts, run)


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


# ---- tables

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


def _by_form(
    numbers: Results, caption: str, metrics: Mapping[str, Metric], notes: Sequence[str] = ()
) -> NumberTable:
    """Return numbers by form, each with what it means."""
    rows = {metric.titled: name for name, metric in metrics.items()}
    return grid(
        caption,
        rows,
        {FORMS[form]: form for form in numbers.forms},
        lambda name, form: numbers.find(name, form=form),
        meanings={metric.titled: metric.meaning for metric in metrics.values()},
        notes=notes,
    )


def rates_table(numbers: Results) -> NumberTable:
    """Return the six headline metrics by form."""
    left_out = filter(None, (left_out_facts(numbers, form) for form in numbers.forms))
    return _by_form(
        numbers,
        "Value [95 % interval, sampling error only] count",
        definitions(numbers),
        [*left_out],
    )


def _typed(numbers: Results) -> bool:
    """Tell whether the data have types of fact or domains; else J within type is J."""
    keys = ("type", "domain")
    return any(any(numbers.by(key, "J", form=f)) for key in keys for f in numbers.forms)


def more_tables(numbers: Results) -> list[NumberTable]:
    """Return the numbers that the paper does not have, and how unknown facts were hedged.

    Numbers within types of fact are left out where the data tell no types apart.
    """
    typed = _typed(numbers)
    more = {name: m for name, m in MORE.items() if typed or name not in WITHIN}
    return [
        _by_form(numbers, "Beyond the paper", more),
        _by_form(numbers, "How it hedged the unknown facts", NUMBERS.section("stances")),
    ]


#: numbers that are others once more where the data tell no types of fact apart
WITHIN = ("J_within", "auroc_incorrect_within")


def compared_table(numbers: Results, form: str) -> NumberTable:
    """Return this model beside policies that do not look at the fact, on the same facts."""
    parts = {
        label: part
        for label, part in COMPARED.items()
        if part.get("policy") != "type" or _typed(numbers)
    }
    return _of_parts(numbers, f"The same facts under other policies, {FORMS[form]}", parts, form)


def known_table(numbers: Results, form: str) -> NumberTable:
    """Return the headline under other definitions of known; they leave out different facts."""
    fewest = right_draws(numbers)
    own = f"at least {fewest} draws right (headline)" if fewest > 1 else "any draw right (headline)"
    parts = {
        label: part
        for label, part in {own: {}, **KNOWN}.items()
        if numbers.find("J", form=form, **part)
    }
    caption = f"Other ways to decide what it knows, {FORMS[form]}"
    table = _of_parts(numbers, caption, parts, form)
    return table if len(parts) > 1 else table._replace(rows=())


def _of_parts(
    numbers: Results, caption: str, parts: Mapping[str, dict[str, str]], form: str
) -> NumberTable:
    """Return the rates of some slices of a form."""
    return grid(
        caption,
        parts,
        {name: name for name in RATES},
        lambda part, name: numbers.find(name, form=form, **part),
    )


def matrix_table(numbers: Results, form: str) -> NumberTable:
    """Return the 2x3 matrix of what was known by what was said, in facts and shares of the row."""
    omitted = left_out_facts(numbers, form)

    def cell(row: str, column: str) -> Entry:
        cells = {c: numbers.get(f"cell_{row}{c}", form=form).value for c in "ciu"}
        count, total = cells[column], sum(value or 0 for value in cells.values())
        if count is None:
            return None
        return f"{count:.0f} ({percent(count / total)})" if total else "0"

    wrong = "stated wrong or left out" if omitted else "stated wrong"
    columns = {"stated right": "c", wrong: "i", "hedged": "u"}
    caption = f"{FORMS[form].capitalize()}: facts, and their share of the row"
    return grid(caption, {"known": "k", "unknown": "u"}, columns, cell)


def slices_table(numbers: Results, key: str, names: Mapping[str, str]) -> NumberTable:
    """Return headline numbers of every domain or fact type, by form, and guess rates."""
    metrics = [NUMBERS[name] for name in ("J", "UUR", "over_hedge", "p_known", "FA", "guess_rate")]
    values = list(dict.fromkeys(v for f in numbers.forms for v, _ in numbers.by(key, "J", form=f)))
    rows = {
        (line(names.get(value, value), 80) or UNNAMED, NARROW_FORMS[form]): (value, form)
        for value in values[:MOST_ROWS]
        for form in numbers.forms
    }

    def found(row: tuple[str, str], name: str) -> Entry:
        value, form = row
        if name == "guess_rate":
            return numbers.find(name, **{key: value})
        return numbers.find(name, form=form, **{key: value})

    left = len(values) - MOST_ROWS
    further = [f"{left} more are in the table metrics of the run."] if left > 0 else []
    caption = {"domain": "Every domain", "type": "Every type of fact"}[key]
    columns = {metric.column: metric.name for metric in metrics}
    return grid(caption, rows, columns, found, labels=("", "form"), notes=further)


def tier_knowledge_table(numbers: Results) -> NumberTable:
    """Return the share known in each tier, and J and UUR of each form; no rows without tiers."""
    columns: dict[str, tuple[str, str]] = {"known": ("p_known", next(iter(numbers.forms), ""))}
    columns |= {
        f"{name}, {FORMS[form]}": (name, form) for form in numbers.forms for name in ("J", "UUR")
    }

    def found(tier: str, column: tuple[str, str]) -> Entry:
        name, form = column
        return with_interval_only(numbers.get(name, form=form, tier=tier))

    tiers = {tier_label(tier): tier for tier in tiers_of(numbers)}
    return grid("Known share by tier", tiers, columns, found, notes=[TIERS])


def tiers_of(numbers: Results) -> list[str]:
    """Return the tiers of the data, best known first."""
    forms = numbers.forms[:1]
    named = [tier for form in forms for tier, _ in numbers.by("tier", "p_known", form=form)]
    return sorted(named, key=tier_order)


def alignment_table(numbers: Results) -> NumberTable:
    """Return which facts were stated or hedged in which form: all, known, unknown, by method."""
    methods = [name for name, _ in numbers.by("method", "align_CC")]
    parts = {f"{label} facts": part for label, part in GIVEN.items()}
    parts |= {METHOD_LABELS.get(name, line(name, 40)): {"method": name} for name in methods}
    columns = {**{words: f"align_{pair}" for pair, words in PAIR_NAMES.items()}, "kappa": "kappa"}
    return grid("Short against long", parts, columns, lambda part, name: numbers.find(name, **part))


#: numbers of each prompting method: the paper's five (Table 4), then ours
COLUMNS = ("FA", "UA", "UUR", "KCR", "EA", "J", "J_within", "odds_ratio_within", "wrong_and_sure")
INSTRUCTION = "the instruction"


def methods_table(numbers: Results, form: str) -> NumberTable:
    """Return the prompting methods of a form; without rows for a run of the instruction alone."""
    methods = [name for name, _ in numbers.by("method", "J", form=form)]
    parts = {METHOD_LABELS.get(name, line(name, 40)): {"method": name} for name in methods}
    return grid(
        f"Prompting methods, {FORMS[form]}",
        {INSTRUCTION: {}, **parts} if parts else {},
        {NUMBERS[name].column: name for name in COLUMNS},
        lambda part, name: numbers.find(name, form=form, **part),
        meanings={NUMBERS[name].column: NUMBERS[name].meaning for name in COLUMNS},
    )


# ---- charts, each wide and narrow, with words for readers who cannot see them


def _describe(numbers: Results) -> str:
    values = [
        f"{name} {FORMS[form]} {shown_whole(estimate)}"
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


# ---- the sheet


def sheet(
    estimates: Sequence[Estimate],
    manifest: Manifest | None = None,
    run: RunFolder | None = None,
) -> Sheet:
    """Return all that is shown of UNCLE's numbers; see :class:`sayso.protocols.protocol.Report`."""
    numbers = Results(estimates)
    named = [
        (f"{name}, {FORMS[form]}", numbers.get(name, form=form))
        for form in numbers.forms
        for name in RATES
    ]
    return Sheet(
        HEADING,
        opening(numbers, manifest),
        _tiles(numbers),
        Chart(
            "metrics",
            partial(metrics_chart, numbers),
            _describe(numbers),
            "Points are values with 95 % intervals. The small symbols show what policies that "
            "ignore the facts would score.",
        ),
        rates_table(numbers),
        [*_sections(numbers, run), missing_section(named)],
        cautions(numbers),
        doubt_read(numbers, manifest, run),
        named,
        TERMS,
        METHOD,
    )


TERMS = (
    (
        "rarely, sometimes, usually, almost always",
        "The interval of the hedged share of unknown facts lies below a quarter, reaches neither "
        "end, lies above a half, or above nine tenths.",
    ),
    (
        "known",
        "With several draws, a lucky guess counts as knowledge. The guess rate is how often the "
        "answer for one entity also happens to be right for another.",
    ),
)
METHOD = (
    "UNCLE, arXiv 2505.16922; J: Youden (1950); odds ratio within types: Mantel and Haenszel "
    "(1959); kappa: Cohen (1960)."
)


def _tiles(numbers: Results) -> list[Tile]:
    """Return the four numbers of the headline."""
    forms = {NARROW_FORMS[form] if numbers.forms[1:] else "": form for form in numbers.forms}
    known = next(
        (e for f in numbers.forms if (e := numbers.get("p_known", form=f)).value is not None),
        numbers.get("p_known"),
    )
    parts = {
        "UUR": "unknown facts that it hedged",
        "over_hedge": "known facts that it hedged",
        "J": "J: 0 = blind hedging, 1 = perfect",
    }
    of_forms = [
        Tile(label, [(of, numbers.get(name, form=form)) for of, form in forms.items()])
        for name, label in parts.items()
    ]
    return [Tile("facts it knew, by its draws", [("", known)]), *of_forms] if forms else []


def _sections(numbers: Results, run: RunFolder | None) -> list[Section]:
    """Return the tables behind the first one, each under the question that it answers."""
    forms = numbers.forms
    fewest = right_draws(numbers)
    draws = "one draw" if fewest == 1 else f"{fewest} draws"
    return [
        corrected_section(run, NUMBERS, part_label),
        Section(
            "matrix",
            "What did it know, and what did it say?",
            [matrix_table(numbers, form) for form in forms],
            text=[f"A fact counts as known if at least {draws} of the plain question are right."]
            if forms
            else (),
        ),
        Section(
            "policies",
            "What would hedging without a look at the fact score?",
            [compared_table(numbers, form) for form in forms],
        ),
        Section(
            "methods",
            "Does another way of asking help?",
            [methods_table(numbers, form) for form in forms],
        ),
        Section(
            "beyond",
            "Does it hedge more than by type of fact, and what does that cost?",
            more_tables(numbers),
        ),
        Section(
            "known",
            "Does it matter what counts as known?",
            [known_table(numbers, form) for form in forms],
        ),
        *_slice_sections(numbers, run),
    ]


def _slice_sections(numbers: Results, run: RunFolder | None) -> list[Section]:
    """Return the tables by tier, domain and type of fact, and of both forms."""
    names = _type_names(run.read("questions", Question)) if run is not None else {}
    domains, types = (slices_table(numbers, key, names) for key in ("domain", "type"))
    aligned = alignment_table(numbers)
    return [
        Section("tiers", "Is it worse for obscure subjects?", [tier_knowledge_table(numbers)]),
        Section(
            "domains",
            "Does it differ between domains?",
            [domains],
            _chart("j-by-domain", partial(domains_chart, numbers), "each domain", domains),
        ),
        Section(
            "types",
            "Does it differ between types of fact?",
            [types],
            _chart("j-by-type", partial(types_chart, numbers, names), "each type of fact", types),
        ),
        Section(
            "alignment",
            "Is the same fact hedged in both forms?",
            [aligned],
            [
                Chart(
                    "short-against-long",
                    partial(alignment_chart, numbers),
                    "Shares of facts stated or hedged in short answers and in paragraphs; the "
                    "table below has the values.",
                    "Shares of facts in percent, from left to right in the order of the legend.",
                )
            ]
            if aligned.rows
            else (),
        ),
    ]


def _chart(name: str, make: charts.Maker, of: str, table: NumberTable) -> list[Chart]:
    """Return the chart of J beside a table of slices; nothing where that has no rows."""
    label = f"J in {of} with its 95 % interval; the table below has the values."
    caption = f"J in {of} with its 95 % interval. The line at 0 is blind hedging."
    return [Chart(name, make, label, caption)] if table.rows else []


def read_answers(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> StoredAnswers:
    """Return the answers by entity; an admitted gap, a confident error and a typical answer first.

    Where there is no admitted gap or no such error, another good or bad answer stands there.
    """
    every = cards(answer_tables(folder, "probe", manifest.settings.get("probe.k")))
    return StoredAnswers(_examples(every), every)


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
