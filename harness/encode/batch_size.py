"""How many texts the next batch has: within a token budget, which failures reduce.

On a GPU the best budget depends on the model and the device, so it is found by measuring.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.embedder import Embedder

FIRST_BUDGET = 2_048
LARGEST_BUDGET = 262_144
"""Tokens of a batch between which the best budget is searched."""
GAIN = 1.05
"""A larger batch is better if it encodes this many times as many tokens a second."""
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
        self._confirmed = self.budget  # of the last batch of several texts that fitted
        self._alone = 0  # texts that are encoded one by one
        self._too_large = False  # a text alone did not fit, and none was encoded since

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
        """Return the time in seconds, since any moment."""
        return time.perf_counter()

    def fitted(self, n: int, tokens: int, seconds: float) -> None:
        """Note that a batch of `n` texts was encoded."""
        if n > 1:
            self._confirmed = self.budget
        self._alone = max(0, self._alone - 1)
        if self._too_large:  # the budget was halved for texts that no budget is small enough for
            self._too_large = False
            self.budget = self._confirmed


class MeasuredBatchSize(BatchSize):
    """A batch size that begins small, and is doubled while more tokens a second are encoded.

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
