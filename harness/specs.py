"""The plugin API: the hooks that plugins implement, and the specs that the hooks return.

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

A spec holds an import path, `package.module:object`. The object is imported only when it is used,
so `harness list` does not import torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pluggy

from harness.embedder import Card

if TYPE_CHECKING:
    import click

GROUP = "harness"
"""Entry-point group and pluggy project name."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Decorator that marks a function of a plugin as one of the hooks below."""


Sensitive: TypeAlias = Literal["code", "key", "address", "plain"]
"""What an option may do: run code; name the variable of a key, or an address; or none of that."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The fields that all specs share.

    Parameters
    ----------
    name
        Name that users type: letters, digits and `._-`.
    target
        Import path, `package.module:object`.
    summary
        One line for listings.
    sensitive
        What an option may do, by option: `{"base_url": "address"}`. The key `OPTION=VALUE` is for
        one value of an option. A file that the user does not trust may not run code, or name a key
        or an address. An option that is not listed is judged by its name and value.
    """

    name: str
    target: str
    summary: str = ""
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EmbedderSpec(Spec):
    """A model, or a provider of any number of models.

    The embedder is made by `target(**options)` for a model, and by `target(reference, **options)`
    for `provider:reference`. Options that a user writes after `?` are converted to the annotated
    types and override `options`. `device` is passed if `target` has a parameter of that name.

    Parameters
    ----------
    provider
        Whether this is a provider, so that users type `name:reference`.
    options
        Keyword arguments of `target`.
    card
        Published facts about the model, for listings and `harness show model`.
    recognises
        For a provider whose models can be typed without `name:`: import path of a function that
        returns whether a text, such as a path or an id of a hub, names one of them. It is called
        for texts that are not registered names. If it raises `Unavailable`, or another
        HarnessError, the user sees its message.
    neutral
        Options that do not change vectors, such as a timeout; labels omit them.
    files
        Where its files may lie: `package:NAME` of Python, `hub:ID` in the hub's cache, or `server`
        for a hosted model; one is enough. Empty if it needs none. Listings show what is here first.
    """

    provider: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    card: Card | None = None
    recognises: str | None = None
    neutral: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AdapterSpec(Spec):
    """How objects of a library become embedders, so that users can pass them to `evaluate`.

    `name` is the top-level package and the class, such as `gensim.KeyedVectors`; this includes
    subclasses. `target(object)` returns an embedder, or None for an object that it does not know.
    Its fingerprint must identify the object's weights.
    """


@dataclass(frozen=True, kw_only=True)
class MitigatorSpec(Spec):
    """A mitigator; `target` is a subclass of `harness.Mitigator`.

    Parameters
    ----------
    unit_length
        Whether it sets vectors to length 1 and does nothing else. Studies add the first such
        mitigator as a row and measure changes from it.
    """

    unit_length: bool = False


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Spec):
    """A metric; `target` is a function decorated with `harness.metric`."""


@dataclass(frozen=True, kw_only=True)
class TableSpec(Spec):
    """A table maker: a callable `target(rows, **options) -> rows` that derives a table of a task.

    Rows are mappings from column to cell. If `target` has a parameter `concept`, it receives the
    task's concept, or None. The same rows and options must always give the same table: a random
    choice takes its seed from the options.
    """


@dataclass(frozen=True, kw_only=True)
class EngineSpec(Spec):
    """An engine; `target(devices, **options)` returns a `harness.encode.engine.Engine`.

    The options are those after the name, such as `ray?actors=2`, and `timeout` if it takes that.
    """


@hookspec
def harness_embedders() -> Iterable[EmbedderSpec]:
    """Return the models and providers of models that the plugin adds."""
    raise NotImplementedError


@hookspec
def harness_adapters() -> Iterable[AdapterSpec]:
    """Return the adapters that the plugin adds: libraries whose objects are used as models."""
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
    """Return the table makers that the plugin adds, such as one that perturbs texts."""
    raise NotImplementedError


@hookspec
def harness_engines() -> Iterable[EngineSpec]:
    """Return the engines that the plugin adds: ways to run the encoding."""
    raise NotImplementedError


@hookspec
def harness_task_folders() -> Iterable[Path | str]:
    """Return folders of task files, with subfolders for concepts, studies and so on."""
    raise NotImplementedError


@hookspec
def harness_commands(group: click.Group) -> None:
    """Add commands to the `harness` command; a command imports its dependencies when it runs.

    The commands of a group `results` join `harness results`.
    """
    raise NotImplementedError
