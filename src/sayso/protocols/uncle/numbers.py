"""The numbers of UNCLE: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import (
    DOUBTS,
    Count,
    Fraction,
    Gap,
    Headline,
    Metric,
    MetricTable,
    Positive,
    Signed,
    Unbounded,
)

NUMBERS = MetricTable(
    *DOUBTS,
    Metric(
        "p_known",
        "facts that it knows",
        "Share of the facts that are known. By default, one right sample of several is enough.",
        higher=True,
        study=1,
        headline=Headline(
            what="how many facts they know",
            better="knows more facts",
            worse="knows fewer facts",
            best="knows the most facts",
        ),
    ),
    Metric(
        "p_uncertain",
        "facts that it hedges",
        "Share of all facts that it hedges or declines to state.",
    ),
    Metric(
        "FA",
        "right when it commits",
        "Share of the facts stated without a hedge that are right.",
        symbol="FA",
        definition="share of facts stated without a hedge that are right",
        source="factual accuracy, UNCLE section 3",
        higher=True,
        section="rates",
        study=6,
    ),
    Metric(
        "UA",
        "hedges well placed",
        "Share of the hedged facts that it did not know. Blind hedging scores the share of "
        "unknown facts.",
        symbol="UA",
        definition="share of hedged facts that are unknown",
        source="uncertain accuracy, UNCLE section 3",
        higher=True,
        section="rates",
        study=7,
    ),
    Metric(
        "UUR",
        "unknown, and hedged",
        "Share of the unknown facts that it hedged.",
        symbol="UUR",
        definition="share of unknown facts that are hedged",
        source="unknown-to-uncertain rate, UNCLE section 3",
        higher=True,
        section="rates",
        study=3,
        headline=Headline(
            what="how much they hedge of what they do not know",
            better="hedges more of what it does not know",
            worse="hedges less of what it does not know",
            best="hedges most of what it does not know",
            part=True,
        ),
    ),
    Metric(
        "KCR",
        "known, and stated right",
        "Share of the known facts that it stated right, without a hedge.",
        symbol="KCR",
        definition="share of known facts that are stated right, without a hedge",
        source="known-to-correct rate, UNCLE section 3",
        higher=True,
        section="rates",
        study=5,
    ),
    Metric(
        "EA",
        "acts as it should",
        "Share of all facts that are known and stated right, or unknown and hedged. A model "
        "that never hedges can score high here.",
        symbol="EA",
        definition="share of facts that are known and stated right, or unknown and hedged",
        source="expression accuracy, UNCLE section 3",
        higher=True,
        section="rates",
        study=8,
    ),
    Gap(
        "J",
        "tells known from unknown",
        "UUR minus the share of known facts that it hedged. 0 for blind hedging, 1 at best.",
        symbol="J",
        definition="share of unknown facts that are hedged, minus that of known facts",
        source="Youden's J of hedging",
        section="rates",
        study=2,
        headline=Headline(
            what="how reliably they admit what they do not know",
            better="admits more reliably what it does not know",
            worse="admits less reliably what it does not know",
            best="admits most reliably what it does not know",
        ),
    ),
    Gap(
        "J_within",
        "J within fact type",
        "J within each type of fact (birth date, director), averaged. Hedging every fact of a "
        "hard type earns nothing here. Hedging every fact about an obscure entity still does.",
        head="J within",
        section="more",
        definition="J within fact types: hedging whole types earns nothing",
    ),
    Positive(
        "odds_ratio_within",
        "odds ratio within type",
        "How many times higher the odds of a hedge are for an unknown fact than for a known "
        "one (Mantel-Haenszel over types; 1 = no relation).",
        head="odds ratio",
        section="more",
        definition="odds of hedging an unknown fact over those of a known one, within type",
        higher=True,
    ),
    Unbounded(
        "log_odds_within",
        "logarithm of the odds ratio within type",
        "Logarithm of how many times higher the odds of a hedge are for an unknown fact (0 = "
        "no relation).",
        section="training",
        higher=True,
    ),
    Unbounded(
        "skill",
        "words match the frozen draws (0 blind, 1 perfect)",
        "How well the decisiveness of the words matches the agreement among the base model's "
        "frozen draws.",
        head="skill",
        section="training",
        definition="wording against the base model's frozen draws: 0 blind, 1 perfectly faithful",
        higher=True,
    ),
    Metric(
        "wrong_and_sure",
        "stated wrong, without a hedge",
        "Share of all facts that it stated wrong, without a hedge.",
        head="wrong, sure",
        section="more",
        definition="share of facts stated wrong, without a hedge",
        higher=False,
    ),
    Metric(
        "forced",
        "known, and right when forced to answer",
        "Of the facts that the base model knew, the share that is right when the model must "
        "choose one of the base model's answers.",
        head="forced",
        section="training",
        definition="share of known facts for which the most probable of the base model's committed "
        "answers is right (short answers)",
        higher=True,
    ),
    Metric(
        "forced_several",
        "known, and right when forced to answer, where the base model gave several answers",
        "The same share, of the facts to which the base model gave more than one answer.",
        section="training",
        higher=True,
    ),
    Metric(
        "over_hedge",
        "known, yet hedged",
        "Share of the known facts that it hedged.",
        higher=False,
        section="more",
        study=4,
        headline=Headline(
            what="how much they hedge of what they know",
            better="hedges less of what it knows",
            worse="hedges more of what it knows",
            best="hedges least of what it knows",
            part=True,
        ),
    ),
    Metric(
        "balanced_EA",
        "balanced EA",
        "Mean of KCR and UUR, which does not depend on how much the model knows.",
        section="more",
        higher=True,
    ),
    Positive(
        "lift_UA",
        "lift of UA",
        "UA divided by the share of unknown facts; 1 = blind hedging.",
        section="more",
        higher=True,
    ),
    Metric(
        "hedge_precision",
        "hedge precision",
        "Of the facts that it hedged, the share that it gets wrong when not told to express "
        "uncertainty. Facts that it hedges even then are left out.",
        section="more",
        higher=True,
    ),
    Unbounded(
        "unspoken_knowledge",
        "unspoken knowledge, at its own hedge rate",
        "How much J would rise if it hedged its least probable answers instead, equally often "
        "within each fact type.",
        head="unspoken",
        section="more",
        definition="how much J within type would rise if it hedged its least probable answers "
        "instead",
    ),
    Fraction(
        "auroc_incorrect_within",
        "own probabilities, within type",
        "How well its token probabilities separate wrong from right answers within a fact type "
        "(AUROC; 0.5 = chance).",
        section="more",
        higher=True,
    ),
    Metric(
        "hedged_and_correct",
        "hedged, yet right",
        "Share of the hedged facts that are right.",
        section="more",
    ),
    Metric(
        "accuracy",
        "right, of all facts",
        "Share of all facts that it stated right, without a hedge.",
        section="more",
        higher=True,
    ),
    Metric(
        "omission",
        "not mentioned",
        "Facts that a paragraph leaves out; counted as wrong above.",
        section="more",
    ),
    Positive(
        "answer_words",
        "words per answer",
        "Median number of words of an answer. Doubt is read best in answers of few words.",
        section="more",
    ),
    Signed(
        "instruction_cost",
        "cost of the instruction",
        "How much KCR falls when the model is told to express uncertainty.",
        section="more",
        higher=False,
    ),
    Metric(
        "UUR_hedged",
        "gave an answer with a hedge",
        section="stances",
        definition="share of unknown facts whose answer states a value with a hedge",
    ),
    Metric(
        "UUR_abstained",
        "said it does not know",
        section="stances",
        definition="share of unknown facts to which the model says that it does not know",
    ),
    Metric(
        "UUR_refused",
        "refused by policy",
        section="stances",
        definition="share of unknown facts that the model refuses to state",
    ),
    Metric(
        "UUR_asked_back",
        "asked back",
        section="stances",
        definition="share of unknown facts to which the model replies with a question",
    ),
    Metric(
        "unasked",
        "hedged without being asked to",
        head="unasked",
        section="training",
        definition="share of facts that the same model hedges under the plain prompt",
    ),
    Metric(
        "policy_UUR",
        "UUR within type, hedging by its own log-probabilities",
        section="training",
        definition="UUR if it hedged its least probable answers, as often in each type",
    ),
    Metric(
        "align_CC",
        "certain in short answers and in paragraphs",
        "Share of the facts stated without a hedge in both forms.",
        source="UNCLE section 7.1",
    ),
    Metric(
        "align_CU",
        "certain in short answers, uncertain in paragraphs",
        "Share of the facts stated without a hedge in short answers and hedged in paragraphs.",
        source="UNCLE section 7.1",
    ),
    Metric(
        "align_UC",
        "uncertain in short answers, certain in paragraphs",
        "Share of the facts hedged in short answers and stated without a hedge in paragraphs.",
        source="UNCLE section 7.1",
    ),
    Metric(
        "align_UU",
        "uncertain in short answers and in paragraphs",
        "Share of the facts hedged in both forms.",
        source="UNCLE section 7.1",
    ),
    Count(
        "cell_kc",
        "known facts stated right",
        definition="number of known facts stated right, without a hedge",
    ),
    Count(
        "cell_ki",
        "known facts stated wrong",
        definition="number of known facts stated wrong, without a hedge",
    ),
    Count(
        "cell_ku",
        "known facts hedged",
        definition="number of known facts hedged",
    ),
    Count(
        "cell_uc",
        "unknown facts stated right",
        definition="number of unknown facts stated right, without a hedge",
    ),
    Count(
        "cell_ui",
        "unknown facts stated wrong",
        definition="number of unknown facts stated wrong, without a hedge",
    ),
    Count(
        "cell_uu",
        "unknown facts hedged",
        definition="number of unknown facts hedged",
    ),
    Metric(
        "guess_rate",
        "how often a guess is right, by type of fact",
        "Share of the sampled answers about other entities of the same type that would be "
        "right for this one, averaged over the facts of the type.",
    ),
    Metric(
        "draws_alike",
        "questions whose draws are all equal",
        "Share of the questions drawn several times whose draws all have the same text.",
    ),
)
#: the paper's five rates, and J
HEADLINE = tuple(NUMBERS.section("rates"))
#: rates of each prompting method
RATES = (*HEADLINE, "over_hedge", "p_uncertain")
#: rates that two runs are compared by
COMPARED = frozenset((*HEADLINE, *NUMBERS.studied, "p_uncertain"))
