"""``sayso check``: what a model or an endpoint can do, found out by asking it a little.

An endpoint may ignore what it is asked for and still answer 200: repeat one draw five times,
truncate sampling by a folder's own settings, give log-probabilities that were tempered. Each
finding says what was seen, not what a manual promises; what cannot be seen is "cannot tell". All
requests go through the Engine protocol, and nothing is cached.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from rich.console import Console

from sayso.engines import open_model
from sayso.engines.engine import Engine, check_engine
from sayso.engines.prices import price_of, reply_cost
from sayso.engines.room import MOST, is_cut
from sayso.harmless import line, well_formed
from sayso.progress import Progress
from sayso.protocols.uncle.notes import BY_DRAWS, BY_LOGPROBS
from sayso.records import Generation, InputError, Request, ask
from sayso.report.notebook import Plotted, data_frame, html_table, short_repr
from sayso.report.number_tables import grid, render_table
from sayso.report.numbers import p_text
from sayso.report.terminal import say
from sayso.runs.asking import checked_reply
from sayso.runs.costs import add, dollars, known_price

Answer = Literal["yes", "no", "cannot tell"]


class ModelFinding(msgspec.Struct, frozen=True):
    """One thing that a model can or cannot do: what was ``seen``, and what ``follows`` from it."""

    what: str
    answer: Answer
    seen: str
    follows: str = ""


class LeftOut(msgspec.Struct, frozen=True):
    """A result of sayso that this model cannot give, and why."""

    result: str
    why: str


class Check(Plotted, msgspec.Struct, frozen=True, kw_only=True):
    """What ``sayso.check`` found. ``dollars`` is what it cost, ``None`` where nobody knows.

    A notebook shows it as a table. ``fingerprint`` is what the endpoint calls the system that
    answered; ``failed`` of the ``requests`` got no answer; ``card`` is what a GGUF file says of its
    origin and license.
    """

    model: str
    identity: str
    signature: str
    fingerprint: str | None
    findings: tuple[ModelFinding, ...]
    left_out: tuple[LeftOut, ...]
    requests: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    notices: tuple[str, ...] = ()
    card: str = ""

    def get(self, what: str) -> ModelFinding:
        """Return the finding of this name, e.g. ``check.get("draws vary")``.

        Raises InputError, which names those that there are, for any other name.
        """
        for finding in self.findings:
            if finding.what == what:
                return finding
        names = ", ".join(finding.what for finding in self.findings)
        raise InputError(f"no finding is called {what!r:.80}; there are {names}")

    def table(self) -> list[dict[str, object]]:
        """Return the findings, a dict for each: ``what``, ``answer``, ``seen``, ``follows``."""
        return [msgspec.structs.asdict(finding) for finding in self.findings]

    def to_pandas(self) -> Any:
        """Return the findings as a ``pandas.DataFrame``; InputError where that is not installed."""
        return data_frame(self.table())

    def __repr__(self) -> str:
        counts = Counter(finding.answer for finding in self.findings)
        answers = ", ".join(f"{counts[answer]} {answer}" for answer in get_args(Answer))
        lost = [f"leaves out {len(self.left_out)} results"] if self.left_out else []
        return short_repr("Check", (f"model {line(self.signature, 60)}", answers, *lost))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what the model can do, and what that leaves out."""
        rows = [(f.what, f.answer, f.seen, f.follows) for f in self.findings]
        return html_table(
            f"what {line(self.signature, 60)} can do",
            ("", "", "what was seen", "what follows"),
            rows,
            cautions=(*_left_out_texts(self), *self.notices),
            last=_bill_text(self),
            nothing="nothing was found out",
        )


def check(
    model: str | Engine,
    options: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> Check:
    """Find out what a model can do, with about 440 draws, most of them of one token.

    An endpoint that gives several draws a call gets them in some 40 calls.

    ``model`` is a name as on the command line, or an engine of your own (which stays open);
    ``options`` are those of ``open_model``, ``progress`` is told of every answer.
    Nothing is cached: every answer is asked for.
    Raises :class:`~sayso.records.InputError` where nobody answers.
    """
    check_engine(model)
    progress = progress or Progress()
    engine = open_model(model, **(options or {})) if isinstance(model, str) else model
    if hasattr(engine, "tell"):
        engine.tell = progress.note
    progress.note(f"sends {HOW_MANY} to the model")
    asking = CheckQuestioner(engine, progress)
    try:
        progress.start(STAGE, ABOUT, 0)
        return _check(asking, first_answer(asking))
    finally:
        progress.end(STAGE)
        if isinstance(model, str):
            engine.close()


def _check(asking: CheckQuestioner, first: Generation) -> Check:
    engine = asking.engine
    thinking = check_thinking(asking, first)
    greedy = check_greedy(asking)
    drawn = try_draws(asking, first.request.max_tokens if thinking.always else 0)
    findings = (
        reached(engine, first, asking.replies),
        logprobs(engine, drawn, first),
        several(engine),
        seed(engine, drawn),
        thinking.finding,
        greedy,
        distribution(drawn),
        sampling_taken(asking.replies),
    )
    prompt, completion = asking.tokens
    return Check(
        model=engine.name,
        identity=engine.identity,
        signature=engine.signature,
        fingerprint=first.fingerprint,
        findings=findings,
        left_out=_left_out(drawn, first, engine),
        requests=len(asking.replies),
        failed=sum(r.problem is not None and r.problem != "truncated" for r in asking.replies),
        prompt_tokens=prompt,
        completion_tokens=completion,
        dollars=asking.dollars,
        notices=tuple(well_formed(str(notice)) for notice in getattr(engine, "notices", ())),
        card=well_formed(str(getattr(engine, "card", ""))),
    )


def _left_out(drawn: DrawnReplies, first: Generation, engine: Engine) -> tuple[LeftOut, ...]:
    """Return which results of sayso cannot be had, and why."""
    lost: list[LeftOut] = []
    if not (drawn.has_logprobs or first.logprobs):
        lost += [LeftOut(name, "no log-probs") for name in BY_LOGPROBS.values()]
    elif (drawn.greedy_change or 0.0) > NOISE:
        why = "log-probs of greedy answers are not the model's own"
        lost += [LeftOut(name, why) for name in BY_LOGPROBS.values()]
    if _all_equal(drawn):
        lost += [LeftOut(name, "draws never vary") for name in BY_DRAWS]
    if engine.capabilities.force and not engine.capabilities.hidden:
        lost.append(LeftOut("P(IK) (p_ik)", "llama.cpp gives no hidden states"))
    return tuple(lost)


# ---- questions

#: questions for the greedy checks, of different lengths so that a batch has to pad them
FACTS = (
    "What is the capital of France?",
    "Name three rivers, and say which of them is the longest.",
    "In two sentences, explain to a child why the sky is blue by day and red in the evening.",
    "Who wrote Moby-Dick?",
)
#: questions whose first word could be almost anything
OPEN = (
    "Write one random English word.",
    "Tell me something.",
    "Name any city, animal or thing that comes to your mind.",
)
#: what is being done, and about how many requests it takes
STAGE, ABOUT = "checking", 440
HOW_MANY = f"about {ABOUT} draws, most of them of one token,"
Template = tuple[tuple[str, str | int | float | bool], ...]


class CheckQuestioner:
    """Asks an engine and keeps the bill. ``template`` goes into every request from now on.

    ``dollars`` is ``None`` as soon as one reply had no known price.
    """

    def __init__(self, engine: Engine, progress: Progress | None = None) -> None:
        self.engine = engine
        self.progress = progress or Progress()
        self.template: Template = ()
        self.replies: list[Generation] = []
        self.dollars: float | None = 0.0
        self._price = known_price(engine) if hasattr(engine, "price") else price_of(engine.name)

    def request(self, text: str, tokens: int, **settings: object) -> Request:
        """Return a request of at most so many tokens, with the template's settings so far."""
        template = settings.pop("template", self.template)
        return ask(text, max_tokens=tokens, chat_template_kwargs=template, **settings)

    def ask(self, requests: Sequence[Request]) -> list[Generation]:
        """Ask all in one call and return the answers in the order of the requests.

        A request without an answer is a record with a problem.
        """
        replies: dict[int, Generation] = {}
        for index, reply in self.engine.complete(iter(requests)):
            if index not in replies:
                replies[index] = checked_reply(reply, self.engine.name)
                self.progress.advance(STAGE, reply, self._pay(reply))
        answers = [
            replies.get(index, Generation(request, problem="failed: no answer"))
            for index, request in enumerate(requests)
        ]
        self.replies += answers
        return answers

    def _pay(self, reply: Generation) -> float | None:
        paid = reply_cost(reply, self._price)
        self.dollars = add(self.dollars, paid)
        return paid

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion tokens of all answers."""
        return (
            sum(r.usage.prompt_tokens for r in self.replies),
            sum(r.usage.completion_tokens for r in self.replies),
        )


def first_answer(questioner: CheckQuestioner) -> Generation:
    """Ask the first question; raises InputError where nobody answers it."""
    context = questioner.engine.capabilities.context
    reply = Generation(questioner.request(FACTS[0], 1), problem="context")
    for room in (512, 128, 32):  # room to think for a model that does
        if context is None or room * 2 <= context:
            (reply,) = questioner.ask([questioner.request(FACTS[0], room, temperature=0)])
        if reply.problem != "context":
            break
    while is_cut(reply) and reply.request.max_tokens < MOST:
        wider = questioner.request(FACTS[0], 2 * reply.request.max_tokens, temperature=0)
        (more,) = questioner.ask([wider])
        if more.problem == "context":
            break
        reply = more
    if reply.problem is not None and reply.problem != "truncated":
        reason = reply.problem.removeprefix("failed: ")
        name = questioner.engine.name
        model = name.partition("#")[2]
        if model and model in reason and reason.startswith("status 4"):
            raise InputError(
                f"{name}: the server does not have the model {model!r} ({reason}); name one that "
                "it has, as URL#model"
            )
        raise InputError(f"{name} did not answer {FACTS[0]!r} ({reason}): nothing can be checked")
    return reply


def thinks(reply: Generation) -> bool:
    """Tell whether a model thought before it answered."""
    return reply.thinking is not None or bool(reply.thinking_tokens) or reply.problem == "truncated"


def reply_text(reply: Generation) -> tuple[str, str | None] | None:
    """Return text and thought of a reply, ``None`` for a request that failed."""
    if reply.problem is not None and reply.problem != "truncated":
        return None
    return reply.text, reply.thinking


def first_token(reply: Generation) -> tuple[str, float] | None:
    """Return the first token as written and its log-probability, ``None`` where either is not
    known: an answer that ended at once, half a character, a failed request."""
    if reply.problem is not None or not reply.logprobs or not reply.text:
        return None
    starts = reply.offsets or (0,)
    if len(reply.logprobs) > 1 and len(starts) < 2:
        return None
    text = reply.text[: starts[1]] if len(starts) > 1 else reply.text
    if not text or "\ufffd" in text:
        return None
    return text, reply.logprobs[0]


# ---- findings of single replies: answers, thinking, greedy, refused settings

SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_tokens", "stop")
#: those whose defaults, where a model brings some, keep a draw from being the model's own
TRUNCATING = ("top_p", "top_k", "min_p", "repetition_penalty")
#: how thinking is switched off: by the template's argument, else by the effort
OFF: tuple[Template, ...] = (
    (("enable_thinking", False),),
    (("reasoning_effort", "none"),),
    (("reasoning_effort", "minimal"),),
)
GREEDY_TOKENS = 48


def quoted_beginning(text: str, length: int = 60) -> str:
    """Return the beginning of a text in quotes, on one line."""
    flat = " ".join(well_formed(text).split())
    return repr(flat if len(flat) <= length else f"{flat[: length - 1]}…")


def reached(engine: Engine, first: Generation, replies: Sequence[Generation]) -> ModelFinding:
    """The model answered; what, and as whom. A chat template may lose the question."""
    prompts: dict[str, set[str]] = defaultdict(set)
    for reply in replies:
        if reply.rendered_hash and reply.request.messages:
            prompts[reply.rendered_hash].add(reply.request.messages[-1].content)
    alike = max(map(len, prompts.values()), default=0)
    if alike > 1:
        return ModelFinding(
            "answers",
            "no",
            f"{alike} different questions became the same prompt",
            "the model does not see what it is asked: correct its chat template",
        )
    who = engine.identity if engine.identity.startswith("api:") else engine.signature
    mark = f", system {first.fingerprint}" if first.fingerprint else ""
    return ModelFinding("answers", "yes", f"{who}{mark}: {quoted_beginning(first.text, 40)}")


class Thinking(NamedTuple):
    """Whether a model thinks; ``always`` where it cannot be kept from it."""

    finding: ModelFinding
    always: bool = False


def check_thinking(asking: CheckQuestioner, first: Generation) -> Thinking:
    """Find out whether a model thinks, and switch it off for the rest of the check if it can be."""
    if not thinks(first):
        if any(what.startswith("no chat template") for what in first.overrides):
            return Thinking(ModelFinding("thinking", "no", "no template that could ask for it"))
        on = _ask_again(asking, (("enable_thinking", True),), first)
        if thinks(on):
            seen = "only when asked to (enable_thinking)"
            return Thinking(ModelFinding("thinking", "yes", seen, "--thinking on"))
        return Thinking(ModelFinding("thinking", "no", "no thought before two answers"))
    length = f"{first.thinking_tokens:,} tokens" if first.thinking_tokens else "a thought"
    seen = f"{length} before {quoted_beginning(first.text, 30)}"
    for template in OFF:
        off = _ask_again(asking, template, first)
        if reply_text(off) is not None and not thinks(off):
            asking.template = template
            name, value = template[0]
            seen = f"{seen}; none with {name}={value}"
            return Thinking(ModelFinding("thinking", "yes", seen, "--thinking off"))
    finding = ModelFinding(
        "thinking", "yes", f"{seen}; {len(OFF)} ways to switch it off failed",
        "one-token draws show nothing; answers cost the thought",
    )  # fmt: skip
    return Thinking(finding, always=True)


def _ask_again(asking: CheckQuestioner, template: Template, first: Generation) -> Generation:
    room = first.request.max_tokens
    request = asking.request(FACTS[0], room, temperature=0, template=template)
    return asking.ask([request])[0]


def check_greedy(asking: CheckQuestioner) -> ModelFinding:
    """Ask greedy questions of different lengths alone and in a batch: are the answers equal?"""
    requests = [asking.request(text, GREEDY_TOKENS, temperature=0) for text in FACTS]
    alone = [asking.ask([request])[0] for request in requests]
    batch = asking.ask(requests[::-1])[::-1]
    pairs = [tuple(map(reply_text, pair)) for pair in zip(alone, batch, strict=True)]
    read = [pair for pair in pairs if None not in pair]
    if not read:
        return ModelFinding("greedy repeats", "cannot tell", "no question was answered twice")
    same = sum(first == second for first, second in read)
    refused = any("temperature" in what for r in (*alone, *batch) for what in r.overrides)
    note = "; temperature 0 is refused" if refused else ""
    seen = f"{same} of {len(read)} answers equal, alone and in a batch{note}"
    if same == len(read):
        return ModelFinding("greedy repeats", "yes", seen)
    follows = "T=0 is itself a draw: numbers move from run to run"
    if asking.engine.capabilities.force:  # in this process
        follows = "near ties depend on the batch; the same command gives the same answers"
    return ModelFinding("greedy repeats", "no", seen, follows)


def sampling_taken(replies: Sequence[Generation]) -> ModelFinding:
    """Did the engine say that some sampling setting was not taken?"""
    refused = sorted(
        {what for r in replies for what in r.overrides if what.split(":")[0] in SAMPLING}
    )
    if not refused:
        return ModelFinding("takes sampling settings", "yes", "none was refused")
    follows = "its own defaults apply there"
    if any(what.split(":")[0] in TRUNCATING for what in refused):
        follows = (
            "start the server with neutral generation settings, or accept that draws are truncated"
        )
    return ModelFinding("takes sampling settings", "no", "; ".join(refused)[:160], follows)


# ---- findings of repeated draws: seeds, log-probs, truncation

#: draws of each open question, and how many of them show what can be drawn
DRAWS, SHOWING = 120, 56
COLD, HOT = 20, 64
COLD_T, HOT_T = 0.5, 2.0
SEED_TOKENS = 16
#: fewer draws beyond what was shown than this, and nothing can be said of the tail
LEAST_EXPECTED = 5.0
#: a first test below this is repeated with fresh draws, and only the second one counts
SUSPICIOUS, SURE = 0.2, 0.005

Replies = Mapping[str, Sequence[Generation]]


class DrawnReplies(NamedTuple):
    """Everything that was drawn: replies by open question.

    ``warm`` one token at T=1, ``more`` further ones where the first looked truncated, ``cold`` at
    T=.5, ``greedy`` at T=0, ``hot`` at T=2 where there are no log-probabilities; ``seeds`` are
    (a draw, the same seed again, another seed). ``unread`` says why first tokens tell nothing.
    """

    warm: Replies
    seeds: Sequence[tuple[Generation, Generation, Generation]]
    more: Replies
    cold: Replies
    greedy: Replies
    hot: Replies
    unread: str = ""

    @property
    def has_logprobs(self) -> bool:
        """Whether any draw carries its log-probability."""
        return any(first_token(r) is not None for rs in self.warm.values() for r in rs)

    @property
    def tempering(self) -> Tempering:
        """Whether log-probabilities move with the temperature."""
        return tempering(_tokens(self.warm), _tokens(self.cold))

    @property
    def greedy_change(self) -> float | None:
        """The largest change of a log-probability from T=1 to T=0; ``None``: it is not known."""
        greedy = _tokens(self.greedy)
        return greedy_change(_tokens(self.warm), {text: d[0] for text, d in greedy.items() if d})

    @property
    def tail(self) -> Tail | None:
        """The deciding test of truncation; ``None`` without log-probabilities."""
        if not self.has_logprobs:
            return None
        warm = _tokens(self.warm)
        if self.more:
            return tail(warm, _tokens(self.more))
        return _first_test(warm)


def try_draws(asking: CheckQuestioner, room: int) -> DrawnReplies:
    """Draw open questions again and again. A model that always thinks is only asked for seeds, with
    so many tokens; 0 for any other."""
    tokens = room or SEED_TOKENS
    rounds = [
        asking.ask([asking.request(text, tokens, seed=seed, stop=()) for text in OPEN])
        for seed in (1, 1, 2)  # not in one call: equal requests in one call are several choices
    ]
    seeds = list(zip(*rounds, strict=True))
    if room:
        return DrawnReplies({}, seeds, {}, {}, {}, {}, "it thinks before its first word")
    warm = _draw(asking, OPEN[:1], range(DRAWS))
    if not any(first_token(r) is not None for r in warm[OPEN[0]]):
        hot = _draw(asking, OPEN[:1], range(HOT), HOT_T)
        return DrawnReplies(warm, seeds, {}, {}, {}, hot)
    warm |= _draw(asking, OPEN[1:], range(DRAWS))
    cold = _draw(asking, OPEN, range(COLD), COLD_T)
    greedy = _draw(asking, OPEN, range(1), 0.0)
    suspicious = _first_test(_tokens(warm)).p < SUSPICIOUS
    more = _draw(asking, OPEN, range(DRAWS, 2 * DRAWS)) if suspicious else {}
    return DrawnReplies(warm, seeds, more, cold, greedy, {})


def _draw(
    asking: CheckQuestioner, texts: Sequence[str], samples: range, temperature: float = 1.0
) -> dict[str, list[Generation]]:
    """Ask for the first token of each question, once for each sample."""
    replies = asking.ask(
        [
            asking.request(text, 1, temperature=temperature, sample=sample)
            for text in texts
            for sample in samples
        ]
    )
    size = len(samples)
    return {text: replies[at * size : (at + 1) * size] for at, text in enumerate(texts)}


def _tokens(replies: Replies) -> dict[str, list[Drawn]]:
    """Return what was drawn; a request that failed is no draw."""
    return {
        text: [first_token(r) for r in rs if reply_text(r) is not None]
        for text, rs in replies.items()
    }


def _first_test(warm: Mapping[str, Sequence[Drawn]]) -> Tail:
    before = {text: draws[:SHOWING] for text, draws in warm.items()}
    return tail(before, {text: draws[SHOWING:] for text, draws in warm.items()})


#: what becomes of an endpoint's log-probabilities (docs/endpoints.md)
NOT_OWN = "a run scores them as far as its answers show that they are the model's own"


def logprobs(engine: Engine, drawn: DrawnReplies, first: Generation) -> ModelFinding:
    """Are the sampled tokens' log-probabilities given, and are they the model's own?

    Those before temperature do not move with it; those of T=0 are sometimes all 0.
    """
    instead = str(getattr(engine, "alternative", ""))  # how to have the model's own
    if not (drawn.has_logprobs or first.logprobs):
        return ModelFinding(
            "log-probs", "no", "no reply had any", instead or "see what is left out"
        )
    seen = ["entropies as well" if engine.capabilities.entropies else "of the tokens chosen"]
    notes: list[str] = []
    shift, change = drawn.tempering, drawn.greedy_change
    if drawn.has_logprobs and shift.moves is None:
        seen.append("the tokens drawn are too certain to show whether they are raw")
    elif drawn.has_logprobs:
        moved = f"from T=1 to T={COLD_T:g} they move by {shift.moved:.2f} ({shift.tokens} tokens)"
        would = f", tempering would by {shift.would_move:.2f}"
        seen.append(f"tempered: {moved}{would}" if shift.moves else f"raw: {moved}")
        notes += ["only those of T=1 and T=0 can be used"] if shift.moves else []
    if change is not None:
        seen.append(f"to T=0 by at most {change:.2f}")
        notes += ["greedy answers have none to use"] if change > NOISE else []
    if (first.logprob_kind or "").startswith("endpoint"):
        notes += filter(None, (NOT_OWN, instead))
    return ModelFinding("log-probs", "yes", "; ".join(seen), "; ".join(notes))


def several(engine: Engine) -> ModelFinding:
    """Can several draws be had in one call?"""
    can = engine.capabilities
    if can.n:
        return ModelFinding("several draws a call (n)", "yes", "used")
    if can.force:
        return ModelFinding(
            "several draws a call (n)", "yes", "in this process: they share the prompt"
        )
    return ModelFinding(
        "several draws a call (n)", "no", "one answer a call", "each draw pays its prompt"
    )


def seed(engine: Engine, drawn: DrawnReplies) -> ModelFinding:
    """Does the same seed give the same text, and another seed another?"""
    read = [texts for row in drawn.seeds if None not in (texts := [reply_text(r) for r in row])]
    same = sum(a == b for a, b, _ in read)
    other = sum(a != c for a, _, c in read)
    seen = f"same seed: {same} of {len(read)} equal; other seed: {other} of {len(read)} differ"
    if engine.capabilities.seed is False:
        return ModelFinding("seed", "no", "the endpoint refuses it", "draws cannot be repeated")
    if not read or (same == len(read) and other == 0):
        return ModelFinding("seed", "cannot tell", seen if read else "no answers to compare")
    if same == len(read):
        return ModelFinding("seed", "yes", seen)
    return ModelFinding("seed", "no", seen, "draws cannot be repeated; the cache keeps them")


def _varied(drawn: DrawnReplies) -> tuple[int, int]:
    """Return how many draws could be compared, and how many different texts they were."""
    count = different = 0
    groups: list[Sequence[Generation]] = [row[1:] for row in drawn.seeds]
    groups += [[*rs, *drawn.more.get(text, ())] for text, rs in drawn.warm.items()]
    for group in groups:
        # A hidden thought or an answer that ends at once: nothing that could differ was shown.
        texts = [text for r in group if (text := reply_text(r)) is not None and any(text)]
        if len(texts) > 1:
            count += len(texts)
            different += len(set(texts)) - 1
    return count, different


def _all_equal(drawn: DrawnReplies) -> bool:
    """Tell whether draws at T=1 could be compared, and were all the same."""
    count, different = _varied(drawn)
    return count > 0 and not different


def _kinds(replies: Sequence[Generation]) -> int:
    return len({text for r in replies if (text := reply_text(r)) is not None})


WHOLE = "draws from all tokens"


def distribution(drawn: DrawnReplies) -> ModelFinding:
    """Is sampling truncated in silence (top_k, top_p, min_p)?"""
    test = drawn.tail
    if test is None and _all_equal(drawn):
        return ModelFinding(
            WHOLE, "no", f"all {_varied(drawn)[0]} draws at T=1 of open questions are equal",
            "as if top_k=1: five probes are one probe",
        )  # fmt: skip
    if drawn.unread:
        return ModelFinding(WHOLE, "cannot tell", drawn.unread)
    if test is None:
        return _without_logprobs(drawn)
    if test.expected < LEAST_EXPECTED:
        return ModelFinding(
            WHOLE, "cannot tell",
            f"{test.mass:.0%} of the probability is on {test.shown} tokens; too little beside",
        )  # fmt: skip
    seen = (
        f"{test.shown} first tokens shown, {test.mass:.0%} of the probability; of {test.draws} "
        f"further draws {test.new} were others, {test.expected:.1f} expected (p: {p_text(test.p)})"
    )
    if drawn.more and test.p < SURE:
        most = max(_kinds([*rs, *drawn.more.get(text, ())]) for text, rs in drawn.warm.items())
        return ModelFinding(
            WHOLE, "no", seen,
            f"truncated: as by top_k={most} or top_p={test.mass:.2g}; draws too alike",
        )  # fmt: skip
    if drawn.tempering.moves is not False:
        return ModelFinding(WHOLE, "cannot tell", seen, "log-probs may be of what truncation left")
    return ModelFinding(WHOLE, "yes", seen, f"a cut below {test.smallest:.0%} would not show")


def _without_logprobs(drawn: DrawnReplies) -> ModelFinding:
    """Without probabilities there is nothing to compare with; say what was seen."""
    (warm,) = drawn.warm.values() if drawn.warm else ([],)
    (hot,) = drawn.hot.values() if drawn.hot else ([],)
    seen = f"no log-probs to compare with; {_kinds(warm)} first words in {len(warm)} draws"
    taken = not any("temperature" in what for r in hot for what in r.overrides)
    counts = Counter(text for r in hot if (text := reply_text(r)) is not None)
    if not counts or not taken:
        return ModelFinding(WHOLE, "cannot tell", seen)
    seen += f" at T=1, {len(counts)} in {counts.total()} at T={HOT_T:g}"
    if min(counts.values()) > 1 and len(counts) <= counts.total() // 3:
        follows = f"so few at T={HOT_T:g}, each more than once: looks like top_k={len(counts)}"
        return ModelFinding(WHOLE, "cannot tell", seen, follows)
    return ModelFinding(WHOLE, "cannot tell", seen)


# ---- statistics: plain functions of what was drawn
#
# A silent truncation is found with nothing but the log-probability of each drawn token: the tokens
# that some draws showed have a known mass m in the reported distribution; a *further* draw is
# another token with probability 1 - m, if the endpoint draws from what it reports. Under top_k,
# top_p or min_p further draws keep falling on the tokens already seen. The number of further draws
# that are new is a sum of independent coins with known probabilities, so its lower tail is exact.

#: A drawn token and its log-probability; ``None`` where one of them is not known.
Drawn = tuple[str, float] | None

#: log-probabilities of one token that differ by more than this are of two tokens spelled alike
SAME_TOKEN = 0.3
#: numerical noise of log-probabilities between batches, in half precision
NOISE = 0.1


class Tail(NamedTuple):
    """What further draws did.

    ``mass`` is the reported probability of the tokens seen before (mean over prompts), ``shown``
    their number, ``new`` of ``draws`` further draws were none of them where ``expected`` should
    have been; ``p`` is the exact probability of so few.
    """

    shown: int
    mass: float
    draws: int
    new: int
    expected: float
    p: float

    @property
    def smallest(self) -> float:
        """The smallest cut (share of probability) that would more often than not have shown here.

        Under a cut c a further draw is new with probability (q - c) / (1 - c) instead of q; it
        shows where the number that is then usual has p < .01. What was not seen yet hides it.
        """
        if not self.draws:
            return 1.0
        q = self.expected / self.draws
        for percent in range(1, 100):
            cut = percent / 100
            usual = math.floor(self.draws * max(0.0, q - cut) / (1 - cut))
            if lower_tail(usual, [q] * self.draws) < 0.01:
                return cut
        return 1.0


def lower_tail(observed: int, chances: Sequence[float]) -> float:
    """Return P(X <= observed) of the sum X of independent coins with these probabilities, exactly.

    One probability for all is the binomial distribution.
    """
    below = [1.0] + [0.0] * observed
    for chance in chances:
        for number in range(observed, 0, -1):
            below[number] = below[number] * (1 - chance) + below[number - 1] * chance
        below[0] *= 1 - chance
    return min(1.0, math.fsum(below))


def masses(draws: Sequence[Drawn]) -> dict[str, float]:
    """Return the reported probability of each token that was drawn.

    A spelling with clearly different log-probabilities is two tokens and left out.
    """
    by_token: dict[str, list[float]] = defaultdict(list)
    for draw in draws:
        if draw is not None:
            by_token[draw[0]].append(draw[1])
    return {
        token: math.exp(math.fsum(values) / len(values))
        for token, values in by_token.items()
        if max(values) - min(values) <= SAME_TOKEN
    }


def tail(before: Mapping[str, Sequence[Drawn]], after: Mapping[str, Sequence[Drawn]]) -> Tail:
    """Compare further draws with the distribution that earlier draws reported, by prompt."""
    chances: list[float] = []
    new, shown, kept = 0, 0, []
    for prompt, draws in after.items():
        seen = masses(before.get(prompt, ()))
        mass = min(1.0, math.fsum(seen.values()))
        chances += [1 - mass] * len(draws)
        new += sum(draw is None or draw[0] not in seen for draw in draws)
        shown += len(seen)
        kept.append(mass)
    mean = math.fsum(kept) / len(kept) if kept else 1.0
    return Tail(shown, mean, len(chances), new, math.fsum(chances), lower_tail(new, chances))


class Tempering(NamedTuple):
    """Whether reported log-probabilities move with the temperature; ``None`` = cannot be told.

    ``moved`` is their mean change from T=1 to T=.5, ``would_move`` what tempering would do to
    them; ``tokens`` were seen at both.
    """

    moves: bool | None
    moved: float
    would_move: float
    tokens: int


def tempering(
    warm: Mapping[str, Sequence[Drawn]], cold: Mapping[str, Sequence[Drawn]]
) -> Tempering:
    """Compare log-probabilities of the same first tokens drawn at T=1 and at T=.5.

    A tempered one would be 2 l - log sum_v p_v^2. The sum over tokens that were never drawn is
    not known; they are rare, and squares of rare tokens are small.
    """
    moved, would = [], []
    for prompt, draws in cold.items():
        known = masses(warm.get(prompt, ()))
        log_sum = math.log(max(math.fsum(p * p for p in known.values()), 1e-300))
        for token, p in masses(draws).items():
            if token in known:
                here = math.log(known[token])
                moved.append(abs(math.log(p) - here))
                would.append(abs(here - log_sum))
    if not moved:
        return Tempering(None, 0.0, 0.0, 0)
    change, expected = (math.fsum(values) / len(values) for values in (moved, would))
    if expected < 2 * NOISE:
        return Tempering(None, change, expected, len(moved))
    return Tempering(change > max(NOISE, expected / 3), change, expected, len(moved))


def greedy_change(warm: Mapping[str, Sequence[Drawn]], greedy: Mapping[str, Drawn]) -> float | None:
    """Return the largest change of a first token's log-probability from T=1 to T=0.

    ``None`` where no greedy token was ever drawn.
    """
    changes = []
    for prompt, draw in greedy.items():
        known = masses(warm.get(prompt, ()))
        if draw is not None and draw[0] in known:
            changes.append(abs(draw[1] - math.log(known[draw[0]])))
    return max(changes, default=None)


# ---- output


def check_json(result: Check) -> str:
    """Return a check as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(result)).decode()


def render_check(result: Check, console: Console) -> None:
    """Print what a model can do. All texts may come from an endpoint: no markup in them."""
    say(console, f"what {result.signature} can do", "bold")
    if result.card:
        say(console, result.card, "dim")
    shown = {"": "answer", "what was seen": "seen", "what follows": "follows"}
    rows = {finding.what: finding for finding in result.findings}
    table = grid("", rows, shown, lambda finding, name: str(getattr(finding, name)))
    if result.findings:
        render_table(table, console)
    for text in _left_out_texts(result):
        say(console, f"! {text}", "yellow")
    if not result.left_out and not any(NOT_OWN in f.follows for f in result.findings):
        say(console, "It supports every result of sayso.", "")
    failed = [f"{result.failed} requests got no answer"] if result.failed else []
    for notice in (*result.notices, *failed):
        say(console, f"! {notice}", "yellow")
    say(console, _bill_text(result), "dim")


def _left_out_texts(result: Check) -> list[str]:
    """Return which results cannot be had, a sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for left in result.left_out:
        reasons.setdefault(left.why, []).append(left.result)
    return [f"{why}, which leaves out: {'; '.join(results)}" for why, results in reasons.items()]


def _bill_text(result: Check) -> str:
    local = result.dollars == 0 and not result.identity.startswith("api:")
    price = "none (local)" if local else dollars(result.dollars)
    return (
        f"{result.requests:,} requests, {result.prompt_tokens:,} prompt and "
        f"{result.completion_tokens:,} answer tokens, price {price}"
    )
