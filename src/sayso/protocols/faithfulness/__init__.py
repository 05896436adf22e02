"""Faithfulness: do a model's words show as much doubt as it has when asked again?

Yona, Aharoni and Geva, "Can Large Language Models Faithfully Express Their Intrinsic Uncertainty in
Words?", arXiv 2405.16908. For every assertion A of an answer R:

    dec(A)  = the probability a reader gives to A from the wording of R alone         (section 3)
    conf(A) = 1 - (draws of the plain question that contradict A) / k,  k = 20        (Equation 2)
    f(R)    = 1 - mean over A of |dec(A) - conf(A)|                                   (Definition 1)
    MFG     = mean of f,   cMFG = mean over bins of conf of the mean f in each        (section 3)
    skill   = (cMFG - permuted) / (1 - permuted),  0 for any wording that ignores conf      (ours)

skill is the headline: cMFG of a constant "50/50" is .75, of words dealt at random .5 to .67. In the
shared pool the plain answers are UNCLE's, and draws 0-4 are its probes. A fact told inside a
paragraph (none of the papers does it) is joined to the draws of its own short question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.later import Later
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.settings import (
    Demos,
    FaithfulnessDecoding,
    FaithfulnessDraws,
    Settings,
)
from sayso.protocols.protocol import Protocol

__all__ = ["FAITHFULNESS", "Demos", "FaithfulnessDecoding", "FaithfulnessDraws", "Settings"]

if TYPE_CHECKING:
    from sayso.protocols.faithfulness import layouts as _layouts
    from sayso.protocols.faithfulness import measure as _measure
    from sayso.protocols.faithfulness import prompts as _prompts
    from sayso.protocols.faithfulness import report as _report
    from sayso.protocols.faithfulness import run as _run
else:  # they load much, and a page of help needs nothing of them
    _layouts = Later("sayso.protocols.faithfulness.layouts")
    _measure = Later("sayso.protocols.faithfulness.measure")
    _prompts = Later("sayso.protocols.faithfulness.prompts")
    _report = Later("sayso.protocols.faithfulness.report")
    _run = Later("sayso.protocols.faithfulness.run")


FAITHFULNESS = Protocol(
    name="faithfulness",
    question="Do the model's hedges match its own consistency? (arXiv 2405.16908)",
    Settings=Settings,
    metrics=NUMBERS,
    prompts=_prompts.prompts,
    prompt_uses=_prompts.prompt_uses,
    steps=_run.steps,
    measure=_measure.estimates,
    cautions=_measure.cautions,
    numbers=_measure.numbers,
    check_pair=_measure.check_methods,
    study_notes=_measure.study_notes,
    report=_report,
    needs=frozenset({"draws"}),
    layouts=_layouts.layouts,
)
