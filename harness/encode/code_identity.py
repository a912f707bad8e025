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
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

LIBRARIES = (
    *("abc", "builtins", "harness", "sentence_transformers", "sklearn", "torch", "transformers"),
    *("numpy", "typing"),
)
"""Packages whose classes are identified by their name, even as the class of an object."""


class Unidentified(Exception):
    """A value that cannot be hashed."""


class Code:
    """Identifies code, each function and class once.

    Parameters
    ----------
    content
        Returns a value that the code uses as JSON types.
    """

    def __init__(self, content: Callable[[Any], Any]) -> None:
        self._content = content
        self._seen: set[Any] = set()

    def of_function(self, function: Any) -> Any:
        """Return the code of a function, what it encloses, and what it uses of its module.

        Of an object that can be called it is the code of its class.
        """
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not isinstance(function, FunctionType):
            name = getattr(function, "__qualname__", None)
            return name or self.of_class(type(function))
        if function in self._seen:
            return function.__qualname__
        self._seen.add(function)
        enclosed = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        used = {
            name: self._value(function.__globals__[name])
            for name in sorted(set(_names(function.__code__)))
            if name in function.__globals__
        }
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [
            function.__qualname__,
            _source(function),
            [self._value(value) for value in (*enclosed, *defaults)],
            used,
        ]

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
        return self._value(getattr(value, "__func__", value), own=True)

    def _value(self, value: Any, *, own: bool = False) -> Any:
        """Return what identifies a value that code uses; `own` code is read wherever it is."""
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, functools._lru_cache_wrapper):
            value = value.__wrapped__
        if isinstance(value, functools.partial):
            keywords = {name: self._value(item) for name, item in value.keywords.items()}
            return [self._value(value.func), list(map(self._value, value.args)), keywords]
        if isinstance(value, FunctionType | type) and not own and not is_of_user(value):
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, type):
            return self.of_class(value)
        if isinstance(value, FunctionType):
            return self.of_function(value)
        if isinstance(value, BuiltinFunctionType):
            return value.__qualname__
        if isinstance(value, logging.Logger) or inspect.isdatadescriptor(value):
            return name_of_class(type(value))
        return self._content(value)


def name_of_class(class_: type) -> str:
    """Return the module and qualified name of a class."""
    return f"{class_.__module__}.{class_.__qualname__}"


def is_of_user(value: Any) -> bool:
    """Return whether a function or class is not from an installed package."""
    package = str(value.__module__).partition(".")[0]
    if package in LIBRARIES or package in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(value.__module__), "__file__", None) or ""
    return "site-packages" not in file


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
        return _compiled(function.__code__)
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return _compiled(function.__code__)


def _compiled(code: CodeType) -> list[Any]:
    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return _compiled(value)
        # The order of a set differs between processes.
        return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)

    return [code.co_code.hex(), list(code.co_names), list(map(constant, code.co_consts))]
