"""Settings as data: one frozen dataclass is the flags, ``--set``, YAML keys and Python's names.

What stands in a number's signature says ``measure.py`` of its protocol.

Each field says whether it changes what is asked (``collect_field``) or only how answers are counted
(``measure_field``): ``sayso measure`` refuses a changed ``collect_field``. Its type says which
values it may have: a ``Literal``, or a number between the limits of its ``msgspec.Meta``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from msgspec import Meta

from sayso.engines.named import LIMITS, AnswerLimits
from sayso.options import as_dict, check_values, option, replace
from sayso.prompts import WORDINGS

#: limits that settings of several protocols have
Temperature = Annotated[float, Meta(ge=0, le=10)]
Tokens = Annotated[int, Meta(ge=1, le=1_000_000)] | None
Share = Annotated[float, Meta(ge=0, le=1)]
Resamples = Annotated[int, Meta(ge=100, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63)]


def collect_field(default: Any, help: str, **about: Any) -> Any:
    """Declare a field that changes what is asked of the model; ``about`` as in :func:`option`."""
    return option(default, help, stage="collect", **about)


def measure_field(default: Any, help: str) -> Any:
    """Declare a field that changes only how stored answers are counted."""
    return option(default, help, stage="measure")


def most_tokens(name: Literal["short_tokens", "long_tokens"], what: str) -> Any:
    """Declare the field for the most tokens of an answer; ``None`` is what suits the model."""
    own = ", ".join(f"{getattr(limits, name)} for {model}" for model, limits in LIMITS.items())
    return collect_field(
        None, f"token limit of {what}; default: {getattr(AnswerLimits(), name)}, {own}"
    )


def with_limits(settings: Any, limits: AnswerLimits) -> Any:
    """Return settings in which the longest answers, where nobody set them, are those of a model."""
    known = as_dict(settings)
    names = {f"answer.{name}": getattr(limits, name) for name in ("short_tokens", "long_tokens")}
    unset = {name: value for name, value in names.items() if known.get(name, 0) is None}
    return replace(settings, unset) if unset else settings


def tokens_for(answer: Any, form: str) -> int:
    """Return the most tokens of an answer of a form, "short" or "long", as settings have it."""
    name = f"{form}_tokens"
    value = getattr(answer, name)
    return int(getattr(AnswerLimits(), name) if value is None else value)


def folder_setting(name: str) -> Path | None:
    """Return the folder that a setting names, as a path or as one that ships; else ``None``."""
    return WORDINGS.get(name) or (Path(name) if name else None)


class Probing(NamedTuple):
    """Which draws of a short question say whether it is known: the first ``k`` of a stage.

    It is known if ``at_least`` of them are right. ``hedged`` is whether it is known where fewer are
    and at least half of the draws hedged; ``None``: neither.
    """

    stage: str = ""
    k: int = 0
    hedged: bool | None = False
    at_least: int = 1


class ProtocolSettings:
    """What the settings of a protocol say of themselves; each protocol's are a subclass."""

    #: parts of signatures in which two runs may differ without being asked: what is compared, and
    #: what no compared number rests on. Prompts among them are signed apart from the others
    FREE: ClassVar[tuple[str, ...]] = ("model", "data", "ci")

    def check(self) -> None:
        """Refuse settings with which nothing could be asked or counted. Raises InputError."""
        check_values(self)

    def fitted(self, data: str, limit: int | None) -> Self:
        """Return settings with what depends on the name of the data set and ``limit`` filled in."""
        return self

    def probing(self) -> Probing:
        """Return which draws of a question its row of the table of answers shows."""
        return Probing()

    def further_models(self) -> Sequence[str]:
        """Return the names of the models that are asked besides the subject and the judge."""
        return ()
