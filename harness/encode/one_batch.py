"""One batch: its vectors, checked, or why the embedder has none."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.arrays import Vectors
from harness.encode import roles
from harness.errors import PLUGIN_ERRORS, HarnessError, ModelError, PartlyEncoded, one_line

if TYPE_CHECKING:
    from harness.embedder import Embedder


_FURTHER_FLOATS = ("bfloat16",)
"""Floating-point numbers of other packages, which numpy does not count among its own."""
_NUMBER_HINTS = {
    "b": " (bits are no vectors: write them as 0.0 and 1.0 if they are meant)",
    "u": " (packed bits must be unpacked, and quantised numbers be divided by their scale)",
    "i": " (quantised numbers must be divided by their scale; counts be written as floats)",
    "c": " (the real part alone is another vector)",
    "O": " (rows of unequal lengths, texts or None are no vectors)",
}
"""What is likely wrong, by the kind of an array's numbers."""


@dataclass(frozen=True)
class Failure:
    """Why a batch has no vectors, and whether memory was the reason."""

    reason: str
    of_memory: bool


@dataclass(frozen=True)
class Encoded:
    """The vectors of a batch.

    Parameters
    ----------
    vectors
        (n, d) vectors.
    reasons
        Why some texts have none, by position; their rows are NaN.
    """

    vectors: Vectors
    reasons: Mapping[int, str] = field(default_factory=dict)


def attempt(embedder: Embedder, batch: Sequence[str]) -> Encoded | Failure:
    """Return the (n, d) vectors of a batch of keys, or why there are none.

    Raises
    ------
    ModelError
        If the embedder does not return an (n, d) array of floats.
    HarnessError
        If the embedder raises one.
    """
    try:
        return _encoded(embedder, batch)
    except HarnessError:
        raise
    except PLUGIN_ERRORS as error:
        if not is_out_of_memory(error):
            return Failure(one_line(error), of_memory=False)
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    # After the except block the exception is gone, and so are the frames that hold device memory.
    _free_memory()
    return Failure(f"it does not fit into memory ({problem})", of_memory=True)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception says that the memory of a device or of the host is exhausted.

    Torch is not imported for this: its exception is recognised by name, older ones by message.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    message = str(error).lower()
    phrases = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, RuntimeError) and any(phrase in message for phrase in phrases)


def checked(embedder: Embedder, texts: Sequence[str], vectors: Any) -> Vectors:
    """Return what an embedder returned for `texts` as (n, d) float32.

    Raises
    ------
    ModelError
        If it is not n rows of d floating-point numbers.
    """
    name = embedder.info.name
    array = np.asarray(vectors)
    if not (np.issubdtype(array.dtype, np.floating) or array.dtype.name in _FURTHER_FLOATS):
        raise ModelError(
            f"model '{name}' returned an array of {array.dtype}; expected floats"
            f"{_NUMBER_HINTS.get(array.dtype.kind, '')}"
        )
    declared = embedder.info.dimensions
    d = declared or (array.shape[1] if array.ndim == 2 else 0)
    if array.shape != (len(texts), d):
        hint = ""
        if array.ndim == 3:
            hint = ": it has a vector for each token, which must be pooled into one for each text"
        elif array.ndim == 2 and len(array) == len(texts):
            hint = f", since it declares {declared} dimensions"
        raise ModelError(
            f"model '{name}' returned an array of shape {array.shape} for {len(texts)} texts; "
            f"expected ({len(texts)}, {d or 'd'}){hint}"
        )
    with np.errstate(over="ignore"):  # an overflow becomes infinite, which is checked later
        return array.astype(np.float32, copy=False)


def _encoded(embedder: Embedder, batch: Sequence[str]) -> Encoded:
    """Return the (n, d) vectors of a batch; the texts of each role are encoded together."""
    groups = roles.grouped(batch, embedder.info.readings)
    parts: list[Vectors] = []
    reasons: dict[int, str] = {}
    for group in groups:
        try:
            vectors = embedder.encode(group.texts, **group.arguments)
        except PartlyEncoded as error:
            vectors = error.vectors
            reasons |= {int(group.positions[i]): why for i, why in error.reasons.items()}
        parts.append(checked(embedder, group.texts, vectors))
    if len(parts) == 1:
        return Encoded(parts[0], reasons)
    positions = np.concatenate([group.positions for group in groups])
    return Encoded(np.concatenate(parts)[np.argsort(positions)], reasons)


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
