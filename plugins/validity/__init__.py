"""Validates metrics: do they see planted bias, and what do they show by chance.

============  ======================================================================
`command`     the command line of `harness validate-metric`
`measuring`   metrics × tasks × models: the arrays of an evaluation, without mitigators
`instrument`  a metric on the inputs of a task and model, read again on changed vectors
`planting`    plants a bias of a known amplitude in vectors, and in a model
`changes`     the other changes: noise, shuffled sides, halves of the words, templates
`checks`      reads an instrument under all changes
`verdict`     why a score should not rank: the limits
`table`       the recorded rows, in the file `validity.json` of a folder of tasks
`page`        the page of the recorded rows in Markdown
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
    from harness.plugins.validity.command import command

    group.add_command(command)
