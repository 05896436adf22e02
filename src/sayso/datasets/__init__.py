"""Question sets: one file each, a function that loads questions.

``load("builtin")``, ``load("triviaqa")`` (a published set, from the hub), ``load("my.jsonl")`` (in
UNCLE's format), ``load("squad:my.json")`` (a file in a published set's format) or
``load("file:my.csv#question=q,gold=answer")`` (a table of one's own) return a :class:`Dataset`.
The dictionaries below are all there is to register; :mod:`sayso.datasets` describes each.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from sayso.datasets import long_texts, own_table, short_answers, uncle
from sayso.datasets.dataset import Dataset
from sayso.records import InputError, Question, content_id

#: name on the command line -> loader(split)
LOADERS: dict[str, Callable[[str], Dataset]] = {
    "builtin": uncle.load_builtin,
    "uncle": uncle.load_uncle,
    "triviaqa": short_answers.load_triviaqa,
    "nq_open": short_answers.load_nq_open,
    "popqa": short_answers.load_popqa,
    "squad": short_answers.load_squad,
    "squad_v2": short_answers.load_squad_v2,
    "xquad": short_answers.load_xquad,
    "svamp": short_answers.load_svamp,
    "simpleqa": short_answers.load_simpleqa,
    "simpleqa_verified": short_answers.load_simpleqa_verified,
    "selfaware": short_answers.load_selfaware,
    "truthfulqa": short_answers.load_truthfulqa,
    "abstentionbench": short_answers.load_abstentionbench,
    "factscore": long_texts.load_factscore,
    "wildhallucinations": long_texts.load_wildhallucinations,
    "longfact": long_texts.load_longfact,
}

#: format before the colon in ``FORMAT:FILE`` -> loader of a local file
FORMATS: dict[str, Callable[[Path], Dataset]] = {
    "uncle": uncle.load_uncle_file,
    "triviaqa": short_answers.load_triviaqa_file,
    "nq_open": short_answers.load_nq_open_file,
    "popqa": short_answers.load_popqa_file,
    "squad": short_answers.load_squad_file,
    "squad_v2": partial(short_answers.load_squad_file, name="squad_v2"),
    "xquad": partial(short_answers.load_squad_file, name="xquad"),
    "svamp": short_answers.load_svamp_file,
    "simpleqa": short_answers.load_simpleqa_file,
    "simpleqa_verified": partial(short_answers.load_simpleqa_file, name="simpleqa_verified"),
    "selfaware": short_answers.load_selfaware_file,
    "truthfulqa": short_answers.load_truthfulqa_file,
    "abstentionbench": short_answers.load_abstentionbench_file,
    "factscore": long_texts.load_factscore_file,
    "wildhallucinations": long_texts.load_wildhallucinations_file,
    "longfact": long_texts.load_longfact_file,
    "file": own_table.load_own_table,
    "topics": long_texts.load_topics_file,
}

#: entities that a run takes when nobody says how many, of a file in a set's format too: enough for
#: a laptop's minute
DEFAULT_LIMIT = {
    "builtin": 200,
    # the paper's number of evaluation questions of each set
    "popqa": 1000,
    **dict.fromkeys(
        (
            "triviaqa", "nq_open", "squad", "squad_v2", "xquad", "svamp", "simpleqa",
            "simpleqa_verified", "selfaware", "truthfulqa", "abstentionbench",
        ),
        400,
    ),
    # long texts cost more than short answers
    **dict.fromkeys(("wildhallucinations", "longfact"), 100),
}  # fmt: skip


def load(
    name: str,
    *,
    split: str = "test",
    domains: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Load a question set by name or file, and choose domains and a seeded part of the entities.

    ``limit`` counts entities, spread over the domains in proportion; 0 takes all, ``None`` the
    set's own default. Raises InputError for anything that cannot be read.
    """
    if name in LOADERS:
        data = LOADERS[name](split)
    elif name.partition(":")[0] in FORMATS and ":" in name:
        kind, _, file = name.partition(":")
        if not file or file.startswith("#"):
            raise InputError(f"data {name!r}: expected the name of a file after {kind}:")
        data = FORMATS[kind](Path(file))
    elif Path(name).suffix.lower() in {".csv", ".tsv"}:
        data = own_table.load_own_table(Path(name))
    elif Path(name).exists() or Path(name).suffix in {".jsonl", ".json", ".parquet"}:
        data = uncle.load_uncle_file(Path(name))
    else:
        raise InputError(
            f"data {name!r}: expected one of {', '.join(LOADERS)}, "
            "or a .jsonl, .json or .parquet file (of a published set's format: squad:FILE; "
            "a table of questions and golds: file:FILE; things to be told about: topics:FILE)"
        )
    if limit is None:
        limit = DEFAULT_LIMIT.get(name.partition(":")[0], 0)
    if limit < 0:
        raise InputError(f"limit {limit}: expected a number of entities, or 0 for all")
    return subset(data, domains=domains, limit=limit, seed=seed)


def subset(data: Dataset, *, domains: Sequence[str], limit: int, seed: int) -> Dataset:
    """Return the questions of some domains and of ``limit`` entities (0: all), whole entities only.

    Entities are drawn per domain with a seeded generator, as evenly in proportion as whole numbers
    allow; order follows the file.
    """
    present = sorted({q.domain for q in data.questions})
    for domain in domains:
        if domain not in present:
            raise InputError(
                f"domain {domain!r} is not in {data.name}; it has {', '.join(present)}"
            )
    kept = [q for q in data.questions if not domains or q.domain in domains]
    by_domain: dict[str, list[str]] = defaultdict(list)
    for domain, entity in dict.fromkeys((q.domain, q.entity) for q in kept):
        by_domain[domain].append(entity)
    total = sum(len(entities) for entities in by_domain.values())
    if 0 < limit < total:
        chosen = _choose(by_domain, limit, seed)
        kept = [q for q in kept if (q.domain, q.entity) in chosen]
    if not kept:
        raise InputError(f"{data.name}: no question is left to ask")
    return data.replaced(tuple(kept))


def _choose(by_domain: dict[str, list[str]], limit: int, seed: int) -> set[tuple[str, str]]:
    """Draw entities so that every prefix of the draw is spread over the domains."""
    ranked: list[tuple[float, str, str]] = []
    for domain, entities in sorted(by_domain.items()):
        generator = random.Random(content_id([seed, domain]))
        shuffled = generator.sample(entities, len(entities))
        ranked += [((i + 0.5) / len(shuffled), domain, e) for i, e in enumerate(shuffled)]
    return {(domain, entity) for _, domain, entity in sorted(ranked)[:limit]}


def entities_of(questions: Sequence[Question]) -> list[str]:
    """Return the distinct entities in order of appearance."""
    return list(dict.fromkeys(q.entity for q in questions))


# What each set is: the table of ``sayso data list`` and of docs/data.md.
#
# Numbers are those that a set's authors publish; licenses are those of the data, from the place
# that
# each loader's docstring names, which says what could not be verified.

#: what a set's questions allow
SHORT = ("selective", "faithfulness")
TOLD = ("self_known",)
#: the order and the columns of the table in the documents
HEADER = ("name", "what", "size", "license", "for", "hub", "file")


class Entry(msgspec.Struct, frozen=True):
    """One set. ``suits`` are protocols that its questions fit; ``hub`` "" is on no hub.

    ``file`` is what can be read from disk under this name, ``source`` the paper.
    """

    what: str
    size: str
    license: str
    suits: tuple[str, ...]
    hub: str
    file: str
    source: str
    notes: str = ""


#: name on the command line -> what it is
CATALOGUE: dict[str, Entry] = {
    "builtin": Entry(
        "the invented world that ships with sayso; facts in paragraphs and alone",
        "200 entities asked by default", "MIT", ("uncle", *SHORT, *TOLD), "", "",
        "src/sayso/builtin/model/MODEL_CARD.md",
    ),
    "uncle": Entry(
        "people, companies, films, planets, diseases: facts in paragraphs and alone",
        "1,066 entities", "no license file", ("uncle", *SHORT, *TOLD), "rhyang2021/UNCLE",
        "FILE.jsonl (UNCLE's records, yours too)", "arXiv 2505.16922",
    ),
    "popqa": Entry(
        "facts of Wikidata, by how often the subject's page is read",
        "14,267 questions, six relations kept", "MIT", SHORT, "akariasai/PopQA",
        "test.tsv, or rows", "arXiv 2212.10511",
    ),
    "triviaqa": Entry(
        "trivia with many ways to write each answer", "17,944 (train: 138,384)", "Apache-2.0",
        SHORT, "mandarjoshi/trivia_qa", "rows, or the published JSON", "arXiv 1705.03551",
    ),
    "nq_open": Entry(
        "questions that people asked a search engine", "3,610 (train: 87,925)", "CC BY-SA 3.0",
        SHORT, "google-research-datasets/nq_open", "rows as published", "arXiv 1906.00300",
    ),
    "squad": Entry(
        "questions about a passage, which stands in the prompt", "10,570 (train: 87,599)",
        "CC BY-SA 4.0", SHORT, "rajpurkar/squad", "the published JSON, or rows",
        "arXiv 1606.05250",
    ),
    "squad_v2": Entry(
        "the same, and questions that the passage does not answer",
        "11,873, half of them without an answer (train: 130,319)", "CC BY-SA 4.0", SHORT,
        "rajpurkar/squad_v2", "the published JSON, or rows", "arXiv 1806.03822",
    ),
    "xquad": Entry(
        "SQuAD's questions that were translated, in English", "1,190", "CC BY-SA 4.0", SHORT,
        "google/xquad", "the published JSON, or rows", "arXiv 1910.11856",
    ),
    "svamp": Entry(
        "arithmetic in a short story", "300 (train: 700)", "MIT", SHORT, "ChilleD/SVAMP",
        "rows as published", "arXiv 2103.07191",
    ),
    "simpleqa": Entry(
        "short facts that are hard to know", "4,326", "MIT", SHORT, "basicv8vc/SimpleQA",
        "the published CSV, or rows", "arXiv 2411.04368", "the hub has a copy by others",
    ),
    "simpleqa_verified": Entry(
        "SimpleQA with labels corrected", "1,000", "MIT", SHORT, "google/simpleqa-verified",
        "the published CSV, or rows", "arXiv 2509.07968",
    ),
    "selfaware": Entry(
        "questions nobody can answer, beside some that can be",
        "3,369, of which 1,032 cannot be answered", "CC BY-SA 4.0", SHORT, "JesusCrist/selfAware",
        "SelfAware.json, or rows", "arXiv 2305.18153", "the hub has a copy by others",
    ),
    "truthfulqa": Entry(
        "questions that a common belief answers wrongly; judge with a model", "817 (CSV: 790)",
        "Apache-2.0", SHORT, "truthfulqa/truthful_qa", "TruthfulQA.csv, or rows",
        "arXiv 2109.07958",
    ),
    "abstentionbench": Entry(
        "twenty sets of questions to answer or to abstain from", "about 39,500",
        "CC BY-NC 4.0", SHORT, "facebook/AbstentionBench", "exported rows", "arXiv 2506.09038",
        "the hub has a script only, which is never run: export its rows",
    ),
    "factscore": Entry(
        "people to tell about, from famous to obscure", "183 and 500 people", "MIT", TOLD, "",
        "prompt_entities.txt, or a labeled .jsonl", "arXiv 2305.14251",
        "the labeled texts themselves: sayso factuality FILE",
    ),
    "wildhallucinations": Entry(
        "things that people asked chatbots about", "7,917", "MIT", TOLD,
        "wentingzhao/WildHallucinations", "rows as published", "arXiv 2407.17468",
    ),
    "longfact": Entry(
        "questions of 38 subjects whose answers are long", "2,280", "CC BY 4.0", TOLD,
        "claserken/longfact", "the published folder, or a file of it", "arXiv 2403.18802",
        "the hub has a copy by others",
    ),
    "topics": Entry(
        "your own things to be told about", "yours", "yours", TOLD, "",
        "names, one a line, or rows with topic or prompt", "",
    ),
    "file": Entry(
        "your own questions and golds, in any table", "yours", "yours", SHORT, "",
        "JSONL, JSON, Parquet, CSV, TSV; --columns question=q,gold=answer", "",
    ),
}  # fmt: skip


def cells(name: str) -> tuple[str, ...]:
    """Return a set's row of the table, in the order of :data:`HEADER`."""
    entry = CATALOGUE[name]
    return (
        name, entry.what, entry.size, entry.license, ", ".join(entry.suits), entry.hub or "-",
        entry.file or "-",
    )  # fmt: skip


def markdown() -> Iterator[str]:
    """Yield the lines of the table in docs/data.md."""
    yield f"| {' | '.join(HEADER)} | paper |"
    yield f"|{'---|' * (len(HEADER) + 1)}"
    for name, entry in CATALOGUE.items():
        _, what, *rest = cells(name)
        what = f"{what} ({entry.notes})" if entry.notes else what
        row = (f"`{name}`", what, *rest, entry.source or "-")
        yield f"| {' | '.join(row)} |"
