"""Collectors: the evidence that scores need beyond text, collected once and shared between them.

What takes a model to find out is collected here for a block of questions at a time, so that an
engine or a classifier gets its work in few large calls. Each kind of evidence has a name, by which
a score declares that it needs it; :data:`EVIDENCE` names its collector. In the order of this
module: answers to questions about the answer (:class:`EvidenceQuestioner`), probabilities of given
text (teacher forcing), P(True) with examples, relations of meaning, similarity of words, hidden
states.
"""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.answers.lexical import rouge_f1, rouge_l_table, rouge_tokens
from sayso.datasets.answer_rows import AnswerRow
from sayso.engines.engine import Engine, reader_of, writer_of
from sayso.judges.english.sentences import split_sentences
from sayso.judges.english.stated import stated_confidence
from sayso.judges.english.tokens import content
from sayso.judges.english.tokens import tokens as words_of
from sayso.judges.meaning import LONGEST, Meaning
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import Field, fence, visible_text, word_behind
from sayso.prompts.thoughts import strip_thinking
from sayso.records import Generation, Message, Request, content_id
from sayso.scores.evidence import Case

# ---- what the model says of its answer
#
# Opt-in, since each is a request of its own, counted in :class:`RequestTally`. Question and answer
# stand fenced (``fence``), and a reply counts only if it repeats the fence's code before its number
# or word: an answer that says "100 % sure" sets nothing. What cannot be read is ``None`` and
# counted, never a middling confidence.

#: Ways of asking for a confidence after the answer: the prompt, and the tokens of a reply.
WAYS: dict[str, tuple[str, int]] = {
    "two_step": ("confidence", 256),
    "two_step_reasoned": ("confidence_reasoned", 1024),
}
#: Replies on whether one answer is true, drawn at T=1.
DRAWS = 5
#: tokens of a reply on whether an answer is true: a thought may come before it
REPLY = 256
SAID_TRUE = "is_true"
#: the question whether a draw supports a sentence, and what its replies are called
SUPPORTED = "supported"
_SUPPORTED = {"yes": "yes", "no": "no", "none": "n/a"}
_TRUTH = {"true": True, "false": False}


class RequestTally(msgspec.Struct):
    """How many requests were made, had no reply, and had a reply that could not be read."""

    requests: int = 0
    failed: int = 0
    unread: int = 0


class EvidenceQuestioner:
    """Asks an engine (with the cache around it), with the prompts of a folder or our own.

    ``sentences``: it may be asked of each sentence and each draw, which is many requests.
    ``lists_tokens``: whether replies come with likely other tokens; ``None`` before the first.
    """

    def __init__(
        self, engine: Engine, prompts: Path | None = None, *, sentences: bool = False
    ) -> None:
        self.engine = engine
        self.tally = RequestTally()
        self.sentences = sentences
        self.lists_tokens: bool | None = None
        names = [*(name for name, _ in WAYS.values()), SAID_TRUE, *[SUPPORTED] * sentences]
        self.prompts = {name: load_prompt(name, prompts) for name in names}

    @property
    def signature(self) -> str:
        """A hash of the prompts in four digits."""
        return f"ask#p{prompt_hash(chr(0).join(self.prompts.values()))[:4]}"

    def ask(
        self,
        cases: Sequence[Case],
        prompt: str,
        read: Callable[[str, str], object],
        draws: int,
        tokens: int,
    ) -> list[list[tuple[object, str | None]]]:
        """Return by case and draw (value, ``None``), or (``None``, why nothing was read)."""
        pairs = [
            pair
            for case in cases
            for pair in questions_about(self.prompts[prompt], case, draws, tokens)
        ]
        values = self.replies(pairs, read)
        return [values[n : n + draws] for n in range(0, len(values), draws)]

    def replies(
        self, pairs: Sequence[tuple[Request, str]], read: Callable[[str, str], object]
    ) -> list[tuple[object, str | None]]:
        """Return by request and code (value, ``None``), or (``None``, why nothing was read)."""
        requests, codes = [request for request, _ in pairs], [code for _, code in pairs]
        values: list[tuple[object, str | None]] = [(None, "no reply")] * len(requests)
        self.tally.requests += len(requests)
        for index, reply in self.engine.complete(requests):
            if reply.problem is not None:
                self.tally.failed += 1
                values[index] = None, f"the model gave no reply ({reply.problem.split(':')[0]})"
                continue
            value = read(reply.text, codes[index])
            if value is None:
                self.tally.unread += 1
                values[index] = None, "the model's reply could not be read"
            else:
                values[index] = value, None
        return values


def questions_about(
    template: str, case: Case, draws: int, tokens: int
) -> list[tuple[Request, str]]:
    """Return the requests of one question about one answer, each with the code of its reply."""
    asked = [m.content for m in case.request.messages if m.role != "system"]
    question = "\n".join(asked) or case.question
    data = fence([Field("question", question), Field("answer", case.answer or "")])
    message = (Message("user", data.in_template(template)),)
    heat = 0.0 if draws == 1 else 1.0
    return [
        (Request(message, temperature=heat, max_tokens=tokens, sample=sample), data.code)
        for sample in range(draws)
    ]


def row_confidence(row: AnswerRow) -> float | None:
    """Return the confidence that the model stated: its column's, else what the answer says."""
    if row.stated is not None or row.answer is None:
        return row.stated
    return stated_confidence(row.answer, row.question)


def confidence_in(text: str, code: str) -> float | None:
    """Return the one confidence, 0..1, that a reply names behind its code, a whole percentage.

    ``None`` for none, several, a range, a fraction, or a number above 100.
    """
    reply, _ = strip_thinking(text)
    number = rf"\b{re.escape(code)}\b\W{{0,5}}(\d{{1,3}})(?!\w|[.,]\d|\s*(?:-|–|to)\s*\d)"
    numbers = {int(value) for value in re.findall(number, reply)}
    value = numbers.pop() if len(numbers) == 1 else None
    return value / 100 if value is not None and value <= 100 else None


def truth_in(text: str, code: str) -> bool | None:
    """Return whether a reply says true or false behind its code; ``None`` for neither or both."""
    return word_behind(text, code, _TRUTH)


def elicit(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Ask about every answer what is wanted."""
    questioner = _given(tools.questioner)
    held = [case for case in cases if case.answer]
    for way, (prompt, tokens) in WAYS.items():
        need = f"stated:{way}"
        if need not in wanted:
            continue
        replies = questioner.ask(held, prompt, confidence_in, 1, tokens)
        for case, [(value, reason)] in zip(held, replies, strict=True):
            if reason is None:
                case.evidence.setdefault("stated", {})[way] = value
            else:
                case.reasons[need] = reason
    if "said_true" in wanted:
        replies = questioner.ask(held, SAID_TRUE, truth_in, DRAWS, REPLY)
        for case, drawn in zip(held, replies, strict=True):
            case.evidence["said_true"] = tuple(value for value, _ in drawn)
            reasons = [reason for _, reason in drawn if reason is not None]
            if len(reasons) == len(drawn):
                case.reasons["said_true"] = reasons[0]


def supported(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Ask of each sentence of the answers and each draw whether the draw supports it: ``support``.

    Manakul et al. 2023 (SelfCheckGPT-Prompt). An answer one of whose replies cannot be read has
    none: a reply that says "none" is n/a, one that says nothing is missing.
    """
    questioner = _given(tools.questioner)
    template = questioner.prompts[SUPPORTED]
    pairs: list[tuple[Request, str]] = []
    held: list[tuple[Case, int]] = []
    for case in (case for case in cases if case.answer and case.draws):
        parts = _sentences(case)
        held.append((case, len(parts)))
        pairs += [support_question(template, part, draw) for part in parts for draw in case.draws]
    replies = iter(questioner.replies(pairs, partial(word_behind, meanings=_SUPPORTED)))
    for case, number in held:
        rows = [[next(replies) for _ in case.draws] for _ in range(number)]
        reason = next((why for row in rows for _, why in row if why is not None), None)
        if reason is not None:
            case.reasons["support"] = reason
        elif rows:
            case.evidence["support"] = tuple(tuple(str(v) for v, _ in row) for row in rows)


def support_question(template: str, sentence: str, draw: str) -> tuple[Request, str]:
    """Return the question whether a draw supports a sentence, and the code of its reply."""
    data = fence([Field("context", draw), Field("sentence", sentence)])
    message = Message("user", data.in_template(template))
    return Request((message,), temperature=0.0, max_tokens=REPLY), data.code


def _sentences(case: Case) -> list[str]:
    """Return the sentences of an answer, none empty."""
    answer = case.answer or ""
    parts = (answer[s.start : s.end].strip() for s in split_sentences(answer))
    return [text for text in parts if text]


def collect_judged(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Ask judges who see no gold whether every answer is true: ``judged``, 1 or 0 by judge."""
    held = [case for case in cases if case.answer]
    for judge in tools.panel:
        replies = judge.ask(held, SAID_TRUE, truth_in, 1, REPLY)
        for case, [(value, _)] in zip(held, replies, strict=True):
            told = None if value is None else float(bool(value))
            case.evidence.setdefault("judged", {})[judge.engine.name] = told
    for case in held:
        if not any(value is not None for value in case.evidence["judged"].values()):
            del case.evidence["judged"]
            case.reasons["judged"] = "no judge of the panel gave a reply that could be read"


# ---- probabilities of given text (teacher forcing): one pass for each text, nothing is generated
#
# Equal texts behind one prompt are read once. A text that the tokenizer cannot give back (it drops
# or changes characters) is not scored: its probabilities would be those of another text.

#: how a judge of meaning is named that asks a language model pair by pair
PAID = "llm:"
#: Ways in which a tokenizer may write the letter of an option.
OPTIONS = (("A", " A"), ("B", " B"))
Item = tuple[Request, str | Sequence[int]]
#: why the first token of a reply tells nothing about the options
NOT_SHOWN = (
    "an option is not among the likeliest first tokens of the model's reply, so P(True) is open"
)
#: how far from the truth P(True) may be where one option is not among the likeliest first tokens
CLOSE = 0.01
NO_TOKENS = "the server lists no likely other first tokens, or the model thinks first"
ASK_OPTIONS = "needs one more question about each answer: score --ask, run --set elicit=true"


def wanted_arrays(engine: Engine, wanted: Collection[str]) -> list[str]:
    """Return the names of the arrays that are wanted and that the engine can give."""
    can = provided(Tools(engine))
    return sorted({EVIDENCE[need].array for need in FORCED if need in wanted and need in can})


def read_forced(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Read the answers, and the draws, that lack the arrays that are wanted of them."""
    engine = _given(tools.engine)
    mine = wanted_arrays(engine, [need for need in wanted if not need.startswith("draws.")])
    theirs = wanted_arrays(engine, [need for need in wanted if need.startswith("draws.")])
    places: dict[tuple[Request, str], list[tuple[Case, int]]] = {}
    for case in cases:
        if case.answer and any(name not in case.arrays for name in mine):
            places.setdefault((case.request, case.answer), []).append((case, -1))
        for n, text in enumerate(case.draws):
            if text and any(name not in case.draw_arrays[n] for name in theirs):
                places.setdefault((case.request, text), []).append((case, n))
    items: list[Item] = list(places)
    texts = [text for _, text in places]
    holders = list(places.values())
    for index, read in engine.force(items, sorted({*mine, *theirs})):
        reason = unfit_reason(read, texts[index])
        for case, n in holders[index]:
            kept = case.arrays if n < 0 else case.draw_arrays[n]
            names, prefix = (mine, "") if n < 0 else (theirs, "draws.")
            for name in names:
                if name in kept:
                    continue
                if reason is None:
                    kept[name] = getattr(read, name)
                else:
                    case.reasons[f"{prefix}{name}"] = reason
            # a file's log-probabilities may be of another tokenizer's tokens
            if reason is None and len(kept.get("logprobs") or read.offsets or ()) == len(
                read.offsets or ()
            ):
                kept.setdefault("token_ids", read.token_ids)
                kept.setdefault("offsets", read.offsets)


def unfit_reason(read: Generation, text: str) -> str | None:
    """Return why arrays that were read do not hold for a text; ``None`` where they do."""
    if read.problem == "context":
        return "the text is longer than the model's context"
    if read.problem is not None:
        return f"the model could not read the text ({read.problem})"
    if read.text.strip() != text.strip():
        return "the model's tokenizer cannot reproduce the text"
    return None


def unconditional(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Read the answers behind an empty question: their log-probabilities without it.

    Where the same model read the answer before, the very same tokens are read.
    """
    alone = Request(messages=(Message("user", ""),))
    held = [case for case in cases if case.answer]
    items: list[Item] = [
        (alone, case.arrays.get("token_ids") or case.answer or "") for case in held
    ]
    for index, read in _given(tools.engine).force(items, ["logprobs"]):
        case = held[index]
        reason = unfit_reason(read, case.answer or "")
        if reason is None:
            case.arrays["unconditional"] = read.logprobs
        else:
            case.reasons["unconditional"] = reason


def true_false(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Ask whether the answer is true, with the draws in view; P(A) and P(B) of the reply.

    Kadavath et al. 2022 without examples, made robust: the probability of an
    option is summed over the ways a tokenizer writes its letter, each read as a continuation.
    """
    held = [case for case in cases if case.answer]
    template = load_prompt("p_true")
    questions = [question_of(template, case) for case in held]
    requests = [Request(messages=(Message("user", text),)) for text in questions]
    option_mass(held, requests, tools, "ptrue", "true_false")


def option_mass(
    held: Sequence[Case], requests: Sequence[Request], tools: Tools, need: str, name: str
) -> None:
    """Give each case P(A) and P(B) behind its request as evidence ``name``, or why there is none.

    An option's probability is summed over the different token sequences that write it; where the
    model cannot read given text, over the alternatives of the first token of a reply that do.
    """
    engine = _given(tools.engine)
    if not engine.capabilities.force:
        _first_token_mass(held, requests, _given(tools.questioner), need, name)
        return
    items: list[Item] = []
    options: list[tuple[int, int]] = []
    for place, request in enumerate(requests):
        for option, spellings in enumerate(OPTIONS):
            items += [(request, text) for text in spellings]
            options += [(place, option)] * len(spellings)
    # by case and option: token sequences and their probabilities, equal sequences once
    mass: list[tuple[dict[tuple[int, ...], float], ...]] = [({}, {}) for _ in held]
    for index, read in engine.force(items, ["logprobs"]):
        place, option = options[index]
        if read.problem is not None or not read.logprobs:
            held[place].reasons[need] = unfit_reason(read, "") or "the model gave no probabilities"
            continue
        ids = read.token_ids or (index,)
        mass[place][option][tuple(ids)] = math.exp(sum(read.logprobs))
    for case, (yes, no) in zip(held, mass, strict=True):
        if yes and no and need not in case.reasons:
            case.evidence[name] = (sum(yes.values()), sum(no.values()))


def _first_token_mass(
    held: Sequence[Case],
    requests: Sequence[Request],
    questioner: EvidenceQuestioner,
    need: str,
    name: str,
) -> None:
    """As :func:`option_mass`, from the likeliest first tokens of a reply, asked at temperature 1.

    An option that is not among them is at most as likely as the last but one: the last may be the
    token that was drawn, which vLLM always lists. That has to be close enough. The first reply
    tells whether there are any; where not, nothing more is asked.
    """
    asked = [_one_token(request) for request in requests]
    for begin, end in ((0, 1), (1, len(asked))):
        if questioner.lists_tokens is False:
            return
        questioner.tally.requests += len(asked[begin:end])
        for place, reply in questioner.engine.complete(asked[begin:end]):
            case = held[begin + place]
            shown = reply.alternatives[0] if reply.alternatives else ()
            if not shown and reply.problem not in (None, "truncated"):
                questioner.tally.failed += 1
                case.reasons[need] = f"the model gave no reply ({reply.problem.split(':')[0]})"
                continue
            questioner.lists_tokens = questioner.lists_tokens or bool(shown)
            mass = [
                [math.exp(a.logprob) for a in shown if a.text.strip() == spellings[0]]
                for spellings in OPTIONS
            ]
            most = math.exp(sorted((0.0, *(a.logprob for a in shown)))[min(1, len(shown))])
            yes, no = (sum(option) if option else most for option in mass)
            if all(mass) or (any(mass) and most < CLOSE * (yes + no)):
                case.evidence[name] = (yes, no)
            else:
                questioner.tally.unread += 1
                case.reasons[need] = NOT_SHOWN if shown else NO_TOKENS


def _one_token(request: Request) -> Request:
    """Return a request for the first token of a reply; at temperature 1 its chances are raw."""
    return msgspec.structs.replace(request, temperature=1.0, max_tokens=1)


def question_of(template: str, case: Case) -> str:
    """Return the question whether the answer of a case is true."""
    return truth_block(template, case.question, case.draws, case.answer or "")


def truth_block(template: str, question: str, draws: Sequence[str], answer: str) -> str:
    """Return the question whether an answer is true, each text of others on one line of it."""
    ideas = [" ".join(visible_text(text).split()) for text in dict.fromkeys(draws) if text.strip()]
    known = {
        "{question}": " ".join(visible_text(question).split()),
        "{ideas}": "\n".join(f"- {idea}" for idea in ideas) or "- (none)",
        "{answer}": " ".join(visible_text(answer).split()),
    }
    for name, text in known.items():
        # a text that holds another name in braces must not be filled in
        template = template.replace(name, text.replace("{", "("))
    return template


# ---- P(True) with examples: questions whose answers are known to be right or wrong come first
#
# Kadavath et al. 2022 ask with examples, and so do the papers that compare with it:
# a question, what came to mind, the proposed answer, and whether it is true. Examples are questions
# that are not scored themselves. The text before the question is the same for all, so that an
# engine that keeps what it has read reads it once.

#: what the papers show
PAPER = 20
#: with fewer there is no example of either kind
LEAST = 2
NEED = "ptrue:few"
#: where none were given
NOT_GIVEN = (
    f"needs labeled examples: --set p_true.examples={PAPER} in a run, or --examples {PAPER} with "
    "--model for a file with golds"
)
ONE_OF_THEM = "its question is one of the examples shown to the model"
NONE_FITS = "no two examples and a question fit into the model's context"


class ShownExample(NamedTuple):
    """One example: the question, what came to mind (draws), the answer, and whether it is true."""

    question: str
    ideas: tuple[str, ...]
    answer: str
    true: bool

    @property
    def text(self) -> str:
        """The example as it is shown, its letter at the end."""
        letters = [spellings[0] for spellings in OPTIONS]
        question = truth_block(load_prompt("p_true"), self.question, self.ideas, self.answer)
        return f"{question} {letters[0 if self.true else 1]}"


class PromptExamples:
    """The examples of a run or a file, and how many of them fit before a question.

    ``shown`` in order, both kinds among the first two. ``problem`` says why there are none.
    ``asked`` counts the cases that stood behind them, ``fit`` how many examples stand before each.
    """

    def __init__(self, shown: Sequence[ShownExample] = (), problem: str | None = None) -> None:
        self.shown = tuple(shown)
        self.problem = problem
        self.fit: int | None = None
        self.asked = 0
        self._questions = {_same(one.question) for one in self.shown}

    def holds(self, question: str) -> bool:
        """Tell whether a question is one of the examples."""
        return _same(question) in self._questions

    def before(self, question: str, count: int) -> Request:
        """Return the request that asks behind the first ``count`` examples."""
        blocks = [*(one.text for one in self.shown[:count]), question]
        return Request(messages=(Message("user", "\n\n".join(blocks)),))

    @property
    def notices(self) -> list[str]:
        """What a reader should know about them."""
        if self.problem is not None:
            return [f"P(True) with examples: {self.problem}"]
        if not self.asked:
            return []
        true = sum(one.true for one in self.shown[: self.fit])
        cut = f" (of {len(self.shown)}: more do not fit)" if self.fit != len(self.shown) else ""
        return [
            f"P(True) with examples: {self.fit}{cut} stand before each of {self.asked:,} answers, "
            f"{true} of them true; none of the examples gets this score"
        ]


def _same(question: str) -> str:
    return " ".join(question.split()).casefold()


def choose_examples(pool: Sequence[ShownExample], count: int, seed: int) -> PromptExamples:
    """Return ``count`` examples of a pool, drawn at random by ``seed``; both kinds are among them.

    The share of true ones is the pool's, but at least a quarter of each kind where there are so
    many: a few examples of one kind teach the letter, not the question.
    """
    rng = random.Random(f"examples {seed}")
    order = sorted(pool)
    rng.shuffle(order)
    true, false = [s for s in order if s.true], [s for s in order if not s.true]
    if not true or not false:
        kind = "right" if true else "wrong"
        which = f"all {len(pool)} are {kind}" if pool else "there are none"
        return PromptExamples(problem=f"needs right and wrong answers as examples, and {which}")
    count = max(LEAST, min(count, len(order)))
    least = max(1, count // 4)
    drawn = sum(s.true for s in order[:count])
    drawn = max(drawn, min(least, len(true)))
    drawn = min(drawn, count - min(least, len(false)))
    chosen = true[:drawn] + false[: count - drawn]
    rng.shuffle(chosen)
    other = next(n for n, s in enumerate(chosen) if s.true != chosen[0].true)
    chosen[1], chosen[other] = chosen[other], chosen[1]  # both kinds, however few fit
    return PromptExamples(chosen)


def true_false_few(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Ask whether the answer is true behind labeled examples; P(A) and P(B) of the reply.

    As :func:`true_false`, four readings a case behind one prompt. How many examples fit is measured
    once, with the longest question of the first call.
    """
    examples = _given(tools.examples)
    template = load_prompt("p_true")
    held = []
    for case in cases:
        if case.answer and examples.holds(case.question):
            case.reasons[NEED] = ONE_OF_THEM
        elif case.answer:
            held.append(case)
    if not held:
        return
    questions = [question_of(template, case) for case in held]
    if examples.fit is None:
        examples.fit = _fitting(max(questions, key=len), tools, examples)
    if examples.fit < LEAST:
        for case in held:
            case.reasons[NEED] = NONE_FITS
        return
    examples.asked += len(held)
    requests = [examples.before(text, examples.fit) for text in questions]
    option_mass(held, requests, tools, NEED, "true_false_few")


def _fitting(question: str, tools: Tools, examples: PromptExamples) -> int:
    """Return how many examples fit before a question, by halving; one reading for each trial."""

    engine = _given(tools.engine)

    def fits(count: int) -> bool:
        request = examples.before(question, count)
        read = (
            engine.force([(request, OPTIONS[0][0])], ["logprobs"])
            if engine.capabilities.force
            else _given(tools.questioner).engine.complete([_one_token(request)])
        )
        return all(one.problem != "context" for _, one in read)

    low, high = 0, len(examples.shown)
    while low < high:
        # the first trial is all of them, which is what mostly fits
        middle = high if (low, high) == (0, len(examples.shown)) else (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


# ---- relations of meaning


def _fill(
    cases: Sequence[Case], meaning: Meaning, pairs: Sequence[_Pairs], names: tuple[str, str]
) -> None:
    """Ask about all pairs of all cases at once and give each case its two tables."""
    triples = [
        (case.question, a, b)
        for case, mine in zip(cases, pairs, strict=True)
        for a, b in mine.texts
    ]
    # a question may come again
    places = {triple: place for place, triple in enumerate(dict.fromkeys(triples))}
    relations = meaning.table([*places])[[places[triple] for triple in triples]]
    at = 0
    for case, mine in zip(cases, pairs, strict=True):
        part = relations[at : at + len(mine.texts)]
        at += len(mine.texts)
        for column, name in enumerate(names):
            if column == 0 or meaning.three:
                case.evidence[name] = part[:, column].reshape(mine.shape)[mine.where]


class _Pairs(NamedTuple):
    """Pairs of different texts, the shape of their table, and where its cells go: draws repeat."""

    texts: list[tuple[str, str]]
    shape: tuple[int, int]
    where: tuple[NDArray[Any], ...] | list[int]


def _numbered(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the different texts, and the place among them of each text."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [*places], [places[text] for text in texts]


def between_draws(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find (k, k) tables between the draws: ``entail`` and ``contra``."""
    held = [case for case in cases if len(case.draws) > 1 and "entail" not in case.evidence]
    pairs = []
    for case in held:
        draws, at = _numbered(case.draws)
        mine = [(a, b) for a in draws for b in draws]
        pairs.append(_Pairs(mine, (len(draws), len(draws)), np.ix_(at, at)))
    _fill(held, _given(tools.meaning), pairs, ("entail", "contra"))


def against_answer(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find (k, 2) tables between draws and answer, column 0 from draw to answer."""
    held = [c for c in cases if c.draws and c.answer and "answer_entail" not in c.evidence]
    pairs = []
    for case in held:
        answer = case.answer or ""
        draws, at = _numbered(case.draws)
        mine = [pair for draw in draws for pair in ((draw, answer), (answer, draw))]
        pairs.append(_Pairs(mine, (len(draws), 2), at))
    _fill(held, _given(tools.meaning), pairs, ("answer_entail", "answer_contra"))


def against_sentences(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find (J, k) tables from each draw to each sentence of the answer."""
    held, pairs = [], []
    for case in cases:
        if not case.draws or not case.answer or "sentence_entail" in case.evidence:
            continue
        parts = _sentences(case)
        if parts:
            held.append(case)
            draws, at = _numbered(case.draws)
            mine = [(draw, text) for text in parts for draw in draws]
            pairs.append(_Pairs(mine, (len(parts), len(draws)), np.ix_(range(len(parts)), at)))
    _fill(held, _given(tools.meaning), pairs, ("sentence_entail", "sentence_contra"))


def clusters(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find which draws mean the same: ``clusters``, meaning ids by first appearance."""
    held = [case for case in cases if case.draws and "clusters" not in case.evidence]
    questions, draws = [c.question for c in held], [c.draws for c in held]
    clusterings = _given(tools.meaning).clusters(questions, draws)
    for case, clustering in zip(held, clusterings, strict=True):
        if clustering.ids is None:
            case.reasons["clusters"] = clustering.problem or "no relation could be read"
        else:
            case.evidence["clusters"] = clustering.ids


# ---- similarity of words


def similarity(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find (k, k) ROUGE-L F1 between the draws, on words of any script; equal texts are 1."""
    for case in cases:
        if len(case.draws) > 1 and "similarity" not in case.evidence:
            texts, at = _numbered([text.strip()[:LONGEST] for text in case.draws])
            case.evidence["similarity"] = rouge_l_table(texts)[np.ix_(at, at)]


def similarity_to_answer(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find (k,) ROUGE-L F1 of each draw with the answer; equal texts are 1."""
    for case in cases:
        if not case.draws or case.answer is None or "answer_similarity" in case.evidence:
            continue
        answer = case.answer.strip()[:LONGEST]
        words = rouge_tokens(answer, tokenizer="unicode")
        near = [
            1.0
            if draw.strip()[:LONGEST] == answer
            else rouge_f1(words, rouge_tokens(draw[:LONGEST], tokenizer="unicode"))
            for draw in case.draws
        ]
        case.evidence["answer_similarity"] = np.asarray(near)


# ---- which tokens say something, and what else could have stood there

#: the need of likely other tokens, compared with those of the answer
ALTERNATIVES = "nli:alternatives"
#: probability of another token from which on it is compared
LEAST_LIKELY = 0.001


def relevance(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Find which tokens of answers and draws say something: ``relevance`` and ``importance``.

    The relevance of a token is what the set of content words of question and answer loses with its
    word, 1 - F1 of the sets without it and with it; 0 for function words, and for words that the
    question or another place of the answer holds. Each relevant word has the same importance,
    which its tokens share.
    """
    for case in cases:
        for text, arrays in zip(
            (case.answer, *case.draws), (case.arrays, *case.draw_arrays), strict=True
        ):
            if text and "relevance" not in arrays and arrays.get("offsets") is not None:
                arrays["relevance"], arrays["importance"] = _relevance(
                    case.question, text, arrays["offsets"]
                )


def _relevance(
    question: str, text: str, offsets: Sequence[int]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return relevance (T,) and importance (T,) of the tokens that begin at ``offsets``."""
    known = {word.stem for word in content(words_of(question[:LONGEST]))}
    words = content(words_of(text[:LONGEST]))
    counts = Counter(word.stem for word in words)
    new = [w for w in words if counts[w.stem] == 1 and w.stem not in known]
    size = len(known | counts.keys())
    lost = 1 - 2 * (size - 1) / (2 * size - 1)
    ends = [*offsets[1:], len(text)]
    loss, share = [0.0] * len(offsets), [0.0] * len(offsets)
    for word in new:
        # a token that begins with the space before a word is the word's
        inside = range(bisect_right(ends, word.start), bisect_left(offsets, word.end))
        for t in inside:
            loss[t] = lost
            share[t] += 1 / len(inside)
    return tuple(loss), tuple(share)


def compare_alternatives(cases: Sequence[Case], tools: Tools, wanted: Collection[str]) -> None:
    """Compare each token of the answers with the likely others: ``compared`` alternatives.

    Premise is the answer up to the token with the other one at its place, hypothesis the same with
    the token itself; an alternative of less than :data:`LEAST_LIKELY` is left out.
    """
    writer = _given(writer_of(_given(tools.engine)))
    triples: list[tuple[str, str, str]] = []
    held: list[tuple[Case, list[list[float]]]] = []
    for case in cases:
        ids, others = case.arrays.get("token_ids"), case.arrays.get("alternatives")
        if ids is None or others is None or len(ids) != len(others):
            continue
        kept: list[list[float]] = []
        for t, (own, rest) in enumerate(zip(ids, others, strict=True)):
            before = list(ids[:t])
            likely = [a for a in rest if a.token != own and math.exp(a.logprob) >= LEAST_LIKELY]
            kept.append([a.logprob for a in likely])
            text = writer.decode([*before, own])
            triples += [(case.question, writer.decode([*before, a.token]), text) for a in likely]
        held.append((case, kept))
    relations = iter(_given(tools.meaning).table(triples).tolist() if triples else [])
    for case, kept in held:
        rows = [[(value, next(relations)) for value in some] for some in kept]
        if all(all(map(math.isfinite, shares)) for some in rows for _, shares in some):
            case.arrays["compared"] = tuple(
                tuple((value, _relation(*shares)) for value, shares in some) for some in rows
            )
        else:
            case.reasons[ALTERNATIVES] = "a relation of meaning could not be read"


def _relation(entails: float, denies: float) -> str:
    """Return the likeliest relation of two texts."""
    shares = {"entailment": entails, "contradiction": denies, "neutral": 1 - entails - denies}
    return max(shares, key=lambda name: shares[name])


# ---- which collector finds which evidence


class Tools(NamedTuple):
    """The model that gave the answers, and the judge of meaning.

    ``engine`` reads given text, ``questioner`` asks the model about its answer (opt-in),
    ``examples`` stand before the question whether an answer is true (opt-in). ``panel`` are models
    that judge answers without a gold (opt-in).
    """

    engine: Engine | None = None
    meaning: Meaning | None = None
    questioner: EvidenceQuestioner | None = None
    examples: PromptExamples | None = None
    panel: Sequence[EvidenceQuestioner] = ()


Tool = TypeVar("Tool")


def _given(tool: Tool | None) -> Tool:
    """Return a tool that a collector takes: it is called only where there is one."""
    assert tool is not None
    return tool


class EvidenceKind(NamedTuple):
    """A kind of evidence: who finds it, what that takes, where a case holds it.

    ``takes``: the abilities (:func:`abilities_of`) that finding it takes; ``()`` for words alone,
    ``None`` for what is recorded together with the answer. ``array``: its name among the token
    arrays of a case, or of its draws; ``held``: names in ``Case.evidence``, each of which is
    enough. ``of_answer``: a question without an answer cannot have it.
    """

    takes: tuple[str, ...] | None = None
    collector: Callable[[Sequence[Case], Tools, Collection[str]], None] | None = None
    array: str = ""
    held: tuple[str, ...] = ()
    of_answer: bool = True


_READ, _ENTROPIES, _WHOLE = ("engine",), ("engine", "entropies"), ("engine", "whole")
_THREE = ("meaning", "three")
_COMPARED = (*_WHOLE, "writer", *_THREE, "free")

#: All kinds of evidence by name, in the order of the calls: tables of relations come before
#: clusters, which then find every relation already known.
EVIDENCE: dict[str, EvidenceKind] = {
    "answer": EvidenceKind(),
    "draws": EvidenceKind(of_answer=False),
    # the tokens of answers and draws, all in one pass
    "logprobs": EvidenceKind(_READ, read_forced, "logprobs"),
    "entropies": EvidenceKind(_ENTROPIES, read_forced, "entropies"),
    "margins": EvidenceKind(_WHOLE, read_forced, "margins"),
    "self_certainty": EvidenceKind(_WHOLE, read_forced, "self_certainty"),
    "renyi": EvidenceKind(_WHOLE, read_forced, "renyi"),
    "draws.logprobs": EvidenceKind(_READ, read_forced, "logprobs", of_answer=False),
    "draws.entropies": EvidenceKind(_ENTROPIES, read_forced, "entropies", of_answer=False),
    "alternatives": EvidenceKind(_WHOLE, read_forced, "alternatives"),
    # further passes
    "unconditional": EvidenceKind(_READ, unconditional, "unconditional"),
    "ptrue": EvidenceKind(("options",), true_false, held=("true_false",)),
    NEED: EvidenceKind(("options", "examples"), true_false_few, held=("true_false_few",)),
    # relations of meaning; contradiction comes with the tables between texts
    "contradiction": EvidenceKind(_THREE, held=("contra", "answer_contra"), of_answer=False),
    "nli": EvidenceKind(("meaning",), between_draws, held=("entail",), of_answer=False),
    "nli:answer": EvidenceKind(("meaning",), against_answer, held=("answer_entail",)),
    "nli:sentences": EvidenceKind(_THREE, against_sentences, held=("sentence_entail",)),
    "clusters": EvidenceKind(("meaning",), clusters, held=("clusters",), of_answer=False),
    # words
    "similarity": EvidenceKind((), similarity, held=("similarity",), of_answer=False),
    "similarity:answer": EvidenceKind((), similarity_to_answer, held=("answer_similarity",)),
    "relevance": EvidenceKind((), relevance, "relevance"),
    "importance": EvidenceKind((), relevance, "importance"),
    "draws.relevance": EvidenceKind((), relevance, "relevance", of_answer=False),
    ALTERNATIVES: EvidenceKind(_COMPARED, compare_alternatives, "compared"),
    # what models say of the answer
    **dict.fromkeys((f"stated:{way}" for way in WAYS), EvidenceKind(("questioner",), elicit)),
    "said_true": EvidenceKind(("questioner",), elicit, held=("said_true",)),
    "support": EvidenceKind(("questioner", "sentences"), supported, held=("support",)),
    "judged": EvidenceKind(("panel",), collect_judged, held=("judged",)),
}
#: the kinds that one pass over the texts finds
FORCED = tuple(need for need, kind in EVIDENCE.items() if kind.collector is read_forced)
#: the kinds that the model tells when it is asked about its answer
ELICITED = tuple(need for need, kind in EVIDENCE.items() if kind.collector is elicit)
#: the kinds that words alone answer, where it is known at which character each token begins
RELEVANCE = tuple(need for need, kind in EVIDENCE.items() if kind.collector is relevance)
#: evidence about the answer, which a case without one cannot have
OF_ANSWER = frozenset(need for need, kind in EVIDENCE.items() if kind.of_answer)
#: Evidence without a collector, and where it comes from.
_ELSEWHERE = {
    "stated:one_step": "is stated together with the answer: column stated_confidence",
    "stated:top_k": "needs several guesses with a confidence each, asked instead of the answer",
    "support": "needs one question per sentence and sample: pass --ask, and name it in --methods",
}
#: the columns of a file that hold what an engine would find
_COLUMNS = {
    "logprobs": "token_logprobs",
    "entropies": "token_entropies",
    "draws.logprobs": "sample_token_logprobs, for every sample",
    "draws.entropies": "sample_token_entropies, for every sample",
}


def present(case: Case) -> frozenset[str]:
    """Return the kinds of evidence that are there, whatever they are worth."""
    kinds = {"answer", *["draws"] * bool(case.draws)}
    for need, kind in EVIDENCE.items():
        if need.startswith("draws."):
            there = bool(case.draws) and all(kind.array in kept for kept in case.draw_arrays)
        else:
            there = kind.array in case.arrays or any(name in case.evidence for name in kind.held)
        if there:
            kinds.add(need)
    kinds |= {f"stated:{way}" for way in case.evidence.get("stated", ())}
    return frozenset(kinds if case.answer is not None else kinds - OF_ANSWER)


def needs_taking(ability: str) -> frozenset[str]:
    """Return the kinds of evidence that take an ability to be found."""
    return frozenset(need for need, kind in EVIDENCE.items() if ability in (kind.takes or ()))


def needs_asking(tools: Tools) -> frozenset[str]:
    """Return the kinds of evidence that take a model: one that reads, compares or replies."""
    models = {"engine", "options", "questioner", "panel"}
    if tools.meaning is not None and tools.meaning.name != "rules":
        models.add("meaning")
    return frozenset(n for n, kind in EVIDENCE.items() if models.intersection(kind.takes or ()))


def abilities_of(tools: Tools) -> frozenset[str]:
    """Return what these tools can do, in the words of ``EvidenceKind.takes``.

    "options": the chances of a given word, read or among the alternatives of a reply's token;
    "whole": the whole distribution of each token, which engines have that record alternatives;
    "three": contradiction is told from neutral; "free": a relation of meaning costs nothing.
    """
    engine, meaning, asker = tools.engine, tools.meaning, tools.questioner
    reads = engine if engine is not None and engine.capabilities.force else None
    lists = asker is not None and asker.lists_tokens is not False
    can = {
        "engine": reads is not None,
        "options": reads is not None or (engine is not None and lists),
        "entropies": reads is not None and reads.capabilities.entropies,
        "whole": reads is not None and reads.capabilities.alternatives,
        "writer": reads is not None and writer_of(reads) is not None,
        "examples": tools.examples is not None and tools.examples.problem is None,
        "meaning": meaning is not None,
        "three": meaning is not None and meaning.three,
        "free": meaning is not None and not meaning.name.startswith(PAID),
        "questioner": asker is not None,
        "sentences": asker is not None and asker.sentences,
        "panel": bool(tools.panel),
    }
    return frozenset(ability for ability, there in can.items() if there)


def provided(tools: Tools) -> frozenset[str]:
    """Return the kinds of evidence that these tools can find."""
    can = abilities_of(tools)
    return frozenset(
        need
        for need, kind in EVIDENCE.items()
        if kind.takes is not None and can.issuperset(kind.takes)
    )


def evidence_lacking(need: str, tools: Tools) -> str:
    """Return in a few words what it takes to collect this evidence."""
    if need == NEED and tools.engine is not None:
        if tools.examples is None:
            return NOT_GIVEN
        if tools.examples.problem is not None:
            return tools.examples.problem
    can = abilities_of(tools)
    if need == ALTERNATIVES and "meaning" in can and "free" not in can:
        return f"needs a relation for each token: --nli with a model, not {PAID}NAME"
    options = need in needs_taking("options")
    if options and tools.engine is not None and not tools.engine.capabilities.force:
        return ASK_OPTIONS if tools.questioner is None else NO_TOKENS
    by_engine = options or need in needs_taking("engine")
    if by_engine and (need != ALTERNATIVES or can.issuperset({"three", "free"})):
        if tools.engine is None:
            if need in _COLUMNS:
                return f"needs {_COLUMNS[need]}: in the file, or from --model"
            if need in needs_taking("whole"):
                return "needs the probabilities of all tokens: --model"
            return "needs the model that gave the answers: --model"
        if tools.engine.capabilities.force:
            return f"{tools.engine.name} does not give the probabilities of all tokens"
        return f"{tools.engine.name} cannot read given text token by token"
    compared = need.startswith("nli") or need == "contradiction"
    if compared and tools.meaning is not None and not tools.meaning.three:
        return f"--nli {tools.meaning.name} does not detect contradiction: use a model"
    if compared or need == "clusters":
        return "needs relations of meaning: --nli"
    if need in ELICITED:
        return "needs a question to the model that gave the answers: --model NAME --ask"
    if need == "judged":
        return "needs models that judge the answers without a gold: --panel MODEL,MODEL"
    return _ELSEWHERE.get(need, f"needs {need}, which is recorded together with the answer")


def collect_evidence(cases: Sequence[Case], wanted: Collection[str], tools: Tools) -> None:
    """Collect in place the evidence that is wanted and can be had; each collector runs once."""
    known, wanted = provided(tools), set(wanted)
    if ALTERNATIVES in wanted & known:
        wanted.add("alternatives")
    collectors = [kind.collector for need, kind in EVIDENCE.items() if need in wanted & known]
    for collector in dict.fromkeys(collectors):
        if collector is not None:
            collector(cases, tools, wanted)


# ---- hidden states of stored answers, which a probe such as P(IK) learns from
#
# One pass over prompt and answer, up to the wanted position, in blocks; nothing is generated. A
# thought between prompt and answer is not read again: the state is that of the answer directly
# behind its prompt.

#: answers read in one call: enough to batch by length, few enough to keep in memory
BLOCK = 1024


def hidden_name(layer: int, position: str) -> str:
    """Return the name of the array, ``hidden-<layer>-<position>``."""
    return f"hidden-{layer}-{position}"


def states_hash(answers: Sequence[Generation], engine: Engine, layer: int, position: str) -> str:
    """Return a hash of all that the states depend on: equal, they need not be read again."""
    texts = [[g.id, list(g.token_ids) if g.token_ids else g.text] for g in answers]
    return content_id(["hidden", engine.identity, layer, position, texts])


def hidden_blocks(
    answers: Sequence[Generation], engine: Engine, layer: int, position: str
) -> Iterator[NDArray[np.float16]]:
    """Yield the states (m, d) of answers in their order, a block at a time.

    A row is NaN where an answer cannot be read or is empty. Raises
    :class:`~sayso.records.InputError` for an engine without hidden states, or another layer.
    """
    reader = reader_of(engine)
    for first in range(0, len(answers), BLOCK):
        block = answers[first : first + BLOCK]
        yield reader.hidden([(g.request, g.token_ids or g.text) for g in block], layer, position)
