"""How well the answers of a run were read: a section on its page, and sentences in the terminal.

Intervals of a run are sampling error only. This says how often the reader is right on labelled
texts that are near the run's. What that does to the run's numbers, only labels of its own answers
tell. Protocols say which readings their numbers rest on; a model as a judge is known by its stored
check, or not at all.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from sayso.harmless import line
from sayso.judges.reliability import CountedShare, share
from sayso.judges.rules.accuracy import (
    Form,
    NearestContents,
    NearestPairs,
    NearestTexts,
    RatingReadings,
    ReaderAccuracy,
    Writer,
    kind_of_writer,
    nearest_contents,
    nearest_texts,
    reader_accuracy,
)
from sayso.judges.rules.judge import SIGNATURE
from sayso.metric import FORMS
from sayso.report.corrected import stored_corrected
from sayso.report.sheet import HowRead
from sayso.report.terminal import check_command
from sayso.storage.run_folder import Manifest, RunFolder

#: the source of claims that no rule was made on
ARTICLES = "wikibio"


class PartRead(NamedTuple):
    """How well one thing is read, in sentences, and whose labeled texts that rests on."""

    sentence: str
    texts: str = ""


def how_read(
    manifest: Manifest | None, parts: Sequence[PartRead], run: RunFolder | None
) -> HowRead:
    """Return the section of some parts; empty for a run without a judge, or judged by people.

    ``run`` is the folder, ``None`` where there is none.
    """
    if manifest is None or manifest.judge in ("", "people") or not parts:
        return HowRead()
    last = "All intervals are sampling error only: they leave out how the judge errs."
    texts = dict.fromkeys(part.texts for part in parts if part.texts)
    sentences = dict.fromkeys(part.sentence for part in parts)
    return HowRead([*sentences, f"{last} {_measured_by_people(run)}"], [*texts])


def _measured_by_people(run: RunFolder | None) -> str:
    """Return how to measure the errors on answers of a run, or if people labeled some, see them."""
    folder = line(shlex.quote(str(run.path)), 200) if run is not None else "RUN"
    if run is not None and stored_corrected(run):
        return f"How far the judge agrees with people's labels: sayso agreement {folder}"
    return f"To measure that on answers of this run: sayso label {folder}"


def run_writer(manifest: Manifest) -> Writer | None:
    """Return which kind of model wrote the answers of a run; ``None`` if its name does not say."""
    if manifest.model.startswith("builtin"):
        return "small"
    return kind_of_writer(manifest.model) or kind_of_writer(manifest.shown_model)


# ---- readers of which nothing was counted


def unknown_part(manifest: Manifest, reader: str, does: str, checked: str) -> PartRead:
    """Return that nobody counted how well a reader ``does`` something, or what its check found.

    ``checked`` is the part of :func:`check_sentence` that its stored check may hold; "" if the
    check does not measure this.
    """
    unknown = f"How well {line(reader, 60)} {does} is not known"
    if manifest.judge == "rules" or not checked:
        return PartRead(f"{unknown}.")
    found = [
        text for part in ("labelled_", "") if (text := check_sentence(manifest, checked, part))
    ]
    if found:
        return PartRead(f"{unknown}. {' '.join(found)}")
    return PartRead(f"{unknown} until you check it: {check_command(manifest)}")


def check_sentence(manifest: Manifest, what: str, part: str = "") -> str:
    """Return what the stored check of the judge found: of "doubt", "right", "words" or "pairs".

    ``part`` is "labelled_" for the user's labels; "" if the check has none of this.
    """
    check = manifest.judge_check

    def of(name: str) -> str:
        count, whole = check.get(f"{part}{name}"), check.get(f"{part}{name}_of")
        if not isinstance(count, int) or not isinstance(whole, int) or not whole:
            return ""
        return f"{count:,} of {whole:,}"

    labels = f"the labels of {line(str(check.get('labelled')), 60)}" if part else "sayso's labels"
    when = line(str(check.get(f"{part}checked", ""))[:10])
    begun = f"In its check of {when}, on {labels},"
    found, invented = of("found"), of("invented")
    if what == "doubt" and found and invented:
        return (
            f"{begun} it saw doubt in {found} answers that voice it, and in {invented} that do not."
        )
    if what == "right" and of("right"):
        return f"{begun} it called {of('right')} committed answers right or wrong as labeled."
    if what == "words" and of("phrases"):
        return (
            f"In its check, it scored {of('phrases')} hedges within what people take them to mean."
        )
    if what == "pairs" and of("pairs"):
        return (
            f"In its check, it called {of('pairs')} pairs of answers contradictory or not, rightly."
        )
    return ""


# ---- doubt, and answers that decline


def doubt_part(reader: str, answers: str, near: NearestTexts | None) -> PartRead:
    """Return how well doubt is read in ``answers``, as they are called in a sentence."""
    if near is None:
        return PartRead(f"How well {reader} sees doubt in {answers} is not known.")
    text = (
        f"Doubt in {answers}: {reader} sees {_counted(near.found, 'doubt')} and takes "
        f"{_counted(near.invented, 'assertions')} for doubt, in the labeled texts nearest to this "
        f"run: {near.why}."
    )
    return PartRead(text, _told(answers, near))


def declining_part(reader: str, answers: str, near: NearestTexts | None) -> PartRead:
    """Return how well it is read whether ``answers`` decline."""
    if near is None or not near.withheld_found.of:
        return PartRead(f"How well {reader} sees that {answers} decline is not known.")
    text = (
        f"Declining in {answers}: {reader} sees {_counted(near.withheld_found, 'it')} and takes "
        f"{_counted(near.withheld_invented, 'the other answers')} for declining, in the labeled "
        f"texts nearest to this run: {near.why}."
    )
    return PartRead(text, _told(answers, near))


def _told(answers: str, near: NearestTexts) -> str:
    """Return whose texts say how well doubt is read, and who labeled them."""
    return (
        f"{answers[0].upper()}{answers[1:]}: {near.texts}, "
        f"{'some told to voice doubt' if near.told else 'asked plainly'}. "
        f"Labels: {near.labels}. No text was used in training."
    )


def _counted(one: CountedShare, what: str, things: str = "texts") -> str:
    """Return "83 % [59–96] of doubt (15 of 18 texts)"."""
    counts = f"({one.count:,} of {one.of:,} {things})"
    if one.value is None or one.low is None or one.high is None:
        return f"an unknown share of {what} {counts}"
    span = f"[{100 * one.low:.0f}–{100 * one.high:.0f}]"
    return f"{100 * one.value:.0f} % {span} of {what} {counts}"


# ---- right and wrong


def right_part(reader: str, answers: str, near: NearestContents | None) -> PartRead:
    """Return how well right and wrong ``answers`` are told apart."""
    if near is None:
        return PartRead(f"How well {reader} tells right from wrong in {answers} is not known.")
    text = (
        f"Right and wrong in {answers}: {reader} accepts "
        f"{_counted(near.right, 'right answers', 'answers')} and "
        f"{_counted(near.wrong, 'wrong ones', 'answers')}, among the labeled answers nearest to "
        f"this run: {near.why}."
    )
    labelled = (
        f"{answers[0].upper()}{answers[1:]}, right and wrong: {near.texts}. Labels: {near.labels}. "
        "Answers that the reader takes for declining are left out."
    )
    return PartRead(text, labelled)


def right_read(
    manifest: Manifest, form: str, words: float | None = None, answers: str = ""
) -> PartRead:
    """Return how well a run's judge tells right from wrong answers of a form.

    ``words`` are those of a typical answer, if known; ``answers`` is what a sentence calls them.
    """
    name = line(manifest.judge_signature or manifest.judge, 60)
    if manifest.judge != "rules":
        return unknown_part(manifest, name, "tells right from wrong answers", "right")
    counts, near = offline_counts(manifest), None
    if counts is not None:
        near = nearest_contents(counts, _length(form), words, run_writer(manifest))
    return right_part(name, answers or FORMS[form], near)


def doubt_read(manifest: Manifest, form: str, words: float | None) -> PartRead:
    """Return how well a run's judge sees doubt in answers of a form, typically of ``words``."""
    name = line(manifest.judge_signature or manifest.judge, 60)
    if manifest.judge != "rules":
        return unknown_part(manifest, name, "sees doubt in answers like these", "doubt")
    counts, near = offline_counts(manifest), None
    if counts is not None:
        near = nearest_texts(counts, _length(form), words, run_writer(manifest))
    return doubt_part(name, FORMS[form], near)


def declining_read(manifest: Manifest, form: str, words: float | None, both: bool) -> PartRead:
    """Return how well a run's judge sees that answers of a form decline.

    ``both``: some questions cannot be answered.
    """
    name = line(manifest.judge_signature or manifest.judge, 60)
    if manifest.judge != "rules":
        return unknown_part(manifest, name, "sees that an answer declines", "doubt")
    counts, near = offline_counts(manifest), None
    if counts is not None:
        writer = run_writer(manifest)
        near = nearest_texts(counts, _length(form), words, writer, unanswerable=both)
    return declining_part(name, FORMS[form], near)


def offline_counts(manifest: Manifest) -> ReaderAccuracy | None:
    """Return what was counted of the offline judge; ``None`` if a run has another version of it."""
    return reader_accuracy() if manifest.judge_signature == SIGNATURE else None


def _length(form: str) -> Form:
    return "long" if form == "long" else "short"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


# ---- wording and contradictions


def wording_part(reader: str, counts: ReaderAccuracy) -> PartRead:
    """Return how decisiveness compares with people's ratings."""
    return PartRead(
        " ".join(_rated(reader, one) for one in counts.ratings),
        " ".join(
            f"Wording: {counts.sources[one.source].title}, some told to voice doubt. Labels: "
            f"{counts.sources[one.source].labels}. {one.unscored:,} further answers got no score. "
            "No text was used in training."
            for one in counts.ratings
        ),
    )


def _rated(reader: str, one: RatingReadings) -> str:
    side = "above" if one.above > 0 else "below"
    return (
        f"Wording: the decisiveness of {reader} and people's ratings of {one.scored:,} answers "
        f"have a rank correlation of {_two(one.spearman)} [{_two(one.low)}, {_two(one.high)}] and "
        f"differ by {_two(one.error)} on average. Decisiveness is {_two(abs(one.above))} {side} "
        "the ratings."
    )


def contradictions_part(reader: str, answers: str, near: NearestPairs | None) -> PartRead:
    """Return how well contradictions are seen."""
    if near is None:
        return PartRead(f"How well {reader} sees contradictions in {answers} is not known.")
    text = (
        f"Contradictions in {answers}: {reader} sees {_counted(near.found, 'them', 'pairs')}, "
        f"takes {_counted(near.invented, 'agreeing pairs', 'pairs')} for contradictions and "
        f"leaves out {_counted(near.dropped, 'the comparable pairs', 'pairs')}, among the labeled "
        f"pairs nearest to this run: {near.why}."
    )
    return PartRead(text, f"Contradictions: {near.texts}. Labels: {near.labels}.")


# ---- claims


def support_part(reader: str, counts: ReaderAccuracy) -> PartRead:
    """Return how claims are checked against passages."""
    if not counts.claims:
        return PartRead(f"How well {reader} checks claims is not known.")
    # set aside, and against an encyclopedia's prose
    one = next((row for row in counts.claims if row.source == ARTICLES), counts.claims[0])
    true = share(one.true_supported, one.true)
    false = share(one.false_supported, one.false)
    text = (
        f"Support of claims: {reader} supports {_counted(true, 'accurate claims', 'claims')} and "
        f"{_counted(false, 'wrong ones', 'claims')}, in {counts.sources[one.source].title}."
    )
    others = (
        f"{counts.sources[row.source].title}: "
        f"{_counted(share(row.true_supported, row.true), 'accurate claims', 'claims')} and "
        f"{_counted(share(row.false_supported, row.false), 'wrong ones', 'claims')} are "
        f"supported. Labels: {counts.sources[row.source].labels}."
        for row in counts.claims
    )
    return PartRead(text, " ".join(f"{t[0].upper()}{t[1:]}" for t in others))
