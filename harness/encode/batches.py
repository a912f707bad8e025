"""The loop over batches that all engines share.

The loop takes the longest texts first: a batch then has little padding, and the batch that needs
most memory comes first. A batch that does not fit into memory is halved. The loop checks what the
embedder returns. A text that fails alone is reported, and the other texts are still encoded.
Knows no model.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.encode import roles
from harness.encode.engine import OnDone, Report
from harness.errors import HarnessError, ModelError, one_line

if TYPE_CHECKING:
    from harness.embedder import Embedder

Lengths = npt.NDArray[np.int64]
"""(n,) number of tokens of each text."""


class VectorWriter(Protocol):
    """Takes vectors, as the writer of a store does."""

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add the (n, d) `vectors` of n `texts`."""
        ...


def default_token_budget(device: str) -> int:
    """Return the token budget of a batch for a device.

    Small batches are fastest on a CPU, because their arrays fit into its caches. Measured with a
    MiniLM of 6 layers: 1,024 tokens take 15 % less time than 4,096 and 30 % less than 8,192.
    """
    return 65_536 if device.startswith("cuda") else 1_024


def token_budget(embedder: Embedder, device: str) -> int:
    """Return the token budget of a batch: the embedder's `batch_tokens`, else the device's."""
    chosen: int | None = getattr(embedder, "batch_tokens", None)
    return default_token_budget(device) if chosen is None else chosen


def encode_batches(
    embedder: Embedder,
    keys: Sequence[str],
    writer: VectorWriter,
    *,
    batch_tokens: int,
    on_done: OnDone,
) -> Report:
    """Encode the texts of keys in batches within a token budget, padding included.

    If a batch does not fit into memory, it is halved, and so is the budget for later batches. If
    the embedder raises any other exception, the texts of the batch are encoded one by one. A text
    that fails alone is reported as failed; the loop continues even if every text fails.

    Parameters
    ----------
    embedder
        The embedder.
    keys
        Distinct texts, or keys of texts in their roles; see `harness.encode.roles`.
    writer
        Takes the vectors; its owner flushes it.
    batch_tokens
        Upper bound of (tokens of the longest text) × (number of texts) in a batch of several texts.
    on_done
        Called with the number of texts of each batch.

    Raises
    ------
    ModelError
        If the embedder does not return an (n, d) array of floats.
    HarnessError
        If the embedder raises one: then it cannot encode at all, for example without its weights.
    DiskError
        If the store cannot be written.
    """
    began = time.perf_counter()
    lengths = token_lengths(embedder, keys)
    order = np.argsort(-lengths, kind="stable")
    size = _BatchSize(batch_tokens, batch_tokens)
    failed: dict[str, str] = {}
    n_batches = start = 0
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        batch = [keys[i] for i in order[start : start + size.at(start, longest)]]
        result = _try(embedder, batch)
        if isinstance(result, _Failure) and len(batch) > 1:
            size.reduce(result, start, len(batch), longest)
            continue
        if isinstance(result, _Failure):
            failed[batch[0]] = result.reason
            size.restore_after(result)
        else:
            failed |= _write_valid(batch, result, writer)
            size.confirm(len(batch))
            n_batches += 1
        start += len(batch)
        on_done(len(batch))
    return Report(
        n_texts=len(keys) - len(failed),
        n_batches=n_batches,
        n_halvings=size.n_halvings,
        seconds=time.perf_counter() - began,
        failed=failed,
        batch_tokens=size.budget,
    )


def token_lengths(embedder: Embedder, keys: Sequence[str]) -> Lengths:
    """Return the number of tokens of each key's text, (n,): counted by the embedder, or estimated.

    An embedder may offer `lengths(texts)`, one number a text. The estimate is 2 plus a quarter of
    the number of characters, at most the embedder's `max_tokens`.
    """
    count = getattr(embedder, "lengths", None)
    if callable(count) and keys:
        lengths = np.empty(len(keys), dtype=np.int64)
        try:
            for group in roles.grouped(keys, embedder.info.role_prompts):
                lengths[group.positions] = count(group.texts, **group.arguments)
            return lengths
        except HarnessError:
            raise
        except Exception:  # noqa: S110  # one text is at fault: encoding will report which
            pass
    limit = embedder.info.max_tokens or sys.maxsize
    texts = map(roles.text_of, keys)
    return np.asarray([min(2 + len(text) // 4, limit) for text in texts], dtype=np.int64)


def split(lengths: Lengths, batch_tokens: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the positions of the texts of each batch, longest first."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + max(1, batch_tokens // max(1, int(lengths[order[start]])))
        yield order[start:stop]
        start = stop


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
    if not np.issubdtype(array.dtype, np.floating):
        raise ModelError(f"model '{name}' returned an array of {array.dtype}; expected floats")
    d = embedder.info.dimensions or (array.shape[1] if array.ndim == 2 else 0)
    if array.shape != (len(texts), d):
        raise ModelError(
            f"model '{name}' returned an array of shape {array.shape} for {len(texts)} texts; "
            f"expected ({len(texts)}, {d or 'd'})"
        )
    with np.errstate(over="ignore"):  # an overflow becomes infinite, which is checked later
        return array.astype(np.float32, copy=False)


@dataclass
class _BatchSize:
    """The number of texts of the next batch, which failures reduce.

    Parameters
    ----------
    budget
        Token budget of the next batch.
    confirmed
        Token budget of the last batch of several texts that fitted; at the start, the given one.
    n_halvings
        How often the budget was halved.
    one_by_one_until
        Texts before this position are encoded one by one.
    """

    budget: int
    confirmed: int
    n_halvings: int = 0
    one_by_one_until: int = 0

    def at(self, start: int, longest: int) -> int:
        """Return the number of texts of the batch at `start`, whose first has `longest` tokens."""
        return 1 if start < self.one_by_one_until else max(1, self.budget // longest)

    def reduce(self, failure: _Failure, start: int, n: int, longest: int) -> None:
        """Halve the budget, or encode one by one, after a batch of `n` > 1 texts failed."""
        if failure.of_memory:
            self.n_halvings += 1
            self.budget = longest * (n // 2)
        else:
            self.one_by_one_until = start + n

    def restore_after(self, failure: _Failure) -> None:
        """Restore the budget if one text alone exceeds the memory: later texts may fit."""
        if failure.of_memory:
            self.budget = self.confirmed

    def confirm(self, n: int) -> None:
        """Remember the budget if a batch of several texts fitted."""
        if n > 1:
            self.confirmed = self.budget


@dataclass(frozen=True)
class _Failure:
    """Why a batch has no vectors, and whether memory was the reason."""

    reason: str
    of_memory: bool


def _try(embedder: Embedder, batch: Sequence[str]) -> Vectors | _Failure:
    try:
        return _encoded(embedder, batch)
    except HarnessError:
        raise
    except Exception as error:  # a model may raise anything
        if not is_out_of_memory(error):
            return _Failure(one_line(error), of_memory=False)
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    # After the except block the exception is gone, and so are the frames that hold device memory.
    _free_memory()
    return _Failure(f"it does not fit into memory ({problem})", of_memory=True)


def _encoded(embedder: Embedder, batch: Sequence[str]) -> Vectors:
    """Return the (n, d) vectors of a batch; the texts of each role are encoded together."""
    groups = roles.grouped(batch, embedder.info.role_prompts)
    parts = [
        checked(embedder, group.texts, embedder.encode(group.texts, **group.arguments))
        for group in groups
    ]
    if len(parts) == 1:
        return parts[0]
    positions = np.concatenate([group.positions for group in groups])
    return np.concatenate(parts)[np.argsort(positions)]


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _write_valid(batch: Sequence[str], vectors: Vectors, writer: VectorWriter) -> dict[str, str]:
    """Write the valid vectors of a batch; return the reason for each text with an invalid one."""
    is_finite = np.isfinite(vectors).all(axis=1)
    is_missing = np.isnan(vectors).all(axis=1)  # a row of NaN means "no vector" and is stored
    valid = np.flatnonzero(is_finite | is_missing).tolist()
    writer.add([batch[i] for i in valid], vectors[valid])
    reason = "its vector has NaN or infinity in some dimensions"
    return {batch[i]: reason for i in np.flatnonzero(~is_finite & ~is_missing).tolist()}
