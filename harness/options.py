"""Options of models, mitigators and metrics, checked and converted by the signature that has them.

The text `?k=2&normalize=true` becomes `{"k": 2, "normalize": True}` if the signature annotates
`int` and `bool`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.errors import InvalidOption, suggestion


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a callable that can be passed by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in kinds
    }


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
            converted[name] = adapter.validate_python(_none(value, annotation))
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            problem = problem[0].lower() + problem[1:]
            owner = f"{what}: option " if what else ""
            raise InvalidOption(f"{owner}{name}={value}: {problem}") from None
    return converted


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError):  # annotations that only a type checker can resolve
        return {}


def _is_plain(annotation: Any) -> bool:
    return inspect.isclass(annotation) and hasattr(annotation, "__pydantic_config__")


def _none(value: Any, annotation: Any) -> Any:
    if value in ("none", "None") and type(None) in typing.get_args(annotation):
        return None
    return value
