"""Writes vectors to a store and reads them in random order, beside MTEB's cached wrapper.

    python benchmarks/store.py [--mteb-python PYTHON] [--texts 200000] [--repeat 3]

MTEB is optional. It wants an environment of its own:

    python -m venv mteb-env && mteb-env/bin/pip install mteb
    python benchmarks/store.py --mteb-python mteb-env/bin/python

Both are given the same texts and vectors; nothing is computed by a model. `write` begins with
texts and ends with their vectors on disk, `read` begins with a new object on that folder and ends
with all vectors in memory, in another order. MTEB's wrapper does not sync what it writes.
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
    asked = parser.parse_args()
    if asked.peer:
        print(json.dumps(measure(asked.peer, asked.texts)))
        return
    pythons = {"harness": sys.executable}
    if asked.mteb_python:
        pythons["mteb"] = asked.mteb_python
    found: dict[tuple[str, str], list[timing.Seconds]] = {}
    for _ in range(asked.repeat):
        for peer, python in pythons.items():  # turn by turn: both see the same machine
            for step, seconds in run(python, peer, asked.texts).items():
                found.setdefault((peer, step), []).append(timing.Seconds(*seconds))
    print(f"{asked.texts:,} vectors of {DIMENSIONS} float32, medians of {asked.repeat} runs")
    print(timing.HEAD)
    for (peer, step), measured in found.items():
        print(timing.row(f"{peer}: {step}", measured))
    for step in ("write", "read") if "mteb" in pythons else ():
        ratio = timing.ratios(found["harness", step], found["mteb", step])
        print(f"harness / mteb, CPU, {step}: {ratio}")
    if "mteb" not in pythons:
        print("(MTEB was not measured: see --help on how to install it)")


def run(python: str, peer: str, texts: int) -> dict[str, list[float]]:
    command = [python, __file__, "--peer", peer, "--texts", str(texts)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(peer: str, n: int) -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n, DIMENSIONS), dtype=np.float32)
    texts = [f"text number {i} of them, about as long as a short sentence is" for i in range(n)]
    order = rng.permutation(n)
    work = harness_store if peer == "harness" else mteb_wrapper
    with tempfile.TemporaryDirectory() as folder:
        write, read = work(Path(folder), texts, vectors, order)
    return {"write": (write.cpu, write.wall), "read": (read.cpu, read.wall)}


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
        found.append(store.get(shuffled))

    found: list[np.ndarray] = []
    shuffled = [texts[i] for i in order]
    times = timing.timed(write), timing.timed(read)
    assert (found[0] == vectors[order]).all()
    return times


def mteb_wrapper(folder, texts, vectors, order):
    import warnings

    import mteb
    from datasets import Dataset
    from mteb.models import CachedEmbeddingWrapper
    from torch.utils.data import DataLoader

    class Given:
        """Returns the vectors that were made beforehand."""

        mteb_model_meta = None

        def encode(self, inputs, **_):
            assert len(inputs.dataset) == len(vectors)
            return vectors

    warnings.simplefilter("ignore")
    about = mteb.get_task("STSBenchmark").metadata
    data = Dataset.from_dict({"text": texts})
    shuffled = Dataset.from_dict({"text": [texts[i] for i in order]})

    def encode(dataset):
        wrapper = CachedEmbeddingWrapper(Given(), folder)
        found.append(
            wrapper.encode(
                DataLoader(dataset, batch_size=BATCH),
                task_metadata=about,
                hf_split="test",
                hf_subset="default",
            )
        )

    found: list[np.ndarray] = []
    times = timing.timed(lambda: encode(data)), timing.timed(lambda: encode(shuffled))
    assert (found[1] == vectors[order]).all()
    return times


if __name__ == "__main__":
    main()
