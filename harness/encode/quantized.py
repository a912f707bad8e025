"""`?quantize=`: an encoder whose vectors have less precision, as vector databases store them.

A code of `sentence_transformers.quantize_embeddings` is returned as the number that it stands for,
so that metrics and mitigators work on it. The ranges of `int8` are those of the vectors of
`calibration.txt`, the same texts for all runs, so that a vector does not depend on other texts of
the run: 117 queries, their 117 gender-neutral documents and the words of the queries, from
Grep-BiasIR (Krieg et al. 2023, KlaraKrieg/GrepBiasIR, CC0 1.0).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Vectors
from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption

TEXTS = Path(__file__).with_name("calibration.txt").read_text(encoding="utf-8").splitlines()
_FORWARDED = (
    *("batch_texts", "batch_tokens", "close", "lacks", "lengths", "notes", "similarity_fn_name"),
    "truncated",
)


class Quantized:
    """A text encoder whose vectors are quantised; itself an embedder.

    With the precision `int8` a dimension has 256 levels, each returned as its middle; with `binary`
    it is 1 above 0, else -1, so that a cosine is 1 - 2h/d for the Hamming distance h.
    `InvalidOption` if the precision is another, or the embedder is no text encoder.
    """

    def __init__(self, embedder: Embedder, precision: str) -> None:
        if precision not in ("int8", "binary"):
            raise InvalidOption(f"quantize={precision}: expected one of int8, binary")
        if embedder.info.kind != "text":
            raise InvalidOption(f"quantize={precision}: '{embedder.info.name}' is no text encoder")
        self.unquantized, self.precision = embedder, precision
        stated = digest([precision, *(TEXTS if precision == "int8" else [])])
        # Published scores are those of the vectors in full precision.
        fingerprint = f"{embedder.info.fingerprint}-{stated}"
        self.info = dataclasses.replace(embedder.info, fingerprint=fingerprint, scores={})

    def __getattr__(self, name: str) -> Any:
        """Return a member that quantisation does not change; token states are not among them."""
        if name in _FORWARDED:
            return getattr(self.unquantized, name)
        raise AttributeError(name)

    def encode(self, texts: Sequence[str], **role: Any) -> Vectors:
        """Return the (n, d) float32 quantised vectors of `n` texts; rows of NaN stay NaN."""
        vectors = np.asarray(self.unquantized.encode(texts, **role), dtype=np.float32)
        if self.precision == "binary" or not len(texts):
            found = np.where(vectors > 0, np.float32(1), np.float32(-1))
        else:
            from sentence_transformers import quantize_embeddings

            low, high = self._ranges
            known = np.where(np.isnan(vectors), low, vectors)
            codes = quantize_embeddings(known, "uint8", self._ranges)
            levels = np.asarray(codes, dtype=np.float32)
            step = (high - low) / np.float32(255)
            found = np.where(low == high, low, low + (levels + np.float32(0.5)) * step)
        return np.where(np.isnan(vectors), vectors, found)

    @functools.cached_property
    def _ranges(self) -> Vectors:
        """The (2, d) least and greatest values of each dimension."""
        batches = [TEXTS[i : i + 32] for i in range(0, len(TEXTS), 32)]
        vectors = np.concatenate([self.unquantized.encode(batch) for batch in batches])
        return np.stack([np.nanmin(vectors, axis=0), np.nanmax(vectors, axis=0)]).astype(np.float32)
