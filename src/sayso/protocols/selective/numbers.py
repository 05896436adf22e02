"""The numbers of selective: what each is called, how it is read and where it is shown."""

from __future__ import annotations

import math

from sayso.metric import Headline, Metric, MetricTable

SANTILLI = "Santilli et al., arXiv 2504.13677"
NUMBERS = MetricTable(
    Metric(
        "abstention_gap",
        "abstention gap (0 = blind)",
        (
            "Share of the unanswerable questions that it declined, minus that of the answerable "
            "ones."
        ),
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
        "The abstention gap within each type of question, averaged.",
        symbol="G within type",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric(
        "abstains_unanswerable",
        "unanswerable questions declined",
        "Share of the questions without an answer that it abstained from, refused or asked back.",
        higher=True,
        headline=Headline(
            what="how much they decline of what cannot be answered",
            better="declines more of what cannot be answered",
            worse="declines less of what cannot be answered",
            best="declines most of what cannot be answered",
            part=True,
        ),
    ),
    Metric(
        "abstains_answerable",
        "answerable questions declined",
        "Share of the questions with an answer that it abstained from, refused or asked back.",
        higher=False,
        headline=Headline(
            what="how much they decline of what can be answered",
            better="declines less of what can be answered",
            worse="declines more of what can be answered",
            best="declines least of what can be answered",
            part=True,
        ),
    ),
    Metric(
        "right_minus_wrong",
        "right minus wrong, declined counts 0 (Omniscience Index / 100)",
        "Share of the questions answered right, minus the share answered wrong.",
        source="Jackson et al., arXiv 2511.13029",
        notation="signed",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric(
        "passage_gap",
        "share declined without the passage, minus share declined with it (0 = blind)",
        "Of the questions that were asked both with their passage and without it.",
        symbol="G of passages",
        definition="share of questions declined without the passage, minus that with it",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric(
        "abstains_without_passage",
        "declined without the passage",
        "Share of the questions declined without the passage, of those asked both ways.",
        higher=True,
    ),
    Metric(
        "abstains_with_passage",
        "the same questions declined with the passage",
        "Share of the questions declined with the passage, of those asked both ways.",
        higher=False,
    ),
    Metric(
        "by_heart",
        "right without the passage, from memory",
        "Share of the questions answered right without the passage.",
    ),
    Metric(
        "other_passage_gap",
        "share declined with another passage, minus share declined with its own (0 = blind)",
        "Of the questions asked with their passage and with another one that does not say it.",
        symbol="G of other passages",
        definition="share of questions declined with a passage that does not contain the answer, "
        "minus that with the passage that does",
        notation="gap",
        higher=True,
        limits=(-1.0, 1.0),
    ),
    Metric(
        "answers_other_passage",
        "answered although the passage does not say it",
        "Share of the questions answered with another passage, of those asked both ways.",
        higher=False,
    ),
    Metric(
        "right_other_passage",
        "right although the passage does not say it, from memory",
        "Share of the questions answered right with another passage.",
    ),
    Metric(
        "misled_by_passage",
        "wrong, with a value from the other passage",
        "Share of the questions answered with a wrong value that the other passage contains.",
        higher=False,
    ),
    Metric(
        "error_rate",
        "wrong answers",
        "Share of the answers that an answer metric calls wrong. The slice names the metric.",
        higher=False,
        headline=Headline(
            what="how often they are wrong",
            better="is wrong less often",
            worse="is wrong more often",
            best="is wrong least often",
        ),
    ),
    Metric(
        "auroc_best",
        "best score, cross-fitted AUROC",
        "AUROC of the best score, chosen on other entities than it is measured on.",
        notation="fraction",
        higher=True,
    ),
    Metric(
        "auroc",
        "AUROC for a wrong answer (.5 = chance)",
        "Probability that a score ranks a wrong answer as less certain than a right one.",
        notation="fraction",
        higher=True,
    ),
    Metric(
        "auroc_within",
        "AUROC for a wrong answer, within type of fact (.5 = chance)",
        "AUROC over pairs of answers about the same type of fact.",
        notation="fraction",
        higher=True,
    ),
    # ---- what was answered
    Metric(
        "facts",
        "facts asked about",
        "Number of answers to short questions, or of facts asked for in paragraphs.",
        notation="count",
        limits=(0.0, math.inf),
    ),
    Metric(
        "unplaced",
        "facts without a place in the paragraph",
        "Number of facts that a paragraph leaves out or whose value could not be located in it.",
        notation="count",
        limits=(0.0, math.inf),
    ),
    Metric(
        "share_unknown",
        "facts that it does not know",
        (
            "Share of the facts of which no sampled answer is right. With --known-by probe, P(IK) "
            "decides instead."
        ),
    ),
    Metric(
        "draws_alike",
        "questions whose draws are all equal",
        "Share of the questions drawn several times whose draws all have the same text.",
    ),
    # ---- how a score ranks answers
    Metric(
        "prr",
        "prediction-rejection ratio (0 = random, 1 = oracle)",
        (
            "How much rejecting the least certain answers first improves the answers that are "
            "left, on a scale from random order to a perfect one. Below 0, the score misleads."
        ),
        symbol="PRR",
        source="Malinin et al. 2017",
        notation="signed",
        higher=True,
        limits=(-math.inf, 1.0),
    ),
    Metric(
        "aurac",
        "area under the rejection-accuracy curve",
        (
            "Mean accuracy of the most certain answers over shares answered from 10 % to 100 %. "
            "A blind score gets the plain accuracy."
        ),
        symbol="AURAC",
        source="Farquhar et al. 2024",
        notation="fraction",
        higher=True,
    ),
    Metric(
        "rank_flips",
        "pairs of scores that two answer metrics rank differently",
        "Number of such pairs, each once for every two metrics that disagree. The numerator counts "
        "those with both differences clear of chance.",
        notation="count",
        limits=(0.0, math.inf),
    ),
    Metric(
        "risk",
        "wrong answers among those given",
        "Share wrong of the most certain answers by a score. The slice gives the share answered.",
        higher=False,
    ),
    Metric(
        "coverage_of_words",
        "answers given without a hedge",
        "Share of the answers that the model gave without a hedge when told to express doubt.",
    ),
    Metric(
        "risk_of_words",
        "wrong answers among those given without a hedge",
        "Share wrong of the answers that the model did not hedge when told to express doubt.",
        higher=False,
    ),
    # ---- the length audit: a score against ROUGE-L, and against the run's judge
    Metric(
        "length_correlation",
        "rank correlation of the score with length",
        "Spearman's correlation of a score with the number of words of the answer.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_against_metric",
        "length audit: AUROC against ROUGE-L",
        "AUROC of a score for answers that ROUGE-L calls wrong.",
        source=SANTILLI,
        notation="fraction",
    ),
    Metric(
        "audit_length",
        "length audit: AUROC of length against ROUGE-L",
        "AUROC of the number of words for answers that ROUGE-L calls wrong.",
        source=SANTILLI,
        notation="fraction",
    ),
    Metric(
        "audit_score_length",
        "length audit: correlation of score and length",
        "Spearman's correlation of the score with the number of words.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_metric_length",
        "length audit: correlation of rejection and length",
        "Spearman's correlation of being called wrong by ROUGE-L with the number of words.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_at_fixed_length",
        "length audit: AUROC among answers of similar length",
        "AUROC against ROUGE-L over pairs of answers in the same tenth of length.",
        notation="fraction",
    ),
    Metric(
        "audit_beyond_length",
        "length audit: AUROC of the score beyond length",
        "AUROC against ROUGE-L of the part of the score's rank that length does not explain.",
        notation="fraction",
    ),
    Metric(
        "audit_against_truth",
        "length audit: AUROC against the judge",
        "AUROC of a score for answers that the run's judge calls wrong, on the same answers.",
        source=SANTILLI,
        notation="fraction",
        higher=True,
    ),
    Metric(
        "audit_length_truth",
        "length audit: AUROC of length against the judge",
        "AUROC of the number of words for answers that the run's judge calls wrong.",
        source=SANTILLI,
        notation="fraction",
    ),
    Metric(
        "audit_difference",
        "length audit: AUROC against ROUGE-L minus AUROC against the judge",
        "How much ROUGE-L overstates a score. It is the sum of the next two numbers.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_from_length",
        "length audit: part of the difference due to length",
        "What is lost of the AUROC if ROUGE-L's false rejections are spread evenly over lengths.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_unexplained",
        "length audit: part of the difference that length does not explain",
        "The rest of the difference between the two AUROCs.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "audit_agreement",
        "length audit: agreement of ROUGE-L with the judge",
        "Share of the audited answers that ROUGE-L and the run's judge call the same.",
        higher=True,
    ),
    Metric(
        "auroc_length_closed_form",
        "AUROC that length alone can earn",
        (
            "Computed from the accuracy and the share of right answers that a metric accepts. It "
            "assumes that the metric rejects the longest right answers and every wrong one, and "
            "that wrong answers are as long as right ones."
        ),
        notation="fraction",
    ),
    # ---- by fifths of length
    Metric(
        "false_negatives",
        "right answers that a metric rejects",
        "Share of the answers right by the run's judge that another answer metric calls wrong.",
        higher=False,
    ),
    Metric(
        "false_negatives_fifth",
        "right answers that a metric rejects, by length",
        "The same in one fifth of the right answers by length. The slice gives the lengths.",
        higher=False,
    ),
    Metric(
        "false_negative_slope",
        "rise of the rejected share with length",
        "How much the share of rejected right answers rises from one fifth of length to the next.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    # ---- agreement of the answer metrics
    Metric(
        "metric_agreement",
        "agreement of two answer metrics",
        "Share of the answers that two answer metrics call the same.",
    ),
    Metric(
        "metric_kappa",
        "kappa of two answer metrics",
        "Cohen's kappa: 1 = always the same, 0 = no more often than by chance.",
        notation="signed",
        limits=(-1.0, 1.0),
    ),
    Metric(
        "metric_against_others",
        "agreement with the majority of the other metrics",
        "Share of the answers that an answer metric calls as most of the others do.",
    ),
    # ---- P(IK)
    Metric(
        "probe_converged",
        "fits of P(IK) that converged",
        "Share of the folds in which the fit of the probe converged.",
        higher=True,
    ),
    Metric(
        "known_agreement",
        "agreement of P(IK) with the samples",
        "Share of the facts that P(IK) and the sampled answers both call known or both unknown.",
    ),
)
