"""Published files of answers, known by their columns and read as rows of ours.

One entry for each: the columns that mark it, how a row reads under our names, and what a reader of
the numbers must know. Short answers become rows of :mod:`sayso.datasets.answer_rows`, long texts
those of :mod:`sayso.datasets.long_texts`. What people's labels do not say is not guessed: such a
claim has no label, and its ``problem`` is what they said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sayso.records import InputError

Row = Mapping[str, Any]
#: a person said that the source says nothing of it, or that it holds in part, or cannot be checked
UNTOLD, PARTLY, UNCHECKABLE = "not in the source", "supported in part", "cannot be checked"


class AnswerFileLayout(NamedTuple):
    """A published file: ``signs`` are columns that it has, ``read`` turns a row into one of ours.

    ``long``: its rows are long texts. ``aliases``: several golds are ways to write one. ``refused``
    is why nothing can be made of it. A file whose ``signs`` are names of ours has no columns but
    these and ``further`` (``None``: whatever it has).
    """

    name: str
    signs: frozenset[str]
    read: Callable[[Row], dict[str, Any]]
    notes: tuple[str, ...] = ()
    long: bool = False
    aliases: bool = False
    refused: str = ""
    further: frozenset[str] | None = None

    def fits(self, columns: Collection[str]) -> bool:
        """Tell whether a file with these columns is one of this layout."""
        return self.signs <= set(columns) and (
            self.further is None or set(columns) <= self.signs | self.further
        )


def layout_of(row: Row, *, long: bool | None = None) -> AnswerFileLayout | None:
    """Return the layout of a file by its first row; ``None`` for rows of one's own."""
    found = (one for one in LAYOUTS if one.fits(row.keys()))
    return next((one for one in found if long is None or one.long is long), None)


# ---- short answers


def _confabulations(row: Row) -> dict[str, Any]:
    article = str(row["article"])
    return {
        # the set too: questions with an answer are numbered anew
        "question": f"{article} · {row['set']} · question {row['number']}",
        "entity": article,
        **{name: row[name] for name in ("model", "answer", "answerable")},
    }


def _unknownbench(row: Row) -> dict[str, Any]:
    stated: Any = row.get("stated_confidence")
    if type(stated) in (int, float) and not 0 < stated < 1:
        stated = stated / 100
    return {
        **{name: row[name] for name in ("model", "question", "answer", "answerable")},
        "gold": row["golds"],
        "stated_confidence": stated,
    }


def _llmdrift(row: Row) -> dict[str, Any]:
    return {
        "model": row["model"],
        "question": row["query"],
        "answer": row["answer"],
        "entity": row.get("id"),
    }


def _halueval(row: Row) -> dict[str, Any]:
    told = {"yes": False, "no": True}
    return {
        "model": "ChatGPT",
        "question": row["user_query"],
        "answer": row["chatgpt_response"],
        "human": told.get(row["hallucination"], row["hallucination"]),
    }


# ---- long texts


def _annotated(
    text: str, sentences: Sequence[Any], labels: Sequence[Any], says: Mapping[Any, str]
) -> dict[str, Any]:
    """Return a text whose sentences have one label each."""
    if len(sentences) != len(labels):
        raise InputError(
            f"{len(sentences)} sentences and {len(labels)} labels: expected one for each"
        )
    parts = [
        {"text": s, "human-atomic-facts": [{"text": s, **_told(label, says)}]}
        for s, label in zip(sentences, labels, strict=True)
    ]
    return {"output": text, "annotations": parts}


def _told(label: Any, says: Mapping[Any, str]) -> dict[str, Any]:
    """Return a label of ours, or what people said instead of one."""
    told = says.get(label) if isinstance(label, str | bool) else None
    if told is None:
        return {"label": None, "problem": f"label {str(label)[:40]!r}"}
    return {"label": told} if told in ("S", "NS") else {"label": None, "problem": told}


def _refchecker(row: Row) -> dict[str, Any]:
    says = {"Entailment": "S", "Contradiction": "NS", "Neutral": UNTOLD}
    claims = [
        {"text": " ".join(map(str, one["triplet"])), **_told(one["human_label"], says)}
        for one in row["claims"]
    ]
    return {
        "model": row["model"],
        "prompt": f"question {row['id']}",
        "domain": row["setting"],
        "text": row["response"],
        "claims": claims,
    }


def _felm(row: Row) -> dict[str, Any]:
    says = {True: "S", False: "NS"}
    segments, text = row["segmented_response"], row["response"]
    whole = text if isinstance(text, str) else " ".join(segments)
    return {
        "model": "ChatGPT",
        "input": row["prompt"],
        "prompt": row["prompt"],
        "cat": [row["domain"]],
        **_annotated(whole, segments, row["labels"], says),
    }


def _wikibio(row: Row) -> dict[str, Any]:
    says = {"accurate": "S", "minor_inaccurate": "NS", "major_inaccurate": "NS"}
    prompt = str(row.get("question") or "a biography")
    return {
        "model": "GPT-3",
        "input": prompt,
        "prompt": prompt,
        **_annotated(row["gpt3_text"], row["gpt3_sentences"], row["annotation"], says),
    }


def _fables(row: Row) -> dict[str, Any]:
    says = {"Yes": "S", "No": "NS", "PartialSupport": PARTLY, "Inapplicable": UNCHECKABLE}
    claims = row["claims"]
    ordered = claims.values() if isinstance(claims, Mapping) else claims
    return {
        "model": row["model"],
        "topic": row["book"],
        "prompt": f"Summarize {row['book']}.",
        "text": row["summary"],
        "claims": [{"text": one["claim"], **_told(one["label"], says)} for one in ordered],
    }


LAYOUTS = (
    AnswerFileLayout(
        "confabulations",
        frozenset(("set", "answerable", "model", "article", "number", "answer")),
        _confabulations,
        ("the file has no question texts and no golds: questions are named by their numbers",),
    ),
    AnswerFileLayout(
        "UnknownBench",
        frozenset(("model", "answerable", "question", "answer", "golds")),
        _unknownbench,
        (
            "stated_confidence is read as per cent",
            "prompt_and_answer_entropy is left out: it includes the prompt, which says nothing "
            "about the answer",
        ),
        aliases=True,
        further=frozenset(("stated_confidence", "prompt_and_answer_entropy")),
    ),
    AnswerFileLayout(
        "graded TriviaQA answers",
        frozenset(("model", "question", "references", "Human-Eval")),
        dict,
        refused="it has the verdicts of people and of judges, but no answers: nothing can be "
        "judged or scored. To see who agrees with the people, use sayso.metrics.agreement "
        "on its columns",
    ),
    AnswerFileLayout(
        "LLMDrift's OpinionQA",
        frozenset(("model", "query", "ref_answer", "answer", "trail")),
        _llmdrift,
        ("ref_answer is left out: opinions have no gold",),
    ),
    AnswerFileLayout(
        "HaluEval, general",
        frozenset(("user_query", "chatgpt_response", "hallucination")),
        _halueval,
        (
            "people's yes (the answer has something unverifiable, wrong or irrelevant) is read as "
            "not right, their no as right; the spans that they marked are left out",
        ),
    ),
    AnswerFileLayout(
        "RefChecker",
        frozenset(("setting", "model", "response", "claims")),
        _refchecker,
        ("Neutral (the source does not say) counts as no label; the file has no question texts",),
        long=True,
    ),
    AnswerFileLayout(
        "FELM",
        frozenset(("prompt", "response", "segmented_response", "labels")),
        _felm,
        (
            "every segment that people labeled is one claim; a missing response is made of its "
            "segments",
        ),
        long=True,
    ),
    AnswerFileLayout(
        "WikiBio of GPT-3",
        frozenset(("gpt3_text", "gpt3_sentences", "annotation")),
        _wikibio,
        (
            "every sentence that people labeled is one claim; minor and major inaccuracies are "
            "both not supported",
        ),
        long=True,
    ),
    AnswerFileLayout(
        "FABLES",
        frozenset(("book", "model", "summary", "claims")),
        _fables,
        ("PartialSupport and Inapplicable count as no label",),
        long=True,
    ),
)
