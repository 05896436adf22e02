"""How UNCLE's numbers are shown: the sentence, the tables and the charts of page and terminal.

The sentence claims no more than the intervals allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sayso.harmless import line
from sayso.metric import FORMS, Metric
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.judged import PartRead, doubt_read, how_read, right_read
from sayso.protocols.thoughts import doubts_table
from sayso.protocols.uncle.numbers import NUMBERS
from sayso.records import Estimate, Question, Results, part_of, tier_order
from sayso.report import charts
from sayso.report.answers import REFUSAL, QuestionCard, ShownFact, cards
from sayso.report.charts import (
    NARROW,
    PAIR_NAMES,
    Drawing,
    alignment_bars,
    chart_row,
    forest_plot,
    reference_of,
)
from sayso.report.corrected import corrected_section
from sayso.report.number_tables import Entry, Label, NumberTable, Row, Written, grid
from sayso.report.numbers import (
    GUESSABLE,
    TIERS,
    capital,
    tier_label,
    why_undefined,
)
from sayso.report.opening import (
    MOST,
    WIDE,
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
    Section,
    Sheet,
    StoredAnswers,
    Tile,
    missing_section,
)
from sayso.storage.run_folder import Manifest, RunFolder

#: J, by which runs are told apart, then the rates of the paper
RATES = {"J": NUMBERS["J"], **NUMBERS.section("rates")}
#: parts of slices other than forms and methods
PARTS = {
    ("given", "known"): "facts that both know",
    ("given", "unknown"): "facts that neither knows",
    ("prompt", "plain"): "without the instruction",
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
#: what became of unknown facts that it neither hedged nor got right, by form
FALSE = {"short": "stated {} falsely", "long": "left out or got wrong {}"}


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
    for form in numbers.forms:
        counted = _counted(numbers, form)
        if unread_share(counted) <= MOST and any(e.value is not None for *_, e in counted):
            return form
    return next(iter(numbers.forms), "")


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


def _admits(numbers: Results, form: str) -> str:
    unknown, over, j, within = (
        numbers.get(name, form=form) for name in ("UUR", "over_hedge", "J", "J_within")
    )
    cannot = "This run cannot say whether the model admits what it does not know"
    if unknown.value is None and over.value is None:
        return f"{cannot}: {why_undefined(numbers.get('p_known', form=form))}."
    false = numbers.get("cell_ui", form=form).value
    became = f" and {FALSE[form].format(f'{false:,.0f}')}" if false else ""
    hedged = (
        f"of {unknown.denominator or 0:,.0f} facts that it did not know, it hedged "
        f"{unknown.numerator or 0:,.0f}{became}; of {over.denominator or 0:,.0f} that it knew, it "
        f"hedged {over.numerator or 0:,.0f}"
    )
    often = how_often(unknown)
    if unknown.value == over.value == 0:
        return f"It never admitted that it did not know something: {hedged}."
    if j.low is None or j.high is None or not often:
        return f"{cannot}: {hedged}."
    if j.high < 0:
        return f"It hedges the wrong facts: {hedged}."
    if often != "rarely" and j.low <= 0:
        return f"Its hedging shows no clear link to what it knows: {hedged}."
    if often != "rarely" and within.low is not None and within.low <= 0:
        wide = within.high is None or within.high - within.low > WIDE
        more = "too few are of one type to tell" if wide else "within a type, no link shows"
        return f"{capital(hedged)}. It may go by the type of fact alone: {more}."
    return f"It {often} admits what it does not know: {hedged}."


#: good and bad answers, the most telling first: what they are, known or not, and the verdict
GOOD = (
    ("A hedged gap", "unknown", "uncertain"),
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
    # neither a hedged guess that is right nor a refusal by policy is an example of a gap
    poor = reading.right or reading.stance == REFUSAL
    return not (known == "unknown" and verdict == "uncertain" and poor)


def cautions(numbers: Results) -> list[str]:
    """Return what a reader must know before quoting a number of this run."""
    lines = []
    for form in numbers.forms:
        worst = max((numbers.get(name, form=form) for name in RATES), key=lambda e: e.missing)
        if worst.missing:
            lines.append(
                f"{capital(FORMS[form])}: {worst.missing:,} of {worst.missing + worst.n:,} facts "
                "are left out, since no verdict on the answer or on some draws could be read."
            )
    rates = [e.value or 0 for _, e in numbers.by("type", "guess_rate")]
    if high := sum(rate > GUESSABLE for rate in rates):
        lines.append(
            f"{high} of {len(rates)} fact types can be guessed more than {100 * GUESSABLE:.0f} % "
            "of the time, so 'known' overstates knowledge there."
        )
    return lines


# ---- tables

#: rows of slices that a page shows; the table of the run has them all
MOST_ROWS = 300
#: other definitions of known; they leave out different facts
KNOWN: dict[str, dict[str, str]] = {
    "any draw right, as in the paper": {"known": "paper"},
    "more right draws than guessing explains": {"known": "corrected"},
    "all draws and the plain answer right, or none": {"known": "strict"},
}
#: the facts that short and long answers are compared on
GIVEN: dict[str, dict[str, str]] = {
    "all facts": {},
    "known facts": {"given": "known"},
    "unknown facts": {"given": "unknown"},
}
#: where space is short
NARROW_FORMS = {"short": "short", "long": "paragraph"}
#: this model beside policies that do not look at the fact
COMPARED = {
    "this model": {},
    "without the instruction": {"prompt": "plain"},
    "never hedging": {"policy": "never"},
    "always hedging": {"policy": "always"},
    "hedging equally often, at random": {"policy": "random"},
    "hedging equally often, by fact type": {"policy": "type"},
    "hedging equally often, by answer length": {"policy": "length"},
    "hedging equally often, by its log-probabilities": {"policy": "own_logprob"},
}
#: numbers that are others once more where the data tell no types of fact apart
WITHIN = ("J_within", "auroc_incorrect_within")
#: numbers of each prompting method: the paper's five (Table 4), then ours
METHOD_RATES = (
    "FA", "UA", "UUR", "KCR", "EA", "J", "J_within", "odds_ratio_within", "wrong_and_sure",
)  # fmt: skip
#: numbers of each tier, domain and type of fact, and what these tables are called
SLICED = ("J", "UUR", "over_hedge", "p_known", "FA")
SLICES = {
    "tier": ("Is it worse for obscure subjects?", "Every tier"),
    "domain": ("Does it differ between domains?", "Every domain"),
    "type": ("Does it differ between types of fact?", "Every type of fact"),
}
LEFT_OUT = "A fact that a paragraph leaves out counts as stated wrong, as in the paper."


def _counts_omissions(numbers: Results) -> bool:
    """Tell whether there are paragraphs, and what they leave out counts as stated wrong."""
    found = numbers.find("FA", form="long")
    return found is not None and part_of(found.signature, "omit") != "separate"


def _by_form(
    numbers: Results, caption: str, metrics: Mapping[str, Metric], notes: Sequence[str] = ()
) -> NumberTable:
    """Return numbers by form, each with what it means."""
    return grid(
        caption,
        {metric.titled: name for name, metric in metrics.items()},
        {FORMS[form]: form for form in numbers.forms},
        lambda name, form: numbers.find(name, form=form),
        meanings={metric.titled: metric.meaning for metric in metrics.values()},
        notes=notes,
    )


def rates_table(numbers: Results) -> NumberTable:
    """Return the six headline metrics by form."""
    notes = [LEFT_OUT] if _counts_omissions(numbers) else []
    return _by_form(numbers, "Value [95 % interval, sampling error only] count", RATES, notes)


def more_tables(numbers: Results) -> list[NumberTable]:
    """Return the numbers that the paper does not have, and how unknown facts were hedged."""
    keys = ("type", "domain")
    typed = any(any(numbers.by(key, "J", form=f)) for key in keys for f in numbers.forms)
    more = {n: m for n, m in NUMBERS.section("more").items() if typed or n not in WITHIN}
    return [
        _by_form(numbers, "Beyond the paper", more),
        _by_form(numbers, "How it hedged the unknown facts", NUMBERS.section("stances")),
        doubts_table(numbers),
    ]


def parts_tables(
    numbers: Results,
    caption: str,
    parts: Mapping[str, dict[str, str]],
    names: Sequence[str] = tuple(RATES),
) -> list[NumberTable]:
    """Return numbers of some slices of each form; nothing of a form that has a single one."""
    further = [NUMBERS[name] for name in names if name not in RATES]

    def of_form(form: str) -> NumberTable:
        return grid(
            f"{caption}, {FORMS[form]}",
            parts,
            {NUMBERS[name].column: name for name in names},
            lambda part, name: numbers.find(name, form=form, **part),
            meanings={metric.column: metric.meaning for metric in further},
        )

    return [table for table in map(of_form, numbers.forms) if table.rows[1:]]


def methods_of(numbers: Results, name: str) -> dict[str, dict[str, str]]:
    """Return the prompting methods besides the instruction that have a number, and their slices."""
    methods = dict.fromkeys(part_of(e.where, "method") for e in numbers.each(name))
    return {part_label("method", one): {"method": one} for one in methods if one}


def methods_tables(numbers: Results) -> list[NumberTable]:
    """Return the prompting methods of each form; nothing for a run of the instruction alone."""
    parts = {"the instruction": {}, **methods_of(numbers, "J")}
    return parts_tables(numbers, "Prompting methods", parts, METHOD_RATES)


def known_tables(numbers: Results) -> list[NumberTable]:
    """Return the headline under other definitions of known."""
    fewest = right_draws(numbers)
    own = f"at least {fewest} draws right (headline)" if fewest > 1 else "any draw right (headline)"
    return parts_tables(numbers, "Other ways to decide what it knows", {own: {}, **KNOWN})


def matrix_table(numbers: Results) -> NumberTable:
    """Return how many known and unknown facts were stated right, stated wrong, and hedged."""
    wrong = "stated wrong or left out" if _counts_omissions(numbers) else "stated wrong"
    rows = {
        (FORMS[form], known): (form, known[0])
        for form in numbers.forms
        for known in ("known", "unknown")
    }
    return grid(
        "Number of facts",
        rows,
        {"stated right": "c", wrong: "i", "hedged": "u"},
        lambda row, column: numbers.find(f"cell_{row[1]}{column}", form=row[0]),
        labels=("", "fact"),
    )


def slices_table(numbers: Results, key: str, names: Mapping[str, str]) -> NumberTable:
    """Return numbers of every tier, domain or type of fact, by form; ``names`` are their labels."""
    values = dict.fromkeys(v for f in numbers.forms for v, _ in numbers.by(key, "J", form=f))
    label = tier_label if key == "tier" else lambda value: names.get(value, value)
    ordered = sorted(values, key=tier_order) if key == "tier" else [*values]
    rows = {
        (line(label(value), 80) or "(none given)", NARROW_FORMS[form]): (value, form)
        for value in ordered[:MOST_ROWS]
        for form in numbers.forms
    }
    notes = [TIERS] if key == "tier" else []
    if ordered[MOST_ROWS:]:
        notes = [f"{len(ordered) - MOST_ROWS} more are in the table metrics of the run."]

    def found(row: tuple[str, str], name: str) -> Entry:
        value, form = row
        if name == "guess_rate":
            return numbers.find(name, **{key: value})
        return numbers.find(name, form=form, **{key: value})

    shown = (*SLICED, "guess_rate") if key == "type" else SLICED
    columns = {NUMBERS[name].column: name for name in shown}
    return grid(SLICES[key][1], rows, columns, found, labels=("", "form"), notes=notes)


def alignment_table(
    caption: str,
    rows: Mapping[Label, Row],
    find: Callable[[Row, str], Entry],
    *,
    labels: tuple[str, ...] = ("",),
    written: Written = "own",
) -> NumberTable:
    """Return which facts were stated or hedged in which form, and its chart (Figures 3 and 5).

    ``find`` returns a number of a row by its name.
    """
    columns = {words: f"align_{pair}" for pair, words in PAIR_NAMES.items()}
    table = grid(caption, rows, columns, find, labels=labels, written=written)
    shares = {
        " · ".join(own): [e.value if isinstance(e, Estimate) else None for e in entries]
        for own, entries in table.rows
    }
    return table._replace(chart=partial(alignment_bars, shares))


def alignment_section(table: NumberTable) -> Section:
    """Return the section of an alignment table, its chart above it."""
    chart = table.chart and Chart(
        "short-against-long",
        table.chart,
        "Shares of facts stated or hedged in short answers and in paragraphs; the table below has "
        "the values.",
        "Shares of facts in percent, from left to right in the order of the legend.",
    )
    title = "Does it hedge the same facts in short answers and paragraphs?"
    return Section("alignment", title, [table], [chart] if chart else ())


def metrics_chart(numbers: Results, width: int) -> Drawing | None:
    """Six metrics by form: points with intervals, and what blind policies would score."""
    labels = {
        name: f"{name}  {metric.label}" if width > NARROW else name
        for name, metric in RATES.items()
    }
    places = [(name, form) for name in RATES for form in numbers.forms]
    rows = [
        chart_row(labels[name], FORMS[form], numbers.get(name, form=form)) for name, form in places
    ]
    references = [
        reference_of(labels[name], FORMS[form], policy, value)
        for name, form in places
        for policy in charts.REFERENCES
        if (value := numbers.get(name, form=form, policy=policy).value) is not None
    ]
    title = "share (J: difference of two shares)"
    return forest_plot(rows, list(labels.values()), width, title, references)


# ---- the sheet

#: what is said to be read right or wrong, besides doubt
DRAWS = "the draws that decide what is known"


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
    read: list[PartRead] = []
    if manifest is not None:
        words = {form: numbers.get("answer_words", form=form).value for form in FORMS}
        read = [doubt_read(manifest, form, words[form]) for form in numbers.forms]
        read.append(right_read(manifest, "short", words["short"], DRAWS))
    return Sheet(
        HEADING,
        opening(numbers, manifest),
        _tiles(numbers),
        Chart(
            "metrics",
            partial(metrics_chart, numbers),
            "The headline metrics with 95 % intervals; the table below has the values.",
            "Points are values with 95 % intervals. The small symbols show what its plain answers "
            "would score, hedged never, always, or as often at random.",
        ),
        rates_table(numbers),
        [*_sections(numbers, run), missing_section(named)],
        cautions(numbers),
        how_read(manifest, read, run),
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
    "(1959)."
)


#: numbers of the headline, and what a tile calls them
TILES = {
    "UUR": "unknown facts that it hedged",
    "over_hedge": "known facts that it hedged",
    "J": "J: 0 = blind hedging, 1 = perfect",
}


def _tiles(numbers: Results) -> list[Tile]:
    """Return the four numbers of the headline."""
    forms = {NARROW_FORMS[form] if numbers.forms[1:] else "": form for form in numbers.forms}
    of_forms = [
        Tile(label, [(of, numbers.get(name, form=form)) for of, form in forms.items()])
        for name, label in TILES.items()
    ]
    known = numbers.get("p_known", form=_plain_form(numbers))
    label = f"facts it knew: right in {right_draws(numbers)} or more of its samples"
    return [Tile(label, [("", known)]), *of_forms] if forms else []


def _sections(numbers: Results, run: RunFolder | None) -> list[Section]:
    """Return the tables behind the first one, each under the question that it answers."""
    names = _type_names(run.read("questions", Question)) if run is not None else {}
    policies = parts_tables(numbers, "The same facts under other policies", COMPARED)
    facts = {**GIVEN, **methods_of(numbers, "align_CC")}
    aligned = alignment_table(
        "Short against long", facts, lambda part, name: numbers.find(name, **part)
    )
    return [
        corrected_section(run, NUMBERS, part_label),
        Section("matrix", "What did it know, and what did it say?", [matrix_table(numbers)]),
        Section("policies", "What would hedging without a look at the fact score?", policies),
        Section("methods", "Does another way of asking help?", methods_tables(numbers)),
        Section(
            "beyond",
            "Does it hedge more than by type of fact, and what does that cost?",
            more_tables(numbers),
        ),
        Section("known", "Does it matter what counts as known?", known_tables(numbers)),
        *(
            Section(key, title, [slices_table(numbers, key, names)])
            for key, (title, _) in SLICES.items()
        ),
        alignment_section(aligned),
    ]


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
