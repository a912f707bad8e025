"""The loop over batches that all engines share.

The loop takes the longest texts first: a batch then has little padding, and the batch that needs
most memory comes first. A batch that does not fit into memory is halved. The loop checks what the
embedder returns. A text that fails alone is reported, and the other texts are still encoded.
Knows no model.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.encode import roles
from harness.encode.batch_size import BatchSize
from harness.encode.engine import OnDone, Report
from harness.encode.one_batch import Failure, attempt
from harness.encode.without_vector import without_vector
from harness.errors import PLUGIN_ERRORS, HarnessError
from harness.limits import FAILURES_IN_A_ROW

if TYPE_CHECKING:
    from harness.embedder import Embedder

Lengths = npt.NDArray[np.int64]
"""(n,) number of tokens of each text."""
Positions = npt.NDArray[np.int64]
"""(n,) positions of texts."""


class VectorWriter(Protocol):
    """Takes vectors, as the writer of a store does."""

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add the (n, d) `vectors` of n `texts`."""
        ...

    def flush(self) -> None:
        """Write what is waiting."""
        ...


def encode_batches(
    embedder: Embedder,
    keys: Sequence[str],
    writer: VectorWriter,
    *,
    size: BatchSize,
    on_done: OnDone,
) -> Report:
    """Encode the texts of keys in batches within a token budget, padding included.

    If a batch does not fit into memory, it is halved, and so is the budget for later batches. If
    the embedder raises any other exception, the texts of the batch are encoded one by one. A text
    whose vector is not valid is encoded again, alone, when all others are done. A text that fails
    alone is reported as failed. If many fail one after another, short ones too, the model is given
    up: the texts that are left are reported as failed.

    Parameters
    ----------
    embedder
        The embedder.
    keys
        Distinct texts, or keys of texts in their roles; see `harness.encode.roles`.
    writer
        Takes the vectors; its owner flushes it.
    size
        Says how many texts a batch has: in a batch of several texts, (tokens of the longest text) ×
        (number of texts) is at most its budget. A later call goes on with it.
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
    n_halvings = size.n_halvings
    loop = _Loop(embedder, keys, writer, size, on_done)
    loop.run()
    return Report(
        n_texts=len(keys) - len(loop.failed),
        n_batches=loop.n_batches,
        n_halvings=size.n_halvings - n_halvings,
        seconds=time.perf_counter() - began,
        failed=loop.failed,
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
            for group in roles.grouped(keys, embedder.info.readings):
                lengths[group.positions] = count(group.texts, **group.arguments)
            return lengths
        except HarnessError:
            raise
        except PLUGIN_ERRORS:  # one text is at fault: encoding will report which
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


class _Loop:
    """One call of `encode_batches`: which texts wait, and what became of the others."""

    def __init__(
        self,
        embedder: Embedder,
        keys: Sequence[str],
        writer: VectorWriter,
        size: BatchSize,
        on_done: OnDone,
    ) -> None:
        self.embedder, self.keys, self.writer = embedder, keys, writer
        self.size, self.on_done = size, on_done
        self.lengths = token_lengths(embedder, keys)
        self.failed: dict[str, str] = {}
        self.n_batches = 0
        self._invalid: list[int] = []  # texts without a valid vector, to be encoded again
        self._in_a_row = 0  # texts that failed alone since one was encoded
        self._last = ""  # reason of the last one

    def run(self) -> None:
        """Encode all texts, longest first."""
        waiting = np.argsort(-self.lengths, kind="stable")
        while len(waiting):
            if self._in_a_row >= FAILURES_IN_A_ROW:
                waiting = self._of_all_lengths(waiting)
                continue
            longest = max(1, int(self.lengths[waiting[0]]))
            batch = waiting[: self.size.next(longest)]
            if self._is_done(batch, longest):
                waiting = waiting[len(batch) :]
        for position in self._invalid:
            if self._in_a_row < FAILURES_IN_A_ROW:
                self._is_done(np.array([position]), max(1, int(self.lengths[position])), again=True)
            else:
                self._give_up([position])

    def _of_all_lengths(self, waiting: Positions) -> Positions:
        """Try texts of all lengths, since a model may fail on long ones only; return what is left.

        If they fail, too, the model is given up and nothing is left.
        """
        spread = np.linspace(0, len(waiting) - 1, FAILURES_IN_A_ROW).round().astype(int)
        for i in np.unique(spread)[::-1].tolist():
            self._is_done(waiting[i : i + 1], max(1, int(self.lengths[waiting[i]])))
            waiting = np.delete(waiting, i)
            if not self._in_a_row:
                return waiting
        self._give_up(waiting.tolist())
        return waiting[:0]

    def _give_up(self, positions: Sequence[int]) -> None:
        reason = f"given up after {self._in_a_row} texts in a row failed, the last: {self._last}"
        self.failed |= {self.keys[i]: reason for i in positions}
        if positions:
            self.on_done(len(positions))

    def _is_done(self, positions: Positions, longest: int, *, again: bool = False) -> bool:
        """Encode a batch; return whether it is done, so that it need not be split."""
        batch = [self.keys[i] for i in positions]
        began = self.size.clock()
        result = attempt(self.embedder, batch)
        seconds = self.size.clock() - began
        if isinstance(result, Failure):
            self.size.failed(len(batch), longest, of_memory=result.of_memory)
            if len(batch) > 1:
                return False
            self._fail(batch[0], result.reason)
            return True
        self.size.fitted(len(batch), int(self.lengths[positions].sum()), seconds)
        valid = _is_valid(self.embedder, batch, result.vectors)
        valid[list(result.reasons)] = False
        if valid.any():
            self.writer.add([batch[i] for i in np.flatnonzero(valid)], result.vectors[valid])
            if self.embedder.info.hosted:
                self.writer.flush()  # what is paid for is kept at once
            self.n_batches += 1
            self._in_a_row = 0
            self.on_done(int(valid.sum()))
        for i, reason in result.reasons.items():
            self._fail(batch[i], reason)
            valid[i] = True  # it need not be encoded again
        if again and not valid.all():
            self._fail(batch[0], _reason(result.vectors[0]))
        elif not again:
            self._invalid += positions[~valid].tolist()
        return True

    def _fail(self, key: str, reason: str) -> None:
        self.failed[key] = self._last = reason
        self._in_a_row += 1
        self.on_done(1)


def _is_valid(embedder: Embedder, batch: Sequence[str], vectors: Vectors) -> npt.NDArray[np.bool_]:
    """Return whether each row may be stored: it is finite, or of NaN and the text has no vector."""
    valid = np.asarray(np.isfinite(vectors).all(axis=1))
    nan = np.flatnonzero(~valid & np.isnan(vectors).all(axis=1))
    valid[nan] = without_vector(embedder, [batch[i] for i in nan.tolist()])
    return valid


def _reason(vector: Vectors) -> str:
    if np.isnan(vector).all():
        return "its vector is NaN"
    return "its vector has NaN or infinity in some dimensions"
