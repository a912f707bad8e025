"""An embedder as a study hands it to every mitigator: as it is, or at length 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from harness.arrays import Vectors, unit_rows
from harness.embedder import Embedder, ModelInfo
from harness.vocabulary import Vocabulary, vocabulary_of


class Base:
    """An embedder as a study hands it to every mitigator; itself an embedder.

    Parameters
    ----------
    embedder
        The embedder.
    unit
        Whether its vectors come to length 1.
    """

    def __init__(self, embedder: Embedder, *, unit: bool) -> None:
        self.embedder, self.unit = embedder, unit
        self._last: tuple[list[str], Vectors] = ([], np.zeros((0, 0), dtype=np.float32))

    @property
    def info(self) -> ModelInfo:
        """The embedder's info, under a fingerprint of its own if vectors change."""
        info = self.embedder.info
        changed = dataclasses.replace(info, fingerprint=f"{info.fingerprint} at length 1")
        return changed if self.unit else info

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`; those asked for last are at hand."""
        if list(texts) != self._last[0]:
            self._last = list(texts), self._as_meant(self.embedder.encode(texts))
        return self._last[1].copy()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The embedder's words; one object, so that what is learnt of it can be kept with it."""
        inner = vocabulary_of(self.embedder)
        if not self.unit:
            return inner
        return Vocabulary(inner.words, lambda start, stop: self._as_meant(inner.rows(start, stop)))

    def _as_meant(self, vectors: Vectors) -> Vectors:
        return unit_rows(vectors).astype(np.float32) if self.unit else vectors
