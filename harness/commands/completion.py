"""`harness completion`: the script that makes a shell complete names."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    harness completion bash >> ~/.bashrc
    """  # noqa: D301  # click keeps the lines after a backspace
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        root = ctx.find_root()
        click.echo(kind(root.command, {}, "harness", "_HARNESS_COMPLETE").source())
