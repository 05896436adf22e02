"""Repeat the numbers of a study by independent code, from its tables, and compare them.

Formulas are those of the papers and of the pages in docs/; sayso computes nothing here, it only
runs the study and says at the end what it stored. Every number that is repeated is compared with
the one of the same name and slice; the script ends with 1 if any differs by more than 1e-6, is
undefined on one side only, or is not stored.

    python benchmarks/metrics/recompute.py                  # a study of the built-in model: minutes
    python benchmarks/metrics/recompute.py --study FOLDER   # this study, or any folder of runs
"""

import argparse
import json
import math
import os
import re
import string
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TOLERANCE = 1e-6
STUDY = """\
out: {out}
limit: 12
models:
  - builtin
  - {{model: builtin, name: in bfloat16, dtype: bfloat16}}
data:
  - {{data: builtin, name: seed 0, seed: 0}}
  - {{data: builtin, name: seed 7, seed: 7}}
protocols:
  - uncle: {{methods: "unc_few,pair_few,self_refine"}}
  - faithfulness
  - selective
  - self_known
"""
Value = float | None
Key = tuple[str, tuple[tuple[str, str], ...]]
Array = np.ndarray[Any, Any]
FORMS = ("short", "long")


# ---- runs, and the numbers of a run


class Numbers(dict[Key, Value]):
    """Numbers by name and slice."""

    def at(self, **where: str) -> Callable[..., None]:
        """Return a function that writes down numbers of one slice; an empty part of it is none."""
        parts = {part: text for part, text in where.items() if text}

        def write(**values: Value) -> None:
            self.update({key(name, parts): value for name, value in values.items()})

        return write


class Run:
    """A run folder: its settings and its tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = json.loads((folder / "manifest.json").read_text())["settings"]
        self.questions = self.table("questions").set_index("id", drop=False)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; several stages of one kind are joined by ``+``."""
        kind, _, stages = name.rpartition("/")
        paths = [self.folder / kind / f"{stage}.parquet" for stage in stages.split("+")]
        tables = [pd.read_parquet(path) for path in paths if path.exists()]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def stored(self, protocol: str) -> Numbers:
        """Return the numbers that the run stored."""
        rows = self.table(f"metrics/{protocol}")
        values = [None if math.isnan(value) else float(value) for value in rows["value"]]
        slices = zip(rows["name"], rows["where"], values, strict=True)
        return Numbers({key(name, dict(where)): value for name, where, value in slices})

    def judged(self, stages: str) -> pd.DataFrame:
        """Return the verdicts that were read, with UNCLE's label, beside method and text."""
        answers = self.table(f"generations/{stages}")[["id", "method", "text"]]
        rows = self.table(f"verdicts/{stages}").merge(answers, left_on="target", right_on="id")
        rows["label"] = [label(*pair) for pair in zip(rows.stance, rows.content, strict=True)]
        columns = ["target", "asked", "stance", "content", "label", "method", "text"]
        return rows.loc[rows.problem.isna(), columns]

    def types(self, asked: Iterable[str]) -> pd.DataFrame:
        """Return domain and type of fact of each question."""
        questions = self.questions.reindex(asked)
        kinds = [aspect["property_id"] for aspect in questions.aspect]
        return questions[["domain"]].assign(type=questions.domain + "/" + kinds)


def key(name: str, where: dict[str, str]) -> Key:
    """Return name and slice of a number, whatever the order of the slice's parts."""
    return name, tuple(sorted(where.items()))


def label(stance: str, content: str) -> str:
    """Return UNCLE's label of a verdict: S, NS, UNC, or OMIT."""
    if stance == "omitted":
        return "OMIT"
    if stance == "committed":
        return "S" if content == "correct" else "NS"
    return "UNC"


# ---- what several protocols need


def share(part: float, whole: float) -> Value:
    """Return part / whole; None of nothing."""
    return float(part) / float(whole) if whole else None


def mean(values: Iterable[float]) -> Value:
    """Return the mean, of truths their share; None of nothing."""
    listed = [float(value) for value in values]
    return share(math.fsum(listed), len(listed))


def less(a: Value, b: Value) -> Value:
    """Return a - b, None where either is."""
    return None if a is None or b is None else a - b


def alike(texts: pd.DataFrame) -> Value:
    """Return the share of questions of which all draws are one text."""
    return mean(texts.groupby("question").text.nunique() == 1)


def ranks(values: Any) -> Array:
    """Return mid-ranks; what differs in the last digits of floats is a tie."""
    return pd.Series(values, dtype=float).round(12).rank(method="average").to_numpy()


def pearson(a: Any, b: Any) -> Value:
    """Return Pearson's correlation; None of fewer than three, or where one side does not vary."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(x) < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / math.sqrt((x @ x) * (y @ y)))


def spearman(a: Any, b: Any) -> Value:
    """Return Spearman's correlation, ties at mid-ranks."""
    return pearson(ranks(a), ranks(b)) if len(a) else None


def kendall(x: Array, y: Array) -> Value:
    """Return Kendall's tau-b, pair by pair."""
    pairs = np.triu_indices(len(x), 1)
    dx = np.sign(x[:, None] - x[None, :])[pairs]
    dy = np.sign(y[:, None] - y[None, :])[pairs]
    untied = float(np.count_nonzero(dx)) * float(np.count_nonzero(dy))
    return float(dx @ dy) / math.sqrt(untied) if untied else None


def auroc(score: Array, wrong: Any, group: Any = None) -> Value:
    """Return the share of pairs, wrong and right, where the wrong one scores higher; ties half."""
    bad = np.asarray(wrong, dtype=bool)
    high, low = score[bad][:, None], score[~bad][None, :]
    won = (high > low) + 0.5 * (high == low)
    if group is not None:
        kind = np.asarray(group)
        won = won[kind[bad][:, None] == kind[~bad][None, :]]
    return share(float(won.sum()), won.size)


def kappa(x: Array, y: Array) -> Value:
    """Return Cohen's kappa of two yes-or-no readings; None where they cannot but agree."""
    chance = x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean()) if len(x) else 1.0
    return None if chance == 1 else float(((x == y).mean() - chance) / (1 - chance))


# ---- UNCLE: is a fact known, and what was said of it

RATES = ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge")
STANCES = {
    "UUR_hedged": "hedged",
    "UUR_abstained": "abstained",
    "UUR_refused": "refused_by_policy",
    "UUR_asked_back": "asked_back",
}


def uncle(run: Run) -> Numbers:
    """Return the numbers of `sayso run uncle`."""
    found = Numbers()
    probes = run.judged("probe")
    right = (probes.label == "S").groupby(probes.asked)
    facts = pd.DataFrame({"hits": right.sum(), "draws": right.size(), "known": right.any()})
    facts = facts.join(run.types(facts.index))
    found.at()(draws_alike=alike(run.table("generations/probe")))
    said = {}
    for form in FORMS:
        rows = run.judged(f"{form}+methods-{form}+refined-{form}").set_index("asked")
        for method, own in rows.groupby("method"):
            said[form, str(method)] = facts.join(own[["stance", "content", "label"]])
    for form, method in said:
        own, where = said[form, method], {"form": form, "method": method}
        if method in ("plain", "instructed"):
            where = {"form": form, "prompt": "plain" if method == "plain" else ""}
            found.at(**where)(**uncle_rates(own), **_stances(own))
        else:
            rates = uncle_rates(own)
            names = (*RATES, "p_uncertain")
            found.at(**where)(**{name: rates[name] for name in names}, **within_type(own))
        found.at(**where)(wrong_and_sure=mean(own.label == "NS"))
    for form in FORMS:
        _uncle_slices(found, form, said)
    for method in {method for _, method in said} - {"plain"}:
        both = said["short", method].assign(long=said["long", method].label)
        name = "" if method == "instructed" else method
        found.at(method=name)(**alignment(both))
        found.at(method=name, given="known")(**alignment(both[both.known]))
        found.at(method=name, given="unknown")(**alignment(both[~both.known]))
    return found


def uncle_rates(rows: pd.DataFrame) -> dict[str, Value]:
    """Return UNCLE's cells and rates: known or unknown, and correct, incorrect or uncertain."""
    kind = np.where(rows.known, "k", "u").astype(object)
    told = rows.label.map({"S": "c", "NS": "i", "OMIT": "i", "UNC": "u"}).to_numpy()
    count = Counter(kind + told)
    a, b, c, d, e, f = (count[cell] for cell in ("kc", "ki", "ku", "uc", "ui", "uu"))
    known, unknown, n = a + b + c, d + e + f, len(rows)
    kcr, uur, ua, over = share(a, known), share(f, unknown), share(f, c + f), share(c, known)
    return {
        "FA": share(a + d, a + b + d + e),
        "UA": ua,
        "UUR": uur,
        "KCR": kcr,
        "EA": share(a + f, n),
        "J": less(uur, over),
        "over_hedge": over,
        "p_known": share(known, n),
        "p_uncertain": share(c + f, n),
        "balanced_EA": None if kcr is None or uur is None else (kcr + uur) / 2,
        "lift_UA": None if ua is None or not unknown else ua / (unknown / n),
        "unknown_but_correct": share(d, unknown),
        "F1_uncertain": share(2 * f, c + f + unknown),
        **{f"cell_{cell}": float(count[cell]) for cell in ("kc", "ki", "ku", "uc", "ui", "uu")},
    }


def _stances(rows: pd.DataFrame) -> dict[str, Value]:
    unknown, hedged = rows[~rows.known], rows[rows.label == "UNC"]
    return {
        "accuracy": mean(rows.label == "S"),
        "omission": mean(rows.label == "OMIT"),
        "hedged_and_correct": mean(hedged.content == "correct"),
        **{name: mean(unknown.stance == stance) for name, stance in STANCES.items()},
    }


def within_type(rows: pd.DataFrame) -> dict[str, Value]:
    """Return J within type (weights n_known n_unknown / n) and Mantel-Haenszel's odds ratio."""
    total = weights = over = under = 0.0
    for _, own in rows.groupby("type"):
        hedged, known = (own.label == "UNC").to_numpy(), own.known.to_numpy(bool)
        n, k, u = len(own), int(known.sum()), int((~known).sum())
        if k and u:
            weights += k * u / n
            total += k * u / n * (hedged[~known].mean() - hedged[known].mean())
        over += (hedged & ~known).sum() * (~hedged & known).sum() / n
        under += (~hedged & ~known).sum() * (hedged & known).sum() / n
    ratio = over / under if over and under else None  # 0 and infinity have no logarithm
    return {"J_within": share(total, weights), "odds_ratio_within": ratio}


def _uncle_slices(found: Numbers, form: str, said: dict[tuple[str, str], pd.DataFrame]) -> None:
    """Write down what the instruction does, domains, types, the surely known, and policies."""
    told, plain = said[form, "instructed"], said[form, "plain"]
    # a fact that is hedged without the instruction has no plain answer that is right or wrong
    committed, known = plain.label != "UNC", told.known
    hedged, wrong = told.label == "UNC", committed & (plain.label != "S")
    kept = mean(plain.label[known] == "S"), mean(told.label[known] == "S")
    found.at(form=form)(
        hedge_precision=mean(wrong[hedged & committed]),
        hedge_recall=mean(hedged[wrong]),
        instruction_cost=less(*kept),
        **within_type(told),
    )
    short = said["short", "plain"]
    sure = (short.label == "S") & (short.hits == short.draws)
    never = (short.label != "S") & (short.hits == 0)
    slices = [({"known": "strict"}, told.assign(known=sure)[sure | never])]
    for part in ("domain", "type"):
        slices += [({part: str(value)}, own) for value, own in told.groupby(part)]
    for where, own in slices:
        rates = uncle_rates(own)
        found.at(form=form, **where)(**{name: rates[name] for name in (*RATES, "p_known")})
    # policies that are blind: what they tell is as often right as the plain answers are
    p, h = mean(known), mean(hedged)
    right, lucky = (mean((plain.label == "S")[committed & of]) for of in (known, ~known))
    if p is None or h is None or right is None or lucky is None:
        return
    for policy, rate in (("never", 0.0), ("always", 1.0), ("random", h)):
        found.at(form=form, policy=policy)(
            FA=p * right + (1 - p) * lucky if rate < 1 else None,
            UA=1 - p if rate else None,
            UUR=rate,
            KCR=(1 - rate) * right,
            EA=p * (1 - rate) * right + (1 - p) * rate,
            J=0.0,
        )


def alignment(both: pd.DataFrame) -> dict[str, Value]:
    """Return shares of certain and uncertain, in short and in long form, and their kappa."""
    short, long = (both.label == "UNC").to_numpy(), (both.long == "UNC").to_numpy()
    cells = {"CC": ~short & ~long, "CU": ~short & long, "UC": short & ~long, "UU": short & long}
    return {f"align_{name}": mean(cell) for name, cell in cells.items()} | {
        "kappa": kappa(short, long)
    }


# ---- faithfulness: decisiveness against confidence

NAMES = {"plain": "vanilla", "instructed": "uncle"}
#: over several choices of examples these are of all answers, and all else is a mean of the choices
POOLED = {"accuracy", "punting", "asked", "unknown_unknown", "known_unsaid", "three_way"}


def faithfulness(run: Run) -> Numbers:
    """Return the numbers of `sayso run faithfulness`."""
    found = Numbers()
    for form in FORMS:
        rows = _claims(run, form)
        plain = rows[rows.method == "vanilla"].set_index("asked")
        for method, own in rows.groupby("method"):
            pooled = _one_method(own, plain)
            parts = list(own.groupby("choice"))
            each = [_one_method(part, plain) for _, part in parts]
            for (name, where), value in pooled.items():
                values = [v for one in each if (v := one.get((name, where))) is not None]
                value = value if name in POOLED else mean(values)
                found.at(form=form, method=str(method), **dict(where))(**{name: value})
            for choice, part in parts if len(parts) > 1 else ():
                at = found.at(form=form, method=str(method), choice=str(choice))
                at(**faithful_scores(part[part.use]), **answer_scores(part[part.use]))
        groups = {at: own[own.use] for at, own in rows.groupby(["method", "choice"])}
        values = on_shared_bins(groups)
        for method, own in values.items():
            at = found.at(form=form, method=method)
            at(**{f"{name}_shared": value for name, value in own.items()})
            if method != "vanilla":
                at(**{f"{n}_gain": less(v, values["vanilla"][n]) for n, v in own.items()})
    return found


def _claims(run: Run, form: str) -> pd.DataFrame:
    """Return a row for each answer and fact: decisiveness, agreeing of the counted draws, right."""
    stages = (form, f"methods-{form}", f"demos-{form}")
    rows = run.judged("+".join(stages))
    names = rows.method.str.extract(r"^(.*?)(?:-(\d+))?$")
    rows["method"] = [NAMES.get(name, name) for name in names[0]]
    rows["choice"] = names[1].fillna("")
    told = run.table("verdicts/" + "+".join(f"{stage}-decisive" for stage in stages))
    drawn = run.table("verdicts/" + "+".join(f"{stage}-contradict" for stage in stages))
    told["said"] = told["label"]
    told["letters"] = drawn.set_index(["target", "asked"]).raw.reindex(
        pd.MultiIndex.from_frame(told[["target", "asked"]])
    ).to_numpy()  # fmt: skip
    told["target"] = told.target.str.split("#").str[0]
    columns = ["target", "asked", "said", "number", "start", "letters"]
    rows = rows.merge(told[columns], on=["target", "asked"])
    # c contradicts and n does not; what asserts nothing or cannot be compared is no draw
    letters = rows.letters.fillna("")
    rows["agree"] = letters.str.count("n")
    rows["k"] = rows.agree + letters.str.count("c")
    rows["conf"] = rows.agree / rows.k.where(rows.k > 0)
    rows["use"] = (rows.said == "assertion") & (rows.k >= run.settings["least"])
    rows["right"] = rows.content == "correct"
    rows["domain"] = run.questions.domain.reindex(rows.asked).to_numpy()
    rows["position"] = (5 * rows.start // rows.text.str.len() + 1).astype("Int64")
    return rows


def bins(rows: pd.DataFrame, closed: str = "right") -> Array:
    """Return the bin of confidence, 0 to 9, by whole counts."""
    pairs = [(int(j), int(k)) for j, k in zip(rows.agree, rows.k, strict=True)]
    if closed == "left":
        return np.array([min(10 * j // k, 9) for j, k in pairs], dtype=int)
    return np.array([max(-(-10 * j // k) - 1, 0) for j, k in pairs], dtype=int)


def by_bin(values: Array, place: Array) -> Value:
    """Return the mean over occupied bins of the mean in a bin."""
    return mean(pd.Series(values).groupby(place).mean()) if len(values) else None


def dealt(dec: Array, conf: Array) -> Array:
    """Return how faithful each confidence is on average, with decisiveness dealt at random."""
    return np.array([1 - np.abs(dec - c).mean() for c in conf])


def answer_scores(rows: pd.DataFrame) -> dict[str, Value]:
    """Return cMFG and MFG with one vote and one bin, that of the mean confidence, for an answer."""
    faithful, place = [], []
    for _, own in rows.groupby("target"):
        pairs = zip(own.agree, own.k, strict=True)
        sure = sum(Fraction(int(j), int(k)) for j, k in pairs) / len(own)
        place.append(max(math.ceil(10 * sure) - 1, 0))
        faithful.append(1 - float((own.number - own.conf).abs().mean()))
    return {"cmfg": by_bin(np.array(faithful), np.array(place)), "mfg": mean(faithful)}


def faithful_scores(rows: pd.DataFrame, common: set[int] | None = None) -> dict[str, Value]:
    """Return skill, cMFG, MFG and mean decisiveness, on some bins or on all."""
    dec, conf, place = rows.number.to_numpy(float), rows.conf.to_numpy(float), bins(rows)
    use = np.ones(len(rows), dtype=bool) if common is None else np.isin(place, sorted(common))
    faithful = 1 - np.abs(dec - conf)
    value, blind = (by_bin(of[use], place[use]) for of in (faithful, dealt(dec, conf)))
    gain = less(value, blind)
    return {
        "skill": None if gain is None or blind in (None, 1) else gain / (1 - blind),
        "cmfg_aspects": value,
        "mfg_aspects": mean(faithful),
        "mean_decisiveness": mean(dec),
    }


def _one_method(rows: pd.DataFrame, plain: pd.DataFrame) -> Numbers:
    """Return the numbers of one way to ask, in one form."""
    found = Numbers()
    own, given = rows[rows.use], rows[rows.said != "omitted"]
    dec, conf, place = own.number.to_numpy(float), own.conf.to_numpy(float), bins(own)
    high, sure, right = conf >= 0.75, dec >= 0.75, own.right.to_numpy(bool)
    faithful, blind = 1 - np.abs(dec - conf), dealt(dec, conf)
    found.at()(
        **faithful_scores(own),
        **answer_scores(own),
        mean_confidence=mean(conf),
        spearman=spearman(dec, conf),
        kendall=kendall(dec, conf),
        accuracy=mean(given.right),
        punting=mean(given.said == "punt"),
        asked=float(len(rows)),
        cmfg_decisive=by_bin(conf, place),
        cmfg_half=by_bin(1 - np.abs(0.5 - conf), place),
        cmfg_constant=by_bin(1 - np.abs(dec.mean() - conf), place) if len(dec) else None,
        cmfg_oracle=1.0 if len(dec) else None,
        cmfg_permuted=by_bin(blind, place),
        over_claim=by_bin(np.maximum(dec - conf, 0), place),
        over_hedge=by_bin(np.maximum(conf - dec, 0), place),
        cmfg_left=by_bin(faithful, bins(own, "left")),
        cmfg_levels=by_bin(faithful, np.round(conf, 12)),
        unknown_unknown=mean(high & sure & ~right),
        known_unsaid=mean(~high & sure),
    )
    for cell in np.ndindex(2, 2, 2):
        c, d, r = map(bool, cell)
        level = {False: "low", True: "high"}
        at = found.at(confidence=level[c], decisiveness=level[d], right="yes" if r else "no")
        at(three_way=mean((high == c) & (sure == d) & (right == r)))
    for b in range(10):
        here = place == b
        at = found.at(bin=f"{b / 10:g}-{(b + 1) / 10:g}")
        value, chance = mean(faithful[here]), mean(blind[here])
        at(bin_faithfulness=value, bin_decisiveness=mean(dec[here]))
        at(bin_confidence=mean(conf[here]))
        if value is not None and chance is not None:
            at(bin_skill=(value - chance) / (1 - chance))
    for by in ("domain", "position"):  # a short answer has no position
        for part, some in own.groupby(by):
            found.at(**{by: str(part)})(**faithful_scores(some), **answer_scores(some))
    # a punt is decisiveness 0, against the confidence of the plain answer
    punts = plain[plain.use].reindex(rows.asked[rows.said == "punt"]).dropna(subset=["conf"])
    values = faithful_scores(pd.concat([own, punts.assign(number=0.0)])[own.columns.drop("asked")])
    found.at()(skill_dec0=values["skill"], cmfg_dec0=values["cmfg_aspects"])
    spoken = rows[rows.said == "assertion"]
    if len(spoken):
        truth = spoken.right.to_numpy(float)
        found.at()(**_as_probabilities(spoken.number.to_numpy(float), truth))
    return found


def _as_probabilities(dec: Array, right: Array) -> dict[str, Value]:
    """Return Brier, its parts, ECE and AUROC of decisiveness as a probability of being right."""
    place = np.maximum(np.ceil(np.round(dec * 10, 9)).astype(int) - 1, 0)
    table = pd.DataFrame({"told": dec, "rate": right, "n": 1.0}).groupby(place)
    means, n = table[["told", "rate"]].mean(), table.n.sum()
    parts, rate = n / len(dec), right.mean()
    gaps = [_debiased(*row) for row in zip(means.told, means.rate, n, strict=True)]
    return {
        "words_brier": mean((dec - right) ** 2),
        "words_reliability": float(parts @ (means.told - means.rate) ** 2),
        "words_resolution": float(parts @ (means.rate - rate) ** 2),
        "words_uncertainty": float(rate * (1 - rate)),
        "words_ece": float(parts @ np.array(gaps)),
        "words_auroc": auroc(dec, right == 1),
    }


def _debiased(told: float, rate: float, n: float) -> float:
    """Return |rate - told| of a bin less what chance adds to it (Kumar et al. 2019, L1)."""
    gap, spread = rate - told, math.sqrt(rate * (1 - rate) / n)
    if spread == 0:
        return abs(gap)
    z = gap / spread
    expected = spread * math.sqrt(2 / math.pi) * math.exp(-z * z / 2)
    return 2 * abs(gap) - expected - gap * math.erf(z / math.sqrt(2))


def on_shared_bins(groups: dict[Any, pd.DataFrame]) -> dict[str, dict[str, Value]]:
    """Return cMFG and skill of groups on the bins in which each has ten claims, if there are any.

    A group is named by what is compared and by a choice of examples; choices are averaged.
    """
    counts = [Counter(bins(own).tolist()) for own in groups.values()]
    common = {b for b in range(10) if counts and all(count[b] >= 10 for count in counts)}
    values = {}
    for name in {at[0] for at in groups} if common else ():
        each = [faithful_scores(own, common) for at, own in groups.items() if at[0] == name]
        values[str(name)] = {
            n.removesuffix("_aspects"): mean(v for one in each if (v := one[n]) is not None)
            for n in ("skill", "cmfg_aspects")
        }
    return values


# ---- selective: which score finds the errors

MONTHS = "January February March April May June July August September October November December"
DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)T00:00:00Z")
METRICS = ("rules", "rouge_l", "squad_f1", "exact_match", "contains")
LEARNED = {"p_ik", "text_only"}


def selective(run: Run) -> Numbers:
    """Return the numbers of `sayso run selective`, but for scores that are learned from the run."""
    found = Numbers()
    draws = run.judged("draws")
    known = (draws.label == "S").groupby(draws.asked).any()
    found.at(form="short")(draws_alike=alike(run.table("generations/draws")))
    for form in FORMS:
        rows = _answers(run, form)
        unknown = ~known.reindex(rows.asked).to_numpy(bool)
        found.at(form=form)(facts=float(len(rows)))
        found.at(form=form, against="unknown")(share_unknown=mean(unknown))
        wrong = {name: ~rows[name].to_numpy(bool)[rows.placed] for name in METRICS}
        rows, unknown = rows[rows.placed], unknown[rows.placed]
        if len(rows):
            _ranked(found, form, run, rows, {**wrong, "unknown": unknown})
            _metrics_compared(found, form, wrong)
    return found


def _answers(run: Run, form: str) -> pd.DataFrame:
    """Return the plain answers to each fact, with what every answer metric says of them."""
    rows = run.judged(form)
    rows = rows[rows.method == "plain"].reset_index(drop=True)
    rows["value"], rows["key"], rows["placed"] = rows.text, rows.target, True
    if form == "long":
        spans = run.table("verdicts/long-spans").set_index(["target", "asked"])
        spans = spans.loc[list(zip(rows.target, rows.asked, strict=True))]
        ends = zip(rows.text, spans.answer_start, spans.answer_end, strict=True)
        rows["value"] = ["" if pd.isna(a) else text[int(a) : int(b)] for text, a, b in ends]
        rows["key"] = rows.target + "/" + rows.asked
        rows["placed"] = spans.answer_start.notna().to_numpy()
    rows["type"] = run.types(rows.asked).type.to_numpy()
    rows["rules"] = rows.content == "correct"
    limits = run.settings["rouge_threshold"], run.settings["f1_threshold"]
    accepts: dict[str, Callable[[str, str], bool]] = {
        "rouge_l": lambda gold, text: rouge_l(gold, text) > limits[0],
        "squad_f1": lambda gold, text: squad_f1(gold, text) >= limits[1],
        "exact_match": lambda gold, text: folded(gold) == folded(text),
        "contains": contains,
    }
    golds = [references(run.questions.golds[asked]) for asked in rows.asked]
    for name, accept in accepts.items():
        rows[name] = [
            content != "none" and any(accept(gold, text) for gold in own)
            for content, text, own in zip(rows.content, rows.value, golds, strict=True)
        ]
    return rows


def references(golds: Sequence[dict[str, Any]]) -> list[str]:
    """Return what an answer is compared with: values, aliases, and all values in a row."""
    texts = [text for g in golds for name in (g["value"], *g["aliases"]) for text in written(name)]
    return texts + [" and ".join(written(g["value"])[0] for g in golds)] * (len(golds) > 1)


def written(name: str) -> list[str]:
    """Return a timestamp as people write it; January 1st may mean the year alone."""
    date = DATE.fullmatch(name)
    if not date:
        return [name]
    year, month, day = str(int(date[1])), MONTHS.split()[int(date[2]) - 1], int(date[3])
    full = [f"{day} {month} {year}", f"{month} {day}, {year}"]
    return [year, *full] if (date[2], day) == ("01", 1) else full


def words_of(text: str) -> list[str]:
    """Return the words of a text: letters and digits, in lower case."""
    return re.findall(r"[^\W_]+", text.lower())


def folded(text: str) -> str:
    """Return a text whatever its case and spacing."""
    return " ".join(text.casefold().split())


def contains(gold: str, text: str) -> bool:
    """Return whether the words of the gold stand in the answer, side by side."""
    a, b = words_of(gold), words_of(text)
    return bool(a) and any(b[i : i + len(a)] == a for i in range(len(b)))


def rouge_l(gold: str, text: str) -> float:
    """Return ROUGE-L F1: the longest common subsequence of words."""
    a, b = words_of(gold), words_of(text)
    row = [0] * (len(b) + 1)
    for x in a:
        last = row
        row = [0]
        for j, y in enumerate(b):
            row.append(last[j] + 1 if x == y else max(last[j + 1], row[j]))
    return 2 * row[-1] / (len(a) + len(b)) if row[-1] else 0.0


def squad_f1(gold: str, text: str) -> float:
    """Return SQuAD's F1 over bags of words without articles and punctuation; of empty ones 1."""
    bags = []
    for one in (gold, text):
        kept = "".join(c for c in one.lower() if c not in string.punctuation)
        bags.append(Counter(word for word in kept.split() if word not in ("a", "an", "the")))
    a, b = bags
    return 2 * (a & b).total() / (a.total() + b.total()) if a or b else 1.0


def _ranked(
    found: Numbers, form: str, run: Run, rows: pd.DataFrame, wrong: dict[str, Array]
) -> None:
    """Write down what every stored score tells against every metric."""
    table, stored = run.table(f"scores/{form}"), run.stored("selective")
    scores = {
        str(score): own.set_index("target").value.reindex(rows.key).to_numpy(float)
        for score, own in table[table.value.notna()].groupby("method")
        if score not in LEARNED
    }
    for score, all_values in scores.items():
        use = ~np.isnan(all_values)
        values, words = all_values[use], scores["length_words"][use]
        for against, all_wrong in wrong.items():
            where = {"form": form, "against": against, "score": score}
            if key("auroc", where) not in stored:
                continue  # against other metrics than the judge only some scores are ranked
            bad = all_wrong[use]
            found.at(**where)(auroc=auroc(values, bad))
            if key("auroc_within", where) in stored:
                found.at(**where)(auroc_within=auroc(values, bad, rows.type[use]))
            if against == "rules":
                found.at(**where)(
                    prr=prr(values, bad),
                    aurac=aurac(values, bad),
                    length_correlation=spearman(values, words),
                )
    for name, where in stored:
        if name == "risk" and ("form", form) in where:
            at, values = found.at(**dict(where)), scores[dict(where)["score"]]
            at(risk=risk_at(values, wrong["rules"], float(dict(where)["coverage"])))
    told = scores["words"] != 1
    at = found.at(form=form, against="rules", score="words")
    at(coverage_of_words=mean(told), risk_of_words=mean(wrong["rules"][told]))


def accuracies(score: Array, wrong: Array) -> Array:
    """Return the accuracy of the m surest answers for each m, in a tie that of any order."""
    table = pd.DataFrame({"score": score, "right": 1.0 - wrong}).sort_values("score")
    expected = table.groupby("score").right.transform("mean").to_numpy()
    return np.asarray(np.cumsum(expected) / np.arange(1, len(table) + 1))


def risk_at(score: Array, wrong: Array, coverage: float) -> float:
    """Return the share of wrong answers among the surest, the last one counted in part."""
    m, n = coverage * len(score), np.arange(len(score) + 1)
    right = np.concatenate([[0.0], accuracies(score, wrong) * n[1:]])
    return 1 - float(np.interp(m, n, right)) / m


def aurac(score: Array, wrong: Array) -> float:
    """Return the area under accuracy against the share answered, a tenth to all, normalized."""
    shares = np.linspace(0.1, 1, 20)
    accuracy = np.array([1 - wrong[score <= np.quantile(score, q)].mean() for q in shares])
    return float(((accuracy[1:] + accuracy[:-1]) / 2 * np.diff(shares)).sum() / 0.9)


def prr(score: Array, wrong: Array) -> Value:
    """Return what the score gains on rejecting by lot, as a share of what an oracle gains."""
    area, best = accuracies(score, wrong).mean(), accuracies(wrong.astype(float), wrong).mean()
    by_lot = 1 - wrong.mean()
    return share(area - by_lot, best - by_lot)


def _metrics_compared(found: Numbers, form: str, wrong: dict[str, Array]) -> None:
    """Write down error rates, how metrics agree, and how many right answers each refuses."""
    right = ~wrong["rules"]
    p = right.mean()
    for i, first in enumerate(METRICS):
        at, a = found.at(form=form, against=first), wrong[first]
        for second in METRICS[i + 1 :]:
            pair = found.at(form=form, against=first, metric=second)
            pair(metric_agreement=mean(a == wrong[second]), metric_kappa=kappa(a, wrong[second]))
        others = np.mean([wrong[name] for name in METRICS if name != first], axis=0)
        majority, clear = others > 0.5, others != 0.5
        at(error_rate=mean(a), metric_against_others=mean((a == majority)[clear]))
        q = mean(~a[right])
        if first != "rules" and q is not None:
            closed = None if p * q == 1 else 1 - q * (1 - p) / (2 * (1 - p * q))
            at(false_negatives=1 - q, auroc_length_closed_form=closed)


# ---- self-known: claims along a text


def self_known(run: Run) -> Numbers:
    """Return the numbers of `sayso run self_known` and `sayso factuality`."""
    found = Numbers()
    count = run.settings["bins"]
    all_claims, all_sentences, texts = _long_texts(run)
    for name, own in texts.groupby("method"):
        method = str(name)
        claims = all_claims[all_claims.generation.isin(own.index)]
        sentences = all_sentences[all_sentences.generation.isin(own.index)]
        _whole_texts(found, method, own, claims, sentences)
        _curves(found, method, sentences, count)
        _wanted_facts(found, method, run, claims, set(own.index))
        for mode in ("direct", "qa", "qa_none"):
            if mode in claims:
                _asked(found, method, mode, claims, run.settings)
        for kind, of in (("supported", "S"), ("unsupported", "NS")):
            if {"qa", "qa_none"} <= set(claims):
                read = claims[(claims.label == of) & claims.qa.notna() & claims.qa_none.notna()]
                flipped = (read.qa == "yes") & (read.qa_none != "yes")
                for part, here in parts_of(read, count):
                    at = found.at(method=method, part=part, **{"class": kind})
                    at(none_flips=mean(flipped[here]))
    systems = sorted(set(texts.method))
    for mode in ("direct", "qa", "qa_none"):
        if len(systems) > 1 and ("SK", (("method", systems[0]), ("mode", mode))) in found:
            names = ("labeled_factuality", "SK", "SU", "equation3_in_sample")
            rows = [{n: found[key(n, {"method": m, "mode": mode})] for n in names} for m in systems]
            _correlated(found, rows, mode=mode, over="systems")
    return found


def parts_of(rows: pd.DataFrame, count: int) -> list[tuple[str, Array]]:
    """Return the whole text and its parts: what each is called, and which rows are in it."""
    parts = [(f"{b + 1}/{count}", (rows.part == b).to_numpy()) for b in range(count)]
    return [("", np.ones(len(rows), dtype=bool)), *parts]


def _long_texts(run: Run) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the claims and sentences of texts that answer, and all texts."""
    texts = run.table("generations/long").set_index("id")
    state = run.table("verdicts/long").drop_duplicates("target").set_index("target").label
    texts["answered"] = state.reindex(texts.index).eq("answered")
    about = run.questions.reindex(texts.question)[["domain", "entity", "id"]]
    texts["topic"] = [repr((q.domain, q.entity or q.id)) for q in about.itertuples()]
    sentences = run.table("sentences/long").sort_values(["generation", "number"])
    sentences = sentences[sentences.generation.isin(texts.index[texts.answered])]
    n = sentences.groupby("generation").number.transform("size")
    # sentence i of n is in the part (lo, hi] that holds i/n
    part = (run.settings["bins"] * sentences.number + n - 1) // n - 1
    sentences = sentences.assign(part=part, place=sentences.number / n, sentence=sentences.number)
    sentences = sentences[["generation", "sentence", "part", "place"]]
    claims = run.table("claims/long")
    labels = run.table("verdicts/long-people+long-support")  # people's come first
    claims["label"] = labels.drop_duplicates("target").set_index("target").label.reindex(
        claims.id
    ).to_numpy()  # fmt: skip
    for mode in ("direct", "qa", "qa_none"):
        told = run.table(f"verdicts/self-{mode}")
        if len(told):
            told = told.set_index("target").reindex(claims.id)
            claims[mode], claims[f"{mode}_raw"] = told.label.to_numpy(), told.raw.to_numpy()
    claims = claims.merge(sentences, on=["generation", "sentence"])
    claims["topic"] = texts.topic.reindex(claims.generation).to_numpy()
    counts = pd.crosstab([claims.generation, claims.sentence], claims.label)
    counts = counts.reindex(columns=["S", "NS", "IR"], fill_value=0)
    return claims, sentences.join(counts, on=["generation", "sentence"]), texts


def _whole_texts(
    found: Numbers, method: str, texts: pd.DataFrame, claims: pd.DataFrame, sentences: pd.DataFrame
) -> None:
    """Write down what is said of whole texts."""
    answered = texts.index[texts.answered]
    counts = sentences.groupby("generation")[["S", "NS", "IR"]].sum().reindex(answered).fillna(0)
    claimed = claims.groupby("generation").size().reindex(answered, fill_value=0)
    rated = counts.S + counts.NS
    factual = (counts.S / rated.where(rated > 0)).dropna()
    shorter = np.exp(1 - 10 / rated[factual.index]).clip(upper=1)
    found.at(method=method)(
        response_rate=mean(texts.answered),
        answers_without_a_claim=mean(claimed == 0),
        claims_per_answer=mean(claimed),
        sentences_per_answer=share(len(sentences), len(answered)),
        claims_per_sentence=share(len(claims), len(sentences)),
        factscore=mean(factual),
        factscore_penalized=mean(factual * shorter),
        factuality_micro=share(counts.S.sum(), rated.sum()),
        irrelevant_share=share(counts.IR.sum(), counts.to_numpy().sum()),
    )


def _wanted_facts(
    found: Numbers, method: str, run: Run, claims: pd.DataFrame, generations: set[str]
) -> None:
    """Write down which of the wanted facts come, and which score finds the unsupported claims."""
    aspects = run.table("verdicts/long-aspects")
    if len(aspects):
        own = aspects[aspects.target.isin(generations) & aspects.problem.isna()]
        labels = [label(*pair) for pair in zip(own.stance, own.content, strict=True)]
        names = {"recall": "S", "aspects_hedged": "UNC", "aspects_omitted": "OMIT"}
        found.at(method=method)(**{n: mean(x == y for x in labels) for n, y in names.items()})
    rated = claims[claims.label.isin(["S", "NS"])]
    table = run.table("scores/claims")
    for score, own in table.groupby("method") if len(table) else ():
        values = own.set_index("target").value.reindex(rated.id).to_numpy(float)
        use = ~np.isnan(values)
        at = found.at(method=method, score=str(score))
        at(auroc=auroc(values[use], rated.label[use] == "NS"))


def _curves(found: Numbers, method: str, sentences: pd.DataFrame, count: int) -> None:
    """Write down factuality and counts by part of the text."""
    have = sentences.dropna(subset=["S"])  # those that claim something
    size = sentences.groupby("generation").size()
    short = set(size.index[size < count])  # too few sentences to reach the first part
    rated = have.S + have.NS
    have = have.assign(rated=rated, all=rated + have.IR, factual=have.S / rated.where(rated > 0))
    curve = []
    for b, (part, here) in enumerate(parts_of(have, count)[1:]):
        own, at = have[here], found.at(method=method, part=part)
        curve.append(mean(own.factual.dropna()))
        at(
            factuality=curve[-1],
            factuality_by_generation=mean(own.groupby("generation").factual.mean().dropna()),
            factuality_by_micro=share(own.S.sum(), own.rated.sum()),
            sentences=float((sentences.part == b).sum()),
        )
        if short:
            at(factuality_long=mean(own.factual[~own.generation.isin(short)].dropna()))
        for name, of in (("supported", "S"), ("unsupported", "NS"), ("irrelevant", "IR")):
            values = {"per_sentence": mean(own[of]), "share": mean((own[of] / own["all"]).dropna())}
            at(**{f"{name}_{what}": value for what, value in values.items()})
    found.at(method=method)(last_minus_first=less(curve[-1], curve[0]))
    have = have.dropna(subset=["factual"])
    columns = have[["place", "factual"]]
    inside = columns - columns.groupby(have.generation).transform("mean")
    slope = share(inside.place @ inside.factual, inside.place @ inside.place)
    found.at(method=method)(trend=slope)


def equation3(sk: Value, su: Value) -> Value:
    """Return F = (1 - SU) / (2 - SU - SK)."""
    return None if sk is None or su is None else share(1 - su, 2 - su - sk)


def rogan_gladen(rate: Value, sk: Value, su: Value) -> Value:
    """Return F = (r + SU - 1) / (SK + SU - 1), r the accept rate."""
    if rate is None or sk is None or su is None or abs(sk + su - 1) < 1e-9:
        return None
    return (rate + su - 1) / (sk + su - 1)


def _asked(
    found: Numbers, method: str, mode: str, claims: pd.DataFrame, settings: dict[str, Any]
) -> None:
    """Write down what the model says of its own claims in one setting, whole and by part."""
    rated = claims[claims.label.isin(["S", "NS"])]
    none = {"incorrect": 1.0, "b_only": 0.0, "missing": np.nan}[settings["noa"]]
    yes = rated[mode].map({"yes": 1.0, "no": 0.0, "none": none * 0})
    no = rated[mode].map({"yes": 0.0, "no": 1.0, "none": none})
    topic, names = pd.factorize(rated.topic, sort=True)
    order = np.random.default_rng(settings["ci_seed"]).permutation(len(names))
    fold = order[topic] % min(settings["folds"], len(names)) if len(names) else topic
    rated = rated.assign(yes=yes, no=no, fold=fold)
    curve = []
    for part, here in parts_of(rated, settings["bins"]):
        values = of_claims(rated[here])
        found.at(method=method, mode=mode, part=part)(**values, **from_others(rated, here))
        curve.append(values)
    _correlated(found, curve[1:], method=method, mode=mode)
    raw = rated[f"{mode}_raw"].dropna().str.split("|")
    kept = rated[rated.yes != 0]  # a claim that it says nothing of stays
    found.at(method=method, mode=mode)(
        order_flips=mean(len(set(replies.split(","))) > 1 for replies in raw.str[0]),
        not_understood=mean(float(mass) < 0.5 for mass in raw.str[1]),
        dropped_claims_kept=share(len(kept), len(rated)),
        dropped_factscore=mean((kept.label == "S").groupby(kept.generation).mean()),
    )


def _correlated(found: Numbers, rows: list[dict[str, Value]], **where: str) -> None:
    """Write down how factuality goes with SK, SU and Equation 3, from one row to the next."""
    for name in ("SK", "SU", "equation3_in_sample"):
        pairs = [(values["labeled_factuality"], values[name]) for values in rows]
        full = [pair for pair in pairs if None not in pair]
        columns = [a for a, _ in full], [b for _, b in full]
        at = found.at(**where, **{"with": name})
        at(factuality_pearson=pearson(*columns), factuality_spearman=spearman(*columns))


def of_claims(rows: pd.DataFrame) -> dict[str, Value]:
    """Return SK, SU, accept rate, labels, and Equation 3 from these very claims."""
    told = rows.dropna(subset=["yes"])
    sk, su = mean(told.yes[told.label == "S"]), mean(told.no[told.label == "NS"])
    rate, truth = mean(told.yes), mean(told.label == "S")
    return {
        "SK": sk,
        "SU": su,
        "accept_rate": rate,
        "labeled_factuality": truth,
        "overconfidence": less(rate, truth),
        "equation3_in_sample": equation3(sk, su),
    }


def from_others(rated: pd.DataFrame, here: Array) -> dict[str, Value]:
    """Return what SK and SU of other topics say of these claims: a mean over folds by claims."""
    sizes, third, gladen = [], [], []
    for fold in sorted(set(rated.fold)):
        inside = (rated.fold == fold).to_numpy()
        own, other = rated[inside & here].dropna(subset=["yes"]), of_claims(rated[~inside])
        sk, su = other["SK"], other["SU"]
        if len(own) and sk is not None and su is not None:
            sizes.append(len(own))
            third.append(equation3(sk, su))
            gladen.append(rogan_gladen(mean(own.yes), sk, su))
    weighted = (
        None if None in of or not of else float(np.average(np.array(of, float), weights=sizes))
        for of in (third, gladen)
    )
    return dict(zip(("equation3", "rogan_gladen"), weighted, strict=True))


# ---- a study: numbers by model, and their means over the data sets

PROTOCOLS: dict[str, Callable[[Run], Numbers]] = {
    "uncle": uncle,
    "faithfulness": faithfulness,
    "selective": selective,
    "self_known": self_known,
}
NO_SLICE = {"meaning", "value", "low", "high", "n", "problem", "rank_best", "rank_worst", "name"}


def of_study(
    folder: Path, cells: list[dict[str, str]], mine: dict[str, Numbers]
) -> tuple[Numbers, Numbers]:
    """Return the numbers of a study's tables as repeated here, and as they are printed."""
    import sayso

    repeated, stored = Numbers(), Numbers()
    shared = _on_bins_of_all_models(folder, cells)
    for row in sayso.study(folder).table():
        where = {part: text for part, text in row.items() if part not in NO_SLICE}
        protocol, model, data = (where[part] for part in ("protocol", "model", "data"))
        one = {part: where[part] for part in where.keys() - {"protocol", "model", "data"}}
        number = key(row["name"], one)
        stored.at(**where)(**{row["name"]: row["value"]})
        paths = [
            cell["path"]
            for cell in cells
            if (cell["protocol"], cell["model"]) == (protocol, model)
            and data in ("mean", cell["data"])
        ]
        if not all(number in mine[path] for path in paths):
            continue  # a learned score, or a method that one of the runs does not have
        of_bins = row["name"] in ("cmfg", "skill")  # compared on bins that all models fill
        values = [(shared if of_bins else mine)[path].get(number) for path in paths]
        value = None if None in values else mean(v for v in values if v is not None)
        repeated.at(**where)(**{row["name"]: value})
    return repeated, stored


def _on_bins_of_all_models(folder: Path, cells: list[dict[str, str]]) -> dict[str, Numbers]:
    """Return cMFG and skill of every run on the bins that all models on its data fill."""
    found = {cell["path"]: Numbers() for cell in cells}
    own = [cell for cell in cells if cell["protocol"] == "faithfulness"]
    for data in {cell["data"] for cell in own}:
        paths = [cell["path"] for cell in own if cell["data"] == data]
        for form in FORMS:
            claims = {path: _claims(Run(folder / path), form) for path in paths}
            for method in set.union(*(set(rows.method) for rows in claims.values())):
                groups = {
                    (path, choice): chosen[chosen.use]
                    for path, rows in claims.items()
                    for choice, chosen in rows[rows.method == method].groupby("choice")
                }
                for path, values in on_shared_bins(groups).items():
                    found[path].at(form=form, method=method)(**values)
    return found


# ---- the command


def compare(mine: Numbers, stored: Numbers) -> tuple[float, list[str]]:
    """Return the largest difference, and a line for each number that differs."""
    largest, lines = 0.0, []
    for number, value in mine.items():
        other = stored.get(number)
        one_sided = (value is None) != (other is None) or number not in stored
        gap = math.inf if one_sided else abs((value or 0.0) - (other or 0.0))
        largest = max(largest, gap)
        if gap > TOLERANCE:
            where = " ".join(f"{part}:{text}" for part, text in number[1])
            is_now = other if number in stored else "nothing"
            lines.append(f"{number[0]} {where}: repeated {value}, stored {is_now}")
    return largest, lines


def runs_of(folder: Path) -> list[dict[str, str]]:
    """Return the finished runs of a study, or those in a folder."""
    if (folder / "study.json").exists():
        cells = json.loads((folder / "study.json").read_text())["cells"]
        return [cell for cell in cells if cell["status"] == "done"]
    return [
        {"path": str(path.parent.parent.relative_to(folder)), "protocol": path.stem, "data": ""}
        for path in sorted(folder.rglob("metrics/*.parquet"))
        if path.stem in PROTOCOLS
    ]


def repeat(folder: Path) -> bool:
    """Repeat the numbers of every run of a folder, and of a study; print whether they are equal."""
    cells = runs_of(folder)
    mine: dict[str, Numbers] = {}
    good = True

    def tell(title: str, n: int, of: int, largest: float, lines: list[str]) -> bool:
        print(f"{title:<16}{n:>9,}{of:>9,}{largest:>13.1e}{len(lines):>13,}")
        print("".join(f"    {line}\n" for line in lines), end="")
        return n > 0 and not lines

    print(f"{'':<16}{'repeated':>9}{'stored':>9}{'largest gap':>13}{'differences':>13}")
    for protocol, repeated_from in PROTOCOLS.items():
        n, of, largest, lines = 0, 0, 0.0, []
        for path in (cell["path"] for cell in cells if cell["protocol"] == protocol):
            run = Run(folder / path)
            mine[path], stored = repeated_from(run), run.stored(protocol)
            gap, some = compare(mine[path], stored)
            n, of, largest = n + len(mine[path]), of + len(stored), max(largest, gap)
            lines += [f"{path}: {line}" for line in some]
        good &= not of or tell(protocol, n, of, largest, lines)
    if (folder / "study.json").exists():
        here, there = of_study(folder, cells, mine)
        good &= tell("study's tables", len(here), len(there), *compare(here, there))
    return good


def main() -> int:
    """Repeat a study's numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--study", type=Path, help="a study, or a folder of runs; default: make one"
    )
    folder = parser.parse_args().study
    if folder is not None and not runs_of(folder):
        parser.error(f"{folder}: no finished run in it")
    if folder is not None:
        return 0 if repeat(folder) else 1
    with tempfile.TemporaryDirectory() as temporary:
        os.environ.setdefault("SAYSO_CACHE", f"{temporary}/cache")
        folder, file = Path(temporary) / "study", Path(temporary) / "study.yaml"
        file.write_text(STUDY.format(out=folder))
        command = [str(Path(sys.executable).with_name("sayso")), "study", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return 0 if repeat(folder) else 1


if __name__ == "__main__":
    sys.exit(main())
