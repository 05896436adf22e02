"""The weights of a model folder: which files hold them, and whether they fit the model that its
config describes.

transformers and peft fill with random numbers what a folder lacks, leave out what does not fit, and
say so in a log at most. A model like that would be measured as if it were the one named. Nothing
heavy is imported until a model is opened.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.engines.local.trial import try_patterns
from sayso.harmless import printable
from sayso.records import InputError

#: files that transformers and peft look for, in this order; indexes name the files that hold parts
SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
ADAPTERS = ("adapter_model.safetensors", "adapter_model.bin")
#: a key of config.json with which a folder names another file
NAMED = "transformers_weights"
#: positions and masks that old versions of transformers saved, and that are computed today
BUFFERS = re.compile(
    r"(^|\.)(position_ids|masked_bias|rotary_emb\.(inv_freq|cos_cached|sin_cached))$"
)
#: tensors that a message names
SHOWN = 2
#: bytes of a text file in a folder, and of one that holds a vocabulary
LONG, LONGEST = 64 << 20, 512 << 20
VOCABULARIES = ("tokenizer.json", "vocab.json")
#: counts of a config that take time and memory one by one, and the most that can be built
COUNTS = re.compile(r"(^|_)(layers?|blocks?|experts?)$")
MANY = 10_000
#: what chooses modules by a regular expression in an adapter's config
PATTERNS = ("target_modules", "exclude_modules", "layers_pattern", "rank_pattern", "alpha_pattern")


# ---- which files


def weight_files(folder: Path, *, pickles: bool) -> tuple[Path, ...]:
    """Return the files of a folder that would be loaded; none where it has no weights.

    Raises InputError, with its name, for a file that is missing, lies elsewhere, or is a pickle
    where ``pickles`` are not allowed: opening one can run any program.
    """
    if (folder / "adapter_config.json").is_file():
        candidates: Sequence[str] = ADAPTERS
    else:
        named = read_object(folder / "config.json").get(NAMED)
        candidates = (str(named),) if named else (*SAFE, *PICKLED)
    first = next((name for name in candidates if (folder / name).exists()), None)
    if first is None:
        return ()
    names = _parts(folder / first) if first.endswith(".index.json") else [first]
    by = f" (named by {first!r:.80})" if names != [first] else ""
    for name in names:
        if not pickles and not name.endswith(".safetensors"):
            raise InputError(
                f"{folder} would load {name!r:.80}{by}, which may be a pickle and run any program: "
                "expected *.safetensors; allow_pickle=true loads files that you trust"
            )
        if Path(name).name != name:
            raise InputError(
                f"{folder} would load {name!r:.80}{by}: expected a file of this folder"
            )
    gone = [name for name in names if not (folder / name).is_file()]
    if gone:
        raise InputError(
            f"{folder} lacks {len(gone)} of {len(names)} weight files{by}, such as "
            f"{gone[0]!r:.80}: download the model again"
        )
    return tuple(folder / name for name in names)


def _parts(index: Path) -> list[str]:
    """Return the files that an index names, each once."""
    files = read_object(index).get("weight_map")
    if not isinstance(files, dict) or not files:
        raise InputError(f"{index} has no weight_map: download the model again")
    return sorted({str(name) for name in files.values()})


# ---- limits


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file; empty where there is none. Raises InputError."""
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} holds no JSON object: expected {{…}}")
    return value


def check_sizes(folder: Path) -> None:
    """Refuse a folder whose texts are too long to be a model's. Raises InputError."""
    for path in sorted(folder.glob("*.json")) + sorted(folder.glob("*.jinja")):
        most = LONGEST if path.name in VOCABULARIES else LONG
        size = path.stat().st_size if path.is_file() else 0
        if size > most:
            raise InputError(
                f"{path} has {size >> 20:,} MB: expected at most {most >> 20:,} MB of a model's "
                "folder; is it another file?"
            )


def check_counts(config: Mapping[Any, Any]) -> None:
    """Raise ValueError for a config with more layers or experts than can be built."""
    for key, value in config.items():
        if isinstance(value, dict):
            check_counts(value)
        elif COUNTS.search(str(key)) and isinstance(value, int) and value > MANY:
            raise ValueError(f"{key} is {value:,}: expected at most {MANY:,}")


# ---- whether they fit


def open_causal(source: str, **how: Any) -> Any:
    """Open a folder or hub id as a causal language model, with ``how`` as transformers takes it.

    Raises ValueError where its weights do not fit, and what the library raises.
    """
    import transformers

    if Path(source).is_dir():
        weight_files(Path(source), pickles=not how.get("use_safetensors"))
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        source, output_loading_info=True, ignore_mismatched_sizes=True, **how
    )
    check_fit(model, report)
    return model


def check_fit(model: Any, report: Mapping[str, Any]) -> None:
    """Raise ValueError where weights are missing, unexpected or of another shape.

    ``report`` is what transformers tells of its loading: tied weights are not in it, nor what its
    own models are known to leave out or to have too many.
    """
    missing = {key for key in report["missing_keys"] if not BUFFERS.search(key)}
    there = {name for name, _ in model.named_buffers()}
    prefix = f"{model.base_model_prefix}."
    unexpected = {
        key
        for key in report["unexpected_keys"]
        if not BUFFERS.search(key) and key not in there and prefix + key not in there
    }
    _refuse(missing, unexpected, report["mismatched_keys"], "its configuration")


def check_encoder(model: Any, report: Mapping[str, Any]) -> None:
    """Raise ValueError as :func:`check_fit` does, but accept what encoders are saved with or
    without: the head of another task, and a pooler that no head here reads."""
    encoder = model.base_model
    parts = {name for name, _ in encoder.named_children()} - {"pooler"}

    def counts(key: str) -> bool:
        return key.removeprefix(f"{model.base_model_prefix}.").partition(".")[0] in parts

    own = model is not encoder  # it has a head, which reads all of it
    check_fit(
        model,
        {
            **report,
            "missing_keys": [key for key in report["missing_keys"] if own or counts(key)],
            "unexpected_keys": [key for key in report["unexpected_keys"] if counts(key)],
        },
    )


def open_adapter(model: Any, folder: Path, **how: Any) -> Any:
    """Put an adapter on a model, with ``how`` as peft takes it.

    Raises ValueError where its weights do not fit the model, and what the library raises.
    """
    from peft import PeftModel

    _check_adapter(model, folder)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found missing adapter keys")
        adapted = PeftModel.from_pretrained(model, str(folder), **how)
    # only a second loading tells what was missing
    trained = bool(how.get("is_trainable", False))
    report = adapted.load_adapter(str(folder), "default", is_trainable=trained)
    _refuse(report.missing_keys, report.unexpected_keys, (), "the model and adapter_config.json")
    return adapted


#: ways of initializing an adapter that its saved weights replace as a whole
PLAIN_BEGINNINGS = ("gaussian", "orthogonal")


def _check_adapter(model: Any, folder: Path) -> None:
    """Raise ValueError for patterns that take too long on the model's modules, and for a way of
    initializing that computes for long, or changes the base model, when the adapter is loaded."""
    config = read_object(folder / "adapter_config.json")
    begin = config.get("init_lora_weights", True)
    if not isinstance(begin, bool) and begin not in PLAIN_BEGINNINGS:
        raise ValueError(
            f"its adapter_config.json has init_lora_weights {str(begin)[:60]!r}, which changes the "
            "base model's weights when it is loaded: save it converted to an ordinary LoRA, or, "
            "if the base model was saved with these changes, set init_lora_weights to true"
        )
    patterns: list[str] = []
    for key in PATTERNS:
        value = config.get(key)
        if isinstance(value, str):
            patterns.append(value)
        elif isinstance(value, dict) or key == "layers_pattern":  # lists of modules are names
            patterns += map(str, value or ())
    if patterns:
        names = [name for name, _ in model.named_modules()]
        try_patterns(patterns, names, "a pattern of its adapter_config.json")


def _refuse(
    missing: Sequence[str] | set[str],
    unexpected: Sequence[str] | set[str],
    shapes: Sequence[tuple[str, Sequence[int], Sequence[int]]],
    what: str,
) -> None:
    """Raise ValueError that names some of the tensors that do not fit ``what``."""
    other = [
        f"{key}: {list(here)} in the file, {list(wanted)} expected" for key, here, wanted in shapes
    ]
    kinds = (("missing", missing), ("unexpected", unexpected), ("of another shape", other))
    found = [_some(names, kind) for kind, names in kinds if names]
    if found:
        raise ValueError(
            f"its weights do not fit {what}: {'; '.join(found)}. Download it again, or correct "
            "its configuration"
        )


def _some(names: Sequence[str] | set[str], kind: str) -> str:
    """Return how many tensors are of this kind, and the first of them."""
    shown = ", ".join(
        printable(name.removeprefix("base_model.model."), 90) for name in sorted(names)[:SHOWN]
    )
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names):,} {kind} ({shown}{more})"
