"""`harness plugins`: what is installed, what it adds, and what failed."""

from __future__ import annotations

from typing import Any

import click

from harness.commands import arguments


@click.command("plugins")
@arguments.as_json
def command(as_json: bool) -> int:
    """List the plugins, what each adds, and those that failed to load with their error."""
    from harness.commands import output
    from harness.registry import discovery

    plugins = discovery.installed()
    plugins.add_commands(click.Group())  # to see which fail in it
    adds: dict[str, dict[str, list[str]]] = {}
    for hook in discovery.HOOKS:
        if hook == "harness_commands":
            continue
        for plugin, thing in plugins.results(hook):
            kind = hook.removeprefix("harness_")
            name = str(getattr(thing, "name", thing))
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
        output.as_json(rows)
    else:
        output.table(
            ["plugin", "distribution", "version", "adds"],
            [[r["plugin"], r["distribution"], r["version"], _adds(r)] for r in rows],
            shorten="adds",
            drop=("version", "distribution"),
        )
        for plugin in plugins.failed:
            click.echo(f"FAILED: {plugin.name}: {plugin.error}")  # whole, however narrow it is
    return 1 if plugins.failed else 0


def _adds(row: dict[str, Any]) -> str:
    if row["error"]:
        return f"FAILED {row['error']}"
    told = []
    for kind, names in row["adds"].items():
        shown = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        told.append(f"{len(names)} {kind.replace('_', ' ')}: {shown}")
    return "; ".join(told) or "commands"
