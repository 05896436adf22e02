"""How well the answers of a run were read: a section on its page, and sentences in the terminal.

Intervals of a run are sampling error only. This says what the reader got right on labelled texts
that are near the run's, and which way such errors move each number. Protocols say which readings
their numbers rest on; a model as a judge is known by its stored check, or not at all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from sayso.harmless import line
from sayso.judges.reliability import CountedShare, share
from sayso.judges.rules.accuracy import (
    NearestContents,
    NearestPairs,
    NearestTexts,
    RatingReadings,
    ReaderAccuracy,
    Writer,
    kind_of_writer,
)
from sayso.records import CorrectedNumber
from sayso.report.corrected import NO_EFFECT, judge_effect
from sayso.report.numbers import DASH, capital
from sayso.report.terminal import check_command
from sayso.storage.run_folder import Manifest, RunFolder

#: a change by less than this is none
UNMOVED = 0.001
#: an AUROC to say what becomes of it
EXAMPLE_AUROC = 0.8
#: words and confidence that are nearer than this are on no clear side of each other
NEAR = 0.05
#: the source of claims that no rule was made on
ARTICLES = "wikibio"


class HowRead(NamedTuple):
    """The section: its heading, its sentences, and whose labelled texts they rest on."""

    title: str
    sentences: Sequence[str] = ()
    texts: Sequence[str] = ()


class PartRead(NamedTuple):
    """How well one thing is read, in sentences, and whose labelled texts that rests on."""

    sentence: str
    texts: str = ""


class Pull(NamedTuple):
    """Which way reading errors move numbers: the names of those that they make so."""

    toward_0: Sequence[str] = ()
    low: Sequence[str] = ()
    high: Sequence[str] = ()
    either: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """Return what reading errors do to the numbers; "" if they move none."""
        made = [
            f"{_listed(names)} {how}"
            for names, how in (
                (self.toward_0, "too close to 0"),
                (self.low, "too low"),
                (self.high, "too high"),
            )
            if names
        ]
        text = f"Reading errors of this size make {', '.join(made)}." if made else ""
        if self.either:
            text += f" {capital(_listed(self.either))} can be off either way."
        return text.strip()


def _listed(names: Sequence[str]) -> str:
    """Return names as English lists them: "UUR, KCR and FA"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def how_read(
    title: str, manifest: Manifest | None, parts: Sequence[PartRead], more: str = ""
) -> HowRead:
    """Return the section of some parts; empty for a run without a judge, or judged by people.

    ``more`` says how to measure the errors on texts of the user's own.
    """
    if manifest is None or manifest.judge in ("", "people") or not parts:
        return HowRead(title)
    last = f"All intervals are sampling error only: they leave out how the judge errs. {more}"
    texts = dict.fromkeys(part.texts for part in parts if part.texts)
    sentences = dict.fromkeys(part.sentence for part in parts)
    return HowRead(title, [*sentences, last.strip()], [*texts])


def measure_on_run(run: RunFolder | None, *, labeled: bool) -> str:
    """Return how to measure the errors on answers of a run, or if people labeled some, to see them.

    ``run`` is its folder, ``None`` where there is none.
    """
    folder = line(shlex.quote(str(run.path)), 200) if run is not None else "RUN"
    if labeled:
        return f"How far the judge agrees with people's labels: sayso agreement {folder}"
    return f"To measure that on answers of this run: sayso label {folder}"


def labeled_part(one: CorrectedNumber, symbol: str, answers: str, differ: int = 0) -> str:
    """Return what people's labels of ``answers`` show of the judge, by one corrected number.

    ``differ`` is on how many of them people and judge differ, at least.
    """
    text = f"People labeled {one.labels:,} of the {one.rows:,} {answers} behind {symbol}."
    if not one.disagreements and differ:
        return (
            f"{text} They differ from the judge on at least {differ:,}, but never in a way that "
            f"moves {symbol}."
        )
    if not one.disagreements:
        return f"{text} They never differ from the judge in a way that moves {symbol}."
    text += f" On {one.disagreements:,} they differ from the judge in a way that moves {symbol}"
    effect = judge_effect(one)
    if effect in (DASH, NO_EFFECT):
        return f"{text}."
    if effect.startswith("("):
        return f"{text}: the judge made it {effect[1:-1]}, which the draw of labels may explain."
    return f"{text}: the judge made it {effect}."


def measure_on_labels(manifest: Manifest) -> str:
    """Return how to measure the errors of a run's judge on labels of the user's own."""
    return f"To measure that on your own labels: {check_command(manifest)} --labelled FILE"


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
        return f"{begun} it called {of('right')} committed answers right or wrong as labelled."
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


def doubt_part(reader: str, answers: str, near: NearestTexts | None, pull: Pull) -> PartRead:
    """Return how well doubt is read in ``answers``, as they are called in a sentence."""
    if near is None:
        return PartRead(f"How well {reader} sees doubt in {answers} is not known.")
    text = (
        f"Doubt in {answers}: {reader} sees {_counted(near.found, 'doubt')} and takes "
        f"{_counted(near.invented, 'assertions')} for doubt, in the labelled texts nearest to this "
        f"run: {near.why}."
    )
    return PartRead(f"{text} {pull.sentence}".strip(), _told(answers, near))


def declining_part(reader: str, answers: str, near: NearestTexts | None, pull: Pull) -> PartRead:
    """Return how well it is read whether ``answers`` decline."""
    if near is None or not near.withheld_found.of:
        return PartRead(f"How well {reader} sees that {answers} decline is not known.")
    text = (
        f"Declining in {answers}: {reader} sees {_counted(near.withheld_found, 'it')} and takes "
        f"{_counted(near.withheld_invented, 'the other answers')} for declining, in the labelled "
        f"texts nearest to this run: {near.why}."
    )
    return PartRead(f"{text} {pull.sentence}".strip(), _told(answers, near))


def _told(answers: str, near: NearestTexts) -> str:
    """Return whose texts say how well doubt is read, and who labelled them."""
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


def misread(rate: float, found: float, invented: float) -> float:
    """Return a rate as it is measured by a reader that sees ``found`` of it and invents some."""
    return rate * found + (1 - rate) * invented


def pull_of_rates(
    rates: dict[str, float | None],
    found: CountedShare,
    invented: CountedShare,
    number: Callable[[float], float] = float,
) -> Pull:
    """Return which way errors move each rate, by reading it once more with the same errors.

    A way is told if it is the same at the ends of both ranges. A rate of 0 is not too high and one
    of 1 not too low. ``number`` makes what is printed of a rate, such as 1 minus it.
    """
    low: list[str] = []
    high: list[str] = []
    either: list[str] = []
    for name, rate in rates.items():
        changes = [] if rate is None else _changes(rate, found, invented, number)
        signs = {change > 0 for change in changes if abs(change) >= UNMOVED}
        if len(signs) == 2:
            either.append(name)
        elif signs:
            (high if signs == {True} else low).append(name)
    return Pull((), low, high, either)


def _changes(
    rate: float, found: CountedShare, invented: CountedShare, number: Callable[[float], float]
) -> list[float]:
    """Return how a rate changes at the values and the ends of both ranges; never at 0 and 1."""
    ends = ([s.value, s.low, s.high] for s in (found, invented))
    return [
        number(misread(rate, s, f)) - number(rate)
        for s, f in product(*ends)
        if s is not None and f is not None and rate not in (0, 1)
    ]


def true_rate(rate: float, found: float, invented: float) -> float | None:
    """Return the rate that is measured so (Rogan and Gladen 1978), within 0 and 1.

    ``None`` for a reader that is no better than chance.
    """
    if found <= invented:
        return None
    return min(1.0, max(0.0, (rate - invented) / (found - invented)))


# ---- right and wrong


class RightRead(NamedTuple):
    """What the errors on right and wrong do to numbers of a form's answers.

    ``rate`` is the measured share of wrong answers. ``names`` are what the numbers are called that
    are that share, and 1 minus it; "" if the report has none. ``ranks``: scores are ranked by it.
    ``ece`` is the name of a calibration error against it, "" for none.
    """

    rate: float | None
    names: tuple[str, str] = ("the error rate", "")
    ranks: bool = False
    ece: str = ""


def right_part(reader: str, answers: str, near: NearestContents | None, of: RightRead) -> PartRead:
    """Return how well right and wrong ``answers`` are told apart, and what that moves."""
    if near is None:
        return PartRead(f"How well {reader} tells right from wrong in {answers} is not known.")
    sentences = [
        f"Right and wrong in {answers}: {reader} accepts "
        f"{_counted(near.right, 'right answers', 'answers')} and "
        f"{_counted(near.wrong, 'wrong ones', 'answers')}, among the labelled answers nearest to "
        f"this run: {near.why}."
    ]
    if of.rate is not None:
        sentences += _moved_by_wrong(near, of, of.rate)
    if of.ranks and (text := length_sentence(near, of.rate)):
        sentences.append(text)
    labelled = (
        f"{answers[0].upper()}{answers[1:]}, right and wrong: {near.texts}. Labels: {near.labels}. "
        "Answers that the reader takes for declining are left out."
    )
    return PartRead(" ".join(sentences), labelled)


def _moved_by_wrong(near: NearestContents, of: RightRead, rate: float) -> list[str]:
    found, invented = _complement(near.wrong), _complement(near.right)
    pulls = [
        pull_of_rates({name: rate}, found, invented, number)
        for name, number in zip(of.names, (float, lambda r: 1 - r), strict=True)
        if name
    ]
    texts = [pull.sentence for pull in pulls if pull.sentence]
    if found.value is None or invented.value is None:
        return texts
    wrong = true_rate(rate, found.value, invented.value)
    area = measured_auroc(EXAMPLE_AUROC, wrong, found.value, invented.value)
    if of.ranks and area is not None and _two(area) != _two(EXAMPLE_AUROC):
        texts.append(
            "Errors that are random pull AUROC to .5 and PRR to 0: an AUROC of "
            f"{_two(EXAMPLE_AUROC)} is measured as {_two(area)}."
        )
    if of.ece and wrong is not None:
        off = wrong * (1 - found.value) + (1 - wrong) * invented.value
        texts.append(f"{of.ece} can be off by up to {_two(off)}.")
    return texts


def measured_auroc(area: float, wrong: float | None, found: float, invented: float) -> float | None:
    """Return an AUROC for wrong answers as it is measured if labels err at random.

    ``wrong`` of the answers are wrong, a share ``found`` of them is labelled so, and ``invented``
    of the right ones. Random errors mix the two groups that are compared, so that what is above .5
    shrinks by P(wrong | labelled wrong) + P(right | labelled right) - 1 (Menon et al., ICML 2015).
    ``None`` where a group is empty.
    """
    if wrong is None:
        return None
    labelled = misread(wrong, found, invented)
    if not 0 < labelled < 1:
        return None
    kept = wrong * found / labelled + (1 - wrong) * (1 - invented) / (1 - labelled) - 1
    return 0.5 + (area - 0.5) * kept


def length_sentence(near: NearestContents, rate: float | None) -> str:
    """Return how errors on right and wrong go with length, and what that does to scores.

    ``rate`` is the measured share of wrong answers. "" where the labelled answers leave it open: if
    the share of answers that errors turn wrong differs by less than twice its standard error.
    """
    (right_short, right_long), (wrong_short, wrong_long) = near.lengths
    shares = (right_short, right_long, wrong_short, wrong_long)
    if rate is None or any(s.value is None or s.of < 10 for s in shares):
        return ""
    weights = (rate - 1, 1 - rate, rate, -rate)
    more = sum(w * (s.value or 0.0) for w, s in zip(weights, shares, strict=True))
    error = sum(w * w * _variance(s) for w, s in zip(weights, shares, strict=True)) ** 0.5
    if abs(more) < max(2 * error, UNMOVED):
        return (
            "Its errors do not clearly go with length: it rejects "
            f"{_whole(right_short)} of the right answers of at most 20 words and "
            f"{_whole(right_long)} of longer ones, and accepts {_whole(wrong_short)} and "
            f"{_whole(wrong_long)} of the wrong ones."
        )
    how, look = ("more", "better") if more > 0 else ("less", "worse")
    return (
        f"It rejects {_whole(right_short)} of the right answers of at most 20 words and "
        f"{_whole(right_long)} of longer ones, and accepts {_whole(wrong_short)} and "
        f"{_whole(wrong_long)} of the wrong ones. Long answers are {how} often called wrong for "
        f"that, so scores that rise with length look {look} than they are."
    )


def _variance(one: CountedShare) -> float:
    """Return the variance of a share, not 0 where nothing or everything was counted."""
    p = (one.count + 1) / (one.of + 2)
    return p * (1 - p) / one.of


def _complement(one: CountedShare) -> CountedShare:
    """Return the share of the rest."""

    def rest(value: float | None) -> float | None:
        return None if value is None else 1 - value

    count = one.of - one.count
    return CountedShare(count, one.of, rest(one.value), rest(one.high), rest(one.low))


def _whole(one: CountedShare) -> str:
    return f"{100 * (one.value or 0.0):.0f} %"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


# ---- wording and contradictions


def wording_part(reader: str, counts: ReaderAccuracy) -> PartRead:
    """Return how decisiveness compares with people's ratings, and what that moves."""
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
        f"the ratings. Errors of this size move MFG and cMFG by up to {_two(one.error)}. Random "
        "errors pull skill to 0."
    )


def contradictions_part(
    reader: str,
    answers: str,
    near: NearestPairs | None,
    words: float | None,
    confidence: float | None,
) -> PartRead:
    """Return how well contradictions are seen, and what that moves.

    ``words`` and ``confidence`` are the run's mean decisiveness and confidence.
    """
    if near is None or near.found.value is None or near.invented.value is None:
        return PartRead(f"How well {reader} sees contradictions in {answers} is not known.")
    text = (
        f"Contradictions in {answers}: {reader} sees {_counted(near.found, 'them', 'pairs')}, "
        f"takes {_counted(near.invented, 'agreeing pairs', 'pairs')} for contradictions and "
        f"leaves out {_counted(near.dropped, 'the comparable pairs', 'pairs')}, among the labelled "
        f"pairs nearest to this run: {near.why}."
    )
    half = 1 - misread(0.5, near.found.value, near.invented.value)
    text += f" A confidence of .50 is measured as {_two(half)} on average."
    if confidence is not None:
        pull = pull_of_rates(
            {"mean confidence": 1 - confidence}, near.found, near.invented, lambda r: 1 - r
        )
        text += f" {_faithful(pull, words, confidence).sentence}"
    text = f"{text.rstrip()} Random errors pull skill to 0."
    return PartRead(text, f"Contradictions: {near.texts}. Labels: {near.labels}.")


def _faithful(pull: Pull, words: float | None, confidence: float) -> Pull:
    """Return which way MFG and cMFG go with confidence, where words are on one side of it."""
    names = ["MFG", "cMFG"]
    if words is None or not (pull.low or pull.high or pull.either):
        return pull
    if pull.either or abs(words - confidence) < NEAR:
        return pull._replace(either=[*pull.either, *names])
    nearer = (words > confidence) == bool(pull.high)
    if nearer:
        return pull._replace(high=[*pull.high, *names])
    return pull._replace(low=[*pull.low, *names])


# ---- claims


def support_part(reader: str, counts: ReaderAccuracy, factscore: float | None) -> PartRead:
    """Return how claims are checked against passages, and what that moves."""
    if not counts.claims:
        return PartRead(f"How well {reader} checks claims is not known.")
    # set aside, and against an encyclopedia's prose
    one = next((row for row in counts.claims if row.source == ARTICLES), counts.claims[0])
    true = share(one.true_supported, one.true)
    false = share(one.false_supported, one.false)
    text = (
        f"Support of claims: {reader} supports {_counted(true, 'accurate claims', 'claims')} and "
        f"{_counted(false, 'wrong ones', 'claims')}, in {counts.sources[one.source].title}. "
        f"{pull_of_rates({'FActScore': factscore}, true, false).sentence}"
    )
    text = (
        f"{text.rstrip()} Some claims called unsupported are accurate. This pulls the sum of "
        "Self-Known and Self-Unknown towards 1, the value of a model that cannot tell."
    )
    others = (
        f"{counts.sources[row.source].title}: "
        f"{_counted(share(row.true_supported, row.true), 'accurate claims', 'claims')} and "
        f"{_counted(share(row.false_supported, row.false), 'wrong ones', 'claims')} are "
        f"supported. Labels: {counts.sources[row.source].labels}."
        for row in counts.claims
    )
    return PartRead(text, " ".join(f"{t[0].upper()}{t[1:]}" for t in others))
