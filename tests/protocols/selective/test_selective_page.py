"""The page and the table of a selective run: complete, escaped, honest about what is missing."""

from __future__ import annotations

import io
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import selective
from sayso.protocols.selective import report as shown
from sayso.protocols.selective.numbers import metric_label, score_label
from sayso.protocols.selective.report import SelectiveResults
from sayso.protocols.selective.rows import FATES
from sayso.records import Estimate, Generation, Request, slice_of
from sayso.report.number_tables import NumberTable, notes_of
from sayso.report.numbers import plain_number
from sayso.report.page import sheet_page
from sayso.report.sheet import main_numbers, render_sheet
from sayso.storage.run_folder import Manifest
from support.scripted_world import Mind, chance, facts, records, write

HOSTILE = "<script>alert(1)</script>"
WORLD = facts(24)


class Speaker(Mind):
    @staticmethod
    def _reply(request: Request, sentences: list[tuple[str, float]]) -> Generation:
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


def printed(
    estimates: list[Estimate], manifest: Manifest | None = None, *, verbose: bool = False
) -> str:
    out = io.StringIO()
    sheet = shown.sheet(estimates, manifest)
    render_sheet(sheet, Console(file=out, width=80), manifest, verbose=verbose)
    return out.getvalue()


def cell(table: NumberTable, row: str, column: str) -> object:
    rows = {labels[-1]: entries for labels, entries in table.rows}
    return rows[row][table.columns.index(column)]


def test_the_page_holds_every_part_and_escapes_answers(finished: Path) -> None:
    page = report.write(finished)
    text = page.read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    for part in ("length_words", "Right answers (judge: rules) that a metric rejects",
                 "needs hidden states", "p_ik", "Same verdict",
                 "sequence probability", "contains reference", "Main scores",
                 "Length audit", "questions asked"):  # fmt: skip
        assert part in text, part
    # scores, and the share not right against coverage in each form
    assert text.count('class="chart wide"') == 3
    assert len(text.encode()) < 1_500_000
    result = sayso.measure(finished)
    sheet = shown.sheet(result.estimates, result.manifest)
    assert len(sheet.tiles) <= 4
    ids = [section.id for section in sheet.parts]
    assert len(ids) == len(set(ids))
    captions = [table.caption for section in sheet.parts for table in section.tables if table.rows]
    assert len(captions) == len(set(captions))


def test_a_run_fits_one_screen_and_has_the_length_row(finished: Path) -> None:
    result = sayso.measure(finished)
    text = printed(result.estimates, result.manifest)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 40
    assert "plain length" in text
    assert "rejects" not in text
    assert "rejects" in printed(result.estimates, result.manifest, verbose=True)


def test_counts_of_answers_sum_to_the_questions_asked(finished: Path) -> None:
    found = SelectiveResults(sayso.measure(finished).estimates)
    for form in ("short", "long"):
        counts = [found.count(form, did) or 0 for did in FATES]
        assert sum(counts) == found.get("facts", form=form).value
        rate = found.of_judge("error_rate", form)
        assert found.count(form, "right") == rate.n - (rate.numerator or 0)
    table = shown.fates_table(found)
    assert table.columns == ("short answers, answerable", "paragraphs, answerable")
    assert (
        cell(table, "questions asked", "short answers, answerable")
        == f"{found.get('facts', form='short').n}"
    )


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
        [Estimate("rank_flips", slice_of(form="long"), 0.0, numerator=0.0)],  # of version 0.2
    ],
)
def test_any_estimates_can_be_printed_and_put_on_a_page(estimates: list[Estimate]) -> None:
    assert printed(estimates)
    assert printed(estimates, verbose=True)
    assert "<main" in sheet_page(shown.sheet(estimates, Manifest()), Manifest())


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


WHERE = {"form": "short", "against": "rules"}


def rated(missed: float | None, of: int = 40) -> list[Estimate]:
    share = None if missed is None else missed / of
    return [
        Estimate("error_rate", slice_of(**WHERE), share, numerator=missed, denominator=of, n=of),
        Estimate("auroc", slice_of(**WHERE, score="perplexity"), None),
    ]


@pytest.mark.parametrize(
    ("missed", "said"), [(4, "too few are not right"), (0, "too few"), (37, "too few are right")]
)
def test_fewer_than_five_of_a_kind_are_not_ranked(missed: int, said: str) -> None:
    assert said in shown.plain_sentence(SelectiveResults(rated(missed)))


def test_other_reasons() -> None:
    assert "no uncertainty score could be" in shown.plain_sentence(SelectiveResults(rated(20)))
    assert "no answer has a verdict" in shown.plain_sentence(SelectiveResults(rated(None)))


def counted(**counts: float) -> list[Estimate]:
    """Return what 40 answers did, none of which is right."""
    did = dict.fromkeys(FATES, 0.0) | counts
    signature = slice_of(abstained="incorrect")
    rate = Estimate("error_rate", slice_of(**WHERE), 1.0, n=40, signature=signature)
    asked = slice_of(**WHERE, asked="answerable")
    return [rate, *(Estimate("answer_count", asked + slice_of(did=d), n) for d, n in did.items())]


@pytest.mark.parametrize(
    ("counts", "said", "never"),
    [
        ({"wrong": 40}, "40 of its 40 short answers are wrong", "not right"),
        ({"declined": 40}, "not right (0 wrong;", "are wrong"),
        ({"wrong": 30, "hedged_wrong": 3, "declined": 7}, "(30 wrong;", "are wrong"),
    ],
)
def test_wrong_is_what_states_something_false(
    counts: dict[str, float], said: str, never: str
) -> None:
    sentence = shown.plain_sentence(SelectiveResults(counted(**counts)))
    assert said in sentence
    assert never not in sentence


def scored(aurocs: dict[str, float], problem: str | None = None) -> list[Estimate]:
    """Return a leaderboard, all from the same 180 pairs of 10 wrong and 18 right answers."""
    return [
        Estimate("error_rate", slice_of(**WHERE), 10 / 28, numerator=10, denominator=28, n=28),
        *(
            Estimate(
                "auroc", slice_of(**WHERE, score=name), value, 0.4, 0.95,
                numerator=180 * value, denominator=180, n=28, problem=problem,
            )
            for name, value in aurocs.items()
        ),
    ]  # fmt: skip


SCORES = {"perplexity": 0.9, "semantic_entropy": 0.8, "num_sets": 0.7, "length_words": 0.6}


@pytest.mark.parametrize("scores", [1, 3])
def test_the_best_of_many_is_called_that(scores: int) -> None:
    names = [*list(SCORES)[:scores], "length_words"]
    text = shown.plain_sentence(SelectiveResults(scored({n: SCORES[n] for n in names})))
    assert ("the best of 3 scores" in text) == (scores == 3)
    assert ("perplexity" in text) == (scores == 1)
    assert "90 %" in text


def test_the_best_of_many_is_measured_where_it_was_not_chosen() -> None:
    chosen = Estimate("auroc_best", slice_of(**WHERE), 0.71, 0.5, 0.86, denominator=180, n=28)
    estimates = [*scored(SCORES), chosen]
    sheet = shown.sheet(estimates)
    assert "71 %" in sheet.opening.sentence
    assert [tile.values[0][1].value for tile in sheet.tiles] == [10 / 28, 0.71, 0.6]
    assert "auroc_best" in {e.name for e in main_numbers(sheet, estimates)}


def test_an_auroc_of_few_pairs_is_no_headline() -> None:
    """Ten wrong answers and nine right ones are 90 pairs."""
    estimates = [msgspec.structs.replace(e, denominator=90) for e in scored(SCORES)]
    estimates[0] = Estimate("error_rate", slice_of(**WHERE), 10 / 19, numerator=10, n=19)
    sheet = shown.sheet(estimates)
    assert "too few to rank scores (only 90 pairs" in sheet.opening.sentence
    assert not any("AUROC" in tile.label for tile in sheet.tiles)
    assert sheet.chart is None
    (scores,) = (section for section in sheet.sections if section.id == "scores")
    assert scores.charts


def test_scores_on_too_few_answers_are_in_no_table_and_in_no_headline() -> None:
    few = "1 right of 39 answers: a ranking needs at least 5 of each kind"
    estimates = scored(SCORES, few)
    estimates[0] = Estimate(
        "error_rate", slice_of(**WHERE), 38 / 39, numerator=38, denominator=39, n=39
    )
    results = SelectiveResults(estimates)
    assert results.ranked("short") == []
    sheet = shown.sheet(estimates)
    assert [e.name for e in main_numbers(sheet, estimates)] == ["error_rate"]
    text = " ".join(printed(estimates).split())
    assert "too few are right" in text
    assert "AUROC" not in text
    assert "perplexity" not in text
    assert sheet.chart is None
    assert not shown.every_score_table(results, "short").rows
    assert shown.not_computed(results).rows[0][1] == (few,)


def test_pairs_stand_beside_an_auroc() -> None:
    board = shown.every_score_table(SelectiveResults(scored(SCORES)), "short")
    found = cell(board, "perplexity", "AUROC")
    assert isinstance(found, Estimate)
    assert found.denominator == 180
    assert "162/180" in sheet_page(shown.sheet(scored(SCORES)))


def test_a_score_that_has_no_pairs_within_type_is_not_ranked_by_its_pooled_auroc() -> None:
    # Pooled .9, which type priors give: it must not beat .7 within type.
    within = Estimate("auroc_within", slice_of(**WHERE, score="num_sets"), 0.7, 0.6, 0.8, n=28)
    results = SelectiveResults([*scored(SCORES), within])
    assert results.ranked("short")[0] == "num_sets"
    assert results.best("short", "perplexity").value is None


def test_bars_of_equal_height_stand_in_the_order_of_the_scores() -> None:
    names = ["perplexity", "num_sets", "lexical_similarity", "p_true", "exact_match_rate"]
    rows = [Estimate("error_rate", slice_of(**WHERE), 0.4, n=40)]
    rows += [Estimate("auroc", slice_of(**WHERE, score=name), 0.7, n=40) for name in names]
    drawing = shown.auroc_bars(SelectiveResults(rows), 680)
    assert drawing is not None
    orders = set(re.findall(r'"domain": (\[[^]]*\])', drawing.to_json(indent=None)))
    assert str([score_label(name) for name in names]).replace("'", '"') in orders


def test_the_first_table_says_that_it_is_a_choice() -> None:
    names = [f"score_{i:02}" for i in range(19)]
    estimates = scored(dict.fromkeys(names, 1.0) | {"num_sets": 0.9, "length_words": 0.5})
    results = SelectiveResults(estimates)
    assert "Score 00" not in shown.plain_sentence(results)
    table = shown.best_scores_table(results)
    assert len(table.rows) == shown.SHOWN + 1
    assert "by chance" in notes_of(table)[0]
    assert len(shown.every_score_table(results, "short").rows) == 21


def test_risk_is_drawn_with_the_words_as_a_point() -> None:
    where = slice_of(**WHERE, score="perplexity")
    rows = [
        Estimate("error_rate", slice_of(**WHERE), 0.4, n=40),
        *(
            Estimate("risk", where + slice_of(coverage=f"{c:g}"), c / 2, denominator=40 * c, n=40)
            for c in (0.1, 0.5, 1.0)
        ),
        Estimate("coverage_of_words", slice_of(**WHERE, score="words"), 0.75, n=40),
        Estimate("risk_of_words", slice_of(**WHERE, score="words"), 0.3, 0.2, 0.4, n=30),
    ]
    drawn = shown.risk(SelectiveResults(rows), "short", 680)
    assert drawn is not None
    found = (
        [row for data in drawn.to_dict()["datasets"].values() for row in data]
        if ("datasets" in drawn.to_dict())
        else drawn.to_dict()["layer"][0]["data"]["values"]
    )
    # of four answers, a share is not drawn
    assert {(row["series"], row["x"], row["y"]) for row in found} == {
        ("perplexity", 0.5, 0.25), ("perplexity", 1.0, 0.5), ("its own words", 0.75, 0.3),
    }  # fmt: skip


@pytest.mark.parametrize(("missing", "known"), [(0, True), (2, True), (3, False)])
def test_a_share_of_mostly_unread_answers_is_not_shown(missing: int, known: bool) -> None:
    words = slice_of(**WHERE, score="words")
    estimates = [
        Estimate("error_rate", slice_of(**WHERE), value=0.4, n=10),
        Estimate("coverage_of_words", words, value=1.0, n=2, missing=missing),
    ]
    (risk,) = (s for s in shown.sheet(estimates).sections if s.id == "risk")
    (found,) = risk.tables[0].rows[0][1]
    assert isinstance(found, Estimate)
    assert (found.value is not None) == known
    tiles = [tile.label for tile in shown.sheet(estimates).tiles]
    assert any("not hedged" in label for label in tiles) == known
