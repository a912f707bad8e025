"""The kinds of names that users type, and which names each kind has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.registry.registry import Registry

SHOWN = ("model", "mitigator", "metric", "task", "concept", "study", "benchmark")
"""Kinds that `harness show` shows."""
SELECTION = "selection"
"""What `--tasks` takes: tasks, benchmarks, tags, categories and `all`."""


def names(registry: Registry, kind: str) -> Iterable[str]:
    """Return the names of a kind: one of `SHOWN`, `recipe`, or `SELECTION`."""
    by_kind: dict[str, Callable[[], Iterable[str]]] = {
        "model": lambda: registry.embedders,
        "mitigator": lambda: ["none", *registry.mitigators],
        "metric": lambda: registry.metrics,
        "task": lambda: registry.task_files,
        "concept": lambda: registry.concept_files,
        "study": lambda: registry.study_files,
        "recipe": lambda: registry.recipe_files,
        "benchmark": lambda: registry.benchmark_files,
        SELECTION: lambda: _selection(registry),
    }
    return by_kind[kind]()


def commands_for(registry: Registry, name: str) -> list[str]:
    """Return the commands that show what a name stands for."""
    from harness.run.tasks import list_tasks

    commands = [f"harness show {kind} {name}" for kind in SHOWN if name in names(registry, kind)]
    files = [entry.file for entry in list_tasks(registry)]
    if any(name in file.tags for file in files):
        commands.append(f"harness list tasks --tag {name}")
    if any(name in (file.category, file.measures) for file in files):
        commands.append(f"harness list tasks --category {name}")
    return commands


def _selection(registry: Registry) -> Iterable[str]:
    from harness.run.tasks import known_names, list_tasks

    return known_names(registry, list_tasks(registry))
