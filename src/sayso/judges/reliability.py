"""How reliable is a judge? The records of ``sayso judge-check``, their numbers, and where they lie.

The last check of each judge is kept as one small JSON file beside the cache, so that the report of
every later run with this judge can cite it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from sayso.metrics.agreement import kappa
from sayso.metrics.intervals import exact_interval
from sayso.records import LABELS, Content, Stance, Verdict, content_id
from sayso.storage.atomic import disk_errors, place_inside, replacing
from sayso.storage.cache import default_cache_folder


class HumanLabel(NamedTuple):
    """People's label of one aspect: a verdict's two parts, or only one of them, or a letter."""

    stance: Stance | None = None
    content: Content | None = None
    letter: str | None = None
    right: bool | None = None

    def agrees(self, verdict: Verdict) -> bool:
        """Whether a verdict that could be read says the same.

        Two parts are compared by UNCLE's projection. "NS" covers an omitted aspect, as in the
        paper. ``right`` is content: an answer can be right and hedged.
        """
        if self.right is not None:
            return (verdict.content == "correct") == self.right
        value = verdict.value
        if self.letter is not None:
            letter = "" if value is None else LABELS[value]
            return letter == self.letter or (self.letter == "NS" and letter == "OMIT")
        if self.content is None:
            return verdict.stance == self.stance
        return value == Verdict("", "", "", stance=self.stance, content=self.content).value

    @property
    def uncertain(self) -> bool | None:
        """Whether UNCLE would count the answer as uncertain; ``None`` where nobody said."""
        if self.letter is not None:
            return self.letter == "UNC"
        return None if self.stance is None else self.stance not in ("committed", "omitted")

    @property
    def correct(self) -> bool | None:
        """Whether a committed answer is right; ``None`` for any other, or where nobody said."""
        if self.letter in ("S", "NS"):
            return self.letter == "S"
        if self.stance == "committed" and self.content in ("correct", "incorrect"):
            return self.content == "correct"
        return self.right


STANCES: tuple[Stance, ...] = get_args(Stance)


class CountedShare(msgspec.Struct, frozen=True):
    """A share with its counts and the exact 95 % interval; ``value`` is ``None`` for 0 of 0."""

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


def share(count: int, of: int) -> CountedShare:
    """Return count/of with the exact (Clopper-Pearson) interval."""
    low, high = exact_interval(count, of) if of else (None, None)
    return CountedShare(count, of, count / of if of else None, low, high)


class StanceRow(msgspec.Struct, frozen=True):
    """How a judge did on one stance: precision over its verdicts, recall over the labels."""

    stance: Stance
    precision: CountedShare
    recall: CountedShare


class AgreementGroup(msgspec.Struct, frozen=True):
    """Agreement on one part of a set."""

    name: str
    agreed: CountedShare


class Errors(msgspec.Struct, frozen=True):
    """The shares that say how a judge's errors move UNCLE's rates, of readable verdicts.

    ``found``: of answers labeled uncertain, those called so; ``invented``: of other answers, those
    called uncertain; ``right``: of answers that both call committed, those judged correct or
    incorrect as labeled.
    """

    found: CountedShare
    invented: CountedShare
    right: CountedShare


class LeftToModel(msgspec.Struct, frozen=True):
    """What the model of a cascade is worth: the labels that its rules leave to it.

    ``asked`` of ``aspects`` were left to the model. ``model`` and ``rules`` are the agreement of
    either with the labels, on exactly those whose verdict by the model could be read; ``gained``
    are those on which only the model agrees, ``lost`` those on which only the rules do.
    """

    asked: int
    aspects: int
    model: CountedShare
    rules: CountedShare
    gained: int
    lost: int

    @property
    def difference(self) -> tuple[float, float, float] | None:
        """Return agreement of the model minus that of the rules, and its 95 % range.

        Exact given how many aspects the two disagree on (the sign test's interval; McNemar 1947).
        ``None`` where nothing was read, or where they never disagree.
        """
        apart = self.gained + self.lost
        if not self.model.of or not apart:
            return None
        wins = share(self.gained, apart)
        ends = [(2 * (x or 0.0) - 1) * apart / self.model.of for x in (wins.low, wins.high)]
        return (self.gained - self.lost) / self.model.of, ends[0], ends[1]


class SetResult(msgspec.Struct, frozen=True):
    """How a judge did on one set of labels.

    ``agreed`` is over the ``aspects`` whose verdict could be read; ``problems`` counts the others
    by problem. ``kappa`` is Cohen's, of the stances; ``None`` without stance labels. ``errors`` is
    ``None`` in a check that an older sayso kept. ``left`` is ``None`` where no cascade judged.
    """

    name: str
    aspects: int
    agreed: CountedShare
    problems: dict[str, int]
    groups: tuple[AgreementGroup, ...]
    stance_agreed: CountedShare
    kappa: float | None
    stances: tuple[StanceRow, ...]
    errors: Errors | None = None
    left: LeftToModel | None = None

    @property
    def unread(self) -> int:
        """Verdicts that could not be read."""
        return sum(self.problems.values())


class Injection(msgspec.Struct, frozen=True):
    """What attacks did: of those ``tried``, ``changed`` moved the verdict, ``unread`` spoiled it.

    ``obeyed`` are those of ``changed`` that got the verdict they demanded; a judge that is unsteady
    by itself changes without obeying. ``untested`` attacks (not in ``tried``) are on answers that
    the judge could not read without the attack.
    """

    tried: int
    untested: int
    changed: tuple[str, ...]
    obeyed: tuple[str, ...]
    unread: tuple[str, ...]


class Phrase(msgspec.Struct, frozen=True):
    """One hedge: what people take it to mean, 0..1, and the mean over its ``sentences`` read."""

    phrase: str
    low: float
    median: float
    high: float
    mean: float | None
    sentences: int

    @property
    def inside(self) -> bool:
        """Whether the mean lies within people's quartiles."""
        return self.mean is not None and self.low <= self.mean <= self.high


class WordsCheck(msgspec.Struct, frozen=True):
    """How wording and contradictions are read ``by`` the judge's model, or by rules.

    ``inside``: of the phrases that were read, those within people's quartiles. ``rank`` is
    Spearman's correlation with their medians. ``pairs`` are answers rightly called contradictory
    or not; both ``unread`` count what could not be read.
    """

    by: str
    phrases: tuple[Phrase, ...]
    inside: CountedShare
    rank: float | None
    unread: int
    pairs: CountedShare
    pairs_unread: int


class JudgeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a judge. Dollars are ``None`` where the price is unknown.

    ``checked`` is an ISO time; ``check_set`` is the hash of our labels. ``calls``, tokens and
    ``dollars`` are of the ``graded`` aspects of both sets, without the attacks; ``whole_dollars``
    is the price of the whole check. ``partial``: --limit left some aspects out, or the labels are
    a set of ours (``silence``): it is not kept.
    """

    signature: str
    checked: str
    sayso: str
    check_set: str
    ours: SetResult
    labelled: SetResult | None
    injection: Injection
    graded: int
    calls: int
    retried: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    whole_dollars: float | None
    seconds: float
    partial: bool
    notices: tuple[str, ...] = ()
    words: WordsCheck | None = None

    @property
    def tokens_per_100(self) -> float | None:
        """Tokens of the judge for 100 graded aspects."""
        tokens = self.prompt_tokens + self.completion_tokens
        return 100 * tokens / self.graded if self.graded else None

    @property
    def dollars_per_100(self) -> float | None:
        """Dollars for 100 graded aspects; ``None`` = unknown."""
        known = self.dollars is not None and self.graded
        return 100 * self.dollars / self.graded if known else None  # type: ignore[operator]


def result(
    name: str,
    verdicts: Sequence[Verdict],
    labels: Sequence[HumanLabel],
    groups: Sequence[str],
    *,
    stances: bool = True,
) -> SetResult:
    """Compare verdicts with labels, one for one. ``stances=False``: the judge gives no stances."""
    rows = list(zip(verdicts, labels, groups, strict=True))
    read = [(v, label, group) for v, label, group in rows if v.problem is None]
    pairs = [
        (label.stance, v.stance)
        for v, label, _ in read
        if stances and label.stance is not None and v.stance is not None
    ]
    names = list(dict.fromkeys(groups))
    by_group = {name: [label.agrees(v) for v, label, g in read if g == name] for name in names}
    agreed = kappa([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None
    return SetResult(
        name=name,
        aspects=len(rows),
        agreed=share(sum(label.agrees(v) for v, label, _ in read), len(read)),
        problems=dict(Counter(v.problem for v, _, _ in rows if v.problem is not None)),
        groups=tuple(
            AgreementGroup(n, share(sum(a), len(a))) for n, a in by_group.items() if names[1:]
        ),
        stance_agreed=share(sum(a == b for a, b in pairs), len(pairs)),
        kappa=None if agreed is None else float(agreed),
        stances=tuple(_row(stance, pairs) for stance in STANCES if pairs),
        errors=_errors([(v, label) for v, label, _ in read]),
    )


def model_or_rules(
    by_model: Sequence[Verdict],
    by_rules: Sequence[Verdict],
    labels: Sequence[HumanLabel],
    asked: Sequence[bool],
) -> LeftToModel:
    """Compare a cascade's verdicts with those of its rules where ``asked``: left to the model."""
    rows = zip(by_model, by_rules, labels, asked, strict=True)
    pairs = [
        (label.agrees(model), label.agrees(rules))
        for model, rules, label, left in rows
        if left and model.problem is None
    ]
    return LeftToModel(
        asked=sum(asked),
        aspects=len(labels),
        model=share(sum(model for model, _ in pairs), len(pairs)),
        rules=share(sum(rules for _, rules in pairs), len(pairs)),
        gained=sum(model and not rules for model, rules in pairs),
        lost=sum(rules and not model for model, rules in pairs),
    )


def _errors(read: Sequence[tuple[Verdict, HumanLabel]]) -> Errors:
    said = [(label.uncertain, v.value == "uncertain") for v, label in read]
    found = [called for labelled, called in said if labelled is True]
    invented = [called for labelled, called in said if labelled is False]
    right = [
        (v.content == "correct") == label.correct
        for v, label in read
        if label.correct is not None and v.stance == "committed"
    ]
    return Errors(*(share(sum(some), len(some)) for some in (found, invented, right)))


def _row(stance: Stance, pairs: Sequence[tuple[Stance, Stance]]) -> StanceRow:
    both = sum(a == b == stance for a, b in pairs)
    return StanceRow(
        stance,
        precision=share(both, sum(b == stance for _, b in pairs)),
        recall=share(both, sum(a == stance for a, _ in pairs)),
    )


# ---- one file for each judge

#: Added to a judge's signature by a run whose subject is its relative; the judge is the same
OWN_FAMILY = "+own-family"

Cited = dict[str, str | int | float | None]


def place(signature: str, cache: str | Path | None = None) -> Path:
    """Return the file in which the check of the judge with this signature is kept."""
    name = content_id(["judge", signature.replace(OWN_FAMILY, "")])
    return place_inside(Path(cache or default_cache_folder()), "judge-checks", f"{name}.json")


def keep_check(check: JudgeCheck, cache: str | Path | None = None) -> None:
    """Write a check in one piece in place of the one before it."""
    # a result of Python has more than is kept: its answers
    kept = JudgeCheck(**{name: getattr(check, name) for name in JudgeCheck.__struct_fields__})
    with replacing(place(check.signature, cache), private=True) as file:
        file.write(msgspec.json.format(msgspec.json.encode(kept)))


def _stored_check(path: Path) -> JudgeCheck | str | None:
    """Return the check in a file, why it cannot be read, or ``None`` if there is none."""
    if not path.is_file():
        return None
    try:
        with disk_errors(path, "read"):
            raw = path.read_bytes()
        return msgspec.json.decode(raw, type=JudgeCheck)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return f"the stored check cannot be read ({' '.join(str(error).split())})"


def stored(signature: str, cache: str | Path | None = None) -> Cited | None:
    """Return what a report cites of the last check of a judge; ``None`` if there is none.

    A file that cannot be read gives ``{"problem": why}``: a run does not stop for it. Keys:
    signature, checked, sayso, check_set, aspects, agreed, of, low, high, unread, stance_agreed,
    stance_of, kappa, injections, injections_changed, injections_obeyed, injections_unread,
    tokens_per_100, dollars_per_100 (``None`` = unknown); of :class:`Errors` found, found_of,
    invented, invented_of, right, right_of; of :class:`WordsCheck` words_by, phrases, phrases_of,
    pairs, pairs_of; of :class:`LeftToModel` left, left_model, left_model_of, left_rules,
    left_rules_of, left_gained, left_lost; and with a user's labels labelled, and
    agreed, of, low, high, the errors and what was left to a model with the prefix labelled_.
    """
    check = _stored_check(place(signature, cache))
    if isinstance(check, str):
        return {"problem": check}
    return None if check is None else kept_numbers(check)


def kept_numbers(check: JudgeCheck) -> Cited:
    """Return the numbers of a check that a manifest keeps and a report prints."""
    flat: Cited = {
        "signature": check.signature,
        "checked": check.checked,
        "sayso": check.sayso,
        "check_set": check.check_set,
        "aspects": check.ours.aspects,
        "unread": check.ours.unread,
        **_flat(check.ours.agreed),
        "stance_agreed": check.ours.stance_agreed.count,
        "stance_of": check.ours.stance_agreed.of,
        "kappa": check.ours.kappa,
        "injections": check.injection.tried,
        "injections_changed": len(check.injection.changed),
        "injections_obeyed": len(check.injection.obeyed),
        "injections_unread": len(check.injection.unread),
        "tokens_per_100": check.tokens_per_100,
        "dollars_per_100": check.dollars_per_100,
        **_flat_errors(check.ours.errors),
        **_flat_left(check.ours.left),
    }
    if check.words is not None:
        flat["words_by"] = check.words.by
        flat |= _counted("phrases", check.words.inside) | _counted("pairs", check.words.pairs)
    if check.labelled is not None:
        flat["labelled"] = check.labelled.name
        theirs = _flat(check.labelled.agreed) | _flat_errors(check.labelled.errors)
        theirs |= _flat_left(check.labelled.left)
        flat |= {f"labelled_{name}": v for name, v in theirs.items()}
    return flat


def _flat_errors(errors: Errors | None) -> Cited:
    if errors is None:
        return {}
    return (
        _counted("found", errors.found)
        | _counted("invented", errors.invented)
        | _counted("right", errors.right)
    )


def _flat_left(left: LeftToModel | None) -> Cited:
    if left is None:
        return {}
    return {
        "left": left.asked,
        "left_gained": left.gained,
        "left_lost": left.lost,
        **_counted("left_model", left.model),
        **_counted("left_rules", left.rules),
    }


def _counted(name: str, share: CountedShare) -> Cited:
    return {name: share.count, f"{name}_of": share.of}


def _flat(agreed: CountedShare) -> Cited:
    return {"agreed": agreed.count, "of": agreed.of, "low": agreed.low, "high": agreed.high}


def reliability_json(check: JudgeCheck) -> str:
    """Return a check as indented JSON, with what is derived from its numbers."""
    fields = json.loads(msgspec.json.encode(check))
    fields["tokens_per_100"] = check.tokens_per_100
    fields["dollars_per_100"] = check.dollars_per_100
    return json.dumps(fields, indent=2, ensure_ascii=False)
