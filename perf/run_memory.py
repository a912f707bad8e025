"""The memory of a run of many texts: what each text takes, beside its vector.

    python perf/run_memory.py [--texts 100000]

A made-up model of 300 dimensions is evaluated on pairs of sentences, all different, in a process of
its own for each number of texts. What a run of 2,000 texts takes at its peak is subtracted; memory
that is mapped from files does not count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import harness
from harness.embedder import ModelInfo

DIMENSIONS = 300
FEW = 2_000
TASK = """
name: pairs
version: 1
title: Pairs
description: Pairs.
source: this benchmark
licence: CC0-1.0
measures: usefulness
category: similarity
concept: gender
kinds: [text]
tables:
  pairs: {file: pairs.tsv}
inputs:
  texts_1: {table: pairs, column: text_1}
  texts_2: {table: pairs, column: text_2}
  ratings: {table: pairs, column: rating, number: true}
metrics:
  similarity-correlation: {}
primary: {metric: similarity-correlation, score: spearman}
"""


class Waves:
    """A text encoder whose vectors are sines of the length and the hash of a text."""

    info = ModelInfo(name="waves", fingerprint="waves@1", kind="text", dimensions=DIMENSIONS)

    def encode(self, texts):
        """Return the (n, 300) vectors of `texts`."""
        seeds = np.array([1 + hash(text) % 9_973 for text in texts], dtype=np.float32)
        return np.sin(seeds[:, None] * np.arange(1, DIMENSIONS + 1, dtype=np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(peak_of_run(arguments.measure))
        return
    few, many = (peak(n) for n in (FEW, arguments.texts))
    each = (many - few) / (arguments.texts - FEW)
    vector = 4 * DIMENSIONS
    print(f"{FEW:,} texts {few / 1e6:,.0f} MB, {arguments.texts:,} texts {many / 1e6:,.0f} MB")
    print(f"bytes a text: {each:,.0f}, beside its vector of {vector:,}: {each - vector:,.0f}")


def peak(n: int) -> int:
    command = [sys.executable, "-W", "ignore", __file__, "--measure", str(n)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(run.stdout.splitlines()[-1])


def peak_of_run(n: int) -> int:
    """Return the most bytes that are not mapped from files, looked at every 10 ms."""
    most, ends = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ends.is_set():
            lines = Path("/proc/self/status").read_text().splitlines()
            anonymous = next(line for line in lines if line.startswith("RssAnon"))
            most = max(most, 1024 * int(anonymous.split()[1]))
            time.sleep(0.01)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = (
            f"person number {i} reads the paper in the garden\tnumber {i} walks home\t{i % 7}\n"
            for i in range(n // 2)
        )
        (folder / "pairs.tsv").write_text("text_1\ttext_2\trating\n" + "".join(rows))
        (folder / "pairs.yaml").write_text(TASK)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            harness.evaluate(
                Waves(),
                tasks=[str(folder / "pairs.yaml")],
                workers=1,
                cache=folder / "cache",
                results=folder / "results",
            )
        finally:
            ends.set()
            watcher.join()
    return most


if __name__ == "__main__":
    main()
