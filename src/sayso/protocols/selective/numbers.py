"""The numbers of selective: what each is called, how it is read and where it is shown."""

from __future__ import annotations

import math
import re

from sayso.harmless import line
from sayso.metric import DOUBTS, Count, Fraction, Gap, Headline, Metric, MetricTable, Signed

SANTILLI = "Santilli et al., arXiv 2504.13677"
NUMBERS = MetricTable(
    *DOUBTS,
    Gap(
        "abstention_gap",
        "abstention gap (0 = blind)",
        "Share of the unanswerable questions that it declined, minus that of the answerable ones. "
        "Below 0, it declines more of what can be answered.",
        symbol="G",
        stands_for="J",
        definition="share of unanswerable questions declined, minus that of answerable ones",
        headline=Headline(
            what="how well they decline only what cannot be answered",
            better="is better at declining only what cannot be answered",
            worse="is worse at declining only what cannot be answered",
            best="is best at declining only what cannot be answered",
        ),
    ),
    Gap(
        "abstention_gap_within",
        "abstention gap within a type of question (0 = blind)",
        "The abstention gap within each type of question, averaged.",
        symbol="G within type",
        stands_for="J_within",
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
    Signed(
        "right_minus_wrong",
        "right minus wrong, declined counts 0 (Omniscience Index / 100)",
        "Share of the questions answered right, minus the share answered wrong. Below 0, never "
        "answering would have scored higher.",
        source="Jackson et al., arXiv 2511.13029",
        higher=True,
    ),
    Gap(
        "passage_gap",
        "share declined without the passage, minus share declined with it (0 = blind)",
        "Of the questions that were asked both with their passage and without it.",
        symbol="passage gap",
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
    Gap(
        "other_passage_gap",
        "share declined with another passage, minus share declined with its own (0 = blind)",
        "Of the questions asked with their passage and with another one that does not say it.",
        symbol="other-passage gap",
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
        "answers that are not right",
        "Share of the answers that an answer metric does not call right: those that state "
        "something false, and by default those that decline although there is an answer. The slice "
        "names the metric.",
        higher=False,
        headline=Headline(
            what="how often they are right",
            better="is right more often",
            worse="is right less often",
            best="is right most often",
        ),
    ),
    Fraction(
        "auroc_best",
        "best score, cross-fitted AUROC",
        "AUROC of the best score, chosen on other entities than it is measured on.",
        higher=True,
    ),
    Fraction(
        "auroc",
        "AUROC for an answer that is not right (.5 = chance)",
        "Probability that a score ranks an answer that is not right as less certain than a right "
        "one.",
        head="AUROC",
        higher=True,
    ),
    Fraction(
        "auroc_within",
        "AUROC for an answer that is not right, within type of fact (.5 = chance)",
        "AUROC over pairs of answers about the same type of fact.",
        head="AUROC within type",
        higher=True,
    ),
    # ---- what was answered
    Count(
        "answer_count",
        "answers that did this",
        "Number of answers to answerable or unanswerable questions (asked) that did something: "
        "right or wrong (committed to a right or a false value), hedged_right, hedged_wrong, "
        "hedged_other (by the hedged value), declined, nothing (stated no value), ungraded (no "
        "gold answer), unread. They sum to the questions asked.",
    ),
    Count(
        "facts",
        "facts asked about",
        "Number of answers to short questions, or of facts asked for in paragraphs.",
    ),
    Metric(
        "share_unknown",
        "facts that it does not know",
        "Share of the facts of which no sampled answer is right.",
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
        "How much rejecting the least certain answers first improves the answers that are left, on "
        "a scale from random order to a perfect one. Below 0, the score misleads.",
        symbol="PRR",
        source="Malinin et al. 2017",
        notation="signed",
        higher=True,
        limits=(-math.inf, 1.0),
    ),
    Fraction(
        "aurac",
        "area under the rejection-accuracy curve",
        "Mean accuracy of the most certain answers over shares answered from 10 % to 100 %. A "
        "blind score gets the plain accuracy.",
        symbol="AURAC",
        source="Farquhar et al. 2024",
        higher=True,
    ),
    Metric(
        "risk",
        "answers that are not right among those given",
        "Share not right of the most certain answers by a score. The slice gives the share "
        "answered.",
        higher=False,
    ),
    Metric(
        "coverage_of_words",
        "answers given without a hedge",
        "Share of the answers that the model gave without a hedge when told to express doubt.",
    ),
    Metric(
        "risk_of_words",
        "answers that are not right among those given without a hedge",
        "Share not right of the answers that the model did not hedge when told to express doubt.",
        higher=False,
    ),
    # ---- the length audit: a score against ROUGE-L, and against the run's judge
    Fraction(
        "audit_against_metric",
        "length audit: AUROC against ROUGE-L",
        "AUROC of a score for answers that ROUGE-L calls wrong.",
        source=SANTILLI,
    ),
    Fraction(
        "audit_against_truth",
        "length audit: AUROC against the judge",
        "AUROC of a score for answers that the run's judge calls wrong, on the same answers.",
        source=SANTILLI,
        higher=True,
    ),
    Signed(
        "audit_difference",
        "length audit: AUROC against ROUGE-L minus AUROC against the judge",
        "How much ROUGE-L overstates a score. It is the sum of the next two numbers.",
    ),
    Signed(
        "audit_from_length",
        "length audit: part of the difference due to length",
        "What is lost of the AUROC if ROUGE-L's false rejections are spread evenly over lengths.",
    ),
    Signed(
        "audit_unexplained",
        "length audit: part of the difference that length does not explain",
        "The rest of the difference between the two AUROCs.",
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
    # ---- agreement of the answer metrics
    Metric(
        "metric_agreement",
        "agreement of two answer metrics",
        "Share of the answers that two answer metrics call the same.",
    ),
)

# ---- names of scores and answer metrics in words

#: scores whose name is not readable with spaces for underscores
SCORE_NAMES = {
    "length_words": "plain length (words)",
    "length_tokens": "plain length (tokens)",
    "words": "its own words",
    "text_only": "the words alone",
    "token_sar": "TokenSAR",
    "sentence_sar": "SentenceSAR",
    "sar": "SAR",
    "mars": "MARS",
    "ccp": "CCP",
    "p_true": "P(True)",
    "p_true_few": "P(True), with examples",
    "p_true_raw": "P(True), unnormalized",
    "p_true_sampled": "P(True), by sampling",
    "p_ik": "P(IK)",
    "p_ik_other_data": "P(IK), learned on other data",
    "pmi": "mutual information",
    "conditional_pmi": "conditional mutual information",
    "num_sets": "number of meanings",
    "naive_entropy_eq4": "naive entropy, equation 4",
    "mc_mean_token_entropy": "token entropy of the draws",
    "cocoa_probability": "CoCoA on probability",
    "cocoa_perplexity": "CoCoA on perplexity",
    "cocoa_entropy": "CoCoA on entropy",
    "fisher_rao": "Fisher-Rao distance",
    "renyi_divergence": "Rényi divergence",
    "selfcheck_nli": "SelfCheck, NLI",
    "verbalized_two_step": "stated confidence, asked after",
    "verbalized_two_step_reasoned": "stated confidence, asked after reasons",
    "verbalized_top_k": "stated confidence, several guesses",
    "luq": "LUQ",
    "luq_draws": "LUQ of the draws",
}
#: first words of a family of scores
FAMILIES = {
    "semantic_entropy_mc": "semantic entropy, Monte Carlo",
    "semantic_entropy": "semantic entropy",
    "naive_entropy": "naive entropy",
    "eigv": "graph eigenvalues",
    "degree": "graph degree",
    "eccentricity": "graph eccentricity",
    "selfcheck_ngram": "SelfCheck n-gram",
    "selfcheck": "SelfCheck",
    "verbalized": "stated confidence",
}
METRIC_NAMES = {
    "rouge_l": "ROUGE-L",
    "squad_f1": "SQuAD F1",
    "exact_match": "exact match",
    "contains": "contains reference",
    "bert_score": "BERTScore",
    "llm_blind": "blind grader",
}
_OURS = re.compile(r"[a-z0-9_]{1,60}")


def score_label(name: str) -> str:
    """Return a score's name in words; a name that is not ours stays as it is."""
    if name in SCORE_NAMES:
        return SCORE_NAMES[name]
    if not _OURS.fullmatch(name):
        return line(name, 60)
    for start, family in FAMILIES.items():
        if name == start:
            return family
        if name.startswith(f"{start}_"):
            return f"{family}, {name.removeprefix(start)[1:].replace('_', ', ')}"
    return name.replace("_", " ")


def metric_label(name: str, judge: str = "") -> str:
    """Return an answer metric's name in words; the run's judge is called so."""
    kind, _, model = name.partition(":")
    label = METRIC_NAMES.get(name) or line(f"{METRIC_NAMES.get(kind, kind)} {model}".strip(), 40)
    return f"{label} (judge)" if name == judge else label
