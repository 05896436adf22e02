"""What a run opens besides its model and judge: who compares meanings, and knowledge sources.

What a classifier or a model says of given text is kept in files of the reply cache's kind, a row
for each pair or text, so that no run computes it twice.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines import open_classifier
from sayso.engines.engine import Classifier, Engine, EngineWrapper, StateWatcher
from sayso.engines.ray.classifier import RayClassifier
from sayso.engines.ray.engine import RaySettings
from sayso.judges.meaning import LlmClassifier, Meaning, ModelMeaning, RulesMeaning, label_columns
from sayso.options import ModelOptions, for_others, given
from sayso.progress import Progress
from sayso.prompts import check_folder
from sayso.records import (
    NOT_ASKED,
    Generation,
    InputError,
    Passage,
    Question,
    Request,
    content_hash,
    content_id,
)
from sayso.retrieval.build import opened as open_index
from sayso.retrieval.index import Index
from sayso.retrieval.sources import GOLDS
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import Meter, check_price, dollars, is_endpoint, known_price, open_priced
from sayso.runs.judge import JudgeOptions
from sayso.scores.collect import NO_TOKENS, EvidenceQuestioner, PromptExamples, Tools
from sayso.storage.atomic import place_inside, replacing
from sayso.storage.cache import FILE_NAME, Cache, default_cache_folder

#: the file of the cache that remembers texts that were only read
READS = "reads.sqlite"
NO_REQUEST = Request(messages=())
#: the NLI model that is used where none is named and its weights are on this machine
NLI_DEFAULT = "microsoft/deberta-large-mnli"
#: files that hold the weights of a hub model
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


class Toolbox:
    """The model of the answers and whoever compares meanings, each opened when first needed.

    ``model`` is a name for :func:`~sayso.engines.open_model` or an engine; ``nli`` is ``rules``, a
    folder or hub id, ``llm:`` and the name of a model, a classifier, or ``None``: the default
    model if its weights are here, else rules. ``ask``: the model is also asked for its confidence
    and whether its answer is true; ``prompts`` is a folder of the user's own prompts. ``panel`` are
    names of models that judge answers without a gold; ``sentences``: the model is also asked of
    each sentence and sample. ``opening`` says how the model is opened; with ``ray`` meanings are
    compared in Ray's actors.
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
        panel: Sequence[str] = (),
        sentences: bool = False,
        opening: ModelOptions = ModelOptions(),
        ray: RaySettings | None = None,
        counted: ScoringCount | None = None,
    ) -> None:
        if ask and model is None:
            raise InputError("--ask asks the model that gave the answers: pass --model too")
        opened = list(given(opening))
        if opened and model is None:
            raise InputError(
                f"{opened[0]} is for the model that gave the answers: pass --model too"
            )
        check_folder(prompts)
        self.asks = ask
        self._prompts = prompts
        self._cached: CachedEngine | None = None
        self._questioner: EvidenceQuestioner | None = None
        self.panel = tuple(panel)
        self.sentences = sentences
        self._judges: tuple[EvidenceQuestioner, ...] = ()
        #: shown before the question whether an answer is true; none unless a caller sets them
        self.examples: PromptExamples | None = None
        self._model, self._nli, self._opening = model, nli, opening
        self._ray, self._counted = ray, counted
        self._price, self._meter = price, meter or Meter()
        self._folder = Path(cache) if cache is not None else default_cache_folder()
        self._rules = {"strict": strict, "condition": condition}
        self._open = contextlib.ExitStack()
        self._caches: dict[str, Cache] = {}
        self._engine: RememberedReads | None = None
        self._meaning: Meaning | None = None
        self._opened: list[Any] = []
        self._notices: list[str] = []
        self._nli_notices: list[str] = []
        if nli is None:
            self._nli = chosen_nli()
            if self._nli == "rules":
                self._nli_notices.append(
                    f"meanings compared by rules: the weights of {NLI_DEFAULT} are not on this "
                    "machine; --nli NAME downloads and uses a model"
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
        if self.panel and not self._judges:
            options = JudgeOptions(judge_price=self._price)
            models = FurtherModels(self._cache(FILE_NAME), self._meter, options)
            self._open.callback(models.close)
            self._judges = tuple(
                EvidenceQuestioner(models.open(n), self._prompts) for n in self.panel
            )
            self._opened += models.opened.values()
        return Tools(self._engine, self._meaning, self._questioner, self.examples, self._judges)

    @property
    def notices(self) -> list[str]:
        """What the user should know of the tools in use."""
        notices = [*self._notices, *(self._nli_notices if self._meaning is not None else ())]
        for tool in self._opened:
            notices += [str(notice) for notice in getattr(tool, "notices", ())]
        notices += self.examples.notices if self.examples is not None else []
        if self._questioner is not None:
            counts = self.request_counts
            notices.append(
                f"{counts['requests']:,} requests for confidence and truth of answers "
                f"({counts['cached']:,} from the cache): {counts['unread']:,} replies could not "
                f"be read, {counts['failed']:,} requests failed"
            )
            if self._questioner.lists_tokens is False:
                notices.append(f"P(True) was asked once, not of every answer: {NO_TOKENS}")
        return notices

    @property
    def request_counts(self) -> dict[str, int]:
        """How many requests were made for confidence and truth, and what became of them."""
        if self._questioner is None or self._cached is None:
            return {}
        return {
            **msgspec.structs.asdict(self._questioner.tally),
            "cached": self._cached.tally.cached,
        }

    @property
    def signature(self) -> str:
        """What the scores owe to tools."""
        parts = [self._engine.signature] if self._engine is not None else []
        parts += [self._questioner.signature] if self._questioner is not None else []
        if self._judges:
            names = "+".join(judge.engine.signature for judge in self._judges)
            parts.append(f"panel:{names}#{self._judges[0].signature}")
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
        reads = self._cache(READS)  # one that cannot be used is told before weights load
        price = None
        if isinstance(model, str):
            own = self._price if is_endpoint(model) else None  # else for the comparing model
            engine, price = open_priced(model, price=own, opening=self._opening)
            self._open.callback(engine.close)
        else:
            engine = model
        if not engine.capabilities.force:
            self._notices.append(
                f"{engine.name} cannot score given text token by token, so no log-probabilities "
                "were added to those that came with answers; that needs a model in this process "
                "(hf:NAME)"
                + ("" if self.asks else "; for its confidence: score --ask, run --set elicit=true")
            )
        if self.asks:
            check_price(self._meter.max_cost, engine.name, price or known_price(engine), "price")
            kept = self._cache(FILE_NAME)
            self._cached = CachedEngine(engine, kept, who="asked", price=price, meter=self._meter)
            self._questioner = EvidenceQuestioner(
                self._cached, self._prompts, sentences=self.sentences
            )
        self._opened.append(engine)
        return RememberedReads(engine, reads, self._counted)

    def _open_meaning(self, nli: str | Classifier | None) -> Meaning:
        if nli == "rules" or nli is None:
            return RulesMeaning()
        classifier: Any = nli
        if isinstance(nli, str) and nli.startswith("llm:"):
            name, meter = nli.removeprefix("llm:"), self._meter
            kept = self._cache(FILE_NAME)
            engine, price = open_priced(name, meter.max_cost, price=self._price, ray=self._ray)
            self._open.callback(engine.close)
            classifier = LlmClassifier(
                CachedEngine(engine, kept, who="nli", price=price, meter=meter)
            )
        elif isinstance(nli, str):
            classifier = open_classifier(nli)
            if self._ray is not None:
                classifier = RayClassifier(classifier, nli, self._ray)
            self._open.callback(classifier.close)
        try:
            label_columns(classifier.labels)
        except InputError as error:
            raise InputError(f"--nli {nli}: {error}") from None
        self._opened.append(classifier)
        known = RememberedClassifier(classifier, self._cache("relations.sqlite"), self._counted)
        return ModelMeaning(known, nli if isinstance(nli, str) else "classifier", **self._rules)


#: seconds between two tellings of how far the scores are
EVERY = 0.5


class ScoringCount:
    """Tells whoever watches how many texts were read, and pairs compared, for the scores."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._told = progress, 0.0
        self.texts = self.pairs = 0

    def add(self, *, texts: int = 0, pairs: int = 0) -> None:
        """Count more of them."""
        self.texts += texts
        self.pairs += pairs
        if time.monotonic() - self._told < EVERY:
            return
        self._told = time.monotonic()
        counts = {"texts read": self.texts, "pairs compared": self.pairs}
        told = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
        self._progress.doing(f"computing the scores: {told}")


class FurtherModels:
    """Models that a run asks besides its subject and its judge, by name, each opened once.

    They go through the cache and keep to the meter of the run; ``options`` say how an endpoint is
    asked and what its tokens cost. With ``learn=False`` nothing can be asked.
    """

    def __init__(
        self,
        cache: Cache,
        meter: Meter | None = None,
        options: JudgeOptions | None = None,
        progress: Progress | None = None,
        *,
        learn: bool = True,
    ) -> None:
        self._cache, self._meter, self._options = cache, meter or Meter(), options or JudgeOptions()
        self._progress, self._learn = progress, learn
        self.opened: dict[str, CachedEngine] = {}

    def open(self, name: str) -> CachedEngine:
        """Return a model by name. Raises InputError."""
        if name not in self.opened:
            engine, price = open_priced(
                name,
                self._meter.max_cost,
                "judge_price",
                price=self._options.judge_price if is_endpoint(name) else None,
                opening=for_others(self._options.opening),
                weights=None if self._learn else False,
                ray=self._options.ray,
                batches=self._options.batches if is_endpoint(name) else None,
            )
            made = CachedEngine(
                engine, self._cache, who=name, price=price, meter=self._meter,
                progress=self._progress,
            )  # fmt: skip
            for other, one in self.opened.items():
                if one.identity == made.identity and one.address != made.address:
                    raise InputError(f"{other} and {name} have one name and would share replies")
            self.opened[name] = made
        return self.opened[name]

    @property
    def notices(self) -> list[str]:
        """What each has to say, and what its answers cost."""
        notices = [notice for engine in self.opened.values() for notice in engine.notices]
        for name, engine in self.opened.items():
            if engine.remote:
                notices.append(f"price of {name}: {dollars(engine.dollars)}")
        return notices

    def close(self) -> None:
        """Close all that were opened."""
        for engine in self.opened.values():
            engine.close()


class KnowledgeSources:
    """The knowledge sources of a run by name; a missing index is built in the cache folder."""

    def __init__(self, questions: Sequence[Question], cache: Path) -> None:
        self._questions, self._cache = questions, cache
        self._open: dict[str, Index] = {}
        self._stack = contextlib.ExitStack()
        #: what each source holds, since a signature has its name alone
        self.notices: list[str] = []

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return the ``k`` best passages for each (title, text); none where it has no such title.

        A source without titles is searched whole.
        """
        if source not in self._open:
            name = str(self._golds()) if source == GOLDS else source
            index = self._stack.enter_context(open_index(name, self._cache))
            self._open[source], info = index, index.info
            content = f"{info.documents:,} documents, {info.passages:,} passages"
            left = f", {info.skipped:,} rows left out" if info.skipped else ""
            self.notices.append(f"knowledge {source}: {content}{left}")
        return [tuple(passages) for passages in self._open[source].search_many(queries, k)]

    def _golds(self) -> Path:
        """Write the golds of the run's questions as a source, one document for each entity."""
        facts: dict[str, list[str]] = {}
        for q in self._questions:
            if q.golds and not q.parts:
                names = dict.fromkeys(name for gold in q.golds for name in gold.names)
                # each on a line of its own: a line is a fact
                values = "; ".join(" ".join(name.split()) for name in names)
                about = q.aspect.description if q.aspect is not None else q.text
                facts.setdefault(q.entity or q.text, []).append(
                    f"{' '.join(about.split())}: {values}."
                )
        if not facts:
            raise InputError("knowledge golds: the data has no gold answers; name a source")
        rows = [{"title": title, "text": "\n".join(lines)} for title, lines in facts.items()]
        body = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        place = place_inside(self._cache, "knowledge", f"golds-{content_id(rows)}.jsonl")
        if not place.exists():
            with replacing(place) as file:
                file.write(body)
        return place

    def close(self) -> None:
        """Close the indexes."""
        self._stack.close()


class RunTools:
    """What a run opens besides its subject and its judge, each when it is first needed.

    Those are the knowledge sources of its ``questions``, a :class:`Toolbox` for each ``nli`` asked
    for by name, with the subject ``engine`` where it may be asked, and further models.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        cache: Path,
        engine: Engine | None = None,
        models: FurtherModels | None = None,
        ray: RaySettings | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.models, self.sources = models, KnowledgeSources(questions, cache)
        self._engine, self._cache, self._ray = engine, cache, ray
        self._counted = None if progress is None else ScoringCount(progress)
        self._boxes: dict[str, Toolbox] = {}

    def tools(self, nli: str) -> Tools:
        """Return what gathers evidence, with meanings compared by ``nli``."""
        if nli not in self._boxes:
            self._boxes[nli] = Toolbox(
                self._engine, nli, self._cache, ray=self._ray, counted=self._counted
            )
        return self._boxes[nli].tools(engine=self._engine is not None, meaning=True)

    def model(self, name: str) -> CachedEngine:
        """Return a further model by name. Raises InputError where none may be asked."""
        if self.models is None:
            raise InputError(f"a stored run cannot ask {name}")
        return self.models.open(name)

    @property
    def notices(self) -> list[str]:
        """What all have to say; what the subject itself says is left out."""
        own = [str(n) for n in getattr(self._engine, "notices", ())]
        boxes = [n for box in self._boxes.values() for n in box.notices if n not in own]
        further = self.models.notices if self.models is not None else ()
        return [*boxes, *self.sources.notices, *further]

    def close(self) -> None:
        """Close everything."""
        for box in self._boxes.values():
            box.close()
        self.sources.close()
        if self.models is not None:
            self.models.close()


def chosen_nli() -> str:
    """Return the default NLI model if it can be opened without fetching anything, else rules."""
    if any(find_spec(name) is None for name in ("torch", "transformers", "huggingface_hub")):
        return "rules"
    from huggingface_hub.constants import HF_HUB_CACHE

    # Importing the whole library of the hub costs more than scoring a few rows.
    if not Path(HF_HUB_CACHE, f"models--{NLI_DEFAULT.replace('/', '--')}").is_dir():
        return "rules"
    from huggingface_hub import try_to_load_from_cache

    here = any(isinstance(try_to_load_from_cache(NLI_DEFAULT, name), str) for name in WEIGHTS)
    return NLI_DEFAULT if here else "rules"


# ---- results kept between runs


class RememberedClassifier:
    """A :class:`~sayso.engines.engine.Classifier` that runs another one only on new pairs.

    Results are kept by the classifier's identity, a row of a cache file for each pair; rows that
    could not be read (NaN) are not. ``asked`` counts pairs that went to the classifier.
    """

    #: pairs kept in memory: more than one block of questions needs
    RECENT = 100_000

    def __init__(
        self,
        classifier: Classifier,
        cache: Cache | None = None,
        counted: ScoringCount | None = None,
    ) -> None:
        self._classifier, self._counted = classifier, counted
        self._cache = cache
        self._recent: dict[tuple[str, str], tuple[float, ...]] = {}
        self.identity = classifier.identity
        self.labels = classifier.labels
        self.signature = str(getattr(classifier, "signature", classifier.identity))
        self.batch = int(getattr(classifier, "batch", 4096))
        self.asked = 0

    @property
    def notices(self) -> list[str]:
        """The classifier's notices."""
        return list(getattr(self._classifier, "notices", ()))

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities (pairs, labels)."""
        if len(self._recent) > self.RECENT:
            self._recent.clear()
        rows = {pair: self._recent[pair] for pair in pairs if pair in self._recent}
        new = [pair for pair in dict.fromkeys(pairs) if pair not in rows]
        rows |= self._stored(new)
        new = [pair for pair in new if pair not in rows]
        self.asked += len(new)
        if new:
            values = np.asarray(self._classifier.classify(new), dtype=np.float64)
            if self._counted is not None:
                self._counted.add(pairs=len(new))
            for pair, row in zip(new, values.tolist(), strict=True):
                rows[pair] = tuple(row)
                if self._cache is not None and all(map(math.isfinite, row)):
                    self._cache.put(self._key(pair), Generation(NO_REQUEST, text=json.dumps(row)))
            if self._cache is not None:
                self._cache.commit()
        self._recent.update(rows)
        return np.asarray([rows[pair] for pair in pairs], dtype=np.float64).reshape(
            len(pairs), len(self.labels)
        )

    def _key(self, pair: tuple[str, str]) -> bytes:
        return content_hash(["nli", self.identity, list(self.labels), *pair])

    def _stored(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[float, ...]]:
        if self._cache is None or not pairs:
            return {}
        keys = {self._key(pair): pair for pair in pairs}
        rows = {}
        for key, kept in self._cache.get_many(list(keys)).items():
            row = tuple(float(value) for value in json.loads(kept.text))
            if len(row) == len(self.labels):
                rows[keys[key]] = row
        return rows


class RememberedReads(EngineWrapper):
    """An engine whose forced reads are kept, a row of a cache file for each text."""

    def __init__(
        self, engine: Engine, cache: Cache | None, counted: ScoringCount | None = None
    ) -> None:
        super().__init__(engine)
        self._cache, self._counted = cache, counted

    def kept(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> dict[int, Generation]:
        """Return what was read of some texts before, by their place."""
        keys = [self._key(item, want) for item in items]
        found = self._cache.get_many(keys) if self._cache is not None else {}
        return {index: found[key] for index, key in enumerate(keys) if key in found}

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given texts; those that were read before come from the file."""
        kept = self.kept(items, want)
        yield from kept.items()
        todo = [index for index in range(len(items)) if index not in kept]
        for place, read in self.engine.force([items[index] for index in todo], want):
            index = todo[place]
            if self._cache is not None and read.problem != NOT_ASKED:
                self._cache.put(self._key(items[index], want), read)
            if self._counted is not None:
                self._counted.add(texts=1)
            yield index, read
        if self._cache is not None:
            self._cache.commit()

    def watch(self, layer: int, position: str) -> None:
        """Have states kept while texts are read, where the engine can."""
        if isinstance(self.engine, StateWatcher):
            self.engine.watch(layer, position)

    def _key(self, item: tuple[Request, str | Sequence[int]], want: Sequence[str]) -> bytes:
        request, text = item
        given = text if isinstance(text, str) else list(text)
        return content_hash(["forced", self.identity, request, given, sorted(want)])
