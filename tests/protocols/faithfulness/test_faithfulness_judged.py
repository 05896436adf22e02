"""A faithfulness run read by a model that often replies badly: counted, and in no mean."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.measure import NOT_OFFLINE
from sayso.protocols.faithfulness.verdicts import RulesContradiction, RulesWording
from sayso.protocols.settings import replace
from sayso.records import Generation, Request, Verdict, slice_text
from sayso.runs.measure import load_run
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import chance, facts, records, word, write

WORLD = facts(50)  # 150 facts
BY_QUESTION = {f.question: f for f in WORLD}
VALUE = re.compile(r"It is (\w+)")


def subject(request: Request) -> str:
    """Says the value as often as it is sure; every draw in words of its own."""
    text = request.messages[-1].content
    fact = next((f for q, f in BY_QUESTION.items() if text.startswith(q)), None)
    if fact is None:
        return "I do not know anything about it."
    if request.greedy:
        return f"It is {fact.value}."
    sure = chance("draw", fact.question, request.sample) < chance("sure", fact.question)
    value = fact.value if sure else word("other", fact.question, request.sample)
    return f"It is {value}, said for the {request.sample}th time."


class Reader:
    """Right and wrong by rules; wording and pairs by the model ``engine``."""

    name, signature = "reader", "reader@1"

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        return RulesJudge().grade(items)


def honest(prompt: str) -> dict[str, Any]:
    """What a perfect reader replies: .7 to every claim, and what contradicts by its value."""
    code = re.search(r"The code is (k\w+)", prompt)
    assert code is not None
    claim = re.search(r"^claim\| .*?It is (\w+)", prompt, re.M)
    entries = []
    for number, kind, text in re.findall(r"^(\d+) (answer|sample)\| (.*)$", prompt, re.M):
        entry: dict[str, Any] = {"number": int(number), "begins": " ".join(text.split()[:6])}
        if kind == "answer":
            entry["assertions"] = [{"text": text.rstrip("."), "score": 0.7}]
        else:
            value = VALUE.search(text)
            assert claim is not None
            assert value is not None
            entry["contradicts"] = "no" if value[1] == claim[1] else "yes"
        entries.append(entry)
    return {"code": code[1], "verdicts": entries}


BAD_SCORES = (1.7, -1, -0.0001, 7, "0.7", True, None, [0.7], 1e9, float("nan"), float("inf"))


def spoil(whole: dict[str, Any], generator: random.Random, told: Counter[str]) -> str:
    """Return the reply with each entry spoiled at a chance, sometimes the whole of it."""
    kept = []
    for entry in whole["verdicts"]:
        kind = generator.choice(["range", "direct", "missing", "form", "twice", *["fine"] * 6])
        told[kind] += 1
        if kind == "range" and "assertions" in entry:
            entry["assertions"][0]["score"] = generator.choice(BAD_SCORES)
        elif kind == "range":
            entry["contradicts"] = generator.choice(["maybe", 1, 0, None, [], "yes and no", "n/a"])
        elif kind == "direct":  # the verdict on one text with the beginning of another
            entry["begins"] = "Quite another text stands here instead"
        elif kind == "form":
            entry = generator.choice(
                [{"number": entry["number"]}, "yes", None, [entry], {"number": "1"}]
            )
        if kind != "missing":
            kept.append(entry)
        if kind == "twice":  # a second entry says otherwise (a cut reply may hold the first alone)
            other = json.loads(json.dumps(entry))
            if "assertions" in other:
                other["assertions"][0]["score"] = 0.2
            else:
                other["contradicts"] = "yes" if entry["contradicts"] == "no" else "no"
            kept.append(other)
    text = json.dumps(whole | {"verdicts": kept})
    kind = generator.choice(["fine"] * 12 + ["cut", "code", "empty", "prose", "refusal"])
    told[f"whole {kind}"] += 1
    return {
        "fine": text,
        "cut": text[: generator.randrange(len(text))],
        "code": text.replace(whole["code"], "k00000"),
        "empty": "",
        "prose": "All of them look fine to me: 0.9, yes, 1.0.",
        "refusal": "I'm sorry, but I can't help with that.",
    }[kind]


def run(folder: Path, reply: Callable[[str], str]) -> Result:
    engine = ScriptedEngine(lambda r: reply(r.messages[-1].content), name="reader-model")
    return sayso.run(
        "faithfulness",
        model=ScriptedEngine(subject, name="subject", logprob=-0.5),
        judge=Reader(engine),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / "run",
        cache=folder / "cache",
        options=replace(faithfulness.Settings(), {"methods": "vanilla", "resamples": 100}),
        report=False,
    )


def test_thousands_of_bad_replies_are_counted_and_enter_no_mean(tmp_path: Path) -> None:
    """Every good entry says .7 and the truth: any other number or letter would be invented."""
    generator = random.Random(11)
    told: Counter[str] = Counter()
    result = run(tmp_path, lambda prompt: spoil(honest(prompt), generator, told))
    spoiled = sum(n for kind, n in told.items() if "fine" not in kind)
    assert spoiled > 3000
    job = load_run(result.path)[0]
    wording = job.folder.read("verdicts/short-decisive", Verdict)
    assert {v.number for v in wording if v.problem is None} == {0.7}
    lost = Counter(v.problem for v in wording if v.problem)
    assert set(lost) >= {"unread", "mismatch"}
    assert all(v.number is None and v.label is None for v in wording if v.problem)
    # every comparison that was read is right, by the values of claim and draw
    draws = {
        (g.question, g.request.sample): g.text
        for g in job.folder.read("generations/draws", Generation)
    }
    letters: Counter[str] = Counter()
    for v in job.folder.read("verdicts/short-contradict", Verdict):
        value = VALUE.search(v.raw or "") or VALUE.search(_claim(wording, v))
        assert value is not None
        for sample, letter in enumerate(v.raw or ""):
            said = VALUE.search(draws[v.asked, sample])
            assert said is not None
            letters[letter] += 1
            assert letter in ("?", "n" if said[1] == value[1] else "c"), (v, sample)
    assert letters["?"] > 300
    assert letters["c"] > 200
    assert letters["n"] > 200
    # the numbers: means of what was read, and counts of what was not
    where = "form:short;method:vanilla"
    mean = result.get("mean_decisiveness", where)
    assert mean.value == pytest.approx(0.7)
    left = {
        dict(e.where)["reason"]: e.value
        for e in result.estimates
        if e.name == "left_out" and slice_text(e.where).startswith(where)
    }
    few = left.pop("few draws", 0) or 0
    unread = left.pop("pairs unread", 0) or 0
    assert left == {f"wording {problem}": number for problem, number in lost.items()}
    assert mean.n + mean.missing == len(WORLD)
    assert mean.missing == sum(lost.values()) + few + unread
    # right or wrong was judged all the same; whether an unread answer punts is not known
    assert result.get("accuracy", where).n == len(WORLD)
    punting = result.get("punting", where)
    assert (punting.n, punting.missing) == (len(WORLD) - sum(lost.values()), sum(lost.values()))
    # and they are told where the numbers are read
    notices = "\n".join(result.manifest.notices)
    assert re.search(r"wording was read by \S*reader-model", notices)
    assert re.search(r"decisiveness by \S+: \d+ of \d+ readings are missing \(unread\)", notices)
    assert re.search(r"contradiction by \S+: \d+ of \d+ readings are missing \(mismatch\)", notices)
    assert any("claims are left out of every mean" in line for line in result.manifest.cautions)


def _claim(wording: Sequence[Verdict], verdict: Verdict) -> str:
    return next(w.raw or "" for w in wording if w.target == verdict.target)


def test_a_reader_that_reads_nothing_gives_no_number_and_a_caution(tmp_path: Path) -> None:
    result = run(tmp_path, lambda prompt: "I would say 0.7.")
    where = "form:short;method:vanilla"
    skill = result.get("skill", where)
    assert (skill.value, skill.missing) == (None, len(WORLD))
    assert skill.problem is not None
    told = f"Short answers, Vanilla {len(WORLD):,} of {len(WORLD):,}"
    assert any(told in line for line in result.manifest.cautions)
    assert result.get("mean_decisiveness", where).value is None


def test_an_honest_reader_misses_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, lambda prompt: json.dumps(honest(prompt)))
    where = "form:short;method:vanilla"
    assert result.get("mean_decisiveness", where).missing == 0
    assert not [line for line in result.manifest.notices if "missing" in line]
    expected = sum(
        sum(chance("draw", f.question, n) < chance("sure", f.question) for n in range(20)) / 20
        for f in WORLD
    ) / len(WORLD)
    assert result.get("mean_confidence", where).value == pytest.approx(expected)
    # a model read the wording, so .975 marks no plain statement
    plain = result.get("cmfg_plain", where)
    assert (plain.value, plain.problem) == (None, NOT_OFFLINE)


def test_rules_tell_what_they_could_not_compare(tmp_path: Path) -> None:
    result = sayso.run(
        "faithfulness",
        model=ScriptedEngine(subject, name="subject", logprob=-0.5),
        data=str(write(tmp_path / "q.jsonl", records(WORLD[:6]))),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=replace(faithfulness.Settings(), {"methods": "vanilla", "resamples": 100}),
        report=False,
    )
    told = [n for n in result.manifest.notices if n.startswith(("wording", "answers were"))]
    assert told == [
        f"wording was read by {RulesWording.signature}",
        f"answers were compared by {RulesContradiction.signature}",
    ]
