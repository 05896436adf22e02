"""``sayso.Guard``: answer, decline or ask a person, by a limit that labels have certified.

Loading one imports neither numpy nor torch; what computes its score is loaded at the first call.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from sayso.later import Later
from sayso.records import InputError, Message, Request, is_blank
from sayso.version import __version__

if TYPE_CHECKING:
    from sayso import scores
    from sayso.judges import meaning as meanings
    from sayso.judges.english import stated as confidence
    from sayso.runs import tools
    from sayso.scores import collect, evidence
    from sayso.scores.evidence import Case
    from sayso.storage import atomic
else:
    scores = Later("sayso.scores")
    meanings = Later("sayso.judges.meaning")
    confidence = Later("sayso.judges.english.stated")
    tools = Later("sayso.runs.tools")
    collect = Later("sayso.scores.collect")
    evidence = Later("sayso.scores.evidence")
    atomic = Later("sayso.storage.atomic")

Action = Literal["answer", "decline", "ask"]
#: the format of guard.json
GUARD_FORMAT = 1
#: what a file of a guard may take at most
MOST_BYTES = 1 << 20
#: the need of a score that the user computes
GIVEN = "score"
#: evidence that a call brings along, and evidence that takes comparing texts
BROUGHT = (
    GIVEN, "answer", "logprobs", "entropies", "draws", "draws.logprobs", "draws.entropies",
    "stated:one_step",
)  # fmt: skip
COMPARED = (
    "similarity", "similarity:answer", "clusters", "nli", "nli:answer", "nli:sentences",
    "contradiction",
)  # fmt: skip
BY_RULES = "rules"


class Withdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a promise was withdrawn, and why."""

    when: str
    why: str


class GuardFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``guard.json``: an answer is given where its score is at most ``limit``.

    ``needs`` is the evidence that the score takes, ``meaning`` who compares texts for it, and
    ``samples`` the fewest and the most samples that labeled answers had; ``blanks`` is what scores
    made of those that say nothing (a run leaves them out). ``labels`` counts labeled units,
    ``answered`` and ``wrong`` are those at the limit. ``otherwise`` is what becomes of answers that
    are not given. A file of version 0.2 may have ``costs``: of these answers, those
    up to ``ask_limit`` then go to a person, and the others are declined.
    """

    format: int
    sayso: str
    created: str
    score: str
    direction: Literal["answer at or below the limit"] = "answer at or below the limit"
    limit: float
    promise: str
    max_error: float
    confidence: float
    labels: int
    labeled_by: str
    unit: Literal["answer", "text"]
    answered: int
    wrong: int
    otherwise: Literal["decline", "ask"] = "decline"
    costs: dict[str, float] | None = None
    ask_limit: float | None = None
    needs: tuple[str, ...]
    meaning: str = ""
    samples: tuple[int, int] | None = None
    blanks: Literal["kept", "left out"] = "kept"
    data: str = ""
    model: str = ""
    signature: str = ""
    withdrawn: Withdrawal | None = None


class Decision(msgspec.Struct, frozen=True):
    """What to do with an answer: ``action`` is "answer", "decline" or "ask" (a person).

    ``score`` is ``None`` where it cannot be computed, ``promise`` where it was withdrawn. ``why``
    says what decided.
    """

    action: Action
    score: float | None
    limit: float
    promise: str | None
    why: str


class _Head(msgspec.Struct):
    format: int
    sayso: str = "of an unknown version"


def guard_in(path: str | Path) -> GuardFile:
    """Return what a file of a guard says. Raises InputError, in one line, for any other file."""
    place = Path(path)
    try:
        about = place.stat()
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{place} is no regular file: expected a guard.json")
        if about.st_size > MOST_BYTES:
            raise InputError(f"{place} has more than {MOST_BYTES:,} bytes: expected a guard.json")
        data = place.read_bytes().removeprefix(b"\xef\xbb\xbf")  # of an editor of Windows
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror or error}") from None
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format != GUARD_FORMAT:
            raise InputError(
                f"{place} has format {head.format}, written by sayso {head.sayso:.40}; sayso "
                f"{__version__} reads format {GUARD_FORMAT}: fit it again"
            )
        file = msgspec.json.decode(data, type=GuardFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{place} is no file of sayso guard ({error})") from None
    numbers = {"limit": file.limit, "ask_limit": file.ask_limit}
    for name, value in numbers.items():
        if value is not None and not math.isfinite(value):
            raise InputError(f"{place}: {name} is {value}, expected a finite number")
    if not (0 < file.max_error < 1 and 0 < file.confidence < 1):
        raise InputError(
            f"{place}: max_error {file.max_error} and confidence {file.confidence}: expected "
            "shares between 0 and 1"
        )
    return file


def written_guard(file: GuardFile) -> bytes:
    """Return a guard as the bytes of its file, indented for people."""
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


def equal_blanks(samples: Sequence[str], needs: Sequence[str]) -> int:
    """Return how many samples say nothing, if that is several, which a score takes for equal."""
    blank = sum(map(is_blank, samples)) if "draws" in needs else 0
    return blank if blank > 1 else 0


def settle_blanks(case: Case, file: GuardFile) -> str:
    """Make of blank samples what the scores of the labels made; return why there is no score."""
    if file.blanks == "kept" or "draws" not in file.needs:
        blank = equal_blanks(case.draws, file.needs)
        return f"{blank} of {len(case.draws)} samples are blank" if blank else ""
    said = [not is_blank(text) for text in case.draws]
    case.draws = tuple(compress(case.draws, said))
    case.draw_arrays = [*compress(case.draw_arrays, said)]
    return ""


class Answered(NamedTuple):
    """What a call brings along, besides question and answer."""

    logprobs: Any = None
    entropies: Any = None
    samples: Any = ()
    sample_logprobs: Any = None
    sample_entropies: Any = None
    stated: Any = None
    score: Any = None


class Guard:
    """Decides on answers by the limit of a ``guard.json``: :meth:`load` it, then call it.

    A guard whose promise is withdrawn gives no answer; it notices a change of its file at the next
    call. ``nli`` compares meanings where the score takes that and no rules did: a file alone never
    names a model that is loaded or asked.
    """

    def __init__(self, file: GuardFile, place: Path | None = None, nli: Any = None) -> None:
        self.file = file
        self.place = place
        self._nli = nli
        #: the stamp of what was read; none yet, so that the first call looks again
        self._seen: object = () if place is not None else None
        #: a withdrawal that could not be written yet, and why the file cannot be read
        self._unwritten: Withdrawal | None = None
        self._unread: Withdrawal | None = None
        self._tools: Any = None
        self._method: Any = None

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, nli: Any = None) -> Guard:
        """Return the guard of a file. Raises InputError, in one line, for any other file.

        A score that takes more than a call can bring is told in one line, as a ``UserWarning``.
        """
        place = Path(path).absolute()
        guard = cls(guard_in(place), place, nli)
        notice = guard.notice
        if notice:
            warnings.warn(notice, stacklevel=2)
        return guard

    @property
    def notice(self) -> str:
        """What the score takes besides the arguments of a call, in one line; or nothing."""
        file = self.file
        foreign = [need for need in file.needs if need not in (*BROUGHT, *COMPARED)]
        if foreign:
            return (
                f"{file.score} needs {', '.join(foreign)[:200]}, which a call cannot bring: "
                "compute the score with sayso.score and pass it as score="
            )
        if not self._compares_by_model or self._nli is not None:
            return ""
        by = f" with {file.meaning[:200]}" if file.meaning else ""
        return (
            f"{file.score} compares meanings{by}: pass nli= (rules, or the model that computed the "
            "scores of the labels), which the first call loads"
        )

    @property
    def _compares_by_model(self) -> bool:
        takes = [need for need in self.file.needs if need in COMPARED[2:]]
        return bool(takes) and self.file.meaning != BY_RULES

    def __call__(
        self,
        question: str,
        answer: str,
        *,
        logprobs: Sequence[float] | None = None,
        entropies: Sequence[float] | None = None,
        samples: Sequence[str] = (),
        sample_logprobs: Sequence[Sequence[float]] | None = None,
        sample_entropies: Sequence[Sequence[float]] | None = None,
        stated: float | None = None,
        score: float | None = None,
    ) -> Decision:
        """Return what to do with an answer.

        ``logprobs`` and ``entropies`` are of the answer's tokens (natural logarithms), ``samples``
        further answers at T=1, ``stated`` the confidence that the model stated, 0 to 1, by default
        what the answer says ("Confidence: 80%"). ``score`` is the score itself, where you compute
        it. Evidence that is missing or cannot be read gives no answer, and ``why`` says so; nothing
        is raised.
        """
        self._look()
        file, withdrawn = self.file, self.withdrawn
        given = Answered(
            logprobs, entropies, samples, sample_logprobs, sample_entropies, stated, score
        )
        try:
            value = self._score(question, answer, given)
        except Exception as error:  # an odd object, a score that nobody knows
            value = f"the score cannot be computed: {type(error).__name__}{_said(error)}"[:400]
        number = value if isinstance(value, float) else None
        if withdrawn is not None:
            why = f"the promise was withdrawn on {withdrawn.when}: {withdrawn.why}"
            return Decision(file.otherwise, number, file.limit, None, why)
        if number is None:
            return Decision(file.otherwise, None, file.limit, file.promise, str(value))
        if number <= file.limit:
            why = f"{file.score} is at most the limit"
            return Decision("answer", number, file.limit, file.promise, why)
        action: Action = file.otherwise
        if file.costs is not None:
            asks = file.ask_limit is not None and number <= file.ask_limit
            action = "ask" if asks else "decline"
        return Decision(
            action, number, file.limit, file.promise, f"{file.score} is above the limit"
        )

    def withdraw(self, why: str) -> bool:
        """Withdraw the promise, here and in the file: no answer is given until it is fitted anew.

        A promise that was withdrawn before keeps its first reason. Tell whether it was now. Raises
        InputError where the file cannot be written: this guard gives no answer any more, and tries
        again at each call.
        """
        self._look()
        if self.file.withdrawn is not None:
            return False
        self._unwritten = self._unwritten or _now(why)
        self._write()
        return True

    @property
    def withdrawn(self) -> Withdrawal | None:
        """When the promise was withdrawn, and why; or since when its file cannot be read."""
        return self.file.withdrawn or self._unwritten or self._unread

    def __repr__(self) -> str:
        state = "withdrawn" if self.withdrawn is not None else f"limit {self.file.limit:g}"
        return f"<Guard: {self.file.score}, {state}, {self.file.labels:,} labels>"

    # ---- the file

    def _stamp(self) -> tuple[int, ...] | None:
        if self.place is None:
            return None
        try:
            found = os.stat(self.place)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size

    def _look(self) -> None:
        """Read the file again where it changed; one that is gone or damaged keeps no promise.

        A withdrawal that could not be written is tried again, unless the guard was fitted anew.
        """
        stamp = self._stamp()  # of what is there before it is read
        if stamp != self._seen:
            fitted = self.file.created
            try:
                self.file = guard_in(self.place or "")
                self._unread = self._method = self._tools = None
            except InputError as error:
                self._unread = _now(error)
            self._seen = stamp  # not before: another thread goes by what is read
            if self.file.withdrawn is not None or self.file.created != fitted:
                self._unwritten = None
        if self._unwritten is not None:
            with contextlib.suppress(InputError):
                self._write()

    def _write(self) -> None:
        """Write the withdrawal, over the file that a link leads to. Raises InputError."""
        if self._unread is not None:
            raise InputError(self._unread.why)
        file = msgspec.structs.replace(self.file, withdrawn=self._unwritten)
        if self.place is not None:
            place = atomic.real_path(self.place)
            with atomic.disk_errors(place), atomic.replacing(place) as out:
                out.write(written_guard(file))
        self.file, self._unwritten = file, None

    # ---- the score

    def _score(self, question: str, answer: str, given: Answered) -> float | str:
        """Return the score, or why there is none."""
        if not isinstance(answer, str) or is_blank(answer):
            return "the answer is empty"
        if given.score is not None:
            return _finite(given.score)
        if GIVEN in self.file.needs:
            return f"pass the column {self.file.score} as score="
        try:
            samples = self._samples(str(question), answer, given)
            if isinstance(samples, str):
                return samples
            if self._method is None:
                self._method = scores.choose([self.file.score])
            value: float | str = scores.values_of(self._method, samples)[self.file.score]
        except InputError as error:
            return str(error)
        return value

    def _samples(self, question: str, answer: str, given: Answered) -> Any:
        """Return the evidence as scores take it, or why it cannot be had."""
        needs, held = self.file.needs, self.file.samples
        several = (given.samples, given.sample_logprobs, given.sample_entropies)
        if any(
            isinstance(value, str) or not isinstance(value, Sequence)
            for value in several
            if value is not None
        ):
            return "samples, sample_logprobs and sample_entropies are lists, one for each sample"
        if not set(needs).issubset((*BROUGHT, *COMPARED)):
            return f"{self.file.score} cannot be computed in a call: pass it as score="
        draws = tuple(given.samples or ())
        if held is not None and "draws" in needs and not held[0] <= len(draws) <= held[1]:
            count = f"{held[0]}" if held[0] == held[1] else f"{held[0]} to {held[1]}"
            return f"{len(draws)} samples: the labeled answers had {count}"
        for number, text in enumerate(draws, 1):
            if "draws" in needs and not isinstance(text, str):
                return f"sample {number} is {text!r:.40}, expected a text"
        own = [_numbers(values) for values in (given.logprobs, given.entropies)]
        each = [
            [_numbers(values) for values in lists or ()] or [None] * len(draws)
            for lists in (given.sample_logprobs, given.sample_entropies)
        ]
        if any(len(lists) != len(draws) for lists in each):
            return "sample_logprobs and sample_entropies need one list for each sample"
        request = Request(messages=(Message("user", question),))
        case = evidence.Case(question, request, answer, draws)
        case.arrays.update(_there(own))
        for kept, *values in zip(case.draw_arrays, *each, strict=True):
            kept.update(_there(values))
        if blank := settle_blanks(case, self.file):
            return blank
        stated = given.stated
        if stated is None and answer is not None:
            stated = confidence.stated_confidence(answer, question)
        if stated is not None:
            case.evidence["stated"] = {"one_step": _number(stated)}
        if set(needs) & set(COMPARED):
            collect.collect_evidence([case], needs, self._opened())
        return evidence.samples_of("guard", case, answer)

    def _opened(self) -> Any:
        """Return who compares texts, opened once."""
        if self._tools is None:
            meaning: Any = None
            if self._compares_by_model:
                if self._nli is None:
                    raise InputError(self.notice)
                meaning = tools.Toolbox(nli=self._nli).tools(engine=False, meaning=True).meaning
            elif set(self.file.needs) & set(COMPARED[2:]):
                meaning = meanings.RulesMeaning()
            self._tools = collect.Tools(None, meaning)
        return self._tools


def _now(why: object) -> Withdrawal:
    said = str(why).encode(errors="replace").decode()  # half characters, which no file holds
    return Withdrawal(datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), said)


def _said(error: Exception) -> str:
    with contextlib.suppress(Exception):  # it may come from an odd object
        return f": {error}"
    return ""


def _number(value: Any) -> float:
    """Return a number as a float, NaN for anything else: no text and no truth value is one."""
    if hasattr(value, "item"):  # of numpy or torch
        value = value.item()
    if isinstance(value, bool | str | bytes | bytearray):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _finite(value: Any) -> float | str:
    number = _number(value)
    return number if math.isfinite(number) else f"the score is {value!r:.40}, expected a number"


def _numbers(values: Any) -> tuple[float, ...] | None:
    """Return numbers of tokens; a missing one is NaN, which no score takes."""
    if values is None:
        return None
    if isinstance(values, str | bytes | Mapping):
        return (math.nan,)
    try:
        return tuple(map(_number, values))
    except TypeError:
        return (math.nan,)


def _there(values: Sequence[Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in zip(("logprobs", "entropies"), values, strict=True)
        if value is not None
    }
