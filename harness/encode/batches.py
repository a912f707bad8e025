"""The loop over batches that all engines share.

The loop takes the longest texts first: a batch then has little padding, and the batch that needs
most memory comes first. A batch that does not fit into memory is halved. The loop checks what the
embedder returns. A text that fails alone is reported, and the other texts are still encoded.
Knows no model.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.embedder import PACKED, PAIRS, by_role, one_width, text_of_key
from harness.encode.engine import OnDone, Report
from harness.errors import PLUGIN_ERRORS, HarnessError, ModelError, PartlyEncoded, one_line
from harness.limits import FAILURES_IN_A_ROW

if TYPE_CHECKING:
    from harness.embedder import Embedder


# The number of texts of the next batch, within a token budget that failures reduce.
#
# On a GPU the best budget depends on the model and the device, so it is found by measuring.


FIRST_BUDGET = 2_048
LARGEST_BUDGET = 262_144
"""Tokens of a batch between which the best budget is searched."""
GAIN = 1.05
"""A larger batch is better if its rate of tokens is higher by this factor."""
TRIES = 2
"""Batches of each budget."""


def default_token_budget(device: str) -> int:
    """Return the token budget of a batch for a device.

    Small batches are fastest on a CPU, because their arrays fit into its caches. Measured with a
    MiniLM of 6 layers: 1,024 tokens take 15 % less time than 4,096 and 30 % less than 8,192.
    """
    return 65_536 if device.startswith("cuda") else 1_024


def batch_size(embedder: Embedder, device: str, *, measure: bool | None = None) -> BatchSize:
    """Return the size of batches for an embedder on a device.

    Parameters
    ----------
    embedder
        The embedder; its own `batch_tokens` and `batch_texts` are used as they are.
    device
        The device.
    measure
        Whether to find the token budget by measuring; by default on GPUs.
    """
    if measure is None:
        measure = device.startswith("cuda")
    if measure and getattr(embedder, "batch_tokens", None) is None:
        return MeasuredBatchSize()
    most = getattr(embedder, "batch_texts", None)
    return BatchSize(token_budget(embedder, device), sys.maxsize if most is None else most)


def token_budget(embedder: Embedder, device: str) -> int:
    """Return the token budget of a batch: the embedder's `batch_tokens`, else the device's."""
    chosen: int | None = getattr(embedder, "batch_tokens", None)
    return default_token_budget(device) if chosen is None else chosen


class BatchSize:
    """The number of texts of the next batch, for one embedder on one device.

    Parameters
    ----------
    budget
        Token budget of the next batch, padding included.
    most_texts
        Most texts of a batch.

    Attributes
    ----------
    n_halvings
        How often a batch did not fit into memory, and the budget was halved.
    """

    def __init__(self, budget: int, most_texts: int = sys.maxsize) -> None:
        self.budget, self.most_texts = budget, most_texts
        self.n_halvings = 0
        self._confirmed = self.budget  # budget of the last batch of several texts that fitted
        self._alone = 0  # texts that are encoded one by one
        self._too_large = False  # a single text did not fit, and none was encoded since

    def next(self, longest: int) -> int:
        """Return the number of texts of a batch whose longest text has `longest` tokens."""
        if self._alone or self._too_large:
            return 1
        return max(1, min(self.most_texts, self.budget // longest))

    def failed(self, n: int, longest: int, *, of_memory: bool) -> None:
        """Halve the budget, or take texts one by one, after a batch of `n` texts failed."""
        if n > 1 and of_memory:
            self.n_halvings += 1
            self.budget = longest * (n // 2)
        elif n > 1:
            self._alone = n
        else:
            self._alone = max(0, self._alone - 1)
            self._too_large |= of_memory

    def clock(self) -> float:
        """Return a time in seconds; only differences have a meaning."""
        return time.perf_counter()

    def fitted(self, n: int, tokens: int, seconds: float) -> None:
        """Note that a batch of `n` texts was encoded."""
        if n > 1:
            self._confirmed = self.budget
        self._alone = max(0, self._alone - 1)
        if self._too_large:  # a text that never fits halved the budget
            self._too_large = False
            self.budget = self._confirmed


class MeasuredBatchSize(BatchSize):
    """A batch size that begins small, and is doubled while that raises the rate of tokens.

    Each budget is tried with a few batches, of which the fastest counts: the first one on a device
    is slow. The search ends at the first budget that is not faster by `GAIN`, or does not fit into
    memory.
    """

    def __init__(self) -> None:
        super().__init__(FIRST_BUDGET)
        self._best: tuple[float, int] = (0.0, FIRST_BUDGET)  # tokens a second, and their budget
        self._rates: list[float] = []  # of the batches with the present budget
        self._is_found = False

    def failed(self, n: int, longest: int, *, of_memory: bool) -> None:
        """Halve the budget, or take texts one by one; a budget that does not fit is the last."""
        super().failed(n, longest, of_memory=of_memory)
        self._is_found |= of_memory

    def fitted(self, n: int, tokens: int, seconds: float) -> None:
        """Note how long a batch took, and double the budget if that may be faster."""
        super().fitted(n, tokens, seconds)
        if self._is_found or 2 * tokens < self.budget:  # the last batch is a small one
            return
        self._rates.append(tokens / max(seconds, 1e-9))
        if len(self._rates) < TRIES:
            return
        rate = max(self._rates)
        self._rates = []
        if rate < GAIN * self._best[0]:
            self.budget, self._is_found = self._best[1], True
            return
        self._best = rate, self.budget
        self._is_found = 2 * self.budget > LARGEST_BUDGET
        if not self._is_found:
            self.budget *= 2


# One batch: its checked vectors, or the reason for having none.


_FURTHER_FLOATS = ("bfloat16",)
"""Floating-point types of other packages, which numpy does not know as floats."""
_NUMBER_HINTS = {
    "b": " (bits are no vectors: write them as 0.0 and 1.0 if they are meant)",
    "u": " (packed bits must be unpacked, and quantised numbers be divided by their scale)",
    "i": " (quantised numbers must be divided by their scale; counts be written as floats)",
    "c": " (the real part alone is another vector)",
    "O": " (rows of unequal lengths, texts or None are no vectors)",
}
"""The likely mistake, by the kind of an array's numbers."""


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
    is_packed = embedder.info.kind in PACKED  # its rows have any length
    declared = None if is_packed else embedder.info.dimensions
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
    groups = by_role(batch, embedder.info.readings)
    parts: list[Vectors] = []
    reasons: dict[int, str] = {}
    for group in groups:
        try:
            if embedder.info.kind == PAIRS:
                vectors = _scores(embedder, group.texts)
            else:
                vectors = embedder.encode(group.texts, **group.arguments)
        except PartlyEncoded as error:
            vectors = error.vectors
            reasons |= {int(group.positions[i]): why for i, why in error.reasons.items()}
        parts.append(checked(embedder, group.texts, vectors))
    if len(parts) == 1:
        return Encoded(parts[0], reasons)
    positions = np.concatenate([group.positions for group in groups])
    parts = one_width(parts) if embedder.info.kind in PACKED else parts
    return Encoded(np.concatenate(parts)[np.argsort(positions)], reasons)


def _scores(embedder: Any, keys: Sequence[str]) -> Any:
    """Return the (n, 1) scores of a cross-encoder for the keys of `n` pairs."""
    queries, documents = zip(*map(json.loads, keys), strict=True)
    return np.asarray(embedder.score(queries, documents))[:, None]


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


# Texts that a model has no vector for: their row of NaN is valid and is stored.


def without_vector(embedder: Embedder, keys: Sequence[str]) -> list[bool]:
    """Return whether an embedder has no vector for the text of each key.

    A word embedder has none for a word that it gives a row of NaN. The method `lacks` of a text
    encoder says so. Without it, each text should have a vector, and a row of NaN is an error that
    may be temporary.
    """
    if embedder.info.kind == "word":
        return [True] * len(keys)
    lacks = getattr(embedder, "lacks", None)
    if not callable(lacks) or not keys:
        return [False] * len(keys)
    answers = [False] * len(keys)
    try:
        for group in by_role(keys, embedder.info.readings):
            for i, lacking in zip(
                group.positions, lacks(group.texts, **group.arguments), strict=True
            ):
                answers[i] = bool(lacking)
    except PLUGIN_ERRORS:
        return [False] * len(keys)
    return answers


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
    alone is reported as failed. If many texts fail one after another, also short ones, the model is
    abandoned, and the remaining texts are reported as failed.

    Parameters
    ----------
    embedder
        The embedder.
    keys
        Distinct texts, or keys of texts in their roles; see `harness.embedder.role_keys`.
    writer
        Takes the vectors; its owner flushes it.
    size
        The size of batches: in a batch of several texts, (tokens of the longest text) × (number of
        texts) is at most its budget. A later call continues with the same object.
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
            for group in by_role(keys, embedder.info.readings):
                lengths[group.positions] = count(group.texts, **group.arguments)
            return lengths
        except HarnessError:
            raise
        except PLUGIN_ERRORS:  # encoding will report which text is the cause
            pass
    limit = embedder.info.max_tokens or sys.maxsize
    texts = map(text_of_key, keys)
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
    """One call of `encode_batches`: the texts that wait, and the results of the others."""

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
        """Try texts of all lengths, since a model may fail on long ones only; return the others.

        If they fail, too, the model is abandoned and nothing remains.
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
        """Encode a batch; return whether that worked, so that it need not be split."""
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
                self.writer.flush()  # vectors that cost money are kept at once
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
    """Return whether each row may be stored: it is finite, or its text has no vector."""
    valid = np.asarray(np.isfinite(vectors).all(axis=1))
    nan = np.flatnonzero(~valid & np.isnan(vectors).all(axis=1))
    valid[nan] = without_vector(embedder, [batch[i] for i in nan.tolist()])
    return valid


def _reason(vector: Vectors) -> str:
    if np.isnan(vector).all():
        return "its vector is NaN"
    return "its vector has NaN or infinity in some dimensions"
