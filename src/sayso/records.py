"""The records every part of sayso passes around: frozen, typed, and one index of estimates.

They are wide from the start, because changing a stored record throws away users' caches. Ids are
content hashes: the same question or request has the same id on every machine. An array that was
not recorded is ``None``; a value that does not exist is ``None`` with a ``problem`` saying why.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import Literal

import msgspec

from sayso.addresses import has_secret, redact

GoldKind = Literal["text", "date", "quantity"]
Stance = Literal["committed", "hedged", "abstained", "refused_by_policy", "asked_back", "omitted"]
Content = Literal["correct", "incorrect", "partial", "none"]
Value = Literal["correct", "incorrect", "uncertain", "omitted"]

#: UNCLE's one-letter labels, once. A missing verdict is PARSE_FAIL.
LABELS: dict[Value, str] = {
    "correct": "S",
    "incorrect": "NS",
    "uncertain": "UNC",
    "omitted": "OMIT",
}


class InputError(Exception):
    """A user's mistake, told in one line: what came, from where, what was expected, what to do.

    The command line prints it without a traceback and exits with code 2. Logins and keys in
    addresses are hidden.
    """

    def __init__(self, *message: object) -> None:
        super().__init__(*(redact(one) if isinstance(one, str) else one for one in message))


def refuse_secret(text: str, place: str) -> None:
    """Refuse a text with a login or a key in an address; ``place`` is where it stands."""
    if has_secret(text):
        raise secret_in(place)


def secret_in(place: str) -> InputError:
    """Return the one line for an address that is not a plain one."""
    return InputError(
        f"the URL in {place} contains a user name, password or query: give the plain "
        "address, and put the key into the variable SAYSO_API_KEY"
    )


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "did you mean uncle? " for a name that is close to one that is known; else ""."""
    near = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {near[0]}? " if near else ""


def content_hash(value: object) -> bytes:
    """Return 32 bytes that depend only on the JSON content of ``value`` (structs included)."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).digest()


def content_id(value: object) -> str:
    """Return the first 16 hexadecimal digits of :func:`content_hash`: an id fit for a file name."""
    return content_hash(value).hex()[:16]


class Gold(msgspec.Struct, frozen=True, omit_defaults=True):
    """One true value of an aspect, with the other ways to write it.

    ``precision`` of a date is "year", "month" or "day" where the source says it.
    """

    value: str
    aliases: tuple[str, ...] = ()
    kind: GoldKind = "text"
    precision: str | None = None
    unit: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The value and its aliases."""
        return (self.value, *self.aliases)


_TIME = re.compile(r"[+-]?0{0,9}(\d{1,16})-\d\d-\d\dT")


def year_of(value: str) -> str | None:
    """Return the year of a gold that is a time ("-0044-03-15T00:00:00Z") as a text says it: "44".

    ``None`` for a gold that is no time.
    """
    time = _TIME.match(value)
    return time and time[1]


class Aspect(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a short question asks about: UNCLE's ``description``, ``label`` and ``property_id``."""

    description: str
    label: str = ""
    property_id: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question; long when ``parts`` names the short questions that it covers, in order.

    ``golds`` lists all true values. ``None`` means not known to us, which is an error only for a
    protocol that needs them. ``tier`` says how widely known the subject is, from "1", a household
    name, or a frequency stratum; "" where nobody said. ``pair`` is the id that a question which
    nobody can answer shares with its answerable twin.
    """

    id: str
    dataset: str
    text: str
    golds: tuple[Gold, ...] | None = None
    answerable: bool | None = None
    entity: str = ""
    domain: str = ""
    aspect: Aspect | None = None
    context: str | None = None
    parts: tuple[str, ...] = ()
    tier: str = ""
    pair: str = ""

    @property
    def type(self) -> str:
        """The aspect's type: domain and property id, or description where that is missing."""
        if self.aspect is None:
            return self.domain
        return f"{self.domain}/{self.aspect.property_id or self.aspect.description}"


def tier_order(tier: str) -> tuple[bool, list[int], str]:
    """Return the key that sorts tiers by the numbers in their names, names without one last."""
    numbers = [int(digits) for digits in re.findall(r"[0-9]+", tier)]
    return (not numbers, numbers, tier)


def tier_of(name: str) -> str:
    """Return a tier as questions have it: "2" for "2.0", which tables make of a whole number."""
    return name.strip().removesuffix(".0")


def question_id(dataset: str, entity: str, text: str, context: str | None = None) -> str:
    """Return the id of a question: a hash of what is asked, not of what the answer is."""
    return content_id(["question", dataset, entity, text, context])


class Message(msgspec.Struct, frozen=True):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One completion to ask for, with its sampling stated completely.

    ``sample`` is the index of a draw: draws 0-19 extend draws 0-4. ``top_k=0`` means off.
    ``prefill`` is the beginning of the answer, put into the model's mouth.
    """

    messages: tuple[Message, ...]
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    seed: int = 0
    sample: int = 0
    response_format: str | None = None
    chat_template_kwargs: tuple[tuple[str, str | int | float | bool], ...] = ()
    prefill: str | None = None

    @property
    def greedy(self) -> bool:
        """True at temperature 0."""
        return self.temperature == 0


#: sampling that is off: said or not, it has one key in the cache
OFF = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}


def ask(text: str, **settings: object) -> Request:
    """Return a request with ``text`` as its one user message."""
    said = {name: value for name, value in settings.items() if OFF.get(name) != value}
    fields = {"messages": [{"role": "user", "content": text}], **said}
    return msgspec.convert(fields, Request, strict=False)


def request_key(request: Request, identity: str) -> bytes:
    """Return the cache key of a request to the model with this identity: 32 bytes.

    A greedy answer does not depend on the seed or the sample index, so they are left out at T=0.
    """
    if request.greedy:
        request = msgspec.structs.replace(request, seed=0, sample=0)
    return content_hash(["request", identity, request])


#: the problem of a reply that a dry run lacks: nobody tries again
NOT_ASKED = "failed: not asked"


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens that were moved for one reply, and its price in dollars where it is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    dollars: float | None = None


class Alternative(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):  # there are millions
    """One of the ten likeliest tokens at a step; of an endpoint, that names none, -1 and its text.

    An endpoint's are kept of answers of one token, and are its twenty likeliest.
    """

    token: int
    logprob: float
    text: str = ""


#: the override of an endpoint's answer whose text is empty: it came so, and was not made of a reply
#: without a text, as earlier versions did
EMPTY_TEXT = "the reply's text is empty, and kept as an answer"
#: how the override of an answer begins that had more tokens than its limit, for its thought
ROOM = "room for thoughts: "
#: what a manifest and signatures keep of it: the most that answers, and a judge's replies, had
ROOMS = ("room", "judge_room")
#: how ``finish`` begins where a server ended an answer for a reason of its own, which follows
OTHER_END = "other: "
#: the kind of log-probabilities that a server gave: whether a temperature is in them, few state
ENDPOINT = "endpoint"
#: a log-probability from here on is no value: servers write -9999 for one that they do not know
UNKNOWN_LOGPROB = -1000.0


class Generation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of a model. Arrays have one entry for each generated token of ``text``.

    An engine fills in the reply; a run adds ``id, question, stage, form, method, instructed``.
    Log-probabilities and entropies are natural-log, of the untempered and untruncated
    distribution (``logprob_kind = "model"``). ``offsets`` are the character positions in
    ``text`` at which each token starts. ``finish`` is "stop", "length", "stop_string",
    "loop" (ended by the engine where it only repeated itself, which is left out), or
    ``OTHER_END`` and the word of a server that ended it otherwise.
    A failed request is a record too: empty text and a ``problem``.
    """

    request: Request
    id: str = ""
    question: str = ""
    stage: str = ""
    form: str = ""
    method: str = ""
    instructed: bool = False
    rendered_hash: str = ""
    text: str = ""
    thinking: str | None = None
    thinking_tokens: int | None = None
    logprob_kind: str | None = None
    fingerprint: str | None = None
    overrides: tuple[str, ...] = ()
    token_ids: tuple[int, ...] | None = None
    offsets: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    entropies: tuple[float, ...] | None = None
    margins: tuple[float, ...] | None = None
    self_certainty: tuple[float, ...] | None = None
    renyi: tuple[float, ...] | None = None
    alternatives: tuple[tuple[Alternative, ...], ...] | None = None
    finish: str | None = None
    usage: Usage = Usage()
    problem: str | None = None


def room_of(reply: Generation) -> int:
    """Return how many tokens an answer had in addition to its limit."""
    rooms = (told.removeprefix(ROOM) for told in reply.overrides if told.startswith(ROOM))
    return next((int(told.partition(" ")[0].replace(",", "")) for told in rooms), 0)


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a judge read in one answer about one question; unique by (target, asked, by).

    ``target`` is a generation (or claim), ``asked`` the short question. ``start:end`` is the
    aligned sentence in the judged text, ``answer_start:answer_end`` the value inside it.
    ``certainty`` is the judge's probability of the stance, where it has one.
    ``stance``, ``content`` and ``label`` are all ``None`` exactly when ``problem`` says why:
    unread, refused (by the judge), mismatch, truncated, language, budget (too long), empty,
    failed.
    A stance alone, without content, is what can be read where no gold says what is right.
    """

    target: str
    asked: str
    by: str
    stance: Stance | None = None
    content: Content | None = None
    label: str | None = None
    number: float | None = None
    start: int | None = None
    end: int | None = None
    answer_start: int | None = None
    answer_end: int | None = None
    evidence: tuple[str, ...] = ()
    raw: str | None = None
    problem: str | None = None
    certainty: float | None = None

    @property
    def value(self) -> Value | None:
        """UNCLE's projection of stance and content; ``None`` when the verdict is missing.

        Hedged, abstaining, asking back and refusing by policy are uncertain whatever the content.
        """
        if self.stance is None:
            return None
        if self.stance == "omitted":
            return "omitted"
        if self.stance != "committed":
            return "uncertain"
        if self.content is None:
            return None
        return "correct" if self.content == "correct" else "incorrect"


class Claim(msgspec.Struct, frozen=True):
    """One atomic claim of a long answer, with its sentence number and its span in the text."""

    id: str
    generation: str
    sentence: int
    start: int
    end: int
    text: str


class Sentence(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sentence of a long answer: its number, from 1, and its span in the text.

    ``relevant`` is what people said of it where they did (FActScore's ``is-relevant``).
    """

    generation: str
    number: int
    start: int
    end: int
    relevant: bool | None = None


class ClaimQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A claim as a question with its answer; both empty where ``problem`` says why."""

    claim: str
    by: str
    question: str
    answer: str
    problem: str | None = None


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of a knowledge source, small enough to be read beside a claim."""

    id: str
    title: str
    text: str
    source: str = ""


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """One uncertainty score of one target: higher = less certain."""

    target: str
    method: str
    value: float | None = None
    problem: str | None = None


#: which rows a number is of: (key, value) pairs in the order in which they narrow, () is all rows
Slice = tuple[tuple[str, str], ...]
#: what made a number: (setting, value) pairs; a value without a setting (the name) stands alone
Signature = tuple[tuple[str, str], ...]


def slice_of(**parts: str) -> Slice:
    """Return a slice: ``slice_of(form="short", domain="movies")``; ``+`` narrows one by another."""
    return tuple(parts.items())


def part_of(pairs: Slice | Signature, key: str, default: str = "") -> str:
    """Return the value of one key of a slice or signature."""
    return next((value for name, value in pairs if name == key), default)


def slice_text(where: Slice) -> str:
    """Return a slice as people read it: "all", "form:short;domain:movies"."""
    return ";".join(f"{key}:{value}" for key, value in where) or "all"


def signature_of(name: str, settings: Signature) -> Signature:
    """Return the signature of a number: its name, then the settings that made it."""
    return (("", name), *settings)


def signature_text(signature: Signature) -> str:
    """Return a signature as people read it: "J|form:short|seed:0"."""
    return "|".join(f"{key}:{value}" if key else value for key, value in signature)


class Estimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number of a report with everything needed to read it.

    ``value`` is a fraction unless its name says otherwise, ``None`` when undefined (``problem``
    says why). ``low, high`` is the 95 % interval, ``bound_low, bound_high`` the range over all
    assignments of the ``missing`` verdicts. ``where`` is the slice of rows that it is of.
    ``signature`` names every setting that made it, after the name of the number.
    """

    name: str
    where: Slice = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    n: int = 0
    missing: int = 0
    bound_low: float | None = None
    bound_high: float | None = None
    signature: Signature = ()
    problem: str | None = None


class CorrectedNumber(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number of a run beside what it is by people's labels of a part of the answers.

    All three have the name and slice of the run's number: ``raw`` is by the judge's verdicts,
    ``alone`` by the labels without the judge, ``corrected`` by both, with an interval that counts
    the errors of the judge and of the draw of answers (:mod:`sayso.metrics.correction`). ``gain``
    is how many labels alone one corrected label is worth, ``power`` how much the judge's verdicts
    count, both ``None`` where that is not known. ``labels`` of ``rows`` judged answers are labeled,
    by ``annotators``; on ``disagreements`` of them people and judge differ in a way that moves the
    number. Of the labels of the same stage ``undrawn`` were left out, because nobody knows how
    their items were drawn; ``drawn`` is false where that is known of none, so that all count alike.
    ``elsewhere`` labels are of answers that the run does not have; ``skipped`` and ``passed_over``
    items were drawn and have no label, of ``cannot_tell`` people do not know whether they are
    right; all these stand for ``untold`` judged answers. ``effect`` is raw minus corrected, with an
    interval of its own. ``freedom`` are the degrees of freedom of the corrected interval (0: it has
    none), ``halved_by`` how many labels would halve it (``None``: none do). ``labels_hash`` is that
    of the file of labels, where it is stored.
    """

    raw: Estimate
    corrected: Estimate
    alone: Estimate
    gain: float | None = None
    power: float | None = None
    labels: int = 0
    rows: int = 0
    disagreements: int = 0
    annotators: tuple[str, ...] = ()
    undrawn: int = 0
    drawn: bool = True
    elsewhere: int = 0
    skipped: int = 0
    passed_over: int = 0
    cannot_tell: int = 0
    untold: float = 0.0
    effect: Estimate | None = None
    freedom: float = 0.0
    halved_by: int | None = None
    labels_hash: str = ""


class Results:
    """Estimates by name and slice; of two of one name and slice the first counts."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self.all = list(estimates)
        self._named: dict[str, list[Estimate]] = {}
        self._index: dict[tuple[str, frozenset[tuple[str, str]]], Estimate] = {}
        for estimate in self.all:
            self._named.setdefault(estimate.name, []).append(estimate)
            self._index.setdefault((estimate.name, frozenset(estimate.where)), estimate)

    def find(self, name: str, **parts: str) -> Estimate | None:
        """Return the estimate of exactly this slice; ``None`` where it was not computed."""
        return self._index.get((name, frozenset(parts.items())))

    def get(self, name: str, **parts: str) -> Estimate:
        """Return the estimate of exactly this slice, an undefined one where there is none."""
        return self.find(name, **parts) or Estimate(name, problem="not computed in this run")

    def each(self, name: str, **parts: str) -> Iterator[Estimate]:
        """Yield every estimate of this name whose slice has these parts, whatever else it has."""
        for estimate in self._named.get(name, ()):
            if parts.items() <= set(estimate.where):
                yield estimate

    def by(self, key: str, name: str, **parts: str) -> Iterator[tuple[str, Estimate]]:
        """Yield (value of ``key``, estimate) of the slices that these parts and the key make."""
        for estimate in self.each(name, **parts):
            rest = [pair for pair in estimate.where if pair not in parts.items()]
            if len(rest) == 1 and rest[0][0] == key:
                yield rest[0][1], estimate

    @cached_property
    def forms(self) -> list[str]:
        """The forms that were measured, short before long."""
        present = {part_of(estimate.where, "form") for estimate in self.all}
        return [form for form in ("short", "long") if form in present]


def is_blank(text: str) -> bool:
    """Whether a text says nothing: no letter, no digit and no picture ("", "-", "...")."""
    return not text[:1].isalnum() and not any(
        c.isalnum() or unicodedata.category(c) == "So" for c in text
    )


def golds_of(values: str | Gold | Iterable[str | Gold]) -> tuple[Gold, ...]:
    """Accept plain strings where golds are wanted: each string is a true value of its own.

    A string alone is one gold. Raises InputError for anything that is not text.
    """
    given = (values,) if isinstance(values, str | Gold) else values
    if not isinstance(given, Iterable):
        raise InputError(f"golds are {values!r:.80}; expected a text or a list of texts")
    golds = tuple(Gold(v) if isinstance(v, str) else v for v in given)
    for gold in golds:
        if not isinstance(gold, Gold):
            raise InputError(f"a gold is {gold!r:.80}; expected a text, such as '1815'")
    return golds
