"""Refusals by policy as compiled patterns: what is not said for a rule's sake, not for ignorance.

Composed from ``hedges`` like ``patterns``, and linear like them.
"""

from __future__ import annotations

from sayso.annotate import hedges as h
from sayso.annotate.patterns import DEG, NEG, compiled

CANNOT = rf"""(?:(?:can|could|wo|ca|do|will|would|should|must|shall|dare)\s*{NEG}
        |unable\s+to|not\s+(?:able|allowed
        |permitted|comfortable|
    in\s+a\s+position|authori[sz]ed|at\s+liberty|going|willing|supposed)(?:\s+to|\s+with)?
        |declin(?:e|ing)\s+to|refuse\s+to|
    (?:prefer|rather|choose)\s+not(?:\s+to)?|avoid|refrain\s+from)"""
REFUSAL = compiled(
    rf"""\b{CANNOT}\s+{DEG}(?:be\s+able\s+to\s+)?(?:{h.HAND_OVER}|(?:shar|provid|disclos|discuss
        |giv|reveal|answer|divulg|comment|help|assist|speculat|recommend)ing)\b
    | \bI\b[^.;]{{0,30}}?\b(?:stay|keep|steer|remain)\s+(?:\w+\s+)?(?:neutral|impartial|clear\s+of
        |away\s+from|out\s+of)\b | \boff\s+the\s+table\s+for\s+(?:me|us)\b
    | \bI\b[^.;]{{0,30}}?\bdeclin(?:e|ing)\s+to\s+\w+
    | \b(?:keeps?|kept|prevents?|prevented|bars?|barred|stops?|stopped|forbids?
        |prohibits?)\s+(?:me|us)
        \s+(?:from\s+|to\s+)?\w+ing\b
    | (?:\bun|\bnot\s+|n't\s+|\bnever\s+)(?:\w+\s+){{0,2}}?comfortable\b
    | \b(?:never|do\s*{NEG})\s+(?:\w+\s+)?(?:give\s+out|share|disclose|discuss|reveal|divulge
        |hand\s+out|provide)\b
    | \b(?:is|are|was|'s|it's|be|remain|remains|stays?|kept|keep\w*|considered|treated\s+as
        |deemed)\s+(?:\w+\s+)?(?:(?:a|an)\s+)?(?:\w+\s+)?(?:private|confidential|off[\s-]limits
        |restricted|classified|protected|sensitive)
        (?:\s+(?:information|matter|details?|data|info|topic|subject|matters|one
        |for\s+me))?(?=\s*(?:[,.;!)]|$|and\b|so\b|which\b|that\b|information|for\b))
    | \b(?:private|personal|sensitive|confidential|identifying)\s+(?:information|data|details
        |info|matters?)\b(?=[^.]{{0,60}}\b(?:not|n't|refrain|decline|avoid|won't|cannot|allowed
        |policy)\b)
    | (?:\bnot|n't)\s+(?:permitted|allowed|authori[sz]ed|at\s+liberty|free
        |supposed)\s+to\b(?!\s+(?:know|have))
    | \bnor\s+(?:will|can|do|may|would|should|am|shall)\s+I\b(?!\s+(?:know|recall|remember|sure
        |certain
        |have|tell\s+you\s+w|say\s+w|(?:confirm|verify|identify|determine|establish|name)\b))
    | (?:\bnot|n't)\s+possible\s+for\s+me\s+to\b | \bnot\s+going\s+there\b | \b(?:own
        |none\s+of\s+(?:my|our|your))\s+business\b
    | \b(?:I|we|AI)\b(?:'m|\s+am)?\s*(?:\w+\s+)?(?:do|wo|can|will|would|ca)?(?:\s*n't|not|\s+not
        |\s+never|\s+no\s+longer)\s+(?:\w+\s+)?(?:speculate|predict|forecast|express
        |take\s+(?:sides|positions?)|hold\s+(?:\w+\s+)?opinions?
        |have\s+(?:\w+\s+)?(?:opinions?|feelings|preferences|views)|comment|reproduce|paste|copy
        |quote|endorse|rank|judge|offer|weigh|diagnose|name\s+(?:private|individuals|suspects)
        |post|print|repeat|transcribe|make\s+(?:\w+\s+)?(?:predictions|judg\w+)|go\s+there)\b
    | \bcopyright\w*\b(?=[^.]{{0,60}}\b(?:not|n't|cannot|rules?|reasons?|law|protected|so)\b)
        | \b(?:because\s+of|due\s+to|for)\s+copyright
    | \b(?:conflicts?|inconsistent|incompatible
        |at\s+odds)\s+with\s+(?:\w+\s+){{0,2}}?(?:polic(?:y|ies)|guidelines?|rules?|principles?)
    | \bno\s+(?:answer|information|details?)\s+(?:will|can|may)\s+be\s+(?:provided|given|shared
        |disclosed)
    | \b(?:leave|leaving|keep|keeping)\s+(?:that|this|it|those)\s+(?:out|aside|to\s+(?:her|him
        |them))\b(?!\s+blank)
    | (?:\bno|n't\s+have(?:\s+(?:the|any))?|not\s+have(?:\s+(?:the|any))?
        |lack(?:\s+the)?)\s+(?:ability|means|tools?|capability|permission|authority|clearance
        |live|real-?time)\b(?!\s+to\s+(?:know|verify|confirm|tell))
    | \b(?:my|our|company|the|content|privacy|usage|safety|internal)\s+(?:[\w-]+\s+)?(?:policy
        |policies|guidelines|rules|instructions|guardrails|settings|restrictions|programming
        |filters?)\s+
        (?:\w+\s+)?(?:is\s+not\s+to|are\s+not\s+to|prevents?|prohibits?|forbids?|bars?|blocks?
        |stops?|keeps?\s+me|limits?|restricts?|requires?|says?|asks?\s+me|do(?:es)?\s*{NEG}
        |rules?\s+out|means?\s+I|advises?)
    | \b(?:content|usage|privacy)\s+policy\s*: | \binvasion\s+of\s+(?:\w+\s+)?privacy
    | \b(?:request|question|query|answer|response|content|information|reply|topic|name|address
        |details?)\s+(?:has\s+been\s+|was\s+|is\s+|must\s+be\s+)?(?:denied|declined|refused
        |rejected|blocked|withheld|restricted|redacted|removed|not\s+permitted|disallowed)\b
    | \[?\b(?:redacted|withheld|refused|declined|blocked|content\s+filtered)\b(?=\W*(?:$|for\b
        |due\b|by\b|-|:))
    | \b(?:I|we)(?:\s+can|\s+may|\s+am|'m|\s+was|\s+are|'re)?\s+(?:only|just)\s+(?:able\s+to\s+
        |allowed\s+to\s+|here\s+to\s+|permitted\s+to\s+|designed\s+to\s+|meant\s+to\s+
        |set\s+up\s+to\s+|trained\s+to\s+)?(?:discuss|help|talk|answer|assist|handle|deal|support
        |chat|speak|cover|do)\b
    | \b(?:designed|set\s+up|meant|built|configured|here)\s+(?:only|solely
        |just)?\s*to\s+(?:\w+\s+){{0,3}}?(?:only|answer|help|discuss|talk)\b(?=[^.]*\b(?:only
        |cannot|can't|not|nothing\s+else)\b)
    | \b(?:what|topics?|subjects?|things?)\s+(?:that\s+)?I(?:'m|\s+am)?\s+(?:can|permitted
        |allowed|able|authori[sz]ed)\s+(?:to\s+)?(?:discuss|answer|talk|address|share
        |say)\b(?<!what\sI\scan\ssay)
    | \boff[\s-]limits\b | \bin\s+good\s+conscience | \bcross\w*\s+a\s+(?:line|boundary)
        | \bnot\s+mine\s+to\s+(?:share|tell|give)
    | \b(?:outside|beyond|not\s+within)\s+(?:of\s+)?(?:what\s+I(?:'m|\s+am)\s+(?:allowed
        |permitted|able\s+to\s+(?:discuss|share|help))|my\s+(?:remit|scope|permissions?|mandate
        |purview))
    | \b(?:keep|leave)\s+(?:that|this|it|those|such|her|his|their)\s+(?:\w+\s+)?(?:private
        |confidential|out\s+of\s+(?:this|it)|undisclosed)
    | \b(?:irresponsible|unethical|inappropriate|improper|unwise
        |unsafe)\b(?=[^.]{{0,40}}(?:\bto\b|\bso\b|\bfor\s+me\b|\bof\s+me\b))
    | \bnot\s+(?:a|your)\s+(?:doctor|physician|lawyer|attorney|pharmacist|medical\s+professional
        |clinician|financial\s+advis[eo]r)\b
    | (?:\bnot|n't)\s+(?:\w+\s+)?(?:qualified|licensed|entitled|cleared|programmed|enabled)\s+to\b
    | (?:\bnot|n't)\s+(?:be\s+)?(?:able|in\s+a\s+position|allowed|permitted|free|supposed
        |authori[sz]ed)\s+to\s+(?:[\w-]+(?:\s+or\s+|\s*,\s*)){{1,2}}(?:share|give|disclose
        |provide|recommend|discuss|reveal)
    | \b(?:can|could)(?:\s*n't|not|nt|\s+not)\s+(?:give|offer|provide
        |dispense)\s+(?:\w+\s+)?(?:medical|legal|financial|health|investment|tax)
    | (?:\bnot|n'?t)\s+(?:something|anything|information|a\s+\w+)\s+(?:that\s+
        |which\s+)?I(?:\s*'m|\s+am)?\s+(?:can|could|able|allowed|permitted|comfortable
        |at\s+liberty|will|do|share|disclose|discuss)\b(?!\s*(?:n'?t|not)?\s*{DEG}(?:{h.ESTABLISH}
        |answer|help
        |supply|offer)\b)
    | \b(?:(?:prefer|rather)\s+not(?:\s+to)?|not\s+(?:going|allowed|permitted
        |at\s+liberty)\s+to)\s+say\b(?!\s+(?:for|with))
    | \bI\s+(?:must|have\s+to|will\s+have\s+to|need\s+to|should)\s+(?:respectfully\s+
        |politely\s+)?decline
    | \bI\s+(?:respectfully\s+)?decline\b
    | \b(?:would|will|is|wo|'s|might|not|feels?|seems?)\s*(?:be\s+|not\s+be\s+|n't\s+be\s+|not\s+
        |n't\s+)?(?:in
        |un|im|ir)?(?:appropriate|ethical|right|responsible|proper|fair)\s+(?:(?:for
        |of)\s+me\s+)?to\s+(?!say\s+that)
    | \blet(?:'s|\s+us|\s+me)\s+respect\b
    | \b(?:that|this|it)\s+would\s+(?:be\s+(?:inappropriate|unethical|a\s+violation|against
        |harmful)|violate|breach|go\s+against)
    | \b(?:violat\w+|breach\w*|goes?\s+against|contraven\w+)\s+(?:\w+\s+){{0,3}}?(?:polic(?:y
        |ies)|guidelines?|rules?|terms|privacy)\b
    | \bagainst\s+(?:my|our|the)\s+(?:\w+\s+)?(?:polic(?:y|ies)|guidelines?|programming|rules
        |principles)\b
    | \b(?:for|due\s+to|because\s+of|out\s+of)\s+(?:\w+\s+)?(?:privacy|confidentiality|safety
        |policy|legal)\b
    | \b(?:protect|respect)\s+(?:\w+\s+){{0,3}}privacy
    | \b(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|programming|policies|policy|rules
        |safety\s+\w+)\s+(?:do\s*n[o']t|does\s*n[o']t|prevent|prohibit|forbid|restrict|require)"""
)
RULES = compiled(rf"\b{h.POLICY}\b")
KNOWING = compiled(rf"\b{h.ABOUT_KNOWING}\b")

REFUSING = compiled(rf"\b{CANNOT}")
#: Refusals whose subject need not be the speaker: "it wouldn't be appropriate to share that".
STANDING = compiled(
    r"\b(?:in|un|im|ir)?(?:appropriate|ethical|right|responsible|proper)\b|\bcomfortable\b"
)
