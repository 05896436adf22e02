"""Results of promptfoo and test runs of DeepEval: rows from one JSON document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sayso.datasets.tools.values import object_in


def promptfoo_rows(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return rows of promptfoo's results (``results.results``); ``None`` for another file.

    A result has ``provider``, ``vars``, ``prompt.raw``, ``response.output`` and the outcome of
    each assertion. An assertion ``equals`` holds the gold, one of type ``human`` a person's
    verdict; what other assertions say stands under their type.
    """
    summary = document.get("results")
    results = summary.get("results") if isinstance(summary, Mapping) else None
    if not isinstance(results, list):
        return None
    return [_promptfoo_row(one) for one in results if isinstance(one, Mapping)]


def _promptfoo_row(one: Mapping[str, Any]) -> dict[str, Any]:
    def part(value: Any, name: str) -> Any:
        return value.get(name) if isinstance(value, Mapping) else None

    provider = one.get("provider")
    variables = one.get("vars")
    asked = next(
        (v for n in ("question", "query", "input") if isinstance(v := part(variables, n), str)),
        None,
    )
    prompt = part(one.get("prompt"), "raw")
    output = part(one.get("response"), "output")
    row: dict[str, Any] = {
        "model": provider if isinstance(provider, str) else part(provider, "label")
        or part(provider, "id"),
        "question": asked or prompt,
        "prompt": prompt,
        "answer": output if isinstance(output, str) else None,
    }  # fmt: skip
    verdicts = part(one.get("gradingResult"), "componentResults")
    verdicts = verdicts if isinstance(verdicts, list) else []
    rendered = {
        str(part(part(verdict, "assertion"), "value")): told
        for verdict in verdicts
        if isinstance(told := part(part(verdict, "metadata"), "renderedAssertionValue"), str)
    }
    asserted = part(one.get("testCase"), "assert")
    golds = [
        rendered.get(value) or _filled_in(value, variables)
        for a in (asserted if isinstance(asserted, list) else ())
        if part(a, "type") == "equals" and isinstance(value := a.get("value"), str)
    ]
    golds = [gold for gold in golds if gold is not None]
    row |= {"gold": golds} if golds else {}
    for verdict in verdicts:
        kind, passed = part(part(verdict, "assertion"), "type"), part(verdict, "pass")
        if isinstance(kind, str) and isinstance(passed, bool):
            row["human" if kind == "human" else f"assert {kind}"] = passed
    return row


#: a variable in a template of promptfoo
VARIABLE = re.compile(r"\{\{\s*([\w.-]{1,100})\s*\}\}")


def _filled_in(value: str, variables: object) -> str | None:
    """Return the value of an assertion with its variables, or ``None`` if it cannot be told.

    That is a template that does more than to name variables, or a file.
    """
    known = variables if isinstance(variables, Mapping) else {}
    names = VARIABLE.findall(value)
    if not all(isinstance(known.get(name), str | int | float) for name in names):
        return None
    text = VARIABLE.sub(lambda found: str(known[found[1]]), value)
    left = VARIABLE.sub("", value)
    return None if "{{" in left or "{%" in left or value.startswith("file://") else text


def deepeval_rows(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return rows of a test run of DeepEval (``testCases``); ``None`` for another file.

    Its ``.latest_test_run.json`` holds the run under ``testRunData``.
    A case has ``input``, ``actualOutput``, ``expectedOutput``, ``context`` and ``metricsData``, of
    which each metric's ``success`` stands under its name.
    """
    document = object_in(document.get("testRunData")) or document
    cases = document.get("testCases")
    if not isinstance(cases, list):
        return None
    settings = document.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, Mapping) else None
    return [_deepeval_row(one, model) for one in cases if isinstance(one, Mapping)]


def _deepeval_row(one: Mapping[str, Any], model: object) -> dict[str, Any]:
    context = one.get("context")
    row: dict[str, Any] = {
        "model": model if isinstance(model, str) else None,
        "question": one.get("input"),
        "answer": one.get("actualOutput"),
        "gold": one.get("expectedOutput"),
        "context": "\n\n".join(map(str, context)) if isinstance(context, list) else None,
    }
    metrics = one.get("metricsData")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, Mapping) and isinstance(metric.get("success"), bool):
            row[f"metric {metric.get('name')}"] = metric["success"]
    return row
