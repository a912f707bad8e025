"""Finds plugins by entry points of the group `harness`; a plugin that fails is left out.

The built-in plugins are found the same way. Loading a plugin imports only its hook module.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from harness import specs
from harness.errors import PLUGIN_ERRORS, HarnessError, one_line
from harness.specs import (
    AdapterSpec,
    EmbedderSpec,
    EngineSpec,
    MetricSpec,
    MitigatorSpec,
    TableSpec,
)

if TYPE_CHECKING:
    import click

HOOKS: Mapping[str, tuple[type, ...]] = {
    "harness_embedders": (EmbedderSpec,),
    "harness_adapters": (AdapterSpec,),
    "harness_mitigators": (MitigatorSpec,),
    "harness_metrics": (MetricSpec,),
    "harness_tables": (TableSpec,),
    "harness_engines": (EngineSpec,),
    "harness_task_folders": (Path, str),
    "harness_commands": (),
}
"""Types that each hook may return."""
EXTENDED = frozenset({"results"})
"""Groups of the command line that plugins add commands to."""


class BadHook(HarnessError):
    """A hook is unknown or returns a wrong type."""


@dataclass(frozen=True)
class Plugin:
    """An entry point, and whether it could be loaded.

    Parameters
    ----------
    name
        Name of the entry point.
    distribution, version
        Installed package that declares it.
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
    """All plugins, and what their hooks return.

    Parameters
    ----------
    points
        Entry points to load; by default all that are installed.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        self.manager = pluggy.PluginManager(specs.GROUP)
        self.manager.add_hookspecs(specs)
        self.plugins: list[Plugin] = []
        self._modules: list[ModuleType | None] = []
        self._commands: dict[str, int] = {}  # index of the plugin by command
        points = entry_points(group=specs.GROUP) if points is None else points
        for point in sorted(
            set(points), key=lambda p: (not p.value.startswith("harness."), p.name, p.value)
        ):
            self._load(point)

    def results(self, hook: str) -> list[tuple[Plugin, Any]]:
        """Return every object that the implementations of a hook return, with its plugin.

        A plugin whose hook raises is left out, like one that cannot be loaded.
        """
        results = []
        for i, implementation in self._implementations(hook):
            plugin = self.plugins[i]
            try:
                objects = list(implementation())
                for object_ in objects:
                    if not isinstance(object_, HOOKS[hook]):
                        expected = " or ".join(type_.__name__ for type_ in HOOKS[hook])
                        raise BadHook(f"expected {expected}, but it returned {object_!r}")
            except PLUGIN_ERRORS as error:
                self.plugins[i] = _failed(plugin, f"{hook}: {one_line(error)}")
            else:
                results += [(plugin, object_) for object_ in objects]
        return results

    def add_commands(self, group: click.Group, taken: Iterable[str] = ()) -> None:
        """Add every plugin's commands to the command line.

        A plugin that claims a command in `taken`, or another plugin's, adds none. The commands of a
        group in `EXTENDED` join the group of this name, if that is loaded.
        """
        import click

        for i, implementation in self._implementations("harness_commands"):
            own = click.Group()
            try:
                implementation(own)
                for name in EXTENDED & own.commands.keys():
                    self._extend(i, group.commands.get(name), own.commands.pop(name))
                for name in own.commands:
                    owner = self._commands.setdefault(name, i)
                    if name in taken or owner != i:
                        by = f"plugin '{self.plugins[owner].name}'" if owner != i else "the harness"
                        raise BadHook(f"the command '{name}' is claimed by {by} already")
            except PLUGIN_ERRORS as error:
                self.plugins[i] = _failed(self.plugins[i], f"harness_commands: {one_line(error)}")
            else:
                for name, command in own.commands.items():
                    group.add_command(command, name)

    def _extend(self, i: int, group: click.Command | None, further: click.Command) -> None:
        """Add the commands of a plugin's group to the loaded group of the same name."""
        import click

        if not isinstance(group, click.Group) or not isinstance(further, click.Group):
            return
        for name, command in further.commands.items():
            full = f"{further.name} {name}"
            is_taken = (
                full not in self._commands and group.commands.get(name, command) is not command
            )
            if is_taken or self._commands.setdefault(full, i) != i:
                raise BadHook(f"the command '{full}' is claimed already")
            group.add_command(command, name)

    @property
    def failed(self) -> list[Plugin]:
        """The plugins that could not be loaded."""
        return [plugin for plugin in self.plugins if plugin.error]

    def _implementations(self, hook: str) -> Iterator[tuple[int, Any]]:
        for i, module in enumerate(self._modules):
            function = getattr(module, hook, None)
            if hasattr(function, f"{specs.GROUP}_impl"):
                yield i, function

    def _load(self, point: EntryPoint) -> None:
        distribution = point.dist
        plugin = Plugin(
            name=point.name,
            distribution=distribution.metadata["Name"] if distribution else "?",
            version=distribution.version if distribution else "?",
            module=point.value,
        )
        module = None
        try:
            loaded = point.load()
            unknown = self._unknown_hooks(loaded)
            if unknown:
                raise BadHook(f"unknown hook '{unknown[0]}'; known hooks: {', '.join(HOOKS)}")
            # The name of an entry point is unique in its distribution only.
            self.manager.register(loaded, name=f"{point.name} = {point.value}")
            module = loaded
        except PLUGIN_ERRORS as error:
            plugin = _failed(plugin, one_line(error))
        self.plugins.append(plugin)
        self._modules.append(module)

    @staticmethod
    def _unknown_hooks(module: ModuleType) -> list[str]:
        mark = f"{specs.GROUP}_impl"
        return [name for name in vars(module) if name not in HOOKS and _has(module, name, mark)]


@functools.cache
def installed() -> Plugins:
    """Return the installed plugins, loaded once a process."""
    return Plugins()


def _has(module: ModuleType, name: str, mark: str) -> bool:
    return callable(vars(module)[name]) and hasattr(vars(module)[name], mark)


def _failed(plugin: Plugin, error: str) -> Plugin:
    return dataclasses.replace(plugin, error=error)
