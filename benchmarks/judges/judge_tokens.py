"""Judge tokens for 100 verdicts, by mode of the judge; and what they would cost with one model.

    python benchmarks/judges/judge_tokens.py [--price 2.5,10] [--reader MODEL]

No model is asked. Answers are invented, with the sizes of UNCLE: 3.7 aspects per entity, short
answers of about fifteen words, paragraphs of about a hundred; five probe draws, one short answer
and one paragraph per aspect, as a run grades them. 60 % of the aspects are known; an answer to
those is right nine times in ten, to the others always wrong; one in five hedges. Each draw picks
one of three wordings, so some triples repeat and are asked once. The scripted judge gives a
fifteen-word analysis. Tokens are **characters / 4** of the prompts and replies of `LlmJudge`, an
approximation (no tokenizer of a judge model is at hand offline; names and figures take more).

`rules+` is the cascade: the model sees only what the rules are not certain of. Prices: gpt-4o of
sayso's dated table; UNCLE's own judge is reported at 0.46 dollars per 100 answers.

``--reader MODEL`` prints instead how many tokens of these prompts a local model reads, in its own
tokens: with a beginning that prompts share read once, and without. Below stand P(True)'s prompts
about the short answers. No weights are loaded.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso.engines.prices import price_of
from sayso.judges.cascade import CascadeJudge
from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.prompts import load_prompt
from sayso.records import Generation, Gold, Question, Request, Usage, ask
from sayso.scores.collect import truth_block
from support.judge_world import Shown, judge_engine
from support.scripted_world import chance, word

ENTITIES = 120
DRAWS = 5
CHARACTERS_PER_TOKEN = 4
ASPECTS = ("place of birth", "occupation", "employer", "native language", "place of death")
WORDINGS = (
    "The {aspect} of {entity} is {value}.",
    "{entity}'s {aspect} is {value}, as most people who know the region will tell you.",
    "When it comes to {entity}, the {aspect} that is on record is {value}.",
)
FILLER = (
    "{entity} is known for a long and varied career and for work that is still read today. "
    "Those who met {entity} speak of patience and of a dry sense of humor. "
)
ANALYSIS = "The text gives a definite value here and it is the same one as the gold answer."


def answer(entity: str, aspect: str, truth: str, draw: object) -> str:
    """Return one sentence about an aspect."""
    known = chance("known", entity, aspect) < 0.6
    right = known and chance("right", entity, aspect, draw) < 0.9
    value = truth if right else word("wrong", entity, aspect, draw)
    wording = WORDINGS[int(chance("wording", entity, aspect, draw) * len(WORDINGS))]
    said = wording.format(aspect=aspect, entity=entity, value=value)
    return f"I think {said}" if chance("hedge", entity, aspect) < 0.2 else said


def stages() -> dict[str, list[Item]]:
    """Return the items of a run, stage by stage."""
    found: dict[str, list[Item]] = {"probe": [], "short": [], "long": []}
    for number in range(ENTITIES):
        entity = f"{word('first', number)} {word('last', number, n=4)}"
        parts = []
        for aspect in ASPECTS[: 3 + (number % 10 < 7)]:  # 3.7 on average
            truth = word("truth", entity, aspect)
            question = Question(
                id=f"{entity}/{aspect}",
                dataset="invented",
                text=f"What is the {aspect} of {entity}?",
                golds=(Gold(truth),),
                entity=entity,
            )
            parts.append((question, aspect, truth))
            for stage, draw in [*(("probe", d) for d in range(DRAWS)), ("short", -1)]:
                text = answer(entity, aspect, truth, draw)
                made = Generation(
                    request=ask("?", sample=max(draw, 0)),
                    id=f"{question.id}/{draw}",
                    text=text,
                    form="short",
                    stage=stage,
                )
                found[stage].append(Item(made, (question,)))
        said = " ".join(answer(entity, aspect, truth, "long") for _, aspect, truth in parts)
        text = FILLER.format(entity=entity) + said
        made = Generation(request=ask("?"), id=entity, text=text, form="long", stage="long")
        found["long"].append(Item(made, tuple(question for question, _, _ in parts)))
    return found


def decide(seen: Shown, number: int) -> str:
    """A judge of the invented sentences."""
    text = seen.text(number)
    if "paragraph" in seen.fields:
        topic = seen.question(number).removeprefix("What is the ").partition(" of ")[0]
        text = next((s for s in text.split(". ") if topic in s), text)
    stance = "hedged" if "I think" in text else "committed"
    content = "correct" if any(g in text for g in seen.golds(number)) else "incorrect"
    scores = {
        f"{stance}-{content}": 4,
        stance: 3,
        {"hedged": "UNC"}.get(stance, {"correct": "S", "incorrect": "NS"}[content]): 2,
        content: 1,
        "certain": 0,
    }
    return max((label for label in seen.labels if label in scores), key=lambda x: scores[x])


def cost(items: list[Item], cascade: bool, **settings: str) -> tuple[int, int, int]:
    """Return calls, prompt characters and reply characters."""
    output = settings.pop("output")
    engine = judge_engine(decide, json_schema=output == "json", analysis=ANALYSIS)
    llm = LlmJudge(engine, **settings)
    judge = CascadeJudge(RulesJudge(), llm) if cascade else llm
    verdicts = judge.grade(items)
    assert all(v.problem is None for v in verdicts)
    sent = sum(len(m.content) for r in engine.requests for m in r.messages)
    schema = len(engine.requests[0].response_format or "") * len(engine.requests)
    return len(engine.requests), sent + schema, sum(len(engine.reply(r)) for r in engine.requests)


def read_by(model: str, run: dict[str, list[Item]]) -> None:
    """Print how many prompt tokens a local model reads, each stage being one call."""
    from sayso.engines import open_model
    from sayso.engines.hf.kv_cache import PASS, shared_sizes

    reader: Any = open_model(model, weights=False)
    sent: dict[str, list[Request]] = {}
    for stage, items in run.items():
        engine = judge_engine(decide, analysis=ANALYSIS)
        LlmJudge(engine).grade(items)
        sent[stage] = engine.requests
    draws: dict[str, list[str]] = {}
    for item in run["probe"]:
        draws.setdefault(item.questions[0].text, []).append(item.generation.text)
    sent["P(True)"] = [
        ask(truth_block(load_prompt("p_true"), asked, draws[asked], item.generation.text))
        for item in run["short"]
        for asked in (item.questions[0].text,)
    ]
    for stage, requests in sent.items():
        prompts = {reader.render(request).ids for request in requests}
        sizes = shared_sizes(prompts)
        beginnings = {prompt[:size] for prompt, size in sizes.items() if size}
        every = sum(map(len, prompts))
        read = every - sum(sizes.values()) + sum(map(len, beginnings))
        print(
            f"{stage}: {len(prompts):,} prompts of {every / len(prompts):,.0f} tokens, of which "
            f"{sum(sizes.values()) / len(prompts):,.0f} are shared; read {read:,} of {every:,} "
            f"({read / every:.2f}) in {len(beginnings)} passes more, worth {PASS} tokens each"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--price", help="in,out dollars per million tokens instead of gpt-4o's")
    parser.add_argument("--reader", help="a local model whose tokens are counted instead")
    given = parser.parse_args()
    run = stages()
    if given.reader:
        read_by(given.reader, run)
        return
    price = price_of("openai:gpt-4o", given.price)
    assert price is not None
    graded = {name: sum(len(i.questions) for i in items) for name, items in run.items()}
    every = sum(graded.values())
    print(f"{every:,} verdicts: " + ", ".join(f"{n:,} {s}" for s, n in graded.items()))
    print("tokens (characters / 4) per 100 verdicts; in and out over the whole run")
    head = f"{'labels':8}{'batch':8}{'passes':9}{'replies':9}{'judge':7}{'calls':>7}"
    print(head + f"{'probe':>9}{'short':>9}{'long':>9}{'all':>9}{'in':>9}{'out':>8}{'dollars':>9}")
    modes = itertools.product(
        ("stance", "uncle"),
        ("item", "entity", "aspect"),
        ("one_pass", "two_pass"),
        ("blocks", "json"),
        (False, True),
    )
    for labels, batch, mode, output, cascade in modes:
        found = {
            stage: cost(items, cascade, labels=labels, batch=batch, mode=mode, output=output)
            for stage, items in run.items()
        }
        calls, sent, got = (sum(column) for column in zip(*found.values(), strict=True))
        by_stage = "".join(
            f"{100 * (found[s][1] + found[s][2]) / CHARACTERS_PER_TOKEN / graded[s]:9,.0f}"
            for s in run
        )
        scale = 100 / CHARACTERS_PER_TOKEN / every
        usage = Usage(prompt_tokens=round(sent * scale), completion_tokens=round(got * scale))
        line = f"{labels:8}{batch:8}{mode:9}{output:9}{'rules+' if cascade else 'model':7}"
        line += f"{100 * calls / every:7.1f}{by_stage}{(sent + got) * scale:9,.0f}"
        print(f"{line}{sent * scale:9,.0f}{got * scale:8,.0f}{price.of(usage):9.3f}")
    print(f"\n{price.label}")


if __name__ == "__main__":
    main()
