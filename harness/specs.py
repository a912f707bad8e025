"""Specs: what a plugin says of each thing it adds, without importing the thing.

Each names an import path, `package.module:object`, that is followed only when the thing is used,
so that listing loads no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.embedder import Card


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
    """A subclass of `harness.Mitigator`."""


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
    """A callable `target(devices) -> harness.engine.Engine`."""
