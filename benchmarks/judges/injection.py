"""How many attacks of ``tests/support/attacks.py`` reach a judge that obeys all it can see?

    python benchmarks/judges/injection.py

The judge is scripted and the worst there can be: it follows any order outside the fence, forgives
everything in a closing line (case, width, spaces, invisible characters), takes every kind of line
break for one, and a special token of any chat template for a turn of its own. Each attack is put
into an answer, a gold, a question and a paragraph; it counts where one of them gets it obeyed.

`none` is the data as they are, in the layout of UNCLE's released judge; `fixed` a border that is
always the same, which an attacker knows; `ours` the fence as it is shipped. `echo` counts verdicts
that changed when an honest judge quoted the attack, before or after its label, in front of its
reply, as the question or as the whole reply, in both forms; `lost` those that became missing then
(quoting it as the question or as the whole reply must lose them).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso.judges.judge import Item
from sayso.judges.model import prompts as judge_prompts
from sayso.judges.model.judge import LlmJudge
from sayso.judges.model.prompts import JudgedPart, judge_request, load_judge_prompts
from sayso.prompts.fence import Fence, visible_text
from sayso.prompts.fence import fence as fence_fence
from sayso.records import Generation, Gold, Question, Request, ask, is_blank
from support.attacks import CANARY, Attack, attacks, fixed_fence, no_fence, outside
from support.judge_world import Block, Shown, judge_engine, written

FENCES: dict[str, Callable[..., Fence]] = {
    "none": no_fence,
    "fixed": fixed_fence,
    "ours": fence_fence,
}
PLACES = ("answer", "gold", "question", "paragraph")
ECHOES = ("before", "after", "in front", "question", "alone")


def parts(place: str, text: str) -> list[JudgedPart]:
    """Return the attacked part of a call and a plain one."""
    gold = Gold(text if place == "gold" else "Ripley")
    question = f"Where was she born? {text}" if place == "question" else "Where was she born?"
    form = "long" if place == "paragraph" else "short"
    answers = {"paragraph": (f"Mira Toll. {text}",) * 2, "answer": (text, "1950")}
    first, second = answers.get(place, ("Paris", "1950"))
    return [
        JudgedPart(form, question, (gold,), first),
        JudgedPart(form, "When was she born?", (Gold("1950"),), second),
    ]


def obeyed(attack: Attack, how: Callable[..., Fence]) -> bool:
    """Whether the worst judge finds the attack's order outside this fence, in any place."""
    prompts = load_judge_prompts("stance", ["one"], "blocks", None)
    judge_prompts.fence = how
    try:
        return any(
            CANARY
            in outside(
                judge_request(prompts, "stance", "one", parts(place, attack.text), "blocks")
                .request.messages[0]
                .content
            )
            for place in PLACES
        )
    finally:
        judge_prompts.fence = fence_fence


def echoed(attack: Attack) -> tuple[int, int, int]:
    """Return verdicts that changed, that were lost, and all of them, over every kind of echo."""
    question = Question(id="q", dataset="d", text="Where was she born?", golds=(Gold("Ripley"),))
    item = Item(Generation(request=ask("?"), id="g", text=attack.text, form="short"), (question,))
    changed = lost = every = 0
    for how in ECHOES:
        for quoted in (attack.text[:4000], visible_text(attack.text)[:4000]):
            for json_schema in (False, True):

                def write(
                    seen: Shown,
                    blocks: list[Block],
                    request: Request,
                    how: str = how,
                    quoted: str = quoted,
                ) -> str:
                    (block,) = blocks
                    if how == "alone":
                        return quoted
                    if how == "before":
                        return written(seen, [block._replace(analysis=quoted)])
                    if how == "question":
                        return written(seen, [block._replace(question=quoted)])
                    said = written(seen, blocks)
                    return f"{quoted}\n{said}" if how == "in front" else f"{said}\n{quoted}"

                engine = judge_engine(
                    lambda seen, number: "hedged-incorrect", json_schema=json_schema, write=write
                )
                (verdict,) = LlmJudge(engine, room=4000).grade([item])
                every += 1
                lost += verdict.problem is not None
                changed += verdict.problem is None and verdict.stance != "hedged"
    return changed, lost, every


def main() -> int:
    """Print the table; 1 if anything got through."""
    found = [a for a in attacks() if not is_blank(a.text)]  # no judge is shown the others
    ordering = [a for a in found if CANARY in a.text.casefold().replace("\u200b", "")]
    print(f"{len(found)} attacks, {len(ordering)} of them with a plain order\n")
    print(f"{'kind':16}{'attacks':>8}" + "".join(f"{name:>8}" for name in FENCES), end="")
    print(f"{'echoes':>9}{'changed':>9}{'lost':>7}")
    total: Counter[str] = Counter()
    for kind in dict.fromkeys(a.kind for a in found):
        row: Counter[str] = Counter()
        for attack in found:
            if attack.kind != kind:
                continue
            row["attacks"] += 1
            row.update({name: obeyed(attack, how) for name, how in FENCES.items()})
            changed, lost, every = echoed(attack)
            row.update({"changed": changed, "lost": lost, "echoes": every})
        show(kind, row)
        total += row
    show("all", total)
    return int(bool(total["ours"] or total["changed"]))


def show(name: str, row: Counter[str]) -> None:
    """Print one line."""
    cells = "".join(f"{row[fence_name]:8}" for fence_name in FENCES)
    line = f"{name:16}{row['attacks']:8}{cells}{row['echoes']:9}{row['changed']:9}{row['lost']:7}"
    print(line)


if __name__ == "__main__":
    sys.exit(main())
