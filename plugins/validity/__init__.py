"""Validates metrics: do they see planted bias, and what do they show by chance.

============  ======================================================================
`command`     the command line of `harness validate-metric`
`measuring`   metrics × tasks × models: the arrays of an evaluation, without mitigators
`checks`      reads an instrument under all changes: noise, planted bias, shuffled sides
============  ======================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness validate-metric`."""
    from .command import command

    group.add_command(command)
