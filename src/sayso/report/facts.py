"""What a run was, for the page: model, data, judge, machine, cost, settings, signatures."""

from __future__ import annotations

from sayso.report.clean import line
from sayso.report.numbers import Numbers
from sayso.report.words import FORMS, METRICS
from sayso.store import Manifest


def title(manifest: Manifest) -> str:
    """Return the short name of the model, as in signatures."""
    return line(manifest.model_signature or manifest.model or "a model", 100)


def facts(manifest: Manifest) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (group, rows of name and value) of a manifest; what is empty is left out."""
    groups: list[tuple[str, list[tuple[str, object]]]] = [
        (
            "Model, data, judge",
            [
                ("model", manifest.model),
                ("identity", manifest.model_identity),
                ("base", manifest.model_base),
                ("data", manifest.data),
                ("data hash", manifest.data_hash),
                ("questions, short and long", f"{manifest.n_questions:,}"),
                ("judge", manifest.judge_signature or manifest.judge),
            ],
        ),
        (
            "Run",
            [
                ("sayso", manifest.sayso),
                ("started", manifest.created),
                ("finished", manifest.finished or "not finished"),
                ("price of the answers", _dollars(manifest.dollars)),
                ("price of the verdicts", _dollars(manifest.judge_dollars)),
            ],
        ),
        ("Settings", [*sorted(manifest.settings.items())]),
        ("Prompts", [*sorted(manifest.prompts.items())]),
        ("Machine", [*sorted(manifest.machine.items())]),
        ("Versions", [*sorted(manifest.versions.items())]),
        (
            "Seconds",
            [(n.removesuffix("_s"), f"{v:.1f}") for n, v in sorted(manifest.timings.items())],
        ),
        ("Requests and tokens", [(n, f"{v:,}") for n, v in sorted(manifest.tokens.items())]),
    ]
    found = []
    for group, rows in groups:
        shown = [(line(n.replace("_", " "), 80), _value(v)) for n, v in rows if v not in (None, "")]
        if shown:
            found.append((group, shown))
    return found


def signatures(numbers: Numbers) -> list[tuple[str, str]]:
    """Return (metric and form, signature) of the headline numbers."""
    return [
        (f"{name}, {FORMS[form]}", line(found.signature, 1_000))
        for form in numbers.forms
        for name in METRICS
        if (found := numbers.get(name, form)).signature
    ]


def _dollars(amount: float | None) -> str | None:
    """A price that is not 0; unknown and nothing to pay are left out: the notices tell which."""
    return f"${amount:.4f}" if amount else None


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return line(str(value), 1_000)
