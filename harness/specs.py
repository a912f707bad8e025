"""What plugins say: the hooks they implement, and the specs that the hooks return.

A plugin is a module with functions marked `hookimpl`, named by an entry point of the group
`harness`::

    # pyproject.toml
    [project.entry-points.harness]
    my-package = "my_package.harness_plugin"

    # my_package/harness_plugin.py
    from harness import EmbedderSpec, hookimpl

    @hookimpl
    def harness_embedders():
        return [EmbedderSpec(name="my-model", target="my_package.model:MyModel")]

A spec names an import path, `package.module:object`. It is imported only when the object is used,
so listing loads no torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from harness.embedder import Card

if TYPE_CHECKING:
    import click

GROUP = "harness"
"""Entry-point group and pluggy project name."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin as one of the hooks below."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What all specs have.

    Parameters
    ----------
    name
        Name that users type: letters, digits and `._-`.
    target
        Import path, `package.module:object`.
    summary
        One line for listings.
    """

    name: str
    target: str
    summary: str = ""


@dataclass(frozen=True, kw_only=True)
class EmbedderSpec(Spec):
    """A model, or with `provider` a way to name any number of models.

    `target` is called to make the embedder: `target(**options)` for a model,
    `target(reference, **options)` for `provider:reference`. Options that a user gives after `?`
    are converted to the annotated types and override `options`; `device` is passed if it is taken.

    Parameters
    ----------
    provider
        Whether the name is used as `name:reference`.
    options
        Keyword arguments of `target`.
    card
        Published facts, for listings and `harness show model`.
    """

    provider: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    card: Card | None = None


@dataclass(frozen=True, kw_only=True)
class MitigatorSpec(Spec):
    """A subclass of `harness.Mitigator`.

    Parameters
    ----------
    unit_length
        Whether it sets vectors to length 1 and does nothing else. Studies have the first such
        mitigator as a row, because changes are counted from it.
    """

    unit_length: bool = False


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Spec):
    """A function decorated with `harness.metric`."""


@dataclass(frozen=True, kw_only=True)
class TableSpec(Spec):
    """A callable `target(rows, **options) -> rows` that makes a table of a task of another.

    One that has a parameter `concept` is given the task's, or None. Rows are mappings from column
    to cell. The same rows and options must give the same table, always: a random choice is made by
    a seed among the options.
    """


@dataclass(frozen=True, kw_only=True)
class EngineSpec(Spec):
    """A callable `target(devices) -> harness.encode.engine.Engine`."""


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
