"""The C functions of llama.cpp that this engine calls, from the library of the wheel xllamacpp.

xllamacpp publishes llama.cpp's server for Python, which shows the likeliest tokens only. Its
library also has llama.cpp's own C functions, which give the logits of the whole vocabulary
(docs/decisions.md says why this wheel). llama.cpp passes its settings as structures whose fields
move between versions, so :func:`library` compares the defaults that it reads with those that it
knows and refuses a library whose structures it does not know.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_float,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sayso.processes import wait_passively
from sayso.records import InputError

#: the wheel that brings llama.cpp
WHEEL = "xllamacpp"
#: numbers of llama.cpp that mean a type of the cache's keys and values
CACHE_TYPES = {"float32": 0, "float16": 1}
#: what a token is for, as bits of its attribute
CONTROL, USER_DEFINED = 1 << 3, 1 << 4
#: kinds of vocabularies: none, and those in which texts begin with a space that is not theirs
NO_VOCABULARY, SENTENCEPIECE = 0, 1
#: what ``llama_decode`` returns when the cache has no room, or memory for a step cannot be had
FULL, NO_MEMORY = 1, -2
#: how llama.cpp marks the lines of its log that say what failed
ERROR = 4


class NoRoomError(RuntimeError):
    """The memory of a model has no room for more tokens."""


# ---- structures of the C functions


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class ModelSettings(Structure):
    """``llama_model_params``. ``spare`` is room for fields of another version."""

    _fields_ = (
        *_fields(c_void_p, "devices tensor_buft_overrides"),
        *_fields(c_int32, "n_gpu_layers split_mode load_mode lazy_mode main_gpu"),
        *_fields(c_void_p, "tensor_split progress_callback progress_data kv_overrides"),
        *_fields(c_bool, "vocab_only check_tensors use_extra_bufts no_host no_alloc load_mtp"),
        ("spare", c_uint8 * 64),
    )


class ContextSettings(Structure):
    """``llama_context_params``. ``spare`` is room for fields of another version."""

    _fields_ = (
        *_fields(c_uint32, "n_ctx n_batch n_ubatch n_seq_max n_rs_seq"),
        *_fields(c_uint32, "n_outputs_max n_outputs_max_per_seq"),
        *_fields(c_int32, "n_threads n_threads_batch ctx_type rope_scaling_type pooling_type"),
        *_fields(c_int32, "attention_type flash_attn_type"),
        *_fields(c_float, "rope_freq_base rope_freq_scale yarn_ext_factor yarn_attn_factor"),
        *_fields(c_float, "yarn_beta_fast yarn_beta_slow"),
        *_fields(c_uint32, "yarn_orig_ctx"),
        *_fields(c_float, "defrag_thold"),
        *_fields(c_void_p, "cb_eval cb_eval_data"),
        *_fields(c_int32, "type_k type_v"),
        *_fields(c_void_p, "abort_callback abort_data more"),
        *_fields(c_bool, "embeddings offload_kqv no_perf op_offload swa_full kv_unified"),
        *_fields(c_void_p, "samplers"),
        *_fields(c_size_t, "n_samplers"),
        *_fields(c_void_p, "ctx_other"),
        ("spare", c_uint8 * 64),
    )


class TokenBatch(Structure):
    """``llama_batch``: tokens with their positions, their sequences, and who wants logits."""

    _fields_ = (
        ("n_tokens", c_int32),
        *_fields(c_void_p, "token embd pos n_seq_id seq_id logits"),
    )


#: fields by which the structures are known, with llama.cpp's defaults; fields that are not here
#: are 0 by default
MODEL_DEFAULTS = {
    "n_gpu_layers": -1, "split_mode": 1, "load_mode": -1, "lazy_mode": 1, "use_extra_bufts": True,
}  # fmt: skip
CONTEXT_DEFAULTS = {
    "n_ctx": 512, "n_batch": 2048, "n_ubatch": 512, "n_seq_max": 1, "n_outputs_max_per_seq": 1,
    "n_threads": 4, "n_threads_batch": 4, "rope_scaling_type": -1, "pooling_type": -1,
    "attention_type": -1, "flash_attn_type": -1, "yarn_ext_factor": -1.0, "yarn_attn_factor": -1.0,
    "yarn_beta_fast": -1.0, "yarn_beta_slow": -1.0, "defrag_thold": -1.0, "type_k": 1, "type_v": 1,
    "offload_kqv": True, "no_perf": True, "op_offload": True, "swa_full": True,
}  # fmt: skip

#: functions of llama.h: result, arguments
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "llama_log_set": (None, c_void_p, c_void_p),
    "llama_backend_init": (None,),
    "llama_supports_gpu_offload": (c_bool,),
    "llama_model_default_params": (ModelSettings,),
    "llama_context_default_params": (ContextSettings,),
    "llama_model_load_from_file": (c_void_p, c_char_p, ModelSettings),
    "llama_model_free": (None, c_void_p),
    "llama_model_get_vocab": (c_void_p, c_void_p),
    "llama_model_chat_template": (c_char_p, c_void_p, c_char_p),
    "llama_model_meta_val_str": (c_int32, c_void_p, c_char_p, c_char_p, c_size_t),
    "llama_model_desc": (c_int32, c_void_p, c_char_p, c_size_t),
    "llama_model_size": (c_uint64, c_void_p),
    "llama_model_n_params": (c_uint64, c_void_p),
    "llama_model_n_swa": (c_int32, c_void_p),
    "llama_model_n_layer": (c_int32, c_void_p),
    "llama_model_n_embd": (c_int32, c_void_p),
    "llama_model_n_head": (c_int32, c_void_p),
    "llama_model_n_head_kv": (c_int32, c_void_p),
    "llama_model_has_encoder": (c_bool, c_void_p),
    "llama_model_is_recurrent": (c_bool, c_void_p),
    "llama_model_is_hybrid": (c_bool, c_void_p),
    "llama_vocab_n_tokens": (c_int32, c_void_p),
    "llama_vocab_type": (c_int32, c_void_p),
    "llama_vocab_bos": (c_int32, c_void_p),
    "llama_vocab_eos": (c_int32, c_void_p),
    "llama_vocab_is_eog": (c_bool, c_void_p, c_int32),
    "llama_vocab_get_attr": (c_int32, c_void_p, c_int32),
    "llama_tokenize": (c_int32, c_void_p, c_char_p, c_int32, c_void_p, c_int32, c_bool, c_bool),
    "llama_token_to_piece": (c_int32, c_void_p, c_int32, c_char_p, c_int32, c_int32, c_bool),
    "llama_init_from_model": (c_void_p, c_void_p, ContextSettings),
    "llama_free": (None, c_void_p),
    "llama_n_ctx": (c_uint32, c_void_p),
    "llama_n_seq_max": (c_uint32, c_void_p),
    "llama_get_memory": (c_void_p, c_void_p),
    "llama_memory_clear": (None, c_void_p, c_bool),
    "llama_memory_seq_rm": (c_bool, c_void_p, c_int32, c_int32, c_int32),
    "llama_memory_seq_cp": (None, c_void_p, c_int32, c_int32, c_int32, c_int32),
    "llama_decode": (c_int32, c_void_p, TokenBatch),
    "llama_get_logits": (POINTER(c_float), c_void_p),
}

#: the newest lines of llama.cpp's log that say what failed
_complaints: deque[str] = deque(maxlen=20)


def _note(level: int, text: bytes, _: object) -> None:
    if level == ERROR and text.strip():
        _complaints.append(text.decode(errors="replace").strip())


_listen = CFUNCTYPE(None, c_int32, c_char_p, c_void_p)(_note)


def _complaint(otherwise: str) -> str:
    """Return what llama.cpp said last about a failure, without the name of its function."""
    said = next((line for line in reversed(_complaints) if "error" in line.lower()), "")
    said = said or (_complaints[-1] if _complaints else "")
    head, _, rest = said.partition(": ")
    return (rest if rest and " " not in head else said)[:300] or otherwise


@lru_cache(maxsize=1)
def library() -> Any:
    """Return llama.cpp's library, loaded once. Raises InputError where it is not there or unknown.

    Importing the Python package is not needed: only its library is opened.
    """
    spec = util.find_spec(WHEEL)
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    files = [
        file for folder in folders for file in sorted(folder.glob(f"{WHEEL}*"))
        if file.suffix in (".so", ".pyd", ".dylib")
    ]  # fmt: skip
    if not files:
        raise InputError(
            f"a model gguf:FILE needs {WHEEL}, which is not installed: pip install 'sayso[gguf]'"
        )
    wait_passively()
    about = f"{WHEEL} {version()}"
    try:
        found = ctypes.CDLL(str(files[0]))
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise InputError(
            f"{about} does not give the functions of llama.cpp that sayso calls ({error}): "
            "pip install 'sayso[gguf]' for a version that does, or use hf:FILE"
        ) from None
    found.llama_log_set(ctypes.cast(_listen, c_void_p), None)
    found.llama_backend_init()
    for defaults, known in (
        (found.llama_model_default_params(), MODEL_DEFAULTS),
        (found.llama_context_default_params(), CONTEXT_DEFAULTS),
    ):
        for name, *_ in defaults._fields_:
            value = getattr(defaults, name)
            if name != "spare" and (value or 0) != known.get(name, 0):
                raise InputError(
                    f"{about} has another llama.cpp than sayso knows ({name} is {value!r} by "
                    f"default): pip install 'sayso[gguf]' for a version that it knows"
                )
    return found


def version() -> str:
    """Return the version of the wheel, "" where it is not installed."""
    try:
        return metadata.version(WHEEL)
    except metadata.PackageNotFoundError:
        return ""


# ---- what a file says before the library reads it

#: how the numbers of a file are packed, by their kind; two more kinds are texts and lists
PACKED = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
TEXT, LIST = 8, 9
#: layers that llama.cpp has room for
MOST_LAYERS = 512


def _numbers_in(file: IO[bytes]) -> Iterator[tuple[str, float]]:
    """Yield the numbers among the keys of a GGUF file. Raises struct.error where it ends."""

    def take(form: str) -> Any:
        return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]

    def skip(kind: int) -> None:
        file.seek(take("Q") if kind == TEXT else struct.calcsize(PACKED[kind]), os.SEEK_CUR)

    file.seek(16)
    for _ in range(take("Q")):
        name, kind = file.read(min(take("Q"), 1 << 16)).decode(errors="replace"), take("I")
        if kind in PACKED:
            yield name, take(PACKED[kind])
        elif kind == LIST:
            inner = take("I")
            for _ in range(take("Q")):
                skip(inner)
        else:
            skip(kind)


def check_numbers(path: Path) -> None:
    """Refuse a file with a number that ends the process inside the library. Raises InputError."""
    with path.open("rb") as file, contextlib.suppress(struct.error, KeyError, ValueError, OSError):
        for name, value in _numbers_in(file):
            expected = ""
            if name.endswith(".block_count") and not 1 <= value <= MOST_LAYERS:
                expected = f"1 to {MOST_LAYERS} layers"
            if name.endswith("epsilon") and not 0 <= value < math.inf:
                expected = "a number from 0"
            if expected:
                raise InputError(
                    f"model file {path} is damaged: {name} is {value}, expected {expected}"
                )


# ---- a model and its vocabulary


class Model:
    """The weights and the vocabulary of a GGUF file; the weights stay in the file (mmap).

    ``layers`` of it are computed by a graphics card: -1 for all, 0 for none. Without ``weights``
    only the vocabulary is read. Raises InputError for a file that llama.cpp does not open.
    """

    def __init__(self, path: Path, *, layers: int = -1, weights: bool = True) -> None:
        check_numbers(path)
        self.lib = library()
        settings = self.lib.llama_model_default_params()
        settings.n_gpu_layers = layers
        settings.vocab_only = not weights
        _complaints.clear()
        self.pointer = self.lib.llama_model_load_from_file(os.fsencode(path), settings)
        reason = "" if self.pointer else _complaint("it gives no reason")
        if self.pointer:
            self.vocabulary = self.lib.llama_model_get_vocab(self.pointer)
            if self.lib.llama_vocab_type(self.vocabulary) == NO_VOCABULARY:
                self.close()
                reason = "it has no vocabulary"
        if reason:
            raise InputError(
                f"model file {path} cannot be opened by llama.cpp ({WHEEL} {version()}): {reason}"
            )
        self.tokens = int(self.lib.llama_vocab_n_tokens(self.vocabulary))

    def close(self) -> None:
        """Release the weights."""
        if self.pointer:
            self.lib.llama_model_free(self.pointer)
            self.pointer = None

    def _check_open(self) -> None:
        if not self.pointer:  # the library would end the process
            raise RuntimeError("the engine is closed")

    def number(self, name: str) -> int:
        """Return what the function ``llama_model_NAME`` says of the model."""
        return int(getattr(self.lib, f"llama_model_{name}")(self.pointer))

    def said(self, key: str) -> str:
        """Return a value of the file's metadata, "" where it has none."""
        room = ctypes.create_string_buffer(1 << 12)
        size = self.lib.llama_model_meta_val_str(self.pointer, key.encode(), room, len(room))
        return room.value.decode(errors="replace") if size > 0 else ""

    @property
    def template(self) -> str:
        """The file's chat template, "" where it has none."""
        text = self.lib.llama_model_chat_template(self.pointer, None)
        return text.decode(errors="replace") if text else ""

    @property
    def description(self) -> str:
        """Architecture, size and quantization in llama.cpp's words."""
        room = ctypes.create_string_buffer(256)
        self.lib.llama_model_desc(self.pointer, room, len(room))
        return room.value.decode(errors="replace")

    def special(self, name: str) -> int | None:
        """Return the token ``bos`` or ``eos``, ``None`` where the vocabulary has none."""
        token = int(getattr(self.lib, f"llama_vocab_{name}")(self.vocabulary))
        return token if token >= 0 else None

    def attributes(self) -> list[int]:
        """Return the attribute of each token, a sum of bits."""
        read, vocabulary = self.lib.llama_vocab_get_attr, self.vocabulary
        return [read(vocabulary, token) for token in range(self.tokens)]

    def ends(self) -> frozenset[int]:
        """Return every token that ends an answer."""
        read, vocabulary = self.lib.llama_vocab_is_eog, self.vocabulary
        return frozenset(token for token in range(self.tokens) if read(vocabulary, token))

    def piece(self, token: int, *, special: bool) -> bytes:
        """Return the bytes of a token; those of control tokens only with ``special``."""
        self._check_open()
        if not 0 <= token < self.tokens:  # the library would end the process
            raise ValueError(f"token {token} is not in the vocabulary")
        room = ctypes.create_string_buffer(64)
        call = self.lib.llama_token_to_piece
        size = call(self.vocabulary, token, room, len(room), 0, special)
        if size < 0:
            room = ctypes.create_string_buffer(-size)
            size = call(self.vocabulary, token, room, len(room), 0, special)
        return room.raw[:size]

    def tokenize(self, text: str, *, ends: bool) -> list[int]:
        """Return the tokens of a text in which special tokens are written out.

        With ``ends``, the tokens that begin and end every text are added.
        """
        self._check_open()
        raw = text.encode(errors="replace")
        room = np.empty(len(raw) + 8, dtype=np.int32)
        size = self.lib.llama_tokenize(
            self.vocabulary, raw, len(raw), room.ctypes.data, len(room), ends, True
        )
        if size < 0:
            raise InputError(f"llama.cpp cannot tokenize {text[:60]!r}")
        return [int(token) for token in room[:size]]


# ---- what a model remembers of texts


class Memory:
    """Keys and values of several sequences, which share the places of what they have in common.

    ``places`` are tokens in all, ``sequences`` how many there may be. Raises NoRoomError, and
    InputError for a model that remembers nothing.
    """

    #: tokens computed in one call, and distributions, at least one for each sequence: a buffer
    #: holds one row of logits for each
    TOKENS, OUTPUTS = 512, 32

    def __init__(
        self, model: Model, places: int, sequences: int, threads: int, numbers: str
    ) -> None:
        self.model, self.lib = model, model.lib
        settings = self.lib.llama_context_default_params()
        settings.n_ctx = places
        settings.n_batch = settings.n_ubatch = self.TOKENS
        settings.n_seq_max = sequences
        settings.n_outputs_max, settings.n_outputs_max_per_seq = max(self.OUTPUTS, sequences), 0
        settings.n_threads = settings.n_threads_batch = threads
        settings.type_k = settings.type_v = CACHE_TYPES[numbers]
        settings.kv_unified = True
        if numbers == "float32":  # flash attention rounds to float16
            settings.flash_attn_type = 0
        _complaints.clear()
        self.pointer = self.lib.llama_init_from_model(model.pointer, settings)
        if not self.pointer:
            raise NoRoomError(_complaint("llama.cpp could not reserve the memory"))
        self.memory = self.lib.llama_get_memory(self.pointer)
        self.places = int(self.lib.llama_n_ctx(self.pointer))
        self.outputs = max(self.OUTPUTS, sequences)
        taken = int(self.lib.llama_n_seq_max(self.pointer)) == sequences
        if not self.memory or self.places < places or not taken:
            kept = bool(self.memory)
            self.close()
            raise InputError(
                f"{WHEEL} {version()} did not take the settings that sayso gave it"
                if kept
                else "the model keeps no keys and values: expected a causal language model"
            )

    def close(self) -> None:
        """Release the memory."""
        if self.pointer:
            self.lib.llama_free(self.pointer)
            self.pointer = None

    def clear(self) -> None:
        """Forget all sequences."""
        self.lib.llama_memory_clear(self.memory, False)

    def copy(self, source: int, to: int, end: int = -1) -> None:
        """Let sequence ``to`` begin as ``source`` does, up to ``end`` tokens (-1: all)."""
        self.lib.llama_memory_seq_cp(self.memory, source, to, 0, end)

    def remove(self, sequence: int) -> None:
        """Forget a sequence."""
        self.lib.llama_memory_seq_rm(self.memory, sequence, -1, -1)

    def decode(
        self,
        tokens: Sequence[int] | NDArray[np.int32],
        positions: Sequence[int] | NDArray[np.int32],
        sequences: Sequence[Sequence[int]] | NDArray[np.int32],
        wanted: Sequence[bool] | NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """Read N tokens; return the logits (wanted, V) behind those that are wanted.

        ``sequences`` holds each token's sequences, or as an array its only one. The result is
        llama.cpp's own buffer: it is valid until the next call. Raises NoRoomError.
        """
        if not self.pointer:
            raise RuntimeError("the engine is closed")
        token = np.ascontiguousarray(tokens, dtype=np.int32)
        position = np.ascontiguousarray(positions, dtype=np.int32)
        flags = np.ascontiguousarray(wanted, dtype=np.int8)
        if isinstance(sequences, np.ndarray):
            flat, sizes = sequences, np.ones(len(token), dtype=np.int32)
        else:
            flat = np.array([one for several in sequences for one in several], dtype=np.int32)
            sizes = np.array([len(several) for several in sequences], dtype=np.int32)
        flat = np.ascontiguousarray(flat, dtype=np.int32)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        pointers = (flat.ctypes.data + 4 * starts).astype(np.uint64)
        batch = TokenBatch(
            len(token), token.ctypes.data, None, position.ctypes.data, sizes.ctypes.data,
            pointers.ctypes.data, flags.ctypes.data,
        )  # fmt: skip
        _complaints.clear()
        result = self.lib.llama_decode(self.pointer, batch)
        if result in (FULL, NO_MEMORY):
            raise NoRoomError("the cache of keys and values is full, or memory ran out")
        if result != 0:
            raise RuntimeError(f"llama.cpp: {_complaint(f'decoding failed ({result})')}")
        count = int(np.count_nonzero(flags))
        if not count:
            return np.zeros((0, self.model.tokens), dtype=np.float32)
        rows = self.lib.llama_get_logits(self.pointer)
        return np.ctypeslib.as_array(rows, (count, self.model.tokens))
