"""Peak memory of debiasing files of word vectors, by their size.

    OMP_NUM_THREADS=1 python perf/debias_memory.py [--words 100000 400000] [--dimensions 300]
        [--from bin] [--to bin]

For each size, a new process reads a file and writes it debiased by `hard-debias`. Its peak memory
is the system's `ru_maxrss`. The last column is the growth from one size to the next, in bytes a
word. The last line extrapolates the last growth to 3 million words.
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
from harness.run import debiasing

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
    arguments = parser.parse_args()
    print(f"{arguments.dimensions} dimensions, .{arguments.read} to .{arguments.to}, hard-debias")
    print(
        f"{'words':>10} {'MB of vectors':>14} {'wall s':>7} {'peak MB':>8} {'bytes/word more':>16}"
    )
    peaks: list[tuple[int, int]] = []
    growth = 0.0
    for n in sorted(arguments.words):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"source.{arguments.read}"
            make(source, n, arguments.dimensions)
            started = time.perf_counter()
            peak = debias(source, Path(folder) / f"debiased.{arguments.to}")
            seconds = time.perf_counter() - started
        if peaks:
            growth = (peak - peaks[-1][1]) / (n - peaks[-1][0])
        peaks.append((n, peak))
        size = 4 * n * arguments.dimensions
        cell = f"{growth:16.0f}" if len(peaks) > 1 else ""
        print(f"{n:10,} {size / 1e6:14.0f} {seconds:7.1f} {peak / 1e6:8.0f} {cell}", flush=True)
    n, peak = peaks[-1]
    expected = peak + growth * (MILLIONS * 1_000_000 - n)
    print(f"expected at {MILLIONS} million words, with the last growth: {expected / 1e9:.1f} GB")


def make(path: Path, n: int, dimensions: int) -> None:
    """Write a file of random vectors of `n` words."""
    words = [*LISTED, *(f"word-{i:08}" for i in range(n - len(LISTED)))]
    rng = np.random.default_rng(0)

    def blocks() -> Iterator[tuple[list[str], Vectors]]:
        for start in range(0, n, BLOCK):
            block = words[start : start + BLOCK]
            yield block, rng.standard_normal((len(block), dimensions), dtype=np.float32)

    debiasing.write_vectors(path, debiasing.format_of(path), words, dimensions, blocks())


def debias(source: Path, out: Path) -> int:
    """Debias a file in a new process, and return the peak of its memory in bytes."""
    environment = os.environ | {"HARNESS_CACHE": str(source.parent)}
    command = [sys.executable, "-c", WORK, str(source), str(out)]
    process = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return int(process.stdout) * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
