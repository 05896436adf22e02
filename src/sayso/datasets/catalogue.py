"""What each question set is: the table of ``sayso data list`` and of docs/data.md.

Numbers are those that a set's authors publish; licenses are those of the data, from the place that
the docstring of its reader names, which says what could not be verified.
"""

from __future__ import annotations

import msgspec

from sayso.records import Question

#: protocols of sets with short answers, and of topics
SHORT = ("uncle", "selective", "faithfulness")
LONG = ("self_known",)


class CatalogueEntry(msgspec.Struct, frozen=True):
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
CATALOGUE: dict[str, CatalogueEntry] = {
    "builtin": CatalogueEntry(
        "facts about the bundled invented world, in paragraphs and as single questions",
        "200 entities by default", "MIT", (*SHORT, *LONG), "", "",
        "src/sayso/builtin/model/MODEL_CARD.md",
    ),
    "world": CatalogueEntry(
        "real people, companies, films, planets and diseases in four tiers, from household names "
        "to obscure, in paragraphs and as single questions. Also 100 unanswerable questions, each "
        "with an answerable twin",
        "206 entities, 840 facts, 100 pairs", "MIT", (*SHORT, *LONG), "", "", "",
    ),
    "world-50": CatalogueEntry(
        "well-known people, places, works and science, in paragraphs and as single questions. Also "
        "questions about invented things. This set was `world` in earlier versions",
        "50 questions, 10 of them unanswerable", "MIT", (*SHORT, *LONG), "", "", "",
    ),
    "uncle": CatalogueEntry(
        "facts about people, companies, films, planets and diseases, in paragraphs and as single "
        "questions",
        "1,066 entities", "no license file", (*SHORT, *LONG), "rhyang2021/UNCLE",
        "FILE.jsonl (UNCLE's records, or your own)", "arXiv 2505.16922",
    ),
    "popqa": CatalogueEntry(
        "facts from Wikidata, grouped by how often the subject's page is viewed",
        "14,267 questions (sayso keeps six relations)", "MIT", SHORT, "akariasai/PopQA",
        "test.tsv, or the hub's rows", "arXiv 2212.10511",
    ),
    "triviaqa": CatalogueEntry(
        "trivia questions, with many spellings of each answer", "17,944 (train: 138,384)",
        "Apache-2.0", SHORT, "mandarjoshi/trivia_qa", "the published JSON, or the hub's rows",
        "arXiv 1705.03551",
    ),
    "nq_open": CatalogueEntry(
        "questions that people asked a search engine", "3,610 (train: 87,925)", "CC BY-SA 3.0",
        SHORT, "google-research-datasets/nq_open", "the hub's rows", "arXiv 1906.00300",
    ),
    "squad": CatalogueEntry(
        "questions about a passage, which the prompt includes", "10,570 (train: 87,599)",
        "CC BY-SA 4.0", SHORT, "rajpurkar/squad", "the published JSON, or the hub's rows",
        "arXiv 1606.05250",
    ),
    "squad_v2": CatalogueEntry(
        "SQuAD plus questions that the passage does not answer",
        "11,873, half of them unanswerable (train: 130,319)", "CC BY-SA 4.0", SHORT,
        "rajpurkar/squad_v2", "the published JSON, or the hub's rows", "arXiv 1806.03822",
    ),
    "xquad": CatalogueEntry(
        "the English originals of XQuAD's translated SQuAD questions", "1,190", "CC BY-SA 4.0",
        SHORT, "google/xquad", "the published JSON, or the hub's rows", "arXiv 1910.11856",
    ),
    "svamp": CatalogueEntry(
        "arithmetic word problems", "300 (train: 700)", "MIT", SHORT, "ChilleD/SVAMP",
        "the hub's rows", "arXiv 2103.07191",
    ),
    "simpleqa": CatalogueEntry(
        "difficult questions about facts, with short answers", "4,326", "MIT", SHORT,
        "basicv8vc/SimpleQA", "the published CSV, or the hub's rows", "arXiv 2411.04368",
        "the hub has only third-party copies",
    ),
    "simpleqa_verified": CatalogueEntry(
        "SimpleQA with corrected labels", "1,000", "MIT", SHORT, "google/simpleqa-verified",
        "the published CSV, or the hub's rows", "arXiv 2509.07968",
    ),
    "aa_omniscience": CatalogueEntry(
        "difficult questions of six fields (a public tenth; its index: judge_labels=grades)", "600",
        "see its page", SHORT, "ArtificialAnalysis/AA-Omniscience-Public", "the hub's rows",
        "arXiv 2511.13029",
    ),
    "selfaware": CatalogueEntry(
        "unanswerable questions, and similar questions that have an answer",
        "3,369, 1,032 of them unanswerable", "CC BY-SA 4.0", SHORT, "JesusCrist/selfAware",
        "SelfAware.json, or the hub's rows", "arXiv 2305.18153",
        "the hub has only third-party copies",
    ),
    "truthfulqa": CatalogueEntry(
        "questions that people often answer wrongly, because of a common misconception; use a "
        "model as the judge",
        "817 (CSV: 790)", "Apache-2.0", SHORT, "truthfulqa/truthful_qa",
        "TruthfulQA.csv, or the hub's rows", "arXiv 2109.07958",
    ),
    "abstentionbench": CatalogueEntry(
        "twenty sets of questions, some of which a model should decline", "about 39,500",
        "CC BY-NC 4.0", SHORT, "facebook/AbstentionBench", "exported rows", "arXiv 2506.09038",
        "the hub has only a loading script, which sayso never runs: export the rows yourself",
    ),
    "factscore": CatalogueEntry(
        "people to write about, from famous to obscure",
        "183 people with labeled texts, 500 without", "MIT", LONG, "",
        "prompt_entities.txt, or a labeled .jsonl", "arXiv 2305.14251",
        "to measure the labeled texts instead, use sayso run self_known --answers FILE",
    ),
    "wildhallucinations": CatalogueEntry(
        "entities that people asked chatbots about", "7,917", "MIT", LONG,
        "wentingzhao/WildHallucinations", "the hub's rows", "arXiv 2407.17468",
    ),
    "longfact": CatalogueEntry(
        "questions on 38 subjects that need long answers", "2,280", "CC BY 4.0", LONG,
        "claserken/longfact", "the published folder, or one of its files", "arXiv 2403.18802",
        "the hub has only third-party copies",
    ),
    "topics": CatalogueEntry(
        "your own topics to write about", "yours", "yours", LONG, "",
        "one topic per line, or rows with a column topic or prompt", "",
    ),
    "file": CatalogueEntry(
        "your own questions and gold answers, in a table", "yours", "yours", SHORT, "",
        "JSONL, JSON, Parquet, CSV, TSV; rename columns with --columns question=q,gold=answer", "",
    ),
}  # fmt: skip


def is_topic(question: Question) -> bool:
    """Tell whether a question asks for a text about a topic, without wanted facts."""
    entry = CATALOGUE.get(question.dataset)
    about = entry is not None and entry.suits == LONG
    return about and not (question.parts or question.golds)
