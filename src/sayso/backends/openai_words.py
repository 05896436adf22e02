"""What is said to the user about an endpoint: one line for each mistake, sentences for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sayso.backends.openai_errors import Fault
from sayso.backends.openai_names import Endpoint, told


def outline(fault: Fault) -> str:
    """Return a fault's kind in a few words that do not depend on what a server wrote."""
    if fault.reason.startswith("status "):
        return fault.reason.partition(":")[0]
    return {"away": "nobody listens", "page": "a web page"}.get(
        fault.kind, told(fault.reason, (), 40)
    )


def explain(endpoint: Endpoint, fault: Fault, served: Sequence[str] | None = None) -> str:
    """Return the one line that ends a run: what came, from where, and what to do."""
    said = told(fault.reason, endpoint.secrets)
    where = f"model {endpoint.name!r}"
    status = fault.reason.removeprefix("status ")[:3]
    if fault.kind in ("away", "late"):
        return f"{where}: nothing answers at {endpoint.url} ({said}); is it running, on this port?"
    if status in ("401", "403"):
        held = "refuses the key in" if endpoint.key else "wants a key; set"
        return f"{where}: {endpoint.url} {held} {' or '.join(endpoint.key_names)} ({said})"
    if status in ("402", "429"):
        return f"{where}: the account at {endpoint.url} has nothing left to spend ({said})"
    if served is not None and endpoint.model and endpoint.model not in served:
        names = ", ".join(told(name, endpoint.secrets, 60) for name in served[:8]) or "none"
        return f"{where}: {endpoint.url} does not serve {endpoint.model!r}; it lists: {names}"
    expected = "expected an OpenAI-compatible address, which mostly ends in /v1"
    if fault.kind == "page" or fault.page:
        return f"{where}: {endpoint.url} answers with something else than JSON ({said}); {expected}"
    if fault.kind in ("first", "unable"):
        return f"{where}: {endpoint.url} has no chat completions ({said}); {expected}"
    if fault.kind == "refused":
        return f"{where}: {endpoint.url} refuses every request so far ({said})"
    return f"{where}: {endpoint.url} does not list its models ({said})"


def asked_again(again: Counter[str], retries: int) -> list[str]:
    """Return one sentence on calls that were asked again, most frequent reasons first."""
    if not again:
        return []
    kinds = ", ".join(f"{kind}: {count:,}" for kind, count in again.most_common(6))
    return [f"{retries:,} calls to the endpoint were asked again ({kinds})"]
