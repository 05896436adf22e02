"""A language model as judge: what goes into one call, what is asked twice, what is missing.

``LlmJudge`` reads short and long answers with any engine. What a reader should know:

* Equal (question, golds, answer) triples are asked once and share the verdict.
* ``batch="item"``: all aspects of a paragraph in one call, and short answers of one entity, stage,
  method and draw together, at most 12 and 24,000 characters a call. ``"entity"``: the same over all
  draws, which costs least. ``"aspect"``: one per call.
* ``mode="two_pass"``: the first call reads the wording without golds, the second compares values.
* ``prompts="brief"``, for small models: one decision about one question a call, answered in a word.
* What is missing in a reply is asked once more: together, if the reply could not be read; one by
  one, if it was refused, cut off or failed, so that one text cannot cost the others theirs.
* A judge of which none of the first ten replies can be read is stopped, unless ``anyway``.
* An empty answer is omitted without asking; generations with a problem are not sent (as `rules`).
* A committed or hedged answer without golds is "unread": nobody can say whether it is right.
* There are no spans: a judge's quotation has no place in the answer, so ``start`` and ``end`` are
  None.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from sayso.engines.engine import Engine
from sayso.harmless import printable
from sayso.judges.judge import (
    NO_VALUE_IN_WORDS,
    Item,
    credit_withholding,
    golds_to_compare,
)
from sayso.judges.judge import (
    family as family_of,
)
from sayso.judges.model.prompts import (
    DECISIONS,
    TOKENS_PER_CALL,
    TOKENS_PER_PART,
    TOKENS_PER_WORD,
    Form,
    JudgedPart,
    JudgePrompts,
    JudgeRequest,
    Output,
    Step,
    combine,
    judge_request,
    load_brief_prompts,
    load_judge_prompts,
    short_line,
)
from sayso.judges.model.replies import (
    PROBLEMS,
    JudgeCounts,
    read_judge_reply,
    read_own,
    read_word,
    refuses,
    verdict_problem,
)
from sayso.options import Batch, Labels, Mode, PromptSet
from sayso.prompts.fence import LONGEST
from sayso.prompts.thoughts import strip_thinking
from sayso.records import (
    NOT_ASKED,
    Content,
    Generation,
    InputError,
    Question,
    Stance,
    Verdict,
    is_blank,
)

#: What of a judge's reply is kept with a verdict.
LONGEST_RAW = 20_000


class PartJudgement(NamedTuple):
    """What was decided about one part; stance and content are ``None`` exactly with a problem."""

    stance: Stance | None
    content: Content | None
    problem: str | None
    raw: str | None


class LlmJudge:
    """A model with our prompts and parser, as a :class:`~sayso.judges.judge.Judge`.

    ``labels`` is "stance" (stance x content), "uncle" (S / NS / UNC) or "grades". ``prompts`` is
    "full" or "brief", to which ``batch``, ``mode`` and ``output`` say nothing and to which refusals
    and counter-questions are not knowing.
    ``output`` is the form of replies: "json" (a schema the server enforces), "blocks", or "auto":
    JSON where the engine is known to hold to a schema. ``family`` is the subject's family or model
    name; if it is the judge's own, the signature and a notice say so. ``room`` adds tokens to
    every reply for a judge that thinks.
    ``dtype`` is the number format that the engine was opened with, for the signature. ``anyway``
    goes on with a judge that gave no readable reply to its first requests.

    ``counts`` and ``notices`` say what happened. Raises InputError for unknown settings and for
    prompts in ``prompt_folder`` that cannot be used.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        labels: Labels = "stance",
        prompts: PromptSet = "full",
        batch: Batch = "item",
        mode: Mode = "one_pass",
        prompt_folder: Path | None = None,
        family: str | None = None,
        output: Output | Literal["auto"] = "auto",
        room: int = 0,
        anyway: bool = False,
        dtype: str = "",
    ) -> None:
        _one_of("labels", labels, get_args(Labels))
        _one_of("prompts", prompts, ("full", "brief"))
        _one_of("batch", batch, ("item", "entity", "aspect"))
        _one_of("mode", mode, ("one_pass", "two_pass"))
        _one_of("output", output, ("auto", "json", "blocks"))
        self.engine = engine
        self.name = engine.name
        self.labels: Labels = labels
        brief = prompts == "brief"
        if labels == "grades" and (brief or mode == "two_pass"):
            raise InputError(
                "judge_labels=grades is one decision of a full prompt in one call; leave "
                f"{'judge_prompt=brief' if brief else 'judge_mode=two_pass'} out"
            )
        self.batch: Batch = "aspect" if brief else batch
        self.mode: Mode = mode
        if output == "auto":
            output = "json" if engine.capabilities.json_schema else "blocks"
        steps: tuple[Step, ...] = ("one",) if mode == "one_pass" else ("first", "second")
        loaded = (
            load_brief_prompts(prompt_folder)
            if brief
            else load_judge_prompts(labels, steps, output, prompt_folder)
        )
        form: Output = "word" if brief else output
        self.setup = Setup(loaded, labels, form, room, anyway)
        self.dtype = dtype
        self.own_family = family is not None and family_of(family) == family_of(engine.name)
        self.signature = self._signature()
        self.counts = JudgeCounts()
        self._known: dict[JudgedPart, PartJudgement] = {}

    def _signature(self) -> str:
        """Model, prompts, and every setting that is not the default."""
        setup = self.setup
        calls = (
            ["brief"]
            if setup.prompts.brief
            else [
                self.batch if self.batch != "item" else "",
                "two_pass" if self.mode == "two_pass" else "",
            ]
        )
        settings = [
            self.labels if self.labels != "stance" else "",
            *calls,
            "json" if setup.output == "json" else "",
            self.dtype,
            f"room{setup.room}" if setup.room else "",
            "own-family" if self.own_family else "",
        ]
        prompts = f"{self.engine.signature}#p{setup.prompts.hash[:4]}"
        return "+".join([prompts, *(word for word in settings if word)])

    @property
    def most_calls(self) -> int:
        """The most calls that a verdict takes, if every reply can be read."""
        if self.setup.prompts.brief:
            return len(DECISIONS)
        return 2 if self.mode == "two_pass" else 1

    @property
    def notices(self) -> list[str]:
        """What a reader of the verdicts must know, one sentence each."""
        notices = list(getattr(self.engine, "notices", ()))
        if self.own_family:
            notices.append(
                f"the judge {self.name} is from the subject's own model family "
                f"({family_of(self.name)}): it may favor answers of related models"
            )
        for problem, meaning in PROBLEMS.items():
            if number := getattr(self.counts, problem):
                notices.append(
                    f"judge {self.name}: {number} of {self.counts.parts} verdicts are missing "
                    f"({problem}: {meaning})"
                )
        return notices

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; unread ones carry a problem.

        Passes on what the engine raises (a spent budget, Ctrl-C); everything that was answered
        until then is in the engine's cache, if it has one. Raises InputError where none of the
        first replies could be read.
        """
        new: dict[JudgedPart, object] = {}
        for place, item in enumerate(items):
            for question in item.questions:
                part = _part(item, question)
                if _without_asking(item) is not None:
                    continue
                if part in self._known or part in new:
                    self.counts.shared += 1
                else:
                    new[part] = self._together(item, question, place)
        self._judge([(key, part) for part, key in new.items()])
        return [self._verdict(item, question) for item in items for question in item.questions]

    def _together(self, item: Item, question: Question, place: int) -> object:
        """The key of parts that may share a call; ``None`` for a part on its own."""
        form = _form(item)
        own = self.setup.prompts.own.get(form)
        if own is not None and own.single:
            return None  # its reply is one word, about one question
        if form == "long":
            return place
        if not question.entity:
            return None
        answer = item.generation
        draw = None if self.batch == "entity" else answer.request.sample
        return question.dataset, question.entity, answer.stage, answer.method, draw

    def _judge(self, parts: Sequence[tuple[object, JudgedPart]]) -> None:
        """Ask about new parts and remember what was decided."""
        self.counts.parts += len(parts)
        if self.setup.prompts.brief:
            new = self._decisions(parts)
        elif self.mode == "one_pass":
            new = self._ask("one", parts)
        else:
            new = self._two_passes(parts)
        for judged in new.values():
            self.counts.add(judged.problem)
        self._known.update(new)

    def _ask(
        self, step: Step, parts: Sequence[tuple[object, JudgedPart]]
    ) -> dict[JudgedPart, PartJudgement]:
        calls = calls_of(parts, self.batch)
        outcomes = ask_all(self.engine, self.setup, step, calls, self.counts)
        return {part: self._meaning(step, part, outcome) for part, outcome in outcomes.items()}

    def _meaning(self, step: Step, part: JudgedPart, outcome: PartOutcome) -> PartJudgement:
        """What a label says; the content of a first pass may still be open."""
        raw = outcome.raw[:LONGEST_RAW]
        if outcome.label is None:
            return PartJudgement(None, None, outcome.problem, raw)
        prompts = self.setup.prompts
        words = prompts.vocabulary(self.labels, step, part.form)
        stance, content = words.meaning[outcome.label]
        if part.form in prompts.own:
            valued = content != "none"
        else:
            valued = stance == "committed" or (stance == "hedged" and self.labels == "stance")
        if not part.golds and valued:
            return PartJudgement(None, None, "unread", raw)
        return PartJudgement(stance, content, None, raw)

    def _two_passes(
        self, parts: Sequence[tuple[object, JudgedPart]]
    ) -> dict[JudgedPart, PartJudgement]:
        """First the wording of every part, then the values of those that have one."""
        both = self._ask("first", parts)
        rest = [
            (key, part)
            for key, part in parts
            if both[part].problem is None and both[part].content is None
        ]
        for part, second in self._ask("second", rest).items():
            first = both[part]
            raw = f"{first.raw}\n\n[second pass]\n{second.raw}"[:LONGEST_RAW]
            if second.problem is not None or first.stance is None:
                both[part] = PartJudgement(None, None, second.problem, raw)
                continue
            verdict = combine(first.stance, second.content)
            # "mismatch": the one pass reads a committed value, the other none to compare.
            both[part] = (
                PartJudgement(*verdict, None, raw)
                if verdict
                else PartJudgement(None, None, "mismatch", raw)
            )
        return both

    def _decisions(
        self, parts: Sequence[tuple[object, JudgedPart]]
    ) -> dict[JudgedPart, PartJudgement]:
        """Ask for one decision after the other, of each part until its verdict is known."""
        known = {part: PartJudgement(None, None, None, None) for _, part in parts}
        for step in DECISIONS:
            asked = [(key, part) for key, part in parts if _needs(step, part, known[part])]
            for part, found in self._ask(step, asked).items():
                before = known[part]
                raw = "\n\n".join(filter(None, (before.raw, f"[{step}]\n{found.raw}")))
                known[part] = PartJudgement(
                    None if found.problem else found.stance or before.stance,
                    found.content,
                    found.problem,
                    raw[:LONGEST_RAW],
                )
        return known

    def _verdict(self, item: Item, question: Question) -> Verdict:
        judged = _without_asking(item) or self._known[_part(item, question)]
        verdict = Verdict(
            target=item.generation.id,
            asked=question.id,
            by=self.signature,
            stance=judged.stance,
            content=judged.content,
            raw=judged.raw,
            problem=judged.problem,
        )
        return credit_withholding(question, verdict)


def _needs(step: Step, part: JudgedPart, known: PartJudgement) -> bool:
    """Whether a part that is judged by single decisions needs this one."""
    if known.problem is not None or known.content is not None:
        return False
    if step == "mention":
        return part.form == "long"
    return (known.stance is None) == (step != "right")


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"judge setting {name}={value!r}: expected one of {', '.join(known)}")


def _without_asking(item: Item) -> PartJudgement | None:
    """The verdict on a generation that failed or an empty answer; ``None`` for all others."""
    problem = item.generation.problem
    if problem is not None:
        kind = problem if problem in ("truncated", "empty") else "failed"
        return PartJudgement(None, None, kind, None)
    return PartJudgement("omitted", "none", None, None) if is_blank(item.generation.text) else None


def _form(item: Item) -> Form:
    return "long" if item.generation.form == "long" or len(item.questions) != 1 else "short"


def _part(item: Item, question: Question) -> JudgedPart:
    return JudgedPart(
        _form(item),
        question.text,
        golds_to_compare(question, NO_VALUE_IN_WORDS),
        item.generation.text,
    )


# ---- calls and their second try

#: Replies without one that could be read, after which a judge is stopped; until one can be, so many
#: requests are sent at a time.
PATIENCE, AT_FIRST = 10, 5
#: Short answers in one call, and the characters they may have together: one endless answer must
#: not push the others out of the judge's context.
MOST_PARTS = 12
MOST_CHARACTERS = 24_000
#: A reply that was cut off may be this many times as long when asked again.
LONGER = 4


class PartOutcome(NamedTuple):
    """What was read about one part: a label, or the problem; ``raw`` is the judge's own text."""

    label: str | None
    problem: str | None
    raw: str


class Setup(NamedTuple):
    """The settings of every request of one judge."""

    prompts: JudgePrompts
    labels: Labels
    output: Output
    room: int
    anyway: bool = False

    def request(
        self, parts: Sequence[JudgedPart], step: Step, output: Output, retry: bool, longer: int = 1
    ) -> JudgeRequest:
        """Compose one call."""
        needed = TOKENS_PER_CALL + TOKENS_PER_PART * len(parts)
        tokens = ((TOKENS_PER_WORD if self.prompts.brief else needed) + self.room) * longer
        return judge_request(
            self.prompts, self.labels, step, parts, output, retry=retry, tokens=tokens
        )


def calls_of(parts: Sequence[tuple[object, JudgedPart]], batch: Batch) -> list[list[JudgedPart]]:
    """Put parts with equal keys into calls; one with the key ``None`` has a call of its own.

    The order of calls is that of their first parts.
    """
    calls: list[list[JudgedPart]] = []
    open_calls: dict[object, list[JudgedPart]] = {}
    for key, part in parts:
        call = open_calls.get(key) if batch != "aspect" and key is not None else None
        if call is not None and (part.form == "long" or _fits(call, part)):
            call.append(part)
            continue
        call = [part]
        calls.append(call)
        if key is not None:
            open_calls[key] = call
    return calls


def _fits(call: Sequence[JudgedPart], part: JudgedPart) -> bool:
    size = sum(_size(p) for p in (*call, part))
    return len(call) < MOST_PARTS and size <= MOST_CHARACTERS


def _size(part: JudgedPart) -> int:
    golds = sum(len(name) for gold in part.golds for name in gold.names)
    return sum(min(LONGEST, n) for n in (len(part.question), golds, len(part.text)))


def ask_all(
    engine: Engine,
    setup: Setup,
    step: Step,
    calls: Sequence[Sequence[JudgedPart]],
    counts: JudgeCounts,
) -> dict[JudgedPart, PartOutcome]:
    """Ask every call, and what is missing once more. Every part has an outcome.

    Until a reply could be read, only a few at a time. Raises InputError after ``PATIENCE`` replies
    of which none could.
    """
    outcomes: dict[JudgedPart, PartOutcome] = {}
    first = deque(setup.request(parts, step, setup.output, retry=False) for parts in calls)
    while first:
        again: deque[JudgeRequest] = deque()
        for sent, reply in _replies(engine, _next(first, setup, counts), counts):
            read = _read(sent, reply, setup)
            counts.see(outcome.label for outcome in read)
            outcomes.update(zip(sent.parts, read, strict=True))
            again.extend(_second_try(setup, sent, reply, read))
        _check_readable(engine, setup, counts, reply)
        while again:
            part_of = _next(again, setup, counts)
            counts.retried += sum(len(sent.parts) for sent in part_of)
            counts.retries += len(part_of)
            for sent, reply in _replies(engine, part_of, counts):
                read = _read(sent, reply, setup)
                counts.see(outcome.label for outcome in read)
                for part, outcome in zip(sent.parts, read, strict=True):
                    raw = f"{outcomes[part].raw}\n\n[asked again]\n{outcome.raw}"
                    known = outcome.label is not None
                    outcomes[part] = outcome if known else outcome._replace(raw=raw)
            _check_readable(engine, setup, counts, reply)
    return outcomes


def _next(waiting: deque[JudgeRequest], setup: Setup, counts: JudgeCounts) -> list[JudgeRequest]:
    """Take the requests that may be sent now: all once a reply could be read, else a few."""
    number = len(waiting) if setup.anyway or counts.readable else min(len(waiting), AT_FIRST)
    return [waiting.popleft() for _ in range(number)]


def _check_readable(engine: Engine, setup: Setup, counts: JudgeCounts, reply: Generation) -> None:
    """Raise InputError if no reply so far could be read, and there were enough of them."""
    if setup.anyway or counts.readable or counts.calls < PATIENCE:
        return
    came = reply.problem or short_line(reply.text) or "an empty text"
    came = printable(came)
    raise InputError(
        f"the judge {engine.name} gave no readable reply to its first {counts.calls:,} requests; "
        f"the last: {came[:120]!r}. Every answer and reply is kept: `sayso judge-check "
        f"{engine.name}` tests this judge; with another --judge the model is asked nothing again; "
        "--set judge_anyway=true continues with this one"
    )


def _replies(
    engine: Engine, sent: Sequence[JudgeRequest], counts: JudgeCounts
) -> Iterator[tuple[JudgeRequest, Generation]]:
    """Send requests and return them with their replies, in the order in which they were sent."""
    replies: list[Generation | None] = [None] * len(sent)
    if sent:
        for index, reply in engine.complete(s.request for s in sent):
            replies[index] = reply
            counts.spend(reply)
    for one, answer in zip(sent, replies, strict=True):
        yield one, answer or Generation(one.request, problem="failed: the engine gave no reply")


def _read(sent: JudgeRequest, reply: Generation, setup: Setup) -> list[PartOutcome]:
    """Read one reply: an outcome for each part of its call."""
    count = len(sent.parts)
    if reply.problem is not None:
        return [PartOutcome(None, verdict_problem(reply.problem), reply.problem)] * count
    text, closed = strip_thinking(reply.text)
    questions = [part.question for part in sent.parts]
    cut = not closed or reply.finish == "length"
    words = setup.prompts.vocabulary(setup.labels, sent.step, sent.parts[0].form)
    if sent.own is not None:
        read = read_own(text, sent.own, questions, cut=cut)
    elif sent.output == "word":
        (part,) = sent.parts
        golds = part.golds if sent.step == "right" else ()  # no other step shows them
        shown = (part.text, part.question, *(name for g in golds for name in g.names))
        read = read_word(text, words, shown, cut=cut)
    else:
        read = read_judge_reply(text, sent.output, sent.code, questions, words, cut=cut)
    declined = not read.labels and refuses(text.strip())
    outcomes = []
    for number in range(count):
        label = read.labels.get(number)
        if label is not None:
            outcomes.append(PartOutcome(label, None, read.raw[number]))
            continue
        problem = "truncated" if cut else "refused" if declined else read.problems[number]
        outcomes.append(PartOutcome(None, problem, reply.text))
    return outcomes


def _second_try(
    setup: Setup, sent: JudgeRequest, reply: Generation, outcomes: Sequence[PartOutcome]
) -> list[JudgeRequest]:
    """The calls that ask once more for what is missing in a reply."""
    pairs = zip(sent.parts, outcomes, strict=True)
    missing = [part for part, outcome in pairs if outcome.label is None]
    if not missing or reply.problem == NOT_ASKED:
        return []
    cut = reply.problem == "truncated" or any(o.problem == "truncated" for o in outcomes)
    if reply.problem is not None and not cut and len(sent.parts) == 1:
        return []  # the engine has tried as often as it should; at T=0 the same would come back
    # Schema or not, this judge did not write JSON: the second try is in the other form.
    lost = sent.output == "json" and len(missing) == len(sent.parts) and not cut
    output: Output = "blocks" if lost else sent.output
    alone = cut or reply.problem is not None or any(o.problem == "refused" for o in outcomes)
    groups = [[part] for part in missing] if alone else [missing]
    longer = LONGER if cut else 1
    return [setup.request(g, sent.step, output, retry=True, longer=longer) for g in groups]
