"""Options of models, mitigators and metrics, checked and converted by the signature that has them.

The text `?k=2&normalize=true` becomes `{"k": 2, "normalize": True}` if the signature annotates
`int` and `bool`. A list is written with commas, `?words=a,b`, or as JSON. `as_text` is the reverse.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from harness import limits
from harness.errors import InvalidOption, suggestion


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a callable that can be passed by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in kinds
    }


def check_required(function: Callable[..., Any], values: Iterable[str], *, what: str) -> None:
    """Raise InvalidOption if an option that has no default is not among `values`.

    Parameters
    ----------
    function
        The callable that has the options.
    values
        Names of all arguments that it gets.
    what
        Owner of the options, for the message: `mitigator 'hard-debias'`.
    """
    set_ = set(values)
    for name, parameter in parameters(function).items():
        if parameter.default is inspect.Parameter.empty and name not in set_:
            raise InvalidOption(f"{what} requires the option '{name}': add '?{name}=…' to its name")


def convert(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    *,
    what: str,
    known: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return `values` with each value converted to the type that `function` annotates.

    Parameters
    ----------
    function
        The callable whose signature is used.
    values
        Values by option name; text is converted.
    what
        Owner of the options, for error messages: `metric 'weat'`; empty for arguments of a
        function that the user calls.
    known
        Allowed option names; by default all parameters of the signature.

    Raises
    ------
    InvalidOption
        If a name is unknown or a value does not have the annotated type.
    """
    names = set(parameters(function) if known is None else known)
    if not values:
        return {}
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    hints = _hints(function)
    converted = {}
    for name, value in values.items():
        if name not in names:
            hint = suggestion(name, names) if names else "; it takes no options"
            raise InvalidOption(f"{what} has no option '{name}'{hint}")
        annotation = hints.get(name, Any)
        try:
            config = ConfigDict(arbitrary_types_allowed=True)
            adapter: Any = (
                TypeAdapter(annotation)
                if _is_plain(annotation)
                else TypeAdapter(annotation, config=config)
            )
            converted[name] = adapter.validate_python(_parsed(value, annotation))
            _check_integers(converted[name])
        except OverflowError:
            owner = f"{what}: option " if what else ""
            raise InvalidOption(f"{owner}{name}: an integer beyond 64 bits") from None
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            problem = problem[0].lower() + problem[1:]
            owner = f"{what}: option " if what else ""
            raise InvalidOption(f"{owner}{name}={value}: {problem}") from None
    return converted


def as_text(value: Any) -> str:
    """Return the text of a JSON-like value as one would type it as an option."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace("e+", "e")
    if isinstance(value, list) and value and all(map(_is_plain_item, value)):
        return ",".join(as_text(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check_integers(value: Any) -> None:
    """Raise OverflowError for an integer that arrays and records cannot hold."""
    if isinstance(value, int) and abs(value) > limits.INTEGER:
        raise OverflowError
    if isinstance(value, list | tuple):
        for item in value:
            _check_integers(item)


def _is_plain_item(item: Any) -> bool:
    if isinstance(item, str):
        return bool(item) and not re.search(r"[,\[{]", item)
    return isinstance(item, int | float)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError):  # annotations that only a type checker can resolve
        return {}


def _is_plain(annotation: Any) -> bool:
    return inspect.isclass(annotation) and hasattr(annotation, "__pydantic_config__")


def _parsed(value: Any, annotation: Any) -> Any:
    """Return a text as None, a list or a mapping if the annotation has such a type."""
    if not isinstance(value, str):
        return value
    members = {annotation, *_members(annotation)}
    if value in ("none", "None") and type(None) in members:
        return None
    kinds = {kind for kind in (typing.get_origin(t) or t for t in members) if inspect.isclass(kind)}
    if kinds & {str, bytes} or not any(issubclass(kind, Collection) for kind in kinds):
        return value
    if value.startswith(("[", "{")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value.split(",") if value else []


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union; none for another type."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else ()
