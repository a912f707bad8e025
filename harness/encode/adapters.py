"""Makes an embedder of any Python object that has `encode(texts)`."""

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
"""Prefix of the fingerprint of an object without an `info`."""


class ObjectEmbedder:
    """Any object with `encode(texts)`, such as a `SentenceTransformer`, as a text embedder.

    The weights of the object are unknown, so each instance has a new fingerprint and its vectors
    are not kept. An object with an `info` of type `ModelInfo` is an embedder itself.

    Parameters
    ----------
    model
        The object.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.info = ModelInfo(
            name=str(getattr(model, "name", None) or type(model).__name__),
            kind="text",
            fingerprint=UNNAMED + uuid.uuid4().hex,
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the result of the object's `encode` as a float32 array."""
        return np.asarray(self.model.encode(list(texts)), dtype=np.float32)


def as_embedder(model: object) -> Embedder:
    """Return an object as an embedder.

    Raises
    ------
    UsageError
        If it has no `encode`.
    """
    if isinstance(model, Embedder) and isinstance(model.info, ModelInfo):
        return model
    if not callable(getattr(model, "encode", None)):
        raise UsageError(
            f"expected a model's name, an Embedder or an object with encode(texts), "
            f"not {type(model).__name__}"
        )
    return ObjectEmbedder(model)


@contextlib.contextmanager
def store_folder(info: ModelInfo, folder: Path) -> Iterator[Path]:
    """Yield the folder of stores: `folder`, or a temporary one for an unnamed object."""
    if not info.fingerprint.startswith(UNNAMED):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        yield Path(temporary)
