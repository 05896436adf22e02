"""The join of UNCLE's stages: one row per aspect, that is per (long question, part).

Joined by ids, never by order. A short question that two prompts share appears in two rows: it was
asked once and is counted once per pair, in both forms. One that stands in no paragraph has a row of
its own, which counts in the short form only. The rules for *known* and for labels stand
in docs/reading.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.uncle_known import chance_corrected, guess_rates, strict_known
from sayso.metrics.uncle_rates import CORRECT, INCORRECT, MISSING, UNCERTAIN
from sayso.prompts.methods import Form
from sayso.protocols.pool import clusters_of, tokens_between
from sayso.protocols.probes import (
    HEDGED_PROBE,
    UNKNOWN,
    DrawVariety,
    count_draws,
    draws_by_question,
    other_draws,
    probe_state,
)
from sayso.protocols.protocol import Run
from sayso.protocols.settings import tokens_for
from sayso.protocols.uncle.settings import FORMS, Settings
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Signature,
    Slice,
    Verdict,
    content_id,
    signature_of,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_LOGPROBS = "no log-probabilities were recorded for these answers"
#: label or state of an aspect that a setting, or its form, takes out of the rates
LEFT_OUT = -2


class View(NamedTuple):
    """The verdicts of one form, with or without the instruction; arrays have A entries.

    ``verdicts`` holds None where the answer itself is missing from the run. ``logprob`` is the
    mean log-probability in nats per token of the short answer, or of the value's span in a
    paragraph or a hedge; ``length`` counts tokens of the same stretch. Both are NaN where no value
    was placed. ``placed`` tells whether values were looked for: answers without the instruction
    are, in runs that store where (``verdicts/<form>-spans``, by :mod:`sayso.protocols.probes`).
    ``outside`` marks the aspects that this form does not ask about, if there are any. ``words``
    counts those of the whole answer, NaN where there is none.
    """

    verdicts: list[Verdict | None]
    logprob: Floats
    length: Floats
    words: Floats
    placed: bool = False
    outside: NDArray[np.bool_] | None = None


class AspectRows(NamedTuple):
    """A rows. ``hits`` of ``drawn`` readable probe draws were correct.

    ``views`` has the forms that were asked, with and without the instruction.
    """

    questions: list[Question]
    entity: Ints
    domain: NDArray[np.str_]
    type: NDArray[np.str_]
    tier: NDArray[np.str_]
    known: Ints
    hits: Ints
    drawn: Ints
    views: dict[tuple[str, bool], View]

    @property
    def size(self) -> int:
        """A, the number of aspects."""
        return len(self.questions)


@dataclasses.dataclass(frozen=True)
class Context:
    """What every number of one run shares.

    ``known`` maps a rule to codes per aspect: 1 known, 0 unknown, -1 missing, -2 left out. "any" is
    the run's own rule; where that asks for several right samples, "paper" is any of them.
    ``guesses`` are matches and draws for other entities; ``probes`` is "self", or a hash of what
    the borrowed probes said; ``draws`` counts the questions whose probes are all alike.
    """

    run: Run
    settings: Settings
    aspects: AspectRows
    known: dict[str, Ints]
    guesses: tuple[Ints, Ints]
    probes: str
    draws: DrawVariety

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms that the run asks in: no long one without paragraphs."""
        return tuple(form for form in FORMS if (form, True) in self.aspects.views)

    def labels(self, form: str, instructed: bool = True) -> Ints:
        """Return label codes: 0 S, 1 NS, 2 UNC, -1 missing, -2 left out by a setting."""
        return labels_of_view(self.aspects.views[form, instructed], self.settings)

    def signed(
        self,
        estimate: Estimate,
        where: Slice = (),
        form: str = "",
        prompt: str = "instructed",
        known: str = "any",
    ) -> Estimate:
        """Return the estimate with its slice and every setting that made it."""
        signature = signature_of(estimate.name, self.signature(form, prompt, known))
        return msgspec.structs.replace(estimate, where=where, signature=signature)

    def signature(
        self, form: str = "", prompt: str = "instructed", known: str = "any"
    ) -> Signature:
        """Return every setting behind numbers of a form ("": both), a prompt and a known set."""
        s = self.settings
        parts = {"form": form} if form else {}
        if form or prompt != "instructed":
            parts["prompt"] = prompt
        rule = known
        if known in ("any", "paper"):
            rule = "any" if known == "paper" or s.probe.at_least == 1 else f"{s.probe.at_least}"
        nucleus = f"/p{s.answer.top_p:g}" if s.answer.top_p < 1 else ""
        short, long = (tokens_for(s.answer, form) for form in ("short", "long"))
        return self.run.signature(
            **parts,
            known=f"{rule}-of-{s.probe.k}@T{s.probe.temperature:g}",
            known_from=self.probes,
            **({"probe_stop": s.probe.stop} if s.stops else {}),
            probe_unc=s.probe.unc,
            answer=f"T{s.answer.temperature:g}{nucleus}/{short}/{long}",
            omit=s.omit_long,
            refusals=s.refusals,
            ci=f"entity-{s.resamples}-s{s.ci_seed}",
        )


def compared_rows(run: Run, settings: Settings) -> Context:
    """Return the rows of a run that is compared with others, joined once: without guess rates."""
    return run.once(("uncle", settings), lambda: load_rows(run, settings, guesses=False))


def load_rows(
    run: Run, settings: Settings, *, guesses: bool = True, answers: Run | None = None
) -> Context:
    """Join the run's tables and decide, by each rule, which aspects are known.

    Without ``guesses`` the guess rates are not computed (they take longer than all the rest):
    then no aspect is known beyond chance. ``answers`` is the run as others read its answers.
    """
    k = settings.probe.k
    probes = [g for g in run.folder.read("generations/probe", Generation) if g.request.sample < k]
    texts: dict[str, list[str]] = {}
    for generation in probes if guesses and not settings.stops else ():
        if generation.problem is None:
            texts.setdefault(generation.question, []).append(generation.text)
    counted, values = count_draws(probes), probe_values(run, probes)
    del probes  # most of a run, and the answers come next
    at_least = settings.probe.at_least
    if settings.stops and any(
        0 < len(read) < k and read.count("correct") < at_least for read in values.values()
    ):
        raise InputError(
            f"probe.at_least is {at_least}, but samples of this run ended before so many were "
            "right (probe.stop=first_right); lower it, or run again with it"
        )
    aspects = load_aspects(answers or run, values, k, at_least)
    matches = other_draws(aspects.questions, texts)
    greedy = labels_of_view(aspects.views["short", False], settings)
    hedged_probe = UNKNOWN if settings.probe.unc == "unknown" else LEFT_OUT
    any_right = np.array([probe_state(values.get(q.id, []), k) for q in aspects.questions])
    any_of_k, own = (
        np.where(state == HEDGED_PROBE, hedged_probe, state).astype(np.int64)
        for state in (any_right, aspects.known)
    )
    rate = guess_rates(*matches)
    corrected = chance_corrected(aspects.hits, aspects.drawn, k, rate).astype(np.int64)
    known = {
        "any": own,
        **({"paper": any_of_k} if at_least > 1 else {}),
        "corrected": np.where(any_of_k >= 0, corrected, any_of_k),
        "strict": np.where(any_of_k == LEFT_OUT, LEFT_OUT, _strict(aspects, greedy, k)),
    }
    source = "self" if settings.known_from == "self" else f"run-{probes_hash(aspects)}"
    return Context(run, settings, aspects, known, matches, source, counted)


def probe_values(run: Run, probes: Sequence[Generation]) -> dict[str, list[str | None]]:
    """Return what was read of the draws of each question, in their order."""
    read = {v.target: v.value for v in run.folder.read("verdicts/probe", Verdict)}
    return {
        question: [read.get(g.id) for g in draws]
        for question, draws in draws_by_question(probes).items()
    }


def load_aspects(
    run: Run, values: Mapping[str, list[str | None]], total: int, at_least: int = 1
) -> AspectRows:
    """Join a run's questions, probes, answers and verdicts.

    ``total`` draws of a question decide what is known: ``at_least`` right ones; ``values`` are
    :func:`probe_values`.
    """
    pairs = question_pairs(run)
    shorts = [short for _, short in pairs]
    probed = [values.get(s.id, []) for s in shorts]
    clusters = clusters_of(run.questions)
    entities = {e: i for i, e in enumerate(dict.fromkeys(clusters[s.id] for s in shorts))}
    return AspectRows(
        questions=shorts,
        entity=np.array([entities[clusters[s.id]] for s in shorts], dtype=np.int64),
        domain=np.array([s.domain for s in shorts], dtype=np.str_),
        type=np.array([s.type for s in shorts], dtype=np.str_),
        tier=np.array([s.tier for s in shorts], dtype=np.str_),
        known=np.array([probe_state(v, total, at_least) for v in probed], dtype=np.int64),
        hits=np.array([v.count("correct") for v in probed], dtype=np.int64),
        drawn=np.array([len(v) - v.count(None) for v in probed], dtype=np.int64),
        views=_views(run, pairs),
    )


#: the long question of an aspect, ``None`` where it stands in no paragraph, and its short one
Pair = tuple[Question | None, Question]


def question_pairs(run: Run) -> list[Pair]:
    """Return (long question, short question) of every aspect: the rows of every view.

    Last come the short questions with a true answer that stand in no paragraph.
    """
    by_id = {q.id: q for q in run.questions}
    pairs: list[Pair] = [(q, by_id[p]) for q in run.questions for p in q.parts]
    covered = {short.id for _, short in pairs}
    alone = (q for q in run.questions if q.golds and not q.parts and q.id not in covered)
    return [*pairs, *((None, q) for q in alone)]


def share_paragraphs(a: Run, b: Run) -> bool:
    """Tell whether two runs ask for a paragraph that is the same in both."""
    ids = [{long.id for long, _ in question_pairs(run) if long} for run in (a, b)]
    return not ids[0].isdisjoint(ids[1])


def _views(run: Run, pairs: Sequence[Pair]) -> dict[tuple[str, bool], View]:
    asked = ["short", *(["long"] if any(long for long, _ in pairs) else [])]
    return {place: view for form in asked for place, view in _of_form(run, pairs, form).items()}


def _of_form(run: Run, pairs: Sequence[Pair], form: str) -> dict[tuple[str, bool], View]:
    answers = run.folder.read(f"generations/{form}", Generation)
    verdicts, table = run.folder.read(f"verdicts/{form}", Verdict), f"verdicts/{form}-spans"
    spans = run.folder.read(table, Verdict) if run.folder.has(table) else None
    views = {}
    for instructed in (False, True):
        chosen = [g for g in answers if g.instructed is instructed]
        views[form, instructed] = view_of(
            pairs, chosen, verdicts, form, None if instructed else spans
        )
    return views


def view_of(
    pairs: Sequence[Pair],
    answers: Iterable[Generation],
    verdicts: Iterable[Verdict],
    form: str,
    spans: Iterable[Verdict] | None = None,
) -> View:
    """Return the view of one answer to each question of a form, with its verdicts.

    ``spans`` are verdicts without a look at the truth, which say what log-probs are taken of.
    """
    by_question = {g.question: g for g in answers}
    read = {(v.target, v.asked): v for v in verdicts}
    rows = [
        (by_question.get(short.id if form == "short" else long.id if long else ""), short.id)
        for long, short in pairs
    ]
    alone = np.array([long is None and form == "long" for long, _ in pairs], dtype=np.bool_)
    outside = alone if alone.any() else None
    verdicts_of = [read.get((g.id, short)) if g else None for g, short in rows]
    logprob, length = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    counts = [len(g.text.split()) if g and not g.problem else np.nan for g, _ in rows]
    words = np.array(counts, dtype=np.float64)
    if spans is None:
        return View(verdicts_of, logprob, length, words, outside=outside)
    places = {(v.target, v.asked): v for v in spans}
    for row, (generation, short) in enumerate(rows):
        verdict = places.get((generation.id, short)) if generation else None
        if generation is None or verdict is None:
            continue
        values = _stated_logprobs(generation, verdict, whole=form == "short")
        if values:
            # means of equal log-probabilities are equal, whatever their number
            logprob[row], length[row] = round(float(np.mean(values)), 12), len(values)
    return View(verdicts_of, logprob, length, words, placed=True, outside=outside)


def _stated_logprobs(generation: Generation, verdict: Verdict, *, whole: bool) -> list[float]:
    """Return the log-probs of the tokens of the value that an answer states, if it states one.

    With ``whole``, an answer that commits itself is its value.
    """
    if verdict.stance not in ("committed", "hedged") or not generation.logprobs:
        return []
    if whole and verdict.stance == "committed":
        span = (0, len(generation.text))
    elif verdict.answer_start is not None and verdict.answer_end is not None:
        span = (verdict.answer_start, verdict.answer_end)
    else:
        return []
    return [generation.logprobs[place] for place in tokens_between(generation, *span)]


def labels_of_view(view: View, settings: Settings) -> Ints:
    """Return one label code per aspect (see :meth:`Context.labels`)."""
    table = {"correct": CORRECT, "incorrect": INCORRECT, "uncertain": UNCERTAIN}
    table["omitted"] = INCORRECT if settings.omit_long == "NS" else LEFT_OUT
    out = np.full(len(view.verdicts), MISSING, dtype=np.int64)
    for row, verdict in enumerate(view.verdicts):
        if verdict is None or verdict.value is None:
            continue
        out[row] = table[verdict.value]
        if verdict.stance == "refused_by_policy" and settings.refusals == "excluded":
            out[row] = LEFT_OUT
    if view.outside is not None:
        out[view.outside] = LEFT_OUT
    return out


def _strict(aspects: AspectRows, greedy: Ints, k: int) -> Ints:
    """Return the strict rule's 1 known, 0 unknown, -1 missing, -2 left out.

    Missing is only what some reading of the unread verdicts could make known or unknown; an
    aspect that was right at times and wrong at others is left out whatever they say.
    """
    decided = strict_known(aspects.hits, k, np.where(greedy < 0, -1, greedy == CORRECT))
    unread = greedy == MISSING
    may_be_known = (aspects.hits + k - aspects.drawn >= k) & (unread | (greedy == CORRECT))
    may_be_unknown = (aspects.hits == 0) & (unread | (greedy > CORRECT))
    # no draw of which a verdict is missing may count as wrong
    open_ = (decided < 0) | (aspects.drawn < k)
    still = np.where(may_be_known | may_be_unknown, MISSING, LEFT_OUT)
    return np.where(open_, still, decided).astype(np.int64)


def probes_hash(aspects: AspectRows, rows: Ints | None = None) -> str:
    """Return a short hash of what the probes (of some rows) said about what is known."""
    chosen = range(aspects.size) if rows is None else rows.tolist()
    counts = {
        (aspects.questions[r].id, int(aspects.hits[r]), int(aspects.drawn[r])) for r in chosen
    }
    return content_id(sorted(counts))[:8]
