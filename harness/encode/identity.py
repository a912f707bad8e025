"""What identifies a Python object in records: hashes of its weights, arrays, state and code.

A name is not enough: two objects of one class, or two versions of one function, may give different
numbers. So the hash covers all state that can be reached from the object, at any depth: parameters,
buffers, lists, dictionaries, objects, hooks and replaced methods. A part that cannot be hashed (a
socket, a generator, a session of an extension) leaves the object unidentified: its vectors are
never used again. Nothing here runs the object. Addresses in memory, paths and devices are never
part of an identity, so it is the same in every process. `code_identity` hashes the code.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import inspect
import json
import logging
import re
import sys
import textwrap
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from harness.digest import SIZE, digest, json_like
from harness.errors import PLUGIN_ERRORS, one_line

# The identity of code: the text of functions and classes, and the globals that they use.
#
# Code of the standard library and of installed packages is identified by its name, as it is in the
# fingerprint of a file.


LIBRARIES = (
    *("abc", "builtins", "harness", "sentence_transformers", "sklearn", "torch", "transformers"),
    *("numpy", "typing"),
)
"""Packages whose classes are identified by their name, even as the class of an object."""
REMOTE = (
    *("aiohttp", "boto3", "grpc", "http", "httpx", "openai", "requests", "socket", "subprocess"),
    *("urllib", "urllib3", "websockets"),
)
"""Packages through which code calls another program, whose state is unknown."""


class Unidentified(Exception):
    """A value that cannot be hashed."""


class Code:
    """Identifies code, each function and class once.

    Parameters
    ----------
    content
        Converts a value that the code uses to JSON types.
    strict
        Whether to refuse code that calls another program.
    """

    def __init__(self, content: Callable[[Any], Any], *, strict: bool = False) -> None:
        self._content, self._strict = content, strict
        self._seen: set[Any] = set()

    def of_function(self, function: Any) -> Any:
        """Return the code of a function, with its closure and the globals that it uses.

        A callable object has the code of its class.
        """
        function = getattr(function, "__func__", function)
        wrappers = []
        while hasattr(function, "__wrapped__"):
            if isinstance(function, FunctionType) and is_of_user(function, wrapper=True):
                wrappers.append([compiled(function.__code__), *self._used(function)])
            function = function.__wrapped__
        if not isinstance(function, FunctionType):
            name = getattr(function, "__qualname__", None)
            return name or self.of_class(type(function))
        if function in self._seen:
            return function.__qualname__
        self._seen.add(function)
        return [function.__qualname__, _source(function), *self._used(function), *wrappers]

    def _used(self, function: FunctionType) -> list[Any]:
        """Return the closure and the defaults of a function, and the globals that it uses."""
        inner = getattr(function, "__wrapped__", None)
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        enclosed = [value for value in cells if inner is None or value is not inner]
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        names = sorted(set(_names(function.__code__)))
        used = {
            name: self._used_value(function.__globals__[name], names)
            for name in names
            if name in function.__globals__
        }
        state = {name: item for name, item in vars(function).items() if name != "__wrapped__"}
        own = {name: self.of_value(item) for name, item in sorted(state.items())}
        return [
            [self.of_value(value) for value in (*enclosed, *defaults)],
            used,
            *([own] if own else []),
        ]

    def _used_value(self, value: Any, names: list[str]) -> Any:
        """Return the identity of a value that code uses; of a user's module, that of `names`."""
        if not isinstance(value, ModuleType) or not is_of_user(value) or value in self._seen:
            return self.of_value(value)
        self._seen.add(value)
        members = {
            name: self._used_value(vars(value)[name], names)
            for name in names
            if name in vars(value)
        }
        return [value.__name__, members]

    def of_class(self, class_: type) -> Any:
        """Return the code of a class, and of the classes that it inherits."""
        if class_ in self._seen:
            return name_of_class(class_)
        self._seen.add(class_)
        parts: list[Any] = []
        for base in class_.__mro__:
            parts.append(name_of_class(base))
            if base.__module__.partition(".")[0] not in LIBRARIES:
                parts += [
                    [name, self._member(member)]
                    for name, member in sorted(vars(base).items())
                    if isinstance(member, FunctionType) or not _is_of_python(name)
                ]
        return parts

    def _member(self, value: Any) -> Any:
        """Return the identity of a member of a class: its code, or its value."""
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, functools.cached_property):
            value = value.func
        return self.of_value(getattr(value, "__func__", value), own=True)

    def of_value(self, value: Any, *, own: bool = False) -> Any:
        """Return the identity of a value that code uses; `own` code is always read."""
        if self._strict and package_of(value) in REMOTE:
            raise Unidentified(f"{package_of(value)}, which asks another program")
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, functools._lru_cache_wrapper):
            value = value.__wrapped__
        if isinstance(value, functools.partial):
            keywords = {name: self.of_value(item) for name, item in value.keywords.items()}
            return [self.of_value(value.func), list(map(self.of_value, value.args)), keywords]
        if isinstance(value, FunctionType | type) and not own and not is_of_user(value):
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, type):
            return self.of_class(value)
        if isinstance(value, FunctionType):
            return self.of_function(value)
        if isinstance(value, BuiltinFunctionType):
            owner = value.__self__
            is_free = owner is None or isinstance(owner, ModuleType | type)
            return value.__qualname__ if is_free else self._content(value)
        if isinstance(value, logging.Logger) or inspect.isdatadescriptor(value):
            return name_of_class(type(value))
        return self._content(value)


def name_of_class(class_: type) -> str:
    """Return the module and qualified name of a class."""
    return f"{class_.__module__}.{class_.__qualname__}"


def package_of(value: Any) -> str:
    """Return the top package of a module, class or function; empty for other values."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0]
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return str(value.__module__).partition(".")[0]
    return ""


def is_of_user(value: Any, *, wrapper: bool = False) -> bool:
    """Return whether a module, function or class is not from an installed package.

    A wrapper has the module name of the wrapped function. It is the user's if either function is;
    with `wrapper`, only if its own code is.
    """
    if isinstance(value, FunctionType):
        own = str(value.__globals__.get("__name__", value.__module__))
        return _is_users_module(own) or (not wrapper and _is_users_module(str(value.__module__)))
    return _is_users_module(
        value.__name__ if isinstance(value, ModuleType) else str(value.__module__)
    )


def patches(class_: type) -> dict[str, FunctionType]:
    """Return the functions of the user that replace those of a library's class."""
    return {
        f"{base.__qualname__}.{name}": member
        for base in class_.__mro__
        if not is_of_user(base)
        for name, member in vars(base).items()
        if isinstance(member, FunctionType)
        and member.__globals__.get("__name__") in sys.modules
        and is_of_user(member, wrapper=True)
    }


def _is_users_module(name: str) -> bool:
    package = name.partition(".")[0]
    if package in LIBRARIES or package in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return not ("site-packages" in file or (file and _is_installed(package)))


@functools.cache
def _is_installed(package: str) -> bool:
    """Return whether a package is in a folder that an installer wrote."""
    top = getattr(sys.modules.get(package), "__path__", None) or [
        getattr(sys.modules.get(package), "__file__", None) or ""
    ]
    return any(next(Path(path).parent.glob("*.dist-info"), None) is not None for path in top)


def _is_of_python(name: str) -> bool:
    """Return whether Python or its module abc sets this attribute of a class."""
    return name == "_abc_impl" or (name.startswith("__") and name.endswith("__"))


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return False
    return True


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code looks up, also in the functions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(function: FunctionType) -> Any:
    """Return the text of a function, or its compiled code where the text does not identify it.

    Two lambdas on a line have one text.
    """
    if function.__name__ == "<lambda>":
        return compiled(function.__code__)
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return compiled(function.__code__)


def compiled(code: CodeType) -> list[Any]:
    """Return the instructions, names and constants of compiled code."""

    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return compiled(value)
        # The order of a set differs between processes.
        return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)

    return [code.co_code.hex(), list(code.co_names), list(map(constant, code.co_consts))]


UNNAMED = "unnamed-"
"""Prefix of the fingerprint of an object whose vectors nothing identifies."""
NEUTRAL: Mapping[str, tuple[str, ...]] = {
    "gensim": ("lifecycle_events", "mapfile_path", "norms", "random"),
    "model2vec": ("base_model_name", "language"),
    "mteb": ("mteb_model_meta",),
    "peft": ("_caches", "base_model_name_or_path", "kwargs", "peft_version"),
    "sentence_transformers": (
        *("_chat_template_suffix_cache", "_method_signature_cache", "_prompt_length_mapping"),
        *("_device_map", "_modules_placed", "_accelerate_placement_hook", "_pair_role_probe"),
        *("_model_card_text", "_model_card_vars", "model_card_data"),
    ),
    "sklearn": ("_stop_words_id", "memory", "n_jobs", "random_state", "verbose"),
    # An LSTM has weak references to its weights.
    "torch": ("_compiled_call_impl", "_flat_weight_refs", "_is_hf_initialized", "hf_device_map"),
    "transformers": (
        *("_commit_hash", "_name_or_path", "dtype", "name_or_path", "torch_dtype"),
        *("_in_target_context_manager", "_processor_class", "_should_update_post_processor"),
        *("deprecation_warnings", "files_loaded", "init_inputs", "init_kwargs", "verbose"),
        *("transformers_version", "warnings_issued"),
    ),
}
"""Attributes of a package's objects that do not change vectors: where, when and how an object was
loaded, its caches, and settings of training."""
STATEFUL = (*LIBRARIES, *NEUTRAL, "collections", "pandas", "scipy", "tokenizers")
"""Packages whose objects have no state besides their attributes."""
EXTENSIONS = ("scipy", "sklearn", "tokenizers")
"""Packages whose C objects reveal their whole state when they are copied."""
_PLAIN = (
    *(bytes, bytearray, complex, range, slice, array.array, re.Pattern, type(...)),
    *(type(NotImplemented), datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
    *(decimal.Decimal, fractions.Fraction),
)
"""Types whose text contains their whole state."""
_WITHOUT_STATE = (logging.Logger, type(threading.Lock()), type(threading.RLock()))
"""Types whose state changes no vector."""
_CONTAINERS = (
    *(dict, list, tuple, set, frozenset, collections.deque),
    *(collections.OrderedDict, collections.defaultdict, collections.Counter),
)
_METHODS = (
    *(MethodType, BuiltinFunctionType, types.MethodWrapperType, np.ufunc),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType),
)
_BUILTINS = (object, *_CONTAINERS, types.SimpleNamespace)


def of_model(model: Any) -> str | None:
    """Return a digest of what determines an object's vectors; None if it cannot be found.

    The first of these that exists: its `fingerprint`, a text; its content (the weights of a torch
    module, or arrays and all other state, with the code of its class); its `revision`. A function
    may call anything, so its code does not identify it.
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
    return digest([name, Code(_lenient).of_function(function)])


def of_class(class_: type) -> str:
    """Return a digest of a class's qualified name and code, with the classes that it inherits."""
    return digest(Code(_lenient).of_class(class_))


def content(value: Any, *, without: Iterable[str] = ()) -> Any:
    """Return a value as JSON types, with a hash for each array.

    Parameters
    ----------
    value
        The value.
    without
        Names of attributes of the value itself that are left out.

    Raises
    ------
    Unidentified
        If it, or a part of it, is an object whose content is unknown.
    """
    try:
        return _Content(value, frozenset(without)).of(value)
    except Unidentified:
        raise
    except PLUGIN_ERRORS as error:  # an unreadable attribute, or too deep nesting
        raise Unidentified(f"{name_of_class(type(value))} ({one_line(error)})") from None


def _of_content(model: Any) -> str | None:
    """Return a digest of an object's arrays, weights and state; None if it has no array."""
    if isinstance(model, MethodType):
        owner, function = model.__self__, model.__func__
        inner = _of_content(owner)
        if inner is None:
            return None
        is_own = getattr(type(owner), function.__name__, None) is function
        return digest([inner, function.__qualname__ if is_own else of_function(function)])
    if isinstance(model, FunctionType | BuiltinFunctionType | functools.partial | type):
        return None
    walk = _Content(model)
    try:
        code = walk.code.of_class(type(model))
        found = walk.of_state(model)
    except PLUGIN_ERRORS:  # Unidentified, or an attribute that cannot be read
        return None
    # A vectoriser of scikit-learn may have no state besides its options, and lists them all.
    is_whole = package_of(type(model)) == "sklearn" and not walk.has_functions
    return digest([code, found]) if walk.has_arrays or is_whole else None


class _Content:
    """One walk over an object and everything that it refers to.

    Parameters
    ----------
    root
        The object.
    without
        Names of its attributes that are left out.
    """

    def __init__(self, root: Any, without: frozenset[str] = frozenset()) -> None:
        self._root, self._without = root, without
        self._open: set[int] = set()
        self._known: dict[int, tuple[Any, Any]] = {}  # with the object, so that its id stays taken
        self._patches: dict[type, Any] = {}
        self._classes: dict[type, Any] = {}
        self.code = Code(self.of, strict=True)
        self.has_arrays = self.has_functions = False

    def of(self, value: Any) -> Any:
        """Return a value as JSON types."""
        if isinstance(value, enum.Enum):
            return [name_of_class(type(value)), value.name]
        if isinstance(value, str):
            return _of_text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, _WITHOUT_STATE):
            return name_of_class(type(value))
        if isinstance(value, _PLAIN):
            return [name_of_class(type(value)), repr(value)]
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.device):
            return "torch.device"  # the device does not matter
        if torch is not None and isinstance(
            value, torch.dtype | torch.layout | torch.memory_format
        ):
            return str(value)
        if isinstance(value, type | ModuleType):
            return self.code.of_value(value)
        # The types below may refer to other values, which may refer back to them.
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._open:
            return f"the {name_of_class(type(value))} around it"
        self._open.add(id(value))
        try:
            found = self._of_whole(value)
        finally:
            self._open.discard(id(value))
        if type(value) not in _CONTAINERS:
            is_short = isinstance(found, str) or _is_array(value)
            self._known[id(value)] = value, found if is_short else digest(found)
        return found

    def of_state(self, value: Any) -> Any:
        """Return the state of an object, without its class."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.nn.Module):
            return self.of(value)
        self._open.add(id(value))
        if isinstance(value, _CONTAINERS):
            return [self._state(value), self._items(value)]
        return self._state(value)

    def _of_whole(self, value: Any) -> Any:
        """Return the content of a value that may refer to others."""
        if type(value) in _CONTAINERS or type(value) is types.MappingProxyType:
            return self._items(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._items(value)
        if isinstance(value, np.ndarray | np.generic | np.dtype):
            return self._numpy(value)
        if isinstance(value, FunctionType | functools.partial | functools._lru_cache_wrapper):
            return self._function(value)
        if isinstance(value, _METHODS):
            return self._method(value)
        return self._of_library(value) or self._object(value)

    def _of_library(self, value: Any) -> Any:
        """Return the content of an object that torch or transformers knows; None for others."""
        torch, transformers = sys.modules.get("torch"), sys.modules.get("transformers")
        tokenizers = sys.modules.get("tokenizers")
        if torch is not None and isinstance(value, torch.Tensor):
            self.has_arrays = True
            return _tensor(value, torch)
        if torch is not None and isinstance(value, torch.nn.Module):
            return self._module(value, torch)
        pandas = sys.modules.get("pandas")
        if pandas is not None and isinstance(value, pandas.DataFrame | pandas.Series):
            axes = [axis.tolist() for axis in value.axes]
            return [name_of_class(type(value)), self.of(axes), self.of(value.to_numpy())]
        if tokenizers is not None and isinstance(value, tokenizers.Tokenizer):
            return digest(json.loads(value.to_str()))
        if tokenizers is not None and isinstance(value, tokenizers.AddedToken):
            return [name_of_class(type(value)), repr(value)]
        if transformers is None:
            return None
        if isinstance(value, transformers.PretrainedConfig):
            return self._config(value)
        if isinstance(value, transformers.PreTrainedTokenizerBase):
            return self._tokenizer(value)
        return None

    def _object(self, value: Any) -> Any:
        """Return the class of an object and its state."""
        class_ = type(value)
        if class_ is object:
            raise Unidentified("object")
        stated = getattr(value, "fingerprint", None) or getattr(
            getattr(value, "info", None), "fingerprint", None
        )
        if isinstance(stated, str) and stated and not stated.startswith(UNNAMED):
            return [name_of_class(class_), {"fingerprint": stated}]
        name = self.code.of_class(class_) if is_of_user(class_) else name_of_class(class_)
        if package_of(class_) in EXTENSIONS and _has_hidden_state(class_):
            return [name, list(map(self.of, value.__reduce_ex__(2)))]
        state = self._state(value)
        return [name, state, *([self._items(value)] if isinstance(value, _CONTAINERS) else [])]

    def _state(self, value: Any) -> dict[str, Any]:
        """Return the attributes of an object, if they are its whole state."""
        class_ = type(value)
        if _has_hidden_state(class_):
            raise Unidentified(name_of_class(class_))
        # The code of the root is hashed, even if a library has it. Parts contribute only their
        # name.
        for base in class_.__mro__ if value is not self._root else ():
            is_known = is_of_user(base) or package_of(base) in STATEFUL or base in _BUILTINS
            if not is_known and not dataclasses.is_dataclass(base):
                raise Unidentified(name_of_class(class_))
        names = sorted(set(getattr(value, "__dict__", {})) | set(_slots(class_)))
        found = {name: getattr(value, name) for name in _slots(class_) if hasattr(value, name)}
        found |= getattr(value, "__dict__", {})
        skipped = self._skipped(value)
        return {name: self.of(found[name]) for name in names if name in found.keys() - skipped}

    def _skipped(self, value: Any) -> frozenset[str]:
        """Return the names of attributes that do not count."""
        packages = {package_of(base) for base in type(value).__mro__}
        neutral = {name for package in packages for name in NEUTRAL.get(package, ())}
        return frozenset(neutral | self._without if value is self._root else neutral)

    def _items(self, value: Any) -> Any:
        """Return the content of a mapping, sequence or set."""
        if isinstance(value, Mapping):
            if all(isinstance(key, str) for key in value):
                found: Any = {_of_text(key): self.of(value[key]) for key in sorted(value)}
            else:
                pairs = [(self.of(key), item) for key, item in value.items()]
                pairs.sort(key=lambda pair: repr(pair[0]))
                found = [[key, self.of(item)] for key, item in pairs]
            if isinstance(value, collections.OrderedDict) and len(value) > 1:
                return [found, list(map(self.of, value))]  # its order matters
            if isinstance(value, collections.defaultdict):
                return [found, self.of(value.default_factory)]
            return found
        found = [self.of(item) for item in value]
        return sorted(found, key=repr) if isinstance(value, set | frozenset) else found

    def _numpy(self, value: Any) -> Any:
        if isinstance(value, np.dtype):
            return str(value)
        self.has_arrays = self.has_arrays or isinstance(value, np.ndarray)
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.hasobject:
            parts = [str(value.dtype), list(value.shape), self.of(value.tolist())]
        else:
            parts = _array(np.asarray(value))
        if isinstance(value, np.ma.MaskedArray):
            return [name_of_class(type(value)), parts, _array(np.ma.getmaskarray(value))]
        if not isinstance(value, np.ndarray) or type(value) in (np.ndarray, np.memmap):
            return parts
        return [name_of_class(type(value)), parts, self.of(dict(getattr(value, "__dict__", {})))]

    def _function(self, value: Any) -> Any:
        """Return the code of a function; for a library's function its name and its closure."""
        self.has_functions = True
        found = self.code.of_value(value)
        if not isinstance(value, FunctionType) or is_of_user(value):
            return found
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        own = [compiled(value.__code__)] if value.__name__ == "<lambda>" else []
        return [found, *own, list(map(self.of, cells))] if cells or own else found

    def _method(self, value: Any) -> Any:
        """Return the name or code of a method, with the object that it belongs to."""
        owner = getattr(value, "__self__", None)
        name = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', '')}"
        if isinstance(value, MethodType):
            return [self.of(value.__func__), self.of(owner)]
        if owner is None or isinstance(owner, ModuleType | type):
            return name
        return [name, self.of(owner)]

    def _config(self, config: Any) -> Any:
        """Return the settings of a transformers configuration, also those that are never saved."""
        skipped = self._skipped(config)

        def stable(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            return {name: stable(item) for name, item in value.items() if name not in skipped}

        attention = getattr(config, "_attn_implementation", None)
        return [json_like(stable(config.to_dict())), json_like(attention)]

    def _tokenizer(self, tokenizer: Any) -> Any:
        """Return the vocabulary, rules and settings of a tokenizer.

        Padding and truncation of its backend change with each call.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        skipped = self._skipped(tokenizer)
        settings = {
            name: self.of(item)
            for name, item in sorted(vars(tokenizer).items())
            if item is not backend and name not in skipped
        }
        if backend is None:
            words: Any = [name_of_class(type(tokenizer)), json_like(tokenizer.get_vocab())]
        else:
            words = {**json.loads(backend.to_str()), "truncation": None, "padding": None}
        return [digest(words), settings]

    def _module(self, module: Any, torch: Any) -> dict[str, Any]:
        """Return the weights of a torch module, and all else that changes what its parts return."""
        weights: dict[str, Any] = {}
        parts: dict[str, Any] = {}
        known: dict[int, Any] = {}
        for name, part in module.named_modules(remove_duplicate=False):
            for key, weight in (*part._parameters.items(), *part._buffers.items()):
                if weight is not None and key not in part._non_persistent_buffers_set:
                    weights[f"{name}.{key}" if name else key] = self.of(weight)
            if id(part) not in known:
                known[id(part)] = self._part(part, torch)
            parts[name] = known[id(part)]
        found: dict[str, Any] = {"parts": parts, "weights": weights}
        general = torch.nn.modules.module
        hooks = (general._global_forward_pre_hooks, general._global_forward_hooks)
        if any(hooks):
            found["hooks"] = [self.of(list(functions.values())) for functions in hooks]
        return found

    def _part(self, part: Any, torch: Any) -> list[Any]:
        """Return the identity of a torch module without its weights and its submodules."""
        skipped = self._skipped(part) | _attributes_of_torch()
        state = {
            name: self.of(item) for name, item in sorted(vars(part).items()) if name not in skipped
        }
        buffers = {name: self.of(part._buffers[name]) for name in part._non_persistent_buffers_set}
        further = self._further(part, torch)
        if is_of_user(type(part)):
            public = {name: item for name, item in state.items() if not name.startswith("_")}
            private = {name: item for name, item in state.items() if name.startswith("_")}
            if type(part) not in self._classes:
                self._classes[type(part)] = Code(self.of, strict=True).of_class(type(part))
            code = self._classes[type(part)]
            return [code, public, private, buffers, *([further] if further else [])]
        further |= {"buffers": buffers} if buffers else {}
        return [name_of_class(type(part)), state, *([further] if further else [])]

    def _further(self, part: Any, torch: Any) -> dict[str, Any]:
        """Return the hooks, patches, order and mode of a torch module, as far as it has them."""
        further: dict[str, Any] = {}
        for name in ("_forward_pre_hooks", "_forward_hooks"):
            if hooks := getattr(part, name):
                further[name] = [
                    [self.of(hook), key in getattr(part, f"{name}_with_kwargs")]
                    for key, hook in hooks.items()
                ]
        if type(part) not in self._patches:
            changed = patches(type(part))
            self._patches[type(part)] = {name: self.of(item) for name, item in changed.items()}
        if self._patches[type(part)]:
            further["patches"] = self._patches[type(part)]
        if isinstance(part, torch.nn.Sequential | torch.nn.ModuleDict | torch.nn.ParameterDict):
            order = list(part._modules) or list(part._parameters)
            if not all(name.isdigit() for name in order) and order != sorted(order):
                further["order"] = order
        if type(part).get_extra_state is not torch.nn.Module.get_extra_state:
            further["extra"] = self.of(part.get_extra_state())
        if part.training and _differs_in_training(part, torch):
            further["training"] = True
        return further


def _of_text(text: str) -> Any:
    """Return a text; as Python's own bytes if it has half of a surrogate pair."""
    return (
        str.__str__(text) if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    )


@functools.cache
def _attributes_of_torch() -> frozenset[str]:
    """Return the attributes of each torch module."""
    return frozenset(vars(sys.modules["torch"].nn.Module()))


def _differs_in_training(part: Any, torch: Any) -> bool:
    """Return whether the mode of a torch module changes what it returns."""
    if isinstance(part, torch.nn.modules.batchnorm._NormBase | torch.nn.RReLU):
        return True
    rates = [getattr(part, name, 0) for name in ("p", "dropout")]
    return any(isinstance(rate, float) and rate > 0 for rate in rates)


def _has_hidden_state(class_: type) -> bool:
    """Return whether an object of a class has hidden state: fields of a C extension.

    Its size is then more than its base, its attributes and its slots need.
    """
    for base in class_.__mro__:
        if base in _BUILTINS or base.__base__ is None:
            continue
        size = base.__basicsize__ - base.__base__.__basicsize__
        for offset in ("__dictoffset__", "__weakrefoffset__"):
            size -= 8 if getattr(base, offset) and not getattr(base.__base__, offset) else 0
        if size - 8 * len(_own_slots(base)) > 0 or base.__itemsize__:
            return not issubclass(class_, tuple)
    return False


def _own_slots(class_: type) -> list[str]:
    """Return the names of the slots that a class adds, if it is written in Python."""
    members = vars(class_).items() if "__slots__" in vars(class_) else ()
    return [name for name, member in members if isinstance(member, types.MemberDescriptorType)]


def _slots(class_: type) -> list[str]:
    """Return the names of the slots of a class and of those that it inherits."""
    return [name for base in class_.__mro__ for name in _own_slots(base)]


def _is_array(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def _array(array: np.ndarray[Any, Any]) -> list[Any]:
    data, hash_ = np.ascontiguousarray(array), hashlib.blake2b(digest_size=SIZE)
    if data.size:  # an empty array has no bytes to view
        hash_.update(data.reshape(-1).view(np.uint8).data)
    return [str(array.dtype), list(array.shape), hash_.hexdigest()]


def _tensor(tensor: Any, torch: Any) -> list[Any]:
    try:
        data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        raise Unidentified(str(error)) from None  # for example a tensor without data
    return [str(tensor.dtype), list(tensor.shape), _array(data)[2]]


def _lenient(value: Any) -> Any:
    """Return the content of a value, or the name of its class where that is unknown."""
    try:
        return content(value)
    except Unidentified:
        return name_of_class(type(value))
