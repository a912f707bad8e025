"""The loop over batches that all engines share.

The loop takes the longest texts first: a batch then has little padding, and the batch that needs
most memory comes first. A batch that does not fit into memory is halved. The loop checks what the
embedder returns. A text that fails alone is reported, and the other texts are still encoded.
Knows no model.

An embedder that offers `token_ids` and `begin` is kept busy: texts are split into tokens once, in a
thread, a piece ahead of the device, and a batch begins before the vectors of the last one are read.
"""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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


Result = TypeVar("Result")


def attempt(embedder: Embedder, batch: Sequence[str]) -> Encoded | Failure:
    """Return the (n, d) vectors of a batch of keys, or why there are none.

    Raises
    ------
    ModelError
        If the embedder does not return an (n, d) array of floats.
    HarnessError
        If the embedder raises one.
    """
    return _tried(lambda: _encoded(embedder, batch))


def _tried(encode: Callable[[], Result]) -> Result | Failure:
    """Return what a call returns, or why it failed; a HarnessError is raised."""
    try:
        return encode()
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


def checked(embedder: Embedder, n: int, vectors: Any) -> Vectors:
    """Return what an embedder returned for n texts as (n, d) float32.

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
    if array.shape != (n, d):
        hint = ""
        if array.ndim == 3:
            hint = ": it has a vector for each token, which must be pooled into one for each text"
        elif array.ndim == 2 and len(array) == n:
            hint = f", since it declares {declared} dimensions"
        raise ModelError(
            f"model '{name}' returned an array of shape {array.shape} for {n} texts; "
            f"expected ({n}, {d or 'd'}){hint}"
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
                queries, documents = zip(*map(json.loads, group.texts), strict=True)
                vectors = pair_scores(embedder, queries, documents)
            else:
                vectors = embedder.encode(group.texts, **group.arguments)
        except PartlyEncoded as error:
            vectors = error.vectors
            reasons |= {int(group.positions[i]): why for i, why in error.reasons.items()}
        parts.append(checked(embedder, len(group.texts), vectors))
    if len(parts) == 1:
        return Encoded(parts[0], reasons)
    positions = np.concatenate([group.positions for group in groups])
    parts = one_width(parts) if embedder.info.kind in PACKED else parts
    return Encoded(np.concatenate(parts)[np.argsort(positions)], reasons)


def pair_scores(embedder: Any, queries: Sequence[str], documents: Sequence[str]) -> Vectors:
    """Return the (n, 1) scores of a cross-encoder for `n` pairs.

    Raises
    ------
    ModelError
        If it does not return a number for each pair.
    """
    scores = np.asarray(embedder.score(queries, documents))
    if scores.shape != (len(queries),):
        raise ModelError(
            f"model '{embedder.info.name}' returned an array of shape {scores.shape} for "
            f"{len(queries)} pairs; expected ({len(queries)},), a score for each"
        )
    return scores[:, None]


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
    that fails alone, or whose vector is not valid, is reported as failed. If many texts fail one
    after another, also short ones, the model is abandoned, and the remaining texts are reported as
    failed.

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
    loop = Loop(embedder, writer, size, on_done)
    reports: list[Report] = []
    with (
        contextlib.closing(loop),
        contextlib.closing(_ahead(pieces(embedder, keys, size))) as ready,
    ):
        for piece in ready:
            loop.encode(piece, reports.append)
        loop.collect()
    return Report(
        n_texts=sum(report.n_texts for report in reports),
        n_batches=sum(report.n_batches for report in reports),
        n_halvings=sum(report.n_halvings for report in reports),
        seconds=time.perf_counter() - began,
        failed={key: reason for report in reports for key, reason in report.failed.items()},
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
    return estimated_lengths(embedder, keys)


def estimated_lengths(embedder: Embedder, keys: Sequence[str]) -> Lengths:
    """Return the number of tokens of each key's text, (n,), by its number of characters."""
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


# Texts that are ready to be encoded, a piece of them at a time.


PIECE_TOKENS = 65_536
"""Fewest tokens of a piece, by estimate."""
PIECE_BATCHES = 8
"""Fewest full batches of a piece, so that the last one, which is smaller, costs little."""
TokenIds = Sequence[int]


@dataclass(eq=False)
class Piece:
    """Texts that are ready to be encoded, and what became of them.

    Parameters
    ----------
    keys
        Distinct texts, or keys of texts in their roles.
    lengths
        (n,) number of tokens of each.
    ids
        The tokens of each text; None if the embedder splits texts itself.
    failed
        The reason for each text that could not be encoded.
    n_batches, n_halvings
        As in `Report`.
    """

    keys: Sequence[str]
    lengths: Lengths
    ids: list[TokenIds] | None = None
    failed: dict[str, str] = field(default_factory=dict)
    n_batches: int = 0
    n_halvings: int = 0
    n_begun: int = 0  # batches whose vectors were not read
    is_begun: bool = False  # whether all of its batches began
    on_report: OnReport = lambda report: None


OnReport = Callable[[Report], None]


def prepared(embedder: Embedder, keys: Sequence[str]) -> Piece:
    """Return texts that are ready to be encoded: split into tokens if the embedder takes tokens.

    May be called in a thread.
    """
    if not takes_tokens(embedder):
        return Piece(keys, token_lengths(embedder, keys))
    encoder: Any = embedder
    ids: list[TokenIds] = [()] * len(keys)
    try:
        for group in by_role(keys, embedder.info.readings):
            found = encoder.token_ids(group.texts, **group.arguments)
            if found is None:
                return Piece(keys, token_lengths(embedder, keys))
            for position, text_ids in zip(group.positions, found, strict=True):
                ids[position] = text_ids
    except HarnessError:
        raise
    except PLUGIN_ERRORS:  # encoding will report which text is the cause
        return Piece(keys, token_lengths(embedder, keys))
    return Piece(keys, np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)), ids)


def takes_tokens(embedder: Embedder) -> bool:
    """Return whether an embedder offers `token_ids` and `begin`.

    They must be of the class that defines its `encode`: a subclass that changes `encode` alone
    encodes otherwise.
    """
    if "encode" in getattr(embedder, "__dict__", {}):
        return False
    owner = next((kind for kind in type(embedder).__mro__ if "encode" in vars(kind)), None)
    return owner is not None and {"token_ids", "begin"} <= vars(owner).keys()


def pieces(
    embedder: Embedder, keys: Sequence[str], size: BatchSize
) -> Generator[Piece, None, None]:
    """Yield all texts in pieces that are ready to be encoded, the longest first.

    An embedder that splits texts itself gets one piece. For others the pieces are cut by the number
    of characters, so that the first batch need not wait for the tokens of all texts.
    """
    if not takes_tokens(embedder):
        yield prepared(embedder, keys)
        return
    characters = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
    order = np.argsort(-characters, kind="stable")
    tokens = np.cumsum(2 + characters[order] // 4)
    start = 0
    while start < len(order):
        before = tokens[start - 1] if start else 0
        least = max(PIECE_TOKENS, PIECE_BATCHES * size.budget)
        stop = max(start + 1, int(np.searchsorted(tokens, before + least)))
        piece = prepared(embedder, [keys[i] for i in order[start:stop].tolist()])
        if piece.ids is None and not start:
            stop = len(order)
            piece = prepared(embedder, keys)
        yield piece
        start = stop


def _ahead(items: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
    """Yield pieces; the next one is made in a thread meanwhile, unless there is only one."""
    with contextlib.closing(items):
        first = next(items, None)
        if first is None:
            return
        with ThreadPoolExecutor(1, thread_name_prefix="tokens") as pool:
            following = pool.submit(next, items, None)
            yield first
            while (piece := following.result()) is not None:
                following = pool.submit(next, items, None)
                yield piece


@dataclass(frozen=True)
class _Begun:
    """A batch whose vectors were not read."""

    piece: Piece
    positions: Positions
    longest: int
    since: float
    vectors: Callable[[], Vectors]


_MOST_BEGUN = 2
"""Batches that a device has at a time: one that it computes, and the one after it."""
_MOST_ADDED = 8
"""Batches that wait for the writer: a segment takes longer to sync than a batch to encode."""


class Loop:
    """Encodes pieces, one after another; a batch may begin before the last one is done.

    Parameters
    ----------
    embedder, writer, size, on_done
        As in `encode_batches`.
    """

    def __init__(
        self, embedder: Embedder, writer: VectorWriter, size: BatchSize, on_done: OnDone
    ) -> None:
        self.embedder, self.writer = embedder, writer
        self.size, self.on_done = size, on_done
        self._begun: deque[_Begun] = deque()
        self._added: deque[Future[None]] = deque()  # batches that the thread writes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._collected = 0.0  # when vectors were last read
        self._in_a_row = 0  # texts that failed alone since one was encoded
        self._last = ""  # reason of the last one

    def encode(self, piece: Piece, on_report: OnReport) -> None:
        """Begin all batches of a piece, longest texts first.

        Parameters
        ----------
        piece
            The piece.
        on_report
            Called when all of its texts are done: in this call, or in a later one.
        """
        piece.on_report = on_report
        self._begin(piece, np.argsort(-piece.lengths, kind="stable"))
        piece.is_begun = True
        self._end(piece)

    def collect(self) -> None:
        """Read the vectors of all batches that began, and give them to the writer."""
        while self._begun:
            self._collect_first()
        self._wait(0)

    def close(self) -> None:
        """Wait for the thread, so that the writer is free."""
        self._thread.shutdown()

    def _begin(self, piece: Piece, waiting: Positions) -> None:
        """Encode or begin texts in batches, the longest first, until a model is given up."""
        while len(waiting):
            if self._in_a_row >= FAILURES_IN_A_ROW:
                waiting = self._of_all_lengths(piece, waiting)
            else:
                waiting = waiting[self._n_taken(piece, waiting) :]

    def _n_taken(self, piece: Piece, waiting: Positions) -> int:
        """Encode the first batch of texts; return how many they are, 0 if it must be split."""
        longest = max(1, int(piece.lengths[waiting[0]]))
        batch = waiting[: self.size.next(longest)]
        return len(batch) if self._is_taken(piece, batch, longest) else 0

    def _of_all_lengths(self, piece: Piece, waiting: Positions) -> Positions:
        """Try texts of all lengths, since a model may fail on long ones only; return the others.

        If they fail, too, the piece is given up and nothing remains.
        """
        spread = np.linspace(0, len(waiting) - 1, FAILURES_IN_A_ROW).round().astype(int)
        for i in np.unique(spread)[::-1].tolist():
            self._is_taken(piece, waiting[i : i + 1], max(1, int(piece.lengths[waiting[i]])))
            self.collect()
            waiting = np.delete(waiting, i)
            if not self._in_a_row:
                return waiting
        reason = f"given up after {self._in_a_row} texts in a row failed, the last: {self._last}"
        piece.failed |= {piece.keys[i]: reason for i in waiting.tolist()}
        if len(waiting):
            self.on_done(len(waiting))
        return waiting[:0]

    def _is_taken(self, piece: Piece, positions: Positions, longest: int) -> bool:
        """Encode or begin a batch; return whether that worked, so that it need not be split."""
        since = self.size.clock()
        if piece.ids is None:
            result = attempt(self.embedder, [piece.keys[i] for i in positions])
            seconds = self.size.clock() - since
            return self._is_done(piece, positions, longest, result, seconds)
        vectors = _tried(lambda: _begun(self.embedder, piece, positions.tolist()))
        if isinstance(vectors, Failure):
            self.collect()  # what is on the device needs memory, too
            return self._is_done(piece, positions, longest, vectors, 0.0)
        piece.n_begun += 1
        self._begun.append(_Begun(piece, positions, longest, since, vectors))
        if len(positions) == 1:
            self.collect()  # after a failure texts go alone, and the next one depends on this one
        while len(self._begun) >= _MOST_BEGUN:
            self._collect_first()
        return True

    def _collect_first(self) -> None:
        """Read the vectors of the batch that began first; if it failed, encode it in parts."""
        begun = self._begun.popleft()
        piece, positions = begun.piece, begun.positions
        result = _tried(lambda: Encoded(checked(self.embedder, len(positions), begun.vectors())))
        now = self.size.clock()
        seconds, self._collected = now - max(begun.since, self._collected), now
        if not self._is_done(piece, positions, begun.longest, result, seconds):
            self._begin(piece, positions)
            self.collect()
        piece.n_begun -= 1
        self._end(piece)

    def _is_done(
        self,
        piece: Piece,
        positions: Positions,
        longest: int,
        result: Encoded | Failure,
        seconds: float,
    ) -> bool:
        """Take the result of a batch; return whether it need not be split."""
        batch = [piece.keys[i] for i in positions]
        if isinstance(result, Failure):
            halvings = self.size.n_halvings
            self.size.failed(len(batch), longest, of_memory=result.of_memory)
            piece.n_halvings += self.size.n_halvings - halvings
            if len(batch) > 1:
                return False
            self._fail(piece, batch[0], result.reason)
            return True
        self.size.fitted(len(batch), int(piece.lengths[positions].sum()), seconds)
        valid = _is_valid(self.embedder, batch, result.vectors)
        valid[list(result.reasons)] = False
        if valid.all():
            self._add(batch, result.vectors, behind=piece.ids is not None)
        elif valid.any():
            self._add([batch[i] for i in np.flatnonzero(valid)], result.vectors[valid])
        if valid.any():
            if self.embedder.info.hosted:
                self.writer.flush()  # vectors that cost money are kept at once
            piece.n_batches += 1
            self._in_a_row = 0
            self.on_done(int(valid.sum()))
        for i in np.flatnonzero(~valid).tolist():
            self._fail(piece, batch[i], result.reasons.get(i) or _reason(result.vectors[i]))
        return True

    def _add(self, texts: list[str], vectors: Vectors, *, behind: bool = False) -> None:
        """Give vectors to the writer; in a thread if a device could wait for it."""
        if not behind:
            self._wait(0)
            self.writer.add(texts, vectors)
            return
        self._wait(_MOST_ADDED)
        self._added.append(self._thread.submit(self.writer.add, texts, vectors))

    def _wait(self, n: int) -> None:
        """Wait until the thread has at most `n` batches to write; raise its error."""
        while len(self._added) > n:
            self._added.popleft().result()

    def _end(self, piece: Piece) -> None:
        """Report a piece when all of its batches are done."""
        if not piece.is_begun or piece.n_begun:
            return
        piece.is_begun = False  # the report comes once
        report = Report(
            n_texts=len(piece.keys) - len(piece.failed),
            n_batches=piece.n_batches,
            n_halvings=piece.n_halvings,
            failed=piece.failed,
            batch_tokens=self.size.budget,
        )
        piece.on_report(report)

    def _fail(self, piece: Piece, key: str, reason: str) -> None:
        piece.failed[key] = self._last = reason
        self._in_a_row += 1
        self.on_done(1)


def _begun(embedder: Embedder, piece: Piece, positions: list[int]) -> Callable[[], Vectors]:
    """Begin to encode some texts of a piece; return what returns their (n, d) vectors."""
    assert piece.ids is not None  # noqa: S101  # the caller has looked
    encoder: Any = embedder
    groups = by_role([piece.keys[i] for i in positions], embedder.info.readings)
    ids = [piece.ids[i] for i in positions]
    if len(groups) == 1:
        vectors: Callable[[], Vectors] = encoder.begin(ids, **groups[0].arguments)
        return vectors
    parts = [encoder.begin([ids[i] for i in g.positions], **g.arguments) for g in groups]
    order = np.argsort(np.concatenate([group.positions for group in groups]))
    return lambda: np.concatenate([np.asarray(part()) for part in parts])[order]


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
