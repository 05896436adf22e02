"""Two self_known runs beside each other: B - A by hand, refusals, and nothing from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from sayso.records import Estimate, InputError, signature_text, slice_text
from sayso.runs.compare import ShownComparison
from support.telling_world import World

A = {"Mira Toll": "ttfff", "Orm Bask": "tfttt", "Ada Quill": "tttft"}
NAMES = list(A)


def runs(folder: Path, second: dict[str, str], **fields: object) -> tuple[Path, Path]:
    """Run two models on one source: what A tells truly is in it, and what B does."""
    import json

    from support.telling_world import sentence

    folder.mkdir(exist_ok=True)
    wiki = folder / "wiki.jsonl"
    rows = []
    for name in NAMES:
        true = [sentence(name, n) for n, x in enumerate(A[name]) if x == "t"]
        true += [
            sentence(name, n) for n, x in enumerate(second.get(name, "")) if x == "t" and n > 4
        ]
        rows.append({"title": name, "text": " ".join([f"This is {name}.", *true])})
    wiki.write_text("".join(json.dumps(row) + "\n" for row in rows))
    world = World(A)
    world.run(folder, "a", world.engine(name="a"), knowledge=str(wiki), **fields)
    # the second model's texts may be longer or shorter, on the same topics
    other = World(A)
    other.texts = {**A, **second}
    plain = other.reply
    topics = World(A)
    topics.reply = plain  # type: ignore[method-assign]
    topics.run(folder, "b", topics.engine(name="b"), knowledge=str(wiki), **fields)
    return folder / "a", folder / "b"


def found(made: ShownComparison, name: str, where: str = "") -> Estimate:
    place = f"method:plain{';' * bool(where)}{where}"
    (one,) = [e for e in made.estimates if e.name == name and slice_text(e.where) == place]
    return one


def test_a_model_beside_itself_shows_nothing(tmp_path: Path) -> None:
    a, b = runs(tmp_path, {}, modes="qa_none")
    made = sayso.compare(a, b)
    names = {e.name for e in made.estimates}
    assert {"factscore", "factuality", "trend", "SK", "SU", "accept_rate"} <= names
    for e in made.estimates:
        assert e.value in (0.0, None), e
        if e.value is not None and e.low is not None:
            assert e.low == -e.high <= 0.0  # what two names show is no proof that they are one
        assert signature_text(e.signature).startswith(f"difference of {e.name}|")


def test_differences_by_hand(tmp_path: Path) -> None:
    # B tells only the first two sentences of Mira's text: both true
    a, b = runs(tmp_path, {"Mira Toll": "tt"}, modes="none")
    made = sayso.compare(a, b)
    # factscore: (.4 + .8 + .8)/3 and (1 + .8 + .8)/3
    assert found(made, "factscore").value == pytest.approx(0.2)
    # claims: 10/15 and 10/12
    assert found(made, "factuality_micro").value == pytest.approx(10 / 12 - 10 / 15)
    assert found(made, "claims_per_answer").value == pytest.approx(-1.0)
    # the last fifth: f t t, and (2/2 -> part 5) t t t
    assert found(made, "factuality", "part:5/5").value == pytest.approx(1 / 3)
    # the first: t t t, and t t without Mira (1/2 lies in part 3)
    assert found(made, "factuality", "part:1/5").value == 0.0


def test_the_trend_is_the_slope_inside_texts(tmp_path: Path) -> None:
    a, b = runs(tmp_path, {"Mira Toll": "tt"}, modes="none")
    slopes = [sayso.measure(run).get("trend", "method:plain").value for run in (a, b)]
    gap = found(sayso.compare(a, b), "trend")
    assert gap.value == pytest.approx((slopes[1] or 0) - (slopes[0] or 0))


def test_runs_that_differ_in_more_are_refused(tmp_path: Path) -> None:
    a, b = runs(tmp_path, {}, modes="none")
    World(A).run(tmp_path, "c", modes="none", passages=2, knowledge=str(tmp_path / "wiki.jsonl"))
    with pytest.raises(InputError, match="knowledge"):
        sayso.compare(a, tmp_path / "c")
    assert sayso.compare(a, tmp_path / "c", allow=["knowledge"]).notes
    World({"Nobody": "t"}).run(tmp_path / "d", modes="none", knowledge=str(tmp_path / "wiki.jsonl"))
    with pytest.raises(InputError, match="no text in common"):
        sayso.compare(b, tmp_path / "d" / "run")


def test_prompts_that_only_one_answers_are_left_out_and_told(tmp_path: Path) -> None:
    wiki = World(A).knowledge(tmp_path)
    World(A).run(tmp_path, "a", modes="none", knowledge=wiki)
    few = World({k: A[k] for k in NAMES[:2]})
    few.run(tmp_path / "few", "b", modes="none", knowledge=wiki)
    made = sayso.compare(tmp_path / "a", tmp_path / "few" / "b")
    assert found(made, "factscore").value == 0.0
    assert any("2 of 3 texts are in both" in note for note in made.notes), made.notes
