"""What identifies a Python object in records: hashes of its weights, arrays and code.

A name is not enough: two objects of one class, or two versions of one function, may give other
numbers. Nothing here runs the object. Addresses in memory are never part of an identity, so it is
the same in every process.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from harness.digest import SIZE, digest, json_like

LIBRARIES = (
    *("abc", "builtins", "harness", "sentence_transformers", "sklearn", "torch", "transformers"),
    "typing",
)
"""Packages whose classes are identified by their name, as in the fingerprint of a file."""
ADAPTERS = ("_active_adapter", "_disable_adapters")
"""Private attributes of modules of the package peft that change what they return."""


class Unidentified(Exception):
    """A value that cannot be hashed."""


def of_model(model: Any) -> str | None:
    """Return a digest of what determines an object's vectors; None if it cannot be found.

    That is its `fingerprint`, a text, if it has one. Else it is its content: the weights of a
    torch module, or arrays and plain values; with the code of its class. Else it is its
    `revision`. A function may call anything, so its code does not identify it.
    """
    stated = getattr(model, "fingerprint", None)
    if isinstance(stated, str) and stated:
        return digest(["fingerprint", stated])
    found = _of_content(model)
    revision = getattr(model, "revision", None)
    if found is None and isinstance(revision, str) and revision:
        return digest(["revision", revision])
    return found


def of_function(function: Callable[..., Any]) -> str:
    """Return a digest of a function's qualified name and code, with the values that it encloses."""
    inner = inspect.unwrap(function)
    if isinstance(inner, functools.partial):
        return digest([of_function(inner.func), json_like(inner.args), json_like(inner.keywords)])
    name = f"{getattr(inner, '__module__', '')}.{getattr(inner, '__qualname__', repr(type(inner)))}"
    cells = [cell.cell_contents for cell in getattr(inner, "__closure__", None) or ()]
    return digest([name, _source(inner), [_lenient(value) for value in cells]])


def of_class(class_: type) -> str:
    """Return a digest of a class's qualified name and code, with the classes that it inherits.

    Classes of well-known libraries are known by their name.
    """
    parts: list[Any] = []
    for base in class_.__mro__:
        parts.append(_name(base))
        if base.__module__.partition(".")[0] not in LIBRARIES:
            parts += [
                [name, _member(member)]
                for name, member in sorted(vars(base).items())
                if isinstance(member, FunctionType) or not name.startswith("__")
            ]
    return digest(parts)


def of_module(module: Any) -> str:
    """Return a digest of a torch module: its weights, and the classes and settings of its parts.

    Raises
    ------
    Unidentified
        If its weights are not in memory.
    """
    return digest(content(module))


def content(value: Any) -> Any:
    """Return a value as JSON types, with a hash for each array.

    Raises
    ------
    Unidentified
        If it, or a part of it, is an object whose content is unknown.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: content(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [content(item) for item in value]
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return _array(np.asarray(value))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor(value, torch)
    if torch is not None and isinstance(value, torch.nn.Module):
        parts = {name: [_name(type(part)), _settings(part)] for name, part in value.named_modules()}
        weights = {name: _tensor(weight, torch) for name, weight in value.state_dict().items()}
        return {"parts": parts, "weights": weights}
    raise Unidentified(_name(type(value)))


def _of_content(model: Any) -> str | None:
    """Return a digest of an object's arrays and weights; None if it has none, or others too."""
    if isinstance(model, MethodType):
        inner = _of_content(model.__self__)
        return None if inner is None else digest([inner, model.__func__.__qualname__])
    torch = sys.modules.get("torch")
    try:
        if torch is not None and isinstance(model, torch.nn.Module):
            return digest([of_class(type(model)), content(model)])
        attributes = getattr(model, "__dict__", {})
        if isinstance(model, FunctionType | type) or not any(map(_is_array, attributes.values())):
            return None
        return digest([of_class(type(model)), content(attributes)])
    except Unidentified:
        return None


def _is_array(value: Any) -> bool:
    torch = sys.modules.get("torch")
    is_torch = torch is not None and isinstance(value, torch.Tensor | torch.nn.Module)
    return is_torch or isinstance(value, np.ndarray)


def _array(array: np.ndarray[Any, Any]) -> list[Any]:
    data, hash_ = np.ascontiguousarray(array), hashlib.blake2b(digest_size=SIZE)
    if data.size:  # an empty array has no bytes to view
        hash_.update(data.reshape(-1).view(np.uint8).data)
    return [str(array.dtype), list(array.shape), hash_.hexdigest()]


def _tensor(tensor: Any, torch: Any) -> list[Any]:
    try:
        data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    except (NotImplementedError, RuntimeError, TypeError) as error:  # such as one without data
        raise Unidentified(str(error)) from None
    return [str(tensor.dtype), list(tensor.shape), _array(data)[2]]


def _settings(module: Any) -> dict[str, Any]:
    """Return the plain attributes of a torch module, but for its mode and where it came from."""
    return {
        name: value
        for name, value in sorted(vars(module).items())
        if name not in ("training", "name_or_path")
        and (name in ADAPTERS or not name.startswith("_"))
        and (value is None or isinstance(value, str | bool | int | float))
    }


def _member(value: Any) -> Any:
    """Return what identifies a member of a class."""
    if isinstance(value, property):
        value = value.fget
    inner = getattr(value, "__func__", value)
    return _source(inner) if isinstance(inner, FunctionType) else _lenient(inner)


def _source(function: Any) -> Any:
    """Return the text of a function, or its compiled code where the text does not identify it.

    Two lambdas on a line have one text.
    """
    code = getattr(function, "__code__", None)
    compiled = _code(code) if isinstance(code, CodeType) else ""
    if getattr(function, "__name__", "") == "<lambda>":
        return compiled
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return compiled


def _code(code: CodeType) -> list[Any]:
    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return _code(value)
        # The order of a set differs between processes.
        return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)

    return [code.co_code.hex(), list(code.co_names), list(map(constant, code.co_consts))]


def _lenient(value: Any) -> Any:
    """Return the content of a value, or the name of its class where that is unknown."""
    try:
        return content(value)
    except Unidentified:
        is_named = isinstance(value, type | FunctionType | BuiltinFunctionType)
        return json_like(value) if is_named else _name(type(value))


def _name(class_: type) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"
