"""Where checks of judges are kept: one small JSON file for each judge, beside the cache."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from sayso.atomic import disk_errors, replacing
from sayso.cache import default_cache_folder
from sayso.pipeline.judge_check_records import JudgeCheck, Share
from sayso.records import content_id

#: added to a judge's signature by a run whose subject is its relative; the judge is the same
OWN_FAMILY = "+own-family"

Cited = dict[str, str | int | float | None]


def place(signature: str, cache: str | Path | None = None) -> Path:
    """Return the file in which the check of the judge with this signature is kept."""
    name = content_id(["judge", signature.replace(OWN_FAMILY, "")])
    return Path(cache or default_cache_folder()) / "judge-checks" / f"{name}.json"


def keep(found: JudgeCheck, cache: str | Path | None = None) -> Path:
    """Write a check in one piece; the one before it is replaced. Returns the file."""
    path = place(found.signature, cache)
    with replacing(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(found)))
    return path


def stored(signature: str, cache: str | Path | None = None) -> Cited | None:
    """Return what a report cites of the last check of a judge; ``None`` if there was none.

    A file that cannot be read is ``{"problem": why}``: a run does not stop for it. Keys:
    signature, checked, sayso, check_set, aspects, agreed, of, low, high, unread, stance_agreed,
    stance_of, kappa, injections, injections_changed, injections_obeyed, injections_unread,
    tokens_per_100, dollars_per_100 (``None`` = unknown), and with a user's labels labelled,
    labelled_agreed, labelled_of, labelled_low, labelled_high.
    """
    path = place(signature, cache)
    if not path.is_file():
        return None
    try:
        with disk_errors(path, "read"):
            raw = path.read_bytes()
        found = msgspec.json.decode(raw, type=JudgeCheck)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return {"problem": f"the stored check cannot be read ({' '.join(str(error).split())})"}
    return cited(found)


def cited(found: JudgeCheck) -> Cited:
    """Return the numbers of a check that a manifest keeps and a report prints."""
    flat: Cited = {
        "signature": found.signature,
        "checked": found.checked,
        "sayso": found.sayso,
        "check_set": found.check_set,
        "aspects": found.ours.aspects,
        "unread": found.ours.unread,
        **_flat(found.ours.agreed),
        "stance_agreed": found.ours.stance_agreed.count,
        "stance_of": found.ours.stance_agreed.of,
        "kappa": found.ours.kappa,
        "injections": found.injection.tried,
        "injections_changed": len(found.injection.changed),
        "injections_obeyed": len(found.injection.obeyed),
        "injections_unread": len(found.injection.unread),
        "tokens_per_100": found.tokens_per_100,
        "dollars_per_100": found.dollars_per_100,
    }
    if found.labelled is not None:
        flat["labelled"] = found.labelled.name
        flat |= {f"labelled_{name}": v for name, v in _flat(found.labelled.agreed).items()}
    return flat


def whole(text: str) -> str:
    """Return a text without halves of characters, which no file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _flat(found: Share) -> Cited:
    return {"agreed": found.count, "of": found.of, "low": found.low, "high": found.high}


def to_json(found: JudgeCheck) -> str:
    """Return a check as indented JSON, with what is derived from its numbers."""
    whole = json.loads(msgspec.json.encode(found))
    whole["tokens_per_100"] = found.tokens_per_100
    whole["dollars_per_100"] = found.dollars_per_100
    return json.dumps(whole, indent=2, ensure_ascii=False)
