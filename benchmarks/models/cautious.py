"""Does cautious decoding make long answers more factual? Beside plain decoding and ``revise``.

    python benchmarks/models/cautious.py [--models builtin smollm2] [--limit N] [--tokens N]

The built-in model writes about its invented world, SmolLM2 about ``world``, whose golds check the
claims. Rows: plain texts; texts rewritten without the claims that the model rejects (``revised``);
cautious texts with draws and a stop (4 candidates, .5), with draws alone (4, 0) and with the stop
alone (1, .5). Columns: topics with a text; supported and unsupported claims a topic, so that
silence costs; precision at equal recall of the method and of plain on the same topics, and the
difference; then factuality by fifth of the text. Brackets are 95 % intervals over topics.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import sayso
from sayso.report.numbers import number, with_interval
from sayso.runs.result import Result

#: candidates, and how sure the model must be of one
WAYS = ((4, 0.5), (4, 0.0), (1, 0.5))
FIFTHS = 5


def run(model: str, folder: Path, limit: int, tokens: int, way: tuple[int, float]) -> Result:
    """Write the texts one way; only the first also has them revised."""
    candidates, sure = way
    first = way == WAYS[0]
    settings: dict[str, object] = {
        "answer.decoding": "cautious",
        "answer.candidates": candidates,
        "answer.sure": sure,
        "answer.long_tokens": tokens,
        "modes": "qa_none" if first else "none",
        "remedy": "revise" if first else "off",
    }
    out = folder / f"{model}-{candidates}-{sure:g}"
    return sayso.run(
        "self_known", model=model, out=out, limit=limit, settings=settings, report=False,
        cache=str(folder / "cache"),
    )  # fmt: skip


def row(result: Result, method: str, name: str) -> list[str]:
    """Return the cells of one method."""
    of = f"method:{method}"
    micro = result.get("factuality_micro", of)
    rate = result.get("response_rate", of)
    topics, right = rate.denominator or 0, micro.numerator or 0
    wrong = (micro.denominator or 0) - right
    cells = [name, f"{rate.numerator:.0f} of {topics:.0f}"]
    cells += [f"{right / topics:.2f}", f"{wrong / topics:.2f}", number(micro)]
    if method == "plain":
        cells += ["–", "–", "–"]
    else:
        cells.append(number(result.get("precision_at_recall", of)))
        cells.append(number(result.get("precision_at_recall", f"{of};of:plain")))
        cells.append(with_interval(result.get("precision_at_recall_minus_plain", of)))
    parts = [result.get("factuality", f"{of};part:{n}/{FIFTHS}") for n in range(1, FIFTHS + 1)]
    return [*cells, " ".join("–" if e.value is None else f"{e.value:.2f}" for e in parts)]


def table(results: Sequence[tuple[tuple[int, float], Result]]) -> list[str]:
    """Return the rows of one model as Markdown."""
    first = results[0][1]
    rows = [row(first, "plain", "plain"), row(first, "revised", "revised")]
    rows += [
        row(result, "cautious", f"cautious: {candidates}, {sure:g}")
        for (candidates, sure), result in results
    ]
    head = ["method", "texts", "supported a topic", "unsupported a topic", "supported, pooled"]
    head += ["at equal recall", "plain there", "difference", "by fifth"]
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["builtin", "smollm2"])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--folder", help="keeps runs and cache (default: a temporary folder)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.folder or temporary)
        for model in given.models:
            results = [(way, run(model, folder, given.limit, given.tokens, way)) for way in WAYS]
            print(f"\n{model}, {given.limit} topics\n")
            print("\n".join(table(results)))
            for _, result in results:
                print(*(n for n in result.manifest.notices if n.startswith("cautious")), sep="\n")


if __name__ == "__main__":
    main()
