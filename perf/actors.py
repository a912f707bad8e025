# Measures what a second actor of the engine `ray` brings: encoding by this process, by one actor
# and by two, each with one thread. An embedder that only waits, as for a GPU, shows what Ray and
# the store cost, also on a busy machine. One that only computes needs two free cores; a real model
# also waits for the memory that both share. Vectors are compared with those of this process.
#
#     OMP_NUM_THREADS=1 python perf/actors.py [--texts 2000] [--seconds 0.01] [--rounds 3]
"""Encoding by one and by two Ray actors."""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import ray

from harness import ModelInfo
from harness.arrays import Vectors
from harness.embedder import Embedder
from harness.registry.registry import Registry
from harness.store.store import Store

WAYS = ("local", "ray?actors=1", "ray?actors=2")


class Waiting:
    """Waits for each text."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.info = ModelInfo(name="waiting", kind="text", dimensions=1, fingerprint="waiting 1")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the numbers of characters."""
        time.sleep(self.seconds * len(texts))
        return np.asarray([[len(text)] for text in texts], dtype=np.float32)


class Computing:
    """Hashes each text many times: work that needs no memory, and releases Python's lock."""

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations
        self.info = ModelInfo(
            name="computing", kind="text", dimensions=32, fingerprint=f"computing {iterations}"
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the digests as vectors."""
        digests = [
            hashlib.pbkdf2_hmac("sha256", text.encode(), b"salt", self.iterations) for text in texts
        ]
        return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 32).astype(np.float32)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0.01, help="for a text, of the first two")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    arguments = parser.parse_args()
    texts = [
        f"Sentence {i} is about {i % 97} things" + ", and about more" * (i % 12)
        for i in range(arguments.texts)
    ]
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    computing = Computing(iterations(arguments.seconds))
    print(f"{'':44} {'wall s':>9} {'without start':>14} {'times one':>10}")
    compare(Waiting(arguments.seconds), None, texts, arguments.rounds)
    compare(computing, None, texts, arguments.rounds)
    if arguments.model:
        real = Registry().embedder(arguments.model, device="cpu")
        compare(real, arguments.model, texts, arguments.rounds)


def iterations(seconds: float) -> int:
    """Return how many iterations of the hash take some seconds."""
    began = time.perf_counter()
    hashlib.pbkdf2_hmac("sha256", b"text", b"salt", 100_000)
    return max(1, int(100_000 * seconds / (time.perf_counter() - began)))


def compare(embedder: Embedder, name: str | None, texts: Sequence[str], rounds: int) -> None:
    """Print a line for each way of encoding, in turns; check that the vectors are equal."""
    walls: dict[str, list[float]] = {way: [] for way in WAYS}
    starts: dict[str, list[float]] = {way: [] for way in WAYS}
    expected: Vectors | None = None
    for _ in range(rounds):
        for way in WAYS:
            starts[way].append(encode(way, embedder, name, texts[:2])[0])
            wall, vectors = encode(way, embedder, name, texts)
            walls[way].append(wall)
            expected = vectors if expected is None else expected
            np.testing.assert_allclose(vectors, expected, atol=1e-5, rtol=0)
    net = {way: median(walls[way]) - median(starts[way]) for way in WAYS}
    for way in WAYS:
        label = f"{embedder.info.name}: {way}"
        ratio = net["ray?actors=1"] / net[way]
        print(f"{label:44} {median(walls[way]):9.2f} {net[way]:14.2f} {ratio:10.2f}", flush=True)


def encode(
    way: str, embedder: Embedder, name: str | None, texts: Sequence[str]
) -> tuple[float, Vectors]:
    """Return the seconds and the vectors of texts that are encoded into a new store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), embedder.info.fingerprint)
        began = time.perf_counter()
        engine = Registry().engine(way)
        engine.encode(embedder, texts, store, on_done=lambda n: None, name=name)
        wall = time.perf_counter() - began
        return wall, np.array(store.get(texts))


if __name__ == "__main__":
    main()
