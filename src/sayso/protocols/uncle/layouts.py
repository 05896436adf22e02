"""Tables and figures of UNCLE's paper (arXiv 2505.16922), from the runs of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sayso.harmless import line
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout
from sayso.protocols.uncle.report import part_label
from sayso.protocols.uncle.settings import FORMS, Settings
from sayso.records import Estimate, Question, Results
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable
from sayso.storage.run_folder import Manifest, RunFolder

PAPER = "UNCLE (arXiv 2505.16922)"
#: the paper's columns stand in this order
RATES = ("FA", "UA", "UUR", "KCR", "EA")
#: and these are its column groups
LONG_FIRST = tuple(reversed(FORMS))
PAIRS = charts.PAIR_NAMES
#: what Figures 3 and 5 show; the first letter is the short answer's
ALIGNED = (
    "Facts that the short and the long answer both state (C-C), both hedge (U-U), or that only the "
    "short (U-C) or only the long answer (C-U) hedges"
)
#: the plain answers and the instruction, which every run has
PLAIN, INSTRUCTED = "no instruction", "instruction (Unc-Zero)"


def _forms(shown: LayoutRuns) -> list[str]:
    """Return the forms that any of the runs asked in."""
    asked = {form for _, results, _ in shown.each() for form in results.forms}
    return [form for form in LONG_FIRST if form in asked]


def _table(
    shown: LayoutRuns,
    heads: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], tuple[Entry, ...]]],
    caption: str,
) -> NumberTable:
    """Return a table of the five rates of each form; more is better in every column."""
    forms = _forms(shown)
    columns = tuple(f"{rate} {form}" for form in forms for rate in RATES)
    groups = tuple((f"{form} form", len(RATES)) for form in forms)
    table = NumberTable("", caption, heads, columns, rows, written="percent")
    return table._replace(groups=groups, short=RATES * len(forms), best=(True,) * len(columns))


def _rates(shown: LayoutRuns, results: Results, **where: str) -> tuple[Entry, ...]:
    return tuple(results.get(rate, form=form, **where) for form in _forms(shown) for rate in RATES)


def _count(e: Estimate) -> Entry:
    return e if e.value is None else f"{e.value:,.0f}"


def table2(shown: LayoutRuns) -> list[NumberTable]:
    """Return the matrix of each model: known or unknown by correct, incorrect, uncertain."""
    forms = _forms(shown)
    rows = [
        (
            (*labels, known),
            tuple(
                _count(results.get(f"cell_{row}{column}", form=form))
                for form in forms
                for column in "ciu"
            ),
        )
        for labels, results, _ in shown.each()
        for row, known in (("k", "known"), ("u", "unknown"))
    ]
    words = ("correct", "incorrect", "uncertain")
    columns = tuple(f"{word} {form}" for form in forms for word in words)
    table = NumberTable("", "Facts by what the model knows and says.", (*shown.heads, "fact"),
                        columns, rows)  # fmt: skip
    groups = tuple((f"{form} form", len(words)) for form in forms)
    return [table._replace(groups=groups, short=words * len(forms))]


def table5(shown: LayoutRuns) -> list[NumberTable]:
    """Return what each data set holds, by domain: entities, long and short questions."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    seen: set[tuple[str, ...]] = set()
    for labels, _, _, folder in shown.each_with_folder():
        data = labels[1:]
        if data in seen:
            continue
        seen.add(data)
        questions = RunFolder.open(folder).read("questions", Question)
        domains = dict.fromkeys(q.domain for q in questions)
        for domain in (*domains, None) if len(domains) > 1 else domains:
            some = [q for q in questions if domain in (None, q.domain)]
            long = [q for q in some if q.parts]
            entities = {q.entity for q in some if q.entity}
            example = next(iter(sorted(entities)), "-")
            counts = len(entities), len(long), len(some) - len(long)
            name = "all" if domain is None else domain or "no domain"
            rows.append(((*data, line(name, 60)), (line(example, 60), *map("{:,}".format, counts))))
    columns = "an entity", "entities", "long questions", "short questions"
    heads = (*shown.heads[1:], "domain")
    return [NumberTable("", "What was asked, by domain.", heads, columns, rows)]


def table3(shown: LayoutRuns) -> list[NumberTable]:
    """Return models by the five rates, the long form first where it was asked."""
    rows = [(labels, _rates(shown, results)) for labels, results, _ in shown.each()]
    caption = "Five rates of each model, in percent."
    return [_table(shown, shown.heads, rows, caption)]


def _methods(results: Results) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what a run's ways of asking are called, and the slice of their rates."""
    if results.find("FA", form="short", prompt="plain") is not None:
        yield PLAIN, {"prompt": "plain"}
    yield INSTRUCTED, {}
    for name in dict.fromkeys(
        value for e in results.each("FA") for key, value in e.where if key == "method"
    ):
        yield part_label("method", name), {"method": name}


def table4(shown: LayoutRuns) -> list[NumberTable]:
    """Return ways of asking, and trained models, by the five rates."""
    rows = [
        ((*labels, name), _rates(shown, results, **where))
        for labels, results, _ in shown.each()
        for name, where in _methods(results)
    ]
    caption = "Five rates of each prompting method, in percent."
    return [_table(shown, (*shown.heads, "method"), rows, caption)]


def _alignment(results: Results) -> Iterator[tuple[str, list[Estimate]]]:
    """Yield the four shares of each way of asking."""
    for name, where in _methods(results):
        if "prompt" in where:
            continue
        found = [results.find(f"align_{pair}", **where) for pair in PAIRS]
        if all(e is not None for e in found):
            yield name, [e for e in found if e is not None]


def _align_table(
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]], heads: tuple[str, ...], caption: str
) -> list[NumberTable]:
    shares = {
        " · ".join(labels): [e.value if isinstance(e, Estimate) else None for e in entries]
        for labels, entries in rows
    }

    def drawn(width: int) -> charts.Drawing | None:
        return charts.alignment_bars(shares, width)

    table = NumberTable(
        "", caption, heads, tuple(PAIRS.values()), rows, written="percent", chart=drawn
    )
    return [table]


def figure3(shown: LayoutRuns) -> list[NumberTable]:
    """Return how far short and long answers hedge alike, for each way of asking."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = [
        ((*labels, name), tuple(shares))
        for labels, results, _ in shown.each()
        for name, shares in _alignment(results)
    ]
    caption = f"{ALIGNED}, in percent, for each prompting method."
    return _align_table(rows, (*shown.heads, "method"), caption)


def figure5(shown: LayoutRuns) -> list[NumberTable]:
    """Return the alignment of the instructed answers by model, in the order of the study."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    for labels, results, _ in shown.each():
        rows += [(labels, tuple(s)) for name, s in _alignment(results) if name == INSTRUCTED]
    caption = f"{ALIGNED}, in percent, by model in the order of the study."
    return _align_table(rows, shown.heads, caption)


def domain_rates(shown: LayoutRuns) -> list[NumberTable]:
    """Return the five rates of each domain."""
    rows = []
    for labels, results, _ in shown.each():
        names = dict.fromkeys(v for e in results.each("FA") for k, v in e.where if k == "domain")
        rows += [((*labels, name), _rates(shown, results, domain=name)) for name in names]
    caption = "The five rates by domain, in percent."
    return [_table(shown, (*shown.heads, "domain"), rows, caption)]


#: what a check of a judge says, and what tables call it; shares are of "of" and "stance_of"
CHECKED = {"agreed": "of", "stance_agreed": "stance_of", "injections_changed": "injections"}


def judge(shown: LayoutRuns) -> list[NumberTable]:
    """Return how well each judge did when it was checked (``sayso judge-check``)."""
    found: dict[str, Mapping[str, str | int | float | None]] = {}
    for _, _, manifest in shown.each():
        if manifest.judge_check:
            found.setdefault(manifest.judge_signature, manifest.judge_check)
    columns = (*(name.replace("_", " ") for name in CHECKED), "kappa", "tokens for 100 answers",
               "dollars for 100 answers")  # fmt: skip
    rows = [((who,), tuple(_checked(check))) for who, check in found.items()]
    caption = "How the judge did on labelled answers and attacks (sayso judge-check)."
    return [NumberTable("", caption, ("judge",), columns, rows)]


def _checked(check: Mapping[str, str | int | float | None]) -> Iterator[Entry]:
    def number(name: str) -> float | None:
        value = check.get(name)
        return float(value) if isinstance(value, int | float) else None

    for name, of in CHECKED.items():
        top, bottom = number(name), number(of)
        share = top / bottom if top is not None and bottom else None
        ends = (number("low"), number("high")) if name == "agreed" else (None, None)
        yield Estimate(name, (), share, *ends, n=int(bottom or 0))
    for name in ("kappa", "tokens_per_100", "dollars_per_100"):
        yield Estimate(name, value=number(name), problem=None if name in check else "unknown")


def cost_table(shown: LayoutRuns) -> list[NumberTable]:
    """Return tokens and dollars for each 100 aspects, of answers and of verdicts."""
    rows = [
        (labels, tuple(_per_100(results, manifest).values()))
        for labels, results, manifest in shown.each()
    ]
    columns = ("prompt tokens", "answer tokens", "dollars, answers", "dollars, verdicts")
    forms = "in both forms" if len(_forms(shown)) > 1 else "in short answers"
    caption = f"Cost of 100 aspects, asked {forms} and probed; dollars where prices are known."
    return [NumberTable("", caption, shown.heads, columns, rows)]


def _per_100(results: Results, manifest: Manifest) -> dict[str, Entry]:
    """Return costs divided by the aspects of the run and multiplied by 100."""
    aspects = max((e.n for e in results.each("EA")), default=0)
    tokens = manifest.tokens

    def per(name: str, amount: float | None) -> Entry:
        if amount is None or not aspects:
            return Estimate(name, problem="unknown")
        return Estimate(name, value=100 * amount / aspects, n=aspects)

    return {
        "prompt": per("prompt tokens", tokens.get("prompt_tokens")),
        "answers": per("answer tokens", tokens.get("completion_tokens")),
        "model": per("dollars", manifest.dollars),
        "judge": per("dollars", manifest.judge_dollars),
    }


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
