"""What requests cost: the price of a model, the money spent so far, and the limit on it.

Amounts are US dollars; ``None`` is an amount that nobody knows, never 0.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sayso.engines import brought_model, open_model
from sayso.engines.absent import AbsentModel
from sayso.engines.engine import Engine
from sayso.engines.named import NotHere
from sayso.engines.prices import LOCAL, Price, price_of
from sayso.engines.providers import REMOTE
from sayso.engines.ray.engine import RaySettings, open_ray
from sayso.options import ModelOptions, as_typed, given, option_names
from sayso.records import InputError
from sayso.storage.atomic import real_path

#: requests of a kind that may wait for an answer: 1, and this many for each one answered
GROWTH = 4
#: failed requests, which cost nothing and tell no price, let no more than these wait
MOST_UNPRICED = 8


class BudgetSpent(InputError):  # noqa: N818 - a name that the command line's reader understands
    """The money of ``--max-cost`` is spent; everything that was paid for is kept."""


def dollars(amount: float | None) -> str:
    """Return an amount as people write it: cents, more digits where it is small, or "unknown"."""
    if amount is None:
        return "unknown"
    if amount >= 0.9995 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.3f}" if amount >= 0.01 else f"${amount:.2g}"


def add(total: float | None, amount: float | None) -> float | None:
    """Return a sum of dollars; one unknown amount makes it unknown."""
    return None if total is None or amount is None else total + amount


@dataclass
class _Kind:
    answered: int = 0
    failed: int = 0
    waiting: int = 0
    spent: float = 0.0
    at_most: float = 0.0

    @property
    def mean(self) -> float:
        return self.spent / self.answered if self.answered else self.at_most


class Meter:
    """Adds up dollars and says whether one more request may be asked.

    ``max_cost`` is in dollars, ``None`` for no limit. A *kind* of request is a name for those that
    cost alike (who is asked, and the longest answer allowed). What waits for an answer is reserved
    at the mean of its kind so far. Of a kind without an answer only one request is asked, and the
    number that may wait grows with those answered: so a mean is known before it is relied upon.
    Failed requests say nothing of what an answer costs and count for neither.
    What was spent can exceed the limit by what the last answers cost above the mean, no more.
    Requests may be taken in another thread than the one that counts replies.
    """

    def __init__(self, max_cost: float | None = None) -> None:
        self.max_cost = max_cost
        self.spent = 0.0
        self.kept: float | None = 0.0
        self._kinds: dict[str, _Kind] = {}
        self._lock = threading.Lock()

    def take(self, kind: str, at_most: float | None = None) -> bool:
        """Reserve the price of one request; False when it must not be asked (now).

        ``at_most`` is a price that it cannot exceed, for requests that are all sent before the
        first is answered: it is reserved until a mean is known.
        """
        with self._lock:
            of = self._kinds.setdefault(kind, _Kind())
            of.at_most = max(of.at_most, at_most or 0.0)
            if self.max_cost is not None:
                reserved = sum(k.waiting * k.mean for k in self._kinds.values())
                limit = self.max_cost * (1 + 1e-9)  # sums of cents are a little off
                if self.spent + reserved + of.mean > limit or self.spent >= self.max_cost:
                    return False
                few = GROWTH * of.answered + min(of.failed, MOST_UNPRICED)
                if at_most is None and of.waiting > few:
                    return False
            of.waiting += 1
            return True

    def settle(self, kind: str, paid: float | None, *, failed: bool = False) -> None:
        """Count the reply to a request that was taken; ``None`` where nobody knows its price.

        ``failed``: it has no answer and cost nothing.
        """
        with self._lock:
            of = self._kinds.setdefault(kind, _Kind())
            of.waiting -= 1
            of.answered += not failed
            of.failed += failed
            of.spent += paid or 0.0
            self.spent += paid or 0.0

    def keep(self, paid: float | None) -> None:
        """Count what an answer from the cache cost when it was paid for; ``None``: unknown."""
        with self._lock:
            self.kept = add(self.kept, paid)

    def give_up(self, kind: str, number: int) -> None:
        """Free what was reserved for requests that will not be answered."""
        with self._lock:
            self._kinds[kind].waiting -= number

    def price(self, kinds: list[str]) -> float | None:
        """Return what requests of these kinds would cost at the means so far; None if unknown."""
        with self._lock:
            known = [self._kinds[kind] for kind in kinds if kind in self._kinds]
            if len(known) < len(kinds) or not all(k.answered for k in known):
                return None
            return sum(k.mean for k in known)

    def stop(self, left: list[str]) -> BudgetSpent:
        """Return the exception that says what was spent and what is left to ask."""
        about = self.price(left)
        before = ""
        if self.kept:  # what the answers of earlier commands cost, where that is known
            before = f" ({dollars(self.spent + self.kept)} for all answers of this run so far)"
        rest = f", about {dollars(about)}" if about is not None else ""
        return BudgetSpent(
            f"stopped at --max-cost {self.max_cost:g}: {dollars(self.spent)} spent by this command"
            f"{before}, at least {len(left):,} requests left to ask{rest}; every answer so far is "
            "kept; run the same command to resume, with at most another "
            f"{dollars(self.max_cost or 0.0)}"
        )


# ---- opening a model with its price


def open_priced(
    name: str,
    max_cost: float | None = None,
    option: str = "price",
    *,
    opening: ModelOptions = ModelOptions(),
    price: str | None = None,
    extra: Mapping[str, object] = MappingProxyType({}),
    ray: RaySettings | None = None,
    weights: bool | None = None,
    batches: str | None = None,
) -> tuple[Engine, Price | None]:
    """Open a model and return it with its price, ``None`` where that is unknown.

    ``price`` is "in,out" in dollars per million tokens, given by ``option``; ``opening``,
    ``weights`` and ``batches`` are as in :func:`model_options`, ``extra`` are further options of
    this kind of model. With ``ray`` the model computes in Ray's actors, and is opened here
    without weights.
    Where ``weights`` is False, a model whose files are not on this machine is an
    :class:`~sayso.engines.absent.AbsentModel`. Raises InputError, also for a limit ``max_cost``
    that cannot be kept.
    """
    known = price_of(name, price)
    if brought_model(name):  # it may say itself what it costs
        here = {option: value for option, value in given(opening).items() if option in HERE}
        inner = open_model(name, **here, **extra)
        known = known or known_price(inner)
        check_price(max_cost, name, known, option)
        return inner, known
    options = model_options(name, opening, price=price, weights=weights, batches=batches)
    if known is not None and options.get("batches"):
        known = known.halved
    check_price(max_cost, name, known, option)
    options |= extra
    if is_endpoint(name):
        inner = open_model(name, **options)
        if known == LOCAL and known_price(inner) is None:  # the server passes its requests on
            known = None
            try:
                check_price(max_cost, name, known, option)
            except InputError:
                inner.close()
                raise
        if ray is None:
            return inner, known
        return open_ray(inner, _anywhere(inner.name), options, ray), known
    try:
        if ray is None:
            return open_model(name, **options), known
        inner = open_model(name, **{**options, "weights": False})
    except NotHere as reason:
        if weights is not False:
            raise
        return AbsentModel(name, reason), known
    options.pop("weights", None)
    return open_ray(inner, _anywhere(name), options, ray), known


def _anywhere(name: str) -> str:
    """Return the name of a model by which a process in another folder opens it."""
    kind, _, rest = name.partition(":")
    folder, mark, file = rest.partition("#")
    local = kind in ("hf", "gguf", "vllm") and Path(folder).expanduser().exists()
    return f"{kind}:{real_path(Path(folder).expanduser())}{mark}{file}" if local else name


def is_endpoint(model: str) -> bool:
    """Tell whether a model's name is that of an endpoint, or of a list of some, which is refused
    where it is opened."""
    return model.partition(":")[0] in REMOTE or model.startswith("@")


def is_local(model: object) -> bool:
    """Tell whether a model is named that is opened in this process."""
    return isinstance(model, str) and model not in ("", "rules") and not is_endpoint(model)


#: options that only a model in this process takes, and that only the one that answers takes
HERE = option_names(ModelOptions, use="here") + option_names(ModelOptions, use="answering")
ANSWERING = option_names(ModelOptions, use="answering")


def model_options(
    model: str,
    opening: ModelOptions = ModelOptions(),
    *,
    price: str | None = None,
    weights: bool | None = None,
    batches: str | None = None,
) -> dict[str, object]:
    """Return those of the options that this kind of model takes.

    ``concurrency``, ``timeout``, ``patience`` and ``device`` may be meant for another model of the
    same run, so a model of the other kind ignores them; any other option of that kind is refused.
    Without ``weights`` nothing is loaded, and an endpoint is not asked; ``batches`` is the folder
    of batch files. Raises InputError.
    """
    chosen = given(opening)
    if model.startswith("vllm:") and chosen.get("end_loops"):
        raise InputError(f"end_loops is for hf: models, and {model!r} runs in vLLM; leave it out")
    if model.startswith("vllm:"):
        chosen.pop("end_loops", None)
    local = {name: value for name, value in chosen.items() if name in HERE}
    remote = {name: value for name, value in chosen.items() if name not in HERE}
    named = {"price": price, "batches": batches}
    remote |= {name: value for name, value in named.items() if value is not None}
    wrong: tuple[str, ...] = ("price", "model_version")
    whose, where, kept, foreign = "endpoints", "runs on this machine", local, remote
    if is_endpoint(model):
        wrong = ANSWERING
        whose, where, kept, foreign = "models in this process", "is an endpoint", remote, local
        if weights is False:
            kept["asked"] = False
    elif weights is not None:
        kept["weights"] = weights
    for name in wrong:
        if name in foreign:
            raise InputError(
                f"{name} {foreign[name]!r} is for {whose}, and the model "
                f"{model!r} {where}; leave it out"
            )
    return kept


def check_price(max_cost: float | None, model: str, price: Price | None, option: str) -> None:
    """Refuse a limit on money that cannot be kept since nobody knows the price of ``model``."""
    if max_cost is not None and price is None:
        raise InputError(
            f"--max-cost {max_cost:g} cannot be enforced: the price of {model!r} is unknown; "
            f"give {as_typed(option, 'IN,OUT')} in dollars per million tokens, such as "
            f"{as_typed(option, '0.15,0.60')}"
        )


def known_price(engine: Engine) -> Price | None:
    """Return the ``price`` that an engine of the caller's own carries, if it has one."""
    price = getattr(engine, "price", None)
    return price if isinstance(price, Price) else None
