"""The excerpt of a real dump that several tests read, unpacked once."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def packed_excerpt(test_data: Path) -> Path:
    file = test_data / "wikidata" / "entities.dump.json.bz2"
    if not file.is_file():
        pytest.skip("no excerpt of a dump in the labeled data")
    return file


@pytest.fixture(scope="session")
def plain_excerpt(packed_excerpt: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("excerpt") / packed_excerpt.stem
    file.write_bytes(bz2.decompress(packed_excerpt.read_bytes()))
    return file


@pytest.fixture(scope="session")
def excerpt(plain_excerpt: Path) -> list[bytes]:
    """Its entities as lines, without the commas between them."""
    lines = [line.strip().rstrip(b",") for line in plain_excerpt.read_bytes().splitlines()]
    return [line for line in lines if len(line) > 2]
