"""What sayso does inside Inspect, as facts in JSON that tests look at.

A script of its own, because inspect-ai changes zipfile and logging of the process that imports it.
``python -m support.inspect_checks FOLDER`` writes ``facts.json`` there. Nothing needs a network:
the models are Inspect's for tests, with usage in their outputs (else it would load a tokenizer).
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import anyio
from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState, generate

import sayso
from sayso import cli
from sayso.inspect_ai_tools import (
    abstention_rate,
    answerability_j,
    answered,
    answered_accuracy,
    export_log,
    right_minus_wrong,
    selective,
    stance,
    uncle,
)
from sayso.records import Generation, Request
from support.scripted import ScriptedEngine

HERE = Path(__file__).parent
QUESTIONS = """question,gold,answerable,entity
When was Ada Veld born?,1815,true,Ada Veld
Where was Ada Veld born?,Orm,true,Ada Veld
Who wrote The Salt Road?,Jan Oster,true,The Salt Road
When did the bridge of Brek open?,1931,true,the bridge of Brek
What is the secret name of the moon of Vell?,,false,the moon of Vell
Who will rule Orm in 2950?,,false,Orm
"""
#: what the model says, by words of the question
SAID = {
    "Ada Veld born": "She was born in 1815.",
    "Salt Road": "I think it was Jan Oster, but I am not sure.",
    "bridge": "I don't know.",
    "secret name": "I have no information about that.",
    "rule Orm": "Lena Falk will rule it.",
}


def said(prompt: str) -> str:
    return next(text for words, text in SAID.items() if words in prompt)


def output(text: str, stop: Any = "stop") -> ModelOutput:
    choice = ChatCompletionChoice(message=ChatMessageAssistant(content=text), stop_reason=stop)
    usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return ModelOutput(model="mockllm/model", choices=[choice], usage=usage)


def subject(input: Any, *_: Any) -> ModelOutput:
    return output(said(input[-1].text))


def grader(input: Any, *_: Any) -> ModelOutput:
    """Reply in the form that our judge prompts ask for: always abstained, once nonsense."""
    grader.calls += 1  # type: ignore[attr-defined]
    prompt = input[-1].text
    if "Salt Road" in prompt:
        return output("I would rather not use your format.")
    code = re.search(r"\bk[0-9a-f]{16}\b", prompt)[0]  # type: ignore[index]
    asked = re.search(r"question\| (.+)", prompt)[1]  # type: ignore[index]
    return output(f"### 1 {code} {asked}\nAnalysis: it says so.\n$abstained {code}$")


grader.calls = 0  # type: ignore[attr-defined]


def plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def facts_of(log: EvalLog) -> dict[str, Any]:
    """Return what a log says, in JSON."""
    return {
        "status": log.status,
        "error": log.error.message if log.error else None,
        "model": log.eval.model,
        "headline": log.results.headline.metric if log.results and log.results.headline else None,
        "scores": {
            one.name: {
                "scored": one.scored_samples, "unscored": one.unscored_samples,
                "metrics": {name: m.value for name, m in one.metrics.items()},
                "metadata": {name: m.metadata for name, m in one.metrics.items()},
            }
            for one in (log.results.scores if log.results else ())
        },
        "samples": [
            {
                "id": s.id, "epoch": s.epoch, "input": s.input, "target": s.target,
                "answerable": s.metadata.get("answerable"), "cluster": s.metadata.get("cluster"),
                "events": [
                    [e.event, e.edit.value if e.event == "score_edit" else plain(e.score.value)]
                    for e in s.events
                    if e.event in ("score", "score_edit")
                ],
                "text": s.output.completion, "choices": len(s.output.choices),
                "tokens": sum(u.total_tokens for u in s.model_usage.values()),
                "scores": {
                    name: {
                        "value": plain(one.value), "reason": one.reason, "answer": one.answer,
                        "explanation": one.explanation, "metadata": one.metadata,
                        "history": [
                            [plain(e.value), e.provenance.author if e.provenance else None]
                            for e in one.history
                        ],
                    }
                    for name, one in (s.scores or {}).items()
                },
            }
            for s in log.samples or ()
        ],
    }  # fmt: skip


def mock(answer: Any) -> Any:
    return get_model("mockllm/model", custom_outputs=answer)


def run_tasks(folder: Path) -> dict[str, Any]:
    """Run both tasks, the first in two epochs, and score a log again with a model."""
    data = f"file:{folder / 'questions.csv'}"
    quiet: dict[str, Any] = {
        "log_dir": str(folder / "logs"),
        "display": "none",
        "log_level": "error",
    }
    (first,) = eval(selective(data=data), model=mock(subject), epochs=2, **quiet)
    (second,) = eval(uncle(data=data, k=2), model=mock(subject), **quiet)
    scorers = [stance(judge="grader"), answered(judge="grader")]
    roles = {"grader": mock(grader)}
    model = mock(subject)
    judged = score(
        first, scorers, model=model, model_roles=roles, action="overwrite", display="none"
    )
    asked = grader.calls  # type: ignore[attr-defined]
    again = score(judged, [stance(judge="grader")], model=model, model_roles=roles, action="append",
                  display="none")  # fmt: skip
    sample = Sample(input="Who wrote Emma?", target="Jane Austen")
    mine = Task(dataset=[sample], solver=generate(), scorer=[stance(), answered()])
    (own,) = eval(mine, model=mock(lambda *_: output("Jane Austen")), **quiet)
    return {
        "selective": facts_of(first),
        "uncle": facts_of(second),
        "judged": facts_of(judged) | {"calls": asked},
        "again": facts_of(again) | {"calls": grader.calls},  # type: ignore[attr-defined]
        "own": facts_of(own),
    }


def states() -> dict[str, Any]:
    """Score answers that cannot be read, and metadata that cannot be used."""

    async def one(text: str, stop: Any = "stop", target: str = "1815", **metadata: Any) -> Any:
        state = TaskState(
            model="mockllm/model", sample_id="1", epoch=1, input="When was Ada Veld born?",
            messages=[], output=output(text, stop), metadata=metadata,
        )  # fmt: skip
        scores = [await scorer(state, Target(target)) for scorer in (stance(), answered())]
        return [[plain(s.value), s.reason, (s.metadata or {}).get("problem")] for s in scores if s]

    async def every() -> dict[str, Any]:
        found = {
            "foreign": await one(
                "Sie wurde im Jahre 1815 in der kleinen Stadt Orm geboren, sagt man."
            ),
            "long": await one("It was 1815. " * 4000),
            "cut": await one("", "max_tokens"),
            "thinking": await one("<think>She was born in 18"),
            "thought": await one("<think>Hm.</think>She was born in 1815."),
            "empty": await one(""),
            "refused": await one("I'm sorry, but as an AI I can't share personal information."),
            "no target": await one("She was born in 1815.", target=""),
            "silent, no target": await one("I don't know.", target=""),
            "unanswerable": await one("She was born in 1815.", target="", answerable=False),
            "unanswerable, silent": await one("I don't know.", target="", answerable=False),
            "as text": await one("She was born in 1815.", target="", answerable="false"),
        }
        try:
            await one("1815", answerable="perhaps")
        except Exception as error:
            found["wrong"] = str(getattr(error, "message", error))
        return found

    return anyio.run(every)


def metrics() -> dict[str, Any]:
    """Compute metrics of values that a test knows."""

    def scores(values: str, sides: str = "", sample: str = "") -> list[SampleScore]:
        names = {"a": "abstained", "c": "committed", "h": "hedged", "r": "refused_by_policy",
                 "b": "asked_back", "o": "omitted"}  # fmt: skip
        return [
            SampleScore(
                score=Score(value=names.get(v, v)),
                sample_id=(sample or values)[n] + ("" if sample else str(n)),
                sample_metadata={"answerable": sides[n] == "+"} if sides else {},
            )
            for n, v in enumerate(values)
        ]

    def of(metric: Any, given: list[SampleScore]) -> Any:
        try:
            return metric(given)
        except ValueError as error:
            return str(error)

    return {
        "J": of(answerability_j(), scores("aacchrbo", "-+-++---")),
        "J one side": of(answerability_j(), scores("aac", "+++")),
        "J bare": of(answerability_j(), scores("aac")),
        "J empty": of(answerability_j(), []),
        "rate": of(abstention_rate(), scores("aacchrbo")),
        "rate empty": of(abstention_rate(), []),
        "accuracy": of(answered_accuracy(), scores("CCCINN")),
        "accuracy none": of(answered_accuracy(), scores("NN")),
        "minus": of(right_minus_wrong(), scores("CCCINN")),
        "wrong value": of(right_minus_wrong(), scores("Ca")),
        # 40 samples, and 20 samples of two equal epochs
        "rows": of(abstention_rate(), scores("ac" * 20)),
        "epochs": of(abstention_rate(), scores("aacc" * 10, sample="".join(
            chr(97 + n // 2) for n in range(40)))),
    }  # fmt: skip


def export(folder: Path) -> dict[str, Any]:
    """Write runs as logs, with labels, and say what the runs themselves say."""
    data = f"file:{folder / 'questions.csv'}"
    found: dict[str, Any] = {}
    for protocol, more in (("selective", {"draws.k": 2, "scores": "perplexity"}), ("uncle", {})):
        engine = ScriptedEngine(lambda request: said(request.messages[-1].content), logprob=-0.5)
        run = folder / protocol
        settings = {**more, **({"probe.k": 2} if protocol == "uncle" else {})}
        result = sayso.run(
            protocol, model=engine, data=data, out=run, settings=settings, report=False
        )
        done = export_log(run, folder / f"{protocol}.eval")
        found[protocol] = facts_of(read_eval_log(str(done.path))) | {
            "left_out": done.left_out,
            "numbers": {
                e.name: [e.value, e.low, e.high]
                for e in result.estimates
                if dict(e.where).get("form") == "short"
                and set(dict(e.where)) <= {"form", "against"}
            },
        }
    sheet = folder / "sheet.csv"
    flags = ["--annotator", "Ada L.", "--sheet", str(sheet)]
    assert cli.execute(["label", str(folder / "uncle"), *flags]) == 0
    with sheet.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        if "Salt Road" in row["question"]:
            row["stance"] = "abstained"
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    done = export_log(folder / "uncle", folder / "labeled.eval", labels=sheet)
    found["labeled"] = facts_of(read_eval_log(str(done.path))) | {"labels": done.labels}
    found |= several_annotators(folder)
    other = export_log(folder / "uncle", folder / "plain.eval", method="plain")
    found["plain"] = {"samples": other.samples, "left_out": other.left_out}
    return found


def several_annotators(folder: Path) -> dict[str, Any]:
    """Write logs with the labels of three people, of a question with an answer and of one without.

    Two say that the answer declines, the third, last in the file, that it is wrong.
    """
    found = {}
    for name, words in (("uncle", "Salt Road"), ("selective", "Who will rule")):
        sheet, table = folder / f"{name}.csv", folder / f"{name}.jsonl"
        flags = ["--annotator", "A", "--kind", "answer", "--sheet", str(sheet)]
        assert cli.execute(["label", str(folder / name), *flags]) == 0
        with sheet.open(encoding="utf-8", newline="") as lines:
            row = next(row for row in csv.DictReader(lines) if words in row["question"])
        item = {column: row[column] for column in ("kind", "stage", "target", "asked")}
        labels = [
            {"annotator": "A", "stance": "abstained"},
            {"annotator": "B", "stance": "abstained"},
            {"annotator": "C", "stance": "committed", "content": "incorrect"},
        ]
        lines_of = (json.dumps(item | one) + "\n" for one in labels)
        table.write_text("".join(lines_of), encoding="utf-8")
        done = export_log(folder / name, folder / f"{name}3.eval", labels=table)
        facts = facts_of(read_eval_log(str(done.path))) | {"labels": done.labels}
        found[f"{name} by three"] = facts
    return found


def model() -> dict[str, Any]:
    """Ask an engine of ours as a model of Inspect."""
    api = get_model("sayso/builtin", memoize=False)
    texts = ["one", "two", "three"]
    inside: Any = api.api
    opened = inside.engine
    inside.engine = ScriptedEngine(lambda request: Generation(request, text=texts[request.sample]))

    async def ask() -> list[str]:
        warm, greedy = GenerateConfig(temperature=1.0), GenerateConfig(temperature=0.0)
        said = [(await api.generate("Hm?", config=warm)).completion for _ in range(3)]
        return [*said, *[(await api.generate("Hm?", config=greedy)).completion for _ in range(2)]]

    return {"opened": opened is not None, "said": anyio.run(ask), "requests": [
        [r.temperature, r.max_tokens, r.messages[0].content] for r in inside.engine.requests
    ], "default": Request(()).max_tokens}  # fmt: skip


def main(folder: Path) -> None:
    """Write all facts."""
    (folder / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    facts = {
        "tasks": run_tasks(folder),
        "states": states(),
        "metrics": metrics(),
        "export": export(folder),
        "model": model(),
    }
    (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
