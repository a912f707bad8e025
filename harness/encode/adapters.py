"""What makes an embedder of any Python object that has `encode`."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Vectors
from harness.embedder import Embedder, ModelInfo
from harness.errors import UsageError

UNNAMED = "unnamed-"
"""Begins the fingerprint of an object that does not say what it is."""


class ObjectEmbedder:
    """Any object with `encode(texts)`, such as a `SentenceTransformer`, as a text embedder.

    Nothing says which weights it has, so its fingerprint is new each time, and it shares no
    vectors: give it an `info` to have them kept.

    Parameters
    ----------
    thing
        The object.
    """

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.info = ModelInfo(
            name=str(getattr(thing, "name", None) or type(thing).__name__),
            kind="text",
            fingerprint=UNNAMED + uuid.uuid4().hex,
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return what the object's `encode` gives, as a float32 array."""
        return np.asarray(self.thing.encode(list(texts)), dtype=np.float32)


def as_embedder(thing: object) -> Embedder:
    """Return an object as an embedder.

    Raises
    ------
    UsageError
        If it has no `encode`.
    """
    if isinstance(thing, Embedder) and isinstance(thing.info, ModelInfo):
        return thing
    if not callable(getattr(thing, "encode", None)):
        raise UsageError(
            f"expected a model's name, an Embedder or an object with encode(texts), "
            f"not {type(thing).__name__}"
        )
    return ObjectEmbedder(thing)


@contextlib.contextmanager
def store_folder(info: ModelInfo, folder: Path) -> Iterator[Path]:
    """Give the folder of stores; an unnamed object gets one that goes away."""
    if not info.fingerprint.startswith(UNNAMED):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        yield Path(temporary)
