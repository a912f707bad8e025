"""Debiases files of word vectors of growing size and tells the peak memory of each run.

    OMP_NUM_THREADS=1 python benchmarks/debias_memory.py [--words 100000 400000] [--dimensions 300]
        [--from bin] [--to bin]

Each size is a process of its own, that reads a file and writes it under hard-debias; what it took
at most is what the system says of it (`ru_maxrss`). The last column is the growth from one size to
the next, in bytes a word, and the last line what that comes to at 3 million words.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from harness.arrays import Vectors
from harness.run import vector_files

LISTED = ["she", "he", "woman", "man", "girl", "boy", "mother", "father", "her", "his"]
BLOCK = 4096
MILLIONS = 3
WORK = (
    "import harness, resource, sys; harness.debias('vectors:' + sys.argv[1], 'hard-debias', "
    "sys.argv[2]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, nargs="+", default=[50_000, 100_000, 200_000, 400_000])
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--from", dest="read", default="bin", choices=["txt", "bin", "safetensors"])
    parser.add_argument("--to", default="bin", choices=["txt", "bin", "kv", "safetensors"])
    asked = parser.parse_args()
    print(f"{asked.dimensions} dimensions, .{asked.read} to .{asked.to}, hard-debias")
    print(
        f"{'words':>10} {'MB of vectors':>14} {'wall s':>7} {'peak MB':>8} {'bytes/word more':>16}"
    )
    taken: list[tuple[int, int]] = []
    growth = 0.0
    for n in sorted(asked.words):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"source.{asked.read}"
            make(source, n, asked.dimensions)
            started = time.perf_counter()
            peak = debias(source, Path(folder) / f"debiased.{asked.to}")
            seconds = time.perf_counter() - started
        if taken:
            growth = (peak - taken[-1][1]) / (n - taken[-1][0])
        taken.append((n, peak))
        size = 4 * n * asked.dimensions
        told = f"{growth:16.0f}" if len(taken) > 1 else ""
        print(f"{n:10,} {size / 1e6:14.0f} {seconds:7.1f} {peak / 1e6:8.0f} {told}", flush=True)
    n, peak = taken[-1]
    least = peak + growth * (MILLIONS * 1_000_000 - n)
    print(f"at {MILLIONS} million words, by the last growth: {least / 1e9:.1f} GB")


def make(path: Path, n: int, dimensions: int) -> None:
    """Write a file of random vectors of `n` words."""
    words = [*LISTED, *(f"word-{i:08}" for i in range(n - len(LISTED)))]
    rng = np.random.default_rng(0)

    def blocks() -> Iterator[tuple[list[str], Vectors]]:
        for start in range(0, n, BLOCK):
            some = words[start : start + BLOCK]
            yield some, rng.standard_normal((len(some), dimensions), dtype=np.float32)

    vector_files.write(path, vector_files.format_of(path), words, dimensions, blocks())


def debias(source: Path, out: Path) -> int:
    """Debias a file in a process of its own, and return the most bytes that it held."""
    cache = os.environ | {"HARNESS_CACHE": str(source.parent)}
    command = [sys.executable, "-c", WORK, str(source), str(out)]
    done = subprocess.run(command, env=cache, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
