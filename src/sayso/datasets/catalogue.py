"""What each question set is: the table of ``sayso data list`` and of docs/data.md.

Numbers are those that a set's authors publish; licenses are those of the data, from the place that
the docstring of its reader names, which says what could not be verified.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

#: protocols of sets with short answers, and of topics
SHORT = ("uncle", "selective", "faithfulness")
LONG = ("self_known",)


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
        "200 entities asked by default", "MIT", (*SHORT, *LONG), "", "",
        "src/sayso/builtin/model/MODEL_CARD.md",
    ),
    "world": Entry(
        "people, companies, films, planets, diseases of the real world in four tiers, from "
        "household names to obscure ones, in paragraphs and alone; and 100 questions that nobody "
        "can answer, each with an answerable twin",
        "206 entities, 840 facts, 100 pairs", "MIT", (*SHORT, *LONG), "", "", "",
    ),
    "world-50": Entry(
        "well-known people, places, works and science, and invented ones, in paragraphs and "
        "alone: the `world` of earlier versions",
        "50 questions, of which 10 cannot be answered", "MIT", (*SHORT, *LONG), "", "",
        "",
    ),
    "uncle": Entry(
        "people, companies, films, planets, diseases: facts in paragraphs and alone",
        "1,066 entities", "no license file", (*SHORT, *LONG), "rhyang2021/UNCLE",
        "FILE.jsonl (UNCLE's records, yours too)", "arXiv 2505.16922",
    ),
    "popqa": Entry(
        "Wikidata facts, by how often the subject's page is read",
        "14,267 questions, six relations kept", "MIT", SHORT, "akariasai/PopQA",
        "test.tsv, or rows", "arXiv 2212.10511",
    ),
    "triviaqa": Entry(
        "trivia with many spellings of each answer", "17,944 (train: 138,384)", "Apache-2.0",
        SHORT, "mandarjoshi/trivia_qa", "rows, or the published JSON", "arXiv 1705.03551",
    ),
    "nq_open": Entry(
        "questions that people asked a search engine", "3,610 (train: 87,925)", "CC BY-SA 3.0",
        SHORT, "google-research-datasets/nq_open", "rows as published", "arXiv 1906.00300",
    ),
    "squad": Entry(
        "questions about a passage, which is part of the prompt", "10,570 (train: 87,599)",
        "CC BY-SA 4.0", SHORT, "rajpurkar/squad", "the published JSON, or rows",
        "arXiv 1606.05250",
    ),
    "squad_v2": Entry(
        "the same, plus questions that the passage does not answer",
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
        "the published CSV, or rows", "arXiv 2411.04368", "the hub has only third-party copies",
    ),
    "simpleqa_verified": Entry(
        "SimpleQA with labels corrected", "1,000", "MIT", SHORT, "google/simpleqa-verified",
        "the published CSV, or rows", "arXiv 2509.07968",
    ),
    "selfaware": Entry(
        "questions that nobody can answer, and some that can be answered",
        "3,369, of which 1,032 cannot be answered", "CC BY-SA 4.0", SHORT, "JesusCrist/selfAware",
        "SelfAware.json, or rows", "arXiv 2305.18153", "the hub has only third-party copies",
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
        "people to write about, from famous to obscure", "183 and 500 people", "MIT", LONG, "",
        "prompt_entities.txt, or a labeled .jsonl", "arXiv 2305.14251",
        "the labeled texts themselves: sayso run self_known --answers FILE",
    ),
    "wildhallucinations": Entry(
        "things that people asked chatbots about", "7,917", "MIT", LONG,
        "wentingzhao/WildHallucinations", "rows as published", "arXiv 2407.17468",
    ),
    "longfact": Entry(
        "questions of 38 subjects whose answers are long", "2,280", "CC BY 4.0", LONG,
        "claserken/longfact", "the published folder, or a file of it", "arXiv 2403.18802",
        "the hub has only third-party copies",
    ),
    "topics": Entry(
        "your own topics to write about", "yours", "yours", LONG, "",
        "names, one per line, or rows with topic or prompt", "",
    ),
    "file": Entry(
        "your own questions and golds, in any table", "yours", "yours", SHORT, "",
        "JSONL, JSON, Parquet, CSV, TSV; --columns question=q,gold=answer", "",
    ),
}  # fmt: skip


def markdown() -> Iterator[str]:
    """Yield the lines of the table in docs/data.md."""
    yield "| name | what | size | license | for | hub | file | paper |"
    yield f"|{'---|' * 8}"
    for name, entry in CATALOGUE.items():
        what = f"{entry.what} ({entry.notes})" if entry.notes else entry.what
        row = (
            f"`{name}`", what, entry.size, entry.license, ", ".join(entry.suits),
            entry.hub or "-", entry.file or "-", entry.source or "-",
        )  # fmt: skip
        yield f"| {' | '.join(row)} |"
