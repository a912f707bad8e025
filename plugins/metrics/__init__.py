"""The built-in metrics: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.hookspecs import hookimpl
from harness.specs import MetricSpec


@hookimpl
def harness_metrics() -> list[MetricSpec]:
    """List the built-in metrics."""
    return []
