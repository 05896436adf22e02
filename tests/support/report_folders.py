"""Synthetic runs for the tests of the report."""

from __future__ import annotations

from pathlib import Path

from sayso.records import (
    Aspect,
    Estimate,
    Generation,
    Gold,
    Question,
    Verdict,
    ask,
    content_id,
    question_id,
    signature_of,
    slice_of,
)
from sayso.storage.run_folder import Manifest, RunFolder

SETTINGS = {"known": "any-of-5@T1", "judge": "rules@1", "ci": "entity", "seed": "0"}
SAID = (
    {"stance": "committed", "content": "correct"},
    {"stance": "committed", "content": "incorrect"},
    {"stance": "hedged", "content": "correct"},
    {"stance": "abstained", "content": "none"},
    {"stance": "committed", "content": "correct"},
    {"stance": "committed", "content": "incorrect"},
    {"problem": "language"},
)
Cells = tuple[int, ...]
CELLS = ("cell_kc", "cell_ki", "cell_ku", "cell_uc", "cell_ui", "cell_uu")


def rates(cells: tuple[int, ...]) -> dict[str, tuple[float | None, float | None, float | None]]:
    """The rates of one matrix as (value, numerator, denominator)."""
    kc, ki, ku, uc, ui, uu = cells
    pairs = {
        "FA": (kc + uc, kc + uc + ki + ui),
        "UA": (uu, ku + uu),
        "UUR": (uu, uc + ui + uu),
        "KCR": (kc, kc + ki + ku),
        "EA": (kc + uu, sum(cells)),
        "p_known": (kc + ki + ku, sum(cells)),
        "p_uncertain": (ku + uu, sum(cells)),
        "over_hedge": (ku, kc + ki + ku),
        "accuracy": (kc + uc, sum(cells)),
    }
    out: dict[str, tuple[float | None, float | None, float | None]] = {}
    for name, (top, bottom) in pairs.items():
        out[name] = (top / bottom if bottom else None, top, bottom)
    unknown, over = out["UUR"][0], out["over_hedge"][0]
    both = unknown is not None and over is not None
    out["J"] = (unknown - over if both else None, None, None)  # type: ignore[operator]
    return out


def estimates_of(
    form: str, cells: tuple[int, ...], missing: int = 0, **narrowed: str
) -> list[Estimate]:
    """Estimates of one matrix, with made-up intervals of plus or minus five points."""
    found = []
    n, where = sum(cells), slice_of(form=form, **narrowed)
    settings = tuple({"data": "builtin-3f2a", "form": form, **SETTINGS}.items())
    for name, (value, top, bottom) in rates(cells).items():
        wide = value is not None
        found.append(
            Estimate(
                name=name,
                where=where,
                value=value,
                low=max(value - 0.05, -1.0 if name == "J" else 0.0) if wide else None,  # type: ignore[operator]
                high=min(value + 0.05, 1.0) if wide else None,  # type: ignore[operator]
                numerator=top,
                denominator=bottom,
                n=n,
                missing=missing,
                bound_low=max((value or 0) - 0.1, 0) if missing else None,
                bound_high=min((value or 1) + 0.1, 1) if missing else None,
                signature=signature_of(name, settings),
                problem=None if wide else "no fact to count",
            )
        )
    for name, count in zip(CELLS, cells, strict=True):
        found.append(Estimate(name=name, where=where, value=float(count), n=n))
    return found


def estimates(
    short: tuple[int, ...] = (330, 25, 4, 10, 220, 11),
    long: tuple[int, ...] = (320, 30, 9, 5, 215, 21),
) -> list[Estimate]:
    """The estimates of an ordinary run."""
    found: list[Estimate] = []
    for form, cells in (("short", short), ("long", long)):
        found += estimates_of(form, cells, missing=12 if form == "long" else 0)
        found += estimates_of(form, (*cells[:2], 0, *cells[3:5], 0), prompt="plain")
        kc, ki, ku, uc, ui, uu = cells
        found += estimates_of(form, (kc + ku, ki, 0, uc, ui + uu, 0), policy="never")
        found += estimates_of(form, (0, 0, kc + ki + ku, 0, 0, uc + ui + uu), policy="always")
        found += estimates_of(form, (kc, ki, ku, uc, ui + uu - 8, 8), policy="random")
        found += estimates_of(form, (kc + ku, ki, 0, uc, ui - 8, uu + 8), policy="own_logprob")
        found += [
            Estimate("J_within", slice_of(form=form), 0.02, -0.01, 0.05, n=600),
            Estimate("unspoken_knowledge", slice_of(form=form), 0.21, 0.11, 0.31, n=600),
            Estimate("hedge_precision", slice_of(form=form), 0.8, 0.55, 0.93, 12, 15, n=15),
            Estimate("odds_ratio_within", slice_of(form=form), 2.4, 0.9, 6.1, n=600),
        ]
        for domain in ("bios", "companies", "movies", "planets"):
            part = tuple(c // 4 for c in cells)
            found += estimates_of(form, part, domain=domain)
        for kind in ("bios/P569", "bios/P19", "companies/P571", "movies/P57"):
            part = tuple(c // 8 for c in cells)
            found += estimates_of(form, part, type=kind)
    for kind, rate in (
        ("bios/P569", 0.0),
        ("bios/P19", 0.12),
        ("companies/P571", 0.05),
        ("movies/P57", 0.41),
    ):
        found.append(Estimate("guess_rate", slice_of(type=kind), rate, n=40))
    found += [
        Estimate("align_CC", (), 0.93, numerator=558, denominator=600, n=600),
        Estimate("align_CU", (), 0.04, numerator=24, denominator=600, n=600),
        Estimate("align_UC", (), 0.02, numerator=12, denominator=600, n=600),
        Estimate("align_UU", (), 0.01, numerator=6, denominator=600, n=600),
    ]
    return found


ASPECTS = (
    ("date of birth", "P569", "When was {e} born?", "{e} was born on 4 May 1950."),
    (
        "place of birth",
        "P19",
        "Where was {e} born?",
        "I am not sure, but the birthplace may be Ripley.",
    ),
    ("occupation", "P106", "What did {e} do?", "{e} worked as a painter."),
)
VALUES = ("4 May 1950", "Ripley", "painter")


def make_run(
    folder: Path,
    entities: int = 12,
    *,
    found: list[Estimate] | None = None,
    hostile: str = "",
    unread: bool = False,
    plain: bool = True,
    unknown_only: bool = False,
    facts: int = 3,
) -> RunFolder:
    """A finished run folder with made-up answers. ``hostile`` is put wherever text can stand."""
    run = RunFolder.create(folder)
    questions: list[Question] = []
    answers: dict[str, list[Generation]] = {"probe": [], "short": [], "long": []}
    verdicts: dict[str, list[Verdict]] = {"probe": [], "short": [], "long": []}

    def verdict(form: str, target: str, asked: str, turn: int, **span: int) -> None:
        if unread:
            given = {"problem": f"unread {hostile}"}
        else:
            given = dict(SAID[turn % len(SAID)])
            if unknown_only and form == "probe":
                given = {"stance": "committed", "content": "incorrect"}
        verdicts[form].append(Verdict(target, asked, "rules@1", **given, **span))  # type: ignore[arg-type]

    def answer(form: str, asked: str, text: str, instructed: bool, sample: int = 0) -> str:
        request = ask(asked, temperature=1.0 if form == "probe" else 0.0, sample=sample)
        name = content_id([form, asked, instructed, sample])
        answers[form].append(
            Generation(
                request, id=name, question=asked, stage=form, form=form, instructed=instructed,
                text=text, finish="stop",
            )
        )  # fmt: skip
        return name

    for number in range(entities):
        entity = f"Entity {number}{hostile}"
        domain = ("bios", "companies", "movies")[number % 3] + hostile
        parts = []
        sentences: list[tuple[str, str, str]] = []
        for place in range(facts):
            description, code, asks, says = ASPECTS[place % 3]
            text = asks.format(e=entity) + ("" if place < 3 else f" ({place})")
            short = Question(
                question_id("made", entity, text), "made", text,
                (Gold(VALUES[place % 3] + hostile),),
                entity=entity, domain=domain, aspect=Aspect(description + hostile, "", code),
            )  # fmt: skip
            questions.append(short)
            parts.append(short.id)
            sentences.append((short.id, says.format(e=entity) + hostile, VALUES[place % 3]))
        prompt = f"In a paragraph, introduce {entity}."
        long = Question(
            question_id("made", entity, prompt), "made", prompt, None,
            entity=entity, domain=domain, parts=tuple(parts),
        )  # fmt: skip
        questions.append(long)
        for instructed in (True, False) if plain else (True,):
            target = answer("long", long.id, " ".join(s for _, s, _ in sentences), instructed)
            start = 0
            for place, (part, sentence, value) in enumerate(sentences):
                turn = number + place + (0 if instructed else 1)
                at = start + sentence.find(value)
                spans = {"start": start, "end": start + len(sentence)}
                spans |= {"answer_start": at, "answer_end": at + len(value)}
                verdict("long", target, part, turn, **spans)
                start += len(sentence) + 1
            for place, (part, _, value) in enumerate(sentences):
                text = f"{value}{hostile}."
                target = answer("short", part, text, instructed)
                verdict(
                    "short", target, part, number + place, answer_start=0, answer_end=len(value)
                )
        for place, (part, _, value) in enumerate(sentences):
            for sample in range(5):
                target = answer("probe", part, value, False, sample)
                verdict("probe", target, part, 0 if (number + place) % 5 > sample else 1)
    run.write("questions", questions, Question)
    for form in answers:
        run.write(f"generations/{form}", answers[form], Generation)
        run.write(f"verdicts/{form}", verdicts[form], Verdict)
    run.write("metrics/uncle", estimates() if found is None else found, Estimate)
    run.write_manifest(
        Manifest(
            sayso="0.1.0",
            created="2026-01-02T03:04:05+00:00",
            finished="2026-01-02T03:05:05+00:00",
            command=f"sayso run uncle --model builtin --limit {entities}{hostile}",
            protocols=("uncle",),
            settings={"seed": 0, "probe.k": 5, "known_from": "self", "omit": True, "note": hostile},
            data="builtin" + hostile,
            data_hash="3f2a91",
            n_questions=len(questions),
            prompts={"signature": "p9c1"},
            model="builtin",
            model_identity="sha256-90ab" + hostile,
            model_base="sha256-90ab",
            model_signature="builtin@1" + hostile,
            judge="rules",
            judge_signature="rules@1",
            versions={"python": "3.12.1", "torch": "2.13.0"},
            machine={"system": "Linux", "cpus": 2},
            timings={"generate_cpu_s": 21.4, "grade_cpu_s": 1.2},
            tokens={"asks": 700, "model_completion_tokens": 41200},
            notices=(f"one reply was damaged {hostile}",) if hostile else (),
        )
    )
    return run
