"""Whether a model saw its questions, and whether its answers are answers at all: cautions that
stand before every number.

A loop, a text cut off in the middle and talk of something else are judged like any answer, mostly
as committed and wrong, so that a model which cannot answer, or is asked through the wrong template,
gets numbers like any other. What real models reach of each limit: docs/reading.md.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sayso.judges.contradiction import read_short_answer
from sayso.judges.english.language import is_english
from sayso.judges.english.wrapping import unwrapped
from sayso.protocols.protocol import Run, stored_verdicts
from sayso.records import Generation

#: how the caution begins
LEAD = "Read the answers before any number: "
#: how the caution begins for questions that a chat template left out
UNSEEN = "The model did not see what it was asked: "
#: stages of answers to the questions, whatever the protocol, and what they are called
STAGES = {
    "probe": "draws",
    "draws": "draws",
    "short": "short answers",
    "long": "long answers",
}
#: larger shares of the answers of a stage are told
CUT, REPEATING, MARKED, BESIDE = 0.1, 0.05, 0.05, 0.2
#: a larger share in other languages than English is told
FOREIGN = 0.005
#: fewer answers show nothing
LEAST = 3
#: so many are read for what they say; which ones, their ids draw, and those are hashes
MOST_READ = 1_000

#: an answer goes round in a loop if a larger share of its runs of so many words stood there before;
#: fewer words in a row would catch "I am not sure what the ... of ... is", said of every fact
LOOP, LOOP_WORDS = 0.1, 20
WORD = re.compile(r"\w+")
#: turns and special tokens of chat templates, which no answer has
MARKS = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|^[ \t#*]{0,8}(?:user|assistant|human|system)[ \t]*(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
#: a label before what a text says, and who speaks in a template whose marks were taken out
PREFIX = re.compile(
    r"[\s*#_>]*+(?:(\w{2,20}(?: \w{2,20})?)[*_]{0,3}:|(assistant|model|final)(?=\s*\n|[A-Z]))"
)
#: how an engine says that it wrote a prompt without a template
NO_TEMPLATE = "no chat template"


def repeated_ngrams(text: str, n: int = LOOP_WORDS) -> float | None:
    """Return seq-rep-n, the share of repeated n-grams of words; ``None`` for fewer than n words.

    1 - (different n-grams) / (n-grams). Welleck et al., "Neural Text Generation with Unlikelihood
    Training", ICLR 2020, section 6; of words here, since texts of endpoints have no tokens.
    """
    words = WORD.findall(text.lower())
    grams = list(zip(*(words[start:] for start in range(n)), strict=False))
    return 1 - len(set(grams)) / len(grams) if grams else None


def unseen_cautions(run: Run) -> list[str]:
    """Return one line if different questions became the same prompt; else none.

    From the stored hashes of what a model in this process read; endpoints show none.
    """
    questions = {q.id: q.text.strip() for q in run.questions}
    asked: dict[str, set[str]] = defaultdict(set)
    for stage in STAGES:
        if run.folder.has(f"generations/{stage}"):
            for g in run.folder.read(f"generations/{stage}", Generation):
                if g.rendered_hash and g.question in questions:
                    asked[g.rendered_hash].add(questions[g.question])
    every = set().union(*asked.values())
    alike = set().union(*(texts for texts in asked.values() if len(texts) > 1))
    if not alike:
        return []
    return [
        f"{UNSEEN}{len(alike):,} of {len(every):,} questions became the same prompt as another "
        "one, so no number says anything about them. The chat template leaves the question out, or "
        "the tokenizer cannot write it: correct the model's folder."
    ]


def coherence_cautions(run: Run) -> list[str]:
    """Return a line if many answers are cut off, loop, or do not answer, and on label and language.

    From stored answers and verdicts alone.
    """
    # who knows that there is an answer and not which may not have the words of the question either
    questions = {q.id: q.text for q in run.questions if q.golds or q.answerable is None}
    clauses: list[str] = []
    prefixed: list[str] = []
    bare = False
    for stage, name in STAGES.items():
        if not run.folder.has(f"generations/{stage}"):
            continue
        every = run.folder.read(f"generations/{stage}", Generation)
        answers = [g for g in every if g.problem in (None, "truncated")]
        verdicts = stored_verdicts(run, stage)
        committed = {v.target for v in verdicts if v.stance == "committed"}
        stated = [
            g
            for g in answers
            if g.form == "short" and g.id in committed and g.question in questions
        ]
        signs = list(_signs(answers, stated, questions))
        if signs:
            clauses.append(f"of {len(answers):,} {name}, {' and '.join(signs)}")
        prefixed += _prefixed([g.text for g in answers], name)
        bare |= any(note.startswith(NO_TEMPLATE) for g in answers for note in g.overrides)
    cautions = []
    if clauses:
        template = " The model has no chat template." if bare else ""
        cautions.append(
            f"{LEAD}{'; '.join(clauses)}. Such text is judged like any answer, mostly as committed "
            f"and wrong.{template} Check the model, its chat template and the token limits."
        )
    if prefixed:
        cautions.append(
            f"{LEAD}{'; '.join(prefixed)}. If the model was not asked for that, it comes from the "
            "chat template or the prompt. Lengths and metrics that compare words count it."
        )
    if foreign := list(_not_english(run)):
        cautions.append(
            f"{LEAD}{' and '.join(foreign)} got no verdict, because they are not in English. The "
            "offline reader reads English, and of other languages only set phrases that decline, "
            "so rates lean towards declining. To read them: --judge MODEL."
        )
    return cautions


def _prefixed(texts: Sequence[str], name: str) -> Iterator[str]:
    """Yield with which label most answers of a stage begin, if they do."""
    labels = Counter(hit[1] or hit[2] for text in texts if (hit := PREFIX.match(text)))
    label, count = labels.most_common(1)[0] if labels else ("", 0)
    if count >= LEAST and 2 * count > len(texts) and label.lower() not in ("yes", "no"):
        yield f"{count:,} of {len(texts):,} {name} begin with {label!r}"


def _not_english(run: Run) -> Iterator[str]:
    """Yield how many answers or claims of a stage have no verdict for their language."""
    for table, name in {**STAGES, "long-support": "claims"}.items():
        verdicts = stored_verdicts(run, table)
        every = {v.target.partition("#")[0] for v in verdicts}
        unread = {v.target for v in verdicts if v.problem == "language"}
        if len(unread) > FOREIGN * len(every):
            yield f"{len(unread):,} of {len(every):,} {name}"


def _signs(
    answers: Sequence[Generation], stated: Sequence[Generation], questions: Mapping[str, str]
) -> Iterator[str]:
    """Yield what holds of more answers of a stage than its limit.

    ``stated`` are those that commit themselves on a question that has an answer.
    """
    texts = [g.text for g in answers]
    cut = sum(g.finish == "length" or g.problem == "truncated" for g in answers)
    # where an engine ended a loop, the text holds no repetition any more
    loops = sum(g.finish == "loop" or (repeated_ngrams(g.text) or 0.0) > LOOP for g in answers)
    counts = (
        (cut, CUT, "are cut off at the token limit"),
        (loops, REPEATING, "repeat themselves in a loop"),
        (
            sum(MARKS.search(text) is not None for text in texts),
            MARKED,
            "contain marks of a chat template",
        ),
    )
    for count, limit, what in counts:
        if count >= LEAST and count > limit * len(answers):
            yield f"{count:,} {what}"
    drawn = sorted(stated, key=lambda g: g.id)[:MOST_READ]
    read = ((q := questions[g.question], unwrapped(g.text, question=q).split.text) for g in drawn)
    english = [(question, text) for question, text in read if is_english(text)]
    beside = sum(read_short_answer(question, text) is None for question, text in english)
    if beside >= LEAST and beside > BESIDE * len(english):
        yield (f"{beside:,} of the {len(english):,} committed answers do not answer the question")
