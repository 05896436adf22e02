"""Synthetic runs of self_known for the tests of its page: texts, claims, labels, evidence."""

from __future__ import annotations

from pathlib import Path

from sayso.records import (
    Claim,
    Estimate,
    Generation,
    Passage,
    Question,
    Score,
    Sentence,
    Verdict,
    ask,
    slice_of,
)
from sayso.storage.run_folder import Manifest, RunFolder

SENTENCES = ("{e} was born in Ripley.", "{e} painted doors.", "{e} moved to Orvar in 1950.")
LABELS = ("S", "NS", "IR", None)
MODES = ("direct", "qa", "qa_none")


def numbers(methods: tuple[str, ...] = ("plain", "retrieval")) -> list[Estimate]:
    """Estimates of every name that the protocol yields, falling along the text."""
    found: list[Estimate] = []
    for method in methods:
        here = slice_of(method=method)
        found += [
            Estimate("response_rate", here, 0.8, n=10),
            Estimate(
                "factscore", here, 0.6, 0.5, 0.7, n=8, missing=3, bound_low=0.55, bound_high=0.65
            ),
            Estimate("factscore", here + slice_of(domain="very rare"), 0.3, 0.1, 0.5, n=5),
            Estimate("factscore_penalized", here, 0.4, 0.3, 0.5, n=8),
            Estimate("f1_at_k", here + slice_of(k=f"{4 + len(method)}"), 0.5, 0.4, 0.6, n=8),
            Estimate("factuality_micro", here, 0.62, 0.5, 0.7, n=8),
            Estimate("precision_at_length", here + slice_of(first="5"), 0.61, 0.5, 0.7, n=8),
            Estimate("claims_per_answer", here, 12.5, 11.0, 14.0, n=8),
            Estimate("irrelevant_share", here, 0.05, 0.01, 0.1, n=8),
            Estimate("recall", here, 0.55, 0.4, 0.7, n=40),
            Estimate("claims_without_label", here + slice_of(problem="unretrieved"), 0.03,
                     numerator=3, denominator=100, n=100),
            Estimate("trend", here, -0.4, -0.5, -0.3, n=50),
            Estimate("auroc", here + slice_of(score="span_nll"), 0.8, 0.7, 0.9, n=90),
            Estimate("auroc", here + slice_of(score="frequency"), problem="no further answer"),
            Estimate("verifier_agreement", here, 0.86, 0.8, 0.9, n=90),
            Estimate("verifier_bias", here, -0.04, -0.1, 0.02, n=90),
            Estimate("none_flips", here + slice_of(**{"class": "supported"}), 0.12, n=50),
            Estimate("none_flips", here + slice_of(**{"class": "unsupported"}), 0.34, n=40),
        ]  # fmt: skip
        for part in range(1, 6):
            at = here + slice_of(part=f"{part}/5")
            value = 0.95 - 0.12 * part
            # the last part of the second method rests on too little: a hollow point
            n = 4 if part == 5 and method == methods[-1] else 60
            found += [
                Estimate("factuality", at, value, value - 0.1, min(1, value + 0.1), n=n),
                Estimate("unsupported_share", at, 1 - value, n=n),
                Estimate("unsupported_per_sentence", at, 2.2 * (1 - value), 0.1, 3.0, n=n),
                Estimate("decisiveness", at, 0.9, 0.85, 0.95, n=n),
                Estimate("SK", here + slice_of(mode="qa_none", part=f"{part}/5"), value, n=n),
                Estimate("SU", here + slice_of(mode="qa_none", part=f"{part}/5"), 0.5, n=n),
            ]
            for mode in MODES:
                asked = here + slice_of(mode=mode, part=f"{part}/5")
                found += [
                    Estimate("labeled_factuality", asked, value, n=n),
                    Estimate("equation3", asked, 0.857, n=n),
                    Estimate("equation3_in_sample", asked, 0.6 + part / 20, 0.5, 0.9, n=n),
                ]
            for kind in ("supported", "unsupported"):
                of = here + slice_of(**{"class": kind, "part": f"{part}/5"})
                found.append(Estimate("none_flips", of, 0.1 * part, n=n))
        for mode in MODES:
            at = here + slice_of(mode=mode)
            found += [
                Estimate("SK", at, 0.9, 0.8, 0.95, n=50),
                Estimate("SU", at, 0.4, 0.3, 0.5, n=40),
                Estimate("accept_rate", at, 0.78, 0.7, 0.85, n=90),
                Estimate("labeled_factuality", at, 0.6, n=90),
                Estimate("equation3", at, 0.857, n=90),
                Estimate("equation3_in_sample", at, 0.83, 0.7, 0.9, n=90),
                Estimate(
                    "factuality_pearson", at + slice_of(**{"with": "SK"}), 0.93, 0.4, 1.0, n=5
                ),
                Estimate("factuality_spearman", at + slice_of(**{"with": "SU"}), -0.21, n=5),
                Estimate("rogan_gladen", at, 0.6, n=90),
                Estimate("overconfidence", at, 0.18, n=90),
                Estimate("order_flips", at, 0.25, n=90),
            ]
    return found


def manifest(hostile: str = "", **fields: object) -> Manifest:
    """The manifest of such a run; ``hostile`` is put wherever text can stand."""
    given: dict[str, object] = {
        "sayso": "0.1.0",
        "finished": "2026-01-02T03:05:05+00:00",
        "command": f"sayso run self_known {hostile}",
        "protocols": ("self_known",),
        "settings": {"seed": 0, "alpha": 0.1, "average": "sentence", "note": hostile},
        "data": "builtin",
        "model": "m" + hostile,
        "model_signature": "m" + hostile,
        "judge": "rules",
        "judge_signature": "rules@1",
        "tokens": {"asks": 7},
        "cautions": (f"few texts {hostile}",),
        "notices": (f"a reply was damaged {hostile}",) if hostile else (),
    }
    return Manifest(**{**given, **fields})  # type: ignore[arg-type]


def make_long_run(
    folder: Path,
    topics: int = 4,
    methods: tuple[str, ...] = ("plain", "retrieval"),
    *,
    found: list[Estimate] | None = None,
    hostile: str = "",
    claims: int = 1,
    bare: bool = False,
) -> RunFolder:
    """A finished run: a text of three sentences for each topic and method.

    ``claims`` claims on each sentence; the n-th claim of a text has the n-th of S, NS, IR, no
    label, in turn. ``bare``: nothing but the texts and labels of people.
    """
    run = RunFolder.create(folder)
    questions, texts, kept, sentences, every = [], [], [], [], []
    support, people, scores = [], [], []
    selves: dict[str, list[Verdict]] = {mode: [] for mode in MODES}
    passages = []
    for at in range(topics):
        entity = f"Entity {at}{hostile}"
        question = Question(f"q{at}", "made", f"Tell me of {entity}.", entity=entity, domain="bios")
        questions.append(question)
        passages.append(Passage(f"p{at}", f"About {entity}", f"{entity} was born. {hostile}"))
        for method in methods:
            key = f"{method}-{at}"
            said = [s.format(e=entity) + hostile for s in SENTENCES]
            texts.append(
                Generation(
                    ask("x"), id=key, question=question.id, stage="long", method=method,
                    text=" ".join(said),
                )
            )  # fmt: skip
            kept.append(Verdict(key, question.id, "phrases@1", label="answered"))
            start = 0
            for number, sentence in enumerate(said, start=1):
                end = start + len(sentence)
                sentences.append(Sentence(key, number, start, end))
                for _ in range(claims):
                    n = sum(c.generation == key for c in every[-3 * claims :])
                    claim = Claim(f"{key}-{n}", key, number, start, end, sentence)
                    every.append(claim)
                    label = LABELS[n % 4]
                    problem = None if label else f"unretrieved{hostile}"
                    own = Verdict(
                        claim.id, question.id, "rules@1", label=label, problem=problem,
                        evidence=(f"p{at}",),
                    )  # fmt: skip
                    (people if bare else support).append(own)
                    scores.append(Score(claim.id, "span_nll", 0.1 * (n + 1)))
                    for mode in MODES:
                        selves[mode].append(
                            Verdict(claim.id, question.id, "self", label="yes", number=0.81)
                        )
                start = end + 1
    run.write("questions", questions, Question)
    run.write("generations/long", texts, Generation)
    run.write("verdicts/long", kept, Verdict)
    run.write("sentences/long", sentences, Sentence)
    run.write("claims/long", every, Claim)
    if bare:
        run.write("verdicts/long-people", people, Verdict)
    else:
        run.write("verdicts/long-support", support, Verdict)
        run.write("passages/long", passages, Passage)
        run.write("scores/claims", scores, Score)
        for mode, verdicts in selves.items():
            run.write(f"verdicts/self-{mode}", verdicts, Verdict)
    given = numbers(tuple(m + hostile for m in methods)) if found is None else found
    run.write("metrics/self_known", given, Estimate)
    run.write_manifest(manifest(hostile))
    return run
