"""sayso.factuality with a model: what it says of every labeled claim, and what that is worth."""

from __future__ import annotations

import dataclasses
import json
import statistics
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sayso
from sayso.engines.prices import Price
from sayso.protocols import self_known
from sayso.records import Estimate, InputError, Request, Verdict, signature_text
from sayso.runs.costs import BudgetSpent
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.runs.result import Result
from sayso.runs.run import execute_job, factuality
from sayso.runs.texts import TextsOf, texts_by_model
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import layout_tables
from sayso.studies.results import of_folders
from support.scripted import ScriptedEngine
from support.telling_world import told

#: how claims are asked, and what somebody says of one: yes, no, none
Says = Callable[[str, str], str]
MODES = ("direct", "qa", "qa_none")


def model(says: Says, name: str = "table", **given: Any) -> ScriptedEngine:
    """A model that says what ``says`` does, in the words of the options."""

    def reply(request: Request) -> str:
        prompt = request.messages[-1].content
        claim, mode = told(prompt)
        words = {"yes": "True", "no": "False", "none": "None of the above"}[says(claim, mode)]
        if mode == "direct":
            return words
        return next(f"({x})" for x in "ABC" if f"({x}) {words}" in prompt)

    return ScriptedEngine(reply, name=name, **given)


def text(topic: str, letters: str) -> dict[str, Any]:
    """A text with a claim a sentence: S, N (not supported), I (irrelevant)."""
    says = {"S": "S", "N": "NS", "I": "IR"}
    claims = [f"{topic} won the {word} Prize." for word in ("Ade", "Bor", "Cal", "Dun", "Eck")]
    return {
        "topic": topic,
        "text": " ".join(claims[: len(letters)]),
        "claims": [
            {"text": claims[n], "label": says[x], "sentence": n + 1} for n, x in enumerate(letters)
        ],
    }


def write(folder: Path, name: str, rows: list[Any]) -> Path:
    place = folder / name
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def run(folder: Path, *files: Path, name: str = "run", **given: Any) -> Result:
    options = self_known.Settings(**{"resamples": 100, **given.pop("options", {})})
    return factuality(
        list(files), folder / name, options=options, cache=folder / "cache", report=False, **given
    )


def texts_in(file: Path) -> TextsOf:
    """Return the texts of a file of one model."""
    (own,) = texts_by_model([file])
    return own


#: Ade and Bor are accepted, in qa Cal too; with none of the above only Ade
def by_name(claim: str, mode: str) -> str:
    accepted = {"direct": ("Ade", "Bor"), "qa": ("Ade", "Bor", "Cal"), "qa_none": ("Ade",)}[mode]
    if any(word in claim for word in accepted):
        return "yes"
    return "none" if mode == "qa_none" else "no"


def test_a_model_is_asked_about_every_labeled_claim(tmp_path: Path) -> None:
    rows = [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")]
    asked = model(by_name)
    result = run(tmp_path, write(tmp_path, "one.jsonl", rows), model=asked)
    # 9 claims are S or NS: each in 2, 2 and 3 orders; the irrelevant one is not asked about
    assert len(asked.requests) == 9 * 7
    assert not any("Mira Toll won the Dun" in r.messages[-1].content for r in asked.requests)

    def value(name: str, **where: str) -> float | None:
        return result.get(name, method="plain", **where).value

    # S: Ade Cal of Mira; Ade Bor Eck of Orm. NS: Bor Eck of Mira; Cal Dun of Orm
    assert [value("SK", mode=m) for m in MODES] == pytest.approx([3 / 5, 4 / 5, 2 / 5])
    assert [value("SU", mode=m) for m in MODES] == pytest.approx([3 / 4, 2 / 4, 4 / 4])
    # Equation 3 of the same claims: (1/4) / (1/4 + 2/5), (1/2) / (1/2 + 1/5), 0
    third = [value("equation3_in_sample", mode=m) for m in MODES]
    assert third == pytest.approx([5 / 13, 5 / 7, 0])
    # each text from the other: direct, Mira from Orm: SK 2/3, SU 1: 0; Orm from Mira: 1/2, 1/2
    assert value("equation3", mode="direct") == pytest.approx(5 * 0.5 / 9)
    # the second fifth: Mira's Bor is false and accepted, Orm's is true and accepted: SK 1, SU 0
    second = {"part": "2/5"}
    assert [value("SK", mode=m, **second) for m in MODES] == [1, 1, 0]
    assert [value("SU", mode=m, **second) for m in MODES] == [0, 0, 1]
    assert [value("equation3_in_sample", mode=m, **second) for m in MODES] == [1, 1, 0]
    flips = [value("none_flips", **{"class": c}, **second) for c in ("supported", "unsupported")]
    assert flips == [1, 1]
    # the first fifth has no unsupported claim
    empty = result.get("equation3_in_sample", method="plain", mode="qa", part="1/5")
    assert (empty.value, empty.n) == (None, 2)
    assert empty.problem
    whole = result.get("none_flips", method="plain", **{"class": "supported"})
    assert (whole.numerator, whole.denominator) == (2.0, 5.0)  # Cal of Mira and Bor of Orm
    signature = signature_text(result.get("SK", method="plain", mode="qa").signature)
    assert "+table|" in signature
    assert "questions:gap@2" in signature
    assert any("asked 63 times about 9 of 10 claims" in n for n in result.manifest.notices)
    assert result.manifest.tokens["requests"] == 63
    # P(false) of S: 0 1 0 0 1, of NS: 0 1 1 1; pairs won, ties half: (1.5 + 3 * 4) / 20
    assert value("auroc", score="p_true") == pytest.approx(13.5 / 20)
    again = sayso.measure(tmp_path / "run")
    assert [e.value for e in again.estimates] == [e.value for e in result.estimates]


def test_without_a_model_nobody_is_asked(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN")])
    result = run(tmp_path, file)
    assert not [e for e in result.estimates if "mode" in dict(e.where)]
    assert result.manifest.tokens == {}


def test_claims_that_a_checker_labels_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"topic": "Mira Toll", "text": "Mira Toll won the Ade Prize. Mira Toll won the Bor Prize."},
        {"topic": "Nobody Known", "text": "Nobody Known won the Ade Prize."},
    ]
    wiki = [{"title": "Mira Toll", "text": "Mira Toll won the Ade Prize."}]
    source = str(write(tmp_path, "wiki.jsonl", wiki))
    asked = model(by_name)
    file = write(tmp_path, "one.jsonl", rows)
    result = run(tmp_path, file, model=asked, options={"knowledge": source, "modes": "qa"})
    assert len(asked.requests) == 2 * 2  # the claim that nothing could be found for is left out
    assert result.get("SK", method="plain", mode="qa").value == 1.0
    assert result.get("SU", method="plain", mode="qa").value == 0.0


def test_the_judge_makes_the_questions(tmp_path: Path) -> None:
    prompts: list[str] = []

    def judge(request: Request) -> str:
        prompt = request.messages[-1].content
        prompts.append(prompt)
        code = prompt.split("The code is ", 1)[1].split(".")[0]
        claims = [x.split("claim| ")[1] for x in prompt.splitlines() if x[:2] in ("1 ", "2 ")]
        entries = [
            {"number": n, "begins": " ".join(c.split()[:5]), "answer": c.split()[-2],
             "question": f"Which prize did {' '.join(c.split()[:2])} win?"}
            for n, c in enumerate(claims, 1)
        ]  # fmt: skip
        return json.dumps({"code": code, "verdicts": entries})

    asked: list[str] = []

    def reply(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return "(A)"

    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN")])
    engine = ScriptedEngine(judge, name="judge")
    job = Job(protocol="self_known", data="texts", model=ScriptedEngine(reply, name="m"),
              judge=engine, cache=tmp_path / "cache", texts=texts_in(file),
              options=self_known.Settings(modes="qa", resamples=100))  # fmt: skip
    before = estimate_job(job)
    assert [(s.who, s.name, s.requests.low, s.cached) for s in before.stages] == [
        ("judge", "claims", 1, 0),
        ("model", "self-qa", 4, 0),
    ]
    assert not prompts
    assert not asked
    result = run(tmp_path, file, model=job.model, judge=engine, options={"modes": "qa"})
    assert len(prompts) == 1
    assert all(p.startswith("Question: Which prize did Mira Toll win?") for p in asked)
    assert "questions:judge#p" in signature_text(
        result.get("SK", method="plain", mode="qa").signature
    )
    after = estimate_job(job)
    assert [(s.name, s.requests.low, s.cached) for s in after.stages] == [
        ("claims", 1, 1),
        ("self-qa", 4, 4),
    ]
    # of a text without labels a model says what it claims, and a checker what is so
    bare = write(tmp_path, "two.jsonl", [{"topic": "Jo", "text": "Jo won a prize."}])
    wiki = str(write(tmp_path, "wiki.jsonl", [{"title": "Jo", "text": "Jo."}]))
    options = self_known.Settings(modes="qa", resamples=100, knowledge=wiki)
    unknown = estimate_job(dataclasses.replace(job, options=options, texts=texts_in(bare)))
    ranges = {(s.who, s.name): s.requests for s in unknown.stages}
    assert ranges["judge", "claims"].low >= 2  # splits, and checks
    assert ranges["model", "self-qa"] == (0, 2)
    assert len(prompts) == 1


def test_stopped_and_repeated_it_asks_nothing_twice(tmp_path: Path) -> None:
    rows = [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")]
    file = write(tmp_path, "one.jsonl", rows)
    asked: list[Request] = []
    finished = None
    for _ in range(20):
        engine = model(by_name, kill_after=17)
        try:
            finished = run(tmp_path, file, model=engine)
        except KeyboardInterrupt:
            assert len(engine.requests) == 17
        asked += engine.requests
        if finished:
            break
    assert finished is not None
    assert len(asked) == len(set(asked)) == 63
    plain = run(tmp_path, file, model=model(by_name), name="plain")
    assert [e.value for e in plain.estimates] == [e.value for e in finished.estimates]
    assert plain.manifest.tokens["cached"] == 63


def test_it_stops_at_the_end_of_the_money(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")])
    engine = model(by_name)
    engine.price = Price(1000.0, 1000.0)  # type: ignore[attr-defined]
    with pytest.raises(BudgetSpent, match="run the same command to resume"):
        run(tmp_path, file, model=engine, max_cost=0.2)
    first = len(engine.requests)
    assert 0 < first < 63
    result = run(tmp_path, file, model=engine, max_cost=100)
    assert len(engine.requests) == 63
    assert result.manifest.dollars
    assert any(n.startswith("price: answers $") for n in result.manifest.notices)


def test_a_dry_run_knows_the_labeled_claims_and_asks_nobody(tmp_path: Path) -> None:
    bare = {"topic": "Jo Reed", "text": "Jo Reed won the Ade Prize. Jo Reed won the Bor Prize."}
    labeled = [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")]
    file = write(tmp_path, "one.jsonl", [*labeled, bare])
    asked = model(by_name)

    def plan(**fields: Any) -> list[tuple[str, float, float, int]]:
        options = self_known.Settings(resamples=100, **fields)
        job = Job(protocol="self_known", data="texts", model=asked, options=options,
                  cache=tmp_path / "cache", texts=texts_in(file))  # fmt: skip
        stages = estimate_job(job).stages
        return [(s.name, s.requests.low, s.requests.high, s.cached) for s in stages]

    assert plan() == [
        ("self-direct", 18, 18, 0), ("self-qa", 18, 18, 0), ("self-qa_none", 27, 27, 0),
    ]  # fmt: skip
    wiki = str(write(tmp_path, "wiki.jsonl", [{"title": "Jo Reed", "text": "Jo Reed."}]))
    # of a text without labels a checker may say something: 2 claims more
    assert plan(knowledge=wiki, modes="direct") == [("self-direct", 18, 22, 0)]
    assert not asked.requests
    assert not (tmp_path / "run").exists()
    run(tmp_path, file, model=asked)
    assert plan(modes="qa_none") == [("self-qa_none", 27, 27, 27)]


def test_what_cannot_be_asked_is_told_before_anything_is(tmp_path: Path) -> None:
    labeled = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN")])
    bare = write(tmp_path, "two.jsonl", [{"topic": "Mira", "text": "Mira won a prize."}])
    asked = model(by_name)
    for file, arguments, message in (
        (bare, {"model": asked}, "no claim has a label"),
        (
            labeled,
            {"model": asked, "options": {"modes": "none"}},
            "modes none asks the model nothing",
        ),
        (
            labeled,
            {"model": asked, "options": {"modes": "guess"}},
            "modes 'guess': expected direct",
        ),
        (labeled, {"options": {"keep_answered": 5}}, "these are written already, so leave it out"),
        (labeled, {"model": "gpt-4o"}, "gpt-4o"),
        (labeled, {"concurrency": 3}, "concurrency is for endpoints"),
        (labeled, {"price": "1,2"}, "price applies only if a model is asked"),
        (labeled, {"thinking": "off"}, "thinking applies only if a model is asked"),
        (labeled, {"device": "cpu"}, "device is for models that run in this process"),
        (labeled, {"model": asked, "max_cost": 1.0, "concurrency": 0}, "concurrency is 0"),
    ):
        with pytest.raises(InputError, match=message) as error:
            run(tmp_path, file, name="bad", **arguments)
        assert "\n" not in str(error.value)
        assert not (tmp_path / "bad").exists(), message
    assert not asked.requests


def test_another_model_does_not_enter_the_folder_of_the_first(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN")])
    run(tmp_path, file, model=model(by_name))
    with pytest.raises(InputError, match="choose another --out"):
        run(tmp_path, file, model=model(by_name, name="another"))
    with pytest.raises(InputError, match="choose another --out"):
        run(tmp_path, file)


def test_where_probabilities_can_be_read_nothing_is_generated(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN"), text("Orm Bask", "NS")])
    engine = model(by_name, logprob=-1.0)
    result = run(tmp_path, file, model=engine)
    assert not engine.requests
    assert engine.forced
    verdicts = RunFolder.open(result.path).read("verdicts/self-direct", Verdict)
    assert all(v.number == pytest.approx(0.5) for v in verdicts)


def test_claims_are_asked_about_with_the_thinking_that_was_wanted(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SN")])
    for engine in (model(by_name), model(by_name, name="forced", logprob=-1.0)):
        run(tmp_path, file, model=engine, thinking="off", name=engine.name)
        sent = engine.requests or [request for request, _ in engine.forced]
        assert {dict(r.chat_template_kwargs)["enable_thinking"] for r in sent} == {False}


def test_two_models_are_compared_on_the_same_texts(tmp_path: Path) -> None:
    file = write(tmp_path, "one.jsonl", [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")])
    run(tmp_path, file, model=model(by_name), name="a")
    run(tmp_path, file, model=model(lambda claim, mode: "yes", name="other"), name="b")
    found = sayso.compare(tmp_path / "a", tmp_path / "b", resamples=100)
    gaps = {
        (e.name, dict(e.where).get("mode")): e.value
        for e in found.estimates
        if "part" not in dict(e.where)
    }
    assert gaps["factscore", None] == 0
    assert gaps["SK", "direct"] == pytest.approx(1 - 3 / 5)
    assert gaps["SU", "direct"] == pytest.approx(0 - 3 / 4)


values = st.text(max_size=20) | st.none() | st.integers(-3, 12)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"text": st.text(max_size=80), "claims": st.lists(
                st.fixed_dictionaries(
                    {"text": st.text(max_size=40),
                     "label": st.sampled_from(["S", "NS", "IR", None])},
                    optional={"sentence": values},
                ), max_size=4,
            )},
            optional={"topic": st.text(max_size=10), "prompt": st.text(max_size=10)},
        ),
        min_size=1, max_size=4,
    ),
    st.sampled_from(["(A)", "True", "False", "perhaps", ""]),
)  # fmt: skip
def test_any_claims_are_asked_about(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], says: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = write(folder, "t.jsonl", rows)
    rated = sum(c["label"] in ("S", "NS") for row in rows for c in row["claims"])
    engine = ScriptedEngine(lambda request: says)
    if not rated:
        with pytest.raises(InputError, match="no claim has a label"):
            run(folder, file, model=engine)
        return
    result = run(folder, file, model=engine)
    for e in result.estimates:
        assert all(x == x for x in msgspec.structs.astuple(e)), e
        assert e.value is not None or e.problem, e
    asked = RunFolder.open(result.path).read("verdicts/self-direct", Verdict)
    assert len(asked) == rated


# --- several models, and columns of other names ---


def test_correlations_across_models(tmp_path: Path) -> None:
    """Factuality 2/3, 1/3, 1/2 of the models against SK and SU of each, by hand."""
    files = [
        write(tmp_path, "a.jsonl", [text("Mira Toll", "SSN")]),
        write(tmp_path, "b.jsonl", [text("Mira Toll", "NNS")]),
        write(tmp_path, "c.jsonl", [text("Mira Toll", "SNNS")]),
    ]
    options = self_known.Settings(modes="qa_none", resamples=100)
    for own in texts_by_model(files):
        out = tmp_path / "runs" / own.system.name
        job = Job(protocol="self_known", data="texts", model=model(by_name), options=options,
                  cache=tmp_path / "cache", out=out, texts=own)  # fmt: skip
        execute_job(job)
    study = of_folders([tmp_path / "runs"], resamples=100)
    (table,) = layout_tables(study, "self-known-correlations")
    found = {labels: entries for labels, entries in table.rows if labels[0] == "across models"}
    (pearson,) = (entries for labels, entries in found.items() if labels[-1] == "Pearson")
    # with none of the above only Ade is accepted; an unsupported claim that is not, is recognized
    factual = [2 / 3, 1 / 3, 1 / 2]
    for e, values in zip(pearson, ([1 / 2, 0, 1 / 2], [1, 1 / 2, 1], [0, 1 / 3, 0]), strict=True):
        assert isinstance(e, Estimate)
        assert e.value == pytest.approx(statistics.correlation(factual, values))
        assert (e.n, e.low) == (3, None)  # one topic bounds nothing


def test_a_misnamed_topic_is_told_with_the_columns_there_are(tmp_path: Path) -> None:
    rows = [{"person": "Mira Toll", "bio": "She won the Ade Prize."}] * 2
    file = write(tmp_path, "one.jsonl", rows)
    with pytest.raises(InputError, match=r"has 'person', 'bio'.*--columns text=NAME"):
        run(tmp_path, file)
    misnamed = run(tmp_path, file, columns="text=bio", name="misnamed").manifest
    (line,) = [n for n in misnamed.notices if "no row says what its text is about" in n]
    assert "its columns are 'person', 'bio'" in line
    assert "--columns topic=NAME" in line
    named = run(tmp_path, file, columns={"text": "bio", "topic": "person"}, name="named")
    assert not [n for n in named.manifest.notices if "no row says" in n]
    assert {q.entity for q in RunFolder.open(named.path).read("questions", sayso.records.Question)}
    for columns, message in (
        ("topic=who", "names a missing column; it has 'person', 'bio'"),
        ("person=topic", "expected OURS=YOURS, with one of text, topic"),
        ("topic=person,topic=bio", "names topic twice"),
    ):
        with pytest.raises(InputError, match=message) as error:
            run(tmp_path, file, columns=columns, name="bad")
        assert "\n" not in str(error.value)
    labeled = {"topic": "Orm", "output": "Orm.", "annotations": []}
    wrong = write(tmp_path, "fs.jsonl", [{**labeled, "who": labeled.pop("topic")}])
    with pytest.raises(InputError, match=r"no topic: .*it has .*'who'"):
        run(tmp_path, write(tmp_path, "x.jsonl", [{**labeled, "who": "Orm"}]), name="bad")
    assert wrong.exists()


# --- on texts that people labeled ---


def _parts(file: Path) -> list[tuple[str, str, int]]:
    """Return (claim, label, fifth from 1) of FActScore's file, read without sayso."""
    found = []
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        sentences = row["annotations"] or []
        for i, sentence in enumerate(sentences, 1):
            for fact in sentence["human-atomic-facts"] or []:
                fifth = -(-5 * i // len(sentences))
                found.append((fact["text"], fact["label"], fifth))
    return found


def _key(claim: str) -> str:
    """Return a claim as prompts have it."""
    return " ".join(unicodedata.normalize("NFC", claim).split()).rstrip(".")


def _third(known: float, unknown: float) -> float:
    return (1 - unknown) / (2 - unknown - known)


def _ranks(values: list[float]) -> list[float]:
    return [sum(v < w for v in values) + sum(v == w for v in values) / 2 for w in values]


def test_a_table_of_known_claims_on_texts_that_people_labeled(
    test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SK, SU, flips and Equation 3 by position equal what plain Python makes of the same table."""
    # the model reads its claim off the question: only a gap holds it word for word
    monkeypatch.setattr("sayso.judges.claim_questions.natural_question", lambda topic, claim: None)
    file = test_data / "factscore" / "ChatGPT.jsonl"
    claims = _parts(file)
    first_label = {}
    for claim, label, _ in claims:
        first_label.setdefault(_key(claim), label)

    def says(claim: str, mode: str) -> str:
        lot = zlib.crc32(claim.encode()) % 20
        accepts = lot < (15 if first_label[claim] == "S" else 7)
        if mode == "direct":
            accepts = accepts != (lot % 5 == 0)
        if mode == "qa_none" and accepts and lot % 4 == 1:
            return "none"
        return "yes" if accepts else "no"

    asked: dict[str, dict[str, str]] = defaultdict(dict)

    def noted(claim: str, mode: str) -> str:
        asked[mode][claim] = says(claim, mode)
        return asked[mode][claim]

    result = run(tmp_path, file, model=model(noted), options={"orders": "first"})
    by_part: dict[str, dict[tuple[str, int], list[str]]] = {m: defaultdict(list) for m in MODES}
    flips: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for claim, label, fifth in claims:
        key = _key(claim)
        for mode in MODES:
            if key in asked[mode]:  # a few claims make no question
                by_part[mode][label, fifth].append(asked[mode][key])
        if key in asked["qa"]:
            flips[label, fifth].append(asked["qa"][key] == "yes" and asked["qa_none"][key] != "yes")
    assert len(asked["direct"]) > 2_000

    def share(hits: list[bool]) -> float:
        return sum(hits) / len(hits)

    for mode in MODES:
        said, factual = by_part[mode], []
        curves: dict[str, list[float]] = {"SK": [], "SU": [], "equation3_in_sample": []}
        for fifth in range(1, 6):
            where = {"method": "plain", "mode": mode, "part": f"{fifth}/5"}
            known = share([x == "yes" for x in said["S", fifth]])
            unknown = share([x != "yes" for x in said["NS", fifth]])
            wanted = {"SK": known, "SU": unknown, "equation3_in_sample": _third(known, unknown)}
            s, ns = len(said["S", fifth]), len(said["NS", fifth])
            factual.append(s / (s + ns))
            for name, value in wanted.items():
                e = result.get(name, **where)
                assert e.value == pytest.approx(value, abs=1e-12), (name, where)
                assert e.low is not None, (name, where)
                assert e.low < value < e.high  # type: ignore[operator]
                curves[name].append(value)
            assert result.get("labeled_factuality", **where).value == pytest.approx(factual[-1])
        whole = {x: [one for n in range(1, 6) for one in said[x, n]] for x in ("S", "NS")}
        known = share([x == "yes" for x in whole["S"]])
        unknown = share([x != "yes" for x in whole["NS"]])
        plain = result.get("equation3_in_sample", method="plain", mode=mode)
        assert plain.value == pytest.approx(_third(known, unknown), abs=1e-12)
        # ours is flat: each part is told from the same shares of the other texts
        pooled = [
            result.get("equation3", method="plain", mode=mode, part=f"{n}/5").value
            for n in range(1, 6)
        ]
        assert max(pooled) - min(pooled) < 0.01  # type: ignore[type-var,operator]
        for curve, values in curves.items():
            for name, x, y in (
                ("factuality_pearson", factual, values),
                ("factuality_spearman", _ranks(factual), _ranks(values)),
            ):
                e = result.get(name, method="plain", mode=mode, **{"with": curve})
                assert e.value == pytest.approx(statistics.correlation(x, y)), (name, mode, curve)
                assert e.n == 5
    for label, name in (("S", "supported"), ("NS", "unsupported")):
        for fifth in range(1, 6):
            e = result.get("none_flips", method="plain", part=f"{fifth}/5", **{"class": name})
            assert e.value == pytest.approx(share(flips[label, fifth]), abs=1e-12)


def test_the_command_asks_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sayso import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(tmp_path, "t.jsonl", [text("Mira Toll", "SNSIN"), text("Orm Bask", "SSNNS")])
    own = ["--set", "cache=cache", "--set", "resamples=100"]
    dry = ["factuality", "t.jsonl", "--model", "openai:gpt-4o", "--dry-run", *own]
    assert cli.execute(dry) == 0
    shown = capsys.readouterr().out
    assert "asking self-qa_none" in shown
    assert "total: $" in shown
    assert cli.execute([*dry, "--json"]) == 0
    low, high = json.loads(capsys.readouterr().out)["dollars"]
    assert 0 < low < high
    assert not (tmp_path / "runs").exists()
    command = ["factuality", "t.jsonl", "--model", "builtin", "--device", "cpu", "--out", "run"]
    assert cli.execute([*command, *own, "--set", "modes=direct,qa_none", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {e["where"].get("mode") for e in rows if e["name"] == "SK"} == {"direct", "qa_none"}
    assert (tmp_path / "run" / "report.html").exists()
    assert cli.execute(["factuality", "t.jsonl", "--set", "concurrency=3"]) == 2
    assert "concurrency is for endpoints" in capsys.readouterr().err
    assert cli.execute(["factuality", "t.jsonl", "--columns", "topic=who"]) == 2
    assert "names a missing column" in capsys.readouterr().err
