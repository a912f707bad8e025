"""Finds vectors in segments by the keys of their texts. Knows no folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.digest import text_keys
from harness.store.segment import Keys, Segment


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the (n, 2) keys of texts."""
    return np.frombuffer(text_keys(texts), dtype="<u8").reshape(-1, 2)


@dataclass(frozen=True)
class KeyIndex:
    """All keys of a store, sorted, each once, with the place of its vector."""

    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]
    place: npt.NDArray[np.int64]  # row among the rows of all segments, one after the other
    starts: npt.NDArray[np.int64]  # (segments + 1,) where each segment's rows begin
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> KeyIndex:
        """Return the index of some segments; of equal keys the first segment's is used."""
        keys = np.concatenate([np.empty((0, 2), np.uint64), *(s.keys for s in segments)])
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: of equal keys the first stays first
        keys = keys[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        starts = np.cumsum([0, *(len(s.keys) for s in segments)], dtype=np.int64)
        first, second = np.ascontiguousarray(keys[new].T)
        return cls(first, second, order[new], starts, tuple(segments))

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """Return the place of each of the (n, 2) keys, -1 where there is none."""
        n = len(self.first)
        found = np.full(len(keys), -1, dtype=np.int64)
        asked = np.arange(len(keys))
        at = np.searchsorted(self.first, keys[:, 0])
        while len(asked):  # once more for each text that shares half of its key with another
            within = at < n
            asked, at = asked[within], at[within]
            same = self.first[at] == keys[asked, 0]
            asked, at = asked[same], at[same]
            hit = self.second[at] == keys[asked, 1]
            found[asked[hit]] = self.place[at[hit]]
            asked, at = asked[~hit], at[~hit] + 1
        return found

    def gather(self, places: npt.NDArray[np.int64]) -> Vectors:
        """Return the (n, d) vectors at `places`."""
        width = self.segments[0].vectors.shape[1] if self.segments else 0
        vectors = np.empty((len(places), width), dtype=np.float32)
        which = np.searchsorted(self.starts, places, side="right") - 1
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(self.segments) + 1))
        for i, part in enumerate(self.segments):
            rows = order[bounds[i] : bounds[i + 1]]
            vectors[rows] = part.vectors[places[rows] - self.starts[i]]
        return vectors
