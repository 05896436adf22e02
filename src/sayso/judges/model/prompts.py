"""The requests of a judge model: its labels, its prompts, the fenced data, the form of its reply.

A label stands for a stance and a content at once. ``uncle`` are the paper's three
labels (arXiv 2505.16922), with one of ours for an aspect that a paragraph
does not mention, which the paper counts as NS without saying so. ``grades`` are the four of
AA-Omniscience (Jackson et al. 2025, arXiv 2511.13029), where doubt does not count.

Sources of the prompts: ``judge_uncle*`` and the block form UNCLE (arXiv 2505.16922, section 3
and its released grammar); ``judge_stance*`` and ``judge_second`` the project's labelling guide
(benchmarks/data/STANCE_GUIDE.md). All in our own words; a user overrides one with a file of its
name in ``prompt_folder``.

A prompt is: what is shown, the task, the form of the reply, how the fence works, the code and the
fenced data, and a line that says where they end. All that stands before the marker is the same in
every call of a kind, so that a prefix cache serves it. Everything is one user message, since not
every chat template has a system role. A ``judge_short`` or ``judge_long`` with a header
(:mod:`sayso.prompts.templates`) is a paper's prompt as it stands, behind how the fence works.

The *brief* prompts are for small models: one decision a call, a reply of one word, and all of it
said before the data, so that every call of a kind begins alike. Their fence is the field in front
of each line, without marker and code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sayso.options import Labels, PromptSet
from sayso.prompts import check_folder, load_prompt, prompt_hash
from sayso.prompts.fence import Fence, Field, fence, headed, visible_text
from sayso.prompts.templates import Template, fill, read_template
from sayso.records import Content, Gold, InputError, Message, Request, Stance

Form = Literal["short", "long"]
Output = Literal["json", "blocks", "word"]
FORMS: tuple[Form, ...] = ("short", "long")
#: One call or the first and second of two; or a decision of the brief prompts.
Step = Literal["one", "first", "second", "mention", "doubt", "value", "right"]

# ---- labels

#: ``None`` as content: a second call decides it.
Meaning = tuple[Stance | None, Content | None]


class Vocabulary(NamedTuple):
    """The labels of one kind of call; ``omitted`` is the one for what a text does not mention."""

    names: tuple[str, ...]
    meaning: Mapping[str, Meaning]
    omitted: str

    def read(self, label: str) -> str | None:
        """Return the label that was meant, or ``None``: case and separators do not matter."""
        plain = _SEPARATOR.sub("-", label.strip().casefold()).strip("-")
        plain = _SAME.get(plain, plain)
        return next((n for n in self.names if n.casefold() == plain), None)

    def without_omitted(self) -> Vocabulary:
        """Return the labels of short answers in the paper's scheme, which has no omission there."""
        return self._replace(names=tuple(n for n in self.names if n != self.omitted))


_SEPARATOR = re.compile(r"[\s_/,:+-]+")
#: Spellings of a label that mean the same.
_SAME = {
    "abstained-none": "abstained",
    "refused-by-policy": "refused",
    "refused-none": "refused",
    "refused-by-policy-none": "refused",
    "asked-back-none": "asked-back",
    "omitted-none": "omitted",
}


def _vocabulary(meaning: dict[str, Meaning], omitted: str) -> Vocabulary:
    return Vocabulary(tuple(meaning), meaning, omitted)


_SILENT: dict[str, Meaning] = {
    "abstained": ("abstained", "none"),
    "refused": ("refused_by_policy", "none"),
    "asked-back": ("asked_back", "none"),
    "omitted": ("omitted", "none"),
}

#: One call for stance and content.
ONE_PASS: dict[Labels, Vocabulary] = {
    "stance": _vocabulary(
        {
            "committed-correct": ("committed", "correct"),
            "committed-incorrect": ("committed", "incorrect"),
            "hedged-correct": ("hedged", "correct"),
            "hedged-incorrect": ("hedged", "incorrect"),
            "hedged-none": ("hedged", "none"),
            **_SILENT,
        },
        "omitted",
    ),
    "uncle": _vocabulary(
        {
            "S": ("committed", "correct"),
            "NS": ("committed", "incorrect"),
            "UNC": ("hedged", "none"),
            "OMIT": ("omitted", "none"),
        },
        "OMIT",
    ),
    "grades": _vocabulary(
        {
            "CORRECT": ("committed", "correct"),
            "PARTIAL": ("committed", "partial"),
            "INCORRECT": ("committed", "incorrect"),
            "NOT-ATTEMPTED": ("abstained", "none"),
            "OMITTED": ("omitted", "none"),
        },
        "OMITTED",
    ),
}

#: First of two calls: which aspects are uncertain?
FIRST: dict[Labels, Vocabulary] = {
    "stance": _vocabulary(
        {"committed": ("committed", None), "hedged": ("hedged", None), **_SILENT}, "omitted"
    ),
    "uncle": _vocabulary(
        {
            "certain": ("committed", None),
            "UNC": ("hedged", "none"),
            "OMIT": ("omitted", "none"),
        },
        "OMIT",
    ),
}

#: Second of two calls: does the value agree with the golds?
SECOND = _vocabulary(
    {"correct": (None, "correct"), "incorrect": (None, "incorrect"), "none": (None, "none")}, ""
)


#: The decisions of the brief prompts, in order: does a paragraph speak of the aspect? Is there
#: doubt, or no knowledge? If so, is there a value all the same? Is the value that of the gold?
DECISIONS: tuple[Step, ...] = ("mention", "doubt", "value", "right")
#: What decides nothing leads to the next decision.
BRIEF_WORDS: dict[Step, Vocabulary] = {
    "mention": _vocabulary({"yes": (None, None), "no": ("omitted", "none")}, ""),
    "doubt": _vocabulary({"sure": ("committed", None), "unsure": (None, None)}, ""),
    "value": _vocabulary({"yes": ("hedged", None), "no": ("abstained", "none")}, ""),
    "right": _vocabulary({"same": (None, "correct"), "different": (None, "incorrect")}, ""),
}


def brief_vocabulary(labels: Labels, step: Step) -> Vocabulary:
    """Return the labels of a decision; all doubt is the same UNC to UNCLE, right or wrong."""
    words = BRIEF_WORDS[step]
    if labels == "stance" or step != "doubt":
        return words
    return words._replace(meaning={**words.meaning, "unsure": ("hedged", "none")})


def vocabulary(labels: Labels, step: Step, form: Form) -> Vocabulary:
    """Return the labels of a call."""
    if step == "second":
        return SECOND
    words = (ONE_PASS if step == "one" else FIRST)[labels]
    return words.without_omitted() if labels != "stance" and form == "short" else words


#: What a label of a user's own prompt may mean (``templates.WHOLE``): all of the above.
OWN: dict[str, Meaning] = {
    **ONE_PASS["uncle"].meaning,
    **ONE_PASS["stance"].meaning,
    "correct": ("committed", "correct"),
    "incorrect": ("committed", "incorrect"),
    "partial": ("committed", "partial"),
}


def own_vocabulary(template: Template) -> Vocabulary:
    """Return the labels of a user's own prompt."""
    return Vocabulary(
        tuple(label for label, _ in template.labels.values()),
        {label: OWN[meaning] for label, meaning in template.labels.values()},
        "",
    )


def combine(stance: Stance, content: Content | None) -> tuple[Stance, Content] | None:
    """Return stance and content if they can stand together, else ``None``.

    A committed answer has a value, so its content is never "none"; without a value there is none.
    """
    if content is None:
        return None
    if stance == "committed":
        return (stance, content) if content != "none" else None
    if stance == "hedged":
        return stance, content
    return (stance, content) if content == "none" else None


# ---- requests

#: Changes when the layout of this module changes what a judge reads.
LAYOUT, BRIEF_LAYOUT = "3", "1"
#: Tokens that a judge may use for each question, and for the rest of a call.
TOKENS_PER_PART = 256
TOKENS_PER_CALL = 256
#: The last line of a brief prompt; each of its examples ends in such a line with the reply.
BRIEF_CUE = "reply:"
#: Tokens of a reply that is a word: some models put a sentence around it, which is not read.
TOKENS_PER_WORD = 16
#: More names of golds than these are not shown (one aspect may have hundreds of cast members).
MOST_GOLDS = 60
MOST_ALIASES = 8
#: Characters of a question or a gold.
LONGEST_LINE = 2000

_TASKS: dict[tuple[Labels, Step], str] = {
    ("stance", "one"): "judge_stance",
    ("stance", "first"): "judge_stance_first",
    ("stance", "second"): "judge_second",
    ("uncle", "one"): "judge_uncle",
    ("uncle", "first"): "judge_uncle_first",
    ("uncle", "second"): "judge_second",
    ("grades", "one"): "judge_grades",
}


#: what a hint says of prompts that only a model is sent
BY_MODEL = "--judge MODEL"


#: The prompts of the brief set.
BRIEF = (*(f"judge_brief_{step}" for step in DECISIONS), "judge_brief_fence", "judge_again")


def judge_prompt_uses(
    labels: Labels, two_pass: bool, by_model: bool, prompt_set: PromptSet = "full"
) -> dict[str, str]:
    """Return the prompts that a judge can be sent: each with "", or the flag that it needs."""
    steps: tuple[Step, ...] = ("first", "second") if two_pass else ("one",)
    sent = {_TASKS[labels, step] for step in steps}
    uses = {
        name: "" if name in sent else f"--set judge_labels={kind}{MODES[step]}"
        for (kind, step), name in reversed(_TASKS.items())
    } | dict.fromkeys(sent, "")
    common = (
        "short", "long", "omitted", "blocks", "json", "fence", "material", "retry", "again"
    )  # fmt: skip
    uses |= {f"judge_{name}": "" for name in common}
    if prompt_set == "brief":
        uses = dict.fromkeys(uses, "--set judge_prompt=full") | dict.fromkeys(BRIEF, "")
    else:
        uses = dict.fromkeys(BRIEF, "--set judge_prompt=brief") | uses
    return uses if by_model else dict.fromkeys(uses, BY_MODEL)


MODES: dict[str, str] = {
    "one": " --set judge_mode=one_pass",
    "first": " --set judge_mode=two_pass",
    "second": " --set judge_mode=two_pass",
}


class JudgedPart(NamedTuple):
    """One thing to be judged: a question, its golds, and the text that may answer it."""

    form: Form
    question: str
    golds: tuple[Gold, ...]
    text: str


class JudgePrompts(NamedTuple):
    """The prompts that one judge uses, by name, and a hash of them all.

    ``own`` are those of a user that are taken whole, by the form of the answers that they judge.
    ``brief``: one decision a call, and a word as its reply.
    """

    texts: dict[str, str]
    hash: str
    own: Mapping[Form, Template]
    brief: bool = False

    def vocabulary(self, labels: Labels, step: Step, form: Form) -> Vocabulary:
        """Return the labels of a call."""
        if self.brief:
            return brief_vocabulary(labels, step)
        own = self.own.get(form)
        return vocabulary(labels, step, form) if own is None else own_vocabulary(own)


class JudgeRequest(NamedTuple):
    """A request to the judge and what its reply is held against."""

    request: Request
    parts: tuple[JudgedPart, ...]
    code: str
    output: Output
    step: Step
    own: Template | None = None


def load_judge_prompts(
    labels: Labels, steps: Sequence[Step], output: Output, folder: Path | None
) -> JudgePrompts:
    """Load every prompt that a judge of this kind uses.

    Raises InputError for an override that cannot be read or used.
    """
    check_folder(folder)
    # The block form is always among them: a reply that is no JSON is asked for again in it.
    names = [
        *dict.fromkeys(_TASKS[labels, step] for step in steps),
        "judge_short", "judge_long", "judge_omitted", "judge_blocks", "judge_fence",
        "judge_material", "judge_retry",
    ]  # fmt: skip
    if output == "json":
        names.append("judge_json")
    texts = {name: load_prompt(name, folder) for name in names}
    own: dict[Form, Template] = {}
    for form in FORMS:
        name = f"judge_{form}"
        template = read_template(name, texts[name], f"{folder}/{name}.txt")
        if template is not None and steps != ("one",):
            raise InputError(
                f"{folder}/{name}.txt: has a header, so it is asked in one call; leave "
                "--set judge_mode=two_pass out"
            )
        if template is not None:
            own[form] = template
    if own:
        texts["judge_again"] = load_prompt("judge_again", folder)
    joined = "\0".join([LAYOUT, *(f"{name}\0{text}" for name, text in texts.items())])
    return JudgePrompts(texts, prompt_hash(joined), own)


def load_brief_prompts(folder: Path | None) -> JudgePrompts:
    """Load the prompts of one decision a call.

    Raises InputError for an override that cannot be read or used.
    """
    check_folder(folder)
    texts = {name: load_prompt(name, folder) for name in BRIEF}
    joined = "\0".join([BRIEF_LAYOUT, *(f"{name}\0{text}" for name, text in texts.items())])
    return JudgePrompts(texts, prompt_hash(joined), {}, brief=True)


def judge_request(
    prompts: JudgePrompts,
    labels: Labels,
    step: Step,
    parts: Sequence[JudgedPart],
    output: Output,
    *,
    retry: bool = False,
    tokens: int | None = None,
) -> JudgeRequest:
    """Return the request for some parts of one form; long parts share one text.

    ``tokens`` limits the reply (default: 256 for the call and 256 for each part).
    """
    form = parts[0].form
    tokens = tokens or TOKENS_PER_CALL + TOKENS_PER_PART * len(parts)
    if prompts.brief:
        return _compose_brief(prompts, step, parts, retry=retry, tokens=tokens)
    if form in prompts.own:
        return _compose_own(prompts, parts, retry=retry, tokens=tokens)
    words = vocabulary(labels, step, form)
    data = fence(_fields(parts, step))
    texts = prompts.texts
    known = {
        "{marker}": data.marker,
        "{code}": data.code,
        "{count}": str(len(parts)),
        "{labels}": ", ".join(words.names),
        "{omitted}": words.omitted,
    }
    pieces = [texts[f"judge_{form}"], texts[_TASKS[labels, step]]]
    if form == "long" and step != "second":  # the second call only sees what was mentioned
        pieces.append(_fill(texts["judge_omitted"], known))
    pieces += [
        *(_fill(texts[name], known) for name in (f"judge_{output}", "judge_fence")),
        material(texts["judge_material"], data, len(parts)),
    ]
    if retry:
        pieces.append(texts["judge_retry"])
    request = Request(
        messages=(Message("user", "\n\n".join(pieces)),),
        temperature=0.0,
        max_tokens=tokens,
        response_format=schema(words.names) if output == "json" else None,
    )
    return JudgeRequest(request, tuple(parts), data.code, output, step)


def _compose_brief(
    prompts: JudgePrompts, step: Step, parts: Sequence[JudgedPart], *, retry: bool, tokens: int
) -> JudgeRequest:
    """Return the request for one decision about one part: what to do, then the data.

    Nothing before the data depends on them, so all calls for a decision begin alike.
    """
    (part,) = parts
    names = BRIEF_WORDS[step].names
    known = {"{labels}": " or ".join(names), "{fence}": prompts.texts["judge_brief_fence"]}
    task = _fill(prompts.texts[f"judge_brief_{step}"], known)
    golds = golds_shown(part.golds) if step == "right" else []
    data = headed(
        [
            Field("question", short_line(part.question)),
            *(Field("gold", short_line(gold)) for gold in golds),
            Field("answer", part.text),
        ]
    )
    ends = [data, *([prompts.texts["judge_again"]] if retry else []), BRIEF_CUE]
    message = Message("user", f"{task}\n\n" + "\n".join(ends))
    request = Request((message,), temperature=0.0, max_tokens=tokens)
    return JudgeRequest(request, (part,), "", "word", step)


def _compose_own(
    prompts: JudgePrompts, parts: Sequence[JudgedPart], *, retry: bool, tokens: int
) -> JudgeRequest:
    """Return the request of a prompt that is taken whole: only what others wrote is fenced."""
    form = parts[0].form
    template = prompts.own[form]
    once = {"paragraph": [Field("paragraph", parts[0].text)]} if form == "long" else {}
    entries = []
    for number, part in enumerate(parts, 1):
        golds = [Field(f"{number} gold", short_line(gold)) for gold in golds_shown(part.golds)]
        entry = {
            "question": [Field(f"{number} question", short_line(part.question))],
            "golds": golds,
        }
        if form == "short":
            entry["answer"] = [Field(f"{number} answer", part.text)]
        entries.append(entry)
    text, data = fill(template, once, entries)
    pieces = [_fill(prompts.texts["judge_fence"], {"{marker}": data.marker}), text]
    if retry:
        pieces.append(prompts.texts["judge_again"])
    request = Request((Message("user", "\n\n".join(pieces)),), temperature=0.0, max_tokens=tokens)
    return JudgeRequest(request, tuple(parts), data.code, "blocks", "one", template)


def _fill(text: str, known: dict[str, str]) -> str:
    """Put our own words for names in braces; no data passes through here."""
    for name, value in known.items():
        text = text.replace(name, value)
    return text


def material(template: str, data: Fence, count: int) -> str:
    """Return the fenced data of a call with its code and the number of its texts."""
    return data.in_template(template.replace("{count}", str(count)))


def _fields(parts: Sequence[JudgedPart], step: Step) -> list[Field]:
    """Return the data of a call: the paragraph once, or an answer for each question.

    The first of two calls is about wording alone and shows no golds.
    """
    fields = []
    if parts[0].form == "long":
        fields.append(Field("paragraph", parts[0].text))
    for number, part in enumerate(parts, 1):
        fields.append(Field(f"{number} question", short_line(part.question)))
        if step != "first":
            golds = golds_shown(part.golds)
            fields += [Field(f"{number} gold", short_line(gold)) for gold in golds]
        if part.form == "short":
            fields.append(Field(f"{number} answer", part.text))
    return fields


def short_line(text: str) -> str:
    """Return a question or gold as one line of at most 2,000 characters.

    A second line of a gold would look like a second gold, and one of a question cannot be repeated.
    """
    return " ".join(visible_text(text, LONGEST_LINE).split("\n"))


def golds_shown(golds: Sequence[Gold]) -> list[str]:
    """Return one line for each gold: the value, its unit, other names of it."""
    if not golds:
        return ["(no gold answer is known)"]
    lines = []
    for gold in golds[:MOST_GOLDS]:
        line = f"{gold.value} {gold.unit}" if gold.unit else gold.value
        if gold.aliases:
            line += f" (also: {'; '.join(gold.aliases[:MOST_ALIASES])})"
        lines.append(line)
    if len(golds) > MOST_GOLDS:
        lines.append(f"(and {len(golds) - MOST_GOLDS} more, not shown)")
    return lines


def schema(names: Sequence[str]) -> str:
    """Return ``Request.response_format``: a named JSON schema of a reply with these labels.

    It holds nothing of the data, so that a server compiles it once.
    """
    verdict = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "question": {"type": "string"},
            "analysis": {"type": "string"},
            "label": {"type": "string", "enum": list(names)},
        },
        "required": ["number", "question", "analysis", "label"],
        "additionalProperties": False,
    }
    whole = {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "verdicts": {"type": "array", "items": verdict},
        },
        "required": ["code", "verdicts"],
        "additionalProperties": False,
    }
    return json.dumps({"name": "verdicts", "schema": whole}, separators=(",", ":"))
