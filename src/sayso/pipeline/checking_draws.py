"""Findings of ``sayso check`` that repeated draws show: variety, seeds, log-probs, truncation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sayso.models import Engine
from sayso.pipeline.checking_ask import OPEN, Questioner, first_token, said
from sayso.pipeline.checking_records import Finding
from sayso.pipeline.checking_tests import (
    NOISE,
    Drawn,
    Tail,
    Tempering,
    greedy_change,
    tail,
    tempering,
)
from sayso.records import Generation

#: draws of each open question, and how many of them show what can be drawn
DRAWS, SHOWING = 120, 56
COLD, HOT = 20, 64
COLD_T, HOT_T = 0.5, 2.0
SEED_TOKENS, SEED_TOKENS_THINKING = 16, 512
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
    def tail(self) -> Tail | None:
        """The deciding test of truncation; ``None`` without log-probabilities."""
        if not self.has_logprobs:
            return None
        warm = _tokens(self.warm)
        if self.more:
            return tail(warm, _tokens(self.more))
        return _first_test(warm)


def draw(asking: Questioner, *, thinks: bool) -> DrawnReplies:
    """Draw open questions again and again. A model that always thinks is only asked for seeds."""
    room = SEED_TOKENS_THINKING if thinks else SEED_TOKENS
    rounds = [
        asking.ask([asking.request(text, room, seed=seed, stop=()) for text in OPEN])
        for seed in (1, 1, 2)  # not in one call: equal requests in one call are several choices
    ]
    seeds = list(zip(*rounds, strict=True))
    if thinks:
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
    asking: Questioner, texts: Sequence[str], samples: range, temperature: float = 1.0
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
        text: [first_token(r) for r in rs if said(r) is not None] for text, rs in replies.items()
    }


def _first_test(warm: Mapping[str, Sequence[Drawn]]) -> Tail:
    before = {text: draws[:SHOWING] for text, draws in warm.items()}
    return tail(before, {text: draws[SHOWING:] for text, draws in warm.items()})


def logprobs(engine: Engine, drawn: DrawnReplies, first: Generation) -> Finding:
    """Are the sampled tokens' log-probabilities given?"""
    if drawn.has_logprobs or first.logprobs:
        kinds = "entropies as well" if engine.capabilities.entropies else "of the tokens chosen"
        return Finding("log-probs", "yes", kinds)
    return Finding("log-probs", "no", "no reply had any", "see what is left out")


def raw(drawn: DrawnReplies) -> list[Finding]:
    """Are log-probabilities those of the model, before temperature? And those of T=0?"""
    if not drawn.has_logprobs:
        return []
    found = drawn.tempering
    seen = f"from T=1 to T={COLD_T:g} they move by {found.moved:.2f} ({found.tokens} tokens)"
    if found.moves is None:
        moved = Finding(
            "log-probs are raw", "cannot tell", "the tokens drawn are too certain to show it"
        )
    elif found.moves:
        moved = Finding(
            "log-probs are raw", "no", f"{seen}; tempering would by {found.would_move:.2f}",
            "only those of T=1 and T=0 can be used",
        )  # fmt: skip
    else:
        moved = Finding("log-probs are raw", "yes", seen)
    change = greedy_change(
        _tokens(drawn.warm), {text: (_tokens({text: rs})[text] or [None])[0]
                              for text, rs in drawn.greedy.items()}
    )  # fmt: skip
    if change is None:
        return [moved]
    seen = f"from T=1 to T=0 by at most {change:.2f}"
    if change <= NOISE:
        return [moved, Finding("log-probs at T=0", "yes", f"the model's own: {seen}")]
    return [
        moved,
        Finding("log-probs at T=0", "no", f"they move {seen}", "greedy answers have none to use"),
    ]


def several(engine: Engine) -> Finding:
    """Can several draws be had in one call?"""
    can = engine.capabilities
    if can.n:
        return Finding("several draws a call (n)", "yes", "used")
    if can.force:
        return Finding("several draws a call (n)", "yes", "in this process: they share the prompt")
    return Finding(
        "several draws a call (n)", "no", "one answer a call", "each draw pays its prompt"
    )


def seed(engine: Engine, drawn: DrawnReplies) -> Finding:
    """Does the same seed give the same text, and another seed another?"""
    read = [texts for row in drawn.seeds if None not in (texts := [said(r) for r in row])]
    same = sum(a == b for a, b, _ in read)
    other = sum(a != c for a, _, c in read)
    seen = f"same seed: {same} of {len(read)} equal; other seed: {other} of {len(read)} differ"
    if engine.capabilities.seed is False:
        return Finding("seed", "no", "the endpoint refuses it", "draws cannot be repeated")
    if not read or (same == len(read) and other == 0):
        return Finding("seed", "cannot tell", seen if read else "no answers to compare")
    if same == len(read):
        return Finding("seed", "yes", seen)
    return Finding("seed", "no", seen, "draws cannot be repeated; the cache keeps them")


def _varied(drawn: DrawnReplies) -> tuple[int, int]:
    """Return how many draws could be compared, and how many different texts they were."""
    count = different = 0
    groups: list[Sequence[Generation]] = [row[1:] for row in drawn.seeds]
    groups += [[*rs, *drawn.more.get(text, ())] for text, rs in drawn.warm.items()]
    for group in groups:
        # A hidden thought or an answer that ends at once: nothing that could differ was shown.
        texts = [text for r in group if (text := said(r)) is not None and any(text)]
        if len(texts) > 1:
            count += len(texts)
            different += len(set(texts)) - 1
    return count, different


def vary(drawn: DrawnReplies) -> Finding:
    """Do draws at T=1 differ at all?"""
    count, different = _varied(drawn)
    if count == 0:
        return Finding("draws vary", "cannot tell", "no two draws of one question were readable")
    if different:
        best = max(drawn.warm.values(), key=_kinds, default=[])
        seen = f"{_kinds(best)} different first words in {len(best)} draws of one question"
        return Finding("draws vary", "yes", seen if best else "two seeds gave two texts")
    return Finding(
        "draws vary", "no", f"{count} draws at T=1 of open questions: never two different ones",
        "five probes are one probe: known/unknown rests on a single draw",
    )  # fmt: skip


def _kinds(replies: Sequence[Generation]) -> int:
    return len({text for r in replies if (text := said(r)) is not None})


WHOLE = "draws from all tokens"


def distribution(drawn: DrawnReplies) -> Finding:
    """Is sampling truncated in silence (top_k, top_p, min_p)?"""
    if drawn.unread:
        return Finding(WHOLE, "cannot tell", drawn.unread)
    count, different = _varied(drawn)
    found = drawn.tail
    if found is None:
        if count and not different:
            return Finding(WHOLE, "no", f"all {count} draws are equal", "as if top_k=1")
        return _without_logprobs(drawn)
    if found.expected < LEAST_EXPECTED:
        return Finding(
            WHOLE, "cannot tell",
            f"{found.mass:.0%} of the probability is on {found.shown} tokens; too little beside",
        )  # fmt: skip
    seen = (
        f"{found.shown} first tokens shown, {found.mass:.0%} of the probability; of {found.draws} "
        f"further draws {found.new} were others, {found.expected:.1f} expected (p={found.p:.2g})"
    )
    if drawn.more and found.p < SURE:
        return Finding(
            WHOLE, "no", seen,
            f"truncated: as by top_k={_about(drawn)} or top_p={found.mass:.2g}; draws too alike",
        )  # fmt: skip
    if drawn.tempering.moves is not False:
        return Finding(WHOLE, "cannot tell", seen, "log-probs may be of what truncation left")
    return Finding(WHOLE, "yes", seen, f"a cut below {found.smallest:.0%} would not show")


def _about(drawn: DrawnReplies) -> int:
    """The most first tokens of one question that were ever drawn."""
    return max(_kinds([*rs, *drawn.more.get(text, ())]) for text, rs in drawn.warm.items())


def _without_logprobs(drawn: DrawnReplies) -> Finding:
    """Without probabilities there is nothing to compare with; say what was seen."""
    (warm,) = drawn.warm.values() if drawn.warm else ([],)
    (hot,) = drawn.hot.values() if drawn.hot else ([],)
    seen = f"no log-probs to compare with; {_kinds(warm)} first words in {len(warm)} draws"
    taken = not any("temperature" in what for r in hot for what in r.overrides)
    counts = Counter(text for r in hot if (text := said(r)) is not None)
    if not counts or not taken:
        return Finding(WHOLE, "cannot tell", seen)
    seen += f" at T=1, {len(counts)} in {counts.total()} at T={HOT_T:g}"
    if min(counts.values()) > 1 and len(counts) <= counts.total() // 3:
        follows = f"so few at T={HOT_T:g}, each more than once: looks like top_k={len(counts)}"
        return Finding(WHOLE, "cannot tell", seen, follows)
    return Finding(WHOLE, "cannot tell", seen)
