"""Logs that inspect-ai itself writes, with its model for tests, in each layout that it has.

A script of its own, because inspect-ai changes zipfile and logging of the process that imports it.
It writes into the folder that is named, and beside each log, as ``*.read``, how Inspect reads it:
for each sample its id, epoch, target and what was said.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message

LONG = "It is a tragedy, and it is set in Denmark. " * 6
LONG_ANSWER = "Shakespeare wrote it. " + "It was first printed in 1603. " * 6


def _output(content: Any, *further: str) -> ModelOutput:
    choices = [
        ChatCompletionChoice(
            message=ChatMessageAssistant(content=text, source="generate"),
            logprobs=Logprobs(content=[Logprob(token=t, logprob=-0.5) for t in ("Jane", " A")]),
        )
        for text in (content, *further)
    ]
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return ModelOutput(model="mockllm/model", choices=choices, usage=usage)


def outputs() -> list[ModelOutput]:
    """Return what the model says: to each question, and then to each again."""
    thought = [ContentReasoning(reasoning="Who was it?"), ContentText(text=LONG_ANSWER)]
    return [
        _output("Jane Austen", "Austen"), _output(thought), _output("Zürich ✓"),
        _output("It was Mary Shelley."), _output("Bacon"), _output(""),
    ]  # fmt: skip


def logged(folder: Path, kind: str) -> Path:
    """Let Inspect write a log, "eval" or "json", and return its path."""
    samples = [
        Sample(input="Who wrote Emma?", target="Austen", id="emma/1"),
        Sample(
            input=[ChatMessageUser(content=f"{LONG}Who wrote Hamlet?")],
            target=["Shakespeare", "W. S."],
            id=2,
        ),
        Sample(input="Where is ETH?", target="Zürich", id="e_epoch_1"),
    ]
    task = Task(
        dataset=samples,
        solver=[system_message("Be brief."), generate()],
        scorer=includes(),
        epochs=2,
    )
    model = get_model("mockllm/model", custom_outputs=outputs())
    (log,) = eval(
        task, model=model, log_format="json" if kind == "json" else "eval", log_dir=str(folder),
        display="none", max_samples=1, log_level="error",
    )  # fmt: skip
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


def chunked(log: Path, folder: Path) -> Path | None:
    """Return a log in chunks: two messages each, attachments of a kilobyte."""
    try:
        from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
    except ImportError:  # a private function, in 0.3.285 the only one that writes this layout
        return None
    convert_eval_logs_to_chunked(str(log), str(folder), False, 2, 1000)
    return folder / log.name


def main(target: Path) -> None:
    """Write each layout, and how Inspect reads those that it reads."""
    with tempfile.TemporaryDirectory() as place:
        logs = {kind: logged(Path(place, kind), kind) for kind in ("eval", "json")}
        for kind, log in logs.items():
            (target / f"log.{kind}").write_bytes(log.read_bytes())
            samples = read_eval_log(str(log), resolve_attachments=True).samples or ()
            said = [
                (str(one.id), one.epoch, one.target, [c.message.text for c in one.output.choices])
                for one in samples
            ]
            (target / f"log.{kind}.read").write_text(json.dumps(said), "utf-8")
        if (found := chunked(logs["eval"], Path(place, "chunked"))) is not None:
            (target / "log-chunked.eval").write_bytes(found.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
