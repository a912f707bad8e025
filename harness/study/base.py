"""The embedder that a study gives to every mitigator: as it is, or with vectors of length 1."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from harness.arrays import Vectors, unit_rows
from harness.embedder import PLAIN, Embedder, ModelInfo, Role, Vocabulary, read_as, vocabulary_of


class Base:
    """The embedder that a study gives to every mitigator; itself an embedder.

    Parameters
    ----------
    embedder
        The embedder.
    unit
        Whether its vectors are set to length 1.
    """

    def __init__(self, embedder: Embedder, *, unit: bool) -> None:
        self.embedder, self.unit = embedder, unit
        self._role: Role = PLAIN
        self._last: tuple[Role, list[str], Vectors] | None = None

    @property
    def info(self) -> ModelInfo:
        """The embedder's info; its fingerprint differs if the vectors do."""
        info = self.embedder.info
        changed = dataclasses.replace(info, fingerprint=f"{info.fingerprint} at length 1")
        return changed if self.unit else info

    @contextlib.contextmanager
    def reading(self, role: Role) -> Iterator[None]:
        """Take all texts that are encoded in this context as texts of a role."""
        before, self._role = self._role, role
        try:
            with read_as(self.embedder, role):
                yield
        finally:
            self._role = before

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`. The result of the last call is cached."""
        asked = (self._role, list(texts))
        if self._last is None or self._last[:2] != asked:
            self._last = (*asked, self._scaled(self.embedder.encode(texts)))
        return self._last[2].copy()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The embedder's words. One object, so that results about it can be cached with it."""
        inner = vocabulary_of(self.embedder)
        if not self.unit:
            return inner
        return Vocabulary(inner.words, lambda start, stop: self._scaled(inner.rows(start, stop)))

    def _scaled(self, vectors: Vectors) -> Vectors:
        return unit_rows(vectors).astype(np.float32) if self.unit else vectors
