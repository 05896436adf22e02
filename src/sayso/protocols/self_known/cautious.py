"""Cautious decoding: a long answer in which every sentence is one that the model is sure of.

Sentence by sentence, the model writes several candidates behind the same text: the greedy one and
draws at T=1. The candidate with the most probable names, dates and numbers is kept. The text ends
where greedy decoding ends it, or where no candidate is sure enough. Ours: Tu et al. (arXiv
2411.15993) ask for such a remedy and have none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.claim_questions import named_values
from sayso.judges.english.sentences import Span, split_sentences
from sayso.protocols.protocol import Ask
from sayso.protocols.self_known.claims import topic_of
from sayso.protocols.self_known.settings import SelfKnownDecoding, Settings
from sayso.protocols.settings import tokens_for
from sayso.records import Generation, InputError, Question, Request, Usage, content_id
from sayso.scores.claim import span_nll
from sayso.storage.run_folder import Manifest

METHOD = "cautious"
#: the most tokens of one candidate; what follows its first sentence is dropped
SENTENCE_TOKENS = 64
#: the draw that the first sampled candidate is: none of the texts' own draws
FIRST_DRAW = 4000


def check_continues(
    settings: Settings, model: Engine, manifest: Manifest, questions: Sequence[Question]
) -> tuple[str, ...]:
    """Refuse a model whose text cannot be continued with its probabilities. Raises InputError."""
    can = model.capabilities
    if settings.answer.decoding == "cautious" and not (can.force and can.logprobs):
        raise InputError(
            f"answer.decoding cautious continues a text and reads token probabilities, which "
            f"{model.name} does not offer: use a model in this process (builtin, smollm2 or "
            "hf:NAME), or --set answer.decoding=plain"
        )
    return ()


@dataclass
class Draft:
    """A text on its way: its request, what is kept so far, and what was computed for it.

    ``end`` is why it is complete: "stop", "length" or "unsure"; "" while it is not.
    """

    ask: Ask
    text: str = ""
    ids: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    end: str = ""
    problem: str | None = None

    def requests(self, decoding: SelfKnownDecoding) -> list[Request]:
        """Return the requests for the next sentence: the greedy one, then the draws."""
        left = tokens_for(decoding, "long") - len(self.ids)
        greedy = msgspec.structs.replace(
            self.ask.request,
            temperature=0.0,
            sample=0,
            prefill=self.text or None,
            max_tokens=min(SENTENCE_TOKENS, left),
        )
        draws = [
            msgspec.structs.replace(greedy, temperature=1.0, sample=FIRST_DRAW + n)
            for n in range(decoding.candidates - 1)
        ]
        return [greedy, *draws]

    def go_on(self, replies: Sequence[Generation], decoding: SelfKnownDecoding) -> None:
        """Keep the surest candidate, or end the text; the first reply is the greedy one."""
        for reply in replies:
            self.usage = Usage(
                self.usage.prompt_tokens + reply.usage.prompt_tokens,
                self.usage.completion_tokens + reply.usage.completion_tokens,
            )
        if replies[0].problem is not None:
            self.end = "length" if self.text else "stop"
            self.problem = None if self.text else replies[0].problem
            return
        sentences = [first_sentence(reply) for reply in replies if reply.problem is None]
        if not sentences[0].text.strip():
            self.end = "stop"
            return
        new = [s for s in sentences if s.text.strip() and _words(s.text) not in self.said]
        topic = topic_of(self.ask.question)
        # a repeated sentence is the most probable of all; of equals the greedy one stays
        best = max(new, key=lambda s: sureness(topic, s), default=None)
        if best is None or sureness(topic, best) < decoding.sure:
            self.end = "unsure"
            return
        self.offsets += [len(self.text) + start for start in best.offsets or ()]
        self.ids += best.token_ids or ()
        self.logprobs += best.logprobs or ()
        self.text += best.text
        self.said.add(_words(best.text))
        if len(self.ids) >= tokens_for(decoding, "long"):
            self.end = "length"

    def generation(self, identity: str, decoding: SelfKnownDecoding) -> Generation:
        """Return the finished text as an answer; its usage is that of all candidates."""
        question, request, stage, form, method, _ = self.ask
        how = [decoding.candidates, decoding.sure]
        return Generation(
            request,
            id=content_id([question.id, stage, method, request, identity, *how]),
            question=question.id,
            stage=stage,
            form=form,
            method=method,
            text=self.text,
            logprob_kind="model",
            token_ids=tuple(self.ids),
            offsets=tuple(self.offsets),
            logprobs=tuple(self.logprobs),
            finish="length" if self.end == "length" else "stop",
            usage=self.usage,
            problem=self.problem,
        )


def cautious_texts(
    asks: Sequence[Ask], engine: Engine, decoding: SelfKnownDecoding
) -> tuple[list[Generation], list[str]]:
    """Write a cautious text for each ask; return the texts, and notices about how they ended."""
    drafts = [Draft(one._replace(method=METHOD)) for one in asks]
    while going := [draft for draft in drafts if not draft.end]:
        requests = [one for draft in going for one in draft.requests(decoding)]
        replies = dict(engine.complete(requests))
        for place, draft in enumerate(going):
            first = place * decoding.candidates
            own = [replies[n] for n in range(first, first + decoding.candidates)]
            draft.go_on(own, decoding)
    unsure = [draft for draft in drafts if draft.end == "unsure"]
    silent = sum(not draft.text for draft in unsure)
    written = sum(draft.usage.completion_tokens for draft in drafts)
    kept = sum(len(draft.ids) for draft in drafts)
    notices = [
        f"cautious: {len(unsure):,} of {len(drafts):,} texts end where no candidate for the next "
        f"sentence was sure enough, {silent:,} of them before the first sentence; {written:,} "
        f"tokens were written to keep {kept:,}"
    ]
    return [draft.generation(engine.identity, decoding) for draft in drafts], notices


def first_sentence(reply: Generation) -> Generation:
    """Return a reply cut behind the last token of its first sentence.

    A space that belongs to that token stays: without it many models end the text, or go on oddly.
    """
    spans, offsets = split_sentences(reply.text), reply.offsets or ()
    end = spans[0].end if len(spans) > 1 else len(reply.text)
    kept = sum(start < end for start in offsets)
    return msgspec.structs.replace(
        reply,
        text=reply.text[: offsets[kept] if kept < len(offsets) else len(reply.text)],
        token_ids=(reply.token_ids or ())[:kept],
        offsets=offsets[:kept],
        logprobs=(reply.logprobs or ())[:kept],
    )


def sureness(topic: str, sentence: Generation) -> float:
    """Return the probability of a sentence's least probable value; 0..1, higher = surer.

    min over values v of exp(mean of log p over the tokens of v). Values are dates, numbers and
    names that are not the topic's; a sentence without any counts as one value.
    """
    spans = named_values(topic, sentence.text) or [Span(0, len(sentence.text))]
    worst = max(span_nll(sentence.logprobs, sentence.offsets, s.start, s.end) for s in spans)
    return math.exp(-worst)


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
