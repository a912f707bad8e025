"""Makes a text encoder of any Python object or function that turns texts into vectors."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Vectors
from harness.digest import digest
from harness.embedder import ModelInfo, Role
from harness.encode import identity
from harness.encode.identity import UNNAMED
from harness.errors import ModelError, one_line


class ObjectEmbedder:
    """An object with `encode(texts)`, or a function from texts to vectors, as a text encoder.

    Its name in records is its attribute `name`, else the name of the function or class.
    `harness.encode.identity.of_model` identifies it. If that fails, each run gives it a new
    fingerprint, its vectors are not kept, and `notes` says so.

    Parameters
    ----------
    model
        The object or function. If it has a method `encode`, that is called.
    routes
        Name of the encoder of each role; by default there is one for all texts.
    encoders
        Functions from texts to vectors, by name.
    reading
        What else decides how texts are read, such as instructions that the encoders add.
    """

    def __init__(
        self,
        model: Any,
        *,
        routes: Mapping[Role, str] | None = None,
        encoders: Mapping[str, Callable[[list[str]], Any]] | None = None,
        reading: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        own = model.encode if callable(getattr(model, "encode", None)) else model
        self._routes, self._encoders = routes or {"text": "encode"}, encoders or {"encode": own}
        name, known = name_of(model), identity.of_model(model)
        content = [name, known, *([dict(reading)] if reading else [])]
        stated = f"object-{digest(content)}" if known else None
        self.info = ModelInfo(
            name=name,
            kind="text",
            routes=self._routes if len(self._routes) > 1 else {},
            fingerprint=stated or unnamed(),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning that its results cannot be used again, and what to do about it."""
        return notes(self.info)

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return the vectors of texts of one role as a float32 array.

        Bytes, bits and complex numbers are not converted; `harness.encode.batches.checked` refuses
        them.

        Raises
        ------
        ModelError
            If the object returns no array of numbers.
        """
        found = self._encoders[self._routes.get(role, self._routes["text"])](list(texts))
        try:
            array = _array(found)
            if array.dtype.kind in "bc" or (array.dtype.kind in "iu" and array.dtype.itemsize == 1):
                return array
            if array.dtype.kind in "US":
                raise TypeError("texts")
            with np.errstate(over="ignore"):  # an overflow becomes infinite, which is checked later
                return array.astype(np.float32, copy=False)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"model '{self.info.name}' returned {type(found).__name__}, which is no array of "
                f"a vector for each text ({one_line(error)})"
            ) from None


def _array(found: Any) -> np.ndarray[Any, Any]:
    """Return an array, tensor, sparse matrix, or iterable of vectors as an array."""
    if isinstance(found, Iterator):
        found = list(found)
    if isinstance(found, list | tuple) and any(hasattr(row, "detach") for row in found):
        found = [_array(row) for row in found]
    if hasattr(found, "detach"):  # a tensor, which may be on another device
        found = found.detach().to_dense().cpu()
        found = found.float() if found.is_floating_point() else found
    if callable(getattr(found, "toarray", None)):  # a sparse matrix of scipy
        found = found.toarray()
    return np.asarray(found)


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
        "its vectors do",
    )


def name_of(model: Any) -> str:
    """Return the name of an object: its `name`, else that of the function or class."""
    stated = getattr(model, "name", None)
    if isinstance(stated, str) and stated.strip():
        return stated.strip()
    name = getattr(model, "__name__", None) or type(model).__name__
    return re.sub(r"[^\w.-]", "", str(name))
