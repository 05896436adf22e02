"""What a trained folder says of itself: ``sayso.json`` for programs, ``README.md`` for people.

Whoever measures a taught model must know which base run decided what counts as known, so that
nobody probes the taught model again by accident (a taught model's hedged probes look like gaps).
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from sayso.atomic import replacing
from sayso.records import InputError, content_id

CARD = "sayso.json"


class Step(msgspec.Struct, frozen=True):
    """One line of a curve: optimizer step, epoch, loss, learning rate.

    ``values`` by name: "reward accuracy" and "reward margin" of pairs (DPO), "mean reward" and,
    where it is held, "KL" (RL).
    """

    step: int
    epoch: float
    loss: float
    rate: float | None = None
    values: dict[str, float] = msgspec.field(default_factory=dict)


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """Where an adapter or merged model comes from.

    ``kind`` is sft, dpo or rl. ``base`` is the identity of the base model, ``base_name`` what it
    is opened by, ``base_run`` the run whose probes say what is known ("" where there is none).
    ``signature`` names everything that made the weights; ``first_loss`` is the loss of the first
    batch before any step, without dropout. ``rows_hash`` stands for the rows themselves.
    """

    kind: str
    base: str
    base_name: str
    recipe: str = ""
    base_run: str = ""
    seed: int = 0
    rows: int = 0
    rows_hash: str = ""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    parent: str = ""
    signature: str = ""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    first_loss: float | None = None
    curve: tuple[Step, ...] = ()
    notices: tuple[str, ...] = ()
    merged: bool = False


def signature(card: Card) -> str:
    """Return the one line that changes whenever anything that made the weights changes.

    Micro batches and how often it saves are left out: they change neither rows nor steps.
    """
    kept = {
        name: value
        for name, value in card.settings.items()
        if name not in ("save", "checkpointing") and not name.endswith(".micro")
    }
    parts = [card.base, card.parent, card.rows_hash, kept]
    settings = card.settings.get("name", "")
    return "|".join(
        [
            f"{card.kind}#{content_id(parts)[:12]}",
            f"recipe:{card.recipe or 'own'}",
            f"preset:{settings}",
            f"rows:{card.rows}",
            f"seed:{card.seed}",
        ]
    )


def write_card(folder: Path, card: Card) -> None:
    """Write ``sayso.json`` and ``README.md`` into a folder. Raises InputError for a full disk."""
    text = msgspec.json.format(msgspec.json.encode(card), indent=2)
    with replacing(folder / CARD) as file:
        file.write(text + b"\n")
    with replacing(folder / "README.md") as file:
        file.write(readme(card).encode("utf-8", "replace"))


def read_card(folder: Path) -> Card | None:
    """Return the card of a folder, ``None`` where there is none. Raises InputError if damaged."""
    place = folder / CARD
    if not place.is_file():
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=Card)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{place} cannot be read as a model's card: {error}") from None


def readme(card: Card) -> str:
    """Return the page for people, with a front matter that model hubs read."""
    front = {
        "library_name": "transformers" if card.merged else "peft",
        "base_model": card.base_name,
        "tags": ["sayso", card.kind],
    }
    lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in front.items()), "---", ""]
    what = "A merged model" if card.merged else "A LoRA adapter"
    told = {
        "base model": card.base_name,
        "base identity": card.base,
        "base run": card.base_run or "none",
        "recipe": card.recipe or "own rows",
        "rows": str(card.rows),
        "seed": str(card.seed),
        "signature": card.signature,
    }
    lines += [
        f"# {what} taught to say what it does not know",
        "",
        *(f"- {name}: `{_plain(value)}`" for name, value in told.items()),
        "",
        "| setting | value |",
        "|---|---|",
        *(f"| {name} | {_plain(json.dumps(value))} |" for name, value in card.settings.items()),
        "",
    ]
    if card.base_run:
        lines += [
            "What counts as known was decided by the base model's answers, not by this model's:",
            "",
            f"    sayso run uncle --model hf:FOLDER --known-from {_plain(card.base_run)}",
            "",
        ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text that cannot leave its cell or its code span."""
    return " ".join(text.split()).replace("|", "/").replace("`", "'")
