"""Log-probabilities of an endpoint: scored as the model's own where the run's answers show it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.protocols.selective.scoring import LEAST_TELLING, named_own, own_logprobs
from sayso.records import Generation, Score, ask
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
    own, told = own_logprobs([answer], {"q": draws})
    assert own
    assert f"{2 * LEAST_TELLING} tokens" in told
    assert [g.logprob_kind for g in named_own([answer, *draws], own)] == ["model"] * 6


def test_a_temperature_inside_them_is_seen() -> None:
    answer = said("Ada of Rome", (0.0, 0.0, 0.0), 0)
    draws = [said("Ada of Rome", (-0.5, -2.0, -0.01), 1, n) for n in range(LEAST_TELLING)]
    own, told = own_logprobs([answer], {"q": draws})
    assert not own
    assert "differ by 1.25 nats" in told  # the middle of five .5 and five 2.0
    # draws at temperature 1 are the model's own all the same
    assert [g.logprob_kind for g in named_own([answer, draws[0]], own)] == ["endpoint", "model"]


@pytest.mark.parametrize("likely", [-0.01, -0.2])
def test_tokens_that_are_certain_show_nothing(likely: float) -> None:
    answer, draws = said("Ada", (0.0,), 0), [said("Ada", (likely,), 1, n) for n in range(50)]
    own, told = own_logprobs([answer], {"q": draws})
    assert not own
    assert "too few tokens" in told
    warm = [msgspec.structs.replace(d, request=ask("Who?", temperature=0.7)) for d in draws]
    assert own_logprobs([answer], {"q": warm}) == (False, told)


def test_without_an_endpoint_nothing_is_told() -> None:
    mine = msgspec.structs.replace(said("Ada", (-1.0,), 0), logprob_kind="model")
    assert own_logprobs([mine], {"q": [mine]}) == (False, "")


@pytest.mark.parametrize(
    ("logprob", "scored", "told"),
    [
        (lambda body: -0.5, {OF_ANSWER, OF_DRAWS}, "scored as the model's own"),
        (lambda body: -0.5 * body["temperature"], {OF_DRAWS}, "depend on the temperature"),
        (None, set(), ""),
    ],
)
def test_a_run_behind_an_endpoint(
    tmp_path: Path, logprob: Callable[[dict[str, Any]], float] | None, scored: set[str], told: str
) -> None:
    rows = [{"question": f"Who is {n}?", "gold": f"A{n % 2}"} for n in range(12)]
    with endpoint(lambda body: "A1", logprob) as url:
        result = sayso.run(
            "selective", model=f"{url}#m", data=rows, report=False, out=tmp_path / "run",
            cache=tmp_path / "cache", settings={"nli": "rules"},
        )  # fmt: skip
    scores = RunFolder.open(tmp_path / "run").read("scores/short", Score)
    having = {one.method for one in scores if one.value is not None}
    assert having & {OF_ANSWER, OF_DRAWS} == scored
    assert "p_true" not in having  # an endpoint reads no given text
    said_of = " ".join(result.manifest.notices)
    assert (told in said_of) if told else ("log-probabilities depend" not in said_of)
    signed = dict(result.estimates[0].signature)
    assert signed.get("logprobs") == ("endpoint" if logprob else None)
