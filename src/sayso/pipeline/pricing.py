"""What a run may cost: which options an endpoint takes, and which limits can be kept."""

from __future__ import annotations

from sayso.models import Engine
from sayso.pipeline.asking import Asker
from sayso.pipeline.metering import dollars
from sayso.prices import LOCAL, Price
from sayso.records import InputError

#: how the name of a model begins that is asked over a network
ENDPOINTS = ("openai:", "http:", "https:")


def is_endpoint(model: str) -> bool:
    """Tell whether a model's name is that of an endpoint."""
    return model.startswith(ENDPOINTS)


def endpoint_options(model: str, **given: str | float | None) -> dict[str, object]:
    """Return the options that were given, for an endpoint.

    ``concurrency`` and ``timeout`` may be meant for another model of the same run, so a model in
    this process ignores them; a price or a version for it is refused. Raises InputError.
    """
    chosen: dict[str, object] = {k: v for k, v in given.items() if v is not None}
    if is_endpoint(model):
        return chosen
    for name in ("price", "model_version"):
        if name in chosen:
            raise InputError(
                f"{name.replace('_', '-')} {chosen[name]!r} is for endpoints, and the model "
                f"{model!r} runs on this machine; leave it out"
            )
    return {}


def check_price(max_cost: float | None, model: str, price: Price | None, flag: str) -> None:
    """Refuse a limit on money that cannot be kept since nobody knows the price of ``model``."""
    if max_cost is not None and price is None:
        raise InputError(
            f"--max-cost {max_cost:g} cannot be kept: the price of {model!r} is unknown; give "
            f"{flag} IN,OUT in dollars per million tokens, such as {flag} 0.15,0.60"
        )


def known_price(engine: Engine) -> Price | None:
    """Return the ``price`` that an engine of the caller's own carries, if it has one."""
    found = getattr(engine, "price", None)
    return found if isinstance(found, Price) else None


def bill(model: Asker, judge: Asker | None) -> list[str]:
    """Return one line with what answers and verdicts cost; nothing where nothing could cost.

    Whoever answered nothing is not in it: failed requests say nothing of a price.
    """
    parts = {"answers": model, "verdicts": judge}
    paid = {what: a for what, a in parts.items() if a is not None and _may_cost(a)}
    if not any(a.remote or a.dollars != 0 for a in paid.values()):
        return []
    said = ", ".join(f"{what} {told(a.dollars)}" for what, a in paid.items())
    if any(a.dollars is None for a in paid.values()):
        return [f"price: {said}; --price IN,OUT and --judge-price IN,OUT tell what tokens cost"]
    return [f"price: {said}; {dollars(sum(a.paid for a in paid.values()))} of it paid now"]


def _may_cost(asker: Asker) -> bool:
    tally = asker.tally
    return asker.price != LOCAL and (tally.cached + tally.asked > tally.failed or asker.paid > 0)


def told(amount: float | None) -> str:
    """Return an amount of dollars as people write it; what nobody knows is "unknown"."""
    return "unknown" if amount is None else dollars(amount)
