"""Factuality along a long text, and whether the model recognises its own claims.

Tu et al., "Investigating Factuality in Long-Form Text Generation: The Roles of Self-Known and
Self-Unknown", arXiv 2411.15993. A text is cut into sentences and claims; each claim is supported
(S), not supported (NS) or irrelevant (IR):

    factuality of a part of the text = S / (S + NS) of the sentences with i/n in (lo, hi]
    SK = share of supported claims that the model judges correct                    (section 4)
    SU = share of unsupported claims that it judges not correct
    F  = (1 - SU) / (2 - SU - SK)                                             (Equation 3)

In the shared pool the text is UNCLE's T=0 paragraph. The model judges its claims without the
source, alone and as question and answer; Equation 3 is fitted on other texts than it predicts, and
beside that on the same claims, as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.later import Later
from sayso.protocols.protocol import Protocol
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.settings import SelfKnownDecoding, SelfKnownDraws, Settings

__all__ = ["SELF_KNOWN", "SelfKnownDecoding", "SelfKnownDraws", "Settings"]

if TYPE_CHECKING:
    from sayso.protocols.self_known import cautious as _cautious
    from sayso.protocols.self_known import layouts as _layouts
    from sayso.protocols.self_known import measure as _measure
    from sayso.protocols.self_known import prompts as _prompts
    from sayso.protocols.self_known import report as _report
    from sayso.protocols.self_known import run as _run
else:  # they load much, and a page of help needs nothing of them
    _cautious = Later("sayso.protocols.self_known.cautious")
    _layouts = Later("sayso.protocols.self_known.layouts")
    _measure = Later("sayso.protocols.self_known.measure")
    _prompts = Later("sayso.protocols.self_known.prompts")
    _report = Later("sayso.protocols.self_known.report")
    _run = Later("sayso.protocols.self_known.run")


SELF_KNOWN = Protocol(
    name="self_known",
    question=(
        "Where in a long text do errors occur, and does the model recognize them? "
        "(arXiv 2411.15993)"
    ),
    Settings=Settings,
    metrics=NUMBERS,
    check_opened=_cautious.check_continues,
    prompts=_prompts.prompts,
    prompt_uses=_prompts.prompt_uses,
    steps=_run.steps,
    measure=_measure.estimates,
    cautions=_measure.cautions,
    numbers=_measure.numbers,
    report=_report,
    needs=frozenset({"texts"}),
    layouts=_layouts.layouts,
)
