"""A concept's words in an embedder: their vectors, and which texts are among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from harness.arrays import Floats, unit_rows
from harness.embedder import Embedder

SAME_CASE = 1e-5  # encoders repeat a vector to some 1e-7


def with_lower_case(words: Iterable[str]) -> list[str]:
    """Return `words` as written, then lower-cased, each once: what a fit has to look up."""
    words = list(words)
    return list(dict.fromkeys(words + [word.lower() for word in words]))


def look_up(embedder: Embedder, words: Sequence[str], *, unit: bool) -> dict[str, Floats]:
    """Return the vectors of those `words` that the embedder has, at length 1 if `unit`."""
    if not words:
        return {}
    rows = np.asarray(embedder.encode(words), dtype=np.float64)
    if unit:
        rows = unit_rows(rows)
    return {
        word: row
        for word, row in zip(words, rows, strict=True)
        if np.isfinite(row).all() and row.any()
    }


def ignores_case(vectors: Mapping[str, Floats], words: Iterable[str]) -> bool:
    """Whether those `words` that have a vector have the same in lower case."""
    return all(
        np.allclose(vectors[word], vectors.get(word.lower(), np.inf), rtol=0, atol=SAME_CASE)
        for word in words
        if word != word.lower() and word in vectors
    )


def find(texts: Sequence[str], keys: Collection[str], *, ignoring_case: bool) -> dict[int, str]:
    """Return which of `texts` stand in `keys`, by position: as they are, then lower-cased.

    Parameters
    ----------
    texts
        What to look for; hundreds of thousands take some hundredths of a second.
    keys
        Where to look, in lower case if `ignoring_case`.
    ignoring_case
        Whether texts are looked up in lower case only.
    """
    found = {i: text for i, text in enumerate(map(str.lower, texts)) if text in keys}
    if not ignoring_case:
        found |= {i: text for i, text in enumerate(texts) if text in keys}
    return found
