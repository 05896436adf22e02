"""Results of promptfoo and test runs of DeepEval: rows from one JSON document."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sayso.datasets.tools.values import CALLED, CALLS, object_in, objects_in, spoken_text

Row = dict[str, Any]


def promptfoo_rows(document: Mapping[str, Any], notices: list[str]) -> list[Row] | None:
    """Return rows of promptfoo's results (``results.results``); ``None`` for another file.

    A result has ``provider``, ``vars``, ``prompt.raw``, ``response.output`` and the outcome of
    each assertion. An assertion ``equals`` holds the gold, one of type ``human`` a person's
    verdict; what other assertions say stands under their type. An output that is no text is read as
    its JSON.
    """
    results = object_in(document.get("results")).get("results")
    if not isinstance(results, list):
        return None
    unread = Counter[str]()
    rows = [_promptfoo_row(one, unread) for one in objects_in(results)]
    told = ", ".join(f"{kind} ({count:,})" for kind, count in unread.items())
    notices += [f"assertions that hold no gold that can be read: {told}"] * bool(told)
    return rows


def _promptfoo_row(one: Mapping[str, Any], unread: Counter[str]) -> Row:
    provider, variables = one.get("provider"), object_in(one.get("vars"))
    named = (variables.get(name) for name in ("question", "query", "input"))
    asked = next((value for value in named if isinstance(value, str)), None)
    prompt, response = object_in(one.get("prompt")).get("raw"), object_in(one.get("response"))
    answer = _written(response.get("output"))
    row: Row = {
        "model": provider if isinstance(provider, str) else object_in(provider).get("label")
        or object_in(provider).get("id"),
        "question": asked or spoken_text(prompt) or prompt,
        "prompt": prompt,
        "answer": answer,
        "error": response.get("error") or one.get("error") or (response.get("output") and CALLED),
        "finishReason": response.get("finishReason"),
    }  # fmt: skip
    verdicts = objects_in(object_in(one.get("gradingResult")).get("componentResults"))
    rendered = {
        _written(object_in(verdict.get("assertion")).get("value")): told
        for verdict in verdicts
        if (told := object_in(verdict.get("metadata")).get("renderedAssertionValue"))
    }
    golds = []
    for asserted in objects_in(object_in(one.get("testCase")).get("assert")):
        value, asserts = _written(asserted.get("value")), str(asserted.get("type"))
        gold = _written(rendered.get(value)) or _filled_in(value or "", variables)
        if asserts == "equals" and gold:
            golds.append(gold)
        elif asserts != "human":
            unread[asserts] += 1
    row |= {"gold": golds} if golds else {}
    for verdict in verdicts:
        kind, passed = object_in(verdict.get("assertion")).get("type"), verdict.get("pass")
        if isinstance(kind, str) and isinstance(passed, bool):
            row["human" if kind == "human" else f"assert {kind}"] = passed
    return row


def _written(value: object) -> str | None:
    """Return a value as a text, an object as its JSON; ``None`` for nothing and a tool's call."""
    if value is None or isinstance(value, str):
        return value
    called = any(part.get("type") in CALLS for part in objects_in(value))
    return (
        None if called else spoken_text(value, "assistant") or json.dumps(value, ensure_ascii=False)
    )


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


def deepeval_rows(document: Mapping[str, Any], notices: list[str]) -> list[Row] | None:
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
    talks = document.get("conversationalTestCases")
    if isinstance(talks, list) and talks:
        notices.append(f"conversational test cases that are not read: {len(talks):,}")
    return [_deepeval_row(one, model) for one in objects_in(cases)]


def _deepeval_row(one: Mapping[str, Any], model: object) -> Row:
    context = one.get("context") or one.get("retrievalContext")
    row: Row = {
        "model": model if isinstance(model, str) else None,
        "question": one.get("input"),
        "answer": _written(one.get("actualOutput")),
        "gold": _written(one.get("expectedOutput")),
        "context": "\n\n".join(map(str, context)) if isinstance(context, list) else None,
        "error": one.get("error"),
    }
    metrics = one.get("metricsData")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, Mapping) and isinstance(metric.get("success"), bool):
            row[f"metric {metric.get('name')}"] = metric["success"]
    return row
