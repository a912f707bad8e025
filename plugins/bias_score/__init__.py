"""BiasScore: how much stereotype a sentence holds, word by word; adds `harness score-corpus`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness score-corpus`."""
    from harness.plugins.bias_score.command import command

    group.add_command(command)
