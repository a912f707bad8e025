"""Writes vectors to a store and reads them in random order, compared with MTEB's cached wrapper.

    python perf/store.py [--mteb-python PYTHON] [--texts 200000] [--repeat 3]
    python perf/store.py --keys 1000000

MTEB is optional. It needs its own environment:

    python -m venv mteb-env && mteb-env/bin/pip install mteb
    python perf/store.py --mteb-python mteb-env/bin/python

Both get the same texts and vectors; no model runs. `write` begins with the texts and ends with
their vectors on disk. `read` begins with a new object on that folder and ends with all vectors in
memory, in another order. MTEB's wrapper does not sync the files that it writes.

`--keys` looks for 1,000 and for 100,000 texts in a new process's store of that many vectors, which
lie in segments of 8,192.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import timing

DIMENSIONS = 384
BATCH = 64
FINGERPRINT = "benchmark"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mteb-python", help="a Python that has the package mteb")
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer", choices=["harness", "mteb"], help=argparse.SUPPRESS)
    parser.add_argument("--keys", type=int, help="look for texts among this many, and do no more")
    args = parser.parse_args()
    if args.keys:
        look_up(args.keys)
        return
    if args.peer:
        print(json.dumps(measure(args.peer, args.texts)))
        return
    pythons = {"harness": sys.executable}
    if args.mteb_python:
        pythons["mteb"] = args.mteb_python
    results: dict[tuple[str, str], list[timing.Seconds]] = {}
    for _ in range(args.repeat):
        for peer, python in pythons.items():  # in turns: both have the same load of the machine
            for step, seconds in run(python, peer, args.texts).items():
                results.setdefault((peer, step), []).append(timing.Seconds(*seconds))
    print(f"{args.texts:,} vectors of {DIMENSIONS} float32, medians of {args.repeat} runs")
    print(timing.HEAD)
    for (peer, step), measured in results.items():
        print(timing.row(f"{peer}: {step}", measured))
    for step in ("write", "read") if "mteb" in pythons else ():
        ratio = timing.ratios(results["harness", step], results["mteb", step])
        print(f"harness / mteb, CPU, {step}: {ratio}")
    if "mteb" not in pythons:
        print("(MTEB was not measured; its installation is described at the top of this file)")


def run(python: str, peer: str, texts: int) -> dict[str, list[float]]:
    command = [python, __file__, "--peer", peer, "--texts", str(texts)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, list[float]] = json.loads(process.stdout.splitlines()[-1])
    return result


def measure(peer: str, n: int) -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n, DIMENSIONS), dtype=np.float32)
    texts = [f"text number {i} of them, about as long as a short sentence is" for i in range(n)]
    order = rng.permutation(n)
    work = harness_store if peer == "harness" else mteb_wrapper
    with tempfile.TemporaryDirectory() as folder:
        steps = work(Path(folder), texts, vectors, order)
    return {step: (seconds.cpu, seconds.wall) for step, seconds in steps.items()}


def look_up(n: int) -> None:
    from harness.store.store import Store

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        files = Store(Path(folder), FINGERPRINT).files
        for start in range(0, n, 8_192):
            keys = rng.integers(0, 2**64, (min(8_192, n - start), 2), dtype=np.uint64)
            order = np.lexsort((keys[:, 1], keys[:, 0]))
            files.write(FINGERPRINT, keys[order], np.ones((len(keys), 2), np.float32))
        print(timing.HEAD)
        for asked in (1_000, 100_000):
            texts = [f"text number {i}" for i in range(asked)]
            store = Store(Path(folder), FINGERPRINT)
            times = [timing.timed(lambda store=store, texts=texts: store.missing(texts))]
            print(timing.row(f"{asked:,} texts among {n:,}", times))


def harness_store(folder, texts, vectors, order):
    from harness.store.store import Store

    def write():
        store = Store(folder, FINGERPRINT)
        assert len(store.missing(texts)) == len(texts)
        with store.writer() as writer:
            for i in range(0, len(texts), BATCH):
                writer.add(texts[i : i + BATCH], vectors[i : i + BATCH])

    def read():
        store = Store(folder, FINGERPRINT)
        assert not store.missing(shuffled)
        results.append(store.get(shuffled))

    results: list[np.ndarray] = []
    shuffled = [texts[i] for i in order]
    times = {"write": timing.timed(write), "read": timing.timed(read)}
    assert (results.pop() == vectors[order]).all()
    return times


def mteb_wrapper(folder, texts, vectors, order):
    import warnings

    import mteb
    from datasets import Dataset
    from mteb.models import CachedEmbeddingWrapper
    from torch.utils.data import DataLoader

    class Precomputed:
        """Returns precomputed vectors."""

        mteb_model_meta = None

        def encode(self, inputs, **_):
            assert len(inputs.dataset) == len(vectors)
            return vectors

    warnings.simplefilter("ignore")
    metadata = mteb.get_task("STSBenchmark").metadata
    data = Dataset.from_dict({"text": texts})
    shuffled = Dataset.from_dict({"text": [texts[i] for i in order]})

    def encode(dataset):
        wrapper = CachedEmbeddingWrapper(Precomputed(), folder)
        results.append(
            wrapper.encode(
                DataLoader(dataset, batch_size=BATCH),
                task_metadata=metadata,
                hf_split="test",
                hf_subset="default",
            )
        )

    results: list[np.ndarray] = []
    times = {"write": timing.timed(lambda: encode(data))}
    times["read"] = timing.timed(lambda: encode(shuffled))
    assert (results[1] == vectors[order]).all()
    return times


if __name__ == "__main__":
    main()
