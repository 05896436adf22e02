"""Hand-made records for the tests of training rows."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.records import Aspect, Generation, Question, Stance, Verdict, ask, golds_of
from sayso.train.rows import Fact, Mention, TrainingParagraph

ASPECTS = {
    "place of birth": "Where was {e} born?",
    "date of birth": "When was {e} born?",
    "occupation": "What is the occupation of {e}?",
    "spouse": "Who is the spouse of {e}?",
    "award": "What award did {e} receive?",
    "school": "Where was {e} educated?",
}
SAID = {
    "place of birth": "He was born in {v}.",
    "date of birth": "He was born on {v}.",
    "occupation": "He worked as a {v}.",
    "spouse": "He was married to {v}.",
    "award": "He received the {v}.",
    "school": "He was educated at {v}.",
}


def question(aspect: str, entity: str = "Ann Bell", gold: str = "Lyon") -> Question:
    return Question(
        f"{entity}/{aspect}",
        "made",
        ASPECTS[aspect].format(e=entity),
        golds_of([gold]),
        entity=entity,
        domain="people",
        aspect=Aspect(aspect, aspect, aspect),
    )


def short_fact(
    letters: str,
    aspect: str = "place of birth",
    entity: str = "Ann Bell",
    greedy: str = "Lyon",
    gold: str = "Lyon",
) -> Fact:
    """One draw per letter: c right, w wrong (a value of its own), W wrong (always Paris), h hedged
    and wrong, a abstained, ? unread."""
    text = {"c": gold, "W": "Paris", "h": "Perhaps Rome", "a": "I do not know.", "?": "Kiel"}
    stance: dict[str, Stance | None] = {"h": "hedged", "a": "abstained", "?": None}
    return Fact(
        question(aspect, entity, gold),
        "short",
        ASPECTS[aspect].format(e=entity),
        greedy,
        greedy == gold,
        tuple(text.get(x, f"Town{i}") for i, x in enumerate(letters)),
        tuple(None if x == "?" else x == "c" for x in letters),
        tuple(stance.get(x, "committed") for x in letters),
    )


def paragraph(
    labels: str, entity: str = "Ann Bell", values: Sequence[str] = (), lead: str = ""
) -> tuple[Fact, TrainingParagraph]:
    """One sentence per label: S right, N wrong, U hedged, O left out, ? unread."""
    text, told, parts = lead, [], []
    for number, (label, aspect) in enumerate(zip(labels, ASPECTS, strict=False)):
        part = question(aspect, entity)
        parts.append(part.id)
        value = values[number] if values else f"Value{number}"
        if label == "O":
            told.append(Mention(part, "omitted", None))
            continue
        sentence = SAID[aspect].format(v=value)
        if label == "U":
            sentence = f"I think {sentence[0].lower()}{sentence[1:]}"
        text += (" " if text else "") + sentence
        stance: Stance | None = {"S": "committed", "N": "committed", "U": "hedged"}.get(label)  # type: ignore[assignment]
        right = {"S": True, "N": False}.get(label)
        told.append(Mention(part, stance, right, len(text) - len(sentence), len(text), value))
    made = TrainingParagraph(text, tuple(told))
    asked = Question(
        f"{entity}/long", "made", f"Tell of {entity}.", entity=entity, parts=tuple(parts)
    )
    return Fact(asked, "long", f"Tell of {entity}.", text, paragraphs=(made,)), made


def answer(
    q: Question, text: str, stage: str, sample: int = 0, *, told: bool = False, heat: float = 0.0
) -> Generation:
    request = ask(q.text, temperature=heat, sample=sample)
    kind = "instructed" if told else "plain"
    return Generation(
        request,
        id=f"{stage}/{q.id}/{sample}/{kind}",
        question=q.id,
        stage=stage,
        form="long" if q.parts else "short",
        method=kind,
        instructed=told,
        text=text,
    )


def verdict(g: Generation, asked: Question, letter: str, **places: int) -> Verdict:
    stance: Stance | None = {"c": "committed", "i": "committed", "u": "hedged", "?": None}[letter]  # type: ignore[assignment]
    content = {"c": "correct", "i": "incorrect", "u": "incorrect"}.get(letter)
    problem = "unread" if letter == "?" else None
    return Verdict(g.id, asked.id, "test", stance, content, problem=problem, **places)  # type: ignore[arg-type]
