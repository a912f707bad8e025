"""Writers, a pruner and a reader share a store while they are killed: nothing is lost or wrong.

With a few kills here; `HARNESS_SOAK=100` kills a hundred times, with 8 writers and 1,000,000
reads, and prints what was lost.
"""

from __future__ import annotations

import multiprocessing
import os
import struct
import time
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.store import pruning
from harness.store.store import Store

KILLS = int(os.environ.get("HARNESS_SOAK", "2"))
WRITERS = 8 if KILLS >= 100 else 2
READS, TEXTS = 10_000 * KILLS, 2_000 * KILLS
BATCH, D = 500, 16
Numbers = npt.NDArray[np.int64]


def texts_of(numbers: Numbers) -> list[str]:
    return [f"text {i}" for i in numbers.tolist()]


def vectors_of(numbers: Numbers) -> npt.NDArray[np.float32]:
    grid = (numbers[:, None] * 2_654_435_761 + np.arange(D) * 40_503) % 2**32
    return (grid / 2**32).astype(np.float32)


def write(folder: Path, seed: int, promises: int) -> None:
    """Write what is missing of random texts for ever; say which are written."""
    store, rng = Store(folder, "model"), np.random.default_rng(seed)
    while True:
        start = int(rng.integers(TEXTS))
        numbers = np.arange(start, start + rng.integers(1, BATCH)) % TEXTS
        store.refresh()
        missing = set(store.missing(texts_of(numbers)))
        new = numbers[[text in missing for text in texts_of(numbers)]]
        with store.writer(rows=200) as writer:
            writer.add(texts_of(new), vectors_of(new))
        os.write(promises, struct.pack("<qq", start, len(numbers)))
        time.sleep(0.02)


def prune(folder: Path, _: int, __: int) -> None:
    while True:
        pruning.prune(folder)
        time.sleep(0.1)


class Crew:
    """The other processes; one that is killed is replaced."""

    def __init__(self, folder: Path, promises: int) -> None:
        self.folder, self.promises, self.n = folder, promises, 0
        self.processes = [self.start(write) for _ in range(WRITERS)] + [self.start(prune)]

    def start(self, work: object) -> BaseProcess:
        self.n += 1
        arguments = (self.folder, self.n, self.promises)
        process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
        process.start()
        return process

    def kill(self, i: int) -> int:
        """Kill a process, and return its exit code: another than -9 if it had failed before."""
        self.processes[i].kill()
        self.processes[i].join()
        return self.processes[i].exitcode or 0

    def replace(self, i: int) -> int:
        code = self.kill(i)
        self.processes[i] = self.start(prune if i == WRITERS else write)
        return code


@pytest.mark.posix
def test_writers_that_are_killed_lose_nothing_and_readers_see_no_wrong_vector(
    tmp_path: Path,
) -> None:
    Store(tmp_path, "model").describe({"name": "Model", "kind": "word"})
    inbox, promises = os.pipe()
    os.set_blocking(inbox, False)
    crew, rng = Crew(tmp_path, promises), np.random.default_rng(0)
    figures = Counter(kills=0, reads=0, lost=0, wrong=0, notices=0, failed=0)
    is_written = np.zeros(TEXTS, dtype=bool)
    store = Store(tmp_path, "model")
    try:
        while figures["reads"] < READS:
            is_written[promised(inbox)] = True
            written = np.flatnonzero(is_written)
            if not len(written):
                continue
            if rng.random() < 0.02:  # another process
                figures["notices"] += len(store.notices)
                store = Store(tmp_path, "model")
            store.refresh()
            figures.update(read(store, rng.choice(written, BATCH)))
            if figures["reads"] * KILLS >= (figures["kills"] + 1) * READS:
                figures["failed"] += crew.replace(int(rng.integers(WRITERS + 1))) != -9
                figures["kills"] += 1
    finally:
        codes = [crew.kill(i) for i in range(WRITERS + 1)]
    figures["failed"] += sum(code != -9 for code in codes)
    is_written[promised(inbox)] = True
    fresh, written = Store(tmp_path, "model"), np.flatnonzero(is_written)
    figures["lost"] += len(fresh.missing(texts_of(written)))
    figures["wrong"] += read(fresh, written)["wrong"]
    figures["notices"] += len(store.notices) + len(fresh.notices)
    print(f"\n{WRITERS} writers, {len(written):,} texts written")
    print(", ".join(f"{name}: {n:,}" for name, n in figures.items()))
    assert all(checked.ok for checked in fresh.verify())
    assert figures["kills"] == KILLS
    assert not any(figures[name] for name in ("lost", "wrong", "notices", "failed"))


def promised(inbox: int) -> Numbers:
    """Return the numbers of the texts that writers say are written, since the last call."""
    try:
        content = os.read(inbox, 1600)
    except BlockingIOError:
        return np.empty(0, dtype=np.int64)
    spans = [np.arange(start, start + n) % TEXTS for start, n in struct.iter_unpack("<qq", content)]
    return np.concatenate(spans)


def read(store: Store, numbers: Numbers) -> Counter[str]:
    """Read vectors; count those that a store lacks, and wrong ones."""
    texts = texts_of(numbers)
    try:
        vectors = store.get(texts)
    except KeyError:
        missing = set(store.missing(texts))
        numbers = numbers[[text not in missing for text in texts]]
        vectors = store.get(texts_of(numbers))
    wrong = int((vectors != vectors_of(numbers)).any(axis=1).sum())
    return Counter(reads=len(texts), lost=len(texts) - len(numbers), wrong=wrong)
