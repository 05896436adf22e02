"""Opening whoever scoring may ask: the model of the answers, and who compares their meanings."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray

from sayso.engines import open_classifier, open_model
from sayso.engines.engine import Capabilities, Classifier, Counts, Engine, StateWatcher, reader_of
from sayso.engines.prices import price_of
from sayso.judges.meaning import LlmClassifier, Meaning, ModelMeaning, RulesMeaning, label_columns
from sayso.prompts import check_folder
from sayso.records import Generation, InputError, Request, content_hash
from sayso.runs.asking import Asker
from sayso.runs.costs import Meter, check_price, endpoint_options, is_endpoint, known_price
from sayso.scores.collect import Examples, Questioner, Tools
from sayso.storage.cache import FILE_NAME, Cache, default_cache_folder

# What was asked about given text, kept between questions and runs: relations, and forced reads.
#
# Both lie in files of the reply cache's kind beside it, one row for each pair or text: a
# classifier
# or a model is asked once for what it was asked before, in whichever run.

#: Pairs remembered in memory beside the file: more than one block of questions needs.
RECENT = 100_000
_NOTHING = Request(messages=())


class RememberedClassifier:
    """A :class:`~sayso.engines.engine.Classifier` that asks another one only about new pairs.

    Pairs are told apart by the classifier's identity. Rows that could not be read (NaN) are not
    kept. ``asked`` counts pairs that went to the classifier, ``known`` those that did not.
    """

    def __init__(self, classifier: Classifier, cache: Cache | None = None) -> None:
        self._classifier = classifier
        self._cache = cache
        self._recent: dict[tuple[str, str], tuple[float, ...]] = {}
        self.identity = classifier.identity
        self.labels = classifier.labels
        self.signature = str(getattr(classifier, "signature", classifier.identity))
        self.asked = 0
        self.known = 0

    @property
    def notices(self) -> list[str]:
        """What the classifier has to say."""
        return list(getattr(self._classifier, "notices", ()))

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities (pairs, labels)."""
        if len(self._recent) > RECENT:
            self._recent.clear()
        found = {pair: self._recent[pair] for pair in pairs if pair in self._recent}
        new = [pair for pair in dict.fromkeys(pairs) if pair not in found]
        found |= self._stored(new)
        new = [pair for pair in new if pair not in found]
        self.known += len(pairs) - len(new)
        self.asked += len(new)
        if new:
            values = np.asarray(self._classifier.classify(new), dtype=np.float64)
            for pair, row in zip(new, values.tolist(), strict=True):
                found[pair] = tuple(row)
                if self._cache is not None and all(map(math.isfinite, row)):
                    self._cache.put(self._key(pair), Generation(_NOTHING, text=json.dumps(row)))
            if self._cache is not None:
                self._cache.commit()
        self._recent.update(found)
        return np.asarray([found[pair] for pair in pairs], dtype=np.float64).reshape(
            len(pairs), len(self.labels)
        )

    def _key(self, pair: tuple[str, str]) -> bytes:
        return content_hash(["nli", self.identity, list(self.labels), *pair])

    def _stored(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[float, ...]]:
        if self._cache is None or not pairs:
            return {}
        keys = {self._key(pair): pair for pair in pairs}
        found = {}
        for key, kept in self._cache.get_many(list(keys)).items():
            row = tuple(float(value) for value in json.loads(kept.text))
            if len(row) == len(self.labels):
                found[keys[key]] = row
        return found


class RememberedReads:
    """An engine whose forced reads are kept; all else is the engine's."""

    def __init__(self, engine: Engine, cache: Cache | None = None) -> None:
        self._engine = engine
        self._cache = cache
        self.known = 0

    @property
    def name(self) -> str:
        """The engine's name."""
        return self._engine.name

    @property
    def identity(self) -> str:
        """The engine's identity."""
        return self._engine.identity

    @property
    def base(self) -> str:
        """The engine's base model."""
        return self._engine.base

    @property
    def signature(self) -> str:
        """The engine's short name."""
        return self._engine.signature

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return self._engine.capabilities

    @property
    def counts(self) -> Counts:
        """What the engine did."""
        return self._engine.counts

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Ask the engine."""
        return self._engine.complete(requests)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given texts, those that were read before from the file."""
        keys = [self._key(item, want) for item in items] if self._cache is not None else []
        kept = self._cache.get_many(keys) if self._cache is not None else {}
        self.known += len(kept)
        todo = []
        for index, item in enumerate(items):
            if keys and keys[index] in kept:
                yield index, kept[keys[index]]
            else:
                todo.append((index, item))
        if not todo:
            return
        for place, found in self._engine.force([item for _, item in todo], want):
            index = todo[place][0]
            if self._cache is not None:
                self._cache.put(keys[index], found)
            yield index, found
        if self._cache is not None:
            self._cache.commit()

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Read hidden states by the engine; they are not kept here."""
        return reader_of(self._engine).hidden(items, layer, position)

    def watch(self, layer: int, position: str) -> None:
        """Have states kept while texts are read, where the engine can."""
        if isinstance(self._engine, StateWatcher):
            self._engine.watch(layer, position)

    def close(self) -> None:
        """Let the engine go."""
        self._engine.close()

    def _key(self, item: tuple[Request, str | Sequence[int]], want: Sequence[str]) -> bytes:
        request, text = item
        given = text if isinstance(text, str) else list(text)
        return content_hash(["forced", self.identity, request, given, sorted(want)])


NLI_FILE = "relations.sqlite"
READS_FILE = "reads.sqlite"
#: The NLI model that is used where nothing else was named and its weights are on this machine.
NLI_DEFAULT = "microsoft/deberta-large-mnli"
#: Files that weights of a hub model stand in.
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


class Toolbox:
    """Opens each tool when it is first needed, and knows what the user should be told.

    ``model`` is a name for :func:`~sayso.engines.open_model` or an engine; ``nli`` is ``rules``, a
    folder or hub id, ``llm:`` and the name of a model, a classifier, or ``None``: the default
    model if its weights are here, else rules. ``ask``: the model is also asked for its confidence
    and whether its answer is true; ``prompts`` is a folder of prompts of the user's own.
    """

    def __init__(
        self,
        model: str | Engine | None = None,
        nli: str | Classifier | None = None,
        cache: Path | str | None = None,
        *,
        strict: bool = True,
        condition: bool = True,
        price: str | None = None,
        meter: Meter | None = None,
        ask: bool = False,
        prompts: Path | None = None,
    ) -> None:
        if ask and model is None:
            raise InputError("--ask asks the model that gave the answers: name it with --model")
        check_folder(prompts)
        self.asks = ask
        self._prompts = prompts
        self._asker: Asker | None = None
        self._questioner: Questioner | None = None
        #: shown before the model is asked whether an answer is true; none unless somebody sets them
        self.examples: Examples | None = None
        self._model, self._nli = model, nli
        self._price, self._meter = price, meter or Meter()
        self._folder = Path(cache) if cache is not None else default_cache_folder()
        self._rules = {"strict": strict, "condition": condition}
        self._open = contextlib.ExitStack()
        self._caches: dict[str, Cache] = {}
        self._engine: RememberedReads | None = None
        self._meaning: Meaning | None = None
        self._speakers: list[Any] = []
        self._told: list[str] = []
        self._said: list[str] = []
        if nli is None:
            self._nli = chosen_nli()
            if self._nli == "rules":
                self._said.append(
                    f"meanings compared by rules: the weights of {NLI_DEFAULT} are not on this "
                    "machine; --nli NAME opens (and fetches) a model"
                )

    @property
    def has_model(self) -> bool:
        """Whether a model of the answers was named."""
        return self._model is not None

    @property
    def nli(self) -> str:
        """The name of who compares meanings, opened or not."""
        return self._nli if isinstance(self._nli, str) else "classifier"

    @property
    def three(self) -> bool:
        """Whether contradiction is told from neutral (``True`` before a model is opened)."""
        return self._meaning.three if self._meaning is not None else self._nli != "rules"

    def tools(self, *, engine: bool, meaning: bool) -> Tools:
        """Return the tools, opening those that are needed and not open yet."""
        if engine and self._model is not None and self._engine is None:
            self._engine = self._open_engine(self._model)
        if meaning and self._meaning is None:
            self._meaning = self._open_meaning(self._nli)
        return Tools(self._engine, self._meaning, self._questioner, self.examples)

    @property
    def notices(self) -> list[str]:
        """What the user should be told, by whom it concerns."""
        found = [*self._told, *(self._said if self._meaning is not None else ())]
        for speaker in self._speakers:
            found += [str(notice) for notice in getattr(speaker, "notices", ())]
        found += self.examples.notices if self.examples is not None else []
        if self._questioner is not None:
            told = self.asked
            found.append(
                f"{told['requests']:,} requests for confidence and truth of answers "
                f"({told['cached']:,} known from before): {told['unread']:,} replies could not be "
                f"read, {told['failed']:,} requests failed"
            )
        return found

    @property
    def asked(self) -> dict[str, int]:
        """How many requests were made for confidence and truth, and what became of them."""
        if self._questioner is None or self._asker is None:
            return {}
        return {**asdict(self._questioner.tally), "cached": self._asker.tally.cached}

    @property
    def signature(self) -> str:
        """What the scores owe to tools."""
        parts = [self._engine.signature] if self._engine is not None else []
        parts += [self._questioner.signature] if self._questioner is not None else []
        if self.examples is not None and self.examples.asked:
            parts.append(f"p_true:{self.examples.fit}-examples")
        parts += [self._meaning.signature] if self._meaning is not None else []
        return "|".join(parts)

    def close(self) -> None:
        """Let everything go that was opened here."""
        self._open.close()

    def _cache(self, name: str) -> Cache:
        if name not in self._caches:
            self._caches[name] = self._open.enter_context(Cache(self._folder / name))
        return self._caches[name]

    def _open_engine(self, model: str | Engine) -> RememberedReads:
        engine, price = model, None
        if isinstance(engine, str):
            told = self._price if is_endpoint(engine) else None  # else meant for who compares
            price = price_of(engine, told)
            engine = open_model(engine, **endpoint_options(engine, price=told))
            self._open.callback(engine.close)
        if not engine.capabilities.force:
            self._told.append(
                f"{engine.name} cannot read given text token by token: no log-probabilities were "
                "filled in; that takes a model in this process (hf:NAME)"
                + ("" if self.asks else "; --ask asks it for its confidence")
            )
        if self.asks:
            check_price(self._meter.max_cost, engine.name, price or known_price(engine), "--price")
            kept = self._cache(FILE_NAME)
            self._asker = Asker(engine, kept, who="asked", price=price, meter=self._meter)
            self._questioner = Questioner(self._asker, self._prompts)
        self._speakers.append(engine)
        return RememberedReads(engine, self._cache(READS_FILE))

    def _open_meaning(self, nli: str | Classifier | None) -> Meaning:
        if nli == "rules" or nli is None:
            return RulesMeaning()
        classifier: Any = nli
        if isinstance(nli, str) and nli.startswith("llm:"):
            name = nli.removeprefix("llm:")
            price = price_of(name, self._price)
            given = endpoint_options(name, price=self._price)
            check_price(self._meter.max_cost, name, price, "--price")
            engine = open_model(name, **given)
            self._open.callback(engine.close)
            kept = self._cache(FILE_NAME)
            asker = Asker(engine, kept, who="nli", price=price, meter=self._meter)
            classifier = LlmClassifier(asker)
        elif isinstance(nli, str):
            classifier = open_classifier(nli)
            self._open.callback(classifier.close)
        try:
            label_columns(classifier.labels)
        except InputError as error:
            raise InputError(f"--nli {nli}: {error}") from None
        self._speakers.append(classifier)
        known = RememberedClassifier(classifier, self._cache(NLI_FILE))
        return ModelMeaning(known, nli if isinstance(nli, str) else "classifier", **self._rules)


def chosen_nli() -> str:
    """Return the default NLI model if it can be opened without fetching anything, else rules."""
    if any(find_spec(name) is None for name in ("torch", "transformers", "huggingface_hub")):
        return "rules"
    from huggingface_hub.constants import HF_HUB_CACHE

    # Importing the whole library of the hub costs more than scoring a few rows.
    if not Path(HF_HUB_CACHE, f"models--{NLI_DEFAULT.replace('/', '--')}").is_dir():
        return "rules"
    from huggingface_hub import try_to_load_from_cache

    here = any(isinstance(try_to_load_from_cache(NLI_DEFAULT, name), str) for name in _WEIGHTS)
    return NLI_DEFAULT if here else "rules"
