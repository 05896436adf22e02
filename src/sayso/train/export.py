"""Training rows as files for other trainers: TRL (JSONL) and LLaMA-Factory (JSON).

Nothing of theirs is imported. A folder gets one file per sort of row, ``sft`` and ``dpo``; for
LLaMA-Factory also the ``dataset_info.json`` that describes them (its data/README, "Alpaca Format"
and "Sharegpt Format"). Text is written as it is: what a model said stays data, never a template.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, replacing
from sayso.train.rows import Row

# What a trained folder says of itself: ``sayso.json`` for programs, ``README.md`` for people.
#
# Whoever measures a taught model must know which base run decided what counts as known, so that
# nobody probes the taught model again by accident (a taught model's hedged probes look like
# gaps).

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


Format = Literal["trl", "llama-factory", "llama-factory-sharegpt"]
#: one written row: strings, messages or lists of messages
Record = Mapping[str, object]
#: file that describes a folder's data sets to LLaMA-Factory
INFO = "dataset_info.json"


class Exported(NamedTuple):
    """What was written: the files, and the number of rows in each by its name."""

    files: tuple[Path, ...]
    rows: Mapping[str, int]


def export(rows: Sequence[Row], folder: str | Path, style: Format = "trl") -> Exported:
    """Write rows into ``folder`` in the format of a trainer.

    Rows without a rejected side go to the ``sft`` file, the others to ``dpo``. Files of the same
    names are replaced; a sort of row that is missing leaves no file of an earlier export behind.
    Raises InputError for no rows, an unknown format, a row with an empty side, or a full disk.
    """
    if style not in STYLES:
        raise InputError(f"export {style!r}: expected one of {', '.join(STYLES)}")
    if not rows:
        raise InputError("export: there are no rows to write")
    for row in rows:
        sides = (row.prompt, row.chosen, *(() if row.rejected is None else (row.rejected,)))
        if not all(side.strip() for side in sides):
            raise InputError(f"export: a row has an empty side: {row.prompt[:60]!r} ({row.kind})")
    place = Path(folder)
    sorts = {
        "sft": [r for r in rows if r.rejected is None],
        "dpo": [r for r in rows if r.rejected is not None],
    }
    made = STYLES[style]
    files: list[Path] = []
    counts: dict[str, int] = {}
    info: dict[str, object] = {}
    for sort, some in sorts.items():
        file = place / f"sayso_{sort}.{'jsonl' if style == 'trl' else 'json'}"
        if not some:
            with disk_errors(file):
                file.unlink(missing_ok=True)
            continue
        records = [made.record(row) for row in some]
        with replacing(file) as out:
            if style == "trl":
                out.writelines(msgspec.json.encode(record) + b"\n" for record in records)
            else:
                out.write(msgspec.json.format(msgspec.json.encode(records), indent=1) + b"\n")
        files.append(file)
        counts[file.name] = len(some)
        info[f"sayso_{sort}"] = {"file_name": file.name, **made.info[sort]}
    if style != "trl":
        with replacing(place / INFO) as out:
            out.write(msgspec.json.format(msgspec.json.encode(info), indent=1) + b"\n")
        files.append(place / INFO)
    return Exported(tuple(files), counts)


def _message(role: str, text: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def _trl(row: Row) -> Record:
    """Return a conversational row: prompt-completion, or preference with an explicit prompt."""
    prompt = _message("user", row.prompt)
    if row.rejected is None:
        return {"prompt": prompt, "completion": _message("assistant", row.chosen)}
    return {
        "prompt": prompt,
        "chosen": _message("assistant", row.chosen),
        "rejected": _message("assistant", row.rejected),
    }


def _alpaca(row: Row) -> Record:
    asked = {"instruction": row.prompt, "input": ""}
    if row.rejected is None:
        return {**asked, "output": row.chosen}
    return {**asked, "chosen": row.chosen, "rejected": row.rejected}


def _sharegpt(row: Row) -> Record:
    turn = {"from": "human", "value": row.prompt}
    answer = {"from": "gpt", "value": row.chosen}
    if row.rejected is None:
        return {"conversations": [turn, answer]}
    other = {"from": "gpt", "value": row.rejected}
    return {"conversations": [turn], "chosen": answer, "rejected": other}


class Style(NamedTuple):
    """How a row is written, and what ``dataset_info.json`` says of each sort of row."""

    record: Callable[[Row], Record]
    info: Mapping[str, Mapping[str, object]]


_SIDES = {"chosen": "chosen", "rejected": "rejected"}
_ASKED = {"prompt": "instruction", "query": "input"}
#: format -> how it is written
STYLES: dict[str, Style] = {
    "trl": Style(_trl, {"sft": {}, "dpo": {}}),
    "llama-factory": Style(
        _alpaca,
        {
            "sft": {"columns": {**_ASKED, "response": "output"}},
            "dpo": {"ranking": True, "columns": {**_ASKED, **_SIDES}},
        },
    ),
    "llama-factory-sharegpt": Style(
        _sharegpt,
        {
            "sft": {"formatting": "sharegpt", "columns": {"messages": "conversations"}},
            "dpo": {
                "formatting": "sharegpt",
                "ranking": True,
                "columns": {"messages": "conversations", **_SIDES},
            },
        },
    ),
}
