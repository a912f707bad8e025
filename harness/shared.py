"""Objects that are sent to other processes once, however many calls need them.

They are pickled by cloudpickle, so that functions and classes of a notebook or script are sent,
too. Only what another process of this run has pickled is read.
"""

from __future__ import annotations

import io
import pickle
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from harness.errors import one_line

Value = TypeVar("Value")

NOTHING: Mapping[str, object] = MappingProxyType({})
OPENED = 2**28
"""Most bytes of pickles whose objects a process keeps."""
OBJECTS = 64
"""Most objects that it keeps: enough for the mitigators of a run and some tasks."""


class OnlyInMain(BaseException):
    """A call needs what only the main process has, such as a model.

    It is no Exception, so that no code between takes it for a failure.
    """


class Shared(Generic[Value]):
    """An object that many calls need: pickled once, and read once in each process.

    Parameters
    ----------
    value
        The object.
    apart
        Objects that `value` refers to, by name, and that are not sent with it: others take their
        places.

    Raises
    ------
    Exception
        Of any class, if the object cannot be pickled.
    """

    def __init__(self, value: Value, *, apart: Mapping[str, object] = NOTHING) -> None:
        self.token = uuid.uuid4().hex
        # As an array, joblib writes it to a file once, if it is large.
        self._pickle = np.frombuffer(_pickled(value, apart), dtype=np.uint8)

    def open(self, *, apart: Mapping[str, object] = NOTHING) -> Value:
        """Return the object: the same each time in a process that keeps it.

        Parameters
        ----------
        apart
            What takes the place of each object that was not sent.

        Raises
        ------
        OnlyInMain
            If this process cannot read it, for example because a module is not found.
        """
        if self.token in _opened:
            _opened.move_to_end(self.token)
            value: Value = _opened[self.token][0]
            return value
        value = self.copy(apart=apart)
        _opened[self.token] = value, len(self._pickle)
        while len(_opened) > OBJECTS or sum(size for _, size in _opened.values()) > OPENED:
            _opened.popitem(last=False)
        return value

    def copy(self, *, apart: Mapping[str, object] = NOTHING) -> Value:
        """Return the object, read anew; parameters and errors are those of `open`."""
        try:
            value: Value = _unpickled(self._pickle, apart)
        except Exception as error:
            raise OnlyInMain(one_line(error)) from None
        return value


_opened: OrderedDict[str, tuple[Any, int]] = OrderedDict()


def _pickled(value: object, apart: Mapping[str, object]) -> bytes:
    import cloudpickle

    names = {id(part): name for name, part in apart.items()}

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it ships no types
        def persistent_id(self, part: object) -> str | None:
            return names.get(id(part))

    pickler = Pickler if names else cloudpickle.Pickler
    with io.BytesIO() as file:
        pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
        return file.getvalue()


def _unpickled(content: npt.NDArray[np.uint8], apart: Mapping[str, object]) -> Any:
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: str) -> object:
            return apart[name]

    return Unpickler(io.BytesIO(content.data)).load()
