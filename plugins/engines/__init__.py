"""The built-in engines: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.hookspecs import hookimpl
from harness.specs import EngineSpec


@hookimpl
def harness_engines() -> list[EngineSpec]:
    """List the built-in engines."""
    return []
