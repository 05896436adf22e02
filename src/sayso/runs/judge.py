"""Opening the judge of a run: the offline rules, a model, or rules and a model."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from sayso.engines import OPENERS, check_model_name, refuse_gone
from sayso.engines.engine import Engine, check_contract, check_engine
from sayso.engines.prices import price_of
from sayso.engines.ray.engine import RaySettings
from sayso.judges.cascade import CascadeJudge
from sayso.judges.judge import Item, Judge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.options import (
    JudgingOptions,
    ModelOptions,
    check_values,
    for_others,
    given,
    option_names,
    part,
)
from sayso.plugins import Plugin, find_plugin, plugin_names
from sayso.processes import cores
from sayso.progress import Progress
from sayso.protocols.settings import folder_setting
from sayso.records import Content, InputError, Stance, Verdict, ask, request_key
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import Meter, is_endpoint, known_price, open_priced
from sayso.storage.cache import Cache

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: the judge that asks no model, and all names that are no plug-in's
RULES = "rules"
OURS = (RULES, "people", *OPENERS)
EXPECTED = (
    "expected 'rules' (offline), the name of a model such as openai:gpt-5.4, or 'rules+' and the "
    "name of a model, which is then asked only if the rules are not certain; people, for answers "
    "with people's verdicts (--answers)"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgeOptions(JudgingOptions):
    """How a model judges, and how it is opened. The defaults are those of the command line.

    ``judge_price`` is "in,out" dollars per million tokens. ``ray`` is where a judge of ours
    computes, if not in this process; ``batches`` the folder of batch files, if an endpoint is asked
    in them.
    """

    opening: ModelOptions = ModelOptions()
    prompt_folder: str = ""
    ray: RaySettings | None = None
    batches: str | None = None


#: how a judge that runs in this process is opened: option of the judge -> that of any model
OPENED_HERE = {
    "judge_device": "device",
    "judge_dtype": "dtype",
    "judge_batch_size": "batch_size",
}
#: options that the rules have no use for; what else is given may be meant for the subject
OF_A_MODEL = [n for n in option_names(JudgingOptions, use="judge") if n != "judge_anyway"]


class OpenJudge(NamedTuple):
    """An open judge, and the engine behind it: ``None`` for a judge without a model."""

    judge: Judge
    engine: CachedEngine | None = None
    borrowed: bool = False

    def close(self) -> None:
        """Close the judge's model, unless it is the caller's own."""
        if self.engine is not None and not self.borrowed:
            self.engine.close()


def check_given(given: object) -> None:
    """Refuse what is neither a name, nor a judge, nor an engine. Raises InputError."""
    if isinstance(given, str) or not hasattr(given, "grade") or isinstance(given, type):
        check_engine(given, "judge")
    else:
        check_contract(given, Judge, "judge")


def brought_judge(given: object) -> Plugin | None:
    """Return the plug-in that brings a judge named so; ``None`` for any other judge."""
    return find_plugin("judges", given, OURS) if isinstance(given, str) else None


def judging_model(judge: object) -> str:
    """Return the name of the model that a judge named so asks; "" for a judge without one."""
    if not isinstance(judge, str) or brought_judge(judge) or judge == RULES:
        return ""
    return judge.removeprefix("rules+")


def check_judge(name: str, options: JudgeOptions | None = None) -> None:
    """Refuse a name or options that are no judge's, before anything is opened.

    Raises InputError.
    """
    chosen = options or JudgeOptions()
    check_values(part(JudgingOptions, chosen))
    if brought_judge(name) or name == RULES:
        useless = [n for n in given(part(JudgingOptions, chosen)) if n in OF_A_MODEL]
        if useless:
            raise InputError(f"judge {name!r} is not a model: leave {_named(useless)} out")
        return
    model = judging_model(name)
    _check_prompt(chosen)
    refuse_gone(model)
    try:
        check_model_name(model)
    except InputError:
        told = f"{EXPECTED}{plugin_names('judges')}{plugin_names('engines')}"
        raise InputError(f"judge {name!r}: {told}") from None
    useless = [n for n in given(part(JudgingOptions, chosen)) if n in OPENED_HERE]
    if useless and is_endpoint(model):
        raise InputError(
            f"{_named(useless)}: for a judge that runs in this process (hf:NAME), and {model!r} is "
            "an endpoint; leave it out"
        )


def _named(names: Sequence[str]) -> str:
    """Return options in a sentence: "judge_mode and judge_labels"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _check_prompt(options: JudgeOptions) -> None:
    """Refuse settings of calls that the brief prompts decide themselves. Raises InputError."""
    chosen = given(part(JudgingOptions, options))
    useless = [name for name in ("judge_batch", "judge_mode") if name in chosen]
    if options.judge_prompt == "brief" and useless:
        raise InputError(
            f"judge_prompt brief asks for one decision a call: leave {_named(useless)} out"
        )


def judge_opening(options: JudgeOptions) -> ModelOptions:
    """Return how the model of a judge is opened: as the subject, but for settings of its own."""
    own = {
        name: getattr(options, of_judge)
        for of_judge, name in OPENED_HERE.items()
        if getattr(options, of_judge) is not None
    }
    return dataclasses.replace(for_others(options.opening), **own)


def open_judge(
    given: str | Judge | Engine,
    options: JudgeOptions | None = None,
    *,
    subject: Engine | None = None,
    cache: Cache | None = None,
    meter: Meter | None = None,
    progress: Progress | None = None,
    learn: bool = True,
) -> OpenJudge:
    """Open ``rules``, ``<model>``, ``rules+<model>``, or an engine or a judge of the caller's own.

    A model is asked through the cache, if one is given, and counted apart from the ``subject``,
    of whose family it should not be: if it is, the judge says so. An endpoint is first asked one
    question, whether it holds replies to a schema; with ``learn=False``, for those who only count,
    only the cache is asked. Raises InputError for a name that is no judge, for a limit on money
    with a model whose price nobody knows, and for an endpoint that does not answer that question.
    """
    check_given(given)
    if is_judge(given):
        ours = isinstance(given, (RulesJudge, LlmJudge, CascadeJudge))
        return OpenJudge(given if ours else CheckedJudge(given), borrowed=True)
    chosen, meter = options or JudgeOptions(), meter or Meter()
    borrowed, cascade = not isinstance(given, str), False
    if isinstance(given, str):
        check_judge(given, chosen)
        if given == RULES:
            return OpenJudge(RulesJudge(chosen.jobs or cores()))
        if brought := brought_judge(given):
            own = brought.open()
            check_contract(own, Judge, f"{brought.title}:")
            return OpenJudge(CheckedJudge(own))
        model = judging_model(given)
        cascade = model != given
        opened, price = open_priced(
            model, meter.max_cost, "judge_price", price=chosen.judge_price,
            opening=judge_opening(chosen), weights=None if learn else False, ray=chosen.ray,
            batches=chosen.batches,
        )  # fmt: skip
    else:
        useless = [n for n in OPENED_HERE if getattr(chosen, n) is not None]
        if useless:
            raise InputError(f"the judge {given.name} is open already: leave {_named(useless)} out")
        opened = given
        price = price_of("", chosen.judge_price) if chosen.judge_price else known_price(given)
    engine = CachedEngine(opened, cache, who="judge", price=price, meter=meter, progress=progress)
    try:
        judge = model_judge(engine, chosen, subject, learn)
    except BaseException:
        if not borrowed:
            engine.close()
        raise
    rules = RulesJudge(chosen.jobs or cores())
    return OpenJudge(CascadeJudge(rules, judge) if cascade else judge, engine, borrowed)


class CheckedJudge:
    """A judge of the caller's own, whose verdicts are looked at before they count."""

    def __init__(self, given: Judge) -> None:
        """Take over the name and the signature."""
        self.given, self.name, self.signature = given, given.name, given.signature

    def __getattr__(self, name: str) -> Any:
        """Return what else the judge has: the engine behind it."""
        return getattr(self.given, name)

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the judge's verdicts. Raises InputError for one that is missing or malformed."""
        verdicts = self.given.grade(items)
        asked = [(item.generation.id, question.id) for item in items for question in item.questions]
        if not isinstance(verdicts, list) or len(verdicts) != len(asked):
            came = len(verdicts) if isinstance(verdicts, list) else type(verdicts).__name__
            raise InputError(
                f"judge {self.name}: grade returned {came} for {len(asked)} questions of "
                f"{len(items)} answers; expected a list with one verdict for each, in order"
            )
        for verdict, ids in zip(verdicts, asked, strict=True):
            if wrong := _malformed(verdict, ids):
                raise InputError(f"judge {self.name}: {wrong}")
        return verdicts


def _malformed(verdict: object, ids: tuple[str, str]) -> str:
    """Return what is wrong with a verdict; nothing if all is well."""
    if not isinstance(verdict, Verdict):
        return f"grade returned a {type(verdict).__name__}; expected sayso.records.Verdict"
    if (verdict.target, verdict.asked) != ids:
        return (
            f"found a verdict on {verdict.target!r} about {verdict.asked!r}, expected one on "
            f"{ids[0]!r} about {ids[1]!r}; return verdicts in the order of the questions"
        )
    if verdict.problem is not None and (verdict.stance, verdict.content) == (None, None):
        return ""
    for what, value, allowed in (
        ("stance", verdict.stance, get_args(Stance)),
        ("content", verdict.content, get_args(Content)),
    ):
        if value not in allowed:
            return (
                f"{what} {value!r} of the verdict on {ids[0]!r}; expected {', '.join(allowed)}, or "
                "a problem, no stance and no content"
            )
    if verdict.problem is not None:
        return f"the verdict on {ids[0]!r} has a stance and a problem; expected one of them"
    return ""


def is_judge(given: str | Judge | Engine) -> TypeIs[Judge]:
    """Tell a judge of the caller's own from a name and from an engine that is to judge."""
    return hasattr(given, "grade")


def model_judge(
    engine: Engine, options: JudgeOptions, subject: Engine | None, learn: bool = False
) -> LlmJudge:
    """Return a model as judge of the ``subject``'s answers; ``learn`` as in :func:`open_judge`."""
    brief = options.judge_prompt == "brief"  # its reply is a word, whatever the endpoint can do
    schema = not brief and (engine.capabilities.json_schema or holds_to_schema(engine, learn))
    return LlmJudge(
        engine,
        prompts=options.judge_prompt,
        labels=options.judge_labels,
        batch=options.judge_batch,
        mode=options.judge_mode,
        prompt_folder=folder_setting(options.prompt_folder),
        family=subject.name if subject is not None else None,
        output="json" if schema else "blocks",
        anyway=options.judge_anyway,
        dtype="" if options.judge_dtype in (None, "auto") else options.judge_dtype,
    )


PROSE = "Is tea better than coffee? Answer in one plain English sentence."
CHOICES = ("tea", "coffee")
SCHEMA = json.dumps(
    {
        "name": "preference",
        "schema": {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": CHOICES}},
            "required": ["choice"],
            "additionalProperties": False,
        },
    }
)

#: problems of a question that will be the same tomorrow
REFUSED = re.compile(r"failed: (?:status 4|content filter)")


def holds_to_schema(engine: Engine, learn: bool = True) -> bool | None:
    """Ask an endpoint for prose with a JSON schema: JSON is then the schema's doing.

    One short question, from the cache the next time, so that a run that goes on reads its judge
    in the same form. Any other engine is known beforehand and not asked. With ``learn=False``
    only the cache is looked into; ``None`` where it does not know.

    Raises InputError where no answer comes: to guess would be to judge everything once more, in
    the other form, when it does.
    """
    if not engine.identity.startswith("api:"):
        return False
    request = ask(PROSE, temperature=0, max_tokens=64, response_format=SCHEMA)
    if learn:
        ((_, reply),) = engine.complete([request])
    else:
        key = request_key(request, engine.identity)
        cache = getattr(engine, "cache", None)
        kept = cache.get_many([key]) if cache is not None else {}
        if key not in kept:
            return None
        reply = kept[key]
    if learn and reply.problem is not None and REFUSED.match(reply.problem):
        # The schema may be what it refuses; if it is everything, nobody should be paid first.
        ((_, plain),) = engine.complete([ask(PROSE, temperature=0, max_tokens=64)])
        if plain.problem is None or not plain.problem.startswith("failed: status"):
            return False
        reply = plain
    if reply.problem is not None:
        if reply.problem.startswith("failed") and (learn or not REFUSED.match(reply.problem)):
            reason = reply.problem.removeprefix("failed: ")
            raise InputError(
                f"the judge {engine.name} did not answer a short test question ({reason}); run "
                "the same command again when it does"
            )
        return False
    try:
        value = json.loads(reply.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("choice") in CHOICES
