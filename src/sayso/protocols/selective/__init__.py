"""Selective answering: which score tells right answers from wrong ones, and is it only length?

Santilli et al., workshop paper and arXiv 2504.13677. One scored answer and S draws at T=1 of every
question; every score u (higher = less certain) against every answer metric, incorrect = 1:

    AUROC(u)  = P(u of a wrong answer > u of a right one) + P(equal)/2         (section 3)
    PRR(u)    = (area(u) - area(random)) / (area(oracle) - area(random))
    risk(c)   = share wrong among the share c of answers with the lowest u
    ROUGE-L of an answer of N words that holds its m-word reference = 2m/(m+N), so "correct at
    > .5" means N < 3m: length alone then has AUROC 1 - q(1-p) / (2(1-pq)), q = P(N < 3m | right)

Therefore plain length is a mandatory row, and every metric's false negatives are shown by length.
In the shared pool the answer is UNCLE's T=0 row and draws 0-4 are its probes; with ``paper`` it is
a draw at T=0.1 with the paper's frame and stop strings. A fact asked inside a paragraph is scored
by the tokens of its aligned value, and by the draws of its own short question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.later import Later
from sayso.protocols.protocol import Protocol
from sayso.protocols.selective.numbers import NUMBERS
from sayso.protocols.selective.settings import SelectiveDecoding, SelectiveDraws, Settings

__all__ = ["SELECTIVE", "SelectiveDecoding", "SelectiveDraws", "Settings"]

if TYPE_CHECKING:
    from sayso.protocols.selective import asks as _asks
    from sayso.protocols.selective import layouts as _layouts
    from sayso.protocols.selective import measure as _measure
    from sayso.protocols.selective import prompts as _prompts
    from sayso.protocols.selective import report as _report
    from sayso.protocols.selective import run as _run
    from sayso.protocols.selective import scoring as _scoring
else:  # they load much, and a page of help needs nothing of them
    _asks = Later("sayso.protocols.selective.asks")
    _layouts = Later("sayso.protocols.selective.layouts")
    _measure = Later("sayso.protocols.selective.measure")
    _prompts = Later("sayso.protocols.selective.prompts")
    _report = Later("sayso.protocols.selective.report")
    _run = Later("sayso.protocols.selective.run")
    _scoring = Later("sayso.protocols.selective.scoring")


SELECTIVE = Protocol(
    name="selective",
    question="Which score detects errors, and does it beat answer length? (arXiv 2504.13677)",
    Settings=Settings,
    metrics=NUMBERS,
    asked=_asks.asked,
    prompts=_prompts.prompts,
    prompt_uses=_prompts.prompt_uses,
    steps=_run.steps,
    measure=_measure.estimates,
    cautions=_measure.cautions,
    numbers=_measure.numbers,
    report=_report,
    needs=frozenset({"golds"}),
    layouts=_layouts.layouts,
    check_opened=_scoring.check_state_place,
)
