"""Options of models, mitigators and metrics: checked against a signature, converted to its types.

Text such as `?k=2&normalize=true` becomes `{"k": 2, "normalize": True}` where the signature says
`int` and `bool`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.errors import InvalidOption, suggestion


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a callable that can be given by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in kinds
    }


def convert(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    *,
    what: str,
    known: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return `given` with each value converted to the type that `function` annotates.

    Parameters
    ----------
    function
        Whose signature holds.
    given
        Values by name; text is converted.
    what
        What the options are of, for errors: `metric 'weat'`.
    known
        The names that may be given; by default all of the signature's.

    Raises
    ------
    InvalidOption
        If a name is unknown or a value does not fit.
    """
    names = set(parameters(function) if known is None else known)
    if not given:
        return {}
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    hints = _hints(function)
    converted = {}
    for name, value in given.items():
        if name not in names:
            hint = suggestion(name, names) if names else "; it takes none"
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
            raise InvalidOption(f"{what}: option {name}={value}: {problem}") from None
    return converted


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError):  # annotations that only a type checker can follow
        return {}


def _is_plain(annotation: Any) -> bool:
    return inspect.isclass(annotation) and hasattr(annotation, "__pydantic_config__")


def _none(value: Any, annotation: Any) -> Any:
    if value in ("none", "None") and type(None) in typing.get_args(annotation):
        return None
    return value
