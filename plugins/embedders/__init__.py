"""The built-in embedders: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.hookspecs import hookimpl
from harness.specs import EmbedderSpec


@hookimpl
def harness_embedders() -> list[EmbedderSpec]:
    """List the built-in embedders."""
    return []
