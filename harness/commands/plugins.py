"""`harness plugins`: the installed plugins, what each adds, and load errors."""

from __future__ import annotations

from typing import Any

import click

from harness.commands import arguments


@click.command("plugins")
@arguments.as_json
def command(as_json: bool) -> int:
    """List the installed plugins, what each adds, and load errors."""
    from harness.commands import output
    from harness.registry import discovery

    plugins = discovery.installed()
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
        output.as_json(rows)
    else:
        output.table(
            ["plugin", "distribution", "version", "adds"],
            [[row["plugin"], row["distribution"], row["version"], _summary(row)] for row in rows],
            shorten="adds",
            drop=("version", "distribution"),
        )
        for plugin in plugins.failed:  # in full: a narrow terminal shortens the table
            click.echo(f"FAILED: {plugin.name}: {plugin.error}")
    return 1 if plugins.failed else 0


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
