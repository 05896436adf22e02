"""The places of a prompt, and judge prompts that are taken whole: a header names their reply.

A paper's judge prompt has words, layout and labels of its own. With a header it is sent as it
stands, and only what others wrote (question, golds, answer) stands fenced in its places::

    ---
    reply: blocks
    labels: S, NS, UNC
    ---
    Here is a paragraph. Judge what it says about each question ...
    {paragraph}

    ### Question: {question}
    Gold answer: {golds}

``reply`` is ``blocks`` (one for each question, begun by ``### `` and the question, with a last
``$label$``), ``word`` (one of the labels and nothing else), ``number LOW to HIGH``, ``assertions
LOW to HIGH`` (lines ``LABEL: text``, each followed by a line ``LABEL: number``) or
``question#answer``. ``labels`` are those of the prompt, each with what it means where that is not
its own name: ``yes = correct, no = incorrect``. In blocks, the lines from the first to the last
place of one question are repeated for every question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sayso.prompts.fence import Fence, Field, bordered, fence, visible_text
from sayso.records import InputError


class Places(NamedTuple):
    """The names in braces that a prompt must have, and others that it may have."""

    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


_JUDGED = Places(("marker", "texts", "code"))
#: how a reply is written; ``judge_material`` tells the code, and no prompt need do so before it
_REPLY = Places((), ("code", "count"))
_INSTRUCTION = Places((), ("question",))
_EXAMPLES = Places(("question",))

#: prompt -> its places. In an instruction the question's place is optional: without one the
#: instruction goes with the question as its method says, with one it is the whole prompt.
PLACES: dict[str, Places] = {
    "ambiguous": Places(),
    "ambiguous_reply": _REPLY,
    "blind": _JUDGED,
    "build_question": Places(("aspect", "entity"), ("type", "language", "example")),
    "build_question_check": Places(("question", "options")),
    "claim_question": Places(),
    "claim_question_reply": _REPLY,
    "claims": Places(),
    "claims_reply": _REPLY,
    "confidence": _JUDGED,
    "confidence_reasoned": _JUDGED,
    "contradict": Places(),
    "contradict_reply": _REPLY,
    "decisive": Places(),
    "decisive_reply": _REPLY,
    "is_true": _JUDGED,
    "judge_again": Places(),
    "judge_blocks": Places(("labels",), ("code", "count")),
    "judge_brief_fence": Places(),
    **{
        f"judge_brief_{step}": Places(("labels", "fence"))
        for step in ("doubt", "mention", "right", "value")
    },
    "judge_fence": Places(("marker",)),
    "judge_json": Places(("labels",), ("code", "count")),
    "judge_long": Places(),
    "judge_material": Places(("texts", "code"), ("marker", "count")),
    "judge_omitted": Places(("omitted",)),
    "judge_retry": Places(),
    "judge_second": Places(),
    "judge_short": Places(),
    "judge_stance": Places(),
    "judge_stance_first": Places(),
    "judge_uncle": Places(),
    "judge_grades": Places(),
    "judge_uncle_first": Places(),
    "method_granularity": _INSTRUCTION,
    "method_hedged": Places(("answer",)),
    "method_metacognitive": _INSTRUCTION,
    "method_pair_few": _EXAMPLES,
    "method_pair_few_long": _EXAMPLES,
    "method_self_refine": Places(),
    "method_unc_few": _EXAMPLES,
    "method_unc_few_long": _EXAMPLES,
    "method_uncertainty": _INSTRUCTION,
    "method_vanilla": _INSTRUCTION,
    "plain_question": Places(("question",)),
    "p_true": Places(("question", "answer"), ("ideas",)),
    "relation": _JUDGED,
    **{
        name: place
        for step in ("facts", "check", "unsure", "merge")
        for name, place in ((f"rows_{step}", Places()), (f"rows_{step}_reply", _REPLY))
    },
    "selective_sentence": Places(),
    "selective_short": Places(),
    "self_direct": Places(("claim",), ("topic", "options")),
    "self_open": Places(("topic",)),
    "self_qa": Places(("question", "answer", "options")),
    "self_retrieval": Places(("passages", "prompt")),
    "self_revise": Places(("claims",), ("prompt", "text")),
    "support": Places(),
    "supported": _JUDGED,
    "support_reply": _REPLY,
    "uncle_paragraph": Places(("questions",), ("entity",)),
    "uncle_short_instruction": _INSTRUCTION,
    "uncle_long_instruction": _INSTRUCTION,
}


class Whole(NamedTuple):
    """What a judge prompt that is taken whole may be: replies, places, what a label may mean.

    ``once`` are places that all questions of a call share; ``echoed`` those that blocks need,
    since a block repeats them.
    """

    replies: tuple[str, ...]
    places: Places
    once: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()
    echoed: tuple[str, ...] = ()

    def example(self, reply: str) -> list[str]:
        """Return the lines of a header for one of the replies."""
        head = [_RULE, f"reply: {reply} 0 to 1" if reply in RANGED else f"reply: {reply}"]
        if self.meanings and reply not in UNLABELED:
            labels = self.meanings[:2]
            head.append(f"labels: {', '.join(f'{label.upper()} = {label}' for label in labels)}")
        return [*head, _RULE]


_VERDICTS = (
    "committed-correct", "committed-incorrect", "hedged-correct", "hedged-incorrect", "hedged-none",
    "abstained", "refused", "asked-back", "omitted",
)  # fmt: skip
#: of answers that nobody may have hedged, and UNCLE's (arXiv 2505.16922)
_SHORTER = ("correct", "incorrect", "S", "NS", "UNC")

#: prompts that may have a header
WHOLE: dict[str, Whole] = {
    "judge_short": Whole(
        ("blocks", "word"),
        Places(("answer",), ("question", "golds")),
        meanings=(*_VERDICTS, *_SHORTER),
        echoed=("question",),
    ),
    "judge_long": Whole(
        ("blocks", "word"),
        Places(("question", "paragraph"), ("golds",)),
        once=("paragraph",),
        meanings=(*_VERDICTS, *_SHORTER, "OMIT"),
    ),
    "ambiguous": Whole(("word",), Places(("question",), ("answers",)), meanings=("yes", "no")),
    "claim_question": Whole(("question#answer",), Places(("claim",), ("topic",))),
    "contradict": Whole(
        ("word",), Places(("claim", "sample"), ("question",)), meanings=("yes", "no")
    ),
    "decisive": Whole(
        ("number", "assertions"),
        Places(("answer",), ("question",)),
        meanings=("assertion", "score"),
    ),
    "support": Whole(
        ("word",),
        Places(("claim", "passages"), ("topic",)),
        meanings=("supported", "not supported", "irrelevant"),
    ),
}

_PLACE = re.compile(r"\{([a-z_]+)\}")
#: formats of a reply that count from LOW to HIGH, and those without labels
RANGED, UNLABELED = ("number", "assertions"), ("number", "question#answer")
_RANGE = re.compile(r"\w+\s+(-?\d+(?:\.\d+)?)\s+to\s+(-?\d+(?:\.\d+)?)")
_LABEL = re.compile(r"[^$,=#{}]{1,40}")
_RULE = "---"


class Template(NamedTuple):
    """A judge prompt that is taken whole. ``entry`` is repeated for each question of a call.

    ``labels`` maps each label, folded, to (the label, its meaning). A number counts from ``low``
    (0) to ``high`` (1).
    """

    reply: str
    labels: Mapping[str, tuple[str, str]]
    before: str
    entry: str
    after: str
    low: float = 0.0
    high: float = 1.0

    @property
    def single(self) -> bool:
        """Whether a reply speaks of one question only."""
        return self.reply != "blocks"


def has_header(text: str) -> bool:
    """Whether a prompt begins with a header."""
    return text.split("\n", 1)[0].strip() == _RULE


def check_text(name: str, text: str, file: object) -> None:
    """Refuse a prompt that lacks a place or has one that nothing fills. Raises InputError."""
    if has_header(text):
        read_template(name, text, file)
    else:
        _check_places(PLACES[name], text, file)


def read_template(name: str, text: str, file: object) -> Template | None:
    """Return a judge prompt that is taken whole; ``None`` for a text without a header.

    Raises InputError, which begins with ``file``, for a header or places that cannot be used.
    """
    if not has_header(text):
        return None
    if name not in WHOLE:
        raise InputError(f"{file}: takes no header; only {', '.join(WHOLE)} do")
    whole = WHOLE[name]
    head, body = _split(text, file)
    reply, low, high = _reply(head.get("reply", ""), whole, file)
    if head.get("labels") and reply in UNLABELED:
        raise InputError(f"{file}: a reply of the form {reply} has no labels; leave them out")
    labels = _labels(head.get("labels", ""), whole, file)
    if whole.meanings and not labels and reply not in UNLABELED:
        raise InputError(
            f"{file}: its header has no labels; expected a line such as 'labels: "
            f"{', '.join(f'{word} = {word}' for word in whole.meanings[:2])}'"
        )
    if reply == "assertions" and sorted(m for _, m in labels.values()) != ["assertion", "score"]:
        raise InputError(
            f"{file}: a reply of assertions has two labels; expected a line such as 'labels: "
            "Claim = assertion, Score = score'"
        )
    places = whole.places
    if reply == "blocks":
        places = places._replace(must=(*whole.echoed, *places.must))
    _check_places(places, body, file)
    pieces = _repeated(body, whole, file) if reply == "blocks" else ("", body, "")
    return Template(reply, labels, *pieces, low, high)


def _split(text: str, file: object) -> tuple[dict[str, str], str]:
    """Return the lines of a header by name, and the prompt behind it."""
    lines = text.split("\n")
    ends = [n for n, line in enumerate(lines) if n and line.strip() == _RULE]
    if not ends:
        raise InputError(f"{file}: its header does not end; write a line {_RULE} behind it")
    head: dict[str, str] = {}
    for line in lines[1 : ends[0]]:
        key, colon, value = line.partition(":")
        key = key.strip()
        if line.strip() and (not colon or key not in ("reply", "labels") or key in head):
            raise InputError(
                f"{file}: {line.strip()[:60]!r} in its header; expected 'reply: …' and "
                "'labels: …', each once"
            )
        if line.strip():
            head[key] = value.strip()
    body = "\n".join(lines[ends[0] + 1 :]).strip()
    return head, body


def _reply(value: str, whole: Whole, file: object) -> tuple[str, float, float]:
    """Return the format of a reply, with the ends of a number."""
    kind = value.split(" ", 1)[0]
    expected = " or ".join(f"{r} LOW to HIGH" if r in RANGED else r for r in whole.replies)
    low, high = 0.0, 1.0
    if kind not in whole.replies or (kind not in RANGED and value != kind):
        raise InputError(f"{file}: reply is {value!r}; expected {expected}")
    if kind in RANGED:
        ends = _RANGE.fullmatch(value)
        low, high = (float(ends[1]), float(ends[2])) if ends else (1.0, 0.0)
        if low >= high:
            raise InputError(f"{file}: reply is {value!r}; expected such as '{kind} 0 to 1'")
    return kind, low, high


def _labels(value: str, whole: Whole, file: object) -> dict[str, tuple[str, str]]:
    """Return the labels of a header, each with its meaning."""
    labels: dict[str, tuple[str, str]] = {}
    for part in value.split(",") if value else ():
        label, _, meaning = (piece.strip() for piece in part.partition("="))
        meaning = meaning or label
        known = {word.casefold(): word for word in whole.meanings}
        if not _LABEL.fullmatch(label) or label.casefold() in labels:
            raise InputError(f"{file}: label {label!r} is empty, holds a mark or stands twice")
        if whole.meanings and meaning.casefold() not in known:
            raise InputError(
                f"{file}: label {label!r} means {meaning!r}; expected one of "
                f"{', '.join(whole.meanings)}"
            )
        labels[label.casefold()] = label, known.get(meaning.casefold(), meaning)
    return labels


def _check_places(places: Places, text: str, file: object) -> None:
    """Refuse a text without a place that it needs, or with one of another name."""
    found = set(_PLACE.findall(text))
    lacking = [f"{{{name}}}" for name in places.must if name not in found]
    if lacking:
        raise InputError(f"{file}: must contain {', '.join(lacking)}")
    known = dict.fromkeys((*places.must, *places.may))
    strange = sorted(found - set(known))
    if strange:
        takes = ", ".join(f"{{{name}}}" for name in known) or "none"
        raise InputError(f"{file}: nothing fills {{{strange[0]}}}; its places: {takes}")


def _repeated(body: str, whole: Whole, file: object) -> tuple[str, str, str]:
    """Return the text before the lines of one question, those lines, and the text behind them."""
    lines = body.split("\n")
    held = [set(_PLACE.findall(line)) for line in lines]
    own = [n for n, names in enumerate(held) if names - set(whole.once)]
    first, last = own[0], own[-1]
    if any(names & set(whole.once) for names in held[first : last + 1]):
        shared = ", ".join(f"{{{name}}}" for name in whole.once)
        raise InputError(
            f"{file}: {shared} stands among the lines of one question, which are repeated; write "
            "it before or behind them"
        )
    pieces = lines[:first], lines[first : last + 1], lines[last + 1 :]
    before, entry, after = ("\n".join(piece) for piece in pieces)
    return before, entry, after


# ---- filling

#: What stands in the places of a text: each has one or several fields.
Filling = Mapping[str, Sequence[Field]]


def fill(template: Template, once: Filling, entries: Sequence[Filling]) -> tuple[str, Fence]:
    """Return a prompt with fenced data in its places, and the fence that all of it shares."""
    words = () if template.single else tuple(label for label, _ in template.labels.values())

    def cleaned(filling: Filling) -> dict[str, list[Field]]:
        return {
            name: [Field(field.name, visible_text(field.text, labels=words)) for field in fields]
            for name, fields in filling.items()
        }

    shared, own = cleaned(once), [cleaned(entry) for entry in entries]
    data = fence([f for one in (shared, *own) for fields in one.values() for f in fields])
    repeated = [_filled(template.entry, {**shared, **one}, data.marker) for one in own]
    ends = [_filled(text, shared, data.marker) for text in (template.before, template.after)]
    pieces = [ends[0], "\n\n".join(repeated), ends[1]]
    return "\n".join(piece for piece in pieces if piece.strip()), data


def _filled(text: str, filling: Mapping[str, Sequence[Field]], marker: str) -> str:
    """Put each place's data on lines of their own; nothing that was put in is read again."""

    def put(place: re.Match[str]) -> str:
        if place[1] not in filling:
            return place[0]
        ahead = "" if text[: place.start()].endswith("\n") or not place.start() else "\n"
        behind = "" if text[place.end() :].startswith("\n") or place.end() == len(text) else "\n"
        return f"{ahead}{bordered(filling[place[1]], marker)}{behind}"

    return _PLACE.sub(put, text)
