"""Engines: what runs the encoding, and the loop over batches that all of them share.

An engine encodes texts into a store. The loop takes the longest texts first, so that a batch pads
little and memory is tried at the start, and halves a batch that does not fit. It checks what the
embedder returns, and keeps what one text does to a model from the others: a text that fails alone
is told in the report. Knows no model and no engine; those are plugins.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.errors import HarnessError, ModelError, one_line

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.store.store import Store
    from harness.store.writer import Writer

Lengths = npt.NDArray[np.int64]
"""(n,) tokens of each text."""
OnDone = Callable[[int], None]
"""Called with the number of texts that were done since the last call."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an encoding did.

    Parameters
    ----------
    n_texts
        Texts that now have a vector.
    n_batches
        Batches that were encoded.
    n_halvings
        How often a batch did not fit into memory.
    seconds
        Wall-clock time.
    failed
        Reason by text that could not be encoded.
    batch_tokens
        The budget of a batch at the end, after all halvings.
    """

    n_texts: int = 0
    n_batches: int = 0
    n_halvings: int = 0
    seconds: float = 0.0
    batch_tokens: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


class Engine(Protocol):
    """Runs the encoding on some devices."""

    devices: Sequence[str]

    def encode(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        store: Store,
        *,
        on_done: OnDone,
        name: str | None,
    ) -> Report:
        """Encode `texts`, distinct ones that the store lacks, into the store.

        Parameters
        ----------
        embedder
            The embedder.
        texts
            What to encode.
        store
            Where the vectors go.
        on_done
            Called with a number of texts whenever so many more are done, failed ones too.
        name
            The name that the embedder was made from, by which another process makes its own;
            None if it was given as an object.
        """
        ...


def batch_tokens(device: str) -> int:
    """Return the token budget of a batch that suits a device.

    On a CPU small batches are the fastest, since what they compute stays in its caches: measured
    with a MiniLM of 6 layers, 1,024 tokens take 15 % less time than 4,096, 30 % less than 8,192.
    """
    return 65_536 if device.startswith("cuda") else 1_024


def budget(embedder: Embedder, device: str) -> int:
    """Return the token budget of a batch: the embedder's own if it has one, else the device's."""
    own: int | None = getattr(embedder, "batch_tokens", None)
    return batch_tokens(device) if own is None else own


def encode_batches(
    embedder: Embedder,
    texts: Sequence[str],
    writer: Writer,
    *,
    batch_tokens: int,
    on_done: OnDone,
    lengths: Lengths | None = None,
) -> Report:
    """Encode texts into a store by batches within a budget of tokens, padding included.

    A batch that does not fit into memory is halved, and so is the budget from there on. Where the
    embedder raises anything else, the texts of the batch are tried one by one. A text that fails
    alone is reported as failed and the run goes on, even if no text can be encoded.

    Parameters
    ----------
    embedder
        The embedder.
    texts
        Distinct texts.
    writer
        Of the store; what it holds is flushed by its owner.
    batch_tokens
        Largest product of a batch's longest text and its number of texts.
    on_done
        Called with the number of texts of each batch.
    lengths
        (n,) tokens of each text, where they are known.

    Raises
    ------
    ModelError
        If the embedder returns what is no (n, d) array of floats.
    HarnessError
        If the embedder raises one: it says that it can do no more, such as without its weights.
    DiskError
        If the store cannot be written.
    """
    began = time.perf_counter()
    lengths = token_lengths(embedder, texts) if lengths is None else lengths
    order = np.argsort(-lengths, kind="stable")
    failed: dict[str, str] = {}
    n_batches = n_halvings = start = one_by_one_until = 0
    budget = whole_budget = batch_tokens
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        size = 1 if start < one_by_one_until else max(1, budget // longest)
        batch = [texts[i] for i in order[start : start + size]]
        vectors = _try(embedder, batch)
        if not isinstance(vectors, _Failure):
            sound, unsound = _sort_out(batch, vectors)
            writer.add([batch[i] for i in sound], vectors[sound])
            failed |= unsound
            n_batches += 1
        elif len(batch) == 1:
            failed[batch[0]] = vectors.reason
            if vectors.of_memory:
                budget = whole_budget  # that text may be at fault: do not crawl behind it
        elif vectors.of_memory:
            n_halvings += 1
            budget = longest * (len(batch) // 2)
            continue
        else:
            one_by_one_until = start + len(batch)
            continue
        if len(batch) > 1:
            whole_budget = budget  # this much is known to fit
        start += len(batch)
        on_done(len(batch))
    return Report(
        n_texts=len(texts) - len(failed),
        n_batches=n_batches,
        n_halvings=n_halvings,
        seconds=time.perf_counter() - began,
        failed=failed,
        batch_tokens=budget,
    )


def token_lengths(embedder: Embedder, texts: Sequence[str]) -> Lengths:
    """Return the tokens of each text: as the embedder counts them, else a quarter of its letters.

    An embedder may offer `lengths(texts)`, one number a text, for a better estimate.
    """
    counted = getattr(embedder, "lengths", None)
    if callable(counted) and texts:
        try:
            return np.asarray(counted(texts), dtype=np.int64)
        except HarnessError:
            raise
        except Exception:  # noqa: S110  # of some text, which encoding will tell
            pass
    limit = embedder.info.max_tokens or sys.maxsize
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
    """Return whether an exception says that memory, of a device or of the host, does not suffice.

    Torch is not imported for the question: its error is known by name, older ones by message.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    told = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in told or "can't allocate memory" in told or "not enough memory" in told
    )


def checked(embedder: Embedder, texts: Sequence[str], vectors: Any) -> Vectors:
    """Return what an embedder returned for `texts` as (n, d) float32.

    Raises
    ------
    ModelError
        If it is anything but n rows of d floating-point numbers.
    """
    name = embedder.info.name
    array = np.asarray(vectors)
    if not np.issubdtype(array.dtype, np.floating):
        raise ModelError(f"model '{name}' returned {array.dtype} where vectors of floats belong")
    d = embedder.info.dimensions or (array.shape[1] if array.ndim == 2 else 0)
    if array.shape != (len(texts), d):
        raise ModelError(
            f"model '{name}' returned an array of shape {array.shape} for {len(texts)} texts; "
            f"it should be ({len(texts)}, {d or 'd'})"
        )
    with np.errstate(over="ignore"):  # what overflows is found as not finite
        return array.astype(np.float32, copy=False)


@dataclass(frozen=True)
class _Failure:
    """Why a batch has no vectors, and whether that was for lack of memory."""

    reason: str
    of_memory: bool


def _try(embedder: Embedder, batch: Sequence[str]) -> Vectors | _Failure:
    try:
        return checked(embedder, batch, embedder.encode(batch))
    except HarnessError:
        raise
    except Exception as error:  # a model may raise anything
        if not is_out_of_memory(error):
            return _Failure(one_line(error), of_memory=False)
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    # Only here is the exception gone, and with it the frames that hold the device's memory.
    _free_memory()
    return _Failure(f"it does not fit into memory ({problem})", of_memory=True)


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _sort_out(
    batch: Sequence[str], vectors: Vectors
) -> tuple[npt.NDArray[np.int64], dict[str, str]]:
    finite = np.isfinite(vectors).all(axis=1)
    absent = np.isnan(vectors).all(axis=1)  # a row of NaN says: no vector, and is kept
    unsound = np.flatnonzero(~finite & ~absent)
    reason = "its vector has NaN or infinity in some dimensions"
    return np.flatnonzero(finite | absent), {batch[i]: reason for i in unsound.tolist()}
