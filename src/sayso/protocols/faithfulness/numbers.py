"""The numbers of faithfulness: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import Count, Fraction, Headline, Metric, MetricTable, Signed, Unbounded

YONA = "Yona et al., arXiv 2405.16908"
NUMBERS = MetricTable(
    Unbounded(
        "skill",
        "words match the draws (0 blind, 1 perfect)",
        "How far cMFG by fact gets from the value of the same words assigned to answers at random "
        "(0) to a perfect match (1). Below 0, the words mislead.",
        symbol="skill",
        higher=True,
        study=1,
        headline=Headline(
            what="how well their words show how sure they are",
            better="shows better in words how sure it is",
            worse="shows worse in words how sure it is",
            best="shows best in words how sure it is",
        ),
    ),
    Metric(
        "accuracy",
        "right, of all facts",
        "Share of all answers, or of all facts asked for in paragraphs, that are right.",
        higher=True,
        study=6,
        headline=Headline(
            what="how often they are right",
            better="is right more often",
            worse="is right less often",
            best="is right most often",
        ),
    ),
    Metric(
        "mean_decisiveness",
        "how sure its words sound",
        "Mean decisiveness of the wording, from 0 to 1. The claims of an answer share its weight.",
        study=4,
    ),
    Metric(
        "mean_confidence",
        "how sure it is: share of draws that agree",
        "Mean share of the sampled answers that do not contradict a claim, right or wrong.",
        study=5,
    ),
    Metric(
        "cmfg",
        "faithfulness, mean over bins of confidence",
        "Mean faithfulness of the answers (MFG) in each bin of confidence, then over the bins. An "
        "answer's confidence is the mean of its claims'.",
        symbol="cMFG",
        source=YONA,
        higher=True,
        study=2,
    ),
    Metric(
        "mfg",
        "faithfulness, mean over answers",
        "Faithfulness of an answer that asserts something is 1 minus the mean distance between "
        "decisiveness and confidence of its claims.",
        symbol="MFG",
        source=YONA,
        higher=True,
        study=3,
    ),
    Metric(
        "cmfg_aspects",
        "faithfulness by fact, mean over bins of confidence",
        "cMFG with a vote and a bin for each fact of a paragraph (claims about the same fact share "
        "the vote). Not in the paper. Skill and the baselines are counted this way.",
        symbol="cMFG by fact",
        higher=True,
        study=7,
    ),
    Metric(
        "punting",
        "answers that assert nothing",
        "Share of the answers that make no claim, such as “I don't know”.",
        head="asserts nothing",
    ),
    Signed(
        "spearman",
        "Spearman's correlation of decisiveness and confidence",
        higher=True,
        head="rank correlation",
    ),
    # ---- how the bins of confidence are filled
    Count("filled_bins", "bins with a claim, of those that can be reached", head="bins filled"),
    Count(
        "shared_bins",
        "bins of confidence that all methods fill",
        "Number of bins with enough claims of every method. Methods are compared in these bins.",
        head="bins",
    ),
    # ---- what was asked, and what is left out
    Count("asked", "answers, or facts of paragraphs, that were asked for"),
    Count(
        "left_out",
        "left out",
        "Number of facts that a paragraph omits, and of claims without decisiveness or confidence, "
        "by reason.",
    ),
    Metric(
        "ambiguous",
        "an ambiguous question",
        "1 for each question whose gold answers contradict each other, or which the judge's model "
        "calls ambiguous.",
        notation="count",
        limits=(1.0, 1.0),
    ),
    Metric("draws_alike", "questions whose draws all have the same text"),
    # ---- what cMFG and skill are read against, and their other definitions
    Metric("cmfg_decisive", "cMFG of words that are always certain", head="never hedging"),
    Metric("cmfg_half", "cMFG of words that are always half sure", head="always 50/50"),
    Metric("cmfg_permuted", "expected cMFG of its words, shuffled", head="shuffled words"),
    Metric(
        "cmfg_plain",
        "cMFG with plain statements read as certain",
        "cMFG by fact if words without certainty or doubt had decisiveness 1, as in the paper. "
        "Only if the offline reader read the wording: it gives them .975.",
        higher=True,
        head="plain statements as 1",
    ),
    Metric(
        "cmfg_oracle",
        "cMFG of perfect words",
        "cMFG if decisiveness equaled confidence. Below 1 only where empty bins count as 0.",
        head="perfect words",
    ),
    Metric(
        "over_claim",
        "words surer than the model",
        "How far decisiveness exceeds confidence: mean over claims in a bin, then over bins.",
        higher=False,
        head="words surer",
    ),
    Metric(
        "over_hedge",
        "words less sure than the model",
        "How far confidence exceeds decisiveness, likewise. In UNCLE, this is another number.",
        higher=False,
        head="words less sure",
    ),
    Metric(
        "cmfg_corrected",
        "cMFG without what few draws add to the gaps",
        higher=True,
        head="without noise",
    ),
    Metric(
        "cmfg_dec0",
        "cMFG with punts counted as decisiveness 0",
        "A punt is compared with the confidence of the plain answer to the same question.",
        higher=True,
        head="punts as 0",
    ),
    # ---- methods against the plain question, in the bins that all of them fill
    Unbounded(
        "skill_shared",
        "skill in the bins of confidence that all methods fill",
        higher=True,
        head="skill",
    ),
    Unbounded(
        "skill_gain",
        "gain in skill over the plain question, in the bins that all methods fill",
        higher=True,
        head="gain",
    ),
    Fraction(
        "skill_gain_p",
        "p of the gain in skill, corrected for the number of methods (Holm)",
        head="p of the gain",
    ),
    # ---- single bins
    Metric("bin_decisiveness", "mean decisiveness of the claims in a bin of confidence"),
    Metric("bin_confidence", "mean confidence of the claims in a bin of confidence"),
    # ---- single claims and thoughts
    Metric(
        "unknown_unknown",
        "unaware of the error: sure, sounds sure, wrong",
        "Share of the claims that are wrong though confidence and decisiveness are high.",
        higher=False,
    ),
    Metric(
        "known_unsaid",
        "unsure, but sounds sure",
        "Share of the claims with high decisiveness and low confidence.",
        higher=False,
    ),
    Signed(
        "thought_minus_said",
        "decisiveness of the thought minus that of the answer",
        "Decisiveness of the last claim in the reasoning minus that of the answer, on average.",
        head="thought minus answer",
    ),
)
