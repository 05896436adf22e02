"""Asking a model whether its own claim is true: three settings, options in every order.

Tu et al., arXiv 2411.15993, section 4: ``direct`` (is the statement true or
false, answered in a word), ``qa`` (is this the answer to that question, answered by a letter) and
``qa_none`` (the same with "none of the above"). The option that stands first attracts small
models, so every option stands in every place once and the answers are averaged. Where the model's
probabilities can be read, they are; else its reply is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sayso.judges.claim_questions import QuestionAnswer
from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.english.tokens import seen
from sayso.judges.patterns import regex
from sayso.prompts import load_prompt
from sayso.prompts.fence import visible_text

#: The options of each setting in the paper's order, and their words.
OFFERED: dict[str, tuple[str, ...]] = {
    "direct": ("yes", "no"),
    "qa": ("yes", "no"),
    "qa_none": ("yes", "no", "none"),
}
WORDS = {"yes": "True", "no": "False", "none": "None of the above"}
LETTERS = "ABC"
#: Tokens of a reply in words: a letter or a word, or a short sentence around it.
REPLY_TOKENS = 32
#: How a reply may begin with the letter of an option, or with its word.
LETTERED = ("{}", " {}", "({})", " ({})")
WORDED = ("{0}", " {0}", "{1}", " {1}")

#: A letter on its own: not "A" as in "A poem is", unless only the option's word follows.
_LETTER = regex(
    r"(?<![\w'])(?:(A)(?![\w'])(?!\s+(?!(?:is|because|since|as|and|or)\b"
    r"|(?:true|false|none of the above)\W*$)[a-z])|([BC])(?![\w']))"
)
_NOT_BEFORE = regex(
    rf"\b(?:{alternatives(lexicon_words('negations', 'self_judgement'))}|than|over)\W+"
    r"(?:option\W+|letter\W+)?$",
    re.I,
)
#: characters before a letter in which a word may turn it
_BEFORE = 60
_WORD = regex(r"\b(not\s+)?(true|false|correct|incorrect|none\s+of\s+the\s+above)\b", re.I)
_PLAIN = regex(r"\W*(yes|no)\W*", re.I)
#: With one of these around it the word of an option chooses nothing.
_UNSURE = regex(
    r"\b(?:not|no|never|neither|nor|or|if|whether|unsure|uncertain|unclear|hardly|scarcely|may|might"
    r"|could|would|should|partly|partially|half|impossible|hard|difficult|cannot)\b",
    re.I,
)


def orders(mode: str, how: str = "all") -> tuple[tuple[str, ...], ...]:
    """Return the orders of the options: the paper's first; with "all" each option in each place."""
    options = OFFERED[mode]
    turns = range(len(options) if how == "all" else 1)
    return tuple(options[turn:] + options[:turn] for turn in turns)


def prompt(
    mode: str,
    topic: str,
    claim: str,
    pair: QuestionAnswer | None,
    order: Sequence[str],
    folder: Path | None = None,
    passages: Sequence[str] = (),
) -> str | None:
    """Return the prompt, ``None`` for a claim without a question.

    Each text of the model is one line of it, so that it can open no option of its own.
    """
    if mode == "direct":
        options = " or ".join(WORDS[name].lower() for name in order)
        text = claim.strip()  # ends in a full stop where it ends in no other
        text = text if not text or text[-1] in ".!?" else f"{text}."
        filled = {"{topic}": topic or "a text", "{claim}": text, "{options}": options}
        template = load_prompt("self_direct", folder)
    elif pair is None or pair.problem is not None:
        return None
    else:
        options = "\n".join(
            f"({letter}) {WORDS[name]}" for letter, name in zip(LETTERS, order, strict=False)
        )
        filled = {"{question}": pair.question, "{answer}": pair.answer, "{options}": options}
        template = load_prompt("self_qa", folder)
    text = template
    for name, value in filled.items():
        if name != "{options}":
            value = " ".join(visible_text(value).split()).replace("{", "(")
        text = text.replace(name, value)
    if passages:
        shown = "\n\n".join(" ".join(visible_text(p).split()) for p in passages)
        text = f"{shown}\n\n{text}"
    return text


def spellings(mode: str, order: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return how a reply may begin that chooses each option: its word, or its letter."""
    if mode == "direct":
        return {
            name: tuple(s.format(WORDS[name], WORDS[name].lower()) for s in WORDED)
            for name in order
        }
    return {
        name: tuple(s.format(letter) for s in LETTERED)
        for letter, name in zip(LETTERS, order, strict=False)
    }


class SelfJudgement(NamedTuple):
    """A model's answer on a claim: yes, no or none; ``share`` is P(yes) or the share of orders that
    say yes; ``by_order`` the answer in each order; ``mass`` the probability of all options."""

    label: str | None
    share: float | None
    by_order: tuple[str | None, ...]
    mass: float | None = None
    problem: str | None = None


def from_probabilities(by_order: Sequence[Mapping[str, float]]) -> SelfJudgement:
    """Average the probabilities of the options over orders, each normalized over its options.

    An order without probability (an empty mapping: it could not be read) is left out.
    """
    shares: dict[str, float] = defaultdict(float)
    firsts: list[str | None] = []
    number = 0
    for one in by_order:
        total = sum(one.values())
        if not total > 0:
            firsts.append(None)
            continue
        number += 1
        for name, p in one.items():
            shares[name] += p / total
        firsts.append(_largest(one))
    if not number:
        return SelfJudgement(None, None, tuple(firsts), 0.0, "unread")
    mass = sum(sum(one.values()) for one in by_order) / number
    best = _largest(shares)
    share = shares["yes"] / number
    return SelfJudgement(best, share, tuple(firsts), mass, None if best else "tied")


def from_replies(by_order: Sequence[str | None]) -> SelfJudgement:
    """Take the answer of most orders; unread ones (``None``) do not vote, a tie has no label."""
    votes = Counter(name for name in by_order if name is not None)
    if not votes:
        return SelfJudgement(None, None, tuple(by_order), None, "unread")
    best = _largest(votes)
    share = votes["yes"] / sum(votes.values())
    return SelfJudgement(best, share, tuple(by_order), None, None if best else "tied")


def _largest(votes: Mapping[str, float]) -> str | None:
    """Return the name with the most votes, ``None`` for a tie."""
    ranked = sorted(votes.items(), key=lambda pair: -pair[1])
    tied = len(ranked) > 1 and ranked[0][1] - ranked[1][1] < 1e-12
    return None if tied else ranked[0][0]


def read_yes_no(text: str, order: Sequence[str]) -> str | None:
    """Return yes, no or none of a reply in words; ``None`` where it says none of them, or several.

    A letter of an option counts, or its words; where letter and words differ, neither does.
    """
    by_letter = dict(zip(LETTERS, order, strict=False))
    shown = seen(text.strip())
    letters = set()
    for hit in _LETTER.finditer(shown):
        if _NOT_BEFORE.search(shown, max(0, hit.start() - _BEFORE), hit.start()):
            return None
        letters.add(hit[1] or hit[2])
    worded = _in_words(shown)
    if not letters:
        return worded if worded in by_letter.values() else None
    name = by_letter.get(letters.pop()) if len(letters) == 1 else None
    return name if worded in (None, name) else None


def _in_words(text: str) -> str | None:
    """Return what a reply without letters says; ``None`` where it doubts or says several things."""
    alone = _PLAIN.fullmatch(text)
    if alone is not None:
        return alone[1].lower()
    spelled = re.sub(r"n't\b", " not", text.replace("cannot", "can not"), flags=re.I)
    options = set()
    for negated, word in _WORD.findall(spelled):
        name = "none" if word.lower().startswith("none") else "no"
        if (word.lower() in ("true", "correct")) != bool(negated) and name != "none":
            name = "yes"
        options.add(name if not (negated and name == "none") else "?")
    (only,) = options if len(options) == 1 else (None,)
    return None if _UNSURE.search(_WORD.sub(" ", spelled)) else only
