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
    *("harness", "huggingface_hub", "mteb", "numpy", "peft", "sentence_transformers"),
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
_CONTAINERS = (
    *(dict, list, tuple, set, frozenset, collections.OrderedDict, collections.defaultdict),
    MappingProxyType,
)
_HEAP = 1 << 9  # Python's flag of a class that is no fixed part of an extension
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


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
    module = str(value.__module__)
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not (_is_known(module) or "site-packages" in file)


class _Content:
    """One walk over a model; attributes of the root named in `without` are left out."""

    def __init__(self, root: Any, without: frozenset[str]) -> None:
        self._root, self._without = root, without
        self._open: set[int] = set()

    def of(self, value: Any) -> Any:
        """Return a value as JSON types."""
        if isinstance(value, enum.Enum):
            return [_name(type(value)), value.name]
        if type(value) is str:  # it may have half of a surrogate pair
            return value.encode("utf-8", "backslashreplace").decode()
        if value is None or type(value) in (bool, int, float):
            return value
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            name = _library_name(value)
            if name is None:
                raise Unidentified(getattr(value, "__qualname__", "a function"))
            return name
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
        if isinstance(value, _CONTAINERS):
            return self._items(value)
        if isinstance(value, MethodType):
            return [self.of(value.__func__), self.of(value.__self__)]
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return _array(value)
        if torch is not None and isinstance(value, torch.Tensor):
            return _tensor(value, torch)
        if torch is not None and isinstance(value, torch.device):
            return "torch.device"  # the device does not matter
        if torch is not None and isinstance(value, torch.dtype):
            return str(value)
        if tokenizers is not None and isinstance(value, tokenizers.Tokenizer):
            return digest(json.loads(value.to_str()))
        if tokenizers is not None and isinstance(value, tokenizers.AddedToken):
            return [_name(type(value)), repr(value)]
        _check_class(type(value))
        if transformers is not None and isinstance(value, transformers.PretrainedConfig):
            skipped = self._skipped(value)
            settings = [_without(value.to_dict(), skipped), value._attn_implementation]
            return [_name(type(value)), json_like(settings)]
        if transformers is not None and isinstance(value, transformers.PreTrainedTokenizerBase):
            return self._tokenizer(value)
        if torch is not None and isinstance(value, torch.nn.Module):
            return self._module(value, torch)
        if not hasattr(value, "__dict__"):
            raise Unidentified(_name(type(value)))
        return [_name(type(value)), self._state(value)]

    def _items(self, value: Any) -> Any:
        """Return the content of a mapping, sequence or set, and its attributes if it has any."""
        if type(value) not in _CONTAINERS:
            _check_class(type(value))
        if isinstance(value, dict | MappingProxyType):
            found: Any = [[self.of(key), self.of(item)] for key, item in value.items()]
            if isinstance(value, collections.defaultdict):
                found.append(self.of(value.default_factory))
        else:
            found = [self.of(item) for item in value]
            found = sorted(found, key=repr) if isinstance(value, set | frozenset) else found
        own = self._state(value) if getattr(value, "__dict__", None) else {}
        return [_name(type(value)), found, *([own] if own else [])]

    def _state(self, value: Any, without: Iterable[str] = ()) -> dict[str, Any]:
        """Return the attributes of an object."""
        skipped = self._skipped(value) | frozenset(without)
        return {name: self.of(item) for name, item in sorted(vars(value).items())
                if name not in skipped}  # fmt: skip

    def _skipped(self, value: Any) -> frozenset[str]:
        """Return the names of attributes that do not count."""
        packages = {base.__module__.partition(".")[0] for base in type(value).__mro__}
        neutral = {name for package in packages for name in NEUTRAL.get(package, ())}
        return frozenset(neutral | self._without if value is self._root else neutral)

    def _tokenizer(self, tokenizer: Any) -> Any:
        """Return the vocabulary, rules and settings of a tokenizer.

        Padding and truncation of its backend change with each call.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        own = [name for name, item in vars(tokenizer).items() if item is backend is not None]
        words = json_like(tokenizer.get_vocab())
        if backend is not None:
            words = {**json.loads(backend.to_str()), "truncation": None, "padding": None}
        return [_name(type(tokenizer)), digest(words), self._state(tokenizer, own)]

    def _module(self, module: Any, torch: Any) -> Any:
        """Return the weights and settings of a torch module and, in order, of its parts."""
        general = torch.nn.modules.module
        hooks = [getattr(module, name) for name in _HOOKS]
        hooks += [general._global_forward_pre_hooks, general._global_forward_hooks]
        if any(hooks):
            raise Unidentified(f"a hook of {_name(type(module))}")
        weights = {**module._parameters, **module._buffers}
        parts = [[name, self.of(part)] for name, part in module._modules.items()]
        found = [
            _name(type(module)),
            {name: self.of(weight) for name, weight in weights.items()},
            self._state(module, vars(torch.nn.Module())),
            parts,
        ]
        if type(module).get_extra_state is not torch.nn.Module.get_extra_state:
            found.append(self.of(module.get_extra_state()))
        return [*found, "training"] if module.training and _differs(module, torch) else found


def _name(class_: type) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _is_known(module: str) -> bool:
    package = module.partition(".")[0]
    return package in KNOWN or package in sys.stdlib_module_names - {"__main__"}


def _library_name(value: Any) -> str | None:
    """Return the name of a function or class under which one of `KNOWN` has it; else None."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not isinstance(module, str) or not _is_known(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None


def _check_class(class_: type) -> None:
    """Raise Unidentified unless all code of a class is of `KNOWN`, and none of an extension."""
    for base in class_.__mro__:
        is_plain = base is object or base in _CONTAINERS or base.__module__ in ("abc", "typing")
        is_known = base.__module__.partition(".")[0] in KNOWN and base.__flags__ & _HEAP
        # A user may have replaced a method.
        functions = [member for member in vars(base).values() if isinstance(member, FunctionType)]
        modules = [str(function.__globals__.get("__name__", "abc")) for function in functions]
        if not (is_plain or is_known) or not all(map(_is_known, modules)):
            raise Unidentified(_name(class_))


def _without(value: Any, names: frozenset[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without(item, names) for name, item in value.items() if name not in names}


def _differs(part: Any, torch: Any) -> bool:
    """Return whether the mode of a torch module changes what it returns."""
    if isinstance(part, torch.nn.modules.batchnorm._NormBase | torch.nn.RReLU):
        return True
    rates = [getattr(part, name, 0) for name in ("p", "dropout")]
    return any(isinstance(rate, float) and rate > 0 for rate in rates)


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
