"""The model as judge: what it is asked, what counts, what is shared, what stays missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.engines.engine import Capabilities
from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.records import Generation, Gold, InputError, Question, Request, Usage, Verdict, ask
from support.judge_world import Block, Shown, judge_engine, shown, truthful, written
from support.scripted import ScriptedEngine
from support.tables import tabled

QUESTIONS = tuple(
    Question(id=f"q{n}", dataset="d", text=text, golds=(Gold(gold),), entity="Mira Toll")
    for n, (text, gold) in enumerate(
        [
            ("Where was Mira Toll born?", "Ripley"),
            ("When was Mira Toll born?", "1950"),
            ("What was Mira Toll's occupation?", "singer"),
        ]
    )
)
ANSWERS = ("She was born in Ripley.", "I think it was 1950.", "I don't know.")
EXPECTED = [("committed", "correct"), ("hedged", "correct"), ("abstained", "none")]


def short(number: int, text: str, sample: int = 0, stage: str = "answer", **more: object) -> Item:
    made = Generation(
        request=ask("?", sample=sample),
        id=f"g{number}-{sample}-{stage}",
        text=text,
        form="short",
        stage=stage,
    )
    for name, value in more.items():
        made = Generation(**{**{f: getattr(made, f) for f in made.__struct_fields__}, name: value})
    return Item(made, (QUESTIONS[number],))


def shorts() -> list[Item]:
    return [short(n, text) for n, text in enumerate(ANSWERS)]


def paragraph(text: str = "Mira Toll, I think, was born in Ripley.") -> Item:
    return Item(Generation(request=ask("?"), id="p", text=text, form="long"), QUESTIONS)


def values(verdicts: list[Verdict]) -> list[tuple[str | None, str | None]]:
    return [(v.stance, v.content) for v in verdicts]


@pytest.mark.parametrize("json_schema", [False, True])
@pytest.mark.parametrize("batch", ["item", "aspect"])
@pytest.mark.parametrize("mode", ["one_pass", "two_pass"])
def test_every_mode_reads_the_same(json_schema: bool, batch: str, mode: str) -> None:
    engine = judge_engine(truthful, json_schema=json_schema)
    judge = LlmJudge(engine, batch=batch, mode=mode)
    verdicts = judge.grade(shorts())
    assert values(verdicts) == EXPECTED
    assert [(v.target, v.asked) for v in verdicts] == [
        ("g0-0-answer", "q0"),
        ("g1-0-answer", "q1"),
        ("g2-0-answer", "q2"),
    ]
    assert {v.by for v in verdicts} == {judge.signature}
    assert all(v.start is None and v.raw for v in verdicts)
    # item: 1 call, and 1 for the values; aspect: 3 calls, and 2 (nothing to compare in the third)
    assert (
        len(engine.requests)
        == {
            ("item", "one_pass"): 1,
            ("item", "two_pass"): 2,
            ("aspect", "one_pass"): 3,
            ("aspect", "two_pass"): 5,
        }[batch, mode]
    )
    assert all(r.temperature == 0 for r in engine.requests)
    assert all((r.response_format is not None) == json_schema for r in engine.requests)
    assert judge.notices == []
    assert judge.counts.calls == len(engine.requests)
    assert judge.counts.tokens > 0


@pytest.mark.parametrize("mode", ["one_pass", "two_pass"])
def test_uncle_labels(mode: str) -> None:
    engine = judge_engine(truthful)
    verdicts = LlmJudge(engine, labels="uncle", mode=mode).grade(shorts())
    # UNC has no content: the paper asks for none
    assert values(verdicts) == [("committed", "correct"), ("hedged", "none"), ("hedged", "none")]
    assert [v.value for v in verdicts] == ["correct", "uncertain", "uncertain"]
    if mode == "one_pass":  # a short answer omits nothing
        assert shown(engine.requests[0]).labels == ("S", "NS", "UNC")


@pytest.mark.parametrize("labels", ["stance", "uncle"])
@pytest.mark.parametrize("mode", ["one_pass", "two_pass"])
def test_a_paragraph_in_one_call_and_what_it_omits(labels: str, mode: str) -> None:
    omitted = {"stance": "omitted", "uncle": "OMIT"}[labels]

    def decide(seen: Shown, number: int) -> str:
        assert seen.fields["paragraph"] == "Mira Toll, I think, was born in Ripley."
        return truthful(seen, number) if number == 1 else omitted

    engine = judge_engine(decide)
    verdicts = LlmJudge(engine, labels=labels, mode=mode).grade([paragraph()])
    assert [v.value for v in verdicts] == ["uncertain", "omitted", "omitted"]
    first = engine.requests[0].messages[0].content
    assert first.count("| Mira Toll, I think") == 1
    if mode == "two_pass":  # the wording is judged before the golds are seen
        assert "Ripley\n" not in first.replace("born in Ripley.\n", "")


def test_four_grades_are_told_apart_in_one_call() -> None:
    said = iter(["CORRECT", "partial", "Not attempted"])
    judge = LlmJudge(judge_engine(lambda seen, number: next(said)), labels="grades")
    verdicts = judge.grade(shorts())
    assert values(verdicts) == [
        ("committed", "correct"), ("committed", "partial"), ("abstained", "none"),
    ]  # fmt: skip
    assert [v.value for v in verdicts] == ["correct", "incorrect", "uncertain"]
    assert judge.signature.endswith("+grades")
    for more in ({"mode": "two_pass"}, {"prompts": "brief"}):
        with pytest.raises(InputError, match="one decision of a full prompt in one call"):
            LlmJudge(judge_engine(truthful), labels="grades", **more)  # type: ignore[arg-type]


def test_equal_triples_are_asked_once_also_later() -> None:
    engine = judge_engine(truthful)
    judge = LlmJudge(engine)
    twice = [*shorts(), *[short(n, text, sample=3) for n, text in enumerate(ANSWERS)]]
    verdicts = judge.grade(twice)
    assert values(verdicts) == EXPECTED * 2
    assert [v.target for v in verdicts[3:]] == ["g0-3-answer", "g1-3-answer", "g2-3-answer"]
    assert len(engine.requests) == 1
    judge.grade([short(0, ANSWERS[0], stage="probe")])
    assert len(engine.requests) == 1
    assert judge.counts.parts == 3
    assert judge.counts.shared == 4


def test_what_shares_a_call() -> None:
    """Entity, stage, method and draw; twelve at most; nothing with an endless answer."""
    engine = judge_engine(truthful)
    items = [
        short(0, "Ripley"),
        short(1, "1951"),
        short(0, "Paris", sample=1),
        short(0, "Oslo", stage="probe"),
    ]
    LlmJudge(engine).grade(items)
    assert [len(shown(r).numbers) for r in engine.requests] == [2, 1, 1]
    engine.requests.clear()
    LlmJudge(engine, batch="entity").grade(items)  # draws together, stages apart
    assert [len(shown(r).numbers) for r in engine.requests] == [3, 1]
    engine.requests.clear()
    many = [
        Item(
            Generation(request=ask("?"), id=f"g{n}", text=f"Town {n}", form="short"), QUESTIONS[:1]
        )
        for n in range(30)
    ]
    LlmJudge(engine).grade(many)
    assert [len(shown(r).numbers) for r in engine.requests] == [12, 12, 6]
    engine.requests.clear()
    endless = [short(0, "x" * 30_000), short(1, "1950"), short(2, "singer")]
    LlmJudge(engine).grade(endless)
    assert [len(shown(r).numbers) for r in engine.requests] == [1, 2]
    engine.requests.clear()
    nobody = [
        Question(id=f"n{n}", dataset="d", text=f"What is {n}?", golds=(Gold("x"),)) for n in (1, 2)
    ]
    LlmJudge(engine).grade([Item(Generation(request=ask("?"), text="x"), (q,)) for q in nobody])
    assert [len(shown(r).numbers) for r in engine.requests] == [1, 1]


def test_what_is_not_sent() -> None:
    engine = judge_engine(truthful)
    items = [
        short(0, " \n"),
        short(1, "", problem="truncated"),
        short(2, "", problem="failed: content filter"),
        short(2, "", problem="context", sample=1),
        Item(Generation(request=ask("?"), id="e", text="", form="long"), QUESTIONS),
        *(short(0, blank, sample=2) for blank in ("-", "...", "\u200b")),
    ]
    verdicts = LlmJudge(engine).grade(items)
    assert engine.requests == []
    assert [v.stance for v in verdicts] == ["omitted", None, None, None, *["omitted"] * 6]
    assert [v.problem for v in verdicts] == [None, "truncated", "failed", "failed", *[None] * 6]


def test_without_golds_a_value_cannot_be_judged_but_its_absence_can() -> None:
    bare = Question(id="b", dataset="d", text="Where was she born?", entity="Mira Toll")
    made = [
        Generation(request=ask("?"), id=str(n), text=text, form="short")
        for n, text in enumerate(ANSWERS)
    ]
    verdicts = LlmJudge(judge_engine(truthful)).grade([Item(g, (bare,)) for g in made])
    assert [(v.stance, v.problem) for v in verdicts] == [
        (None, "unread"),
        (None, "unread"),
        ("abstained", None),
    ]


# --- what a judge may get wrong ---


def missing_once(keep: int) -> object:
    """Write only the first ``keep`` blocks of a first reply, and all of a second one."""
    seen_before: list[int] = []

    def write(seen: Shown, blocks: list[Block], request: Request) -> str:
        seen_before.append(1)
        return written(seen, blocks[:keep] if len(seen_before) == 1 else blocks)

    return write


@pytest.mark.parametrize("json_schema", [False, True])
def test_only_missing_parts_are_asked_again(json_schema: bool) -> None:
    engine = judge_engine(truthful, json_schema=json_schema, write=missing_once(1))
    judge = LlmJudge(engine)
    assert values(judge.grade(shorts())) == EXPECTED
    assert len(engine.requests) == 2
    again = shown(engine.requests[1])
    assert [again.question(n) for n in again.numbers] == [q.text for q in QUESTIONS[1:]]
    assert "earlier reply could not be read" in engine.requests[1].messages[0].content
    assert judge.counts.retried == 2
    assert judge.counts.retries == 1


@pytest.mark.parametrize("json_schema", [False, True])
def test_a_judge_that_talks_is_asked_twice_and_then_missing(json_schema: bool) -> None:
    prose = "The first answer is right, the second one hedges, and the third says nothing."
    engine = judge_engine(truthful, json_schema=json_schema, write=lambda *_: prose)
    judge = LlmJudge(engine)
    verdicts = judge.grade(shorts())
    assert len(engine.requests) == 2
    assert {(v.stance, v.content, v.problem) for v in verdicts} == {(None, None, "unread")}
    assert all(v.raw is not None and prose in v.raw for v in verdicts)
    assert judge.counts.unread == 3
    assert judge.notices == [
        "judge judge-1: 3 of 3 verdicts are missing (unread: no readable label, twice)"
    ]
    # what was no JSON is asked for once more in the other form
    assert [shown(r).json for r in engine.requests] == [json_schema, False]


def test_the_questions_of_two_blocks_exchanged_is_a_mismatch() -> None:
    def swap(seen: Shown, blocks: list[Block], request: Request) -> str:
        one, two, *rest = blocks
        return written(
            seen, [one._replace(question=two.question), two._replace(question=one.question), *rest]
        )

    def swap_or_repeat(seen: Shown, blocks: list[Block], request: Request) -> str:
        return swap(seen, blocks, request) if len(blocks) > 1 else written(seen, blocks)

    verdicts = LlmJudge(judge_engine(truthful, write=swap_or_repeat)).grade(shorts())
    assert [v.problem for v in verdicts] == ["mismatch", "mismatch", None]


def test_blocks_in_another_order_count_by_number_and_question() -> None:
    engine = judge_engine(truthful, write=lambda s, blocks, r: written(s, blocks[::-1]))
    assert values(LlmJudge(engine).grade(shorts())) == EXPECTED


def test_a_refusing_judge_costs_only_what_it_refuses() -> None:
    def write(seen: Shown, blocks: list[Block], request: Request) -> str:
        poison = any("1950" in seen.text(n) for n in seen.numbers)
        return "I'm sorry, but I can't help with that." if poison else written(seen, blocks)

    engine = judge_engine(truthful, write=write)
    judge = LlmJudge(engine)
    verdicts = judge.grade(shorts())
    assert [v.problem for v in verdicts] == [None, "refused", None]
    assert len(engine.requests) == 4  # all together, then one by one
    assert judge.counts.refused == 1


@tabled
def test_a_judge_that_cannot_answer(reason: str, problem: str) -> None:
    calls: list[Request] = []

    def reply(request: Request) -> Generation:
        calls.append(request)
        return Generation(request, problem=reason)

    verdicts = LlmJudge(ScriptedEngine(reply)).grade(shorts())
    assert [v.problem for v in verdicts] == [problem] * 3
    assert len(calls) == 4
    calls.clear()
    LlmJudge(ScriptedEngine(reply)).grade(shorts()[:1])
    assert len(calls) == (2 if problem == "truncated" else 1)


def test_a_reply_that_is_cut_off_gets_more_room() -> None:
    def reply(request: Request) -> Generation:
        seen = shown(request)
        blocks = [Block(n, seen.question(n), "So.", truthful(seen, n)) for n in seen.numbers]
        if len(blocks) == 1:
            return Generation(request, text=written(seen, blocks), finish="stop")
        cut = written(seen, blocks).rpartition("### 2")[0] + f"### 2 {seen.code} When w"
        return Generation(request, text=cut, finish="length", usage=Usage(1, 2))

    engine = ScriptedEngine(reply)
    assert values(LlmJudge(engine).grade(shorts())) == EXPECTED
    assert [r.max_tokens for r in engine.requests] == [1024, 2048, 2048]  # 256 + 3*256; 4*(256+256)


def test_thinking_is_removed_before_labels_are_read() -> None:
    def write(seen: Shown, blocks: list[Block], request: Request) -> str:
        draft = [b._replace(label="committed-incorrect") for b in blocks]
        return f"<think>\n{written(seen, draft)}\n</think>\n{written(seen, blocks)}"

    assert values(LlmJudge(judge_engine(truthful, write=write)).grade(shorts())) == EXPECTED
    opened = judge_engine(truthful, write=lambda s, b, r: write(s, b, r).removeprefix("<think>"))
    assert values(LlmJudge(opened).grade(shorts())) == EXPECTED
    unclosed = judge_engine(truthful, write=lambda s, b, r: f"<think>\n{written(s, b)}")
    verdicts = LlmJudge(unclosed).grade(shorts())
    assert [v.problem for v in verdicts] == ["truncated"] * 3


def test_two_passes_that_contradict_each_other_are_no_verdict() -> None:
    def decide(seen: Shown, number: int) -> str:
        return "none" if "none" in seen.labels else "committed"

    (verdict,) = LlmJudge(judge_engine(decide), mode="two_pass").grade(shorts()[:1])
    assert (verdict.stance, verdict.content, verdict.problem) == (None, None, "mismatch")


def test_replies_in_any_order() -> None:
    engine = judge_engine(truthful)
    engine.backwards = True
    assert values(LlmJudge(engine, batch="aspect").grade(shorts())) == EXPECTED


def test_an_engine_that_loses_a_reply() -> None:
    class Forgetful(ScriptedEngine):
        def complete(self, requests):  # type: ignore[no-untyped-def]
            return (pair for pair in super().complete(requests) if pair[0] != 0)

    engine = Forgetful(judge_engine(truthful).reply)
    (verdict,) = LlmJudge(engine).grade(shorts()[:1])
    assert verdict.problem == "failed"


# --- signature and settings ---


def test_the_signature_names_model_prompts_and_settings(tmp_path: Path) -> None:
    engine = judge_engine(truthful, "gpt-4o")
    plain = LlmJudge(engine)
    assert plain.name == "gpt-4o"
    assert plain.signature.startswith("gpt-4o#p")
    assert len(plain.signature) == len("gpt-4o#p") + 4
    (tmp_path / "judge_stance.txt").write_text("Judge.", encoding="utf-8")
    made = {
        plain.signature,
        LlmJudge(engine, labels="uncle").signature,
        LlmJudge(engine, batch="aspect").signature,
        LlmJudge(engine, batch="entity").signature,
        LlmJudge(engine, mode="two_pass").signature,
        LlmJudge(engine, output="json").signature,
        LlmJudge(engine, room=2048).signature,
        LlmJudge(engine, family="openai:gpt-4.1").signature,
        LlmJudge(engine, prompt_folder=tmp_path).signature,
        LlmJudge(judge_engine(truthful, "claude-x")).signature,
    }
    assert len(made) == 10
    assert LlmJudge(engine, family="hf:Qwen/Qwen3-4B").signature == plain.signature
    own = LlmJudge(engine, family="gpt")
    assert own.signature == f"{plain.signature}+own-family"
    assert "own model family (gpt)" in own.notices[0]


def test_settings_reach_the_request() -> None:
    engine = judge_engine(truthful)
    LlmJudge(engine, room=1000).grade(shorts())
    (request,) = engine.requests
    assert request.max_tokens == 256 + 3 * 256 + 1000


def test_users_mistakes(tmp_path: Path) -> None:
    engine = judge_engine(truthful)
    with pytest.raises(InputError, match="labels='x': expected one of stance, uncle, grades"):
        LlmJudge(engine, labels="x")  # type: ignore[arg-type]
    (tmp_path / "judge_blocks.txt").write_text("Just say it.", encoding="utf-8")
    with pytest.raises(InputError, match=r"judge_blocks.txt: must contain \{labels\}"):
        LlmJudge(engine, prompt_folder=tmp_path)


def test_json_only_where_the_engine_is_known_to_hold_to_it() -> None:
    engine = judge_engine(truthful)
    engine.capabilities = Capabilities(json_schema=True)
    judge = LlmJudge(engine)
    engine.capabilities = Capabilities(json_schema=False)  # decided once: the signature says it
    judge.grade(shorts())
    assert shown(engine.requests[0]).json
    assert "+json" in judge.signature


def test_a_label_in_an_analysis_that_was_cut_off_is_no_verdict() -> None:
    asked: list[int] = []

    def reply(request: Request) -> Generation:
        seen = shown(request)
        asked.append(request.max_tokens)
        text = written(seen, [Block(n, seen.question(n), "So.", "omitted") for n in seen.numbers])
        if len(asked) > 1:
            return Generation(request, text=text, finish="stop")
        return Generation(request, text=f"{text}\nRather, since the", finish="length")

    judge = LlmJudge(ScriptedEngine(reply))
    (verdict,) = judge.grade(shorts()[:1])
    assert verdict.stance == "omitted"
    assert asked[1] > asked[0]  # asked once more, with more room
    assert judge.counts.retried == 1


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    prices = iter([0.25, 0.5, None, 0.25])
    untold = LlmJudge(ScriptedEngine(lambda request: "a reply without a count of its tokens"))
    untold.engine.complete = lambda requests: (  # type: ignore[method-assign]
        (n, Generation(r, text="no tokens told")) for n, r in enumerate(requests)
    )
    untold.grade(shorts()[:1])
    assert untold.counts.dollars is None

    def reply(request: Request) -> Generation:
        seen = shown(request)
        blocks = [Block(n, seen.question(n), "So.", truthful(seen, n)) for n in seen.numbers]
        spent = Usage(prompt_tokens=10, completion_tokens=5, dollars=next(prices))
        return Generation(request, text=written(seen, blocks), usage=spent)

    judge = LlmJudge(ScriptedEngine(reply), batch="aspect")
    judge.grade(shorts()[:2])
    assert judge.counts.dollars == 0.75
    assert judge.counts.tokens == 30
    judge.grade(shorts()[2:])
    assert judge.counts.dollars is None
    judge.grade([short(0, "Somewhere else")])  # known again, but not the sum
    assert judge.counts.dollars is None


# ---- a judge that says nothing


def many(number: int, text: str = "In Paris.") -> list[Item]:
    """As many answers, each about an entity of its own: one request each."""
    items = []
    for n in range(number):
        question = Question(
            id=f"q{n}", dataset="d", text=f"Where was M{n} born?", golds=(Gold("Ripley"),)
        )
        items.append(Item(Generation(request=ask("?"), id=f"g{n}", text=text), (question,)))
    return items


def silent(text: str = "What a \x1b[31mlovely\x1b[0m day!", **options: object) -> ScriptedEngine:
    return judge_engine(lambda seen, number: "x", write=lambda *_: text, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("json_schema", [False, True])
def test_a_judge_without_a_readable_reply_is_stopped_after_ten_requests(json_schema: bool) -> None:
    engine = silent(json_schema=json_schema)
    with pytest.raises(InputError) as stopped:
        LlmJudge(engine).grade(many(40))
    assert len(engine.requests) == 10  # five, and each once more
    line = str(stopped.value)
    assert "judge-1 gave no readable reply to its first 10 requests" in line
    assert "lovely" in line
    assert "\x1b" not in line
    assert "\n" not in line
    assert "judge-check judge-1" in line
    assert "--set judge_anyway=true" in line


def test_a_judge_that_declines_is_stopped() -> None:
    judge = LlmJudge(silent("I cannot help with that."))
    with pytest.raises(InputError, match="first 10 requests; the last: 'I cannot help"):
        judge.grade(many(40))


def test_requests_are_counted_over_all_that_a_judge_is_asked() -> None:
    engine = silent()
    judge = LlmJudge(engine)
    for item in many(4):
        assert judge.grade([item])[0].problem == "unread"
    with pytest.raises(InputError, match="first 10 requests"):
        judge.grade([paragraph()])


def test_one_readable_reply_is_enough() -> None:
    engine = judge_engine(
        lambda seen, number: "committed-incorrect",
        write=lambda seen, blocks, _: (
            written(seen, blocks) if "M3 " in blocks[0].question else "Well."
        ),
    )
    verdicts = LlmJudge(engine).grade(many(40))
    assert [v.problem for v in verdicts].count("unread") == 39
    assert verdicts[3].problem is None


def test_told_so_a_judge_goes_on() -> None:
    engine = silent()
    verdicts = LlmJudge(engine, anyway=True).grade(many(40))
    assert [v.problem for v in verdicts] == ["unread"] * 40
    assert len(engine.requests) == 80
