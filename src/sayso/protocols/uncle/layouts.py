"""Tables and figures of UNCLE's paper (arXiv 2505.16922), from the runs of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sayso.harmless import line
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout
from sayso.protocols.uncle.report import alignment_table, methods_of
from sayso.protocols.uncle.settings import Settings
from sayso.records import Estimate, Question, Results, part_of
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.storage.run_folder import Manifest, RunFolder

PAPER = "UNCLE (arXiv 2505.16922)"
#: the paper's columns stand in this order
RATES = ("FA", "UA", "UUR", "KCR", "EA")
#: what Figures 3 and 5 show; the first letter is the short answer's
ALIGNED = (
    "Facts that the short and the long answer both state (C-C), both hedge (U-U), or that only the "
    "short (U-C) or only the long answer (C-U) hedges"
)
#: the plain answers and the instruction, which every run has
PLAIN, INSTRUCTED = "no instruction", "instruction (Unc-Zero)"
#: labels of rows, and whose numbers of which slice they have
Slices = Mapping[tuple[str, ...], tuple[Results, dict[str, str]]]


def _forms(shown: LayoutRuns) -> list[str]:
    """Return the forms that any of the runs asked in, the long one first."""
    return [f for f in ("long", "short") if any(f in own.forms for _, own, _ in shown.each())]


def _grouped(table: NumberTable, forms: Sequence[str], names: tuple[str, ...]) -> list[NumberTable]:
    """Return a table with the columns ``names`` of each form below the name of the form."""
    groups = tuple((f"{form} form", len(names)) for form in forms)
    return [table._replace(groups=groups, short=names * len(forms))]


def _rates(shown: LayoutRuns, caption: str, rows: Slices, *heads: str) -> list[NumberTable]:
    """Return a table of the five rates of each form; more is better in every column."""
    forms = _forms(shown)
    columns = {f"{rate} {form}": (rate, form) for form in forms for rate in RATES}
    table = grid(
        caption,
        rows,
        columns,
        lambda row, of: row[0].get(of[0], form=of[1], **row[1]),
        labels=(*shown.heads, *heads),
        written="percent",
    )
    return _grouped(table._replace(best=(True,) * len(columns)), forms, RATES)


def table2(shown: LayoutRuns) -> list[NumberTable]:
    """Return the matrix of each model: known or unknown by correct, incorrect, uncertain."""
    words, forms = ("correct", "incorrect", "uncertain"), _forms(shown)

    def count(row: tuple[Results, str], of: tuple[str, str]) -> Entry:
        e = row[0].get(f"cell_{row[1]}{of[0]}", form=of[1])
        return e if e.value is None else f"{e.value:,.0f}"

    table = grid(
        "Facts by what the model knows and says.",
        {
            (*labels, known): (results, known[0])
            for labels, results, _ in shown.each()
            for known in ("known", "unknown")
        },
        {f"{word} {form}": (word[0], form) for form in forms for word in words},
        count,
        labels=(*shown.heads, "fact"),
        written="plain",
    )
    return _grouped(table, forms, words)


def table3(shown: LayoutRuns) -> list[NumberTable]:
    """Return models by the five rates, the long form first where it was asked."""
    rows: Slices = {labels: (results, {}) for labels, results, _ in shown.each()}
    return _rates(shown, "Five rates of each model, in percent.", rows)


def _methods(shown: LayoutRuns) -> Slices:
    """Return the ways of asking of each run."""
    return {
        (*labels, name): (results, where)
        for labels, results, _ in shown.each()
        for name, where in {
            PLAIN: {"prompt": "plain"},
            INSTRUCTED: {},
            **methods_of(results, "FA"),
        }.items()
        if name != PLAIN or results.find("FA", form="short", prompt="plain")
    }


def table4(shown: LayoutRuns) -> list[NumberTable]:
    """Return ways of asking, and trained models, by the five rates."""
    caption = "Five rates of each prompting method, in percent."
    return _rates(shown, caption, _methods(shown), "method")


def table5(shown: LayoutRuns) -> list[NumberTable]:
    """Return what each data set holds, by domain: entities, long and short questions."""
    folders = {labels[1:]: folder for labels, _, _, folder in shown.each_with_folder()}
    rows: dict[tuple[str, ...], list[Question]] = {}
    for data, folder in folders.items():
        questions = RunFolder.open(folder).read("questions", Question)
        domains = dict.fromkeys(q.domain for q in questions)
        for domain in domains:
            own = [q for q in questions if q.domain == domain]
            rows[(*data, line(domain, 60) or "no domain")] = own
        if len(domains) > 1:
            rows[(*data, "all")] = questions
    columns: dict[str, Callable[[list[Question]], str]] = {
        "an entity": lambda some: line(min((q.entity for q in some if q.entity), default="-"), 60),
        "entities": lambda some: f"{len({q.entity for q in some if q.entity}):,}",
        "long questions": lambda some: f"{sum(bool(q.parts) for q in some):,}",
        "short questions": lambda some: f"{sum(not q.parts for q in some):,}",
    }
    heads = (*shown.heads[1:], "domain")
    caption = "What was asked, by domain."
    return [grid(caption, rows, columns, lambda some, of: of(some), labels=heads, written="plain")]


def _aligned(shown: LayoutRuns, which: str, rows: Slices, *heads: str) -> list[NumberTable]:
    return [
        alignment_table(
            f"{ALIGNED}, in percent, {which}.",
            rows,
            lambda row, name: row[0].find(name, **row[1]),
            labels=(*shown.heads, *heads),
            written="percent",
        )
    ]


def figure3(shown: LayoutRuns) -> list[NumberTable]:
    """Return how far short and long answers hedge alike, for each way of asking."""
    return _aligned(shown, "for each prompting method", _methods(shown), "method")


def figure5(shown: LayoutRuns) -> list[NumberTable]:
    """Return the alignment of the instructed answers by model, in the order of the study."""
    rows: Slices = {labels: (results, {}) for labels, results, _ in shown.each()}
    return _aligned(shown, "by model in the order of the study", rows)


def domain_rates(shown: LayoutRuns) -> list[NumberTable]:
    """Return the five rates of each domain."""
    rows: Slices = {
        (*labels, domain): (results, {"domain": domain})
        for labels, results, _ in shown.each()
        for domain in dict.fromkeys(part_of(e.where, "domain") for e in results.each("FA"))
        if domain
    }
    return _rates(shown, "The five rates by domain, in percent.", rows, "domain")


#: what a check of a judge says, and what tables call it; shares are of "of" and "stance_of"
CHECKED = {"agreed": "of", "stance_agreed": "stance_of", "injections_changed": "injections"}


def judge(shown: LayoutRuns) -> list[NumberTable]:
    """Return how well each judge did when it was checked (``sayso judge-check``)."""
    found: dict[str, Mapping[str, str | int | float | None]] = {}
    for _, _, manifest in shown.each():
        if manifest.judge_check:
            found.setdefault(manifest.judge_signature, manifest.judge_check)
    columns = {name.replace("_", " "): name for name in (*CHECKED, "kappa")}
    columns |= {f"{what} for 100 answers": f"{what}_per_100" for what in ("tokens", "dollars")}
    caption = "How the judge did on labeled answers and attacks (sayso judge-check)."
    return [grid(caption, found, columns, _checked, labels=("judge",), written="plain")]


def _checked(check: Mapping[str, str | int | float | None], name: str) -> Estimate:
    def number(of: str) -> float | None:
        value = check.get(of)
        return float(value) if isinstance(value, int | float) else None

    value = number(name)
    if name not in CHECKED:
        return Estimate(name, value=value, problem=None if name in check else "unknown")
    whole = number(CHECKED[name])
    share = value / whole if value is not None and whole else None
    ends = (number("low"), number("high")) if name == "agreed" else (None, None)
    return Estimate(name, (), share, *ends, n=int(whole or 0))


#: what a run spent
SPENT: dict[str, Callable[[Manifest], float | None]] = {
    "prompt tokens": lambda run: run.tokens.get("prompt_tokens"),
    "answer tokens": lambda run: run.tokens.get("completion_tokens"),
    "dollars, answers": lambda run: run.dollars,
    "dollars, verdicts": lambda run: run.judge_dollars,
}


def cost_table(shown: LayoutRuns) -> list[NumberTable]:
    """Return tokens and dollars for each 100 aspects, of answers and of verdicts."""

    def per_100(row: tuple[Results, Manifest], of: Callable[[Manifest], float | None]) -> Entry:
        aspects = max((e.n for e in row[0].each("EA")), default=0)
        amount = of(row[1])
        if amount is None or not aspects:
            return Estimate("spent", problem="unknown")
        return Estimate("spent", value=100 * amount / aspects, n=aspects)

    rows = {labels: (results, manifest) for labels, results, manifest in shown.each()}
    forms = "in both forms" if len(_forms(shown)) > 1 else "in short answers"
    caption = f"Cost of 100 aspects, asked {forms} and probed; dollars where prices are known."
    return [grid(caption, rows, SPENT, per_100, labels=shown.heads, written="plain")]


def _with_paragraphs(settings: Settings, questions: Sequence[Question]) -> bool:
    return any(q.parts for q in questions)


LAYOUTS = (
    PaperLayout(
        "uncle-table3", "Five rates of each model, in both forms", f"{PAPER}, Table 3",
        "runs of uncle", table3,
    ),
    PaperLayout(
        "uncle-table4", "Five rates of each prompting method and trained model",
        f"{PAPER}, Table 4", "runs of uncle (--methods for more prompting methods)", table4,
    ),
    PaperLayout(
        "uncle-table2", "The matrix: known or unknown by correct, incorrect, uncertain",
        f"{PAPER}, Table 2", "runs of uncle", table2,
    ),
    PaperLayout(
        "uncle-table5", "The benchmark: entities and questions by domain", f"{PAPER}, Table 5",
        "runs of uncle", table5,
    ),
    PaperLayout(
        "uncle-figure3", "Short and long answers compared, by prompting method",
        f"{PAPER}, Figure 3", "runs of uncle with paragraphs", figure3,
        possible=_with_paragraphs,
    ),
    PaperLayout(
        "uncle-figure5", "Short and long answers compared, by model", f"{PAPER}, Figure 5",
        "runs of uncle with paragraphs", figure5,
        possible=_with_paragraphs,
    ),
    PaperLayout(
        "uncle-domains", "Five rates of each domain", f"{OURS}, after {PAPER}",
        "data with domains", domain_rates,
        possible=lambda settings, questions: any(q.domain for q in questions),
    ),
    PaperLayout(
        "uncle-judge", "Accuracy of the judge", f"{OURS}, in place of the annotators of {PAPER}",
        "a judge that sayso judge-check checked before the runs", judge,
    ),
    PaperLayout(
        "uncle-cost", "Tokens and dollars for 100 aspects", f"{OURS}, after {PAPER}",
        "runs of uncle", cost_table,
    ),
)  # fmt: skip


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return LAYOUTS
