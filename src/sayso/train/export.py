"""Training rows as files for other trainers: TRL (JSONL) and LLaMA-Factory (JSON).

Nothing of theirs is imported. A folder gets one file per sort of row, ``sft`` and ``dpo``; for
LLaMA-Factory also the ``dataset_info.json`` that describes them (its data/README, "Alpaca Format"
and "Sharegpt Format"). Text is written as it is: what a model said stays data, never a template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors, replacing
from sayso.train.rows import TrainingRow

Format = Literal["trl", "llama-factory", "llama-factory-sharegpt"]
#: one written row: strings, messages or lists of messages
Record = Mapping[str, object]
#: file that describes a folder's data sets to LLaMA-Factory
INFO = "dataset_info.json"


class ExportedRows(NamedTuple):
    """What was written: the files, and the number of rows in each by its name."""

    files: tuple[Path, ...]
    rows: Mapping[str, int]


def export(rows: Sequence[TrainingRow], folder: str | Path, style: Format = "trl") -> ExportedRows:
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
    form = STYLES[style]
    files: list[Path] = []
    counts: dict[str, int] = {}
    info: dict[str, object] = {}
    for sort, some in sorts.items():
        file = place / f"sayso_{sort}.{'jsonl' if style == 'trl' else 'json'}"
        if not some:
            with disk_errors(file):
                file.unlink(missing_ok=True)
            continue
        records = [form.record(row) for row in some]
        with replacing(file) as out:
            if style == "trl":
                out.writelines(msgspec.json.encode(record) + b"\n" for record in records)
            else:
                out.write(msgspec.json.format(msgspec.json.encode(records), indent=1) + b"\n")
        files.append(file)
        counts[file.name] = len(some)
        info[f"sayso_{sort}"] = {"file_name": file.name, **form.info[sort]}
    if style != "trl":
        with replacing(place / INFO) as out:
            out.write(msgspec.json.format(msgspec.json.encode(info), indent=1) + b"\n")
        files.append(place / INFO)
    return ExportedRows(tuple(files), counts)


def _message(role: str, text: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def _trl(row: TrainingRow) -> Record:
    """Return a conversational row: prompt-completion, or preference with an explicit prompt."""
    prompt = _message("user", row.prompt)
    if row.rejected is None:
        return {"prompt": prompt, "completion": _message("assistant", row.chosen)}
    return {
        "prompt": prompt,
        "chosen": _message("assistant", row.chosen),
        "rejected": _message("assistant", row.rejected),
    }


def _alpaca(row: TrainingRow) -> Record:
    prompt = {"instruction": row.prompt, "input": ""}
    if row.rejected is None:
        return {**prompt, "output": row.chosen}
    return {**prompt, "chosen": row.chosen, "rejected": row.rejected}


def _sharegpt(row: TrainingRow) -> Record:
    turn = {"from": "human", "value": row.prompt}
    answer = {"from": "gpt", "value": row.chosen}
    if row.rejected is None:
        return {"conversations": [turn, answer]}
    other = {"from": "gpt", "value": row.rejected}
    return {"conversations": [turn], "chosen": answer, "rejected": other}


class Style(NamedTuple):
    """How a row is written, and what ``dataset_info.json`` says of each sort of row."""

    record: Callable[[TrainingRow], Record]
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
