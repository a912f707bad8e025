"""Imports the object that a spec names, when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, cast

from harness.errors import PLUGIN_ERRORS, HarnessError, Unavailable, one_line
from harness.specs import Spec


def load(spec: Spec, what: str) -> Callable[..., Any]:
    """Import the object of a spec.

    Raises
    ------
    Unavailable
        If a package that it imports is not installed.
    HarnessError
        If it cannot be imported.
    """
    module, _, attribute = spec.target.partition(":")
    try:
        return cast("Callable[..., Any]", getattr(importlib.import_module(module), attribute))
    except PLUGIN_ERRORS as error:
        if isinstance(error, ModuleNotFoundError) and not (
            "." in module and f"{module}.".startswith(f"{error.name}.")
        ):
            raise Unavailable(
                f"{what} needs the package '{error.name}': pip install {error.name}"
            ) from error
        reason = one_line(error)
        raise HarnessError(f"{what}: '{spec.target}' cannot be imported ({reason})") from error
