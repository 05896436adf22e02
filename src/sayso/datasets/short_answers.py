"""Published sets of questions with short answers: where the hub has each, and how it is read.

The docstring of each reader names the paper, the license and where that could not be verified, and
shows the rows that are read.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets.dataset import (
    Dataset,
    SourceQuestion,
    field_text,
    hub_rows,
    listed_texts,
    questions_hash,
    short_dataset,
    truth_of,
)
from sayso.datasets.tables import list_in, read_document, read_rows_under, read_table
from sayso.records import Aspect, Gold, InputError, Question, content_id

Rows = Iterable[tuple[int, Any]]


class Published(NamedTuple):
    """A set: its id on the hub, the hub's split for each of ours (``None`` = all), its reader.

    ``config`` is the hub's configuration, ``rows`` reads a file of the set, ``advice`` is what to
    do where the hub cannot be had.
    """

    hub_id: str
    splits: Mapping[str, str | None]
    read: Callable[[str, Rows, str], Dataset]
    config: str | None = None
    rows: Callable[[Path], Rows] = read_table
    advice: str = ""


def load_short_answers(name: str, split: str = "test") -> Dataset:
    """Load a set from the hub. Raises InputError."""
    known = SETS[name]
    rows = hub_rows(name, known.hub_id, known.config, split, known.splits, known.advice)
    return known.read(name, rows, known.hub_id)


def load_file(name: str, path: Path) -> Dataset:
    """Load a set from a file: as published, or rows as the hub has them. Raises InputError."""
    known = SETS[name]
    return known.read(name, known.rows(path), str(path))


def _each(items: Callable[[Rows, str], Iterator[SourceQuestion | str]]) -> Callable[..., Dataset]:
    """Return a reader of sets from a reader of (rows, source)."""

    def read(name: str, rows: Rows, source: str) -> Dataset:
        return short_dataset(items(rows, source), name=name, source=source)

    return read


def triviaqa_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """TriviaQA: trivia questions with one answer each and many ways to write it.

    Joshi et al. 2017, "TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for Reading
    Comprehension", arXiv 1705.03551. License Apache-2.0 as its authors' repository has it; the
    card on the hub says "unknown", and the questions are their writers'. Hub: ``rc.nocontext``,
    splits train and validation (test has no answers and is not read). ``aliases`` are ways to write
    one answer, not several true values. A row of the hub, of the published JSON (under ``Data``),
    or of a file of one's own::

        {"question": "…", "question_id": "tc_1", "answer": {"value": "…", "aliases": ["…"]}}
        {"Question": "…", "QuestionId": "tc_1", "Answer": {"Value": "…", "Aliases": ["…"]}}
        {"question": "…", "answer": "…"}
    """
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = field_text(row, ("question", "Question"), source, line)
        answer = row.get("answer", row.get("Answer"))
        if isinstance(answer, Mapping):
            value = answer.get("value", answer.get("Value"))
            aliases = answer.get("aliases", answer.get("Aliases")) or []
            names = [*listed_texts(value, source, line), *listed_texts(aliases, source, line)]
        else:
            names = listed_texts(answer, source, line)
        given = row.get("question_id") or row.get("QuestionId") or row.get("id") or text
        yield SourceQuestion(line, text, names, str(given))


def nq_open_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """NQ-open: questions that people asked a search engine, with short answers.

    Lee, Chang and Toutanova 2019, arXiv 1906.00300, from Natural Questions (Kwiatkowski et al.
    2019). License CC BY-SA 3.0. The answers of a question are ways to write it that several
    annotators chose: one of them is enough. Questions come without a question mark, which is
    added: as a fragment they ask to be continued. One row::

        {"question": "who …", "answer": ["…", "…"]}
    """
    for line, row in rows:
        text = field_text(row, ("question",), source, line).strip()
        text = text if text.endswith("?") or not text else f"{text}?"
        yield SourceQuestion(line, text, listed_texts(row.get("answer"), source, line), text)


def squad_items(
    rows: Rows, source: str, *, unanswerable: bool = False
) -> Iterator[SourceQuestion | str]:
    """SQuAD v1.1, SQuAD v2 and XQuAD: questions about a passage, which is part of the prompt.

    Rajpurkar et al. 2016, arXiv 1606.05250; Rajpurkar, Jia and Liang 2018, arXiv 1806.03822;
    Artetxe, Ruder and Yogatama 2020, arXiv 1910.11856. License CC BY-SA 4.0. Answers are spans that
    several annotators marked: one is enough. A row of the hub, or the published JSON
    (train-v1.1.json, dev-v2.0.json, xquad.en.json, …)::

        {"context": "…", "question": "…", "title": "…",
         "answers": {"text": ["…"], "answer_start": [9]}}
        {"data": [{"title": "…", "paragraphs": [{"context": "…", "qas": [{"question": "…",
            "answers": [{"text": "…", "answer_start": 9}], "is_impossible": false}]}]}]}

    Questions about one passage are one cluster: they depend on each other. ``squad_v2`` keeps what
    the passage does not answer as questions without an answer, domain "unanswerable"; the rest has
    the domain "answerable". Their ``plausible_answers`` are wrong and not read. ``squad`` and
    ``xquad`` leave such questions out and count them, so ``squad:dev-v2.0.json`` are v2's
    answerable ones, as Santilli et al. used them (arXiv 2504.13677).
    """
    for line, row in rows:
        names = _squad_answers(row, source, line)
        if not names and not unanswerable:
            yield "no answer in the passage (squad_v2 keeps them)"
            continue
        context = field_text(row, ("context",), source, line)
        yield SourceQuestion(
            line,
            field_text(row, ("question",), source, line),
            names,
            f"passage {content_id(context)[:8]}",
            context,
            domain=_answerable(bool(names)) if unanswerable else "",
            answerable=bool(names),
        )


def _answerable(answerable: bool) -> str:
    return "answerable" if answerable else "unanswerable"


def _squad_answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
    """Return the spans of a row; none means that the passage does not answer it.

    A row that merely lacks its answers raises InputError.
    """
    if row.get("is_impossible") is True:
        return []
    value = row.get("answers")
    if isinstance(value, Mapping):
        value = value.get("text")
    elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        value = [one.get("text") for one in value]
    texts = [text for text in listed_texts(value, source, line) if text.strip()]
    if not texts and row.get("is_impossible") is False:
        raise InputError(f"{source} line {line}: no answer, though is_impossible is false")
    return texts


def _squad_rows(path: Path) -> Rows:
    """Read the published JSON, or rows."""
    if path.suffix.lower() == ".json" and isinstance(document := read_document(path), dict):
        return _squad_questions(document, str(path))
    return read_table(path)


def _squad_questions(
    document: Mapping[str, Any], source: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the questions of the published JSON as rows. Raises InputError."""
    number = 0
    try:
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    number += 1
                    yield number, {**question, "context": paragraph["context"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{source}, after question {number}: expected data[paragraphs[context, qas[question, "
            f"answers[text]]]] as in SQuAD ({type(error).__name__} {error})"
        ) from None


def svamp_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """SVAMP: arithmetic in a short story; the story is the context, the question comes after it.

    Patel, Bhattamishra and Goyal 2021, "Are NLP Models really able to Solve Simple Math Word
    Problems?", arXiv 2103.07191. License MIT. A whole number loses its decimals. One row::

        {"ID": "chal-4", "Body": "43 children …", "Question": "How many …?", "Answer": 22.0}
    """
    for line, row in rows:
        number = row.get("Answer")
        try:
            value = float(number)
        except (TypeError, ValueError):
            raise InputError(
                f"{source} line {line}: expected a number under Answer, got {number!r:.60}"
            ) from None
        text = field_text(row, ("Question",), source, line)
        gold = f"{value:.0f}" if value.is_integer() else f"{value:g}"
        body = field_text(row, ("Body",), source, line)
        yield SourceQuestion(
            line, text, [gold], str(row.get("ID") or f"row {line}"), body, "quantity"
        )


def simpleqa_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """SimpleQA, SimpleQA Verified, AA-Omniscience: short facts that are hard to know.

    Wei et al. 2024, "Measuring short-form factuality in large language models", arXiv 2411.04368;
    Haas et al. 2025, "SimpleQA Verified", arXiv 2509.07968: 1,000 of the 4,326 questions, with
    labels corrected. License MIT, both. Hub: for the first a copy that others keep of the published
    CSV (its authors have none there). Jackson et al. 2025, "AA-Omniscience", arXiv 2511.13029: of
    its 6,000 questions a tenth is public; its columns are those that programs read, its license
    could not be verified. The domain is the topic, or the domain of a row that has one. Rows of the
    hub or of the published CSV, or of one's own (JSONL, JSON, Parquet, CSV)::

        {"problem": "…", "answer": "…", "metadata": "{'topic': 'Art', 'answer_type': 'Person', …}"}
        {"problem": "…", "topic": "…",
         "answer": "120k (acceptable range: anything between 118k and 122k)"}
        {"question": "…", "answer": "…", "aliases": ["…"]}
        {"question_id": 1, "domain": "Law", "topic": "…", "question": "…", "answer": "…"}

    A range that Verified accepts becomes another way to write the number: "118k to 122k". The
    ``rules`` judge also takes what rounds to the number itself (117,000 for 120k). Each question is
    an entity of its own.
    """
    for line, row in rows:
        text = field_text(row, ("problem", "question"), source, line)
        names = listed_texts(row.get("answer"), source, line)
        names = [form for name in names for form in ways(name)]
        if row.get("aliases"):
            names += listed_texts(row["aliases"], source, line)
        yield SourceQuestion(
            line,
            text,
            names,
            f"question {content_id(text)[:8]}",
            domain=" ".join(str(row.get("domain") or "").split()) or topic(row),
        )


_RANGE = re.compile(
    r"\s*\(\s*acceptable range:\s*(?:anything\s+)?between\s+(?P<low>[^()]+?)\s+and\s+"
    r"(?P<high>[^()]+?)\s*\)\s*\.?\s*$",
    re.IGNORECASE,
)


def ways(answer: str) -> list[str]:
    """Return an answer, and the range that is accepted for it if it names one."""
    accepted = _RANGE.search(answer)
    if accepted is None:
        return [answer]
    value = answer[: accepted.start()].strip()
    span = f"{accepted['low']} to {accepted['high']}"
    return [value, span] if value else [span]


def topic(row: Mapping[str, Any]) -> str:
    """Return the topic of a row: a column, or inside ``metadata``, a dictionary written as text."""
    metadata = row.get("metadata")
    if isinstance(metadata, str) and len(metadata) < 100_000:
        try:
            metadata = ast.literal_eval(metadata)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            metadata = None  # a topic is a slice, not a fact: without it the question stands
    inside = metadata.get("topic") if isinstance(metadata, Mapping) else None
    text = row.get("topic") or inside
    return " ".join(text.split()) if isinstance(text, str) else ""


def selfaware_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """SelfAware: questions that nobody can answer beside questions like them that can be answered.

    Yin et al. 2023, "Do Large Language Models Know What They Don't Know?", Findings of ACL 2023,
    arXiv 2305.18153. Data CC BY-SA 4.0 (its README; the code beside it is Apache-2.0). The authors
    publish ``data/SelfAware.json`` on GitHub, yinzhangyue/SelfAware: 2,337 questions with answers
    from SQuAD, HotpotQA and TriviaQA, and 1,032 without. The hub has a copy that others keep,
    without a license of its own; that its columns are those below is what programs that read it
    say. Answers are ways to write one right answer. The domain is "answerable" or "unanswerable". A
    row, or the published JSON::

        {"question_id": 3, "question": "…", "answer": ["…"], "answerable": true, "source": "…"}
        {"question_id": 2667, "question": "…", "answer": null, "answerable": false, "source": "…"}
        {"example": [{…}]}
    """
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = field_text(row, ("question",), source, line)
        answerable = truth_of(row, "answerable", source, line)
        names = listed_texts(row.get("answer"), source, line) if answerable else []
        about = f"question {row.get('question_id') or content_id(text)[:8]}"
        yield SourceQuestion(
            line, text, names, about, domain=_answerable(answerable), answerable=answerable
        )


NO_COMMENT = "i have no comment"


def truthfulqa_items(rows: Rows, source: str) -> Iterator[SourceQuestion]:
    """TruthfulQA: questions that many people answer wrongly, out of a common belief.

    Lin, Hilton and Evans 2022, "TruthfulQA: Measuring How Models Mimic Human Falsehoods", arXiv
    2109.07958. License Apache-2.0. Hub: ``generation``, its one split ``validation`` of 817
    questions; the CSV that its authors publish now has 790. Every correct answer is a statement of
    its own and any one of them is right; the best answer comes first. They are sentences, and so
    are the answers of a model: the ``rules`` judge compares names and numbers, so grade this set
    with a model as judge. The incorrect answers of the set are not read. The domain is the
    category. A row of the hub, or of the published CSV (the older one has no best incorrect
    answer), in which semicolons separate the answers of a cell; columns in any case::

        {"type": "Adversarial", "category": "…", "question": "…", "best_answer": "…",
         "correct_answers": ["…"], "incorrect_answers": ["…"], "source": "…"}
        Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers,…

    Where the set lists "I have no comment" among the correct answers this is no value to compare
    with, and not taken as one: whether an answer abstains is judged apart. A question that has no
    other correct answer is one that cannot be answered.
    """
    for line, written in rows:
        row = {str(name).strip().lower().replace(" ", "_"): v for name, v in written.items()}
        text = field_text(row, ("question",), source, line)
        correct = row.get("correct_answers")
        if isinstance(correct, str):
            correct = correct.split(";")
        others = listed_texts(correct or [], source, line)
        best = row.get("best_answer")
        given = [*([best] if isinstance(best, str) else []), *others]
        named = [answer for answer in given if answer.strip()]
        stated = [answer for answer in named if answer.strip(" .").casefold() != NO_COMMENT]
        category = row.get("category")
        domain = " ".join(category.split()) if isinstance(category, str) else ""
        about = f"question {content_id(text)[:8]}"
        yield SourceQuestion(
            line,
            text,
            stated[:1],
            about,
            others=stated[1:],
            domain=domain,
            answerable=bool(stated) or not named,
        )


def abstentionbench_items(rows: Rows, source: str) -> Iterator[SourceQuestion | str]:
    """AbstentionBench: questions from twenty sets, and whether one should abstain.

    Kirichenko et al. 2025, "AbstentionBench: Reasoning LLMs Fail on Unanswerable Questions", arXiv
    2506.09038. License CC BY-NC 4.0, beside those of its sources: not for commercial use. The hub
    has a loading script and no data files: ``datasets`` runs such scripts up to 3.6.0 only, with
    leave to execute what they hold, which sayso never gives. So export the rows once, elsewhere,
    and name the file (docs/data.md says how). ``--data abstentionbench`` asks the hub all the same,
    should data files appear there (the names of its splits could not be verified: all are read). A
    row, as the card describes it::

        {"question": "…", "reference_answers": ["…"], "should_abstain": false,
         "metadata_json": "{…}"}

    Questions that one should abstain from have no right answer. A row to be answered that has no
    reference answer is left out and counted. Where a row says which set it comes from (``dataset``,
    ``dataset_name`` or ``source``; the card names no such column) this is its domain, else
    "answerable" or "unanswerable". Reference answers are ways to write one answer.
    """
    for line, row in rows:
        text = field_text(row, ("question",), source, line)
        answerable = not truth_of(row, "should_abstain", source, line)
        names = listed_texts(row.get("reference_answers") or [], source, line) if answerable else []
        if answerable and not any(name.strip() for name in names):
            yield "to be answered, but no reference answer"
            continue
        given = (row.get(name) for name in ("dataset", "dataset_name", "source"))
        domain = next((v for v in given if isinstance(v, str) and v.strip()), "")
        about = f"question {content_id(text)[:8]}"
        domain = domain or _answerable(answerable)
        yield SourceQuestion(line, text, names, about, domain=domain, answerable=answerable)


# ---- PopQA

#: monthly views of the subject's page from which a stratum begins (the decades of the paper)
STRATA = ((10_000, "popular"), (1_000, "known"), (100, "rare"), (0, "obscure"))
#: the domain of a row that does not say how often its subject is read
NO_VIEWS = "popularity unknown"
LEAST_OBJECT = 3
#: the relations that are kept, and how the set words a question of each
WORDINGS = {
    "director": re.compile(r"Who was the director of (.+)\?"),
    "screenwriter": re.compile(r"Who was the screenwriter for (.+)\?"),
    "producer": re.compile(r"Who was the producer of (.+)\?"),
    "author": re.compile(r"Who is the author of (.+)\?"),
    "place of birth": re.compile(r"In what city was (.+) born\?"),
    "occupation": re.compile(r"What is (.+)'s occupation\?"),
}


def popqa_dataset(name: str, rows: Rows, source: str) -> Dataset:
    """PopQA: questions on facts of Wikidata, with how often the subject's article is read.

    Mallen et al. 2023, "When Not to Trust Language Models", arXiv 2212.10511. License MIT, that of
    its authors' repository (AlexTMallen/adaptive-retrieval); the hub's card names none. Hub: one
    file, ``test.tsv``, its test split. ``possible_answers`` are ways to write every right object:
    those that are neither ``obj`` nor among its ``o_aliases`` write another one, and so does a row
    that asks the same words about another subject of that name. Each right object is a gold of its
    own, and an answer is right that names one; ``ambiguous=drop`` of ``sayso run faithfulness``
    leaves such questions out. Kept as in MetaFaith's protocol: relations director,
    screenwriter, producer, author, place of birth, occupation, and objects of more than two
    characters. The domain of a question is its stratum of popularity::

        {"subj": "…", "prop": "director", "obj": "…", "o_aliases": "["…"]", "s_pop": 1200,
         "question": "…", "possible_answers": "["…"]"}
        {"question": "Who was the director of …?", "possible_answers": ["…"], "s_pop": 1200}
        {"question": "Who was the director of …?", "answer": "…", "aliases": ["…"]}

    Rows without ``prop`` are read by the wording of their question, one for each relation.
    """
    subjects: dict[str, tuple[str, str]] = {}
    relations: dict[str, str] = {}
    right: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    left = Counter[str]()

    def items() -> Iterator[SourceQuestion]:
        for line, row in rows:
            if not isinstance(row, Mapping):
                raise InputError(f"{source} line {line}: expected an object, see the docs of popqa")
            if "prop" not in row and isinstance(row.get("question"), str):
                row = _worded(row)
            relation = field_text(row, ("prop",), source, line)
            if relation not in WORDINGS:
                left["relation"] += 1
                continue
            names = _popqa_answers(row, source, line)
            if names and len(names[0]) < LEAST_OBJECT:
                left["object"] += 1
                continue
            text = " ".join(field_text(row, ("question",), source, line).split())
            subject = field_text(row, ("subj",), source, line)
            subjects[subject] = _views(row, source, line), relation
            relations[text] = relation
            own, others = _objects(row, names, source, line)
            objects = right.setdefault((subject, text), {})
            for gold in (own, *((other,) for other in others)):
                objects.setdefault(gold[0], gold)
            yield SourceQuestion(line, text, names, subject)

    data = short_dataset(items(), name=name, source=source)

    def with_facts(q: Question) -> Question:
        domain, relation = subjects[q.entity]
        golds = _golds(right.get((q.entity, q.text), {}), q.golds)
        aspect = Aspect(relations.get(q.text, relation))
        return msgspec.structs.replace(q, domain=domain, aspect=aspect, golds=golds)

    questions = tuple(map(with_facts, data.questions))
    notes = (*data.notes, _left_out(left))
    return Dataset(data.name, questions, questions_hash(questions), data.rows, notes)


def _views(row: Mapping[str, Any], source: str, line: int) -> str:
    """Return the stratum of popularity of a row; rows of other formats need not have one."""
    if "s_pop" in row or "answer" not in row:
        return stratum(row.get("s_pop"), source, line)
    return NO_VIEWS


def _left_out(left: Counter[str]) -> str:
    return (
        f"{left['relation']:,} questions of other relations and {left['object']:,} with an object "
        f"of fewer than {LEAST_OBJECT} characters left out"
    )


def _worded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the relation and the subject that its wording tells."""
    text = " ".join(row["question"].split())
    matches = ((name, wording.fullmatch(text)) for name, wording in WORDINGS.items())
    relation, subject = next(((n, m[1]) for n, m in matches if m), ("another one", ""))
    known = {**row, "prop": relation, "subj": subject}
    if "answer" in row:
        known |= {"obj": row["answer"], "possible_answers": row.get("aliases") or []}
    return known


def stratum(views: Any, source: str, line: int) -> str:
    """Return the stratum of a number of page views, which may be written as text."""
    try:
        number = int(views)
    except (TypeError, ValueError):
        raise InputError(
            f"{source} line {line}: s_pop is {views!r}; expected the subject's page views"
        ) from None
    return next(name for least, name in STRATA if number >= least)


def _golds(
    objects: Mapping[str, tuple[str, ...]], plain: tuple[Gold, ...] | None
) -> tuple[Gold, ...] | None:
    """Return a gold for each right object; another name of an earlier one adds none."""
    golds: list[Gold] = []
    seen: set[str] = set()
    for names in objects.values():
        if names[0] not in seen:
            golds.append(Gold(names[0], names[1:]))
        seen |= set(names)
    return tuple(golds) or plain


def _objects(
    row: Mapping[str, Any], names: list[str], source: str, line: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ways to write a row's own object, and what else its answers write.

    Without ``o_aliases`` nobody can tell them apart, and all of them write one object.
    """
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    first = row.get("obj")
    if row.get("o_aliases") is None or not isinstance(first, str) or not names:
        return tuple(names) or ("",), ()
    aliases = {a.strip() for a in _listed(row["o_aliases"], "o_aliases", source, line)}
    own = [names[0], *(n for n in names[1:] if n in aliases)]
    return tuple(own), tuple(n for n in names if n not in own)


def _popqa_answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
    """Return the object and all else in ``possible_answers``."""
    value = _listed(row.get("possible_answers", []), "possible_answers", source, line)
    first = row.get("obj")
    return [*([first] if isinstance(first, str) else []), *value]


def _listed(value: Any, field: str, source: str, line: int) -> list[str]:
    """Return texts given as a list, or as one in JSON, as the hub keeps them."""
    value = list_in(value) if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{source} line {line}: {field}: expected a list of texts")
    return value


# ---- all sets

VALIDATION: Mapping[str, str | None] = {"test": "validation", "dev": "validation"}
#: the hub's splits where ours have the usual names
USUAL: Mapping[str, str | None] = {
    "test": "validation", "dev": "validation", "train": "train", "validation": "validation",
}  # fmt: skip
HELD_OUT: Mapping[str, str | None] = {**VALIDATION, "train": "train"}
#: name on the command line -> set
SETS: dict[str, Published] = {
    "triviaqa": Published(
        "mandarjoshi/trivia_qa", USUAL, _each(triviaqa_items), "rc.nocontext",
        partial(read_rows_under, key="Data"),
    ),
    "nq_open": Published("google-research-datasets/nq_open", USUAL, _each(nq_open_items)),
    "popqa": Published("akariasai/PopQA", {"test": "test", "dev": "test"}, popqa_dataset),
    "squad": Published("rajpurkar/squad", HELD_OUT, _each(squad_items), rows=_squad_rows),
    "squad_v2": Published(
        "rajpurkar/squad_v2", HELD_OUT, _each(partial(squad_items, unanswerable=True)),
        rows=_squad_rows,
    ),
    "xquad": Published("google/xquad", VALIDATION, _each(squad_items), "xquad.en", _squad_rows),
    "svamp": Published(
        "ChilleD/SVAMP", {"test": "test", "dev": "train", "train": "train"}, _each(svamp_items)
    ),
    "simpleqa": Published(
        "basicv8vc/SimpleQA", {"test": "test", "dev": "test"}, _each(simpleqa_items)
    ),
    "simpleqa_verified": Published(
        "google/simpleqa-verified", {"test": "eval", "dev": "eval"}, _each(simpleqa_items)
    ),
    "aa_omniscience": Published(
        "ArtificialAnalysis/AA-Omniscience-Public", {"test": "train", "dev": "train"},
        _each(simpleqa_items),
    ),
    "selfaware": Published(
        "JesusCrist/selfAware", {"test": "train", "dev": "train", "train": "train"},
        _each(selfaware_items), rows=partial(read_rows_under, key="example"),
        advice="download SelfAware.json from its authors and name it: "
        "--data selfaware:SelfAware.json",
    ),
    "truthfulqa": Published(
        "truthfulqa/truthful_qa", VALIDATION, _each(truthfulqa_items), "generation",
        advice="download TruthfulQA.csv and name it: --data truthfulqa:TruthfulQA.csv",
    ),
    "abstentionbench": Published(
        "facebook/AbstentionBench", {"test": None, "dev": None}, _each(abstentionbench_items),
        advice="it has a loading script, which datasets runs up to 3.6.0 only: export its rows "
        "there to JSONL and name the file, --data abstentionbench:FILE (sayso data list; "
        "docs/data.md)",
    ),
}  # fmt: skip
