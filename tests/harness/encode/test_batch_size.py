"""The token budget found by measuring: on an embedder whose time is computed, not spent."""

from __future__ import annotations

import numpy as np

from harness.embedder import MockEmbedder
from harness.encode import batches
from harness.encode.batches import (
    LARGEST_BUDGET,
    BatchSize,
    MeasuredBatchSize,
    encode_batches,
)


class Device(MockEmbedder):
    """Counts words as tokens; a batch takes `seconds(tokens)`, the first one a second more."""

    def __init__(self, seconds, fits=10**9):
        super().__init__(dimensions=4)
        self.seconds, self.fits = seconds, fits
        self.now, self.batches = 0.0, []

    def lengths(self, texts):
        return [len(text.split()) for text in texts]

    def encode(self, texts):
        tokens = sum(self.lengths(texts))
        self.now += self.seconds(tokens) + (not self.batches)
        self.batches.append(tokens)
        if tokens > self.fits:
            raise MemoryError("too much")
        return super().encode(texts)


class Measured(MeasuredBatchSize):
    def __init__(self, device):
        super().__init__()
        self.device = device

    def clock(self):
        return self.device.now


TEXTS = [f"{i} " + "word " * 63 for i in range(40_000)]  # 64 tokens each


def encoded(device):
    vectors = {}

    class InMemory:
        def add(self, texts, rows):
            vectors.update(zip(texts, rows, strict=True))

    size = Measured(device)
    report = encode_batches(device, TEXTS, InMemory(), size=size, on_done=lambda n: None)
    assert not report.failed
    assert len(vectors) == len(TEXTS)
    some = TEXTS[::1000]
    rows = MockEmbedder(dimensions=4).encode(some)
    np.testing.assert_array_equal([vectors[text] for text in some], rows)
    return report


def test_the_budget_grows_until_larger_batches_are_no_faster():
    saturated_at = 16_384  # tokens that the device computes at once
    device = Device(lambda tokens: max(tokens, saturated_at) * 1e-6)
    assert encoded(device).batch_tokens == saturated_at
    assert max(device.batches) == 2 * saturated_at


def test_the_budget_has_an_upper_bound():
    device = Device(lambda tokens: 1.0)  # any batch takes as long
    assert encoded(device).batch_tokens == LARGEST_BUDGET


def test_a_budget_that_does_not_fit_into_memory_ends_the_search():
    device = Device(lambda tokens: 1.0, fits=20_000)
    report = encoded(device)
    assert (report.batch_tokens, report.n_halvings) == (16_384, 1)
    assert sum(tokens > 20_000 for tokens in device.batches) == 1


def test_a_later_call_goes_on_with_the_budget_that_was_found():
    device = Device(lambda tokens: max(tokens, 8_192) * 1e-6)
    size = Measured(device)
    writer = type("Writer", (), {"add": lambda self, texts, rows: None})()
    for start in range(0, 20_000, 1_000):  # units of an engine with several workers
        texts = TEXTS[start : start + 1_000]
        encode_batches(device, texts, writer, size=size, on_done=lambda n: None)
    assert size.budget == 8_192


def test_the_budget_of_an_embedder_is_used_as_it_is():
    embedder = MockEmbedder()
    embedder.batch_tokens = 300
    size = batches.batch_size(embedder, "cuda")
    assert (type(size), size.budget) == (BatchSize, 300)
