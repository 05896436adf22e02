"""Rows of paragraphs made by a model, step by step, with prompts of ours.

    decompose  the paragraph into facts; what it doubts is marked
    check      each fact: by the golds, by passages, or by how many of the model's draws support it
    choose     which facts are doubted in the chosen text, and which in the rejected one
    revise     those facts, into sentences that say they are not known
    merge      facts and sentences into one paragraph

Counts, pairs and kinds are those of the rules (:mod:`sayso.train.recipes.logu`), UNCLE's or LoGU's.
A paragraph of which a reply could not be read makes no row: it is left out, counted, with its
reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from sayso.engines.engine import Engine
from sayso.judges.claims import claim_blocks as sentence_blocks
from sayso.judges.model.numbered import (
    JudgeTask,
    NumberedReader,
    TextBlock,
    TextOutcome,
    numbered_blocks,
)
from sayso.judges.support import LlmSupport
from sayso.prompts import prompt_hash
from sayso.prompts.fence import Field
from sayso.records import InputError, Passage, Question, content_id
from sayso.runs.asking import CachedEngine
from sayso.train.config import RowSettings
from sayso.train.recipes.calibrated import is_plain
from sayso.train.recipes.logu import Cutoffs, capped, swapped_right, wrong_counts
from sayso.train.rows import (
    LEAST,
    Fact,
    TrainingParagraph,
    TrainingRow,
    Want,
    chance,
    in_order,
    lucky,
)

#: right, wrong, doubted by the paragraph itself, or not to be told right from wrong
Label = Literal["S", "NS", "UNC", "IR"]
#: (topic, fact) pairs -> the passages that a source has about each
Search = Callable[[Sequence[tuple[str, str]]], Sequence[tuple[Passage, ...]]]

# ---- who is asked: a task a step; the prompts are ours


def _read_facts(entry: dict[str, Any]) -> list[list[Any]] | None:
    facts = entry.get("facts")
    if not isinstance(facts, list):
        return None
    read = []
    for fact in facts:
        text = fact.get("text") if isinstance(fact, dict) else None
        if not isinstance(text, str) or not _plain(text) or type(fact.get("unsure")) is not bool:
            return None
        read.append([_plain(text), fact["unsure"]])
    return read


def _read_check(entry: dict[str, Any]) -> str | None:
    labels = {"right": "S", "wrong": "NS", "not told": "IR"}
    verdict = entry.get("verdict")
    return labels.get(" ".join(verdict.casefold().split())) if isinstance(verdict, str) else None


def _reads(key: str) -> Callable[[dict[str, Any]], str | None]:
    """Return what reads one text of an entry."""

    def read(entry: dict[str, Any]) -> str | None:
        text = entry.get(key)
        return (_plain(text) or None) if isinstance(text, str) else None

    return read


def _plain(text: str) -> str:
    """Return a text on one line, without characters that cannot be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class _Facts(NumberedReader):
    task = JudgeTask("rows_facts", "rows_facts_reply", "sentence", 240, _read_facts)
    subject = "rows: facts of sentences"


class _Check(NumberedReader):
    task = JudgeTask("rows_check", "rows_check_reply", "fact", 48, _read_check)
    subject = "rows: facts against golds"


class _Unsure(NumberedReader):
    task = JudgeTask("rows_unsure", "rows_unsure_reply", "fact", 96, _reads("sentence"))
    subject = "rows: facts said as unsure"


class _Merge(NumberedReader):
    task = JudgeTask("rows_merge", "rows_merge_reply", "statements", 1200, _reads("paragraph"))
    subject = "rows: merged paragraphs"


class Author:
    """A model that makes rows. ``search`` gives passages, for ``veracity`` "evidence".

    What was asked once is not asked again: rows for SFT and for DPO share most of it.
    """

    def __init__(
        self, engine: Engine, folder: Path | None = None, search: Search | None = None
    ) -> None:
        self.engine, self.search = engine, search
        self.facts, self.check = _Facts(engine, folder), _Check(engine, folder)
        self.unsure, self.merge = _Unsure(engine, folder), _Merge(engine, folder)
        self.support = LlmSupport(engine, folder)
        texts = "\0".join(reader.prompts.hash for reader in self._readers)
        self.signature = f"{engine.signature}#p{prompt_hash(texts)[:4]}"
        self._held: dict[tuple[str, TextBlock], Mapping[str, TextOutcome]] = {}

    @property
    def _readers(self) -> tuple[NumberedReader, ...]:
        return self.facts, self.check, self.support, self.unsure, self.merge

    @property
    def notices(self) -> list[str]:
        """One sentence for each step and reason why readings are missing."""
        return [notice for reader in self._readers for notice in reader.notices]

    def name_step(self, name: str) -> None:
        """Tell whoever watches what is asked next."""
        if isinstance(self.engine, CachedEngine):
            self.engine.stage = name

    def ask(
        self, reader: NumberedReader, blocks: Iterable[TextBlock]
    ) -> Mapping[TextBlock, Mapping[str, TextOutcome]]:
        """Return what a reader says of each block."""
        wanted = list(dict.fromkeys(blocks))
        step = reader.task.prompt
        new = [block for block in wanted if (step, block) not in self._held]
        self.name_step(reader.subject)
        for block, outcomes in zip(new, reader.ask(new), strict=True):
            self._held[step, block] = outcomes
        return {block: self._held[step, block] for block in wanted}


# ---- decompose and check


class ParagraphFact(NamedTuple):
    """One fact of a paragraph."""

    text: str
    label: Label


class SourceParagraph(NamedTuple):
    """A paragraph that rows are made of, and what it is about."""

    fact: Fact
    paragraph: TrainingParagraph

    @property
    def topic(self) -> str:
        """The entity, or the prompt where there is none."""
        return self.fact.entity


class Lost(Counter[str]):
    """How many paragraphs were left out, by reason."""


def taken_apart(
    author: Author, sources: Sequence[SourceParagraph], lost: Lost
) -> dict[SourceParagraph, list[ParagraphFact]]:
    """Return the facts of every paragraph that could be read; what it doubts is UNC, else IR."""
    blocks = {s: [b for b, _ in sentence_blocks(s.topic, s.paragraph.text)] for s in sources}
    replies = author.ask(author.facts, (b for some in blocks.values() for b in some))
    apart: dict[SourceParagraph, list[ParagraphFact]] = {}
    for source, some in blocks.items():
        outcomes = [replies[block][text] for block in some for text in block.texts]
        problem = next((outcome.problem for outcome in outcomes if outcome.problem), None)
        if problem is not None:
            lost[f"could not be taken apart ({problem})"] += 1
            continue
        told = {text: unsure for outcome in outcomes for text, unsure in outcome.value}
        apart[source] = [
            ParagraphFact(text, "UNC" if unsure else "IR") for text, unsure in told.items()
        ]
    return apart


def checked(
    author: Author,
    apart: Mapping[SourceParagraph, Sequence[ParagraphFact]],
    settings: RowSettings,
    cutoffs: Cutoffs,
    lost: Lost,
) -> dict[SourceParagraph, list[ParagraphFact]]:
    """Return the facts with their labels; paragraphs of which one could not be checked are lost."""
    by_source = {"gold": _by_golds, "evidence": _by_passages}
    if settings.veracity == "consistency":
        labels = _by_draws(author, apart, cutoffs)
    else:
        labels = by_source[settings.veracity](author, apart)
    labeled: dict[SourceParagraph, list[ParagraphFact]] = {}
    for source, stated in apart.items():
        own = [_with(one, labels.get((source, one.text))) for one in stated]
        if any(one is None for one in own):
            lost["contain a fact that could not be checked"] += 1
        else:
            labeled[source] = [one for one in own if one is not None]
    return labeled


def _with(stated: ParagraphFact, label: Label | None) -> ParagraphFact | None:
    if stated.label == "UNC":
        return stated
    return None if label is None else stated._replace(label=label)


Labels = dict[tuple[SourceParagraph, str], Label | None]


def _sure(
    apart: Mapping[SourceParagraph, Sequence[ParagraphFact]],
) -> list[tuple[SourceParagraph, str]]:
    """Return the facts that are checked: those that a paragraph does not doubt."""
    return [(s, one.text) for s, stated in apart.items() for one in stated if one.label != "UNC"]


def _by_golds(author: Author, apart: Mapping[SourceParagraph, Sequence[ParagraphFact]]) -> Labels:
    """Label facts by the golds of the aspects that the paragraph was asked for."""
    blocks: dict[SourceParagraph, list[TextBlock]] = {}
    for source, stated in apart.items():
        head = _gold_fields([mention.question for mention in source.paragraph.mentions])
        texts = [one.text for one in stated if one.label != "UNC"]
        blocks[source] = numbered_blocks(source.topic, head, texts)
    replies = author.ask(author.check, (b for some in blocks.values() for b in some))
    return {
        (source, text): outcome.value
        for source, some in blocks.items()
        for block in some
        for text, outcome in replies[block].items()
    }


def _gold_fields(questions: Sequence[Question]) -> tuple[Field, ...]:
    fields = []
    for number, q in enumerate(questions, 1):
        values = "; ".join(name for gold in q.golds or () for name in gold.names)
        fields.append(Field(f"gold {number}", f"{q.text} {values}"))
    return tuple(fields)


def _by_passages(
    author: Author, apart: Mapping[SourceParagraph, Sequence[ParagraphFact]]
) -> Labels:
    """Label facts by what a knowledge source says; irrelevant ones stay as they are."""
    if author.search is None:
        raise InputError("veracity evidence: no knowledge source is open")
    wanted = _sure(apart)
    pairs = list(dict.fromkeys((source.fact.question.entity, text) for source, text in wanted))
    author.name_step("rows: facts against passages")
    passages = dict(zip(pairs, author.search(pairs), strict=True)) if pairs else {}
    read = author.support.read([(topic, text, passages[topic, text]) for topic, text in pairs])
    labels = dict(zip(pairs, read, strict=True))
    return {(s, text): _label(labels[s.fact.question.entity, text].label) for s, text in wanted}


def _label(label: str | None) -> Label | None:
    return label if label in ("S", "NS", "IR") else None  # type: ignore[return-value]


def _by_draws(
    author: Author, apart: Mapping[SourceParagraph, Sequence[ParagraphFact]], cutoffs: Cutoffs
) -> Labels:
    """Label facts by the share of the prompt's other paragraphs that support them.

    Those strictly below the percentile of all shares are wrong (LUQ's binary reading, as UNCLE's
    code has it). A fact that few draws could be read about has no label.
    """
    wanted = _sure(apart)
    items = {
        (source, text): [
            (source.topic, text, (Passage(content_id(["draw", p.text]), "", p.text),))
            for p in source.fact.paragraphs
            if p is not source.paragraph and p.text.strip()
        ]
        for source, text in wanted
    }
    if any(not some for some in items.values()):
        raise InputError(
            "veracity consistency: rows by a model compare each paragraph with others to the same "
            "prompt, and there are none; set how many with --paragraphs (10 in UNCLE's code)"
        )
    author.name_step("rows: facts against draws")
    every = list(dict.fromkeys(item for some in items.values() for item in some))
    label = dict(zip(every, author.support.read(every, apart=True), strict=True))
    shares: dict[tuple[SourceParagraph, str], float] = {}
    for key, some in items.items():
        read = [label[item].label for item in some if label[item].label is not None]
        if len(read) >= min(LEAST, len(some)):
            shares[key] = read.count("S") / len(read)
    if not shares:
        return {}
    limit = cutoffs.below
    if limit is None:
        limit = float(np.percentile(list(shares.values()), cutoffs.percentile))
    return {key: "NS" if share < limit else "S" for key, share in shares.items()}


def without_luck(
    source: SourceParagraph, stated: Sequence[ParagraphFact], short: Mapping[str, Fact], k: int
) -> list[ParagraphFact] | None:
    """Return the facts, of which those that tell a lucky hit are wrong; None where it is not found.

    Lucky: right, although no draw of its short question is.
    """
    facts = list(stated)
    for mention in source.paragraph.mentions:
        own = short.get(mention.question.id)
        if own is None or not mention.value or not lucky(own, k, mention.right):
            continue
        value = mention.value.casefold()
        held = [n for n, one in enumerate(facts) if value in one.text.casefold()]
        if not held:
            return None
        for n in held:
            if facts[n].label in ("S", "IR"):
                facts[n] = facts[n]._replace(label="NS")
    return facts


# ---- choose, revise, merge

#: a sentence of a draft: its fact, and whether it is said as unsure
Said = tuple[str, bool]


class ParagraphDraft(NamedTuple):
    """What one variant of a paragraph says; ``refined`` None: the cutoffs leave nothing.

    ``kept``: there is nothing to refine, and the paragraph stands as it is.
    """

    source: SourceParagraph
    refined: tuple[Said, ...] | None
    amateur: tuple[Said, ...]
    kept: bool = False


def drafts(
    source: SourceParagraph, stated: Sequence[ParagraphFact], settings: RowSettings, seed: int
) -> list[ParagraphDraft]:
    """Return the variants of a paragraph by LoGU's counts, each with its own draw of facts."""
    right, wrong = ([n for n, s in enumerate(stated) if s.label == x] for x in ("S", "NS"))
    count, some = wrong_counts(len(right), len(wrong), settings.cut, settings.variants)
    kept = not wrong and not any(s.label == "UNC" for s in stated)
    made = []
    for number in range(max(count, 1)):
        generator = chance(
            "logu-model", seed, source.fact.question.id, source.paragraph.text, number
        )
        chosen = set(generator.sample(wrong, some))
        refined = tuple(
            (s.text, n in chosen or s.label == "UNC")
            for n, s in enumerate(stated)
            if s.label != "NS" or n in chosen
        )
        doubted = set(generator.sample(right, swapped_right(len(right), len(wrong))))
        amateur = tuple((s.text, n in doubted) for n, s in enumerate(stated))
        made.append(ParagraphDraft(source, refined if count and refined else None, amateur, kept))
    return made


def uncle_draft(source: SourceParagraph, stated: Sequence[ParagraphFact]) -> ParagraphDraft:
    """Return what UNCLE's two texts say: every fact, in doubt the wrong ones or the right ones."""
    refined = tuple((s.text, s.label in ("NS", "UNC")) for s in stated)
    rejected = tuple((s.text, s.label in ("S", "UNC")) for s in stated)
    kept = not any(s.label in ("NS", "UNC") for s in stated)
    return ParagraphDraft(source, refined, rejected, kept)


def written_paragraphs(
    author: Author, wanted: Iterable[tuple[str, tuple[Said, ...]]]
) -> dict[tuple[str, tuple[Said, ...]], str | None]:
    """Return the paragraph of each (topic, what it says); None where a reply was of no use.

    A revision that repeats its fact, or voices no doubt, is of no use; nor is a paragraph of fewer
    than half the words that it was to hold.
    """
    texts = list(dict.fromkeys(wanted))
    doubted: dict[str, list[str]] = {}
    for topic, said in texts:
        doubted.setdefault(topic, []).extend(text for text, unsure in said if unsure)
    blocks = [b for topic, facts in doubted.items() for b in numbered_blocks(topic, (), facts)]
    unsure = {
        (block.question, fact): _doubt(fact, outcome)
        for block, outcomes in author.ask(author.unsure, blocks).items()
        for fact, outcome in outcomes.items()
    }
    merges: dict[tuple[str, tuple[Said, ...]], TextBlock] = {}
    for topic, said in texts:
        lines = [unsure[topic, text] if doubt else text for text, doubt in said]
        if all(line is not None for line in lines):
            statements = "\n".join(line for line in lines if line)
            merges[topic, said] = TextBlock(topic, (), (statements,))
    replies = author.ask(author.merge, merges.values())
    paragraphs: dict[tuple[str, tuple[Said, ...]], str | None] = dict.fromkeys(texts)
    for key, block in merges.items():
        (statements,) = block.texts
        text = replies[block][statements].value
        whole = text is not None and 2 * len(text.split()) >= len(statements.split())
        paragraphs[key] = text if whole else None
    return paragraphs


def _doubt(fact: str, outcome: TextOutcome) -> str | None:
    text = outcome.value
    if text is None or fact.casefold().rstrip(".") in text.casefold() or is_plain(text):
        return None
    return str(text)


# ---- rows


def rows_by_model(
    facts: Sequence[Fact],
    settings: RowSettings,
    author: Author,
    *,
    cutoffs: Cutoffs = Cutoffs(),  # noqa: B008 - immutable
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return rows of the long facts by a model, of the kinds that ``settings.pairs`` names.

    They are those of :func:`~sayso.train.recipes.logu.uncle_pairs` and
    :func:`~sayso.train.recipes.logu.logu`. UNCLE's are made of the paragraph at T=0 alone, and so
    are those by "consistency": the other paragraphs vouch for its facts.
    """
    settings.check_thresholds()
    cutoffs.check()
    long = [f for f in facts if f.form == "long"]
    short = {f.question.id: f for f in facts if f.form == "short"}
    of_uncle = settings.pairs == "uncle"
    most = 1 if of_uncle or settings.veracity == "consistency" else None
    sources = [SourceParagraph(f, p) for f in long for p in f.paragraphs[:most] if p.text.strip()]
    lost = Lost()
    made: list[ParagraphDraft] = []
    labeled = checked(author, taken_apart(author, sources, lost), settings, cutoffs, lost)
    for source, every in labeled.items():
        stated = every if of_uncle else without_luck(source, every, short, settings.k)
        pieces = [one for one in stated or () if one.label in ("S", "NS")]
        wrong = sum(one.label == "NS" for one in pieces)
        if stated is None:
            lost["state by luck something that the model does not know"] += 1
        elif not pieces:
            lost["contain no fact that is right or wrong"] += 1
        elif of_uncle:
            made.append(uncle_draft(source, stated))
        elif wrong / len(pieces) >= cutoffs.most_wrong:
            lost[f"are wrong in {cutoffs.most_wrong:.0%} or more"] += 1
        else:
            made += drafts(source, stated, settings, seed)
    rows = _rows(author, made, want, settings, cutoffs, seed, lost)
    if notes is not None:
        left = "; ".join(f"{number} {why}" for why, number in sorted(lost.items())) or "none"
        notes.append(
            f"{settings.pairs} by {author.signature} ({settings.veracity}): {len(rows)} rows of "
            f"{len(sources)} paragraphs; left out: {left}"
        )
    return in_order(rows, seed)


def _rows(
    author: Author,
    made: Sequence[ParagraphDraft],
    want: Want,
    settings: RowSettings,
    cutoffs: Cutoffs,
    seed: int,
    lost: Lost,
) -> list[TrainingRow]:
    """Return the rows of the drafts that could be written, at most so many of a prompt and kind."""
    wanted = [(d.source.topic, d.refined) for d in made if d.refined and not d.kept]
    if want == "dpo":
        wanted += [(d.source.topic, d.amateur) for d in made]
    paragraphs = written_paragraphs(author, wanted)
    kinds: dict[tuple[str, str], list[TrainingRow]] = {}
    for draft in made:
        fact, original = draft.source.fact, draft.source.paragraph.text.strip()
        refined = paragraphs.get((draft.source.topic, draft.refined or ()))
        refined = original if draft.kept else refined
        amateur = paragraphs.get((draft.source.topic, draft.amateur))
        if (draft.refined and refined is None) or (want == "dpo" and amateur is None):
            lost["have a variant that could not be written"] += 1
        pairs: dict[str, tuple[str | None, str | None]] = {
            "logu-refined-original": (refined, original),
            "logu-refined-amateur": (refined, amateur),
            "logu-original-amateur": (original, amateur),
        }
        if settings.pairs == "uncle":
            pairs = {"uncle": (refined, amateur if want == "dpo" else "")}
        elif want == "sft":
            pairs = {"logu-refined": (refined, "")}
        for kind, (chosen, rejected) in pairs.items():
            if chosen is not None and rejected is not None and chosen != rejected:
                ids = (fact.question.id, *fact.question.parts)
                other = rejected if want == "dpo" else None
                row = TrainingRow(fact.prompt, chosen, other, "long", fact.entity, ids, kind)
                kinds.setdefault((fact.question.id, kind), []).append(row)
    cap = cutoffs.cap or settings.variants * (1 + settings.paragraphs)
    rows: list[TrainingRow] = []
    for (question, kind), some in kinds.items():
        rows += capped(some, cap, question, kind, seed)
    return rows
