"""`harness plugins`: the installed plugins, what each adds, and load errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.registry.registry import Registry


@click.command("plugins")
@click.option("--check", is_flag=True, help="Import everything that the plugins add.")
@arguments.as_json
def command(check: bool, as_json: bool) -> int:
    """List the installed plugins, what each adds, and errors.

    What a plugin adds is imported when it is first used. With --check all of it is imported now.
    """
    from harness.commands import output
    from harness.registry import discovery
    from harness.registry.registry import Registry

    plugins = discovery.installed()
    errors = _errors(Registry(plugins), check)
    plugins.add_commands(click.Group())  # some plugins fail only here
    adds: dict[str, dict[str, list[str]]] = {}
    for hook in discovery.HOOKS:
        if hook == "harness_commands":
            continue
        for plugin, spec in plugins.results(hook):
            kind = hook.removeprefix("harness_")
            name = str(getattr(spec, "name", spec))
            adds.setdefault(plugin.module, {}).setdefault(kind, []).append(name)
    rows: list[dict[str, Any]] = [
        {
            "plugin": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "module": plugin.module,
            "adds": adds.get(plugin.module, {}),
            "error": plugin.error,
        }
        for plugin in plugins.plugins
    ]
    if as_json:
        output.as_json({"plugins": rows, "errors": errors})
    else:
        output.table(
            ["plugin", "distribution", "version", "adds"],
            [[row["plugin"], row["distribution"], row["version"], _summary(row)] for row in rows],
            shorten=["adds"],
            drop=("version", "distribution"),
        )
        for plugin in plugins.failed:  # in full: a narrow terminal shortens the table
            echo(f"FAILED: {plugin.name}: {plugin.error}")
        for error in errors:
            echo(f"FAILED: {error}")
    return 1 if plugins.failed or errors else 0


def _errors(registry: Registry, check: bool) -> list[str]:
    """Return a line for each name that cannot be used and, with `check`, for each failed import."""
    from harness.errors import HarnessError

    errors = []
    for catalogue in registry.catalogues():
        for name, spec in catalogue.items() if check else ():
            try:
                registry.load(spec, f"{catalogue.kind} '{name}'")
            except HarnessError as error:
                errors.append(f"{error}; added by {catalogue.owners[name]}")
    return [*registry.name_errors, *errors]


def _summary(row: dict[str, Any]) -> str:
    from harness.commands import output

    if row["error"]:
        return f"FAILED: {row['error']}"
    parts = []
    for kind, names in row["adds"].items():
        shown = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        noun = kind.removesuffix("s").replace("_", " ")
        parts.append(f"{output.counted(len(names), noun)}: {shown}")
    return "; ".join(parts) or "commands"
