"""The hooks of a plugin: entry-point group `harness`, a module with functions marked `hookimpl`.

::

    # pyproject.toml
    [project.entry-points.harness]
    my-package = "my_package.harness_plugin"

    # my_package/harness_plugin.py
    from harness import EmbedderSpec, hookimpl

    @hookimpl
    def harness_embedders():
        return [EmbedderSpec(name="my-model", target="my_package.model:MyModel")]
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from harness.specs import EmbedderSpec, EngineSpec, MetricSpec, MitigatorSpec, TableSpec

if TYPE_CHECKING:
    import click

GROUP = "harness"
"""Entry-point group and pluggy project name."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin as one of the hooks below."""


@hookspec
def harness_embedders() -> Iterable[EmbedderSpec]:
    """Return the models and providers of models that the plugin adds."""
    raise NotImplementedError


@hookspec
def harness_mitigators() -> Iterable[MitigatorSpec]:
    """Return the mitigators that the plugin adds."""
    raise NotImplementedError


@hookspec
def harness_metrics() -> Iterable[MetricSpec]:
    """Return the metrics that the plugin adds."""
    raise NotImplementedError


@hookspec
def harness_tables() -> Iterable[TableSpec]:
    """Return what the plugin can make of a task's tables, such as perturbed texts."""
    raise NotImplementedError


@hookspec
def harness_engines() -> Iterable[EngineSpec]:
    """Return the engines, ways to run the encoding, that the plugin adds."""
    raise NotImplementedError


@hookspec
def harness_task_folders() -> Iterable[Path | str]:
    """Return folders of task files, with the subfolders `concepts` and `studies`."""
    raise NotImplementedError


@hookspec
def harness_commands(group: click.Group) -> None:
    """Add commands to the `harness` command; import what they need inside them."""
    raise NotImplementedError
