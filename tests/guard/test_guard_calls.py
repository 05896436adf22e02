"""``sayso.Guard`` in production: decisions, evidence that is missing, hostile files, withdrawal."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sayso import Guard, InputError
from sayso.guard.guard import MOST_BYTES, GuardFile, Withdrawal, guard_in, written_guard
from sayso.scores import SCORES
from support.guards import PROMISE, guard_file
from support.tables import tabled

RUNS = Path(__file__).parents[1] / "golden" / "runs"


def saved(tmp_path: Path, **changes: Any) -> Path:
    place = tmp_path / "guard.json"
    place.write_bytes(written_guard(guard_file(**changes)))
    return place


def test_decisions_and_what_they_say(tmp_path: Path) -> None:
    guard = Guard.load(saved(tmp_path))
    sure = guard("Who wrote Emma?", "Jane Austen", logprobs=[-0.1, -0.3])
    assert sure.action == "answer"
    assert sure.score == pytest.approx(math.exp(0.2))
    assert (sure.limit, sure.promise) == (1.5, PROMISE)
    unsure = guard("Who wrote Emma?", "Anne Brontë", logprobs=[-1.1, -0.3])
    assert unsure.action == "decline"
    assert unsure.score == pytest.approx(math.exp(0.7))
    assert unsure.why == "perplexity is above the limit"
    at = guard("q?", "a", logprobs=[-math.log(1.5)])
    assert at.action == "answer"  # at the limit itself
    with pytest.raises(AttributeError):
        sure.action = "ask"  # type: ignore[misc]  # frozen
    assert Guard.load(saved(tmp_path, otherwise="ask"))("q?", "a", logprobs=[-9]).action == "ask"


class Odd:
    """An object that raises whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __float__(self) -> float:
        raise RuntimeError


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ({}, "the answer has no logprobs"),
        ({"logprobs": []}, "no tokens to score"),
        ({"logprobs": [-0.1, float("nan")]}, "is nan"),
        ({"logprobs": [-0.1, None]}, "is nan"),
        ({"logprobs": "abc"}, "is nan"),
        ({"logprobs": 5}, "is nan"),
        ({"logprobs": [0.7]}, "above 0"),
        ({"logprobs": [0.0] * 5}, "exactly 0"),
        ({"logprobs": "00000"}, "is nan"),
        ({"logprobs": {0: 1}}, "is nan"),
        ({"logprobs": [False]}, "is nan"),
        ({"logprobs": [Odd()]}, "cannot be computed: RuntimeError"),
        ({"score": "x"}, "expected a number"),
        ({"score": ""}, "expected a number"),
        ({"score": "0.1"}, "expected a number"),
        ({"score": b"0.1"}, "expected a number"),
        ({"score": True}, "expected a number"),
        ({"score": [0.1]}, "expected a number"),
        ({"score": Odd()}, "cannot be computed: RuntimeError"),
        ({"score": float("inf")}, "the score is inf"),
        ({"samples": "several"}, "samples"),
    ],
)
def test_evidence_that_is_missing_gives_no_answer(
    evidence: dict[str, Any], why: str, tmp_path: Path
) -> None:
    found = Guard.load(saved(tmp_path))("q?", "an answer", **evidence)
    assert (found.action, found.score) == ("decline", None)
    assert why in found.why


@pytest.mark.parametrize("answer", ["", "  ", None, 7])
@pytest.mark.parametrize("evidence", [{"logprobs": [-0.1]}, {"score": 0.1}])
def test_no_answer_is_declined(answer: Any, evidence: dict[str, Any], tmp_path: Path) -> None:
    found = Guard.load(saved(tmp_path))("q?", answer, **evidence)
    assert (found.action, found.why) == ("decline", "the answer is empty")


def test_few_tokens_may_be_certain(tmp_path: Path) -> None:
    assert Guard.load(saved(tmp_path))("q?", "a", logprobs=[0.0] * 4).action == "answer"
    assert Guard.load(saved(tmp_path))("q?", "a", logprobs=[0.0] * 4 + [-0.1]).action == "answer"


@pytest.mark.parametrize("stated", [80, -1, "0.9", True])
def test_a_stated_confidence_is_a_share(stated: Any, tmp_path: Path) -> None:
    place = saved(tmp_path, score="verbalized", needs=SCORES["verbalized"].needs, limit=0.5)
    assert Guard.load(place)("q?", "a", stated=stated).action == "decline"


def test_scores_that_compare_samples(tmp_path: Path) -> None:
    place = saved(
        tmp_path, score="discrete_semantic_entropy", limit=0.5, meaning="rules", samples=(3, 3),
        needs=SCORES["discrete_semantic_entropy"].needs,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guard = Guard.load(place)
    question = "Who wrote Emma?"
    assert guard(question, "Jane Austen", samples=["Jane Austen"] * 3).action == "answer"
    mixed = ["Jane Austen", "Anne Brontë", "George Eliot"]
    found = guard(question, "Jane Austen", samples=mixed)
    assert (found.action, found.score) == ("decline", pytest.approx(math.log(3)))
    few = guard(question, "Jane Austen", samples=mixed[:2])
    assert few.why == "2 samples: the labeled answers had 3"


@pytest.mark.parametrize("score", [n for n, one in SCORES.items() if "draws" in one.needs])
def test_blank_samples_are_missing(score: str, tmp_path: Path) -> None:
    """Texts that say nothing are no equal answers; one among others is an answer of its own."""
    needs = SCORES[score].needs
    place = saved(tmp_path, score=score, needs=needs, meaning="rules", limit=1e9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        guard = Guard.load(place)
    more = {"sample_logprobs": [[-0.1]] * 5, "sample_entropies": [[0.1]] * 5}
    more |= {"logprobs": [-0.1], "entropies": [0.1]}
    for samples, why in (
        ([""] * 5, "5 of 5 samples are blank"),
        (["", " ", "...", "Bob", "Bob"], "3 of 5 samples are blank"),
        ([None] * 5, "sample 1 is None, expected a text"),
        (["Bob", 7, "", "", ""], "sample 2 is 7, expected a text"),
    ):
        found = guard("Who wrote Emma?", "Jane Austen", samples=samples, **more)
        assert (found.action, found.score) == ("decline", None)
        assert why in found.why or "cannot be computed in a call" in found.why
    whole = guard("Who wrote Emma?", "Jane Austen", samples=["Bob"] * 5, **more)
    one = guard("Who wrote Emma?", "Jane Austen", samples=["", *["Bob"] * 4], **more)
    assert (one.score is None) == (whole.score is None)


def test_samples_that_a_score_does_not_take_are_not_looked_at(tmp_path: Path) -> None:
    guard = Guard.load(saved(tmp_path))
    for samples in ([""] * 5, [None] * 5):
        assert guard("q?", "a", logprobs=[-0.1], samples=samples).action == "answer"


def test_the_score_is_that_of_sayso_score(tmp_path: Path) -> None:
    import sayso

    row = {
        "question": "Who wrote Emma?", "answer": "Jane Austen", "token_logprobs": [-0.2, -0.7],
        "token_entropies": [0.3, 0.9], "samples": ["Austen", "Jane Austen", "Mary Shelley"],
        "sample_token_logprobs": [[-0.4], [-0.1, -0.2], [-1.0, -0.3]], "stated_confidence": 0.8,
    }  # fmt: skip
    (scored,) = sayso.score([row], nli="rules")
    compared = 0
    for name, method in SCORES.items():
        if name not in scored or scored[name] is None or "relevance" in str(method.needs):
            continue
        place = saved(tmp_path, score=name, needs=method.needs, meaning="rules", limit=1e9)
        found = Guard.load(place)(
            row["question"], row["answer"], logprobs=row["token_logprobs"],
            entropies=row["token_entropies"], samples=row["samples"],
            sample_logprobs=row["sample_token_logprobs"], stated=row["stated_confidence"],
        )  # fmt: skip
        assert found.score == scored[name], (name, found)
        compared += 1
    assert compared >= 25


def test_a_confidence_that_the_answer_states_is_taken(tmp_path: Path) -> None:
    place = saved(tmp_path, score="verbalized", needs=SCORES["verbalized"].needs, limit=0.5)
    found = Guard.load(place)("Which town?", "Vaasa\nConfidence: 30%")
    assert (found.action, found.score) == ("decline", pytest.approx(0.7))
    assert Guard.load(place)("Which town?", "Vaasa\nConfidence: 90%").action == "answer"


def test_what_a_call_cannot_bring_is_told_at_load(tmp_path: Path) -> None:
    place = saved(tmp_path, score="p_true", needs=("ptrue",))
    with pytest.warns(UserWarning, match="p_true needs ptrue, which a call cannot bring"):
        guard = Guard.load(place)
    assert guard("q?", "a").action == "decline"
    assert guard("q?", "a", score=0.1).action == "answer"
    place = saved(tmp_path, score="num_sets", needs=("draws", "clusters"), meaning="some/nli")
    with pytest.warns(UserWarning, match="compares meanings with some/nli: pass nli="):
        guard = Guard.load(place)
    assert "pass nli=" in guard("q?", "a", samples=["b", "c"]).why  # the file loads and asks nobody
    assert Guard.load(place, nli="rules")("q?", "a", samples=["b", "c"]).score is not None
    place = saved(tmp_path, score="my_column", needs=("score",))
    guard = Guard.load(place)
    assert guard("q?", "a").why == "pass the column my_column as score="
    assert guard("q?", "a", score=1.0).action == "answer"


# ---- files of others


def test_a_file_of_an_older_version_with_costs_decides_as_it_did() -> None:
    """Answer up to .613, ask up to .976; without evidence ask."""
    guard = Guard.load(RUNS / "guard" / "guard-costs.json")
    actions = [guard("q?", "a", score=score).action for score in (0.613, 0.614, 0.976, 0.977)]
    assert actions == ["answer", "ask", "ask", "decline"]
    assert guard("q?", "a").action == "ask"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no file of sayso guard"),
        (b"[1, 2]", "is no file of sayso guard"),
        (b"\xff\xfe\x00", "is no file of sayso guard"),
        (b'{"format": "1"}', "is no file of sayso guard"),
        (b'{"format": 1}', "is no file of sayso guard"),
        (written_guard(guard_file()).replace(b'"withdrawn"', b'"withdrawal"'), "`withdrawal`"),
        (b'{"format": 2, "sayso": "9.0"}', "has format 2, written by sayso 9.0"),
        (b"[" * 100_000, "is no file of sayso guard"),
        (b" " * (MOST_BYTES + 1), "has more than"),
    ],
)
def test_a_foreign_file_is_one_line(data: bytes, message: str, tmp_path: Path) -> None:
    place = tmp_path / "guard.json"
    place.write_bytes(data)
    with pytest.raises(InputError, match=message) as told:
        Guard.load(place)
    assert "\n" not in str(told.value)


@tabled
def test_a_field_that_is_wrong_is_one_line(field: str, value: str, tmp_path: Path) -> None:
    place = saved(tmp_path)
    fields = json.loads(place.read_text())
    fields[field] = "@@"
    place.write_text(json.dumps(fields).replace('"@@"', value))
    with pytest.raises(InputError, match=r"guard\.json") as told:
        Guard.load(place)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("score", ["perplexitty", "", " ", "perplexity,verbalized"])
def test_a_score_that_nobody_knows_gives_no_answer(score: str, tmp_path: Path) -> None:
    found = Guard.load(saved(tmp_path, score=score))("q?", "a", logprobs=[-0.1])
    assert (found.action, found.score) == ("decline", None)
    assert "no score is called" in found.why or "cannot be computed" in found.why


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
def test_what_is_no_regular_file_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="is no regular file"):
            Guard.load(place)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*No such file"):
        Guard.load(tmp_path / "guard.json")


# ---- a promise that is withdrawn


def test_a_withdrawn_guard_answers_nothing_and_says_why(tmp_path: Path) -> None:
    place = saved(tmp_path, otherwise="ask")
    guard, other = Guard.load(place), Guard.load(place)
    guard.withdraw("errors rose from 2 % to 6 %")
    for one in (guard, other, Guard.load(place)):  # a running guard sees it too
        found = one("q?", "a", logprobs=[-0.1])
        assert (found.action, found.promise) == ("ask", None)
        assert found.score == pytest.approx(math.exp(0.1))
        assert "withdrawn on 20" in found.why
        assert "errors rose" in found.why
    guard.withdraw("another reason")
    assert guard_in(place).withdrawn is not None
    assert guard_in(place).withdrawn.why == "errors rose from 2 % to 6 %"  # type: ignore[union-attr]


def test_a_withdrawal_that_cannot_be_written_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = Guard.load(saved(tmp_path))

    def full(place: Path) -> Any:
        raise InputError(f"disk is full while writing {place}")

    with monkeypatch.context() as patch:
        patch.setattr("sayso.storage.atomic.replacing", full)
        for why in ("an alarm", "another"):
            with pytest.raises(InputError, match="disk is full"):
                guard.withdraw(why)
        found = guard("q?", "a", logprobs=[-0.1])
        assert (found.action, found.promise) == ("decline", None)  # it holds here at once
        assert "an alarm" in found.why
        assert guard.file.withdrawn is None  # not said of the file before it is written
        assert guard_in(tmp_path / "guard.json").withdrawn is None
    assert guard("q?", "a", logprobs=[-0.1]).action == "decline"
    written = guard_in(tmp_path / "guard.json").withdrawn
    assert written is not None
    assert written.why == "an alarm"
    assert not guard.withdraw("later")
    assert guard.withdrawn == written


def test_a_withdrawal_waits_for_a_file_that_is_gone_and_spares_a_new_guard(tmp_path: Path) -> None:
    for back, actions in (({}, "decline"), ({"created": "2026-01-02"}, "answer")):
        guard = Guard.load(saved(tmp_path))
        (tmp_path / "guard.json").unlink()
        with pytest.raises(InputError, match="cannot read"):
            guard.withdraw("an alarm")
        place = saved(tmp_path, **back)
        assert guard("q?", "a", logprobs=[-0.1]).action == actions
        assert (guard_in(place).withdrawn is None) == (actions == "answer")


def test_a_guard_withdrawn_while_it_was_loaded_gives_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = saved(tmp_path)

    def read(path: str | Path) -> GuardFile:
        found = guard_in(path)
        gone = Withdrawal("2026-02-03T04:05:06+00:00", "an alarm")  # somebody else writes it
        place.write_bytes(written_guard(msgspec.structs.replace(found, withdrawn=gone)))
        return found

    with monkeypatch.context() as patch:
        patch.setattr("sayso.guard.guard.guard_in", read)
        guard = Guard.load(place)
    assert guard("q?", "a", logprobs=[-0.1]).action == "decline"
    kept = os.stat(place)
    place.write_bytes(place.read_bytes().replace(b"an alarm", b"no alarm"))
    os.utime(place, ns=(kept.st_atime_ns, kept.st_mtime_ns))  # as rsync leaves it
    assert "no alarm" in guard("q?", "a", logprobs=[-0.1]).why


def test_reasons_and_errors_that_no_file_holds_raise_nothing(tmp_path: Path) -> None:
    class Odd:
        def item(self) -> float:
            raise self.Error

        class Error(Exception):
            def __str__(self) -> str:
                raise ValueError

    guard = Guard.load(saved(tmp_path))
    assert guard("q?", "a", score=Odd()).action == "decline"  # type: ignore[arg-type]
    assert guard.withdraw(os.fsdecode(b"log-\xff.jsonl"))
    withdrawn = guard_in(tmp_path / "guard.json").withdrawn
    assert withdrawn is not None
    assert withdrawn.why == "log-?.jsonl"


@pytest.mark.skipif(os.name == "nt", reason="links take rights")
def test_a_withdrawal_goes_to_the_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    place = saved(tmp_path / "real")
    (tmp_path / "guard.json").symlink_to(place)
    guard = Guard.load(place)
    assert Guard.load(tmp_path / "guard.json").withdraw("an alarm")
    assert (tmp_path / "guard.json").is_symlink()
    assert guard("q?", "a", logprobs=[-0.1]).action == "decline"


def test_others_withdraw_by_the_field_alone(tmp_path: Path) -> None:
    place = saved(tmp_path)
    guard = Guard.load(place)
    assert guard("q?", "a", logprobs=[-0.1]).action == "answer"
    fields = json.loads(place.read_text())
    fields["withdrawn"] = {"when": "2026-02-03T04:05:06+00:00", "why": "an alarm"}
    place.write_text(json.dumps(fields, indent=2))
    found = guard("q?", "a", logprobs=[-0.1])
    assert found.why == "the promise was withdrawn on 2026-02-03T04:05:06+00:00: an alarm"


def test_a_file_that_is_gone_or_damaged_keeps_no_promise(tmp_path: Path) -> None:
    place = saved(tmp_path)
    guard = Guard.load(place)
    place.write_text("{")
    assert guard("q?", "a", logprobs=[-0.1]).action == "decline"
    place.write_bytes(written_guard(guard_file()))
    assert guard("q?", "a", logprobs=[-0.1]).action == "answer"  # written anew
    place.unlink()
    assert "cannot read" in guard("q?", "a", logprobs=[-0.1]).why


def test_loading_needs_neither_numpy_nor_torch(tmp_path: Path) -> None:
    place = saved(tmp_path)
    code = (
        f"import sys; from sayso import Guard; guard = Guard.load({str(place)!r}); "
        "loaded = {'numpy', 'torch', 'pyarrow', 'rich'} & sys.modules.keys(); "
        "found = guard('q?', 'a', logprobs=[-.1]); "
        "print(sorted(loaded), found.action, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] answer False"


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = guard_file(limit=1.23456789012345, samples=(2, 9), ask_limit=4.0)
    place = tmp_path / "guard.json"
    place.write_bytes(written_guard(file))
    assert guard_in(place) == file
    assert msgspec.json.decode(place.read_bytes())["limit"] == 1.23456789012345
