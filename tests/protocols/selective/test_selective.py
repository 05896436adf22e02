"""The selective protocol on questions that fit on a page, with hand-counted numbers."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

import sayso
from sayso import datasets
from sayso.answers.lexical import reference_texts
from sayso.options import as_dict
from sayso.protocols import selective, settings, uncle
from sayso.protocols.protocol import first_asks
from sayso.protocols.selective.measure import judge_of
from sayso.protocols.selective.run import steps as selective_steps
from sayso.protocols.uncle.run import steps as uncle_steps
from sayso.records import (
    Estimate,
    Generation,
    Gold,
    InputError,
    Question,
    Request,
    Score,
    Signature,
    Verdict,
    request_key,
    slice_text,
)
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

#: question -> gold, greedy answer, its log-probability a token, the draws
SAID = {
    "What is the capital of France?": ("Paris", "Paris", -0.1, ["Paris", "Paris"]),
    "What is the capital of Italy?": ("Rome", "Milan", -2.0, ["Milan", "Turin"]),
    "What is the capital of Norway?": ("Oslo", "It is Oslo of course", -0.2, ["Oslo", "Oslo"]),
    "What is the capital of Peru?": ("Lima", "Cusco", -0.5, ["Lima", "Cusco"]),
}
TWO = selective.Settings(draws=selective.SelectiveDraws(k=2), known_k=2, resamples=100)


def spoken(request: Request, text: str, logprob: float) -> Generation:
    starts = [i for i in range(len(text)) if i == 0 or text[i - 1] == " "]
    return Generation(
        request,
        text=text,
        logprob_kind="model",
        token_ids=tuple(range(len(starts))),
        offsets=tuple(starts),
        logprobs=tuple(logprob for _ in starts),
        entropies=tuple(-logprob for _ in starts),
        finish="stop",
    )


def reply(request: Request) -> Generation:
    text = request.messages[-1].content
    question = next(q for q in SAID if q in text)
    _, said, logprob, draws = SAID[question]
    if "ncertainty" in text and "Peru" in question:
        return spoken(request, "I am not sure.", -0.3)
    if request.greedy:
        return spoken(request, said, logprob)
    return spoken(request, draws[request.sample % len(draws)], logprob)


def engine() -> ScriptedEngine:
    return ScriptedEngine(reply, name="four", logprob=-0.5)


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [{"question": q, "answer": gold} for q, (gold, *_) in SAID.items()]
    return f"triviaqa:{write(tmp_path / 'four.jsonl', rows)}"


def value(found: list[Estimate], name: str, where: str) -> float | None:
    return one(found, name, where).value


def one(found: list[Estimate], name: str, where: str) -> Estimate:
    (estimate,) = [e for e in found if e.name == name and slice_text(e.where) == where]
    return estimate


def test_four_questions_by_hand(tmp_path: Path, data: str) -> None:
    result = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=TWO, report=False
    )
    found = result.estimates
    rules, rouge = "form:short;against:rules", "form:short;against:rouge_l"
    # by the rules Milan and Cusco are wrong; by ROUGE-L the five words about Oslo too: 2/(1+5)
    assert value(found, "error_rate", rules) == 2 / 4
    assert value(found, "error_rate", rouge) == 3 / 4
    # -log p: .1, 2, 1 (five tokens of .2), .5; wrong 2 and .5: they win 3 of 4 pairs
    score = "score:sequence_probability"
    assert value(found, "auroc", f"{rules};{score}") == 3 / 4
    # against ROUGE-L 2, 1 and .5 are wrong and .1 is right
    assert value(found, "auroc", f"{rouge};{score}") == 1.0
    # perplexity: .1, 2, .2, .5 a token: the wrong ones win every pair
    assert value(found, "auroc", f"{rules};score:perplexity") == 1.0
    # words: 1, 1, 5, 1: two wrong of one word tie once and lose once each
    assert value(found, "auroc", f"{rules};score:length_words") == 1 / 4
    # meanings of the draws: 1, 2, 1, 2
    assert value(found, "auroc", f"{rules};score:num_sets") == 1.0
    # no draw about Italy is right
    unknown = "form:short;against:unknown"
    assert value(found, "share_unknown", unknown) == 1 / 4
    # told to voice doubt it hedges about Peru: of three answers given, Milan is wrong
    words = f"{rules};score:words"
    assert value(found, "coverage_of_words", words) == 3 / 4
    assert value(found, "risk_of_words", words) == pytest.approx(1 / 3)
    assert value(found, "auroc", words) == 3 / 4
    # the most certain half by perplexity is right, the whole is wrong in two of four
    curve = f"{rules};score:sequence_probability;coverage:"
    assert value(found, "risk", f"{curve}1") == pytest.approx(2 / 4)
    assert value(found, "risk", f"{curve}0.5") == pytest.approx(1 / 2)  # Paris, Cusco
    # right are Paris and Oslo, and ROUGE-L refuses the longer one
    assert value(found, "false_negatives", rouge) == 1 / 2


def test_metrics_agree_and_references_have_lengths_by_hand(tmp_path: Path, data: str) -> None:
    found = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=TWO, report=False
    ).estimates
    # right by rules: Paris, Oslo; "It is Oslo of course" is exact to nobody, and Rouge-L is
    # 2 * 1/5 / (1 + 1/5) = 1/3: three of four verdicts are the same
    pair = one(found, "metric_agreement", "form:short;against:rules;metric:exact_match")
    assert (pair.value, pair.n) == (0.75, 4)


def test_scores_that_cannot_be_computed_say_why(tmp_path: Path, data: str) -> None:
    result = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=TWO, report=False
    )
    where = "form:short;against:rules;score:"
    assert "hidden states" in (one(result.estimates, "auroc", f"{where}p_ik").problem or "")
    assert "not detect contradiction" in (
        one(result.estimates, "auroc", f"{where}selfcheck_nli").problem or ""
    )
    asked = one(result.estimates, "auroc", f"{where}verbalized").problem
    assert asked is not None
    assert "needs further questions to the model" in asked


def test_the_confidence_that_an_answer_states_is_its_verbalized_confidence(
    tmp_path: Path, data: str
) -> None:
    told = {
        "France": "Paris\nConfidence: 95%",
        "Italy": "I'm 30% sure that it is Milan.",
        "Norway": "Oslo (confidence 8/10)",
        "Peru": "Lima",
    }

    def stating(request: Request) -> str:
        text = request.messages[-1].content
        return next(answer for name, answer in told.items() if name in text)

    model = ScriptedEngine(stating, name="text")
    result = sayso.run(
        "selective", model=model, data=data, out=tmp_path / "r", options=TWO, report=False
    )
    folder = RunFolder.open(result.path)
    scores = {s.target: s for s in folder.read("scores/short", Score) if s.method == "verbalized"}
    answers = folder.read("generations/short", Generation)
    values = [scores[g.id].value for g in answers if not g.instructed]
    assert values[:3] == pytest.approx([0.05, 0.7, 0.2])
    assert values[3] is None
    assert value(result.estimates, "auroc", "form:short;against:rules;score:verbalized") == 1.0


def test_without_log_probs_the_others_remain(tmp_path: Path, data: str) -> None:
    def plain(request: Request) -> str:
        return reply(request).text

    model = ScriptedEngine(plain, name="text")
    result = sayso.run(
        "selective", model=model, data=data, out=tmp_path / "r", options=TWO, report=False
    )
    where = "form:short;against:rules;score:"
    assert value(result.estimates, "auroc", f"{where}num_sets") == 1.0
    missing = one(result.estimates, "auroc", f"{where}perplexity")
    assert missing.value is None
    assert missing.problem
    (caution,) = result.manifest.cautions
    assert "no log-probabilities" in caution


def test_draws_that_never_vary_are_said_first(tmp_path: Path) -> None:
    world = facts(8)
    mind = Mind(world, lambda f: 1.0)
    file = write(tmp_path / "w.jsonl", records(world))
    result = sayso.run(
        "selective",
        model=mind.engine(),
        data=str(file),
        out=tmp_path / "r",
        options=TWO,
        report=False,
    )
    assert any(text.startswith("The draws never vary") for text in result.manifest.cautions)


def test_a_second_run_asks_nothing_and_measures_the_same(tmp_path: Path, data: str) -> None:
    first = engine()
    one_run = sayso.run(
        "selective", model=first, data=data, out=tmp_path / "r", options=TWO, report=False
    )
    again = engine()
    two_run = sayso.run(
        "selective", model=again, data=data, out=tmp_path / "r", options=TWO, report=False
    )
    assert (len(first.requests), len(again.requests)) == (4 * (2 + 2), 0)
    assert two_run.estimates == one_run.estimates
    assert sayso.measure(tmp_path / "r").estimates == one_run.estimates
    same = sayso.compare(tmp_path / "r", tmp_path / "r", resamples=100)
    assert {e.value for e in same.estimates} == {0.0}


def test_killed_and_started_again_nothing_is_asked_twice(tmp_path: Path, data: str) -> None:
    killed = ScriptedEngine(reply, name="four", logprob=-0.5, kill_after=7)
    place = {"data": data, "out": tmp_path / "r", "options": TWO}
    with pytest.raises(KeyboardInterrupt):
        sayso.run("selective", model=killed, **place, report=False)
    rest = engine()
    sayso.run("selective", model=rest, **place, report=False)
    assert len(killed.requests) + len(rest.requests) == 4 * 4


def test_other_thresholds_need_no_new_answers(tmp_path: Path, data: str) -> None:
    sayso.run("selective", model=engine(), data=data, out=tmp_path / "r", options=TWO, report=False)
    kind = sayso.measure(tmp_path / "r", rouge_threshold=0.3).estimates
    assert value(kind, "error_rate", "form:short;against:rouge_l") == 2 / 4  # .33 is right now
    for changes in ({"draws.k": 3}, {"nli": "llm:x"}, {"words": False}):
        with pytest.raises(InputError, match="changes what is asked"):
            sayso.measure(tmp_path / "r", **changes)
    with pytest.raises(InputError, match=r"probe\.k"):
        sayso.measure(tmp_path / "r", **{"probe.k": 3})


def test_the_pool_is_shared_with_uncle() -> None:
    found = datasets.load_dataset("builtin", limit=3)
    ours = first_asks(selective_steps(found.questions, selective.Settings(), seed=0))
    theirs = first_asks(uncle_steps(found.questions, uncle.Settings(), seed=0))
    keys = {request_key(ask.request, "m") for ask in ours}
    assert {request_key(ask.request, "m") for ask in theirs} < keys
    # ten draws, the answer and the told answer of 18 facts; two of each of 3 paragraphs
    assert len(keys) == 18 * 12 + 3 * 2


def test_the_papers_prompt_is_a_text_to_complete() -> None:
    questions = [
        Question(f"q{i}", "s", f"How many? ({i})", (Gold(str(i)),), context=f"Story {i}.")
        for i in range(8)
    ]
    chosen = selective.Settings(prompts="paper", mode="short", draws=selective.SelectiveDraws(k=2))
    asks = first_asks(selective_steps(questions, chosen, seed=0))
    assert len({a.question.id for a in asks}) == 8 - 5  # five are examples
    asked = next(a for a in asks if a.stage == "short")
    text = asked.request.messages[0].content
    assert text.endswith(
        f"Context: {asked.question.context}\nQuestion: {asked.question.text}\nAnswer:"
    )
    assert text.count("Answer:") == 6
    assert (asked.request.temperature, asked.request.max_tokens) == (0.1, 50)
    assert asked.request.stop == ("\n", "Question:", "Context:")
    assert asked.question.text not in text.rpartition("Context:")[0]  # it is no example of itself
    sentence = first_asks(
        selective_steps(questions, dataclasses.replace(chosen, mode="sentence"), seed=0)
    )
    assert len({a.question.id for a in sentence}) == 8
    assert {a.request.max_tokens for a in sentence} == {100}
    assert not any(a.instructed for a in asks)


def test_known_by_the_first_draws_only(tmp_path: Path, data: str) -> None:
    late = {**SAID, "What is the capital of Italy?": ("Rome", "Milan", -2.0, ["Milan", "Rome"])}

    def second_draw_knows(request: Request) -> Generation:
        text = request.messages[-1].content
        _, said, logprob, draws = next(late[q] for q in late if q in text)
        return spoken(request, said if request.greedy else draws[request.sample], logprob)

    shares = []
    for number in (1, 2):
        chosen = dataclasses.replace(TWO, known_k=number)
        answering = ScriptedEngine(second_draw_knows, name="late", logprob=-0.5)
        result = sayso.run(
            "selective", model=answering, data=data, out=tmp_path / str(number),
            options=chosen, report=False,
        )  # fmt: skip
        shares.append(value(result.estimates, "share_unknown", "form:short;against:unknown"))
    # the first draw about Rome is wrong, the second right
    assert shares == [1 / 4, 0]


def test_every_setting_is_in_the_signature(tmp_path: Path, data: str) -> None:
    other = {
        "draws.k": 3, "draws.temperature": 0.7, "answer.temperature": 0.5,
        "answer.short_tokens": 9, "prompts": "paper", "scores": "perplexity,length_words",
        "words": False, "known_k": 1, "abstained": "excluded", "rouge_threshold": 0.4,
        "f1_threshold": 0.4, "resamples": 150, "ci_seed": 3,
        "context": "twins",
    }  # fmt: skip
    where_used = {  # not in these runs, whose questions, forms and evidence need none of them
        "answer.long_tokens", "answer_metrics", "bert_threshold", "elicit", "mode", "nli",
        "p_ik.folds", "p_ik.layer", "p_ik.position", "p_ik.standardize", "p_true.examples",
        "panel", "prompt_folder", "shots", "want",
    }  # fmt: skip
    assert {*as_dict(TWO)} == {*other, *where_used}
    base = dataclasses.replace(TWO, scores="num_sets,length_words")
    run = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=base, report=False
    )
    plain = run.estimates[0].signature
    for name, new in other.items():
        chosen = settings.replace(base, {name: new})
        place = tmp_path / name
        result = sayso.run(
            "selective", model=engine(), data=data, out=place, options=chosen, report=False
        )
        assert result.estimates[0].signature != plain, name


@tabled
def test_settings_with_which_nothing_could_be_measured(change: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        settings.replace(selective.Settings(), change).check()


def test_references_are_texts_that_somebody_says() -> None:
    day = Gold("1946-08-15T00:00:00Z", kind="date")
    assert reference_texts((day,)) == ["15 August 1946", "August 15, 1946"]
    year = Gold("1900-01-01T00:00:00Z", kind="date")
    assert reference_texts((year,)) == ["1900", "1 January 1900", "January 1, 1900"]
    two = (Gold("nose", ("beak",)), Gold("ear"))
    assert reference_texts(two) == ["nose", "beak", "ear", "nose and ear"]


def test_paragraphs_are_scored_by_their_values(tmp_path: Path) -> None:
    world = facts(20)
    mind = Known(world, lambda f: float(chance("knows", f.question) < 0.5))
    file = write(tmp_path / "w.jsonl", records(world))
    result = sayso.run(
        "selective",
        model=mind.engine(),
        data=str(file),
        out=tmp_path / "r",
        options=TWO,
        report=False,
    )
    where = "form:long;against:rules;score:sequence_probability"
    found = one(result.estimates, "auroc", where)
    # a known fact has -.1 a token, an unknown one -1.5 unless it is guessed right
    assert found.value is not None
    assert found.value > 0.9
    assert found.n + found.missing == len(world)
    text = (result.path / "manifest.json").read_text(encoding="utf-8")
    assert json.loads(text)["protocols"] == ["selective"]


class Known(Mind):
    """A mind whose log-probabilities say of which distribution they are."""

    @staticmethod
    def _reply(request: Request, sentences: list[tuple[str, float]]) -> Generation:
        import msgspec

        return msgspec.structs.replace(Mind._reply(request, sentences), logprob_kind="model")


def test_semantic_entropy_of_the_run_is_that_of_its_draws(tmp_path: Path, data: str) -> None:
    result = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=TWO, report=False
    )
    scores = [
        s
        for s in RunFolder.open(result.path).read("scores/short", Score)
        if s.method == "discrete_semantic_entropy" and s.target
    ]
    assert sorted(s.value for s in scores) == pytest.approx([0, 0, math.log(2), math.log(2)])


class Stranger:
    """A judge that is no rules: it reads nothing about Italy, and takes all else for right."""

    name = "stranger"
    signature = "stranger#p1"

    def grade(self, items):
        return [
            Verdict(i.generation.id, q.id, self.name, problem="unread")
            if "Italy" in q.text
            else Verdict(i.generation.id, q.id, self.name, stance="committed", content="correct")
            for i in items
            for q in i.questions
        ]


def test_another_judge_stands_beside_the_rules(tmp_path: Path, data: str) -> None:
    result = sayso.run(
        "selective",
        model=engine(),
        data=data,
        judge=Stranger(),
        out=tmp_path / "r",
        options=TWO,
        report=False,
    )
    theirs = one(result.estimates, "error_rate", "form:short;against:stranger#p1")
    assert (theirs.value, theirs.n, theirs.missing) == (0.0, 3, 1)
    # whatever it would have said of the unread one
    assert (theirs.bound_low, theirs.bound_high) == (0.0, 1 / 4)
    assert value(result.estimates, "error_rate", "form:short;against:rules") == 2 / 4
    ranked = one(result.estimates, "auroc", "form:short;against:stranger#p1;score:perplexity")
    assert ranked.value is None
    assert ranked.problem == "all 3 answers are correct: a ranking needs at least 5 of each kind"
    assert sayso.measure(tmp_path / "r").estimates == result.estimates


@pytest.mark.parametrize("changes", [{"draws.k": 0}, {"known_k": 0}, {"words": False}])
def test_parts_can_be_left_out(changes: dict, tmp_path: Path, data: str) -> None:
    chosen = settings.replace(TWO, changes)
    result = sayso.run(
        "selective", model=engine(), data=data, out=tmp_path / "r", options=chosen, report=False
    )
    where = "form:short;against:rules;score:"
    assert value(result.estimates, "auroc", f"{where}perplexity") == 1.0
    has_unknown = any(e.name == "share_unknown" for e in result.estimates)
    assert has_unknown == ("words" in changes)
    if "draws.k" in changes:
        told = one(result.estimates, "auroc", f"{where}num_sets").problem
        assert told == "needs several draws of the question"


@pytest.mark.parametrize(
    ("signature", "name"),
    [("rules@2", "rules"), ("rules@2+gpt#p1", "rules@2+gpt#p1"), ("openai:x#p9", "openai:x#p9")],
)
def test_only_the_rules_alone_are_called_rules(signature: str, name: str) -> None:
    class Told:
        def signature(self, **parts: str) -> Signature:
            return (("data", "x"), ("judge", signature), ("seed", "0"))

    assert judge_of(Told()) == name


def test_one_purpose_asks_what_it_needs(tmp_path: Path) -> None:
    """Whether a model declines takes one request a question; scores only what has an answer."""
    rows = [{"question": f"Who is {n}?", "gold": f"A{n}"} for n in range(4)]
    rows += [{"question": f"Who was {n}?", "answerable": False} for n in range(3)]
    numbers = {}
    for want in ("both", "declining", "scores"):
        engine = ScriptedEngine(lambda request: "I do not know.", want)
        found = sayso.run(
            "selective", model=engine, data=rows, out=tmp_path / want, report=False,
            cache=tmp_path / "cache", settings={"want": want, "resamples": 100},
        )  # fmt: skip
        numbers[want] = len(engine.requests)
        declined = [e.value for e in found.estimates if e.name == "abstains_unanswerable"]
        assert (declined[:1] == [1.0]) == (want != "scores")
    assert numbers == {"both": 7 * 12, "declining": 7, "scores": 4 * 12}
    # a dry run names the purposes, where there is more than one, and what each asks
    for n, told in ((7, ["takes 7 of these requests", "compare scores, 48 ("]), (4, [])):
        file = f"file:{write(tmp_path / 'q.jsonl', rows[:n])}"
        notes = estimate_job(
            Job(
                protocol="selective", model=engine, data=file, cache=tmp_path / "c", system="Brief!"
            )
        ).notes
        named = [note for note in notes if "--for" in note]
        assert bool(named) == bool(told)
        assert all(text in note for note in named for text in told)
        assert [n for n in notes if "system prompt 'Brief!' goes with every request" in n]
    for name, value in (("draws.k", 3), ("draws.temperature", 0.5)):
        chosen = {"want": "declining", name: value}
        with pytest.raises(InputError, match="a setting of draws asks for more"):
            sayso.run("selective", model=engine, data=rows, settings=chosen)
