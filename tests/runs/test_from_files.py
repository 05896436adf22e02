"""sayso.factuality: texts in files, people's labels, a checker beside them, and bad input."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sayso
from sayso import report
from sayso.protocols import self_known
from sayso.protocols.self_known.measure import RULES_CHECK
from sayso.protocols.self_known.report import SelfKnownResults, along_chart, first_table
from sayso.records import Claim, Estimate, Generation, InputError, Passage, Verdict, signature_text
from sayso.report.number_tables import undefined_reasons
from sayso.runs.result import Result
from sayso.runs.run import factuality
from sayso.storage.run_folder import RunFolder


def write(folder: Path, name: str, rows: list[Any]) -> Path:
    place = folder / name
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def labeled(topic: str, letters: str, **more: Any) -> dict[str, Any]:
    """A text with a claim a sentence: S, N (not supported), I or ? (nobody could tell)."""
    says = {"S": "S", "N": "NS", "I": "IR", "?": None}
    text = " ".join(f"{topic} has thing number {n}." for n in range(len(letters)))
    claims = [
        {"text": f"{topic} has thing number {n}.", "label": says[x], "sentence": n + 1}
        for n, x in enumerate(letters)
    ]
    return {"topic": topic, "text": text, "claims": claims, **more}


def run(folder: Path, *files: Path, name: str = "run", **fields: Any) -> Result:
    options = self_known.Settings(**{"modes": "none", "resamples": 100, **fields})
    return factuality(
        list(files), folder / name, options=options, cache=folder / "cache", report=False
    )


def test_thoughts_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [
        {"topic": "Mira", "text": "<think>Is she 9?</think>Mira was born in Ripley."},
        {"topic": "Orm", "text": "<think>Orm was born in Oslo."},
    ]
    result = run(tmp_path, write(tmp_path, "one.jsonl", rows))
    texts = {g.text: g for g in RunFolder(result.path).read("generations/long", Generation)}
    assert texts.keys() == {"Mira was born in Ripley.", ""}
    assert texts[""].problem == "truncated"
    assert any("2 texts contained reasoning" in notice for notice in result.manifest.notices)


def test_labels_of_people_by_hand(tmp_path: Path) -> None:
    rows = [labeled("Mira", "SSNIN"), labeled("Orm", "S?SNN")]
    result = run(tmp_path, write(tmp_path, "one.jsonl", rows))
    where = "method:plain"
    # 2 of 4 and 2 of 4; one claim without a label
    assert result.get("factscore", where).value == 0.5
    assert result.get("factscore", where).missing == 1
    # with the claim as N or S: (2/4 + 2/5)/2 and (2/4 + 3/5)/2
    score = result.get("factscore", where)
    assert (score.bound_low, score.bound_high) == (pytest.approx(0.45), pytest.approx(0.55))
    fifths = [result.get("factuality", f"{where};part:{n}/5").value for n in range(1, 6)]
    assert fifths == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert result.get("irrelevant_share", where).value == pytest.approx(1 / 9)
    assert "support:people" in signature_text(result.get("factscore", where).signature)
    again = sayso.measure(tmp_path / "run")
    assert [msgspec.structs.astuple(e) for e in again.estimates] == [
        msgspec.structs.astuple(e) for e in result.estimates
    ]


def test_each_model_is_a_run_of_its_own(tmp_path: Path) -> None:
    one = write(tmp_path, "one.jsonl", [labeled("Mira", "SSS"), labeled("Orm", "SN")])
    two = write(tmp_path, "two.jsonl", [labeled("Mira", "NNS"), labeled("Orm", "NN")])
    with pytest.raises(InputError, match=r"texts of 2 models \(one, two\).*sayso study --answers"):
        run(tmp_path, one, two)
    assert run(tmp_path, one).get("factscore", "method:plain").value == 0.75
    found = run(tmp_path, two, name="two")
    assert found.get("factscore", "method:plain").value == pytest.approx(1 / 6)
    assert found.entities == 2
    assert found.manifest.shown_model == "two"
    with pytest.raises(InputError, match="is named twice"):
        run(tmp_path, one, one, name="twice")


def test_labeled_and_bare_texts_in_one_file(tmp_path: Path) -> None:
    """People labeled Mira's text; Orm's is taken apart and checked, and both are checked."""
    rows = [
        {
            "topic": "Mira Toll",
            "text": "Mira Toll was born in Ripley. Mira Toll is a judge.",
            "claims": [
                {"text": "Mira Toll was born in Ripley.", "label": "S", "sentence": 1},
                {"text": "Mira Toll is a judge.", "label": "S", "sentence": 2},
            ],
        },
        {"topic": "Orm Bask", "text": "Orm Bask was born in Paris. Orm Bask is a poet."},
        {"topic": "Orm Bask", "text": "I apologize, I do not have information on Orm Bask."},
        {"topic": "Zed Alone", "text": "Zed Alone is a poet."},
    ]
    wiki = write(
        tmp_path,
        "wiki.jsonl",
        [
            {"title": "Mira Toll", "text": "Mira Toll was born in Ripley."},
            {"title": "Orm Bask", "text": "Orm Bask is a poet."},
        ],
    )
    texts = write(tmp_path, "t.jsonl", rows)
    result = run(tmp_path, texts, knowledge=str(wiki))
    where = "method:plain"
    # Mira by people 2/2, Orm by the rules 1/2, Nobody has no passage
    got = result.get("factuality_micro", where)
    assert (got.numerator, got.denominator) == (3.0, 4.0)
    assert result.get("claims_without_label", f"{where};problem:unretrieved").numerator == 1.0
    rate = result.get("response_rate", where)
    assert (rate.numerator, rate.denominator) == (3.0, 4.0)
    # the checker beside people on Mira's two: one of two agrees
    assert result.get("verifier_agreement", where).value == 0.5
    assert result.get("verifier_bias", where).value == -0.5
    assert result.get("verifier_bias", f"{where};part:3/5").value == 0.0  # sentence 1 of 2
    assert result.get("verifier_bias", f"{where};part:5/5").value == -1.0
    # without a source the same file says what is missing
    bare = run(tmp_path, texts, name="bare")
    assert any(
        "3 claims have no label: name a knowledge source" in n for n in bare.manifest.notices
    )


def test_an_empty_text_without_claims_does_not_answer(tmp_path: Path) -> None:
    rows = [labeled("Mira", "SSN"), labeled("Orm", "S"), labeled("Tove", "")]
    result = run(tmp_path, write(tmp_path, "some.jsonl", rows))
    rate = result.get("response_rate", "method:plain")
    assert (rate.numerator, rate.denominator) == (2.0, 3.0)
    assert result.get("claims_per_answer", "method:plain").value == 2.0
    empty, bare = (
        result.get("answers_without_claims", method="plain", problem=why)
        for why in ("empty", "no claim")
    )
    assert (empty.numerator, empty.denominator) == (1.0, 3.0)
    assert (bare.numerator, bare.denominator) == (0.0, 2.0)


def test_claims_that_are_not_in_the_text(tmp_path: Path) -> None:
    row = {
        "topic": "Mira",
        "text": "Mira is a poet. She lives in Ripley.",
        "claims": [
            {"text": "Mira is a poet.", "label": "S"},  # found by its words in sentence 1
            {"text": "Zebras gallop over distant plains.", "label": "NS"},  # nowhere
            {"text": "Mira lives.", "label": "S", "sentence": 9},  # there is no such sentence
            {"text": "", "label": "NS"},
        ],
    }
    result = run(tmp_path, write(tmp_path, "t.jsonl", [row]))
    astray = result.get("claims_without_sentence", "method:plain")
    assert (astray.numerator, astray.denominator) == (3.0, 4.0)
    # they count for the text, and not for its parts
    assert result.get("factuality_micro", "method:plain").value == 0.5
    parts = [result.get("factuality", f"method:plain;part:{n}/5").value for n in range(1, 6)]
    assert parts == [None, None, 1.0, None, None]
    claims = RunFolder.open(tmp_path / "run").read("claims/long", Claim)
    assert [c.sentence for c in claims] == [1, 0, 9, 0]


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\x00\x07\x1b[31m", "...", "?!", "\u202e\u200b", "- \n- \n", "😀", "a" * 20_000],
)
def test_texts_without_sentences(tmp_path: Path, text: str) -> None:
    wiki = write(tmp_path, "w.jsonl", [{"title": "X", "text": "X is a poet."}])
    rows = [{"topic": "X", "text": text}, {"topic": "X", "text": "X is a poet."}]
    result = run(tmp_path, write(tmp_path, "t.jsonl", rows), knowledge=str(wiki))
    assert result.get("factuality_micro", "method:plain").numerator == 1.0
    for e in result.estimates:
        assert e.value is not None or e.problem, e


def test_two_hundred_sentences(tmp_path: Path) -> None:
    result = run(tmp_path, write(tmp_path, "t.jsonl", [labeled("Mira", "S" * 120 + "N" * 80)]))
    fifths = [result.get("factuality", f"method:plain;part:{n}/5").value for n in range(1, 6)]
    assert fifths == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert result.get("factuality", "method:plain;part:1/5").n == 40
    # one text has no interval, and says so
    assert result.get("trend", "method:plain").low is None


NINE_CLAIMS = [labeled("Ada", "SSSN"), labeled("Jane", "SSNNN")]


def test_two_texts_tell_no_trend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A slope of two texts has neither an interval nor a sentence, and says why."""
    result = run(tmp_path, write(tmp_path, "texts.jsonl", NINE_CLAIMS), resamples=1000)
    slope = result.get("trend", "method:plain")
    assert slope.value is not None
    assert (slope.low, slope.high) == (None, None)
    assert slope.problem == "2 texts cannot show a trend, which needs 10 topics"
    page = RunFolder.open(report.write(result.path).parent).path / "report.html"
    shown = " ".join(page.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ").split())
    assert "slope along the text): 2 texts cannot show a trend" in shown
    assert "towards the end" not in shown


def test_texts_on_one_topic_are_one_cluster(tmp_path: Path) -> None:
    rows = [labeled("Ada", "SSSNN") for _ in range(12)]
    slope = run(tmp_path, write(tmp_path, "t.jsonl", rows)).get("trend", "method:plain")
    assert slope.low is None
    assert slope.problem == "12 texts about 1 topic cannot show a trend, which needs 10 topics"


def test_no_interval_is_wider_than_its_scale(tmp_path: Path) -> None:
    """Two texts bound hardly anything: means of counts ran to a hundred thousand."""
    result = run(tmp_path, write(tmp_path, "texts.jsonl", NINE_CLAIMS), resamples=1000)
    for e in result.estimates:
        if e.low is None or e.high is None:
            continue
        if e.name.endswith(("_per_sentence", "_per_answer")):
            assert e.high <= 10 * (e.value or 0), e
        else:
            assert e.high - e.low < 1.99, e
    why = "no interval: too few topics to bound it"
    dropped = [e for e in result.estimates if e.problem == why]
    assert dropped
    assert all(e.value is not None and e.low is None for e in dropped)


def test_a_part_without_a_claim_is_not_quoted(tmp_path: Path) -> None:
    """Texts of four sentences never reach the first fifth: it has a reason and no value."""
    rows = [labeled(f"Person {n}", "SSNN" if n % 2 else "SNNN") for n in range(12)]
    result = run(tmp_path, write(tmp_path, "t.jsonl", rows))
    assert result.get("factuality", "method:plain;part:1/5").value is None
    shown = first_table(SelfKnownResults(result.estimates))
    parts = [e for (label,), (e,) in shown.rows if "in part" in label]
    assert [e and e.value for e in parts if not isinstance(e, str)] == [
        result.get("factuality", f"method:plain;part:{n}/5").value for n in range(1, 6)
    ]
    assert any("part 1/5" in note for note in undefined_reasons(shown))


@pytest.mark.parametrize("name", ["texts", "long texts", "of", "ChatGPT"])
def test_the_title_is_english_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, write(tmp_path, f"{name}.jsonl", NINE_CLAIMS))
    page = report.write(result.path).read_text(encoding="utf-8")
    assert "<h1>Where are these long texts wrong?</h1>" in page
    assert f"<title>Where are these long texts wrong? {name} – sayso</title>" in page


def test_abstentions_of_factscore_are_counted(tmp_path: Path) -> None:
    rows = [
        {"topic": "A", "output": "I do not know A.", "annotations": None},
        {
            "topic": "B",
            "output": "B is a poet.",
            "annotations": [
                {
                    "text": "B is a poet.",
                    "is-relevant": True,
                    "human-atomic-facts": [{"text": "B is a poet.", "label": "NS"}],
                }
            ],
        },
    ]
    result = run(tmp_path, write(tmp_path, "t.jsonl", rows))
    assert result.get("response_rate", "method:plain").value == 0.5
    assert result.get("factscore", "method:plain").value == 0.0


def test_what_cannot_be_done_is_told_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    good = write(tmp_path, "t.jsonl", [labeled("Mira", "S")])
    empty = write(tmp_path, "e.jsonl", [])
    hot = dataclasses.replace(self_known.Settings().answer, temperature=0.3)
    for files, fields, message in (
        ([], {}, "no file of answers"),
        ([empty], {}, "is empty"),
        ([tmp_path / "no.jsonl"], {}, "does not exist"),
        ([tmp_path / "t.txt"], {}, "expected a file ending in"),
        ([good], {"knowledge": "golds"}, "name a source"),
        ([good], {"knowledge": str(tmp_path / "nothing.jsonl")}, "nothing.jsonl"),
        ([good], {"support": "judge"}, "pass --judge MODEL"),
        ([good], {"bins": 0}, "bins is 0"),
        ([good], {"answer": hot}, "answer.temperature applies only if a model is asked for"),
    ):
        if fields.get("support"):
            fields = {**fields, "knowledge": str(good)}
        with pytest.raises(InputError, match=message) as told:
            run(tmp_path, *files, name="bad", **fields)
        assert "\n" not in str(told.value)
        assert not (tmp_path / "bad").exists(), message


def test_an_index_that_was_cut_short_is_told_and_can_be_built_again(tmp_path: Path) -> None:
    wiki = write(tmp_path, "w.jsonl", [{"title": "X", "text": "X is a poet."}])
    texts = write(tmp_path, "t.jsonl", [{"topic": "X", "text": "X is a poet."}])
    run(tmp_path, texts, knowledge=str(wiki), name="first")
    (index,) = (p for p in (tmp_path / "cache" / "knowledge").iterdir() if p.is_dir())
    (file,) = index.glob("*.term")
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(InputError, match=r"damaged or not an index.*delete it"):
        run(tmp_path, texts, knowledge=str(wiki), name="second")
    assert not (tmp_path / "second").exists()
    shutil.rmtree(index)
    third = run(tmp_path, texts, knowledge=str(wiki), name="third")
    assert third.get("factuality_micro", "method:plain").value == 1.0


values = st.text(max_size=30) | st.none() | st.integers(-3, 12) | st.booleans()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"topic": st.text(max_size=10), "text": st.text(max_size=120)},
            optional={
                "claims": st.lists(
                    st.fixed_dictionaries(
                        {"text": st.text(max_size=20)},
                        optional={
                            "label": st.sampled_from(["S", "NS", "IR", None]),
                            "sentence": values,
                        },
                    ),
                    max_size=4,
                )
            },
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_texts_are_measured(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    result = run(folder, write(folder, "t.jsonl", rows))
    kept = RunFolder.open(folder / "run")
    texts = {g.id: g.text for g in kept.read("generations/long", Generation)}
    for c in kept.read("claims/long", Claim):
        assert 0 <= c.start <= c.end <= len(texts[c.generation])
    for e in result.estimates:
        assert all(x == x for x in msgspec.structs.astuple(e)), e


def test_all_that_is_kept_of_a_check(tmp_path: Path) -> None:
    wiki = write(tmp_path, "w.jsonl", [{"title": "X", "text": "X is a poet. X was born in Rome."}])
    texts = write(tmp_path, "t.jsonl", [{"topic": "X", "text": "X is a poet. X is a judge."}])
    result = run(tmp_path, texts, knowledge=str(wiki))
    assert f"knowledge {wiki}: 1 documents, 1 passages" in result.manifest.notices
    kept = RunFolder.open(tmp_path / "run")
    passages = {p.id for p in kept.read("passages/long", Passage)}
    verdicts = kept.read("verdicts/long-support", Verdict)
    assert [v.label for v in verdicts] == ["S", "NS"]
    assert all(set(v.evidence) <= passages and v.evidence for v in verdicts)


def test_three_systems_get_worse_along_the_text_by_peoples_labels(
    test_data: Path, tmp_path: Path
) -> None:
    """Done when 2: S/(S+NS) falls from the first fifth to the last, and inside texts too."""
    names = ("InstructGPT", "ChatGPT", "PerplexityAI")
    files = [test_data / "factscore" / f"{name}.jsonl" for name in names]
    for name, file in zip(names, files, strict=True):
        result = run(tmp_path, file, name=name)
        first, last = (result.get("factuality", f"method:plain;part:{part}/5") for part in (1, 5))
        assert first.low is not None
        assert last.high is not None
        assert first.low > last.high, name
        slope = result.get("trend", "method:plain")
        assert slope.high is not None
        assert slope.high < 0


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sayso import cli

    monkeypatch.chdir(tmp_path)
    write(tmp_path, "t.jsonl", [labeled("Mira", "SSNNN"), labeled("Orm", "SSSSN")])
    assert (
        cli.execute(["factuality", "t.jsonl", "--out", "run", "--set", "resamples=100", "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    rows = (
        found if isinstance(found, list) else next(v for v in found.values() if isinstance(v, list))
    )
    scores = [(e["where"], e["value"]) for e in rows if e["name"] == "factscore"]
    assert scores == [({"method": "plain"}, pytest.approx(0.6))]
    assert (tmp_path / "run" / "report.html").exists()
    assert cli.execute(["factuality", "no.jsonl"]) == 2
    told = capsys.readouterr().err.strip()
    assert "does not exist" in told
    assert "Traceback" not in told


def test_a_prompt_is_no_title_and_a_passage_must_name_whom_a_claim_is_about(tmp_path: Path) -> None:
    wiki = [
        {"title": "Mira Toll", "text": "She was born in Ripley. She wrote Emerald Days."},
        {"title": "Orm Bask", "text": "He was born in Kelso."},
    ]
    rows = [
        {"prompt": "Tell me about Mira Toll.", "text": "Mira Toll was born in Ripley."},
        {"question": "Who was Mira Toll?", "text": "Mira Toll was born in Kelso."},
        {"prompt": "Tell me about Jo Reed.", "text": "Jo Reed was born in Kelso."},
    ]
    source = str(write(tmp_path, "wiki.jsonl", wiki))
    result = run(tmp_path, write(tmp_path, "a.jsonl", rows), knowledge=source)
    found = RunFolder.open(tmp_path / "run").read("verdicts/long-support", Verdict)
    claims = RunFolder.open(tmp_path / "run").read("claims/long", Claim)
    assert len(claims) == 3
    labels = {c.text.rstrip("."): v.label for c in claims for v in found if v.target == c.id}
    # that somebody else was born in Kelso bears out nothing of Mira Toll or Jo Reed
    assert labels == {
        "Mira Toll was born in Ripley": "S",
        "Mira Toll was born in Kelso": "NS",
        "Jo Reed was born in Kelso": "NS",
    }
    assert result.get("factuality_micro", "method:plain").value == pytest.approx(1 / 3)


def test_a_prompt_is_never_a_subject(tmp_path: Path) -> None:
    """What a prompt of a usual form names is the subject, else the name that opens the text."""
    text = "Mira Toll is a Dutch poet. She taught in Orm."
    told = "She is a Dutch poet. She taught in Orm."
    rows = [
        {"prompt": "Tell me about Mira Toll.", "text": told},
        {"question": "Which Dutch poets taught?", "text": text},
        {"text": text},
    ]
    run(tmp_path, write(tmp_path, "a.jsonl", rows))
    claims = RunFolder.open(tmp_path / "run").read("claims/long", Claim)
    plain = ["Mira Toll is a Dutch poet", "Mira Toll taught in Orm"]
    assert [c.text.rstrip(".") for c in claims] == 3 * plain


WIKI = [{"title": name, "text": f"{name} wrote plays in Paris."} for name in ("Ada", "Jane", "Orm")]


def test_who_checks_by_rules_is_told_first(tmp_path: Path) -> None:
    """An invented claim that uses a passage's names passes: the reader must know."""
    rows = [{"topic": "Ada", "text": "Ada was a spy in Paris."}]
    source = str(write(tmp_path, "wiki.jsonl", WIKI))
    texts = write(tmp_path, "a.jsonl", rows)
    checked = run(tmp_path, texts, knowledge=source).manifest
    assert checked.cautions[0] == RULES_CHECK
    assert "--judge MODEL" in RULES_CHECK
    assert RULES_CHECK not in run(tmp_path, texts, name="bare").manifest.cautions
    people = write(tmp_path, "b.jsonl", [labeled("Ada", "SN")])
    assert RULES_CHECK not in run(tmp_path, people, name="people").manifest.cautions


def test_empty_texts_are_told_apart_from_refusals(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [labeled(f"Person {n}", "SN") for n in range(3)]
    rows += [{"topic": "Ada", "text": ""}]
    result = run(tmp_path, write(tmp_path, "a.jsonl", rows))
    assert [c for c in result.manifest.cautions if "answer" in c] == []
    assert "plain: 1 of 4 texts is empty and left out." in result.manifest.cautions
    rows += [{"topic": "Orm", "text": "I apologize, I do not have information on Orm."}]
    both = run(tmp_path, write(tmp_path, "a.jsonl", rows), name="both").manifest.cautions
    assert "plain: 1 of 5 texts is empty and left out." in both
    assert any(
        c.startswith("plain: 20 % of the texts do not answer, judged by refusal phrases")
        for c in both
    )


def test_below_ten_topics_no_part_has_an_interval_or_a_line(tmp_path: Path) -> None:
    def drawn(topics: int) -> tuple[list[Estimate], str]:
        rows = [labeled(f"Person {n}", "SSNSN" if n % 2 else "SNNSS") for n in range(topics)]
        file = write(tmp_path, f"{topics}.jsonl", rows)
        result = run(tmp_path, file, name=f"run-{topics}", resamples=1000)
        parts = [e for e in result.estimates if "part" in dict(e.where) and e.value is not None]
        figure = along_chart(SelfKnownResults(result.estimates), 700)
        assert figure is not None
        return [e for e in parts if e.low is not None], figure.to_json()

    few, chart = drawn(9)
    assert few == []
    assert '"line"' not in chart
    some, chart = drawn(10)
    assert some
    assert '"line"' in chart


def test_texts_that_claim_nothing_are_counted_and_told(tmp_path: Path) -> None:
    rows = [
        {"topic": "Mira Toll", "text": "Mira Toll was born in Ripley."},
        {"topic": "Orm Bask", "text": "I'm sorry, I don't know anything about Orm Bask."},
        {"topic": "Jo Reed", "text": ""},
    ]
    result = run(tmp_path, write(tmp_path, "a.jsonl", rows))
    bare = result.get("answers_without_claims", "method:plain;problem:no claim")
    assert (bare.numerator, bare.denominator) == (1.0, 2.0)  # the empty text does not answer
    assert any(
        c.startswith("plain: 50 % of the texts claim nothing") for c in result.manifest.cautions
    )
    assert "claims:claims-rules@4|" in signature_text(bare.signature)


def test_a_file_without_an_answer_was_read_by_nobody(tmp_path: Path) -> None:
    rows = [{"topic": "Mira Toll", "text": ""}]
    result = run(tmp_path, write(tmp_path, "a.jsonl", rows))
    assert "claims:nobody|" in signature_text(result.get("factscore", "method:plain").signature)
    mixed = [
        *rows,
        labeled("Orm", "SN"),
        {"topic": "Jo Reed", "text": "Jo Reed was born in Kelso."},
    ]
    both = run(tmp_path, write(tmp_path, "b.jsonl", mixed), name="both")
    assert "claims:claims-rules@4+people|" in signature_text(
        both.get("factscore", "method:plain").signature
    )
