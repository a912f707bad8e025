"""Nuisances: changes of vectors that remove no bias, to see whether a measure takes them for less.

They are controls. A measure of bias that a nuisance lowers measures something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import ClassVar, Literal

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.errors import InvalidOption
from harness.letters import words
from harness.mitigator import Mitigator

Kind = Literal["noise", "coin", "word-coin", "constant", "scale", "bits"]
LARGEST = 1e6
_MOST_BITS = 16


class Nuisance(Mitigator):
    """Add noise, a coin or a constant to every vector, scale it or round it.

    Removes nothing: each text gets the same change whenever it is asked for, which depends on its
    characters or words alone. Vectors are set to length 1 first, so that `size` means the same for
    all models. It needs no concept.

    Parameters
    ----------
    kind
        `noise`: a random vector of the length `size` is added. `coin`: one more dimension, `size`
        or −`size` at random by text. `word-coin`: the same by the last word of the text.
        `constant`: one more dimension with the value `size`. `scale`: times `size`. `bits`: each
        number is rounded to as many bits.
    size
        Its size, above 0; for `bits` a whole number from 2 to 16.
    seed
        Seed of what is random.

    Raises
    ------
    InvalidOption
        If `size` is not possible.
    """

    control: ClassVar[bool] = True

    def __init__(self, kind: Kind = "noise", size: float = 1.0, seed: int = 0) -> None:
        self.kind = kind
        self.size = size
        self.seed = seed

    def check_options(self) -> None:
        """Raise InvalidOption if `size` is not possible."""
        if not 0 < self.size <= LARGEST:
            raise InvalidOption(
                f"nuisance: size={self.size}; expected above 0, at most {LARGEST:g}"
            )
        if self.kind == "bits" and self.size not in range(2, _MOST_BITS + 1):
            raise InvalidOption(
                f"nuisance: size={self.size}; bits are a whole number from 2 to {_MOST_BITS}"
            )

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return `vectors`, (n, d), with the nuisance, in float32; a coin or constant adds one."""
        unit = unit_rows(vectors)
        if self.kind == "noise":
            unit = unit + self.size * unit_rows(self._noise(texts, unit.shape[1]))
        elif self.kind == "scale":
            unit = unit * self.size
        elif self.kind == "bits":
            # A cosine's scale is the same for all texts, so that no text is rounded on its own.
            steps = 2 ** (int(self.size) - 1) - 1
            unit = np.round(unit * steps * np.sqrt(unit.shape[1]) / 4) / steps
        else:
            column = np.full(len(texts), self.size)
            if self.kind != "constant":
                words = texts if self.kind == "coin" else [_last_word(text) for text in texts]
                column *= [1 if self._hash(word) & 1 else -1 for word in words]
            unit = np.hstack([unit, column[:, None]])
        unit[np.isnan(vectors).any(axis=1)] = np.nan
        return unit.astype(np.float32)

    def _noise(self, texts: Sequence[str], dimensions: int) -> Floats:
        rows = [np.random.default_rng(self._hash(text)).normal(size=dimensions) for text in texts]
        return np.array(rows).reshape(len(texts), dimensions)

    def _hash(self, text: str) -> int:
        key = f"{self.seed} {text}".encode()
        return int.from_bytes(blake2b(key, digest_size=8).digest())


def _last_word(text: str) -> str:
    return (words(text.lower(), "_") or [text])[-1]
