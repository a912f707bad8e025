"""`harness completion`: prints a shell's completion script."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and names in a shell.

    \b
    harness completion bash >> ~/.bashrc
    """  # noqa: D301  # click keeps the lines after a backspace
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    if completion is not None:
        root = ctx.find_root()
        click.echo(completion(root.command, {}, "harness", "_HARNESS_COMPLETE").source())
