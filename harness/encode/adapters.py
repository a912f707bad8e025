"""Makes a text encoder of any Python object or function that turns texts into vectors."""

from __future__ import annotations

import contextlib
import re
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Vectors
from harness.digest import digest
from harness.embedder import ModelInfo
from harness.encode import identity
from harness.encode.identity import UNNAMED
from harness.folders import Place


class ObjectEmbedder:
    """An object with `encode(texts)`, or a function from texts to vectors, as a text encoder.

    Its name in records is its attribute `name`, else the name of the function or class. What
    identifies it is described in `harness.encode.identity.of_model`. If nothing does, each run
    gives it a new fingerprint, its vectors are not kept, and `notes` says so.

    Parameters
    ----------
    model
        The object or function. If it has a method `encode`, that is called.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._encode = model.encode if callable(getattr(model, "encode", None)) else model
        name, known = name_of(model), identity.of_model(model)
        stated = f"object-{digest([name, known])}" if known else None
        self.info = ModelInfo(name=name, kind="text", fingerprint=stated or unnamed())

    @property
    def notes(self) -> tuple[str, ...]:
        """That its results cannot be used again, and how to change that."""
        return notes(self.info)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts as a float32 array.

        Whole numbers of a list are floats. Bytes, bits and other numbers are returned as they are,
        and refused by `harness.encode.one_batch.checked`.
        """
        vectors = self._encode(list(texts))
        if hasattr(vectors, "detach"):  # a tensor, which may be on another device
            vectors = vectors.detach().cpu()
            vectors = vectors.float() if vectors.is_floating_point() else vectors
        array = np.asarray(vectors)
        is_wide = array.dtype.kind in "iu" and array.dtype.itemsize > 1
        return array.astype(np.float32) if is_wide else array


def unnamed() -> str:
    """Return a new fingerprint for an object that nothing identifies."""
    return UNNAMED + uuid.uuid4().hex


def notes(info: ModelInfo) -> tuple[str, ...]:
    """Return the note of an unnamed object; none for others."""
    if not info.fingerprint.startswith(UNNAMED):
        return ()
    return (
        f"{info.name}: its results and vectors cannot be used by a later run, because "
        "nothing identifies this object; give it a text 'fingerprint' that changes whenever "
        "its vectors do, or an 'info' (a harness.ModelInfo)",
    )


def name_of(model: Any) -> str:
    """Return the name of an object: its `name`, else that of the function or class."""
    stated = getattr(model, "name", None)
    if isinstance(stated, str) and stated.strip():
        return stated.strip()
    name = getattr(model, "__name__", None) or type(model).__name__
    return re.sub(r"[^\w.-]", "", str(name))


@contextlib.contextmanager
def store_folder(info: ModelInfo, folder: Place) -> Iterator[Place]:
    """Yield the folder of stores: `folder`, or a temporary one for an unnamed object."""
    if not info.fingerprint.startswith(UNNAMED):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        yield Path(temporary)
