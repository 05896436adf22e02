"""What of a run can be labeled, by kind, and what a person is shown of it.

People are blind: what is shown has neither the judge's verdict nor the name of the model, and the
passages beside a claim are as many whatever the judge made of them. Beside an answer stands the
passage that the model was shown with the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.harmless import block, line
from sayso.people.labels import KINDS, Kind, LabeledItem, PersonLabel, pair_of
from sayso.protocols import protocol_of
from sayso.protocols.answer_table import StoredDraw
from sayso.protocols.labeled import pair_target
from sayso.protocols.passages import shown_passages
from sayso.protocols.probes import HEDGED_PROBE, KNOWN, UNREADABLE, probe_state
from sayso.protocols.settings import Probing
from sayso.records import Claim, InputError, Passage, Question, Verdict, content_id
from sayso.report.answers import gold_text
from sayso.runs.measure import whole_run
from sayso.storage.run_folder import RunFolder

#: what each kind is called in messages
KIND_NAMES: dict[Kind, str] = {
    "answer": "short answers",
    "aspect": "aspects of paragraphs",
    "claim": "claims",
    "pair": "pairs of answers",
    "sureness": "sentences",
}
#: the end of the name of the judge's table, of kinds that have a table of their own
ENDS: dict[Kind, str] = {"claim": "-support", "pair": "-contradict", "sureness": "-decisive"}
#: the stage of the samples that an assertion is compared with
DRAWS = "draws"
#: what the letters of a comparison mean (``sayso.protocols.faithfulness.verdicts``)
LETTERS = {"c": "contradicts", "n": "does not", "e": "does not", "p": "no answer", "?": "unread"}
#: up to which decisiveness a sentence sounds unsure, and from which it sounds sure
UNSURE, SURE = 1 / 3, 2 / 3
#: characters of a text that are shown, texts of a gold, and passages beside a claim
LONGEST, MOST_GOLDS, MOST_PASSAGES = 20_000, 200, 5
ALL = "all"


class RunItem(NamedTuple):
    """An item of a run: what the judge read, how certain it was, and whose answer it is of.

    ``known`` is "known", "unknown", "undetermined", or "" where nothing says; ``method`` is the
    prompting method, "" where the items are of one.
    """

    item: LabeledItem
    read: str
    certainty: float | None = None
    known: str = ""
    method: str = ""

    @property
    def reading(self) -> str:
        """What the judge read and what was known: the stratum of the item."""
        return ", ".join(filter(None, (self.method, self.known, self.read)))


class ShownItem(msgspec.Struct, frozen=True):
    """What a person sees of an item; texts are harmless and cut.

    ``text`` has what stands before, in and after the marked part, which is what the label is of;
    the part is empty where the whole text is meant. ``other`` is the answer that it may contradict.
    ``passages`` (title, text) are those beside a claim, or the one that stood with the question.
    ``of`` is a hash of what the label is of: the texts as they are stored; behind it one of the
    golds, beside which right and wrong is said, which labels of earlier versions do not have.
    """

    question: str
    golds: tuple[str, ...]
    text: tuple[str, str, str]
    other: str = ""
    claim: str = ""
    passages: tuple[tuple[str, str], ...] = ()
    of: str = ""


class LabelSource(NamedTuple):
    """The run whose items are labeled, and by which samples a question counts as known."""

    folder: RunFolder
    method: str
    probing: Probing


def label_source(run: Path, method: str = "") -> LabelSource:
    """Open a finished run for people. Raises InputError.

    ``method`` names the method whose answers are labeled, "all" for every one; by default the one
    that the main numbers are of.
    """
    job, manifest, settings = whole_run(run)
    if not job.folder.tables("verdicts"):
        raise InputError(
            f"{run} has no answers that a judge read: the run is not finished; repeat its command: "
            f"{manifest.command}"
        )
    return LabelSource(job.folder, method or protocol_of(manifest).main_method, settings.probing())


def kind_stages(folder: RunFolder, kind: Kind) -> list[str]:
    """Return the names of the judge's tables with items of a kind, the main ones first."""
    tables = [table.partition("/")[2] for table in folder.tables("verdicts")]
    if kind in ENDS:
        found = [name for name in tables if name.endswith(ENDS[kind])]
    else:
        judged = [name for name in tables if folder.has(f"generations/{name}")]
        found = [name for name in judged if ("long" in name) == (kind == "aspect")]
        aspects = [f"{name}-aspects" for name in judged]
        found = [name for name in aspects if kind == "aspect" and name in tables] or found
    forms = ("short", "long")

    def place(name: str) -> tuple[int, str]:
        form = name.partition("-")[0]
        return (forms.index(form) if form in forms else len(forms), name)

    return sorted(found, key=place)


def counts_of(source: LabelSource) -> dict[Kind, int]:
    """Return how many items of each kind a run has, in the table that is labeled by default."""
    unprobed = source._replace(probing=Probing())  # what was known decides nothing here
    counts: dict[Kind, int] = {}
    for kind in KINDS:
        for stage in kind_stages(source.folder, kind):
            count = len({one.item for one in _items(unprobed, kind, stage)})
            if count:
                counts[kind] = count
                break
    return counts


def items_of(source: LabelSource, kind: Kind, stage: str = "") -> tuple[str, list[RunItem]]:
    """Return the judge's table and all items of a kind in it, in its order. Raises InputError."""
    stages = kind_stages(source.folder, kind)
    if stage and stage not in stages:
        raise InputError(
            f"--stage {line(stage, 60)}: {source.folder.path} has {KIND_NAMES[kind]} in "
            f"{', '.join(stages) or 'no table'}"
        )
    for name in [stage] if stage else stages:
        found = list(_items(source, kind, name))
        if found:
            return name, list({one.item: one for one in found}.values())
    has = ", ".join(counts_of(source))
    where = f" by method {line(source.method, 40)}" if stages else ""
    raise InputError(
        f"{source.folder.path} has no {KIND_NAMES[kind]}{where} that its judge read"
        + (f"; it has items of kind {has}" if has else "")
    )


def check_method(source: LabelSource, kind: Kind, stage: str) -> None:
    """Refuse a method of which a table has no items. Raises InputError with those that it has."""
    has = {
        name: sorted({head.method for head in _heads(source, name)})
        for name in kind_stages(source.folder, kind)
    }
    if source.method == ALL or source.method in has[stage]:
        return
    told = "; ".join(f"{name}: {', '.join(has[name])}" for name in has if any(has[name]))
    raise InputError(
        f"--method {line(source.method, 40)!r}: expected all, or a method of "
        f"{KIND_NAMES[kind]} by --stage ({told or 'this run names none'})"
    )


# ---- the population, with what the judge read


class _AnswerHead(msgspec.Struct, frozen=True):
    """What is read of a stored answer to find items: its arrays are most of the table."""

    id: str
    question: str
    method: str = ""
    problem: str | None = None


class _Words(msgspec.Struct, frozen=True):
    """What is shown of a stored answer."""

    id: str
    question: str
    text: str
    method: str = ""
    problem: str | None = None


def _items(source: LabelSource, kind: Kind, stage: str) -> Iterator[RunItem]:
    read: dict[Kind, Callable[[LabelSource, Kind, str], Iterator[RunItem]]] = {
        "answer": _read_answers,
        "aspect": _read_answers,
        "claim": _claims,
        "pair": _pairs,
        "sureness": _sureness,
    }
    return read[kind](source, kind, stage)


def _stage_of_answers(stage: str) -> str:
    for end in (*ENDS.values(), "-aspects"):
        stage = stage.removesuffix(end)
    return stage


def _heads(source: LabelSource, stage: str) -> list[_AnswerHead]:
    table = f"generations/{_stage_of_answers(stage)}"
    if not source.folder.has(table):
        return []
    return [g for g in source.folder.iter(table, _AnswerHead) if g.problem is None]


def _methods(source: LabelSource, stage: str) -> dict[str, str]:
    """Return the method of every answer that may be labeled: of the method asked for, if any."""
    heads = _heads(source, stage)
    chosen = [g for g in heads if g.method == source.method or source.method == ALL]
    return {g.id: g.method for g in chosen or heads}


def _known(source: LabelSource) -> dict[str, str]:
    """Return whether each question that was probed is known, unknown or undetermined."""
    stage, k, hedged_is, at_least = source.probing
    tables = f"generations/{stage}", f"verdicts/{stage}"
    if not stage or not all(map(source.folder.has, tables)):
        return {}
    read = {v.target: v.value for v in source.folder.iter(tables[1], Verdict)}
    draws: dict[str, list[str]] = {}
    for g in source.folder.iter(tables[0], StoredDraw):
        if g.request.sample < k:
            draws.setdefault(g.question, []).append(g.id)
    hedged = {True: "known", False: "unknown", None: "undetermined"}[hedged_is]
    names = {KNOWN: "known", UNREADABLE: "undetermined", HEDGED_PROBE: hedged}
    return {
        question: names.get(probe_state([read.get(id) for id in ids], k, at_least), "unknown")
        for question, ids in draws.items()
    }


def _several(methods: Mapping[str, str]) -> Callable[[str], str]:
    """Return what gives the method of an answer where there are several methods, else ""."""
    several = len(set(methods.values())) > 1
    return lambda target: methods[target] if several else ""


def _read_answers(source: LabelSource, kind: Kind, stage: str) -> Iterator[RunItem]:
    methods, known = _methods(source, stage), _known(source)
    method = _several(methods)
    for v in source.folder.iter(f"verdicts/{stage}", Verdict):
        if v.target in methods and (v.stance is not None or v.label is None):
            item = LabeledItem(kind, stage, v.target, v.asked)
            read = v.value or v.stance or "unread"
            yield RunItem(item, read, v.certainty, known.get(v.asked, ""), method(v.target))


def _claims(source: LabelSource, kind: Kind, stage: str) -> Iterator[RunItem]:
    methods, answer = _methods(source, stage), _claim_answers(source, stage)
    method = _several(methods)
    words = {"S": "supported", "NS": "not supported", "IR": "irrelevant"}
    for v in source.folder.iter(f"verdicts/{stage}", Verdict):
        if answer.get(v.target) in methods:
            item = LabeledItem(kind, stage, v.target, v.asked)
            read = words.get(v.label or "", "unread")
            yield RunItem(item, read, v.certainty, method=method(answer[v.target]))


def _pairs(source: LabelSource, kind: Kind, stage: str) -> Iterator[RunItem]:
    methods = _methods(source, stage)
    method = _several(methods)
    for v in source.folder.iter(f"verdicts/{stage}", Verdict):
        answer = v.target.partition("#")[0]
        for sample, letter in enumerate(v.raw or "" if answer in methods else ""):
            if letter in LETTERS:
                item = LabeledItem(kind, stage, pair_target(v.target, sample), v.asked)
                yield RunItem(item, LETTERS[letter], method=method(answer))


def _sureness(source: LabelSource, kind: Kind, stage: str) -> Iterator[RunItem]:
    methods, claims = _methods(source, stage), _claim_answers(source, stage)
    method = _several(methods)
    for v in source.folder.iter(f"verdicts/{stage}", Verdict):
        answer = claims.get(v.target, v.target.partition("#")[0])
        if answer in methods and v.label == "assertion" and v.number is not None:
            sounds = "unsure" if v.number < UNSURE else "sure" if v.number >= SURE else "between"
            item = LabeledItem(kind, stage, v.target, v.asked)
            yield RunItem(item, sounds, method=method(answer))


def _claim_answers(source: LabelSource, stage: str) -> dict[str, str]:
    table = f"claims/{_stage_of_answers(stage)}"
    if not source.folder.has(table):
        return {}
    return {c.id: c.generation for c in source.folder.iter(table, Claim)}


# ---- what is shown


def shown_items(source: LabelSource, items: Sequence[LabeledItem]) -> list[ShownItem]:
    """Return what a person sees of items of one kind and table, in their order.

    Raises InputError for an item that the run does not have.
    """
    there = items_there(source, items)
    if lost := next((one for one in items if one not in there), None):
        raise InputError(
            f"{source.folder.path} no longer has an item that was drawn for labels "
            f"({line(lost.target, 40)}): was the run made again? --seed N --force draws anew"
        )
    return [there[one] for one in items]


def of_other_texts(source: LabelSource, labels: Sequence[PersonLabel]) -> list[PersonLabel]:
    """Return the labels of texts that the run had, and has no more: it was made anew since."""
    items: dict[tuple[Kind, str], dict[LabeledItem, None]] = {}
    stages = {kind: kind_stages(source.folder, kind) for kind in KINDS}
    for one in labels:
        if one.shown and one.stage in stages[one.kind]:
            items.setdefault((one.kind, one.stage), {})[one.item] = None
    now: dict[LabeledItem, ShownItem] = {}
    for some in items.values():
        now |= items_there(source, [*some])
    return [one for one in labels if one.item in now and not now[one.item].of.startswith(one.shown)]


def items_there(source: LabelSource, items: Sequence[LabeledItem]) -> dict[LabeledItem, ShownItem]:
    """Return what a person sees of those items of one kind and table that the run has."""
    if not items:
        return {}
    kind, stage = items[0].kind, items[0].stage
    folder = source.folder
    wanted = {one.asked for one in items}
    questions = {q.id: q for q in folder.iter("questions", Question)}
    claims: dict[str, Claim] = {}
    if folder.has(f"claims/{_stage_of_answers(stage)}"):
        targets = {one.target for one in items}
        every = folder.iter(f"claims/{_stage_of_answers(stage)}", Claim)
        claims = {c.id: c for c in every if c.id in targets}
    answers_of = {one: _answer_of(one, claims) for one in items}
    needed = set(answers_of.values())
    table = f"generations/{_stage_of_answers(stage)}"
    every_answer = folder.iter(table, _Words) if folder.has(table) else ()
    answers = {g.id: g for g in every_answer if g.id in needed}
    there = [one for one in items if answers_of[one] in answers and one.asked in questions]
    passages = _passages(source, stage, claims) if kind == "claim" else {}
    stands: Mapping[str, str] = {}
    if kind in ("answer", "aspect", "pair"):
        stands = shown_passages([*questions.values()], _stage_of_answers(stage))
    assertions = _assertions(source, items) if kind in ("pair", "sureness") else {}
    draws = _draws(source, wanted) if kind == "pair" else {}

    def shown(one: LabeledItem) -> ShownItem:
        question, answer = questions[one.asked], answers[answers_of[one]]
        text, start, end = answer.text, 0, 0
        claim, other = claims.get(one.target), ""
        said = ""
        if claim is not None:
            start, end = claim.start, claim.end
            said = claim.text if kind == "claim" else ""
        elif kind in ("pair", "sureness"):
            target = pair_of(one.target)[0] if kind == "pair" else one.target
            text, start, end = _marked(text, assertions.get((target, one.asked)))
        if kind == "pair":
            own = draws.get((one.asked, answer.method)) or draws.get((one.asked, "plain"), [])
            sample = pair_of(one.target)[1]
            other = own[sample].text if sample < len(own) else ""
        golds = _golds(question) if kind in ("answer", "aspect") else ()
        beside = stands.get(answer.question)
        return ShownItem(
            _cut(question.text),
            golds,
            _split(text, start, end),
            _cut(other),
            _cut(said),
            passages.get(one.target, (("", _cut(beside)),) if beside else ()),
            # with letters, as it must be no number to a spreadsheet
            f"t{content_id([text, start, end, other, said])[:16]}"
            + (f"g{content_id(golds)[:8]}" if golds else ""),
        )

    return {one: shown(one) for one in there}


def _answer_of(item: LabeledItem, claims: Mapping[str, Claim]) -> str:
    if item.target in claims:
        return claims[item.target].generation
    return item.target.partition("#")[0]


def _cut(text: str) -> str:
    plain = block(text[: LONGEST + 1])
    return plain if len(text) <= LONGEST else f"{plain[:LONGEST]} …"


def _split(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Return a text before, in and after its marked part; the part is near if the text is cut."""
    if not 0 <= start < end <= len(text):
        return (_cut(text), "", "")
    first = max(0, start - LONGEST // 2)
    before = ("… " if first else "") + text[first:start]
    return (block(before), _cut(text[start:end]), _cut(text[end : end + LONGEST // 2]))


def _golds(question: Question) -> tuple[str, ...]:
    if question.answerable is False and not question.golds:
        return ("this question cannot be answered",)
    names = [
        line(name, 300)
        for gold in question.golds or ()
        for name in (gold_text(gold), *gold.aliases)
    ]
    more = len(names) - MOST_GOLDS
    return (*names[:MOST_GOLDS], *([f"… and {more} more"] if more > 0 else []))


def _assertions(
    source: LabelSource, items: Sequence[LabeledItem]
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts that hold the text and place of each assertion."""
    table = f"verdicts/{_stage_of_answers(items[0].stage)}{ENDS['sureness']}"
    if not source.folder.has(table):
        return {}
    return {(v.target, v.asked): v for v in source.folder.iter(table, Verdict)}


def _marked(text: str, assertion: Verdict | None) -> tuple[str, int, int]:
    """Return the text in which an assertion is marked, and its place; alone where it has none."""
    said = (assertion.raw or "").strip() if assertion else ""
    if assertion is not None and assertion.start is not None and assertion.end is not None:
        start, end = assertion.start, assertion.end
        if 0 <= start < end <= len(text):
            return text, start, end
    place = text.find(said) if said else -1
    if place >= 0 and said != text.strip():
        return text, place, place + len(said)
    return (text, 0, 0) if place >= 0 or not said else (said, 0, 0)


def _draws(source: LabelSource, wanted: set[str]) -> dict[tuple[str, str], list[StoredDraw]]:
    """Return the samples of some questions by (question, method), in the order of the letters."""
    draws: dict[tuple[str, str], list[StoredDraw]] = {}
    if source.folder.has(f"generations/{DRAWS}"):
        every = source.folder.iter(f"generations/{DRAWS}", StoredDraw)
        some = [g for g in every if g.question in wanted]
        for g in sorted(some, key=lambda g: g.request.sample):
            draws.setdefault((g.question, g.method), []).append(g)
    return draws


def _passages(
    source: LabelSource, stage: str, claims: Mapping[str, Claim]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return passages beside each claim: what the judge saw, filled up by others of its text.

    A judge cites one passage for a claim that it supports, and all for one that it does not: so
    that their number tells nothing, further ones are those of other claims in the same text.
    """
    folder = source.folder
    table = f"passages/{_stage_of_answers(stage)}"
    if not folder.has(table):
        return {}
    answer = _claim_answers(source, stage)
    needed = {claims[target].generation for target in claims}
    cited: dict[str, tuple[str, ...]] = {}
    of_text: dict[str, dict[str, None]] = {}
    for v in folder.iter(f"verdicts/{stage}", Verdict):
        text = answer.get(v.target)
        if text in needed:
            of_text.setdefault(text, {}).update(dict.fromkeys(v.evidence))
            if v.target in claims:
                cited[v.target] = v.evidence
    ids = {id for some in of_text.values() for id in some}
    found = {p.id: p for p in folder.iter(table, Passage) if p.id in ids}

    def of(target: str) -> tuple[tuple[str, str], ...]:
        def by_chance(id: str) -> str:
            return content_id([target, id])

        own = sorted(set(cited.get(target, ())), key=by_chance)[:MOST_PASSAGES]
        others = sorted(set(of_text.get(claims[target].generation, ())) - set(own), key=by_chance)
        chosen = sorted([*own, *others][:MOST_PASSAGES], key=by_chance)
        return tuple(
            (line(found[id].title, 200), _cut(found[id].text)) for id in chosen if id in found
        )

    return {target: of(target) for target in claims}
