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

from typing import TYPE_CHECKING

from sayso.later import Later
from sayso.protocols.protocol import Protocol
from sayso.protocols.uncle.numbers import NUMBERS
from sayso.protocols.uncle.settings import KnowledgeProbe, Settings, UncleDecoding

__all__ = ["UNCLE", "KnowledgeProbe", "Settings", "UncleDecoding"]

if TYPE_CHECKING:
    from sayso.protocols.uncle import asked as _asked
    from sayso.protocols.uncle import known_from as _known_from
    from sayso.protocols.uncle import layouts as _layouts
    from sayso.protocols.uncle import measure as _measure
    from sayso.protocols.uncle import notes as _notes
    from sayso.protocols.uncle import prompts as _prompts
    from sayso.protocols.uncle import report as _report
    from sayso.protocols.uncle import run as _run
else:  # they load much, and a page of help needs nothing of them
    _asked = Later("sayso.protocols.uncle.asked")
    _known_from = Later("sayso.protocols.uncle.known_from")
    _layouts = Later("sayso.protocols.uncle.layouts")
    _measure = Later("sayso.protocols.uncle.measure")
    _notes = Later("sayso.protocols.uncle.notes")
    _prompts = Later("sayso.protocols.uncle.prompts")
    _report = Later("sayso.protocols.uncle.report")
    _run = Later("sayso.protocols.uncle.run")


UNCLE = Protocol(
    name="uncle",
    question="Does it admit knowledge gaps, in short and long answers? (UNCLE, arXiv 2505.16922)",
    Settings=Settings,
    metrics=NUMBERS,
    prompts=_prompts.prompts,
    prompt_uses=_prompts.prompt_uses,
    steps=_run.steps,
    measure=_measure.estimates,
    cautions=_notes.cautions,
    numbers=_measure.numbers,
    check_pair=_notes.check_probes,
    study_notes=_notes.study_notes,
    report=_report,
    needs=frozenset({"golds", "instruction"}),
    layouts=_layouts.layouts,
    asked=_asked.asked,
    check_opened=_known_from.check_probed,
)
