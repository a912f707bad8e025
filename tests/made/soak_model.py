"""A plugin with a slow text encoder that logs each text before it encodes it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence

import numpy as np

from harness import EmbedderSpec, ModelInfo, hookimpl

LOG = "SOAK_LOG"
"""Environment variable: the file that gets a line of JSON a call, the list of its texts."""
SECONDS = 0.0003
"""Time that a text takes."""
WIDTH = 24


class Slow:
    """Vectors depend on a text alone, so that every run has the same ones."""

    info = ModelInfo(name="slow", kind="text", dimensions=WIDTH, fingerprint="slow 1")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Log the texts, take some time, and return their vectors."""
        log = os.open(os.environ[LOG], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(log, json.dumps(list(texts)).encode() + b"\n")
        os.close(log)
        time.sleep(SECONDS * len(texts))
        return np.stack([_vector(text) for text in texts])


def _vector(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)


@hookimpl
def harness_embedders() -> list[EmbedderSpec]:
    return [EmbedderSpec(name="slow", target="soak_model:Slow", summary="takes its time")]
