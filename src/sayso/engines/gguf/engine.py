"""The engine ``gguf:FILE``: a GGUF file that llama.cpp runs in this process.

The weights stay quantized and in the file, which is mapped into memory. Prompts, draws, stop
strings and records are those of the ``hf`` engine; log-probabilities and entropies are exact, over
the whole vocabulary. Neither torch nor transformers is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from sayso.engines.engine import Capabilities, read_options
from sayso.engines.gguf import sampling
from sayso.engines.gguf.cache import LlamaCache
from sayso.engines.gguf.llama import (
    CACHE_TYPES,
    WHEEL,
    Memory,
    Model,
    NoRoomError,
    library,
    version,
)
from sayso.engines.gguf.tokenizer import GgufTokenizer
from sayso.engines.local.decode import AHEAD, BatchLimits, DecodeJob, PrefixCache
from sayso.engines.local.engine import WINDOW, LocalEngine
from sayso.engines.local.files import file_hashes, gguf_file
from sayso.engines.local.records import Arrays, Given, check_arrays
from sayso.engines.named import PACKAGED, limits_of
from sayso.harmless import printable
from sayso.processes import cores
from sayso.records import InputError

#: answers at once: on a processor more of them gain little, on a graphics card they do
ROWS, ROWS_GPU = 32, 64
#: bytes of cached keys and values: this much, or this share of the weights if that is more
CACHE, CACHE_SHARE = 96 << 20, 0.2
#: the smallest cache, in tokens
PLACES = 2048
#: the first of several files that hold one model
PART = re.compile(r"-(\d{5})-of-(\d{5})(?=\.gguf$)", re.IGNORECASE)
#: below this many parameters a second thread costs more than it gives
SMALL = 50_000_000


class GgufOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to open a GGUF file.

    ``device``: "cpu" never uses a graphics card, every other word does if the installed wheel can.
    ``dtype`` are the numbers of cached keys and values: "auto" is float16, as in llama.cpp, and
    float32 for a file of float32 weights. ``batch_size`` are answers computed at once, ``places``
    tokens kept at once. Without ``weights`` only tokenizer and template are read.
    """

    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    threads: Annotated[int, msgspec.Meta(ge=1)] | None = None
    batch_size: Annotated[int, msgspec.Meta(ge=1, le=255)] | None = None
    places: Annotated[int, msgspec.Meta(ge=1)] | None = None
    window: Annotated[int, msgspec.Meta(ge=1)] = WINDOW
    record: frozenset[str] = frozenset({"logprobs", "entropies"})
    chat_template: str | None = None
    end_loops: bool | None = None
    weights: bool = True


def open_gguf(name: str, **options: object) -> GgufEngine:
    """Open ``FILE``, ``FOLDER#FILE`` or a package's model with llama.cpp. Raises InputError."""
    checked = read_options(GgufOptions, options, "options of gguf models")
    check_arrays(checked.record)
    if checked.revision is not None:
        raise InputError(
            f"revision {checked.revision!r} applies only to models from the hub, and {name} is a "
            "file; leave it out"
        )
    if checked.device not in ("auto", "cpu") and not library().llama_supports_gpu_offload():
        raise InputError(
            f"device {checked.device!r}: the installed {WHEEL} was built for the processor; leave "
            f"the device out, or install a build of {WHEEL} for your graphics card"
        )
    if checked.dtype not in ("auto", *CACHE_TYPES):
        raise InputError(
            f"dtype {checked.dtype!r} does not apply to gguf models, whose weights stay as they "
            f"are in the file; for cached keys and values expected auto, {', '.join(CACHE_TYPES)}"
        )
    file = gguf_file(name)
    if file is None:
        raise InputError(
            f"model gguf:{name} is no GGUF file: expected gguf:FILE.gguf or "
            "gguf:FOLDER#FILE.gguf; folders of transformers are hf:FOLDER"
        )
    files = _parts(file)
    if checked.end_loops is None:
        checked = msgspec.structs.replace(checked, end_loops=limits_of(f"gguf:{name}").end_loops)
    model = Model(file, layers=0 if checked.device == "cpu" else -1, weights=checked.weights)
    try:
        if checked.weights and model.number("has_encoder"):
            raise ValueError("it has an encoder: expected a causal language model")
        tokenizer = GgufTokenizer(model, str(file), checked.chat_template)
        return GgufEngine(f"gguf:{name}", model, tokenizer, files, checked)
    except (InputError, ValueError, NoRoomError) as error:
        model.close()
        raise InputError(f"model {file} cannot be opened: {error}") from None
    except BaseException:
        model.close()
        raise


def _parts(file: Path) -> list[Path]:
    """Return all files of a model that begins in this one. Raises InputError."""
    numbers = PART.search(file.name)
    if numbers is None:
        return [file]
    first, count = int(numbers[1]), max(1, int(numbers[2]))
    names = [
        f"{file.name[: numbers.start()]}-{n:05d}-of-{count:05d}{file.name[numbers.end() :]}"
        for n in range(1, count + 1)
    ]
    files = [file.with_name(name) for name in names]
    if first != 1:
        raise InputError(
            f"model file {file} is part {first} of {count}: name the first, {names[0]}"
        )
    missing = [one.name for one in files if not one.is_file()]
    if missing:
        raise InputError(f"model file {file} has {count} parts, and {missing[0]} is missing")
    return files


class GgufEngine(LocalEngine):
    """A GGUF file in llama.cpp as an engine. ``card`` is what the file says of its origin."""

    sampling = sampling

    def __init__(
        self,
        name: str,
        model: Model,
        tokenizer: GgufTokenizer,
        files: Sequence[Path],
        options: GgufOptions,
    ) -> None:
        super().__init__(
            name, tokenizer, model.ends(), options.record,
            end_loops=bool(options.end_loops), window=options.window,
        )  # fmt: skip
        self.model, self.options = model, options
        whole = model.said("general.file_type") == "0"  # all weights are float32
        chosen = "float32" if whole else "float16"
        self.numbers = chosen if options.dtype == "auto" else options.dtype
        self.graphics = options.device != "cpu" and bool(model.lib.llama_supports_gpu_offload())
        self.threads = options.threads or _threads(model, options)
        hashes = file_hashes(files)
        digest = hashlib.sha256(
            json.dumps([list(hashes.values()), tokenizer.chat_template]).encode()
        ).hexdigest()
        self.identity = f"llama.cpp|weights:{digest[:32]}|{self.numbers}"
        self.base = self.identity
        stem = files[0].stem
        if files[0].suffix.lower() != ".gguf":  # called by its hash, as in Ollama's store
            stem = printable(model.said("general.name"), 40).replace(" ", "-") or stem[:14]
        self.signature = f"gguf:{stem}@{hashes[files[0].name][:7]}"
        if self.end_loops:  # its answers are others
            self.identity += "|end_loops"
            self.signature += "+end_loops"
        self.card = _card(model, files, name.removeprefix("gguf:"))
        said = model.said(f"{model.said('general.architecture')}.context_length")
        self.context = int(said) if said.isdecimal() else 0
        self.limits = self._limits()
        self._memories: list[Memory] = []
        self._idle: LlamaCache | None = None
        self.capabilities = Capabilities(
            logprobs=True,
            entropies=True,
            alternatives=True,
            force=True,
            context=self.context or None,
        )
        if options.weights:  # what cannot be held is found out now
            self._give_back(self._borrow(0))

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return self.model.tokens

    @property
    def device(self) -> str:
        """Where it computes, and in which numbers."""
        where = "graphics card" if self.graphics else "cpu"
        return f"llama.cpp ({WHEEL} {version()}), {where}, {self.numbers} cache"

    @property
    def plan(self) -> str:
        """With how many threads it computes, and how much at once: draws may depend on both."""
        return (
            f"{self.threads} thread{'s' * (self.threads != 1)}; batches of up to "
            f"{self.limits.rows:,} answers and {self.limits.most:,} tokens"
        )

    def _limits(self) -> BatchLimits:
        """Return how much is computed at once: it depends only on the file and the options."""
        rows = self.options.batch_size or (ROWS_GPU if self.graphics else ROWS)
        places = self.options.places
        if places is None and self.options.weights:
            heads = max(1, self.model.number("n_head"))
            kept = self.model.number("n_head_kv") or heads
            width = self.model.number("n_embd") // heads * kept * self.model.number("n_layer")
            place = 2 * width * (4 if self.numbers == "float32" else 2)
            share = int(CACHE_SHARE * self.model.number("size"))
            places = max(PLACES, max(CACHE, share) // max(1, place))
        places = places or PLACES
        return BatchLimits(rows, places, places, places)

    def _borrow(self, longest: int) -> LlamaCache:
        """Return a cache without slots in which a text of this many tokens has room.

        Nobody else uses it before it is given back. Raises NoRoomError.
        """
        needed = max(self.limits.most, longest + AHEAD)
        needed += needed // 3  # what is kept of the prompt before
        cache, self._idle = self._idle, None
        if cache is not None and cache.memory.places < needed:
            self._drop(cache)
            cache = None
        if cache is None:
            rows = self.limits.rows
            memory = Memory(self.model, needed, rows + 1, self.threads, self.numbers)
            self._memories.append(memory)
            keeps = self.model.number("n_swa") == 0
            cache = LlamaCache(memory, rows, self.counts, keeps=keeps, state=self._keeps_state())
        cache.reset()
        return cache

    def _give_back(self, cache: LlamaCache) -> None:
        """Take a cache back, for whoever borrows next."""
        fits = cache.memory.pointer and cache.rows == self.limits.rows
        if self._idle is None and fits:
            self._idle = cache
        else:
            self._drop(cache)

    def _drop(self, cache: LlamaCache) -> None:
        """Release the memory of a cache."""
        cache.memory.close()
        self._memories = [memory for memory in self._memories if memory.pointer]

    def _keeps_state(self) -> bool:
        return bool(self.model.number("is_recurrent") or self.model.number("is_hybrid"))

    @contextmanager
    def _lent(self, longest: int) -> Iterator[LlamaCache]:
        cache = self._borrow(longest)
        try:
            yield cache
        finally:
            self._give_back(cache)

    def _cache(self, jobs: Sequence[DecodeJob]) -> AbstractContextManager[PrefixCache]:
        return self._lent(max(len(job.prompt.ids) + job.request.max_tokens for job in jobs))

    def _ran_out(self, error: RuntimeError) -> bool:
        return isinstance(error, NoRoomError)

    def _halve(self) -> None:
        super()._halve()
        if self._idle is not None:
            self._drop(self._idle)
            self._idle = None

    def _read(self, given: list[Given], wanted: frozenset[str]) -> Iterator[tuple[Given, Arrays]]:
        """Read continuations in batches; what their texts begin with in common is read once."""
        for item in given:
            if not item.ids:
                yield item, {}
        filled = [item for item in given if item.ids]
        filled.sort(key=lambda item: (item.prompt.ids, item.ids))
        longest = max((len(item.prompt.ids) + len(item.ids) for item in filled), default=0)
        with self._lent(longest) as cache:
            for batch in self._batches(filled):
                yield from zip(batch, self._forced_arrays(cache, batch, wanted), strict=True)

    def _forced_arrays(
        self, cache: LlamaCache, batch: Sequence[Given], wanted: frozenset[str]
    ) -> list[Arrays]:
        """Return the wanted arrays of each continuation, read together."""
        texts = [(*item.prompt.ids, *item.ids[:-1]) for item in batch]
        begins = [len(item.prompt.ids) - 1 for item in batch]
        places = [range(at, len(text)) for at, text in zip(begins, texts, strict=True)]
        found: list[Arrays] = [{} for _ in batch]
        cache.reset()
        for text, place, row, logits in cache.read(texts, places, 0):
            owners = list(zip(text.tolist(), place.tolist(), strict=True))
            tokens = np.array([batch[n].ids[at - begins[n]] for n, at in owners], dtype=np.int64)
            arrays = sampling.record(sampling.read_logits(logits), row, tokens, wanted)
            for name, values in arrays.items():
                for (number, _), value in zip(owners, values, strict=True):
                    found[number].setdefault(name, []).append(value)
        return found

    def _batches(self, given: Sequence[Given]) -> Iterator[list[Given]]:
        """Yield continuations that are read together: those of one prompt side by side."""
        batch: list[Given] = []
        tokens = 0
        for item in given:
            size = len(item.prompt.ids) + len(item.ids)
            full = len(batch) == self.limits.rows or tokens + size > self.limits.most
            if batch and full:
                yield batch
                batch, tokens = [], 0
            batch.append(item)
            tokens += size
        if batch:
            yield batch

    def close(self) -> None:
        """Give the memory back, also where somebody still holds it."""
        self._idle = None
        for memory in self._memories:
            memory.close()
        self.model.close()


def _threads(model: Model, options: GgufOptions) -> int:
    """Return how many threads compute; ``OMP_NUM_THREADS`` decides where it is set."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdecimal() and int(said):
        return int(said)
    small = options.weights and model.number("n_params") < SMALL
    return 1 if small else cores()


def _kind(model: Model) -> str:
    """Return architecture, size and quantization: "llama, 135 million parameters, Q4_1"."""
    architecture = model.said("general.architecture")
    *_, quantization = model.description.split(" ", 2)  # llama.cpp writes a class of size between
    count = model.number("n_params") if model.pointer else 0
    size = f"{count / 1e6:,.0f} million parameters" if count >= 1e6 else f"{count:,} parameters"
    return ", ".join(part for part in (architecture, size if count else "", quantization) if part)


def _card(model: Model, files: Sequence[Path], name: str) -> str:
    """Return what a GGUF file says of its origin, license and weights."""
    said = printable(model.said("general.name"), 100)
    package = PACKAGED.get(name)
    parts = (
        f"{files[0].name} ({said})" if said else files[0].name,
        f"license {printable(model.said('general.license'), 100) or 'not stated'}",
        f"{printable(_kind(model), 100)}, run by llama.cpp",
        f"from the package {package} {metadata.version(package)}" if package else "",
    )
    return ", ".join(filter(None, parts))
