"""The built-in mitigators: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.hookspecs import hookimpl
from harness.specs import MitigatorSpec


@hookimpl
def harness_mitigators() -> list[MitigatorSpec]:
    """List the built-in mitigators."""
    return []
