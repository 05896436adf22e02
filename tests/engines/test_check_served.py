"""``sayso check`` against a server that we did not write, and against an endpoint of ours."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bad_server import BadServer
from serving import builtin_folder

from sayso import cli
from sayso.checks.model import WHOLE, check
from sayso.records import InputError

Serve = Callable[[Path], str]


def test_a_server_that_ignores_half_of_what_it_is_asked(serve: Serve) -> None:
    found = check(serve(builtin_folder()))
    said = {f.what: f.answer for f in found.findings}
    assert said["log-probs"] == "no"
    assert said["several draws a call (n)"] == "no"
    assert said["JSON schema"] == "no"
    assert said["draws vary"] == "yes"
    assert said["takes sampling settings"] == "no"  # top_k, min_p and repetition_penalty: 422
    assert said[WHOLE] == "cannot tell"
    sampling = found.get("takes sampling settings")
    assert "start the server with neutral generation settings" in sampling.follows
    assert found.dollars is None
    assert {left.why for left in found.left_out} == {"no log-probs"}


def test_a_folder_that_does_not_sample(serve: Serve, greedy_folder: Path) -> None:
    found = check(serve(greedy_folder))
    assert found.get("draws vary").answer == "no"
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
    assert found.get("draws vary").answer == "yes"
    assert found.failed == 0


def test_nobody_listens() -> None:
    with pytest.raises(InputError, match="nothing answers"):
        check("http://127.0.0.1:9/v1#m")


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
    cells = out.partition("chat template")[0].split("yes", 1)[1]
    assert f"api:{folder}" in "".join(cells.split())
    assert "…" not in cells.partition(":'")[0].partition(": '")[0]


def test_several_endpoints_are_checked_one_by_one_and_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    switches: list[dict[str, object]] = [
        {},
        {},
        {"logprobs": False, "refuses": ("min_p",)},
        {"models": ["other"], "context": 512},
        {"echo": True, "choices": 1},
        {"key": "secret"},
    ]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(BadServer(**s)) for s in switches]
        dead = servers[5].url
        urls = [server.url for server in servers]
        name = f"{urls[0]}#bad," + ",".join(urls[1:])
        found = check(name)
        alone = check(f"{urls[0]}#bad")
        assert all(server.number for server in servers[:5])
        assert cli.execute(["check", name]) == 0
        printed = " ".join(capsys.readouterr().out.split())
    assert found.findings == alone.findings
    assert found.requests > 4 * alone.requests
    first, same, poorer, stranger, chatty, closed = found.endpoints
    assert [e.name for e in found.endpoints] == [f"{url}#bad" for url in urls]
    assert first.models == ("bad",)
    assert first.differs == same.differs == ()
    assert "log-probs: no, not yes" in poorer.differs
    (options,) = [d for d in poorer.differs if d.startswith("takes sampling settings")]
    assert options == "takes sampling settings: no (min_p: not sent), not yes"
    assert "lists other, and not bad" in stranger.differs
    assert "context length: 512 tokens, not 4,096 tokens" in stranger.differs
    assert "draws vary: no, not yes" in chatty.differs
    assert any(d.startswith("several draws a call (n): no, not yes") for d in chatty.differs)
    assert any(d.startswith("answers 'What is the capital of France?'") for d in chatty.differs)
    assert "wants a key" in closed.problem
    assert closed.models is None
    assert not alone.endpoints
    assert f"compared with {urls[0]} " in printed
    assert "the same" in printed
    assert "wants a key" in printed
    assert dead in printed
    assert not printed.count("secret")


def test_log_probs_of_one_answer_tell_other_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer() as one, BadServer() as two:
        plain = two.choice

        def surer(*given: Any) -> Any:
            found = plain(*given)
            for token in found.get("logprobs", {}).get("content", []):
                token["logprob"] = -0.1
            return found

        monkeypatch.setattr(two, "choice", surer)
        found = check(f"{one.url}#bad,{two.url}")
    (line,) = [d for d in found.endpoints[1].differs if d.startswith("log-probs of its answer")]
    assert (
        line == "log-probs of its answer to 'What is the capital of France?' differ by up to 0.40"
    )


def test_endpoints_of_which_none_can_be_checked_are_one_line() -> None:
    with BadServer() as one, BadServer() as two:
        name = f"{one.url}#bad,{two.url}"
    with pytest.raises(InputError, match="none of the 2 endpoints can be checked") as caught:
        check(name)
    assert str(caught.value).count("nothing answers at") == 2
    assert "\n" not in str(caught.value)
