"""What identifies a Python object in records: hashes of its weights, arrays and code.

A name is not enough: two objects of one class, or two versions of one function, may give other
numbers. Nothing here runs the object. Addresses in memory are never part of an identity, so it is
the same in every process. `code_identity` hashes the code.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from harness.digest import SIZE, digest, json_like
from harness.encode.code_identity import Code, Unidentified, is_of_user, name_of_class

ADAPTERS = ("_active_adapter", "_disable_adapters")
"""Private attributes of modules of the package peft that change what they return."""
UNSTABLE = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
"""Keys of a transformers configuration that say where or how it was loaded."""


def of_model(model: Any) -> str | None:
    """Return a digest of what determines an object's vectors; None if it cannot be found.

    That is its `fingerprint`, a text, if it has one. Else it is its content: the weights of a
    torch module, or arrays and plain values; with the code of its class. Else it is its
    `revision`. A function may call anything, so its code does not identify it.
    """
    stated = getattr(model, "fingerprint", None)
    if isinstance(stated, str) and stated:
        return digest(["fingerprint", stated])
    content = _of_content(model)
    revision = getattr(model, "revision", None)
    if content is None and isinstance(revision, str) and revision:
        return digest(["revision", revision])
    return content


def of_function(function: Callable[..., Any]) -> str:
    """Return a digest of a function's qualified name and code, with the values that it uses."""
    inner = inspect.unwrap(function)
    if isinstance(inner, functools.partial):
        return digest([of_function(inner.func), json_like(inner.args), json_like(inner.keywords)])
    name = f"{getattr(inner, '__module__', '')}.{getattr(inner, '__qualname__', repr(type(inner)))}"
    return digest([name, Code(_lenient).of_function(inner)])


def of_class(class_: type) -> str:
    """Return a digest of a class's qualified name and code, with the classes that it inherits."""
    return digest(Code(_lenient).of_class(class_))


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
    if isinstance(value, set | frozenset):
        return sorted((content(item) for item in value), key=repr)
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return _array(np.asarray(value))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor(value, torch)
    if torch is not None and isinstance(value, torch.nn.Module):
        weights = {name: _tensor(weight, torch) for name, weight in value.state_dict().items()}
        parts = {name: _part(part) for name, part in value.named_modules()}
        return {"parts": parts, "weights": weights}
    if (tokenizer := _tokenizer(value)) is not None:
        return tokenizer
    transformers = sys.modules.get("transformers")
    if transformers is not None and isinstance(value, transformers.PretrainedConfig):
        stated = value.to_dict().items()
        return json_like({key: item for key, item in stated if key not in UNSTABLE})
    raise Unidentified(name_of_class(type(value)))


def _of_content(model: Any) -> str | None:
    """Return a digest of an object's arrays and weights; None if it has none, or others too."""
    if isinstance(model, MethodType):
        inner = _of_content(model.__self__)
        return None if inner is None else digest([inner, model.__func__.__qualname__])
    torch = sys.modules.get("torch")
    attributes = getattr(model, "__dict__", {})
    is_module = torch is not None and isinstance(model, torch.nn.Module)
    if isinstance(model, FunctionType | type):
        return None
    if not is_module and not any(map(_is_array, attributes.values())):
        return None
    try:
        code = Code(content).of_class(type(model))
        return digest([code, content(model if is_module else attributes)])
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


def _part(module: Any) -> Any:
    """Return what identifies a torch module besides its weights and its own modules.

    Of a library's module these are its plain attributes, such as the stride of a convolution, but
    for its mode and where it came from. Of a user's module all attributes count, and its code.
    """
    if is_of_user(type(module)):
        return [Code(content).of_class(type(module)), *_attributes(module)]
    settings = {
        name: json_like(value)
        for name, value in sorted(vars(module).items())
        if name not in ("training", "name_or_path")
        and (name in ADAPTERS or not name.startswith("_"))
        and _is_plain(value)
    }
    return [name_of_class(type(module)), settings]


def _attributes(module: Any) -> list[Any]:
    """Return the attributes of a user's torch module, with the buffers that are no weights."""
    of_torch = vars(sys.modules["torch"].nn.Module())
    own = {key: item for key, item in vars(module).items() if key not in of_torch}
    buffers = {key: module._buffers[key] for key in sorted(module._non_persistent_buffers_set)}
    private = {key: _lenient(item) for key, item in own.items() if key.startswith("_")}
    public = {key: item for key, item in own.items() if not key.startswith("_")}
    return [content(public), private, content(buffers)]


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number, text, function or class, or a tuple of these."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    plain = (str, bool, int, float, type, FunctionType, BuiltinFunctionType)
    return value is None or isinstance(value, plain)


def _tokenizer(value: Any) -> Any:
    """Return what identifies a tokenizer; None for another object.

    Padding and truncation change with each call.
    """
    tokenizers = sys.modules.get("tokenizers")
    backend = getattr(value, "backend_tokenizer", value)
    if tokenizers is not None and isinstance(backend, tokenizers.Tokenizer):
        return digest({**json.loads(backend.to_str()), "truncation": None, "padding": None})
    if callable(getattr(value, "get_vocab", None)) and not hasattr(value, "backend_tokenizer"):
        return digest([name_of_class(type(value)), json_like(value.get_vocab())])
    return None


def _lenient(value: Any) -> Any:
    """Return the content of a value, or the name of its class where that is unknown."""
    try:
        return content(value)
    except Unidentified:
        return name_of_class(type(value))
