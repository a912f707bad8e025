"""Finds plugins: entry points of the group `harness`, loaded by pluggy, failures set aside by name.

The built-in plugins come in the same way. Loading a plugin imports only its hook module.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pluggy

from harness import hookspecs

HOOKS = (
    "harness_embedders",
    "harness_mitigators",
    "harness_metrics",
    "harness_engines",
    "harness_task_folders",
    "harness_commands",
)


@dataclass(frozen=True)
class Plugin:
    """An entry point and what became of it.

    Parameters
    ----------
    name
        Name of the entry point.
    distribution, version
        Package that it came in.
    module
        Its import path.
    error
        Why it could not be loaded, or None.
    """

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None


class Plugins:
    """The plugins there are, and what their hooks return.

    Parameters
    ----------
    points
        Entry points to load; by default those installed.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        self.manager = pluggy.PluginManager(hookspecs.GROUP)
        self.manager.add_hookspecs(hookspecs)
        self.plugins: list[Plugin] = []
        found = entry_points(group=hookspecs.GROUP) if points is None else points
        for point in sorted(set(found), key=lambda p: (not p.value.startswith("harness."), p.name)):
            self._load(point)

    def results(self, hook: str) -> list[tuple[Plugin, Any]]:
        """Return every thing that a hook's implementations list, with its plugin.

        A plugin whose hook raises is set aside like one that cannot be loaded.
        """
        things = []
        for i, plugin in enumerate(self.plugins):
            implementation = self._implementation(plugin, hook)
            if implementation is None:
                continue
            try:
                things += [(plugin, thing) for thing in implementation()]
            except Exception as error:  # a plugin may raise anything
                self.plugins[i] = _failed(plugin, f"{hook}: {_told(error)}")
        return things

    def add_commands(self, group: Any) -> None:
        """Let every plugin add its commands to the command line."""
        for i, plugin in enumerate(self.plugins):
            implementation = self._implementation(plugin, "harness_commands")
            if implementation is not None:
                try:
                    implementation(group)
                except Exception as error:  # a plugin may raise anything
                    self.plugins[i] = _failed(plugin, f"harness_commands: {_told(error)}")

    @property
    def failed(self) -> list[Plugin]:
        """The plugins that could not be loaded."""
        return [plugin for plugin in self.plugins if plugin.error]

    def _implementation(self, plugin: Plugin, hook: str) -> Any:
        module = self.manager.get_plugin(plugin.name)
        marked = getattr(getattr(module, hook, None), f"{hookspecs.GROUP}_impl", None)
        return getattr(module, hook) if module is not None and marked is not None else None

    def _load(self, point: EntryPoint) -> None:
        distribution = point.dist
        plugin = Plugin(
            name=point.name,
            distribution=distribution.metadata["Name"] if distribution else "?",
            version=distribution.version if distribution else "?",
            module=point.value,
        )
        try:
            module = point.load()
            unknown = self._unknown_hooks(module)
            if unknown:
                raise AttributeError(
                    f"it implements the unknown hook '{unknown[0]}'; hooks: {', '.join(HOOKS)}"
                )
            self.manager.register(module, name=point.name)
        except Exception as error:  # a plugin may raise anything on import
            plugin = _failed(plugin, _told(error))
        self.plugins.append(plugin)

    @staticmethod
    def _unknown_hooks(module: ModuleType) -> list[str]:
        mark = f"{hookspecs.GROUP}_impl"
        return [name for name in vars(module) if name not in HOOKS and _has(module, name, mark)]


@functools.cache
def installed() -> Plugins:
    """Return the installed plugins, loaded once a process."""
    return Plugins()


def _has(module: ModuleType, name: str, mark: str) -> bool:
    return callable(vars(module)[name]) and hasattr(vars(module)[name], mark)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _failed(plugin: Plugin, error: str) -> Plugin:
    return Plugin(plugin.name, plugin.distribution, plugin.version, plugin.module, error)
