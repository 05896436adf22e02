"""The numbers of self_known: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import Headline, Metric, MetricTable

NUMBERS = MetricTable(
    Metric(
        "factscore",
        "supported claims, mean over the texts",
        higher=True,
        study=1,
        headline=Headline(
            what="how much of what they write is supported",
            better="has more of its claims supported",
            worse="has fewer of its claims supported",
            best="has the most claims supported",
        ),
    ),
    Metric("factuality_micro", "supported claims, all texts together", higher=True),
    Metric("recall", "requested facts stated correctly", higher=True),
    Metric("response_rate", "texts that answer the prompt"),
    Metric(
        "claims_per_answer",
        "claims per answer",
        notation="plain",
        study=4,
        limits=(0.0, float("inf")),
    ),
    Metric("trend", "slope along the text", notation="signed"),
    Metric("SK", "Self-Known: supported claims accepted", higher=True, study=2),
    Metric(
        "SU",
        "Self-Unknown: unsupported claims rejected",
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
    Metric("accept_rate", "claims accepted", study=5),
    Metric("labeled_factuality", "factuality by the labels of these claims"),
    Metric("equation3", "Equation 3, shares of other texts"),
    Metric("equation3_in_sample", "Equation 3, shares of the same claims"),
    Metric("none_flips", "accepted until none of the above is offered"),
    Metric("factuality_pearson", "correlation with labeled factuality across places", symbol="r"),
    Metric(
        "factuality_spearman", "rank correlation with labeled factuality across places", symbol="ρ"
    ),
)
