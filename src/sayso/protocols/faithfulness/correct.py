"""Faithfulness of words, corrected by people's labels of sureness and of pairs.

Labels of sureness correct what the reader of wording says: decisiveness, cMFG and MFG. In these,
confidence is what the run's comparisons with its draws say. Labels of an assertion and a draw
correct mean confidence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.cmfg import cmfg, cmfg_answers, mfg
from sayso.metrics.correction import Corrected, LabeledRows, corrected_metric, corrected_sums
from sayso.protocols.declared import Place
from sayso.protocols.faithfulness.measure import binning_of, mean_over_choices
from sayso.protocols.faithfulness.rows import Floats, MethodRows, draw_agreement, load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.labeled import CorrectedPlace, PeopleLabels, drawn_rows, pair_target
from sayso.protocols.protocol import Run
from sayso.records import slice_of

#: how the tables of verdicts on wording end, and those of comparisons with the draws
WORDING, COMPARED = "-decisive", "-contradict"
#: letters of comparisons that people can label (``x``: there is no draw), and people's own
LETTERS = "cenp?"
CONFIDENCE = "mean_confidence"


def corrected(run: Run, labels: PeopleLabels, settings: Settings) -> Iterator[CorrectedPlace]:
    """Yield cMFG, MFG, mean decisiveness and mean confidence of each method that people labeled.

    Of answers with several assertions, cMFG and MFG of answers count those as labeled of which
    people labeled every assertion.
    """
    pairs = zip(load_rows(run, settings), load_rows(labels.read(run), settings), strict=True)
    for rows, said in pairs:
        where = slice_of(form=rows.form, method=rows.method)
        by_people = said.take(rows.used)
        used = rows.scored(settings.pooled)
        by_people = by_people._replace(weight=used.weight)
        places = list(zip(used.targets, used.question, strict=True))
        for stage in labels.verdicts:
            if stage.endswith(COMPARED) and len(used.d):
                letters = {(v.target, v.asked): v.raw or "" for v in run.verdicts(stage)}
                made = corrected_confidence(used, letters, labels, stage, settings)
                if made is not None:
                    yield CorrectedPlace(CONFIDENCE, where, made, stage)
            if not stage.endswith(WORDING):
                continue
            drawn = drawn_rows(labels, stage, places, ~np.isnan(by_people.d), used.entity)
            if drawn is None:
                continue
            among = used.take(_mask(drawn.inside, len(used.d)))
            heard = by_people.take(_mask(drawn.inside, len(used.d)))
            for name, metric, columns in _of_assertions(settings):
                judge, people = columns(among), columns(heard)
                at = np.asarray(drawn.labeled.rows)
                made = corrected_metric(name, metric, judge, [c[at] for c in people], drawn.labeled)
                yield CorrectedPlace(name, where, made, stage)
            chances = labels.chances.get(stage, {})
            inside = [places[row] for row in drawn.inside.tolist()]
            of_rows = {int(n): chances.get(inside[n]) for n in np.asarray(drawn.labeled.rows)}
            yield from (
                CorrectedPlace(name, where, made, stage)
                for name, made in _of_answers(among, heard, of_rows, settings)
            )


def corrected_confidence(
    used: MethodRows,
    letters: Mapping[Place, str],
    labels: PeopleLabels,
    stage: str,
    settings: Settings,
) -> Corrected | None:
    """Return mean confidence, corrected by labels of pairs: an assertion and a draw.

    ``letters`` are the judge's comparisons by assertion and question. ``None`` where no pair of the
    rows that are ``used`` is labeled.

    An assertion's confidence c is the share of its k draws that agree, of those that count
    (:func:`draw_agreement`). So the mean over assertions is a sum over pairs, in which each adds
    1/k of its assertion's weight if it agrees. Where people do not count a draw that the judge
    counts, k changes with their labels; to first order that draw adds c, and one that only people
    count adds what it says minus c. Not where all but entailment lowers confidence: people label
    contradictions.
    """
    if settings.relation != "contradiction":
        return None
    assertions = zip(used.targets, used.question, strict=True)
    pairs = [
        (row, letter, (pair_target(target, sample), asked))
        for row, (target, asked) in enumerate(assertions)
        for sample, letter in enumerate(letters.get((target, asked), "")[: settings.draws.k])
        if letter in LETTERS
    ]
    row = np.array([one for one, _, _ in pairs], dtype=np.int64)
    places = [place for _, _, place in pairs]
    drawn = drawn_rows(labels, stage, places, np.ones(len(pairs)), used.entity[row])
    if drawn is None:
        return None
    said, counts = labels.verdicts[stage], _counts(settings)
    judge = np.array([counts[letter] for _, letter, _ in pairs])
    letters_said = [said[places[at]].label or "?" for at in drawn.at.tolist()]
    people = np.array([counts.get(letter, counts["?"]) for letter in letters_said])
    weight = (_shares(used) / used.k)[row]
    total = weight * judge[:, 1]

    def sums(read: Floats, at: NDArray[np.int64]) -> Floats:
        agrees, counted = read.T
        adds = agrees + used.c[row[at]] * (judge[at, 1] - counted)
        return np.stack([weight[at] * adds, total[at]], axis=1)

    return corrected_sums(
        lambda held: {CONFIDENCE: held[..., 0] / held[..., 1]},
        sums(judge[drawn.inside], drawn.inside),
        sums(people, drawn.at),
        drawn.labeled,
    )[CONFIDENCE]


def _counts(settings: Settings) -> dict[str, tuple[float, float]]:
    """Return by the letter of a comparison whether the draw agrees, and whether it counts."""
    alone = dataclasses.replace(settings, least=1)
    read = {letter: draw_agreement(letter, alone)[:2] for letter in LETTERS}
    return {
        letter: (0.0, 0.0) if np.isnan(k) else (agree, k) for letter, (agree, k) in read.items()
    }


def _shares(used: MethodRows) -> Floats:
    """Return the share of each row in a mean over choices of demonstrations."""
    _, choice = np.unique(used.choice, return_inverse=True)
    return used.weight / np.bincount(choice, used.weight)[choice]


def _mask(at: Any, size: int) -> Any:
    mask = np.zeros(size, dtype=bool)
    mask[at] = True
    return mask


def _of_assertions(
    settings: Settings,
) -> Iterator[tuple[str, Callable[..., Any], Callable[[MethodRows], tuple[Any, ...]]]]:
    binned = mean_over_choices(cmfg, binning=binning_of(settings))
    plain = mean_over_choices(mfg)
    yield "cmfg_aspects", binned, lambda r: r.counts
    yield "mfg_aspects", plain, lambda r: (1 - np.abs(r.d - r.c), r.weight, r.choice)
    yield "mean_decisiveness", plain, lambda r: (r.d, r.weight, r.choice)


def _of_answers(
    judge: MethodRows, people: MethodRows, chances: dict[int, float | None], settings: Settings
) -> Iterator[tuple[str, Any]]:
    """Yield cMFG and MFG of answers; ``chances`` has those of the labeled rows."""
    names, group = np.unique(np.array(judge.answers, dtype=np.str_), return_inverse=True)
    group = group.reshape(-1)
    labeled = np.bincount(group[list(chances)], minlength=len(names))
    whole = np.flatnonzero(labeled == np.bincount(group, minlength=len(names)))
    if not len(whole):
        return
    known = all(chance is not None for chance in chances.values())
    chance = np.ones(len(names))
    for row, value in chances.items():
        chance[group[row]] *= value or 1.0
    own, said = judge.by_answer(), people.by_answer()
    drawn = LabeledRows(whole, chance[whole] if known else None, clusters=own.entity)
    binned = mean_over_choices(cmfg_answers, binning=binning_of(settings))
    plain = mean_over_choices(mfg)
    for name, metric, columns in (
        ("cmfg", binned, (own.counts, said.counts)),
        ("mfg", plain, ((own.f, own.weight, own.choice), (said.f, said.weight, said.choice))),
    ):
        of_labels = [column[whole] for column in columns[1]]
        yield name, corrected_metric(name, metric, columns[0], of_labels, drawn)
