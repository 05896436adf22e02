"""Log-probabilities of an endpoint: scored as the model's own where the run's answers show it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

import sayso
from sayso.guard.choices import GuardChoices, Selection
from sayso.guard.fit import fit_guard
from sayso.protocols.endpoint_values import (
    LEAST_TELLING,
    EndpointValues,
    endpoint_values,
    named_own,
)
from sayso.protocols.protocol import unlike
from sayso.protocols.selective.settings import Settings
from sayso.records import Generation, Score, ask
from sayso.score_files.score import score_file
from sayso.scores.collect import NO_TOKENS
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint

OF_ANSWER, OF_DRAWS = "perplexity", "semantic_entropy"


def said(text: str, values: tuple[float, ...], temperature: float, sample: int = 0) -> Generation:
    starts = [0]
    for word in text.split(" ")[:-1]:
        starts.append(starts[-1] + len(word) + 1)
    return Generation(
        ask("Who?", temperature=temperature, sample=sample), question="q", text=text,
        offsets=tuple(starts), logprobs=values, logprob_kind="endpoint",
    )  # fmt: skip


def test_tokens_behind_the_same_beginning_are_compared() -> None:
    answer = said("Ada of Rome", (-0.5, -2.0, -1.0), 0)
    # the third token is another one, and the fourth stands behind it
    draws = [said("Ada of Paris", (-0.52, -2.0, -9.0), 1, n) for n in range(LEAST_TELLING)]
    values = endpoint_values([answer], {"q": draws})
    assert values.kind == "raw"
    assert f"{2 * LEAST_TELLING} tokens" in values.told
    assert [g.logprob_kind for g in named_own([answer, *draws], values)] == ["model"] * 6


@pytest.mark.parametrize(
    ("at_answer", "kind", "named"),
    [
        ((0.0, 0.0, 0.0), "unknown", "endpoint"),  # at temperature 0 nothing is left of them
        ((-0.1, -0.4, 0.0), "processed", "model"),
    ],
)
def test_a_temperature_inside_them_is_seen(
    at_answer: tuple[float, ...], kind: str, named: str
) -> None:
    answer = said("Ada of Rome", at_answer, 0)
    draws = [said("Ada of Rome", (-0.5, -2.0, -0.01), 1, n) for n in range(LEAST_TELLING)]
    values = endpoint_values([answer], {"q": draws})
    assert values.kind == kind
    # the middle of the distances of two tokens that tell
    assert f"differ by {1.25 - (kind == 'processed') * 0.25:.2f} nats" in values.told
    # draws at temperature 1 are the model's own all the same
    assert [g.logprob_kind for g in named_own([answer, draws[0]], values)] == [named, "model"]


@pytest.mark.parametrize("likely", [-0.01, -0.2])
def test_tokens_that_are_certain_show_nothing(likely: float) -> None:
    answer, draws = said("Ada", (0.0,), 0), [said("Ada", (likely,), 1, n) for n in range(50)]
    values = endpoint_values([answer], {"q": draws})
    assert values.kind == "unknown"
    assert "too few tokens" in values.told
    warm = [msgspec.structs.replace(d, request=ask("Who?", temperature=0.7)) for d in draws]
    assert endpoint_values([answer], {"q": warm}) == values


def test_without_an_endpoint_nothing_is_told() -> None:
    mine = msgspec.structs.replace(said("Ada", (-1.0,), 0), logprob_kind="model")
    assert endpoint_values([mine], {"q": [mine]}) == EndpointValues("", "")


#: the likeliest tokens at each place of an endpoint's answers
OTHERS = [("A", -1.0), (" A", -2.0), ("B", -3.0), ("C", -3.5), ("D", -4.0), ("E", -5.0)]


@pytest.mark.parametrize(
    ("logprob", "scored", "told"),
    [
        (lambda body: -0.5, {OF_ANSWER, OF_DRAWS}, "scored as the model's own"),
        (lambda body: -0.5 * body["temperature"], {OF_DRAWS}, "all 0"),
        (lambda body: -0.5 * (0.2 + body["temperature"]), {OF_ANSWER, OF_DRAWS}, "none but those"),
        (None, set(), ""),
    ],
)
def test_a_run_behind_an_endpoint(
    tmp_path: Path, logprob: Callable[[dict[str, Any]], float] | None, scored: set[str], told: str
) -> None:
    rows = [{"question": f"Who is {n}?", "gold": f"A{n % 2}"} for n in range(12)]
    with endpoint(lambda body: "A1", logprob, OTHERS) as url:
        result = sayso.run(
            "selective", model=f"{url}#m", data=rows, report=False, out=tmp_path / "run",
            cache=tmp_path / "cache", settings={"nli": "rules"},
        )  # fmt: skip
    scores = RunFolder.open(tmp_path / "run").read("scores/short", Score)
    having = {one.method for one in scores if one.value is not None}
    assert having & {OF_ANSWER, OF_DRAWS} == scored
    assert "p_true" not in having  # a question more, which nobody asked for
    said_of = " ".join(result.manifest.notices)
    assert (told in said_of) if told else ("log-probabilities depend" not in said_of)
    signed = dict(result.estimates[0].signature)
    assert signed.get("logprobs") == ("endpoint" if logprob else None)
    assert signed.get("tempered") == ("answers" if "none but" in told else None)


def test_what_an_endpoint_gives_is_scored(tmp_path: Path) -> None:
    rows = [{"question": f"Who is {n}?", "gold": f"A{n % 2}"} for n in range(12)]
    with endpoint(lambda body: "A1", lambda body: -0.5, OTHERS) as url:
        result = sayso.run(
            "selective", model=f"{url}#m", data=rows, report=False, out=tmp_path / "run",
            cache=tmp_path / "cache", settings={"nli": "rules", "elicit": True},
        )  # fmt: skip
    scores = RunFolder.open(tmp_path / "run").read("scores/short", Score)
    by_name = {one.method: one for one in scores}
    shown = [math.exp(value) for _, value in OTHERS]
    rest = 1 - sum(shown)
    # no token of the rest is likelier than the least likely one that is shown
    floor = -sum(p * math.log(p) for p in shown) - rest * math.log(min(rest, *shown))
    for name in ("mean_token_entropy", "max_token_entropy", "mc_mean_token_entropy"):
        assert by_name[name].value == pytest.approx(floor, abs=1e-6)
    true = math.exp(-1) + math.exp(-2)
    assert by_name["p_true"].value == pytest.approx(1 - true / (true + math.exp(-3)))
    assert "lower bounds" in " ".join(result.manifest.notices)
    for name in ("pmi", "self_certainty"):
        assert by_name[name].value is None


@pytest.mark.parametrize(
    ("others", "value"),
    [
        ([("A", -1.0), (" A", -2.0)], None),  # B may be as likely as the second
        ([("A", -0.1), ("C", -3.0), ("D", -3.0)], None),
        ([("D", -9.0), ("A", -0.5), ("C", -2.0)], None),  # D was drawn, and B may be likelier
        (
            [("D", -9.1), ("A", -0.1), ("C", -9.0)],
            math.exp(-9.0) / (math.exp(-0.1) + math.exp(-9.0)),
        ),
        (
            [("B", -0.1), ("C", -9.0), ("D", -9.1)],
            math.exp(-0.1) / (math.exp(-0.1) + math.exp(-9.0)),
        ),
        ([("A", -0.1), ("B", -3.0)], math.exp(-3.0) / (math.exp(-0.1) + math.exp(-3.0))),
    ],
)
def test_an_option_that_is_not_shown_is_at_most_the_least_likely(
    tmp_path: Path, others: list[tuple[str, float]], value: float | None
) -> None:
    rows = [{"question": f"Who is {n}?", "answer": "Ada", "samples": ["Ada"]} for n in range(3)]
    with endpoint(lambda body: "A", lambda body: -0.5, others) as url:
        scored = sayso.score(rows, ["p_true"], model=f"{url}#m", ask=True, cache=tmp_path)
    wanted = value if value is None else pytest.approx(value)
    assert [row["p_true"] for row in scored] == [wanted] * 3
    assert all(("p_true" in row["score_problems"]) == (value is None) for row in scored)


def test_a_server_without_other_tokens_is_asked_once(tmp_path: Path) -> None:
    rows = [{"question": f"Who is {n}?", "answer": "Ada", "samples": ["Ada"]} for n in range(300)]
    asked: list[int] = []

    def say(body: dict[str, Any]) -> str:
        asked.append(body["max_tokens"])
        return "A"

    with (
        endpoint(say, lambda body: -0.5) as url,
        pytest.warns(UserWarning, match="P\\(True\\) was asked once"),
    ):
        scored = sayso.score(rows, ["p_true"], model=f"{url}#m", ask=True, cache=tmp_path)
    assert asked == [1]
    assert {row["score_problems"]["p_true"] for row in scored} == {NO_TOKENS}


def test_tempered_values_are_mixed_with_no_others() -> None:
    raw = {"logprobs": "endpoint"}
    for other, differ in ((raw | {"tempered": "answers"}, "tempered"), ({}, "")):
        reasons, _ = unlike(("A", "B"), (raw, other), ({}, {}), Settings.FREE, ())
        assert (differ in " ".join(reasons)) if differ else reasons == []


def number_in(text: str) -> int:
    return int(re.findall(r"\d+", text)[0])


def chance_of(body: dict[str, Any]) -> float:
    return -0.4 - number_in(body["messages"][-1]["content"]) % 7 / 10


def city_of(body: dict[str, Any]) -> str:
    number = number_in(body["messages"][-1]["content"]) + body.get("seed", 0) % 3
    return f"Paris in {1800 + number}" if number % 3 else f"Rome, {1700 + number}"


def test_an_export_gives_the_scores_of_its_run_and_a_guard_its_decisions(tmp_path: Path) -> None:
    rows = [
        {"question": f"Where is {n}?", "gold": "Paris" if n % 7 < 5 else "Oslo"} for n in range(30)
    ]
    with endpoint(city_of, chance_of, OTHERS) as url:
        sayso.run(
            "selective", model=f"{url}#m", data=rows, report=False, out=tmp_path / "run",
            cache=tmp_path / "cache", settings={"nli": "rules", "want": "scores"},
        )  # fmt: skip
    run: dict[tuple[str, str], float] = {
        (one.target, one.method): one.value
        for one in RunFolder.open(tmp_path / "run").read("scores/short", Score)
        if one.value is not None
    }
    taken = {name for _, name in run} - {"words"}
    assert {
        "perplexity",
        "probability_margin",
        "max_token_entropy",
        "semantic_entropy",
        "token_sar",
        "sar",
    } <= taken
    for ending in (".jsonl", ".parquet"):
        file = sayso.export(tmp_path / "run", tmp_path / f"export{ending}").path
        scored = score_file(file, tmp_path / f"scored{ending}", sorted(taken), nli="rules").path
        again = pd.read_json(scored, lines=True) if ending == ".jsonl" else pd.read_parquet(scored)
        plain = again[(again["method"] == "plain") & (again["form"] == "short")]
        assert set(plain["logprob_kind"]) == {"endpoint"}
        found = {(row["id"], name): row[name] for _, row in plain.iterrows() for name in taken}
        wanted = {key: value for key, value in run.items() if key[1] in taken}
        assert found == {key: pytest.approx(value, abs=1e-9) for key, value in wanted.items()}
    choices = GuardChoices(max_error=0.9, out=tmp_path / "guard.json")
    fit_guard(tmp_path / "run", Selection(score="perplexity"), choices)
    guard = sayso.Guard.load(tmp_path / "guard.json")
    answers = sayso.export(tmp_path / "run", tmp_path / "again.jsonl").path.read_text().splitlines()
    for row in filter(lambda one: one["method"] == "plain", map(json.loads, answers)):
        decision = guard(row["question"], row["answer"], logprobs=row["token_logprobs"])
        assert decision.score == pytest.approx(run[row["id"], "perplexity"], abs=1e-9)
        assert decision.action == ("answer" if decision.score <= guard.file.limit else "decline")
    assert "logprobs:endpoint" in guard.file.signature
