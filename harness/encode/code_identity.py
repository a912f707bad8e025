"""What identifies code: the text of functions and classes, and what they use of their module.

Code of the standard library and of installed packages is identified by its name, as it is in the
fingerprint of a file.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

LIBRARIES = (
    *("abc", "builtins", "harness", "sentence_transformers", "sklearn", "torch", "transformers"),
    *("numpy", "typing"),
)
"""Packages whose classes are identified by their name, even as the class of an object."""
REMOTE = (
    *("aiohttp", "boto3", "grpc", "http", "httpx", "openai", "requests", "socket", "subprocess"),
    *("urllib", "urllib3", "websockets"),
)
"""Packages by which code asks another program, of which nothing is known here."""


class Unidentified(Exception):
    """A value that cannot be hashed."""


class Code:
    """Identifies code, each function and class once.

    Parameters
    ----------
    content
        Returns a value that the code uses as JSON types.
    strict
        Whether code that asks another program is refused.
    """

    def __init__(self, content: Callable[[Any], Any], *, strict: bool = False) -> None:
        self._content, self._strict = content, strict
        self._seen: set[Any] = set()

    def of_function(self, function: Any) -> Any:
        """Return the code of a function, what it encloses, and what it uses of its module.

        Of an object that can be called it is the code of its class.
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
        """Return what a function encloses and its defaults, and what it uses of its module."""
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
        """Return what identifies a value that code uses; of a user's module, what `names` names."""
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
        """Return what identifies a member of a class: its code, or its value."""
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, functools.cached_property):
            value = value.func
        return self.of_value(getattr(value, "__func__", value), own=True)

    def of_value(self, value: Any, *, own: bool = False) -> Any:
        """Return what identifies a value that code uses; `own` code is read wherever it is."""
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

    A function that wraps another has the module's name of that. It is of the user if either is;
    with `wrapper`, if its own code is.
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
    """Return whether a package is in a folder that an installer wrote, of any name."""
    top = getattr(sys.modules.get(package), "__path__", None) or [
        getattr(sys.modules.get(package), "__file__", None) or ""
    ]
    return any(next(Path(path).parent.glob("*.dist-info"), None) is not None for path in top)


def _is_of_python(name: str) -> bool:
    """Return whether Python, or its module abc, sets an attribute of this name in a class."""
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
