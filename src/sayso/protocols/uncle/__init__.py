"""UNCLE: does the model voice uncertainty exactly where it lacks the knowledge?

Yang et al., "UNCLE: Benchmarking Uncertainty Expressions in Long-Form Generation",
arXiv 2505.16922. Every aspect is asked twice, alone (short) and inside a paragraph (long). Facts
that stand in no paragraph, and with ``short_only`` all facts, are asked alone.

    known    = any of k=5 draws of the plain short question at T=1 is correct        (section 4)
    label    = S correct | NS incorrect | UNC uncertain, of the instructed T=0 answer (section 4)
    cells    kc ki ku uc ui uu  =  known/unknown x correct/incorrect/uncertain
    FA  = (kc+uc)/(kc+uc+ki+ui)     UA  = uu/(ku+uu)          EA = (kc+uu)/N
    KCR = kc/(kc+ki+ku)             UUR = uu/(uc+ui+uu)       J  = UUR - ku/(kc+ki+ku)

FA, UA, UUR, KCR and EA are the paper's; J is ours, because it is 0 for every policy that hedges
blindly. An omitted aspect counts as NS (appendix B); hedged but correct is UNC.
"""

from __future__ import annotations

from sayso.protocols.protocol import Protocol
from sayso.protocols.uncle import collect, compare, measure, settings
from sayso.protocols.uncle.collect import PARAGRAPHS
from sayso.protocols.uncle.settings import KnowledgeProbe, Settings, UncleDecoding

__all__ = ["UNCLE", "KnowledgeProbe", "Settings", "UncleDecoding"]

UNCLE = Protocol(
    name="uncle",
    question="Does it admit knowledge gaps, in short and long answers? (UNCLE, arXiv 2505.16922)",
    Settings=Settings,
    check=settings.check,
    prompts=collect.prompts,
    requests=collect.requests,
    collect=collect.collect,
    is_judged=collect.is_judged,
    unpriced=collect.unpriced,
    measure=measure.estimates,
    cautions=measure.cautions,
    misfit=measure.misfit,
    compare=compare.compare,
    numbers=compare.numbers,
    off_by_default=(
        *("propensity", "wordings", "probe_wordings", "methods", "probe.slick"),
        "short_only",
    ),
    may_shrink=("probe.k",),
    signed_prompts=("wordings", "probe_wordings", "methods", PARAGRAPHS),
    draws_stage="probe",
    probing=settings.knowledge_draws,
    asked=collect.asked,
    needs_golds=True,
    asks_anew=True,
    check_model=collect.check_untrained,
    check_other_runs=collect.check_known_from,
)
