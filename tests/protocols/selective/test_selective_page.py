"""The page and the table of a selective run: complete, escaped, honest about what is missing."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import selective
from sayso.protocols.selective import report as selective_charts
from sayso.protocols.selective.report import (
    SelectiveResults,
    headline,
    metric_label,
    render,
    score_label,
)
from sayso.records import Estimate, Generation, Request, slice_of
from sayso.report.numbers import plain_number
from sayso.storage.run_folder import Manifest
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

HOSTILE = "<script>alert(1)</script>"
WORLD = facts(24)


class Speaker(Mind):
    @staticmethod
    def _reply(request: Request, sentences: list[tuple[str, float]]) -> Generation:
        import msgspec

        said = [(f"{text} {HOSTILE}", logprob) for text, logprob in sentences]
        return msgspec.structs.replace(Mind._reply(request, said), logprob_kind="model")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("selective")
    mind = Speaker(WORLD, lambda f: float(chance("knows", f.question) < 0.6))
    data = write(folder / "w.jsonl", records(WORLD))
    chosen = selective.Settings(draws=selective.SelectiveDraws(k=5), resamples=100)
    sayso.run("selective", model=mind.engine(), data=str(data), out=folder / "r", options=chosen,
              cache=folder / "c", report=False)  # fmt: skip
    return folder / "r"


def table(estimates: list[Estimate], manifest: Manifest | None = None) -> str:
    out = io.StringIO()
    render(estimates, Console(file=out, width=80), manifest)
    return out.getvalue()


def test_the_page_holds_every_part_and_escapes_answers(finished: Path) -> None:
    page = report.write(finished)
    text = page.read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    for part in ("Risk against coverage", "Rankings depend on the answer metric", "length_words",
                 "Right answers (judge: rules) that a metric rejects", "could not be computed",
                 "p_ik", "needs hidden states", "Signatures",
                 "the share of pairs of a wrong and a right answer"):  # fmt: skip
        assert part in text, part
    for words in ("Do the answer metrics agree?", "most others", "AUROC within type, short answers",
                  "sequence probability", "contains reference",
                  "no judged draw got right"):  # fmt: skip
        assert words in text, words
    # scores; scores against errors and unknown facts, and risk against coverage, of each form
    assert text.count('class="chart wide"') >= 5
    assert "auroc_within, " not in text
    assert len(text.encode()) < 1_500_000


def test_the_table_fits_a_terminal_and_has_the_length_row(finished: Path) -> None:
    result = sayso.measure(finished)
    text = table(result.estimates, result.manifest)
    assert max(map(len, text.splitlines())) <= 80 or "signature" in text
    for form in ("short answers", "paragraphs"):
        part = text.partition(f"wrong answer, {form}")[2]
        assert "length_words" in part
    assert "requests to the model" in text
    assert "Plain length, within type" in text


@pytest.mark.parametrize(
    "estimates",
    [
        [],
        [Estimate("facts", slice_of(form="short"), 0.0)],
        [
            Estimate(
                "error_rate", slice_of(form="short", against="rules"), None, problem="no answer"
            )
        ],
        [
            Estimate(
                "auroc", slice_of(form="short", against="rules", score="length_words"), 0.5, n=3
            )
        ],
        [Estimate("rank_flips", slice_of(form="long"), 0.0, numerator=0.0)],
    ],
)
def test_any_estimates_can_be_printed_and_put_on_a_page(estimates: list[Estimate]) -> None:
    from sayso.protocols.selective.report import context

    assert table(estimates)
    assert context(Manifest(), estimates)["forms"] is not None


def drawn_rows(chart: Any) -> list[dict[str, Any]]:
    """Return the rows of a chart that belong to a series, each once."""
    spec = chart.to_dict()
    held = [spec, *spec["layer"]]
    data = [part["data"] for part in held if "data" in part]
    found: list[dict[str, Any]] = []
    for one in data:
        rows = one["values"] if "values" in one else spec["datasets"][one["name"]]
        found += [row for row in rows if "series" in row and row not in found]
    return found


def test_lines_have_axes_with_units() -> None:
    """By hand: fifths of right answers of which two hold some."""
    where = slice_of(form="short", against="rouge_l")
    first, last = slice_of(fifth="1", length="1-2"), slice_of(fifth="5", length="7-9")
    rows = [
        Estimate("false_negatives_fifth", where + first, 0.1, 0.0, 0.3, n=10),
        Estimate("false_negatives_fifth", where + last, 0.4, 0.2, 0.6, n=12),
    ]
    drawn = selective_charts.refusals_figure(SelectiveResults(rows), "short", 680)
    assert drawn is not None
    line, rule, _ = drawn.to_dict()["layer"]
    assert [r["y"] for r in drawn_rows(drawn)] == [0.1, 0.4]
    assert rule["mark"]["type"] == "rule"
    assert "number of words" in line["encoding"]["x"]["title"]
    alone = SelectiveResults(rows[:1])
    assert selective_charts.refusals_figure(alone, "short", 680) is None


def test_wrong_and_unknown_stand_on_one_plot_with_the_words() -> None:
    def auroc(by: str, score: str, value: float) -> Estimate:
        return Estimate("auroc_within", slice_of(form="long", against=by, score=score), value, n=9)

    pooled = [
        Estimate("auroc", slice_of(form="long", against="rules", score=s), 0.6, n=9)
        for s in ("luq", "words")
    ]
    judged = Estimate("error_rate", slice_of(form="long", against="rules"), 0.5, n=9)
    rows = [
        judged, *pooled, auroc("rules", "luq", 0.8), auroc("unknown", "luq", 0.7),
        auroc("rules", "words", 0.55), auroc("unknown", "words", 0.52),
    ]  # fmt: skip
    drawn = selective_charts.targets(SelectiveResults(rows), "long", 680)
    assert drawn is not None
    assert {(p["row"], p["series"], p["value"]) for p in drawn_rows(drawn)} == {
        ("LUQ", "a wrong answer", 0.8), ("LUQ", "an unknown fact", 0.7),
        ("its own words", "a wrong answer", 0.55), ("its own words", "an unknown fact", 0.52),
    }  # fmt: skip
    assert selective_charts.targets(SelectiveResults([judged, *pooled]), "long", 680) is None


def test_scores_and_metrics_have_names_in_words() -> None:
    assert score_label("semantic_entropy_mc_sum") == "semantic entropy, Monte Carlo, sum"
    assert score_label("p_ik") == "P(IK)"
    assert score_label("eigv_similarity") == "graph eigenvalues, similarity"
    assert metric_label("rouge_l", "rules") == "ROUGE-L"
    assert metric_label("rules", "rules") == "rules (judge)"
    # a name from outside comes without what could move a cursor
    assert "\x1b" not in score_label("\x1b[2J") + metric_label("\x1b[2J")


def test_a_judge_with_a_colon_in_its_name_is_an_answer_metric() -> None:
    found = SelectiveResults(
        [Estimate("auroc", slice_of(form="short", against="openai:gpt", score="x"), 0.7)]
    )
    assert found.get("auroc", form="short", against="openai:gpt", score="x").value == 0.7


def test_numbers_are_written_without_a_leading_zero() -> None:
    written = [plain_number(v) for v in (0.5, 1.0, -0.034, -0.001, 0.0, None, float("nan"))]
    assert written == [".50", "1.00", "−.03", ".00", ".00", "–", "–"]


WHERE = {"form": "short", "against": "rules"}


def _rate(wrong: float | None, of: int = 40) -> SelectiveResults:
    share = None if wrong is None else wrong / of
    return SelectiveResults(
        [
            Estimate("error_rate", slice_of(**WHERE), share, numerator=wrong, denominator=of, n=of),
            Estimate("auroc", slice_of(**WHERE, score="perplexity"), None),
        ]
    )


@tabled
def test_fewer_than_five_of_a_kind_are_not_ranked(wrong: float, said: str) -> None:
    text = headline(_rate(wrong), "short")
    least = "Ranking scores requires at least 5 of each."
    assert text == f"Short answers: {said} (judge: rules). {least}"


def test_other_reasons() -> None:
    assert "No score could be ranked" in headline(_rate(20), "short")
    assert "no answer has a verdict" in headline(_rate(None), "short")


def _scores(aurocs: dict[str, float], problem: str | None = None) -> list[Estimate]:
    """Return a leaderboard, all from the same 180 pairs of 10 wrong and 18 right answers."""
    return [
        Estimate("error_rate", slice_of(**WHERE), 0.4, numerator=10, denominator=28, n=28),
        *(
            Estimate(
                "auroc", slice_of(**WHERE, score=name), value, 0.4, 0.95,
                numerator=180 * value, denominator=180, n=28, problem=problem,
            )
            for name, value in aurocs.items()
        ),
    ]  # fmt: skip


SCORES = {"perplexity": 0.9, "semantic_entropy": 0.8, "num_sets": 0.7, "length_words": 0.6}


@pytest.mark.parametrize(("scores", "said"), [(1, False), (3, True)])
def test_the_best_of_many_is_called_that(scores: int, said: bool) -> None:
    names = [*list(SCORES)[:scores], "length_words"]
    found = _scores({name: SCORES[name] for name in names})
    text = headline(SelectiveResults(found), "short")
    assert "Perplexity" in text
    assert ("the best of 3 scores on these answers" in text) == said
    assert "an AUROC of .90 [.40, .95] (180 pairs; chance: .50)" in text


def test_the_best_of_many_is_measured_where_it_was_not_chosen() -> None:
    chosen = Estimate("auroc_best", slice_of(**WHERE), 0.71, 0.5, 0.86, denominator=180, n=28)
    results = SelectiveResults([*_scores(SCORES), chosen])
    text = headline(results, "short")
    assert (
        "If the best score is chosen on one part of the answers and measured on the rest, it has "
        ".71 [.50, .86]." in text
    )
    shown = selective_charts.main_numbers([*_scores(SCORES), chosen])
    assert [e.name for e in shown[:3]] == ["error_rate", "auroc_best", "auroc"]
    assert "the best score is chosen" not in headline(SelectiveResults(_scores(SCORES)), "short")


def test_scores_on_too_few_answers_are_in_no_table_and_in_no_headline() -> None:
    few = "1 right of 39 answers: a ranking needs at least 5 of each kind"
    estimates = _scores(SCORES, few)
    estimates[0] = Estimate(
        "error_rate", slice_of(**WHERE), 38 / 39, numerator=38, denominator=39, n=39
    )
    results = SelectiveResults(estimates)
    assert results.ranked("short") == []
    assert [e.name for e in selective_charts.main_numbers(estimates)] == ["error_rate"]
    text = " ".join(table(estimates).split())
    assert "of 39 judged answers 38 are wrong and 1 is right (judge: rules). Ranking" in text
    assert "AUROC" not in text.replace("AUROC of plain", "")
    assert text.count("perplexity") <= 1  # in one line with the others, and with the reason
    page = selective_charts.context(Manifest(), estimates)
    assert page["bars"] is None
    assert not page["forms"][0]["board"].rows


def test_pairs_stand_beside_an_auroc() -> None:
    text = table(_scores(SCORES))
    head = next(line for line in text.splitlines() if line.startswith("score "))
    row = next(line for line in text.splitlines() if line.startswith("perplexity"))
    assert head.split()[:3] == ["score", "AUROC", "pairs"]
    assert row.split()[:5] == ["perplexity", ".90", "[.40,", ".95]", "180"]
    board = selective_charts.run_board_table(SelectiveResults(_scores(SCORES)), "short")
    assert "[.40,\N{NO-BREAK SPACE}.95] 180\N{NO-BREAK SPACE}pairs" in [
        c.detail for c in board.rows[0]
    ]


def test_a_score_that_has_no_pairs_within_type_is_not_ranked_by_its_pooled_auroc() -> None:
    # Pooled .9, which type priors give: it must not beat .7 within type.
    within = Estimate("auroc_within", slice_of(**WHERE, score="num_sets"), 0.7, 0.6, 0.8, n=28)
    results = SelectiveResults([*_scores(SCORES), within])
    assert results.ranked("short")[0] == "num_sets"
    assert results.best("short", "perplexity").value is None


def test_bars_of_equal_height_stand_in_the_order_of_the_scores() -> None:
    names = ["perplexity", "num_sets", "lexical_similarity", "p_true", "exact_match_rate"]
    where = {"form": "short", "against": "rules"}
    rows = [Estimate("error_rate", slice_of(**where), 0.4, n=40)]
    rows += [Estimate("auroc", slice_of(**where, score=name), 0.7, n=40) for name in names]
    drawing = selective_charts.auroc_bars(SelectiveResults(rows), 680)
    assert drawing is not None
    orders = set(re.findall(r'"domain": (\[[^]]*\])', drawing.to_json(indent=None)))
    assert str([score_label(name) for name in names]).replace("'", '"') in orders


def test_what_is_measured_again_is_what_the_run_gave(tmp_path: Path) -> None:
    mind = Speaker(WORLD, lambda f: float(chance("knows", f.question) < 0.6))
    data = write(tmp_path / "w.jsonl", records(WORLD))
    chosen = selective.Settings(draws=selective.SelectiveDraws(k=2), known_k=2, resamples=100)
    result = sayso.run(
        "selective",
        model=mind.engine(),
        data=str(data),
        out=tmp_path / "r",
        options=chosen,
        report=False,
    )
    best = [e for e in result.estimates if e.name == "auroc_best"]
    assert [dict(e.where)["form"] for e in best] == ["short", "long"]
    assert all(e.value is not None and e.denominator for e in best)
    assert sayso.measure(tmp_path / "r").estimates == result.estimates


def test_of_scores_that_tie_none_is_crowned() -> None:
    names = [f"score_{i:02}" for i in range(19)]
    estimates = _scores(dict.fromkeys(names, 1.0) | {"num_sets": 0.9, "length_words": 0.5})
    results = SelectiveResults(estimates)
    assert (
        "19 of 20 scores tie as the best on these answers, with an AUROC of 1.00 [.40, .95] (180 "
        "pairs; chance: .50)"
    ) in headline(results, "short")
    assert "Score 00" not in headline(results, "short")
    told = "19 scores tie at 1.00; the 12 listed here are an arbitrary choice."
    assert told in " ".join(table(estimates).split())
    board = selective_charts.run_board_table(results, "short", 12)
    assert board.caption.startswith("The first 12 of 21 scores, and length,")
    assert board.notes == [told, "21 rows in total: 20 scores, plain length."]
    whole = selective_charts.run_board_table(results, "short")
    assert whole.notes == ["21 rows in total: 20 scores, plain length."]
    # a cut between unequal ones says nothing
    assert list(selective_charts.cut_in_ties(results, "short", 19)) == []


def test_what_a_board_holds_is_reconciled_with_the_first_sentence() -> None:
    within = [
        Estimate("auroc_within", slice_of(**WHERE, score=name), 0.7, 0.6, 0.8, n=28)
        for name in ("num_sets", "length_words", "perplexity")
    ]
    results = SelectiveResults([*_scores(SCORES), *within])
    board = selective_charts.run_board_table(results, "short")
    assert "the best of" not in headline(results, "short")
    assert board.notes == [
        "4 rows in total: 2 scores, plain length, semantic entropy (no pairs within type of fact)."
    ]


def test_parts_by_length_are_called_what_they_are() -> None:
    where = slice_of(form="short", against="rouge_l")
    parts = (("1", "1-1", 11, 0.1), ("3", "2-2", 13, 0.2), ("5", "3-5", 3, 0.4))
    found = [
        Estimate("false_negatives_fifth", where + slice_of(fifth=f, length=reach), v, n=n)
        for f, reach, n, v in parts
    ]
    drawn = selective_charts.refusals_figure(SelectiveResults(found), "short", 680)
    assert drawn is not None
    assert [r["x"] for r in drawn_rows(drawn)] == ["1 (11)", "2 (13)", "3 to 5 (3)"]
    title = drawn.to_dict()["layer"][0]["encoding"]["x"]["title"]
    assert title == "right answers by number of words (count)"
