"""What a self_known run asks for: texts, their draws, texts with passages, revised texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sayso.prompts import load_prompt
from sayso.prompts.fence import visible_text
from sayso.protocols.protocol import Ask
from sayso.protocols.self_known.claims import topic_of
from sayso.protocols.self_known.rows import STAGE
from sayso.protocols.self_known.settings import Settings
from sayso.protocols.settings import folder_setting, tokens_for
from sayso.records import Claim, Generation, Passage, Question, ask
from sayso.retrieval.sources import GOLDS

UNSENT = "self_open.txt is not sent: the data have prompts of their own; --set ask=open sends it"
#: the draw that a text at T > 0 is: none of the draws in which its claims are looked for
ANSWER_SAMPLE = 3000
#: characters of one passage that are shown
LONGEST_PASSAGE = 4000


def text_questions(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that texts are written for: those of paragraphs, if there are any."""
    long = [q for q in questions if q.parts]
    return long or list(questions)


def claim_source(questions: Sequence[Question], settings: Settings) -> str:
    """Return what claims are checked against; empty where there is nothing."""
    if settings.knowledge != "auto":
        return "" if settings.knowledge == "none" else settings.knowledge
    if all(q.dataset == "builtin" for q in questions):
        return "builtin"
    return GOLDS if any(q.golds for q in questions if not q.parts) else ""


def topic_prompt(question: Question, settings: Settings) -> str:
    """Return what is asked for: the data's own prompt, or its subject alone.

    A user's ``self_open`` replaces the prompts of topics and biographies, which want no fact.
    """
    if _is_open(question, settings):
        template = load_prompt("self_open", folder_setting(settings.prompt_folder))
        return template.replace("{topic}", topic_of(question) or question.text)
    return f"{question.context}\n\n{question.text}" if question.context else question.text


def _has_open(settings: Settings) -> bool:
    """Return whether the prompt of topics is a user's."""
    folder = folder_setting(settings.prompt_folder)
    return folder is not None and (folder / "self_open.txt").exists()


def lacks_open(questions: Sequence[Question], settings: Settings) -> bool:
    """Return whether a user's prompt of topics is sent with no question."""
    return _has_open(settings) and not any(_is_open(q, settings) for q in text_questions(questions))


def _is_open(question: Question, settings: Settings) -> bool:
    """Return whether a text is asked for by its topic alone."""
    if settings.ask != "auto" or not question.text.strip():
        return settings.ask != "item"
    bare = not (question.parts or question.golds) and bool(topic_of(question))
    return bare and _has_open(settings)


def text_requests(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    shown: Mapping[str, Sequence[Passage]],
) -> list[Ask]:
    """Return the request for every text, its draws, and the text with passages ``shown``."""
    heat, tokens = settings.answer.temperature, tokens_for(settings.answer, "long")
    own = ANSWER_SAMPLE if heat > 0 else 0
    texts = text_questions(questions)
    asks = []
    for q in texts:
        text = topic_prompt(q, settings)
        given = {"max_tokens": tokens, "seed": seed}
        plain = ask(text, temperature=heat, sample=own, **given)
        asks.append(Ask(q, plain, STAGE, STAGE))
        for sample in range(settings.draws.k):
            drawn = ask(text, temperature=settings.draws.temperature, sample=sample, **given)
            asks.append(Ask(q, drawn, f"{STAGE}-draws", STAGE))
        if settings.retrieval:
            passages = "\n\n".join(
                visible_text(p.text, LONGEST_PASSAGE).strip() for p in shown.get(q.id, ())
            )
            template = load_prompt("self_retrieval", folder_setting(settings.prompt_folder))
            before, _, after = template.partition("{passages}")
            filled = before + (passages or "(none)") + after.replace("{prompt}", text)
            request = ask(filled, temperature=heat, sample=own, **given)
            asks.append(Ask(q, request, STAGE, STAGE, "retrieval"))
    return asks


def revision_request(
    g: Generation, rejected: Sequence[Claim], question: Question, settings: Settings, seed: int
) -> Ask:
    """Return the request to write a text once more without the claims that were rejected."""
    pieces = {
        "{prompt}": topic_prompt(question, settings),
        "{text}": visible_text(g.text),
        "{claims}": "\n".join(f"- {' '.join(visible_text(c.text).split())}" for c in rejected),
    }
    text = load_prompt("self_revise", folder_setting(settings.prompt_folder))
    for name, piece in pieces.items():
        text = text.replace(name, piece.replace("{", "("))
    tokens = tokens_for(settings.answer, "long")
    request = ask(text, temperature=0.0, max_tokens=tokens, seed=seed, sample=0)
    return Ask(question, request, f"{STAGE}-revised", STAGE, "revised")
