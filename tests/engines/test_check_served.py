"""``sayso check`` against a server that we did not write, and against an endpoint of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bad_server import BadServer
from serving import builtin_folder

from sayso import cli
from sayso.checks.model import WHOLE, check
from sayso.records import InputError

Serve = Callable[[Path], str]


@pytest.mark.slow
def test_a_server_that_ignores_half_of_what_it_is_asked(serve: Serve) -> None:
    found = check(serve(builtin_folder()))
    said = {f.what: f.answer for f in found.findings}
    assert said["log-probs"] == "no"
    assert said["several draws a call (n)"] == "no"
    assert said["takes sampling settings"] == "no"  # top_k, min_p and repetition_penalty: 422
    assert said[WHOLE] == "cannot tell"
    sampling = found.get("takes sampling settings")
    assert "start the server with neutral generation settings" in sampling.follows
    assert found.dollars is None
    assert {left.why for left in found.left_out} == {"no log-probs"}


@pytest.mark.slow
def test_a_folder_that_does_not_sample(serve: Serve, greedy_folder: Path) -> None:
    found = check(serve(greedy_folder))
    assert found.get(WHOLE).answer == "no"
    assert found.get("greedy repeats").answer == "yes"
    lost = {left.result for left in found.left_out}
    assert "unspoken knowledge" in lost
    assert any("known by any of several draws" in result for result in lost)


def test_an_endpoint_of_ours() -> None:
    with BadServer() as server:
        found = check(f"{server.url}#m", {"price": "1,2"})
    assert found.get("several draws a call (n)").answer == "yes"
    assert found.get("seed").answer == "yes"
    assert found.get("greedy repeats").answer == "yes"
    assert found.fingerprint == "fp_1"
    assert found.dollars is not None
    assert found.dollars > 0


def test_an_endpoint_that_breaks_now_and_then_is_checked_all_the_same() -> None:
    with BadServer(lambda number, _: "500" if number % 5 == 4 else "ok") as server:
        found = check(f"{server.url}#m")
    assert found.failed == 0


def test_nobody_listens() -> None:
    with pytest.raises(InputError, match="nothing answers"):
        check("http://127.0.0.1:9/v1#m")


@pytest.mark.slow
def test_a_model_that_a_server_does_not_have(serve: Serve) -> None:
    url = serve(builtin_folder()).partition("#")[0]
    with pytest.raises(InputError) as caught:
        check(f"{url}#wrong")
    # from transformers 5.24 on the server lists what it holds
    said = r"does not have the model 'wrong' \(status 400: |does not serve 'wrong'; it lists"
    assert re.search(said, str(caught.value))
    assert "expected a model that answers" not in str(caught.value)
    with (
        BadServer(lambda number, _: "400", models=["a", "b"]) as server,
        pytest.raises(InputError, match="does not serve 'wrong'; it lists: a, b"),
    ):
        check(f"{server.url}#wrong")
    with (
        BadServer(lambda number, _: "404-model", models=["wrong"]) as server,
        pytest.raises(InputError, match=r"does not have the model 'wrong' \(status 404: "),
    ):
        check(f"{server.url}#wrong")


def test_the_name_of_a_model_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    folder = "/models/a-family-of-models/trained-for-very-long/checkpoint-120000"
    with BadServer(models=[folder]) as server:
        assert cli.execute(["check", f"{server.url}#{folder}"]) == 0
    out = capsys.readouterr().out
    assert "what trained-for-very-long/checkpoint-120000 can do" in out
    cells = out.partition("log-probs")[0].split("yes", 1)[1]
    assert f"api:{folder}" in "".join(cells.split())
    assert "…" not in cells.partition(":'")[0].partition(": '")[0]
