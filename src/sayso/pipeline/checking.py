"""``sayso.check``: what a model or an endpoint can do, found out by asking it a little.

An endpoint may ignore what it is asked for and still answer 200: repeat one draw five times,
truncate sampling by a folder's own settings, give log-probabilities that were tempered. Each
finding says what was seen, not what a manual promises; what cannot be seen is "cannot tell".
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sayso.models import Engine, open_model
from sayso.pipeline import checking_draws, checking_replies
from sayso.pipeline.checking_ask import ABOUT, STAGE, Questioner, first_answer
from sayso.pipeline.checking_records import Check, Finding, LeftOut
from sayso.pipeline.progress import Progress, Silent
from sayso.protocols.uncle_cautions import BY_DRAWS, BY_LOGPROBS

__all__ = ["Check", "Finding", "LeftOut", "check"]


def check(
    model: str | Engine,
    options: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> Check:
    """Find out what a model can do, with about 450 short requests, most of them of one token.

    ``model`` is a name as on the command line, or an engine of your own (which stays open);
    ``options`` are those of ``open_model``, ``progress`` is told of every answer.
    Nothing is cached: every answer is asked for.
    Raises :class:`~sayso.records.InputError` where nobody answers.
    """
    engine = open_model(model, **(options or {})) if isinstance(model, str) else model
    progress = progress or Silent()
    try:
        progress.start(STAGE, ABOUT, 0)
        return _check(Questioner(engine, progress))
    finally:
        progress.end(STAGE)
        if isinstance(model, str):
            engine.close()


def _check(asking: Questioner) -> Check:
    engine = asking.engine
    first = first_answer(asking)
    thinking = checking_replies.thinking(asking, first)
    greedy = checking_replies.greedy(asking)
    drawn = checking_draws.draw(asking, thinks=thinking.always)
    schema = checking_replies.schema(asking)
    kept = checking_draws.distribution(drawn)
    findings = (
        checking_replies.reached(engine, first),
        checking_replies.chat_template(engine, first),
        checking_replies.context(engine),
        checking_draws.logprobs(engine, drawn, first),
        *checking_draws.raw(drawn),
        checking_replies.alternatives(engine, asking.replies),
        checking_draws.several(engine),
        checking_draws.seed(engine, drawn),
        schema,
        *thinking.findings,
        greedy,
        checking_draws.vary(drawn),
        checking_replies.sampling_taken(asking.replies),
        kept,
    )
    prompt, completion = asking.tokens
    return Check(
        model=engine.name,
        identity=engine.identity,
        signature=engine.signature,
        fingerprint=first.fingerprint,
        findings=findings,
        left_out=_left_out(findings),
        requests=len(asking.replies),
        failed=sum(r.problem is not None and r.problem != "truncated" for r in asking.replies),
        prompt_tokens=prompt,
        completion_tokens=completion,
        dollars=asking.dollars,
        notices=tuple(
            str(notice).encode("utf-8", "replace").decode()
            for notice in getattr(engine, "notices", ())
        ),
    )


def _left_out(findings: tuple[Finding, ...]) -> tuple[LeftOut, ...]:
    """Return which results of sayso cannot be had, and why."""
    said = {f.what: f.answer for f in findings}
    lost: list[LeftOut] = []
    if said["log-probs"] != "yes":
        lost += [LeftOut(name, "no log-probs") for name in BY_LOGPROBS.values()]
    elif said.get("log-probs at T=0") == "no":
        why = "log-probs of greedy answers are not the model's own"
        lost += [LeftOut(name, why) for name in BY_LOGPROBS.values()]
    if said["draws vary"] == "no":
        lost += [LeftOut(name, "draws never vary") for name in BY_DRAWS]
        lost.append(LeftOut("hedge propensity over draws (--propensity)", "draws never vary"))
    return tuple(lost)


def to_json(found: Check) -> str:
    """Return a check as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()
