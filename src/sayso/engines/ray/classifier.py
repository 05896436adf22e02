"""An NLI model in Ray's actors. Pairs need no shards: whoever asks keeps what it says of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sayso.engines import open_classifier
from sayso.engines.engine import Classifier
from sayso.engines.ray.engine import RaySettings, actor_share, connect_ray
from sayso.engines.ray.worker import describe_failure, other_version
from sayso.records import InputError
from sayso.version import __version__

#: up to so many pairs are read in this process, sooner than Ray would start
FEW = 512
#: pairs that an actor reads at once
BATCH = 256


class RayClassifier:
    """A classifier in Ray's actors (see :class:`sayso.engines.engine.Classifier`).

    ``classifier`` is the same one here: it says what the model is and reads few pairs itself. Every
    larger call is a data set of its own, so that between calls the machines are free for others.
    """

    #: pairs that a caller should bring at once, at most: so many are lost when a command is killed
    batch = 65_536

    def __init__(self, classifier: Classifier, name: str, settings: RaySettings) -> None:
        self.classifier = classifier
        folder = Path(name).expanduser()
        self.name = str(folder.resolve()) if folder.exists() else name  # actors are elsewhere
        self.settings = settings
        self.identity = classifier.identity
        self.labels = classifier.labels
        self.signature = str(getattr(classifier, "signature", classifier.identity))
        self._started = False

    @property
    def notices(self) -> list[str]:
        """The classifier's notices, of all pairs wherever they were read."""
        return [str(text) for text in getattr(self.classifier, "notices", ())]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities (pairs, labels). Raises InputError where Ray ends."""
        if len(pairs) <= FEW:
            return self.classifier.classify(pairs)
        import ray
        import ray.data

        self._started |= connect_ray(self.settings.address)
        share = actor_share(ray, self.settings.actors, gpus=True, threads=False)
        data = pa.table(
            {
                "row": pa.array(range(len(pairs)), pa.int64()),
                "premise": pa.array([premise for premise, _ in pairs], pa.large_string()),
                "hypothesis": pa.array([hypothesis for _, hypothesis in pairs], pa.large_string()),
            }
        )
        parts = [data.slice(at, BATCH) for at in range(0, len(pairs), BATCH)]
        read = ray.data.from_arrow(parts).map_batches(
            Reader,
            fn_constructor_args=(self.name, self.identity, int(share.cpus), __version__),
            batch_size=BATCH,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(share.actors, len(parts))),
            num_cpus=share.cpus,
            num_gpus=share.gpus,
        )
        found = np.full((len(pairs), len(self.labels)), np.nan)
        try:
            for batch in read.iter_batches(batch_size=None, batch_format="pyarrow"):
                self._take(batch, found)
        except ray.exceptions.RayError as error:
            raise InputError(
                f"Ray ended while comparing meanings ({describe_failure(error)}); run the "
                "same command to compare the remaining pairs"
            ) from None
        return found

    def _take(self, batch: pa.Table, found: NDArray[np.float64]) -> None:
        """Put what an actor read into its rows, and add up what it counted."""
        columns = {name: batch.column(name).to_pylist() for name in batch.column_names}
        problem = next(filter(None, columns["problem"]), "")
        if problem:
            raise InputError(problem)
        found[columns["row"]] = np.asarray(columns["shares"], dtype=np.float64)
        for name in ("pairs", "truncated"):
            here = getattr(self.classifier, name, None)
            if isinstance(here, int):
                setattr(self.classifier, name, here + sum(columns[name]))

    def close(self) -> None:
        """End the classifier, and Ray if it was started here."""
        close = getattr(self.classifier, "close", None)
        if close is not None:
            close()
        if self._started:
            import ray

            ray.shutdown()
            self._started = False


class Reader:
    """An actor's NLI model: reads batches of pairs. What is wrong with it stands in the batches."""

    def __init__(
        self, name: str, identity: str, threads: int = 0, version: str = __version__
    ) -> None:
        self.problem = other_version(version)
        self.counted = {"pairs": 0, "truncated": 0}
        if self.problem:
            return
        try:
            self.classifier: Any = open_classifier(name)
        except InputError as error:
            self.problem = str(error)
            return
        if threads:
            import torch

            torch.set_num_threads(threads)
        if self.classifier.identity != identity:
            self.problem = (
                f"--nli {name} is a different model on Ray's machines than here: give all "
                "machines the same files"
            )

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Read the pairs of a table with columns ``row``, ``premise`` and ``hypothesis``.

        Returns ``row``, ``shares`` (a list of probabilities), ``pairs`` and ``truncated`` (counts,
        in the first row) and ``problem`` (why nothing was done).
        """
        rows = batch.column("row").to_pylist()
        sides = (batch.column(name).to_pylist() for name in ("premise", "hypothesis"))
        shares: list[list[float]] = [[] for _ in rows]
        new = dict.fromkeys(self.counted, 0)
        if not self.problem:
            shares = self.classifier.classify(list(zip(*sides, strict=True))).tolist()
            now = {name: int(getattr(self.classifier, name, 0)) for name in self.counted}
            new = {name: now[name] - self.counted[name] for name in now}
            self.counted = now
        first = [True] + [False] * (len(rows) - 1)
        return pa.table(
            {
                "row": pa.array(rows, pa.int64()),
                "shares": pa.array(shares, pa.list_(pa.float64())),
                **{name: pa.array([new[name] * here for here in first]) for name in new},
                "problem": pa.array([self.problem] * len(rows), pa.string()),
            }
        )
