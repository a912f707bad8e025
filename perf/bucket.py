"""What a store in a bucket transfers, and what killed writers lose.

    python perf/bucket.py --kills 20

A server of S3's protocol on 127.0.0.1 counts the bytes that it sends. Writers are killed by SIGKILL
at random moments; then this machine and another one look for what the writers had flushed.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "made"))

from s3_server import ENVIRONMENT, S3Server

from harness import folders
from harness.store.store import Store

SEGMENTS, ROWS, DIMENSIONS = 8, 8192, 384
WRITER = """
import sys, numpy as np
from harness import folders
from harness.store.store import Store
with Store(folders.place(sys.argv[1]), "killed").writer(rows=20) as writer:
    for start in range(int(sys.argv[2]), int(sys.argv[2]) + 100_000, 10):
        numbers = range(start, start + 10)
        writer.add([str(i) for i in numbers], np.array([[i, -i] for i in numbers], np.float32))
        print(start + 10, flush=True)
"""


@contextmanager
def machine(home: str, name: str) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME", "")
    os.environ["XDG_CACHE_HOME"] = f"{home}/{name}"
    yield
    os.environ["XDG_CACHE_HOME"] = before


def transfers(server: S3Server, place: folders.Place, home: str) -> None:
    rng = np.random.default_rng(0)
    with machine(home, "first"), Store(place, "read").writer() as writer:
        for i in range(SEGMENTS):
            vectors = rng.standard_normal((ROWS, DIMENSIONS), dtype=np.float32)
            writer.add([f"{i} {j}" for j in range(ROWS)], vectors)
    with machine(home, "second"):
        store = Store(place, "read")
        server.sent = 0
        missing = store.missing([f"{i} {j}" for i in range(SEGMENTS) for j in range(ROWS)])
        first, server.sent = server.sent, 0
        Store(place, "read").get(["3 5", "3 7"])
        again, size = server.sent, store.info().bytes
    print(f"{SEGMENTS} segments, {size:,} bytes, {len(missing)} texts missing")
    print(f"a machine that has none: {first:,} bytes ({first / size:.1%}); again: {again:,} bytes")


def kills(place: folders.Url, home: str, n: int) -> None:
    numbers = random.Random(0)
    flushed: list[str] = []
    with machine(home, "killed"):
        for start in range(0, n * 1_000_000, 1_000_000):
            command = [sys.executable, "-c", WRITER, place.text, str(start)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            lines = [int(process.stdout.readline()) for _ in range(numbers.randint(3, 40))]
            process.kill()
            lines += [int(line) for line in process.stdout]
            process.wait()
            flushed += [str(i) for i in range(start, start + (lines[-1] - start) // 20 * 20)]
    for name in ("killed", "another"):
        with machine(home, name):
            store = Store(place, "killed")
            lost = set(store.missing(flushed))
            kept = [text for text in flushed if text not in lost]
            expected = np.array([[int(text), -int(text)] for text in kept], dtype=np.float32)
            wrong = int((store.get(kept) != expected).any(axis=1).sum())
        print(f"{n} kills, machine '{name}': of {len(flushed)} flushed vectors ", end="")
        print(f"{len(lost)} lost, {wrong} wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5)
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ.pop("HARNESS_CACHE", None)
    os.environ |= ENVIRONMENT
    with S3Server() as server, tempfile.TemporaryDirectory() as home:
        os.environ["AWS_ENDPOINT_URL"] = server.url
        place = folders.place(server.new_bucket())
        assert isinstance(place, folders.Url)
        transfers(server, place / "embeddings", home)
        kills(place / "embeddings", home, options.kills)


if __name__ == "__main__":
    main()
