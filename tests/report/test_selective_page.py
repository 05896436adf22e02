"""The page and the table of a selective run: complete, escaped, honest about what is missing."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import sayso
from sayso.protocols import selective
from sayso.records import Estimate, Generation, Request
from sayso.report.selective import render
from sayso.report.selective_numbers import Selected, parse, plain
from sayso.store import Manifest
from scripted_world import Mind, chance, facts, records, write

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
    chosen = selective.Settings(draws=selective.Draws(k=5), resamples=100)
    sayso.run("selective", model=mind.engine(), data=str(data), out=folder / "r", options=chosen,
              cache=folder / "c")  # fmt: skip
    return folder / "r"


def table(estimates: list[Estimate], manifest: Manifest | None = None) -> str:
    out = io.StringIO()
    render(estimates, Console(file=out, width=80), manifest)
    return out.getvalue()


def test_the_page_holds_every_part_and_escapes_answers(finished: Path) -> None:
    page = sayso.report.write(finished)
    text = page.read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    for part in ("Risk against coverage", "The answer metric decides too", "length_words",
                 "Right answers, by rules, that a metric refuses", "could not be computed",
                 "p_ik", "needs hidden states", "Signatures"):  # fmt: skip
        assert part in text, part
    # scores, and risk against coverage of each form; all answers are of one length
    assert text.count('class="chart wide"') >= 3
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
        [Estimate("facts", "form:short", 0.0)],
        [Estimate("error_rate", "form:short;against:rules", None, problem="no answer")],
        [Estimate("auroc", "form:short;against:rules;score:length_words", 0.5, n=3)],
        [Estimate("rank_flips", "form:long", 0.0, numerator=0.0)],
    ],
)
def test_any_estimates_can_be_printed_and_put_on_a_page(estimates: list[Estimate]) -> None:
    from sayso.report.selective_page import context

    assert table(estimates)
    assert context(Manifest(), estimates)["forms"] is not None


def test_places_with_colons_and_semicolons_in_a_type_are_read() -> None:
    assert parse("form:short;against:rules;type:a;b:c") == {
        "form": "short", "against": "rules", "type": "a;b:c",
    }  # fmt: skip
    found = Selected([Estimate("auroc", "form:short;against:openai:gpt;score:x", 0.7)])
    assert found.get("auroc", "short", "openai:gpt", "x").value == 0.7


def test_numbers_are_written_without_a_leading_zero() -> None:
    written = [plain(v) for v in (0.5, 1.0, -0.034, -0.001, 0.0, None, float("nan"))]
    assert written == [".50", "1.00", "−.03", ".00", ".00", "–", "–"]
