"""What identifies a Python object in records: a stated fingerprint, or its weights and settings.

Of the objects of a user nobody knows what else they read, so code is never looked at. An object is
identified by the text `fingerprint` that it states, or by its weights and settings if all of it
comes from torch, sentence-transformers, transformers, peft and tokenizers. Any other is
`Unidentified`: its vectors and results last for one run, under a random fingerprint. So is a model
with a hook, a replaced method or a module of the user. Devices and paths are no part of an
identity, so it is the same in every process.
"""

from __future__ import annotations

import collections
import enum
import hashlib
import json
import sys
import uuid
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from harness.digest import SIZE, digest, json_like
from harness.errors import PLUGIN_ERRORS, one_line

UNNAMED = "unnamed-"
"""Prefix of the fingerprint of an object whose vectors nothing identifies."""
KNOWN = (
    *("harness", "huggingface_hub", "mteb", "peft", "sentence_transformers"),
    *("tokenizers", "torch", "transformers", "typing_extensions"),
)
"""Packages whose objects are their weights and attributes, with code that their version names."""
NEUTRAL: Mapping[str, tuple[str, ...]] = {
    "peft": ("_caches", "base_model_name_or_path", "kwargs", "peft_version"),
    "sentence_transformers": (
        *("_chat_template_suffix_cache", "_method_signature_cache", "_prompt_length_mapping"),
        *("_device_map", "_modules_placed", "_accelerate_placement_hook", "_pair_role_probe"),
        *("_model_card_text", "_model_card_vars", "model_card_data"),
    ),
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
_BUILT_IN = ("abc", "builtins", "collections", "typing")
_CONTAINERS = (
    *(dict, list, tuple, set, frozenset, collections.OrderedDict, collections.defaultdict),
    MappingProxyType,
)


class Unidentified(Exception):
    """An object that states no fingerprint and has a part that only its user knows."""


def of_model(model: Any) -> str | None:
    """Return a digest of what determines an object's vectors; None if nothing identifies it."""
    if (stated := stated_fingerprint(model)) is not None:
        return digest(["fingerprint", stated])
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return None
    try:
        return digest(content(model))
    except Unidentified:
        return None


def stated_fingerprint(value: Any) -> str | None:
    """Return the text `fingerprint` of an object or of its `info`; None if it states none."""
    for owner in (value, getattr(value, "info", None)):
        stated = getattr(owner, "fingerprint", None)
        if isinstance(stated, str) and stated and not stated.startswith(UNNAMED):
            return stated
    return None


def of_code(value: Any) -> str:
    """Return what identifies a function or class of a user, such as a metric or a mitigator.

    That is the fingerprint that it states. Any other has a random identity: nobody knows what else
    its code reads, so what it computed is never used by another run.
    """
    stated = stated_fingerprint(value)
    return uuid.uuid4().hex if stated is None else digest(["fingerprint", stated])


def content(value: Any, *, without: Iterable[str] = ()) -> Any:
    """Return a value as JSON types, with a hash for each array.

    Parameters
    ----------
    value
        A module of torch, or plain values and arrays.
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
        raise Unidentified(f"{_name(type(value))} ({one_line(error)})") from None


def is_of_user(value: Any) -> bool:
    """Return whether a function or class is of no installed package."""
    file = getattr(sys.modules.get(str(value.__module__)), "__file__", None) or ""
    return not (_is_known(value) or "site-packages" in file)


class _Content:
    """One walk over a model; attributes of the root named in `without` are left out."""

    def __init__(self, root: Any, without: frozenset[str]) -> None:
        self._root, self._without = root, without
        self._open: set[int] = set()

    def of(self, value: Any) -> Any:
        """Return a value as JSON types."""
        if value is None or type(value) in (bool, int, float):
            return value
        if type(value) is str:  # it may have half of a surrogate pair
            return value.encode("utf-8", "backslashreplace").decode()
        if isinstance(value, enum.Enum):
            return [_name(type(value)), value.name]
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            return _library_name(value)
        if id(value) in self._open:
            return f"the {_name(type(value))} around it"
        self._open.add(id(value))
        try:
            return self._of_whole(value)
        finally:
            self._open.discard(id(value))

    def _of_whole(self, value: Any) -> Any:
        """Return the content of a value that may refer to others."""
        torch, transformers = sys.modules.get("torch"), sys.modules.get("transformers")
        tokenizers = sys.modules.get("tokenizers")
        if isinstance(value, MethodType):
            return [self.of(value.__func__), self.of(value.__self__)]
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return _array(value)
        if torch and isinstance(value, torch.Tensor):
            return _tensor(value, torch)
        if torch and isinstance(value, torch.device | torch.dtype):
            return str(value) if isinstance(value, torch.dtype) else "a device"
        if tokenizers and isinstance(value, tokenizers.Tokenizer | tokenizers.AddedToken):
            is_token = isinstance(value, tokenizers.AddedToken)
            return repr(value) if is_token else digest(json.loads(value.to_str()))
        name = _name(type(value))
        packages = {base.__module__.partition(".")[0] for base in type(value).__mro__}
        if type(value) not in _CONTAINERS and not packages <= {*KNOWN, *_BUILT_IN}:
            raise Unidentified(name)
        if isinstance(value, _CONTAINERS):
            own = self._state(value) if getattr(value, "__dict__", None) else {}
            if isinstance(value, dict | MappingProxyType):
                return [name, [[self.of(key), self.of(item)] for key, item in value.items()], own]
            items = [self.of(item) for item in value]
            is_set = isinstance(value, set | frozenset)
            return [name, sorted(items, key=repr) if is_set else items, own]
        if transformers and isinstance(value, transformers.PretrainedConfig):
            settings = _without(value.to_dict(), self._skipped(value))
            return [name, json_like([settings, value._attn_implementation])]
        if transformers and isinstance(value, transformers.PreTrainedTokenizerBase):
            return [name, *self._tokenizer(value)]
        if torch and isinstance(value, torch.nn.Module):
            return [name, *self._module(value, torch)]
        if not hasattr(value, "__dict__"):
            raise Unidentified(name)
        return [name, self._state(value)]

    def _state(self, value: Any, without: Iterable[str] = ()) -> dict[str, Any]:
        """Return the attributes of an object."""
        skipped = {*self._skipped(value), *without}
        attributes = sorted(vars(value).items())
        return {name: self.of(item) for name, item in attributes if name not in skipped}

    def _skipped(self, value: Any) -> frozenset[str]:
        """Return the names of attributes that do not count."""
        packages = {base.__module__.partition(".")[0] for base in type(value).__mro__}
        neutral = {name for package in packages for name in NEUTRAL.get(package, ())}
        return frozenset(neutral | self._without if value is self._root else neutral)

    def _tokenizer(self, tokenizer: Any) -> list[Any]:
        """Return the vocabulary, rules and settings of a tokenizer.

        Padding and truncation of its backend change with each call.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        own = [name for name, item in vars(tokenizer).items() if item is backend is not None]
        words = json_like(tokenizer.get_vocab())
        if backend is not None:
            words = {**json.loads(backend.to_str()), "truncation": None, "padding": None}
        return [digest(words), self._state(tokenizer, own)]

    def _module(self, module: Any, torch: Any) -> list[Any]:
        """Return the weights and settings of a torch module and, in order, of its parts."""
        general = torch.nn.modules.module
        hooks = (module._forward_pre_hooks, module._forward_hooks)
        if any((*hooks, general._global_forward_pre_hooks, general._global_forward_hooks)):
            raise Unidentified("a hook")
        weights = {**module._parameters, **module._buffers}
        settings = self._state(module, vars(torch.nn.Module()))
        parts = [[name, self.of(part)] for name, part in module._modules.items()]
        found = {name: self.of(weight) for name, weight in weights.items()}
        return [found, settings, module.training, parts]


def _name(class_: type) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _is_known(value: Any) -> bool:
    """Return whether a class or function is of `KNOWN` or of the standard library."""
    package = str(value.__module__).partition(".")[0]
    return package in KNOWN or package in sys.stdlib_module_names - {"__main__"}


def _library_name(value: Any) -> str:
    """Return the name of a function or class under which a known package has it."""
    found: Any = sys.modules.get(str(value.__module__)) if _is_known(value) else None
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise Unidentified(value.__qualname__)
    return f"{value.__module__}.{value.__qualname__}"


def _without(value: Any, names: frozenset[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without(item, names) for name, item in value.items() if name not in names}


def _array(array: np.ndarray[Any, Any]) -> list[Any]:
    data = np.ascontiguousarray(array).tobytes()
    return [str(array.dtype), array.shape, hashlib.blake2b(data, digest_size=SIZE).hexdigest()]


def _tensor(tensor: Any, torch: Any) -> list[Any]:
    try:
        data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        raise Unidentified(str(error)) from None  # for example a tensor without data
    return [str(tensor.dtype), list(tensor.shape), _array(data)]
