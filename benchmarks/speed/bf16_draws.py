"""How many draws change in half precision with the size of the batch.

    python benchmarks/speed/bf16_draws.py [--model FOLDER] [--questions N]

In float32 draws do not depend on the batch (tests/engines/test_hf_draws.py). In bfloat16 a sum
that is split differently rounds differently, by up to 1 in 256, and a uniform number may fall on
the other side of a border. This states how often: a draw counts as differing when any token does.
"""

from __future__ import annotations

import argparse
from typing import Any

from engine_overhead import questions
from sayso.engines import open_model
from sayso.records import ask


def differing(one: dict[int, Any], other: dict[int, Any]) -> tuple[float, float]:
    """Return the share of draws that differ, and of tokens compared until the first difference."""
    changed = tokens = 0
    for index, a in one.items():
        mine, yours = a.token_ids or (), other[index].token_ids or ()
        same = 0
        while same < min(len(mine), len(yours)) and mine[same] == yours[same]:
            same += 1
        differs = mine != yours
        changed += differs
        tokens += same + differs
    return changed / len(one), changed / max(1, tokens)


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    name = f"hf:{args.model}" if args.model else "builtin"
    short, long = questions(60)
    draws = [ask(q, sample=s, max_tokens=32) for q in short[: args.questions] for s in range(5)]
    draws += [ask(q, sample=s, max_tokens=96) for q in long[: args.questions // 6] for s in (0, 1)]
    greedy = [ask(r.messages[0].content, temperature=0, max_tokens=32) for r in draws[::5]]
    found: dict[tuple[str, int], tuple[dict[int, Any], dict[int, Any]]] = {}
    for dtype in ("float32", "bfloat16"):
        for rows in (1, 64):
            engine = open_model(name, dtype=dtype, batch_size=rows, device=args.device)
            found[dtype, rows] = dict(engine.complete(draws)), dict(engine.complete(greedy))
            signature = engine.signature
            engine.close()
    print(f"{signature}, {len(draws)} draws, {len(greedy)} greedy answers, {args.device}")
    pairs = [
        (("float32", 1), ("float32", 64)),
        (("bfloat16", 1), ("bfloat16", 64)),
        (("float32", 64), ("bfloat16", 64)),
    ]
    for a, b in pairs:
        draw, token = differing(found[a][0], found[b][0])
        cold, _ = differing(found[a][1], found[b][1])
        print(
            f"{a[0]} batch {a[1]} against {b[0]} batch {b[1]}: {draw:.1%} of draws differ "
            f"({token:.2%} per token), {cold:.1%} of greedy answers"
        )


if __name__ == "__main__":
    main()
