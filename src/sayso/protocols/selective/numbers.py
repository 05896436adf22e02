"""The numbers of selective: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import Headline, Metric, MetricTable

NUMBERS = MetricTable(
    Metric(
        "abstention_gap",
        "abstention gap (0 = blind)",
        symbol="G",
        definition="share of unanswerable questions declined, minus that of answerable ones",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
        headline=Headline(
            what="how well they decline only what cannot be answered",
            better="is better at declining only what cannot be answered",
            worse="is worse at declining only what cannot be answered",
            best="is best at declining only what cannot be answered",
        ),
    ),
    Metric(
        "abstention_gap_within",
        "abstention gap within a type of question (0 = blind)",
        symbol="G within type",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric("abstains_unanswerable", "unanswerable questions declined", higher=True),
    Metric("abstains_answerable", "answerable questions declined", higher=False),
    Metric(
        "right_minus_wrong",
        "right minus wrong, declined counts 0 (Omniscience Index / 100)",
        notation="signed",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric(
        "utility",
        "right 1, declined 0, wrong -t/(1-t), at a confidence target t",
        notation="signed",
        higher=True,
        limits=None,  # from -t/(1-t) to 1
    ),
    Metric(
        "passage_gap",
        "share declined without the passage, minus share declined with it (0 = blind)",
        symbol="G of passages",
        definition="share of questions declined without the passage, minus that with it",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric("abstains_without_passage", "declined without the passage", higher=True),
    Metric("abstains_with_passage", "the same questions declined with the passage", higher=False),
    Metric("by_heart", "right without the passage, from memory"),
    Metric(
        "error_rate",
        "wrong answers",
        higher=False,
        headline=Headline(
            what="how often they are wrong",
            better="is wrong less often",
            worse="is wrong more often",
            best="is wrong least often",
        ),
    ),
    Metric("auroc_best", "best score, cross-fitted AUROC"),
    Metric("auroc", "AUROC for a wrong answer (.5 = chance)", notation="fraction", higher=True),
    Metric(
        "auroc_within",
        "AUROC for a wrong answer, within type of fact (.5 = chance)",
        notation="fraction",
        higher=True,
    ),
)
