"""`?quantize=`: an encoder whose vectors have less precision, as vector databases store them.

The codes equal those of `sentence_transformers.quantize_embeddings`. A code is returned as the
number that it stands for, so that metrics and mitigators work on it as on any vector.

The file `calibration.txt` has the texts from which the ranges of `int8` are computed: 117 search
queries, their 117 gender-neutral documents, and the words of the queries. They are from Grep-BiasIR
(Krieg et al. 2023, KlaraKrieg/GrepBiasIR, CC0 1.0).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from harness.arrays import Vectors
from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption

Precision: TypeAlias = Literal["int8", "binary"]

LEVELS = 256
"""Number of values of a dimension with `int8`."""
_CALIBRATION = Path(__file__).with_name("calibration.txt")
_BATCH = 32  # calibration texts that are encoded together
_FORWARDED = (*("batch_texts", "batch_tokens", "close", "lacks", "lengths", "notes", "truncated"),)


class Quantized:
    """A text encoder whose vectors are quantised; itself an embedder.

    Parameters
    ----------
    embedder
        The encoder.
    precision
        `int8`: each dimension has 256 levels between the least and the greatest value that it has
        in the vectors of the calibration texts; values outside are set to the nearest level. A
        level is returned as its middle. `binary`: a dimension is 1 if it is above 0, else -1, so
        that the cosine of two vectors is 1 - 2h/d for the Hamming distance h.

    Raises
    ------
    InvalidOption
        If the precision is unknown, or the embedder is no text encoder.

    Notes
    -----
    The calibration texts are the same for all models and tasks. With ranges from the texts of a
    run, a vector would depend on the other texts of the run. They are encoded with the first text.
    """

    def __init__(self, embedder: Embedder, precision: str) -> None:
        if precision not in get_args(Precision):
            raise InvalidOption(f"quantize={precision}: expected one of int8, binary")
        info = embedder.info
        if info.kind != "text":
            raise InvalidOption(f"quantize={precision}: '{info.name}' is no text encoder")
        self.embedder, self.precision = embedder, precision
        stated = {"int8": [precision, *calibration_texts()], "binary": [precision]}[precision]
        fingerprint = f"{info.fingerprint}-{digest(stated)}"
        # Published scores are those of the vectors in full precision.
        self.info = dataclasses.replace(info, fingerprint=fingerprint, scores={})

    def __getattr__(self, name: str) -> Any:
        """Return a member that quantisation does not change; token states are not among them."""
        if name in _FORWARDED:
            return getattr(self.embedder, name)
        raise AttributeError(name)

    def encode(self, texts: Sequence[str], **role: Any) -> Vectors:
        """Return the (n, d) float32 quantised vectors of `n` texts; rows of NaN stay NaN."""
        vectors = np.asarray(self.embedder.encode(texts, **role), dtype=np.float32)
        if self.precision == "binary":
            signs = np.where(vectors > 0, np.float32(1), np.float32(-1))
            return np.where(np.isnan(vectors), vectors, signs)
        return of_codes(codes(vectors, self._ranges), self._ranges) if len(texts) else vectors

    @property
    def unquantized(self) -> Embedder:
        """The encoder itself, whose full-precision vectors distinguish models."""
        return self.embedder

    @functools.cached_property
    def _ranges(self) -> Vectors:
        """The (2, d) least and greatest values of each dimension."""
        texts = calibration_texts()
        batches = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        vectors = np.concatenate([self.embedder.encode(batch) for batch in batches])
        return np.stack([np.nanmin(vectors, axis=0), np.nanmax(vectors, axis=0)]).astype(np.float32)


def codes(vectors: Vectors, ranges: Vectors) -> Vectors:
    """Return the (n, d) levels of vectors, from 0 to 255 as floats, for (2, d) ranges."""
    start, step = ranges[0], _steps(ranges)
    levels: Vectors = np.clip(np.floor((vectors - start) / step), 0, LEVELS - 1)
    return levels


def of_codes(levels: Vectors, ranges: Vectors) -> Vectors:
    """Return the (n, d) float32 values in the middle of levels."""
    middles = ranges[0] + (levels + np.float32(0.5)) * _steps(ranges)
    constant = ranges[0] == ranges[1]
    return np.asarray(np.where(constant & ~np.isnan(levels), ranges[0], middles), dtype=np.float32)


def _steps(ranges: Vectors) -> Vectors:
    steps = (ranges[1] - ranges[0]) / np.float32(LEVELS - 1)
    return np.where(steps == 0, np.float32(1), steps)


@functools.cache
def calibration_texts() -> tuple[str, ...]:
    """Return the texts from which the ranges of `int8` are computed."""
    return tuple(_CALIBRATION.read_text(encoding="utf-8").splitlines())
