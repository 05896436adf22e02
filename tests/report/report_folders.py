"""Synthetic runs for the tests of the report."""

from __future__ import annotations

from sayso.records import Estimate

SIGNATURE = "{name}|data:builtin-3f2a|form:{form}|known:any-of-5@T1|judge:rules@1|ci:entity|seed:0"
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
        "unknown_but_correct": (uc, uc + ui + uu),
    }
    out: dict[str, tuple[float | None, float | None, float | None]] = {}
    for name, (top, bottom) in pairs.items():
        out[name] = (top / bottom if bottom else None, top, bottom)
    unknown, over = out["UUR"][0], out["over_hedge"][0]
    both = unknown is not None and over is not None
    out["J"] = (unknown - over if both else None, None, None)  # type: ignore[operator]
    return out


def estimates_of(
    form: str, cells: tuple[int, ...], where: str = "", missing: int = 0
) -> list[Estimate]:
    """Estimates of one matrix, with made-up intervals of plus or minus five points."""
    found = []
    n = sum(cells)
    for name, (value, top, bottom) in rates(cells).items():
        wide = value is not None
        found.append(
            Estimate(
                name=name,
                where=f"form:{form}{where}",
                value=value,
                low=max(value - 0.05, -1.0 if name == "J" else 0.0) if wide else None,  # type: ignore[operator]
                high=min(value + 0.05, 1.0) if wide else None,  # type: ignore[operator]
                numerator=top,
                denominator=bottom,
                n=n,
                missing=missing,
                bound_low=max((value or 0) - 0.1, 0) if missing else None,
                bound_high=min((value or 1) + 0.1, 1) if missing else None,
                signature=SIGNATURE.format(name=name, form=form),
                problem=None if wide else "no fact to count",
            )
        )
    for name, count in zip(CELLS, cells, strict=True):
        found.append(Estimate(name=name, where=f"form:{form}{where}", value=float(count), n=n))
    return found


def estimates(
    short: tuple[int, ...] = (330, 25, 4, 10, 220, 11),
    long: tuple[int, ...] = (320, 30, 9, 5, 215, 21),
) -> list[Estimate]:
    """The estimates of an ordinary run."""
    found: list[Estimate] = []
    for form, cells in (("short", short), ("long", long)):
        found += estimates_of(form, cells, missing=12 if form == "long" else 0)
        found += estimates_of(form, (*cells[:2], 0, *cells[3:5], 0), ";prompt:plain")
        kc, ki, ku, uc, ui, uu = cells
        found += estimates_of(form, (kc + ku, ki, 0, uc, ui + uu, 0), ";policy:never")
        found += estimates_of(form, (0, 0, kc + ki + ku, 0, 0, uc + ui + uu), ";policy:always")
        found += estimates_of(form, (kc, ki, ku, uc, ui + uu - 8, 8), ";policy:random")
        found += estimates_of(form, (kc + ku, ki, 0, uc, ui - 8, uu + 8), ";policy:own_logprob")
        found += [
            Estimate("J_within", f"form:{form}", 0.02, -0.01, 0.05, n=600),
            Estimate("unspoken_knowledge", f"form:{form}", 0.21, 0.11, 0.31, n=600),
            Estimate("hedge_precision", f"form:{form}", 0.8, 0.55, 0.93, 12, 15, n=15),
            Estimate("odds_ratio_within", f"form:{form}", 2.4, 0.9, 6.1, n=600),
        ]
        for domain in ("bios", "companies", "movies", "planets"):
            part = tuple(c // 4 for c in cells)
            found += estimates_of(form, part, f";domain:{domain}")
        for kind in ("bios/P569", "bios/P19", "companies/P571", "movies/P57"):
            part = tuple(c // 8 for c in cells)
            found += estimates_of(form, part, f";type:{kind}")
    for kind, rate in (
        ("bios/P569", 0.0),
        ("bios/P19", 0.12),
        ("companies/P571", 0.05),
        ("movies/P57", 0.41),
    ):
        found.append(Estimate("guess_rate", f"type:{kind}", rate, n=40))
    found += [
        Estimate("kappa", "all", 0.31, 0.2, 0.41, n=600),
        Estimate("align_CC", "all", 0.93, numerator=558, denominator=600, n=600),
        Estimate("align_CU", "all", 0.04, numerator=24, denominator=600, n=600),
        Estimate("align_UC", "all", 0.02, numerator=12, denominator=600, n=600),
        Estimate("align_UU", "all", 0.01, numerator=6, denominator=600, n=600),
    ]
    return found
