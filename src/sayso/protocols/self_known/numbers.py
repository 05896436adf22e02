"""The numbers of self_known: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import Fraction, Headline, Metric, MetricTable, Positive, Signed, Unbounded

TU = "Tu et al., arXiv 2411.15993"
NUMBERS = MetricTable(
    Metric(
        "factscore",
        "supported claims, mean over the texts",
        "Share of a text's claims that are supported, averaged over texts. Irrelevant claims "
        "are left out.",
        source="FActScore, Min et al. 2023",
        higher=True,
        study=1,
        headline=Headline(
            what="how much of what they write is supported",
            better="has more of its claims supported",
            worse="has fewer of its claims supported",
            best="has the most claims supported",
        ),
    ),
    Metric(
        "factuality_micro",
        "supported claims, all texts together",
        "Share of all claims that are supported. Irrelevant claims are left out.",
        higher=True,
    ),
    Metric(
        "recall",
        "requested facts stated correctly",
        "Share of the requested facts that the text states correctly, without a hedge.",
        higher=True,
    ),
    Metric(
        "response_rate",
        "texts that answer the prompt",
        "Share of the texts that are not empty and do not decline to answer.",
    ),
    Positive(
        "claims_per_answer",
        "claims per answer",
        "Mean number of claims in a text, with those that have no label.",
        study=4,
    ),
    Unbounded(
        "trend",
        "slope along the text",
        "Change of the share of supported claims from the start of a text to its end, by a "
        "regression within texts.",
    ),
    Metric(
        "SK",
        "Self-Known: supported claims accepted",
        "Share of its supported claims that the model judges to be correct.",
        source=f"{TU}, section 4",
        higher=True,
        study=2,
    ),
    Metric(
        "SU",
        "Self-Unknown: unsupported claims rejected",
        "Share of its unsupported claims that the model judges not to be correct.",
        source=f"{TU}, section 4",
        higher=True,
        study=3,
        headline=Headline(
            what="how many of their own errors they notice",
            better="notices more of its own errors",
            worse="notices fewer of its own errors",
            best="notices the most of its own errors",
            only=(("mode", "qa_none"),),
        ),
    ),
    Metric(
        "accept_rate",
        "claims accepted",
        "Share of its supported and unsupported claims that the model judges to be correct.",
        study=5,
    ),
    Metric(
        "labeled_factuality",
        "factuality by the labels of these claims",
        "Share of the claims supported, of those that the model judged.",
    ),
    Metric(
        "equation3",
        "Equation 3, shares of other texts",
        "Factuality predicted from SK and SU of other texts: (1 - SU) / (2 - SU - SK).",
        source=f"{TU}, Equation 3",
    ),
    Metric(
        "equation3_in_sample",
        "Equation 3, shares of the same claims",
        "Equation 3 with SK and SU of the same claims, as in the paper.",
        source=f"{TU}, Equation 3",
    ),
    Metric(
        "none_flips",
        "accepted until none of the above is offered",
        "Share of the claims of one class that it accepts without that option, but not with it.",
    ),
    Signed(
        "factuality_pearson",
        "correlation with labeled factuality across places",
        "Correlation of SK, SU or Equation 3 with factuality, across the parts of the text.",
        symbol="r",
    ),
    Signed(
        "factuality_spearman",
        "rank correlation with labeled factuality across places",
        "The same with ranks (Spearman).",
        symbol="ρ",
    ),
    # ---- what was written, and what is left out
    Metric(
        "answers_without_claims",
        "texts without their claims",
        "Share of the texts that are empty (of those that came), or (of those that answer) claim "
        "nothing or could not be split into claims. The slice says which.",
        higher=False,
    ),
    Metric(
        "claims_without_label",
        "claims without a label",
        "Share of the claims that nobody labeled. The slice says why.",
    ),
    Metric(
        "claims_without_sentence",
        "claims without a sentence",
        "Share of the claims that belong to no sentence. Numbers by position leave them out.",
    ),
    # ---- whole texts
    Metric(
        "factscore_penalized",
        "FActScore with its length penalty",
        "FActScore in which a text with few claims counts for less.",
        source="Min et al. 2023",
        higher=True,
    ),
    Metric(
        "f1_at_k",
        "F1 at K facts",
        "Harmonic mean of the share supported and of supported claims divided by K (at most "
        "1), averaged over texts.",
        symbol="F1@K",
        source="SAFE, Wei et al. 2024",
        higher=True,
    ),
    Metric(
        "precision_at_length",
        "supported claims at equal length",
        "Share supported of the first claims of each text. The number of claims is the same "
        "for all methods, and shorter texts are left out.",
        higher=True,
    ),
    Metric(
        "precision_at_recall",
        "supported claims at equal recall",
        "Share supported of the claims up to the last of as many supported claims of a topic "
        "as both the method's text and the plain one have. With of:plain, of the plain text.",
        higher=True,
    ),
    Metric(
        "irrelevant_share",
        "irrelevant claims",
        "Share of the labeled claims that are irrelevant to the topic. By part of the text, "
        "averaged over sentences.",
        higher=False,
    ),
    # ---- along the text
    Metric(
        "factuality",
        "supported claims in a part of the text",
        "Share of the claims that are supported, in one part of the texts. Averaged over "
        "sentences, texts or claims (average).",
        source=f"{TU}, section 3",
    ),
    *(
        Positive(
            f"{kind}_per_sentence",
            f"{kind} claims per sentence",
            "Mean number in a sentence with labeled claims, in one part of the texts.",
        )
        for kind in ("supported", "unsupported", "irrelevant")
    ),
    *(
        Metric(
            f"{kind}_share",
            f"{kind} claims, irrelevant ones counted",
            "Mean share of a sentence's labeled claims, in one part of the texts.",
        )
        for kind in ("supported", "unsupported")
    ),
    Metric(
        "decisiveness",
        "how sure the claims sound",
        "Mean decisiveness of the claims in one part of the texts.",
    ),
    # ---- what the model says about its own claims
    Metric(
        "rogan_gladen",
        "factuality from the accept rate, corrected",
        "Factuality computed from the accept rate, corrected by SK and SU of other texts. It "
        "can fall outside 0 to 1.",
        source="Rogan and Gladen 1978",
        limits=None,
    ),
    Signed(
        "overconfidence",
        "claims accepted minus claims supported",
        "Accept rate minus factuality by the labels of the same claims.",
    ),
    Metric(
        "order_flips",
        "answers that change with the order of the options",
        "Share of the claims asked about in several orders that do not always get the same "
        "reply. The orders are averaged.",
        higher=False,
    ),
    Metric(
        "not_understood",
        "questions not taken as a choice",
        "Share of the claims for which the options get less than half of the probability.",
        higher=False,
    ),
    # ---- scores of single claims
    Fraction(
        "auroc",
        "AUROC for an unsupported claim (.5 = chance)",
        "Probability that a score ranks an unsupported claim as less certain than a supported one, "
        "of all claims or of those in one part of the texts.",
        higher=True,
    ),
    # ---- the checker of claims against people
    Metric(
        "verifier_agreement",
        "agreement of the checker with people",
        "Share of the claims that the checker and people label the same, supported or not.",
        higher=True,
    ),
    Signed(
        "verifier_bias",
        "factuality by the checker minus factuality by people",
        "0 at best. Below 0, the checker is too strict.",
    ),
    # ---- texts written with passages, or revised, against the plain ones on the same topics
    Signed(
        "factscore_minus_plain",
        "supported claims, mean over the texts, minus plain",
        "FActScore of the method minus that of the plain texts about the same topics.",
        higher=True,
    ),
    Signed(
        "precision_at_recall_minus_plain",
        "supported claims at equal recall, minus plain",
        "Precision at equal recall of the method's texts minus that of the plain texts.",
        higher=True,
    ),
)
