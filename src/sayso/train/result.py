"""What a training leaves behind: ``training.json``, as computed, printed and drawn, and cards."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from sayso.records import Estimate, InputError, Signature, content_id
from sayso.storage.atomic import disk_errors, refuse_links, replacing

#: the format of training.json: 2 since slices and signatures are pairs
FORMAT = 2
FILE = "training.json"
FORMS = ("short", "long")
#: settings that say where rows come from: what was not given is not written down
SOURCES = ("train_data", "rows_by", "knowledge", "prompt_folder", "equal_rows", "xis")


class MeasuredMethod(msgspec.Struct, frozen=True):
    """One row of the table. ``kind`` is base, prompted or trained; ``seeds`` those measured."""

    name: str
    title: str
    kind: str
    seeds: tuple[int, ...] = ()


class MethodNumber(msgspec.Struct, frozen=True):
    """One number of one method in one form; ``by_seed`` as the method's seeds."""

    method: str
    form: str
    estimate: Estimate
    by_seed: tuple[float | None, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """``method`` minus ``against`` on the same resamples; ``p_holm`` corrected over the table."""

    method: str
    against: str
    form: str
    difference: Estimate
    p: float | None = None
    p_holm: float | None = None


class Point(msgspec.Struct, frozen=True):
    """One point of a curve: optimizer step and what was measured there, by name."""

    step: int
    values: dict[str, float]


class Curve(msgspec.Struct, frozen=True):
    """A training: its stage (sft, dpo), seed, loss before the first step, and its course."""

    stage: str
    seed: int
    first_loss: float | None
    points: tuple[Point, ...]
    notices: tuple[str, ...] = ()


class Sample(msgspec.Struct, frozen=True):
    """One fact before and after. Texts are the models' own words; values are their labels."""

    form: str
    entity: str
    question: str
    golds: tuple[str, ...]
    known: bool
    before: str
    after: str
    before_value: str
    after_value: str


class SweepPoint(msgspec.Struct, frozen=True):
    """What one setting of a sweep gave: numbers by "form name"."""

    setting: str
    value: float
    numbers: dict[str, Estimate]


#: the problem of a number that a training does not hold
NOT_MEASURED = "not measured"


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a training did, and its numbers.

    ``settings`` are all that decided it, ``rows`` counts training rows by "stage kind" for the
    first seed, ``entities`` counts trained and evaluated ones. ``finished`` is ``None`` until it
    is whole. ``folders`` are runs and adapters, relative to this one.
    """

    format: int = FORMAT
    sayso: str = ""
    created: str = ""
    finished: str | None = None
    command: str = ""
    base_run: str = ""
    model: str = ""
    model_identity: str = ""
    data: str = ""
    judge: str = ""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    entities: dict[str, int] = msgspec.field(default_factory=dict)
    rows: dict[str, int] = msgspec.field(default_factory=dict)
    methods: tuple[MeasuredMethod, ...] = ()
    cells: tuple[MethodNumber, ...] = ()
    changes: tuple[Change, ...] = ()
    curves: tuple[Curve, ...] = ()
    samples: tuple[Sample, ...] = ()
    sweep: tuple[SweepPoint, ...] = ()
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    timings: dict[str, float] = msgspec.field(default_factory=dict)
    folders: dict[str, str] = msgspec.field(default_factory=dict)
    signature: Signature = ()

    def get(self, method: str, form: str, name: str) -> Estimate:
        """Return one number, e.g. ``get("dpo", "short", "J")``; its value may be ``None``."""
        for cell in self.cells:
            if (cell.method, cell.form, cell.estimate.name) == (method, form, name):
                return cell.estimate
        return Estimate(name, problem=NOT_MEASURED)

    def change(self, method: str, against: str, form: str, name: str) -> Change | None:
        """Return one difference; ``None`` where it was not made."""
        for one in self.changes:
            place = (one.method, one.against, one.form, one.difference.name)
            if place == (method, against, form, name):
                return one
        return None


def write_training(folder: str | Path, training: Training) -> Path:
    """Write ``training.json`` in one piece; return its path. Raises InputError for a full disk."""
    place = Path(folder) / FILE
    with replacing(place) as file:
        file.write(msgspec.json.format(msgspec.json.encode(training), indent=1) + b"\n")
    return place


def write_page(folder: str | Path, text: str) -> Path:
    """Write ``report.html`` of a training in one piece; return its path."""
    place = Path(folder) / "report.html"
    with replacing(place) as file:
        file.write(text.encode("utf-8", "replace"))
    return place


def is_training(folder: str | Path) -> bool:
    """Tell whether a folder is one that ``sayso train`` wrote."""
    return (Path(folder) / FILE).is_file()


def read_training(folder: str | Path) -> Training:
    """Read ``training.json`` of a folder. Raises InputError."""
    if Path(folder).is_dir():
        refuse_links(Path(folder))
    place = Path(folder) / FILE
    if not place.is_file():
        raise InputError(f"{folder} contains no {FILE}: expected a folder that `sayso train` wrote")
    with disk_errors(place, "read"):
        data = place.read_bytes()
    try:
        written = msgspec.json.decode(data, type=TrainingHead).format
        if written != FORMAT:
            raise InputError(
                f"{place} has format {written}, this sayso reads {FORMAT}: train again"
            )
        return msgspec.json.decode(data, type=Training)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{place} is not a manifest of a training ({error})") from None


class TrainingHead(msgspec.Struct):
    """The field that says how the others are read."""

    format: int = 1


# ---- the card of an adapter: ``sayso.json`` for programs, ``README.md`` for people
#
# Whoever measures a trained model must know which base run decided what counts as known, so that
# nobody probes it again by accident (its hedged probes look like gaps).

CARD = "sayso.json"


class CurvePoint(msgspec.Struct, frozen=True):
    """One line of a curve: optimizer step, epoch, loss, learning rate.

    ``values`` by name: "reward accuracy" and "reward margin" of pairs (DPO).
    """

    step: int
    epoch: float
    loss: float
    rate: float | None = None
    values: dict[str, float] = msgspec.field(default_factory=dict)


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """Where an adapter comes from.

    ``kind`` is sft or dpo. ``base`` is the identity of the base model, ``base_name`` what it
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
    curve: tuple[CurvePoint, ...] = ()
    notices: tuple[str, ...] = ()


def card_signature(card: ModelCard) -> str:
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


def write_card(folder: Path, card: ModelCard) -> None:
    """Write ``sayso.json`` and ``README.md`` into a folder. Raises InputError for a full disk."""
    text = msgspec.json.format(msgspec.json.encode(card), indent=2)
    with replacing(folder / CARD) as file:
        file.write(text + b"\n")
    with replacing(folder / "README.md") as file:
        file.write(readme(card).encode("utf-8", "replace"))


def read_card(folder: Path) -> ModelCard | None:
    """Return the card of a folder, ``None`` where there is none. Raises InputError if damaged."""
    place = folder / CARD
    if not place.is_file():
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=ModelCard)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{place} cannot be read as a model's card: {error}") from None


def readme(card: ModelCard) -> str:
    """Return the page for people, with a front matter that model hubs read."""
    front = {
        "library_name": "peft",
        "base_model": card.base_name,
        "tags": ["sayso", card.kind],
    }
    lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in front.items()), "---", ""]
    facts = {
        "base model": card.base_name,
        "base identity": card.base,
        "base run": card.base_run or "none",
        "recipe": card.recipe or "own rows",
        "rows": str(card.rows),
        "seed": str(card.seed),
        "signature": card.signature,
    }
    lines += [
        "# A LoRA adapter trained to say what it does not know",
        "",
        *(f"- {name}: `{_plain(value)}`" for name, value in facts.items()),
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
